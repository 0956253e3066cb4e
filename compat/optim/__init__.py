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
from compat.optim.confusion_matrix import ConfusionMatrix
from compat.optim.de import de
from compat.optim.fista import FistaLS
from compat.optim.from_torch import from_torch
from compat.optim.groups import parameter_vector
from compat.optim.lbfgs import lbfgs
from compat.optim.logger import Logger
from compat.optim.lswolfe import lswolfe
from compat.optim.nag import nag
from compat.optim.polyinterp import polyinterp
from compat.optim.rmsprop import rmsprop
from compat.optim.rprop import rprop
from compat.optim.sgd import sgd

__all__ = [
    "ConfusionMatrix",
    "FistaLS",
    "Logger",
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "asgd",
    "cg",
    "checkgrad",
    "cmaes",
    "de",
    "from_torch",
    "lbfgs",
    "lswolfe",
    "nag",
    "parameter_vector",
    "polyinterp",
    "rmsprop",
    "rprop",
    "sgd",
]
