"""The networks of ``dptable train``, built as Torch7 scripts build them.

Each function takes the number of classes and the images' channels, height and width, and returns
a net that maps N×C×H×W images to N×classes scores for ``nn.CrossEntropyCriterion``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from compat import nn, random
from compat.checks import check_choice, listed

__all__ = [
    "imagenet_resnet",
    "lenet",
    "mlp",
    "resnet",
]


def lenet(classes: int, channels: int, height: int, width: int) -> nn.Sequential:
    """Build two 5×5 convolutions, each followed by 2×2 max pooling, and two linear layers.

    The convolutions are padded (LeNet's are not), so that images from 4×4 pixels on fit.

    Args:
        classes: the number of scores for each image.
        channels: planes of an image.
        height: rows of an image, in pixels, at least 4.
        width: columns of an image, in pixels, at least 4.

    Examples:
        >>> import torch
        >>> lenet(10, 1, 8, 8).float().forward(torch.rand(2, 1, 8, 8)).shape
        torch.Size([2, 10])
    """
    if min(height, width) < 4:
        raise ValueError(f"images are {height}x{width}; for lenet, 4x4 or larger are accepted")
    features = 50 * (height // 4) * (width // 4)
    model = nn.Sequential()
    model.add(nn.SpatialConvolution(channels, 20, 5, 5, 1, 1, 2, 2))
    model.add(nn.ReLU(True))
    model.add(nn.SpatialMaxPooling(2, 2, 2, 2))
    model.add(nn.SpatialConvolution(20, 50, 5, 5, 1, 1, 2, 2))
    model.add(nn.ReLU(True))
    model.add(nn.SpatialMaxPooling(2, 2, 2, 2))
    model.add(nn.View(features).setNumInputDims(3))
    model.add(nn.Linear(features, 500))
    model.add(nn.ReLU(True))
    model.add(nn.Linear(500, classes))
    return _without_input_gradient(model)


def mlp(
    classes: int, channels: int, height: int, width: int, hidden: Sequence[int] = (256, 128)
) -> nn.Sequential:
    """Build linear layers with ReLU between them.

    Args:
        classes: the number of scores for each image.
        channels: planes of an image.
        height: rows of an image, in pixels.
        width: columns of an image, in pixels.
        hidden: the sizes of the layers before the last one.

    Examples:
        >>> [str(m.weight.shape) for m in mlp(10, 1, 8, 8).findModules("nn.Linear")[0]]
        ['torch.Size([256, 64])', 'torch.Size([128, 256])', 'torch.Size([10, 128])']
    """
    features = channels * height * width
    model = nn.Sequential().add(nn.View(features).setNumInputDims(3))
    for size in hidden:
        model.add(nn.Linear(features, size)).add(nn.ReLU(True))
        features = size
    model.add(nn.Linear(features, classes))
    return _without_input_gradient(model)


def resnet(
    classes: int,
    channels: int,
    height: int,
    width: int,
    depth: int = 20,
    shortcut_type: str = "A",
    preactivation: bool = False,
) -> nn.Sequential:
    """Build the CIFAR residual net of fb.resnet.torch, with stages of 16, 32 and 64 features.

    From K. He et al., "Deep Residual Learning for Image Recognition", 2015; with ``preactivation``
    from their "Identity Mappings in Deep Residual Networks", 2016.

    Args:
        classes: the number of scores for each image.
        channels: planes of an image.
        height: rows of an image, in pixels.
        width: columns of an image, in pixels.
        depth: the number of layers, 6n+2.
        shortcut_type: how shortcuts bridge two stages: "A" by a strided identity padded with zero
            features, "B" by a 1×1 convolution; "C" puts a 1×1 convolution beside every block.
        preactivation: normalise before each convolution instead of after it.
    """
    if depth < 8 or (depth - 2) % 6:
        raise ValueError(f"depth is {depth}; 6n+2, such as 8, 20, 32, 44, 56 or 110, is accepted")
    blocks = _ResidualBlocks(16, shortcut_type, preactivation)
    model = nn.Sequential()
    model.add(_convolution(channels, 16, 3, 1))
    if not preactivation:
        _activated(model, 16)
    for features, stride in ((16, 1), (32, 2), (64, 2)):
        model.add(blocks.stage(blocks.basic, features, (depth - 2) // 6, stride))
    if preactivation:
        _activated(model, 64)
    model.add(nn.SpatialAveragePooling(math.ceil(width / 4), math.ceil(height / 4), 1, 1))
    model.add(nn.View(64).setNumInputDims(3))
    model.add(nn.Linear(64, classes))
    return _without_input_gradient(_initialised(model))


# For each depth the blocks in the four stages, and whether they are bottlenecks.
IMAGENET_DEPTHS = {
    18: ((2, 2, 2, 2), False),
    34: ((3, 4, 6, 3), False),
    50: ((3, 4, 6, 3), True),
    101: ((3, 4, 23, 3), True),
    152: ((3, 8, 36, 3), True),
    200: ((3, 24, 36, 3), True),
}


def imagenet_resnet(
    classes: int,
    channels: int,
    height: int,
    width: int,
    depth: int = 34,
    shortcut_type: str = "B",
    preactivation: bool = False,
) -> nn.Sequential:
    """Build the ImageNet residual net of fb.resnet.torch: depth 18, 34, 50, 101, 152 or 200.

    From depth 50 on its blocks are bottlenecks. For the arguments, see ``resnet``.

    Args:
        classes: the number of scores for each image.
        channels: planes of an image.
        height: rows of an image, in pixels.
        width: columns of an image, in pixels.
        depth: the number of layers.
        shortcut_type: "A", "B" or "C", as for ``resnet``.
        preactivation: normalise before each convolution instead of after it.
    """
    if depth not in IMAGENET_DEPTHS:
        raise ValueError(f"depth is {depth}; {listed(IMAGENET_DEPTHS)} is accepted")
    counts, bottlenecks = IMAGENET_DEPTHS[depth]
    blocks = _ResidualBlocks(64, shortcut_type, preactivation)
    block = blocks.bottleneck if bottlenecks else blocks.basic
    model = nn.Sequential()
    _activated(model.add(_convolution(channels, 64, 7, 2)), 64)
    model.add(nn.SpatialMaxPooling(3, 3, 2, 2, 1, 1))
    # The input of the first block is activated already.
    bare = True
    for features, count, stride in zip((64, 128, 256, 512), counts, (1, 2, 2, 2), strict=True):
        model.add(blocks.stage(block, features, count, stride, bare))
        bare = False
    if preactivation:
        _activated(model, blocks.features)
    model.add(nn.SpatialAveragePooling(math.ceil(width / 32), math.ceil(height / 32), 1, 1))
    model.add(nn.View(blocks.features).setNumInputDims(3))
    model.add(nn.Linear(blocks.features, classes))
    return _without_input_gradient(_initialised(model))


class _ResidualBlocks:
    """Builds the blocks of a residual net one after the other.

    Attributes:
        features: the number of output features of the latest block.
    """

    def __init__(self, features: int, shortcut_type: str, preactivation: bool) -> None:
        check_choice(shortcut_type, "shortcut_type", ("A", "B", "C"))
        self.features = features
        self.shortcut_type = shortcut_type
        self.preactivation = preactivation

    def stage(
        self,
        block: Callable[..., nn.Module],
        features: int,
        count: int,
        stride: int,
        bare: bool = False,
    ) -> nn.Sequential:
        """Return ``count`` blocks; the first has the stride."""
        blocks = nn.Sequential()
        for i in range(count):
            at = "nowhere" if bare else "both"
            blocks.add(block(features, 1 if i else stride, "branch" if i else at))
        return blocks

    def basic(self, features: int, stride: int, activated: str) -> nn.Module:
        """Return a block of two 3×3 convolutions."""
        return self._block(((features, 3, stride), (features, 3, 1)), stride, activated)

    def bottleneck(self, features: int, stride: int, activated: str) -> nn.Module:
        """Return a block of 1×1, 3×3 and 1×1 convolutions with ``4 * features`` outputs."""
        layers = (features, 1, 1), (features, 3, stride), (4 * features, 1, 1)
        return self._block(layers, stride, activated)

    def _block(
        self, layers: Sequence[tuple[int, int, int]], stride: int, activated: str
    ) -> nn.Module:
        """Return a residual block with layers of (features, kernel, stride).

        ``activated`` places the first normalisation and ReLU of ``preactivation``: in the "branch",
        before "both" branch and shortcut, or "nowhere".
        """
        inputs, pre = self.features, self.preactivation
        block, branch = nn.Sequential(), nn.Sequential()
        if pre and activated != "nowhere":
            _activated(block if activated == "both" else branch, inputs)
        size = inputs
        for i, (features, kernel, step) in enumerate(layers, 1):
            branch.add(_convolution(size, features, kernel, step))
            size = features
            if i < len(layers):
                _activated(branch, size)
        if not pre:
            branch.add(nn.SpatialBatchNormalization(size))
        self.features = size
        block.add(nn.ConcatTable().add(branch).add(self._shortcut(inputs, size, stride)))
        block.add(nn.CAddTable(True))
        return block if pre else block.add(nn.ReLU(True))

    def _shortcut(self, inputs: int, outputs: int, stride: int) -> nn.Module:
        if self.shortcut_type == "C" or (self.shortcut_type == "B" and inputs != outputs):
            bridge = nn.Sequential().add(_convolution(inputs, outputs, 1, stride))
            return (
                bridge if self.preactivation else bridge.add(nn.SpatialBatchNormalization(outputs))
            )
        if inputs == outputs:
            return nn.Identity()
        return (
            nn.Sequential()
            .add(nn.SpatialAveragePooling(1, 1, stride, stride))
            .add(nn.Concat(2).add(nn.Identity()).add(nn.MulConstant(0)))
        )


def _convolution(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Module:
    pad = kernel // 2
    return nn.SpatialConvolution(inputs, outputs, kernel, kernel, stride, stride, pad, pad).noBias()


def _activated(model: nn.Sequential, features: int) -> nn.Sequential:
    return model.add(nn.SpatialBatchNormalization(features)).add(nn.ReLU(True))


def _initialised(model: nn.Sequential) -> nn.Sequential:
    """Draw the weights scaled by the number of outputs [He et al. 2015], in Torch7's order."""
    convolved: Any
    for convolved in model.findModules("nn.SpatialConvolution")[0]:
        outgoing = convolved.kW * convolved.kH * convolved.nOutputPlane
        random.normal_(convolved.weight, 0, math.sqrt(2 / outgoing))
    for normalized in model.findModules("nn.SpatialBatchNormalization")[0]:
        normalized.weight.fill_(1)
        normalized.bias.zero_()
    for linear in model.findModules("nn.Linear")[0]:
        linear.bias.zero_()
    return model


def _without_input_gradient(model: nn.Sequential) -> nn.Sequential:
    """Switch off ``gradInput`` of the first layer.

    Nothing reads the images' gradient, and for a first convolution it is half the work.
    """
    first = next(module for module in model.modules if module.parameters()[0])
    first.gradInput = None
    return model


MODELS: dict[str, Callable[..., nn.Sequential]] = {"lenet": lenet, "resnet": resnet, "mlp": mlp}
