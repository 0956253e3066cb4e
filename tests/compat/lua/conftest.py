from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

pytest.importorskip("lupa")

from compat import errands, lua, nn
from compat.nn.core.tape import Tape


@pytest.fixture(autouse=True)
def _settings_of_the_process() -> Iterator[None]:
    """Runtimes set PyTorch's default type, and have nets keep their results."""
    before = torch.get_default_dtype()
    yield
    torch.set_default_dtype(before)
    nn.Module.keep_results = None
    Tape.takes_changed_input = False
    errands.accepting.clear()


@pytest.fixture
def runtime() -> Iterator[lua.Runtime]:
    runtime = lua.Runtime()
    yield runtime
    runtime.close()
