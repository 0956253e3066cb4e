"""Passes without a graph: the same numbers as with one, whatever is asked of them."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.nn_golden import copied
from support.tensors import randn
from torch import Tensor

from compat import nn, nngraph
from compat.nn.core.contributions import Contributions
from compat.nn.core.direct import DirectTape
from compat.nn.core.plan import Plans
from compat.tensor_tables import map_tensors, tensors

pytestmark = pytest.mark.usefixtures("double_by_default")


def perceptron() -> Any:
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


def gates(by_tables: bool = False) -> Any:
    """A step of an LSTM, whose gates are parts of one tensor."""
    x, c, h = nn.Identity()(), nn.Identity()(), nn.Identity()()
    sums = nn.CAddTable()([nn.Linear(4, 12)(x), nn.Linear(3, 12)(h)])
    if by_tables:
        parts = nn.SplitTable(2)(nn.Reshape(4, 3)(sums)).split(4)
    else:
        parts = [nn.Narrow(2, 3 * k + 1, 3)(sums) for k in range(4)]
    take, keep, show = (nn.Sigmoid()(part) for part in parts[:3])
    kept, taken = nn.CMulTable()([keep, c]), nn.CMulTable()([take, nn.Tanh()(parts[3])])
    new_c = nn.CAddTable()([kept, taken])
    return nngraph.gModule([x, c, h], [new_c, nn.CMulTable()([show, nn.Tanh()(new_c)])])


def branches() -> Any:
    return nn.Sequential(
        nn.ConcatTable(nn.Identity(), nn.Linear(4, 4), nn.MulConstant(2)), nn.CAddTable()
    )


def pooling() -> Any:
    return nn.Sequential(
        nn.SpatialConvolution(1, 3, 3, 3),
        nn.SpatialBatchNormalization(3),
        nn.ReLU(),
        nn.SpatialMaxPooling(2, 2),
        nn.View(-1, 12),
    )


NETS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "perceptron": (perceptron, lambda: randn(6, 4)),
    "narrowed gates": (gates, lambda: [randn(2, 4), randn(2, 3), randn(2, 3)]),
    "split gates": (lambda: gates(True), lambda: [randn(2, 4), randn(2, 3), randn(2, 3)]),
    "branches": (branches, lambda: randn(6, 4)),
    "pooling": (pooling, lambda: randn(2, 1, 6, 6)),
    "large": (lambda: nn.Sequential(nn.Linear(300, 300), nn.Tanh()), lambda: randn(2, 300)),
    "one row": (lambda: nn.Sequential(nn.Linear(300, 300), nn.Tanh()), lambda: randn(300)),
    "rows of a large table": (
        lambda: nn.Sequential(nn.LookupTable(2000, 50, 3), nn.Tanh()),
        lambda: torch.randint(1, 9, (4, 3)).double(),
    ),
    "in place": (
        lambda: nn.Sequential(
            nn.Linear(4, 5), nn.ReLU(True), nn.Linear(5, 5), nn.Tanh(), nn.MulConstant(2, True)
        ),
        lambda: randn(6, 4),
    ),
    "sums in place": (
        lambda: nn.Sequential(
            nn.ConcatTable(nn.Linear(4, 4), nn.Identity()), nn.CAddTable(True), nn.ReLU(True)
        ),
        lambda: randn(6, 4),
    ),
    "a view in place": (
        lambda: nn.Sequential(nn.Linear(4, 6), nn.View(-1, 2, 3), nn.ReLU(True)),
        lambda: randn(6, 4),
    ),
    "table out of table": (
        lambda: nn.ParallelTable(nn.Tanh(), nn.Linear(3, 3)),
        lambda: [randn(2, 3), randn(2, 3)],
    ),
}


def with_graph(module: Any) -> Any:
    """A copy that never goes without one."""
    twin = module.clone()
    twin.__dict__["_plans"] = _WithGraph()
    return twin


class _WithGraph(Plans):
    direct = False


def pass_through(module: Any, input: Any) -> Any:
    output = module.forward(input)
    gradOutput = map_tensors(lambda t: torch.sin(t.detach() * 3), output)
    return output, gradOutput, module.backward(input, gradOutput)


def direct(module: Any, input: Callable[[], Any]) -> Any:
    """``module`` after as many passes as it takes to do without a graph."""
    for _ in range(4):
        pass_through(module, input())
    assert goes_direct(module)
    return module


def goes_direct(module: Any) -> bool:
    return isinstance(module.latest_tape, DirectTape)


def gradients(module: Any) -> list[Tensor]:
    return [g.clone() for g in module.parameters()[1]]


def equal(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def close(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-13, atol=1e-13)


def compare(case: Any, keep: bool | None, ask: Callable[[Any, Any], Any], within: float) -> None:
    """What ``ask`` gets of six passes of a net is what it gets of the twin's, with graphs."""
    make, input = case
    module = make()
    twin = with_graph(module)
    for each in (module, twin):
        each.keepResults(keep)
    for i in range(6):
        given = input()
        found = [ask(each, given) for each in (module, twin)]
        torch.testing.assert_close(*found, rtol=within, atol=within)
        assert goes_direct(module) == (i > 2)
        assert not goes_direct(twin)


