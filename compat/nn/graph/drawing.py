"""A net as a diagram: which module takes whose output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compat.checks import wrong_type
from compat.nn.containers.branches import Concat, ConcatTable, Parallel, ParallelTable
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.core.node import Graph, entries
from compat.nn.graph.diagram import Diagram
from compat.nn.graph.gmodule import gModule


def diagram(net: Any, red: Module | None = None) -> Diagram:
    """Return the diagram of ``net``, a module or a graph of nodes, such as ``fg`` of a gModule.

    Of a net, every layer is a node that says what it prints; containers are drawn as what they do
    with their modules, and those that do something else, as ``nn.Sequencer``, as a node before
    theirs. Of a graph, every node is drawn. ``name``, ``description`` and ``graphAttributes`` of
    nodes' annotations show. Nodes of a graph that hold the module ``red`` are drawn red.

    ::

        Path("net.svg").write_text(diagram(net).svg("LeNet"))
    """
    picture = Diagram()
    if isinstance(net, Graph):
        _draw_graph(picture, net, red)
    elif isinstance(net, Module):
        picture.add("output", *_flow(picture, net, [picture.add("input")]))
    else:
        raise wrong_type(net, "net", "a module or a graph")
    return picture


def _draw_graph(picture: Diagram, graph: Graph, red: Module | None) -> None:
    nodes = entries(graph.nodes)
    number = {}
    for node in nodes:
        attributes = _attributes(node.data)
        if red is not None and node.data.get("module") is red:
            attributes = {**attributes, "style": "filled", "fillcolor": "red"}
        number[id(node)] = picture.add(_label(node.data), attributes=attributes)
    picture.edges += [
        (number[id(node)], number[id(child)]) for node in nodes for child in entries(node.children)
    ]


def _label(data: dict[str, Any]) -> str:
    notes = data.get("annotations") or {}
    if "module" in data:
        said = repr(data["module"])
    elif "selectindex" in data:
        said = f"entry {data['selectindex']}"
    else:
        said = f"split in {data['nSplitOutputs']}" if "nSplitOutputs" in data else "table"
    return "\n".join(str(s) for s in (notes.get("name"), notes.get("description"), said) if s)


def _attributes(data: dict[str, Any]) -> dict[str, Any]:
    return (data.get("annotations") or {}).get("graphAttributes") or {}


def _flow(picture: Diagram, module: Any, sources: list[int]) -> list[int]:
    """Draw a module that takes what the nodes ``sources`` give; return those that give its output.

    Several nodes are the entries of a table.
    """
    if isinstance(module, gModule):
        return _flow_graph(picture, module, sources)
    said = repr(module)
    inner = list(getattr(module, "modules", ()))
    if not inner or "\n" not in said:
        return [picture.add(said, *sources)]
    if isinstance(module, Sequential):
        for each in inner:
            sources = _flow(picture, each, sources)
        return sources
    if isinstance(module, ConcatTable):
        return _branches(picture, inner, [sources] * len(inner))
    if isinstance(module, ParallelTable):
        count = len(inner)
        return _branches(picture, inner, [_entry(sources, i, count) for i in range(count)])
    if isinstance(module, (Concat, Parallel)):
        ends = _branches(picture, inner, [sources] * len(inner))
        return [picture.add(module.typename, *ends)]
    own = [picture.add(module.typename, *sources)]
    # The modules of a DataParallelTable are copies of one net.
    inner = inner[:1] if module.typename == "nn.DataParallelTable" else inner
    return _branches(picture, inner, [own] * len(inner))


def _branches(picture: Diagram, modules: Sequence[Any], sources: list[list[int]]) -> list[int]:
    ends = [_flow(picture, *pair) for pair in zip(modules, sources, strict=True)]
    return [node for end in ends for node in end]


def _entry(sources: list[int], index: int, count: int) -> list[int]:
    """Return the node that gives an entry of a table of ``count``; all, where they are not known
    apart.
    """
    return [sources[index]] if len(sources) == count else sources


def _flow_graph(picture: Diagram, net: gModule, sources: list[int]) -> list[int]:
    ends: list[list[int]] = []
    for step in net.steps:
        given = [node for source in step.sources for node in ends[source]] if ends else sources
        if step.module is not None:
            module = net.modules[step.module]
            if isinstance(module, gModule) or "\n" in repr(module):
                given = _flow(picture, module, given)
            else:
                data = {**step.data, "module": module}
                given = [picture.add(_label(data), *given, attributes=_attributes(data))]
        elif "selectindex" in step.data:
            count = net.steps[step.sources[0]].data["nSplitOutputs"]
            given = _entry(given, step.data["selectindex"] - 1, count)
        ends.append(given)
    return ends[-1]
