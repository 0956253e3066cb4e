"""A program in fewer forms: what Lua says in several ways is written in one."""
