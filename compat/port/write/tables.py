"""Tables, and fields of anything."""

from __future__ import annotations

from compat.lua_tables import attribute
from compat.port.know.files import GETTER, Class
from compat.port.know.form.shapes import (
    counts_up,
    is_name,
    is_open,
    is_same,
    is_self,
    length_of,
    set_names,
)
from compat.port.know.structures import Table
from compat.port.know.types import NUMBERS, Kind, Type
from compat.port.library import compat_names, packages
from compat.port.library.results import METHODS
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import NONE, Draft, expression
from compat.port.write.names import class_name, path_value
from compat.port.write.places import place, stop
from compat.port.write.python_names import is_metamethod, method_name
from compat.port.write.selections import element

_METHODS_OF_DICT = set(dir(dict))


@expression(s.Table)
def table(node: s.Table, draft: Draft, hint: str) -> Code:
    """``{…}``."""
    draft.types.type(node)  # a key of what nobody knows was not looked at before
    shape = node.shape.root()
    if shape.klass is not None:
        klass = _class_given(shape.klass, draft) or class_name(shape.klass, draft)
        names = [s.constant(f.key) for f in node.fields]
        calls = shape.klass.method("__init", draft.types.classes)  # as Lua does not
        if calls is not None or not all(map(is_name, names)):
            return code.call("lua.setmetatable", items(node, shape, hint, draft), klass)
        named = zip(map(attribute, map(str, names)), node.fields, strict=True)
        return code.call(klass, *(f"{name}={draft.value(f.value)}" for name, f in named))
    if "meta" in shape.uses:
        return code.call("lua.Table", *([items(node, shape, hint, draft)] if node.fields else []))
    if not node.fields:
        return Code("[]" if shape.is_list else "{}")
    if shape.is_list and (all(f.key is None for f in node.fields) or counts_up(node)):
        values = [f.value for f in node.fields]
        while values and s.is_nil(values[-1]):
            values.pop()  # a nil at the end is no entry
        if values and len(values) < len(node.fields) and is_open(values[-1]):
            values[-1] = s.Paren(values[-1])  # one value, as nil comes behind it
        if len(values) == 1 and (part := _part_of_list(values[0], draft)) is not None:
            return part
        made = bracketed("[", node, values, "]", hint, draft)
        ends_open = any(isinstance(value, s.Vararg) for value in values[-1:])
        is_trimmed = ends_open and "trimmed" in shape.uses
        if values and shape.uses & {"append", "filled", "computed"}:
            is_trimmed |= draft.types.type(values[-1]).may_be_nil  # the next one takes its place
        return code.call("lua.trimmed", made) if is_trimmed else made
    return items(node, shape, hint, draft)


def _part_of_list(node: s.Node, draft: Draft) -> Code | None:
    """``unpack(t, first, last)``, as a list: it ends where ``t`` ends."""
    path = draft.types.dotted(node.function) if isinstance(node, s.Call) else None
    if not isinstance(node, s.Call) or path not in ("unpack", "table.unpack"):
        return None
    owner, *ends = node.arguments
    are_ints = all(draft.types.type(end).is_int for end in ends)
    is_below = any(getattr(end, "operator", "") == "-" for end in ends[1:])  # it may be negative
    is_list = draft.types.type(owner).is_list()
    if not (ends and are_ints and is_list) or is_below or draft.types.may_be_outside(ends[0]):
        return None
    begin = place(ends[0], draft)
    last = "" if len(ends) == 1 else str(stop(ends[1], draft))
    cut = code.sliced("" if begin.text == "0" else str(begin), last)
    return Code(f"{draft.value(owner).atom}[{cut}]")


def _class_given(klass: Class, draft: Draft) -> str | None:
    """Return the name of the class that the method which makes an object of its own is given."""
    maker = draft.scope.node
    if not any(define.function is maker for define in klass.methods.values()):
        return None
    first = maker.parameters[0].variable if maker is not None and maker.parameters else None
    return first.python if first is not None and first.is_class and first.reads else None


