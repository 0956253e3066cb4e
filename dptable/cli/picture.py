"""``dptable inspect --graph``: draw the nets of a .t7 file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compat import nn, t7
from compat.nn.core.convertible import Convertible
from compat.nn.graph.drawing import diagram
from compat.t7.base.atomic_file import atomic_file, check_writable
from compat.terminal import printable
from dptable.cli.rewriting import parts_of


def draw(file: str, out: str) -> str:
    """Draw the nets of ``file`` into ``out``; several nets each into their own file.

    Returns:
        A text that says what was drawn where.

    Raises:
        ValueError: the file holds no net.
    """
    check_writable(out)
    found = list(_nets(t7.load(file, mmap=True, map_location="cpu", plain=True)))
    if not found:
        raise ValueError(f"{file} holds no net; a file with one is accepted")
    told = []
    for place, net in found:
        path = Path(out)
        if len(found) > 1:
            name = "".join(c if c.isalnum() or c in "._-" else "-" for c in place)
            path = path.with_name(f"{path.stem}-{name}{path.suffix}")
        picture = diagram(net)
        text = picture.svg(place or None) if path.suffix == ".svg" else picture.dot(place or None)
        with atomic_file(path) as drawing:
            drawing.write(text.encode())
        named = f"{printable(path)}: {printable(place or 'the net')}"
        told.append(f"{named}, {len(picture.labels):,} nodes")
    return "\n".join(told)


def _nets(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the nets in ``value`` that lie in no other, with their places."""
    stack: list[tuple[str, Any]] = [("", value)]
    seen = set()
    inside: set[int] = set()
    while stack:
        place, item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, nn.Module):
            if id(item) not in inside:
                yield place, item
            inside.update(map(id, item.listModules()))
        elif not isinstance(item, Convertible):
            below = [(f"{place}.{key}".lstrip("."), part) for key, part in parts_of(item)]
            stack += reversed(below)
