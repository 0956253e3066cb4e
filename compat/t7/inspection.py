"""List the contents of a file without reading tensor data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from compat.t7.base.errors import T7Error
from compat.t7.base.object_path import joined, part
from compat.t7.base.types import LuaFunction, Storage
from compat.t7.encoding.lua_table import OpenTable
from compat.t7.objects.reader import Frame, Reader, ReadOptions
from compat.t7.objects.variants import Variant
from compat.torch_internals import storage_identity

# Of a table's values: how many that names lead to are listed, and how many that numbers do.
_MOST_NAMED = 200
_MOST_NUMBERED = 10
_SMALL = 16  # the elements of storages whose values are listed: sizes
_SCALARS = (type(None), bool, int, float, str, bytes)


@dataclass(frozen=True, slots=True)
class Entry:
    """One object or value of a file, or a further reference to an object.

    Attributes:
        path: its place, e.g. ``model.modules[3].weight``; empty for the root object.
        depth: how many objects it is nested in.
        offset: the byte where its content starts.
        kind: ``table``, ``object``, ``tensor``, ``storage``, ``function`` or ``reference``; or
            ``value`` for a number, string or boolean; ``values`` for those of a large table, which
            are not listed one by one; ``unread`` for what follows the object that was read;
            ``unlisted`` for what follows the last entry that was asked for.
        index: the file's number for it; ``None`` for values and functions of the oldest form.
        typename: the Torch7 class of an object, tensor or storage.
        version: the class version of an object.
        length: the number of entries of a table or of ``values``, of elements of a storage, or of
            bytes of a function.
        shape, stride: for a tensor.
        dtype: the dtype of a tensor or storage.
        nbytes: the size in bytes of a tensor's or storage's elements, or of what was not read.
        storage: a number that is equal for tensors and storages that share their memory.
        storage_offset: where in that memory a tensor starts, in elements counted from 0.
        target: for a reference, the path where the object came first.
        label: the last part of its path, e.g. ``weight`` or ``[3]``.
        value: the value; for a small storage outside of tensors, the list of its elements.
    """

    path: str
    depth: int
    offset: int
    kind: str
    index: int | None
    typename: str = ""
    version: float | None = None
    length: int | None = None
    shape: tuple[int, ...] | None = None
    stride: tuple[int, ...] | None = None
    dtype: torch.dtype | None = None
    nbytes: int | None = None
    storage: int | None = None
    storage_offset: int | None = None
    target: str = ""
    label: str = ""
    value: Any = None

    @property
    def elements(self) -> int:
        """The number of elements of a tensor."""
        return math.prod(self.shape or ())


class _Enough(BaseException):
    """Ends the reading once there are as many entries as were asked for.

    A BaseException, so that no handler on the way takes it for a defect of the file.
    """


class Inspector(Reader):
    """A reader that lists what it reads."""

    _paths: dict[int, str]
    _storages: dict[int, tuple[int, torch.UntypedStorage]]
    _followed: list[tuple[Frame, int]]
    _names: list[str]
    _elements: list[Any] | None
    _left: int | None

    def entries(self, most: int | None) -> Iterator[Entry]:
        """Yield the entries of the next object in the order of the file, at most ``most``."""
        self._paths = {}
        self._storages = {}
        self._followed = []
        self._names = []
        self._elements = None
        start = self.cursor.pos
        self._left = most
        try:
            yield from self.steps()
        except _Enough:
            yield from self._notes
            at, left = self.cursor.pos, self.cursor.left()
            yield Entry("", 0, at, "unlisted", None, nbytes=left)
            return
        if isinstance(self.result, _SCALARS):
            yield Entry("", 0, start, "value", None, value=self.result)
        if self.cursor.left():
            yield Entry("", 0, self.cursor.pos, "unread", None, nbytes=self.cursor.left())

    def _add(self, entry: Entry) -> None:
        if self._left is not None:
            if not self._left:
                raise _Enough
            self._left -= 1
        self._notes.append(entry)

    def _note(self, kind: str, index: int | None, offset: int, **facts: object) -> None:
        names = self._follow()
        path, depth = joined(names), len(names)
        if index is not None:
            self._paths.setdefault(index, path)
        label = names[-1].removeprefix(".") if names else ""
        self._add(Entry(path, depth, offset, kind, index, label=label, **facts))  # type: ignore[arg-type]

    def _open(self, count: int, is_list: bool | None, is_plain: bool) -> OpenTable:
        table = _Heard(count, is_list, is_plain)
        names = self._follow()
        table.listen(self, joined(names), len(names) + 1)
        return table

    def note_value(self, table: _Heard, key: Any, value: Any) -> None:
        """List a value that is not an object."""
        path = (table.path + part(key)).removeprefix(".")
        at, label = self.cursor.pos, part(key).removeprefix(".")
        self._add(Entry(path, table.depth, at, "value", None, value=value, label=label))

    def _finish(self, table: OpenTable, index: int, is_dict: bool) -> Any:
        assert isinstance(table, _Heard)
        if table.unlisted:
            path, depth, at = f"{table.path}[…]", table.depth, self.cursor.pos
            self._add(Entry(path, depth, at, "values", None, length=table.unlisted, label="[…]"))
        return super()._finish(table, index, is_dict)

    def _storage(self, typename: str, is_alone: bool = False) -> Storage:
        start = self.cursor.pos
        storage = super()._storage(typename, is_alone)
        self._elements = None
        if is_alone and 0 < len(storage) <= _SMALL and not storage.tensor.is_floating_point():
            end, self.cursor.pos = self.cursor.pos, start
            count = self.cursor.number("l")
            self._elements = self.cursor.elements(storage.tensor.dtype, count, False).tolist()
            self.cursor.pos = end
        return storage

    def _follow(self) -> list[str]:
        """Return the parts of the path to the object that is being read.

        Parts that are unchanged since the last call are reused: objects may be nested very deep.
        """
        stack, followed, names = self._stack, self._followed, self._names
        del followed[len(stack) :]
        while followed and followed[-1][0] is not stack[len(followed) - 1]:
            followed.pop()
        del names[followed[-1][1] if followed else 0 :]
        for frame in stack[len(followed) :]:
            if followed and followed[-1][0].label is not None:
                names.append(part(followed[-1][0].label))
            followed.append((frame, len(names)))
        if stack and stack[-1].label is not None:
            names.append(part(stack[-1].label))
        return names

    def _bulk_memo(self) -> None:
        return None  # each table is noted

    def _note_reference(self, index: int) -> None:
        self._note("reference", index, self.cursor.pos, target=self._paths.get(index, ""))

    def _note_table(self, index: int, offset: int, count: int) -> None:
        self._note("table", index, offset, length=max(count, 0))

    def _note_function(self, index: int | None, offset: int, function: LuaFunction) -> None:
        self._note("function", index, offset, length=len(function.bytecode))

    def _note_object(self, index: int, offset: int, typename: str, version: float) -> None:
        self._note("object", index, offset, typename=typename, version=version)

    def _note_data(
        self, index: int, offset: int, typename: str, value: torch.Tensor | Storage
    ) -> None:
        tensor = value.tensor if isinstance(value, Storage) else value
        memory = tensor.untyped_storage()
        number, _ = self._storages.setdefault(
            storage_identity(tensor), (len(self._storages) + 1, memory)
        )
        facts = {
            "typename": typename,
            "dtype": tensor.dtype,
            "nbytes": tensor.numel() * tensor.itemsize,
            "storage": number,
        }
        if isinstance(value, Storage):
            self._note("storage", index, offset, length=len(value), value=self._elements, **facts)
        else:
            facts |= {"shape": tuple(tensor.shape), "stride": tuple(tensor.stride())}
            facts["storage_offset"] = tensor.storage_offset()
            self._note("tensor", index, offset, **facts)


def listed(
    variant: Variant, options: ReadOptions, most: int | None
) -> tuple[list[Entry], T7Error | None]:
    """Return the entries of a file up to its first defect, and the defect or None."""
    entries: list[Entry] = []
    error: T7Error | None = None
    for cursor in variant.cursors():
        found: list[Entry] = []
        defect: T7Error | None = None
        try:
            for entry in Inspector(cursor, options).entries(most):
                found.append(entry)
        except T7Error as caught:
            defect = caught
        # What is not sound with the first size must be so with the other to its last byte.
        if error is None or (defect is None and not cursor.left()):
            entries, error = found, defect
        if error is None or not cursor.used_longs:
            break
    return entries, error


class _Heard(OpenTable):
    """A table that reports the values that are put into it.

    Attributes:
        path, depth: the place of the table, and the depth of its values.
        unlisted: how many values came after the limit.
    """

    quick = False
    __slots__ = ("_inspector", "_told", "depth", "path", "unlisted")

    def listen(self, inspector: Inspector, path: str, depth: int) -> None:
        """Report the values to ``inspector`` from now on."""
        self._inspector = inspector
        self.path, self.depth = path, depth
        self.unlisted = self._told = 0

    def put(self, key: Any, value: Any) -> None:
        super().put(key, value)
        self._hear(key, value)

    def put_many(self, keys: Sequence[Any], values: list[Any]) -> None:
        super().put_many(keys, values)
        for i, (key, value) in enumerate(zip(keys, values, strict=True)):
            if self._told >= _MOST_NAMED:
                self.unlisted += len(values) - i
                break
            self._hear(key, value)

    def _hear(self, key: Any, value: Any) -> None:
        if value is None or not isinstance(value, _SCALARS):
            return
        if self._told >= (_MOST_NAMED if isinstance(key, (str, bytes)) else _MOST_NUMBERED):
            self.unlisted += 1
            return
        self._told += 1
        self._inspector.note_value(self, key, value)
