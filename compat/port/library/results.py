"""The results of methods and fields, and the words for types in the tables of rules."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict

from compat.port.know.structures import Table
from compat.port.know.types import Kind, Type, tensor
from compat.port.library import nets, tensors
from compat.port.library.compat_names import has_field
from compat.port.library.table import Rule, Rules
from compat.port.read import syntax as s

WHOLE = {"Long", "Int", "Short", "Byte", "Char"}

# Methods of objects of compat's; ``table`` has the words.
_METHODS = Rules("""
getParameters -> t1d,t1d; parameters -> list of t,list of t; findModules -> list of m,list of m
farFrr -> t1d,t1d,t1d,t1d
type|string -> s; size -> i; batchAdd|updateValids|writeObject|option|text|argument|log -> nil
zeroGradParameters|updateParameters|accGradParameters|training|evaluate|apply -> nil
applyToModules|insert|remove|setNames|style|plot|addjob|synchronize|dojob -> nil
terminate|append -> nil; time|binary|share|read|setChunked|setDeflate|resume|stop|reset -> m
remember|forget -> m; readObject|storage|loss -> x; parse -> options
hasjob|acceptsjob|haserror -> b
readFloat|readDouble|readInt|readLong|readByte|readChar|readShort - -> n
readFloat|readDouble|readInt|readLong|readByte|readChar|readShort x* -> z
writeFloat|writeDouble|writeInt|writeLong|writeByte|writeChar|writeShort|writeString -> i
readString -> s; hasError|isQuiet -> b; position -> i
quiet|pedantic|ascii|autoSpacing|noAutoSpacing|seekEnd -> =
littleEndianEncoding|bigEndianEncoding|nativeEndianEncoding -> =
listModules -> list of m; get -> m|nil; partial|all -> t; dataspaceSize -> list of i
add|float|double|cuda|half|clearState|clone|setMode|noBias|replace -> =
annotate|setNumInputDims|ceil|floor|sharedClone|threads|fastMode|setTarget -> =
""")
_FIELDS = Rules("""
weight|bias|gradWeight|gradBias|running_mean|running_var -> t
modules|children|criterions -> list of m; train -> b
forwardnodes|backwardnodes -> list of node; innode|outnode -> node
real|user|sys|totalValid|averageValid -> n
""")
# Fields that not all layers have.
_OF_SOME = {
    "inplace": Kind.BOOLEAN,
    "p": Kind.FLOAT,
    **dict.fromkeys(("kW", "kH", "kT", "dW", "dH", "dT", "padW", "padH", "padT"), Kind.NUMBER),
    **dict.fromkeys(("nInputPlane", "nOutputPlane"), Kind.NUMBER),
}
# Methods that give their module in Python, nothing in Lua.
SILENT = {
    *("zeroGradParameters", "updateParameters", "training", "evaluate", "apply"),
    *("insert", "remove"),
}
_ELSEWHERE = {"cl"}  # what moves tensors to devices that are not here


def owner_of_field(name: object) -> Type | None:
    """Return what has a field of this name, if one kind of thing alone has it."""
    return Type(Kind.MODULE) if name in _OWN_FIELDS else None


_OWN_FIELDS = {
    *("weight", "bias", "gradWeight", "gradBias", "gradInput", "running_mean", "running_var"),
    *("nInputPlane", "nOutputPlane", "sizeAverage", "modules"),
}


def owner_of(method: str, arguments: list[Type]) -> Type | None:
    """Return what has a method of this name that takes such arguments, if one kind of thing
    alone does.
    """
    kinds = "".join(map(kind_of, arguments))
    if (method in ("size", "add") and kinds == "n") or (method, kinds[:1]) == ("add", "t"):
        return tensor()
    if (method, len(kinds)) in (("size", 1), ("index", 2)) or (method, kinds) == ("add", "nt"):
        return tensor()
    if method in _ONLY_MODULES:
        return Type(Kind.MODULE)
    if method in _ONLY_STRINGS and (method, kinds) != ("byte", ""):
        return Type(Kind.STRING)
    if method in tensors.names() and method not in _BOTH:
        return tensor()
    return None


_ONLY_MODULES = {
    *("forward", "backward", "updateOutput", "updateGradInput", "accGradParameters"),
    *("zeroGradParameters", "getParameters", "parameters", "training", "evaluate", "clearState"),
    *("findModules", "updateParameters", "forget", "remember", "setNames"),
}
# Methods of modules that scripts replace, or keep to call them with an object.
METHODS = _ONLY_MODULES | {
    *("type", "reset", "clone", "share", "__tostring__", "insert", "remove", "get", "add"),
    "accUpdateGradParameters",
}
_ONLY_STRINGS = {"gsub", "gmatch", "upper", "lower", "rep", "byte", "match", "find"}
# Methods of tensors, and of modules, tables or files too.
_BOTH = {
    *("add", "size", "type", "float", "double", "cuda", "half", "clone", "apply", "zero", "set"),
    *("index", "sub", "new", "sort", "split", "random", "reset", "get", "byte", "char", "all"),
}


def kind_of(kind: Type) -> str:
    """Return the letter of a type in ``table``, of the general ones.

    ``?`` where it is not known, ``o`` where it is none that they know.
    """
    there = kind.present
    if there.is_tensor or there.is_number:
        return "t" if there.is_tensor else "n"  # of nil all that take one fail
    if kind.is_string:
        return "s"
    is_other = kind.only(Kind.LUA, Kind.MODULE, Kind.OBJECT, Kind.CLASS, Kind.FILE)
    letters = (letter for letter, own in _LETTERS.items() if kind.only(own))
    return next(letters, "o" if is_other else "?")


_LETTERS = {
    "b": Kind.BOOLEAN, "l": Kind.TABLE, "f": Kind.FUNCTION, "y": Kind.SIZES,
    "z": Kind.STORAGE,
}  # fmt: skip


def exact_kind(kind: Type) -> str:
    """Return the letter of a type in ``table``, of all: ``i`` of ints, ``S`` of texts' lists."""
    letter = "?" if Kind.NIL in kind.atoms else kind_of(kind)
    if letter == "n" and kind.is_int:
        return "i"
    if letter != "l" or kind.shape is None or not kind.is_list():
        return letter
    items = kind.shape.items
    return "S" if items.is_string else "I" if items.is_int else "N" if items.is_number else "L"


