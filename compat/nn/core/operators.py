"""Graphs of PyTorch's operators: written down, freed of changes in place, divided, compiled.

A graph is a ``torch.fx.GraphModule`` of a function of tensors that returns a list of tensors.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from compat.torch_internals import inductor

# PyTorch writes down and compiles one graph at a time, in the whole process.
compiling = threading.RLock()


def written(function: Callable[..., Any], inputs: Sequence[Tensor]) -> GraphModule:
    """What operators ``function(*inputs)`` calls, gradients included, without changes in place.

    Call it in the mode that ``inputs`` are of, tensors without memory.
    """
    with torch.autograd.set_multithreading_enabled(False):
        graph = make_fx(function)(*inputs)
    with torch.no_grad():
        function = torch.func.functionalize(graph, remove="mutations")
        graph = make_fx(function)(*inputs)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph


def draws_random_numbers(graph: GraphModule) -> bool:
    """Whether operators of the graph draw from PyTorch's generators."""
    return any(
        torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        for node in graph.graph.nodes
        if node.op == "call_function"
    )


class Halves(NamedTuple):
    """A graph divided: what is computed first, and what with the rest of the inputs.

    ``first`` takes the inputs that ``taken`` counts and returns the first results, then what is
    kept; ``second``, None where there is nothing more to compute, takes ``sources``: each is an
    input or, where ``kept`` is true, one of what is kept, and its number.
    """

    first: GraphModule
    second: GraphModule | None
    taken: list[int]
    sources: list[tuple[bool, int]]


def divided(graph: GraphModule, inputs: Sequence[Tensor], results: int, late: int) -> Halves:
    """Divide a graph so that its first ``results`` do without the last ``late`` inputs.

    What is cheap to compute is computed in both halves instead of being kept.
    """
    places = _placeholders(graph)
    early = len(places) - late
    if len(_results(graph)) == results:
        first, second = graph, None
    else:
        from functorch.compile import min_cut_rematerialization_partition

        for i, node in enumerate(places):  # it goes by names
            node.target = node.name = (
                f"primals_{i + 1}" if i < early else f"tangents_{i - early + 1}"
            )
        graph.recompile()
        first, second = min_cut_rematerialization_partition(
            graph, list(inputs), compiler="inductor", num_fwd_outputs=results
        )
        _without_kept_views(first, second)
    numbers = {node.name: i for i, node in enumerate(places)}
    # What is an input need not be returned to be kept.
    own = _results(first)
    read = set() if second is None else {node.name for node in _placeholders(second) if node.users}
    kept = [node for node in own[results:] if node.op != "placeholder" and node.name in read]
    _return(first, [*own[:results], *kept])
    taken = _only_used(first)
    positions = {node.name: i for i, node in enumerate(kept)}
    sources = []
    if second is not None:
        for name in _only_used(second):
            sources.append((True, positions[name]) if name in positions else (False, numbers[name]))
    return Halves(first, second, [numbers[name] for name in taken], sources)


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


def sums(graph: GraphModule, first: int, own: Sequence[int | None]) -> tuple[list[int], list[bool]]:
    """Have a graph return what it adds to gradients, in the place of the sums.

    Args:
        graph: returns, from result ``first`` on, the new value of each gradient.
        own: which input holds each gradient, or None where nothing is added.

    Of a gradient that a product of two matrices is added to, the two are returned: whoever adds
    them up can have the product do so. Returns which inputs are left, and for each gradient whether
    it is a product.
    """
    inputs, results = _placeholders(graph), _results(graph)
    returned: list[Any] = results[:first]
    products: list[bool] = []
    aten = torch.ops.aten
    for node, place in zip(results[first:], own, strict=True):
        gradient = None if place is None else inputs[place]
        once = gradient is not None and list(gradient.users) == [node]
        target, arguments = (node.target, node.args) if isinstance(node, Node) else (None, ())
        if once and target is aten.addmm.default and arguments[0] is gradient and not node.kwargs:
            returned += arguments[1:]
            products.append(True)
            continue
        if once and target is aten.add.Tensor and arguments[0] is gradient and not node.kwargs:
            returned.append(arguments[1])
        else:
            returned.append(_from_zeros(graph, node, gradient))
        products.append(False)
    _return(graph, returned)
    graph.graph.eliminate_dead_code()
    left = {node.name for node in _placeholders(graph) if node.users}
    _only_used(graph)
    return [i for i, node in enumerate(inputs) if node.name in left], products


def _from_zeros(graph: GraphModule, node: Any, gradient: Node | None) -> Any:
    """The result ``node``, with zeros in the place of the gradient that it is added to."""
    if gradient is None:
        return node
    value = gradient.meta["val"]
    start = next(n for n in graph.graph.nodes if n.op != "placeholder")
    with graph.graph.inserting_before(start):
        zeros = graph.graph.call_function(
            torch.ops.aten.zeros.default,
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
    """``graph`` as machine code, made once for all graphs that compute the same."""
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
