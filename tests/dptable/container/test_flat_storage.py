"""Flat storage with a container in it: the optimizer's, the parent's and its own stay one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.tensors import equal, on
from torch import Tensor

from compat import accelerators, cutorch, nn, random
from compat.tensor_types import type_name
from dptable import DataParallelTable

INPUT = torch.randn(5, 3)


pytestmark = pytest.mark.devices(4)


@pytest.fixture(autouse=True)
def seeded_for_lua() -> None:
    random.manualSeed(1)


def mlp() -> Any:
    return nn.Sequential().add(nn.Linear(3, 4)).add(nn.Tanh()).add(nn.Linear(4, 2))


def close(actual: Any, wanted: Any) -> None:
    # In double too: both have been rounded to float on the way.
    torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-5)


def convert(net: Any, dtype: torch.dtype) -> Any:
    """The net in a type, where it is."""
    cuda = accelerators.holds(net.parameters()[0][0])
    return net.type(type_name(dtype, cuda))


class Case:
    """A container in the midst of a net, a twin without container, and what was handed out."""

    def __init__(self, flat: bool, threads: bool) -> None:
        self.bare = nn.Sequential().add(nn.Linear(3, 3)).add(mlp()).add(nn.Linear(2, 2))
        inner = self.bare.get(2).clone()
        self.dpt = DataParallelTable(1, flat).add(inner, [1, 2, 3])
        if threads:
            self.dpt.threads()
        self.net = nn.Sequential().add(self.bare.get(1).clone()).add(self.dpt)
        self.net.add(self.bare.get(3).clone())
        self.net.move(cutorch.device(1))
        self.held: list[tuple[Any, tuple[Tensor, Tensor]]] = []

    def flatten(self, one: Any) -> None:
        self.held.append((one, one.getParameters()))

    def train(self) -> None:
        """A step on the flat tensor that was handed out first, or without."""
        for net in (self.bare, self.net):
            input = INPUT.to(net.parameters()[0][0])
            net.zeroGradParameters()
            net.forward(input)
            net.backward(input, net.output.clone())  # towards zero, so that nothing grows
        close(self.net.output, self.bare.output)
        close(self.net.parameters(), self.bare.parameters())
        whole = [flat for one, flat in self.held if one is self.net]
        if whole:
            x, dx = whole[0]
            x -= 0.01 * dx
        else:
            self.net.updateParameters(0.01)
        self.bare.updateParameters(0.01)

    def check(self) -> None:
        close(self.net.parameters()[0], self.bare.parameters()[0])
        for one, flat in self.held:
            for tensor, parts in zip(flat, one.parameters(), strict=True):
                assert torch.equal(tensor, torch.cat([p.flatten() for p in parts]))
                storage = tensor.untyped_storage().data_ptr()
                assert {p.untyped_storage().data_ptr() for p in parts} == {storage}
        self.train()
        own = self.dpt.flattenedParams
        if self.dpt.flattenParams:
            assert own is not None
            for i, replica in enumerate(self.dpt.exec(lambda m, i: m)):
                for tensor, parts in zip(own[i], replica.parameters(), strict=True):
                    storage = tensor.untyped_storage().data_ptr()
                    assert {p.untyped_storage().data_ptr() for p in parts} == {storage}
            # On one device every replica uses the first one's parameters.
            assert len({flat[0].data_ptr() for flat in own}) == len({f[0].device for f in own})

    def run(self, operation: str) -> None:
        both = (self.net, self.bare)
        actions: dict[str, Callable[[], Any]] = {
            "parent": lambda: self.flatten(self.net),
            "container": lambda: self.flatten(self.dpt),
            "tower": lambda: self.flatten(self.dpt.get(1)),
            "layer": lambda: self.flatten(self.dpt.get(1).get(3)),
            "train": self.train,
            "double": lambda: [convert(net, torch.float64) for net in both],
            "float": lambda: [convert(net, torch.float32) for net in both],
            "apply": lambda: self.dpt.apply(lambda m: None),
            "apply to all": lambda: self.net.apply(lambda m: None),
            "threads": self.dpt.threads,
            "close": self.dpt.close,
            "flatten": self.dpt.flattenParameters,
            "drop": lambda: self.held and self.held.pop(0),
            "clone": lambda: self.net.clone().forward(INPUT.to(self.net.parameters()[0][0])),
        }
        actions[operation]()


OPERATIONS = ["parent", "container", "tower", "layer", "train", "double", "float", "apply"]
OPERATIONS += ["apply to all", "threads", "close", "flatten", "drop", "clone"]


@given(
    operations=st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=8),
    flat=st.booleans(),
    threads=st.booleans(),
)
def test_nothing_is_ever_stale(operations: list[str], flat: bool, threads: bool) -> None:
    case = Case(flat, threads)
    try:
        for operation in operations:
            case.run(operation)
            case.check()
    finally:
        case.dpt.close()


ORDERS = [
    ["parent", "container"],
    ["container", "parent"],
    ["train", "container", "parent", "train"],
    ["train", "parent", "container", "parent"],
    ["container", "double", "parent", "float", "train"],
    ["parent", "double", "apply", "container", "train"],
    ["layer", "tower", "container", "parent", "double"],
]


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_any_order(order: list[str], flat: bool, threads: bool) -> None:
    test_nothing_is_ever_stale.hypothesis.inner_test(order, flat, threads)  # type: ignore[attr-defined]


@pytest.fixture
def case() -> Iterator[Case]:
    case = Case(True, False)
    yield case
    case.dpt.close()


def test_a_container_is_converted_out_of_its_parents_flat_tensor(case: Case) -> None:
    case.flatten(case.net)
    case.check()
    case.held.clear()
    convert(case.dpt, torch.float64)
    assert {p.dtype for p in case.dpt.parameters()[0]} == {torch.float64}
    assert case.net.get(1).weight.dtype == torch.float32


def test_a_type_that_a_container_refuses_changes_nothing_around_it(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(dpt: DataParallelTable, name: str) -> None:
        raise ValueError("not on these devices")

    with monkeypatch.context() as refusing:
        refusing.setattr(DataParallelTable, "accept_type", refuse)
        with pytest.raises(ValueError, match="not on these devices"):
            convert(case.net, torch.float64)
    assert {p.dtype for p in case.net.parameters()[0]} == {torch.float32}
    case.check()


def test_parameters_shared_with_the_net_around(case: Case) -> None:
    """They lie apart in the parent's tensor: the container then goes on one by one."""
    tied = nn.Linear(4, 2)
    tied.share(case.dpt.get(1).get(3), "weight", "gradWeight")
    head = nn.Sequential().add(nn.Linear(3, 4)).add(tied)
    net = nn.Concat(2).add(head).add(case.dpt)
    net.move(cutorch.device(1))
    x, dx = net.getParameters()
    for _ in range(2):
        net.zeroGradParameters()
        net.forward(on(1, INPUT))
        net.backward(on(1, INPUT), on(1, torch.ones(5, 4)))
        x -= 0.1 * dx
    assert tied.weight.data_ptr() == case.dpt.get(1).get(3).weight.data_ptr()
    assert case.dpt.flattenedParams is None
    storages = {p.untyped_storage().data_ptr() for p in (x, *net.parameters()[0])}
    assert len(storages) == 1


