"""Fixtures and settings for every test."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

# Tests are small and worker threads are many: threads inside operators would fight over the cores.
torch.set_num_threads(1)

# What a shell starts in the background is deaf to Ctrl-C, which tests send to their processes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Machines that run tests are slow at times, so no property has a deadline.
settings.register_profile(
    "default", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if torch.cuda.is_available():
        return
    skip = pytest.mark.skip(reason="needs a CUDA device")
    for item in items:
        if item.get_closest_marker("cuda"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of recordings."""
    return Path(__file__).parent / "golden"


@pytest.fixture(autouse=True)
def restored_devices() -> Iterator[None]:
    """Give every test the default logical devices, whatever the one before it configured."""
    yield
    if cutorch := sys.modules.get("compat.cutorch"):
        cutorch.configure(None)
