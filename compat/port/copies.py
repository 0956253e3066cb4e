"""A copy of a script's folder, for a run that leaves nothing behind."""

from __future__ import annotations

import shutil
from pathlib import Path


def copied(source: Path, folder: Path) -> dict[Path, int]:
    """Have in ``folder``, where a script will run, what is in its own folder, ``source``.

    Folders and ``.t7`` files, which it may write, are its own; other files, and folders that are
    links, are linked.

    Returns:
        When each ``.t7`` file was changed last.
    """
    given: dict[Path, int] = {}
    for entry in source.iterdir():
        target = folder / entry.name
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            target.mkdir()
            inside = copied(entry, target)
            given |= {Path(entry.name, name): changed for name, changed in inside.items()}
        elif entry.suffix == ".t7" and entry.is_file():
            shutil.copy2(entry, target)
            given[Path(entry.name)] = target.stat().st_mtime_ns
        else:
            target.symlink_to(entry)
    return given
