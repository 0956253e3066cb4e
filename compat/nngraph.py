"""Torch7's package nngraph: nets given as graphs.

Calling a module of ``compat.nn`` with nodes makes a node; ``nn.gModule`` makes a net of nodes.
"""

from compat.nn.core.node import Node
from compat.nn.graph.gmodule import JustElement, JustTable, ModuleFromCriterion, gModule, nest

__all__ = ["JustElement", "JustTable", "ModuleFromCriterion", "Node", "gModule", "nest"]
