"""Checkpoints to which each process writes its slices."""

from __future__ import annotations

import shutil
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from support.processes import Failure, send, started, together, wait_for_ever
from torch import Tensor
from torch.distributed.checkpoint.utils import _DistWrapper

from compat import nn, optim, random
from dptable import DataParallelTable, checkpoints, comm
from dptable.sharding import ShardedParameters, load_distributed

ROWS, STEPS = 12, 4
ADAM = {"learningRate": 0.02}
LBFGS = {"maxIter": 3, "learningRate": 0.2}


def table(dtype: torch.dtype = torch.float64, hidden: int = 5) -> DataParallelTable:
    random.manualSeed(4)
    net = nn.Sequential().add(nn.Linear(3, hidden)).add(nn.BatchNormalization(hidden))
    made = DataParallelTable(1, True, statistics="synchronised")
    return made.add(net.add(nn.Tanh()).add(nn.Linear(hidden, 2)), ["cpu"]).type(dtype)


class Training:
    """A regression, of which each process has its share."""

    def __init__(self, rank: int = 0, size: int = 1, **form: Any) -> None:
        generator = torch.Generator().manual_seed(3)
        self.model = table(**form)
        self.sharded = ShardedParameters(self.model) if dist.is_initialized() else None
        self.parameters, self.gradients = self.model.getParameters()
        own = slice(*comm.slice_ranges(ROWS, size)[rank])
        self.input = torch.randn(STEPS, ROWS, 3, generator=generator).to(self.parameters)[:, own]
        self.target = torch.randn(STEPS, ROWS, 2, generator=generator).to(self.parameters)[:, own]
        self.criterion = nn.MSECriterion().type(self.model.type())

    def steps(self, numbers: range, optimizer: Any, state: dict[str, Any]) -> None:
        for input, target in zip(self.input[numbers], self.target[numbers], strict=True):

            def feval(x: Tensor, input=input, target=target) -> tuple[float, Tensor]:
                self.model.zeroGradParameters()
                loss = self.criterion.forward(self.model.forward(input), target)
                self.model.backward(input, self.criterion.backward(self.model.output, target))
                return loss, self.gradients

            if self.sharded is None:
                optimizer(feval, self.parameters, state)
            else:
                self.sharded.step(optimizer, feval, state)

    def result(self) -> tuple[Tensor, Tensor]:
        self.model.close_group()
        first = self.model.get(1)
        norm = first.get(2)
        return self.parameters.clone(), torch.stack([norm.running_mean, norm.running_var])


def ranks() -> tuple[int, int]:
    return dist.get_rank(), dist.get_world_size()


def begun(folder: Path, optimizer: Any, config: dict[str, Any]) -> None:
    training = Training(*ranks())
    state = dict(config)
    training.steps(range(2), optimizer, state)
    training.sharded.save_distributed(folder, state)
    training.model.close_group()


def gone_on(folder: Path, optimizer: Any) -> Any:
    training = Training(*ranks())
    training.parameters.fill_(7)
    state = training.sharded.load_distributed(folder)
    training.steps(range(2, 4), optimizer, state)
    return training.result()


@pytest.mark.parametrize(
    "optimizer, config", [(optim.adam, ADAM), (optim.lbfgs, LBFGS)], ids=["adam", "lbfgs"]
)
def test_a_run_goes_on_in_any_number_of_processes(tmp_path, optimizer, config):
    whole, state = Training(), dict(config)
    whole.steps(range(STEPS), optimizer, state)
    folder = tmp_path / "saved"
    together(begun, 2, folder, optimizer, config)
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
    expected = whole.result()
    for size in (3, 1):
        for found in together(gone_on, size, folder, optimizer):
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)

    alone = Training()
    alone.parameters.fill_(7)
    state = load_distributed(folder, alone.model)
    alone.steps(range(2, 4), optimizer, state)
    torch.testing.assert_close(alone.result(), expected, rtol=0, atol=1e-9)


