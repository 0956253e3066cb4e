"""Calls, those that load files among them, and the imports that they become."""

from __future__ import annotations

import re

from compat.port.know.files import File
from compat.port.know.form.file_names import required
from compat.port.know.form.shapes import own_returns
from compat.port.know.questions.loading import only_defines
from compat.port.know.scopes import RUN, Variable
from compat.port.know.types import Kind
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.heads import IMPORTS

_BRING_NN = {"nn", "nngraph", "cunn", "rnn", "dpnn", "cudnn", "nnx"}


def import_as(node: s.Local, draft: Draft) -> bool:
    """``local name = require 'file'``, or ``dofile``: an import under this name."""
    if len(node.names) != 1 or len(node.values) != 1:
        return False
    variable = node.names[0].variable
    call = node.values[0]
    file = draft.types.file_of(call) if isinstance(call, s.Call) else None
    result = None if file is None else returned(file)
    if file is None or result is None or file.gives_several:
        return False
    if required(call) is None and not file.gives.counts <= {1}:
        return False
    if len(variable.writes) != 1 or _runs_again(call, draft):
        return False
    if draft.scope is draft.file.scopes.file:
        if _is_other_before(variable, file, draft):
            return False
        bring(file, result, str(variable.python), draft)
    elif _is_at_top(file, draft):
        return False
    else:
        first_nn(_nn_of(file, draft, {draft.file}), draft)
        _write_behind(_import(file, result, str(variable.python)), draft)
    return True


def _is_other_before(variable: Variable, file: File, draft: Draft) -> bool:
    """Return whether the name of a variable of the file stands for something else, too."""
    others = [v for v in draft.file.scopes.file.variables if v.python == variable.python]
    sources = draft.types.clues.sources
    values = [value for v in others if v is not variable for value in sources.get(v, [None])]
    return any(not isinstance(v, s.Call) or draft.types.file_of(v) is not file for v in values)


def bring(file: File, name: str, known_as: str, draft: Draft) -> None:
    """Import a name of another file: at the top, or where Lua loads it if that matters."""
    first_nn(_nn_of(file, draft, {draft.file}), draft)
    text = _import(file, name, known_as)
    draft.names[known_as] = text
    is_inside = draft.scope is not draft.file.scopes.file
    if _is_at_top(file, draft):
        draft.modules.add(text)
    elif is_inside or draft.page.indent:
        _write_behind(text, draft)
    elif text not in draft.placed:
        draft.placed.add(text)
        _write_behind(f"{text}  # noqa: E402", draft)


def _import(file: File, name: str, known_as: str) -> str:
    text = f"from {file.module} import {name}"
    return text if name == known_as else f"{text} as {known_as}"


def _is_there(text: str, draft: Draft) -> bool:
    """Return whether a function has had an import wherever it has come to now, and the name has
    become nothing else since.
    """
    least, name = draft.page.indent, text.split()[-1]
    other = re.compile(rf"(?<![.\w]){name}\b(?![.(\[])|def {name}\b")
    for line in reversed(draft.page.lines):
        if line.indent < least and line.text.startswith(("def ", "class ")):
            return False
        least = min(least, line.indent)
        if line.text == text and line.indent <= least:
            return True
        if line.text != text and other.search(line.text):
            return False
    return False


def _write_behind(text: str, draft: Draft) -> None:
    """Write an import; where another stands before it, ruff would sort both by their names."""
    if _is_there(text, draft):
        return
    lines = (line.text for line in reversed(draft.page.lines) if not line.text.startswith("#"))
    before = next(filter(None, lines), "")
    if before.startswith("from ") and before.split()[1].lower() > text.split()[1].lower():
        draft.page.write("# isort: split")
    draft.page.write(text)


def first_nn(name: str | None, draft: Draft) -> None:
    """``require 'nn'`` draws four random numbers in Lua, which counts after a seed."""
    if name not in _BRING_NN or draft.has_nn:
        return
    draft.has_nn = not draft.page.indent  # if opt.gpu then require 'cunn'
    if not draft.is_seeded:
        return
    if draft.has_nn and not draft.may_have_nn:
        draft.page.write("for _ in range(4):  # as require 'nn' does in Lua")
        with draft.page.indented():
            draft.page.write("torch7.random()")
    else:
        draft.page.write("lua.draw_for_nn()")
        draft.may_have_nn = True


def _nn_of(file: File, draft: Draft, seen: set[File]) -> str | None:
    """Return the package by which a file, or one that it loads, brings nn."""
    seen.add(file)
    for node in file.block.statements:
        value = node.call if isinstance(node, s.Do) else None
        value = node.values[0] if isinstance(node, (s.Local, s.Assign)) and node.values else value
        if (name := required(value)) in _BRING_NN:
            return name
    others = [f for f in draft.types.files if f.path in file.loads.values() and f not in seen]
    return next(filter(None, (_nn_of(other, draft, seen) for other in others)), None)


def imported(node: s.Call, draft: Draft) -> Code:
    """``require`` or ``dofile`` of a file of the program."""
    file = draft.types.file_of(node)
    assert file is not None
    result = returned(file)
    is_run = draft.types.dotted(node.function) in RUN
    is_one = file.gives.counts <= {1} and result is not None
    count = draft.types.known_count(node) if is_run and not is_one else 1
    if _runs_again(node, draft):
        missing = ["()"] if count is None else []
        name = f'"{result or "exports"}"'
        made = code.call("lua.run_again", f'"{file.module}"', name, *missing)
        return Code(made.text, spread=count)
    if result is None:
        draft.page.write(f'importlib.import_module("{file.module}")')
        return Code("None", spread=0) if is_run else Code("True")
    name = result
    taken = {v.python for v in draft.visible()} | {v.id for v in file.scopes.globals.values()}
    own = file.module.replace(".", "_")
    is_taken = result in taken and not _names_import(result, draft)
    other = not draft.names.get(result, f"from {file.module} ").startswith(f"from {file.module} ")
    if result == "exports" or is_taken or other:
        name = f"{own}_{result}" if result == "exports" or other else f"{own}_"
    bring(file, result, name, draft)
    is_first = file.gives_several and not is_run
    return code.call("lua.first", name) if is_first else Code(name, spread=count)


