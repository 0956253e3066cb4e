"""Assignments to variables and to what has fields."""

from __future__ import annotations

import ast
import re

from compat.port.know.form.shapes import is_name, is_open, is_same, is_self, next_of
from compat.port.know.names import own_tables
from compat.port.know.types import NUMBERS, Kind, Type
from compat.port.library import packages, rules
from compat.port.library.results import METHODS
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import NONE, Draft
from compat.port.write.logic import truth
from compat.port.write.places import place, wrapped
from compat.port.write.python_names import method_name
from compat.port.write.selections import selection
from compat.port.write.tables import is_length_of


def assignment(targets: list[str], nodes: list[s.Node], values: list[s.Node], draft: Draft) -> None:
    """``targets = values``."""
    hint = targets[0].split(".")[-1]
    hint = hint if hint.isidentifier() else "f"
    if len(targets) == 1 and len(values) == 1:
        put(targets[0], draft.value(values[0], hint), draft, nodes[0])
        return
    last = values[-1]
    if len(values) == len(targets) or not is_open(last) or len(values) > len(targets):
        made_all = [draft.value(v, hint) for v in values]
        for extra in made_all[len(targets) :]:
            if "(" in extra.text:
                draft.page.write(extra.text)
        made_all = made_all[: len(targets)]
        made_all += [NONE] * (len(targets) - len(made_all))
        if all(m.text == "None" for m in made_all):
            draft.page.write_rows("", targets, " = ", " = None")
            return
        draft.page.write(f"{', '.join(targets)} = {', '.join(m.text for m in made_all)}")
        return
    first = [draft.value(v, hint) for v in values[:-1]]
    made = draft.any(last, hint)
    left = len(targets) - len(first)
    if made.tells and any(_is_read(n, draft) for n in nodes[len(first) + 1 :]):
        draft.tell()
    if made.pair and not first and left == 2:
        draft.page.write(f"{', '.join(targets)} = {made.pair}")
        if _is_read(nodes[1], draft) or not targets[1].startswith("_"):
            draft.page.write(f"{targets[1]} += 1", "it counts from 1")
        return
    if made.pair:
        made = Code(made.every, spread=2)
    if isinstance(last, s.Vararg):
        is_list = made.text == "*sys.argv[1:]"
        made = Code(f"lua.adjust({f'({made},)' if is_list else made.text[1:]}, {left})")
    elif made.text.startswith("*") and draft.types.count(last) == left:
        made = Code(made.text[1:])
    elif made.every.startswith("(") and draft.types.count(last) == left:
        made = Code(made.every[1:-1])
    elif made.every and made.spread != left:
        made = Code(f"lua.adjust({made.all_results}, {left})")
    elif made.spread == 1 and draft.types.count(last) is None:
        made = Code(f"lua.adjust({made}, {left})")
    elif made.spread != left:
        if made.spread is not None and made.spread > left:
            made = Code(f"{made.atom}[:{left}]")
        elif made.spread == 1:
            first, made = [*first, made], Code(", ".join(["None"] * (left - 1)))
        else:
            made = Code(_padded(made.text, left))
    if first and made.text and "None" not in made.text.split(", "):
        made = Code(f"*{made.at(code.UNARY)}")
    draft.page.write(f"{', '.join(targets)} = {', '.join([*(f.text for f in first), made.text])}")


def _padded(text: str, count: int) -> str:
    """Return ``count`` values of a call, or of ``*list``, with None for what is missing."""
    if not text.startswith("*"):
        return f"lua.adjust({text}, {count})"
    if parts := re.fullmatch(r"\*list\(([\w.\[\]]+\.(?:split|chunk)\(.+\))\)", text):
        return f"lua.adjust({parts[1]}, {count})"
    return f"lua.unpack({text[1:]}, 1, {count})" if count > 1 else f"lua.adjust(({text},), 1)"


def _is_read(target: s.Node, draft: Draft) -> bool:
    return not isinstance(target, s.Name) or bool(target.variable.reads)


