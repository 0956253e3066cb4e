"""What a start takes: processor seconds of a process, beside ``import torch``.

    python benchmarks/start.py [--rounds N]

Each round starts every way once. ``above torch`` is the median difference to ``import torch`` in
the same round, with its quartiles; ``dptable --help`` does without PyTorch.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WAYS = {
    "import torch": ["-c", "import torch"],
    "import dptable": ["-c", "import dptable"],
    "dptable lua": ["-m", "dptable", "lua", "SCRIPT"],
    "dptable --help": ["-m", "dptable", "--help"],
}


def processor_seconds(arguments: list[str]) -> float:
    """Processor seconds of Python run with these arguments."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor seconds of a start.")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.lua")
        script.write_text("x = 1\n")
        for i in range(options.rounds + 1):
            for way, arguments in WAYS.items():
                spent = processor_seconds([str(script) if a == "SCRIPT" else a for a in arguments])
                if i:  # the first reads files that are not in memory yet
                    times[way].append(spent)
    print(f"{'start: processor seconds':26}{'median':>8}{'above torch':>13}  quartiles")
    for way, spent in times.items():
        above = [a - b for a, b in zip(spent, times["import torch"], strict=True)]
        low, middle, high = statistics.quantiles(above, n=4)
        print(f"{way:26}{statistics.median(spent):8.2f}{middle:13.2f}  {low:.2f}..{high:.2f}")


if __name__ == "__main__":
    main()
