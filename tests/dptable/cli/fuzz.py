"""Feeds damaged files to every reader that a command leads to.

The short form runs in the tests; the long form is

    python tests/dptable/cli/fuzz.py --mutations 100000
    python tests/dptable/cli/fuzz.py --mutations 1000 --readers hdf5,image

Each reader may refuse a file with the errors that are listed for it, or read it. Anything else, an
end of the process included, is a failure, which is told with the number of the mutation; ``--first
N --mutations 1 --readers NAME`` repeats it. A mutation derives from the seed, the reader and its
number. Memory and time are limited. Files of the kinds that no command reads (tar, zip, .pt,
.safetensors) must be refused by the reader of .t7 files.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.append(str(Path(__file__).parents[2]))
from support.mutations import ending, limit_memory, mutate
from support.paths import GOLDEN

MEMORY = 1 << 30
ENDLESS = 120
LARGEST = 40_000
"""Bytes of a file that is damaged."""


@dataclass
class Reader:
    """How files of a kind are read.

    Attributes:
        seeds: whole files, by name.
        read: reads the file at a path.
        errors: what it may raise.
        share: how often it is drawn, beside the others.
    """

    seeds: Callable[[Path], dict[str, bytes]]
    read: Callable[[Path], Any]
    errors: tuple[type[BaseException], ...]
    share: float = 1.0
    name: str = "file"
    ready: dict[str, bytes] = field(default_factory=dict)


def _t7_files(folder: Path) -> dict[str, bytes]:
    paths = [*GOLDEN.glob("format/*.t7"), *GOLDEN.glob("composite/*.t7"), *GOLDEN.glob("nn/*.t7")]
    return {path.stem: path.read_bytes() for path in sorted(paths)}


def _read_t7(path: Path) -> None:
    from compat import t7

    t7.load(path, mmap=True, plain=True)


def _other_files(folder: Path) -> dict[str, bytes]:
    import torch
    from safetensors.torch import save

    tensors = {"a": torch.ones(3), "b": torch.zeros(2, 2)}
    saved = io.BytesIO()
    torch.save(tensors, saved)
    old = io.BytesIO()
    torch.save(tensors, old, _use_new_zipfile_serialization=False)
    zipped, packed = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("a.t7", b"x" * 100)
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.t7"))
    return {
        **{"pt": saved.getvalue(), "old pt": old.getvalue(), "safetensors": save(tensors)},
        **{"zip": zipped.getvalue(), "tar": packed.getvalue()},
    }


def _slices(folder: Path) -> dict[str, bytes]:
    """The files of a folder that a sharded run wrote."""
    import torch

    from dptable.processes import sliced_files

    _group()
    parts = {"parameters": torch.arange(10.0), "state.dfdx": torch.ones(10)}
    whole = {"scale": torch.tensor([2.0])}
    part = sliced_files.Part(0, 10, 10)
    made = folder / "state_1"
    shutil.rmtree(made, ignore_errors=True)
    sliced_files.write(made, parts, whole, {"evalCounter": 3}, part, _group(), lambda f: f())
    return {path.name: path.read_bytes() for path in made.iterdir()}


def _group() -> Any:
    import torch.distributed as dist

    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    return dist.group.WORLD


def _read_slices(path: Path) -> None:
    from dptable.processes import sliced_files

    sliced_files.read(path, 10, 2, 7)


def _checkpoint(folder: Path) -> dict[str, bytes]:
    from compat import nn
    from dptable import checkpoints
    from dptable.training import Options

    made = folder / "run"
    opt = vars(Options(model="mlp"))
    state = {"evalCounter": 4, "learningRate": 0.1}
    tally = {"step": 1, "images": 8, "loss": 1.0, "correct": 2}
    row = {"trainLoss": 1.0, "trainAccuracy": 50, "testLoss": 1.0, "testAccuracy": 40}
    more = {"opt": opt, "tally": tally, "history": [row], "job": "", "launch": ""}
    checkpoints.save(made, 2, nn.Sequential(nn.Linear(2, 2)), state, 1, **more)
    return {path.name: path.read_bytes() for path in made.iterdir()}


def _resume(path: Path) -> None:
    """What ``dptable train --resume`` makes of a folder before it trains."""
    from dptable.cli import command_line
    from dptable.cli.train import _beginning
    from dptable.processes.job import Job
    from dptable.training import Session

    args = command_line.parser().parse_args(["train", "--resume", str(path)])
    with contextlib.ExitStack() as held:
        start = _beginning(args, Job(), held)
        trainer: Any = SimpleNamespace(job=Job(), opt=start.opt)
        Session(trainer, None, start.folder, start.latest, [])  # type: ignore[arg-type]


def _images(folder: Path) -> dict[str, bytes]:
    import numpy
    from PIL import Image

    found = {}
    pixels = numpy.random.default_rng(1).integers(0, 255, (9, 11, 4)).astype("uint8")
    for name, mode in (("JPEG", "RGB"), ("PNG", "RGBA"), ("PNG", "P"), ("PPM", "RGB")):
        picture = Image.fromarray(pixels, "RGBA").convert(mode)
        stream = io.BytesIO()
        picture.save(stream, name)
        found[f"{name} {mode}"] = stream.getvalue()
    stream = io.BytesIO()
    Image.fromarray(pixels[..., 0].astype("uint16") * 200).save(stream, "PNG")
    return found | {"PNG 16": stream.getvalue()}


def _read_image(path: Path) -> None:
    import torch

    from compat import image

    image.load(path)
    image.decompress(torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8), 3)


def _hdf5(folder: Path) -> dict[str, bytes]:
    import torch

    from compat import hdf5

    path = folder / "seed.h5"
    file = hdf5.open(path, "w")
    file.write("/train", torch.ones(4, 3))
    file.write("/deep/labels", torch.arange(4))
    file.close()
    return {"h5": path.read_bytes()}


def _read_hdf5(path: Path) -> None:
    from compat import hdf5

    file = hdf5.open(path, "r")
    try:
        file.all()
    finally:
        file.close()


def _caffe(folder: Path) -> dict[str, bytes]:
    from support.caffe import small_net

    return {"old": small_net(True)[0], "new": small_net(False)[0]}


def _read_caffe(path: Path) -> None:
    from compat import loadcaffe

    loadcaffe.load("", path, say=lambda line: None)


_runtimes: list[Any] = []


def _lua() -> Any:
    if not _runtimes:
        from compat import lua

        _runtimes.append(lua.Runtime())
    return _runtimes[0]


def _csv(folder: Path) -> dict[str, bytes]:
    return {
        "plain": b"a,b,c\n1,2,3\n4,,6\n",
        "quoted": b'name;value\n"x;y";"a ""word"""\n"two\nlines";3\n',
    }


