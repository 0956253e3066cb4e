"""The way out of Torch7: a net as plain ``torch.nn`` modules, ``Module.to_torch``.

``to_torch`` converts a net. Each class has a converter here, a function of the module and of the
``ToTorch`` that it is part of; ``@converts(Class)`` adds one.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, fx

from compat.nn.checks.error_place import locate
from compat.nn.checks.indexing import needed, zero_based
from compat.nn.containers.basic import (
    Concat,
    ConcatTable,
    DepthConcat,
    Parallel,
    ParallelTable,
    Sequential,
)
from compat.nn.containers.decorators import Bottle, Decorator, DontCast, NaN, Profile
from compat.nn.containers.gpu import GPU
from compat.nn.containers.map_table import MapTable
from compat.nn.core.module import Module
from compat.nn.core.native import Native
from compat.nn.graph.gmodule import JustElement, JustTable, gModule
from compat.nn.interchange import torch_layers as layers
from compat.nn.interchange.equivalents import PAIRS, sample_dims
from compat.nn.layers.activation import GatedLinearUnit, SoftPlus
from compat.nn.layers.bilinear import Bilinear
from compat.nn.layers.composed.inception import Inception
from compat.nn.layers.composed.layer_normalization import LayerNormalization
from compat.nn.layers.composed.neighbourhood_normalization import (
    SpatialContrastiveNormalization,
    SpatialDivisiveNormalization,
    SpatialSubtractiveNormalization,
)
from compat.nn.layers.convolution.convolution import Convolution, SpatialDepthWiseConvolution
from compat.nn.layers.convolution.temporal import TemporalConvolution, TemporalRowConvolution
from compat.nn.layers.convolution.transposed import FullConvolution
from compat.nn.layers.dropout import Dropout, SpatialDropout, VolumetricDropout
from compat.nn.layers.identity import Copy, PrintSize
from compat.nn.layers.linear import Linear
from compat.nn.layers.lookup import LookupTable
from compat.nn.layers.normalization import BatchNormalization, SpatialCrossMapLRN
from compat.nn.layers.padding import EdgePadding
from compat.nn.layers.pixel_shuffle import PixelShuffle
from compat.nn.layers.pointwise import (
    Add,
    AddConstant,
    CAdd,
    CMul,
    Mul,
)
from compat.nn.layers.pooling.adaptive import (
    AdaptivePooling,
    SpatialAdaptiveAveragePooling,
    SpatialAdaptiveMaxPooling,
)
from compat.nn.layers.pooling.lp import FeatureLPPooling
from compat.nn.layers.pooling.temporal import TemporalMaxPooling
from compat.nn.layers.pooling.unpooling import MaxUnpooling
from compat.nn.layers.pooling.windows import AveragePooling, MaxPooling
from compat.nn.layers.rectifiers import ELU, CReLU, PReLU, RReLU
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
    ZipTable,
    ZipTableOneToMany,
)
from compat.nn.layers.upsampling import (
    Resampling,
    SpatialReSampling,
    SpatialUpSamplingBilinear,
    SpatialUpSamplingNearest,
    UpSampling,
)
from compat.nn.layers.weight_norm import LinearWeightNorm, WeightNorm
from compat.nn.recurrent.cells import SAdd
from compat.nn.unknown import Unknown

L = TypeVar("L", bound=torch.nn.Module)
Converter = Callable[[Any, "ToTorch"], torch.nn.Module]

_converters: dict[type, Converter] = {}


def converts(*classes: type) -> Callable[[Converter], Converter]:
    """Let a function ``convert(module, conversion)`` convert the modules of some classes.

    Subclasses are converted by it too, unless they compute something else.
    """

    def register(converter: Converter) -> Converter:
        _converters.update(dict.fromkeys(classes, converter))
        return converter

    return register


def converts_simply(cls: type, make: Callable[[Any], torch.nn.Module]) -> None:
    """Let ``make(module)`` convert the modules of a class that hold no tensors."""
    converts(cls)(lambda module, convert: make(module))


class ToTorch:
    """The conversion of one net. What is shared in the net is shared in the result."""

    def __init__(self, net: Module) -> None:
        # Poolings whose places are needed later on.
        self.unpooled = {id(m.pooling) for m in net.listModules() if isinstance(m, MaxUnpooling)}
        self._modules: dict[int, tuple[Module, torch.nn.Module]] = {}
        self._parameters: dict[Any, tuple[Tensor, torch.nn.Parameter]] = {}

    def __call__(self, module: Module) -> torch.nn.Module:
        """The counterpart of ``module``."""
        known = self._modules.get(id(module))
        if known is None:
            try:
                converted = self._converter(module)(module, self)
            except Exception as error:
                locate(error, module)
                raise
            converted.training = module.train
            known = self._modules[id(module)] = (module, converted)
        return known[1]

    def _converter(self, module: Module) -> Converter:
        for cls in type(module).__mro__:
            if cls in _converters:
                return _converters[cls]
            if "compute" in vars(cls) or "updateOutput" in vars(cls):
                break
        if isinstance(module, Unknown):
            raise ValueError(f"cannot be converted, {module.what_to_do}")
        raise ValueError(
            f"torch.nn has no equivalent of this module; @converts(…) of {__name__} adds one"
        )

    def child(self, container: Any, position: int) -> torch.nn.Module:
        """The counterpart of a container's module; an error tells which one it was."""
        try:
            return self(container.modules[position])
        except Exception as error:
            locate(error, container, position + 1)
            raise

    def children(self, container: Any) -> list[torch.nn.Module]:
        """The counterparts of a container's modules."""
        return [self.child(container, i) for i in range(len(container.modules))]

    def parameter(
        self, tensor: Tensor | None, form: Callable[[Tensor], Tensor] | None = None
    ) -> torch.nn.Parameter | None:
        """A trained tensor as a parameter, the same one for tensors that share memory.

        ``form`` gives it PyTorch's layout.
        """
        if tensor is None:
            return None
        value = tensor.detach()
        if form is not None:
            value = form(value)
        key = (tensor.data_ptr(), value.shape, value.stride(), value.dtype, value.device)
        known = self._parameters.get(key) if tensor.numel() else None
        if known is None:
            parameter = torch.nn.Parameter(
                value.clone(memory_format=torch.contiguous_format), tensor.grad is not None
            )
            known = self._parameters[key] = (tensor, parameter)
        return known[1]

    def filled(self, layer: L, module: Any, form: Callable[[Tensor], Tensor] | None = None) -> L:
        """``layer`` with the weight, which ``form`` gives its layout, and bias of ``module``."""
        layer.weight = self.parameter(module.weight, form)  # type: ignore[assignment]
        layer.bias = self.parameter(module.bias)  # type: ignore[assignment]
        return layer


