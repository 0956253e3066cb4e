from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

pytest.importorskip("lupa")

from compat import errands, lua, nn


@pytest.fixture(autouse=True)
def _settings_of_the_process() -> Iterator[None]:
    """Runtimes set PyTorch's default type, and have nets keep their results."""
    before = torch.get_default_dtype()
    yield
    torch.set_default_dtype(before)
    nn.Module.keep_results = None
    errands.accepting.clear()


@pytest.fixture
def runtime() -> lua.Runtime:
    return lua.Runtime()
