"""A program: its files, read, traced and converted together."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from compat.port.forms import write_in_fewer_forms
from compat.port.forms.class_libraries import without_class_libraries
from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.know.questions.naming import name_variables
from compat.port.know.scopes import Scopes, Variable
from compat.port.know.trace import Facts, traced
from compat.port.polish.holders import without_holders
from compat.port.polish.modules import without_classes
from compat.port.project.drafting import Converted, Made, convert_file
from compat.port.project.following import Program, follow, starts
from compat.port.project.modules import module_names
from compat.port.project.sources import LONGEST, Source
from compat.port.read.parser import parse
from compat.port.read.syntax import PortError
from compat.port.write import layout
from compat.port.write.page import Report
from compat.port.write.python_names import WHOLE

_OPENS = re.compile(r"\bopen\b|No such file|not found")  # in errors about files


def convert(
    paths: Sequence[str | os.PathLike[str]],
    runs: Sequence[Sequence[str]] = (),
    folder: str | os.PathLike[str] | None = None,
    seconds: float | None = None,
) -> list[Converted]:
    """Return the drafts of a program's files; the first is the script that starts it. See
    ``make``.
    """
    return make(follow(paths), runs, folder, seconds).files


def make(
    program: Program,
    runs: Sequence[Sequence[str]] = (),
    folder: str | os.PathLike[str] | None = None,
    seconds: float | None = None,
) -> Made:
    """Return the drafts of a program.

    A file, or a function, that cannot be drafted stays Lua; its draft says why.

    Args:
        runs: the arguments of each run of the script, to see its types; none: do not run it. Where
            the first names another of the files, that one is run.
        folder: where to run it.
        seconds: how long each run takes at most.

    Raises:
        PortError: the script fails in a run.
    """
    layout.need_ruff()
    lines = [started(program, words) for words in runs]
    files = _files(program, {number for number, _ in lines})
    facts: Facts = {}
    ended: list[tuple[Sequence[str], str]] = []
    for number, arguments in lines:
        seen, problem, how = traced(files, arguments, folder, seconds, number)
        if problem is not None:
            hint = f"; paths begin in {program.home}" if _OPENS.search(problem) else ""
            told = f"{problem}{hint}; nothing is written (without --run a draft is)"
            raise PortError(f"the script fails in its run: {told}")
        if how:
            ended.append((arguments, how))
        for place, kinds in seen.items():
            facts[place] = sorted({*facts.get(place, ()), *kinds})
    reasons = {source.path: _reason(source) for source in program.sources}
    files, program, renamed = _drafted(files, program)
    types = _inferred(files, facts, reasons)
    shared = _shared(types, {s.path for s in program.sources if s.is_data})
    for file in files:
        name_variables(file, types, shared)
    made = [
        convert_file(file, types, shared, source, reasons[source.path])
        for file, source in zip(files, program.sources, strict=True)
    ]
    computed = {file.module for file in types.clues.computed}
    texts = {one.module: one.text for one in made}
    texts, gives = without_holders(texts, {one.module: one.gives for one in made}, computed)
    texts, whole = without_classes(texts, gives)
    for one in made:
        one.text = texts[one.module]
        one.gives = WHOLE if one.module in whole else gives[one.module]
    own = {one.module.split(".")[0] for one in made} | {"shared"}
    for one in made:
        if one.is_script and "." in one.module and (one.in_lua or _imports(one.text, own)):
            one.text = _with_path(one.text, one.module.count("."))
    texts = layout.laid_out({one.module: one.text for one in made})
    for one in made:
        one.text = texts[one.module]
    return Made(program, made, renamed, runs, ended)


def planned(program: Program) -> Made:
    """Return the files of drafts that are there, without their texts."""
    files, program, renamed = _drafted(_files(program, set()), program)
    made = [Converted(Path(file.path), file.module, "", Report(), file.is_script) for file in files]
    return Made(program, made, renamed)


def _drafted(files: list[File], program: Program) -> tuple[list[File], Program, dict[Path, str]]:
    """Return the files that get a draft, with names for Python, the program of these alone, and
    which names are other ones.
    """
    files = without_class_libraries(files)
    own = {file.path for file in files}
    program = replace(program, sources=[s for s in program.sources if str(s.path) in own])
    loaded = {path for source in program.sources for path in source.loads.values()}
    paths = [source.path for source in program.sources]
    names, renamed = module_names(paths, program.root, loaded)
    for file, name in zip(files, names, strict=True):
        file.module = name
    return files, program, renamed


def _imports(text: str, modules: set[str]) -> bool:
    """Return whether a draft imports one of these."""
    found = re.findall(r"^\s*(?:from|import) (\w+)|_module\(\"(\w+)", text, re.M)
    return any({*words} & modules for words in found)


def _with_path(text: str, depth: int) -> str:
    """Return a script that stands in a folder of the program: it finds the program's modules."""
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    first = tree.body[0].end_lineno or 0 if ast.get_docstring(tree) is not None else 0
    while first < len(lines) and lines[first].startswith("#"):
        first += 1
    head = (
        f"import sys\nfrom pathlib import Path\n\n"
        f"sys.path.insert(0, str(Path(__file__).resolve().parents[{depth}]))\n\n"
    )
    return "".join([*lines[:first], head, *lines[first:]])


