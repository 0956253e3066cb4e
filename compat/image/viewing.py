"""Make images to look at: ranges, grids, colour maps, rectangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from compat.checks import check_some, check_tensor, whole, wrong_type
from compat.image.arguments import check_image, narrowed


def minmax(
    tensor: Tensor,
    min: float | None = None,
    max: float | None = None,
    symm: bool = False,
    inplace: bool = False,
    saturate: bool = False,
    tensorOut: Tensor | None = None,
) -> Tensor:
    """Scale values so that ``min`` becomes 0 and ``max`` becomes 1 (Torch7: ``image.minmax``).

    Args:
        tensor: the values.
        min, max: the range; default: the range of the values.
        symm: without ``min``, let the range reach as far below 0 as above.
        inplace: change ``tensor`` itself.
        saturate: cut values outside a given range.
        tensorOut: receives the result.

    Returns:
        A new tensor of the default type, ``tensor`` or ``tensorOut``.
    """
    check_tensor(tensor, "tensor")
    if tensorOut is not None:
        out = tensorOut.resize_(tensor.shape).copy_(tensor)
    else:
        out = tensor if inplace else tensor.to(torch.get_default_dtype(), copy=True)
    cut = saturate and not (min is None and max is None)
    reach = 0.0
    if min is None:
        low, high = (bound.item() for bound in out.aminmax())
        reach = _larger(abs(low), abs(high)) if symm else 0.0
        min = -reach if symm else low
    if min != 0:
        out.sub_(min)
    largest = 2 * reach if symm else out.max().item()
    span = largest if max is None else max - min
    if span != 0:
        out.div_(span) if out.is_floating_point() else out.div_(span, rounding_mode="trunc")
    return out.clamp_(0, 1) if cut and out.is_floating_point() else out


def _larger(a: float, b: float) -> float:
    return a if a > b else b


def toDisplayTensor(
    input: Tensor | Sequence[Tensor],
    padding: int = 0,
    nrow: int = 6,
    scaleeach: bool = False,
    min: float | None = None,
    max: float | None = None,
    symmetric: bool = False,
    saturate: bool = True,
) -> Tensor:
    """Put images side by side in one, scaled to 0…1 (Torch7: ``image.toDisplayTensor``).

    Args:
        input: an image, H×W, 1×H×W or 3×H×W; or several: K×H×W, K×1×H×W, K×3×H×W, or a list.
        padding: pixels between the images.
        nrow: the number of images in a row.
        scaleeach: scale each image by itself.
        min, max, symmetric, saturate: as for ``minmax``.

    Returns:
        A tensor of the default type, with the brightest value between the images.
    """
    if isinstance(input, Tensor):
        packed = input.to(torch.get_default_dtype(), copy=True)
    elif isinstance(input, (list, tuple)):
        check_some(input, "input", "image")
        images = [check_image(image, f"input[{i}]") for i, image in enumerate(input, 1)]
        packed = torch.stack([image if image.dim() == 3 else image[None] for image in images])
        packed = packed.to(torch.get_default_dtype())
    else:
        raise wrong_type(input, "input", "a tensor or a list of images")
    if packed.dim() not in (2, 3, 4) or (packed.dim() == 4 and packed.shape[1] not in (1, 3)):
        raise ValueError(
            f"input has shape {tuple(packed.shape)}; H×W, K×H×W, K×1×H×W or K×3×H×W is accepted"
        )

    def scaled(image: Tensor) -> Tensor:
        return minmax(image, min, max, symm=symmetric, inplace=True, saturate=saturate)

    if packed.dim() == 2 or (packed.dim() == 3 and packed.shape[0] in (1, 3)):
        return scaled(packed)
    if scaleeach:
        for image in packed:
            scaled(image)
    grid = _grid(packed, whole(padding, "padding", 0), whole(nrow, "nrow", 1))
    return grid if scaleeach else scaled(grid)


def _grid(images: Tensor, padding: int, nrow: int) -> Tensor:
    count, height, width = len(images), images.shape[-2] + padding, images.shape[-1] + padding
    columns = nrow if nrow < count else count
    rows = -(-count // columns)
    size = (*images.shape[1:-2], height * rows, width * columns)
    grid = images.max().expand(size).clone()
    for number, image in enumerate(images):
        y, x = number // columns * height + padding // 2, number % columns * width + padding // 2
        grid[..., y : y + image.shape[-2], x : x + image.shape[-1]] = image
    return grid


def drawRect(
    src: Tensor,
    x1: int | None = None,
    y1: int | None = None,
    x2: int | None = None,
    y2: int | None = None,
    opts: dict[str, Any] | None = None,
) -> Tensor:
    """Draw a rectangle on an image (Torch7: ``image.drawRect``).

    Args:
        src: an image, 3×H×W.
        x1, y1, x2, y2: its corners, counted from 1; if one is missing, nothing is drawn.
        opts: ``color``, red, green and blue from 0 to 255, by default red; ``lineWidth``, 1 by
            default; ``inplace``, to draw on ``src`` itself.
    """
    options = opts or {}
    if check_image(src, "src", (3,)).shape[0] != 3:
        raise ValueError(f"src has {src.shape[0]} planes; 3 are accepted")
    out = src if options.get("inplace") else src.clone()
    if x1 is None or y1 is None or x2 is None or y2 is None:
        return out
    line = whole(options.get("lineWidth", 1), "opts.lineWidth")
    color = torch.tensor(options.get("color", (255, 0, 0))).view(3, 1, 1)
    ink = color.to(torch.uint8) if src.dtype == torch.uint8 else color.float() / 255
    below, above = line // 2 + 1, line - line // 2 - 1

    def edge(place: int, size: int) -> slice:
        place = int(place)
        return slice(*sorted((_inside(place - below, size), _inside(place + above, size))))

    left, right = edge(x1, src.shape[2]), edge(x2, src.shape[2])
    top, bottom = edge(y1, src.shape[1]), edge(y2, src.shape[1])
    for column in (left, right):
        out[:, top.start : bottom.stop, column] = ink.to(out)
    for row in (top, bottom):
        out[:, row, left.start : right.stop] = ink.to(out)
    return out


def _inside(place: int, size: int) -> int:
    return sorted((0, place, size))[1]


def colormap(nbColor: int) -> Tensor:
    """Return colours that differ much from each other, nbColor×3 (Torch7: ``image.colormap``).

    Args:
        nbColor: how many colours.
    """
    number = torch.arange(whole(nbColor, "nbColor", 1), dtype=torch.float64)
    hue = (39 * number).fmod(360) / 60
    chroma = (number / 9).fmod(0.7) + 0.3
    x = chroma * (1 - (hue.fmod(2) - 1).abs())
    zero = torch.zeros_like(x)
    sector = hue.long().clamp(max=5)
    red = torch.stack([chroma, x, zero, zero, x, chroma])
    green = torch.stack([x, chroma, chroma, x, zero, zero])
    blue = torch.stack([zero, zero, x, chroma, chroma, x])
    colors = [plane.gather(0, sector[None])[0] for plane in (red, green, blue)]
    return (torch.stack(colors, 1) + (0.5 - chroma / 2)[:, None]).to(torch.get_default_dtype())


def jetColormap(nbColor: int) -> Tensor:
    """Return colours from blue over green and yellow to red, nbColor×3 (``image.jetColormap``).

    Args:
        nbColor: how many colours.
    """
    number = torch.arange(1, whole(nbColor, "nbColor", 1) + 1, dtype=torch.float64)
    four = 4 * number / nbColor
    ends = ((1.5, 4.5), (0.5, 3.5), (-0.5, 2.5))
    planes = [torch.minimum(four - first, last - four) for first, last in ends]
    return torch.stack(planes, 1).clamp(0, 1).to(torch.get_default_dtype())


def y2jet(*args: Tensor) -> Tensor:
    """Colour a grey image of the levels 1 to L by ``jetColormap`` (Torch7: ``image.y2jet``).

    ::

        y2jet([dst], src)   # src: H×W or 1×H×W; the result: 3×H×W
    """
    *dst, src = args
    check_image(src, "src", (1, 2, 3))
    levels = src.reshape(1, -1) if src.dim() == 1 else src.reshape(src.shape[-2:])
    colors = jetColormap(int(src.max()))
    colors = narrowed(colors * 255 if src.dtype == torch.uint8 else colors, src.dtype)
    image = colors[(levels - 1).long()].permute(2, 0, 1).contiguous()
    return dst[0].resize_(image.shape).copy_(image) if dst else image
