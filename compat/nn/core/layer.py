"""The base class of most layers, and the wrapper for classes with their own ``backward``."""

from __future__ import annotations

import functools
from typing import Any

from torch import Tensor

from compat.checks import checked_scale
from compat.nn.checks.error_place import fail
from compat.nn.checks.tensors import TENSOR
from compat.nn.core.module import Module, Scalar, without_graph

_METHODS = ("backward", "updateGradInput", "accGradParameters")


class Layer(Module, abstract=True):
    """A module that takes one tensor."""

    takes = TENSOR

    def backward_parameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        fields = self.__dict__
        # Methods of somebody's own may need a gradInput, and so may modules inside.
        if self._is_own() or self.children() or any(name in fields for name in _METHODS):
            super().backward_parameters(input, gradOutput, scale)
            return
        wanted, self.gradInput = self.gradInput, None
        try:
            self.backward(input, gradOutput, scale)
        finally:
            self.gradInput = wanted


def own_backward(backward: Any) -> Any:
    """Wrap the ``backward`` of a class in what ``Module.backward`` does first and last.

    Arguments are then plain tensors and a number, compiled code is used if there is some, and
    errors name the module.
    """

    @functools.wraps(backward)
    def begun(self: Module, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        try:
            if type(input) is not Tensor or input.requires_grad:
                input = without_graph(input)
            if type(gradOutput) is not Tensor or gradOutput.requires_grad:
                gradOutput = without_graph(gradOutput)
            if type(scale) is not int:
                scale = checked_scale(scale)
            code = self.compilation
            if code is not None and code.backward(self, input, gradOutput, scale):
                return self.gradInput
            return backward(self, input, gradOutput, scale)
        except Exception as error:
            fail(error, self, "backward", input, gradOutput)

    begun.__dict__["compiles"] = True
    return begun
