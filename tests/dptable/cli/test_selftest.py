"""The check of an installation."""

from __future__ import annotations

import pytest

from compat import t7
from dptable.cli import main, selftest


@pytest.mark.needs("lupa")
def test_every_check_passes(capsys):
    assert main(["selftest"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(selftest.CHECKS)
    assert all(" ok" in line for line in lines)


def test_a_failure_is_told_and_the_other_checks_go_on(monkeypatch, capsys):
    monkeypatch.setattr(t7, "save", lambda path, value: path.write_bytes(b"broken"))
    assert main(["selftest"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [("FAILED" in line) for line in lines] == [False, True, False, False]
