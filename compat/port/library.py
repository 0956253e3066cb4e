"""Calls of Lua's and Torch7's functions and methods in Python."""

from __future__ import annotations

import importlib
import inspect
import keyword
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from compat.port import code, patterns, results, tensors
from compat.port import syntax as s
from compat.port.code import Code
from compat.port.scopes import PACKAGES
from compat.port.types import Type

if TYPE_CHECKING:
    from compat.port.expressions import Expressions

_VALUES = {
    "math.pi": "math.pi",
    "math.huge": "math.inf",
    "_G": "globals()",
    "__threadid": "lua.threadid()",
    "arg": "sys.argv[1:]",
    **{
        f"coroutine.{n}": f"lua.coroutine.{n}"
        for n in ("create", "resume", "status", "wrap", "yield_")
    },
    "require": "lua.require",
    "select": "lua.select",
    "next": "lua.next",
    "assert": "lua.check",
    "setmetatable": "lua.setmetatable",
    "getmetatable": "lua.getmetatable",
    "rawget": "lua.rawget",
    "rawset": "lua.rawset",
    "_VERSION": '"Lua 5.1"',
    "jit": "None",
    "print": "lua.print",
    "tostring": "lua.tostring",
    "tonumber": "lua.tonumber",
    "type": "lua.type",
    "error": "lua.error",
    "pcall": "lua.pcall",
    "ipairs": "lua.ipairs",
    "pairs": "lua.pairs",
    "unpack": "lua.unpack",
    "io.stdout": "lua.stdout",
    "io.stderr": "lua.stderr",
    "io.stdin": "lua.stdin",
    "math.max": "max",
    "math.min": "min",
    "math.random": "lua.random",
    "math.randomseed": "lua.randomseed",
    "math.abs": "abs",
    "sys.COLORS": "lua.COLORS",
    "ffi.os": "lua.SYSTEM",
    **{
        f"math.{n}": f"math.{n}"
        for n in ("floor", "ceil", "sqrt", "exp", "log", "sin", "cos", "tan")
    },
}
_PYTHON = {"nn", "optim", "cudnn", "cutorch", "xlua", "image", "nngraph", "graph"}

# What becomes of a call: arguments are numbered from 1, ``{*}`` is all of them.
_TEMPLATES = {
    "math.ceil": "math.ceil({1})",
    "math.sqrt": "math.sqrt({1})",
    "math.exp": "math.exp({1})",
    "math.log": "math.log({1})",
    "math.log10": "math.log10({1})",
    "math.sin": "math.sin({1})",
    "math.cos": "math.cos({1})",
    "math.tan": "math.tan({1})",
    "math.tanh": "math.tanh({1})",
    "math.atan": "math.atan({1})",
    "math.atan2": "math.atan2({1}, {2})",
    "math.asin": "math.asin({1})",
    "math.acos": "math.acos({1})",
    "math.fmod": "math.fmod({1}, {2})",
    "math.abs": "abs({1})",
    "math.max": "max({*})",
    "math.min": "min({*})",
    "math.deg": "math.degrees({1})",
    "math.rad": "math.radians({1})",
    "math.random": "lua.random({*})",
    "math.randomseed": "lua.randomseed({1})",
    "math.modf": "lua.modf({1})#2",
    "string.upper": "{1.}.upper()",
    "string.lower": "{1.}.lower()",
    "string.len": "len({1})",
    "string.reverse": "{1.}[::-1]",
    "string.rep": "{1.} * {2.}",
    "string.char": "lua.char({*})",
    "string.find": "lua.find({*})#?",
    "string.match": "lua.match({*})#?",
    "string.gmatch": "lua.gmatch({*})",
    "string.gsub": "lua.gsub({*})#2",
    "string.byte": "lua.byte({*})#?",
    "string.split": "{1.}.split({2})",
    "string.format": "lua.format({*})",
    "table.sort": "lua.sort({*})",
    "table.concat": "lua.concat({*})",
    "table.getn": "len({1})",
    "table.maxn": "lua.length({1})",
    "table.insert": "lua.insert({*})",
    "table.remove": "lua.remove({*})",
    "unpack": "lua.unpack({*})#?",
    "table.unpack": "lua.unpack({*})#?",
    "type": "lua.type({1})",
    "tonumber": "lua.tonumber({*})",
    "error": "lua.error({*})",
    "assert": "lua.check({*})#?",
    "next": "lua.next({*})#2",
    "pairs": "lua.pairs({1})",
    "ipairs": "lua.ipairs({1})",
    "select": "lua.select({*})#?",
    "rawequal": "{1.} is {2.}",
    "rawget": "lua.rawget({1}, {2})",
    "rawset": "lua.rawset({1}, {2}, {3})",
    "setmetatable": "lua.setmetatable({1}, {2})",
    "getmetatable": "lua.getmetatable({1})",
    "collectgarbage": "0",
    "io.write": 'print({*}, sep="", end="")',
    "io.read": "lua.stdin.read({*})#1",
    "io.open": "lua.open({*})#1",
    "io.lines": "lua.open({1}).lines()",
    "io.flush": "sys.stdout.flush()",
    "io.stdout.write": 'print({*}, sep="", end="")',
    "os.tmpname": "lua.tmpname()",
    "io.close": "{1.}.close()",
    "os.exit": "sys.exit({*})",
    "os.clock": "time.process_time()",
    "os.time": "lua.time({*})",
    "os.date": "lua.date({*})",
    "os.getenv": "os.environ.get({1})",
    "os.execute": "os.system({1})",
    "os.remove": "pathlib.Path({1}).unlink(missing_ok=True)",
    "os.rename": "os.rename({1}, {2})",
    "paths.concat": "os.path.join({*})",
    "path.join": "os.path.join({*})",
    "paths.filep": "os.path.isfile({1})",
    "paths.dirp": "os.path.isdir({1})",
    "path.exists": "os.path.exists({1})",
    "path.isfile": "os.path.isfile({1})",
    "path.isdir": "os.path.isdir({1})",
    "path.basename": "os.path.basename({1})",
    "path.dirname": "os.path.dirname({1})",
    "path.mkdir": "os.makedirs({1}, exist_ok=True)",
    "paths.dirname": "os.path.dirname({1})",
    "paths.mkdir": "os.makedirs({1}, exist_ok=True)",
    "lfs.mkdir": "os.makedirs({1}, exist_ok=True)",
    "paths.cwd": "os.getcwd()",
    "lfs.currentdir": "os.getcwd()",
    "lfs.attributes": "lua.attributes({*})",
    "threads": "lua.threads({*})#2",
    "threads.Threads": "lua.threads({*})#2",
    "torch.setmetatable": "lua.instance({1}, {2})",
    "ffi.copy": "lua.copy_memory({*})",
    "ffi.string": "lua.text_at({*})",
    "torch.pointer": "lua.pointer({1})",
    "paths.dir": "lua.files({1})",
    "sys.clock": "time.time()",
    "sys.dirname": "os.path.dirname({1})",
    "sys.execute": "subprocess.getoutput({1})",
    "sys.fexecute": "subprocess.getoutput({1})",
    "sys.sleep": "time.sleep({1})",
    "torch.isTypeOf": "lua.is_type_of({1}, {2})",
    "torch.typename": "lua.typename({1})",
    "torch.type": "lua.type_name({1})",
    "coroutine.create": "lua.coroutine.create({1})",
    "coroutine.wrap": "lua.coroutine.wrap({1})",
    "coroutine.status": "lua.coroutine.status({1})",
    "coroutine.resume": "lua.coroutine.resume({*})#?",
    "coroutine.yield": "lua.coroutine.yield_({*})#?",
    "stringx.split": "{1.}.split({2})",
    "stringx.strip": "{1.}.strip()",
    "stringx.startswith": "{1.}.startswith({2})",
    "stringx.endswith": "{1.}.endswith({2})",
    "stringx.replace": "{1.}.replace({2}, {3})",
}
_EMPTY_ARGUMENTS = re.compile(r"\(, ")


