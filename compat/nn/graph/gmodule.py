"""``nn.gModule``: a net given as a graph of nodes (Torch7's package ``nngraph``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from compat import t7
from compat.checks import given, wrong_type
from compat.nn.containers import completion
from compat.nn.containers.branches import summed
from compat.nn.containers.container import Relaying
from compat.nn.core.files import wrap_unknown
from compat.nn.core.module import Scalar
from compat.nn.core.node import Edge, Graph, Node, breadth_first, entries, numbered, post_order
from compat.nn.layers.table_layers import table

_GRAPH_FIELDS = ("fg", "bg", "innode", "outnode", "forwardnodes", "backwardnodes")
# Of a node's table, what the graph tells or a forward pass leaves.
_NODE_FIELDS = {
    *("module", "mapindex", "reverseMap", "forwardNodeId"),
    *("data", "input", "gradOutput", "gradOutputBuffer"),
}


@dataclass
class Step:
    """One node in the order of computation.

    Attributes:
        sources: the numbers, from 0, of the steps whose outputs it takes.
        module: the place, from 0, of its module among the gModule's; None passes the input on.
        data: the other fields of the node's table: annotations, ``selectindex`` of a node that
            takes one entry of a table, ``nSplitOutputs`` of the node that it takes it from.
    """

    sources: list[int]
    module: int | None = None
    data: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # What passes ask of each step.
        self.source = self.sources[0] if len(self.sources) == 1 else None
        self.index = self.data.get("selectindex")
        self.count = self.data.get("nSplitOutputs")


class gModule(Relaying):
    """A net given as a graph (Torch7: ``nn.gModule`` of the package nngraph).

    ::

        x, y = nn.Identity()(), nn.Identity()()
        sum = nn.CAddTable()([nn.Linear(4, 3)(x), nn.Linear(5, 3)(y)])
        net = nn.gModule([x, y], [nn.Tanh()(sum), sum])

    Args:
        inputs: the nodes that get the input, or, when there are several, its entries.
        outputs: the nodes whose outputs are the output, a table when there are several.

    Field: ``modules``, those of the nodes in the order in which they are computed, which is
    Torch7's. ``forwardnodes`` are the nodes in that order, ``backwardnodes`` those of the way back.

    Raises:
        ValueError: inputs that lead to no output, and for nodes that take from the graph but do not
            lead to an output.

    Differs from Torch7: ``accUpdateGradParameters`` works; the nodes given are not changed, and
    those of ``forwardnodes`` are made when first asked for: to put another module into the net, use
    ``replace``.
    """

    name: str | None = None
    transient_fields = ("_order", "_made")
    pass_fields = ("stepInputs", "stepGradients")
    _order: list[int] | None = None
    # The modules for which the nodes were made, and the fields that tell the graph.
    _made: tuple[list[Any], dict[str, Any]] | None = None

    def __init__(self, inputs: list[Node], outputs: list[Node]) -> None:
        super().__init__()
        inputs, outputs = _in_order(inputs), _in_order(outputs)
        for name, nodes in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(nodes, (list, tuple)) or not nodes:
                raise TypeError(f"{name} is {nodes!r}; a list of nodes is accepted")
            for i, node in enumerate(nodes, 1):
                if not isinstance(node, Node):
                    raise wrong_type(node, f"{name}[{i}]", "a node")
        self.verbose = False
        self.nInputs = len(inputs)
        self.steps: list[Step] = []
        order, sources = _arranged(list(inputs), list(outputs))
        number = {id(node): i for i, node in enumerate(order)}
        for node in order:
            self._add_step(node.data, [number[id(child)] for child in sources(node)])

    def _add_step(self, data: dict[str, Any], sources: list[int]) -> None:
        module = data.get("module")
        if module is not None:
            self.add(module)
        rest = {key: value for key, value in data.items() if key not in _NODE_FIELDS}
        place = None if module is None else len(self.modules) - 1
        self.steps.append(Step(sources, place, rest))

    def updateOutput(self, input: Any) -> Any:
        if self.nInputs > 1:
            # A table of its own, so that Lua's stays Lua's, where Lua can reach its entries.
            input = list(table(input, self.nInputs))
        # What is below runs for each node of each pass, so it asks only what it must.
        modules, called, value = self.modules, None, input
        values: list[Any] = []
        inputs: list[Any] = []
        try:
            for step in self.steps:
                if step.source is not None:
                    value = values[step.source]
                elif step.sources:
                    value = [values[source] for source in step.sources]
                inputs.append(value)
                if step.index is not None:
                    from_list = isinstance(value, (list, tuple))
                    value = value[step.index - 1 if from_list else step.index]
                elif step.module is not None:
                    called = step.module
                    value = modules[called].updateOutput(value)
                    called = None
                if step.count is not None:
                    _check_split(value, step.count)
                values.append(value)
        except Exception as error:
            if called is None:
                raise
            raise self._located(error, called, "updateOutput", value) from None
        self.stepInputs = inputs
        self.output = value
        return value

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        steps, inputs, modules = self.steps, self.stepInputs, self.modules
        outputs = steps[-1].sources
        gradOutput = _in_order(gradOutput)
        if len(outputs) > 1 and not (
            isinstance(gradOutput, (list, tuple)) and len(gradOutput) == len(outputs)
        ):
            raise ValueError(
                f"gradOutput is {given(gradOutput, counted=True)}; a table of {len(outputs)} is "
                "accepted"
            )
        arrived: list[list[Any]] = [[] for _ in steps]
        arrived[-1].append(gradOutput if len(outputs) == 1 else list(gradOutput))
        totals: list[Any] = [None] * len(steps)
        called, total = None, gradOutput
        try:
            for number in self._backward_order():
                step, found = steps[number], arrived[number]
                total = found[0] if len(found) == 1 else _total(found)
                totals[number] = total
                if step.index is not None:
                    (source,) = step.sources
                    if not arrived[source]:
                        arrived[source].append([None] * (steps[source].count or 0))
                    arrived[source][0][step.index - 1] = total
                    continue
                if total is not None and step.module is not None:
                    called = step.module
                    total = modules[called].updateGradInput(inputs[number], total)
                    called = None
                if step.source is not None:
                    arrived[step.source].append(total)
                else:
                    for i, source in enumerate(step.sources):
                        arrived[source].append(None if total is None else total[i])
        except Exception as error:
            if called is None:
                raise
            raise self._located(error, called, "updateGradInput", inputs[number], total) from None
        self.stepGradients = totals
        self.gradInput = totals[0]
        return self.gradInput

    def _relay(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        inputs, gradients = self.stepInputs, self.stepGradients
        steps, modules, hear = self.steps, self.modules, completion.listener()
        called = 0
        try:
            for number in self._backward_order():
                place, gradient = steps[number].module, gradients[number]
                if place is None or gradient is None:
                    continue
                called, module = place, modules[place]
                getattr(module, method)(inputs[number], gradient, factor)
                if hear is not None:
                    hear(self, place)
                module.free_results()
        except Exception as error:
            taken = inputs[number], gradient, factor
            raise self._located(error, called, method, *taken) from None

    def _backward_order(self) -> list[int]:
        """Return the numbers of the steps in the order in which Torch7 goes back through them."""
        order = self._order
        if order is None:
            backward, forward = self._nodes()
            number = {id(node): i for i, node in enumerate(backward)}
            order = [number[id(node)] for node in _stored(backward, forward)["backwardnodes"]]
            self._order = order
        return order

    @property
    def forwardnodes(self) -> list[Node]:
        """The nodes in the order of computation; ``children`` are those that take the output."""
        nodes: list[Node] = self.graph_with_results()["forwardnodes"]
        return nodes

    @property
    def backwardnodes(self) -> list[Node]:
        """The nodes in the order of the way back; ``children`` give what they take."""
        nodes: list[Node] = self.graph_with_results()["backwardnodes"]
        return nodes

    @property
    def innode(self) -> Node:
        """The first of ``forwardnodes``, which gets the input."""
        node: Node = self.graph_with_results()["innode"]
        return node

    @property
    def outnode(self) -> Node:
        """The node of the way back that gives the output; ``children`` are the outputs' nodes."""
        node: Node = self.graph_with_results()["outnode"]
        return node

    @property
    def fg(self) -> Graph:
        """The graph of ``forwardnodes``, for ``graph.dot``."""
        graph: Graph = self.graph_with_results()["fg"]
        return graph

    @property
    def bg(self) -> Graph:
        """The same graph with the edges the other way round, from the outputs to the inputs."""
        graph: Graph = self.graph_with_results()["bg"]
        return graph

    def graph_with_results(self) -> dict[str, Any]:
        """Return Torch7's fields of the graph; ``data`` of its nodes has the latest results.

        Those are ``input``, a list of what the node took, and ``gradOutput``, a list of the sum of
        what came back to it.
        """
        graph = self._graph_fields()
        passes = self.__dict__
        inputs, gradients = passes.get("stepInputs") or [], passes.get("stepGradients") or []
        for number, node in enumerate(graph["forwardnodes"]):
            taken = inputs[number : number + 1]
            several = bool(taken) and len(self.steps[number].sources) > 1
            node.data["input"] = list(taken[0]) if several else taken
            node.data["gradOutput"] = [g for g in gradients[number : number + 1] if g is not None]
        return graph

    def _graph_fields(self) -> dict[str, Any]:
        """Return what tells the graph: the same nodes as long as the net has the same modules."""
        made = self._made
        if made is None or list(map(id, made[0])) != list(map(id, self.modules)):
            made = self._made = list(self.modules), _stored(*self._nodes())
        return made[1]

    def _nodes(self) -> tuple[list[Node], list[Node]]:
        """Return nodes whose children are their inputs, and nodes of the same data the other way
        round.
        """
        backward: list[Node] = []
        for step in self.steps:
            data = dict(step.data)
            if step.module is not None:
                data["module"] = self.modules[step.module]
            backward.append(Node(data, [backward[source] for source in step.sources]))
        forward = [Node({}) for _ in backward]
        number = {id(node): i for i, node in enumerate(backward)}
        for old, new in zip(backward, forward, strict=True):
            new.data = old.data
        for node in breadth_first(backward[-1], _children):
            for child in node.children:
                forward[number[id(child)]].children.append(forward[number[id(node)]])
        return backward, forward

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        for name in self.transient_fields:
            fields.pop(name, None)
        del fields["steps"]
        graph = self._graph_fields()
        for node in graph["forwardnodes"]:
            for name in ("input", "gradOutput"):
                node.data.pop(name, None)
        return fields | graph

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        graph = {name: fields.pop(name, None) for name in _GRAPH_FIELDS}
        datas = [node.data for node in entries(graph["forwardnodes"])]
        super().t7_restore(fields | {"modules": []}, version)
        self.steps = []
        wrap_unknown("module", [data.get("module") for data in datas])
        _upgrade(datas, graph["innode"].data)
        number = {id(data): i for i, data in enumerate(datas)}
        for data in datas:
            sources = entries(data["mapindex"])
            t7.claim(entries=len(data) + len(sources))
            self._add_step(data, [number[id(source)] for source in sources])
        # Old files do not tell.
        self.nInputs = fields.get("nInputs") or self.steps[1].data.get("nSplitOutputs", 1)

    def __repr__(self) -> str:
        return self.name or self.typename


