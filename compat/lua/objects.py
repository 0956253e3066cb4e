"""Objects of Python classes in Lua: fields, methods, and classes that Lua derives."""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import threading
import types
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor

from compat import errands, moves
from compat.lua.gpu_types import gpu_of, tell_types
from compat.lua.runtime import Runtime
from compat.lua.values import LuaFunction, handle
from compat.nn.checks.error_place import blame
from compat.nn.core.convertible import Convertible
from compat.nn.core.files import ENGINE_FIELDS
from compat.nn.core.module import Module
from compat.nn.core.node import Node
from compat.nn.core.results import reuse_buffers
from compat.nn.criterions.base import Criterion
from compat.nn.criterions.classification import ClassNLLCriterion
from compat.nn.graph.gmodule import gModule
from compat.optim.support.recomputed import Recomputed
from compat.t7.base.types import Key, Storage, TorchObject
from compat.t7.objects.registry import find_class, provide
from compat.tensor_types import default_type
from compat.torch_internals import storage_identity

# Methods of Lua's classes that Python calls by another name.
_PYTHON_NAMES = {
    "__init": "__init__",
    "__tostring__": "__repr__",
    "__call__": "__call__",
    "__unm__": "__neg__",
    "__sub__": "__sub__",
    "lambda": "lambda_",
}
_LUA_NAMES = {"lambda_": "lambda"}
_GRAPH_FIELDS = ("fg", "bg", "innode", "outnode", "backwardnodes")
_UNSET_IN_LUA = ("train", "shared", "keep_results")
_RESULTS = ("output", "gradInput")
_OWN_METHODS = ("updateOutput", "updateGradInput", "accGradParameters", "backward")
_MISSING = object()
# Methods that Lua gets in another form: what they are while no function of Lua stands for them.
_PLAIN: dict[str, Callable[..., Any]] = {
    name: getattr(Module, name) for name in ("getParameters", "share", "clone")
}


# Torch7's `clone`.
_CLONE = """
local file = torch.MemoryFile('rw'):binary()
file:writeObject((...))
file:seek(1)
local new = file:readObject()
file:close()
return new
"""


class LuaMethod:
    """A method of a class that is a function of Lua."""

    def __init__(self, function: LuaFunction) -> None:
        self.function = function

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        return self if owner is None else BoundLuaMethod(self.function, owner)

    def __call__(self, *args: Any) -> Any:
        tell_types(*args)
        return self.function(*args)


class BoundLuaMethod:
    """A function of Lua in the place of a method of one object; copied, it is one of the copy."""

    def __init__(self, function: LuaFunction, owner: Any) -> None:
        self.function, self.owner = function, owner

    def __call__(self, *args: Any) -> Any:
        tell_types(self.owner, *args)
        return self.function(self.owner, *args)

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundLuaMethod:
        return BoundLuaMethod(self.function, copy.deepcopy(self.owner, memo))


