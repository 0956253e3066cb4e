"""The folder of a program in Python: what is written there, and what somebody has edited since.

``port.json`` has the files that were written, each with its hash: one that is another by now was
edited, and is never overwritten.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import mimetypes
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from compat.port.know.form.late_globals import of_lua
from compat.port.project.drafting import Made
from compat.port.project.following import Program
from compat.port.project.modules import place
from compat.port.project.pages import pyproject, readme
from compat.port.read.syntax import PortError
from compat.terminal import printable

MANIFEST = "port.json"
_SHARED = '''"""The global variables of the Lua program."""


def __getattr__(name: str) -> None:
    """A variable that was not set is None, as in Lua."""
    if name.startswith("__"):
        raise AttributeError(name)
'''


@dataclass
class Written:
    """The files that were written.

    Attributes:
        files: the drafts, in the order of the program's files.
        aside: where what was there before is now, by what was written in its place.
        kept: edited files that were left as they are, with what they would be now.
        lost: the runs that told the types of the drafts before, where no run told these.
    """

    files: list[Path]
    aside: dict[Path, Path] = field(default_factory=dict)
    kept: dict[Path, Path] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def refuse(
    program: Program, out: str | os.PathLike[str] | None, force: bool = False, keep: bool = False
) -> None:
    """Say before anything runs what ``write`` cannot do; ``keep``: nothing will be written.

    Raises:
        PortError: ``out`` is one file for several drafts, or has files, cannot be written to, or
            a draft would take the place of its Lua.
    """
    sources, root = program.sources, Path(out) if out is not None else program.root
    is_one = _is_file(out)
    if is_one and len(sources) > 1:
        raise PortError(f"{out} is one file, and there are {len(sources)} drafts: name a folder")
    if keep:
        return
    is_new = out is not None and not (is_one or root.exists() or str(out).endswith(os.sep))
    if is_new and (root.suffix == ".lua" or mimetypes.guess_type(root.name)[0]):
        shown = printable(out)
        raise PortError(f"-o is {shown}; NAME.py is accepted, or a folder: {shown}/ makes one")
    beside = [root.absolute()] if is_one else [] if out else [source.path for source in sources]
    for source in sources:
        if source.path.suffix == ".py" and source.path in beside:
            raise PortError(f"the draft of {source.path} would take its place; -o names a folder")
    place = root.absolute().parent if is_one else root.absolute()
    place = next(path for path in (place, *place.parents) if path.exists())
    if not place.is_dir():
        raise PortError(f"{place if place != root.absolute() else root} is a file; name a folder")
    if not (is_one or out is None or force) and root.is_dir() and any(root.iterdir()):
        raise PortError(
            f"{root} has files; name a new folder, or give --force, which leaves edited files alone"
        )
    if not os.access(place, os.W_OK | os.X_OK):
        raise PortError(f"{place} cannot be written to: no permission; -o names another folder")
    manifest(root)


def _is_file(out: str | os.PathLike[str] | None) -> bool:
    """Return whether ``out`` is a file and not a folder."""
    return out is not None and Path(out).suffix == ".py" and not Path(out).is_dir()


def targets(made: Made, out: str | os.PathLike[str] | None) -> list[Path]:
    """Return where drafts go: into the folder ``out``; one into the file ``out``, if that ends
    in ``.py``. Without ``out`` each goes beside its Lua file.
    """
    root = Path(out) if out is not None else made.program.root
    return [root] if _is_file(out) else [root / place(one.module) for one in made.files]


def write(made: Made, out: str | os.PathLike[str] | None, force: bool = False) -> Written:
    """Write the drafts of a program.

    Args:
        out: the folder of the program in Python, with all that it needs to run; a file ``NAME.py``
            or nothing, where only drafts are written: there another file of the name stays beside
            it as ``NAME.py~``, or ``NAME.py~2`` and so on where that is taken.
        force: write into a folder that has files; those that were edited stay.

    Raises:
        PortError: the folder has files, or cannot be written to, or ``out`` is one file for
            several drafts.
    """
    refuse(made.program, out, force)
    paths = targets(made, out)
    try:
        if out is None or _is_file(out):
            return _beside(made, paths, None if out is not None else made.program.root)
        return _folder(made, paths, Path(out))
    except OSError as error:
        where = error.filename or out or made.program.root
        raise PortError(f"{where} cannot be written: {error.strerror}") from None


def _beside(made: Made, paths: list[Path], root: Path | None) -> Written:
    found = Written(paths)
    texts = {path: one.text for path, one in zip(paths, made.files, strict=True)}
    if root is not None:
        texts |= {root / name: text for name, text in _program_texts(made).items()}
        if any(one.in_lua or one.functions for one in made.files):
            _save(root / MANIFEST, _manifest(made, {}))
    for path, text in texts.items():
        if path.is_file() and path.read_text(encoding="utf-8", errors="replace") != text:
            found.aside[path] = path.replace(_free(path))
        _save(path, text)
    return found


def _free(path: Path) -> Path:
    """Return ``NAME.py~``, or the first of ``NAME.py~2``, ``NAME.py~3``, … that is no file yet."""
    ends = itertools.chain(["~"], (f"~{number}" for number in itertools.count(2)))
    return next(p for p in (path.with_name(path.name + end) for end in ends) if not p.exists())


def _folder(made: Made, paths: list[Path], root: Path) -> Written:
    before = manifest(root) or {}
    known: Mapping[str, str] = before.get("hashes", {})
    texts: dict[str, str | bytes] = {
        path.relative_to(root).as_posix(): one.text
        for path, one in zip(paths, made.files, strict=True)
    }
    texts |= _program_texts(made)
    for path, one in zip(paths, made.files, strict=True):
        if one.in_lua:
            lua = path.with_name(one.source.name).relative_to(root).as_posix()
            texts[lua] = one.source.read_bytes()
    texts |= {"README.md": readme(made, root.name), "pyproject.toml": pyproject(made, root.name)}
    found = Written(paths, lost=[] if made.runs else before.get("runs", []))
    hashes: dict[str, str] = {}
    for name, text in texts.items():
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        path = root / name
        hashes[name] = _hash(data)
        if (
            path.is_file()
            and (now := _hash(path.read_bytes())) != hashes[name]
            and now != known.get(name)
        ):
            found.kept[path] = path.with_name(f"{path.name}.new")
            path = found.kept[path]
            hashes[name] = known.get(name, "")
        _save(path, data)
    for name, value in known.items():  # what no file of the program gives any more
        if (
            name not in hashes
            and (root / name).is_file()
            and _hash((root / name).read_bytes()) == value
        ):
            (root / name).unlink()
    _save(root / MANIFEST, _manifest(made, hashes))
    return found


def _program_texts(made: Made) -> dict[str, str]:
    """Return what a program has beside its drafts: ``__init__.py`` of packages, global
    variables.
    """
    names = [place(one.module) for one in made.files]
    folders = {parent for name in names for parent in name.parents if parent.name}
    texts = {(folder / "__init__.py").as_posix(): "" for folder in sorted(folders)}
    texts = {name: text for name, text in texts.items() if name not in map(str, names)}
    if any("shared." in one.text or one.in_lua or one.functions for one in made.files):
        texts["shared.py"] = _shared(made)
    return texts


def _shared(made: Made) -> str:
    """Return the module of the global variables, which has Lua's functions at first."""
    names = {n for one in made.files for n in re.findall(r"\bshared\.(\w+)", one.text)}
    functions = ((name, of_lua(name.removesuffix("_"))) for name in sorted(names))
    first = "".join(f"{name} = {function}\n" for name, function in functions if function)
    brought = f"\n\nfrom compat.port import lua\n\n{first}\n" if first else "\n\n"
    return _SHARED.replace("\n\n", brought, 1)


