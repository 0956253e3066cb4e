"""Package hdf5 of Torch7 (torch-hdf5): tensors, and tables of them, in HDF5 files.

::

    from compat import hdf5

    file = hdf5.open("data.h5", "r")
    train = file.read("/train").all()
    some = file.read("/images").partial([1, 10], [1, 3], [1, 32], [1, 32])
    file.close()

Ranges count from 1, and their ends belong to them. Reading and writing is h5py's, the extra
``dptable[hdf5]``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from compat import t7
from compat.checks import check_choice, listed, whole, wrong_type

__all__ = [
    "DataSetOptions",
    "HDF5DataSet",
    "HDF5File",
    "HDF5Group",
    "open",
]

_DEEPEST = 100  # groups in each other
_MODES = ("r", "r+", "w", "w-", "a")
# What a tensor is written as, and what a number of so many bytes is read as: signs get lost.
_WRITTEN = {
    torch.uint8: "<u1",
    torch.int8: "<i1",
    torch.int16: "<i2",
    torch.int32: "<i4",
    torch.int64: "<i8",
    torch.float32: "<f4",
    torch.float64: "<f8",
}
_BYTES = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_READ = {
    **{f"{sign}{size}": dtype for sign in "iu" for size, dtype in _BYTES.items()},
    "f4": torch.float32,
    "f8": torch.float64,
}


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise ImportError("HDF5 files need h5py: pip install h5py, or dptable[hdf5]") from error
    return h5py


def open(filename: str | os.PathLike[str], mode: str | None = None) -> HDF5File:
    """Open a file.

    Args:
        filename: its path; ``~`` is the home.
        mode: "r" to read, "r+" to read and write a file that is there, "w" for a new file in the
            place of one that may be there, "w-" for a new file where none is, "a" for "r+" where
            there is one and else "w-". Default: "a".

    Raises:
        OSError: there is no such file, or one where none may be, or it is no HDF5 file.
    """
    mode = "a" if mode is None else mode
    check_choice(mode, "mode", _MODES)
    path = os.path.abspath(os.path.expanduser(filename))
    return HDF5File(_h5py().File(path, mode))


@t7.register("hdf5.DataSetOptions")
class DataSetOptions:
    """The layout of a dataset in its file; the methods give the options themselves."""

    def __init__(self) -> None:
        self._chunks: tuple[int, ...] | None = None
        self._deflate: int | None = None

    def setChunked(self, *sizes: int) -> DataSetOptions:
        """Lay it out in chunks of the given numbers of entries; ``append`` needs that.

        Args:
            sizes: one number for each dimension.
        """
        self._chunks = tuple(whole(size, "a size of a chunk", 1) for size in sizes)
        return self

    def setDeflate(self, level: int = 6) -> DataSetOptions:
        """Compress its chunks; ``level`` is from 0 to 9.

        Args:
            level: 0 for no compression, 9 for the strongest.
        """
        self._deflate = whole(level, "level", 0, 9)
        return self

    def layout(self, data: Tensor, path: str) -> dict[str, Any]:
        """Return what h5py takes for a tensor that is written to ``path``."""
        if self._chunks is None:
            return {"compression": self._deflate}
        if len(self._chunks) != data.dim():
            raise ValueError(
                f"{path} has {data.dim()} dimensions; chunks are set for {len(self._chunks)}"
            )
        chunks = tuple(max(1, min(pair)) for pair in zip(self._chunks, data.shape, strict=True))
        limits = (None, *data.shape[1:])
        return {"compression": self._deflate, "chunks": chunks, "maxshape": limits}

    def __repr__(self) -> str:
        chunks = "none" if self._chunks is None else "x".join(map(str, self._chunks))
        return f"[DataSetOptions: chunking={chunks}]"


@t7.register("hdf5.HDF5DataSet")
class HDF5DataSet:
    """A tensor in a file.

    Integers of 1, 2, 4 and 8 bytes are read as uint8, int16, int32 and int64, whether they have a
    sign or not, as in Torch7; floats of 4 and 8 bytes as float32 and float64.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def all(self) -> Tensor:
        """Return all of it."""
        return self._read(...)

    def partial(self, *ranges: int | Sequence[int]) -> Tensor:
        """Return a part: for each dimension ``[first, last]``, or an index, which keeps the
        dimension.

        Args:
            ranges: one for each dimension; indices count from 1, and ``last`` is included.

        Raises:
            ValueError: the number of ranges is wrong, or one lies outside of the dataset.
        """
        shape = self.dataspaceSize()
        if len(ranges) != len(shape):
            raise ValueError(
                f"{len(ranges)} ranges for {len(shape)} dimensions; one each is accepted"
            )
        selection = []
        for range_, size in zip(ranges, shape, strict=True):
            ends = range_ if isinstance(range_, Sequence) else (range_, range_)
            if len(ends) != 2:
                raise ValueError(f"a range is {range_!r}; an index or [first, last] is accepted")
            first = whole(ends[0], "the first index of a range", 1, size)
            last = whole(ends[1], "the last index of a range", first, size)
            selection.append(slice(first - 1, last))
        return self._read(tuple(selection))

    def dataspaceSize(self) -> list[int]:
        """Return its sizes."""
        return list(self._dataset.shape)

    def getTensorFactory(self) -> Callable[[], Tensor]:
        """Return what makes empty tensors of the type that it is read as."""
        return partial(torch.empty, 0, dtype=self._type())

    def _type(self) -> torch.dtype:
        form = self._dataset.dtype
        name = f"{form.kind}{form.itemsize}"
        if name not in _READ or self._dataset.shape is None:
            raise TypeError(
                f"{self._dataset.name} holds {form}; "
                "integers of 1, 2, 4 and 8 bytes and floats of 4 and 8 are read"
            )
        return _READ[name]

    def _read(self, selection: Any) -> Tensor:
        form = _WRITTEN[self._type()][1:]
        array = self._dataset[selection]
        # The machine's order of bytes, in memory that may be written to.
        array = array.astype(array.dtype.newbyteorder("="), order="C")
        return torch.from_numpy(array.view(form))

    def __repr__(self) -> str:
        return f"[HDF5DataSet {self._dataset.name}]"


