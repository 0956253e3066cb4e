"""Functions of each element, and softmaxes. Results are given, of the right size."""

from __future__ import annotations

import torch
from torch import Tensor

from compat import random
from compat.lua.kernels.thnn.checks import shown

aten = torch.ops.aten


def Abs_updateOutput(input: Tensor, output: Tensor) -> None:
    torch.abs(input, out=output)


def Abs_updateGradInput(input: Tensor, gradOutput: Tensor, gradInput: Tensor) -> None:
    # At 0 the slope is 1.
    torch.where(input >= 0, gradOutput, -gradOutput, out=gradInput)


def ELU_updateOutput(input: Tensor, output: Tensor, alpha: float) -> None:
    aten.elu.out(input, alpha, out=output)


def ELU_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, output: Tensor, alpha: float
) -> None:
    aten.elu_backward.grad_input(gradOutput, alpha, 1, 1, True, output, grad_input=gradInput)


def GatedLinear_updateOutput(input: Tensor, dim: int) -> Tensor:
    return torch.nn.functional.glu(input, dim - 1)


def GatedLinear_updateGradInput(input: Tensor, gradOutput: Tensor, dim: int) -> Tensor:
    return aten.glu_backward(gradOutput, input, dim - 1)


def HardShrink_updateOutput(input: Tensor, output: Tensor, lambd: float) -> None:
    aten.hardshrink.out(input, lambd, out=output)


def HardShrink_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, lambd: float
) -> None:
    aten.hardshrink_backward.grad_input(gradOutput, input, lambd, grad_input=gradInput)


def HardTanh_updateOutput(input: Tensor, output: Tensor, min_val: float, max_val: float) -> None:
    aten.hardtanh.out(input, min_val, max_val, out=output)


def HardTanh_updateGradInput(
    input: Tensor,
    gradOutput: Tensor,
    gradInput: Tensor,
    min_val: float,
    max_val: float,
) -> None:
    aten.hardtanh_backward.grad_input(gradOutput, input, min_val, max_val, grad_input=gradInput)


def LeakyReLU_updateOutput(input: Tensor, output: Tensor, negval: float) -> None:
    aten.leaky_relu.out(input, negval, out=output)


def LeakyReLU_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, negval: float
) -> None:
    aten.leaky_relu_backward.grad_input(gradOutput, input, negval, False, grad_input=gradInput)


def LogSigmoid_updateOutput(input: Tensor, output: Tensor) -> None:
    aten.log_sigmoid.out(input, out=output)


def LogSigmoid_updateGradInput(input: Tensor, gradOutput: Tensor, gradInput: Tensor) -> None:
    torch.mul(gradOutput, torch.sigmoid(-input), out=gradInput)


def _softmax_dim(tensor: Tensor) -> int:
    if not 1 <= tensor.dim() <= 4:
        raise RuntimeError("1D, 2D, 3D or 4D tensor expected")
    return 0 if tensor.dim() in (1, 3) else 1


def LogSoftMax_updateOutput(input: Tensor, output: Tensor) -> None:
    torch.log_softmax(input, _softmax_dim(input), out=output)


def LogSoftMax_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, output: Tensor
) -> None:
    _check_alike(gradOutput, output)
    sums = gradOutput.sum(_softmax_dim(output), keepdim=True)
    torch.sub(gradOutput, output.exp().mul_(sums), out=gradInput)


def SoftMax_updateOutput(input: Tensor, output: Tensor) -> None:
    torch.softmax(input, _softmax_dim(input), out=output)


def SoftMax_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, output: Tensor
) -> None:
    _check_alike(gradOutput, output)
    sums = (gradOutput * output).sum(_softmax_dim(output), keepdim=True)
    torch.mul(gradOutput - sums, output, out=gradInput)


def _check_alike(gradOutput: Tensor, output: Tensor) -> None:
    if gradOutput.shape != output.shape:
        raise RuntimeError(
            "input and gradOutput shapes do not match: "
            f"input {shown(output)}, gradOutput {shown(gradOutput)}"
        )


