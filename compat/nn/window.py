"""Windows that slide over planes: what convolutions and poolings have in common.

Torch7 names the fields of a window by axis: ``kW`` is its width, ``dH`` its vertical step, ``padT``
the padding in time. Its constructors count width before height, tensors height before width; the
properties here give the tensor's order, which is what PyTorch's functions take.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat.nn.module import Module
from compat.nn.stored import Stored


def whole(value: Any, name: str, least: int) -> int:
    """Check an argument that is a whole number."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; a whole number is accepted")
    if value < least:
        raise ValueError(f"{name} is {value}; a whole number from {least} is accepted")
    return value


def check_type(input: Tensor, parameter: Tensor) -> None:
    """Refuse an input of another type than the module's parameters."""
    if input.dtype != parameter.dtype and not torch.is_autocast_enabled(input.device.type):
        raise TypeError(
            f"input is {input.dtype}, the module is {parameter.dtype}; convert one of them"
        )


E = TypeVar("E", bound="Emptied")


class Emptied(Module):
    """Poolings of all kinds: they have an older name for `clearState`."""

    def empty(self: E) -> E:
        """`clearState`."""
        return self.clearState()


class Windowed(Stored):
    """The base of modules with a window. Planes, then the axes of the window, make a sample."""

    axes: ClassVar[str]
    """The letters of the axes, in the order of Torch7's arguments."""
    _sample_form: ClassVar[str]
    _plane_name: ClassVar[str] = "planes"
    _plane_dim: ClassVar[int]
    _kernel: Any
    _stride: Any
    _padding: Any
    _dilation: Any

    kT: int
    kW: int
    kH: int
    dT: int
    dW: int
    dH: int
    # Files older than these features lack the fields.
    padT = padW = padH = 0
    dilationT = dilationW = dilationH = 1

    _scratch: ClassVar[tuple[str, ...]] = ("finput", "fgradInput", "_input", "_gradOutput")

    def _set(self, prefix: str, values: Sequence[int | None], least: int, default: Any) -> None:
        """Set one field per axis, to ``default`` (one for all, or one per axis) for a None."""
        if not isinstance(default, Sequence):
            default = [default] * len(values)
        for axis, value, other in zip(self.axes, values, default, strict=True):
            name = prefix + axis
            setattr(self, name, whole(other if value is None else value, name, least))

    def _check_sample(self, input: Any, planes: int | None = None) -> None:
        """Refuse what is neither a sample, with ``planes`` planes, nor a batch of them."""
        if not isinstance(input, Tensor):
            raise TypeError(f"input is a {type(input).__name__}; a tensor is accepted")
        dims = len(self.axes) + 1
        if input.dim() not in (dims, dims + 1):
            raise ValueError(
                f"input has {input.dim()} dimensions; {dims} ({self._sample_form}) or "
                f"{dims + 1} (a batch of these) are accepted"
            )
        if planes is not None and input.size(self._plane_dim) != planes:
            given = input.size(self._plane_dim)
            raise ValueError(f"input has {given} {self._plane_name}, {planes} are expected")

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        padding = fields.pop("padding", None)
        if padding is not None:
            fields.update({f"pad{axis}": padding for axis in self.axes})
        super().t7_restore(fields, version)


class Temporal(Windowed):
    """A window over frames. Frames come before features, as a sequence of vectors."""

    axes = "W"
    _sample_form = "frames x features"
    _plane_name = "features"
    _plane_dim = -1

    _kernel = property(lambda self: (self.kW,))
    _stride = property(lambda self: (self.dW,))
    _padding = property(lambda self: (self.padW,))
    _dilation = property(lambda self: (self.dilationW,))


class Spatial(Windowed):
    """A window with width and height."""

    axes = "WH"
    _sample_form = "planes x height x width"
    _plane_dim = -3

    _kernel = property(attrgetter("kH", "kW"))
    _stride = property(attrgetter("dH", "dW"))
    _padding = property(attrgetter("padH", "padW"))
    _dilation = property(attrgetter("dilationH", "dilationW"))


class Volumetric(Windowed):
    """A window with length in time, width and height."""

    axes = "TWH"
    _sample_form = "planes x time x height x width"
    _plane_dim = -4

    _kernel = property(attrgetter("kT", "kH", "kW"))
    _stride = property(attrgetter("dT", "dH", "dW"))
    _padding = property(attrgetter("padT", "padH", "padW"))
    _dilation = property(attrgetter("dilationT", "dilationH", "dilationW"))


def shown(*groups: Sequence[int]) -> str:
    """``", 1,1, 2,2"``: groups of numbers in a print."""
    return "".join(", " + ",".join(str(number) for number in group) for group in groups)
