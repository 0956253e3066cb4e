"""``LookupTable``."""

from __future__ import annotations

from typing import Any, TypeVar

from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, blank, converts_from, set_type
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers import lookup as torch7
from compat.nn.layers.pointwise import AddConstant

E = TypeVar("E", bound=nn.Embedding)


class LookupTable(nn.Embedding):
    """``torch.nn.Embedding`` whose indices count from 1.

    PyTorch: ``torch.nn.Embedding``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input.long() - 1,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
        )


def embedding(cls: type[E], module: Any, padding: int | None, convert: ToTorch) -> E:
    """Return a subclass of ``torch.nn.Embedding`` with the weight and the settings of
    ``module``.
    """
    rows, size = module.weight.shape
    layer = cls(
        rows,
        size,
        padding_idx=padding,
        max_norm=module.maxNorm,
        norm_type=module.normType or 2.0,
        scale_grad_by_freq=module.shouldScaleGradByFreq,
        device="meta",
    )
    layer.weight = convert.parameter(module.weight)
    return layer


@converts(torch7.LookupTable)
def _lookup_table(module: Any, convert: ToTorch) -> nn.Module:
    padding = module.paddingValue - 1 if module.paddingValue else None
    return embedding(LookupTable, module, padding, convert)


@converts_from(LookupTable)
def _from_lookup_table(module: Any, convert: FromTorch) -> Module:
    target = blank(
        torch7.LookupTable,
        module.num_embeddings,
        module.embedding_dim,
        0 if module.padding_idx is None else module.padding_idx + 1,
        module.max_norm,
        None if module.max_norm is None else module.norm_type,
    )
    target.shouldScaleGradByFreq = module.scale_grad_by_freq
    target.weight = convert.tensor(module.weight)
    set_type(target, target.weight)
    return target


@converts_from(nn.Embedding)
def _from_embedding(module: Any, convert: FromTorch) -> Module:
    # Torch7's indices count from 1.
    return Sequential(AddConstant(1), _from_lookup_table(module, convert))
