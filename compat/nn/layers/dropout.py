"""Layers that draw random numbers in training.

They draw from Torch7's generator, so that a seeded run repeats; on a GPU from PyTorch's own.
"""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

from compat import accelerators, random
from compat.checks import flag, number
from compat.nn.checks.tensors import check_dims
from compat.nn.functional import pointwise as f
from compat.nn.layers.elementwise import Elementwise

N = TypeVar("N", bound="Noisy")
D = TypeVar("D", bound="Dropout")


def source(tensor: Tensor) -> Any:
    """Return the generator for a tensor, with methods ``bernoulli_(tensor, p)``, ``uniform_``,
    ``normal_``.
    """
    return Tensor if accelerators.holds(tensor) else random


def check_share(p: float) -> float:
    """Raise ValueError unless the share is at least 0 and below 1."""
    if not 0 <= number(p, "p") < 1:
        raise ValueError(f"p is {p}; 0 <= p < 1 is accepted")
    return p


class Noisy(Elementwise, abstract=True):
    """A layer with a field ``noise``, what was drawn for the latest input."""

    cleared_fields = ("noise",)

    def __init__(self) -> None:
        super().__init__()
        self.noise = torch.empty(0)

    def clearState(self: N) -> N:
        self.noise = self._empty()
        return super().clearState()


class _Dropout(Noisy):
    """The base of dropouts: the probability ``p``, and the modes in which they draw."""

    p: float
    stochastic_inference: bool = False

    def __init__(self, p: float = 0.5, stochasticInference: bool = False) -> None:
        super().__init__()
        self.setp(p)
        self.train = True
        self.stochastic_inference = flag(stochasticInference, "stochasticInference")

    def setp(self, p: float) -> None:
        """Set the probability of dropping an element."""
        self.p = check_share(p)

    def draws(self) -> bool:
        """Return whether elements are dropped in the present mode."""
        return self.train or self.stochastic_inference

    def draw(self, noise: Tensor) -> Tensor:
        """Fill ``noise`` with 0 at probability ``p`` and else 1."""
        return source(noise).bernoulli_(noise, 1 - self.p)

    def __repr__(self) -> str:
        return f"{self.typename}({self.p:f})"


