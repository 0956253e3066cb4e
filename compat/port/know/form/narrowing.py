"""Types behind tests: a variable inside ``if type(x) == 'table' then``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from compat import nn
from compat.port.know.form.shapes import length_of, may_end, place_of
from compat.port.know.scopes import Variable
from compat.port.know.types import NUMBERS, Kind
from compat.port.read import syntax as s

# What the answers of ``type`` leave of the possibilities.
LEAVES = {
    Kind.TABLE: {Kind.TABLE, Kind.OPTIONS, Kind.OBJECT, Kind.CLASS, Kind.MODULE},
    Kind.NUMBER: set(NUMBERS),
    Kind.STRING: {Kind.STRING},
    Kind.FUNCTION: {Kind.FUNCTION},
    Kind.BOOLEAN: {Kind.BOOLEAN},
    Kind.TENSOR: {Kind.TENSOR},
}


class Test(NamedTuple):
    """The kinds that a test leaves of a variable: ``is_true``, these, else all but these; and what
    the variable is set to where the test says otherwise.
    """

    answer: Kind
    kinds: set[Kind]
    is_true: bool
    values: tuple[s.Node, ...] = ()


def tested(node: s.Node) -> tuple[s.Name, Kind] | None:
    """Return the variable that an expression tests, and what it is if that is true."""
    subject, answer = _tested(node) or (None, None)
    return (subject, answer) if isinstance(subject, s.Name) and answer is not None else None


def _tested(node: s.Node) -> tuple[s.Node, Kind] | None:
    """Return the variable or field that an expression tests, and what it is if that is true."""
    if isinstance(node, s.Call):
        return _asked(node, "isTensor", Kind.TENSOR)
    if not isinstance(node, s.Binary) or node.operator != "==":
        return None
    for call, answer in ((node.left, node.right), (node.right, node.left)):
        if isinstance(call, s.Call) and isinstance(answer, s.Constant) and answer.value in LEAVES:
            return _asked(call, "type", Kind(answer.value))
    return None


def _asked(call: s.Call, function: str, answer: Kind) -> tuple[s.Node, Kind] | None:
    name = call.function
    if isinstance(name, s.Index) and isinstance(name.object, s.Name) and name.object.id == "torch":
        name = name.key
    word = name.value if isinstance(name, s.Constant) else getattr(name, "id", None)
    subject = call.arguments[0] if len(call.arguments) == 1 else None
    is_plain = word == function and call.method is None
    return (subject, answer) if is_plain and isinstance(subject, (s.Name, s.Index)) else None


def behind_tests(block: s.Block) -> dict[s.Node, Kind]:
    """Return the places of variables and fields that are reached only where these are of some
    kind, which another time they may not be.
    """
    found: dict[s.Node, Kind] = {}
    for condition, part in guarded(block, after=False):
        for subject, answer in filter(None, map(_tested, true_parts(condition))):
            own = s.describe(subject)
            alike = (n for n in s.walk(part) if isinstance(n, (s.Name, s.Index)))
            found |= {n: answer for n in alike if "…" not in own and s.describe(n) == own}
    return found


def narrowed(
    block: s.Block,
) -> tuple[dict[s.Name, list[Test]], dict[s.Name, int], dict[s.Name, int]]:
    """Return the places that a variable is read at behind tests: what they leave, how long it is,
    and how many dimensions it has.
    """
    tests: dict[s.Name, list[Test]] = {}
    lengths: dict[s.Name, int] = {}
    ranks: dict[s.Name, int] = {}
    for condition, part in guarded(block):
        for node in true_parts(condition):
            if (found := _answered(node)) is not None:
                for read in _reads(found[0].variable, part):
                    tests.setdefault(read, []).append(found[1])
            elif (measured := _measured(node, length_of)) is not None:
                lengths |= dict.fromkeys(_reads(measured[0].variable, part), measured[1])
            elif (measured := _measured(node, _of_rank)) is not None:
                ranks |= dict.fromkeys(_unchanged(measured[0].variable, part), measured[1])
    for inner in (n for n in s.walk(block) if isinstance(n, s.Block)):
        for position, node in enumerate(inner.statements, 1):
            for name, test in _settled(node):
                for read in _reads(name.variable, s.Block(inner.statements[position:])):
                    tests.setdefault(read, []).append(test)
    return tests, lengths, ranks


def class_tests(block: s.Block) -> dict[s.Name, set[str]]:
    """Return the places that a variable is read at behind ``torch.type(x) == 'nn.Linear'`` and the
    like, and the classes.
    """
    found: dict[s.Name, set[str]] = {}
    for condition, part in guarded(block):
        for test in true_parts(condition):
            subject, names = _of_class(test) or (None, set())
            if isinstance(subject, s.Name) and names and all(map(_is_layer, names)):
                found |= dict.fromkeys(_reads(subject.variable, part), names)
    return found


def _of_class(test: s.Node) -> tuple[s.Node, set[str]] | None:
    """Return what an expression tests, and the names of the classes one of which it has if that is
    true.
    """
    if isinstance(test, s.Call) and s.describe(test.function) == "torch.isTypeOf":
        return (test.arguments[0], {_text(test.arguments[-1])}) if test.arguments else None
    if not isinstance(test, s.Binary):
        return None
    if test.operator == "or":
        one, other = _of_class(test.left), _of_class(test.right)
        is_same = one is not None and other is not None and place_of(one[0]) == place_of(other[0])
        return (one[0], one[1] | other[1]) if one and other and is_same else None
    asked, name = test.left, _text(test.right)
    if test.operator != "==":
        return None
    if isinstance(asked, s.Index) and s.constant(asked.key) == "__typename":
        return asked.object, {name}
    if not isinstance(asked, s.Call) or s.describe(asked.function) not in _TYPE_NAMES:
        return None
    return (asked.arguments[0], {name}) if asked.arguments else None


def _is_layer(name: str) -> bool:
    package, _, own = name.partition(".")
    return package in ("nn", "cudnn") and isinstance(getattr(nn, own, None), type)


def _text(node: s.Node) -> str:
    return str(s.constant(node) or "")


_TYPE_NAMES = {"torch.type", "torch.typename"}


def _answered(node: s.Node) -> tuple[s.Name, Test] | None:
    """Return the variable that a true expression tests, and what is left of it."""
    is_true = True
    if isinstance(node, s.Unary) and node.operator == "not":
        node, is_true = node.operand, False
    elif isinstance(node, s.Binary) and node.operator == "~=":
        node, is_true = s.Binary("==", node.left, node.right), False
    found = tested(node)
    if found is None:
        return None
    kinds = LEAVES[found[1]]
    if not is_true and any(s.describe(n) == "torch.type" for n in s.walk(node)):
        kinds = kinds - _WITH_NAMES
    return found[0], Test(found[1], kinds, is_true)


_WITH_NAMES = {Kind.OBJECT, Kind.MODULE}  # which torch.type gives


def _settled(node: s.Statement) -> Iterator[tuple[s.Name, Test]]:
    """Yield what is left of variables behind ``if type(x) == 'table' then x = #x end``."""
    clauses = node.clauses if isinstance(node, s.If) else []
    for number, (condition, _) in enumerate(clauses):
        opposite = [] if condition is None else true_parts(s.Unary("not", condition))
        for name, test in filter(None, map(_answered, opposite)):
            ending = [body for _, body in clauses if may_end(body)]
            put = [found for body in ending if (found := _put(name.variable, body)) is not None]
            first = sum(may_end(body) for _, body in clauses[: number + 1])
            if len(put) == len(ending) and all(put[:first]):
                yield name, test._replace(values=tuple(value for values in put for value in values))


