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


@given(st.data())
def test_narrow_and_select_count_from_one(data: st.DataObject) -> None:
    x = numbers(3, 4, 5)
    dim = data.draw(st.integers(1, 3))
    size = x.size(dim - 1)
    index = data.draw(st.integers(1, size))
    length = data.draw(st.integers(1, size - index + 1))
    rest = length - (size - index + 1) - 1
    wanted = x.narrow(dim - 1, index - 1, length)
    for d in (dim, dim - 4):
        for n in (length, rest):
            assert torch.equal(nn.Narrow(d, index, n).forward(x), wanted)
        for i in (index, index - size - 1):
            assert torch.equal(nn.Select(d, i).forward(x), x.select(dim - 1, index - 1))


@pytest.mark.parametrize("module", [nn.Narrow(1, 1, 2), nn.Select(1, 1), nn.Transpose([1, 2])])
def test_an_in_place_layer_after_a_selection_leaves_the_input(module: nn.Module) -> None:
    x = -torch.ones(2, 3)
    nn.Sequential().add(module).add(nn.ReLU(True)).forward(x)
    assert torch.equal(x, -torch.ones(2, 3))


def test_select_of_a_vector_is_a_vector_of_one() -> None:
    assert nn.Select(1, -1).forward(numbers(3)).tolist() == [3]


@pytest.mark.parametrize("dimension", [1, 2, -1])
def test_index_takes_rows_more_than_once(dimension: int) -> None:
    x, index = numbers(3, 3), torch.tensor([3, 1, 3])
    dim = dimension - 1 if dimension > 0 else dimension
    module = nn.Index(dimension)
    assert torch.equal(module.forward([x, index]), x.index_select(dim, index - 1))
    grads = module.backward([x, index], torch.ones(3, 3))
    assert torch.equal(grads[0].select(dim, 2), torch.full((3,), 2.0))
    assert grads[1].tolist() == [0, 0, 0]
    assert grads[1].dtype == torch.float32


def test_files_of_index_hold_two_gradients() -> None:
    fields = nn.Index(1).t7_fields()
    assert [g.shape for g in fields["gradInput"]] == [(0,), (0,)]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool])
def test_masked_select(dtype: torch.dtype) -> None:
    x, mask = numbers(2, 3), torch.tensor([[1, 0, 1], [0, 0, 1]]).to(dtype)
    module = nn.MaskedSelect()
    assert module.forward([x, mask]).tolist() == [1, 3, 6]
    gradInput, gradMask = module.backward([x, mask], torch.tensor([10.0, 20.0, 30.0]))
    assert gradInput.tolist() == [[10, 0, 20], [0, 0, 30]]
    assert gradMask.dtype == dtype
    assert not gradMask.any()


def test_files_of_masked_select_hold_lua_s_work_space() -> None:
    written = nn.MaskedSelect().t7_fields()
    assert written["_maskIndices"].dtype == torch.int64
    assert written["_gradMask"].dtype == torch.uint8
    assert not any(name.startswith("_mask") for name in vars(t7.loads(t7.dumps(nn.MaskedSelect()))))


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.uint8])
def test_one_hot(dtype: torch.dtype) -> None:
    module, x = nn.OneHot(4), torch.tensor([[1, 4], [3, 2]]).to(dtype)
    assert torch.equal(module.forward(x), torch.eye(4)[x.long() - 1])
    assert torch.equal(module.backward(x, torch.ones(2, 2, 4)), torch.zeros(2, 2))
    assert nn.OneHot(3).forward(2).tolist() == [0, 1, 0]
    assert nn.OneHot(3).double().forward(2).dtype == torch.float64


@given(st.integers(1, 2), st.integers(-3, 3).filter(bool), st.integers(1, 4))
def test_padding_inserts_constants(dim: int, pad: int, index: int) -> None:
    x = numbers(3, 3)
    lines = x.unbind(dim - 1)
    before = index - 1 if pad < 0 else 3 - index + 1
    block = [torch.full((3,), -7.0)] * abs(pad)
    wanted = torch.stack([*lines[:before], *block, *lines[before:]], dim - 1)
    module = nn.Padding(dim, pad, 2, -7, index)
    assert torch.equal(module.forward(x), wanted)
    assert torch.equal(module.forward(torch.stack([x, x])), torch.stack([wanted, wanted]))
    module.forward(x)
    assert torch.equal(module.backward(x, wanted), x)


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


