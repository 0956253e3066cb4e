"""One training step: compat.nn and DataParallelTable against what else one would use.

    python benchmarks/step.py [--budget SECONDS] [--only PART]

Forward, cross entropy, backward and one step of SGD with momentum. The parts:

bare      compat.nn with optim.sgd against torch.nn with fused SGD, one thread each
parallel  DataParallelTable with two CPU replicas and worker threads against
          DistributedDataParallel over gloo with two processes, and against native with two threads
          inside operators
overlap   the same container with the gradients summed during backward against after it
gpu       DataParallelTable on all GPUs, with and without capture, against torch.nn.DataParallel on
          all and against native on one; with one GPU a row more, on that GPU as two devices

Ratios are our time over theirs: below 1 we are faster.
"""

from __future__ import annotations

import argparse
import os
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import native_nets
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from alternating import alternate, header, row, seconds
from torch.nn import functional as F

from compat import cutorch, nn, optim
from dptable import DataParallelTable, models

Shape = tuple[int, int, int]
# Title, name of the net, its image shape, further arguments, batch sizes.
NETS: list[tuple[str, str, Shape, dict[str, Any], list[int]]] = [
    ("LeNet 28x28", "lenet", (1, 28, 28), {}, [1, 8, 64]),
    ("residual net 20, 32x32", "resnet", (3, 32, 32), {"depth": 20}, [8, 64]),
    ("MLP 3072-2048-2048-10", "mlp", (3, 32, 32), {"hidden": (2048, 2048)}, [64]),
]
GPU_NETS: list[tuple[str, str, Shape, dict[str, Any], list[int]]] = [
    *((title, net, shape, arguments, [64, 256]) for title, net, shape, arguments, _ in NETS),
    ("residual net 56, 32x32", "resnet", (3, 32, 32), {"depth": 56}, [128]),
    ("ResNet-50, 224x224", "resnet50", (3, 224, 224), {}, [32, 128]),
]
SGD = {"lr": 0.01, "momentum": 0.9}