def results_inside(module: Any) -> list[Any]:
    return [[copied(m.output), copied(m.gradInput)] for m in module.listModules()]


@pytest.mark.parametrize("keep", [None, True], ids=["freed", "kept"])
@pytest.mark.parametrize("name", NETS)
def test_the_same_to_the_bit(name: str, keep: bool | None) -> None:
    def ask(module: Any, input: Any) -> Any:
        found = [pass_through(module, input), gradients(module)]
        return [found, results_inside(module) if keep else None]

    # Of branches, three gradients are added in some order.
    compare(NETS[name], keep, ask, within=1e-14 if name == "branches" else 0)


@pytest.mark.parametrize("name", NETS)
def test_other_ways_of_going_back(name: str) -> None:
    make, input = NETS[name]
    module = direct(make().keepResults(), input)
    twin = with_graph(module)
    given = input()
    found = []
    for each in (module, twin):
        output, gradOutput, gradInput = pass_through(each, given)
        results = [output, gradInput, each.updateGradInput(given, gradOutput)]
        each.accGradParameters(given, gradOutput, 0.5)
        results.append(each.backward(given, gradOutput, 0.25))
        found.append([*results, gradients(each)])
    assert goes_direct(module)
    close(*found)


def test_gradients_of_other_forms() -> None:
    module = direct(gates(), NETS["narrowed gates"][1])
    twin = with_graph(module)
    given = NETS["narrowed gates"][1]()
    forms: list[Any] = [
        [randn(3, 2).t(), randn(2, 3)],
        [torch.ones(1, 1).expand(2, 3), randn(6)],
        (randn(2, 3), randn(2, 3)),
        [None, randn(2, 3)],
    ]
    for gradOutput in forms:
        found = []
        for each in (module, twin):
            each.zeroGradParameters().forward(given)
            found.append([each.backward(given, gradOutput), gradients(each)])
        close(*found)
    module.forward(given)
    before = gradients(module)
    for wrong, error in (
        ([randn(2, 3).float(), randn(2, 3)], TypeError),
        ([randn(2, 3), randn(2, 4)], ValueError),
        ([randn(2, 3)], TypeError),
        (randn(2, 3), TypeError),
    ):
        with pytest.raises(error, match="gradOutput"):
            module.backward(given, wrong)
    equal(gradients(module), before)


def test_gradients_of_the_input_are_tensors_of_their_own() -> None:
    module = direct(nn.Sequential(nn.CAddTable()), lambda: [randn(2, 3), randn(2, 3)])
    gradOutput = randn(2, 3)
    module.forward([randn(2, 3), randn(2, 3)])
    first, second = module.backward(module.latest_tape.source, gradOutput)
    assert len({t.data_ptr() for t in (first, second, gradOutput)}) == 3


