"""Table layers: what the recordings do not show."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from compat import nn, random, t7


def two(*size: int) -> list[Tensor]:
    return [torch.randn(size), torch.randn(size)]


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (nn.CAddTable(), lambda a, b: a + b),
        (nn.CSubTable(), lambda a, b: a - b),
        (nn.CMulTable(), lambda a, b: a * b),
        (nn.CDivTable(), lambda a, b: a / b),
        (nn.CMaxTable(), torch.maximum),
        (nn.CMinTable(), torch.minimum),
        (nn.JoinTable(1), lambda a, b: torch.cat([a, b], 0)),
        (nn.JoinTable(-1), lambda a, b: torch.cat([a, b], -1)),
        (nn.JoinTable(1, 1), lambda a, b: torch.cat([a, b], 1)),
        (nn.MM(False, True), lambda a, b: a @ b.t()),
        (nn.DotProduct(), lambda a, b: (a * b).sum(1)),
        (nn.CosineDistance(), torch.cosine_similarity),
        (nn.SelectTable(-1), lambda a, b: b),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_results_are_pytorchs(module: nn.Module, function: Any) -> None:
    input = two(3, 4)
    leaves = [t.clone().requires_grad_() for t in input]
    wanted = function(*leaves)
    torch.testing.assert_close(module.forward(input), wanted)
    gradOutput = torch.randn(wanted.shape)
    wanted.backward(gradOutput)
    for found, leaf in zip(module.backward(input, gradOutput), leaves, strict=True):
        torch.testing.assert_close(found, torch.zeros(3, 4) if leaf.grad is None else leaf.grad)


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


@pytest.mark.parametrize("p", [1.5, 1.0, 2, 3])
def test_gradients_of_distances_are_derivatives(p: float) -> None:
    first, second = (t.double().requires_grad_() for t in two(4, 3))
    module = nn.PairwiseDistance(p).double()
    output = module.forward([first.detach(), second.detach()])
    wanted = (first - second).abs().pow(p).sum(1).pow(1 / p)
    torch.testing.assert_close(output, wanted)
    wanted.sum().backward()
    gradInput = module.backward([first.detach(), second.detach()], torch.ones(4).double())
    torch.testing.assert_close(gradInput[0], first.grad, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradInput[1], second.grad, rtol=1e-5, atol=1e-6)


def test_equal_vectors_have_a_finite_gradient() -> None:
    input = [torch.ones(2, 3), torch.ones(2, 3)]
    module = nn.PairwiseDistance(2)
    module.forward(input)
    assert module.backward(input, torch.ones(2))[0].eq(0).all()
    random.manualSeed(1)
    module = nn.PairwiseDistance(1)
    module.forward(input)
    assert module.backward(input, torch.ones(2))[0].abs().eq(1).all()


def test_mixtures_take_experts_as_a_table_or_a_tensor() -> None:
    gater, experts = torch.randn(4, 3).softmax(1), torch.randn(4, 3, 5)
    wanted = torch.einsum("ne,nef->nf", gater, experts)
    torch.testing.assert_close(nn.MixtureTable().forward([gater, experts]), wanted)
    torch.testing.assert_close(nn.MixtureTable(2).forward([gater, list(experts.unbind(1))]), wanted)
    last = experts.transpose(1, 2)
    torch.testing.assert_close(nn.MixtureTable(3).forward([gater, last]), wanted)


@given(st.integers(1, 3), st.integers(1, 4))
def test_splitting_and_joining_undo_each_other(dimension: int, size: int) -> None:
    input = torch.randn(size, 2, 3)
    parts = nn.SplitTable(dimension).forward(input)
    assert len(parts) == input.size(dimension - 1)
    views = [part.unsqueeze(dimension - 1) for part in parts]
    assert torch.equal(nn.JoinTable(dimension).forward(views), input)


def test_zipping_twice_gives_the_tables_back() -> None:
    input = [[torch.zeros(1), torch.ones(1)], [torch.ones(2), torch.zeros(2)], two(3)]
    module = nn.ZipTable()
    again = nn.ZipTable().forward(module.forward(input))
    for entries, others in zip(input, again, strict=True):
        assert all(map(torch.equal, entries, others))


def test_selecting_by_key() -> None:
    input = {"a": torch.ones(2), "b": torch.zeros(3)}
    module = nn.SelectTable("b")
    assert module.forward(input) is not None
    gradInput = module.backward(input, torch.ones(3))
    assert gradInput["a"].eq(0).all()
    assert gradInput["b"].eq(1).all()


@pytest.mark.parametrize(
    ("module", "input", "message"),
    [
        (nn.CAddTable(), [], "input is a table of 0"),
        (nn.CSubTable(), [torch.ones(2)] * 3, "a table of 3; a table of 2"),
        (nn.CAddTable(), [torch.ones(2), torch.ones(3)], r"input\[2\] has size \(3,\)"),
        (nn.SelectTable(3), [torch.ones(2)], "input is a table of 1; one with entry 3"),
        (nn.NarrowTable(2, 2), [torch.ones(2)] * 2, "one with entries 2 to 3"),
        (nn.SplitTable(4), torch.ones(2, 2), "2 dimensions; one that has dimension 4"),
        (
            nn.MM(),
            [torch.ones(2, 3), torch.ones(2, 3)],
            "; m x k and k x n, in batches of one size",
        ),
        (nn.MM(), [torch.ones(2, 3), torch.ones(1, 2, 3)], r"input\[2\] has 3 dimensions"),
        (nn.MV(), [torch.ones(2, 3), torch.ones(2)], "; m x k and k, in batches of one size"),
        (nn.DotProduct(), [torch.ones(2, 3), torch.ones(3)], "equal ones are accepted"),
        (nn.PairwiseDistance(), [torch.ones(1, 1, 1)] * 2, "3 dimensions; 1 or 2"),
        (
            nn.MixtureTable(),
            [torch.ones(2), [torch.ones(1)]],
            "1 experts; one for each of the gater's 2 outputs",
        ),
        (nn.ZipTable(), [[torch.ones(1)], []], r"input\[2\] is a table of 0"),
        (nn.FlattenTable(), torch.ones(1), "input is a Tensor; a table"),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_wrong_inputs_are_named(module: nn.Module, input: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError, IndexError), match=message) as caught:
        module.forward(input)
    assert str(caught.value).startswith(f"{module}: ")


def test_the_parts_of_a_vector_are_vectors_of_one() -> None:
    net = nn.Sequential().add(nn.SplitTable(1)).add(nn.JoinTable(1))
    input = torch.tensor([1.0, 2, 3])
    assert torch.equal(net.forward(input), input)
    assert [part.shape for part in net.get(1).output] == [(1,)] * 3
    assert torch.equal(net.backward(input, 2 * input), 2 * input)


@pytest.mark.parametrize("make", [nn.JoinTable, nn.SplitTable, nn.SelectTable, nn.NarrowTable])
def test_counting_from_zero_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="count from 1, as in Torch7"):
        make(0)


def test_files_hold_tables_where_lua_expects_them() -> None:

    for module in (nn.JoinTable(1), nn.CAddTable(), nn.MV(), nn.FlattenTable(), nn.ZipTable()):
        fields = module.t7_fields()
        assert isinstance(fields["gradInput"], list)
    assert len(nn.MV().t7_fields()["gradInput"]) == 2
    assert isinstance(nn.JoinTable(1).t7_fields()["size"], t7.Storage)
    assert nn.FlattenTable().t7_fields()["output"] == []
