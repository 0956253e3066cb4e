"""Count predicted against true classes."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from compat import t7
from compat.checks import check_choice
from compat.optim.reports.figure import new_figure
from compat.t7.base.atomic_file import atomic_file

Label = float | torch.Tensor
Labels = torch.Tensor | Sequence[Any]

LEGENDS = {
    "score": "Confusion matrix [sorted by scores, global accuracy = {:.3f}%, "
    "per-class accuracy = {:.3f}%]",
    "occurrence": "Confusion matrix [sorted by occurrences, accuracy = {:.3f}%, "
    "per-class accuracy = {:.3f}%]",
}


@t7.register("optim.ConfusionMatrix")
class ConfusionMatrix:
    """Counts of predicted against true classes, Torch7's ``optim.ConfusionMatrix``.

    Classes count from 1. A target of 0 or less is missing: its prediction is not counted.

    Args:
        nclasses: the number of classes, or their names.
        classes: their names, if ``nclasses`` is the number.

    Attributes:
        mat: counts, int64, with a row per target and a column per prediction.
        valids: the share of each class that was recognised, float32, after ``updateValids()``.
        unionvalids: the intersection over union of each class, float32, after ``updateValids()``.
        averageValid, averageUnionValid: their means over the classes that occurred.
        totalValid: the share of all samples that was recognised.
        nclasses, classes: the arguments.

    Differs from Torch7: a batch whose targets are all missing counts nothing, and a class outside
    1..nclasses is always an error.

    Examples:
        >>> confusion = ConfusionMatrix(2)
        >>> confusion.batchAdd(torch.tensor([1, 2, 2]), torch.tensor([1, 1, 2]))
        >>> confusion.updateValids()
        >>> confusion.mat.tolist(), round(confusion.totalValid, 3)
        ([[1, 1], [0, 1]], 0.667)
    """

    def __init__(self, nclasses: int | Sequence[str], classes: Sequence[str] | None = None) -> None:
        if isinstance(nclasses, Sequence) and not isinstance(nclasses, str):
            classes, nclasses = nclasses, len(nclasses)
        if not isinstance(nclasses, int) or nclasses < 1:
            raise ValueError(
                f"nclasses is {nclasses!r}; a number of classes from 1 on, or their names, is "
                "accepted"
            )
        self.nclasses = nclasses
        self.classes = list(classes or [])
        self.mat = torch.zeros(nclasses, nclasses, dtype=torch.int64)
        self.valids = torch.zeros(nclasses)
        self.unionvalids = torch.zeros(nclasses)
        self.totalValid = 0.0
        self.averageValid = 0.0
        self.averageUnionValid = 0.0

    def add(self, prediction: Label, target: Label) -> None:
        """Count one sample.

        Args:
            prediction: a class, or a vector of scores whose largest entry is the class.
            target: a class, or a one-hot vector.
        """
        predictions, targets = _as_row(prediction), _as_row(target)
        self.batchAdd(predictions, targets)

    def batchAdd(self, predictions: Labels, targets: Labels) -> None:
        """Count a batch.

        Args:
            predictions: a vector of classes, a column of classes, or a row of scores per sample.
            targets: a vector of classes, a column of classes, or a one-hot row per sample.
        """
        found, wanted = _classes("predictions", predictions), _classes("targets", targets)
        if len(found) != len(wanted):
            raise ValueError(
                f"predictions has {len(found)} entries, targets has {len(wanted)}; as many are "
                "accepted"
            )
        there = wanted > 0
        found, wanted = found[there], wanted[there]
        for name, labels in (("predictions", found), ("targets", wanted)):
            if len(labels) and not 1 <= labels.min() <= labels.max() <= self.nclasses:
                raise ValueError(
                    f"{name} has classes from {labels.min()} to {labels.max()}; 1 to "
                    f"{self.nclasses} are accepted"
                )
        cells = (wanted - 1) * self.nclasses + found - 1
        counts = torch.bincount(cells, minlength=self.nclasses**2)
        self.mat += counts.view_as(self.mat).to(self.mat.dtype)

    def zero(self) -> None:
        """Set all counts to zero."""
        self.mat.zero_()
        self.valids.zero_()
        self.unionvalids.zero_()
        self.totalValid = self.averageValid = self.averageUnionValid = 0.0

    def updateValids(self) -> None:
        """Compute the scores from the counts."""
        counts = self.mat.double()
        right, targets, predictions = counts.diagonal(), counts.sum(1), counts.sum(0)
        self.valids = (right / targets).float()
        self.unionvalids = (right / (targets + predictions - right)).float()
        self.totalValid = float(right.sum() / counts.sum())
        occurred = ~self.valids.isnan()
        self.averageValid = _mean(self.valids[occurred])
        self.averageUnionValid = _mean(self.unionvalids[occurred & ~self.unionvalids.isnan()])

    def farFrr(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return false rejection and false acceptance rates as double vectors.

        Returns:
            Rejection and acceptance by class, -1 for classes that did not occur; then both without
            those classes.
        """
        counts = self.mat.double()
        targets = counts.sum(1)
        there = targets > 0
        rates = counts[there] / targets[there].unsqueeze(1)
        right = rates[:, there].diagonal()
        frrs = 1 - right
        fars = (rates[:, there].sum(0) - right) / (len(rates) - 1)
        by_class = torch.full((2, self.nclasses), -1.0, dtype=torch.float64)
        by_class[:, there] = torch.stack([frrs, fars])
        return by_class[0], by_class[1], frrs, fars

    def __str__(self) -> str:
        self.updateValids()
        largest = int(self.mat.max())
        width = max(8, 1 + math.ceil(math.log10(largest))) if largest else 8
        lines = []
        for t, row in enumerate(self.mat.tolist()):
            cells = "".join(f"{int(count):{width}d}" for count in row)
            closing = "]] " if t == self.nclasses - 1 else "]  "
            name = f"\t[class: {self._name(t)}]" if self.classes else ""
            share = f"{float(self.valids[t]) * 100:.3f}"
            lines.append(f"{'[[' if t == 0 else ' ['}{cells}{closing} {share}% {name}\n")
        return (
            "ConfusionMatrix:\n"
            + "".join(lines)
            + f" + average row correct: {self.averageValid * 100:.14g}% \n"
            + " + average rowUcol correct (VOC measure): "
            + f"{self.averageUnionValid * 100:.14g}% \n"
            + f" + global correct: {self.totalValid * 100:.14g}%"
        )

    def render(
        self,
        sortmode: str = "score",
        display: bool = False,
        block: int = 25,
        legendwidth: int = 200,
        filename: str | os.PathLike[str] | None = None,
    ) -> torch.Tensor:
        """Draw the matrix, each row divided by its sum, with the scores and a legend.

        Args:
            sortmode: order the classes by ``"score"`` or by ``"occurrence"``.
            display: show the picture in a window.
            block: the size of a cell in pixels.
            legendwidth: the width of the legend in pixels.
            filename: where to write the picture, as PNG.

        Returns:
            The picture, 3 × height × width, float32 from 0 to 1.

        Raises:
            ImportError: matplotlib is missing.
        """
        check_choice(sortmode, "sortmode", LEGENDS)
        counts = self.mat.double()
        totals = counts.sum(1)
        shares = counts / totals.clamp(min=1).unsqueeze(1)
        right = shares.diagonal()
        frequencies = totals / counts.sum()
        by = right if sortmode == "score" else frequencies
        order = by.sort(descending=True, stable=True).indices
        shares, right, frequencies = shares[order][:, order], right[order], frequencies[order]

        side = block * self.nclasses
        width = side + legendwidth
        figure = new_figure(width, side)
        axes = figure.add_axes((0, 0, 1, 1), facecolor="black")
        axes.imshow(
            shares.numpy(), extent=(0, side, side, 0), cmap="gray", vmin=0, vmax=1, aspect="auto"
        )
        axes.set(xlim=(0, width), ylim=(side, 0), xticks=[], yticks=[])
        axes.hlines([block * i for i in range(self.nclasses + 1)], 0, side, "0.1")
        axes.vlines([block * i for i in range(self.nclasses + 1)], 0, side, "0.1")
        size = min(block, legendwidth / 8) * 0.35
        for row in range(self.nclasses):
            y = (row + 0.5) * block
            for column in range(self.nclasses):
                share = float(shares[row, column])
                axes.text(
                    (column + 0.5) * block,
                    y,
                    f"{share * 100:02.0f}",
                    color=str((1 - share) * (share * 0.8 + 0.2)),
                    ha="center",
                    va="center",
                    fontsize=size,
                )
            axes.text(
                side + 10,
                y,
                f"[{float(frequencies[row]) * 100:.2f}% labels]",
                color="lightsteelblue",
                va="center",
                fontsize=size,
            )
            axes.text(
                side + 10 + 0.55 * legendwidth,
                y,
                self._name(int(order[row])),
                color=str(float(right[row]) * 0.8 + 0.2),
                va="center",
                fontsize=size,
            )
        if filename is not None:
            with atomic_file(filename) as file:
                figure.savefig(file, format="png", dpi=figure.dpi)
        figure.canvas.draw()
        picture = torch.from_numpy(np.array(figure.canvas.buffer_rgba()))[..., :3].permute(2, 0, 1)
        if display:
            occurred = right[totals[order] > 0]
            accuracy = 100 * float(counts.diagonal().sum() / counts.sum())
            self._show(picture, LEGENDS[sortmode].format(accuracy, 100 * _mean(occurred)))
        return picture.float() / 255

    @staticmethod
    def _show(picture: torch.Tensor, title: str) -> None:
        from matplotlib import pyplot

        pyplot.imshow(picture.permute(1, 2, 0).numpy())
        pyplot.title(title)
        pyplot.axis("off")
        pyplot.show()

    def _name(self, index: int) -> str:
        """Return the name of a class, counted from 0; its number if no class has a name."""
        if not self.classes:
            return str(index + 1)
        return str(self.classes[index]) if index < len(self.classes) else ""

    def t7_fields(self) -> dict[str, Any]:
        """Return the fields for a file, with the buffers that Torch7 expects there."""
        floats = {key: torch.empty(0) for key in ("_target", "_prediction", "_max")}
        longs = {key: torch.empty(0, dtype=torch.int64) for key in ("_pred_idx", "_targ_idx")}
        return {**vars(self), "_mat_flat": self.mat.view(-1), **floats, **longs}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        """Restore the fields of a file, except the buffers."""
        del version
        count, names = int(fields["nclasses"]), fields.get("classes") or []
        t7.claim(torch.int64.itemsize * count * count, entries=len(names))
        self.__init__(count, list(names))  # type: ignore[misc]
        known = vars(self).keys() - {"nclasses", "classes"}
        self.__dict__.update({key: fields[key] for key in known if key in fields})


def _as_row(label: Label) -> torch.Tensor:
    """Return one class as a vector of one, or scores as a matrix of one row."""
    row = torch.as_tensor(label)
    if row.dim() > 1:
        raise ValueError(f"a sample has size {tuple(row.shape)}; a class or a vector is accepted")
    return row.view(1) if row.dim() == 0 else row.unsqueeze(0)


def _classes(name: str, labels: Labels) -> torch.Tensor:
    """Return the classes, from 1, of a batch of classes or of scores."""
    labels = torch.as_tensor(labels)
    if labels.dim() not in (1, 2):
        raise ValueError(f"{name} has {labels.dim()} dimensions; 1 or 2 are accepted")
    if labels.dim() == 1 or labels.shape[1] == 1:
        classes = labels.reshape(-1)
    else:
        # Torch7 compares scores as floats.
        classes = labels.float().argmax(1) + 1
    return classes.to("cpu", torch.int64)


def _mean(values: torch.Tensor) -> float:
    """Return the mean, added up one by one as in Torch7; nan for no values."""
    total = 0.0
    for value in values.tolist():
        total += value
    return total / len(values) if len(values) else math.nan
