"""Flat storage: one tensor for all parameters, and nothing that is ever stale."""

from __future__ import annotations

import io
import pickle
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from compat import nn
from compat.nn.core.flat_storage import InUse, flatten, side_by_side


def mlp() -> Any:
    return nn.Sequential().add(nn.Linear(3, 4)).add(nn.Tanh()).add(nn.Linear(4, 2))


def numbers(tensors: list[Tensor]) -> list[float]:
    return [value for tensor in tensors for value in tensor.flatten().tolist()]


def is_flat(net: Any, x: Tensor, dx: Tensor) -> None:
    """``x`` and ``dx`` are the parameters and gradients of ``net``, not copies of them."""
    for flat, tensors in zip((x, dx), net.parameters(), strict=True):
        assert numbers([flat]) == numbers(tensors)
        storages = {t.untyped_storage().data_ptr() for t in (flat, *tensors)}
        assert len(storages) == 1
        assert {t.dtype for t in tensors} == {flat.dtype}


# What is flattened, and in which order.


def test_parameters_become_views_of_one_tensor() -> None:
    net = mlp()
    before = numbers(net.parameters()[0])
    tensors = net.parameters()[0]
    x, dx = net.getParameters()
    assert numbers([x]) == before and x.is_contiguous() and not x.requires_grad
    assert all(a is b for a, b in zip(net.parameters()[0], tensors, strict=True))
    is_flat(net, x, dx)
    x.zero_()
    assert not any(p.any() for p in net.parameters()[0])
    net.get(1).weight.fill_(2)
    assert (x[:12] == 2).all()


def test_backward_and_update_work_on_the_flat_tensors() -> None:
    net, bare = mlp(), mlp()
    for p, q in zip(net.parameters()[0], bare.parameters()[0], strict=True):
        p.copy_(q)
    x, dx = net.getParameters()
    input, gradOutput = torch.randn(5, 3), torch.randn(5, 2)
    for _ in range(3):
        for trained in (net, bare):
            trained.zeroGradParameters()
            trained.forward(input)
            trained.backward(input, gradOutput)
        x -= 0.1 * dx
        bare.updateParameters(0.1)
        is_flat(net, x, dx)
    torch.testing.assert_close(net.parameters(), bare.parameters())


def test_a_second_call_moves_nothing() -> None:
    net = mlp()
    x, dx = net.getParameters()
    again = net.getParameters()
    assert [t.data_ptr() for t in again] == [x.data_ptr(), dx.data_ptr()]


def test_shared_parameters_are_there_once() -> None:
    first = nn.Linear(3, 3)
    names = ("weight", "bias", "gradWeight", "gradBias")
    net = nn.Sequential().add(first).add(first.clone(*names)).add(first).add(nn.Linear(3, 2))
    x, dx = net.getParameters()
    assert len(x) == len(dx) == 12 + 8
    x[0] = 7
    assert [net.get(i).weight[0, 0].item() for i in (1, 2, 3)] == [7, 7, 7]


def test_parts_of_a_storage_keep_the_order_of_their_first_appearance() -> None:
    # Torch7 groups parameters by storage, in the order in which storages first appear.
    def parts(held: Tensor) -> list[Tensor]:
        return [held[0:4].view(2, 2), torch.full((2, 2), 50.0), held[8:12].view(2, 2)]

    parameters, gradients = parts(torch.arange(12.0)), parts(torch.arange(12.0))
    for flat in flatten(parameters, gradients):
        assert flat.tolist() == [0, 1, 2, 3, 8, 9, 10, 11, 50, 50, 50, 50]
    assert [p[0, 0].item() for p in parameters] == [0, 50, 8]


def test_dense_tensors_keep_their_strides() -> None:
    linear = nn.Linear(3, 2)
    values = torch.randn(3, 2).t()
    linear.weight = values
    x, _ = linear.getParameters()
    assert linear.weight.stride() == values.stride()
    torch.testing.assert_close(linear.weight, values)
    assert x[:6].tolist() == values.t().flatten().tolist()


