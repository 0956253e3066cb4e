"""Code in names and strings of a file does not become code of the source that is written of it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from support.paths import GOLDEN

import dptable  # noqa: F401  # registers its classes
from compat import nn, t7
from compat.nn.source.text import docstring
from dptable.cli import main

CODE = "import os\nos.mkdir('code has run')\n"
NAMES = [f'a"""\n{CODE}"""', f"a'''\n{CODE}'''", f"a\n{CODE}#", f'a\\"""\n{CODE}', 'a"', "a\\"]
STRINGS = [f'"\n{CODE}#', f"'\n{CODE}#", '"); __import__("os").mkdir("code has run") #']


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_the_file(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    t7.save(f"{name}.t7", nn.Sequential(nn.Linear(2, 3)))
    assert main(["convert", f"{name}.t7", "out.py", "--input", "1x2"]) == 0, capsys.readouterr()
    assert not Path("code has run").exists()
    tree = ast.parse(Path("out.py").read_text())
    told = ast.get_docstring(tree, clean=False)
    assert told is not None and told.startswith(f"The net of {name}.t7")
    assert [type(n) for n in tree.body].count(ast.Expr) == 1


@pytest.mark.parametrize("line", [*NAMES, '""', '"""', "\\", '\\"', 'plain "word" here', "é\u202e"])
def test_any_line_is_one_string(line):
    for doc in ([line], [line, "", line]):
        text = "\n".join(docstring(doc, 4)).lstrip()
        assert ast.literal_eval(text).replace("\n    ", "\n").startswith(line)


def strings(value: Any, tables: list[tuple[Any, Any]], seen: set[int]) -> list[tuple[Any, Any]]:
    """Each string in the tables of a file, as a table and a key."""
    held = value.fields if isinstance(value, t7.TorchObject) else value
    if isinstance(held, (dict, list)) and id(held) not in seen:
        seen.add(id(held))
        for key, item in held.items() if isinstance(held, dict) else enumerate(held):
            if isinstance(item, str):
                tables.append((held, key))
            strings(item, tables, seen)
    return tables


@pytest.mark.parametrize(
    "path",
    [GOLDEN / f"composite/{n}.t7" for n in ("LeNet", "DropoutMLP")],
    ids=lambda path: path.stem,
)
def test_the_strings_of_a_net(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    count = len(strings(t7.load(path, raw=True, plain=True), [], set()))
    for number in range(0, count, max(1, count // 4)):
        for evil in STRINGS:
            value = t7.load(path, raw=True, plain=True)
            table, key = strings(value, [], set())[number]
            table[key] = evil
            t7.save("in.t7", value)
            main(["convert", "in.t7", "out.py", "--force"])
            main(["convert", "in.t7", "out.safetensors"])
            assert not Path("code has run").exists()
