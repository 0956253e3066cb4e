"""Write columns of numbers to a text file, and draw them."""

from __future__ import annotations

import numbers
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import torch

from compat import t7
from compat.checks import listed
from compat.optim.reports.figure import new_figure
from compat.t7.base.atomic_file import atomic_file

Columns = Sequence[Any] | Mapping[Any, Any]

# gnuplot's names for ways to draw a curve, and how matplotlib says them.
STYLES: dict[str, dict[str, Any]] = {
    "-": {"linestyle": "-"},
    "+": {"linestyle": "", "marker": "+"},
    "+-": {"linestyle": "-", "marker": "+"},
    ".": {"linestyle": "", "marker": "."},
    "~": {"linestyle": "-"},
    "|": {"drawstyle": "steps-mid"},
}


@t7.register("optim.Logger")
class Logger:
    """A text file with a column for each logged quantity, Torch7's ``optim.Logger``.

    Columns are given by a list, in the order of ``setNames``, or by a dict. The first row of the
    file has the names; each call of ``add`` writes one row: numbers as ``%11.4e``, strings as they
    are, each followed by a tab.

    Args:
        filename: the file, which is overwritten; its folder is made if missing. None: standard
            output.
        timestamp: append the time to the file's name.

    Attributes:
        name: the name of the file.
        names, symbols, styles: names, values and styles, as lists or dicts like the columns.
        idx: the column of each name.
        showPlot, logscale, defaultStyle: settings of ``plot``.
        epsfile: None: ``plot`` writes no file.

    Differs from Torch7: the columns of a dict are written in its order, ``plot`` draws with
    matplotlib into ``<name>.png``, and a logger read from a ``.t7`` file goes on writing its file.
    """

    def __init__(self, filename: str | None = None, timestamp: bool = False) -> None:
        self.name = "stdout"
        self._path: Path | None = None
        self._file: TextIO | None = sys.stdout
        self.epsfile: str | None = None
        if filename is None:
            print("<Logger> warning: no path provided, logging to std out")
        else:
            self.name = str(filename)
            stamp = time.strftime("-%Y_%m_%d_%X") if timestamp else ""
            self._path = Path(self.name + stamp)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8", newline="\n")
            self.epsfile = self.name + ".eps"
        self.empty = True
        self.nsymbols = 0
        self.showPlot = True
        self.plotRawCmd: str | None = None
        self.defaultStyle = "+"
        self.logscale = False
        self._names: dict[Any, Any] = {}
        self._symbols: dict[Any, list[Any]] = {}
        self._styles: dict[Any, list[str]] = {}
        self._idx: dict[Any, Any] = {}

    @property
    def names(self) -> Any:
        return _as_table(self._names)

    @property
    def symbols(self) -> Any:
        return _as_table(self._symbols)

    @property
    def styles(self) -> Any:
        return _as_table(self._styles)

    @property
    def idx(self) -> Any:
        return _as_table(self._idx)

    def setNames(self, names: Columns) -> Logger:
        """Name the columns and write the header.

        Args:
            names: a list of the columns' names, in their order.
        """
        self._start(names, dict(_pairs(names)))
        self._idx = {name: key for key, name in self._names.items()}
        self._output().flush()
        return self

    def add(self, symbols: Columns) -> None:
        """Write a row; before the first row the header, if ``setNames`` was not called.

        Args:
            symbols: the values of a row, a list in the order of the columns.

        Raises:
            TypeError: a value is neither a number nor a string.
            ValueError: there are more values than columns. As in Torch7, they are in the file by
                then.
        """
        if self.empty:
            self._start(symbols, {key: key for key, _ in _pairs(symbols)})
            self._idx = self._names
        values = {key: _plain(value) for key, value in _pairs(symbols)}
        output = self._output()
        for key, value in values.items():
            if value is None:
                raise TypeError(
                    f"{key} is {dict(_pairs(symbols))[key]!r}; a number or a string is accepted"
                )
            output.write(f"{value}\t" if isinstance(value, str) else f"{value:11.4e}\t")
        output.write("\n")
        output.flush()
        for key, value in values.items():
            if key not in self._symbols:
                columns = listed([repr(name) for name in self._symbols], "and")
                raise ValueError(f"symbols has the column {key!r}; {columns} are accepted")
            self._symbols[key].append(value)

    def style(self, symbols: Columns) -> Logger:
        """Set how ``plot`` draws each column.

        Args:
            symbols: for each column one of gnuplot's style names (``-``, ``+``, ``+-``, ``.``,
                ``~``, ``|``), or a list of them.

        Raises:
            TypeError: a style is neither a string nor a list of strings.
        """
        styles = dict(_pairs(symbols))
        for style in styles.values():
            if not isinstance(style, (str, list, tuple)):
                raise TypeError(f"style is {style!r}; a string or a list of strings is accepted")
        for key, style in styles.items():
            self._styles[key] = [style] if isinstance(style, str) else list(style)
        return self

    def setlogscale(self, state: bool = True) -> None:
        """Set whether the vertical axis is logarithmic.

        Args:
            state: True for a logarithmic axis.
        """
        self.logscale = state

    def display(self, state: bool) -> None:
        """Set whether ``plot`` also shows the figure, if matplotlib is interactive.

        Args:
            state: True to show the figure. It is written to its file in any case.
        """
        self.showPlot = state

    def plot(self, *names: Any) -> None:
        """Draw the columns with these names, or all numeric ones, into ``<name>.png``.

        Args:
            names: columns, by their names.

        Raises:
            ImportError: matplotlib is not installed.
            ValueError: there is no such column, it is not of numbers, or it has an unknown style.
        """
        if self.plotRawCmd:
            raise ValueError(
                f"plotRawCmd is {self.plotRawCmd!r}, commands of gnuplot; None is accepted: "
                "matplotlib draws"
            )
        for name in names:
            if name not in self._idx:
                columns = listed([repr(name) for name in self._idx])
                raise ValueError(f"the column is {name!r}; {columns} is accepted")
        keys = [self._idx[name] for name in names] or [
            key for key, values in self._symbols.items() if not any(map(_is_string, values))
        ]
        curves = []
        for key in keys:
            values = self._symbols[key]
            if any(map(_is_string, values)):
                raise ValueError(
                    f"column {self._names[key]!r} has strings; one of numbers is accepted"
                )
            for style in self._styles[key]:
                if style not in STYLES:
                    accepted = listed([repr(name) for name in STYLES])
                    raise ValueError(f"style is {style!r}; {accepted} is accepted")
                if len(values) > 1:
                    curves.append((str(self._names[key]), values, STYLES[style]))
        if not curves:
            return
        figure = new_figure(640, 480)
        self._draw(figure.add_subplot(), curves)
        if self.epsfile:
            with atomic_file(f"{self.name}.png") as file:
                figure.savefig(file, format="png")
        if self.showPlot:
            self._show(curves)

    def _draw(self, axes: Any, curves: list[tuple[str, list[float], dict[str, Any]]]) -> None:
        for name, values, style in curves:
            axes.plot(range(1, len(values) + 1), values, label=name, **style)
        if self.logscale:
            axes.set_yscale("log")
        axes.grid(True)
        axes.set_title(f"<Logger::{self.name}>")
        axes.legend()

    def _show(self, curves: list[tuple[str, list[float], dict[str, Any]]]) -> None:
        from matplotlib import is_interactive

        if is_interactive():
            from matplotlib import pyplot

            figure = pyplot.figure(self.name)
            figure.clear()
            self._draw(figure.add_subplot(), curves)
            figure.canvas.draw_idle()
            pyplot.pause(0.001)

    def _start(self, columns: Columns, names: dict[Any, Any]) -> None:
        """Set the columns and write the header."""
        self.empty = False
        self.nsymbols = 0 if isinstance(columns, Mapping) else len(columns)
        self._names = names
        for key, name in names.items():
            self._symbols[key] = []
            self._styles[key] = [self.defaultStyle]
            self._output().write(f"{name}\t")
        self._output().write("\n")

    def _output(self) -> TextIO:
        if self._file is None:
            if self._path is None:
                self._file = sys.stdout
            else:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("a", encoding="utf-8", newline="\n")
        return self._file

    def t7_fields(self) -> dict[str, Any]:
        """Return the fields for a file, which cannot hold an open file."""
        fields = {key: value for key, value in vars(self).items() if not key.startswith("_")}
        tables = {"names": self._names, "symbols": self._symbols, "styles": self._styles}
        return {**fields, **tables, "idx": self._idx}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        """Restore the fields of a file."""
        del version
        defaults = {"plotRawCmd": None, "epsfile": None, "nsymbols": 0, "logscale": False}
        for key, value in {**defaults, "showPlot": True, "defaultStyle": "+", **fields}.items():
            table = key in ("names", "symbols", "styles", "idx")
            if table:
                t7.claim(entries=len(value))
            setattr(self, f"_{key}" if table else key, dict(_pairs(value)) if table else value)
        self._symbols = {key: list(values or []) for key, values in self._symbols.items()}
        self._path = None if self.epsfile is None else Path(self.name)
        self._file = None


def _pairs(columns: Columns) -> Any:
    """Return the keys and values that Lua would see: lists count from 1."""
    return columns.items() if isinstance(columns, Mapping) else enumerate(columns, 1)


def _as_table(columns: dict[Any, Any]) -> Any:
    """Return a list if the keys are 1, 2, 3, …, else the dict."""
    whole = bool(columns) and list(columns) == list(range(1, len(columns) + 1))
    return list(columns.values()) if whole else columns


def _plain(value: Any) -> float | str | None:
    """Return a number or a string, None for anything else."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return value.item()
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return value if isinstance(value, str) or is_number else None


def _is_string(value: Any) -> bool:
    return isinstance(value, str)
