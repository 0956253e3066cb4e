"""Images from .t7 files, from folders or made up, in batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, TensorDataset

from compat import t7
from compat.cmdline import Options
from dptable import data as t7_data

# Of ImageNet's colours, from 0 to 255, where the images are too many to measure.
MEAN = (123.7, 116.3, 103.5)
STD = (58.4, 57.1, 57.4)

Split = tuple[Tensor, Tensor]


class Loaders(NamedTuple):
    """Batches of images and labels (from 1), the number of classes and the images' size."""

    train: DataLoader[Any]
    val: DataLoader[Any]
    classes: int
    size: tuple[int, int, int]


class Images(Dataset[tuple[Tensor, int]]):
    """Pairs of an image (C×H×W) and its label, the image normalised by channel.

    With ``augment`` it is mirrored and shifted by up to 4 pixels at random.
    """

    def __init__(
        self, pairs: Any, mean: Sequence[float], std: Sequence[float], augment: bool
    ) -> None:
        self.pairs = pairs
        self.mean, self.std = (torch.tensor(values).view(-1, 1, 1) for values in (mean, std))
        self.augment = augment

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        image, label = self.pairs[index]
        image = (image.float() - self.mean) / self.std
        if self.augment:
            height, width = image.shape[1:]
            top, left, mirror = (int(torch.randint(n, ())) for n in (9, 9, 2))
            padded = functional.pad(image, (4, 4, 4, 4))
            image = padded[:, top : top + height, left : left + width]
            image = image.flip(2) if mirror else image
        return image, int(label)


def create(opt: Options) -> Loaders:
    """The batches of what ``opt.data`` or ``opt.synthetic`` name."""
    path = Path(opt.data)
    if opt.synthetic:
        return _from_tensors(opt, *synthetic(), augment=False)
    if (path / "train").is_dir():
        return _from_folders(opt, path)
    if path.is_dir():
        return _from_tensors(opt, *cifar10(path), augment=not opt.plain)
    read = t7_data.load(path, zero_based=opt.labelsFromZero)
    train, test = ((split.data, split.labels) for split in (read.train, read.test))
    return _from_tensors(opt, train, test, augment=not opt.plain)


def synthetic(seed: int = 0) -> tuple[Split, Split]:
    """Noisy copies of four patterns, 3x16x16: 400 to train on, 100 to test on."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(500) % 4 + 1
    patterns = torch.randn(4, 3, 16, 16, generator=generator)
    images = patterns[labels - 1] + torch.randn(500, 3, 16, 16, generator=generator)
    return (images[:400], labels[:400]), (images[400:], labels[400:])


def cifar10(folder: Path) -> tuple[Split, Split]:
    """The images of ``data_batch_1.t7`` and so on, and those of ``test_batch.t7``.

    These ascii files of CIFAR-10 for Torch7 hold an image per column, and labels from 0.
    """
    batches = sorted(folder.glob("data_batch_*.t7"))
    if not batches:
        raise FileNotFoundError(f"{folder}: neither train/ nor data_batch_*.t7 is in this folder")

    def read(files: list[Path]) -> Split:
        tables = [t7.load(file) for file in files]
        data = torch.cat([table["data"].t().reshape(-1, 3, 32, 32) for table in tables])
        return data, torch.cat([table["labels"].flatten() for table in tables]).long() + 1

    return read(batches), read([folder / "test_batch.t7"])


def from_zero(label: int) -> int:
    """The label that Torch7 gives the class that torchvision counts from 0."""
    return label + 1


def _from_folders(opt: Options, path: Path) -> Loaders:
    """``train/CLASS/*.jpg`` and ``val/CLASS/*.jpg``."""
    try:
        from torchvision import datasets, transforms
    except ImportError as error:
        raise ImportError("folders of images need torchvision: pip install torchvision") from error
    scale = transforms.Compose(
        [
            transforms.Resize(opt.imageSize),
            transforms.CenterCrop(opt.imageSize),
            transforms.PILToTensor(),
        ]
    )
    train, val = (
        datasets.ImageFolder(path / part, scale, target_transform=from_zero)
        for part in ("train", "val")
    )
    if train.classes != val.classes:
        raise ValueError(f"{path}: the classes in train/ are not those in val/")
    return Loaders(
        _batches(opt, Images(train, MEAN, STD, not opt.plain), shuffle=True),
        _batches(opt, Images(val, MEAN, STD, False), shuffle=False),
        len(train.classes),
        (3, opt.imageSize, opt.imageSize),
    )


def _from_tensors(opt: Options, train: Split, val: Split, augment: bool) -> Loaders:
    images, labels = train
    channels = images.transpose(0, 1)
    mean = [channel.float().mean().item() for channel in channels]
    std = [max(channel.float().std().item(), 1e-6) for channel in channels]
    _, depth, height, width = images.shape
    return Loaders(
        _batches(opt, Images(TensorDataset(*train), mean, std, augment), shuffle=True),
        _batches(opt, Images(TensorDataset(*val), mean, std, False), shuffle=False),
        int(labels.max()),
        (depth, height, width),
    )


def _batches(opt: Options, images: Images, shuffle: bool) -> DataLoader[Any]:
    return DataLoader(
        images,
        opt.batchSize,
        shuffle=shuffle,
        num_workers=opt.nThreads,
        persistent_workers=opt.nThreads > 0,
        pin_memory=torch.cuda.is_available(),
    )
