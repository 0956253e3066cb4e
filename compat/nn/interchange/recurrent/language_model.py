"""torch-rnn's language model."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import language_model as torch7


class LanguageModel(nn.Module):
    """torch-rnn's language model: scores ``N x T x V`` for numbers ``N x T`` from 1.

    Args:
        net: the layers.
        merging: the places of those that get ``N·T`` rows from then on, where nothing else is done;
        dividing: of those that get ``N x T`` again.
    """

    def __init__(self, net: nn.Sequential, merging: list[int], dividing: list[int]) -> None:
        super().__init__()
        self.net = net
        self.merging = merging
        self.dividing = dividing

    def forward(self, input: Tensor) -> Tensor:
        size = input.shape
        for i, layer in enumerate(self.net):
            if i in self.merging:
                input = input.flatten(0, 1)
            elif i in self.dividing:
                input = input.unflatten(0, size)
            else:
                input = layer(input)
        return input


@converts(torch7.LanguageModel)
def _language_model(module: Any, convert: ToTorch) -> nn.Module:
    merging = {id(view) for view in (module.view1, *module.bn_view_in)}
    dividing = {id(view) for view in (module.view2, *module.bn_view_out)}
    layers = []
    for i, layer in enumerate(module.net.modules):
        idle = id(layer) in merging | dividing
        layers.append(nn.Identity() if idle else convert.child(module.net, i))
    places = [
        [i for i, layer in enumerate(module.net.modules) if id(layer) in kind]
        for kind in (merging, dividing)
    ]
    needed = [
        ends
        for ends in zip(*places, strict=True)
        if not all(isinstance(layer, nn.Linear) for layer in layers[ends[0] + 1 : ends[1]])
    ]
    merging_at, dividing_at = zip(*needed, strict=True) if needed else ((), ())
    return LanguageModel(nn.Sequential(*layers), list(merging_at), list(dividing_at))
