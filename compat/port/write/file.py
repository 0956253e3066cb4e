"""A whole file of Python."""

from __future__ import annotations

from compat.port.know.form import late_globals
from compat.port.know.form.shapes import own_returns
from compat.port.polish.docstrings import header
from compat.port.polish.rules import polished
from compat.port.read import syntax as s
from compat.port.read.syntax import PortError
from compat.port.write import calls, control, layout, statements, text  # noqa: F401, they register
from compat.port.write.draft import Draft
from compat.port.write.heads import head
from compat.port.write.imports import loads
from compat.port.write.names import global_name


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
    known = {*draft.shared, *draft.types.aliases}
    late = [v for v in late_globals.late(draft.file) if v not in known]
    own = draft.file.scopes.file
    draft.lacking |= {v for v in late if any(where is own for _, where in v.writes)}
    names = {global_name(v) for v in late}
    if names:
        begun = {"arg": "sys.argv[1:]"} if "arg" in names else {}  # what the command line has given
        begun |= {global_name(v): function for v in late if (function := late_globals.of_lua(v.id))}
        for name, value in sorted(begun.items()):
            draft.page.write(f"{name} = {value}")
        draft.page.write_rows("", sorted(names - begun.keys()), " = ", " = None")