def rule_types(rule: Rule, subject: list[Type], arguments: list[Type]) -> list[Type]:
    """Return the types that a rule's ``->`` names. ``subject``: the tensor of a method."""
    parts = rule.result.split(",")
    found = [type_named(part, [*subject, *arguments], bool(subject)) for part in parts]
    for kind in found if "keepdim=True" in rule.text else ():
        kind.thin = True
    return found


_KINDS = {
    "i": Kind.INT, "n": Kind.FLOAT, "?": Kind.NUMBER, "s": Kind.STRING, "b": Kind.BOOLEAN,
    "y": Kind.SIZES, "p": Kind.POINTER, "z": Kind.STORAGE, "m": Kind.MODULE, "mask": Kind.TENSOR,
    "nil": Kind.NIL, "lua": Kind.LUA, "file": Kind.FILE, "function": Kind.FUNCTION,
}  # fmt: skip


def type_named(word: str, operands: list[Type], is_method: bool) -> Type:
    """Return the type that a word of a rule's ``->`` names, given the operands' types."""
    first = operands[0] if operands else Type()
    dtypes = first.dtypes if first.is_tensor else set()
    ranks = first.ranks if first.dims else set()
    made = Type()
    if word in _KINDS:
        made = Type(_KINDS[word])
        if word == "mask":
            made.dims, made.thin, made.dtypes = {*first.dims} or {-1}, first.thin, {"Byte"}
            made.deep = first.deep
        return made
    if "|" in word:
        for part in word.split("|"):
            made.join(type_named(part, operands, is_method))
    elif word == "=":
        return first
    elif word in ("l", "list") or word.startswith("list of "):
        if word == "l":
            made = tensor(first.dtypes, first.dims)
        elif word != "list":
            made = type_named(word[8:], [], False)
        elif first.ranks == {1}:
            made = Type(Kind.FLOAT)
        return Type(Kind.TABLE, table=Table(keys={"list"}, uses={"given"}, items=made))
    elif word == "options":
        return Type(Kind.OPTIONS, table=Table(uses={"options"}))
    elif word in ("loaded", "node"):
        made = Type(Kind.MODULE) if word == "node" else made
        made.classes = {"nngraph.Node" if word == "node" else word}
    elif word == "index":
        return tensor(["Long"], first.dims)
    elif word == "t=":
        made = tensor(first.dtypes, first.dims)
        made.thin, made.deep = first.thin, first.deep
    elif word == "t^":
        made = tensor(dtypes, {3 - d if d in (1, 2) else -1 for d in ranks})
    elif word in ("t-", "t+"):
        step = -1 if word == "t-" else 1
        dims = {d + step if 0 < d < _MOST_RANKS else -1 for d in ranks}
        made = Type() if dims & {0} and dims != {0} else _sized(first.dtypes, dims)
        made.thin = first.thin
    elif word == "t*":
        numbers = operands[1:] if is_method else operands
        is_told = all(o.present.is_number or not (o.atoms or o.open) for o in numbers)
        is_told &= len(numbers) > 1 or any(o.atoms for o in numbers)
        return tensor(dtypes, [len(numbers) if numbers and is_told else -1])
    elif word[:1] == "t" and word[1:].isdigit():
        other = operands[int(word[1:]) - (0 if is_method else 1)]
        made = tensor(other.dtypes, other.dims)
        made.thin, made.deep = other.thin, other.deep
    elif word[1:-1].isdigit():  # t2d, t02d: it may be empty
        return tensor(dtypes, map(int, word[1:-1]))
    elif word == "t":
        return tensor(dtypes)
    elif word.startswith("t"):
        own = [] if word == "t~" else [word[1:]]
        made = tensor(own, first.dims)
        made.thin, made.deep = first.thin, first.deep
    return made


