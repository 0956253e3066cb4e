"""The Lua runtime behind drafts: how it shows their objects to Lua, and Lua's to them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakValueDictionary

import torch

from compat import torch as torch7
from compat.lua import LuaTable, Runtime
from compat.lua.errors import LuaError
from compat.lua.exchange import Exchange
from compat.lua.runtime import describe_error
from compat.lua.values import LuaFunction
from compat.lua_tables import attribute, field
from compat.port.lua import coroutine
from compat.port.lua.errors import is_library, is_of_draft, value_at_origin, value_of
from compat.port.lua.objects import Object
from compat.port.lua.runtime import Original, Storage, call_once, function_of, once, serialized
from compat.port.lua.tables import pairs
from compat.port.lua.text import bytes_as_text
from compat.port.lua.values import first, results, values
from compat.t7.objects import registry
from compat.tensor_types import CUDA_TYPES, type_name

# Lua sees a class of a draft as a table with its functions and fields, which is called to make an
# object. `number` is what Python knows it by.
_FACE = """
function(t7, faces, number, attribute, assign, make, class, entries)
   local meta = {
      __index = function(_, key) return t7.to_lua(t7.call(attribute, number, key)) end,
      __newindex = function(_, key, value) t7.call(assign, number, key, t7.to_python(value)) end,
      __call = function(_, ...) return t7.send(make, select('#', ...) + 1, number, ...) end,
      __pairs = function() return next, t7.to_lua(t7.call(entries, number)) end,
   }
   t7.exporters[meta] = function() return t7.call(class, number) end
   local face = setmetatable({}, meta)
   faces[face] = function() return t7.define_class(t7.call(class, number)) end
   return face
end
"""
# A table that gets a draft's class for its metatable becomes an object of the class.
_FACES = """
local faces = setmetatable({}, {__mode = 'k'})
local set = setmetatable
function setmetatable(t, mt) return set(t, mt and faces[mt] and faces[mt]() or mt) end
return faces
"""

# Files have none of Python's functions.
_LEAVE_OUT = """
function(t7)
   t7.leave_out = function(object) if t7.python_of[object] == nil then return object end end
end
"""
# In a coroutine of Lua's, functions of drafts may yield; functions of Lua, step by step.
_YIELDS = """
function(t7, begin)
   local direct, running, yield = t7.from_python_call, coroutine.running, coroutine.yield
   local function go(step, is_over, ...)
      if is_over then return ... end
      return go(step, direct(step, yield(...)))
   end
   function t7.from_python_call(f, ...)
      local own, is_program = running()
      local step = own and not is_program and t7.call(begin, f)
      if not step then return direct(f, ...) end
      return go(step, direct(step, ...))
   end
   local create, resume, status = coroutine.create, coroutine.resume, coroutine.status
   local function told(own, ok, ...)
      if not ok then error((...), 0) end
      return status(own) == 'dead', ...
   end
   return function(f)
      local own = create(f)
      return function(...) return told(own, resume(own, ...)) end
   end
end
"""
_TYPES = "function(t7) t7.tells_types = false end"
_SIZES = "function(...) return torch.LongStorage{...} end"
_MEMORY = """
function(t7, x)
   x = t7.to_lua(x)
   return x:storage() or torch.factory((x:type():gsub('Tensor', 'Storage')))()
end
"""


class Instance(LuaTable):
    """A table of Lua with a metatable: ``x.f()`` is the first result of ``x:f()``.

    In a package, and in what is in it, ``x.f()`` is that of ``x.f()``; ``x["f"]`` is the function.
    """

    def __init__(self, state: Runtime, table: Any) -> None:
        super().__init__(state, table)
        own = {"__has__": lambda name: state.access("has", table, name), "__is_package__": False}
        self.__dict__.update(own)

    def __iter__(self) -> Iterator[Any]:
        """Go through the values of a list, such as Penlight's, and the keys of all else."""
        return iter(self.entries() or self.keys())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        name = field(name)
        found = self[name]
        own = self.__dict__
        if isinstance(found, Instance):
            return found.as_package() if own["__is_package__"] else found
        if callable(found) and not isinstance(found, type):
            is_method = not own["__is_package__"]
            return functools.partial(call_once, self, name) if is_method else once(found)
        return found

    def all_results(self, *args: Any) -> tuple[Any, ...]:
        """Return all that a call gives."""
        return values(super().__call__(*args))

    def __call__(self, *args: Any) -> Any:
        found = self.all_results(*args)
        return first(found) if self.__dict__["__is_package__"] else results(found)

    def t7_object(self) -> Any:
        return serialized(self)

    def __neg__(self) -> Any:
        return function_of("function(a) return -a end")(self)

    def as_package(self) -> Instance:
        """Return it as a package."""
        made = Instance(self._state, self._handle)
        vars(made)["__is_package__"] = True
        return made

    __hash__ = object.__hash__  # a key by its identity, as in Lua

    def __eq__(self, other: object) -> bool:
        return bool(function_of("function(a, b) return a == b end")(self, other))


