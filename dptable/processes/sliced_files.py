"""Folders of ``torch.distributed.checkpoint`` to which each process writes its slice of vectors.

No process collects what lies in the others' memory, neither to write nor to read, and any number of
processes can read a folder. ``torch.distributed.checkpoint.load`` alone can also read every tensor,
by its name.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import Tensor
from torch.distributed.checkpoint import metadata as layout
from torch.distributed.checkpoint.planner import (
    LoadPlan,
    SavePlan,
    TensorWriteData,
    WriteItem,
    WriteItemType,
)
from torch.distributed.checkpoint.planner_helpers import create_read_items_for_chunk_list

from compat import t7
from compat.t7.base.atomic_file import atomic_file
from dptable.processes import slice_index
from dptable.processes.agreement import Checked, decided
from dptable.torch_internals import checkpoints_groups_without_rank_0

# The file in a folder with all that is not a tensor, and the names of the tensors in slices.
_REST = "rest.t7"


@t7.register("dptable.TensorElsewhere")
@dataclass
class Elsewhere:
    """Stands in a table for a tensor that is in another file of the folder."""

    name: str


@dataclass(frozen=True)
class Part:
    """The elements ``start`` to ``stop`` (excluded) of vectors of ``count``, or of rows."""

    start: int
    stop: int
    count: int

    def of(self, sizes: torch.Size) -> layout.ChunkStorageMetadata:
        """Return the chunk that this part is of a tensor with these sizes."""
        first = (*[0] * (len(sizes) - 1), self.start)
        return layout.ChunkStorageMetadata(
            torch.Size(first), torch.Size([*sizes[:-1], self.stop - self.start])
        )


def _all_of(sizes: torch.Size) -> layout.ChunkStorageMetadata:
    return layout.ChunkStorageMetadata(torch.Size([0] * len(sizes)), sizes)


def write(
    folder: str | os.PathLike[str],
    slices: Mapping[str, Tensor],
    wholes: Mapping[str, Tensor],
    rest: Any,
    part: Part,
    group: dist.ProcessGroup,
    checked: Checked,
) -> None:
    """Write a folder, which gets its name once everything is in it.

    Args:
        folder: a folder that does not exist, in a file system that all processes see.
        slices: this process's parts of vectors, and of the rows of matrices, by name.
        wholes: tensors that all processes have; the first process writes them.
        rest: any other values that ``.t7`` files may hold; the first process writes them, too.
        part: the part that this process has.
        group: the processes; it must have a backend for CPU tensors.
        checked: runs a collective.

    Raises:
        FileExistsError: the folder exists.
        OSError: a rank cannot write; the message names it.
        RuntimeError: this PyTorch cannot write in such a group.
    """
    _check_group(group)
    folder = Path(folder)
    # Beside the folder, so that the final renaming stays inside one file system and is atomic.
    unfinished = folder.with_name(f".{folder.name}.partial")
    first = dist.get_rank(group) == 0
    # A rank may have no element of a short vector; the format has no empty chunks.
    mine = {name: value for name, value in slices.items() if value.numel()}
    if first:
        mine |= wholes
    planner = _SavePlanner(part, frozenset(slices))
    told = {"rest": rest, "slices": list(slices)}
    try:
        # All ranks raise what the first one raises, instead of waiting for it in the save.
        decided(lambda: _begin(folder, unfinished, told, group), checked, group)
        options = {"storage_writer": _Writer(unfinished, folder), "planner": planner}
        save = partial(dcp.save, mine, process_group=group, **options)
        _attempt("write", folder, lambda: checked(save), group)
    except BaseException:
        if first:
            shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _begin(folder: Path, unfinished: Path, told: dict[str, Any], group: dist.ProcessGroup) -> None:
    if folder.exists():
        raise FileExistsError(f"{folder} exists; the name of a new one is accepted")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        t7.save(unfinished / _REST, told)
    except OSError as error:
        named = _global_rank(group, 0)
        raise OSError(f"{folder}: rank {named} could not write its part: {error}") from error


def read(
    folder: str | os.PathLike[str],
    count: int,
    start: int = 0,
    stop: int | None = None,
    group: dist.ProcessGroup | None = None,
    checked: Checked = lambda function: function(),
) -> tuple[dict[str, Tensor], Any]:
    """Read the tensors of a folder by name, and its ``rest``. No code of the folder is run.

    If there is a group of processes, all of them call this.

    Args:
        folder: the folder.
        count: the number of elements of the vectors.
        start: the first element to read of the vectors.
        stop: the end of the elements to read; default: ``count``.
        group: the processes, if several read.
        checked: runs a collective.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: its vectors have other sizes, or its index is damaged.
        RuntimeError: this PyTorch cannot read in such a group.
    """
    _check_group(group)
    folder = Path(folder)
    if not (folder / _REST).is_file():
        raise FileNotFoundError(f"{folder}: no checkpoint, there is no {_REST} in this folder")
    reader = _Reader(folder)
    found = _found(reader.index)
    rest, names = _told(folder / _REST, found)
    for name in names:
        # Before anything is allocated: the sizes in an index are not trusted.
        if found[name].size[-1] != count:
            raise ValueError(
                f"{folder}: {name} has {found[name].size[-1]} elements; {count} are accepted"
            )
    part = Part(start, count if stop is None else stop, count)
    chunks = {
        name: part.of(entry.size) if name in names else _all_of(entry.size)
        for name, entry in found.items()
    }
    values = {
        name: torch.empty(chunks[name].sizes, dtype=entry.properties.dtype)
        for name, entry in found.items()
    }
    planner = _LoadPlanner(chunks)

    load = partial(dcp.load, values, storage_reader=reader, planner=planner, process_group=group)
    _attempt("read", folder, lambda: checked(load), group)
    return values, rest


def _told(path: Path, found: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Return the other values of a folder, and the names of its tensors in slices."""
    told = t7.load(path, plain=True)
    vectors = [name for name, entry in found.items() if entry.size]
    names = told.get("slices") if isinstance(told, dict) else None
    if not isinstance(names, list) or not all(name in vectors for name in names):
        raise ValueError(f"{path}: slices is {names!r}; names of the folder's tensors are accepted")
    return told.get("rest"), names


