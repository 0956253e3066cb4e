"""The results of functions, methods and fields of Lua's and Torch7's packages."""

from __future__ import annotations

from compat.port.know.types import Kind, Table, Type, tensor
from compat.port.library import tensors
from compat.port.read import syntax as s

WHOLE = {"Long", "Int", "Short", "Byte", "Char"}

# "i" an int, "n" a float, "?" a number of either kind, "s" a string, "b" a boolean, "t" a tensor,
# "m" an object of compat's, "file", "list of …", "s|nil"; several with commas.
_FUNCTIONS = """
math.floor i; math.ceil i; math.sqrt n; math.exp n; math.log n; math.log10 n; math.pow ?; math.sin n
math.cos n; math.tan n; math.fmod ?; math.modf i,n; math.tanh n; math.atan n; math.atan2 n
math.max ?; math.min ?; math.abs ?; math.deg n; math.rad n; math.asin n; math.acos n; math.random ?
math.randomseed nil
string.format s; string.rep s; string.sub s; string.upper s; string.lower s; string.len i
string.byte i|nil; string.char s; string.reverse s; string.find i|nil,i|nil; string.gsub s,i
string.match s|nil; string.split list of s
tostring s; tonumber ?|nil; type s; table.concat s; table.getn i; next x,x; rawequal b; rawlen i
select x; os.time i; os.clock n; os.date s; os.getenv s|nil; os.tmpname s; io.open file|nil
io.read s|nil; os.execute ?; io.write x; print nil; error nil; table.insert nil; table.sort nil
os.exit nil; os.remove b|nil; os.rename b|nil; collectgarbage ?; io.popen file
paths.concat s; paths.filep b; paths.dirp b; paths.basename s; paths.dirname s; paths.extname s|nil
paths.mkdir b|nil; paths.cwd s; paths.tmpname s; paths.thisfile s; paths.dir list of s; paths.home s
path.join s; path.exists b; path.isfile b; path.isdir b; path.basename s; path.dirname s
lfs.mkdir b|nil; lfs.attributes m|nil; lfs.currentdir s
sys.clock n; sys.tic x; sys.toc n; sys.execute s; sys.fexecute s; sys.COLORS x; sys.basename s
sys.dirname s; sys.concat s; sys.sleep nil
nn.Jacobian.testIO n,n; nn.utils.recursiveAdd x,x; nn.utils.recursiveCopy x,x
nn.utils.recursiveResizeAs x,x; xlua.progress nil; xlua.formatTime s
ffi.copy nil; ffi.string s; torch.class x; torch.isTypeOf b; torch.pointer i
cutorch.getDeviceCount i; cutorch.getDevice i; cutorch.setDevice nil; cutorch.synchronize nil
cutorch.manualSeed nil; cutorch.manualSeedAll nil
cjson.encode s; cjson.decode loaded; cutorch.getMemoryUsage i,i
hdf5.open m; hdf5.HDF5File.open m; hdf5.DataSetOptions m
image.load t3; image.scale t; image.crop t; image.hflip t; image.vflip t; image.rotate t
image.rgb2yuv t; image.gaussian t; image.gaussian1D t; image.save nil; image.toDisplayTensor t
image.translate t; image.minmax t; image.lena t; image.rgb2y t; image.y2jet t; image.warp t
collectgarbage x; math.ldexp n; math.frexp n,i; string.gmatch function; coroutine.wrap function
stringx.split list of s; stringx.strip s; stringx.join s; stringx.replace s; stringx.lstrip s
stringx.rstrip s; stringx.startswith b; stringx.endswith b
"""

