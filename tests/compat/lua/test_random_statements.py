"""Random statements over torch's library give what they gave in Lua Torch7, errors and all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.transcripts import differences

from compat import lua

FOLDER = Path(__file__).parents[2] / "golden" / "lua" / "random"


def by_statement(text: str) -> dict[int, str]:
    """What each statement printed, by its number."""
    _, *rest = re.split(r"(?m)^@(\d+)$", text)
    return {int(number): printed for number, printed in zip(rest[::2], rest[1::2], strict=True)}


def test_statements_give_what_they_gave_in_torch7(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    lua.run(FOLDER / "statements.lua")
    printed = by_statement(capfdbinary.readouterr().out.decode("latin-1"))
    recorded = by_statement((FOLDER / "statements.out").read_text("latin-1"))
    assert printed.keys() == recorded.keys()
    different = {
        number: found
        for number, text in recorded.items()
        if (found := differences(text, printed[number], "statements"))
    }
    assert not different
