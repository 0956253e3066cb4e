"""Calls of methods."""

from __future__ import annotations

from dataclasses import replace

from compat.lua_tables import attribute
from compat.port.know.evidence import PASSES
from compat.port.know.form.shapes import is_maker
from compat.port.know.guesses import is_lua_s
from compat.port.know.questions.kept_results import BACKWARD
from compat.port.know.types import Kind, Type
from compat.port.library import compat_names, results, rules, tensors
from compat.port.library.functions import function
from compat.port.library.joined import joined
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.arguments import fitting
from compat.port.write.code import Code
from compat.port.write.draft import NONE, Draft
from compat.port.write.operators import dimensions
from compat.port.write.places import place, stop
from compat.port.write.python_names import method_name
from compat.t7.objects import registry

# Methods that all tables of Lua have in Python.
OF_TABLES = {"keys", "items", "entries", "replace_each"}


def method(node: s.Call, draft: Draft) -> Code:
    """``object:method(arguments)``."""
    name = node.method
    assert name is not None
    path = draft.types.dotted(node.function)
    if path in ("io.stdout", "io.stderr") and name == "write" and draft.asked is node:
        stream = ", file=sys.stderr" if path == "io.stderr" else ""
        parts = ", ".join(map(str, draft.arguments(node)))
        return Code(f'print({parts}, sep="", end=""{stream})')
    kind = draft.types.owner_of_method(node)
    if kind.is_tensor:
        return _tensor_method(name, node, kind, draft)
    if kind.is_string:
        moved = replace(node, arguments=[node.function, *node.arguments], method=None)
        return function(f"string.{name}", moved, draft)
    if (
        name == "parse"
        and kind.only(Kind.MODULE)
        and [draft.types.dotted(_less_or(a)) for a in node.arguments] == ["arg"]
    ):
        return Code(f"{draft.prefix(node.function).atom}.parse()")
    owner = draft.prefix(node.function)
    draft.page.resolve(draft.how(node.function) if kind.atoms else "open")
    klass = draft.types.class_of(node.function)
    if kind.only(Kind.OBJECT) and kind.shape is None:  # of a class that the program does not make
        made = code.call("lua.method", owner, f'"{name}"', *draft.arguments(node))
        return Code(made.text, spread=draft.types.count(node))
    if (
        kind.only(Kind.MODULE)
        and name == "get"
        and len(node.arguments) == 1
        and _misses(node, draft)
    ):
        return code.call("lua.index", f"{owner.atom}.modules", draft.value(node.arguments[0]))
    is_patched = f"nn.Module.{name}" in draft.types.replaced
    is_any = name == "split" and draft.types.count(node) is None  # a node's, into n
    if (
        kind.only(Kind.MODULE)
        and not is_patched
        and (is_any or _is_of_lua_alone(kind, name, draft))
    ):
        made = code.call("lua.method", owner, f'"{name}"', *draft.arguments(node))
        return Code(made.text, spread=draft.types.count(node))
    if kind.only(Kind.MODULE, Kind.OBJECT, Kind.CLASS, Kind.OPTIONS, Kind.NIL) or klass is not None:
        count = draft.types.count(node)
        known = draft.types.called(node) if klass is not None or kind.only(Kind.OBJECT) else []
        arguments = fitting(node, known, draft, own=1)
        if Kind.MODULE in kind.atoms or draft.types.classes_of_others(kind):
            arguments = _for_nets(node, arguments, draft)
        if _lacks_gradient(node, kind, draft) and not known:
            arguments = [*arguments, NONE]
        itself = klass if kind.only(Kind.CLASS) else None
        if getattr(getattr(node.function, "variable", None), "is_class", False) and kind.shape:
            itself = kind.shape.klass
        define = None if itself is None else itself.method(name, draft.types.classes)
        if define is not None and not is_maker(define):
            arguments = [owner, *arguments]  # Python gives its class to no function
        elif itself is None and (
            Kind.CLASS in kind.atoms or (kind.may(Kind.OBJECT) and name in draft.types.given_owner)
        ):  # an object's class it is not given, nor its object a function in a field
            made = code.call("lua.method", owner, f'"{name}"', *arguments)
            return Code(made.text, spread=count)
        made = code.call(f"{owner.atom}.{method_name(name)}", *arguments)
        if results.gives_total(kind, name):
            if "(" in owner.text:  # else it would be made twice
                every = code.call("lua.with_total_weight", owner, *arguments)
                return replace(made, every=every.text)
            return replace(made, every=f"({made}, {owner.atom}.total_weight_tensor.item())")
        theirs = draft.types.own_count(name, of_layers=kind.only(Kind.MODULE))
        if name in results.SILENT and theirs is None and draft.types.is_layer(kind):
            return replace(made, spread=0, every=f"lua.nothing({made})")
        is_own = klass is not None or theirs is not None
        is_own = is_own or len({signature.count for signature in known}) > 1
        count = theirs if count is None and is_own else count
        count = None if count == -1 else count
        is_tested = node in draft.types.clues.conditions and count in (None, 2)
        if name == "parameters" and is_tested and (kind.may(Kind.MODULE) or not known):
            return Code(code.call("lua.parameters", owner).text, spread=2)
        return Code(made.text, spread=count if count is not None or is_own else 1)
    if kind.only(Kind.STORAGE) and name in ("size", "fill", "totable") and len(node.arguments) < 2:
        return code.call(f"{owner.atom}.{name}", *draft.arguments(node))
    if kind.only(Kind.SIZES):
        sized = dimensions(node.function, draft) or code.call("len", owner)
        simple = {"size": sized, "totable": code.call("list", owner)}
        if name in simple and not node.arguments:
            return simple[name]
        if name == "copy" and draft.types.type(node.arguments[0]).only(Kind.SIZES):
            return draft.value(node.arguments[0])
    if kind.only(Kind.FILE, Kind.NIL):
        made = code.call(f"{owner.atom}.{name}", *draft.arguments(node))
        return Code(made.text, spread=draft.types.count(node))
    is_plain = kind.only(Kind.TABLE) and kind.shape is not None and "meta" not in kind.shape.uses
    if is_plain and "(" not in owner.text:  # else it would be computed twice
        arguments = [owner, *draft.arguments(node)]
        made = code.call(f'{owner.atom}["{name}"]', *arguments)
        return Code(made.text, spread=draft.types.count(node))
    has_meta = kind.only(Kind.TABLE) and kind.shape is not None and kind.shape.is_own_meta
    if has_meta and not hasattr(dict, name) and not name.startswith("__"):
        made = code.call(f"{owner.atom}.{attribute(name)}", *draft.arguments(node))
        return Code(made.text, spread=draft.types.count(node))
    if name in _ALIKE and not node.arguments and name not in draft.types.clues.own_methods:
        return Code(f"{owner.atom}.{name}()")
    if _is_lua_s(kind, name, draft):
        arguments = draft.arguments(node)
        every = code.call("lua.method", owner, f'"{name}"', *arguments)
        return code.single(
            f"{owner.atom}.{attribute(name)}", every, arguments, draft.types.count(node)
        )
    guess = results.owner_of(name, [draft.types.type(a) for a in node.arguments])
    is_module = guess is not None and guess.only(Kind.MODULE)
    if not (kind.atoms or (is_module and draft.types.is_of_layers(name))):
        draft.unknown(node.function, "calls")
    if is_module and not kind.atoms - {Kind.MODULE, Kind.OBJECT, Kind.NIL}:
        arguments = _for_nets(node, draft.arguments(node), draft)
        made = code.call(f"{owner.atom}.{method_name(name)}", *arguments)
        count = draft.types.count(node)
        own = count if kind.may(Kind.OBJECT) else None
        return Code(made.text, spread=own or results.module_count(name) or count)
    made = code.call("lua.method", owner, f'"{name}"', *draft.arguments(node))
    return Code(made.text, spread=draft.types.count(node))


