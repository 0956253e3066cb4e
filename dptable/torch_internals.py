"""The private functions of PyTorch that this package uses, besides those in ``compat``.

No other module of the package names one, so a release that changes them is noticed here. Each
docstring names the public function that would replace it. They are the same in PyTorch 2.6 and
2.13 unless the docstring says otherwise.
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
    """Return the sum of each pair, in one call; until ``torch._foreach_add`` is public."""
    return list(torch._foreach_add(list(tensors), list(others)))


def foreach_mul_(tensors: Sequence[Tensor], factor: float) -> None:
    """Multiply all tensors by a number in one call; see ``foreach_add``."""
    torch._foreach_mul_(list(tensors), factor)


def foreach_div_(tensors: Sequence[Tensor], divisor: float) -> None:
    """Divide all tensors by a number in one call; see ``foreach_add``."""
    torch._foreach_div_(list(tensors), divisor)


def foreach_copy_(tensors: Sequence[Tensor], sources: Sequence[Tensor]) -> None:
    """Copy each source into its tensor in one call; see ``foreach_add``."""
    torch._foreach_copy_(list(tensors), list(sources))


def has_nccl() -> bool:
    """Return whether PyTorch was built with NCCL; ``torch.cuda.nccl`` has no public function."""
    return hasattr(torch._C, "_nccl_all_reduce")


def end_graph_allocation(device: int, pool: Any) -> None:
    """Make the allocator leave a CUDA graph's private pool.

    ``torch.cuda.graph`` does this itself when a recording fails, from PyTorch 2.12 on.
    """
    # Its name in PyTorch 2.6, and its name now.
    for name in ("_cuda_endAllocateCurrentStreamToPool", "_cuda_endAllocateToPool"):
        if end := getattr(torch._C, name, None):
            end(device, pool)


# Modes of a thread


def default_device() -> torch.device | None:
    """Return the default device of this thread, or None if none was set.

    It is set by ``torch.set_default_device`` or ``with device:``. The public
    ``torch.get_default_device`` returns the CPU if none was set, and adds an index that may differ
    between threads.
    """
    modes = _get_current_function_mode_stack()
    return next((m.device for m in reversed(modes) if isinstance(m, DeviceContext)), None)


def saved_tensors_hooks() -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """Return the hooks of the innermost ``saved_tensors_hooks`` of this thread.

    PyTorch has no public function for it; 2.6 has no private one either, and the result is None.
    """
    ask = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)
    return None if ask is None else ask(True)


# Modules


def shallow_copy(module: nn.Module) -> Any:
    """Return a copy of a module with its own dictionaries and no parameters.

    Needed until ``torch.nn.parallel.replicate`` accepts devices of any kind.
    """
    return module._replicate_for_data_parallel()


def held_modules(module: nn.Module) -> dict[str, nn.Module | None]:
    """Return the dictionary of a module's children, with the entries that are None.

    ``named_children`` and similar methods leave these out; likewise for the next two functions.
    """
    return module._modules


def held_parameters(module: nn.Module) -> dict[str, nn.Parameter | None]:
    """Return the dictionary of a module's own parameters, with the entries that are None."""
    return module._parameters


def held_buffers(module: nn.Module) -> dict[str, Tensor | None]:
    """Return the dictionary of a module's own buffers, with the entries that are None."""
    return module._buffers


# Processes


def default_store() -> dist.Store:
    """Return the store that the processes used to find each other; PyTorch has no public access."""
    return c10d._get_default_store()


def device_types(group: dist.ProcessGroup) -> Sequence[torch.device]:
    """Return the device types that a group's backends carry; until there is a public property."""
    return group._device_types


def sibling(group: dist.ProcessGroup, backend: str, name: str) -> dist.ProcessGroup:
    """Make another group of the same processes, with a given name and the same timeout.

    ``torch.distributed.new_group(use_local_synchronization=True)`` derives the name from the number
    of groups that the process is in. Where processes differ in that number, they wait for each
    other under different names; and a group that is made after another was left finds the old
    addresses under its name. Needed until ``new_group`` takes a name.
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
    """Return whether ``torch.distributed.checkpoint`` works in groups that lack global rank 0.

    PyTorch 2.6 fails there with an error from deep inside.
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
