"""A program in the public names of compat and dptable, for ``mypy --strict``."""

# ruff: noqa: B018

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from typing_extensions import assert_type

import compat
import dptable
from compat import cutorch, image, nn, optim, random, rnn, t7, threads
from compat import torch as torch7
from dptable import DataParallelTable, checkpoints, comm, devices, models
from dptable.training import Options


class Gain(nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def updateOutput(self, input: torch.Tensor) -> torch.Tensor:
        self.output = input * self.factor
        return input * self.factor

    def updateGradInput(self, input: torch.Tensor, gradOutput: torch.Tensor) -> torch.Tensor:
        self.gradInput = gradOutput * self.factor
        return gradOutput * self.factor


def main() -> None:
    devices.configure(["cpu", "cpu"])
    net = nn.Sequential().add(nn.Linear(4, 3)).add(nn.Tanh()).add(Gain(2))
    assert_type(net, nn.Sequential)
    assert_type(net.size(), int)
    assert_type(nn.Linear(4, 3).float(), nn.Linear)
    assert_type(net.evaluate().training(), nn.Sequential)
    assert_type(net.parameters(), tuple[list[torch.Tensor], list[torch.Tensor]])
    assert_type(net.listModules(), list[nn.Module])

    params, gradients = net.getParameters()
    assert_type(params, torch.Tensor)
    input, target = torch.ones(2, 4), torch.ones(2, 3)
    criterion = nn.MSECriterion()

    def feval(x: torch.Tensor) -> tuple[Any, torch.Tensor]:
        net.zeroGradParameters()
        loss = criterion.forward(net.forward(input), target)
        net.backward(input, criterion.backward(net.output, target))
        return loss, gradients

    config: dict[str, Any] = {"learningRate": 0.1}
    x, losses = optim.sgd(feval, params, config)
    assert_type(x, torch.Tensor)
    assert_type(losses, list[Any])

    assert_type(t7.dumps(net), bytes)
    assert_type(torch7.cos(0.5), float)
    assert_type(torch7.Timer().time().real, float)
    assert_type(cutorch.getDeviceCount(), int)
    assert_type(dptable.__version__, str)

    replicas = DataParallelTable(1, True).add(net, [1, 2])
    assert_type(replicas, DataParallelTable)
    replicas.forward(input)
    replicas.close()


def nets() -> None:
    net = nn.Sequential().add(nn.SpatialConvolution(1, 2, 3, 3)).add(nn.ReLU(True))
    assert_type(net.type(), str)
    assert_type(net.remove(), nn.Module)
    assert_type(net.insert(nn.Tanh(), 1), nn.Sequential)
    assert_type(net.clone("weight", "bias"), nn.Sequential)
    assert_type(net.clearState().zeroGradParameters(), nn.Sequential)
    assert_type(net.type("torch.DoubleTensor"), nn.Sequential)
    assert_type(net.float().to_torch(), torch.nn.Module)
    assert_type(net.getParameters(), tuple[torch.Tensor, torch.Tensor])
    assert_type(nn.ConcatTable().add(nn.Identity()), nn.ConcatTable)
    assert_type(nn.Sequencer(nn.LSTM(3, 2)).remember("both"), nn.Sequencer)
    assert_type(nn.from_torch(torch.nn.Sequential(torch.nn.Linear(2, 2))), nn.Module)
    assert_type(nn.ClassNLLCriterion(), nn.ClassNLLCriterion)
    assert_type(nn.MSECriterion().clone(), nn.MSECriterion)
    assert_type(nn.MSECriterion().to_torch(), torch.nn.Module)
    node = nn.Identity()()
    assert_type(nn.gModule([node], [nn.Linear(2, 2)(node)]), nn.gModule)
    assert_type(rnn.shared_clone(nn.LSTM(2, 2)), nn.LSTM)
    assert_type(models.lenet(10, 1, 8, 8), nn.Sequential)
    assert_type(Options().model, str)


def files(folder: Path) -> None:
    t7.save(folder / "table.t7", {"epoch": 3})
    assert_type(t7.loads(t7.dumps([1, 2])), Any)
    assert_type(t7.load(folder / "table.t7"), Any)
    image.save(folder / "grey.png", torch.zeros(1, 4, 4))
    assert_type(image.load(folder / "grey.png", 1), torch.Tensor)
    checkpoints.save(folder, 1, nn.Sequential().add(nn.Linear(2, 1)), {"learningRate": 0.1})
    assert_type(checkpoints.exists(folder), bool)


def numbers() -> None:
    assert_type(random.uniform(), float)
    assert_type(random.random(6), int)
    assert_type(random.rand(2, 3), torch.Tensor)
    assert_type(random.randperm(4), torch.Tensor)
    assert_type(cutorch.device(1), torch.device)
    assert_type(devices.devices(), tuple[torch.device, ...])
    assert_type(comm.slice_sizes(9, 4), list[int])
    assert_type(comm.reduce_add([torch.ones(2), torch.ones(2)]), torch.Tensor)
    assert_type(comm.broadcast(torch.ones(2), ["cpu", "cpu"]), tuple[torch.Tensor, ...])
    with cutorch.device_guard(2):
        assert_type(cutorch.getDevice(), int)


def numbered(pool: threads.Threads) -> Iterator[int]:
    done: list[int] = []
    for number in range(3):
        pool.addjob(lambda n: n + 1, done.append, number)
    pool.synchronize()
    yield from done


if TYPE_CHECKING:
    # Names that do not exist are errors: with --strict, an ignore that is not needed is one too.
    nn.Conv2d  # type: ignore[attr-defined]
    optim.SGD  # type: ignore[attr-defined]
    t7.read  # type: ignore[attr-defined]
    torch7.zeros  # type: ignore[attr-defined]
    cutorch.is_available  # type: ignore[attr-defined]
    compat.nonsense  # type: ignore[attr-defined]
    dptable.nonsense  # type: ignore[attr-defined]
    comm.all_reduce  # type: ignore[attr-defined]
    nn.Linear(in_features=3, out_features=2)  # type: ignore[call-arg]
    nn.Linear("3", 2)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
    nets()
    numbers()
    with tempfile.TemporaryDirectory() as name:
        files(Path(name))
    with threads.Threads(1) as pool:
        assert sorted(numbered(pool)) == [1, 2, 3]
