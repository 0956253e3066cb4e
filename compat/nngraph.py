"""Torch7's package nngraph: nets given as graphs.

Calling a module of ``compat.nn`` with nodes makes a node; ``nn.gModule`` makes a net of nodes.
"""

import inspect
from typing import TYPE_CHECKING

from compat.hints import answers
from compat.nn.core.node import Node
from compat.nn.graph.gmodule import gModule
from compat.nn.graph.modules import JustElement, JustTable, ModuleFromCriterion, nest

__all__ = [
    "JustElement",
    "JustTable",
    "ModuleFromCriterion",
    "Node",
    "annotateNodes",
    "gModule",
    "nest",
]


def annotateNodes(stackLevel: int = 1) -> None:
    """Name the nodes among the caller's local variables after their variables.

    Args:
        stackLevel: 1 for the function that calls this one, 2 for the one that called that.

    A ``name`` that a node has already stays.
    """
    frame = inspect.currentframe()
    for _ in range(stackLevel):
        frame = frame and frame.f_back
    for name, node in (frame.f_locals if frame else {}).items():
        if isinstance(node, Node) and not node.data.annotations.get("name"):
            node.annotate({"name": name})


__path__: list[str] = []  # for HintsOfImports

if not TYPE_CHECKING:
    __getattr__ = answers(__name__, "nngraph", {"node": "nn.Identity()() makes one"}, __all__)
