"""The kinds of things that no assignment tells, by what the program asks of them.

A thing is a variable, a field, or an entry. Each place where it stands leaves it some kinds; Lua
fails there for all others. What all its places leave is what it is, if that is one kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from compat.port.know.causes import OF_PACKAGE
from compat.port.know.form.file_names import required
from compat.port.know.form.shapes import is_name, length_of
from compat.port.know.library_calls import OF_LISTS
from compat.port.know.scopes import Variable
from compat.port.know.structures import Table
from compat.port.know.types import Kind, Type, tensor
from compat.port.library import function_results, results, tensors
from compat.port.library.lua_functions import FUNCTIONS
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

_WITH_FIELDS = (Kind.TABLE, Kind.OPTIONS, Kind.OBJECT, Kind.CLASS, Kind.MODULE, Kind.PACKAGE)
_WITH_ENTRIES = (Kind.TABLE, Kind.TENSOR, Kind.STORAGE, Kind.SIZES, Kind.POINTER)
_LETTERS = {"t": Kind.TENSOR, "n": Kind.NUMBER, "s": Kind.STRING, "l": Kind.TABLE}
TOLD = {Kind.TENSOR, Kind.NUMBER, Kind.STRING, Kind.TABLE, Kind.MODULE, Kind.OBJECT}
PASSES = {"forward", "backward", "updateOutput", "updateGradInput", "accGradParameters"}
_OF_LAYERS = ("updateOutput", "updateGradInput", "accGradParameters", "forward", "backward")
_ARITHMETIC = {"+", "-", "*", "/", "%", "^", "<", ">", "<=", ">="}
_OF_NUMBERS = {"/": "__div", "%": "__mod", "^": "__pow"}  # on the right, and the left of ^
_ASKING = {"type", "torch.type", "torch.typename", "torch.isTensor", "torch.isTypeOf"}
_OF_DIMENSIONS = {"size", "select", "narrow", "stride"}  # which they are given first


class Thing:
    """The uses of one thing.

    Attributes:
        own: where its type is kept; None of expressions.
        left: what each place leaves it, by the expression that stands there.
        fields, methods: their names.
        tested: what the program asks at times whether it is; behind that, places tell nothing.
    """

    def __init__(self, own: Type | None) -> None:
        self.own = own
        self.left: dict[s.Node, list[Type]] = {}
        self.fields: set[str] = set()
        self.methods: set[str] = set()
        self.tested: set[Kind] = set()

    def kinds(self, among: Set[Kind], node: s.Node | None = None) -> set[Kind]:
        """Return what all its places leave of these kinds, or what one place leaves."""
        places = self.left.values() if node is None else [self.left[node]]
        return set(among).intersection(*(left.atoms for lefts in places for left in lefts))

    def kind(self, node: s.Node | None = None) -> Type | None:
        """Return the one kind that all its places leave, or one place; None if these are more."""
        found = self.kinds(TOLD, node)
        if len(found) != 1 or not self.left or self.tested - found:
            return None
        places = self.left.values() if node is None else [self.left[node]]
        told = [left for lefts in places for left in lefts if left.atoms == found]
        if found == {Kind.TENSOR}:
            return tensor()
        if found & {Kind.TABLE, Kind.OBJECT}:  # of several forms
            return next((left for left in told if left.table is not None), None)
        return Type(*found)


Things = dict[object, Thing]


def things(known: Inference) -> Things:
    """Return the things of a program, and what their places leave them."""
    found: Things = {}
    known.looked_up = {}

    def thing(node: s.Node) -> Thing:
        own = None if _is_fixed(node) else known.stored(node)
        return found.setdefault(key(known, node), Thing(own))

    for node in known.nodes():
        if isinstance(node, s.Call) and node.method is not None:
            thing(node.function).methods.add(node.method)
        elif isinstance(node, s.Index) and is_name(name := s.constant(node.key)):
            thing(node.object).fields.add(name)
    layers = {variable for given, _ in passed(known) for variable in given}
    for node in known.nodes():
        if node in known.clues.behind_tests:
            thing(node).tested.add(known.clues.behind_tests[node])
        for part, left in _asked(known, node):
            is_of_rank = isinstance(part, s.Index) and part.object in known.clues.ranks
            is_tested = part in known.clues.behind_tests or is_of_rank
            if known.dotted(part) is None and not is_tested:
                thing(part).left.setdefault(part, []).append(left)
        for part in _measured(known, node):  # a container has a length, too
            is_passed = isinstance(part, s.Name) and part.variable in layers
            if not thing(part).methods and (is_passed or not _is_of_lua(known, part)):
                thing(part).left.setdefault(part, []).append(_list())
    for part, given_to in (*_given(known), *_put(known)):
        taken = found.get(given_to)
        if taken is not None and not taken.tested and taken.left and (kinds := taken.kinds(TOLD)):
            thing(part).left.setdefault(part, []).append(Type(*kinds))
    known.looked_up = None
    return found


def _given(known: Inference) -> Iterator[tuple[s.Node, Type]]:
    """Yield the entries of tensors that functions of the program are given, and what ``squeeze``
    gives, and the types of the parameters.

    Those of a function that asks what it was given, if only of another parameter, or gives it to
    itself, may be numbers and tensors.
    """
    for node in known.nodes():
        called = known.type(node.function) if isinstance(node, s.Call) and not node.method else None
        if not isinstance(node, s.Call) or called is None or called.signature is None:
            continue
        functions = called.signature.root().nodes
        parameters = functions[0].parameters if len(functions) == 1 else []
        for part, parameter in zip(node.arguments, parameters, strict=False):
            is_squeezed = isinstance(part, s.Call) and part.method == "squeeze"
            if is_squeezed or is_entry(known, part):
                inside = [n for n in s.walk(functions[0]) if isinstance(n, s.Call)]
                if node not in inside and not any(_asks(parameters, n) for n in inside):
                    yield part, known.of(parameter.variable)


def _put(known: Inference) -> Iterator[tuple[s.Node, Type]]:
    """Yield variables that are put into fields of new tables, entries of tensors that are all a
    variable gets, and the types of these fields and variables.
    """
    for node in known.nodes():
        if isinstance(node, s.Table) and node.shape is not None:
            for field in node.fields:
                name = s.constant(field.key)
                if isinstance(name, str) and isinstance(field.value, s.Name):
                    yield field.value, node.shape.name(name)
    for variable, values in known.clues.sources.items():
        if len(values) == 1 and is_entry(known, values[0]):
            yield values[0], known.of(variable)


def _asks(parameters: list[s.Name], call: s.Call) -> bool:
    """Return whether a call asks what one of the parameters is."""
    first = call.arguments[0] if call.arguments else None
    is_one = isinstance(first, s.Name) and first.variable in [p.variable for p in parameters]
    return is_one and s.describe(call.function) in _ASKING


def _list() -> Type:
    return Type(Kind.TABLE, table=Table(uses={"ipairs"}))


def key(known: Inference, node: s.Node) -> object:
    """Return a key for a thing: where its type is kept; all entries of a tensor are one."""
    own = None if _is_fixed(node) else known.stored(node)
    if own is not None:
        return own
    if is_entry(known, node):
        assert isinstance(node, s.Index)
        return "entries", key(known, node.object)
    name = s.describe(node)
    return node if "…" in name else (known.file.path, name)


def _is_fixed(node: s.Node) -> bool:
    """Return whether an expression is an entry under a fixed number: others may be of another
    kind.
    """
    return isinstance(node, s.Index) and isinstance(s.constant(node.key), (int, float))


def is_entry(known: Inference, node: s.Node) -> bool:
    """Return whether an expression is an entry of a tensor under one number."""
    return (
        isinstance(node, s.Index)
        and known.owner(node.object).is_tensor
        and known.owner(node.key).is_number
    )


def _asked(known: Inference, node: s.Node) -> Iterator[tuple[s.Node, Type]]:
    """Yield the things that a node asks something of, and the kinds that this leaves them."""
    for number in _numbers(known, node):
        yield from ((part, Type(Kind.NUMBER)) for part in _summands(number))
    if isinstance(node, s.Binary) and node.operator == "..":
        yield from ((part, Type(Kind.NUMBER, Kind.STRING)) for part in (node.left, node.right)
                    if isinstance(part, s.Index))  # fmt: skip
    elif isinstance(node, s.Binary) and node.operator == "or":
        if isinstance(node.left, (s.Name, s.Index)):
            yield from ((node.left, left) for left in _like(known.type(node.right)))
    elif isinstance(node, s.Index):
        yield from _of_index(known, node)
    elif isinstance(node, s.Call) and node.method is not None:
        yield from _of_method(known, node)
    elif isinstance(node, s.Call) and node.arguments:
        path = known.dotted(node.function) or ""
        if path in OF_LISTS and not _is_given_by_lua(known, node.arguments[0]):
            yield node.arguments[0], _list()
        elif path == "pairs":
            yield node.arguments[0], Type(*_WITH_FIELDS, *_WITH_ENTRIES)
        elif path.startswith("image.") and path[6:] in function_results.OF_IMAGES:
            yield node.arguments[0], tensor()
        elif path.startswith("torch.") and path != "torch.pow":  # which takes a number first, too
            yield from _of_arguments(known, node, path[6:], is_function=True)


def _like(default: Type) -> Iterator[Type]:
    """Yield what has such a default: a number, a string or a tensor, too."""
    kinds = (Kind.NUMBER, default.is_number), (Kind.STRING, default.is_string)
    yield from (Type(kind) for kind, is_one in kinds if is_one)
    if default.is_tensor:
        yield tensor()


def _of_index(known: Inference, node: s.Index) -> Iterator[tuple[s.Node, Type]]:
    name = s.constant(node.key)
    if isinstance(name, str):
        kinds = (Kind.TENSOR, Kind.STRING) if results.is_method(name) else ()
        # What programs save of nets.
        is_of_tables = name == "modules" and name in known.clues.made_names
        layer = None if is_of_tables else results.owner_of_field(name)
        yield node.object, layer or Type(*_WITH_FIELDS, *kinds)
        if name == "new" and _is_of_parameter(known, node.object):
            yield node.object, tensor()
    elif isinstance(node.key, s.Table):
        yield node.object, tensor()  # a table has nothing under one that is made here
        if len(node.key.fields) > 1:
            yield _entry_of(node.object), tensor()
    elif known.owner(node.key).is_number:
        numbered = (k.instance.keys - {"name", "empty"} for k in known.classes.values())
        objects = [Kind.OBJECT] if any(numbered) else []
        yield node.object, Type(*_WITH_ENTRIES, *objects)
    if known.owner(node.object).only(Kind.TABLE) and isinstance(node.key, s.Index):
        yield node.key, Type(Kind.NUMBER, Kind.STRING)


def _is_of_parameter(known: Inference, node: s.Node) -> bool:
    """Return whether an expression is a parameter, or its entry under a number."""
    while isinstance(node, s.Index) and known.owner(node.key).is_number:
        node = node.object
    return isinstance(node, s.Name) and node.variable.is_parameter


def _of_method(known: Inference, node: s.Call) -> Iterator[tuple[s.Node, Type]]:
    assert node.method is not None
    told = known.told_by(node)
    if told is not None:
        yield node.function, told
    elif node.method in tensors.names() or results.is_method(node.method):
        yield node.function, Type(*_holders(known, node.method))
    elif node.method in known.clues.own_methods and f"string.{node.method}" not in known.replaced:
        yield node.function, Type(*_WITH_FIELDS)
    if node.method in ("resizeAs", "expandAs", "viewAs") and len(node.arguments) == 1:
        yield node.arguments[0], tensor()
    first = s.constant(node.arguments[0]) if node.arguments else None
    if node.method in _OF_DIMENSIONS and isinstance(first, int) and first > 1:
        yield _entry_of(node.function), tensor()
    if node.method in PASSES:
        yield from ((part, Type(Kind.TENSOR, Kind.TABLE)) for part in node.arguments
                    if isinstance(part, s.Index))  # fmt: skip
        return
    owner = known.owner_of_method(node)
    if owner.atoms and Kind.TENSOR not in owner.atoms:  # the method is another's of the name
        row = node.arguments[0] if len(node.arguments) == 2 and node.method == "add" else None
        if isinstance(row, s.Index) and owner.only(Kind.MODULE) and known.owner(row.object).buffer:
            yield row, tensor()  # what a net gives for one input, to a confusion matrix
        return
    for part, left in _of_arguments(known, node, node.method):
        if owner.is_tensor or isinstance(part, s.Index):
            yield part, left


def _holders(known: Inference, method: str) -> Iterator[Kind]:
    """Yield what may have a method that something of Torch7's has."""
    yield from (Kind.STORAGE, Kind.SIZES, Kind.POINTER, Kind.FILE)
    if results.is_of_tensors(method):
        yield Kind.TENSOR
    if f"string.{method}" in FUNCTIONS.names():
        yield Kind.STRING
    if results.is_of_module(method):
        yield Kind.MODULE
    classes = known.classes.values()
    of_classes = {k.methods[method].function for k in classes if method in k.methods}
    own = set(known.clues.own_methods.get(method, ()))
    if own & of_classes:
        yield from (Kind.OBJECT, Kind.CLASS)
    if own - of_classes:
        yield from _WITH_FIELDS


