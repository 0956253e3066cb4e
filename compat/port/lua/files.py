"""Files, folders, times."""

from __future__ import annotations

import builtins
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from compat.port.lua.numbers import tonumber
from compat.port.lua.strings import match
from compat.port.lua.text import Error, bytes_as_letters, tostring
from compat.port.lua.values import Steps, first, results

_BEGINS_NUMBER = re.compile(rb"\s*[+-]?(0[xX][\da-fA-F]*|(\d+\.?\d*|\.\d*)([eE][+-]?\d*)?)?")


class File:
    """A file with the methods of Lua's, in which a character is a byte."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._bytes = getattr(stream, "buffer", stream)

    def __str__(self) -> str:
        return f"file (0x{id(self):08x})"

    def write(self, *args: Any) -> Any:
        """Write strings and numbers."""
        try:
            self._bytes.write("".join(map(tostring, args)).encode("utf-8", "surrogateescape"))
        except io.UnsupportedOperation:  # it is not open for that
            return None
        return self

    def read(self, *formats: Any) -> Any:
        """``*l`` a line, ``*L`` with its end, ``*a`` all, ``*n`` a number, a number that many
        characters.
        """
        try:
            return results(map(self._one, formats or ("*l",)))
        except io.UnsupportedOperation:
            return results([None] * max(len(formats), 1))

    def _one(self, what: Any) -> Any:
        if isinstance(what, (int, float)):
            if what < 1:  # is there more?
                return "" if self._bytes.peek(1) else None
            return bytes_as_letters(self._bytes.read(int(what))) or None
        kind = what.lstrip("*")[:1]
        if kind == "a":
            return bytes_as_letters(self._bytes.read())
        if kind == "n":
            text = b""
            while (c := self._bytes.peek(1)[:1]) and _BEGINS_NUMBER.fullmatch(text + c):
                text += self._bytes.read(1)
            return tonumber(text.decode("latin-1"))
        if kind == "L":
            return bytes_as_letters(self._bytes.readline()) or None
        return next(self.lines(), None)

    def lines(self, *formats: Any) -> Steps:
        """Return the lines, one after the other, or what ``read`` gives for other formats."""
        if formats:
            found = iter(lambda: self.read(*formats), ())
            return Steps(takewhile(lambda value: first(value) is not None, found))
        return Steps(map(self._line, self._bytes))

    def _line(self, line: bytes) -> str:  # a method, which keeps the file open
        return bytes_as_letters(line).removesuffix("\n")

    def seek(self, whence: str = "cur", offset: int = 0) -> int:
        """Go to a place; which one it is."""
        return int(self._bytes.seek(int(offset), {"set": 0, "cur": 1, "end": 2}[whence]))

    def close(self) -> bool:
        """Close it."""
        self.stream.close()
        return True

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def flush(self) -> None:
        """Have what was written appear."""
        self.stream.flush()

    def setvbuf(self, mode: str, _size: float | None = None) -> bool:
        """``file:setvbuf``."""
        if isinstance(self.stream, io.TextIOWrapper):
            self.stream.reconfigure(line_buffering=mode == "line", write_through=mode == "no")
        return True


class _Output(File):
    """The output or error output that Python has at the moment."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def stream(self) -> Any:
        return getattr(sys, self._name)

    def write(self, *args: Any) -> File:
        self.stream.write("".join(map(tostring, args)))
        return self


stdin, stdout, stderr = File(sys.stdin), _Output("stdout"), _Output("stderr")


_outputs: list[File] = [stdout]  # the last is that of ``io.write``


def output(file: File | str | None = None) -> File:
    """``io.output``."""
    if file is not None:
        _outputs[:] = [must_open(file, "w") if isinstance(file, str) else file]
    return _outputs[-1]


def write(*args: Any) -> File:
    """``io.write``."""
    return output().write(*args)


def file_type(value: Any) -> str | None:
    """``io.type``."""
    if not isinstance(value, File):
        return None
    return "closed file" if getattr(value.stream, "closed", False) else "file"


def open(path: str, mode: str = "r") -> File | None:
    """``io.open``; None where that fails."""
    return opened(path, mode)[0]


def opened(path: str, mode: str = "r") -> tuple[Any, ...]:
    """Return all that ``io.open`` gives: the file; or None, why it cannot be opened, a number
    for that.
    """
    try:
        return (File(builtins.open(path, f"{mode[:1]}{'+' * ('+' in mode)}b")),)
    except OSError as error:
        return None, f"{path}: {error.strerror}", error.errno


def popen(command: str, mode: str = "r") -> File:
    """``io.popen``: what a command writes, or reads."""
    return File(os.popen(command, mode))


def must_open(path: str, mode: str = "r") -> File:
    """``assert(io.open(path, mode))``.

    Raises:
        Error: it cannot be opened, and why.
    """
    found, *why = opened(path, mode)
    if found is None:
        raise Error(why[0], 1)
    file: File = found
    return file


def files(folder: str, pattern: str | None = None) -> Any:
    """Return the names in a folder, ``.`` and ``..`` too; those that a pattern matches; none where
    there is no such folder.
    """
    if not os.path.isdir(folder):
        return []
    found = [".", "..", *sorted(os.listdir(folder))]
    return [f for f in found if pattern is None or match(f, pattern) is not None]


def dir(folder: str) -> Any:
    """``paths.dir``: the names in a folder; None where there is no such folder."""
    return files(folder) or None


def iterfiles(folder: str) -> Iterator[str]:
    """Return the names of the files in a folder."""
    return iter(f for f in files(folder) if os.path.isfile(os.path.join(folder, f)))


def iterdirs(folder: str) -> Iterator[str]:
    """Return the names of the folders in a folder."""
    return iter(f for f in files(folder)[2:] if os.path.isdir(os.path.join(folder, f)))


def tried(function: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """Return what Lua's functions on files give: true, or nil, a message and a number."""
    try:
        function(*args)
    except OSError as error:
        return None, f"{error.filename}: {error.strerror}", error.errno
    return (True,)


def succeeds(function: Callable[..., Any], *args: Any) -> bool | None:
    """Return the first of what ``tried`` gives."""
    return tried(function, *args)[0]


class _Colors:
    """``sys.COLORS``: what turns the terminal's colours on."""

    _names = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")

    def __getattr__(self, name: str) -> str | None:
        if name == "none":
            return "\x1b[0m"
        if name.lower().strip("_") not in self._names:
            return None
        number = self._names.index(name.lower().strip("_"))
        return f"\x1b[{4 if name[0] == '_' else f'{int(name[0].isupper())};3'}{number}m"


COLORS = _Colors()


# ``ffi.os``.
SYSTEM = {"darwin": "OSX", "win32": "Windows"}.get(sys.platform, "Linux")


def setting(name: str, default: Any) -> Any:
    """Return what the environment has for ``name``, a number where it reads as one; else
    ``default``.
    """
    given = os.environ.get(name)
    number = tonumber(given)
    return default if given is None else given if number is None else number
