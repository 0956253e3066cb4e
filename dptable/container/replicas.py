"""Making the replicas: the net itself, and a copy of it for each other device."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from compat.nn.core.flat_storage import Conversion
from compat.nn.core.module import Module
from compat.tensor_types import parse_type, type_name
from dptable.container.replica_link import all_parameters


def towers(net: Module, devices: Sequence[torch.device]) -> list[Module]:
    """``net``, moved to the first device if need be, and a copy of it on each other one."""
    if any(p.device != devices[0] for p in all_parameters(net)):
        _move(net, devices[0])
    net.drop_graph()
    replicas = [net]
    for device in devices[1:]:
        replica = net.clone().clearState()
        if device != devices[0]:
            _move(replica, device)
        replica.zeroGradParameters()
        replicas.append(replica)
    return replicas


def _move(module: Module, device: torch.device) -> None:
    dtype, _ = parse_type(module.type())
    conversion = Conversion(dtype, device)
    name = type_name(dtype, cuda=device.type == "cuda")
    module.prepare_conversion(conversion, name)
    module.convert(conversion, name)