def value(path: str, ex: Expressions) -> Code:
    """A function or other value of a package that is not called."""
    if path in _VALUES:
        return Code(_VALUES[path])
    head, _, name = path.partition(".")
    if not name and head in _PYTHON | {"torch", "threads"}:
        return Code(path)
    if head in _PYTHON and has(head, name):
        return Code(path)
    if path.startswith("sys.COLORS."):
        return Code(f"lua.COLORS.{name.removeprefix('COLORS.')}")
    if head == "torch" and name in tensors.names("functions"):
        return Code(f"lua.torch.{name}")
    if head == "torch" and has("torch", name):
        return Code(f"torch7.{name}")
    if "." not in path and path not in _LUA:
        ex.mark(f"{path} is set nowhere", "globals")
        return Code("None")
    return original(path, ex)


_LUA = {
    *("dofile", "gcinfo", "getfenv", "load", "loadfile", "loadstring", "module", "newproxy"),
    *("setfenv", "xpcall", "lapp", "class", "rawequal", "collectgarbage", "coroutine", "unpack"),
    *("_G", "who", "import", "log", "__threadid"),
    *PACKAGES,
}


def package(name: str) -> str:
    """The object that stands for a package."""
    if name == "torch":
        return "lua.torch"
    return name if name in _PYTHON else f'lua.package("{name}")'


def original(path: str, ex: Expressions) -> Code:
    """A function that only the Lua runtime has."""
    head, _, name = path.partition(".")
    if head not in ("math", "string", "table", "os", "io"):
        ex.mark(f"{path} is Lua's own", "packages")
    package, name = (head, name) if name else ("_G", head)
    if any(keyword.iskeyword(part) for part in name.split(".")):
        return Code(f'getattr(lua.package("{package}"), "{name}")')
    return Code(f'lua.package("{package}").{name}')


def has(package: str, name: str) -> bool:
    """Whether a module of compat has a name."""
    if (package, name.split(".")[0]) == ("nn", "DataParallelTable"):
        return True  # dptable brings it
    module: Any = importlib.import_module(f"compat.{package}")
    for part in name.split("."):
        try:
            module = getattr(module, part)
        except AttributeError:
            return False
    return True


# Functions ----------------------------------------------------------------------------------------


def function(path: str, node: s.Call, ex: Expressions) -> Code:
    """``path(arguments)``."""
    special = _SPECIAL.get(path)
    if special is not None:
        made = special(node, ex)
        if made is not None:
            return made
    if path in _TEMPLATES:
        template = _TEMPLATES[path]
        if "{*}" in template:
            return _filled(template, ex.arguments(node))
        return _filled(template, [ex.value(a) for a in node.arguments])
    head, _, name = path.partition(".")
    if path.removeprefix("threads.") in ("serialization", "Threads.serialization"):
        return code.call("Threads.serialization", *ex.arguments(node))
    if head == "torch" and name:
        return _torch(name, node, ex)
    if head in _PYTHON and name:
        if has(head, name):
            return _of_package(path, node, ex)
        ex.mark(f"{path} has no counterpart", "packages")
    return _open(code.call(original(path, ex).text, *ex.arguments(node)))


