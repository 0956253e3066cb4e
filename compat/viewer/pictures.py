"""Draws tensors as pictures: filters of convolutions, and images."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import torch
from torch import Tensor

from compat.nn.core.module import Module

MOST = 64  # pictures on a sheet
_WIDEST = 96  # pixels of a picture among others
_LARGEST = 512  # of one alone
_PLANES = 16  # of a filter that is shown plane by plane
_ELEMENTS = 1 << 22  # of all filters that are looked at
_SMALLEST = 8  # pixels of what counts as an image


def of_module(module: Module, name: str, tensor: Tensor) -> Tensor | None:
    """Return the filters of a convolution as pictures (n, 1 or 3, height, width), or None.

    Filters of one or three planes are grey or coloured; others are shown plane by plane.
    """
    if name != "weight":
        return None
    kernel: list[Any] = [getattr(module, key, None) for key in ("nInputPlane", "kH", "kW")]
    tensor = tensor[:MOST] if tensor.dim() else tensor
    if not 0 < tensor.numel() <= _ELEMENTS:
        return None
    if tensor.dim() == 2 and all(isinstance(size, int) and size > 0 for size in kernel):
        planes, height, width = kernel
        if tensor.size(1) == planes * height * width:
            tensor = tensor.reshape(-1, planes, height, width)
    if tensor.dim() != 4 or max(tensor.shape[2:]) < 2:
        return None
    planes = tensor.size(1)
    if planes in (1, 3):
        return tensor
    return tensor.flatten(0, 1).unsqueeze(1)[:MOST] if planes <= _PLANES else None


def of_data(tensor: Tensor) -> Tensor | None:
    """Return a tensor of a data file as pictures (n, 1 or 3, height, width), or None."""
    if tensor.dim() == 2 and tensor.dtype == torch.uint8:
        tensor = tensor[None, None]
    elif tensor.dim() == 3:
        tensor = tensor[None] if tensor.size(0) in (1, 3) else tensor.unsqueeze(1)
    if tensor.dim() != 4 or not tensor.numel():
        return None
    if tensor.size(1) not in (1, 3):
        tensor = tensor.movedim(3, 1)  # colours last, as other programs have them
    smallest, largest = sorted(tensor.shape[2:])
    fits = tensor.size(1) in (1, 3) and smallest >= _SMALLEST and largest <= 8 * smallest
    return tensor if fits else None


def sheet(pictures: Tensor) -> dict[str, Any]:
    """Return pictures side by side as the data URL of a PNG image, with its size in pixels."""
    alone = pictures.size(0) == 1
    pictures = pictures[:MOST].detach()
    step = -(-max(pictures.shape[2:]) // (_LARGEST if alone else _WIDEST))
    tiles = _bytes(pictures[:, :, ::step, ::step].cpu())
    height, width = tiles[0].shape[1:]
    wide = min(len(tiles), max(1, round((len(tiles) * 1.8 * height / width) ** 0.5)))
    columns = min(range(wide, 2 * wide), key=lambda n: -len(tiles) % n)
    rows = -(-len(tiles) // columns)
    gap = 0 if alone else 1
    whole = torch.zeros(4, rows * (height + gap) - gap, columns * (width + gap) - gap)
    whole = whole.to(torch.uint8)
    for number, tile in enumerate(tiles):
        top, left = number // columns * (height + gap), number % columns * (width + gap)
        whole[:3, top : top + height, left : left + width] = tile
        whole[3, top : top + height, left : left + width] = 255
    address = "data:image/png;base64," + base64.b64encode(_png(whole)).decode()
    return {"address": address, "width": whole.size(2), "height": whole.size(1), "tile": width}


def _bytes(pictures: Tensor) -> Tensor:
    """Return pictures as red, green and blue from 0 to 255.

    Numbers from 0 to 1 or from 0 to 255 keep their meaning. Other numbers are scaled from the least
    to the greatest of all pictures.
    """
    numbers = pictures.double().nan_to_num(0, 0, 0)
    low, high = float(numbers.min()), float(numbers.max())
    for whole in (1.0, 255.0):
        if low >= 0 and whole / 2 <= high <= whole:
            low, high = 0.0, whole
    scaled = (numbers - low) / ((high - low) or 1) * 255
    return scaled.round().to(torch.uint8).expand(-1, 3, -1, -1)


def _png(image: Tensor) -> bytes:
    """Return a PNG file of an image (4, height, width) of bytes."""
    height, width = image.shape[1:]
    rows = image.permute(1, 2, 0).reshape(height, width * 4)
    plain = torch.cat([torch.zeros(height, 1, dtype=torch.uint8), rows], 1)
    body = zlib.compress(bytes(plain.contiguous().numpy()), 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
