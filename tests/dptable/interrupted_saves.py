"""Fails, or kills the process at, every system call with which a save changes files.

    python tests/dptable/interrupted_saves.py            # all saves
    python tests/dptable/interrupted_saves.py t7 run     # some

A library that is loaded before libc (``support/failing_calls.c``) lets the n-th write, truncation,
renaming, sync, opening or removal under a folder fail; n goes through all of them. Each is tried as
a disk error, as a disk that is full from then on, and as the end of the process. Afterwards each
file must be the old one or the new one, whole (or, of a source that belongs to weights, none); an
error must name a file; nothing unfinished may be left, or, after a kill, be there after the next
save.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SHIM = ROOT / "tests" / "support" / "failing_calls.c"
NEVER = 1 << 40
WAYS = {"error": (errno.EIO, False), "full": (errno.ENOSPC, True), "killed": (0, False)}


@dataclass
class Save:
    """A save, which makes of an old state of a folder a new one.

    ``save(folder, value)`` writes version 1 or 2; ``version(folder)`` reads which one is there, and
    raises if it is neither.
    """

    save: Callable[[Path, int], Any]
    version: Callable[[Path], int]


def _t7(**options: Any) -> Save:
    import torch

    from compat import t7

    def save(folder: Path, version: int) -> None:
        t7.save(folder / "a.t7", {"v": version, "data": torch.full((3000,), version)}, **options)

    def version(folder: Path) -> int:
        held = t7.load(folder / "a.t7")
        assert (held["data"] == held["v"]).all() and len(held["data"]) == 3000
        return int(held["v"])

    return Save(save, version)


def _net(version: int) -> Any:
    from compat import nn

    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh())
    net.getParameters()[0].fill_(version)
    return net


def _run() -> Save:
    """The checkpoints of a run; a number is in the name of the files, so that all are new."""
    from dptable import checkpoints

    def save(folder: Path, version: int) -> None:
        checkpoints.save(folder, version, _net(version), {"evalCounter": version})

    def version(folder: Path) -> int:
        held, net, state = checkpoints.latest(folder)
        assert held["epoch"] == state["evalCounter"] == float(net.get(1).weight[0, 0])
        return int(held["epoch"])

    return Save(save, version)


def _slices() -> Save:
    """A folder of slices, then the table that names it."""
    import torch
    import torch.distributed as dist

    from compat import t7
    from dptable.processes import sliced_files

    def save(folder: Path, version: int) -> None:
        # Its threads do not survive a fork.
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        group = dist.group.WORLD
        assert group is not None
        held = {"p": torch.full((10,), float(version))}
        part = sliced_files.Part(0, 10, 10)
        made = folder / f"state_{version}"
        made = made if not made.exists() else folder / f"state_{version}.again"
        sliced_files.write(made, held, {}, version, part, group, lambda f: f())
        t7.save(folder / "latest.t7", {"v": version, "name": made.name})

    def version(folder: Path) -> int:
        table = t7.load(folder / "latest.t7")
        for made in folder.glob("state_*"):
            values, rest = sliced_files.read(made, 10)
            assert (values["p"] == rest).all() and made.name.startswith(f"state_{rest}")
        assert (folder / table["name"]).exists()
        return int(table["v"])

    return Save(save, version)


def _command(name: str, *more: str) -> Save:
    """A command that writes ``name``, of a net that is not in the folder."""
    import torch

    from compat import t7
    from dptable.cli import main

    inputs = Path(tempfile.mkdtemp())
    for number in (1, 2):
        t7.save(inputs / f"{number}.t7", _net(number))

    def save(folder: Path, version: int) -> None:
        words = [str(inputs / f"{version}.t7") if w == "IN" else w for w in more]
        words = [str(folder / name) if w == "OUT" else w for w in words]
        err = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            code = main(words)
        if code:
            said = err.getvalue()
            assert said.startswith(f"dptable: {folder / Path(name).stem}"), said
            raise OSError(said)

    def version(folder: Path) -> int:
        path = folder / name
        if path.suffix == ".pt":
            return int(torch.load(path)["0.weight"][0, 0])
        if path.suffix == ".t7":
            return int(t7.load(path).get(1).weight[0, 0])
        told = None
        if path.suffix == ".py":
            if not path.exists():
                return 0  # which whoever imports it notices
            text = path.read_text()
            compile(text, name, "exec")
            told = int(text.partition("The net of ")[2][0])
            path = path.with_suffix(".safetensors")
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            weights = load_file(path)
            found = int(next(w for k, w in weights.items() if k.endswith("weight"))[0, 0])
            assert told in (None, found), "the source of one net with the weights of another"
            return found
        text = path.read_text()
        assert text.rstrip().endswith(("</svg>", "</html>", "}")), text[-40:]
        return 0

    return Save(save, version)


def saves() -> dict[str, Callable[[], Save]]:
    """All saves by name."""
    convert = ("convert", "IN", "OUT")
    return {
        "t7": lambda: _t7(),
        "t7 durable": lambda: _t7(durable=True),
        "t7 ascii": lambda: _t7(format="ascii"),
        "run": _run,
        "slices": _slices,
        "pt": lambda: _command("o.pt", *convert),
        "safetensors": lambda: _command("o.safetensors", *convert),
        "convert": lambda: _command("o.t7", *convert),
        "source": lambda: _command("o.py", *convert, "--force", "--input", "1x4"),
        "graph": lambda: _command("o.svg", "inspect", "IN", "--graph", "OUT"),
        "view": lambda: _command("o.html", "view", "IN", "--no-browser", "--force", "-o", "OUT"),
    }


def unfinished(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob(".*") if path.name != ".metadata"]


def in_child(function: Callable[[], Any]) -> int:
    """Run something in a process of its own, and give the exit code: 1 for an error of a file."""
    child = os.fork()
    if child == 0:
        code = 0
        try:
            function()
        except OSError as failure:
            code = 1 if failure.filename or "/folder" in str(failure) else 3
            if code == 3:
                traceback.print_exc()
        except BaseException:
            code = 4
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def attempt(save: Save, folder: Path, number: int, way: str) -> str:
    """Save version 2 over version 1 in a child whose call of this number fails."""
    shim = ctypes.CDLL(None)
    error, from_then_on = WAYS[way]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    assert in_child(lambda: save.save(folder, 1)) == 0

    def failing() -> None:
        shim.arm(str(folder).encode(), ctypes.c_long(number), error, int(from_then_on))
        try:
            save.save(folder, 2)
        finally:
            shim.disarm()

    code = in_child(failing)
    killed = code == -9
    assert code in (-9, 0, 1) and (not killed or way == "killed"), f"exit code {code}"
    found = save.version(folder)
    assert found in (0, 1, 2), found
    if code == 0:
        assert found in (0, 2), "no error, and nothing was saved"
    if not killed:
        assert not unfinished(folder), unfinished(folder)
    assert in_child(lambda: save.save(folder, 2)) == 0
    assert save.version(folder) in (0, 2)
    left = [name for name in unfinished(folder) if not (killed and ".partial" in name)]
    assert not left, left
    return "killed" if killed else ("saved", "refused")[code]


def counted(save: Save, folder: Path) -> int:
    """How many calls there are when version 2 is saved over version 1."""
    shim, told = ctypes.CDLL(None), folder.with_name("count")
    shim.calls.restype = ctypes.c_long
    assert in_child(lambda: save.save(folder, 1)) == 0

    def counting() -> None:
        shim.arm(str(folder).encode(), ctypes.c_long(NEVER), errno.EIO, 0)
        save.save(folder, 2)
        told.write_text(str(shim.calls()))

    assert in_child(counting) == 0
    return int(told.read_text())


def work(names: list[str]) -> int:
    """Try all in this process, under the library."""
    import torch

    torch.set_num_threads(1)
    failures = 0
    for name in names or saves():
        save = saves()[name]()
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "folder"
            folder.mkdir()
            count = counted(save, folder)
            counts: dict[str, int] = {}
            for way in WAYS:
                for number in range(1, count + 1):
                    try:
                        ended = attempt(save, folder, number, way)
                        counts[ended] = counts.get(ended, 0) + 1
                    except Exception as error:
                        failures += 1
                        print(f"{name}: call {number} of {count}, {way}: {error!r}", flush=True)
            print(f"{name:<12} {count:>3} calls: {counts}", flush=True)
    return int(failures > 0)


def main() -> int:
    if os.environ.get("DPTABLE_FAILING_CALLS"):
        return work(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/failing_calls.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", library, str(SHIM), "-ldl"], check=True
        )
        environment = {
            **os.environ,
            "LD_PRELOAD": library,
            "DPTABLE_FAILING_CALLS": "1",
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",
        }
        return subprocess.run([sys.executable, __file__, *sys.argv[1:]], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
