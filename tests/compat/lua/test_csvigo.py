"""Package csvigo."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat import lua


@pytest.fixture
def path(runtime: lua.Runtime, tmp_path: Path) -> str:
    file = str(tmp_path / "table.csv")
    runtime.globals().path = file
    runtime.execute("""
        require 'csvigo'
        local data = {a = {1, 2, 'x,"y"'}, b = {4, 0 / 0, 6}}
        csvigo.save{
           path = path, data = data, column_order = {'a', 'b'}, nan_as_missing = true,
           verbose = false,
        }
        raw = csvigo.load{path = path, mode = 'raw', verbose = false}
        tidy = csvigo.load{path = path, verbose = false}
        query = csvigo.load{path = path, mode = 'query', verbose = false}
    """)
    return file


def test_files(path: str) -> None:
    assert Path(path).read_text() == 'a,b\n1,4\n2,\n"x,""y""",6\n'


def test_modes(runtime: lua.Runtime, path: str) -> None:
    assert runtime.globals().raw == [["a", "b"], ["1", "4"], ["2", ""], ['x,"y"', "6"]]
    assert runtime.globals().tidy == {"a": ["1", "2", 'x,"y"'], "b": ["4", "", "6"]}
    assert runtime.eval("query('inter', {a = {1, 2}, b = '4'})") == {"a": ["1"], "b": ["4"]}
    assert runtime.eval("query('union', {a = 2, b = 6})")["b"] == ["", "6"]
    assert runtime.eval("#query('vars')") == 2


def test_without_a_header(runtime: lua.Runtime, path: str) -> None:
    Path(path).write_text("skipped\n1;2\n3;4\n")
    text = "csvigo.load{path = path, separator = ';', skip = 1, verbose = false}"
    assert runtime.eval(text) == {"var_1": ["1", "3"], "var_2": ["2", "4"]}


def test_a_mode_that_there_is_not(runtime: lua.Runtime, path: str) -> None:
    with pytest.raises(lua.LuaError, match="unknown mode"):
        runtime.eval("csvigo.load{path = path, mode = 'wide'}")


def test_files_row_by_row(runtime: lua.Runtime, tmp_path: Path) -> None:
    runtime.globals().path = str(tmp_path / "rows.csv")
    runtime.execute("""
        require 'csvigo'
        local file = csvigo.File(path, 'w', '|')
        file:write{'a', 'b'}
        file:writeall{{1, 'x|"y"'}, {3, 4}}
        file:close()
        file = csvigo.File(path, 'r', '|')
        first, rest, none = file:read(), file:readall(), file:read()
        file:close()
        file = io.open(path, 'w')
        file:write('one  two three\\r\\n')
        file:close()
        blanks = csvigo.File(path, 'r', ' '):read()
    """)
    values = runtime.globals()
    assert values.first == ["a", "b"]
    assert values.rest == [["1", 'x|"y"'], ["3", "4"]]
    assert values.none is None
    assert values.blanks == ["one", "two", "three"]
