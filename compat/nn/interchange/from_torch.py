"""The way into Torch7: ``torch.nn`` modules as modules of ``compat.nn``.

The reverse of ``compat.nn.interchange.to_torch``, for writing .t7 files that Lua reads. Each
``torch.nn`` class has a converter here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch

from compat import random
from compat.nn.containers.basic import Concat, ConcatTable, DepthConcat, ParallelTable, Sequential
from compat.nn.containers.decorators import Bottle
from compat.nn.containers.map_table import MapTable
from compat.nn.core.module import Module
from compat.nn.interchange import torch_layers as layers
from compat.nn.interchange.equivalents import PAIRS, from_one, known_dims
from compat.nn.layers.activation import GatedLinearUnit, SoftPlus
from compat.nn.layers.bilinear import Bilinear
from compat.nn.layers.convolution.convolution import (
    SpatialConvolution,
    SpatialDilatedConvolution,
    VolumetricConvolution,
    VolumetricDilatedConvolution,
)
from compat.nn.layers.convolution.temporal import TemporalConvolution, TemporalRowConvolution
from compat.nn.layers.convolution.transposed import (
    SpatialFullConvolution,
    VolumetricFullConvolution,
)
from compat.nn.layers.dropout import Dropout, SpatialDropout, VolumetricDropout
from compat.nn.layers.linear import Linear
from compat.nn.layers.lookup import LookupTable
from compat.nn.layers.normalization import (
    BatchNormalization,
    SpatialBatchNormalization,
    SpatialCrossMapLRN,
    VolumetricBatchNormalization,
)
from compat.nn.layers.padding import (
    SpatialReflectionPadding,
    SpatialReplicationPadding,
    SpatialZeroPadding,
    VolumetricReplicationPadding,
)
from compat.nn.layers.pixel_shuffle import PixelShuffle
from compat.nn.layers.pointwise import (
    AddConstant,
    CAdd,
    CMul,
    MulConstant,
)
from compat.nn.layers.pooling.adaptive import (
    SpatialAdaptiveAveragePooling,
    SpatialAdaptiveMaxPooling,
)
from compat.nn.layers.pooling.pooling import (
    SpatialAveragePooling,
    SpatialDilatedMaxPooling,
    SpatialMaxPooling,
    VolumetricAveragePooling,
    VolumetricDilatedMaxPooling,
    VolumetricMaxPooling,
)
from compat.nn.layers.pooling.temporal import TemporalMaxPooling
from compat.nn.layers.rectifiers import ELU, PReLU, RReLU
from compat.nn.layers.reduction import Sum
from compat.nn.layers.shape import (
    Collapse,
    Reshape,
    Squeeze,
    Transpose,
    View,
)
from compat.nn.layers.slices import Padding
from compat.nn.layers.softmax import LogSoftMax, SoftMax, SoftMin
from compat.nn.layers.table_layers import (
    SelectTable,
)
from compat.nn.layers.upsampling import UpSampling
from compat.t7.objects import registry
from compat.tensor_types import tensor_type

M = TypeVar("M", bound=Module)


def from_torch(module: torch.nn.Module) -> Module:
    """A net of Torch7's layers that computes what ``module`` does.

    Args:
        module: a tree of ``torch.nn`` layers that have an equivalent in Torch7: ``Sequential``,
            what ``Module.to_torch`` makes, and layers that are called with one tensor. A class with
            a forward of its own has none.

    Parameters and running statistics are copied; what is shared stays shared.

    Raises ValueError for a module without equivalent, with its path in the net.
    """
    return _FromTorch()(module, "")


class _FromTorch:
    """The conversion of one net."""

    def __init__(self) -> None:
        self._modules: dict[int, Module] = {}
        self._tensors: dict[int, torch.Tensor] = {}

    def __call__(self, module: torch.nn.Module, path: str) -> Module:
        known = self._modules.get(id(module))
        if known is None:
            converter = _converters.get(type(module))
            if converter is None:
                place = f"{path}: " if path else ""
                raise ValueError(
                    f"{place}{type(module).__name__} has no equivalent in Torch7; build that part "
                    "of compat.nn modules"
                )
            try:
                known = converter(module, self, path)
            except _Unsupported as error:
                place = f"{path}: " if path else ""
                raise ValueError(f"{place}{module}: {error}") from None
            known.train = module.training
            self._modules[id(module)] = known
        return known

    def children(self, container: Iterable[torch.nn.Module], path: str) -> list[Module]:
        """The counterparts of modules that are numbered from 0 below ``path``."""
        return [self(child, f"{path}.{i}" if path else str(i)) for i, child in enumerate(container)]

    def tensor(
        self, parameter: torch.Tensor | None, form: Callable[[Any], Any] | None = None
    ) -> Any:
        """A parameter as the plain tensor that a ``compat.nn`` module holds."""
        if parameter is None:
            return None
        if id(parameter) not in self._tensors:
            value = parameter.detach() if form is None else form(parameter.detach())
            self._tensors[id(parameter)] = value.clone(memory_format=torch.contiguous_format)
        return self._tensors[id(parameter)]

    def filled(self, target: M, source: Any, form: Callable[[Any], Any] | None = None) -> M:
        """``target`` with the weight, in the layout of ``form``, and the bias of ``source``."""
        target.weight = self.tensor(source.weight, form)
        target.bias = self.tensor(source.bias)
        if source.weight is not None:
            _set_type(target, source.weight)
        return target


class _Unsupported(Exception):
    """Settings that Torch7's class does not have."""


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise _Unsupported(f"{what} has no equivalent in Torch7")


