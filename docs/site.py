"""Hooks of MkDocs: the pages that are made from the repository, and links into it.

MkDocs reads ``docs`` only. The README, the changelog and the like become pages here, and so do the
index of Torch7's names and the reference, which come from the code. A link to a file that is no
page becomes the file's name.
"""

from __future__ import annotations

import importlib
import inspect
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from compat import hints, nn
from compat.t7.objects.registry import registered

ROOT = Path(__file__).resolve().parents[1]

# Files outside docs that are pages of the site.
REPOSITORY_PAGES = {
    "README.md": "start.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/RESULTS.md": "benchmarks.md",
    "SECURITY.md": "security.md",
}

# The packages whose public names the reference shows, a page each; compat.nn has several.
REFERENCE = (
    *("nn", "optim", "t7", "torch", "random", "cutorch", "cudnn", "nngraph", "graph", "rnn"),
    *("image", "threads", "xlua", "lua"),
)
OF_DPTABLE = (
    *("dptable", "dptable.comm", "dptable.devices", "dptable.training", "dptable.models"),
    *("dptable.sharding", "dptable.checkpoints", "dptable.prefetch"),
)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made."""
    for source, name in REPOSITORY_PAGES.items():
        path = ROOT / source
        if path.exists():
            files.append(File.generated(config, name, content=path.read_text(encoding="utf-8")))
            files.get_file_from_path(name).repository_path = source  # type: ignore[union-attr]
    reference = _reference()
    for name, objects in reference.items():
        content = "\n\n".join([f"# {name}", *(f"::: {path}" for path in objects)])
        files.append(File.generated(config, f"api/{name}.md", content=content))
    files.append(File.generated(config, "names.md", content=_names(reference)))
    known = {file.src_uri for file in files}
    config["nav"] = [
        {title: [page for page in pages or _pages(reference) if page in known]}
        for section in config["nav"]
        for title, pages in section.items()
    ]
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turn links into the repository into links between pages, or into names of files."""
    source = getattr(page.file, "repository_path", f"docs/{page.file.src_uri}")
    here = posixpath.dirname(source)

    def link(match: re.Match[str]) -> str:
        text, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, mark, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(here, path))
        name = REPOSITORY_PAGES.get(place, place.removeprefix("docs/"))
        if files.get_file_from_path(name):
            start = posixpath.dirname(page.file.src_uri) or "."
            return f"[{text}]({posixpath.relpath(name, start)}{mark}{anchor})"
        return f"`{place}`" if posixpath.basename(place) in text else f"{text} (`{place}`)"

    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, markdown)


def _pages(reference: Mapping[str, list[str]]) -> list[str]:
    return [f"api/{name}.md" for name in reference]


def _reference() -> dict[str, list[str]]:
    """Return the public names of each page of the reference."""
    pages: dict[str, list[str]] = {}
    for package in (*(f"compat.{name}" for name in REFERENCE), *OF_DPTABLE):
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            page = package.removeprefix("compat.").removeprefix("dptable.")
            if package == "compat.nn":
                page = _page_of_nn(value)
            # Functions and classes: the modules among the names have pages, or files, of their own.
            if isinstance(value, type) or inspect.isroutine(value):
                pages.setdefault(page, []).append(f"{package}.{name}")
    pages["nn"].sort(key=lambda path: path not in ("compat.nn.Module", "compat.nn.Criterion"))
    return pages


def _page_of_nn(value: Any) -> str:
    """Return the page of a name of compat.nn: that of its family, which is its folder."""
    family, *deeper = [*str(getattr(value, "__module__", "")).split(".")[2:], ""]
    if value in (nn.Module, nn.Criterion) or not any(deeper):
        return "nn"
    if family == "layers" and len(deeper) > 2:
        family = deeper[0]
    return f"nn_{family}" if family not in ("core", "interchange", "checks") else "nn"


def _names(reference: Mapping[str, list[str]]) -> str:
    """Return the page of every name of Torch7's packages, with what it is called here."""
    rows = "\n".join(
        f"| `{name}` | {here} |" for name, here in sorted(dict(_known_names(reference)).items())
    )
    return (
        "# From Torch7's names to Python's\n\n"
        "The index is made from the code: classes as files and scripts name them, the functions\n"
        "of each package, and what replaces those that are not here. The search finds\n"
        f"every name.\n\n| Torch7 | Python |\n| --- | --- |\n{rows}\n"
    )


def _known_names(reference: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Yield names of Torch7 with what stands here for them; the last one of a name counts."""
    importlib.import_module("dptable")
    for package, table in _replaced():
        for name, hint in table.items():
            yield f"{package}.{name}", hint.replace("|", "\\|")
    public = {}
    for page, paths in reversed(reference.items()):
        for path in paths:
            package, _, name = path.rpartition(".")
            value = getattr(importlib.import_module(package), name)
            link = f"[`{path}`](api/{page}.md#{path})"
            public[value] = link
            if package.startswith("compat."):
                torch7 = package.removeprefix("compat.").replace("random", "torch")
                yield f"{torch7}.{name}", link
    for typename, cls in registered():
        if cls in public:
            yield typename, public[cls]


def _replaced() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield packages of Torch7 with hints for the names that are not here."""
    yield "torch", {name: hint for name, hint in hints.TORCH.items() if name not in hints.PACKAGES}
    for package in ("image", "xlua", "cutorch"):
        module = importlib.import_module(f"compat.{package}")
        yield package, vars(module)["_HINTS"]
    yield "paths", {name: f"`{here}`" for name, here in hints.PATHS.items()}
    yield "sys", {name: f"`{here}`" for name, here in hints.SYS.items()}
    yield "(package)", hints.PACKAGES
