"""Where ``require`` and ``dofile`` find a program's files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compat.lua.finding import come_along, yields
from compat.port.read import syntax as s

_OPEN = "\0"  # in the text of an expression: what only a run tells
_LITERAL = re.compile(r"\w{2}")  # so much of a name is to be known
_LOADERS = {"require", "dofile", "loadfile", "paths.dofile", "include", "torch.include"}
_FOLDERS = {"paths.dirname", "path.dirname", "paths.thisfile", "paths.cwd", "path.currentdir"}
_MOST = 5_000  # files below a folder that a computed name is looked up in


@dataclass(frozen=True)
class Load:
    """A call that loads a file: how, and the text of its name with ``_OPEN`` in it."""

    how: str
    name: str

    @property
    def is_constant(self) -> bool:
        """Whether the name is written there."""
        return _OPEN not in self.name

    @property
    def is_open(self) -> bool:
        """Whether nothing of the name is known."""
        return not _LITERAL.search(self.plain)

    @property
    def plain(self) -> str:
        """The name as a path without its ending."""
        name = _path(self.name).removeprefix("./").removesuffix(".lua")
        return name.replace(".", "/") if self.how == "require" else name


def _path(name: str) -> str:
    """Return a name in the text of a file, whose letters are bytes, as a path."""
    return os.fsdecode(name.encode("latin-1", "replace"))


def dotted(node: s.Node) -> str:
    """``paths.dofile`` for what names it so."""
    if isinstance(node, s.Name):
        return node.id
    if isinstance(node, s.Index) and isinstance(node.key, s.Constant):
        return f"{dotted(node.object)}.{node.key.value}"
    return ""


def loads(block: s.Block) -> Iterator[Load]:
    """Yield the calls in a file that load others: also ``pcall(require, name)``."""
    for node in s.walk(block):
        if not isinstance(node, s.Call) or node.method is not None:
            continue
        how, arguments = dotted(node.function), node.arguments
        if how in ("pcall", "xpcall") and len(arguments) > 1:
            how, arguments = dotted(arguments[0]), arguments[1:]
        if how not in _LOADERS or not arguments:
            continue
        yield Load(how, text_of(arguments[-1 if how == "torch.include" else 0]))


def text_of(node: s.Node) -> str:
    """Return the text that an expression is, with ``_OPEN`` for what only a run tells."""
    if isinstance(node, s.Constant):
        return node.value if isinstance(node.value, str) else _OPEN
    if isinstance(node, s.Binary) and node.operator == "..":
        return text_of(node.left) + text_of(node.right)
    if isinstance(node, s.Call):
        called = dotted(node.function)
        parts = [text_of(argument) for argument in node.arguments]
        if called in ("paths.concat", "path.join") and parts:
            return "/".join(parts)
        if called == "paths.thisfile" and parts:
            return parts[0]
        if called in _FOLDERS:
            return "."
        form = parts[0] if called == "string.format" and parts else ""
        if node.method == "format":
            form = text_of(node.function)
        return re.sub(r"%[-\d.]*\w", _OPEN, form) if form else _OPEN
    return _OPEN


def templates(block: s.Block) -> list[str]:
    """Return what a file puts into ``package.path``: ``lib/?.lua``."""
    found = []
    for node in s.walk(block):
        if isinstance(node, s.Assign) and "package.path" in map(dotted, node.targets):
            for value in node.values:
                for part in re.split(f"[;{_OPEN}]", text_of(value)):
                    if "?" in part:
                        found.append(part.lstrip("/") if part.startswith("/./") else part)
    return found


@dataclass
class Places:
    """The folders of a program.

    Attributes:
        home: where the script runs.
        given: files that were named, which a name may mean by its end.
        templates: what is in ``package.path`` besides, ``lib/?.lua``.
    """

    home: Path
    given: Sequence[Path] = ()
    templates: list[str] = field(default_factory=list)

    def find(self, load: Load, asking: Path) -> Path | None:
        """Return the file that a call with a constant name means; None: none of the program's."""
        name = _path(load.name).strip()
        if not name:
            return None
        if load.how == "require" and name in come_along():
            inner = self.home / name.replace(".", "/")
            places = (inner.with_suffix(".lua"), inner / "init.lua")
            own = (path for path in places if path.is_file() and path != asking)
            return next(own, None) if yields(name) else None
        if load.how == "require":
            tried = self._required(name, asking)
        else:
            tried = self._opened(load.how, name, asking)
        for path in tried:
            if os.path.isfile(path):  # Path's own fails of a text that is no name
                return _normal(path)
        return self._ending(name, load.how == "require")

    def _required(self, name: str, asking: Path) -> Iterator[Path]:
        inner = name.replace(".", "/").lstrip("/")  # Lua's ``../x`` is ``///x``, too
        folders = [self.home, *self._around(asking)]
        for folder in folders:
            yield from (folder / f"{inner}.lua", folder / inner / "init.lua")
            if name.endswith(".lua"):
                yield folder / name
        for template in self.templates:
            for place in (self.home, asking.parent):
                yield place / template.replace("?", inner)
        # The program's own folder as a package: ``require 'project.part'`` in project/.
        first, _, rest = inner.partition("/")
        for folder in folders:
            if folder.name == first or folder.name.removesuffix(".torch") == first:
                yield from (folder / f"{rest}.lua", folder / rest / "init.lua")

    def _opened(self, how: str, name: str, asking: Path) -> Iterator[Path]:
        folders = [self.home, *self._around(asking)]
        if how not in ("dofile", "loadfile"):
            folders.insert(0, asking.parent)  # relative to the file that asks
        for folder in folders:
            yield from (folder / name, folder / f"{name}.lua")

    def _around(self, asking: Path) -> list[Path]:
        """Return the folder of a file, and those above it inside the program's."""
        above = [asking.parent, *asking.parent.parents]
        return [folder for folder in above if folder.is_relative_to(self.home)] or above[:1]

    def _ending(self, name: str, is_required: bool) -> Path | None:
        """Return the named file whose path ends so."""
        wanted = name.removeprefix("./").removesuffix(".lua")
        wanted = wanted.replace(".", "/") if is_required else wanted
        for path in self.given:
            own = path.as_posix().removesuffix(".lua")
            if own.endswith((f"/{wanted}", f"/{wanted}/init")):
                return _normal(path)
        return None

    def like(self, load: Load, asking: Path, constants: Sequence[str]) -> list[Path]:
        """Return the files that a computed name may mean: ``'models/' .. name``.

        Where nothing of the name is written there, those that the file's texts name.
        """
        plain = load.plain
        if load.is_open:
            found = (self.find(Load(load.how, text), asking) for text in constants)
            return list(dict.fromkeys(path for path in found if path is not None))
        pattern = "[^/]*".join(map(re.escape, plain.split(_OPEN)))
        pattern = pattern if plain.startswith(_OPEN) else rf"(?:.*/)?{pattern}"
        base = asking.parent if load.how not in ("require", "dofile", "loadfile") else self.home
        inside = [base, *self._around(asking)]
        for folder in dict.fromkeys(inside):
            exact = [
                path
                for path in lua_below(folder)
                if re.fullmatch(pattern, path.relative_to(folder).with_suffix("").as_posix())
            ]
            if exact:
                return [path for path in exact if path != asking]
        return []


def lua_below(folder: Path) -> list[Path]:
    """Return the Lua files in a folder and those inside it; links to folders are not followed."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(place, name) for name in sorted(names) if name.endswith(".lua")]
        if len(found) > _MOST:
            break
    return [path for path in found if path.is_file()]


def _normal(path: Path) -> Path:
    """Return a path without ``..``, with its links left as they are."""
    return Path(os.path.abspath(path))
