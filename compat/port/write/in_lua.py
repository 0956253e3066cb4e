"""Functions that have no draft: their Lua, for the runtime behind drafts."""

from __future__ import annotations

import re
from pathlib import PurePath

from compat.port.know.questions.attempts import REASON
from compat.port.know.scopes import PACKAGES
from compat.port.read import syntax as s
from compat.port.write.code import quoted, text_of
from compat.port.write.draft import Draft
from compat.port.write.names import global_name


def in_lua(node: s.Function, draft: Draft) -> str:
    """Return a function in Lua, with the names that it takes from the file, and its place there.

    A name that is another one in Python is ``lua=python``.
    """
    reason = draft.in_lua[node]
    if reason:
        draft.page.mark(f"this function runs in Lua: {reason}", "lua")
    else:
        draft.page.mark(REASON, "attempts")
    before, names = [], []
    known = "globals()"
    inner = draft.file.scopes.of_function[node]
    for variable in sorted(inner.used, key=lambda v: str(v.id)):
        path = draft.types.aliases.get(variable)
        python = global_name(variable) if variable.is_global else str(variable.python)
        if path is not None:
            package, _, rest = path.partition(".")
            field = f".{rest}" if rest else ""
            is_package = package in PACKAGES or (not rest and package not in draft.types.classes)
            found = f"require '{package}'{field}" if is_package else path
            before.append(f"local {variable.id} = {found}")
        elif not variable.is_global or (variable.writes and variable not in draft.shared):
            names.append(variable.id if python == variable.id else f"{variable.id}={python}")
            if len(variable.writes) == 1 and not variable.is_global:
                before.append(f"local {variable.id} = {variable.id}")  # in errors it is no global
            if variable.scope not in (None, draft.file.scopes.file):
                known = f"{known}, {python}={python}"
    source = draft.file.source[node.start : node.end].decode("latin-1")
    body = source[source.index(")", source.index("(")) + 1 :]
    parameters = ", ".join([name.id for name in node.parameters] + ["..."] * node.is_vararg)
    text = text_of(" ".join([*before, f"return function({parameters}){body}"]))
    if "\n" not in text:
        shown = quoted(text)
    elif re.search(r'"""|\\', text) or not re.sub(r"[\n\t]", "", text).isprintable():
        shown = repr(text)
    else:
        shown = f'"""{text}"""'
    known = known if known == "globals()" else f"dict({known})"
    place = f"{PurePath(draft.file.path).name}:{node.line}"
    return f'lua.function({shown}, {known}, {quoted(" ".join(names))}, "{place}")'
