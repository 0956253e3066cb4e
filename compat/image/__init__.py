"""Torch7's package image: files, sizes, colours and filters of images that are tensors.

::

    from compat import image

    picture = image.load("cat.jpg", 3, "float")
    picture = image.crop(image.scale(picture, "^256"), "c", 224, 224)
    image.save("small.png", image.hflip(picture))

Images are tensors, H×W or K×H×W, of torch.uint8 (from 0 to 255), torch.float32 or torch.float64
(from 0 to 1). Functions take their arguments in Torch7's order, with an optional destination first;
Lua's tables of options are keyword arguments here. The results are Torch7's numbers. Reading and
writing files needs Pillow, the extra ``dptable[image]``.
"""

from typing import TYPE_CHECKING

from compat.hints import answers as _answers
from compat.image.colors import (
    hsl2rgb,
    hsv2rgb,
    lab2rgb,
    rgb2hsl,
    rgb2hsv,
    rgb2lab,
    rgb2nrgb,
    rgb2y,
    rgb2yuv,
    yuv2rgb,
)
from compat.image.files import (
    compressJPG,
    compressPNG,
    decompress,
    decompressJPG,
    decompressPNG,
    getSize,
    is_supported,
    load,
    loadJPG,
    loadPNG,
    loadPPM,
    save,
    saveJPG,
    savePGM,
    savePNG,
    savePPM,
)
from compat.image.filters import (
    convolve,
    dilate,
    erode,
    gaussian,
    gaussian1D,
    gaussianpyramid,
    laplacian,
    lcn,
)
from compat.image.geometry import crop, flip, hflip, translate, vflip
from compat.image.sampling import affinetransform, logpolar, polar, rotate, warp
from compat.image.scaling import scale
from compat.image.viewing import colormap, drawRect, jetColormap, minmax, toDisplayTensor, y2jet

__all__ = [
    "affinetransform",
    "colormap",
    "compressJPG",
    "compressPNG",
    "convolve",
    "crop",
    "decompress",
    "decompressJPG",
    "decompressPNG",
    "dilate",
    "drawRect",
    "erode",
    "flip",
    "gaussian",
    "gaussian1D",
    "gaussianpyramid",
    "getSize",
    "hflip",
    "hsl2rgb",
    "hsv2rgb",
    "is_supported",
    "jetColormap",
    "lab2rgb",
    "laplacian",
    "lcn",
    "load",
    "loadJPG",
    "loadPNG",
    "loadPPM",
    "logpolar",
    "minmax",
    "polar",
    "rgb2hsl",
    "rgb2hsv",
    "rgb2lab",
    "rgb2nrgb",
    "rgb2y",
    "rgb2yuv",
    "rotate",
    "save",
    "saveJPG",
    "savePGM",
    "savePNG",
    "savePPM",
    "scale",
    "toDisplayTensor",
    "translate",
    "vflip",
    "warp",
    "y2jet",
    "yuv2rgb",
]

_WINDOW = "there are no windows: image.save(filename, image.toDisplayTensor(…)), or matplotlib"
_PICTURE = "no picture comes along; image.load one of your own"
_SIZE = "use image.getSize(filename)"
# What Torch7's image has and this has not, and what to do instead.
_HINTS = {
    **dict.fromkeys(("read", "imread", "open"), "use image.load(filename)"),
    **dict.fromkeys(("write", "imwrite", "imsave"), "use image.save(filename, tensor)"),
    **dict.fromkeys(("show", "imshow"), _WINDOW),
    **dict.fromkeys(("ToTensor", "to_tensor"), "image.load(filename) returns a tensor"),
    **dict.fromkeys(("Compose", "Normalize", "transforms"), "write a function, or use torchvision"),
    "resize": "use image.scale(src, width, height)",
    "display": _WINDOW,
    "window": _WINDOW,
    "lena": _PICTURE,
    "fabio": _PICTURE,
    "drawText": "use Pillow's ImageDraw.text on PIL.Image.fromarray",
    "getJPGsize": _SIZE,
    "getPNGsize": _SIZE,
    "getPPMsize": _SIZE,
    "supported_filetypes": "use image.is_supported(suffix)",
    "Camera": "use OpenCV's VideoCapture",
    "test": "the tests are in tests/compat/image",
    **dict.fromkeys(("byte", "float", "double"), "the functions take all three types of images"),
}

if not TYPE_CHECKING:
    __getattr__ = _answers(__name__, "image", _HINTS, __all__)
