"""Make kernels, and convolve images with them."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from compat.checks import check_choice, check_tensor, whole
from compat.image.arguments import check_image, narrowed, wide
from compat.image.geometry import hflip, vflip
from compat.image.scaling import scale


def gaussian(
    size: int = 3,
    sigma: float = 0.25,
    amplitude: float = 1,
    normalize: bool = False,
    width: int | None = None,
    height: int | None = None,
    sigma_horz: float | None = None,
    sigma_vert: float | None = None,
    mean_horz: float = 0.5,
    mean_vert: float = 0.5,
    tensor: Tensor | None = None,
) -> Tensor:
    """Return a Gaussian in two dimensions (Torch7: ``image.gaussian``).

    Args:
        size, width, height: its size; ``size`` stands for both sides.
        sigma, sigma_horz, sigma_vert: its widths, as parts of the size.
        amplitude: its largest value.
        normalize: divide by the sum.
        mean_horz, mean_vert: where its middle is, as parts of the size.
        tensor: gets the kernel, whose size is then this tensor's.

    Returns:
        A tensor, height × width, of the default type, or ``tensor``.
    """
    if tensor is not None:
        if check_tensor(tensor, "tensor").dim() != 2 or not tensor.numel():
            raise ValueError(f"tensor has shape {tuple(tensor.shape)}; height × width is accepted")
        height, width = tensor.shape
    height, width = _sides(size, height, width)
    dtype = torch.get_default_dtype() if tensor is None else wide(tensor.dtype)
    x = _distances(width, mean_horz, sigma if sigma_horz is None else sigma_horz).to(dtype)
    y = _distances(height, mean_vert, sigma if sigma_vert is None else sigma_vert).to(dtype)
    kernel = amplitude * (-0.5 * (x * x + (y * y)[:, None])).exp()
    kernel = kernel / kernel.sum() if normalize else kernel
    return kernel if tensor is None else tensor.copy_(narrowed(kernel, tensor.dtype))


def _sides(size: int, height: int | None, width: int | None) -> tuple[int, int]:
    rows = whole(size if height is None else height, "height", 1)
    return rows, whole(size if width is None else width, "width", 1)


def _distances(size: int, mean: float, sigma: float) -> Tensor:
    """Return the distance of each pixel from the middle, in standard deviations."""
    places = torch.arange(1, size + 1, dtype=torch.float64)
    return (places - (mean * size + 0.5)) / (sigma * size)


def gaussian1D(
    size: int = 3,
    sigma: float = 0.25,
    amplitude: float = 1,
    normalize: bool = False,
    mean: float = 0.5,
    tensor: Tensor | None = None,
) -> Tensor:
    """Return a Gaussian in one dimension (Torch7: ``image.gaussian1D``); see ``gaussian``.

    Args:
        size: the number of elements.
        sigma: the width, as a part of the size.
        amplitude: the largest value.
        normalize: divide by the sum.
        mean: where the middle is, as a part of the size.
        tensor: gets the numbers; the size is then this tensor's.
    """
    if tensor is not None:
        if check_tensor(tensor, "tensor").dim() != 1 or not tensor.numel():
            raise ValueError(f"tensor has shape {tuple(tensor.shape)}; one dimension is accepted")
        size = len(tensor)
    kernel = amplitude * (-0.5 * _distances(whole(size, "size", 1), mean, sigma) ** 2).exp()
    kernel = kernel / kernel.sum() if normalize else kernel
    return kernel.to(torch.get_default_dtype()) if tensor is None else tensor.copy_(kernel)


def laplacian(
    size: int = 3,
    sigma: float = 0.1,
    amplitude: float = 1,
    normalize: bool = False,
    width: int | None = None,
    height: int | None = None,
    sigma_horz: float | None = None,
    sigma_vert: float | None = None,
    mean_horz: float = 0.5,
    mean_vert: float = 0.5,
) -> Tensor:
    """Return a Laplacian of a Gaussian (Torch7: ``image.laplacian``); see ``gaussian``.

    As in Torch7, the horizontal arguments apply to the rows if the kernel is not square.
    """
    height, width = _sides(size, height, width)

    def squares(count: int, of: int, mean: float, own: float | None) -> Tensor:
        deviation = (sigma if own is None else own) * of
        return ((torch.arange(1, count + 1).double() - (mean * of + 0.5)) / deviation) ** 2 / 2

    x = squares(height, width, mean_horz, sigma_horz)[:, None]
    y = squares(width, height, mean_vert, sigma_vert)
    kernel = (1 - (x + y)) * amplitude * (-(x + y)).exp()
    kernel = kernel / kernel.sum() if normalize else kernel
    return kernel.to(torch.get_default_dtype())


def convolve(*args: Any) -> Tensor:
    """Convolve an image with a kernel (Torch7: ``image.convolve``).

    ::

        convolve([dst], src, kernel, [mode])

    Args:
        src: an image, H×W or K×H×W.
        kernel: h×w, or K×h×w with a kernel for each plane. One h×w for K×H×W may have any type,
            and is converted to that of ``src``.
        mode: ``"valid"``, the default, where the kernel lies inside the image: H-h+1 × W-w+1;
            ``"full"``, where they overlap: H+h-1 × W+w-1; ``"same"``, the middle of that: H×W.

    Returns:
        A new image, or ``dst``; for ``"same"`` a view of the full result, as in Torch7.
    """
    *tensors, mode = args if isinstance(args[-1], str) else (*args, "valid")
    check_choice(mode, "mode", ("valid", "full", "same"))
    if len(tensors) not in (2, 3):
        raise TypeError(f"{len(args)} arguments are given; [dst], src, kernel, [mode] is accepted")
    src, kernel = check_image(tensors[-2]), check_tensor(tensors[-1], "kernel")
    if src.dim() == 3 and kernel.dim() == 2:
        kernel = kernel.to(src.dtype)
    check_image(kernel, "kernel")
    if src.dtype != kernel.dtype:
        raise TypeError(f"kernel is {kernel.dtype}; {src.dtype}, as src is, is accepted")
    result = _convolved(src, kernel, mode != "valid")
    if len(tensors) == 3:
        result = tensors[0].resize_(result.shape).copy_(result)
    if mode == "same":
        for side in (-2, -1):
            first = math.ceil(kernel.shape[side] / 2) - 1
            result = result.narrow(side, first, src.shape[side])
    return result


def _convolved(src: Tensor, kernel: Tensor, full: bool) -> Tensor:
    planes = src if src.dim() == 3 else src[None]
    kernels = kernel if kernel.dim() == 3 else kernel.expand(len(planes), *kernel.shape)
    height, width = kernel.shape[-2:]
    if len(kernels) != len(planes):
        raise ValueError(f"kernel has {len(kernels)} planes; {len(planes)}, as src, are accepted")
    if not full and (height > src.shape[-2] or width > src.shape[-1]):
        raise ValueError(
            f"kernel has shape {tuple(kernel.shape)}; one that is not larger than the image of "
            f"shape {tuple(src.shape)} is accepted"
        )
    # Bytes are summed without rounding, and the sums wrap around.
    exact = torch.float64 if src.dtype == torch.uint8 else src.dtype
    result = functional.conv2d(
        planes[None].to(exact),
        kernels.flip(-1, -2)[:, None].to(exact),
        padding=(height - 1, width - 1) if full else 0,
        groups=len(planes),
    )[0]
    result = result.long().to(src.dtype) if src.dtype == torch.uint8 else result
    return result if src.dim() == 3 else result[0]


def gaussianpyramid(*args: Any) -> list[Tensor]:
    """Return an image in several sizes, each blurred from the one before.

    Torch7: ``image.gaussianpyramid``.

    ::

        gaussianpyramid([dst], src, scales)

    Args:
        dst: a list that receives the images.
        src: an image, H×W or K×H×W.
        scales: the sizes, as fractions of that of ``src``.
    """
    *dst, src, scales = args
    check_image(src)
    kernel = gaussian(width=3, normalize=True).to(src.dtype)
    images: list[Tensor] = []
    last = src
    for part in scales:
        size = [int(side * part) for side in src.shape[-2:]]
        image = last if part == 1 else scale(last, size[1], size[0], "simple")
        images.append(image.clone(memory_format=torch.contiguous_format))
        last = convolve(images[-1], kernel, "same")
    if dst:
        dst[0][:] = images
        return dst[0]
    return images


def lcn(im: Tensor, ker: Tensor | None = None) -> Tensor:
    """Normalise the local contrast of a grey image (Torch7: ``image.lcn``).

    Args:
        im: an image, H×W or 1×H×W.
        ker: the weights of the neighbours; default: a Gaussian of 9×9.

    Returns:
        A double image, smaller by the size of the kernel.
    """
    check_image(im, "im")
    if im.dim() == 3 and len(im) != 1:
        raise ValueError(f"im has {len(im)} planes; a grey image is accepted")
    kernel = gaussian(9, 1.591 / 9, normalize=True) if ker is None else ker
    kernel = kernel.double()
    image = im.double().reshape(im.shape[-2:])
    image = (image - image.mean()) / image.std()
    mean = convolve(image, kernel)
    deviation = (convolve(image * image, kernel) - mean * mean).clamp(min=0).sqrt().clamp(min=1)
    top, left = (side // 2 for side in kernel.shape)
    inner = image[top : top + mean.shape[0], left : left + mean.shape[1]]
    return (inner - mean) / deviation


def erode(im: Tensor, kern: Tensor | None = None, pad: float = 1) -> Tensor:
    """Erode a binary image (Torch7: ``image.erode``).

    Args:
        im: H×W, of 0 and 1.
        kern: of 0 and 1, with odd sides; default: 3×3 of ones.
        pad: the value outside the image.
    """
    kernel = torch.ones(3, 3, dtype=im.dtype) if kern is None else kern
    return _covered(im, kernel, pad).eq(kernel.sum()).to(im.dtype)


def dilate(im: Tensor, kern: Tensor | None = None, pad: float = 0) -> Tensor:
    """Dilate a binary image (Torch7: ``image.dilate``); see ``erode``."""
    kernel = torch.ones(3, 3, dtype=im.dtype) if kern is None else kern
    return _covered(im, hflip(vflip(kernel)), pad).gt(0).to(im.dtype)


def _covered(im: Tensor, kernel: Tensor, pad: float) -> Tensor:
    """Count, for every place of the kernel, its ones that lie on ones of the image."""
    check_image(im, "im", (2,))
    down, across = (side // 2 for side in check_image(kernel, "kern", (2,)).shape)
    padded = functional.pad(im, (across, across, down, down), value=pad)
    return convolve(padded, kernel)
