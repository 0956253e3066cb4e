"""`dptable train --distributed`: the main job on several processes."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.checkpoints import parameters
from support.processes import send, started, together
from torch import Tensor

from compat import cutorch, t7
from dptable import checkpoints
from dptable.cli import main
from dptable.cli.train import _chosen_gpus
from dptable.processes import job
from dptable.processes.job import Job
from dptable.training import Trainer

FRESH = ["--data", "bars.t7", "--model", "mlp", "--seed", "3", "--schedule", "2"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with a data set of 4x4 images, whose class is the row that is bright."""
    monkeypatch.chdir(tmp_path)
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(64) % 3 + 1
    data = torch.rand(64, 1, 4, 4, generator=generator)
    data[torch.arange(64), 0, labels - 1] += 1
    t7.save("bars.t7", {"data": data, "labels": labels.to(torch.uint8)})
    return tmp_path


class Terminal(io.StringIO):
    """Is shown bars, unlike a file."""

    def isatty(self) -> bool:
        return True


def command(folder: str, argv: list[str]) -> SimpleNamespace:
    """The command in this process: its exit code and what it printed."""
    os.chdir(folder)
    out, err = io.StringIO(), Terminal()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["train", *argv])
    return SimpleNamespace(code=code, out=out.getvalue(), err=err.getvalue())


def train(size: int, *argv: str, **environment: str) -> list[SimpleNamespace]:
    if size == 1:
        return [command(os.getcwd(), list(argv))]
    arguments = [os.getcwd(), ["--distributed", *argv]]
    return together(command, size, *arguments, environment=environment)


