"""Parts of tensors: ``x[i]``, ``x[{{a, b}, i}]``."""

from __future__ import annotations

from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.places import mask, place, stop


def element(owner: Code, node: s.Index, kind: Type, draft: Draft) -> Code:
    """``x[key]`` of a tensor, as a value."""
    made, is_number = selection(owner, node.key, kind, draft)
    result = draft.types.type(node)
    if is_number or (is_number is None and result.is_number):
        return Code(f"{made.atom}.item()")
    if is_number is None and not result.is_tensor and node not in draft.fitting:
        name = next((n for n in s.walk(node.object) if isinstance(n, s.Name)), None)
        key = (None if name is None else name.variable, f"a number in {s.describe(node.object)}")
        if key not in draft.types.told:
            draft.types.told.add(key)
            draft.page.mark(f"whether {s.describe(node)} is a number is not known", "views")
        return code.call("lua.item", made)
    return made


def selection(owner: Code, key: s.Node, kind: Type, draft: Draft) -> tuple[Code, bool | None]:
    """``x[key]``, and whether that is one number (None: not known)."""
    key_kind = draft.types.owner(key)
    if isinstance(key, s.Table):
        return slices(owner, key, kind, draft)
    if key_kind.is_number:
        is_open = kind.ranks & {-1, 1} and not (kind.deep and 1 not in kind.ranks)
        number = True if kind.ranks == {1} else None if is_open else False
        return Code(f"{owner.atom}[{place(key, draft)}]"), number
    if key_kind.is_tensor:
        return Code(f"{owner.atom}[{mask(key, draft, owner, kind)}]"), False
    if key_kind.only(Kind.SIZES, Kind.STORAGE):
        return Code(f"{owner.atom}[tuple(i - 1 for i in {draft.value(key)})]"), True
    if not key_kind.only(Kind.TABLE):
        draft.unknown(key, "indices")
    return code.call("lua.index", owner, draft.value(key)), False


def _is_range(node: s.Node, draft: Draft) -> bool:
    """Return whether a variable is ``{first, last}``, neither of them counted from the end."""
    given = draft.types.clues.sources.get(node.variable, []) if isinstance(node, s.Name) else []
    made = [value for value in given if not s.is_nil(value)]
    return bool(made) and all(
        isinstance(value, s.Table)
        and len(value.fields) == 2
        and all(
            f.key is None and draft.types.type(f.value).is_number and not s.is_negative(f.value)
            for f in value.fields
        )
        for value in made
    )


def slices(owner: Code, key: s.Table, kind: Type, draft: Draft) -> tuple[Code, bool | None]:
    """``x[{{a, b}, i}]``."""
    parts = []
    taken = 0
    for entry in key.fields:
        value = entry.value
        if isinstance(value, s.Table):
            ends = [f.value for f in value.fields]
            if not ends:
                parts.append(":")
            elif len(ends) == 1:
                last = draft.value(ends[0])
                first = place(ends[0], draft)
                end = "" if last.text == "-1" else str(stop(ends[0], draft))
                parts.append(code.sliced(str(first), end))
            else:
                first = place(ends[0], draft)
                beginning = "" if first.text == "0" else str(first)
                parts.append(code.sliced(beginning, str(stop(ends[1], draft))))
        elif draft.types.owner(value).is_number:
            parts.append(str(place(value, draft)))
            taken += 1
        elif _is_range(value, draft):
            name = draft.prefix(value).atom
            parts.append(code.sliced(f"{name}[0] - 1", f"{name}[1]"))
        else:
            draft.unknown(value, "indices")
            return code.call("lua.index", owner, draft.any(key)), None
    if not parts:
        return owner, False
    while len(parts) > 1 and parts[-1] == ":":
        parts.pop()
    ranks = {rank for rank in kind.ranks if rank < 0 or rank >= taken}  # fewer would be an error
    is_known = len(ranks) == 1 and -1 not in ranks
    is_number = taken in ranks if is_known else None
    if taken < len(key.fields):
        is_number = False
    return Code(f"{owner.atom}[{', '.join(parts)}]"), is_number
