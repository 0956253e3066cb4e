"""Devices, random states, streams and pinned memory under the names of Torch7's ``cutorch``.

GPU id *i* is entry *i*, counted from 1, of a list of logical devices. By default these are all
accelerators, of CUDA or another kind, or, without any, as many CPU devices as there are cores, so
that a script written for ``{1, 2}`` runs on a laptop. ``configure`` or the environment variable
``DPTABLE_DEVICES`` set another list; one device may be listed several times. ``net.cuda()`` and
``torch.CudaTensor`` mean the current one of these devices; if that is a CPU, there is a warning.

Differs from Torch7: wherever a GPU id is taken, a string or a ``torch.device`` is accepted too and
means PyTorch's device of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.cutorch.devices import (
    ENVIRONMENT_VARIABLE,
    DeviceLike,
    accelerated,
    configure,
    cuda_device,
    device,
    device_guard,
    devices,
    getDevice,
    getDeviceCount,
    gpu_id,
    place,
    setDevice,
    synchronize,
    synchronizeAll,
    withDevice,
)
from compat.cutorch.facts import (
    getDeviceProperties,
    getDriverVersion,
    getMemoryUsage,
    getPeerToPeerAccess,
    getRuntimeVersion,
    hasHalf,
    isCachingAllocatorEnabled,
)
from compat.cutorch.host_memory import (
    createCudaHostByteTensor,
    createCudaHostDoubleTensor,
    createCudaHostFloatTensor,
    createCudaHostHalfTensor,
    createCudaHostIntTensor,
    createCudaHostLongTensor,
    createCudaHostTensor,
)
from compat.cutorch.random_states import (
    getRNGState,
    initialSeed,
    manualSeed,
    manualSeedAll,
    seed,
    seedAll,
    setRNGState,
)
from compat.cutorch.streams import (
    getNumStreams,
    getStream,
    reserveStreams,
    setDefaultStream,
    setStream,
    streamBarrier,
    streamBarrierMultiDevice,
    streamSynchronize,
    streamWaitFor,
    streamWaitForMultiDevice,
)
from compat.hints import answers as _answers

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "DeviceLike",
    "accelerated",
    "configure",
    "createCudaHostByteTensor",
    "createCudaHostDoubleTensor",
    "createCudaHostFloatTensor",
    "createCudaHostHalfTensor",
    "createCudaHostIntTensor",
    "createCudaHostLongTensor",
    "createCudaHostTensor",
    "cuda_device",
    "device",
    "device_guard",
    "devices",
    "getDevice",
    "getDeviceCount",
    "getDeviceProperties",
    "getDriverVersion",
    "getMemoryUsage",
    "getNumStreams",
    "getPeerToPeerAccess",
    "getRNGState",
    "getRuntimeVersion",
    "getStream",
    "gpu_id",
    "hasHalf",
    "initialSeed",
    "isCachingAllocatorEnabled",
    "manualSeed",
    "manualSeedAll",
    "place",
    "reserveStreams",
    "seed",
    "seedAll",
    "setDefaultStream",
    "setDevice",
    "setRNGState",
    "setStream",
    "streamBarrier",
    "streamBarrierMultiDevice",
    "streamSynchronize",
    "streamWaitFor",
    "streamWaitForMultiDevice",
    "synchronize",
    "synchronizeAll",
    "withDevice",
]

_PEERS = "PyTorch uses peer access wherever getPeerToPeerAccess says it can"
_HANDLES = "PyTorch keeps a BLAS handle per thread and stream on its own"
_HINTS = {
    "CudaTensor": "use torch.empty(3, device=cutorch.device(1))",
    "current_stream": "use cutorch.getStream()",
    "device_count": "use cutorch.getDeviceCount()",
    "memory_allocated": "use cutorch.getMemoryUsage()",
    "current_device": "use cutorch.getDevice(), which counts from 1",
    "empty_cache": "use torch.cuda.empty_cache()",
    "is_available": "use cutorch.getDeviceCount(), which counts CPUs where there is no accelerator",
    "mem_get_info": "use cutorch.getMemoryUsage()",
    "createCudaUVATensor": "use createCudaHostTensor and copy",
    "createFloatUVATensor": "use createCudaHostTensor",
    "toCudaUVATensor": "use tensor.to(device)",
    "toFloatUVATensor": "use tensor.to('cpu')",
    "setPeerToPeerAccess": _PEERS,
    "setKernelPeerToPeerAccess": _PEERS,
    "deviceReset": "use torch.cuda.empty_cache() to give memory back",
    "reserveBlasHandles": _HANDLES,
    "setBlasHandle": _HANDLES,
    "setHeapTracking": "Python frees tensors at once, there is no heap to track",
}

if not TYPE_CHECKING:
    __getattr__ = _answers(__name__, "cutorch", _HINTS, __all__)