def check_same_run(one: str, other: str) -> None:
    (a, _, state), (b, _, expected) = (checkpoints.latest(folder) for folder in (one, other))
    torch.testing.assert_close(parameters(one), parameters(other), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(state["dfdx"], expected["dfdx"], rtol=1e-3, atol=1e-5)
    assert state["evalCounter"] == expected["evalCounter"]
    assert (a["epoch"], a["step"], len(a["history"])) == (b["epoch"], b["step"], len(b["history"]))
    for row, want in zip(a["history"], b["history"], strict=True):
        assert row == pytest.approx(want, rel=1e-3)


# 52 images to train on: the last batch has one, so that some processes get none.
@pytest.mark.parametrize("size, sharding", [(2, "--sharded"), (3, "--no-sharded")])
def test_equals_one_process_and_resumes_on_others(size, sharding):
    train(1, *FRESH, "--epochs", "4", "--batch-size", "17", "--output", "whole")
    first, *others = train(
        *(size, *FRESH, "--epochs", "2", "--batch-size", "17", "--output", "run", sharding)
    )
    assert first.code == 0, first.err
    assert f"in {size} processes" in first.out and first.out.count("epoch   ") == 2
    assert "Epoch 1/2" in first.err
    for other in others:
        assert (other.code, other.out) == (0, "") and "Epoch" not in other.err
    assert checkpoints.latest("run")[0]["epoch"] == 2
    second = train(5 - size, "--resume", "run", "--epochs", "3", "--ngpus", "2", "--no-sharded")
    assert "Resuming after epoch 2, step 0" in second[0].out, second[0].err
    third = train(1, "--resume", "run", "--epochs", "4")
    assert third[0].code == 0
    check_same_run("run", "whole")


def test_checkpoints_of_slices_resume_on_any_number_of_processes():
    train(1, *FRESH, "--epochs", "4", "--batch-size", "17", "--output", "whole")
    slices = ["--sharded", "--checkpoint-format", "distributed"]
    first, _ = train(2, *FRESH, "--epochs", "1", "--batch-size", "17", "--output", "run", *slices)
    assert first.code == 0, first.err
    assert {path.name for path in Path("run").iterdir()} >= {"latest.t7", "state_1"}
    for size, epochs in ((3, 2), (1, 3), (2, 4)):
        resumed = train(size, "--resume", "run", "--epochs", str(epochs))[0]
        assert resumed.code == 0, resumed.err
        assert f"Resuming after epoch {epochs - 1}" in resumed.out, resumed.err
        # One process keeps the whole state, and writes it as ever.
        assert (checkpoints.slices("run") is None) == (size == 1)
    resumed = train(2, "--resume", "run", "--no-sharded", "--checkpoint-format", "t7")[0]
    assert resumed.code == 0, resumed.err
    with pytest.raises(
        ValueError, match="run holds slices; a checkpoint of files is accepted: load_distributed"
    ):
        checkpoints.latest("run")
    train(1, "--resume", "run", "--epochs", "5")
    train(1, "--resume", "whole", "--epochs", "5")
    check_same_run("run", "whole")


def test_slices_need_processes_and_a_net_with_a_name(golden):
    slices = ["--sharded", "--checkpoint-format", "distributed"]
    assert "without --sharded processes, 't7' is accepted" in train(1, *FRESH, *slices)[0].err
    assert "without --sharded processes, 't7' is accepted" in train(2, *FRESH, *slices[1:])[0].err
    old = ["--resume", str(golden / "dpt" / "checkpoint"), "--output", "run"]
    assert "for a net that no option names, 't7' is" in train(2, *FRESH[:2], *old, *slices)[0].err


def interrupted(folder: str, argv: list[str]) -> SimpleNamespace:
    """The command, in which rank 1 gets a signal in the fifth step."""
    step, steps = Trainer.step, []

    def watched(self: Trainer, input: Tensor, target: Tensor) -> float:
        steps.append(1)
        if len(steps) == 5 and self.job.rank == 1:
            signal.raise_signal(signal.SIGTERM)
        return step(self, input, target)

    Trainer.step = watched  # type: ignore[method-assign]
    return command(folder, argv)


def test_a_signal_to_one_process_stops_all_in_the_same_step():
    train(1, *FRESH, "--epochs", "2", "--batch-size", "17", "--output", "whole")
    arguments = ["--distributed", *FRESH, "--epochs", "2", "--batch-size", "17", "--output", "run"]
    for stopped in together(interrupted, 2, os.getcwd(), arguments, environment={}):
        assert stopped.code == 143
    table, _, state = checkpoints.latest("run")
    assert (table["epoch"], table["step"], state["evalCounter"]) == (1, 1, 5)
    resumed, _ = train(2, "--resume", "run")
    assert "Resuming after epoch 1, step 1" in resumed.out
    check_same_run("run", "whole")


def test_what_rank_0_refuses_all_refuse():
    train(1, *FRESH, "--epochs", "1", "--output", "run")
    for rank, refused in enumerate(train(2, *FRESH, "--epochs", "1", "--output", "run")):
        assert refused.code == 1
        assert refused.err.startswith(f"dptable: rank {rank}: run holds a checkpoint")


def test_a_restarted_job_goes_on_with_its_own_checkpoint_only():
    train(1, *FRESH, "--epochs", "4", "--output", "whole")
    job = {"TORCHELASTIC_RUN_ID": "this", "TORCHELASTIC_RESTART_COUNT": "1"}
    other = job | {"TORCHELASTIC_RUN_ID": "other"}
    short, long = [*FRESH, "--epochs", "2"], [*FRESH, "--epochs", "4"]
    train(2, *short, "--output", "run", TORCHELASTIC_RUN_ID="this")
    assert "run holds a checkpoint" in train(2, *long, "--output", "run", **other)[0].err
    assert "Resuming after epoch 2" in train(2, *long, "--output", "run", **job)[0].out
    check_same_run("run", "whole")
    # The same without a name for the folder.
    train(2, *short, TORCHELASTIC_RUN_ID="other")
    train(2, *short, TORCHELASTIC_RUN_ID="this")
    assert "Resuming" not in train(2, *short, **job | {"TORCHELASTIC_RUN_ID": "new"})[0].out
    assert "Resuming after epoch 2" in train(2, *long, **job)[0].out
    check_same_run("runs/mlp-2", "whole")


def started_again(folder: str, argv: list[str]) -> list[SimpleNamespace]:
    """The command, and again as the next attempt of the same launch."""
    first = command(folder, argv)
    os.environ["TORCHELASTIC_RESTART_COUNT"] = "1"
    return [first, command(folder, argv)]


def test_another_launch_of_the_same_name_does_not_go_on_with_a_finished_run():
    job = {"TORCHELASTIC_RUN_ID": "name"}
    run = ["--distributed", *FRESH, "--epochs", "2", "--output", "run"]
    for first, again in together(started_again, 2, os.getcwd(), run, environment=job):
        assert first.code == again.code == 0, again.err
    before = Path("run", "latest.t7").read_bytes()
    other = [*run, "--epochs", "3"]
    for refused in together(started_again, 2, os.getcwd(), other, environment=job):
        assert all("run holds a checkpoint" in attempt.err for attempt in refused)
    assert Path("run", "latest.t7").read_bytes() == before


def test_several_processes_that_would_each_train_alone_are_refused(monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "name")
    monkeypatch.setenv("WORLD_SIZE", "2")
    refused = command(os.getcwd(), FRESH)
    assert refused.code == 1
    assert "torchrun started 2 processes, each of which would train alone" in refused.err
    assert not os.path.exists("runs")


def test_nccl_brings_what_reaches_the_memory_of_the_host(monkeypatch):
    given = []

    def init(backend: str, **_: Any) -> None:
        given.append(backend)
        raise InterruptedError

    store = dist.PrefixStore("own", dist.HashStore())
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setattr(job, "fresh_store", lambda timeout: (store, 0, 1))
    monkeypatch.setattr(dist, "init_process_group", init)
    for backend in ("nccl", "gloo"):
        with pytest.raises(InterruptedError):
            Job().join(backend, 1)
    assert given == ["cpu:gloo,cuda:nccl", "gloo"]


def test_needs_torchrun(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    refused = command(os.getcwd(), [*FRESH, "--distributed"])
    assert refused.code == 1
    assert refused.err == (
        "dptable: this is not one of several processes; start it with torchrun\n"
    )


@pytest.mark.parametrize(
    "devices, asked, count, expected",
    [
        (None, None, 4, [["cpu"] * 2, ["cpu"] * 2]),
        (None, None, 1, [["cpu"], ["cpu"]]),
        (None, 3, 2, [["cpu"] * 3, ["cpu"] * 3]),
        ("cpu,cpu,meta,meta", None, 1, [["cpu", "cpu"], ["meta", "meta"]]),
        ("1,2,3,4", None, 4, [[1, 2], [3, 4]]),
    ],
)
def test_processes_of_a_machine_share_its_devices(devices, asked, count, expected):
    for rank in range(2):
        cutorch.configure(["cpu"] * count)
        job = Job()
        job.local_rank, job.local_size = rank, 2
        if devices and "meta" in devices:
            assert job.devices(devices.split(",")) == expected[rank]
            continue
        gpus = _chosen_gpus(devices, 1, asked, job)
        if devices:
            assert gpus == expected[rank]
        else:
            assert [str(cutorch.device(gpu)) for gpu in gpus] == expected[rank]


def reporting(folder: str, argv: list[str]) -> Any:
    """The command, telling of every step, in which rank 1 waits in the third."""
    step = Trainer.step

    def watched(self: Trainer, input: Tensor, target: Tensor) -> float:
        send("step")
        return step(self, input, target)

    Trainer.step = watched  # type: ignore[method-assign]
    return command(folder, argv)


def test_a_process_that_is_killed_ends_the_others_with_its_name(folder):
    arguments = ["--distributed", *FRESH, "--epochs", "99", "--output", "run", "--timeout", "5"]
    with started(reporting, 2, os.getcwd(), arguments, environment={}) as processes:
        for _ in range(30):
            assert processes.receive(0) == processes.receive(1) == "step"
        processes.signal(1)
        while (result := processes.receive(0)) == "step":
            pass
    assert result.code == 1
    assert re.search(r"dptable: rank 0: rank 1 is gone: ", result.err)
    # What was being written is not there, and what is there is whole.
    table, _, state = checkpoints.latest("run")
    assert state["evalCounter"] == table["epoch"]
    assert all(Path(name).suffix in (".t7", ".png") for name in os.listdir("run"))
