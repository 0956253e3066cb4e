"""Broadcast and sum of a network's parameters: each way against a plain copy of the same bytes.

    python benchmarks/comm.py [--devices cpu,cpu] [--budget SECONDS] [--threads N]

All ways run in turn in each round. ``of the limit`` is the time of copying the bytes once per
further device over the time of the way: 1 is as fast as memory allows, more is better. The ways:
flat (in place), the same and the others' set to zero (which is how DataParallelTable sums, and
writes twice as much), coalesced, tensor by tensor, and on GPUs torch.nn.parallel.comm. All but the
flat ones return new tensors: on a CPU, new memory costs more than what is put into it, so that this
process keeps what it frees, as dptable train does (``dptable.memory``). ``into a third`` is the sum
as torch.add writes it into memory that is there already: no sum in new tensors can be faster.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence

import torch
from alternating import alternate, ratio, seconds
from native_nets import resnet50_shapes
from torch import Tensor
from torch.nn.parallel import comm as torch_comm

from dptable import comm
from dptable.devices import configure, devices
from dptable.memory import keep_freed

Way = Callable[[], object]
Shape = tuple[int, ...]


def transformer_shapes() -> list[Shape]:
    """A base transformer with a vocabulary of 32,000."""
    network = torch.nn.Transformer(batch_first=True, device="meta")
    return [(32000, 512), *(tuple(parameter.shape) for parameter in network.parameters())]


NETWORKS = {"ResNet-50": resnet50_shapes, "transformer": transformer_shapes}


def views(flat: Tensor, shapes: Sequence[Shape]) -> list[Tensor]:
    parts = flat.split([torch.Size(shape).numel() for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def ways(shapes: Sequence[Shape]) -> dict[str, dict[str, Way]]:
    """For each verb the limit, which comes first, and the ways to do it."""
    ids = range(1, len(devices()) + 1)
    n = sum(torch.Size(shape).numel() for shape in shapes)
    flats = [torch.randn(n, device=device) for device in devices()]
    lists = [views(flat, shapes) for flat in flats]
    scratch = [torch.empty_like(flat) for flat in flats[1:]]
    third = torch.empty_like(flats[0])

    def limit() -> None:
        for target, source in zip(scratch, flats[1:], strict=True):
            target.copy_(source)

    broadcast: dict[str, Way] = {
        "limit": limit,
        "flat": lambda: comm.broadcast_into_(flats),
        "coalesced": lambda: comm.broadcast_coalesced(lists[0], ids),
        "one by one": lambda: [comm.broadcast(tensor, ids) for tensor in lists[0]],
    }
    reduce: dict[str, Way] = {
        "limit": limit,
        "flat": lambda: comm.reduce_into_(flats),
        "flat, zeroed": lambda: comm.reduce_into_(flats, zero=True),
        "into a third": lambda: torch.add(flats[0], flats[-1].to(flats[0].device), out=third),
        "coalesced": lambda: comm.reduce_add_coalesced(lists, 1),
        "one by one": lambda: [comm.reduce_add(column, 1) for column in zip(*lists, strict=True)],
    }
    if all(device.type == "cuda" for device in devices()):
        numbers = [device.index for device in devices()]
        broadcast["torch"] = lambda: torch_comm.broadcast_coalesced(lists[0], numbers)
        reduce["torch"] = lambda: torch_comm.reduce_add_coalesced(lists, numbers[0])
    return {"broadcast": broadcast, "reduce": reduce}


def main() -> None:
    parser = argparse.ArgumentParser(description="Communication against a plain copy.")
    parser.add_argument("--devices", help="as cpu,cpu or cuda:0,cuda:0; default: two of them")
    parser.add_argument("--budget", type=float, default=10, help="seconds for each verb")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    keep_freed()
    configure(options.devices.split(",") if options.devices else [devices()[0], devices()[-1]])
    torch.set_num_threads(options.threads)
    print(f"{', '.join(map(str, devices()))}; {options.threads} threads")
    print(f"{'network':12} {'verb':10} {'way':12} {'ms':>8} {'of the limit':>13}  quartiles")
    for network, shapes in NETWORKS.items():
        for verb, candidates in ways(shapes()).items():
            contenders = {
                name: lambda way=way: seconds(way, devices()) for name, way in candidates.items()
            }
            times = alternate(contenders, options.budget)
            for name, measured in times.items():
                middle, low, high = ratio(times, "limit", name)
                print(
                    f"{network:12} {verb:10} {name:12} {1e3 * statistics.median(measured):8.2f} "
                    f"{middle:13.2f}  {low:.2f}..{high:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
