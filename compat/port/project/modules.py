"""The names of a program's files as Python's modules."""

from __future__ import annotations

import keyword
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

# What drafts, this library and PyTorch import: a file of the name would hide it.
_LIBRARIES = {
    *("compat", "dptable", "torch", "numpy", "scipy", "PIL", "matplotlib", "h5py", "lupa", "yaml"),
    *("sympy", "mpmath", "networkx", "jinja2", "fsspec", "filelock", "packaging", "setuptools"),
    *("typing_extensions", "functorch", "torchgen", "triton", "tqdm", "zstandard", "onnx", "cv2"),
}
# Nobody imports Python's test.
_PYTHON = sys.stdlib_module_names - {"test"}


def module_names(
    paths: Sequence[Path], root: Path, imported: set[Path] | None = None
) -> tuple[list[str], dict[Path, str]]:
    """Names for files below ``root``: those that they have, wherever these can be.

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
        name, reason = _usable(parts[-1], is_first=len(parts) == 1)
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
    """The names of folders."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for parts in sorted(packages, key=len):
        name, _ = _usable(parts[-1], is_first=len(parts) == 1)
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


def module_name(part: str, is_first: bool) -> str:
    """A part of a module's name: it must be a name, and the first none of another library's."""
    return _usable(part, is_first)[0]


def _usable(part: str, is_first: bool) -> tuple[str, str]:
    """The name that a file or folder gets, and why it is another one, if it is."""
    name = re.sub(r"\W", "_", part)
    reason = "" if name == part else "a module's name has letters, digits and _"
    if name[:1].isdigit():
        name, reason = f"_{name}", "a module's name does not begin with a digit"
    if keyword.iskeyword(name):
        return f"{name}_", "this is a word of Python's"
    if is_first and name == "shared":
        return f"{name}_", "the program's global variables are in shared"
    if is_first and name in _PYTHON:
        return f"{name}_", "Python has a module of this name"
    if is_first and name in _LIBRARIES:
        return f"{name}_", "a library has this name"
    return name, reason


def place(module: str) -> PurePosixPath:
    """Where the file of a module is."""
    return PurePosixPath(*module.split(".")).with_suffix(".py")
