"""Read and write images, in files and in bytes, with Pillow: JPEG, PNG, PPM and PGM."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from compat.checks import check_choice, check_tensor, listed, whole
from compat.image.arguments import check_image
from compat.image.colors import rgb2y
from compat.t7.base.atomic_file import atomic_file

_ALL = ("JPEG", "PNG", "PPM")
_TYPES = {"byte": torch.uint8, "float": torch.float32, "double": torch.float64}

_Path = str | os.PathLike[str]


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "image files need Pillow: pip install pillow, or dptable[image]"
        ) from error
    return Image


def _opened(source: Any, what: str, formats: tuple[str, ...]) -> Any:
    pillow = _pillow()
    try:
        return pillow.open(source, formats=formats)
    except pillow.UnidentifiedImageError:
        raise ValueError(
            f"{what} is no image that can be read; {' or '.join(formats)} is accepted"
        ) from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{what} is damaged: {error or type(error).__name__}") from error


def _decoded(
    source: Any, what: str, formats: tuple[str, ...], depth: int | None, tensortype: str | None
) -> Tensor:
    import numpy

    if tensortype is not None:
        check_choice(tensortype, "tensortype", _TYPES)
    dtype = torch.get_default_dtype() if tensortype is None else _TYPES[tensortype]
    with _opened(source, what, formats) as picture:
        try:
            if picture.mode in ("1", "P"):
                picture = picture.convert("L" if picture.mode == "1" else "RGB")
            pixels = numpy.asarray(picture)
        except Exception as error:  # whatever Pillow makes of damage, SyntaxError for one
            raise ValueError(f"{what} is damaged: {error or type(error).__name__}") from error
        most = 65535 if picture.mode.startswith("I") else 255
        if picture.mode == "CMYK":
            pixels = 255 - pixels  # the numbers of the file, as libjpeg gives them
    if most == 65535 and dtype == torch.uint8:
        pixels = pixels >> 8
    if pixels.dtype not in (numpy.uint8, numpy.int32):
        pixels = pixels.astype(numpy.int32)
    image = torch.from_numpy(pixels.copy())
    image = (image[None] if image.dim() == 2 else image.permute(2, 0, 1)).to(dtype)
    image = image.contiguous() if dtype == torch.uint8 else image.contiguous().mul_(1 / most)
    return _of_depth(image, depth)


def _of_depth(image: Tensor, depth: int | None) -> Tensor:
    planes = len(image)
    if depth == 1 and planes > 1:
        return image[:1] if planes == 2 else rgb2y(image[:3])[0]
    if depth == 3 and planes != 3:
        if planes == 1:
            return image.repeat(3, 1, 1)
        if planes != 4:
            raise ValueError(
                f"the image has {planes} planes; 1, 3 or 4 are accepted for a depth of 3"
            )
        return image[:3]
    return image


def load(filename: _Path, depth: int | None = None, tensortype: str | None = None) -> Tensor:
    """Read an image file (Torch7: ``image.load``).

    Args:
        filename: a JPEG, PNG, PPM or PGM file, whatever its name.
        depth: 1 to make it grey, 3 for three planes; by default, and with any other number, as in
            the file.
        tensortype: ``"float"`` or ``"double"``, from 0 to 1, or ``"byte"``, from 0 to 255;
            default: the default tensor type.

    Returns:
        A tensor, K×H×W; as in Torch7 H×W for a coloured image that is made grey.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is of another kind.
        ImportError: Pillow is not installed.

    Differs from Torch7: PNG files with several planes of 16 bits are read at 8 bits, and
    transparent colours of palettes are ignored.
    """
    return _decoded(filename, f"filename, {os.fspath(filename)}", _ALL, depth, tensortype)


def loadJPG(filename: _Path, depth: int | None = None, tensortype: str | None = None) -> Tensor:
    """Read a JPEG file; see ``load``.

    Args:
        filename: the file.
        depth: 1 or 3 planes; default: those of the file.
        tensortype: ``float``, ``double`` or ``byte``.
    """
    return _decoded(filename, f"filename, {filename}", ("JPEG",), depth, tensortype)


def loadPNG(filename: _Path, depth: int | None = None, tensortype: str | None = None) -> Tensor:
    """Read a PNG file; see ``load``."""
    return _decoded(filename, f"filename, {filename}", ("PNG",), depth, tensortype)


def loadPPM(filename: _Path, depth: int | None = None, tensortype: str | None = None) -> Tensor:
    """Read a PPM or PGM file; see ``load``."""
    return _decoded(filename, f"filename, {filename}", ("PPM",), depth, tensortype)


def decompress(tensor: Tensor, depth: int | None = None, tensortype: str | None = None) -> Tensor:
    """Read an image from the bytes of a JPEG or PNG file (Torch7: ``image.decompress``).

    Args:
        tensor: the bytes, torch.uint8, of one dimension.
        depth, tensortype: as for ``load``.
    """
    return _from_bytes(tensor, ("JPEG", "PNG"), depth, tensortype)


def decompressJPG(
    tensor: Tensor, depth: int | None = None, tensortype: str | None = None
) -> Tensor:
    """Read an image from the bytes of a JPEG file (Torch7: ``image.decompressJPG``)."""
    return _from_bytes(tensor, ("JPEG",), depth, tensortype)


def decompressPNG(
    tensor: Tensor, depth: int | None = None, tensortype: str | None = None
) -> Tensor:
    """Read an image from the bytes of a PNG file (Torch7: ``image.decompressPNG``)."""
    return _from_bytes(tensor, ("PNG",), depth, tensortype)


def _from_bytes(
    tensor: Tensor, formats: tuple[str, ...], depth: int | None, tensortype: str | None
) -> Tensor:
    if check_tensor(tensor, "tensor").dtype != torch.uint8:
        raise TypeError(f"tensor is {tensor.dtype}; bytes, torch.uint8, are accepted")
    data = io.BytesIO(tensor.cpu().contiguous().numpy().tobytes())
    return _decoded(data, "tensor", formats, depth, tensortype)


def getSize(filename: _Path) -> Tensor:
    """Return planes, height and width of a file, a LongTensor (Torch7: ``image.getSize``).

    Args:
        filename: a JPEG, PNG, PPM or PGM file, of which the head alone is read.
    """
    with _opened(filename, f"filename, {os.fspath(filename)}", _ALL) as picture:
        width, height = picture.size
        planes = 3 if picture.mode == "P" else len(picture.getbands())
    return torch.tensor([planes, height, width])


def is_supported(suffix: str) -> bool:
    """Return whether files with this suffix can be written.

    Args:
        suffix: without the dot, such as ``png``.
    """
    return suffix in _SAVERS


def _bytes(tensor: Tensor) -> Tensor:
    """Convert elements from 0…1 to bytes: values outside are cut, fractions are dropped."""
    check_image(tensor, "tensor")
    if tensor.dtype == torch.uint8:
        return tensor
    return (tensor.to(torch.get_default_dtype()).clamp(0, 1) * 255).to(torch.uint8)


def _encoded(tensor: Tensor, kind: str, planes: tuple[int, ...], **options: Any) -> bytes:
    image = _bytes(tensor)
    image = image[None] if image.dim() == 2 else image
    if len(image) not in planes:
        raise ValueError(
            f"tensor has {len(image)} planes; {listed(planes)} of a {kind} file are accepted"
        )
    pixels = image.permute(1, 2, 0).cpu().contiguous().numpy()
    picture = _pillow().fromarray(pixels[..., 0] if len(image) == 1 else pixels)
    data = io.BytesIO()
    picture.save(data, kind, **options)
    return data.getvalue()


def _jpeg(tensor: Tensor, quality: int = 75) -> bytes:
    return _encoded(tensor, "JPEG", (1, 3), quality=whole(quality, "quality", 0, 100))


def _png(tensor: Tensor) -> bytes:
    return _encoded(tensor, "PNG", (1, 3, 4))


def _ppm(tensor: Tensor) -> bytes:
    return _encoded(tensor, "PPM", (3,))


def _pgm(tensor: Tensor) -> bytes:
    return _encoded(tensor, "PPM", (1,))


_SAVERS: dict[str, Callable[[Tensor], bytes]] = {
    "jpg": _jpeg,
    "jpeg": _jpeg,
    "png": _png,
    "ppm": _ppm,
    "pgm": _pgm,
}
_SAVERS |= {suffix.upper(): encode for suffix, encode in _SAVERS.items()}


def _written(filename: _Path, data: bytes) -> None:
    with atomic_file(filename, len(data)) as file:
        file.write(data)


def save(filename: _Path, tensor: Tensor) -> None:
    """Write an image file (Torch7: ``image.save``).

    Args:
        filename: its suffix is the format: ``jpg`` (at quality 75), ``jpeg``, ``png``,
            ``ppm`` or ``pgm``.
        tensor: an image, H×W or K×H×W, with 1 or 3 planes, in PNG files also 4: bytes, or floats
            and doubles, which are cut to 0…1 and, as in Torch7, rounded down.
    """
    if isinstance(filename, Tensor):
        raise TypeError("filename is a Tensor; a path is accepted: save(filename, tensor)")
    suffix = Path(filename).suffix[1:]
    if suffix not in _SAVERS:
        raise ValueError(
            f"filename is {os.fspath(filename)!r}; one that ends in .jpg, .jpeg, .png, .ppm or "
            ".pgm is accepted"
        )
    _written(filename, _SAVERS[suffix](tensor))


def saveJPG(filename: _Path, tensor: Tensor) -> None:
    """Write a JPEG file, whatever its name; see ``save``."""
    _written(filename, _jpeg(tensor))


def savePNG(filename: _Path, tensor: Tensor) -> None:
    """Write a PNG file, whatever its name; see ``save``."""
    _written(filename, _png(tensor))


def savePPM(filename: _Path, tensor: Tensor) -> None:
    """Write a PPM file with 3 planes, whatever its name; see ``save``."""
    _written(filename, _ppm(tensor))


def savePGM(filename: _Path, tensor: Tensor) -> None:
    """Write a PGM file with one plane, whatever its name; see ``save``."""
    _written(filename, _pgm(tensor))


def compressJPG(tensor: Tensor, quality: int = 75) -> Tensor:
    """Return the bytes of a JPEG file of an image (Torch7: ``image.compressJPG``).

    Args:
        tensor: an image, as for ``save``.
        quality: from 0 to 100.

    Returns:
        A tensor of torch.uint8, of one dimension.
    """
    return torch.frombuffer(bytearray(_jpeg(tensor, quality)), dtype=torch.uint8)


def compressPNG(tensor: Tensor) -> Tensor:
    """Return the bytes of a PNG file of an image (Torch7: ``image.compressPNG``)."""
    return torch.frombuffer(bytearray(_png(tensor)), dtype=torch.uint8)