def _read_csv(path: Path) -> None:
    load = "function(path) require 'csvigo'; return csvigo.load{path = path, verbose = false} end"
    _lua().eval(load)(str(path))


def _source(folder: Path) -> dict[str, bytes]:
    scripts = sorted(GOLDEN.glob("lua/*.lua"))
    return {path.stem: path.read_bytes() for path in scripts[:40]}


def _read_port(path: Path) -> None:
    from compat.port.program import convert

    convert([str(path)])


def _read_lua(path: Path) -> None:
    """The parser alone: a script is trusted when it runs."""
    _lua().eval("function(text) local f, e = loadstring(text) end")(path.read_bytes())


def _run(command: str, *more: str) -> Callable[[Path], None]:
    """A whole command, which must end with 0 or 1 and one line of error."""

    def run(path: Path) -> None:
        from dptable.cli import main

        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([command, str(path), *(w.format(folder=path.parent) for w in more)])
        said = err.getvalue()
        assert code in (0, 1), code
        assert "Traceback" not in said, said
        if code:
            assert said.startswith("dptable: ") and said.count("\n") == 1, said
            bugs = ("object has no attribute", "not subscriptable", "unsupported operand")
            assert not any(bug in said for bug in (*bugs, "unhashable", "'NoneType'")), said

    return run


def _errors() -> dict[str, tuple[type[BaseException], ...]]:
    from compat import t7

    found: dict[str, tuple[type[BaseException], ...]] = {"t7": (t7.T7Error, t7.Refusal)}
    found["values"] = (*found["t7"], ValueError, FileNotFoundError)
    with contextlib.suppress(ImportError):
        from google.protobuf.message import DecodeError

        found["caffe"] = (DecodeError, ValueError, NotImplementedError)
    with contextlib.suppress(ImportError):
        from compat.lua import LuaError

        found["lua"] = (LuaError,)
    from compat.port.read.syntax import PortError

    found["port"] = (PortError,)
    return found


def readers() -> dict[str, Reader]:
    """The readers by name; those whose packages are not here are left out."""
    from importlib.util import find_spec

    errors = _errors()
    found = {
        "t7": Reader(_t7_files, _read_t7, errors["t7"], 3),
        "others": Reader(_other_files, _read_t7, errors["t7"]),
        "slices": Reader(_slices, _read_slices, (*errors["values"], OSError, TypeError)),
        "checkpoint": Reader(_checkpoint, _resume, (*errors["values"], TypeError)),
        "inspect": Reader(_t7_files, _run("inspect"), ()),
        "inspect --json": Reader(_t7_files, _run("inspect", "--json"), (), 0.5),
        "graph": Reader(_t7_files, _run("inspect", "--graph", "{folder}/o.svg"), (), 0.5),
        "view": Reader(
            _t7_files, _run("view", "--no-browser", "--force", "-o", "{folder}/o.html"), (), 0.5
        ),
        "convert": Reader(_t7_files, _run("convert", "{folder}/o.t7", "--to-cpu"), (), 0.5),
        "safetensors": Reader(_t7_files, _run("convert", "{folder}/o.safetensors"), (), 0.5),
        "source": Reader(_t7_files, _run("convert", "{folder}/o.py", "--force"), (), 0.2),
        "data": Reader(_data, _read_data, errors["values"]),
        "port": Reader(_source, _read_port, errors["port"], 0.3, "file.lua"),
    }
    if find_spec("lupa"):
        found["csv"] = Reader(_csv, _read_csv, errors["lua"], 1, "file.csv")
        found["lua"] = Reader(_source, _read_lua, errors["lua"], 1, "file.lua")
    if find_spec("PIL"):
        found["image"] = Reader(_images, _read_image, (ValueError,))
    if find_spec("h5py"):
        found["hdf5"] = Reader(
            _hdf5, _read_hdf5, (OSError, ValueError, RuntimeError, KeyError, TypeError)
        )
    if "caffe" in errors:
        found["caffe"] = Reader(_caffe, _read_caffe, errors["caffe"])
    return found


