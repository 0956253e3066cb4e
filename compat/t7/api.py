"""Loading, saving and inspecting files and strings."""

from __future__ import annotations

import gc
import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import torch

from compat.checks import check_choice, given
from compat.t7.base.atomic_file import atomic_file
from compat.t7.encoding.ascii import AsciiEncoder
from compat.t7.encoding.binary import BinaryEncoder
from compat.t7.encoding.byte_source import PathOrFile, open_source
from compat.t7.encoding.primitives import Encoder
from compat.t7.inspection import Entry, listed
from compat.t7.objects.reader import ReadOptions
from compat.t7.objects.scratch_fields import cleared
from compat.t7.objects.variants import Variant
from compat.t7.objects.writer import Writer

Device = str | torch.device
MapLocation = Device | Mapping[str, Device] | Callable[[str], Device | None] | None


_META = torch.device("meta")


def load(
    source: PathOrFile,
    *,
    map_location: MapLocation = None,
    mmap: bool = False,
    unknown: str = "keep",
    long_size: int | str = "auto",
    endian: str = "auto",
    format: str = "auto",
    referenced: bool = True,
    raw: bool = False,
    plain: bool = False,
    many: bool = False,
) -> Any:
    """Read the object that Torch7's ``torch.save`` or ``save`` wrote; what follows it is
    ignored.

    Numbers come as int where they are whole and within ±2^53, else as float; strings as str where
    they are UTF-8, else as bytes; tables as ``List``, which counts from 1, where the keys are 1…n,
    else as ``Table``, a dict whose entries are attributes too; tensors of CUDA types as CPU tensors
    with the attribute ``torch7_type``, so that saving writes their type again. Modules, criterions
    and other objects that this library has come as such, ready to use; those of unknown classes as
    ``TorchObject``, or where they belong in nets as ``nn.Unknown``, which is one too. Identity,
    sharing and cycles are kept. No code of the file is run.

    Args:
        source: a path, or a binary file object, which is read to its end.
        map_location: the device for all tensors and storages; or a mapping from Torch7's type names
            (``torch.CudaTensor``) to devices, or a function of the type name, that leave a type on
            the CPU where they have or return none. On the device ``meta``, tensors have no data
            and none is read; storages by themselves, which hold sizes, are on the CPU then.
        mmap: let tensors lie on a private map of the file instead of reading it. Nothing is read
            until it is touched, changes do not reach the file, and such tensors cannot be resized.
            Elements that the file does not place at a multiple of their size are read all the same;
            ``save`` places large ones well. The file must not be changed in place meanwhile;
            replacing it, as ``save`` does, is harmless. Without effect for file objects and
            for files below 128 KiB, which are read.
        unknown: ``keep`` returns objects of unregistered classes as ``TorchObject``, ``error``
            raises.
        long_size: 4, 8 or ``auto``: the size of longs, 4 in files of 32-bit machines and Windows.
        endian: ``little``, ``big`` or ``auto``.
        format: ``binary``, ``ascii`` or ``auto``.
        referenced: False ignores references, as Torch7's ``referenced(false)`` does.
        raw: return objects of registered classes as ``TorchObject``, too, except where the class
            has a payload of its own.
        plain: return tables as plain lists, which count from 0, as does ``tds.Vec`` then, and
            dicts. In objects of registered classes they always are.
        many: return the list of all objects of a file that several ``writeObject`` calls wrote.

    Raises:
        T7Error: the file has a defect, or is no .t7 file.
    """
    check_choice(unknown, "unknown", ("keep", "error"))
    options = ReadOptions(unknown, raw, referenced, _locator(map_location), plain)
    with open_source(source, mmap) as opened, _no_collection():
        return Variant(opened, format, endian, long_size).read(options, many)


def loads(data: bytes, **options: Any) -> Any:
    """Read an object from bytes, such as ``torch.serialize`` makes.

    The options are those of ``load``.

    Args:
        data: the bytes of one object.
        options: those of ``load``.

    Raises:
        T7Error: the bytes are no object; the message has the offset and what was expected.
    """
    return load(io.BytesIO(data), **options)


def inspect(
    source: PathOrFile,
    *,
    long_size: int | str = "auto",
    endian: str = "auto",
    format: str = "auto",
    referenced: bool = True,
    most: int | None = None,
) -> Iterator[Entry]:
    """List the tables, objects, tensors, storages and functions of a file, in its order.

    The data of tensors is not read. The options are those of ``load``. A defect raises
    T7Error when everything before it has been listed. After ``most`` entries the file is not read
    any further, and the last entry, of kind ``unlisted``, tells how much of it was left.

    Args:
        source: a path, or an open binary file.
        long_size, endian, format, referenced: as for ``load``.
        most: how many entries are listed at most; default: all.

    Raises:
        T7Error: the file has a defect.

    Examples:
        >>> import io
        >>> from compat import t7
        >>> [entry.kind for entry in t7.inspect(io.BytesIO(t7.dumps({"loss": [0.5]})))]
        ['table', 'table', 'value']
    """
    options = ReadOptions(raw=True, referenced=referenced, locate=lambda typename: _META)
    with open_source(source, mmap=False) as opened:
        entries, error = listed(Variant(opened, format, endian, long_size), options, most)
        yield from entries
        if error is not None:
            error.file = opened.name
            raise error


