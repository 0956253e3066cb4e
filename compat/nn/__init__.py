"""Torch7's nn package."""

from compat.nn.containers import Concat, ConcatTable, Container, ParallelTable, Sequential
from compat.nn.convolution import (
    SpatialConvolution,
    SpatialConvolutionMM,
    SpatialDilatedConvolution,
    VolumetricConvolution,
    VolumetricDilatedConvolution,
)
from compat.nn.linear import Linear
from compat.nn.module import Module
from compat.nn.native import Native
from compat.nn.noise import Dropout
from compat.nn.normalization import (
    BatchNormalization,
    SpatialBatchNormalization,
    VolumetricBatchNormalization,
)
from compat.nn.parameter import Parameter
from compat.nn.pointwise import MulConstant
from compat.nn.pooling import (
    SpatialAveragePooling,
    SpatialMaxPooling,
    VolumetricAveragePooling,
    VolumetricMaxPooling,
)
from compat.nn.reduction import Mean, Sum
from compat.nn.shape import Narrow, Reshape, View
from compat.nn.simple import Identity
from compat.nn.transfer import LogSoftMax, ReLU, Sigmoid, SoftMax, Tanh, Threshold