def _slopes(input: Tensor, weight: Tensor, planes: int) -> Tensor:
    """The slopes of PReLU as its input sees them: one, or one for each plane."""
    if planes == 0:
        return weight.flatten()[0]
    axis = 1 if input.dim() > 1 else 0
    if input.size(axis) != planes:
        raise RuntimeError(
            f"Wrong number of input planes. Expected {planes} but got {input.size(axis)}."
        )
    return weight.view(-1, *[1] * (input.dim() - axis - 1))


def PReLU_updateOutput(input: Tensor, output: Tensor, weight: Tensor, planes: int) -> None:
    torch.where(input > 0, input, input * _slopes(input, weight, planes), out=output)


def PReLU_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, weight: Tensor, planes: int
) -> None:
    slopes = _slopes(input, weight, planes)
    torch.where(input > 0, gradOutput, gradOutput * slopes, out=gradInput)


def PReLU_accGradParameters(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    gradWeight: Tensor,
    planes: int,
    scale: float,
) -> None:
    slopes = _slopes(input, weight, planes)
    products = torch.where(input > 0, 0, input * gradOutput)
    sums = products.sum() if planes == 0 else products.sum_to_size(slopes.shape)
    gradWeight.view(-1)[: sums.numel()].add_(sums.flatten(), alpha=scale)


def RReLU_updateOutput(
    input: Tensor,
    output: Tensor,
    generator: random.Generator | None,
    lower: float,
    upper: float,
    train: bool,
) -> Tensor:
    if not train:
        aten.leaky_relu.out(input, (lower + upper) / 2, out=output)
        return torch.empty_like(input)
    negative = input <= 0
    noise = torch.ones_like(input)
    drawn = input.new_empty(int(negative.sum()))
    if input.device.type == "cpu":
        random.uniform_(drawn, lower, upper, generator=generator)
    else:
        drawn.uniform_(lower, upper)
    noise[negative] = drawn
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
        aten.leaky_relu_backward.grad_input(gradOutput, input, slope, False, grad_input=gradInput)


def Sigmoid_updateOutput(input: Tensor, output: Tensor) -> None:
    torch.sigmoid(input, out=output)


def Sigmoid_updateGradInput(gradOutput: Tensor, gradInput: Tensor, output: Tensor) -> None:
    aten.sigmoid_backward.grad_input(gradOutput, output, grad_input=gradInput)


def SoftPlus_updateOutput(input: Tensor, output: Tensor, beta: float, threshold: float) -> None:
    aten.softplus.out(input, beta, threshold, out=output)


def SoftPlus_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, beta: float, threshold: float
) -> None:
    aten.softplus_backward.grad_input(gradOutput, input, beta, threshold, grad_input=gradInput)


def SoftShrink_updateOutput(input: Tensor, output: Tensor, lambd: float) -> None:
    aten.softshrink.out(input, lambd, out=output)


def SoftShrink_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, lambd: float
) -> None:
    aten.softshrink_backward.grad_input(gradOutput, input, lambd, grad_input=gradInput)


def Sqrt_updateOutput(input: Tensor, output: Tensor, eps: float) -> None:
    torch.sqrt(input, out=output)


def Sqrt_updateGradInput(gradOutput: Tensor, gradInput: Tensor, output: Tensor) -> None:
    slopes = (gradOutput / output).mul_(0.5)
    gradInput.copy_(slopes.masked_fill_(output == 0, 0))


def Square_updateOutput(input: Tensor, output: Tensor) -> None:
    torch.square(input, out=output)


def Square_updateGradInput(input: Tensor, gradOutput: Tensor, gradInput: Tensor) -> None:
    torch.mul(gradOutput * 2, input, out=gradInput)


def Tanh_updateOutput(input: Tensor, output: Tensor) -> None:
    torch.tanh(input, out=output)


def Tanh_updateGradInput(gradOutput: Tensor, gradInput: Tensor, output: Tensor) -> None:
    aten.tanh_backward.grad_input(gradOutput, output, grad_input=gradInput)


def Threshold_updateOutput(input: Tensor, output: Tensor, threshold: float, val: float) -> None:
    aten.threshold.out(input, threshold, val, out=output)


def Threshold_updateGradInput(
    input: Tensor, gradOutput: Tensor, gradInput: Tensor, threshold: float, val: float
) -> None:
    aten.threshold_backward.grad_input(gradOutput, input, threshold, grad_input=gradInput)
