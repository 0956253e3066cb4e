"""Facts about devices: memory, properties, versions of CUDA."""

from __future__ import annotations

import os
import platform
from typing import Any

import torch

from compat import accelerators
from compat.cutorch.devices import DeviceLike, cores, device, device_or_current
from compat.lua_tables import Table
from compat.torch_internals import driver_version

hasHalf = True


def getMemoryUsage(gpu: DeviceLike | None = None) -> tuple[int, int]:
    """Return free and total memory in bytes of a device (default: the current one).

    For a CPU device, and for one that uses the CPU's memory, these are the machine's.

    Args:
        gpu: a GPU id from 1, or PyTorch's name of a device.
    """
    target = device_or_current(gpu)
    told = accelerators.memory(target) if accelerators.is_accelerator(target) else None
    return _machine_memory() if told is None else told


def _machine_memory() -> tuple[int, int]:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            facts = dict(line.split(":", 1) for line in file)
        free, total = (int(facts[k].split()[0]) * 1024 for k in ("MemAvailable", "MemTotal"))
    except (OSError, KeyError):
        page = os.sysconf("SC_PAGE_SIZE")
        total = os.sysconf("SC_PHYS_PAGES") * page
        # macOS does not tell how much is free.
        known = "SC_AVPHYS_PAGES" in os.sysconf_names
        free = os.sysconf("SC_AVPHYS_PAGES") * page if known else total
    return free, total


# Torch7's key, and the attribute of PyTorch's properties (some came after torch 2.6).
_PROPERTIES = {
    "name": "name",
    "major": "major",
    "minor": "minor",
    "totalGlobalMem": "total_memory",
    "multiProcessorCount": "multi_processor_count",
    "warpSize": "warp_size",
    "maxThreadsPerMultiProcessor": "max_threads_per_multi_processor",
    "regsPerMultiprocessor": "regs_per_multiprocessor",
    "sharedMemPerBlock": "shared_memory_per_block",
    "sharedMemPerMultiprocessor": "shared_memory_per_multiprocessor",
    "l2CacheSize": "L2_cache_size",
    "clockRate": "clock_rate",
    "memoryClockRate": "memory_clock_rate",
    "memoryBusWidth": "memory_bus_width",
    "pciDomainID": "pci_domain_id",
    "pciBusID": "pci_bus_id",
    "pciDeviceID": "pci_device_id",
    "integrated": "is_integrated",
}


def getDeviceProperties(gpu: DeviceLike | None = None) -> Table:
    """Return facts about a device (default: the current one) under Torch7's keys.

    The result is a dict whose entries are also attributes. It has the keys that PyTorch knows; for
    a CPU device ``name``, ``major``, ``minor``, ``multiProcessorCount`` (cores) and the memory.

    Args:
        gpu: a GPU id from 1, or PyTorch's name of a device.
    """
    target = device_or_current(gpu)
    free, total = getMemoryUsage(target)
    facts: dict[str, Any] = {"name": str(target), "major": 0, "minor": 0, "totalGlobalMem": total}
    if accelerators.is_accelerator(target):
        properties = accelerators.properties(target)
        facts |= {
            key: getattr(properties, attribute)
            for key, attribute in _PROPERTIES.items()
            if hasattr(properties, attribute)
        }
    else:
        facts["name"] = platform.processor() or platform.machine()
        facts["multiProcessorCount"] = cores()
    return Table(facts, freeGlobalMem=free)


def getPeerToPeerAccess(gpu: DeviceLike, peer: DeviceLike) -> bool:
    """Return whether ``gpu`` can address the memory of ``peer``; PyTorch uses it by itself.

    Args:
        gpu: a GPU id from 1, or PyTorch's name of a device.
        peer: the device whose memory it is about.
    """
    return accelerators.can_access_peer(device(gpu), device(peer))


def getDriverVersion() -> int:
    """Return the newest CUDA version of the driver, as 12040 for 12.4; 0 without a driver."""
    return driver_version()


def getRuntimeVersion() -> int:
    """Return the CUDA version of this PyTorch, as 12040 for 12.4; 0 without CUDA."""
    if torch.version.cuda is None:
        return 0
    major, minor = torch.version.cuda.split(".")[:2]
    return int(major) * 1000 + int(minor) * 10


def isCachingAllocatorEnabled() -> bool:
    """Return whether memory of the current device is cached between uses."""
    target = device_or_current()
    return accelerators.caches_memory(target)
