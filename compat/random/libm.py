"""Apply the C library's ``log``, ``exp``, ``tan``, ``cos`` and ``sin`` to arrays.

Torch7 called the C library once per number. numpy's and PyTorch's vectorised functions differ
from it in the last bit for some arguments, so every result here is that of ``math``.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]
    Complexes = NDArray[np.complex128]


# So many numbers one by one are done before ATen has been called.
_FEW = 32


def exp(x: Doubles) -> Doubles:
    """Return the exponential of each number."""
    return _each(_exp_or_inf, x)


def tan(x: Doubles) -> Doubles:
    """Return the tangent of each number."""
    return _each(math.tan, x)


def log(x: Doubles) -> Doubles:
    """Return the logarithms of positive numbers."""
    return _torch_log(x) if x.size > _FEW and _torch_log_is_exact() else _each(math.log, x)


def polar(rho: Doubles, angle: Doubles) -> Complexes:
    """Return ``rho * cos(angle) + i * rho * sin(angle)``."""
    if rho.size > _FEW and _torch_polar_is_exact():
        return _torch_polar(rho, angle)
    return _each_polar(rho, angle)


def _each(function: Callable[[float], float], x: Doubles) -> Doubles:
    return np.fromiter(map(function, x.tolist()), np.float64, x.size)


def _each_polar(rho: Doubles, angle: Doubles) -> Complexes:
    return np.fromiter(map(cmath.rect, rho.tolist(), angle.tolist()), np.complex128, rho.size)


def _exp_or_inf(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


# These two ATen kernels call the C library per element (there is no vectorised variant of them),
# which makes them the fast way to its exact results. That is a property of the build, so it is
# tested before it is used.


def _torch_log(x: Doubles) -> Doubles:
    return torch.xlogy(1.0, torch.from_numpy(x)).numpy()


def _torch_polar(rho: Doubles, angle: Doubles) -> Complexes:
    return torch.polar(torch.from_numpy(rho), torch.from_numpy(angle)).numpy()


def _probes() -> Doubles:
    """Return points of (0, 1]: evenly spaced, powers of two, and the neighbourhood of 1."""
    powers = 2.0 ** -np.arange(33.0)
    return np.concatenate([np.linspace(2.0**-32, 1.0, 4001), powers, 1.0 - powers[1:]])


@functools.cache
def _torch_log_is_exact() -> bool:
    return np.array_equal(_torch_log(_probes()), _each(math.log, _probes()))


@functools.cache
def _torch_polar_is_exact() -> bool:
    rho, angle = 6.0 * _probes(), 2.0 * math.pi * _probes()[::-1].copy()
    return np.array_equal(_torch_polar(rho, angle), _each_polar(rho, angle))
