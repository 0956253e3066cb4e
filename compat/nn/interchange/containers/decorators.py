"""Containers of one module; most become that module."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.containers import decorators as torch7
from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, converts_from
from compat.nn.interchange.layers.identity import Cast
from compat.nn.interchange.modules import WithSettings
from compat.nn.interchange.to_torch import ToTorch, converts, converts_to_inner
from compat.tensor_types import parse_type

# TorchScript has no starred expressions.
# ruff: noqa: RUF005


class Bottle(WithSettings):
    """A module applied to inputs with more dimensions than the ``dims`` that it takes.

    Leading dimensions are merged into the first of ``dims``. The module's output
    has ``out_dims`` dimensions.
    """

    shown = ("dims", "out_dims")

    def __init__(self, module: nn.Module, dims: int, out_dims: int) -> None:
        super().__init__()
        self.module = module
        self.dims = dims
        self.out_dims = out_dims

    def forward(self, input: Tensor) -> Tensor:
        extra = input.dim() - self.dims
        if extra <= 0:
            return self.module(input)
        output = self.module(input.flatten(0, extra))
        return output.reshape(input.shape[:extra] + (-1,) + output.shape[1:])


class SpatialClassifier(WithSettings):
    """A module applied to the features at each place of ``K x H x W``.

    Its output is ``N x H x W``, or, flat, ``H * W x N``.
    """

    shown = ("flat",)

    def __init__(self, module: nn.Module, flat: bool) -> None:
        super().__init__()
        self.module = module
        self.flat = flat

    def forward(self, input: Tensor) -> Tensor:
        output = self.module(input.flatten(1).t())
        if self.flat:
            return output
        return output.t().reshape([-1, input.size(1), input.size(2)])


converts_to_inner(torch7.Decorator, torch7.NaN, torch7.Profile)


@converts(torch7.DontCast)
def _dont_cast(module: Any, convert: ToTorch) -> nn.Module:
    inner = convert.child(module, 0)
    if not module.castin and not module.castout:
        return inner
    parts = [inner]
    if module.castin:
        parts.insert(0, Cast(parse_type(module.moduleType, "moduleType")[0], False))
    if module.castout:
        parts.append(Cast(parse_type(module.type(), "type")[0], False))
    return nn.Sequential(*parts)


@converts(torch7.Bottle)
def _bottle(module: Any, convert: ToTorch) -> nn.Module:
    return Bottle(convert.child(module, 0), module.nInputDim, module.nOutputDim)


@converts_from(Bottle)
def _from_bottle(module: Any, convert: FromTorch) -> Module:
    return torch7.Bottle(convert(module.module, "module"), module.dims, module.out_dims)


@converts(torch7.SpatialClassifier)
def _spatial_classifier(module: Any, convert: ToTorch) -> nn.Module:
    return SpatialClassifier(convert.child(module, 0), not module.spatialOutput)


@converts_from(SpatialClassifier)
def _from_spatial_classifier(module: Any, convert: FromTorch) -> Module:
    classifier = torch7.SpatialClassifier(convert(module.module, "module"))
    classifier.spatialOutput = not module.flat
    return classifier
