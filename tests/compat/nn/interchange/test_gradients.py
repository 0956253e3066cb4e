"""Autograd goes through the functions that modules of the interchange share with the layers."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from compat import nn

pytestmark = pytest.mark.usefixtures("double_by_default")


def leaf(*size: int) -> Tensor:
    return torch.randn(size).requires_grad_()


def probabilities(*size: int) -> Tensor:
    return (torch.rand(size) * 0.9 + 0.05).requires_grad_()


ONE_TENSOR = [
    *((lambda p=p: nn.Normalize(p), (3, 4)) for p in (1, 1.5, 2, 3, math.inf)),
    (lambda: nn.Normalize(2), (4,)),
    (lambda: nn.SoftMax(), (2, 3, 4, 4)),
    (lambda: nn.SoftMin(), (3,)),
    (lambda: nn.Mean(1), (3, 4)),
    (lambda: nn.Select(1, 2), (3,)),
    (lambda: nn.Narrow(2, 1, -2), (3, 4)),
    (lambda: nn.Sequential(nn.Square(), nn.Sqrt()), (3,)),
    (lambda: nn.Sequential(nn.Exp(), nn.Power(2.5), nn.Log()), (3,)),
]


@pytest.mark.parametrize(("make", "size"), ONE_TENSOR)
def test_of_a_tensor(make: Any, size: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    assert gradcheck(make().to_torch(), (leaf(*size),))


VECTORS = [(3, 4), (3, 4)], [(4,), (4,)], [(1, 4), (1, 4)]
PAIRS = [
    *((nn.DotProduct, sizes) for sizes in VECTORS),
    *((nn.CosineDistance, sizes) for sizes in VECTORS),
    *((lambda p=p: nn.PairwiseDistance(p), VECTORS[0]) for p in (1, 2, 3)),
    (lambda: nn.MM(True, False), [(2, 4, 3), (2, 4, 5)]),
    (lambda: nn.MV(True), [(2, 4, 3), (2, 4)]),
]


@pytest.mark.parametrize(("make", "sizes"), PAIRS)
def test_of_two_tensors(make: Any, sizes: list[tuple[int, ...]]) -> None:
    torch.manual_seed(1)
    net = make().to_torch()
    assert gradcheck(lambda *input: net(list(input)), tuple(leaf(*size) for size in sizes))


SIGNS = torch.tensor([[1.0, -1, 1], [-1, 1, 1]])
LOSSES = [
    (nn.AbsCriterion, leaf, torch.zeros(2, 3)),
    (lambda: nn.WeightedMSECriterion(torch.rand(3)), leaf, torch.ones(2, 3)),
    (nn.SmoothL1Criterion, leaf, torch.zeros(2, 3)),
    (nn.DistKLDivCriterion, leaf, torch.tensor([[0, 0.5, 0.5], [1, 0, -1]])),
    (lambda: nn.BCECriterion(torch.rand(3)), probabilities, (SIGNS > 0).double()),
    (nn.SoftMarginCriterion, leaf, SIGNS),
    (nn.MarginCriterion, leaf, SIGNS),
    (lambda: nn.MultiMarginCriterion(2, torch.rand(3)), leaf, torch.tensor([1, 3])),
    (nn.MultiLabelMarginCriterion, leaf, torch.tensor([[1, 0, 0], [2, 3, 0]])),
    (nn.HingeEmbeddingCriterion, leaf, SIGNS),
]


@pytest.mark.parametrize(("make", "draw", "target"), LOSSES)
@pytest.mark.parametrize("mean", [True, False])
def test_of_losses(make: Any, draw: Any, target: Tensor, mean: bool) -> None:
    torch.manual_seed(1)
    criterion = make()
    criterion.sizeAverage = mean
    loss = criterion.to_torch()
    assert gradcheck(lambda input: loss(input, target.to(torch.get_default_dtype())), draw(2, 3))


LOSSES_OF_PAIRS = [
    (lambda: nn.L1HingeEmbeddingCriterion(9), -1, (3,)),
    (lambda: nn.L1HingeEmbeddingCriterion(1), torch.tensor([1]), (3,)),
    (lambda: nn.CosineEmbeddingCriterion(0.1), torch.tensor([1.0, -1]), (2, 3)),
    (lambda: nn.CosineEmbeddingCriterion(0.1), -1, (3,)),
    (nn.DistanceRatioCriterion, None, (3,)),
    (lambda: nn.MarginRankingCriterion(0.1), torch.tensor([1.0, -1, 1]), (3,)),
    (lambda: nn.MarginRankingCriterion(0.1), 1, (1,)),
]


@pytest.mark.parametrize(("make", "target", "size"), LOSSES_OF_PAIRS)
def test_of_losses_of_pairs(make: Any, target: Any, size: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    loss = make().to_torch()
    assert gradcheck(lambda *input: loss(list(input), target), (leaf(*size), leaf(*size)))
