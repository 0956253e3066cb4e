"""The container in random configurations on several devices: what one device computes, without a
race, and without the CPU waiting for a device."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest
import simulator
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from torch import Tensor

from compat import cutorch, nn, random
from dptable import DataParallelTable
from dptable.prefetch import Prefetcher

DEVICES = [f"sim:{i}" for i in range(4)]

pytestmark = pytest.mark.usefixtures("simulated_devices")

configurations = st.fixed_dictionaries(
    {
        "replicas": st.integers(1, 4),
        "threads": st.booleans(),
        "flat": st.booleans(),
        "overlap": st.sampled_from([None, False, True]),
        "statistics": st.sampled_from(["first", "averaged", "synchronised"]),
        "nested": st.booleans(),
        "callers_stream": st.booleans(),
        "workers_streams": st.booleans(),
        "torch_net": st.booleans(),
        "prefetched": st.booleans(),
        "fault": st.sampled_from([None, "forward", "backward"]),
        "users": st.integers(1, 2),
    }
)


@pytest.fixture
def simulated_devices(simulated: None) -> None:
    """Four of them are the logical devices."""
    cutorch.configure(DEVICES)


class Fault(Exception):
    """What a replica raises."""


class _Through(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor, layer: Any) -> Tensor:
        ctx.layer = layer
        return input.view_as(input)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        ctx.layer.strike("backward")
        return gradient, None


class Failing(nn.Module):
    """Passes everything through; the copy that is asked to fails once, on its way ``where``."""

    where: str | None = None

    def strike(self, where: str) -> None:
        if self.where == where:
            self.where = None
            raise Fault

    def compute(self, input: Tensor) -> Tensor:
        self.strike("forward")
        return _Through.apply(input, self)


def net(torch_net: bool = False, normalised: bool = False) -> Any:
    if torch_net:
        torch.manual_seed(0)
        layers = [torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)]
        return torch.nn.Sequential(*layers).double()
    random.manualSeed(1)
    whole = nn.Sequential().add(nn.Linear(6, 8)).add(Failing()).add(nn.ReLU(True))
    if normalised:
        whole.insert(nn.BatchNormalization(8), 2)
    return whole.add(nn.Linear(8, 3)).double()


def new_stream(device: str) -> torch.Stream:
    return torch.Stream(device=torch.device(device))


def stream_of(wanted: bool) -> AbstractContextManager[Any]:
    return torch.get_device_module("sim").stream(new_stream("sim:0") if wanted else None)


def trained(
    model: Any, batches: Iterable[Tensor], gradients: list[Tensor], fault: str | None = None
) -> list[Tensor]:
    """The outputs of some steps; with ``fault`` the last replica fails in the second, once."""
    outputs = []
    for i, (batch, gradient) in enumerate(zip(batches, gradients, strict=True)):
        if i == 1 and fault is not None:
            replicas = model.exec(lambda module, i: module)
            [failing] = [m for m in replicas[-1].listModules() if isinstance(m, Failing)]
            failing.where = fault
            with pytest.raises(Fault):
                model.forward(batch)
                model.backward(batch, gradient)
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
    inner: Any = net(torch_net, options["statistics"] == "synchronised")
    gpus = list(range(1, replicas + 1))
    if nested:
        inside = DataParallelTable(1).add(inner, [4, 3])
        stack.callback(inside.close)
        inner = nn.Sequential().add(inside)
    dpt = DataParallelTable(1, flat, **options).add(inner, gpus)
    if threads:
        dpt.threads()
    stack.callback(dpt.close)
    return dpt


@pytest.mark.parametrize("order", ["late", "random"])
@given(configuration=configurations, seed=st.integers(0, 1000))
@settings(max_examples=examples(100))
def test_any_configuration_gives_one_devices_numbers(
    order: str, configuration: dict[str, Any], seed: int
) -> None:
    users = configuration.pop("users")
    torch_net, normalised = fitting(configuration)
    batches, gradients = numbers(3)
    alone = [y.cpu() for y in trained(net_alone(torch_net, normalised), batches, gradients)]
    simulator.reset()
    simulator.configure(seed=seed, order=order)
    with ExitStack() as stack, ThreadPoolExecutor(users) as threads:
        # The nets are made one after the other: they draw from one stream of random numbers.
        parts = [user(stack, batches, gradients, **configuration) for _ in range(users)]
        for found in [threads.submit(part) for part in parts]:
            torch.testing.assert_close(found.result(), alone)
    simulator.check()


def fitting(configuration: dict[str, Any]) -> tuple[bool, bool]:
    """Change a configuration whose parts do not go together; whether it has a net of torch.nn, and
    one with batch normalisation."""
    synchronised = configuration["statistics"] == "synchronised"
    if synchronised:
        configuration |= {"threads": True, "nested": False, "torch_net": False}
    if configuration["torch_net"] or configuration["nested"]:
        configuration["fault"] = None
    return configuration["torch_net"], synchronised


def user(
    stack: ExitStack,
    batches: list[Tensor],
    gradients: list[Tensor],
    callers_stream: bool,
    workers_streams: bool,
    prefetched: bool,
    fault: str | None,
    **configuration: Any,
) -> Callable[[], list[Tensor]]:
    """What a user's thread does with a container of its own: its outputs, on the CPU."""
    dpt = container(stack, **configuration)

    def train() -> list[Tensor]:
        with stream_of(callers_stream):
            if workers_streams and configuration["threads"]:
                module = torch.get_device_module("sim")
                dpt.exec(lambda _, i: module.set_stream(new_stream(DEVICES[i - 1])))
            there = [gradient.to(DEVICES[0]) for gradient in gradients]
            source: Iterable[Tensor] = [batch.to(DEVICES[0]) for batch in batches]
            if prefetched:
                source = Prefetcher(batches, DEVICES[0], ahead=2)
            return [y.cpu() for y in trained(dpt, source, there, fault)]

    return train