def test_pixel_shuffle_moves_planes_into_pixels() -> None:
    x = numbers(2, 8, 3, 5)
    output = nn.PixelShuffle(2).forward(x)
    assert output.shape == (2, 2, 6, 10)
    assert output[1, 1, 5, 8] == x[1, 4 + 2, 2, 4]
    assert torch.equal(nn.PixelShuffle(2).forward(x[0]), output[0])


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
        (lambda: nn.Narrow(1, 0), ValueError, "offset is 0; .*offsets count from 1"),
        (
            lambda: nn.Narrow(1, 2, 2).forward(torch.ones(2)),
            ValueError,
            "one with 2 entries from 2 on",
        ),
        (
            lambda: nn.Select(2, 4).forward(torch.ones(2, 3)),
            IndexError,
            "size 3 in dimension 2; one with index 4",
        ),
        (lambda: nn.Index(1).forward(torch.ones(2)), TypeError, "a table of a tensor and indices"),
        (
            lambda: nn.Index(1).forward([torch.ones(2), torch.tensor([0])]),
            IndexError,
            "nn.Index: input.2. has indices from 0 to 0; 1 to 2 are accepted, as in Torch7",
        ),
        (
            lambda: nn.Index(1).forward([torch.ones(2), torch.tensor([[1]])]),
            ValueError,
            "input.2. has 2 dimensions; 1 is",
        ),
        (lambda: nn.OneHot(3).forward(torch.tensor([4])), IndexError, "from 4 to 4; 1 to 3"),
        (
            lambda: nn.MaskedSelect().forward([torch.ones(2), torch.ones(3)]),
            ValueError,
            "input.2. has size 3; that of input.1., 2, is",
        ),
        (lambda: nn.Padding(1, 2, 2, 0, 0), ValueError, "index is 0; .*indices count from 1"),
        (lambda: nn.Padding(1, 1, 1, 0, 5).forward(torch.ones(2)), ValueError, "index 5 is"),
        (lambda: nn.Replicate(2, -1), ValueError, "dim is -1; a whole number from 1"),
        (
            lambda: nn.Replicate(2, 3).forward(torch.ones(2)),
            ValueError,
            "at least 2 are accepted to replicate",
        ),
        (lambda: nn.PixelShuffle(2).forward(torch.ones(3, 2, 2)), ValueError, "multiple of 4"),
        (lambda: nn.PixelShuffle(2).forward(torch.ones(3, 2)), ValueError, "3 or 4 are accepted"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("module", "wanted"),
    [
        (nn.Narrow(1, -1, 2), slice(0, 3)),
        (nn.Narrow(1, -2, 1), slice(0, 4)),
        (nn.Narrow(1, -1, -4), slice(0, 1)),
        (nn.Narrow(1, 3, -1), slice(2, 5)),
        (nn.Narrow(1, 2, -2), slice(1, 4)),
    ],
)
def test_narrow_with_negative_numbers(module: nn.Module, wanted: slice) -> None:
    x = numbers(5, 2)
    assert torch.equal(module.forward(x), x[wanted])


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
        (lambda: nn.Padding(-1, 2), "dim is -1; a whole number from 1 on is accepted"),
        (lambda: nn.Squeeze(-1), "dim is -1; a whole number from 1 on is accepted"),
        (lambda: nn.Transpose([-1, 1]), "dimension is -1; a whole number from 1 on is accepted"),
        (lambda: nn.Replicate(2, -1), "dim is -1; a whole number from 1 on is accepted"),
        (lambda: nn.Unsqueeze(0), "pos is 0; .* count from 1"),
        (lambda: nn.Narrow(1.5, 1), "dimension is 1.5; a whole number is accepted"),
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
