"""Expressions of Lua in Python."""

from compat.port.expressions.expressions import Expressions
from compat.port.expressions.tables import is_length_of
from compat.port.expressions.values import NONE, first_of
