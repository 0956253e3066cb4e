"""The exceptions of this package."""

from __future__ import annotations

from compat.terminal import printable

_LONGEST_REASON = 300  # characters of what a class says


class T7Error(ValueError):
    """A file that is not a valid .t7 file, or a value that such a file cannot hold.

    Attributes:
        found: what was there, in words.
        expected: what should have been there, in words; may be empty.
        hint: what is probably wrong and what to do about it; may be empty.
        file: name of the file; empty for bytes and while saving.
        offset: byte offset of the defect; ``None`` while saving.
        path: place of the object, e.g. ``model.modules[3].weight``; empty for the root object.
    """

    def __init__(
        self, found: str, expected: str = "", *, hint: str = "", offset: int | None = None
    ) -> None:
        super().__init__(found, expected)
        self.found = found
        self.expected = expected
        self.hint = hint
        self.offset = offset
        self.file = ""
        self.path = ""

    def __str__(self) -> str:
        place = [printable(self.file)] if self.file else []
        if self.offset is not None:
            place.append(f"at byte {self.offset}")
        place.append(f"in {self.path}" if self.path else "in the root object")
        return f"{', '.join(place)}: {self.defect()}"

    def defect(self) -> str:
        """Return what is wrong, without the place."""
        what = f"found {self.found}"
        if self.expected:
            what += f", expected {self.expected}"
        if self.hint:
            what += f" ({self.hint})"
        return what


class Refusal(ValueError):
    """Raised by hooks: the file is valid, but its contents cannot be restored here and now.

    It reaches the caller of ``load`` unchanged. Any other exception of a hook is reported as a
    defect of the file.
    """


def unusable(typename: str, error: Exception, offset: int | None = None) -> T7Error:
    """Return the error for content that a class's own hook refused with ``error``."""
    reason = f"{type(error).__name__}: {error}"
    if len(reason) > _LONGEST_REASON:
        reason = reason[:_LONGEST_REASON] + "..."
    return T7Error(f"content that {typename} cannot be made of: {reason}", offset=offset)


def type_code(code: int) -> str:
    """Describe an object's type code in words."""
    names = {
        0: "nil",
        1: "a number",
        2: "a string",
        3: "a table",
        4: "a torch object",
        5: "a boolean",
        6: "a function",
        7: "a function",
        8: "a function",
    }
    return names.get(code, f"type code {code}")
