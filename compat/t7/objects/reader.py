"""Reads objects with a stack of generators: one per table, object or function begun."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from compat.lua_tables import List
from compat.t7.base.errors import Refusal, T7Error, type_code, unusable
from compat.t7.base.geometry import check_dimensions, checked_strides
from compat.t7.base.memory_allowance import bounded_by_file, claim
from compat.t7.base.object_path import describe
from compat.t7.base.types import (
    STORAGE_DTYPES,
    TENSOR_DTYPES,
    LuaFunction,
    Storage,
    TorchObject,
    is_cuda_type,
)
from compat.t7.encoding.lua_table import OpenTable
from compat.t7.encoding.primitives import Cursor, lua_number, text
from compat.t7.objects import registry
from compat.t7.objects.hooks import FIELDS, OBJECT, Bytes, Request

_MISSING = object()
_UNFINISHED_TENSOR = object()
_SCALARS = (0, 1, 2, 5)

Steps = Generator[Any, Any, Any]


@dataclass(frozen=True)
class ReadOptions:
    """The options of a read.

    Attributes:
        unknown: what to do with unregistered classes, ``keep`` or ``error``.
        raw: whether to keep the objects of registered classes as well.
        referenced: whether an index seen before is a reference.
        locate: the device for a tensor or storage type; ``None`` is the CPU.
        plain: whether all tables are plain lists and dicts.
    """

    unknown: str = "keep"
    raw: bool = False
    referenced: bool = True
    locate: Callable[[str], torch.device | None] = lambda typename: None
    plain: bool = False


class Frame:
    """A table, object or function whose content is being read."""

    __slots__ = ("is_plain", "label", "steps")

    def __init__(self, is_plain: bool) -> None:
        self.is_plain = is_plain  # whether tables in it are plain lists and dicts
        self.steps: Steps
        self.label: Any = None  # of the child being read, as in the path of an error


class Reader:
    """Reads the objects at a cursor; the memo lives as long as the reader.

    Args:
        cursor: where the primitive values come from.
        options: how to read.
        kinds: the tables that are lists, as found by an earlier reading.

    Attributes:
        result: the object read last.
        wrong_kinds: tables whose kind was guessed wrongly for a reference. The result must then be
            thrown away, and the file read again with these kinds.
    """

    def __init__(
        self, cursor: Cursor, options: ReadOptions, kinds: dict[int, bool] | None = None
    ) -> None:
        self.cursor = cursor
        self.result: Any = None
        self.wrong_kinds: dict[int, bool] = {}
        self._options = options
        self._kinds = kinds or {}
        self._memo: dict[int, Any] = {}
        self._stack: list[Frame] = []
        self._notes: list[Any] = []

    def read(self) -> Any:
        """Return the next object."""
        for _ in self.steps():
            pass
        return self.result

    def path(self) -> str:
        """Return the place of the object being read."""
        return describe([frame.label for frame in self._stack if frame.label is not None])

    def steps(self) -> Iterator[Any]:
        """Read the next object into ``result``; yield the notes taken on the way."""
        self._stack = []
        try:
            value = self._object(*self.cursor.item())
            while self._stack:
                frame = self._stack[-1]
                if self._notes:
                    yield from self._notes
                    self._notes.clear()
                try:
                    # A generator that has just been pushed is started with None: the value is its
                    # own frame.
                    request = frame.steps.send(None if value is frame else value)
                except StopIteration as stop:
                    self._stack.pop()
                    value = stop.value
                    continue
                value = request if type(request) is Frame else self._answer(request)
        except T7Error as error:
            # The stack still has the open objects here, so the error can name the way to the
            # defect.
            error.path = self.path()
            if error.offset is None:
                error.offset = self.cursor.pos
            yield from self._notes
            raise
        yield from self._notes
        self._notes.clear()
        self.result = value

    def _answer(self, request: Request) -> Any:
        """Return the value that a read hook requests, or the frame that will read the value."""
        if request is OBJECT:
            return self._object(*self.cursor.item())
        if request is FIELDS:
            return self._fields()
        if isinstance(request, Bytes):
            return self.cursor.raw(request.count)
        if isinstance(request, Request):
            return self.cursor.number(request.code)
        raise TypeError(f"a read hook yielded {request!r}; t7.OBJECT or the like is accepted")

    # A stack of generators instead of recursion: files may nest objects deeper than Python's stack.
    def _push(self, make: Callable[..., Steps], *args: Any) -> Frame:
        frame = Frame(self._is_plain())
        frame.steps = make(frame, *args)
        self._stack.append(frame)
        return frame

    def _is_plain(self) -> bool:
        return self._stack[-1].is_plain if self._stack else self._options.plain

    def _known(self, index: int) -> Any:
        """Return the object that has this index, if it was seen before."""
        # Indices mean nothing in files without references: Torch7 writes them all the same.
        known = self._memo.get(index, _MISSING) if self._options.referenced else _MISSING
        # A reference to a table whose entries are still being read: its kind must be decided now. A
        # wrong guess is found in `_finish`, and the file is read again.
        return known.settle() if type(known) is OpenTable else known

    def _object(self, code: int, value: Any) -> Any:
        """Return the value of an item, or the frame in which its content will be read."""
        if code in _SCALARS:
            return value
        if code == 6:
            return self._push(self._function, code, None)
        known = self._known(value)
        if known is not _MISSING:
            self._note_reference(value)
            return known
        if code == 3:
            return self._table(value, False)
        if code == 4:
            return self._torch_object(value)
        return self._push(self._function, code, value)

    # Tables and functions.

    def _table(self, index: int, is_dict: bool) -> Any:
        """Return a table, or the frame to read it in; ``is_dict`` makes it a dict in any case."""
        cursor = self.cursor
        start = cursor.pos
        count = cursor.integer()
        # Before anything is allocated: a damaged count must not ask for memory.
        if count > cursor.most_entries():
            most = cursor.most_entries()
            raise T7Error(
                f"a table of {count} entries with {cursor.left()} bytes to the end of the file",
                f"at most {most}",
                hint="the file is truncated or damaged",
                offset=start,
            )
        if not is_dict:
            self._note_table(index, start, count)
        kind = False if is_dict else self._kinds.get(index)
        table = self._open(count, kind, self._is_plain())
        # Before its entries: a table may contain itself.
        self._memo[index] = table
        left = count - cursor.entries(table, count, self._bulk_memo())
        if left > 0:
            return self._push(self._entries, table, left, index, is_dict)
        return self._finish(table, index, is_dict)

    def _open(self, count: int, is_list: bool | None, is_plain: bool) -> OpenTable:
        """Return a table of ``count`` entries that is about to be read."""
        return OpenTable(count, is_list, is_plain)

    def _entries(
        self, frame: Frame, table: OpenTable, left: int, index: int, is_dict: bool
    ) -> Steps:
        """Yield the last ``left`` entries of a table."""
        cursor = self.cursor
        item = cursor.item
        key: Any = None
        try:
            while left > 0:
                start = cursor.pos
                code, key = item()
                if code not in _SCALARS:
                    frame.label, table.key = "<key>", None
                    key = self._object(code, key)
                    if type(key) is Frame:
                        key = yield key
                code, value = item()
                if code not in _SCALARS:
                    frame.label = table.key = key
                    value = self._object(code, value)
                    if type(value) is Frame:
                        value = yield value
                table.put(key, value)
                left -= 1
                left -= cursor.entries(table, left, self._bulk_memo())
        except T7Error as error:
            frame.label = key
            if error.offset is None:
                error.offset = start
            raise
        return self._finish(table, index, is_dict)

    def _finish(self, table: OpenTable, index: int, is_dict: bool) -> Any:
        result = table.finish_dict() if is_dict else table.finish()
        is_list = isinstance(result, list)
        if table.is_list is not None and table.is_list is not is_list:
            self.wrong_kinds[index] = is_list
        self._memo[index] = result
        return result

    def _function(self, frame: Frame, code: int, index: int | None) -> Steps:
        start = self.cursor.pos
        function = LuaFunction(self.cursor.string("bytecode"), None, code)
        if index is not None:
            # Before the upvalues: a recursive function is among its own.
            self._memo[index] = function
        self._note_function(index, start, function)
        frame.label = "upvalues"
        function.upvalues = yield OBJECT
        return function

    # Torch objects.

    def _class(self) -> tuple[str, float]:
        """Return the class name and version that a torch object starts with."""
        start = self.cursor.pos
        name = self.cursor.string("a class version")
        version = lua_number(name[2:]) if name.startswith(b"V ") else None
        if version is None:
            version = 0  # older than class versions: this is the name already
        else:
            start = self.cursor.pos
            name = self.cursor.string("a class name")
        typename = text(name)
        if isinstance(typename, bytes) or not typename.isprintable() or not typename:
            raise T7Error(f"the class name {name[:60]!r}", "a name of printable text", offset=start)
        return typename, version

    def _torch_object(self, index: int) -> Any:
        start = self.cursor.pos
        typename, version = self._class()
        if typename in TENSOR_DTYPES:
            # A damaged file may name the tensor as its own storage; the mark makes that an error,
            # no recursion.
            self._memo[index] = _UNFINISHED_TENSOR
            value: torch.Tensor | Storage = self._tensor(typename)
        elif typename in STORAGE_DTYPES:
            value = self._storage(typename, is_alone=True)
        else:
            self._note_object(index, start, typename, version)
            return self._other_object(index, start, typename, version)
        self._memo[index] = value
        self._note_data(index, start, typename, value)
        return value

    def _other_object(self, index: int, start: int, typename: str, version: float) -> Frame:
        if self._options.raw:
            # The payload of a class must be known to read on.
            known = registry.find(typename)
            # Without the class's own reader nobody knows where its payload ends.
            has_own_payload = known and known[0].read and not registry.find_kept(typename)
            candidates = known if has_own_payload else ()
        else:
            candidates = registry.provide(typename)
        entry = registry.find_kept(typename) if not candidates else candidates[0]
        if not candidates:
            self._refuse_unknown(typename, start)
        obj: Any
        if entry is None or entry.fits is not None:
            entry, obj = None, TorchObject(typename, version)
        else:
            obj = entry.new(typename, version)
            if self._options.plain and isinstance(obj, List):  # tds.Vec
                obj = []
        self._memo[index] = obj
        frame = self._push(self._content, obj, version, entry, candidates)
        frame.is_plain = self._options.plain or any(entry.counts_from_0 for entry in candidates)
        return frame

    def _refuse_unknown(self, typename: str, offset: int) -> None:
        if self._options.unknown == "error" and not self._options.raw:
            raise T7Error(
                f"the class {typename}",
                "a registered class",
                hint="t7.register() adds one, and unknown='keep' keeps objects of any class",
                offset=offset,
            )

    def _content(
        self,
        frame: Frame,
        obj: Any,
        version: float,
        entry: registry.Registration | None,
        candidates: tuple[registry.Registration, ...],
    ) -> Steps:
        """Yield the payload of an object.

        Without ``entry`` the object is a TorchObject until its fields tell the class, one of
        ``candidates`` or none.
        """
        start = self.cursor.pos
        typename = obj.typename if entry is None else entry.typename
        try:
            if entry is not None and entry.read is not None:
                yield from entry.read(obj, version)
                if entry.cls is None and obj.fields is not None and not self._options.raw:
                    self._settle_class(obj, (), obj.fields, start)
                    self._fill(obj, obj.fields, version)
                return obj
            fields = yield FIELDS
            if entry is None and not self._options.raw:
                self._settle_class(obj, candidates, fields, start)
            self._fill(obj, fields, version)
        # These say what is wrong already. Anything else is a class's code that met fields which it
        # did not expect, so the file is the cause.
        except (T7Error, Refusal, MemoryError):
            raise
        except Exception as error:
            raise unusable(typename, error, start) from error
        return obj

    def _settle_class(
        self, obj: Any, candidates: tuple[registry.Registration, ...], fields: Any, offset: int
    ) -> None:
        """Give a TorchObject the class that its fields reveal."""
        entry = registry.chosen(candidates, fields)
        if entry is not None:
            # The object keeps its identity: references to it were resolved before its fields were
            # read.
            obj.__class__ = entry.cls
            obj.__dict__.clear()
            return
        if candidates:
            self._refuse_unknown(obj.typename, offset)
        if type(obj) is TorchObject:  # else its place in a net has told already
            obj.__class__ = registry.keeper(fields)

    def _fill(self, obj: Any, fields: dict[Any, Any], version: float) -> None:
        if self.wrong_kinds and not isinstance(obj, TorchObject):
            pass  # what is read will be thrown away
        elif hasattr(obj, "t7_restore"):
            with bounded_by_file(fields):
                obj.t7_restore(fields, version)
        elif isinstance(obj, TorchObject):
            obj.fields = fields
        else:
            obj.__dict__.update(fields)

    def _fields(self) -> Any:
        start = self.cursor.pos
        code, index = self.cursor.item()
        if code != 3:
            raise T7Error(
                type_code(code),
                "a table of fields",
                hint="t7.register() tells the payload of a class that is not one table",
                offset=start,
            )
        known = self._known(index)
        if known is _MISSING:
            return self._table(index, True)
        if isinstance(known, (list, dict)):
            claim(entries=len(known))
            return dict(known) if isinstance(known, dict) else dict(enumerate(known, 1))
        raise T7Error(f"a reference to {type(known).__name__}", "a table of fields", offset=start)

    # Tensors and storages.

    def _storage(self, typename: str, is_alone: bool = False) -> Storage:
        start = self.cursor.pos
        count = self.cursor.number("l")
        if count < 0:
            raise T7Error(f"a storage of {count} elements", "a number from 0", offset=start)
        device = self._options.locate(typename)
        skip = device is not None and device.type == "meta"
        if skip and is_alone and not self._options.raw:
            device, skip = None, False  # sizes, without which no object can be restored
        tensor = self.cursor.elements(STORAGE_DTYPES[typename], count, skip)
        storage = Storage(tensor if device is None or skip else tensor.to(device))
        storage.typename = typename
        return storage

    def _tensor(self, typename: str) -> torch.Tensor:
        cursor = self.cursor
        start = cursor.pos
        try:
            dimensions = cursor.integer()
            check_dimensions(dimensions)
            sizes = cursor.longs(dimensions)
            strides = cursor.longs(dimensions)
            offset = cursor.number("l") - 1
            storage = self._tensor_storage(typename)
            strides = checked_strides(
                sizes, strides, offset, 0 if storage is None else len(storage)
            )
        except T7Error as error:
            if error.offset is None:
                error.offset = start
            raise
        if storage is None:
            device = self._options.locate(typename)
            base = torch.empty(0, dtype=TENSOR_DTYPES[typename], device=device)
        else:
            # A view of the storage's one tensor: tensors that shared memory in Torch7 share it
            # here.
            base = storage.tensor
        try:
            tensor = base.as_strided(sizes or (0,), strides or (1,), offset)
        except RuntimeError as error:
            raise T7Error(f"a tensor PyTorch refuses: {error}", offset=start) from None
        if is_cuda_type(typename):
            # PyTorch has no CUDA tensor on the CPU; the name lets `save` write the class that was
            # read.
            tensor.torch7_type = typename  # type: ignore[attr-defined]
        return tensor

    def _tensor_storage(self, typename: str) -> Storage | None:
        start = self.cursor.pos
        code, index = self.cursor.item()
        if code == 0:
            return None
        wanted = typename.replace("Tensor", "Storage")
        found = type_code(code)
        if code == 4:
            storage = self._known(index)
            if storage is _MISSING:
                # The storage object is read here without a frame: it holds no objects, so nothing
                # can nest.
                found, _ = self._class()
                if found == wanted:
                    self._memo[index] = storage = self._storage(wanted)
            elif isinstance(storage, Storage):
                found = storage.typename
            if found == wanted:
                return storage
        raise T7Error(found, f"a {wanted} or nil", offset=start)

    # What :mod:`compat.t7.inspection` listens to.

    def _bulk_memo(self) -> dict[int, Any] | None:
        """Return the memo for tables that are read without being noted."""
        return self._memo

    def _note_reference(self, index: int) -> None:
        pass

    def _note_table(self, index: int, offset: int, count: int) -> None:
        pass

    def _note_function(self, index: int | None, offset: int, function: LuaFunction) -> None:
        pass

    def _note_object(self, index: int, offset: int, typename: str, version: float) -> None:
        pass

    def _note_data(
        self, index: int, offset: int, typename: str, value: torch.Tensor | Storage
    ) -> None:
        pass