def _check_split(value: Any, count: int) -> None:
    if not isinstance(value, (list, tuple)) or len(value) != count:
        raise ValueError(
            f"the output that split({count}) takes is {given(value, counted=True)}; a table "
            f"of {count} is accepted"
        )


def _total(gradients: list[Any]) -> Any:
    """Return the sum of what arrives at a node, tensors or tables of them."""
    found = [gradient for gradient in gradients if gradient is not None]
    return found[0] if len(found) == 1 else summed(found[0], found) if found else None


def _children(node: Node) -> list[Node]:
    return node.children


def _arranged(
    inputs: list[Node], outputs: list[Node]
) -> tuple[list[Node], Callable[[Node], list[Node]]]:
    """Return all nodes in the order of computation, and the function that tells a node's sources.

    As in Torch7 one node is added that gets the input, one that gives the output, and with several
    inputs those that split the input.
    """
    for i, node in enumerate(inputs, 1):
        if node.children:
            raise ValueError(
                f"inputs[{i}] is {node}, which takes the output of another node; one without "
                "inputs is accepted"
            )
    first = Node({})
    splits = [first] if len(inputs) == 1 else first.split(len(inputs))
    of_input = {id(node): [split] for node, split in zip(inputs, splits, strict=True)}
    if len(of_input) < len(inputs):
        raise ValueError("inputs has a node twice; each node is accepted once")

    def sources(node: Node) -> list[Node]:
        return of_input.get(id(node), node.children)

    if len({id(node) for node in outputs}) < len(outputs):
        raise ValueError("outputs has a node twice; each node is accepted once")
    last = Node({})
    last.children = outputs
    order = post_order(last, sources)
    reached = {id(node) for node in order}
    for i, node in enumerate(inputs, 1):
        if id(node) not in reached:
            raise ValueError(
                f"inputs[{i}] is {node}, which leads to no output; one that does is accepted"
            )
    for node in order:
        if node is not first and not sources(node):
            raise ValueError(
                f"inputs is without {node}, which has no input; all such nodes are accepted"
            )
        for consumer in node.consumers:
            if id(consumer) not in reached:
                raise ValueError(
                    f"outputs is without what {consumer}, which takes from {node}, leads to; all "
                    "ends of the graph are accepted"
                )
    return order, sources