_MODULE = """
getParameters t1,t1; parameters list of t,list of t; findModules list of m,list of m; type s; size i
batchAdd nil; updateValids nil; time m; writeObject nil; readObject x; binary m; storage x
zeroGradParameters nil; updateParameters nil; share m
parse options; option nil; text nil; argument nil; log nil; string s; listModules list of m
setNames nil; style nil; plot nil; addjob nil; synchronize nil; dojob nil; terminate nil; hasjob b
acceptsjob b; read m; partial t; dataspaceSize list of i; append nil; setChunked m; setDeflate m
 resume m; stop m; reset m; loss x; remember m; forget m
"""
_SELF = {
    *("add", "insert", "float", "double", "cuda", "half", "training", "evaluate", "clearState"),
    *("clone", "setMode", "noBias", "replace", "apply", "annotate", "setNumInputDims", "ceil"),
    *("floor", "sharedClone", "threads", "fastMode", "setTarget"),
}
_ELSEWHERE = {"cl"}  # what moves tensors to devices that are not here
_NETS = {"nn.ConcatTable", "nn.gModule", "nn.ParallelTable", "nn.SplitTable", "nn.FlattenTable"}


def _spec(text: str) -> list[Type]:
    return [_one(part.strip()) for part in text.split(",")]


def _one(text: str) -> Type:
    if text.startswith("list of "):
        return Type(Kind.TABLE, table=Table(keys={"list"}, items=_one(text[8:])))
    made = Type()
    for word in text.split("|"):
        made.join(_word(word))
    return made


def _word(word: str) -> Type:
    atoms = {
        "i": Kind.INT, "n": Kind.FLOAT, "?": Kind.NUMBER, "s": Kind.STRING, "b": Kind.BOOLEAN,
        "m": Kind.MODULE, "nil": Kind.NIL, "file": Kind.FILE, "function": Kind.FUNCTION,
    }  # fmt: skip
    if word in atoms:
        return Type(atoms[word])
    if word == "options":
        made = Type(Kind.OPTIONS, table=Table(uses={"options"}))
        return made
    if word == "loaded":
        made = Type()
        made.classes = {"loaded"}
        return made
    if word.startswith("t"):
        return tensor(dims=[int(word[1:])] if word[1:] else [])
    return Type()


def _read(text: str) -> dict[str, str]:
    entries = (entry.strip() for line in text.strip().splitlines() for entry in line.split(";"))
    return dict(entry.split(" ", 1) for entry in entries if entry)


_FUNCTION_SPECS, _MODULE_SPECS = _read(_FUNCTIONS), _read(_MODULE)


def constant(path: str) -> Type:
    """Return the type of a package's field, such as ``math.pi``."""
    if path in ("math.pi", "math.huge"):
        return Type(Kind.FLOAT)
    if path == "arg":
        return Type(Kind.TABLE, table=Table(keys={"list"}, items=Type(Kind.STRING, Kind.NIL)))
    head = path.split(".")[0]
    if head in ("nn", "cudnn") and path.count(".") == 1:
        return Type(Kind.MODULE)
    return Type()


def owner_of_field(name: object) -> Type | None:
    """Return what has a field of this name, if one kind of thing alone has it."""
    return Type(Kind.MODULE) if name in _FIELDS else None


_FIELDS = {
    *("weight", "bias", "gradWeight", "gradBias", "gradInput", "running_mean", "running_var"),
    *("nInputPlane", "nOutputPlane", "sizeAverage", "modules"),
}


def owner_of(method: str, arguments: list[Type]) -> Type | None:
    """Return what has a method of this name that takes such arguments, if one kind of thing
    alone does.
    """
    kinds = "".join(map(kind_of, arguments))
    if (method in ("size", "add") and kinds == "n") or (method, kinds[:1]) == ("add", "t"):
        return tensor()
    if (method, len(kinds)) in (("size", 1), ("index", 2)) or (method, kinds) == ("add", "nt"):
        return tensor()
    if method in _ONLY_MODULES:
        return Type(Kind.MODULE)
    if method in _ONLY_STRINGS:
        return Type(Kind.STRING)
    if method in tensors.names() and method not in _BOTH:
        return tensor()
    return None