def _put(variable: Variable, block: s.Block) -> list[s.Node] | None:
    """Return the value that a block sets a variable to, if it does; None: to several."""
    inside = set(s.walk(block))
    writes = [name for name, _ in variable.writes if name in inside]
    found = [
        value for node in block.statements for name, value in s.assigned(node) if name in writes
    ]
    return found if len(found) == len(writes) < 2 else None


def present(block: s.Block) -> set[s.Name]:
    """Return the places that a variable is read at behind ``if x`` and ``x ~= nil``."""
    found: set[s.Name] = set()
    for condition, part in guarded(block):
        for test in true_parts(condition):
            if isinstance(test, s.Binary) and test.operator == "~=":
                test = test.left if s.is_nil(test.right) else test
            if isinstance(test, s.Name):
                found.update(_reads(test.variable, part))
    return found


def given(block: s.Block) -> Iterator[tuple[s.Name, s.Node]]:
    """Yield the places that variables declared without a value are read at behind ``x = value``,
    and the value.
    """
    parts = list(s.walk(block))
    bare = {
        name.variable for n in parts if isinstance(n, s.Local) and not n.values for name in n.names
    }
    for inner in (n for n in parts if isinstance(n, s.Block)):
        for position, node in enumerate(inner.statements, 1):
            for target, value in s.assigned(node):
                if isinstance(target, s.Name) and target.variable in bare:
                    yield from ((read, value) for read in _later(target, inner, position))


