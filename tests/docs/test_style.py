"""Docstrings and pages keep the rules of docs/style.md that a pattern can tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest
from support.paths import ROOT

GENERATED = ("sources_", "modules.md", "differences.md")

# A function's first line says what it does. These words begin a noun or a clause.
NOUN = re.compile(
    r"(The|A|An|Whether|How|What|Which|Who|Whoever|All|Each|Every|Its|Those|Such|Everything|Where|"
    r"Why|One|Two|Any|For|Of|Between|Values|Variables|Numbers|Tables|Sizes|Lines|Options|Names|"
    r"Fields|Keys|Width|Planes|Identity|Something|Globals|Conditions|Entries|Elements|Upvalues|"
    r"Loops|Makers|Floats|Samples|Places|Owner|System|Seconds|Nodes|Results|Squared|Gated|Classes|"
    r"Blocks|Packages|Functions|Another|That|It|Whatever|Gaussian|Returns|[A-Z]\w+'s)\b"
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
    r"\b[Ff]or who(ever)?\b",
    r"\b(?<!people )(?<!everyone )(?<!users )(?<!one )who (has|have|holds|ports|opens|changes)\b",
    r"\bso many\b(?! \w+ that)",
    r"\bof such\b",
    r"\bThose that\b",
    r"\bcomes? along\b",
    r"\b(is|are|was) told\b(?! to\b)",
    r"\bin the place of\b",
    r"\bto go back from\b",
    r"\bis nothing to (it|him|them)\b",
)
EXAMPLES_OF_PHRASES = (
    "what that one gets\nthat that is\nsort and its kin\nsomebody else's\nnobody's\nat home\n"
    "is alive\nSuch a value\nWho listens\nof the last column two\nfor whoever reads\nwho has it\n"
    "so many elements\na list of such\nThose that lie\nit comes along\nit is told\n"
    "in the place of it\nthe loss to go back from\nis nothing to it\n"
)
# A class, a property and a file are named, not described by a question.
QUESTION = re.compile(r"(Whether|How|What|Which|Who|Whoever|Those|Such|Everything|Its)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def documented() -> list[tuple[str, ast.AST, str]]:
    """Return each docstring with its place and its node."""
    found = []
    for package in ("compat", "dptable"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                    text = ast.get_docstring(node)
                    if text:
                        found.append((f"{name}: {getattr(node, 'name', '')}", node, text))
    return found


@cache
def messages() -> list[tuple[str, str]]:
    """Return the texts of errors and of the help of commands, with their files."""
    found = []
    for package in ("compat", "dptable"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Raise):
                    said: ast.AST | None = node.exc
                elif isinstance(node, ast.keyword) and node.arg in ("help", "description"):
                    said = node.value
                else:
                    continue
                parts = [] if said is None else list(ast.walk(said))
                text = " ".join(
                    part.value
                    for part in parts
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
                found.append((name, text))
    return found


def is_property(function: Function) -> bool:
    decorators = " ".join(map(ast.unparse, function.decorator_list))
    return bool(re.search(r"property|setter", decorators))


def test_functions_say_what_they_do() -> None:
    wrong = [
        f"{place}: {text.splitlines()[0]}"
        for place, node, text in documented()
        if isinstance(node, Function) and not is_property(node) and NOUN.match(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_classes_properties_and_files_are_named() -> None:
    wrong = [
        f"{place}: {text.splitlines()[0]}"
        for place, node, text in documented()
        if QUESTION.match(text)
        and not (isinstance(node, Function) and not is_property(node))
        and not (isinstance(node, Function) and text.startswith("Whether "))
    ]
    assert not wrong, "\n".join(wrong)


def pages() -> Iterator[tuple[str, str]]:
    for path in [
        *sorted((ROOT / "docs").glob("*.md")),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
    ]:
        if path.name != "style.md" and not path.name.startswith(GENERATED):
            text = path.read_text(encoding="utf-8")
            yield path.name, re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


@pytest.mark.parametrize("phrase", PHRASES)
def test_nothing_needs_a_second_reading(phrase: str) -> None:
    texts = [*((place, text) for place, _, text in documented()), *pages(), *messages()]
    wrong = [
        f"{place}: {text[max(found.start() - 40, 0) : found.end() + 40]!r}"
        for place, text in texts
        for found in re.finditer(phrase, text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("phrase", PHRASES)
def test_each_phrase_would_be_found(phrase: str) -> None:
    assert re.search(phrase, EXAMPLES_OF_PHRASES)
