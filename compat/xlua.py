"""Torch7's ``xlua``: the progress bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tqdm import tqdm

from compat.hints import answers

__all__ = ["progress"]

# The rest of Torch7's package.
_HINTS = {
    **dict.fromkeys(("tic", "toc"), "use torch7.tic() and torch7.toc(start)"),
    "OptionParser": "use torch7.CmdLine(), or argparse",
    "Profiler": "use torch7.Timer() or torch.profiler",
    "clear": "use del",
    "clearall": "use del",
    "envparams": "use os.environ",
    "error": "raise an exception",
    "formatTime": "use str(datetime.timedelta(seconds=s))",
    "installed": "use importlib.util.find_spec(name)",
    "log": "use logging, or optim.Logger",
    "print": "use pprint.pprint(x)",
    "require": "use import",
    "table2string": "use pprint.pformat(x)",
    "trycatch": "use try and except",
    "unpack": "use Python's arguments with defaults",
    "unpack_class": "use Python's arguments with defaults",
    "usage": "write a docstring; help(f) shows it",
    "usage_module": "write a docstring; help(module) shows it",
    "who": "use dir()",
}

_bar: tqdm | None = None


def progress(current: float, goal: float) -> None:
    """Show that ``current`` of ``goal`` steps are done, on standard error (drawn by tqdm).

    The bar ends when the goal is reached; a smaller ``current`` or another ``goal`` begins a new
    one.

    Args:
        current: how many steps are done.
        goal: how many there are.
    """
    global _bar
    if _bar is not None and (current < _bar.n or goal != _bar.total):
        _bar.close()
        _bar = None
    if _bar is None:
        _bar = tqdm(total=goal)
    _bar.update(current - _bar.n)
    if current >= goal:
        _bar.close()
        _bar = None


__path__: list[str] = []  # for HintsOfImports

if not TYPE_CHECKING:
    __getattr__ = answers(__name__, "xlua", _HINTS, __all__)