def _later(target: s.Name, block: s.Block, position: int) -> Iterator[s.Name]:
    """Yield the reads of a variable in a block's statements up to one that sets it again."""
    writes = {name for name, _ in target.variable.writes}
    if any(scope is not target.variable.scope for _, scope in target.variable.writes):
        return
    reads = {name for name, scope in target.variable.reads if scope is target.variable.scope}
    for node in block.statements[position:]:
        inside = set(s.walk(node))
        if writes & inside:
            return
        yield from reads & inside


def _of_rank(node: s.Node) -> s.Node | None:
    """Return ``x`` of ``x:dim()`` and ``#x:size()``."""
    sizes = length_of(node)
    names = ("dim", "nDimension") if sizes is None else ("size",)
    call = sizes or node
    is_rank = isinstance(call, s.Call) and call.method in names and not call.arguments
    return call.function if is_rank and isinstance(call, s.Call) else None


# Methods that leave a tensor its dimensions, with tensors among two or more arguments, too.
_LEAVING = {
    *("add", "addcmul", "addcdiv", "narrow", "select", "sub", "transpose", "permute", "unfold"),
    *("view", "reshape", "expand", "repeatTensor", "index", "gather", "scatter", "sort", "topk"),
    *("indexFill", "indexCopy", "indexAdd", "maskedFill", "uniform", "normal", "clamp", "size"),
}
_READING = {"print", "type", "tostring", "assert"}


def _unchanged(variable: Variable, part: s.Node) -> list[s.Name]:
    """Return where a part of the source reads a tensor before it may get other dimensions: it has
    another name, or is where a function or method puts its result. A function inside may do so at
    any time.
    """
    if any(scope is not variable.scope for _, scope in [*variable.reads, *variable.writes]):
        return []

    def is_it(node: s.Node | None) -> bool:
        return isinstance(node, s.Name) and node.variable is variable

    def changes(call: s.Call) -> bool:
        count, method = len(call.arguments), call.method
        if method is not None:
            is_result = count > 1 and method not in _LEAVING
            return is_it(call.function) and (method.startswith(("resize", "set")) or is_result)
        path = s.describe(call.function)
        is_result = count > 1 and is_it(call.arguments[0])
        is_read = path.startswith("torch.") and not is_result
        return any(map(is_it, call.arguments)) and not (is_read or path in _READING)

    found = [n for n in s.walk(part) if any(is_it(value) for _, value in s.assigned(n))]
    found += [n for n in s.walk(part) if isinstance(n, s.Call) and changes(n)]
    return _reads(variable, part, found)


def _measured(node: s.Node, asked: Callable[[s.Node], s.Node | None]) -> tuple[s.Name, int] | None:
    """Return the variable and the number of ``#x == 3``."""
    if not isinstance(node, s.Binary) or node.operator != "==":
        return None
    subject, number = asked(node.left), s.constant(node.right)
    return (subject, number) if isinstance(subject, s.Name) and isinstance(number, int) else None


