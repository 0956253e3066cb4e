"""Image data sets in ``.t7`` files, and the handwritten digits that come with the package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from compat import t7
from compat.checks import given

DIGITS = Path(__file__).with_name("digits.t7")


@dataclass(frozen=True)
class Split:
    """Images (float, N×C×H×W) and their classes (long, N, counted from 1)."""

    data: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Dataset:
    """Images to train on and images to test on, of one size and one set of classes."""

    train: Split
    test: Split
    classes: int

    @property
    def size(self) -> tuple[int, int, int]:
        """The channels, height and width of every image."""
        channels, height, width = self.train.data.shape[1:]
        return channels, height, width

    def normalized(self) -> Dataset:
        """Return the images scaled: each channel has mean 0 and std 1 over the training images."""
        mean = self.train.data.mean((0, 2, 3), keepdim=True)
        std = self.train.data.std((0, 2, 3), keepdim=True).clamp_min(1e-6)
        train, test = (
            Split((split.data - mean) / std, split.labels) for split in (self.train, self.test)
        )
        return Dataset(train, test, self.classes)


def load(
    path: str | os.PathLike[str] | None = None,
    *,
    zero_based: bool = False,
    test_fraction: float = 0.2,
) -> Dataset:
    """Read a data set from a ``.t7`` file.

    The file holds a table ``{data, labels}`` or ``{train = {data, labels}, test = {data,
    labels}}``; ``val`` and ``label`` are read as ``test`` and ``labels``. ``data`` is N×H×W or
    N×C×H×W of any type, ``labels`` are N classes 1…K. Image size and class count come from the
    file.

    Args:
        path: the file; default: the 1,797 UCI digits of 8×8 pixels that come with the package.
        zero_based: the file's labels are 0…K-1, as in the CIFAR files. 1 is added to each.
        test_fraction: the share of every class that is kept for testing if the file has no
            ``test``. The choice is the same each time.

    Raises:
        ValueError: the file holds something else; the message names the file and the field.

    Examples:
        >>> digits = load()
        >>> digits.size, digits.classes, len(digits.train), len(digits.test)
        ((1, 8, 8), 10, 1442, 355)
    """
    if not 0 < test_fraction < 1:
        raise ValueError(f"test_fraction is {test_fraction}; 0 < test_fraction < 1 is accepted")
    source = DIGITS if path is None else Path(path)
    before = _state(source)
    table = t7.load(source, plain=True)
    if _state(source) != before:
        raise ValueError(f"{source} changed while it was read; a file that stays is accepted")
    if not isinstance(table, Mapping):
        raise ValueError(f"{source} holds {given(table)}; a table {{data, labels}} is accepted")

    if "train" in table:
        train = _split(source, "train.", table["train"], zero_based)
        held_out = _field(source, "", table, "test", "val")
        test = _split(source, "test.", held_out, zero_based)
        if train.data.shape[1:] != test.data.shape[1:]:
            raise ValueError(
                f"{source}: training images are {_by(train.data.shape[1:])}, test images are "
                f"{_by(test.data.shape[1:])}; images of one size are accepted"
            )
    else:
        train, test = _divide(_split(source, "", table, zero_based), test_fraction)
        if not len(train) or not len(test):
            raise ValueError(
                f"{source} has {len(train) + len(test)} images; enough of each class to keep some "
                "for testing are accepted"
            )
    classes = int(max(train.labels.max(), test.labels.max()))
    return Dataset(train, test, classes)


def _state(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is rewritten or replaced: the key of the cache."""
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _by(shape: torch.Size) -> str:
    return "x".join(map(str, shape))


def _field(source: Path, prefix: str, table: Mapping[Any, Any], name: str, alias: str) -> Any:
    for key in (name, alias):
        if key in table:
            return table[key]
    found = ", ".join(map(str, table)) or "nothing"
    raise ValueError(
        f"{source} has no field {prefix}{name}, only {found}; a table {{data, labels}} is accepted"
    )


def _split(source: Path, prefix: str, table: Any, zero_based: bool) -> Split:
    """Return the checked ``{data, labels}`` of a table; ``prefix`` is its place in the file."""
    if not isinstance(table, Mapping):
        place = f"{source}: {prefix.rstrip('.')}"
        raise ValueError(f"{place} is {given(table)}; a table {{data, labels}} is accepted")
    data = _field(source, prefix, table, "data", "data")
    labels = _field(source, prefix, table, "labels", "label")
    for name, value in (("data", data), ("labels", labels)):
        if not isinstance(value, Tensor):
            raise ValueError(f"{source}: {prefix}{name} is {given(value)}; a tensor is accepted")
    if data.dim() not in (3, 4) or not data.numel():
        raise ValueError(
            f"{source}: {prefix}data is {_by(data.shape) or 'empty'}; NxHxW or NxCxHxW is accepted"
        )
    if labels.numel() != len(data):
        raise ValueError(
            f"{source}: {prefix}data has {len(data)} images, {prefix}labels has {labels.numel()} "
            "entries; as many are accepted"
        )

    classes = labels.flatten().long()
    if not torch.equal(classes.to(labels.dtype), labels.flatten()):
        raise ValueError(f"{source}: {prefix}labels has fractions; whole numbers are accepted")
    if zero_based:
        classes = classes + 1
    if (lowest := int(classes.min())) < 1:
        advice = (
            "; to add 1 to each, give zero_based=True (dptable train: --labels-from-zero)"
            if lowest == 0 and not zero_based
            else ""
        )
        raise ValueError(
            f"{source}: {prefix}labels has {int(labels.min())}; numbers from "
            f"{int(not zero_based)} on are accepted{'' if zero_based else ', as in Torch7'}{advice}"
        )
    images = data.float()
    if data.is_floating_point() and not images.isfinite().all():
        raise ValueError(
            f"{source}: {prefix}data has numbers that are NaN or infinite; finite ones are accepted"
        )
    return Split(images.unsqueeze(1) if images.dim() == 3 else images, classes)


def _divide(whole: Split, test_fraction: float) -> tuple[Split, Split]:
    """Hold out evenly spread images of each class; the same ones every time."""
    held_out = torch.zeros(len(whole), dtype=torch.bool)
    for label in whole.labels.unique():
        members = (whole.labels == label).nonzero().flatten()
        steps = (torch.arange(len(members) + 1, dtype=torch.float64) * test_fraction).floor()
        held_out[members] = steps.diff() > 0
    train, test = (
        Split(whole.data[chosen], whole.labels[chosen]) for chosen in (~held_out, held_out)
    )
    return train, test
