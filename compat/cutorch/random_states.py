"""The random generators of devices."""

from __future__ import annotations

import os

import torch

from compat.accelerators import generator
from compat.cutorch.devices import DeviceLike, device_or_current, devices


def manualSeed(seed: int, gpu: DeviceLike | None = None) -> None:
    """Seed the generator of a device (default: the current one).

    Logical devices on one physical device share its generator. A CPU device has PyTorch's
    generator, not that of ``compat.random``: ``cutorch`` does not touch Torch7's own either.

    Args:
        seed: a whole number.
        gpu: the device, a GPU id from 1 or PyTorch's name; default: the current one.
    """
    generator(device_or_current(gpu)).manual_seed(seed)


def manualSeedAll(seed: int) -> None:
    """Seed every device with the same number.

    Args:
        seed: a whole number.
    """
    for listed in dict.fromkeys(devices()):
        manualSeed(seed, listed)


def seed(gpu: DeviceLike | None = None) -> int:
    """Seed a device with a number from the system's randomness and return that number."""
    return generator(device_or_current(gpu)).seed()


def seedAll() -> None:
    """Seed every device with one number from the system's randomness."""
    manualSeedAll(int.from_bytes(os.urandom(8), "little") >> 1)


def initialSeed(gpu: DeviceLike | None = None) -> int:
    """Return the latest seed of a device."""
    return generator(device_or_current(gpu)).initial_seed()


def getRNGState(gpu: DeviceLike | None = None) -> torch.Tensor:
    """Return the state of a device's generator: a uint8 tensor on the CPU.

    Args:
        gpu: the device, a GPU id from 1 or PyTorch's name; default: the current one.
    """
    return generator(device_or_current(gpu)).get_state()


def setRNGState(state: torch.Tensor, gpu: DeviceLike | None = None) -> None:
    """Set the state of a device's generator to one that ``getRNGState`` returned.

    Args:
        state: the uint8 tensor that ``getRNGState`` returned for a device of the same kind.
        gpu: the device, a GPU id from 1 or PyTorch's name; default: the current one.
    """
    generator(device_or_current(gpu)).set_state(state)
