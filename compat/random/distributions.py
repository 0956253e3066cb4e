"""Torch7's distributions: each as a scalar draw and, with a trailing underscore, as a fill.

A distribution is written once, as a function from its checked parameters to a ``Sampler``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from compat.checks import check_tensor, listed
from compat.random import libm
from compat.random.fill import CHUNK, fill, fill_or_note
from compat.random.generator import Generator, c_integer, pick

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Sampler = Callable[[Generator, int], NDArray[Any]]


_REALS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
# What an argument-less ``random_`` takes its words modulo; None keeps the word.
_RANDOM_SPAN: dict[torch.dtype, int | None] = {
    torch.bool: 2,
    torch.uint8: 2**8,
    torch.int8: 2**7,
    torch.int16: 2**15,
    torch.int32: 2**31,
    torch.int64: None,
    torch.float16: 2**11 + 1,
    torch.bfloat16: 2**8 + 1,
    torch.float32: 2**24 + 1,
    torch.float64: None,
}


def random(
    a: float | None = None, b: float | None = None, *, generator: Generator | None = None
) -> int:
    """Draw a whole number from 0 to 2**32-1, from 1 to ``a``, or from ``a`` to ``b``.

    Arguments are cut to integers. There are 2**32 different draws, also if the range is larger.

    Args:
        a: the largest number, or with ``b`` the smallest.
        b: the largest number.
        generator: where to draw from; default: the shared one.

    Raises:
        ValueError: ``b`` is less than ``a``.

    Examples:
        >>> from compat import random
        >>> _ = random.manualSeed(1)
        >>> random.random(6), random.random(10, 20)
        (2, 13)
    """
    low, span = _range(a, b, None)
    word = pick(generator).word()
    return word + low if span is None else word % span + low


def random_(
    tensor: torch.Tensor,
    a: float | None = None,
    b: float | None = None,
    *,
    generator: Generator | None = None,
) -> torch.Tensor:
    """Fill with whole numbers, as ``random`` draws them; integer types wrap around.

    Without arguments the draws are 32-bit numbers modulo 2**8 (uint8), 2**7 (int8), 2**15, 2**31,
    2**24 + 1 (float32), 2**11 + 1 (float16), 2**8 + 1 (bfloat16), 2 (bool), or themselves (int64,
    float64). Differs from Torch7: negative draws in float tensors are right, not about 1.8e19.
    """
    _check_tensor(tensor, _RANDOM_SPAN)
    return _fill(tensor, _random(a, b, _RANDOM_SPAN[tensor.dtype]), generator)


def _range(a: float | None, b: float | None, span: int | None) -> tuple[int, int | None]:
    """Return the number to add to the 32-bit draws, and the modulus before that, or None."""
    if a is None and b is None:
        return 0, span
    if a is None or b is None:
        a, b = 1, a if b is None else b
    low, high = c_integer(a, "a"), c_integer(b, "b")
    span = high - low + 1
    if span < 1:
        raise ValueError(f"b is {high}; at least a, {low}, is accepted")
    return low, span if span < 2**32 else None


def _random(a: float | None, b: float | None, span: int | None) -> Sampler:
    low, span = _range(a, b, span)

    def sample(generator: Generator, n: int) -> NDArray[Any]:
        words = generator.words(n)
        if span is not None:
            words %= span
        if low:
            words += low
        return words

    return sample


def uniform(a: float = 0, b: float = 1, *, generator: Generator | None = None) -> float:
    """Draw from ``[a, b)``; there are 2**32 different draws. ``b`` may be less than ``a``.

    Args:
        a: the smallest number.
        b: the bound, which is not drawn.
        generator: where to draw from; default: the shared one.
    """
    return pick(generator).word() * 2.0**-32 * (b - a) + a


def uniform_(
    tensor: torch.Tensor, a: float = 0, b: float = 1, *, generator: Generator | None = None
) -> torch.Tensor:
    """Fill a floating-point tensor as ``uniform``; rounding to float32 may give ``b`` itself."""
    return _fill(tensor, _uniform(*_as_held(tensor, a, b)), generator)


def _uniform(a: float, b: float) -> Sampler:
    def sample(generator: Generator, n: int) -> NDArray[Any]:
        u = generator.uniforms(n)
        u *= b - a
        u += a
        return u

    return sample


def normal(mean: float = 0, stdv: float = 1, *, generator: Generator | None = None) -> float:
    """Draw from a normal distribution with ``stdv > 0``.

    Draws are made in pairs: every second call returns the other number of the pair.

    Args:
        mean: the mean.
        stdv: the standard deviation, above 0.
        generator: where to draw from; default: the shared one.
    """
    return float(_one(_normal(mean, stdv), generator))


def normal_(
    tensor: torch.Tensor, mean: float = 0, stdv: float = 1, *, generator: Generator | None = None
) -> torch.Tensor:
    """Fill a floating-point tensor as ``normal``."""
    return _fill(tensor, _normal(*_as_held(tensor, mean, stdv)), generator)


def _normal(mean: float, stdv: float) -> Sampler:
    if not stdv > 0:
        raise ValueError(f"stdv is {stdv}; a positive number is accepted")

    def sample(generator: Generator, n: int) -> NDArray[Any]:
        z = generator.normals(n)
        z *= stdv
        z += mean
        return z

    return sample


def logNormal(mean: float = 1, stdv: float = 2, *, generator: Generator | None = None) -> float:
    """Draw ``exp(normal(mean, stdv))``; note Torch7's defaults.

    Args:
        mean: the mean of the logarithm.
        stdv: the standard deviation of the logarithm, above 0.
        generator: where to draw from; default: the shared one.
    """
    return float(_one(_log_normal(mean, stdv), generator))


def logNormal_(
    tensor: torch.Tensor, mean: float = 1, stdv: float = 2, *, generator: Generator | None = None
) -> torch.Tensor:
    """Fill a floating-point tensor as ``logNormal``."""
    return _fill(tensor, _log_normal(*_as_held(tensor, mean, stdv)), generator)


def _log_normal(mean: float, stdv: float) -> Sampler:
    exponents = _normal(mean, stdv)
    return lambda generator, n: libm.exp(exponents(generator, n))


def exponential(lambda_: float, *, generator: Generator | None = None) -> float:
    """Draw from an exponential distribution with rate ``lambda_``, which has no default.

    Args:
        lambda_: the rate, the inverse of the mean; not 0.
        generator: where to draw from; default: the shared one.
    """
    return float(_one(_exponential(lambda_), generator))


def exponential_(
    tensor: torch.Tensor, lambda_: float, *, generator: Generator | None = None
) -> torch.Tensor:
    """Fill a floating-point tensor as ``exponential``."""
    return _fill(tensor, _exponential(*_as_held(tensor, lambda_)), generator)


def _exponential(rate: float) -> Sampler:
    if rate == 0:
        raise ValueError("lambda is 0; another number is accepted")
    return lambda generator, n: -1.0 / rate * libm.log(1.0 - generator.uniforms(n))


def cauchy(median: float = 0, sigma: float = 1, *, generator: Generator | None = None) -> float:
    """Draw from a Cauchy distribution.

    Args:
        median: the median.
        sigma: the half width at half of the maximum.
        generator: where to draw from; default: the shared one.
    """
    return float(_one(_cauchy(median, sigma), generator))


def cauchy_(
    tensor: torch.Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None
) -> torch.Tensor:
    """Fill a floating-point tensor as ``cauchy``."""
    return _fill(tensor, _cauchy(*_as_held(tensor, median, sigma)), generator)


def _cauchy(median: float, sigma: float) -> Sampler:
    def sample(generator: Generator, n: int) -> NDArray[Any]:
        return median + sigma * libm.tan(math.pi * (generator.uniforms(n) - 0.5))

    return sample


def geometric(p: float, *, generator: Generator | None = None) -> int:
    """Draw the number of tries until a stop; ``0 < p < 1`` is the probability to go on.

    Args:
        p: the probability to go on.
        generator: where to draw from; default: the shared one.

    Returns:
        A whole number, at least 1.
    """
    return int(_one(_geometric(p), generator))


def geometric_(
    tensor: torch.Tensor, p: float, *, generator: Generator | None = None
) -> torch.Tensor:
    """Fill a tensor as ``geometric``; integer types wrap around."""
    _check_tensor(tensor, _RANDOM_SPAN)
    return _fill(tensor, _geometric(p), generator)


def _geometric(p: float) -> Sampler:
    if not 0 < p < 1:
        raise ValueError(f"p is {p}; 0 < p < 1 is accepted")
    per_step = math.log(p)

    def sample(generator: Generator, n: int) -> NDArray[Any]:
        return (libm.log(1.0 - generator.uniforms(n)) / per_step).astype(np.int64) + 1

    return sample


def gamma(shape: float, scale: float = 1, *, generator: Generator | None = None) -> float:
    """Draw from a gamma distribution (Torch7's package randomkit).

    Args:
        shape: the shape, above 0.
        scale: the scale, above 0; the mean is ``shape * scale``.
        generator: where to draw from; default: the shared one.
    """
    return gamma_(torch.empty(1, dtype=torch.float64), shape, scale, generator=generator).item()


def gamma_(
    tensor: torch.Tensor,
    shape: float | torch.Tensor,
    scale: float | torch.Tensor = 1,
    *,
    generator: Generator | None = None,
) -> torch.Tensor:
    """Fill as ``gamma``; ``shape`` and ``scale`` may be tensors, which are broadcast.

    Raises:
        ValueError: a ``shape`` or ``scale`` is not above 0.
    """
    _check_tensor(tensor, _REALS)
    parameters = []
    for name, value in (("shape", shape), ("scale", scale)):
        held = torch.as_tensor(value, dtype=torch.float64).detach().cpu()
        if not bool((held > 0).all()):
            raise ValueError(f"{name} has {held[~(held > 0)][0]}; numbers above 0 are accepted")
        parameters.append(held.expand(tensor.shape).numpy())
    return tensor.copy_(torch.from_numpy(pick(generator).gammas(*parameters)))


def bernoulli(p: float = 0.5, *, generator: Generator | None = None) -> int:
    """Draw 1 with probability ``0 <= p <= 1``, else 0.

    Args:
        p: the probability of 1.
        generator: where to draw from; default: the shared one.
    """
    _check_probability(p)
    return int(pick(generator).word() * 2.0**-32 <= p)


def bernoulli_(
    tensor: torch.Tensor, p: float | torch.Tensor = 0.5, *, generator: Generator | None = None
) -> torch.Tensor:
    """Fill a tensor with 0 and 1; a floating-point tensor ``p`` has a probability per element.

    Raises:
        ValueError: a probability is outside [0, 1], or ``p`` is a tensor with another number of
            elements than ``tensor``.
    """
    _check_tensor(tensor, _RANDOM_SPAN)
    if not isinstance(p, torch.Tensor):
        return _fill(tensor, _bernoulli(p), generator)
    if not p.is_floating_point():
        raise TypeError(f"p is {p.dtype}; a number or a floating point tensor is accepted")
    if p.numel() != tensor.numel():
        raise ValueError(
            f"p has {p.numel()} elements; as many as tensor has, {tensor.numel()}, are accepted"
        )
    probabilities = p.detach().cpu().double().flatten().numpy()
    return _fill(tensor, _bernoulli(probabilities), generator, chunk=max(1, p.numel()))


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}; 0 <= p <= 1 is accepted")


def _bernoulli(p: float | NDArray[np.float64]) -> Sampler:
    for probability in p[~((p >= 0) & (p <= 1))].tolist() if isinstance(p, np.ndarray) else (p,):
        _check_probability(probability)
    return lambda generator, n: generator.uniforms(n) <= p


def rand(
    *size: int,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    generator: Generator | None = None,
) -> torch.Tensor:
    """Return a new tensor of ``uniform(0, 1)`` draws; default: PyTorch's dtype and device.

    Args:
        size: the sizes, as several numbers or one list.
        dtype: a floating-point type.
        device: where the result is; the numbers are drawn on the CPU.
        generator: where to draw from; default: the shared one.

    Examples:
        >>> import torch
        >>> from compat import random
        >>> random.rand(2, 3).shape
        torch.Size([2, 3])
    """
    return uniform_(torch.empty(*size, dtype=dtype, device=device), generator=generator)


def randn(
    *size: int,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    generator: Generator | None = None,
) -> torch.Tensor:
    """Return a new tensor of ``normal(0, 1)`` draws; default: PyTorch's dtype and device.

    Args:
        size: the sizes, as several numbers or one list.
        dtype: a floating-point type.
        device: where the result is; the numbers are drawn on the CPU.
        generator: where to draw from; default: the shared one.
    """
    return normal_(torch.empty(*size, dtype=dtype, device=device), generator=generator)


def _one(sample: Sampler, generator: Generator | None) -> Any:
    chosen = pick(generator)
    with chosen.lock:
        return sample(chosen, 1)[0]


def _fill(
    tensor: torch.Tensor, sample: Sampler, generator: Generator | None, chunk: int = CHUNK
) -> torch.Tensor:
    def drawn(into: torch.Tensor) -> torch.Tensor:
        chosen = pick(generator)
        with chosen.lock:
            fill(into, lambda n: sample(chosen, n), chunk)
        return into

    return fill_or_note(tensor, drawn)


def _as_held(tensor: torch.Tensor, *parameters: float) -> tuple[float, ...]:
    """Return the parameters in the precision with which Torch7 fills this tensor."""
    _check_tensor(tensor, _REALS)
    kind = np.float64 if tensor.dtype == torch.float64 else np.float32
    return tuple(float(kind(parameter)) for parameter in parameters)


def _check_tensor(tensor: torch.Tensor, accepted: Collection[torch.dtype]) -> None:
    check_tensor(tensor, "tensor")
    if tensor.dtype not in accepted:
        raise TypeError(f"tensor is {tensor.dtype}; {listed(accepted)} is accepted")
