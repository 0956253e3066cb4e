"""The variable behind each name, and the code that changes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from compat.port.read import syntax as s

# Global names of Lua and of Torch7's packages.
PACKAGES = {
    *("torch", "nn", "optim", "nngraph", "cutorch", "cunn", "cudnn", "image", "paths", "sys"),
    *("xlua", "graph", "rnn", "dpnn", "threads", "lfs", "cjson", "tds", "gnuplot", "hdf5"),
    "loadcaffe",
    *("string", "table", "math", "io", "os", "package", "coroutine", "debug", "bit", "jit", "ffi"),
    *("path", "stringx", "tablex", "pretty", "pl", "utils", "optnet", "nccl", "dok", "class"),
}
# And those that need no import in Python.
SILENT = {"pl", "env", "trepl", "nnx", "lfs", "dok", "totem", "torchx"}
# Functions that load a file.
LOADERS = {"require", "dofile", "paths.dofile", "include", "torch.include"}
RUN = {"dofile", "paths.dofile"}  # each time, and give all that it returns
# Functions that forms name: none in Lua is called so.
EVALUATE = "loadstring.value"  # of texts that are evaluated at once
SETTING = "os.getenv.setting"  # of what the environment sets, or a default
KNOWN = PACKAGES | SILENT | {"lapp", "argcheck"}


@dataclass(eq=False)
class FunctionScope:
    """A function, or a file."""

    node: s.Function | None
    parent: FunctionScope | None
    variables: list[Variable] = field(default_factory=list)
    used: set[Variable] = field(default_factory=set)

    @property
    def line(self) -> list[FunctionScope]:
        """The scope and those around it, to that of its file."""
        return [self, *(self.parent.line if self.parent is not None else ())]

    def within(self, other: FunctionScope) -> bool:
        """Return whether ``other`` is the scope, or stands around it."""
        return other in self.line


@dataclass(eq=False)
class Variable:
    """A local variable, a parameter, or a global one (whose ``scope`` is None)."""

    id: str
    scope: FunctionScope | None
    declared: s.Node | None = None
    end: int = 0  # where its block ends
    loops: int = 0  # how many loops of its function stand around it
    is_parameter: bool = False
    reads: list[tuple[s.Name, FunctionScope]] = field(default_factory=list)
    writes: list[tuple[s.Name, FunctionScope]] = field(default_factory=list)
    python: str = ""
    turns: tuple[int, ...] = ()  # where what these loops repeat begins
    settled: int = 0  # where it has been changed for the last time in a turn
    boxed: bool = False  # each turn of a loop has its own
    grows: bool = False  # multiplied in each turn of a loop
    zero_based: bool = False  # a loop's number that is only used as an index
    is_class: bool = False  # what a class method is given

    @property
    def declared_at(self) -> int:
        """Where it is declared in its file."""
        return 0 if self.declared is None else self.declared.start

    @property
    def is_global(self) -> bool:
        """Whether it belongs to all files."""
        return self.scope is None

    @property
    def captured(self) -> bool:
        """Whether another function than its own uses it."""
        return any(scope is not self.scope for _, scope in (*self.reads, *self.writes))


class Scopes:
    """The variables of a file; globals are shared by ``globals``."""

    def __init__(self, block: s.Block, globals: dict[str, Variable]) -> None:
        self.globals = globals
        self.file = FunctionScope(None, None)
        self.of_function: dict[s.Function, FunctionScope] = {}
        self.written_globals: set[Variable] = set()
        self.read_globals: set[Variable] = set()
        self.growing: set[s.Node] = set()  # n * f(n - 1) in f
        self._scope = self.file
        self._blocks: list[dict[str, Variable]] = [{}]
        self._loops = 0
        self._turns: tuple[int, ...] = ()
        self._block(block, block.end or 1 << 60)

    # Resolving

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self._blocks.append({})
        yield
        self._blocks.pop()

    def _declare(self, name: s.Name, end: int, is_parameter: bool = False) -> None:
        variable = Variable(name.id, self._scope, name, end, self._loops, is_parameter)
        variable.turns = self._turns
        self._scope.variables.append(variable)
        self._blocks[-1][name.id] = variable
        name.variable = variable
        variable.writes.append((name, self._scope))

    def _find(self, name: s.Name, is_write: bool = False) -> None:
        blocks = [] if name.is_global else reversed(self._blocks)
        found = next((b[name.id] for b in blocks if name.id in b), None)
        if found is None:
            found = self.globals.setdefault(name.id, Variable(name.id, None, python=name.id))
            (self.written_globals if is_write else self.read_globals).add(found)
        name.variable = found
        (found.writes if is_write else found.reads).append((name, self._scope))
        scope: FunctionScope | None = self._scope
        while scope is not None and scope is not found.scope:
            scope.used.add(found)
            scope = scope.parent

    def _block(self, block: s.Block, end: int) -> None:
        for statement in block.statements:
            self._statement(statement, end)

    def _body(self, block: s.Block, names: Iterable[s.Name] = (), loop: bool = True) -> None:
        self._loops += loop
        turns = self._turns
        with self._inside():
            for name in names:
                self._declare(name, block.end)
            self._turns = (*turns, block.start) if loop else turns
            self._block(block, block.end)
        self._loops, self._turns = self._loops - loop, turns

    def _statement(self, node: s.Statement, end: int) -> None:
        if isinstance(node, s.Local):
            self._expressions(node.values)
            for name in node.names:
                self._declare(name, end)
        elif isinstance(node, s.Assign):
            self._expressions(node.values)
            for target in node.targets:
                if isinstance(target, s.Name):
                    self._find(target, is_write=True)
                    target.variable.grows |= self._loops > 0 and _multiplies(node, target)
                else:
                    self._expressions(target.children())
            for target, value in zip(node.targets, node.values, strict=False):
                self.growing |= set(_own_products(target, value))
        elif isinstance(node, s.Define):
            if node.is_local:
                assert isinstance(node.target, s.Name)
                self._declare(node.target, end)
            elif isinstance(node.target, s.Name):
                self._find(node.target, is_write=True)
            else:
                self._expressions(node.target.children())
            self._function(node.function)
            self.growing |= set(_own_products(node.target, node.function))
        elif isinstance(node, s.Scope):
            self._body(node.body, loop=False)
        elif isinstance(node, s.While):
            self._expression(node.condition)
            turns, self._turns = self._turns, (*self._turns, node.start)
            self._body(node.body)
            self._turns = turns
        elif isinstance(node, s.Repeat):
            self._loops += 1
            turns, self._turns = self._turns, (*self._turns, node.start)
            with self._inside():
                self._block(node.body, node.end)
                self._expression(node.condition)
            self._loops, self._turns = self._loops - 1, turns
        elif isinstance(node, s.If):
            for condition, body in node.clauses:
                if condition is not None:
                    self._expression(condition)
                self._body(body, loop=False)
        elif isinstance(node, s.ForRange):
            self._expressions(filter(None, (node.first, node.last, node.step)))
            self._body(node.body, [node.name])
        elif isinstance(node, s.ForEach):
            self._expressions(node.values)
            self._body(node.body, node.names)
        else:
            self._expressions(node.children())

    def _expressions(self, nodes: Iterable[s.Node]) -> None:
        for node in nodes:
            self._expression(node)

    def _expression(self, node: s.Node) -> None:
        if isinstance(node, s.Name):
            self._find(node)
        elif isinstance(node, s.Function):
            self._function(node)
        else:
            self._expressions(node.children())

    def _function(self, node: s.Function) -> None:
        outer, loops, turns = self._scope, self._loops, self._turns
        self._scope, self._loops, self._turns = FunctionScope(node, outer), 0, ()
        self.of_function[node] = self._scope
        with self._inside():
            for name in node.parameters:
                self._declare(name, node.end, is_parameter=True)
            self._block(node.body, node.end)
        self._scope, self._loops, self._turns = outer, loops, turns


def _multiplies(node: s.Assign, target: s.Name) -> bool:
    """Return whether an assignment multiplies what a variable has been, ``x = x * y + 1``, or adds
    it to another that grows, ``a, b = b, a + b``.
    """
    value = node.values[-1]
    if not isinstance(value, s.Binary) or value.operator not in "+-*":
        return False
    if len(node.targets) > 1:
        names = {n.id for n in node.targets if isinstance(n, s.Name)}
        added = {n.id for n in (value.left, value.right) if isinstance(n, s.Name)}
        return value.operator == "+" and target.id in names and names == added
    products = [n for n in s.walk(value) if isinstance(n, s.Binary) and n.operator == "*"]
    if all(isinstance(n, s.Name) and n.id == target.id for n in (value.left, value.right)):
        return True  # x + x
    return any(isinstance(n, s.Name) and n.id == target.id for p in products for n in s.walk(p))


def _own_products(target: s.Node, function: s.Node) -> Iterator[s.Binary]:
    """Yield the products in a function of what it gives for something else: ``n * f(n - 1)``."""
    own = getattr(target, "variable", None)
    for product in s.walk(function) if isinstance(function, s.Function) else ():
        if isinstance(product, s.Binary) and product.operator == "*" and own is not None:
            calls = (n.function for n in s.walk(product) if isinstance(n, s.Call))
            if any(isinstance(f, s.Name) and f.variable is own for f in calls):
                yield product