def batch(shape: Shape, size: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(size, *shape, generator=generator)
    labels = torch.randint(10, (size,), generator=generator)
    return images.to(device), labels.to(device)


def torch7_step(
    net: nn.Module, shape: Shape, size: int, device: str = "cpu"
) -> Callable[[], float]:
    """A step of a Torch7-style loop."""
    images, labels = batch(shape, size, device)
    targets = labels + 1
    criterion = nn.CrossEntropyCriterion().type(net.type())
    parameters, gradients = net.getParameters()
    config = {"learningRate": SGD["lr"], "momentum": SGD["momentum"], "dampening": 0}

    def feval(x: torch.Tensor) -> tuple[float, torch.Tensor]:
        net.zeroGradParameters()
        output = net.forward(images)
        loss = criterion.forward(output, targets)
        net.backward(images, criterion.backward(output, targets))
        return loss, gradients

    return lambda: seconds(lambda: optim.sgd(feval, parameters, config), [images.device])


def native_step(
    net: torch.nn.Module, shape: Shape, size: int, device: str = "cpu"
) -> Callable[[], float]:
    """The same step the PyTorch way."""
    images, labels = batch(shape, size, device)
    optimizer = torch.optim.SGD(net.parameters(), **SGD, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        loss.item()

    return lambda: seconds(step, [images.device])


def with_threads(count: int, contender: Callable[[], float]) -> Callable[[], float]:
    """Run a contender with so many threads inside operators."""

    def run() -> float:
        torch.set_num_threads(count)
        return contender()

    return run


class DistributedProcesses:
    """Two DistributedDataParallel processes that take a step when told to and idle otherwise."""

    def __init__(self, net: str, shape: Shape, arguments: dict[str, Any], size: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        context = mp.get_context("spawn")
        self.pipes, self.processes = [], []
        for rank in range(2):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_distributed_worker, args=(rank, port, theirs, net, shape, arguments, size)
            )
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)
        for pipe in self.pipes:
            pipe.recv()

    def __call__(self) -> float:
        for pipe in self.pipes:
            pipe.send(True)
        return max(pipe.recv() for pipe in self.pipes)

    def close(self) -> None:
        for pipe in self.pipes:
            pipe.send(None)
        for process in self.processes:
            process.join()


def _distributed_worker(
    rank: int, port: int, pipe: Any, net: str, shape: Shape, arguments: dict[str, Any], size: int
) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    module = torch.nn.parallel.DistributedDataParallel(
        getattr(native_nets, net)(10, *shape, **arguments)
    )
    step = native_step(module, shape, size // 2)
    pipe.send(True)
    while pipe.recv() is not None:
        pipe.send(step())
    dist.destroy_process_group()


def bare(budget: float) -> None:
    print(header("bare, one thread", "compat", "torch.nn"))
    torch.set_num_threads(1)
    for title, net, shape, arguments, sizes in NETS:
        for size in sizes:
            times = alternate(
                {
                    "compat": torch7_step(
                        getattr(models, net)(10, *shape, **arguments), shape, size
                    ),
                    "native": native_step(
                        getattr(native_nets, net)(10, *shape, **arguments), shape, size
                    ),
                },
                budget,
            )
            print(row(f"{title}, batch {size}", times, "compat", "native"), flush=True)


@contextmanager
def table_over(
    net: nn.Module | torch.nn.Module, devices: list[str], **options: Any
) -> Iterator[DataParallelTable]:
    """A container as a training script makes it."""
    cutorch.configure(devices)
    table = DataParallelTable(1, True, **options).add(net, list(range(1, len(devices) + 1)))
    table.threads()
    table.gradInput = None
    try:
        yield table
    finally:
        table.close()
        cutorch.configure(None)


def parallel(budget: float) -> None:
    rows = []
    print(header("two replicas, threads", "table", "DDP"))
    for title, net, shape, arguments, sizes in NETS:
        for size in sizes:
            if size == 1:
                continue
            torch.set_num_threads(2)
            processes = DistributedProcesses(net, shape, arguments, size)
            ours = getattr(models, net)(10, *shape, **arguments)
            theirs = getattr(native_nets, net)(10, *shape, **arguments)
            with table_over(ours, ["cpu", "cpu"]) as table:
                times = alternate(
                    {
                        "table": with_threads(2, torch7_step(table, shape, size)),
                        "DDP": processes,
                        "native": with_threads(2, native_step(theirs, shape, size)),
                    },
                    budget,
                )
            processes.close()
            print(row(f"{title}, batch {size}", times, "table", "DDP"), flush=True)
            rows.append(row(f"{title}, batch {size}", times, "table", "native"))
    print(header("two replicas, threads", "table", "native, two threads"))
    print("\n".join(rows))


def overlap(budget: float) -> None:
    torch.set_num_threads(2)
    print(header("sums during backward or after", "during", "after"))
    for title, net, shape, arguments, sizes in NETS:
        for size in sizes[-2:]:
            nets = [getattr(models, net)(10, *shape, **arguments) for _ in range(2)]
            with (
                table_over(nets[0], ["cpu", "cpu"], overlap=True) as during,
                table_over(nets[1], ["cpu", "cpu"], overlap=False) as after,
            ):
                times = alternate(
                    {
                        "during": torch7_step(during, shape, size),
                        "after": torch7_step(after, shape, size),
                    },
                    budget,
                )
            print(row(f"{title}, batch {size}", times, "during", "after"), flush=True)


def gpu(budget: float) -> None:
    count = torch.cuda.device_count()
    if count == 0:
        print("gpu: there is none, nothing is measured")
        return
    every = [f"cuda:{i}" for i in range(count)]
    print(f"{count} x {torch.cuda.get_device_name(0)}")
    lists = {"": every} if count > 1 else {"": every, ", as two": every * 2}
    comparisons = {
        ("table", "DataParallel"): [],
        ("table", "native"): [],
        ("captured", "native"): [],
    }
    # The net of ResNet-50 is PyTorch's own; the others are compat.nn's.
    for title, net, shape, arguments, sizes in GPU_NETS:
        for size in sizes:
            for suffix, devices in lists.items():
                times = _on_gpus(net, shape, arguments, size, devices, budget)
                for (ours, theirs), rows in comparisons.items():
                    rows.append(row(f"{title}, batch {size}{suffix}", times, ours, theirs))
    for (ours, theirs), rows in comparisons.items():
        print(header("all GPUs", ours, theirs))
        print("\n".join(rows), flush=True)


def _on_gpus(
    net: str, shape: Shape, arguments: dict[str, Any], size: int, devices: list[str], budget: float
) -> dict[str, list[float]]:
    native = getattr(native_nets, net)

    def ours() -> Any:
        make = getattr(models, net, native)
        return make(10, *shape, **arguments)

    def theirs() -> torch.nn.Module:
        return native(10, *shape, **arguments).cuda()

    numbers = sorted({int(device.partition(":")[2]) for device in devices})
    with table_over(ours(), devices) as table, table_over(ours(), devices) as captured:
        contenders = {
            "table": torch7_step(table.cuda(), shape, size, "cuda"),
            "captured": torch7_step(captured.cuda().capture(), shape, size, "cuda"),
            "native": native_step(theirs(), shape, size, "cuda"),
            "DataParallel": native_step(
                torch.nn.DataParallel(theirs(), numbers), shape, size, "cuda"
            ),
        }
        with warnings.catch_warnings():
            # What is not replayed has no place in that column.
            warnings.filterwarnings("error", "capture:")
            return alternate(contenders, budget)


PARTS = {"bare": bare, "parallel": parallel, "overlap": overlap, "gpu": gpu}


def main() -> None:
    parser = argparse.ArgumentParser(description="One training step, against PyTorch's.")
    parser.add_argument("--budget", type=float, default=10, help="seconds for each comparison")
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    print(f"torch {torch.__version__}")
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(options.budget)


if __name__ == "__main__":
    main()