def _is_lua_s(kind: Type, name: str, draft: Draft) -> bool:
    """Return whether a method can only be one of an object that a package of Lua's gives."""
    if name.startswith("__") or name in OF_TABLES:
        return False
    is_any = kind.is_given_by_lua and not kind.atoms - {Kind.NIL}
    return kind.is_lua_s or (is_any and is_lua_s(draft.types, name))


def _for_nets(node: s.Call, arguments: list[Code], draft: Draft) -> list[Code]:
    """Return what a net is given: lists for tables, and no more than it takes."""
    if node.method not in PASSES:
        return arguments
    owner, given = draft.types.owner_of_method(node), node.arguments
    names = owner.classes
    is_layer = bool(names) and draft.types.classes_of_others(owner) == names
    if is_layer and all("." in name and not name.endswith("Criterion") for name in names):
        most = _TAKE.get(str(node.method), 3)
        more = given[most:]
        given = given[:most] if all(isinstance(a, (s.Name, s.Constant)) for a in more) else given
    return [
        code.call("lua.lists", made) if results.has_numbered(draft.types.type(a), set()) else made
        for a, made in zip(given, arguments, strict=False)
    ]


def _lacks_gradient(node: s.Call, kind: Type, draft: Draft) -> bool:
    """Return whether a layer is given an input alone where it takes the gradient, too."""
    if node.method not in BACKWARD or len(node.arguments) != 1 or draft.is_open(node.arguments):
        return False
    top = kind.klass and kind.klass.top(draft.types.classes).parent
    names = [*kind.classes, top or ""]
    return draft.types.is_layer(kind) and not any(name.endswith("Criterion") for name in names)


