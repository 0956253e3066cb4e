"""The text that a rule about tensors makes of its arguments."""

from __future__ import annotations

import re
from dataclasses import replace

from compat.port.know.types import Kind, Type
from compat.port.library import results, tensors
from compat.port.library.table import Rule
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.places import mask, place, whole, wrapped
from compat.tensor_types import CPU_TYPES

_ONCE = "_own"  # the name of a tensor that is needed twice
_SUMS = {"sum", "mean", "std", "var", "prod", "norm", "trace"}


# These take sizes, which are ints.
_SIZED = {
    *("zeros", "ones", "rand", "randn", "eye", "view", "reshape", "resize", "expand", ".new"),
    *("repeatTensor", "narrow", "split", "chunk", "unfold", "topk", "randperm"),
}


# Of a tensor of bools these give what they give of Torch7's bytes.
_OF_MASKS = {"sum", "all", "any", "nonzero", "float", "double", "long", "int", "byte"}


# Of whole numbers alone these give what Torch7's give.
_SAME_OF_INTS = {"fill", "add", "csub", "mul", "clamp", "cmax", "cmin"}
# These make a tensor of their own, which PyTorch lays out as its operands are.
_LAID_OUT = {
    *("add", "csub", "mul", "div", "cmul", "cdiv", "pow", "cpow", "clamp", "cmax", "cmin", "clone"),
    *("addcmul", "addcdiv", "sort", "cumsum", "cumprod", "sum", "mean", "prod", "max", "min"),
    *("float", "double", "half", "long", "int", "short", "byte", "char", "type", "typeAs"),
    *("eq", "ne", "lt", "le", "gt", "ge", *tensors.WITH_RESULT),
}
_ASKS_LAYOUT = re.compile(rb":(isContiguous|stride|storage|data|view|viewAs)\(")
_IN_SINGLE = re.compile(rb":(float|cuda)\(")
_ON_GPU = re.compile(rb":cuda\(|Cuda")
_TO_CPU = {"float", "double", "half", "long", "int", "short", "byte", "char"}
_MOVING = {None, "cuda", "type", "typeAs", *_TO_CPU}
# These make tensors on the CPU.
_MAKERS = {
    *("Tensor", "zeros", "ones", "eye", "rand", "randn"),
    *("range", "randperm", "linspace", "logspace"),
}
# As many elements will do for Torch7; PyTorch needs shapes that fit.
_ELEMENTWISE = {
    *("copy", "add", "csub", "cmul", "cdiv", "addcmul", "addcdiv", "cmax", "cmin", "cpow"),
    *("eq", "ne", "lt", "le", "gt", "ge", "dist", "map", "map2"),
}


def apply(rule: Rule, owner: s.Node | None, arguments: list[s.Node], draft: Draft) -> Code:
    """Return a rule's text with its arguments in it."""
    shaped = owner if owner is not None else arguments[0] if arguments else None
    once: list[str] = []  # what would be computed twice
    apart = {int(number) for number in re.findall(r"\{(\d)", rule.text)}
    is_new = rule.name in _LAID_OUT and rule.result not in ("=", "s") and "out=" not in rule.text
    rest = [a for number, a in enumerate(arguments, 1) if number not in apart]

    def part(match: re.Match[str]) -> str:
        name, how = match[1], match[2]
        if name == "*":
            if how == "d":
                return ", ".join(str(place(a, draft)) for a in rest)
            if rule.name in _SIZED and not draft.is_open(rest):
                return ", ".join(str(whole(a, draft)) for a in rest)
            return ", ".join(map(str, draft.values(rest)))
        if int(name) > len(arguments):
            return "None"
        node = owner if name == "0" else arguments[int(name) - 1]
        assert node is not None
        if how in ("d", "i"):
            return str(place(node, draft))
        if how == "w":
            return whole(node, draft).at(code.UNARY)
        if how == "m":
            assert owner is not None
            return str(mask(node, draft, draft.prefix(owner), draft.types.type(owner)))
        if name == "0" and how == ".":
            if rule.name in _OF_MASKS and (made := draft.any(node)).mask:
                return made.mask
            made = draft.prefix(node)
            if rule.name == "cuda" and made.text.endswith(".cpu()"):
                made = Code(made.text.removesuffix(".cpu()"))
            return dense(made, node, draft).atom if is_new else made.atom
        if (
            rule.name in _SIZED
            and name != "0"
            and rule.result != "y"
            and draft.types.type(node).is_number
        ):
            made = whole(node, draft)
        else:
            made = draft.prefix(node) if how == "." else draft.value(node)
        if rule.name in _ELEMENTWISE and shaped is not None and node is not shaped:
            fitted = fit(made, node, shaped, draft, is_copy=rule.name == "copy")
            if fitted is not None and "(" in draft.prefix(shaped).text and ".shape" in fitted.text:
                once.append(draft.prefix(shaped).text)
                return fitted.text.replace(f"{draft.prefix(shaped).atom}.shape", f"{_ONCE}.shape")
            made = fitted or made
        if is_new:
            made = dense(made, node, draft)
        if how == "o":
            return made.at(level(rule.text) + (name != "1"))
        return made.atom if how == "." else made.at(_BESIDE.get(how, code.LAMBDA))

    def filled(template: str) -> str:
        return re.sub(r"\{(\*|\d)(\w|\.)?\}", part, template).replace("(, ", "(")

    template = _text(rule, owner, arguments, draft)
    text = filled(template if rest else template.replace(", {*}", ""))
    text = text.replace("=not True", "=False").replace("=not False", "=True")
    for computed in once[:1]:
        text = text.replace(computed, f"({_ONCE} := {computed})", 1)
    made = Code(text, level(rule.text), spread=rule.spread, every=filled(rule.every))
    if rule.result == "mask":
        return Code(f"{made.atom}.byte()", mask=made.atom)
    if rule.result.endswith(",index"):
        return Code(f"{made.atom}[0]", pair=text, every=f"lua.counted({text})")
    return made


