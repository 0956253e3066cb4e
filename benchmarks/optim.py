"""One step of each optimizer on a ResNet-50's flat parameters against ``torch.optim``'s.

    python benchmarks/optim.py [--budget SECONDS] [--device cuda]

All contenders of a row run in turn. ``foreach`` and ``fused`` have the median of their time over
ours (above 1: we are faster) with its quartiles; B is what parameters, gradients and state hold, in
bytes per parameter.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from typing import Any

import torch
from alternating import alternate, ratio, seconds
from native_nets import resnet50_shapes

from compat import optim

ROWS: list[tuple[str, str, dict[str, Any], Any, dict[str, Any]]] = [
    ("sgd", "sgd", {}, torch.optim.SGD, {}),
    (
        "sgd, momentum",
        "sgd",
        {"momentum": 0.9, "dampening": 0},
        torch.optim.SGD,
        {"momentum": 0.9},
    ),
    (
        "sgd, momentum, decay",
        "sgd",
        {"momentum": 0.9, "dampening": 0, "weightDecay": 1e-4},
        torch.optim.SGD,
        {"momentum": 0.9, "weight_decay": 1e-4},
    ),
    (
        "sgd, momentum, decay, keepGradient",
        "sgd",
        {"momentum": 0.9, "dampening": 0, "weightDecay": 1e-4, "keepGradient": True},
        torch.optim.SGD,
        {"momentum": 0.9, "weight_decay": 1e-4},
    ),
    (
        "sgd, nesterov, decay",
        "sgd",
        {"momentum": 0.9, "dampening": 0, "weightDecay": 1e-4, "nesterov": True},
        torch.optim.SGD,
        {"momentum": 0.9, "weight_decay": 1e-4, "nesterov": True},
    ),
    (
        "sgd, nesterov, decay, keepGradient",
        "sgd",
        {
            "momentum": 0.9,
            "dampening": 0,
            "weightDecay": 1e-4,
            "nesterov": True,
            "keepGradient": True,
        },
        torch.optim.SGD,
        {"momentum": 0.9, "weight_decay": 1e-4, "nesterov": True},
    ),
    ("adam", "adam", {}, torch.optim.Adam, {}),
    ("rmsprop", "rmsprop", {}, torch.optim.RMSprop, {}),
    ("adagrad", "adagrad", {}, torch.optim.Adagrad, {}),
]


def ours(name: str, config: dict[str, Any], device: str) -> tuple[Callable[[], Any], int]:
    """A step on the flat parameters, and the bytes that it holds."""
    size = sum(torch.Size(shape).numel() for shape in resnet50_shapes())
    x, gradient = torch.randn(size, device=device), torch.randn(size, device=device)
    state: dict[str, Any] = {}

    def step() -> None:
        getattr(optim, name)(lambda x: (0.0, gradient), x, config, state)

    step()
    return step, held([x, gradient, *state.values()])


def theirs(
    cls: Any, options: dict[str, Any], device: str, **kind: bool
) -> tuple[Callable[[], Any], int] | None:
    """A step of ``torch.optim``, None where it does not have this kind."""
    parameters = [torch.randn(s, device=device).requires_grad_() for s in resnet50_shapes()]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    try:
        optimizer = cls(parameters, **options, **kind)
        optimizer.step()
    except (RuntimeError, TypeError):
        return None
    tensors: list[Any] = [*parameters] + [p.grad for p in parameters]
    for state in optimizer.state.values():
        tensors += state.values()
    return optimizer.step, held(tensors)


def held(values: list[Any]) -> int:
    """The bytes of different storages."""
    tensors = [value for value in values if type(value) is torch.Tensor]
    return sum(
        {s.data_ptr(): s.nbytes() for s in map(torch.Tensor.untyped_storage, tensors)}.values()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--budget", type=float, default=3, help="seconds per row")
    parser.add_argument("--device", default="cpu", help="a device of PyTorch's")
    arguments = parser.parse_args()
    device = arguments.device
    shapes = resnet50_shapes()
    size = sum(torch.Size(shape).numel() for shape in shapes)
    print(
        f"{size / 1e6:.1f} million parameters in {len(shapes)} tensors, {device}, "
        f"{torch.get_num_threads()} threads, torch {torch.__version__}"
    )
    print(f"{'':36}{'ms':>7}{'B':>5}{'foreach':>21}{'B':>5}{'fused':>21}{'B':>5}")
    for title, name, config, cls, options in ROWS:
        contenders = {
            "ours": ours(name, config, device),
            "foreach": theirs(cls, options, device, foreach=True),
            "fused": theirs(cls, options, device, fused=True),
        }
        there = {key: value for key, value in contenders.items() if value is not None}
        times = alternate(
            {
                key: lambda step=step: seconds(step, [torch.device(device)])
                for key, (step, _) in there.items()
            },
            arguments.budget,
        )
        line = f"{title:36}{1000 * statistics.median(times['ours']):7.1f}"
        line += f"{there['ours'][1] / size:5.0f}"
        for key in ("foreach", "fused"):
            if key in there:
                middle, low, high = ratio(times, key, "ours")
                line += f"{f'{middle:.2f}  {low:.2f}..{high:.2f}':>21}{there[key][1] / size:5.0f}"
            else:
                line += f"{'-':>21}{'':5}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
