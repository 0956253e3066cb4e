"""Functions of each element, and softmaxes: the layers' own formulas."""

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


def LogSoftMax_updateOutput(input: Tensor) -> Tensor:
    return activation.log_softmax(input, _softmax_dim(input))


def LogSoftMax_updateGradInput(gradOutput: Tensor, output: Tensor) -> Tensor:
    _check_alike(gradOutput, output)
    return activation.log_softmax_backward(gradOutput, output, _softmax_dim(output))


def SoftMax_updateOutput(input: Tensor) -> Tensor:
    return activation.softmax(input, _softmax_dim(input))


def SoftMax_updateGradInput(gradOutput: Tensor, output: Tensor) -> Tensor:
    _check_alike(gradOutput, output)
    return activation.softmax_backward(gradOutput, output, _softmax_dim(output))


def GatedLinear_updateOutput(input: Tensor, dim: int) -> Tensor:
    return activation.glu(input, dim - 1)


def GatedLinear_updateGradInput(input: Tensor, gradOutput: Tensor, dim: int) -> Tensor:
    return activation.glu_backward(gradOutput, input, dim - 1)


def _slopes(input: Tensor, weight: Tensor, planes: int) -> Tensor:
    """The slopes of PReLU as its input sees them: one, or one for each plane."""
    if planes == 0:
        return weight.view(-1)[:1]
    axis = 1 if input.dim() > 1 else 0
    if input.size(axis) != planes:
        raise RuntimeError(
            f"Wrong number of input planes. Expected {planes} but got {input.size(axis)}."
        )
    return weight.view(-1)[:planes].view(-1, *[1] * (input.dim() - axis - 1))


def PReLU_updateOutput(input: Tensor, weight: Tensor, planes: int) -> Tensor:
    return activation.prelu(input, _slopes(input, weight, planes))


def PReLU_updateGradInput(input: Tensor, gradOutput: Tensor, weight: Tensor, planes: int) -> Tensor:
    return activation.prelu_backward(gradOutput, input, _slopes(input, weight, planes))


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


def _overwriting(function: Callable[..., Tensor]) -> Callable[..., None]:
    """A kernel that writes what ``function(source)`` is into a result, or works in place."""

    def kernel(source: Tensor, result: Tensor, **numbers: Any) -> None:
        if result.data_ptr() == source.data_ptr():
            function(source, **numbers, inplace=True)
        else:
            result.copy_(function(source, **numbers))

    return kernel


def _overwriting_back(function: Callable[..., Tensor]) -> Callable[..., None]:
    """The same of ``function(gradOutput, known)``, where the output is known, or else the input."""

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


def _of_input(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """``function(gradOutput, input)`` with its arguments in THNN's order."""

    def kernel(input: Tensor, gradOutput: Tensor, **numbers: Any) -> Tensor:
        return function(gradOutput, input, **numbers)

    return kernel


_leaky_relu = _overwriting(activation.leaky_relu)
_leaky_relu_backward = _overwriting_back(activation.leaky_relu_backward)

KERNELS: dict[str, Callable[..., Any]] = {
    "Abs_updateOutput": pointwise.abs,
    "Abs_updateGradInput": _of_input(pointwise.abs_backward),
    "ELU_updateOutput": _overwriting(activation.elu),
    "ELU_updateGradInput": _overwriting_back(activation.elu_backward),
    "HardShrink_updateOutput": activation.hardshrink,
    "HardShrink_updateGradInput": _of_input(activation.shrink_backward),
    "HardTanh_updateOutput": _overwriting(activation.hardtanh),
    "HardTanh_updateGradInput": _overwriting_back(activation.hardtanh_backward),
    "LeakyReLU_updateOutput": _leaky_relu,
    "LeakyReLU_updateGradInput": _leaky_relu_backward,
    "LogSigmoid_updateOutput": activation.logsigmoid,
    "LogSigmoid_updateGradInput": _of_input(activation.logsigmoid_backward),
    "Sigmoid_updateOutput": activation.sigmoid,
    "Sigmoid_updateGradInput": activation.sigmoid_backward,
    "SoftPlus_updateOutput": activation.softplus,
    "SoftPlus_updateGradInput": activation.softplus_backward,
    "SoftShrink_updateOutput": activation.softshrink,
    "SoftShrink_updateGradInput": _of_input(activation.shrink_backward),
    "Sqrt_updateOutput": lambda input, eps=0: pointwise.sqrt(input),
    "Sqrt_updateGradInput": pointwise.sqrt_backward,
    "Square_updateOutput": pointwise.square,
    "Square_updateGradInput": _of_input(pointwise.square_backward),
    "Tanh_updateOutput": activation.tanh,
    "Tanh_updateGradInput": activation.tanh_backward,
    "Threshold_updateOutput": _overwriting(activation.threshold),
    "Threshold_updateGradInput": _overwriting_back(
        lambda gradOutput, input, threshold, val, **rest: activation.threshold_backward(
            gradOutput, input, threshold, **rest
        )
    ),
}
