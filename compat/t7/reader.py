"""Reads objects, iteratively: a stack of generators, one per table or object that is not complete."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any

import torch

from . import registry
from .binary import BinaryCursor, text
from .errors import T7Error, type_code
from .payload import FIELDS, OBJECT, Bytes, Request
from .paths import describe
from .table import OpenTable
from .types import STORAGE_DTYPES, TENSOR_DTYPES, LuaFunction, Storage, TorchObject, is_cuda_type

_MISSING = object()
_UNFINISHED_TENSOR = object()
_MAX_DIMENSIONS = 64  # what PyTorch can hold
_SCALARS = (0, 1, 2, 5)

Locate = Callable[[str], Any]
_Steps = Generator[Any, Any, Any]


class Frame:
    """A table, object or function whose content is being read."""

    __slots__ = ("label", "steps")

    def __init__(self) -> None:
        self.steps: _Steps
        self.label: Any = None  # of the child being read, as in the path of an error


class Reader:
    """Reads the objects at a cursor; the memo lives as long as the reader.

    Args:
        cursor: where the primitive values come from.
        unknown: ``keep`` or ``error``.
        raw: ignore the registered classes.
        referenced: whether an index seen before is a reference.
        locate: the device for a tensor or storage type name; ``None`` is the CPU.
        kinds: which tables are lists, as a reading before this one found out.
    """

    def __init__(
        self,
        cursor: BinaryCursor,
        *,
        unknown: str = "keep",
        raw: bool = False,
        referenced: bool = True,
        locate: Locate | None = None,
        kinds: dict[int, bool] | None = None,
    ) -> None:
        self.cursor = cursor
        self.memo: dict[int, Any] = {}
        self.wrong_kinds: dict[int, bool] = {}
        self._kinds = kinds or {}
        self._unknown = unknown
        self._raw = raw
        self._referenced = referenced
        self._locate = locate or (lambda typename: None)

    def read(self) -> Any:
        """The next object."""
        stack: list[Frame] = []
        try:
            return self._run(stack)
        except T7Error as error:
            error.path = error.path or describe(frame.label for frame in stack)
            raise

    def _run(self, stack: list[Frame]) -> Any:
        value = self._object(stack, *self.cursor.item())
        while stack:
            frame = stack[-1]
            if value is frame:  # just begun
                value = None
            try:
                request = frame.steps.send(value)
            except StopIteration as stop:
                stack.pop()
                value = stop.value
                continue
            if type(request) is tuple:
                value = self._object(stack, *request)
            else:
                value = self._answer(stack, request)
        return value

    def _answer(self, stack: list[Frame], request: Request) -> Any:
        """The value that a read hook asks for, or the frame in which it will be read."""
        if request is OBJECT:
            return self._object(stack, *self.cursor.item())
        if request is FIELDS:
            return self._fields(stack)
        if isinstance(request, Bytes):
            return bytes(self.cursor.bytes(request.count))
        if isinstance(request, Request):
            return self.cursor.number(request.code)
        raise TypeError(f"a read hook yielded {request!r}; a request such as t7.OBJECT is accepted")

    def _push(self, stack: list[Frame], make: Callable[..., _Steps], *args: Any) -> Frame:
        frame = Frame()
        frame.steps = make(frame, *args)
        stack.append(frame)
        return frame

    def _object(self, stack: list[Frame], code: int, value: Any) -> Any:
        """The value of an item, or the frame in which its content will be read."""
        if code in _SCALARS:
            return value
        if code == 6:
            return self._push(stack, self._function, code, None)
        if self._referenced:
            known = self.memo.get(value, _MISSING)
            if known is not _MISSING:
                return known.settle() if type(known) is OpenTable else known
        if code == 3:
            return self._push(stack, self._table, value, False)
        if code == 4:
            return self._torch_object(stack, value)
        return self._push(stack, self._function, code, value)

    def _table(self, frame: Frame, index: int, fields: bool) -> _Steps:
        """The entries of a table; ``fields`` makes it a dict in any case."""
        cursor = self.cursor
        start = cursor.pos
        count = cursor.int()
        if count * cursor.smallest_entry > cursor.left():
            raise T7Error(
                f"a table of {count} entries",
                f"at most {cursor.left() // cursor.smallest_entry} in the {cursor.left()} bytes left",
                offset=start,
            )
        table = OpenTable(count, False if fields else self._kinds.get(index))
        self.memo[index] = table
        item, put = cursor.item, table.put
        key: Any = None
        try:
            for _ in range(count):
                start = cursor.pos
                code, key = item()
                if code not in _SCALARS:
                    frame.label, table.key = "<key>", None
                    key = yield code, key
                code, value = item()
                if code not in _SCALARS:
                    frame.label = table.key = key
                    value = yield code, value
                put(key, value)
        except T7Error as error:
            frame.label = key
            if error.offset is None:
                error.offset = start
            raise
        result = table.finish_dict() if fields else table.finish()
        is_list = isinstance(result, list)
        if table.is_list is not None and table.is_list is not is_list:
            self.wrong_kinds[index] = is_list
        self.memo[index] = result
        return result

    def _fields(self, stack: list[Frame]) -> Any:
        start = self.cursor.pos
        code, index = self.cursor.item()
        if code != 3:
            raise T7Error(
                type_code(code),
                "a table of fields",
                hint="register() tells the payload of a class that is not one table",
                offset=start,
            )
        known = self.memo.get(index, _MISSING) if self._referenced else _MISSING
        if type(known) is OpenTable:
            known = known.settle()
        if known is _MISSING:
            return self._push(stack, self._table, index, True)
        if isinstance(known, list):
            return dict(enumerate(known, 1))
        if isinstance(known, dict):
            return dict(known)
        raise T7Error(f"a reference to {type(known).__name__}", "a table of fields", offset=start)

    def _function(self, frame: Frame, code: int, index: int | None) -> _Steps:
        size = self.cursor.int()
        function = LuaFunction(bytes(self.cursor.bytes(size, "bytecode")), None, code)
        if index is not None:
            self.memo[index] = function
        frame.label = "upvalues"
        function.upvalues = yield self.cursor.item()
        return function

    def _class(self) -> tuple[str, float]:
        """The class name and version that start a torch object."""
        cursor = self.cursor
        start = cursor.pos
        name = bytes(cursor.bytes(cursor.int(), "a class version"))
        version = lua_number(name[2:]) if name.startswith(b"V ") else None
        if version is None:
            version = 0
        else:
            start = cursor.pos
            name = bytes(cursor.bytes(cursor.int(), "a class name"))
        typename = text(name)
        if isinstance(typename, bytes) or not typename.isprintable() or not typename:
            raise T7Error(f"the class name {name[:60]!r}", "a name of printable text", offset=start)
        return typename, version

    def _torch_object(self, stack: list[Frame], index: int) -> Any:
        start = self.cursor.pos
        typename, version = self._class()
        if typename in TENSOR_DTYPES:
            self.memo[index] = _UNFINISHED_TENSOR
            self.memo[index] = tensor = self._tensor(typename)
            return tensor
        if typename in STORAGE_DTYPES:
            self.memo[index] = storage = self._storage(typename)
            return storage
        entry = None if self._raw else registry.find(typename)
        if entry is None:
            if self._unknown == "error":
                raise T7Error(
                    f"the class {typename}",
                    "a registered class",
                    hint="t7.register() adds one, unknown='keep' keeps its objects",
                    offset=start,
                )
            entry = registry.find_kept(typename)
        make = TorchObject if entry is None else entry.new
        obj = self.memo[index] = make(typename, version)
        return self._push(stack, self._content, obj, version, entry)

    def _content(
        self, frame: Frame, obj: Any, version: float, entry: registry.Entry | None
    ) -> _Steps:
        """The payload of an object."""
        start = self.cursor.pos
        try:
            if entry is not None and entry.read is not None:
                yield from entry.read(obj, version)
                return obj
            fields = yield FIELDS
            if self.wrong_kinds:
                return obj  # this reading will be thrown away
            if isinstance(obj, TorchObject):
                obj.fields = fields
            elif hasattr(obj, "t7_restore"):
                obj.t7_restore(fields, version)
            else:
                obj.__dict__.update(fields)
        except (T7Error, MemoryError):
            raise
        except Exception as error:
            name = entry.typename if entry is not None else obj.typename
            raise T7Error(
                f"fields that {name} cannot be made of: {type(error).__name__}: {error}",
                offset=start,
            ) from error
        return obj

    def _storage(self, typename: str) -> Storage:
        cursor = self.cursor
        start = cursor.pos
        count = cursor.long()
        if count < 0:
            raise T7Error(f"a storage of {count} elements", "a size", offset=start)
        device = self._locate(typename)
        tensor = cursor.elements(STORAGE_DTYPES[typename], count, device)
        storage = Storage(tensor if device in (None, "meta") else tensor.to(device))
        storage.typename = typename
        return storage

    def _tensor(self, typename: str) -> torch.Tensor:
        cursor = self.cursor
        start = cursor.pos
        dimensions = cursor.int()
        if not 0 <= dimensions <= _MAX_DIMENSIONS:
            raise T7Error(
                f"{dimensions} dimensions", f"0 to {_MAX_DIMENSIONS} dimensions", offset=start
            )
        sizes = cursor.longs(dimensions)
        strides = cursor.longs(dimensions)
        offset = cursor.long() - 1
        storage = self._tensor_storage(typename)
        length = 0 if storage is None else len(storage)
        # A size of 1 or 0 steps nowhere, so its stride does not matter; PyTorch wants none below 0.
        strides = tuple(
            stride if size > 1 else max(stride, 0)
            for size, stride in zip(sizes, strides, strict=True)
        )
        shape = (
            f"{'x'.join(map(str, sizes)) or 'no'} elements, strides {strides}, offset {offset + 1}"
        )
        if any(size < 0 for size in sizes) or any(stride < 0 for stride in strides) or offset < 0:
            raise T7Error(shape, "nothing negative, an offset from 1", offset=start)
        empty = not sizes or 0 in sizes
        last = offset + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
        if offset > length or (not empty and last >= length):
            raise T7Error(shape, f"to stay within the storage of {length} elements", offset=start)
        count = 0 if empty else 1
        for size in sizes:
            count *= size
        if count >= 2**63 or max(strides, default=0) >= 2**63:
            raise T7Error(shape, "less than 2^63 elements", offset=start)
        return self._view(typename, storage, sizes or (0,), strides or (1,), offset)

    def _view(
        self,
        typename: str,
        storage: Storage | None,
        sizes: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
    ) -> torch.Tensor:
        dtype = TENSOR_DTYPES[typename]
        device = self._locate(typename)
        base = torch.empty(0, dtype=dtype, device=device) if storage is None else storage.tensor
        tensor = base.as_strided(sizes, strides, offset)
        if is_cuda_type(typename):
            tensor.torch7_type = typename  # type: ignore[attr-defined]
        return tensor

    def _tensor_storage(self, typename: str) -> Storage | None:
        cursor = self.cursor
        start = cursor.pos
        wanted = typename.replace("Tensor", "Storage")
        code, index = cursor.item()
        if code == 0:
            return None
        found: Any = type_code(code)
        if code == 4:
            storage = self.memo.get(index, _MISSING) if self._referenced else _MISSING
            if storage is _MISSING:
                found, _ = self._class()
                if found == wanted:
                    self.memo[index] = storage = self._storage(wanted)
            else:
                found = getattr(storage, "typename", "another object")
            if found == wanted:
                return storage
        raise T7Error(str(found), f"a {wanted} or nil", offset=start)


_NUMBER = re.compile(rb"[+-]?(\d{1,300}\.?\d{0,300}|\.\d{1,300})(e[+-]?\d{1,3})?\s*", re.I)


def lua_number(raw: bytes) -> int | float | None:
    """What Lua's ``tonumber`` makes of the digits of a class version."""
    raw = raw.strip()
    try:
        if raw[:3].lower() in (b"0x", b"+0x", b"-0x") or raw[:2].lower() == b"0x":
            return int(raw, 16)
        value = float(raw) if _NUMBER.fullmatch(raw) else None
    except ValueError:
        return None
    if value is not None and value.is_integer():
        return int(value)
    return value
