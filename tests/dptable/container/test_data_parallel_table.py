"""What DataParallelTable promises beyond the Lua class, and the corners where it could go wrong."""

from __future__ import annotations

import copy
import io
import operator
import pickle
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from support.tensors import given_to, on, randn
from torch import Tensor

from compat import cutorch, nn, random, t7
from dptable import DataParallelTable
from dptable.container import parameters as link
from dptable.container.replicas import make_replicas

pytestmark = pytest.mark.devices(4)

DISPATCHERS = pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
FLAT = pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])


@pytest.fixture(autouse=True)
def four_devices() -> None:
    random.manualSeed(1)
    torch.manual_seed(1)


Make = Callable[..., Any]


@pytest.fixture
def make() -> Iterator[Make]:
    """A container over a copy of a net, closed when the test ends."""
    made: list[DataParallelTable] = []

    def over(
        net: Any, threads: bool = False, flat: bool = False, replicas: int = 2, **options: Any
    ) -> DataParallelTable:
        dpt = DataParallelTable(1, flat, **options)
        if threads:
            dpt.threads()
        made.append(dpt)
        tower = net.clone() if isinstance(net, nn.Module) else net
        return dpt.add(tower, list(range(1, replicas + 1)))

    yield over
    for dpt in made:
        dpt.close()


def close(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=1e-9, atol=1e-11)


def mlp() -> Any:
    return nn.Sequential().add(nn.Linear(4, 5)).add(nn.Tanh()).add(nn.Linear(5, 3)).double()


def step(net: Any, input: Any, gradOutput: Any, scale: float = 1) -> list[Any]:
    input, gradOutput = given_to(net, (input, gradOutput))
    net.zeroGradParameters()
    output = net.forward(input)
    gradInput = net.backward(input, gradOutput, scale)
    return [output, gradInput, [g.clone() for g in net.parameters()[1] if g is not None]]


def same_step(dpt: Any, bare: Any, input: Any, gradOutput: Any) -> None:
    """One step gives the same on both; the input is copied, for layers that write into it."""
    close(step(dpt, input.clone(), gradOutput), step(bare, input.clone(), gradOutput))


# Layers that are hard on replicas.


@DISPATCHERS
def test_a_first_layer_that_writes_into_its_slice(make: Make, threads: bool) -> None:
    bare = nn.Sequential().add(nn.ReLU(True)).add(nn.Linear(4, 3)).double()
    same_step(make(bare, threads), bare, randn(6, 4), randn(6, 3))


@DISPATCHERS
@FLAT
def test_rows_that_are_renormalised_by_several_replicas(
    make: Make, threads: bool, flat: bool
) -> None:
    bare = nn.LookupTable(8, 20000, 0, 0.5)
    dpt = make(bare, threads, flat, replicas=4)
    for _ in range(20):
        input = torch.randint(1, 9, (8, 10))
        for net in (dpt.get(1), bare):
            net.weight.fill_(1)
        torch.testing.assert_close(dpt.forward(input), bare.forward(input))
        torch.testing.assert_close(dpt.get(1).weight, bare.weight)


@DISPATCHERS
@FLAT
def test_weights_shared_by_branches_of_a_replica(make: Make, threads: bool, flat: bool) -> None:
    first = mlp()
    names = ("weight", "bias", "gradWeight", "gradBias")
    bare = nn.ConcatTable().add(first).add(first.clone(*names)).add(first)
    dpt = make(bare, threads, flat, replicas=3)
    for _ in range(3):
        input, gradOutput = randn(7, 4), [randn(7, 3) for _ in range(3)]
        close(step(dpt, input, gradOutput), step(bare, input, gradOutput))