class Objects:
    """What one Lua state needs to know of Python's objects and classes."""

    kinds: tuple[type, ...] = (Convertible, Node)

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        # Methods of Python's classes that Lua has replaced, as they were.
        self._before: dict[tuple[type, str], Any] = {}
        self._extended: dict[str, Callable[..., Any]] = {
            "getParameters": self.getParameters,
            "share": self.share,
            "clone": self.clone,
        }

    def functions(self) -> dict[str, Callable[..., Any]]:
        """What Lua calls."""
        names = (
            *("describe", "describe_class", "class_named", "class_names", "derive", "bare"),
            *("construct", "field", "has_field", "set_field", "names"),
            *("method", "set_method", "set_class_value", "arity", "original"),
            *("saved_fields", "restore", "hooks", "written", "reading", "next_request"),
            *("storage", "numbers", "make", "list_assign", "dict_assign"),
            *("changed_contents", "contents"),
        )
        return {name: getattr(self, name) for name in names} | {
            "tell_types": tell_types,
            "gpu_of": gpu_of,
            "nll_updateOutput": self.nll_updateOutput,
            "nll_forward": self.nll_forward,
        }

    # Classes --------------------------------------------------------------------------------------

    def describe(self, owner: Any) -> tuple[int, int, Any, Any]:
        """Identity of an object, that of its class, the class, and the methods of its own."""
        cls = type(owner)
        own = [key for key, value in owner.__dict__.items() if isinstance(value, BoundLuaMethod)]
        names = self.runtime.lua.table_from(own) if own else None
        return id(owner), id(cls), cls, names

    def has_field(self, owner: Any, key: str) -> bool:
        """Whether an object has a field or method of its own of that name."""
        return key in owner.__dict__ or key in _RESULTS

    def describe_class(self, cls: type) -> tuple[int, str, Any, float]:
        """Identity, name and parent of a class, and the version that files tell."""
        parent = next((c for c in cls.__mro__[1:] if _is_public(c)), None)
        entry = find_class(cls)
        return id(cls), _typename(cls), parent, 1 if entry is None else entry.version

    def class_named(self, typename: str) -> Any:
        """The class of a Torch7 name."""
        found = [entry.cls for entry in provide(typename) if entry.cls is not None]
        return found[0] if found else None

    def class_names(self, module: str) -> Any:
        """The names of the classes of a Python module, and the classes."""
        import importlib

        place = importlib.import_module(module)
        found = {
            name: value
            for name in vars(place)
            if isinstance(value := getattr(place, name), type) and _is_public(value)
        }
        self.runtime.instance_kinds = tuple(
            dict.fromkeys((*self.runtime.instance_kinds, *found.values()))
        )
        self._drop_covered()
        return (
            self.runtime.lua.table_from(list(found)),
            self.runtime.lua.table_from(list(found.values())),
            len(found),
        )

    def _drop_covered(self) -> None:
        kinds = self.runtime.instance_kinds
        self.runtime.instance_kinds = tuple(
            kind
            for kind in kinds
            if not any(kind is not other and issubclass(kind, other) for other in kinds)
        )

    def derive(self, typename: str, parent: type) -> type:
        """A class for one that Lua derives."""
        keywords = {"typename": typename} if issubclass(parent, Convertible) else {}
        return types.new_class(
            typename.rpartition(".")[2],
            (parent,),
            keywords,
            lambda body: body.update(__module__="lua", takes=None),
        )

    def set_method(self, cls: type, key: str, function: Any) -> None:
        """Give a class a method; None takes it away. ``restore_classes`` undoes it."""
        name = key if key == "__init" else _PYTHON_NAMES.get(key, key)
        own = vars(cls)
        if cls.__module__ != "lua":
            self._before.setdefault((cls, name), own.get(name, _MISSING))
        function = self.original(function)
        if function is None or getattr(cls.__mro__[1], name, None) is function:
            if name in own:
                delattr(cls, name)
        elif own.get(name) is not function:
            is_lua = isinstance(function, LuaFunction)
            setattr(cls, name, LuaMethod(function) if is_lua else function)

    def restore_classes(self) -> None:
        """Give the classes of Python the methods back that Lua replaced."""
        for (cls, name), value in self._before.items():
            if value is not _MISSING:
                setattr(cls, name, value)
            elif name in vars(cls):
                delattr(cls, name)
        self._before.clear()

    def set_class_value(self, cls: type, key: str, value: Any) -> None:
        """Set a field that Python's class has, such as a switch for new objects."""
        known = inspect.getattr_static(cls, key, None) if isinstance(key, str) else None
        if isinstance(known, (bool, int, float, str)) and isinstance(value, type(known)):
            setattr(cls, key, value)

    def original(self, function: Any) -> Any:
        """The method that Lua knows in the form of one of this class's."""
        for name, extended in self._extended.items():
            if function == extended:
                return _PLAIN[name]
        return function

    def method(self, cls: type, key: str) -> tuple[str, Any, int] | None:
        """What a class has under that name: how, the function, and the class that it is of."""
        name = _PYTHON_NAMES.get(key, key)
        for base in cls.__mro__:
            if key in vars(base):
                return self._function(base, key)
            if name in vars(base):
                if base is object and name != "__repr__":
                    return None
                return self._function(base, name)
        return None

    def _function(self, base: type, name: str) -> tuple[str, Any, int] | None:
        value = vars(base)[name]
        if isinstance(value, LuaMethod):
            return "lua", handle(value.function, self.runtime), id(base)
        if isinstance(value, classmethod):
            return None
        if isinstance(value, staticmethod):
            return "python", value.__func__, id(base)
        if isinstance(value, types.FunctionType):
            is_plain = value is _PLAIN.get(name)
            return "python", self._extended[name] if is_plain else value, id(base)
        if name == "__repr__":
            return "python", str, id(base)
        return None

    # Objects --------------------------------------------------------------------------------------

    def arity(self, function: Any) -> tuple[int | None, int, bool]:
        """How many arguments a function takes at most (None: any) and least; if it is silent."""
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return None, 0, False
        silent = signature.return_annotation in (None, "None")
        parameters = signature.parameters.values()
        ordered = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        any_number = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        least = sum(p.default is p.empty for p in ordered)
        return None if any_number else len(ordered), least, silent

    def bare(self, cls: type) -> Any:
        """An object of a class, before its ``__init``."""
        new: Any = cls.__new__
        owner = new(cls)
        if isinstance(owner, Convertible):
            vars(owner)["_type"] = self.runtime.default_gpu_type or default_type()
        return owner

    def construct(self, cls: type, *args: Any) -> Any:
        """An object of a Python class."""
        if _takes_modules(cls):
            args = ()
        try:
            owner = cls(*_with_truth(cls, args))
        except Exception as error:
            blame(error, cls, "__init", *args)
            raise
        gpu_type = self.runtime.default_gpu_type
        return owner.type(gpu_type) if gpu_type and isinstance(owner, Convertible) else owner

    def field(self, owner: Any, key: str) -> tuple[str, Any] | None:
        """What an object has under a name: ``value``, ``lua`` or ``python`` for methods."""
        found = self._field(owner, key)
        if found is not None and found[0] == "value":
            tell_types(owner, found[1])
        return found

    def _field(self, owner: Any, key: str) -> tuple[str, Any] | None:
        name = _PYTHON_NAMES.get(key, key)
        fields = owner.__dict__
        if key in _RESULTS and isinstance(owner, Convertible):
            return "value", getattr(owner, key)
        if name in fields:
            value = fields[name]
            if isinstance(value, BoundLuaMethod):
                return "own", handle(value.function, self.runtime)
            if isinstance(value, types.MethodType):
                return "python own", value.__func__
            if name in getattr(owner, "size_fields", ()) and isinstance(value, list):
                return "value", Storage(value, "torch.LongStorage")
            return "value", value
        if self.method(type(owner), key) is not None or key.startswith("__"):
            return None
        if name in _UNSET_IN_LUA:
            return None
        value = getattr(owner, name, None)
        if name == "impl":
            # What runs the replicas of a DataParallelTable is what Torch7 has under this name.
            value = getattr(value, "dispatcher", value)
        if value is None and isinstance(owner, gModule) and key in _GRAPH_FIELDS:
            value = owner.t7_fields()[key]
        if value is None or isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            return None
        return "value", value

    def set_field(self, owner: Any, key: str, value: Any) -> None:
        """Set a field, or a method of this object; None takes it away."""
        name = _PYTHON_NAMES.get(key, key)
        if name in getattr(owner, "size_fields", ()) and isinstance(value, Storage):
            value = [int(n) for n in value]
        if value is None:
            if name in _RESULTS:
                setattr(owner, name, None)
            elif name in owner.__dict__ and name not in getattr(owner, "parameter_names", ()):
                delattr(owner, name)
            elif hasattr(owner, name) and not callable(getattr(type(owner), name, None)):
                setattr(owner, name, None)
            return
        if isinstance(value, LuaFunction):
            value = BoundLuaMethod(value, owner)
        elif (callable(value) and self.original(value) is not value) or isinstance(
            value, types.FunctionType
        ):
            value = types.MethodType(self.original(value), owner)
        if name in getattr(owner, "parameter_names", ()):
            # In Torch7 a parameter has no gradient until one is set.
            getattr(type(owner), name).put(owner, value, with_gradient=False)
            return
        setattr(owner, name, value)

    def names(self, owner: Any) -> Any:
        """The names of the fields of an object."""
        if isinstance(owner, (Module, Criterion)):
            hidden = {*ENGINE_FIELDS, *owner.transient_fields, *owner.pass_fields}
            found = [
                _LUA_NAMES.get(name, name)
                for name, value in owner.__dict__.items()
                if name not in hidden and not name.startswith("_pending_") and value is not None
            ]
            for name in getattr(owner, "parameter_names", ()):
                parameter = owner.__dict__.get(name)
                if parameter is not None and parameter.grad is not None:
                    found.append("grad" + name[0].upper() + name[1:])
            found += [name for name in (*_RESULTS, "_type") if name not in found]
        else:
            found = [name for name, value in owner.__dict__.items() if value is not None]
        return self.runtime.lua.table_from(found)

    def getParameters(self, module: Module) -> Any:
        """``getParameters``: each call makes new flat tensors, and leaves earlier ones behind."""
        plain = _plain(module, "getParameters")
        if plain is _PLAIN["getParameters"]:
            for part in module.parameters():
                _leave(part)
        result = plain(module)
        self.refresh(module)
        return result

    def share(self, module: Module, mlp: Any, *names: str) -> Any:
        """``share``; Lua sees the tensors moved that it holds."""
        result = _plain(module, "share")(module, mlp, *names)
        self.refresh(module)
        return result

    def clone(self, module: Module, *names: str) -> Any:
        """``clone``; as in Torch7 through a file, where classes of Lua say what goes into one."""
        if not any(_has_own_files(type(part)) for part in module.listModules()):
            return _plain(module, "clone")(module, *names)
        new = self.runtime.execute(_CLONE, module)
        return new.share(module, *names) if names else new

    def refresh(self, module: Module) -> None:
        """Have Lua look at the parameters again."""
        moves.moved(t for part in module.parameters() for t in part if t is not None)

    def nll_updateOutput(self, criterion: Any, input: Any, target: Any = None) -> tuple[Any, float]:
        """The loss of a ``ClassNLLCriterion`` and the sum of the weights of its targets."""
        loss = ClassNLLCriterion.updateOutput(criterion, input, target)
        return loss, criterion.total_weight_tensor.item()

    def nll_forward(self, criterion: Any, input: Any, target: Any = None) -> Any:
        """``forward``, with both results."""
        loss = criterion.forward(input, target)
        if type(criterion).updateOutput is not ClassNLLCriterion.updateOutput:
            return loss
        return loss, criterion.total_weight_tensor.item()

    # Files ----------------------------------------------------------------------------------------

    def saved_fields(self, owner: Any) -> Any:
        """What a file holds of an object."""
        fields = owner.t7_fields() if hasattr(owner, "t7_fields") else dict(vars(owner))
        return {key: self._saved(value) for key, value in fields.items()}

    def _saved(self, value: Any) -> Any:
        if isinstance(value, BoundLuaMethod):
            return value.function
        if isinstance(value, TorchObject) and value.fields is None:
            # Nothing is known but its class, torch.Timer for one: Lua writes such an object.
            return self.runtime.eval("torch.factory(...)()", value.typename)
        return value

    def hooks(self, owner: Any) -> tuple[bool, bool]:
        """Whether the class has ways of its own to be read from a file, and written."""
        entry = find_class(type(owner))
        return (
            (False, False) if entry is None else (entry.read is not None, entry.write is not None)
        )

    def written(self, owner: Any) -> Any:
        """What such an object writes: kinds, values, how many."""
        entry = find_class(type(owner))
        assert entry is not None and entry.write is not None
        items = list(entry.write(owner))
        table = self.runtime.lua.table_from
        return (
            table([_request(kind)[0] for kind, _ in items]),
            table([value for _, value in items]),
            len(items),
        )

    def reading(self, owner: Any, version: float) -> Any:
        """A reader of such an object, for ``next_request``."""
        entry = find_class(type(owner))
        assert entry is not None and entry.read is not None
        return entry.read(owner, version)

    def next_request(self, reader: Any, value: Any = None, kind: str = "") -> tuple[Any, ...]:
        """What it wants to read next, nothing at the end, for what it wanted last."""
        if kind == "FIELDS" and isinstance(value, list):
            value = dict(enumerate(value, 1))
        try:
            return _request(reader.send(value))
        except StopIteration:
            return (None,)

    def storage(self, flat: Tensor) -> Storage:
        """A storage, given as a flat tensor."""
        return Storage(flat)

    def numbers(self, flat: Tensor) -> list[Any]:
        """What a storage of sizes holds."""
        return list(flat.tolist())

    def restore(self, owner: Any, fields: Any, version: int = 1) -> None:
        """Become what a file says."""
        if isinstance(fields, list):
            fields = dict(enumerate(fields, 1))
        if hasattr(owner, "t7_restore"):
            owner.t7_restore(fields, version)
        else:
            vars(owner).update(fields)

    # Tables ---------------------------------------------------------------------------------------

    def make(self, kind: str) -> tuple[Any, int, Any]:
        """An empty list or dict, its identity, and a copy."""
        new: Any = [] if kind == "list" else {}
        return new, id(new), copy.copy(new)

    def list_assign(self, target: list[Any], *items: Any) -> list[Any]:
        """Fill a list. Returns a copy."""
        target[:] = items
        return list(items)

    def dict_assign(self, target: dict[Any, Any], *items: Any) -> dict[Any, Any]:
        """Fill a dict with keys and values in turn. Returns a copy."""
        target.clear()
        keys = (Key(key) if isinstance(key, (list, dict)) else key for key in items[::2])
        target.update(zip(keys, items[1::2], strict=True))
        return dict(target)

    def contents(self, value: Any) -> tuple[Any, ...]:
        """Keys (None for a list), values, how many, and a copy of a list or dict."""
        return (*self.runtime.items_of(value), copy.copy(value))

    def changed_contents(self, value: Any, known: Any) -> tuple[Any, ...] | None:
        """``contents`` of what holds other things than ``known``, a copy of before.

        A tensor is another one, too, where it has moved since Lua looked.
        """
        if isinstance(value, list):
            same = len(value) == len(known) and all(map(_same, value, known))
            items: Iterable[Any] = value
        else:
            same = value.keys() == known.keys() and all(_same(value[k], known[k]) for k in value)
            items = value.values()
        has_seen = self.runtime.has_seen
        if same and all(has_seen(item) for item in items if type(item) is Tensor):
            return None
        return self.contents(value)


