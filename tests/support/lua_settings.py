"""What Lua runtimes change in the process, put back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from compat import nn, thread_calls
from compat.nn.core.results import reuse_buffers

# As it is before any test: runtimes that several tests share are made before these fixtures.
_DEFAULT = torch.get_default_dtype()


@pytest.fixture(autouse=True)
def settings_of_the_process() -> Iterator[None]:
    """Runtimes set PyTorch's default type, and have nets keep their results."""
    yield
    torch.set_default_dtype(_DEFAULT)
    nn.Module.keep_results = None
    reuse_buffers(False)
    thread_calls.accepting.clear()
