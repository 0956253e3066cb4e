"""Pictures like those of GraphicsMagick's wands: planes from 0 to 1 in steps of 1/65535."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from compat.checks import check_choice, listed
from compat.graphicsmagick.resizing import FILTERS, resize

try:
    from PIL import Image
except ImportError as error:
    raise ImportError(
        "graphicsmagick needs Pillow: pip install pillow, or dptable[image]"
    ) from error

_STEPS = 65535
_TYPES = ("Bilevel", "Grayscale", "GrayscaleMatte", "TrueColor", "TrueColorMatte")
_DTYPES = {"float": torch.float32, "double": torch.float64, "byte": torch.uint8}
_LUMA = torch.tensor([0.299, 0.587, 0.114], dtype=torch.float32).view(3, 1, 1)


def _rounded(planes: Tensor) -> Tensor:
    return planes.clamp(0, 1).mul(_STEPS).round().div(_STEPS)


@dataclass
class Picture:
    """Planes red, green, blue and perhaps opacity, ``C x H x W``, and how they are written."""

    planes: Tensor
    format: str = ""
    depth: int = 8
    gamma: float = 1 / 2.2
    gray: bool = False
    sampling: tuple[int, ...] = field(default=())

    # In and out ---------------------------------------------------------------------------------

    @classmethod
    def from_bytes(cls, data: str | bytes) -> Picture:
        """Read a picture from the bytes of a file, or from text that has them as latin-1."""
        raw = data.encode("latin-1") if isinstance(data, str) else data
        with Image.open(io.BytesIO(raw)) as image:
            form, gamma = image.format or "", image.info.get("gamma", 1 / 2.2)
            deep = image.mode.startswith("I")
            if deep:
                planes = torch.from_numpy(np.array(image, dtype=np.float32))[None].div(_STEPS)
                planes = planes.expand(3, -1, -1)
            else:
                alpha = image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info
                pixels = np.array(image.convert("RGBA" if alpha else "RGB"))
                planes = torch.from_numpy(pixels).permute(2, 0, 1).float().div(255)
        return cls(_rounded(planes), form, 16 if deep else 8, gamma)

    def to_bytes(self, quality: int | None = None) -> bytes:
        """Return the picture as the bytes of a file; JPEG drops opacity."""
        form = (self.format or "PNG").upper().replace("JPG", "JPEG")
        planes = self.planes
        alpha = len(planes) == 4 and form != "JPEG"
        if self.gray:
            planes = torch.cat([planes[:1], planes[3:]])
        if self.depth > 8 and form == "PNG":
            if len(planes) > 1:
                raise ValueError(f"depth is {self.depth}; 8 is accepted for pictures in colour")
            pixels = planes[0].mul(_STEPS).round().numpy().astype(np.uint16)
            image = Image.fromarray(pixels)
        else:
            count = (1 if self.gray else 3) + alpha
            pixels = planes[:count].mul(255).round().byte().permute(1, 2, 0).numpy()
            mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[count]
            image = Image.fromarray(
                np.ascontiguousarray(pixels.squeeze(-1) if count == 1 else pixels), mode
            )
        options: dict[str, Any] = {}
        if form == "JPEG":
            options["quality"] = 75 if quality is None else int(quality)
            if len(self.sampling) > 1:
                known = {(2, 2): 2, (2, 1): 1}
                options["subsampling"] = known.get((self.sampling[0], self.sampling[1]), 0)
        file = io.BytesIO()
        image.save(file, form, **options)
        return file.getvalue()

    @classmethod
    def from_tensor(cls, tensor: Tensor, letters: str = "RGB", order: str = "DHW") -> Picture:
        """Return planes named by letters among R, G, B, A and I, in a tensor of numbers from 0
        to 1, or of bytes; ``order`` names its dimensions.
        """
        _check_layout(letters, order)
        if tensor.dim() == 2:
            tensor, order = tensor[None], "DHW"
        planes = tensor.permute(*(order.index(side) for side in "DHW"))
        if len(planes) != len(letters):
            raise ValueError(
                f"the tensor has {len(planes)} planes; {len(letters)} are accepted for {letters!r}"
            )
        planes = planes.float().div(255) if tensor.dtype == torch.uint8 else planes.float()
        named = dict(zip(letters, planes.detach().cpu(), strict=True))
        blank = torch.zeros_like(planes[0].cpu())
        colours = [named.get("I", named.get(letter, blank)) for letter in "RGB"]
        alpha = [named["A"]] if "A" in named else []
        return cls(_rounded(torch.stack(colours + alpha)))

    def to_tensor(self, kind: str = "float", letters: str = "RGB", order: str = "DHW") -> Tensor:
        """Return the picture as a tensor of floats, doubles or bytes."""
        check_choice(kind, "type", _DTYPES)
        _check_layout(letters, order)
        named = dict(zip("RGBA", self.planes, strict=False))
        named.setdefault("A", torch.ones_like(self.planes[0]))
        named["I"] = (self.planes[:3] * _LUMA).sum(0)
        planes = torch.stack([named[letter] for letter in letters])
        planes = planes.mul(255).round() if kind == "byte" else planes
        places = ["DHW".index(side) for side in order]
        return planes.to(_DTYPES[kind]).permute(*places).contiguous()

    # What it is ---------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.planes.size(2), self.planes.size(1)

    @property
    def type(self) -> str:
        """GraphicsMagick's name for the kind of picture, found from its pixels."""
        matte = len(self.planes) == 4
        red, green, blue = self.planes[:3]
        if not (torch.equal(red, green) and torch.equal(green, blue)):
            return "TrueColorMatte" if matte else "TrueColor"
        if not matte and bool(((red == 0) | (red == 1)).all()):
            return "Bilevel"
        return "GrayscaleMatte" if matte else "Grayscale"

    def as_type(self, name: str) -> Picture:
        """Return the picture in grey, or in two colours, without or with opacity."""
        check_choice(name, "type", _TYPES)
        colours, alpha = self.planes[:3], self.planes[3:]
        gray = not name.startswith("TrueColor")
        if gray:
            colours = _rounded((colours * _LUMA).sum(0, keepdim=True)).expand(3, -1, -1)
        if name == "Bilevel":
            colours = (colours > 0.5).float()
        if name.endswith("Matte"):
            alpha = alpha if len(alpha) else torch.ones_like(colours[:1])
        else:
            alpha = alpha[:0]
        return replace(self, planes=torch.cat([colours, alpha]), gray=gray)

    # Changes ------------------------------------------------------------------------------------

    def _with(self, planes: Tensor) -> Picture:
        return replace(self, planes=_rounded(planes))

    def resized(
        self, width: float, height: float, name: str | None = None, blur: float = 1.0
    ) -> Picture:
        """Return the picture in another size.

        The default filters are Lanczos to shrink, Mitchell to enlarge.
        """
        old, new = self.size, (max(int(width), 1), max(int(height), 1))
        if name in (None, "Undefined"):
            larger = new[0] > old[0] or new[1] > old[1]
            name = "Mitchell" if larger or len(self.planes) == 4 else "Lanczos"
        check_choice(name, "filter", FILTERS)
        return self._with(resize(self.planes, *new, str(name), blur))

    def flipped(self, axis: str) -> Picture:
        """Upside down (``"y"``), or left to right (``"x"``)."""
        return self._with(self.planes.flip(1 if axis == "y" else 2))

    def rotated(self, degrees: float) -> Picture:
        """Turned clockwise by a multiple of 90 degrees."""
        if degrees % 90:
            raise ValueError(f"the angle is {degrees}; a multiple of 90 is accepted")
        return self._with(self.planes.rot90(-int(degrees // 90), (1, 2)))

    def cropped(self, width: int, height: int, x: int = 0, y: int = 0) -> Picture:
        """Return the part of that size at a place, cut at the edges."""
        part = self.planes[:, max(y, 0) : y + height, max(x, 0) : x + width]
        if not part.numel():
            raise ValueError(f"nothing of the picture of size {self.size} is in what is to be left")
        return self._with(part)

    def bordered(self, width: int, height: int, *colour: float) -> Picture:
        """With a border of a colour."""
        filled = torch.tensor([*(*colour, 0, 0, 0)[:3], 1.0], dtype=torch.float32)[
            : len(self.planes)
        ].view(-1, 1, 1)
        planes = F.pad(self.planes - filled, (width, width, height, height)) + filled
        return self._with(planes)

    def negated(self) -> Picture:
        """With each colour replaced by what it lacks."""
        return self._with(torch.cat([1 - self.planes[:3], self.planes[3:]]))

    def gamma_corrected(self, gamma: float) -> Picture:
        """Return each colour to the power of 1 / gamma."""
        return self._with(torch.cat([self.planes[:3] ** (1 / gamma), self.planes[3:]]))

    def blurred(self, radius: float, sigma: float) -> Picture:
        """Averaged with Gaussian weights."""
        return self._with(self._gaussian(radius, sigma))

    def unsharp_masked(
        self, radius: float, sigma: float, amount: float, threshold: float
    ) -> Picture:
        """With what a blur takes away added, where it is not small."""
        taken = self.planes - self._gaussian(radius, sigma)
        return self._with(
            self.planes + torch.where(2 * taken.abs() < threshold, 0.0, amount * taken)
        )

    def sharpened(self, radius: float, sigma: float) -> Picture:
        """Against a Gaussian neighbourhood."""
        line = _line(radius, sigma)
        kernel = torch.outer(line, line)
        centre = len(line) // 2
        others = kernel.sum() * 2 - kernel[centre, centre]
        kernel[centre, centre] = -2 * others
        kernel /= kernel.sum()
        planes = F.pad(self.planes[:, None], (centre,) * 4, mode="replicate")
        return self._with(F.conv2d(planes, kernel[None, None])[:, 0])

    def _gaussian(self, radius: float, sigma: float) -> Tensor:
        line = _line(radius, sigma)
        planes = F.pad(self.planes[:, None], (len(line) // 2,) * 4, mode="replicate")
        return F.conv2d(F.conv2d(planes, line.view(1, 1, 1, -1)), line.view(1, 1, -1, 1))[:, 0]


def _check_layout(letters: str, order: str) -> None:
    if not letters or set(letters) - set("RGBAI"):
        raise ValueError(
            f"the colour space is {letters!r}; letters among R, G, B, A and I are accepted"
        )
    if sorted(order) != ["D", "H", "W"]:
        raise ValueError(f"the dimensions are {order!r}; {listed(['DHW', 'HWD'])} is accepted")


def _line(radius: float, sigma: float) -> Tensor:
    """Return Gaussian weights, as far as one of them would change a pixel of 8 bits."""
    if sigma <= 0:
        raise ValueError(f"sigma is {sigma}; a positive number is accepted")
    reach = math.ceil(radius)
    if radius <= 0:
        reach = 1
        while (
            255 * math.exp(-((reach + 1) ** 2) / (2 * sigma**2)) / (math.sqrt(2 * math.pi) * sigma)
            >= 1
        ):
            reach += 1
    places = torch.arange(-reach, reach + 1, dtype=torch.float32)
    line = torch.exp(-(places**2) / (2 * sigma**2))
    return line / line.sum()
