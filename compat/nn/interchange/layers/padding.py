"""Padding at the edges of planes and volumes."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.interchange.from_torch import converts_from_simply
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import padding as torch7


def _register(layer: Any, cls: Any) -> None:
    converts_simply(cls, lambda m: layer(tuple(getattr(m, name) for name in m._fields)))
    converts_from_simply(layer, lambda m: cls(*m.padding))


_register(nn.ZeroPad2d, torch7.SpatialZeroPadding)
_register(nn.ReflectionPad2d, torch7.SpatialReflectionPadding)
_register(nn.ReplicationPad2d, torch7.SpatialReplicationPadding)
_register(nn.ReplicationPad3d, torch7.VolumetricReplicationPadding)
