"""Spread an optimizer's state over the processes.

After S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models"
(2020), stages 1 and 2 in spirit. Each process owns a slice of the flat parameters. Only the owner
gets the summed gradients of the slice and keeps the optimizer's vectors for it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from compat import random
from compat.checks import listed
from compat.nn.core.net_tensors import running_statistics
from compat.optim.support.unsliced_fields import unsliced_values
from compat.tensor_tables import map_tensors, tensors
from compat.torch_internals import version
from dptable.container.data_parallel_table import DataParallelTable
from dptable.processes.agreement import agreed
from dptable.processes.exchange import Finish
from dptable.processes.member import Member
from dptable.processes.slice_sums import SliceSums
from dptable.reduce_scatter import on_nccl, reduce_to
from dptable.torch_internals import all_gather_single

__all__ = [
    "ShardedParameters",
    "load_distributed",
    "slice_bounds",
]

Optimizer = Callable[..., Any]
OpFunc = Callable[[Tensor], tuple[Any, Any]]


def _unsliced_ids(state: dict[str, Any] | None) -> set[int]:
    """Return the ids of a state's tensors that are never slices, whatever their sizes."""
    return {id(tensor) for value in unsliced_values(state or {}) for tensor in tensors(value)}


def slice_bounds(count: int, size: int) -> list[int]:
    """Return the bounds of the slices of ``count`` elements. The last slice takes the rest.

    Args:
        count: the number of elements.
        size: the number of slices.

    Examples:
        >>> slice_bounds(10, 3)
        [0, 3, 6, 10]
    """
    return [*(rank * (count // size) for rank in range(size)), count]


class ShardedParameters:
    """One process's slice of the parameters and gradients of a container in a group.

    A training step, with the ``feval`` of one process, is

        sharded = ShardedParameters(dpt)
        for ...:
            _, fs = sharded.step(optim.adam, feval, config)

    ``step`` can also be taken apart: run an optimizer on ``parameters`` and ``gradients``, then
    call ``gather()`` to make the flat parameters whole again.

    Each pass sums the gradients as after ``distribute()``, but this process gets the sum only for
    its slice. Elsewhere the flat gradients hold this process's own part.

    Args:
        dpt: the container. Its parameters become flat, and it becomes a member of the group.
        group: a process group; default: all processes.
        average: as for ``DataParallelTable.distribute``.
    """

    def __init__(
        self,
        dpt: DataParallelTable,
        group: dist.ProcessGroup | None = None,
        average: bool = True,
    ) -> None:
        parameters, _ = dpt.getParameters()
        dpt.distribute(group, average, exchange=partial(_SliceExchange, dpt, parameters.numel()))
        assert isinstance(dpt.group, Member)
        self.dpt = dpt
        self._member = dpt.group
        self.group = self._member.group
        self.rank, self.size = self._member.rank, self._member.size
        self.bounds = slice_bounds(parameters.numel(), self.size)

    def _flat(self, what: int) -> Tensor:
        """Return the whole flat parameters (0) or gradients (1), in their current memory."""
        if self.dpt.group is not self._member:
            raise RuntimeError("the container has left the group of this ShardedParameters")
        self.dpt.moduleParameters()  # moves them together again if they have come apart
        if self.dpt.flattenedParams is None:
            raise RuntimeError(
                "the container's parameters are no longer flat: those of a net around it lie "
                "between them"
            )
        return self.dpt.flattenedParams[0][what]

    def slice(self, whole: Tensor) -> Tensor:
        """Return this process's slice of a vector that has one element for each parameter.

        Args:
            whole: a vector of as many elements as the flat parameters.
        """
        if whole.numel() != self.bounds[-1]:
            raise ValueError(
                f"whole has {whole.numel()} elements; one for each of the {self.bounds[-1]} "
                "parameters is accepted"
            )
        return whole.view(-1)[self.bounds[self.rank] : self.bounds[self.rank + 1]]

    @property
    def parameters(self) -> Tensor:
        """This process's slice of the flat parameters, a view."""
        return self.slice(self._flat(0))

    @property
    def gradients(self) -> Tensor:
        """This process's slice of the flat gradients, summed over all processes, a view."""
        return self.slice(self._flat(1))

    def step(
        self,
        optimizer: Optimizer,
        opfunc: OpFunc,
        config: dict[str, Any] | None = None,
        state: dict[str, Any] | None = None,
    ) -> tuple[Any, ...]:
        """Call ``optimizer`` on this process's slice, and make the flat parameters whole again.

        Args:
            optimizer: one of ``compat.optim``, or any function with their arguments that works on
                each parameter alone, or combines parameters only by ``sum`` and ``dot``. These two
                then count the slices of all processes.
            opfunc: ``opfunc(x)`` gets the whole flat parameters and returns this process's loss and
                the flat gradients, as for training in one process.
            config: the optimizer's table.
            state: the table for the optimizer's state, whose vectors are slices; default:
                ``config``.

        Returns:
            The optimizer's results, with the whole parameters. The loss is that of all processes:
            the mean weighted by their rows, or with ``average=False`` the sum.

        Raises:
            ValueError: the optimizer draws random numbers or combines parameters in another way;
                the slices would come out different from the whole.
        """
        config = {} if config is None else config
        state = config if state is None else state
        x = self.parameters
        name = getattr(optimizer, "__name__", type(optimizer).__name__)
        totals = SliceSums(self._member, x.numel(), name)
        # The version counter of the slice tells whether the optimizer has written parameters: then
        # the other processes need them before the next evaluation (line searches).
        gathered = version(x)

        def evaluate(_: Tensor) -> tuple[float, Tensor]:
            nonlocal gathered
            with totals.suspended():
                if version(x) != gathered:
                    self.gather()
                    gathered = version(x)
                loss, _ = opfunc(self._flat(0))
                return self._member.total(loss), self.gradients

        with totals, random.refused(totals.refusal("draws random numbers")):
            _, *rest = optimizer(evaluate, x, config, state)
        self.gather()
        return self._flat(0), *rest

    @torch.no_grad()
    def gather(self) -> None:
        """Copy the slices of all processes to every process, so that each has all parameters."""
        whole, group = self._flat(0), self.group
        even = whole.numel() - whole.numel() % self.size if on_nccl(whole, group) else 0
        checked = self._member.checked
        if even:
            mine = whole[:even].view(self.size, -1)[self.rank]
            checked(partial(all_gather_single, whole[:even], mine, group=group))
        # The rest: for gloo, which is faster without the copies that it makes to gather, all.
        works = []
        for rank, (start, stop) in enumerate(pairwise(self.bounds)):
            part, source = whole[max(even, start) : stop], dist.get_global_rank(group, rank)
            if part.numel():
                share = partial(dist.broadcast, part, source, group=group, async_op=True)
                works.append(checked(share))
        for work in works:
            checked(work.wait)
        self.dpt.needsSync = True

    # Files to which each process writes its slices.

    def save_distributed(
        self, folder: str | os.PathLike[str], state: dict[str, Any] | None = None
    ) -> None:
        """Write parameters, running statistics and the optimizer's state to a new folder.

        Every process calls this, and writes its slices only. The folder, in a file system that all
        of them see, gets its name once everything is in it. ``load_distributed`` reads it in any
        number of processes. ``torch.distributed.checkpoint.load`` reads it, too; there the vectors
        are called ``parameters`` and, for each vector of the state, ``state.NAME``.

        Args:
            folder: the folder to make.
            state: this process's state of the optimizer.

        Raises:
            FileExistsError: the folder exists.
            OSError: a rank cannot write; the message names it.
        """
        from dptable.processes import (
            sliced_files,  # only here: PyTorch's part for it takes half a second
        )

        member, state = self._member, {} if state is None else state
        # Some of the state's vectors are formulas; these are their values.
        held: dict[str, Tensor] = {}
        told = sliced_files.extract_tensors(state, "state", held)
        flags = dict(zip(held, self._sliced(state), strict=True))
        values = {name: tensor.clone() for name, tensor in held.items()}
        slices = {name: tensor for name, tensor in values.items() if flags[name]}
        wholes = {name: tensor for name, tensor in values.items() if not flags[name]}
        start, stop = self.bounds[self.rank : self.rank + 2]
        with member.reporting():
            sliced_files.write(
                folder,
                {"parameters": self.parameters} | slices,
                _statistics(self.dpt) | wholes,
                told,
                sliced_files.Part(start, stop, self.bounds[-1]),
                member.control,
                member.checked,
            )

    def load_distributed(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        """Read parameters and running statistics; return this process's part of the state.

        Every process calls this, and reads its slices only.

        Args:
            folder: what ``save_distributed`` wrote, of any number of processes.

        Raises:
            FileNotFoundError: there is no such folder.
            ValueError: the folder is that of a net with other parameters.
        """
        from dptable.processes import sliced_files

        member, (start, stop) = self._member, self.bounds[self.rank : self.rank + 2]
        with member.reporting():
            values, told = sliced_files.read(
                folder, self.bounds[-1], start, stop, member.control, member.checked
            )
        state = _restore(self.dpt, self.parameters, values, told)
        self.gather()
        return state

    # The optimizer's state as a whole, for files.

    def gather_state(self, state: dict[str, Any]) -> dict[str, Any] | None:
        """Return the state as one process would have it, on rank 0's CPU; None on other ranks.

        Every process calls this with its own state. A vector, or a matrix whose rows, have as many
        elements as the process's slice, on every process, is taken for a slice. Optimizers can make
        exceptions (``compat.optim.support.unsliced_fields``).

        Args:
            state: this process's part of the optimizer's state.
        """
        sliced = iter(self._sliced(state))
        whole = map_tensors(lambda t: self._gather_tensor(t) if next(sliced) else t, state)
        return whole if self.rank == 0 else None

    def _sliced(self, state: dict[str, Any]) -> list[bool]:
        """Return for each tensor of a state whether it is a slice; the same in all processes."""
        mine = self._width(self.rank)
        everybody: list[Any] = [None] * self.size
        numbers = _unsliced_ids(state)
        flags = [
            tensor.dim() > 0 and tensor.size(-1) == mine and id(tensor) not in numbers
            for tensor in tensors(state)
        ]
        control = self._member.control
        self._member.checked(partial(dist.all_gather_object, everybody, flags, group=control))
        if len({len(flags) for flags in everybody}) > 1:
            counts = listed([len(flags) for flags in everybody], "and")
            raise ValueError(
                f"state has {counts} tensors in ranks 0 to {self.size - 1}; as many in all "
                "processes are accepted"
            )
        return [all(column) for column in zip(*everybody, strict=True)]

    def scatter_state(self, state: dict[str, Any] | None) -> dict[str, Any]:
        """Return this process's part of a whole state: the reverse of ``gather_state``.

        Args:
            state: on rank 0 the whole state, saved by any number of processes; ignored on others.
        """
        wholes: list[Tensor] = []
        numbers = _unsliced_ids(state)

        def marked(tensor: Tensor) -> Any:
            if tensor.dim() == 0 or tensor.size(-1) != self.bounds[-1] or id(tensor) in numbers:
                return tensor
            wholes.append(tensor.detach())
            return _Placeholder(tensor.dtype, tuple(tensor.shape[:-1]))

        skeleton = self.agreed(map_tensors(marked, state) if self.rank == 0 else None)
        remaining = iter(wholes)

        def filled(value: Any) -> Any:
            if isinstance(value, _Placeholder):
                return self._scatter_tensor(next(remaining, None), value)
            if isinstance(value, list):
                return [filled(item) for item in value]
            if isinstance(value, dict):
                return {key: filled(item) for key, item in value.items()}
            return value

        return filled(skeleton)

    def agreed(self, value: Any) -> Any:
        """Return rank 0's ``value`` in all processes.

        Args:
            value: a value that can be pickled; those of other ranks are ignored.
        """
        return agreed(value, self._member.checked, self._member.control)

    def _width(self, rank: int) -> int:
        return self.bounds[rank + 1] - self.bounds[rank]

    def _gather_tensor(self, mine: Tensor) -> Tensor:
        # Some of the state's vectors are formulas; this takes their values.
        held = mine.detach().clone(memory_format=torch.contiguous_format)
        if self.rank:
            self._transfer(dist.send, held, 0)
            return held
        whole = torch.empty(*held.shape[:-1], self.bounds[-1], dtype=held.dtype)
        for rank, (start, end) in enumerate(pairwise(self.bounds)):
            if rank:
                held = held.new_empty(*held.shape[:-1], end - start)
                self._transfer(dist.recv, held, rank)
            whole[..., start:end] = held
        return whole

    def _scatter_tensor(self, whole: Tensor | None, mark: _Placeholder) -> Tensor:
        """Return this process's slice of rank 0's whole tensor."""
        device = self._flat(0).device
        if whole is None:
            mine = torch.empty(*mark.shape, self._width(self.rank), dtype=mark.dtype, device=device)
            self._transfer(dist.recv, mine, 0)
            return mine
        parts = [whole[..., a:b].to(device, copy=True) for a, b in pairwise(self.bounds)]
        for rank, part in enumerate(parts[1:], 1):
            self._transfer(dist.send, part.contiguous(), rank)
        return parts[0].contiguous()

    def _transfer(self, verb: Callable[..., Any], tensor: Tensor, rank: int) -> None:
        """Send a tensor to another rank of the group, or receive it from there."""
        if tensor.numel():
            peer = dist.get_global_rank(self.group, rank)
            self._member.checked(partial(verb, tensor, peer, group=self.group))


def load_distributed(folder: str | os.PathLike[str], dpt: DataParallelTable) -> dict[str, Any]:
    """Load what ``ShardedParameters.save_distributed`` wrote, as a whole.

    This fills the parameters and running statistics of ``dpt``. In a job of several processes, all
    of them call this.

    Args:
        folder: what ``save_distributed`` wrote, of any number of processes.
        dpt: the container, whose parameters and running statistics are overwritten.

    Returns:
        The optimizer's state.
    """
    from dptable.processes import sliced_files

    parameters, _ = dpt.getParameters()
    state = _restore(dpt, parameters, *sliced_files.read(folder, parameters.numel()))
    dpt.needsSync = True
    return state


def _statistics(dpt: DataParallelTable) -> dict[str, Tensor]:
    return {f"running.{i}": tensor for i, tensor in enumerate(running_statistics(dpt.get(1)), 1)}


@torch.no_grad()
def _restore(
    dpt: DataParallelTable, parameters: Tensor, values: dict[str, Tensor], told: Any
) -> dict[str, Any]:
    """Copy parameters and running statistics to their places; return the optimizer's state."""
    from dptable.processes.sliced_files import insert_tensors

    for name, tensor in _statistics(dpt).items():
        if name not in values or values[name].shape != tensor.shape:
            raise ValueError(
                "the folder has the running statistics of another net; those of this one are "
                "accepted"
            )
    parameters.copy_(values["parameters"])
    for replica in dpt.impl.setup():
        for i, tensor in enumerate(running_statistics(replica), 1):
            tensor.copy_(values[f"running.{i}"])
    here = {name: value.to(parameters.device) for name, value in values.items()}
    return insert_tensors(told, here)


@dataclass
class _Placeholder:
    """Stands for a whole tensor in a table that is sent to the other processes."""

    dtype: torch.dtype
    shape: tuple[int, ...]


class _SliceExchange:
    """Exchange gradients so that each process gets the sum of its own slice.

    Args:
        dpt: the container, whose gradients are flat.
        count: the number of gradients.
        group: the processes.
    """

    def __init__(self, dpt: DataParallelTable, count: int, group: dist.ProcessGroup) -> None:
        # Weak: the container owns this object, through its group.
        self._dpt = weakref.proxy(dpt)
        self._group = group
        self._rank = dist.get_rank(group)
        self._bounds = slice_bounds(count, dist.get_world_size(group))

    def _gradients(self) -> Tensor:
        return self._dpt.flattenedParams[0][1]

    def start(self, part: Tensor) -> Finish:
        # The reducer gives views into the flat gradients; their place tells whose slices they are.
        offset = part.data_ptr() - self._gradients().data_ptr()
        begin = offset // part.element_size()
        flat = part.view(-1)
        finishes = [
            reduce_to(flat[start - begin : end - begin], owner, self._group)
            for owner, start, end in _owned_ranges(self._bounds, begin, begin + flat.numel())
        ]

        def finish() -> None:
            for one in finishes:
                one()

        return finish

    def take_apart(self, gradients: list[Tensor]) -> None:
        # The sum of a slice is where it counts once; the rest has been given away.
        whole, bounds, rank = self._gradients(), self._bounds, self._rank
        whole[: bounds[rank]].zero_()
        whole[bounds[rank + 1] :].zero_()


def _owned_ranges(bounds: Sequence[int], begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield each owner of elements from ``begin`` to ``end``, with the range that it owns."""
    for owner, (low, high) in enumerate(pairwise(bounds)):
        start, stop = max(begin, low), min(end, high)
        if start < stop:
            yield owner, start, stop
