"""``OneHot`` of char-rnn."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.functional import slices as f
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import one_hot as torch7
from compat.tensor_types import parse_type


class OneHot(nn.Module):
    """The one-hot vector of each number of the input; numbers count from 1.

    PyTorch: ``torch.nn.functional.one_hot``.
    """

    like: Tensor

    def __init__(self, size: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("like", torch.empty(0, dtype=dtype), persistent=False)

    def forward(self, input: Any) -> Tensor:
        input = torch.as_tensor(input, device=self.like.device)
        return f.one_hot(input, self.size, self.like.dtype)


def one_hot(module: Any) -> OneHot:
    """Return what a layer of that name becomes."""
    return OneHot(module.outputSize, parse_type(module.type())[0])


converts_simply(torch7.OneHot, one_hot)
