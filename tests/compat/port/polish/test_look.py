"""Drafts are clean by ruff's rules, and their names are Python's."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest


def test_locals_have_names_of_python(draft: Callable[[str], str]) -> None:
    made = draft("""
        local trainData, numGPUs, kW, Net, gradInput = 1, 2, 3, 4, 5
        globalData = trainData + numGPUs
        local function setupNet(hiddenSize) return hiddenSize + kW end
        print(setupNet(globalData), Net, gradInput, ({innerSize = 1}).innerSize)
    """)
    for name in ("train_data", "num_gpus", "kW", "Net", "gradInput", "global_data", "innerSize"):
        assert re.search(rf"\b{name}\b", made)
    assert "def setup_net(hidden_size):" in made


@pytest.mark.parametrize(
    "lua",
    [
        "local aName, a_name = 1, 2\nprint(aName, a_name)",
        "local thisIs, thisIS = 1, 2\nprint(thisIs, thisIS)",
    ],
)
def test_names_stay_apart(both: Callable[[str], tuple[str, str]], lua: str) -> None:
    expected, printed = both(lua)
    assert printed == expected


def test_each_turn_keeps_what_it_had(both: Callable[[str], tuple[str, str]]) -> None:
    expected, printed = both("""
        local fs = {}
        for i = 1, 3 do
          local x = i
          if i > 1 then x = x * 10 end
          fs[#fs + 1] = function() return x end
          local y = i
          for j = 1, 2 do
            fs[#fs + 1] = function() return y end
            y = y + j
          end
          local f
          function f(n) if n == 0 then return i end return f(n - 1) end
          fs[#fs + 1] = f
          local function down(n) if n == 0 then return i * 10 end return down(n - 1) end
          fs[#fs + 1] = down
          local function up(n) if n == 9 then return i * 20 end return up(n + 1) end
          fs[#fs + 1] = function(n) return up(n) end  -- which calls it later
        end
        for k = 1, #fs do print(fs[k](2)) end
    """)
    assert printed == expected


def test_docstrings_have_no_dashes_of_lua(draft: Callable[[str], str]) -> None:
    made = draft("""
        print('begin')
        --[[
        --  Adds two numbers
        --
        --  and gives their sum - an int.
        --]]
        function add(a, b) return a + b end
        print(add(1, 2))
        """)
    text = """
    \"\"\"Adds two numbers

    and gives their sum - an int.
    \"\"\"
"""
    assert text in made


def test_the_name_of_a_file_is_no_docstring(draft: Callable[[str], str]) -> None:
    made = draft("print(0)\n-- part.lua\nfunction f() return 1 end\nprint(f())")
    assert "# part.lua" in made
    assert '"""' not in made


def test_classes_have_the_names_that_torch7_knows(draft: Callable[[str], str]) -> None:
    made = draft("""
        require 'nn'
        local layer, parent = torch.class('nn.Gate', 'nn.Module')
        function layer:__init() parent.__init(self) end
        local other = torch.class('nn.Taken', 'nn.Module')
        function other:__init() end
        local Taken = nn.Gate()
        print(Taken, nn.Taken())
    """)
    assert "class Gate(nn.Module" in made and "Taken = Gate()" in made
    assert "class other(nn.Module" in made  # of which the file has one


def test_functions_are_called_for_what_takes_them(draft: Callable[[str], str]) -> None:
    made = draft("""
        require 'nn'
        local net, n = nn.Sequential():add(nn.Tanh()), 0
        net:apply(function(m) m:clearState() end)
        net:apply(function(m) n = n + 1 print(n) end)
        net:apply(function(m) n = n + 2 print(n) end)
        print(pcall(function() n = n + 1 print(n) end))
    """)
    assert "net.apply(lambda m: m.clearState())" in made
    for name in ("visit", "visit_2", "attempt"):
        assert f"def {name}(" in made and f"({name})" in made


def test_an_if_behind_else_is_elif_but_for_what_stands_beside_it(
    both: Callable[[str], tuple[str, str]], draft: Callable[[str], str]
) -> None:
    lua = """
        for i = 1, 3 do
          if i == 1 then print('one') else if i == 2 then print('two') else print('more') end end
          if i == 1 then print(1) else
            -- why
            if i == 2 then print(2) end
          end
          if i == 1 then print(1) else if i == 2 then print(2) end print(3) end
        end
    """
    expected, printed = both(lua)
    assert printed == expected
    assert draft(lua).count("elif") == 1


def test_comments_have_no_marks_of_lua(draft: Callable[[str], str]) -> None:
    made = draft("local n = 3 --# of rows\nprint(n)\n---- Then\n--- two\n---- 3 ----\nprint(2)")
    for comment in ("n = 3  # of rows", "\n# Then\n", "\n# two\n", "\n# -- 3 ----\n"):
        assert comment in made


def test_methods_that_a_layer_may_have_are_asked_for_by_hasattr(
    draft: Callable[[str], str],
) -> None:
    made = draft("""
        require 'nn'
        local net = nn.Sequential():add(nn.Linear(2, 3))
        net.flag = arg[1] ~= 'no'
        net:apply(function(m)
          if m.noBias then m:noBias() end
          if m.flag then print(m.flag) end
          if m.flag then m:flag() end
        end)
    """)
    assert made.count('hasattr(m, "noBias")') == 1 and 'hasattr(m, "flag")' not in made


def test_methods_that_a_computed_name_may_take_away_are_looked_at(
    draft: Callable[[str], str],
) -> None:
    made = draft("""
        require 'nn'
        local net = nn.Sequential():add(nn.Linear(2, 3))
        for _, name in ipairs{'noBias', 'reset'} do net:get(1)[name] = false end
        if net:get(1).noBias then print('there') end
    """)
    assert "hasattr" not in made


def test_an_apply_of_the_program_may_look_at_results(draft: Callable[[str], str]) -> None:
    made = draft("""
        require 'nn'
        local net, apply = nn.Sequential():add(nn.Tanh()), nn.Sequential.apply
        nn.Sequential.apply = function(self, f) local r = f(self) print(r) return apply(self, f) end
        net:apply(function(m) m:evaluate() end)
    """)
    assert "apply(lambda" not in made


def test_braces_of_a_text_show_what_tostring_does(draft: Callable[[str], str]) -> None:
    made = draft("local n, x = 3, nil\nprint('n: ' .. tostring(n + 1) .. tostring(x))")
    assert 'f"n: {n + 1}{lua.tostring(x)}"' in made


def test_a_loop_that_reads_lines_goes_over_them(draft: Callable[[str], str]) -> None:
    loop = "while true do local line = f:read() if line == nil then break end print(line{}) end"
    read = f"local f = io.open(arg[1])\n{loop}\nf:close()"
    assert "for line in f.lines():" in draft(read.format(""))
    assert "for line in f.lines():" not in draft(read.format(", f:read()"))
