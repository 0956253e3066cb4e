"""A program: its files, read, traced and converted together."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.know.scopes import Scopes, Variable
from compat.port.know.shapes import scripts
from compat.port.know.trace import Facts, traced
from compat.port.read.parser import parse
from compat.port.read.syntax import PortError
from compat.port.write import layout
from compat.port.write.draft import Draft
from compat.port.write.file import written
from compat.port.write.page import Report
from compat.port.write.python_names import module_name

_OPENS = re.compile("open|No such file|not found")  # in errors about files


@dataclass
class Converted:
    """A file of the program and its draft."""

    source: Path
    module: str
    text: str
    report: Report


def lua_files(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The Lua files that are meant: those named, and all in folders.

    Raises:
        PortError: a path is missing or no Lua, or a folder has none.
    """
    found: list[Path] = []
    for given in map(Path, paths):
        if given.is_dir():
            inside = sorted(p for p in given.rglob("*.lua") if p.is_file())
            if not inside:
                raise PortError(f"{given} has no .lua files")
            found += inside
        elif not given.is_file():
            raise PortError(f"{given} does not exist")
        else:
            found.append(given)
    return list(dict.fromkeys(found))


def module_names(paths: Sequence[Path]) -> list[str]:
    """Names for Python's import: those of the files, from their common folder on."""
    roots = [p.resolve().parent for p in paths]
    common = Path(os.path.commonpath(roots)) if roots else Path()
    names: list[str] = []
    for path in paths:
        parts = path.resolve().relative_to(common).with_suffix("").parts
        names.append(".".join(module_name(part, not i) for i, part in enumerate(parts)))
    return names


def convert(
    paths: Sequence[str | os.PathLike[str]],
    runs: Sequence[Sequence[str]] = (),
    folder: str | os.PathLike[str] | None = None,
    seconds: float | None = None,
) -> list[Converted]:
    """The drafts of Lua files; the first is the script that starts the program.

    Args:
        runs: the arguments of each run of the script, to see its types; none: do not run it. Where
            the first names another of the files, that one is run.
        folder: where to run it.
        seconds: how long each run takes at most.

    Raises:
        PortError: a file cannot be converted, or the script fails in a run.
    """
    layout.need_ruff()
    listed = lua_files(paths)
    if not listed:
        raise PortError("no file is given; a .lua file or a folder of them is accepted")
    lines = [started(listed, words) for words in runs]
    files = _read(listed, {number for number, _ in lines})
    facts: Facts = {}
    for number, arguments in lines:
        seen, problem = traced(files, arguments, folder, seconds, number)
        if problem is not None:
            hint = "; paths begin in the script's folder" if _OPENS.search(problem) else ""
            raise PortError(f"the script fails in its run: {problem}{hint}")
        for place, kinds in seen.items():
            facts[place] = sorted({*facts.get(place, ()), *kinds})
    types = Inference(files, facts)
    shared = _shared(files)
    texts, reports = {}, []
    for file in files:
        draft = Draft(file, types, shared)
        try:
            texts[file.module] = written(draft)
        except PortError as error:
            raise PortError(f"{file.path}: {error}") from None
        reports.append(draft.page.report)
    texts = layout.laid_out(texts)
    return [
        Converted(Path(file.path), file.module, texts[file.module], report)
        for file, report in zip(files, reports, strict=True)
    ]


def _read(paths: Sequence[Path], started: set[int]) -> list[File]:
    """The files. Each script has the global variables of its own,
    and all share those of the other files.
    """
    sources = [path.read_bytes() for path in paths]
    blocks = [parse(source, str(path)) for source, path in zip(sources, paths, strict=True)]
    begins = scripts(blocks, [str(path) for path in paths]) | started
    common: dict[str, Variable] = {}
    # What the other files use is known before the scripts are read.
    scopes = {
        number: Scopes(blocks[number], dict(common) if number in begins else common)
        for number in sorted(range(len(paths)), key=lambda number: number in begins)
    }
    parts = zip(paths, module_names(paths), blocks, sources, strict=True)
    return [
        File(str(path), module, block, scopes[number], source, is_script=number in begins)
        for number, (path, module, block, source) in enumerate(parts)
    ]


def started(paths: Sequence[Path], words: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Which of the files a command line starts, and with what arguments: ``sample.lua -n 3``."""
    if words and words[0].endswith(".lua"):
        for number, path in enumerate(paths):
            if path.resolve() == Path(words[0]).resolve():
                return number, words[1:]
    return 0, words


def _shared(files: Sequence[File]) -> set[Variable]:
    """Globals that one file writes and another reads."""
    if len(files) == 1:
        return set()
    found: set[Variable] = set()
    for file in files:
        others = [f for f in files if f is not file]
        for variable in file.scopes.written_globals:
            used = (f.scopes.read_globals | f.scopes.written_globals for f in others)
            if any(variable in u for u in used):
                found.add(variable)
    return found


def summary(made: Sequence[Converted]) -> str:
    """How many places depended on types, how they were decided, and what stayed open."""
    sites: Counter[str] = Counter()
    for one in made:
        sites += one.report.sites
    lines = sum(one.text.count("\n") for one in made)
    marks = sum(len(one.report.marks) for one in made)
    total = sum(sites.values())
    files = f"{len(made)} files" if len(made) > 1 else "1 file"
    return (
        f"{files}, {lines} lines. {total} places depend on types: {sites['run']} known from the "
        f"run, {sites['code']} from the code, {sites['open']} open. {marks} marks."
    )


def targets(made: Sequence[Converted], out: str | os.PathLike[str] | None) -> dict[Path, str]:
    """Where drafts go, and their texts: into the folder ``out``; one into the file ``out``, if that
    ends in ``.py``. Without ``out`` each goes beside its Lua file.

    Raises:
        PortError: ``out`` is one file for several drafts.
    """
    root = Path(out) if out is not None else made[0].source.parent
    if out is not None and root.suffix == ".py" and not root.is_dir():
        if len(made) > 1:
            raise PortError(f"{out} is one file, and there are {len(made)} drafts: name a folder")
        return {root: made[0].text}
    if len(made) == 1 and out is None:
        return {made[0].source.with_name(f"{made[0].module}.py"): made[0].text}
    found = {root.joinpath(*m.module.split(".")).with_suffix(".py"): m.text for m in made}
    if any("shared." in m.text for m in made):
        found[root / "shared.py"] = '"""The global variables of the Lua program."""\n\n\n' + _SHARED
    return found


def write(made: Sequence[Converted], out: str | os.PathLike[str] | None) -> dict[Path, Path | None]:
    """Write drafts to their ``targets``. Another file that was there stays as ``NAME.py~``.

    Returns:
        For each file, where what was there is now; None if nothing was, or the same.

    Raises:
        PortError: ``out`` is one file for several drafts, or a file where a folder must be.
    """
    written: dict[Path, Path | None] = {}
    for target, text in targets(made, out).items():
        written[target] = None
        if target.is_file() and target.read_text(encoding="utf-8", errors="replace") != text:
            written[target] = target.replace(target.with_name(f"{target.name}~"))
        _save(target, text)
    return written


_SHARED = '''def __getattr__(name: str) -> None:
    """A variable that was not set is None, as in Lua."""
    if name.startswith("__"):
        raise AttributeError(name)
'''


def _save(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise PortError(f"{path.parent} is a file; name a folder") from None
    whole = path.with_name(f".{path.name}.tmp")
    whole.write_text(text, encoding="utf-8")
    whole.replace(path)
