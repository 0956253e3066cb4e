"""The types of expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compat.port.know.form.shapes import constant
from compat.port.know.registry import TYPES, expression
from compat.port.know.scopes import PACKAGES
from compat.port.know.structures import Signature
from compat.port.know.types import FROM_LUA, NUMBERS, Kind, Type, of_lua, tensor
from compat.port.library import function_results, results, tensors
from compat.port.library.lua_functions import FUNCTIONS
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

_BARE = frozenset({Kind.BOOLEAN, Kind.FUNCTION, *NUMBERS})  # without entries and methods
_EVENTS = {
    **{"+": "__add", "-": "__sub", "*": "__mul", "/": "__div", "%": "__mod", "^": "__pow"},
    **{"..": "__concat", "negative": "__unm"},
}


def type_of(known: Inference, node: s.Node) -> Type:
    """Return the type of an expression, its first value."""
    if known.looked_up is None:
        return _type_of(known, node)
    found = known.looked_up.get(node)
    if found is None:
        found = known.looked_up[node] = _type_of(known, node)
    return found


def _type_of(known: Inference, node: s.Node) -> Type:
    own: Type = TYPES[type(node)](known, node)
    if known.is_settled and own.dims == {0} and isinstance(node, (s.Name, s.Index)):
        own = own.joined(tensor((), {-1}))  # it gets its size where nobody sees that it is this
    if not own.atoms and node in known.guessed_nodes:
        own = own.joined(known.guessed_nodes[node])
    facts = known.facts.get((known.file.path, node.start, node.end)) if known.facts else None
    if facts:
        own = _traced(known, node, own, facts)
    shape = own.shape
    if shape is None:
        return own
    if shape.klass is not None and Kind.TABLE in own.atoms and not _are_both(facts or ()):
        own, klass = own.without(Kind.TABLE), shape.klass
        if not own.atoms & {Kind.CLASS, Kind.OBJECT}:
            is_class = shape is klass.members.root() and shape is not klass.instance.root()
            own.atoms.add(Kind.CLASS if is_class else Kind.OBJECT)
    if shape.is_options and own.only(Kind.TABLE, Kind.NIL):
        own = own.without(Kind.TABLE)
        own.atoms.add(Kind.OPTIONS)
    return own


def _traced(known: Inference, node: s.Node, own: Type, facts: list[str]) -> Type:
    """Return the type of an expression with what a run saw of it."""
    is_test = isinstance(node, s.Call) and own.only(Kind.BOOLEAN)  # Lua gives more than true
    is_told = isinstance(node, (s.Constant, s.Table, s.Function)) or own.only(Kind.PACKAGE)
    # A run does not see which numbers are whole, and which table it is: the code may say that yet.
    if is_test or is_told or not (own.atoms or known.is_told):
        return own
    loaded = own.classes & {"loaded"}
    may_miss = node in known.clues.conditions and (own.may_be_nil or not own.is_known)
    own = known.believed(own, facts)
    if may_miss:  # the source knows that it may be missing
        own = own.joined(Type(Kind.NIL))
    if Kind.TABLE in own.atoms and own.table is None and not own.atoms & {Kind.OBJECT, Kind.CLASS}:
        own.table = known.seen_table(node, facts, own.buffer)
        own.table.root().items.buffer |= own.buffer
        own.table.root().uses |= loaded
    return own


def _are_both(facts: Sequence[str]) -> bool:
    """Return whether a run saw objects and other tables."""
    return "object" in facts and not {"dict", "mixed", "empty"}.isdisjoint(facts)


def owner(known: Inference, node: s.Node) -> Type:
    """Return the type of what is indexed, called or computed with: of nil Lua would fail, too."""
    return known.type(node).present


def indexed(known: Inference, node: s.Index) -> Type:
    """Return the type of what an entry is taken from: Lua fails for what has none."""
    kind = known.owner(node.object)
    name = s.constant(node.key)
    tested = known.clues.class_tests.get(node.object) if isinstance(node.object, s.Name) else None
    if tested is not None and kind.atoms <= {Kind.MODULE}:
        kind = Type(Kind.MODULE)
        kind.classes = {*tested}
        return kind
    is_field = isinstance(name, str) and not results.is_method(name)
    bare = {*_BARE, *[Kind.TENSOR] * is_field}
    is_of_no_text = isinstance(name, str) and _is_of_no_text(known, name)
    if is_of_no_text or known.type(node.key).is_number:  # of a text that gives nil
        bare.add(Kind.STRING)
    is_tested = node in known.clues.conditions or node in known.clues.compared
    return kind.less(_BARE if is_tested else bare)


def of_tensors(known: Inference, function: s.Node) -> str | None:
    """``torch.name`` for ``x.name``, a method of a tensor that is called as a function."""
    name = s.constant(function.key) if isinstance(function, s.Index) else None
    if not isinstance(function, s.Index) or name not in tensors.FUNCTIONS.names():
        return None
    return f"torch.{name}" if known.type(function.object).is_tensor else None


def owner_of_method(known: Inference, node: s.Call) -> Type:
    """Return the type of what a method is called of; where several are possible, what has the
    method.
    """
    assert node.method is not None
    whole = known.owner(node.function)
    if whole.buffer and not (whole.atoms or whole.open) and node.method in tensors.names():
        return tensor()  # a net gives tensors and lists, which have no methods
    lacks = _lacks(whole, node.method)
    bare = {*_BARE, *[Kind.TABLE] * lacks, *[Kind.STRING] * _is_of_no_text(known, node.method)}
    kind = whole.less(bare)
    is_own = node.method in known.clues.own_methods
    if kind.open and len(kind.atoms) == 1 and not is_own and results.has_method(kind, node.method):
        closed = kind.without()
        closed.open = False  # what else it is given is the same
        return closed
    is_one = kind.is_known and len(kind.atoms) == 1
    told = None if is_one and not (lacks and kind.only(Kind.TABLE)) else known.told_by(node)
    if told is not None and is_one:
        return told  # entries of a list are not all of a kind
    if known.is_settled and lacks and kind.only(Kind.TABLE) and results.is_method(node.method):
        return Type()  # Lua fails where it is this one
    if told is None or not told.atoms <= kind.atoms:
        return kind
    is_object = Kind.OBJECT in told.atoms  # or its class, which has the method, too
    found = kind.without(*kind.atoms - told.atoms - ({Kind.CLASS} if is_object else set()))
    found.open = False
    return found


def _is_of_no_text(known: Inference, method: str) -> bool:
    """Return whether texts have no such method."""
    names = (f"string.{method}", f"stringx.{method}")
    return not any(name in FUNCTIONS.names() or name in known.replaced for name in names)


def _lacks(kind: Type, method: str) -> bool:
    """Return whether the tables that a type may be have no such method."""
    shape = kind.shape
    if (
        shape is None
        or shape.klass is not None
        or shape.root().uses & {"dynamic", "meta", "options"}
    ):
        return False  # what a file holds is data
    return not shape.name(method).atoms


def told_by(known: Inference, node: s.Call) -> Type | None:
    """Return what alone has a method that is called, if the program defines none of its name."""
    count = len(node.arguments)
    own = known.clues.own_methods.get(node.method, []) if node.method is not None else []
    if len(own) == 1 and not results.is_method(str(node.method)):
        classes = known.classes.values()
        holders = [k.object for k in classes if k.is_torch and node.method in k.methods]
        return holders[0] if holders else None
    if node.method is None or any(f.is_vararg or len(f.parameters) > count for f in own):
        return None
    return results.owner_of(node.method, [known.type(a) for a in node.arguments])


def is_of_layers(known: Inference, method: str) -> bool:
    """Return whether no class or table of the program but layers has a method of this name."""
    layers = (k for k in known.classes.values() if k.is_layer(known.classes))
    theirs = {k.methods[method].function for k in layers if method in k.methods}
    return theirs.issuperset(known.clues.own_methods.get(method, ()))


def keeps_ranks(known: Inference, net: Type) -> bool:
    """Return whether a net gives tensors of as many dimensions as it is given, as do all layers
    that the program has, which loads none.
    """
    own = any(klass.is_layer(known.classes) for klass in known.classes.values())
    others = own or known.clues.loads_files or known.clues.makes_other_ranks
    return bool(net.classes) and not others


@expression(s.Constant)
def _constant(_known: Inference, node: s.Constant) -> Type:
    return constant(node.value)


@expression(s.Paren)
def _paren(known: Inference, node: s.Paren) -> Type:
    return known.type(node.inner)


@expression(s.Name)
def _name(known: Inference, node: s.Name) -> Type:
    path = known.dotted(node)
    if path in PACKAGES:
        made = Type(Kind.PACKAGE)
        made.classes = {path}
        return made
    if path == "arg":
        return function_results.constant(path)
    if path is not None and (klass := known.class_named(path)) is not None:
        return known.class_type(klass)
    if path is not None and (found := known.original(path, node)) is not None:
        return found
    own = known.of(node.variable)
    if own.lacking and (node in known.clues.present or _is_set_again(node)):
        own = own.joined(Type())
        own.lacking = False
    if node in known.clues.early_reads and own.atoms and not own.lacking:
        own = own.joined(Type())
        own.lacking = True
    own = known.tested(node, own) if node in known.clues.tests else own
    rank = known.clues.ranks.get(node)
    is_tensor = Kind.TENSOR in own.atoms or not own.atoms
    if rank is None or not is_tensor or known.clues.own_methods.keys() & {"dim", "nDimension"}:
        return own
    made = own.without(*own.atoms - {Kind.TENSOR}) if own.atoms else tensor()
    made.dims = {rank}
    return made


def _is_set_again(node: s.Name) -> bool:
    """Return whether a variable is set before it is read here, beside where it is declared."""
    return sum(place.start < node.start for place, _ in node.variable.writes) > 1


def original(known: Inference, path: str, node: s.Node) -> Type | None:
    """Return the type of one of Python's functions as a value; None: it is no such function."""
    rule = FUNCTIONS.of_fixed(path)
    if rule is None:
        return None
    made = Signature(results=results.rule_types(rule, [], []), by_node={None: {1}})
    return Type(Kind.FUNCTION, function=known.originals.setdefault(node, made))


