"""The folder of a run has one process at a time."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.forked_python import forked_python
from support.paths import ROOT

from dptable.cli import main
from dptable.training import run_folder

HOLD = "import os, sys, time; from dptable.training import run_folder\n"
HOLD += "with run_folder.locked(sys.argv[1]): print(os.getpid(), flush=True); time.sleep(60)"


def holder(folder: Path) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        [forked_python(), "-c", HOLD, str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


@pytest.mark.parametrize("argv", [["--output", "run"], ["--resume", "run"]])
def test_the_second_run_in_a_folder_is_told_who_has_it(tmp_path, monkeypatch, capsys, argv):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--model", "mlp", "--epochs", "1", "--output", "first"]) == 0
    if "--resume" in argv:
        os.rename("first", "run")
    before = sorted(os.listdir("run")) if os.path.exists("run") else []
    capsys.readouterr()
    process, number = holder(tmp_path / "run")
    try:
        assert main(["train", "--model", "mlp", "--epochs", "1", *argv]) == 1
        said = capsys.readouterr()
        assert said.err.startswith(f"dptable: run is in use by process {number} on ")
        assert said.err.count("\n") == 1 and not said.out
        assert sorted(os.listdir("run")) == [run_folder.LOCK, *before]
    finally:
        os.kill(number, signal.SIGKILL)
        process.wait()
    # What was killed left its file, which is no lock.
    assert (tmp_path / "run" / run_folder.LOCK).exists()
    assert main(["train", "--model", "mlp", "--epochs", "1", *argv]) == 0
    assert not (tmp_path / "run" / run_folder.LOCK).exists()


def test_of_many_that_come_together_one_at_a_time_has_the_folder(tmp_path):
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> int:
        got = 0
        while got < 5:
            with contextlib.suppress(FileExistsError), run_folder.locked(tmp_path / "run"):
                inside.append(number)
                most.append(len(inside))
                got += 1
                time.sleep(0.001)
                inside.remove(number)
        return got

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == [5] * 6
    assert set(most) == {1} and not (tmp_path / "run" / run_folder.LOCK).exists()


def test_in_one_process_too(tmp_path):
    refused = pytest.raises(FileExistsError, match=str(os.getpid()))
    with run_folder.locked(tmp_path), refused, run_folder.locked(tmp_path):
        pass
    with run_folder.locked(tmp_path):
        pass


def test_a_folder_without_a_checkpoint_goes_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--data", "none.t7", "--output", "new"]) == 1
    assert main(["train", "--data", "none.t7"]) == 1
    assert main(["train", "--resume", "none"]) == 1
    assert os.listdir() == ["runs"] and not os.listdir("runs")


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch, capsys):
    def refuse(*args: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(args[0]))

    monkeypatch.setattr(run_folder.os, "open", refuse)
    assert main(["train", "--output", str(tmp_path / "run")]) == 1
    said = capsys.readouterr()
    assert said.err == f"dptable: {tmp_path / 'run' / '.lock'}: Read-only file system\n"
    assert not said.out


def test_a_full_disk_is_told_with_the_name_of_the_lock(tmp_path, monkeypatch):
    def refuse(*args: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(run_folder.os, "write", refuse)
    with pytest.raises(OSError, match="No space") as raised, run_folder.locked(tmp_path / "run"):
        pass
    assert raised.value.filename == str(tmp_path / "run" / ".lock")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["latest.t7", "model_1.t7", "curves.png", "state_2"])
def test_what_a_run_writes_stays_in_its_folder(tmp_path, name):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match=f"{name} is a link"), run_folder.locked(folder):
        pass


def test_the_lock_is_no_link(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("kept")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / run_folder.LOCK).symlink_to(precious)
    with pytest.raises(OSError), run_folder.locked(folder):
        pass
    assert precious.read_text() == "kept"


def test_a_child_that_outlives_the_run_does_not_hold_the_folder(tmp_path):
    """Processes that a run starts do not inherit the lock."""
    process, number = holder(tmp_path / "run")
    os.kill(number, signal.SIGKILL)
    process.wait()
    with run_folder.locked(tmp_path / "run"):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with run_folder.locked(tmp_path / "run"):
            pass
    finally:
        child.communicate(b"\n")
