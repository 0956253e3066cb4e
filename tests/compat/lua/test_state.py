"""What results hold when programs change something between passes, as in Lua Torch7."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compat import lua

GOLDEN = Path(__file__).parents[2] / "golden" / "state"
SCRIPTS = sorted(GOLDEN.glob("*.lua"))


PLACE = re.compile(r"\S*\.lua:\d+: ")  # of an error, which is in our file and not in Torch7's
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")
ADDRESS = re.compile(r"0x[0-9a-f]+")


def lines(text: str) -> list[str]:
    text = ADDRESS.sub("@", PLACE.sub("", text.rstrip()))
    return [" ".join(NUMBER.sub("#", line).split()) for line in text.split("\n")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_prints_the_same(script: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    lua.run(script)
    printed = capfdbinary.readouterr().out.decode("latin-1")
    recorded = script.with_suffix(".out").read_text("latin-1")
    assert lines(printed) == lines(recorded)
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (printed, recorded)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-12, abs=1e-13)
