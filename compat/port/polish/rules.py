"""All rules, one after the other."""

from __future__ import annotations

from compat.port.polish import conditions, docstrings, files, loops, nothing, options, tables
from compat.port.polish.source import changed

_RULES = [
    nothing.declared,
    nothing.itself,
    nothing.shown_again,
    nothing.inherited,
    nothing.line_end,
    options.by_argparse,
    loops.from_zero,
    loops.unnumbered,
    tables.filled,
    tables.comprehensions,
    tables.extended,
    tables.in_order,
    loops.entries,
    loops.named_at_once,
    conditions.one_of_several,
    conditions.between,
    files.closed,
    files.lines,
    docstrings.documented,
    docstrings.ended,
]


def polished(text: str) -> str:
    """Rewrite a program as people would write it."""
    return changed(text, _RULES)
