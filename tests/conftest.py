"""Fixtures and settings for every test."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import simulator
import torch
from hypothesis import HealthCheck, settings
from support.each import seed
from support.paths import GOLDEN
from tqdm import TMonitor

from compat import cutorch

# Tests are small and worker threads are many: threads inside operators would fight over the cores.
torch.set_num_threads(1)

# Python's collector would go through all tests again and again while they are collected.
gc.disable()

# What a shell starts in the background is deaf to Ctrl-C, which tests send to their processes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# PyTorch's store asks for the name of each address that it connects, 127.0.0.1 too, and waits for
# the answer: 5 seconds if a name server loses the question.
os.environ.setdefault("RES_OPTIONS", "timeout:1 attempts:1")

# The accelerators that tests of several devices run on, besides CPUs; by default simulated ones.
GIVEN = os.environ.get("DPTABLE_TEST_DEVICES", "").replace(",", " ").split()
SIMULATED = 8

# Machines that run tests are slow at times, so no property has a deadline.
# In continuous integration the examples are the same each time: a failure comes from the change.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.register_profile("all", settings.get_profile("default"), max_examples=50)
settings.register_profile("fuzz", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_xdist_auto_num_workers() -> int:
    """Half as many processes again as there are cores: a third of the time is spent on waiting."""
    return max(2, min(8, (os.cpu_count() or 1) * 3 // 2))


def pytest_collectstart(collector: pytest.Collector) -> None:
    if isinstance(collector, pytest.Module):
        seed()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cuda = torch.cuda.is_available()
    free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    for item in items:
        if free_threaded and item.get_closest_marker("freed_at_once"):
            item.add_marker(pytest.mark.skip(reason="needs Python's lock"))
        if not cuda and item.get_closest_marker("cuda"):
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))
        for marker in item.iter_markers("needs"):
            if not _is_there(marker.args[0]):
                item.add_marker(pytest.mark.skip(reason=f"needs {marker.args[0]}"))


def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # not even the package that it would be in
        return False


def pytest_collection_finish(session: pytest.Session) -> None:
    """Simulated devices must be there before PyTorch counts devices, at the first backward.

    Where there are real ones, there are no simulated ones: PyTorch would show no others.
    """
    gc.freeze()
    gc.enable()
    if GIVEN or torch.accelerator.is_available():
        return
    if any(
        "simulated" in getattr(item, "fixturenames", ()) or _on_accelerators(item)
        for item in session.items
    ):
        try:
            simulator.load(SIMULATED)
        except simulator.CannotBuild:
            return
        simulator.enable(False)


@pytest.fixture
def simulated() -> Iterator[None]:
    """Simulated devices, and no race or failure on them."""
    if not simulator.loaded():
        pytest.skip(simulator.why_not() or "the simulator is not loaded")
    simulator.enable(True)
    simulator.configure(check_frees=True)
    simulator.reset()
    try:
        yield
        simulator.check()
    finally:
        simulator.reset()
        simulator.enable(False)
        cutorch.configure(None)  # whoever did so before found the simulated ones


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of recordings."""
    return GOLDEN


@pytest.fixture(autouse=True)
def seeded() -> None:
    seed()


def _on_accelerators(item: pytest.Item) -> bool:
    """Whether it runs on accelerators too: a test's mark ``cpus`` goes before its module's."""
    return bool(item.get_closest_marker("devices") and not item.get_closest_marker("cpus"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if _on_accelerators(metafunc.definition):
        accelerator = pytest.param("accelerator", marks=pytest.mark.accelerator)
        metafunc.parametrize("logical_devices", ["cpu", accelerator], indirect=True)


@pytest.fixture(autouse=True)
def logical_devices(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give every test the default logical devices, or those that its marks say.

    Where the mark ``devices`` gives it accelerators, results are compared wherever they are.
    """
    # Not the fixture, which undoes the test's changes only after devices are counted again.
    with pytest.MonkeyPatch.context() as patch:
        if marker := request.node.get_closest_marker("cpus"):
            cutorch.configure(["cpu"] * marker.args[0])
        elif marker := request.node.get_closest_marker("devices"):
            names = ["cpu"]
            if request.param == "accelerator":
                names = GIVEN or [f"sim:{i}" for i in range(SIMULATED)]
                if not GIVEN:
                    request.getfixturevalue("simulated")
                anywhere = partial(torch.testing.assert_close, check_device=False)
                patch.setattr(torch.testing, "assert_close", anywhere)
            cutorch.configure([names[i % len(names)] for i in range(marker.args[0])])
            cutorch.setDevice(1)  # PyTorch's own, too, which an earlier test may have changed
        yield
    cutorch.configure(None)


@pytest.fixture
def double_by_default() -> Iterator[None]:
    """PyTorch's default type is double, as Torch7's."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def started_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads started since `before`, apart from tqdm's monitor and torch's own.

    Those are of autograd and, in PyTorch 2.6, of the processes that compile.
    """
    return [
        thread
        for thread in threading.enumerate()
        if thread not in before
        and not isinstance(thread, (TMonitor, threading._DummyThread))
        and not thread.name.endswith("(_read_thread)")
    ]


@pytest.fixture(autouse=True)
def no_leaked_threads() -> Iterator[None]:
    """Fail a test that leaves a worker thread behind."""
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 5
    while started_threads(before) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    leaked = started_threads(before)
    assert not leaked, f"threads left behind: {[thread.name for thread in leaked]}"