# Containers.


@converts(Sequential)
def _sequential(module: Any, convert: ToTorch) -> torch.nn.Module:
    return torch.nn.Sequential(*convert.children(module))


@converts(CReLU)
def _crelu(module: Any, convert: ToTorch) -> torch.nn.Module:
    both = layers.ConcatTable([torch.nn.Identity(), layers.MulConstant(-1)])
    join = layers.JoinTable(-module.nInputDims)
    return torch.nn.Sequential(both, join, torch.nn.ReLU(module.inplace))


@converts(Concat)
def _concat(module: Any, convert: ToTorch) -> torch.nn.Module:
    dim = zero_based(needed(module.dimension, "dimension"))
    return layers.Concat(dim, convert.children(module))


@converts(DepthConcat)
def _depth_concat(module: Any, convert: ToTorch) -> torch.nn.Module:
    dim = zero_based(needed(module.dimension, "dimension"))
    return layers.DepthConcat(dim, convert.children(module))


@converts(Parallel)
def _parallel(module: Any, convert: ToTorch) -> torch.nn.Module:
    slices = zero_based(needed(module.inputDimension, "inputDimension"))
    joined = zero_based(needed(module.outputDimension, "outputDimension"))
    return layers.Parallel(slices, joined, convert.children(module))


@converts(ConcatTable)
def _concat_table(module: Any, convert: ToTorch) -> torch.nn.Module:
    return layers.ConcatTable(convert.children(module))