def net_alone(torch_net: bool, normalised: bool) -> Any:
    alone = net(torch_net, normalised)
    return DataParallelTable(1).add(alone, ["sim:0"]) if torch_net else alone


@pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
@pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
def test_the_cpu_never_waits_for_a_device(threads: bool, flat: bool) -> None:
    batches, gradients = ([each.to("sim:0") for each in of] for of in numbers(6))
    with ExitStack() as stack:
        dpt = container(stack, 3, threads, flat, False, False, statistics="first")
        trained(dpt, batches[:2], gradients[:2])
        simulator.reset()
        trained(dpt, batches[2:], gradients[2:])
        assert simulator.waits() == []
        for device in DEVICES:
            assert simulator.counters(device)["host_waits"] == 0
            assert simulator.counters(device)["implicit_waits"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("statistics", ["first", "synchronised"])
def test_two_thousand_steps_with_random_delays(statistics: str) -> None:
    batches, gradients = ([each.to("sim:0") for each in of] for of in numbers(4))
    with ExitStack() as stack:
        dpt = container(stack, 3, True, True, False, False, statistics=statistics)
        for _ in range(500):
            trained(dpt, batches, gradients)
    simulator.check()


@pytest.mark.parametrize(
    "change", [lambda net: net.type("torch.CudaTensor"), lambda net: net.getParameters()]
)
def test_parameters_that_are_moved_stay_while_they_are_read(change: Callable[[Any], Any]) -> None:
    simulator.configure(order="late")
    alone = net()
    alone.move(torch.device(DEVICES[0]))
    side = new_stream(DEVICES[0])
    side.wait_stream(torch.accelerator.current_stream())
    with torch.get_device_module("sim").stream(side):
        read = alone.parameters()[0][0] * 2
        change(alone)
    simulator.check()
    torch.testing.assert_close(read, 2 * alone.parameters()[0][0].to(read))


def test_parameters_that_a_replica_gives_up_stay_while_they_are_read() -> None:
    simulator.configure(order="late")
    batch = numbers(1)[0][0].to(DEVICES[0])
    dpt = DataParallelTable(1).add(net(), [1, 1])
    dpt.exec(lambda module, i: None)  # makes the second replica, on this stream
    side = new_stream(DEVICES[0])
    side.wait_stream(torch.accelerator.current_stream())
    with torch.get_device_module("sim").stream(side):
        read = dpt.exec(lambda module, i: module.parameters()[0][0] * 2)
        dpt.forward(batch)  # from now on it uses the first one's
    simulator.check()
    torch.testing.assert_close(*read)
    dpt.close()
