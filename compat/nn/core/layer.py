"""What most layers have in common."""

from compat.nn.checks.tensors import TENSOR
from compat.nn.core.module import Module


class Layer(Module, abstract=True):
    """A module that takes one tensor."""

    takes = TENSOR
