"""Torch7's nn package."""

from compat.nn.containers import Concat, ConcatTable, Container, ParallelTable, Sequential
from compat.nn.linear import Linear
from compat.nn.module import Module
from compat.nn.native import Native
from compat.nn.parameter import Parameter
from compat.nn.transfer import ReLU
