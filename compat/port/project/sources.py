"""The text of Lua files in any encoding, and the files among them that are no program."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from compat.port.read import syntax as s
from compat.port.read.parser import parse
from compat.port.read.syntax import PortError

_BOM = b"\xef\xbb\xbf"
_DATA = 200_000  # bytes from which on a file that only gives a table is kept as data
LONGEST = 20_000  # lines of a file that gets a draft
_LOADS = re.compile(rb"\b(require|dofile)\s*\(?\s*['\"]([\w./-]+)['\"]")
_BEGINS = re.compile(rb"\s*(?:--[^\n]*\n\s*)*(?:return\s*\{|(?:local\s+)?\w+\s*=\s*\{)")
_TEXTS = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|--[^\n]*")
_CODE = re.compile(rb"\bfunction\b|\(|\.\.")


@dataclass
class Source:
    """A Lua file.

    Attributes:
        text: its bytes, with the ends of lines that Lua reads.
        block: what it says; empty where ``problem`` or ``is_data`` says why.
        problem: why it cannot be read.
        is_data: it only gives a large table.
        length: how many lines it has, if these are too many for a draft.
        loads: what its ``require`` and ``dofile`` name, and the files that these are.
        maybe: the files that it may load by names that are computed.
        loads_any: it has a name of which nothing is known, and no text that is a file's.
    """

    path: Path
    text: bytes
    block: s.Block
    problem: str | None = None
    is_data: bool = False
    length: int = 0
    loads: dict[str, Path] = field(default_factory=dict)
    maybe: set[Path] = field(default_factory=set)
    loads_any: bool = False


def read(path: Path, named: str) -> Source:
    """Read a file; ``named`` is what messages call it.

    Raises:
        PortError: the file cannot be opened, or what reads Lua is not installed.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise PortError(f"{named} cannot be read: {error.strerror}") from None
    text = text.removeprefix(_BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    nothing = s.Block([], [], line=1)
    if len(text) >= _DATA and _is_data(text):
        return Source(path, text, nothing, is_data=True)
    length = text.count(b"\n")
    if length > LONGEST:  # what it loads is looked for all the same
        names = b"\n".join(b"%s'%s'" % found for found in _LOADS.findall(text))
        return Source(path, text, parse(names, named) if names else nothing, length=length)
    try:
        return Source(path, text, parse(text, named))
    except PortError as error:
        if "needs tree-sitter" in str(error):
            raise
        return Source(path, text, nothing, problem=str(error))


def _is_data(text: bytes) -> bool:
    """Return whether a file is one table of constants."""
    return _BEGINS.match(text) is not None and not _CODE.search(_TEXTS.sub(b"", text))
