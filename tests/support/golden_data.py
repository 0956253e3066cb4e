"""The recordings in tests/golden; their READMEs say what is in each."""

from __future__ import annotations

from functools import cache
from typing import Any

from compat import t7
from support.paths import GOLDEN


def load(folder: str, name: str) -> Any:
    """The recording `golden/<folder>/<name>.t7`, read anew every time: tests may write into it."""
    return t7.load(GOLDEN / folder / f"{name}.t7", plain=True)


def load_cases(folder: str, name: str) -> list[dict[str, Any]]:
    """The cases of `golden/<folder>/<name>.t7`."""
    return load(folder, name)["cases"]


@cache
def parts(folder: str, name: str, section: str = "cases") -> list[bytes]:
    """The bytes of each case of a recording, so that a test reads its own alone.

    Objects keep the fields that were recorded: raw, they are none of this library's.
    """
    recording = t7.load(GOLDEN / folder / f"{name}.t7", raw=True, plain=True)
    return [t7.dumps(case) for case in recording[section]]
