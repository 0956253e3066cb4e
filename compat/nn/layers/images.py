"""Layers that prepare and vary images, of Torch7's package dpnn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from compat import random
from compat.checks import check_tensor, number, whole, wrong_type
from compat.nn.checks.tensors import check_count, check_sample
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.functional import images as f
from compat.nn.layers.dropout import Noisy, source
from compat.nn.layers.upsampling import SpatialReSampling

_FORM = "planes x height x width"


def _check_planes(input: Tensor, planes: int) -> None:
    check_sample(input, _FORM)
    check_count(input.size(-3), planes, "planes")


def _copy(tensor: Tensor) -> Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)


class SpatialFeatNormalization(Layer):
    """Normalisation of each plane by a given mean and standard deviation.

    Torch7: ``nn.SpatialFeatNormalization`` of dpnn.

    Args:
        mean: a vector with a number for each plane.
        std: such a vector; ones by default.

    Shapes: input ``[N x] planes x H x W``.
    """

    def __init__(self, mean: Tensor, std: Tensor | None = None) -> None:
        super().__init__()
        for name, value in (("mean", mean), ("std", mean if std is None else std)):
            if check_tensor(value, name).shape != (mean.numel(),):
                raise ValueError(
                    f"{name} has size {tuple(value.shape)}; a vector of one number for each plane "
                    "is accepted"
                )
        self.noOfFeats = mean.numel()
        self.mean = mean.to(self._empty(), copy=True)
        self.std = torch.ones_like(self.mean) if std is None else std.to(self.mean, copy=True)

    def updateOutput(self, input: Tensor) -> Tensor:
        _check_planes(input, self.noOfFeats)
        return self.set_output(f.standardize_planes(input, self.mean, self.std))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        _check_planes(gradOutput, self.noOfFeats)
        return self.set_gradInput(f.standardize_planes_backward(gradOutput, self.std))


class _ColorNoise(Noisy):
    """Layers that add a number to each plane of an image, in training. A class draws them."""

    inputChannels: int

    def draw(self, images: int, like: Tensor) -> Tensor:
        """Return random numbers, ``images x planes``. Classes define it."""
        raise TypeError(f"{self.typename} does not define draw(images, like)")

    def updateOutput(self, input: Tensor) -> Tensor:
        _check_planes(input, self.inputChannels)
        if not self.train:
            return self.set_output(_copy(input))
        self.noise = self.draw(input.size(0) if input.dim() == 4 else 1, input)
        return self.set_output(f.add_to_planes(input, self.noise))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        return self.set_gradInput(_copy(gradOutput))


class SimpleColorTransform(_ColorNoise):
    """Add a random number to each plane of an image, in training.

    Torch7: ``nn.SimpleColorTransform`` of dpnn.

    Args:
        inputChannels: the number of planes.
        range: a vector with a bound for each plane: the numbers are drawn evenly from -bound on.

    Shapes: input ``[N x] inputChannels x H x W``. Field: ``noise``, what was added last.

    Differs from Torch7: backward works in evaluation.
    """

    scratch_fields = ("_tempNoise", "_tempNoiseExpanded", "_tempNoiseSamples")

    def __init__(self, inputChannels: int, range: Tensor) -> None:
        super().__init__()
        self.inputChannels = whole(inputChannels, "inputChannels", 1)
        _check_elements(range, "range", self.inputChannels)
        self.range = range
        self.train = True

    def draw(self, images: int, like: Tensor) -> Tensor:
        noise = like.new_empty(images, self.inputChannels)
        for i, bound in enumerate(self.range.tolist()):
            source(noise).uniform_(noise[:, i], -bound, bound)
        return noise

    def __repr__(self) -> str:
        return "SimpleColorTransform"


class PCAColorTransform(_ColorNoise):
    """Add a random colour along the principal components to each image, in training.

    Torch7: ``nn.PCAColorTransform`` of dpnn. Krizhevsky et al., ImageNet Classification with Deep
    Convolutional Neural Networks, 2012.

    Args:
        inputChannels: the number of planes.
        eigenVectors: ``inputChannels x inputChannels``, of the covariance of the pixels.
        eigenValues: their eigenvalues, a vector.
        std: standard deviation of the factors of the eigenvalues.

    Shapes: input ``[N x] inputChannels x H x W``. Fields: ``noise``, what was added last, and
    ``alphas``, the factors times the eigenvalues.

    Differs from Torch7: backward works in evaluation.
    """

    scratch_fields = (
        *("_tempNoise", "_tempNoiseExpanded", "_tempNoiseSamples", "_tempLambda"),
        "_tempLambdaExpanded",
    )
    alphas: Tensor | None = None

    def __init__(
        self, inputChannels: int, eigenVectors: Tensor, eigenValues: Tensor, std: Scalar = 0.1
    ) -> None:
        super().__init__()
        self.inputChannels = planes = whole(inputChannels, "inputChannels", 1)
        if check_tensor(eigenVectors, "eigenVectors").shape != (planes, planes):
            raise ValueError(
                f"eigenVectors has size {tuple(eigenVectors.shape)}; {planes} x {planes} is "
                "accepted"
            )
        _check_elements(eigenValues, "eigenValues", planes)
        self.eigenVectors = eigenVectors
        self.eigenValues = eigenValues
        self.std = number(std, "std")
        self.train = True

    def draw(self, images: int, like: Tensor) -> Tensor:
        factors = like.new_empty(self.inputChannels, images)
        source(factors).normal_(factors, 0, self.std)
        self.alphas = factors.mul_(self.eigenValues.view(-1, 1))
        return (self.eigenVectors @ self.alphas).t().contiguous()

    def __repr__(self) -> str:
        return f"{self.typename} channels: {self.inputChannels}, std: {self.std:f}"


def _check_elements(value: Tensor, name: str, planes: int) -> None:
    if check_tensor(value, name).numel() != planes:
        raise ValueError(
            f"{name} has {value.numel()} elements; one for each of the {planes} planes is accepted"
        )


class SpatialUniformCrop(Layer):
    """A random crop of each image in training (Torch7: ``nn.SpatialUniformCrop`` of dpnn).

    In evaluation the centre is cropped.

    Args:
        oheight: the height of the output.
        owidth: the width; as ``oheight`` by default.
        scale: a table of the least and the largest factor, ``[0.8, 1.2]`` or a dict with the keys
            ``min`` and ``max``: in training the part is larger by a random one and resampled.

    Shapes: input ``[N x] planes x H x W``.

    Fields: ``coord``, ``N x 2``, the row and column that were drawn, from 1, and ``scales``, the
    factors.

    Differs from Torch7: backward works in evaluation; images may be as small as the output there.
    """

    pass_fields = ("parts",)
    scale: Any = None
    coord: Tensor | None = None
    scales: Tensor | None = None
    # Where the part of each image begins, from 0, and its size.
    parts: Sequence[tuple[int, int, int, int]] = ()

    def __init__(
        self,
        oheight: int,
        owidth: int | None = None,
        scale: Sequence[Scalar] | Mapping[str, Scalar] | None = None,
    ) -> None:
        super().__init__()
        self.oheight = whole(oheight, "oheight", 1)
        self.owidth = self.oheight if owidth is None else whole(owidth, "owidth", 1)
        if scale is not None:
            self.scale = scale
            self.factors()
            self.scaler = SpatialReSampling({"owidth": self.owidth, "oheight": self.oheight})

    def factors(self) -> tuple[Scalar, Scalar]:
        """Return the least and the largest factor."""
        scale = self.scale
        if isinstance(scale, Mapping) and {"min", "max"} <= scale.keys():
            scale = [scale["min"], scale["max"]]
        if not isinstance(scale, (list, tuple)) or len(scale) != 2:
            raise wrong_type(scale, "scale", "a table of two numbers, or of min and max,")
        return number(scale[0], "scale[1]"), number(scale[1], "scale[2]")

    def updateOutput(self, input: Tensor) -> Tensor:
        check_sample(input, _FORM)
        batch = input if input.dim() == 4 else input.unsqueeze(0)
        if self.train:
            self.coord = torch.empty(len(batch), 2, dtype=torch.int32)
            if self.scale is not None:
                self.scales = torch.empty(len(batch), dtype=torch.float32)
        parts = []
        output = batch.new_empty(*batch.shape[:2], self.oheight, self.owidth)
        for i, image in enumerate(batch):
            parts.append(self._drawn(i, image) if self.train else self._middle(image))
            part = self._part(image, *parts[i])
            fits = part.shape == output[i].shape
            output[i] = part if fits else self.scaler.updateOutput(part)
        self.parts = parts
        return self.set_output(output if input.dim() == 4 else output[0])

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        batch = input if input.dim() == 4 else input.unsqueeze(0)
        if len(self.parts) != len(batch):
            raise RuntimeError("backward needs a forward pass with as many images first")
        wanted = (*input.shape[:-2], self.oheight, self.owidth)
        if gradOutput.shape != wanted:
            raise ValueError(f"gradOutput has size {tuple(gradOutput.shape)}; {wanted} is accepted")
        gradients = gradOutput.reshape(*batch.shape[:2], self.oheight, self.owidth)
        gradInput = torch.zeros_like(batch, memory_format=torch.contiguous_format)
        for i, gradient in enumerate(gradients):
            part, into = (self._part(images[i], *self.parts[i]) for images in (batch, gradInput))
            if part.shape != gradient.shape:
                gradient = self.scaler.updateGradInput(part, gradient)
            into.copy_(gradient)
        return self.set_gradInput(gradInput if input.dim() == 4 else gradInput[0])

    def _middle(self, image: Tensor) -> tuple[int, int, int, int]:
        top, left = (
            max(math.ceil((size - wanted) / 2), 1) - 1
            for size, wanted in zip(image.shape[1:], (self.oheight, self.owidth), strict=True)
        )
        return top, left, self.oheight, self.owidth

    def _drawn(self, i: int, image: Tensor) -> tuple[int, int, int, int]:
        height, width = image.shape[1:]
        tall, wide = self.oheight, self.owidth
        if self.scale is not None:
            factor = random.uniform(*self.factors())
            self.scales[i] = factor  # type: ignore[index]
            tall, wide = math.ceil(factor * tall), math.ceil(factor * wide)
        row = math.ceil(random.uniform(1e-2, height - tall))
        column = math.ceil(random.uniform(1e-2, width - wide))
        self.coord[i] = torch.tensor([row, column])  # type: ignore[index]
        if self.scale is not None:
            # Torch7 takes the height for the width here, so that parts of broad images lie
            # elsewhere.
            middle = math.ceil(height / 2 - (height - tall) / 2 + row)
            centre = math.ceil(width / 2 - (height - wide) / 2 + column)
            row = max(middle - math.ceil(tall / 2), 1)
            column = max(centre - math.ceil(wide / 2), 1)
        return row - 1, column - 1, tall, wide

    def _part(self, images: Tensor, top: int, left: int, tall: int, wide: int) -> Tensor:
        height, width = images.shape[-2:]
        if top < 0 or left < 0 or top + tall > height or left + wide > width:
            raise ValueError(
                f"input has planes of {height} x {width}; such that have {tall} x {wide} from row "
                f"{top + 1} and column {left + 1} on are accepted"
            )
        return images[..., top : top + tall, left : left + wide]