def _of_arguments(
    known: Inference, node: s.Call, name: str, is_function: bool = False
) -> Iterator[tuple[s.Node, Type]]:
    """Yield what a method or function of tensors takes."""
    kinds = "".join(results.kind_of(known.type(a)) for a in node.arguments)
    table = tensors.FUNCTIONS if is_function else tensors.METHODS
    taken = tensors.taken(table, name, kinds)
    for argument, letters in zip(node.arguments, taken, strict=False):
        if letters <= set(_LETTERS):
            parts = _summands(argument) if letters == {"n"} else [argument]
            yield from ((p, Type(*(_LETTERS[letter] for letter in letters))) for p in parts)


def _summands(node: s.Node) -> list[s.Node]:
    """Return the parts of a number that are numbers, too, since it is one."""
    if isinstance(node, s.Unary) and node.operator == "-":
        return _summands(node.operand)
    if isinstance(node, s.Binary) and node.operator in ("+", "-", "/", "%", "^"):
        return [*_summands(node.left), *_summands(node.right)]
    return [node]


def _entry_of(node: s.Node) -> s.Index:
    """Return an entry of what has several dimensions, if it is a tensor."""
    return s.Index(node, s.Constant(1))


def _measured(known: Inference, node: s.Node) -> Iterator[s.Node]:
    """Yield what has a length that is a number: no tensor."""
    parts = list(_numbers(known, node))
    if isinstance(node, s.Binary) and node.operator in _ARITHMETIC:
        parts += [node.left, node.right]
    elif isinstance(node, s.Index):
        own = s.describe(node.object)
        last = node.key.operand if isinstance(node.key, s.Unary) else None
        parts += [node.key] if last is not None and s.describe(last) == own != "…" else []
    yield from filter(None, map(length_of, parts))


