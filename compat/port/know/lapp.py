"""The options that a text for Penlight's ``lapp`` declares, as ``lapp`` itself reads it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from compat.lua.state import FOLDER, implementation, new_state
from compat.port.know.types import Kind, Type

_KINDS = {"boolean": Kind.BOOLEAN, "number": Kind.NUMBER, "int": Kind.NUMBER, "float": Kind.NUMBER}


def declared(text: str) -> Iterator[tuple[str, Type]]:
    """Yield the names and types of options and arguments; nothing of a text that lapp refuses."""
    lua = new_state(implementation(os.environ.get("DPTABLE_LUA")))
    lapp = lua.execute((FOLDER / "modules" / "pl" / "lapp.lua").read_bytes())
    for options in lapp.declared(text.encode("utf-8", "surrogateescape")):
        for option in options.values():
            kind = _KINDS.get(option.type, Kind.STRING)
            is_int = kind is Kind.NUMBER and (option.default or "").isdigit()
            yield option.name, Type(Kind.INT if is_int else kind)
