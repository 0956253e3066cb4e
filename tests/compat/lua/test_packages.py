"""The packages around torch: cjson, lfs, tds, Penlight, and those that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from compat import lua


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("cjson.encode{1, 'a\"\\n', {x = true}}", '[1,"a\\"\\n",{"x":true}]'),
        ("cjson.encode{}", "{}"),
        ("cjson.encode{0.1, 1e20, -3}", "[0.1,1e+20,-3]"),
        ("cjson.encode(cjson.null)", "null"),
        ("cjson.decode('[1, {\"a\": \"\\\\u00e9\"}]')[2].a", "é".encode().decode("latin-1")),
        ("cjson.decode('{\"a\": null}').a == cjson.null", True),
        ("cjson.decode(cjson.encode{1, 2, {3}})", [1, 2, [3]]),
    ],
)  # fmt: skip
def test_json(runtime: lua.Runtime, expression: str, value: object) -> None:
    runtime.execute("cjson = require 'cjson'")
    assert runtime.eval(expression) == value


@pytest.mark.parametrize("text", ['{"a":}', "[1,", '"abc', "{a:1}", "[1] x", "", "[1 2]", "nul"])
def test_wrong_json_is_an_error_that_names_the_place(runtime: lua.Runtime, text: str) -> None:
    with pytest.raises(lua.LuaError, match=r"at character|unexpected end"):
        runtime.execute("return require('cjson').decode(...)", text)


def test_what_lfs_refuses_is_told_without_the_folder(runtime: lua.Runtime, tmp_path: Path) -> None:
    for change in ("rmdir", "mkdir"):
        place = str(tmp_path / "none" / "below")
        told = runtime.eval(f"{{require('lfs').{change}(...)}}", place)
        assert "No such file or directory" in list(told.values())


def test_the_keys_of_an_ordered_map_are_its_own_list(runtime: lua.Runtime) -> None:
    runtime.execute("map = require('pl.OrderedMap'){{b = 1}, {a = 2}}")
    assert runtime.eval("rawequal(map:keys(), map:keys())")
    assert runtime.eval("map:keys():concat(',')") == "b,a"


@pytest.mark.parametrize("call", ["x:dot(y)", "torch.dist(x, y)"])
def test_products_and_distances_of_floats_are_floats(runtime: lua.Runtime, call: str) -> None:
    runtime.execute("x = torch.range(1, 50):float():div(7) y = torch.range(3, 52):float():div(9)")
    value = runtime.eval(call)
    assert value == torch.tensor(value, dtype=torch.float32).item()


def test_lfs_sees_the_same_files(runtime: lua.Runtime, tmp_path: Path) -> None:
    for name, text in {"b.txt": "", "c.txt": "", "a.txt": "abc"}.items():
        (tmp_path / name).write_text(text)
    runtime.execute("lfs = require 'lfs'")
    found = runtime.execute(
        "local t = {} for name in lfs.dir(...) do t[#t + 1] = name end return t", str(tmp_path)
    )
    assert found == [".", "..", "a.txt", "b.txt", "c.txt"]
    assert runtime.execute("return lfs.attributes(..., 'size')", str(tmp_path / "a.txt")) == 3
    assert runtime.execute("return lfs.attributes(...).mode", str(tmp_path)) == "directory"
    assert runtime.execute("return (lfs.attributes(...))", str(tmp_path / "b")) is None
    with pytest.raises(lua.LuaError, match="cannot open"):
        runtime.execute("lfs.dir(...)", str(tmp_path / "b"))


OPTIONS = """
Train a net
   -s,--save          (default "logs")   folder
   -b,--batchSize     (default 128)      batch size
   -r,--learningRate  (default 1)        learning rate
   --model            (default vgg)      name
   -v,--verbose       talk
   --opt              (adam|sgd default sgd)
   --epochs           (0..10 default 5)
   <input>            (string)           file
