"""Runs random Lua programs: whatever they do, only errors of Lua may come of it.

The short form runs in the tests; the long form is

    python tests/compat/lua/fuzz.py --programs 20000

Each program calls functions, methods and operators with arguments that fit more or less: tensors
whose storages shrink under them, cyclic tables, finalisers that fail, coroutines, errors through
Python's frames, huge sizes. A process runs many programs, in several runtimes and threads, and
drops the runtimes with what is alive in them; this one looks on, and says which program ended or
stopped it. Programs derive from the seed and their number alone: ``--first N --programs 1`` repeats
one.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PROGRAM = Path(__file__).with_suffix(".lua").read_text()

MEMORY = 6 << 30
"""Bytes of address space of a process."""

ENDLESS = 120
"""Seconds after which a program counts as endless."""

PER_PROCESS = 400
PER_RUNTIME = 40
ACTIONS = 40


class Python:
    """What the programs find in Python."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def identity(self, *args: Any) -> Any:
        return args

    def fail(self, *args: Any) -> None:
        raise ValueError(args[0] if args else "nothing")

    def keep(self, value: Any = None) -> None:
        """Holds values, the last thirty."""
        self._kept = [*self._kept[-30:], value]

    def kept(self) -> Any:
        return self._kept[len(self._kept) // 2]

    def call(self, function: Any, *args: Any) -> Any:
        return function(*args)

    def change(self, value: Any) -> Any:
        """Gives tensors other memory."""
        from compat import storage_changes

        with_other = value.clone()
        value.data = with_other
        storage_changes.moved([value])
        return value


def run(numbers: range, seed: int, actions: int, report: Any) -> None:
    """Run programs, each runtime some of them."""
    from compat import lua

    python = Python()
    names = ("identity", "fail", "keep", "kept", "call", "change")
    runtime = None
    for count, number in enumerate(numbers):
        if count % PER_RUNTIME == 0:
            runtime = lua.Runtime()
            runtime.require("nn")
            functions = {name: getattr(python, name) for name in names}
        report(number)
        assert runtime is not None
        try:
            runtime.execute(PROGRAM, functions, seed * 48_271 + number + 1, actions)
        except lua.LuaError as error:
            # A program ends early only where memory does, or in its own text.
            assert "fuzz" not in str(error), error


def work(numbers: range, seed: int, actions: int, threads: int) -> None:
    """Run programs in this process; tell the number of each on standard output."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    output = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def report(number: int) -> None:
        os.write(output, f"{number}\n".encode())

    workers = [
        threading.Thread(target=run, args=(numbers[i::threads], seed, actions, report))
        for i in range(1, threads)
    ]
    for worker in workers:
        worker.start()
    run(numbers[::threads], seed, actions, report)
    for worker in workers:
        worker.join()


def watch(command: list[str], folder: str) -> str | None:
    """Run a process to its end: None, or what went wrong and in which program."""
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        ) as process,
    ):
        assert process.stdout
        last = ["none"]
        heard = [time.monotonic()]

        def listen() -> None:
            for line in process.stdout or ():
                last.append(line.decode().strip())
                heard[0] = time.monotonic()

        listener = threading.Thread(target=listen)
        listener.start()
        while process.poll() is None:
            time.sleep(0.05)
            if time.monotonic() - heard[0] > ENDLESS:
                process.send_signal(signal.SIGABRT)
                process.wait()
                errors.seek(0)
                return f"program {last[-1]} has no end\n{errors.read().decode()[:3000]}"
        listener.join()
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace")
    if process.returncode or "Traceback" in text:
        return f"program {last[-1]}: exit code {process.returncode}\n{text[-3000:]}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Run random Lua programs.")
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--actions", type=int, default=ACTIONS, help="of each program")
    parser.add_argument("--threads", type=int, default=1, help="in each process")
    parser.add_argument("--here", action="store_true", help="run them in this process")
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.programs)
    if options.here:
        work(numbers, options.seed, options.actions, options.threads)
        return 0
    started, failures = time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for first in numbers[::PER_PROCESS]:
            count = min(PER_PROCESS, numbers.stop - first)
            command = [sys.executable, __file__, "--here", "--first", str(first)]
            command += ["--programs", str(count), "--seed", str(options.seed)]
            command += ["--actions", str(options.actions), "--threads", str(options.threads)]
            problem = watch(command, folder)
            if problem:
                failures += 1
                print(problem, flush=True)
    seconds = time.perf_counter() - started
    print(f"{len(numbers)} programs, {failures} processes failed, in {seconds:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