@converts(ParallelTable)
def _parallel_table(module: Any, convert: ToTorch) -> torch.nn.Module:
    return layers.ParallelTable(convert.children(module))


@converts(MapTable)
def _map_table(module: MapTable, convert: ToTorch) -> torch.nn.Module:
    if not module.shared:
        raise ValueError("shared is False, for which torch.nn has no equivalent; True is accepted")
    return layers.MapTable(convert.child(module, 0))


@converts(Decorator, NaN, Profile, GPU, Inception)
def _decorator(module: Decorator, convert: ToTorch) -> torch.nn.Module:
    return convert.child(module, 0)


@converts(DontCast)
def _dont_cast(module: Any, convert: ToTorch) -> torch.nn.Module:
    if module.castin or module.castout:
        raise ValueError(
            f"castin is {module.castin} and castout {module.castout}; False for both is accepted, "
            "since torch.nn has no equivalent"
        )
    return convert.child(module, 0)


@converts(WeightNorm)
def _weight_norm(module: Any, convert: ToTorch) -> torch.nn.Module:
    # PyTorch's parametrization lacks what Torch7 adds to the lengths: the weight stays as it is.
    module.updateWeight()
    return convert.child(module, 0)


@converts(LayerNormalization)
def _layer_normalization(module: Any, convert: ToTorch) -> torch.nn.Module:
    raise ValueError("Torch7 centres batches wrongly; put a torch.nn.LayerNorm in its place")


@converts(Bottle)
def _bottle(module: Bottle, convert: ToTorch) -> torch.nn.Module:
    return layers.Bottle(convert.child(module, 0), module.nInputDim, module.nOutputDim)


@converts(gModule)
def _graph(module: gModule, convert: ToTorch) -> torch.nn.Module:
    root = torch.nn.Module()
    root.layers = torch.nn.ModuleList(convert.children(module))
    graph = fx.Graph()
    values: list[fx.Node] = []
    for step in module.steps:
        given: Any = [values[source] for source in step.sources]
        value = given[0] if len(given) == 1 else given
        if not values:
            value = graph.placeholder("input")
        elif "selectindex" in step.data:
            value = graph.call_function(operator.getitem, (value, step.data["selectindex"] - 1))
        elif step.module is not None:
            value = graph.call_module(f"layers.{step.module}", (value,))
        values.append(value)
    graph.output(values[-1])
    return fx.GraphModule(root, graph, "gModule")


@converts(Native)
def _native(module: Native, convert: ToTorch) -> torch.nn.Module:
    return copy.deepcopy(module.module)


# Layers with parameters.


@converts(Linear)
def _linear(module: Any, convert: ToTorch) -> torch.nn.Module:
    outputs, inputs = module.weight.shape
    return convert.filled(torch.nn.Linear(inputs, outputs, device="meta"), module)


@converts(LinearWeightNorm)
def _linear_weight_norm(module: Any, convert: ToTorch) -> torch.nn.Module:
    outputs, inputs = module.v.shape
    layer: Any = torch.nn.Linear(inputs, outputs, device="meta")
    layer.bias = convert.parameter(module.bias)
    torch.nn.utils.parametrizations.weight_norm(layer)
    layer.parametrizations.weight.original0 = convert.parameter(module.g)
    layer.parametrizations.weight.original1 = convert.parameter(module.v)
    return layer


_CONVOLUTIONS = {1: torch.nn.Conv1d, 2: torch.nn.Conv2d, 3: torch.nn.Conv3d}


def _window(module: Any) -> dict[str, Any]:
    return {"stride": module.window_stride, "padding": module.window_padding, "device": "meta"}


