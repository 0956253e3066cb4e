"""Padding at the edges of planes and volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from torch import Tensor

from compat.checks import listed, whole
from compat.nn.checks.tensors import check_dims
from compat.nn.core.layer import Layer
from compat.nn.functional import padding as f


class EdgePadding(Layer, abstract=True):
    """The base: how much to add at each end of the last dimensions, and what.

    Fields carry Torch7's names; a None stands for the first of them.
    """

    _fields: ClassVar[tuple[str, ...]]
    """The fields in the order of the last dimension's near and far end, the one before it, ..."""
    _pad: ClassVar[Callable[..., Tensor]]
    _pad_backward: ClassVar[Callable[..., Tensor]]
    _format: ClassVar[str]

    def _build(self, amounts: tuple[int | None, ...]) -> None:
        for name, amount in zip(self._fields, amounts, strict=True):
            setattr(self, name, whole(amounts[0] if amount is None else amount, name))

    def _amounts(self, input: Tensor) -> list[int]:
        dims = len(self._fields) // 2 + 1
        check_dims(input, dims, dims + 1)
        amounts = [getattr(self, name) for name in self._fields]
        if min(amounts) < 0:
            self._check_rest(input, amounts)
        return amounts

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(self._pad(input, self._amounts(input)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(self._pad_backward(gradOutput, input, self._amounts(input)))

    def _check_rest(self, input: Tensor, amounts: list[int]) -> None:
        """Raise ValueError if negative padding leaves nothing of the input."""
        ends = zip(reversed(input.shape), amounts[::2], amounts[1::2], strict=False)
        for i, (size, near, far) in enumerate(ends):
            least = 1 - min(near, 0) - min(far, 0)
            if size < least:
                cut = self._fields[2 * i : 2 * i + 2]
                raise ValueError(
                    f"input has {size} where {listed(cut, 'and')} cut off {least - 1}; at least "
                    f"{least} is accepted"
                )

    def __repr__(self) -> str:
        fields: dict[str, Any] = {name: getattr(self, name) for name in self._fields}
        return self.typename + self._format.format(**fields)


class _SpatialPadding(EdgePadding):
    _fields = ("pad_l", "pad_r", "pad_t", "pad_b")
    _format = "(l={pad_l}, r={pad_r}, t={pad_t}, b={pad_b})"

    def __init__(
        self,
        pad_l: int,
        pad_r: int | None = None,
        pad_t: int | None = None,
        pad_b: int | None = None,
    ) -> None:
        super().__init__()
        self._build((pad_l, pad_r, pad_t, pad_b))


class SpatialZeroPadding(_SpatialPadding):
    """Zeros around planes (Torch7: ``nn.SpatialZeroPadding``).

    Args:
        pad_l, pad_r, pad_t, pad_b: columns on the left and right, rows at the top and bottom; the
            first by default. Negative numbers cut off.

    Shapes: input ``[N x] planes x H x W``.

    PyTorch: ``torch.nn.ZeroPad2d``.
    """

    _pad = staticmethod(f.zero_pad)
    _pad_backward = staticmethod(f.zero_pad_backward)


class SpatialPadding(SpatialZeroPadding):
    """``SpatialZeroPadding`` under the name that it has in package nnx (``nn.SpatialPadding``).

    Args: as in ``SpatialZeroPadding``.

    Shapes: input ``[N x] planes x H x W``.

    PyTorch: ``torch.nn.ZeroPad2d``.
    """


class SpatialReflectionPadding(_SpatialPadding):
    """Planes mirrored at their edges (Torch7: ``nn.SpatialReflectionPadding``).

    Args:
        pad_l, pad_r, pad_t, pad_b: columns on the left and right, rows at the top and bottom; the
            first by default. Each is less than the size of the input.

    Shapes: input ``[N x] planes x H x W``.

    Differs from Torch7: pads of the input's size are refused; there it reads beyond the
    input.

    PyTorch: ``torch.nn.ReflectionPad2d``.
    """

    _pad = staticmethod(f.reflection_pad)
    _pad_backward = staticmethod(f.reflection_pad_backward)

    def objection(self, input: Any) -> Exception | None:
        found = super().objection(input)
        if found is None:
            height, width = input.shape[-2:]
            for name, size in zip(self._fields, (width, width, height, height), strict=True):
                if getattr(self, name) >= size:
                    found = ValueError(
                        f"{name} is {getattr(self, name)}; less than the input's size there, "
                        f"{size}, is accepted"
                    )
        return found


class SpatialReplicationPadding(_SpatialPadding):
    """Planes whose edges are repeated (Torch7: ``nn.SpatialReplicationPadding``).

    Args:
        pad_l, pad_r, pad_t, pad_b: columns on the left and right, rows at the top and bottom; the
            first by default.

    Shapes: input ``[N x] planes x H x W``.

    PyTorch: ``torch.nn.ReplicationPad2d``.
    """

    _pad = staticmethod(f.replication_pad)
    _pad_backward = staticmethod(f.replication_pad_backward)


class VolumetricReplicationPadding(EdgePadding):
    """Volumes whose edges are repeated (Torch7: ``nn.VolumetricReplicationPadding``).

    Args:
        pleft, pright, ptop, pbottom, pfront, pback: what is added at each side; the first by
            default.

    Shapes: input ``[N x] planes x T x H x W``.

    PyTorch: ``torch.nn.ReplicationPad3d``.
    """

    _fields = ("pleft", "pright", "ptop", "pbottom", "pfront", "pback")
    _pad = staticmethod(f.replication_pad)
    _pad_backward = staticmethod(f.replication_pad_backward)
    _format = (
        "(left={pleft}, right={pright}, top={ptop}, bottom={pbottom}, front={pfront}, back={pback})"
    )

    def __init__(
        self,
        pleft: int,
        pright: int | None = None,
        ptop: int | None = None,
        pbottom: int | None = None,
        pfront: int | None = None,
        pback: int | None = None,
    ) -> None:
        super().__init__()
        self._build((pleft, pright, ptop, pbottom, pfront, pback))
