"""Turns a net's layers from ``nn`` into ``cudnn`` classes and back."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from compat import nn
from compat.t7 import TorchObject

_CONVERTIBLE = (
    "BatchNormalization",
    "LogSoftMax",
    "ReLU",
    "Sigmoid",
    "SoftMax",
    "SpatialAveragePooling",
    "SpatialBatchNormalization",
    "SpatialConvolution",
    "SpatialCrossMapLRN",
    "SpatialFullConvolution",
    "SpatialMaxPooling",
    "Tanh",
    "VolumetricAveragePooling",
    "VolumetricBatchNormalization",
    "VolumetricConvolution",
    "VolumetricMaxPooling",
)


def convert(net: Any, dst: Any, exclusion_fn: Callable[[Any], Any] | None = None) -> Any:
    """Turn the layers of ``net`` into those of the package ``dst`` (``cudnn.convert``).

    The layers are the same objects as before, with the same tensors, but of another class. An
    ``nn.SpatialConvolutionMM`` becomes a ``SpatialConvolution`` of either package. Returns ``net``,
    or what it became if it is such a layer itself.

    Args:
        net: a module.
        dst: ``compat.nn`` or ``compat.cudnn``.
        exclusion_fn: returns True for a module to leave as it is; modules inside it are converted.

    Differs from cudnn.torch: average poolings keep whether padding counts; a ``cudnn`` convolution
    in groups, which ``nn`` does not have, is left as it is, with a warning.
    """
    here = sys.modules["compat.cudnn"]
    if dst is not nn and dst is not here:
        raise TypeError(f"dst is {dst!r}; compat.nn or compat.cudnn is accepted")
    source = here if dst is nn else nn
    classes = {getattr(source, name): getattr(dst, name) for name in _CONVERTIBLE}
    classes[nn.SpatialConvolutionMM] = dst.SpatialConvolution
    plain = nn.Module.replace

    def one(module: Any) -> Any:
        is_left = exclusion_fn is not None and exclusion_fn(module)
        return module if is_left else _converted(module, classes, dst)

    def visit(module: Any) -> Any:
        if getattr(type(module), "replace", plain) is not plain:  # its own way to what is inside
            return module.replace(one)
        module = one(module)
        children = getattr(module, "modules", None)
        if isinstance(children, list):
            children[:] = [visit(child) for child in children]
        return module

    return visit(net)


def _converted(module: Any, classes: dict[type, type], dst: Any) -> Any:
    if isinstance(module, TorchObject):
        return _foreign(module, dst)
    target = classes.get(type(module))
    if target is None:
        return module
    if dst is nn and getattr(module, "groups", 1) != 1:
        warnings.warn(f"{module} is in groups, which nn does not have: left as it is", stacklevel=4)
        return module
    if isinstance(module, nn.ReLU):
        module.threshold = module.val = 0
    elif isinstance(module, nn.SpatialAveragePooling) and dst is nn:
        module.divide = True
    elif isinstance(module, nn.SpatialConvolutionMM):
        gradient, module.weight = module.weight.grad, module.weight.view(module.kernels().shape)
        module.weight.grad = None if gradient is None else gradient.view_as(module.weight)
    module.__class__ = target
    return module


def _foreign(module: TorchObject, dst: Any) -> Any:
    """Convert an object of a class that this library does not know, if it has a namesake."""
    if module.typename == "nn.gModule":
        warnings.warn("nn.gModule is not converted", stacklevel=5)
    if module.typename != "inn.SpatialCrossResponseNormalization":
        return module
    fields = module.fields or {}
    return dst.SpatialCrossMapLRN(*(fields.get(name) for name in ("size", "alpha", "beta", "k")))
