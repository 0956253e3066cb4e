"""Padding of sequences with zeros."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import flag, whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import check_dims
from compat.nn.containers.decorators import Decorator
from compat.nn.core.module import Module, deterministic
from compat.nn.layers.lookup import LookupTable
from compat.tensor_tables import map_tensors, tensors


def zero_rows(input: Tensor, dims: int) -> Tensor:
    """Which samples of ``dims`` dimensions are all zero: a boolean, or one for each of a batch."""
    check_dims(input, dims, dims + 1)
    return (input.flatten(input.dim() - dims) == 0).all(-1)


class MaskZero(Decorator):
    """A module whose output is zero where the input is (Torch7: ``nn.MaskZero`` of rnn).

    Args:
        module: the module.
        nInputDim: how many dimensions a sample of the input has, or of its first tensor.
        silent: Lua's module prints no warning then; here there is none to print.

    Where a sample of a batch is all zero, so is that of the output, and no gradient flows.
    """

    @nil_is_default
    def __init__(self, module: Module, nInputDim: int, silent: bool = False) -> None:
        super().__init__(module)
        self.nInputDim = whole(nInputDim, "nInputDim", 1)
        flag(silent, "silent")

    @deterministic
    def compute(self, input: Any) -> Any:
        mask = zero_rows(next(tensors(input)), self.nInputDim)

        def masked(output: Tensor) -> Tensor:
            return output.masked_fill(mask.reshape([-1] + [1] * (output.dim() - 1)), 0)

        return map_tensors(masked, self.call(0, input))

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "module": self.modules[0]}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in ("module", "zeroMask", "_zeroMask", "_maskbyte", "_maskindices", "gradOutput"):
            fields.pop(name, None)
        super().t7_restore(fields, version)


class TrimZero(MaskZero):
    """``MaskZero`` (Torch7: ``nn.TrimZero`` of rnn, which leaves such samples out to save time)."""


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
