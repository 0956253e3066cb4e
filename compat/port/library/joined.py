"""Tensors that are joined: ``torch.cat``, of some that have fewer dimensions, too."""

from __future__ import annotations

from compat.port.library.results import cat_dims, part_of
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft


def joined(arguments: list[s.Node], draft: Draft) -> Code | None:
    """Return tensors joined, where some of them have fewer dimensions; None if none has."""
    last = arguments[-1] if draft.types.type(arguments[-1]).is_number else None
    given = arguments if last is None else arguments[:-1]
    kinds = [draft.types.type(node) for node in given]
    number = s.constant(last) if last is not None else None
    most = cat_dims(number, kinds)
    # What is empty, ``torch.Tensor()``, both leave out.
    own = [part_of(kind).dims - {0} or most for kind in kinds]
    is_any = number is None and last is not None and any(1 in sizes for sizes in own)
    if not is_any and (most == {-1} or all(sizes == most for sizes in own)):
        return None
    values = [draft.value(node) for node in given]
    if is_any and last is not None:
        return code.call("lua.torch.cat", *values, draft.value(last))
    is_list = kinds[0].shape is not None
    lacking = {max(most) - max(sizes) for sizes in own}
    if lacking == {1} and isinstance(number, int) and all(len(sizes) == 1 for sizes in own):
        parts = str(values[0]) if is_list else f"[{', '.join(map(str, values))}]"
        return code.call("torch.stack", parts, str(number - 1))
    if is_list or any(len(sizes) > 1 for sizes in own):
        return code.call("lua.torch.cat", *values, *([draft.value(last)] if last else []))
    grown = (
        value.atom + ".unsqueeze(-1)" * (max(most) - max(sizes)) if sizes != most else str(value)
        for value, sizes in zip(values, own, strict=True)
    )
    place = number - 1 if isinstance(number, int) else "-1" if last is None else None
    return None if place is None else code.call("torch.cat", f"[{', '.join(grown)}]", str(place))
