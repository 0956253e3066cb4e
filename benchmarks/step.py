"""One training step: compat.nn and DataParallelTable against what else one would use.

    python benchmarks/step.py [--budget SECONDS] [--only PART]

Forward, cross entropy, backward and one step of SGD with momentum. Bare compat.nn with optim.sgd
stands against torch.nn with fused SGD, one thread each. DataParallelTable with two CPU replicas and
worker threads stands against DistributedDataParallel over gloo with two processes, and against
native with two threads inside operators. Ratios are our time over theirs: below 1 we are faster.
"""

from __future__ import annotations

import argparse
import os
import socket
from collections.abc import Callable
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
SGD = {"lr": 0.01, "momentum": 0.9}


def batch(shape: Shape, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(size, *shape, generator=generator)
    return images, torch.randint(10, (size,), generator=generator)


def torch7_step(net: nn.Module, shape: Shape, size: int) -> Callable[[], float]:
    """A step of a Torch7-style loop."""
    images, labels = batch(shape, size)
    targets = labels + 1
    criterion = nn.CrossEntropyCriterion()
    parameters, gradients = net.getParameters()
    config = {"learningRate": SGD["lr"], "momentum": SGD["momentum"], "dampening": 0}

    def feval(x: torch.Tensor) -> tuple[float, torch.Tensor]:
        net.zeroGradParameters()
        output = net.forward(images)
        loss = criterion.forward(output, targets)
        net.backward(images, criterion.backward(output, targets))
        return loss, gradients

    return lambda: seconds(lambda: optim.sgd(feval, parameters, config))


def native_step(net: torch.nn.Module, shape: Shape, size: int) -> Callable[[], float]:
    """The same step the PyTorch way."""
    images, labels = batch(shape, size)
    optimizer = torch.optim.SGD(net.parameters(), **SGD, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        loss.item()

    return lambda: seconds(step)


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


def parallel(budget: float) -> None:
    cutorch.configure(["cpu", "cpu"])
    rows = []
    print(header("two replicas, threads", "table", "DDP"))
    for title, net, shape, arguments, sizes in NETS:
        for size in sizes:
            if size == 1:
                continue
            torch.set_num_threads(2)
            table = DataParallelTable(1, True).add(
                getattr(models, net)(10, *shape, **arguments), [1, 2]
            )
            table.threads()
            table.gradInput = None
            processes = DistributedProcesses(net, shape, arguments, size)
            times = alternate(
                {
                    "table": with_threads(2, torch7_step(table, shape, size)),
                    "DDP": processes,
                    "native": with_threads(
                        2,
                        native_step(
                            getattr(native_nets, net)(10, *shape, **arguments), shape, size
                        ),
                    ),
                },
                budget,
            )
            processes.close()
            table.close()
            print(row(f"{title}, batch {size}", times, "table", "DDP"), flush=True)
            rows.append(row(f"{title}, batch {size}", times, "table", "native"))
    print(header("two replicas, threads", "table", "native, two threads"))
    print("\n".join(rows))
    cutorch.configure(None)


def main() -> None:
    parser = argparse.ArgumentParser(description="One training step, against PyTorch's.")
    parser.add_argument("--budget", type=float, default=10, help="seconds for each comparison")
    parser.add_argument("--only", choices=["bare", "parallel"])
    options = parser.parse_args()
    if options.only != "parallel":
        bare(options.budget)
    if options.only != "bare":
        parallel(options.budget)


if __name__ == "__main__":
    main()
