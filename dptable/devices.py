"""The devices to train on: list them, choose some, and check that they match.

``compat.cutorch`` keeps the list of logical devices; ``configure`` sets it. Nothing in this module
creates a CUDA context.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from typing import TYPE_CHECKING, Any, TextIO

import torch

from compat import accelerators, cutorch
from compat.cutorch import DeviceLike, configure, devices
from compat.hints import answers
from compat.terminal import printable_lines
from dptable.hardware.nvml import PATHS_EXPLAINED, Gpu, GpuLink, NoDriver, Survey, survey, visible

__all__ = [
    "Report",
    "choose",
    "configure",
    "devices",
    "facts",
    "imbalance",
    "report",
    "warn_about_imbalance",
    "watch",
]

# Below this share of the best GPU's memory or cores, a GPU holds the others up.
BALANCED = 0.75

# `choose` avoids a GPU with less than this share of the freest one's free memory: it is in use.
IDLE = 0.5


# Facts


def facts() -> dict[torch.device, Gpu]:
    """Return the driver's facts about the GPUs that PyTorch can use, by PyTorch's name.

    Raises:
        dptable.hardware.nvml.NoDriver: the driver's library (NVML) cannot be used.
    """
    return _by_device(survey())


def _by_device(known: Survey) -> dict[torch.device, Gpu]:
    shown = _by_uuid(known) if torch.cuda.is_initialized() else None
    if shown is None:
        shown = dict(enumerate(visible(known.gpus, os.environ.get("CUDA_VISIBLE_DEVICES"))))
    return {torch.device("cuda", i): gpu for i, gpu in shown.items()}


def _by_uuid(known: Survey) -> dict[int, Gpu] | None:
    """Match CUDA's devices to the driver's by UUID.

    Returns:
        The driver's facts by CUDA's number; None if CUDA is not initialised or a UUID is unknown.
    """
    # Of a GPU in MIG mode CUDA shows an instance, and may yet tell the UUID of the whole.
    parts = [part for gpu in known.gpus for part in gpu.parts]
    by_uuid = {part.uuid.removeprefix("GPU-").removeprefix("MIG-"): part for part in parts}
    try:
        uuids = [
            str(torch.cuda.get_device_properties(i).uuid) for i in range(torch.cuda.device_count())
        ]
        return {i: by_uuid[uuid] for i, uuid in enumerate(uuids)}
    except (AttributeError, KeyError):
        return None


def _order_is_certain(shown: Iterable[Gpu]) -> bool:
    # CUDA puts the fastest GPU first unless told otherwise, which only matters for unequal GPUs.
    setting = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return (
        torch.cuda.is_initialized()
        or os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
        or setting.startswith(("GPU-", "MIG-"))
        or len({gpu.name for gpu in shown}) <= 1
    )


# Choosing


def choose(count: int | None = None) -> tuple[torch.device, ...]:
    """Choose devices, as ``--devices auto`` does.

    GPUs come first: those with free memory and with the best connections to each other. Without a
    GPU the first CPU devices are taken.

    Args:
        count: how many; default: all idle ones, which have at least half as much free memory as the
            GPU with the most.

    Raises:
        ValueError: there are fewer devices.
    """
    listed = devices()
    gpus = [device for device in dict.fromkeys(listed) if accelerators.is_accelerator(device)]
    candidates = gpus or list(listed)
    if count is not None and not 1 <= count <= len(candidates):
        raise ValueError(
            f"count is {count}; 1 to {len(candidates)}, the devices there are, are accepted"
        )
    try:
        known = survey()
        shown = _by_device(known) if gpus else {}
    except NoDriver:
        shown = {}
    if not all(device in shown for device in candidates):
        return tuple(candidates[:count])
    free = {device: shown[device].memory_free or 0 for device in candidates}
    idle = [d for d in candidates if free[d] >= IDLE * max(free.values())]
    if count is None:
        return tuple(idle)

    def rank(chosen: Sequence[torch.device]) -> tuple[int, int, int, int]:
        links = [known.link(shown[a], shown[b]) for a, b in combinations(chosen, 2)]
        ranks = [link.rank for link in links if link is not None]
        busy = sum(device not in idle for device in chosen)
        return -busy, min(ranks, default=0), sum(ranks), sum(free[device] for device in chosen)

    return max(combinations(candidates, count), key=rank)


# Fitting together


def imbalance(gpus: Mapping[torch.device, Gpu]) -> str | None:
    """Return one sentence if a GPU has under 75 % of another's memory or cores, else None."""
    for what, unit in (("memory_total", "memory"), ("cores", "cores")):
        known = {d: v for d, gpu in gpus.items() if (v := getattr(gpu, what)) is not None}
        if not known:
            continue
        least, most = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        if known[least] < BALANCED * known[most]:
            share = 100 * known[least] / known[most]
            return (
                f"{least} ({gpus[least].name}) has {share:.0f} % of the {unit} of {most} "
                f"({gpus[most].name}) and holds it up: leave it out, or give it a smaller share"
            )
    return None


