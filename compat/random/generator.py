"""``torch.Generator`` of Torch7: MT19937, a cached normal, and a 5048-byte state."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import get_worker_info

from compat.checks import wrong_type
from compat.random import libm

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS = 624
_STATE = np.dtype(
    [
        ("the_initial_seed", "<i8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("state", "<u8", _WORDS),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),
        ("normal_rho", "<f8"),
        ("normal_is_valid", "<i4"),
        ("padding", "<i4"),
    ]
)
STATE_SIZE = _STATE.itemsize


_refusal: ContextVar[str | None] = ContextVar("_refusal", default=None)


@contextmanager
def refused(reason: str) -> Iterator[None]:
    """Make every draw in the block raise ValueError with this text.

    For computations that several processes must do alike on different parts of the data.
    """
    token = _refusal.set(reason)
    try:
        yield
    finally:
        _refusal.reset(token)


@contextmanager
def permitted() -> Iterator[None]:
    """Allow draws again, in a block inside one of ``refused``."""
    token = _refusal.set(None)
    try:
        yield
    finally:
        _refusal.reset(token)


class Generator:
    """A source of random numbers, the same as Torch7's for the same seed.

    Two threads may draw from one generator: each scalar draw and each tensor fill is atomic
    (``lock`` guards it), but their order is up to the scheduler. Give each thread its own generator
    for repeatable runs. Pickling, copying and ``to_bytes`` keep the whole state.

    Args:
        seed: the seed; default: a number from the operating system, as in Torch7.

    Examples:
        >>> generator = Generator(1)
        >>> generator.word(), Generator(1).word()
        (1791095845, 1791095845)
    """

    def __init__(self, seed: float | None = None) -> None:
        self.lock = threading.RLock()
        # numpy's bit generator steps through the very same state words; its own seeding is not
        # used.
        self._twister = np.random.MT19937(0)
        self._randomkit: np.random.RandomState | None = None
        self._initial_seed = 0
        self._normal_x = self._normal_y = self._normal_rho = 0.0
        self._normal_is_valid = False
        if seed is None:
            self.seed()
        else:
            self.manualSeed(seed)

    def manualSeed(self, seed: float) -> None:
        """Start the sequence of ``seed`` and drop a cached normal.

        Fractions are cut and negative numbers wrap; only the low 32 bits select the sequence.
        """
        number = c_integer(seed, "seed")
        with self.lock:
            self._initial_seed = (number + 2**63) % 2**64 - 2**63
            self._set_words(_seeded_words(number), _WORDS)
            self._normal_x = self._normal_y = self._normal_rho = 0.0
            self._normal_is_valid = False
            self._randomkit = None

    def seed(self) -> int:
        """Seed from the operating system; return the seed."""
        number = int.from_bytes(os.urandom(8), "little", signed=True)
        self.manualSeed(number)
        return number

    def initialSeed(self) -> int:
        """Return the last seed, as a signed 64-bit number."""
        return self._initial_seed

    def words(self, n: int) -> NDArray[np.int64]:
        """Return the next ``n`` 32-bit numbers, each in ``[0, 2**32)``."""
        if (refusal := _refusal.get()) is not None:
            raise ValueError(refusal)
        return self._twister.random_raw(n).view(np.int64)

    def word(self) -> int:
        """Return the next 32-bit number."""
        if (refusal := _refusal.get()) is not None:
            raise ValueError(refusal)
        with self.lock:
            return int(self._twister.random_raw())

    def uniforms(self, n: int) -> NDArray[np.float64]:
        """Return the next ``n`` words divided by 2**32."""
        return np.multiply(self.words(n), 2.0**-32, dtype=np.float64)

    def normals(self, n: int) -> NDArray[np.float64]:
        """Return the next ``n`` draws of a standard normal distribution.

        They are drawn in pairs (Box-Muller); the second of a pair is kept for the next call.
        """
        with self.lock:
            out = np.empty(n)
            ready = 0
            if n and self._normal_is_valid:
                pair = libm.polar(
                    np.array([self._normal_rho]), np.array([2.0 * math.pi * self._normal_x])
                )
                out[0] = pair[0].imag
                self._normal_is_valid = False
                ready = 1
            missing = n - ready
            if missing:
                x, y = self.uniforms(missing + missing % 2).reshape(-1, 2).T
                rho = np.sqrt(-2.0 * libm.log(1.0 - y))
                pairs = libm.polar(rho, 2.0 * math.pi * x)
                out[ready:] = pairs.view(np.float64)[:missing]
                self._normal_x, self._normal_y = float(x[-1]), float(y[-1])
                self._normal_rho = float(rho[-1])
                self._normal_is_valid = missing % 2 == 1
            return out

    def gammas(self, shape: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
        """Draw from a gamma distribution for each shape and scale.

        The algorithm is that of Torch7's package randomkit (numpy's first one), on Torch7's 32-bit
        numbers. Its own cached normal is dropped by ``manualSeed`` and is not part of the state.
        """
        with self.lock:
            self.words(0)  # may be refused
            if self._randomkit is None:
                self._randomkit = np.random.RandomState(self._twister)
            return self._randomkit.gamma(shape, scale)

    def to_bytes(self) -> bytes:
        """Return Torch7's own state, a C struct of 64-bit Linux; files hold the same bytes."""
        with self.lock:
            twister: Any = self._twister.state["state"]
            key, position = twister["key"], twister["pos"]
            untouched = position == _WORDS and np.array_equal(
                key, _seeded_words(self._initial_seed)
            )
            record = np.zeros((), _STATE)
            record["the_initial_seed"] = self._initial_seed
            record["left"] = _WORDS + 1 - position
            record["seeded"] = 1
            record["next"] = 0 if untouched else position
            record["state"] = key
            record["normal_x"] = self._normal_x
            record["normal_y"] = self._normal_y
            record["normal_rho"] = self._normal_rho
            record["normal_is_valid"] = self._normal_is_valid
        return record.tobytes()

    @classmethod
    def from_bytes(cls, raw: bytes) -> Generator:
        """Return a generator in the state that ``to_bytes`` or Torch7 wrote."""
        generator = cls(0)
        generator.setRNGState(raw)
        return generator

    def getRNGState(self) -> torch.Tensor:
        """Return ``to_bytes()`` as a ``(5048,)`` ByteTensor."""
        return torch.frombuffer(bytearray(self.to_bytes()), dtype=torch.uint8)

    def setRNGState(self, state: torch.Tensor | bytes) -> None:
        """Continue from a recorded state.

        Raises:
            ValueError: the state is invalid, as in Torch7 (size, ``seeded``, ``left``, ``next``).
                Differs from Torch7: also if ``left`` and ``next`` disagree, or a word exceeds 32
                bits; Torch7 would read outside its buffer or leave [0, 1).
        """
        record = np.frombuffer(_state_bytes(state), _STATE)[0]
        left, following = int(record["left"]), int(record["next"])
        words = record["state"]
        if record["seeded"] != 1 or not 0 < left <= _WORDS or following > _WORDS:
            raise ValueError(
                f"state has seeded = {record['seeded']}, left = {left} and next = {following}; "
                f"1, 1 to {_WORDS} and 0 to {_WORDS} are accepted"
            )
        if left > 1 and left + following != _WORDS + 1:
            raise ValueError(
                f"state has left = {left} and next = {following}; a sum of {_WORDS + 1} is accepted"
            )
        if words.max() >= 2**32:
            raise ValueError(f"state has the word {words.max()}; words below 2**32 are accepted")
        with self.lock:
            self._initial_seed = int(record["the_initial_seed"])
            self._set_words(words, _WORDS + 1 - left)
            self._normal_x = float(record["normal_x"])
            self._normal_y = float(record["normal_y"])
            self._normal_rho = float(record["normal_rho"])
            self._normal_is_valid = bool(record["normal_is_valid"])

    def _set_words(self, words: NDArray[Any], position: int) -> None:
        self._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": words.astype(np.uint32), "pos": position},
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return Generator.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"torch.Generator(initialSeed={self.initialSeed()})"


