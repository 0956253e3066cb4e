"""Lists, dicts, keys and identity."""

from __future__ import annotations

import math

import pytest
import torch
from support.t7_bytes import TRUE, array, integer, number, reference, string, table, torch_object
from support.t7_same import assert_same

from compat import t7


def test_a_list_referenced_from_within_itself_is_the_same_list() -> None:
    value = t7.loads(table(1, number(2), table(2, string("up"), reference(1)), number(1), TRUE))
    assert value[1] is True and value[2]["up"] is value


def test_a_table_that_only_looks_like_a_list_is_read_again() -> None:
    inner = table(2, string("up"), reference(1))
    value = t7.loads(table(1, number(1), inner, string("name"), string("x")))
    assert value["name"] == "x"
    assert value[1]["up"] is value


def test_a_table_that_becomes_a_list_by_removal_is_read_again() -> None:
    first = (string("a"), table(2, string("up"), reference(1)))
    kept = (number(1), reference(2))
    removed = (string("a"), integer(0))
    value = t7.loads(table(1, *first, *kept, *removed))
    assert isinstance(value, list) and value[1]["up"] is value


def test_wrong_guesses_in_many_tables_cost_one_more_reading() -> None:
    depth = 3000
    data = b""
    for i in range(1, depth):
        data += integer(3) + integer(i) + integer(2) + number(1)
    data += array(depth, *(reference(i) for i in range(1, depth)))
    data += (string("name") + string("x")) * (depth - 1)
    value = t7.loads(data)
    seen = [value]
    while isinstance(seen[-1], dict):
        seen.append(seen[-1][1])
    assert len(seen) == depth
    assert all(a is b for a, b in zip(seen[-1], seen[:-1], strict=True))


def test_a_class_never_sees_content_that_will_be_thrown_away() -> None:
    @t7.register("my.Node")
    class Node:
        restored: list[object] = []

        def t7_restore(self, fields: dict, version: int) -> None:
            self.up = fields["up"]
            Node.restored.append(self)

    def node(index: int) -> bytes:
        return torch_object(index, "my.Node", table(index + 1, string("up"), reference(1)))

    value = t7.loads(table(1, number(1), node(2), string("name"), string("x"), number(2), node(4)))
    assert value[1].up is value and value[2].up is value
    assert isinstance(Node.restored[-1].up, dict)


def test_keys_that_python_holds_equal() -> None:
    data = table(
        1,
        TRUE,
        string("true"),
        number(1),
        string("one"),
        integer(5) + integer(0),
        string("false"),
        number(1.5),
        string("frac"),
    )
    value = t7.loads(data)
    assert value[1] == "one" and value[t7.Key(True)] == "true"
    assert value[False] == "false", "a plain key where there is no number 0"
    assert t7.dumps(value) == data


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_zero_has_no_sign_as_a_key(zero: float) -> None:
    assert t7.loads(table(1, number(zero), string("x"))) == {0: "x"}


def test_tensors_objects_and_tables_are_keys_by_identity() -> None:
    tensor = torch.zeros(2)
    module = t7.TorchObject("my.Class", fields={})
    inner = ["a"]
    value = {tensor: 1, module: 2, t7.Key(inner): 3, "same": [tensor, module, inner]}
    again = t7.loads(t7.dumps(value))
    tensor, module, inner = again["same"]
    assert again[tensor] == 1 and again[module] == 2 and again[t7.Key(inner)] == 3
    assert t7.Key([]) != t7.Key([])


@pytest.mark.parametrize("key", [None, math.nan])
def test_keys_that_lua_refuses(key: object) -> None:
    with pytest.raises(t7.T7Error, match="table key"):
        t7.dumps({key: 1})


@pytest.mark.parametrize(
    "table_", [{"a": 1, b"a": 2}, {True: 1, t7.Key(True): 2}], ids=["str and bytes", "Key"]
)
def test_keys_that_would_be_one_in_lua(table_: dict) -> None:
    with pytest.raises(t7.T7Error, match="differ in Lua"):
        t7.dumps(table_)


def test_none_is_left_out() -> None:
    assert t7.loads(t7.dumps({"a": None, "b": 1})) == {"b": 1}
    assert t7.loads(t7.dumps([1, None, 3])) == {1: 1, 3: 3}
    assert t7.loads(t7.dumps([None])) == {}


