"""Fixtures for the tests of compat.t7."""

from __future__ import annotations

import importlib

import pytest

from compat.t7.objects import registry

# What is imported during a test would be forgotten after it.
for package in sorted({*registry._HOMES.values()}):
    importlib.import_module(package)


@pytest.fixture(autouse=True)
def restored_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget after each test what classes it registered."""
    for name in ("_entries", "_by_class", "_kept"):
        monkeypatch.setattr(registry, name, dict(getattr(registry, name)))
