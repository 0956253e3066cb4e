"""Names for the variables of a function whose own names a dump does not have."""

from __future__ import annotations

import re
from itertools import count

from compat.lua.bytecode.dump import Prototype

NAME = re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*")
RESERVED = frozenset(
    b"and break do else elseif end false for function goto if in local nil not or repeat return "
    b"then true until while".split()
)


def _prototypes(main: Prototype) -> list[Prototype]:
    found = [main]
    for prototype in found:
        found += [each for each in prototype.constants if isinstance(each, Prototype)]
    return found


def _globals(main: Prototype) -> set[bytes]:
    """Return whatever may be the name of a global variable."""
    return {
        text
        for prototype in _prototypes(main)
        for text in prototype.constants
        if isinstance(text, bytes)
    }


def unused_prefix(main: Prototype) -> str:
    """Return a prefix with which no global's name begins."""
    texts = _globals(main)
    return next(
        prefix
        for prefix in ("_" * length for length in count(1))
        if not any(text.startswith(prefix.encode()) for text in texts)
    )


def upvalue_names(main: Prototype, prefix: str) -> list[str]:
    """Return the names of upvalues in the compiled source, if the dump has them."""
    taken = _globals(main) | {b"select"}
    names = []
    for index in range(len(main.upvalues)):
        raw = main.upvalue_names[index].encode("latin-1") if main.upvalue_names else b""
        usable = NAME.fullmatch(raw) and raw not in RESERVED and raw not in taken
        if not usable or raw.startswith(prefix.encode()):
            raw = f"{prefix}u{index}".encode()
        taken.add(raw)
        names.append(raw.decode("latin-1"))
    return names
