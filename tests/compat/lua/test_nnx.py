"""Classes of package nnx, which nets of 2011 hold."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.nn import functional as F

from compat import lua, nn, t7


def test_lua_has_the_classes_of_compat_nn(runtime: lua.Runtime, tmp_path: Path) -> None:
    kernel = torch.rand(4, 5, dtype=torch.float64)
    path = tmp_path / "net.t7"
    x = torch.randn(2, 8, 9, dtype=torch.float64)
    computed = runtime.execute(
        """require 'nnx'
        local kernel, x, path = ...
        local net = nn.Sequential():add(nn.SpatialNormalization(2, kernel))
           :add(nn.SpatialClassifier(nn.Linear(2, 3))):add(nn.SpatialPadding(1))
        torch.save(path, net)
        return torch.load(path):forward(x)""",
        kernel,
        x,
        str(path),
    )
    net = t7.load(path)
    torch.testing.assert_close(net.forward(x), computed)
    normalized = nn.SpatialNormalization(2, kernel).double().forward(x)
    classifier = net.get(2).classifier
    inner = F.linear(normalized.permute(1, 2, 0), classifier.weight, classifier.bias)
    torch.testing.assert_close(computed[:, 1:-1, 1:-1], inner.permute(2, 0, 1))