def _found(metadata: layout.Metadata) -> dict[str, layout.TensorStorageMetadata]:
    """Return the tensors of a folder, in the order in which they are read."""
    entries = sorted(metadata.state_dict_metadata.items())
    return {name: e for name, e in entries if isinstance(e, layout.TensorStorageMetadata)}


def _check_group(group: dist.ProcessGroup | None) -> None:
    if group is None or _global_rank(group, 0) == 0:
        return
    if not checkpoints_groups_without_rank_0(group):
        raise RuntimeError(
            f"torch.distributed.checkpoint of PyTorch {torch.__version__} serves only groups whose "
            f"first process is rank 0, not rank {_global_rank(group, 0)}; a later PyTorch does "
            "others, too"
        )


def _global_rank(group: dist.ProcessGroup | None, rank: int) -> int:
    """Return the rank among all processes, which errors name."""
    return rank if group is None else dist.get_global_rank(group, rank)


def _attempt(
    verb: str, folder: Path, function: Callable[[], Any], group: dist.ProcessGroup | None
) -> None:
    try:
        with warnings.catch_warnings():
            # It warns without a process group, where one process is meant to do it alone.
            warnings.filterwarnings("ignore", "torch.distributed is ")
            # PyTorch's own use of it, in 2.6.
            warnings.filterwarnings("ignore", "TypedStorage is deprecated")
            function()
    except dcp.CheckpointException as error:
        rank, (cause, _) = min(error.failures.items())
        named = _global_rank(group, rank)
        said = f"{folder}: rank {named} could not {verb} its part: {cause}"
        raise OSError(said) from error


