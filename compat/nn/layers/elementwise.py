"""The general form of a layer that treats every element by itself."""

from __future__ import annotations

from torch import Tensor

from compat.nn.core.layer import Layer


class Elementwise(Layer, abstract=True):
    """The base of layers whose output has the size of the input, usually element by element.

    A class states it as ``apply_to(input)`` and its gradient as ``gradient(input, gradOutput)``,
    which may read ``self.output``. In-place functions overwrite and return their argument.
    """

    inplace: bool = False

    def updateOutput(self, input: Tensor) -> Tensor:
        output = self.apply_to(input)
        if output is input:
            return self.set_output_view(input)
        return self.set_output(output.contiguous())

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        if gradOutput.shape != input.shape:
            gradOutput = shaped(gradOutput, input)
        gradInput = self.gradient(input, gradOutput)
        if gradInput is gradOutput:
            return self.set_gradInput_view(gradInput)
        return self.set_gradInput(gradInput.contiguous())

    def apply_to(self, input: Tensor) -> Tensor:
        """Return the function. Classes define it."""
        raise TypeError(f"{self.typename} does not define apply_to(input)")

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        """Return the gradient of the input. Classes define it."""
        raise TypeError(f"{self.typename} does not define gradient(input, gradOutput)")


def shaped(gradOutput: Tensor, like: Tensor) -> Tensor:
    """Return ``gradOutput`` in the shape of ``like``; only the number of elements must match."""
    if gradOutput.shape == like.shape:
        return gradOutput
    if gradOutput.numel() != like.numel():
        raise ValueError(
            f"gradOutput has size {tuple(gradOutput.shape)}; that of the output, "
            f"{tuple(like.shape)}, is accepted"
        )
    return gradOutput.reshape(like.shape)
