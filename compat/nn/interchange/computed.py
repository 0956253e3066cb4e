"""Converts layers without ``torch.nn`` equivalent: they run their own forward."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, converts_from
from compat.nn.interchange.to_torch import ToTorch, converts

_LEFT_BEHIND = ("output", "grad", "_", "finput", "fgradInput", "noise")


class Computed(nn.Module):
    """A Torch7 layer that runs its own ``updateOutput`` under autograd.

    Its parameters are the layer's; the layer's other tensors are buffers.
    """

    def __init__(self, layer: Any, convert: ToTorch) -> None:
        super().__init__()
        self.layer = layer
        self.inplace = bool(getattr(layer, "inplace", False))
        self.names: list[str] = []
        trained = {id(tensor) for tensor in (layer.parameters() or ([],))[0]}
        for name, value in vars(layer).items():
            if isinstance(value, Tensor) and not name.startswith(_LEFT_BEHIND):
                self.names.append(name)
                if id(value) in trained:
                    setattr(self, name, convert.parameter(value))
                else:
                    self.register_buffer(name, value.clone())

    def forward(self, input: Any) -> Any:
        # Of its own for each pass: the tensors are this module's, which may have moved.
        layer: Any = object.__new__(type(self.layer))
        fields = layer.__dict__
        fields.update(self.layer.__dict__)
        for name in self.names:
            fields[name] = getattr(self, name)
        layer.train = self.training
        if "inplace" in fields:
            layer.inplace = self.inplace
        return layer.updateOutput(input)

    @property
    def name_of_torch7(self) -> str:
        """The Torch7 name of the layer's class."""
        return type(self.layer).__name__

    def _get_name(self) -> str:
        return self.name_of_torch7

    def extra_repr(self) -> str:
        shapes = [f"{name}={tuple(getattr(self, name).shape)}" for name in self.names]
        return ", ".join(shapes)


def computes(*classes: type[Module]) -> None:
    """Let layers of these classes, whose gradient is that of what they compute, be ``Computed``."""
    converts(*classes)(Computed)


@converts_from(Computed)
def _from_computed(module: Computed, convert: FromTorch) -> Module:
    layer = module.layer.clone()
    for name in module.names:
        setattr(layer, name, convert.tensor(getattr(module, name)))
    return layer