def test_results_that_were_changed() -> None:
    module = direct(perceptron(), lambda: randn(6, 4))
    input = randn(6, 4)
    module.forward(input)
    input.mul_(2)
    before = gradients(module)
    with pytest.raises(RuntimeError, match="were changed in place since forward"):
        module.backward(input, randn(6, 3))
    equal(gradients(module), before)


def test_hooks_of_parameters() -> None:
    called: list[int] = []
    found = []
    for net in (perceptron(), NETS["large"][0]()):
        size = net.get(1).weight.size(1)
        module = direct(net, lambda size=size: randn(6, size))
        twin = with_graph(module)
        input = randn(6, size)
        for each in (module, twin):
            weight = each.get(1).weight.requires_grad_(True)
            if size < 300:  # the gradient of a large one is no tensor
                weight.register_hook(lambda gradient: 2 * gradient)
            weight.register_post_accumulate_grad_hook(lambda p: called.append(p.numel()))
            weight.requires_grad_(False)
            each.zeroGradParameters()
            pass_through(each, input)
            found.append(gradients(each))
        assert goes_direct(module)
        close(found[-2], found[-1])
    assert called == [20, 20, 90000, 90000]


def test_contributions_are_kept() -> None:
    module = direct(perceptron(), lambda: randn(6, 4))
    before = gradients(module)
    kept = Contributions()
    with kept:
        pass_through(module, randn(6, 4))
    equal(gradients(module), before)
    assert len(kept.values) == len(kept.announced) == 4


def test_who_reads_gradients_inside_has_them_kept() -> None:
    module = direct(perceptron(), lambda: randn(6, 4))
    twin = with_graph(module)
    for i in range(6):
        input = randn(6, 4)
        for each in (module, twin):
            pass_through(each, input)
        assert goes_direct(module) == (i in (0, 4, 5))
        equal(module.get(2).gradInput, twin.get(2).gradInput)
        assert goes_direct(module) == (i > 3)


def test_a_module_inside_goes_back_alone() -> None:
    module = direct(perceptron().keepResults(), lambda: randn(6, 4))
    twin = with_graph(module)
    input, gradient = randn(6, 4), randn(6, 5)
    found = []
    for each in (module, twin):
        each.zeroGradParameters().forward(input)
        hidden = each.get(1).output
        found.append([each.get(2).backward(hidden, gradient), gradients(each)])
    close(*found)
    for _ in range(4):  # so that later passes have the graph that this needs
        pass_through(module, input)
        assert not goes_direct(module)


def test_after_an_update_todays_parameters_are_taken() -> None:
    # As the generator's step of a GAN does.
    module = direct(perceptron().keepResults(), lambda: randn(6, 4))
    twin = with_graph(module)
    input = randn(6, 4)
    found = []
    for each in (module, twin):
        _, gradOutput, _ = pass_through(each, input)
        each.updateParameters(0.1)
        found.append([each.updateGradInput(input, gradOutput), each.get(2).gradInput])
    close(*found)


def test_parameters_over_one_memory_get_all_gradients() -> None:
    layer = nn.Linear(4, 4)
    clone = layer.clone("weight", "bias", "gradWeight", "gradBias")
    module = direct(nn.Sequential(layer, nn.Tanh(), clone), lambda: randn(6, 4))
    twin = with_graph(module)
    input = randn(6, 4)
    found = []
    for each in (module, twin):
        each.zeroGradParameters()
        found.append([pass_through(each, input), gradients(each)])
    equal(*found)


def test_a_parameter_that_leaves_shared_memory() -> None:
    # The two are one while a pass is logged; each keeps its own place.
    layer = nn.Linear(4, 4)
    clone = layer.clone("weight", "bias", "gradWeight", "gradBias")
    module = direct(nn.Sequential(layer, nn.Tanh(), clone), lambda: randn(6, 4))
    clone.weight.data = randn(4, 4)
    input = randn(6, 4)
    output = module.forward(input)
    equal(output, clone.forward(torch.tanh(layer.forward(input))))


