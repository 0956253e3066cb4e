"""Graphs of PyTorch's operators: written down, freed of changes in place, divided, compiled.

A graph is a ``torch.fx.GraphModule`` of a function of tensors that returns a list of tensors.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from compat.torch_internals import inductor, kept_decompositions

# PyTorch writes down and compiles one graph at a time, in the whole process.
compiling = threading.RLock()
aten = torch.ops.aten


class Untraceable(Exception):
    """The net can be computed, but not as a graph; tells why."""


def written(function: Callable[..., Any], inputs: Sequence[Tensor]) -> GraphModule:
    """Return what operators ``function(*inputs)`` calls, without changes in place but of inputs.

    Call it in the mode that ``inputs`` are of, tensors without memory.
    """
    graph = make_fx(function, decomposition_table=kept_decompositions())(*inputs)
    graph = make_fx(torch.func.functionalize(graph, remove="mutations"))(*inputs)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph


def changes(graph: GraphModule) -> list[int]:
    """Return the numbers of the inputs that a graph changes."""
    into = {n.args[0] for n in graph.graph.nodes if n.target is aten.copy_.default}
    return [i for i, node in enumerate(_placeholders(graph)) if node in into]


# They refuse indices that are out of bounds, compiled code counts negative ones from the end.
_READING = {
    *(aten.embedding.default, aten.index_select.default, aten.gather.default),
    *(aten.index.Tensor, aten.take.default),
}


def check(graph: GraphModule) -> None:
    """Refuse a graph that would not compute the same in each pass, or not refuse the same."""
    for node in graph.graph.nodes:
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            raise Untraceable("a module draws PyTorch's random numbers")
        if node.target in _READING:
            raise Untraceable("a module reads at places that values tell")


# What goes into a graph: a kind and a number.
Name = tuple[str, int]


def divided(
    graph: GraphModule, inputs: Sequence[Tensor], names: Sequence[Name], results: int, late: int
) -> tuple[GraphModule, GraphModule, list[Name], list[Name]]:
    """Divide a graph so that its first ``results`` do without the last ``late`` inputs.

    What is cheap to compute is computed in both halves instead of being kept.

    Args:
        names: of the inputs.

    Returns:
        What computes the first results, and then what is kept, what computes the others, and the
        names of what each takes: ``("kept", 0)`` is the first that is kept.
    """
    from functorch.compile import min_cut_rematerialization_partition

    places = _placeholders(graph)
    early = len(places) - late
    for i, node in enumerate(places):  # it goes by names
        node.target = node.name = f"primals_{i + 1}" if i < early else f"tangents_{i - early + 1}"
    graph.recompile()
    first, second = min_cut_rematerialization_partition(
        graph, list(inputs), compiler="inductor", num_fwd_outputs=results
    )
    _without_kept_views(first, second)
    known = {node.name: name for node, name in zip(places, names, strict=True)}
    # What is an input need not be returned to be kept.
    own = _results(first)
    read = {node.name for node in _placeholders(second) if node.users}
    kept = [node for node in own[results:] if node.op != "placeholder" and node.name in read]
    _return(first, [*own[:results], *kept])
    taken = [known[name] for name in _only_used(first)]
    known |= {node.name: ("kept", i) for i, node in enumerate(kept)}
    return first, second, taken, [known[name] for name in _only_used(second)]


def _without_kept_views(first: GraphModule, second: GraphModule) -> None:
    """Have the second half make the views of inputs that the first would keep for it."""
    made = {node.name: node for node in first.graph.nodes}
    inputs = {node.name: node for node in _placeholders(second)}
    start = next(node for node in second.graph.nodes if node.op != "placeholder")

    def again(node: Node) -> Node:
        if node.op == "placeholder":
            if node.name not in inputs:
                with second.graph.inserting_before(next(iter(second.graph.nodes))):
                    inputs[node.name] = second.graph.node_copy(node)
            return inputs[node.name]
        with second.graph.inserting_before(start):
            return second.graph.node_copy(node, again)

    for name, node in list(inputs.items()):
        source = made.get(name)
        if source is not None and source.op != "placeholder" and _is_view_of_input(source):
            node.replace_all_uses_with(again(source))


def _is_view_of_input(node: Node) -> bool:
    while node.op == "call_function" and getattr(node.target, "is_view", False):
        (node,) = node.all_input_nodes
    return node.op == "placeholder"


def relaid(graph: GraphModule, found: Sequence[Tensor | None]) -> None:
    """Have a graph take inputs that lie in memory as those found do, where there are any."""
    for node, tensor in zip(_placeholders(graph), found, strict=True):
        if tensor is not None:
            fake = node.meta["val"]
            with fake.fake_mode:
                node.meta["val"] = torch.empty_strided(
                    tensor.shape, tensor.stride(), dtype=fake.dtype, device=fake.device
                )
    for node in graph.graph.nodes:
        if node.target is aten.view.default:  # it depends on how its input lies
            node.target = aten.reshape.default
    graph.recompile()


_ADDING = {
    *(aten.add.Tensor, aten.sub.Tensor, aten.addmm.default, aten.addmv.default, aten.addr.default),
    *(aten.baddbmm.default, aten.addbmm.default, aten.addcmul.default, aten.addcdiv.default),
    *(aten.index_add.default, aten.scatter_add.default, aten.clone.default),
}
_INTO_A_PART = {aten.slice_scatter.default, aten.select_scatter.default}


def additions(
    graph: GraphModule, first: int, own: Sequence[int | None]
) -> tuple[list[int], list[bool]]:
    """Have a graph return what it adds to gradients, in place of the sums.

    Args:
        graph: returns, from result ``first`` on, the new value of each gradient.
        own: which input holds each gradient, or None where nothing is added.

    Of a gradient that a product of two matrices is added to, the two are returned: whoever adds
    them up can have the product do so. Returns which inputs are left, and for each gradient whether
    it is a product. Raises ``Untraceable`` where more is done to a gradient.
    """
    inputs, found = _placeholders(graph), _results(graph)
    returned: list[Any] = found[:first]
    products: list[bool] = []
    for node, place in zip(found[first:], own, strict=True):
        gradient = None if place is None else inputs[place]
        way: set[Node] = set()
        if gradient is not None and not (_adds(node, gradient, way) and _apart(way)):
            raise Untraceable("a module does more to a gradient than to add to it")
        direct = isinstance(node, Node) and _start(node) is gradient and not node.kwargs
        products.append(direct and node.target is aten.addmm.default)
        if products[-1]:
            returned += node.args[1:]
        elif direct and node.target is aten.add.Tensor:
            returned.append(node.args[1])
        else:
            returned.append(_from_zeros(graph, node, gradient))
    _return(graph, returned)
    graph.graph.eliminate_dead_code()
    left = {node.name for node in _placeholders(graph) if node.users}
    _only_used(graph)
    return [i for i, node in enumerate(inputs) if node.name in left], products


def _start(node: Node) -> Any:
    """Return what a sum begins with."""
    start = node.args[0] if node.args else None
    while isinstance(start, Node) and start.target is aten.clone.default:
        start = start.args[0]
    return start


def _adds(node: Any, gradient: Node, way: set[Node]) -> bool:
    """Return whether ``node`` is ``gradient`` and something more; notes the steps between."""
    if not isinstance(node, Node):
        return False
    way.add(node)
    if node is gradient or node.op != "call_function":
        return node is gradient
    target = node.target
    adds = target in _ADDING or getattr(target, "is_view", False)
    adds = adds or (target is aten.index_put.default and node.args[3:] == (True,))
    if target in _INTO_A_PART:
        adds = _adds(node.args[1], gradient, way)
    return adds and _adds(node.args[0], gradient, way)


def _apart(way: set[Node]) -> bool:
    """Return whether nothing but a sum reads what it comes from."""
    return all(user in way or user.op == "output" for node in way for user in node.users)


def _from_zeros(graph: GraphModule, node: Any, gradient: Node | None) -> Any:
    """Return the result ``node``, with zeros in place of the gradient that it is added to."""
    if gradient is None:
        return node
    value = gradient.meta["val"]
    start = next(n for n in graph.graph.nodes if n.op != "placeholder")
    with graph.graph.inserting_before(start):
        zeros = graph.graph.call_function(
            aten.zeros.default,
            (list(value.shape),),
            {"dtype": value.dtype, "device": value.device},
        )
    zeros.meta["val"] = value
    gradient.replace_all_uses_with(zeros)
    return zeros if node is gradient else node


def _placeholders(graph: GraphModule) -> list[Node]:
    return [node for node in graph.graph.nodes if node.op == "placeholder"]


def _results(graph: GraphModule) -> list[Any]:
    (output,) = graph.graph.find_nodes(op="output")
    return list(output.args[0])


def _return(graph: GraphModule, results: list[Any]) -> None:
    (output,) = graph.graph.find_nodes(op="output")
    output.args = (results,)


def _only_used(graph: GraphModule) -> list[str]:
    """Drop the inputs that nothing reads. Returns the names of the others."""
    for node in _placeholders(graph):
        if not node.users:
            graph.graph.erase_node(node)
    graph.recompile()
    return [node.name for node in _placeholders(graph)]


_compiled: weakref.WeakValueDictionary[Any, Compiled] = weakref.WeakValueDictionary()


class Compiled:
    """A graph as machine code; called with a list of tensors, returns one."""

    def __init__(self, graph: GraphModule) -> None:
        self._call = inductor(graph, [node.meta["val"] for node in _placeholders(graph)])

    def __call__(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        return self._call(*inputs)


def compiled(graph: GraphModule) -> Compiled:
    """Return ``graph`` as machine code, made once for all graphs that compute the same."""
    key = graph.code, torch.get_num_threads(), *_forms(graph)
    found = _compiled.get(key)
    if found is None:
        found = _compiled[key] = Compiled(graph)
    return found


def _forms(graph: GraphModule) -> Iterator[Any]:
    for node in _placeholders(graph):
        value = node.meta["val"]
        yield tuple(value.shape), value.stride(), value.dtype, value.device
    for node in graph.graph.nodes:
        if node.op == "get_attr":
            yield id(getattr(graph, node.target))  # a tensor of its own