def filled(block: s.Block) -> Iterator[s.Call]:
    """Calls that are given a list first and stand where its length was looked at."""
    for node in s.walk(block):
        if isinstance(node, (s.If, s.While, s.ForRange, s.ForEach)):
            lists = {s.describe(n) for part in _tests(node) for n in _measured_lists(part)} - {"…"}
            for call in s.walk(node):
                if isinstance(call, s.Call) and s.describe((call.arguments or [call])[0]) in lists:
                    yield call


def _tests(node: s.Statement) -> list[s.Node]:
    """Return the expressions that decide whether a statement's body is reached."""
    if isinstance(node, s.If):
        return [condition for condition, _ in node.clauses if condition is not None]
    if isinstance(node, s.ForRange):
        return [node.first, node.last]
    return node.values if isinstance(node, s.ForEach) else node.children()[:1]


def _measured_lists(node: s.Node) -> Iterator[s.Node]:
    """Yield what ``#x`` and ``ipairs(x)`` ask for the length of."""
    for part in s.walk(node):
        if (own := length_of(part)) is not None:
            yield own
        elif isinstance(part, s.Call) and part.arguments and s.describe(part.function) == "ipairs":
            yield part.arguments[0]


def guarded(block: s.Block, after: bool = True) -> Iterator[tuple[s.Node, s.Node]]:
    """Yield conditions, and the parts of the source that are reached only where they are true;
    ``after``: those behind ``assert(x)``, too.
    """
    for node in s.walk(block):
        if isinstance(node, s.Binary) and node.operator in ("and", "or"):
            yield node.left if node.operator == "and" else s.Unary("not", node.left), node.right
        elif isinstance(node, s.While):
            yield node.condition, node.body
        elif isinstance(node, s.If):
            conditions = [condition for condition, _ in node.clauses if condition is not None]
            for number, (condition, body) in enumerate(node.clauses):
                if condition is not None:
                    yield condition, body
                for other in conditions[:number]:
                    yield from ((s.Unary("not", other), n) for n in (condition, body) if n)
        elif isinstance(node, s.Block) and after:
            for position, statement in enumerate(node.statements, 1):
                for condition in _required(statement):
                    yield condition, s.Block(node.statements[position:])


def _required(node: s.Statement) -> Iterator[s.Node]:
    """Yield what is true behind ``assert(x)`` and ``if not x then error() end``."""
    call = node.call if isinstance(node, s.Do) else None
    if isinstance(call, s.Call) and s.describe(call.function) == "assert" and call.arguments:
        yield call.arguments[0]
    for condition, body in node.clauses if isinstance(node, s.If) else []:
        if condition is None or may_end(body):
            break
        yield s.Unary("not", condition)


def true_parts(node: s.Node, is_true: bool = True) -> Iterator[s.Node]:
    """Yield the parts of a condition that are all true where it is, or where it is not."""
    if isinstance(node, s.Unary) and node.operator == "not":
        yield from true_parts(node.operand, not is_true)
    elif isinstance(node, s.Binary) and node.operator == ("and" if is_true else "or"):
        yield from true_parts(node.left, is_true)
        yield from true_parts(node.right, is_true)
    elif is_true:
        yield node
    elif isinstance(node, s.Binary) and node.operator in _OPPOSITES:
        yield s.Binary(_OPPOSITES[node.operator], node.left, node.right)
    else:
        yield s.Unary("not", node)


_OPPOSITES = {"==": "~=", "~=": "=="}


def _reads(variable: Variable, part: s.Node, changes: Sequence[s.Node] = ()) -> list[s.Name]:
    """Return where a part of the source reads a variable before it, or a loop there, sets it, or
    changes it.
    """
    inside = set(s.walk(part))
    assigned = {name: n.end for n in inside if isinstance(n, s.Assign) for name in n.targets}
    writes = [name for name, _ in variable.writes if name in inside]
    ends = [assigned.get(name, name.start) for name in writes]
    end = min([*ends, *(node.end for node in changes)], default=1 << 60)
    loops = (n for n in inside if isinstance(n, s.LOOPS))
    end = min((loop.start for loop in loops if loop.start < end <= loop.end), default=end)
    return [n for n, _ in variable.reads if n in inside and n.start < end]
