"""The example in the README prints what Lua Torch7 printed of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat import lua

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("gpus", ["0", "2"])
def test_the_example_prints_what_torch7_printed(
    gpus: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("dptable")
    monkeypatch.setenv("T7_NGPU", gpus)
    monkeypatch.chdir(ROOT)
    options = ("-data", "dptable/data/digits.t7", "-epochs", "1", "-gpus", gpus)
    lua.run("examples/lua/train.lua", *options)
    # From Torch7 with `-gpus 0`.
    assert capfd.readouterr().out.endswith("}\nepoch 1: loss 1.947960, 48.86% right\n")
