from collections import OrderedDict, defaultdict, namedtuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.tensors import equal
from torch.utils import _pytree as pytree

from compat import cutorch
from dptable.scatter_gather import gather, map_tensors, scatter, scatter_kwargs

pytestmark = pytest.mark.devices(8)

Point = namedtuple("Point", "x y")


def batches(n):
    """Structures of tensors whose first dimension is n."""
    leaf = st.builds(lambda *more: torch.randn(n, *more), *[st.integers(0, 3)] * 2) | st.just(
        torch.empty(0, 2)
    )
    return st.recursive(
        leaf,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.builds(Point, inner, inner)
            | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
        ),
        max_leaves=6,
    )


def same(one, other):
    ours, our_spec = pytree.tree_flatten(one)
    theirs, their_spec = pytree.tree_flatten(other)
    return our_spec == their_spec and all(map(equal, ours, theirs))


@given(st.integers(1, 9).flatmap(batches), st.integers(1, 4))
def test_gather_undoes_scatter(batch, n):
    assert same(gather(scatter(batch, range(1, n + 1))), batch)


@given(st.integers(1, 9), st.integers(1, 5), st.data())
def test_every_device_gets_its_slice(size, n, data):
    batch = data.draw(batches(size))
    parts = scatter(batch, [1] * n)
    for i, part in enumerate(parts):
        for tensor, whole in zip(pytree.tree_leaves(part), pytree.tree_leaves(batch), strict=True):
            assert equal(tensor, torch.tensor_split(whole, len(parts))[i])


def test_containers_keep_their_types():
    batch = OrderedDict(
        a=Point(torch.ones(4), [torch.ones(4)]), b=defaultdict(int, c=torch.ones(4))
    )
    _, second = scatter(batch, [1, 2])
    assert type(second) is OrderedDict
    assert type(second["a"]) is Point
    assert second["b"]["missing"] == 0
    assert second["a"].y[0].shape == (2,)


def test_other_objects_go_to_all_devices():
    marker = object()
    assert scatter(("text", marker, 3), [1, 2]) == [("text", marker, 3)] * 2
    assert scatter((torch.ones(1), marker), [1, 2])[0][1] is marker


def test_too_small_a_batch_uses_fewer_devices():
    assert len(scatter({"x": torch.ones(2, 1), "n": 5}, [1, 2, 3, 4])) == 2


def test_sizes_that_reach_different_devices_are_refused():
    with pytest.raises(ValueError, match="tensors of sizes 3 and 1 along dimension 0; sizes that"):
        scatter([torch.ones(3), torch.ones(1)], [1, 2])
    with pytest.raises(ValueError, match="one that has dimension 0"):
        scatter([torch.tensor(1.0)], [1])
    with pytest.raises(ValueError, match="at least one device"):
        scatter(torch.ones(1), [])


def test_scatter_kwargs():
    args, kwargs = scatter_kwargs((torch.arange(3),), {"scale": 2, "y": torch.ones(3)}, [1, 2])
    assert [a[0].tolist() for a in args] == [[0, 1], [2]]
    assert [k["scale"] for k in kwargs] == [2, 2]
    assert kwargs[1]["y"].tolist() == [1]
    assert scatter_kwargs((), None, [1, 2]) == (((), ()), ({}, {}))


def test_gather_of_plain_objects():
    assert gather([(None, "same"), (None, "same")]) == (None, "same")
    assert gather([torch.tensor(1.0), torch.tensor(2.0)]).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([], "at least one structure"),
        ([[1], (1,)], "outputs has a list and a tuple at one place; structures built alike"),
        ([{"a": 1}, {"b": 1}], "same keys"),
        ([[1], [1, 2]], "lists of different lengths; one length"),
        ([1, 2], "outputs has int objects that differ; equal ones"),
    ],
)
def test_outputs_that_do_not_fit(outputs, message):
    with pytest.raises(ValueError, match=message):
        gather(outputs)


def test_gradients_flow_through_both():
    inputs = {"x": torch.randn(5, 2, requires_grad=True)}
    parts = scatter(inputs, [1, 2])
    gather([part["x"] * (i + 1) for i, part in enumerate(parts)]).sum().backward()
    assert inputs["x"].grad[:, 0].tolist() == [1, 1, 1, 2, 2]


def test_map_tensors():
    result = map_tensors(torch.neg, {"a": [torch.ones(1), "text"], "p": Point(torch.ones(1), None)})
    assert result == {"a": [torch.tensor([-1.0]), "text"], "p": Point(torch.tensor([-1.0]), None)}


@pytest.mark.cuda
def test_on_one_gpu_twice():
    cutorch.configure(["cuda:0", "cuda:0"])
    x = torch.randn(1000, 100)
    for source in (x, x.pin_memory(), x.cuda()):
        parts = scatter({"x": source}, [1, 2])
        assert all(part["x"].is_cuda for part in parts)
        assert torch.equal(gather(parts, "cpu")["x"], x)
        assert torch.equal(gather(parts)["x"].cpu(), x)


@pytest.mark.cuda
def test_gradients_reach_the_cpu():
    x = torch.randn(10, 3, requires_grad=True)
    parts = scatter(x, ["cuda:0", "cuda:0"])
    gather([part * 2 for part in parts], "cuda:0").sum().backward()
    assert x.grad.device.type == "cpu"
    assert (x.grad == 2).all()
