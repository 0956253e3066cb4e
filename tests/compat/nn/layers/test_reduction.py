"""Max, Min, Sum and Mean over one dimension of a sample or of a batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compat import nn, t7

LAYERS = [
    (nn.Max, torch.amax),
    (nn.Min, torch.amin),
    (nn.Sum, torch.sum),
    (nn.Mean, torch.mean),
]


@pytest.mark.parametrize(("cls", "function"), LAYERS)
@given(st.data())
def test_results_are_pytorchs(cls: Any, function: Any, data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    dim = data.draw(st.integers(0, len(shape) - 1))
    x = torch.rand(shape)
    for dimension in (dim + 1, dim - len(shape)):
        torch.testing.assert_close(cls(dimension).forward(x), function(x, dim))
    torch.testing.assert_close(
        cls(dim + 1, len(shape)).forward(torch.stack([x, x])),
        torch.stack([function(x, dim), function(x, dim)]),
    )


@pytest.mark.parametrize(("cls", "function"), LAYERS)
def test_a_vector_becomes_a_vector_of_one(cls: Any, function: Any) -> None:
    x = torch.tensor([1.0, 5.0, -3.0])
    module = cls()
    assert module.forward(x).tolist() == [function(x, 0).item()]
    assert module.backward(x, torch.ones(1)).shape == (3,)


@pytest.mark.parametrize("cls", [nn.Max, nn.Min])
def test_the_gradient_goes_to_the_first_of_equals(cls: Any) -> None:
    x = torch.ones(2, 3)
    module = cls(2)
    module.forward(x)
    assert module.backward(x, torch.tensor([2.0, 3.0])).tolist() == [[2, 0, 0], [3, 0, 0]]


def test_sum_can_keep_the_dimension_and_average() -> None:
    x = torch.rand(3, 4)
    assert torch.equal(nn.Sum(2, None, False, False).forward(x), x.sum(1, keepdim=True))
    torch.testing.assert_close(nn.Sum(1, None, True).forward(x), x.mean(0))


@pytest.mark.parametrize(
    ("name", "fields", "function"),
    [
        ("nn.Mean", {"_gradInput": torch.ones(2)}, torch.mean),
        ("nn.Sum", {}, torch.sum),
        ("nn.Max", {"_indices": torch.ones(2)}, torch.amax),
    ],
)
def test_files_without_newer_fields(name: str, fields: Any, function: Any) -> None:
    module = t7.loads(t7.dumps(t7.TorchObject(name, 1, {"dimension": 2, **fields})))
    assert "_indices" not in vars(module)
    x = torch.rand(3, 4)
    assert torch.equal(module.forward(x), function(x, 1))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.Max(0), ValueError, "dimension is 0; .*dimensions count from 1"),
        (lambda: nn.Sum(1, None, False, 1), TypeError, "squeeze is 1"),
        (
            lambda: nn.Mean(3).forward(torch.ones(2, 2)),
            ValueError,
            "nn.Mean: input has 2 dimensions; one that has dimension 3",
        ),
        (
            lambda: nn.Min(-3).forward(torch.ones(2, 2)),
            ValueError,
            "nn.Min: input has 2 dimensions; one that has dimension -3",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(("cls", "function"), LAYERS)
@given(st.data())
def test_gradients_are_derivatives(cls: Any, function: Any, data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    dim = data.draw(st.integers(0, len(shape) - 1))
    leaf = torch.randperm(torch.Size(shape).numel()).double().view(shape).requires_grad_()
    wanted = function(leaf, dim, keepdim=len(shape) == 1)
    gradOutput = torch.randn_like(wanted)
    module, x = cls(dim - len(shape)).double(), leaf.detach()
    module.forward(x)
    for _ in range(2):
        found = module.backward(x, gradOutput)
        torch.testing.assert_close(found, torch.autograd.grad(wanted, leaf, gradOutput, True)[0])
        found.zero_()  # it has memory of its own
    with pytest.raises(RuntimeError):
        module.updateGradInput(x, torch.ones(wanted.numel() + 1).double())


def test_maxima_go_back_to_where_forward_found_them() -> None:
    module, x = nn.Max(1), torch.tensor([1.0, 3, 2])
    module.forward(x)
    x[0] = 9
    assert module.backward(x, torch.ones(1)).tolist() == [0, 1, 0]
    assert module.clone().backward(x, torch.ones(1)).tolist() == [0, 1, 0]


def test_the_gradient_of_an_index_is_zero() -> None:
    module, x = nn.ArgMax(1), torch.tensor([1.0, 3, 2])
    assert module.forward(x).tolist() == [2]
    assert module.backward(x, None).tolist() == [0, 0, 0]


@pytest.mark.parametrize("layer", [nn.Mean, nn.Sum, nn.Max, nn.Min])
def test_a_negative_number_of_dimensions_is_none(layer: Any) -> None:
    """As scripts have it that do not know the number: ``nn.Mean(-1, -1)``."""
    input = torch.randn(2, 3, 4)
    assert torch.equal(layer(-1, -1).forward(input), layer(-1).forward(input))
