"""Boxes and arrows: a diagram as text in Graphviz' language, and as an SVG picture."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

_LINE, _CHARACTER, _MARGIN, _GAP, _STEP = 16, 6.6, 10, 16, 34
# Of Graphviz' attributes of a node, those that have a namesake in SVG.
_BOX = {"fillcolor": "fill", "color": "stroke"}
_KEYWORDS = {"node", "edge", "graph", "digraph", "subgraph", "strict"}


@dataclass
class Diagram:
    """A directed graph to draw.

    Fields:
        labels: what each node says, lines separated by newlines.
        edges: pairs of numbers of nodes, from 0.
        attributes: further attributes for Graphviz, e.g. ``fillcolor``, by the nodes' numbers.
    """

    labels: list[str] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    attributes: dict[int, dict[str, str]] = field(default_factory=dict)

    def add(self, label: str, *sources: int, attributes: Mapping[str, object] | None = None) -> int:
        """Add a node with an arrow from each of ``sources``; returns its number."""
        node = len(self.labels)
        self.labels.append(label)
        self.edges += [(source, node) for source in dict.fromkeys(sources)]
        if attributes:
            self.attributes[node] = {str(key): str(value) for key, value in attributes.items()}
        return node

    def dot(self, title: str | None = None) -> str:
        """Return the diagram in Graphviz' language."""
        lines = ["digraph G {"]
        if title is not None:
            lines.append(f'labelloc="t"; label={_quoted(title)};')
        lines.append('node [shape=box, style=filled, fillcolor=white, fontname="Helvetica"];')
        for node, label in enumerate(self.labels):
            all = {"label": label, **self.attributes.get(node, {})}
            lines.append(
                f"n{node} [{', '.join(f'{_bare(k)}={_bare(all[k])}' for k in sorted(all))}];"
            )
        lines += [f"n{source} -> n{target};" for source, target in self.edges]
        return "\n".join([*lines, "}\n"])

    def svg(self, title: str | None = None) -> str:
        """Return the picture: drawn by Graphviz, or by ``plain_svg`` where ``dot`` is not
        installed.
        """
        program = shutil.which("dot")
        if program is None:
            return self.plain_svg(title)
        run = subprocess.run(
            [program, "-Tsvg"], input=self.dot(title).encode(), capture_output=True, check=True
        )
        return run.stdout.decode()

    def plain_svg(self, title: str | None = None) -> str:
        """Return the picture, drawn here: nodes in layers from the top down."""
        return _Picture(self).svg(title)


def _bare(text: str) -> str:
    """Return a name or value as Graphviz writes it: in quotes where that is needed."""
    plain = text.isascii() and text.isidentifier() and text.lower() not in _KEYWORDS
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


