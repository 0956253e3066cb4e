"""The modules of nngraph beside graphs."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.graph.modules import JustElement, JustTable, ModuleFromCriterion
from compat.nn.interchange.containers.branches import ConcatTable
from compat.nn.interchange.criterions.combined import OfPair
from compat.nn.interchange.layers.table_layers import SelectTable
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply

converts_simply(JustElement, lambda m: SelectTable(0))
converts_simply(JustTable, lambda m: ConcatTable([nn.Identity()]))


@converts(ModuleFromCriterion)
def _module_from_criterion(module: Any, convert: ToTorch) -> nn.Module:
    return OfPair(convert(module.criterion), [1])
