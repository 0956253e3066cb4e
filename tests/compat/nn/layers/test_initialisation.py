"""Initial parameters and noise, to the bit, and how many random words they take (golden/rng)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from support import golden_data, lua
from torch import Tensor

from compat import nn, random
from compat.tensor_types import parse_type

INITIAL = golden_data.load_cases("rng", "nn_init")
NOISE = golden_data.load_cases("rng", "nn_stochastic")
NET = """nn.Sequential():add(nn.SpatialConvolution(1, 2, 3, 3)):add(nn.SpatialBatchNormalization(2))
:add(nn.ReLU()):add(nn.View(-1):setNumInputDims(3)):add(nn.Linear(8, 3))
:add(nn.ConcatTable():add(nn.Linear(3, 2)):add(nn.Linear(3, 1)))
:add(nn.ParallelTable():add(nn.PReLU()):add(nn.CMul(1))):add(nn.JoinTable(2))"""


def label(case: dict[str, Any]) -> str:
    text = case.get("describe") or f"{case['class']}{tuple(case['args'] or ())}"
    kind = case.get("default_type") or case["type"]
    modes = [name for name in ("oldSeed", "evaluate") if case.get(name)]
    return " ".join([text[:40], kind[6:-6], *modes])


@contextmanager
def default_type(name: str) -> Iterator[torch.dtype]:
    before, dtype = torch.get_default_dtype(), parse_type(name)[0]
    torch.set_default_dtype(dtype)
    try:
        yield dtype
    finally:
        torch.set_default_dtype(before)


def construct(case: dict[str, Any]) -> nn.Module:
    if case["class"] == "nn.Sequential":
        return lua.evaluate(NET, {"nn": nn}, {})
    if case.get("describe"):
        return lua.evaluate(re.sub(r" \(.*", "", case["describe"]), {"nn": nn}, {})
    return getattr(nn, case["class"][3:])(*(case["args"] or ()))


def same(actual: Tensor, expected: Tensor) -> bool:
    return actual.dtype == expected.dtype and torch.equal(actual.reshape(expected.shape), expected)


def check_parameters(module: nn.Module, expected: list[Tensor], after: dict[str, float]) -> None:
    parameters = module.parameters()[0]
    assert len(parameters) == len(expected or [])
    assert all(map(same, parameters, expected or []))
    check_draws(after)


def check_draws(after: dict[str, float]) -> None:
    """As many words were drawn, and the normal distribution left as much behind."""
    drawn = {"random": random.random(), "normal": random.normal(), "uniform": random.uniform()}
    assert drawn == after


@pytest.mark.parametrize("case", INITIAL, ids=label)
def test_initial_parameters_are_torch7s(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nn, "oldSeed", case["oldSeed"])
    with default_type(case["default_type"]):
        random.manualSeed(case["seed"])
        module = construct(case)
        check_parameters(module, case["parameters"], case["after"])
        for name, arguments in (("reset", [case["reset_stdv"]]), ("reset_noarg", [])):
            random.manualSeed(case["reset_seed"])
            module.reset(*arguments)
            check_parameters(module, case[f"{name}_parameters"], case[f"{name}_after"])


@pytest.mark.parametrize("case", NOISE, ids=label)
def test_noise_is_torch7s(case: dict[str, Any]) -> None:
    with default_type(case["type"]):
        module = getattr(nn, case["class"][3:])(*(case["args"] or ()))
        module.evaluate() if case["evaluate"] else module.training()
        random.manualSeed(case["seed"])
        given = case["input"].clone()
        assert same(module.forward(given), case["output1"])
        assert same(given, case.get("input_after", case["input"]))
        for field in ("noise", "randomSamples"):
            if f"{field}1" in case:
                assert same(getattr(module, field), case[f"{field}1"])
        assert same(module.forward(case["input"].clone()), case["output2"])
        check_draws(case["after"])


def test_a_bias_of_several_dimensions_is_drawn_within_the_root_of_its_first() -> None:
    random.manualSeed(5)
    module = nn.Add([4, 25])
    random.manualSeed(5)
    assert same(module.bias, random.uniform_(torch.empty(4, 25), -0.5, 0.5))
    x = torch.randn(3, 4, 25)
    assert torch.equal(module.forward(x), x + module.bias)


def test_a_net_reset_leaves_alone_what_has_no_reset_in_torch7() -> None:
    net = nn.Sequential().add(nn.PartialLinear(4, 3)).add(nn.WeightNorm(nn.Linear(3, 2)))
    partial, normed = net.modules
    before = [p.clone() for p in (*partial.parameters()[0], normed.v, normed.g)]
    net.reset()
    assert all(map(torch.equal, before, (*partial.parameters()[0], normed.v, normed.g)))
    assert normed.bias.abs().sum() > 0


@pytest.mark.parametrize(
    "case",
    golden_data.load("rng", "nn_init")["tables"],
    ids=lambda case: f"{case['fn']}{case['args']}",
)
def test_connection_tables_are_torch7s(case: dict[str, Any]) -> None:
    random.manualSeed(case["seed"])
    with default_type("torch.DoubleTensor"):
        table = getattr(nn.tables, case["fn"].rpartition(".")[2])(*case["args"])
    assert same(table, case["value"])
    check_draws(case["after"])
