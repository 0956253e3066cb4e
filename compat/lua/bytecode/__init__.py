"""Functions that LuaJIT dumped, as source: the bytecode of files it would run unchecked."""

from __future__ import annotations

from compat.lua.bytecode.dump import BytecodeError
from compat.lua.bytecode.source import source_of

__all__ = ["BytecodeError", "source_of", "try_source_of"]


def try_source_of(bytecode: str) -> tuple[str, str, int] | str:
    """Do ``source_of`` for Lua's strings; for bytes that are no bytecode, return the defect."""
    try:
        return source_of(bytecode.encode("latin-1"))
    except BytecodeError as error:
        return str(error)
