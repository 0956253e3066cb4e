"""Calls, and with them all expressions."""

from __future__ import annotations

from dataclasses import replace

from compat.lua_tables import attribute
from compat.port.know.files import Class
from compat.port.know.form.shapes import is_maker, is_name, is_open, is_self
from compat.port.know.scopes import PACKAGES
from compat.port.know.types import Kind, Type
from compat.port.library import functions, methods, results
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.arguments import fitting
from compat.port.write.classes import name_of_method
from compat.port.write.code import Code
from compat.port.write.draft import Draft, expression
from compat.port.write.imports import imported
from compat.port.write.names import class_name


@expression(s.Call)
def call(node: s.Call, draft: Draft, _hint: str) -> Code:
    """Return a call; one of a parent's method is ``super()``."""
    if node in draft.flattened_again:
        draft.page.mark(
            "in Torch7 the tensors of the earlier getParameters are the net's no more", "flat"
        )
    name = _of_parent(node, draft)
    if name is not None:
        rest = s.Call(node.function, node.arguments[1:], None)
        made = code.call(f"super().{name}", *draft.arguments(rest))
        path = draft.types.dotted(node.function)
        is_of_package = path is not None
        if results.passes_with_total(path or ""):
            return replace(made, every=f"({made}, self.total_weight_tensor.item())")
        return Code(made.text, spread=1 if is_of_package else draft.types.count(node))
    return _called(node, draft)


def _of_parent(node: s.Call, draft: Draft) -> str | None:
    """Return the name of the parent's method that ``Parent.method(self, …)`` calls; else None."""
    klass, function = draft.klass, node.function
    first = node.arguments[0] if node.arguments else None
    if klass is None or not klass.parent or node.method is not None:
        return None
    if not (isinstance(first, s.Name) and first.id == "self" and isinstance(function, s.Index)):
        return None
    own = draft.scope.node.parameters[:1] if draft.scope.node is not None else []
    if first.variable not in [name.variable for name in own]:
        return None  # without self for its first parameter Python's super() has no object
    path, name = draft.types.dotted(function), s.constant(function.key)
    if path is not None and path.rpartition(".")[0] == klass.parent:
        return name_of_method(path.rpartition(".")[2], klass, draft)
    base = draft.types.classes.get(klass.parent)
    if (
        base is None
        or not isinstance(name, str)
        or draft.types.class_of(function.object) is not base
    ):
        return None
    define = base.method(name, draft.types.classes)
    takes_self = define is not None and (define.is_method or is_self(define.function))
    return name_of_method(name, klass, draft) if takes_self else None


def _called(node: s.Call, draft: Draft) -> Code:
    """Return a call of anything else, which may give any number of results."""
    if node.method is not None:
        if node.method == "addjob":
            _note_what_jobs_set(node, draft)
        return methods.method(node, draft)
    if node.arguments and is_open(node.arguments[-1]) and draft.types.takes_all(node):
        note_results(node.arguments[-1], draft)
    if (made := _new_tensor(node, draft)) is not None:
        return made
    path = draft.types.dotted(node.function)
    if path is not None:
        klass = draft.types.class_named(path)
        if klass is None:
            return functions.function(path, node, draft)
        return code.call(class_name(klass, draft), *draft.arguments(node))
    if (
        isinstance(node.function, s.Name)
        and draft.types.file_of(node) is not None
        and node.function.id in ("require", "dofile")
    ):
        return imported(node, draft)
    static = draft.types.of_tensors(node.function)
    if static is not None and not _takes_another(node, draft):
        return functions.function(static, node, draft)
    if (made := _of_package(node, draft)) is not None:
        return made
    if (made := _of_nn(node, draft)) is not None:
        return made
    kind = draft.types.type(node.function)
    function = draft.prefix(node.function)
    if kind.only(Kind.TABLE, Kind.CLASS, Kind.OBJECT) and kind.has_meta:
        made = code.call("lua.call", function, *draft.arguments(node))
        return Code(made.text, spread=draft.types.count(node))
    klass = _class_of_method(node.function, draft) if node.arguments else None
    if klass is not None:  # Python gives it its class
        own, *rest = draft.arguments(node)
        is_same = draft.types.class_of(node.arguments[0]) is klass
        made = code.call(function.atom, *rest) if is_same else None
        made = made or code.call(f"{function.atom}.__func__", own, *rest)
        return Code(made.text, spread=draft.types.count(node))
    known = draft.types.called(node) if kind.only(Kind.FUNCTION) else []
    is_any = bool(node.arguments) and draft.types.count(node.arguments[-1]) is None
    is_entry = not known and kind.atoms <= {Kind.FUNCTION} and _is_of_others(node.function, draft)
    if (
        is_entry
        or (node.arguments and _is_class_of_nn(node.function, kind, draft))
        or (is_any and (not known or _is_given(node.function, draft)))
    ):
        made = code.call("lua.call", function, *draft.arguments(node))
    else:
        made = code.call(function.atom, *fitting(node, known, draft))
    if _is_chosen(node.function, draft):
        return Code(made.text, spread=None)
    return Code(made.text, spread=draft.types.count(node) if not kind.only(Kind.CLASS) else 1)