def _open(made: Code) -> Code:
    return Code(made.text, made.level, spread=None)


def _of_package(path: str, node: s.Call, ex: Expressions) -> Code:
    count = ex.types.count(node)
    most = _most_arguments(path)
    if most is not None and len(node.arguments) > most:  # Lua drops what is too many
        node = s.Call(node.function, node.arguments[:most], None, line=node.line,
                      start=node.start, end=node.end)  # fmt: skip
    if path.startswith("image.") and (named := _named(node, ex)) is not None:
        return code.call(path, *named)
    return Code(code.call(path, *ex.arguments(node)).text, spread=1 if count is None else count)


def _most_arguments(path: str) -> int | None:
    """How many arguments a class of ``nn`` takes; None if that is open, or no class."""
    head, _, name = path.partition(".")
    made = getattr(importlib.import_module(f"compat.{head}"), name, None) if head == "nn" else None
    if not isinstance(made, type):
        return None
    parameters = inspect.signature(made).parameters.values()
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return len(positional) if not any(p.kind is p.VAR_POSITIONAL for p in parameters) else None


def _named(node: s.Call, ex: Expressions) -> list[str] | None:
    """The arguments of ``f{input = x, nrow = 2}``."""
    table = node.arguments[0] if len(node.arguments) == 1 else None
    if not isinstance(table, s.Table) or not table.fields:
        return None
    names = [f.key.value if isinstance(f.key, s.Constant) else None for f in table.fields]
    if not all(isinstance(name, str) and name.isidentifier() for name in names):
        return None
    return [f"{name}={ex.value(f.value)}" for name, f in zip(names, table.fields, strict=True)]


def _filled(template: str, arguments: list[Code]) -> Code:
    spread: int | None = 1
    if "#" in template:
        template, _, count = template.partition("#")
        spread = None if count == "?" else int(count)

    def part(match: re.Match[str]) -> str:
        name = match[1]
        if name == "*":
            return ", ".join(a.text for a in arguments)
        number = int(name.rstrip("."))
        if number > len(arguments):
            return "None"
        one = arguments[number - 1]
        return one.atom if name.endswith(".") else one.text

    text = re.sub(r"\{(\*|\d\.?)\}", part, template)
    text = text.replace("(, ", "(")
    level = code.ATOM
    if " * " in template:
        level = code.MULTIPLY
    elif " is " in template:
        level = code.COMPARE
    return Code(text, level, spread=spread)


def _torch(name: str, node: s.Call, ex: Expressions) -> Code:
    kinds = [ex.types.type(a) for a in node.arguments]
    if name == "LongStorage" and len(kinds) == 1 and kinds[0].only("table"):
        return code.call("torch.Size", ex.value(node.arguments[0]))
    if name.endswith("Tensor") and name != "isTensor":
        made = _constructor(name, node, kinds, ex)
        if made is not None:
            return made
    if not (node.arguments and isinstance(node.arguments[-1], (s.Call, s.Vararg))
            and ex.types.count(node.arguments[-1]) != 1):  # fmt: skip
        found = results.torch_rule(name, kinds)
        if found is not None:
            rule, has_result = found
            operands = kinds[1:] if has_result else kinds
            if _fits(name, operands):
                ex.resolve("run" if all(map(ex.types.was_seen, node.arguments)) else "code")
                if name == "randperm" and node not in ex.types.orders:
                    made = apply(rule, None, node.arguments, ex)
                    return code.call(f"{made}.to", "torch.get_default_dtype()")
                if not has_result:
                    return apply(rule, None, node.arguments, ex)
                return _with_result(name, rule, node.arguments, ex)
    if name in ("load", "Timer", "CmdLine", "Generator"):
        return code.call(f"torch7.{name}", *ex.arguments(node))
    unknown = next(
        (a for a, k in zip(node.arguments, kinds, strict=False) if results.kind_of(k) == "?"), None
    )
    if unknown is not None and name in tensors.names("functions"):
        from compat.port.expressions import describe

        ex.mark(f"what {describe(unknown)} is, is not known", "calls")
    ex.resolve("open" if unknown is not None else "code")
    made = code.call(f"lua.torch.{name}", *ex.arguments(node))
    return Code(made.text, spread=ex.types.count(node))


def _fits(name: str, kinds: list[Type]) -> bool:
    """Whether PyTorch's function computes the same for these types of tensors."""
    if name not in tensors.FLOATING_ONLY:
        return True
    return all(not k.dtypes & results.WHOLE for k in kinds if k.is_tensor)


def _with_result(name: str, rule: tensors.Rule, nodes: list[s.Node], ex: Expressions) -> Code:
    """``torch.add(r, x, y)``: ``torch.add(x, y, out=r)``."""
    made = [ex.value(n) for n in nodes]
    function = tensors.WITH_RESULT[name]
    rest = made[1:]
    text = rule.text
    arguments = [str(a) for a in rest]
    scaled = re.search(r"\((.*)\)$", text)
    if ("alpha=" in text or "value=" in text or "beta=" in text) and scaled:
        arguments = [
            re.sub(r"\{(\d)\}", lambda m: str(rest[int(m[1]) - 1]), part)
            for part in scaled[1].split(", ")
        ]
    return code.call(function, *arguments, f"out={made[0]}")


