"""A batch's way through the container stays short: few files, few frames around a replica."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest
import torch

from benchmarks.files_visited import of_the_net, visited
from compat import nn, thread_calls
from dptable.threads import worker

pytestmark = pytest.mark.devices(2)


@pytest.fixture
def threads_of_torch() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


# On accelerators the files about streams come on top.
@pytest.mark.cpus(2)
def test_a_forward_pass_visits_few_files(
    threads_of_torch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Threads that have run Lua in this process would make calls for it.
    monkeypatch.setattr(thread_calls, "accepting", {})
    files = [name for name in visited() if not of_the_net(name)]
    assert len(files) <= 19, files


class Shouting(nn.Module):
    """Tells what calls it."""

    def updateOutput(self, input: torch.Tensor) -> torch.Tensor:
        self.callers = [frame.name for frame in traceback.extract_stack()]
        self.output = input
        return self.output

    def updateGradInput(self, input: torch.Tensor, gradOutput: torch.Tensor) -> torch.Tensor:
        self.callers = [frame.name for frame in traceback.extract_stack()]
        self.gradInput = gradOutput
        return self.gradInput


@pytest.mark.parametrize("to_input", [True, False])
def test_two_frames_stand_between_a_worker_and_its_replica(to_input: bool) -> None:
    table = nn.DataParallelTable(1, statistics="synchronised").add(Shouting(), [1, 2], "auto")
    table.threads()
    if not to_input:
        table.gradInput = None
    with table.profile(), torch.no_grad():
        for go, method in ((table.forward, "updateOutput"), (table.updateGradInput, "")):
            arguments = [torch.ones(4, 1)] * (1 if method else 2)
            go(*arguments)
            for callers in table.exec(lambda module, i: module.callers):
                begin = callers.index(worker._serve.__name__)
                end = callers.index(method or "updateGradInput", begin)
                assert end - begin - 1 <= 2, callers
    table.close()
