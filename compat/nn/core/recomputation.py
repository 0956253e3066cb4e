"""Recompute a forward pass when somebody reads results that backward has freed.

Where the results inside a net take more than a megabyte, backward frees them and the graph as it
passes, as PyTorch does: keeping them would cost a fifth more memory at the peak of a step. Reading
the output or the gradInput of an inner module then, or going back once more, goes forward again.
From then on the net keeps them.
"""

from __future__ import annotations

from typing import Any, NoReturn

import torch
from torch import Tensor

from compat.nn.core.tape import Recorded, Tape


def record_again(spent: Tape) -> None:
    """Go forward again as ``spent`` did; its module is then as if backward had freed nothing.

    Raises RuntimeError where the result would be another one.
    """
    module = spent.module()
    if module is None:
        _refuse("the net around was dropped")
    if spent.grad_outputs is None:
        raise RuntimeError("backward has failed half way; go forward again first")
    if spent.stamp != spent.current_stamp():
        _refuse("the parameters have changed")
    if module.train != spent.train:
        _refuse("the net was switched between training and evaluation")
    if not spent.source_is_unchanged():
        _refuse("the input was changed in place")
    root, gradOutput = spent.root, spent.gradOutput
    assert root is not None
    known = [(r.plain_output, r.grad_input) for r in spent.records]
    module.keep_results = True
    fields = _fields(module)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            tape = Tape.record(module, spent.source, spent.to_input)
    finally:
        _put_back(fields)
    for record, (output, grad_input) in zip(tape.records, known, strict=True):
        record.plain_output, record.grad_input = output, grad_input
    tape.note(gradOutput)


def _refuse(why: str) -> NoReturn:
    raise RuntimeError(
        f"{why} since backward, so that results of inner modules, which it freed, cannot be "
        "computed again; read output before backward and gradInput right after it"
    )


# The fields that going forward again is meant to change.
_RECORDED = ("latest_tape", "latest_record", "_output", "_gradInput")

# Of each module its fields, and its tensors with their values.
_Fields = list[tuple[Recorded, dict[str, Any], list[tuple[Tensor, Tensor]]]]


def _fields(module: Recorded) -> _Fields:
    """What a forward pass may change besides: running statistics, counters, memories."""
    found = []
    for m in module.listModules():
        own = {name: value for name, value in vars(m).items() if name not in _RECORDED}
        buffers = [
            (value, value.clone())
            for name, value in own.items()
            if isinstance(value, Tensor) and name not in m.parameter_names
        ]
        found.append((m, own, buffers))
    return found


def _put_back(fields: _Fields) -> None:
    for module, own, buffers in fields:
        now = vars(module)
        for name in [name for name in now if name not in own and name not in _RECORDED]:
            del now[name]
        now.update(own)
        for tensor, value in buffers:
            if not torch.equal(tensor, value):
                # Through .data: the graph may hold running statistics, but does not read them.
                tensor.data.copy_(value)
