"""Transfer functions and the softmax family.

Comparisons are those of THNN's C code, which are false for NaN. PyTorch's kernels pass NaN on, so
that it is replaced before them where that matters, which is quicker than ``where``. With
``inplace`` a function overwrites its first argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

aten = torch.ops.aten


def threshold(input: Tensor, threshold: float, val: float, inplace: bool = False) -> Tensor:
    """``input`` above ``threshold`` and ``val`` elsewhere, also for NaN, which stays in place."""
    if not inplace:
        input = torch.nan_to_num(input, -math.inf, math.inf, -math.inf)
    return torch.threshold_(input, threshold, val)


def threshold_backward(
    gradOutput: Tensor, input: Tensor, threshold: float, inplace: bool = False
) -> Tensor:
    """Return ``gradOutput`` where ``input`` is above ``threshold`` and 0 elsewhere."""
    if inplace:
        return aten.threshold_backward.grad_input(
            gradOutput, input, threshold, grad_input=gradOutput
        )
    input = torch.nan_to_num(input, -math.inf, math.inf, -math.inf)
    return aten.threshold_backward.default(gradOutput, input, threshold)


def hardtanh(input: Tensor, min_val: float, max_val: float, inplace: bool = False) -> Tensor:
    """Return ``input`` between two bounds. NaN gives the upper one; in place it stays."""
    if not inplace:
        input = torch.nan_to_num(input, math.inf, math.inf, -math.inf)
    return input.clamp_(min_val, max_val)


def hardtanh_backward(
    gradOutput: Tensor, input: Tensor, min_val: float, max_val: float, inplace: bool = False
) -> Tensor:
    """Return ``gradOutput`` where ``input`` is not at or beyond a bound, and 0 elsewhere."""
    input = torch.nan_to_num(input, (min_val + max_val) / 2, math.inf, -math.inf)
    if inplace:
        return aten.hardtanh_backward.grad_input(
            gradOutput, input, min_val, max_val, grad_input=gradOutput
        )
    return aten.hardtanh_backward.default(gradOutput, input, min_val, max_val)


def clip(input: Tensor, minval: float, maxval: float) -> Tensor:
    """Return ``input`` between two bounds, of which the lower one wins. NaN stays."""
    return input.clamp_max(maxval).clamp_min_(minval)


def leaky_relu(input: Tensor, negval: float, inplace: bool = False) -> Tensor:
    """Return ``input`` above 0 and ``negval`` times it elsewhere."""
    return F.leaky_relu(input, negval, inplace)


def leaky_relu_backward(
    gradOutput: Tensor, input: Tensor, negval: float, inplace: bool = False
) -> Tensor:
    """Return ``gradOutput`` where ``input`` is above 0 and ``negval`` times it elsewhere."""
    if inplace:
        return aten.leaky_relu_backward.grad_input(
            gradOutput, input, negval, False, grad_input=gradOutput
        )
    return aten.leaky_relu_backward.default(gradOutput, input, negval, False)


def elu(input: Tensor, alpha: float, inplace: bool = False) -> Tensor:
    """Return ``input`` above 0 and ``alpha * (exp(input) - 1)`` elsewhere."""
    return F.elu(input, alpha, inplace)


def elu_backward(gradOutput: Tensor, output: Tensor, alpha: float, inplace: bool = False) -> Tensor:
    """Return ``gradOutput``, times ``output + alpha`` where ``output`` is not above 0."""
    if alpha < 0:  # which ATen refuses
        slope = torch.where(output <= 0, output + alpha, 1)
        return gradOutput.mul_(slope) if inplace else gradOutput * slope
    if inplace:
        return aten.elu_backward.grad_input(
            gradOutput, alpha, 1, 1, True, output, grad_input=gradOutput
        )
    return aten.elu_backward.default(gradOutput, alpha, 1, 1, True, output)


def rrelu_slopes(input: Tensor, draw: Callable[[Tensor], Any]) -> Tensor:
    """1 where ``input`` is above 0, and elsewhere what ``draw`` fills a vector with, in order."""
    leaking = input <= 0
    drawn = input.new_empty(int(leaking.sum()))
    draw(drawn)
    slopes = torch.ones_like(input, memory_format=torch.contiguous_format)
    return slopes.masked_scatter_(leaking, drawn)


def prelu(input: Tensor, slopes: Tensor) -> Tensor:
    """Return ``input`` above 0 and ``slopes``, which broadcast, times it elsewhere."""
    return aten._prelu_kernel.default(input, slopes.to(input.dtype))


def prelu_backward(gradOutput: Tensor, input: Tensor, slopes: Tensor) -> Tensor:
    """Return ``gradOutput`` where ``input`` is above 0 and ``slopes`` times it elsewhere."""
    return aten._prelu_kernel_backward.default(gradOutput, input, slopes.to(input.dtype))[0]


def prelu_acc_(gradOutput: Tensor, input: Tensor, gradSlopes: Tensor, scale: float) -> None:
    """Add ``scale`` times the sums of ``input * gradOutput`` where ``input`` is not above 0."""
    input = torch.nan_to_num(input, math.inf, math.inf, -math.inf)
    slopes = gradSlopes.to(input.dtype)
    products = aten._prelu_kernel_backward.default(gradOutput, input, slopes)[1]
    gradSlopes.add_(products.sum_to_size(gradSlopes.shape), alpha=scale)


def hardshrink(input: Tensor, lambd: float) -> Tensor:
    """Return 0 from ``-lambd`` to ``lambd``, also for NaN, and ``input`` elsewhere."""
    return F.hardshrink(torch.nan_to_num(input, 0, math.inf, -math.inf), lambd)


def softshrink(input: Tensor, lambd: float) -> Tensor:
    """Return ``input`` moved by ``lambd`` towards 0, but not beyond. NaN gives 0."""
    return F.softshrink(torch.nan_to_num(input, 0, math.inf, -math.inf), lambd)


def shrink_backward(gradOutput: Tensor, input: Tensor, lambd: float) -> Tensor:
    """Return ``gradOutput`` where ``input`` is beyond ``-lambd`` or ``lambd``, and 0 elsewhere."""
    input = torch.nan_to_num(input, 0, math.inf, -math.inf)
    return aten.hardshrink_backward.default(gradOutput, input, lambd)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return torch.tanh(input)


def tanh_backward(gradOutput: Tensor, output: Tensor) -> Tensor:
    """Return ``gradOutput * (1 - output²)``."""
    return aten.tanh_backward.default(gradOutput, output)


def sigmoid(input: Tensor) -> Tensor:
    """Return ``1 / (1 + exp(-input))``."""
    return torch.sigmoid(input)


def sigmoid_backward(gradOutput: Tensor, output: Tensor) -> Tensor:
    """Return ``gradOutput * (1 - output) * output``."""
    return aten.sigmoid_backward.default(gradOutput, output)


def logsigmoid(input: Tensor) -> Tensor:
    """Return ``log(1 / (1 + exp(-input)))``; NaN at minus infinity.

    There Torch7 subtracts the largest exponent, infinity, from itself.
    """
    return F.logsigmoid(input).nan_to_num_(math.nan, math.inf, math.nan)


def logsigmoid_backward(gradOutput: Tensor, input: Tensor) -> Tensor:
    """Return ``gradOutput * sigmoid(-input)``."""
    return torch.neg(input).sigmoid_().mul_(gradOutput)


def softplus(input: Tensor, beta: float, threshold: float) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``; where ``beta * input > threshold`` the input."""
    return F.softplus(input, beta, threshold)


