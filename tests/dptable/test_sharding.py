"""Optimizers on slices of the flat parameters against the same optimizers on all of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.processes import together
from torch import Tensor

from compat import nn, optim, random
from compat.tensor_tables import tensors
from dptable import DataParallelTable, comm
from dptable.sharding import ShardedParameters, slice_bounds

ROWS, STEPS = 6, 4
SIMPLE = {"learningRate": 0.02}


def noisy(opfunc, x, config=None, state=None):
    return x.add_(torch.randn_like(x)), [opfunc(x)[0]]


def clipped(opfunc, x, config=None, state=None):
    loss, gradient = opfunc(x)
    return x.add_(gradient, alpha=-1 / max(1.0, float(gradient.norm()))), [loss]


def ranked(opfunc, x, config=None, state=None):
    loss, gradient = opfunc(x)
    return x.sub_(gradient.sort().values), [loss]


def signed(opfunc, x, config=None, state=None):
    """A method that nobody here knows, of each parameter alone."""
    loss, gradient = opfunc(x)
    scale = float(gradient.abs().sum()) / 100
    return x.add_(gradient.sign(), alpha=-scale), [loss]


OPTIMIZERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "sgd": (optim.sgd, SIMPLE | {"momentum": 0.9, "weightDecay": 0.01, "nesterov": True}),
    "adam": (optim.adam, SIMPLE),
    "adamax": (optim.adamax, SIMPLE),
    "adagrad": (optim.adagrad, SIMPLE),
    "adadelta": (optim.adadelta, {}),
    "rmsprop": (optim.rmsprop, SIMPLE),
    "nag": (optim.nag, SIMPLE | {"momentum": 0.9}),
    "asgd": (optim.asgd, {"t0": 1}),
    "rprop": (optim.rprop, {"stepsize": 0.01}),
    "cg": (optim.cg, {"maxIter": 3}),
    "lbfgs": (optim.lbfgs, {"maxIter": 3, "learningRate": 0.2}),
    "lbfgs with a line search": (optim.lbfgs, {"maxIter": 3, "lineSearch": optim.lswolfe}),
}
OPTIMIZERS["sgd"][1]["dampening"] = 0
OPTIMIZERS["one's own"] = (signed, {})


def table(hidden: int = 5) -> DataParallelTable:
    random.manualSeed(4)
    net = nn.Sequential().add(nn.Linear(3, hidden)).add(nn.Tanh()).add(nn.Linear(hidden, 2))
    return DataParallelTable(1, True).add(net, ["cpu"]).double()


class Problem:
    """A regression, of which each process has its share."""

    def __init__(self, rank: int, size: int, hidden: int = 5) -> None:
        generator = torch.Generator().manual_seed(3)
        self.own = slice(*comm.slice_ranges(ROWS, size)[rank])
        self.input = torch.randn(STEPS, ROWS, 3, generator=generator, dtype=torch.float64)
        self.target = torch.randn(STEPS, ROWS, 2, generator=generator, dtype=torch.float64)
        self.model = table(hidden)
        self.criterion = nn.MSECriterion().double()
        self.sharded = ShardedParameters(self.model) if size > 1 else None
        self.parameters, self.gradients = self.model.getParameters()

    def step(self, number: int, optimizer: Any, config: dict[str, Any]) -> list[float]:
        input, target = self.input[number][self.own], self.target[number][self.own]

        def feval(x: Tensor) -> tuple[float, Tensor]:
            assert x.data_ptr() == self.parameters.data_ptr()
            self.model.zeroGradParameters()
            loss = self.criterion.forward(self.model.forward(input), target)
            self.model.backward(input, self.criterion.backward(self.model.output, target))
            return loss, self.gradients

        if self.sharded is None:
            _, losses, *_ = optimizer(feval, self.parameters, config)
        else:
            _, losses, *_ = self.sharded.step(optimizer, feval, config)
        return losses


def run(name: str, rank: int, size: int) -> tuple[Tensor, list[Any], Any]:
    problem = Problem(rank, size)
    optimizer, config = OPTIMIZERS[name]
    state = dict(config)
    losses = [problem.step(number, optimizer, state) for number in range(STEPS)]
    if problem.sharded is not None:
        assert problem.sharded.parameters.numel() == problem.sharded.gradients.numel()
        # What the state keeps for the parameters is this process's part of it.
        for tensor in tensors(state):
            assert tensor.shape[-1] in (problem.sharded.parameters.numel(), 100), name
        state = problem.sharded.gather_state(state)
    problem.model.close_group()
    return problem.parameters.clone(), losses, state


def all_optimizers() -> dict[str, Any]:
    return {name: run(name, dist.get_rank(), dist.get_world_size()) for name in OPTIMIZERS}


@pytest.mark.parametrize("size", [2, 3])
def test_every_optimizer_does_what_it_does_in_one_process(size):
    for rank, found in enumerate(together(all_optimizers, size)):
        for name, (parameters, losses, state) in found.items():
            expected = run(name, 0, 1)
            torch.testing.assert_close(parameters, expected[0], rtol=0, atol=1e-9, msg=name)
            torch.testing.assert_close(losses, expected[1], rtol=0, atol=1e-9, msg=name)
            if rank:
                assert state is None
                continue
            assert state.keys() == expected[2].keys(), name
            for mine, whole in zip(tensors(state), tensors(expected[2]), strict=True):
                if not name.startswith("lbfgs") and name != "cg":  # these keep scratch vectors
                    torch.testing.assert_close(mine, whole + 0, rtol=0, atol=1e-9, msg=name)


def resumed(state: dict[str, Any] | None, parameters: Tensor, hidden: int) -> Any:
    """The last steps of a run whose first ones were taken elsewhere."""
    rank, size = dist.get_rank(), dist.get_world_size()
    problem = Problem(rank, size, hidden)
    sharded = problem.sharded
    problem.parameters.copy_(parameters)
    if sharded is None:
        own = state
    else:
        own = sharded.scatter_state(state if rank == 0 else None)
        # And back: what comes out is what went in.
        back = sharded.gather_state(own)
        assert (back is None) == (rank > 0)
        if back is not None:
            torch.testing.assert_close(back["m"], state["m"], rtol=0, atol=0)
            assert back["t"] == state["t"]
    problem.step(2, optim.adam, own)
    problem.step(3, optim.adam, own)
    whole = own if sharded is None else sharded.gather_state(own)
    problem.model.close_group()
    return problem.parameters.clone(), whole


def begun(hidden: int) -> Any:
    problem = Problem(dist.get_rank(), dist.get_world_size(), hidden)
    config = dict(SIMPLE)
    problem.step(0, optim.adam, config)
    problem.step(1, optim.adam, config)
    state = problem.sharded.gather_state(config) if problem.sharded else config
    problem.model.close_group()
    return problem.parameters.clone(), state


@pytest.mark.parametrize("before, after", [(2, 3), (3, 2), (4, 1), (1, 4)])
# 32 and 20 parameters, which not all numbers of processes divide; 2 and fewer than processes.
@pytest.mark.parametrize("hidden", [5, 3])
def test_state_moves_to_any_number_of_processes(before, after, hidden):
    problem = Problem(0, 1, hidden)
    config = dict(SIMPLE)
    for number in range(STEPS):
        problem.step(number, optim.adam, config)
    parameters, state = together(begun, before, hidden)[0]
    found = together(resumed, after, state, parameters, hidden)
    for theirs, _ in found:
        torch.testing.assert_close(theirs, problem.parameters, rtol=0, atol=1e-9)
    torch.testing.assert_close(found[0][1]["m"], config["m"], rtol=0, atol=1e-9)


def history(state: dict[str, Any] | None) -> Any:
    """Two steps of lbfgs, with as many parameters in each of two slices as it has numbers."""
    rank, size = dist.get_rank(), dist.get_world_size()
    problem = Problem(rank, size, 33)
    optimizer, config = OPTIMIZERS["lbfgs"]
    if state is None:
        state = dict(config)
    else:
        problem.parameters.copy_(state["x"])
        state = problem.sharded.scatter_state(state if rank == 0 else None)
    for number in range(2):
        problem.step(number, optimizer, state)
    whole = problem.sharded.gather_state(state)
    problem.model.close_group()
    if whole is not None:
        assert whole["al"].shape == whole["ro"].shape == (100,)
        whole["x"] = problem.parameters.clone()
    return whole


def test_numbers_of_lbfgs_are_no_slices():
    whole = together(history, 2, None)[0]
    assert together(history, 3, whole)[0]["d"].shape == (200,)


def in_a_group_of_some() -> Any:
    """What is gathered and dealt where global rank 0 is not of the party."""
    group = dist.new_group([1, 2])
    if dist.get_rank() == 0:
        return None
    model = table()
    sharded = ShardedParameters(model, group)
    vector = torch.arange(32).double()
    back = sharded.gather_state({"v": sharded.slice(vector).clone(), "n": 3})
    assert (back is None) == (dist.get_rank() == 2)
    mine = sharded.scatter_state(back)
    assert mine["n"] == 3 and torch.equal(mine["v"], sharded.slice(vector))
    model.close_group()
    return back


def test_a_group_without_the_first_process():
    _, back, nothing = together(in_a_group_of_some, 3)
    assert nothing is None and torch.equal(back["v"], torch.arange(32).double())


DE = {"maxFEs": 10, "popsize": 5, "scaleFactor": 0.5, "crossoverRate": 0.5}


def misuse() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    problem = Problem(rank, size)
    sharded = problem.sharded
    assert sharded is not None
    before = sharded.parameters.clone()
    for optimizer, config, deed in (
        (optim.cmaes, {"sigma": 1.0}, "draws random numbers"),
        (optim.de, DE, "draws random numbers"),
        (noisy, {}, "draws random numbers"),
        (clipped, {}, "calls norm of the parameters"),
        (ranked, {}, "calls sort of the parameters"),
    ):
        message = f"optimizer is {optimizer.__name__}, which {deed}; with sharded parameters"
        with pytest.raises(ValueError, match=message):
            problem.step(0, optimizer, config)
        assert torch.equal(sharded.parameters, before)
    with pytest.raises(ValueError, match="whole has 3 elements; one for each of the 32"):
        sharded.slice(torch.zeros(3))
    with pytest.raises(ValueError, match="state has 0 and 1 tensors in ranks 0 to 1; as many"):
        sharded.gather_state({"v": torch.zeros(2)} if rank else {})
    config = dict(SIMPLE, learningRates=sharded.slice(torch.linspace(0, 1, 32).double()))
    problem.step(0, optim.sgd, config)
    problem.model.close_group()
    with pytest.raises(RuntimeError, match="the container has left the group"):
        sharded.gather()


def test_misuse_is_refused():
    together(misuse, 2)


@pytest.mark.parametrize("count, size", [(10, 1), (10, 3), (9, 3), (2, 3), (0, 2)])
def test_slices_cover_everything_once(count, size):
    bounds = slice_bounds(count, size)
    assert bounds[0] == 0 and bounds[-1] == count and bounds == sorted(bounds)
    widths = {b - a for a, b in pairwise(bounds[:-1])}
    assert len(widths) <= 1
    assert bounds[-1] - bounds[-2] - count // size < size
