"""How many files of the library one batch visits on its way forward through a DataParallelTable.

What to know before changing that way. Counted are the files whose functions run, in all threads,
in a forward pass on two devices with worker threads, in the midst of training; those of the net's
own layers apart.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import torch

import dptable
from compat import nn

ROOT = Path(dptable.__file__).parents[1]
LAYERS = ("compat/nn/layers/", "compat/nn/containers/")
# A layer's formulas, and its way to its parameters.
LAYERS += ("compat/nn/functional/", "compat/nn/core/parameter.py")


def visited() -> Counter[str]:
    """How often functions of each file are called."""
    files: Counter[str] = Counter()
    counting = False

    def note(frame: Any, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if counting and event == "call" and path.is_relative_to(ROOT):
            name = path.relative_to(ROOT).as_posix()
            if name.startswith(("compat/", "dptable/")):
                files[name] += 1

    threading.setprofile(note)
    torch.set_num_threads(1)
    net = nn.Sequential().add(nn.Linear(4, 5)).add(nn.Tanh()).add(nn.Linear(5, 2))
    table = nn.DataParallelTable(1, True).add(net, ["cpu", "cpu"]).threads()
    parameters, gradients = table.getParameters()
    input = torch.randn(6, 4)
    for _ in range(4):
        table.zeroGradParameters()
        table.backward(input, torch.ones_like(table.forward(input)))
        parameters.add_(gradients, alpha=-0.1)
    counting = True
    sys.setprofile(note)
    table.forward(input)
    sys.setprofile(None)
    counting = False
    threading.setprofile(None)
    table.close()
    return files


def of_the_net(name: str) -> bool:
    """Whether a file is of the net's own layers."""
    return name.startswith(LAYERS)


if __name__ == "__main__":
    found = visited()
    others = [name for name in found if not of_the_net(name)]
    print(f"{len(others)} files; {len(found)} with those of the net's own layers")
    for name, calls in sorted(found.items()):
        print(f"{calls:4} calls  {name}{'  (the net)' if of_the_net(name) else ''}")
