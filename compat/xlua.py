"""Torch7's ``xlua``: the progress bar."""

from __future__ import annotations

from tqdm import tqdm

_bar: tqdm | None = None


def progress(current: float, goal: float) -> None:
    """Show that ``current`` of ``goal`` steps are done, on standard error (drawn by tqdm).

    The bar ends when the goal is reached; a smaller ``current`` or another ``goal`` begins a new
    one.
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