def _operator(sign: str, is_reflected: bool = False) -> Callable[[Any, Any], Any]:
    """Return an operator that asks the metatables of Lua."""

    def operate(self: Any, other: Any) -> Any:
        a, b = (other, self) if is_reflected else (self, other)
        return function_of(f"function(a, b) return a {sign} b end")(a, b)

    return operate


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "mod": "%", "pow": "^"}
for _name, _sign in _SIGNS.items():
    setattr(Instance, f"__{_name}__", _operator(_sign))
    setattr(Instance, f"__r{_name}__", _operator(_sign, is_reflected=True))
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "concat": ".."}.items():
    setattr(Instance, f"__{_name}__", _operator(_sign))


class _Where(type):
    """A class of all values of which ``test`` is true."""

    test: Callable[[Any], bool]

    def __instancecheck__(cls, value: object) -> bool:
        return cls.test(value)


class _Function(LuaFunction):
    """A function of Lua."""

    def __get__(self, owner: Any, _cls: type) -> Any:  # a method of a class, as those in Python
        return self if owner is None else functools.partial(self, owner)


def _object(value: Any) -> Any:
    """Return an object that only Lua has, with its fields and methods; Python's as they are."""
    return Original(value) if type(value).__module__.startswith("lupa") else value


# A text of Lua has a letter for each byte.
_KEYED = {"get", "put", "field", "has_field", "set_field"}


def _letters(value: Any) -> Any:
    is_text = isinstance(value, str) and not value.isascii()
    return value.encode("utf-8", "surrogateescape").decode("latin-1") if is_text else value


def _text(value: Any) -> Any:
    is_text = isinstance(value, str) and not value.isascii()
    return bytes_as_text(value.encode("latin-1")) if is_text else value


