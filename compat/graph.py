"""Torch7's package graph, as far as scripts use it: pictures of nets.

::

    from compat import graph

    graph.dot(net.fg, "LSTM", "lstm")  # writes lstm.svg and lstm.dot
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from compat.hints import answers
from compat.nn.core.module import Module
from compat.nn.core.node import Edge, Graph, Node
from compat.nn.graph.drawing import diagram
from compat.t7.base.atomic_file import atomic_file

__all__ = ["Edge", "Graph", "Node", "dot", "todot"]


def todot(g: Any, title: str | None = None) -> str:
    """Return a net or a graph, as ``dot`` takes it, in Graphviz' language.

    Args:
        g: a net of any kind, or the ``fg`` or ``bg`` of a gModule.
        title: the name of the picture.
    """
    return diagram(g).dot(title)


def dot(
    g: Any,
    title: str | None = None,
    fname: str | os.PathLike[str] | None = None,
    red: Module | None = None,
) -> str:
    """Draw a net or a graph (Torch7: ``graph.dot``); returns the picture, the text of an SVG file.

    Args:
        g: a net of any kind, or the ``fg`` or ``bg`` of a gModule, whose every node is drawn.
        title: stands above.
        fname: the files written, without ``.svg`` and ``.dot``; by default none is.
        red: a module whose nodes are drawn red.

    Graphviz draws it, where its program ``dot`` is installed; else the picture is a plainer one.

    Raises:
        TypeError: ``g`` is neither a module nor a graph.
    """
    picture = diagram(g, red)
    svg = picture.svg(title)
    if fname is not None:
        for suffix, text in (("svg", svg), ("dot", picture.dot(title))):
            with atomic_file(f"{os.fspath(fname)}.{suffix}") as file:
                file.write(text.encode())
    return svg


__path__: list[str] = []  # for HintsOfImports

if not TYPE_CHECKING:
    __getattr__ = answers(__name__, "graph", {"draw": "use graph.dot(net, title, name)"}, __all__)
