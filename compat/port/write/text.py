"""Text put together: f-strings, as Lua's ``..`` and ``tostring`` show values."""

from __future__ import annotations

import re

from compat.port.know.files import Class
from compat.port.know.form.shapes import length_of
from compat.port.know.prototypes import names
from compat.port.know.types import Kind
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft

# An entry whose key may be a call, and what else gives None at times.
_MAY_BE_NONE = re.compile(
    r"\.get\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)$| else None$"
    r"|(^|= )lua\.(index|remove|first|both)\(.*\)$"
)


def concatenation(node: s.Binary, draft: Draft) -> Code:
    """``..``: an f-string; of what has a metamethod for it a call."""
    parts = _put_together(node)
    if not _is_own(parts, draft):
        return formatted([node], draft)
    made = draft.value(parts[-1])
    for part in reversed(parts[:-1]):
        made = code.call("lua.joined", draft.value(part), made)
    return made


def _is_own(parts: list[s.Node], draft: Draft) -> bool:
    """Return whether a metamethod of the script's may put some of these together."""
    kinds = [draft.types.type(p) for p in parts]
    if draft.types.operator_of("..", *kinds) is not None:
        return True
    shapes = [k.shape for k in kinds if k.has_meta and k.shape is not None]
    return any(k.is_lua_s for k in kinds) or any(shape.event("__concat").atoms for shape in shapes)


def formatted(parts: list[s.Node], draft: Draft, separator: str = "") -> Code:
    """Return an f-string of expressions, as Lua's ``tostring`` shows them."""
    inner = _put_together(parts[0])
    are_texts = all(
        draft.types.type(part).is_string and not isinstance(part, s.Constant) for part in inner
    )
    if len(parts) == 1 and len(inner) == 2 and are_texts:
        return code.binary(draft.value(inner[0]), "+", draft.value(inner[1]))
    pieces: list[str | tuple[str, str]] = []
    for i, whole in enumerate(parts):
        if i and separator:
            pieces.append(separator)
        inner = _put_together(whole)
        inner = [whole] if _is_own(inner, draft) else inner
        function = "lua.text" if len(inner) > 1 else "lua.tostring"  # of nil `..` makes an error
        for part in inner:
            if isinstance(part, s.Constant) and isinstance(part.value, str):
                pieces.append(code.text_of(part.value))
            else:
                pieces.append(_shown(part, function, draft))
    return code.f_string(pieces)


def _shown(node: s.Node, function: str, draft: Draft) -> str | tuple[str, str]:
    """Return an expression in the braces of an f-string, and its format; ``nil`` is a text."""
    kind = draft.types.type(node)
    made = draft.prefix(node) if function == "lua.text" else draft.value(node)
    if made.text == "None" and function == "lua.tostring":
        return "nil"
    text = f"({made})" if made.level <= code.LAMBDA else made.text
    if may_be_nil(node, made, draft) or may_be_sizes(node, draft):
        return f"{function}({text})", ""
    if is_text_of_itself(node, draft):
        if isinstance(node, s.Call) and (shown := re.fullmatch(r"str\(([\w .()+*/-]+)\)", text)):
            return shown[1], ""  # of tostring
        return text, "s" if kind.is_string else ""
    if kind.is_number:
        return text, ".14g"
    return f"{function}({text})", ""


def may_be_nil(node: s.Node, made: Code, draft: Draft) -> bool:
    """Return whether a value may be missing, though its type does not say so."""
    if _MAY_BE_NONE.search(made.text):
        return True
    if draft.types.was_seen(node):
        return False
    if draft.types.type(node).lacking:
        return True
    if isinstance(node, s.Name) and node.variable.is_global and draft.scope.node is None:
        return not _is_set(node, draft)
    if isinstance(node, s.Name):
        return node.variable in draft.lacking and node not in draft.types.clues.present
    if not isinstance(node, s.Index):
        return False
    kind, name = draft.types.type(node.object), s.constant(node.key)
    if kind.only(Kind.TABLE) and kind.shape is not None and kind.shape.is_own_meta:
        return not draft.types.holds(kind.shape, node.key) or "deleted" in kind.shape.uses
    shape = kind.shape if kind.only(Kind.OBJECT) or kind.only(Kind.CLASS) else None
    if shape is None or shape.klass is None or draft.types.holds(shape, node.key):
        return False
    if shape.klass.method(name, draft.types.classes):
        return False
    if Kind.CLASS in kind.atoms:
        return not _is_of_class(node, shape.klass, draft)
    return not shape.klass.sets_first(name, draft.types.classes)


def _is_set(node: s.Name, draft: Draft) -> bool:
    """Return whether a file, not only a function, sets a global variable before it reads it."""
    writes = [n for n, where in node.variable.writes if where is draft.scope]
    in_others = any(
        where.node is None and where is not draft.scope for _, where in node.variable.writes
    )
    return in_others or not node.variable.writes or any(n.start < node.start for n in writes)


def _is_of_class(node: s.Index, klass: Class, draft: Draft) -> bool:
    """Return whether a file sets the field of a class before anybody can ask for it."""
    for own in klass.line(draft.types.classes):
        for made in (n for file in draft.types.files for n in file.block.statements):
            for target in made.targets if isinstance(made, s.Assign) else ():
                if not isinstance(target, s.Index) or not names(target.object, own.variable):
                    continue
                is_before = draft.scope.node is not None or made.start < node.start
                if is_before and s.constant(target.key) == s.constant(node.key):
                    return True
    return False


def is_text_of_itself(node: s.Node, draft: Draft) -> bool:
    """Return whether ``str`` of a value that is there is Lua's text: of text, an int, a module."""
    kind = draft.types.type(node)
    is_own = kind.is_string or kind.only(Kind.MODULE)
    return is_own or (kind.is_int and not grows(node, draft))


def grows(node: s.Node, draft: Draft) -> bool:
    """Return whether an int is multiplied again and again, or was large in a run: Lua shows
    ``1e+15``.
    """
    seen = draft.types.facts.get((draft.file.path, node.start, node.end), ())
    return "float" in seen or (isinstance(node, s.Name) and node.variable.grows)


def may_be_sizes(node: s.Node, draft: Draft) -> bool:
    """Return whether ``node`` is ``#x`` of what may be a tensor."""
    subject = length_of(node)
    return subject is not None and draft.types.type(subject).may(Kind.TENSOR)


def _put_together(node: s.Node) -> list[s.Node]:
    """Return the operands of ``a .. b .. c``."""
    if isinstance(node, s.Binary) and node.operator == "..":
        return [*_put_together(node.left), *_put_together(node.right)]
    return [node]
