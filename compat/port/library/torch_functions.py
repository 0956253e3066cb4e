"""``torch.name(arguments)``."""

from __future__ import annotations

import re

from compat.port.know.types import Kind, Type
from compat.port.library import function_results, results, rules, tensors
from compat.port.library.joined import joined
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.places import whole, wrapped


def torch_function(name: str, node: s.Call, draft: Draft) -> Code:
    """Return a call of a function of Torch7's."""
    if name == "deserialize" and (copied := _copied(node, draft)) is not None:
        return copied
    kinds = [draft.types.type(a) for a in node.arguments]
    if name == "LongStorage" and len(kinds) == 1 and kinds[0].only(Kind.TABLE):
        sizes, shape = draft.value(node.arguments[0]), kinds[0].shape
        if shape is not None and shape.items.only(Kind.INT):
            return code.call("torch.Size", sizes)
        return Code(f"torch.Size(int(n) for n in {sizes})")
    if name.endswith("Tensor") and name != "isTensor":
        made = _constructor(name, node, kinds, draft)
        if made is not None:
            return made
    if not draft.is_open(node.arguments):
        found = function_results.torch_rule(name, kinds)
        if found is not None:
            rule, has_result = found
            operands = kinds[1:] if has_result else kinds
            if name == "cat" and (made := joined(node.arguments, draft)) is not None:
                return made
            if name == "pow" and all(kind.is_number for kind in kinds):
                return draft.value(s.Binary("^", *node.arguments))
            if rules.fits(rule, operands, node.arguments):
                draft.page.resolve(
                    "run" if all(map(draft.types.was_seen, [node, *node.arguments])) else "code"
                )
                if name == "randperm" and node not in draft.types.clues.orders:
                    made = rules.apply(rule, None, node.arguments, draft)
                    return code.call(f"{made}.to", "torch.get_default_dtype()")
                if not has_result:
                    made = rules.apply(rule, None, node.arguments, draft)
                    return rules.item(made, node, draft) if rule.result == "t|?" else made
                return rules.with_result(name, rule, node.arguments, draft)
    if name in ("load", "Timer", "CmdLine"):
        return code.call(f"torch7.{name}", *draft.arguments(node))
    unknown = next(
        (a for a, k in zip(node.arguments, kinds, strict=False) if results.kind_of(k) == "?"), None
    )
    if unknown is not None and name in tensors.FUNCTIONS.names():
        draft.unknown(unknown, "calls")
    draft.page.resolve("open" if unknown is not None else "code")
    own = f"lua.torch.{name}"
    if name == "class":
        draft.page.mark("a class that is made at this place is Lua's own", "classes")
        own = 'getattr(lua.torch, "class")'
    made = code.call(own, *draft.arguments(node))
    return Code(made.text, spread=draft.types.count(node))


def _copied(node: s.Call, draft: Draft) -> Code | None:
    """``torch.deserialize(torch.serialize(x))``, a deep copy."""
    inner = node.arguments[0] if len(node.arguments) == 1 else None
    if not isinstance(inner, s.Call) or len(inner.arguments) != 1:
        return None
    if draft.types.dotted(inner.function) != "torch.serialize" or inner.method is not None:
        return None
    return code.call("copy.deepcopy", draft.value(inner.arguments[0]))


def _constructor(name: str, node: s.Call, kinds: list[Type], draft: Draft) -> Code | None:
    """Write ``torch.Tensor(…)`` and the other constructors."""
    plain = name.removesuffix("Tensor")
    cuda = plain.startswith("Cuda")
    plain = plain.removeprefix("Cuda") or ("Float" if cuda else "")
    if plain and plain not in tensors.DTYPES:
        return None
    extra = [f"dtype={tensors.DTYPES[plain]}"] if plain else []
    if cuda:
        extra.append("device=cutorch.device()")
    letters = "".join(map(results.kind_of, kinds))
    arguments = node.arguments
    if not arguments:
        return code.call("torch.empty", "0", *extra)
    if any(isinstance(a, s.Constant) and a.value == 0 for a in arguments):
        return None  # a size of 0 ends the list of sizes
    if re.fullmatch("n+", letters):
        if draft.is_open(arguments):
            return None
        return code.call("torch.empty", *(whole(a, draft) for a in arguments), *extra)
    if letters == "y":
        is_filled = name == "LongTensor"  # the sizes are the storage that it shows
        made = "torch.tensor" if is_filled else "torch.empty"
        return code.call(made, draft.value(arguments[0]), *([] if is_filled else extra))
    if letters == "l":
        table = kinds[0].shape
        if table is not None and not table.is_list:
            return None
        part = kinds[0]
        while part.shape is not None and part.only(Kind.TABLE):
            part = part.shape.items
        if part.atoms & {Kind.TABLE, Kind.STRING}:  # texts are numbers, too
            if table is None or not table.items.is_string:
                return None
            items = code.call("list", code.call("map", "float", draft.value(arguments[0])))
        else:
            items = draft.value(arguments[0])
        if not extra:
            return code.call("torch.Tensor", items)
        if any(wrapped(part, plain) for part in s.walk(arguments[0])):  # in C it wraps around
            return code.call(f"torch.tensor({items}).to", tensors.DTYPES[plain])
        return code.call("torch.tensor", items, *extra)
    return None