def put(target: str, value: Code, draft: Draft, node: s.Node) -> None:
    """``target = value``, or ``target += …`` of numbers and strings."""
    match = re.fullmatch(rf"{re.escape(target)} ([-+*/]) (.+)", value.text, re.S)
    inner = target.replace('"', "'")
    is_more = match or value.text.startswith(f'f"{{{inner}}}')
    kind = draft.types.owner(node) if is_more else Type()  # of an entry, asked for it is read
    tree = _tree(value.text) if kind.is_number or kind.is_string else None
    if match and isinstance(tree, ast.BinOp) and ast.dump(tree.left) == ast.dump(_tree(target)):
        draft.page.write(f"{target} {match[1]}= {match[2]}")
        return
    if kind.is_string and not match and isinstance(tree, ast.JoinedStr):
        draft.page.write(f'{target} += f"{value.text[len(target) + 4 :]}')
        return
    if value.text == target:
        return
    test, default = _default(target, value.text)
    if default is None:
        draft.page.write(f"{target} = {value}")
        return
    draft.page.write(f"if {test}:")
    with draft.page.indented():
        draft.page.write(f"{target} = {default}")


def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _default(target: str, text: str) -> tuple[str, str | None]:
    """Return the test and the value of ``x = x or value``; None if that is no such default."""
    if text.startswith(f"{target} if {target} is not None else "):
        tree = _tree(text)
        if isinstance(tree, ast.IfExp) and ast.dump(tree.body) == ast.dump(_tree(target)):
            return f"{target} is None", text[len(target) * 2 + len(" if  is not None else ") :]
    return "", None


def target_of(node: s.Index, draft: Draft) -> str | None:
    """``object[key]`` as the target of an assignment; None if that takes a function."""
    kind = draft.types.indexed(node)
    name = s.constant(node.key)
    word = is_name(name)
    owner = draft.prefix(node.object)
    path = draft.types.dotted(node.object)
    if path is not None and own_tables(draft.types, path):
        path = None

    def entry() -> str:
        return f"{owner.atom}[{draft.value(node.key)}]"

    if kind.only(Kind.TABLE, Kind.OPTIONS) and kind.may(Kind.OPTIONS) and kind.may(Kind.TABLE):
        return entry()
    if word and path is not None and (holder := packages.holder(path, draft)) is not None:
        return f"{holder}.{name}"
    if kind.only(Kind.OBJECT) and kind.klass is None:
        return None
    if path is not None and "." in path and not word:  # what a package has is a class
        return None
    is_object = kind.only(Kind.OBJECT, Kind.CLASS, Kind.MODULE, Kind.OPTIONS, Kind.NIL)
    if word and (is_object or draft.types.class_of(node.object) is not None):
        return f"{owner.atom}.{method_name(str(name))}"
    if kind.only(Kind.POINTER) or kind.is_lua_s:
        return entry()
    key = draft.types.type(node.key)
    if kind.only(Kind.OPTIONS) and key.is_string:
        return entry()
    if kind.is_tensor and (
        key.present.is_number or key.may(Kind.TABLE, Kind.SIZES) or key.is_tensor
    ):
        made, _ = selection(owner, node.key, kind, draft)
        if not made.text.endswith("]"):
            return None
        return f"{owner.atom}[:]" if made.text == owner.text else made.text
    shape = kind.shape
    if kind.only(Kind.TABLE) and shape is not None and shape.is_own_meta:
        return entry()
    if not kind.only(Kind.TABLE, Kind.NIL) or shape is None or "meta" in shape.uses:
        return None
    if shape.is_either:
        return None
    if not shape.is_list:
        return None if Kind.NIL in key.atoms else entry()  # Python takes None for a key
    return f"{owner.atom}[{place(node.key, draft)}]" if is_there(node, draft) else None


def is_there(node: s.Index, draft: Draft) -> bool:
    """Return whether a list has the entry that is assigned to."""
    written = draft.types.facts.get((draft.file.path, node.key.start, -node.key.end))
    return written == ["over"] or (written is None and node.key in draft.types.overwritten)


