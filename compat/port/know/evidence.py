"""The kinds of things that no assignment tells, by what the program asks of them.

A thing is a variable, a field, or an entry. Each place where it stands leaves it some kinds; Lua
fails there for all others. What all its places leave is what it is, if that is one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import TYPE_CHECKING

from compat.port.know.calls import OF_LISTS
from compat.port.know.causes import OF_PACKAGE
from compat.port.know.scopes import Variable
from compat.port.know.shapes import constant, is_name, required
from compat.port.know.types import Kind, Table, Type, tensor
from compat.port.library import function_results, results, tensors
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

_WITH_FIELDS = (Kind.TABLE, Kind.OPTIONS, Kind.OBJECT, Kind.CLASS, Kind.MODULE, Kind.PACKAGE)
_WITH_ENTRIES = (Kind.TABLE, Kind.TENSOR, Kind.STORAGE, Kind.SIZES, Kind.OBJECT, Kind.POINTER)
_LETTERS = {"t": Kind.TENSOR, "n": Kind.NUMBER, "s": Kind.STRING, "l": Kind.TABLE}
_TOLD = {Kind.TENSOR, Kind.NUMBER, Kind.STRING, Kind.TABLE, Kind.MODULE, Kind.OBJECT}
_PASSES = {"forward", "backward", "updateOutput", "updateGradInput", "accGradParameters"}
_OF_LAYERS = ("updateOutput", "updateGradInput", "accGradParameters", "forward")
_ARITHMETIC = {"+", "-", "*", "/", "%", "^", "<", ">", "<=", ">="}
_OF_DIMENSIONS = {"size", "select", "narrow", "stride"}  # which they are given first
# Kinds whose fields are written alike, so that it may be any of them.
_ALIKE = ({Kind.TABLE, Kind.OPTIONS}, {Kind.OBJECT, Kind.CLASS})
_FEWEST = 2  # fields that tell something


class Thing:
    """The uses of one thing.

    Attributes:
        own: where its type is kept; None of expressions.
        left: what each place leaves it, by the expression that stands there.
        fields, methods: their names.
    """

    def __init__(self, own: Type | None) -> None:
        self.own = own
        self.left: dict[s.Node, list[Type]] = {}
        self.fields: set[str] = set()
        self.methods: set[str] = set()

    def kinds(self, among: Set[Kind], node: s.Node | None = None) -> set[Kind]:
        """Return what all its places leave of these kinds, or what one place leaves."""
        places = self.left.values() if node is None else [self.left[node]]
        return set(among).intersection(*(left.atoms for lefts in places for left in lefts))

    def kind(self, node: s.Node | None = None) -> Type | None:
        """Return the one kind that all its places leave, or one place; None if these are more."""
        found = self.kinds(_TOLD, node)
        if len(found) != 1 or not self.left:
            return None
        places = self.left.values() if node is None else [self.left[node]]
        told = [left for lefts in places for left in lefts if left.atoms == found]
        if found == {Kind.TENSOR}:
            return tensor()
        if found & {Kind.TABLE, Kind.OBJECT}:  # of several forms
            return next((left for left in told if left.table is not None), None)
        return Type(*found)


Things = dict[object, Thing]


def guess(known: Inference) -> bool:
    """Take what nothing is known of for what its places leave; returns whether there is such."""
    things = _things(known)
    return any(step(known, things) for step in _STEPS)


def _nodes(known: Inference) -> Iterator[s.Node]:
    """Yield all nodes of the program; ``known.file`` is the file that each stands in."""
    for file in known.files:
        known.file = file
        yield from s.walk(file.block)


def _things(known: Inference) -> Things:
    things: Things = {}

    def thing(node: s.Node) -> Thing:
        return things.setdefault(_key(known, node), Thing(known.stored(node)))

    for node in _nodes(known):
        if isinstance(node, s.Call) and node.method is not None:
            thing(node.function).methods.add(node.method)
        elif isinstance(node, s.Index) and is_name(name := s.constant(node.key)):
            thing(node.object).fields.add(name)
    passed = {variable for given, _ in _passed(known) for variable in given}
    for node in _nodes(known):
        for part, left in _asked(known, node):
            if known.dotted(part) is None:
                thing(part).left.setdefault(part, []).append(left)
        for part in _measured(known, node):  # a container has a length, too
            is_passed = isinstance(part, s.Name) and part.variable in passed
            if not thing(part).methods and (is_passed or not _is_of_lua(known, part)):
                thing(part).left.setdefault(part, []).append(_list())
    return things


def _list() -> Type:
    return Type(Kind.TABLE, table=Table(uses={"ipairs"}))


def _key(known: Inference, node: s.Node) -> object:
    """Return a key for a thing: where its type is kept; all entries of a tensor are one."""
    own = known.stored(node)
    if own is not None:
        return own
    if _is_entry(known, node):
        assert isinstance(node, s.Index)
        return "entries", _key(known, node.object)
    name = s.describe(node)
    return node if "…" in name else (known.file.path, name)


def _is_entry(known: Inference, node: s.Node) -> bool:
    """Return whether an expression is an entry of a tensor under one number."""
    return (
        isinstance(node, s.Index)
        and known.owner(node.object).is_tensor
        and known.type(node.key).is_number
    )


# What each place leaves


def _asked(known: Inference, node: s.Node) -> Iterator[tuple[s.Node, Type]]:
    """Yield the things that a node asks something of, and the kinds that this leaves them."""
    for number in _numbers(known, node):
        yield from ((part, Type(Kind.NUMBER)) for part in _summands(number))
    if isinstance(node, s.Binary) and node.operator == "..":
        yield from ((part, Type(Kind.NUMBER, Kind.STRING)) for part in (node.left, node.right)
                    if isinstance(part, s.Index))  # fmt: skip
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
        elif path.startswith("torch.") and path != "torch.pow":  # which takes a number first, too
            yield from _of_arguments(known, node, path[6:], is_function=True)


def _of_index(known: Inference, node: s.Index) -> Iterator[tuple[s.Node, Type]]:
    name = s.constant(node.key)
    if isinstance(name, str):
        kinds = (Kind.TENSOR, Kind.STRING) if results.is_method(name) else ()
        yield node.object, results.owner_of_field(name) or Type(*_WITH_FIELDS, *kinds)
        if (
            name == "new"
            and isinstance(owner := node.object, s.Name)
            and owner.variable.is_parameter
        ):
            yield owner, tensor()
    elif isinstance(node.key, s.Table):
        if len(node.key.fields) > 1:
            yield _entry_of(node.object), tensor()
    elif known.type(node.key).is_number:
        yield node.object, Type(*_WITH_ENTRIES, Kind.MODULE)
    if known.owner(node.object).only(Kind.TABLE) and isinstance(node.key, s.Index):
        yield node.key, Type(Kind.NUMBER, Kind.STRING)


def _of_method(known: Inference, node: s.Call) -> Iterator[tuple[s.Node, Type]]:
    assert node.method is not None
    told = known.told_by(node)
    if told is not None:
        yield node.function, told
    elif node.method in tensors.names() or results.is_method(node.method):
        yield node.function, Type(*_WITH_FIELDS, *_WITH_ENTRIES, Kind.STRING, Kind.FILE)
    if node.method in ("resizeAs", "expandAs", "viewAs") and len(node.arguments) == 1:
        yield node.arguments[0], tensor()
    first = s.constant(node.arguments[0]) if node.arguments else None
    if node.method in _OF_DIMENSIONS and isinstance(first, int) and first > 1:
        yield _entry_of(node.function), tensor()
    if node.method in _PASSES:
        yield from ((part, Type(Kind.TENSOR, Kind.TABLE)) for part in node.arguments
                    if isinstance(part, s.Index))  # fmt: skip
        return
    is_tensor = known.owner_of_method(node).is_tensor
    for part, left in _of_arguments(known, node, node.method):
        if is_tensor or isinstance(part, s.Index):
            yield part, left


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
    if isinstance(node, s.Paren):
        return _summands(node.inner)
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
    for part in parts:
        if isinstance(part, s.Unary) and part.operator == "#":
            yield part.operand


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
        if known.type(node.left).is_number:
            yield node.right
        if known.type(node.right).is_number:
            yield node.left
    elif isinstance(node, s.Binary) and node.operator in ("==", "~="):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, s.Constant) and constant(one.value).is_number:
                yield other
    elif isinstance(node, s.Call) and node.method is None:
        path = known.dotted(node.function) or ""
        if path in function_results.OF_NUMBERS or (
            path.startswith("math.") and path not in ("math.floor", "math.ceil")
        ):
            yield from node.arguments
        elif path == "image.crop":
            yield from node.arguments[1:] if len(node.arguments) == 5 else ()


# What follows from it, the surest first


def _take(known: Inference, unknown: Type, guess: Type) -> None:
    unknown.join(guess)
    known.guessed.add(unknown)


def _seen(known: Inference, _things: Things) -> bool:
    """Take variables and fields for what a run saw of them elsewhere."""
    unknown: dict[Type, Type] = {}
    for node in _nodes(known) if known.facts else ():
        facts = known.facts.get((known.file.path, node.start, node.end))
        own = known.stored(node) if facts else None
        if facts is None or own is None or own.atoms:
            continue
        kind = known.believed(Type(), facts)
        if Kind.TABLE in kind.atoms:
            kind.table = known.seen_table(node, facts)
        unknown.setdefault(own, Type()).join(kind)
    found = {own: kind for own, kind in unknown.items() if kind.atoms - {Kind.NIL}}
    for own, kind in found.items():
        _take(known, own, kind)
    return bool(found)


def _left(known: Inference, things: Things) -> bool:
    """Take variables and fields for what all their places leave."""
    found = False
    for thing in things.values():
        own = thing.own
        kind = thing.kind() if own is not None else None
        if own is None or kind is None:
            continue
        if not own.atoms - {Kind.NIL} and not own.is_of_lua:
            _take(known, own, kind)
            found = True
        elif own.atoms - {Kind.NIL} == kind.atoms:
            known.guessed.add(own)  # what else it is given is the same
    return found


def _loaded(known: Inference, things: Things) -> bool:
    """Take what is loaded from files, and read by name, for tables; not what has the fields of an
    object of the program.
    """
    found = False
    ours = [has for kind, has in _holders(known) if kind.only(Kind.OBJECT)]
    tables: dict[Type, Table] = {}
    entries: set[Type] = set()  # their methods, if they have any, tell first what they are
    for node in _nodes(known):
        if not isinstance(node, s.Index):
            continue
        kind = known.stored(node.object)
        if kind is None or kind.classes != {"loaded"} or kind in entries:
            continue
        names = things[kind].fields if kind in things else set()
        if names and any(names <= has for has in ours):
            continue
        if not kind.atoms:
            tables[kind] = Table(uses={"loaded"})
            _take(known, kind, Type(Kind.TABLE, table=tables[kind]))
            found = True
        if kind in tables:
            is_word = isinstance(s.constant(node.key), str)
            tables[kind].root().keys.add("name" if is_word else "list")
        inner = known.stored(node)
        if inner is not None and not inner.atoms and not inner.classes:
            inner.classes.add("loaded")
            entries.add(inner)
            found = True
    return found


def _layers(known: Inference, things: Things) -> bool:
    """Take what layers of the script's are given for tensors, or tables where they have fields.

    All methods of a layer get the same input, and a gradient that has the form of its output.
    """
    found = False
    ours = [has for kind, has in _holders(known) if kind.only(Kind.OBJECT)]
    for given, output in _passed(known):
        owns = [known.of(variable) for variable in given]
        forms = [kind for kind in [*owns, output] if kind.only(Kind.TABLE)]
        for own in owns:
            thing = things.get(own, Thing(own))
            kinds = thing.kinds({Kind.TENSOR, Kind.TABLE}) if not own.atoms else set()
            if kinds and forms:
                _take(known, own, Type(Kind.TABLE, table=forms[0].table))
                found = True
            elif Kind.TENSOR in kinds:
                _take(known, own, tensor())
                found = True
            elif kinds and not any(thing.fields <= has for has in ours):
                _take(known, own, Type(Kind.TABLE, table=Table({"name"}, {"loaded"})))
                found = True
    return found


def _passed(known: Inference) -> Iterator[tuple[list[Variable], Type]]:
    """Yield the parameters of the script's layers that are alike, and what else they are like."""
    for klass in known.classes.values():
        defines = [klass.methods.get(name) for name in _OF_LAYERS] if klass.parent else []
        functions = [define.function for define in defines if define is not None]
        results = [known.signature(define.function).result(0) for define in defines[:1] if define]
        for place, like in ((1, Type()), (2, results[0] if results else Type())):
            given = [f.parameters[place] for f in functions if len(f.parameters) > place]
            yield [parameter.variable for parameter in given], like


