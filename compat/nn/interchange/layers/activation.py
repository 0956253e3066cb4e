"""Transfer functions."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.checks.indexing import zero_based
from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import converts_from_simply
from compat.nn.interchange.pairs import Setting, from_one, pair
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import activation as torch7

pair(torch7.Tanh, nn.Tanh)
pair(torch7.Sigmoid, nn.Sigmoid)
pair(torch7.LogSigmoid, nn.LogSigmoid)
pair(torch7.TanhShrink, nn.Tanhshrink)
pair(torch7.HardShrink, nn.Hardshrink, Setting("lambda_", "lambd"))
pair(torch7.SoftShrink, nn.Softshrink, Setting("lambda_", "lambd"))
pair(torch7.SoftSign, nn.Softsign)
converts_simply(torch7.SoftPlus, lambda m: nn.Softplus(m.beta, m.threshold))
converts_simply(torch7.GatedLinearUnit, lambda m: nn.GLU(zero_based(m.dim or -1)))
converts_from_simply(nn.GLU, lambda m: torch7.GatedLinearUnit(from_one(m.dim)))


def _softplus(module: Any) -> Module:
    target = torch7.SoftPlus(module.beta)
    target.threshold = module.threshold
    return target


converts_from_simply(nn.Softplus, _softplus)