# The form of the graph in files.


def _stored(backward: list[Node], forward: list[Node]) -> dict[str, Any]:
    """Return the fields of Torch7's gModule that tell the graph."""
    for node in backward:
        node.data["mapindex"] = numbered(child.data for child in node.children)
        node.data["reverseMap"] = dict.fromkeys(node.consumers, True)
    twin = {id(a): b for a, b in zip(backward, forward, strict=True)}
    edges = [
        (node, child) for node in breadth_first(backward[-1], _children) for child in node.children
    ]
    bg = _graph(edges)
    fg = _graph([(twin[id(child)], twin[id(node)]) for node, child in edges])
    for node in forward:
        node.data["forwardNodeId"] = node.id
    back = {id(b): a for a, b in zip(backward, forward, strict=True)}
    return {
        "bg": bg,
        "fg": fg,
        "innode": forward[0],
        "outnode": backward[-1],
        "forwardnodes": forward,
        "backwardnodes": [back[id(node)] for node in post_order(forward[0], _children)],
    }


def _graph(edges: list[tuple[Node, Node]]) -> Graph:
    graph = Graph()
    nodes = list(dict.fromkeys(node for edge in edges for node in edge))
    for number, node in enumerate(nodes, 1):
        node.id = number
    stored = []
    for source, target in edges:
        edge = Edge()
        edge.__dict__.update({"from": source, "to": target})
        stored.append(edge)
    graph.__dict__.update(nodes=numbered(nodes), edges=numbered(stored))
    return graph


def _upgrade(datas: list[dict[str, Any]], innode: dict[str, Any]) -> None:
    """Bring the graph of an nngraph of before 2014 into the later form.

    There the first node itself hands the entries of the input to the input nodes.
    """
    targets = entries(innode["mapindex"])
    innode["mapindex"] = {}
    if len(targets) < 2:
        return
    split = {"nSplitOutputs": len(targets), "mapindex": [innode]}
    added = [split]
    for i, target in enumerate(targets, 1):
        select = {"selectindex": i, "mapindex": [split]}
        added.append(select)
        target["mapindex"] = [select]
    datas[1:1] = added


def _in_order(table: Any) -> Any:
    """Return the list that a dict with the keys 1…n is, in whatever order these came into it."""
    if isinstance(table, dict) and table.keys() == set(range(1, len(table) + 1)):
        return [table[key] for key in sorted(table)]
    return table