def _constructor(name: str, node: s.Call, kinds: list[Type], ex: Expressions) -> Code | None:
    """``torch.Tensor(…)`` and its kin."""
    plain = name.removesuffix("Tensor")
    cuda = plain.startswith("Cuda")
    plain = plain.removeprefix("Cuda") or ("Float" if cuda else "")
    if plain and plain not in tensors.DTYPES:
        return None
    extra = [f"dtype={tensors.DTYPES[plain]}"] if plain else []
    if cuda:
        extra.append("device=cutorch.device(cutorch.getDevice())")
    letters = "".join(map(results.kind_of, kinds))
    arguments = node.arguments
    if not arguments:
        return code.call("torch.empty", "0", *extra)
    if any(isinstance(a, s.Constant) and a.value == 0 for a in arguments):
        return None  # a size of 0 ends the list of sizes
    if re.fullmatch("n+", letters):
        if isinstance(arguments[-1], s.Call) and ex.types.count(arguments[-1]) != 1:
            return None
        return code.call("torch.empty", *map(ex.whole, arguments), *extra)
    if letters == "y":
        return code.call("torch.empty", ex.value(arguments[0]), *extra)
    if letters == "l":
        table = kinds[0].shape
        if table is not None and not table.is_list:
            return None
        items = ex.value(arguments[0])
        if not extra:
            return code.call("torch.Tensor", items)
        return code.call("torch.tensor", items, *extra)
    return None


def apply(
    rule: tensors.Rule, owner: s.Node | None, arguments: list[s.Node], ex: Expressions
) -> Code:
    """A rule's text with its arguments in it."""

    def part(match: re.Match[str]) -> str:
        name, how = match[1], match[2]
        if name == "*":
            if how == "d":
                return ", ".join(str(ex.place(a)) for a in arguments)
            if rule.name in _SIZED:
                return ", ".join(str(ex.whole(a)) for a in arguments)
            return ", ".join(map(str, ex.values(arguments)))
        node = owner if name == "0" else arguments[int(name) - 1]
        assert node is not None
        if how in ("d", "i"):
            return str(_negative(ex.place(node)))
        if how == "m":
            return str(ex.mask(node))
        if name == "0" and how == ".":
            if rule.name in _OF_MASKS and (mask := ex.any(node)).is_mask:
                return mask.atom
            return ex.prefix(node).atom
        if (
            rule.name in _SIZED
            and name != "0"
            and rule.result != "y"
            and ex.types.type(node).is_number
        ):
            made = ex.whole(node)
        else:
            made = ex.value(node)
        if name != "0" and owner is not None and rule.name in _ELEMENTWISE:
            mine, other = ex.types.type(owner), ex.types.type(node)
            if other.is_tensor and -1 not in mine.dims | other.dims and mine.dims != other.dims:
                return f"{made.atom}.reshape({ex.value(owner).atom}.shape)"
        return made.atom if how == "." else made.at(code.ADD) if how == "o" else made.text

    text = re.sub(r"\{(\*|\d)([.diom]?)\}", part, _accumulated(rule, owner, arguments, ex))
    level = code.ATOM
    outside = re.sub(r"\([^()]*\)", "", rule.text)
    if " ** " in outside:
        level = code.POWER
    elif re.search(r" [*/] ", outside):
        level = code.MULTIPLY
    elif re.search(r" [+-] ", outside):
        level = code.ADD
    elif " == " in outside:
        level = code.COMPARE
    return Code(text, level, is_mask=rule.result == "mask", counts=rule.result.endswith(",index"))


def _accumulated(
    rule: tensors.Rule, owner: s.Node | None, arguments: list[s.Node], ex: Expressions
) -> str:
    """A rule's text; Torch7 sums up the elements of a FloatTensor in double precision."""
    subject = owner if owner is not None else arguments[0] if arguments else None
    if subject is None or rule.result != "n" or rule.name not in _SUMS:
        return rule.text
    kind = ex.types.type(subject)
    if not kind.is_tensor or kind.dtypes != {"Float"}:
        return rule.text
    return re.sub(r"^\{([01])\.\}", r"{\1.}.double()", rule.text)


_SUMS = {"sum", "mean", "std", "var", "prod", "norm"}
# These take sizes, which are ints.
_SIZED = {
    *("zeros", "ones", "rand", "randn", "eye", "view", "reshape", "resize", "expand", "new"),
    *("repeatTensor", "narrow", "split", "chunk", "unfold", "topk", "randperm"),
}
# Of a tensor of bools these give what they give of Torch7's bytes.
_OF_MASKS = {"sum", "all", "any", "nonzero", "float", "double", "long", "int", "byte"}
# As many elements will do for Torch7; PyTorch needs shapes that fit.
_ELEMENTWISE = {"copy", "add", "csub", "cmul", "cdiv", "addcmul", "addcdiv"}


def _negative(place: Code) -> Code:
    return place


# Methods ------------------------------------------------------------------------------------------


