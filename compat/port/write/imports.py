"""Calls, those that load files among them, and the imports that they become."""

from __future__ import annotations

from compat.port.know.files import File
from compat.port.know.shapes import required
from compat.port.read import syntax as s
from compat.port.write.code import Code
from compat.port.write.draft import NONE, Draft

_BRING_NN = {"nn", "nngraph", "cunn", "rnn", "dpnn", "cudnn", "nnx"}


def import_as(node: s.Local, draft: Draft) -> bool:
    """``local name = require 'file'``: an import under this name."""
    if len(node.names) != 1 or len(node.values) != 1 or draft.scope is not draft.file.scopes.file:
        return False
    variable = node.names[0].variable
    call = node.values[0]
    file = draft.types.file_of(call) if isinstance(call, s.Call) else None
    result = returned(file) if file is not None and required(call) is not None else None
    if file is None or result is None or len(variable.writes) != 1:
        return False
    name = str(variable.python)
    text = f"from {file.module} import {result}"
    draft.modules.add(text if name == result else f"{text} as {name}")
    return True


def first_nn(name: str, draft: Draft) -> None:
    """``require 'nn'`` draws four random numbers in Lua, which counts after a seed."""
    if name in _BRING_NN and not draft.has_nn:
        draft.has_nn = True
        if draft.is_seeded:
            draft.page.write("for _ in range(4):  # as require 'nn' does in Lua")
            with draft.page.indented():
                draft.page.write("torch7.random()")


def imported(node: s.Call, draft: Draft) -> Code:
    """``require`` or ``dofile`` of a file of the program."""
    file = draft.types.file_of(node)
    assert file is not None
    result = returned(file)
    if result is None:
        draft.page.write(f'importlib.import_module("{file.module}")')
        return NONE
    name = result
    taken = {v.python for v in draft.visible()} | {v.id for v in file.scopes.globals.values()}
    own = file.module.replace(".", "_")
    is_taken = result in taken and not _names_import(result, draft)
    other = any(
        line.endswith(f" import {result}") and f" {file.module} " not in line
        for line in draft.modules
    )
    if result == "exports" or is_taken or other:
        name = f"{own}_{result}" if result == "exports" or other else f"{own}_"
    text = f"from {file.module} import {result}"
    text = text if name == result else f"{text} as {name}"
    is_later = draft.scope is not draft.file.scopes.file and _leads_back(file, draft)
    if is_later or _reads_what_is_set(file, draft):
        draft.page.write(text)  # at its place; in a function, both files are there when it runs
    else:
        draft.modules.add(text)
    return Code(name)


def _leads_back(file: File, draft: Draft) -> bool:
    """Whether a file loads the one that is written, itself or by others."""
    return draft.file in _loaded(file, draft)


def _reads_what_is_set(file: File, draft: Draft) -> bool:
    """Whether a file, or one that it loads, reads global variables that this one sets before."""
    own = draft.file.scopes.written_globals
    return any(own & part.scopes.read_globals for part in _loaded(file, draft))


def _loaded(file: File, draft: Draft) -> list[File]:
    """A file and all that it loads, itself or by others."""
    by_path = {other.path: other for other in draft.types.files}
    found, waiting = [], [file]
    while waiting:
        part = waiting.pop()
        if part not in found:
            found.append(part)
            waiting += [by_path[path] for path in part.loads.values() if path in by_path]
    return found


def load(file: File, draft: Draft, at_once: bool) -> None:
    """Load a file for what it does; one that makes classes with all that are imported."""
    if at_once or all(k.module != file.module for k in draft.types.classes.values()):
        draft.page.write(f'importlib.import_module("{file.module}")')
    else:
        draft.loaded.append(file.module)


def loads(draft: Draft) -> set[str]:
    """The imports of files that nothing else is taken from."""
    return {
        f"import {module}  # noqa: F401"
        for module in draft.loaded
        if not any(line.startswith(f"from {module} import ") for line in draft.modules)
    }


def _names_import(name: str, draft: Draft) -> bool:
    """Whether a variable of the file only names what an import brings under its name."""
    found = [v for v in draft.file.scopes.file.variables if v.python == name]
    return len(found) == 1 and len(found[0].writes) == 1


def returned(file: File) -> str | None:
    """The name of what a file returns."""
    last = file.block.statements[-1] if file.block.statements else None
    if not isinstance(last, s.Return) or not last.values:
        return None
    value = last.values[0]
    if len(last.values) == 1 and isinstance(value, s.Name) and not value.variable.is_global:
        return str(value.variable.python)
    return "exports"
