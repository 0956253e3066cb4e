"""Names of Lua in Python."""

from __future__ import annotations

import builtins
import keyword

# What drafts import, and Python's functions that they call.
TAKEN = {
    *(
        "compat",
        "copy",
        "cudnn",
        "cutorch",
        "dptable",
        "graph",
        "hdf5",
        "image",
        "json",
        "lua",
        "math",
    ),
    *(
        "nn",
        "nngraph",
        "optim",
        "os",
        "pathlib",
        "random",
        "re",
        "shutil",
        "subprocess",
        "sys",
        "t7",
        "threads",
    ),
    *("time", "types"),
    *("torch", "torch7", "xlua", "shared"),
    *("abs", "any", "bool", "classmethod", "dict", "enumerate", "float", "getattr", "hasattr"),
    *("int", "isinstance", "len", "list", "map", "max", "min", "open", "print", "property"),
    *("range", "reversed", "round", "setattr", "sorted", "staticmethod", "str", "sum", "super"),
    *("tuple", "type", "zip", "exit", "next", "iter", "vars", "repr", "Exception"),
    "Threads",
}
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


def python_name(name: str) -> str:
    """A name of Lua in Python."""
    if keyword.iskeyword(name) or name in TAKEN or name in _AMBIGUOUS:
        return f"{name}_"
    return name


def is_builtin(name: str) -> bool:
    """Whether Python has a function of this name."""
    return hasattr(builtins, name)


def is_metamethod(name: str) -> bool:
    """Whether Lua calls it, with the object first."""
    return name in _METAMETHODS


def method_name(name: str) -> str:
    """A field or method of a class in Python."""
    return _METAMETHODS.get(name) or python_attribute(name)


def python_attribute(name: str) -> str:
    """A field's name in Python."""
    return f"{name}_" if keyword.iskeyword(name) else name
