"""Torch7's random numbers, bit for bit.

The functions carry Torch7's names; those with a trailing underscore fill a tensor in place, in
row-major order of its indices whatever its strides, and return it. All draw from one default
generator, or from the ``Generator`` given as ``generator=``. The default generator is
shared by all threads (in Torch7 each thread had its own); see ``Generator`` for what that
means.

Tensors of other devices are drawn on the CPU and copied; float16 and bfloat16 are rounded from
float32. PyTorch's own generators are neither used nor changed.
"""

from compat.random.choice import multinomial, multinomialAlias, multinomialAliasSetup, randperm
from compat.random.distributions import (
    bernoulli,
    bernoulli_,
    cauchy,
    cauchy_,
    exponential,
    exponential_,
    geometric,
    geometric_,
    logNormal,
    logNormal_,
    normal,
    normal_,
    rand,
    randn,
    random,
    random_,
    uniform,
    uniform_,
)
from compat.random.generator import (
    Generator,
    default_generator,
    getRNGState,
    initialSeed,
    manualSeed,
    permitted,
    refused,
    seed,
    setRNGState,
)

__all__ = [
    "Generator",
    "bernoulli",
    "bernoulli_",
    "cauchy",
    "cauchy_",
    "default_generator",
    "exponential",
    "exponential_",
    "geometric",
    "geometric_",
    "getRNGState",
    "initialSeed",
    "logNormal",
    "logNormal_",
    "manualSeed",
    "multinomial",
    "multinomialAlias",
    "multinomialAliasSetup",
    "normal",
    "normal_",
    "permitted",
    "rand",
    "randn",
    "random",
    "random_",
    "randperm",
    "refused",
    "seed",
    "setRNGState",
    "uniform",
    "uniform_",
]
