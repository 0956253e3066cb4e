"""The names of files in ``require`` and ``dofile``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compat.port.know.files import File
from compat.port.know.form.shapes import calls
from compat.port.know.scopes import LOADERS
from compat.port.read import syntax as s


def required(node: s.Node | None) -> str | None:
    """Return the name in ``require 'name'``."""
    if (
        isinstance(node, s.Call)
        and node.method is None
        and isinstance(node.function, s.Name)
        and node.function.id == "require"
        and node.arguments
        and isinstance(node.arguments[0], s.Constant)
    ):
        return value if isinstance(value := node.arguments[0].value, str) else None
    return None


def places_like(node: s.Node, paths: Sequence[str]) -> list[int]:
    """Return which of the files an expression for a name may mean: ``'models/' .. name``."""
    if is_unwritten(node):
        return []
    pattern = _pattern(node)
    return [i for i, p in enumerate(paths) if re.search(rf"(?:^|/){pattern}$", _plain(p))]


def _plain(path: str) -> str:
    """Return the path of a Lua file as ``require`` and ``dofile`` both may name it."""
    return path.removeprefix("./").removesuffix(".lua").replace(".", "/")


def _pattern(node: s.Node) -> str:
    """Return a regular expression for the texts that an expression with ``..`` may be."""
    if isinstance(node, s.Constant) and isinstance(node.value, str):
        return re.escape(_plain(node.value))
    if isinstance(node, s.Binary) and node.operator == "..":
        return _pattern(node.left) + _pattern(node.right)
    return ".+"


def tried(node: s.Local | s.Assign) -> str | None:
    """Return the name in ``local ok, package = pcall(require, 'name')``; a global variable is to
    have the package's name.
    """
    call = node.values[0] if len(node.values) == 1 else None
    if (
        isinstance(call, s.Call)
        and isinstance(call.function, s.Name)
        and call.function.id == "pcall"
        and len(call.arguments) == 2
        and isinstance(call.arguments[0], s.Name)
        and call.arguments[0].id == "require"
        and isinstance(call.arguments[1], s.Constant)
    ):
        name = str(call.arguments[1].value)
        target = node.targets[1] if isinstance(node, s.Assign) and len(node.targets) == 2 else None
        is_own = isinstance(target, s.Name) and target.variable.is_global and target.id == name
        return name if isinstance(node, s.Local) or is_own else None
    return None


def computed(files: Sequence[File]) -> set[File]:
    """Return the files that a computed name may mean: all, where nothing of it is written."""
    paths = [file.path for file in files]
    names = [n for f in files for n in _asked_for(f.block) if not isinstance(n, s.Constant)]
    if any(map(is_unwritten, names)):
        return set(files)
    return {files[number] for name in names for number in places_like(name, paths)}


def is_unwritten(name: s.Node) -> bool:
    """Return whether nothing of a name is written: ``dofile(opt.config)``."""
    return not _pattern(name).strip(".+")


def of_no_name(files: Sequence[File]) -> list[File]:
    """Return the files that no name means of which something is written."""
    paths = [file.path for file in files]
    named = {path for file in files for path in file.loads.values()}
    for file in files:
        for name in _asked_for(file.block):
            named |= {paths[number] for number in places_like(name, paths)}
    return [file for file in files if not file.is_script and file.path not in named]


def _asked_for(block: s.Block) -> Iterator[s.Node]:
    for node in calls(block):
        if node.arguments and s.describe(node.function) in LOADERS:
            yield node.arguments[-1]