def method(node: s.Call, ex: Expressions) -> Code:
    """``object:method(arguments)``."""
    name = node.method
    assert name is not None
    path = ex.types.dotted(node.function)
    if path in ("io.stdout", "io.stderr") and name == "write":
        stream = ", file=sys.stderr" if path == "io.stderr" else ""
        parts = ", ".join(map(str, ex.arguments(node)))
        return Code(f'print({parts}, sep="", end=""{stream})')
    kind = ex.types.type(node.function)
    if kind.is_tensor or kind.only("mask"):
        return _tensor_method(name, node, kind, ex)
    if kind.is_string:
        moved = s.Call(node.function, [node.function, *node.arguments], None, line=node.line,
                       start=node.start, end=node.end)  # fmt: skip
        return function(f"string.{name}", moved, ex)
    from compat.port.expressions import describe, method_name

    if (
        name == "parse"
        and kind.only("module")
        and [ex.types.dotted(a) for a in node.arguments] == ["arg"]
    ):
        return Code(f"{ex.prefix(node.function).atom}.parse()")
    owner = ex.prefix(node.function)
    ex.resolve(ex.how(node.function) if kind.atoms else "open")
    klass = ex.types.class_of(node.function)
    if kind.only("object") and kind.shape is None:
        kind = Type("other")  # of a class that the program does not make
    if kind.only("module") and name == "get" and len(node.arguments) == 1 and _misses(node, ex):
        return code.call("lua.index", f"{owner.atom}.modules", ex.value(node.arguments[0]))
    if kind.only("module", "object", "class", "options", "nil") or klass is not None:
        if kind.only("module") and name == "findModules":
            pass
        if kind.only("module") and _sizes_storage(name):
            pass
        count = ex.types.count(node)
        made = code.call(f"{owner.atom}.{method_name(name)}", *ex.arguments(node))
        return Code(made.text, spread=count if count is not None or klass else 1)
    if kind.only("storage") and name in ("size", "fill", "totable") and len(node.arguments) < 2:
        return code.call(f"{owner.atom}.{name}", *ex.arguments(node))
    if kind.only("sizes"):
        simple = {"size": f"len({owner})", "totable": f"list({owner})"}
        if name in simple and not node.arguments:
            return Code(simple[name])
    if kind.only("file", "nil"):
        return Code(code.call(f"{owner.atom}.{name}", *ex.arguments(node)).text)
    is_plain = kind.only("table") and kind.shape is not None and "meta" not in kind.shape.uses
    if is_plain and "(" not in owner.text:  # else it would be computed twice
        arguments = [owner, *ex.arguments(node)]
        made = code.call(f'{owner.atom}["{name}"]', *arguments)
        return Code(made.text, spread=ex.types.count(node))
    if not kind.atoms:
        ex.mark(f"what {describe(node.function)} is, is not known", "calls")
    made = code.call("lua.method", owner, f'"{name}"', *ex.arguments(node))
    count = ex.types.count(node)
    return Code(made.text, spread=count)


def _misses(node: s.Call, ex: Expressions) -> bool:
    """Whether ``net:get(i)`` may be nil: of a negative number it is, in Python the last ones."""
    place = node.arguments[0]
    is_negative = isinstance(place, s.Unary) and place.operator == "-"
    return is_negative or (ex.types.was_seen(node) and "nil" in ex.types.type(node).atoms)


def _sizes_storage(name: str) -> bool:
    return name in ("size", "storage")


def _tensor_method(name: str, node: s.Call, kind: Type, ex: Expressions) -> Code:
    kinds = [ex.types.type(a) for a in node.arguments]
    last_open = bool(node.arguments) and (
        isinstance(node.arguments[-1], (s.Call, s.Vararg))
        and ex.types.count(node.arguments[-1]) != 1
    )
    ex.resolve(ex.how(node.function))
    if name in ("dim", "nDimension") and not kinds and kind.dims & {-1, 0}:
        return code.call("lua.dim", ex.value(node.function))
    if name == "isContiguous":
        ex.mark("PyTorch may lay a result out as its operands are, Torch7 does not", "views")
    if name == "sub" and not last_open and all(k.is_number for k in kinds):
        made = _sub(node, ex)
        if made is not None:
            return made
    if name == "totable" and isinstance(node.function, s.Call):
        made = _numbers(node.function, ex)
        if made is not None:
            return made
    if not last_open:
        rule = results.method_rule(name, kinds)
        if name == "select" and kind.dims == {1}:
            rule = None
        if name == "apply" and rule is not None:
            signature = kinds[0].signature
            if signature is None or signature.count != 1 or "nil" in signature.result(0).atoms:
                return code.call("lua.apply", ex.value(node.function), ex.value(node.arguments[0]))
        if rule is not None and _fits(name, [kind, *kinds]):
            return apply(rule, node.function, node.arguments, ex)
        if rule is None and name in tensors.WITH_RESULT:
            found = tensors.function(name, "".join(map(results.kind_of, kinds)))
            if found is not None and _fits(name, kinds) and kinds and kinds[0].is_tensor:
                return _with_result(name, found, [node.function, *node.arguments], ex)
    unknown = next(
        (a for a, k in zip(node.arguments, kinds, strict=False) if results.kind_of(k) == "?"), None
    )
    if unknown is not None and not last_open:
        from compat.port.expressions import describe

        ex.mark(f"what {describe(unknown)} is, is not known", "calls")
    owner = ex.prefix(node.function)
    made = code.call("lua.method", owner, f'"{name}"', *ex.arguments(node))
    return Code(made.text, spread=ex.types.count(node))


def _numbers(node: s.Call, ex: Expressions) -> Code | None:
    """``torch.range(a, b):totable()``."""
    if node.method is not None or ex.types.dotted(node.function) != "torch.range":
        return None
    if len(node.arguments) != 2 or not all(ex.types.type(a).is_int for a in node.arguments):
        return None
    first, last = map(ex.value, node.arguments)
    return code.call("list", code.call("range", first, code.shifted(last, 1)))


