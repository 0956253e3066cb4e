"""One graph per outermost call: what each module has after forward and backward."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.tensors import randn
from torch import Tensor

from compat import nn, random


@pytest.fixture(autouse=True)
def seeded() -> None:
    random.manualSeed(1)
    torch.manual_seed(1)


def close(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=1e-10, atol=1e-12)


def mlp() -> Any:
    return (
        nn.Sequential()
        .add(nn.Linear(4, 5))
        .add(nn.Tanh())
        .add(nn.Linear(5, 3))
        .add(nn.Sigmoid())
        .double()
    )


def gradients(net: Any) -> list[Tensor]:
    return [g.clone() for g in net.parameters()[1]]


def step(net: Any, input: Any, gradOutput: Any, scale: float = 1) -> Any:
    net.zeroGradParameters()
    net.forward(input)
    return [net.output, net.backward(input, gradOutput, scale), gradients(net)]


class _Opaque(nn.Module):
    """Any module, seen from outside as one written the Torch7 way."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        self.calls: list[str] = []

    def parameters(self) -> Any:
        return self.inner.parameters()

    def zeroGradParameters(self) -> Any:
        self.inner.zeroGradParameters()
        return self

    def updateOutput(self, input: Any) -> Any:
        self.calls.append("updateOutput")
        self.output = self.inner.updateOutput(input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.calls.append("updateGradInput")
        self.gradInput = self.inner.updateGradInput(input, gradOutput)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        self.calls.append("accGradParameters")
        self.inner.accGradParameters(input, gradOutput, scale)


# Outputs and gradInputs.


def test_every_module_has_its_output_as_a_plain_tensor() -> None:
    net, input = mlp(), randn(6, 4)
    output = net.forward(input)
    value = input
    for module in net.modules:
        value = module.clone().forward(value)
        close(module.output, value)
        assert not module.output.requires_grad and module.output.grad_fn is None
    close(output, value)
    assert net.output is output


def test_an_inner_gradInput_is_there_when_it_is_read() -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    copies = [module.clone() for module in net.modules]
    step(net, input, gradOutput)
    values = [input]
    for module in copies:
        values.append(module.forward(values[-1]))
    gradient = gradOutput
    for module, copy, value in reversed(list(zip(net.modules, copies, values, strict=False))):
        gradient = copy.updateGradInput(value, gradient)
        close(module.gradInput, gradient)
        assert module.gradInput is module.gradInput
    close(net.gradInput, gradient)


def test_an_inner_gradInput_of_a_table() -> None:
    net = nn.Sequential().add(nn.ConcatTable().add(nn.Linear(3, 2)).add(nn.Linear(3, 2)))
    net.add(nn.ParallelTable().add(nn.Tanh()).add(nn.Identity())).add(nn.CAddTable()).double()
    gradOutput = randn(4, 2)
    step(net, randn(4, 3), gradOutput)
    close(net.get(3).gradInput, [gradOutput, gradOutput])
    close(net.get(2).gradInput[1], gradOutput)


@pytest.mark.parametrize("inside", [False, True], ids=["of tensors", "of results"])
def test_an_inner_gradInput_ends_at_the_input_of_the_module(inside: bool) -> None:
    """Of tensors of which one was computed from another, each gets what the module gives it."""
    input, gradOutput = randn(4, 3), randn(4, 3)
    node = nn.Identity()()
    first = nn.Linear(3, 3)(node)
    both = [first, nn.Tanh()(first)]
    if inside:  # a module whose results are such tensors
        table = nn.gModule([node], both)
        net = nn.Sequential().add(table).add(added := nn.CAddTable()).double()
    else:
        net = nn.gModule([node], [(added := nn.CAddTable())(both)]).double()
    step(net, input, gradOutput)
    close(added.gradInput, [gradOutput, gradOutput])
    (linear,), (tanh,) = (net.findModules(f"nn.{name}")[0] for name in ("Linear", "Tanh"))
    close(linear.gradInput, net.gradInput)
    if inside:
        close(table.gradInput, net.gradInput)
    close(tanh.gradInput, gradOutput * (1 - tanh.output**2))


@pytest.mark.parametrize("apart", [False, True], ids=["backward", "accGradParameters"])
def test_an_inner_backward_ends_at_the_input_of_the_module(apart: bool) -> None:
    """Gradients of parameters that an earlier module has, too, are those of the inner one."""
    first = nn.Linear(3, 3)
    second = first.sharedClone()
    net = nn.Sequential().add(first).add(second).double()
    second.share(first, "weight", "bias", "gradWeight", "gradBias")
    net.forward(randn(4, 3))
    net.zeroGradParameters()
    gradOutput = randn(4, 3)
    if apart:
        second.accGradParameters(first.output, gradOutput)
    else:
        second.backward(first.output, gradOutput)
    close(second.gradWeight, gradOutput.t() @ first.output)


def test_an_inner_gradInput_of_a_table_that_nothing_reaches() -> None:
    for key in (list, lambda tensors: dict(zip("ab", tensors, strict=True))):
        input: Any = key([randn(4, 3), randn(4, 3)])
        zero = nn.Sequential().add(nn.Identity()).add(nn.ZeroGrad()).double()
        step(zero, input, input)
        close(zero.get(2).gradInput, key([torch.zeros(4, 3).double()] * 2))


@pytest.mark.parametrize("table", [False, True], ids=["tensor", "table"])
def test_there_is_no_gradInput_before_one_that_is_switched_off(table: bool) -> None:
    """It cannot be told: zeros would be wrong."""
    first = nn.ParallelTable().add(nn.Abs()).add(nn.Abs()) if table else nn.Abs()
    net = nn.Sequential().add(first).add(nn.CAddTable() if table else nn.Tanh())
    net.add(nn.Linear(3, 2)).double()
    switched = first.modules if table else [first]
    for module in switched:
        module.gradInput = None
    input: Any = [randn(4, 3), randn(4, 3)] if table else randn(4, 3)
    step(net, input, randn(4, 2))
    assert net.get(2).gradInput is None
    for module in switched:
        module.gradInput = randn(0)
    step(net, input, gradOutput := randn(4, 2))
    wanted = gradOutput @ net.get(3).weight
    if table:
        close(net.get(2).gradInput, [wanted, wanted])
    else:
        close(net.get(2).gradInput, wanted * (1 - net.get(2).output ** 2))


def test_an_inner_gradInput_is_there_until_the_next_forward() -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    assert net.get(2).gradInput.numel() == net.get(2).output.numel() == 0
    net.forward(input)
    assert net.get(2).gradInput.numel() == 0
    net.backward(input, gradOutput)
    early = net.get(3).gradInput
    wanted = early * (1 - net.get(2).output ** 2)
    net.updateParameters(0.1)
    assert net.get(3).gradInput is early
    close(net.get(2).gradInput, wanted)
    net.forward(input)
    assert net.get(2).gradInput.numel() == 0


@pytest.mark.parametrize("how", ["parameter", "flat", "flat in a larger net"])
def test_every_way_to_change_parameters_is_noticed(how: str) -> None:
    net, input, gradOutput = mlp().keepResults(False), randn(6, 4), randn(6, 3)
    x, _ = net.getParameters()
    if how.endswith("net"):
        larger = nn.Sequential().add(nn.Linear(4, 4).double()).add(net)
        x, _ = larger.getParameters()
    step(net, input, gradOutput)
    (x if how.startswith("flat") else net.get(1).bias).add_(1)
    with pytest.raises(RuntimeError, match="the parameters have changed since backward"):
        _ = net.get(2).gradInput


def test_results_can_be_set() -> None:
    net = mlp()
    step(net, randn(6, 4), randn(6, 3))
    value = torch.ones(2)
    net.get(2).output = net.get(2).gradInput = value
    assert net.get(2).output is net.get(2).gradInput is value


# What is added to the gradients.


@pytest.mark.parametrize("scale", [1, 0.5, -2, 0])
def test_scale_multiplies_what_parameters_get(scale: float) -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    _, gradInput, whole = step(net, input, gradOutput)
    _, scaled, parts = step(net, input, gradOutput, scale)
    close(scaled, gradInput)
    close(parts, [scale * g for g in whole])


@pytest.mark.parametrize("opaque", [False, True])
@pytest.mark.parametrize("order", ["g a", "a g", "a", "g", "b", "b b", "g a a", "g b", "b g a"])
def test_the_methods_work_alone_and_in_any_order(order: str, opaque: bool) -> None:
    plain, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    wanted, once = step(plain, input, gradOutput)[1:]
    net = mlp()
    for p, q in zip(net.parameters()[0], plain.parameters()[0], strict=True):
        p.copy_(q)
    if opaque:
        net.modules[2] = _Opaque(net.get(3))
    net.zeroGradParameters()
    net.forward(input)
    for method in order.split():
        if method == "g":
            close(net.updateGradInput(input, gradOutput), wanted)
        elif method == "a":
            assert net.accGradParameters(input, gradOutput) is None
        else:
            close(net.backward(input, gradOutput), wanted)
    times = order.count("a") + order.count("b")
    close(gradients(net), [times * g for g in once])


def test_another_gradOutput_after_the_same_forward() -> None:
    net, input = mlp(), randn(6, 4)
    first, second = randn(6, 3), randn(6, 3)
    one, two = step(net, input, first)[2], step(net, input, second)[2]
    net.zeroGradParameters()
    net.forward(input)
    net.updateGradInput(input, first)
    net.accGradParameters(input, first)
    net.accGradParameters(input, second)
    close(gradients(net), [a + b for a, b in zip(one, two, strict=True)])


def test_another_input_goes_forward_again() -> None:
    net, other, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    wanted = step(net, other, gradOutput)
    net.forward(randn(6, 4))
    net.zeroGradParameters()
    close(net.backward(other, gradOutput), wanted[1])
    close(gradients(net), wanted[2])
    with pytest.raises(ValueError, match=r"input has size \(5, 4\); that of forward, \(6, 4\), is"):
        net.backward(randn(5, 4), gradOutput)


def test_gradients_of_a_module_that_is_used_twice_add_up() -> None:
    layer, x = nn.Linear(3, 3).double(), randn(4, 3)
    net = nn.Sequential().add(layer).add(nn.Tanh()).add(layer)
    weight = layer.weight.clone().requires_grad_()
    bias = layer.bias.clone().requires_grad_()
    wanted = torch.tanh(x @ weight.T + bias) @ weight.T + bias
    wanted.sum().backward()
    output = step(net, x, torch.ones(4, 3).double())[0]
    close(output, wanted.detach())
    close(layer.gradWeight, weight.grad)
    close(layer.gradBias, bias.grad)


# gradInput switched off.


@given(depth=st.integers(0, 3), place=st.integers(0, 3), opaque=st.booleans())
@pytest.mark.filterwarnings("ignore:the gradInput of")
def test_gradInput_none_at_any_depth(depth: int, place: int, opaque: bool) -> None:
    """Below the module nothing is computed any more, above everything is as before."""
    net = mlp()
    if opaque:
        net.modules[0] = _Opaque(net.get(1))
    input, gradOutput = randn(6, 4), randn(6, 3)
    wanted = step(net, input, gradOutput)[2]
    net.get(place + 1).gradInput = None
    whole: Any = net
    for _ in range(depth):
        whole = nn.Sequential().add(whole)
    assert step(whole, input, gradOutput)[1] is None or place > 0
    assert net.get(place + 1).gradInput is None
    below = 2 if place > 0 else 0
    if opaque and place == 0:
        below = 0
    found = gradients(whole)
    close(found[below:2], wanted[below:2])
    if place == 3:
        assert not any(g.any() for g in found)
    else:
        close(found[2:], wanted[2:])
        assert not any(g.any() for g in found[:below])


def test_no_gradient_is_computed_for_an_input_that_does_not_want_it() -> None:
    asked: list[bool] = []

    class _Asking(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
            return x * w

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            asked.append(ctx.needs_input_grad[0])
            return g, g

    class _Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.ones(4).double()

        def compute(self, input: Tensor) -> Tensor:
            return _Asking.apply(input, self.weight.expand_as(input))

    net = nn.Sequential().add(_Layer()).add(nn.Linear(4, 3).double())
    step(net, randn(6, 4), randn(6, 3))
    net.get(1).gradInput = None
    step(net, randn(6, 4), randn(6, 3))
    assert asked == [True, False]


# Modules written the Torch7 way.


@st.composite
def nets(draw: st.DrawFn) -> tuple[Any, Any]:
    """A random net, and the same with some of its modules opaque."""
    random.manualSeed(draw(st.integers(1, 1000)))

    def build(depth: int) -> tuple[Any, Any]:
        kinds = ["linear", "tanh", "identity"]
        if depth:
            kinds += ["sequential", "concat", "add"]
        kind = draw(st.sampled_from(kinds))
        if kind in ("sequential", "concat", "add"):
            parts = [build(depth - 1) for _ in range(draw(st.integers(1, 3)))]
            plain, mixed = [[pair[i] for pair in parts] for i in (0, 1)]
            wholes = []
            for modules in (plain, mixed):
                if kind == "sequential":
                    whole: Any = nn.Sequential(*modules)
                elif kind == "add":
                    table = nn.ConcatTable(*modules)
                    whole = nn.Sequential(table, nn.CAddTable())
                else:
                    branches = nn.Concat(2)
                    for module in modules:
                        branches.add(module)
                    whole = nn.Sequential(branches, nn.Narrow(2, 1, 3))
                wholes.append(whole)
            one, other = wholes
        else:
            one = {"linear": nn.Linear(3, 3), "tanh": nn.Tanh(), "identity": nn.Identity()}[kind]
            one, other = one.double(), one.double().clone()
        return one, _Opaque(other) if draw(st.booleans()) else other

    plain, mixed = build(3)
    return nn.Sequential(plain), nn.Sequential(mixed)


@given(pair=nets(), scale=st.sampled_from([1, 0.5]), split=st.booleans())
def test_opaque_modules_work_anywhere(pair: Any, scale: float, split: bool) -> None:
    input, gradOutput = randn(4, 3), randn(4, 3)
    results = []
    for net in pair:
        net.zeroGradParameters()
        for _ in range(2):
            net.forward(input)
            if split:
                gradInput = net.updateGradInput(input, gradOutput)
                net.accGradParameters(input, gradOutput, scale)
            else:
                gradInput = net.backward(input, gradOutput, scale)
        results.append([net.output, gradInput, gradients(net)])
        close(net.get(1).gradInput, gradInput)
    close(results[1], results[0])


def test_an_opaque_module_is_called_once_per_method() -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    opaque = net.modules[2] = _Opaque(net.get(3))
    step(net, input, gradOutput)
    assert opaque.calls == ["updateOutput", "updateGradInput", "accGradParameters"]
    opaque.calls.clear()
    net.updateGradInput(input, gradOutput)
    net.accGradParameters(input, gradOutput)
    assert opaque.calls == ["updateGradInput", "accGradParameters"]


def test_an_opaque_module_that_is_used_twice_goes_back_in_the_right_state() -> None:
    layer = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).double()
    plain = nn.Sequential(layer, layer, layer)
    input, gradOutput = randn(4, 3), randn(4, 3)
    wanted = step(plain, input, gradOutput)
    opaque = _Opaque(layer)
    close(step(nn.Sequential(opaque, opaque, opaque), input, gradOutput), wanted)


def test_an_opaque_module_with_tables() -> None:
    pair = _Opaque(nn.ParallelTable(nn.Linear(3, 2), nn.Linear(3, 2)).double())
    net = nn.Sequential(nn.ConcatTable(nn.Identity(), nn.Identity()), pair, nn.CAddTable())
    plain = nn.Sequential(net.get(1), pair.inner, net.get(3))
    input, gradOutput = randn(4, 3), randn(4, 2)
    close(step(net, input, gradOutput), step(plain, input, gradOutput))


def test_a_layer_beside_and_inside_an_opaque_module() -> None:
    layer = nn.Linear(4, 4).double()
    opaque = nn.Profile(nn.Sequential().add(layer).add(nn.Tanh()))
    net = nn.Sequential().add(layer).add(opaque).add(layer)
    plain = nn.Sequential().add(layer).add(opaque.get(1)).add(layer).clone()
    input, gradOutput = randn(5, 4), randn(5, 4)
    close(step(net, input, gradOutput), step(plain, input, gradOutput))
    assert not layer.weight.requires_grad


def test_a_branch_without_gradient_is_not_gone_back() -> None:
    opaque = _Opaque(nn.Linear(3, 2).double())
    net = nn.Sequential(nn.ConcatTable(opaque, nn.Linear(3, 2).double()), nn.SelectTable(2))
    step(net, randn(4, 3), randn(4, 2))
    assert opaque.calls == ["updateOutput"]


# Methods replaced on one object.


def test_freezing_by_replacing_accGradParameters() -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    wanted = step(net, input, gradOutput)
    net.get(1).accGradParameters = lambda input, gradOutput, scale=1: None
    output, gradInput, found = step(net, input, gradOutput)
    close([output, gradInput], wanted[:2])
    assert not any(g.any() for g in found[:2])
    close(found[2:], wanted[2][2:])
    del net.get(1).accGradParameters
    close(step(net, input, gradOutput), wanted)


def test_replacing_the_other_methods() -> None:
    net, input = mlp(), randn(6, 4)
    net.get(2).updateOutput = lambda input: 2 * input
    net.get(2).updateGradInput = lambda input, gradOutput: 2 * gradOutput
    plain = mlp()
    for p, q in zip(plain.parameters()[0], net.parameters()[0], strict=True):
        p.copy_(q)
    plain.modules[1] = nn.MulConstant(2)
    gradOutput = randn(6, 3)
    close(step(net, input, gradOutput), step(plain, input, gradOutput))


def test_a_replaced_method_on_the_outermost_module() -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    wanted = step(net, input, gradOutput)
    net.accGradParameters = lambda input, gradOutput, scale=1: None
    output, gradInput, found = step(net, input, gradOutput)
    close([output, gradInput], wanted[:2])
    assert not any(g.any() for g in found)


# Layers that work in place.


def test_layers_in_place_give_the_same() -> None:
    input, gradOutput = randn(6, 4), randn(6, 3)
    pair = []
    for inplace in (False, True):
        random.manualSeed(2)
        net = nn.Sequential(nn.MulConstant(2, inplace), nn.Linear(4, 3), nn.ReLU(inplace))
        net.add(nn.MulConstant(0.5, inplace)).add(nn.Tanh()).add(nn.AddConstant(1, inplace))
        pair.append(step(net.double(), input.clone(), gradOutput))
    close(pair[1], pair[0])


def test_a_first_layer_in_place_writes_into_the_input() -> None:
    input = randn(6, 4)
    doubled = 2 * input
    nn.MulConstant(2, True).double().forward(input)
    close(input, doubled)


# Errors.


def test_an_error_in_forward_tells_the_place() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.ConcatTable(nn.Tanh(), nn.Linear(5, 2))).double()
    with pytest.raises(ValueError) as caught:
        net.forward(randn(6, 4))
    place = "nn.Sequential[2] nn.ConcatTable[2] nn.Linear(5 -> 2): "
    assert str(caught.value).startswith(f"{place}input has 4 features")
    # Nothing is left half done.
    net.get(2).remove() if hasattr(net.get(2), "remove") else net.get(2).modules.pop()
    assert len(net.forward(randn(6, 4))) == 1


