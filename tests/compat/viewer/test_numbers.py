"""Statistics, curves and records."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compat.viewer import numbers


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.uint8])
def test_statistics_are_those_of_numpy(dtype: torch.dtype) -> None:
    value = (torch.randn(30, 50) * 20 + 40).clamp(0, 200).to(dtype)
    told = numbers.statistics(value)
    array = value.double().numpy()
    counts, _ = np.histogram(array, 40, (array.min(), array.max()))
    assert told["counts"] == counts.tolist() and told["sample"] == 1500
    assert told["low"] == pytest.approx(array.min(), 1e-5)
    assert told["mean"] == pytest.approx(array.mean(), 1e-5)
    assert told["deviation"] == pytest.approx(array.std(), 1e-5)
    assert told["zeros"] == (array == 0).sum() and told["odd"] == 0


def test_what_is_no_number_is_counted_apart() -> None:
    value = torch.arange(100.0)
    value[3], value[4], value[5] = math.nan, math.inf, -math.inf
    told = numbers.statistics(value)
    assert told["odd"] == 3 and sum(told["counts"]) == 97 and told["high"] == 99
    assert "counts" not in numbers.statistics(torch.full((20,), math.nan))


def test_a_few_elements_are_listed() -> None:
    assert numbers.statistics(torch.tensor([1.5, -2])) == {"values": ["1.5", "-2"]}
    assert numbers.statistics(torch.tensor([])) is None


def test_elements_that_repeat_take_no_memory() -> None:
    huge = torch.ones(1).expand(1 << 20, 1 << 20)
    assert numbers.memory(huge) == 4
    assert numbers.statistics(huge)["sample"] <= 1 << 16
    assert numbers.curve(torch.ones(1).expand(1 << 40)) is None


def test_a_sample_is_spread_evenly() -> None:
    value = torch.arange(1 << 20, dtype=torch.float64)
    for form in (value, value.view(1024, 1024).t()):
        told = numbers.statistics(form)
        assert 50_000 < told["sample"] <= 1 << 16
        assert told["mean"] == pytest.approx(float(value.mean()), 0.01)


@given(st.lists(st.floats(allow_nan=True) | st.integers(), min_size=2, max_size=3000))
def test_a_curve_keeps_its_ends_and_extremes(values: list[float]) -> None:
    told = numbers.curve(values)
    assert told["count"] == len(values) and len(told["x"]) == len(told["y"]) <= 402
    assert told["x"][0] == 1 and told["x"][-1] == len(values)
    known = [float(f"{y:.6g}") for y in values if abs(y) < 1e300]
    drawn = [y for y in told["y"] if y is not None]
    if known:
        assert (min(drawn), max(drawn)) == (min(known), max(known))


@pytest.mark.parametrize(
    "value", [[1], [1, "a"], {"a": 1, "b": 2}, [True, False], [[1, 2], [3, 4]], "text", None]
)
def test_other_values_are_no_curve(value: object) -> None:
    assert numbers.curve(value) is None


def test_records_have_the_same_columns() -> None:
    assert numbers.records([{"a": 1}, {"b": 1}]) is None
    assert numbers.records([{"a": 1}, {"a": [1]}]) is None
    assert numbers.records([{"a": 1}]) is None
    told = numbers.records([{"b": 1, "a": 2.5}, {"a": 3.5, "b": 2}])
    assert told["rows"] == [["1", "2.5"], ["2", "3.5"]]
    assert [(c["name"], c["x"], c["y"]) for c in told["curves"]] == [("a", [1, 2], [2.5, 3.5])]