def store(target: s.Index, values: list[s.Node], draft: Draft) -> None:
    """``object[key] = value``."""
    name = s.constant(target.key)
    hint = name if is_name(name) else "f"
    value_node = values[0]
    owner = getattr(target.object, "variable", None)
    is_class = draft.types.class_of(target.object) or getattr(owner, "is_class", False)
    if name == "__index" and is_class:
        return
    is_nil = s.is_nil(value_node)
    if is_nil and _delete(target, draft):
        return
    kind = draft.types.owner(target.object)
    if is_nil and kind.only(Kind.MODULE) and name in METHODS:  # the class's own is called again
        draft.page.write(f'vars({draft.value(target.object)}).pop("{name}", None)')
        return
    if _is_default(target, values, draft):
        assert isinstance(value_node, s.Binary)
        if default := re.fullmatch(r"(.+)\.get(\([\w.\"]+, .+\))", draft.value(value_node).text):
            draft.page.write(f"{default[1]}.setdefault{default[2]}")
            return
        draft.page.write(f"if {code.negated(truth(value_node.left, draft))}:")
        with draft.page.indented():
            store(target, [value_node.right], draft)
        return
    is_bound = binds(target, value_node, draft)
    is_computed = is_class and not isinstance(name, str)
    if isinstance(value_node, s.Function) and (draft.types.dotted(target.object) or is_computed):
        draft.patches.add(value_node)
        draft.types.signature(value_node).root().is_hook |= is_computed  # anybody may call it
    by = draft.types.owner(target.key)  # with a mask, PyTorch wants tensors of one type
    draft.fitting = {value_node} if kind.is_tensor and by.only(*NUMBERS, Kind.TABLE) else set()
    made = draft.value(value_node, str(hint))
    if is_class and isinstance(value_node, s.Index):  # C.g = C.f
        klass = draft.types.class_of(value_node.object)
        word = str(s.constant(value_node.key))
        define = None if klass is None else klass.method(word, draft.types.classes)
        if define is not None and not define.is_method and not is_self(define.function):
            made = code.call("staticmethod", made)
    given = draft.types.type(value_node)
    if kind.is_tensor and given.only(*_WORDS) and Kind.STRING in given.atoms:
        made = code.call("float", made)
    if kind.is_tensor:
        made = rules.fit(made, value_node, target, draft) or made
    held = wrapped(value_node, *kind.dtypes) if len(kind.dtypes) == 1 else None
    made = made if held is None else Code(str(held))
    for extra in values[1:]:
        draft.page.write(draft.value(extra).text)
    draft.page.resolve(draft.how(target.object))
    if _may_delete(value_node, target, kind, draft):
        draft.page.write(
            f"lua.put({draft.value(target.object)}, {draft.value(target.key)}, {made})"
        )
        return
    may_be_nil = draft.types.may_be_nil(value_node)
    store_code(target, bound(made, target, draft) if is_bound else made, draft, may_be_nil)


# What a tensor takes for a number.
_WORDS = (Kind.STRING, Kind.NUMBER, Kind.INT, Kind.FLOAT, Kind.NIL)


def _is_default(target: s.Index, values: list[s.Node], draft: Draft) -> bool:
    """Return whether ``t[key] = t[key] or value`` sets an entry that is not there."""
    value, own = values[0], s.describe(target)
    if not isinstance(value, s.Binary) or value.operator != "or" or len(values) > 1:
        return False
    if own != s.describe(value.left) or "…" in own:
        return False
    return not draft.types.owner(target.object).is_tensor


def _may_delete(value: s.Node, target: s.Index, kind: Type, draft: Draft) -> bool:
    """Return whether what a dict is given may be nil: then it has no entry, for which somebody
    has a default, or there may be an option.
    """
    if kind.only(Kind.OPTIONS) and not isinstance(target.key, s.Constant):
        is_copied = isinstance(value, s.Name) and value.variable in draft.types.copied
        return not is_copied and draft.types.type(value).may(Kind.NIL)
    shape = kind.shape if kind.only(Kind.TABLE, Kind.NIL) else None
    if shape is None or not shape.is_dict or "default" not in shape.uses:
        return False
    given = draft.types.type(value)
    return given.may_be_nil and not given.only(Kind.NIL)


def bound(function: Code, target: s.Index, draft: Draft) -> Code:
    """Return a method of one object, which a function becomes."""
    return code.call("types.MethodType", function, draft.value(target.object))


