"""Classes of package nnx, which nets of 2011 hold."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.nn import functional as F

from compat import lua


def _expected(x: torch.Tensor, kernel: torch.Tensor, threshold: float | None) -> torch.Tensor:
    kernel = (kernel / kernel.sum()).expand(1, len(x), *kernel.shape)
    size = kernel.shape[-1]
    edges = (size // 2, (size - 1) // 2) * 2

    def sums(planes: torch.Tensor) -> torch.Tensor:
        return F.conv2d(F.pad(planes, edges)[None], kernel)[0]

    inside = sums(torch.ones_like(x))
    centred = x - sums(x) / inside
    deviation = sums(centred**2).sqrt() / inside
    least = max(deviation.mean().item(), 1e-3) if threshold is None else threshold
    return centred / torch.where(deviation > least, deviation, torch.full_like(deviation, least))


def test_spatial_normalization_computes_its_formula(runtime: lua.Runtime, tmp_path: Path) -> None:
    kernel = torch.rand(4, 4, dtype=torch.float64)
    x = torch.rand(2, 8, 9, dtype=torch.float64, requires_grad=True)
    gradOutput = torch.rand(2, 8, 9, dtype=torch.float64)
    runtime.execute(
        """require 'nnx'
        net, x, grad = nn.SpatialNormalization(2, (...):clone(), 0.2), select(2, ...)""",
        kernel,
        x.detach(),
        gradOutput,
    )
    expected = _expected(x, kernel, 0.2)
    expected.backward(gradOutput)
    torch.testing.assert_close(runtime.eval("net:forward(x)"), expected.detach())
    torch.testing.assert_close(runtime.eval("net:backward(x, grad)"), x.grad)
    adaptive = runtime.execute(
        "local net = nn.SpatialNormalization(2, (...):clone()) torch.save(select(2, ...), net) "
        "return torch.load(select(2, ...)):forward(x)",
        kernel,
        str(tmp_path / "net.t7"),
    )
    torch.testing.assert_close(adaptive, _expected(x.detach(), kernel, None))
