"""Passes by a plan: what a net computed last time, without asking its modules again."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.nn_golden import case_names, copied, load_case, restored
from support.tensors import randn
from torch import Tensor

from compat import nn, random
from compat.nn.core.module import deterministic
from compat.nn.core.plan import Plans
from compat.tensor_tables import map_tensors

pytestmark = pytest.mark.usefixtures("double_by_default")


@pytest.fixture(autouse=True, params=[True, False], ids=["without a graph", "with one"])
def direct(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether passes by a plan go without a graph."""
    monkeypatch.setattr(Plans, "direct", request.param)
    return bool(request.param)


def net() -> Any:
    return nn.Sequential(nn.Identity(), nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


def step(module: Any, input: Any) -> Any:
    """A pass there and back; all that comes of it."""
    module.zeroGradParameters()
    output = copied(module.forward(input))
    gradOutput = map_tensors(
        lambda t: torch.sin(t.detach()) if t.is_floating_point() else t, output
    )
    gradInput = copied(module.backward(input, gradOutput))
    return [output, gradInput, [copied(g) for g in module.parameters()[1] if g is not None]]


def is_planned(module: Any) -> bool:
    return bool(module.latest_tape.calls)


def planned(module: Any, input: Any) -> Any:
    """``module`` after as many passes as it takes to have a plan."""
    for _ in range(4):
        step(module, input)
    assert is_planned(module)
    return module


def unplanned(module: Any) -> Any:
    """A copy that never has a plan."""
    twin = module.clone()
    twin.__dict__["_plans"] = _Never()
    return twin


class _Never(Plans):
    def get(self, kind: Any, root: dict[str, Any]) -> int:
        return -1


def cases() -> list[Any]:
    """One recorded case of each class in each mode."""
    chosen = {}
    for name, case in case_names("nn"):
        key = (name, "evaluate" in case)
        if "float" not in case and key not in chosen:
            chosen[key] = pytest.param(name, case, id=f"{name}-{case}")
    return list(chosen.values())


def _changed(tensor: Tensor) -> Tensor:
    """Other values, unless they are numbers of something."""
    values = tensor.is_floating_point() and not (tensor % 1 == 0).all()
    return tensor * 0.75 if values else tensor


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(("name", "case"), cases())
def test_every_module_computes_the_same(name: str, case: str, keep: bool) -> None:
    recorded = load_case("nn", name, case)
    if "gradOutput" not in recorded:
        return
    module = nn.Sequential(nn.Identity(), restored(recorded, "module"), nn.Identity())
    module.keepResults(keep)
    found = []
    for each in (unplanned(module), module):
        input = copied(recorded["input"])
        found.append([])
        for i in range(4):
            random.manualSeed(i)
            torch.manual_seed(i)
            found[-1].append(step(each, input))
            random.manualSeed(i)
            torch.manual_seed(i)
            if i == 3:
                # What is inside, too.
                found[-1] += [copied(m.output) for m in each.listModules()]
                random.manualSeed(i)
                found[-1] += [copied(m.gradInput) for m in each.listModules()]
            if name != "SparseLinear":  # whose keys are numbers as its values are
                input = map_tensors(_changed, copied(input))
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=0, equal_nan=True)


def test_results_inside_before_and_after_backward() -> None:
    module = planned(net(), randn(6, 4))
    twin = unplanned(module)
    input, gradOutput = randn(6, 4), randn(6, 3)
    module.forward(input)
    twin.forward(input)
    assert is_planned(module) and not is_planned(twin)
    for i in (1, 2, 3):
        assert torch.equal(module.get(i).output, twin.get(i).output)
    module.backward(input, gradOutput)
    twin.backward(input, gradOutput)
    for i in (1, 2, 3, 4):
        assert torch.equal(module.get(i).gradInput, twin.get(i).gradInput)
        assert torch.equal(module.get(i).output, twin.get(i).output)


def test_the_gradient_inside_is_of_one_way_where_the_net_branches(direct: bool) -> None:
    # Without a view of its own, the Identity's output would be the input, with both gradients.
    branches = nn.ConcatTable().add(nn.Identity()).add(nn.MulConstant(3))
    module = nn.Sequential(nn.Linear(4, 4), branches, nn.CAddTable())
    input, gradOutput = randn(2, 4), randn(2, 4)
    planned(module, input)
    module.forward(input)
    assert module.latest_tape.bare is not direct
    module.backward(input, gradOutput, 0.5)
    assert torch.equal(branches.get(1).gradInput, gradOutput)
    torch.testing.assert_close(branches.gradInput, 4 * gradOutput)


