"""The base of poolings over windows: sizes, steps, padding, and the size of the output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from torch import Tensor

from compat.nn.functional import pooling as f
from compat.nn.layers.pooling.places import Remembering
from compat.nn.layers.window import Emptied, Windowed, shown

P = TypeVar("P", bound="Pooling")
A = TypeVar("A", bound="AveragePooling")


class Pooling(Emptied, Windowed, abstract=True):
    """The base of poolings: a window, and whether incomplete windows at the far edge count."""

    ceil_mode: bool = False

    def _set_window(self, kernel: Any, stride: Any, padding: Any = ()) -> None:
        super()._set_window(kernel, stride, padding)
        self.ceil_mode = False

    def ceil(self: P) -> P:
        """Round the output size up: windows that reach over the far edge count."""
        self.ceil_mode = True
        return self

    def floor(self: P) -> P:
        """Round the output size down, the default."""
        self.ceil_mode = False
        return self

    def objection(self, input: Any) -> Exception | None:
        found = super().objection(input)
        for axis, kernel, _, pad in zip(self.axes, *self._shown_window(), strict=True):
            if found is None and 2 * pad > kernel:
                found = ValueError(
                    f"pad{axis} is {pad}; at most half of k{axis}, {kernel}, is accepted"
                )
        return found

    def _extra(self) -> str:
        """Return the text of the print after the padding."""
        return ""

    def __repr__(self) -> str:
        kernel, stride, padding = self._shown_window()
        text = "x".join(map(str, kernel)) + shown(stride)
        if any(padding):
            text += shown(padding)
        return f"{self.typename}({text}{self._extra()})"


class MaxPooling(Remembering, Pooling, abstract=True):
    """The maximum of each window.

    Fields: ``indices``, where in its plane each maximum was, counted from 1; ``iheight`` and
    ``iwidth`` (and ``itime``), the size of the latest input.
    """

    # Old files of nets with unpooling hold a closure that notes the size of the input.
    scratch_fields = ("updateOutput",)
    saves_indices = True

    iwidth = property(lambda self: self.extent[-1] if self.extent else None)
    iheight = property(lambda self: self.extent[-2] if self.extent else None)
    itime = property(lambda self: self.extent[-3] if self.extent else None)

    def _extent(self, input: Tensor) -> Sequence[int]:
        return self._extents(input)

    def _window(self) -> tuple[Any, ...]:
        return (
            self.window_size,
            self.window_stride,
            self.window_padding,
            self.window_dilation,
            self.ceil_mode,
        )

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check_sample(input)
        output, places = f.max_pool(input, *self._window())
        self._remember(places, input)
        return self.set_output(output)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        self._check_sample(input)
        places = self.places_in(self._extent(input))
        return self.set_gradInput(f.max_pool_backward(gradOutput, input, places, *self._window()))

    def t7_fields(self) -> dict[str, Any]:
        return super().t7_fields() | dict(zip(self._extent_names(), self.extent, strict=False))

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        extent = [fields.pop(name, None) for name in self._extent_names()]
        if all(extent):
            self.extent = extent
        super().t7_restore(fields, version)

    def _extent_names(self) -> tuple[str, ...]:
        return ("itime", "iheight", "iwidth")[-len(self.axes) :]


class AveragePooling(Pooling, abstract=True):
    """The average of each window.

    ``count_include_pad`` tells whether padding counts as zeros; without ``divide``, which old files
    lack, averages are multiplied by the size of the window.
    """

    newer_fields: ClassVar[tuple[str, ...]] = ("count_include_pad", "divide")
    count_include_pad: bool = True
    divide: bool = False

    def setCountIncludePad(self: A) -> A:
        """Count padding as zeros, the default."""
        self.count_include_pad = True
        return self

    def setCountExcludePad(self: A) -> A:
        """Average over what lies inside the input."""
        self.count_include_pad = False
        return self

    def _window(self) -> tuple[Any, ...]:
        return (
            self.window_size,
            self.window_stride,
            self.window_padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def _divided(self, averages: Tensor) -> Tensor:
        return averages if self.divide else averages.mul_(math.prod(self.window_size))

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check_sample(input)
        return self.set_output(self._divided(f.avg_pool(input, *self._window())))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        self._check_sample(input)
        return self.set_gradInput(
            self._divided(f.avg_pool_backward(gradOutput, input, *self._window()))
        )
