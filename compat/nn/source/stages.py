"""Finds straight runs that differ only in how often they repeat a layer, as VGG stages do."""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compat.nn.source.parts import Former, Part
from compat.nn.source.program import Body, Statement, values

_LONGEST = 8  # layers of a stage, a repeated one counted once


@dataclass
class Stages:
    """Runs that are equal except for the number of repeated layers at one place.

    Attributes:
        parts: the runs.
        short: the same runs with two repeated layers each.
        place: the place of the first repeated layer.
        counts: the number of repeated layers in each run.
    """

    parts: list[Part]
    short: list[Part]
    place: int
    counts: list[int]

    def expanded(self, fillers: list[Any], count: int) -> list[Any]:
        """Return the constants for ``count`` repeated layers, from those for two layers."""
        left = iter(fillers)
        own = self.short[0].statements()
        single = [len(Former(Body([], own, None), i, i + 1, "").constants) for i in range(len(own))]
        chunks = [list(itertools.islice(left, size)) for size in single]
        again = self.place + 1
        chunks[again : again + 1] = [chunks[again]] * (count - 1)
        return [constant for chunk in chunks for constant in chunk]


def stages_of(bodies: list[Body], wanted: Any) -> Iterator[Stages]:
    """Yield runs that one function with a number of layers could make.

    ``wanted(part)`` returns the places of the values that a part makes and others read.
    """
    found: dict[Any, list[tuple[Body, list[tuple[int, int]]]]] = defaultdict(list)
    for body in bodies:
        for length in range(2, _LONGEST):
            for window in _windows(_grouped(body), length):
                kinds = tuple(_kind(body.statements[first]) for first, _ in window)
                found[kinds].append((body, window))
    for places in found.values():
        varying = _varying(places)
        if len(varying) == 1:
            [place] = varying
            places = [entry for entry in places if _counts(entry[1])[place] > 1]
            if len(places) > 2 and _varying(places):
                stages = _formed(places, place, wanted)
                if stages is not None:
                    yield stages


def _counts(window: list[tuple[int, int]]) -> list[int]:
    return [last - first for first, last in window]


def _varying(places: list[tuple[Body, list[tuple[int, int]]]]) -> list[int]:
    """Return the places where the numbers of layers differ."""
    columns = zip(*(_counts(window) for _, window in places), strict=True)
    return [place for place, column in enumerate(columns) if len(set(column)) > 1]


def _formed(
    places: list[tuple[Body, list[tuple[int, int]]]], varying: int, wanted: Any
) -> Stages | None:
    """Return the stages at these places; None if they differ or overlap."""
    result = Stages([], [], sum(last - first for first, last in places[0][1][:varying]), [])
    for body, window in places:
        run = body.statements[window[0][0] : window[-1][1]]
        first, last = (bound - window[0][0] for bound in window[varying])
        equal = [Former(Body([], run, None), i, i + 1, "").part for i in range(first + 1, last)]
        if any(part.key != equal[0].key or part.constants != equal[0].constants for part in equal):
            return None
        if result.parts and result.parts[-1].body is body and result.parts[-1].last > window[0][0]:
            return None
        part = Former(body, window[0][0], window[-1][1], "").part
        short = _chained(run[: first + 2] + run[last:])
        if wanted(part) != [len(part.made) - 1] or len(part.members) != len(set(part.members)):
            return None
        result.parts.append(part)
        result.short.append(Former(Body([], short, None), 0, len(short), "").part)
        result.counts.append(last - first)
    return result if len({part.key for part in result.short}) == 1 else None


def _chained(run: list[Statement]) -> list[Statement]:
    """Return the statements as a chain: each takes the result of the one before."""
    found = run[:1]
    for statement in run[1:]:
        found.append(dataclasses.replace(statement, arguments=(found[-1].results,)))
    return found


def _grouped(body: Body) -> list[list[tuple[int, int]]]:
    """Return the straight runs of a body, each as ranges of layers of the same kind."""
    runs: list[list[tuple[int, int]]] = [[]]
    before: Statement | None = None
    for place, statement in enumerate(body.statements):
        straight = statement.layer is not None and len(statement.arguments) == 1
        if not straight or len(values(statement.results)) != 1:
            runs.append([])
            before = None
            continue
        follows = before is not None and statement.arguments[0] == before.results
        if not follows:
            runs.append([])
        if follows and before is not None and _kind(before) == _kind(statement):
            runs[-1][-1] = (runs[-1][-1][0], place + 1)
        else:
            runs[-1].append((place, place + 1))
        before = statement
    return runs


def _windows(runs: list[list[tuple[int, int]]], length: int) -> Iterator[list[tuple[int, int]]]:
    for run in runs:
        for first in range(len(run) - length + 1):
            yield run[first : first + length]


def _kind(statement: Statement) -> Any:
    layer: Any = statement.layer
    return layer.name if hasattr(layer, "name") else id(layer.block)
