"""A Lua Torch7 that somebody else runs, asked over a pipe how long things take there."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}

Measure = Callable[..., float]


@contextmanager
def torch7(command: str, programs: Path) -> Iterator[Callable[[str], Measure]]:
    """A process of a Lua Torch7 that measures what of ``programs`` it is asked for.

    ``command``, such as ``th``, is one of the shell, to which the script is given with ``serve``.
    Raises RuntimeError if it ends.
    """
    with subprocess.Popen(
        f"{command} {programs} serve",
        shell=True,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:

        def measure(kind: str, *what: Any) -> float:
            assert process.stdin and process.stdout
            process.stdin.write(" ".join(map(str, (kind, *what))) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            if not answer:
                raise RuntimeError(f"{command} ended")
            return float(answer)

        yield lambda kind: lambda *what: measure(kind, *what)
        assert process.stdin
        process.stdin.close()
