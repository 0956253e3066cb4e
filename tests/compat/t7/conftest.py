"""Fixtures for the tests of compat.t7."""

from __future__ import annotations

import pytest

from compat.t7.objects import registry


@pytest.fixture(autouse=True)
def restored_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget after each test what classes it registered."""
    for name in ("_entries", "_by_class", "_kept"):
        monkeypatch.setattr(registry, name, dict(getattr(registry, name)))
