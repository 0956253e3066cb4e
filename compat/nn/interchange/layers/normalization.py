"""Normalisation over a batch and over neighbouring planes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import (
    FromTorch,
    converts_from,
    converts_from_simply,
    require,
    set_type,
)
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.nn.layers import normalization as torch7


class LocalResponseNorm(nn.LocalResponseNorm):
    """``torch.nn.LocalResponseNorm`` for one image too.

    PyTorch: ``torch.nn.LocalResponseNorm``.
    """

    def forward(self, input: Tensor) -> Tensor:
        images = input.unsqueeze(0) if input.dim() == 3 else input
        output = F.local_response_norm(images, self.size, self.alpha, self.beta, self.k)
        return output.reshape(input.shape)


def _cross_map_lrn(module: Any) -> nn.Module:
    if module.size % 2 == 0:
        raise ValueError(f"size is {module.size}; an odd number, as torch.nn takes, is accepted")
    return LocalResponseNorm(module.size, module.alpha, module.beta, module.k)


def _local_response_norm(module: Any) -> Module:
    require(module.size % 2 == 1, "an even size")
    return torch7.SpatialCrossMapLRN(module.size, module.alpha, module.beta, module.k)


converts_simply(torch7.SpatialCrossMapLRN, _cross_map_lrn)
converts_from_simply(LocalResponseNorm, _local_response_norm)
converts_from_simply(nn.LocalResponseNorm, _local_response_norm)

_BATCH_NORMS = {
    nn.BatchNorm1d: torch7.BatchNormalization,
    nn.BatchNorm2d: torch7.SpatialBatchNormalization,
    nn.BatchNorm3d: torch7.VolumetricBatchNormalization,
}
# In the place of eps = 0, which PyTorch refuses in training. No variance above 1e-21, in
# double precision too, is changed by it: adding it rounds to the variance itself.
_LEAST = 1e-37
_OF_DIMS = {cls.nDim: layer for layer, cls in _BATCH_NORMS.items()}


@converts(torch7.BatchNormalization)
def _batch_normalization(module: Any, convert: ToTorch) -> nn.Module:
    affine = module.weight is not None
    layer = _OF_DIMS[module.nDim](
        module.running_mean.numel(), module.eps or _LEAST, module.momentum, affine, device="meta"
    )
    convert.filled(layer, module)
    layer.running_mean = module.running_mean.clone()
    layer.running_var = module.running_var.clone()
    layer.num_batches_tracked = torch.tensor(0, device=module.running_mean.device)
    return layer


@converts_from(*_BATCH_NORMS)
def _batch_norm(module: Any, convert: FromTorch) -> Module:
    require(module.running_mean is not None, "track_running_stats=False")
    require(module.momentum is not None, "momentum=None")
    target = _BATCH_NORMS[type(module)](module.num_features, module.eps, module.momentum, False)
    target.affine = module.affine
    target.running_mean = module.running_mean.clone()
    target.running_var = module.running_var.clone()
    convert.filled(target, module)
    set_type(target, target.running_mean)
    return target
