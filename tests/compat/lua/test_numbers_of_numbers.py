"""In Lua, functions of plain numbers give what Lua Torch7's gave, in both default types."""

from __future__ import annotations

import math

import pytest
from support.paths import GOLDEN

from compat.lua import Runtime


@pytest.mark.parametrize("kind", ["torch.DoubleTensor", "torch.FloatTensor"])
def test_results_are_torch7s(runtime: Runtime, kind: str) -> None:
    runtime.execute(f"torch.setdefaulttensortype('{kind}')")
    for line in (GOLDEN / "numbers" / "functions.txt").read_text().splitlines():
        recorded_kind, name, arguments, recorded = line.split("\t")
        if recorded_kind != kind:
            continue
        numbers = ", ".join(
            {"inf": "math.huge", "-inf": "-math.huge", "nan": "0/0"}.get(x, x)
            for x in arguments.split()
        )
        result = float(runtime.eval(f"string.format('%.17g', torch.{name}({numbers}))"))
        expected = float(recorded)
        same = result == expected or (math.isnan(result) and math.isnan(expected))
        assert same, f"torch.{name}({numbers}) is {result!r}, not {expected!r}"
