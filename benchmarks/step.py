"""One training step: compat.nn and DataParallelTable against what else one would use.

    python benchmarks/step.py [--budget SECONDS] [--only PART] [--compile] [--rows N]

Forward, cross entropy, backward and one step of SGD with momentum. The parts:

bare      compat.nn with optim.sgd against torch.nn with fused SGD, one thread each
parallel  DataParallelTable with two CPU replicas and worker threads against
          DistributedDataParallel over gloo with two processes, and against native with two threads
          inside operators
processes DataParallelTable in two processes on one device each against DistributedDataParallel,
          both over gloo; how their gradients differ, what is sent, and the optimizer's memory
overlap   the same container with the gradients summed during backward against after it
gpu       DataParallelTable on all GPUs, with and without capture, against torch.nn.DataParallel on
          all and against native on one; with one GPU a row more, on that GPU as two devices

With ``--compile``, the part bare has rows for ``net.compile()`` too. With ``--rows``, batches of
the part gpu have so many rows, to see that it runs.

Ratios are our time over theirs: below 1 we are faster. Our processes keep freed memory, as those
of dptable train do (``dptable.memory``), and so does what is measured beside us in the same
process; those of DistributedDataParallel are as PyTorch makes them.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import native_nets
import torch
import torch.distributed as dist
from alternating import alternate, header, row, seconds
from processes import Answer, Processes, loopback_bytes, processes
from torch.nn import functional as F

from compat import accelerators, cutorch, nn, optim
from compat.tensor_tables import tensors
from dptable import DataParallelTable, models
from dptable.container.cuda_recorder import recorder_of
from dptable.memory import keep_freed
from dptable.sharding import ShardedParameters

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
# How many steps a process takes each time that it is asked for one.
_STEPS = 5


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


def same_parameters(parameters: Iterable[torch.Tensor]) -> None:
    """Fill parameters with numbers that contenders have in common."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in parameters:
            inputs = parameter[0].numel() if parameter.dim() > 1 else 1
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / inputs**0.5)


