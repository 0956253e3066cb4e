"""The README's example prints the same on several devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat import lua

ROOT = Path(__file__).parents[3]


def test_two_devices_print_what_torch7_printed_of_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("dptable")
    monkeypatch.setenv("T7_NGPU", "2")
    monkeypatch.chdir(ROOT)
    options = ("-data", "dptable/data/digits.t7", "-epochs", "1", "-gpus", "2")
    lua.run("examples/lua/train.lua", *options)
    assert capfd.readouterr().out.endswith("}\nepoch 1: loss 1.947960, 48.86% right\n")
