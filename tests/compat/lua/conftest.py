from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

pytest.importorskip("lupa")

from compat import lua


@pytest.fixture(autouse=True)
def _default_type() -> Iterator[None]:
    """Runtimes set PyTorch's default type."""
    before = torch.get_default_dtype()
    yield
    torch.set_default_dtype(before)


@pytest.fixture
def runtime() -> lua.Runtime:
    return lua.Runtime()