@converts(Convolution)
def _convolution(module: Any, convert: ToTorch) -> torch.nn.Module:
    kernel = module.window_size
    layer = _CONVOLUTIONS[len(kernel)](
        module.nInputPlane,
        module.nOutputPlane,
        kernel,
        dilation=module.window_dilation,
        groups=module.groups,
        **_window(module),
    )
    return convert.filled(layer, module, lambda weight: weight.view(layer.weight.shape))


@converts(SpatialDepthWiseConvolution)
def _depthwise_convolution(module: Any, convert: ToTorch) -> torch.nn.Module:
    planes, each = module.nInputPlane, module.nOutputPlane
    layer = torch.nn.Conv2d(
        planes, planes * each, module.window_size, groups=planes, **_window(module)
    )
    convert.filled(
        layer,
        module,
        lambda weight: (
            weight.view(each, planes, 1, *module.window_size).transpose(0, 1).flatten(0, 1)
        ),
    )
    layer.bias = convert.parameter(module.bias, lambda bias: bias.t().flatten())
    return layer


@converts(FullConvolution)
def _full_convolution(module: FullConvolution, convert: ToTorch) -> torch.nn.Module:
    cls = {2: torch.nn.ConvTranspose2d, 3: torch.nn.ConvTranspose3d}[len(module.axes)]
    layer = cls(
        module.nInputPlane,
        module.nOutputPlane,
        module.window_size,
        output_padding=module.output_padding,
        **_window(module),
    )
    return convert.filled(layer, module)


@converts(TemporalConvolution)
def _temporal_convolution(module: Any, convert: ToTorch) -> torch.nn.Module:
    inputs, outputs = module.inputFrameSize, module.outputFrameSize
    layer = torch.nn.Conv1d(inputs, outputs, module.window_size, **_window(module))
    convert.filled(layer, module, lambda w: w.view(outputs, -1, inputs).transpose(1, 2))
    return layers.OverFrames(layer)


@converts(TemporalRowConvolution)
def _temporal_row_convolution(module: Any, convert: ToTorch) -> torch.nn.Module:
    size = module.inputFrameSize
    layer = torch.nn.Conv1d(size, size, module.window_size, groups=size, **_window(module))
    convert.filled(layer, module)
    return layer if module.featFirst else layers.OverFrames(layer)


_BATCH_NORMS = {2: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d, 5: torch.nn.BatchNorm3d}


@converts(BatchNormalization)
def _batch_normalization(module: Any, convert: ToTorch) -> torch.nn.Module:
    affine = module.weight is not None
    layer = _BATCH_NORMS[module.nDim](
        module.running_mean.numel(), module.eps, module.momentum, affine, device="meta"
    )
    convert.filled(layer, module)
    layer.running_mean = module.running_mean.clone()
    layer.running_var = module.running_var.clone()
    layer.num_batches_tracked = torch.tensor(0, device=module.running_mean.device)
    return layer


@converts(PReLU)
def _prelu(module: Any, convert: ToTorch) -> torch.nn.Module:
    layer = layers.PReLU(module.weight.numel(), device="meta")
    layer.weight = convert.parameter(module.weight)  # type: ignore[assignment]
    return layer


@converts(LookupTable)
def _lookup_table(module: Any, convert: ToTorch) -> torch.nn.Module:
    rows, size = module.weight.shape
    layer = layers.LookupTable(
        rows,
        size,
        padding_idx=module.paddingValue - 1 if module.paddingValue else None,
        max_norm=module.maxNorm,
        norm_type=module.normType or 2.0,
        scale_grad_by_freq=module.shouldScaleGradByFreq,
        device="meta",
    )
    layer.weight = convert.parameter(module.weight)  # type: ignore[assignment]
    return layer


@converts(Bilinear)
def _bilinear(module: Any, convert: ToTorch) -> torch.nn.Module:
    outputs, first, second = module.weight.shape
    return convert.filled(layers.Bilinear(first, second, outputs, device="meta"), module)


