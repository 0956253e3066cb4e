"""Names of Lua in Python."""

from __future__ import annotations

import keyword
import re
import sys

# What drafts import, and Python's functions that they call.
TAKEN = frozenset(
    [
        "Exception",
        "Threads",
        "abs",
        "any",
        "bool",
        "classmethod",
        "compat",
        "copy",
        "cudnn",
        "cutorch",
        "dict",
        "dptable",
        "enumerate",
        "exit",
        "float",
        "getattr",
        "graph",
        "hasattr",
        "hdf5",
        "image",
        "importlib",
        "int",
        "isinstance",
        "iter",
        "json",
        "len",
        "list",
        "lua",
        "map",
        "math",
        "max",
        "min",
        "next",
        "nn",
        "nngraph",
        "open",
        "optim",
        "os",
        "pathlib",
        "print",
        "property",
        "random",
        "range",
        "re",
        "repr",
        "reversed",
        "round",
        "setattr",
        "shared",
        "shutil",
        "sorted",
        "staticmethod",
        "str",
        "subprocess",
        "sum",
        "super",
        "sys",
        "t7",
        "threads",
        "time",
        "torch",
        "torch7",
        "tuple",
        "type",
        "types",
        "vars",
        "xlua",
        "zip",
    ]
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


def python_name(name: str) -> str:
    """A name of Lua in Python."""
    if keyword.iskeyword(name) or name in TAKEN or name in _AMBIGUOUS:
        return f"{name}_"
    return name


def is_metamethod(name: str) -> bool:
    """Whether Lua calls it, with the object first."""
    return name in _METAMETHODS


def method_name(name: str) -> str:
    """A field or method of a class in Python."""
    return _METAMETHODS.get(name) or python_attribute(name)


def python_attribute(name: str) -> str:
    """A field's name in Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


def module_name(part: str, is_first: bool) -> str:
    """A part of a module's name: it must be a name, and the first none of Python's own modules."""
    name = re.sub(r"\W", "_", part)
    if name[0].isdigit():
        name = f"_{name}"
    is_taken = keyword.iskeyword(name) or (is_first and name in _MODULES)
    return f"{name}_" if is_taken else name


# What a program's file of the name would hide, or be hidden by; nobody imports Python's test.
_MODULES = (sys.stdlib_module_names | {"compat", "dptable", "numpy", "shared", "torch"}) - {"test"}