def items(node: s.Table, shape: Table, hint: str, draft: Draft) -> Code:
    """Return a dict."""
    items = []
    number = 0
    keys = Type()
    for entry in node.fields:
        keys.join(draft.types.type(entry.key) if entry.key is not None else Type(Kind.INT))
    is_mixed = Kind.BOOLEAN in keys.atoms and keys.atoms & NUMBERS
    is_hashed = not (keys.atoms & {Kind.TABLE, Kind.OPTIONS} or is_mixed)
    form = "{}: {}" if is_hashed else "({}, {})"
    for i, entry in enumerate(node.fields):
        if entry.key is None:
            number += 1
            if i == len(node.fields) - 1 and is_open(entry.value):
                made = draft.any(entry.value, hint)
                if made.spread != 1 or made.every:
                    values = ", ".join(map(str, draft.spread(made)))
                    numbered = f"lua.numbered({number}, {values})"
                    items.append(f"**{numbered}" if is_hashed else f"*{numbered}.items()")
                    continue
            value = draft.value(entry.value, hint)
            if value.text != "None":
                items.append(form.format(number, value))
        else:
            key = draft.value(entry.key)
            name = key.text.strip('"') if key.text.startswith('"') else hint
            value = draft.value(entry.value, name if name.isidentifier() else hint)
            if value.text == "None" and shape.names:
                continue
            items.append(form.format(key, value))
    left, right = "{}" if is_hashed else "[]"
    return Code(f"{left}{with_comments(node, items, draft)}{right}")


def bracketed(
    left: str, node: s.Table, values: list[s.Node], right: str, hint: str, draft: Draft
) -> Code:
    """Return values in brackets."""
    items = [str(v) for v in draft.values(values, hint)]
    return Code(f"{left}{with_comments(node, items, draft)}{right}")


def with_comments(node: s.Table, items: list[str], draft: Draft) -> str:
    """Return entries behind commas, each on its own line where there are comments between them."""
    has_comments = any(f.comments or f.after for f in node.fields)
    if len(items) != len(node.fields) or not has_comments:
        return ", ".join(items)
    lines = []
    for entry, item in zip(node.fields, items, strict=True):
        if len(entry.after) == 1 and "\n" not in item:
            lines += [*entry.comments, f"{item},  {entry.after[0]}"]
        else:
            lines += [*entry.comments, *entry.after, f"{item},"]
    return "\n" + "\n".join(lines) + "\n"


@expression(s.Index)
def entry(node: s.Index, draft: Draft, _hint: str) -> Code:
    """``object[key]``."""
    return index(node, draft, node in draft.tested_later)


def index(node: s.Index, draft: Draft, is_test: bool = False) -> Code:
    """``object[key]``."""
    is_prefix, draft.is_prefix = draft.is_prefix, False
    path = draft.types.dotted(node)
    if path is not None and draft.types.names_package(path):
        return path_value(path, node, draft)
    if draft.types.is_constructor(node):
        made = draft.prefix(node.object)
        return (
            made if Kind.CLASS in draft.types.type(node.object).atoms else code.call("type", made)
        )
    kind = draft.types.indexed(node)
    if kind.only(Kind.NIL):
        kind = kind.without(Kind.NIL)  # it is not always
    path = draft.types.dotted(node.object)
    if path == "_G":
        return code.call("lua.variable", Code("globals()"), draft.value(node.key))
    if path == "arg" and (s.constant(node.key) == 0 or s.is_negative(node.key)):
        return Code("sys.argv[0]" if not s.is_negative(node.key) else "sys.executable")
    if path == "arg":
        made = Code(f"sys.argv[{draft.value(node.key)}]")
        return code.ternary(made, Code(f"len(sys.argv) > {draft.value(node.key)}"), NONE)
    is_package = path is not None and kind.only(Kind.PACKAGE)
    owner = Code(packages.package(str(path), draft)) if is_package else draft.prefix(node.object)
    draft.page.resolve(draft.how(node.object) if kind.atoms else "open")
    known = _known(owner, node, kind, is_test, is_prefix, draft)
    return code.call("lua.index", owner, draft.value(node.key)) if known is None else known


