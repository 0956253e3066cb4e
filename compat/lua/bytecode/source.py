"""Write a dumped function of LuaJIT as Lua source with the same effect.

Each instruction becomes a statement, slots of the frame local variables, jumps ``goto``. Lua's
compiler checks the text like any other, whatever the dump holds, so nothing needs to be proven
about the instructions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from compat.lua.bytecode.dump import (
    BytecodeError,
    Cdata,
    Dump,
    Instruction,
    Prototype,
    Template,
    read,
)
from compat.lua.bytecode.literals import PRIMITIVES, literal, number, quoted
from compat.lua.bytecode.names import NAME, RESERVED, unused_prefix, upvalue_names

_LOCAL, _CONSTANT = 0x8000, 0x4000  # marks of upvalues
_MOST_SLOTS = 240  # of 250 in a frame: variables, and as many as are in use at a time
_MOST_LEVELS = 100  # of 200 that Lua's source has
_MOST_LINES = 1 << 20
_JUMP_BIAS = 0x8000
_OPERATORS = {"ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/", "MOD": "%"}
_UNARY = {"MOV": "", "NOT": "not ", "UNM": "-", "LEN": "#"}
_TESTS = {
    "ISLT": "not ({a} < {d})",
    "ISGE": "{a} < {d}",
    "ISLE": "not ({a} <= {d})",
    "ISGT": "{a} <= {d}",
}
_APPEND = (
    "function(t, n, ...) for i = 1, select('#', ...) do t[n + i - 1] = (select(i, ...)) end end"
)
_SEVERAL = frozenset({"CALLM", "CALLMT", "RETM", "TSETM"})  # take all values of what is before


@lru_cache(maxsize=256)
def source_of(bytecode: bytes) -> tuple[str, str, int]:
    """Return Lua source that makes the function, its chunk's name, and its number of upvalues.

    Raises:
        BytecodeError: LuaJIT did not write this.
    """
    dump = read(bytecode)
    main = dump.main
    prefix = unused_prefix(main)
    names = upvalue_names(main, prefix)
    body = _Function(main, dump, prefix, 0, names, _Lines()).text()
    head = f"local {', '.join(names)} " if names else ""
    return f"{head}return {body}", dump.chunk, len(names)


class _Lines:
    """Keeps statements on the lines that they had, so that errors name these."""

    def __init__(self) -> None:
        self.now = 1

    def reach(self, line: int) -> str:
        missing = line - self.now
        if not 0 < missing <= _MOST_LINES - self.now:
            return " "
        self.now = line
        return "\n" * missing


class _Function:
    """Writes one function; ``depth`` tells its variables from those of the functions around it."""

    def __init__(
        self,
        proto: Prototype,
        dump: Dump,
        prefix: str,
        depth: int,
        upvalues: list[str],
        lines: _Lines,
    ) -> None:
        if depth > _MOST_LEVELS:
            raise BytecodeError("functions of the bytecode lie too deep in each other")
        self._proto = proto
        self._dump = dump
        self._prefix = prefix
        self._depth = depth
        self._upvalues = upvalues
        self._lines = lines
        self._end = len(proto.code)
        # So many slots are local variables, the others entries of a table.
        self._locals = min(proto.slots, max(0, _MOST_SLOTS - proto.slots))
        self._targets: set[int] = set()
        # Several values for the instruction that comes next: the first of their slots, and what
        # gives them.
        self._pending: tuple[int, str] | None = None
        self._takers: set[int] = set()
        self._boxed = self._captured()

    # Variables.

    def _captured(self) -> set[int]:
        """Return the slots that inner functions take as upvalues.

        Each becomes a table of one value, which the functions share; leaving a block makes a new
        one.
        """
        return {
            upvalue & 0xFF
            for child in self._proto.constants
            if isinstance(child, Prototype)
            for upvalue in child.upvalues
            if upvalue & _LOCAL
        }

    def _variable(self, slot: int) -> str:
        if not 0 <= slot < self._proto.slots:
            raise BytecodeError(f"slot {slot} is outside the frame of {self._proto.slots}")
        if slot >= self._locals:
            return f"{self._prefix}t{self._depth}[{slot}]"
        return f"{self._prefix}s{self._depth}_{slot}"

    def _slot(self, slot: int) -> str:
        return self._variable(slot) + ("[1]" if slot in self._boxed else "")

    def _range(self, first: int, size: int) -> list[str]:
        return [self._slot(slot) for slot in range(first, first + size)]

    def _upvalue(self, index: int) -> str:
        if index >= len(self._upvalues):
            raise BytecodeError(f"there is no upvalue {index}")
        return self._upvalues[index]

    # Constants.

    def _constant(self, index: int, kind: type) -> Any:
        if index >= len(self._proto.constants) or not isinstance(
            self._proto.constants[index], kind
        ):
            raise BytecodeError(f"constant {index} is not what an instruction takes it for")
        return self._proto.constants[index]

    def _string(self, index: int) -> str:
        return quoted(self._constant(index, bytes))

    def _number(self, index: int) -> str:
        if index >= len(self._proto.numbers):
            raise BytecodeError(f"there is no constant number {index}")
        return number(self._proto.numbers[index])

    def _primitive(self, index: int) -> str:
        if index >= len(PRIMITIVES):
            raise BytecodeError(f"there is no primitive value {index}")
        return PRIMITIVES[index]

    def _global(self, index: int) -> str:
        name = self._constant(index, bytes)
        if not NAME.fullmatch(name) or name in RESERVED:
            raise BytecodeError("a global variable has a name that is none")
        return str(name.decode("latin-1"))

    # The text.

    def text(self) -> str:
        """Return the function as an expression."""
        proto = self._proto
        if proto.parameters > proto.slots:
            raise BytecodeError(f"a function has {proto.parameters} parameters")
        code = [self._statement(pc, each) for pc, each in enumerate(proto.code)]
        if self._pending is not None:
            raise BytecodeError("the bytecode ends within an expression")
        if any(not 0 <= target < self._end for target in self._targets):
            raise BytecodeError("a jump leads out of its function")
        if self._targets & self._takers:
            raise BytecodeError("a jump leads into an expression")
        label = f"{self._prefix}l"
        body = "".join(
            (f" ::{label}{pc}:: " if pc in self._targets else "") + text
            for pc, text in enumerate(code)
        )
        return f"function({self._parameters()}) {self._declarations()}{body} end"

    def _parameter(self, slot: int) -> str:
        return f"{self._prefix}s{self._depth}_{slot}"

    def _parameters(self) -> str:
        names = [self._parameter(slot) for slot in range(self._proto.parameters)]
        return ", ".join(names + ["..."] * self._proto.is_vararg)

    def _declarations(self) -> str:
        """Return upvalues in their order, changeable where they were; then the slots."""
        proto = self._proto
        parts = []
        if self._depth == 0 and self._upvalues:
            marked = zip(self._upvalues, proto.upvalues, strict=True)
            uses = (
                f"local {self._prefix} = {name} " if mark & _CONSTANT else f"{name} = nil "
                for name, mark in marked
            )
            parts.append(f"if nil then {''.join(uses)}end ")
        if named := [self._variable(slot) for slot in range(proto.parameters, self._locals)]:
            parts.append(f"local {', '.join(named)} ")
        if self._locals < proto.slots:
            parts.append(f"local {self._prefix}t{self._depth} = {{}} ")
        for slot in range(self._locals, proto.parameters):
            parts.append(f"{self._variable(slot)} = {self._parameter(slot)} ")
        for slot in sorted(self._boxed):
            name = self._variable(slot)
            parts.append(f"{name} = {{{name if slot < proto.parameters else ''}}} ")
        return "".join(parts)

    def _statement(self, pc: int, each: Instruction) -> str:
        if (each.name in _SEVERAL) != (self._pending is not None):
            raise BytecodeError("several values are made in one place and taken in another")
        if each.name in _SEVERAL:
            self._takers.add(pc)
        text = self._closure(each) if each.name == "FNEW" else None
        line = self._lines.reach(self._proto.lines[pc]) if self._proto.lines else " "
        return (text or "") + line + (self._text_of(pc, each) if text is None else "")

    def _text_of(self, pc: int, each: Instruction) -> str:
        for part in (self._test, self._value, self._call, self._loop):
            text = part(pc, each)
            if text is not None:
                return text
        raise BytecodeError(f"the instruction {each.name} is not one of compiled source")

    def _goto(self, pc: int) -> str:
        self._targets.add(pc)
        return f"goto {self._prefix}l{pc}"

    def _jump(self, pc: int, each: Instruction) -> str:
        return self._goto(pc + 1 + each.d - _JUMP_BIAS)

    def _test(self, pc: int, each: Instruction) -> str | None:
        """Write a comparison: the next instruction is a jump, which is skipped unless it holds."""
        name, operand = each.name[:4], each.name[4:]
        by = {"V": self._slot, "S": self._string, "N": self._number, "P": self._primitive}
        if each.name in _TESTS:
            condition = _TESTS[each.name].format(a=self._slot(each.a), d=self._slot(each.d))
        elif name in ("ISEQ", "ISNE") and operand in by:
            other = "~=" if name == "ISEQ" else "=="
            condition = f"{self._slot(each.a)} {other} {by[operand](each.d)}"
        elif each.name in ("ISTC", "ISFC", "IST", "ISF"):
            tested = self._slot(each.d)
            condition = f"not {tested}" if each.name[2] == "T" else tested
            if each.name.endswith("C"):
                return (
                    f"if {condition} then {self._goto(pc + 2)} end {self._slot(each.a)} = {tested}"
                )
        else:
            return None
        return f"if {condition} then {self._goto(pc + 2)} end"

    def _value(self, pc: int, each: Instruction) -> str | None:
        """Write an instruction that reads or writes variables, tables or constants."""
        name, a, b, c, d = each.name, each.a, each.b, each.c, each.d
        if name[:3] in _OPERATORS and name[3:] in ("VN", "NV", "VV"):
            left, right = self._slot(b), self._slot(c) if name[3:] == "VV" else self._number(c)
            if name[3:] == "NV":
                left, right = right, left
            return f"{self._slot(a)} = {left} {_OPERATORS[name[:3]]} {right}"
        match name:
            case "MOV" | "NOT" | "UNM" | "LEN":
                return f"{self._slot(a)} = {_UNARY[name]}{self._slot(d)}"
            case "POW":
                return f"{self._slot(a)} = {self._slot(b)} ^ {self._slot(c)}"
            case "CAT":
                return f"{self._slot(a)} = {' .. '.join(self._range(b, c - b + 1))}"
            case "KSTR" | "KNUM" | "KPRI" | "KSHORT" | "KCDATA" | "TDUP":
                return f"{self._slot(a)} = {self._fixed(name, d)}"
            case "KNIL":
                return " ".join(f"{slot} = nil" for slot in self._range(a, d - a + 1))
            case "TNEW":
                return f"{self._slot(a)} = {{}}"
            case "UGET":
                return f"{self._slot(a)} = {self._upvalue(d)}"
            case "USETV":
                return f"{self._upvalue(a)} = {self._slot(d)}"
            case "USETS":
                return f"{self._upvalue(a)} = {self._string(d)}"
            case "USETN":
                return f"{self._upvalue(a)} = {self._number(d)}"
            case "USETP":
                return f"{self._upvalue(a)} = {self._primitive(d)}"
            case "GGET":
                return f"{self._slot(a)} = {self._global(d)}"
            case "GSET":
                return f"{self._global(d)} = {self._slot(a)}"
            case "TGETV" | "TGETS" | "TGETB":
                return f"{self._slot(a)} = {self._slot(b)}[{self._key(name, c)}]"
            case "TSETV" | "TSETS" | "TSETB":
                return f"{self._slot(b)}[{self._key(name, c)}] = {self._slot(a)}"
        return None

    def _fixed(self, name: str, d: int) -> str:
        match name:
            case "KSTR":
                return self._string(d)
            case "KNUM":
                return self._number(d)
            case "KPRI":
                return self._primitive(d)
            case "KSHORT":
                return number(d - (1 << 16) if d >> 15 else d)
            case "KCDATA":
                return str(self._constant(d, Cdata).text)
        entries = self._constant(d, Template).entries
        return (
            "{" + ", ".join(f"[{literal(key)}] = {literal(value)}" for key, value in entries) + "}"
        )

    def _key(self, name: str, c: int) -> str:
        if name.endswith("B"):
            return str(c)
        return self._string(c) if name.endswith("S") else self._slot(c)

    def _closure(self, each: Instruction) -> str:
        """Write a function; the tables that it shares with this one become its own variables."""
        child = self._constant(each.d, Prototype)
        upvalues, shared = [], []
        for mark in child.upvalues:
            if mark & _LOCAL:
                slot = mark & 0xFF
                name = f"{self._prefix}b{self._depth}_{slot}"
                shared.append(f"local {name} = {self._variable(slot)} ")
                upvalues.append(f"{name}[1]")
            else:
                upvalues.append(self._upvalue(mark & 0xFF))
        inner = _Function(child, self._dump, self._prefix, self._depth + 1, upvalues, self._lines)
        made = f"{self._slot(each.a)} = {inner.text()}"
        return f" do {''.join(dict.fromkeys(shared))}{made} end" if shared else f" {made}"

    def _call(self, pc: int, each: Instruction) -> str | None:
        """Calls and returns."""
        name, a, b, c, d = each.name, each.a, each.b, each.c, each.d
        first = a + 1 + self._dump.gap
        match name:
            case "CALL":
                return self._results(a, b, self._called(a, first, c - 1))
            case "CALLM":
                return self._results(a, b, self._called(a, first, c, self._several(first + c)))
            case "CALLT":
                return f"do return {self._called(a, first, d - 1)} end"
            case "CALLMT":
                return f"do return {self._called(a, first, d, self._several(first + d))} end"
            case "ITERC" | "ITERN":
                called = f"{self._slot(a - 3)}({self._slot(a - 2)}, {self._slot(a - 1)})"
                return self._results(a, b, called)
            case "VARG":
                return self._results(a, b, "...") if b != 1 else ""
            case "RET0":
                return "do return end"
            case "RET1":
                return f"do return {self._slot(a)} end"
            case "RET":
                return f"do return {', '.join(self._range(a, d - 1))} end"
            case "RETM":
                return f"do return {', '.join([*self._range(a, d), self._several(a + d)])} end"
            case "TSETM":
                values = self._several(a)
                table = f"{self._slot(a - 1)}, {self._first_index(d)}, {values}"
                return f"do ({_APPEND})({table}) end"
        return None

    def _called(self, a: int, first: int, size: int, *others: str) -> str:
        return f"{self._slot(a)}({', '.join([*self._range(first, size), *others])})"

    def _results(self, a: int, b: int, values: str) -> str:
        """Return the targets of a call: ``b`` is one more than their number; 0 passes all on."""
        if b == 0:
            self._pending = a, values
            return ""
        return values if b == 1 else f"{', '.join(self._range(a, b - 1))} = {values}"

    def _several(self, slot: int) -> str:
        assert self._pending is not None
        place, values = self._pending
        if place != slot:
            raise BytecodeError("several values are made in one place and taken in another")
        self._pending = None
        return values

    def _first_index(self, index: int) -> int:
        """Return the first index to store at, which is the low bits of a constant number."""
        if index >= len(self._proto.numbers):
            raise BytecodeError(f"there is no constant number {index}")
        value = self._proto.numbers[index]
        return int(value) & 0xFFFFFFFF if abs(value) < 2**53 else 1

    def _loop(self, pc: int, each: Instruction) -> str | None:
        """Write loops and jumps."""
        a = each.a
        match each.name:
            case "LOOP":
                return ""
            case "JMP" | "ISNEXT":
                return self._jump(pc, each)
            case "UCLO":
                left = [self._variable(slot) for slot in sorted(self._boxed) if slot >= a]
                renewed = "".join(f"{name} = {{{name}[1]}} " for name in left)
                return renewed + self._jump(pc, each)
            case "FORI":
                index, stop, step, shown = self._range(a, 4)
                # Lua's own loop checks and converts what it is given.
                return (
                    f"do local i for j = {index}, {stop}, {step} do i = j break end "
                    f"if not i then {self._jump(pc, each)} end "
                    f"{index}, {stop}, {step}, {shown} = i, {stop} + 0, {step} + 0, i end"
                )
            case "FORL":
                index, stop, step, shown = self._range(a, 4)
                return (
                    f"{index} = {index} + {step} "
                    f"if {step} >= 0 and {index} <= {stop} or {step} < 0 and {index} >= {stop} "
                    f"then {shown} = {index} {self._jump(pc, each)} end"
                )
            case "ITERL":
                key = self._slot(a)
                return (
                    f"if {key} ~= nil then {self._slot(a - 1)} = {key} {self._jump(pc, each)} end"
                )
        return None
