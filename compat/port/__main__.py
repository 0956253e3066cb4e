"""``python -m compat.port train.lua …`` writes the draft of a script, as ``dptable port`` does."""

import argparse
import sys

from compat.port import command
from compat.port.read.syntax import PortError


def main() -> int:
    """Read the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m compat.port", description="A draft in Python of a Lua script."
    )
    parser.add_argument("file", nargs="+", help="Lua files, the script first, or folders of them")
    parser.add_argument("-o", "--out", help="the folder to write, or for one NAME.py")
    parser.add_argument(
        "--run",
        metavar="ARGUMENTS",
        action="append",
        default=[],
        help="run the script to see its types; may be given several times",
    )
    parser.add_argument(
        "--check",
        metavar="ARGUMENTS",
        action="append",
        default=[],
        help="compare script and draft; may be given several times",
    )
    parser.add_argument(
        "--keep", action="store_true", help="with --check, leave the drafts as they are and compare"
    )
    parser.add_argument("--ignore", metavar="PATTERN", help="what may differ in what they print")
    parser.add_argument(
        "--path",
        metavar="FOLDER",
        action="append",
        default=[],
        help="where require looks, too: a folder, or a template like lib/?.lua; several times",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write into a folder that has files; those that were edited stay as they are",
    )
    parser.add_argument(
        "--status",
        action="store_true",
        help="say what is still Lua in a folder that was written, and with --run for how long",
    )
    parser.add_argument("--seconds", type=float, help="how long each run may take")
    given = parser.parse_args(command.joined(sys.argv[1:]))
    try:
        return command.run(
            given.file, given.out, given.run, given.check, given.keep, given.ignore, given.seconds,
            given.path, given.force, given.status,
        )  # fmt: skip
    except PortError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
