"""The Lua runtime behind drafts: what PyTorch has no counterpart of, Torch7's own code computes."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch as _torch

from compat import nn, t7
from compat import torch as torch7
from compat.lua_tables import field

# Before the results it tells which of them are storages, which come as tensors.
_CALL = """
(function()
   local function marked(...)
      local places = {}
      for i = 1, select('#', ...) do
         local kind = torch.typename((select(i, ...)))
         if kind and kind:find('Storage$') then places[#places + 1] = i - 1 end
      end
      return table.concat(places, ' '), ...
   end
   return %s
end)()
"""
_BY_NAME = "function(object, ...) return marked(object:%s(...)) end"
_BY_VALUE = """
function(f, ...)
   local unnamed = {f} -- in errors Torch7's functions have no name
   return marked(unnamed[1](...))
end
"""
_FIELD = "function(object, name) return object[name] end"
_ASSIGN = "function(object, name, value) object[name] = value end"

_ENTRIES = """
function(object)
   local keys, values = {}, {}
   for key, value in pairs(object) do
      keys[#keys + 1], values[#values + 1] = key, value
   end
   return keys, values
end
"""

# A table with a metatable stays Lua's, and is Python's `LuaTable`.
_ENTRY = """
function(name)
   local found = (%s)[name]
   local meta = getmetatable(found)
   if type(found) == 'table' and not meta then setmetatable(found, {}) end
   return found, type(found) == 'table' and not (meta and meta.__call)
end
"""
_LOADED = """
local find = ...
setmetatable(package.loaded, {__index = function(_, name) return find(name) end})
"""

# What Lua prints goes where Python prints.
_PRINT = """
local write = ...
function io.write(...) write(table.concat({...})) end
function print(...)
   local words = {...}
   for i = 1, select('#', ...) do words[i] = tostring(words[i]) end
   write(table.concat(words, '\\t') .. '\\n')
end
"""


class Storage:
    """The memory of a tensor, with Torch7's methods; ``tensor`` is all of it, flat."""

    def __init__(self, x: _torch.Tensor) -> None:
        memory = x.untyped_storage()
        count = memory.nbytes() // x.element_size()
        self.tensor = x.detach().as_strided((count,), (1,), 0)

    def size(self, _dimension: int = 0) -> int:
        """Return how many elements; Torch7 takes any argument."""
        return self.tensor.numel()

    __len__ = size

    def resize(self, count: int) -> Storage:
        """Change the number of elements; new ones hold anything."""
        self.tensor.untyped_storage().resize_(int(count) * self.tensor.element_size())
        self.tensor = self.tensor.as_strided((int(count),), (1,), 0)
        return self

    def fill(self, value: float) -> Storage:
        """Set all elements."""
        self.tensor.fill_(value)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "tensor":
            raise AttributeError(name)
        return functools.partial(call_method, self, name)

    def totable(self) -> list[float]:
        """Return the elements."""
        found: list[float] = self.tensor.tolist()
        return found

    def t7_object(self) -> Any:
        """Return what is saved: the storage that files have."""
        return t7.Storage(self.tensor)


@functools.cache
def draft_runtime() -> Any:
    """Return the runtime."""
    from compat.port.lua.embedded import DraftRuntime
    from compat.port.lua.modules import loaded
    from compat.port.lua.text import bytes_as_text

    default = torch7.getdefaulttensortype()
    made = DraftRuntime(default)
    made.execute(_PRINT, lambda data: sys.stdout.write(bytes_as_text(data.encode("latin-1"))))
    made.require("trepl")  # whose print shows tables
    state = torch7.getRNGState()
    made.require("nn")  # draws random numbers
    torch7.setRNGState(state)
    made.know_objects()
    made.execute(_LOADED, loaded)
    return made


@functools.cache
def function_of(code: str) -> Any:
    """Return a function in Lua."""
    return draft_runtime().eval(code)


def _given(value: Any) -> Any:
    """Return a value for Lua: bools are bytes there."""
    if isinstance(value, _torch.Tensor) and value.dtype == _torch.bool:
        return value.view(_torch.uint8)
    return value


def _taken(value: Any, is_storage: bool) -> Any:
    """Return a value of Lua for Python: sizes and storages."""
    if is_storage and isinstance(value, list):
        return _torch.Size(value)
    if is_storage and isinstance(value, _torch.Tensor):
        made = Storage(value)
        made.tensor = value.detach()  # it may be a part of another
        return made
    return value


def all_results(function: Any, *args: Any) -> tuple[Any, ...]:
    """Return what a function gives, or the method of this name of the first argument."""
    draft_runtime()
    if isinstance(function, str):
        found = function_of(_CALL % _BY_NAME % function)(*map(_given, args))
    else:
        found = function_of(_CALL % _BY_VALUE)(function, *map(_given, args))
    if not isinstance(found, tuple):
        return ()
    places = set(map(int, found[0].split()))
    return tuple(_taken(value, i in places) for i, value in enumerate(found[1:]))


def called(function: Any, *args: Any) -> Any:
    """Return one result by itself, None for none, a tuple of several."""
    found = all_results(function, *args)
    return found if len(found) > 1 else next(iter(found), None)


def called_once(function: Any, *args: Any) -> Any:
    """Return the first result; None if there is none."""
    return next(iter(all_results(function, *args)), None)


def call_method(owner: Any, name: str, *args: Any) -> Any:
    """``owner:name(…)`` in Lua."""
    if name.startswith(("cuda", "getDevice")):
        draft_runtime().require("cutorch")  # brings such methods
    return called(name, owner, *args)


def method_of(owner: Any, name: str) -> _Function | None:
    """``owner.name`` in Lua, which takes ``owner`` or another object first; None: no such."""
    found = called(function_of(_FIELD), owner, name)
    return None if found is None else _Function(found)


def call_once(owner: Any, name: str, *args: Any) -> Any:
    """Return the first result of ``owner:name(…)`` in Lua."""
    return called_once(name, owner, *args)


_GIVE_TWO = {"parameters", "getParameters", "findModules"}  # methods of nn.Module


class Original:
    """An object that only Lua has: ``file.readInt()`` is the first result of ``file:readInt()``.

    ``lua.method`` gives all results. Those of ``nn.Module`` that give two do so.
    """

    def __init__(self, handle: Any) -> None:
        self.__dict__["__handle__"] = handle

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        from compat.lua.errors import LuaError

        name = field(name)
        try:
            found = called(function_of(_FIELD), self, name)
        except LuaError as problem:  # of what has no other names than those of its methods
            raise AttributeError(str(problem)) from problem
        if isinstance(found, Original) or not callable(found):
            return found
        return functools.partial(call_method if name in _GIVE_TWO else call_once, self, name)

    def __getitem__(self, key: Any) -> Any:
        return called(function_of(_FIELD), self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        called(function_of(_ASSIGN), self, key, value)

    __setattr__ = __setitem__

    def t7_object(self) -> Any:
        return serialized(self)

    def __len__(self) -> int:
        return int(called(function_of("function(x) return #x end"), self))

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return str(called(function_of("tostring"), self))

    def __eq__(self, other: object) -> bool:
        return bool(function_of("function(a, b) return a == b end")(self, other))

    def __hash__(self) -> int:
        return hash(type(self))

    def __deepcopy__(self, memo: object) -> Any:
        return called(
            function_of("function(x) return torch.deserialize(torch.serialize(x)) end"), self
        )


def serialized(owner: Any) -> Any:
    """Return what a file holds of an object that only Lua has."""
    text = function_of("torch.serialize")(owner)
    return t7.loads(text.encode("utf-8", "surrogateescape"))


def original_typename(owner: Original) -> str | None:
    """``torch.typename`` of an object that only Lua has."""
    found: str | None = called(function_of("torch.typename"), owner)
    return found


def original_entries(owner: Original | Package) -> list[tuple[Any, Any]]:
    """Return what Lua's ``pairs`` goes through."""
    if isinstance(owner, Package):
        return [(key, owner[key]) for key, _ in original_entries(owner.as_original())]
    keys, values = called(function_of(_ENTRIES), owner)
    return list(zip(keys, values, strict=True))


def call_operator(operator: str, a: Any, b: Any) -> Any:
    """``a operator b`` in Lua: on tensors as Torch7 computes it."""
    draft_runtime()
    return function_of(f"function(a, b) return a {operator} b end")(_given(a), _given(b))


_EXPRESSIONS = {  # others: by their names
    "_G": "_G",
    "pl": "require('pl.import_into')()",
    "ffi.C": "require('ffi').C",
}


class Package:
    """A package of Lua: ``package("paths").uname()`` gives the first result of ``paths.uname()``.

    ``package("paths")["uname"]`` is the function, which gives all; so do those of ``torch``.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if (inner := f"{self.__name__}.{name}") in _EXPRESSIONS:
            return package(inner)
        found = self[name]
        is_one = isinstance(found, _Function) and self.__name__ != "torch"
        return once(found) if is_one else found

    def __getitem__(self, name: str) -> Any:
        if self.__name__ == "torch" and name.startswith("Cuda"):
            draft_runtime().require("cutorch")
        look = function_of(_ENTRY % self._found())
        found, is_open = look(name)
        if found is None and self.__name__ == "nn" and hasattr(nn, name):
            draft_runtime().require("rnn")  # brings classes of its own and of dpnn's
            found, is_open = look(name)
        if hasattr(type(found), "as_package"):  # of an ``Instance``
            found = found.as_package()
        is_of_c = isinstance(found, Original) and self.__name__.startswith("ffi.")
        return _Function(found) if is_of_c or (callable(found) and not is_open) else found

    def as_original(self) -> Original:
        """Return its table."""
        return Original(function_of(f"function() return {self._found()} end")())

    def _found(self) -> str:
        if self.__name__ in _EXPRESSIONS:
            return _EXPRESSIONS[self.__name__]
        return f"_G['{self.__name__}'] or require '{self.__name__}'"


class _Function:
    """A function of Lua. It is equal to whatever is the same in Lua."""

    def __init__(self, function: Any) -> None:
        vars(self)["_function"] = function

    def __eq__(self, other: Any) -> bool:
        return bool(function_of("rawequal")(self._function, getattr(other, "_function", other)))

    def __hash__(self) -> int:
        return hash(type(self))

    def all_results(self, *args: Any) -> tuple[Any, ...]:
        """Return the results of a function of Lua."""
        return all_results(self._function, *args)

    def __call__(self, *args: Any) -> Any:
        return called(self._function, *args)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if function_of("type")(self._function) == "function":
            return None
        found = called(function_of(_FIELD), self._function, name)
        return _Function(found) if callable(found) else found

    def __setattr__(self, name: str, value: Any) -> None:
        called(function_of(_ASSIGN), self._function, name, value)

    __setitem__ = __setattr__


class _Once(_Function):
    """A function of Lua that gives one result."""

    def __call__(self, *args: Any) -> Any:
        return called_once(self._function, *args)


def once(function: Any) -> _Function:
    """Return a function of Lua as one that gives its first result."""
    return _Once(getattr(function, "_function", function))


def library(name: str, *args: Any) -> Package:
    """Return a library of C, as ``ffi.load`` does."""
    function_of("require('ffi').load")(name, *args)
    made = Package(f"ffi.load {name}")
    _EXPRESSIONS[made.__name__] = f"require('ffi').load({name!r})"
    return made


@functools.cache
def package(name: str) -> Package:
    """Return a package as the Lua runtime has it."""
    return Package(name)


torch = Package("torch")
