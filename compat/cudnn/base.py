"""The base of cudnn.torch's classes."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from compat import t7
from compat.nn.core.layer import Layer

C = TypeVar("C", bound="Cudnn")


class Cudnn(Layer, abstract=True):
    """The base of all classes, whose files hold none of cudnn's descriptors."""

    _descriptors = (
        "LRNDesc",
        "algType",
        "bdmode",
        "biasDesc",
        "bias_offset",
        "buffer",
        "bwmode",
        "convDesc",
        "convDescData",
        "extraBuffer",
        "fmode",
        "iDesc",
        "iDescs",
        "iSize",
        "input_offset",
        "nDim",
        "oDesc",
        "oDescBias",
        "oDescForBias",
        "oDescs",
        "oSize",
        "output_offset",
        "poolDesc",
        "sDesc",
        "scaleT",
        "weightDesc",
        "weight_offset",
    )

    _input_dims: ClassVar[int] = 4

    def t7_fields(self) -> dict[str, Any]:
        # Some versions of cudnn.torch copy the sizes of an input into this storage.
        return super().t7_fields() | {"iSize": t7.Storage([0] * self._input_dims)}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in self._descriptors:
            fields.pop(name, None)
        super().t7_restore(fields, version)

    def clearDesc(self: C) -> C:
        """Do nothing: there are no descriptors to clear."""
        return self
