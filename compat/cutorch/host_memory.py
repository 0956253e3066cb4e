"""Tensors in page-locked memory of the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from compat import accelerators


def _host_tensor_maker(dtype: torch.dtype) -> Callable[..., torch.Tensor]:
    def create(*size: int | Sequence[int]) -> torch.Tensor:
        sizes: Any = size[0] if len(size) == 1 and not isinstance(size[0], int) else size or (0,)
        return torch.empty(tuple(sizes), dtype=dtype, pin_memory=accelerators.pins_memory())

    name = str(dtype).removeprefix("torch.")
    create.__doc__ = (
        f"An uninitialised {name} tensor on the CPU, page-locked where accelerators gain by it.\n\n"
        "Takes the sizes one by one or as one sequence; without any, the tensor is empty."
    )
    return create


createCudaHostTensor = createCudaHostFloatTensor = _host_tensor_maker(torch.float32)
createCudaHostDoubleTensor = _host_tensor_maker(torch.float64)
createCudaHostHalfTensor = _host_tensor_maker(torch.float16)
createCudaHostIntTensor = _host_tensor_maker(torch.int32)
createCudaHostLongTensor = _host_tensor_maker(torch.int64)
createCudaHostByteTensor = _host_tensor_maker(torch.uint8)
