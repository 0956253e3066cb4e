"""Torch7's names of tensor types, and what they are in PyTorch."""

from __future__ import annotations

import torch

from compat import accelerators
from compat.checks import listed

_DTYPES = {
    "Float": torch.float32,
    "Double": torch.float64,
    "Half": torch.float16,
    "Byte": torch.uint8,
    "Char": torch.int8,
    "Short": torch.int16,
    "Int": torch.int32,
    "Long": torch.int64,
    # Not in Torch7; named as PyTorch names it.
    "BFloat16": torch.bfloat16,
}

CPU_TYPES = {f"torch.{name}Tensor": dtype for name, dtype in _DTYPES.items()}
CUDA_TYPES = {f"torch.Cuda{name}Tensor": dtype for name, dtype in _DTYPES.items()}
CUDA_TYPES["torch.CudaTensor"] = CUDA_TYPES.pop("torch.CudaFloatTensor")

_CPU_NAMES = {dtype: name for name, dtype in CPU_TYPES.items()}
_CUDA_NAMES = {dtype: name for name, dtype in CUDA_TYPES.items()}


def type_name(dtype: torch.dtype, cuda: bool = False) -> str:
    """Return Torch7's name of the tensor type with this dtype, e.g. ``torch.CudaDoubleTensor``."""
    return (_CUDA_NAMES if cuda else _CPU_NAMES)[dtype]


def tensor_type(tensor: torch.Tensor) -> str:
    """Return Torch7's name of a tensor's type; on an accelerator, of any kind, the CUDA one."""
    named = getattr(tensor, "torch7_type", None)
    return named or type_name(tensor.dtype, accelerators.holds(tensor))


def parse_type(name: str | torch.dtype, argument: str = "type") -> tuple[torch.dtype, bool]:
    """Return the dtype of a tensor type, and whether it lives on a GPU.

    ``name`` is Torch7's name (``torch.FloatTensor``, ``torch.CudaTensor``), PyTorch's
    (``torch.cuda.FloatTensor``) or a floating point ``torch.dtype``.
    """
    if isinstance(name, torch.dtype):
        return name, False
    if not isinstance(name, str):
        raise TypeError(
            f"{argument} is {name!r}; the name of a tensor type, such as 'torch.FloatTensor', is "
            "accepted"
        )
    plain = name.replace("torch.cuda.Float", "torch.Cuda").replace("torch.cuda.", "torch.Cuda")
    if plain in CPU_TYPES:
        return CPU_TYPES[plain], False
    if plain in CUDA_TYPES:
        return CUDA_TYPES[plain], True
    floating = [t for t, d in {**CPU_TYPES, **CUDA_TYPES}.items() if d.is_floating_point]
    raise ValueError(f"{argument} is {name!r}; {listed(floating)} is accepted")


def default_type() -> str:
    """Return the name of PyTorch's default floating point type (``torch.set_default_dtype``)."""
    return type_name(torch.get_default_dtype())


def tag(tensor: torch.Tensor, name: str) -> None:
    """Have files call a tensor on the CPU ``name``, if that is the CUDA type of its kind.

    Nets from a GPU machine compute on the CPU where there is none, and are written as they came.
    """
    if CUDA_TYPES.get(name) == tensor.dtype and tensor.device.type == "cpu":
        tensor.__dict__["torch7_type"] = name


def declare(tensor: torch.Tensor, name: str) -> None:
    """Have a tensor on the CPU be of the type ``name``, whatever it is in, where it can be.

    Its numbers are those of two types: of the CPU, and of CUDA where that is the CPU.
    """
    if tensor.is_cpu and {**CPU_TYPES, **CUDA_TYPES}.get(name) == tensor.dtype:
        tensor.__dict__["torch7_type"] = name


def empty_tensor(name: str) -> torch.Tensor:
    """Return an empty tensor of the type ``name``. It is on the CPU, but files get the
    very type.
    """
    tensor = torch.empty(0, dtype=parse_type(name)[0])
    if name in CUDA_TYPES:
        tensor.__dict__["torch7_type"] = name
    return tensor