def test_an_error_in_backward_names_the_module() -> None:
    class _Failing(nn.Module):
        def updateOutput(self, input: Tensor) -> Tensor:
            self.output = input
            return input

        def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
            raise ArithmeticError("no gradient today")

    net = nn.Sequential(nn.Linear(4, 3).double(), _Failing())
    net.forward(randn(6, 4))
    with pytest.raises(ArithmeticError, match=r"^nn\.Sequential\[2\] _Failing: no gradient today$"):
        net.backward(randn(6, 4), randn(6, 3))


@pytest.mark.parametrize(
    ("gradOutput", "error", "message"),
    [
        (randn(5, 3), ValueError, r"gradOutput has size \(5, 3\), output has size \(6, 3\)"),
        (torch.ones(6, 3), TypeError, r"gradOutput is torch.float32 on cpu, output is .*float64"),
        ([randn(6, 3)], TypeError, r"gradOutput is a list where output is a tensor"),
    ],
)
def test_a_gradOutput_that_does_not_fit(gradOutput: Any, error: Any, message: str) -> None:
    net = mlp()
    net.zeroGradParameters()
    net.forward(randn(6, 4))
    with pytest.raises(error, match="^nn.Sequential: " + message):
        net.backward(randn(6, 4), gradOutput)
    assert not any(g.any() for g in gradients(net))


