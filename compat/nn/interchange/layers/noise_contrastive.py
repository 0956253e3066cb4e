"""``NCEModule``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers import noise_contrastive as torch7


@self_contained
class NCEModule(nn.Module):
    """A linear layer of many classes for noise contrastive estimation.

    Of features, ``N x in_features``, and classes, ``N``, it gives what the right
    classes and ``k`` of noise are worth, and the probabilities of both in the noise; in
    evaluation with ``normalized`` the softmax of all classes, or with ``log`` its
    logarithm.
    """

    unigrams: Tensor
    Z: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        k: int,
        shared: bool = True,
        normalized: bool = False,
        log: bool = False,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.k = k
        self.shared = shared
        self.normalized = normalized
        self.log = log
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        self.bias = nn.Parameter(torch.empty(out_features))
        self.register_buffer("unigrams", torch.empty(out_features))
        self.register_buffer("Z", torch.empty(1))

    def forward(self, input: list[Tensor]) -> Any:
        x, target = input
        if self.normalized and not self.training:
            scores = functional.linear(x, self.weight, self.bias)
            return scores.log_softmax(1) if self.log else scores.softmax(1)
        n = len(target)
        count = self.k if self.shared else n * self.k
        noise = self.unigrams.multinomial(count, replacement=True).view(-1, self.k)
        both = torch.cat([target.view(n, 1), noise.expand(n, self.k)], 1)
        scores = (self.weight[both] * x.unsqueeze(1)).sum(2) + self.bias[both]
        worth, share = scores.exp() / self.Z, self.unigrams[both].to(x.dtype)
        return [worth[:, 0], worth[:, 1:], share[:, 0], share[:, 1:]]


class FromOne(nn.Module):
    """Run a layer that takes features and class labels, on labels that count from 1."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, input: list[Tensor]) -> Any:
        return self.layer([input[0], input[1].long() - 1])


@converts(torch7.NCEModule)
def _nce(module: Any, convert: ToTorch) -> nn.Module:
    if module.Z.item() <= 0:
        raise ValueError("Z is not known yet; call forward once first, which estimates it")
    outputs, inputs = module.weight.shape
    flags = map(bool, (module.batchnoise, module.normalized, module.logsoftmax))
    layer = NCEModule(inputs, outputs, module.k, *flags)
    convert.filled(layer, module)
    layer.unigrams, layer.Z = module.unigrams.clone(), module.Z.clone()
    return FromOne(layer)
