"""Packages, and functions and other values of theirs that are not called."""

from __future__ import annotations

import importlib
import keyword
import re

from compat.hints import suggestion
from compat.port.know.scopes import PACKAGES
from compat.port.library import tensors
from compat.port.library.compat_names import PYTHON, found, has
from compat.port.library.lua_functions import FUNCTIONS
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.heads import IMPORTS
from compat.port.write.python_names import is_metamethod, method_name
from compat.tensor_types import CPU_TYPES, CUDA_TYPES

# What is no function; functions are in the table.
_VALUES = {
    "assert": "lua.checked",  # which gives all results
    "math.pi": "math.pi",
    "math.huge": "math.inf",
    "_G": "globals()",
    "dofile": "lua.dofile",
    "__threadid": "lua.threadid()",
    "arg": "sys.argv[1:]",
    "_VERSION": '"Lua 5.1"',
    "io.stdout": "lua.stdout",
    "io.stderr": "lua.stderr",
    "io.stdin": "lua.stdin",
    "sys.COLORS": "lua.COLORS",
    "ffi.os": "lua.SYSTEM",
    "cjson.null": "None",
}
_LUA = {
    *("dofile", "gcinfo", "getfenv", "load", "loadfile", "loadstring", "module", "newproxy"),
    *("setfenv", "xpcall", "lapp", "class", "rawequal", "collectgarbage", "coroutine", "unpack"),
    *("_G", "who", "rawlen", "import", "log", "__threadid"),
    *PACKAGES,
}


def value(path: str, draft: Draft) -> Code:
    """Return a function or other value of a package that is not called."""
    head, _, name = path.partition(".")
    if path in draft.types.replaced and (owner := holder(path.rpartition(".")[0], draft)):
        return Code(f"{owner}.{path.rpartition('.')[2]}")
    if path in _VALUES:
        return Code(_VALUES[path])
    if draft.types.is_never_loaded(path):
        return Code("None")
    if (rule := FUNCTIONS.all(path)[-1:]) and rule[0].function:
        return Code(rule[0].function)
    if not name and head in PYTHON | {"torch", "threads"}:
        return Code(path)
    if head in PYTHON and has(head, name):
        return Code(path)
    if (method := constructor_or_event(path)) is not None:
        return Code(method)
    if path.startswith("sys.COLORS."):
        return Code(f"lua.COLORS.{name.removeprefix('COLORS.')}")
    if head == "torch" and (name in tensors.FUNCTIONS.names() or path in CPU_TYPES | CUDA_TYPES):
        return Code(f"lua.torch.{name}")
    if head == "torch" and has("torch", name):
        return Code(f"torch7.{name}")
    if path in draft.types.absent or path in PACKAGES:
        return Code(package(path, draft))
    if "." not in path and path not in _LUA:
        draft.page.mark(f"{path} is set nowhere", "globals")
        # A package that Lua alone has may set it.
        return _of_lua("_G", path, draft) if draft.types.absent else Code("None")
    made = original(path, draft)
    return made if head == "torch" else with_all_results(made)


def with_all_results(function: Code) -> Code:
    """Return a function of a package of Lua's that gives all that it gives there."""
    return Code(re.sub(r"\.(\w+)$", r'["\1"]', function.text))


def constructor_or_event(path: str) -> str | None:
    """Return ``nn.Module.__init__`` for ``nn.Module.__init``; None if it is no such method."""
    klass, _, method = path.rpartition(".")
    head, _, name = klass.partition(".")
    if not is_metamethod(method) or head not in PYTHON or not isinstance(found(head, name), type):
        return None
    made = method_name(method)
    return f"{klass}.{'__repr__' if made == '__str__' else made}"


def holder(path: str, draft: Draft) -> str | None:
    """Return what stands for a package or a class of one, into which a program may put
    functions.
    """
    if path in PACKAGES:
        return package(path, draft)
    head, dot, name = path.partition(".")
    if has(head, name):
        return path if dot else None
    is_lua_s = dot and head in PYTHON and path not in draft.types.classes
    return original(path, draft).text if is_lua_s else None


def package(name: str, draft: Draft, of_lua: bool = False) -> str:
    """Return the object that stands for a package; one that only Lua has is imported.

    ``of_lua``: Lua's, although ``compat`` has one of the name.
    """
    if name == "torch":
        return "lua.torch"
    if name in PYTHON and not of_lua:
        return name
    if not name.isidentifier() or keyword.iskeyword(name):
        return f'lua.package("{name}")'
    own = f"lua_{name}" if name in IMPORTS or name in draft.taken else name
    known_as = "" if own == name else f" as {own}"
    draft.modules.add(f"from compat.port.lua.packages import {name}{known_as}")
    return own


def original(path: str, draft: Draft) -> Code:
    """Return a function that only the Lua runtime has."""
    head, _, name = path.partition(".")
    # Where a file asks for a package that nobody has, it has its mark.
    if head not in ("math", "string", "table", "os", "io") and head not in draft.types.absent:
        known = dir(importlib.import_module(f"compat.{head}")) if head in ("nn", "optim") else ()
        reason = f"{path} is Lua's own{suggestion(name, known)}"
        if not name and path not in _LUA:  # another that a computed name loads may have it
            reason = f"no file makes {path}; give the one that does, too"
        draft.page.mark(reason, "packages")
    head, name = (head, name) if name else ("_G", head)
    return _of_lua(head, name, draft)


def _of_lua(head: str, name: str, draft: Draft) -> Code:
    if any(keyword.iskeyword(part) for part in name.split(".")):
        return Code(f'getattr({package(head, draft, True)}, "{name}")')
    return Code(f"{package(head, draft, True)}.{name}")
