"""Passes are executed as Torch7 executes them.

What a program changes, reads or replaces between them counts.

The expected numbers come from formulas written here, or from autograd on the side.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from compat import nn, random, t7
from compat.nn.core.results import reuse_buffers
from dptable import DataParallelTable

pytestmark = pytest.mark.usefixtures("double_by_default")

X = torch.tensor([[0.3, -1.2, 2.0], [-0.4, 0.9, -2.5]]).double()
G = torch.tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]]).double()


@pytest.fixture(params=[False, True], ids=["new tensors", "buffers"], autouse=True)
def buffers(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = reuse_buffers(request.param)
    yield request.param
    reuse_buffers(before)


def close(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=1e-10, atol=1e-12)


# The backward of layers that read their output, as a formula of it.
OF_OUTPUT: dict[str, tuple[Callable[[], Any], Callable[[Tensor], Tensor]]] = {
    "Tanh": (nn.Tanh, lambda o: G * (1 - o * o)),
    "Sigmoid": (nn.Sigmoid, lambda o: G * o * (1 - o)),
    "Exp": (nn.Exp, lambda o: G * o),
    "ELU": (nn.ELU, lambda o: G * torch.where(o <= 0, o + 1, torch.ones_like(o))),
    "SoftPlus": (nn.SoftPlus, lambda o: G * (o.exp() - 1) / o.exp()),
    "SoftMax": (nn.SoftMax, lambda o: o * (G - (G * o).sum(1, True))),
    "SoftMin": (nn.SoftMin, lambda o: -o * (G - (G * o).sum(1, True))),
    "LogSoftMax": (nn.LogSoftMax, lambda o: G - o.exp() * G.sum(1, True)),
}
each_of_output = pytest.mark.parametrize("name", OF_OUTPUT)


@each_of_output
@pytest.mark.parametrize("in_net", [False, True])
def test_backward_reads_an_output_that_an_own_class_changes_in_place(
    name: str, in_net: bool
) -> None:
    make, gradient = OF_OUTPUT[name]

    class Halved(type(make())):  # type: ignore[misc]
        def updateOutput(self, input: Tensor) -> Tensor:
            super().updateOutput(input)
            return self.output.mul_(0.5)

    wanted = gradient(0.5 * make().forward(X).clone())
    net = nn.Sequential().add(Halved()) if in_net else Halved()
    for _ in range(4):
        net.forward(X)
        close(net.backward(X, G), wanted)


@each_of_output
def test_backward_reads_an_output_that_an_own_class_replaces(name: str) -> None:
    make, gradient = OF_OUTPUT[name]

    class Halved(type(make())):  # type: ignore[misc]
        def updateOutput(self, input: Tensor) -> Tensor:
            self.output = super().updateOutput(input) * 0.5
            return self.output

    wanted = gradient(0.5 * make().forward(X).clone())
    net = nn.Sequential().add(Halved())
    for _ in range(3):
        net.forward(X)
        close(net.backward(X, G), wanted)


@each_of_output
def test_backward_reads_an_output_changed_or_replaced_from_outside(name: str) -> None:
    make, gradient = OF_OUTPUT[name]
    net = nn.Sequential().add(make())
    output = net.forward(X).mul_(0.5)
    close(net.backward(X, G), gradient(output))
    net.get(1).output = output * 0.5
    close(net.backward(X, G), gradient(output * 0.5))


def test_an_own_forward_before_an_inherited_backward() -> None:
    class FastTanh(nn.Tanh):
        def updateOutput(self, input: Tensor) -> Tensor:
            self.output = self.output.resize_as_(input).copy_(input.tanh())
            return self.output

    class MyLinear(nn.Linear):
        def updateOutput(self, input: Tensor) -> Tensor:
            self.output = input @ self.weight.t() + self.bias
            return self.output

    m = FastTanh()
    m.forward(X)
    close(m.backward(X, G), G * (1 - X.tanh() ** 2))
    linear = MyLinear(3, 3)
    linear.zeroGradParameters()
    linear.forward(X)
    close(linear.backward(X, G), G @ linear.weight)
    close(linear.gradWeight, G.t() @ X)


def test_noise_of_an_own_forward_is_drawn_once() -> None:
    class NoisyLinear(nn.Linear):
        calls = 0

        def updateOutput(self, input: Tensor) -> Tensor:
            NoisyLinear.calls += 1
            return super().updateOutput(input + random.randn(*input.shape))

    random.manualSeed(1)
    m = NoisyLinear(3, 3)
    m.zeroGradParameters()
    for count in range(1, 4):
        before = random.getRNGState()
        m.forward(X)
        after = random.getRNGState()
        m.backward(X, G)
        assert torch.equal(after, random.getRNGState())
        assert not torch.equal(after, before)
        assert NoisyLinear.calls == count
        close(m.gradWeight, count * (G.t() @ X))  # of the input that backward is given
        close(m.gradInput, G @ m.weight)


def test_noise_of_an_own_layer_in_a_net_is_drawn_once() -> None:
    class ScaledDropout(nn.Dropout):
        def updateOutput(self, input: Tensor) -> Tensor:
            return super().updateOutput(input * 2)

    net = nn.Sequential().add(ScaledDropout(0.5)).add(nn.Exp())
    for _ in range(3):
        output = net.forward(X).clone()
        dropped = net.get(1).output == 0
        close(net.backward(X, G), torch.where(dropped, 0.0, G * output * 2))


def test_reading_results_after_a_layer_was_added_changes_nothing() -> None:
    net = nn.Sequential().add(nn.Linear(3, 3)).add(nn.View(3))
    net.forward(X)
    assert net.get(1).output.shape == net.get(2).output.shape == net.output.shape
    net.add(nn.LogSoftMax())
    output = net.forward(X)
    wanted = F.log_softmax(X @ net.get(1).weight.t() + net.get(1).bias, 1)
    for i in (1, 2, 3):
        assert net.get(i).output is not None
        close(output, wanted)
        assert net.output is output


def test_a_layer_that_is_added_counts_from_the_next_pass() -> None:
    net = nn.Sequential().add(nn.Exp())
    output = net.forward(X).clone()
    net.add(nn.Tanh())
    close(net.get(1).output, output)
    close(net.forward(X), output.tanh())


def test_gradients_of_a_second_backward_are_seen() -> None:
    net = nn.Sequential().add(nn.Exp()).add(nn.Tanh())
    net.forward(X)
    e = X.exp()
    for factor in (1, 2, 3):
        net.backward(X, factor * G)
        close(net.get(2).gradInput, factor * G * (1 - e.tanh() ** 2))
        close(net.get(1).gradInput, factor * G * (1 - e.tanh() ** 2) * e)
        close(net.gradInput, net.get(1).gradInput)
    net.forward(X)
    assert net.gradInput.shape == net.get(2).gradInput.shape == X.shape


def test_kept_references_to_inner_results(buffers: bool) -> None:
    net = nn.Sequential().add(nn.Exp()).add(nn.Tanh()).add(nn.Linear(3, 3))
    net.forward(X)
    net.backward(X, G)
    output, gradInput = net.get(2).output, net.get(3).gradInput
    first = output.clone(), gradInput.clone()
    for factor in (2, 3):
        net.forward(factor * X)
        net.backward(factor * X, factor * G)
        now = (factor * X).exp().tanh(), factor * G @ net.get(3).weight
        close((net.get(2).output, net.get(3).gradInput), now)
        close((output, gradInput), now if buffers else first)


def test_kept_outputs_of_an_own_layer_that_allocates_are_distinct() -> None:
    class Double(nn.Module):
        def updateOutput(self, input: Tensor) -> Tensor:
            self.output = input * 2
            return self.output

        def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
            self.gradInput = gradOutput * 2
            return self.gradInput

    net = nn.Sequential().add(nn.Identity()).add(Double())
    kept = [(net.forward(X * i), net.backward(X * i, G * i)) for i in (1, 2, 3)]
    for i, results in enumerate(kept, 1):
        close(results, (2 * i * X, 2 * i * G))


@pytest.mark.parametrize(
    ("make", "there", "slope"),
    [
        (lambda: nn.MulConstant(0.5, True), lambda x: x * 0.5, 0.5),
        (lambda: nn.AddConstant(4, True), lambda x: x + 4, 1),
    ],
)
def test_constants_in_place_put_the_input_back(make: Any, there: Any, slope: float) -> None:
    data = X.clone()
    net = nn.Sequential().add(make()).add(nn.Linear(3, 3))
    for _ in range(3):
        close(net.forward(data), there(X) @ net.get(2).weight.t() + net.get(2).bias)
        close(data, there(X))
        close(net.backward(data, G), G @ net.get(2).weight * slope)
        close(data, X)


@pytest.mark.parametrize("first", ["Tanh", "Sigmoid"])
@pytest.mark.parametrize(
    ("make", "slope"),
    [
        (lambda: nn.LeakyReLU(0.3, True), lambda o: torch.where(o > 0, 1.0, 0.3)),
        (lambda: nn.ELU(0.7, True), lambda o: torch.where(o <= 0, o + 0.7, 1.0)),
        (lambda: nn.ReLU(True), lambda o: (o > 0).double()),
    ],
    ids=["LeakyReLU", "ELU", "ReLU"],
)
def test_a_layer_reads_an_output_that_the_next_has_overwritten(
    first: str, make: Any, slope: Any
) -> None:
    net = nn.Sequential().add(getattr(nn, first)()).add(make())
    output = net.forward(X).clone()
    assert net.get(1).output is net.output or net.get(1).output.data_ptr() == net.output.data_ptr()
    inner = G * slope(output)
    wanted = inner * (1 - output * output if first == "Tanh" else output * (1 - output))
    close(net.backward(X, G.clone()), wanted)


class HalvedGradient(nn.Module):
    """Halves gradOutput in place."""

    def updateOutput(self, input: Any) -> Any:
        self.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput.mul_(0.5)
        return self.gradInput


def test_branches_get_gradients_of_their_own() -> None:
    def branches(*modules: Any, last: Any) -> Any:
        inner = nn.ConcatTable()
        for module in modules:
            inner.add(module)
        return nn.Sequential().add(inner).add(last)

    net = branches(HalvedGradient(), nn.Identity(), last=nn.CAddTable())
    net.forward(X)
    close(net.backward(X, G.clone()), 1.5 * G)
    add = nn.Add(3)
    add.zeroGradParameters()
    net = branches(add, HalvedGradient(), last=nn.CAddTable())
    net.forward(X)
    close(net.backward(X, G.clone()), 1.5 * G)
    close(add.gradBias, G.sum(0))
    linear = nn.Linear(3, 3)
    linear.zeroGradParameters()
    net = branches(linear, HalvedGradient(), last=nn.CSubTable())
    net.forward(X)
    close(net.backward(X, G.clone()), G @ linear.weight - 0.5 * G)
    close(linear.gradBias, G.sum(0))


@pytest.mark.parametrize(
    ("make", "grad", "wanted"),
    [
        (lambda: nn.Sum(2), G[:, 0], lambda: 0.5 * G[:, :1].expand(2, 3)),
        (lambda: nn.Mean(2), G[:, 0], lambda: G[:, :1].expand(2, 3) / 6),
        (lambda: nn.Replicate(4, 1), G.expand(4, 2, 3), lambda: 2 * G),
        (lambda: nn.Max(2), G[:, 0], lambda: 0.5 * G[:, :1] * (X.max(1, True)[0] == X)),
    ],
    ids=["Sum", "Mean", "Replicate", "Max"],
)
def test_a_layer_may_write_into_the_gradient_that_it_gets(
    make: Any, grad: Tensor, wanted: Any
) -> None:
    net = nn.Sequential().add(HalvedGradient()).add(make())
    net.forward(X)
    close(net.backward(X, grad.clone()), wanted())


def test_the_sum_in_place_of_slices_of_a_table() -> None:
    x = torch.stack([X, 2 * X, -X])
    net = nn.Sequential().add(nn.SplitTable(1)).add(nn.CAddTable(True))
    close(net.forward(x).clone(), 2 * X)
    close(net.backward(x, G), G.expand(3, 2, 3))


def test_fields_count_at_each_call() -> None:
    relu = nn.ReLU()
    relu.threshold, relu.val = 1, -5
    x = torch.tensor([-1.0, 1.0, 2.0])
    close(relu.forward(x), torch.tensor([-5.0, -5.0, 2.0]))
    close(relu.backward(x, torch.ones(3)), torch.tensor([0.0, 0.0, 1.0]))
    hard = nn.HardTanh(-1, 1)
    x = torch.linspace(-2, 2, 9)
    hard.forward(x)
    hard.max_val = 0.2
    close(hard.backward(x, torch.ones(9)), ((x > -1) & (x < 0.2)).double())
    bn = nn.BatchNormalization(3)
    bn.forward(X)
    bn.evaluate()
    scale = bn.weight / (bn.running_var + bn.eps).sqrt()
    close(bn.backward(X, G), G * scale)
    dropout = nn.Dropout(0.5)
    dropout.forward(X)
    dropout.evaluate()
    close(dropout.backward(X, G), G)


def nothing(*_: Any) -> None:
    pass


def test_containers_and_batch_normalization_have_a_backward_of_their_own() -> None:
    linear, net = nn.Linear(3, 3), nn.Sequential()
    net.add(linear).accGradParameters = nothing
    net.zeroGradParameters()
    net.forward(X)
    net.backward(X, G)
    close(linear.gradWeight, G.t() @ X)
    bn = nn.BatchNormalization(3)
    net = nn.Sequential().add(bn)
    bn.zeroGradParameters()
    bn.accGradParameters = nothing
    net.forward(X)
    net.backward(X, G)
    close(bn.gradBias, G.sum(0))
    linear.accGradParameters = nothing  # a Linear has not
    linear.zeroGradParameters()
    linear.forward(X)
    linear.backward(X, G)
    assert not linear.gradWeight.any()


def test_backward_returns_what_updateGradInput_stores() -> None:
    class Other(nn.Tanh):
        def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
            return super().updateGradInput(input, gradOutput) * 0

    wanted = G * (1 - X.tanh() ** 2)
    m = Other()
    m.forward(X)
    assert m.backward(X, G) is m.gradInput
    close(m.gradInput, wanted)
    net = nn.Sequential().add(nn.Identity()).add(Other())
    net.forward(X)
    close(net.backward(X, G), wanted)
    close(net.updateGradInput(X, G), wanted * 0)


@pytest.mark.parametrize("how", ["clone", "t7", "pickle"])
def test_copies_made_between_forward_and_backward(how: str) -> None:
    net = nn.Sequential().add(nn.Dropout(0.5)).add(nn.Linear(3, 3)).add(nn.Tanh())
    output = net.forward(X).clone()
    state = random.getRNGState()
    if how == "clone":
        other = net.clone()
        assert torch.equal(other.output, output)
        other.backward(X, G)
    elif how == "t7":
        other = t7.loads(t7.dumps(net))
    else:
        file = io.BytesIO()
        torch.save(net, file)
        file.seek(0)
        other = torch.load(file, weights_only=False)
    assert torch.equal(state, random.getRNGState())
    close(net.output, output)
    dropped = net.get(1).output == 0
    wanted = torch.where(dropped, 0.0, 2 * (G * (1 - output**2)) @ net.get(2).weight)
    close(net.backward(X, G), wanted)
    if how == "clone":
        close(other.gradInput, wanted)
    close(other.get(1).output, net.get(1).output)


def test_instance_methods_set_between_forward_and_backward() -> None:
    def made() -> Any:
        net = nn.Sequential().add(nn.Linear(3, 3)).add(nn.Tanh())
        net.zeroGradParameters()
        net.forward(X)
        return net

    net = made()
    net.get(1).accGradParameters = nothing
    net.backward(X, G)
    assert not net.get(1).gradWeight.any()
    del net.get(1).accGradParameters
    net.backward(X, G)
    assert net.get(1).gradWeight.any()
    net = made()

    def zero(input: Tensor, gradOutput: Tensor) -> Tensor:
        net.get(2).gradInput = gradOutput * 0
        return net.get(2).gradInput

    net.get(2).updateGradInput = zero
    assert not net.backward(X, G).any()
    net = made()
    net.modules[0] = net.modules[0].clone()
    net.backward(X, G)
    inner = G * (1 - net.output**2)
    close(net.get(1).gradWeight, inner.t() @ X)


def test_an_instance_method_replaced_in_forward() -> None:
    net = nn.Sequential().add(nn.Exp()).add(nn.Tanh())
    net.forward(X)
    first = net.get(1)

    def doubled(input: Tensor) -> Tensor:
        first.output = 2 * input
        return first.output

    first.updateOutput = doubled
    close(net.forward(X), (2 * X).tanh())
    close(net.backward(X, G), G * (1 - (2 * X).tanh() ** 2) * 2 * X)  # Exp's, of that output


def test_a_pass_that_fails_half_way_has_its_effects_once() -> None:
    class Failing(nn.Identity):
        fails = False

        def updateOutput(self, input: Tensor) -> Tensor:
            if self.fails:
                raise RuntimeError("half way")
            return super().updateOutput(input)

    bn = nn.BatchNormalization(3)
    net = nn.Sequential().add(bn).add(Failing())
    for _ in range(3):
        net.forward(X)
        net.backward(X, G)
    mean = bn.running_mean.clone()
    net.get(2).fails = True
    with pytest.raises(RuntimeError, match="half way"):
        net.forward(X)
    close(bn.running_mean, 0.9 * mean + 0.1 * X.mean(0))
    net.get(2).fails = False
    net.forward(X)
    close(bn.running_mean, 0.9 * (0.9 * mean + 0.1 * X.mean(0)) + 0.1 * X.mean(0))


# What a program does between two passes back.


def mlp() -> Any:
    return nn.Sequential().add(nn.Linear(3, 4)).add(nn.Tanh()).add(nn.Linear(4, 3))


def by_hand(net: Any, hidden: Tensor) -> list[Tensor]:
    """The gradients of ``mlp`` for its kept hidden output and today's parameters."""
    inner = (G @ net.get(3).weight) * (1 - hidden**2)
    return [inner.t() @ X, inner.sum(0), G.t() @ hidden, G.sum(0)]