def test_backward_needs_a_forward_pass() -> None:
    net = mlp()
    with pytest.raises(RuntimeError, match=r"nn\.Sequential: backward needs a forward pass first"):
        net.backward(randn(6, 4), randn(6, 3))
    with torch.no_grad():
        net.forward(randn(6, 4))
    assert net.get(2).output.shape == (6, 5)
    with pytest.raises(
        RuntimeError, match=r"backward needs a forward pass outside of torch\.no_grad"
    ):
        net.backward(randn(6, 4), randn(6, 3))
    net.forward(randn(6, 4))
    net.clearState()
    with pytest.raises(RuntimeError, match="backward needs a forward pass first"):
        net.backward(randn(6, 4), randn(6, 3))


def test_a_table_is_an_entry_short() -> None:
    net = nn.ConcatTable(nn.Identity(), nn.Identity())
    net.forward(torch.ones(2))
    with pytest.raises(TypeError, match="gradOutput is a list of 1 where output is a table of 2"):
        net.backward(torch.ones(2), [torch.ones(2)])


# What is left behind.


def test_parameters_can_be_written_between_the_calls() -> None:
    net = mlp()
    step(net, randn(6, 4), randn(6, 3))
    for parameter in net.parameters()[0]:
        assert not parameter.requires_grad
        parameter.fill_(1)


