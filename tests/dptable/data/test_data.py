"""Data sets in .t7 files."""

from __future__ import annotations

import math
import os

import pytest
import torch

from compat import t7
from dptable import data


@pytest.fixture
def saved(tmp_path):
    def save(table):
        path = tmp_path / "set.t7"
        t7.save(path, table)
        return path

    return save


def images(n, *size):
    return torch.arange(n, dtype=torch.uint8).view(n, *[1] * len(size)).expand(n, *size).clone()


def labels(n, classes=3):
    return (torch.arange(n) % classes + 1).to(torch.uint8)


def test_digits_are_the_1797_of_uci():
    digits = data.load()
    assert len(digits.train) + len(digits.test) == 1797
    assert digits.size == (1, 8, 8)
    assert digits.classes == 10
    assert digits.train.data.dtype == torch.float32
    assert digits.train.labels.dtype == torch.int64
    whole = torch.cat([digits.train.data, digits.test.data])
    assert (whole.min(), whole.max()) == (0, 16)
    # 178 zeros, 182 ones, …: the class sizes that UCI gives for its test set.
    counts = torch.cat([digits.train.labels, digits.test.labels]).bincount(minlength=11)
    assert counts.tolist() == [0, 178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_first_digit_is_a_zero():
    table = t7.load(data.DIGITS)
    assert table["labels"][0] == 1
    assert table["data"][0, 0, 0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]


def test_split_keeps_the_same_share_of_each_class_and_repeats():
    first, second = data.load(), data.load()
    for label in range(1, 11):
        tested = int((first.test.labels == label).sum())
        of = tested + int((first.train.labels == label).sum())
        assert tested == of // 5
    assert torch.equal(first.test.data, second.test.data)
    assert torch.equal(first.train.labels, second.train.labels)


def test_split_divides_without_overlap(saved):
    dataset = data.load(saved({"data": images(30, 2, 4, 5), "labels": labels(30)}))
    seen = torch.cat([dataset.train.data, dataset.test.data])[:, 0, 0, 0]
    assert sorted(seen.tolist()) == list(range(30))
    assert len(dataset.test) == 6


def test_size_and_classes_come_from_the_file(saved):
    dataset = data.load(saved({"data": images(60, 3, 4, 6), "labels": labels(60, 7)}))
    assert dataset.size == (3, 4, 6)
    assert dataset.classes == 7


def test_grey_images_get_a_channel(saved):
    dataset = data.load(saved({"data": images(30, 4, 5), "labels": labels(30)}))
    assert dataset.size == (1, 4, 5)


@pytest.mark.parametrize("test", ["test", "val"])
@pytest.mark.parametrize("label", ["labels", "label"])
def test_a_file_may_bring_its_own_split(saved, test, label):
    table = {
        "train": {"data": images(9, 1, 2, 2), label: labels(9)},
        test: {"data": images(4, 1, 2, 2), label: labels(4, 4)},
    }
    dataset = data.load(saved(table))
    assert (len(dataset.train), len(dataset.test), dataset.classes) == (9, 4, 4)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])
def test_labels_of_any_type(saved, dtype):
    dataset = data.load(saved({"data": images(30, 2, 2), "labels": labels(30).to(dtype)}))
    assert dataset.train.labels.dtype == torch.int64


def test_labels_from_zero_are_refused_unless_asked_for(saved):
    path = saved({"data": images(30, 2, 2), "labels": labels(30) - 1})
    with pytest.raises(
        ValueError,
        match=r"labels has 0; numbers from 1 on are accepted, as in Torch7; .*zero_based",
    ):
        data.load(path)
    dataset = data.load(path, zero_based=True)
    assert (dataset.train.labels.min(), dataset.classes) == (1, 3)


def test_normalized_channels_have_mean_0_and_std_1(saved):
    pixels = torch.rand(30, 2, 4, 4) * torch.tensor([1.0, 100.0]).view(2, 1, 1)
    dataset = data.load(saved({"data": pixels, "labels": labels(30)})).normalized()
    assert torch.allclose(dataset.train.data.mean((0, 2, 3)), torch.zeros(2), atol=1e-5)
    assert torch.allclose(dataset.train.data.std((0, 2, 3)), torch.ones(2), atol=1e-5)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1, 2], "holds a list"),
        ({"images": 1}, "has no field data, only images"),
        ({"data": images(4, 2, 2)}, "no field labels"),
        ({"data": "x", "labels": labels(4)}, "data is a str; a tensor"),
        ({"data": images(4, 2), "labels": labels(4)}, "data is 4x2; NxHxW or NxCxHxW"),
        (
            {"data": images(4, 2, 2), "labels": labels(5)},
            "data has 4 images, labels has 5 entries; as many",
        ),
        (
            {"data": images(4, 2, 2), "labels": torch.full((4,), 1.5)},
            "labels has fractions; whole numbers are",
        ),
        (
            {"data": images(4, 2, 2), "labels": torch.full((4,), -1)},
            "labels has -1; numbers from 1 on",
        ),
        ({"data": images(4, 2, 2), "labels": labels(4)}, "has 4 images; enough of each class"),
        ({"train": {"data": images(4, 2, 2), "labels": labels(4)}}, "no field test"),
        ({"train": 3, "test": 3}, "train is an int; a table"),
        ({"data": torch.full((4, 2, 2), math.nan), "labels": labels(4)}, "NaN or infinite"),
        (
            {
                "train": {"data": images(4, 2, 2), "labels": labels(4)},
                "test": {"data": images(4, 2, 3), "labels": labels(4)},
            },
            "training images are 1x2x2, test images are 1x2x3; images of one size",
        ),
    ],
)
def test_anything_else_is_refused_by_name(saved, table, message):
    path = saved(table)
    with pytest.raises(ValueError, match=message) as raised:
        data.load(path)
    assert str(path) in str(raised.value)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        data.load(tmp_path / "none.t7")


@pytest.mark.parametrize("fraction", [0, 1, -0.5])
def test_test_fraction_must_leave_both_parts(fraction):
    with pytest.raises(ValueError, match="test_fraction"):
        data.load(test_fraction=fraction)


@pytest.mark.parametrize("how", ["written", "replaced"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, how):
    path, load = tmp_path / "set.t7", t7.load
    table = {"data": torch.ones(12, 2, 2), "labels": torch.arange(12) % 3 + 1}
    t7.save(path, table)

    def changing(source, **options):
        found = load(source, **options)
        if how == "written":
            with open(source, "r+b") as file:
                file.write(b"\x03")
            os.utime(source, ns=(1, 1))
        else:
            t7.save(source, table)
        return found

    monkeypatch.setattr(t7, "load", changing)
    with pytest.raises(ValueError, match=r"set\.t7 changed while it was read"):
        data.load(path)


def test_a_file_that_is_cut_short_while_it_is_read_ends_in_an_error(tmp_path):
    from compat.t7.encoding.byte_source import open_source

    path = tmp_path / "long"
    path.write_bytes(bytes(1 << 20))
    with open_source(path, mmap=False) as source:
        os.truncate(path, 1 << 12)
        with pytest.raises(OSError, match="shorter while it was read"):
            source.read_into(memoryview(bytearray(1 << 19)), 1 << 18)
