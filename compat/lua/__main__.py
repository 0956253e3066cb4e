"""``python -m compat.lua script.lua arguments…`` runs a script as Torch7's ``th`` does."""

import sys

from compat.lua.command import leave, main

if __name__ == "__main__":
    leave(main(sys.argv[1:]))
