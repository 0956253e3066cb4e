"""The .t7 file format of Torch7: load, save, inspect."""

from . import builtin
from .allowance import claim, zeros_like
from .api import dumps, inspect, load, loads, save
from .errors import Refusal, T7Error
from .inspection import Entry
from .payload import BOOL, DOUBLE, FIELDS, FLOAT, INT, LONG, OBJECT, SHORT, bytes_
from .registry import register
from .types import Key, LuaFunction, Storage, TorchObject

__all__ = [
    "BOOL",
    "DOUBLE",
    "FIELDS",
    "FLOAT",
    "INT",
    "LONG",
    "OBJECT",
    "SHORT",
    "Entry",
    "Key",
    "LuaFunction",
    "Refusal",
    "Storage",
    "T7Error",
    "TorchObject",
    "builtin",
    "bytes_",
    "claim",
    "dumps",
    "inspect",
    "load",
    "loads",
    "register",
    "save",
    "zeros_like",
]
