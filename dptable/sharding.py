"""Optimizers whose state is spread over the processes.

After S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models"
(2020), stages 1 and 2 in spirit: gradients are summed only where they are used, in the process
that owns that slice of the flat parameters, which alone keeps the optimizer's vectors for it.
"""

from __future__ import annotations

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

from compat import optim
from compat.nn.nested import map_tensors, tensors
from dptable.data_parallel_table import DataParallelTable
from dptable.distributed import Finish, Member
from dptable.reduce_scatter import all_gather_single, reduce_to

Optimizer = Callable[..., Any]
OpFunc = Callable[[Tensor], tuple[Any, Any]]


def slice_bounds(count: int, size: int) -> list[int]:
    """Where the slices of ``count`` elements begin and end: equal ones, the last with the rest."""
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
        average: as for `DataParallelTable.distribute`.
    """

    def __init__(
        self,
        dpt: DataParallelTable,
        group: dist.ProcessGroup | None = None,
        average: bool = True,
    ) -> None:
        parameters, _ = dpt.getParameters()
        dpt.distribute(group, average)
        assert dpt._member is not None
        self.dpt = dpt
        self._member = dpt._member
        self.group = self._member.group
        self.rank, self.size = self._member.rank, self._member.size
        self.bounds = slice_bounds(parameters.numel(), self.size)
        self._member.exchange = _ToOwners(self)

    def _flat(self, what: int) -> Tensor:
        """The whole flat parameters (0) or gradients (1), wherever they lie now."""
        if self.dpt._member is not self._member:
            raise RuntimeError("the container has left the group of this ShardedParameters")
        self.dpt._refresh()
        if self.dpt.flattenedParams is None:
            raise RuntimeError(
                "the container's parameters are no longer flat: those of a net around it lie "
                "between them"
            )
        return self.dpt.flattenedParams[0][what]

    def slice(self, whole: Tensor) -> Tensor:
        """This process's slice of a vector with one element for each parameter."""
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
        """One call of ``optimizer`` on this process's slice, after which all parameters are whole.

        Args:
            optimizer: one of `compat.optim`, or any function called like them whose numbers come
                from vectors by ``sum`` and ``dot`` only; these then count all slices.
            opfunc: ``opfunc(x)`` with the whole flat parameters gives this process's loss and the
                flat gradients, as for training in one process.
            config: the optimizer's table.
            state: that for its state, of which each vector is a slice; default: ``config``.

        Returns what the optimizer does, with the whole parameters. The loss is that of all
        processes: a mean by their rows, or with ``average=False`` the sum.

        Raises ValueError for optimizers that draw at random, which slices cannot do alike.
        """
        if optimizer in (optim.cmaes, optim.de):
            raise ValueError(
                f"optimizer is {optimizer.__name__}, which draws parameters at random; one that "
                "follows the gradient is accepted"
            )
        config = {} if config is None else config
        state = config if state is None else state
        x = self.parameters
        totals = _Totals(self._member, x.numel())
        whole = x._version

        def evaluate(_: Tensor) -> tuple[float, Tensor]:
            nonlocal whole
            with totals.suspended():
                if x._version != whole:
                    self.gather()
                    whole = x._version
                loss, _ = opfunc(self._flat(0))
                return self._member.total(loss), self.gradients

        with totals:
            _, *rest = optimizer(evaluate, x, config, state)
        self.gather()
        return self._flat(0), *rest

    @torch.no_grad()
    def gather(self) -> None:
        """Bring the slices of all processes together, so that every one has all parameters."""
        whole = self._flat(0)
        even = whole.numel() - whole.numel() % self.size
        checked, group = self._member.checked, self.group
        if even:
            mine = whole[:even].view(self.size, -1)[self.rank]
            checked(partial(all_gather_single, whole[:even], mine, group=group))
        if even < whole.numel():
            last = dist.get_global_rank(group, self.size - 1)
            checked(partial(dist.broadcast, whole[even:], last, group=group))
        self.dpt.needsSync = True

    # The optimizer's state as a whole, for files.

    def gather_state(self, state: dict[str, Any]) -> dict[str, Any] | None:
        """The state as one process would have it, on rank 0's CPU; None on the others.

        Every process calls this with its own. Vectors, and the rows of matrices, that have as many
        elements as the process's slice, on every process, are taken for slices.
        """
        mine = self._width(self.rank)
        everybody: list[Any] = [None] * self.size
        flags = [tensor.dim() > 0 and tensor.size(-1) == mine for tensor in tensors(state)]
        control = self._member.control
        self._member.checked(partial(dist.all_gather_object, everybody, flags, group=control))
        if len({len(flags) for flags in everybody}) > 1:
            counts = ", ".join(str(len(flags)) for flags in everybody)
            raise ValueError(f"state has tensors in numbers that differ by rank: {counts}")
        sliced = (all(column) for column in zip(*everybody, strict=True))
        whole = map_tensors(lambda t: self._collected(t) if next(sliced) else t, state)
        return whole if self.rank == 0 else None

    def scatter_state(self, state: dict[str, Any] | None) -> dict[str, Any]:
        """This process's part of a state as one process has it: the reverse of ``gather_state``.

        Args:
            state: on rank 0 the whole state, of any number of processes; ignored on the others.
        """
        wholes: list[Tensor] = []

        def marked(tensor: Tensor) -> Any:
            if tensor.dim() == 0 or tensor.size(-1) != self.bounds[-1]:
                return tensor
            wholes.append(tensor.detach())
            return _Mark(tensor.dtype, tuple(tensor.shape[:-1]))

        skeleton = [map_tensors(marked, state) if self.rank == 0 else None]
        root = dist.get_global_rank(self.group, 0)
        control = self._member.control
        self._member.checked(partial(dist.broadcast_object_list, skeleton, root, group=control))
        remaining = iter(wholes)

        def filled(value: Any) -> Any:
            if isinstance(value, _Mark):
                return self._dealt(next(remaining, None), value)
            if isinstance(value, list):
                return [filled(item) for item in value]
            if isinstance(value, dict):
                return {key: filled(item) for key, item in value.items()}
            return value

        return filled(skeleton[0])

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


