"""Broadcast and sum of a network's parameters: each way against a plain copy of the same bytes.

    python benchmarks/comm.py [--devices cpu,cpu] [--rounds N] [--threads N]

All ways run in turn in each round.  ``of the limit`` is the time of copying the bytes once per
further device over the time of the way: 1 is as fast as memory allows, more is better.  The ways:
flat (in place, as DataParallelTable does it), coalesced, tensor by tensor, and on GPUs
torch.nn.parallel.comm.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.parallel import comm as torch_comm

from dptable import comm
from dptable.devices import configure, devices

Way = Callable[[], object]
Shape = tuple[int, ...]


def resnet50() -> Iterator[Shape]:
    """The 161 parameter tensors of ResNet-50."""

    def convolution(outputs: int, inputs: int, size: int) -> Iterator[Shape]:
        yield (outputs, inputs, size, size)
        yield from ((outputs,), (outputs,))

    yield from convolution(64, 3, 7)
    inputs = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            yield from convolution(width, inputs, 1)
            yield from convolution(width, width, 3)
            yield from convolution(4 * width, width, 1)
            if block == 0:
                yield from convolution(4 * width, inputs, 1)
            inputs = 4 * width
    yield from ((1000, inputs), (1000,))


def transformer() -> Iterator[Shape]:
    """A base transformer with a vocabulary of 32,000."""
    yield (32000, 512)
    network = torch.nn.Transformer(batch_first=True, device="meta")
    yield from (tuple(parameter.shape) for parameter in network.parameters())


NETWORKS = {"ResNet-50": resnet50, "transformer": transformer}


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
        "coalesced": lambda: comm.reduce_add_coalesced(lists, 1),
        "one by one": lambda: [comm.reduce_add(column, 1) for column in zip(*lists, strict=True)],
    }
    if all(device.type == "cuda" for device in devices()):
        numbers = [device.index for device in devices()]
        broadcast["torch"] = lambda: torch_comm.broadcast_coalesced(lists[0], numbers)
        reduce["torch"] = lambda: torch_comm.reduce_add_coalesced(lists, numbers[0])
    return {"broadcast": broadcast, "reduce": reduce}


def seconds(way: Way) -> float:
    start = time.perf_counter()
    way()
    for device in set(devices()):
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description="Communication against a plain copy.")
    parser.add_argument("--devices", help="as cpu,cpu or cuda:0,cuda:0; default: two of them")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    configure(options.devices.split(",") if options.devices else [devices()[0], devices()[-1]])
    torch.set_num_threads(options.threads)
    print(f"{', '.join(map(str, devices()))}; {options.threads} threads, {options.rounds} rounds")
    print(f"{'network':12} {'verb':10} {'way':12} {'ms':>8} {'of the limit':>13} {'spread':>13}")
    for network, shapes in NETWORKS.items():
        for verb, candidates in ways(list(shapes())).items():
            times = {name: [seconds(way)] for name, way in candidates.items()}
            for _ in range(options.rounds):
                for name, way in candidates.items():
                    times[name].append(seconds(way))
            for name, (_, *measured) in times.items():
                ratios = [a / b for a, b in zip(times["limit"][1:], measured, strict=True)]
                spread = f"{min(ratios):.2f}..{max(ratios):.2f}"
                print(
                    f"{network:12} {verb:10} {name:12} {1e3 * statistics.median(measured):8.2f} "
                    f"{statistics.median(ratios):13.2f} {spread:>13}"
                )


if __name__ == "__main__":
    main()
