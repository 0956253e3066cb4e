"""Loops, conditions and returns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compat.port.know.form.cuts import cut
from compat.port.know.form.shapes import captures, first_labels
from compat.port.know.scopes import Variable
from compat.port.know.structures import Table
from compat.port.know.types import Kind
from compat.port.library import strings
from compat.port.read import syntax as s
from compat.port.read.syntax import PortError
from compat.port.write import code
from compat.port.write.assignments import is_there
from compat.port.write.code import Code
from compat.port.write.draft import Draft, statement
from compat.port.write.imports import returned
from compat.port.write.logic import truth
from compat.port.write.names import box, name_of
from compat.port.write.places import place

_ITERATORS = {
    *("string.gmatch", "io.lines", "lfs.dir"),
    *("paths.iterfiles", "paths.iterdirs", "paths.files", "paths.dir"),
}


@statement(s.Scope)
def scope(node: s.Scope, draft: Draft) -> None:
    """``do``."""
    draft.body(node.body)


@statement(s.While)
def while_(node: s.While, draft: Draft) -> None:
    """``while``."""
    condition = truth(node.condition, draft)
    draft.page.write(f"while {condition}:")
    _loop(node.body, draft)


def _loop(
    block: s.Block, draft: Draft, ending: s.Node | None = None, names: Sequence[s.Name] = ()
) -> None:
    """Write the body of a loop."""
    labels: dict[str, str | s.Node | None] = dict.fromkeys(first_labels(draft.behind), "break")
    draft.loops.append(labels | dict.fromkeys(first_labels(block.statements[::-1]), ending))
    with draft.page.indented():
        box(names, draft)
        draft.body(block)
        if ending is not None:
            _until(ending, draft)
    draft.loops.pop()


def _until(ending: s.Node, draft: Draft) -> None:
    """Write what ``until`` does."""
    draft.page.write(f"if {truth(ending, draft)}:")
    with draft.page.indented():
        draft.page.write("break")


@statement(s.Repeat)
def repeat(node: s.Repeat, draft: Draft) -> None:
    """``repeat``: an endless loop that ``until`` ends."""
    draft.page.write("while True:")
    _loop(node.body, draft, node.condition)


@statement(s.If)
def if_(node: s.If, draft: Draft) -> None:
    """``if``; nothing where nothing is left of it."""
    start = len(draft.page.lines)
    _clauses(node, draft)
    lines = [line.text for line in draft.page.lines[start:]]
    if lines[1:3] == ["pass", "else:"] and not any(n.comment for n in draft.page.lines[start:][:3]):
        text = lines[0].removeprefix("if ").removesuffix(":")
        level = code.NOT if text.startswith("not ") else code.COMPARE
        level = code.LAMBDA if re.search(r"\b(and|or|if)\b", text) else level
        draft.page.lines[start].text = f"if {code.negated(Code(text, level))}:"
        del draft.page.lines[start + 1 : start + 3]
        return
    if lines[1:] == ["pass"] and not draft.page.marks and re.fullmatch(r"if [^(\[]+:", lines[0]):
        del draft.page.lines[start:]  # nothing is left of it, as of collectgarbage()


def _clauses(node: s.If, draft: Draft) -> None:
    clauses = [*node.clauses]
    while (inner := _only_if(*clauses[-1])) is not None:
        clauses[-1:] = inner.clauses
    for i, (condition, block) in enumerate(clauses):
        if condition is None:
            draft.page.write("else:")
        else:
            draft.page.write(f"{'elif' if i else 'if'} {truth(condition, draft)}:")
        with draft.page.indented():
            draft.body(block)


def _only_if(condition: s.Node | None, block: s.Block) -> s.If | None:
    """Return the ``if`` that is all that stands behind ``else``: Python has ``elif``."""
    only = block.statements[0] if condition is None and len(block.statements) == 1 else None
    if not isinstance(only, s.If) or only.before or only.after or block.ending:
        return None
    first, _ = only.clauses[0]
    parts = s.walk(first) if first is not None else []
    return None if any(isinstance(n, s.Function) for n in parts) else only


@statement(s.ForRange)
def for_range(node: s.ForRange, draft: Draft) -> None:
    """``for i = first, last, step``."""
    shortened = cut(node)
    if shortened is not None and draft.types.type(shortened).is_list():
        draft.page.write(f"del {draft.value(shortened).atom}[{place(node.first, draft)}:]")
        return
    first, last = draft.types.type(node.first), draft.types.type(node.last)
    step = node.step
    step_is_int = step is not None and draft.types.type(step).is_int
    variable = node.name.variable
    name = str(variable.python)
    if not variable.reads and len(variable.writes) == 1:
        name = "_"
    whole = _whole(node, draft)
    a, b = draft.prefix(node.first), draft.prefix(node.last)
    if first.is_int and whole is not None and (step is None or _constant_int(step)):
        by = _constant_int(step) if step is not None else 1
        assert by is not None
        if whole:
            b = code.call(whole if by > 0 else whole.replace("floor", "ceil"), b)
        variable.zero_based = by == 1 and a.text == "1" and _only_index(node, draft)
        if variable.zero_based or (name == "_" and a.text == "1" and by == 1):
            over = code.call("range", b)
        else:
            stop = code.plus(b, 1 if by > 0 else -1)
            start = [] if a.text == "0" and by == 1 else [a]
            over = code.call("range", *start, stop, *([str(by)] if by != 1 else []))
    elif first.is_int and last.is_int and a.text == "1" and step is not None and step_is_int:
        # From 1 on there is nothing to do for a step that leads down.
        over = code.call("range", a, code.plus(b, 1), draft.value(step))
    else:
        extra = [draft.value(step)] if step is not None else []
        over = code.call("lua.range", a, b, *extra)
    draft.page.write(f"for {name} in {over}:")
    _loop(node.body, draft, names=[node.name])


def _whole(node: s.ForRange, draft: Draft) -> str | None:
    """Return what makes an int of the last number of a loop; None where it may be none."""
    last = draft.types.type(node.last)
    if last.is_int or draft.types.is_whole(node.last):
        return ""
    facts = draft.types.facts.get((draft.file.path, node.last.start, node.last.end))
    if facts and all(f == "int" for f in facts):
        return "int"
    if last.is_number and facts is None:
        is_fixed = isinstance(node.last, s.Constant)
        return "math.floor" if not is_fixed and s.describe(node.last) != "math.huge" else None
    return "math.floor" if last.is_number else None


def _only_index(node: s.ForRange, draft: Draft) -> bool:
    """Return whether a loop's number is nothing but an index of lists and tensors."""
    variable = node.name.variable
    uses = 0
    for part in s.walk(node.body):
        if not isinstance(part, s.Index):
            continue
        kind = draft.types.type(part.object)
        is_full = kind.is_list() and Kind.NIL not in draft.types.type(part).atoms
        is_plain = kind.is_tensor or is_full
        if isinstance(part.key, s.Name) and part.key.variable is variable and is_plain:
            uses += 1
        if isinstance(part.key, s.Table) and kind.is_tensor:
            for entry in part.key.fields:
                inner = entry.value.fields if isinstance(entry.value, s.Table) else [entry]
                uses += sum(
                    isinstance(f.value, s.Name) and f.value.variable is variable for f in inner
                )
    written = any(
        isinstance(t, s.Index)
        and isinstance(t.key, s.Name)
        and t.key.variable is variable
        and not draft.types.type(t.object).is_tensor
        and not is_there(t, draft)
        for n in s.walk(node.body)
        if isinstance(n, s.Assign)
        for t in n.targets
    )
    return uses == len(variable.reads) > 0 and len(variable.writes) == 1 and not written


