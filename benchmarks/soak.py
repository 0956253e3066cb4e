"""A day of training in short: does anything grow, and is a run that is killed still the same run?

    python benchmarks/soak.py                      # 100,000 steps, 24 starts; an hour or more
    python benchmarks/soak.py --steps 2000 --starts 4

Two processes of four replicas each train a small net by batches of changing sizes, and save it
every 250 steps. Each start is a new pair of processes, which goes on from the checkpoint; every
second pair is killed at a moment that the seed draws. Printed are, over all pairs, how memory,
threads, open files and objects of Python grew between a third of a pair's life and its end, and
what was left in the folder. The exit status is 1 if anything grew more than the limits below.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random as python_random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

SAVED = 250
SIZE = 2
REPLICAS = 4
MEMORY = 16.0
"""MiB that a process may grow: the allocator keeps what batches of new sizes took."""
OBJECTS = 2000


def worker(folder: Path, steps: int, stop: int, seed: int) -> None:
    """Train as one process of a pair up to step ``stop`` of all."""
    import torch

    from compat import cutorch, nn, random
    from dptable import checkpoints, data
    from dptable.models import mlp
    from dptable.processes.job import started_by_torchrun
    from dptable.training import Options, Trainer, replicated, run_folder

    torch.set_num_threads(1)
    cutorch.configure(["cpu"] * REPLICAS)
    dataset = data.load().normalized()
    with contextlib.ExitStack() as held, started_by_torchrun() as job:
        job.join("gloo", 120)
        job.decided(lambda: held.enter_context(run_folder.held(folder)))
        table, model, state = {}, None, None
        if checkpoints.exists(folder):
            table, model, state = checkpoints.latest(folder)
        random.manualSeed(seed)
        model = model or mlp(dataset.classes, *dataset.size, hidden=[32])
        net = replicated(model, list(range(1, REPLICAS + 1)), True)
        opt = Options(model="mlp", ngpus=REPLICAS, lr=0.01)
        trainer = Trainer(net, nn.CrossEntropyCriterion().float(), opt, state, job)
        split, step = dataset.train, table.get("epoch", 0)
        with open(folder / f"figures{job.rank}.jsonl", "a") as figures:
            while step < stop:
                step += 1
                chance = python_random.Random(seed * 1_000_003 + step)
                rows = torch.tensor(chance.sample(range(len(split)), chance.randint(1, 96)))
                mine = job.share(rows)
                loss = trainer.step(split.data[mine], split.labels[mine])
                if step % SAVED == 0:
                    if job.rank == 0:
                        checkpoints.save(folder, step, net, trainer.wholeState(), loss=loss)
                        _forget(folder, step)
                    job.total(0)
                    print(json.dumps({"step": step, **usage()}), file=figures, flush=True)
        net.close_group()
        net.close()


def _forget(folder: Path, step: int) -> None:
    """Remove the checkpoints before the last two, as a user with a full disk would."""
    for kind in ("model", "optimState"):
        (folder / f"{kind}_{step - 2 * SAVED}.t7").unlink(missing_ok=True)


def usage() -> dict[str, float]:
    """What this process uses."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "MiB": pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
        "threads": len(os.listdir("/proc/self/task")),
        "python threads": threading.active_count(),
        "files": len(os.listdir("/proc/self/fd")),
        "objects": len(gc.get_objects()),
    }


def start(folder: Path, steps: int, stop: int, seed: int) -> list[subprocess.Popen[bytes]]:
    """The processes of a pair."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(SIZE)}
    told |= {"LOCAL_WORLD_SIZE": str(SIZE), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--worker", str(folder), "--stop", str(stop)]
    command += ["--steps", str(steps), "--seed", str(seed)]
    return [
        subprocess.Popen(
            command,
            env={**os.environ, **told, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(SIZE)
    ]


def reached(folder: Path) -> int:
    """The step of the checkpoint."""
    from dptable import checkpoints

    return int(checkpoints.table(folder)["epoch"]) if checkpoints.exists(folder) else 0


def run(folder: Path, steps: int, starts: int, seed: int) -> dict[str, Any]:
    """All pairs one after the other, and what they used."""
    from dptable.training import run_folder

    chance = python_random.Random(seed)
    lives: list[list[list[dict[str, float]]]] = []
    kills, hour = 0, max(SAVED, steps // starts // SAVED * SAVED)
    began = time.monotonic()
    while (at := reached(folder)) < steps:
        seen = [_lines(folder, rank) for rank in range(SIZE)]
        killed = len(lives) % 2 == 1
        stop = steps if killed else min(steps, at + hour)
        pair = start(folder, steps, stop, seed)
        if killed:
            _wait_for(folder, min(steps, at + hour - SAVED), pair)
            time.sleep(chance.random() * 2)
            for process in pair:
                process.send_signal(signal.SIGKILL)
            kills += 1
        codes = {process.wait() for process in pair}
        if not killed and codes != {0}:
            raise SystemExit(f"a pair ended with {codes} at step {reached(folder)}")
        lives.append([_lines(folder, rank)[len(seen[rank]) :] for rank in range(SIZE)])
        last = lives[-1][0][-1:] or [{}]
        print(f"{time.monotonic() - began:7.0f} s  {last[0]}", flush=True)
    grown: dict[str, float] = {}
    for life in lives:
        for records in life:
            if len(records) >= 3:
                early, late = records[len(records) // 3], records[-1]
                for name in set(early) - {"step"}:
                    grown[name] = max(grown.get(name, 0), late[name] - early[name])
    ends = [records[-1]["MiB"] for life in lives for records in life if records]
    # A process that is killed leaves the file of its lock, not the lock.
    expected = {"latest.t7", *(f"figures{rank}.jsonl" for rank in range(SIZE))}
    expected |= {f"{kind}_{n}.t7" for kind in ("model", "optimState") for n in _kept(folder)}
    left = sorted(set(os.listdir(folder)) - expected - {run_folder.LOCK})
    return {
        "steps": steps,
        "starts": len(lives),
        "killed": kills,
        "seconds": round(time.monotonic() - began),
        "grown": {name: round(value, 1) for name, value in sorted(grown.items())},
        "MiB at the ends": [round(min(ends)), round(max(ends))],
        "left over": left,
    }


def _kept(folder: Path) -> list[int]:
    step = reached(folder)
    # A pair that was killed between saving and forgetting leaves one more.
    return [step - n * SAVED for n in range(3)]


def _lines(folder: Path, rank: int) -> list[dict[str, float]]:
    path = folder / f"figures{rank}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def _wait_for(folder: Path, step: int, pair: list[subprocess.Popen[bytes]]) -> None:
    while reached(folder) < step and all(process.poll() is None for process in pair):
        time.sleep(0.2)


def main() -> int:
    """Run the pairs, or be one process of one."""
    parser = argparse.ArgumentParser(description="Train for long, and look for what grows.")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--starts", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="where to work (default: a new temporary folder)")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--stop", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(Path(args.worker), args.steps, args.stop, args.seed)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        found = run(folder, args.steps, args.starts, args.seed)
    print(json.dumps(found, indent=2))
    grown = found["grown"]
    too_much = [name for name in ("threads", "files") if grown.get(name, 0) > 0]
    too_much += ["MiB"] * (grown.get("MiB", 0) > MEMORY)
    too_much += ["objects"] * (grown.get("objects", 0) > OBJECTS)
    if too_much or found["left over"]:
        print(f"grown too much: {too_much}; left over: {found['left over']}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
