"""Each kind of mistake that programs for several devices make is seen, and its cure is silent."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import torch
from support.simulated import raises_race, side_stream

import simulator


def on(stream: torch.Stream) -> AbstractContextManager[None]:
    return torch.get_device_module("sim").stream(stream)


def test_a_missing_wait_is_a_race_with_both_stacks(order: str) -> None:
    x = torch.zeros(1000, device="sim")
    side = side_stream()
    side.wait_stream(torch.accelerator.current_stream())
    with on(side):
        x.add_(1)
    with raises_race("write by aten::add", "read by aten::mul", "test_faults.py"):
        x * 2


def test_waiting_cures_it(order: str) -> None:
    x = torch.zeros(1000, device="sim")
    side = side_stream()
    side.wait_stream(torch.accelerator.current_stream())
    with on(side):
        x.add_(1)
    torch.accelerator.current_stream().wait_stream(side)
    assert (x * 2).sum().item() == 2000


def test_an_event_that_is_recorded_too_early_does_not_cure_it(order: str) -> None:
    x = torch.zeros(1000, device="sim")
    side = side_stream()
    side.wait_stream(torch.accelerator.current_stream())
    event = torch.Event(device="sim:0")
    with on(side):
        event.record()
        x.add_(1)
    torch.accelerator.current_stream().wait_event(event)
    with raises_race():
        x * 2


def test_without_a_wait_the_numbers_are_wrong_as_well() -> None:
    simulator.configure(order="late")
    x = torch.zeros(1000, device="sim")
    side = side_stream()
    side.wait_stream(torch.accelerator.current_stream())
    with on(side):
        x.add_(1)
    with raises_race():
        assert x.sum().item() == 0


def test_two_readers_need_not_wait_for_each_other(order: str) -> None:
    x = torch.ones(1000, device="sim")
    side = side_stream()
    side.wait_stream(torch.accelerator.current_stream())
    with on(side):
        first = x.sum()
    second = x.sum()
    torch.accelerator.current_stream().wait_stream(side)
    assert first.item() == second.item() == 1000


def test_parts_of_a_tensor_that_do_not_meet_are_free(order: str) -> None:
    x = torch.zeros(6, 8, device="sim")
    side = side_stream()
    side.wait_stream(torch.accelerator.current_stream())
    with on(side):
        x[:, :4].fill_(1)
    x[:, 4:].fill_(2)
    torch.accelerator.current_stream().wait_stream(side)
    assert x.sum().item() == 6 * 4 * 3


def test_parts_that_meet_in_one_column_race() -> None:
    x = torch.zeros(6, 8, device="sim")
    side = side_stream()
    side.wait_stream(torch.accelerator.current_stream())
    with on(side):
        x[:, :5].fill_(1)
    with raises_race("write by aten::fill_"):
        x[:, 4:].fill_(2)


def test_host_waits_order_too(order: str) -> None:
    x = torch.zeros(10, device="sim")
    side = side_stream()
    side.wait_stream(torch.accelerator.current_stream())
    with on(side):
        x.add_(1)
    side.synchronize()
    assert x.sum().item() == 10


def test_copies_between_devices_wait_by_themselves(order: str) -> None:
    x = torch.arange(10.0, device="sim:0")
    y = x.to("sim:1")
    x.zero_()
    y += 1
    assert y.tolist() == [float(i + 1) for i in range(10)]


def test_another_threads_stream_is_another_stream(order: str) -> None:
    x = torch.zeros(10, device="sim")
    side = side_stream()

    def work() -> None:
        with on(side):
            x.add_(1)

    with raises_race("write by aten::add", "write by aten::zero_"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()


def freed_while_another_stream_reads(recorded: bool) -> torch.Tensor:
    side = side_stream()
    x = torch.ones(1000, device="sim")
    side.wait_stream(torch.accelerator.current_stream())
    with on(side):
        y = x * 2
    if recorded:
        x.record_stream(side)
    del x
    torch.zeros(1000, device="sim")  # takes the freed memory, if it may
    torch.accelerator.current_stream().wait_stream(side)
    return y


def test_a_lost_record_stream_is_a_race(order: str) -> None:
    with raises_race("read by aten::mul", "write by aten::zero_"):
        freed_while_another_stream_reads(recorded=False)


def test_a_lost_record_stream_spoils_the_numbers() -> None:
    simulator.configure(order="late")
    with raises_race():
        assert freed_while_another_stream_reads(recorded=False).sum().item() == 0


def test_record_stream_keeps_the_memory(order: str) -> None:
    assert freed_while_another_stream_reads(recorded=True).sum().item() == 2000


@pytest.mark.parametrize("recorded", [False, True])
def test_frees_can_be_checked_though_nothing_took_the_memory(recorded: bool) -> None:
    simulator.configure(check_frees=True)
    side = side_stream()
    x = torch.ones(1000, device="sim")
    side.wait_stream(torch.accelerator.current_stream())
    with on(side):
        y = x * 2
    if recorded:
        x.record_stream(side)
        del x
    else:
        with raises_race("read by aten::mul", "without record_stream"):
            del x
    torch.accelerator.current_stream().wait_stream(side)
    assert y.sum().item() == 2000 or not recorded


@pytest.mark.parametrize("waits", [False, True])
def test_a_recorded_stream_stands_for_those_it_waited_for(order: str, waits: bool) -> None:
    simulator.configure(order=order, check_frees=True)
    maker, reader, user = side_stream(), side_stream(), torch.accelerator.current_stream()
    with on(maker):
        x = torch.ones(1000, device="sim")
    reader.wait_stream(maker)
    with on(reader):
        y = x * 2
    x.record_stream(user)
    if waits:
        user.wait_stream(reader)
        del x
    else:
        with raises_race("read by aten::mul", "without record_stream"):
            del x
        user.wait_stream(reader)
    with on(maker):
        torch.zeros(1000, device="sim")  # takes the freed memory, if it may
    assert y.sum().item() == 2000


def test_memory_that_is_recorded_comes_back_when_the_stream_is_through() -> None:
    module = torch.get_device_module("sim")
    before = module.memory_allocated()
    freed_while_another_stream_reads(recorded=True)
    torch.accelerator.synchronize()
    torch.zeros(1000, device="sim")
    assert module.memory_allocated() == before


def test_new_memory_is_poisoned(order: str) -> None:
    assert torch.empty(100, device="sim").isnan().all().item()
    x = torch.ones(100, device="sim")
    del x
    assert torch.empty(100, device="sim").isnan().all().item()


def test_operands_on_two_devices_are_refused_by_name() -> None:
    with pytest.raises(RuntimeError, match=r"same device.*sim:0 and sim:1"):
        torch.ones(2, device="sim:0") + torch.ones(2, device="sim:1")
    with pytest.raises(RuntimeError, match=r"same device.*sim:0 and cpu"):
        torch.ones(2, device="sim:0") + torch.ones(2)


def test_numbers_of_the_cpu_may_take_part() -> None:
    assert (torch.ones(2, device="sim") * torch.tensor(3.0)).tolist() == [3, 3]


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"device index is 8; there are 8 simulated devices"):
        torch.ones(1, device="sim:8")


def test_the_cpu_cannot_touch_a_devices_memory(tmp_path: Path) -> None:
    script = """
        import ctypes, faulthandler, sys
        sys.path.insert(0, sys.argv[1])
        import simulator, torch
        faulthandler.enable()
        simulator.load(2)
        x = torch.zeros(4, device="sim:1")
        torch.accelerator.synchronize(1)
        def touch():
            return ctypes.c_float.from_address(x.data_ptr()).value
        touch()
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(Path(simulator.__file__).parents[1])],
        capture_output=True,
        text=True,
    )
    assert run.returncode != 0
    assert "the CPU touched memory of device sim:1" in run.stderr
    assert "in touch" in run.stderr