def _of_nn(node: s.Call, draft: Draft) -> Code | None:
    """``backend.Linear(2, 3)`` where ``backend`` is ``nn`` or ``cudnn``: as of ``nn`` itself."""
    path = draft.types.class_of_nn(node.function)
    taken = functions.parameters(path) if path is not None else None
    if taken is None or not isinstance(node.function, s.Index):
        return None
    is_any = bool(node.arguments) and draft.types.count(node.arguments[-1]) is None
    if is_any or len(node.arguments) > len(taken):  # those of cudnn may take more
        return None
    owner = draft.prefix(node.function.object).atom
    made = functions.function(str(path), node, draft)
    return replace(made, text=owner + made.text.removeprefix("nn"))


def _is_of_others(node: s.Node, draft: Draft) -> bool:
    """Return whether it is an entry of what nobody knows, or of a table that the program made
    nowhere.
    """
    if not isinstance(node, s.Index):
        return False
    if draft.types.dotted(node.object) == "_G":
        return True
    owner = draft.types.type(node.object)
    return not owner.is_known or (owner.shape is not None and not owner.shape.root().made)


def _of_package(node: s.Call, draft: Draft) -> Code | None:
    """``name.f(…)`` of a package that only Lua has, or ``name(…)`` of one that is a function."""
    function, count = node.function, draft.types.count(node)
    name = s.constant(function.key) if isinstance(function, s.Index) else None
    if draft.types.type(function).is_of_lua:
        owner, arguments = draft.prefix(function).atom, draft.arguments(node)
        return code.single(owner, code.call("lua.call", owner, *arguments), arguments, count)
    if not isinstance(function, s.Index) or not is_name(name) or name in methods.OF_TABLES:
        return None
    if not draft.types.type(function.object).is_of_lua:
        return None
    owner, arguments = draft.prefix(function.object).atom, draft.arguments(node)
    every = code.call(f'{owner}["{name}"]', *arguments)
    return code.single(f"{owner}.{attribute(str(name))}", every, arguments, count)


def _note_what_jobs_set(node: s.Call, draft: Draft) -> None:
    """Mark a job that sets a local variable of the file, itself or by what it calls."""
    first = node.arguments[0] if node.arguments else None
    is_number = first is not None and draft.types.type(first).is_number  # of the worker
    waiting = node.arguments[int(is_number) :][:1]
    seen: set[s.Node] = set()
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        signature = draft.types.type(part).signature
        waiting += [] if signature is None else signature.nodes
        waiting += [call.function for call in s.walk(part) if isinstance(call, s.Call)]
        for assignment in s.walk(part):
            for target in assignment.targets if isinstance(assignment, s.Assign) else ():
                variable = target.variable if isinstance(target, s.Name) else None
                if variable is not None and variable.scope is not None and not variable.scope.node:
                    reason = f"each job of Torch7's sets a copy of its own of {variable.id}"
                    draft.page.mark(reason, "globals")


