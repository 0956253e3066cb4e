"""Nets of files in which objects hold each other as no net does: all walks end, or none begins."""

from __future__ import annotations

import operator
import pickle
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

import dptable  # noqa: F401  # registers its classes
from compat import nn, t7
from compat.nn.core import walk_limits
from compat.nn.graph.drawing import diagram

Make = Callable[[list[Any]], Any]


def plain(typename: str, **fields: Any) -> t7.TorchObject:
    usual = {"_type": "torch.FloatTensor", "output": torch.zeros(0), "gradInput": torch.zeros(0)}
    return t7.TorchObject(typename, 1, {**usual, "train": True, **fields})


def layer() -> t7.TorchObject:
    return plain("nn.Linear", weight=torch.ones(2, 2), bias=torch.ones(2))


# Each makes an object that holds others.
HOLDERS: dict[str, Make] = {
    "Sequential": lambda held: plain("nn.Sequential", modules=held),
    "ConcatTable": lambda held: plain("nn.ConcatTable", modules=held),
    "ParallelTable": lambda held: plain("nn.ParallelTable", modules=held),
    "Bottle": lambda held: plain("nn.Bottle", modules=held, dimDelta=0, nInputDim=2),
    "MaskZero": lambda held: plain("nn.MaskZero", modules=held, nInputDim=1),
    "Recursor": lambda held: plain("nn.Recursor", modules=held, rho=9, step=1),
    "unknown container": lambda held: plain("no.Container", modules=held),
    "unknown module": lambda held: plain("no.Module", more={"list": held}),
    "DataParallelTable": lambda held: t7.TorchObject(
        "nn.DataParallelTable", 3, {"modules": held, "flattenedParams": [1]}, [[1]]
    ),
}
WALKS: dict[str, Callable[[Any], Any]] = {
    **{name: operator.methodcaller(name) for name in ("parameters", "listModules", "to_torch")},
    **{name: operator.methodcaller(name) for name in ("double", "clone", "clearState", "evaluate")},
    **{name: operator.methodcaller(name) for name in ("zeroGradParameters", "getParameters")},
    "apply": operator.methodcaller("apply", id),
    "replace": operator.methodcaller("replace", lambda module: module),
    "findModules": operator.methodcaller("findModules", "nn.Linear"),
    "named_modules": lambda net: list(net.named_modules()),
    "repr": repr,
    "diagram": diagram,
    "save": t7.dumps,
}


def walk_all_ways(net: Any) -> None:
    for name, walk in WALKS.items():
        try:
            walk(net)
        except RecursionError:
            raise AssertionError(f"{name} without end") from None
        except (ValueError, TypeError, AttributeError, IndexError, KeyError):
            pass  # such a net may lack what this takes


def drawn(chance: random.Random) -> Any:
    """Up to 60 objects that hold others, those of before or any."""
    size, cyclic = chance.randint(1, 60), chance.random() < 0.3
    reach = chance.choice((1, 3, 60))
    tables: list[list[Any]] = []
    objects: list[Any] = [layer()]
    for _ in range(size):
        held = [chance.choice(objects[-reach:]) for _ in range(chance.choice((1, 1, 2, 2, 3)))]
        tables.append(held)
        objects.append(HOLDERS[chance.choice(list(HOLDERS))](held))
    if cyclic:
        for _ in range(chance.randint(1, 3)):
            chance.choice(tables)[0] = chance.choice(objects)
    return objects[-1]


@given(st.integers(0, 1 << 32))
@settings(max_examples=examples(40))
def test_walks_through_any_net_of_a_file_end(number: int) -> None:
    try:
        net = t7.loads(t7.dumps(drawn(random.Random(number))))
    except t7.T7Error as error:
        assert "\n" not in str(error)
        return
    if isinstance(net, nn.Module):
        met = len(net.listModules())
        assert met < 20_000
        if met < 500:  # else it takes long
            walk_all_ways(net)


@pytest.mark.parametrize("kind", HOLDERS)
def test_what_lies_twice_in_each_level_is_refused(kind: str) -> None:
    net = layer()
    for _ in range(40):
        net = HOLDERS["Sequential"]([HOLDERS[kind]([net, net])] * 2)
    with pytest.raises(t7.T7Error, match="bytes more, expected at most"):
        t7.loads(t7.dumps(net))


