"""The reducer against plain sums of each replica's own gradients."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.tensors import on, one_each
from torch import Tensor

from compat import cutorch
from compat.nn.core.flat_storage import flatten
from dptable import comm
from dptable.reducer import Reducer
from dptable.threads.worker import Worker, run_all, stop_all

pytestmark = pytest.mark.devices(4)

LAYERS = 4


class Net(torch.nn.Module):
    """Linear layers; ``skip`` takes no part and ``twice`` is used two times."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(6, 6) for _ in range(LAYERS))
        self.skip = torch.nn.Linear(6, 6)
        self.twice = torch.nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        x = self.twice(x)
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.twice(x)


def replicas(count: int, flat: bool) -> list[Net]:
    torch.manual_seed(0)
    first = Net()
    nets = [first, *(copy.deepcopy(first) for _ in range(count - 1))]
    for i, net in enumerate(nets, 1):
        net.to(cutorch.device(i))
        parameters = list(net.parameters())
        for p in parameters:
            p.grad = torch.zeros_like(p)
        if flat:
            flatten(parameters, [p.grad for p in parameters])
    return nets


def inputs(count: int) -> list[Tensor]:
    """A batch for each replica, on its device."""
    return one_each(
        [torch.randn(3, 6, generator=torch.Generator().manual_seed(i)) for i in range(count)]
    )


def parameters_of(nets: list[Net]) -> list[list[Tensor]]:
    return [list(net.parameters()) for net in nets]


def hooked(nets: Sequence[torch.nn.Module], *args: Any, **options: Any) -> Reducer:
    """A reducer of ``nets`` that autograd tells of every gradient."""
    parameters = [list(net.parameters()) for net in nets]
    reducer = Reducer(parameters, *args, **options)
    for r, replica in enumerate(parameters):
        for i, parameter in enumerate(replica):
            parameter.register_post_accumulate_grad_hook(
                lambda _, place=(r, i): reducer.arrived(*place)
            )
    return reducer


def expected(count: int, passes: int = 1) -> list[Tensor]:
    """The sum over the replicas of what autograd alone computes."""
    nets = replicas(count, flat=False)
    for net, x in zip(nets, inputs(count), strict=True):
        for _ in range(passes):
            net(x).pow(2).sum().backward()
    return [sum(p.grad.cpu() for p in column) for column in zip(*parameters_of(nets), strict=True)]


def in_threads(nets: list[Net], job: Callable[[int, Net], None]) -> None:
    workers = [Worker(f"test-{i}") for i in range(len(nets))]
    jobs: list[Callable[[], None]] = [
        lambda i=i, net=net: job(i, net) for i, net in enumerate(nets)
    ]
    try:
        results = run_all(workers, jobs)
    finally:
        stop_all(workers)
    for result in results:
        if result.error is not None:
            raise result.error


def backward(nets: list[Net]) -> None:
    xs = inputs(len(nets))
    in_threads(nets, lambda i, net: net(xs[i]).pow(2).sum().backward())


def assert_reduced(nets: list[Net], sums: list[Tensor]) -> None:
    first, *others = parameters_of(nets)
    for p, s in zip(first, sums, strict=True):
        torch.testing.assert_close(p.grad, s, rtol=1e-5, atol=1e-6)
    for other in others:
        assert all(p.grad.abs().sum() == 0 for p in other)


@pytest.mark.parametrize("flat", [False, True])
@given(count=st.integers(1, 4), size=st.sampled_from([1, 100, 300, 10**6]))
def test_sums_equal_those_of_each_replica_alone(flat: bool, count: int, size: int) -> None:
    nets = replicas(count, flat)
    reducer = hooked(nets, size, min(size, 100))
    for _ in range(2):
        for p in parameters_of(nets)[0]:
            p.grad.zero_()
        reducer.prepare()
        backward(nets)
        reducer.finish()
        assert_reduced(nets, expected(count))


def test_flat_gradients_are_summed_where_they_lie() -> None:
    nets = replicas(2, flat=True)
    reducer = hooked(nets, 300, 100)
    assert len(reducer.buckets) > 2
    for bucket in reducer.buckets:
        [[first, _]] = bucket.parts
        assert first.numel() == sum(parameters_of(nets)[0][i].numel() for i in bucket.indices)
        storages = {first.untyped_storage().data_ptr()}
        storages |= {p.grad.untyped_storage().data_ptr() for p in parameters_of(nets)[0]}
        assert len(storages) == 1


def test_a_bucket_is_summed_while_backward_goes_on() -> None:
    nets = replicas(2, flat=True)
    events: list[str] = []
    for p in nets[1].layers[0].parameters():
        p.register_post_accumulate_grad_hook(lambda _: events.append("first layer"))

    def reduce(copies: list[Tensor]) -> None:
        events.append("sum")
        comm.reduce_into_(copies, zero=True)

    # The parameters that take no part fill a bucket of their own, which holds up no other.
    reducer = hooked(nets, 100, 100, reduce)
    reducer.prepare()
    for net, x in zip(nets, inputs(2), strict=True):
        net(x).pow(2).sum().backward()
    assert events.index("sum") < events.index("first layer")
    reducer.finish()
    assert_reduced(nets, expected(2))