def in_a_group_of_some(folder: Path) -> None:
    group = dist.new_group([1, 2])
    if dist.get_rank() == 0:
        return
    model = table()
    sharded = ShardedParameters(model, group)
    state = {"v": sharded.parameters * 2, "n": 3}
    if not hasattr(_DistWrapper(group, True, 0), "global_coordinator_rank"):
        with pytest.raises(RuntimeError, match="serves only groups whose first process is rank 0"):
            checkpoints.save_distributed(folder, 1, sharded, state)
        assert not list(folder.iterdir())
        return
    checkpoints.save_distributed(folder, 1, sharded, state)
    before = model.getParameters()[0].clone()
    model.getParameters()[0].zero_()
    found = sharded.load_distributed(folder / "state_1")
    assert torch.equal(model.getParameters()[0], before)
    assert torch.equal(found["v"], state["v"]) and found["n"] == 3
    model.close_group()


def test_a_group_without_the_first_process(tmp_path):
    together(in_a_group_of_some, 3, tmp_path)
    for folder in tmp_path.glob("*.t7"):
        assert checkpoints.slices(folder.parent) == tmp_path / "state_1"


def written(folder: Path) -> Tensor:
    training = Training(*ranks(), hidden=2000)
    state = {"m": training.sharded.slice(torch.arange(WIDE).double()), "rows": torch.ones(7)}
    training.sharded.save_distributed(folder, state)
    return training.result()[0]


# The parameters of a net with 2000 hidden units.
WIDE = (3 + 1 + 2 + 2) * 2000 + 2