# Functions of torch that take numbers alone.
OF_NUMBERS = {
    "torch.random",
    "torch.uniform",
    "torch.normal",
    "torch.bernoulli",
    "torch.manualSeed",
}
_ONLY_MODULES = {
    *("forward", "backward", "updateOutput", "updateGradInput", "accGradParameters"),
    *("zeroGradParameters", "getParameters", "parameters", "training", "evaluate", "clearState"),
    *("findModules", "updateParameters", "forget", "remember", "setNames"),
}
# Methods of modules that scripts replace, or keep to call them with an object.
METHODS = _ONLY_MODULES | {
    *("type", "reset", "clone", "share", "__tostring__", "insert", "remove", "get", "add"),
}
_ONLY_STRINGS = {"gsub", "gmatch", "upper", "lower", "rep", "byte", "match", "find"}
# Methods of tensors, and of modules, tables or files too.
_BOTH = {
    *("add", "size", "type", "float", "double", "cuda", "half", "clone", "apply", "zero", "set"),
    *("index", "sub", "new", "sort", "split", "random", "reset", "get", "byte", "char", "all"),
}


def kind_of(kind: Type) -> str:
    """Return the letter of a type in the rules of ``tensors``.

    ``?`` where it is not known, ``o`` where it is none that they know.
    """
    if kind.is_tensor:
        return "t"
    if kind.only(Kind.MASK):
        return "t"
    if kind.is_number:
        return "n"
    if kind.is_string:
        return "s"
    if kind.only(Kind.BOOLEAN):
        return "b"
    if kind.only(Kind.TABLE):
        return "l"
    if kind.only(Kind.FUNCTION):
        return "f"
    if kind.only(Kind.SIZES):
        return "y"
    if kind.only(Kind.STORAGE):
        return "z"
    is_other = kind.only(Kind.OTHER, Kind.MODULE, Kind.OBJECT, Kind.CLASS, Kind.FILE)
    return "o" if is_other else "?"


def rule_types(result: str, subject: list[Type], arguments: list[Type]) -> list[Type]:
    """Return the types that a rule's ``->`` names. ``subject``: the tensor of a method."""
    return [_rule_type(part, [*subject, *arguments], bool(subject)) for part in result.split(",")]


def _rule_type(word: str, operands: list[Type], is_method: bool) -> Type:
    first = operands[0] if operands else Type()
    if word == "=":
        return first
    if word == "i":
        return Type(Kind.INT)
    if word in ("n", "?"):
        return Type(Kind.FLOAT if word == "n" else Kind.NUMBER)
    if word == "b":
        return Type(Kind.BOOLEAN)
    if word in ("s", "s?"):
        return Type(Kind.STRING) if word == "s" else Type(Kind.STRING, Kind.NIL)
    if word == "y":
        return Type(Kind.SIZES)
    if word == "p":
        return Type(Kind.POINTER)
    if word == "z":
        return Type(Kind.STORAGE)
    if word == "m":
        return Type(Kind.MODULE)
    if word == "mask":
        return Type(Kind.MASK)
    if word == "index":
        return tensor(["Long"], first.dims if first.is_tensor else [])
    if word == "l":
        items = tensor(first.dtypes, first.dims)
        return Type(Kind.TABLE, table=Table(keys={"list"}, items=items))
    if word == "list":
        items = Type(Kind.FLOAT) if first.dims == {1} else Type()
        return Type(Kind.TABLE, table=Table(keys={"list"}, items=items))
    if word == "t=":
        return tensor(first.dtypes, first.dims)
    if word in ("t-", "t+"):
        step = -1 if word == "t-" else 1
        dims = {d + step if d > 0 else -1 for d in first.dims}
        return Type() if dims & {0} and dims != {0} else _sized(first.dtypes, dims)
    if word == "t*":
        numbers = operands[1:] if is_method else operands
        count = sum(1 for o in numbers if o.is_number)
        dtypes = first.dtypes if first.is_tensor else set()
        return tensor(dtypes, [count] if count and count == len(numbers) else [])
    if word.startswith("t") and word[1:].isdigit():
        other = operands[int(word[1:]) - (0 if is_method else 1)]
        return tensor(other.dtypes, other.dims)
    if word.endswith("d") and word[1:-1].isdigit():
        return tensor(first.dtypes if first.is_tensor else [], [int(word[1:-1])])
    if word == "t":
        return tensor(first.dtypes if first.is_tensor else [])
    if word.startswith("t"):
        own = [] if word == "t~" else [word[1:]]
        return tensor(own, first.dims if first.is_tensor else [])
    return Type()


