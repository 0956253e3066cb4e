"""pl.lexer, and modules of Penlight that do not come along."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat import lua

TOKENS = """lexer = require 'pl.lexer'
function tokens(next)
   local found = {}
   for kind, value in next do found[#found + 1] = kind .. ' ' .. tostring(value) end
   return table.concat(found, ', ')
end"""


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("scan('a = b(1) + \"x y\" -2.5e3')",
         "iden a, = =, iden b, ( (, number 1, ) ), + +, string x y, number -2500"),
        ("lua('for n = 0x10 do s = [=[a]]]=] end -- hi')",
         "keyword for, iden n, = =, number 16, keyword do, iden s, = =, string a]], keyword end"),
        ("lua('x--[[ c ]]y', {})", "iden x, comment --[[ c ]], iden y"),
        ("lua([[s = 'it\\'s' .. t]], nil, {})", "iden s, = =, string 'it\\'s', .. .., iden t"),
        ("cpp('a += b->c; // d')", "iden a, += +=, iden b, -> ->, iden c, ; ;"),
        ("scan('1-2 x', {{'%d', 'digit'}, {'^.', function(c) return 'other', c end}})",
         "digit 1, other -, digit 2, other  , other x"),
    ],
)  # fmt: skip
def test_pl_lexer(runtime: lua.Runtime, call: str, value: str) -> None:
    runtime.execute(TOKENS)
    assert runtime.eval(f"tokens(lexer.{call})") == value


def test_pl_lexer_looks_ahead(runtime: lua.Runtime) -> None:
    runtime.execute(TOKENS)
    assert runtime.execute(
        """local t = lexer.lua('f(a, (b, c)) x\\ny')
        t() t()
        local lists, stop = lexer.get_separated_list(t)
        lexer.insert(t, {{'iden', 'p'}, {'iden', 'q'}})
        local p, q = lexer.expecting(t, 'iden'), select(2, t())
        local line = lexer.getline(t)
        return {#lists, #lists[2], stop[1], p, q, line, lexer.lineno(t), lexer.getrest(t)}"""
    ) == [2, 5, ")", "p", "q", " x", 2, "y"]
    with pytest.raises(lua.LuaError, match="expecting number"):
        runtime.execute("lexer.expecting(lexer.lua('a'), 'number')")


def test_other_modules_of_penlight_are_those_of_an_installation(
    runtime: lua.Runtime, tmp_path: Path
) -> None:
    place = tmp_path / "share" / "lua" / "5.1" / "pl"
    place.mkdir(parents=True)
    (place / "sip.lua").write_text("return {found = true}")
    (place / "data.lua").write_text("error('broken')")
    runtime.add_packages([str(tmp_path)])
    runtime.execute("require 'pl'")
    assert runtime.eval("sip.found and require('pl.import_into')().sip == sip") is True
    assert runtime.eval("stringio == nil") is True
    with pytest.raises(lua.LuaError, match="broken"):
        runtime.eval("data")


def test_utils_has_what_newer_modules_call(runtime: lua.Runtime) -> None:
    found = runtime.execute(
        """local utils, found = require 'pl.utils', {}
        local function note(text) found[#found + 1] = text end
        for i, value in utils.npairs({5, 6, 7}, 3, 1, -1) do note(i .. '=' .. value) end
        for key in utils.kpairs{1, 2, x = 3} do note(key) end
        utils.set_deprecation_func(note)
        utils.raise_deprecation{message = 'f is g', source = 'P', version_removed = '2.0'}
        return found"""
    )
    assert found == ["3=7", "2=6", "1=5", "x", "[P] f is g (scheduled for removal in 2.0)"]