@t7.register("hdf5.HDF5Group")
class HDF5Group:
    """A folder in a file. A path names what is below it: ``"a/b"``, or ``["a", "b"]``."""

    def __init__(self, group: Any) -> None:
        self._group = group

    def read(self, datapath: str | Sequence[str] = "/") -> HDF5Group | HDF5DataSet:
        """Return the group or the dataset of a path; its tensors are read by ``all`` and
        ``partial``.
        """
        path = _joined(datapath)
        found = self._group.get(path) if path else self._group
        if found is None:
            names: list[str] = []
            self._group.visit(names.append)
            known = listed([repr(name) for name in names[:12]])
            raise ValueError(f"datapath is {datapath!r}; {known} is accepted")
        if isinstance(found, _h5py().Group):
            return HDF5Group(found)
        if not isinstance(found, _h5py().Dataset):
            raise TypeError(f"{path} is a {type(found).__name__}; groups and datasets are read")
        return HDF5DataSet(found)

    def all(self) -> dict[str, Any]:
        """Return all that is in it: tensors, and dicts for groups, by name.

        A group that lies in several places is read once, into one dict.

        Raises:
            ValueError: a group that lies in itself, or more than 100 deep.
        """
        return _content(self._group, {}, 1)

    def write(
        self,
        datapath: str | Sequence[str],
        data: Tensor | Mapping[str, Any],
        options: DataSetOptions | None = None,
    ) -> None:
        """Write a tensor under a name that is free, or a dict of tensors and dicts.

        Args:
            datapath: where; groups on the way are made.
            data: numbers of 1 to 8 bytes, no booleans.
            options: how datasets are laid out.
        """
        chosen = DataSetOptions() if options is None else options
        leaves = [
            (path, leaf, {"dtype": _written(leaf, path), **chosen.layout(leaf, path)})
            for path, leaf in _leaves(_joined(datapath), data)
        ]
        for path, _, _ in leaves:
            if path in self._group:
                raise ValueError(f"{path} is there; the path of something new is accepted")
        for path, leaf, layout in leaves:
            self._group.create_dataset(path, data=_numpy(leaf), **layout)

    def append(
        self,
        datapath: str | Sequence[str],
        data: Tensor | Mapping[str, Any],
        options: DataSetOptions | None = None,
    ) -> None:
        """Write a tensor behind the end of a dataset, in its first dimension, or a dict of them.

        The dataset is one that was written with ``setChunked``; ``options`` count for nothing, as
        in Torch7.

        Args:
            datapath: the path of the dataset, which was written with ``DataSetOptions.setChunked``.
            data: a tensor, or a dict of tensors for a group.
            options: how a dataset that does not exist yet is laid out.
        """
        ends = []
        for path, leaf in _leaves(_joined(datapath), data):
            _written(leaf, path)
            dataset = self._group.get(path)
            if getattr(dataset, "maxshape", ())[:1] != (None,):
                raise ValueError(f"{path} cannot grow; a dataset written in chunks is accepted")
            if leaf.dim() != dataset.ndim or leaf.shape[1:] != dataset.shape[1:]:
                raise ValueError(
                    f"data of {path} is of shape {list(leaf.shape)}; one of shape "
                    f"{['n', *dataset.shape[1:]]} is accepted"
                )
            ends.append((dataset, leaf))
        for dataset, leaf in ends:
            before = len(dataset)
            dataset.resize(before + len(leaf), axis=0)
            dataset[before:] = _numpy(leaf)

    def __repr__(self) -> str:
        return f"[HDF5Group {self._group.name}]"


