"""Convolutions are computed by columns or by oneDNN's kernels; both give the same numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from compat.nn.functional import convolution as f

# Few multiplications; few input planes; neither.
SIZES = [((2, 3, 9, 8), 6), ((8, 2, 40, 40), 32), ((8, 8, 40, 40), 32)]
ONES = (1, 1)


def in_double(input: Tensor, gradOutput: Tensor, weight: Tensor, bias: Tensor, *window: Any) -> Any:
    """Return output and gradients of PyTorch in double."""
    leaves = [tensor.double().requires_grad_() for tensor in (input, weight, bias)]
    output = torch.conv2d(*leaves, *window)
    return output.detach(), torch.autograd.grad(output, leaves, gradOutput.double())


def close(found: Tensor, wanted: Tensor) -> None:
    assert found.dtype == torch.float32 and found.is_contiguous()
    scale = wanted.abs().max().item()
    torch.testing.assert_close(found.double(), wanted, rtol=0, atol=1e-5 * max(scale, 1))


@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
@pytest.mark.parametrize(("size", "planes"), SIZES, ids=["small", "few planes", "large"])
def test_all_ways_give_the_same(size: tuple[int, ...], planes: int, transposed: bool) -> None:
    input, weight, bias = torch.randn(size), torch.randn(planes, size[1], 3, 2), torch.randn(planes)
    stride, padding = (2, 1), (1, 0)
    if transposed:  # the kernel by columns trusts that memory is contiguous
        input = input.transpose(-1, -2).contiguous().transpose(-1, -2)
    output = f.convolution(input, weight, bias, stride, padding, ONES)
    gradOutput = torch.randn_like(output)
    if transposed:
        gradOutput = gradOutput.transpose(-1, -2).contiguous().transpose(-1, -2)
    wanted, gradients = in_double(input, gradOutput, weight, bias, stride, padding)
    close(output, wanted)
    for mask in product([False, True], repeat=3):
        found = f.convolution_backward(input, gradOutput, weight, mask, stride, padding, ONES, 1)
        for asked, gradient, right in zip(mask, found, gradients, strict=True):
            if asked:
                assert gradient is not None
                close(gradient, right)


@pytest.mark.parametrize(("size", "planes"), SIZES[:2], ids=["small", "few planes"])
def test_a_sample_is_a_batch_of_one(size: tuple[int, ...], planes: int) -> None:
    input, weight, bias = torch.randn(size[1:]), torch.randn(planes, size[1], 3, 2), None
    output = f.convolution(input, weight, bias, ONES, ONES, ONES)
    batch = f.convolution(input.unsqueeze(0), weight, bias, ONES, ONES, ONES)
    assert torch.equal(output, batch.squeeze(0))
    mask = True, True, False
    one = f.convolution_backward(input, output, weight, mask, ONES, ONES, ONES, 1)
    several = f.convolution_backward(
        input.unsqueeze(0), output.unsqueeze(0), weight, mask, ONES, ONES, ONES, 1
    )
    assert one[0] is not None and several[0] is not None
    assert torch.equal(one[0], several[0].squeeze(0))
    assert one[1] is not None and several[1] is not None and torch.equal(one[1], several[1])
