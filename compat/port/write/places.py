"""Numbers that count from 1 in Lua and from 0 in Python."""

from __future__ import annotations

import re

from compat.port.know.types import Type
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft


def mask(key: s.Node, draft: Draft, owner: Code, kind: Type) -> Code:
    """Return a tensor that selects from ``owner``: Torch7 asks for as many elements, PyTorch for
    the same sizes.
    """
    made = draft.any(key)
    of_owner = re.search(rf"(?<![\w.]){re.escape(owner.text)}(?!\w)", made.text)
    sizes = {frozenset(kind.dims), frozenset(draft.types.type(key).dims)}
    made = Code(made.mask or f"{made.atom}.bool()")
    if of_owner or (len(sizes) == 1 and kind.dims != {-1}):
        return Code(made.text, made.level)
    if kind.dims == {1}:
        return Code(f"{made.atom}.flatten()")
    if re.fullmatch(r"[\w.]+", owner.text):
        return Code(f"{made.atom}.reshape_as({owner})")
    return Code(made.text, made.level)


def place(key: s.Node, draft: Draft) -> Code:
    """Return a key as an index from 0."""
    if isinstance(key, s.Name) and key.variable.zero_based:
        return Code(key.variable.python)
    made = dims(key, draft) or draft.value(key)
    if not draft.types.is_whole(key) and not made.text.isdigit():
        return code.call("int", code.shifted(made))
    return code.shifted(made)


def stop(node: s.Node, draft: Draft) -> Code:
    """Return the last index of a slice, which Python's slices stop before."""
    made = draft.value(node)
    if made.text == "-1":
        return Code("")
    if re.fullmatch(r"-\d+", made.text):
        return Code(str(int(made.text) + 1))
    if made.text.startswith("-") and made.level >= code.UNARY:
        return Code(f"{made} + 1 or None")
    if isinstance(node, s.Name) and node.variable.zero_based:
        return code.shifted(Code(node.variable.python), 1)
    is_whole = draft.types.is_whole(node) or made.text.isdigit()
    return made if is_whole else code.call("int", made)


def whole(node: s.Node, draft: Draft) -> Code:
    """Return a number where PyTorch takes ints only."""
    made = draft.value(node)
    kind = draft.types.type(node)
    is_text = kind.present.is_string
    if not (kind.is_number or is_text) or draft.types.is_whole(node):
        return made
    return code.call("int", made)


def dims(node: s.Node, draft: Draft) -> Code | None:
    """``x:dim()`` where nobody minds that Torch7's empty tensor has none; else None."""
    if not isinstance(node, s.Call) or node.method not in ("dim", "nDimension"):
        return None
    if node.arguments or not draft.types.type(node.function).is_tensor:
        return None
    return Code(f"{draft.prefix(node.function).atom}.dim()")


_RANGES = {"Byte": (0, 2**8 - 1), "Char": (-(2**7), 2**7 - 1), "Short": (-(2**15), 2**15 - 1)}


def wrapped(node: s.Node, dtype: str) -> int | None:
    """Return what C makes of a number that a type of tensors cannot hold; None for another."""
    number = s.constant(node.operand if isinstance(node, s.Unary) else node)
    if dtype not in _RANGES or type(number) not in (int, float):
        return None
    least, most = _RANGES[dtype]
    number = -number if isinstance(node, s.Unary) else number
    is_held = least <= number <= most
    return None if is_held else (int(number) - least) % (most - least + 1) + least
