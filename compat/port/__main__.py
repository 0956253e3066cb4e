"""``python -m compat.port``."""

from __future__ import annotations

import argparse
import sys

from compat.port.arguments import add_arguments
from compat.port.command import run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m compat.port", description=__doc__)
    add_arguments(parser)
    args = parser.parse_args()
    args.program = parser.prog
    sys.exit(run(args))
