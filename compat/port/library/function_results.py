"""The results of functions and the types of constants of Lua's and Torch7's packages."""

from __future__ import annotations

import re

from compat.port.know.form.shapes import captures
from compat.port.know.structures import Table, list_of
from compat.port.know.types import Kind, Type, tensor
from compat.port.library import tensors
from compat.port.library.lua_functions import FUNCTIONS
from compat.port.library.results import (
    CLASS_OF_NN,
    SEVERAL,
    cat_dims,
    kind_of,
    module_method,
    rule_types,
    type_named,
)
from compat.port.library.table import Rule
from compat.port.read import syntax as s

# Functions of torch that take numbers alone.
_NUMBERS = ("random", "uniform", "normal", "bernoulli", "manualSeed")
OF_NUMBERS = {f"torch.{name}" for name in _NUMBERS}
# Functions of image that take an image first; Torch7's may take the result's before.
OF_IMAGES = {
    *("crop", "translate", "scale", "warp", "affinetransform", "rotate", "polar", "logpolar"),
    *("hflip", "vflip", "flip", "convolve", "lcn", "compress", "drawText", "drawRect", "histogram"),
    *("rgb2lab", "lab2rgb", "rgb2yuv", "yuv2rgb", "rgb2y", "rgb2hsl", "hsl2rgb", "rgb2hsv"),
    *("hsv2rgb", "rgb2nrgb", "y2jet"),
}
_OF_THREE = {"lbfgs", "cg", "asgd", "cmaes", "checkgrad"}  # methods of optim


def constant(path: str) -> Type:
    """Return the type of a package's field, such as ``math.pi``."""
    if path in ("math.pi", "math.huge"):
        return Type(Kind.FLOAT)
    if path in ("io.stdin", "io.stdout", "io.stderr"):
        return Type(Kind.FILE)
    if path == "arg":
        return list_of(Type(Kind.STRING, Kind.NIL))
    if path.startswith("sys.COLORS."):
        return Type(Kind.STRING)
    if path == "nn.oldSeed":
        return Type(Kind.BOOLEAN)
    head = path.split(".")[0]
    if head in ("nn", "cudnn") and path.count(".") == 1:
        made = Type(Kind.MODULE)
        made.classes = {CLASS_OF_NN} if path.partition(".")[2][:1].isupper() else set()
        return made
    return Type()


def gives_one_match(node: s.Call) -> bool:
    """Return whether a match of ``string.match`` is one value: the pattern stands there."""
    place = 1 if node.method is None else 0
    pattern = node.arguments[place] if len(node.arguments) > place else None
    return isinstance(s.constant(pattern), str) and captures(pattern) == 1


def count(path: str, node: s.Call) -> int | None:
    """Return how many values a function gives; None if that is not known."""
    if path == "select":
        first = node.arguments[0] if node.arguments else None
        return 1 if isinstance(first, s.Constant) and first.value == "#" else None
    if path == "string.match" and gives_one_match(node):
        return 1
    rule = FUNCTIONS.all(path)[-1:]
    if rule and rule[0].result:
        return None if rule[0].count else 0 if rule[0].result == "nil" else rule[0].spread
    if path.startswith("optim."):
        is_plain = path in ("optim.Logger", "optim.ConfusionMatrix")
        return 1 if is_plain else 3 if path.removeprefix("optim.") in _OF_THREE else 2
    head, _, name = path.partition(".")
    if head == "torch":
        if name not in SEVERAL or (name in ("max", "min") and len(node.arguments) == 1):
            return 1
        rule = tensors.FUNCTIONS.all(name)[-1:]
        return rule[0].spread if rule else None
    if head == "cutorch":
        return 1 if name.startswith("create") else None
    if head in ("nn", "cudnn", "nngraph", "image", "math", "string"):
        return 1
    return 1 if path in ("rawget", "setmetatable", "getmetatable") else None


