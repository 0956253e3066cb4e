"""The programs of examples/, whose parts are modules that find each other beside them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from support.paths import ROOT


@contextmanager
def program(
    name: str, parts: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[SimpleNamespace]:
    """The modules ``parts`` of the program ``name``."""
    for part in parts:
        monkeypatch.delitem(sys.modules, part, raising=False)
    monkeypatch.syspath_prepend(ROOT / "examples" / name)
    yield SimpleNamespace(**{part: __import__(part) for part in parts})
    for part in parts:
        sys.modules.pop(part, None)
