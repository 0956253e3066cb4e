"""``python -m dptable`` is the command ``dptable``."""

from __future__ import annotations

import sys

from dptable.cli import main

if __name__ == "__main__":
    sys.exit(main())
