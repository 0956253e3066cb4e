"""Torch7's package dpnn, and what it uses of nnx. Its classes are in ``compat.nn`` too, as in Lua.

The methods that it gives to modules, such as ``gradParamClip``, all modules have.
"""

from compat.nn.containers.serial import Serial
from compat.nn.criterions.logistic import BinaryLogisticRegression, SpatialBinaryLogisticRegression
from compat.nn.criterions.noise_contrastive import NCECriterion
from compat.nn.criterions.rewards import BinaryClassReward, VRClassReward
from compat.nn.layers.activation import Clip
from compat.nn.layers.composed.fire import FireModule
from compat.nn.layers.composed.glimpse import SpatialGlimpse
from compat.nn.layers.composed.inception import Inception
from compat.nn.layers.convolution.binary import SpatialBinaryConvolution
from compat.nn.layers.dropout import SpatialRegionDropout, TotalDropout
from compat.nn.layers.entropy import CategoricalEntropy
from compat.nn.layers.images import (
    PCAColorTransform,
    SimpleColorTransform,
    SpatialFeatNormalization,
    SpatialUniformCrop,
)
from compat.nn.layers.noise_contrastive import NCEModule
from compat.nn.layers.reduction import ArgMax
from compat.nn.layers.reinforce import (
    Reinforce,
    ReinforceBernoulli,
    ReinforceCategorical,
    ReinforceGamma,
    ReinforceNormal,
)
from compat.nn.layers.upsampling import SpatialReSampling
from compat.nn.recurrent.sequencers import ReverseTable

__all__ = [
    "ArgMax",
    "BinaryClassReward",
    "BinaryLogisticRegression",
    "CategoricalEntropy",
    "Clip",
    "FireModule",
    "Inception",
    "NCECriterion",
    "NCEModule",
    "PCAColorTransform",
    "Reinforce",
    "ReinforceBernoulli",
    "ReinforceCategorical",
    "ReinforceGamma",
    "ReinforceNormal",
    "ReverseTable",
    "Serial",
    "SimpleColorTransform",
    "SpatialBinaryConvolution",
    "SpatialBinaryLogisticRegression",
    "SpatialFeatNormalization",
    "SpatialGlimpse",
    "SpatialReSampling",
    "SpatialRegionDropout",
    "SpatialUniformCrop",
    "TotalDropout",
    "VRClassReward",
]
