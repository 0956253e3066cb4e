"""p-norms of neighbouring features."""

from __future__ import annotations

from torch import Tensor

from compat.nn.interchange.modules import WithSettings
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers.pooling import lp as torch7


class FeatureLPPooling(WithSettings):
    """The p-norms of neighbouring features, with slope 0 at 0; powers of odd p keep their sign.

    PyTorch: ``torch.nn.LPPool1d``.
    """

    shown = ("width", "stride", "power", "batched")

    def __init__(self, width: int, stride: int, power: float, batched: bool) -> None:
        super().__init__()
        self.width = width
        self.stride = stride
        self.power = power
        self.batched = batched

    def forward(self, input: Tensor) -> Tensor:
        features = input.movedim(1 if self.batched else 0, -1)
        sums = features.pow(self.power).unfold(-1, self.width, self.stride).sum(-1)
        zero = sums == 0
        norms = sums.masked_fill(zero, 1.0).pow(1 / self.power).masked_fill(zero, 0.0)
        return norms.movedim(-1, 1 if self.batched else 0)


converts_simply(
    torch7.FeatureLPPooling,
    lambda m: FeatureLPPooling(m.width, m.stride, float(m.power), bool(m.batch_mode)),
)
