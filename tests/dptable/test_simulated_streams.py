"""Who waits for whom and what memory is kept, told by simulated devices: without the wait a race,
without the keeping memory that is freed too early."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from threading import Thread

import pytest
import simulator
import torch
from support.simulated import side_stream

from compat import cutorch, nn
from compat.accelerators import current_stream, on_stream
from dptable import DataParallelTable, scatter_gather
from dptable.container.split_and_join import concat
from dptable.prefetch import Prefetcher
from dptable.reducer import Reducer
from dptable.scatter_gather import scatter
from dptable.tensors.streams import HandedOver

pytestmark = pytest.mark.usefixtures("simulated")
SIM = "sim:0"


@pytest.fixture(autouse=True)
def late(simulated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is computed before somebody waits for it; no stream that copies is an old one."""
    simulator.configure(order="late")
    monkeypatch.setattr(scatter_gather, "_copy_streams", {})


def test_a_batch_may_be_used_on_another_stream_than_it_was_asked_for() -> None:
    batches = iter(Prefetcher([torch.full((3,), float(i)) for i in range(3)], SIM))
    first = next(batches).sum()  # the second one starts, too
    with on_stream(side_stream()):
        assert [batch.sum().item() for batch in batches] == [3, 6]
    assert first.item() == 0


def test_a_batch_stays_while_it_is_read() -> None:
    sums = [batch.sum() for batch in Prefetcher([torch.ones(3), torch.ones(3)], SIM)]
    simulator.check()
    assert [each.item() for each in sums] == [3, 3]


def test_scattered_parts_stay_while_they_are_read() -> None:
    doubled = [2 * part for part in scatter(torch.arange(4.0), [SIM, SIM])]
    simulator.check()
    assert [each.tolist() for each in doubled] == [[0, 2], [4, 6]]


def test_what_is_handed_to_another_thread_stays_while_it_is_read() -> None:
    device, side = torch.device(SIM), side_stream()
    handed = [HandedOver(torch.zeros(3, device=SIM) + 1)]  # no kernel that is waited for
    doubled = []

    def take() -> None:
        with on_stream(side):
            doubled.append(2 * handed.pop().on(device))

    thread = Thread(target=take)
    thread.start()
    thread.join()
    simulator.check()
    current_stream(device).wait_stream(side)
    assert doubled[0].tolist() == [2, 2, 2]


@pytest.mark.parametrize("count", [1, 2])
def test_results_of_replicas_stay_while_they_are_read(count: int) -> None:
    device, side = torch.device(SIM), side_stream()
    results = [torch.ones(2, device=SIM) for _ in range(count)]
    side.wait_stream(current_stream(device))
    with on_stream(side):
        doubled = 2 * concat(results, 0, device, "output")
        results.clear()
    simulator.check()
    current_stream(device).wait_stream(side)
    assert doubled.tolist() == [2, 2] * count


def test_modules_on_devices_of_their_own_wait_for_the_callers_streams_there() -> None:
    cutorch.configure([f"sim:{i}" for i in range(3)])
    net = nn.Sequential().add(nn.Linear(4, 5)).add(nn.GPU(nn.Linear(5, 5), 3))
    dpt = DataParallelTable(1).add(net, [1, 2]).threads()
    input = torch.randn(6, 4)
    dpt.forward(input)
    with ExitStack() as stack:
        for device in cutorch.devices():
            side = side_stream(str(device))
            side.wait_stream(current_stream(device))
            stack.enter_context(on_stream(side))
        for _ in range(2):
            output = dpt.forward(input)
            dpt.backward(input, torch.ones_like(output))
            dpt.updateParameters(0.1)
        simulator.check()
    dpt.close()


def test_who_waits_for_backward_on_other_streams_has_waited_for_its_sums() -> None:
    replicas = [torch.nn.Linear(3, 2).to(f"sim:{i}") for i in range(2)]
    parameters = [list(replica.parameters()) for replica in replicas]
    for parameter in itertools.chain(*parameters):
        parameter.grad = torch.zeros_like(parameter)
    inputs = [torch.ones(4, 3, device=f"sim:{i}") for i in range(2)]
    sums = Reducer(parameters)
    for r, i in itertools.product(range(2), repeat=2):
        parameters[r][i].register_post_accumulate_grad_hook(
            lambda _, place=(r, i): sums.arrived(*place)
        )
    sums.prepare()
    for i, replica in enumerate(replicas):
        device, side = torch.device("sim", i), side_stream(f"sim:{i}")
        side.wait_stream(current_stream(device))
        with on_stream(side):
            replica(inputs[i]).sum().backward()
    sums.finish()
    doubled = [2 * parameter.grad for parameter in itertools.chain(*parameters)]
    simulator.check()
    assert [each.unique().tolist() for each in doubled] == [[16], [16], [0], [0]]
