"""The names of a program's files as Python's modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from compat.port.write.python_names import module_name


def module_names(
    paths: Sequence[Path], root: Path, imported: set[Path] | None = None
) -> tuple[list[str], dict[Path, str]]:
    """Return names for files below ``root``: those that they have, wherever these can be.

    Args:
        imported: the files that others load; None: any may be. Only these must not be called as
            their folder is: where a folder and a file have a name, Python imports the folder.

    Returns:
        The names, and why the files that are called otherwise are.
    """
    plain = [path.relative_to(root).with_suffix("").parts for path in paths]
    packages = {parts[: i + 1] for parts in plain for i in range(len(parts) - 1)}
    folders = _folders(packages)
    names: list[str] = []
    why: dict[Path, str] = {}
    taken: Counter[str] = Counter(".".join(name) for name in folders.values())
    for path, parts in zip(paths, plain, strict=True):
        name, reason = module_name(parts[-1], is_first=len(parts) == 1)
        before = [*folders[parts[:-1]], name] if len(parts) > 1 else [name]
        whole = ".".join(before)
        is_loaded = imported is None or path in imported
        if taken[whole] and (is_loaded or whole in names):
            is_folder = tuple(before) in folders.values()
            reason = f"{'a folder' if is_folder else 'another file'} has this name"
            whole = _other(whole, taken)
        taken[whole] += 1
        names.append(whole)
        if reason:
            why[path] = reason
    return names, why


def _folders(packages: set[tuple[str, ...]]) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the names of folders."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for parts in sorted(packages, key=len):
        name, _ = module_name(parts[-1], is_first=len(parts) == 1)
        whole = (*found.get(parts[:-1], ()), name)
        number = 1
        while whole in found.values():
            number += 1
            whole = (*whole[:-1], f"{name}_{number}")
        found[parts] = whole
    return found


def _other(name: str, taken: Counter[str]) -> str:
    number, made = 1, f"{name}_"
    while taken[made]:
        number += 1
        made = f"{name}_{number}"
    return made


def place(module: str) -> PurePosixPath:
    """Return where the file of a module is."""
    return PurePosixPath(*module.split(".")).with_suffix(".py")