def save(
    target: PathOrFile,
    obj: Any,
    *,
    format: str = "binary",
    long_size: int = 8,
    endian: str = "little",
    referenced: bool = True,
    compact: bool = False,
    clear: bool = False,
    durable: bool = False,
    many: bool = False,
) -> None:
    """Write a file that Torch7 reads.

    A path is replaced only when the new file is complete; a file object is written to only when all
    of ``obj`` is known to be writable. Tuples become tables, bool tensors ``torch.ByteTensor``,
    tensors without dimensions one-dimensional; ``None`` in a list or dict is left out, as in Lua.
    Parameters are written without their gradients.

    Args:
        target: a path or a binary file object.
        obj: numbers, strings, lists, dicts, tensors, numpy arrays, and objects of registered
            classes.
        format: ``binary`` or ``ascii``.
        long_size: 8, or 4 for 32-bit machines and Windows.
        endian: ``little`` or ``big``; does not matter in ascii.
        referenced: False writes every occurrence of an object in full; sharing is lost.
        compact: write of each storage only the elements that tensors in ``obj`` use. Tensors that
            share elements, or lie side by side, still share a storage.
        clear: write modules without the buffers that Torch7's ``clearState`` empties; ``obj`` is
            not changed.
        durable: have the file written to disk before it replaces the old one.
        many: write the objects of the list ``obj`` one after the other, as several ``writeObject``
            calls do; ``load(…, many=True)`` reads them.

    Raises:
        T7Error: something cannot be written; its ``path`` says where it is in ``obj``.
        TypeError: ``target`` is neither a path nor a binary file object.
    """
    _check_target(target)
    encoder = _encoder(format, long_size, endian)
    writer = Writer(
        encoder, referenced=referenced, compact=compact, cleared=cleared if clear else None
    )
    for value in obj if many else [obj]:
        writer.add(value)
    writer.finish()
    if not isinstance(target, (str, os.PathLike)):
        _write(target, writer)
        return
    with atomic_file(target, writer.size, durable) as file:
        _write(file, writer)


def dumps(obj: Any, **options: Any) -> bytes:
    """Return the bytes that ``save`` would write, like Torch7's ``torch.serialize``.

    Args:
        obj: what ``save`` takes.
        options: those of ``save``.

    Raises:
        T7Error: an object in ``obj`` has no form in a file; the message names its place.

    Examples:
        >>> loads(dumps({"rate": 0.5, "sizes": [3, 4]})).rate
        0.5
    """
    buffer = io.BytesIO()
    save(buffer, obj, **options)
    return buffer.getvalue()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause Python's search for cyclic garbage.

    Reading makes many objects and hardly any garbage; the search would take most of its time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _check_target(target: PathOrFile) -> None:
    if isinstance(target, (str, os.PathLike)):
        return
    if not hasattr(target, "write"):
        raise TypeError(
            f"target is {given(target)}; a path or an open binary file is accepted: "
            "save(path, obj), as in Torch7"
        )
    if isinstance(target, io.TextIOBase):
        raise TypeError("target is open as text; a file opened with mode 'wb' is accepted")


def _write(file: BinaryIO, writer: Writer) -> None:
    for chunk in writer.chunks():
        rest = memoryview(chunk)
        while len(rest):  # a raw file object may write less than it is given
            written = file.write(rest)
            rest = rest[len(rest) if written is None else written :]


def _encoder(format: str, long_size: int, endian: str) -> Encoder:
    check_choice(format, "format", ("binary", "ascii"))
    check_choice(long_size, "long_size", (4, 8))
    check_choice(endian, "endian", ("little", "big"))
    return BinaryEncoder(endian, long_size) if format == "binary" else AsciiEncoder()


def _locator(map_location: MapLocation) -> Callable[[str], torch.device | None]:
    """Return the device of each tensor and storage type."""
    if map_location is None:
        return lambda typename: None
    if isinstance(map_location, (str, torch.device)):
        device = torch.device(map_location)
        return lambda typename: device
    named: Callable[[str], Device | None]
    if isinstance(map_location, Mapping):
        named = map_location.get
    elif callable(map_location):
        named = map_location
    else:
        raise TypeError(
            f"map_location is {map_location!r}; a device name, a torch.device, a mapping from type "
            "names to devices or a function is accepted"
        )

    def locate(typename: str) -> torch.device | None:
        # A storage goes where the tensors on it go.
        device = named(typename.replace("Storage", "Tensor"))
        return None if device is None else torch.device(device)

    return locate