def test_inference_mode() -> None:
    net, input = mlp(), randn(6, 4)
    wanted = net.forward(input).clone()
    with torch.inference_mode():
        assert net.forward(input).is_inference()
    close(net.forward(input), wanted)
    net.backward(input, randn(6, 3))


@pytest.mark.parametrize("how", ["forward", "clearState", "type", "drop"])
def test_the_graph_is_freed(how: str) -> None:
    net = mlp()
    net.modules[1] = _Opaque(net.get(2))
    step(net, randn(6, 4), randn(6, 3))
    gc.collect()
    gc.disable()
    try:
        refs = [
            weakref.ref(net.latest_tape.leaves),
            *(weakref.ref(r.output) for r in net.latest_tape.records),
        ]
        if how == "forward":
            net.forward(randn(6, 4))
        elif how == "clearState":
            net.clearState()
        elif how == "type":
            net.float()
        else:
            del net
        assert [ref for ref in refs if ref() is not None] == []
    finally:
        gc.enable()


def test_nets_in_two_threads_do_not_meet() -> None:
    pairs = [(mlp(), randn(6, 4), randn(6, 3)) for _ in range(4)]
    wanted = [step(net.clone(), *given) for net, *given in pairs]
    found: list[Any] = [None] * 4

    def run(i: int) -> None:
        net, *given = pairs[i]
        for _ in range(20):
            found[i] = step(net, *given)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    close(found, wanted)


