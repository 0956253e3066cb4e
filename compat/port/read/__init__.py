"""A file of Lua as syntax."""
