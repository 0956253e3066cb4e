"""Lua files and functions that stay Lua, with the face of Python ones.

``lua.module("part.lua", __file__)`` runs the file beside a draft and gives what it returns; what it
``require``s of the program is the draft of that file, if there is one, and its global variables are
those of the drafts. Tables, tensors and functions pass both ways as ``compat.lua`` passes them.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from compat import torch as torch7
from compat.lua_tables import MixedTable, items
from compat.port.lua.kinds import is_of_lua
from compat.port.lua.objects import Object, ObjectClass
from compat.port.lua.runtime import called, called_once, draft_runtime, function_of
from compat.port.lua.text import bytes_as_text, text
from compat.port.lua.values import first, results, values
from compat.port.write.python_names import WHOLE

MANIFEST = "port.json"
PACKAGES = {"nn", "optim", "cunn", "cudnn", "cutorch", "nngraph", "rnn"}

# What files in Lua have for global variables: those of the drafts, then Lua's own. What they set
# stays in Lua, until a draft sets it. A function has names of its draft's module besides.
_ENVIRONMENT = """
local read, write, has, is_imported = ...
local G, common = _G, {}
setmetatable(common, {
   __index = function(_, key)
      local value = rawget(G, key)
      if value == nil then value = read(key) end
      if value == nil then value = G[key] end
      if value == nil and is_imported(key) then value = require(key) end
      return value
   end,
   __newindex = function(self, key, value)
      if has(key) then write(key, value) else rawset(self, key, value) end
   end,
})
rawset(common, '_G', common)
local function run(environment, text, name, ...)
   local chunk, problem = loadstring(text, name)
   if not chunk then error(problem, 0) end
   return setfenv(chunk, environment)(...)
end
local function with(given, take, put)
   local known = {}
   for _, word in ipairs(given) do known[word] = true end
   return setmetatable({}, {
      __index = function(_, key) if known[key] then return take(key) end return common[key] end,
      __newindex = function(_, key, value)
         if known[key] then put(key, value) else common[key] = value end
      end,
   })
end
return {
   file = function(...) return run(common, ...) end,
   part = function(given, take, put, ...) return run(with(given, take, put), ...) end,
   load = function(given, take, put, ...)
      local chunk, problem = loadstring(...)
      if not chunk then return nil, problem end
      return setfenv(chunk, with(given, take, put))
   end,
   get = function(key) return rawget(common, key) end,
   drop = function(key) rawset(common, key, nil) end,
}
"""
# Before Lua looks for a file of the program, its draft is asked for. A file that Lua runs loads
# its like with `dofile`, too.
_LOADERS = """
local find = ...
table.insert(package.loaders, 1, function(name)
   local found, value = find(name, true)
   if found then return function() return value == nil and true or value end end
end)
local paths = require 'paths'
local dofile_, paths_dofile = dofile, paths.dofile
local function chosen(other, path, depth, found, ...)
   if found then return ... end
   return other(path, depth)
end
function dofile(path) return chosen(dofile_, path, nil, find(path, false)) end
function paths.dofile(path, depth)
   return chosen(paths_dofile, path, depth, find(path, false))
end
"""
# Classes of drafts are where Lua looks for them.
_CLASSES = """
local find = ...
local function looked_up(place, prefix)
   local meta = getmetatable(place) or setmetatable(place, {}) and getmetatable(place)
   local before = meta.__index
   meta.__index = function(self, key)
      local value
      if type(before) == 'function' then value = before(self, key)
      elseif before then value = before[key] end
      if value == nil and type(key) == 'string' then value = find(prefix .. key) end
      return value
   end
end
looked_up(_G, '')
looked_up(require 'nn', 'nn.')
"""


class Namespace:
    """A table of Lua with functions: ``part.name(x)``, ``part["name"]``."""

    def __init__(self, table: dict[Any, Any]) -> None:
        self.__dict__["__table__"] = table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return named(self.__dict__["__table__"].get(name))

    __getitem__ = __getattr__

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["__table__"][name] = value

    __setitem__ = __setattr__

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__dict__["__table__"])

    def keys(self) -> list[Any]:
        """Return the keys of the module's variables."""
        return list(self.__dict__["__table__"])

    def items(self) -> list[tuple[Any, Any]]:
        """Return keys and values."""
        return [(key, named(value)) for key, value in self.__dict__["__table__"].items()]


class LuaClass(ObjectClass):
    """Classes of Lua as classes of Python, which others derive from; their objects are Lua's."""

    def __getattr__(cls, name: str) -> Any:
        special = name.startswith("__") and name.endswith("__")
        found = None if special else _table_of(cls)[name]
        if found is None:
            raise AttributeError(name)
        return found

    def __setattr__(cls, name: str, value: Any) -> None:
        own = vars(cls).get("__table__")
        if own is None:
            super().__setattr__(name, value)
        else:
            own[name] = value

    def __call__(cls, *args: Any, **fields: Any) -> Any:
        own = vars(cls).get("__table__")
        return super().__call__(*args, **fields) if own is None else own(*args)


