"""Graphs of modules as those of ``torch.fx``."""

from __future__ import annotations

import operator
from typing import Any

from torch import fx, nn

from compat.nn.graph.gmodule import gModule
from compat.nn.interchange.to_torch import ToTorch, converts


@converts(gModule)
def _graph(module: Any, convert: ToTorch) -> nn.Module:
    root = nn.Module()
    root.layers = nn.ModuleList(convert.children(module))
    graph = fx.Graph()
    values: list[fx.Node] = []
    for step in module.steps:
        given: Any = [values[source] for source in step.sources]
        value = given[0] if len(given) == 1 else given
        if not values:
            value = graph.placeholder("input")
        elif "selectindex" in step.data:
            value = graph.call_function(operator.getitem, (value, step.data["selectindex"] - 1))
        elif step.module is not None:
            value = graph.call_module(f"layers.{step.module}", (value,))
        values.append(value)
    graph.output(values[-1])
    return fx.GraphModule(root, graph, "gModule")