@dataclass
class _Mark:
    """Stands for a whole tensor in a table that is sent to the other processes."""

    dtype: torch.dtype
    shape: tuple[int, ...]


class _ToOwners:
    """The exchange of gradients where each process gets the sum of its own slice."""

    def __init__(self, sharded: ShardedParameters) -> None:
        self._sharded = sharded

    def _gradients(self) -> Tensor:
        assert self._sharded.dpt.flattenedParams is not None
        return self._sharded.dpt.flattenedParams[0][1]

    def start(self, part: Tensor) -> Finish:
        offset = part.data_ptr() - self._gradients().data_ptr()
        begin = offset // part.element_size()
        flat, group = part.view(-1), self._sharded.group
        finishes = [
            reduce_to(flat[start - begin : end - begin], owner, group)
            for owner, start, end in _cut(self._sharded.bounds, begin, begin + flat.numel())
        ]

        def finish() -> None:
            for one in finishes:
                one()

        return finish

    def take_apart(self, gradients: list[Tensor]) -> None:
        # The sum of a slice is where it counts once; the rest has been given away.
        whole, bounds, rank = self._gradients(), self._sharded.bounds, self._sharded.rank
        whole[: bounds[rank]].zero_()
        whole[bounds[rank + 1] :].zero_()


class _Totals(TorchFunctionMode):
    """Within it, sums and products over slices are those over the whole vectors."""

    def __init__(self, member: Member, count: int) -> None:
        super().__init__()
        self._member = member
        self._count = count

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if (
            func.__name__ in ("dot", "sum")
            and isinstance(result, Tensor)
            and result.dim() == 0
            and args[0].numel() == self._count
        ):
            group = self._member.group
            self._member.checked(partial(dist.all_reduce, result, group=group))
        return result

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Leave the mode for a while."""
        self.__exit__(None, None, None)
        try:
            yield
        finally:
            self.__enter__()


def _cut(bounds: Sequence[int], begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The owners of the elements ``begin`` to ``end``, each with the range that it owns."""
    for owner, (low, high) in enumerate(pairwise(bounds)):
        start, stop = max(begin, low), min(end, high)
        if start < stop:
            yield owner, start, stop
