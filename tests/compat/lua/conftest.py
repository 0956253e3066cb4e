from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

pytest.importorskip("lupa")

from compat import errands, lua, nn
from compat.nn.core.tape import Tape

# As it is before any test: runtimes that several tests share are made before these fixtures.
_DEFAULT = torch.get_default_dtype()


@pytest.fixture(autouse=True)
def _settings_of_the_process() -> Iterator[None]:
    """Runtimes set PyTorch's default type, and have nets keep their results."""
    yield
    torch.set_default_dtype(_DEFAULT)
    nn.Module.keep_results = None
    Tape.takes_changed_input = False
    errands.accepting.clear()


@pytest.fixture
def runtime() -> Iterator[lua.Runtime]:
    runtime = lua.Runtime()
    yield runtime
    runtime.close()
