"""``dptable selftest``: check an installation in a few seconds, without the test suite."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from compat import cutorch, nn, optim, random, t7
from dptable.container.files import DataParallelTable


def run(args: Any) -> int:
    """Run every check and print a line for each; return 1 if one failed."""
    failed = 0
    for name, check in CHECKS.items():
        try:
            result = check()
        except Exception as error:
            failed += 1
            result = f"FAILED: {type(error).__name__}: {str(error).splitlines()[0]}"
        print(f"{name:<24} {result}", flush=True)
    return 1 if failed else 0


def _net() -> nn.Sequential:
    random.manualSeed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3), nn.LogSoftMax())


def _batch() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.linspace(-1, 1, 24).reshape(6, 4), torch.arange(6) % 3 + 1


def _training() -> str:
    """Train a small net: the loss must fall."""
    net, criterion = _net().float(), nn.ClassNLLCriterion().float()
    input, target = _batch()
    params, gradients = net.getParameters()

    def feval(_: Any) -> tuple[Any, torch.Tensor]:
        net.zeroGradParameters()
        loss = criterion.forward(net.forward(input), target)
        net.backward(input, criterion.backward(net.output, target))
        return loss, gradients

    losses = [optim.sgd(feval, params, {"learningRate": 0.5})[1][0] for _ in range(20)]
    if not losses[-1] < losses[0]:
        raise ArithmeticError(f"the loss went from {losses[0]} to {losses[-1]}")
    return f"ok: loss {float(losses[0]):.3f} -> {float(losses[-1]):.3f}"


def _file() -> str:
    """Write a net to a .t7 file and read it: both must compute the same."""
    net, (input, _) = _net().float(), _batch()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.t7"
        t7.save(path, net)
        size = path.stat().st_size
        torch.testing.assert_close(t7.load(path).forward(input), net.forward(input))
    return f"ok: {size:,} bytes written and read"


def _replicas() -> str:
    """Divide a batch between two replicas: the gradients must be those of one net."""
    alone, (input, _) = _net().float(), _batch()
    both: nn.Module = alone.clone()
    devices = [str(device) for device in cutorch.devices()]
    both = DataParallelTable(1, True).add(both, [1, 2] if len(devices) > 1 else [1]).threads()
    found = []
    for net in (alone, both):
        net.zeroGradParameters()
        output = net.forward(input)
        net.backward(input, torch.ones_like(output))
        found.append(net.getParameters()[1].clone().cpu())
    torch.testing.assert_close(found[0], found[1])
    return f"ok: on {', '.join(devices[:2])}"


def _lua() -> str:
    """Run a line of Lua, if the extra is installed."""
    if importlib.util.find_spec("lupa") is None:
        return "skipped: the extra [lua] is not installed"
    from compat import lua

    runtime = lua.Runtime()
    try:
        total = runtime.eval("torch.range(1, 4):sum()")
    finally:
        runtime.close()
    if total != 10:
        raise ArithmeticError(f"1 + 2 + 3 + 4 is {total} in Lua")
    return "ok"


CHECKS: dict[str, Callable[[], str]] = {
    "forward and backward": _training,
    ".t7 files": _file,
    "two replicas": _replicas,
    "Lua": _lua,
}
