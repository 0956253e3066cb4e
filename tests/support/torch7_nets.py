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


def lenet(classes: int = 10) -> nn.Sequential:
    """The LeNet of Torch7's tutorials, for 32×32 digits."""
    net = nn.Sequential()
    net.add(nn.SpatialConvolution(1, 6, 5, 5)).add(nn.Tanh()).add(nn.SpatialMaxPooling(2, 2, 2, 2))
    net.add(nn.SpatialConvolution(6, 16, 5, 5)).add(nn.Tanh()).add(nn.SpatialMaxPooling(2, 2, 2, 2))
    net.add(nn.View(16 * 5 * 5)).add(nn.Linear(16 * 5 * 5, 120)).add(nn.Tanh())
    net.add(nn.Linear(120, 84)).add(nn.Tanh()).add(nn.Linear(84, classes)).add(nn.LogSoftMax())
    return net


def vgg16(classes: int = 1000) -> nn.Sequential:
    """VGG-16 without batch normalisation, for 224×224 images."""
    net, inputs = nn.Sequential(), 3
    for planes, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            net.add(nn.SpatialConvolution(inputs, planes, 3, 3, 1, 1, 1, 1)).add(nn.ReLU(True))
            inputs = planes
        net.add(nn.SpatialMaxPooling(2, 2, 2, 2))
    net.add(nn.View(512 * 7 * 7))
    for size in (512 * 7 * 7, 4096):
        net.add(nn.Linear(size, 4096)).add(nn.ReLU(True)).add(nn.Dropout(0.5))
    return net.add(nn.Linear(4096, classes)).add(nn.LogSoftMax())


def resnet18(classes: int = 1000) -> nn.Sequential:
    """The ResNet-18 of fb.resnet.torch, with shortcuts of type B, for 224×224 images."""
    inputs = 64

    def block(planes: int, stride: int) -> Any:
        nonlocal inputs
        bridge: Any = nn.Identity()
        if inputs != planes:
            bridge = nn.Sequential(nn.SpatialConvolution(inputs, planes, 1, 1, stride, stride))
            bridge.add(nn.SpatialBatchNormalization(planes))
        s = nn.Sequential()
        s.add(nn.SpatialConvolution(inputs, planes, 3, 3, stride, stride, 1, 1))
        s.add(nn.SpatialBatchNormalization(planes)).add(nn.ReLU(True))
        s.add(nn.SpatialConvolution(planes, planes, 3, 3, 1, 1, 1, 1))
        s.add(nn.SpatialBatchNormalization(planes))
        inputs = planes
        both = nn.ConcatTable().add(s).add(bridge)
        return nn.Sequential().add(both).add(nn.CAddTable(True)).add(nn.ReLU(True))

    model = nn.Sequential().add(nn.SpatialConvolution(3, 64, 7, 7, 2, 2, 3, 3))
    model.add(nn.SpatialBatchNormalization(64)).add(nn.ReLU(True))
    model.add(nn.SpatialMaxPooling(3, 3, 2, 2, 1, 1))
    for planes, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        model.add(nn.Sequential().add(block(planes, stride)).add(block(planes, 1)))
    model.add(nn.SpatialAveragePooling(7, 7, 1, 1)).add(nn.View(512).setNumInputDims(3))
    return model.add(nn.Linear(512, classes))


def char_lstm(letters: int = 65, size: int = 128, layers: int = 2) -> nn.gModule:
    """One step of char-rnn's LSTM: from a letter and the states, the states and scores."""
    inputs = [nn.Identity()() for _ in range(2 * layers + 1)]
    outputs = []
    x: Any = inputs[0]
    for layer in range(layers):
        previous_c, previous_h = inputs[2 * layer + 1], inputs[2 * layer + 2]
        x = nn.OneHot(letters)(x) if layer == 0 else nn.Dropout(0.5)(outputs[-1])
        width = size if layer else letters
        i2h = nn.Linear(width, 4 * size)(x).annotate({"name": f"i2h_{layer + 1}"})
        h2h = nn.Linear(size, 4 * size)(previous_h).annotate({"name": f"h2h_{layer + 1}"})
        gates = nn.Reshape(4, size)(nn.CAddTable()([i2h, h2h]))
        n1, n2, n3, n4 = nn.SplitTable(2)(gates).split(4)
        kept = nn.CMulTable()([nn.Sigmoid()(n2), previous_c])
        new = nn.CMulTable()([nn.Sigmoid()(n1), nn.Tanh()(n4)])
        c = nn.CAddTable()([kept, new])
        h = nn.CMulTable()([nn.Sigmoid()(n3), nn.Tanh()(c)])
        outputs += [c, h]
    top = nn.Dropout(0.5)(outputs[-1])
    scores = nn.Linear(size, letters)(top).annotate({"name": "decoder"})
    return nn.gModule(inputs, [*outputs, nn.LogSoftMax()(scores)])
