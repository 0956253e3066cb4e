"""Lines of Python as a file: comments beside or above them, laid out by ruff."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from compat.port.polish.rules import polished
from compat.port.read.syntax import PortError

WIDTH = 88  # ruff's own
_TRIED = "E4,E7,E9,F,I,PIE807,RET,SIM,UP"


def arranged(lines: Iterable[tuple[int, str, str | None]]) -> str:
    """Return the text of lines: indentation, statement, comment behind it.

    A comment stands above a statement that leaves no room for it.
    """
    out: list[str] = []
    for indent, text, comment in lines:
        pad = " " * (4 * indent)
        if comment:
            first, *rest = text.split("\n")
            if not rest and len(pad) + len(first) + len(comment) + 4 <= WIDTH:
                text = f"{first}  # {comment}"
            else:
                text = f"# {comment}\n{text}"
        if '"""' in text:
            out.append(pad + text)
        else:
            out += [(pad + line).rstrip() for line in text.split("\n")]
    return "\n".join(out).strip("\n") + "\n" if out else ""


def need_ruff() -> None:
    """Say so where ruff is missing.

    Raises:
        PortError: it is.
    """
    if importlib.util.find_spec("ruff") is None:
        raise PortError('port needs ruff; `pip install "dptable[lua]"` installs it')


def laid_out(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the files of a program, by the names of their modules, with imports sorted and
    lines broken.

    Raises:
        PortError: a text is no Python.
    """
    own = sorted({name.split(".")[0] for name in texts} | {"shared"})
    isort = [
        "--config", f"lint.isort.known-first-party = {json.dumps(own)}",
        "--config", "lint.isort.known-third-party = ['compat', 'dptable', 'torch']",
    ]  # fmt: skip
    with TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{number}.py") for number, name in enumerate(texts)}
        for name, file in files.items():
            file.write_text(texts[name], encoding="utf-8")
        check = ["check", "--extend-select=I,RET,SIM,UP", *isort]
        # Ruff calls unsafe what may lose a comment. Imports may be there for what they do, and what
        # rules that later versions bring make of a program nobody has tried.
        mend = [*check, "--fix", "--unsafe-fixes", "--exit-zero", f"--fixable={_TRIED}",
                "--unfixable=F401,F811,SIM401,UP005"]  # fmt: skip
        _ruff(mend, folder)
        for file in files.values():  # what ruff has put together may be said better
            file.write_text(polished(file.read_text(encoding="utf-8")), encoding="utf-8")
        for command in (["format"], mend, ["format"], [*check, "--add-noqa", "--ignore=F821"]):
            _ruff(command, folder)
        return {name: file.read_text(encoding="utf-8") for name, file in files.items()}


def _ruff(words: list[str], folder: str) -> None:
    from ruff.__main__ import find_ruff_bin  # Python's start would take longer than ruff

    done = subprocess.run(
        [find_ruff_bin(), *words, "--isolated", "--no-cache", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PortError(f"the draft would be no Python: {_first(done.stdout + done.stderr)}")


def _first(said: str) -> str:
    """Return what ruff says first."""
    return next((line for line in said.splitlines() if line.strip()), "ruff does not say why")
