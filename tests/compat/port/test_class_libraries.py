"""Classes of classic and middleclass; what is printed was recorded from Lua with these packages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

CLASSIC = """
local classic = require 'classic'
require 'classic.torch'
-- What counts.
local Counter = classic.class('Counter')
Counter.made = 0
Counter:mustHave('step')
function Counter:_init(start)
  self.n = start or 0
  Counter.made = Counter.made + 1
end
function Counter:get() return self.n end
function Counter:__tostring() return 'counter ' .. self.n end
function Counter.static.twice(x) return 2 * x end
local Up, super = classic.class('Up', Counter)
function Up:_init(start, by)
  super._init(self, start)
  self.by = by
  classic.strict(self)
end
function Up:step() self.n = self.n + self.by return self end
function Up:get() return 'up ' .. super.get(self) end
local Far = classic.class('Far', 'Up')
function Far:step() self.n = self.n + 10 * self.by return self end
local a, b = Up(1, 2), Far(nil, 3)
print(a:step():get(), b:step():step():get(), b.by, tostring(b))
print(Counter.static.twice(4), Counter.made)
"""
MIDDLECLASS = """
local class = require 'middleclass'
local Animal = class('Animal')
Animal.count = 0
function Animal:initialize(name, sound)
  self.name, self.sound = name, sound
  Animal.count = Animal.count + 1
end
function Animal:speak() return self.name .. ' says ' .. self.sound end
function Animal:__tostring() return 'animal ' .. self.name end
Animal.__add = function(a, b) return a.name .. '+' .. b.name end
local Dog = class('Dog', Animal)
function Dog:initialize(name)
  Dog.super.initialize(self, name, 'wuff')
  self.tricks = {}
end
function Dog:learn(trick) table.insert(self.tricks, trick) return self end
function Dog:speak() return Animal.speak(self) .. ' ' .. #self.tricks end
local Puppy = class('Puppy', Dog)
function Puppy:speak() return Dog.speak(self):upper() end
local d, p = Dog:new('Rex'), Puppy('Bo')
print(d:learn('sit'):learn('roll'):speak(), p:speak(), Animal.count)
print(tostring(d), tostring(p), d + p, d.tricks[2])
"""


@pytest.mark.parametrize(
    ("lua", "printed"),
    [
        (CLASSIC, "up 3\tup 60\t3\tcounter 60\n8\t2\n"),
        (
            MIDDLECLASS,
            "Rex says wuff 2\tBO SAYS WUFF 0\t2\nanimal Rex\tanimal Bo\tRex+Bo\troll\n",
        ),
    ],
    ids=["classic", "middleclass"],
)
def test_classes_are_pythons(
    lua: str, printed: str, draft: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = draft(lua)
    assert "require" not in text and "super().__init__(" in text
    exec("from compat.port import lua\n" + text, {"__name__": "__main__"})
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    "asks",
    [
        "print(Up(1, 2):class():name())",
        "print(classic.isClass(Up))",
        "function Up:made_before() return self.made end",
        "Up:include(Far)",
        "local More = classic.class('More' .. arg[1])",
        "function Up:__index(key) return key end",
    ],
)
def test_what_only_the_package_knows_leaves_the_classes_to_it(
    asks: str, draft: Callable[[str], str]
) -> None:
    assert "class Counter(" not in draft(CLASSIC + asks)


def test_the_class_of_an_object_leaves_classes_to_middleclass(draft: Callable[[str], str]) -> None:
    assert "class Animal(" not in draft(MIDDLECLASS + "print(d.class.name)")


def test_the_files_of_the_package_get_no_draft(tmp_path: Path) -> None:
    from compat.port.program import convert

    (tmp_path / "main.lua").write_text(CLASSIC)
    (tmp_path / "classic").mkdir()
    (tmp_path / "classic/init.lua").write_text("classic = {}\nreturn require 'classic.Class'")
    (tmp_path / "classic/Class.lua").write_text("return classic")
    (tmp_path / "classic/torch.lua").write_text("classic.torch = true")
    assert [one.source.name for one in convert([tmp_path / "main.lua"])] == ["main.lua"]
