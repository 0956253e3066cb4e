"""The command: a Lua script with its arguments."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from compat.lua.errors import LuaError
from compat.lua.runtime import Runtime


def main(arguments: Sequence[str]) -> int:
    """Run ``script.lua arguments…``. Returns the exit code."""
    if not arguments:
        print("usage: python -m compat.lua script.lua [arguments]", file=sys.stderr)
        return 2
    runtime = Runtime(standard_output=True)
    try:
        runtime.run(arguments[0], *arguments[1:])
    except LuaError as error:
        runtime.flush()
        print(f"luajit: {error}", file=sys.stderr)
        if error.traceback:
            print(error.traceback, file=sys.stderr)
        return 1
    finally:
        runtime.flush()
    return 0
