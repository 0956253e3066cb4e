"""Torch7's ``optim``: optimizers called as ``x, fs = optim.sgd(opfunc, x, config, state)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.hints import answers as _answers
from compat.optim.from_torch import from_torch
from compat.optim.methods.adadelta import adadelta
from compat.optim.methods.adagrad import adagrad
from compat.optim.methods.adam import adam
from compat.optim.methods.adamax import adamax
from compat.optim.methods.asgd import asgd
from compat.optim.methods.cg import cg
from compat.optim.methods.checkgrad import checkgrad
from compat.optim.methods.cmaes import cmaes
from compat.optim.methods.de import de
from compat.optim.methods.fista import FistaLS
from compat.optim.methods.lbfgs import lbfgs
from compat.optim.methods.lswolfe import lswolfe
from compat.optim.methods.nag import nag
from compat.optim.methods.polyinterp import polyinterp
from compat.optim.methods.rmsprop import rmsprop
from compat.optim.methods.rprop import rprop
from compat.optim.methods.sgd import sgd
from compat.optim.parameter_vector import parameter_vector
from compat.optim.reports.confusion_matrix import ConfusionMatrix
from compat.optim.reports.logger import Logger

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

# PyTorch's optimizers that Torch7 has under another name.
_HINTS = {
    name: f"use optim.{torch7}(feval, params, config), or optim.from_torch(torch.optim.{name})"
    for name, torch7 in {
        "ASGD": "asgd",
        "Adadelta": "adadelta",
        "Adagrad": "adagrad",
        "Adam": "adam",
        "Adamax": "adamax",
        "LBFGS": "lbfgs",
        "RMSprop": "rmsprop",
        "Rprop": "rprop",
        "SGD": "sgd",
    }.items()
} | {
    "AdamW": "use optim.from_torch(torch.optim.AdamW)",
    "NAdam": "use optim.from_torch(torch.optim.NAdam)",
    "Optimizer": "an optimizer is a function: optim.sgd(feval, params, config)",
    "step": "optim.sgd(feval, params, config) takes one step",
    "zero_grad": "use net.zeroGradParameters() in feval",
    "lr_scheduler": "set config['learningRate'], or learningRateDecay for optim.sgd",
}

if not TYPE_CHECKING:
    __getattr__ = _answers(__name__, "optim", _HINTS, __all__)