def softplus_backward(gradOutput: Tensor, output: Tensor, beta: float, threshold: float) -> Tensor:
    """``gradOutput * (z - 1) / z``, ``z = exp(beta * output)``; gradOutput beyond the threshold."""
    exponent = torch.threshold_(output * -beta, -threshold, -math.inf)
    return exponent.expm1_().mul_(gradOutput).neg_()


def softsign(input: Tensor) -> Tensor:
    """Return ``input / (1 + |input|)``."""
    return F.softsign(input)


def softsign_backward(gradOutput: Tensor, input: Tensor) -> Tensor:
    """Return ``gradOutput / (1 + |input|)²``."""
    return gradOutput / input.abs().add_(1).square_()


def glu(input: Tensor, dim: int) -> Tensor:
    """Return the first half of ``input`` along ``dim`` times the sigmoid of the second."""
    return F.glu(input, dim)


def glu_backward(gradOutput: Tensor, input: Tensor, dim: int) -> Tensor:
    """Return the gradients of both halves."""
    return aten.glu_backward.default(gradOutput, input, dim)


def softmax(input: Tensor, dim: int) -> Tensor:
    """Return ``exp(input)`` divided by its sum along ``dim``."""
    return torch.softmax(input, dim)


def softmax_backward(gradOutput: Tensor, output: Tensor, dim: int) -> Tensor:
    """Return ``output * (gradOutput - sum(gradOutput * output))``."""
    return aten._softmax_backward_data.default(gradOutput, output, dim, output.dtype)


def log_softmax(input: Tensor, dim: int) -> Tensor:
    """Return the logarithm of ``softmax``."""
    return torch.log_softmax(input, dim)


def log_softmax_backward(gradOutput: Tensor, output: Tensor, dim: int) -> Tensor:
    """Return ``gradOutput - exp(output) * sum(gradOutput)``."""
    if gradOutput.shape != output.shape:  # which the kernel does not look at
        raise ValueError(
            f"gradOutput has size {tuple(gradOutput.shape)}; that of the output, "
            f"{tuple(output.shape)}, is accepted"
        )
    return aten._log_softmax_backward_data.default(gradOutput, output, dim, output.dtype)