def test_a_module_inside_goes_back_alone() -> None:
    module = planned(net(), randn(6, 4))
    twin = unplanned(module)
    input, gradient = randn(6, 4), randn(6, 5)
    found = []
    for each in (module, twin):
        each.zeroGradParameters()
        each.forward(input)
        hidden = each.get(2)
        found.append([hidden.backward(each.get(1).output, gradient), hidden.gradWeight.clone()])
    torch.testing.assert_close(found[0], found[1])


CHANGES: dict[str, Callable[[Any], Any]] = {
    "another module": lambda net: net.modules.__setitem__(2, nn.Sigmoid()),
    "one more": lambda net: net.add(nn.Tanh()),
    "one less": lambda net: net.remove(),
    "another weight": lambda net: setattr(net.get(2), "weight", randn(5, 4)),
    "another weight behind its back": lambda net: vars(net.get(2)).update(weight=net.get(2).weight),
    "other values": lambda net: net.get(2).weight.fill_(0.5),
    "no bias": lambda net: net.get(2).noBias(),
    "frozen": lambda net: setattr(net.get(2), "gradWeight", None),
    "frozen by its tensor": lambda net: setattr(net.get(2).weight, "grad", None),
    "no gradInput": lambda net: setattr(net.get(3), "gradInput", None),
    "flat": lambda net: net.getParameters(),
    "float": lambda net: net.float().double(),
    "cleared inside": lambda net: net.get(2).clearState(),
    "used alone": lambda net: net.get(2).forward(randn(3, 4)),
    "own method": lambda net: setattr(
        net.get(3),
        "updateOutput",
        lambda input: setattr(net.get(3), "output", 2 * input) or 2 * input,
    ),
    "nothing": lambda net: None,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.filterwarnings("ignore:the gradInput of nn.Tanh is None")
def test_changes_are_seen(change: str) -> None:
    input = randn(6, 4)
    module = planned(net(), input)
    if change != "own method":
        CHANGES[change](module)
        expected = step(unplanned(module), input)
        torch.testing.assert_close(step(module, input), expected)
        torch.testing.assert_close(step(module, input), expected)
    else:
        CHANGES[change](module)
        hidden = module.get(2).forward(input)
        assert torch.equal(module.forward(input), module.get(4).forward(2 * hidden))


def test_a_class_that_computes_otherwise_from_now_on(monkeypatch: pytest.MonkeyPatch) -> None:
    input = randn(6, 4)
    module = planned(net(), input)
    monkeypatch.setattr(nn.Tanh, "compute", lambda self, input: 0 * input)
    assert torch.equal(module.forward(input), module.get(4).bias.expand(6, 3))


def test_modes_and_kinds_of_input_have_plans_of_their_own() -> None:
    module = nn.Sequential(nn.Linear(4, 5), nn.BatchNormalization(5), nn.View(-1))
    inputs = [randn(6, 4), randn(7, 4), randn(4, 6).t()]
    twin = unplanned(module)
    for _ in range(4):
        for input in inputs:
            torch.testing.assert_close(step(module, input), step(twin, input))
    assert is_planned(module)
    module.evaluate()
    twin.evaluate()
    for _ in range(4):
        with torch.no_grad():
            torch.testing.assert_close(module.forward(inputs[0]), twin.forward(inputs[0]))
    assert is_planned(module)
    with torch.autocast("cpu", torch.bfloat16):
        plain = nn.Sequential(nn.Linear(4, 5), nn.Tanh()).float()
        for _ in range(4):
            assert plain.forward(inputs[0].float()).dtype == torch.bfloat16
    assert plain.forward(inputs[0].float()).dtype == torch.float32


def test_many_kinds_of_input_come_and_go() -> None:
    module = net()
    twin = unplanned(module)
    for rows in [*range(1, 30), *range(1, 30)]:
        input = randn(rows, 4)
        torch.testing.assert_close(step(module, input), step(twin, input))


class _ByValue(nn.Module):
    """Goes one way or another."""

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input * 2 if input.sum() > 0 else input * 3


class _OfSomeShape(nn.Module):
    """The number of its rows depends on values."""

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        chosen = input[input[:, 0] > 0]
        return chosen.sum(0) / chosen.size(0)


class _Counting(nn.Module):
    """Has a number that it goes on with."""

    count = 0

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        self.count = self.count + 1
        return input * self.count


class _Remembering(nn.Module):
    """Adds what it had before."""

    last: Any = 0.0

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        output = input + self.last
        self.last = input.detach() * 1
        return output


class _Unmarked(nn.Module):
    """Says nothing of itself."""

    calls = 0

    def compute(self, input: Tensor) -> Tensor:
        type(self).calls += 1
        return input * 2


class _Overwriting(nn.Module):
    """Writes over what its first operation gave."""

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return (input * 2).add_(1)


@pytest.mark.parametrize(
    "cls", [_ByValue, _OfSomeShape, _Counting, _Remembering, _Unmarked, _Overwriting]
)
def test_classes_of_ones_own(cls: Any) -> None:
    module = nn.Sequential(nn.Linear(4, 4), cls(), nn.Tanh())
    twin = unplanned(module)
    for sign in (1, 1, 1, -1, 1, -1):
        input = sign * randn(5, 4).abs()
        torch.testing.assert_close(step(module, input), step(twin, input), equal_nan=True)
    assert is_planned(module) == (cls is _Overwriting)


PARTS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "noise": (lambda: nn.Dropout(0.5), lambda: randn(5, 4)),
    "in place": (lambda: nn.ReLU(True), lambda: randn(5, 4)),
    "a gradient of its own": (nn.GradientReversal, lambda: randn(5, 4)),
    "memory": (lambda: nn.Sequencer(nn.Linear(4, 4)), lambda: [randn(5, 4), randn(5, 4)]),
    "checks of values": (lambda: nn.LookupTable(9, 4), lambda: torch.randint(1, 9, (3, 2))),
}