@lru_cache(maxsize=16)
def _seeded_words(seed: int) -> NDArray[Any]:
    return np.random.RandomState(seed % 2**32).get_state(legacy=False)["state"]["key"]


def _state_bytes(state: torch.Tensor | bytes) -> bytes:
    if isinstance(state, torch.Tensor):
        if state.dtype != torch.uint8:
            raise TypeError(f"state is {state.dtype}; a uint8 tensor (ByteTensor) is accepted")
        state = state.detach().cpu().contiguous().numpy().tobytes()
    elif not isinstance(state, (bytes, bytearray)):
        raise wrong_type(state, "state", "a uint8 tensor or bytes")
    if len(state) != STATE_SIZE:
        raise ValueError(f"state has {len(state)} bytes; {STATE_SIZE} are accepted")
    return bytes(state)


def c_integer(value: float, name: str) -> int:
    """Return ``value`` with its fraction cut, as Lua numbers become C integers."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is {value!r}; a finite number is accepted") from None


class _DefaultGenerator(Generator):
    """The generator of draws that name none.

    In a worker process of a DataLoader it starts with PyTorch's seed for this worker and epoch,
    unless the worker seeds it itself. Otherwise all workers would inherit the same state.
    """

    def __init__(self) -> None:
        super().__init__()
        self._worker: Any = None

    def _enter(self) -> None:
        worker = get_worker_info()
        if worker is None or worker is self._worker:
            return
        with self.lock:
            if worker is not self._worker:
                super().manualSeed(worker.seed)
                self._worker = worker

    def manualSeed(self, seed: float) -> None:
        super().manualSeed(seed)
        self._worker = get_worker_info()

    def initialSeed(self) -> int:
        self._enter()
        return super().initialSeed()

    def words(self, n: int) -> NDArray[np.int64]:
        self._enter()
        return super().words(n)

    def word(self) -> int:
        self._enter()
        return super().word()

    def normals(self, n: int) -> NDArray[np.float64]:
        self._enter()
        return super().normals(n)

    def to_bytes(self) -> bytes:
        self._enter()
        return super().to_bytes()

    def setRNGState(self, state: torch.Tensor | bytes) -> None:
        super().setRNGState(state)
        self._worker = get_worker_info()

    def forked(self) -> None:
        """Replace the lock in a forked process: another thread of the parent may have held it."""
        self.lock = threading.RLock()


default_generator = _DefaultGenerator()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=default_generator.forked)

_own: ContextVar[Generator | None] = ContextVar("_own", default=None)


@contextmanager
def using(generator: Generator) -> Iterator[Generator]:
    """Let this thread draw from ``generator`` in the block, where none is given.

    In Torch7 each thread has its own generator; here all threads share the default one, except in
    such blocks.

    Args:
        generator: the generator of this thread while the block runs.

    Examples:
        >>> from compat import random
        >>> own = random.Generator()
        >>> _ = own.manualSeed(1)
        >>> with random.using(own):
        ...     first = random.uniform()
        >>> _ = own.manualSeed(1)
        >>> first == random.uniform(generator=own)
        True
    """
    token = _own.set(pick(generator))
    try:
        yield generator
    finally:
        _own.reset(token)


def pick(generator: Generator | None) -> Generator:
    """Return the given generator, or that of the ``using`` block, or the default one."""
    if generator is None:
        return _own.get() or default_generator
    if not isinstance(generator, Generator):
        # Module and all: PyTorch has a Generator, too.
        kind = f"{type(generator).__module__}.{type(generator).__qualname__}"
        raise TypeError(f"generator is a {kind}; a compat.random.Generator or None is accepted")
    return generator


def manualSeed(seed: float, *, generator: Generator | None = None) -> None:
    """Start the sequence of ``seed``; see ``Generator.manualSeed``.

    Args:
        seed: a whole number of 64 bits.
        generator: the generator to seed; default: the shared one.
    """
    pick(generator).manualSeed(seed)


def seed(*, generator: Generator | None = None) -> int:
    """Seed from the operating system; return the seed."""
    return pick(generator).seed()


def initialSeed(*, generator: Generator | None = None) -> int:
    """Return the last seed, as a signed 64-bit number."""
    return pick(generator).initialSeed()


def getRNGState(*, generator: Generator | None = None) -> torch.Tensor:
    """Return the whole state as a ``(5048,)`` ByteTensor."""
    return pick(generator).getRNGState()


def setRNGState(state: torch.Tensor | bytes, *, generator: Generator | None = None) -> None:
    """Continue from a state that ``getRNGState`` or Torch7 recorded.

    Args:
        state: a ByteTensor of 5048 elements.
        generator: the generator to set; default: the shared one.

    Raises:
        ValueError: the bytes are no state of Torch7's generator.
    """
    pick(generator).setRNGState(state)
