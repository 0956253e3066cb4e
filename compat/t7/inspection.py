"""Lists what is in a file without reading the data of its tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from compat.t7.base.object_path import describe
from compat.t7.base.types import LuaFunction, Storage
from compat.t7.objects.reader import Frame, Reader
from compat.torch_internals import storage_identity


@dataclass(frozen=True)
class Entry:
    """One object of a file, or one more reference to it.

    Attributes:
        path: its place, e.g. ``model.modules[3].weight``; empty for the root object.
        depth: how many objects it lies in.
        offset: the byte where its content starts.
        kind: ``table``, ``object``, ``tensor``, ``storage``, ``function`` or ``reference``.
        index: by which the file refers to it; ``None`` for functions of the oldest form.
        typename: the Torch7 class of an object, tensor or storage.
        version: the class version of an object.
        length: the entries of a table, the elements of a storage, the bytes of a function.
        shape, stride: of a tensor.
        dtype: of the elements of a tensor or storage.
        nbytes: the size of the elements of a tensor or storage.
        storage: a number that tensors and storages have in common that share their memory.
        storage_offset: where in that memory a tensor starts, in elements counted from 0.
        target: of a reference, the path where the object came first.
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


class Inspector(Reader):
    """A reader that notes what it comes across."""

    _paths: dict[int, str]
    _storages: dict[int, tuple[int, torch.UntypedStorage]]
    _followed: list[tuple[Frame, int]]
    _names: list[Any]

    def entries(self) -> Iterator[Entry]:
        """The entries of the next object, in the order of the file."""
        self._paths = {}
        self._storages = {}
        self._followed = []
        self._names = []
        return self.steps()

    def _note(self, kind: str, index: int | None, offset: int, **facts: object) -> None:
        names = self._follow()
        path, depth = describe(names), len(names)
        if index is not None:
            self._paths.setdefault(index, path)
        entry = Entry(path, depth, offset, kind, index, **facts)  # type: ignore[arg-type]
        self._notes.append(entry)

    def _follow(self) -> list[Any]:
        """The labels on the way to the object being read.

        What did not change since the last call is kept: objects may be nested without end.
        """
        stack, followed, names = self._stack, self._followed, self._names
        del followed[len(stack) :]
        while followed and followed[-1][0] is not stack[len(followed) - 1]:
            followed.pop()
        del names[followed[-1][1] if followed else 0 :]
        for frame in stack[len(followed) :]:
            if followed and followed[-1][0].label is not None:
                names.append(followed[-1][0].label)
            followed.append((frame, len(names)))
        if stack and stack[-1].label is not None:
            names.append(stack[-1].label)
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
            self._note("storage", index, offset, length=len(value), **facts)
        else:
            facts |= {"shape": tuple(tensor.shape), "stride": tuple(tensor.stride())}
            facts["storage_offset"] = tensor.storage_offset()
            self._note("tensor", index, offset, **facts)
