"""Layers without tensors that have one counterpart, made of the same settings: both ways out of it.

``to_torch.py`` and ``from_torch.py`` take these from here; what needs more thought stands there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from compat.nn.checks.indexing import zero_based
from compat.nn.core.module import Module
from compat.nn.interchange import torch_layers as layers
from compat.nn.layers import (
    activation,
    identity,
    pointwise,
    rectifiers,
    reduction,
    shape,
    slices,
    table_arithmetic,
    table_layers,
    table_products,
)


class Setting(NamedTuple):
    """A setting under its two names, and what makes a value of the one that of the other."""

    torch7: str
    pytorch: str
    to_torch: Callable[[Any], Any] = lambda value: value
    from_torch: Callable[[Any], Any] = lambda value: value


class Pair(NamedTuple):
    """A class of Torch7's and its equivalent; both are made of the settings, in this order."""

    torch7: type[Module]
    pytorch: type[torch.nn.Module]
    settings: tuple[Setting, ...] = ()

    def to_torch(self, module: Any) -> torch.nn.Module:
        return self.pytorch(*(s.to_torch(getattr(module, s.torch7)) for s in self.settings))

    def from_torch(self, module: Any) -> Module:
        return self.torch7(*(s.from_torch(getattr(module, s.pytorch)) for s in self.settings))


def from_one(number: int) -> int:
    """PyTorch's dimension or index in Torch7's counting."""
    return number + 1 if number >= 0 else number


def sample_dims(dims: int | None) -> int:
    """The dimensions of a sample as ``torch_layers`` tells them: -1 for Torch7's None."""
    return -1 if dims is None else dims


def known_dims(dims: int) -> int | None:
    """The reverse of ``sample_dims``."""
    return None if dims < 0 else dims


def _counted(torch7: str, pytorch: str) -> Setting:
    return Setting(torch7, pytorch, zero_based, from_one)


def _samples(torch7: str = "nInputDims") -> Setting:
    return Setting(torch7, "sample_dims", sample_dims, known_dims)


_INPLACE = Setting("inplace", "inplace")
_DIMENSION = _counted("dimension", "dim")

PAIRS = (
    Pair(identity.Identity, torch.nn.Identity),
    # Transfer functions.
    Pair(rectifiers.ReLU, torch.nn.ReLU, (_INPLACE,)),
    Pair(rectifiers.ReLU6, torch.nn.ReLU6, (_INPLACE,)),
    Pair(
        rectifiers.Threshold,
        torch.nn.Threshold,
        (Setting("threshold", "threshold"), Setting("val", "value"), _INPLACE),
    ),
    Pair(
        rectifiers.HardTanh,
        torch.nn.Hardtanh,
        (Setting("min_val", "min_val"), Setting("max_val", "max_val"), _INPLACE),
    ),
    Pair(rectifiers.LeakyReLU, torch.nn.LeakyReLU, (Setting("negval", "negative_slope"), _INPLACE)),
    Pair(activation.Tanh, torch.nn.Tanh),
    Pair(activation.Sigmoid, torch.nn.Sigmoid),
    Pair(activation.LogSigmoid, torch.nn.LogSigmoid),
    Pair(activation.TanhShrink, torch.nn.Tanhshrink),
    Pair(activation.HardShrink, torch.nn.Hardshrink, (Setting("lambda_", "lambd"),)),
    Pair(activation.SoftShrink, torch.nn.Softshrink, (Setting("lambda_", "lambd"),)),
    Pair(activation.SoftSign, torch.nn.Softsign),
    # Arithmetic.
    Pair(pointwise.Abs, layers.Abs),
    Pair(pointwise.Exp, layers.Exp),
    Pair(pointwise.Log, layers.Log),
    Pair(pointwise.Square, layers.Square),
    Pair(pointwise.Sqrt, layers.Sqrt, (Setting("eps", "eps"),)),
    Pair(pointwise.Power, layers.Power, (Setting("pow", "exponent"),)),
    Pair(pointwise.MulConstant, layers.MulConstant, (Setting("constant_scalar", "constant"),)),
    Pair(pointwise.Normalize, layers.Normalize, (Setting("p", "p"), Setting("eps", "eps"))),
    # Shapes and reductions.
    Pair(shape.Contiguous, layers.Contiguous),
    Pair(slices.Select, layers.Select, (_DIMENSION, _counted("index", "index"))),
    Pair(
        slices.Narrow,
        layers.Narrow,
        (_DIMENSION, _counted("index", "start"), Setting("length", "length")),
    ),
    Pair(shape.Unsqueeze, layers.Unsqueeze, (_counted("pos", "dim"), _samples("numInputDims"))),
    Pair(
        shape.Replicate,
        layers.Replicate,
        (Setting("nfeatures", "count"), _counted("dim", "dim"), _samples("ndim")),
    ),
    Pair(reduction.Max, layers.Max, (_DIMENSION, _samples())),
    Pair(reduction.Min, layers.Min, (_DIMENSION, _samples())),
    # Tables.
    Pair(table_layers.JoinTable, layers.JoinTable, (_DIMENSION, _samples())),
    Pair(table_layers.SplitTable, layers.SplitTable, (_DIMENSION, _samples())),
    Pair(
        table_layers.NarrowTable,
        layers.NarrowTable,
        (_counted("offset", "start"), Setting("length", "length")),
    ),
    Pair(table_layers.FlattenTable, layers.FlattenTable),
    Pair(table_arithmetic.CAddTable, layers.CAddTable),
    Pair(table_arithmetic.CSubTable, layers.CSubTable),
    Pair(table_arithmetic.CMulTable, layers.CMulTable),
    Pair(table_arithmetic.CDivTable, layers.CDivTable),
    Pair(table_arithmetic.CMaxTable, layers.CMaxTable),
    Pair(table_arithmetic.CMinTable, layers.CMinTable),
    Pair(
        table_products.MM,
        layers.MM,
        (Setting("transA", "transpose_first"), Setting("transB", "transpose_second")),
    ),
    Pair(table_products.MV, layers.MV, (Setting("trans", "transpose"),)),
    Pair(table_products.DotProduct, layers.DotProduct),
    Pair(table_products.CosineDistance, layers.CosineDistance),
    Pair(table_products.PairwiseDistance, layers.PairwiseDistance, (Setting("norm", "p"),)),
)
