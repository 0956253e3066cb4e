"""The names of a program's files as Python's modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import chain, count
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
    taken = {".".join(name) for name in folders.values()}
    for path, parts in zip(paths, plain, strict=True):
        name, reason = module_name(parts[-1], is_first=len(parts) == 1)
        before = [*folders[parts[:-1]], name] if len(parts) > 1 else [name]
        whole = ".".join(before)
        is_loaded = imported is None or path in imported
        if whole in names or (whole in taken and is_loaded):
            is_folder = tuple(before) in folders.values()
            reason = f"{'a folder' if is_folder else 'another file'} has this name"
            whole = _free(f"{whole}_", {*names, *taken})
        names.append(whole)
        if reason:
            why[path] = reason
    return names, why


def _folders(packages: set[tuple[str, ...]]) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the names of folders."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for parts in sorted(packages, key=len):
        name, _ = module_name(parts[-1], is_first=len(parts) == 1)
        before = found.get(parts[:-1], ())
        beside = {whole[-1] for whole in found.values() if whole[:-1] == before}
        found[parts] = (*before, _free(name, beside))
    return found


def _free(name: str, taken: Set[str]) -> str:
    """Return a name, with a number behind it if need be."""
    numbered = (f"{name.removesuffix('_')}_{number}" for number in count(2))
    return next(n for n in chain([name], numbered) if n not in taken)


def place(module: str) -> PurePosixPath:
    """Return where the file of a module is."""
    return PurePosixPath(*module.split(".")).with_suffix(".py")