@expression(s.Function)
def _function(known: Inference, node: s.Function) -> Type:
    return Type(Kind.FUNCTION, function=known.signature(node))


@expression(s.Vararg)
def _vararg(known: Inference, node: s.Vararg) -> Type:
    if known.returns and known.returns[-1][0].root().gets_nil:
        known.nil_at_times.add(node)
    made = Type()
    made.lacking = node in known.nil_at_times
    return made


@expression(s.Call)
def _call(known: Inference, node: s.Call) -> Type:
    return known.results(node)[0]


@expression(s.Unary)
def _unary(known: Inference, node: s.Unary) -> Type:
    operand = known.owner(node.operand)
    if node.operator == "not":
        return Type(Kind.BOOLEAN)
    if node.operator == "#":
        if operand.shape is not None and not operand.shape.klass:
            operand.shape.uses.add("length")
        made = Type(Kind.SIZES if operand.is_tensor else Kind.INT)
        made.zero = True
        return made
    if operand.has_meta or known.operator_of("negative", operand) is not None:
        return _arithmetic(known, "negative", operand, operand)
    return _arithmetic(known, "-", Type(Kind.INT), operand)


@expression(s.Binary)
def _binary(known: Inference, node: s.Binary) -> Type:
    operator = node.operator
    left, right = known.type(node.left), known.type(node.right)
    if operator in ("==", "~=", "<", ">", "<=", ">="):
        return Type(Kind.BOOLEAN)
    if operator == "..":
        own = known.operator_of("..", left.present, right.present)
        if left.is_lua_s or right.is_lua_s:
            return of_lua(FROM_LUA)
        return Type(Kind.STRING) if own is None else Type()
    if operator == "and":
        if left.only(Kind.NIL):
            return left
        joined = right.joined(Type())
        joined.lacking |= left.lacking
        if left.may(Kind.NIL, Kind.BOOLEAN):
            joined.atoms |= left.atoms & {Kind.NIL, Kind.BOOLEAN}
        return joined
    if operator == "or":
        if isinstance(node.left, s.Index) and (shape := known.indexed(node.left).shape) is not None:
            shape.uses.add("default")
        if isinstance(node.left, s.Binary) and node.left.operator == "and":
            left = known.type(node.left.right)  # what is false is not what it gives
        copy = left.without(Kind.NIL).joined(right)
        if known.is_settled and left.atoms and not right.atoms:
            copy.open = True
        if known.is_settled and not left.atoms and isinstance(node.left, s.Call):
            copy.open = True  # a default tells what a name is, not what a function gives
        return copy if left.atoms or right.atoms else Type()
    made = _arithmetic(known, operator, left.present, right.present)
    # Lua shows a large number as 1e+15, as it does no int of Python's.
    return Type(Kind.NUMBER) if made.is_int and node in known.file.scopes.growing else made


