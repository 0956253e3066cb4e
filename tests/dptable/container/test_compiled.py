"""Containers with compiled replicas."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from compat import cutorch, nn, optim, random
from compat.nn.compiled import operators
from dptable import DataParallelTable

pytestmark = pytest.mark.usefixtures("double_by_default")


@pytest.fixture(autouse=True)
def graphs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What was to be compiled; the graphs run operator by operator instead."""
    made: list[Any] = []
    monkeypatch.setattr(operators, "inductor", lambda graph, inputs: made.append(graph) or graph)
    cutorch.configure(["cpu", "cpu"])
    yield made
    cutorch.configure(None)


def table(net: Any, threads: bool, **options: Any) -> DataParallelTable:
    made = DataParallelTable(1, True, **options).add(net.clone(), [1, 2])
    return made.threads() if threads else made


def trained(table: DataParallelTable, steps: int = 4) -> list[Tensor]:
    random.manualSeed(1)
    x, labels = torch.linspace(-1, 1, 40).view(8, 5), torch.arange(8) % 3 + 1
    criterion = nn.CrossEntropyCriterion()
    parameters, gradients = table.getParameters()
    found, state = [], {}

    def feval(_: Tensor) -> tuple[float, Tensor]:
        table.zeroGradParameters()
        output = table.forward(x)
        loss = criterion.forward(output, labels)
        found.append(table.backward(x, criterion.backward(output, labels)).clone())
        found.append(gradients.clone())
        return loss, gradients

    for _ in range(steps):
        optim.sgd(feval, parameters, {"learningRate": 0.1, "momentum": 0.9}, state)
    return [*found, parameters.clone()]


@pytest.mark.freed_at_once  # code of an earlier net would be used again
@pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
@pytest.mark.parametrize("overlap", [False, True])
def test_replicas_compute_through_one_code(threads: bool, overlap: bool, graphs: list[Any]) -> None:
    net = nn.Sequential().add(nn.Linear(5, 7)).add(nn.BatchNormalization(7)).add(nn.Tanh())
    net.add(nn.Linear(7, 3)).keepResults()
    plain, compiled = (table(net, threads, overlap=overlap) for _ in range(2))
    try:
        compiled.forward(torch.ones(2, 5))  # makes the replicas
        plain.forward(torch.ones(2, 5))
        compiled.compile()
        for one, other in zip(trained(plain), trained(compiled), strict=True):
            torch.testing.assert_close(one, other)
        for replica, same in zip(compiled.impl.modules, plain.impl.modules, strict=True):
            with pytest.raises(RuntimeError, match="after a compiled pass"):
                _ = replica.get(3).output
            torch.testing.assert_close(replica.output, same.output)
            torch.testing.assert_close(replica.get(2).running_var, same.get(2).running_var)
        assert len(graphs) == 2  # forward and backward
        compiled.compile(False)
        assert all(replica.compilation is None for replica in compiled.impl.modules)
    finally:
        plain.close()
        compiled.close()


def test_statistics_of_all_replicas_are_computed_normally(graphs: list[Any]) -> None:
    net = nn.Sequential().add(nn.Linear(5, 3)).add(nn.BatchNormalization(3))
    compiled = table(net, True, statistics="synchronised").compile()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trained(compiled)
        assert not graphs
    finally:
        compiled.close()
