"""Who waits for whom on a GPU, told by streams that are only pretended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from support.pretended_streams import Stream, Streams
from torch import Tensor

from compat import accelerators, cutorch
from dptable import comm, prefetch, reducer, scatter_gather
from dptable.container.cuda_recorder import CudaRecorder
from dptable.container.profiling import Profile
from dptable.container.split_and_join import concat, distribute
from dptable.prefetch import Prefetcher
from dptable.tensors.streams import HandedOver
from dptable.tensors.streams import Streams as LentStreams
from dptable.threads.caller_modes import CallerModes
from dptable.threads.worker import Worker, run_all, stop_all

GPU = torch.device("cuda", 0)


pytestmark = pytest.mark.cpus(2)


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> Streams:
    return Streams(monkeypatch)


@pytest.fixture
def background(streams: Streams, monkeypatch: pytest.MonkeyPatch) -> Stream:
    """The stream that copies, for the CPU too."""
    stream = streams.stream("background")
    for module in (prefetch, scatter_gather):
        monkeypatch.setattr(module, "copy_stream", lambda device: stream)
    return stream


def test_scattered_parts_are_waited_for_and_kept(streams: Streams, background: Stream) -> None:
    parts = scatter_gather.scatter({"x": torch.arange(5)}, [1, 2])
    assert [part["x"].tolist() for part in parts] == [[0, 1, 2], [3, 4]]
    assert streams.events == [
        *["copy on background"] * 2,
        *["default waits for background", "memory kept for default"] * 2,
    ]


def test_the_stream_that_uses_a_scattered_part_waits(streams: Streams, background: Stream) -> None:
    with streams.within(streams.stream("own")):
        scatter_gather.scatter(torch.arange(2), [1])
    assert streams.events[1:] == ["own waits for background", "memory kept for own"]


def test_parts_are_copied_on_the_streams_given(streams: Streams) -> None:
    given: Any = [streams.stream("first"), None]
    comm.scatter(torch.arange(4), [1, 2], streams=given)
    assert streams.events == ["copy on first", "copy on default"]


def test_copies_between_cpus_leave_accelerators_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: Any) -> None:
        raise AssertionError("an accelerator was asked")

    for name in ("current_index", "current_stream", "new_stream", "on_stream", "event", "use"):
        monkeypatch.setattr(accelerators, name, started)
    tensor = torch.arange(5.0)
    comm.scatter(tensor, [1, 2])
    parts = scatter_gather.scatter([tensor], [1, 2])
    assert torch.equal(scatter_gather.gather(parts)[0], tensor)
    assert [batch.tolist() for batch in Prefetcher([tensor])] == [tensor.tolist()]
    comm.broadcast_coalesced([tensor], [1, 2])
    comm.reduce_add([tensor, tensor])


def test_a_copy_to_the_cpu_is_over_when_the_call_returns(
    streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A copy from a GPU that is not waited for ends in pinned memory, some time later.
    asked = []
    to, copy_ = Tensor.to, Tensor.copy_

    def noted_to(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        asked.append(kwargs.get("non_blocking", False))
        return to(tensor, *args, **kwargs)

    def noted_copy_(tensor: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
        asked.append(non_blocking)
        return copy_(tensor, source)

    monkeypatch.setattr(Tensor, "to", noted_to)
    monkeypatch.setattr(Tensor, "copy_", noted_copy_)
    cpu = torch.device("cpu")
    distribute(torch.ones(4, 2), [cpu, cpu], 0, lambda n: [2, 2])
    comm.scatter(torch.ones(4), [1, 2])
    comm.scatter(torch.ones(4), out=[torch.ones(4)])
    assert asked and not any(asked)
    on_gpu = _Elsewhere(torch.ones(2, 3))
    for join in (
        lambda: concat([on_gpu, torch.empty(0)], 0, cpu, "output"),
        lambda: comm.gather([on_gpu, on_gpu], destination=cpu),
        lambda: comm.gather([on_gpu], out=torch.ones(2, 3)),
    ):
        asked.clear()
        join()
        assert asked and not any(asked)


class _Elsewhere(Tensor):
    """A tensor that says that it is on a GPU."""

    @staticmethod
    def __new__(cls, tensor: Tensor) -> _Elsewhere:
        return tensor.as_subclass(cls)

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return GPU

    @property
    def is_cpu(self) -> bool:  # type: ignore[override]
        return False


def used(batches: Prefetcher[Any], events: list[str]) -> list[float]:
    values = []
    for i, batch in enumerate(batches, 1):
        events.append(f"use {i}")
        values.append(batch[0].item())
    return values


def test_every_device_has_one_stream_that_copies(
    streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scatter_gather, "_copy_streams", {})
    made = scatter_gather.copy_stream(GPU)
    assert made is not None and scatter_gather.copy_stream(GPU) is made
    assert scatter_gather.copy_stream(torch.device("cuda", 1)) is not made
    assert scatter_gather.copy_stream(torch.device("cpu")) is None


def test_sparse_tensors_are_copied_when_they_are_handed_over(
    streams: Streams, background: Stream
) -> None:
    [[batch, label]] = Prefetcher([(torch.eye(2).to_sparse(), 7)], 1)
    assert batch.is_sparse and label == 7
    # Neither pinned nor on its way before.
    assert streams.events == [
        "background records event 1",
        "default waits for event 1",
        "copy on default",
    ]


@pytest.mark.parametrize("ahead", [1, 2])
def test_a_batch_arrives_before_it_is_used_and_the_next_is_under_way(
    streams: Streams, background: Stream, ahead: int
) -> None:
    events = streams.events
    assert used(Prefetcher([torch.full((2,), float(i)) for i in range(4)], 1, ahead), events) == [
        *(0, 1, 2, 3)
    ]
    for i in range(1, 5):
        use = events.index(f"use {i}")
        assert events[use - 2 : use] == [f"default waits for event {i}", "memory kept for default"]
        start = events.index(f"background records event {i}")
        assert events[start - 2 : start] == ["pin", "copy on background"]
        assert events[:use].count("copy on background") == min(4, i + ahead)


def test_the_stream_that_is_current_at_the_handover_waits(
    streams: Streams, background: Stream
) -> None:
    batches = iter(Prefetcher([torch.ones(2)] * 2, 1))
    next(batches)
    with streams.within(streams.stream("own")):
        next(batches)
    assert streams.events[-2:] == ["own waits for event 2", "memory kept for own"]


# Recordings.


class Graphs:
    """Takes the place of torch.cuda.graph; the first of ``broken`` recordings fail at their end."""

    def __init__(self, streams: Streams, broken: int) -> None:
        self.streams, self.broken = streams, broken

    @contextmanager
    def __call__(
        self, graph: Any, pool: Any, stream: Stream, capture_error_mode: str
    ) -> Iterator[None]:
        # Elsewhere in the process, other threads may use the GPU.
        assert capture_error_mode == "thread_local"
        events = self.streams.events
        with self.streams.within(stream):
            events.append(f"record on {stream}, memory of {pool}")
            try:
                yield
            finally:
                if self.broken:
                    self.broken -= 1
                    raise RuntimeError("operation failed due to a previous error during capture")
        events.append("recorded")


@pytest.fixture
def recorder(streams: Streams, monkeypatch: pytest.MonkeyPatch) -> Any:
    def made(broken: int = 0) -> CudaRecorder:
        monkeypatch.setattr(torch.cuda, "Stream", lambda device: streams.stream("side"))
        monkeypatch.setattr(torch.cuda, "graph", Graphs(streams, broken))
        monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: SimpleNamespace(replay="replay"))
        monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: "pool")
        for name in ("_cuda_endAllocateCurrentStreamToPool", "_cuda_endAllocateToPool"):
            monkeypatch.delattr(torch._C, name, raising=False)
        monkeypatch.setattr(
            torch._C,
            "_cuda_endAllocateToPool",
            lambda device, pool: streams.events.append(f"{pool} of {device} is left"),
            raising=False,
        )
        monkeypatch.setattr(torch, "zeros", lambda size, device: None)
        return CudaRecorder(GPU)

    return made


@pytest.mark.parametrize("failing", [False, True])
def test_recording_goes_on_aside_and_both_sides_wait(
    streams: Streams, recorder: Any, failing: bool
) -> None:
    recorder = recorder()
    with pytest.raises(ValueError) if failing else nullcontext(), recorder.side_stream():
        assert str(streams.current()) == "side"
        assert recorder.record(lambda: 5) == (5, "replay")
        if failing:
            raise ValueError
    assert streams.events == [
        "side waits for default",
        "record on side, memory of pool",
        "recorded",
        "default waits for side",
    ]
    assert streams.current() is streams.default


def test_after_a_broken_recording_memory_and_random_numbers_are_free_again(
    streams: Streams, recorder: Any
) -> None:
    recorder = recorder(broken=1)
    with pytest.raises(RuntimeError, match="operation failed") as caught:
        recorder.record(lambda: 1 / 0)
    assert isinstance(caught.value.__context__, ZeroDivisionError)
    assert streams.events == [
        "record on side, memory of pool",
        "pool of 0 is left",
        # An empty one, which ends as it should.
        "record on side, memory of None",
        "recorded",
    ]


# Times.


def test_a_span_of_a_profile_is_what_its_device_does_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[str] = []
    monkeypatch.setattr(
        torch.accelerator, "synchronize", lambda device: events.append(f"wait {device}")
    )
    profile = Profile()
    with profile.span("forward", "GPU 1", GPU):
        events.append("forward")
    with profile.span("forward", "cpu", torch.device("cpu")):
        pass
    assert events == ["wait cuda:0", "forward", "wait cuda:0"]
    assert [span.device for span in profile.spans] == ["GPU 1", "cpu"]


# Sums during backward.


def test_a_stream_lent_to_another_thread(streams: Streams, worker: Worker) -> None:
    with streams.within(streams.stream("lent")):
        lent = LentStreams([GPU, GPU, torch.device("cpu")])

    def elsewhere() -> None:
        with streams.within(streams.stream("own")):
            lent.follow(GPU)
            lent.follow(torch.device("cpu"))
            with lent.current():
                assert str(streams.current()) == "lent"
                lent.follow(GPU)
            assert str(streams.current()) == "own"

    [result] = run_all([worker], [elsewhere])
    assert result.error is None
    assert streams.events == ["lent waits for own"]


def test_a_sum_waits_for_the_gradients_and_whoever_went_backward_for_the_sum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[str] = []

    class Told:
        def __init__(self, devices: Any) -> None:
            events.append("streams of the caller")

        def follow(self, device: torch.device) -> None:
            events.append("follow")

        @contextmanager
        def current(self) -> Iterator[None]:
            events.append("on them")
            yield
            events.append("back")

    monkeypatch.setattr(reducer, "Streams", Told)
    replicas = [torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]
    for replica in replicas:
        for parameter in replica.parameters():
            parameter.grad = torch.zeros_like(parameter)
    sums = reducer.Reducer(
        [list(replica.parameters()) for replica in replicas],
        reduce=lambda copies: events.append("sum"),
    )
    events.clear()
    sums.prepare()
    for number, replica in enumerate(replicas):
        for index, _ in enumerate(replica.parameters()):
            sums.arrived(number, index)
    sums.finish()
    # Two parameters on each of two replicas.
    assert events == ["streams of the caller", *["follow"] * 4, "on them", "sum", "sum", "back"]


# Jobs in worker threads.


@pytest.fixture
def worker(streams: Streams) -> Iterator[Worker]:
    cutorch.configure([GPU])
    made = Worker("test")
    yield made
    stop_all([made])


@pytest.mark.parametrize("failing", [False, True])
def test_a_worker_waits_for_its_caller_and_the_caller_for_it(
    streams: Streams, worker: Worker, failing: bool
) -> None:
    def job() -> None:
        streams.events.append("job")
        if failing:
            raise ValueError

    with streams.within(streams.stream("callers")):
        modes = CallerModes()

    def on_its_own() -> None:
        with streams.within(streams.stream("workers")), modes.entered(GPU):
            job()

    [result] = run_all([worker], [on_its_own])
    assert isinstance(result.error, ValueError) == failing
    assert streams.events == [
        "workers waits for callers",
        "job",
        "callers waits for workers",
    ]


def test_on_one_stream_nobody_waits(streams: Streams, worker: Worker) -> None:
    modes = CallerModes()

    def job() -> int:
        with modes.entered(GPU):
            return 1

    [result] = run_all([worker], [job])
    assert result.value == 1 and streams.events == []


def test_what_is_handed_to_another_thread_is_waited_for(streams: Streams) -> None:
    with streams.within(streams.stream("giver")):
        held = HandedOver(_Elsewhere(torch.ones(2)))
    with streams.within(streams.stream("taker")):
        held.on(torch.device("cpu"))
    assert streams.events[:4] == [
        "giver records event 1",
        "taker waits for event 1",
        "memory kept for taker",
        "copy on taker",
    ]