def operator_of(known: Inference, operator: str, *operands: Type) -> s.Define | None:
    """Return the method of a class of the script's that an operator calls."""
    found = (event_of(known, _EVENTS[operator], kind) for kind in operands)
    return next(filter(None, found), None)


def event_of(known: Inference, event: str, kind: Type) -> s.Define | None:
    """Return what the class of an object has for an event: Lua's name for it, or Torch7's."""
    if not kind.only(Kind.OBJECT) or kind.klass is None:
        return None
    found: s.Define | None = kind.klass.method(event, known.classes)
    return found or kind.klass.method(f"{event}__", known.classes)


def is_layer(known: Inference, kind: Type) -> bool:
    """Return whether a value is a module of nn's or of a class of the script's."""
    if not kind.only(Kind.MODULE, Kind.OBJECT):
        return False
    klass = kind.klass
    return Kind.OBJECT not in kind.atoms or (klass is not None and klass.is_layer(known.classes))


def makes_node(known: Inference, called: Type) -> bool:
    """Return whether what is called is a module, which gives a node of a graph."""
    return called.atoms - {Kind.NIL} == {Kind.MODULE} or known.is_layer(called.without(Kind.NIL))


def as_of_nn(known: Inference, called: Type) -> Type:
    """Return the type of a module with the names of the classes of nn that it derives from."""
    if Kind.OBJECT not in called.atoms:
        return called
    made = called.joined(Type())
    tops = (klass.top(known.classes) for klass in known.classes_of(called))
    made.classes = {str(top.parent) for top in tops} | known.classes_of_others(called)
    return made


