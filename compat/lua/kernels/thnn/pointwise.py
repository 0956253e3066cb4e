"""Functions of each element, and softmaxes: the layers' own formulas.

Results are given, of the right size, and written to: for what is as quick as these that costs less
than to have Lua take a new tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from compat import random
from compat.lua.kernels.thnn.checks import shown
from compat.nn.functional import activation, pointwise


def _softmax_dim(tensor: Tensor) -> int:
    if not 1 <= tensor.dim() <= 4:
        raise RuntimeError("1D, 2D, 3D or 4D tensor expected")
    return 0 if tensor.dim() in (1, 3) else 1


def _check_alike(gradOutput: Tensor, output: Tensor) -> None:
    if gradOutput.shape != output.shape:
        raise RuntimeError(
            "input and gradOutput shapes do not match: "
            f"input {shown(output)}, gradOutput {shown(gradOutput)}"
        )


def _over_features(function: Callable[[Tensor, int], Tensor]) -> Callable[..., None]:
    def kernel(input: Tensor, output: Tensor) -> None:
        output.copy_(function(input, _softmax_dim(input)))

    return kernel


def _over_features_back(function: Callable[[Tensor, Tensor, int], Tensor]) -> Callable[..., None]:
    def kernel(gradOutput: Tensor, gradInput: Tensor, output: Tensor) -> None:
        _check_alike(gradOutput, output)
        gradInput.copy_(function(gradOutput, output, _softmax_dim(output)))

    return kernel


def GatedLinear_updateOutput(input: Tensor, dim: int) -> Tensor:
    return activation.glu(input, dim - 1)


def GatedLinear_updateGradInput(input: Tensor, gradOutput: Tensor, dim: int) -> Tensor:
    return activation.glu_backward(gradOutput, input, dim - 1)


def _slopes(input: Tensor, weight: Tensor, planes: int) -> Tensor:
    """Return PReLU's slopes in the input's shape: one, or one for each plane."""
    if planes == 0:
        return weight.view(-1)[:1]
    axis = 1 if input.dim() > 1 else 0
    if input.size(axis) != planes:
        raise RuntimeError(
            f"Wrong number of input planes. Expected {planes} but got {input.size(axis)}."
        )
    return weight.view(-1)[:planes].view(-1, *[1] * (input.dim() - axis - 1))


def PReLU_updateOutput(input: Tensor, output: Tensor, weight: Tensor, planes: int) -> None:
    output.copy_(activation.prelu(input, _slopes(input, weight, planes)))


def PReLU_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, weight: Tensor, planes: int
) -> None:
    slopes = _slopes(input, weight, planes)
    gradInput.copy_(activation.prelu_backward(gradOutput, input, slopes))


def PReLU_accGradParameters(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    gradWeight: Tensor,
    planes: int,
    scale: float,
) -> None:
    activation.prelu_acc_(gradOutput, input, _slopes(input, gradWeight, planes), scale)


def RReLU_updateOutput(
    input: Tensor,
    output: Tensor,
    generator: random.Generator | None,
    lower: float,
    upper: float,
    train: bool,
) -> Tensor:
    if not train:
        _leaky_relu(input, output, negval=(lower + upper) / 2)
        return torch.empty_like(input)

    def draw(tensor: Tensor) -> None:
        if tensor.device.type == "cpu":
            random.uniform_(tensor, lower, upper, generator=generator)
        else:
            tensor.uniform_(lower, upper)

    noise = activation.rrelu_slopes(input, draw)
    torch.mul(input, noise, out=output)
    return noise


def RReLU_updateGradInput(
    input: Tensor,
    gradOutput: Tensor,
    gradInput: Tensor,
    noise: Tensor,
    lower: float,
    upper: float,
    train: bool,
) -> None:
    if train and upper - lower > 1e-6:
        torch.mul(gradOutput, noise.view_as(gradOutput), out=gradInput)
    else:
        slope = (lower + upper) / 2
        _leaky_relu_backward(input, gradOutput, gradInput, negval=slope)


def _of(function: Callable[..., Tensor]) -> Callable[..., None]:
    """Return a kernel that writes ``function(input)``."""

    def kernel(input: Tensor, output: Tensor, **numbers: Any) -> None:
        output.copy_(function(input, **numbers))

    return kernel


def _of_input(function: Callable[..., Tensor]) -> Callable[..., None]:
    """Return a kernel that writes ``function(gradOutput, input)``."""

    def kernel(input: Tensor, gradOutput: Tensor, gradInput: Tensor, **numbers: Any) -> None:
        gradInput.copy_(function(gradOutput, input, **numbers))

    return kernel


def _of_output(function: Callable[..., Tensor]) -> Callable[..., None]:
    """Return a kernel that writes ``function(gradOutput, output)``."""

    def kernel(gradOutput: Tensor, gradInput: Tensor, output: Tensor, **numbers: Any) -> None:
        gradInput.copy_(function(gradOutput, output, **numbers))

    return kernel


def _overwriting(function: Callable[..., Tensor]) -> Callable[..., None]:
    """Do ``_of`` for a function that works in place if input and output share memory."""

    def kernel(input: Tensor, output: Tensor, **numbers: Any) -> None:
        if output.data_ptr() == input.data_ptr():
            function(input, **numbers, inplace=True)
        else:
            output.copy_(function(input, **numbers))

    return kernel


def _overwriting_back(function: Callable[..., Tensor]) -> Callable[..., None]:
    """Do the same for ``function(gradOutput, known)``: of the output, or else the input."""

    def kernel(
        input: Tensor,
        gradOutput: Tensor,
        gradInput: Tensor,
        output: Tensor | None = None,
        **numbers: Any,
    ) -> None:
        known = input if output is None else output
        if gradInput.data_ptr() == gradOutput.data_ptr():
            function(gradOutput, known, **numbers, inplace=True)
        else:
            gradInput.copy_(function(gradOutput, known, **numbers))

    return kernel


_leaky_relu = _overwriting(activation.leaky_relu)
_leaky_relu_backward = _overwriting_back(activation.leaky_relu_backward)

KERNELS: dict[str, Callable[..., Any]] = {
    "Abs_updateOutput": _of(pointwise.abs),
    "Abs_updateGradInput": _of_input(pointwise.abs_backward),
    "ELU_updateOutput": _overwriting(activation.elu),
    "ELU_updateGradInput": _overwriting_back(activation.elu_backward),
    "HardShrink_updateOutput": _of(activation.hardshrink),
    "HardShrink_updateGradInput": _of_input(activation.shrink_backward),
    "HardTanh_updateOutput": _overwriting(activation.hardtanh),
    "HardTanh_updateGradInput": _overwriting_back(activation.hardtanh_backward),
    "LeakyReLU_updateOutput": _leaky_relu,
    "LeakyReLU_updateGradInput": _leaky_relu_backward,
    "LogSigmoid_updateOutput": _of(activation.logsigmoid),
    "LogSigmoid_updateGradInput": _of_input(activation.logsigmoid_backward),
    "LogSoftMax_updateOutput": _over_features(activation.log_softmax),
    "LogSoftMax_updateGradInput": _over_features_back(activation.log_softmax_backward),
    "Sigmoid_updateOutput": _of(activation.sigmoid),
    "Sigmoid_updateGradInput": _of_output(activation.sigmoid_backward),
    "SoftMax_updateOutput": _over_features(activation.softmax),
    "SoftMax_updateGradInput": _over_features_back(activation.softmax_backward),
    "SoftPlus_updateOutput": _of(activation.softplus),
    "SoftPlus_updateGradInput": _of_output(activation.softplus_backward),
    "SoftShrink_updateOutput": _of(activation.softshrink),
    "SoftShrink_updateGradInput": _of_input(activation.shrink_backward),
    "Sqrt_updateOutput": _of(lambda input, eps=0: pointwise.sqrt(input)),
    "Sqrt_updateGradInput": _of_output(pointwise.sqrt_backward),
    "Square_updateOutput": _of(pointwise.square),
    "Square_updateGradInput": _of_input(pointwise.square_backward),
    "Tanh_updateOutput": _of(activation.tanh),
    "Tanh_updateGradInput": _of_output(activation.tanh_backward),
    "Threshold_updateOutput": _overwriting(activation.threshold),
    "Threshold_updateGradInput": _overwriting_back(
        lambda gradOutput, input, threshold, val, **rest: activation.threshold_backward(
            gradOutput, input, threshold, **rest
        )
    ),
}
