"""Padding of sequences with zeros."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from compat.checks import flag, whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import ANYTHING, check_dims
from compat.nn.containers.decorators import Decorator
from compat.nn.core import recording
from compat.nn.core.autograd import gradients
from compat.nn.core.module import Module, deterministic
from compat.nn.core.tape import Tape, current_tape
from compat.nn.criterions.base import Criterion, check_criterion
from compat.nn.layers.lookup import LookupTable
from compat.tensor_tables import map_tensors, tensors


def zero_rows(input: Tensor, dims: int) -> Tensor:
    """Which samples of ``dims`` dimensions are all zero: a boolean, or one for each of a batch."""
    check_dims(input, dims, dims + 1)
    return (input.unsqueeze(-1).flatten(input.dim() - dims) == 0).all(-1)


class MaskZero(Decorator):
    """A module whose output is zero where the input is (Torch7: ``nn.MaskZero`` of rnn).

    Args:
        module: the module.
        nInputDim: how many dimensions a sample of the input has, or of its first tensor.
        silent: Lua's module prints no warning then; here there is none to print.

    Where a sample of a batch is all zero, so is that of the output, and no gradient flows to the
    input. As in Torch7, what the gradOutput has there still counts for the parameters of the layer
    that gives the output, as for the bias of a last ``Linear``.
    """

    scratch_fields: ClassVar[tuple[str, ...]] = (
        "zeroMask",
        "_zeroMask",
        "_maskbyte",
        "_maskindices",
        "gradOutput",
    )

    @nil_is_default
    def __init__(self, module: Module, nInputDim: int, silent: bool = False) -> None:
        super().__init__(module)
        self.nInputDim = whole(nInputDim, "nInputDim", 1)
        flag(silent, "silent")

    @deterministic
    def compute(self, input: Any) -> Any:
        rows = zero_rows(tensors(input)[0], self.nInputDim)
        tape = current_tape()
        result = self.call(0, input)
        last = [] if tape is None or not tape.recording else _last_calls(self.modules[0], tape)
        parameters = [p for call in last for p in call.parameters]

        def masked(output: Tensor) -> Tensor:
            mask = rows.reshape([-1] + [1] * (output.dim() - 1))
            if parameters and output.requires_grad:
                return _Masked.apply(mask, last, output, *parameters)
            return output.masked_fill(mask, 0)

        return map_tensors(masked, result)

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "module": self.modules[0]}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        fields.pop("module", None)
        super().t7_restore(fields, version)


class _Call(NamedTuple):
    """One call of a layer."""

    module: Module
    input: Any
    output: list[Any]  # as autograd takes it
    parameters: list[Tensor]


def _last_calls(module: Module, tape: Tape) -> list[_Call]:
    """The latest calls of layers with parameters that Torch7 gives the gradOutput as it is."""
    given = module.given_gradOutput()
    if given != [module]:
        return [call for child in given for call in _last_calls(child, tape)]
    record = module.latest_record
    parameters = [p for p in module.parameters()[0] if p.grad is not None]
    if record is None or module.latest_tape is not tape or not parameters:
        return []
    input = map_tensors(Tensor.detach, record.input)
    return [_Call(module, input, record.output_edges(), parameters)]


class _Masked(torch.autograd.Function):
    """Zeros where ``mask`` is set. The gradient there goes to the last layers' parameters alone."""

    @staticmethod
    def forward(ctx: Any, mask: Tensor, last: list[_Call], output: Tensor, *_: Tensor) -> Tensor:
        ctx.mask, ctx.last, ctx.output = mask, last, output
        return output.masked_fill(mask, 0)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        missed = gradient.masked_fill(~ctx.mask, 0)
        added = [_added(call, ctx.output, missed) for call in ctx.last if bool(ctx.mask.any())]
        none = [None] * (len(ctx.needs_input_grad) - 3)
        own = [grad for grads in added for grad in grads] or none
        return None, None, gradient.masked_fill(ctx.mask, 0), *own


def _added(call: _Call, output: Tensor, gradient: Tensor) -> Sequence[Tensor | None]:
    """What ``gradient``, of ``output``, adds to the gradients of the layer's parameters."""
    edges = [edge for edge in call.output if edge is not None]
    found = gradients([output], [gradient], edges)
    # Computed anew, as the graph leads on to earlier steps, where the same parameters had a part.
    layer = copy.deepcopy(call.module, {id(p): p for p in call.parameters})
    with torch.enable_grad():
        again = recording.record(layer, call.input, to_input=False).root
    assert again is not None
    outputs = [edge for edge in again.output_edges() if edge is not None]
    roots = [(edge, g) for edge, g in zip(outputs, found, strict=True) if g is not None]
    return gradients([edge for edge, _ in roots], [g for _, g in roots], call.parameters)


class TrimZero(MaskZero):
    """``MaskZero`` (Torch7: ``nn.TrimZero`` of rnn, which leaves such samples out to save time).

    Differs from Torch7: backward also works for a batch where samples are left out and the last
    layer has parameters.
    """

    scratch_fields = ("temp", "gradTemp")


class LookupTableMaskZero(LookupTable):
    """A ``LookupTable`` whose index 0 gives zeros (Torch7: ``nn.LookupTableMaskZero`` of rnn).

    Args:
        nIndex: the number of rows; ``weight`` has one more before them.
        nOutput: the size of a row.
    """

    def __init__(self, nIndex: int, nOutput: int) -> None:
        super().__init__(whole(nIndex, "nIndex", 1) + 1, nOutput)

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        with torch.no_grad():
            self.weight.detach()[0].zero_()
        return super().compute(input + 1)


class MaskZeroCriterion(Criterion):
    """A criterion of the samples that are not zero (Torch7: ``nn.MaskZeroCriterion`` of rnn).

    Args:
        criterion: gets those samples of the input and of the target; if all are zero, the loss is.
        nInputDim: how many dimensions a sample of the input has, or of its first tensor.

    Shapes: input and target batches, or lists of them.
    """

    takes = ANYTHING
    scratch_fields = ("zeroMask", "_zeroMask", "__zeroMask", "input", "target")

    def __init__(self, criterion: Criterion, nInputDim: int) -> None:
        super().__init__()
        self.criterion = check_criterion(criterion)
        self.nInputDim = whole(nInputDim, "nInputDim", 0)

    def compute(self, input: Any, target: Any) -> Tensor:
        first = tensors(input)[0]
        if first.dim() != self.nInputDim + 1:
            raise ValueError(
                f"input has {first.dim()} dimensions; {self.nInputDim + 1} are accepted"
            )
        rows = (~zero_rows(first, self.nInputDim)).nonzero().squeeze(1)
        if not len(rows):
            return torch.stack([t.sum() * 0 for t in tensors(input)]).sum()

        def kept(tensor: Tensor) -> Tensor:
            return tensor.index_select(0, rows.to(tensor.device))

        return self.criterion.run(map_tensors(kept, input), map_tensors(kept, target))
