"""Detects the variant of a .t7 file, or the kind of a file that is no .t7 file."""

from __future__ import annotations

import codecs
import re

from compat.t7.base.errors import T7Error

HEAD = 512
"""How many bytes of a file are looked at."""

_ASCII = re.compile(rb"\s*\+?0*[0-8](\s|$)")
_SIGNATURES: list[tuple[bytes, str, str]] = [
    (
        b"version https://git-lfs",
        "a git-LFS pointer instead of the file",
        "fetch the file itself with 'git lfs pull', or download it from the project's page",
    ),
    (
        b"PK\x03\x04",
        "a zip archive, as PyTorch's torch.save writes",
        "use torch.load; or unzip it, if a .t7 file is inside",
    ),
    (
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
        "a checkpoint of PyTorch before 1.6",
        "use torch.load",
    ),
    (b"\x1f\x8b", "a gzip archive", "unpack it, or pass gzip.open(path)"),
    (b"BZh", "a bzip2 archive", "unpack it, or pass bz2.open(path)"),
    (b"\xfd7zXZ\x00", "an xz archive", "unpack it, or pass lzma.open(path)"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"),
    (b"Rar!", "a rar archive", "unpack it"),
    (b"\x89HDF", "an HDF5 file", "use compat.hdf5"),
    (b"\x93NUMPY", "a numpy array", "use numpy.load"),
    (b"\x89PNG", "a PNG image", ""),
    (b"\xff\xd8\xff", "a JPEG image", ""),
    (b"%PDF", "a PDF document", ""),
    (b"\x1bL", "Lua bytecode", "a .t7 file of data is needed"),
    (b"\x7fELF", "a compiled program or library", ""),
]


def possible_formats(head: bytes) -> list[tuple[str, str]]:
    """Return the pairs of format and endian in which the first object could start like this."""
    found = []
    if len(head) >= 4:
        found += [("binary", e) for e in ("little", "big") if 0 <= int.from_bytes(head[:4], e) <= 8]
    if _ASCII.match(head):
        found.append(("ascii", "little"))
    return found


def detect(head: bytes, format: str, endian: str) -> tuple[str, str]:
    """Return the format and endian to read with; what is not ``auto`` is only checked.

    Raises T7Error, if possible with the kind of the file, if no format fits.
    """
    candidates = possible_formats(head)
    for found_format, found_endian in candidates:
        if format not in ("auto", found_format):
            continue
        if found_format == "ascii" or endian in ("auto", found_endian):
            if found_format == "ascii" and re.match(rb"\s*\d+\r\n", head):
                raise _unfit(
                    "an ascii .t7 file with Windows line ends",
                    "turn every CR LF into LF, as 'dos2unix' does",
                )
            return found_format, found_endian
    if candidates:
        found_format, found_endian = candidates[0]
        option = f"endian={found_endian!r}"
        if format not in ("auto", found_format):
            option = f"format={found_format!r}"
        raise _unfit("what looks like a .t7 file of another kind", f"pass {option}")
    raise _unfit(*_describe(head))


def _unfit(found: str, hint: str) -> T7Error:
    return T7Error(found, "a .t7 file of Torch7", hint=hint, offset=0)


def _describe(head: bytes) -> tuple[str, str]:
    """Return the likely kind of a file that is no .t7 file, and advice."""
    if not head:
        return "an empty file", "an interrupted download or save leaves one"
    for signature, found, hint in _SIGNATURES:
        if head.startswith(signature):
            return found, hint
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "a Python pickle", "use torch.load or pickle.load, if you trust its origin"
    if head[257:262] == b"ustar":
        return "a tar archive", "unpack it"
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 1 << 32:
        return "a safetensors file", "use safetensors.torch.load_file"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        return "a web page", "the download failed: open the address in a browser to see why"
    if _is_text(head):
        line = head.split(b"\n")[0].decode("utf-8", "replace").strip()
        return f"the text {line[:60]!r}", "a failed download, or another kind of file"
    if len(head) < 4:
        return f"a file of {len(head)} bytes", "it is truncated"
    return f"a file that starts with the bytes {head[:8].hex(' ')}", "it is no .t7 file, or damaged"


def _is_text(head: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()  # the last character may be cut
    try:
        text = decoder.decode(head)
    except UnicodeDecodeError:
        return False
    return all(c.isprintable() or c in "\t\r\n" for c in text)