def _alike(known: Inference, things: Things) -> bool:
    """Take variables and fields for what alone has all the fields and methods that they have."""
    holders = _holders(known)
    found: dict[Type, Type] = {}
    for thing in things.values():
        own, names = thing.own, thing.fields | thing.methods
        if own is None or own.atoms - {Kind.NIL} or own.is_of_lua:
            continue
        if len(names) < _FEWEST or all(map(results.is_of_module, names)):
            continue
        like = [kind for kind, has in holders if names <= has]
        atoms = {atom for kind in like for atom in kind.atoms}
        if any(atoms and atoms <= kinds for kinds in _ALIKE):
            found[own] = Type()
            for kind in like:
                found[own].join(kind)
    for own, kind in found.items():
        _take(known, own, kind)
    known.namesakes |= {v for v, own in known.variables.items() if own in found and v.is_parameter}
    return bool(found)


def _holders(known: Inference) -> list[tuple[Type, set[str]]]:
    """Return the classes, their objects, tables and options of the program, and what they have."""
    found = []
    for klass in known.classes.values():
        names = set(klass.methods)
        parent = known.classes.get(klass.parent or "")
        while parent is not None:
            names |= set(parent.methods) | _filled(parent.instance)
            parent = known.classes.get(parent.parent or "")
        found.append((klass.object, names | _filled(klass.instance)))
        if not klass.is_torch:
            found.append((known.class_type(klass), names | _filled(klass.members)))
    shapes = [n.shape.root() for n in _nodes(known) if isinstance(n, s.Table) and n.shape]
    for table in {id(shape): shape for shape in shapes}.values():
        if table.klass is None and table.is_dict:
            found.append((Type(Kind.TABLE, table=table), _filled(table)))
    options = known.command_line
    if options is not None:
        found.append((Type(Kind.OPTIONS, table=options), options.root().always | _filled(options)))
    return found


