"""Streams of simulated devices, races on them, and what waits for devices."""

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


@contextmanager
def no_waiting() -> Iterator[None]:
    """A block in which the CPU may not wait for a device, simulated or of CUDA."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")
    elif torch.accelerator.is_available():
        simulator.reset()
        yield
        assert simulator.waits() == []
    else:
        yield


def side_stream(device: str = "sim:0") -> torch.Stream:
    return torch.Stream(device=torch.device(device))