_TAKE = {"forward": 1, "updateOutput": 1, "updateGradInput": 2}


def _is_of_lua_alone(kind: Type, name: str, draft: Draft) -> bool:
    """Return whether Torch7's class, or one object, has a method that ``compat``'s has not."""
    if not kind.classes:
        is_known = compat_names.is_field(name) or results.is_of_module(name)
        return not is_known and name not in draft.types.clues.own_methods
    names = {typename.split()[0] for typename in kind.classes}  # of "nn.gModule of lists"
    entries = [entry for typename in names for entry in registry.provide(typename)]
    classes = [entry.cls for entry in entries if entry.cls is not None]
    return bool(classes) and not any(hasattr(cls, method_name(name)) for cls in classes)


def _less_or(node: s.Node) -> s.Node:
    """``arg`` of ``arg or {}``: a program always has arguments."""
    if isinstance(node, s.Binary) and node.operator == "or" and isinstance(node.right, s.Table):
        return node.left
    return node


def _misses(node: s.Call, draft: Draft) -> bool:
    """Return whether ``net:get(i)`` may be nil: of a negative number it is, in Python the last
    ones.
    """
    place = node.arguments[0]
    was_nil = draft.types.was_seen(node) and Kind.NIL in draft.types.type(node).atoms
    return was_nil or node in draft.types.clues.conditions or s.is_negative(place)


