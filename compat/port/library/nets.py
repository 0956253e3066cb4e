"""The results of passes through nets: tensors, of as many dimensions or not, and lists."""

from __future__ import annotations

from compat import nn
from compat.port.know.structures import list_of
from compat.port.know.types import Kind, Type, tensor

# What gives what it is given, what gives tables, and what may give them.
_ALIKE = {"nn.Identity", "nn.PrintSize"}
_OF_LISTS = {
    *("nn.ConcatTable", "nn.ParallelTable", "nn.MapTable", "nn.NarrowTable", "nn.SplitTable"),
    *("nn.FlattenTable", "nn.ZipTable", "nn.ZipTableOneToMany", "nn.CAddTensorTable"),
    *("nn.Repeater", "nn.RecurrentAttention", "nn.ParallelCriterion", "nn.MarginRankingCriterion"),
    *("nn.CosineEmbeddingCriterion", "nn.L1HingeEmbeddingCriterion", "nn.ReverseTable"),
    "nn.gModule of lists",
}
_OF_TABLES = {
    *(*_ALIKE, *_OF_LISTS),
    *("nn.gModule", "nn.Recurrence", "nn.Recursor", "nn.NCEModule", "nn.SelectTable"),
    *("nn.Sequencer", "nn.BiSequencer", "nn.BiSequencerLM", "nn.MaskZero", "nn.TrimZero"),
    *("nn.NaN", "nn.Profile", "nn.DontCast", "nn.GPU", "nn.Decorator", "nn.Serial"),
}
AS_THEIR_LAST = {"nn.Sequential", "nn.DataParallelTable"}  # give what their last module gives
# Layers whose output has as many dimensions as their input.
_KEEPING_RANKS = {
    *("Sequential", "Concat", "DepthConcat", "DataParallelTable", "Identity", "Copy", "Contiguous"),
    *("Linear", "LinearWeightNorm", "Add", "Mul", "CMul", "AddConstant", "MulConstant"),
    "Normalize",
    *("Tanh", "Sigmoid", "LogSigmoid", "ReLU", "ReLU6", "PReLU", "RReLU", "LeakyReLU", "ELU"),
    *("HardTanh", "Clamp", "HardShrink", "SoftShrink", "TanhShrink", "SoftPlus", "SoftSign"),
    *("Threshold", "SoftMax", "LogSoftMax", "SoftMin", "SpatialSoftMax", "SpatialLogSoftMax"),
    *("Abs", "Square", "Sqrt", "Power", "Exp", "Log", "GradientReversal", "L1Penalty"),
    *("Dropout", "SpatialDropout", "WhiteNoise", "BatchNormalization", "SpatialBatchNormalization"),
    *("SpatialConvolution", "SpatialConvolutionMM", "SpatialFullConvolution", "SpatialZeroPadding"),
    *("SpatialMaxPooling", "SpatialAveragePooling", "SpatialLPPooling", "SpatialReflectionPadding"),
    *("SpatialCrossMapLRN", "SpatialUpSamplingNearest", "TemporalConvolution"),
    *("TemporalMaxPooling", "VolumetricConvolution", "VolumetricMaxPooling"),
}


def keeps_ranks(name: object, is_of_nn: bool) -> bool:
    """Return whether an entry, ``nn.Tanh`` or ``layers.Tanh``, leaves nets to give tensors of as
    many dimensions as they are given; ``name``: None of a computed one.
    """
    if not isinstance(name, str):
        return not is_of_nn
    is_layer = name[:1].isupper() and (is_of_nn or hasattr(nn, name))
    return name in _KEEPING_RANKS or name.endswith("Criterion") or not is_layer


def passed(owner: Type, method: str, arguments: list[Type]) -> Type:
    """Return the type of what a pass through a net gives, or of the gradient of its input."""
    if method in ("backward", "updateGradInput"):
        return (_like(arguments[0]) if arguments else None) or result(owner)
    is_alike = arguments and owner.classes and owner.classes <= _ALIKE
    made = (_like(arguments[0]) if is_alike else None) or result(owner)
    made.thin = True
    if made.table is not None:
        made.table.items.thin = True
    return made


def less_criterions(owner: Type) -> Type:
    """Return what a net may be that is given no target."""
    left = owner.without()
    left.classes = {known for known in owner.classes if not known.endswith("Criterion")}
    return left


def last_of(added: Type) -> Type:
    """Return what a net may be, too, that ends in this module: it gives what the module does."""
    made = Type(Kind.MODULE)
    made.classes = added.classes & _OF_TABLES
    return made


def _like(given: Type) -> Type | None:
    """Return the gradient of an input: a tensor for a tensor, a list for a table."""
    made = None
    if given.is_tensor:
        made = tensor(given.dtypes, given.dims)
    elif given.only(Kind.TABLE) and given.shape is not None:
        items = tensor() if given.shape.items.is_tensor else Type()
        made = list_of(items)
    if made is not None:
        made.buffer = True
    return made


def gives_tensor(owner: Type) -> bool:
    """Return whether a pass through a net gives a tensor, whatever it is given."""
    return bool(owner.classes - {"loaded"}) and not owner.classes & _OF_TABLES


def result(owner: Type) -> Type:
    """Return the type of what a pass through a net gives."""
    made = tensor() if gives_tensor(owner) else Type()
    if owner.classes and owner.classes <= _OF_LISTS:
        made = list_of(Type())
    made.buffer = True
    return made