def _filled(table: Table) -> set[str]:
    """Return the names that something is put under."""
    root = table.root()
    return {name for name, kind in root.names.items() if kind.atoms} | root.always


def _entries(known: Inference, things: Things) -> bool:
    """Take the entries of a tensor for numbers, or for tensors."""
    unknown = [n for n in _nodes(known) if _is_entry(known, n) and not known.type(n).atoms]
    found = False
    for node in unknown:
        thing = things.get(_key(known, node), Thing(None))
        atoms = thing.kinds({Kind.TENSOR, Kind.NUMBER})
        if len(atoms) == 1 and node not in known.guessed_nodes:
            known.guessed_nodes[node] = tensor() if Kind.TENSOR in atoms else Type(Kind.NUMBER)
            found = True
    return found


def _namesakes(known: Inference, _things: Things) -> bool:
    """Take parameters that no call gives for what all other variables of their name are."""
    alike: dict[str, list[Type]] = {}
    for variable, kind in known.variables.items():
        if kind.is_known and len(kind.atoms - {Kind.NIL}) == 1:
            alike.setdefault(variable.id, []).append(kind)
    found = False
    for variable, kind in list(known.variables.items()):
        others = alike.get(variable.id, [])
        if kind.atoms or not variable.is_parameter or not others:
            continue
        atoms = {frozenset(other.atoms - {Kind.NIL}) for other in others}
        shapes = {id(other.shape) for other in others}
        if len(atoms) == 1 and (
            len(shapes) == 1 or not others[0].atoms & {Kind.TABLE, Kind.OBJECT}
        ):
            guess = Type(*others[0].atoms - {Kind.NIL}, table=others[0].table)
            if guess.is_number:  # it may be whole elsewhere alone
                guess.atoms = {Kind.NUMBER}
            for other in others:
                guess.dims |= other.dims
                guess.dtypes |= other.dtypes
                guess.classes |= other.classes
            own = (known.classes.get(name) for name in guess.classes)
            if any(klass is not None and klass.is_layer(known.classes) for klass in own):
                guess.atoms = guess.atoms | {Kind.MODULE}  # one layer is seldom alone
            _take(known, kind, guess)
            known.namesakes.add(variable)
            found = True
    return found


def _keys(known: Inference, things: Things) -> bool:
    """Have tables take keys that can only be tables, which Python's dict does not."""
    found = False
    for node in _nodes(known):
        own = known.owner(node.object).shape if isinstance(node, s.Index) else None
        if own is None or not isinstance(node, s.Index) or known.type(node.key).atoms:
            continue
        thing = things.get(_key(known, node.key), Thing(None))
        if thing.left and not thing.kinds(_TOLD) - {Kind.TABLE, Kind.OBJECT, Kind.MODULE}:
            found |= "meta" not in own.uses
            own.uses.add("meta")
    return found


def _expressions(known: Inference, things: Things) -> bool:
    """Take an entry of what nobody knows, or what a call gives, for what its place leaves."""
    kinds = {n: t.kind(n) for t in things.values() if t.own is None for n in t.left}
    found = False
    for node in _nodes(known):
        kind = kinds.get(node)
        if kind is not None and node not in known.guessed_nodes and not known.type(node).atoms:
            known.guessed_nodes[node] = kind
            found = True
    return found


_STEPS: tuple[Callable[[Inference, Things], bool], ...] = (
    _seen, _left, _loaded, _layers, _alike, _entries, _namesakes, _keys, _expressions,
)  # fmt: skip