def _is_given(function: s.Node, draft: Draft) -> bool:
    """Return whether a function comes from elsewhere, and may take fewer arguments."""
    if isinstance(function, s.Binary):
        sides = (function.left, function.right)
        return any(draft.types.type(side).signature is None for side in sides)
    variable = getattr(function, "variable", None)
    return variable is not None and (variable.is_parameter or variable in draft.types.clues.sources)


def _class_of_method(function: s.Node, draft: Draft) -> Class | None:
    """Return C for ``C.new``, a class method in Python, that is called as a function."""
    if not isinstance(function, s.Index):
        return None
    klass = draft.types.class_of(function.object)
    define = (
        None if klass is None else klass.method(str(s.constant(function.key)), draft.types.classes)
    )
    return klass if define is not None and is_maker(define) else None


def _is_chosen(function: s.Node, draft: Draft) -> bool:
    """Return whether the program names a package's function as it runs: ``optim[opt.method]``.

    Another one may give more results than the one that was seen.
    """
    if not isinstance(function, s.Index) or isinstance(function.key, s.Constant):
        return False
    is_type = s.names_tensor(function.key) or s.names_storage(function.key)
    return not is_type and draft.types.dotted(function.object) in PACKAGES - {"nn", "cudnn"}


def _is_class_of_nn(function: s.Node, kind: Type, draft: Draft) -> bool:
    """Return whether what is called may be a class of ``nn``'s, ``nn[name]`` or an entry of a
    table, also from a variable: some take fewer arguments.
    """
    if isinstance(function, s.Name):
        values = draft.types.clues.sources.get(function.variable, [])
        chosen = [v for v in values if isinstance(v, s.Index) and s.constant(v.key) is None]
        return any(_is_class_of_nn(value, kind, draft) for value in chosen)
    if not isinstance(function, s.Index):
        return False
    is_chosen = draft.types.dotted(function.object) in ("nn", "cudnn")
    is_module = kind.only(Kind.MODULE, Kind.NIL) and Kind.MODULE in kind.atoms
    return is_chosen or (is_module and kind.classes <= {results.CLASS_OF_NN})


def _new_tensor(node: s.Call, draft: Draft) -> Code | None:
    """``x.new(2, 3)``, which is ``x:new(2, 3)``."""
    function = node.function
    if not isinstance(function, s.Index) or s.constant(function.key) != "new":
        return None
    if not draft.types.type(function.object).is_tensor:
        return None
    made = methods.method(replace(node, function=function.object, method=".new"), draft)
    return None if made.text.startswith("lua.method(") else made


def _takes_another(node: s.Call, draft: Draft) -> bool:
    """Return whether a tensor's function, ``x.name``, is given one of another type first."""
    given = draft.types.type(node.arguments[0]) if node.arguments else Type()
    assert isinstance(node.function, s.Index)
    return given.is_tensor and given.dtypes != draft.types.type(node.function.object).dtypes


def note_results(node: s.Node, draft: Draft) -> None:
    """Mark a call of Torch7's whose results count, and that gives more or fewer in Lua."""
    given = draft.types.count(node)
    if not isinstance(node, s.Call):
        return
    seen = draft.types.facts.get((draft.types.file.path, -node.start, node.end), [])
    if draft.types.called(node):
        return
    if "0" in seen:
        draft.optional.add(node)
    fits = {"0", "1"} if given == 1 else {str(given)}
    if given is None or set(seen) <= fits:
        return
    counts = " or ".join(sorted(seen))
    draft.page.mark(f"{s.describe(node)} gives {counts} results in Lua, here {given}", "results")