def _set_type(module: Module, tensor: torch.Tensor) -> None:
    vars(module)["_type"] = tensor_type(tensor)


def _many(value: Any, count: int) -> list[int]:
    return list(value) if isinstance(value, (tuple, list)) else [value] * count


def _reversed(*values: Any) -> list[int]:
    """Sizes of height and width, in Torch7's order."""
    return [n for value in values for n in reversed(_many(value, 2))]


Converter = Callable[[Any, _FromTorch, str], Module]
_converters: dict[type, Converter] = {}


def _converts(*classes: type) -> Callable[[Converter], Converter]:
    def register(converter: Converter) -> Converter:
        _converters.update(dict.fromkeys(classes, converter))
        return converter

    return register


# Containers.


@_converts(torch.nn.Sequential)
def _sequential(module: Any, convert: _FromTorch, path: str) -> Module:
    return Sequential(*convert.children(module, path))


@_converts(layers.Concat, layers.DepthConcat)
def _concat(module: Any, convert: _FromTorch, path: str) -> Module:
    cls = DepthConcat if isinstance(module, layers.DepthConcat) else Concat
    return _with_children(cls(from_one(module.dim)), module, convert, path)


@_converts(layers.ConcatTable, layers.ParallelTable)
def _table(module: Any, convert: _FromTorch, path: str) -> Module:
    parallel = isinstance(module, layers.ParallelTable)
    return _with_children(ParallelTable() if parallel else ConcatTable(), module, convert, path)


def _with_children(container: Any, module: Any, convert: _FromTorch, path: str) -> Module:
    for child in convert.children(module, path):
        container.add(child)
    return container


@_converts(layers.MapTable)
def _map_table(module: Any, convert: _FromTorch, path: str) -> Module:
    return MapTable(convert(module.module, f"{path}.module".lstrip(".")))


@_converts(layers.Bottle)
def _bottle(module: Any, convert: _FromTorch, path: str) -> Module:
    inner = convert(module.module, f"{path}.module".lstrip("."))
    return Bottle(inner, module.dims, module.out_dims)


# Layers with parameters.


@_converts(torch.nn.Linear)
def _linear(module: Any, convert: _FromTorch, path: str) -> Module:
    return convert.filled(_blank(Linear, 1, 1), module)


@_converts(torch.nn.Conv2d)
def _conv2d(module: Any, convert: _FromTorch, path: str) -> Module:
    _check_convolution(module)
    planes = (module.in_channels, module.out_channels)
    window = _reversed(module.kernel_size, module.stride, module.padding)
    if module.groups > 1:
        _require(module.dilation == (1, 1), "a dilation with groups")
        target: Any = _blank(_grouped_convolution(), *planes, *window, module.groups)
    elif module.dilation != (1, 1):
        target = _blank(SpatialDilatedConvolution, *planes, *window, *_reversed(module.dilation))
    else:
        target = _blank(SpatialConvolution, *planes, *window)
    return convert.filled(target, module)


