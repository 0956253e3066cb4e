"""What becomes of Lua's idioms, where types are known from the code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = [pytest.mark.needs("tree_sitter"), pytest.mark.needs("tree_sitter_lua")]

IDIOMS = [
    ("local t = {10, 20}\nprint(t[1], #t)", 't = [10, 20]\nprint(f"{t[0]}\\t{len(t)}")'),
    ("local opt = {lr = 0.1}\nopt.lr = 2", 'opt = {"lr": 0.1}\nopt["lr"] = 2'),
    ("local t = {}\nt[#t + 1] = 'a'\ntable.insert(t, 'b')", 't = []\nt.append("a")\nt.append("b")'),
    ("for i = 1, 3 do print(i) end", "for i in range(1, 4):\n    print(i)"),
    ("for i = 3, 1, -1 do print(i) end", "for i in range(3, 0, -1):\n    print(i)"),
    (
        "local n, size = 9, 2\nfor i = 1, n, size do print(i) end",
        "n, size = 9, 2\nfor i in range(1, n + 1, size):\n    print(i)",
    ),
    (
        "local t = {'a'}\nfor i, v in ipairs(t) do print(i, v) end",
        't = ["a"]\nfor i, v in enumerate(t, 1):\n    print(f"{i}\\t{v}")',
    ),
    (
        "local t = {'a'}\nfor _, v in ipairs(t) do print(v) end",
        't = ["a"]\nfor v in t:\n    print(v)',
    ),
    ("local n = 3\nlocal s = 'n' .. n", 'n = 3\ns = f"n{n}"'),
    ("local x = torch.zeros(2, 3)\nx:add(1)", "x = torch.zeros(2, 3)\nx.add_(1)"),
    (
        "local x, y = torch.ones(2, 3), torch.ones(2, 3)\nx:add(2, y)",
        "x, y = torch.ones(2, 3), torch.ones(2, 3)\nx.add_(y, alpha=2)",
    ),
    (
        "local x = torch.ones(4, 3)\nlocal y = x[{{1, 2}, 3}]\nlocal n = x:size(1)",
        "x = torch.ones(4, 3)\ny = x[:2, 2]\nn = x.size(0)",
    ),
    (
        "local v = torch.ones(4)\nlocal a, s = v[2], v:sum()",
        "v = torch.ones(4)\na, s = v[1].item(), v.sum().item()",
    ),
    (
        "local x = torch.ones(4, 3)\nlocal m, i = x:max(2)",
        "x = torch.ones(4, 3)\nm, i = x.max(1, keepdim=True)\ni += 1  # it counts from 1",
    ),
    (
        "local x = torch.ones(4, 3)\nx[x:gt(0)] = 0",
        "x = torch.ones(4, 3)\nx[x.gt(0)] = 0",
    ),
    (
        "local r, a, b = torch.ones(2), torch.ones(2), torch.ones(2)\ntorch.add(r, a, b)",
        "r, a, b = torch.ones(2), torch.ones(2), torch.ones(2)\ntorch.add(a, b, out=r)",
    ),
    (
        "local x, y = torch.ones(2), torch.ones(2)\nprint(x ~= y)",
        "x, y = torch.ones(2), torch.ones(2)\nlua.print(x is not y)",
    ),
    ("local n = 4\nif n ~= nil and n > 0 then print('x') end",
     'n = 4\nif n is not None and n > 0:\n    print("x")'),
    ("local s = ('[%d/%d] %.3f'):format(1, 2, 0.5)", 's = f"[{1}/{2}] {0.5:.3f}"'),
    ("local n = 7\nprint(math.floor(n / 2))", "n = 7\nprint(n // 2)"),
    (
        "for i = 1, 3 do\n  if i == 2 then goto continue end\n  print(i)\n  ::continue::\nend",
        "for i in range(1, 4):\n    if i == 2:\n        continue\n    print(i)",
    ),
    ("local net = nn.Sequential()\nnet:add(nn.Linear(2, 3))\nlocal w = net.modules[1].weight",
     "net = nn.Sequential()\nnet.add(nn.Linear(2, 3))\nw = net.modules[0].weight"),
    ("-- says why\nlocal n = 1 -- the number\n\n-- more\nlocal m = 2",
     "n = 1  # the number\n\n# more\nm = 2"),
]  # fmt: skip


@pytest.mark.parametrize(("lua", "python"), IDIOMS)
def test_an_idiom_becomes_one_of_python(draft: Callable[[str], str], lua: str, python: str) -> None:
    assert draft(lua) == python


def test_a_class_has_its_methods_in_it(draft: Callable[[str], str]) -> None:
    made = draft(
        """
        local Gain, parent = torch.class('nn.Gain', 'nn.Module')

        function Gain:__init(factor)
           parent.__init(self)
           self.factor = factor
        end

        function Gain:updateOutput(input)
           self.output:resizeAs(input):copy(input):mul(self.factor)
           return self.output
        end
        """
    )
    assert 'class Gain(nn.Module, typename="nn.Gain"):' in made
    assert "def __init__(self, factor):\n        super().__init__()" in made
    assert "self.output.resize_as_(input).copy_(input).mul_(self.factor)" in made


def test_what_is_not_known_is_marked_with_a_paragraph_of_the_guide(
    draft: Callable[[str], str],
) -> None:
    made = draft("function f(x)\n  return x.field\nend")
    assert "# port: what x is, is not known [docs/porting.md#port-indices]" in made
    assert 'lua.index(x, "field")' in made


RECURRENT = """
    local rnn = nn.Linear(2, 2)
    local state = torch.zeros(2)
    local function step()
      local before = state
      local out = rnn:forward(before)
      rnn:backward(before, torch.ones(2))
      {}
      return out
    end
    step()
"""


def test_a_result_that_the_next_step_overwrites_is_marked(draft: Callable[[str], str]) -> None:
    made = draft(RECURRENT.format("state = out"))
    mark = "# port: state is used after a forward that overwrites it in Torch7"
    assert f"    {mark} [docs/porting.md#port-outputs]\n    state = out\n" in made


@pytest.mark.parametrize("last", ["state = out:clone()", "state:copy(out)", "last = out"])
def test_results_that_nobody_reads_late_are_not_marked(
    draft: Callable[[str], str], last: str
) -> None:
    assert "port-outputs" not in draft(RECURRENT.format(last))


def test_what_may_be_unknown_is_not_taken_for_what_else_it_may_be(
    draft: Callable[[str], str],
) -> None:
    made = draft(
        """
        local function size(t) return t[1] end
        function both(unknown)
          size(unknown.part)
          return size({1, 2})
        end
        """
    )
    assert "return lua.index(t, 1)" in made


@pytest.mark.parametrize("text", ['"', "'", "'\"", ' "a" ', "\\", "\n'", "{\"}'"])
def test_text_in_f_strings_keeps_its_quotes(text: str) -> None:
    from compat.port import code

    name = "x"
    made = code.f_string([text, ("name", ""), text])
    assert eval(str(made), {"name": name}) == f"{text}{name}{text}"
