"""Streams of simulated devices, and races on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import simulator
import torch


@contextmanager
def raises_race(*names: str) -> Iterator[None]:
    """A block in which a race happens; its report holds all the names."""
    with pytest.raises(simulator.Race) as raised:
        yield
        simulator.check()
    for name in names:
        assert name in str(raised.value)
    simulator.reset()


def side_stream(device: str = "sim:0") -> torch.Stream:
    return torch.Stream(device=torch.device(device))
