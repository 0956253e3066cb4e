"""A program in the public names of compat and dptable, for ``mypy --strict``."""

from __future__ import annotations

from typing import Any

import torch
from typing_extensions import assert_type

import dptable
from compat import cutorch, nn, optim, t7
from compat import torch as torch7
from dptable import DataParallelTable, devices


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


if __name__ == "__main__":
    main()
