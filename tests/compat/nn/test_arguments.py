"""What constructors accept."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

from compat import cudnn, nn

MODULE_ARGUMENTS = {
    "module": nn.Identity(),
    "criterion": nn.MSECriterion(),
    "conMatrix": nn.tables.full(2, 2),
    "w": torch.ones(3),
    "min_value": -1,
    "iW": 5,
    "iH": 5,
}
WITH_DEFAULTS = [
    (cls, name)
    for namespace in (nn, cudnn)
    for cls in vars(namespace).values()
    if inspect.isclass(cls)
    and issubclass(cls, (nn.Module, nn.Criterion))
    and cls.__module__.startswith(f"{namespace.__name__}.")
    for name, parameter in inspect.signature(cls).parameters.items()
    if parameter.default not in (None, parameter.empty)
]


def plain(module: Any) -> dict[str, Any]:
    """The fields that hold numbers and flags."""
    return {n: v for n, v in vars(module).items() if isinstance(v, (bool, int, float, str))}


@pytest.mark.parametrize(
    ("cls", "name"), WITH_DEFAULTS, ids=[f"{c.typename}-{n}" for c, n in WITH_DEFAULTS]
)
def test_none_stands_for_the_default_as_nil_does(cls: type, name: str) -> None:
    needed = [
        MODULE_ARGUMENTS.get(n, 2)
        for n, parameter in inspect.signature(cls).parameters.items()
        if parameter.default is parameter.empty
    ]
    if cls in (nn.WeightNorm,):
        needed = [nn.Linear(2, 2)]
    if cls is nn.Add:
        needed = [2]
    assert plain(cls(*needed, **{name: None})) == plain(cls(*needed))


def test_none_by_position() -> None:
    assert nn.Dropout(None, True).p == 0.5
    assert not nn.Dropout(None, True).v2
    assert nn.SpatialConvolution(1, 1, 3, 3, None, None, 1).padH == 1
    assert nn.ClassNLLCriterion(None, None, 2).sizeAverage is True


def test_needed_arguments_may_not_be_none() -> None:
    with pytest.raises(TypeError, match="kW is None; a whole number is accepted"):
        nn.SpatialConvolution(1, 1, None, 3)
    with pytest.raises(TypeError, match="positional arguments"):
        nn.Dropout(0.5, None, None, None, None)
