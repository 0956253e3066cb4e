"""Tables of functions and methods: what becomes of a call, and what it gives.

A line is ``name kinds text & all ! statement -> results``; all but the name may be missing.

- Names behind the first, ``math.sin|cos``, are of the same package; ``{name}`` is the name.
- Kinds are those of the arguments (``-``: there is none): ``t`` a tensor, ``n`` a
  number, ``i`` an int, ``s`` a string, ``b`` a boolean, ``f`` a function, ``y`` sizes, ``z`` a
  storage, ``l`` a table, ``L`` a list, ``I``, ``N``, ``S`` a list of ints, of other numbers, of
  strings, ``x`` anything, ``*`` any number of the kind before.
- In the text ``{*}`` is all arguments, ``{1}`` the first, ``{1.}`` where something follows,
  ``{1d}`` a dimension and ``{1i}`` an index, both from 0, ``{1m}`` a mask, ``{1w}`` a whole number,
  ``{1a}`` and ``{1u}`` beside an operator, ``{1o}`` of it; ``{0.}`` is a method's tensor. ``#2`` at
  its end is how many values it gives (``#?``: any number), where the results do not tell.
- ``all``: a tuple of all that it gives, where somebody takes more than the first.
  ``statement``: where nobody takes anything.
- Results: ``t`` a tensor (with its number of dimensions; ``t^`` a vector of a matrix, and the other
  way round), ``=`` the tensor itself, ``n``, ``i``,
  ``?`` a number of either kind, ``b``, ``s``, ``y``, ``z``, ``p`` a pointer, ``m`` an object of
  ``compat``'s, ``l`` a list of tensors, ``mask``, ``list of …``, ``s|nil``; several with commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, KeysView
from dataclasses import dataclass

_LINE = re.compile(r"(\S+)(?: +([tnisblLINSfyzx*|()-]+))?(?: +(.+))?$")
_LETTERS = {"n": "[in]", "l": "[lLINS]", "L": "[LINS]", "N": "[N]", "x": ".", "-": ""}


@dataclass(frozen=True)
class Rule:
    """The Python of a call: its text, and the types of its results."""

    name: str
    kinds: re.Pattern[str]
    text: str = ""
    every: str = ""
    statement: str = ""
    count: str = ""
    result: str = ""

    @property
    def function(self) -> str | None:
        """The function of Python that it is, where it only calls one with what it is given."""
        found = re.fullmatch(
            r"([\w.]+)\((?:\{\*\}|(?:\{1\}(?:, \{2\}(?:, \{3\})?)?)?)\)", self.text
        )
        return None if found is None else found[1]

    @property
    def spread(self) -> int | None:
        """The number of values that the text stands for; None: any number."""
        if self.count:
            return None if self.count == "?" else int(self.count)
        return max(len(self.result.split(",")), 1)


class Rules:
    """The rules of a table, by their names.

    ``default``: the kinds where a line has none, no arguments or ``x*``.
    """

    def __init__(self, lines: str, default: str = "-") -> None:
        self._rules: dict[str, list[Rule]] = {}
        for line in re.split(r"\n|; ", lines.strip()):
            for rule in _read(line.strip(), default):
                self._rules.setdefault(rule.name, []).append(rule)

    def names(self) -> KeysView[str]:
        """Return the names that there are rules for."""
        return self._rules.keys()

    def all(self, name: str) -> list[Rule]:
        """Return the rules of a name; the last is the most general one."""
        return self._rules.get(name, [])

    def of_fixed(self, name: str) -> Rule | None:
        """Return the rule of a function that is one of Python's, which takes no further arguments,
        and gives one result.
        """
        rule = next(iter(self.all(name)[-1:]), None)
        is_fixed = rule is not None and rule.function and "{*}" not in rule.text
        return rule if rule and is_fixed and rule.result and rule.spread == 1 else None

    def find(self, name: str, kinds: str) -> Rule | None:
        """Return the first rule for arguments of these kinds."""
        return next((rule for rule in self.all(name) if rule.kinds.match(kinds)), None)


def _read(line: str, default: str) -> Iterator[Rule]:
    left, _, result = line.partition(" -> ")
    match = _LINE.match(left.strip())
    assert match, line
    names, kinds = match[1], match[2] or default
    text, _, statement = (match[3] or "").partition(" ! ")
    text, _, every = text.partition(" & ")
    text, _, count = text.partition("#")
    pattern = re.compile(f"(?:{re.sub('.', lambda m: _LETTERS.get(m[0], m[0]), kinds)})$")
    package, dot, first = names.rpartition(".") if not names.startswith(".") else ("", "", names)
    for name in first.split("|"):
        made = text.replace("{name}", name)
        yield Rule(f"{package}{dot}{name}", pattern, made, every, statement, count, result.strip())
