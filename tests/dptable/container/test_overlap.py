"""Sums of gradients during backward and after it: the same numbers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from compat import nn, optim, random
from dptable import DataParallelTable
from dptable.models import MODELS

pytestmark = pytest.mark.devices(2)


def trained(
    model: str, size: tuple[int, ...], threads: bool, flat: bool, overlap: bool, **options: Any
) -> tuple[list[float], list[Tensor], int]:
    """Losses and parameters of a short training run, and how many buckets were summed."""
    random.manualSeed(1)
    table = DataParallelTable(1, flat, overlap=overlap).add(
        MODELS[model](10, *size, **options), [1, 2]
    )
    if threads:
        table.threads()
    criterion = nn.CrossEntropyCriterion()
    generator = torch.Generator().manual_seed(2)
    state = {"learningRate": 0.05, "momentum": 0.9, "weightDecay": 1e-4}
    losses = []
    try:
        parameters, gradients = table.parameters()
        if flat:
            parameters, gradients = ([t] for t in table.getParameters())
        for step in range(8):
            input = torch.randn(7 + step % 3, *size, generator=generator)
            target = torch.randint(1, 11, (len(input),), generator=generator)
            table.zeroGradParameters()
            loss = criterion.forward(table.forward(input), target)
            table.backward(input, criterion.backward(table.output, target))
            if flat:
                optim.sgd(lambda x, loss=loss: (loss, gradients[0]), parameters[0], state)
            else:
                table.updateParameters(0.05)
            losses.append(loss)
        reducer = table._gradients.reducer
        buckets = 0 if reducer is None else len(reducer.buckets)
        return losses, [p.clone() for p in parameters], buckets
    finally:
        table.close()


@pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
@pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
@pytest.mark.parametrize(
    ("model", "size", "options", "buckets"),
    [("lenet", (1, 28, 28), {}, 2), ("resnet", (3, 8, 8), {"depth": 8}, 1)],
    ids=["lenet", "resnet"],
)
def test_overlap_changes_no_bit(
    model: str, size: tuple[int, ...], options: Any, buckets: int, threads: bool, flat: bool
) -> None:
    losses, parameters, none = trained(model, size, threads, flat, False, **options)
    same_losses, same_parameters, used = trained(model, size, threads, flat, True, **options)
    assert (none, used) == (0, buckets)
    assert losses == same_losses
    assert all(map(torch.equal, parameters, same_parameters))
