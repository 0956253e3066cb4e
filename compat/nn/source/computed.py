"""Converts layers without ``torch.nn`` equivalent to what their own forward computes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.functional.pooling import adaptive_max_pool
from compat.nn.interchange.recurrent.memory import Remembering, flow
from compat.nn.interchange.to_torch import ToTorch, converter_of
from compat.nn.layers.convolution.transposed import FullConvolution
from compat.nn.layers.pooling.adaptive import SpatialAdaptiveMaxPooling
from compat.nn.recurrent.cells import FastLSTM


class OfCell(Remembering):
    """A single-step recurrent layer around a ``torch.nn`` cell."""

    def __init__(self, cell: nn.LSTMCell) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, input: Tensor) -> Tensor:
        output, self.memory = flow().cell(self.cell, input, self.memory)
        return output


def _fast_lstm(module: Any, convert: ToTorch) -> nn.Module:
    """Convert to ``torch.nn.LSTMCell`` where it computes the same."""
    converter = converter_of(FastLSTM)
    assert isinstance(convert, Converted) and converter is not None
    plain: Any = converter(module, convert)
    i2g, o2g = layers = [_layer(convert, gates) for gates in (module.i2g, module.o2g)]
    if any(state is not None for state in plain.start) or not _are_matrices(*layers):
        return plain
    cell = nn.LSTMCell(i2g.in_features, o2g.in_features, device="meta")
    cell.weight_ih, cell.bias_ih = (convert.in_order(p) for p in (i2g.weight, i2g.bias))
    cell.weight_hh = convert.in_order(o2g.weight)
    cell.bias_hh = nn.Parameter(torch.zeros_like(i2g.bias), requires_grad=False)
    with torch.no_grad():
        generator = torch.Generator().manual_seed(1)
        sizes = (i2g.in_features, o2g.in_features, o2g.in_features)
        x, h, c = (torch.randn(2, n, generator=generator).to(i2g.weight) for n in sizes)
        same = zip(plain.step.eval()([x, h, c]), cell(x, (h, c)), strict=True)
        exact = all(torch.allclose(one, other, 1e-3, 1e-5) for one, other in same)
    return OfCell(cell) if exact else plain


def _layer(convert: ToTorch, module: Any) -> Any:
    return convert(module)


def _are_matrices(i2g: nn.Module, o2g: nn.Module) -> bool:
    """Return whether both layers hold an LSTM's matrices, four gates side by side."""
    if not isinstance(i2g, nn.Linear) or not isinstance(o2g, nn.Linear):
        return False
    sizes = 4 * o2g.in_features == o2g.out_features == i2g.out_features
    return sizes and i2g.bias is not None and o2g.bias is None


class Converted(ToTorch):
    """The conversion of a net to ``torch.nn`` modules whose runs are recorded as source.

    The net's parameters are only read: they stay in their memory.
    """

    def __init__(self, whole: Any) -> None:
        super().__init__(whole, shared=True)
        self._ordered: dict[int, tuple[nn.Parameter, nn.Parameter]] = {}

    def converter(self, cls: type) -> Any:
        for base, own in _OWN.items():
            if issubclass(cls, base):
                return own
        return super().converter(cls)

    def in_order(self, gates: nn.Parameter) -> nn.Parameter:
        """Return a parameter of a ``FastLSTM`` with its gates in PyTorch's order."""
        if id(gates) not in self._ordered:
            new, candidate, forget, out = gates.detach().chunk(4)
            rows = torch.cat([new, forget, candidate, out])
            self._ordered[id(gates)] = (gates, nn.Parameter(rows, gates.requires_grad))
        return self._ordered[id(gates)][1]


class ConvTranspose2d(nn.ConvTranspose2d):
    """``torch.nn.ConvTranspose2d``; a second input tensor gives the output size."""

    def forward(self, input: Any) -> Tensor:  # type: ignore[override]
        if isinstance(input, Tensor):
            return super().forward(input)
        return super().forward(input[0], list(input[1].shape[-2:]))


class ConvTranspose3d(nn.ConvTranspose3d):
    """``torch.nn.ConvTranspose3d``; a second input tensor gives the output size."""

    def forward(self, input: Any) -> Tensor:  # type: ignore[override]
        if isinstance(input, Tensor):
            return super().forward(input)
        return super().forward(input[0], list(input[1].shape[-3:]))


class AdaptiveMaxPool2d(nn.AdaptiveMaxPool2d):
    """``torch.nn.AdaptiveMaxPool2d`` with Torch7's windows, which are rounded differently."""

    def forward(self, input: Tensor) -> Tensor:
        size: Any = self.output_size
        return adaptive_max_pool(input, size)[0]


def _of_class(own: Any) -> Any:
    """Return a conversion whose result has a class of this file."""

    def convert(module: Any, conversion: ToTorch) -> nn.Module:
        converter: Any = converter_of(type(module))
        layer = converter(module, conversion)
        layer.__class__ = next(cls for cls in own if cls.__name__ == type(layer).__name__)
        return layer

    return convert


_OWN: dict[type, Any] = {
    FastLSTM: _fast_lstm,
    FullConvolution: _of_class((ConvTranspose2d, ConvTranspose3d)),
    SpatialAdaptiveMaxPooling: _of_class((AdaptiveMaxPool2d,)),
}
