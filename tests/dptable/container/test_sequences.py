"""Programs that do more than forward, backward, update: as with the single net, as in Torch7."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from compat import nn, random, t7
from dptable import DataParallelTable

pytestmark = [pytest.mark.cpus(2), pytest.mark.usefixtures("double_by_default")]
FLAT = pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
DISPATCHERS = pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])

Make = Callable[..., DataParallelTable]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[DataParallelTable] = []

    def over(net: Any, threads: bool = False, flat: bool = False, **options: Any) -> Any:
        table = DataParallelTable(1, flat, **options).add(net, ["cpu", "cpu"])
        made.append(table.threads() if threads else table)
        return table

    yield over
    for table in made:
        table.close()


def mlp(width: int = 8, tied: tuple[str, ...] = ()) -> nn.Sequential:
    random.manualSeed(1)
    first, second = nn.Linear(6, width), nn.Linear(width, width)
    third = second.clone(*tied) if tied else nn.Linear(width, width)
    net = nn.Sequential().add(first).add(nn.Tanh()).add(second).add(nn.Tanh()).add(third)
    return net.add(nn.Linear(width, 3))


def batch(size: int = 7, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(size, 6, generator=generator), torch.randn(size, 3, generator=generator)


def step(net: Any, seed: int = 0) -> list[Any]:
    input, gradOutput = batch(seed=seed)
    net.zeroGradParameters()
    found = [net.forward(input).clone(), net.backward(input, gradOutput).clone()]
    return [*found, gradients(net)]


def gradients(net: Any) -> list[Tensor]:
    return [g.clone() for g in net.parameters()[1] if g is not None]


def close(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=1e-9, atol=1e-10)


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("overlap", [None, True])
@pytest.mark.parametrize("width", [8, 600])
def test_a_layer_that_is_frozen_by_its_method(
    make: Make, threads: bool, flat: bool, overlap: bool | None, width: int
) -> None:
    bare = mlp(width)
    table = make(bare.clone(), threads, flat, overlap=overlap)
    close(step(table), step(bare))
    for net in (table.get(1), bare):
        net.get(3).accGradParameters = lambda *arg: None
    close(step(table, 1), step(bare, 1))
    assert not table.get(1).get(3).gradWeight.any()
    for net in (table.get(1), bare):
        del net.get(3).accGradParameters
        net.get(1).gradWeight.fill_(1)
    # From the next pass on, in its midst too.
    for net in (table, bare):
        net.forward(batch()[0])
    for net in (table.get(1), bare):
        net.get(5).accGradParameters = lambda *arg: None
    for net in (table, bare):
        net.backward(*batch())
    close(gradients(table), gradients(bare))


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("width", [8, 600])
def test_backward_twice_after_an_update(make: Make, threads: bool, flat: bool, width: int) -> None:
    bare = mlp(width)
    table = make(bare.clone(), threads, flat)
    for net in (table, bare):
        step(net)
        net.zeroGradParameters()
        net.forward(batch(seed=2)[0])
        net.updateParameters(0.1)
        for parameter in net.parameters()[0]:
            parameter.mul_(0.9)
    for _ in range(2):
        for net in (table, bare):
            net.backward(*batch(seed=2))
        close([table.gradInput, gradients(table)], [bare.gradInput, gradients(bare)])


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("around", [False, True], ids=["itself", "net around"])
def test_getParameters_between_forward_and_update(
    make: Make, threads: bool, flat: bool, around: bool
) -> None:
    bare = nn.Sequential().add(mlp())
    table = make(bare.get(1).clone(), threads, flat)
    whole = nn.Sequential().add(table)
    for net in (whole, bare):
        step(net)
        net.zeroGradParameters()
        net.forward(batch()[0])
        x, _ = (net if around else net.get(1)).getParameters()
        x.mul_(0.5)
    for _ in range(2):
        for net in (whole, bare):
            net.backward(*batch())
        close(gradients(whole), gradients(bare))
    outputs = table.exec(lambda module, i: module.get(4).output)
    close(torch.cat(outputs), bare.get(1).get(4).output)


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("width", [8, 600])
@pytest.mark.filterwarnings("ignore:capture")
@pytest.mark.parametrize("change", ["overlap", "capture", "distribute"])
def test_tied_weights_and_another_way_to_sum(
    make: Make, threads: bool, flat: bool, width: int, change: str, tmp_path: Path
) -> None:
    # Flat tensors have parameters and gradients side by side.
    bare = mlp(width, ("weight", "gradWeight") if flat else ("weight",))
    table = make(bare.clone(), threads, flat)
    close(step(table), step(bare))
    if change == "overlap":
        table.overlap = True
    elif change == "capture":
        table.capture()
    else:
        store = f"file://{tmp_path}/store"
        dist.init_process_group("gloo", init_method=store, rank=0, world_size=1)
        table.distribute()
    try:
        for seed in (1, 2):
            close(step(table, seed), step(bare, seed))
    finally:
        table.close_group()
        if change == "distribute":
            dist.destroy_process_group()


@FLAT
def test_a_file_with_a_frozen_layer(make: Make, flat: bool) -> None:
    table = make(mlp(), flat=flat)
    table.get(1).get(3).gradWeight = None
    wanted = step(table)
    again = t7.loads(t7.dumps(table))
    assert again.get(1).get(3).gradWeight is None
    close(step(again), wanted)
    again.close()


class InPlace(nn.Module):
    """Doubles its input where it lies."""

    def updateOutput(self, input: Tensor) -> Tensor:
        self.output = input.mul_(2)
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        self.gradInput = gradOutput.mul_(2)
        return self.gradInput


@DISPATCHERS
def test_replicas_have_slices_of_their_own(make: Make, threads: bool) -> None:
    bare = mlp().insert(InPlace(), 1).add(InPlace())
    table = make(bare.clone(), threads)
    input, gradOutput = batch()
    given = input.clone(), gradOutput.clone()
    for net, x, g in ((bare, input.clone(), gradOutput.clone()), (table, *given)):
        net.zeroGradParameters()
        net.forward(x)
        net.backward(x, g)
    close(gradients(table), gradients(bare))
    assert torch.equal(given[0], input) and torch.equal(given[1], gradOutput)
    # The caller refills the batch, which containers do not read again.
    for net, x in ((bare, input.clone()), (table, given[0])):
        net.zeroGradParameters()
        net.forward(x)
        if net is table:
            x.fill_(7)
        net.backward(x, gradOutput.clone())
    close(gradients(table), gradients(bare))


@DISPATCHERS
def test_gradOutput_changes_between_the_halves_of_backward(make: Make, threads: bool) -> None:
    bare = mlp()
    table = make(bare.clone(), threads)
    for net in (table, bare):
        input, gradOutput = batch()
        net.zeroGradParameters()
        net.forward(input)
        net.updateGradInput(input, gradOutput)
        gradOutput.mul_(3)
        net.accGradParameters(input, gradOutput)
    close(gradients(table), gradients(bare))


@pytest.mark.parametrize(
    ("flat", "gradients"), [(False, ()), (False, ("gradWeight",)), (True, ("gradWeight",))]
)
def test_weights_that_are_untied(make: Make, flat: bool, gradients: tuple[str, ...]) -> None:
    random.manualSeed(2)
    layer = nn.Linear(6, 6)
    bare = nn.Sequential().add(layer).add(layer.clone("weight", *gradients)).add(nn.Linear(6, 3))
    table = make(bare.clone(), flat=flat)
    close(step(table), step(bare))
    new = torch.linspace(-1, 1, 36).view(6, 6)
    for net in (table.get(1), bare):
        net.get(1).weight.set_(new.clone())
        if gradients:
            net.get(1).gradWeight.set_(torch.zeros(6, 6))
    table.syncParameters()
    close(table.parameters()[0], bare.parameters()[0])
    for seed in (1, 2):
        close(step(table, seed), step(bare, seed))


def test_lean_mode_frees_what_is_inside_of_every_replica(make: Make) -> None:
    bare = mlp()
    table = make(bare.clone(), overlap=True)
    step(table)
    table.keepResults(False)
    close(step(table, 1), step(bare, 1))
    for replica in table.exec(lambda module, i: module):
        assert replica.output is not None
        with pytest.raises(RuntimeError, match="keepResults"):
            replica.get(2).output  # noqa: B018
    close([table.output, table.gradInput], [bare.output, bare.gradInput])
    close(step(table.keepResults(), 2), step(bare, 2))
    assert len(table.exec(lambda module, i: module.get(2).output)) == 2


def test_a_cleared_copy_of_a_lean_net_loads_as_one_that_goes_back(make: Make) -> None:
    table = make(mlp().keepResults(False))
    step(table)
    again = t7.loads(t7.dumps(table.get(1).clone().clearState()))
    assert not any(module.gradInput is None for module in again.listModules())
    close(step(again), step(table))
