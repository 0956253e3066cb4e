"""Package rnn against what Lua computed; tests/golden/rnn/README.md says what was recorded."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.golden_data import load, parts
from support.tensors import here

import compat.nn as nn
from compat import random, t7
from compat.tensor_tables import tensors

RECORDED = load("rnn", "recurrent")


pytestmark = [pytest.mark.usefixtures("double_by_default"), pytest.mark.devices(1)]


def cases(section: str) -> Any:
    """The numbers of the cases, so that each test reads its own net."""
    found = RECORDED[section]
    names = [case.get("name") or case.get("make") or case.get("class") or "" for case in found]
    return pytest.mark.parametrize(
        ("section", "number"), [(section, i) for i in range(len(found))], ids=names
    )


@pytest.fixture
def case(section: str, number: int) -> Any:
    return t7.loads(parts("rnn", "recurrent", section)[number], plain=True)


def assert_same(value: Any, other: Any) -> None:
    torch.testing.assert_close(list(tensors(value)), list(tensors(other)), rtol=1e-9, atol=1e-12)


@cases("seeds")
def test_the_same_seed_makes_the_same_module(case: Any) -> None:
    python = {"nil": "None", "false": "False"}
    make = case["make"]
    for lua, ours in python.items():
        make = make.replace(lua, ours)
    random.manualSeed(7)
    assert_same(eval(make, {"nn": nn}).parameters()[0], case["params"])


def check_pass(case: Any, net: Any) -> None:
    here(net).zeroGradParameters()  # Lua's WeightNorm leaves one as it is
    assert_same(net.forward(here(case["input"])), case["output"])
    given = here(case["input"]), here(case["gradOutput"])
    assert_same(net.backward(*given), case["gradInput"])
    assert_same(net.parameters()[1], case["gradParams"])


@cases("masked")
def test_rows_of_zeros(case: Any) -> None:
    check_pass(case, case["net"])


@cases("masked")
def test_rows_of_zeros_in_two_steps(case: Any) -> None:
    net, given = here(case["net"]), (here(case["input"]), here(case["gradOutput"]))
    net.zeroGradParameters()
    net.forward(given[0])
    net.updateGradInput(*given)
    net.accGradParameters(*given, 0.5)
    assert_same(net.parameters()[1], [g / 2 for g in case["gradParams"]])


@cases("unrun")
def test_a_gradInput_that_lua_has_not_made_is_not_switched_off(case: Any) -> None:
    check_pass(case, t7.loads(t7.dumps(case["net"])))


@cases("tensor")
def test_a_sequence_that_is_a_tensor(case: Any) -> None:
    check_pass(case, case["net"])


# An LSTM forgets when it is moved, as in Torch7.
@pytest.mark.cpus(1)
@cases("memory")
@pytest.mark.parametrize("way", ["loaded", "saved", "cloned"])
def test_the_memory_stays(case: Any, way: str) -> None:
    net = case["net"]
    if way == "saved":
        net = t7.loads(t7.dumps(net))
    elif way == "cloned":
        net = net.clone()
    for x, y in zip(case["inputs"], case["outputs"], strict=True):
        assert_same(net.forward(x), y)
        # In the middle of what it does itself, too.
        if way == "saved":
            net = t7.loads(t7.dumps(net))
        elif way == "cloned":
            net = net.clone()
    if hasattr(net, "step"):
        assert net.step == 5


@cases("losses")
def test_losses_of_sequences(case: Any) -> None:
    input, target = here(case["input"]), here(case["target"])
    made = nn.SequencerCriterion(nn.MSECriterion(), case["average"])
    for criterion in (case["criterion"], t7.loads(t7.dumps(case["criterion"])), made):
        here(criterion)
        assert criterion.forward(input, target) == pytest.approx(case["output"], rel=1e-12)
        assert_same(criterion.backward(input, target), case["gradInput"])
        listed = criterion.backward(list(input), list(target))
        assert_same(torch.stack(listed), case["gradInput"])


@cases("shared")
def test_gradients_of_shared_modules_after_an_update(case: Any) -> None:
    sizes = (3, 3, 1) if case["class"] == "TemporalConvolution" else (3, 3)
    first = nn.CMul(3) if case["class"] == "CMul" else getattr(nn, case["class"])(*sizes)
    second = first.clone().share(first, *case["names"])
    net = nn.Sequential(first, nn.Tanh(), second)
    for p, start, gradient in zip(
        net.parameters()[0], case["params0"], net.parameters()[1], strict=True
    ):
        p.copy_(start)
        gradient.fill_(0.5)
    here(net).forward(here(case["input"]))
    net.backwardUpdate(here(case["input"]), here(case["gradOutput"]), 0.1)
    assert_same(net.parameters()[0], case["params1"])
    assert_same(net.parameters()[1], case["gradParams"])