def warn_about_imbalance(used: Iterable[DeviceLike]) -> None:
    """Warn if the GPUs among ``used`` differ much in memory or cores; silent without a driver.

    Args:
        used: GPU ids or names of devices.
    """
    wanted = {cutorch.device(device) for device in used}
    if sum(device.type == "cuda" for device in wanted) < 2:
        return
    try:
        known = facts()
    except NoDriver:
        return
    message = imbalance({device: gpu for device, gpu in known.items() if device in wanted})
    if message is not None:
        warnings.warn(message, stacklevel=2)


# Reporting


@dataclass(frozen=True)
class Report:
    """The logical devices with the driver's facts, ready to print.

    Attributes:
        gpus: the facts by device.
        links: the connections of the pairs.
        notes: sentences for the user, such as why there are no facts.
    """

    devices: tuple[torch.device, ...]
    gpus: dict[torch.device, Gpu]
    links: dict[tuple[torch.device, torch.device], GpuLink]
    notes: tuple[str, ...]

    def table(self) -> str:
        """Return the report as text for a terminal."""
        lines = _aligned([_HEADINGS, *self._rows()])
        if self.links:
            lines += ["", *_aligned(self._link_rows()), PATHS_EXPLAINED]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)

    def json(self) -> str:
        """Return the report as JSON.

        The keys are ``devices``, ``links`` and ``notes``; unknown facts are null.
        """
        entries = []
        for gpu_id, device in enumerate(self.devices, 1):
            gpu = self.gpus.get(device)
            facts = asdict(gpu) if gpu else _NOTHING_KNOWN | _pytorchs_facts(device)
            entries.append({"gpu": gpu_id, "device": str(device), **facts})
        links = [
            {"devices": [str(one), str(other)], "kind": str(link), "nvlinks": link.nvlinks}
            for (one, other), link in self.links.items()
        ]
        return json.dumps({"devices": entries, "links": links, "notes": self.notes}, indent=2)

    def _rows(self) -> list[list[str]]:
        rows = []
        for gpu_id, device in enumerate(self.devices, 1):
            gpu = self.gpus.get(device)
            facts = _gpu_cells(gpu) if gpu else _pytorchs_cells(device)
            rows.append([str(gpu_id), str(device), *facts])
        return rows

    def _link_rows(self) -> list[list[str]]:
        names = list(dict.fromkeys(device for pair in self.links for device in pair))
        rows = [["", *map(str, names)]]
        for one in names:
            cells = [self.links.get((one, o)) or self.links.get((o, one)) or "-" for o in names]
            rows.append([str(one), *map(str, cells)])
        return rows


_NOTHING_KNOWN: dict[str, Any] = dict.fromkeys(field.name for field in fields(Gpu))

_HEADINGS = [
    "GPU",
    "device",
    "name",
    "memory used",
    "use",
    "temp.",
    "cores",
    "processes",
    "ECC errors",
    "PCIe",
    "UUID",
]


