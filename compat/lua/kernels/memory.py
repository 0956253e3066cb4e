"""PyTorch's memory for the Lua side: storages, addresses, views."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from compat import accelerators, cutorch
from compat.t7.base.errors import T7Error
from compat.t7.base.geometry import check_dimensions, checked_strides
from compat.tensor_types import declare, parse_type, tensor_type, type_name
from compat.torch_internals import storage_identity

Allocator = tuple[Callable[..., tuple[Tensor, int | None]], Callable[[], Tensor]]


def address(tensor: Tensor) -> int | None:
    """Return the address of a tensor's numbers in CPU memory; None for other memory."""
    return tensor.data_ptr() if tensor.is_cpu else None


@cache
def _maker(dtype: torch.dtype, device: torch.device) -> Callable[..., Tensor]:
    # Takes half the time of torch.empty.
    return torch.empty(0, dtype=dtype, device=device).new_empty


def allocator(name: str) -> Allocator:
    """Return makers of a tensor of given sizes with its address, and of an empty one, of a type.

    Those of a type for GPUs are on the device that is the current one then.
    """
    dtype, cuda = parse_type(name)
    on_cpu = _maker(dtype, torch.device("cpu"))
    all_cpus: tuple[torch.device, ...] | None = None

    def empty(size: Sequence[int]) -> Tensor:
        nonlocal all_cpus
        # To ask which device is the current one takes longer than to make a tensor.
        if not cuda or cutorch.devices() is all_cpus:
            return on_cpu(size)
        device = cutorch.cuda_device(name)
        if not cutorch.accelerated():
            all_cpus = cutorch.devices()
        return _maker(dtype, device)(size)

    def some(*size: int) -> tuple[Tensor, int | None]:
        tensor = empty(size)
        return tensor, address(tensor)

    return some, lambda: empty((0,))


