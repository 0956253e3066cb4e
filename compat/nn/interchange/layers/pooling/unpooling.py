"""Unpooling."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.interchange.layers.pooling.windows import RememberingPool
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers.pooling import unpooling as torch7


class MaxUnpooling(nn.Module):
    """Put values back where a ``RememberingPool`` found its maxima."""

    def __init__(self, pooling: RememberingPool) -> None:
        super().__init__()
        self.pooling = pooling
        pool: Any = pooling.pool
        unpool = nn.MaxUnpool3d if pooling.dims == 3 else nn.MaxUnpool2d
        self.unpool = unpool(pool.kernel_size, pool.stride, pool.padding)

    def forward(self, input: Tensor) -> Tensor:
        return self.unpool(input, self.pooling.indices, self.pooling.size)


@converts(torch7.MaxUnpooling)
def _max_unpooling(module: Any, convert: ToTorch) -> nn.Module:
    if not any(m is module.pooling for m in convert.whole.listModules()):
        raise ValueError("its pooling is not in the net, and tells where to put the values")
    pooling = convert(module.pooling)
    assert isinstance(pooling, RememberingPool)
    return MaxUnpooling(pooling)