def _sized(dtypes: set[str], dims: set[int]) -> Type:
    return Type(Kind.FLOAT) if dims == {0} else tensor(dtypes, dims)


# They give tensors of the form of theirs, and of modules these themselves.
KEEPING = {"clone", "cuda", "double", "float", "half", "type"}
# Views that do not go through their elements in the order of the memory.
_STRIDED = {"t", "transpose", "permute", "expand", "expandAs", "unfold"}
_VIEWS = _STRIDED | {"view", "viewAs", "narrow", "select", "sub"}


def tensor_method(owner: Type, node: s.Call, arguments: list[Type]) -> list[Type]:
    """Return the types of what ``x:method(…)`` gives."""
    assert node.method is not None
    rule = method_rule(node.method, arguments)
    if rule is None:
        is_tensor = tensors.gives_tensor(tensors.METHODS, node.method)
        if node.method in _ELSEWHERE:
            return [tensor(owner.dtypes, owner.dims)]
        return [tensor(owner.dtypes) if is_tensor else Type()]
    found = rule_types(rule, [owner], arguments)
    if node.method == "cat":
        found[0].dims = cat_dims(s.constant(node.arguments[-1]), [owner, *arguments[:1]])
    if node.method == "type" and node.arguments:
        found[0].dtypes = _named_types(node.arguments[0]) or found[0].dtypes
    inner = node.function
    is_line = isinstance(inner, s.Call) and inner.method in _REDUCING and len(inner.arguments) == 1
    if node.method == "squeeze" and is_line and owner.dims == {2}:
        found[0].dims = {1}  # of x:sum(2)
    found[0].thin |= has_size_1(node.method, node)
    if node.method == "split" and node.arguments[1:] and s.constant(node.arguments[0]) in (None, 1):
        made = found[0].table
        if made is not None:
            made.items.thin = True
    if found[0] is not owner:
        found[0].deep |= _is_deep(node)
    found[0].buffer |= owner.buffer and node.method in _VIEWS
    found[0].zero |= node.method == "sum"  # of a mask, or of what counts
    if node.method in _STRIDED and found[0] is not owner:
        found[0].strided = True
    return found


def _named_types(name: s.Node) -> set[str]:
    """Return the types of numbers that the name of a type, maybe a computed one, may mean."""
    made = re.fullmatch(r"torch\.(Cuda)?(\w*)Tensor", str(s.constant(name)))
    if made is None:
        return {"Long", "Float", "Default"} if s.names_tensor(name) else set()
    return {made[2] or ("Float" if made[1] else "Default")}


# What they give has the dimension that they are given first.
_ALONG = {
    "cumprod",
    "cumsum",
    "index",
    "max",
    "mean",
    "min",
    "narrow",
    "prod",
    "sort",
    "std",
    "sum",
}


def _is_deep(node: s.Call) -> bool:
    """Return whether a method gives tensors of two dimensions or more."""
    numbers = [s.constant(part) for part in node.arguments]
    if node.method == "transpose":
        return len(set(numbers)) == 2 and None not in numbers
    is_along = node.method in _ALONG and bool(numbers) and numbers[0] in (2, 3, 4)
    return is_along or node.method == "t" or (node.method == "sub" and len(numbers) > 3)