@_converts(torch.nn.Conv3d)
def _conv3d(module: Any, convert: _FromTorch, path: str) -> Module:
    _check_convolution(module)
    _require(module.groups == 1, "groups")
    planes = (module.in_channels, module.out_channels)
    window = _in_time(module.kernel_size, module.stride, module.padding)
    if module.dilation == (1, 1, 1):
        return convert.filled(_blank(VolumetricConvolution, *planes, *window), module)
    dilation = _in_time(module.dilation)
    target = _blank(VolumetricDilatedConvolution, *planes, *window, *dilation)
    return convert.filled(target, module)


@_converts(torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)
def _transposed(module: Any, convert: _FromTorch, path: str) -> Module:
    _check_convolution(module)
    _require(module.groups == 1, "groups")
    _require(set(module.dilation) == {1}, "a dilation")
    volume = len(module.kernel_size) == 3
    cls: Any = VolumetricFullConvolution if volume else SpatialFullConvolution
    sizes = (module.kernel_size, module.stride, module.padding, module.output_padding)
    window = (_in_time if volume else _reversed)(*sizes)
    target = _blank(cls, module.in_channels, module.out_channels, *window)
    return convert.filled(target, module)


def _grouped_convolution() -> Any:
    """The class that has groups, of a package that is not part of nn."""
    return registry.provide("cudnn.SpatialConvolution")[0].cls


def _check_convolution(module: Any) -> None:
    _require(module.padding_mode == "zeros", f"padding_mode {module.padding_mode!r}")
    _require(not isinstance(module.padding, str), f"padding {module.padding!r}")


def _in_time(*values: Any) -> list[int]:
    """Sizes of time, height and width, in Torch7's order: time, width, height."""
    return [_many(value, 3)[axis] for value in values for axis in (0, 2, 1)]


@_converts(torch.nn.Conv1d, torch.nn.MaxPool1d)
def _over_features_first(module: Any, convert: _FromTorch, path: str) -> Module:
    swap = [Transpose((1, 2)).setNumInputDims(2) for _ in range(2)]
    return Sequential(swap[0], _over_time(module, convert), swap[1])


@_converts(layers.OverFrames)
def _over_frames(module: Any, convert: _FromTorch, path: str) -> Module:
    return _over_time(module.layer, convert)


def _over_time(layer: Any, convert: _FromTorch) -> Module:
    """A layer of features x frames as Torch7's layer of frames x features."""
    if isinstance(layer, torch.nn.MaxPool1d):
        _check_pool(layer)
        _require(_many(layer.padding, 1) == [0], "padding")
        return TemporalMaxPooling(*_many(layer.kernel_size, 1), *_many(layer.stride, 1))
    _require(type(layer) is torch.nn.Conv1d, "its layer")
    _check_convolution(layer)
    _require(layer.padding == (0,) and layer.dilation == (1,), "padding or dilation")
    inputs, outputs = layer.in_channels, layer.out_channels
    window = (*layer.kernel_size, *layer.stride)
    if layer.groups == 1:
        target: Any = _blank(TemporalConvolution, inputs, outputs, *window)
        return convert.filled(target, layer, lambda w: w.transpose(1, 2).flatten(1))
    _require(layer.groups == inputs == outputs, "this number of groups")
    return convert.filled(_blank(TemporalRowConvolution, inputs, *window), layer)


@_converts(torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)
def _batch_norm(module: Any, convert: _FromTorch, path: str) -> Module:
    _require(module.running_mean is not None, "track_running_stats=False")
    _require(module.momentum is not None, "momentum=None")
    cls = {
        torch.nn.BatchNorm1d: BatchNormalization,
        torch.nn.BatchNorm2d: SpatialBatchNormalization,
        torch.nn.BatchNorm3d: VolumetricBatchNormalization,
    }[type(module)]
    target = cls(module.num_features, module.eps, module.momentum, False)
    target.affine = module.affine
    target.running_mean = module.running_mean.clone()
    target.running_var = module.running_var.clone()
    convert.filled(target, module)
    _set_type(target, target.running_mean)
    return target


@_converts(torch.nn.PReLU, layers.PReLU)
def _prelu(module: Any, convert: _FromTorch, path: str) -> Module:
    target = PReLU(0 if module.num_parameters == 1 else module.num_parameters)
    target.weight = convert.tensor(module.weight)
    return target


@_converts(layers.LookupTable)
def _lookup_table(module: Any, convert: _FromTorch, path: str) -> Module:
    target = _blank(
        LookupTable,
        module.num_embeddings,
        module.embedding_dim,
        0 if module.padding_idx is None else module.padding_idx + 1,
        module.max_norm,
        None if module.max_norm is None else module.norm_type,
    )
    target.shouldScaleGradByFreq = module.scale_grad_by_freq
    target.weight = convert.tensor(module.weight)
    _set_type(target, target.weight)
    return target