def _arithmetic(known: Inference, operator: str, left: Type, right: Type) -> Type:
    define = known.operator_of(operator, left, right)
    if define is not None:
        signature = known.signature(define.function)
        for i, kind in enumerate((left, right)[: len(define.function.parameters)]):
            known.join(signature.parameter(i), kind)
        return signature.result(0)
    if left.only(Kind.POINTER):
        return left
    if operator == "-" and known.is_layer(right):  # a node of nngraph's
        return Type(Kind.MODULE)
    if left.is_tensor or right.is_tensor:
        if operator == "*" and left.is_tensor and right.is_tensor:
            dims = (left.ranks, right.ranks)
            if dims == ({1}, {1}):
                return Type(Kind.FLOAT)
            if -1 in left.ranks | right.ranks:
                return Type(Kind.TENSOR) if dims != ({-1}, {-1}) else Type()
            one, made = right, tensor(left.dtypes, [max(right.ranks)])
        else:
            one = left if left.is_tensor else right
            made = tensor(one.dtypes, one.dims)
        made.thin = one.thin
        return made
    for shape in (k.shape for k in (left, right) if k.has_meta):
        own = None if shape is None else shape.event(_EVENTS[operator]).signature
        if own is not None:
            found: list[Type] = known.call(own, [left, right])
            return found[0]
    if left.is_number and right.is_number:
        are_ints = left.is_int and right.is_int and operator in "+-*%"
        is_float = operator == "/" or Kind.FLOAT in left.atoms | right.atoms
        made = Type(Kind.INT if are_ints else Kind.FLOAT if is_float else Kind.NUMBER)
        both, either = left.zero and right.zero, left.zero or right.zero
        zeros = {"+": both, "-": are_ints or left.zero, "*": either, "/": left.zero}
        made.zero = zeros.get(operator, False)
        return made
    if not left.atoms - {Kind.NIL} or not right.atoms - {Kind.NIL}:
        return Type()  # Lua fails for nil
    if left.has_meta or right.has_meta:
        return Type()
    made = Type(Kind.NUMBER)
    if Kind.TENSOR in left.atoms | right.atoms:
        made.join(tensor())
    return made
