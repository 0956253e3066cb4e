"""What constructors accept."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from support.each import each, grouped

from compat import cudnn, nn, t7

MODULE_ARGUMENTS = {
    "module": nn.Identity(),
    "recurrentModule": nn.Identity(),
    "input": nn.Identity(),
    "feedback": nn.Identity(),
    "criterion": nn.MSECriterion(),
    "conMatrix": nn.tables.full(2, 2),
    "w": torch.ones(3),
    "min_value": -1,
    "iW": 5,
    "iH": 5,
}
ARGUMENTS = [
    (cls, name, parameter)
    for namespace in (nn, cudnn)
    for cls in vars(namespace).values()
    if inspect.isclass(cls)
    and issubclass(cls, (nn.Module, nn.Criterion))
    and not issubclass(cls, t7.TorchObject)  # those come from files
    and cls.__module__.startswith(f"{namespace.__name__}.")
    for name, parameter in inspect.signature(cls).parameters.items()
    if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
]
WITH_DEFAULTS = [(c, n) for c, n, p in ARGUMENTS if p.default not in (None, p.empty)]


def needed(cls: type) -> dict[str, Any]:
    """Values for the arguments that have no default."""
    if cls is nn.WeightNorm:
        return {"module": nn.Linear(2, 2)}
    if cls is nn.Add:
        return {"inputSize": 2}
    if cls in (nn.SpatialMaxUnpooling, nn.VolumetricMaxUnpooling):
        pooling = nn.SpatialMaxPooling if cls is nn.SpatialMaxUnpooling else nn.VolumetricMaxPooling
        return {"poolingModule": pooling(*[2] * (2 + (cls is nn.VolumetricMaxUnpooling)))}
    if cls is nn.PCAColorTransform:
        vectors, values = torch.eye(2), torch.ones(2)
        return {"inputChannels": 2, "eigenVectors": vectors, "eigenValues": values}
    parameters = inspect.signature(cls).parameters
    return {
        name: MODULE_ARGUMENTS.get(name, 2)
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }


def plain(module: Any) -> dict[str, Any]:
    """The fields that hold numbers and flags."""
    return {n: v for n, v in vars(module).items() if isinstance(v, (bool, int, float, str))}


@each("which", grouped(WITH_DEFAULTS, lambda one: one[0].typename))
def test_none_stands_for_the_default_as_nil_does(which: tuple[type, str]) -> None:
    cls, name = which
    assert plain(cls(**needed(cls) | {name: None})) == plain(cls(**needed(cls)))


# What may be anything; the last one Torch7 does not use.
ANYTHING = {"nn.NaN-id", "nn.PrintSize-prefix", "nn.Profile-name", "nn.SelectTable-index"}
ANYTHING |= {"nn.SpatialLPPooling-nInputPlane"}


WRONG = [
    (cls, name, wrong)
    for cls, name, _ in ARGUMENTS
    for wrong in ({"no": 1}, object())
    if f"{cls.typename}-{name}" not in ANYTHING
]


@each("which", grouped(WRONG, lambda one: one[0].typename))
def test_wrong_arguments_are_named(which: tuple[Any, str, Any]) -> None:
    cls, name, wrong = which
    with pytest.raises((TypeError, ValueError), match=r"accepted|needed|is missing"):
        cls(**needed(cls) | {name: wrong})


def test_none_by_position() -> None:
    assert nn.Dropout(None, True).p == 0.5
    assert not nn.Dropout(None, True).v2
    assert nn.SpatialConvolution(1, 1, 3, 3, None, None, 1).padH == 1
    assert nn.ClassNLLCriterion(None, None, 2).sizeAverage is True


def test_needed_arguments_may_not_be_none() -> None:
    with pytest.raises(TypeError, match="kW is None; a whole number is accepted"):
        nn.SpatialConvolution(1, 1, None, 3)
    with pytest.raises(TypeError, match="positional arguments"):
        nn.Dropout(0.5, *[None] * 9)


def test_none_adds_no_module_as_in_torch7() -> None:
    nothing: Any = None
    assert len(nn.ConcatTable().add(nothing).add(nn.Tanh()).modules) == 1
    with pytest.raises(TypeError, match="module is None"):
        nn.Sequential().add(nothing)
