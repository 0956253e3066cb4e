"""Statements that declare, assign and call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from compat.lua.finding import come_along
from compat.port.know.form.file_names import required, tried
from compat.port.know.form.shapes import chain_root, length_of
from compat.port.know.questions.loading import only_defines
from compat.port.know.scopes import LOADERS, PACKAGES, SILENT, Variable
from compat.port.know.types import NUMBERS, Kind
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.assignments import assignment, renew, store, store_code, target_of
from compat.port.write.classes import class_made, class_statement, is_deriving
from compat.port.write.code import Code
from compat.port.write.draft import Draft, statement
from compat.port.write.functions import define_function
from compat.port.write.imports import first_nn, import_as, load
from compat.port.write.logic import truth
from compat.port.write.names import box, declared, name_of
from compat.port.write.text import may_be_nil

_NOTHING = {"torch.setheaptracking", "cudnn.fastest"}


@statement(s.Local)
def local(node: s.Local, draft: Draft) -> None:
    """``local names = values``."""
    _declare(node, draft)
    only = node.names[0].variable
    if len(node.names) == len(node.values) == len(only.writes) == 1:
        made = Code(draft.page.lines[-1].text) if draft.page.lines else Code("")
        if isinstance(node.values[0], (s.Index, s.Call)) and may_be_nil(
            node.values[0], made, draft
        ):
            draft.lacking.add(only)
    box(node.names, draft)


def _declare(node: s.Local, draft: Draft) -> None:
    if not node.values:
        names = [
            declared(n, draft)
            for n in node.names
            if (n.variable.boxed or not _is_announced(n, node, draft))
            and (n.variable.reads or len(n.variable.writes) > 1)
        ]
        if not names:
            return
        draft.page.write(" = ".join([*names, "lua.nil"]))  # rules of polish see who needs it
        return
    if _tries(node, draft):
        return
    if len(node.names) == len(node.values):
        pairs = zip(node.names, node.values, strict=True)
        keep = [(n, v) for n, v in pairs if n.variable not in draft.types.aliases]
        for value in node.values if len(keep) < len(node.names) else ():
            name = required(value)
            first_nn(name, draft)
            if name in draft.types.absent:
                draft.page.write(draft.value(value).text)  # an error, where nobody has it
        if not keep:
            return
        node.names, node.values = [n for n, _ in keep], [v for _, v in keep]
    klass = class_made(node, draft)
    if klass is not None:
        class_statement(node, klass, draft)
        return
    if import_as(node, draft):
        return
    if len(node.names) == 1 and isinstance(node.values[0], s.Function) and len(node.values) == 1:
        define_function(declared(node.names[0], draft), node.values[0], draft)
        return
    assignment([declared(n, draft) for n in node.names], list(node.names), node.values, draft)


def _tries(node: s.Local | s.Assign, draft: Draft) -> bool:
    """Write ``local ok, name = pcall(require, 'name')`` of what is there, or not."""
    package = tried(node) if 1 <= len(node.targets) <= 2 else None
    if package is None:
        return False
    call, first, last = node.values[0], node.targets[0], node.targets[-1]
    assert isinstance(call, s.Call) and isinstance(first, s.Name) and isinstance(last, s.Name)
    loads = replace(call, function=call.arguments[0], arguments=call.arguments[1:])
    file = draft.types.file_of(loads)
    if file is not None and not only_defines(file, draft.types):
        return False  # loading it may fail
    has = file is not None or package in come_along()
    if last is first and (file is not None or not has):
        return False
    named = declared if isinstance(node, s.Local) else name_of
    target = named(first, draft)
    if last is first or last.variable in draft.types.aliases:
        first_nn(package if has else None, draft)
        draft.page.write(f"{target} = {has}", f"{package} is {'' if has else 'not '}here")
    elif not has:
        told = named(last, draft)
        draft.page.write(f"{target}, {told} = False, \"module '{package}' not found\"")
    else:
        draft.page.write(f"{target} = True")
        if isinstance(node, s.Local):
            _declare(replace(node, names=[last], values=[loads]), draft)
        else:
            assign(replace(node, targets=[last], values=[loads]), draft)
    return True


def _is_announced(name: s.Name, node: s.Local, draft: Draft) -> bool:
    """Return whether a variable is a function that a statement further down defines."""
    block = next(
        b for b in s.walk(draft.file.block) if isinstance(b, s.Block) and node in b.statements
    )
    uses = [n for n, _ in (*name.variable.reads, *name.variable.writes) if n is not name]
    for later in block.statements:
        target = later.target if isinstance(later, s.Define) else None
        if isinstance(later, s.Assign) and isinstance(later.values[0], s.Function):
            target = later.targets[0]
        if isinstance(target, s.Name) and target.variable is name.variable:
            return len(name.variable.writes) == 2 and all(n.start >= later.start for n in uses)
    return False


@statement(s.Assign)
def assign(node: s.Assign, draft: Draft) -> None:
    """``targets = values``."""
    target = node.targets[0]
    if isinstance(target, s.Index) and draft.types.dotted(target.object) == "package":
        return  # package.path: the program's files are found already
    if _tries(node, draft):
        return
    klass = class_made(node, draft)
    if klass is not None:
        is_index = isinstance(node.targets[0], s.Index)
        if not is_index:
            class_statement(node, klass, draft)
        return
    if len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, s.Name) and target.variable in draft.types.aliases:
            return
        if isinstance(target, s.Index):
            store(target, node.values, draft)
            return
        if isinstance(node.values[0], s.Function) and isinstance(target, s.Name):
            name = name_of(target, draft)
            if "." not in name:
                define_function(name, node.values[0], draft)
                return
    node = _names_last(node)
    keys: dict[s.Node, str] = {}  # of tables that the statement makes longer
    for target in node.targets:
        if isinstance(target, s.Index) and any(map(length_of, s.walk(target.key))):
            keys[target] = f"key_{len(keys) + 1}"
            draft.page.write(f"{keys[target]} = {draft.value(target.key)}")
    places = [None if t in keys else _place_of(t, draft) for t in node.targets]
    waiting = [t for t, place in zip(node.targets, places, strict=True) if place is None]
    if waiting and not keys and _are_apart(node):
        for target, value in s.assigned(node):
            assign(replace(node, targets=[target], values=[value]), draft)
        return
    used = _variables(waiting)
    late: list[tuple[str, s.Node]] = []
    for i, target in enumerate(node.targets):
        # Lua knows all places before it changes a variable that is in one of them.
        if places[i] is None or (isinstance(target, s.Name) and target.variable in used):
            late.append((f"value_{len(late) + 1}", target))
            places[i] = late[-1][0]
    assignment(list(filter(None, places)), node.targets, node.values, draft)
    for name, target in sorted(late, key=lambda pair: isinstance(pair[1], s.Name)):
        if target in keys and isinstance(target, s.Index):
            draft.page.write(f"lua.put({draft.value(target.object)}, {keys[target]}, {name})")
        elif isinstance(target, s.Index):
            store_code(target, Code(name), draft)
        else:
            assert isinstance(target, s.Name)
            draft.page.write(f"{name_of(target, draft)} = {name}")


def _are_apart(node: s.Assign) -> bool:
    """Return whether entries are set to what stays the same meanwhile: ``t.x, t.y = 1, y``."""
    plain = (s.Constant, s.Name)
    are_entries = all(isinstance(t, s.Index) and isinstance(t.key, plain) for t in node.targets)
    are_values = all(isinstance(v, (*plain, s.Table)) for v in node.values)
    are_new = all(not v.fields for v in node.values if isinstance(v, s.Table))
    return are_entries and are_values and are_new and len(node.values) == len(node.targets)


def _place_of(target: s.Node, draft: Draft) -> str | None:
    """Return what stands for a target; None if it takes a function."""
    if isinstance(target, s.Index):
        return target_of(target, draft)
    assert isinstance(target, s.Name)
    return name_of(target, draft)


@statement(s.Do)
def do(node: s.Do, draft: Draft) -> None:
    """Write a call whose results are not used."""
    call = node.call
    assert isinstance(call, s.Call)
    klass = class_made(node, draft)
    if klass is not None:
        class_statement(node, klass, draft)
        return
    if is_deriving(call, draft):
        return
    path = draft.types.dotted(call.function) if call.method is None else None
    if path in ("torch.manualSeed", "torch.setRNGState") and not draft.loops:
        draft.is_seeded = True
    loaded = draft.types.file_of(call) if path in LOADERS else None
    if loaded is not None:
        load(loaded, call, draft)
        return
    if (name := required(call)) in PACKAGES | {"pl", "nnx", "env", "trepl"}:
        first_nn(name, draft)
        return
    if path == "require" and name in SILENT:
        return
    if name == "argcheck":
        draft.page.mark("argcheck's checks of arguments are left out", "packages")
        return
    if path == "collectgarbage" or path in _NOTHING:
        return
    if path == "error":
        _error(call, draft)
        return
    if path == "torch.setmetatable" and isinstance(call.arguments[0], s.Name):
        draft.page.write(f"{draft.value(call.arguments[0])} = {draft.any(call)}")
        return
    if path == "assert" and call.arguments and not _gives_message(call, draft):
        condition = truth(call.arguments[0], draft)
        told = f", {draft.value(call.arguments[1])}" if len(call.arguments) > 1 else ""
        draft.page.write(f"assert {condition}{told}")
        return
    draft.asked = call
    made = draft.any(call)
    holder = chain_root(call)
    if holder is not call and all(draft.types.type(n).only(Kind.SIZES) for n in (holder, call)):
        renew(holder, made, draft)
        return
    if made.text.startswith("*"):
        made = Code(f"[{made}]")
    if not re.fullmatch(r"[\w.]+|0", made.text):
        draft.page.write(made.text)


def _gives_message(call: s.Call, draft: Draft) -> bool:
    """Return whether a function of the script's gives ``assert`` what it says, too."""
    only = call.arguments[0] if len(call.arguments) == 1 else None
    signatures = draft.types.called(only) if isinstance(only, s.Call) else []
    return any(max(signature.counts, default=0) > 1 for signature in signatures)


