"""Loading and saving."""

from __future__ import annotations

import io
import os
from typing import Any

from .atomic import atomic_file
from .binary import BinaryCursor
from .encode import BinaryEncoder
from .reader import Reader
from .source import PathOrFile, open_source
from .writer import Writer


def load(source: PathOrFile) -> Any:
    with open_source(source, False) as opened:
        kinds: dict[int, bool] = {}
        while True:
            reader = Reader(BinaryCursor(opened, "little", 8), kinds=kinds)
            result = reader.read()
            if not reader.wrong_kinds:
                return result
            kinds |= reader.wrong_kinds


def loads(data: bytes) -> Any:
    return load(io.BytesIO(data))


def save(
    target: PathOrFile,
    obj: Any,
    *,
    long_size: int = 8,
    endian: str = "little",
    referenced: bool = True,
    compact: bool = False,
    durable: bool = False,
) -> None:
    writer = Writer(BinaryEncoder(endian, long_size), referenced=referenced, compact=compact)
    writer.add(obj)
    if isinstance(target, (str, os.PathLike)):
        with atomic_file(target, durable) as file:
            for chunk in writer.chunks():
                file.write(chunk)
    else:
        for chunk in writer.chunks():
            target.write(chunk)


def dumps(obj: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, obj, **options)
    return buffer.getvalue()
