"""Layers that draw their output and learn from a reward.

PyTorch's way: the layer tells the log probability of what it drew, and the loss is that times the
negative reward. Its gradient is what Torch7's gives for the reward.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import reinforce as torch7


@self_contained
class ReinforceBernoulli(nn.Module):
    """Draws 0 or 1 in training, for probabilities of 1.

    The loss to differentiate is, for a ``reward`` of each sample,
    ``-(reward * layer.log_prob.flatten(1).sum(1)).sum()``.
    """

    def __init__(self, stochastic: bool = False) -> None:
        super().__init__()
        self.stochastic = stochastic

    def forward(self, x: Tensor) -> Tensor:
        if not self.training and not self.stochastic:
            return x.clone()
        drawn = torch.bernoulli(x.detach())
        self.log_prob = drawn * x.log() + (1 - drawn) * (1 - x).log()
        return drawn


@self_contained
class ReinforceCategorical(nn.Module):
    """Draws one of several categories in training, for ``N x K`` probabilities.

    For a ``reward`` of each sample, ``-(reward * layer.log_prob).sum()`` is the loss to
    go back from.
    """

    def __init__(self, stochastic: bool = False) -> None:
        super().__init__()
        self.stochastic = stochastic

    def forward(self, x: Tensor) -> Tensor:
        if not self.training and not self.stochastic:
            return x.clone()
        index = x.detach().multinomial(1)
        self.log_prob = (x.gather(1, index).squeeze(1) + 1e-8).log()
        return torch.zeros_like(x).scatter_(1, index, 1)


@self_contained
class ReinforceNormal(nn.Module):
    """Draws from normal distributions in training, for means, or these and deviations.

    The loss to differentiate is, for a ``reward`` of each sample,
    ``-(reward * layer.log_prob.flatten(1).sum(1)).sum()``.
    """

    def __init__(self, stdev: float | None = None, stochastic: bool = False) -> None:
        super().__init__()
        self.stdev = stdev
        self.stochastic = stochastic

    def forward(self, input: Any) -> Tensor:
        given: Any = (input, self.stdev) if isinstance(input, Tensor) else input
        mean, stdev = given
        if not self.training and not self.stochastic:
            return mean.clone()
        normal = torch.distributions.Normal(mean, stdev)
        drawn = normal.sample()
        self.log_prob = normal.log_prob(drawn)
        return drawn


@self_contained
class ReinforceGamma(nn.Module):
    """Draws from gamma distributions in training, for shapes, or for shapes and scales.

    The loss to differentiate is, for a ``reward`` of each sample,
    ``-(reward * layer.log_prob.flatten(1).sum(1)).sum()``.
    """

    def __init__(self, scale: float | None = None, stochastic: bool = False) -> None:
        super().__init__()
        self.scale = scale
        self.stochastic = stochastic

    def forward(self, input: Any) -> Tensor:
        given: Any = (input, self.scale) if isinstance(input, Tensor) else input
        shape, scale = given
        if not self.training and not self.stochastic:
            return shape * scale
        gamma = torch.distributions.Gamma(shape, 1 / torch.as_tensor(scale).to(shape))
        drawn = gamma.sample()
        self.log_prob = gamma.log_prob(drawn)
        return drawn


class WithSecond(nn.Module):
    """A layer of two parameters of which the second is a constant tensor."""

    second: Tensor

    def __init__(self, layer: nn.Module, second: Tensor) -> None:
        super().__init__()
        self.layer = layer
        self.register_buffer("second", second.detach().clone())

    def forward(self, input: Tensor) -> Tensor:
        output: Tensor = self.layer([input, self.second])
        return output


def _two_inputs(layer: Any, module: Any, second: Any) -> nn.Module:
    if isinstance(second, Tensor):
        return WithSecond(layer(None, bool(module.stochastic)), second)
    return layer(second, bool(module.stochastic))


converts_simply(torch7.ReinforceBernoulli, lambda m: ReinforceBernoulli(bool(m.stochastic)))
converts_simply(torch7.ReinforceCategorical, lambda m: ReinforceCategorical(bool(m.stochastic)))
converts_simply(torch7.ReinforceNormal, lambda m: _two_inputs(ReinforceNormal, m, m.stdev))
converts_simply(torch7.ReinforceGamma, lambda m: _two_inputs(ReinforceGamma, m, m.scale))
