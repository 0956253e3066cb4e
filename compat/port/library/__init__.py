"""Calls of Lua's and Torch7's functions and methods in Python."""
