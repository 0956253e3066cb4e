"""Make a module for each layer of Caffe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from compat import cudnn, nn

BACKENDS = {"nn": nn, "cudnn": cudnn}
# The numbers of the older kind of layers.
_OLD = {
    4: "Convolution",
    6: "Dropout",
    14: "InnerProduct",
    15: "LRN",
    17: "Pooling",
    18: "ReLU",
    19: "Sigmoid",
    20: "Softmax",
    21: "SoftmaxWithLoss",
    23: "Tanh",
}
_SOFTMAX = ("Softmax", "SoftmaxWithLoss")
_MAX, _STOCHASTIC = 0, 2


def build(net: Any, backend: str, say: Callable[[str], object]) -> nn.Sequential:
    """Build a net of the layers that have a class, with their weights."""
    old = bool(net.layers)
    width = len(net.input_dim) if old else 4 * len(net.input_shape)
    made = nn.Sequential()
    weighted: list[tuple[nn.Module, Any]] = []
    for layer in net.layers if old else net.layer:
        kind = _OLD.get(layer.type) if old else layer.type
        grouped = kind == "Convolution" and layer.convolution_param.group > 1 and backend == "nn"
        if grouped:
            say("nn supports no groups!")
        # Among the newer kind Torch7 stops here.
        if not old and (grouped or kind in _SOFTMAX):
            break
        found: list[tuple[str, Any]] = []
        if not grouped:
            found, width = _modules(kind, layer, backend, width)
        if not found:
            if kind is None:
                say(f"MODULE {layer.name} UNDEFINED")
            say(f"warning: module '{layer.name} [type {layer.type}]' not found")
        for name, module in found:
            module.name = name
            made.add(module)
            if isinstance(module, (nn.SpatialConvolution, nn.Linear)):
                weighted.append((module, layer))
    for module, layer in weighted:
        _fill(module, layer, say)
    return made


def _modules(
    kind: str | None, layer: Any, backend: str, width: int
) -> tuple[list[tuple[str, Any]], int]:
    """Return the named modules for a layer, and the number of planes or features that come out."""
    package = BACKENDS[backend]
    inplace = (True,) if backend == "cudnn" else ()
    if kind == "Convolution":
        param = layer.convolution_param
        outputs, inputs, *_ = _shape(layer)
        groups = max(param.group, 1)
        window = (*_pair(param, "kernel", "kernel_size"), *_pair(param, "stride", "stride"))
        padding = _pair(param, "pad", "pad")
        more = (groups,) if backend == "cudnn" else ()
        module = package.SpatialConvolution(inputs * groups, outputs, *window, *padding, *more)
        return [(layer.name, module)], outputs
    if kind == "InnerProduct":
        outputs, inputs = layer.inner_product_param.num_output, _features(layer)
        flat = [("torch_view", nn.View(-1).setNumInputDims(3))] if width != inputs else []
        return [*flat, (layer.name, nn.Linear(inputs, outputs))], outputs
    return [(layer.name, module) for module in _plain(kind, layer, package, inplace)], width


def _plain(
    kind: str | None, layer: Any, package: Any, inplace: tuple[bool, ...]
) -> Iterator[nn.Module]:
    """Return the module without weights for a layer, or None.

    Numbers have the digits that Torch7 writes into its description of the net.
    """
    if kind == "Pooling":
        param = layer.pooling_param
        if param.pool == _STOCHASTIC:
            raise NotImplementedError(
                f"layer {layer.name!r} has stochastic pooling, for which there is no class; max "
                "and average pooling are accepted"
            )
        window = (*_pair(param, "kernel", "kernel_size"), *_pair(param, "stride", "stride"))
        padding = (param.pad_w, param.pad_h)
        if padding == (0, 0):
            padding = (param.pad, param.pad)
        name = "SpatialMaxPooling" if param.pool == _MAX else "SpatialAveragePooling"
        yield getattr(package, name)(*window, *padding).ceil()
    elif kind == "ReLU":
        yield package.ReLU(True)
    elif kind == "Tanh":
        yield package.Tanh(*inplace)
    elif kind == "Sigmoid":
        yield package.Sigmoid(*inplace)
    elif kind == "LRN":
        param = layer.lrn_param
        alpha, beta, k = f"{param.alpha:.6f}", f"{param.beta:.4f}", f"{param.k:.6f}"
        yield package.SpatialCrossMapLRN(param.local_size, float(alpha), float(beta), float(k))
    elif kind == "Dropout":
        yield nn.Dropout(float(f"{layer.dropout_param.dropout_ratio:.6f}"))
    elif kind in _SOFTMAX:
        yield package.SoftMax()


def _pair(param: Any, name: str, both: str) -> tuple[int, int]:
    """Return width and height; one of them alone does not count."""
    width, height = getattr(param, f"{name}_w"), getattr(param, f"{name}_h")
    if width == 0 or height == 0:
        width = height = getattr(param, both)
    return width, height


def _shape(layer: Any) -> tuple[int, ...]:
    if not layer.blobs:
        raise ValueError(
            f"layer {layer.name!r} has no weights in the file; a .caffemodel after training is "
            "accepted"
        )
    blob = layer.blobs[0]
    if blob.HasField("shape"):
        sizes = tuple(blob.shape.dim)
        if len(sizes) not in (2, 4):
            raise ValueError(
                f"layer {layer.name!r} has weights of sizes {sizes}; 2 or 4 sizes are accepted"
            )
        return sizes
    return blob.num, blob.channels, blob.height, blob.width


def _features(layer: Any) -> int:
    shape = _shape(layer)
    return shape[1] if layer.blobs[0].HasField("shape") else shape[-1]


def _fill(module: nn.Module, layer: Any, say: Callable[[str], object]) -> None:
    """Copy a layer's weights, and say their size as Torch7 does: the width before the height."""
    shape = _shape(layer)
    if len(shape) == 2:
        shape = (1, 1, *shape)
    outputs, inputs, height, width = shape
    say(f"{layer.name}: {outputs} {inputs} {width} {height}")
    _copy(module.weight, layer, 0)
    if len(layer.blobs) > 1:
        _copy(module.bias, layer, 1)
    else:
        module.bias.zero_()


def _copy(target: torch.Tensor, layer: Any, index: int) -> None:
    data = bytearray(b"".join(layer.blobs[index].data))
    if len(data) != 4 * target.numel():
        raise ValueError(
            f"blob {index} of layer {layer.name!r} has {len(data) / 4:g} numbers; "
            f"{target.numel()} are accepted"
        )
    values = torch.frombuffer(data, dtype=torch.float32)
    with torch.no_grad():
        target.copy_(values.view(target.shape))
