"""Run a script as Torch7's ``th`` does: ``python -m compat.lua script.lua arguments…``."""

import sys

from compat.lua.command import leave, main

if __name__ == "__main__":
    leave(main(sys.argv[1:]))
