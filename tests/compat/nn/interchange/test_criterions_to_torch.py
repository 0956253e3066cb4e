"""Criterions as torch.nn modules compute the loss and the gradient that Torch7 recorded."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.nn_golden import case_names, copied, load_case, restored
from torch import Tensor

from compat import cudnn, nn
from compat.tensor_tables import map_tensors, tensors

RECORDED = [
    pytest.param(name, case, id=f"{name}-{case}")
    for name, case in case_names("criterion")
    if name != "CriterionTable"
]


def leaf(tensor: Tensor) -> Tensor:
    return tensor.detach().clone().requires_grad_(tensor.is_floating_point())


@pytest.mark.parametrize(("name", "case_name"), RECORDED)
def test_every_recorded_criterion(name: str, case_name: str) -> None:
    case = load_case("criterion", name, case_name)
    criterion = restored(case, "criterion")
    input, target = copied(case["input"]), case.get("target")
    expected = criterion.forward(input, target)
    gradients = list(tensors(criterion.backward(input, target)))
    leaves = map_tensors(leaf, input)
    loss = criterion.to_torch()(leaves, target)
    assert loss.item() == pytest.approx(expected, rel=1e-6, abs=1e-7)
    loss.backward()
    wanted = [t for t in tensors(leaves) if t.requires_grad]
    found = [torch.zeros_like(t) if t.grad is None else t.grad for t in wanted]
    torch.testing.assert_close(found, gradients[: len(found)], rtol=1e-5, atol=1e-7)


def test_criterions_over_sequences() -> None:
    steps = [torch.rand(2, 3).log(), torch.rand(2, 3).log()]
    labels = [torch.tensor([1, 3]), torch.tensor([2, 2])]
    inner = nn.ClassNLLCriterion()
    for criterion, target in (
        (nn.SequencerCriterion(inner), labels),
        (nn.RepeaterCriterion(inner), labels[0]),
    ):
        loss = criterion.to_torch()(steps, target)
        assert loss.item() == pytest.approx(criterion.forward(steps, target))


@pytest.mark.parametrize("kept", [[0, 2], []])
def test_samples_of_zeros_do_not_count(kept: list[int]) -> None:
    input = torch.zeros(4, 3)
    input[kept] = torch.rand(len(kept), 3).log()
    target = torch.tensor([1, 2, 3, 1])
    criterion = nn.MaskZeroCriterion(nn.ClassNLLCriterion(), 1)
    leaf = input.clone().requires_grad_()
    loss = criterion.to_torch()(leaf, target)
    assert loss.item() == pytest.approx(criterion.forward(input, target))
    loss.backward()
    torch.testing.assert_close(leaf.grad, criterion.backward(input, target))


@pytest.mark.parametrize(
    ("cls", "size"),
    [
        (cudnn.SpatialCrossEntropyCriterion, (2, 3, 4, 4)),
        (cudnn.VolumetricCrossEntropyCriterion, (2, 3, 2, 4, 4)),
    ],
)
def test_cross_entropy_at_every_pixel(cls: Any, size: tuple[int, ...]) -> None:
    criterion = cls(torch.tensor([1.0, 2.0, 0.5]))
    input, target = torch.randn(size), torch.randint(1, 4, (size[0], *size[2:]))
    loss = criterion.to_torch()(input, target)
    assert loss.item() == pytest.approx(criterion.forward(input, target))


@pytest.mark.parametrize("cls", [cudnn.SoftMax, cudnn.LogSoftMax, cudnn.VolumetricLogSoftMax])
@pytest.mark.parametrize("size", [(3,), (2, 3), (3, 4, 4), (2, 3, 4, 4), (2, 3, 2, 4, 4)])
def test_cudnns_softmax_of_samples_and_batches(cls: Any, size: tuple[int, ...]) -> None:
    net, input = cls(), torch.randn(size)
    try:
        expected = net.forward(input)
    except ValueError:
        pytest.skip("not an input of this class")
    torch.testing.assert_close(net.to_torch()(input), expected)


def test_a_criterion_as_a_module() -> None:
    net = nn.CriterionTable(nn.MSECriterion())
    input = [torch.randn(3), torch.randn(3)]
    assert net.to_torch()(input).item() == pytest.approx(net.forward(input))


class Own(nn.Criterion):
    def compute(self, input: Any, target: Any) -> Tensor:
        return input.sum()


def test_a_criterion_of_ones_own_is_refused_with_its_place() -> None:
    both = nn.MultiCriterion().add(nn.MSECriterion()).add(Own())
    with pytest.raises(ValueError, match=r"Own.*: torch\.nn has no equivalent of this criterion"):
        both.to_torch()