def test_pytorch_alone_reads_it_and_no_process_wrote_the_whole(tmp_path):
    parameters = together(written, 3, tmp_path / "saved")[0]
    values = {"parameters": torch.zeros(WIDE).double(), "state.m": torch.zeros(WIDE).double()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.load(values, checkpoint_id=tmp_path / "saved")
    assert torch.equal(values["parameters"], parameters)
    assert torch.equal(values["state.m"], torch.arange(WIDE).double())
    sizes = [path.stat().st_size for path in (tmp_path / "saved").glob("*.distcp")]
    # The first process writes the running statistics, too.
    assert len(sizes) == 3 and max(sizes) < 2 * 8 * WIDE / 2


def small(folder: Path) -> tuple[Tensor, Any]:
    random.manualSeed(4)
    model = DataParallelTable(1, True).add(nn.Linear(1, 1).type(torch.bfloat16), ["cpu"])
    sharded = ShardedParameters(model)
    parameters = model.getParameters()[0]
    state = {"v": parameters[slice(*sharded.bounds[sharded.rank :][:2])] * 2, "n": [1, {"a": "b"}]}
    sharded.save_distributed(folder, state)
    before = parameters.clone()
    parameters.zero_()
    found = sharded.load_distributed(folder)
    assert torch.equal(parameters, before) and model.needsSync
    assert found["n"] == [1, {"a": "b"}]
    assert torch.equal(found["v"], state["v"]) and found["v"].dtype == torch.bfloat16
    model.close_group()
    return before, sharded.bounds


def test_more_processes_than_parameters_and_other_types(tmp_path):
    before, _ = together(small, 3, tmp_path / "saved")[0]
    model = DataParallelTable(1, True).add(nn.Linear(1, 1).float(), ["cpu"])
    state = load_distributed(tmp_path / "saved", model)
    assert torch.equal(model.getParameters()[0], before.float())
    assert torch.equal(state["v"], 2 * before)


def failing(folder: Path, rank: int) -> str:
    """A disk that is full in one process."""
    training = Training(*ranks())
    if dist.get_rank() == rank:

        def full(*_: Any, **__: Any) -> None:
            raise OSError("no space left on device")

        dcp.FileSystemWriter.write_data = full
    with pytest.raises(OSError) as error:
        training.sharded.save_distributed(folder / "new")
    training.sharded.load_distributed(folder / "former")
    training.model.close_group()
    return str(error.value)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_cannot_write_is_named_and_the_former_folder_stays(tmp_path, rank):
    together(begun, 2, tmp_path / "former", optim.adam, ADAM)
    for message in together(failing, 2, tmp_path, rank):
        told = f"{tmp_path / 'new'}: rank {rank} could not write its part: no space left on device"
        assert message == told
    assert not (tmp_path / "new").exists()
    # What was left half done is not in the way of the next attempt.
    together(begun, 2, tmp_path / "new", optim.adam, ADAM)
    assert {path.name for path in tmp_path.iterdir()} == {"former", "new"}


def hurried(folder: Path) -> None:
    """The first process takes its time to clear away what a crash left, the second to look."""
    training = Training(*ranks())
    remove, is_dir = shutil.rmtree, Path.is_dir

    def slow_remove(*arguments: Any, **options: Any) -> None:
        remove(*arguments, **options)
        time.sleep(0.5)

    def slow_look(path: Path) -> bool:
        time.sleep(0.2)
        return is_dir(path)

    if dist.get_rank() == 0:
        shutil.rmtree = slow_remove
    else:
        Path.is_dir = slow_look
    training.sharded.save_distributed(folder)
    training.model.close_group()


def test_what_a_crash_left_is_not_in_the_way_of_the_quickest_process(tmp_path):
    left = tmp_path / ".saved.partial"
    left.mkdir()
    (left / "__5_0.distcp").write_bytes(b"of another run")
    together(hurried, 2, tmp_path / "saved")
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
    assert not (tmp_path / "saved" / "__5_0.distcp").exists()


def repeated(folder: Path) -> list[Path | None]:
    """Two checkpoints of the same step, and a third that fails."""
    training = Training(*ranks())
    found = []
    for _ in range(2):
        checkpoints.save_distributed(folder, 1, training.sharded, {"t": 1}, history=[5])
        dist.barrier()
        found.append(checkpoints.slices(folder))
    dcp.FileSystemWriter.write_data = None
    with pytest.raises(OSError, match="rank 0 could not write its part"):
        checkpoints.save_distributed(folder, 2, training.sharded, {"t": 2})
    assert checkpoints.table(folder)["history"] == [5]
    assert training.sharded.load_distributed(checkpoints.slices(folder)) == {"t": 1}
    training.model.close_group()
    return [*found, checkpoints.slices(folder)]


def test_the_latest_checkpoint_is_not_written_over(tmp_path):
    for first, second, third in together(repeated, 2, tmp_path):
        assert first == tmp_path / "state_1"
        assert second == third != first and second.is_dir()


def dying(folder: Path) -> None:
    training = Training(*ranks())
    if dist.get_rank() == 1:
        write = dcp.FileSystemWriter.write_data

        def stop(*arguments: Any) -> None:
            write(*arguments).wait()
            send("written")
            wait_for_ever()

        dcp.FileSystemWriter.write_data = stop
    training.sharded.save_distributed(folder)


def test_a_process_that_is_killed_while_writing_leaves_no_folder(tmp_path):
    with started(dying, 2, tmp_path / "saved", timeout=5) as processes:
        assert processes.receive(1) == "written"
        assert not (tmp_path / "saved").exists()
        processes.signal(1, signal.SIGKILL)
        result = processes.receive(0)
        assert isinstance(result, Failure) and "rank 1 is gone" in result.message
    assert not (tmp_path / "saved").exists()


def refused(folder: Path) -> list[str]:
    training = Training(*ranks(), hidden=6)
    messages = []
    before = training.parameters.clone()
    for name, error in (("saved", ValueError), ("missing", FileNotFoundError)):
        with pytest.raises(error) as caught:
            training.sharded.load_distributed(folder / name)
        messages.append(str(caught.value))
    with pytest.raises(FileExistsError) as exists:
        training.sharded.save_distributed(folder / "saved")
    messages.append(str(exists.value))
    assert torch.equal(training.parameters, before)
    training.model.close_group()
    return messages


def test_misuse_is_refused(tmp_path):
    together(begun, 2, tmp_path / "saved", optim.adam, ADAM)
    for other, missing, exists in together(refused, 2, tmp_path):
        assert "parameters has 42 elements; 50 are accepted" in other
        assert "no checkpoint, there is no rest.t7 in this folder" in missing
        assert "saved exists; the name of a new one is accepted" in exists