def _tensor_method(name: str, node: s.Call, kind: Type, draft: Draft) -> Code:
    kinds = [draft.types.type(a) for a in node.arguments]
    last_open = draft.is_open(node.arguments)
    draft.page.resolve(draft.how(node.function))
    if name in ("dim", "nDimension") and not kinds and kind.dims & {-1, 0}:
        return code.call("lua.dim", draft.value(node.function))
    if name == "isContiguous" and not draft.types.was_seen(node.function):
        draft.page.mark(
            "PyTorch may lay a result out as its operands are, Torch7 does not", "views"
        )
    if name == "sub" and not last_open and results.method_rule(name, kinds) is not None:
        return _sub(node, draft)
    if last_open and all(kind.is_int for kind in draft.types.all_results(node.arguments[-1])):
        rule = results.method_rule(name, kinds)
        last_open = rule is None or "{*}" not in rule.text
    if name == "totable" and isinstance(node.function, s.Call):
        made = _numbers(node.function, draft)
        if made is not None:
            return made
    if not last_open:
        rule = results.method_rule(name, kinds)
        if name == "select" and kind.ranks == {1}:
            rule = None
        if name == "topk" and s.constant(node.arguments[-1]) is not True:
            rule = None  # those that are not sorted have an order of Torch7's own
        if name in tensors.GIVE_THEIR_LAST and node is not draft.asked:
            rule = None
        if rule is not None and rule.result == "=" and _overlaps(node, draft):
            rule = None
        if name in ("apply", "map", "map2") and rule is not None:
            signature = kinds[-1].signature
            if signature is None or signature.count != 1 or Kind.NIL in signature.result(0).atoms:
                if name == "apply":
                    owner, given = draft.value(node.function), draft.value(node.arguments[0])
                    return code.call("lua.apply", owner, given)
                rule = None
        if rule is not None and rules.fits(rule, [kind, *kinds], node.arguments):
            made = joined([node.function, *node.arguments], draft) if name == "cat" else None
            if made is not None:
                return made
            made = rules.apply(rule, node.function, node.arguments, draft)
            return rules.item(made, node, draft) if rule.result == "t|?" else made
        if rule is None and name in tensors.WITH_RESULT:
            found = tensors.FUNCTIONS.find(name, "".join(map(results.kind_of, kinds)))
            if (
                found is not None
                and rules.fits(found, kinds, node.arguments)
                and kinds
                and kinds[0].is_tensor
            ):
                return rules.with_result(name, found, [node.function, *node.arguments], draft)
    unknown = next(
        (a for a, k in zip(node.arguments, kinds, strict=False) if results.kind_of(k) == "?"), None
    )
    if unknown is not None and not last_open:
        draft.unknown(unknown, "calls")
    owner = draft.prefix(node.function)
    made = code.call("lua.method", owner, f'"{name}"', *draft.arguments(node))
    return Code(made.text, spread=draft.types.count(node))


_ALIKE = {"clone", "float", "double", "half"}  # written alike of all that has them
_VIEWS = {"t", "transpose", "narrow", "sub", "view", "expand", "permute", "unfold"}


def _overlaps(node: s.Call, draft: Draft) -> bool:
    """Return whether a tensor is changed by a part of itself, which PyTorch refuses.

    Entries, ``x[i]:copy(x[j])``, are one tensor or have nothing in common.
    """
    to, changed = _viewed(node.function)
    for argument in node.arguments:
        seen, given = _viewed(argument)
        if to == seen and "…" not in to and (changed or given):
            text = draft.types.file.source
            own = text[node.function.start : node.function.end]
            return own != text[argument.start : argument.end]
    return False


def _viewed(node: s.Node) -> tuple[str, bool]:
    """Return what an expression is a view of, and whether it is one that may share some elements
    only.
    """
    if isinstance(node, s.Call) and node.method in _VIEWS:
        return _viewed(node.function)[0], True
    if isinstance(node, s.Index) and isinstance(node.key, s.Table):
        ends = [f.value for f in node.key.fields]
        whole = all(not isinstance(e, s.Table) or not e.fields for e in ends)
        return _viewed(node.object)[0], not whole
    return s.describe(node), False


def _numbers(node: s.Call, draft: Draft) -> Code | None:
    """``torch.range(a, b):totable()``."""
    if node.method is not None or draft.types.dotted(node.function) != "torch.range":
        return None
    if len(node.arguments) != 2 or not all(draft.types.type(a).is_int for a in node.arguments):
        return None
    first, last = map(draft.value, node.arguments)
    return code.call("list", code.call("range", first, code.plus(last, 1)))


def _sub(node: s.Call, draft: Draft) -> Code:
    """``x:sub(a, b, …)``: a slice of each dimension."""
    parts = []
    for i in range(0, len(node.arguments), 2):
        first, last = place(node.arguments[i], draft), stop(node.arguments[i + 1], draft)
        parts.append(code.sliced("" if first.text == "0" else str(first), str(last)))
    return Code(f"{draft.value(node.function).atom}[{', '.join(parts)}]")