@pytest.mark.parametrize("name", ["perceptron", "pooling", "narrowed gates"])
def test_a_net_that_goes_without_a_graph_goes_when_it_is_dropped(name: str) -> None:
    make, input = NETS[name]
    module = direct(make().keepResults(), input)
    weight = weakref.ref(module.parameters()[0][0])
    gc.disable()
    try:
        del module
        if name == "narrowed gates":  # nodes of graphs refer to one another
            gc.collect()
        assert weight() is None
    finally:
        gc.enable()


class _Doubling(nn.Module):
    """Computes its own gradients, as Lua's do, into buffers that it keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.full((1,), 2.0)
        self.gradWeight = torch.zeros(1)
        self.asked: list[str] = []

    def updateOutput(self, input: Tensor) -> Tensor:
        self.asked.append("updateOutput")
        self.output = self.output.resize_(input.size()).copy_(input * self.weight)
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        self.asked.append("updateGradInput")
        self.gradInput = gradOutput * self.weight
        return self.gradInput

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> None:
        self.asked.append("accGradParameters")
        self.gradWeight += scale * (input * gradOutput).sum()


class _OneHot(nn.Module):
    """Has no gradient of its input, as char-rnn's."""

    def updateOutput(self, input: Tensor) -> Tensor:
        self.output = torch.eye(4)[input.long() - 1]
        return self.output


class _Pair(nn.Module):
    """Gives a table, of which one entry has no gradient."""

    def updateOutput(self, input: Tensor) -> list[Tensor]:
        self.output = [input * 3, (input > 0).long()]
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Any) -> Tensor:
        self.gradInput = gradOutput[0] * 3
        return self.gradInput


class _Halves(nn.Module):
    """Has another output when its switch is set."""

    half = False

    def updateOutput(self, input: Tensor) -> Tensor:
        self.output = input[: len(input) // 2] if self.half else input * 1
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        self.gradInput = torch.zeros_like(input)
        self.gradInput[: len(gradOutput)] = gradOutput
        return self.gradInput


def _step_of_characters() -> Any:
    x, h = nn.Identity()(), nn.Identity()()
    sums = nn.CAddTable()([nn.Linear(4, 3)(_OneHot()(x)), nn.Linear(3, 3)(h)])
    return nngraph.gModule([x, h], [nn.Tanh()(sums)])


def _beside() -> Any:
    """Ways through such a module, and around it."""
    return nn.Sequential(
        nn.Linear(4, 4),
        nn.ConcatTable(_Doubling(), nn.Tanh(), nn.Sequential(nn.Tanh(), _Doubling())),
        nn.CAddTable(),
        nn.Linear(4, 2),
    )


OWN: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "first": (lambda: nn.Sequential(_Doubling(), nn.Linear(4, 3)), lambda: randn(6, 4)),
    "last": (lambda: nn.Sequential(nn.Linear(4, 3), _Doubling()), lambda: randn(6, 4)),
    "two": (
        lambda: nn.Sequential(_Doubling(), nn.Linear(4, 3), nn.Tanh(), _Doubling(), nn.Tanh()),
        lambda: randn(6, 4),
    ),
    "beside others": (_beside, lambda: randn(6, 4)),
    "without gradient": (
        _step_of_characters,
        lambda: [torch.randint(1, 5, (6,)).double(), randn(6, 3)],
    ),
    "a table": (
        lambda: nn.Sequential(nn.Linear(4, 3), _Pair(), nn.SelectTable(1), nn.Tanh()),
        lambda: randn(6, 4),
    ),
}


@pytest.mark.parametrize("keep", [None, True], ids=["freed", "kept"])
@pytest.mark.parametrize("name", OWN)
def test_modules_that_compute_their_own_gradients(name: str, keep: bool | None) -> None:
    def ask(module: Any, input: Any) -> Any:
        output, gradOutput, gradInput = copied(pass_through(module, input))
        found = [output, gradInput, gradients(module)]
        found.append(copied(module.updateGradInput(input, gradOutput)))
        module.accGradParameters(input, gradOutput, 0.5)
        found += [gradients(module), copied(module.backward(input, gradOutput, 2))]
        return [found, results_inside(module) if keep else None]

    compare(OWN[name], keep, ask, within=1e-13)