def _sized(dtypes: set[str], dims: set[int]) -> Type:
    return Type(Kind.FLOAT) if dims == {0} else tensor(dtypes, dims)


# Views that do not go through their elements in the order of the memory.
_STRIDED = {"t", "transpose", "permute", "expand", "expandAs", "unfold"}


def tensor_method(owner: Type, node: s.Call, arguments: list[Type]) -> list[Type]:
    """Return the types of what ``x:method(…)`` gives."""
    assert node.method is not None
    rule = method_rule(node.method, arguments)
    if rule is None:
        is_tensor = tensors.gives_tensor("methods", node.method)
        if node.method in _ELSEWHERE:
            return [tensor(owner.dtypes, owner.dims)]
        return [tensor(owner.dtypes) if is_tensor else Type()]
    found = rule_types(rule.result, [owner], arguments)
    if node.method in _STRIDED and found[0] is not owner:
        found[0].strided = True
    return found


def method_rule(name: str, arguments: list[Type]) -> tensors.Rule | None:
    """Return the rule for ``x:name(arguments)``."""
    return tensors.method(name, "".join(map(kind_of, arguments)))


def module_method(owner: Type, name: str, arguments: list[Type]) -> list[Type]:
    """Return the types of what a method of an object of compat's gives."""
    if name == "type" and arguments and owner.only(Kind.MODULE):
        return [owner]  # moved to that type; without an argument it tells its own
    if name in _MODULE_SPECS:
        return _spec(_MODULE_SPECS[name])
    if name in _SELF:
        return [owner]
    if name == "get":
        return [Type(Kind.MODULE)]
    known = next(iter(owner.classes)) if len(owner.classes) == 1 else ""
    if gives_total(owner, name):
        return [Type(Kind.FLOAT), Type(Kind.FLOAT)]
    if name in ("forward", "updateOutput") and known.endswith("Criterion"):
        return [Type(Kind.FLOAT)]
    if name in ("forward", "backward", "updateOutput", "updateGradInput"):
        return [_result(owner)]
    return [Type()]


def _result(owner: Type) -> Type:
    """Return the type of what a pass through a net gives."""
    made = tensor() if owner.classes and not owner.classes & _NETS else Type()
    made.buffer = True
    return made


# Their ``forward`` gives the total weight of the targets after the loss.
_WITH_TOTAL = {"nn.ClassNLLCriterion", "nn.SpatialClassNLLCriterion"}


def gives_total(owner: Type, method: str | None) -> bool:
    """Return whether a call of a criterion's method gives two numbers."""
    is_pass = method in ("forward", "updateOutput") and owner.only(Kind.MODULE)
    return is_pass and bool(owner.classes) and owner.classes <= _WITH_TOTAL


def of_object(owner: Type, count: int) -> list[Type]:
    """Return the types of the results of an object of compat's, called with ``count`` arguments.

    A criterion gives what both its passes give, all else a node of a graph.
    """
    if count_of_object(owner, count) == 1:
        return [Type(Kind.MODULE)]
    if not owner.classes:
        return [Type()]
    return [Type(Kind.FLOAT), _result(owner)]


def count_of_object(owner: Type, count: int) -> int | None:
    """Return how many values an object of compat's gives that is called; None if that is open."""
    if count != 2:
        return 1
    are_criterions = {name.endswith("Criterion") for name in owner.classes}
    return 2 if are_criterions == {True} else 1 if are_criterions == {False} else None


