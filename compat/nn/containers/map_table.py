"""``nn.MapTable``."""

from __future__ import annotations

from typing import Any

import torch

from compat.checks import flag, wrong_type
from compat.nn.containers.container import Relaying
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import as_module


class MapTable(Relaying):
    """One module applied to every entry of a table (Torch7: ``nn.MapTable``).

    Each entry gets a clone of its own, made when it is first needed.

    Args:
        module: may also be given by ``add``, once.
        shared: whether the clones share the parameters of the module.

    ``parameters`` lists those of every clone. In a ``DataParallelTable``, clones that do not share
    have to be there from the start: call ``resize`` first.

    Differs from Torch7: ``clearState`` keeps the clones, which may have been trained; ``resize``
    drops them.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> [t.tolist() for t in nn.MapTable(nn.MulConstant(2)).forward([torch.ones(1)] * 2)]
        [[2.0], [2.0]]
    """

    table_fields = ("output", "gradInput")

    module: Module | None = None
    sharedparams: list[str] = ["weight", "bias", "gradWeight", "gradBias"]

    def __init__(self, module: Module | torch.nn.Module | None = None, shared: bool = True) -> None:
        super().__init__()
        self.shared = flag(shared, "shared")
        self.sharedparams = list(MapTable.sharedparams)
        if module is not None:
            self.add(module)

    def add(self, module: Module | torch.nn.Module) -> MapTable:
        """Set the module. Raises ValueError where there is one."""
        if self.module is not None:
            raise ValueError(f"there is a module already, {self.module}; one is accepted")
        self.module = as_module(module)
        self.modules = [self.module]
        return self

    def resize(self, n: int) -> MapTable:
        """Make or drop clones, so that there are ``n`` modules."""
        self._extend(n)
        del self.modules[max(n, 1) :]
        return self

    def _extend(self, n: int) -> None:
        if self.module is None:
            raise ValueError("there is no module; add one first")
        names = self.sharedparams if self.shared else []
        while len(self.modules) < n:
            self.modules.append(self.module.clone(*names))

    def updateOutput(self, input: Any) -> list[Any]:
        if not isinstance(input, (list, tuple)):
            raise wrong_type(input, "input", "a table")
        self.output = output = self._each("updateOutput", input)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> list[Any]:
        self.gradInput = gradInput = self._each("updateGradInput", input, gradOutput)
        return gradInput

    def _relay(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        self._each(method, input, gradOutput, scale=(factor,))

    def backward_both(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> list[Any]:
        self.gradInput = gradInput = self._each("backward", input, gradOutput, scale=(scale,))
        return gradInput

    def _each(self, method: str, *tables: Any, scale: tuple[Scalar, ...] = ()) -> list[Any]:
        """Call ``method`` of each module with the module's entries of the tables."""
        count = len(tables[0])
        self._extend(count)
        for gradOutput in tables[1:]:
            if len(gradOutput) < count:
                raise ValueError(
                    f"gradOutput is a table of {len(gradOutput)}; at least {count} are accepted, "
                    "as input has as many"
                )
        entries = zip(*tables, strict=False)  # further gradients are not looked at
        return [self.call(i, method, *own, *scale) for i, own in enumerate(entries)]

    def zeroGradParameters(self) -> MapTable:
        if self.shared and self.module is not None:
            self.module.zeroGradParameters()
            return self
        return super().zeroGradParameters()

    def updateParameters(self, learningRate: Scalar) -> MapTable:
        if self.shared and self.module is not None:
            self.module.updateParameters(learningRate)
            return self
        return super().updateParameters(learningRate)

    def __repr__(self) -> str:
        if self.module is None:
            return f"{self.typename} {{ }}"
        inner = repr(self.module).replace("\n", "\n" + " " * 8)
        return f"{self.typename} {{\n  {inner}\n}}"