def _sub(node: s.Call, ex: Expressions) -> Code | None:
    """``x:sub(a, b, …)``: a slice of each dimension."""
    parts = []
    pairs = [node.arguments[i : i + 2] for i in range(0, len(node.arguments), 2)]
    for pair in pairs:
        if len(pair) != 2:
            return None
        first, last = ex.place(pair[0]), ex.end(pair[1])
        parts.append(code.sliced("" if first.text == "0" else str(first), str(last)))
    return Code(f"{ex.value(node.function).atom}[{', '.join(parts)}]")


# Functions that need more than a template ---------------------------------------------------------


def _print(node: s.Call, ex: Expressions) -> Code | None:
    kinds = [ex.types.type(a) for a in node.arguments]
    if not node.arguments:
        return Code("print()")
    last = node.arguments[-1]
    is_open = isinstance(last, (s.Call, s.Vararg)) and ex.types.count(last) != 1
    if not is_open and all(k.is_number or k.is_string for k in kinds):
        if len(kinds) == 1 and (kinds[0].is_string or kinds[0].is_int):
            made = ex.value(last)
            return code.call("lua.print" if ".get(" in made.text else "print", made)
        return code.call("print", ex.formatted(node.arguments, "\t"))
    return code.call("lua.print", *ex.arguments(node))


def _tostring(node: s.Call, ex: Expressions) -> Code | None:
    kind = ex.types.type(node.arguments[0])
    made = ex.value(node.arguments[0])
    if kind.is_string:
        return made
    if kind.is_int:
        return code.call("str", made)
    return code.call("lua.tostring", made)


def _write(node: s.Call, ex: Expressions) -> Code | None:
    kinds = [ex.types.type(a) for a in node.arguments]
    last = node.arguments[-1] if node.arguments else None
    is_open = isinstance(last, (s.Call, s.Vararg)) and ex.types.count(last) != 1
    if not is_open and node.arguments and all(k.is_number or k.is_string for k in kinds):
        return Code(f'print({ex.formatted(node.arguments)}, end="")')
    return code.call("lua.write", *ex.arguments(node))


_DIRECTIVE = re.compile(r"%([-+ #0]*)(\d*)(\.\d+)?([a-zA-Z%])")


def _format(node: s.Call, ex: Expressions) -> Code | None:
    """``string.format``: an f-string, where that means the same."""
    first, *rest = node.arguments
    while isinstance(first, s.Paren):
        first = first.inner
    if not isinstance(first, s.Constant) or not isinstance(first.value, str):
        return None
    if rest and isinstance(rest[-1], (s.Call, s.Vararg)) and ex.types.count(rest[-1]) != 1:
        return None
    template = code.text_of(first.value)
    pieces: list[str | tuple[str, str]] = []
    at, left = 0, list(rest)
    for directive in _DIRECTIVE.finditer(template):
        if "%" in template[at : directive.start()]:
            return None
        pieces.append(template[at : directive.start()])
        at = directive.end()
        if directive[4] == "%":
            pieces.append("%")
            continue
        if not left:
            return None
        made = _directed(directive, left.pop(0), ex)
        if made is None:
            return None
        pieces.append(made)
    if left or "%" in template[at:]:
        return None
    return code.f_string([*pieces, template[at:]])


def _directed(
    directive: re.Match[str], argument: s.Node, ex: Expressions
) -> tuple[str, str] | None:
    """An expression and its format for a directive such as ``%-5.2f``."""
    flags, width, precision, letter = directive.groups()
    precision = precision or ""
    kind = ex.types.type(argument)
    made = ex.value(argument)
    if letter == "s":
        text = made.text if kind.is_string or kind.is_int else f"lua.tostring({made})"
        if (kind.is_int and (width or precision)) or set(flags) - {"-"}:
            return None
        side = "" if not width else "<" if "-" in flags else ">"
        return text if made.level > code.LAMBDA else f"({text})", f"{side}{width}{precision}"
    if not kind.is_number or letter not in "dieEfgGxX":
        return None
    if letter in "dixX":
        if precision:
            return None
        letter = "d" if letter in "di" else letter
        text = made.text if kind.is_int else f"int({made})"
        if not width and not flags and letter == "d":
            return text, ""
    else:
        text = made.text
    side = "<" if "-" in flags else ""
    plain = flags.replace("-", "")
    sign = "".join(c for c in "+ " if c in plain)[:1]
    other = "#" if "#" in plain else ""
    zero = "0" if "0" in plain and not side else ""
    return text, f"{side}{sign}{other}{zero}{width}{precision}{letter}"


def _floor(node: s.Call, ex: Expressions) -> Code | None:
    argument = node.arguments[0]
    kind = ex.types.type(argument)
    if kind.is_tensor:
        return code.call('lua.package("math").floor', ex.value(argument))
    inner = argument.inner if isinstance(argument, s.Paren) else argument
    if isinstance(inner, s.Binary) and inner.operator == "/":
        a, b = ex.value(inner.left), ex.value(inner.right)
        zero = isinstance(inner.right, s.Constant) and inner.right.value == 0
        if ex.types.type(inner.left).is_int and ex.types.type(inner.right).is_int and not zero:
            return code.binary(a, "//", b)
    return code.call("math.floor", ex.value(argument))


