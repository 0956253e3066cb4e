"""Sum tensors over processes so that each process gets its part (reduce-scatter).

Small sums are collected and sent as one. The interface is that of
``fairscale.internal.reduce_scatter_bucketer``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from compat.checks import check_tensor
from dptable.tensors.checks import check_same
from dptable.torch_internals import reduce_scatter_single

__all__ = [
    "ReduceScatterBucketer",
    "ScatterBucket",
    "on_nccl",
    "reduce_scatter",
    "reduce_to",
]

Callback = Callable[[Tensor], Any]


def on_nccl(tensor: Tensor, group: dist.ProcessGroup | None = None) -> bool:
    """Return whether NCCL carries this tensor; a group has a backend for each device type."""
    return f"{tensor.device.type}:nccl" in dist.get_backend_config(group)


@torch.no_grad()
def reduce_scatter(output: Tensor, stacked: Tensor, group: dist.ProcessGroup | None = None) -> None:
    """Sum ``stacked`` over the processes and put row r of the sum into rank r's ``output``.

    Args:
        output: a contiguous tensor.
        stacked: one row of ``output``'s elements for each process.
        group: default: all processes.

    On backends without this collective each process receives its row from all the others and sums
    them in the order of the ranks. PyTorch's gloo implements it as an all-reduce of everything,
    which sends twice the bytes, so it is not used there.
    """
    if on_nccl(stacked, group):
        reduce_scatter_single(output, stacked.contiguous(), group=group)
        return
    if not stacked.numel():
        return
    rows = stacked.reshape(stacked.size(0), -1)
    received = torch.empty_like(rows)
    dist.all_to_all_single(received, rows.contiguous(), group=group)
    torch.sum(received, 0, dtype=output.dtype, out=output.view(-1))


def reduce_to(
    tensor: Tensor, rank: int, group: dist.ProcessGroup | None = None
) -> Callable[[], Any]:
    """Begin to sum ``tensor`` over the processes, in place, on one rank of the group.

    Returns:
        A function that waits for the sum. On the other ranks the tensor's values are undefined.
    """
    root = rank if group is None else dist.get_global_rank(group, rank)
    if on_nccl(tensor, group):
        work = dist.reduce(tensor, root, group=group, async_op=True)
        assert work is not None
        return work.wait
    # Gloo's own reduce has the ranks send each other more than the parts that are needed.
    mine = dist.get_rank(group) == rank
    rows = tensor.new_empty(dist.get_world_size(group) if mine else 0, *tensor.shape)
    work = dist.gather(tensor, list(rows) if mine else None, root, group=group, async_op=True)

    def finish() -> None:
        work.wait()
        if mine:
            torch.sum(rows, 0, dtype=tensor.dtype, out=tensor)

    return finish


def _all(functions: Iterable[Callable[[], Any]]) -> None:
    """Call every function, also after one has raised; then raise the first error."""
    first = None
    for function in functions:
        try:
            function()
        except Exception as error:
            first = first or error
    if first is not None:
        raise first


class ScatterBucket:
    """A buffer for inputs that are reduce-scattered together.

    Attributes:
        data: one row for each process, filled up to column ``offset``.
        output_shard: the sum of this process's row; the callbacks get parts of it.
    """

    def __init__(self, data: Tensor, group: dist.ProcessGroup) -> None:
        self.data = data
        self.group = group
        self.offset = 0
        self.callbacks: list[Callable[[], Any]] = []
        self.output_shard = torch.zeros_like(data[0])

    def put(self, inputs: Sequence[Tensor], callback: Callback | None) -> None:
        """Add inputs. There must be room for them."""
        end = self.offset + inputs[0].numel()
        for row, tensor in zip(self.data, inputs, strict=True):
            row[self.offset : end].view_as(tensor).copy_(tensor)
        if callback is not None:
            result = self.output_shard[self.offset : end].view_as(inputs[0])
            self.callbacks.append(partial(callback, result))
        self.offset = end

    def flush(self) -> None:
        """Reduce-scatter the contents, then call the callbacks in order."""
        if not self.callbacks and not self.offset:
            return
        reduce_scatter(self.output_shard[: self.offset], self.data[:, : self.offset], self.group)
        # Whatever a callback does, an error included, this bucket is empty and no result is given
        # twice or written to again.
        callbacks, self.callbacks = self.callbacks, []
        self.offset = 0
        self.output_shard = torch.zeros_like(self.data[0])
        _all(callbacks)

    def setup(self) -> None:
        """Allocate the buffers again after ``teardown``."""
        for tensor in (self.data, self.output_shard):
            storage = tensor.untyped_storage()
            if storage.size() == 0:
                storage.resize_(tensor.numel() * tensor.element_size())

    def teardown(self) -> None:
        """Free the buffers. Raises RuntimeError if the bucket is not empty."""
        if self.callbacks or self.offset:
            raise RuntimeError("there are inputs that were not reduced yet; call flush() first")
        for tensor in (self.data, self.output_shard):
            tensor.untyped_storage().resize_(0)


class ReduceScatterBucketer:
    """Collect small reduce-scatters into few large ones.

    Large inputs are reduced at once. Small ones wait in a bucket, one per dtype, device and group,
    until it is full or ``flush`` is called. So results may arrive in another order than the calls,
    except that those of one bucket keep their order.

    Args:
        bucket_cap_mb: the size of a bucket in MiB over all its rows, one for each process; at 0 or
            less everything is reduced at once.
    """

    def __init__(self, bucket_cap_mb: float = 25) -> None:
        self.bucket_cap_mb = bucket_cap_mb
        self.buckets: dict[tuple[torch.dtype, torch.device, dist.ProcessGroup], ScatterBucket] = {}

    @torch.no_grad()
    def reduce_scatter_async(
        self,
        input_list: Sequence[Tensor],
        group: dist.ProcessGroup,
        callback_fn: Callback | None = None,
    ) -> None:
        """Sum tensors over the processes of ``group``; rank r gets the sum of entry r.

        Every process makes the same calls in the same order.

        Args:
            input_list: a tensor for each process, all of one shape, dtype and device.
            group: the processes.
            callback_fn: called once with the sum, as soon as it is complete.

        Raises:
            ValueError: the number of inputs is not that of the processes, or they differ in kind.
        """
        size = group.size()
        if len(input_list) != size:
            raise ValueError(
                f"input_list has {len(input_list)} tensors; one for each of the {size} processes "
                "of the group is accepted"
            )
        first = input_list[0]
        for i, tensor in enumerate(input_list):
            check_tensor(tensor, f"input_list[{i}]")
            check_same(tensor, first, f"input_list[{i}]")
            if tensor.device != first.device:
                raise ValueError(
                    f"input_list[{i}] is on {tensor.device}, input_list[0] is on {first.device}; "
                    "one device is accepted"
                )
        room = self._get_shard_size(first.element_size(), size)
        if first.numel() > room or not room:
            output = torch.empty_like(first, memory_format=torch.contiguous_format)
            reduce_scatter(output, torch.stack(list(input_list)), group)
            if callback_fn is not None:
                callback_fn(output)
            return
        bucket = self._get_bucket(first, group)
        if first.numel() > bucket.data.size(1) - bucket.offset:
            bucket.flush()
        bucket.put(input_list, callback_fn)

    @torch.no_grad()
    def flush(self) -> None:
        """Reduce everything that waits; afterwards every callback has been called.

        An error in a callback is raised after the other callbacks were called: the other processes
        do not know of it and take part in all the sums.
        """
        _all([bucket.flush for bucket in self.buckets.values()])

    @torch.no_grad()
    def teardown(self) -> None:
        """Free the buffers of all buckets, which must be empty; the next use allocates them."""
        for bucket in self.buckets.values():
            bucket.teardown()

    def _get_shard_size(self, element_size: int, num_shards: int) -> int:
        """Return how many elements of each process a bucket holds."""
        return max(0, int(self.bucket_cap_mb * (1 << 20) // (element_size * num_shards)))

    def _get_bucket(self, tensor: Tensor, group: dist.ProcessGroup) -> ScatterBucket:
        key = (tensor.dtype, tensor.device, group)
        if key not in self.buckets:
            size = group.size()
            shard = self._get_shard_size(tensor.element_size(), size)
            self.buckets[key] = ScatterBucket(tensor.new_zeros(size, shard), group)
        self.buckets[key].setup()
        return self.buckets[key]
