"""Functions of Lua's libraries and of packages beside Torch7's; ``table`` has the words."""

from __future__ import annotations

from compat.port.library.table import Rules

_LINES = """
math.floor t         lua.package("math").floor({1})
math.floor|ceil      math.{name}({1}) -> i
math.log xx          math.log({1}, {2}) -> n
math.sqrt|exp|log|log10|sin|cos|tan|tanh|atan|asin|acos math.{name}({1}) -> n
math.atan2           math.atan2({1}, {2}) -> n
math.fmod            math.fmod({1}, {2}) -> ?
math.pow             -> ?
math.ldexp           -> n
math.max|min         {name}({*}) -> ?
math.abs             abs({1}) -> ?
math.deg             math.degrees({1}) -> n
math.rad             math.radians({1}) -> n
math.random          lua.random({*}) -> ?
math.randomseed      lua.randomseed({1}) -> nil
math.modf            lua.modf({1}) -> i,n
math.frexp           -> n,i
string.upper|lower   {1.}.{name}() -> s
string.len           len({1}) -> i
string.reverse       {1.}[::-1] -> s
string.char|format   lua.{name}({*}) -> s
string.find          lua.find({*})#? -> i|nil,i|nil
string.match         lua.match({*})#? -> s|nil
string.gmatch        lua.gmatch({*}) -> function
string.gsub          lua.gsub({*}) -> s,i
string.byte          lua.byte({*})#? -> i|nil
string.split         lua.split({1}, {2}) -> list of s
string.rep xx        {1.} * {2w}
string.rep xxs       {3.}.join([{1}] * {2u})
string.rep|sub       -> s
stringx.split x      {1.}.split()
stringx.split xx     lua.parts({1}, {2})
stringx.split        -> list of s
stringx.strip x      {1.}.strip()
stringx.strip xx     {1.}.strip({2})
stringx.startswith|endswith {1.}.{name}({2}) -> b
stringx.replace xxx  {1.}.replace({2}, {3})
stringx.replace xxxx {1.}.replace({2}, {3}, {4w})
stringx.join|lstrip|rstrip|strip|replace -> s
table.sort I|N|S     {1.}.sort()
table.sort           lua.sort({*}) -> nil
table.concat S       "".join({1})
table.concat Ss      {2.}.join({1})
table.concat I       "".join(map(str, {1}))
table.concat Is      {2.}.join(map(str, {1}))
table.concat         lua.concat({*}) -> s
table.getn           len({1}) -> i
table.pack           lua.pack({*})
table.maxn           lua.maxn({1})
table.insert Lx      {1.}.append({2})
table.insert Lxx     {1.}.insert({2i}, {3})
table.insert         lua.insert({*}) -> nil
table.remove         lua.remove({*}) & lua.removed({*})
tablex.insertvalues LL {1.}.__iadd__({2}) ! {1.}.extend({2}) -> x
unpack L             *{1.}#?
unpack Li            *{1.}[{2i}:]#?
unpack               lua.unpack({*})#?
table.unpack L       *{1.}#?
table.unpack Li      *{1.}[{2i}:]#?
table.unpack         lua.unpack({*})#?
next                 lua.next({*}) & lua.entry_after({*}) -> x,x
select               lua.select({*})#? -> x
print                lua.print({*}) -> nil
tostring|type        lua.{name}({1}) -> s
tonumber             lua.tonumber({*}) -> ?|nil
loadstring.value     lua.evaluate(globals(), {1}) -> loaded
loadstring           lua.loadstring(globals(), {*})#?
require              lua.require({1})
error                lua.error({*}) -> nil
assert               lua.check({*}) & lua.checked({*})
pcall                lua.pcall({*})#?
pairs                lua.pairs({1}) & (lua.entry_after, {1}, None) -> function,x,x
ipairs               lua.ipairs({1}) & (lua.item_after, {1}, 0) -> function,x,x
getmetatable         lua.getmetatable({1})
rawequal             lua.rawequal({*}) -> b
rawlen               lua.length({1}) -> i
rawget|setmetatable  lua.{name}({1}, {2})
rawset               lua.rawset({1}, {2}, {3})
collectgarbage       0 -> x
io.write             print({*}, sep="", end="") -> file
io.read              lua.stdin.read({*})#1 -> s|nil
io.open              lua.open({*})#1 & lua.opened({*}) -> file|nil
io.type              lua.file_type({1})
io.lines -           lua.stdin.lines()
io.lines x           lua.open({1}).lines()
io.lines xx          lua.open({1}).lines({2})
io.output             lua.output({*}) -> file
io.flush             sys.stdout.flush()
io.stdout.write      print({*}, sep="", end="")
io.popen             lua.popen({*}) -> file
io.close             {1.}.close()
os.remove            lua.succeeds(os.remove, {*}) & lua.tried(os.remove, {*}) ! pathlib.Path({1}).unlink(missing_ok=True) -> b|nil
os.rename            lua.succeeds(os.rename, {*}) & lua.tried(os.rename, {*}) ! os.rename({1}, {2}) -> b|nil
paths.mkdir          lua.succeeds(os.makedirs, {*}) & lua.tried(os.makedirs, {*}) ! os.makedirs({1}, exist_ok=True) -> b|nil
lfs.mkdir            lua.succeeds(os.mkdir, {*}) & lua.tried(os.mkdir, {*}) ! os.makedirs({1}, exist_ok=True) -> b|nil
path.mkdir           lua.succeeds(os.mkdir, {*}) & lua.tried(os.mkdir, {*}) ! os.makedirs({1}, exist_ok=True)
os.exit i(x|)        sys.exit({1}) -> nil
os.exit n(x|)        sys.exit(int({1})) -> nil
os.exit b(x|)        sys.exit(not {1u}) -> nil
os.exit              sys.exit({*}) -> nil
os.clock             time.process_time() -> n
os.time              lua.time({*}) -> i
os.date              lua.date({*}) -> s
os.tmpname           lua.tmpname() -> s
os.getenv.setting    lua.setting({1}, {2})
os.getenv            os.environ.get({1}) -> s|nil
os.execute           os.system({1}) -> ?
path.join            os.path.join({*}) -> s
path.exists|isfile|isdir os.path.{name}({1}) -> b
path.basename|dirname os.path.{name}({1}) -> s
paths.filep          os.path.isfile({1}) -> b
paths.dirp           os.path.isdir({1}) -> b
paths.dirname        os.path.dirname({1.}.rstrip("/")) or "." -> s
paths.basename x     os.path.basename({1.}.rstrip("/"))
paths.basename       -> s
paths.concat -       os.getcwd()
paths.concat         os.path.abspath(os.path.join({*})) -> s
paths.thisfile -     os.path.abspath(__file__)
paths.thisfile|tmpname|home -> s
paths.extname        -> s|nil
paths.cwd            os.getcwd() -> s
paths.dir            lua.dir({1}) -> list of s
lfs.currentdir       os.getcwd() -> s
lfs.attributes       lua.attributes({*}) -> m|nil
sys.clock            time.time() -> n
sys.dirname          os.path.dirname({1}) or "." -> s
sys.execute|fexecute subprocess.getoutput({1}) -> s
sys.sleep            time.sleep({1}) -> nil
sys.tic|COLORS       -> x
sys.toc              -> n
sys.basename|concat  -> s
sys.fpath            -> s,s
lapp                 lua.lapp({*})
threads              lua.threads({*})#2
threads.Threads      lua.threads({*})#2
torch.setmetatable   lua.instance({1}, {2})
torch.factory        lua.factory({1})
torch.pointer        lua.pointer({1}) -> i
torch.isTypeOf       lua.is_type_of({1}, {2}) -> b
torch.typename t     lua.typename({1}) -> s
torch.typename       lua.typename({1}) & lua.given(lua.typename({1})) -> s|nil
torch.type           lua.type_name({1})
torch.class          -> x
class.type           lua.type_name({1})
class.factory        lua.factory({1})
class.istype         lua.istype({1}, {2}) -> b
ffi.copy             lua.copy_memory({*}) -> nil
ffi.string           lua.text_at({*}) -> s
cjson.encode s|i|I|S json.dumps({1}, separators=(",", ":"))
cjson.encode         lua.package("cjson").encode({1}) -> s
cjson.decode         json.loads({1}) -> loaded
coroutine.create|status lua.coroutine.{name}({1})
coroutine.wrap       lua.coroutine.wrap({1}) -> function
coroutine.running    lua.coroutine.running()#2
coroutine.resume     lua.coroutine.resume({*})#?
coroutine.yield      lua.coroutine.yield_({*})#?
bit.bor|band|bxor|bnot|lshift|rshift|tobit -> i
ffi.load             lua.library({*})
ffi.new|cast|gc      -> lua
ffi.sizeof           -> i
utils.split          lua.pieces({*}) -> list of s
tablex.size          -> i
tablex.deepcopy|find -> x
tds.hash|Hash|Vec    -> lua
debug.getinfo        -> x
debug.traceback      -> s
utils.printf         -> nil
nn.Jacobian.testIO   -> n,n
nn.Jacobian.testJacobian|testJacobianParameters|testJacobianUpdateParameters -> n
nn.tables.full|oneToOne|random -> t2d
nn.utils.addSingletonDimension|contiguousView -> t
nn.utils.recursiveAdd|recursiveCopy|recursiveResizeAs -> x,x
xlua.progress        -> nil
xlua.OptionParser    -> lua
xlua.formatTime      -> s
cutorch.getDeviceCount|getDevice -> i
cutorch.setDevice|synchronize|manualSeed|manualSeedAll -> nil
cutorch.getMemoryUsage -> i,i
loadcaffe.load       -> m
hdf5.open|DataSetOptions -> m
hdf5.HDF5File.open   -> m
image.load           -> t3d
image.scale|crop|hflip|vflip|rotate|rgb2yuv|gaussian|gaussian1D|toDisplayTensor|translate -> t
image.minmax|lena|rgb2y|y2jet|warp|convolve|lcn|polar|logpolar|rgb2lab|lab2rgb|yuv2rgb -> t
image.rgb2hsl|hsl2rgb|rgb2hsv|hsv2rgb|rgb2nrgb|drawText|drawRect|flip -> t
image.save           -> nil
"""  # noqa: E501, a rule is a line
FUNCTIONS = Rules(_LINES, default="x*")
