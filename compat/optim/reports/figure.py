"""Draw with matplotlib, if it is installed."""

from __future__ import annotations

from typing import Any

DPI = 100


def new_figure(width: int, height: int) -> Any:
    """Return a matplotlib figure of a size in pixels, which needs no screen.

    Raises:
        ImportError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib: pip install matplotlib, or dptable[plot]"
        ) from error
    figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI)
    FigureCanvasAgg(figure)
    return figure