def _ddp(net: str, shape: Shape, arguments: dict[str, Any], size: int) -> Answer:
    """DistributedDataParallel in one of several processes."""
    native = getattr(native_nets, net)(10, *shape, **arguments)
    same_parameters(native.parameters())
    module = torch.nn.parallel.DistributedDataParallel(native)
    step = native_step(module, shape, size // dist.get_world_size())
    gradients = lambda: [p.grad.flatten() for p in native.parameters()]  # noqa: E731
    return _answers(step, gradients, lambda: 0)


def _ours(net: str, shape: Shape, arguments: dict[str, Any], size: int) -> Answer:
    """DataParallelTable on one device in one of several processes."""
    keep_freed()
    cutorch.configure(["cpu"])
    ours = getattr(models, net)(10, *shape, **arguments)
    same_parameters(ours.parameters()[0])
    table = DataParallelTable(1, True).add(ours, [1]).distribute()
    table.gradInput = None
    step = torch7_step(table, shape, size // dist.get_world_size())
    group = table._gradients.group
    return _answers(step, lambda: [table.getParameters()[1]], lambda: group.bytes_sent)


def _answers(
    step: Callable[[], float],
    gradients: Callable[[], list[torch.Tensor]],
    sent: Callable[[], int],
) -> Answer:
    def answer(question: str) -> Any:
        if question == "step":
            # As a program that trains: nobody speaks to the processes between these steps.
            return statistics.median(step() for _ in range(_STEPS))
        return torch.cat(gradients()).numpy() if question == "gradients" else sent()

    return answer


def slowest(group: Processes) -> Callable[[], float]:
    """A step of a group is over when all its processes are."""
    return lambda: max(group("step"))


def bare(budget: float, compiled: bool) -> None:
    rows = []
    print(header("bare, one thread", "compat", "torch.nn"))
    torch.set_num_threads(1)
    for title, net, shape, arguments, sizes in NETS:
        for size in sizes:
            ours = [getattr(models, net)(10, *shape, **arguments) for _ in range(2)]
            theirs = getattr(native_nets, net)(10, *shape, **arguments)
            contenders = {
                "compat": torch7_step(ours[0], shape, size),
                "native": native_step(theirs, shape, size),
            }
            if compiled:
                contenders["compiled"] = torch7_step(ours[1].compile(), shape, size)
            times = alternate(contenders, budget)
            print(row(f"{title}, batch {size}", times, "compat", "native"), flush=True)
            if compiled:
                rows.append(row(f"{title}, batch {size}", times, "compiled", "native"))
    if rows:
        print(header("compiled, one thread", "compiled", "torch.nn"))
        print("\n".join(rows))


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
            ours = getattr(models, net)(10, *shape, **arguments)
            theirs = getattr(native_nets, net)(10, *shape, **arguments)
            with (
                processes(2, _ddp, net, shape, arguments, size) as ddp,
                table_over(ours, ["cpu", "cpu"]) as table,
            ):
                times = alternate(
                    {
                        # As dptable train does: the cores are the replicas'.
                        "table": with_threads(1, torch7_step(table, shape, size)),
                        "DDP": slowest(ddp),
                        "native": with_threads(2, native_step(theirs, shape, size)),
                    },
                    budget,
                )
            print(row(f"{title}, batch {size}", times, "table", "DDP"), flush=True)
            rows.append(row(f"{title}, batch {size}", times, "table", "native"))
    print(header("two replicas, threads", "table", "native, two threads"))
    print("\n".join(rows))


def several_processes(budget: float) -> None:
    notes = []
    print(header("two processes", "table", "DDP"))
    for title, net, shape, arguments, sizes in NETS:
        for size in sizes:
            if size == 1:
                continue
            with (
                processes(2, _ours, net, shape, arguments, size) as ours,
                processes(2, _ddp, net, shape, arguments, size) as ddp,
            ):
                notes.append(f"{title + f', batch {size}':32} {_exchanged(ours, ddp)}")
                times = alternate({"table": slowest(ours), "DDP": slowest(ddp)}, budget)
            print(row(f"{title}, batch {size}", times, "table", "DDP"), flush=True)
    columns = ["difference", "given MB", "theory MB", "sent MB"]
    print(f"{'two processes':32} {' '.join(f'{column:>10}' for column in columns)}")
    print("\n".join(notes))
    _optimizer_states()


def _exchanged(ours: Processes, ddp: Processes, steps: int = 20) -> str:
    """How the gradients of the fifth step differ from DDP's, and what a step sends.

    Given by a process to be summed, in theory all its gradients; and sent over the loopback, which
    is little: to agree, and gradients too few for shared memory.
    """
    ours("step")
    ddp("step")
    (a, b), expected = ours("gradients"), ddp("gradients")[0]
    assert (a == b).all()
    difference = float(abs(a - expected).max() / abs(expected).max())
    given, sent = ours("bytes")[0], loopback_bytes()
    for _ in range(steps):
        ours("step")
    given, sent = ours("bytes")[0] - given, loopback_bytes() - sent
    steps *= _STEPS
    values = [given / steps, a.nbytes, sent / steps]
    return f"{difference:10.0e} " + " ".join(f"{value / 1e6:10.3f}" for value in values)


def _optimizer_states() -> None:
    """Adam's state in a process: of 1 that has the whole, of N that share it."""
    for title, net, shape, arguments, _ in NETS:
        whole = _state_bytes(getattr(models, net)(10, *shape, **arguments), None)
        print(f"{title}: Adam's state {whole / 1e6:.2f} MB", end="")
        for size in (2, 4):
            with processes(size, _sharded, net, shape, arguments) as group:
                most = max(group("bytes"))
            print(f", in each of {size} {most / 1e6:.2f} MB = {most / whole:.3f}", end="")
        print(flush=True)


def _sharded(net: str, shape: Shape, arguments: dict[str, Any]) -> Answer:
    ours = getattr(models, net)(10, *shape, **arguments)
    table = DataParallelTable(1, True).add(ours, ["cpu"])
    found = _state_bytes(table, ShardedParameters(table))
    return lambda _: found


def _state_bytes(net: nn.Module, sharded: ShardedParameters | None) -> int:
    """What Adam keeps after a step."""
    parameters, gradients = net.getParameters()
    state: dict[str, Any] = {}
    feval = lambda x: (0.0, gradients)  # noqa: E731
    if sharded is None:
        optim.adam(feval, parameters, state)
    else:
        sharded.step(optim.adam, feval, state)
    return sum(t.untyped_storage().nbytes() for t in tensors(state))


def overlap(budget: float) -> None:
    print(header("sums during backward or after", "during", "after"))
    for title, net, shape, arguments, sizes in NETS:
        for size in sizes[-2:]:
            torch.set_num_threads(2)
            nets = [getattr(models, net)(10, *shape, **arguments) for _ in range(2)]
            with (
                table_over(nets[0], ["cpu", "cpu"], overlap=True) as during,
                table_over(nets[1], ["cpu", "cpu"], overlap=False) as after,
            ):
                contenders = {
                    "during": torch7_step(during, shape, size),
                    "after": torch7_step(after, shape, size),
                }
                torch.set_num_threads(1)
                times = alternate(contenders, budget)
            print(row(f"{title}, batch {size}", times, "during", "after"), flush=True)


def gpu(budget: float, rows_each: int | None) -> None:
    every = [str(device) for device in accelerators.devices()]
    if not every:
        print("gpu: there is none, nothing is measured")
        return
    print(f"{len(every)} x {cutorch.getDeviceProperties(every[0]).name}")
    lists = {"": every} if len(every) > 1 else {"": every, ", as two": every * 2}
    comparisons: dict[tuple[str, str], list[str]] = {
        ("table", "DataParallel"): [],
        ("table", "native"): [],
        ("captured", "native"): [],
    }
    # The net of ResNet-50 is PyTorch's own; the others are compat.nn's.
    for title, net, shape, arguments, sizes in GPU_NETS:
        for size in sizes if rows_each is None else [rows_each]:
            for suffix, devices in lists.items():
                times = _on_gpus(net, shape, arguments, size, devices, budget)
                for (ours, theirs), rows in comparisons.items():
                    if not {ours, theirs} <= times.keys():
                        continue
                    rows.append(row(f"{title}, batch {size}{suffix}", times, ours, theirs))
    for (ours, theirs), rows in comparisons.items():
        if rows:
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
        return native(10, *shape, **arguments).to(kind)

    kind = devices[0].partition(":")[0]
    numbers = sorted({int(device.partition(":")[2]) for device in devices})
    with table_over(ours(), devices) as table, table_over(ours(), devices) as captured:
        contenders = {
            "table": torch7_step(table.cuda(), shape, size, kind),
            "captured": torch7_step(captured.cuda().capture(), shape, size, kind),
            "native": native_step(theirs(), shape, size, kind),
        }
        if kind == "cuda":  # PyTorch has it for no other kind
            parallel = torch.nn.DataParallel(theirs(), numbers)
            contenders["DataParallel"] = native_step(parallel, shape, size, kind)
        first = torch.device(devices[0])
        if recorder_of(first).refusal(first):
            del contenders["captured"]
        with warnings.catch_warnings():
            # What is not replayed has no place in that column.
            warnings.filterwarnings("error", "capture:")
            return alternate(contenders, budget)


PARTS: dict[str, Callable[[float], None]] = {
    "bare": partial(bare, compiled=False),
    "parallel": parallel,
    "processes": several_processes,
    "overlap": overlap,
    "gpu": partial(gpu, rows_each=None),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="One training step, against PyTorch's.")
    parser.add_argument("--budget", type=float, default=10, help="seconds for each comparison")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--compile", action="store_true", help="compiled nets too, in bare")
    parser.add_argument("--rows", type=int, help="of every batch in gpu, in place of its sizes")
    options = parser.parse_args()
    print(f"torch {torch.__version__}")
    PARTS["bare"] = partial(bare, compiled=options.compile)
    PARTS["gpu"] = partial(gpu, rows_each=options.rows)
    keep_freed()
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(options.budget)


if __name__ == "__main__":
    main()
