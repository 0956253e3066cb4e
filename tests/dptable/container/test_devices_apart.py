"""Replicas that share no memory: what is on one device must reach the others."""

from __future__ import annotations

import pytest
import torch

from compat import cutorch, nn, optim, random
from dptable.container import parameters
from dptable.container.data_parallel_table import DataParallelTable


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let replicas on one device keep parameters of their own, as on two devices."""
    monkeypatch.setattr(parameters, "_share_storage", lambda replicas: None)


def _steps(net: nn.Module, wrapped: nn.Module) -> torch.Tensor:
    """The parameters after five steps on words of which some are in both halves of a batch."""
    params, grads = net.getParameters()
    input = torch.tensor([[1, 2], [2, 3], [2, 4], [5, 1]])
    state: dict[str, float] = {"learningRate": 0.5}
    for step in range(5):
        grads.zero_()
        output = wrapped.forward(input.roll(step, 0))
        wrapped.backward(input.roll(step, 0), output - 3)

        optim.sgd(lambda x: (0.0, grads), params, state)
    return params.clone()


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("flat", [False, True])
def test_rows_that_any_replica_uses_are_bounded_for_all(
    apart: None, threads: bool, flat: bool
) -> None:
    def net() -> nn.Sequential:
        random.manualSeed(3)
        lookup = nn.LookupTable(6, 3, maxNorm=0.7)
        return nn.Sequential().add(lookup).add(nn.View(6)).add(nn.Linear(6, 2))

    alone = net().double()
    expected = _steps(alone, alone)
    replicated = net().double()
    dpt = DataParallelTable(1, flat).add(replicated, ["cpu", "cpu"])
    if threads:
        dpt.threads()
    found = _steps(dpt, dpt)
    dpt.close()
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_a_device_that_is_not_a_logical_one_is_refused_at_once() -> None:
    cutorch.configure(["meta", "meta"])
    dpt = DataParallelTable(1)
    with pytest.raises(ValueError, match=r"device is cpu; a logical device \(meta"):
        dpt.add(nn.Linear(2, 2), ["cpu", "cpu"])
    assert not dpt.modules