class _Repeating(nn.Module):
    """Applies an inner net three times over, as recurrent modules do, the Torch7 way."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential().add(nn.Linear(4, 4)).add(nn.Tanh()).double()

    def parameters(self) -> Any:
        return self.inner.parameters()

    def updateOutput(self, input: Tensor) -> Tensor:
        self.inputs = [input]
        for _ in range(3):
            self.inputs.append(self.inner.forward(self.inputs[-1]).clone())
        self.output = self.inputs[-1]
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return self._back(gradOutput, 0)

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> None:
        self._back(gradOutput, scale)

    def _back(self, gradient: Tensor, scale: float) -> Tensor:
        for input in reversed(self.inputs[:-1]):
            self.inner.forward(input)
            if scale:
                gradient = self.inner.backward(input, gradient, scale).clone()
            else:
                gradient = self.inner.updateGradInput(input, gradient).clone()
        self.gradInput = gradient
        return gradient


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("inside", [False, True], ids=["alone", "inside"])
def test_modules_that_go_back_several_times(
    make: Make, threads: bool, flat: bool, inside: bool
) -> None:
    bare: Any = _Repeating()
    if inside:
        bare = nn.Sequential().add(nn.Linear(4, 4).double()).add(bare).add(nn.Tanh())
    dpt = make(bare, threads, flat, replicas=4)
    for _ in range(5):
        input, gradOutput = randn(8, 4), randn(8, 4)
        close(step(dpt, input, gradOutput), step(bare, input, gradOutput))


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("late", [False, True], ids=["from the start", "later"])
def test_frozen_layers(make: Make, threads: bool, flat: bool, late: bool) -> None:
    bare = mlp()
    if not late:
        bare.get(1).gradWeight = None
    dpt = make(bare, threads, flat, replicas=3)
    for i in range(3):
        if late and i == 1:
            bare.get(1).gradWeight = dpt.get(1).get(1).gradWeight = None
        close(step(dpt, *(given := (randn(5, 4), randn(5, 3)))), step(bare, *given))
        dpt.updateParameters(0.1)
        bare.updateParameters(0.1)
        close(dpt.parameters()[0], bare.parameters()[0])
    if flat:
        x, dx = dpt.getParameters()
        trained = [p for p in bare.parameters()[0] if p.grad is not None]
        close(x, torch.cat([p.flatten() for p in trained]))
        close(dx, torch.cat([p.grad.flatten() for p in trained]))


@DISPATCHERS
def test_flattening_is_switched_off(make: Make, threads: bool) -> None:
    bare = mlp()
    dpt = make(bare, threads, True)
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    dpt.flattenParams = False
    for replicas in (2, 3):
        dpt.close()
        dpt.gpuAssignments = list(range(1, replicas + 1))
        same_step(dpt, bare, randn(5, 4), randn(5, 3))
        assert dpt.flattenedParams is None
        for net in (dpt, bare):
            net.updateParameters(0.1)


@DISPATCHERS
def test_frozen_parameters_reach_replicas_that_have_their_own(
    make: Make, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "_share_storage", lambda replicas: None)
    bare = mlp()
    bare.get(1).gradWeight = None
    dpt = make(bare, threads, True)
    given = randn(5, 4), randn(5, 3)
    for net in (dpt.get(1), bare):
        step(net, *given)
        net.get(1).weight.fill_(0.5)
    dpt.syncParameters()
    same_step(dpt, bare, *given)


@DISPATCHERS
@FLAT
def test_layers_that_are_trained_again(make: Make, threads: bool, flat: bool) -> None:
    bare = mlp()
    dpt = make(bare, threads, flat, replicas=3)
    given = randn(5, 4), randn(5, 3)

    def accumulate(nets: Any = (dpt, bare)) -> None:
        for net in nets:
            net.forward(given[0])
            net.backward(*given)

    accumulate()
    for net in (dpt.get(1), bare):
        net.get(1).gradWeight = None
    for _ in range(3):
        accumulate()
    for net in (dpt.get(1), bare):
        net.get(1).gradWeight = torch.zeros_like(net.get(1).weight)
        for gradient in net.parameters()[1]:
            gradient.zero_()
    accumulate()
    close(dpt.parameters()[1], bare.parameters()[1])


@DISPATCHERS
@FLAT
def test_parameters_per_replica_with_some_frozen(make: Make, threads: bool, flat: bool) -> None:
    bare = mlp()
    bare.get(1).gradWeight = None
    dpt = make(bare, threads, flat)
    step(dpt, randn(5, 4), randn(5, 3))
    own = dict(zip(*dpt.parameters(), strict=True))
    for parameters, gradients in dpt.moduleParameters():
        assert len(parameters) == len(gradients) == (2 if flat else 4)
        assert gradients[-1] is None and parameters[-1].shape == (5, 4)
        assert all(p.shape == g.shape for p, g in zip(parameters[:-1], gradients, strict=False))
    if not flat:
        parameters, gradients = dpt.moduleParameters()[0]
        assert all(own[p] is g for p, g in zip(parameters, gradients, strict=True))


@DISPATCHERS
@pytest.mark.parametrize("own", [False, True], ids=["one device", "each its own"])
def test_frozen_parameters_of_torch_towers(
    make: Make, threads: bool, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if own:
        monkeypatch.setattr(link, "_share_storage", lambda replicas: None)
    tower = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 3)).double()
    tower[0].requires_grad_(False)
    dpt = make(tower, threads)
    input = randn(5, 4)
    dpt.forward(input)
    tower.load_state_dict({name: torch.randn_like(t) for name, t in tower.state_dict().items()})
    close(dpt.syncParameters().forward(input), tower(on(1, input)).detach())


def test_a_wholly_frozen_torch_tower_moves_to_its_device(monkeypatch: Any) -> None:
    moved: list[torch.device] = []
    monkeypatch.setattr(nn.Module, "move", lambda module, device: moved.append(device))
    net = nn.Sequential(torch.nn.Linear(2, 3).requires_grad_(False))
    make_replicas(net, [torch.device("meta")])
    assert moved == [torch.device("meta")]


@DISPATCHERS
@FLAT
def test_layers_frozen_by_replacing_a_method(make: Make, threads: bool, flat: bool) -> None:
    bare = mlp()
    bare.get(1).accGradParameters = lambda input, gradOutput, scale=1: None
    dpt = make(bare, threads, flat)
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    assert not dpt.get(1).get(1).gradWeight.any()
    assert dpt.get(1).get(3).gradWeight.any()


@DISPATCHERS
def test_a_method_of_one_object(make: Make, threads: bool) -> None:
    seen = []

    def watched(self: Any, input: Tensor) -> Any:
        seen.append(self)
        return type(self).updateOutput(self, input)

    bare = mlp()
    net = bare.clone()
    net.get(2).updateOutput = types.MethodType(watched, net.get(2))
    dpt = make(net, threads)
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    assert set(seen) == {replica.get(2) for replica in dpt.exec(lambda m, i: m)}


@DISPATCHERS
def test_running_statistics_belong_to_each_replica(make: Make, threads: bool) -> None:
    dpt = make(nn.BatchNormalization(3).double(), threads)
    input = randn(8, 3)
    dpt.forward(input)
    for replica, rows in zip(dpt.exec(lambda m, i: m), input.chunk(2), strict=True):
        close(replica.running_mean, 0.1 * rows.mean(0))
    # Every replica uses its own in evaluate, as in Torch7.
    output = dpt.evaluate().forward(input)
    for replica, part in zip(dpt.exec(lambda m, i: m), output.chunk(2), strict=True):
        close(part, replica.output)


# Containers in containers.


@DISPATCHERS
@FLAT
def test_a_container_in_a_container(make: Make, threads: bool, flat: bool) -> None:
    bare = mlp()
    inner = make(bare, threads, flat)
    dpt = make(nn.Sequential().add(inner).add(nn.Tanh()), threads, flat)
    whole = nn.Sequential().add(bare).add(nn.Tanh())
    for size in (1, 2, 3, 9):
        same_step(dpt, whole, randn(size, 4), randn(size, 3))
        dpt.updateParameters(0.1)
        whole.updateParameters(0.1)
    inner.close()
    dpt.exec(lambda module, i: module.get(1).close())


@DISPATCHERS
def test_a_container_inside_follows_the_one_around(
    make: Make, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "_share_storage", lambda replicas: None)
    bare = mlp()
    inner = make(bare, threads)
    dpt = make(nn.Sequential().add(inner), threads)
    for size in (4, 1, 4):  # with one row the other replica does not go back
        same_step(dpt, bare, randn(size, 4), randn(size, 3))
        for p, g in zip(*dpt.parameters(), strict=True):
            p.sub_(g)
        for p, g in zip(*bare.parameters(), strict=True):
            p.sub_(g)
    for net in (dpt, bare):
        net.parameters()[0][0].fill_(0.5)
    dpt.syncParameters()
    same_step(dpt, bare, randn(4, 4), randn(4, 3))
    inner.close()
    dpt.exec(lambda module, i: module.get(1).close())


@DISPATCHERS
def test_two_containers_side_by_side(make: Make, threads: bool) -> None:
    nets = [mlp(), mlp()]
    pair = nn.Concat(2).add(make(nets[0], threads)).add(make(nets[1], threads, replicas=3))
    same_step(pair, nn.Concat(2).add(nets[0]).add(nets[1]), randn(5, 4), randn(5, 6))


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("around", [False, True], ids=["itself", "in another net"])
def test_two_containers_over_one_net(make: Make, threads: bool, flat: bool, around: bool) -> None:
    bare = nn.Sequential().add(nn.Linear(4, 5)).add(nn.Tanh()).add(nn.Linear(5, 4)).double()
    bare.move(cutorch.device(1))
    layer = nn.Sequential().add(bare)
    first = DataParallelTable(1, flat).add(bare, [1, 2])
    second = DataParallelTable(1, flat).add(layer if around else bare, [1, 2, 3])
    for dpt in (first, second):
        if threads:
            dpt.threads()
    input, gradOutput = on(1, (randn(5, 4), randn(5, 4)))
    alone = bare.clone()
    for dpt in (first, second, first):
        close(step(dpt, input, gradOutput), step(alone, input, gradOutput))
    # As in Torch7 a net holds the results of one pass.
    first.forward(input)
    second.forward(on(1, randn(9, 4)))
    with pytest.raises(RuntimeError, match="forward in another container; go forward again"):
        first.backward(input, gradOutput)
    for pair in (nn.Sequential(), nn.ConcatTable()):
        output = pair.add(first).add(second).forward(input)
        with pytest.raises(RuntimeError, match="go forward again"):
            pair.backward(input, output)
    close(step(first, input, gradOutput), step(alone, input, gradOutput))
    first.close()
    second.close()


# gradInput and gradOutput.


@DISPATCHERS
def test_gradInput_that_is_not_wanted(make: Make, threads: bool) -> None:
    bare = mlp()
    dpt = make(bare, threads)
    dpt.gradInput = None
    bare.get(1).gradInput = None
    input, gradOutput = randn(5, 4), randn(5, 3)
    assert step(dpt, input, gradOutput)[1] is None
    close(dpt.parameters()[1], step(bare, input, gradOutput)[2])
    assert dpt.updateGradInput(input, gradOutput) is None

    # Switched off inside, on the first layer of the replicas.
    inside = make(bare, threads)
    assert step(inside, input, gradOutput)[1] is None
    close(inside.parameters()[1], bare.parameters()[1])
    assert step(nn.Sequential().add(inside), input, gradOutput)[1] is None


@DISPATCHERS
def test_gradInput_that_is_wanted_again(make: Make, threads: bool) -> None:
    bare = mlp()
    dpt = make(bare, threads)
    given = randn(5, 4), randn(5, 3)
    # Switched off inside, and on again.
    dpt.get(1).get(1).gradInput = None
    dpt.apply(lambda m: None)
    assert step(dpt, *given)[1] is None
    dpt.get(1).get(1).gradInput = randn(0)
    dpt.apply(lambda m: None)
    same_step(dpt, bare, *given)
    # Between forward and backward.
    dpt.gradInput = None
    dpt.forward(given[0])
    dpt.gradInput = randn(0)
    bare.forward(given[0])
    close(dpt.backward(*given), bare.backward(*given))
    same_step(dpt, bare, *given)
    close(dpt.gradInput, bare.gradInput)


@DISPATCHERS
def test_a_scale_that_is_nil(make: Make, threads: bool) -> None:
    bare = mlp()
    dpt = make(bare, threads)
    input, gradOutput = randn(5, 4), randn(5, 3)
    for net in (dpt, bare):
        net.zeroGradParameters()
        net.forward(input)
        net.backward(input, gradOutput, None)
        net.accGradParameters(input, gradOutput, None)
    close(dpt.parameters()[1], bare.parameters()[1])


@DISPATCHERS
def test_a_gradOutput_that_lacks_entries(make: Make, threads: bool) -> None:
    bare = nn.ConcatTable().add(mlp()).add(mlp())
    input, gradOutput = randn(5, 4), [randn(5, 3), None]
    close(step(make(bare, threads), input, gradOutput), step(bare, input, gradOutput))


@DISPATCHERS
def test_the_two_halves_of_backward_with_different_gradients(make: Make, threads: bool) -> None:
    bare = mlp()
    dpt = make(bare, threads)
    input, first, second = randn(5, 4), randn(5, 3), randn(5, 3)
    for net in (dpt, bare):
        net.zeroGradParameters()
        net.forward(input)
        net.updateGradInput(input, first)
        net.accGradParameters(input, first)
        net.accGradParameters(input, second, 0.5)
        net.backward(input, second)
    close(dpt.parameters()[1], bare.parameters()[1])
    close(dpt.gradInput, bare.gradInput)


@pytest.mark.parametrize(
    ("gradOutput", "error", "message"),
    [
        (
            torch.ones(4, 3),
            ValueError,
            "gradOutput has size 4 in dimension 1; that of output, 5, is",
        ),
        ([torch.ones(5, 3)], TypeError, "gradOutput is a list where output is a tensor"),
        (3.0, TypeError, "gradOutput is a float where output is a tensor"),
    ],
)
def test_a_gradOutput_of_another_shape(
    make: Make, gradOutput: Any, error: type[Exception], message: str
) -> None:
    dpt = make(mlp().float())
    dpt.forward(torch.ones(5, 4))
    with pytest.raises(error, match=message):
        dpt.backward(torch.ones(5, 4), gradOutput)
    assert not any(g.any() for g in dpt.parameters()[1])


def test_a_gradOutput_table_of_another_length(make: Make) -> None:
    dpt = make(nn.ConcatTable().add(nn.Identity()).add(nn.Identity()))
    dpt.forward(torch.ones(4, 2))
    for wrong in ([torch.ones(4, 2)] * 3, [torch.ones(4, 2)], torch.ones(4, 2)):
        with pytest.raises(TypeError, match=r"gradOutput is a .* where output is a table of 2"):
            dpt.backward(torch.ones(4, 2), wrong)


def test_an_input_that_cannot_be_split(make: Make) -> None:
    dpt = DataParallelTable(3).add(nn.Identity(), [1, 2])
    with pytest.raises(ValueError, match=r"input has 2 dimensions; one that has dimension 3"):
        dpt.forward(torch.ones(4, 2))
    for input, place in (
        (None, "input is None"),
        (["a"], r"input\[1\] is a str"),
        (3, "input is an int"),
    ):
        with pytest.raises(
            TypeError, match=f": {place}; a tensor or a table of tensors is accepted"
        ):
            dpt.forward(input)
    with pytest.raises(TypeError, match=r"input\[2\]\['a'\] is None; a tensor or a table"):
        DataParallelTable(1).add(nn.Identity(), [1, 2]).forward([torch.ones(4, 2), {"a": None}])


# The caller's surroundings reach the replicas.


@DISPATCHERS
def test_no_grad_holds_in_the_replicas(make: Make, threads: bool) -> None:
    dpt = make(mlp(), threads)
    seen = []
    dpt.exec(lambda m, i: None)
    for replica in dpt.impl.modules:
        replica.get(2).updateOutput = lambda input: seen.append(torch.is_grad_enabled()) or input
    with torch.no_grad():
        dpt.forward(randn(5, 4))
    assert seen == [False, False]
    for replica in dpt.impl.modules:
        del replica.get(2).updateOutput
    with torch.inference_mode():
        assert dpt.forward(randn(5, 4)).is_inference()


@DISPATCHERS
def test_autocast_holds_in_the_replicas(make: Make, threads: bool) -> None:
    dpt = make(nn.Linear(4, 3), threads)
    with torch.autocast(cutorch.device(1).type, dtype=torch.bfloat16):
        assert dpt.forward(torch.randn(5, 4)).dtype == torch.bfloat16
    assert dpt.forward(torch.randn(5, 4)).dtype == torch.float32


# torch.nn towers.


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("late", [False, True], ids=["zero_grad first", "zero_grad late"])
def test_torch_towers_and_optimizers(make: Make, threads: bool, flat: bool, late: bool) -> None:
    tower = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    bare = torch.nn.Sequential(*[torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)])
    bare.load_state_dict(tower.state_dict())
    tower.double()
    bare.double()
    dpt = make(tower, threads, flat, replicas=3)
    optimizers = [
        torch.optim.SGD(list(p), lr=0.1, momentum=0.9)
        for p in (dpt.parameters()[0], bare.parameters())
    ]
    for _ in range(4):
        input, gradOutput = randn(7, 4), randn(7, 3)
        if not late:
            optimizers[0].zero_grad()
        output = dpt.forward(input)
        if late:
            optimizers[0].zero_grad()
        dpt.backward(input, gradOutput)
        optimizers[0].step()
        optimizers[1].zero_grad()
        wanted = bare(input)
        wanted.backward(gradOutput)
        optimizers[1].step()
        close(output, wanted.detach())
        close(list(tower.parameters()), list(bare.parameters()))


@DISPATCHERS
def test_torch_towers_in_flat_storage(make: Make, threads: bool) -> None:
    tower = torch.nn.Linear(4, 3)
    dpt = make(tower, threads, True)
    x, dx = dpt.getParameters()
    step(dpt, torch.ones(5, 4), torch.ones(5, 3))
    close(dx, torch.full((15,), 5.0))
    x.zero_()
    assert not dpt.forward(torch.ones(5, 4)).any()
    assert tower.weight.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


# What is refused.


def test_what_torch7_refuses(make: Make) -> None:
    dpt = make(mlp())
    dpt.forward(randn(4, 4))
    with pytest.raises(RuntimeError, match="share is not supported"):
        dpt.share(mlp(), "weight")
    with pytest.raises(ValueError, match="sharing is not supported"):
        dpt.clone("weight")
    with pytest.raises(RuntimeError, match="accUpdateGradParameters is not supported"):
        dpt.accUpdateGradParameters(randn(4, 4), randn(4, 3), 0.1)


def test_backward_needs_a_forward_pass_that_worked(make: Make) -> None:
    dpt = make(mlp())
    with pytest.raises(RuntimeError, match="backward needs a forward pass first"):
        dpt.backward(randn(4, 4), randn(4, 3))
    dpt.forward(randn(4, 4))
    with pytest.raises(ValueError, match="input has 7 features"):
        dpt.forward(randn(4, 7))
    with pytest.raises(RuntimeError, match="backward needs a forward pass first"):
        dpt.backward(randn(4, 4), randn(4, 3))


@DISPATCHERS
def test_backward_is_that_of_the_latest_forward(make: Make, threads: bool) -> None:
    dpt = make(mlp(), threads)
    input, gradOutput = randn(5, 4), randn(5, 3)
    wanted = step(dpt, input, gradOutput)
    for other in (randn(5, 4), randn(9, 4), dpt.inputGpu, None):
        dpt.zeroGradParameters()
        close(dpt.backward(other, gradOutput), wanted[1])
        close(dpt.parameters()[1], wanted[2])


@DISPATCHERS
def test_numbers_that_are_none(make: Make, threads: bool) -> None:
    dpt = make(mlp(), threads)
    given = randn(5, 4), randn(5, 3)
    dpt.forward(given[0])
    dpt.backward(*given)
    before = [t.clone() for t in (*dpt.parameters()[0], *dpt.parameters()[1])]
    for wrong in ("1", [1], torch.ones(2), 1j):
        for method in (dpt.backward, dpt.accGradParameters):
            with pytest.raises(TypeError, match=r"scale is .*; a number is accepted"):
                method(*given, wrong)
        with pytest.raises(TypeError, match=r"learningRate is .*; a number is accepted"):
            dpt.updateParameters(wrong)
        if wrong is not None:
            with pytest.raises(TypeError, match=r"stdv is .*; a number is accepted"):
                dpt.reset(wrong)
    close([*dpt.parameters()[0], *dpt.parameters()[1]], before)
    for number in (np.float32(0.5), np.int64(1), torch.tensor(0.5)):
        dpt.forward(given[0])
        dpt.backward(*given, number)
        dpt.updateParameters(number)


def test_arguments(make: Make) -> None:
    with pytest.raises(ValueError, match=r"dimension is 0; .*dimensions count from 1"):
        DataParallelTable(0)
    with pytest.raises(ValueError, match="flattenParams is False; with usenccl, True"):
        DataParallelTable(1, False, True)
    with pytest.raises(ValueError, match="GPU ids count from 1"):
        DataParallelTable(1).add(mlp(), [0, 1])
    with pytest.raises(ValueError, match="gpus is empty"):
        DataParallelTable(1).add(mlp(), [])
    for gpus in (None, 1.5, [None], True):
        with pytest.raises(TypeError, match=r"device is .*; a GPU id"):
            DataParallelTable(1).add(mlp(), gpus)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="type is 3; the name of a tensor type"):
        make(mlp()).type(3)
    with pytest.raises(ValueError, match="accepted in the first call of add"):
        make(mlp()).add(mlp(), [1])
    with pytest.raises(TypeError, match="initFunc is a str; a function is accepted"):
        DataParallelTable(1).threads("print")  # type: ignore[arg-type]
    for use in (
        DataParallelTable.training,
        DataParallelTable.reset,
        lambda d: d.updateParameters(0.1),
        lambda d: d.forward(randn(2, 2)),
    ):
        with pytest.raises(RuntimeError, match=r"no net yet; call add\(module, gpus\) first"):
            use(DataParallelTable(1))


@FLAT
@pytest.mark.filterwarnings("ignore:torch.CudaDoubleTensor means cpu")
def test_a_type_of_a_module_s_own_is_called(make: Make, flat: bool) -> None:
    class Own(nn.Linear):
        typename = "Own"
        told = ""

        def type(self, type: Any = None, tensorCache: Any = None) -> Any:
            if type is not None:
                self.told = type
            return super().type(type, tensorCache)

    dpt = make(nn.Sequential(Own(4, 3), nn.Tanh()), flat=flat)
    dpt.type("torch.CudaDoubleTensor")
    assert dpt.get(1).get(1).told == "torch.CudaDoubleTensor"
    assert dpt.forward(torch.ones(4, 4).double()).dtype == torch.float64


def test_gpu_ids_of_other_number_types(make: Make) -> None:
    dpt: Any = DataParallelTable(1).add(mlp(), np.array([3, 2]))
    dpt.add(mlp(), np.int64(1))
    assert [(type(gpu), gpu) for gpu in dpt.gpuAssignments] == [(int, 3), (int, 2), (int, 1)]


# Use and reuse.


@DISPATCHERS
@pytest.mark.parametrize("method", ["apply", "replace"])
def test_a_callback_that_fails_half_way(make: Make, threads: bool, method: str) -> None:
    dpt = make(nn.Sequential().add(nn.MulConstant(1)).add(nn.Tanh()).double(), threads)
    input = randn(5, 4)
    dpt.forward(input)

    def callback(module: Any) -> Any:
        if isinstance(module, nn.MulConstant):
            module.constant_scalar = 3
        if isinstance(module, nn.Tanh):
            raise ValueError("enough")
        return module

    with pytest.raises(ValueError, match="enough"):
        getattr(dpt, method)(callback)
    close(dpt.forward(input), (3 * input).tanh())


@DISPATCHERS
@pytest.mark.parametrize("own", [False, True], ids=["one device", "each its own"])
def test_flat_towers_of_both_libraries(
    make: Make, threads: bool, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if own:
        monkeypatch.setattr(link, "_share_storage", lambda replicas: None)
    bare = nn.Sequential().add(nn.Linear(4, 4)).add(torch.nn.Linear(4, 4)).add(nn.Linear(4, 3))
    dpt = make(bare.double(), threads, True)
    dpt.getParameters()
    for _ in range(2):
        dpt.apply(lambda m: None)
        same_step(dpt, bare, randn(5, 4), randn(5, 3))
        for net in (dpt, bare):
            net.updateParameters(0.1)


@DISPATCHERS
@pytest.mark.parametrize("own", [False, True], ids=["one device", "each its own"])
@pytest.mark.parametrize("before", [False, True], ids=["at once", "after a step"])
def test_a_net_around_with_another_order(
    make: Make, threads: bool, own: bool, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if own:
        monkeypatch.setattr(link, "_share_storage", lambda replicas: None)
    bare = nn.Sequential().add(nn.Linear(4, 4)).add(nn.Tanh()).add(nn.Linear(4, 4)).double()
    dpt = make(bare, threads)
    if before:
        dpt.forward(randn(5, 4))
    dpt.get(1).move(cutorch.device(1))
    shared = "weight", "bias", "gradWeight", "gradBias"
    net = nn.Sequential().add(dpt.get(1).get(3).clone(*shared)).add(dpt)
    whole = nn.Sequential().add(bare.get(3).clone(*shared)).add(bare)
    (x, dx), (y, dy) = net.getParameters(), whole.getParameters()
    dpt.flattenParams = True
    for _ in range(3):
        same_step(net, whole, randn(5, 4), randn(5, 4))
        x -= 0.1 * dx
        y -= 0.1 * dy
        close(net.parameters()[0], whole.parameters()[0])


def _exchange(net: Any) -> None:
    net.modules[1] = nn.ReLU()


def _exchange_for_its_like(net: Any) -> None:
    random.manualSeed(7)
    net.modules[0] = nn.Linear(4, 5).double()


def _other_weight(net: Any) -> None:
    net.get(1).weight = torch.full_like(net.get(1).weight, 0.25)


def _dropped(net: Any) -> None:
    net.remove(2)


CHANGES = [_exchange, _exchange_for_its_like, _other_weight, _dropped]


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__.strip("_"))
def test_a_net_changed_without_apply_is_replicated_anew(
    make: Make,
    change: Callable[[Any], None],
    when: str,
    threads: bool,
    flat: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link, "_share_storage", lambda replicas: None)
    bare = mlp()
    dpt = make(bare, threads, flat, replicas=3).training()
    if when == "after":
        same_step(dpt, bare, randn(5, 4), randn(5, 3))
    change(dpt.get(1))
    change(bare)
    for _ in range(2):
        same_step(dpt, bare, randn(5, 4), randn(5, 3))
        dpt.updateParameters(0.1)
        bare.updateParameters(0.1)


@DISPATCHERS
def test_a_part_of_a_torch_tower_is_exchanged(make: Make, threads: bool) -> None:
    tower = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Tanh()), torch.nn.Linear(4, 3))
    dpt = make(tower, threads)
    input = torch.randn(5, 4)
    dpt.forward(input)
    for layer in (torch.nn.ReLU(), torch.nn.Linear(4, 4), torch.nn.Identity()):
        tower[0][0] = layer
        torch.testing.assert_close(dpt.forward(input), tower(on(1, input)).detach())


@DISPATCHERS
def test_a_layer_is_put_into_an_empty_container(make: Make, threads: bool) -> None:
    dpt = make(nn.Sequential().add(nn.Sequential()).add(nn.Linear(4, 3)).double(), threads)
    input = randn(5, 4)
    dpt.forward(input)
    dpt.get(1).get(1).add(nn.ReLU())
    close(dpt.forward(input), dpt.get(1).clone().forward(on(1, input)))


@DISPATCHERS
@FLAT
def test_a_net_that_grows_by_itself_keeps_its_replicas(
    make: Make, threads: bool, flat: bool
) -> None:
    bare = nn.MapTable(mlp())
    dpt = make(bare, threads, flat)
    replicas = None
    for length in (2, 3, 3, 1):
        tables = [[randn(5, n) for _ in range(length)] for n in (4, 3)]
        close(step(dpt, *tables)[:2], step(bare, *tables)[:2])
        made = dpt.exec(lambda module, i: module)
        assert replicas is None or all(map(operator.is_, made, replicas))
        replicas = made


@DISPATCHERS
@FLAT
def test_the_first_replica_may_change_behind_the_containers_back(
    make: Make, threads: bool, flat: bool
) -> None:
    bare = mlp()
    dpt = make(bare, threads, flat)
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    for net in (dpt.get(1), bare):
        net.float()
        net.double()
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    for net in (dpt.get(1), bare):
        random.manualSeed(3)
        net.add(nn.Linear(3, 2).double())
    same_step(dpt, bare, randn(5, 4), randn(5, 2))
    for net in (dpt.get(1), bare):
        net.float()
    assert dpt.forward(torch.randn(5, 4)).dtype == torch.float32


@DISPATCHERS
@FLAT
def test_modules_may_be_replaced(make: Make, threads: bool, flat: bool) -> None:
    bare = mlp()
    dpt = make(bare, threads, flat)
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    for net in (dpt, bare):
        net.replace(lambda m: nn.Sigmoid().double() if m.typename == "nn.Tanh" else m)
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    # Parameters of the same form, but another net.
    other = mlp().apply(lambda m: m.reset(1))
    dpt.modules[0] = other.clone()
    same_step(dpt, other, randn(5, 4), randn(5, 3))


@DISPATCHERS
def test_closed_containers_start_anew(make: Make, threads: bool) -> None:
    bare = mlp()
    dpt = make(bare, threads)
    for _ in range(2):
        same_step(dpt, bare, randn(5, 4), randn(5, 3))
        dpt.close()


def test_threads_can_be_switched_on_at_any_time(make: Make) -> None:
    bare = mlp()
    dpt = make(bare)
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    assert dpt.threads() is dpt
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    dpt.threads()
    same_step(dpt, bare, randn(5, 4), randn(5, 3))


def saved_by_torch(dpt: DataParallelTable) -> Any:
    file = io.BytesIO()
    torch.save(dpt, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


COPIES: dict[str, Callable[[Any], Any]] = {
    "clone": lambda dpt: dpt.clone(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda dpt: pickle.loads(pickle.dumps(dpt)),
    "torch.save": saved_by_torch,
}


@DISPATCHERS
@pytest.mark.parametrize("way", COPIES)
def test_copies_are_independent(make: Make, threads: bool, way: str) -> None:
    bare = mlp()
    dpt = make(bare, threads, True)
    x, _ = dpt.getParameters()
    given = randn(5, 4), randn(5, 3)
    wanted = step(bare, *given)
    close(step(dpt, *given), wanted)
    other = COPIES[way](dpt)
    x.zero_()
    close(step(other, *given), wanted)
    assert not dpt.forward(given[0]).any()
    assert type(other.impl) is type(dpt.impl) and other.gpuAssignments == dpt.gpuAssignments
    other.close()


@DISPATCHERS
def test_a_shallow_copy_leaves_the_container_alone(make: Make, threads: bool) -> None:
    bare = mlp()
    dpt = make(bare, threads)
    same_step(dpt, bare, randn(5, 4), randn(5, 3))
    other = copy.copy(dpt)
    close(other.forward(torch.ones(3, 4).double()), bare.forward(torch.ones(3, 4).double()))
    other.close()
    del other
    same_step(dpt, bare, randn(5, 4), randn(5, 3))


def test_methods_return_the_container(make: Make) -> None:
    dpt = make(mlp())
    for method in ("training", "evaluate", "clearState", "zeroGradParameters", "syncParameters"):
        assert getattr(dpt, method)() is dpt
    assert dpt.updateParameters(0.1) is dpt.apply(lambda m: None) is dpt.reset() is dpt
    assert dpt.flattenParameters() is dpt.type(dpt.get(1).type()) is dpt


@pytest.mark.parametrize("name", ["Double", "Float", "Half"])
def test_the_type_is_the_nets_wherever_it_is(make: Make, name: str) -> None:
    net = nn.Sequential().add(nn.Linear(4, 3)).type(f"torch.{name}Tensor")
    dpt = make(net)
    assert dpt.type() == dpt.typeStr == net.type() == f"torch.{name}Tensor"
    dpt.forward(randn(4, 4).to(net.get(1).weight.dtype))
    wanted = f"torch.{name}Tensor"
    if cutorch.accelerated():
        wanted = wanted.replace(name, "Cuda" if name == "Float" else f"Cuda{name}")
    assert dpt.type() == dpt.get(1).type() == wanted
    # Torch7 makes the slices of a batch by it.
    file = t7.dumps(dpt)
    assert t7.loads(file, raw=True).fields["typeStr"] == wanted
    assert t7.loads(file).type() == wanted
    assert dpt.type(wanted).type() == wanted


def test_print(make: Make) -> None:
    assert repr(make(nn.Linear(4, 3), replicas=3)) == "DataParallelTable: 3 x nn.Linear(4 -> 3)"


def test_reset_reaches_every_replica(make: Make) -> None:
    dpt = make(mlp())
    dpt.forward(randn(4, 4))
    dpt.reset()
    first, second = dpt.exec(lambda module, i: module.parameters()[0])
    close(second, first)


def test_no_sync_leaves_gradients_on_the_replicas(make: Make) -> None:
    bare = mlp()
    dpt = make(bare, True, replicas=3)
    given = [(randn(n, 4), randn(n, 3)) for n in (7, 2, 5)]
    for net in (bare, dpt):
        net.zeroGradParameters()
    for input, gradOutput in given:
        bare.forward(input)
        bare.backward(input, gradOutput)
    with dpt.no_sync():
        for input, gradOutput in given[:2]:
            dpt.forward(input)
            dpt.backward(input, gradOutput)
    dpt.forward(given[2][0])
    dpt.backward(*given[2])
    close(dpt.parameters()[1], bare.parameters()[1])


@pytest.mark.parametrize("flat", [True, False])
def test_close_lets_go_of_the_other_replicas(flat):
    dpt = DataParallelTable(1, flat).add(nn.Linear(4, 3).double(), [1, 2]).threads()
    input = torch.randn(6, 4).double()
    before = dpt.forward(input).clone()
    dpt.backward(input, before)
    other = weakref.ref(dpt.exec(lambda module, i: module.gradWeight)[1])
    dpt.close()
    assert other() is None
    assert torch.equal(dpt.forward(input), before)
    dpt.backward(input, before)
    dpt.close()
