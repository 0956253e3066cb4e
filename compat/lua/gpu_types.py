"""Tensors with GPU types in Lua: those on accelerators, and declared ones where GPUs are CPUs.

On CPUs a net of the type ``torch.CudaTensor`` computes on the CPU, and PyTorch cannot tell its
tensors from others. Tensors that Lua makes are declared to be of their type
(``compat.tensor_types.declare``); other tensors that a net gives to Lua get the net's type.
"""

from __future__ import annotations

from typing import Any

import torch

from compat import cutorch
from compat.nn.core.convertible import Convertible
from compat.tensor_tables import contents
from compat.tensor_types import CUDA_TYPES, type_name


def tell_types(owner: Any, *values: Any) -> None:
    """Declare the tensors in what ``owner`` gives to Lua, where nobody has, to be of its type.

    It is an object with a type, or a tensor.
    """
    if _type(owner) in CUDA_TYPES:
        for tensor in contents(values):
            if isinstance(tensor, torch.Tensor) and tensor.is_cpu:
                dtype = torch.uint8 if tensor.dtype == torch.bool else tensor.dtype
                tensor.__dict__.setdefault("torch7_type", type_name(dtype, cuda=True))


def _type(owner: Any) -> str:
    """Return the type of an object's results; a container's is that of its last module."""
    if not isinstance(owner, Convertible):
        return getattr(owner, "torch7_type", "")
    while isinstance(parts := getattr(owner, "modules", None), list) and parts:
        owner = parts[-1]
    # Not `type()`, which a class of Lua may have of its own.
    return vars(owner).get("outtype") or vars(owner).get("_type", "")


def gpu_of(tensor: torch.Tensor) -> int:
    """Return the id of the first logical device that a tensor is on; 0 if there is none."""
    listed = cutorch.devices()
    return listed.index(tensor.device) + 1 if tensor.device in listed else 0
