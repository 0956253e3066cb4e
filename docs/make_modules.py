"""Write docs/modules.md and docs/differences.md: ``python docs/make_modules.py``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from compat import cudnn, nn

DOCS = Path(__file__).parent

INTRODUCTION = """\
# Modules and criterions

Every class of Torch7's nn, where it is defined, what PyTorch has in its place, and where it differs
from Torch7 on purpose. Numbers, argument names and defaults are Torch7's, so its manual holds for
all that is not listed as different. `nn.DataParallelTable` comes with the package `dptable`.

NaN and infinity go the way of Torch7's comparisons: `nn.ReLU()` makes NaN 0, `nn.ReLU(True)` leaves
it, hinge losses count it as no loss, `nn.BCECriterion` refuses it. So results are NaN where they
were in Torch7. Gradients there may differ (`nn.LeakyReLU` in place, `nn.ELU`, `nn.LogSigmoid`,
`nn.Sqrt`): such a run has diverged already.

Each class computes as Torch7's: in backward it reads what that one reads, its `output`, the input
that it is given or a field. Layers in place overwrite their input, and gradOutput in backward.

[Deliberate differences](differences.md) from Torch7 have a page of their own. Both are generated:
`python docs/make_modules.py`."""


def classes(namespace: ModuleType, home: str) -> list[type]:
    """The Torch7 classes that a namespace has from a package of this library, by name.

    What other packages add to ``compat.nn`` when they are imported does not count.
    """
    own = {value for value in vars(namespace).values() if inspect.isclass(value)}
    return sorted(
        (
            cls
            for cls in own
            if cls.__module__.startswith(f"{home}.")
            and ("Torch7" in _text(cls) or hasattr(cls, "typename"))
        ),
        key=lambda cls: cls.__name__,
    )


def _text(cls: type) -> str:
    return inspect.getdoc(cls) or "" if cls.__doc__ else ""


def summary(thing: Any) -> str:
    """The first sentence of the docstring, without the Torch7 name."""
    first = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    first = re.sub(r"\s*\((?:Torch7: |cudnn.torch: )?``(?:nn|cudnn)\.[^)]*\)", "", first)
    first = re.sub(r"\s*Torch7: ``[^`]*``[^.]*\.", "", first)
    return _markdown(re.split(r"(?<=\.)\s", first)[0])


def equivalent(cls: type) -> str:
    """What the docstring names behind "PyTorch:"; some take other arguments."""
    found = re.search(r"^PyTorch: (``[^`]*``)", _text(cls), re.M)
    return _markdown(found[1]) if found else ""


def differences(cls: type) -> str:
    """What the docstring has behind "Differs from Torch7:"."""
    found = re.search(r"Differs from Torch7: (.*?)(?:\n\n|\Z)", _text(cls), re.S)
    return _markdown(" ".join(found[1].split())) if found else ""


def _markdown(text: str) -> str:
    text = re.sub(r"``([^`]*)``|`([^`]*)`", lambda m: f"`{m[1] or m[2]}`", text)
    return text.replace("|", "\\|")


def _prefix(namespace: ModuleType) -> str:
    return namespace.__name__.removeprefix("compat.")


def _table(namespace: ModuleType, listed: list[type]) -> Iterator[str]:
    prefix = _prefix(namespace)
    yield "| Torch7 | here | PyTorch | what it is |"
    yield "| --- | --- | --- | --- |"
    for cls in listed:
        place = cls.__module__.replace(".", "/") + ".py"
        cells = (
            f"`{prefix}.{cls.__name__}`",
            f"[{place.removeprefix('compat/')}](../{place})",
            equivalent(cls),
            summary(cls),
        )
        yield f"| {' | '.join(cells)} |"


def _functions(prefix: str, namespace: ModuleType) -> Iterator[str]:
    for name, function in sorted(vars(namespace).items()):
        own = inspect.isfunction(function) and function.__module__ == namespace.__name__
        if own and not name.startswith("_"):
            yield f"- `{prefix}.{name}`: {summary(function)}"


def pages() -> dict[str, str]:
    """The generated files below ``docs``, by name."""
    recurrent = classes(nn, "compat.nn.recurrent")
    everything = [cls for cls in classes(nn, "compat.nn") if cls not in recurrent]
    criterions = [cls for cls in everything if issubclass(cls, nn.Criterion)]
    modules = [cls for cls in everything if issubclass(cls, nn.Module)]
    rest = [cls for cls in everything if cls not in criterions and cls not in modules]
    sections: list[tuple[str, ModuleType, list[type]]] = [
        ("Modules", nn, modules),
        ("Criterions", nn, criterions),
        ("Helpers", nn, rest),
        ("Recurrent nets, of the package rnn", nn, recurrent),
        ("cudnn", cudnn, classes(cudnn, "compat.cudnn")),
    ]
    lines = [INTRODUCTION]
    for title, namespace, listed in sections:
        if listed:
            lines += ["", f"## {title}", "", *_table(namespace, listed)]
    lines += ["", "## Functions", "", *_functions("nn.tables", nn.tables)]
    lines += _functions("nn.utils", nn.utils)
    differ = ["# Deliberate differences", ""]
    differ += ["Where a class of [modules](modules.md) differs from Torch7's on purpose.", ""]
    for _, namespace, listed in sections:
        for cls in listed:
            if differences(cls):
                differ.append(f"- `{_prefix(namespace)}.{cls.__name__}`: {differences(cls)}")
    return {"modules.md": "\n".join(lines) + "\n", "differences.md": "\n".join(differ) + "\n"}


if __name__ == "__main__":
    for file, text in pages().items():
        (DOCS / file).write_text(text)