def manifest(root: Path) -> dict[str, Any] | None:
    """Return what ``port`` wrote into a folder, if it did."""
    path = root / MANIFEST
    if not path.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise PortError(f"{path} cannot be read: it is no JSON; a new folder is accepted") from None
    wrong = _wrong(found)
    if wrong:
        raise PortError(f"{path}: {wrong} is not what port writes; a new folder is accepted")
    return found


def _wrong(found: Any) -> str:
    """Return what in a manifest ``port`` has not written: somebody may have edited it."""
    if not isinstance(found, dict):
        return "the whole"
    files, hashes = found.get("files"), found.get("hashes")
    if not isinstance(files, list):
        return "files"
    for number, entry in enumerate(files, 1):
        module = entry.get("module") if isinstance(entry, dict) else None
        if not isinstance(module, str) or not all(map(str.isidentifier, module.split("."))):
            return f"module of file {number}"
        if not {"in_lua", "lua", "script"} <= entry.keys():
            return f"file {number}"
    runs = found.get("runs", [])
    if not isinstance(runs, list) or not all(isinstance(line, str) for line in runs):
        return "runs"
    if not isinstance(hashes, dict) or not all(isinstance(v, str) for v in hashes.values()):
        return "hashes"
    for name in hashes:
        path = PurePath(name)
        # What no file gives any more is removed: in the folder alone.
        if path.is_absolute() or path.drive or ".." in path.parts or not path.parts:
            return f"{name!r} in hashes"
    return ""


def _manifest(made: Made, hashes: Mapping[str, str]) -> str:
    files = []
    names: dict[str, list[str]] = {}
    modules = {one.source: one for one in made.files}
    for one, source in zip(made.files, made.program.sources, strict=True):
        lua = source.path.relative_to(made.program.root).as_posix()
        files.append(
            {
                "lua": lua,
                "module": one.module,
                "script": one.is_script,
                "in_lua": one.in_lua,
                "functions": one.functions,
                "lines": source.text.count(b"\n"),
            }
        )
        names.setdefault(lua.removesuffix(".lua"), [one.module, one.gives or ""])
        for name, path in source.loads.items():
            if path in modules:
                names.setdefault(name, [modules[path].module, modules[path].gives or ""])
    runs = [shlex.join(words) for words in made.runs]
    whole = {"version": 1, "runs": runs, "files": files, "names": names, "hashes": dict(hashes)}
    return json.dumps(whole, indent=1) + "\n"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _save(path: Path, text: str | bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise PortError(f"{path.parent} is a file; name a folder") from None
    whole = path.with_name(f".{path.name}.tmp")
    whole.write_bytes(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)
    if path.exists():
        shutil.copymode(path, whole)
    whole.replace(path)
