"""Pictures as Lua's class calls them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor

from compat.checks import check_choice
from compat.graphicsmagick.picture import Picture

_CHANGES = (
    *("flipped", "rotated", "cropped", "bordered", "negated"),
    *("blurred", "sharpened", "unsharp_masked", "gamma_corrected"),
)


def decode(data: str) -> Picture:
    """Return the picture in the bytes of a file."""
    return Picture.from_bytes(data)


def encode(picture: Picture, quality: int | None = None) -> bytes:
    """Return a picture as the bytes of a file."""
    return picture.to_bytes(quality)


def from_tensor(tensor: Tensor, letters: str, order: str) -> Picture:
    """Return the picture in a tensor."""
    return Picture.from_tensor(tensor, letters, order)


def to_tensor(picture: Picture, kind: str, letters: str, order: str) -> Tensor:
    """Return the tensor of a picture."""
    return picture.to_tensor(kind, letters, order)


def size(picture: Picture) -> tuple[int, int]:
    """Return width and height."""
    return picture.size


def resized(
    picture: Picture, width: float, height: float, name: str | None, blur: float
) -> Picture:
    """Return the picture in another size."""
    return picture.resized(width, height, name, blur)


def get(picture: Picture, name: str) -> Any:
    """Return a setting of a picture. Its colour space is always RGB here."""
    return "RGB" if name == "colorspace" else getattr(picture, name)


def set(picture: Picture, name: str, value: Any) -> Picture:
    """Return the picture with another setting."""
    if name == "type":
        return picture.as_type(value)
    if name == "colorspace":
        check_choice(value, "colorspace", ("RGB", "GRAY"))
        return picture.as_type("Grayscale") if value == "GRAY" else picture
    changes: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value}
    return replace(picture, **changes)


def change(picture: Picture, name: str, *values: Any) -> Picture:
    """Return a changed picture."""
    check_choice(name, "the change", _CHANGES)
    changed: Picture = getattr(picture, name)(*values)
    return changed
