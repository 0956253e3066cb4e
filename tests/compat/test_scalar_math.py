"""Functions of plain numbers give what Lua Torch7's gave, in both default types."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from support.paths import GOLDEN

from compat import torch as torch7


@pytest.fixture(autouse=True)
def default_type() -> Iterator[None]:
    before = torch.get_default_dtype()
    yield
    torch.set_default_dtype(before)


def recorded() -> dict[tuple[str, str], list[tuple[list[float], float]]]:
    found: dict[tuple[str, str], list[tuple[list[float], float]]] = {}
    for line in (GOLDEN / "numbers" / "functions.txt").read_text().splitlines():
        kind, name, arguments, result = line.split("\t")
        case = ([float(x) for x in arguments.split()], float(result))
        found.setdefault((kind, name), []).append(case)
    return found


RECORDED = recorded()


@pytest.mark.parametrize(("kind", "name"), RECORDED)
def test_results_are_torch7s(kind: str, name: str) -> None:
    torch7.setdefaulttensortype(kind)
    for arguments, expected in RECORDED[kind, name]:
        result = getattr(torch7, name)(*arguments)
        assert type(result) is float
        same = result == expected or (math.isnan(result) and math.isnan(expected))
        assert same and (expected != 0 or math.copysign(1, result) == math.copysign(1, expected)), (
            arguments,
            result,
            expected,
        )


def test_tensors_are_pytorchs() -> None:
    with pytest.raises(
        TypeError, match=r"x is a tensor; a number is accepted: torch\.cos of PyTorch"
    ):
        torch7.cos(torch.ones(2))
    with pytest.raises(TypeError, match="x is 'a'; a number is accepted"):
        torch7.sqrt("a")