def function(path: str, node: s.Call, arguments: list[Type]) -> list[Type] | None:
    """Return the types of what a function of a package gives; None if it is not known."""
    if path in ("math.max", "math.min", "math.abs", "math.fmod"):
        joined = Type()
        for kind in arguments:
            joined.join(kind)
        return [joined if joined.is_number else Type(Kind.NUMBER)]
    if path == "select":
        first = node.arguments[0] if node.arguments else None
        is_count = isinstance(first, s.Constant) and first.value == "#"
        made = Type(Kind.INT) if is_count else Type()
        made.lacking = not is_count and any(kind.lacking for kind in arguments[1:])
        return [made]
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
    if (rule := FUNCTIONS.all(path)[-1:]) and rule[0].result:
        own = rule_types(rule[0], [], [])
        return _captured(own, node) if path in ("string.match", "string.find") else own
    head, _, name = path.partition(".")
    if head == "torch":
        found = _torch(name, arguments)
        if name == "cat" and found[0].is_tensor and found[0] is not arguments[0]:
            parts = [kind for kind in arguments if not kind.is_number]
            found[0].dims = cat_dims(s.constant(node.arguments[-1]), parts)
        return found
    if head in ("nn", "cudnn"):
        made, (of, _, method) = Type(Kind.MODULE), name.partition(".")
        made.classes = {f"{head}.{of}"} - {"nn.?"}
        if not method:
            return [made]
        is_class = of[:1].isupper()  # nn.Linear.updateOutput(self, input)
        return module_method(made, method, arguments[1:]) if is_class else [Type()]
    if head == "optim":
        if name[:1].isupper():
            return [Type(Kind.MODULE)]
        return [tensor(dims=[1]), type_named("list of n", [], False)]
    if head in ("threads", "Threads"):
        return [Type(Kind.MODULE)]
    return None


def _captured(own: list[Type], node: s.Call) -> list[Type]:
    """Return the types of what a pattern finds: its captures stand in for the whole, or behind."""
    pattern = next(map(s.constant, node.arguments[node.method is None :]), None)
    places = re.findall(r"(?<!%)\((\)?)", pattern) if isinstance(pattern, str) else []
    found = [Type(Kind.INT if place else Kind.STRING, Kind.NIL) for place in places]
    return found or own if len(own) == 1 else own + found


def _date() -> Table:
    """Return what ``os.date('*t')`` gives."""
    made = Table(keys={"name"})
    for name in ("year", "month", "day", "hour", "min", "sec", "wday", "yday"):
        made.name(name).join(Type(Kind.INT))
    made.name("isdst").join(Type(Kind.BOOLEAN))
    made.always |= set(made.names)
    return made


def torch_rule(name: str, arguments: list[Type]) -> tuple[Rule, bool] | None:
    """Return the rule for ``torch.name(arguments)``, and whether the first of them is the
    result.
    """
    kinds = "".join(map(kind_of, arguments))
    rule = tensors.rule(tensors.FUNCTIONS, name, kinds)
    if rule is not None:
        return rule, False
    if kinds.startswith("t") and name in tensors.WITH_RESULT:
        rule = tensors.FUNCTIONS.find(name, kinds[1:])
        if rule is not None:
            return rule, True
    return None


def _torch(name: str, arguments: list[Type]) -> list[Type]:
    if name.endswith("Tensor") and name != "isTensor":
        kind = name.removesuffix("Tensor").replace("Cuda", "")
        dims = [-1]
        if all(a.is_number for a in arguments):
            dims = [len(arguments)]
        elif name == "LongTensor" and len(arguments) == 1 and arguments[0].only(Kind.SIZES):
            dims = [1]
        elif len(arguments) == 1 and arguments[0].only(Kind.TABLE):
            depth, shape = 1, arguments[0].shape
            while shape is not None and shape.items.only(Kind.TABLE):
                depth, shape = depth + 1, shape.items.shape
            is_told = shape is None or shape.items.atoms or shape.items.open
            dims = [-1] if is_told else []
            dims = [depth] if shape is not None and shape.items.is_number else dims
        return [tensor([kind] if kind else ["Default"], dims)]
    if name == "LongStorage" and all(a.only(Kind.TABLE) or a.is_number for a in arguments):
        return [Type(Kind.SIZES)]
    if name.endswith("Storage"):
        return [Type(Kind.STORAGE)]
    if name in ("load", "deserialize"):
        return [type_named("loaded", [], False)]
    if name in ("MemoryFile", "DiskFile", "PipeFile", "CmdLine", "Tester", "Timer"):
        made = Type(Kind.MODULE)
        made.classes = {f"torch.{name}"}
        made.lacking = len(arguments) > 2  # a file that is opened quietly
        return [made]
    if name == "Generator":
        return [Type(Kind.LUA)]
    found = torch_rule(name, arguments)
    if found is None:
        return [tensor() if tensors.gives_tensor(tensors.FUNCTIONS, name) else Type()]
    rule, has_result = found
    if has_result:
        return [arguments[0]]
    return rule_types(rule, [], arguments)
