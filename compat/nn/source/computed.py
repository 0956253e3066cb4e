"""Layers that ``torch.nn`` has nothing like, as what their own forward computes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.to_torch import ToTorch

# Those whose gradient is that of what they compute, by their names.
_DIFFERENTIABLE = {
    *("CAddTensorTable", "Constant", "Euclidean", "Index", "MaskedSelect"),
    *("MixtureTable", "SpatialConvolutionLocal", "SpatialConvolutionMap"),
    *("SpatialFullConvolutionMap", "SpatialSubSampling", "TemporalSubSampling", "Clip"),
    *("WeightedEuclidean", "SpatialFeatNormalization"),
}
_LEFT_BEHIND = ("output", "grad", "_", "finput", "fgradInput")


class Computed(nn.Module):
    """A layer of Torch7's that computes by its own ``updateOutput``."""

    def __init__(self, layer: Any, conversion: ToTorch) -> None:
        super().__init__()
        self.layer = layer
        self.names: list[str] = []
        trained = {id(tensor) for tensor in (layer.parameters() or ([],))[0]}
        for name, value in vars(layer).items():
            if isinstance(value, Tensor) and not name.startswith(_LEFT_BEHIND):
                self.names.append(name)
                if id(value) in trained:
                    setattr(self, name, conversion.parameter(value))
                else:
                    self.register_buffer(name, value.clone())

    def forward(self, input: Any) -> Any:
        layer = object.__new__(type(self.layer))
        vars(layer).update(vars(self.layer))
        vars(layer).update({name: getattr(self, name) for name in self.names})
        return layer.updateOutput(input)


class Converted(ToTorch):
    """The conversion of a net for its source, which has no need of PyTorch's classes."""

    def missing(self, module: Any) -> torch.nn.Module:
        if type(module).__name__ in _DIFFERENTIABLE:
            return Computed(module, self)
        return super().missing(module)
