"""The devices that collective operations are asked for, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from compat import cutorch
from compat.checks import check_some, listed
from compat.cutorch import DeviceLike


def current() -> torch.device:
    """Return the current device."""
    return cutorch.device()


def listed_devices(devices: Iterable[DeviceLike] | None) -> list[torch.device]:
    """Return the devices, of which there must be one at least."""
    found = [cutorch.device(device) for device in devices or ()]
    check_some(found, "devices", "device")
    return found


def targets_of(
    source: torch.device, devices: Iterable[DeviceLike] | None, argument: str
) -> list[torch.device]:
    """Return the devices of copies of a tensor on ``source``: the first of them, or the CPU."""
    targets = listed_devices(devices)
    if source not in (targets[0], torch.device("cpu")):
        raise ValueError(
            f"{argument} is on {source}; the first device, {targets[0]}, or the CPU is accepted"
        )
    return targets


def root_first(
    inputs: Sequence[object], homes: Sequence[torch.device], destination: DeviceLike | None
) -> tuple[int, list[int]]:
    """Return the position of the first input on ``destination``, and the other positions."""
    check_some(inputs, "inputs", "tensor")
    target = current() if destination is None else cutorch.device(destination)
    if target not in homes:
        raise ValueError(
            f"destination is {target}; the device of one of the inputs, {listed(homes)}, is "
            "accepted"
        )
    root = homes.index(target)
    return root, [i for i in range(len(inputs)) if i != root]
