"""The nn recordings: how their constructors run here, what differs on purpose, what is compared.

tests/golden/README.md says what the fields of a case are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

import compat.nn as nn
from compat import random, t7
from compat.t7 import T7Error, TorchObject
from compat.tensor_tables import map_tensors, tensors
from support import lua
from support.each import each, grouped
from support.paths import GOLDEN
from support.tensors import equal

FOLDERS = ("nn", "criterion", "composite", "dpnn", "dpnn_criterion")


def recorded_classes() -> dict[str, dict[str, int]]:
    """What the README lists: for each folder the classes with their numbers of cases."""
    text = (GOLDEN / "README.md").read_text().split("## Classes")[1]
    return {
        folder: {
            name: int(count)
            for name, count in re.findall(
                r"(\w+) (\d+)[,.]", re.search(rf"`{folder}` \([^)]*\):\n\n(.*?)\n\n", text, re.S)[1]
            )
        }
        for folder in FOLDERS
    }


@cache
def case_names(folder: str) -> tuple[tuple[str, str], ...]:
    """(class, case) of every recorded case of the classes that the README lists."""
    classes = recorded_classes()[folder]
    return tuple((name, case) for name in classes for case in _names(folder, name))


def _names(folder: str, class_name: str) -> list[str]:
    try:
        return list(_apart(folder, class_name))
    except T7Error:
        # Fails in a test of its own, not when tests are collected.
        return ["unreadable"]


def load_case(folder: str, class_name: str, case_name: str, raw: bool = False) -> dict[str, Any]:
    """Return a case, read anew: tests may write into it. Raw, objects and tables are as filed."""
    case = t7.loads(_apart(folder, class_name)[case_name], plain=not raw, raw=raw)
    return {**case, "class": class_name}


def each_case(*folders: str) -> Callable[[Any], Any]:
    """Run a test for every recorded case of some folders, whose name it gets as ``which``."""
    which = [(folder, *names) for folder in folders for names in case_names(folder)]
    return each("which", grouped(which, lambda one: "-".join(one[:2])))


@cache
def _apart(folder: str, class_name: str) -> dict[str, bytes]:
    """Return the bytes of each case of a recording by its name, so that a test reads its own alone.

    Objects keep the fields that were recorded: raw, they are none of this library's.
    """
    recording = t7.load(GOLDEN / folder / f"{class_name}.t7", raw=True, plain=True)
    return {case["name"]: t7.dumps(case) for case in recording["cases"]}


# Running the constructors.


class _Torch:
    """The functions of Lua's ``torch`` that the constructors call."""

    @staticmethod
    def Tensor(*arguments: Any) -> Tensor:
        if isinstance(arguments[0], list):
            return torch.tensor(arguments[0], dtype=torch.get_default_dtype())
        return torch.empty(*arguments)

    ones = staticmethod(torch.ones)
    randn = staticmethod(random.randn)


class _Math:
    huge = math.inf
    sqrt = staticmethod(math.sqrt)


_TENSOR_METHODS = {
    "uniform": random.uniform_,
    "normal": random.normal_,
    "fill": Tensor.fill_,
    "zero": Tensor.zero_,
}


def _with(thing: Any, field: str, value: Any) -> Any:
    """``thing`` with a field set that its constructor does not set."""
    setattr(thing, field, value)
    return thing


def construct(case: dict[str, Any]) -> Any:
    """Run the case's Lua constructor under its seed."""
    random.manualSeed(case["seed"])
    names = {"nn": nn, "torch": _Torch, "math": _Math, "with": _with}
    return lua.evaluate(case["ctor"], names, {Tensor: _TENSOR_METHODS})


def restored(case: dict[str, Any], field: str) -> Any:
    """The module or criterion that the case's file holds, or the constructed one without it."""
    value = case.get(field)
    assert not isinstance(value, TorchObject), f"there is no class {value.typename}"
    return construct(case) if value is None else value


# Differences.


@dataclass(frozen=True)
class Fix:
    """A recorded value that is wrong, and how the right one follows from the recording."""

    reason: str
    right: Callable[[Any, dict[str, Any]], Any]


def _updated(_: Any, case: dict[str, Any]) -> Any:
    gradients = expected(case, "gradParams")
    return [p - 0.1 * g for p, g in zip(case["params0"], gradients, strict=True)]


def _as_matrices(value: Any, case: dict[str, Any]) -> Any:
    return map_tensors(lambda t: t.flatten(1) if t.dim() == 4 else t, value)


def _scaled(*positions: int) -> Callable[[Any, dict[str, Any]], Any]:
    """The recorded gradients, with those at ``positions`` (all, if none) times scale."""

    def right(value: Any, case: dict[str, Any]) -> Any:
        heeded = positions or range(len(value))
        return [g * case["scale"] if i in heeded else g for i, g in enumerate(value)]

    return right


def _gradients(reason: str, right: Callable[[Any, dict[str, Any]], Any]) -> dict[str, Fix]:
    return {"gradParams": Fix(reason, right), "params1": Fix(reason, _updated)}


def _all_rows(value: Any, case: dict[str, Any]) -> Any:
    """The gradients of the rows that the keys name, in the place of those rows."""
    keys = case["input"][0]
    rows = torch.cat(keys) if isinstance(keys, list) else keys
    whole = torch.zeros_like(case["params0"][0])
    return [whole.index_add(0, rows.long() - 1, value[0]), *value[1:]]