def _is_of_lua(known: Inference, node: s.Node) -> bool:
    """Return whether a value may come from a package that only the Lua runtime has."""
    part, _ = known.cause(node)
    if isinstance(part, s.Name) and part.variable.is_parameter:
        return True  # what calls give is not known
    return _is_given_by_lua(known, node)


def _is_given_by_lua(known: Inference, node: s.Node) -> bool:
    """Return whether a value comes from a package that only the Lua runtime has."""
    part, key = known.cause(node)
    path = required(part) or known.dotted(part) or ""
    return key == OF_PACKAGE and path.split(".")[0] not in ("torch", "nn", "cudnn", "image")


def _numbers(known: Inference, node: s.Node) -> Iterator[s.Node]:
    """Yield what stands where Lua and Torch7 take numbers only."""
    if isinstance(node, s.ForRange):
        yield from filter(None, (node.first, node.last, node.step))
    elif isinstance(node, s.Binary) and node.operator in ("<", ">", "<=", ">="):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if known.type(one).is_number or _is_part_of_tensor(known, other):
                yield other
    elif isinstance(node, s.Binary) and node.operator in ("==", "~="):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, s.Constant) or _is_part_of_tensor(known, other):
                yield from [other] if known.type(one).is_number else []
    elif isinstance(node, s.Binary) and node.operator in _OF_NUMBERS:
        if _OF_NUMBERS[node.operator] not in known.clues.own_methods:
            yield from (node.left, node.right)[node.operator != "^" :]
    elif isinstance(node, s.Binary) and node.operator == "*":
        if _is_of_entries(known, node.left) and _is_of_entries(known, node.right):
            yield from (node.left, node.right)
    elif isinstance(node, s.Assign):
        for target, value in s.assigned(node):
            if isinstance(target, s.Index) and known.type(target.object).ranks == {1}:
                yield from [value] if is_entry(known, target) else []
    elif isinstance(node, s.Call) and node.method == "format":
        yield from _formatted([node.function, *node.arguments])
    elif isinstance(node, s.Call) and node.method is None:
        path = known.dotted(node.function) or ""
        if path == "string.format":
            yield from _formatted(node.arguments)
        elif path in function_results.OF_NUMBERS or (
            path.startswith("math.") and path not in ("math.floor", "math.ceil")
        ):
            yield from node.arguments
        elif path == "image.crop":
            yield from node.arguments[1:] if len(node.arguments) == 5 else ()