_BESIDE = {"a": code.ATOM, "u": code.UNARY}
_LEVELS = {
    r" or ": code.OR, r" == | is ": code.COMPARE, r" [+-] ": code.ADD, r" [*/] ": code.MULTIPLY,
    r"^\*": code.UNARY, r" \*\* ": code.POWER,
}  # fmt: skip


def level(text: str) -> int:
    """Return how strongly the outermost operator of a rule's text binds."""
    outside = re.sub(r"\([^()]*\)", "", text)
    return next((value for sign, value in _LEVELS.items() if re.search(sign, outside)), code.ATOM)


def dense(made: Code, node: s.Node, draft: Draft) -> Code:
    """Return an operand of what makes a tensor of its own: Torch7's are contiguous, whatever it
    is.
    """
    kind = draft.types.type(node)
    asks = kind.strided and kind.is_tensor and _ASKS_LAYOUT.search(draft.file.source)
    return Code(f"{made.atom}.contiguous()") if asks else made


def fit(made: Code, node: s.Node, like: s.Node, draft: Draft, is_copy: bool = False) -> Code | None:
    """Return a tensor in the shape of another, which has as many elements; None if it is known
    to have it.

    Torch7 goes through both element by element, PyTorch repeats one to fit the other.
    """
    own, other = (draft.types.type(n).without(Kind.NIL) for n in (like, node))
    is_turned = _viewed_as(node, like)
    is_either = other.is_tensor or (is_copy and other.may(Kind.TENSOR))
    if not (own.is_tensor and is_either):
        return None
    if own.ranks == other.ranks != {-1} and not is_turned:
        return None
    # What is summed up has one dimension more than many a tensor that it meets.
    is_open = -1 in own.ranks | other.ranks and len(own.ranks - {-1}) < 2
    is_odd = own.thin != other.thin and (own.thin or own.ranks <= {1, -1})
    is_odd |= own.ranks == {1} and max(other.ranks, default=1) > 1
    if is_copy:  # what is copied is repeated, where it goes is not
        is_slice = isinstance(like, s.Call) and results.has_size_1(str(like.method), like)
        is_odd = own.ranks == {1} or is_slice if other.buffer else other.thin != own.thin
        if own.ranks == {1} and _is_part(like):  # flat:narrow(1, at, p:nElement()):copy(p)
            is_odd |= max(other.ranks, default=1) > 1 or not isinstance(node, s.Call)
    # A layer's weights have two dimensions or more, but for those of few.
    is_weight = isinstance(like, s.Index) and s.constant(like.key) in ("weight", "gradWeight")
    is_odd |= is_weight and own.ranks == {-1} and other.ranks == {1}
    if is_open and not is_turned and not is_odd:
        return None
    shape = "-1" if own.ranks == {1} else f"{draft.prefix(like).atom}.shape"
    return Code(f"{made.atom}.reshape({shape})")


def _is_part(node: s.Node) -> bool:
    """Return whether an expression is a part of a tensor that has as many dimensions."""
    if isinstance(node, s.Call):
        return node.method in ("narrow", "sub")
    return isinstance(node, s.Index) and isinstance(node.key, s.Table)


def _viewed_as(node: s.Node, like: s.Node) -> bool:
    """Return whether a tensor is another with its dimensions in another order."""
    while isinstance(node, s.Call) and node.method is not None:
        if node.method in ("t", "transpose", "permute"):
            return s.describe(node.function) == s.describe(like)
        node = node.function
    return False


