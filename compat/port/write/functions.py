"""Functions, as ``def`` and ``lambda``."""

from __future__ import annotations

from collections.abc import Set
from itertools import chain, count

from compat.port.know.form.shapes import first_labels, may_end
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.know.types import NUMBERS, Kind
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.assignments import binds, bound, store_code, target_of
from compat.port.write.code import Code
from compat.port.write.draft import Draft, expression, statement
from compat.port.write.heads import IMPORTS
from compat.port.write.in_lua import in_lua
from compat.port.write.names import global_name, name_of
from compat.port.write.python_names import python_name

# How many arguments nn gives methods, self among them.
_GIVEN = {
    **dict.fromkeys(("accGradParameters", "backward", "accUpdateGradParameters"), 4),
    **dict.fromkeys(("forward", "reset", "updateOutput", "updateParameters"), 2),
    **dict.fromkeys(("type", "updateGradInput"), 3),
}
_SCALED = ("accGradParameters", "backward")  # whose last argument may be a scale, in nn 1
_LONGEST = 72  # of what a lambda computes


@statement(s.Define)
def define(node: s.Define, draft: Draft) -> None:
    """``function name() … end``."""
    function = node.function
    target = node.target
    if isinstance(target, s.Name):
        if node.is_local and target.variable.boxed:
            draft.page.write(f"{target.variable.python} = lua.Box()", "each turn has its own")
        is_plain = node.is_local and not target.variable.boxed
        name = str(target.variable.python) if is_plain else name_of(target, draft)
        if "." in name:
            inner = _free_name(target.id, draft)
            define_function(inner, function, draft)
            draft.page.write(f"{name} = {inner}")
        else:
            define_function(name, function, draft)
        return
    assert isinstance(target, s.Index)
    name = str(target.key.value) if isinstance(target.key, s.Constant) else "f"
    if (klass := draft.types.class_of(target.object)) is not None:
        called_by_nn(name, klass.parent, function, draft)
    place = target_of(target, draft)
    inner = _free_name(name, draft)
    if draft.types.dotted(target.object) is not None:
        draft.patches.add(function)
    is_bound = binds(target, function, draft)
    define_function(inner, function, draft)
    made = bound(Code(inner), target, draft) if is_bound else Code(inner)
    if place is None:
        store_code(target, made, draft)
    else:
        draft.page.write(f"{place} = {made}")


def called_by_nn(name: str, parent: str | None, node: s.Function, draft: Draft) -> None:
    """Let a method of a layer take all that ``nn`` gives it, though its function names less."""
    has_target = name == "updateOutput" and (parent or "").endswith("Criterion")
    if parent and len(node.parameters) < _GIVEN.get(name, 0) + has_target:
        draft.types.signature(node).root().is_hook = True


def _free_name(name: str, draft: Draft, taken: Set[str] = frozenset()) -> str:
    name = python_name(name)
    own = {v.python for v in draft.file.scopes.globals.values() if v not in draft.shared}
    return _other_than(name, {v.python for v in draft.visible()} | own | set(IMPORTS) | taken)


@expression(s.Function)
def function(node: s.Function, draft: Draft, name: str) -> Code:
    """Return a function as an expression: a lambda where it is one expression, else its name."""
    if draft.in_lua.get(node) == "":
        return Code(in_lua(node, draft))
    simple = lambda_of(node, draft)
    if simple is not None:
        return simple
    own = draft.functions.setdefault(draft.scope, set())
    inner = _free_name(draft.hints.get(node, name), draft, own)
    own.add(inner)
    define_function(inner, node, draft)
    return Code(inner)


