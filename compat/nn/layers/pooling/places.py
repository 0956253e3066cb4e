"""Poolings that remember where each maximum was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.nn.core.layer import Layer
from compat.nn.functional import pooling as f

P = TypeVar("P", bound="Remembering")


class Remembering(Layer, abstract=True):
    """The base.

    Field: ``indices``, where each maximum of the latest input was, counted from 1. Backward goes
    by them.

    Kernels return ``places``, which count from 0, in planes of size ``extent``. After ``indices``
    has been read or set, backward uses ``indices`` and checks that they lie inside the input.
    """

    cleared_fields = ("indices",)
    pass_fields = ("places",)
    places: Tensor | None = None
    extent: Sequence[int] = ()
    _told: Tensor | None = None
    # Whether files hold ``indices``.
    saves_indices: ClassVar[bool] = False

    @property
    def indices(self) -> Tensor:
        if self.places is not None:
            self._told, self.places = self.places + 1, None
        return torch.empty(0, dtype=torch.long) if self._told is None else self._told

    @indices.setter
    def indices(self, value: Tensor | None) -> None:
        self._told, self.places = value, None

    def _extent(self, input: Tensor) -> Sequence[int]:
        """Return the size that places count in: of a plane, or the number of frames."""
        return input.shape[-2:]

    def _remember(self, places: Tensor, input: Tensor) -> None:
        self.places, self.extent = places, self._extent(input)
        if self._told is not None:
            self._told = None

    def places_in(self, extent: Sequence[int]) -> Tensor:
        """Return the places, all inside planes of this size."""
        if self.places is not None and self.extent == extent:
            return self.places
        indices = self.indices
        if not indices.numel():
            raise RuntimeError(f"{self.typename} needs a forward pass first")
        return f.places_of(indices.long(), math.prod(extent))

    def clearState(self: P) -> P:
        self.indices = None
        self.extent = ()
        return super().clearState()

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        for name in ("places", "extent", "_told"):
            fields.pop(name, None)
        return fields | {"indices": self.indices} if self.saves_indices else fields

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        indices = fields.pop("indices", None)
        super().t7_restore(fields, version)
        if isinstance(indices, Tensor) and indices.numel():
            if indices.dtype != torch.long:
                t7.claim(torch.int64.itemsize * indices.numel())
            self.indices = indices.long()
