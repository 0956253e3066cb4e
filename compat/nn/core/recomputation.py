"""Results inside a net after backward, and after an update of its parameters.

In Torch7 every module keeps ``output`` and ``gradInput`` until the next pass, and going back again
after an update takes the kept outputs with today's parameters, as scripts for GANs do. Here
backward frees the results inside a net as it passes, as PyTorch does: keeping them would cost a
fifth more memory at the peak of a step. The rule, at every size:

* Who reads a freed result, or goes back again, has the net go forward again behind the scenes;
  from then on it keeps its results.
* After an update that takes the parameters as they were. A net notes them in backward until the
  first update after which nothing is read; from then on, reading its freed results after an update
  is refused, once, since the net then keeps them. A gradInput inside the net is computed when it is
  read, from the noted parameters; a net of which one was read after an update goes on noting them.
* ``Module.keepResults`` says so from the start: True, to keep and note all; False, nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import torch
from torch import Tensor

from compat.nn.checks.error_place import locate_within
from compat.nn.core.earlier_values import EarlierValues
from compat.nn.core.tape import Record, Recorded, Tape


def record_again(spent: Tape, reader: Recorded, what: str) -> None:
    """Go forward again as ``spent`` did; its module is then as if backward had freed nothing.

    Raises RuntimeError where the result would be another one. It names ``what`` of ``reader``,
    which is asked for.
    """
    module = spent.module()
    if module is None:
        _refuse("the net around was dropped", reader, what, None)
    went_back = spent.grad_outputs is not None
    if spent.spent and not went_back:
        raise RuntimeError("backward has failed half way; go forward again first")
    module.results_read = True
    spent.has_fallen_short()
    earlier = spent.earlier
    is_outdated = spent.is_outdated() if went_back else not spent.holds_parameters()
    if is_outdated and earlier is None:
        _refuse("the parameters have changed", reader, what, module)
    if module.train != spent.train:
        _refuse("the net was switched between training and evaluation", reader, what, module)
    if not spent.source_is_unchanged():
        _refuse("the input was changed in place", reader, what, module)
    if went_back and not spent.holds_gradOutput():
        _refuse("gradOutput was changed in place", reader, what, module)
    root, gradOutput, stamp = spent.root, spent.gradOutput, spent.stamp
    assert root is not None
    if len(spent.records) < len(spent.calls):
        spent.make_records()
    known = [(r.plain_output, r.grad_input) for r in spent.records]
    fields = _fields(module)
    stand_ins = _stand_ins(earlier, spent.parameters) if is_outdated and earlier else {}
    try:
        with (
            torch.inference_mode(False),
            torch.enable_grad(),
            _replaced(module, stand_ins),
            spent.repeating(),
        ):
            tape = spent.again(module)
    finally:
        _put_back(fields)
    # An opaque one has the first alone, that of the net.
    for record, (output, grad_input) in zip(tape.records, known, strict=not spent.is_opaque):
        record.plain_output, record.grad_input = output, grad_input
    if went_back:
        tape.note(gradOutput)
    if stand_ins:
        owners = {stand_in: parameter for parameter, stand_in in stand_ins.items()}
        tape.owners = [owners.get(p, p) for p in tape.parameters]
        tape.stamp = stamp
    tape.earlier = earlier


def grad_input_at_backward(tape: Tape, record: Record, reader: Recorded) -> Any:
    """The gradInput of a call inside a net, with the parameters that backward had."""
    if tape.keeps_gradients():
        return tape.inner_grad_input(record)
    return _at_backward(tape, reader, "gradInput", lambda: tape.inner_grad_input(record))


def gradients_at_backward(tape: Tape, values: Any, reader: Recorded, what: str) -> Any:
    """The gradients of tensors in a graph, with the parameters that backward had.

    An error calls them ``what`` of ``reader``.
    """
    return _at_backward(tape, reader, what, lambda: tape.gradients_at(values))


def _at_backward(tape: Tape, reader: Recorded, what: str, compute: Callable[[], Any]) -> Any:
    is_outdated, holds_gradOutput = tape.is_outdated(), tape.holds_gradOutput()
    if not is_outdated and holds_gradOutput:
        return compute()
    module = tape.module()
    if module is not None:
        module.results_read = module.read_after_update = True
    if not holds_gradOutput:
        _refuse("gradOutput was changed in place", reader, what, module)
    if tape.earlier is None:
        _refuse("the parameters have changed", reader, what, module)
    owners, tape.owners = tape.owners, []
    stand_ins = dict(zip(owners or tape.parameters, tape.parameters, strict=True))
    try:
        with tape.earlier.put_into(stand_ins):
            return compute()
    finally:
        tape.owners = owners


def _refuse(why: str, reader: Recorded, what: str, net: Recorded | None) -> NoReturn:
    error = RuntimeError(
        f"{why} since backward, which has freed what {what} of {reader.typename} needs; call "
        "keepResults() on the net before forward"
    )
    if net is not None:
        locate_within(error, reader, net)
    raise error


def _stand_ins(earlier: EarlierValues, parameters: list[Tensor]) -> dict[Tensor, Tensor]:
    """For each parameter a tensor with the value that it had, and with its gradient."""
    found = {}
    for parameter in dict.fromkeys(parameters):
        stand_in = found[parameter] = earlier[parameter].clone()
        stand_in.grad = parameter.grad
    return found


@contextmanager
def _replaced(module: Recorded, tensors: dict[Tensor, Tensor]) -> Iterator[None]:
    """Give the modules other parameters for a while.

    Nets in other threads may share the memory of a parameter, so that it is left alone.
    """
    changed = []
    try:
        for m in module.listModules() if tensors else ():
            for name in m.parameter_names:
                parameter = vars(m).get(name)
                if parameter is not None and parameter in tensors:
                    changed.append((vars(m), name, parameter))
                    vars(m)[name] = tensors[parameter]
        yield
    finally:
        for own, name, parameter in changed:
            own[name] = parameter


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
