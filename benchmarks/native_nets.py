"""The nets of ``dptable.models`` in plain torch.nn, and ResNet-50, to compare with."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def lenet(classes: int, channels: int, height: int, width: int) -> nn.Module:
    features = 50 * (height // 4) * (width // 4)
    return nn.Sequential(
        nn.Conv2d(channels, 20, 5, padding=2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(20, 50, 5, padding=2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(features, 500),
        nn.ReLU(inplace=True),
        nn.Linear(500, classes),
    )


def mlp(
    classes: int, channels: int, height: int, width: int, hidden: tuple[int, ...] = (256, 128)
) -> nn.Module:
    layers: list[nn.Module] = [nn.Flatten()]
    features = channels * height * width
    for size in hidden:
        layers += [nn.Linear(features, size), nn.ReLU(inplace=True)]
        features = size
    return nn.Sequential(*layers, nn.Linear(features, classes))


class _Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.stride = stride
        self.widen = inputs != outputs

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        if self.widen:
            x = F.avg_pool2d(x, 1, self.stride)
            x = torch.cat([x, x * 0], 1)
        y += x
        return F.relu(y, inplace=True)


def resnet(classes: int, channels: int, height: int, width: int, depth: int = 20) -> nn.Module:
    layers: list[nn.Module] = [
        nn.Conv2d(channels, 16, 3, 1, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(inplace=True),
    ]
    features = 16
    for outputs in (16, 32, 64):
        for i in range((depth - 2) // 6):
            layers.append(_Block(features, outputs, 2 if i == 0 and outputs > 16 else 1))
            features = outputs
    return nn.Sequential(
        *layers, nn.AvgPool2d((height // 4, width // 4)), nn.Flatten(), nn.Linear(64, classes)
    )


class _Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * width
        self.branch = nn.Sequential(
            *_normalised(inputs, width, 1),
            nn.ReLU(inplace=True),
            *_normalised(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *_normalised(width, outputs, 1),
        )
        bridged = stride > 1 or inputs != outputs
        self.shortcut = (
            nn.Sequential(*_normalised(inputs, outputs, 1, stride)) if bridged else nn.Identity()
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.branch(x) + self.shortcut(x), inplace=True)


def _normalised(inputs: int, outputs: int, size: int, stride: int = 1) -> tuple[nn.Module, ...]:
    convolution = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
    return convolution, nn.BatchNorm2d(outputs)


def resnet50(classes: int, channels: int, height: int, width: int) -> nn.Module:
    """He et al., 2015, with the stride in the 3x3 convolution; 161 parameter tensors."""
    layers: list[nn.Module] = [
        *_normalised(channels, 64, 7, 2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    features = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for i in range(blocks):
            stride = 2 if i == 0 and stage > 0 else 1
            layers.append(_Bottleneck(features, 64 << stage, stride))
            features = 256 << stage
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(features, classes)
    )


def resnet50_shapes() -> list[tuple[int, ...]]:
    """The sizes of its parameters, 25.6 million in all."""
    with torch.device("meta"):
        return [tuple(p.shape) for p in resnet50(1000, 3, 224, 224).parameters()]