def test_a_net_without_parameters() -> None:
    assert [t.numel() for t in nn.Tanh().getParameters()] == [0, 0]


def test_parameters_without_elements() -> None:
    empty = nn.Linear(1, 2)
    empty.weight = torch.empty(2, 0)
    net = nn.Sequential().add(empty).add(nn.Linear(2, 2))
    x, dx = net.getParameters()
    assert len(x) == 2 + 6
    is_flat(nn.Sequential().add(net.get(2)), x[2:], dx[2:])
    net.getParameters()
    net.double()
    assert x.dtype == torch.float64


# What cannot be flattened.


def test_refusals_change_nothing() -> None:
    mixed = nn.Sequential().add(nn.Linear(2, 2)).add(nn.Linear(2, 2).double())
    frozen = mlp()
    frozen.get(3).gradBias = None
    expanded = nn.Linear(2, 3)
    expanded.weight = torch.ones(2).expand(3, 2)
    half_shared = nn.Sequential().add(nn.Linear(2, 2)).add(nn.Linear(2, 2))
    half_shared.get(2).share(half_shared.get(1), "weight")
    for net, message in (
        (mixed, r"number 3 of the parameters is torch.float64 on cpu, the first is torch.float32"),
        (frozen, "parameter 4 has no gradient tensor"),
        (expanded, "a tensor without gaps or repetitions is accepted"),
        (half_shared, "check that you are sharing parameters and gradParameters"),
    ):
        places = [t.data_ptr() for t in net.parameters()[0]]
        with pytest.raises(ValueError, match=message):
            net.getParameters()
        assert [t.data_ptr() for t in net.parameters()[0]] == places


def test_gradients_that_are_shared_otherwise() -> None:
    a, b = torch.ones(2), torch.ones(2)
    held = torch.zeros(4)
    for gradients in ([held[:2], held[2:], held[2:]], [held[:2], held[1:3], held[2:]]):
        with pytest.raises(ValueError, match="misaligned parameters"):
            flatten([a, a, b], gradients)
    with pytest.raises(ValueError, match="misaligned parameters"):
        flatten([held[:2], held[1:3], held[2:]], [a, a, b])


# Flat tensors of a part and of the whole.


@pytest.mark.parametrize("part_first", [False, True])
def test_part_and_whole_in_either_order(part_first: bool) -> None:
    net = mlp()
    part = net.get(3)
    held: list[tuple[Any, tuple[Tensor, Tensor]]] = []
    for one in (part, net) if part_first else (net, part):
        held.append((one, one.getParameters()))
    for one, flat in held:
        is_flat(one, *flat)
    assert len({flat[0].untyped_storage().data_ptr() for _, flat in held}) == 1


def test_parts_that_were_flat_before_the_whole() -> None:
    net = mlp()
    flats = [(m, m.getParameters()) for m in (net.get(1), net.get(3), net)]
    larger = nn.Sequential().add(nn.Linear(3, 3)).add(net)
    flats.append((larger, larger.getParameters()))
    for one, flat in flats:
        is_flat(one, *flat)


def test_parts_of_a_storage_that_nobody_has_flattened() -> None:
    # As after loading a file: the parameters share a storage, and no flat tensor is known.
    net = mlp()
    net.getParameters()
    net = net.clone()
    flats = [(m, m.getParameters()) for m in (net.get(3), net.get(1), net)]
    larger = nn.Sequential().add(nn.Linear(3, 3)).add(net)
    flats.append((larger, larger.getParameters()))
    for one, flat in flats:
        is_flat(one, *flat)


def test_a_flat_tensor_in_use_is_not_torn_apart() -> None:
    net = nn.Sequential().add(nn.Linear(2, 2)).add(nn.Linear(2, 2)).add(nn.Linear(2, 2))
    x, dx = net.getParameters()
    ends = nn.Sequential().add(net.get(1)).add(net.get(3))
    with pytest.raises(InUse, match="is in use and cannot stay in one piece"):
        ends.getParameters()
    is_flat(net, x, dx)
    del x, dx
    is_flat(ends, *ends.getParameters())