"""


def test_lapp_reads_its_options(runtime: lua.Runtime) -> None:
    options = runtime.execute(
        "return require('pl.lapp')(...)",
        OPTIONS,
        ["-s", "x", "--batchSize=64", "-v", "in.txt", "--opt", "adam", "-r0.5"],
    )
    assert options == {
        "save": "x", "batchSize": 64, "learningRate": 0.5, "model": "vgg", "verbose": True,
        "opt": "adam", "epochs": 5, "input": "in.txt",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("tostring(stringx.split('a b  c'))", "{a,b,c}"),
        ("tostring(stringx.split('a,b,,c', ','))", "{a,b,,c}"),
        ("tostring(stringx.split(' a b'))", "{a,b}"),
        ("table.concat(require('pl.utils').split(' a b'), '|')", "|a|b"),
        ("tostring(stringx.split('x=y=z', '=', 2))", "{x,y=z}"),
        ("stringx.strip('  a ')", "a"),
        ("stringx.replace('a.b.c', '.', '%')", "a%b%c"),
        ("stringx.startswith('abc', 'ab') and stringx.endswith('abc', 'bc')", True),
        ("stringx.join(',', {1, 2})", "1,2"),
        ("tostring(List{1, 2, 3}:map('|x| x * 2'))", "{2,4,6}"),
        ("List{1, 2} == List{1, 2}", True),
        ("tostring(List{1, 2, 3, 4}:slice(2, -2))", "{2,3}"),
        ("tablex.deepcompare({1, {2}}, {1, {2}})", True),
        ("tablex.find({5, 6}, 6)", 2),
        ("path.join('a', 'b', '/c', 'd')", "/c/d"),
        ("path.splitext('a/b.tar.gz')", ("a/b.tar", ".gz")),
        ("path.normpath('/a/./b/../c')", "/a/c"),
        ("pretty.read(pretty.write{1, {x = 2}})", [1, {"x": 2}]),
        ("pretty.write({a = {1}}, '')", "{a={1}}"),
        ("pretty.number(1234567, 'T')", "1,234,567"),
        ("tostring(stringx.split('', ','))", "{}"),
        ("tostring(stringx.splitlines('a\\nb\\r\\nc'))", "{a,b,c}"),
        ("stringx.islower('ab1')", False),
        ("stringx.shorten('hello world', 2)", ".."),
        ("tablex.icopy({1, 2, 3}, {7, 8})", [7, 8]),
        ("tablex.move({1, 2, 3}, {7, 8})", [7, 8, 3]),
        ("tostring(List 'ab')", "{a,b}"),
        ("path.relpath('/tmp', '/tmp')", ""),
        (
            "tostring(class{_base = List, last = function(self) return self[#self] end}{1, 2})",
            "{1,2}",
        ),
        (
            "(function() local P = class() P:catch(function(_, name) return name .. '!' end)"
            " return P().x end)()",
            "x!",
        ),
        ("tostring(OrderedMap{{b = 1}, {a = 2}})", "{b=1,a=2}"),
        ("tostring(Map{a = 1})", "{a=1}"),
        ("Map{a = 1} == Map{a = 1}", True),
        ("Set{1, 2, 3} * Set{2, 3, 4} == Set{2, 3}", True),
        ("Set{1, 2, 3} ^ Set{2, 3, 4} == Set{1, 4} and Set{1} < Set{1, 2}", True),
        ("tostring(seq{1, 2, 3}:map('_ + 1'):copy())", "{2,3,4}"),
        ("seq.count_map{'a', 'b', 'a'}.a", 2),
        ("text.Template('  $a'):indent_substitute{a = 'x\\ny'}", "  x\n  y"),
        ("require('pl.utils').memoize(function(x) return x .. '!' end)('a')", "a!"),
        ("require('pl.utils').quote_arg('a b')", "'a b'"),
        ("types.type(io.stdout)", "file"),
    ],
)
def test_penlight(runtime: lua.Runtime, expression: str, value: object) -> None:
    runtime.execute("require 'pl'")
    assert runtime.eval(expression) == value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("stringx.strip(3)", "argument 1 expected a 'string', got a 'number'"),
        ("stringx.ljust('a')", "argument 2 expected a 'number', got a 'nil'"),
        ("tablex.map(3, {1})", "argument 1:  must be callable"),
        ("path.join('a', nil)", "argument 2 expected a 'string', got a 'nil'"),
    ],
)
def test_penlight_refuses_as_the_original_does(
    runtime: lua.Runtime, call: str, message: str
) -> None:
    runtime.execute("require 'pl'")
    with pytest.raises(lua.LuaError, match=f"{message}$"):
        runtime.execute(call)


def test_penlight_s_classes_inherit(runtime: lua.Runtime) -> None:
    runtime.execute("""
        local class = require 'pl.class'
        class.Animal()
        function Animal:_init(name) self.name = name end
        function Animal:speak() return self.name .. '?' end
        class.Dog(Animal)
        function Dog:_init(name, kind) self:super(name) self.kind = kind end
        class.Pup(Dog)
        function Pup:_init(name) self:super(name, 'pup') end
    """)
    assert runtime.eval("Pup('x').name .. Pup('x').kind .. Pup('x'):speak()") == "xpupx?"
    assert runtime.eval("Pup('x'):is_a(Animal) and not Animal('x'):is_a(Dog)")


def test_tds_holds_values_outside_of_lua(runtime: lua.Runtime) -> None:
    runtime.execute("""
        tds = require 'tds'
        h = tds.Hash{a = 1, b = {1, 2}, [true] = 't', [1] = 'one'}
        h.x = torch.ones(2)
        h.x:fill(3)
    """)
    assert runtime.eval("{#h, h.a, h[true], h[1], #h.b, h.x[2]}") == [5, 1, "t", "one", 2, 3]
    assert runtime.eval("torch.deserialize(torch.serialize(h)).x[1]") == 3
    assert runtime.eval("torch.type(h.b)") == "tds.Vec"
    runtime.execute("v = tds.Vec(3, 1, 2) v:sort(function(a, b) return a < b end) v:insert(1, 'z')")
    assert runtime.eval("v:concat(',')") == "z,1,2,3"
    runtime.execute("v = tds.Vec{11, 21, 12, 22, 13}")
    runtime.execute("v:sort(function(a, b) return math.floor(a / 10) < math.floor(b / 10) end)")
    assert runtime.eval("v:concat(',')") == "13,12,11,22,21"  # as C's qsort leaves equal ones
    assert (
        runtime.eval("(function() local n = 0 for k in pairs(h) do n = n + 1 end return n end)()")
        == 5
    )


def test_nccl_sums_over_tensors(runtime: lua.Runtime) -> None:
    a, b = torch.ones(2), torch.full((2,), 2.0)
    runtime.execute("local a, b = ... require('nccl').allReduce{a, b}", a, b)
    assert torch.equal(a, torch.full((2,), 3.0)) and torch.equal(a, b)


def test_what_is_not_there_says_so_in_one_line(
    runtime: lua.Runtime, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(lua.LuaError, match="no windows"):
        runtime.require("qt")
    for package in ("gnuplot", "display"):
        runtime.execute("local p = require(...) p.plot() p.image(1)", package)
        assert capfd.readouterr().err.count("\n") == 1


OVERLOADED = """
argcheck = require 'argcheck'
f = argcheck{
   {name = 'x', type = 'number'}, call = function(x) return 'number ' .. x end}
