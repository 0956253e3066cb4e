"""The devices to train on."""

from __future__ import annotations

from compat.cutorch import configure, devices

__all__ = ["configure", "devices"]
