"""Read and write ``index.json``: which tensors are in a folder of slices, and where.

``torch.distributed.checkpoint`` keeps the same as a pickle, ``.metadata``. That file is written,
too, for PyTorch's own reader, but it is read only in folders that are older than the index, and
then as plain data by an allow-list of names. Only files inside the folder are read, whatever the
index says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint import metadata as layout

from dptable.processes import restricted_pickle

INDEX = "index.json"
_METADATA = ".metadata"
_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
    )
}
_ALLOWED = frozenset(
    f"{module}.{name}"
    for module, names in {
        "torch.distributed.checkpoint.metadata": (
            *("Metadata", "MetadataIndex", "StorageMeta", "TensorStorageMetadata"),
            *("TensorProperties", "ChunkStorageMetadata", "_MEM_FORMAT_ENCODING"),
        ),
        "torch.distributed.checkpoint.filesystem": ("_StorageInfo",),
        "torch.serialization": ("_get_layout",),
        "torch": ("Size", *_DTYPES),
        "pathlib": ("PosixPath", "WindowsPath"),
        "pathlib._local": ("PosixPath", "WindowsPath"),
    }.items()
    for name in names
)


@dataclass(frozen=True)
class Place:
    """The place of a piece of a tensor, under the names that PyTorch's reader expects."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] = ()


def described(metadata: layout.Metadata) -> bytes:
    """Return the index, as JSON, of a folder that PyTorch has written."""
    tensors: dict[str, Any] = {}
    for name, entry in metadata.state_dict_metadata.items():
        assert isinstance(entry, layout.TensorStorageMetadata)
        pieces = []
        for chunk in entry.chunks:
            at = metadata.storage_data[layout.MetadataIndex(name, chunk.offsets)]
            place = {"file": at.relative_path, "offset": at.offset, "bytes": at.length}
            pieces.append({"start": list(chunk.offsets), "size": list(chunk.sizes), **place})
        dtype = str(entry.properties.dtype).removeprefix("torch.")
        tensors[name] = {"dtype": dtype, "size": list(entry.size), "pieces": pieces}
    return json.dumps({"tensors": tensors}, indent=1).encode()


def read(folder: Path) -> layout.Metadata:
    """Return the index of a folder, checked against its files.

    Raises:
        ValueError: the index is damaged.
        OSError: there is no index.
    """
    path = folder / INDEX
    if not path.is_file():
        path = folder / _METADATA
    data = path.read_bytes()
    try:
        tensors = _of_json(data) if path.name == INDEX else _of_pickle(data)
        return _checked(folder, tensors)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except (TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        found = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path}: this is no index of a folder of slices: {found}") from None


def _of_json(data: bytes) -> Mapping[str, Any]:
    return json.loads(data)["tensors"]


def _of_pickle(data: bytes) -> Mapping[str, Any]:
    """Return the contents of PyTorch's ``.metadata`` as an index."""
    metadata = restricted_pickle.read(data, _ALLOWED)
    places = {
        (index["fqn"], _sizes(index["offset"])): place
        for index, place in metadata["storage_data"].items()
    }
    tensors = {}
    for name, entry in metadata["state_dict_metadata"].items():
        pieces = []
        for chunk in entry["chunks"]:
            start = _sizes(chunk["offsets"])
            at = places[name, start].state
            place = {"file": at["relative_path"], "offset": at["offset"], "bytes": at["length"]}
            pieces.append({"start": start, "size": _sizes(chunk["sizes"]), **place})
        dtype = entry["properties"].state[0].name
        tensors[name] = {"dtype": dtype, "size": _sizes(entry["size"]), "pieces": pieces}
    return tensors


def _sizes(size: Any) -> tuple[int, ...]:
    """Return the sizes of a recorded ``torch.Size``."""
    return tuple(size.args[0])


def _checked(folder: Path, tensors: Mapping[str, Any]) -> layout.Metadata:
    """Return an index in PyTorch's form; check that all pieces lie in files of the folder."""
    lengths = {entry.name: entry.stat().st_size for entry in folder.iterdir() if entry.is_file()}
    held: dict[str, Any] = {}
    places: dict[layout.MetadataIndex, Place] = {}
    for name, told in tensors.items():
        dtype, size = _DTYPES[told["dtype"]], _numbers(told["size"])
        chunks = []
        for piece in told["pieces"]:
            start, sizes = _numbers(piece["start"]), _numbers(piece["size"])
            offset, length = _numbers((piece["offset"], piece["bytes"]))
            at = Place(piece["file"], offset, length)
            if at.offset + at.length > lengths.get(at.relative_path, -1):
                raise ValueError(f"{name} lies outside of the folder's files, in {at}")
            if prod(sizes) * dtype.itemsize > at.length:
                raise ValueError(f"{name} has a piece of {sizes} elements in {at.length} bytes")
            chunks.append(layout.ChunkStorageMetadata(torch.Size(start), torch.Size(sizes)))
            places[layout.MetadataIndex(name, start)] = at
        _check_complete(name, size, chunks)
        properties = layout.TensorProperties(dtype)
        held[name] = layout.TensorStorageMetadata(properties, torch.Size(size), chunks)
    return layout.Metadata(held, storage_data=places)


def _numbers(values: Sequence[Any]) -> tuple[int, ...]:
    if not all(type(value) is int and 0 <= value < 2**63 for value in values):
        raise ValueError(f"{values} are no sizes")
    return tuple(values)


def _check_complete(
    name: str, size: tuple[int, ...], chunks: Sequence[layout.ChunkStorageMetadata]
) -> None:
    """Check that the pieces divide the last dimension without a gap."""
    *above, count = size or (1,)
    end = 0
    for chunk in sorted(chunks, key=lambda chunk: chunk.offsets):
        *rows, start = chunk.offsets or (0,)
        *sizes, wide = chunk.sizes or (1,)
        if any(rows) or sizes != above or start != end or len(chunk.sizes) != len(size):
            break
        end += wide
    if end != count:
        raise ValueError(f"{name} of {size} elements has pieces that do not add up to it")
