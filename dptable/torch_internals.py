"""The private functions of PyTorch that this package uses besides those of ``compat``.

Nothing else in the package names one, so that a release that changes them is met here; each says
what public one would replace it. They are the same in PyTorch 2.6 and 2.13 where nothing else is
said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d
from torch import Tensor, nn
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext

BatchNorm: type[nn.Module] = nn.modules.batchnorm._BatchNorm
"""What all of PyTorch's batch normalisations are; waits for a public base class."""


def foreach_add(tensors: Sequence[Tensor], others: Sequence[Tensor]) -> list[Tensor]:
    """Return the sum of each pair, in one call. Waits for a public name of
    ``torch._foreach_add``.
    """
    return list(torch._foreach_add(list(tensors), list(others)))


def foreach_mul_(tensors: Sequence[Tensor], factor: float) -> None:
    """Multiply all by a number in one call. Waits as ``foreach_add`` does."""
    torch._foreach_mul_(list(tensors), factor)


def foreach_div_(tensors: Sequence[Tensor], divisor: float) -> None:
    """Divide all by a number in one call. Waits as ``foreach_add`` does."""
    torch._foreach_div_(list(tensors), divisor)


def foreach_copy_(tensors: Sequence[Tensor], sources: Sequence[Tensor]) -> None:
    """Fill each with its source in one call. Waits as ``foreach_add`` does."""
    torch._foreach_copy_(list(tensors), list(sources))


def has_nccl() -> bool:
    """Return whether PyTorch was built with NCCL; ``torch.cuda.nccl`` has no public
    answer for it.
    """
    return hasattr(torch._C, "_nccl_all_reduce")


def end_graph_allocation(device: int, pool: Any) -> None:
    """Have the allocator leave a CUDA graph's private pool.

    Waits for ``torch.cuda.graph`` to do it when a recording breaks, which it does from 2.12 on.
    """
    # Its name in PyTorch 2.6, and its name now.
    for name in ("_cuda_endAllocateCurrentStreamToPool", "_cuda_endAllocateToPool"):
        if end := getattr(torch._C, name, None):
            end(device, pool)


# Modes of a thread


def default_device() -> torch.device | None:
    """Return what ``torch.set_default_device`` or ``with device:`` says in this thread, if
    anything.

    ``torch.get_default_device`` gives a CPU that nobody asked for too, and an index that may be
    another one in another thread.
    """
    modes = _get_current_function_mode_stack()
    return next((m.device for m in reversed(modes) if isinstance(m, DeviceContext)), None)


def saved_tensors_hooks() -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """Return the hooks of the innermost ``saved_tensors_hooks`` of this thread.

    Waits for a public question beside ``torch.autograd.graph.saved_tensors_hooks``. PyTorch 2.6 has
    none at all: None.
    """
    ask = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)
    return None if ask is None else ask(True)


# Modules


def shallow_copy(module: nn.Module) -> Any:
    """Return a module with dictionaries of its own for what it holds, and no parameters.

    Waits for ``torch.nn.parallel.replicate`` to take devices of any kind.
    """
    return module._replicate_for_data_parallel()


def held_modules(module: nn.Module) -> dict[str, nn.Module | None]:
    """Return the dictionary of the modules directly in one, those that are None too.

    It waits, as the next two do, for ``named_children`` and similar methods to tell these.
    """
    return module._modules


def held_parameters(module: nn.Module) -> dict[str, nn.Parameter | None]:
    """Return the dictionary of a module's own parameters, those that are None too."""
    return module._parameters


def held_buffers(module: nn.Module) -> dict[str, Tensor | None]:
    """Return the dictionary of a module's own buffers, those that are None too."""
    return module._buffers


# Processes


def default_store() -> dist.Store:
    """Return the store through which the processes found each other; there is no public
    way to it.
    """
    return c10d._get_default_store()


def device_types(group: dist.ProcessGroup) -> Sequence[torch.device]:
    """Return the kinds of devices whose tensors a group carries; waits for a public property."""
    return group._device_types


def sibling(group: dist.ProcessGroup, backend: str, name: str) -> dist.ProcessGroup:
    """Another group of the same processes, under a name, with the same timeout.

    ``torch.distributed.new_group(use_local_synchronization=True)`` names it by how many groups the
    process is in: where they differ in that, the processes wait for each other under different
    names, and a group made after one was left finds the former one's addresses under its own. This
    waits for a ``new_group`` that takes a name.
    """
    ranks = dist.get_process_group_ranks(group)
    unique: Any = name
    cpu = torch.device("cpu")
    device = cpu if cpu in group._device_types else group._device_types[0]
    made, _ = c10d._new_process_group_helper(
        len(ranks),
        dist.get_rank(group),
        ranks,
        dist.Backend(backend),
        c10d._get_default_store(),
        unique,
        timeout=group._get_backend(device).options._timeout,
        device_id=c10d._get_default_group().bound_device_id,
    )
    c10d._world.pg_group_ranks[made] = {rank: i for i, rank in enumerate(ranks)}
    return made


def checkpoints_groups_without_rank_0(group: dist.ProcessGroup) -> bool:
    """Return whether ``torch.distributed.checkpoint`` serves groups whose first process is not rank
    0.

    Torch 2.6 does not, which it tells by an error from deep inside; later ones do.
    """
    from torch.distributed.checkpoint.utils import _DistWrapper  # half a second to import

    return hasattr(_DistWrapper(group, True, 0), "global_coordinator_rank")


# PyTorch has renamed these two.
all_gather_single: Callable[..., Any] = (
    getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
)
reduce_scatter_single: Callable[..., Any] = (
    getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
)
