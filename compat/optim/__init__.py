"""Torch7's `optim`: optimizers called as `x, fs = optim.sgd(opfunc, x, config, state)`."""

from __future__ import annotations

from compat.optim.adadelta import adadelta
from compat.optim.adagrad import adagrad
from compat.optim.adam import adam
from compat.optim.adamax import adamax
from compat.optim.asgd import asgd
from compat.optim.cg import cg
from compat.optim.checkgrad import checkgrad
from compat.optim.cmaes import cmaes
from compat.optim.de import de
from compat.optim.fista import FistaLS
from compat.optim.lbfgs import lbfgs
from compat.optim.lswolfe import lswolfe
from compat.optim.nag import nag
from compat.optim.polyinterp import polyinterp
from compat.optim.rmsprop import rmsprop
from compat.optim.rprop import rprop
from compat.optim.sgd import sgd

__all__ = [
    "FistaLS",
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "asgd",
    "cg",
    "checkgrad",
    "cmaes",
    "de",
    "lbfgs",
    "lswolfe",
    "nag",
    "polyinterp",
    "rmsprop",
    "rprop",
    "sgd",
]