def lambda_of(node: s.Function, draft: Draft) -> Code | None:
    """Return a function as a lambda; None where it is more than one expression."""
    if len(node.body.statements) > 1 or node.body.ending or node in draft.in_lua:
        return None
    signature = draft.types.signature(node).root()
    if not node.body.statements:
        nothing = "()" if signature.may_give_nothing else "None"
        if (signature.count or 0) > 1:
            nothing = f"({', '.join(['None'] * (signature.count or 0))})"
        return Code(f"lambda{_lambda_parameters(node, draft)}: {nothing}", code.LAMBDA)
    only = node.body.statements[0]
    if only.before or only.after:
        return None
    if isinstance(only, s.Return) and len(only.values) == 1:
        body = only.values[0]
    elif isinstance(only, s.Do):
        body = only.call
        if draft.types.count(body) != 0 and node not in draft.unasked:
            return None  # its results are not the function's
        path = draft.types.dotted(body.function) if isinstance(body, s.Call) else None
        if path in ("error", "assert", "collectgarbage", "require"):
            return None
    else:
        return None
    if any(isinstance(n, s.Function) for n in s.walk(body)):
        return None
    given, wanted = draft.types.count(body), signature.count
    gives_nothing = given == 0 or isinstance(only, s.Do)
    if signature.may_give_nothing and gives_nothing and node not in draft.unasked:
        return None  # it gives the empty tuple
    if given is not None and wanted is not None and given < wanted and wanted > 1:
        return None  # the others that may be called here give more
    outer = draft.scope
    draft.scope = draft.file.scopes.of_function[node]
    before = len(draft.page.lines)
    draft.asked = body if isinstance(only, s.Do) else draft.asked
    made = draft.any(body)
    draft.scope = outer
    if len(draft.page.lines) != before:
        del draft.page.lines[before:]
        return None
    _mark_namesakes(node, draft)
    if made.tells:
        draft.tell()
    gives_all = made.pair or made.every.startswith("(") or (given is not None and given > 1)
    text = made.every if made.every and gives_all else made.text
    if text.startswith("*"):
        text = f"lua.results({text[1:]})"
    if len(text) > _LONGEST and not isinstance(body, s.Table):
        return None
    return Code(f"lambda{_lambda_parameters(node, draft)}: {text}", code.LAMBDA)


def _lambda_parameters(node: s.Function, draft: Draft) -> str:
    text = _parameters(node, draft)
    return f" {text}" if text else ""


def _parameters(node: s.Function, draft: Draft) -> str:
    signature = draft.types.signature(node).root()
    least = min(signature.calls, default=None)
    most = max(signature.calls, default=0)
    methods = draft.klass.methods if draft.klass is not None and draft.klass.parent else {}
    scaled = [methods[name].function for name in _SCALED if name in methods]
    init = draft.klass.methods.get("__init") if draft.klass is not None else None
    parts = []
    is_maker = init is not None and init.function is node
    is_free = is_maker and not (signature.calls or methods)
    optional = False
    for i, name in enumerate(node.parameters):
        optional = (
            optional
            or (least is not None and i >= least)
            or (i >= 3 and draft.klass is not None and draft.klass.parent is not None)
            or (i >= 1 and (is_free or node in draft.patches))
            or (i >= 1 and is_maker and _has_default(name, node))
        )
        if optional and len(name.variable.writes) == 1:
            draft.lacking.add(name.variable)
        python = name.variable.python
        if python in {later.variable.python for later in node.parameters[i + 1 :]}:
            python = f"{python}_{i + 1}"  # the last of a name counts
        default = "1" if i == 3 and node in scaled and "scale" in name.id.lower() else "None"
        parts.append(f"{python}={default}" if optional else python)
    if node.is_vararg:
        parts.append("*args")
    elif (
        signature.is_hook
        or signature.gets_more
        or most > len(node.parameters)
        or (signature.escapes and not parts and not signature.calls)
    ):
        taken = {
            *(part.split("=")[0] for part in parts),
            *(v.python for v in draft.file.scopes.of_function[node].used),
        }
        parts.append("*" + next(name for name in ("_", "__", "___") if name not in taken))
    bound = _bound(node, draft)
    if bound:
        if parts and not any(p.startswith("*") for p in parts):
            parts.append("*")
        parts += [f"{name}={name}" for name in bound]
    return ", ".join(parts)


def _has_default(parameter: s.Name, node: s.Function) -> bool:
    """Return whether a function says what a parameter is where it is not given: ``rate or 1``."""
    lefts = (n.left for n in s.walk(node.body) if isinstance(n, s.Binary) and n.operator == "or")
    return any(isinstance(n, s.Name) and n.variable is parameter.variable for n in lefts)


