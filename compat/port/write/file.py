"""A whole file of Python."""

from __future__ import annotations

from compat.port.know.form.shapes import own_returns
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.library.lua_functions import FUNCTIONS
from compat.port.polish.docstrings import header
from compat.port.polish.rules import polished
from compat.port.read import syntax as s
from compat.port.read.syntax import PortError
from compat.port.write import calls, control, layout, statements, text  # noqa: F401, they register
from compat.port.write.draft import Draft
from compat.port.write.heads import head
from compat.port.write.imports import loads
from compat.port.write.names import global_name

NEVER = 1 << 60


def written(draft: Draft) -> str:
    """Return the Python of a file."""
    file, page = draft.file, draft.page
    first = file.block.statements[0] if file.block.statements else None
    leading = [] if first is None else first.before
    if first is not None and not (None in leading and leading.index(None) < len(leading) - 1):
        first.before = []
    elif first is not None:
        cut = leading.index(None)
        first.before, leading = leading[cut + 1 :], leading[:cut]
    if file.is_script:
        page.write('torch7.setdefaulttensortype("torch.DoubleTensor")', "as in Lua")
    _first_values(draft)
    _body(file.block, draft)
    page.place_later()
    body = polished(layout.arranged([(n.indent, n.text, n.comment) for n in page.lines]))
    brings_cunn = any(s.constant(node) == "cunn" for node in s.walk(file.block))
    told = [line for line in leading if line is not None]
    comments = header(told) if told else ""
    comments = f"{comments}\n\n" if comments else ""
    return comments + head(body, brings_cunn, draft.modules | loads(draft)) + body


def _body(block: s.Block, draft: Draft) -> None:
    """Write the statements of a file; behind ``if c then return x end`` they are the ``else``."""
    for i, node in enumerate(block.statements):
        later = block.statements[i + 1 :]
        if not later or draft.file.is_script or not own_returns(node):
            continue
        whole = isinstance(node, s.If) and all(
            condition is not None and own_returns(inner) == inner.statements[-1:]
            for condition, inner in node.clauses
        )
        if not whole:
            raise PortError("a file returns before its end")
        draft.body(s.Block(statements=block.statements[: i + 1]))
        draft.page.write("else:")
        with draft.page.indented():
            _body(s.Block(statements=later, ending=block.ending), draft)
        return
    draft.body(block)


def _first_values(draft: Draft) -> None:
    """Global variables that are read before the file sets them are nil until then, or Lua's."""
    late = [
        v
        for v in draft.file.scopes.written_globals
        if v not in draft.shared
        and v.reads
        and v not in draft.types.aliases
        and not _is_set_first(v, draft)
    ]
    own = draft.file.scopes.file
    draft.lacking |= {v for v in late if any(where is own for _, where in v.writes)}
    names = {global_name(v) for v in late}
    if names:
        begun = {"arg": "sys.argv[1:]"} if "arg" in names else {}  # what the command line has given
        begun |= {global_name(v): function for v in late if (function := of_lua(v.id))}
        for name, value in sorted(begun.items()):
            draft.page.write(f"{name} = {value}")
        draft.page.write_rows("", sorted(names - begun.keys()), " = ", " = None")


def of_lua(name: str) -> str | None:
    """Return the function of Lua's that a global variable has at first: ``print``."""
    rule = FUNCTIONS.all(name)[-1:]
    return rule[0].function if rule else None


def _is_set_first(variable: Variable, draft: Draft) -> bool:
    """Return whether the file itself sets a variable, and before it reads it."""
    own = draft.file.scopes.file
    writes = [name.line for name, where in variable.writes if where is own]
    reads = [_first_run(name.line, where, draft, {variable}) for name, where in variable.reads]
    functions = [line for line in writes if line in _defined(variable, draft)]
    if of_lua(variable.id):  # it is there before
        functions = []
    return bool(writes) and (bool(functions) or min(reads, default=NEVER) > min(writes))


def _first_run(line: int, scope: FunctionScope, draft: Draft, asked: set[Variable]) -> int:
    """Return the line of the file that may run a line of a function first: one that names it."""
    if scope is draft.file.scopes.file:
        return line
    while scope.parent is not draft.file.scopes.file and scope.parent is not None:
        scope = scope.parent
    for place, node in enumerate(draft.file.block.statements, 1):
        if isinstance(node, s.Define) and node.function is scope.node:
            variable = getattr(node.target, "variable", None)
            if variable in asked:
                return NEVER  # it calls itself
            if variable is None:  # a method, which any call behind it may run
                later = [n for n in draft.file.block.statements[place:] if _calls(n, draft)]
                return later[0].line if later else NEVER
            uses = [(n.line, where) for n, where in variable.reads]
            return min((_first_run(*use, draft, asked | {variable}) for use in uses), default=NEVER)
    return NEVER if scope.node is None else scope.node.line


def _calls(node: s.Statement, draft: Draft) -> bool:
    """Return whether a statement may run functions of the file."""
    return not isinstance(node, s.Define) and any(
        isinstance(n, s.Call) and draft.types.dotted(n.function) not in {"torch.class", "require"}
        for n in s.walk(node)
    )


def _defined(variable: Variable, draft: Draft) -> set[int]:
    """Return the lines with functions of a name: ``function f() … f() … end`` sets it first."""
    defines = (n for n in draft.file.block.statements if isinstance(n, s.Define))
    return {n.target.line for n in defines if n.target in {w for w, _ in variable.writes}}
