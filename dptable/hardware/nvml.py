"""Facts about GPUs from the NVIDIA driver, through pynvml, without a CUDA context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pynvml


class NoDriver(RuntimeError):
    """The driver's library cannot be used; the message gives the reason in one line."""


@dataclass(frozen=True)
class Process:
    """A process that computes on a GPU, and how many bytes it uses there, if known."""

    pid: int
    memory: int | None


@dataclass(frozen=True)
class Gpu:
    """The facts of a GPU or of a MIG instance; None is what the driver does not tell.

    ``index`` is the driver's number, in the order of PCI addresses. Memory is in bytes,
    utilisation in percent, temperature in °C; ``ecc_errors`` are the uncorrected ones since the
    driver started. ``instances`` are the MIG instances of a GPU in MIG mode, None for any other.
    """

    index: int
    uuid: str
    name: str
    bus: str
    memory_used: int | None = None
    memory_total: int | None = None
    utilisation: int | None = None
    temperature: int | None = None
    cores: int | None = None
    ecc_errors: int | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    processes: tuple[Process, ...] | None = None
    legacy_name: str | None = None
    instances: tuple[Gpu, ...] | None = None

    @property
    def parts(self) -> tuple[Gpu, ...]:
        """The parts of this GPU that compute: itself, or in MIG mode its instances."""
        return (self,) if self.instances is None else self.instances

    @property
    def memory_free(self) -> int | None:
        if self.memory_used is None or self.memory_total is None:
            return None
        return self.memory_total - self.memory_used


_PATHS = {
    pynvml.NVML_TOPOLOGY_INTERNAL: "INT",
    pynvml.NVML_TOPOLOGY_SINGLE: "PIX",
    pynvml.NVML_TOPOLOGY_MULTIPLE: "PXB",
    pynvml.NVML_TOPOLOGY_HOSTBRIDGE: "PHB",
    pynvml.NVML_TOPOLOGY_NODE: "NODE",
    pynvml.NVML_TOPOLOGY_SYSTEM: "SYS",
}
PATHS_EXPLAINED = (
    "NV#: # NVLinks, INT: one board, PIX: one PCIe switch, PXB: several switches, "
    "PHB: the CPU's bridge, NODE: bridges of one CPU, SYS: between CPUs"
)


@dataclass(frozen=True)
class GpuLink:
    """The connection of two GPUs: a number of NVLinks, or the way over PCIe (NVML's level)."""

    nvlinks: int
    level: int | None

    def __str__(self) -> str:
        if self.nvlinks:
            return f"NV{self.nvlinks}"
        return "?" if self.level is None else _PATHS.get(self.level, "?")

    @property
    def rank(self) -> int:
        """More is better: NVLinks first, then the shorter way."""
        farthest = pynvml.NVML_TOPOLOGY_SYSTEM
        return (
            self.nvlinks * 2 * farthest
            + farthest
            - (farthest if self.level is None else self.level)
        )


@dataclass(frozen=True)
class Survey:
    """All GPUs of the machine, and the link of every pair by driver indices, the lower first."""

    gpus: tuple[Gpu, ...]
    links: Mapping[tuple[int, int], GpuLink]

    def link(self, one: Gpu, other: Gpu) -> GpuLink | None:
        """Return the link of two GPUs; None for a GPU with itself."""
        low, high = sorted((one.index, other.index))
        return self.links.get((low, high))


def survey() -> Survey:
    """Ask the driver for everything. Raises ``NoDriver`` where there is none."""
    with _session():
        opened = [_opened(i) for i in range(pynvml.nvmlDeviceGetCount())]
        handles = [handle for handle, _ in opened]
        gpus = tuple(gpu for _, gpu in opened)
        nvlinks = [_nvlink_ends(handle) for handle in handles]
        links = {
            (i, j): GpuLink(
                _nvlinks_between(gpus[i], nvlinks[i], gpus[j], nvlinks[j]),
                _ask("nvmlDeviceGetTopologyCommonAncestor", handles[i], handles[j]),
            )
            for i in range(len(gpus))
            for j in range(i + 1, len(gpus))
        }
        return Survey(gpus, links)


def visible(gpus: Sequence[Gpu], setting: str | None) -> list[Gpu]:
    """Return the GPUs that CUDA shows a process, in CUDA's order, for a value of
    CUDA_VISIBLE_DEVICES.

    CUDA's rules: numbers, beginnings of UUIDs (``GPU-…``) or MIG instances (``MIG-…``), of one
    kind; the first entry that names nothing ends the list, and a repeated one empties it. Of a GPU
    in MIG mode a number shows the first instance.
    """
    if setting is None:
        return [shown for gpu in gpus for shown in _shown(gpu)]
    names = [name.strip() for name in setting.split(",")]
    if names[0].startswith("MIG-"):
        choices = [instance for gpu in gpus for instance in gpu.instances or ()]
        found = [_begins(choices, name, "MIG-") for name in names]
    elif names[0].startswith("GPU-"):
        found = [_begins(gpus, name, "GPU-") for name in names]
    else:
        found = [_numbered(gpus, name) for name in names]
    result: list[Gpu] = []
    for gpu in found:
        if gpu is None:
            break
        if gpu in result:
            return []
        result.append(gpu)
    return [shown for gpu in result for shown in _shown(gpu)]


