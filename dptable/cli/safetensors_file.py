"""Files of tensors in the format of safetensors, written without a copy of them in memory."""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import Tensor

_NAMES = {
    **{torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"},
    **{torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8"},
    **{torch.uint8: "U8", torch.bool: "BOOL"},
}


def write(file: Any, found: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write a .safetensors file one tensor after the other: no copy of all is in memory."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt", **(metadata or {})}}
    end = 0
    for name, tensor in found.items():
        start, end = end, end + tensor.nbytes
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape)}
        header[name]["data_offsets"] = [start, end]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for tensor in found.values():
        if tensor.numel():
            file.write(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy())
