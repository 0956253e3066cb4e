"""The functions of Lua's ``torch`` that PyTorch does not have.

Most other functions of Lua's ``torch`` are in PyTorch under the same name. The error for a missing
one says what to write.

::

    from compat import torch as torch7

    cmd = torch7.CmdLine()
    timer = torch7.Timer()
    torch7.manualSeed(1)
    net = torch7.load("model.t7")
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from compat import accelerators, cutorch, t7
from compat.checks import whole
from compat.cmdline import CmdLine
from compat.hints import TORCH, missing
from compat.random import (
    Generator,
    bernoulli,
    cauchy,
    exponential,
    geometric,
    getRNGState,
    initialSeed,
    logNormal,
    manualSeed,
    multinomial,
    multinomialAlias,
    multinomialAliasSetup,
    normal,
    rand,
    randn,
    random,
    randperm,
    seed,
    setRNGState,
    uniform,
)
from compat.scalar_math import (
    abs,
    acos,
    asin,
    atan,
    atan2,
    ceil,
    cos,
    cosh,
    exp,
    floor,
    frac,
    log,
    log1p,
    pow,
    round,
    rsqrt,
    sigmoid,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
)
from compat.t7.objects import registry
from compat.tensor_types import default_type, parse_type, tensor_type
from compat.timer import Timer

__all__ = [
    "CmdLine",
    "Generator",
    "Timer",
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "bernoulli",
    "cauchy",
    "ceil",
    "cos",
    "cosh",
    "deserialize",
    "exp",
    "exponential",
    "floor",
    "frac",
    "geometric",
    "getRNGState",
    "getdefaulttensortype",
    "getnumthreads",
    "initialSeed",
    "isTensor",
    "linspace",
    "load",
    "log",
    "log1p",
    "logNormal",
    "manualSeed",
    "multinomial",
    "multinomialAlias",
    "multinomialAliasSetup",
    "normal",
    "pow",
    "rand",
    "randn",
    "random",
    "randperm",
    "range",
    "round",
    "rsqrt",
    "save",
    "seed",
    "serialize",
    "setRNGState",
    "setdefaulttensortype",
    "setnumthreads",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tic",
    "toc",
    "trunc",
    "type",
    "typename",
    "uniform",
]

_type = type


def load(filename: str | os.PathLike[str], mode: str | None = None, referenced: bool = True) -> Any:
    """Read a ``.t7`` file; see ``compat.t7.load``.

    Args:
        filename: the file.
        mode: ``"binary"`` or ``"ascii"``; None finds out.
        referenced: whether the file marks objects that occur several times.
    """
    return t7.load(filename, format=mode or "auto", referenced=referenced)


def save(
    filename: str | os.PathLike[str],
    object: Any,
    mode: str | None = None,
    referenced: bool = True,
) -> None:
    """Write a ``.t7`` file; see ``compat.t7.save``.

    Args:
        filename: the file, which is replaced as a whole once it is written.
        object: what to write.
        mode: ``"binary"``, as with None, or ``"ascii"``.
        referenced: False writes shared objects anew in each place, as Torch7 does then.
    """
    t7.save(filename, object, format=mode or "binary", referenced=referenced)


def serialize(object: Any, mode: str | None = None) -> bytes:
    """Return the bytes that ``save`` writes.

    Args:
        object: what to write.
        mode: ``"binary"``, as with None, or ``"ascii"``.
    """
    return t7.dumps(object, format=mode or "binary")


def deserialize(data: bytes, mode: str | None = None) -> Any:
    """Return the object from the bytes of ``serialize``.

    Args:
        data: bytes.
        mode: ``"binary"`` or ``"ascii"``; None finds out.
    """
    return t7.loads(data, format=mode or "auto")


def typename(object: Any) -> str | None:
    """Return Torch7's name of the class of a tensor or object, None for anything else.

    Args:
        object: any value.

    Examples:
        >>> import torch
        >>> from compat import nn, torch as torch7
        >>> torch7.typename(torch.ones(2)), torch7.typename(nn.Tanh()), torch7.typename(3)
        ('torch.FloatTensor', 'nn.Tanh', None)
    """
    if isinstance(object, torch.Tensor):
        return tensor_type(object)
    entry = registry.find_class(_type(object))
    return entry.typename if entry else getattr(object, "typename", None)


def type(object: Any) -> str:
    """Return ``typename(object)``, or Lua's type: ``nil``, ``boolean``, ``number``, ``string`` …"""
    name = typename(object)
    if name is not None:
        return name
    if object is None:
        return "nil"
    kinds: list[tuple[Any, str]] = [
        (bool, "boolean"),
        ((int, float), "number"),
        ((str, bytes), "string"),
        ((list, tuple, dict), "table"),
        (Callable, "function"),
    ]
    return next((lua for kind, lua in kinds if isinstance(object, kind)), "userdata")


