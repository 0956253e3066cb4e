"""Gone when all layers have moved to ``files``."""

from compat.nn.checks.tensors import TENSOR
from compat.nn.core.files import sizes
from compat.nn.core.module import Module

__all__ = ["Stored", "sizes"]


class Stored(Module, abstract=True):
    """A module that takes one tensor."""

    takes = TENSOR
