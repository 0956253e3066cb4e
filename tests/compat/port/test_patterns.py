"""Lua's patterns as Python's regular expressions, against Lua."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.port.library.patterns import regex
from compat.port.lua import strings

pytestmark = pytest.mark.needs("lupa")

ITEMS = (
    *(
        "a",
        "b",
        "%s",
        "%S",
        "%w",
        "%a",
        "%d",
        ".",
        "[^%s]",
        "[%w_]",
        "[^,]",
        "[a-c]",
        "%.",
        "-",
        "%p",
    ),
    *(
        "[]a]",
        "[^]]",
        "%-",
        "x",
        ",",
        "[%a-c]",
        "[%-x]",
        "$",
        "^",
        "*",
        "[%l%u]",
        "%x",
        "é",
        "[^%d,]",
    ),
    *("(", ")", "()", "%1", "[a-%d]", "%b()", " ", "\n", "|", "[&&]", "[a-]", "[+--]"),
)
TIMES = ("", "", "", "*", "+", "-", "?")
TEXTS = st.text(alphabet="abcx,. -_1\n\té漢\udc80\u3000|&]()^$*", max_size=12)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.tuples(st.sampled_from(ITEMS), st.sampled_from(TIMES)), max_size=5))
    inner = "".join(item + times for item, times in parts)
    return draw(st.sampled_from(("{}", "({})", "{}", "^{}", "{}$", "^{}$", "({}),(.*)"))).format(
        inner
    )


@given(patterns(), TEXTS, st.data())
def test_an_expression_finds_what_the_pattern_finds(
    pattern: str, text: str, data: st.DataObject
) -> None:
    made = regex(pattern)
    if made is None:
        return
    found, whole = re.search(made.text, text), strings.find(text, pattern)
    assert (found is None) == (whole is None)
    if found is None:
        return
    assert whole[:2] == (found.start() + 1, found.end())
    assert made.groups == len(whole) - 2 == len(found.groups())
    assert found.groups() == whole[2:]
    if not made.nullable and not pattern.startswith("^"):
        steps = [
            step if isinstance(step, str) else tuple(step) for step in strings.gmatch(text, pattern)
        ]
        assert re.findall(made.text, text) == re.findall(ast.literal_eval(made.bare), text) == steps
    new = data.draw(st.sampled_from(("<>", "%1", "%0%%", "%2-%1", "a%1b")))
    if not made.nullable and (put := made.replacement(new)) is not None:
        assert re.subn(made.text, ast.literal_eval(put), text) == strings.gsub(text, pattern, new)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("([^%s]+)", r"(?a)(\S+)"),
        ("^%s*(.-)%s*$", r"(?as)^\s*(.*?)\s*\Z"),
        ("(%w+)=(%d+)", "([A-Za-z0-9]+)=([0-9]+)"),
        ("torch%..+Tensor", r"(?s)torch\..+Tensor"),
        (".", None),  # a byte, which may be half a letter
        ("()a", None),  # a place
        ("%bxy", None),
        ("%f[%w]a", None),
        ("(a)%1", None),
    ],
)
def test_patterns(pattern: str, expected: str | None) -> None:
    made = regex(pattern)
    assert (made and made.text) == expected