def test_a_net_that_grows() -> None:
    net = mlp()
    x, _ = net.getParameters()
    net.add(nn.Linear(2, 2))
    larger = net.getParameters()
    is_flat(net, *larger)
    assert x.data_ptr() == larger[0].data_ptr() and len(larger[0]) == len(x) + 6


def test_clones_have_flat_tensors_of_their_own() -> None:
    net = mlp()
    x, _ = net.getParameters()
    clone = net.clone()
    flat = clone.getParameters()
    is_flat(clone, *flat)
    assert flat[0].data_ptr() != x.data_ptr()
    shared = net.clone("weight", "bias")
    x.fill_(3)
    assert set(numbers(shared.parameters()[0])) == {3}
    assert 3 not in numbers(clone.parameters()[0])


# Conversions.


@pytest.mark.parametrize("flat", [False, True])
def test_what_was_pickled_trains_on(flat: bool) -> None:
    """PyTorch leaves gradients out of pickles; a net without them would be frozen."""
    net = mlp()
    net.get(1).gradBias = None
    if flat:
        net.get(3).getParameters()
    input = torch.randn(2, net.get(1).weight.size(1))
    net.forward(input)
    net.backward(input, torch.ones_like(net.output))
    other = pickle.loads(pickle.dumps(net))
    assert other.get(1).gradBias is None
    torch.testing.assert_close(other.parameters(), net.parameters())
    for one in (net, other):
        one.forward(input)
        one.backward(input, torch.ones_like(one.output))
        one.updateParameters(0.1)
    torch.testing.assert_close(other.parameters(), net.parameters())


def test_flat_tensors_are_saved_as_plain_ones() -> None:
    net = mlp()
    file = io.BytesIO()
    torch.save([*net.getParameters(), *net.parameters()[0]], file)
    file.seek(0)
    x, dx, *parameters = torch.load(file, weights_only=True)
    flat = torch.cat([p.flatten() for p in parameters])
    assert torch.equal(x, flat) and torch.equal(dx, net.getParameters()[1])
    assert {p.untyped_storage().data_ptr() for p in parameters} == {x.untyped_storage().data_ptr()}


def test_conversion_takes_the_flat_tensors_along() -> None:
    net = mlp()
    flat, part = net.getParameters(), net.get(3).getParameters()
    for name in ("double", "float", "half", "float"):
        getattr(net, name)()
        is_flat(net, *flat)
        is_flat(net.get(3), *part)


def test_a_flat_tensor_converted_in_part_stays_behind_as_in_torch7() -> None:
    net = mlp()
    x, dx = net.getParameters()
    before = x.clone()
    net.get(3).float()  # nothing changes
    is_flat(net, x, dx)
    net.get(3).double()
    net.get(1).double()  # what was left of it
    net.get(1).weight.fill_(3)
    assert x.dtype == dx.dtype == torch.float32 and torch.equal(x, before)
    is_flat(net.double(), *net.getParameters())


def test_converting_a_part_leaves_flat_tensors_of_others_alone() -> None:
    net = mlp()
    net.getParameters()
    part, other = net.get(3).getParameters(), net.get(1).getParameters()
    net.get(3).double()
    is_flat(net.get(3), *part)
    is_flat(net.get(1), *other)
    assert part[0].dtype == torch.float64 and other[0].dtype == torch.float32
    is_flat(net.float(), *net.getParameters())
    is_flat(net.get(3), *part)
    is_flat(net.get(1), *other)


def test_a_shared_cache_converts_two_objects_as_one() -> None:
    net = mlp()
    flat = net.getParameters()
    cache: dict[Any, Any] = {}
    other = nn.Linear(4, 2)
    other.share(net.get(3), "weight")
    net.type("torch.DoubleTensor", cache)
    other.type("torch.DoubleTensor", cache)
    is_flat(net, *flat)
    flat[0].fill_(5)
    assert (other.weight == 5).all()