def test_ordered_buckets_are_summed_in_order_and_once() -> None:
    nets = replicas(3, flat=True)
    order: list[int] = []
    reducer = hooked(nets, 100, 100, lambda copies: order.append(id(copies)), ordered=True)
    reducer.prepare()
    backward(nets)
    reducer.finish()
    assert order == [id(part) for bucket in reducer.buckets for part in bucket.parts]


def test_replicas_without_data_are_not_waited_for() -> None:
    nets = replicas(3, flat=True)
    reducer = hooked(nets, 300, 100)
    reducer.prepare(2)
    backward(nets[:2])
    assert all(b.done for b in reducer.buckets if not set(b.indices) & {8, 9})
    reducer.finish()
    assert_reduced(nets, expected(2))


@pytest.mark.parametrize("ordered", [False, True])
def test_a_sum_that_fails_during_backward_is_not_the_replicas_fault(ordered: bool) -> None:
    nets = replicas(2, flat=True)
    calls: list[int] = []

    def reduce(copies: list[Tensor]) -> None:
        calls.append(len(copies))
        if len(calls) == 1:
            raise ConnectionError("gone")
        comm.reduce_into_(copies, zero=True)

    reducer = hooked(nets, 300, 100, reduce, ordered)
    assert len(reducer.buckets) > 1
    xs = inputs(2)

    def backward() -> None:
        for x, net in zip(xs, nets, strict=True):
            net(x).pow(2).sum().backward()

    reducer.prepare()
    backward()
    with pytest.raises(ConnectionError, match=r"^gone$"):
        reducer.finish()
    assert len(calls) == 1
    for net in nets:
        for p in net.parameters():
            p.grad.zero_()
    reducer.prepare()
    backward()
    reducer.finish()
    assert len(calls) == 1 + len(reducer.buckets)
    assert not any(p.grad.any() for p in nets[1].parameters())


def test_after_a_failed_backward_the_next_one_is_right() -> None:
    nets = replicas(2, flat=True)
    reducer = hooked(nets, 300, 100)
    xs = inputs(2)

    def fail(i: int, net: Net) -> None:
        loss = net(xs[i]).pow(2).sum()
        if i == 1:
            loss.register_hook(lambda _: 1 / 0)
        loss.backward()

    reducer.prepare()
    with pytest.raises(ZeroDivisionError):
        in_threads(nets, fail)
    reducer.abort()
    for net in nets:
        for p in net.parameters():
            p.grad.zero_()
    reducer.prepare()
    backward(nets)
    reducer.finish()
    assert_reduced(nets, expected(2))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda ps: [], "at least one"),
        (lambda ps: [ps[0], ps[1][:-1]], "replicas has lists of 11 and 12 parameters; as many"),
        (lambda ps: [[torch.zeros(1)]], "parameter 1 of replica 1 has no gradient"),
    ],
)
def test_refuses_what_it_cannot_sum(broken: Callable, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Reducer(broken(parameters_of(replicas(2, flat=False))))


def test_gradients_in_shared_memory_are_summed_when_all_are_there() -> None:
    nets = []
    for i in range(1, 5):
        net = torch.nn.Sequential(*[torch.nn.Linear(300, 300, bias=False) for _ in range(12)])
        net.to(cutorch.device(i))
        held = on(i, torch.zeros(300, 300))
        for layer in net:
            layer.weight.data.copy_(torch.eye(300))
            layer.weight.grad = held.view(300, 300)
        nets.append(net)
    # One bucket per layer: each would be summed, and zeroed, while the next adds to it.
    reducer = hooked(nets, 1, 1)
    assert len(reducer.buckets) == 1
    for _ in range(10):
        reducer.prepare()
        in_threads(nets, lambda i, net: net(on(i + 1, torch.ones(3, 300))).sum().backward())  # type: ignore[arg-type]
        reducer.finish()
    torch.testing.assert_close(nets[0][0].weight.grad, torch.full((300, 300), 3.0 * 12 * 4 * 10))
    assert not any(net[0].weight.grad.any() for net in nets[1:])


class _Meeting:
    """A lock after whose release two threads wait for each other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._both = threading.Barrier(2, timeout=20)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        self._both.wait()


def test_a_bucket_whose_last_gradients_come_together_is_summed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parameters = [torch.zeros(2, requires_grad=True) for _ in range(2)]
    for p in parameters:
        p.grad = torch.ones(2)
    sums: list[int] = []

    def reduce(copies: list[Tensor]) -> None:
        sums.append(len(copies))
        time.sleep(0.1)  # long enough for the other thread to come here, too

    reducer = Reducer([[p] for p in parameters], reduce=reduce)
    reducer.prepare()
    monkeypatch.setattr(reducer, "_lock", _Meeting())
    workers = [Worker(f"replica {i}") for i in range(2)]
    try:
        results = run_all(workers, [partial(reducer.arrived, replica, 0) for replica in range(2)])
    finally:
        stop_all(workers)
    assert sums == [2] and all(result.error is None for result in results)