def _shown(gpu: Gpu) -> Sequence[Gpu]:
    return gpu.parts[:1]


def _numbered(gpus: Sequence[Gpu], name: str) -> Gpu | None:
    return gpus[int(name)] if name.isdecimal() and int(name) < len(gpus) else None


def _begins(gpus: Sequence[Gpu], name: str, kind: str) -> Gpu | None:
    if not name.startswith(kind):
        return None
    found = [gpu for gpu in gpus if gpu.uuid.startswith(name) or gpu.legacy_name == name]
    return found[0] if len(found) == 1 else None


@contextmanager
def _session() -> Iterator[None]:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise NoDriver(f"no NVIDIA driver can be asked: {error}") from error
    try:
        yield
    except pynvml.NVMLError as error:
        raise NoDriver(f"the NVIDIA driver does not answer: {error}") from error
    finally:
        pynvml.nvmlShutdown()


def _ask(question: str, *arguments: Any) -> Any:
    """Return the driver's answer, or None where this driver, GPU or pynvml has none."""
    try:
        return getattr(pynvml, question)(*arguments)
    except (pynvml.NVMLError, AttributeError):
        return None


def _text(answer: str | bytes) -> str:
    return answer.decode() if isinstance(answer, bytes) else answer


def _opened(index: int) -> tuple[Any, Gpu]:
    """Return the handle and the facts of a GPU; a handle of None if it is lost."""
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        return handle, _gpu(handle, index)
    except pynvml.NVMLError as error:
        return None, Gpu(index, uuid="", name=f"does not answer: {error}", bus="")


def _gpu(handle: Any, index: int) -> Gpu:
    bus = _text(pynvml.nvmlDeviceGetPciInfo(handle).busId).upper()
    return Gpu(
        index=index,
        bus=bus,
        **_common_facts(handle),
        temperature=_ask("nvmlDeviceGetTemperature", handle, pynvml.NVML_TEMPERATURE_GPU),
        cores=_ask("nvmlDeviceGetNumGpuCores", handle),
        ecc_errors=_ask(
            "nvmlDeviceGetTotalEccErrors",
            handle,
            pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
            pynvml.NVML_VOLATILE_ECC,
        ),
        pcie_generation=_ask("nvmlDeviceGetCurrPcieLinkGeneration", handle),
        pcie_width=_ask("nvmlDeviceGetCurrPcieLinkWidth", handle),
        instances=_instances(handle, index, bus),
    )


def _common_facts(handle: Any) -> dict[str, Any]:
    """Return what the driver tells of GPUs and MIG instances alike."""
    memory = _ask("nvmlDeviceGetMemoryInfo", handle)
    rates = _ask("nvmlDeviceGetUtilizationRates", handle)
    processes = _ask("nvmlDeviceGetComputeRunningProcesses", handle)
    return {
        "uuid": _text(pynvml.nvmlDeviceGetUUID(handle)),
        "name": _text(pynvml.nvmlDeviceGetName(handle)),
        "memory_used": memory and memory.used,
        "memory_total": memory and memory.total,
        "utilisation": rates and rates.gpu,
        "processes": None
        if processes is None
        else tuple(Process(process.pid, process.usedGpuMemory) for process in processes),
    }


def _instances(handle: Any, index: int, bus: str) -> tuple[Gpu, ...] | None:
    mode = _ask("nvmlDeviceGetMigMode", handle)
    if not mode or mode[0] != pynvml.NVML_DEVICE_MIG_ENABLE:
        return None
    parent = _text(pynvml.nvmlDeviceGetUUID(handle))
    found = []
    for i in range(_ask("nvmlDeviceGetMaxMigDeviceCount", handle) or 0):
        instance = _ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, i)
        if instance is None:
            continue
        gi = _ask("nvmlDeviceGetGpuInstanceId", instance)
        ci = _ask("nvmlDeviceGetComputeInstanceId", instance)
        legacy = f"MIG-{parent}/{gi}/{ci}"
        found.append(Gpu(index=index, bus=bus, legacy_name=legacy, **_common_facts(instance)))
    return tuple(found)


# Where an NVLink that ends in a switch leads: to every GPU on that switch.
_SWITCH = "switch"


def _nvlink_ends(handle: Any) -> list[str]:
    """Return for every active NVLink of a GPU the PCI address of its other end."""
    ends = []
    for link in range(pynvml.NVML_NVLINK_MAX_LINKS):
        if _ask("nvmlDeviceGetNvLinkState", handle, link) != pynvml.NVML_FEATURE_ENABLED:
            continue
        kind = _ask("nvmlDeviceGetNvLinkRemoteDeviceType", handle, link)
        if kind == pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH:
            ends.append(_SWITCH)
        elif remote := _ask("nvmlDeviceGetNvLinkRemotePciInfo", handle, link):
            ends.append(_text(remote.busId).upper())
    return ends


def _nvlinks_between(one: Gpu, ends: list[str], other: Gpu, other_ends: list[str]) -> int:
    direct = min(ends.count(other.bus), other_ends.count(one.bus))
    return direct or min(ends.count(_SWITCH), other_ends.count(_SWITCH))
