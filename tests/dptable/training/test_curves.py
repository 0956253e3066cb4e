"""The picture of a run."""

from __future__ import annotations

import pytest

from dptable.training.curves import plot


@pytest.mark.needs("matplotlib")
def test_draws_a_png(tmp_path):
    row = {"trainLoss": 1.0, "trainAccuracy": 50.0, "testLoss": 1.2, "testAccuracy": 40.0}
    plot([row, row], tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
