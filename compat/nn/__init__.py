"""Torch7's nn package."""

from compat.nn import tables, utils
from compat.nn.adaptive_pooling import (
    SpatialAdaptiveAveragePooling,
    SpatialAdaptiveMaxPooling,
)
from compat.nn.bilinear import Bilinear
from compat.nn.containers import (
    Concat,
    ConcatTable,
    Container,
    DepthConcat,
    Parallel,
    ParallelTable,
    Sequential,
)
from compat.nn.convolution import (
    SpatialConvolution,
    SpatialConvolutionMM,
    SpatialDepthWiseConvolution,
    SpatialDilatedConvolution,
    VolumetricConvolution,
    VolumetricDilatedConvolution,
)
from compat.nn.convolution_map import SpatialConvolutionMap, SpatialFullConvolutionMap
from compat.nn.criterion import Criterion
from compat.nn.criterion_classification import (
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
from compat.nn.criterion_embedding import (
    CosineEmbeddingCriterion,
    DistanceRatioCriterion,
    HingeEmbeddingCriterion,
    L1HingeEmbeddingCriterion,
    MarginRankingCriterion,
)
from compat.nn.criterion_miscellaneous import (
    CriterionTable,
    L1Cost,
    ModuleCriterion,
    MultiCriterion,
    ParallelCriterion,
)
from compat.nn.criterion_regression import (
    AbsCriterion,
    DistKLDivCriterion,
    MSECriterion,
    SmoothL1Criterion,
    SpatialAutoCropMSECriterion,
    WeightedMSECriterion,
)
from compat.nn.decorators import Bottle, Decorator, DontCast, NaN, Profile
from compat.nn.fractional_pooling import (
    SpatialFractionalMaxPooling,
    VolumetricFractionalMaxPooling,
)
from compat.nn.full_convolution import SpatialFullConvolution, VolumetricFullConvolution
from compat.nn.gmodule import ModuleFromCriterion, gModule
from compat.nn.gpu import GPU
from compat.nn.inception import Inception, Serial
from compat.nn.jacobian import Jacobian, SparseJacobian
from compat.nn.kmeans import Kmeans
from compat.nn.layer_normalization import LayerNormalization
from compat.nn.linear import Linear
from compat.nn.local_convolution import SpatialConvolutionLocal
from compat.nn.lookup import LookupTable
from compat.nn.lp_pooling import FeatureLPPooling, SpatialLPPooling
from compat.nn.map_table import MapTable
from compat.nn.maxout import Maxout
from compat.nn.module import Module
from compat.nn.native import Native
from compat.nn.neighbourhood import (
    SpatialContrastiveNormalization,
    SpatialDivisiveNormalization,
    SpatialSubtractiveNormalization,
)
from compat.nn.noise import Dropout, SpatialDropout, VolumetricDropout, WhiteNoise
from compat.nn.normalization import (
    BatchNormalization,
    SpatialBatchNormalization,
    SpatialCrossMapLRN,
    VolumetricBatchNormalization,
)
from compat.nn.padding import (
    SpatialReflectionPadding,
    SpatialReplicationPadding,
    SpatialZeroPadding,
    VolumetricReplicationPadding,
)
from compat.nn.parameter import Parameter
from compat.nn.partial_linear import PartialLinear
from compat.nn.pointwise import (
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
from compat.nn.pooling import (
    SpatialAveragePooling,
    SpatialDilatedMaxPooling,
    SpatialMaxPooling,
    TemporalDynamicKMaxPooling,
    TemporalMaxPooling,
    VolumetricAveragePooling,
    VolumetricDilatedMaxPooling,
    VolumetricMaxPooling,
)
from compat.nn.reduction import Max, Mean, Min, Sum
from compat.nn.sampling import (
    SpatialUpSamplingBilinear,
    SpatialUpSamplingNearest,
    UpSampling,
)
from compat.nn.shape import (
    Collapse,
    Contiguous,
    Index,
    MaskedSelect,
    Narrow,
    OneHot,
    Padding,
    PixelShuffle,
    Replicate,
    Reshape,
    Select,
    Squeeze,
    Transpose,
    Unsqueeze,
    View,
)
from compat.nn.similarity import Cosine, Euclidean, WeightedEuclidean
from compat.nn.simple import (
    Constant,
    Convert,
    Copy,
    GradientReversal,
    Identity,
    L1Penalty,
    PrintSize,
    ZeroGrad,
)
from compat.nn.sparse_linear import IndexLinear, SparseLinear
from compat.nn.stochastic_gradient import StochasticGradient
from compat.nn.subsampling import SpatialSubSampling, TemporalSubSampling
from compat.nn.table import (
    MM,
    MV,
    CAddTable,
    CAddTensorTable,
    CDivTable,
    CMaxTable,
    CMinTable,
    CMulTable,
    CosineDistance,
    CSubTable,
    DotProduct,
    FlattenTable,
    JoinTable,
    MixtureTable,
    NarrowTable,
    PairwiseDistance,
    SelectTable,
    SplitTable,
    ZipTable,
    ZipTableOneToMany,
)
from compat.nn.temporal import TemporalConvolution, TemporalRowConvolution
from compat.nn.transfer import (
    ELU,
    Clamp,
    CReLU,
    GatedLinearUnit,
    HardShrink,
    HardTanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftMax,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Sigmoid,
    SoftMax,
    SoftMin,
    SoftPlus,
    SoftShrink,
    SoftSign,
    SpatialLogSoftMax,
    SpatialSoftMax,
    Tanh,
    TanhShrink,
    Threshold,
)
from compat.nn.unpooling import SpatialMaxUnpooling, VolumetricMaxUnpooling
from compat.nn.weight_norm import LinearWeightNorm, WeightNorm

# Files name the classes of cudnn.torch too. They are made of those above.
from compat import cudnn as _cudnn  # isort: skip

# In Lua, the package rnn adds its classes to nn.
from compat.rnn.cells import GRU, LSTM, CopyGrad, FastLSTM, LinearNoBias, SAdd  # isort: skip
from compat.rnn.masking import LookupTableMaskZero, MaskZero, TrimZero  # isort: skip
from compat.rnn.recurrent import AbstractRecurrent, Recurrence, Recurrent, Recursor  # isort: skip
from compat.rnn.seq import SeqBRNN, SeqGRU, SeqLSTM, SeqReverseSequence  # isort: skip
from compat.rnn.sequencers import (  # isort: skip
    AbstractSequencer,
    BiSequencer,
    BiSequencerLM,
    Repeater,
    RepeaterCriterion,
    ReverseTable,
    Sequencer,
    SequencerCriterion,
)
from compat.nn.import_torch import from_torch  # isort: skip

# Whether layers draw their first parameters as they did in Torch7's first years: see
# `compat.nn.initialisation`.
oldSeed = False