def _is_opaque(source: Source) -> bool:
    """Return whether what a file says is not known."""
    return source.is_data or source.problem is not None or source.length > 0


def _reason(source: Source) -> str:
    """Return why a file cannot be drafted, as far as that is known from its text."""
    if source.length:
        return f"it has {source.length} lines; files of up to {LONGEST} get a draft"
    if source.problem is None:
        return ""
    return source.problem.partition(": ")[2]


def _files(program: Program, started_too: set[int]) -> list[File]:
    """Return the files. Each script has the global variables of its own, and all share those of
    the other files.
    """
    sources = program.sources
    begins = _scripts(program) | started_too
    common: dict[str, Variable] = {}
    blocks = [
        parse(b"return unknown()") if _is_opaque(source) else source.block for source in sources
    ]
    numbers = {source.path: number for number, source in enumerate(sources)}
    loads = [{text: numbers.get(path, -1) for text, path in one.loads.items()} for one in sources]
    write_in_fewer_forms(blocks, [str(source.path) for source in sources], loads)
    # What the other files use is known before the scripts are read.
    scopes = {
        number: Scopes(blocks[number], dict(common) if number in begins else common)
        for number in sorted(range(len(sources)), key=lambda number: number in begins)
    }
    return [
        File(
            str(source.path), "", blocks[number], scopes[number], source.text,
            is_script=number in begins,
            loads={text: str(path) for text, path in source.loads.items()},
            is_opaque=_is_opaque(source),
        )
        for number, source in enumerate(sources)
    ]  # fmt: skip


def _scripts(program: Program) -> set[int]:
    """Return the files that start a program: the first, unless a folder has none, and those that
    were named and nobody loads.
    """
    sources = program.sources
    first = {0} if program.starting else set()
    if any(source.loads_any for source in sources):
        return first
    return {*first, *(n for n, one in enumerate(sources[: program.named]) if starts(one, sources))}


def _inferred(files: list[File], facts: Facts, reasons: dict[Path, str]) -> Inference:
    """Return the types of a program; a file that they cannot be told of is one for Lua."""
    while True:
        types = Inference(files, facts)
        try:
            return types.infer()
        except (
            RecursionError,
            AssertionError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
        ) as problem:
            file = types.file
            if file.is_opaque:
                raise
            reasons[Path(file.path)] = f"its types cannot be told ({type(problem).__name__})"
            file.block, file.is_opaque = parse(b"return unknown()"), True
            file.scopes = Scopes(file.block, file.scopes.globals)


def started(program: Program, words: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Return which of the files a command line starts, and with what arguments: ``sample.lua -n
    3``.

    Raises:
        PortError: it names none of them, and a folder has several.
    """
    if words and words[0].endswith(".lua"):
        named = [Path(words[0]).resolve(), (program.home / words[0]).resolve()]
        for number, source in enumerate(program.sources):
            if source.path.resolve() in named:
                return number, words[1:]
    if len(program.starting) > 1:
        shown = ", ".join(str(path.relative_to(program.home)) for path in program.starting[:5])
        raise PortError(f"the folder has several scripts; name one before its arguments: {shown}")
    return 0, words


def _shared(types: Inference, data: set[Path]) -> set[Variable]:
    """Return globals that one file writes and another reads, or puts a class into; what Lua files
    do is not known.
    """
    files = types.files
    if len(files) == 1:
        return set()
    unknown = any(file.is_opaque and Path(file.path) not in data for file in files)
    found: set[Variable] = set()
    classes = [c for c in types.classes.values() if c.is_torch]
    for file in files:
        others = [f for f in files if f is not file]
        for variable in file.scopes.written_globals:
            used = (f.scopes.read_globals | f.scopes.written_globals for f in others)
            put = (c.name.split(".")[0] == variable.id for c in classes if c.module != file.module)
            if unknown or any(variable in u for u in used) or any(put):
                found.add(variable)
    return found


def summary(made: Sequence[Converted]) -> str:
    """Return how many places depended on types, how they were decided, and what stayed open."""
    sites: Counter[str] = Counter()
    for one in made:
        sites += one.report.sites
    lines = sum(one.text.count("\n") for one in made)
    marks = sum(len(one.report.marks) for one in made)
    total = sum(sites.values())
    files = f"{len(made)} files" if len(made) > 1 else "1 file"
    return (
        f"{files}, {lines} lines. {total} places depend on types: {sites['run']} known from the "
        f"run, {sites['code']} from the code, {sites['open']} open. "
        f"{marks} {'mark' if marks == 1 else 'marks'}."
    )
