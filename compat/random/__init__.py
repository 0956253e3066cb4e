"""Torch7's random numbers, bit for bit.

The functions have Torch7's names. Those with a trailing underscore fill a tensor in place, in
row-major order of its indices whatever its strides, and return it. All draw from one default
generator, or from the ``Generator`` given as ``generator=``. All threads share the default
generator (in Torch7 each thread had its own); see ``Generator`` for what that means, and ``using``
for a generator per thread.

In the worker processes of a DataLoader the default generator has a separate stream for each worker
and epoch. Its seed is the one that PyTorch derives there, ``torch.initial_seed()``, which
``torch.manual_seed`` in the main process decides; ``manualSeed`` in the worker sets another.

Tensors of other devices are drawn on the CPU and copied; float16 and bfloat16 are rounded from
float32. PyTorch's own generators are neither used nor changed.
"""

from typing import TYPE_CHECKING

from compat.hints import answers as _answers
from compat.random.alias import AliasMultinomial, multinomialAlias, multinomialAliasSetup
from compat.random.choice import multinomial, randperm
from compat.random.distributions import (
    bernoulli,
    bernoulli_,
    cauchy,
    cauchy_,
    exponential,
    exponential_,
    gamma,
    gamma_,
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
    using,
)

__all__ = [
    "AliasMultinomial",
    "Generator",
    "bernoulli",
    "bernoulli_",
    "cauchy",
    "cauchy_",
    "default_generator",
    "exponential",
    "exponential_",
    "gamma",
    "gamma_",
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
    "using",
]

_HINTS = {
    **dict.fromkeys(("randint", "randrange"), "use random.random(a, b), both included"),
    "gauss": "use random.normal(mean, std)",
    "choice": "use values[random.random(1, len(values)) - 1]",
    "sample": "use random.randperm(n)[:k], which counts from 1",
    "manual_seed": "use random.manualSeed(seed)",
    "seed_all": "use random.manualSeed(seed); cutorch.manualSeedAll(seed) seeds the devices",
    "get_rng_state": "use random.getRNGState()",
    "set_rng_state": "use random.setRNGState(state)",
    "shuffle": "use random.randperm(n), which counts from 1",
}

if not TYPE_CHECKING:
    __getattr__ = _answers(__name__, "random", _HINTS, __all__)
