"""The options that a text for Penlight's ``lapp`` declares, as ``lapp`` itself reads it."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from compat.lua.state import FOLDER, implementation, new_state
from compat.port.know.scopes import Variable
from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

_KINDS = {"boolean": Kind.BOOLEAN, "number": Kind.NUMBER, "int": Kind.NUMBER, "float": Kind.NUMBER}


def known_text(known: Inference, node: s.Node, inside: tuple[Variable, ...] = ()) -> str | None:
    """Return the text that an expression has in each run: of constants, and of variables that are
    set once.
    """
    if isinstance(node, s.Binary) and node.operator == "..":
        parts = [known_text(known, part, inside) for part in (node.left, node.right)]
        return None if None in parts else "".join(map(str, parts))
    if isinstance(node, s.Name) and len(node.variable.writes) == 1 and node.variable not in inside:
        values = known.clues.sources.get(node.variable, [])
        is_one = len(values) == 1
        return known_text(known, values[0], (*inside, node.variable)) if is_one else None
    value = s.constant(node)
    return value if isinstance(value, str) else None


@functools.cache
def declared(text: str) -> list[tuple[str, Type]]:
    """Return the names and types of options and arguments; nothing of a text that lapp refuses."""
    found = []
    lua = new_state(implementation(os.environ.get("DPTABLE_LUA")))
    lapp = lua.execute((FOLDER / "modules" / "pl" / "lapp.lua").read_bytes())
    for options in lapp.declared(text.encode("utf-8", "surrogateescape")):
        for option in options.values():
            kind = _KINDS.get(option.type, Kind.STRING)
            is_int = kind is Kind.NUMBER and (option.default or "").isdigit()
            found.append((option.name, Type(Kind.INT if is_int else kind)))
    return found