def _data(folder: Path) -> dict[str, bytes]:
    import torch

    from compat import t7

    images, labels = torch.ones(6, 2, 2), torch.arange(6).remainder(3).add(1).byte()
    return {
        "one": t7.dumps({"data": images.byte(), "labels": labels}),
        "two": t7.dumps({part: {"data": images, "labels": labels} for part in ("train", "test")}),
    }


def _read_data(path: Path) -> None:
    from dptable import data

    data.load(path)


def try_one(name: str, reader: Reader, number: int, seed: int, folder: Path) -> bool:
    """Whether mutation ``number`` could be read."""
    chance = random.Random(f"{seed} {name} {number}")
    files = {n: d for n, d in reader.ready.items() if 0 < len(d) <= LARGEST}
    key = chance.choice(sorted(files))
    damaged = mutate(files[key], list(files.values()), chance)
    path = folder / reader.name
    if name in ("slices", "checkpoint"):
        path = folder / "folder"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        for other, data in reader.ready.items():
            (path / other).write_bytes(data)
        (path / key).write_bytes(damaged)
        if name == "slices" and chance.random() < 0.3:
            (path / "index.json").unlink(missing_ok=True)
    else:
        path.write_bytes(damaged)
    try:
        with ending(ENDLESS):
            reader.read(path)
    except reader.errors as error:
        assert str(error), f"{type(error).__name__} says nothing"
        return False
    return True


def work(names: list[str], first: int, mutations: int, seed: int, state: Path) -> None:
    """Try mutations in this process, and note in ``state`` which one is tried."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    known = readers()
    with tempfile.TemporaryDirectory() as temporary, open(state, "w") as told:
        folder = Path(temporary)
        for name in names:
            seeds = folder / "seeds"
            seeds.mkdir(exist_ok=True)
            known[name].ready = known[name].seeds(seeds)
        limit_memory(MEMORY)
        counts = {name: [0, 0] for name in names}
        shares = [known[name].share for name in names]
        for number in range(first, first + mutations):
            [name] = random.Random(f"{seed} {number}").choices(names, shares)
            told.seek(0)
            told.write(f"{number} {name}".ljust(60))
            told.flush()
            counts[name][try_one(name, known[name], number, seed, folder)] += 1
        told.seek(0)
        told.write(json.dumps(counts).ljust(60))
        told.truncate()


def _batches(first: int, mutations: int, size: int) -> Iterator[tuple[int, int]]:
    for start in range(first, first + mutations, size):
        yield start, min(size, first + mutations - start)


def run(names: list[str], first: int, mutations: int, seed: int, size: int) -> tuple[Any, int]:
    """Try mutations in processes of their own; what was counted, and how many failed."""
    counts = {name: [0, 0] for name in names}
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        for start, count in _batches(first, mutations, size):
            while count > 0:
                command = [sys.executable, __file__, "--work", str(state), "--first", str(start)]
                command += ["--mutations", str(count), "--seed", str(seed)]
                command += ["--readers", ",".join(names)]
                done = subprocess.run(command, capture_output=True, text=True, env=_environment())
                told = state.read_text().strip() if state.exists() else ""
                if done.returncode == 0:
                    for name, (refused, read) in json.loads(told).items():
                        counts[name][0] += refused
                        counts[name][1] += read
                    break
                failures += 1
                number, _, name = told.partition(" ")
                if not number.isdigit():
                    raise SystemExit(done.stderr)
                print(f"mutation {number} of {name}, exit code {done.returncode}:", flush=True)
                print("\n".join(done.stderr.strip().splitlines()[-12:]), flush=True)
                count -= int(number) + 1 - start
                start = int(number) + 1
    return counts, failures


def _environment() -> dict[str, str]:
    root = str(Path(__file__).parents[3])
    return {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1"}


def main() -> int:
    parser = argparse.ArgumentParser(description="Feed damaged files to all readers.")
    parser.add_argument("--mutations", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--readers", help="names with commas between (default: all)")
    parser.add_argument("--size", type=int, default=5000, help="mutations in a process")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    names = args.readers.split(",") if args.readers else list(readers())
    if args.work:
        work(names, args.first, args.mutations, args.seed, args.work)
        return 0
    started = time.perf_counter()
    counts, failures = run(names, args.first, args.mutations, args.seed, args.size)
    for name, (refused, read) in counts.items():
        print(f"{name:<15} {read:>7,} read {refused:>7,} refused")
    seconds = time.perf_counter() - started
    print(f"{failures} failed of {args.mutations:,}, in {seconds:.0f} s")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
