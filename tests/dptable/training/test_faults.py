"""What goes wrong while a net trains: the step and the place are told, what was done is kept."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from support.forked_python import forked_python
from support.paths import ROOT

from compat import nn, random
from compat.nn.layers.linear import Linear
from dptable import checkpoints, data
from dptable.cli import main
from dptable.training import Options, Requests, Tally, Trainer, faults, replicated
from dptable.training.stopping import tolerate_closed_output


def trainer(net: nn.Module, **options: Any) -> SimpleNamespace:
    opt = Options(model="mlp", batch_size=8, ngpus=2, **options)
    table = replicated(net, [1, 2], False)
    made = Trainer(table, nn.CrossEntropyCriterion().float(), opt)
    split = data.Split(torch.ones(32, 4), torch.ones(32).long())

    def run(steps: int = 2) -> None:
        tally = Tally()
        for _ in zip(range(steps), made.train(3, split, tally), strict=False):
            pass

    return SimpleNamespace(trainer=made, table=table, run=run)


class Overflowing(nn.Module):
    """Gives infinity in one of the passes, from a step on."""

    def __init__(self, method: str, step: int) -> None:
        super().__init__()
        self.method, self.left = method, step - 1

    def _result(self, method: str, value: torch.Tensor) -> torch.Tensor:
        if method != self.method:
            return value
        self.left -= 1
        return value / 0 if self.left < 0 else value

    def updateOutput(self, input: Any) -> Any:
        self.output = self._result("updateOutput", input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self._result("updateGradInput", gradOutput)
        return self.gradInput


@pytest.mark.cpus(2)
@pytest.mark.parametrize(
    ("method", "what"), [("updateOutput", "the loss"), ("updateGradInput", "the gradient")]
)
def test_the_first_number_that_is_not_finite_is_told_with_module_and_method(method, what):
    random.manualSeed(1)
    inner = nn.Sequential(nn.Tanh(), Overflowing(method, 2))
    run = trainer(nn.Sequential(nn.Linear(4, 3), inner, nn.Linear(3, 2)), epochs=9)
    before = run.trainer.params.clone()
    place = rf"nn\.Sequential\[2\] nn\.Sequential\[2\] Overflowing: {method}"
    with pytest.raises(ArithmeticError) as raised:
        run.run(4)
    told = rf"{what} is not finite, from {place}, in step 2 of epoch 3; try a learning rate below"
    assert re.match(told, str(raised.value)), raised.value
    # The step before was made, this one left everything as it was.
    assert not torch.equal(run.trainer.params, before)
    assert run.trainer.params.isfinite().all()
    assert run.trainer.optimState["evalCounter"] == 1


@pytest.mark.cpus(2)
def test_gradients_of_parameters_that_overflow_are_told():
    class Steep(Linear):
        def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
            super().accGradParameters(input, gradOutput, scale)
            self.gradBias.fill_(float("inf"))

    run = trainer(nn.Sequential(nn.Linear(4, 3), Steep(3, 2)))
    told = r"the gradient is not finite, from nn\.Sequential\[2\] .*accGradParameters, in step 1"
    with pytest.raises(ArithmeticError, match=told):
        run.run()


@pytest.mark.cpus(2)
def test_parameters_that_overflow_in_an_update_are_told():
    run = trainer(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)))
    run.run(1)
    run.table.get(1).get(2).weight.fill_(float("nan"))
    told = r"from weight of nn\.Linear\(3 -> 2\) after the step before, in step 1"
    with pytest.raises(ArithmeticError, match=told):
        run.run()


def test_large_finite_numbers_are_finite():
    assert faults.is_finite(torch.full((9,), 3e38))
    assert not faults.is_finite(torch.tensor([1, float("nan")]))


OUT_OF_MEMORY: list[Callable[[], Exception]] = [
    lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nmore"),
    lambda: MemoryError(),
    lambda: RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
]


@pytest.mark.cpus(2)
@pytest.mark.parametrize("error", OUT_OF_MEMORY)
@pytest.mark.parametrize("threads", ["--threads", "--no-threads"])
def test_too_little_memory_names_the_batch_and_what_to_change(
    error, threads, tmp_path, monkeypatch, capsys
):
    forward, calls = Linear.updateOutput, []

    def failing(self: Any, input: torch.Tensor) -> Any:
        calls.append(len(input))
        if len(calls) > 60:
            raise error()
        return forward(self, input)

    monkeypatch.setattr(Linear, "updateOutput", failing)
    argv = ["--model", "mlp", "--batch-size", "100", "--output", str(tmp_path / "run"), threads]
    assert main(["train", *argv]) == 1
    told = r"dptable: too little memory for step \d+ of epoch 1, a batch of 100 images: try "
    told += (
        r"--batch-size 50 \(it is 100\), or more devices by --ngpus; (replica \d .+|MemoryError)\n"
    )
    said = capsys.readouterr()
    assert re.fullmatch(told, said.err[said.err.rindex("dptable:") :]), said.err


def test_other_errors_stay_what_they_are():
    for error in (RuntimeError("size mismatch"), ValueError("x"), OSError(12, "x")):
        assert not faults.is_out_of_memory(error)


class Closed:
    """A stream whose reader is gone, with a descriptor of its own."""

    def __init__(self, number: int, path: Path) -> None:
        self.number = number
        self.file = open(path, "w")  # noqa: SIM115

    def fileno(self) -> int:
        return self.file.fileno()

    def write(self, text: str) -> int:
        raise OSError(self.number, "closed")

    def flush(self) -> None:
        raise OSError(self.number, "closed")

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("number", [errno.EPIPE, errno.EIO, errno.ENOSPC])
def test_an_output_that_is_gone_is_a_request_to_stop(number, tmp_path, monkeypatch):
    for name in ("stdout", "stderr"):
        stream = Closed(number, tmp_path / name)
        monkeypatch.setattr(sys, name, stream)
        requests = Requests()
        with tolerate_closed_output(requests):
            assert not requests()
            print("lost", file=getattr(sys, name))
            getattr(sys, name).flush()
            assert requests() and requests.exit_code == 141 and getattr(sys, name).isatty()
        monkeypatch.undo()
        os.write(stream.fileno(), b"also lost")
        stream.file.close()
        assert not (tmp_path / name).read_text()


def started(folder: Path, *argv: str, **options: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    command = [forked_python(), "-m", "dptable", "train", "--model", "mlp", "--output", "run"]
    return subprocess.Popen(
        [*command, "--epochs", "100000", *argv],
        **{"cwd": folder, "env": environment, "text": True, **options},
    )


def wait_for_an_epoch(folder: Path) -> None:
    deadline = time.monotonic() + 60
    while not checkpoints.exists(folder / "run"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_a_checkpoint_and_its_exit_code(tmp_path, number):
    heeded = partial(signal.signal, number, signal.SIG_DFL)  # also where nohup has it ignored
    run = started(tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heeded)
    try:
        wait_for_an_epoch(tmp_path)
        run.send_signal(number)
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert (run.returncode, err) == (128 + number, "")
    assert "Interrupted; the checkpoint holds every completed step." in out
    table, _, state = checkpoints.latest(tmp_path / "run")
    per_epoch = -(-1442 // 64)
    assert state["evalCounter"] == table["epoch"] * per_epoch + table["step"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX terminals")
def test_a_terminal_that_closes_leaves_a_checkpoint(tmp_path):
    import pty

    ours, theirs = pty.openpty()
    run = started(tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    try:
        wait_for_an_epoch(tmp_path)
        os.close(ours)
        assert run.wait(60) == 141
    finally:
        run.kill()
    assert checkpoints.latest(tmp_path / "run")[2]["evalCounter"] > 0
    assert not (tmp_path / "run" / ".lock").exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_what_nohup_ignores_stays_ignored(tmp_path):
    run = started(
        tmp_path,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    try:
        wait_for_an_epoch(tmp_path)
        run.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(2)
    finally:
        run.kill()
        run.wait()
