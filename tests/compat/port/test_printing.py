"""``print`` shows tables as Torch7's prompt does."""

from __future__ import annotations

import re

import pytest
import torch

from compat import nn
from compat.port import lua
from compat.threads import Threads


def test_tables_are_shown_with_what_is_in_them(capsys: pytest.CaptureFixture[str]) -> None:
    deep = [[[[[6.0]]]]]
    lua.print({"n": 3.0, "name": "b", "x": torch.ones(2, 3), "none": torch.empty(0), "deep": deep})
    assert capsys.readouterr().out.splitlines() == [
        "{",
        "  n : 3",
        '  name : "b"',
        "  x : FloatTensor - size: 2x3",
        "  none : FloatTensor - empty",
        "  deep : ",
        "    {",
        "      1 : ",
        "        {",
        "          1 : ",
        "            {",
        "              1 : ",
        "                {",
        "                  1 : {...}",
        "                }",
        "            }",
        "        }",
        "    }",
        "}",
    ]


def test_a_table_among_other_values_stands_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    lua.print("a", 1.0, [True, []], {}, "b")
    assert capsys.readouterr().out == "a\t1\t{\n  1 : true\n  2 : {...}\n}\n{}\nb\n"
    lua.print("a", 1.0, None)
    assert capsys.readouterr().out == "a\t1\tnil\n"


class Shown(lua.Object):
    def __str__(self) -> str:
        return "shown"


def test_objects_in_tables_are_tables(capsys: pytest.CaptureFixture[str]) -> None:
    lua.print({"own": Shown(n=1), "bare": Shown()}, Shown(n=1))
    own = "  own : \n    {\n      n : 1\n    }\n"
    assert capsys.readouterr().out == f"{{\n{own}  bare : {{...}}\n}}\nshown\n"
    lua.print([nn.Identity()])
    assert "      output : " in capsys.readouterr().out


def test_threads_tell_the_address_of_a_table(capfd: pytest.CaptureFixture[str]) -> None:
    with Threads(1) as pool:
        pool.addjob(lambda: lua.print([1]))
        pool.synchronize()
    assert re.fullmatch(r"table: 0x[0-9a-f]+\n", capfd.readouterr().out)
