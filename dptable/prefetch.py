"""Copy the next batches to the device while the current one is computed."""

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
    """Iterate over batches while the next ones are copied to a GPU.

    Dense tensors are pinned and copied on a background stream; the current stream waits for a batch
    when it is handed out. Each ``iter()`` starts anew on ``batches``. The caller's thread draws the
    batches, at most ``ahead`` early, so that random numbers keep a fixed order. For a CPU device
    nothing is copied and nothing is drawn early.

    Args:
        batches: structures of tensors (tuples, lists, dicts), as in ``dptable.scatter_gather``.
        device: the target; default: the current device.
        ahead: how many batches are copied ahead of the one in use, at least 1.

    An error that ``batches`` raises is raised after the batches before it were handed out.

    Examples:
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
    """A batch that is being copied to a GPU."""

    def __init__(self, batch: Batch, device: torch.device, stream: torch.Stream) -> None:
        self.device = device
        self.arrived = accelerators.event(device)
        with accelerators.on_stream(stream):
            self.batch: Batch = map_tensors(self._start, batch)
            self.arrived.record(stream)

    def _start(self, tensor: Tensor) -> Tensor:
        if tensor.layout != torch.strided:
            return tensor
        if tensor.is_cpu and accelerators.pins_memory():
            tensor = tensor.pin_memory()
        return tensor.to(self.device, non_blocking=True)

    def land(self) -> Batch:
        """Return the batch; the current stream waits for its copies."""
        current = accelerators.current_stream(self.device)
        current.wait_event(self.arrived)

        def keep(tensor: Tensor) -> Tensor:
            if tensor.layout != torch.strided:
                return tensor.to(self.device)
            # Its memory belongs to the copying stream and must outlive its use on this one.
            tensor.record_stream(current)
            return tensor

        return map_tensors(keep, self.batch)