def _plain(module: Module, name: str) -> Callable[..., Any]:
    """The class's method; where functions of Lua stand, the one after them, which they call."""
    found: Callable[..., Any] | None = None
    for base in type(module).__mro__:
        method = vars(base).get(name)
        if isinstance(method, LuaMethod):
            found = None
        elif found is None:
            found = method
    return found or _PLAIN[name]


def _leave(parameters: list[Tensor]) -> None:
    """Give tensors new memory with the same contents; what shared memory goes on sharing it."""
    copies: dict[int, Tensor] = {}
    for tensor in dict.fromkeys(t for t in parameters if t is not None):
        place = storage_identity(tensor)
        if place not in copies:
            size = tensor.untyped_storage().nbytes() // tensor.element_size()
            copies[place] = tensor.detach().as_strided((size,), (1,), 0).clone()
        tensor.__dict__.pop("_flat", None)
        tensor.data = copies[place].as_strided(
            tensor.shape, tensor.stride(), tensor.storage_offset()
        )


def _has_own_files(cls: type) -> bool:
    """Whether a class of Lua has its own ``write`` or ``read``."""
    return cls.__module__ == "lua" and any(
        isinstance(getattr(cls, name, None), LuaMethod) for name in ("write", "read")
    )


@functools.cache
def _flags(cls: type) -> tuple[bool, ...]:
    """Which arguments of a constructor are true or false."""
    parameters = inspect.signature(cls).parameters.values()
    plain = itertools.takewhile(lambda p: p.kind is p.POSITIONAL_OR_KEYWORD, parameters)
    return tuple(str(p.annotation).partition(" ")[0] == "bool" for p in plain)


