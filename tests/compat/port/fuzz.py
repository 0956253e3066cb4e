"""Random Lua programs, converted and run: what a draft does not mark, it does as the Lua does.

The short form runs in the tests; the long form is

    python tests/compat/port/fuzz.py --programs 5000

Programs derive from the seed and their number alone: ``--first N --programs 1 --show`` repeats one.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import textwrap
import warnings
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[3]), str(Path(__file__).parents[2])]


def main() -> None:
    """Run programs; show those that differ and say nothing of it."""
    from support.port import SideBySide
    from support.random_lua import Program
    from support.random_lua_wide import Wide

    from compat.port.read.syntax import PortError

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=5, help="how many differences to show")
    parser.add_argument("--show", action="store_true", help="show each program")
    parser.add_argument("--wide", action="store_true", help="programs with more of the language")
    parser.add_argument("--run", action="store_true", help="drafts behind a run of the program")
    given = parser.parse_args()
    folder = tempfile.TemporaryDirectory()
    kind = Wide if given.wide else Program
    run = SideBySide(Path(folder.name, "piece.lua") if given.run else None)
    warnings.simplefilter("ignore", SyntaxWarning)  # 1 is None
    reasons: Counter[str] = Counter()
    counts = dict.fromkeys(("same", "same behind a mark", "marked", "unmarked", "no draft"), 0)
    for number in range(given.first, given.first + given.programs):
        text = kind(given.seed, number).text()
        if given.show:
            print(text)
        try:
            made = run(text)
        except PortError as error:
            counts["no draft"] += 1
            print(f"=== {number}: {error}")
            continue
        word = ["same", "same behind a mark", "unmarked", "marked"][
            2 * made.differs + made.is_marked
        ]
        counts[word] += 1
        reasons.update(re.findall(r"#port-(\w+)", made.draft))
        if word == "unmarked" and counts[word] <= given.most:
            print(f"=== {number}\n{text}--- Lua\n{made.lua}--- Python\n{made.python}")
            print(textwrap.indent(made.draft, "    "))
    print(counts, dict(reasons))


if __name__ == "__main__":
    main()