@converts(Add, CAdd)
def _add(module: Any, convert: ToTorch) -> torch.nn.Module:
    return layers.Add(convert.parameter(module.bias))  # type: ignore[arg-type]


@converts(AddConstant)
def _add_constant(module: Any, convert: ToTorch) -> torch.nn.Module:
    constant = module.constant_scalar
    if not isinstance(constant, Tensor):
        return layers.AddConstant(constant)
    return layers.Add(torch.nn.Parameter(constant.clone(), requires_grad=False))


@converts(Mul, CMul)
def _mul(module: Any, convert: ToTorch) -> torch.nn.Module:
    return layers.Mul(convert.parameter(module.weight))  # type: ignore[arg-type]


# Windows and sizes.

_MAX_POOLS = {1: torch.nn.MaxPool1d, 2: torch.nn.MaxPool2d, 3: torch.nn.MaxPool3d}
_AVERAGE_POOLS = {2: torch.nn.AvgPool2d, 3: torch.nn.AvgPool3d}


@converts(MaxPooling)
def _max_pooling(module: MaxPooling, convert: ToTorch) -> torch.nn.Module:
    remembered = id(module) in convert.unpooled
    layer = _MAX_POOLS[len(module.axes)](
        module.window_size,
        module.window_stride,
        module.window_padding,
        module.window_dilation,
        return_indices=remembered,
        ceil_mode=module.ceil_mode,
    )
    return layers.RememberingPool(layer) if remembered else layer


@converts(TemporalMaxPooling)
def _temporal_max_pooling(module: MaxPooling, convert: ToTorch) -> torch.nn.Module:
    return layers.OverFrames(_max_pooling(module, convert))


@converts(AveragePooling)
def _average_pooling(module: AveragePooling, convert: ToTorch) -> torch.nn.Module:
    layer = _AVERAGE_POOLS[len(module.axes)](
        module.window_size,
        module.window_stride,
        module.window_padding,
        ceil_mode=module.ceil_mode,
        count_include_pad=module.count_include_pad,
    )
    if module.divide:
        return layer
    return torch.nn.Sequential(
        layer, layers.MulConstant(float(torch.Size(module.window_size).numel()))
    )


@converts(AdaptivePooling, SpatialAdaptiveAveragePooling, SpatialAdaptiveMaxPooling)
def _adaptive_pooling(module: AdaptivePooling, convert: ToTorch) -> torch.nn.Module:
    average = isinstance(module, SpatialAdaptiveAveragePooling)
    cls = torch.nn.AdaptiveAvgPool2d if average else torch.nn.AdaptiveMaxPool2d
    return cls((module.H, module.W))


@converts(FeatureLPPooling)
def _feature_lp_pooling(module: Any, convert: ToTorch) -> torch.nn.Module:
    return layers.FeatureLPPooling(
        module.width, module.stride, float(module.power), bool(module.batch_mode)
    )


@converts(MaxUnpooling)
def _max_unpooling(module: Any, convert: ToTorch) -> torch.nn.Module:
    pooling = convert(module.pooling)
    assert isinstance(pooling, layers.RememberingPool)
    return layers.MaxUnpooling(pooling)


@converts(EdgePadding)
def _edge_padding(module: EdgePadding, convert: ToTorch) -> torch.nn.Module:
    amounts: Any = tuple(getattr(module, name) for name in module._fields)
    if module.edge_mode == "constant":
        return torch.nn.ZeroPad2d(amounts)
    if module.edge_mode == "reflect":
        return torch.nn.ReflectionPad2d(amounts)
    volume = len(amounts) == 6
    return (torch.nn.ReplicationPad3d if volume else torch.nn.ReplicationPad2d)(amounts)


