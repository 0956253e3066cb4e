"""``nn.Sequential``: modules one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from compat.nn.checks.error_place import blame, locate
from compat.nn.containers import completion
from compat.nn.containers.container import Relaying
from compat.nn.core.layer import own_backward
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import as_module


class Sequential(Relaying):
    """A chain of children, each on the output of the one before (Torch7: ``nn.Sequential``).

    PyTorch: ``torch.nn.Sequential``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> net = nn.Sequential().add(nn.Linear(4, 3)).add(nn.Tanh())
        >>> x = torch.ones(2, 4)
        >>> net.forward(x).shape, net.backward(x, torch.ones(2, 3)).shape
        (torch.Size([2, 3]), torch.Size([2, 4]))
    """

    def add(self, module: Module | torch.nn.Module) -> Sequential:
        super().add(as_module(module))  # not None, as in Torch7
        self._take_over()
        return self

    def _take_over(self) -> None:
        """Take over gradInput of the first and output of the last module, as Torch7 does."""
        last = self.modules[-1] if self.modules else None
        self.output = self._empty() if last is None else last.output
        first = self.modules[0] if self.modules else None
        self.gradInput = self._empty() if first is None else first.gradInput

    def insert(self, module: Module, index: int | None = None) -> Sequential:
        """Put ``module`` at place ``index``, counted from 1; at the end by default.

        Args:
            module: a module of ``compat.nn`` or of ``torch.nn``.
            index: from 1 to the number of modules plus 1.

        Raises:
            IndexError: there is no such place.
        """
        most = len(self.modules) + 1
        self.modules.insert(
            self._position(most if index is None else index, most), as_module(module)
        )
        self._take_over()
        return self

    def remove(self, index: int | None = None) -> Module:
        """Take out and return the module at place ``index``, by default the last.

        Args:
            index: from 1, or from -1 for the last.

        Raises:
            IndexError: there is no such place.
        """
        module = self.modules.pop(self._position(len(self.modules) if index is None else index))
        self._take_over()
        return module

    def updateOutput(self, input: Any) -> Any:
        position = 0
        try:
            for position, module in enumerate(self.modules):  # noqa: B007 (the error names it)
                input = module.updateOutput(input)
        except Exception as error:
            raise self._located(error, position, "updateOutput", input) from None
        self.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        for position, part in self._inputs(input):
            given, gradOutput = gradOutput, self.call(position, "updateGradInput", part, gradOutput)
            if gradOutput is None and given is not None:
                break  # not wanted there: nothing for those before
        self.gradInput = gradOutput
        return gradOutput

    def _relay(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        for position, part in self._inputs(input):
            self.call(position, method, part, gradOutput, factor)
            given, gradOutput = gradOutput, self.modules[position].gradInput
            self.report_finished(position)
            if gradOutput is None and given is not None:
                break

    def _inputs(self, input: Any) -> Iterator[tuple[int, Any]]:
        """Yield the places of the modules, the last first, each with its input."""
        modules = self._some()
        for position in range(len(modules) - 1, 0, -1):
            yield position, modules[position - 1].output
        yield 0, input

    def _some(self) -> list[Any]:
        if not self.modules:
            error = ValueError("there is no module to go back through")
            blame(error, self, "updateGradInput")
            locate(error, self)
            raise error
        modules: list[Any] = self.modules
        return modules

    @own_backward
    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        gradOutput, wanted = self._down_to_first(gradOutput, scale)
        if wanted:
            gradOutput = self.call(0, "backward", input, gradOutput, scale)
            self.report_finished(0)
        self.gradInput = gradOutput
        return gradOutput

    def backward_parameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        if not self.goes_back_as(Sequential):
            super().backward_parameters(input, gradOutput, scale)
            return
        gradOutput, wanted = self._down_to_first(gradOutput, scale)
        if wanted:
            self.call(0, "backward_parameters", input, gradOutput, scale)
            self.report_finished(0)

    def _down_to_first(self, gradOutput: Any, scale: Scalar) -> tuple[Any, bool]:
        """Go back through all modules but the first; return the gradient for the first.

        The second result tells whether the first is to go back: not where a module on the way made
        no gradient of the one it got. None that a caller gives is passed on: a module may need no
        gradient, others refuse it.
        """
        modules, hear = self._some(), completion.listener()
        lean = self.keep_results is False
        position, wanted = len(modules), True
        try:
            while position > 1 and wanted:
                position -= 1
                module, given = modules[position], gradOutput
                gradOutput = module.backward(modules[position - 1].output, given, scale)
                module.gradInput = gradOutput
                wanted = gradOutput is not None or given is None
                if hear is not None:
                    hear(self, position)
                if lean:
                    module.free_results()
        except Exception as error:
            raise self._located(
                error, position, "backward", modules[position - 1].output, gradOutput
            ) from None
        return gradOutput, wanted

    def _head(self) -> str:
        # As in Torch7, whatever class it is that has no print of its own.
        return "nn.Sequential"

    def _body(self) -> list[str]:
        steps = "".join(f"({i}) -> " for i in range(1, len(self.modules) + 1))
        return [f"[input -> {steps}output]", *super()._body()]