def _known(
    owner: Code, node: s.Index, kind: Type, is_test: bool, is_prefix: bool, draft: Draft
) -> Code | None:
    """Return an entry of what is known; None where a function looks it up."""
    name = s.constant(node.key)
    if kind.only(Kind.PACKAGE):
        own = draft.types.class_of_nn(node)
        if is_name(name) and (is_prefix or (own is not None and compat_names.has("nn", name))):
            return Code(f"{owner.atom}.{attribute(name)}")
        return code.call("getattr", owner, draft.value(node.key), *["None"] * (not is_prefix))
    if (kind.is_of_lua and isinstance(name, str)) or kind.is_lua_s:
        return Code(f"{owner.atom}[{draft.value(node.key)}]")
    if kind.only(Kind.OBJECT) and kind.klass is None:  # a table with a metatable
        return None
    if name == "__typename":
        is_class = kind.only(Kind.CLASS) or draft.types.class_of(node.object) is not None
        return Code(f"{owner.atom}.typename") if is_class else code.call("lua.typename", owner)
    is_class = draft.types.class_of(node.object) is not None
    if is_class or kind.only(Kind.OBJECT, Kind.CLASS, Kind.NIL):
        if not isinstance(name, str) and _has_getter(node, kind, draft):
            return Code(f"{owner.atom}[{draft.value(node.key)}]")
        is_any = Kind.CLASS in kind.atoms and not is_class and not draft.types.classes_of(kind)
        return None if is_any else _attribute(owner, node, draft, is_test)
    if kind.only(Kind.OPTIONS):
        if is_name(name) and name not in _METHODS_OF_DICT:
            return _option(owner, name, node, is_test, draft)
        return Code(f"{owner.atom}.get({draft.value(node.key)})")
    if kind.is_tensor:
        is_method = draft.types.type(node.key).is_string
        return None if is_method else element(owner, node, kind, draft)
    if kind.only(Kind.SIZES):
        return Code(f"{owner.atom}[{code.shifted(draft.value(node.key))}]")
    if kind.only(Kind.POINTER):
        return Code(f"{owner.atom}[{draft.value(node.key)}]")
    if kind.only(Kind.MODULE, Kind.OBJECT):
        return _of_module(owner, node, is_test, draft, is_prefix)
    shape = kind.shape
    if kind.only(Kind.TABLE, Kind.NIL) and shape is not None:
        return _of_table(owner, node, shape, is_test, draft, is_prefix)
    if kind.only(Kind.TABLE, Kind.OPTIONS, Kind.NIL) and shape is not None and shape.is_dict:
        return Code(f"{owner.atom}.get({draft.value(node.key)})")
    if not kind.atoms or kind.may(Kind.TABLE, Kind.TENSOR, Kind.MODULE, Kind.OPTIONS):
        draft.unknown(node.object, "indices")
    return None


def _option(owner: Code, name: str, node: s.Index, is_test: bool, draft: Draft) -> Code:
    """Return an option of the command line."""
    kind = draft.types.type(node)
    shape = draft.types.type(node.object).shape
    is_declared = shape is None or name in shape.always or not shape.always
    is_declared = is_declared and draft.types.declares(name)
    if shape is not None and draft.types.is_set_before(shape, node.key):
        is_declared = True
    if is_test or not is_declared or (draft.types.was_seen(node) and Kind.NIL in kind.atoms):
        return Code(f'{owner.atom}.get("{name}")')
    return Code(f"{owner.atom}.{attribute(name)}")


def _attribute(owner: Code, node: s.Index, draft: Draft, is_test: bool) -> Code | None:
    """Return a field of an object."""
    name = s.constant(node.key)
    if not is_name(name) or (not is_test and _is_method(node, name, draft)):
        return None
    if may_lack(node, draft) and (is_test or not _is_set(node, name, draft)):
        return Code(f'getattr({owner}, "{method_name(name)}", None)')
    is_missing = draft.types.type(node).atoms <= {Kind.NIL}
    if name == "__index" or (is_metamethod(name) and is_missing):  # Python has one of its own
        return None
    return Code(f"{owner.atom}.{method_name(name)}")


def _has_getter(node: s.Index, kind: Type, draft: Draft) -> bool:
    """Return whether an object's class has a method for numbers, which gives one value."""
    shape = kind.shape if kind.only(Kind.OBJECT) else None
    klass = None if shape is None else shape.klass
    getter = klass and klass.method(GETTER, draft.types.classes)
    if shape is None or getter is None or not draft.types.type(node.key).is_number:
        return False
    if shape.key.atoms & NUMBERS:  # Lua asks for what is not there
        return False
    return draft.types.signature(getter.function).count == 1


def _is_set(node: s.Index, name: str, draft: Draft) -> bool:
    """Return whether a method of the object's class, or of one above, puts something there."""
    klass = draft.types.type(node.object).klass
    line = [] if klass is None else klass.line(draft.types.classes)
    bodies = (define.function.body for klass in line for define in klass.methods.values())
    return any(name in set_names(body) for body in bodies)


def _is_method(node: s.Index, name: str, draft: Draft) -> bool:
    """Return whether ``node`` is an object's method, which Python gives with the object and Lua
    without.
    """
    kind = draft.types.type(node.object)
    klass = kind.klass if kind.only(Kind.OBJECT) else None
    define = None if klass is None else klass.method(name, draft.types.classes)
    if define is None and klass is not None:  # it may have got one under a computed name
        is_any = "dynamic" in klass.members.root().uses
        return is_any and draft.types.type(node).may(Kind.FUNCTION)
    return define is not None and (define.is_method or is_self(define.function))