def test_backward_twice_after_an_update_takes_kept_outputs_and_new_parameters() -> None:
    net = mlp()
    net.zeroGradParameters()
    net.forward(X)
    net.backward(X, G)
    net.updateParameters(0.3)
    hidden = net.get(2).output.clone()
    for _ in range(2):
        net.zeroGradParameters()
        net.backward(X, G)
        close(net.parameters()[1], by_hand(net, hidden))


def test_getParameters_between_forward_and_update() -> None:
    net = mlp()
    net.forward(X)
    flat, gradient = net.getParameters()
    hidden = net.get(2).output.clone()
    flat.mul_(0.5)
    for _ in range(2):
        gradient.zero_()
        net.backward(X, G)
        close(gradient, torch.cat([g.flatten() for g in by_hand(net, hidden)]))


def test_a_module_twice_in_a_net() -> None:
    linear = nn.Linear(3, 3)
    net = nn.Sequential().add(linear).add(nn.Tanh()).add(linear)
    net.zeroGradParameters()
    net.forward(X)
    # As in Torch7, linear.output is that of the second call; Tanh keeps its own.
    hidden = net.get(2).output.clone()
    close(net.backward(X, G), (G @ linear.weight * (1 - hidden**2)) @ linear.weight)
    close(linear.gradWeight, G.t() @ hidden + (G @ linear.weight * (1 - hidden**2)).t() @ X)


