"""``MapTable``."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.containers import map_table as torch7
from compat.nn.core.module import Module
from compat.nn.interchange.containers.branches import ParallelTable
from compat.nn.interchange.from_torch import FromTorch, converts_from
from compat.nn.interchange.to_torch import ToTorch, converts


class MapTable(nn.Module):
    """One module for every entry of the input."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, input: list[Tensor]) -> list[Tensor]:
        return [self.module(entry) for entry in input]


@converts(torch7.MapTable)
def _map_table(module: Any, convert: ToTorch) -> nn.Module:
    if not module.shared:
        if len(module.modules) < 2:
            raise ValueError(
                "shared is False, and torch.nn has no modules that come with the entries; "
                "resize(n) makes n of them"
            )
        return ParallelTable(convert.children(module))
    return MapTable(convert.child(module, 0))


@converts_from(MapTable)
def _from_map_table(module: Any, convert: FromTorch) -> Module:
    return torch7.MapTable(convert(module.module, "module"))