@pytest.mark.freed_at_once
@pytest.mark.parametrize("threads", [False, True])
def test_the_containers_own_flat_tensor_is_in_nobodys_way(threads: bool) -> None:
    case = Case(True, threads)
    case.train()
    case.dpt.get(1).get(1).gradWeight = None
    convert(case.dpt, torch.float64)
    convert(case.dpt, torch.float32)
    case.dpt.forward(INPUT)
    for tower in (case.dpt.get(1), case.bare.get(2)):
        tower.get(1).gradWeight = torch.zeros_like(tower.get(1).weight)
    case.dpt.forward(INPUT)
    for tower in (case.dpt.get(1), case.bare.get(2)):
        tower.insert(nn.Sigmoid(), 1)
        tower.remove(4)
        tower.insert(nn.Mul(), 4)
        tower.get(4).weight.fill_(0.5)
        random.manualSeed(3)
        tower.add(nn.Linear(4, 2))
    case.dpt.get(1).move(cutorch.device(1))
    case.flatten(case.net)
    case.check()
    case.dpt.close()


def moved(net: Any) -> Any:
    net.move(cutorch.device(1))
    return net


# How scripts of Lua's come to the flat tensors of a net that is made on the CPU.
ORDERS_OF_A_SCRIPT: dict[str, Callable[[], tuple[Any, Any]]] = {
    "the container's": lambda: _with_flat(DataParallelTable(1).add(mlp(), [1, 2])),
    "the net's, moved before": lambda: _around(_with_flat(moved(mlp()))),
    "the net's, on the CPU": lambda: _around(_with_flat(mlp())),
    "the net's, in the container": lambda: _of_tower(DataParallelTable(1).add(mlp(), [1, 2])),
    "a net's around": lambda: _with_flat(
        nn.Sequential().add(DataParallelTable(1).add(mlp(), [1, 2])).add(nn.LogSoftMax())
    ),
    "a larger net's, moved before": lambda: _with_flat(
        moved(nn.Sequential().add(nn.Linear(3, 3)).add(DataParallelTable(1).add(mlp(), [1, 2])))
    ),
}