def module_count(name: str) -> int | None:
    """Return how many values a method of an object of compat's gives; None if that is not known."""
    if name in _MODULE_SPECS:
        return len(_MODULE_SPECS[name].split(","))
    return 1 if name in _SELF or name in _ONLY_MODULES else None


# What recurrent modules hold under the numbers of steps, here too.
BY_STEP = {"outputs", "cells", "gradCells", "_gradOutputs", "sharedClones"}
_NODES = {"nngraph.Node", "graph.Node", "annotations"}


def field(owner: Type, name: str) -> Type:
    """Return the type of a field of an object of compat's."""
    if name in ("weight", "bias", "gradWeight", "gradBias"):
        return tensor()
    if name in ("output", "gradInput"):
        return _result(owner)
    if owner.classes and owner.classes <= _NODES and name in ("data", "annotations"):
        made = Type(Kind.MODULE)
        made.classes = {"annotations"}
        return made
    if name == "name" and owner.classes == {"annotations"}:
        return Type(Kind.STRING, Kind.NIL)
    if name == "annotations" and owner.classes == {"annotations"}:
        return owner
    if name in ("modules", "children"):
        return _one("list of m")
    if name in BY_STEP:
        return Type(Kind.TABLE, table=Table(keys={"other"}, uses={"sparse"}))
    if name in ("train", "inplace"):
        return Type(Kind.BOOLEAN)
    if name in ("real", "user", "sys"):
        return Type(Kind.FLOAT)
    if name in ("totalValid", "averageValid", "p"):
        return Type(Kind.FLOAT)
    return Type()


def file_method(node: s.Call) -> list[Type]:
    """Return the types of what a method of a file gives."""
    if node.method == "read":
        return [Type(Kind.STRING, Kind.NIL)]
    if node.method == "lines":
        return [Type(Kind.FUNCTION)]
    return [Type()]


# Functions and methods of tensors that give more than one value, by what they are given.
SEVERAL = {
    *("svd", "symeig", "eig", "gesv", "gels", "trtrs", "qr", "geqrf", "kthvalue", "pstrf"),
    *("max", "min", "median", "mode", "sort", "topk"),
}


def is_method(name: str) -> bool:
    """Return whether something of Lua's or Torch7's has a method of this name."""
    return (
        name in tensors.names() | _SELF | METHODS | _ONLY_STRINGS | _BOTH or name in _MODULE_SPECS
    )


def is_of_module(name: str) -> bool:
    """Return whether objects of compat's have a method or field of this name."""
    return name in _SELF | METHODS | _FIELDS or name in _MODULE_SPECS


def gives_one(method: str) -> bool:
    """Return whether a method of this name gives one value, whatever kind of Torch7's things has
    it.
    """
    of_tensors = method in tensors.names() and method not in SEVERAL
    return of_tensors or module_count(method) == 1


def count(path: str, node: s.Call) -> int | None:
    """Return how many values a function gives; None if that is not known."""
    if path in _FUNCTION_SPECS:
        spec = _FUNCTION_SPECS[path]
        if path == "select":
            first = node.arguments[0] if node.arguments else None
            return 1 if isinstance(first, s.Constant) and first.value == "#" else None
        if path in ("string.find", "string.match", "string.byte", "io.read", "io.open"):
            return None
        return 0 if spec == "nil" else len(spec.split(","))
    if path.startswith("optim."):
        return 1 if path in ("optim.Logger", "optim.ConfusionMatrix") else 2
    head, _, name = path.partition(".")
    if head == "torch":
        if name in ("max", "min", "median", "mode", "sort", "topk", "kthvalue"):
            return 1 if name in ("max", "min") and len(node.arguments) == 1 else 2
        return None if name in SEVERAL else 1
    if head == "cutorch":
        return 1 if name.startswith("create") else None
    if head in ("nn", "cudnn", "nngraph", "image", "math", "string"):
        return 1
    return 1 if path in ("rawget", "setmetatable", "getmetatable") else None


