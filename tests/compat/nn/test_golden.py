"""Every module, criterion and net does what Lua Torch7 recorded."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.each import each
from support.nn_golden import (
    FIXES,
    FOLDERS,
    TOLERANCES,
    assert_close,
    at_path,
    case_names,
    construct,
    each_case,
    expected,
    is_nothing,
    load_case,
    recorded_classes,
    restored,
    tolerance,
)
from support.paths import GOLDEN
from support.tensors import here

import compat.nn as nn
from compat import accelerators, cutorch, optim, random, t7
from compat.tensor_tables import tensors

pytestmark = pytest.mark.usefixtures("double_by_default")


@each_case("nn", "composite", "dpnn")
def test_module_is_constructed_as_in_torch7(which: tuple[str, str, str]) -> None:
    case = load_case(*which)
    module = construct(case)
    parameters = module.parameters()[0]
    recorded = case.get("params0", [])
    assert len(parameters) == len(recorded)
    for parameter, value in zip(parameters, recorded, strict=True):
        assert parameter.dtype == value.dtype
        assert torch.equal(parameter, value)
    if "module" in case:
        assert repr(restored(case, "module")) == repr(module)


# Work space that Lua makes when it is missing.
MADE_BY_LUA = {"IndexLinear": {"lkeys", "lvalues", "gradInput"}, "DontCast": {"_type"}}


@each_case("nn", "dpnn")
def test_new_module_is_saved_with_the_fields_of_torch7(which: tuple[str, str, str]) -> None:
    case = load_case(*which)
    if "module" not in case or not case.get("cleared", True):
        return
    written = t7.loads(t7.dumps(construct(case).clearState()), raw=True).fields
    recorded = load_case(*which, raw=True)["module"].fields
    for name in MADE_BY_LUA.get(case["class"], ()):
        recorded.pop(name, None)
    forms = {name: form(value) for name, value in recorded.items()}
    assert {name: form(written.get(name)) for name in recorded} == forms


def form(value: Any) -> Any:
    """What Lua's code depends on: the kind of a field, and the value of a plain one."""
    if isinstance(value, (bool, int, float, str)):
        return value
    return getattr(value, "typename", None) or type(value)


@pytest.mark.devices(1)
@each_case("nn", "composite", "dpnn")
def test_module_computes_as_in_torch7(which: tuple[str, str, str]) -> None:
    case = load_case(*which)
    module, close = here(restored(case, "module")), tolerance(case)
    module.evaluate() if case["mode"] == "evaluate" else module.training()
    given = here(case["input"])
    if "forwardSeed" in case:
        random.manualSeed(case["forwardSeed"])
        if accelerators.is_accelerator(cutorch.device(1)):
            goes_through(module, given, case)
            return

    assert_close(module.forward(given), expected(case, "output"), close, "output")
    if "noise" in case:
        noise = getattr(module, "randomSamples" if hasattr(module, "randomSamples") else "noise")
        assert_close(noise.expand_as(case["noise"]), expected(case, "noise"), 0, "noise")
    for path, value in (expected(case, "buffers") or {}).items():
        assert_close(at_path(module, path), value, close, path)
    if "reward" in case:
        module.reinforce(here(case["reward"]))
    if "gradOutput" in case:
        go_back(module, given, case)
    for name, value in case.get("extra", {}).items():
        assert_close(getattr(module, name), value, close, name)


def goes_through(module: Any, given: Any, case: dict[str, Any]) -> None:
    """Forward and backward where a device draws random numbers of its own: sizes are compared."""
    outputs = zip(tensors(module.forward(given)), tensors(case["output"]), strict=True)
    assert all(output.shape == recorded.shape for output, recorded in outputs)
    if "reward" in case:
        module.reinforce(here(case["reward"]))
    if "gradOutput" in case:
        module.zeroGradParameters()
        module.backward(given, here(case["gradOutput"]))


def go_back(module: Any, given: Any, case: dict[str, Any]) -> None:
    """Backward and an update, compared with the recording."""
    close = tolerance(case)
    module.zeroGradParameters()
    gradInput = module.backward(given, here(case["gradOutput"]), case["scale"])
    wanted = expected(case, "gradInput")
    if wanted is None:
        assert is_nothing(gradInput)
    else:
        assert_close(gradInput, wanted, close, "gradInput")
    if "gradParams" in case:
        assert_close(module.parameters()[1], expected(case, "gradParams"), close, "gradParams")
        module.updateParameters(0.1)
        assert_close(module.parameters()[0], expected(case, "params1"), close, "params1")