def cat_dims(last: object, given: list[Type]) -> set[int]:
    """Return the number of dimensions of what ``cat`` gives: that of its largest part, or one that
    its parts lack.
    """
    sizes = [part_of(kind).dims or {-1} for kind in given]
    least = last if isinstance(last, int) else 1
    many = {max(least, *each) for each in itertools.product(*sizes)}
    return {-1} if any(-1 in own for own in sizes) else many


def part_of(kind: Type) -> Type:
    """Return the type of the entries of a list, or the type itself."""
    return kind if kind.shape is None else kind.shape.items


_REDUCING = {"sum", "mean", "max", "min", "std", "var", "prod"}


def has_size_1(name: str, node: s.Call) -> bool:
    """Return whether a call gives its result the size 1 behind another."""
    name = name.removeprefix("torch.")
    sizes = node.arguments[2 if name == "narrow" else 1 :]
    return (name in _SIZED or name.endswith("Tensor")) and 1 in map(s.constant, sizes)


_SIZED = {"zeros", "ones", "rand", "randn", "view", "reshape", "resize", "narrow", "topk"}


def method_rule(name: str, arguments: list[Type]) -> Rule | None:
    """Return the rule for ``x:name(arguments)``."""
    return tensors.rule(tensors.METHODS, name, "".join(map(kind_of, arguments)))


def module_method(owner: Type, name: str, arguments: list[Type]) -> list[Type]:
    """Return the types of what a method of an object of compat's gives."""
    if name == "type" and arguments:
        return [owner]  # moved to that type; without an argument it tells its own
    if name == "split":  # of a node, into as many as anybody takes
        return [type_named("node", [], False)] * 16
    if rules := _METHODS.all(name):
        rule = _METHODS.find(name, "".join(map(kind_of, arguments))) or rules[-1]
        return rule_types(rule, [owner], [])
    if gives_total(owner, name):
        return [Type(Kind.FLOAT), Type(Kind.FLOAT)]
    is_loss = owner.classes and all(known.endswith("Criterion") for known in owner.classes)
    if name in ("forward", "updateOutput") and (is_loss or len(arguments) == 2):  # a net takes one
        return [Type(Kind.FLOAT)]
    if name in ("forward", "backward", "updateOutput", "updateGradInput"):
        return [nets.passed(owner, name, arguments)]
    return [Type()]


# Their ``forward`` gives the total weight of the targets after the loss.
_WITH_TOTAL = {"nn.ClassNLLCriterion", "nn.SpatialClassNLLCriterion"}


def gives_total(owner: Type, method: str | None) -> bool:
    """Return whether a call of a criterion's method gives two numbers."""
    is_pass = method in ("forward", "updateOutput") and owner.only(Kind.MODULE)
    return is_pass and bool(owner.classes) and owner.classes <= _WITH_TOTAL


def passes_with_total(path: str) -> bool:
    """Return whether ``nn.C.updateOutput``, of a parent, gives two numbers."""
    klass, _, method = path.rpartition(".")
    return klass in _WITH_TOTAL and method in ("forward", "updateOutput")


CLASS_OF_NN = "a class"  # in the place of the class of an object


def of_object(owner: Type, arguments: list[Type]) -> list[Type]:
    """Return the types of the results of an object of compat's that is called.

    A criterion gives what both its passes give, a module of a tensor its output, of all else a node
    of a graph.
    """
    if owner.classes == {CLASS_OF_NN}:
        return [Type(Kind.MODULE)]
    if count_of_object(owner, len(arguments)) == 1:
        is_output = bool(arguments) and arguments[0].is_tensor
        return [nets.result(owner) if is_output else type_named("node", [], False)]
    if not owner.classes:
        return [Type()]
    return [Type(Kind.FLOAT), nets.result(owner)]


def count_of_object(owner: Type, count: int) -> int | None:
    """Return how many values an object of compat's gives that is called; None if that is open."""
    if count != 2 or owner.classes == {CLASS_OF_NN}:
        return 1
    are_criterions = {name.endswith("Criterion") for name in owner.classes}
    return 2 if are_criterions == {True} else 1 if are_criterions == {False} else None


def module_count(name: str) -> int | None:
    """Return how many values a method of an object of compat's gives; None if that is not known."""
    if rules := _METHODS.all(name):
        return rules[0].spread
    return 1 if name in _ONLY_MODULES else None


# What recurrent modules hold under the numbers of steps, here too.
BY_STEP = {"outputs", "cells", "gradCells", "_gradOutputs", "sharedClones"}
_MOST_RANKS = 9  # a loop may add dimensions, of which then any number is known
_NODES = {"nngraph.Node", "graph.Node", "annotations"}


