"""Options of ``torch.CmdLine``, by ``argparse``: a line gives the same as Lua's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LUA = """
cmd = torch.CmdLine()
cmd:text()
cmd:text('Trains something')
cmd:text('Options')
cmd:argument('-data', 'what it learns from')
cmd:option('-lr', 0.01, 'learning rate, 10% of it') -- tail
cmd:option('-layers', 2, 'how many')
cmd:option('-dropout', 0, 'rate')
cmd:text('--- Other ---')
cmd:option('-name', 'net', 'its name')
cmd:option('-verbose', false, 'say more')
cmd:option('-quiet', true, 'say less')
cmd:option('--lr-decay', 1e-7)
local opt = cmd:parse(arg)
local names = {}
for name, value in pairs(opt) do names[#names + 1] = name .. ' ' .. tostring(value) end
table.sort(names)
for i = 1, #names do print(names[i]) end
for i = 1, opt.layers do io.write(i, ' ') end
opt.more = opt.name .. '!'
print(opt.more, opt.lr * 2, opt['lr-decay'], opt.missing)
print(cmd:string('run', opt, {more = true, ['lr-decay'] = true}))
"""
LINES = [
    "here",
    "-lr 1 here -layers 3",
    "-dropout 0.5 here",
    "-name -3 -verbose -quiet here",
    "here -lr 1e-3 -layers 4 --lr-decay 5 -dropout -2",
]


WRONG = [
    "",  # not enough arguments
    "here there",
    "-l 3 here",  # no short form
    "here -lr fast",
    "here -layers",
    "--lr-decay=5 here",
    "-help",
]


@pytest.mark.parametrize("line", LINES + WRONG)
def test_a_line_gives_what_it_gives_in_lua(tmp_path: Path, line: str) -> None:
    from compat.port.program import convert

    script = tmp_path / "options.lua"
    script.write_text(LUA)
    made = tmp_path / "options.py"
    text = convert([script])[0].text
    made.write_text(text)
    words = line.split()
    lua, draft = [
        subprocess.run([sys.executable, *command, *words], capture_output=True, text=True,
                       check=False, cwd=tmp_path)
        for command in (["-m", "compat.lua", "options.lua"], ["options.py"])
    ]  # fmt: skip
    printed = draft.stdout.replace("options.py", "options.lua")
    assert sorted(printed.splitlines()) == sorted(lua.stdout.splitlines())  # pairs has no order
    assert (draft.returncode, draft.stderr) == (lua.returncode, lua.stderr)
    assert (line in WRONG) == ("Usage:" in printed)
    assert "CmdLine" not in text


def test_options_have_types_help_and_groups(draft: Callable[[str], str]) -> None:
    made = draft(LUA)
    for part in (
        r'ArgumentParser(description="\nTrains something\nOptions")',
        'cmd.add_argument("data", help="what it learns from")',
        'type=float, default=0.01, help="learning rate, 10%% of it"',
        'cmd.add_argument("-layers", type=int, default=2, help="how many")',
        'cmd.add_argument("-dropout", type=cmdline.number, default=0, help="rate")',
        'group = cmd.add_argument_group("--- Other ---")',
        'group.add_argument("-verbose", action="store_true", help="say more")',
        'group.add_argument("-quiet", action="store_false", help="say less")',
        "opt = cmd.parse_args(",
    ):
        assert part in made


@pytest.mark.parametrize(
    "lua",
    [
        "cmd:option('-a', 1)\nadd(cmd)",  # others add to it
        "cmd:option('-a', value())",  # of what type?
        "cmd:option('-a', 1)\ncmd:option('-a', 2)",
        "for _, n in ipairs{'-a', '-b'} do cmd:option(n, 1) end",
    ],
)
def test_what_argparse_cannot_say_stays(draft: Callable[[str], str], lua: str) -> None:
    start = "function value() return 1 end function add(c) c:option('-b', 1) end\n"
    made = draft(f"{start}local cmd = torch.CmdLine()\n{lua}\nlocal opt = cmd:parse(arg)")
    assert "cmd = torch7.CmdLine()" in made and "argparse" not in made