def isTensor(object: Any) -> bool:
    """Return whether ``object`` is a tensor."""
    return isinstance(object, torch.Tensor)


def setdefaulttensortype(name: str) -> None:
    """Set the type of new tensors, e.g. ``torch.FloatTensor``, and PyTorch's default dtype.

    If the current logical device is a CPU, a CUDA type means the corresponding CPU type.

    Args:
        name: ``torch.FloatTensor``, ``torch.DoubleTensor`` or another floating-point type.

    Raises:
        ValueError: the type is on a GPU; use ``torch.set_default_device`` for that.
    """
    dtype, cuda = parse_type(name)
    if cuda and accelerators.is_accelerator(device := cutorch.cuda_device(name)):
        raise ValueError(
            f"name is {name!r}; a type on the CPU is accepted: for the GPU, use "
            f"torch.set_default_device({str(device)!r})"
        )
    torch.set_default_dtype(dtype)


def getdefaulttensortype() -> str:
    """Return the type of new tensors."""
    return default_type()


def range(first: float, last: float, step: float = 1) -> torch.Tensor:
    """Return the numbers from ``first`` to ``last`` (included) as a tensor of the default type.

    Args:
        first: the first number.
        last: the last number, if a whole number of steps leads to it.
        step: the distance; negative to count down.

    Raises:
        ValueError: ``step`` is 0 or leads away from ``last``.

    Examples:
        >>> from compat import torch as torch7
        >>> torch7.range(1, 4).tolist()
        [1.0, 2.0, 3.0, 4.0]
    """
    if not step or (last - first) / step < 0:
        raise ValueError(f"step is {step}; one that leads from {first} to {last} is accepted")
    count = math.floor((last - first) / step + 1)
    numbers = torch.arange(count, dtype=torch.float64) * step + first
    return numbers.to(torch.get_default_dtype())


def linspace(first: float, last: float, n: int = 100) -> torch.Tensor:
    """Return ``n`` numbers at equal distances as a tensor of the default type.

    PyTorch counts those of the second half from ``last`` back, which rounds otherwise.

    Args:
        first: the first number.
        last: the last number.
        n: how many.

    Examples:
        >>> from compat import torch as torch7
        >>> torch7.linspace(0, 1, 3).tolist()
        [0.0, 0.5, 1.0]
    """
    n = whole(n, "n", 1)
    if n == 1 and first != last:
        raise ValueError(f"n is 1; 2 or more are accepted from {first} to {last}")
    numbers = torch.arange(n, dtype=torch.get_default_dtype())
    return numbers * (last - first) / max(n - 1, 1) + first


def setnumthreads(number: int) -> None:
    """Set how many threads an operation may use: ``torch.set_num_threads``."""
    torch.set_num_threads(whole(number, "number", 1))


def getnumthreads() -> int:
    """Return how many threads an operation may use: ``torch.get_num_threads``."""
    return torch.get_num_threads()


def tic() -> float:
    """Return the seconds on the clock now."""
    return time.time()


def toc(start: float) -> float:
    """Return the seconds on the clock since ``tic``.

    Args:
        start: what ``tic`` returned.
    """
    return time.time() - start


__path__: list[str] = []  # for HintsOfImports

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        hints = TORCH
        if name not in TORCH and not name.startswith("_") and hasattr(torch, name):
            hints = {name: f"use torch.{name}"}
        raise missing(__name__, "torch7", name, hints, __all__)