def test_numbers_in_runs_and_one_by_one_are_read_alike() -> None:
    numbers = [0, -0.0, 1.5, 2**53, 2.0**53 + 2, -(2**53), math.inf, -math.inf, 5e-324, 1e300]
    assert_same(t7.loads(t7.dumps(numbers)), numbers)
    assert_same(t7.loads(t7.dumps(numbers * 100)), numbers * 100)
    assert all(math.isnan(x) for x in t7.loads(t7.dumps([math.nan] * 1000)))


@pytest.mark.parametrize(
    "value",
    [
        {f"key {i}": i for i in range(1000)},
        {f"key {i}": "é" * (i % 7) for i in range(1000)},
        ["x" * (i % 50) for i in range(1000)],
        [b"\xff" if i % 300 == 299 else "plain" for i in range(1000)],
        {i * 1.5: f"{i}" for i in range(1000)},
        {-i: 1 for i in range(1000)},
        {i + 0.5: i for i in range(1000)},
        {i: i for i in range(-500, 500)},
        {2**53 - 500 + i: i for i in range(500)} | {2.0**53 + 2 * i: -i for i in range(1, 500)},
        {i + 2: i for i in range(1000)},
        [i if i % 2 else str(i) for i in range(1000)],
        ["\x02\0\0\0\x03\0\0\0abc\x01\0\0\0" for _ in range(1000)],
        ["" for _ in range(1000)],
    ],
    ids=lambda value: f"{type(value).__name__} {next(iter(value))!r:.20}",
)
@pytest.mark.parametrize("endian", ["little", "big"])
def test_long_tables(value: object, endian: str) -> None:
    assert t7.loads(t7.dumps({"before": 1, "t": value}, endian=endian))["t"] == value


@pytest.mark.parametrize(
    "rows",
    [
        [[i, i + 1] for i in range(1000)],
        [{"name": f"n{i}", "label": i + 0.5} for i in range(1000)],
        [{"name": "é" if i % 300 == 299 else "plain"} for i in range(1000)],
        [[i] if i % 300 else {"x": i} for i in range(1000)],
        [{"a": i} if i % 2 else {"b": i} for i in range(1000)],
        [{"a": 1, 5: i} for i in range(1000)],
        [{2: i, 3: "x"} for i in range(1000)],
        {f"key {i}": [f"{i}", i] for i in range(1000)},
        [list(range(20)) for _ in range(1000)],
    ],
    ids=lambda rows: f"{next(iter(rows))!r:.20}",
)
@pytest.mark.parametrize("options", [{}, {"endian": "big"}, {"referenced": False}], ids=str)
def test_many_small_tables(rows: object, options: dict) -> None:
    again = t7.loads(t7.dumps(rows, **options))
    assert_same(again, rows)
    changed = again if isinstance(again, list) else list(again.values())
    first, second, *_ = changed
    first.clear()
    assert second


def test_small_tables_among_many_that_occur_twice() -> None:
    rows = [[i, i] for i in range(1000)]
    rows[500] = rows[499]
    rows[700] = rows[3]
    again = t7.loads(t7.dumps({"rows": rows, "one": rows[800], "all": [rows, rows[5]]}))
    assert again["rows"] == rows
    assert again["rows"][501] is again["rows"][500] and again["rows"][701] is again["rows"][4]
    assert again["one"] is again["rows"][801] and again["all"][2] is again["rows"][6]
    assert again["all"][1] is again["rows"]


def test_a_long_table_that_is_cut_off() -> None:
    for rows in (list(range(1000)), [[i, i] for i in range(1000)], ["x"] * 1000):
        data = t7.dumps(rows)
        for length in (len(data) // 2, len(data) // 2 + 7, len(data) - 1, 12 + 24 * 200):
            with pytest.raises(t7.T7Error, match="truncated"):
                t7.loads(data[:length])


def test_a_long_table_ends_where_it_says() -> None:
    first = list(range(500))
    value = t7.loads(t7.dumps({1: first, 2: list(range(1, 501)), "last": 3}))
    assert value[1] == first and value["last"] == 3
