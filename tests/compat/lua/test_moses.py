"""Moses 1.6."""

from __future__ import annotations

import pytest

from compat import lua


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("_.map({1, 2}, function(k, v) return v * 2 end)", [2, 4]),
        ("_.map({a = 1}, function(k, v) return k .. 'x', v + 1 end)", {"ax": 2}),
        ("_.compact{1, false, 2}", [1, 2]),
        ("_.first({1, 2, 3}, 2)", [1, 2]),
        ("_.first{1, 2, 3}", [1]),
        ("_.last({1, 2, 3}, 2)", [2, 3]),
        ("_.last{1, 2, 3}", [2, 3]),
        ("_.slice({1, 2, 3, 4}, 2, 3)", [2, 3]),
        ("_.size{1, 2, a = 3}", 3),
        ("_.size(1, 2)", 2),
        ("_.indexOf({5, 6}, 6)", 2),
        ("_.contains({{9}}, {9})", True),
        ("_.contains({{9, 1}}, {9})", False),
        ("_.contains({1, 2}, function(v) return v > 1 end)", True),
        ("_.isEmpty(3)", True),
        ("_.isEmpty{3}", False),
        ("_.isNaN(0 / 0)", True),
        ("_.isFinite(1 / 0)", False),
        ("_.reverse{1, 2, 3}", [3, 2, 1]),
        ("_.reject({1, 2, 3}, function(k, v, least) return v > least end, 2)", [1, 2]),
        ("_.reduceRight({1, 2, 4, 16}, function(memo, v) return memo / v end, 256)", 2),
        ("_.mapReduce({'a', 'b'}, function(memo, v) return memo .. v end)", ["a", "ab"]),
        ("#_.where({{a = 1}, {a = 1, b = 2}, {b = 2}}, {a = 1})", 2),
        ("_.sortBy({{n = 2}, {n = 1}}, 'n')[1].n", 1),
        ("_.groupBy({1, 2, 3}, function(i, v) return v % 2 end)", {1: [1, 3], 0: [2]}),
        ("_.flatten({1, {2, {3}}}, true)[3]", [3]),
        ("_.symmetricDifference({1, 2, 3}, {1, 4, 5})", [2, 3, 4, 5]),
        ("_.intersection({'a'}, {'a', 1}, {2, 'a'})", ["a"]),
        ("_.zip({1, 2}, {3})", [[1, 3], [2]]),
        ("_.interpose('a', {1, 2})", [1, "a", 2]),
        ("_.range(0, 2, 0.7)[3]", 1.4),
        ("_.range(1, 5, -1)", []),
        ("_.chunk({1, 1, 2, 3, 3, 4}, function(k, v) return v % 2 == 0 end)[3]", [3, 3]),
        ("_.compose(function(x) return x ^ 2 end, function(x) return x + 1 end)(2)", 9),
        ("_.partial(function(a, b) return a - b end, '_', 5)(20)", 15),
        ("_.partialRight(function(...) return table.concat{...} end, 'a', '_')('c', 'd')", "dac"),
        ("_.curry(function(a, b, c) return a + b * c end, 3)(1)(2)(3)", 7),
        ("_.omit({a = 1, b = 2}, 'a')", {"b": 2}),
        ("_.result('abc', 'len')", 3),
        ("_({1, 2, 3}):map(function(i, v) return v + i end):last(2):value()", [4, 6]),
        ("_.import({each = 1}, true).each", 1),
    ],
)
def test_moses_answers_as_version_1_6(runtime: lua.Runtime, expression: str, value: object) -> None:
    runtime.execute("_ = require 'moses'")
    assert runtime.eval(expression) == value


def test_moses_goes_over_parts_of_lists(runtime: lua.Runtime) -> None:
    runtime.execute("_ = require 'moses'")
    runtime.execute(
        """function all(iterator)
        local found = {}
        for part in iterator do found[#found + 1] = table.concat(part, ' ') end
        return found
    end"""
    )
    assert runtime.eval("all(_.partition({1, 2, 3}, 2, 0))") == ["1 2", "3 0"]
    assert runtime.eval("all(_.sliding({1, 2, 3, 4}, 3))") == ["1 2 3", "3 4"]
    orders = runtime.eval("all(_.permutation{'a', 'b', 'c'})")
    assert orders == ["b c a", "c b a", "c a b", "a c b", "b a c", "a b c"]
    assert sorted(runtime.eval("_.shuffle({1, 2, 3, 4}, 7)")) == [1, 2, 3, 4]


def test_moses_copies_inner_tables_unless_told_not_to(runtime: lua.Runtime) -> None:
    runtime.execute("_, inner = require 'moses', {9}")
    assert runtime.eval("_.clone({b = inner}).b == inner") is False
    assert runtime.eval("_.clone({b = inner}, true).b == inner") is True
