"""Torch7's names exist or say what replaces them."""

from __future__ import annotations

import importlib
import re

import pytest
import torch
from support.paths import GOLDEN, ROOT

import compat
from compat import instead
from compat import torch as torch7


@pytest.mark.parametrize("package, shown", [("torch", "torch7"), ("image", "image")])
def test_every_name_of_torch7_is_there_or_answers(package: str, shown: str) -> None:
    module = importlib.import_module(f"compat.{package}")
    for name in (GOLDEN / "names" / f"{package}.txt").read_text().split():
        if name not in module.__all__:
            with pytest.raises(AttributeError, match=f"^{shown}.{name} does not exist here: .+"):
                getattr(module, name)


def test_what_the_answers_name_is_in_pytorch() -> None:
    for name, answer in instead.TORCH.items():
        for path in re.findall(r"torch\.([a-z_.0-9]*[a-z_0-9])\(?", answer):
            if not path.startswith("0"):
                thing: object = torch
                for part in path.split("."):
                    thing = getattr(thing, part)
                assert thing is not None, name


def test_no_answer_hides_what_is_there() -> None:
    assert not set(instead.TORCH) & set(torch7.__all__)
    for name in instead.PACKAGES:
        assert not (ROOT / "compat" / name).exists()
        assert not (ROOT / "compat" / f"{name}.py").exists()


def test_packages_answer_when_imported() -> None:
    with pytest.raises(ImportError, match="package paths does not exist here: use pathlib"):
        from compat import paths  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="package optnet does not exist here: nothing"):
        importlib.import_module("compat.optnet")
    with pytest.raises(ModuleNotFoundError, match="package paths does not exist here: use pathlib"):
        from compat.paths import concat  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'compat\.nonsense'$"):
        importlib.import_module("compat.nonsense")
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from compat import nonsense  # noqa: F401
    assert not hasattr(compat, "nonsense")


@pytest.mark.parametrize(
    ("name", "dtype"), [("CudaTensor", "float32"), ("CudaLongTensor", "int64")]
)
def test_names_of_cutorch_tell_of_the_logical_devices(name: str, dtype: str) -> None:
    message = f"use torch.empty(3, dtype=torch.{dtype}, device=cutorch.device(1))"
    with pytest.raises(AttributeError, match=re.escape(message)):
        getattr(torch7, name)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("paths", "use pathlib"),
        ("cunn", "import dptable makes"),
        ("image", "write from compat import image"),
        ("nElement", r"use x\.numel\(\)"),
        ("setErrorHandler", "errors are Python's"),
    ],
)
def test_packages_and_methods_answer_as_names_of_torch(name: str, answer: str) -> None:
    with pytest.raises(AttributeError, match=f"torch7.{name} does not exist here: {answer}"):
        getattr(torch7, name)


def test_other_names_are_pythons_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'compat\.torch' has no attribute 'nothing'"):
        torch7.nothing  # noqa: B018