class _Picture:
    """Where everything stands.

    An arrow over several layers is led through a *bend*, a node without size, in each of those
    between.
    """

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.lines = [label.split("\n") for label in diagram.labels]
        self.width = [
            2 * _MARGIN + _CHARACTER * max(map(len, lines), default=0) for lines in self.lines
        ]
        self.layer = _layers(len(self.lines), diagram.edges)
        self.paths = [self._path(source, target) for source, target in diagram.edges]
        self.above: list[list[int]] = [[] for _ in self.layer]
        self.below: list[list[int]] = [[] for _ in self.layer]
        for path in self.paths:
            for a, b in pairwise(path):
                self.below[a].append(b)
                self.above[b].append(a)
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer, default=-1) + 1)]
        for node, layer in enumerate(self.layer):
            self.rows[layer].append(node)
        self.x = [0.0] * len(self.layer)
        for row in self.rows:
            self._place(row, [0.0] * len(row))
        for sweep in range(8):
            self._sweep(sweep % 2 == 0, reorder=sweep < 6)
        self.y: list[float] = []
        bottom = 0.0
        for row in self.rows:
            height = max(self._height(node) for node in row)
            self.y.append(bottom + height / 2)
            bottom += height + _STEP

    def _path(self, source: int, target: int) -> list[int]:
        step = 1 if self.layer[source] < self.layer[target] else -1
        between = range(self.layer[source] + step, self.layer[target], step)
        first = len(self.layer)
        self.layer += between
        self.width += [0.0] * len(between)
        return [source, *range(first, first + len(between)), target]

    def _height(self, node: int) -> float:
        return _MARGIN + _LINE * len(self.lines[node]) if node < len(self.lines) else 0.0

    def _sweep(self, down: bool, reorder: bool) -> None:
        """Move the nodes of each layer towards their neighbours in the one before."""
        for row in self.rows if down else self.rows[::-1]:
            wanted = {}
            for node in row:
                near = (self.above if down else self.below)[node]
                wanted[node] = sum(self.x[n] for n in near) / len(near) if near else self.x[node]
            if reorder:
                row.sort(key=wanted.__getitem__)
            self._place(row, [wanted[node] for node in row])

    def _place(self, row: list[int], wanted: list[float]) -> None:
        """Put a layer's nodes near the wanted places, in order and side by side."""
        right = float("-inf")
        for node, x in zip(row, wanted, strict=True):
            self.x[node] = max(x, right + _GAP + self.width[node] / 2)
            right = self.x[node] + self.width[node] / 2
        shift = sum(x - self.x[node] for node, x in zip(row, wanted, strict=True)) / len(row)
        for node in row:
            self.x[node] += shift

    def svg(self, title: str | None) -> str:
        nodes = range(len(self.layer))
        left = min((self.x[n] - self.width[n] / 2 for n in nodes), default=0) - _GAP
        right = max((self.x[n] + self.width[n] / 2 for n in nodes), default=0) + _GAP
        top = -_GAP - (0 if title is None else 2 * _LINE)
        bottom = self.y[-1] + max(map(self._height, self.rows[-1])) / 2 + _GAP if self.rows else 0
        size = (right - left, bottom - top)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]:.0f}" '
            f'height="{size[1]:.0f}" viewBox="{left:.1f} {top:.1f} {size[0]:.1f} {size[1]:.1f}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="12">',
            '<defs><marker id="head" markerWidth="9" markerHeight="7" refX="8" refY="3.5" '
            'orient="auto"><path d="M0,0 L9,3.5 L0,7 z"/></marker></defs>',
            f'<rect x="{left:.1f}" y="{top:.1f}" width="100%" height="100%" fill="white"/>',
        ]
        if title is not None:
            x, y = (left + right) / 2, top + 1.5 * _LINE
            parts.append(_text(x, y, title, "font-weight", "bold"))
        parts += [self._arrow(path) for path in self.paths]
        parts += [self._node(node) for node in range(len(self.lines))]
        return "\n".join([*parts, "</svg>\n"])

    def _arrow(self, path: list[int]) -> str:
        direction = 1 if self.layer[path[0]] < self.layer[path[-1]] else -1
        points = [(self.x[node], self.y[self.layer[node]]) for node in path]
        points[0] = (points[0][0], points[0][1] + direction * self._height(path[0]) / 2)
        points[-1] = (points[-1][0], points[-1][1] - direction * self._height(path[-1]) / 2)
        d = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
        for (x, y), (u, v) in pairwise(points):
            middle = (y + v) / 2
            d += f" C{x:.1f},{middle:.1f} {u:.1f},{middle:.1f} {u:.1f},{v:.1f}"
        return f'<path d="{d}" fill="none" stroke="black" marker-end="url(#head)"/>'

    def _node(self, node: int) -> str:
        x, y = self.x[node], self.y[self.layer[node]]
        width, height, lines = self.width[node], self._height(node), self.lines[node]
        given = self.diagram.attributes.get(node, {})
        box = {"fill": "white", "stroke": "black"}
        box |= {svg: given[dot] for dot, svg in _BOX.items() if dot in given}
        parts = [
            f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="3" '
            + " ".join(f'{key}="{escape(value)}"' for key, value in box.items())
            + "/>"
        ]
        first = y - _LINE * (len(lines) - 1) / 2 + 4
        color = given.get("fontcolor", "black")
        parts += [_text(x, first + i * _LINE, line, "fill", color) for i, line in enumerate(lines)]
        if "tooltip" in given:
            parts.append(f"<title>{escape(given['tooltip'])}</title>")
        return f"<g>{''.join(parts)}</g>"


def _text(x: float, y: float, text: str, key: str, value: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" {key}="{escape(value)}">'
        f"{escape(text)}</text>"
    )


def _layers(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """Return for each node the length of the longest way to it; nodes of a cycle stay in the
    first.
    """
    targets: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for source, target in edges:
        targets[source].append(target)
        missing[target] += 1
    layer = [0] * count
    ready = [node for node in range(count) if not missing[node]]
    for node in ready:
        for target in targets[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    return layer
