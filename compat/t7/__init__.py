"""Torch7's .t7 file format: load, save, inspect."""

from typing import TYPE_CHECKING

from compat.hints import answers as _answers
from compat.lua_tables import List, MixedTable, Table, plain
from compat.t7.api import dumps, inspect, load, loads, save
from compat.t7.base.errors import Refusal, T7Error
from compat.t7.base.memory_allowance import claim, when_read, zeros_like
from compat.t7.base.types import Key, LuaFunction, Storage, TorchObject
from compat.t7.inspection import Entry
from compat.t7.objects import known_classes as builtin
from compat.t7.objects.hooks import BOOL, DOUBLE, FIELDS, FLOAT, INT, LONG, OBJECT, SHORT, bytes_
from compat.t7.objects.registry import adopt, keep_unknown, register

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
    "List",
    "LuaFunction",
    "MixedTable",
    "Refusal",
    "Storage",
    "T7Error",
    "Table",
    "TorchObject",
    "adopt",
    "builtin",
    "bytes_",
    "claim",
    "dumps",
    "inspect",
    "keep_unknown",
    "load",
    "loads",
    "plain",
    "register",
    "save",
    "when_read",
    "zeros_like",
]

_HINTS = {
    **dict.fromkeys(("File", "DiskFile"), "use t7.load(path, many=True)"),
    "Tensor": "files hold torch.Tensor",
    "to_torch": "it is a method of nets: t7.load(path).to_torch()",
    **dict.fromkeys(("read", "open", "load_lua"), "use t7.load(path)"),
    **dict.fromkeys(("write", "dump"), "use t7.save(path, object)"),
    "serialize": "use t7.dumps(object)",
    "deserialize": "use t7.loads(data)",
}

if not TYPE_CHECKING:
    __getattr__ = _answers(__name__, "t7", _HINTS, __all__)
