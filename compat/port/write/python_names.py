"""Names of Lua in Python."""

from __future__ import annotations

import keyword
import re
import sys

from compat.lua_tables import attribute
from compat.port.write.heads import IMPORTS

WHOLE = "*"  # in place of a name: all that a file has
# What drafts import, and Python's functions that they call.
TAKEN = frozenset(
    (
        *IMPORTS,
        *("Exception", "abs", "any", "argparse", "bool", "classmethod", "compat", "dict"),
        *("enumerate", "exit", "float", "getattr", "hasattr", "int", "isinstance", "iter", "len"),
        *("list", "map", "max", "min", "next", "open", "print", "property", "range", "repr"),
        *("reversed", "round", "setattr", "sorted", "staticmethod", "str", "sum", "super"),
        *("threads", "tuple", "type", "vars", "zip"),
    )
)
_AMBIGUOUS = {"l", "O", "I"}  # ruff, as people, takes them for digits

_METAMETHODS = {
    "__init": "__init__", "__tostring": "__str__", "__tostring__": "__str__",
    "__add": "__add__", "__add__": "__add__", "__sub": "__sub__", "__sub__": "__sub__",
    "__mul": "__mul__", "__mul__": "__mul__", "__div": "__truediv__", "__div__": "__truediv__",
    "__unm": "__neg__", "__unm__": "__neg__", "__len": "__len__", "__len__": "__len__",
    "__eq": "__eq__", "__eq__": "__eq__", "__lt": "__lt__", "__lt__": "__lt__",
    "__le": "__le__", "__le__": "__le__", "__call": "__call__", "__call__": "__call__",
    "__pow": "__pow__", "__mod": "__mod__", "__concat": "__concat__",
}  # fmt: skip


# What Lua calls those of a class.
METAMETHODS = {python: lua for lua, python in _METAMETHODS.items() if not lua.endswith("__")}


def python_name(name: str) -> str:
    """Return a name of Lua in Python."""
    if keyword.iskeyword(name) or name in TAKEN or name in _AMBIGUOUS:
        return f"{name}_"
    return attribute(name)  # Python calls __name otherwise in a class


def is_metamethod(name: str) -> bool:
    """Return whether Lua calls it, with the object first."""
    return name in _METAMETHODS


def method_name(name: str) -> str:
    """Return a field or method of a class in Python."""
    return _METAMETHODS.get(name) or attribute(name)


def module_name(part: str, is_first: bool) -> tuple[str, str]:
    """Return the name that a file or folder gets as a part of a module's, and why, if it is
    another.

    ``is_first``: no folder stands around it; then no other library must have the name.
    """
    name = re.sub(r"\W", "_", part)
    reason = "" if name == part else "a module's name has letters, digits and _"
    if name[:1].isdigit():
        name, reason = f"_{name}", "a module's name does not begin with a digit"
    if keyword.iskeyword(name):
        return f"{name}_", "this is a word of Python's"
    if is_first and name == "shared":
        return f"{name}_", "the program's global variables are in shared"
    if is_first and name in _PYTHON:
        return f"{name}_", "Python has a module of this name"
    if is_first and name in _LIBRARIES:
        return f"{name}_", "a library has this name"
    return name, reason


# What drafts, this library and PyTorch import: a file of the name would hide it.
_LIBRARIES = {
    *("compat", "dptable", "torch", "numpy", "scipy", "PIL", "matplotlib", "h5py", "lupa", "yaml"),
    *("sympy", "mpmath", "networkx", "jinja2", "fsspec", "filelock", "packaging", "setuptools"),
    *("typing_extensions", "functorch", "torchgen", "triton", "tqdm", "zstandard", "onnx", "cv2"),
}
_PYTHON = sys.stdlib_module_names - {"test"}  # nobody imports Python's test