def _is_of_entries(known: Inference, node: s.Node) -> bool:
    """Return whether an expression is an entry of a tensor, or a sum of some. A product of two is
    seldom one of rows.
    """
    return all(is_entry(known, part) for part in _summands(node))


def _is_part_of_tensor(known: Inference, node: s.Node) -> bool:
    """Return whether an expression is a part of a tensor, or a variable that gets no more."""
    if isinstance(node, s.Name):
        values = known.clues.sources.get(node.variable, [])
        return (
            bool(values)
            and all(isinstance(v, s.Index) for v in values)
            and all(_is_part_of_tensor(known, value) for value in values)
        )
    return isinstance(node, s.Index) and known.owner(node.object).is_tensor


def _formatted(arguments: list[s.Node]) -> Iterator[s.Node]:
    """Yield what ``string.format`` shows as numbers: ``%d``, ``%.2f``."""
    first, *rest = arguments or [s.Vararg()]
    template = s.constant(first)
    letters = re.findall(r"%[-+ #0-9.]*([a-zA-Z%])", template) if isinstance(template, str) else []
    for letter, argument in zip((one for one in letters if one != "%"), rest, strict=False):
        if letter not in "sq":
            yield argument


def passed(known: Inference) -> Iterator[tuple[list[Variable], Type]]:
    """Yield the parameters of the script's layers that are alike, and what else they are like."""
    for klass in known.classes.values():
        defines = [klass.methods.get(name) for name in _OF_LAYERS] if klass.parent else []
        functions = [define.function for define in defines if define is not None]
        results = [known.signature(define.function).result(0) for define in defines[:1] if define]
        gives_lists = klass.instance.name("gradInput").only(Kind.TABLE)
        first = Type(Kind.TABLE, table=Table({"list"}, {"given"})) if gives_lists else Type()
        for place, like in ((1, first), (2, results[0] if results else Type())):
            given = [f.parameters[place] for f in functions if len(f.parameters) > place]
            yield [parameter.variable for parameter in given], like