def test_their_methods_are_called_once_in_each_pass() -> None:
    own = _Doubling()
    module = nn.Sequential(nn.Linear(4, 4), own, nn.Tanh())
    input = randn(6, 4)
    for _ in range(6):
        own.asked.clear()
        _, gradOutput, _ = pass_through(module, input)
        assert own.asked == ["updateOutput", "updateGradInput", "accGradParameters"]
        own.asked.clear()
        module.updateGradInput(input, gradOutput)
        module.accGradParameters(input, gradOutput)
        assert own.asked == ["updateGradInput", "accGradParameters"]
    assert goes_direct(module)


def test_their_output_may_become_another_one() -> None:
    own = _Halves()
    module = direct(nn.Sequential(nn.Linear(4, 4), own, nn.Tanh()), lambda: randn(6, 4))
    own.half = True
    twin = with_graph(module)
    for _ in range(6):
        input = randn(6, 4)
        close(pass_through(module, input), pass_through(twin, input))
        assert len(module.output) == 3


class _Noisy(nn.Module):
    """Draws PyTorch's random numbers."""

    repeatable = True

    def compute(self, input: Tensor) -> Tensor:
        return input + torch.rand_like(input)


def test_random_numbers_are_drawn_anew() -> None:
    module = nn.Sequential(nn.Linear(4, 4), _Noisy(), nn.Tanh())
    input = randn(6, 4)
    outputs = [module.forward(input).clone() for _ in range(6)]
    assert all(not torch.equal(a, b) for a, b in itertools.pairwise(outputs))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 1), st.booleans())
def test_parts_of_a_tensor(sizes: list[int], more: int, overlap: bool) -> None:
    """Sums of the gradients of parts are the same, whether they are all of it, or overlap."""
    whole, starts = sum(sizes) + more, [sum(sizes[:i]) for i in range(len(sizes))]
    parts = [nn.Narrow(2, s + 1, n) for s, n in zip(starts, sizes, strict=True)]
    if overlap:
        parts.append(nn.Narrow(2, 1, whole))
    module = nn.Sequential(nn.Linear(3, whole), nn.ConcatTable(*parts), nn.MapTable(nn.Square()))
    twin = with_graph(module)
    for _ in range(5):
        input = randn(2, 3)
        found = [[copied(pass_through(each, input)), gradients(each)] for each in (module, twin)]
        close(*found)
    assert goes_direct(module)
    assert tensors(module.output)


@pytest.mark.parametrize("keep", [None, True], ids=["freed", "kept"])
def test_inputs_that_shared_memory_when_a_pass_was_logged(keep: bool | None) -> None:
    module = nn.Sequential(
        nn.ParallelTable(nn.View(-1, 2), nn.View(-1, 2)), nn.CSubTable(), nn.Tanh()
    ).keepResults(keep)
    twin = with_graph(module)
    for i in range(6):
        first = randn(3, 4)
        input = [first, first if i < 3 else randn(3, 4)]
        equal(pass_through(module, input), pass_through(twin, input))
    assert goes_direct(module)


class _Passing(nn.Module):
    """Hands its input on; when its switch is set, as another tensor."""

    doubles = False

    def updateOutput(self, input: Tensor) -> Tensor:
        self.output = input * 2 if self.doubles else input
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        self.gradInput = gradOutput * 2 if self.doubles else gradOutput
        return self.gradInput


def test_outputs_that_were_inputs_when_a_pass_was_logged() -> None:
    own = _Passing()
    module = direct(
        nn.Sequential(nn.Linear(4, 4), own, nn.View(-1, 2), nn.Linear(2, 3)), lambda: randn(6, 4)
    )
    own.__dict__["doubles"] = True  # so that the plan holds
    twin = with_graph(module)
    input = randn(6, 4)
    equal(pass_through(module, input), pass_through(twin, input))
    assert goes_direct(module)


