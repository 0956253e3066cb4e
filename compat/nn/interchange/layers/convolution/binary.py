"""``SpatialBinaryConvolution``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers.convolution import binary as torch7


class SignConvolution(torch.autograd.Function):
    """A convolution by the signs of a weight, whose gradient is that of the signs."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        stride: Any,
        padding: Any,
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.window = stride, padding
        signs = weight.sign() + (weight == 0)
        output = functional.conv2d(x, signs, None, stride, padding)
        return output * weight.abs().mean((1, 2, 3)).view(-1, 1, 1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        x, signs = x.detach(), weight.sign() + (weight == 0)
        with torch.enable_grad():
            leaves = x.requires_grad_(), signs.requires_grad_()
            output = functional.conv2d(*leaves, None, *ctx.window)
        of_x, of_signs = torch.autograd.grad(output, leaves, gradients[0])
        of_x = of_x * weight.abs().mean((0, 2, 3)).view(-1, 1, 1)
        return of_x, of_signs, None, None


@self_contained
class SpatialBinaryConvolution(nn.Module):
    """A convolution by the signs of the weight, times the mean size of each kernel.

    The gradient of the weight is that of its signs.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, int],
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels, *kernel_size))

    def forward(self, x: Tensor) -> Tensor:
        images = x.unsqueeze(0) if x.dim() == 3 else x
        found = SignConvolution.apply(images, self.weight, self.stride, self.padding)
        return found.squeeze(0) if x.dim() == 3 else found


@converts(torch7.SpatialBinaryConvolution)
def _binary(module: Any, convert: ToTorch) -> nn.Module:
    sizes = (module.window_size, module.window_stride, module.window_padding)
    layer = SpatialBinaryConvolution(module.nInputPlane, module.nOutputPlane, *map(tuple, sizes))
    layer.weight = convert.parameter(module.weight, lambda w: w.view(layer.weight.shape))
    return layer
