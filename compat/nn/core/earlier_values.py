"""The values that parameters had, for results that are read after an update."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from compat.nn.core.flat_storage import side_by_side

_copies: WeakValueDictionary[Any, Tensor] = WeakValueDictionary()


class EarlierValues:
    """What some parameters hold now.

    Nets that share memory, such as the steps of an unrolled one, share the copy.
    """

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        self._parameters = list(parameters)
        flat = side_by_side(self._parameters) if self._parameters else None
        # Side by side they are copied at once, and taken apart when somebody asks.
        self._flat = None if flat is None else _copied(flat)
        self._values = {} if flat is not None else {p: _copied(p) for p in self._parameters}

    def __getitem__(self, parameter: Tensor) -> Tensor:
        if self._flat is not None and not self._values:
            pieces = self._flat.split([p.numel() for p in self._parameters])
            for p, piece in zip(self._parameters, pieces, strict=True):
                self._values[p] = piece.view(p.shape)
        return self._values[parameter]

    def hold(self) -> bool:
        """Whether the parameters have these values still."""
        if self._flat is not None:
            now = side_by_side(self._parameters)
            if now is not None and torch.equal(now, self._flat):
                return True
        return all(torch.equal(parameter, self[parameter]) for parameter in self._parameters)

    @contextmanager
    def put_into(self, stand_ins: dict[Tensor, Tensor]) -> Iterator[None]:
        """Let what stands for each parameter have its value for a while.

        Autograd does not notice.
        """
        now = [(tensor, tensor.detach().clone()) for tensor in stand_ins.values()]
        try:
            for parameter, tensor in stand_ins.items():
                tensor.data.copy_(self[parameter])
            yield
        finally:
            for tensor, value in now:
                tensor.data.copy_(value)


def _copied(parameter: Tensor) -> Tensor:
    if parameter.device.type != "cpu":
        return parameter.detach().clone()  # to compare there would wait for the device
    key = (parameter.data_ptr(), parameter.shape, parameter.stride(), parameter.dtype)
    copy = _copies.get(key)
    if copy is None or not torch.equal(copy, parameter.detach()):
        copy = _copies[key] = parameter.detach().clone()
    return copy
