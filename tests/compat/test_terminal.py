"""What is said on the terminal, and JSON."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat import strict_json, terminal

HOSTILE = "a\x1b]0;title\x07\u202egpj.\udcff\x9b2J\u200b"


def test_what_moves_the_cursor_or_hides_text_is_escaped() -> None:
    shown = terminal.printable(HOSTILE)
    assert shown == r"a\x1b]0;title\x07\u202egpj.\udcff\x9b2J\u200b"
    assert terminal.printable("a\nb") == r"a\nb"
    assert terminal.printable_lines("a\n\tb\r") == "a\n\tb\\r"


def test_letters_of_any_language_stay() -> None:
    for text in ("Zürich 東京 ∂f/∂x", "", " "):
        assert terminal.printable(text) == terminal.printable_lines(text) == text


@given(st.text(st.characters(codec=None)))
def test_all_that_is_said_can_be_printed(text: str) -> None:
    assert terminal.printable(text).isprintable()
    assert terminal.printable_lines(text).translate({10: None, 9: None}).isprintable()
    terminal.printable_lines(text).encode()


def test_saying_escapes(capsys) -> None:
    terminal.say(HOSTILE)
    terminal.complain(HOSTILE)
    output = capsys.readouterr()
    assert output.out == output.err == terminal.printable(HOSTILE) + "\n"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_strings(number: float) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    text = strict_json.dumps({"a": [1, (number,)], "b": b"x", "c": 0.5, "d": True})
    read = json.loads(text, parse_constant=refuse)
    assert read == {"a": [1, [str(number)]], "b": "b'x'", "c": 0.5, "d": True}
