"""Every test here runs on simulated devices."""

from __future__ import annotations

import pytest

import simulator


@pytest.fixture(autouse=True)
def sim(simulated: None) -> None:
    """The devices, as they are unless a test says otherwise."""
    simulator.configure(check_frees=False)


@pytest.fixture(params=["late", "random", "eager"])
def order(request: pytest.FixtureRequest) -> str:
    """The order in which queued work is computed."""
    simulator.configure(order=request.param)
    return request.param