def _pow(node: s.Call, ex: Expressions) -> Code | None:
    return code.binary(ex.value(node.arguments[0]), "**", ex.value(node.arguments[1]))


def _substring(node: s.Call, ex: Expressions) -> Code | None:
    text, first, *rest = node.arguments
    a = ex.value(first)
    owner = ex.value(text)
    if not rest:
        if a.text.isdigit() and int(a.text) > 0:
            return Code(f"{owner.atom}[{code.sliced(str(code.shifted(a)), '')}]")
        if re.fullmatch(r"-\d+", a.text):
            return Code(f"{owner.atom}[{a}:]")
        return code.call("lua.sub", owner, a)
    b = ex.value(rest[0])
    if a.text == b.text and ex.types.type(first).is_int and not a.text.startswith("-"):
        return Code(f"{owner.atom}[{ex.place(first)} : {a}]" if not a.text.isdigit() else
                    f"{owner.atom}[{ex.place(first)}:{a}]")  # fmt: skip
    if a.text.isdigit() and int(a.text) > 0 and re.fullmatch(r"-?\d+", b.text):
        end = int(b.text)
        stop = "" if end == -1 else str(end + 1 if end < 0 else end)
        start = "" if a.text == "1" else str(int(a.text) - 1)
        return Code(f"{owner.atom}[{start}:{stop}]")
    return code.call("lua.sub", owner, a, b)


def _concat(node: s.Call, ex: Expressions) -> Code | None:
    kind = ex.types.type(node.arguments[0])
    if len(node.arguments) > 2 or kind.shape is None or not kind.shape.is_list:
        return None
    if not kind.only("table"):
        return None
    items = kind.shape.items
    glue = ex.value(node.arguments[1]) if len(node.arguments) > 1 else Code('""')
    if not ex.types.type(node.arguments[-1]).is_string and len(node.arguments) > 1:
        return None
    owner = ex.value(node.arguments[0])
    if items.is_string:
        return code.call(f"{glue.atom}.join", owner)
    if items.is_int:
        return code.call(f"{glue.atom}.join", f"map(str, {owner})")
    return None


def _insert(node: s.Call, ex: Expressions) -> Code | None:
    kind = ex.types.type(node.arguments[0])
    if not kind.only("table") or kind.shape is None or not kind.shape.is_list:
        return None
    owner = ex.value(node.arguments[0])
    if len(node.arguments) == 2:
        return code.call(f"{owner.atom}.append", ex.value(node.arguments[1]))
    where = ex.place(node.arguments[1])
    return code.call(f"{owner.atom}.insert", where, ex.value(node.arguments[2]))


def _remove(node: s.Call, ex: Expressions) -> Code | None:
    kind = ex.types.type(node.arguments[0])
    if not kind.only("table") or kind.shape is None or not kind.shape.is_list:
        return None
    owner = ex.value(node.arguments[0])
    if "nil" in ex.types.type(node).atoms:
        return None
    if len(node.arguments) == 1:
        return code.call(f"{owner.atom}.pop")
    return code.call(f"{owner.atom}.pop", ex.place(node.arguments[1]))


def _sort(node: s.Call, ex: Expressions) -> Code | None:
    kind = ex.types.type(node.arguments[0])
    shape = kind.shape
    if len(node.arguments) == 1 and shape is not None and shape.is_list:
        items = shape.items
        if items.is_number or items.is_string:
            return code.call(f"{ex.value(node.arguments[0]).atom}.sort")
    return None


def _unpack(node: s.Call, ex: Expressions) -> Code | None:
    kind = ex.types.type(node.arguments[0])
    if len(node.arguments) == 1 and kind.only("table") and kind.shape and kind.shape.is_list:
        return Code(f"*{ex.value(node.arguments[0]).atom}", code.UNARY, spread=None)
    return None


def _select(node: s.Call, ex: Expressions) -> Code | None:
    first, *rest = node.arguments
    is_vararg = len(rest) == 1 and isinstance(rest[0], s.Vararg)
    if isinstance(first, s.Constant) and first.value == "#":
        if is_vararg:
            return code.call("len", ex.any(rest[0]).text[1:])
        return code.call("len", f"({', '.join(map(str, ex.values(rest)))},)" if rest else "()")
    return None


def _gsub(node: s.Call, ex: Expressions) -> Code | None:
    if len(node.arguments) != 3:
        return None
    text, pattern, new = node.arguments
    if (
        isinstance(pattern, s.Constant)
        and isinstance(pattern.value, str)
        and isinstance(new, s.Constant)
        and isinstance(new.value, str)
        and "%" not in new.value
        and (plain := patterns.plain(pattern.value))
    ):
        made = f"{ex.value(text).atom}.replace({code.string(plain)}, {code.string(new.value)})"
        count = f"{ex.value(text).atom}.count({code.string(plain)})"
        return Code(f"({made}, {count})", spread=2)
    return None


def _pcall(node: s.Call, ex: Expressions) -> Code:
    """``pcall``."""
    bound = _bound(node, ex)
    made = code.call("lua.pcall", *(ex.arguments(node) if bound is None else bound))
    return Code(made.text, spread=None, tells=True)


