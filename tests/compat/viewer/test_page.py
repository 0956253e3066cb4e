"""The page as text: what it may do, what it holds, how large it is."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compat import nn, t7
from compat.viewer import Limits, page

EVIL = "</script><script>document.title = 'run'</script><!--"


class Parsed(HTMLParser):
    """The elements of a page and the text in each kind."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.text: dict[str, list[str]] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags:
            self.text.setdefault(self.tags[-1][0], []).append(data)


def held(text: str) -> Any:
    """The data of a page, as a browser finds it."""
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


def test_the_policy_allows_the_pages_own_script_and_style_alone() -> None:
    text = page({"a": 1}, "a.t7")
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    for rule, kind in (("script-src", "script"), ("style-src", "style")):
        own = re.findall(f"<{kind}>(.*?)</{kind}>", text, re.S)
        digests = [base64.b64encode(hashlib.sha256(o.encode()).digest()).decode() for o in own]
        assert [rules[rule]] == [f"'sha256-{digest}'" for digest in digests]


def test_the_page_names_no_address() -> None:
    text = page({"a": nn.Linear(2, 2)}, "a.t7")
    addresses = re.findall(r"(?:https?:)?//[^\s\"'<>]*", re.sub(r"^\s*//.*$", "", text, flags=re.M))
    assert {a for a in addresses if "." in a} == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import\(|innerHTML|eval)\b", text)


@given(
    st.text(max_size=30) | st.sampled_from([EVIL, "<img src=x onerror=alert(1)>", "&lt;", "\ud800"])
)
def test_no_text_of_a_file_is_html(name: str) -> None:
    plain = Parsed(page({"a": [{"b": 1}]}, "x.t7"))
    found = Parsed(page({name: name, "t": {name: [{name: 1.5}, {name: 2.5}]}}, name))
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in plain.tags]


def test_names_come_through() -> None:
    data = held(page({EVIL: EVIL, "__proto__": 1, "b\0\u202e": 2}, EVIL))
    assert data["name"] == EVIL
    assert data["looks"][0]["fields"] == [
        [EVIL, repr(EVIL)],
        ["__proto__", "1"],
        ["b\\x00\\u202e", "2"],
    ]


def test_the_page_is_bounded_whatever_the_file() -> None:
    images = [torch.randint(0, 256, (64, 3, 96, 96), dtype=torch.uint8) for _ in range(20)]
    layers = [nn.Linear(20, 20) for _ in range(500)]
    names = {"n" * 150 + str(i): {"x": i} for i in range(5000)}
    limits = Limits(modules=10, items=200_000, numbers=50_000, pictures=2_000_000)
    text = page([images, nn.Sequential(*layers), names, ["x" * 1000] * 10_000], "big", limits)
    assert len(text) < 3_500_000
    assert all(held(text)["leftOut"].values())


def test_names_that_are_escaped_count_as_long_as_they_become() -> None:
    names = {"<" * 150 + str(i): {"x": i} for i in range(2000)}
    assert len(page(names, "x", Limits(items=200_000))) < 350_000


def test_a_notebook_shows_nets_and_files_in_a_frame() -> None:
    loaded = t7.loads(t7.dumps({"net": nn.Sequential(nn.Linear(3, 2)), EVIL: [EVIL]}))
    unknown = t7.TorchObject("my.Class", 1, {EVIL: EVIL})
    for shown in (nn.Linear(3, 2), nn.MSECriterion(), loaded, t7.List([loaded]), unknown):
        text = shown._repr_html_()
        [(tag, attributes)] = Parsed(text).tags
        assert tag == "iframe" and attributes["sandbox"] == "allow-scripts"
        assert held(attributes["srcdoc"])["nodes"] and html.unescape(text).count("<script") == 2


def test_a_notebook_shows_a_large_net_small() -> None:
    net = nn.Sequential(*(nn.SpatialConvolution(3, 64, 9, 9) for _ in range(300)))
    assert len(net._repr_html_()) < 700_000


@pytest.mark.parametrize("value", [None, 3, "text", torch.ones(3), [], {}, b"\xff", True])
def test_any_value_has_a_page(value: Any) -> None:
    assert held(page(value, "x"))["nodes"] == [0]