@statement(s.ForEach)
def for_each(node: s.ForEach, draft: Draft) -> None:
    """``for … in``."""
    names = []
    for name in node.names:
        python = str(name.variable.python)
        is_plain = _is_used(name) or python.startswith("_")
        names.append(python if is_plain else f"_{python}")
    over = _iterated(node, names, draft)
    draft.page.write(f"for {', '.join(names)} in {over}:")
    _loop(node.body, draft, names=node.names)


def _is_used(name: s.Name) -> bool:
    return bool(name.variable.reads) or len(name.variable.writes) > 1


def _iterated(node: s.ForEach, names: list[str], draft: Draft) -> Code:
    first = node.values[0]
    path = None
    if isinstance(first, s.Call) and len(node.values) == 1:
        path = draft.types.dotted(first.function) if first.method is None else None
        if path in ("ipairs", "pairs") and len(first.arguments) == 1:
            return _over_table(first.arguments[0], path, node, names, draft)
        if path in _ITERATORS or first.method in ("gmatch", "lines"):
            functions = {"paths.iterfiles": "lua.iterfiles", "paths.iterdirs": "lua.iterdirs",
                         "paths.files": "lua.files", "lfs.dir": "lua.dir"}  # fmt: skip
            if path in functions:
                return code.call(functions[path], *draft.arguments(first))
            if "gmatch" not in (path or first.method or ""):
                return draft.value(first)
            if captures(first.arguments[-1]) != len(names):
                return code.call("lua.iterate", str(len(names)), draft.value(first))
            return strings.each_match(first, draft) or draft.value(first)
    made = draft.values(node.values)
    return code.call("lua.iterate", str(len(names)), *made)


