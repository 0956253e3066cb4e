"""Linear layers, also of inputs that are lists of features, and tables of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError
from compat.lua.kernels.thnn.checks import shown
from compat.nn.functional import linear as f
from compat.nn.functional import sparse
from compat.nn.functional.embedding import lookup_acc_

# Linear ------------------------------------------------------------------------------------------


Linear_updateOutput = f.linear


def Linear_updateGradInput(input: Tensor, gradOutput: Tensor, weight: Tensor) -> Tensor:
    return f.linear_grad_input(input, gradOutput, weight)


def Linear_accGradParameters(
    input: Tensor,
    gradOutput: Tensor,
    bias: Tensor | None,
    gradWeight: Tensor,
    gradBias: Tensor | None,
    scale: float,
) -> None:
    f.linear_acc_(input, gradOutput, gradWeight, gradBias, scale)


# LookupTable -------------------------------------------------------------------------------------


def _check_rows(rows: Tensor, weight: Tensor, verb: str) -> None:
    if rows.numel() == 0:
        return
    low, high = (int(bound) for bound in rows.aminmax())
    if low < 1 or high > weight.size(0):
        raise RuntimeError(
            f"{verb} to be in the range 1 <= input < {weight.size(0) + 1}, but got input of value: "
            f"{low if low < 1 else high}"
        )


def LookupTable_accGradParameters(
    input: Tensor,
    gradOutput: Tensor,
    gradWeight: Tensor,
    byFrequency: bool,
    padding: int,
    scale: float,
) -> Tensor:
    """Return how often each row is named, if gradients are divided by that."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"input must be a vector or matrix, but is of shape: {shown(input)}")
    _check_rows(input, gradWeight, "inputs need")
    rows = input - 1
    matrix = gradWeight.view(gradWeight.size(0), -1)
    lookup_acc_(rows, gradOutput, matrix, padding - 1, byFrequency, scale)
    if not byFrequency:
        return rows.new_zeros(0).int()
    return rows.flatten().bincount(minlength=gradWeight.size(0)).int()


def LookupTable_renorm(rows: Tensor, weight: Tensor, maxNorm: float, normType: float) -> None:
    if rows.dim() != 1:
        raise RuntimeError("idx must be a vector")
    if normType <= 0:
        raise RuntimeError("non-positive-norm not supported")
    _check_rows(rows, weight, "input need")
    chosen = rows.unique() - 1
    # THNN leaves the rows, each once, at the beginning.
    rows[: chosen.numel()] = chosen + 1
    found = weight[chosen]
    norms = found.flatten(1).norm(normType, dim=1)
    factors = torch.where(norms > maxNorm, maxNorm / (norms + 1e-7), 1)
    weight[chosen] = found * factors.view(-1, *[1] * (weight.dim() - 1))


# SparseLinear: inputs are rows of sample, feature and value; older ones have a matrix for each
# sample, rows of feature and value. -----------------------------------------------------------


def _coordinates(input: Tensor, argument: int) -> tuple[Tensor, Tensor, Tensor]:
    if input.dim() != 2 or input.size(1) != 3:
        raise ArgumentError(argument, "input must be in coo format, nnz x 3")
    return input[:, 0].long() - 1, input[:, 1].long() - 1, input[:, 2]


def _legacy_coordinates(input: Tensor, argument: int) -> tuple[Tensor, Tensor, Tensor]:
    if input.dim() != 3 or input.size(2) != 2:
        raise ArgumentError(argument, "input size must be batchsize x nnz x 2")
    samples = torch.arange(input.size(0), device=input.device).repeat_interleave(input.size(1))
    return samples, input[..., 0].long().flatten() - 1, input[..., 1].flatten()


def _sparse(input: Tensor, weight: Tensor, argument: int, verb: str) -> tuple[Tensor, ...]:
    """Return the samples, features and values that are not zero."""
    read = _legacy_coordinates if input.dim() == 3 else _coordinates
    samples, features, values = read(input, argument)
    kept = values != 0
    samples, features, values = samples[kept], features[kept], values[kept]
    wrong = (features < 0) | (features >= weight.size(1))
    if bool(wrong.any()):
        raise RuntimeError(
            f"index out of bound. {verb}: {int(features[wrong][0]) + 1} not between 1 and "
            f"{weight.size(1)}"
        )
    return samples, features, values


