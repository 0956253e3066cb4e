"""``dptable port``: a Python draft of a Lua script."""