# What hand ports stumbled over.


class Listing(nn.Module):
    """Has a table as output, as own layers of scripts do, and fields of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.output: Any = []
        self.gradInput: Any = []
        self.empty: Any = []
        self.numbered = {1: "one", 3: "three"}
        self.named = {"rate": 0.5, "sizes": [2, 3]}
        self.list = [1, 2.5, "x", None, True]
        self.pair = (1, 2)
        self.options = t7.loads(t7.dumps({"rate": 0.5}))
        self.nested = {"a": [[], {}, {1: "x"}]}
        self.tensors = [torch.ones(2), torch.zeros(1)]

    def updateOutput(self, input: Tensor) -> Any:
        self.output = [input, 2 * input]
        return self.output


@pytest.mark.parametrize(
    "through",
    [
        lambda m: m.clone(),
        lambda m: m.float(),
        lambda m: m.type("torch.FloatTensor"),
        lambda m: m.clearState(),
        lambda m: t7.loads(t7.dumps(m)),
        lambda m: DataParallelTable(1).add(nn.Sequential().add(m), [1, 2]).get(1).get(1),
        lambda m: nn.Sequential().add(m).float().get(1),
        lambda m: nn.Sequential().add(m).clearState().get(1),
        lambda m: t7.loads(t7.dumps(nn.Sequential().add(m))).get(1),
    ],
    ids=[
        "clone",
        "float",
        "type",
        "clearState",
        "t7",
        "DataParallelTable",
        "net float",
        "net clearState",
        "net t7",
    ],
)
@pytest.mark.parametrize("ran", [False, True])
def test_an_output_that_is_a_table_stays_one(through: Any, ran: bool) -> None:
    m = Listing()
    if ran:
        m.forward(X)
    found = through(m)
    assert isinstance(found.output, list)
    assert found.gradInput == []
    assert found.empty == []
    if not ran:
        assert found.output == []


def test_fields_of_own_layers_keep_their_kind_in_a_file() -> None:
    found = t7.loads(t7.dumps(Listing()))
    own = Listing()
    assert found.numbered == own.numbered
    assert found.named == own.named
    assert found.named["sizes"] == [2, 3]
    assert isinstance(found.tensors, list)
    assert found.list == own.list
    assert found.empty == [] and found.pair == (1, 2)
    assert found.options.rate == 0.5 and found.nested == {"a": [[], {}, {1: "x"}]}
    again = t7.loads(t7.dumps(found))
    assert {k: v for k, v in vars(again).items() if k not in ("tensors",)} == {
        k: v for k, v in vars(found).items() if k not in ("tensors",)
    }
    close(found.tensors, own.tensors)


def test_running_statistics_written_between_forward_and_backward() -> None:
    bn = nn.BatchNormalization(3)
    bn.forward(X)
    wanted = bn.backward(X, G).clone()
    bn.zeroGradParameters()
    bn.forward(X)
    bn.running_mean.fill_(5)
    bn.running_var.fill_(7)
    close(bn.backward(X, G), wanted)
    x = X.clone().requires_grad_()
    F.batch_norm(x, None, None, bn.weight, bn.bias, True, 0.1, bn.eps).backward(G)
    close(wanted, x.grad)
    assert (bn.running_mean == 5).all()


def test_converting_a_part_of_a_flat_net_leaves_the_flat_tensor_behind() -> None:
    net = mlp()
    flat, gradient = net.getParameters()
    before = flat.clone()
    net.get(1).float()
    assert net.get(1).weight.dtype == torch.float32
    net.get(1).weight.fill_(3)
    close(flat, before)  # stale
    assert flat.dtype == gradient.dtype == torch.float64
    net.get(3).float()
    assert net.forward(X.float()).dtype == torch.float32
    net.backward(X.float(), G.float())
    close(flat, before)
    again, _ = net.float().getParameters()
    assert again.dtype == torch.float32 and again.numel() == flat.numel()


def stripped(net: Any) -> bytes:
    """A file of the net without gradients, as programs write them to save space."""
    raw = t7.loads(t7.dumps(net), raw=True)

    def strip(thing: Any) -> None:
        for name in ("gradWeight", "gradBias"):
            thing.fields.pop(name, None)
        for child in thing.fields.get("modules") or []:
            strip(child)

    strip(raw)
    return t7.dumps(raw)


def test_gradients_that_a_file_lacks_stay_absent_until_asked_for() -> None:
    small = stripped(mlp())
    net = t7.loads(small)
    net.forward(X)
    written = t7.dumps(net.clearState())
    assert len(written) < 1.2 * len(small)
    for layer in (1, 3):
        fields = t7.loads(written, raw=True).fields["modules"][layer].fields
        assert "gradWeight" not in fields and "gradBias" not in fields
    close(t7.loads(written).get(1).weight, net.get(1).weight)


@pytest.mark.parametrize("how", ["getParameters", "train", "backward", "clone"])
def test_gradients_that_a_file_lacks_are_zeros_when_asked_for(how: str) -> None:
    net = t7.loads(stripped(mlp()))
    if how == "clone":
        net = net.clone()
    if how == "getParameters":
        flat, gradient = net.getParameters()
        assert not gradient.any() and gradient.shape == flat.shape
    elif how == "train":
        net.zeroGradParameters()
    net.forward(X)
    hidden = net.get(2).output.clone()
    net.backward(X, G)
    close(net.parameters()[1], by_hand(net, hidden))


def test_recursiveCopy_copies_into_what_is_there() -> None:
    first = torch.zeros(2)
    into: Any = [first, {"a": torch.zeros(1)}]
    source = [torch.arange(3.0), {"a": torch.ones(1), "b": torch.ones(2)}]
    made, given = nn.utils.recursiveCopy(into, source)
    assert made is into and given is source
    assert made[0] is first  # resized
    close(made, source)
    source[0].fill_(9)
    assert made[0][1] == 1
    # Nothing, or something else than a tensor, gives way to a new tensor.
    copy, _ = nn.utils.recursiveCopy(None, source)
    close(copy, source)
    assert copy[0] is not source[0]
    # A tensor where a table comes is its first entry; entries that the source lacks stay.
    copy, _ = nn.utils.recursiveCopy(first, [torch.ones(1), torch.ones(2)])
    assert copy[0] is first and len(copy) == 2
    copy, _ = nn.utils.recursiveCopy([torch.zeros(1), torch.zeros(2)], [torch.ones(1)])
    close(copy, [torch.ones(1), torch.zeros(2)])
    # Types stay.
    single = torch.zeros(1, dtype=torch.float32)
    copy, _ = nn.utils.recursiveCopy(single, torch.ones(2))
    assert copy is single and copy.dtype == torch.float32 and copy.shape == (2,)
    with pytest.raises(TypeError):
        nn.utils.recursiveCopy([], "table")