@t7.register("hdf5.HDF5File")
class HDF5File(HDF5Group):
    """An open file, which is its first group as well. ``hdf5.open`` makes one."""

    def filename(self) -> str:
        """Return its path."""
        return str(self._group.filename)

    def close(self) -> None:
        """Write what is left and close it, with all that was read from it."""
        self._group.close()

    def __enter__(self) -> HDF5File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"[HDF5File: {self._group.filename}]" if self._group else "[HDF5File: closed]"


def _content(group: Any, known: dict[Any, dict[str, Any] | None], depth: int) -> dict[str, Any]:
    """Return all in a group of h5py; ``known`` has those read before, None for those around it."""
    if depth > _DEEPEST:
        raise ValueError(f"groups lie more than {_DEEPEST} deep in each other; fewer are read")
    known[group] = None
    held: dict[str, Any] = {}
    for name in group:
        item = HDF5Group(group).read(name)
        if isinstance(item, HDF5DataSet):
            held[name] = item.all()
            continue
        below = group[name]
        content = known[below] if below in known else _content(below, known, depth + 1)
        if content is None:
            path = f"{group.name}/{name}".replace("//", "/")
            raise ValueError(f"{path} is a group that it lies in; groups that end are read")
        held[name] = content
    known[group] = held
    return held


def _joined(datapath: Any) -> str:
    parts = datapath.split("/") if isinstance(datapath, str) else datapath
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        raise wrong_type(datapath, "datapath", "a string, or a list of strings,")
    return "/".join(part for part in parts if part)


def _leaves(path: str, data: Any) -> list[tuple[str, Any]]:
    """Return the paths and values of all that is no dict."""
    if not isinstance(data, Mapping):
        if not path:
            raise wrong_type(data, "data of the path '/'", "a dict")
        return [(path, data)]
    return [
        leaf
        for name, value in data.items()
        for leaf in _leaves("/".join(filter(None, (path, _joined(name)))), value)
    ]


def _written(data: Any, path: str) -> str:
    """Return the form that a tensor is written in."""
    if not isinstance(data, Tensor):
        raise wrong_type(data, f"data of {path}", "a tensor, or a dict of them,")
    if data.dtype not in _WRITTEN:
        raise TypeError(f"data of {path} is {data.dtype}; {listed(_WRITTEN)} is accepted")
    return _WRITTEN[data.dtype]


def _numpy(data: Tensor) -> Any:
    return data.detach().cpu().numpy()