@pytest.mark.devices(1)
@each_case("criterion", "dpnn_criterion")
@pytest.mark.parametrize("source", ["constructed", "restored"])
def test_criterion_computes_as_in_torch7(source: str, which: tuple[str, str, str]) -> None:
    case = load_case(*which)
    criterion = construct(case) if source == "constructed" else restored(case, "criterion")
    criterion = here(criterion)
    given, target, close = here(case["input"]), here(case.get("target")), tolerance(case)
    arguments = (given,) if isinstance(criterion, nn.Module) else (given, target)
    assert_close(criterion.forward(*arguments), expected(case, "output"), close, "output")
    if "gradInput" in case:
        gradInput = (
            criterion.backward(*arguments, 1)
            if isinstance(criterion, nn.Module)
            else criterion.backward(*arguments)
        )
        assert_close(gradInput, expected(case, "gradInput"), close, "gradInput")
    if "reward" in case:
        assert_close(criterion.module.reward, case["reward"], close, "reward")


@pytest.mark.devices(1)
@pytest.mark.parametrize(
    ("name", "case_name"),
    [(n, c) for n, c in case_names("composite") if "trajectory" in load_case("composite", n, c)],
)
def test_training_goes_as_in_torch7(name: str, case_name: str) -> None:
    case = load_case("composite", name, case_name)
    net, close, recorded = here(restored(case, "module")), tolerance(case), case["trajectory"]
    net.evaluate() if case["mode"] == "evaluate" else net.training()
    flat, gradient = net.getParameters()
    criterion, state = here(recorded["criterion"]), {}
    losses = []

    def step(x: torch.Tensor) -> tuple[float, torch.Tensor]:
        gradient.zero_()
        given, target = here(case["input"]), here(recorded["target"])
        loss = criterion.forward(net.forward(given), target)
        net.backward(given, criterion.backward(net.output, target))
        return loss, gradient

    for _ in range(10):
        _, [loss] = optim.sgd(step, flat, recorded["config"], state)
        losses.append(loss)

    # Rounding differences grow with the steps.
    close *= 100
    assert_close(torch.tensor(losses), recorded["losses"], close, "losses")
    assert_close(flat, recorded["flat"], close, "parameters")
    assert_close(state, recorded["optimState"], close, "state")
    for path, value in recorded.get("buffers", {}).items():
        assert_close(at_path(net, path), value, close, path)


def test_stochastic_gradient_trains_as_in_torch7(capsys: pytest.CaptureFixture[str]) -> None:
    [(_, case_name)] = [c for c in case_names("composite") if c[0] == "StochasticGradient"]
    case = load_case("composite", "StochasticGradient", case_name)
    recorded = case["stochasticGradient"]
    trainer = nn.StochasticGradient(case["module"], recorded["criterion"])
    for name, value in recorded["config"].items():
        setattr(trainer, name, value)
    trainer.shuffleIndices = False
    errors: list[float] = []
    trainer.hookIteration = lambda self, iteration, error: errors.append(error)
    trainer.train(recorded["dataset"])
    assert_close(torch.tensor(errors), recorded["errors"], 1e-9, "errors")
    assert_close(case["module"].parameters()[0], recorded["params"], 1e-9, "parameters")


# Coverage.


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_listed_class_is_recorded_and_nothing_else(folder: str) -> None:
    listed = recorded_classes()[folder]
    assert {path.stem for path in (GOLDEN / folder).glob("*.t7")} == set(listed)
    found = case_names(folder)
    assert {name: sum(n == name for n, _ in found) for name in listed} == listed


@each("name", {folder: list(recorded_classes()[folder]) for folder in ("nn", "criterion")})
def test_every_recorded_class_exists(name: str) -> None:
    assert getattr(nn, name).typename == f"nn.{name}"


def test_differences_name_recorded_cases() -> None:
    known = {(n, c) for folder in FOLDERS for n, c in case_names(folder)}
    names = {n for n, _ in known}
    for table in (FIXES, TOLERANCES):
        for name, entries in table.items():
            assert name in names
            assert all(c == "*" or (name, c) in known for c in entries)
