"""Copy a network to several devices so that the copies train the original's parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from compat import cutorch
from compat.checks import wrong_type
from compat.cutorch import DeviceLike
from dptable import comm
from dptable.torch_internals import (
    held_buffers,
    held_modules,
    held_parameters,
    shallow_copy,
)

__all__ = [
    "replicate",
]

Network = TypeVar("Network", bound=nn.Module)


def replicate(
    network: Network, devices: Iterable[DeviceLike], detach: bool = False
) -> list[Network]:
    """Copy a ``torch.nn`` network to several devices.

    A replica has no parameters of its own: they are plain tensors on its modules, so
    ``parameters()`` of a replica is empty. What is shared in the network (one parameter in two
    modules, one module in two parents) is shared in every replica, too. Parameters travel in one
    coalesced broadcast and buffers in another. Networks of ``compat.nn`` have ``clone()`` instead.

    Args:
        network: a network whose parameters and buffers are all on the first device or the CPU.
        devices: one per replica; on the first the replica uses the network's own tensors.
        detach: make the replicas' parameters plain copies. Otherwise gradients flow back
            through them and are summed on the network's parameters.

    Returns:
        One replica per device.

    Raises:
        TypeError: ``network`` is not a ``torch.nn`` module.
        ValueError: its tensors are on other devices, a module is scripted, or a lazy module has no
            parameters yet.

    Source: ``replicate`` of torch.nn.parallel, here for devices of any kind.

    Examples:
        >>> net = torch.nn.Linear(2, 1)
        >>> first, second = replicate(net, ["cpu", "cpu"])
        >>> (first(torch.ones(2)) + second(torch.ones(2))).backward()
        >>> net.bias.grad.tolist()
        [2.0]
    """
    if not isinstance(network, nn.Module):
        raise wrong_type(network, "network", "a torch.nn.Module")
    targets = [cutorch.device(device) for device in devices]
    modules = list(network.modules())
    if any(isinstance(module, torch.jit.ScriptModule) for module in modules):
        raise ValueError(
            "network has scripted modules, whose copies hold no other parameters; one without is "
            "accepted"
        )
    if any(nn.parameter.is_lazy(parameter) for parameter in network.parameters()):
        raise ValueError(
            "network has parameters without a shape yet; one that has run once is accepted"
        )
    if not targets:
        return []
    buffers = list(network.buffers())
    # Buffers change in place during forward, and must not share a version counter with parameters.
    tensors = [
        {**parameters, **differentiable, **fixed}
        for parameters, differentiable, fixed in zip(
            _copies(list(network.parameters()), targets, detach),
            _copies([buffer for buffer in buffers if buffer.requires_grad], targets, detach),
            _copies([buffer for buffer in buffers if not buffer.requires_grad], targets, True),
            strict=True,
        )
    ]
    replicas = [{module: shallow_copy(module) for module in modules} for _ in targets]
    for copies, their_tensors in zip(replicas, tensors, strict=True):
        for module, copy in copies.items():
            _fill(copy, module, copies, their_tensors)
    return [copies[network] for copies in replicas]


def _fill(
    copy: nn.Module,
    module: nn.Module,
    modules: dict[nn.Module, Any],
    tensors: dict[Tensor, Tensor],
) -> None:
    for name, child in held_modules(module).items():
        held_modules(copy)[name] = None if child is None else modules[child]
    for name, parameter in held_parameters(module).items():
        if parameter is None:
            held_parameters(copy)[name] = None
        else:
            # No longer a leaf, so it cannot be registered as a parameter.
            setattr(copy, name, tensors[parameter])
    for name, buffer in held_buffers(module).items():
        held_buffers(copy)[name] = None if buffer is None else tensors[buffer]


def _copies(
    tensors: list[Tensor], devices: Sequence[torch.device], detach: bool
) -> list[dict[Tensor, Tensor]]:
    """Return for each device a table from the network's tensors to their copies."""
    if detach:
        plain = [tensor.detach() if tensor.requires_grad else tensor for tensor in tensors]
        copies = comm.broadcast_coalesced(plain, devices)
    else:
        flat = _Broadcast.apply(tuple(devices), *tensors) if tensors else ()
        n = len(tensors)
        copies = [list(flat[i * n : (i + 1) * n]) for i in range(len(devices))]
    return [dict(zip(tensors, copied, strict=True)) for copied in copies]


class _Broadcast(torch.autograd.Function):
    """Copy tensors to each device; backward sums the copies' gradients."""

    @staticmethod
    def forward(
        ctx: Any, devices: tuple[torch.device, ...], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.devices = devices
        ctx.home = tensors[0].device
        copies = comm.broadcast_coalesced(tensors, devices)
        fixed = [i for i, needed in enumerate(ctx.needs_input_grad[1:]) if not needed]
        ctx.mark_non_differentiable(*(copied[i] for copied in copies for i in fixed))
        return tuple(tensor for copied in copies for tensor in copied)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return None, *_Sum.apply(ctx.home, ctx.devices, *gradients)


class _Sum(torch.autograd.Function):
    """Sum each tensor's copies on the tensor's own device."""

    @staticmethod
    def forward(
        ctx: Any, home: torch.device, devices: tuple[torch.device, ...], *gradients: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.devices = devices
        n = len(gradients) // len(devices)
        lists = [gradients[i : i + n] for i in range(0, len(gradients), n)]
        return tuple(s.to(home) for s in comm.reduce_add_coalesced(lists, devices[0]))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *_Broadcast.apply(ctx.devices, *gradients)