def field(owner: Type, name: str) -> Type:
    """Return the type of a field of an object of compat's."""
    if rules := _FIELDS.all(name):
        return rule_types(rules[0], [], [])[0]
    if name in _OF_SOME:
        has_all = bool(owner.classes) and has_field(name, owner.classes)
        return Type(_OF_SOME[name], *(() if has_all else (Kind.NIL,)))
    if name in ("output", "gradInput"):
        return nets.result(owner)
    if owner.classes and owner.classes <= _NODES and name in ("data", "annotations"):
        made = Type(Kind.MODULE)
        made.classes = {"annotations"}
        return made
    if name == "name" and owner.classes == {"annotations"}:
        return Type(Kind.STRING, Kind.NIL)
    if name == "annotations" and owner.classes == {"annotations"}:
        return owner
    if name in BY_STEP:
        return Type(Kind.TABLE, table=Table(keys={"other"}, uses={"sparse"}))
    return _of_command_line(name) if owner.classes == {"torch.CmdLine"} else Type()


def _of_command_line(name: str) -> Type:
    """Return what a command line has declared: options by name, arguments and lines in order."""
    if name not in ("options", "arguments", "helplines"):
        return Type()
    word, left = Type(Kind.STRING), Type(Kind.STRING, Kind.NIL)
    names = defaultdict(Type, key=word, help=left, type=left, default=Type())
    entry = Type(Kind.TABLE, table=Table(keys={"name"}, names=names, always={"key"}))
    if name == "options":
        table = Table(keys={"name"}, uses={"dynamic"}, items=entry)
    else:
        both = entry.joined(word) if name == "helplines" else entry
        table = Table(keys={"next"}, uses={"append"}, items=both)
    return Type(Kind.TABLE, table=table)


def file_method(node: s.Call) -> list[Type]:
    """Return the types of what a method of a file gives."""
    if node.method == "read":
        return [Type(kind, Kind.NIL) for kind in read_kinds(node.arguments)]
    if node.method == "lines":
        return [Type(Kind.FUNCTION)]
    found = {"write": Kind.FILE, "seek": Kind.INT, "close": Kind.BOOLEAN}.get(str(node.method))
    return [Type() if found is None else Type(found)]


def has_numbered(kind: Type, seen: set[Table]) -> bool:
    """Return whether a table is a dict of Python's with numbers for keys, which nets take for
    none of tensors, or one in it.
    """
    shape = kind.shape
    if shape is None or Kind.TABLE not in kind.atoms or shape in seen:
        return False
    seen.add(shape)
    inner = (shape.items, *shape.names.values())
    is_own = (shape.is_dict and shape.keys & {"int", "other"}) or shape.is_own_meta
    return bool(is_own) or any(has_numbered(kind, seen) for kind in inner)


def read_kinds(formats: list[s.Node]) -> list[Kind]:
    """Return the kinds of what is read in some formats."""
    forms = [str(s.constant(a)).lstrip("*") for a in formats] or ["l"]
    return [Kind.NUMBER if form == "n" else Kind.STRING for form in forms]


# Functions and methods of tensors that give more than one value, by what they are given.
SEVERAL = {
    *("svd", "symeig", "eig", "gesv", "gels", "trtrs", "qr", "geqrf", "kthvalue", "pstrf"),
    *("max", "min", "median", "mode", "sort", "topk"),
}


def is_method(name: str) -> bool:
    """Return whether something of Lua's or Torch7's has a method of this name."""
    return any(
        name in own for own in (tensors.names(), METHODS, _ONLY_STRINGS, _BOTH, _METHODS.names())
    )


def is_of_tensors(name: str) -> bool:
    """Return whether tensors have a method of this name."""
    return name in tensors.names() or name in _BOTH


def is_of_module(name: str) -> bool:
    """Return whether objects of compat's have a method or field of this name."""
    return name in METHODS or name in _OWN_FIELDS or name in _METHODS.names()


def has_method(kind: Type, method: str) -> bool:
    """Return whether a type is that of tensors, or of objects of compat's, with such a method."""
    if kind.atoms == {Kind.TENSOR}:
        return method in tensors.names()
    return kind.atoms == {Kind.MODULE} and is_of_module(method)


def gives_one(method: str) -> bool:
    """Return whether a method of this name gives one value, whatever kind of Torch7's things has
    it.
    """
    of_tensors = method in tensors.names() and method not in SEVERAL
    return of_tensors or module_count(method) == 1
