"""Batch normalisation over all replicas: one mean and one variance for the whole batch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product

import torch
from torch import Tensor

from compat import accelerators, cutorch
from compat.checks import listed
from compat.nn.containers.gpu import GPU
from compat.nn.core.module import Module
from compat.nn.core.native import Native
from compat.nn.core.walks import running_statistics
from compat.nn.functional import normalization as f
from compat.nn.layers.normalization import BatchNormalization
from dptable.tensors.streams import HandedOver
from dptable.torch_internals import BatchNorm

FIRST, AVERAGED, SYNCHRONISED = "first", "averaged", "synchronised"
MODES = (FIRST, AVERAGED, SYNCHRONISED)
_PATIENCE = 1800.0  # seconds
# Who goes back on an accelerator and meets others meanwhile.
_turns: dict[torch.device, threading.Lock] = {}


class Meeting:
    """Where the replicas of one pass exchange tensors, each from its own thread.

    Args:
        count: how many replicas take part.
        widen: called with the sum over the replicas, to add that of other processes in place.
        devices: the accelerators on which they do.

    Each replica runs in a ``with`` block of it. One that fails sends everybody home: who waits, or
    comes later, gets BrokenBarrierError. So does who has waited for half an hour.
    """

    def __init__(
        self,
        count: int,
        widen: Callable[[Tensor], None] | None = None,
        devices: Iterable[torch.device] = (),
    ) -> None:
        self._barrier = threading.Barrier(count, timeout=_PATIENCE)
        self._widen = widen
        self._devices = sorted(devices, key=str)
        self._offers = [HandedOver(torch.empty(0))] * count
        self._total = HandedOver(torch.empty(0))

    def total(self, rank: int, offer: Tensor) -> Tensor:
        """The sum of what all replicas offer, on this one's device; in order of their ranks."""
        self._offers[rank] = HandedOver(offer)
        self._barrier.wait()
        if rank == 0:
            total = torch.stack([o.on(offer.device) for o in self._offers]).sum(0)
            if self._widen is not None:
                self._widen(total)
            self._total = HandedOver(total)
        # The next total is computed only after everybody has come back, and so has read this one.
        self._barrier.wait()
        return self._total.on(offer.device)

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """A block in which these replicas go back, and those of no other meeting on their devices.

        PyTorch goes back through all graphs of an accelerator in one thread. Two containers whose
        replicas meet there at once, each on another device first, would wait for each other.
        """
        with ExitStack() as stack:
            for device in self._devices:
                stack.enter_context(_turns.setdefault(device, threading.Lock()))
            yield

    @contextmanager
    def over(self, replicas: Sequence[Module]) -> Iterator[None]:
        """A block in which the batch normalisations of ``replicas`` take their statistics here."""
        layers = [
            (module, rank)
            for rank, replica in enumerate(replicas)
            for module in replica.listModules()
            if isinstance(module, BatchNormalization)
        ]
        for module, rank in layers:
            module.kernels = _Kernels(self, rank)
        try:
            yield
        finally:
            for module, _ in layers:
                vars(module).pop("kernels", None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._barrier.abort()


class _Kernels:
    """Those of batch normalisation in one replica of a pass, with the statistics of all.

    Args:
        meeting: where the replicas meet, forward and backward.
        rank: which of them this is.
    """

    def __init__(self, meeting: Meeting, rank: int) -> None:
        self._meeting, self._rank = meeting, rank

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
        """As ``f.batch_norm``; ``train`` does not count, since it is about this replica alone."""
        axes = [d for d in range(input.dim()) if d != 1]
        shape = [1, -1, *[1] * (input.dim() - 2)]
        count = input.numel() / input.size(1)
        local = torch.cat([input.sum(axes), input.new_tensor([count, input.size(0)])])
        sums = self._meeting.total(self._rank, local)
        *_, total, rows = sums.tolist()
        if rows == 1:
            # As Torch7 does with a batch of one row.
            return f.batch_norm(
                input, weight, bias, running_mean, running_var, False, momentum, eps
            )
        mean = sums[:-2] / total
        deviations = input - mean.view(shape)
        squares = self._meeting.total(self._rank, deviations.square().sum(axes))
        running_mean.lerp_(mean, momentum)
        running_var.lerp_(squares / max(total - 1, 1), momentum)
        inverse = (squares / total + eps).rsqrt()
        output = deviations.mul_(inverse.view(shape))
        if weight is not None:
            output.mul_(weight.view(shape))
        return output if bias is None else output.add_(bias.view(shape)), mean, inverse

    def batch_norm_backward(
        self,
        gradOutput: Tensor,
        input: Tensor,
        weight: Tensor | None,
        running_mean: Tensor,
        running_var: Tensor,
        save_mean: Tensor,
        save_std: Tensor,
        train: bool,
        eps: float,
        wanted: Sequence[bool],
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """As ``f.batch_norm_backward``; the gradients of weight and bias are this replica's."""
        if not save_mean.numel():  # of a batch of one row
            return f.batch_norm_backward(
                *(gradOutput, input, weight, running_mean, running_var),
                *(None, None, False, eps, wanted),
            )
        axes = [d for d in range(input.dim()) if d != 1]
        shape = [1, -1, *[1] * (input.dim() - 2)]
        inverse = save_std.view(shape)
        normal = (input - save_mean.view(shape)).mul_(inverse)
        ofBias, ofWeight = gradOutput.sum(axes), (gradOutput * normal).sum(axes)
        gradInput = None
        if wanted[0]:
            count = ofBias.new_full((1,), input.numel() / input.size(1))
            sums = self._meeting.total(self._rank, torch.cat([ofBias, ofWeight, count]))
            plain, product = (sums[:-1] / sums[-1]).view(2, *shape[1:]).unsqueeze(1)
            gradInput = (gradOutput - plain).sub_(normal.mul_(product)).mul_(inverse)
            if weight is not None:
                gradInput.mul_(weight.view(shape))
        return gradInput, ofWeight if wanted[1] else None, ofBias if wanted[2] else None


@contextmanager
def together(
    replicas: Sequence[Module],
    devices: Sequence[torch.device],
    parallel: bool,
    widen: Callable[[Tensor], None] | None = None,
) -> Iterator[Meeting]:
    """A block in which the batch normalisations of ``replicas`` take their statistics together.

    Args:
        replicas: those of one pass, which goes forward inside; backward, later on, meets in a block
            of ``Meeting.over``.
        devices: theirs.
        parallel: whether they run at once.
        widen: as for ``Meeting``.

    Raises RuntimeError where they cannot.
    """
    if not parallel and len(replicas) > 1:
        raise RuntimeError(
            "statistics is 'synchronised' and the replicas run one after the other; replicas that "
            "run at once are accepted: call threads()"
        )
    used = _checked_places(replicas, devices)
    for replica in replicas:
        for module in replica.listModules():
            if isinstance(module, Native) and any(
                isinstance(inner, BatchNorm) for inner in module.module.modules()
            ):
                raise RuntimeError(
                    "statistics is 'synchronised' and the net has batch normalisation of torch.nn; "
                    "with it, that of compat.nn is accepted"
                )
    meeting = Meeting(len(replicas), widen, used)
    with meeting.over(replicas):
        yield meeting


def _checked_places(
    replicas: Sequence[Module], devices: Sequence[torch.device]
) -> set[torch.device]:
    """The accelerators on which replicas go back and wait for each other.

    Backward of one accelerator runs in one thread. Where a replica waits for the others in it, none
    of these may need it.
    """
    waiting = [{s.device for s in running_statistics(replica)} for replica in replicas]
    if len(replicas) == 1 or not any(waiting):
        return set()
    used = [_accelerators(*each) for each in zip(replicas, devices, strict=True)]
    for (i, held), (j, needed) in product(enumerate(waiting, 1), enumerate(used, 1)):
        if i != j and (shared := held & needed):
            raise RuntimeError(
                f"statistics is 'synchronised' and replica {i} has batch normalisation on "
                f"{listed(sorted(shared, key=str), 'and')}, where replica {j} computes too; with "
                "it, each GPU is accepted in one replica"
            )
    return set().union(*used)


def _accelerators(replica: Module, device: torch.device) -> set[torch.device]:
    """Where a replica goes back: on its own device, and where modules and containers in it are."""
    held = {device, *(tensor.device for tensor in replica.parameters()[0])}
    for module in replica.listModules():
        if isinstance(module, GPU):
            held.update(map(cutorch.device, (module.device, module.outdevice)))
        held.update(map(cutorch.device, getattr(module, "gpuAssignments", ())))
    return {place for place in held if accelerators.is_accelerator(place)}


def average(replicas: Sequence[Module]) -> None:
    """Set the running statistics of all replicas to their mean."""
    columns = zip(*(list(running_statistics(replica)) for replica in replicas), strict=True)
    with torch.no_grad():
        for copies in columns:
            first = copies[0]
            mean = torch.stack([copy.to(first.device) for copy in copies]).mean(0)
            for copy in copies:
                copy.copy_(mean)
