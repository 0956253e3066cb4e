"""Hooks of MkDocs: the pages that are made from the repository, and links into it.

MkDocs reads ``docs`` only. The README, the changelog and the like become pages here, and so do the
index of Torch7's names and the reference, which come from the code. A link to a file that is no
page becomes the file's name.
"""

from __future__ import annotations

import importlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

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

# The reference: for each page the objects that it shows, with their public members.
REFERENCE = {
    "nn": ("compat.nn.core.module.Module", "compat.nn.criterions.base.Criterion"),
    "optim": ("compat.optim",),
    "t7": ("compat.t7",),
    "cutorch": ("compat.cutorch",),
    "lua": ("compat.lua",),
    "dptable": (
        "dptable.DataParallelTable",
        "dptable.devices",
        "dptable.replicate",
        "dptable.comm",
    ),
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made."""
    for source, name in REPOSITORY_PAGES.items():
        path = ROOT / source
        if path.exists():
            files.append(File.generated(config, name, content=path.read_text(encoding="utf-8")))
            files.get_file_from_path(name).repository_path = source  # type: ignore[union-attr]
    for title, objects in REFERENCE.items():
        content = "\n\n".join([f"# {title}", *(f"::: {name}" for name in objects)])
        files.append(File.generated(config, f"api/{title}.md", content=content))
    files.append(File.generated(config, "names.md", content=_names()))
    known = {file.src_uri for file in files}
    config["nav"] = [
        {title: [page for page in pages if page in known]}
        for section in config["nav"]
        for title, pages in section.items()
        if any(page in known for page in pages)
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


def _names() -> str:
    """Every name of Torch7's packages that has a counterpart, with where that is."""
    rows = "\n".join(f"| `{name}` | `{here}` |" for name, here in sorted(set(_known_names())))
    return (
        "# From Torch7's names to Python's\n\n"
        "The index is made from the code: classes as files and scripts name them, and the\n"
        "functions of each package. The search of this site finds every name.\n\n"
        f"| Torch7 | Python |\n| --- | --- |\n{rows}\n"
    )


def _known_names() -> Iterator[tuple[str, str]]:
    importlib.import_module("dptable")
    for typename, cls in registered():
        yield typename, f"{cls.__module__}.{cls.__qualname__}"
    for package in ("optim", "cutorch", "image", "xlua", "threads", "nngraph", "random"):
        module = importlib.import_module(f"compat.{package}")
        for name, value in vars(module).items():
            is_own = getattr(value, "__module__", "").startswith("compat.")
            if callable(value) and is_own and not name.startswith("_"):
                torch7 = f"torch.{name}" if package == "random" else f"{package}.{name}"
                yield torch7, f"compat.{package}.{name}"