class Dropout(_Dropout):
    """Set each element to 0 with probability ``p`` in training (Torch7: ``nn.Dropout``).

    Hinton et al., Improving Neural Networks by Preventing Co-adaptation of Feature Detectors, 2012.

    Args:
        p: the probability, at least 0 and below 1.
        v1: scale by 1 - p in evaluation, instead of by 1 / (1 - p) in training.
        inplace: work in place.
        stochasticInference: drop in evaluation too.
        lazy: draw anew only after backward, so that all steps of a sequence drop the same
            (the package rnn's ``nn.Dropout``, which takes ``lazy`` and ``mono`` as its last).
        mono: drop the same of all samples of a batch.

    Field: ``noise``, what the latest input was multiplied with.

    PyTorch: ``torch.nn.Dropout``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> layer = nn.Dropout(0.5)
        >>> sorted(set(layer.forward(torch.ones(100)).tolist()))
        [0.0, 2.0]
        >>> layer.evaluate().forward(torch.ones(2)).tolist()
        [1.0, 1.0]
    """

    # Files from before there was a second version have no such field.
    v2: bool = False
    # Those of package rnn have them: ``flag`` tells a lazy one to draw.
    lazy: bool = False
    mono: bool = False
    flag: bool = True

    def __init__(
        self,
        p: float = 0.5,
        v1: bool = False,
        inplace: bool = False,
        stochasticInference: bool = False,
        lazy: bool = False,
        mono: bool = False,
    ) -> None:
        super().__init__(p, stochasticInference)
        self.v2 = not flag(v1, "v1")
        self.inplace = flag(inplace, "inplace")
        if flag(lazy, "lazy"):
            self.lazy = True
        if flag(mono, "mono"):
            self.mono = True

    def apply_to(self, input: Tensor) -> Tensor:
        if self.p > 0 and self.draws():
            if self.flag or not self.lazy:
                noise = self.draw(input.new_empty(input[:1].shape if self.mono else input.shape))
                self.noise = noise.div_(1 - self.p) if self.v2 else noise
                if self.lazy:
                    self.flag = False
            return f.mul(input, self.noise, self.inplace)
        return self._scaled(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        if self.lazy:
            self.flag = True
        if self.p > 0 and self.train:
            return f.mul(gradOutput, self.noise, self.inplace)
        return self._scaled(gradOutput)

    def _scaled(self, tensor: Tensor) -> Tensor:
        """Scale kept elements in evaluation, for files of the first version."""
        if self.p > 0 and not self.v2:
            return f.mul(tensor, 1 - self.p, self.inplace)
        return tensor if self.inplace else tensor.clone()

    def clearState(self: D) -> D:
        if self.lazy:
            self.flag = True
        return super().clearState()


class _PlaneDropout(_Dropout):
    """Set whole planes to 0, for inputs with ``_places`` dimensions after that of the planes.

    Differs from Torch7: backward works in evaluation.
    """

    _places: int

    def apply_to(self, input: Tensor) -> Tensor:
        if not self.draws():
            return f.mul(input, 1 - self.p)
        check_dims(input, self._places + 1, self._places + 2)
        planes = input.shape[: -self._places] + (1,) * self._places
        self.noise = self.draw(input.new_empty(planes))
        return f.mul(input, self.noise)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.mul(gradOutput, self.noise if self.draws() else 1 - self.p)


class SpatialDropout(_PlaneDropout):
    """Set each plane to 0 with probability ``p`` in training (Torch7: ``nn.SpatialDropout``).

    In evaluation the input is multiplied with 1 - p. Tompson et al., Efficient Object Localization
    Using Convolutional Networks, 2014.

    Args:
        p: the probability, at least 0 and below 1.
        stochasticInference: drop in evaluation too.

    Shapes: ``D x H x W`` or ``N x D x H x W``. Field: ``noise``, the 0 or 1 of each plane.

    Differs from Torch7: backward works in evaluation.

    PyTorch: ``torch.nn.Dropout2d``.
    """

    _places = 2


class VolumetricDropout(_PlaneDropout):
    """``SpatialDropout`` for ``D x T x H x W`` or ``N x D x T x H x W`` (``nn.VolumetricDropout``).

    Args:
        p, stochasticInference: as in ``SpatialDropout``.

    Differs from Torch7: backward works in evaluation.

    PyTorch: ``torch.nn.Dropout3d``.
    """

    _places = 3


class TotalDropout(Elementwise):
    """Set the whole input to 0 with probability ``p`` in training (``nn.TotalDropout`` of dpnn).

    Args:
        p: the probability, at least 0 and below 1.

    Field: ``noise``, the 0 or 1 that the latest input was multiplied with.

    Differs from Torch7: backward works in evaluation.
    """

    noise: float | None = None

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = check_share(p)
        self.train = True

    def apply_to(self, input: Tensor) -> Tensor:
        if not self.train:
            return input.clone()
        self.noise = random.bernoulli(1 - self.p)
        return f.mul(input, self.noise)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        if not self.train:
            return gradOutput.clone()
        assert self.noise is not None, "no forward pass has drawn noise"
        return f.mul(gradOutput, self.noise)

    def __repr__(self) -> str:
        return f"{self.typename}({self.p:f})"


class SpatialRegionDropout(Noisy):
    """Set the outermost rows or columns on one side to 0 in training.

    Torch7: ``nn.SpatialRegionDropout`` of dpnn. What is left is divided by 1 - p.

    Args:
        p: which share of the rows or columns, at least 0 and below 1.

    Shapes: input ``[N x] planes x H x W``. Fields: ``regionType``, the side that was drawn, 1 for
    the top, 2 for the bottom, 3 for the left and 4 for the right; ``noise``, what the latest input
    was multiplied with.

    Differs from Torch7: backward works in evaluation; ``p`` may be too small for one row or column.
    """

    regionType: int | None = None

    def __init__(self, p: float = 0.2) -> None:
        super().__init__()
        self.setp(p)
        self.train = True

    def setp(self, p: float) -> None:
        """Set the share."""
        self.p = check_share(p)

    def apply_to(self, input: Tensor) -> Tensor:
        check_dims(input, 3, 4)
        if not self.train:
            return input.clone()
        self.regionType = random.random(4)
        dim = -2 if self.regionType <= 2 else -1
        size = input.size(dim)
        dropped = int(size * self.p)
        first = 0 if self.regionType % 2 else size - dropped
        self.noise = input.new_ones(input.shape)
        self.noise.narrow(dim, first, dropped).zero_()
        return f.mul(input, self.noise.div_(1 - self.p))

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.mul(gradOutput, self.noise) if self.train else gradOutput.clone()

    def __repr__(self) -> str:
        return f"{self.typename} p: {self.p:f}"


class WhiteNoise(Noisy):
    """Add normal noise in training, and its mean in evaluation (Torch7: ``nn.WhiteNoise``).

    Args:
        mean, std: of the noise.

    Differs from Torch7: backward works in evaluation.
    """

    def __init__(self, mean: float = 0, std: float = 0.1) -> None:
        super().__init__()
        self.mean = number(mean, "mean")
        self.std = number(std, "std")

    def apply_to(self, input: Tensor) -> Tensor:
        if not self.train:
            return f.add(input, self.mean)
        noise = input.new_empty(input.shape)
        self.noise = source(noise).normal_(noise, self.mean, self.std)
        return f.add(input, self.noise)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return gradOutput.clone()

    def __repr__(self) -> str:
        return f"{self.typename} mean: {self.mean:f}, std: {self.std:f}"
