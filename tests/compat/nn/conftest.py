"""Compiled nets without a compiler."""

from __future__ import annotations

import pytest

from compat.nn.compiled import operators


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the graphs operator by operator: what a compiler makes of them is PyTorch's matter."""
    monkeypatch.setattr(operators, "inductor", lambda graph, inputs: graph)
