"""Torch7's package nn: its classes, and those that the packages rnn, dpnn and nngraph add to it.

``oldSeed = True`` makes layers draw their first parameters as in Torch7's first years.
"""

import sys
import types
from typing import TYPE_CHECKING, Any

import compat.nn.compiled.passes
from compat.hints import missing as _missing
from compat.nn import utils
from compat.nn.containers.branches import Concat, ConcatTable, DepthConcat, Parallel, ParallelTable
from compat.nn.containers.container import Container
from compat.nn.containers.decorators import (
    Bottle,
    Decorator,
    DontCast,
    NaN,
    Profile,
    SpatialClassifier,
)
from compat.nn.containers.gpu import GPU
from compat.nn.containers.map_table import MapTable
from compat.nn.containers.sequential import Sequential
from compat.nn.containers.serial import Serial
from compat.nn.core.module import Module
from compat.nn.core.native import Native
from compat.nn.core.parameter import Parameter
from compat.nn.core.pytorch_names import class_hint as _class_hint
from compat.nn.core.results import reuse_buffers
from compat.nn.criterions.base import Criterion
from compat.nn.criterions.classification import (
    BCECriterion,
    ClassNLLCriterion,
    ClassSimplexCriterion,
    CrossEntropyCriterion,
    MarginCriterion,
    MultiLabelMarginCriterion,
    MultiLabelSoftMarginCriterion,
    MultiMarginCriterion,
    SoftMarginCriterion,
    SpatialClassNLLCriterion,
)
from compat.nn.criterions.combined import (
    CriterionTable,
    L1Cost,
    ModuleCriterion,
    MultiCriterion,
    ParallelCriterion,
)
from compat.nn.criterions.embedding import (
    CosineEmbeddingCriterion,
    DistanceRatioCriterion,
    HingeEmbeddingCriterion,
    L1HingeEmbeddingCriterion,
    MarginRankingCriterion,
)
from compat.nn.criterions.logistic import (
    BinaryLogisticRegression,
    SpatialBinaryLogisticRegression,
)
from compat.nn.criterions.noise_contrastive import NCECriterion
from compat.nn.criterions.regression import (
    AbsCriterion,
    DistKLDivCriterion,
    MSECriterion,
    SmoothL1Criterion,
    SpatialAutoCropMSECriterion,
    WeightedMSECriterion,
)
from compat.nn.criterions.rewards import BinaryClassReward, VRClassReward
from compat.nn.graph.gmodule import gModule
from compat.nn.graph.modules import ModuleFromCriterion
from compat.nn.interchange import to_torch as _to_torch
from compat.nn.interchange.from_torch import from_torch
from compat.nn.jacobian import Jacobian, SparseJacobian
from compat.nn.layers.activation import (
    GatedLinearUnit,
    HardShrink,
    LogSigmoid,
    Sigmoid,
    SoftPlus,
    SoftShrink,
    SoftSign,
    Tanh,
    TanhShrink,
)
from compat.nn.layers.bilinear import Bilinear
from compat.nn.layers.composed.fire import FireModule
from compat.nn.layers.composed.glimpse import SpatialGlimpse
from compat.nn.layers.composed.inception import Inception
from compat.nn.layers.composed.layer_normalization import LayerNormalization
from compat.nn.layers.composed.neighbourhood_normalization import (
    SpatialContrastiveNormalization,
    SpatialDivisiveNormalization,
    SpatialSubtractiveNormalization,
)
from compat.nn.layers.composed.spatial_normalization import SpatialNormalization
from compat.nn.layers.convolution import tables
from compat.nn.layers.convolution.binary import SpatialBinaryConvolution
from compat.nn.layers.convolution.convolution import (
    SpatialConvolution,
    SpatialConvolutionMM,
    SpatialDepthWiseConvolution,
    SpatialDilatedConvolution,
    VolumetricConvolution,
    VolumetricDilatedConvolution,
)
from compat.nn.layers.convolution.local import SpatialConvolutionLocal
from compat.nn.layers.convolution.mapped import SpatialConvolutionMap, SpatialFullConvolutionMap
from compat.nn.layers.convolution.subsampling import SpatialSubSampling, TemporalSubSampling
from compat.nn.layers.convolution.temporal import TemporalConvolution, TemporalRowConvolution
from compat.nn.layers.convolution.transposed import (
    SpatialFullConvolution,
    VolumetricFullConvolution,
)
from compat.nn.layers.dropout import (
    Dropout,
    SpatialDropout,
    SpatialRegionDropout,
    TotalDropout,
    VolumetricDropout,
    WhiteNoise,
)
from compat.nn.layers.entropy import CategoricalEntropy
from compat.nn.layers.identity import (
    Constant,
    Convert,
    Copy,
    GradientReversal,
    Identity,
    L1Penalty,
    PrintSize,
    ZeroGrad,
)
from compat.nn.layers.images import (
    PCAColorTransform,
    SimpleColorTransform,
    SpatialFeatNormalization,
    SpatialUniformCrop,
)
from compat.nn.layers.initialisation import old_seed as _old_seed
from compat.nn.layers.initialisation import set_old_seed as _set_old_seed
from compat.nn.layers.kmeans import Kmeans
from compat.nn.layers.linear import Linear
from compat.nn.layers.lookup import LookupTable
from compat.nn.layers.maxout import Maxout
from compat.nn.layers.noise_contrastive import NCEModule
from compat.nn.layers.normalization import (
    BatchNormalization,
    SpatialBatchNormalization,
    SpatialCrossMapLRN,
    VolumetricBatchNormalization,
)
from compat.nn.layers.padding import (
    SpatialPadding,
    SpatialReflectionPadding,
    SpatialReplicationPadding,
    SpatialZeroPadding,
    VolumetricReplicationPadding,
)
from compat.nn.layers.partial_linear import PartialLinear
from compat.nn.layers.pixel_shuffle import PixelShuffle
from compat.nn.layers.pointwise import (
    Abs,
    Add,
    AddConstant,
    CAdd,
    CMul,
    Exp,
    Log,
    Mul,
    MulConstant,
    Normalize,
    Power,
    Sqrt,
    Square,
)
from compat.nn.layers.pooling.adaptive import (
    SpatialAdaptiveAveragePooling,
    SpatialAdaptiveMaxPooling,
)
from compat.nn.layers.pooling.fractional import (
    SpatialFractionalMaxPooling,
    VolumetricFractionalMaxPooling,
)
from compat.nn.layers.pooling.lp import FeatureLPPooling, SpatialLPPooling
from compat.nn.layers.pooling.pooling import (
    SpatialAveragePooling,
    SpatialDilatedMaxPooling,
    SpatialMaxPooling,
    VolumetricAveragePooling,
    VolumetricDilatedMaxPooling,
    VolumetricMaxPooling,
)
from compat.nn.layers.pooling.temporal import TemporalDynamicKMaxPooling, TemporalMaxPooling
from compat.nn.layers.pooling.unpooling import SpatialMaxUnpooling, VolumetricMaxUnpooling
from compat.nn.layers.rectifiers import (
    ELU,
    Clamp,
    Clip,
    CReLU,
    HardTanh,
    LeakyReLU,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Threshold,
)
from compat.nn.layers.reduction import ArgMax, Max, Mean, Min, Sum
from compat.nn.layers.reinforce import (
    Reinforce,
    ReinforceBernoulli,
    ReinforceCategorical,
    ReinforceGamma,
    ReinforceNormal,
)
from compat.nn.layers.shape import (
    Collapse,
    Contiguous,
    Replicate,
    Reshape,
    Squeeze,
    Transpose,
    Unsqueeze,
    View,
)
from compat.nn.layers.similarity import Cosine, Euclidean, WeightedEuclidean
from compat.nn.layers.slices import Index, MaskedSelect, Narrow, OneHot, Padding, Select
from compat.nn.layers.softmax import LogSoftMax, SoftMax, SoftMin, SpatialLogSoftMax, SpatialSoftMax
from compat.nn.layers.sparse_linear import IndexLinear, SparseLinear
from compat.nn.layers.table_arithmetic import (
    CAddTable,
    CAddTensorTable,
    CDivTable,
    CMaxTable,
    CMinTable,
    CMulTable,
    CSubTable,
    MixtureTable,
)
from compat.nn.layers.table_layers import (
    FlattenTable,
    JoinTable,
    NarrowTable,
    SelectTable,
    SplitTable,
    ZipTable,
    ZipTableOneToMany,
)
from compat.nn.layers.table_products import MM, MV, CosineDistance, DotProduct, PairwiseDistance
from compat.nn.layers.upsampling import (
    SpatialReSampling,
    SpatialUpSamplingBilinear,
    SpatialUpSamplingNearest,
    UpSampling,
)
from compat.nn.layers.weight_norm import LinearWeightNorm, WeightNorm
from compat.nn.recurrent.attention import RecurrentAttention
from compat.nn.recurrent.bisequencers import BiSequencer, BiSequencerLM
from compat.nn.recurrent.cells import GRU, LSTM, FastLSTM
from compat.nn.recurrent.language_model import LanguageModel
from compat.nn.recurrent.masking import LookupTableMaskZero, MaskZero, MaskZeroCriterion, TrimZero
from compat.nn.recurrent.memory import AbstractRecurrent
from compat.nn.recurrent.mufuru import MuFuRu
from compat.nn.recurrent.norm_stabilizer import NormStabilizer
from compat.nn.recurrent.parts import CopyGrad, LinearNoBias, SAdd
from compat.nn.recurrent.recurrences import Recurrence, Recurrent, Recursor
from compat.nn.recurrent.seq_brnn import (
    ReverseSequence,
    ReverseUnreverse,
    SeqBGRU,
    SeqBLSTM,
    SeqBRNN,
    SeqReverseSequence,
)
from compat.nn.recurrent.seq_gru import SeqGRU
from compat.nn.recurrent.seq_lstm import SeqLSTM, SeqLSTMP
from compat.nn.recurrent.sequence_criterions import RepeaterCriterion, SequencerCriterion
from compat.nn.recurrent.sequencers import AbstractSequencer, Repeater, ReverseTable, Sequencer
from compat.nn.recurrent.steps import LinearRNN, LookupRNN, RecGRU, RecLSTM, StepGRU, StepLSTM
from compat.nn.recurrent.torch_rnn import VanillaRNN
from compat.nn.stochastic_gradient import StochasticGradient
from compat.nn.unknown import Unknown, UnknownCriterion

