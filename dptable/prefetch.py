"""The next batches travel to the device while this one computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

import torch
from torch import Tensor

from compat import accelerators, cutorch
from compat.checks import whole
from compat.cutorch import DeviceLike
from dptable.scatter_gather import copy_stream, map_tensors

__all__ = [
    "Prefetcher",
]

Batch = TypeVar("Batch")


class Prefetcher(Generic[Batch]):
    """Iterate over batches while the next ones are being copied to a GPU.

    Dense tensors are pinned and copied on a background stream; the current stream waits for a batch
    when it is handed out. Each ``iter()`` is a new pass over ``batches``. They are drawn in the
    caller's thread, at most ``ahead`` early, so that random numbers keep a fixed order. For a CPU
    device nothing has to travel and nothing is drawn early.

    Args:
        batches: structures of tensors as ``dptable.scatter_gather`` knows them.
        device: where they go; default: the current device.
        ahead: how many batches are under way besides the one in use, at least 1.

    An error of ``batches`` surfaces after the batches that came before it.

    Example:
        >>> import torch
        >>> [batch.sum().item() for batch in Prefetcher([torch.ones(2), torch.ones(3)], "cpu")]
        [2.0, 3.0]
    """

    def __init__(
        self, batches: Iterable[Batch], device: DeviceLike | None = None, ahead: int = 1
    ) -> None:
        whole(ahead, "ahead", 1)
        self.batches = batches
        self.device = cutorch.device(cutorch.getDevice() if device is None else device)
        self.ahead = ahead

    def __len__(self) -> int:
        return len(self.batches)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Batch]:
        stream = copy_stream(self.device)
        if stream is None:
            for batch in self.batches:
                yield map_tensors(lambda tensor: tensor.to(self.device), batch)
            return
        flying: deque[_Flight[Batch]] = deque()
        failure = None
        try:
            for batch in self.batches:
                flying.append(_Flight(batch, self.device, stream))
                if len(flying) > self.ahead:
                    yield flying.popleft().land()
        except Exception as error:
            failure = error
        while flying:
            yield flying.popleft().land()
        if failure is not None:
            raise failure


class _Flight(Generic[Batch]):
    """A batch on its way to a GPU."""

    def __init__(self, batch: Batch, device: torch.device, stream: torch.Stream) -> None:
        self.device = device
        self.arrived = accelerators.event(device)
        with accelerators.on_stream(stream):
            self.batch: Batch = map_tensors(self._start, batch)
            self.arrived.record(stream)

    def _start(self, tensor: Tensor) -> Tensor:
        if tensor.layout != torch.strided:
            return tensor
        if tensor.is_cpu and accelerators.pins():
            tensor = tensor.pin_memory()
        return tensor.to(self.device, non_blocking=True)

    def land(self) -> Batch:
        """Return the batch, safe to use on the current stream."""
        current = accelerators.current_stream(self.device)
        current.wait_event(self.arrived)

        def keep(tensor: Tensor) -> Tensor:
            if tensor.layout != torch.strided:
                return tensor.to(self.device)
            # Its memory belongs to the copying stream and must outlive its use on this one.
            tensor.record_stream(current)
            return tensor

        return map_tensors(keep, self.batch)
