"""Global variables that a file may read before it sets them."""

from __future__ import annotations

from collections.abc import Sequence

from compat.port.know.files import File
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.library.lua_functions import FUNCTIONS
from compat.port.read import syntax as s

NEVER = 1 << 60


def late(file: File) -> list[Variable]:
    """Return the global variables that are nil, or one of Lua's functions, until the file sets
    them.
    """
    found = file.scopes.written_globals
    return [v for v in found if v.reads and not _is_set_first(v, file)]


def early_reads(files: Sequence[File]) -> set[s.Name]:
    """Return where functions read what the file around them may not have set yet."""
    found = set()
    for file in files:
        own = file.scopes.file
        for variable in late(file):
            if not of_lua(variable.id) and any(where is own for _, where in variable.writes):
                found |= {name for name, where in variable.reads if where.node is not None}
    return found


def of_lua(name: str) -> str | None:
    """Return the function of Lua's that a global variable has at first: ``print``."""
    rule = FUNCTIONS.all(name)[-1:]
    return rule[0].function if rule else None


def _is_set_first(variable: Variable, file: File) -> bool:
    """Return whether the file itself sets a variable, and before it reads it."""
    own = file.scopes.file
    writes = [name.line for name, where in variable.writes if where is own]
    reads = [_first_run(name.line, where, file, {variable}) for name, where in variable.reads]
    functions = [line for line in writes if line in _defined(variable, file)]
    if of_lua(variable.id):  # it is there before
        functions = []
    return bool(writes) and (bool(functions) or min(reads, default=NEVER) > min(writes))


def _first_run(line: int, scope: FunctionScope, file: File, asked: set[Variable]) -> int:
    """Return the line of the file that may run a line of a function first: one that names it."""
    if scope is file.scopes.file:
        return line
    while scope.parent is not file.scopes.file and scope.parent is not None:
        scope = scope.parent
    for place, node in enumerate(file.block.statements, 1):
        if isinstance(node, s.Define) and node.function is scope.node:
            variable = getattr(node.target, "variable", None)
            if variable in asked:
                return NEVER  # it calls itself
            if variable is None:  # a method, which any call behind it may run
                later = [n for n in file.block.statements[place:] if _calls(n)]
                return later[0].line if later else NEVER
            uses = [(n.line, where) for n, where in variable.reads]
            return min((_first_run(*use, file, asked | {variable}) for use in uses), default=NEVER)
    return NEVER if scope.node is None else scope.node.line


def _calls(node: s.Statement) -> bool:
    """Return whether a statement may run functions of the file."""
    return not isinstance(node, s.Define) and any(
        isinstance(n, s.Call) and s.describe(n.function) not in {"torch.class", "require"}
        for n in s.walk(node)
    )


def _defined(variable: Variable, file: File) -> set[int]:
    """Return the lines with functions of a name: ``function f() … f() … end`` sets it first."""
    defines = (n for n in file.block.statements if isinstance(n, s.Define))
    return {n.target.line for n in defines if n.target in {w for w, _ in variable.writes}}
