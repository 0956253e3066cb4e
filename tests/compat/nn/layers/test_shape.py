"""Layers that select, rearrange and repeat elements."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compat import nn, t7


def numbers(*shape: int) -> torch.Tensor:
    return torch.arange(1.0, math.prod(shape) + 1).view(shape)


@pytest.mark.parametrize(
    ("module", "shape", "wanted"),
    [
        (nn.View(6), (2, 3), (6,)),
        (nn.View(6), (4, 2, 3), (4, 6)),
        (nn.View(6), (1, 2, 3), (6,)),
        (nn.View(-1), (4, 2, 3), (24,)),
        (nn.View(-1).setNumInputDims(2), (4, 2, 3), (4, 6)),
        (nn.View(-1).setNumInputDims(2), (1, 2, 3), (1, 6)),
        (nn.View(-1).setNumInputDims(2), (2, 3), (6,)),
        (nn.View(-1, 3).setNumInputDims(2), (5, 4, 2, 3), (20, 2, 3)),
        (nn.View([3, 2]), (4, 6), (4, 3, 2)),
        (nn.View(1, 6), (2, 3), (1, 6)),
        (nn.Reshape(6), (2, 3), (6,)),
        (nn.Reshape(6), (4, 2, 3), (4, 6)),
        (nn.Reshape(6), (1, 2, 3), (1, 6)),
        (nn.Reshape(3, 2, True), (1, 6), (1, 3, 2)),
        (nn.Reshape(12, False), (4, 3), (12,)),
        (nn.Reshape([3, 2]), (4, 6), (4, 3, 2)),
        (nn.Reshape(), (3, 1), (3,)),
        (nn.Collapse(2), (2, 3), (6,)),
        (nn.Collapse(2), (4, 2, 3), (4, 6)),
        (nn.Squeeze(), (1, 3, 1), (3,)),
        (nn.Squeeze(), (1, 1), (1,)),
        (nn.Squeeze(), (1,), (1,)),
        (nn.Squeeze(None, 2), (1, 3, 1), (1, 3)),
        (nn.Squeeze(2), (3, 1, 2), (3, 2)),
        (nn.Squeeze(1), (3, 1), (3, 1)),
        (nn.Squeeze(1, 2), (4, 1, 3), (4, 3)),
        (nn.Unsqueeze(1), (3,), (1, 3)),
        (nn.Unsqueeze(2), (3,), (3, 1)),
        (nn.Unsqueeze(2, 1), (4, 3), (4, 3, 1)),
    ],
)
def test_shapes(module: nn.Module, shape: Any, wanted: Any) -> None:
    x = numbers(*shape)
    output = module.forward(x)
    assert output.shape == wanted
    assert torch.equal(output.flatten(), x.flatten())
    gradOutput = torch.randn(wanted)
    assert torch.equal(module.backward(x, gradOutput), gradOutput.view(shape))
    again = t7.loads(t7.dumps(module))
    assert torch.equal(again.forward(x), output)


def test_views_take_inputs_that_are_not_contiguous() -> None:
    x = numbers(3, 4).t()
    for module in (nn.View(12), nn.Reshape(12), nn.Collapse(2)):
        assert torch.equal(module.forward(x), x.reshape(12))


def test_a_view_from_a_file_without_grad_input_passes_gradients_on() -> None:
    view = t7.loads(t7.dumps(t7.TorchObject("nn.View", 1, {"size": t7.Storage([6])})))
    net = nn.Sequential().add(nn.MulConstant(2)).add(view)
    x = torch.ones(4, 2, 3)
    net.forward(x)
    assert torch.equal(net.backward(x, torch.ones(4, 6)), torch.full((4, 2, 3), 2.0))


@given(st.permutations([1, 2, 3]), st.permutations([1, 2, 3]))
def test_transpose_swaps_pairs_in_order(first: list[int], second: list[int]) -> None:
    x = numbers(2, 3, 4)
    pairs = [first[:2], second[:2]]
    wanted = x
    for one, other in pairs:
        wanted = wanted.transpose(one - 1, other - 1)
    module = nn.Transpose(*pairs)
    assert torch.equal(module.forward(x), wanted)
    assert module.output.is_contiguous()
    assert torch.equal(module.backward(x, wanted), x)
    module.setNumInputDims(3)
    assert torch.equal(module.forward(torch.stack([x, x])), torch.stack([wanted, wanted]))


@pytest.mark.parametrize("module", [nn.Narrow(1, 1, 2), nn.Select(1, 1), nn.Transpose([1, 2])])
def test_an_in_place_layer_after_a_selection_leaves_the_input(module: nn.Module) -> None:
    x = -torch.ones(2, 3)
    nn.Sequential().add(module).add(nn.ReLU(True)).forward(x)
    assert torch.equal(x, -torch.ones(2, 3))


@pytest.mark.parametrize(
    ("module", "shape", "wanted"),
    [
        (nn.Replicate(3), (2, 4), (3, 2, 4)),
        (nn.Replicate(3, 3), (2, 4), (2, 4, 3)),
        (nn.Replicate(3, 1, 1), (2, 4), (2, 3, 4)),
        (nn.Replicate(3, 1, 1), (4,), (3, 4)),
    ],
)
def test_replicate(module: nn.Module, shape: Any, wanted: Any) -> None:
    x = torch.randn(shape)
    output = module.forward(x)
    assert output.shape == wanted
    assert output.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    torch.testing.assert_close(module.backward(x, torch.ones(wanted)), torch.full(shape, 3.0))


def test_contiguous() -> None:
    output = nn.Contiguous().forward(numbers(2, 3).t())
    assert output.is_contiguous()


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.View(2, -1), "nn.View(2, -1)"),
        (nn.Reshape(2, 3), "nn.Reshape(2x3)"),
        (nn.Unsqueeze(2), "nn.Unsqueeze(dim 2)"),
        (nn.Narrow(1, 2), "nn.Narrow"),
    ],
)
def test_prints(module: nn.Module, text: str) -> None:
    assert repr(module) == text


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.View(-1, -1), ValueError, "at most one -1"),
        (lambda: nn.View(-2), ValueError, "size is .-2.; sizes"),
        (lambda: nn.View(5).forward(torch.ones(2, 3)), ValueError, "2x3; one that fits the view 5"),
        (lambda: nn.Reshape(5).forward(torch.ones(2, 3)), ValueError, "one that fits 2x5"),
        (lambda: nn.Unsqueeze(0), ValueError, "pos is 0"),
        (lambda: nn.Unsqueeze(-1), ValueError, "pos is -1; a whole number from 1"),
        (lambda: nn.Unsqueeze(4).forward(torch.ones(2, 3)), ValueError, "pos is 4; 1 to 3 are"),
        (lambda: nn.Transpose(1, 2), TypeError, "a permutation is 1; a pair"),
        (lambda: nn.Transpose([0, 1]), ValueError, "dimension is 0"),
        (lambda: nn.Transpose([1, 3]).forward(torch.ones(2, 3)), ValueError, "dimension 3 is"),
        (lambda: nn.Replicate(2, -1), ValueError, "dim is -1; a whole number from 1"),
        (
            lambda: nn.Replicate(2, 3).forward(torch.ones(2)),
            ValueError,
            "at least 2 are accepted to replicate",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_view_gets_other_sizes() -> None:
    view = nn.View(6).setNumInputDims(1)
    assert view.resetSize(3, -1) is view
    assert view.forward(numbers(4, 6)).shape == (4, 3, 2)
    with pytest.raises(ValueError, match=r"size is \[-1, -1\]"):
        view.resetSize(-1, -1)
    assert view.size == [3, -1]


@pytest.mark.parametrize(
    ("construct", "message"),
    [
        (lambda: nn.Squeeze(-1), "dim is -1; a whole number from 1 on is accepted"),
        (lambda: nn.Transpose([-1, 1]), "dimension is -1; a whole number from 1 on is accepted"),
        (lambda: nn.Replicate(2, -1), "dim is -1; a whole number from 1 on is accepted"),
        (lambda: nn.Unsqueeze(0), "pos is 0; .* count from 1"),
    ],
)
def test_dimensions_that_do_not_count_from_the_end(construct: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        construct()


def test_unsqueeze_keeps_the_dimensions_of_its_first_input() -> None:
    module = nn.Unsqueeze(1)
    assert module.forward(torch.zeros(2, 3)).shape == (1, 2, 3)
    assert module.numInputDims == 2
    assert module.forward(torch.zeros(4, 2, 3)).shape == (4, 1, 2, 3)
    with pytest.raises(ValueError, match="input has 1 dimensions; at least 2 are accepted"):
        module.forward(torch.zeros(3))


def test_views_share_memory_and_copies_do_not() -> None:
    x, gradOutput = numbers(2, 3), numbers(6)
    for module in (nn.View(6), nn.Reshape(6), nn.Collapse(2)):
        assert module.forward(x).data_ptr() == x.data_ptr()
        assert module.backward(x, gradOutput).data_ptr() == gradOutput.data_ptr()
    swapped = nn.Transpose([1, 2], [1, 2])
    assert swapped.forward(x).data_ptr() != x.data_ptr()
    assert swapped.backward(x, x).data_ptr() != x.data_ptr()


@pytest.mark.parametrize(
    "module", [nn.View(6), nn.Squeeze(), nn.Transpose([1, 2]), nn.Replicate(2), nn.Contiguous()]
)
def test_a_gradient_that_is_not_wanted_is_not_made(module: nn.Module) -> None:
    module.gradInput = None
    output = module.forward(numbers(2, 3))
    assert module.backward(numbers(2, 3), torch.ones_like(output)) is None
    assert module.gradInput is None


def test_the_gradient_of_what_is_replicated_may_be_written_to() -> None:
    module, x = nn.Replicate(1), numbers(2, 3)
    gradOutput = torch.ones(1, 2, 3)
    module.forward(x)
    module.backward(x, gradOutput).zero_()
    assert gradOutput.all()
