"""Optimizers whose state is spread over the processes.

After S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models"
(2020), stages 1 and 2 in spirit: gradients are summed only where they are used, in the process
that owns that slice of the flat parameters, which alone keeps the optimizer's vectors for it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.overrides import TorchFunctionMode

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
from dptable.reduce_scatter import on_nccl, reduce_to
from dptable.torch_internals import all_gather_single

__all__ = [
    "ShardedParameters",
    "load_distributed",
    "slice_bounds",
]

Optimizer = Callable[..., Any]
OpFunc = Callable[[Tensor], tuple[Any, Any]]


def _numbers(state: dict[str, Any] | None) -> set[int]:
    """Return the ids of the tensors of a state that are never slices, whatever their sizes."""
    return {id(tensor) for value in unsliced_values(state or {}) for tensor in tensors(value)}


def slice_bounds(count: int, size: int) -> list[int]:
    """Return where slices of ``count`` elements begin and end. The last one takes the rest.

    Example:
        >>> slice_bounds(10, 3)
        [0, 3, 6, 10]
    """
    return [*(rank * (count // size) for rank in range(size)), count]


class ShardedParameters:
    """One process's slice of the parameters and gradients of a container in a group.

    Each pass sums the gradients as after ``distribute()``, except that this process gets its slice
    only; elsewhere in the flat gradients its own part is left.

        sharded = ShardedParameters(dpt)
        for ...:
            _, fs = sharded.step(optim.adam, feval, config)

    with the ``feval`` of one process is a training step. What it consists of is here too: an
    optimizer works on ``parameters`` and ``gradients``, then ``gather()`` makes the flat parameters
    whole again.

    Args:
        dpt: the container. Its parameters become flat, and it a member of the group.
        group: a process group; default: that of all processes.
        average: as for ``DataParallelTable.distribute``.
    """

    def __init__(
        self,
        dpt: DataParallelTable,
        group: dist.ProcessGroup | None = None,
        average: bool = True,
    ) -> None:
        parameters, _ = dpt.getParameters()
        dpt.distribute(group, average, exchange=partial(_ToOwners, dpt, parameters.numel()))
        assert isinstance(dpt.group, Member)
        self.dpt = dpt
        self._member = dpt.group
        self.group = self._member.group
        self.rank, self.size = self._member.rank, self._member.size
        self.bounds = slice_bounds(parameters.numel(), self.size)

    def _flat(self, what: int) -> Tensor:
        """Return the whole flat parameters (0) or gradients (1), wherever they lie now."""
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
        """Return this process's slice of a vector with one element for each parameter."""
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
            optimizer: one of ``compat.optim``, or any function called like them that works on each
                parameter alone, or combines them by ``sum`` and ``dot``, which then count all
                slices.
            opfunc: ``opfunc(x)`` with the whole flat parameters gives this process's loss and the
                flat gradients, as for training in one process.
            config: the optimizer's table.
            state: that for its state, of which each vector is a slice; default: ``config``.

        Returns:
            What the optimizer does, with the whole parameters. The loss is that of all processes: a
            mean by their rows, or with ``average=False`` the sum.

        Raises:
            ValueError: when an optimizer does what slices cannot do alike: draws at random, or
                combines parameters in another way.
        """
        config = {} if config is None else config
        state = config if state is None else state
        x = self.parameters
        name = getattr(optimizer, "__name__", type(optimizer).__name__)
        totals = _Totals(self._member, x.numel(), name)
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
        """Bring the slices of all processes together, so that every one has all parameters."""
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
        of them see, has its name once everything is in it. ``load_distributed`` reads it in any
        number of processes; so does ``torch.distributed.checkpoint.load``, where the vectors are
        called ``parameters`` and ``state.NAME`` for each in the state.

        Raises:
            FileExistsError: if there is such a folder.
            OSError: naming a rank that cannot write.
        """
        from dptable.processes import (
            sliced_files,  # only here: PyTorch's part for it takes half a second
        )

        member, state = self._member, {} if state is None else state
        # Some of the state's vectors are formulas; these are their values.
        held: dict[str, Tensor] = {}
        told = sliced_files.take_out(state, "state", held)
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
        """Read parameters and running statistics; returns this process's part of the state.

        Every process calls this, and reads its slices only.

        Raises:
            FileNotFoundError: if there is no such folder.
            ValueError: if it is that of a net with other parameters.
        """
        from dptable.processes import sliced_files

        member, (start, stop) = self._member, self.bounds[self.rank : self.rank + 2]
        with member.reporting():
            values, told = sliced_files.read(
                folder, self.bounds[-1], start, stop, member.control, member.checked
            )
        state = _loaded(self.dpt, self.parameters, values, told)
        self.gather()
        return state

    # The optimizer's state as a whole, for files.

    def gather_state(self, state: dict[str, Any]) -> dict[str, Any] | None:
        """Return the state as one process would have it, on rank 0's CPU; None on the others.

        Every process calls this with its own. Vectors, and the rows of matrices, that have as many
        elements as the process's slice, on every process, are taken for slices, unless their
        optimizer says otherwise (``compat.optim.support.unsliced_fields``).
        """
        sliced = iter(self._sliced(state))
        whole = map_tensors(lambda t: self._collected(t) if next(sliced) else t, state)
        return whole if self.rank == 0 else None

    def _sliced(self, state: dict[str, Any]) -> list[bool]:
        """Return which of the tensors in a state are slices; the same in all processes."""
        mine = self._width(self.rank)
        everybody: list[Any] = [None] * self.size
        numbers = _numbers(state)
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
        """This process's part of a state as one process has it: the reverse of ``gather_state``.

        Args:
            state: on rank 0 the whole state, of any number of processes; ignored on the others.
        """
        wholes: list[Tensor] = []
        numbers = _numbers(state)

        def marked(tensor: Tensor) -> Any:
            if tensor.dim() == 0 or tensor.size(-1) != self.bounds[-1] or id(tensor) in numbers:
                return tensor
            wholes.append(tensor.detach())
            return _Mark(tensor.dtype, tuple(tensor.shape[:-1]))

        skeleton = self.agreed(map_tensors(marked, state) if self.rank == 0 else None)
        remaining = iter(wholes)

        def filled(value: Any) -> Any:
            if isinstance(value, _Mark):
                return self._dealt(next(remaining, None), value)
            if isinstance(value, list):
                return [filled(item) for item in value]
            if isinstance(value, dict):
                return {key: filled(item) for key, item in value.items()}
            return value

        return filled(skeleton)

    def agreed(self, value: Any) -> Any:
        """Return what rank 0 gives as ``value``."""
        return agreed(value, self._member.checked, self._member.control)

    def _width(self, rank: int) -> int:
        return self.bounds[rank + 1] - self.bounds[rank]

    def _collected(self, mine: Tensor) -> Tensor:
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

    def _dealt(self, whole: Tensor | None, mark: _Mark) -> Tensor:
        """This process's slice of what rank 0 has as a whole."""
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
    """Return what ``ShardedParameters.save_distributed`` wrote, read as a whole, for one process.

    Fills the parameters and running statistics and returns the optimizer's state. As one of several
    processes, all of them call this.
    """
    from dptable.processes import sliced_files

    parameters, _ = dpt.getParameters()
    state = _loaded(dpt, parameters, *sliced_files.read(folder, parameters.numel()))
    dpt.needsSync = True
    return state