def _over_table(table: s.Node, path: str, node: s.ForEach, names: list[str], draft: Draft) -> Code:
    kind = draft.types.type(table)
    shape = kind.shape
    draft.page.resolve(draft.how(table) if kind.atoms else "open")
    if draft.types.dotted(table) == "_G":
        draft.page.mark("pairs(_G) has the files' local variables, too", "globals")
        return Code("lua.variables(globals()).items()")
    owner = draft.value(table)
    is_split = isinstance(table, s.Call) and table.method in ("split", "chunk")
    if is_split and owner.text.startswith("list("):
        owner = Code(owner.text[5:-1])
    is_value_read = len(node.names) == 2 and _is_used(node.names[1])
    no_key = not node.names[0].variable.reads and is_value_read
    if len(names) == 2 and not is_value_read:
        names.pop()
    is_plain = shape is not None and "meta" not in shape.uses and not shape.is_either
    plain = shape if is_plain and kind.only(Kind.TABLE) else None
    last = table.fields[-1].value if isinstance(table, s.Table) and table.fields else table
    has_holes = shape is not None and (Kind.NIL in shape.items.atoms or isinstance(last, s.Vararg))
    if plain is not None and plain.is_list and not has_holes:
        if no_key:
            del names[0]
            return owner
        if len(names) == 1:
            return Code(f"range(1, len({owner}) + 1)")
        return code.call("enumerate", owner, "1")
    if kind.only(Kind.SIZES):
        return code.call("enumerate", owner, "1")
    is_dict = plain is not None and plain.is_dict and bool(plain.keys or plain.names)
    is_full = shape is None or "lacking" not in shape.uses
    is_full = is_full and bool(not draft.types.mixins or (shape and shape.made))  # else a class
    if kind.only(Kind.OPTIONS):
        is_full = is_full and (shape is None or "deleted" not in shape.uses)  # it has None then
    own = node.names[0].variable
    is_deleted = is_dict and plain is not None and "deleted" in plain.uses
    is_live = is_deleted and plain is not None and _changes(node.body, plain, own, draft, set())
    if path == "pairs" and is_full and not is_live and (is_dict or kind.only(Kind.OPTIONS)):
        no_key = no_key and is_dict
        if no_key:
            del names[0]
        part = ".values()" if no_key else ".items()" if len(names) > 1 else ""
        inner = Code(f"{owner.atom}{part}") if part else owner
        return code.call("list", inner) if is_deleted else inner
    if not kind.atoms:
        draft.unknown(table, "loops")
    names += ["_"] * (len(names) == 1)
    return code.call(f"lua.{path}", owner)


def _changes(
    part: s.Node, shape: Table, own: Variable | None, draft: Draft, seen: set[s.Node]
) -> bool:
    """Return whether code, or what it calls, sets entries of a table other than that of ``own``."""
    seen.add(part)
    for node in s.walk(part):
        targets = node.targets if isinstance(node, s.Assign) else []
        others = (t for t in targets if getattr(getattr(t, "key", None), "variable", 0) is not own)
        if any(
            isinstance(t, s.Index) and draft.types.owner(t.object).shape is shape for t in others
        ):
            return True
        called = draft.types.called(node) if isinstance(node, s.Call) else []
        bodies = {function.body for signature in called for function in signature.nodes}
        if any(_changes(body, shape, None, draft, seen) for body in bodies - seen):
            return True
    return False