# torch.nn modules.


def test_torch_modules_keep_their_parameter_objects() -> None:
    inner = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    net = nn.Sequential().add(inner).add(nn.Linear(2, 2))
    objects = list(inner.parameters())
    flat = net.getParameters()
    assert all(a is b for a, b in zip(inner.parameters(), objects, strict=True))
    is_flat(net, *flat)
    net.double()
    is_flat(net, *flat)
    net.forward(torch.randn(5, 3).double())
    net.backward(torch.randn(5, 3).double(), torch.ones(5, 2).double())
    is_flat(net, *flat)


# Details.


@given(sizes=st.lists(st.integers(0, 5), min_size=1, max_size=6), gap=st.integers(0, 2))
def test_side_by_side(sizes: list[int], gap: int) -> None:
    storage = torch.arange(float(sum(sizes) + gap * len(sizes) + 1))
    tensors, at = [], 1
    for size in sizes:
        tensors.append(storage[at : at + size])
        at += size + gap
    flat = side_by_side(tensors)
    if gap and len([size for size in sizes if size]) > 1:
        assert flat is None
    else:
        assert flat is not None
        assert flat.untyped_storage().data_ptr() == storage.data_ptr()
        assert flat.tolist() == torch.cat(tensors).tolist()


OPERATIONS = ["whole", "part 1", "part 3", "double", "float", "train", "grow", "clone", "drop"]


@given(st.lists(st.sampled_from([*OPERATIONS, "part 3 double", "part 1 float"]), max_size=12))
def test_nothing_is_ever_stale(operations: list[str]) -> None:
    net = mlp()
    held: list[tuple[Any, int, tuple[Tensor, Tensor]]] = []
    for operation in operations:
        before = numbers(net.parameters()[0])
        try:
            if operation == "whole":
                held.append((net, net.size(), net.getParameters()))
            elif operation in ("part 1", "part 3"):
                part = net.get(int(operation[-1]))
                held.append((part, 0, part.getParameters()))
            elif operation in ("double", "float"):
                getattr(net, operation)()
            elif operation.startswith("part"):
                part = net.get(int(operation[5]))
                changes = part.type() != getattr(part, operation[7:])().type()
                if changes:  # those of the whole net stay behind
                    held = [entry for entry in held if entry[0] is not net]
            elif operation == "grow":
                net.add(nn.Linear(2, 2).type(net.get(3).type()))
            elif operation == "clone":
                net.clone().getParameters()
            elif operation == "drop" and held:
                held.pop(0)
            elif operation == "train":
                for _, _, (x, _) in held[-1:]:
                    x += 1
                before = numbers(net.parameters()[0])
        except ValueError as error:
            assert "in use" in str(error) or "one type on one device" in str(error)
        assert numbers(net.parameters()[0])[: len(before)] == pytest.approx(before)
        for one, size, flat in held:
            if size and size != net.size():
                one = nn.Sequential(*net.modules[:size])
            is_flat(one, *flat)


def test_gradients_follow_their_parameters() -> None:
    """A layer was frozen and is trained again: its gradient is a new one."""
    net = nn.Sequential().add(nn.Linear(3, 2)).add(nn.Linear(2, 2)).add(nn.Linear(2, 2))
    before = net.getParameters()[0].clone()
    for layer in net.modules[1:]:
        layer.gradWeight = None
        layer.gradWeight = torch.randn(2, 2)
    wanted = torch.cat([g.flatten() for g in net.parameters()[1]])
    x, dx = net.getParameters()
    assert torch.equal(x, before) and torch.equal(dx, wanted)
    assert {g.untyped_storage().data_ptr() for g in net.parameters()[1]} == {
        dx.untyped_storage().data_ptr()
    }
