"""Record CUDA graphs as PyTorch's notes on them advise.

The pass is warmed up on a side stream. Forward and backward use one private memory pool. Errors
are confined to the recording thread.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch

from dptable.container.recorders import AcceleratorRecorder
from dptable.torch_internals import end_graph_allocation


class CudaRecorder(AcceleratorRecorder):
    """Records CUDA graphs that share a private memory pool."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._pool = torch.cuda.graph_pool_handle()

    @staticmethod
    def refusal(device: torch.device) -> str | None:
        return None if device.type == "cuda" else f"{device} is not a GPU"

    def record(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        graph = torch.cuda.CUDAGraph()
        try:
            with self._capturing(graph, self._pool):
                result = function()
        except BaseException:
            self._recover()
            raise
        return result, graph.replay

    def _capturing(self, graph: torch.cuda.CUDAGraph, pool: Any = None) -> torch.cuda.graph:
        return torch.cuda.graph(graph, pool, self._stream, capture_error_mode="thread_local")

    def _recover(self) -> None:
        """Tell PyTorch's allocator that a failed recording has ended.

        Before 2.12 PyTorch does not notice: it then neither reuses memory that two streams have
        used nor draws random numbers.
        """
        with suppress(RuntimeError):  # it has noticed
            end_graph_allocation(self._device.index, self._pool)
        with suppress(RuntimeError), self._capturing(torch.cuda.CUDAGraph()):
            torch.zeros(1, device=self._device)


def recorder_of(device: torch.device) -> type[AcceleratorRecorder]:
    """Return the recorder class for a device."""
    return CudaRecorder if device.type == "cuda" else AcceleratorRecorder