def function(path: str, node: s.Call, arguments: list[Type]) -> list[Type] | None:
    """Return the types of what a function of a package gives; None if it is not known."""
    if path in ("math.max", "math.min", "math.abs"):
        joined = Type()
        for kind in arguments:
            joined.join(kind)
        return [joined if joined.is_number else Type(Kind.NUMBER)]
    if path == "select":
        first = node.arguments[0] if node.arguments else None
        is_count = isinstance(first, s.Constant) and first.value == "#"
        return [Type(Kind.INT) if is_count else Type()]
    if path == "os.date" and arguments:
        form = node.arguments[0]
        if isinstance(form, s.Constant) and str(form.value).lstrip("!") == "*t":
            return [Type(Kind.TABLE, table=_date())]
    if path == "xlua.envparams" and arguments:
        return arguments[:1]
    if path == "math.random":
        return [Type(Kind.INT if arguments else Kind.FLOAT)]
    if path in ("math.floor", "math.ceil") and arguments and arguments[0].is_tensor:
        return [Type()]
    if path in _FUNCTION_SPECS:
        return _spec(_FUNCTION_SPECS[path])
    head, _, name = path.partition(".")
    if head == "torch":
        return _torch(name, arguments)
    if head in ("nn", "cudnn"):
        made = Type(Kind.MODULE)
        made.classes = {path}
        return [made]
    if head == "optim":
        if name[:1].isupper():
            return [Type(Kind.MODULE)]
        return [tensor(dims=[1]), _one("list of n")]
    if head in ("threads", "Threads"):
        return [Type(Kind.MODULE)]
    return None


def _date() -> Table:
    """Return what ``os.date('*t')`` gives."""
    made = Table(keys={"name"})
    for name in ("year", "month", "day", "hour", "min", "sec", "wday", "yday"):
        made.name(name).join(Type(Kind.INT))
    made.name("isdst").join(Type(Kind.BOOLEAN))
    made.always |= set(made.names)
    return made


def torch_rule(name: str, arguments: list[Type]) -> tuple[tensors.Rule, bool] | None:
    """Return the rule for ``torch.name(arguments)``, and whether the first of them is the
    result.
    """
    kinds = "".join(map(kind_of, arguments))
    rule = tensors.function(name, kinds)
    if rule is not None:
        return rule, False
    if kinds.startswith("t") and name in tensors.WITH_RESULT:
        rule = tensors.function(name, kinds[1:])
        if rule is not None:
            return rule, True
    return None


def _torch(name: str, arguments: list[Type]) -> list[Type]:
    if name.endswith("Tensor") and name != "isTensor":
        kind = name.removesuffix("Tensor").replace("Cuda", "")
        dims: list[int] = []
        if arguments and all(a.is_number for a in arguments):
            dims = [len(arguments)]
        elif len(arguments) == 1 and arguments[0].only(Kind.TABLE):
            depth, shape = 1, arguments[0].shape
            while shape is not None and shape.items.only(Kind.TABLE):
                depth, shape = depth + 1, shape.items.shape
            dims = [depth] if shape is not None and shape.items.is_number else []
        return [tensor([kind] if kind else ["Default"], dims)]
    if name == "LongStorage" and all(a.only(Kind.TABLE) or a.is_number for a in arguments):
        return [Type(Kind.SIZES)]
    if name.endswith("Storage"):
        return [Type(Kind.STORAGE)]
    if name in ("load", "deserialize"):
        return [_word("loaded")]
    if name in ("MemoryFile", "DiskFile", "PipeFile", "CmdLine", "Timer"):
        return [Type(Kind.MODULE)]
    if name == "Generator":
        return [Type(Kind.OTHER)]
    found = torch_rule(name, arguments)
    if found is None:
        return [tensor() if tensors.gives_tensor("functions", name) else Type()]
    rule, has_result = found
    if has_result:
        return [arguments[0]]
    return rule_types(rule.result, [], arguments)