def test_memory_that_a_copy_has_not_reached_is_poisoned() -> None:
    simulator.configure(order="late")
    x = torch.ones(10, device="sim")
    y = x.to("cpu", non_blocking=True)
    assert y.is_pinned() and y.isnan().all()
    torch.accelerator.synchronize()
    assert y.sum() == 10


def test_pinned_memory_that_changes_too_early_is_copied_changed() -> None:
    simulator.configure(order="late")
    x = torch.ones(10).pin_memory()
    y = x.to("sim", non_blocking=True)
    x.zero_()
    assert y.sum().item() == 0


def test_pinned_memory_lives_until_it_is_copied() -> None:
    simulator.configure(order="late")
    y = torch.ones(1 << 20).pin_memory().to("sim", non_blocking=True)
    torch.zeros(1 << 20).pin_memory()
    assert y.sum().item() == 1 << 20


def test_waits_of_the_cpu_are_counted_and_named(order: str) -> None:
    x = torch.ones(10, device="sim:1")
    y = (x * 2).sum()
    simulator.reset()
    for _ in range(3):
        y = y + x.mean()
    assert simulator.counters("sim:1")["host_waits"] == 0
    y.item()
    x.cpu()
    torch.nonzero(x)
    torch.accelerator.synchronize(1)
    torch.accelerator.current_stream(1).synchronize()
    assert simulator.counters("sim:1")["host_waits"] == 5
    assert simulator.counters("sim:0")["host_waits"] == 0
    assert [wait.splitlines()[0] for wait in simulator.waits()] == [
        f"{what} waits for sim:1"
        for what in (
            "aten::_local_scalar_dense",
            "aten::copy_ from sim:1 to the CPU",
            "aten::nonzero",
            "synchronising with a device",
            "synchronising with a stream",
        )
    ]
    assert all("test_faults.py" in wait for wait in simulator.waits())