@converts(SpatialUpSamplingNearest, SpatialUpSamplingBilinear, UpSampling)
def _resampling(module: Resampling, convert: ToTorch) -> torch.nn.Module:
    scale = module.scale_factor
    # What is no batch, only these take.
    single = isinstance(module, (SpatialUpSamplingNearest, SpatialUpSamplingBilinear))
    if module.mode == "nearest":
        return layers.Upsample(None, scale, "nearest", None, 3 if single else -1)
    volume = module.odepth is not None
    sizes: Any = None
    if scale is None:
        sizes = (module.odepth, module.oheight, module.owidth)[not volume :]
    mode = "trilinear" if volume else "bilinear"
    return layers.Upsample(sizes, scale, mode, True, 3 if single else -1)


@converts(SpatialReSampling)
def _spatial_resampling(module: SpatialReSampling, convert: ToTorch) -> torch.nn.Module:
    if module.oheight is None or module.owidth is None:
        raise ValueError(
            "torch.nn has no ratio of the first input; oheight and owidth are accepted"
        )
    return layers.Upsample((module.oheight, module.owidth), None, "bilinear", True, 3)


@converts(PixelShuffle)
def _pixel_shuffle(module: Any, convert: ToTorch) -> torch.nn.Module:
    return torch.nn.PixelShuffle(module.upscaleFactor)


@converts(SpatialCrossMapLRN)
def _cross_map_lrn(module: Any, convert: ToTorch) -> torch.nn.Module:
    if module.size % 2 == 0:
        raise ValueError(f"size is {module.size}; an odd number, as torch.nn takes, is accepted")
    return layers.LocalResponseNorm(module.size, module.alpha, module.beta, module.k)


def _average(estimator: Any) -> layers.NeighbourhoodAverage:
    """What the net ``meanestimator`` or ``stdestimator`` computes, without a bias, which is 0."""
    kernels = [m.weight.detach().clone() for m in estimator.modules if hasattr(m, "nInputPlane")]
    if len(kernels) == 2:  # rows, then columns
        kernels[0] = kernels[0].view(-1, 1, *kernels[0].shape[-2:])
    kernels[-1] = kernels[-1].view(1, -1, *kernels[-1].shape[-2:])
    return layers.NeighbourhoodAverage(kernels)


@converts(SpatialSubtractiveNormalization)
def _subtractive_normalization(module: Any, convert: ToTorch) -> torch.nn.Module:
    return layers.SubtractiveNormalization(_average(module.meanestimator))


@converts(SpatialDivisiveNormalization)
def _divisive_normalization(module: Any, convert: ToTorch) -> torch.nn.Module:
    averages = _average(module.meanestimator), _average(module.stdestimator)
    limit = module.thresholder
    return layers.DivisiveNormalization(*averages, float(limit.threshold), float(limit.val))


@converts(SpatialContrastiveNormalization)
def _contrastive_normalization(module: Any, convert: ToTorch) -> torch.nn.Module:
    return convert(module.normalizer)


# Noise.


@converts(Dropout)
def _dropout(module: Any, convert: ToTorch) -> torch.nn.Module:
    _refuse_inference(module)
    layer = torch.nn.Dropout(module.p, module.inplace)
    return layer if module.v2 else _unscaled(layer, module)


@converts(SpatialDropout, VolumetricDropout)
def _plane_dropout(module: Any, convert: ToTorch) -> torch.nn.Module:
    _refuse_inference(module)
    spatial = isinstance(module, SpatialDropout)
    return _unscaled((torch.nn.Dropout2d if spatial else torch.nn.Dropout3d)(module.p), module)


def _refuse_inference(module: Any) -> None:
    if module.stochastic_inference:
        raise ValueError("stochasticInference is True; False, as torch.nn has it, is accepted")


def _unscaled(layer: torch.nn.Module, module: Any) -> torch.nn.Module:
    """A dropout that scales by 1 - p in evaluation, instead of by 1 / (1 - p) in training."""
    both = torch.nn.Sequential(layer, layers.MulConstant(1 - module.p))
    return both.train(module.train)


@converts(RReLU)
def _rrelu(module: Any, convert: ToTorch) -> torch.nn.Module:
    return torch.nn.RReLU(module.lower, module.upper, module.inplace)