def binds(target: s.Index, value: s.Node, draft: Draft) -> bool:
    """Return whether a function that is put into an object is called with it.

    It takes all that it is given, then.
    """
    is_method = not draft.types.dotted(target.object) and _is_method(target, value, draft)
    if is_method and isinstance(value, s.Function):
        draft.types.signature(value).root().is_hook = True
    return is_method


def _is_method(target: s.Index, value: s.Node, draft: Draft) -> bool:
    owner = draft.types.owner(target.object)
    if owner.only(Kind.MODULE):
        kind = draft.types.type(value)
        is_function = not isinstance(value, s.Index) and kind.may(Kind.FUNCTION)
        return str(s.constant(target.key)) in METHODS and is_function
    kind = draft.types.type(value)
    is_told = isinstance(target.key, s.Constant) or kind.only(Kind.FUNCTION)
    signature = kind.signature if owner.only(Kind.OBJECT) and is_told else None
    if signature is None or owner.shape is None or isinstance(value, s.Index):
        return False
    if s.constant(target.key) in draft.types.given_owner:
        return False
    klass = owner.shape.klass
    define = klass and klass.method(str(s.constant(target.key)), draft.types.classes)
    is_over = define is not None and (define.is_method or is_self(define.function))
    return bool(signature.nodes) and (is_over or all(map(is_self, signature.nodes)))


def renew(holder: s.Node, made: Code, draft: Draft) -> None:
    """Have what holds sizes, which Lua changes in place, hold others."""
    if isinstance(holder, s.Index):
        store_code(holder, made, draft)
    else:
        draft.page.write(f"{draft.prefix(holder)} = {made}")


def store_code(target: s.Index, value: Code, draft: Draft, may_be_nil: bool = False) -> None:
    """Put what is computed into a field or entry."""
    place = target_of(target, draft)
    if place is not None:
        put(place, value, draft, target)
        return
    kind = draft.types.indexed(target)
    owner = draft.prefix(target.object)
    if kind.only(Kind.SIZES, Kind.STORAGE) and not isinstance(target.object, s.Call):
        renew(target.object, code.call("lua.resized", owner, draft.value(target.key), value), draft)
        return
    shape = kind.shape
    if kind.only(Kind.TABLE) and shape is not None and shape.is_list:
        key = target.key
        written = draft.types.facts.get((draft.file.path, key.start, -key.end))
        appends = is_same(next_of(key), target.object)
        is_filled = key in draft.types.clues.appended and "filled" in shape.uses and not written
        is_filled &= not shape.uses & {"from its end", "begun late"}
        was_added = written == ["append"] and not may_be_nil
        if appends or is_filled or was_added:
            append = f"lua.insert({owner}, " if appends and may_be_nil else f"{owner.atom}.append("
            draft.page.write(f"{append}{value})")
            return
        draft.page.write(f"lua.put({owner}, {draft.value(key)}, {value})")
        return
    if not kind.atoms:
        draft.unknown(target.object, "indices")
    draft.page.write(f"lua.put({owner}, {draft.value(target.key)}, {value})")


def _delete(target: s.Index, draft: Draft) -> bool:
    """``t[key] = nil``."""
    kind, klass = draft.types.type(target.object), draft.types.class_of(target.object)
    if klass is not None and klass.is_layer(draft.types.classes):  # that of the class above is seen
        owner, key = draft.value(target.object), draft.value(target.key)
        draft.page.write(f"lua.put({owner}, {key}, None)")
        return True
    if not kind.only(Kind.TABLE) or kind.shape is None or "meta" in kind.shape.uses:
        return False
    if kind.shape.is_either:
        return False
    owner = draft.value(target.object)
    if kind.shape.is_list:
        if is_length_of(target.key, target.object):
            draft.page.write(f"del {owner.atom}[-1:]")  # also of an empty one
        else:  # of the last entry, it makes the list shorter
            draft.page.write(f"lua.put({owner}, {draft.value(target.key)}, None)")
        return True
    draft.page.write(f"{owner.atom}.pop({draft.value(target.key)}, None)")
    return True