f = argcheck{
   {name = 'x', type = 'string'}, {name = 'y', type = 'torch.*Tensor', opt = true},
   {name = 'z', default = 7},
   overload = f, call = function(x, y, z) return x .. torch.type(y) .. z end}
again = {{name = 'n', type = 'number'}, overload = f, call = function(n) return 'again ' .. n end}
method = argcheck{
   {name = 'self', type = 'table'}, {name = 'k', type = 'number'},
   call = function(self, k) return k end}
"""


def test_argcheck_chooses_among_sets_of_rules(runtime: lua.Runtime) -> None:
    runtime.execute(OVERLOADED)
    assert runtime.eval("f(1)") == runtime.eval("f{x = 1}") == "number 1"
    assert runtime.eval("f('a')") == "anil7"
    assert runtime.eval("f('a', torch.IntTensor(1))") == "atorch.IntTensor7"
    assert runtime.eval("f('a', nil, 8)") == runtime.eval("f{x = 'a', z = 8}") == "anil8"
    assert runtime.eval("method({}, {k = 3})") == runtime.eval("method({}, 3)") == 3
    with pytest.raises(
        lua.LuaError, match=r"(?s)x = string.*Got:\* \*\*boolean.*invalid arguments!"
    ):
        runtime.execute("f(true)")


def test_argcheck_refuses_ambiguous_rules_unless_forced(runtime: lua.Runtime) -> None:
    runtime.execute(OVERLOADED)
    with pytest.raises(lua.LuaError, match="ambiguous"):
        runtime.execute("argcheck(again)")
    assert runtime.execute("again.force = true return argcheck(again)(5)") == "again 5"


def test_argcheck_collects_docs_and_is_quiet_if_asked(runtime: lua.Runtime) -> None:
    text, passed, given = runtime.execute(
        "local doc = require 'argcheck.doc' doc.record() local check = require 'argcheck'{"
        "quiet = true, doc = 'Takes (@ARGP).', {name = 'a', type = 'number'}, "
        "{name = 'b', default = 2}}"
        "return doc.stop(), check(1)"
    )[:3]
    assert (text, passed, given) == ("Takes (a[, b]).", True, 1)


CLASSES = """
class = require 'class'
A = class('A')
function A:__init(n) self.n = n end
function A:get() return self.n end
B, parent = class.new('B', 'A')
function B:__init(n) A.__init(self, n + 1) end
"""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("B(4):get()", 5),
        ("A.new(2).n", 2),
        ("class('C', 'A')(1).n == nil", True),  # a constructor is not inherited
        ("parent == class.metatable('A') and getmetatable(B(1)) == class.metatable('B')", True),
        ("class.type(B(1)) .. class.type(1) .. class.type({})", "Bnumbertable"),
        (
            "class.istype(B(1), 'A') and not class.istype(A(1), 'B') and class.istype(1, 'number')",
            True,
        ),
        ("class.istype(torch.ones(1), 'torch.DoubleTensor')", True),
        ("require('argcheck'){{name = 'a', type = 'A'}, call = A.get}(B(1))", 2),
        ("class.factory('B').n == nil and class.metatable('Z') == nil", True),
    ],
)
def test_package_class(runtime: lua.Runtime, expression: str, value: object) -> None:
    runtime.execute(CLASSES)
    assert runtime.eval(expression) == value


def test_package_class_refuses_what_exists_and_what_does_not(runtime: lua.Runtime) -> None:
    runtime.execute(CLASSES)
    for line, error in {
        "class('A')": "already exists",
        "class('D', 'Nope')": "parent class <Nope> does not exist",
        "class.factory('Nope')": "unknown class <Nope>",
    }.items():
        with pytest.raises(lua.LuaError, match=error):
            runtime.execute(line)


def test_an_object_that_lua_has_let_go_of_is_not_taken_for_another(runtime: lua.Runtime) -> None:
    class Kept:
        pass

    kept = Kept()
    wrong = runtime.execute(
        """
        local raw, kept, fresh, is_kept = torch._t7.call, ...
        local wrong = 0
        for _ = 1, 60000 do
           fresh()
           if not is_kept(kept()) then wrong = wrong + 1 end
        end
        return wrong
        """,
        lambda: kept,
        lambda: Kept(),
        lambda value: value is kept,
    )
    assert wrong == 0


BITS = """
local bit32, lines = ..., {}
for _, x in ipairs{0, 1, 255, 2^31, 2^32 - 1, -1, 2^32 + 5, 123456789} do
   for _, n in ipairs{0, 1, 5, 31, 32, 33, -1, -7} do
      for _, name in ipairs{'lshift', 'rshift', 'arshift', 'lrotate', 'rrotate'} do
         lines[#lines + 1] = ('%.0f'):format(bit32[name](x, n))
      end
   end
   for _, name in ipairs{'band', 'bor', 'bxor', 'bnot'} do
      lines[#lines + 1] = ('%.0f'):format(bit32[name](x, 0xff00ff))
   end
   lines[#lines + 1] = ('%.0f'):format(bit32.replace(x, 5, 8, 4))
   lines[#lines + 1] = ('%.0f %s'):format(bit32.extract(x, 4, 8), tostring(bit32.btest(x, 1)))
end
return table.concat(lines, ' ')
"""


def test_bit32_is_that_of_lua52(runtime: lua.Runtime) -> None:
    lua52 = pytest.importorskip("lupa.lua52").LuaRuntime()
    wanted = lua52.eval(f"(function(...) {BITS} end)(bit32)")
    assert runtime.execute(BITS.replace("...,", "require 'bit32',", 1)) == wanted


def test_penlight_brings_what_later_luas_have(runtime: lua.Runtime) -> None:
    runtime.execute("compat, pl = require 'pl.compat', require 'pl.import_into'()")
    assert runtime.eval("table.pack(1, nil).n") == 2
    assert runtime.eval("package.searchpath('a.b', '/nowhere/?.lua')") == (
        None,
        "\n\tno file '/nowhere/a/b.lua'",
    )
    assert runtime.eval("compat.load('return x', 'chunk', 't', {x = 3})()") == 3
    refused = "attempt to load a text chunk (mode is 'b')"
    assert runtime.eval("select(2, compat.load('return 1', 'chunk', 'b'))") == refused
    assert runtime.eval("pl.stringx == require 'pl.stringx' and pl.nothing == nil")


def test_pictures_of_an_installation_are_found(runtime: lua.Runtime, tmp_path: Path) -> None:
    with pytest.raises(lua.LuaError, match="no picture comes along"):
        runtime.execute("require('image').lena()")
    (tmp_path / "image" / "assets").mkdir(parents=True)
    (tmp_path / "image" / "init.lua").write_text("error('ours is taken')")
    runtime.execute(
        "package.path = ... .. '/?/init.lua;' .. package.path "
        "image.save(... .. '/image/assets/fabio.jpg', torch.ones(1, 4, 5))",
        str(tmp_path),
    )
    assert runtime.eval("image.fabio():sum()") == 20


@pytest.mark.needs("h5py")
def test_tensors_in_hdf5_files(runtime: lua.Runtime, tmp_path: Path) -> None:
    got = runtime.execute(
        """
        require 'hdf5'
        local path = ...
        local file = hdf5.open(path, 'w')
        local options = hdf5.DataSetOptions():setChunked(2, 2)
        file:write('/g/x', torch.range(1, 6):resize(3, 2):float(), options)
        file:append('g/x', torch.FloatTensor(1, 2):fill(9))
        file:write('/', {n = {y = torch.LongTensor{1, 2}}})
        file:close()
        file = hdf5.HDF5File.open(path, 'r')
        local x = file:read('/g/x')
        local all = file:all()
        local ok, message = pcall(function() file:read('z') end)
        return {torch.typename(file), torch.typename(x), torch.typename(x:all()), x:dataspaceSize(),
                x:partial({3, 4}, 2), all.n.y, torch.typename(file:read('g')), message}
        """,
        str(tmp_path / "x.h5"),
    )
    assert got[:4] == ["hdf5.HDF5File", "hdf5.HDF5DataSet", "torch.FloatTensor", [4, 2]]
    assert got[4].tolist() == [[6], [9]] and got[5].tolist() == [1, 2]
    assert got[6] == "hdf5.HDF5Group" and "datapath is 'z'" in got[7]


def test_lbfgs_tells_what_torch7_s_tells(
    runtime: lua.Runtime, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime.execute(
        """
        require 'optim'
        local function f(x) return x:dot(x), x * 2 end
        optim.lbfgs(f, torch.Tensor{3, 4}, {verbose = true})
        """
    )
    runtime.flush()
    assert capfd.readouterr().out.splitlines() == [
        "<optim.lbfgs> \tcreating recyclable direction/step/history buffers",
        "<optim.lbfgs> \toptimality condition below tolFun",
    ]


def test_files_of_packages_have_come_with_them(runtime: lua.Runtime) -> None:
    runtime.execute("require 'nn' require 'optim'")
    assert runtime.execute("return require 'nn.Jacobian', require 'optim.sgd'") == (True, True)
    assert runtime.eval("pcall(require, 'nn.Nothing')")[0] is False
