"""What the user's own code, in modules and functions, finds as its current device."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from compat import cutorch, nn
from dptable import DataParallelTable

pytestmark = pytest.mark.devices(3)


class Asking(nn.Linear):
    """Notes the current device, the logical one and PyTorch's, whenever it does something."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.found: list[tuple[str, int]] = []

    def _note(self, what: str) -> None:
        self.found.append((what, cutorch.getDevice()))

    def updateOutput(self, input: Tensor) -> Tensor:
        self._note("forward")
        return super().updateOutput(input)

    def updateParameters(self, learningRate: float) -> Asking:
        self._note("update")
        super().updateParameters(learningRate)
        return self

    def reset(self, stdv: float | None = None) -> Asking:
        if hasattr(self, "found"):
            self._note("reset")
        super().reset(stdv)
        return self


@pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
def test_a_replica_does_all_on_its_device(threads: bool) -> None:
    dpt = DataParallelTable(1).add(Asking(4, 3), [2, 3])
    if threads:
        dpt.threads()
    input = torch.randn(5, 4)
    dpt.forward(input)
    dpt.backward(input, torch.ones(5, 3))
    dpt.updateParameters(0.1).reset()
    found = dpt.exec(lambda module, i: module.found)
    assert found[0] == [("forward", 2), ("update", 2), ("reset", 2)]
    assert found[1] == [("forward", 3)]
    assert cutorch.getDevice() == 1
    dpt.close()


def test_a_module_of_a_gpu_computes_on_it() -> None:
    if cutorch.device(1).type == "cpu":
        pytest.skip("on CPUs a net for a GPU stays where it is")
    inner = Asking(4, 3)
    net = nn.Sequential().add(nn.GPU(inner, 2, 3)).add(nn.Tanh()).cuda()
    input = torch.randn(2, 4)
    output = net.forward(input.to(cutorch.device(1)))
    assert inner.found == [("forward", 2)]
    assert inner.weight.device == cutorch.device(2)
    assert output.device == cutorch.device(3)
    assert cutorch.getDevice() == 1
    wanted = (input @ inner.weight.cpu().t() + inner.bias.cpu()).tanh()
    torch.testing.assert_close(output, wanted)