def _error(call: s.Call, draft: Draft) -> None:
    if not call.arguments:
        draft.page.write("raise lua.Error(None)")
        return
    kind = draft.types.type(call.arguments[0])
    made = draft.value(call.arguments[0])
    level = s.constant(call.arguments[1]) if len(call.arguments) > 1 else 1
    if kind.is_string and level == 1:
        draft.page.write(f"raise RuntimeError({made})")
    else:
        placed = [draft.value(a) for a in call.arguments[1:2]] or [Code("1")]
        placed = placed if kind.may(Kind.STRING, *NUMBERS) and level != 0 else []
        draft.page.write(f"raise {code.call('lua.Error', made, *placed)}")


def _variables(nodes: Sequence[s.Node]) -> set[Variable]:
    """Return the variables in expressions."""
    return {part.variable for n in nodes for part in s.walk(n) if isinstance(part, s.Name)}


def _names_last(node: s.Assign) -> s.Assign:
    """``i, t[i] = …`` as ``t[i], i = …``: Lua knows where to put values before it puts any."""
    names = {t.variable for t in node.targets if isinstance(t, s.Name)}
    places = [t for t in node.targets if isinstance(t, s.Index)]
    if not names & _variables(places) or len(node.targets) != len(node.values):
        return node
    pairs = sorted(
        zip(node.targets, node.values, strict=True), key=lambda pair: isinstance(pair[0], s.Name)
    )
    targets, values = zip(*pairs, strict=True)
    return replace(node, targets=list(targets), values=list(values))