def _with_flat(net: Any) -> tuple[Any, Any]:
    return net, net.getParameters()


def _around(given: tuple[Any, Any]) -> tuple[Any, Any]:
    return DataParallelTable(1).add(given[0], [1, 2]), given[1]


def _of_tower(dpt: Any) -> tuple[Any, Any]:
    return dpt, dpt.get(1).getParameters()


@pytest.mark.parametrize("order", ORDERS_OF_A_SCRIPT)
def test_flat_tensors_of_a_script_are_trained_on_its_devices(order: str) -> None:
    net, (x, dx) = ORDERS_OF_A_SCRIPT[order]()
    input = on(1, INPUT)
    for _ in range(2):
        net.zeroGradParameters()
        net.forward(input)
        net.backward(input, torch.ones_like(net.output))
        assert dx.any() and x.device == cutorch.device(1)
        assert torch.equal(dx, torch.cat([g.flatten() for g in net.parameters()[1]]))
        before = net.output.clone()
        x -= 0.1 * dx
    net.forward(input)
    assert not torch.equal(net.output, before)


def test_a_flat_tensor_goes_along_with_the_whole_net_alone() -> None:
    if cutorch.device(1).type == "cpu":
        pytest.skip("on CPUs nothing moves")
    dpt = DataParallelTable(1).add(mlp(), [1, 2])
    net = nn.Sequential().add(nn.Linear(3, 3)).add(dpt)
    x, _ = net.getParameters()
    wanted = net.parameters()[0][0].clone()
    net.move(cutorch.device(1))
    assert x.device == cutorch.device(1) and equal(net.parameters()[0][0], wanted)
    assert net.forward(on(1, torch.randn(5, 3))).device == cutorch.device(1)


def test_a_device_that_takes_no_memory_of_the_cpus_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As backends outside PyTorch's tree are, before they say otherwise."""
    if cutorch.device(1).type == "cpu":
        pytest.skip("on CPUs nothing moves")
    monkeypatch.setattr(torch, "_has_compatible_shallow_copy_type", lambda one, other: False)
    net = mlp()
    with pytest.raises(RuntimeError, match="PyTorch gives no tensor of cpu memory there in place"):
        net.move(cutorch.device(1))
    assert {p.device.type for p in net.parameters()[0]} == {"cpu"}