@pytest.mark.parametrize("part", PARTS)
def test_what_has_no_plan_goes_as_ever(part: str) -> None:
    make, input = PARTS[part]
    module = nn.Sequential(make())
    twin = unplanned(module)
    for i in range(4):
        given = input()
        found = []
        for each in (module, twin):
            random.manualSeed(i)
            found.append(step(each, copied(given)))
        torch.testing.assert_close(*found)


def test_an_error_is_told_as_ever() -> None:
    module = nn.Sequential(nn.Linear(4, 5), nn.Tanh())
    planned(module, randn(6, 4))
    module.get(1).weight.data = randn(5, 3)
    with pytest.raises(ValueError, match=r"nn.Sequential\[1\] nn.Linear.*input has 4 features"):
        module.forward(randn(6, 4))
    module.get(1).weight.data = randn(5, 4)
    assert module.forward(randn(6, 4)).shape == (6, 5)


def test_a_net_with_a_plan_goes_when_it_is_dropped() -> None:
    module = planned(net(), randn(6, 4))
    weight = weakref.ref(module.get(2).weight)
    gc.disable()
    try:
        del module
        assert weight() is None
    finally:
        gc.enable()


def test_a_clone_has_plans_of_its_own() -> None:
    input = randn(6, 4)
    module = planned(net(), input)
    clone = module.clone()
    module.get(2).weight.zero_()
    assert not torch.equal(step(clone, input)[0], step(module, input)[0])
    torch.testing.assert_close(step(clone, input), step(unplanned(clone), input))


def test_modules_in_two_nets_belong_to_who_went_last() -> None:
    shared = nn.Linear(4, 4)
    one, other = nn.Sequential(shared, nn.Tanh()), nn.Sequential(shared, nn.Sigmoid())
    first, second = randn(2, 4), randn(3, 4)
    planned(one, first)
    planned(other, second)
    for _ in range(2):
        one.forward(first)
        assert shared.output.shape == (2, 4)
        other.forward(second)
        assert shared.output.shape == (3, 4)
        assert torch.equal(shared.output, unplanned(shared).forward(second))


def test_results_left_in_fields() -> None:
    pool = nn.SpatialMaxPooling(2, 2)
    module = nn.Sequential(nn.Tanh(), pool, nn.SpatialMaxUnpooling(pool))
    planned(module, randn(1, 4, 4))
    input = randn(1, 4, 4)
    module.forward(input)
    assert is_planned(module)
    twin = unplanned(module)
    twin.forward(input)
    assert torch.equal(pool.indices, twin.get(2).indices)
    assert torch.equal(module.output, twin.output)
