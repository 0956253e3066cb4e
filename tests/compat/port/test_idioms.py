"""What becomes of Lua's idioms, where types are known from the code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.needs("tree_sitter"), pytest.mark.needs("tree_sitter_lua")]

IDIOMS = [
    (
        "local L = torch.getmetatable('nn.Linear')\nlocal old = L.reset\n"
        "function L:reset() old(self) end",
        "old = nn.Linear.reset\n\n\ndef reset(self):\n    old(self)\n\n\nnn.Linear.reset = reset",
    ),
    (
        "local image = require 'image'\nlocal function flip(x)\n"
        "  image = image or require 'image'\n  return image.hflip(x)\nend",
        "def flip(x):\n    return image.hflip(x)",
    ),
    (
        "local t = {1, 2}\nlocal function pick()\n  local i = math.random(#t)\n  return t[i]\nend",
        "t = [1, 2]\n\n\ndef pick():\n    i = lua.random(len(t))\n    return t[i - 1]",
    ),
    (
        "local m = torch.eye(2):gt(0)\nlocal function count(m)\n  local n = 0\n"
        "  if m[1][1] == 1 then n = n + m[2]:sum() end\n  return n\nend\nprint(count(m))",
        "m = torch.eye(2).gt(0).byte()\n\n\ndef count(m):\n    n = 0\n"
        "    if m[0][0].item() == 1:\n        n += m[1].sum().item()\n    return n\n\n\n"
        'print(f"{count(m):.14g}")',
    ),
    (
        "local n\nlocal function begin() n = 0 end\nlocal function step(by) n = n + by end\n"
        "begin()\nstep(2)",
        "n = None\n\n\ndef begin():\n    global n\n    n = 0\n\n\n"
        "def step(by):\n    global n\n    n += by\n\n\nbegin()\nstep(2)",
    ),
    ("local t = {10, 20}\nprint(t[1], #t)", 't = [10, 20]\nprint(f"{t[0]}\\t{len(t)}")'),
    ("local opt = {lr = 0.1}\nopt.lr = 2", 'opt = {"lr": 0.1}\nopt["lr"] = 2'),
    ("local t = {}\nt[#t + 1] = 'a'\ntable.insert(t, 'b')", 't = ["a", "b"]'),
    (
        "local dname, fname = sys.fpath()\nlocal save = fname:gsub('.lua', '')\nprint(save)",
        'dname, fname = os.path.dirname(os.path.abspath(__file__)), "piece.lua"\n'
        'save = lua.gsub(fname, ".lua", "")[0]\nprint(save)',
    ),
    ("print(sys.COLORS.red .. 'a')\nprint('')", 'print(f"{lua.COLORS.red}a")\nprint()'),
    (
        "local x, n = torch.ones(2, 3), torch.Tensor(2, 1)\n"
        "x:map(x, function(a, b) return a - b end)\ntorch.sum(n, x, 2)",
        "x, n = torch.ones(2, 3), torch.empty(2, 1)\n"
        "x.map_(x, lambda a, b: a - b)\n"
        "torch.sum(x, 1, keepdim=True, out=n)",
    ),
    (
        "local m = torch.eye(3)\nlocal e, v = torch.symeig(m, 'V')\nlocal n = v * torch.diag(e)",
        'm = torch.eye(3)\ne, v = lua.torch.symeig(m, "V")\nn = v @ torch.diag(e)',
    ),
    (
        "if n then\n  a = 1 -- one\nelse\n  a = 2\n  -- the rest\n  a = 3 -- three\nend",
        "# port: n is set nowhere [docs/porting.md#port-globals]\n"
        "if False:\n    a = 1  # one\n"
        "else:\n    a = 2\n    # the rest\n    a = 3  # three",
    ),
    (
        "local file = arg and arg[1] or 'a.t7'\nif arg and #arg > 1 then print(file) end",
        'file = sys.argv[1] if len(sys.argv) > 1 else "a.t7"\n'
        "if len(sys.argv[1:]) > 1:\n    print(file)",
    ),
    ("local n = 4\nif n % 2 == 0 then collectgarbage() end", "n = 4"),
    (
        "local f = assert(io.open('a', 'r'))\nlocal s = f:read(9)\nprint(#s)",
        'f = lua.must_open("a", "r")\ns = f.read(9)\nprint(len(s))',
    ),
    (
        "local x = torch.ones(2)\nlocal y = x:float():cuda()",
        "x = torch.ones(2)\ny = x.float().to(cutorch.device())",
    ),
    (
        "local t = {torch.ones(2)}\nfor i, v in ipairs(t) do t[i] = v:view(1, 2) end",
        "t = [torch.ones(2)]\nfor i, v in enumerate(t, 1):\n    t[i - 1] = v.view(1, 2)",
    ),
    (
        "local t = {1, 2}\nfor i = #t, 1, -1 do t[i] = 0 end",
        "t = [1, 2]\nfor i in range(len(t), 0, -1):\n    t[i - 1] = 0",
    ),
    (
        "local t = {1, 2}\nfor i = 1, #t do t[i] = t[i] * 2 end",
        "t = [1, 2]\nfor i in range(len(t)):\n    t[i] *= 2",
    ),
    (
        "local L = {1, 2}\nlocal m = assert(L[k], 'none') -- why",
        "L = [1, 2]\n# port: k is set nowhere [docs/porting.md#port-globals]\n"
        'm = lua.index(L, None)\nassert m is not None, "none"  # why',
    ),
    (
        "local o = {a = 1}\nlocal v = o[arg[1]] or error('none')",
        'o = {"a": 1}\nv = o.get(sys.argv[1] if len(sys.argv) > 1 else None)\n'
        'if v is None:\n    raise RuntimeError("none")',
    ),
    (
        "local t, u = {'a'}, {}\nfor i, v in ipairs(t) do\n  u[i] = v\nend",
        't, u = ["a"], []\nu.extend(t)',
    ),
    ("local t, n = {a = 1}, 0\nfor k, _ in pairs(t) do n = n + #k end",
     't, n = {"a": 1}, 0\nfor k in t:\n    n += len(k)'),
    ("local t = {1, 2}\nlocal u, v = {unpack(t, 1, #t)}, {unpack(t, 2)}",
     "t = [1, 2]\nu, v = t[: len(t)], t[1:]"),
    ("local o, w = {a = {}}, {}\nlocal n = (w[o.a.x] or 0) + 1",
     'o, w = {"a": {}}, {}\nn = w.get(o["a"].get("x"), 0) + 1'),
    (
        "local k = 3\nlocal d = k >= 122 and 2 or k >= 81 and 1 or 0",
        "k = 3\nd = 2 if k >= 122 else 1 if k >= 81 else 0",
    ),
    (
        "local x = torch.ones(2)\nlocal y = x.cat({x, x}, 1)\nlocal n = x:byte():sum()",
        "x = torch.ones(2)\ny = torch.cat([x, x], 0)\nn = x.byte().sum().item()",
    ),
    (
        "local t = {\n  a = 1, -- one\n  -- two\n  b = 2,\n}",
        't = {\n    "a": 1,  # one\n    # two\n    "b": 2,\n}',
    ),
    (
        "local o = {a = 'x'}\nprint('a: ' .. o.a, ' b: ', o.a)",
        "o = {\"a\": \"x\"}\nprint(f\"a: {o['a']}\\t b: \\t{o['a']}\")",
    ),
    (
        "local s = 'a'\nlocal p = s:gsub('s', '_')\nlocal q, n = s:gsub('s', '_')",
        's = "a"\np = s.replace("s", "_")\nq, n = s.replace("s", "_"), s.count("s")',
    ),
    (
        "local x = torch.LongTensor(3)\nx:fill(2)\nx:add(1)",
        "x = torch.empty(3, dtype=torch.int64)\nx.fill_(2)\nx.add_(1)",
    ),
    (
        "local unpack = unpack or table.unpack\nlocal t = {1, 2}\nlocal m = math.max(unpack(t))",
        "t = [1, 2]\nm = max(t)",
    ),
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
    (
        "local t = {made = {2, 3}}\nlocal v = t.made[#t.made]",
        't = {"made": [2, 3]}\nv = t["made"][-1]',
    ),
    (
        "local t = {made = {2, 3}}\nt.made[#t.made] = nil",
        't = {"made": [2, 3]}\ndel t["made"][-1:]',
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
        "local x = torch.ones(2, 3)\nlocal y, z = x.new(4), x.new()\ny:set()",
        "x = torch.ones(2, 3)\ny, z = x.new_empty(4), x.new_empty(0)\ny.set_()",
    ),
    (
        "local x, r = torch.ones(2, 3), torch.Tensor()\nr:sum(x, 1)",
        "x, r = torch.ones(2, 3), torch.empty(0)\ntorch.sum(x, 0, keepdim=True, out=r)",
    ),
    (
        "local t = {1}\nlocal u = torch.deserialize(torch.serialize(t))",
        "t = [1]\nu = copy.deepcopy(t)",
    ),
    (
        "local cjson = require 'cjson'\nlocal s = cjson.encode({1, 2})\nlocal t = cjson.decode(s)",
        's = json.dumps([1, 2], separators=(",", ":"))\nt = json.loads(s)',
    ),
    (
        "require 'hdf5'\nlocal f = hdf5.open('x.h5', 'r')\n"
        "local n = f:read('/x'):dataspaceSize()[1]",
        'f = hdf5.open("x.h5", "r")\nn = f.read("/x").dataspaceSize()[0]',
    ),
    (
        "function f(x)\n  if type(x) == 'table' and #x == 2 then\n"
        "    local a, b = unpack(x)\n    return a\n  end\n"
        "  return x:size(1)\nend\nf(torch.ones(2))",
        "def f(x):\n    if isinstance(x, list) and len(x) == 2:\n        a, _b = x\n"
        "        return a\n"
        "    return x.size(0)\n\n\nf(torch.ones(2))",
    ),
    ("local a, b = ...", "a, b = lua.adjust((*sys.argv[1:],), 2)"),
    (
        "local x = torch.ones(4)\nlocal a, b = unpack(x:split(2))",
        "x = torch.ones(4)\na, b = lua.adjust(x.split(2), 2)",
    ),
    (
        "local t = {1}\nlocal a, b = unpack(t)",
        "t = [1]\na, b = lua.unpack(t, 1, 2)",
    ),
    ("local x = torch.Tensor(2)\nx:uniform()", "x = torch.empty(2)\nrandom.uniform_(x)"),
    (
        "local name = arg[2]\nif name then print(#name) end",
        "name = sys.argv[2] if len(sys.argv) > 2 else None\n"
        "if name is not None:\n    print(len(name))",
    ),
    ("local program = arg[-1]", "program = sys.executable"),
    ("local n = arg[1] or 'a'", 'n = sys.argv[1] if len(sys.argv) > 1 else "a"'),
    (
        "local timer\nif arg[1] then timer = torch.Timer() end\n"
        "if timer then print(timer:time().real) end",
        "timer = None\nif len(sys.argv) > 1:\n    timer = torch7.Timer()\n"
        "if timer is not None:\n    print(f\"{timer.time().real:.14g}\")",
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
    ("local s = ('[%d/%d] %.3f'):format(1, 2, 0.5)", 's = f"[1/2] {0.5:.3f}"'),
    ("local n = 7\nprint(math.floor(n / 2))", "n = 7\nprint(n // 2)"),
    (
        "for i = 1, 3 do\n  if i == 2 then goto continue end\n  print(i)\n  ::continue::\nend",
        "for i in range(1, 4):\n    if i == 2:\n        continue\n    print(i)",
    ),
    ("local net = nn.Sequential()\nnet:add(nn.Linear(2, 3))\nlocal w = net.modules[1].weight",
     "net = nn.Sequential()\nnet.add(nn.Linear(2, 3))\nw = net.modules[0].weight"),
    ("local cmd = torch.CmdLine()\ncmd:addTime()\nlocal opt = cmd:parse(arg or {})",
     "cmd = torch7.CmdLine()\ncmd.addTime()\nopt = cmd.parse()"),
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
    mark = "# port: state is used after a pass that overwrites it in Torch7"
    assert f"    {mark} [docs/porting.md#port-outputs]\n    state = out\n" in made


@pytest.mark.parametrize("last", ["state = out:clone()", "state:copy(out)", "last = out"])
def test_results_that_nobody_reads_late_are_not_marked(
    draft: Callable[[str], str], last: str
) -> None:
    assert "port-outputs" not in draft(RECURRENT.format(last))


STATES = """
    local rnn = torch.load('rnn.t7')
    local h = {torch.zeros(2)}
    local function step(x)
      local given = {x, unpack(h)}
      local out = rnn:forward(given)
      BACK
      for i = 1, #h do LAST end
    end
    step(torch.ones(2))
