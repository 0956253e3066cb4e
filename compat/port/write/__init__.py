"""Syntax of Lua, with what is known of it, as Python."""