# fmt: off
__all__ = [
    "ELU", "GPU", "GRU", "LSTM", "MM", "MV", "Abs", "AbsCriterion", "AbstractRecurrent",
    "AbstractSequencer", "Add", "AddConstant", "ArgMax", "BCECriterion", "BatchNormalization",
    "BiSequencer", "BiSequencerLM", "Bilinear", "BinaryClassReward", "BinaryLogisticRegression",
    "Bottle", "CAdd", "CAddTable", "CAddTensorTable", "CDivTable", "CMaxTable", "CMinTable", "CMul",
    "CMulTable", "CReLU", "CSubTable", "CategoricalEntropy", "Clamp", "ClassNLLCriterion",
    "ClassSimplexCriterion", "Clip", "Collapse", "Concat", "ConcatTable", "Constant", "Container",
    "Contiguous", "Convert", "Copy", "CopyGrad", "Cosine", "CosineDistance",
    "CosineEmbeddingCriterion", "Criterion", "CriterionTable", "CrossEntropyCriterion", "Decorator",
    "DepthConcat", "DistKLDivCriterion", "DistanceRatioCriterion", "DontCast", "DotProduct",
    "Dropout", "Euclidean", "Exp", "FastLSTM", "FeatureLPPooling", "FireModule", "FlattenTable",
    "GatedLinearUnit", "GradientReversal", "HardShrink", "HardTanh", "HingeEmbeddingCriterion",
    "Identity", "Inception", "Index", "IndexLinear", "Jacobian", "JoinTable", "Kmeans", "L1Cost",
    "L1HingeEmbeddingCriterion", "L1Penalty", "LanguageModel", "LayerNormalization", "LeakyReLU",
    "Linear", "LinearNoBias", "LinearRNN", "LinearWeightNorm", "Log", "LogSigmoid", "LogSoftMax",
    "LookupRNN", "LookupTable", "LookupTableMaskZero", "MSECriterion", "MapTable",
    "MarginCriterion", "MarginRankingCriterion", "MaskZero", "MaskZeroCriterion", "MaskedSelect",
    "Max", "Maxout", "Mean", "Min", "MixtureTable", "Module", "ModuleCriterion",
    "ModuleFromCriterion", "MuFuRu", "Mul", "MulConstant", "MultiCriterion",
    "MultiLabelMarginCriterion", "MultiLabelSoftMarginCriterion", "MultiMarginCriterion",
    "NCECriterion", "NCEModule", "NaN", "Narrow", "NarrowTable", "Native", "NormStabilizer",
    "Normalize", "OneHot", "PCAColorTransform", "PReLU", "Padding", "PairwiseDistance", "Parallel",
    "ParallelCriterion", "ParallelTable", "Parameter", "PartialLinear", "PixelShuffle", "Power",
    "PrintSize", "Profile", "RReLU", "ReLU", "ReLU6", "RecGRU", "RecLSTM", "Recurrence",
    "Recurrent", "RecurrentAttention", "Recursor", "Reinforce", "ReinforceBernoulli",
    "ReinforceCategorical", "ReinforceGamma", "ReinforceNormal", "Repeater", "RepeaterCriterion",
    "Replicate", "Reshape", "ReverseSequence", "ReverseTable", "ReverseUnreverse", "SAdd", "Select",
    "SelectTable", "SeqBGRU", "SeqBLSTM", "SeqBRNN", "SeqGRU", "SeqLSTM", "SeqLSTMP",
    "SeqReverseSequence", "Sequencer", "SequencerCriterion", "Sequential", "Serial", "Sigmoid",
    "SimpleColorTransform", "SmoothL1Criterion", "SoftMarginCriterion", "SoftMax", "SoftMin",
    "SoftPlus", "SoftShrink", "SoftSign", "SparseJacobian", "SparseLinear",
    "SpatialAdaptiveAveragePooling", "SpatialAdaptiveMaxPooling", "SpatialAutoCropMSECriterion",
    "SpatialAveragePooling", "SpatialBatchNormalization", "SpatialBinaryConvolution",
    "SpatialBinaryLogisticRegression", "SpatialClassNLLCriterion", "SpatialClassifier",
    "SpatialContrastiveNormalization", "SpatialConvolution", "SpatialConvolutionLocal",
    "SpatialConvolutionMM", "SpatialConvolutionMap", "SpatialCrossMapLRN",
    "SpatialDepthWiseConvolution", "SpatialDilatedConvolution", "SpatialDilatedMaxPooling",
    "SpatialDivisiveNormalization", "SpatialDropout", "SpatialFeatNormalization",
    "SpatialFractionalMaxPooling", "SpatialFullConvolution", "SpatialFullConvolutionMap",
    "SpatialGlimpse", "SpatialLPPooling", "SpatialLogSoftMax", "SpatialMaxPooling",
    "SpatialMaxUnpooling", "SpatialNormalization", "SpatialPadding", "SpatialReSampling",
    "SpatialReflectionPadding", "SpatialRegionDropout", "SpatialReplicationPadding",
    "SpatialSoftMax", "SpatialSubSampling", "SpatialSubtractiveNormalization", "SpatialUniformCrop",
    "SpatialUpSamplingBilinear", "SpatialUpSamplingNearest", "SpatialZeroPadding", "SplitTable",
    "Sqrt", "Square", "Squeeze", "StepGRU", "StepLSTM", "StochasticGradient", "Sum", "Tanh",
    "TanhShrink", "TemporalConvolution", "TemporalDynamicKMaxPooling", "TemporalMaxPooling",
    "TemporalRowConvolution", "TemporalSubSampling", "Threshold", "TotalDropout", "Transpose",
    "TrimZero", "Unknown", "UnknownCriterion", "Unsqueeze", "UpSampling", "VRClassReward",
    "VanillaRNN", "View", "VolumetricAveragePooling", "VolumetricBatchNormalization",
    "VolumetricConvolution", "VolumetricDilatedConvolution", "VolumetricDilatedMaxPooling",
    "VolumetricDropout", "VolumetricFractionalMaxPooling", "VolumetricFullConvolution",
    "VolumetricMaxPooling", "VolumetricMaxUnpooling", "VolumetricReplicationPadding", "WeightNorm",
    "WeightedEuclidean", "WeightedMSECriterion", "WhiteNoise", "ZeroGrad", "ZipTable",
    "ZipTableOneToMany", "from_torch", "functional", "gModule", "reuse_buffers", "tables", "utils",
]
# fmt: on

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "DataParallelTable":
            raise AttributeError("nn.DataParallelTable is dptable's: import dptable brings it")
        hint = _class_hint(name, globals())
        raise _missing(__name__, "nn", name, {name: hint} if hint else {}, globals())


class _Names(types.ModuleType):
    """The package, with its one setting."""

    @property
    def oldSeed(self) -> bool:
        return _old_seed()

    @oldSeed.setter
    def oldSeed(self, value: bool) -> None:
        _set_old_seed(value)


sys.modules[__name__].__class__ = _Names
