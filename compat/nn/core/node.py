"""Nodes of a graph of modules, as Torch7's ``nngraph`` builds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar

from compat import t7
from compat.checks import whole, wrong_type

T = TypeVar("T")


class _Data(t7.Table):
    """What a node keeps. What it does not have of these is None, as in Lua."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name in ("module", "selectindex", "nSplitOutputs"):
            return self.get(name)
        return super().__getattr__(name)


class Node:
    """One use of a module in a graph (Torch7: ``nngraph.Node``).

    Calling a module with nodes makes one: ``nn.Linear(20, 10)(x)`` takes the output of ``x``,
    ``nn.CAddTable()([x, y])`` those of two nodes, and ``nn.Identity()()`` is an input of the graph.

    Fields:
        data: what Torch7 keeps of it: ``module``, ``annotations`` and, for the nodes that ``split``
            makes, ``nSplitOutputs`` and ``selectindex``; ``node.data.annotations.name`` as in Lua.
            ``node.data.module`` is None without one.
        children: the nodes whose outputs it takes; in ``forwardnodes`` of a gModule those that take
            its output.

    Raises:
        ValueError: one input given twice, which Torch7's files cannot tell.
    """

    id: int = 0
    # Set by `compat.nn.graph`: the class of module that takes the entry of a table of one, and the
    # one that a criterion becomes.
    element: ClassVar[Callable[[], Any]]
    criterion: ClassVar[Callable[[Any], Any]]

    def __init__(self, data: dict[str, Any], children: Iterable[Node] = ()) -> None:
        self.data = _Data({"annotations": t7.Table(), **data})
        self.children: list[Node] = []
        self.consumers: list[Node] = []
        given = list(children)
        for i, child in enumerate(given):
            if not isinstance(child, Node):
                raise wrong_type(child, "input", "a node or a list of nodes")
            if child in given[:i]:
                raise ValueError(f"input has {child} twice; each node is accepted once")
        for child in given:
            self.add(child)

    @staticmethod
    def of(module: Any, input: Any) -> Node:
        """Return a node of ``module`` that takes the output of a node, of a list of nodes, or
        nothing.
        """
        if isinstance(input, Node):
            input = [input]
        return Node({"module": module}, input if isinstance(input, (list, tuple)) else ())

    def add(self, child: Node, domap: bool = True) -> None:
        """Take the output of ``child``, too, behind those of the nodes that were added before.

        A node is taken once. ``domap`` is Torch7's; nodes of nets have it.
        """
        if not isinstance(child, Node):
            raise wrong_type(child, "child", "a node")
        if child not in self.children:
            self.children.append(child)
            child.consumers.append(self)

    def __sub__(self, module: Callable[[Any], Node]) -> Node:
        """``x - nn.Tanh()`` is ``nn.Tanh()(x)``, as in nngraph."""
        return module(self)

    def split(self, noutput: int) -> Any:
        """One node for each of the ``noutput`` entries of the table that is this node's output.

        With one entry, that node alone (Torch7: ``nngraph.JustElement``).
        """
        noutput = whole(noutput, "noutput", 1)
        if noutput == 1:
            return Node.of(Node.element(), self)
        table = Node({"nSplitOutputs": noutput}, [self])
        return [Node({"selectindex": i}, [table]) for i in range(1, noutput + 1)]

    def annotate(self, annotations: dict[str, Any]) -> Node:
        """Add to ``data.annotations``. Returns self.

        Drawings show a ``name``, a ``description`` and ``graphAttributes``, a dict of what Graphviz
        is told of the node, e.g. ``{"style": "filled", "fillcolor": "red"}``.
        """
        self.data["annotations"].update(annotations)
        return self

    def t7_fields(self) -> dict[str, Any]:
        children = numbered(self.children)
        return {
            "data": self.data,
            "children": children,
            "id": self.id,
            "visited": False,
            "marked": False,
        }

    def __repr__(self) -> str:
        name = self.data["annotations"].get("name")
        module = self.data.get("module")
        kind = getattr(module, "typename", "split")
        return f"Node({kind})" if name is None else f"Node({kind}, {name})"


def declare(node: Node, place: str) -> None:
    """Note where a script has made a node, as Torch7 does, unless that is known."""
    node.data["annotations"].setdefault("_debugLabel", place)


def declare_parts(parts: list[Node], place: str) -> None:
    """The same for what ``split`` has made: the nodes of the entries, and the one of the table."""
    (table,) = parts[0].children
    (node,) = table.children
    label = node.data["annotations"].get("_debugLabel", "")
    declare(table, f"{label} split at {place}-mnode")
    for i, part in enumerate(parts, 1):
        declare(part, f"{label}-{i}")


class Edge:
    """An edge as files hold it (Torch7: ``graph.Edge``): ``from`` and ``to``, two nodes."""


class Graph:
    """A graph as files hold it (Torch7: ``graph.Graph``): ``nodes`` and ``edges``."""

    nodes: Any
    edges: Any


def symbolic(input: Any) -> bool:
    """Return whether ``input`` is a node or a list of nodes."""
    if isinstance(input, (list, tuple)):
        return bool(input) and all(isinstance(item, Node) for item in input)
    return isinstance(input, Node)


def post_order(root: T, below: Callable[[T], Iterable[T]], seen: set[int] | None = None) -> list[T]:
    """Return everything reachable from ``root``, what is below a thing before the thing itself.

    What is in ``seen`` is left out, and what is found comes into it.
    """
    order: list[T] = []
    seen = set() if seen is None else seen
    if id(root) in seen:
        return order
    seen.add(id(root))
    stack = [(root, iter(below(root)))]
    while stack:
        thing, rest = stack[-1]
        for child in rest:
            if id(child) not in seen:
                seen.add(id(child))
                stack.append((child, iter(below(child))))
                break
        else:
            order.append(thing)
            stack.pop()
    return order


def breadth_first(root: T, below: Callable[[T], Iterable[T]]) -> list[T]:
    """Return everything reachable from ``root``, nearest first."""
    order = [root]
    seen = {id(root)}
    for thing in order:
        for child in below(thing):
            if id(child) not in seen:
                seen.add(id(child))
                order.append(child)
    return order


def cycles(things: Sequence[T], below: Callable[[T], Iterable[T]]) -> list[list[T]]:
    """Return those of ``things`` that lead to each other, in groups of two or more (Kosaraju)."""
    above: dict[int, list[T]] = {id(thing): [] for thing in things}
    order: list[T] = []
    seen: set[int] = set()
    for thing in things:
        for child in below(thing):
            if id(child) in above:
                above[id(child)].append(thing)
        order += post_order(thing, below, seen)
    groups: list[list[T]] = []
    seen = set()
    for thing in reversed(order):
        if id(thing) in above:
            groups.append(post_order(thing, lambda item: above[id(item)], seen))
    return [group for group in groups if len(group) > 1]


def numbered(things: Iterable[Any]) -> dict[Any, Any]:
    """Return the Lua table that has each thing under its number and its number under the thing."""
    table: dict[Any, Any] = {}
    for number, thing in enumerate(things, 1):
        table[number] = thing
        table[t7.Key(thing) if isinstance(thing, dict) else thing] = number
    return table


def entries(table: Any) -> list[Any]:
    """Return what a Lua table has under 1, 2, 3, …"""
    if not isinstance(table, dict):
        return list(table or ())
    return [table[number] for number in range(1, len(table) + 1) if number in table]


t7.register("nngraph.Node", Node)
t7.register("graph.Node", Node)
t7.register("graph.Edge", Edge)
t7.register("graph.Graph", Graph)
