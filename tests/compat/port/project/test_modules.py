"""Files keep their names, wherever Python can import these."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = [pytest.mark.needs("tree_sitter"), pytest.mark.needs("tree_sitter_lua")]


def named(*names: str, loaded: tuple[str, ...] | None = None) -> tuple[list[str], dict[str, str]]:
    from compat.port.project.modules import module_names

    root = Path("/program")
    paths = [root / f"{name}.lua" for name in names]
    imported = None if loaded is None else {root / f"{name}.lua" for name in loaded}
    modules, why = module_names(paths, root, imported)
    return modules, {path.stem: reason for path, reason in why.items()}


def test_names_stay_where_they_can() -> None:
    names = ("main", "lib/util", "lib/init", "lib/types", "data/test")
    assert named(*names) == ([name.replace("/", ".") for name in names], {})


def test_a_script_may_have_the_name_of_its_modules_folder() -> None:
    names = ("style", "style/loss", "style/util")
    assert named(*names, loaded=names[1:]) == (["style", "style.loss", "style.util"], {})


def test_a_module_must_not_have_the_name_of_a_folder() -> None:
    modules, why = named("main", "style", "style/loss", loaded=("style", "style/loss"))
    assert modules == ["main", "style_", "style.loss"]
    assert why == {"style": "a folder has this name"}


@pytest.mark.parametrize(
    ("name", "module", "reason"),
    [
        ("random", "random_", "Python has a module of this name"),
        ("numpy", "numpy_", "a library has this name"),
        ("1_data", "_1_data", "does not begin with a digit"),
        ("wide-resnet", "wide_resnet", "letters, digits and _"),
        ("class", "class_", "a word of Python's"),
        ("a.b", "a_b", "letters, digits and _"),
    ],
)
def test_names_that_python_cannot_import(name: str, module: str, reason: str) -> None:
    modules, why = named(name, "main")
    assert modules == [module, "main"] and reason in next(iter(why.values()))


def test_two_files_that_would_have_one_name() -> None:
    modules, why = named("a-b", "a_b", "a.b")
    assert modules[0] == "a_b" and len(set(modules)) == 3 and len(why) == 3