def report() -> Report:
    """Collect the facts about all logical devices."""
    listed = devices()
    try:
        known = survey()
    except NoDriver as error:
        others = accelerators.kind() not in (None, "cuda")
        return Report(listed, {}, {}, () if others else (f"{error}.",))
    shown = _by_device(known)
    notes = []
    if not _order_is_certain(shown.values()):
        notes.append(
            "The GPUs differ, and CUDA may number them by speed: set CUDA_DEVICE_ORDER=PCI_BUS_ID."
        )
    if not torch.cuda.is_available() and shown:
        notes.append(f"PyTorch {torch.__version__} cannot use the GPUs of this machine.")
    used = {device: shown[device] for device in dict.fromkeys(listed) if device in shown}
    if message := imbalance(used):
        notes.append(f"{message}.")
    links = {
        (one, other): link
        for one, other in combinations(used, 2)
        if (link := known.link(used[one], used[other])) is not None
    }
    return Report(listed, used, links, tuple(notes))


def watch(interval: float = 2.0, *, out: TextIO | None = None, rounds: int | None = None) -> None:
    """Print the report again and again until Ctrl-C; on a terminal each overwrites the last.

    Args:
        interval: seconds between two reports.
        out: where to print; default: standard output.
        rounds: how many reports; default: no end.
    """
    if not 0 < interval < math.inf:
        raise ValueError(f"interval is {interval:g}; a positive number of seconds is accepted")
    stream = sys.stdout if out is None else out
    home = "\x1b[H\x1b[2J" if stream.isatty() else ""
    done = 0
    try:
        while rounds is None or done < rounds:
            if done:
                time.sleep(interval)
            print(f"{home}{printable_lines(report().table())}", file=stream, flush=True)
            done += 1
    except KeyboardInterrupt:
        print(file=stream)


def _gpu_cells(gpu: Gpu) -> list[str]:
    def cell(value: object, unit: str = "") -> str:
        return "-" if value is None else f"{value}{unit}"

    pcie = None
    if gpu.pcie_generation is not None and gpu.pcie_width is not None:
        pcie = f"{gpu.pcie_generation}.0 x{gpu.pcie_width}"
    return [
        gpu.name,
        _memory(gpu.memory_used, gpu.memory_total),
        cell(gpu.utilisation, " %"),
        cell(gpu.temperature, " °C"),
        cell(gpu.cores),
        cell(None if gpu.processes is None else len(gpu.processes)),
        cell(gpu.ecc_errors),
        cell(pcie),
        gpu.uuid,
    ]


def _pytorchs_facts(device: torch.device) -> dict[str, Any]:
    """Return what PyTorch itself knows about a device that the driver does not list."""
    if device.type == "cuda" and not accelerators.started("cuda"):
        # Asking PyTorch would create a context.
        return {"name": str(device)}
    properties = cutorch.getDeviceProperties(device)
    total = properties["totalGlobalMem"]
    return {
        "name": properties["name"],
        "memory_used": total - properties["freeGlobalMem"],
        "memory_total": total,
        "cores": properties.get("multiProcessorCount"),
    }


def _pytorchs_cells(device: torch.device) -> list[str]:
    facts = _pytorchs_facts(device)
    memory = _memory(facts.get("memory_used"), facts.get("memory_total"))
    cores = str(facts.get("cores", "-"))
    return [facts["name"], memory, "-", "-", cores, "-", "-", "-", "-"]


def _memory(used: int | None, total: int | None) -> str:
    if used is None or total is None:
        return "-"
    return f"{used / 2**30:.1f} of {total / 2**30:.1f} GiB"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


_HINTS = {
    **dict.fromkeys(("count", "device_count"), "use len(devices.devices())"),
    "set": "use devices.configure(list)",
}

__path__: list[str] = []  # for HintsOfImports

if not TYPE_CHECKING:
    __getattr__ = answers(__name__, "devices", _HINTS, __all__)
