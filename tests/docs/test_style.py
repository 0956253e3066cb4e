"""Docstrings and pages keep the rules of docs/style.md that a pattern can tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest
from support.paths import ROOT

# Rooms whose docstrings were written before the page of style, and are not rewritten yet.
LATER = ("compat/port",)
GENERATED = ("sources_", "modules.md", "differences.md")

# A function's first line says what it does. These words begin a noun or a clause.
NOUN = re.compile(
    r"(The|A|An|Whether|How|What|Which|Who|Whoever|All|Each|Every|Its|Those|Such|Everything)\b"
)
PHRASES = (
    r"\bwhat that one\b",
    r"\bthat that\b",
    r"\b(and|or) (its|their) kin\b",
    r"\b(nobody|somebody) else's\b",
    r"\bnobody's\b",
    r"\bat home\b",
    r"\bis alive\b",
    r"(?m)^Such (a|an) ",
    r"(?m)^(Who|Whoever) ",
    r"\bof the last \w+ two\b",
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def documented() -> list[tuple[str, ast.AST, str]]:
    """Return each docstring with its place and its node."""
    found = []
    for package in ("compat", "dptable"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name.startswith(LATER):
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                    text = ast.get_docstring(node)
                    if text:
                        found.append((f"{name}: {getattr(node, 'name', '')}", node, text))
    return found


def gives_a_value(function: Function) -> bool:
    decorators = " ".join(map(ast.unparse, function.decorator_list))
    if re.search(r"property|setter|contextmanager", decorators):
        return False  # these are named by what they are
    return function.returns is not None and ast.unparse(function.returns) not in (
        "None",
        "NoReturn",
    )


def test_functions_say_what_they_do() -> None:
    wrong = [
        f"{place}: {text.splitlines()[0]}"
        for place, node, text in documented()
        if isinstance(node, Function) and gives_a_value(node) and NOUN.match(text)
    ]
    assert not wrong, "\n".join(wrong)


def pages() -> Iterator[tuple[str, str]]:
    for path in [
        *sorted((ROOT / "docs").glob("*.md")),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
    ]:
        if path.name != "style.md" and not path.name.startswith(GENERATED):
            text = path.read_text(encoding="utf-8")
            yield path.name, re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


@pytest.mark.parametrize("phrase", PHRASES)
def test_nothing_needs_a_second_reading(phrase: str) -> None:
    texts = [*((place, text) for place, _, text in documented()), *pages()]
    wrong = [
        f"{place}: {text[max(found.start() - 40, 0) : found.end() + 40]!r}"
        for place, text in texts
        for found in re.finditer(phrase, text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("phrase", PHRASES)
def test_each_phrase_would_be_found(phrase: str) -> None:
    bad = (
        "what that one gets\nthat that is\nsort and its kin\nsomebody else's\nnobody's\nat home\n"
        "is alive\nSuch a value\nWho listens\nof the last column two\n"
    )
    assert re.search(phrase, bad)
