"""Torch7's random numbers, as Lua's functions take them: the generator first, maybe None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from compat import random
from compat.lua.kernels.errors import ArgumentError


def _check_deviation(_: float, stdv: float) -> None:
    if not stdv > 0:
        raise ArgumentError(2, "standard deviation must be strictly positive")


def _check_stop(p: float) -> None:
    if not 0 < p < 1:
        raise ArgumentError(1, "must be > 0 and < 1")


def _check_probability(p: float | Tensor) -> None:
    within = torch.as_tensor(p)
    if not bool(((within >= 0) & (within <= 1)).all()):
        raise ArgumentError(1, "must be >= 0 and <= 1")


# What Torch7 refuses, in its words.
_CHECKS: dict[str, Callable[..., None]] = {
    "normal": _check_deviation,
    "logNormal": _check_deviation,
    "geometric": _check_stop,
    "bernoulli": _check_probability,
}


def _unchecked(*_: Any) -> None:
    pass


def _drawing(name: str) -> Callable[..., Any]:
    function, check = getattr(random, name), _CHECKS.get(name, _unchecked)

    def drawn(generator: random.Generator | None, *args: Any) -> Any:
        check(*args)
        return function(*args, generator=generator)

    return drawn


def _filling(name: str) -> Callable[..., Any]:
    function, check = getattr(random, f"{name}_"), _CHECKS.get(name, _unchecked)

    def fill(out: Tensor, generator: random.Generator | None, *args: Any) -> None:
        check(*args)
        function(out, *args, generator=generator)

    return fill


_NAMES = (
    "uniform", "normal", "cauchy", "logNormal", "exponential", "geometric", "bernoulli", "random",
)  # fmt: skip

KERNELS: dict[str, Callable[..., Any]] = {}
for _name in _NAMES:
    KERNELS[_name] = _drawing(_name)
    KERNELS[f"{_name}_"] = _filling(_name)

Generator = random.Generator


def manualSeed(generator: random.Generator | None, seed: float) -> None:
    random.manualSeed(seed, generator=generator)


KERNELS |= {name: _drawing(name) for name in ("seed", "initialSeed", "getRNGState")}


def setRNGState(generator: random.Generator | None, state: Tensor) -> None:
    random.setRNGState(state, generator=generator)


def randperm(generator: random.Generator | None, like: Tensor, n: int) -> Tensor:
    if n <= 0:
        raise ArgumentError(1, "must be strictly positive")
    return random.randperm(n, like.dtype, generator=generator).to(like.device)


def multinomial(generator: random.Generator | None, p: Tensor, n: int, replacement: bool) -> Tensor:
    if n <= 0:
        raise ArgumentError(2, "cannot sample n_sample < 0 samples")
    if not replacement and n > p.shape[-1]:
        raise ArgumentError(
            2, "cannot sample n_sample > prob_dist:size(1) samples without replacement"
        )
    totals = p.double().cumsum(-1)[..., -1]
    if not bool((totals > 0).all()):
        raise ArgumentError(2, "invalid multinomial distribution (sum of probabilities <= 0)")
    return random.multinomial(p, n, replacement, generator=generator)


multinomialAliasSetup = random.multinomialAliasSetup


def multinomialAlias(out: Tensor, generator: random.Generator | None, J: Tensor, q: Tensor) -> None:
    random.multinomialAlias(out, (J, q), generator=generator)


def new_generator() -> random.Generator:
    """Return a new generator, seeded by the operating system."""
    return random.Generator()


def generator_state(generator: random.Generator) -> Tensor:
    """Return the state as files hold it."""
    return torch.frombuffer(bytearray(generator.to_bytes()), dtype=torch.uint8)
