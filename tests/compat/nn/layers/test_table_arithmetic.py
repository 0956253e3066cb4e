"""Arithmetic of the entries of a table: what the recordings do not show."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.tables import assert_as_pytorch, two
from torch import Tensor

from compat import nn


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (nn.CAddTable(), lambda a, b: a + b),
        (nn.CSubTable(), lambda a, b: a - b),
        (nn.CMulTable(), lambda a, b: a * b),
        (nn.CDivTable(), lambda a, b: a / b),
        (nn.CMaxTable(), torch.maximum),
        (nn.CMinTable(), torch.minimum),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_results_are_pytorchs(module: nn.Module, function: Any) -> None:
    assert_as_pytorch(module, function, two(3, 4))


@given(st.integers(1, 4), st.booleans())
def test_sums_take_any_number_of_entries(count: int, ip: bool) -> None:
    input = [torch.randn(2, 3) for _ in range(count)]
    first, wanted = input[0], torch.stack(input).sum(0)
    output = nn.CAddTable(ip).forward(input)
    torch.testing.assert_close(output, wanted)
    assert (output.data_ptr() == first.data_ptr()) == ip


def test_entries_of_another_shape_are_added_element_by_element() -> None:
    output = nn.CAddTable().forward([torch.ones(2, 3), torch.arange(6.0)])
    assert torch.equal(output, torch.arange(1.0, 7).reshape(2, 3))


@pytest.mark.parametrize("module", [nn.CMaxTable(), nn.CMinTable()], ids=repr)
def test_of_equal_entries_the_first_gets_the_gradient(module: nn.Module) -> None:
    input = [torch.zeros(3), torch.zeros(3), torch.zeros(3)]
    module.forward(input)
    gradInput = module.backward(input, torch.ones(3))
    assert [g.tolist() for g in gradInput] == [[1] * 3, [0] * 3, [0] * 3]


def test_mixtures_take_experts_as_a_table_or_a_tensor() -> None:
    gater, experts = torch.randn(4, 3).softmax(1), torch.randn(4, 3, 5)
    wanted = torch.einsum("ne,nef->nf", gater, experts)
    torch.testing.assert_close(nn.MixtureTable().forward([gater, experts]), wanted)
    torch.testing.assert_close(nn.MixtureTable(2).forward([gater, list(experts.unbind(1))]), wanted)
    last = experts.transpose(1, 2)
    torch.testing.assert_close(nn.MixtureTable(3).forward([gater, last]), wanted)


@pytest.mark.parametrize(
    ("module", "input", "message"),
    [
        (nn.CAddTable(), [], "input is a table of 0"),
        (nn.CSubTable(), [torch.ones(2)] * 3, "a table of 3; a table of 2"),
        (nn.CAddTable(), [torch.ones(2), torch.ones(3)], r"input\[2\] has size \(3,\)"),
        (
            nn.MixtureTable(),
            [torch.ones(2), [torch.ones(1)]],
            "1 experts; one for each of the gater's 2 outputs",
        ),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_wrong_inputs_are_named(module: nn.Module, input: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError, IndexError), match=message) as caught:
        module.forward(input)
    assert str(caught.value).startswith(f"{module}: ")


def memories(*tensors: Tensor) -> set[int]:
    return {tensor.untyped_storage().data_ptr() for tensor in tensors}


@pytest.mark.parametrize(
    "module", [nn.CAddTable(), nn.CSubTable(), nn.CMulTable(), nn.CDivTable(), nn.CMaxTable()]
)
def test_each_gradient_has_memory_of_its_own(module: nn.Module) -> None:
    input, gradOutput = two(3, 4), torch.randn(4, 3).t()
    module.forward(input)
    found = module.backward(input, gradOutput)
    assert len(memories(*found, *input, gradOutput)) == 5
    assert all(gradient.is_contiguous() for gradient in found)


def test_a_sum_in_place_goes_into_the_slices_of_a_tensor() -> None:
    net = nn.Sequential().add(nn.SplitTable(1)).add(nn.CAddTable(True))
    input = torch.arange(6.0).view(3, 2)
    output = net.forward(input)
    assert output.tolist() == input[0].tolist() == [6, 9]
    assert net.backward(input, torch.tensor([1.0, 2.0])).tolist() == [[1, 2]] * 3


def test_gradients_of_a_sum_in_place_are_the_gradOutput() -> None:
    module, input, gradOutput = nn.CAddTable(True), two(2, 3), torch.randn(2, 3)
    module.forward(input)
    found = module.backward(input, gradOutput)
    assert memories(*found) == memories(gradOutput)
    module.inplace = False
    assert memories(gradOutput).isdisjoint(memories(*module.backward(input, gradOutput)))


def test_a_product_with_zeros_has_gradients() -> None:
    input = [torch.tensor([0.0, 2]), torch.tensor([3.0, 0]), torch.tensor([5.0, 7])]
    module = nn.CMulTable()
    module.forward(input)
    found = module.backward(input, torch.ones(2))
    assert [g.tolist() for g in found] == [[15, 0], [0, 14], [0, 0]]


@pytest.mark.parametrize(("module", "wanted"), [(nn.CMaxTable(), 2), (nn.CMinTable(), 1)])
def test_a_nan_is_larger_and_smaller_than_nothing(module: nn.Module, wanted: float) -> None:
    input = [torch.tensor([1.0, torch.nan]), torch.tensor([torch.nan, 1]), torch.tensor([2.0, 2])]
    output = module.forward(input)
    assert output[0] == wanted and output[1].isnan()
    found = module.backward(input, torch.ones(2))
    assert [g[1].item() for g in found] == [1, 0, 0]


@given(st.booleans(), st.booleans())
def test_gradients_of_mixtures_are_derivatives(as_batch: bool, as_table: bool) -> None:
    batch = [4] if as_batch else []
    leaves = [torch.randn(*batch, 3), torch.randn(*batch, 3, 5)]
    leaves = [leaf.double().requires_grad_() for leaf in leaves]
    wanted = torch.einsum("...e,...ef->...f", *leaves)
    gradOutput = torch.randn_like(wanted)
    gater, experts = (leaf.detach() for leaf in leaves)
    module = nn.MixtureTable().double()
    input = [gater, list(experts.unbind(-2)) if as_table else experts]
    torch.testing.assert_close(module.forward(input), wanted.detach())
    of_gater, of_experts = module.backward(input, gradOutput)
    found = [of_gater, torch.stack(of_experts, -2) if as_table else of_experts]
    for own, other in zip(found, torch.autograd.grad(wanted, leaves, gradOutput), strict=True):
        torch.testing.assert_close(own, other)


@pytest.mark.parametrize("size", [(1,), (3, 4), (13,)])
@pytest.mark.parametrize("module", [nn.CAddTable(), nn.CMulTable(), nn.CMaxTable()], ids=repr)
def test_a_gradOutput_of_another_size_is_refused(module: nn.Module, size: Any) -> None:
    input = two(2, 3)
    module.forward(input)
    with pytest.raises(RuntimeError):
        module.updateGradInput(input, torch.ones(size))
