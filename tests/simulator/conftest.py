"""Every test here runs on simulated devices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

import simulator


@pytest.fixture(autouse=True)
def sim(simulated: None) -> None:
    """The devices."""


@pytest.fixture(params=["late", "random", "eager"])
def order(request: pytest.FixtureRequest) -> str:
    """The order in which queued work is computed."""
    simulator.configure(order=request.param)
    return request.param


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
