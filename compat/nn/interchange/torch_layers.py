"""What ``torch.nn`` lacks of Torch7's layers, as small ``torch.nn`` modules.

``Module.to_torch`` makes its nets of these and of PyTorch's own. They carry Torch7's names, count
dimensions and entries from 0 as PyTorch does, and take batches. Where a class has ``sample_dims``,
a dimension is that of a sample of so many dimensions: an input with one more is a batch, and its
dimension the next one.
"""

# TorchScript, which can compile all but the layers of nested lists, has no starred expressions.
# ruff: noqa: RUF005

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def along(dim: int, sample_dims: int, input: Tensor) -> int:
    """The dimension of ``input`` that is ``dim`` of a sample; see the top of this file."""
    if dim >= 0 and sample_dims >= 0 and input.dim() == sample_dims + 1:
        return dim + 1
    return dim


def at_least_1d(output: Tensor) -> Tensor:
    """``output``; a number as a vector, since Torch7 has no tensors without dimensions."""
    return output.reshape(1) if output.dim() == 0 else output


class _Settings(nn.Module):
    """A module that prints the settings that it was made of."""

    shown: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self.shown)


class _OverSamples(_Settings):
    """A module that works along a dimension of samples."""

    shown = ("dim", "sample_dims")

    def __init__(self, dim: int, sample_dims: int = -1) -> None:
        super().__init__()
        self.dim = dim
        self.sample_dims = sample_dims


# Containers.


class Concat(nn.ModuleList):
    """Every module gets the input; the outputs are joined along ``dim``.

    PyTorch: ``torch.cat``.
    """

    def __init__(self, dim: int, modules: list[nn.Module]) -> None:
        super().__init__(modules)
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        outputs: list[Tensor] = []
        for module in self:
            outputs.append(module(input))
        return torch.cat(outputs, self.dim)


