"""Nodes of a graph of modules, as in Torch7's ``nngraph``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar

from compat import t7
from compat.checks import whole, wrong_type
from compat.lua_tables import by_position

T = TypeVar("T")


class _Data(t7.Table):
    """The table of a node. A missing entry is None, as in Lua."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name in ("module", "selectindex", "nSplitOutputs"):
            return self.get(name)
        return super().__getattr__(name)


class Node:
    """One use of a module in a graph (Torch7: ``nngraph.Node``).

    A call of a module with nodes makes one: ``nn.Linear(20, 10)(x)`` takes the output of ``x``,
    ``nn.CAddTable()([x, y])`` takes those of two nodes, and ``nn.Identity()()`` is an input of the
    graph.

    Attributes:
        data: Torch7's table: ``module`` (None without one), ``annotations`` and, for nodes that
            ``split`` makes, ``nSplitOutputs`` and ``selectindex``. ``node.data.annotations.name``
            works as in Lua.
        children: the nodes whose outputs it takes. In ``forwardnodes`` of a gModule, the nodes that
            take its output.

    Raises:
        ValueError: one input is given twice, which Torch7's files cannot express.
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
        """Return a node of ``module`` whose inputs are a node, a list of nodes, or none."""
        if isinstance(input, Node):
            input = [input]
        if isinstance(input, dict):
            input = by_position(input)
        return Node({"module": module}, input if isinstance(input, (list, tuple)) else ())

    def add(self, child: Node, domap: bool = True) -> None:
        """Take the output of ``child``, too, after those of the nodes that were added before.

        A node that is already taken is ignored. ``domap`` is Torch7's; nodes of nets have it.

        Args:
            child: the node whose output is taken.
            domap: for Torch7's signature.
        """
        if not isinstance(child, Node):
            raise wrong_type(child, "child", "a node")
        if child not in self.children:
            self.children.append(child)
            child.consumers.append(self)

    def __sub__(self, module: Callable[[Any], Node]) -> Node:
        """Return ``module(self)``: ``x - nn.Tanh()`` is ``nn.Tanh()(x)``, as in nngraph."""
        return module(self)

    def split(self, noutput: int) -> Any:
        """Return one node for each of the ``noutput`` entries of the table that this node outputs.

        With one entry, return that node alone (Torch7: ``nngraph.JustElement``).

        Args:
            noutput: the number of entries.

        Returns:
            A list of nodes.

        Examples:
            >>> import torch
            >>> from compat import nn
            >>> x = nn.Identity()()
            >>> net = nn.gModule([x], nn.SplitTable(1)(x).split(2))
            >>> [part.tolist() for part in net.forward(torch.tensor([[1.0], [2.0]]))]
            [[1.0], [2.0]]
        """
        noutput = whole(noutput, "noutput", 1)
        if noutput == 1:
            return Node.of(Node.element(), self)
        table = Node({"nSplitOutputs": noutput}, [self])
        return [Node({"selectindex": i}, [table]) for i in range(1, noutput + 1)]

    def annotate(self, annotations: dict[str, Any] | list[Any]) -> Node:
        """Add to ``data.annotations``. Return this node.

        Drawings show ``name``, ``description`` and ``graphAttributes``, a dict of Graphviz
        attributes of the node, e.g. ``{"style": "filled", "fillcolor": "red"}``.

        Args:
            annotations: names and values, or a list; those of the same name are replaced.
        """
        named = annotations if isinstance(annotations, dict) else enumerate(annotations, 1)
        self.data["annotations"].update(named)
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
    """Note where a script made a node, as Torch7 does, unless that is known."""
    node.data["annotations"].setdefault("_debugLabel", place)


def declare_parts(parts: list[Node], place: str) -> None:
    """Note the same for the nodes that ``split`` made: of the entries, and of the table."""
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
    """Return whether ``input`` is a node or a list of nodes, which may be a dict from 1 to n."""
    if isinstance(input, dict):
        input = by_position(input)
    if isinstance(input, (list, tuple)):
        return bool(input) and all(isinstance(item, Node) for item in input)
    return isinstance(input, Node)


def post_order(root: T, below: Callable[[T], Iterable[T]], seen: set[int] | None = None) -> list[T]:
    """Return all nodes reachable from ``root`` in post-order: children before their parents.

    Args:
        root: the first node.
        below: returns a node's children.
        seen: ids of nodes to leave out; the nodes that are found are added.
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
    """Return all nodes reachable from ``root``, the nearest first."""
    order = [root]
    seen = {id(root)}
    for thing in order:
        for child in below(thing):
            if id(child) not in seen:
                seen.add(id(child))
                order.append(child)
    return order


def cycles(things: Sequence[T], below: Callable[[T], Iterable[T]]) -> list[list[T]]:
    """Return the groups of two or more ``things`` that lead to each other (Kosaraju)."""
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
    """Return the Lua table with each thing by number and each number by thing."""
    table: dict[Any, Any] = {}
    for number, thing in enumerate(things, 1):
        table[number] = thing
        table[t7.Key(thing) if isinstance(thing, dict) else thing] = number
    return table


def entries(table: Any) -> list[Any]:
    """Return a Lua table's entries 1, 2, 3, … as a list."""
    if not isinstance(table, dict):
        return list(table or ())
    return [table[number] for number in range(1, len(table) + 1) if number in table]


t7.register("nngraph.Node", Node)
t7.register("graph.Node", Node)
t7.register("graph.Edge", Edge)
t7.register("graph.Graph", Graph)
