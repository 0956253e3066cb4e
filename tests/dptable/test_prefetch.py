import pytest
import torch
from support.simulated import no_waiting
from support.tensors import equal, on

from compat import cutorch
from dptable import prefetch
from dptable.prefetch import Prefetcher

pytestmark = pytest.mark.devices(2)


@pytest.mark.cpus(2)
def test_batches_pass_through_on_cpu():
    data = [{"x": torch.full((2,), float(i)), "label": i} for i in range(5)]
    prefetcher = Prefetcher(data)
    assert len(prefetcher) == 5
    for _ in range(2):
        assert [batch["label"] for batch in prefetcher] == [0, 1, 2, 3, 4]
    assert all(a["x"] is b["x"] for a, b in zip(prefetcher, data, strict=True))


@pytest.mark.cpus(2)
def test_nothing_is_drawn_early_on_cpu():
    drawn = []
    source = (drawn.append(i) or torch.tensor(i) for i in range(4))
    for i, batch in enumerate(Prefetcher(source, ahead=3)):
        assert batch.item() == i
        assert drawn == list(range(i + 1))


def test_ahead_counts_from_one():
    with pytest.raises(ValueError, match="ahead is 0; a whole number from 1"):
        Prefetcher([], ahead=0)


def failing(n):
    for i in range(n):
        yield torch.full((3,), float(i))
    raise OSError("disk full")


def test_an_error_comes_after_the_good_batches():
    values = []
    with pytest.raises(OSError, match="disk full"):
        for batch in Prefetcher(failing(3)):
            values.append(batch[0].item())
    assert values == [0, 1, 2]


@pytest.mark.parametrize("ahead", [1, 2, 9])
def test_the_order_of_flights(monkeypatch, ahead):
    events = []

    class Flight:
        def __init__(self, batch, device, stream):
            events.append(("start", batch))
            self.batch = batch

        def land(self):
            return self.batch

    monkeypatch.setattr(prefetch, "_Flight", Flight)
    monkeypatch.setattr(prefetch, "copy_stream", lambda device: "stream")
    events.extend(("use", batch) for batch in Prefetcher(range(5), ahead=ahead))
    for i in range(5):
        started = events[: events.index(("use", i))].count
        assert sum(started(("start", j)) for j in range(5)) == min(5, i + 1 + ahead)
    assert [batch for event, batch in events if event == "use"] == [0, 1, 2, 3, 4]

    values = []
    with pytest.raises(OSError, match="disk full"):
        for batch in Prefetcher(failing(3), ahead=ahead):
            values.append(batch[0].item())
    assert values == [0, 1, 2]


# What follows runs on an accelerator, too.


@pytest.mark.parametrize("ahead", [1, 3])
def test_batches_arrive_in_order(ahead):
    data = [(torch.full((1 << 12,), float(i)), i) for i in range(10)]
    for i, (x, label) in enumerate(Prefetcher(data, 1, ahead)):
        assert x.device == cutorch.device(1)
        assert label == i
        assert equal(x, data[i][0])


def busy(device):
    """Have a GPU do something for a while; simulated devices are late by themselves."""
    if device.type == "cuda":
        torch.cuda._sleep(1_000_000)


def test_memory_is_not_reused_while_a_batch_is_in_use():
    sums = []
    data = (torch.full((1 << 16,), float(i)) for i in range(20))
    for x in Prefetcher(data, 1, 2):
        busy(x.device)
        sums.append(x.mean())
        del x
    assert torch.stack(sums).tolist() == list(range(20))


def test_at_most_ahead_batches_are_drawn_early():
    drawn = []
    source = (drawn.append(i) or torch.tensor([i]) for i in range(6))
    for i, _ in enumerate(Prefetcher(source, 1, 2)):
        assert len(drawn) <= i + 3


def test_an_error_on_an_accelerator_comes_after_the_good_batches():
    values = []
    with pytest.raises(OSError, match="disk full"):
        for batch in Prefetcher(failing(3), 1, 2):
            values.append(batch[0].item())
    assert values == [0, 1, 2]


def test_a_step_does_not_wait_for_the_device():
    data = [torch.randn(256, 64) for _ in range(6)]
    weight = on(1, torch.randn(64, 64))
    batches = iter(Prefetcher(data, 1))
    next(batches) @ weight
    with no_waiting():
        for batch in batches:
            batch @ weight
