"""Windows that slide over planes: what convolutions and poolings have in common.

Torch7 names the fields of a window by axis: ``kW`` is its width, ``dH`` its vertical step, ``padT``
the padding in time. Its constructors count width before height, tensors height before width; the
properties here give the tensor's order, which is what PyTorch's functions take.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, ClassVar, TypeVar

from torch import Tensor

from compat.checks import check_tensor, number, whole
from compat.nn.checks.tensors import check_count, check_sample
from compat.nn.core.layer import Layer

E = TypeVar("E", bound="Emptied")


class Emptied(Layer, abstract=True):
    """The base of poolings, which have an older name for ``clearState``."""

    def empty(self: E) -> E:
        """Call ``clearState``."""
        return self.clearState()


_SIZES = ("k", "d", "pad", "dilation")  # before the letter of an axis


class Windowed(Layer, abstract=True):
    """The base of modules with a window. Planes, then the axes of the window, make a sample."""

    axes: ClassVar[str]
    """The letters of the axes, in the order of Torch7's arguments."""
    _sample_form: ClassVar[str]
    _plane_name: ClassVar[str] = "planes"
    _plane_dim: ClassVar[int]
    window_size: Any
    window_stride: Any
    window_padding: Any
    window_dilation: Any

    kT: int
    kW: int
    kH: int
    dT: int
    dW: int
    dH: int
    # Files older than these features lack the fields.
    padW = padH = 0
    dilationW = dilationH = 1

    scratch_fields: ClassVar[tuple[str, ...]] = ("finput", "fgradInput", "_input", "_gradOutput")

    def __setattr__(self, name: str, value: Any) -> None:
        # ``conv.padW = (conv.kW - 1) / 2`` is whole in Lua.
        if isinstance(value, float) and name[:-1] in _SIZES and value.is_integer():
            value = int(value)
        super().__setattr__(name, value)

    def _set(self, prefix: str, values: Sequence[int | None], least: int) -> None:
        """Set one field per axis."""
        for axis, value in zip(self.axes, values, strict=True):
            setattr(self, prefix + axis, whole(value, prefix + axis, least))

    def _set_window(
        self,
        kernel: Sequence[int],
        stride: Sequence[int | None],
        padding: Sequence[int | None] = (),
    ) -> None:
        """Set size, step and, if there is any, padding. A step of None is the window's size."""
        self._set("k", kernel, 1)
        self._set("d", [k if d is None else d for k, d in zip(kernel, stride, strict=True)], 1)
        if padding:
            self._set("pad", padding, 0)

    def _shown_window(self) -> list[list[int]]:
        """Return size, step and padding in the order of Torch7's arguments."""
        return [[getattr(self, kind + axis) for axis in self.axes] for kind in ("k", "d", "pad")]

    def _check_sample(self, input: Any, planes: int | None = None) -> None:
        """Raise ValueError unless the input is a sample, with ``planes`` planes, or a batch."""
        # Asked of every input, so what is wrong is looked for only if something is.
        if not isinstance(input, Tensor) or input.dim() - len(self.axes) not in (1, 2):
            check_sample(check_tensor(input), self._sample_form)
        if planes is not None and input.size(self._plane_dim) != planes:
            check_count(input.size(self._plane_dim), planes, self._plane_name)

    def _extents(self, input: Tensor) -> Sequence[int]:
        """Return the sizes that the window slides over."""
        return input.shape[self._plane_dim + 1 :]

    def objection(self, input: Any) -> Exception | None:
        found = super().objection(input)
        if found is not None or not isinstance(input, Tensor):
            return found
        window = zip(self.window_size, self.window_dilation, strict=True)
        reaches = [dilation * (kernel - 1) + 1 for kernel, dilation in window]
        extents, padding = self._extents(input), self.window_padding
        sizes = zip(extents, padding, reaches, strict=True)
        if all(extent + 2 * pad >= reach for extent, pad, reach in sizes):
            return None
        given, least = ("x".join(map(str, numbers)) for numbers in (extents, reaches))
        padded = f" with padding {','.join(map(str, padding))}" if any(padding) else ""
        return ValueError(f"input is {given}{padded}; at least the window, {least}, is accepted")

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        padding = fields.pop("padding", None)
        if padding is not None:
            fields.update({f"pad{axis}": padding for axis in self.axes})
        names = [kind + axis for kind in ("k", "d", "pad") for axis in self.axes]
        for name in (*names, "nInputPlane", "nOutputPlane"):
            if name in fields:
                number(fields[name], name)
        super().t7_restore(fields, version)


class Temporal(Windowed, abstract=True):
    """A window over frames. Frames come before features, as a sequence of vectors."""

    axes = "W"
    _sample_form = "frames x features"
    _plane_name = "features"
    _plane_dim = -1

    def _extents(self, input: Tensor) -> Sequence[int]:
        return [input.size(-2)]

    window_size = property(lambda self: (self.kW,))
    window_stride = property(lambda self: (self.dW,))
    window_padding = property(lambda self: (self.padW,))
    window_dilation = property(lambda self: (self.dilationW,))


class Spatial(Windowed, abstract=True):
    """A window with width and height."""

    axes = "WH"
    _sample_form = "planes x height x width"
    _plane_dim = -3

    window_size = property(attrgetter("kH", "kW"))
    window_stride = property(attrgetter("dH", "dW"))
    window_padding = property(attrgetter("padH", "padW"))
    window_dilation = property(attrgetter("dilationH", "dilationW"))


class Volumetric(Windowed, abstract=True):
    """A window with length in time, width and height."""

    axes = "TWH"
    padT, dilationT = 0, 1
    _sample_form = "planes x time x height x width"
    _plane_dim = -4

    window_size = property(attrgetter("kT", "kH", "kW"))
    window_stride = property(attrgetter("dT", "dH", "dW"))
    window_padding = property(attrgetter("padT", "padH", "padW"))
    window_dilation = property(attrgetter("dilationT", "dilationH", "dilationW"))


class Dilated(Windowed, abstract=True):
    """A window with holes: its print tells the distance of neighbouring elements, too."""

    def _extra(self) -> str:
        return shown([getattr(self, f"dilation{axis}") for axis in self.axes])


def shown(*groups: Sequence[int]) -> str:
    """Return groups of numbers in the form of a print: ``", 1,1, 2,2"``."""
    return "".join(", " + ",".join(str(number) for number in group) for group in groups)
