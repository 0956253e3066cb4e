"""The general form of a layer that treats every element by itself."""

from __future__ import annotations

from torch import Tensor

from compat.nn.inplace import writable
from compat.nn.module import Module


class Elementwise(Module):
    """A function of each element. A class states it as ``apply_to(input)``.

    With ``inplace`` set, what `apply_to` gets may be overwritten, and the operation should.
    """

    inplace: bool = False

    def compute(self, input: Tensor) -> Tensor:
        return self.apply_to(writable(input) if self.inplace else input)

    def apply_to(self, input: Tensor) -> Tensor:
        """The function. Classes define it."""
        raise TypeError(f"{self.typename} does not define apply_to(input)")


def flag(value: bool | None, name: str = "ip") -> bool:
    """Check the argument that asks for in-place operation."""
    if value is not None and not isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; True or False is accepted")
    return bool(value)


def number(value: float, name: str) -> float:
    """Check an argument that is a plain number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; a number is accepted")
    return value