@_converts(torch.nn.Embedding)
def _embedding(module: Any, convert: _FromTorch, path: str) -> Module:
    # Torch7's indices count from 1.
    return Sequential(AddConstant(1), _lookup_table(module, convert, path))


@_converts(layers.Bilinear)
def _bilinear(module: Any, convert: _FromTorch, path: str) -> Module:
    return convert.filled(_blank(Bilinear, 1, 1, 1), module)


@_converts(layers.Add, layers.Mul)
def _per_element(module: Any, convert: _FromTorch, path: str) -> Module:
    if isinstance(module, layers.Add):
        target: Any = CAdd(list(module.weight.shape))
        target.bias = convert.tensor(module.weight)
    else:
        target = CMul(list(module.weight.shape))
        target.weight = convert.tensor(module.weight)
    _set_type(target, module.weight)
    return target


def _blank(cls: type[M], *arguments: Any) -> M:
    """A module whose parameters are to be set: Torch7's generator stays where it is."""
    state = random.getRNGState()
    try:
        return cls(*arguments)
    finally:
        random.setRNGState(state)


# Windows and sizes.


@_converts(torch.nn.MaxPool2d, torch.nn.MaxPool3d)
def _max_pool(module: Any, convert: _FromTorch, path: str) -> Module:
    _check_pool(module, dilation=True)
    volume = isinstance(module, torch.nn.MaxPool3d)
    order = _in_time if volume else _reversed
    window = order(module.kernel_size, module.stride, module.padding)
    dilation = order(module.dilation)
    target: Any
    if set(dilation) == {1}:
        target = (VolumetricMaxPooling if volume else SpatialMaxPooling)(*window)
    else:
        cls: Any = VolumetricDilatedMaxPooling if volume else SpatialDilatedMaxPooling
        target = cls(*window, *dilation)
    return target.ceil() if module.ceil_mode else target


def _check_pool(module: Any, dilation: bool = False) -> None:
    _require(not module.return_indices, "return_indices")
    _require(dilation or set(_many(module.dilation, 1)) == {1}, "a dilation")
    _require(dilation or not module.ceil_mode, "ceil_mode")


@_converts(torch.nn.AvgPool2d, torch.nn.AvgPool3d)
def _average_pool(module: Any, convert: _FromTorch, path: str) -> Module:
    _require(module.divisor_override is None, "divisor_override")
    volume = isinstance(module, torch.nn.AvgPool3d)
    order = _in_time if volume else _reversed
    window = order(module.kernel_size, module.stride, module.padding)
    target: Any = (VolumetricAveragePooling if volume else SpatialAveragePooling)(*window)
    target.count_include_pad = module.count_include_pad
    return target.ceil() if module.ceil_mode else target


@_converts(torch.nn.AdaptiveAvgPool2d, torch.nn.AdaptiveMaxPool2d)
def _adaptive_pool(module: Any, convert: _FromTorch, path: str) -> Module:
    sizes = _reversed(module.output_size)
    _require(None not in sizes, "an output_size of None")
    if isinstance(module, torch.nn.AdaptiveAvgPool2d):
        return SpatialAdaptiveAveragePooling(*sizes)
    return SpatialAdaptiveMaxPooling(*sizes)


@_converts(torch.nn.Upsample, layers.Upsample)
def _upsample(module: Any, convert: _FromTorch, path: str) -> Module:
    if module.mode == "nearest":
        _require(module.scale_factor is not None, "a size for nearest neighbours")
        return UpSampling(_whole(module.scale_factor))
    _require(module.mode in ("bilinear", "trilinear"), f"mode {module.mode!r}")
    _require(bool(module.align_corners), "align_corners=False")
    if module.scale_factor is not None:
        return UpSampling(_whole(module.scale_factor), "linear")
    axes = ("odepth", "oheight", "owidth")[module.mode == "bilinear" :]
    return UpSampling(dict(zip(axes, _many(module.size, len(axes)), strict=True)), "linear")


def _whole(factor: Any) -> int:
    _require(not isinstance(factor, tuple) and factor == int(factor), f"a factor of {factor}")
    return int(factor)


