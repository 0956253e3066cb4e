"""Torch7's `optim`: optimizers called as `x, fs = optim.sgd(opfunc, x, config, state)`."""

from __future__ import annotations

from compat.optim.sgd import sgd

__all__ = ["sgd"]