def _statistics(dpt: DataParallelTable) -> dict[str, Tensor]:
    return {f"running.{i}": tensor for i, tensor in enumerate(running_statistics(dpt.get(1)), 1)}


@torch.no_grad()
def _loaded(
    dpt: DataParallelTable, parameters: Tensor, values: dict[str, Tensor], told: Any
) -> dict[str, Any]:
    """Copy parameters and running statistics to where they belong; the optimizer's state."""
    from dptable.processes.sliced_files import put_back

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
    return put_back(told, here)


@dataclass
class _Mark:
    """Stands for a whole tensor in a table that is sent to the other processes."""

    dtype: torch.dtype
    shape: tuple[int, ...]


class _ToOwners:
    """The exchange of gradients where each process gets the sum of its own slice.

    Args:
        dpt: the container, whose gradients are flat.
        count: how many there are.
        group: the processes.
    """

    def __init__(self, dpt: DataParallelTable, count: int, group: dist.ProcessGroup) -> None:
        # The container has this.
        self._dpt = weakref.proxy(dpt)
        self._group = group
        self._rank = dist.get_rank(group)
        self._bounds = slice_bounds(count, dist.get_world_size(group))

    def _gradients(self) -> Tensor:
        return self._dpt.flattenedParams[0][1]

    def start(self, part: Tensor) -> Finish:
        offset = part.data_ptr() - self._gradients().data_ptr()
        begin = offset // part.element_size()
        flat = part.view(-1)
        finishes = [
            reduce_to(flat[start - begin : end - begin], owner, self._group)
            for owner, start, end in _cut(self._bounds, begin, begin + flat.numel())
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


# What draws from PyTorch's generators, and what makes of a vector another one whose elements depend
# on each other.
_RANDOM = frozenset(
    (
        *("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like"),
        *("normal", "normal_", "bernoulli", "bernoulli_", "multinomial", "poisson", "random_"),
        *("uniform_", "exponential_", "cauchy_", "geometric_", "log_normal_", "dropout"),
    )
)
_MIXING = frozenset(("sort", "argsort", "cumsum", "cumprod", "cummax", "cummin", "flip", "roll"))


class _Totals(TorchFunctionMode):
    """Within it, sums and products over slices are those over the whole vectors.

    What else makes of a slice fewer numbers than it has would be another number in each process,
    and is refused.
    """

    def __init__(self, member: Member, count: int, optimizer: str) -> None:
        super().__init__()
        self._member = member
        self._count = count
        self._optimizer = optimizer

    def refusal(self, deed: str) -> str:
        """Why an optimizer is refused that does this."""
        return (
            f"optimizer is {self._optimizer}, which {deed}; with sharded parameters one that works "
            "on each of them alone, or combines them by sum and dot, is accepted"
        )

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.__name__
        if name in _RANDOM:
            raise ValueError(self.refusal("draws random numbers"))
        slices = [a for a in args if isinstance(a, Tensor) and self._is_slice(a)]
        if slices and name in _MIXING:
            raise ValueError(self.refusal(f"calls {name} of the parameters"))
        result = func(*args, **(kwargs or {}))
        if not slices or not isinstance(result, Tensor) or result.dim():
            return result
        if name in ("dot", "sum"):
            group = self._member.group
            self._member.checked(partial(dist.all_reduce, result, group=group))
        else:
            raise ValueError(self.refusal(f"calls {name} of the parameters"))
        return result

    def _is_slice(self, tensor: Tensor) -> bool:
        return tensor.dim() == 1 and tensor.size(0) == self._count

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Leave the mode for a while."""
        self.__exit__(None, None, None)
        try:
            with random.permitted():
                yield
        finally:
            self.__enter__()


def _cut(bounds: Sequence[int], begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the owners of the elements ``begin`` to ``end``, each with the range that it owns."""
    for owner, (low, high) in enumerate(pairwise(bounds)):
        start, stop = max(begin, low), min(end, high)
        if start < stop:
            yield owner, start, stop