class _OfLua(Object, metaclass=LuaClass):
    """The part of a draft's class that comes from a class of Lua: its functions as methods."""

    def __init__(self, *args: Any) -> None:
        begin = _table_of(type(self))["__init"]
        if begin is not None:
            begin(self, *args)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        found = _table_of(type(self))[name]
        return functools.partial(found, self) if callable(found) else found


def _table_of(cls: type) -> Any:
    """Return the class of Lua that a class is, or derives from."""
    return next(vars(base)["__table__"] for base in cls.__mro__ if "__table__" in vars(base))


def named(value: Any) -> Any:
    """Return what a draft takes a table of functions for: a namespace or a class; all else as it
    is.
    """
    if isinstance(value, dict) and any(callable(entry) for entry in value.values()):
        return Namespace(value)
    has = vars(value).get("__has__") if is_of_lua(value) else None
    if has is not None and has("__index"):
        return _as_class(value)
    return value


def _as_class(table: Any) -> type:
    known = draft_runtime().lua_classes
    address = function_of("function(t) return string.format('%p', t) end")(table)
    if address not in known:
        known[address] = LuaClass("LuaTable", (_OfLua,), {"__table__": table})
    return known[address]


def module(lua: str, beside: str, *args: str) -> Any:
    """Run a Lua file that stands beside a file of Python, and give what it returns.

    Several results are a tuple, as those of functions.
    """
    path = Path(beside).with_name(lua)
    text = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    if text.startswith(b"#"):
        text = b"--" + text
    found = _prepared()["file"](bytes_as_text(text), f"@{path}", *args)
    return results(map(as_package, values(found)))


def main(lua: str, beside: str) -> Any:
    """Run a script in Lua, with the arguments of this process."""
    torch7.setdefaulttensortype("torch.DoubleTensor")  # as Lua begins
    path = str(Path(beside).with_name(lua))
    _prepared()
    draft_runtime().execute("arg = {[0] = (...), select(2, ...)}", path, *sys.argv[1:])
    return module(lua, beside, *sys.argv[1:])


def function(
    text: str, names: dict[str, Any], given: str = "", place: str = "function:1"
) -> Callable[..., Any]:
    """Return a function in Lua, whose free variables are those of a module.

    Args:
        text: a chunk that returns it.
        names: the module's ``globals()``.
        given: which of them it takes, with blanks between; ``l=l_`` where Python has another name.
        place: its file and line, for errors.
    """
    words = dict((word.split("=") * 2)[:2] for word in given.split())
    found: list[Any] = []

    def take(name: str) -> Any:
        return names.get(words[name])

    def put(name: str, value: Any) -> None:
        names[words[name]] = value

    def call(*args: Any) -> Any:
        if not found:  # what it needs of Lua is there when it is called first
            part = _prepared()["part"]
            path, _, line = place.rpartition(":")
            source = "\n" * (int(line) - 1) + text
            found.append(part(list(words), take, put, source, f"@{path}"))
        return called(found[0], *args)

    return call


def loadstring(names: dict[str, Any], *text: Any) -> Any:
    """``loadstring(text)``: a function in Lua, whose global variables are those of a module.

    Args:
        names: the module's ``globals()``.
        *text: the chunk, and its name.
    """
    given = [
        name
        for name, value in names.items()
        if not (name.startswith("__") or isinstance(value, types.ModuleType))
    ]
    return called(_prepared()["load"], given, names.get, names.__setitem__, *text)


def evaluate(names: dict[str, Any], expression: Any) -> Any:
    """``loadstring("return " .. expression)()``: its value; tables are what they are in files that
    are loaded, lists and dicts.

    Args:
        names: the ``globals()`` of the module whose variables it may name.
    """
    found = called_once(first(loadstring(names, f"return {text(expression)}")))
    return _as_loaded(found) if "{" in text(expression) else found  # which was there before


def _as_loaded(value: Any) -> Any:
    """Return a table as ``t7.load(path, plain=True)`` gives it: a dict, if it is empty or has other
    keys than 1…n.
    """
    if not isinstance(value, (list, dict)):
        return value
    entries = {key: _as_loaded(entry) for key, entry in items(value)}
    is_list = isinstance(value, list) and not isinstance(value, MixedTable)
    return list(entries.values()) if is_list and entries else entries