def test_a_call_inside_a_call_that_fails_leaves_the_outer_recording() -> None:
    class _Careful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.risky = nn.Linear(7, 7)

        def compute(self, input: Tensor) -> Tensor:
            try:
                return self.risky.run(input)
            except ValueError:
                return 2 * input

    net, input = nn.Sequential(_Careful(), nn.Tanh()), randn(6, 4)
    close(net.forward(input), torch.tanh(2 * input))
    close(net.backward(input, torch.ones(6, 4).double()), 2 * (1 - net.output**2))


def test_gradients_of_another_number_of_elements_are_refused() -> None:
    net = nn.Sequential().add(nn.ReLU()).double()
    net.get(1).gradInput = None
    input = randn(2, 3)
    net.forward(input)
    with pytest.raises(ValueError, match=r"gradOutput has size \(2, 4\)"):
        net.backward(input, randn(2, 4))

    class Short(nn.Module):
        def updateOutput(self, input: Any) -> Any:
            return input * 2

        def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
            return gradOutput[:1]

    net = nn.Sequential().add(nn.Linear(3, 3)).add(Short()).double()
    net.forward(input)
    with pytest.raises(ValueError, match=r"gradInput of .*Short has size \(1, 3\)"):
        net.backward(input, randn(2, 3))


def test_a_cut_behind_parameters_is_told() -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    net.get(2).gradInput = None
    with pytest.warns(UserWarning, match=r"the gradInput of nn\.Tanh is None.*get no gradient"):
        step(net, input, gradOutput)
    assert not net.get(1).gradWeight.any() and net.get(3).gradWeight.any()


def test_a_cut_at_the_input_is_nothing_to_tell(recwarn: pytest.WarningsRecorder) -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 6)
    net.get(1).gradInput = None
    wide = nn.ConcatTable().add(nn.Linear(4, 3).double()).add(net)
    wide.get(2).get(1).gradInput = None
    step(nn.Sequential(wide, nn.JoinTable(2)), input, gradOutput)
    assert not recwarn.list