@statement(s.Return)
def return_(node: s.Return, draft: Draft) -> None:
    """``return``, of a file what others import."""
    if draft.scope is draft.file.scopes.file:
        _file_result(node, draft)
        return
    if not node.values:
        text = ", ".join(["None"] * draft.result_count)
        draft.page.write("return ()" if draft.gives_any else f"return {text}")
        return
    if draft.is_constructor:  # Torch7 asks for no results
        for value in node.values:
            if not isinstance(value, (s.Name, s.Constant)):
                draft.page.write(draft.value(value).text)
        draft.page.write("return")
        return
    draft.page.write(f"return {_results(node, draft)}")


def _results(node: s.Return, draft: Draft) -> str:
    """Return all that it gives, as many values as the function gives elsewhere."""
    count = draft.result_count
    last = node.values[-1]
    own = draft.types.count(last)
    if len(node.values) > 1:
        values = [m.text for m in draft.values(node.values)]
        missing = 0 if values[-1].startswith("*") else count - len(node.values) + 1 - (own or 1)
        text = ", ".join(values + ["None"] * missing)
        if own is None and len(values) == 2:  # it may be one value
            return f"lua.results(({text}))"
        return text if count != 1 else f"lua.first(({text}))"
    made = draft.any(last, "f")
    if made.tells:
        draft.tell()
    text = made.text
    if text.startswith("*"):
        text = f"lua.results({text[1:]})"
    elif made.pair:
        text = made.every
    elif made.every.startswith("("):
        text = made.every[1:-1]
    elif made.every and own is None:
        call = made.all_results
        text = call if call != made.every else f"lua.results({call})"
    elif own is not None and own < count > 1:
        values = [f"*{made.every or made.atom}" if own > 1 else text]
        text = ", ".join(values + ["None"] * (count - max(own, 1)))
    elif made.every and own is not None and own > 1:
        text = made.every
    elif own == 0 and isinstance(last, s.Call) and count == 0:
        draft.page.write(text)
        text = "()" if draft.gives_any else ""
    return text


def _file_result(node: s.Return, draft: Draft) -> None:
    only = node.values[0] if len(node.values) == 1 else None
    if isinstance(only, s.Name) and returned(draft.file) not in ("exports", None):
        draft.exports = name_of(only, draft)
        if draft.file in draft.types.clues.computed and draft.exports != "exports":
            draft.page.write(f"exports = {draft.exports}")
        return
    if node.values:
        draft.exports = "exports"
        is_one = not draft.file.gives_several
        draft.result_count = draft.file.gives.count or 0
        made = draft.value(only, "exports").text if is_one and only else _results(node, draft)
        if made != "exports":
            draft.page.write(f"exports = {made}")
    else:
        draft.page.write("sys.exit()" if draft.file.is_script else "pass")


@statement(s.Jump)
def jump(node: s.Jump, draft: Draft) -> None:
    """``break`` and ``goto``: ``continue`` where the label ends the loop, ``break`` where it
    follows, ``return`` where it ends the function.
    """
    ending = draft.loops[-1].get(node.label, "") if draft.loops and node.label else ""
    if node.label is None or ending == "break":
        draft.page.write("break")
    elif ending != "":
        if isinstance(ending, s.Node):
            _until(ending, draft)
        draft.page.write("continue")
    elif node.label in draft.last_labels:
        return_(s.Return([]), draft)
    else:
        raise PortError("Python has no goto")


@statement(s.Label)
def label(_node: s.Label, _draft: Draft) -> None:
    """Write nothing: Python has no labels."""
    pass


def _constant_int(node: s.Node) -> int | None:
    if isinstance(node, s.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, s.Unary) and node.operator == "-":
        inner = _constant_int(node.operand)
        return -inner if inner is not None else None
    return None