def test_an_error_of_a_kernel_comes_with_the_next_wait_and_says_where_it_was_queued() -> None:
    simulator.configure(order="late")
    table = torch.ones(3, 2, device="sim")
    rows = torch.nn.functional.embedding(torch.tensor([7], device="sim"), table)
    with pytest.raises(RuntimeError, match=r"index out of range(.|\n)*test_faults.py"):
        rows.cpu()


def test_memory_can_run_out() -> None:
    used = torch.get_device_module("sim").memory_allocated(1)
    simulator.set_memory_limit(1, used + (1 << 20))
    kept = torch.zeros(1 << 17, device="sim:1")
    with pytest.raises(torch.OutOfMemoryError, match="sim: out of memory on sim:1"):
        torch.zeros(1 << 18, device="sim:1")
    assert kept.sum().item() == 0


def test_graphs_refuse_what_cannot_be_recorded() -> None:
    x = torch.ones(4, device="sim")
    y = torch.empty_like(x)
    for forbidden in (
        lambda: x.sum().item(),
        lambda: torch.accelerator.synchronize(),
        lambda: torch.accelerator.current_stream().query(),
        lambda: x.cpu(),
        lambda: torch.nonzero(x),
        lambda: torch.zeros(2, device="sim:1"),
    ):
        graph = simulator.Graph()
        refused = pytest.raises(RuntimeError, match="while a graph is captured")
        with refused, simulator.capture(graph):
            y.copy_(x)
            forbidden()
        del graph


def test_graphs_replay() -> None:
    x = torch.ones(4, device="sim")
    side = side_stream()
    graph = simulator.Graph()
    torch.accelerator.synchronize()
    with simulator.capture(graph):
        y = x * 2
        side.wait_stream(torch.accelerator.current_stream())
        with on(side):
            z = x + 1
        torch.accelerator.current_stream().wait_stream(side)
        y.add_(z)
    for factor in (1.0, 5.0):
        x.fill_(factor)
        graph.replay()
        assert y.tolist() == [3 * factor + 1] * 4


def test_a_capture_that_leaves_a_stream_behind_is_refused() -> None:
    x = torch.ones(4, device="sim")
    side = side_stream()
    graph = simulator.Graph()
    torch.accelerator.synchronize()
    refused = pytest.raises(RuntimeError, match="before its origin has waited for stream")
    with refused, simulator.capture(graph):
        x.add_(1)
        side.wait_stream(torch.accelerator.current_stream())
        with on(side):
            x.add_(1)
