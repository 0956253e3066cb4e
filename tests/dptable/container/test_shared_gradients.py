"""Replicas on one device share the gradient as they share the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from compat import nn, random
from dptable import DataParallelTable
from dptable.container.shared_gradients import Addition

DISPATCHERS = pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])


@pytest.fixture(autouse=True)
def cpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # However small, gradients are shared, and sums divided among the threads.
    monkeypatch.setattr("dptable.container.parameters.WORTH_SHARING", 0)
    monkeypatch.setattr("dptable.container.gradients._SHARED_SUM", 64)
    yield


def net() -> nn.Module:
    """Its first weight is large enough to be added by the product itself; it is tied, too."""
    random.manualSeed(1)
    first, second = nn.Linear(300, 256), nn.Linear(256, 7)
    last = nn.Linear(7, 7)
    tied = last.clone("weight", "gradWeight")
    return nn.Sequential().add(first).add(nn.Tanh()).add(second).add(last).add(tied).double()


def table_of(net: nn.Module, threads: bool, replicas: int = 3, **options: Any) -> DataParallelTable:
    table = DataParallelTable(1, **options).add(net, ["cpu"] * replicas)
    return table.threads() if threads else table


def batch(size: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    kind: Any = {"dtype": torch.float64, "generator": torch.Generator().manual_seed(seed)}
    return torch.randn(size, 300, **kind), torch.randn(size, 7, **kind)


def passes(net: Any, *scale: float) -> list[Tensor]:
    """Gradients that add up, of batches that do not fill all replicas, too."""
    net.zeroGradParameters()
    for i, size in enumerate((8, 2, 1, 9)):
        input, gradOutput = batch(size, i)
        net.forward(input)
        net.backward(input, gradOutput, *scale)
    return [g.clone() for g in net.parameters()[1]]


def places(table: DataParallelTable, i: int) -> set[int]:
    """Where the replicas have the gradient of the i-th layer's weight."""
    return set(table.exec(lambda module, _: module.get(i).gradWeight.data_ptr()))


@DISPATCHERS
@pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
@pytest.mark.parametrize("scale", [1, 0.5])
def test_the_sum_is_that_of_the_bare_net(threads: bool, flat: bool, scale: float) -> None:
    bare = net()
    wanted = passes(bare, scale)
    table = table_of(bare.clone(), threads, flattenParams=flat)
    torch.testing.assert_close(passes(table, scale), wanted, rtol=1e-9, atol=1e-12)
    assert len(places(table, 1)) == len(places(table, 3)) == 1
    table.close()


def test_results_repeat_to_the_bit() -> None:
    table = table_of(net(), True)
    first = passes(table)
    for _ in range(5):
        assert all(map(torch.equal, passes(table), first))
    table.close()
    serial = table_of(net(), False)
    assert all(map(torch.equal, passes(serial), first))


@DISPATCHERS
def test_each_way_to_sum_may_follow_the_other(threads: bool) -> None:
    bare = net()
    table = table_of(bare.clone(), threads)
    for i, overlap in enumerate((None, True, False)):
        table.overlap = overlap
        for both in (bare, table):
            both.forward(batch(8, i)[0])
        with table.no_sync():
            table.backward(*batch(8, i))
        bare.backward(*batch(8, i))
        assert len(places(table, 1)) == (3 if overlap else 1)
    for both in (bare, table):
        both.backward(*batch(8, i))
    torch.testing.assert_close(table.parameters()[1], bare.parameters()[1], rtol=1e-9, atol=1e-11)
    table.close()


class OwnGradients(nn.Module):
    """Computes the Torch7 way."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.ones(300, dtype=torch.float64)
        self.gradWeight = torch.zeros(300, dtype=torch.float64)

    def parameters(self) -> Any:
        return [self.weight], [self.gradWeight]

    def updateOutput(self, input: Tensor) -> Tensor:
        self.output = input * self.weight
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        self.gradInput = gradOutput * self.weight
        return self.gradInput

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> None:
        self.gradWeight.add_((gradOutput * input).sum(0), alpha=scale)


@DISPATCHERS
def test_a_module_that_adds_by_itself_has_its_own_gradient(threads: bool) -> None:
    bare = nn.Sequential().add(OwnGradients()).add(net())
    table = table_of(bare.clone(), threads)
    torch.testing.assert_close(passes(table), passes(bare), rtol=1e-9, atol=1e-12)
    assert len(places(table, 1)) == 3
    table.close()


@DISPATCHERS
def test_a_fault_while_it_is_added(threads: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    table, bare = table_of(net(), threads), net()
    passes(table)
    add = Addition.add_part

    def fails(addition: Addition, i: int) -> None:
        add(addition, i)
        if i == 1:
            raise RuntimeError("fault")

    with monkeypatch.context() as patch:
        patch.setattr(Addition, "add_part", fails)
        with pytest.raises(RuntimeError, match=r"^replica 2 .*fault"):
            passes(table)
    assert not any(g.any() for g in table.parameters()[1])
    torch.testing.assert_close(passes(table), passes(bare), rtol=1e-9, atol=1e-12)
    table.close()


@DISPATCHERS
def test_the_replica_with_numbers_that_are_not_finite_is_named(threads: bool) -> None:
    table = table_of(net(), threads, 2)
    table.checkNumbers = True
    input, gradOutput = batch(4)
    table.forward(input)
    gradOutput[3] = torch.nan
    with pytest.raises(FloatingPointError, match=r"^replica 2 .*gradient of weight"):
        table.backward(input, gradOutput)
    table.close()


@pytest.mark.slow
def test_compiled_replicas_share_it() -> None:
    bare = net()
    table = table_of(bare.clone(), True).compile()
    for _ in range(3):
        torch.testing.assert_close(passes(table), passes(bare), rtol=1e-9, atol=1e-12)
    tapes = table.exec(lambda module, _: type(module.latest_tape).__name__)
    assert tapes == ["CompiledTape"] * 3
    assert len(places(table, 1)) == len(places(table, 3)) == 1
    table.close()


@DISPATCHERS
def test_hooks_are_called_when_all_is_added(threads: bool) -> None:
    bare = net()
    table = table_of(bare.clone(), threads)
    weights = table.exec(lambda module, _: module.get(1).weight)
    seen = []
    for weight in weights:
        weight.requires_grad_(True).register_post_accumulate_grad_hook(
            lambda weight: seen.append(weight.grad.clone())
        )
        weight.requires_grad_(False)
    for both in (table, bare):
        both.zeroGradParameters()
        both.forward(batch(8)[0])
        both.backward(*batch(8))
    assert len(seen) == 3
    wanted = bare.get(1).gradWeight
    torch.testing.assert_close(seen, [wanted] * 3, rtol=1e-9, atol=1e-12)
    table.close()