def _in_shape(value: Any, case: dict[str, Any]) -> Any:
    return [g.reshape(p.shape) for g, p in zip(value, case["params0"], strict=True)]


# {class: {case, or "*" for all: {field: fix}}}
FIXES: dict[str, dict[str, dict[str, Fix]]] = {
    "Cosine": {"scale_half": _gradients("Torch7 ignores scale in batches", _scaled())},
    "DepthConcat": {"scale_half": _gradients("Torch7 does not pass scale on", _scaled())},
    "IndexLinear": {"*": {"gradParams": Fix("Torch7 has the rows used alone", _all_rows)}},
    "OneHot": {"number": {"gradInput": Fix("the recorder kept no numbers", lambda _, case: 0)}},
    "SpatialDepthWiseConvolution": {
        "*": {
            name: Fix("Torch7's forward gives the weight four dimensions", _as_matrices)
            for name in ("buffers", "gradParams", "params1")
        }
    },
    "WeightNorm": {
        "*": {"gradParams": Fix("Torch7's gradient of v has the weight's shape", _in_shape)}
    },
    "Sqrt": {
        "eps": {
            "output": Fix("Torch7 ignores eps", lambda _, case: (case["input"] + 0.5).sqrt()),
            "gradInput": Fix(
                "Torch7 ignores eps",
                lambda _, case: case["gradOutput"] / (2 * (case["input"] + 0.5).sqrt()),
            ),
        }
    },
}

# {class: {case or "*": (relative tolerance, why the usual one is too small)}}
_SINGLE_PRECISION = "Torch7 computes the weights of linear interpolation in single precision"

TOLERANCES: dict[str, dict[str, tuple[float, str]]] = {
    "SpatialUniformCrop": {
        "scaled": (1e-6, _SINGLE_PRECISION),
        "scaled with names": (1e-6, _SINGLE_PRECISION),
    },
    "SpatialUpSamplingBilinear": {"*": (1e-6, _SINGLE_PRECISION)},
    "UpSampling": {"*": (1e-6, _SINGLE_PRECISION)},
}


def expected(case: dict[str, Any], field: str) -> Any:
    """What the case should give: what is recorded unless `FIXES` says otherwise."""
    fix = _of_case(FIXES, case, {}).get(field)
    return case.get(field) if fix is None else fix.right(case.get(field), case)


def tolerance(case: dict[str, Any]) -> float:
    known = _of_case(TOLERANCES, case, None)
    if known is not None:
        return known[0]
    return 1e-5 if "float" in case["name"] else 1e-10


def _of_case(table: dict[str, dict[str, Any]], case: dict[str, Any], default: Any) -> Any:
    entries = table.get(case["class"], {})
    return entries.get(case["name"], entries.get("*", default))


# Comparing.


def copied(value: Any) -> Any:
    return map_tensors(Tensor.clone, value)


def assert_close(
    actual: Any, wanted: Any, relative: float, what: str, largest: float | None = None
) -> None:
    """Tensors, numbers and tables of them agree; the error is relative to the largest number."""
    if largest is None:
        largest = max((_largest(tensor) for tensor in tensors(wanted)), default=0.0)
    if isinstance(wanted, Tensor):
        assert isinstance(actual, Tensor), f"{what} is {actual!r}, not a tensor"
        assert actual.shape == wanted.shape, f"{what}: {actual.shape} is not {wanted.shape}"
        if not wanted.numel():
            return
        if not wanted.is_floating_point():
            assert equal(actual.to(wanted.dtype), wanted), what
            return
        assert actual.dtype == wanted.dtype, f"{what}: {actual.dtype} is not {wanted.dtype}"
        torch.testing.assert_close(
            actual, wanted, rtol=relative, atol=relative * largest, equal_nan=True, msg=what.format
        )
    elif isinstance(wanted, (list, dict)):
        assert isinstance(actual, type(wanted)), f"{what} is {actual!r}"
        actual, wanted = _without_nil(actual), _without_nil(wanted)
        assert len(actual) == len(wanted), f"{what}: {len(actual)} entries, not {len(wanted)}"
        keys: Iterable[Any] = wanted if isinstance(wanted, dict) else range(len(wanted))
        for key in keys:
            assert_close(actual[key], wanted[key], relative, f"{what}[{key!r}]", largest)
    elif isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        assert isinstance(actual, (int, float)), f"{what} is {actual!r}, not a number"
        same = (math.isnan(wanted) and math.isnan(actual)) or math.isclose(
            actual, wanted, rel_tol=relative, abs_tol=relative * 1e-3
        )
        assert same, f"{what}: {actual} is not {wanted}"
    else:
        assert actual == wanted, f"{what}: {actual!r} is not {wanted!r}"


def _largest(tensor: Tensor) -> float:
    finite = tensor[tensor.isfinite()].abs()
    return finite.max().item() if finite.numel() else 0.0


def _without_nil(table: Any) -> Any:
    """In Lua ``{x, nil}`` is ``{x}``."""
    while isinstance(table, list) and table and table[-1] is None:
        table = table[:-1]
    return table


def is_nothing(value: Any) -> bool:
    """What Torch7 has instead of a gradient where there is none."""
    return value is None or (isinstance(value, Tensor) and value.numel() == 0) or value in ([], {})


def at_path(module: Any, path: str) -> Any:
    """The field that a key of ``buffers`` names, such as "3.1.running_mean"."""
    for step in path.split("."):
        module = module.get(int(step)) if step.isdigit() else getattr(module, step)
    return module
