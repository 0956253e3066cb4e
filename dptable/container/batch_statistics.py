"""Synchronised batch normalisation: one mean and one variance over all replicas."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from compat import accelerators
from compat.nn.core.module import Module
from compat.nn.core.native import Native
from compat.nn.core.net_tensors import running_statistics
from compat.nn.functional import normalization as f
from compat.nn.layers.normalization import BatchNormalization
from dptable.tensors.streams import HandedOver
from dptable.torch_internals import BatchNorm

FIRST, AVERAGED, SYNCHRONISED = "first", "averaged", "synchronised"
MODES = (FIRST, AVERAGED, SYNCHRONISED)
_PATIENCE = 1800.0  # seconds


class StatisticsExchange:
    """Exchange tensors between the replicas of one pass, each in its own thread.

    Each replica runs in a ``with`` block of this object. If one fails, the replicas that wait, or
    come later, get BrokenBarrierError, so nothing hangs. The same happens after half an hour of
    waiting.

    Args:
        replicas: the replicas that take part.
        widen: called with the sum over the replicas, to add the sums of other processes in place.
    """

    def __init__(
        self, replicas: Sequence[Module], widen: Callable[[Tensor], None] | None = None
    ) -> None:
        count = len(replicas)
        # Two meetings for each total: all have offered, all have read. A replica that fails aborts
        # the barrier, which wakes the others.
        self._barrier = threading.Barrier(count, timeout=_PATIENCE)
        self._widen = widen
        self._offers = [HandedOver(torch.empty(0))] * count
        self._total = HandedOver(torch.empty(0))
        self._kernels = [
            (module, Kernels(self, rank))
            for rank, replica in enumerate(replicas)
            for module in replica.listModules()
            if isinstance(module, BatchNormalization)
        ]

    def total(self, rank: int, offer: Tensor) -> Tensor:
        """Return the sum of all replicas' ``offer``, on this replica's device.

        The sum is taken in the order of the ranks, so that it does not depend on the threads'
        timing.
        """
        self._offers[rank] = HandedOver(offer)
        self._barrier.wait()
        # One thread sums, in the order of the ranks: floating-point sums depend on the order.
        if rank == 0:
            total = torch.stack([o.on(offer.device) for o in self._offers]).sum(0)
            if self._widen is not None:
                self._widen(total)
            self._total = HandedOver(total)
        # The next total is computed only after everybody has come back, and so has read this one.
        self._barrier.wait()
        return self._total.on(offer.device)

    @contextmanager
    def installed(self) -> Iterator[StatisticsExchange]:
        """Make the batch normalisations of the replicas use this exchange in the block."""
        for module, kernels in self._kernels:
            module.kernels = kernels
        try:
            yield self
        finally:
            for module, _ in self._kernels:
                vars(module).pop("kernels", None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._barrier.abort()


class Kernels:
    """Batch normalisation with the statistics of all replicas, forward and backward.

    Takes the place of ``compat.nn.functional.normalization`` in a module.

    Args:
        exchange: sums numbers over the replicas.
        rank: the number of the replica that has the module.
    """

    def __init__(self, exchange: StatisticsExchange, rank: int) -> None:
        self._exchange = exchange
        self._rank = rank
        # How many numbers of each feature the latest batch had, or 0 if it was a single row.
        self._count = 0.0

    def batch_norm(
        self,
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor,
        running_var: Tensor,
        train: bool,
        momentum: float,
        eps: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the namesake in ``normalization``, with the statistics of all replicas' rows."""
        axes, shape = _layout(input)
        count = input.numel() / input.size(1)
        local = torch.cat([input.sum(axes), input.new_tensor([count, input.size(0)])])
        sums = self._exchange.total(self._rank, local)
        *_, total, rows = sums.tolist()
        self._count = total if rows != 1 else 0
        if rows == 1:  # as Torch7 does with a batch of one row
            return f.batch_norm(
                input, weight, bias, running_mean, running_var, False, momentum, eps
            )
        mean = sums[:-2] / total
        squares = self._exchange.total(self._rank, (input - mean.view(shape)).square().sum(axes))
        running_mean.lerp_(mean, momentum)
        running_var.lerp_(squares / max(total - 1, 1), momentum)
        inverse = (squares / total + eps).rsqrt()
        output = (input - mean.view(shape)) * inverse.view(shape)
        if weight is not None:
            output *= weight.view(shape)
        if bias is not None:
            output += bias.view(shape)
        return output, mean, inverse

    def batch_norm_backward(
        self,
        gradOutput: Tensor,
        input: Tensor,
        weight: Tensor | None,
        running_mean: Tensor,
        running_var: Tensor,
        save_mean: Tensor | None,
        save_std: Tensor | None,
        train: bool,
        eps: float,
        wanted: Sequence[bool],
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Compute the gradients of the namesake in ``normalization``."""
        if not self._count:
            statistics = running_mean, running_var, None, None, False, eps
            return f.batch_norm_backward(gradOutput, input, weight, *statistics, wanted)
        assert save_mean is not None and save_std is not None
        axes, shape = _layout(input)
        gradOutput = gradOutput.to(input.dtype)
        inverse = save_std.view(shape)
        normal = (input - save_mean.view(shape)) * inverse
        ofBias, ofWeight = gradOutput.sum(axes), (gradOutput * normal).sum(axes)
        gradInput = None
        if wanted[0]:
            sums = self._exchange.total(self._rank, torch.stack([ofBias, ofWeight])) / self._count
            plain, product = sums.view(2, *shape)
            factor = inverse if weight is None else inverse * weight.view(shape)
            gradInput = factor * (gradOutput - plain - normal * product)
        return gradInput, ofWeight, ofBias


def _layout(input: Tensor) -> tuple[list[int], list[int]]:
    """Return the dimensions that are summed, and a shape that broadcasts one number per feature."""
    return [d for d in range(input.dim()) if d != 1], [1, -1, *[1] * (input.dim() - 2)]


def statistics_exchange(
    replicas: Sequence[Module],
    devices: Sequence[torch.device],
    parallel: bool,
    widen: Callable[[Tensor], None] | None = None,
) -> StatisticsExchange:
    """Make the exchange for the batch normalisations of ``replicas``.

    Args:
        replicas: the replicas of one pass.
        devices: their devices.
        parallel: whether they run at the same time.
        widen: as for ``StatisticsExchange``.

    Raises:
        RuntimeError: the replicas cannot wait for each other, or a net cannot be synchronised.
    """
    if not parallel and len(replicas) > 1:
        raise RuntimeError(
            "statistics is 'synchronised' and the replicas run one after the other; replicas that "
            "run at once are accepted: call threads()"
        )
    for replica, device in zip(replicas, devices, strict=False):
        for module in replica.listModules():
            _check(module, len(replicas) > 1 and accelerators.is_accelerator(device))
    return StatisticsExchange(replicas, widen)


def _check(module: Module, is_one_of_several: bool) -> None:
    """Raise RuntimeError for a batch normalisation that cannot be synchronised."""
    if isinstance(module, Native) and any(
        isinstance(inner, BatchNorm) for inner in module.module.modules()
    ):
        raise RuntimeError(
            "statistics is 'synchronised' and the net has batch normalisation of torch.nn; with "
            "it, that of compat.nn is accepted"
        )
    # PyTorch goes back through all graphs of an accelerator in one thread.
    if (
        is_one_of_several
        and type(module).compute is not Module.compute
        and any(isinstance(inner, BatchNormalization) for inner in module.listModules())
    ):
        raise RuntimeError(
            f"statistics is 'synchronised' and {module.typename} has batch normalisation within a "
            "PyTorch graph; with it, on accelerators, modules with Torch7's methods are accepted"
        )


def average(replicas: Sequence[Module]) -> None:
    """Set the running statistics of all replicas to their mean."""
    columns = zip(*(list(running_statistics(replica)) for replica in replicas), strict=True)
    with torch.no_grad():
        for copies in columns:
            first = copies[0]
            mean = torch.stack([copy.to(first.device) for copy in copies]).mean(0)
            for copy in copies:
                copy.copy_(mean)
