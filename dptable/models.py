"""The networks that ``dptable train`` offers, built as Torch7 scripts build them.

Each function takes the number of classes and the images' channels, height and width, and returns
a net that maps N×C×H×W images to N×classes scores for ``nn.CrossEntropyCriterion``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from compat import nn, random
from compat.checks import check_choice


def lenet(classes: int, channels: int, height: int, width: int) -> nn.Sequential:
    """Two 5×5 convolutions, each followed by 2×2 max pooling, and two linear layers.

    The convolutions are padded (LeNet's are not), so that images from 4×4 pixels on fit.
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
    """Linear layers with ReLU between them; ``hidden`` are their sizes."""
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
) -> nn.Sequential:
    """The CIFAR residual net of fb.resnet.torch: depth 6n+2, stages of 16, 32 and 64 features.

    ``shortcut_type`` is what bridges two stages: "A" a strided identity padded with zero features,
    "B" a 1×1 convolution; "C" puts a 1×1 convolution beside every block. From K. He et al., "Deep
    Residual Learning for Image Recognition", 2015.
    """
    if depth < 8 or (depth - 2) % 6:
        raise ValueError(f"depth is {depth}; 6n+2, such as 8, 20, 32, 44, 56 or 110, is accepted")
    check_choice(shortcut_type, "shortcut_type", ("A", "B", "C"))

    def convolution(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Module:
        pad = kernel // 2
        return nn.SpatialConvolution(
            inputs, outputs, kernel, kernel, stride, stride, pad, pad
        ).noBias()

    def shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
        if shortcut_type == "C" or (shortcut_type == "B" and inputs != outputs):
            return (
                nn.Sequential()
                .add(convolution(inputs, outputs, 1, stride))
                .add(nn.SpatialBatchNormalization(outputs))
            )
        if inputs != outputs:
            return (
                nn.Sequential()
                .add(nn.SpatialAveragePooling(1, 1, stride, stride))
                .add(nn.Concat(2).add(nn.Identity()).add(nn.MulConstant(0)))
            )
        return nn.Identity()

    def block(inputs: int, outputs: int, stride: int) -> nn.Module:
        branch = nn.Sequential()
        branch.add(convolution(inputs, outputs, 3, stride))
        branch.add(nn.SpatialBatchNormalization(outputs))
        branch.add(nn.ReLU(True))
        branch.add(convolution(outputs, outputs, 3, 1))
        branch.add(nn.SpatialBatchNormalization(outputs))
        return (
            nn.Sequential()
            .add(nn.ConcatTable().add(branch).add(shortcut(inputs, outputs, stride)))
            .add(nn.CAddTable(True))
            .add(nn.ReLU(True))
        )

    def stage(inputs: int, outputs: int, stride: int) -> nn.Module:
        blocks = nn.Sequential().add(block(inputs, outputs, stride))
        for _ in range((depth - 2) // 6 - 1):
            blocks.add(block(outputs, outputs, 1))
        return blocks

    model = nn.Sequential()
    model.add(convolution(channels, 16, 3, 1))
    model.add(nn.SpatialBatchNormalization(16))
    model.add(nn.ReLU(True))
    model.add(stage(16, 16, 1))
    model.add(stage(16, 32, 2))
    model.add(stage(32, 64, 2))
    model.add(nn.SpatialAveragePooling(math.ceil(width / 4), math.ceil(height / 4), 1, 1))
    model.add(nn.View(64).setNumInputDims(3))
    model.add(nn.Linear(64, classes))

    convolved: Any
    for convolved in model.findModules("nn.SpatialConvolution")[0]:
        outgoing = convolved.kW * convolved.kH * convolved.nOutputPlane
        random.normal_(convolved.weight, 0, math.sqrt(2 / outgoing))
    for normalized in model.findModules("nn.SpatialBatchNormalization")[0]:
        normalized.weight.fill_(1)
        normalized.bias.zero_()
    for linear in model.findModules("nn.Linear")[0]:
        linear.bias.zero_()
    return _without_input_gradient(model)


def _without_input_gradient(model: nn.Sequential) -> nn.Sequential:
    """Nothing reads the images' gradient, and for a first convolution it is half the work."""
    model.get(1).gradInput = None
    return model


MODELS: dict[str, Callable[..., nn.Sequential]] = {"lenet": lenet, "resnet": resnet, "mlp": mlp}
