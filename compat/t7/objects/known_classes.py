"""Well-known classes whose payload is not one table of fields."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from compat.lua_tables import List, Table
from compat.t7.base.types import TorchObject
from compat.t7.encoding.lua_table import key_of
from compat.t7.objects.hooks import FIELDS, LONG, OBJECT, Bytes, Request, bytes_
from compat.t7.objects.registry import keep, register

Reading = Generator[Request, Any, None]
Writing = Generator[tuple[Request, Any], None, None]

GENERATOR_BYTES = 5048
"""Size of the state of Torch7's random number generator on 64-bit machines."""


class Hash(Table):
    """``tds.Hash``: a table whose entries lie outside Lua's memory."""

    __slots__ = ()


class Vec(List):
    """``tds.Vec``: an array whose elements lie outside Lua's memory."""

    __slots__ = ()


class AtomicCounter:
    """``tds.AtomicCounter``: a counter shared by threads."""

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"AtomicCounter({self.value})"


class GeneratorState:
    """``torch.Generator``: the raw state of a random number generator, 5048 bytes."""

    def __init__(self, state: bytes) -> None:
        if len(state) != GENERATOR_BYTES:
            raise ValueError(f"state has {len(state)} bytes; {GENERATOR_BYTES} are accepted")
        self.state = state


def _read_hash(obj: Hash, version: float) -> Reading:
    for _ in range((yield LONG)):
        key = key_of((yield OBJECT))
        obj[key] = yield OBJECT


def _write_hash(obj: Hash) -> Writing:
    yield LONG, len(obj)
    for key, value in obj.items():
        yield OBJECT, key
        yield OBJECT, value


def _read_vec(obj: Vec, version: float) -> Reading:
    for _ in range((yield LONG)):
        obj.append((yield OBJECT))


def _write_vec(obj: Vec) -> Writing:
    yield LONG, len(obj)
    for value in obj:
        yield OBJECT, value


def _read_counter(obj: AtomicCounter, version: float) -> Reading:
    obj.value = yield LONG


def _write_counter(obj: AtomicCounter) -> Writing:
    yield LONG, obj.value


def _read_generator(obj: GeneratorState, version: float) -> Reading:
    obj.state = yield bytes_(GENERATOR_BYTES)


def _write_generator(obj: GeneratorState) -> Writing:
    yield Bytes(len(obj.state)), obj.state


register("tds.Hash", Hash, version=0, read=_read_hash, write=_write_hash)
register("tds.Vec", Vec, version=0, read=_read_vec, write=_write_vec)
register("tds.AtomicCounter", AtomicCounter, version=0, read=_read_counter, write=_write_counter)
register("torch.Generator", GeneratorState, read=_read_generator, write=_write_generator)


def _read_nothing(obj: TorchObject, version: float) -> Reading:
    yield from ()


def _write_nothing(obj: TorchObject) -> Writing:
    yield from ()


def _read_with_preamble(obj: TorchObject, version: float) -> Reading:
    """Read one object, then the fields."""
    obj.preamble = [(yield OBJECT)]
    obj.fields = yield FIELDS


def _read_data_parallel(obj: TorchObject, version: float) -> Reading:
    """Read the GPU assignments, since version 2, then the fields."""
    if version >= 2:
        obj.preamble = [(yield OBJECT)]
    obj.fields = yield FIELDS


def _read_model_parallel(obj: TorchObject, version: float) -> Reading:
    """Read the GPU assignments and one branch for each, since version 2, then the fields."""
    if version >= 2:
        assignments = yield OBJECT
        obj.preamble = [assignments]
        for _ in range(len(assignments)):
            obj.preamble.append((yield OBJECT))
    obj.fields = yield FIELDS


keep("torch.Timer", read=_read_nothing, write=_write_nothing)
keep("package.*", read=_read_nothing, write=_write_nothing)
keep("nn.GPU", read=_read_with_preamble)
keep("nn.DataParallelTable", read=_read_data_parallel)
keep("nn.ModelParallelTable", read=_read_model_parallel)