def resize_storage(base: Tensor, size: int) -> tuple[int | None, Tensor | None, int]:
    """Give the storage of a tensor another size in bytes. Returns its address.

    Memory that is not PyTorch's own (numpy's, a file's) cannot be resized, and that of some devices
    neither: then also a tensor over a new storage with the same contents, and that storage's
    identity.
    """
    storage = base.untyped_storage()
    if base.is_cpu and storage.resizable():
        storage.resize_(size)
        return storage.data_ptr(), None, 0
    new = torch.empty(size // base.element_size(), dtype=base.dtype, device=base.device)
    kept = min(size, storage.nbytes()) // base.element_size()
    new[:kept] = base.as_strided((kept,), (1,), 0)
    return address(new), new, storage_identity(new)


def copy_elements(base: Tensor, source: Tensor) -> None:
    """Copy a vector to the beginning of another."""
    base[: source.numel()].copy_(source)


def view1(base: Tensor, offset: int, size: int, stride: int) -> Tensor:
    """Return a vector in the storage of ``base``."""
    return base.as_strided((size,), (stride,), offset)


def view2(base: Tensor, offset: int, n: int, m: int, p: int, q: int) -> Tensor:
    """Return a matrix in the storage of ``base``."""
    return base.as_strided((n, m), (p, q), offset)


def view(base: Tensor, offset: int, n: int, *numbers: int) -> Tensor:
    """Return a tensor in the storage of ``base``, given n sizes and n strides."""
    return base.as_strided(numbers[:n], numbers[n:], offset)


def check_geometry(n: int, offset: int = 0, length: int = 0, *numbers: float) -> str | None:
    """Return what is wrong with a file's tensor of n sizes and n strides, or None.

    With n alone, only the number of dimensions is checked.
    """
    try:
        check_dimensions(n)
        if numbers:
            whole = [int(number) for number in numbers]
            checked_strides(whole[:n], whole[n:], int(offset), length)
    except T7Error as error:
        return error.defect()
    return None


def move(tensor: Tensor, place: Tensor) -> None:
    """Make ``tensor`` a view of ``place``'s memory, as Torch7's ``set`` does."""
    with torch.no_grad():
        tensor.data = place


def describe_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """Return identity, type, storage (identity, number of elements, address), offset,
    dimensions, sizes and strides.
    """
    n = tensor.dim()
    elements = tensor.numel()
    storage = tensor.untyped_storage()
    size = tensor.element_size()
    if tensor.dtype == torch.bool:
        name = type_name(torch.uint8, accelerators.holds(tensor))
    else:
        name = tensor_type(tensor)
    head = (
        id(tensor),
        name,
        storage_identity(tensor) if storage.nbytes() else 0,
        storage.nbytes() // size,
        storage.data_ptr() if tensor.is_cpu else None,
        tensor.storage_offset(),
    )
    if elements == 0:
        return (*head, 0)
    if n == 0:
        return (*head, 1, 1, 1)
    return (*head, n, *tensor.shape, *tensor.stride())


def identify(tensor: Tensor, type: str | None = None) -> tuple[int, int]:
    """Return the identities of a tensor and of its storage; 0 for a storage without memory.

    ``type`` is the Torch7 type that it has from now on.
    """
    if type:
        declare(tensor, type)
    return id(tensor), storage_identity(tensor) if tensor.numel() else 0


def base_of(tensor: Tensor) -> Tensor:
    """Return a tensor over the same storage, without gradients, to make views of."""
    tensor = tensor.detach()
    return tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor


def note_written(base: Tensor) -> None:
    """Note that Lua has written to memory, as PyTorch notes its own writing."""
    torch.autograd.graph.increment_version(base)


def get_item(base: Tensor, index: int) -> Any:
    """Return one element of a storage."""
    return base.as_strided((), (), index).item()


def set_item(base: Tensor, index: int, value: float) -> None:
    """Set one element of a storage."""
    element = base.as_strided((), (), index)
    if not element.is_floating_point():
        # As C converts: bits that are too many go.
        bits = 8 * element.element_size()
        value = int(value) % 2**bits
        if element.dtype != torch.uint8 and value >= 2 ** (bits - 1):
            value -= 2**bits
    element.fill_(value)


def storage_bytes(base: Tensor, offset: int, n: int) -> bytes:
    """Return the elements of a storage of bytes."""
    return base.as_strided((n,), (1,), offset).cpu().numpy().tobytes()


def set_storage_bytes(base: Tensor, offset: int, text: str) -> None:
    """Write text into a storage of bytes."""
    target = base.as_strided((len(text),), (1,), offset)
    data = np.frombuffer(text.encode("latin-1"), dtype=np.uint8).copy()
    target.copy_(torch.from_numpy(data).view(target.dtype))


def map_file(
    path: str, name: str, shared: bool, size: int, temporary: bool
) -> tuple[Tensor | None, int, int]:
    """Map a file into memory; return the tensor, its address and number of elements.

    Args:
        path: the file.
        name: the tensor type.
        shared: write changes to the file, which is made if it is missing.
        size: the number of elements; 0 for all of the file.
        temporary: remove the file when its memory is freed.
    """
    dtype, _ = parse_type(name)
    mode: Literal["r+", "c"] = "r+" if shared else "c"
    width = torch.empty(0, dtype=dtype).element_size()
    try:
        if shared and size:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        with open(path, "r+b" if shared and size else "rb") as file:
            file.seek(0, 2)
            count = file.tell() // width
            if shared and size > count:
                file.truncate(size * width)
                count = size
    except OSError:
        kind = "read-write" if shared else "read-only"
        raise RuntimeError(f"unable to open file <{path}> in {kind} mode") from None
    count = size or count
    if count == 0:
        return None, 0, 0
    data = np.memmap(path, dtype=np.uint8, mode=mode, shape=(count * width,))
    if temporary:
        weakref.finalize(data, Path(path).unlink, missing_ok=True)
    tensor = torch.from_numpy(data).view(dtype)
    return tensor, tensor.data_ptr(), count


def record_bytes(base: Tensor, offset: int, n: int) -> bytes:
    """Return the elements of a storage as bytes, as they lie in memory."""
    return base.as_strided((n,), (1,), offset).cpu().numpy().tobytes()


def set_record_bytes(base: Tensor, offset: int, data: str) -> None:
    """Write elements as they lie in memory."""
    raw = np.frombuffer(data.encode("latin-1"), dtype=np.uint8).copy()
    values = torch.from_numpy(raw).view(base.dtype)
    base.as_strided((len(values),), (1,), offset).copy_(values)


def as_bytes(tensor: Tensor) -> Tensor:
    """Return a copy of the elements as bytes, on the CPU."""
    return tensor.contiguous().view(torch.uint8).to("cpu", copy=True)


def set_from_bytes(tensor: Tensor, data: Tensor) -> None:
    """Write elements from their bytes."""
    tensor.copy_(data.view(tensor.dtype))