@functools.cache
def _takes_modules(cls: type) -> bool:
    """Whether a constructor takes modules, where Torch7's takes nothing, and minds nothing."""
    found = inspect.signature(cls).parameters.get("modules")
    return found is not None and found.kind is found.VAR_POSITIONAL


def _with_truth(cls: type, args: tuple[Any, ...]) -> list[Any]:
    """Arguments of a constructor as Lua has them: whatever is not false or nil is true."""
    flags = _flags(cls)
    return [
        True if i < len(flags) and flags[i] and a is not None and a is not False else a
        for i, a in enumerate(args)
    ]


def _request(request: Any) -> tuple[str, int]:
    return request.name.partition("_(")[0], getattr(request, "count", 0)


def _same(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, (int, float, str)) and type(a) is type(b) and a == b)


def _is_public(cls: type) -> bool:
    return not cls.__name__.startswith("_") and find_class(cls) is not None


def _typename(cls: type) -> str:
    entry = find_class(cls)
    return getattr(cls, "typename", None) or (entry.typename if entry else "")


def _put_back(reuses: bool) -> None:
    reuse_buffers(reuses)


def install(runtime: Runtime) -> Any:
    """Prepare a runtime for nets. Returns what Lua calls."""
    objects = Objects(runtime)
    runtime.instance_kinds = objects.kinds
    runtime.at_end.append(objects.restore_classes)
    # What an optimizer computes when somebody reads it: once is enough for what Lua may read.
    runtime.represent(Recomputed, Tensor.detach)
    errands.accept()
    runtime.home = threading.get_ident()
    before = reuse_buffers(runtime.reuses_buffers)
    runtime.at_end.append(functools.partial(_put_back, before))
    return runtime.lua.table_from(objects.functions())
