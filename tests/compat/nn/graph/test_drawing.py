"""Pictures of nets: graph.dot, and the diagram behind it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import compat.nn as nn
from compat import graph, nngraph, t7
from compat.nn.graph.diagram import Diagram
from compat.nn.graph.drawing import diagram


def arrows(net: Any) -> set[tuple[str, str]]:
    """The edges of a diagram, as pairs of the first lines of the labels."""
    picture = diagram(net)
    name = [label.split("\n")[0] for label in picture.labels]
    return {(name[a], name[b]) for a, b in picture.edges}


def test_containers_are_drawn_as_what_they_do() -> None:
    net = nn.Sequential().add(nn.Tanh())
    net.add(nn.ConcatTable().add(nn.Sequential().add(nn.ReLU()).add(nn.Abs())).add(nn.Exp()))
    net.add(nn.ParallelTable().add(nn.Square()).add(nn.Sqrt())).add(nn.CAddTable())
    net.add(nn.Concat(2).add(nn.Sigmoid()).add(nn.SoftMax()))
    assert arrows(net) == {
        *(("input", "nn.Tanh"), ("nn.Tanh", "nn.ReLU"), ("nn.ReLU", "nn.Abs")),
        *(("nn.Tanh", "nn.Exp"), ("nn.Abs", "nn.Square"), ("nn.Exp", "nn.Sqrt")),
        *(("nn.Square", "nn.CAddTable"), ("nn.Sqrt", "nn.CAddTable")),
        *(("nn.CAddTable", "nn.Sigmoid"), ("nn.CAddTable", "nn.SoftMax")),
        *(("nn.Sigmoid", "nn.Concat"), ("nn.SoftMax", "nn.Concat"), ("nn.Concat", "output")),
    }


def two_towers() -> Any:
    x, state = nn.Identity()(), nn.Identity()()
    first, second = nn.SplitTable(1)(state).split(2)
    sum = nn.CAddTable()([nn.Tanh()(x).annotate({"name": "hidden"}), second])
    return nn.gModule([x, state], [sum, nn.Sigmoid()(first)])


def test_a_graph_shows_its_modules_and_the_names_of_its_nodes() -> None:
    assert arrows(two_towers()) == {
        *(("input", "nn.Identity"), ("nn.Identity", "hidden"), ("hidden", "nn.CAddTable")),
        *(("nn.Identity", "nn.SplitTable"), ("nn.SplitTable", "nn.CAddTable")),
        *(("nn.SplitTable", "nn.Sigmoid"), ("nn.Sigmoid", "output"), ("nn.CAddTable", "output")),
    }


def test_fg_and_bg_show_every_node_in_both_directions() -> None:
    net = two_towers()
    assert len(diagram(net.fg).labels) == len(net.forwardnodes)
    assert arrows(net.fg) == {(b, a) for a, b in arrows(net.bg)}
    assert ("split in 2", "entry 1") in arrows(net.fg)


def test_a_graph_of_a_file_and_what_its_classes_are_not_known() -> None:
    data = t7.dumps(nn.Sequential().add(nn.Tanh()).add(nn.Abs())).replace(b"nn.Tanh", b"my.Tanh")
    assert ("my.Tanh", "nn.Abs") in {
        (a.split()[0], b) for a, b in arrows(t7.loads(data)) if a != "input"
    }
    net = two_towers()
    assert arrows(t7.loads(t7.dumps(net))) == arrows(net)


def test_dot_writes_an_svg_and_a_dot_file(tmp_path: Path) -> None:
    svg = graph.dot(two_towers().fg, "two <towers>", tmp_path / "net")
    assert (tmp_path / "net.svg").read_text() == svg
    text = (tmp_path / "net.dot").read_text()
    assert text.startswith("digraph G {") and 'label="hidden\\nnn.Tanh"' in text
    assert "nn.CAddTable" in svg and "two &lt;towers&gt;" in svg


def test_without_graphviz_the_picture_is_drawn_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    picture = diagram(two_towers())
    assert picture.svg() == picture.plain_svg()


def test_the_plain_picture_puts_boxes_apart_and_sources_above() -> None:
    net = nn.Sequential()
    for _ in range(4):
        net.add(nn.ConcatTable().add(nn.Sequential().add(nn.Tanh()).add(nn.Abs())).add(nn.ReLU()))
        net.add(nn.CAddTable())
    picture = diagram(net)
    root = ElementTree.fromstring(picture.plain_svg("title"))
    rects = [e for e in root.iter() if e.tag.endswith("rect") and "rx" in e.attrib]
    boxes = [tuple(float(r.attrib[k]) for k in ("x", "y", "width", "height")) for r in rects]
    assert len(boxes) == len(picture.labels)
    for i, (x, y, w, h) in enumerate(boxes):
        for u, v, s, t in boxes[:i]:
            assert x + w <= u or u + s <= x or y + h <= v or v + t <= y
    assert all(boxes[a][1] < boxes[b][1] for a, b in picture.edges)


def test_graph_attributes_color_a_node() -> None:
    x = nn.Identity()()
    red = {"fillcolor": "red", "fontcolor": "white", "tooltip": "loud"}
    net = nn.gModule([x], [nn.Tanh()(x).annotate({"graphAttributes": red})])
    assert "fillcolor=red" in diagram(net).dot()
    svg = diagram(net).plain_svg()
    assert 'fill="red"' in svg and 'fill="white">nn.Tanh' in svg and "<title>loud</title>" in svg


def test_odd_labels_are_quoted() -> None:
    picture = Diagram()
    picture.add('a "quoted"\\ <b>')
    assert 'label="a \\"quoted\\"\\\\ <b>"' in picture.dot()
    assert ElementTree.fromstring(picture.plain_svg()) is not None
    assert re.search(r"<svg", Diagram().plain_svg())


def test_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match="net is a list; a module or a graph is accepted"):
        graph.dot([nn.Tanh()])  # type: ignore[arg-type]


def test_nodes_are_named_after_the_callers_variables() -> None:
    hidden = nn.Tanh()()
    out = nn.Linear(2, 2)(hidden).annotate({"name": "mine"})
    nngraph.annotateNodes()
    assert hidden.data.annotations.name == "hidden"
    assert out.data.annotations.name == "mine"