def _text(rule: Rule, owner: s.Node | None, arguments: list[s.Node], draft: Draft) -> str:
    """Return a rule's text; of a FloatTensor another.

    Torch7 sums up its elements in double precision, and ``cuda`` need not make it one.
    """
    if rule.name == "type" and owner and arguments and not _names_cpu_type(arguments[0], draft):
        return "lua.converted({0}, {1})"
    subject = owner if owner is not None else arguments[0] if arguments else None
    is_sum = rule.result in ("t=", "t1") and rule.name in _SUMS | {"cumsum", "cumprod"}
    if subject is not None and is_sum and draft.types.type(subject).dtypes == {"Byte"}:
        return f"{rule.text[:-1]}, dtype=torch.uint8)"  # of bytes, as in Torch7
    if subject is None or not draft.types.owner(subject).is_tensor:
        return rule.text
    dtypes = draft.types.type(subject).dtypes
    if rule.name == "index" and draft.types.type(arguments[-1]).dtypes == {"Long"}:
        return rule.text.replace(".long()", "")
    # A norm in single precision is too small by 1e-4 of some million elements.
    is_rough = rule.name == "norm" and any(_IN_SINGLE.search(f.source) for f in draft.types.files)
    others = {"?", "Default"} if draft.types.clues.may_be_float or is_rough else set()
    may_be_float = not dtypes or bool(dtypes & {"Float", *others})
    if may_be_float and rule.result == "n" and rule.name in _SUMS:
        return re.sub(r"^\{([01])\.\}", r"{\1.}.double()", rule.text)
    if rule.name in _TO_CPU and owner is not None and not arguments and _may_be_away(owner, draft):
        return f"{rule.text}.cpu()"  # Torch7's types without Cuda are those of the CPU
    return rule.text.replace(".float().to(", ".to(") if dtypes == {"Float"} else rule.text


def _may_be_away(node: s.Node, draft: Draft) -> bool:
    """Return whether a tensor may be on a GPU: the program has some there, and does not make this
    one on the CPU.
    """
    if not any(_ON_GPU.search(file.source) for file in draft.types.files):
        return False
    root = _root(node)
    made = draft.types.clues.put_into(root) or [root]
    return not all(_is_made_on_cpu(_root(value), draft) for value in made)


def _root(node: s.Node) -> s.Node:
    """Return what methods are called of and entries are taken from, up to what may move it."""
    while True:
        if isinstance(node, s.Index):
            node = node.object
        elif isinstance(node, s.Call) and node.method not in _MOVING:
            node = node.function
        else:
            return node


def _is_made_on_cpu(node: s.Node, draft: Draft) -> bool:
    if not isinstance(node, s.Call) or node.method is not None:
        return isinstance(node, s.Call) and node.method in _TO_CPU
    path = draft.types.dotted(node.function)
    package, _, name = (path or "").partition(".")
    return package == "image" or (package == "torch" and (path in CPU_TYPES or name in _MAKERS))


def item(made: Code, node: s.Node, draft: Draft) -> Code:
    """Return what may be a number in Torch7 where PyTorch has a tensor without dimensions."""
    is_tensor = draft.types.type(node).is_tensor
    return made if is_tensor or node in draft.fitting else code.call("lua.item", made)


def _names_cpu_type(node: s.Node, draft: Draft) -> bool:
    """Return whether the name of a tensor's type is one that PyTorch has, too."""
    name = s.constant(node)
    if name is None:
        return not any(b"Cuda" in file.source for file in draft.types.files)
    return name in CPU_TYPES


def with_result(name: str, rule: Rule, nodes: list[s.Node], draft: Draft) -> Code:
    """``torch.add(r, x, y)``: ``torch.add(x, y, out=r)``."""
    result, *rest = nodes
    if "=" not in rule.text:
        given = ", ".join(f"{{{number}}}" for number in range(1, len(nodes)))
        rule = replace(rule, text=f"{tensors.WITH_RESULT[name]}({given})")
    out = draft.value(result)
    return Code(f"{apply(rule, None, rest, draft).text[:-1]}, out={out})")


def fits(rule: Rule, kinds: list[Type], arguments: list[s.Node]) -> bool:
    """Return whether PyTorch's function computes the same for these types of tensors."""
    is_exact = rule.result == "n" and rule.name in ("sum", "prod")
    if rule.name not in tensors.FLOATING_ONLY or is_exact:
        return True
    whole = {dtype for k in kinds if k.is_tensor for dtype in k.dtypes & results.WHOLE}
    if not whole:
        return True
    is_held = all(wrapped(node, dtype) is None for node in arguments for dtype in whole)
    return is_held and rule.name in _SAME_OF_INTS and all(map(_is_whole, kinds))


def _is_whole(kind: Type) -> bool:
    return kind.is_int or (kind.is_tensor and kind.dtypes <= results.WHOLE)
