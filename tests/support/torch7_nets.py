"""Nets of full size, built as Torch7's training scripts build them."""

from __future__ import annotations

from typing import Any

import compat.nn as nn


def alexnet(classes: int = 1000) -> nn.Sequential:
    """The one-GPU AlexNet of imagenet-multiGPU.torch ("one weird trick"), for 224×224 images."""
    features = nn.Sequential()
    features.add(nn.SpatialConvolution(3, 64, 11, 11, 4, 4, 2, 2))
    features.add(nn.ReLU(True))
    features.add(nn.SpatialMaxPooling(3, 3, 2, 2))
    features.add(nn.SpatialConvolution(64, 192, 5, 5, 1, 1, 2, 2))
    features.add(nn.ReLU(True))
    features.add(nn.SpatialMaxPooling(3, 3, 2, 2))
    for inputs, outputs in ((192, 384), (384, 256), (256, 256)):
        features.add(nn.SpatialConvolution(inputs, outputs, 3, 3, 1, 1, 1, 1))
        features.add(nn.ReLU(True))
    features.add(nn.SpatialMaxPooling(3, 3, 2, 2))

    classifier = nn.Sequential()
    classifier.add(nn.View(256 * 6 * 6))
    for inputs in (256 * 6 * 6, 4096):
        classifier.add(nn.Dropout(0.5))
        classifier.add(nn.Linear(inputs, 4096))
        classifier.add(nn.Threshold(0, 1e-6))
    classifier.add(nn.Linear(4096, classes))
    classifier.add(nn.LogSoftMax())
    return nn.Sequential().add(features).add(classifier)


def resnet50(classes: int = 1000) -> nn.Sequential:
    """The ResNet-50 of fb.resnet.torch, for 224×224 images."""
    inputs = 64

    def shortcut(outputs: int, stride: int) -> Any:
        if inputs == outputs:
            return nn.Identity()
        convolution = nn.SpatialConvolution(inputs, outputs, 1, 1, stride, stride)
        return nn.Sequential().add(convolution).add(nn.SpatialBatchNormalization(outputs))

    def bottleneck(n: int, stride: int) -> Any:
        nonlocal inputs
        bridge = shortcut(4 * n, stride)
        s = nn.Sequential()
        s.add(nn.SpatialConvolution(inputs, n, 1, 1, 1, 1, 0, 0))
        s.add(nn.SpatialBatchNormalization(n)).add(nn.ReLU(True))
        s.add(nn.SpatialConvolution(n, n, 3, 3, stride, stride, 1, 1))
        s.add(nn.SpatialBatchNormalization(n)).add(nn.ReLU(True))
        s.add(nn.SpatialConvolution(n, 4 * n, 1, 1, 1, 1, 0, 0))
        s.add(nn.SpatialBatchNormalization(4 * n))
        inputs = 4 * n
        both = nn.ConcatTable().add(s).add(bridge)
        return nn.Sequential().add(both).add(nn.CAddTable(True)).add(nn.ReLU(True))

    model = nn.Sequential()
    model.add(nn.SpatialConvolution(3, 64, 7, 7, 2, 2, 3, 3).noBias())
    model.add(nn.SpatialBatchNormalization(64)).add(nn.ReLU(True))
    model.add(nn.SpatialMaxPooling(3, 3, 2, 2, 1, 1))
    for n, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        stage = nn.Sequential()
        for i in range(count):
            stage.add(bottleneck(n, stride if i == 0 else 1))
        model.add(stage)
    model.add(nn.SpatialAveragePooling(7, 7, 1, 1))
    model.add(nn.View(2048).setNumInputDims(3))
    model.add(nn.Linear(2048, classes))
    return model