"""


@pytest.mark.parametrize(
    ("back", "last", "is_marked"),
    [
        ("rnn:backward(given, out)", "h[i] = out[i + 1]", True),
        ("rnn:backward(given, out)", "h[i] = out[i + 1]:clone()", False),
        ("", "h[i] = out[i + 1]", False),
    ],
)
def test_states_in_a_table_that_the_next_step_overwrites_are_marked(
    draft: Callable[[str], str], back: str, last: str, is_marked: bool
) -> None:
    made = draft(STATES.replace("BACK", back).replace("LAST", last))
    assert ("# port: h is used after a pass that overwrites it" in made) is is_marked


def test_a_state_among_results_that_are_unpacked_is_marked(draft: Callable[[str], str]) -> None:
    made = draft("""
        local net, first = torch.load('net.t7'), torch.zeros(2)
        local rnn = nn.Sequential():add(net)
        local function step(x)
          local h = {[0] = first}
          for t = 1, 3 do h[t], last = unpack(rnn:forward{x, h[t - 1]}) end
          rnn:backward({x, h[2]}, last)
          first = h[#h]
        end
        step(torch.ones(2))
    """)
    assert "# port: first is used after a pass that overwrites it" in made


GATHERED = """
    local net, criterion = nn.Linear(2, 2), nn.MSECriterion()
    local nets, results = {net, net:clone()}, {}
    local function run(x) return net:forward(x) end
    for i = 1, 2 do
      {}
    end
    print(results[1], results[2])
"""


@pytest.mark.parametrize(
    ("turn", "is_marked"),
    [
        ("results[i] = net:forward(torch.ones(2) * i)", True),
        ("local y = run(torch.ones(2) * i) table.insert(results, {y, i})", True),
        ("results[#results + 1] = criterion:backward(torch.ones(2) * i, torch.ones(2))", True),
        ("results[i] = net:forward(torch.ones(2) * i):view(1, 2)", True),
        ("results[i] = nets[i]:forward(torch.ones(2))", False),
        ("results[i] = net:forward(torch.ones(2) * i):clone()", False),
        ("local own = nn.Linear(2, 2) results[i] = own:forward(torch.ones(2))", False),
        ("local a, b = run(torch.ones(2)), 1 results[i] = a:sum()", False),
        ("net:forward(torch.ones(2) * i) results[i] = net.output", True),
        ("nets[i]:forward(torch.ones(2)) results[i] = nets[i].output", False),
        ("criterion:forward(torch.ones(2), results) results[i] = criterion.output", False),
    ],
)
def test_results_that_a_loop_gathers_are_marked(
    draft: Callable[[str], str], turn: str, is_marked: bool
) -> None:
    assert (
        "port-outputs" in draft(GATHERED.replace("{}\n    end", f"{turn}\n    end"))
    ) is is_marked


@pytest.mark.parametrize("run", ["criterion:backward(x, y)", "predict(x)"])
def test_results_that_the_same_pass_overwrites_are_marked(
    draft: Callable[[str], str], run: str
) -> None:
    made = draft(f"""
        local criterion, net, x = nn.MSECriterion(), nn.Linear(2, 2), torch.ones(2)
        local y = x * 2
        local function predict(x) return net:forward(x) end
        local a = {run}
        y:fill(3)
        local b = {run}
        print(a:sum() - b:sum())
    """)
    assert "# port: a is used after a pass that overwrites it in Torch7" in made


@pytest.mark.parametrize("first", ["local first = out", "keep.first = out"])
def test_a_result_under_a_second_name_and_parameters_in_an_expression_are_marked(
    draft: Callable[[str], str], first: str
) -> None:
    made = draft(f"""
        local net, keep = nn.Linear(2, 2), {{}}
        local out = net:forward(torch.ones(2))
        {first}
        out = net:forward(torch.zeros(2))
        print({first.split()[-3]}:sum() == out:sum())
        local w, dw = net:getParameters()
        net:getParameters():zero()
        print(w:sum(), dw:sum())
    """)
    assert "# port: out is used after a pass that overwrites it in Torch7" in made
    assert "# port: in Torch7 the tensors of the earlier getParameters are the net's" in made


def test_parameters_known_by_their_name_alone_are_marked(draft: Callable[[str], str]) -> None:
    made = draft(
        """
        local function known(n) return n + 1 end
        function unknown(n) print(1); return n * 2 end
        print(known(1), function(n) return n * 3 end)
        """
    )
    mark = "# port: no call tells n: taken for what else has the name"
    mark += " [docs/porting.md#port-parameters]\n"
    assert f"def unknown(n):\n    {mark}" in made
    assert f"{mark}lua.print(known(1), lambda n: n * 3)" in made
    assert made.count(mark) == 2


def test_parameters_that_a_run_has_seen_are_not_marked(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local function known(n) return n + 1 end\n"
        "known(1)\n"
        "function unknown(n) return n * 2 end\n"
        "print(assert(loadstring('return unknown(...)'))(3))\n"
    )
    assert "port-parameters" in convert([path])[0].text
    assert "port-parameters" not in convert([path], [[]])[0].text


def test_long_comments_are_in_utf_8(draft: Callable[[str], str]) -> None:
    assert "# - |δ|" in draft("local x = 1\n--[[\n- |δ|\n--]]\nprint(x)")


@pytest.mark.parametrize("empty", ["--", "-- \t", "x = 1 --"])
def test_code_after_a_long_comment_stays_where_an_empty_comment_is_before_it(
    draft: Callable[[str], str], empty: str
) -> None:
    made = draft(f"{empty}\n  --[[ a\nb ]] print(1) -- c\nprint(2)\n")
    assert made.endswith("print(1)  # c\nprint(2)")


def test_an_optimizer_that_the_program_chooses_may_give_more_results(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "require 'optim'\n"
        "local function feval() return 0, torch.zeros(1) end\n"
        "local _, f = optim[arg[1]](feval, torch.ones(1), {})\n"
        "print(f[1])\n"
    )
    # sgd gives two results, lbfgs three
    text = convert([path], [["sgd"]])[0].text
    assert re.search(r"_, f = lua\.adjust\(\s*getattr\(optim, ", text)


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
    from compat.port.write import code

    name = "x"
    made = code.f_string([text, ("name", ""), text])
    assert eval(str(made), {"name": name}) == f"{text}{name}{text}"


CAUGHT = "the text of this error is Python's [docs/porting.md#port-errors]"
SAVED = "sizes are saved as a table, not as a LongStorage [docs/porting.md#port-files]"


@pytest.mark.parametrize(
    ("lua", "mark"),
    [
        ("print(pcall(f, 1))", CAUGHT),
        ("local ok, err = pcall(f, 1)\nprint(err)", CAUGHT),
        ("print(select(2, pcall(f, 1)))", CAUGHT),
        ("print(xpcall(f, function(text) print(text) end))", CAUGHT),
        ("function g() return pcall(f, 1) end", CAUGHT),
        ("local ok, err = pcall(f, 1)\nprint(ok)", None),
        ("print((pcall(f, 1)))", None),
        ("if not pcall(f, 1) then print(1) end", None),
        ("local A = torch.class('nn.A', 'nn.Module')\nprint(nn.A == nn.A)", None),
        ("torch.save('a.t7', {n = {torch.zeros(2):size()}})", SAVED),
        ("torch.save('a.t7', {n = torch.zeros(2):size(1)})", None),
    ],
)
def test_what_differs_without_an_error_is_marked(
    draft: Callable[[str], str], lua: str, mark: str | None
) -> None:
    made = draft(f"require 'nn'\nlocal function f(x) return x end\n{lua}")
    marks = [
        line.strip().removeprefix("# port: ") for line in made.splitlines() if "# port:" in line
    ]
    assert marks == ([mark] if mark else [])


def test_a_tensor_on_a_gpu_is_of_single_precision(draft: Callable[[str], str]) -> None:
    made = draft("local x = torch.ones(2):double()\nlocal y = x:cuda()\nprint(y[1])")
    assert "y = x.float().to(cutorch.device())" in made


@pytest.mark.parametrize(
    ("lua", "python"),
    [
        ("print(x:dim())", "lua.dim(x)"),
        ("print(x:dim() == 1)", "lua.dim(x) == 1"),
        ("print(x:dim() == 2)", "x.dim() == 2"),
        ("print(x:dim() == 0)", "x.numel() == 0"),
        ("print(x:dim() > 1)", "x.dim() > 1"),
        ("print(x:size(x:dim()))", "x.size(x.dim() - 1)"),
        ("print(torch.zeros(2, 2):dim())", "torch.zeros(2, 2).dim()"),
    ],
)
def test_the_dimensions_of_an_empty_tensor(
    draft: Callable[[str], str], lua: str, python: str
) -> None:
    made = draft(f"function f(x)\n  x:fill(0)\n  {lua}\nend")
    assert python in made


def test_negation_looks_past_strings_and_brackets() -> None:
    from compat.port.write.code import COMPARE, Code, negated

    for condition, opposite in [
        ('getattr(n, "weight", None) is not None', 'getattr(n, "weight", None) is None'),
        ('"a == b" in s', '"a == b" not in s'),
        ("f(a == b)", "not f(a == b)"),
    ]:
        assert negated(Code(condition, COMPARE)).text == opposite


def test_a_package_that_nobody_has_gets_one_mark(draft: Callable[[str], str]) -> None:
    made = draft("require 'cltorch'\ncltorch.setDevice(1)\ncltorch.synchronize()")
    assert made.count("# port:") == 1
    assert "lua.package" not in made and "cltorch.setDevice(1)" in made


def test_fields_of_an_object_stay_apart_where_a_method_of_its_parent_is_called(
    draft: Callable[[str], str],
) -> None:
    made = draft(
        """
        local Net, parent = torch.class('nn.PortNet', 'nn.Module')
        function Net:__init()
          parent.__init(self)
          self.parts, self.names = {}, {}
          table.insert(self.parts, 1)
          self.names.first = 'a'
        end
        function Net:run(x) return self:forward(x) end
        """
    )
    assert "self.parts.append(1)" in made and 'self.names["first"] = "a"' in made


def test_files_are_loaded_in_the_order_of_the_lua(tmp_path: Path) -> None:
    from compat.port.program import convert

    files = {"main": "dofile 'util.lua'\ndofile 'model.lua'\nprint(n)\n",
             "util": "function twice(n) return 2 * n end\n",
             "model": "n = twice(2)\n"}  # fmt: skip
    for name, text in files.items():
        (tmp_path / f"{name}.lua").write_text(text)
    made = convert([tmp_path / f"{name}.lua" for name in files])[0].text
    places = [made.index(line) for line in ("import util", 'import_module("model")', "print(")]
    assert places == sorted(places)


def test_a_function_in_a_field_does_not_make_all_fields_one(draft: Callable[[str], str]) -> None:
    made = draft(
        """
        local Set = torch.class('PortSet')
        function Set:__init(options)
           for k, v in pairs(options) do self[k] = v end
           self.names, self.places = {}, {}
           table.insert(self.names, 'a')
           for i, name in ipairs(self.names) do self.places[name] = i end
        end
        function Set:get(i) return self:hook(self.names[i]) end
        print(PortSet({hook = function(self, name) return name end}):get(1))
        """
    )
    assert "self.names, self.places = [], {}" in made
    assert 'lua.method(self, "hook", self.names[i - 1])' in made


def test_self_is_the_table_that_a_method_is_defined_in(draft: Callable[[str], str]) -> None:
    text = draft(
        "local M = {n = 2}\nfunction M:grow(by) self.n = self.n + by return self.n end\n"
        "print(M:grow(1))\n"
    )
    assert "self.n += by" in text and "M = _M(n=2)" in text and "M.grow(1)" in text
    as_table = draft(
        "local M = {n = 2}\nfunction M:grow(by) self.n = self.n + by return self.n end\n"
        "print(M:grow(1))\nfor k in pairs(M) do print(k) end"
    )
    assert 'self["n"] += by' in as_table and 'M["grow"](M, 1)' in as_table


def test_a_method_that_only_tensors_have_tells_what_it_is_called_of(
    draft: Callable[[str], str],
) -> None:
    text = draft(
        "local function rows(x) return x:size(1) end\n"
        "print(rows(torch.ones(2)), rows(load_something()))\n"
    )
    assert "return x.size(0)" in text
    own = draft(
        "local set = {size = nil}\nfunction set.size(_, n) return n end\n"
        "local function rows(x) return x:size(1) end\n"
        "print(rows(torch.ones(2)), rows(load_something()))\n"
    )
    assert 'lua.method(x, "size", 1)' in own  # the program's own table has such a method


def test_package_class_makes_classes(draft: Callable[[str], str]) -> None:
    made = draft(
        """
        local class = require 'class'
        Base = class('Base')
        function Base:__init(n) self.n = n end
        Heir = class('Heir', 'Base')
        function Heir:__init(n) Base.__init(self, n) end
        function Heir:twice() return 2 * self.n end
        print(Heir(3):twice())
        """
    )
    assert "class Heir(Base" in made
    assert "super().__init__(n)" in made
    assert "lua." not in made.replace("lua.Object", "").replace("lua.print", "")


def test_a_parent_that_a_function_inside_a_method_calls_is_named(
    both: Callable[[str], tuple[str, str]],
) -> None:
    lua, python = both(
        """
        local B = torch.class('Base')
        function B:__init(n) self.n = n end
        function B:get() return self.n end
        local H, parent = torch.class('Heir', 'Base')
        function H:get() return (function() return parent.get(self) + 1 end)() end
        print(Heir(2):get())
        """
    )
    assert python == lua == "3\n"


MOVED = """
local net = nn.Linear(2, 2)%s
local out = net:forward(torch.ones(1, 2)%s)
local o = out:float()
print(o:long():sum(), out:double():sum(), torch.range(1, 3):long():sum(), torch.eye(2):int():sum())
print(out:float()%s:sum())
"""


def test_types_of_the_cpu_bring_tensors_of_a_gpu_there(draft: Callable[[str], str]) -> None:
    made = draft(MOVED % ((":cuda()",) * 3))
    assert "o = out.float().cpu()\n" in made and "out.double().cpu().sum()" in made
    assert made.count(".cpu()") == 2, made  # what is on the CPU stays, and what goes back needs not
    assert ".cpu()" not in draft(MOVED % (("",) * 3))


def test_no_rule_stands_behind_one_for_the_same_arguments() -> None:
    from compat.port.library import results, tensors
    from compat.port.library.lua_functions import FUNCTIONS

    for table in (FUNCTIONS, tensors.FUNCTIONS, tensors.METHODS, results._METHODS):
        for name in table.names():
            kinds = [rule.kinds.pattern for rule in table.all(name)]
            assert len(kinds) == len(set(kinds)), name


def test_what_follows_from_a_parameter_waits_for_it(draft: Callable[[str], str]) -> None:
    made = draft(
        """
        local Flat, parent = torch.class('nn.PortFlat', 'nn.Module')
        function Flat:updateOutput(input)
           local N, C = input:size(1), input:size(2)
           for i = 1, N do assert(C > 0) end
           self.output = input:view(N * C, input:nElement() / (N * C))
           return self.output
        end
        """
    )
    assert "for _ in range(N):" in made
    assert "input.view(N * C, " in made


def test_a_file_may_be_the_output(draft: Callable[[str], str]) -> None:
    made = draft(
        """
        local Log = torch.class('PortLog')
        function Log:__init(name)
           if name then self.file = io.open(name, 'w') else self.file = io.stdout end
        end
        function Log:add(text) self.file:write(text, '\\n') self.file:flush() end
        PortLog():add('one')
        """
    )
    assert 'self.file.write(text, "\\n")' in made
    assert "self.file.flush()" in made


def test_a_layer_that_gives_tables_back_takes_tables_of_tensors(
    draft: Callable[[str], str],
) -> None:
    made = draft(
        """
        local Twice, parent = torch.class('nn.PortTwice', 'nn.Module')
        function Twice:__init() parent.__init(self) self.gradInput = {} end
        function Twice:updateOutput(input)
           local x, y = input[1], input[2]
           self.output:resizeAs(x):copy(x):add(y)
           return self.output
        end
        function Twice:updateGradInput(input, gradOutput)
           self.gradInput[1] = self.gradInput[1] or input[1].new()
           self.gradInput[1]:resizeAs(input[1]):copy(gradOutput)
           return self.gradInput
        end
        """
    )
    assert "x, y = input[0], input[1]" in made
    assert "if lua.index(self.gradInput, 1) is None:" in made
    assert "lua.put(self.gradInput, 1, input[0].new_empty(0))" in made


def test_what_got_a_value_before_is_appended(draft: Callable[[str], str]) -> None:
    made = draft(
        """
        local function f(n)
           local out, last
           local all = {}
           for i = 1, n do
              out = i * 2
              table.insert(all, out)
              if last then all[#all + 1] = last end
              if i % 2 == 0 then last = out end
              table.insert(all, last)
           end
           return all
        end
        print(#f(5))
        """
    )
    assert "all.append(out)" in made
    assert "all.append(last)" in made
    assert "lua.insert(all, last)" in made


def test_options_of_a_text_that_is_put_together_are_known(draft: Callable[[str], str]) -> None:
    text = draft(
        """
        local lapp = require 'pl.lapp'
        title = 'Trains a net\\n'
        local opt = lapp(title .. [[
          -n,--count (default 3) how many
          --name (default 'x') its name
          --rate (default 0.5) the rate
          --verbose says more
        ]])
        for i = 1, opt.count do print(opt.name .. i, opt.rate * 2) end
        """
    )
    assert 'lua.lapp(f"""{title}' in text
    assert "for i in range(1, opt.count + 1):" in text
    assert 'print(f"{opt.name}{i}\\t{opt.rate * 2:.14g}")' in text


def test_what_may_be_nil_is_a_number_where_torch_takes_one(draft: Callable[[str], str]) -> None:
    text = draft(
        """
        local function shape(opt) local n = tonumber(opt.n) return torch.zeros(n, 2):view(2, n) end
        print(shape(loadstring('return {n = "2"}')()))
        """
    )
    assert "torch.zeros(n, 2).view(2, n)" in text


def test_a_criterion_of_the_program_gives_a_number(draft: Callable[[str], str]) -> None:
    text = draft(
        """
        require 'nn'
        local Cost, parent = torch.class('nn.PortCost', 'nn.Criterion')
        function Cost:__init(limit) parent.__init(self) self.limit = limit or 1 end
        function Cost:updateOutput(x, y)
          self.output = (x - y):sum()
          if self.limit > 2 then self.output = self.output / x:nElement() end
          return self.output
        end
        function Cost:updateGradInput(x, y) return x:clone():clamp(-self.limit, self.limit) end
        local kinds = {own = nn.PortCost, mean = nn.MSECriterion}
        local any = kinds[arg[1] or 'own']()
        local cost = nn.PortCost()
        any:updateGradInput(torch.ones(2), torch.ones(2))
        print(cost:forward(torch.ones(2), torch.zeros(2)) + 1)
        """
    )
    assert "self.output /= x.numel()" in text and "lua.add" not in text
    assert "clamp_(-self.limit, self.limit)" in text  # every object of the class has one


def test_a_layer_has_what_the_constructor_above_sets(draft: Callable[[str], str]) -> None:
    text = draft(
        """
        require 'nn'
        local Skip = torch.class('nn.PortSkip', 'nn.Decorator')
        function Skip:updateOutput(x)
          self.output = self.modules[1]:forward(x) + x
          return self.output
        end
        """
    )
    assert "modules = None" not in text and "self.modules[0].forward(x)" in text


def test_texts_are_put_together_as_they_are(draft: Callable[[str], str]) -> None:
    text = draft(
        "local t, n = {'a', 'b'}, arg[1]\n"
        "print('{' .. table.concat(t, ',\\n') .. (n and '\"' .. n or '') .. '}')"
    )
    assert 'print("{{{}{}}}".format(",\\n".join(t), ' in text


def test_a_loss_of_one_of_several_criterions_is_a_number(draft: Callable[[str], str]) -> None:
    text = draft(
        """
        require 'nn'
        local kinds = {mean = nn.MSECriterion, sum = nn.AbsCriterion}
        local loss = kinds[arg[1] or 'sum']()
        local x, y = torch.ones(2), torch.zeros(2)
        local function f(x) return loss:forward(x, y), x end
        local before = f(x)
        local after = f(x * 3)
        print(after - before)
        """
    )
    assert "# port" not in text and "after - before" in text


def test_whether_nn_is_here_is_asked_for_as_nn_is_loaded(draft: Callable[[str], str]) -> None:
    text = draft("torch.manualSeed(3)\nlocal ok = pcall(require, 'nn')\nprint(ok, torch.rand(2))")
    assert "ok = True  # nn is here" in text
    assert text.index("torch7.random()") < text.index("torch7.rand(2)")