def extract_tensors(value: Any, name: str, into: dict[str, Tensor]) -> Any:
    """Replace each tensor in ``value`` by a placeholder; put the tensors ``into`` a table.

    A tensor's name is its path, beginning with ``name``. They come in the order of
    ``compat.tensor_tables.tensors``.
    """
    if isinstance(value, Tensor):
        into[name] = value.detach()
        return Elsewhere(name)
    if isinstance(value, (list, tuple)):
        return [extract_tensors(item, f"{name}.{i}", into) for i, item in enumerate(value, 1)]
    if isinstance(value, dict):
        return {key: extract_tensors(item, f"{name}.{key}", into) for key, item in value.items()}
    return value


def insert_tensors(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Put tensors back in place of the placeholders of ``extract_tensors``."""
    if isinstance(value, Elsewhere):
        return tensors[value.name]
    if isinstance(value, list):
        return [insert_tensors(item, tensors) for item in value]
    if isinstance(value, dict):
        return {key: insert_tensors(item, tensors) for key, item in value.items()}
    return value


class _Writer(dcp.FileSystemWriter):
    """Writes to a temporary folder, and renames it at the end."""

    def __init__(self, unfinished: Path, folder: Path) -> None:
        super().__init__(unfinished)
        self._unfinished, self._folder = unfinished, folder

    def finish(self, metadata: layout.Metadata, results: Any) -> None:
        super().finish(metadata, results)
        with atomic_file(self._unfinished / slice_index.INDEX) as file:
            file.write(slice_index.described(metadata))
        # Last: a folder that has its name is complete.
        self._unfinished.rename(self._folder)


class _Reader(dcp.FileSystemReader):
    """Reads a folder by its index."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.index = slice_index.read(folder)

    def read_metadata(self, *args: Any, **options: Any) -> layout.Metadata:
        return self.index


class _SavePlanner(dcp.DefaultSavePlanner):
    """Plans a save in which each process writes its parts.

    Tensors whose names are not in ``cut`` are written whole.
    """

    def __init__(self, part: Part, cut: frozenset[str]) -> None:
        super().__init__(flatten_state_dict=False, flatten_sharded_tensors=False)
        self._part = part
        self._cut = cut

    def create_local_plan(self) -> SavePlan:
        self.plan = SavePlan(list(self._items()))
        return self.plan

    def _items(self) -> Iterator[WriteItem]:
        for name, tensor in self.state_dict.items():
            sizes = tensor.size()
            chunk = _all_of(sizes)
            if name in self._cut:
                chunk = self._part.of(sizes)
                sizes = torch.Size([*sizes[:-1], self._part.count])
            properties = layout.TensorProperties.create_from_tensor(tensor)
            yield WriteItem(
                index=layout.MetadataIndex(name, chunk.offsets),
                type=WriteItemType.SHARD,
                tensor_data=TensorWriteData(chunk, properties, sizes),
            )

    def lookup_object(self, index: layout.MetadataIndex) -> Any:
        return self.state_dict[index.fqn]


class _LoadPlanner(dcp.DefaultLoadPlanner):
    """Plans a load in which each process reads the chunks that it wants."""

    def __init__(self, chunks: Mapping[str, layout.ChunkStorageMetadata]) -> None:
        super().__init__(flatten_state_dict=False, flatten_sharded_tensors=False)
        self._chunks = chunks

    def create_local_plan(self) -> LoadPlan:
        assert self.metadata is not None
        found = _found(self.metadata)
        items = [
            item
            for name, chunk in self._chunks.items()
            for item in create_read_items_for_chunk_list(name, found[name], [chunk])
        ]
        return LoadPlan(items)

    def lookup_tensor(self, index: layout.MetadataIndex) -> Tensor:
        return self.state_dict[index.fqn]
