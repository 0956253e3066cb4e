"""Why the type of an expression is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.form.file_names import required
from compat.port.know.scopes import Variable
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

Cause = tuple[Variable | None, str]
OF_PACKAGE: Cause = (None, "package")


def cause(known: Inference, node: s.Node) -> tuple[s.Node, Cause]:
    """Return why the type of an expression is not known: the part of the program, and a key.

    A variable is followed to what is put into it; of lists all entries are one.
    """
    left, seen, found = [node], set(), None
    while left:
        part = left.pop()
        name = next((n for n in s.walk(part) if isinstance(n, s.Name)), None)
        variable = None if name is None else name.variable
        path = required(part) or known.dotted(part)
        if path is not None and (part is not name or path.split(".")[0] in known.absent):
            return part, OF_PACKAGE  # which has its own mark
        inner: s.Node | None = None
        if isinstance(part, s.Index):
            inner = part.object
        elif isinstance(part, s.Call):
            inner = part.function
        elif isinstance(part, s.Binary):
            unknown = [n for n in (part.left, part.right) if not known.type(n).atoms]
            inner = unknown[0] if unknown else None
        if isinstance(part, s.Name) and part.variable not in seen:
            seen.add(part.variable)
            left += known.clues.sources.get(part.variable, [])
        if inner is not None and (not known.type(inner).atoms or known.dotted(inner)):
            left.append(inner)
            continue
        word = s.constant(part.key) if isinstance(part, s.Index) else None
        kind = type(part).__name__ if not isinstance(word, str) else word
        key: Cause = (variable, kind)
        if key in known.told or found is None:
            found = part, key
    assert found is not None
    return found
