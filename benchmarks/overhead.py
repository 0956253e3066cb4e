"""What a pass costs besides its kernels: microseconds for each module, forward and backward.

    python benchmarks/overhead.py [--budget SECONDS]

Each row alternates the module with its bare kernels, the ATen calls that it makes, and with
torch.nn's module under autograd. ``a module`` is what is left of our time without the kernels,
divided by the number of modules. One thread, CPU time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from alternating import alternate
from torch import Tensor

from compat import nn

SIZE = 8
REPEATS = 50
aten = torch.ops.aten


def linear_kernels(x: Tensor, y: Tensor) -> Callable[[], object]:
    weight, bias = torch.randn(SIZE, SIZE), torch.randn(SIZE)
    gradients = torch.zeros(SIZE, SIZE), torch.zeros(SIZE)

    def run() -> None:
        torch.addmm(bias, x, weight.t())
        torch.mm(y, weight)
        gradients[0].addmm_(y.t(), x)
        gradients[1].add_(y.sum(0))

    return run


def tanh_kernels(x: Tensor, y: Tensor) -> Callable[[], object]:
    return lambda: aten.tanh_backward(y, torch.tanh(x))


def ours(net: nn.Module, x: Tensor, y: Tensor) -> Callable[[], object]:
    return lambda: (net.forward(x), net.backward(x, y))


def theirs(net: torch.nn.Module, x: Tensor, y: Tensor) -> Callable[[], object]:
    x = x.clone().requires_grad_()
    return lambda: net(x).backward(y)


def chain(pairs: int) -> tuple[nn.Module, torch.nn.Module]:
    net, native = nn.Sequential(), torch.nn.Sequential()
    for _ in range(pairs):
        net.add(nn.Linear(SIZE, SIZE)).add(nn.Tanh())
        native.extend([torch.nn.Linear(SIZE, SIZE), torch.nn.Tanh()])
    return net, native


def cpu(step: Callable[[], object]) -> Callable[[], float]:
    def measure() -> float:
        start = time.process_time()
        for _ in range(REPEATS):
            step()
        return (time.process_time() - start) / REPEATS

    return measure


def main() -> None:
    parser = argparse.ArgumentParser(description="What a pass costs besides its kernels.")
    parser.add_argument("--budget", type=float, default=3, help="seconds for each row")
    options = parser.parse_args()
    torch.set_num_threads(1)
    x, y = torch.randn(4, SIZE), torch.randn(4, SIZE)
    linear, tanh = linear_kernels(x, y), tanh_kernels(x, y)
    rows = [
        (f"Linear({SIZE}, {SIZE})", 1, nn.Linear(SIZE, SIZE), torch.nn.Linear(SIZE, SIZE), linear),
        ("Tanh", 1, nn.Tanh(), torch.nn.Tanh(), tanh),
    ]
    for modules in (2, 10, 100):
        pairs = modules // 2
        rows.append(
            (
                f"Sequential of {modules}",
                modules,
                *chain(pairs),
                lambda pairs=pairs: [(linear(), tanh()) for _ in range(pairs)],
            )
        )
    names = ("kernels", "compat.nn", "torch.nn")
    print(f"{'forward, backward: µs':26}" + "".join(f"{n:>11}" for n in (*names, "a module")))
    for title, modules, net, native, kernels in rows:
        steps = dict(
            zip(names, (kernels, ours(net.float(), x, y), theirs(native, x, y)), strict=True)
        )
        times = alternate({name: cpu(step) for name, step in steps.items()}, options.budget)
        middle = {name: 1e6 * statistics.median(times[name]) for name in names}
        rest = (middle["compat.nn"] - middle["kernels"]) / modules
        print(f"{title:26}" + "".join(f"{middle[n]:11.1f}" for n in names) + f"{rest:11.1f}")


if __name__ == "__main__":
    main()
