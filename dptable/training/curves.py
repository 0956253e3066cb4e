"""Plot the curves of a training run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from compat.optim.reports.figure import new_figure
from compat.t7.base.atomic_file import atomic_file


def plot(history: Sequence[Mapping[str, float]], path: Path) -> None:
    """Draw loss and accuracy over the epochs into a PNG file.

    Args:
        history: one table per epoch with ``trainLoss``, ``testLoss``, and ``trainAccuracy``,
            ``testAccuracy`` in per cent.
        path: the file to write.

    Raises:
        ImportError: matplotlib is not installed.
    """
    figure = new_figure(900, 350)
    figure.set_layout_engine("constrained")
    epochs = range(1, len(history) + 1)
    panels = zip(figure.subplots(1, 2), ("Loss", "Accuracy"), ("loss", "accuracy (%)"), strict=True)
    for axes, quantity, label in panels:
        for part in ("train", "test"):
            values = [row[part + quantity] for row in history]
            axes.plot(epochs, values, marker=".", label=part)
        axes.set(xlabel="epoch", ylabel=label)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
        axes.legend()
    with atomic_file(path) as file:
        figure.savefig(file, format="png")
