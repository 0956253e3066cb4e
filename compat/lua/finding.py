"""Find packages for ``require``: those of this library, and those of other folders."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_PRELOAD = """
function(name, path, yields)
   package.preload[name] = function(...)
      local inner = './' .. name:gsub('%.', '/')
      for _, own in ipairs(yields and {inner .. '.lua', inner .. '/init.lua'} or {}) do
         local file = own ~= './' .. tostring(arg and arg[0]) and io.open(own)
         if file then
            file:close()
            path = own
            break
         end
      end
      return assert(loadfile(path))(...)
   end
end
"""
# What is no part of Torch7's distribution: a program's own file of the name goes first.
_OTHERS = {"bit32", "class", "csvigo", "display", "dpnn", "hdf5", "md5", "moses", "rnn", "torchx"}
# What stands for libraries of C, also under packages that are taken from elsewhere.
_IN_C = {"nn.THNN", "cunn.THCUNN"}
# Packages whose classes are those of compat, as nn's are.
_ON_OUR_NN = {"graph", "nngraph", "rnn", "dpnn", "cunn", "cudnn", "optnet"}
_FORGET = """
local name = ...
local kept = {select(2, ...)}
for _, part in ipairs(kept) do kept[part] = true end
for loaded in pairs(package.preload) do
   if (loaded == name or loaded:sub(1, #name + 1) == name .. '.') and not kept[loaded] then
      package.preload[loaded] = nil
   end
end
"""
_SEARCH = """
local find = ...
table.insert(package.loaders, function(name)
   local path = find(name)
   return path and assert(loadfile(path)) or nil
end)
"""
_REFUSE = """
local refused = {}
for _, name in ipairs{...} do refused[name] = true end
table.insert(package.loaders, function(name)
   if not refused[name] then return nil end
   error(name .. " that comes along works with our nn only, and the original was not found", 0)
end)
"""


class Packages:
    """The packages that one state finds.

    Args:
        lua: lupa's runtime.
        t7: the core's table.
    """

    def __init__(self, lua: Any, t7: Any) -> None:
        self._lua, self._t7 = lua, t7
        self.folders: list[str] = []
        self.original: list[str] = []

    def preload(self) -> None:
        """Register every file of compat/lua/modules for ``require`` under its name."""
        preload = self._lua.eval(_PRELOAD)
        for name, path in own_modules().items():
            preload(name, path, yields(name))
        # Torch's own first line; scripts count on the name.
        self._lua.require("paths")

    def add(self, folders: Iterable[str], original: Iterable[str] = ()) -> None:
        """Let ``require`` find packages in other folders, too, after those of ``LUA_PATH``.

        Args:
            folders: installations of Torch7 (``share/lua/5.1`` in them), or folders with checkouts,
                of which files that an installation would move are found, too, such as tests.
            original: packages to take from there even if this library has them.

        Raises:
            NotADirectoryError: one of the folders does not exist, or is a file.
        """
        folders, original = list(folders), list(original)
        for folder in folders:
            if not Path(folder).is_dir():
                raise NotADirectoryError(f"there is no folder {folder}")
        if folders and not self.folders:
            self._t7.find_in_checkouts = self._find_in_checkouts
            self._lua.execute(_SEARCH, self._find_in_checkouts)
        self.folders += folders
        self.original += original
        path = [str(self._lua.globals().package.path)]
        for folder in folders:
            for below in ("install/share/lua/5.1", "share/lua/5.1", "lua", ""):
                place = Path(folder, below)
                if place.is_dir():
                    path += [f"{place}/?.lua", f"{place}/?/init.lua"]
        self._lua.globals().package.path = ";".join(path)
        # With the original nn go the originals of what builds on it.
        others = sorted(_ON_OUR_NN - set(original)) if "nn" in original else []
        for name in original + others:
            self._lua.execute(_FORGET, name, *sorted(_IN_C))
        if others:
            self._lua.execute(_REFUSE, *others)

    def _find_in_checkouts(self, name: str) -> str | None:
        """Find the file of a module in a checkout, whose layout is not that of an installation.

        ``dpnn.test`` is in ``dpnn/test/test.lua``, ``moses`` in ``Moses/moses.lua``, ``nnx`` in
        ``lua---nnx/init.lua``.
        """
        package, *parts = name.split(".")
        inner = Path(*parts) if parts else Path(package)
        patterns = [f"{inner}.lua", f"*/{inner}.lua", *([] if parts else ["init.lua"])]
        for folder in map(Path, self.folders):
            places = {place: place.name.lower() for place in sorted(folder.glob("*/"))}
            exact = [place for place, called in places.items() if called == package]
            alike = [
                place
                for place, called in places.items()
                if called.removesuffix(".torch").split("-")[-1] == package and place not in exact
            ]
            for place in exact + alike:
                for pattern in patterns:
                    for found in sorted(place.glob(pattern)):
                        return str(found)
        return None


# Packages that are no files here: the core, and those of LuaJIT.
_BUILT_IN = {
    *("torch", "string", "table", "math", "io", "os", "coroutine", "debug", "package", "bit"),
    *("ffi", "jit"),
}


@functools.cache
def come_along() -> frozenset[str]:
    """Return the packages that ``require`` finds, whatever files a program has."""
    return frozenset(own_modules()) | _BUILT_IN


def yields(name: str) -> bool:
    """Return whether a program's own file goes before the package of this name."""
    return name.partition(".")[0] in _OTHERS


@functools.cache
def own_modules() -> dict[str, str]:
    """Return the files of compat/lua/modules by their names for ``require``."""
    folder = Path(__file__).parent / "modules"
    names = {path: path.relative_to(folder).with_suffix("").parts for path in folder.rglob("*.lua")}
    return {".".join(names[path]).removesuffix(".init"): str(path) for path in sorted(names)}
