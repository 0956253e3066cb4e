"""Layers that take parts of a dimension, or put constants into one."""

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


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
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
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("construct", "message"),
    [
        (lambda: nn.Padding(-1, 2), "dim is -1; a whole number from 1 on is accepted"),
        (lambda: nn.Narrow(1.5, 1), "dimension is 1.5; a whole number is accepted"),
    ],
)
def test_dimensions_that_do_not_count_from_the_end(construct: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        construct()


@pytest.mark.parametrize(
    ("module", "dims"), [(nn.Narrow(2, 2, 2), 2), (nn.Select(2, 3), 1), (nn.Padding(2, 1), 2)]
)
def test_gradients_are_derivatives(module: nn.Module, dims: int) -> None:
    x = torch.randn(4, 3).t()
    output = module.forward(x)
    assert output.dim() == dims and output.is_contiguous()
    leaf = torch.eye(12).view(12, 3, 4)
    outputs = torch.stack([module.forward(one) for one in leaf])
    gradOutput = torch.randn_like(output)
    zero = module.forward(torch.zeros(3, 4))
    wanted = ((outputs - zero) * gradOutput).flatten(1).sum(1).view(3, 4)
    for _ in range(2):
        found = module.backward(x, gradOutput)
        torch.testing.assert_close(found, wanted)
        assert found.is_contiguous()
    with pytest.raises((RuntimeError, IndexError)):
        module.updateGradInput(x, torch.ones(1))


def test_gradients_that_do_not_fit_are_refused() -> None:
    x, mask = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.uint8)
    masked = nn.MaskedSelect()
    masked.forward([x, mask])
    with pytest.raises(ValueError, match="gradOutput has 5 elements; 6 are accepted"):
        masked.updateGradInput([x, mask], torch.ones(5))
    with pytest.raises((RuntimeError, IndexError)):
        nn.Index(1).updateGradInput([x, torch.tensor([1, 3])], torch.ones(2, 3))


def test_settings_may_change_between_passes() -> None:
    module, x = nn.Narrow(1, 1, 2), numbers(4)
    assert module.forward(x).tolist() == [1, 2]
    module.index = 3
    assert module.updateGradInput(x, torch.ones(2)).tolist() == [0, 0, 1, 1]
    assert module.forward(x).tolist() == [3, 4]