@_converts(torch.nn.LocalResponseNorm, layers.LocalResponseNorm)
def _local_response_norm(module: Any, convert: _FromTorch, path: str) -> Module:
    _require(module.size % 2 == 1, "an even size")
    return SpatialCrossMapLRN(module.size, module.alpha, module.beta, module.k)


@_converts(torch.nn.Flatten)
def _flatten(module: Any, convert: _FromTorch, path: str) -> Module:
    _require(module.end_dim == -1, f"end_dim {module.end_dim}")
    if module.start_dim < 0:
        return View(-1).setNumInputDims(-module.start_dim)
    _require(module.start_dim == 1, f"start_dim {module.start_dim}")
    return Collapse(1)


# Layers that are made of a few numbers.

_SIMPLE: dict[type, Callable[[Any], Module]] = {
    torch.nn.Dropout: lambda m: Dropout(m.p, False, m.inplace),
    torch.nn.Dropout2d: lambda m: _scaled(SpatialDropout(m.p), m),
    torch.nn.Dropout3d: lambda m: _scaled(VolumetricDropout(m.p), m),
    torch.nn.ZeroPad2d: lambda m: SpatialZeroPadding(*m.padding),
    torch.nn.ReflectionPad2d: lambda m: SpatialReflectionPadding(*m.padding),
    torch.nn.ReplicationPad2d: lambda m: SpatialReplicationPadding(*m.padding),
    torch.nn.ReplicationPad3d: lambda m: VolumetricReplicationPadding(*m.padding),
    torch.nn.PixelShuffle: lambda m: PixelShuffle(m.upscale_factor),
    # Transfer functions.
    torch.nn.RReLU: lambda m: RReLU(m.lower, m.upper, m.inplace),
    torch.nn.ELU: lambda m: ELU(m.alpha, m.inplace),
    torch.nn.Softplus: lambda m: _softplus(m),
    torch.nn.GLU: lambda m: GatedLinearUnit(from_one(m.dim)),
    layers.SoftMax: lambda m: _softmax(SoftMax, m),
    layers.LogSoftMax: lambda m: _softmax(LogSoftMax, m),
    layers.SoftMin: lambda m: SoftMin(),
    torch.nn.Softmax: lambda m: _over_features(SoftMax, m),
    torch.nn.LogSoftmax: lambda m: _over_features(LogSoftMax, m),
    torch.nn.Softmin: lambda m: _over_features(SoftMin, m),
    # Arithmetic.
    layers.AddConstant: lambda m: AddConstant(m.constant),
    # Shapes.
    layers.View: lambda m: View(m.size).setNumInputDims(_dims(m)),
    layers.Reshape: lambda m: Reshape(m.size, batchMode=m.batch),
    layers.Transpose: lambda m: Transpose(
        *((one + 1, other + 1) for one, other in m.pairs)
    ).setNumInputDims(_dims(m)),
    layers.Padding: lambda m: Padding(from_one(m.dim), m.after - m.before, _dims(m), m.value),
    layers.Squeeze: lambda m: Squeeze(from_one(m.dim), _dims(m)),
    layers.Sum: lambda m: Sum(from_one(m.dim), _dims(m), False, not m.keepdim),
    layers.Mean: lambda m: Sum(from_one(m.dim), _dims(m), True, not m.keepdim),
    # Tables.
    layers.SelectTable: lambda m: SelectTable(from_one(m.index)),
}
_SIMPLE |= {pair.pytorch: pair.from_torch for pair in PAIRS}


def _simple(module: Any, convert: _FromTorch, path: str) -> Module:
    return _SIMPLE[type(module)](module)


_converts(*_SIMPLE)(_simple)


def _dims(module: Any) -> int | None:
    return known_dims(module.sample_dims)


def _scaled(dropout: Module, module: Any) -> Module:
    """A dropout that scales by 1 / (1 - p) in training, as PyTorch's does."""
    dropout.train = module.training
    _require(module.p < 1, f"p {module.p}")
    return Sequential(dropout, MulConstant(1 / (1 - module.p)))


def _softplus(module: Any) -> Module:
    target = SoftPlus(module.beta)
    target.threshold = module.threshold
    return target


def _softmax(cls: type[Module], module: Any) -> Module:
    _require(module.sample_dims == 3 and not module.over_all, "a softmax that is cudnn's own")
    return cls()


def _over_features(cls: Any, module: Any) -> Module:
    _require(module.dim == 1, f"dim {module.dim}")
    return cls()