# Layers that are made of a few numbers.

_SIMPLE: dict[type, Callable[[Any], torch.nn.Module]] = {
    PrintSize: lambda m: torch.nn.Identity(),
    Copy: lambda m: _copy(m),
    SAdd: lambda m: torch.nn.Sequential(
        layers.AddConstant(m.addend), layers.MulConstant(-1 if m.negate else 1)
    ),
    # Transfer functions.
    ELU: lambda m: torch.nn.ELU(m.alpha, m.inplace and m.alpha >= 0),
    SoftPlus: lambda m: torch.nn.Softplus(m.beta, m.threshold),
    GatedLinearUnit: lambda m: torch.nn.GLU(zero_based(m.dim or -1)),
    # Of a batch, the features or planes are the second dimension.
    SoftMax: lambda m: layers.SoftMax(),
    LogSoftMax: lambda m: layers.LogSoftMax(),
    SoftMin: lambda m: layers.SoftMin(1),
    # Shapes.
    View: lambda m: _view(m),
    Reshape: lambda m: layers.Reshape(m.size, m.batchMode),
    Collapse: lambda m: torch.nn.Flatten(-m.nInputDim),
    Transpose: lambda m: layers.Transpose(
        [(one - 1, other - 1) for one, other in m.permutations], sample_dims(m.numInputDims)
    ),
    Padding: lambda m: _pad(m),
    Squeeze: lambda m: _squeeze(m),
    Sum: lambda m: _sum(m),
    # Tables.
    SelectTable: lambda m: _select_table(m),
    ZipTable: lambda m: layers.ZipTable(),
    ZipTableOneToMany: lambda m: layers.ZipTableOneToMany(),
    JustElement: lambda m: layers.SelectTable(0),
    JustTable: lambda m: layers.ConcatTable([torch.nn.Identity()]),
}


for _cls, _make in _SIMPLE.items():
    converts_simply(_cls, _make)
for _pair in PAIRS:
    converts_simply(_pair.torch7, _pair.to_torch)


def _copy(module: Any) -> torch.nn.Module:
    if module.intype != module.outtype:
        raise ValueError(
            f"intype is {module.intype} and outtype {module.outtype}; one type for both is "
            "accepted, since torch.nn has no equivalent"
        )
    return torch.nn.Identity()


def _view(module: Any) -> torch.nn.Module:
    if len(module.size) == 1 and module.numInputDims is not None:
        return torch.nn.Flatten(-module.numInputDims)
    return layers.View(module.size, sample_dims(module.numInputDims))


def _pad(module: Any) -> torch.nn.Module:
    if module.index != 1:
        raise ValueError(f"index is {module.index}; 1 is accepted, since torch.nn has no other")
    before, after = max(-module.pad, 0), max(module.pad, 0)
    dims = sample_dims(module.nInputDim)
    return layers.Padding(zero_based(module.dim), dims, before, after, module.value)


def _squeeze(module: Any) -> torch.nn.Module:
    if module.dim is None:
        raise ValueError("dim is None; a number is accepted, since torch.nn has no equivalent")
    return layers.Squeeze(zero_based(module.dim), sample_dims(module.numInputDims))


def _select_table(module: Any) -> torch.nn.Module:
    if not isinstance(module.index, int):
        raise ValueError(
            f"index is {module.index!r}; a number is accepted, since torch.nn has no other"
        )
    return layers.SelectTable(zero_based(module.index))


def _sum(module: Any) -> torch.nn.Module:
    cls = layers.Mean if module.sizeAverage else layers.Sum
    dim, dims = zero_based(module.dimension), sample_dims(module.nInputDims)
    return cls(dim, dims, not module.squeeze)


def to_torch(net: Module) -> torch.nn.Module:
    """What ``Module.to_torch`` does."""
    return ToTorch(net)(net)


Module.torch_converter = staticmethod(to_torch)
