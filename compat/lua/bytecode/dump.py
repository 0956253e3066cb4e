"""Parse the result of LuaJIT's ``string.dump``."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from compat.lua.bytecode.opcodes import NAMES

_SIGNATURE = b"\x1bLJ"
_BIG_ENDIAN, _STRIPPED, _TWO_SLOTS = 1, 2, 8  # flags of a dump
_VARARG = 2  # a flag of a function
_CHILD, _TABLE, _SIGNED, _UNSIGNED, _COMPLEX, _STRING = range(6)  # constants


class BytecodeError(ValueError):
    """A dump that LuaJIT did not write."""


@dataclass(frozen=True)
class Cdata:
    """A constant of the FFI, as Lua's source writes it."""

    text: str


@dataclass
class Template:
    """A constant table: what a constructor such as ``{1, x = 2}`` starts with."""

    entries: list[tuple[Any, Any]]


@dataclass(frozen=True)
class Instruction:
    """One instruction; ``d`` is ``b`` and ``c`` together."""

    name: str
    a: int
    b: int
    c: int
    d: int


@dataclass
class Prototype:
    """A function's code, without the values of its upvalues.

    Attributes:
        is_vararg, parameters, slots: its parameters and the size of its frame.
        upvalues: where a closure takes its upvalues from, as LuaJIT encodes that.
        constants: strings, functions and other objects, by the operand that names them.
        numbers: the constant numbers.
        lines: the line of each instruction; empty in a stripped dump.
        upvalue_names: empty in a stripped dump.
    """

    is_vararg: bool
    parameters: int
    slots: int
    upvalues: list[int]
    code: list[Instruction]
    constants: list[Any]
    numbers: list[float]
    lines: list[int] = field(default_factory=list)
    upvalue_names: list[str] = field(default_factory=list)


@dataclass
class Dump:
    """A dumped function.

    Attributes:
        main: the function itself, with those inside it among its constants.
        chunk: the name of the source, as ``loadstring`` takes it.
        gap: how many slots of a call lie between the function and its first argument, less one.
    """

    main: Prototype
    chunk: str
    gap: int


class _Bytes:
    def __init__(self, data: bytes, order: str) -> None:
        self.data = data
        self.order = order
        self.position = 0

    def take(self, count: int) -> bytes:
        start = self.position
        if not 0 <= count <= len(self.data) - start:
            raise BytecodeError("the bytecode ends too early")
        self.position = start + count
        return self.data[start : start + count]

    def byte(self) -> int:
        return self.take(1)[0]

    def integer(self) -> int:
        """Read a number of 7 bits per byte, the lowest first."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & 0xFFFFFFFF
            if shift > 35:
                raise BytecodeError("a number of the bytecode is too long")

    def tagged(self) -> tuple[bool, int]:
        """Read a bit, and a number of 32 bits."""
        byte = first = self.byte()
        value, shift = (first >> 1) & 0x3F, 6
        while byte >= 0x80:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 41:
                raise BytecodeError("a number of the bytecode is too long")
        return bool(first & 1), value & 0xFFFFFFFF

    def words(self, kind: str, count: int) -> list[int]:
        form = f"{self.order}{count}{kind}"
        return list(struct.unpack(form, self.take(struct.calcsize(form))))

    def name(self) -> str:
        end = self.data.find(b"\0", self.position)
        if end < 0:
            raise BytecodeError("the bytecode ends too early")
        return self.take(end + 1 - self.position)[:-1].decode("latin-1")


def read(data: bytes) -> Dump:
    """Take a dump apart.

    Raises:
        BytecodeError: LuaJIT did not write it.
    """
    if data[:3] != _SIGNATURE or len(data) < 5 or data[3] not in NAMES:
        raise BytecodeError("this is not bytecode of LuaJIT 2.0 or 2.1")
    flags = data[4]
    source = _Bytes(data, ">" if flags & _BIG_ENDIAN else "<")
    source.position = 5
    stripped = bool(flags & _STRIPPED)
    chunk = "=?" if stripped else source.take(source.integer()).decode("latin-1")
    functions: list[Prototype] = []
    while length := source.integer():
        end = source.position + length
        functions.append(_prototype(source, NAMES[data[3]], stripped, functions))
        if source.position != end:
            raise BytecodeError("a function of the bytecode has another length than it says")
    if len(functions) != 1 or source.position != len(data):
        raise BytecodeError("the bytecode holds more than one function")
    return Dump(functions[0], chunk, 1 if flags & _TWO_SLOTS else 0)


def _prototype(
    source: _Bytes, names: list[str], stripped: bool, functions: list[Prototype]
) -> Prototype:
    """Read the next function; the functions inside it come before it, and are taken from there."""
    flags, parameters, slots, upvalues = source.take(4)
    constants, numbers, instructions = source.integer(), source.integer(), source.integer()
    debug, first, span = 0, 0, 0
    if not stripped and (debug := source.integer()):
        first, span = source.integer(), source.integer()
    words = source.words("I", instructions)
    made = Prototype(
        is_vararg=bool(flags & _VARARG),
        parameters=parameters,
        slots=slots,
        code=[_instruction(word, names) for word in words],
        upvalues=source.words("H", upvalues),
        constants=[_constant(source, functions) for _ in range(constants)][::-1],
        numbers=[_number(*source.tagged(), source) for _ in range(numbers)],
    )
    if debug:
        end = source.position + debug
        kind = "B" if span < 1 << 8 else "H" if span < 1 << 16 else "I"
        made.lines = [first + line for line in source.words(kind, instructions)]
        made.upvalue_names = [source.name() for _ in range(upvalues)]
        source.take(end - source.position)
    return made


def _instruction(word: int, names: list[str]) -> Instruction:
    number = word & 0xFF
    if number >= len(names):
        raise BytecodeError(f"there is no instruction {number}")
    return Instruction(names[number], word >> 8 & 0xFF, word >> 24, word >> 16 & 0xFF, word >> 16)


def _double(low: int, high: int) -> float:
    return float(struct.unpack("<d", struct.pack("<II", low, high))[0])


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def _number(is_double: bool, low: int, source: _Bytes) -> float:
    return _double(low, source.integer()) if is_double else _signed(low)


def _constant(source: _Bytes, functions: list[Prototype]) -> Any:
    kind = source.integer()
    if kind >= _STRING:
        return source.take(kind - _STRING)
    if kind == _CHILD:
        if not functions:
            raise BytecodeError("a function of the bytecode is missing")
        return functions.pop()
    if kind == _TABLE:
        return _template(source)
    low, high = source.integer(), source.integer()
    if kind == _COMPLEX:
        if (low, high) != (0, 0):
            raise BytecodeError("a complex constant has a real part, which no source gives it")
        imaginary = _double(source.integer(), source.integer())
        return Cdata(f"{imaginary!r}i")
    if kind == _UNSIGNED:
        return Cdata(f"{high << 32 | low}ULL")
    return Cdata(f"{high << 32 | low}LL")


def _template(source: _Bytes) -> Template:
    in_array, in_hash = source.integer(), source.integer()
    entries: list[tuple[Any, Any]] = []
    for index in range(in_array):
        entries.append((index, _entry(source)))
    for _ in range(in_hash):
        key = _entry(source)
        entries.append((key, _entry(source)))
    return Template([(key, value) for key, value in entries if value is not None])


def _entry(source: _Bytes) -> Any:
    kind = source.integer()
    if kind >= _STRING:
        return source.take(kind - _STRING)
    if kind == 3:
        return _signed(source.integer())
    if kind == 4:
        return _double(source.integer(), source.integer())
    return (None, False, True)[kind]
