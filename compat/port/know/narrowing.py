"""Types behind tests: a variable inside ``if type(x) == 'table' then``."""

from __future__ import annotations

from collections.abc import Iterator

from compat.port.know.scopes import Variable
from compat.port.know.shapes import may_end
from compat.port.know.types import NUMBERS, Kind
from compat.port.read import syntax as s

# What the answers of ``type`` leave of the possibilities.
LEAVES = {
    Kind.TABLE: {Kind.TABLE, Kind.OPTIONS, Kind.OBJECT, Kind.CLASS, Kind.MODULE},
    Kind.NUMBER: set(NUMBERS),
    Kind.STRING: {Kind.STRING},
    Kind.FUNCTION: {Kind.FUNCTION},
    Kind.BOOLEAN: {Kind.BOOLEAN},
    Kind.TENSOR: {Kind.TENSOR, Kind.MASK},
}


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
    for condition, part in _guarded(block, after=False):
        for subject, answer in filter(None, map(_tested, _true(condition))):
            own = s.describe(subject)
            alike = (n for n in s.walk(part) if isinstance(n, (s.Name, s.Index)))
            found |= {n: answer for n in alike if "…" not in own and s.describe(n) == own}
    return found


def narrowed(block: s.Block) -> tuple[dict[s.Name, Kind], dict[s.Name, int]]:
    """Return the places that a variable is read at behind a test: what it is there, and how
    long.
    """
    kinds: dict[s.Name, Kind] = {}
    lengths: dict[s.Name, int] = {}
    for condition, part in _guarded(block):
        for test in _true(condition):
            if (found := tested(test)) is not None:
                kinds |= dict.fromkeys(_reads(found[0].variable, part), found[1])
            elif (measured := _measured(test)) is not None:
                lengths |= dict.fromkeys(_reads(measured[0].variable, part), measured[1])
    return kinds, lengths


def present(block: s.Block) -> set[s.Name]:
    """Return the places that a variable is read at behind ``if x`` and ``x ~= nil``."""
    found: set[s.Name] = set()
    for condition, part in _guarded(block):
        for test in _true(condition):
            if isinstance(test, s.Binary) and test.operator == "~=":
                test = test.left
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
            assigned = (node.targets, node.values) if isinstance(node, s.Assign) else ([], [])
            for target, value in zip(*assigned, strict=False):
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


def _measured(node: s.Node) -> tuple[s.Name, int] | None:
    """``#x == 3``."""
    if not isinstance(node, s.Binary) or node.operator != "==":
        return None
    length, number = node.left, node.right
    if not isinstance(length, s.Unary) or length.operator != "#":
        return None
    if not isinstance(length.operand, s.Name) or not isinstance(number, s.Constant):
        return None
    return (length.operand, number.value) if isinstance(number.value, int) else None


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
        if isinstance(part, s.Unary) and part.operator == "#":
            yield part.operand
        elif isinstance(part, s.Call) and part.arguments and s.describe(part.function) == "ipairs":
            yield part.arguments[0]


def _guarded(block: s.Block, after: bool = True) -> Iterator[tuple[s.Node, s.Node]]:
    """Yield conditions, and the parts of the source that are reached only where they are true;
    ``after``: those behind ``assert(x)``, too.
    """
    for node in s.walk(block):
        if isinstance(node, s.Binary) and node.operator == "and":
            yield node.left, node.right
        elif isinstance(node, s.If):
            for condition, body in node.clauses:
                if condition is not None:
                    yield condition, body
        elif isinstance(node, s.Block) and after:
            for position, statement in enumerate(node.statements, 1):
                if (condition := _required(statement)) is not None:
                    yield condition, s.Block(node.statements[position:])


def _required(node: s.Statement) -> s.Node | None:
    """Return what is true behind ``assert(x)`` and ``if not x then error() end``."""
    call = node.call if isinstance(node, s.Do) else None
    if isinstance(call, s.Call) and isinstance(call.function, s.Name) and call.arguments:
        return call.arguments[0] if call.function.id == "assert" else None
    if isinstance(node, s.If) and len(node.clauses) == 1 and not may_end(node.clauses[0][1]):
        return s.Unary("not", node.clauses[0][0]) if node.clauses[0][0] is not None else None
    return None


def _true(node: s.Node, is_true: bool = True) -> Iterator[s.Node]:
    """Yield the parts of a condition that are all true where it is, or where it is not."""
    if isinstance(node, s.Paren):
        yield from _true(node.inner, is_true)
    elif isinstance(node, s.Unary) and node.operator == "not":
        yield from _true(node.operand, not is_true)
    elif isinstance(node, s.Binary) and node.operator == ("and" if is_true else "or"):
        yield from _true(node.left, is_true)
        yield from _true(node.right, is_true)
    elif is_true:
        yield node
    elif isinstance(node, s.Binary) and node.operator in _OPPOSITES:
        yield s.Binary(_OPPOSITES[node.operator], node.left, node.right)


_OPPOSITES = {"==": "~=", "~=": "=="}


def _reads(variable: Variable, part: s.Node) -> list[s.Name]:
    """Return where a part of the source reads a variable before it sets it."""
    inside = set(s.walk(part))
    end = min((n.start for n, _ in variable.writes if n in inside), default=1 << 60)
    return [n for n, _ in variable.reads if n in inside and n.start < end]