def _bound(node: s.Function, draft: Draft) -> list[str]:
    """Return variables of a loop around, of which each function has its own."""
    scope = draft.file.scopes.of_function[node]
    return sorted(
        v.python
        for v in scope.used
        if v.scope is not None
        and v.scope is scope.parent
        and v.loops > 0
        and (v.settled <= node.start or v.boxed)
        and v.declared is not None
        and (v.declared.start < node.start or v.boxed)
        and not v.is_parameter
        and v not in draft.types.aliases
        and (draft.klass is None or v is not draft.klass.variable)
    )


def define_function(
    name: str, node: s.Function, draft: Draft, decorator: str | None = None
) -> None:
    """``def``; a function without draft runs in Lua."""
    if node in draft.in_lua:
        made = in_lua(node, draft)
        draft.page.write(f"{name} = {decorator}({made})" if decorator else f"{name} = {made}")
        return
    if decorator:
        draft.page.write(f"@{decorator}")
    draft.page.write(f"def {name}({_parameters(node, draft)}):")
    _function_body(node, draft)


def _function_body(node: s.Function, draft: Draft) -> None:
    outer, loops, count, line = draft.scope, draft.loops, draft.result_count, draft.page.line
    was_open, labels, behind = draft.gives_any, draft.last_labels, draft.behind
    draft.scope, draft.loops = draft.file.scopes.of_function[node], []
    draft.last_labels = first_labels(node.body.statements[::-1])
    signature = draft.types.signature(node).root()
    draft.result_count = 0 if draft.is_constructor else signature.count or 0
    draft.gives_any = signature.may_give_nothing and not draft.is_constructor
    with draft.page.indented():
        _outer_names(draft.scope, draft)
        marks, draft.page.marks = draft.page.marks, []
        _mark_namesakes(node, draft)
        draft.page.lines += draft.page.shown_marks()
        draft.page.marks = marks
        draft.body(node.body)
        if draft.gives_any and may_end(node.body):
            draft.page.write("return ()")
        elif draft.result_count > 1 and may_end(node.body):
            draft.page.write(f"return {', '.join(['None'] * draft.result_count)}")
    draft.scope, draft.loops, draft.result_count, draft.page.line = outer, loops, count, line
    draft.gives_any, draft.last_labels, draft.behind = was_open, labels, behind


def _mark_namesakes(node: s.Function, draft: Draft) -> None:
    """Mark what a function may take for something else than it is."""
    names = [p.id for p in node.parameters if _is_namesake(p, draft)]
    if names:
        shown = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        draft.page.mark(f"no call tells {shown}: taken for what else has the name", "parameters")


def _is_namesake(parameter: s.Name, draft: Draft) -> bool:
    """Return whether a parameter is known by its name alone, and numbers may depend on what it
    is.
    """
    variable: Variable = parameter.variable
    return (
        variable in draft.types.namesakes
        and draft.types.of(variable).may(Kind.TABLE, Kind.TENSOR, Kind.OBJECT, *NUMBERS)
        and any(not draft.types.was_seen(read) for read, _ in variable.reads)
    )


def _outer_names(scope: FunctionScope, draft: Draft) -> None:
    """``global`` and ``nonlocal``."""
    of_file: set[str] = set()
    of_function: set[str] = set()
    for variable in scope.used:
        if not any(where is scope for _, where in variable.writes):
            continue
        if variable in draft.types.aliases or variable.boxed:
            continue
        if variable.is_global:
            if variable not in draft.shared:
                of_file.add(global_name(variable))
        elif variable.scope is draft.file.scopes.file:
            of_file.add(variable.python)
        else:
            of_function.add(variable.python)
    draft.page.write_rows("global ", sorted(of_file), ", ")
    draft.page.write_rows("nonlocal ", sorted(of_function), ", ")


def _other_than(name: str, taken: Set[str]) -> str:
    """Return a name, with a number behind it if need be."""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(n for n in chain([name], numbered) if n not in taken)