def may_lack(node: s.Node, draft: Draft) -> bool:
    """Return whether ``node`` is a field that a layer may not have: nil in Lua, an error in
    Python.
    """
    name = s.constant(node.key) if isinstance(node, s.Index) else None
    if not isinstance(node, s.Index) or not isinstance(name, str) or not is_name(name):
        return False
    if node.key in draft.types.clues.set_before:
        return False
    kind = draft.types.indexed(node)
    klass = kind.klass
    is_layer = klass is not None and klass.is_layer(draft.types.classes)
    theirs = draft.types.classes_of_others(kind)
    is_own = klass is not None and is_layer and not theirs
    if klass is not None and is_own and klass.sets_first(name, draft.types.classes):
        return False
    classes = draft.types.classes_of(kind)
    if classes and not theirs and all(one.method(name, draft.types.classes) for one in classes):
        return False
    is_layer = is_layer or kind.only(Kind.MODULE, Kind.NIL)
    line = [] if klass is None else [*klass.line(draft.types.classes)]
    if any(name in draft.missing.get(own, ()) for own in line):
        return False
    if line and not theirs and compat_names.begins_with(line[-1].parent or "", name):
        return False
    of_package = {line[-1].parent or "", *theirs} if line else kind.classes
    return is_layer and not compat_names.has_field(attribute(name), of_package)


def _of_module(
    owner: Code, node: s.Index, is_test: bool, draft: Draft, is_prefix: bool
) -> Code | None:
    """Return a field of an object of compat's."""
    name = s.constant(node.key)
    if not is_name(name):
        return None
    kind, field = draft.types.type(node), attribute(name)
    is_there = node.key in draft.types.clues.set_before
    told = draft.types.indexed(node).classes
    is_layer = not told or any(one.startswith(("nn.", "cudnn.")) for one in told)
    is_of_all = is_layer and not kind.atoms  # of no known kind: not all layers may have it
    has = compat_names.has_field(field, told) if is_of_all else compat_names.is_field(field)
    is_there = is_there or (has and Kind.NIL not in kind.atoms)
    if is_test or not (is_prefix or is_there):
        return Code(f'getattr({owner}, "{field}", None)')
    # Lua's function takes the object as its first argument.
    return Code(f"{owner.atom}.{field}{'.__func__' if name in METHODS else ''}")


def _of_table(
    owner: Code, node: s.Index, shape: Table, is_test: bool, draft: Draft, is_prefix: bool
) -> Code | None:
    """``t[key]`` of a list or dict."""
    was_seen = draft.types.was_seen(node)
    is_nil = Kind.NIL in draft.types.type(node).atoms
    may_miss = not is_prefix and (is_test or (was_seen and is_nil))
    if not (is_prefix or was_seen or may_miss):
        may_miss = (shape.is_list and "deleted" in shape.uses) or draft.types.is_past(
            node.key, shape
        )
    if shape.is_own_meta:
        return Code(f"{owner.atom}[{draft.value(node.key)}]")
    if "meta" in shape.uses or shape.is_either:
        return None
    key_kind = draft.types.type(node.key)
    if shape.is_list and key_kind.is_number:
        is_whole = Kind.FLOAT not in key_kind.atoms or draft.types.was_seen(node.key)
        if may_miss or not is_whole:
            return None
        is_outside = not was_seen and draft.types.may_be_outside(node.key)
        is_outside = is_outside and not shape.has(s.constant(node.key))
        if is_length_of(node.key, node.object):
            last = Code(f"{owner.atom}[-1]")
            return code.ternary(last, owner, NONE) if is_outside else last
        if is_outside:
            return None
        return Code(f"{owner.atom}[{place(node.key, draft)}]")
    is_told = (shape.made and shape.keys) or was_seen or "sparse" in shape.uses
    if shape.is_list or (key_kind.is_number and not is_told):  # list or dict, nobody knows
        return None
    if not is_prefix and key_kind.atoms & {Kind.TABLE, Kind.OPTIONS}:  # no keys of a dict
        return None
    key = draft.value(node.key)
    certain = draft.types.holds(shape, node.key) and "deleted" not in shape.uses
    # Keys that are data may be others in another run.
    is_data = shape.made and ("dynamic" in shape.uses or not isinstance(node.key, s.Constant))
    is_there = certain or (was_seen and not is_data)
    if is_prefix or (is_there and not may_miss):
        return Code(f"{owner.atom}[{key}]")
    return Code(f"{owner.atom}.get({key})")


def is_length_of(key: s.Node, owner: s.Node) -> bool:
    """Return whether a key is ``#owner``."""
    return is_same(length_of(key), owner)


def made_nil(owner: Type, draft: Draft) -> set[object]:
    """Return the keys that a table is made with and that may be nil; Python's dict has them."""
    fields = [f for made in (owner.shape.made if owner.shape else ()) for f in made.fields]
    return {s.constant(f.key) for f in fields if f.key and draft.types.type(f.value).may_be_nil}
