"""The draft of one file, whatever happens: what cannot be written in Python stays in Lua."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.know.questions.attempts import attempts
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.project.following import Program
from compat.port.project.lua_modules import lua_module
from compat.port.project.sources import Source
from compat.port.read import syntax as s
from compat.port.read.syntax import PortError
from compat.port.write import layout
from compat.port.write.draft import Draft
from compat.port.write.file import written
from compat.port.write.imports import returned
from compat.port.write.page import Report


@dataclass
class Converted:
    """A file of the program and its draft.

    Attributes:
        in_lua: "file" where the whole file stays Lua, "data" where that is only a table.
        functions: the names of functions that stay Lua.
        gives: the name under which the draft has what the file returns, or ``WHOLE``.
    """

    source: Path
    module: str
    text: str
    report: Report
    is_script: bool = False
    in_lua: str = ""
    functions: list[str] = field(default_factory=list)
    gives: str | None = None


@dataclass
class Made:
    """The drafts of a program.

    Attributes:
        program: its files.
        files: the drafts, in their order.
        renamed: the files whose modules are called otherwise, and why.
        runs: the command lines that told types.
        ended: those of them that came to no end of their own, and how they ended.
    """

    program: Program
    files: list[Converted]
    renamed: dict[Path, str] = field(default_factory=dict)
    runs: Sequence[Sequence[str]] = ()
    ended: list[tuple[Sequence[str], str]] = field(default_factory=list)


def convert_file(
    file: File, types: Inference, shared: set[Variable], source: Source, reason: str
) -> Converted:
    """Return the draft of a file; ``reason`` is why it must stay Lua, if it must."""
    path = Path(file.path)
    in_lua = {} if reason else dict.fromkeys(attempts(file, types), "")
    while not reason and not source.is_data:
        leading = [statement.before for statement in file.block.statements]
        draft = Draft(file, types, shared)
        draft.in_lua = in_lua
        try:
            text = written(draft)
            compile(text, draft.file.path, "exec", dont_inherit=True)  # if Python takes it
        except Exception as problem:  # whatever it is, the rest of the program goes on
            for statement, before in zip(file.block.statements, leading, strict=True):
                statement.before = before  # which writing moves
            where = _failed(draft, problem)
            told = _told(problem)
            if where is None or where in in_lua:
                reason = told
            else:
                in_lua[where] = told
            continue
        names = [function.name or "function" for function, why in in_lua.items() if why]
        return Converted(
            path, file.module, text, draft.page.report, file.is_script, "", names, returned(file)
        )
    text, report = lua_module(file, types, reason, source.is_data)
    kind = "data" if source.is_data else "file"
    return Converted(
        path, file.module, text, report, file.is_script, kind, [], returned(file) or "exports"
    )


def _failed(draft: Draft, problem: Exception) -> s.Function | None:
    """Return the function of the file that could not be written, as a whole; None: it is no
    function.
    """
    if isinstance(problem, (SyntaxError, PortError)):
        line = _line_in_lua(draft)
        functions = [n for n, scope in draft.file.scopes.of_function.items() if _is_outer(scope)]
        ends = {n: n.line + draft.file.source[n.start : n.end].count(b"\n") for n in functions}
        return next((n for n in functions if n.line <= line <= ends[n]), None)
    scope: FunctionScope | None = draft.scope
    while scope is not None and not _is_outer(scope):
        scope = scope.parent
    return None if scope is None else scope.node


def _is_outer(scope: FunctionScope) -> bool:
    """Return whether a function stands in no other one."""
    return scope.parent is not None and scope.parent.parent is None


def _line_in_lua(draft: Draft) -> int:
    """Return the line of Lua whose Python is none."""
    lines = draft.page.lines
    body = layout.arranged([(n.indent, n.text, n.comment) for n in lines])
    try:
        compile(body, "draft", "exec", dont_inherit=True)
    except SyntaxError as error:
        left = error.lineno or 1
        for line in lines:
            left -= layout.arranged([(line.indent, line.text, line.comment)]).count("\n") or 1
            if left <= 0:
                return line.source
    return 0


def _told(problem: Exception) -> str:
    text = str(problem).strip().split("\n")[0]
    if isinstance(problem, SyntaxError):
        return f"the draft would be no Python: {problem.msg}"
    if isinstance(problem, PortError):
        return text
    kind = type(problem).__name__
    return f"no draft is known for what it does ({kind}{': ' * bool(text)}{text[:80]})"
