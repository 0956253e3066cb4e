"""Images from .t7 files, from folders or made up, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transforms
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, Sampler, TensorDataset

from compat import random, t7
from compat.cmdline import Options
from dptable import data as t7_data

EXTENSIONS = {".jpg", ".jpeg", ".png", ".ppm", ".bmp"}

Split = tuple[Tensor, Tensor]


class Loaders(NamedTuple):
    """Batches of images and labels (from 1), the number of classes and the images' size."""

    train: DataLoader[Any]
    val: DataLoader[Any]
    classes: int
    size: tuple[int, int, int]


class Order(Sampler[int]):
    """The images of each epoch in the order that Lua's program has, by Torch7's generator.

    Field: ``begin``, how many to leave out of the next epoch, because they were there before an
    interruption.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.begin = 0

    def __len__(self) -> int:
        return self.count - self.begin

    def __iter__(self) -> Iterator[int]:
        begin, self.begin = self.begin, 0
        yield from (random.randperm(self.count).long() - 1)[begin:].tolist()


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


class Folder(Dataset[tuple[Tensor, int]]):
    """The images of ``folder/CLASS/`` and their labels, after ``transform``.

    Fields: ``classes``, the names, sorted; ``files``, pairs of a path and a label from 1.
    """

    def __init__(self, folder: Path, transform: transforms.Transform | None = None) -> None:
        self.classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
        self.files = [
            (path, label)
            for label, name in enumerate(self.classes, 1)
            for path in sorted((folder / name).iterdir())
            if path.suffix.lower() in EXTENSIONS
        ]
        if not self.files:
            raise FileNotFoundError(f"{folder}: there are no images in folders in it")
        self.transform = transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        path, label = self.files[index]
        image = _read(path)
        return image if self.transform is None else self.transform(image), label


def _read(path: Path) -> Tensor:
    """An image file, 3×H×W with values from 0 to 1."""
    from PIL import Image

    with Image.open(path) as file:
        image = file.convert("RGB")
    values = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return values.view(image.height, image.width, 3).permute(2, 0, 1).float() / 255


def create(opt: Options) -> Loaders:
    """The batches of what ``opt.data`` or ``opt.synthetic`` name."""
    path = Path(opt.data)
    if opt.synthetic:
        return _from_tensors(opt, *synthetic(), augment=False)
    if (path / "train").is_dir():
        return _from_folders(opt, path)
    if opt.tenCrop:
        raise ValueError("--tenCrop is for folders of images, which are larger than what is tested")
    if opt.dataset == "imagenet":
        raise FileNotFoundError(f"{path}: train/ and val/ are not in this folder")
    if path.is_dir():
        return _from_tensors(opt, *cifar(path), augment=not opt.plain)
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


def cifar(folder: Path) -> tuple[Split, Split]:
    """The images of CIFAR-10's or CIFAR-100's .t7 files, to train on and to test on.

    The ascii files for Torch7 hold an image per column, and labels from 0.
    """
    batches = sorted(folder.glob("data_batch_*.t7")) or sorted(folder.glob("train.t7"))
    tests = [file for name in ("test_batch.t7", "test.t7") if (file := folder / name).is_file()]
    if not batches or not tests:
        raise FileNotFoundError(
            f"{folder}: neither train/ nor data_batch_*.t7 nor train.t7 is in this folder"
        )

    def read(files: list[Path]) -> Split:
        tables = [t7.load(file) for file in files]
        data = torch.cat([table["data"].t().reshape(-1, 3, 32, 32) for table in tables])
        return data, torch.cat([table["labels"].flatten() for table in tables]).long() + 1

    return read(batches), read(tests[:1])


def _from_folders(opt: Options, path: Path) -> Loaders:
    """``train/CLASS/*.jpg`` and ``val/CLASS/*.jpg``."""
    try:
        import PIL  # noqa: F401  # each image needs it; say so once
    except ImportError as error:
        raise ImportError("folders of images need Pillow: pip install pillow") from error
    size = opt.imageSize
    train, val = Folder(path / "train"), Folder(path / "val")
    if train.classes != val.classes:
        raise ValueError(f"{path}: the classes in train/ are not those in val/")
    if opt.tenCrop or opt.dataset == "imagenet":
        val.transform = transforms.imagenet_test(size, 10 if opt.tenCrop else 1)
    else:
        val.transform = transforms.compose(transforms.scale(size), transforms.center_crop(size))
    if opt.dataset == "imagenet":
        train.transform = transforms.imagenet_training(size)
        pairs: tuple[Dataset[Any], Dataset[Any]] = train, val
    else:
        train.transform = transforms.compose(transforms.scale(size), transforms.center_crop(size))
        known = transforms.MEAN, transforms.STD
        pairs = (
            Images(train, *known, augment=not opt.plain),
            val if opt.tenCrop else Images(val, *known, augment=False),
        )
    return _loaders(opt, *pairs, len(train.classes), (3, size, size))


def _from_tensors(opt: Options, train: Split, val: Split, augment: bool) -> Loaders:
    images, labels = train
    channels = images.transpose(0, 1)
    mean = [channel.float().mean().item() for channel in channels]
    std = [max(channel.float().std().item(), 1e-6) for channel in channels]
    _, depth, height, width = images.shape
    return _loaders(
        opt,
        Images(TensorDataset(*train), mean, std, augment),
        Images(TensorDataset(*val), mean, std, False),
        int(labels.max()),
        (depth, height, width),
    )


def _loaders(
    opt: Options,
    train: Dataset[Any],
    val: Dataset[Any],
    classes: int,
    size: tuple[int, int, int],
) -> Loaders:
    crops = 10 if opt.tenCrop else 1
    return Loaders(
        _batches(opt, train, opt.batchSize),
        _batches(opt, val, max(1, opt.batchSize // crops)),
        classes,
        size,
    )


def _batches(opt: Options, images: Any, size: int) -> DataLoader[Any]:
    return DataLoader(
        images,
        size,
        sampler=Order(len(images)),
        num_workers=opt.nThreads,
        persistent_workers=opt.nThreads > 0,
        pin_memory=torch.cuda.is_available(),
    )
