"""Random nets and random steps: our nn beside the original's Lua files, over the same THNN.

    TORCH7_SOURCES=DIR python tests/compat/lua/passes.py --programs 2000

``DIR`` holds a checkout ``nn`` of Torch7. Each program derives from its number alone:
``--first N --programs 1 --show`` shows one. What differs is told once for each class and step.
``ERRORS=1`` shows the errors of both sides.

Some differences have reasons: conversions keep results here, which classes of Torch7 drop; MapTable
keeps its clones in ``clearState``; elementwise modules take any type of input; closures over
methods of ours cannot be saved.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[3]
NUMBER = re.compile(r"(?<=[ {])-?(?:\d+\.?\d*(?:e[-+]\d+)?|nan|inf)(?=[,}\n]|$)")

# Numbers of fewer digits come of sums in other orders.
CLOSE = {"Dou": 1e-7, "Flo": 2e-3}


def run(first: int, programs: int, steps: int, sources: str | None) -> list[list[str]]:
    """What the programs print, each a list of lines; with ``sources``, by the original nn."""
    code = (
        f"for seed = {first + 1}, {first + programs} do"
        f" print('seed ' .. seed) PASSES(seed, {steps}) end"
    )
    script = f"PASSES = dofile({str(Path(__file__).with_suffix('.lua'))!r}) {code}"
    command = [sys.executable, "-m", "compat.lua", "-e", script]
    if sources:
        command[3:3] = ["--torch-home", sources, "--original", "nn"]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        encoding="latin-1",
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    if os.environ.get("ERRORS"):
        sys.stderr.write(f"{'theirs' if sources else 'ours'}:\n{done.stderr}")
    return [text.splitlines() for text in done.stdout.split("seed ")[1:]]


def is_close(a: str, b: str) -> bool:
    """Whether two lines tell the same, up to rounding."""
    if a == b:
        return True
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    tolerance = CLOSE["Flo"] if "Flo" in a else CLOSE["Dou"]
    for x, y in zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b)), strict=True):
        if not (abs(x - y) <= tolerance * (1 + abs(x)) or (x != x and y != y) or x == y):
            return False
    return True


def first_difference(ours: list[str], theirs: list[str]) -> tuple[str, str, str] | None:
    """The first step where two programs differ, and both lines."""
    step = "beginning"
    for a, b in zip(ours, theirs, strict=False):
        if a.startswith("step"):
            step = a
        if not is_close(a, b):
            return step, a, b
        if a == "failed":
            return None
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare random programs on both kinds of nn.")
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--show", action="store_true", help="print both sides of the first")
    options = parser.parse_args()
    sources = os.environ["TORCH7_SOURCES"]
    ours = run(options.first, options.programs, options.steps, None)
    theirs = run(options.first, options.programs, options.steps, sources)
    if options.show:
        for side in ours[0], theirs[0]:
            print("\n".join(side), end="\n\n")
    kinds = defaultdict(list)
    ended = sum("failed" in program for program in ours)
    for number, (a, b) in enumerate(zip(ours, theirs, strict=True), options.first):
        found = first_difference(a, b)
        if found:
            step, line, other = found
            name = " ".join(re.sub(r"^\d+ ", "", line).split(":")[0].split()[:3])
            if NUMBER.sub("#", line).replace(", as before", "") == NUMBER.sub("#", other).replace(
                ", as before", ""
            ) and ("as before" in line) != ("as before" in other):
                name += " is another"
            kinds[step.split(" ", 2)[-1], name].append((number, line, other))
    for (step, name), found in sorted(kinds.items(), key=lambda item: -len(item[1])):
        number, line, other = found[0]
        print(f"{len(found):4} {step}: {name}; program {number}")
        print(f"     ours   {line}\n     theirs {other}")
    count = sum(map(len, kinds.values()))
    print(f"{options.programs} programs, {count} differ, {ended} ended in an error")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
