"""How fast are .t7 files, beside what else one could use?

A checkpoint of large tensors against its plain bytes, torch.load and torch.save, safetensors and
torchfile; tables of a million small entries against torchfile. All in one run, in turn.

    python benchmarks/t7.py [--megabytes N] [--entries N] [--folder DIR] [--seconds N]

The plain bytes are read with one call, and written to a new file that then replaces the old one,
as ``t7.save`` does. The files are in the page cache: what is measured is work, not the disk.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from alternating import alternate, header, row, seconds

from compat import t7

try:
    import torchfile
except ImportError:
    torchfile = None
try:
    from safetensors import torch as safetensors
except ImportError:
    safetensors = None


NAMES = "names with numbers"


def checkpoint(megabytes: int) -> dict[str, torch.Tensor]:
    """Twenty tensors of equal size."""
    size = (megabytes << 20) // 4 // 20
    return {f"weight{i}": torch.randn(size) for i in range(20)}


def tables(entries: int) -> dict[str, Any]:
    few = entries // 5
    return {
        "numbers": [i * 0.5 for i in range(entries)],
        "integers": list(range(entries)),
        "strings": [f"image_{i}.jpg" for i in range(entries)],
        NAMES: {f"word{i}": i for i in range(entries)},
        "pairs": [[i, i + 1] for i in range(few)],
        "records": [{"label": i, "name": f"n{i}"} for i in range(few)],
    }


def timed(function: Callable[..., object], *arguments: object) -> Callable[[], float]:
    return lambda: seconds(lambda: function(*arguments))


def read_bytes(path: Path) -> int:
    with path.open("rb", buffering=0) as file:
        return len(file.readall())


def write_bytes(path: Path, parts: list[memoryview]) -> None:
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        for part in parts:
            file.write(part)
    os.replace(new, path)


def compare(title: str, base: str, ways: dict[str, Callable[[], float]], budget: float) -> None:
    times = alternate(ways, budget, rounds=50)
    print(f"\n{header(title, 'way', base)}")
    for name in ways:
        print(row(name, times, name, base))


def checkpoints(folder: Path, megabytes: int, budget: float) -> None:
    tensors = checkpoint(megabytes)
    parts = [memoryview(tensor.clone().numpy()).cast("B") for tensor in tensors.values()]
    paths = {kind: folder / f"checkpoint.{kind}" for kind in ("t7", "pt", "safetensors", "bytes")}
    t7.save(paths["t7"], tensors)
    torch.save(tensors, paths["pt"])
    loading = {
        "bytes": timed(read_bytes, paths["t7"]),
        "t7.load": timed(t7.load, paths["t7"]),
        "t7.load(mmap=True)": timed(lambda: t7.load(paths["t7"], mmap=True)),
        "torch.load": timed(torch.load, paths["pt"]),
        "torch.load(mmap=True)": timed(lambda: torch.load(paths["pt"], mmap=True)),
    }
    saving = {
        "bytes": timed(write_bytes, paths["bytes"], parts),
        "t7.save": timed(t7.save, paths["t7"], tensors),
        "torch.save": timed(torch.save, tensors, paths["pt"]),
    }
    if safetensors is not None:
        safetensors.save_file(tensors, paths["safetensors"])
        loading["safetensors"] = timed(safetensors.load_file, paths["safetensors"])
        saving["safetensors"] = timed(safetensors.save_file, tensors, paths["safetensors"])
    if torchfile is not None:
        single = folder / "single.t7"  # it fails on a table of several tensors
        t7.save(single, torch.cat(list(tensors.values())))
        loading["torchfile (one tensor)"] = timed(torchfile.load, single)
    compare(f"load {megabytes} MB", "bytes", loading, budget)
    compare(f"save {megabytes} MB", "bytes", saving, budget)


def small_entries(folder: Path, entries: int, budget: float) -> None:
    print(f"\n{header(f'load {entries} entries', 't7.load', 'torchfile')}")
    path = folder / "table.t7"
    for name, table in tables(entries).items():
        t7.save(path, table)
        ways = {"t7.load": timed(t7.load, path), "torchfile": timed(torchfile.load, path)}
        if name == NAMES:
            ways["dict"] = lambda table=table: building(table)
        times = alternate(ways, budget, rounds=20)
        print(row(name, times, "t7.load", "torchfile"))
        if name == NAMES:
            print(row("  the dict alone", times, "dict", "torchfile"))


def building(table: dict[str, Any]) -> float:
    """Seconds to make the dict of new strings, faster than which it cannot be loaded."""
    keys, values = "\n".join(table).split("\n"), list(table.values())
    return seconds(lambda: dict(zip(keys, values, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Time .t7 files against the alternatives.")
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where to write; a temporary one if not given")
    parser.add_argument("--seconds", type=float, default=10, help="for each comparison")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        checkpoints(Path(folder), arguments.megabytes, arguments.seconds)
        if torchfile is None:
            print("\ntorchfile is not installed: no comparison of tables")
        else:
            small_entries(Path(folder), arguments.entries, arguments.seconds)


if __name__ == "__main__":
    main()
