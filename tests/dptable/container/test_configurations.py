"""The container in random configurations on several devices: what one device computes, without a
race, and without the CPU waiting for a device."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest
import simulator
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from compat import cutorch, nn, random
from dptable import DataParallelTable

DEVICES = [f"sim:{i}" for i in range(4)]

pytestmark = pytest.mark.usefixtures("simulated_devices")

configurations = st.fixed_dictionaries(
    {
        "replicas": st.integers(1, 4),
        "threads": st.booleans(),
        "flat": st.booleans(),
        "overlap": st.sampled_from([None, False, True]),
        "statistics": st.sampled_from(["first", "averaged"]),
        "nested": st.booleans(),
        "callers_stream": st.booleans(),
        "workers_streams": st.booleans(),
        "torch_net": st.booleans(),
    }
)


@pytest.fixture
def simulated_devices(simulated: None) -> None:
    """Four of them are the logical devices."""
    cutorch.configure(DEVICES)


def net(torch_net: bool = False) -> Any:
    if torch_net:
        torch.manual_seed(0)
        layers = [torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)]
        return torch.nn.Sequential(*layers).double()
    random.manualSeed(1)
    whole = nn.Sequential().add(nn.Linear(6, 8)).add(nn.ReLU(True)).add(nn.Linear(8, 3))
    return whole.double()


def new_stream(device: str) -> torch.Stream:
    return torch.Stream(device=torch.device(device))


def stream_of(wanted: bool) -> AbstractContextManager[Any]:
    return torch.get_device_module("sim").stream(new_stream("sim:0") if wanted else None)


def trained(model: Any, batches: list[Tensor], gradients: list[Tensor]) -> list[Tensor]:
    outputs = []
    for batch, gradient in zip(batches, gradients, strict=True):
        model.zeroGradParameters()
        outputs.append(model.forward(batch).clone())
        model.backward(batch, gradient)
        model.updateParameters(0.1)
    return outputs


def numbers(steps: int) -> tuple[list[Tensor], list[Tensor]]:
    generator = torch.Generator().manual_seed(2)
    kind: Any = {"dtype": torch.float64, "generator": generator}
    batches = [torch.randn(7, 6, **kind) for _ in range(steps)]
    return batches, [torch.randn(7, 3, **kind) for _ in range(steps)]


def container(
    stack: ExitStack,
    replicas: int,
    threads: bool,
    flat: bool,
    nested: bool,
    torch_net: bool,
    **options: Any,
) -> DataParallelTable:
    inner: Any = net(torch_net)
    gpus = list(range(1, replicas + 1))
    if nested:
        inside = DataParallelTable(1).add(inner, [4, 3])
        stack.callback(inside.close)
        inner = nn.Sequential().add(inside)
    dpt = DataParallelTable(1, flat and not nested, **options).add(inner, gpus)
    if threads:
        dpt.threads()
    stack.callback(dpt.close)
    return dpt


@pytest.mark.parametrize("order", ["late", "random"])
@given(configuration=configurations, seed=st.integers(0, 1000))
@settings(max_examples=100)
def test_any_configuration_gives_one_devices_numbers(
    order: str, configuration: dict[str, Any], seed: int
) -> None:
    callers, workers = configuration.pop("callers_stream"), configuration.pop("workers_streams")
    batches, gradients = numbers(3)
    alone = trained(net_alone(configuration["torch_net"]), batches, gradients)
    simulator.reset()
    simulator.configure(seed=seed, order=order)
    with ExitStack() as stack:
        stack.enter_context(stream_of(callers))
        dpt = container(stack, **configuration)
        if workers and configuration["threads"]:
            module = torch.get_device_module("sim")
            dpt.exec(
                lambda _, i: module.set_stream(torch.Stream(device=torch.device(DEVICES[i - 1])))
            )
        there = [[each.to(DEVICES[0]) for each in of] for of in (batches, gradients)]
        found = trained(dpt, *there)
        torch.testing.assert_close([y.cpu() for y in found], [y.cpu() for y in alone])
    simulator.check()


def net_alone(torch_net: bool) -> Any:
    return DataParallelTable(1).add(net(torch_net), ["sim:0"]) if torch_net else net()


@pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
@pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
def test_the_cpu_never_waits_for_a_device(threads: bool, flat: bool) -> None:
    batches, gradients = ([each.to("sim:0") for each in of] for of in numbers(6))
    with ExitStack() as stack:
        dpt = container(stack, 3, threads, flat, nested=False, torch_net=False)
        trained(dpt, batches[:2], gradients[:2])
        simulator.reset()
        trained(dpt, batches[2:], gradients[2:])
        assert simulator.waits() == []
        for device in DEVICES:
            assert simulator.counters(device)["host_waits"] == 0
            assert simulator.counters(device)["implicit_waits"] == 0


@pytest.mark.slow
def test_two_thousand_steps_with_random_delays() -> None:
    batches, gradients = ([each.to("sim:0") for each in of] for of in numbers(4))
    with ExitStack() as stack:
        dpt = container(stack, 3, threads=True, flat=True, nested=False, torch_net=False)
        for _ in range(500):
            trained(dpt, batches, gradients)
    simulator.check()