@pytest.mark.parametrize("kind", HOLDERS)
def test_a_net_that_lies_in_itself_is_refused_with_its_place(kind: str) -> None:
    held: list[Any] = [layer()]
    inner = HOLDERS[kind](held)
    net = HOLDERS["Sequential"]([layer(), HOLDERS["Sequential"]([inner])])
    held[0] = net
    if kind.startswith("unknown"):
        walk_all_ways(t7.loads(t7.dumps(net)))  # what is around it does not count as held
        return
    refused = r"in nn\.Sequential\[2\] nn\.Sequential.*: found a nn\.Sequential inside itself"
    with pytest.raises(t7.T7Error, match=refused):
        t7.loads(t7.dumps({"model": [net]}))
    assert t7.loads(t7.dumps(net), raw=True).typename == "nn.Sequential"


@pytest.mark.parametrize("kind", HOLDERS)
def test_walks_go_as_deep_as_nets_of_files_do(kind: str) -> None:
    # Between two of these there are tables, too.
    deepest = walk_limits.DEEPEST // 2 if kind == "unknown module" else walk_limits.DEEPEST - 1
    for levels, fits in ((deepest, True), (2 * walk_limits.DEEPEST, False)):
        net = layer()
        for _ in range(levels):
            net = HOLDERS[kind]([net])
        if fits and kind != "DataParallelTable":
            walk_all_ways(t7.loads(t7.dumps(net)))
        elif not fits:
            with pytest.raises(t7.T7Error):
                t7.loads(t7.dumps(net))


def test_criterions_that_hold_each_other() -> None:
    loss: Any = plain("nn.MSECriterion", sizeAverage=True)
    for _ in range(40):
        held = {"criterions": [loss, loss], "weights": [1, 1]}
        loss = plain("nn.MultiCriterion", **held)
    with pytest.raises(t7.T7Error, match="bytes more"):
        t7.loads(t7.dumps(loss))
    loss.fields["criterions"] = [loss]
    with pytest.raises(t7.T7Error, match=r"found a nn\.MultiCriterion inside itself"):
        t7.loads(t7.dumps(loss))


def test_many_unknown_modules_that_all_know_their_net_are_looked_at_once() -> None:
    """In proportion to the square of their number, this would take minutes."""
    held: list[Any] = []
    net = plain("nn.Sequential", modules=held)
    held += [plain("no.Module", parent=net) for _ in range(1500)]
    loaded = t7.loads(t7.dumps(net))
    assert len(loaded.listModules()) == 1501


@pytest.fixture
def pythons_own_depth() -> Iterator[None]:
    """Have the depth that Python begins with; drafts of Lua programs that ran have set another."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("pythons_own_depth")
def test_a_net_of_python_that_has_no_end_is_told_with_its_place() -> None:
    """With a place for each level, the error would take time as the square of their number."""
    deep: nn.Module = nn.Linear(2, 2)
    for _ in range(2000):
        deep = nn.Sequential(deep)
    around = nn.Sequential(nn.Linear(2, 2), inner := nn.Bottle(nn.Linear(2, 2)))
    inner.modules[0] = around
    places = {
        r"nn\.Sequential\[1\] .*…1894 more… .*: more than 100 modules in each other": deep,
        r"nn\.Sequential\[2\] nn\.Bottle: a nn\.Sequential inside itself": around,
    }
    forward = operator.methodcaller("forward", torch.ones(1, 2))
    for place, net in places.items():
        for name, walk in {"forward": forward, **WALKS}.items():
            if name == "save" or (net is around and name in ("double", "clone")):
                walk(net)
                continue
            started = time.perf_counter()
            with pytest.raises(RecursionError, match=f"^{place}") as caught:
                walk(net)
            assert len(str(caught.value)) < 300
            assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
            assert time.perf_counter() - started < 5


def test_a_recursion_that_is_none_of_the_net_stays_what_it_is() -> None:
    def again(module: Any) -> None:
        again(module)

    with pytest.raises(RecursionError, match="maximum recursion depth"):
        nn.Sequential(nn.Linear(2, 2)).apply(again)