def _tops(names: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the variables of a module, and those of each other one of its program."""
    known = _manifest()
    others = [] if known is None else [place for place, _ in known[1]["names"].values()]
    return [names, *(vars(sys.modules[place]) for place in others if place in sys.modules)]


def variable(names: dict[str, Any], name: Any) -> Any:
    """``_G[name]``: what a module, its program or Lua has under a name; a class, too."""
    found = next((v for place in _tops(names) if (v := place.get(name)) is not None), None)
    return (
        function("return function(name) return _G[name] end", {})(name) if found is None else found
    )


def variables(names: dict[str, Any]) -> dict[str, Any]:
    """``_G``, to go through: what the modules of a program have, but for what they import."""
    return {
        name: value
        for place in _tops(names)
        for name, value in place.items()
        if not (name.startswith("__") or isinstance(value, types.ModuleType))
    }


def torch_class(typename: str) -> Any:
    """Return a class that Lua code made by ``torch.class``: one of Python's if it derives from a
    layer.
    """
    _prepared()
    found = function_of(
        "function(name) local place = _G "
        "for part in name:gmatch('[^.]+') do place = place and place[part] end return place end"
    )(typename)
    if not isinstance(found, type):
        return _as_class(found)

    def begin(self: Any, *args: Any) -> None:
        initial = getattr(type(self), "__init", None)
        if initial is not None:
            initial.__get__(self)(*args)

    if found.__module__ == "lua" and "__init" in vars(found):
        found.__init__ = begin  # type: ignore[misc]
    return found


@functools.cache
def _prepared() -> Any:
    """Return what runs Lua, which then knows the drafts of the program; see ``_ENVIRONMENT``."""
    runtime = draft_runtime()
    runtime.represent(Namespace, lambda value: value.__dict__["__table__"])
    runtime.represent_where(
        lambda value: isinstance(value, LuaClass) and "__table__" in vars(value),
        lambda cls: vars(cls)["__table__"],
    )
    runtime.execute(_LOADERS, _find_draft)
    runtime.execute(_CLASSES, runtime.class_named)
    try:
        shared = importlib.import_module("shared")
    except ModuleNotFoundError:
        shared = types.ModuleType("shared")
    kept = vars(shared)
    names = kept.get, kept.__setitem__, kept.__contains__
    made = runtime.execute(_ENVIRONMENT, *names, _is_imported)

    class Shared(types.ModuleType):
        def __setattr__(self, name: str, value: Any) -> None:
            made["drop"](name)
            super().__setattr__(name, value)

    shared.__class__ = Shared
    kept["__getattr__"] = lambda name: None if name.startswith("__") else made["get"](name)
    return made


def _is_imported(name: Any) -> bool:
    """Return whether drafts have a package of Torch7's, which they import from ``compat``."""
    return name in PACKAGES and f"compat.{name}" in sys.modules


@functools.cache
def _manifest() -> tuple[Path, dict[str, Any]] | None:
    """Return the folder of the program that runs, and what is written there of its files."""
    script = getattr(sys.modules.get("__main__"), "__file__", None) or sys.argv[0]
    for folder in Path(script).resolve().parents:
        known = folder / MANIFEST
        if known.is_file():
            return folder, json.loads(known.read_text(encoding="utf-8"))
    return None


def _place(name: str, is_required: bool) -> list[str] | None:
    """Return the module of the draft that has this name in Lua, and where its result is."""
    found = _manifest()
    if found is None:
        return None
    names: dict[str, list[str]] = found[1]["names"]
    plain = name.removeprefix("./").removesuffix(".lua")
    return names.get(name) or names.get(plain.replace(".", "/") if is_required else plain)


def _find_draft(name: str, is_required: bool) -> Any:
    """Return whether a file of the program has this name in Lua, and what its draft gives."""
    entry = _place(name, is_required)
    if entry is None:
        return False
    return results((True, *values(returned_by(entry[0], entry[1], is_run=not is_required))))


def returned_by(module: str, name: str, is_run: bool = False) -> Any:
    """Return what the draft of a Lua file returns.

    Args:
        is_run: it runs, also if it has before.
    """
    if is_run and module in sys.modules:
        return run_again(module, name, ())
    return _result(importlib.import_module(module), module, name, ())


def kept(found: Any) -> Any:
    """Return what ``require`` keeps of what a file returns: the first value, or true."""
    value = as_package(first(found))
    return True if value is None else value


def as_package(value: Any) -> Any:
    """Return a value, of which a table of Lua holds functions and not methods."""
    if is_of_lua(value):
        return value.as_package()
    return value


def run_again(module: str, name: str = "exports", missing: Any = None) -> Any:
    """Return what the draft of a Lua file returns each time it runs: ``dofile`` of one that runs
    more than once; ``missing``, if it returns nothing.
    """
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return _result(made, module, name, missing)


def _result(made: types.ModuleType, module: str, name: str, missing: Any) -> Any:
    known = _manifest()
    is_whole = known is not None and [module, WHOLE] in known[1]["names"].values()
    return made if is_whole else getattr(made, name, missing)


def loaded(name: Any) -> Any:
    """``package.loaded[name]`` of a file of the program; None if it was not loaded."""
    entry = _place(name, True) if isinstance(name, str) else None
    made = sys.modules.get(entry[0]) if entry else None
    return None if entry is None or made is None else kept(returned_by(entry[0], entry[1]))