def _bound(node: s.Call, ex: Expressions) -> list[Code] | None:
    """What ``pcall(x.method, x, …)`` is given: the method of an object in Python has its ``x``."""
    from compat.port.expressions import describe

    if len(node.arguments) < 2:
        return None
    function, *arguments = node.arguments
    if not (isinstance(function, s.Index) and isinstance(function.key, s.Constant)):
        return None
    kind = ex.types.type(function.object)
    if not kind.only("module", "object") or (kind.only("object") and kind.shape is None):
        return None
    if describe(function.object) != describe(arguments[0]):
        return None
    rest = s.Call(node.function, arguments[1:], None)
    return [Code(ex.value(function).text.removesuffix(".__func__")), *ex.arguments(rest)]


def _xpcall(node: s.Call, ex: Expressions) -> Code:
    """``xpcall``, whose handler is told."""
    ex.tell()
    return Code(code.call("lua.xpcall", *ex.arguments(node)).text, spread=None)


def _paths_basename(node: s.Call, ex: Expressions) -> Code | None:
    if len(node.arguments) == 1:
        return code.call("os.path.basename", ex.value(node.arguments[0]))
    return None


def _open_file(node: s.Call, ex: Expressions) -> Code | None:
    """``io.open``: where somebody takes the reason for a failure, too."""
    given = ", ".join(map(str, ex.arguments(node)))
    return Code(f"lua.open({given})", every=f"lua.opened({given})")


def _rep(node: s.Call, ex: Expressions) -> Code | None:
    if len(node.arguments) != 3 or not ex.types.type(node.arguments[2]).is_string:
        return None
    text, count, between = map(ex.value, node.arguments)
    return code.call(f"{between.atom}.join", f"[{text}] * {count.at(code.UNARY)}")


def _require(node: s.Call, ex: Expressions) -> Code | None:
    if ex.types.file_of(node) is not None:
        return ex.imported(node)
    name = node.arguments[0]
    if isinstance(name, s.Constant) and isinstance(name.value, str):
        ex.mark(f"{name.value} is no file of this program", "packages")
        return code.call("lua.require", code.string(name.value))
    return code.call("lua.dofile", *ex.arguments(node), "__package__")


def _loaded(node: s.Call, ex: Expressions) -> Code | None:
    made = code.call("torch7.load", *ex.arguments(node))
    kind = ex.types.type(node)
    if kind.only("tensor", "module", "string", "float", "int", "number"):
        return made
    return code.call("t7.load", ex.value(node.arguments[0]), "plain=True")


def _saved(node: s.Call, ex: Expressions) -> Code | None:
    """``torch.save``: sizes become a table."""
    if len(node.arguments) > 1 and _has_sizes(ex.types.type(node.arguments[1]), set()):
        ex.mark("sizes are saved as a table, not as a LongStorage", "files")
    return None


def _has_sizes(kind: Type, seen: set[int]) -> bool:
    shape = kind.shape
    if "sizes" in kind.atoms:
        return True
    if shape is None or id(shape) in seen:
        return False
    seen.add(id(shape))
    return any(_has_sizes(part, seen) for part in [shape.items, *shape.names.values()])


def _rawget(node: s.Call, ex: Expressions) -> Code | None:
    return None


def _setmetatable(node: s.Call, ex: Expressions) -> Code | None:
    klass = ex.types.class_of(node.arguments[1]) if len(node.arguments) > 1 else None
    if klass is not None:
        return ex.value(node.arguments[0])
    found = node.arguments[1] if len(node.arguments) > 1 else None
    if isinstance(found, s.Call) and ex.types.dotted(found.function) == "torch.getmetatable":
        return code.call("lua.instance", *map(ex.value, [node.arguments[0], *found.arguments]))
    return None


def _dofile(node: s.Call, ex: Expressions) -> Code | None:
    return _require(node, ex)


def _manual_seed(node: s.Call, ex: Expressions) -> Code | None:
    return None


def _lapp(node: s.Call, ex: Expressions) -> Code | None:
    return code.call("lua.lapp", *ex.arguments(node))


_SPECIAL: dict[str, Callable[[s.Call, Expressions], Code | None]] = {
    "print": _print,
    "tostring": _tostring,
    "io.write": _write,
    "string.format": _format,
    "math.floor": _floor,
    "math.pow": _pow,
    "string.sub": _substring,
    "table.concat": _concat,
    "table.insert": _insert,
    "table.remove": _remove,
    "table.sort": _sort,
    "unpack": _unpack,
    "table.unpack": _unpack,
    "select": _select,
    "string.gsub": _gsub,
    "string.rep": _rep,
    "paths.basename": _paths_basename,
    "pcall": _pcall,
    "xpcall": _xpcall,
    "io.open": _open_file,
    "require": _require,
    "dofile": _dofile,
    "paths.dofile": _dofile,
    "torch.load": _loaded,
    "torch.save": _saved,
    "setmetatable": _setmetatable,
    "lapp": _lapp,
}


def condition(node: s.Call, ex: Expressions) -> Code | None:
    """A call as a condition, where that says more than its value."""
    path = ex.types.dotted(node.function) if node.method is None else None
    arguments = node.arguments
    if node.method == "isContiguous" and ex.types.type(node.function).is_tensor:
        return Code(f"{ex.prefix(node.function).atom}.is_contiguous()")
    if node.method == "find" and ex.types.type(node.function).is_string:
        path, arguments = "string.find", [node.function, *node.arguments]
    if path == "string.find" and len(arguments) == 2 and isinstance(arguments[1], s.Constant):
        plain = patterns.plain(str(arguments[1].value))
        if plain:
            text = ex.value(arguments[0])
            return Code(f"{code.string(plain)} in {text.at(code.ADD)}", code.COMPARE)
    return None