def test_hooks_are_told_of_gradients_alone() -> None:
    module, asked = perceptron(), []
    twin = with_graph(module)
    for each in (module, twin):
        weight = each.get(1).weight.requires_grad_(True)
        weight.register_hook(lambda gradient: (asked.append(gradient), 2 * gradient)[1])
        weight.requires_grad_(False)
    for i in range(6):
        input = randn(6, 4)
        for each in (module, twin):
            pass_through(each, input)
        equal(gradients(module), gradients(twin))
        assert len(asked) == 2 * (i + 1)


class _Counting(_Halves):
    """Fails, or gives another output, at its n-th call."""

    def __init__(self, fails: int = 0, halves: int = 0) -> None:
        super().__init__()
        self.fails, self.halves, self.calls = fails, halves, []

    def updateOutput(self, input: Tensor) -> Tensor:
        self.calls.append(len(input))
        if len(self.calls) == self.fails:
            raise ValueError("out of data")
        self.__dict__["half"] = len(self.calls) == self.halves
        return super().updateOutput(input)


@pytest.mark.parametrize("call", range(1, 7))
def test_an_error_of_a_module_inside_is_told_once(call: int) -> None:
    own = _Counting(fails=call)
    module = nn.Sequential(nn.Linear(4, 4), own, nn.Tanh())
    own.__dict__["calls"] = _Uncompared()
    for i in range(1, 8):
        input, before = randn(6, 4), gradients(module)
        if i == call:
            with pytest.raises(ValueError, match=r"^nn.Sequential\[2\] .*: out of data"):
                pass_through(module, input)
            equal(gradients(module), before)
            with pytest.raises(RuntimeError, match="needs a forward pass"):
                module.backward(input, randn(6, 4))
        else:
            pass_through(module, input)
        assert len(own.calls) == i
    assert goes_direct(module)


def test_a_module_inside_with_another_output_is_called_once() -> None:
    module = nn.Sequential(
        nn.Linear(4, 4), nn.BatchNormalization(4), _Counting(halves=5), nn.Tanh()
    )
    twin = with_graph(module)
    for each in (module, twin):
        each.get(3).__dict__["calls"] = _Uncompared()
    for i in range(7):
        input = randn(6, 4)
        found = [[pass_through(each, input), gradients(each)] for each in (module, twin)]
        close(*found)
        equal(module.get(2).running_mean, twin.get(2).running_mean)
        assert len(module.get(3).calls) == len(twin.get(3).calls) == i + 1
        assert goes_direct(module) == (i == 3)


def test_a_module_inside_is_not_called_again_for_another_one() -> None:
    own = _Doubling()
    module = direct(nn.Sequential(nn.Linear(4, 4), own, nn.Tanh()), lambda: randn(6, 4))
    twin = with_graph(module)
    input, gradient = randn(6, 4), randn(6, 4)
    found = []
    for each in (module, twin):
        each.zeroGradParameters().forward(input)
        asked = each.get(2).asked
        asked.clear()
        hidden = each.get(2).output
        found.append([each.get(3).backward(hidden, gradient), gradients(each)])
        assert not asked
    close(*found)


def test_the_gradient_of_the_input_where_backward_gave_none() -> None:
    stopped = perceptron().keepResults()
    stopped.get(1).gradInput = None
    direct(stopped, lambda: randn(6, 4))
    assert stopped.gradInput is None
    module = direct(perceptron(), lambda: randn(6, 4))
    twin = with_graph(module)
    input, gradOutput = randn(6, 4), randn(6, 3)
    for each in (module, twin):
        each.forward(input)
        each.accGradParameters(input, gradOutput)
    equal(module.gradInput, twin.gradInput)


class _Uncompared(list[Any]):
    """A list that is always as it was: what counts calls is no part of what computes."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False
