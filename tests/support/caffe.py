"""A net of Caffe with small weights, of layers of the older or the newer kind."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F


def _floats(tensor: torch.Tensor) -> bytes:
    return tensor.detach().float().numpy().tobytes()


def _blob(layer: Any, tensor: torch.Tensor, old: bool) -> None:
    blob = layer.blobs.add(data=[_floats(tensor)])
    if old:
        sizes = [1] * (4 - tensor.dim()) + list(tensor.shape)
        blob.num, blob.channels, blob.height, blob.width = sizes
    else:
        blob.shape.dim.extend(tensor.shape)


def small_net(old: bool, groups: int = 1) -> tuple[bytes, dict[str, torch.Tensor]]:
    """A small net: convolution, ReLU, LRN, pooling, dropout, Linear, Softmax; and its weights."""
    from compat.loadcaffe.schema import Net

    generator = torch.Generator().manual_seed(1)
    made = {
        "conv.weight": torch.randn(4, 2 // groups, 3, 5, generator=generator),
        "conv.bias": torch.randn(4, generator=generator),
        "fc.weight": torch.randn(3, 4 * 3 * 3, generator=generator),
        "fc.bias": torch.randn(3, generator=generator),
    }
    net = Net()
    if old:
        net.input_dim.extend([1, 2, 6, 6])
    else:
        net.input_shape.add().dim.extend([1, 2, 6, 6])
    numbers = {"Data": 5, "Convolution": 4, "ReLU": 18, "LRN": 15, "Pooling": 17, "Dropout": 6,
               "InnerProduct": 14, "Softmax": 20, "Concat": 3}  # fmt: skip

    def add(name: str, kind: str) -> Any:
        return (
            net.layers.add(name=name, type=numbers[kind])
            if old
            else net.layer.add(name=name, type=kind)
        )

    add("data", "Data")
    conv = add("conv", "Convolution")
    param = conv.convolution_param
    param.kernel_w, param.kernel_h, param.pad_w, param.pad_h, param.group = 5, 3, 2, 1, groups
    _blob(conv, made["conv.weight"], old)
    _blob(conv, made["conv.bias"], old)
    add("relu", "ReLU")
    lrn = add("norm", "LRN").lrn_param
    lrn.local_size, lrn.alpha, lrn.beta = 3, 0.01, 0.75
    pool = add("pool", "Pooling").pooling_param
    pool.kernel_size, pool.stride = 2, 2
    add("drop", "Dropout").dropout_param.dropout_ratio = 0.25
    full = add("fc", "InnerProduct")
    full.inner_product_param.num_output = 3
    _blob(full, made["fc.weight"], old)
    _blob(full, made["fc.bias"], old)
    add("prob", "Softmax")
    return net.SerializeToString(), made


def expected(x: torch.Tensor, made: dict[str, torch.Tensor], softmax: bool) -> torch.Tensor:
    made = {name: value.to(x.dtype) for name, value in made.items()}
    y = F.conv2d(x, made["conv.weight"], made["conv.bias"], padding=(1, 2)).relu()
    y = F.local_response_norm(y, 3, 0.01, 0.75, 1)
    y = F.max_pool2d(y, 2, 2, ceil_mode=True).flatten(1)
    y = F.linear(y, made["fc.weight"], made["fc.bias"])
    return y.softmax(1) if softmax else y