def _check_vector(vector: Tensor, name: str, size: int, argument: int) -> None:
    if vector.shape != (size,):
        raise ArgumentError(argument, f"{name} size wrong")


def SparseLinear_updateOutput(input: Tensor, output: Tensor, weight: Tensor, bias: Tensor) -> None:
    _check_vector(bias, "bias", weight.size(0), 5)
    samples, features, values = _sparse(input, weight, 2, "updateOutput")
    found = sparse.sparse_linear(features, values, samples, output.size(0), weight.t(), bias)
    output.copy_(found)


def SparseLinear_legacyUpdateOutput(input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    output = input.new_empty(input.size(0), weight.size(0))
    SparseLinear_updateOutput(input, output, weight, bias)
    return output


def SparseLinear_accGradParameters(
    input: Tensor,
    gradOutput: Tensor,
    gradWeight: Tensor,
    gradBias: Tensor,
    weight: Tensor,
    weightDecay: float,
    scale: float,
) -> None:
    if gradWeight.shape != weight.shape:
        raise ArgumentError(4, "gradWeight size wrong")
    _check_vector(gradBias, "gradBias", weight.size(0), 5)
    samples, features, values = _sparse(input, weight, 2, "accGradParameters")
    gradOutput = gradOutput.view(-1, weight.size(0))
    sparse.sparse_linear_acc_(
        features, values, samples, gradOutput, gradWeight.t(), gradBias, scale
    )
    if weightDecay:
        gradWeight.add_(weight, alpha=weightDecay)


def SparseLinear_zeroGradParameters(
    gradWeight: Tensor, gradBias: Tensor, lastInput: Tensor
) -> None:
    _check_vector(gradBias, "gradBias", gradWeight.size(0), 3)
    _, features, _ = _sparse(lastInput, gradWeight, 4, "zeroGradParameters")
    gradBias.zero_()
    gradWeight[:, features] = 0


def SparseLinear_updateParameters(
    weight: Tensor,
    bias: Tensor,
    gradWeight: Tensor,
    gradBias: Tensor,
    lastInput: Tensor,
    learningRate: float,
) -> None:
    if gradWeight.shape != weight.shape:
        raise ArgumentError(4, "gradWeight size wrong")
    _check_vector(bias, "bias", weight.size(0), 3)
    _check_vector(gradBias, "gradBias", weight.size(0), 5)
    features = _sparse(lastInput, weight, 6, "updateParameters")[1].unique()
    if features.numel() == 0:
        return
    bias.add_(gradBias, alpha=-learningRate)
    weight[:, features] -= gradWeight[:, features] * learningRate


KERNELS: dict[str, Callable[..., Any]] = {
    "SparseLinear_legacyAccGradParameters": SparseLinear_accGradParameters,
    "SparseLinear_legacyZeroGradParameters": SparseLinear_zeroGradParameters,
    "SparseLinear_legacyUpdateParameters": SparseLinear_updateParameters,
}

# IndexLinear: values and their features one sample after the other, and how many each has. A row
# of the weight may begin with numbers that normalize the feature: its largest value so far, the
# inverse, the share of an update that it gets, and a bias. ----------------------------------------

_SHARE, _BIAS = 2, 3


def _check_keys(keys: Tensor, values: Tensor) -> None:
    if keys.dim() != 1 or keys.shape != values.shape:
        raise ArgumentError(1, "Keys and values should have the same number of elements")


def _begin(weight: Tensor, bias: Tensor) -> int:
    """Return the number of normalization values at the start of a row of the weight."""
    return weight.size(1) - bias.numel()


def IndexLinear_updateOutput(
    keys: Tensor,
    values: Tensor,
    sizes: Tensor,
    weight: Tensor,
    bias: Tensor,
    offset: int,
    train: int,
) -> tuple[Tensor, Tensor]:
    """Return the output, and the values after normalization."""
    _check_keys(keys, values)
    rows, begin = keys + offset, _begin(weight, bias)
    if begin:
        values = sparse.normalized_values(weight, rows, values, bool(train))
    owners = sparse.owners_of(sizes)
    output = sparse.sparse_linear(rows, values, owners, sizes.numel(), weight[:, begin:], bias)
    return output, values if begin else values.new_empty(0)


def IndexLinear_accGradParameters(
    keys: Tensor,
    values: Tensor,
    sizes: Tensor,
    gradOutput: Tensor,
    gradBias: Tensor,
    weight: Tensor,
    bias: Tensor,
    offset: int,
    weightDecay: float,
    scale: float,
) -> Tensor:
    """Return the gradient, with a row for each key, first for the bias of its normalization."""
    _check_keys(keys, values)
    gradOutput = gradOutput.view(-1, bias.numel()) * scale
    gradBias.add_(gradOutput.sum(0).view_as(gradBias))
    slopes = gradOutput[sparse.owners_of(sizes)]
    gradients = slopes * values[:, None]
    return torch.cat((slopes, gradients), 1) if _begin(weight, bias) else gradients


def _turns(rows: Tensor) -> Iterator[Tensor]:
    """Yield places of the rows, in turns in each of which no row comes twice."""
    ordered, order = rows.sort(stable=True)
    places = torch.arange(rows.numel(), device=rows.device)
    turn = torch.empty_like(places)
    turn[order] = places - torch.searchsorted(ordered, ordered)
    for number in range(int(turn.max()) + 1 if rows.numel() else 0):
        yield (turn == number).nonzero().squeeze(1)


def _descend(
    weight: Tensor, rows: Tensor, slopes: Tensor, gradients: Tensor, begin: int, decay: float
) -> None:
    """Take a step on each of these rows of the weight.

    ``slopes`` are those of the output, for the bias of the normalization.
    """
    if not begin and not decay:
        weight.index_add_(0, rows, gradients, alpha=-1)
        return
    # A row that comes again is found as the first step has left it.
    for turn in _turns(rows):
        chosen = weight[rows[turn]]
        weights, steps = chosen[:, begin:], gradients[turn]
        if begin:
            share = chosen[:, _SHARE : _SHARE + 1].clone()
            chosen[:, _BIAS] -= (weights * slopes[turn] * share).sum(1)
            # With one output THNN's decay has the other sign.
            sign = -1 if weights.size(1) == 1 else 1
            weights -= share * (steps + weights * (sign * decay))
        else:
            weights -= steps + weights * decay
        weight[rows[turn]] = chosen


def IndexLinear_accUpdateGradParameters(
    keys: Tensor,
    values: Tensor,
    sizes: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    bias: Tensor,
    offset: int,
    weightDecay: float,
    scale: float,
) -> None:
    _check_keys(keys, values)
    begin, gradOutput = _begin(weight, bias), gradOutput.view(-1, bias.numel()) * scale
    bias.sub_(gradOutput.sum(0))
    rows, slopes = keys + offset, gradOutput[sparse.owners_of(sizes)]
    gradients = slopes * values[:, None]
    _descend(weight, rows, slopes, gradients, begin, weightDecay)
    if begin and bias.numel() == 1:
        weight[rows, _SHARE] = 0


def IndexLinear_updateParameters(
    gradWeight: Tensor,
    gradBias: Tensor,
    weight: Tensor,
    bias: Tensor,
    keys: Tensor,
    offset: int,
    weightDecay: float,
    learningRate: float,
) -> None:
    begin, outputs = _begin(weight, bias), bias.numel()
    bias.sub_(gradBias.view_as(bias), alpha=learningRate)
    steps = gradWeight * learningRate
    slopes, gradients = steps[:, :outputs], steps[:, -outputs:]
    _descend(weight, keys + offset, slopes, gradients, begin, weightDecay)
