"""A copy of a script's folder, for a run that leaves nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path

# The folder of a run, in what ``paths.concat`` makes, for Lua's is absolute; also in a name, where
# ``_`` stands for ``/``.
FOLDER = "dptable-port-"
PLACE = re.compile(r"[^\s\"']*[/_]dptable-port-\w+?[/_](?:lua|python|kept)[/_]?|(?<![\w.])\./")
_BYTES, _FILES = 256 << 20, 5_000


def changes(folder: Path) -> dict[Path, int]:
    """When each file was changed last that is no source."""
    return {
        path.relative_to(folder): path.stat().st_mtime_ns
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".lua", ".py", ".pyc")
    }


def copy_of(home: Path, root: Path, folder: Path) -> Path:
    """Return where a folder of the program's, whose ``root`` was copied into ``folder``, is
    there.
    """
    return folder / home.relative_to(root)


def copied(source: Path, folder: Path) -> None:
    """Have in ``folder``, where a script will run, what is in its own folder, ``source``.

    Files are copied, for a script may write to them; from 256 MB on they are linked, and so are the
    folders in one with more than 5,000 files, and Lua files, which a run finds by their own
    paths. What begins with a dot is left out, and so are such copies.
    """
    left, files = _BYTES, 0
    for path, folders, names in os.walk(source):
        place = Path(path).relative_to(source)
        (folder / place).mkdir(exist_ok=True)
        names = [name for name in names if not name.startswith(".")]
        folders[:] = [name for name in folders if not name.startswith((".", FOLDER))]
        files += len(names)
        for name in names:
            entry, target = Path(path, name), folder / place / name
            if entry.is_symlink() and not entry.exists():
                continue  # it leads nowhere, or in a circle
            state = entry.stat()
            if not stat.S_ISREG(state.st_mode):
                continue  # a pipe or socket, which a copy would wait for
            size = state.st_size
            if size > left or entry.suffix == ".lua":
                target.symlink_to(entry.resolve())  # also where the folder is a copy itself
                continue
            shutil.copy2(entry, target)
            left -= size
        linked = [n for n in folders if files > _FILES or Path(path, n).is_symlink()]
        for name in linked:
            (folder / place / name).symlink_to(Path(path, name).resolve())
        folders[:] = [name for name in folders if name not in linked]
