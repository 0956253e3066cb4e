"""Saving replaces a file at once or not at all."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from support.paths import ROOT

from compat import t7

SAVER = """
import sys, torch
from compat import t7
value = {"big": torch.zeros(2_000_000), "small": "new"}
print("ready", flush=True)
while True:
    t7.save(sys.argv[1], value)
"""


def slow(delay: float) -> Any:
    return pytest.param(delay, marks=pytest.mark.slow)


@pytest.mark.parametrize("delay", [0.0, slow(0.004), 0.011, slow(0.023)])
def test_a_killed_save_leaves_a_complete_file(tmp_path: Path, delay: float) -> None:
    path = tmp_path / "x.t7"
    t7.save(path, {"big": torch.ones(10), "small": "old"})
    command = [sys.executable, "-c", SAVER, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
    value = t7.load(path)
    if value["small"] == "old":
        assert value["big"].tolist() == [1] * 10
    else:
        assert value["big"].shape == (2_000_000,)


@pytest.mark.parametrize("position", [0, 1, 50, 100_000, 399_990])
def test_a_save_killed_at_any_byte_leaves_the_old_file(
    tmp_path: Path, position: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the process dies on its own, in the midst of writing byte ``position``."""
    path = tmp_path / "x.t7"
    t7.save(path, "old")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        from compat.t7 import api

        def write(file, writer) -> None:
            data = b"".join(bytes(chunk) for chunk in writer.chunks())
            file.write(data[:position])
            file.flush()
            os.write(writing, b"x")
            os.kill(os.getpid(), signal.SIGKILL)

        monkeypatch.setattr(api, "_write", write)
        t7.save(path, torch.zeros(100_000))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        assert pipe.read() == b"x"
    assert os.WIFSIGNALED(status)
    assert t7.load(path) == "old"


def test_a_failing_save_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.t7"
    t7.save(path, "old")

    def refuse(source: str, target: str) -> None:
        raise OSError("disk is gone")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk is gone"):
        t7.save(path, "new")
    assert t7.load(path) == "old" and list(tmp_path.iterdir()) == [path]


def test_permissions_links_and_durability(tmp_path: Path) -> None:
    path, link = tmp_path / "x.t7", tmp_path / "link.t7"
    t7.save(path, "old")
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    path.chmod(0o640)
    link.symlink_to(path)
    t7.save(link, "new", durable=True)
    assert link.is_symlink() and t7.load(path) == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to() -> None:
    reading, writing = os.pipe()
    t7.save(f"/dev/fd/{writing}", "through")
    os.close(writing)
    with open(reading, "rb") as file:
        assert t7.load(file) == "through"


def test_saving_over_a_mapped_file_does_not_change_the_map(tmp_path: Path) -> None:
    path = tmp_path / "x.t7"
    t7.save(path, torch.ones(100_000))
    mapped = t7.load(path, mmap=True)
    t7.save(path, torch.zeros(10))
    assert mapped.sum() == 100_000


def test_a_folder_that_is_not_there_is_reported_by_the_name_given(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "x.t7"
    with pytest.raises(FileNotFoundError) as refused:
        t7.save(path, 1)
    assert refused.value.filename == str(path)


HOLDER = """
import sys
from compat.t7.base.atomic_file import atomic_file
with atomic_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.readline()
    file.write(b" and half")
"""


def unfinished(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.name.startswith(".")]


def test_the_next_save_clears_what_a_killed_one_left_but_not_one_under_way(tmp_path: Path) -> None:
    t7.save(tmp_path / "before.t7", 1)
    (tmp_path / ".mine.tmp").write_text("of somebody else")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(tmp_path / name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        for name in ("killed.t7", "x" * 60)
    ]
    with processes[0] as killed, processes[1] as alive:
        for process in processes:
            assert process.stdout is not None and process.stdout.readline() == b"writing\n"
        killed.kill()
        killed.wait()
        assert len(unfinished(tmp_path)) == 3
        t7.save(tmp_path / "other.t7", 1)
        left = sorted(unfinished(tmp_path))
        assert left[0] == ".mine.tmp" and left[1].startswith(".xxx") and len(left) == 2
        alive.communicate(b"\n")
    assert (tmp_path / ("x" * 60)).read_bytes() == b"half and half"
    assert unfinished(tmp_path) == [".mine.tmp"]


def test_saves_of_several_threads_in_a_folder_leave_each_other_alone(tmp_path: Path) -> None:
    def save(number: int) -> None:
        for _ in range(20):
            t7.save(tmp_path / f"{number}.t7", number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save, range(8)))
    assert [t7.load(tmp_path / f"{i}.t7") for i in range(8)] == list(range(8))
    assert not unfinished(tmp_path)


def test_a_file_that_was_cleared_as_it_was_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    lock = fcntl.flock

    def late(descriptor: int, how: int) -> None:
        if not made:
            made.extend(unfinished(tmp_path))
            (tmp_path / made[0]).unlink()
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    t7.save(tmp_path / "x.t7", "new")
    assert made and t7.load(tmp_path / "x.t7") == "new"