def _is_at_top(file: File, draft: Draft) -> bool:
    """Return whether a file may be imported at the top; not one that a function loads, and that
    loads this file: when the function runs, both are there.
    """
    is_inside = draft.scope is not draft.file.scopes.file
    return only_defines(file, draft.types) and not (is_inside and _leads_back(file, draft))


def _leads_back(file: File, draft: Draft) -> bool:
    """Return whether a file loads the one that is written, itself or by others."""
    by_path = {other.path: other for other in draft.types.files}
    seen, waiting = set(), [file]
    while waiting:
        found = waiting.pop()
        if found is draft.file:
            return True
        if found.path not in seen:
            seen.add(found.path)
            waiting += [by_path[path] for path in found.loads.values() if path in by_path]
    return False


def _runs_again(node: s.Node, draft: Draft) -> bool:
    """Return whether a ``dofile`` is not all that loads its file, or stands in a function or loop:
    what it gives is new. Functions alone are the same each time.
    """
    if not isinstance(node, s.Call) or draft.types.dotted(node.function) not in RUN:
        return False
    file = draft.types.file_of(node)
    if file is None or _is_same_each_time(file, draft):
        return False
    is_inside = bool(draft.loops) or draft.scope is not draft.file.scopes.file
    calls = [c for c in s.walk(draft.file.block) if isinstance(c, s.Call)]
    loads = [c for c in calls if draft.types.file_of(c) is file]
    others = (f for f in draft.types.files if f is not draft.file and draft.file.shares_with(f))
    return is_inside or len(loads) > 1 or any(file.path in f.loads.values() for f in others)


def _is_same_each_time(file: File, draft: Draft) -> bool:
    """Return whether all that a file makes is functions, and a table of them that it returns, and
    nobody changes a variable or field of it later.
    """
    shape, given = file.value.shape, {returned(file)}
    made = [] if shape is None else [shape.items, *shape.names.values()]
    if any(kind.atoms - {Kind.FUNCTION} for kind in made) or _is_changed(file, draft):
        return False
    for node in file.block.statements:
        if isinstance(node, s.Local):
            for name, value in zip(node.names, node.values, strict=False):
                is_empty = isinstance(value, s.Table) and not value.fields
                is_own = is_empty and name.variable.python in given
                is_fixed = isinstance(value, (s.Function, s.Constant)) or required(value)
                if not (is_fixed or is_own):
                    return False
        elif isinstance(node, s.Assign):
            if not all(isinstance(value, s.Function) for value in node.values):
                return False
        elif not (isinstance(node, (s.Define, s.Return)) or required(getattr(node, "call", node))):
            return False
    return True


def _is_changed(file: File, draft: Draft) -> bool:
    """Return whether a function sets a variable of a file, or anybody else a field of what it
    returns.
    """
    writes = (scope for v in file.scopes.file.variables for _, scope in v.writes)
    if any(scope is not file.scopes.file for scope in writes):
        return True
    shape = file.value.shape
    for node in (node for other in draft.types.files for node in s.walk(other.block)):
        targets = node.targets if isinstance(node, s.Assign) else [getattr(node, "target", None)]
        owners = [target.object for target in targets if isinstance(target, s.Index)]
        is_later = node not in file.block.statements and shape is not None
        if is_later and any(draft.types.type(owner).shape is shape for owner in owners):
            return True
    return False


def load(file: File, node: s.Call, draft: Draft) -> None:
    """Load a file for what it does."""
    first_nn(_nn_of(file, draft, {draft.file}), draft)
    if _runs_again(node, draft):
        draft.page.write(f'lua.run_again("{file.module}")')
    elif _is_at_top(file, draft):
        draft.loaded.add(file.module)
    else:
        draft.page.write(f'importlib.import_module("{file.module}")')


def loads(draft: Draft) -> set[str]:
    """Return the imports of files that nothing else is taken from; ``import utils.functions`` would
    hide a package ``utils``.
    """
    taken = {text.split()[1] for text in draft.modules}
    names = {text.split()[-1] for text in draft.modules} | set(IMPORTS)
    texts = {
        m: f" as {m.replace('.', '_')}" if m.split(".")[0] in names else "" for m in draft.loaded
    }
    return {f"import {m}{texts[m]}  # noqa: F401" for m in draft.loaded - taken}


def _names_import(name: str, draft: Draft) -> bool:
    """Return whether a variable of the file only names what an import brings under its name."""
    found = [v for v in draft.file.scopes.file.variables if v.python == name]
    return len(found) == 1 and len(found[0].writes) == 1


def returned(file: File) -> str | None:
    """Return the name of what a file returns."""
    found = [node for node in own_returns(file.block) if node.values]
    if not found:
        return None
    value = found[0].values[0]
    is_only = len(found) == 1 and file.block.statements[-1] is found[0]
    is_one = is_only and len(found[0].values) == 1
    if is_one and isinstance(value, s.Name) and not value.variable.is_global:
        return str(value.variable.python)
    return "exports"
