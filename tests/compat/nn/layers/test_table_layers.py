"""Table layers: what the recordings do not show."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.tables import assert_as_pytorch, two

from compat import nn, t7


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (nn.JoinTable(1), lambda a, b: torch.cat([a, b], 0)),
        (nn.JoinTable(-1), lambda a, b: torch.cat([a, b], -1)),
        (nn.JoinTable(1, 1), lambda a, b: torch.cat([a, b], 1)),
        (nn.SelectTable(-1), lambda a, b: b),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_results_are_pytorchs(module: nn.Module, function: Any) -> None:
    assert_as_pytorch(module, function, two(3, 4))


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
        (nn.SelectTable(3), [torch.ones(2)], "input is a table of 1; one with entry 3"),
        (nn.NarrowTable(2, 2), [torch.ones(2)] * 2, "one with entries 2 to 3"),
        (nn.SplitTable(4), torch.ones(2, 2), "2 dimensions; one that has dimension 4"),
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


def test_gradients_of_joined_tensors_have_memory_of_their_own() -> None:
    module, input = nn.JoinTable(2), two(3, 4)
    gradOutput = torch.randn(3, 8)
    module.forward(input)
    found = module.backward(input, gradOutput)
    for own, other in zip(found, gradOutput.split(4, 1), strict=True):
        assert torch.equal(own, other) and own.is_contiguous()
    found[0].zero_()
    assert gradOutput.ne(0).all()


def test_slices_are_the_memory_of_the_input() -> None:
    module, input = nn.SplitTable(2), torch.zeros(3, 2)
    module.forward(input)[1].fill_(1)
    assert input.tolist() == [[0, 1]] * 3
    # A gradient may have another shape, and be missing.
    found = module.updateGradInput(input, [torch.ones(3, 1), None])
    assert found.tolist() == [[1, 0]] * 3 and found.is_contiguous()
    with pytest.raises(RuntimeError):
        module.updateGradInput(input, [torch.ones(1), torch.ones(1)])
    with pytest.raises(RuntimeError):
        module.updateGradInput(input, [torch.ones(3)])


def test_what_is_not_selected_has_zeros_as_gradients() -> None:
    input = [torch.ones(1), [torch.ones(2), torch.ones(3)], torch.ones(4)]
    gradOutput = torch.full((4,), 2.0)
    module = nn.SelectTable(-1)
    module.forward(input)
    first, [second, third], last = module.backward(input, gradOutput)
    assert [first.tolist(), second.tolist(), third.tolist()] == [[0], [0, 0], [0, 0, 0]]
    assert torch.equal(last, gradOutput) and last is not gradOutput
    assert nn.NarrowTable(2, 0).forward(input) == []
    narrowed = nn.NarrowTable(2, 2)
    assert narrowed.forward(input)[1] is input[2]
    gradients = [[torch.ones(2), torch.ones(3)], gradOutput]
    found = narrowed.backward(input, gradients)
    assert found[0].tolist() == [0] and found[1] is gradients[0] and found[2] is gradOutput


def test_gradients_of_nested_tables_have_their_structure() -> None:
    input = [torch.ones(1), [torch.ones(2), [torch.ones(3)]]]
    module = nn.FlattenTable()
    gradients = [2 * entry for entry in module.forward(input)]
    found = module.backward(input, gradients)
    assert found[0] is gradients[0] and found[1][0] is gradients[1]
    assert found[1][1][0] is gradients[2]
    with pytest.raises(ValueError, match="gradOutput is a table of 2; a table of 3 is accepted"):
        module.updateGradInput(input, gradients[:2])


def test_one_that_is_paired_with_many_gets_the_sum() -> None:
    input = [torch.ones(2), two(3)]
    module = nn.ZipTableOneToMany()
    module.forward(input)
    gradients = [[torch.ones(2), torch.ones(3)], [torch.full((2,), 2.0), torch.zeros(3)]]
    found = module.backward(input, gradients)
    assert found[0].tolist() == [3, 3] and found[1][1] is gradients[1][1]
