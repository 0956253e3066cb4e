"""The tables of files: lists that count from 1, and dicts with attributes."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.t7_bytes import number, string, table
from support.t7_same import assert_same

from compat import nn, t7
from compat.lua_tables import List, by_number

entries = st.lists(st.one_of(st.integers(-5, 5), st.text(max_size=3)), max_size=6)
names = st.one_of(st.from_regex(r"[a-z]\w{0,4}", fullmatch=True), st.integers(2, 9))
maps = st.dictionaries(names, st.integers(), max_size=5)
values = st.recursive(
    st.integers(-9, 9),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3), st.dictionaries(names, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(entries)
def test_a_list_is_the_sequence_that_lua_had(items: list[Any]) -> None:
    t = t7.List(items)
    assert [t[i] for i in range(1, len(t) + 1)] == items == list(t)
    assert [t[-i] for i in range(1, len(t) + 1)] == items[::-1]
    for i, item in enumerate(items, 1):
        assert t[float(i)] == item and t.index(item) == items.index(item) + 1
    for wrong in (0, len(t) + 1, -len(t) - 1, "a", 1.5, None):
        with pytest.raises(IndexError, match="counts from 1"):
            t[wrong]
        with pytest.raises(KeyError):
            t[wrong]
        assert t.get(wrong, "none") == "none"


@given(entries)
def test_a_list_is_the_mapping_that_lua_had(items: list[Any]) -> None:
    t, mapping = t7.List(items), dict(enumerate(items, 1))
    assert dict(t.items()) == mapping and list(t.keys()) == list(mapping)
    assert list(t.values()) == items and dict(t) == mapping  # type: ignore[call-overload]
    assert [t.get(i) for i in range(len(t) + 2)] == [mapping.get(i) for i in range(len(t) + 2)]


@given(entries, entries)
def test_equality_is_that_of_lists_and_of_their_mappings(a: list[Any], b: list[Any]) -> None:
    t = t7.List(a)
    for other in (b, t7.List(b), dict(enumerate(b, 1)), t7.Table(enumerate(b, 1))):
        assert (t == other) is (other == t) is (a == b)
        assert (t != other) is (other != t) is (a != b)
    assert t != dict(enumerate([*a, 1])) and t != 3


@given(entries, st.data())
def test_lists_change_as_lists_do_one_place_on(items: list[Any], data: st.DataObject) -> None:
    t, plain = t7.List(items), list(items)
    for _ in range(data.draw(st.integers(0, 6))):
        place = data.draw(st.integers(0, max(0, len(plain) - 1)))
        kind = data.draw(st.sampled_from(["set", "append", "insert", "pop", "del", "next"]))
        if kind == "append":
            t.append(kind)
            plain.append(kind)
        elif kind == "next":
            t[len(t) + 1] = kind
            plain.append(kind)
        elif kind == "insert":
            t.insert(place + 1, kind)
            plain.insert(place, kind)
        elif plain and kind == "pop":
            assert t.pop(place + 1) == plain.pop(place)
        elif plain and kind == "del":
            del t[place + 1], plain[place]
        elif plain:
            t[place + 1] = plain[place] = kind
        assert t == plain
    for change in (lambda: t.insert(0, 1), lambda: t.pop(0), lambda: t.__setitem__(0, 1)):
        with pytest.raises(IndexError):
            change()
    assert t == plain


@given(entries, entries)
def test_what_is_made_of_a_list_counts_from_1_too(a: list[Any], b: list[Any]) -> None:
    t = t7.List(a)
    made = [t + b, b + t, t * 2, 2 * t, t.copy(), t[:], copy.copy(t), copy.deepcopy(t)]
    made.append(pickle.loads(pickle.dumps(t)))
    expected = [a + b, b + a, a * 2, a * 2, *[a] * 5]
    for found, items in zip(made, expected, strict=True):
        assert type(found) is t7.List and found == items and found is not t
    assert t == a


@pytest.mark.parametrize("index", [slice(1, 2), slice(0, None), slice(None, None, -1)])
def test_slices_are_refused(index: slice) -> None:
    t = t7.List([1, 2, 3])
    for use in (t.__getitem__, t.__delitem__, lambda place: t.__setitem__(place, [])):
        with pytest.raises(TypeError, match="counts from 1; write list"):
            use(index)


def test_pytorch_does_not_take_a_list_for_a_plain_one() -> None:
    t = t7.List([1, 2])
    with pytest.raises(Exception, match=r"List|counts from 1"):
        torch.tensor(t)
    assert torch.tensor(t.tolist()).tolist() == [1, 2]
    assert torch.stack(t7.List([torch.ones(2), torch.zeros(2)])).tolist() == [[1, 1], [0, 0]]
    assert json.dumps(t7.List([1, t7.Table(a=2)])) == '[1, {"a": 2}]'


@given(maps)
def test_a_table_is_its_dict_with_attributes(entries: dict[Any, Any]) -> None:
    t = t7.Table(entries)
    assert t == entries and list(t) == list(entries)
    for name, value in entries.items():
        assert t[name] == value
        if isinstance(name, str) and not hasattr(dict, name):
            assert getattr(t, name) == value and name in dir(t)
    for made in (t.copy(), copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert type(made) is t7.Table and made == t and made is not t


def test_attributes_of_a_table_are_its_entries() -> None:
    t = t7.Table(rate=0.1, items=3)
    t.rate, t.epoch = 0.2, 4
    assert t == {"rate": 0.2, "items": 3, "epoch": 4}
    del t.rate
    assert "rate" not in t and t.get("rate") is None
    for use in (lambda: t.rate, lambda: delattr(t, "rate")):
        with pytest.raises(AttributeError, match="no entry 'rate'; it has items, epoch"):
            use()
    assert t["items"] == 3 and list(t.items()) == [("items", 3), ("epoch", 4)]
    for name in ("items", "__deepcopy__"):
        with pytest.raises(AttributeError, match="write table"):
            setattr(t, name, 1)
    assert type(copy.deepcopy(t7.Table(__deepcopy__=1))) is t7.Table


def test_words_of_python_are_attributes_with_an_underscore() -> None:
    t = t7.Table({"lambda": 0.1, "or_": 2})
    t.lambda_, t.with_ = 0.5, 3
    assert t == {"lambda": 0.5, "or_": 2, "with": 3} and (t.or_, t.with_) == (2, 3)
    del t.with_
    assert "with" not in t


@given(values)
def test_tables_come_back_from_files(value: Any) -> None:
    again = t7.loads(t7.dumps(value))
    assert_same(value, again)
    for thing in walked(again):
        assert type(thing) in (t7.List, t7.Table)
    assert t7.dumps(t7.loads(t7.dumps(again))) == t7.dumps(value)
    plain = t7.loads(t7.dumps(value), plain=True)
    assert_same(value, plain)
    for thing in (*walked(plain), *walked(t7.plain(again))):
        assert type(thing) in (list, dict)


def walked(value: Any) -> list[Any]:
    """The tables in ``value``, itself included."""
    if not isinstance(value, (list, dict)):
        return []
    inner = value if isinstance(value, list) else value.values()
    return [value, *(table for item in inner for table in walked(item))]


def test_plain_values_keep_what_is_shared_and_cycles() -> None:
    inner = t7.List([1])
    t = t7.Table(a=inner, b=inner)
    t.me = t
    result = t7.plain(t)
    assert result["a"] is result["b"] and result["me"] is result and type(result) is dict
    untouched = {"x": [1, {"y": 2}]}
    assert t7.plain(untouched) is untouched and t7.plain("x") == "x"


def test_a_map_with_the_keys_1_to_n_is_read_as_it_was_written() -> None:
    data = table(1, number(2), string("b"), number(1), string("a"))
    t = t7.loads(data)
    assert t == {1: "a", 2: "b"} == t and t[1] == "a"
    assert {token: number for number, token in t.items()} == {"a": 1, "b": 2}
    t[3] = "c"
    assert t7.loads(t7.dumps(t))[3] == "c"


def test_an_empty_table_takes_entries_as_a_list() -> None:
    t = t7.loads(table(1))
    assert type(t) is t7.List and not t and t == {} and t == []
    t[1] = "first"
    assert t == ["first"]
    assert t7.dumps(t7.loads(table(1))) == table(1)


@pytest.mark.parametrize(
    ("typename", "value"), [("tds.Hash", {"a": 1, 3: 2}), ("tds.Vec", ["a", [1, 2]])]
)
def test_tds_objects_are_tables_and_stay_what_they_are(typename: str, value: Any) -> None:
    cls = t7.builtin.Hash if typename == "tds.Hash" else t7.builtin.Vec
    thing = t7.loads(t7.dumps(cls(value)))
    assert type(thing) is cls and thing == value
    if cls is t7.builtin.Hash:
        assert thing.a == thing["a"] == 1
    else:
        assert thing[1] == "a" and thing[2][1] == 1
        with pytest.raises(IndexError, match="counts from 1"):
            thing[0]
    for made in (thing.copy(), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
        assert type(made) is cls and made == value
        assert typename.encode() in t7.dumps(made)
    plain = t7.loads(t7.dumps([cls(value)]), plain=True)[0]
    assert plain == value and isinstance(plain, List) is False


def test_nets_take_tables_of_files() -> None:
    from compat import nn

    inputs = t7.loads(t7.dumps([torch.ones(2), torch.zeros(2)]))
    assert nn.CAddTable().forward(inputs).tolist() == [1, 1]
    assert nn.SelectTable(1).forward(inputs).tolist() == [1, 1]
    loss = nn.ParallelCriterion().add(nn.MSECriterion()).add(nn.MSECriterion())
    assert loss.forward(inputs, inputs) == 0


def test_lists_of_a_file_become_dicts_by_number() -> None:
    fields = {"a": List(["x", "y"]), "b": ["z"], "c": {2: "w"}, "d": 1}
    assert by_number(fields, ["a", "c", "missing"]) == {"a": {1: "x", 2: "y"}}


def test_a_class_may_say_which_of_its_fields_are_dicts_by_number() -> None:
    class Words(nn.Module, typename="test.Words"):
        dict_fields = ("words",)

    module = Words()
    module.words = {1: "a", 2: "b"}
    module.places = [3, 4]
    for plain in (False, True):
        again = t7.loads(t7.dumps(module), plain=plain)
        assert again.words == {1: "a", 2: "b"} and isinstance(again.words, dict)
        assert list(again.places) == [3, 4]
