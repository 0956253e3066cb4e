"""A program's files: those that are named, and all that these load."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compat.port.project.places import Places, dotted, loads, lua_below, templates
from compat.port.project.sources import Source, read
from compat.port.read import syntax as s
from compat.port.read.syntax import PortError
from compat.terminal import printable

_NAME = re.compile(r"[\w./ \x80-\xff-]{1,200}")
_DEFINING = {"torch.class", "class", "require", "setmetatable"}
_UP = 3  # folders above a script's that it may run in


@dataclass
class Program:
    """The files of a program.

    Attributes:
        home: the folder in which the script runs.
        sources: the files, the script first.
        named: how many of them were named; the others are loaded by these.
        left: what was named by a folder and cannot be read, and why.
        starting: the script, or those of a folder, which a run may mean.
    """

    home: Path
    sources: list[Source]
    named: int
    left: list[str] = field(default_factory=list)
    starting: list[Path] = field(default_factory=list)

    @property
    def root(self) -> Path:
        """The folder that has all files."""
        folders = [self.home, *(source.path.parent for source in self.sources)]
        return Path(os.path.commonpath(folders))


def follow(paths: Sequence[str | os.PathLike[str]], places: Sequence[str] = ()) -> Program:
    """Find a program's files.

    Args:
        paths: the script first, then others that belong to it, or folders of them.
        places: folders and templates (``lib/?.lua``) where ``require`` looks besides; those of the
            variable LUA_PATH count, too.

    Raises:
        PortError: a path is missing, is no file or cannot be read as Lua, or a folder has none.
    """
    for place in places:
        if not os.path.isdir(_templates(place)[0].partition("?")[0].rpartition("/")[0]):
            raise PortError(
                f"--path is {printable(place)}; a folder, or a template like lib/?.lua, is accepted"
            )
    named, from_folders = _named(paths)
    folder = Path(paths[0]) if Path(paths[0]).is_dir() else None
    of_lua = os.environ.get("LUA_PATH", "").split(";")
    search = Places(
        named[0].parent if folder is None else Path(os.path.abspath(folder)),
        named,
        [t for place in (*places, *of_lua) if place for t in _templates(place)],
    )
    if folder is None:
        first = read(named[0], str(paths[0]))
        search.home = _home(first, search)
    sources: dict[Path, Source] = {}
    left: dict[Path, str] = {}
    waiting = list(named)
    tried: set[Path] = set()
    while waiting := waiting or _named_anywhere(sources, search, tried):
        path = waiting.pop(0)
        if path in tried:
            continue
        tried.add(path)
        try:
            source = first if folder is None and path == first.path else read(path, shown(path))
        except PortError as error:
            if path not in from_folders or "tree-sitter" in str(error):
                raise
            left[path] = str(error)
            continue
        if source.problem is not None and not source.text.strip() and path not in named:
            source.problem = None  # what an empty file does is nothing
        if source.problem is not None and path in named:
            if path not in from_folders:
                raise PortError(source.problem)
            left[path] = source.problem
            continue
        sources[path] = source
        search.templates += [t for t in templates(source.block) if t not in search.templates]
        waiting += _loaded(source, search)
    if not sources:
        raise PortError(next(iter(left.values())))
    found = [sources[path] for path in named if path in sources]
    found += [source for path, source in sources.items() if path not in named]
    starting = [found[0].path]
    if folder is not None:  # what starts comes first
        found = sorted(found, key=lambda source: not starts(source, [*sources.values()]))
        starting = [source.path for source in found if starts(source, found)]
    return Program(
        search.home, found, len([p for p in named if p in sources]), [*left.values()], starting
    )


def starts(source: Source, sources: Sequence[Source]) -> bool:
    """Return whether a file starts a program: no other loads it, it returns nothing, and does more
    than to define functions and classes.
    """
    loaded = {path for one in sources for path in (*one.loads.values(), *one.maybe)}
    last = source.block.statements[-1] if source.block.statements else None
    is_last = isinstance(last, (s.Return, type(None)))
    return source.path not in loaded and not is_last and not _only_defines(source.block.statements)


def _only_defines(statements: Sequence[s.Statement]) -> bool:
    rest = [node for node in statements if not isinstance(node, s.Define)]
    calls = {dotted(n.function) for one in rest for n in s.walk(one) if isinstance(n, s.Call)}
    is_class = bool(calls & {"torch.class", "class"})
    return calls <= _DEFINING and (is_class or len(rest) < len(statements))


def _named(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Path], set[Path]]:
    """Return the files that were named, and those of them that a folder brings."""
    if not paths:
        raise PortError("no file is given; a .lua file or a folder of them is accepted")
    named: list[Path] = []
    from_folders: set[Path] = set()
    for given in map(Path, paths):
        whole = Path(os.path.abspath(given))
        if given.is_dir():
            if not os.access(whole, os.R_OK | os.X_OK):
                raise PortError(f"{given} cannot be read: no permission")
            inside = lua_below(whole)
            if not inside:
                raise PortError(f"{given} has no .lua files")
            from_folders |= set(inside)
            named += inside
        elif given.is_file():
            named.append(whole)
        elif given.exists():
            raise PortError(f"{given} is no file that can be read; a .lua file is accepted")
        else:
            raise PortError(f"{given} does not exist")
    return list(dict.fromkeys(named)), from_folders


def _templates(place: str) -> list[str]:
    """Return where ``require`` looks in a folder, or a template as it is."""
    whole = os.path.abspath(place)
    return [whole] if "?" in place else [f"{whole}/?.lua", f"{whole}/?/init.lua"]


def _home(script: Source, search: Places) -> Path:
    """Return the folder that a script runs in: its own, or one above in which more of its files
    are.
    """
    candidates = [script.path.parent]
    for above in script.path.parent.parents[:_UP]:
        if (candidates[-1] / ".git").exists() or above in (Path.home(), Path(above.anchor)):
            break
        candidates.append(above)
    constants = [load for load in loads(script.block) if load.is_constant]
    counts = []
    for home in candidates:
        own = Places(home, search.given, [*search.templates, *templates(script.block)])
        found = [own.find(load, script.path) for load in constants]
        direct = sum((home / f"{load.plain}.lua").is_file() for load in constants)
        counts.append((len(found) - found.count(None), direct))
    most = max(counts)
    return candidates[0 if counts[0][0] == most[0] else counts.index(most)]


def _loaded(source: Source, search: Places) -> list[Path]:
    """Return the files that a file loads, which it remembers."""
    found: list[Path] = []
    for load in loads(source.block):
        if load.is_constant:
            path = search.find(load, source.path)
            if path is not None:
                source.loads[load.name] = path
                found.append(path)
        else:
            like = _of_lua(search.like(load, source.path, _texts(source)))
            source.maybe |= {*like}
            source.loads_any |= load.is_open and not like
    return [*found, *sorted(source.maybe)]


def _named_anywhere(sources: Mapping[Path, Source], search: Places, tried: set[Path]) -> list[Path]:
    """Return the other files that a name means of which nothing is known, ``dofile(opt.model)``:
    what the texts of all files name.
    """
    texts = list(dict.fromkeys(text for source in sources.values() for text in _texts(source)))
    asked = {
        (load.how, source.path.parent): (load, source.path)
        for source in sources.values()
        for load in loads(source.block)
        if load.is_open
    }
    found = (path for load, asking in asked.values() for path in search.like(load, asking, texts))
    return _of_lua(path for path in dict.fromkeys(found) if path not in tried)


def _of_lua(paths: Iterable[Path]) -> list[Path]:
    """Return the files that a computed name may mean, without pictures and others of no Lua."""
    return [p for p in paths if p.suffix == ".lua" or read(p, str(p)).problem is None]


def _texts(source: Source) -> list[str]:
    """Return the strings that are written in a file and may be names of files."""
    constants = (n.value for n in s.walk(source.block) if isinstance(n, s.Constant))
    return list(dict.fromkeys(v for v in constants if isinstance(v, str) and _NAME.fullmatch(v)))


def shown(path: Path) -> str:
    """Return a path as messages have it: from where the user is, if it is below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