def _in_texts(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: function(*map(_text, args))


class _Exchange(Exchange):
    def classified(self, value: Any) -> Any:
        return super().classified(_letters(value))


class DraftRuntime(Runtime):
    """A runtime whose objects have methods in Python, and that knows the classes of drafts."""

    exchange_kind = _Exchange

    def __init__(self, default_type: str) -> None:
        self._default = default_type
        self._tables: WeakValueDictionary[int, Instance] = WeakValueDictionary()  # by addresses
        super().__init__(default_type)
        self.calls.text = _text
        self._classes: dict[int, type] = {}
        self._faces: dict[type, Any] = {}
        self.lua_classes: dict[str, type] = {}  # what stands for classes of Lua, by their addresses
        self.represent_where(lambda v: isinstance(v, type) and issubclass(v, Object), self._face)
        sizes, memory = self.lua.eval(_SIZES), self.lua.eval(_MEMORY)
        self.represent(Original, lambda original: vars(original)["__handle__"])
        # Torch7's empty tensors have no sizes; a fresh LongStorage may hold zeros.
        self.represent(torch.Size, lambda size: sizes(*size if size != (0,) else ()))
        self.represent(Storage, lambda storage: memory(self._t7, storage.tensor))
        self.lua.eval(_LEAVE_OUT)(self._t7)
        self.lua.eval(_TYPES)(self._t7)
        self._stepped = self.lua.eval(_YIELDS)(self._t7, self._begin)
        self._known_faces = self.lua.execute(_FACES)

    def _helpers(self) -> dict[str, Callable[..., Any]]:
        own: dict[str, Callable[..., Any]] = {
            "make_table": self._make_table,
            "make_object": _object,
            "describe_error": self._described,
            "describe_tensor": self._describe_tensor,
            "watched": self._watched,
        }
        return super()._helpers() | own

    def _make_table(self, table: Any, address: int) -> Instance:
        found = self._tables.get(address)
        if found is None:
            found = self._tables[address] = Instance(self, self._at_home(table))
        return found

    def _make_function(self, function: Any, address: int) -> LuaFunction:
        return _Function(self, self._at_home(function), address)

    def keys_from(self, keys: list[Any]) -> Any:
        """Return a new table of Lua that lists the keys of one of Python's."""
        return super().keys_from(list(map(_letters, keys)))

    def faces(self, functions: dict[str, Callable[..., Any]]) -> Any:
        """Return the functions by which Lua reads and writes what Python has."""
        keyed = {name: _in_texts(functions[name]) for name in _KEYED & functions.keys()}
        return super().faces(functions | keyed)

    def invoke(self, function: Any, *args: Any) -> Any:
        """Call a function of Lua, in a coroutine of a draft as one of Lua's, which may yield."""
        found = self._invoked(function, *map(_letters, args))
        return tuple(map(_text, found)) if isinstance(found, tuple) else _text(found)

    def _invoked(self, function: Any, *args: Any) -> Any:
        call = super().invoke
        if self._default != (default := torch7.getdefaulttensortype()) and not self._depth:
            self._default = default
            self.execute("torch.setdefaulttensortype(...)", default)
        if coroutine.running()[1]:
            return call(function, *args)
        step = coroutine.by_the_program(lambda: self._stepped(function))
        while True:
            made = coroutine.by_the_program(functools.partial(call, step, *args))
            has_ended, *found = values(made)
            if has_ended:
                break
            args = values(coroutine.yield_(*found))
        return results(found) if found else None

    def _begin(self, function: Any) -> Callable[..., Any] | None:
        """Return a draft's function in steps, as it yields: whether it has ended, and values."""
        if not getattr(function, "is_of_draft", False):
            return None
        one = coroutine.Coroutine(function)

        def step(*args: Any) -> tuple[Any, ...]:
            found = one.resume(*args)
            return one.state == "dead", *found

        return step

    def represent_where(self, test: Callable[[Any], bool], convert: Callable[[Any], Any]) -> None:
        """Register ``convert`` for all values of which ``test`` is true."""
        self.represent(_Where("where", (), {"test": staticmethod(test)}), convert)

    def keep(self, value: Any) -> int:
        """Keep an error's value, for its way into Lua; the number tells which it is."""
        return int(self.execute("return torch._t7.keep_error(...)", value))

    def _describe_tensor(self, tensor: torch.Tensor) -> tuple[Any, ...]:
        """Describe a tensor; where GPUs are CPUs, a draft does not know which are on one."""
        identity, name, *rest = self.exchange.describe_tensor(tensor)
        if tensor.is_cpu and name in CUDA_TYPES:
            name = type_name(CUDA_TYPES[name])
        return (identity, name, *rest)

    def _described(self, error: Any) -> tuple[str, str, int | None]:
        if "origin" in vars(error) and is_of_draft(error):
            vars(error).update(kept=self.keep(value_at_origin(error)), traceback=None)
        return describe_error(error)

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        made = self._as_called(function)
        watched = self.exchange.watched(made)
        vars(watched)["is_of_draft"] = made is not function
        return watched

    def _as_called(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of a draft as Lua calls it.

        It ignores further arguments, and lacks none; its errors are what Lua's would be.
        """
        code = getattr(function, "__code__", None)
        if code is None or is_library(code.co_filename):
            return function
        owner = getattr(function, "__self__", None)
        takes_all = code.co_flags & inspect.CO_VARARGS
        count = None if takes_all else code.co_argcount - (owner is not None)
        needed = (count or 0) - len(function.__defaults__ or ())

        def called(*args: Any) -> Any:
            try:
                return function(*map(_text, args[:count]), *[None] * (needed - len(args)))
            except LuaError:
                raise
            except Exception as problem:
                if "origin" in vars(problem):
                    raise
                raised = LuaError(str(problem))
                raised.kept = self.keep(value_of(problem))
                raise raised from problem

        return called

    def know_objects(self) -> None:
        """Have objects of drafts' classes be objects in Lua; after ``require 'nn'``."""
        kinds = self.exchange.instance_kinds
        if Object not in kinds:
            self.exchange.instance_kinds = (*kinds, Object)

    def class_named(self, typename: str) -> Any:
        """Return a class of a draft by its name in Lua."""
        found = [entry.cls for entry in registry.provide(typename) if entry.cls is not None]
        return found[0] if found else None

    def _face(self, cls: type) -> Any:
        if cls not in self._faces:
            number = len(self._classes) + 1
            self._classes[number] = cls
            keyed: list[Callable[..., Any]] = [self._attribute, self._assign, self._make]
            parts = (*map(_in_texts, keyed), self._classes.__getitem__, self._entries)
            self._faces[cls] = self.lua.eval(_FACE)(self._t7, self._known_faces, number, *parts)
        return self._faces[cls]

    def _attribute(self, number: int, key: Any) -> Any:
        is_name = isinstance(key, str)
        return _letters(getattr(self._classes[number], attribute(key), None)) if is_name else None

    def _assign(self, number: int, key: str, value: Any) -> None:
        setattr(self._classes[number], attribute(key), value)

    def _entries(self, number: int) -> dict[Any, Any]:
        return dict(pairs(self._classes[number]))

    def _make(self, number: int, *args: Any) -> Any:
        return self._classes[number](*args)