class DepthConcat(Concat):
    """A ``Concat`` that pads outputs with zeros to the largest, on both sides alike."""

    def forward(self, input: Tensor) -> Tensor:
        outputs: list[Tensor] = []
        for module in self:
            outputs.append(module(input))
        dims = outputs[0].dim()
        padded: list[Tensor] = []
        for output in outputs:
            amounts: list[int] = []
            for dim in range(dims - 1, -1, -1):
                missing = 0
                if dim != self.dim:
                    missing = max([other.size(dim) for other in outputs]) - output.size(dim)
                amounts += [missing // 2, missing - missing // 2]
            padded.append(F.pad(output, amounts))
        return torch.cat(padded, self.dim)


class Parallel(nn.ModuleList):
    """Module i gets the i-th slice of the input along ``dim``.

    The outputs are joined along ``out_dim``.
    """

    def __init__(self, dim: int, out_dim: int, modules: list[nn.Module]) -> None:
        super().__init__(modules)
        self.dim = dim
        self.out_dim = out_dim

    def forward(self, input: Tensor) -> Tensor:
        slices = input.unbind(self.dim)
        outputs: list[Tensor] = []
        for i, module in enumerate(self):
            if i < len(slices):
                outputs.append(module(slices[i]))
        return torch.cat(outputs, self.out_dim)


class ConcatTable(nn.ModuleList):
    """Every module gets the input; the output is the list of theirs."""

    def forward(self, input: Tensor) -> list[Tensor]:
        outputs: list[Tensor] = []
        for module in self:
            outputs.append(module(input))
        return outputs


class ParallelTable(nn.ModuleList):
    """Module i gets entry i of the input; the output is a list."""

    def forward(self, input: list[Tensor]) -> list[Tensor]:
        outputs: list[Tensor] = []
        for i, module in enumerate(self):
            outputs.append(module(input[i]))
        return outputs


class MapTable(nn.Module):
    """One module for every entry of the input."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, input: list[Tensor]) -> list[Tensor]:
        return [self.module(entry) for entry in input]


class Bottle(_Settings):
    """Merges the leading dimensions of the input into the first of the ``dims`` a module takes.

    Its output has ``out_dims``.
    """

    shown = ("dims", "out_dims")

    def __init__(self, module: nn.Module, dims: int, out_dims: int) -> None:
        super().__init__()
        self.module = module
        self.dims = dims
        self.out_dims = out_dims

    def forward(self, input: Tensor) -> Tensor:
        extra = input.dim() - self.dims
        if extra <= 0:
            return self.module(input)
        output = self.module(input.flatten(0, extra))
        return output.reshape(input.shape[:extra] + (-1,) + output.shape[1:])


class OverFrames(nn.Module):
    """A layer of features × frames for an input of frames × features."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, input: Tensor) -> Tensor:
        return self.layer(input.transpose(-1, -2)).transpose(-1, -2)


class RememberingPool(nn.Module):
    """A max pooling that notes where the maxima were and what size the input had."""

    def __init__(self, pool: nn.Module) -> None:
        super().__init__()
        self.pool = pool
        self.dims = 3 if isinstance(pool, nn.MaxPool3d) else 2

    def forward(self, input: Tensor) -> Tensor:
        output, self.indices = self.pool(input)
        self.size = input.shape[-self.dims :]
        return output


class MaxUnpooling(nn.Module):
    """Puts values back where a ``RememberingPool`` found its maxima."""

    def __init__(self, pooling: RememberingPool) -> None:
        super().__init__()
        self.pooling = pooling
        pool: Any = pooling.pool
        unpool = nn.MaxUnpool3d if pooling.dims == 3 else nn.MaxUnpool2d
        self.unpool = unpool(pool.kernel_size, pool.stride, pool.padding)

    def forward(self, input: Tensor) -> Tensor:
        return self.unpool(input, self.pooling.indices, self.pooling.size)


# Tables.


class JoinTable(_OverSamples):
    """The entries of a list, joined along a dimension.

    PyTorch: ``torch.cat``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        return torch.cat(input, along(self.dim, self.sample_dims, input[0]))


class SplitTable(_OverSamples):
    """The slices of a tensor along a dimension, as a list.

    PyTorch: ``torch.unbind``.
    """

    def forward(self, input: Tensor) -> list[Tensor]:
        # What is left of a vector are vectors of one, as Torch7 has no tensors without dimensions.
        dim = along(self.dim, self.sample_dims, input)
        return list(input.split(1) if input.dim() == 1 else input.unbind(dim))


class SelectTable(_Settings):
    """One entry of a list."""

    shown = ("index",)

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index

    def forward(self, input: list[Tensor]) -> Tensor:
        return input[self.index]


class NarrowTable(_Settings):
    """Some entries of a list."""

    shown = ("start", "length")

    def __init__(self, start: int, length: int) -> None:
        super().__init__()
        self.start = start
        self.length = length

    def forward(self, input: list[Tensor]) -> list[Tensor]:
        return input[self.start : self.start + self.length]


class FlattenTable(nn.Module):
    """The tensors of nested lists in one list."""

    def forward(self, input: Any) -> list[Tensor]:
        if isinstance(input, Tensor):
            return [input]
        return [tensor for entry in input for tensor in self.forward(entry)]


class CAddTable(nn.Module):
    """The sum of the entries.

    PyTorch: ``torch.add``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        result = input[0]
        for entry in input[1:]:
            result = result + entry
        return result


class CSubTable(nn.Module):
    """The first entry less the second.

    PyTorch: ``torch.sub``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        return input[0] - input[1]


class CMulTable(nn.Module):
    """The product of the entries.

    PyTorch: ``torch.mul``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        result = input[0]
        for entry in input[1:]:
            result = result * entry
        return result


class CDivTable(nn.Module):
    """The first entry divided by the second.

    PyTorch: ``torch.div``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        return input[0] / input[1]


class CMaxTable(nn.Module):
    """The largest of the entries for each element.

    PyTorch: ``torch.maximum``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        result = input[0]
        for entry in input[1:]:
            result = torch.where(entry > result, entry, result)
        return result


class CMinTable(nn.Module):
    """The smallest of the entries for each element.

    PyTorch: ``torch.minimum``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        result = input[0]
        for entry in input[1:]:
            result = torch.where(entry < result, entry, result)
        return result


class MM(_Settings):
    """The product of two matrices, or batches of them.

    PyTorch: ``torch.matmul``.
    """

    shown = ("transpose_first", "transpose_second")

    def __init__(self, transpose_first: bool = False, transpose_second: bool = False) -> None:
        super().__init__()
        self.transpose_first = transpose_first
        self.transpose_second = transpose_second

    def forward(self, input: list[Tensor]) -> Tensor:
        first = input[0].transpose(-1, -2) if self.transpose_first else input[0]
        second = input[1].transpose(-1, -2) if self.transpose_second else input[1]
        return first @ second


class MV(_Settings):
    """The product of a matrix and a vector, or of batches of them.

    PyTorch: ``torch.mv``.
    """

    shown = ("transpose",)

    def __init__(self, transpose: bool = False) -> None:
        super().__init__()
        self.transpose = transpose

    def forward(self, input: list[Tensor]) -> Tensor:
        matrix = input[0].transpose(-1, -2) if self.transpose else input[0]
        return (matrix @ input[1].unsqueeze(-1)).squeeze(-1)


class DotProduct(nn.Module):
    """The dot products of two batches of vectors.

    PyTorch: ``torch.linalg.vecdot``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        return at_least_1d((input[0] * input[1]).sum(-1))


class CosineDistance(nn.Module):
    """The cosines of the angles between two batches of vectors.

    PyTorch: ``torch.nn.CosineSimilarity``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        first, second = input[0], input[1]
        squares = first.square().sum(-1) + 1e-12, second.square().sum(-1) + 1e-12
        return at_least_1d((first * second).sum(-1) * (squares[0] * squares[1]).rsqrt())


class PairwiseDistance(_Settings):
    """The p-norms of the differences of two batches of vectors.

    PyTorch: ``torch.nn.PairwiseDistance``.
    """

    shown = ("p",)

    def __init__(self, p: float = 2.0) -> None:
        super().__init__()
        self.p = float(p)

    def forward(self, input: list[Tensor]) -> Tensor:
        return at_least_1d(torch.linalg.vector_norm(input[0] - input[1], self.p, dim=-1))


class Bilinear(nn.Bilinear):
    """``torch.nn.Bilinear`` for a list of its two inputs.

    PyTorch: ``torch.nn.Bilinear``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:  # type: ignore[override]
        return F.bilinear(input[0], input[1], self.weight, self.bias)


# Shapes.


class View(_Settings):
    """The input in the size of samples; what it holds more than one is a batch.

    With ``sample_dims`` the dimensions before those of a sample are the batch. Without, a batch of
    one stays a batch, which Torch7 takes for a sample.

    PyTorch: ``torch.Tensor.view``.
    """

    shown = ("size", "sample_dims")

    def __init__(self, size: list[int], sample_dims: int = -1) -> None:
        super().__init__()
        self.size = size
        self.sample_dims = sample_dims
        self.inferred = -1 in size
        self.elements = math.prod(n for n in size if n >= 0)

    def forward(self, input: Tensor) -> Tensor:
        leading = input.dim() - self.sample_dims if self.sample_dims >= 0 else 0
        if leading > 0 and self.inferred:
            batch = input.flatten(0, leading - 1)
            return batch.reshape([batch.size(0)] + self.size)
        one = self.sample_dims < 0 and input.dim() > 1 and input.size(0) == 1
        if leading <= 0 and (self.inferred or (input.numel() == self.elements and not one)):
            return input.reshape(self.size)
        return input.reshape([-1] + self.size)


class Reshape(_Settings):
    """The input in the size of samples, of which the first dimension counts how many there are.

    ``batch`` False: the input is one sample; None: so is one with as many elements, unless its
    first dimension is 1.

    PyTorch: ``torch.reshape``.
    """

    shown = ("size", "batch")

    def __init__(self, size: list[int], batch: bool | None = None) -> None:
        super().__init__()
        self.size = size
        self.batch = batch
        self.elements = math.prod(size)

    def forward(self, input: Tensor) -> Tensor:
        whole = self.batch is False
        if self.batch is None:
            whole = input.numel() == self.elements and input.size(0) != 1
        return input.reshape(self.size if whole else [input.size(0)] + self.size)


class Transpose(_Settings):
    """Pairs of dimensions swapped, one after the other; the last ``sample_dims`` count from 0.

    PyTorch: ``torch.transpose``.
    """

    shown = ("pairs", "sample_dims")

    def __init__(self, pairs: list[tuple[int, int]], sample_dims: int = -1) -> None:
        super().__init__()
        self.pairs = pairs
        self.sample_dims = sample_dims

    def forward(self, input: Tensor) -> Tensor:
        first = input.dim() - self.sample_dims if self.sample_dims >= 0 else 0
        for one, other in self.pairs:
            input = input.transpose(one + first, other + first)
        return input.contiguous()


class Contiguous(nn.Module):
    """The input with its elements side by side in memory.

    PyTorch: ``torch.Tensor.contiguous``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.contiguous()


class Select(_Settings):
    """One index of one dimension, which is dropped.

    PyTorch: ``torch.select``.
    """

    shown = ("dim", "index")

    def __init__(self, dim: int, index: int) -> None:
        super().__init__()
        self.dim = dim
        self.index = index

    def forward(self, input: Tensor) -> Tensor:
        # A copy: a layer that works in place may follow.
        return input.select(self.dim, self.index).clone()


class Narrow(_Settings):
    """A range of one dimension; a negative length counts from the end, -1 being up to it.

    PyTorch: ``torch.narrow``.
    """

    shown = ("dim", "start", "length")

    def __init__(self, dim: int, start: int, length: int) -> None:
        super().__init__()
        self.dim = dim
        self.start = start
        self.length = length

    def forward(self, input: Tensor) -> Tensor:
        size = input.size(self.dim)
        start = self.start if self.start >= 0 else size + self.start
        length = self.length if self.length >= 0 else size - start + self.length + 1
        return input.narrow(self.dim, start, length).clone()


class Padding(_Settings):
    """Constant entries before and after those of a dimension.

    PyTorch: ``torch.nn.functional.pad``.
    """

    shown = ("dim", "sample_dims", "before", "after", "value")

    def __init__(
        self, dim: int, sample_dims: int, before: int, after: int, value: float = 0.0
    ) -> None:
        super().__init__()
        self.dim = dim
        self.sample_dims = sample_dims
        self.before = before
        self.after = after
        self.value = float(value)

    def forward(self, input: Tensor) -> Tensor:
        dim = along(self.dim, self.sample_dims, input)
        others = 2 * (input.dim() - 1 - dim) if dim >= 0 else -2 * (dim + 1)
        return F.pad(input, [0] * others + [self.before, self.after], "constant", self.value)


class Unsqueeze(_Settings):
    """A new dimension of size 1; ``dim`` counts from the first of a sample.

    PyTorch: ``torch.unsqueeze``.
    """

    shown = ("dim", "sample_dims")

    def __init__(self, dim: int, sample_dims: int = -1) -> None:
        super().__init__()
        self.dim = dim
        self.sample_dims = sample_dims

    def forward(self, input: Tensor) -> Tensor:
        first = input.dim() - self.sample_dims if self.sample_dims >= 0 else 0
        return input.unsqueeze(self.dim + first)


class Squeeze(_OverSamples):
    """Drops a dimension if its size is 1.

    PyTorch: ``torch.squeeze``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.squeeze(along(self.dim, self.sample_dims, input))


class Replicate(_Settings):
    """The input ``count`` times, along a new dimension.

    PyTorch: ``torch.Tensor.expand``.
    """

    shown = ("count", "dim", "sample_dims")

    def __init__(self, count: int, dim: int = 0, sample_dims: int = -1) -> None:
        super().__init__()
        self.count = count
        self.dim = dim
        self.sample_dims = sample_dims

    def forward(self, input: Tensor) -> Tensor:
        is_batch = self.sample_dims >= 0 and input.dim() > self.sample_dims
        dim = self.dim + 1 if is_batch else self.dim
        size = [-1] * (input.dim() + 1)
        size[dim] = self.count
        return input.unsqueeze(dim).expand(size)


class ZipTable(nn.Module):
    """The i-th entries of every list, as the i-th list."""

    def forward(self, input: list[list[Any]]) -> list[list[Any]]:
        return [list(entries) for entries in zip(*input, strict=True)]


class ZipTableOneToMany(nn.Module):
    """The first entry, paired with each entry of the second."""

    def forward(self, input: list[Any]) -> list[list[Any]]:
        return [[input[0], entry] for entry in input[1]]


# Reductions.


class Max(_OverSamples):
    """The largest element along a dimension.

    PyTorch: ``torch.max``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return at_least_1d(input.max(along(self.dim, self.sample_dims, input))[0])


class Min(_OverSamples):
    """The smallest element along a dimension.

    PyTorch: ``torch.min``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return at_least_1d(input.min(along(self.dim, self.sample_dims, input))[0])


class Sum(_Settings):
    """The sum over a dimension.

    PyTorch: ``torch.sum``.
    """

    shown = ("dim", "sample_dims", "keepdim")

    def __init__(self, dim: int, sample_dims: int = -1, keepdim: bool = False) -> None:
        super().__init__()
        self.dim = dim
        self.sample_dims = sample_dims
        self.keepdim = keepdim

    def forward(self, input: Tensor) -> Tensor:
        dim = along(self.dim, self.sample_dims, input)
        return at_least_1d(input.sum(dim, keepdim=self.keepdim))


class Mean(Sum):
    """The mean over a dimension.

    PyTorch: ``torch.mean``.
    """

    def forward(self, input: Tensor) -> Tensor:
        dim = along(self.dim, self.sample_dims, input)
        return at_least_1d(input.mean(dim, keepdim=self.keepdim))


# PyTorch's own, for samples too.


class PReLU(nn.PReLU):
    """``torch.nn.PReLU`` for single samples too: ``D``, and ``D x H x W``.

    PyTorch: ``torch.nn.PReLU``.
    """

    def forward(self, input: Tensor) -> Tensor:
        planes = self.num_parameters
        is_image = input.dim() == 3 and input.size(0) == planes != input.size(1)
        if planes > 1 and (input.dim() == 1 or is_image):
            return F.prelu(input.unsqueeze(0), self.weight).squeeze(0)
        return F.prelu(input, self.weight)


class LocalResponseNorm(nn.LocalResponseNorm):
    """``torch.nn.LocalResponseNorm`` for one image too.

    PyTorch: ``torch.nn.LocalResponseNorm``.
    """

    def forward(self, input: Tensor) -> Tensor:
        images = input.unsqueeze(0) if input.dim() == 3 else input
        output = F.local_response_norm(images, self.size, self.alpha, self.beta, self.k)
        return output.reshape(input.shape)


class Upsample(nn.Upsample):
    """``torch.nn.Upsample`` for volumes as for images, and for samples of ``sample_dims`` too.

    PyTorch: ``torch.nn.Upsample``.
    """

    def __init__(
        self, size: Any, scale: Any, mode: str, align_corners: bool | None, sample_dims: int = -1
    ) -> None:
        super().__init__(size, scale, mode, align_corners)
        self.sample_dims = sample_dims

    def forward(self, input: Tensor) -> Tensor:
        batch = input.unsqueeze(0) if input.dim() == self.sample_dims else input
        mode = self.mode
        if mode != "nearest":
            mode = "trilinear" if batch.dim() == 5 else "bilinear"
        output = F.interpolate(batch, self.size, self.scale_factor, mode, self.align_corners)
        return output.squeeze(0) if input.dim() == self.sample_dims else output


def features_of(input: Tensor, sample_dims: int) -> int:
    """The dimension of the features: of vectors the last, of samples with planes the planes."""
    return 1 if input.dim() == 2 or input.dim() == sample_dims + 1 else 0


class _OverFeatures(nn.Module):
    """A softmax over the features of batches and of samples; ``over_all``, over all of each."""

    _function: Callable[[Tensor, int], Tensor]

    def __init__(self, sample_dims: int = 3, over_all: bool = False) -> None:
        super().__init__(1)
        self.sample_dims = sample_dims
        self.over_all = over_all

    def forward(self, input: Tensor) -> Tensor:
        dim = features_of(input, self.sample_dims)
        flat = input.flatten(dim) if self.over_all else input
        return self._function(flat, dim).view(input.shape)


class SoftMax(_OverFeatures, nn.Softmax):
    """``torch.nn.Softmax`` for samples too; ``over_all``, over all of each.

    PyTorch: ``torch.nn.Softmax``.
    """

    _function = staticmethod(torch.softmax)


class LogSoftMax(_OverFeatures, nn.LogSoftmax):
    """``torch.nn.LogSoftmax`` for samples too; ``over_all``, over all of each.

    PyTorch: ``torch.nn.LogSoftmax``.
    """

    _function = staticmethod(torch.log_softmax)


class SoftMin(nn.Softmin):
    """``torch.nn.Softmin`` for samples too.

    PyTorch: ``torch.nn.Softmin``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return torch.softmax(-input, features_of(input, 3))


class FeatureLPPooling(_Settings):
    """The p-norms of neighbouring features; powers of odd p keep their sign.

    PyTorch: ``torch.nn.LPPool1d``.
    """

    shown = ("width", "stride", "power", "batched")

    def __init__(self, width: int, stride: int, power: float, batched: bool) -> None:
        super().__init__()
        self.width = width
        self.stride = stride
        self.power = power
        self.batched = batched

    def forward(self, input: Tensor) -> Tensor:
        features = input.movedim(1 if self.batched else 0, -1)
        sums = features.pow(self.power).unfold(-1, self.width, self.stride).sum(-1)
        zero = sums == 0
        norms = sums.masked_fill(zero, 1.0).pow(1 / self.power).masked_fill(zero, 0.0)
        return norms.movedim(-1, 1 if self.batched else 0)


class NeighbourhoodAverage(nn.Module):
    """A weighted average over all planes and a window, of which the image is padded with zeros.

    Args:
        kernels: one of ``1 x planes x h x w``, or two, first for the rows of each plane.
    """

    kernel: Tensor
    rows: Tensor | None

    def __init__(self, kernels: list[Tensor]) -> None:
        super().__init__()
        self.planes = kernels[-1].size(1)
        self.register_buffer("kernel", kernels[-1])
        self.register_buffer("rows", kernels[0] if len(kernels) > 1 else None)
        height = kernels[-1].size(-2)
        width = kernels[0].size(-1)
        self.padding = [width // 2, width // 2, height // 2, height // 2]

    def forward(self, input: Tensor) -> Tensor:
        input = F.pad(input, self.padding)
        if self.rows is not None:
            input = F.conv2d(input, self.rows, groups=self.planes)
        return F.conv2d(input, self.kernel)

    def coefficients(self, input: Tensor) -> Tensor:
        """How much of the kernel lies inside the image, at each pixel."""
        return self.forward(torch.ones_like(input))


class SubtractiveNormalization(nn.Module):
    """Each pixel less the average around it."""

    def __init__(self, average: NeighbourhoodAverage) -> None:
        super().__init__()
        self.average = average

    def forward(self, input: Tensor) -> Tensor:
        return input - self.average(input) / self.average.coefficients(input)


class DivisiveNormalization(_Settings):
    """Each pixel divided by the deviation around it; ``value`` where that is no more than a limit.

    Args:
        average, deviation: what averages ones, and squares.
        threshold, value: the limit, and what replaces deviations up to it.
    """

    shown = ("threshold", "value")

    def __init__(
        self,
        average: NeighbourhoodAverage,
        deviation: NeighbourhoodAverage,
        threshold: float,
        value: float,
    ) -> None:
        super().__init__()
        self.average = average
        self.deviation = deviation
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        squares = self.deviation(input.square())
        zero = squares == 0
        deviations = squares.masked_fill(zero, 1.0).sqrt().masked_fill(zero, 0.0)
        deviations = deviations / self.average.coefficients(input)
        return input / F.threshold(deviations, self.threshold, self.value)


# Arithmetic.


class Abs(nn.Module):
    """``|x|``.

    PyTorch: ``torch.abs``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.abs()


class Exp(nn.Module):
    """``exp(x)``.

    PyTorch: ``torch.exp``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.exp()


class Log(nn.Module):
    """The natural logarithm.

    PyTorch: ``torch.log``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.log()


class Square(nn.Module):
    """``x²``.

    PyTorch: ``torch.square``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.square()


class Sqrt(_Settings):
    """The square root of the input plus ``eps``, with slope 0 where it is 0.

    PyTorch: ``torch.sqrt``.
    """

    shown = ("eps",)

    def __init__(self, eps: float = 0.0) -> None:
        super().__init__()
        self.eps = float(eps)

    def forward(self, input: Tensor) -> Tensor:
        input = input + self.eps
        zero = input == 0
        return input.masked_fill(zero, 1.0).sqrt().masked_fill(zero, 0.0)


class Power(_Settings):
    """The input to a power.

    PyTorch: ``torch.pow``.
    """

    shown = ("exponent",)

    def __init__(self, exponent: float) -> None:
        super().__init__()
        self.exponent = float(exponent)

    def forward(self, input: Tensor) -> Tensor:
        return input.pow(self.exponent)


class AddConstant(_Settings):
    """The input plus a constant.

    PyTorch: ``torch.add``.
    """

    shown = ("constant",)

    def __init__(self, constant: float) -> None:
        super().__init__()
        self.constant = constant

    def forward(self, input: Tensor) -> Tensor:
        return input + self.constant


class MulConstant(_Settings):
    """The input times a constant.

    PyTorch: ``torch.mul``.
    """

    shown = ("constant",)

    def __init__(self, constant: float) -> None:
        super().__init__()
        self.constant = constant

    def forward(self, input: Tensor) -> Tensor:
        return input * self.constant


class _PerElement(nn.Module):
    """One learned number for each element of a sample, or of the dimensions that are not 1."""

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def fitted(self, input: Tensor) -> Tensor:
        weight = self.weight
        if weight.numel() == 1 or weight.dim() == input.dim():
            return weight
        if input.numel() == weight.numel():
            return weight.view(input.shape)
        return weight.view(input.shape[1:])


class Add(_PerElement):
    """The input plus a learned tensor."""

    def forward(self, input: Tensor) -> Tensor:
        return input + self.fitted(input)


class Mul(_PerElement):
    """The input times a learned tensor."""

    def forward(self, input: Tensor) -> Tensor:
        return input * self.fitted(input)


class Normalize(_Settings):
    """Vectors divided by their p-norm, where ``eps`` is added to the sum of powers.

    PyTorch: ``torch.nn.functional.normalize``.
    """

    shown = ("p", "eps")

    def __init__(self, p: float = 2.0, eps: float = 1e-10) -> None:
        super().__init__()
        self.p = float(p)
        self.eps = float(eps)

    def forward(self, input: Tensor) -> Tensor:
        if self.p == float("inf"):
            return input / (input.abs().amax(-1, keepdim=True) + self.eps)
        powers = input.abs().pow(self.p)
        return input / (powers.sum(-1, keepdim=True) + self.eps).pow(1 / self.p)


class LookupTable(nn.Embedding):
    """``torch.nn.Embedding`` whose indices count from 1.

    PyTorch: ``torch.nn.Embedding``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input.long() - 1,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
        )


class _OutputsAlone:
    """A recurrent layer of ``torch.nn`` that returns the outputs, and not the states at the end."""

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input)[0]  # type: ignore[misc]


class RNN(_OutputsAlone, nn.RNN):  # type: ignore[misc]
    """``torch.nn.RNN`` that returns the outputs alone."""


class GRU(_OutputsAlone, nn.GRU):  # type: ignore[misc]
    """``torch.nn.GRU`` that returns the outputs alone."""


class LSTM(_OutputsAlone, nn.LSTM):  # type: ignore[misc]
    """``torch.nn.LSTM`` that returns the outputs alone."""
