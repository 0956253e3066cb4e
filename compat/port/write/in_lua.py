"""Functions that have no draft: their Lua, for the runtime behind drafts."""

from __future__ import annotations

from compat.port.know.scopes import PACKAGES
from compat.port.read import syntax as s
from compat.port.write.code import quoted, text_of
from compat.port.write.draft import Draft
from compat.port.write.names import global_name


def source_of(node: s.Function, draft: Draft) -> tuple[str, str]:
    """The literals of a function's Lua and of the names that it takes from the file.

    A name that is another one in Python is ``lua=python``.
    """
    before, names = [], []
    for variable in sorted(draft.file.scopes.of_function[node].used, key=lambda v: str(v.id)):
        path = draft.types.aliases.get(variable)
        python = global_name(variable) if variable.is_global else str(variable.python)
        if path is not None:
            package, _, rest = path.partition(".")
            inner = f".{rest}" if rest else ""
            is_package = package in PACKAGES or (not rest and package not in draft.types.classes)
            found = f"require '{package}'{inner}" if is_package else path
            before.append(f"local {variable.id} = {found}")
        elif not variable.is_global or (variable.writes and variable not in draft.shared):
            names.append(variable.id if python == variable.id else f"{variable.id}={python}")
    source = draft.file.source[node.start : node.end].decode("latin-1")
    body = source[source.index(")", source.index("(")) + 1 :]
    parameters = ", ".join([name.id for name in node.parameters] + ["..."] * node.is_vararg)
    text = text_of("\n".join([*before, f"return function({parameters}){body}"]))
    if '"""' in text or "\\" in text or not text.replace("\n", "").replace("\t", "").isprintable():
        shown = repr(text)
    else:
        shown = f'"""\n{text}\n"""'
    return shown, quoted(" ".join(names))
