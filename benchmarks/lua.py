"""Lua scripts on compat.lua: what operations cost, and a training step against the same in Python.

    python benchmarks/lua.py [--budget SECONDS] [--only PART] [--clock cpu|wall] [--torch7 COMMAND]

costs   what operations on tensors take from Lua, in microseconds
steps   a training step of LeNet and of an unrolled LSTM from Lua against the same net from Python

``--torch7`` names a Lua Torch7 to compare with, such as ``th`` or "luajit"; it is a command of the
shell, to which the script ``lua_programs.lua`` is given. All run one thread. The clock is by
default the CPU time of the process, which what else the machine does disturbs less; ``wall`` is
what a user waits.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from alternating import alternate, header, ratio, row
from lua_torch7 import CLOCKS, Measure, torch7
from torch import Tensor

from compat import lua, nn, nngraph, optim
from dptable.memory import keep_freed

PROGRAMS = Path(__file__).with_name("lua_programs.lua")
BATCHES = (1, 10, 64)
# As in lua_programs.lua.
VOCABULARY, SIZE, LENGTH = 50, 64, 10
# The time that one measurement of a cost is to take.
MOMENT = 0.01


def costs(
    names: list[str], contenders: dict[str, Measure], clock: str, budget: float
) -> Iterator[str]:
    yield f"{'costs, µs':32} " + " ".join(f"{name:>9}" for name in contenders) + "     ratio"
    for number, name in enumerate(names, 1):
        # Torch7 has no Python to call.
        runs = {
            who: _repeated(measure, clock, number)
            for who, measure in contenders.items()
            if not math.isnan(measure(clock, number, 1))
        }
        times = alternate(runs, budget / 10)
        medians = [1e6 * statistics.median(times[who]) for who in times]
        line = f"{name:32} " + " ".join(f"{median:9.3f}" for median in medians)
        if len(times) > 1:
            line += "  {:8.2f}  {:.2f}..{:.2f}".format(*ratio(times, *times))
        yield line


def _repeated(measure: Measure, clock: str, number: int) -> Callable[[], float]:
    """The time of one operation, measured by as many as take a moment."""
    count = 100
    while count < 10_000_000 and measure(clock, number, count) < MOMENT:
        count *= 4
    return lambda: measure(clock, number, count) / count


def lenet_step(batch: int) -> Callable[[], object]:
    """The step of lua_programs.lua, in Python."""
    net = nn.Sequential()
    for layer in (
        *(nn.SpatialConvolution(1, 6, 5, 5, 1, 1, 2, 2), nn.Tanh()),
        *(nn.SpatialMaxPooling(2, 2, 2, 2), nn.SpatialConvolution(6, 16, 5, 5), nn.Tanh()),
        *(nn.SpatialMaxPooling(2, 2, 2, 2), nn.View(400), nn.Linear(400, 120), nn.Tanh()),
        *(nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10), nn.LogSoftMax()),
    ):
        net.add(layer)
    net.float()
    criterion = nn.ClassNLLCriterion().float()
    images, labels = torch.randn(batch, 1, 28, 28), torch.randint(1, 11, (batch,)).float()
    parameters, gradients = net.getParameters()
    config = {"learningRate": 0.01, "momentum": 0.9, "dampening": 0}

    def feval(_: Tensor) -> tuple[float, Tensor]:
        gradients.zero_()
        output = net.forward(images)
        loss = criterion.forward(output, labels)
        net.backward(images, criterion.backward(output, labels))
        return loss, gradients

    return lambda: optim.sgd(feval, parameters, config)


def _cell() -> Any:
    x, c, h = nn.Identity()(), nn.Identity()(), nn.Identity()()
    sums = nn.CAddTable()([nn.Linear(VOCABULARY, 4 * SIZE)(x), nn.Linear(SIZE, 4 * SIZE)(h)])
    parts = [nn.Narrow(2, k * SIZE + 1, SIZE)(sums) for k in range(4)]
    take, keep, show = (nn.Sigmoid()(part) for part in parts[:3])
    kept, taken = nn.CMulTable()([keep, c]), nn.CMulTable()([take, nn.Tanh()(parts[3])])
    new_c = nn.CAddTable()([kept, taken])
    new_h = nn.CMulTable()([show, nn.Tanh()(new_c)])
    output = nn.LogSoftMax()(nn.Linear(SIZE, VOCABULARY)(new_h))
    return nngraph.gModule([x, c, h], [new_c, new_h, output])


def char_rnn_step(batch: int) -> Callable[[], object]:
    """The step of lua_programs.lua, in Python."""
    net = _cell().float()
    parameters, gradients = net.getParameters()
    shared = ("weight", "bias", "gradWeight", "gradBias")
    cells = [net.clone(*shared) for _ in range(LENGTH)]
    criterions = [nn.ClassNLLCriterion().float() for _ in range(LENGTH)]
    places = torch.arange(batch)
    inputs = [torch.eye(VOCABULARY)[(places + t) % VOCABULARY] for t in range(LENGTH)]
    targets = [torch.full((batch,), t + 2.0) for t in range(LENGTH)]
    zeros = torch.zeros(batch, SIZE)

    def feval(_: Tensor) -> tuple[float, Tensor]:
        gradients.zero_()
        c, h, outputs, states, loss = zeros, zeros, [], [], 0.0
        for t in range(LENGTH):
            states.append([inputs[t], c, h])
            c, h, output = cells[t].forward(states[t])
            outputs.append(output)
            loss += criterions[t].forward(output, targets[t])
        dc, dh = zeros, zeros
        for t in reversed(range(LENGTH)):
            dy = criterions[t].backward(outputs[t], targets[t])
            _, dc, dh = cells[t].backward(states[t], [dc, dh, dy])
        gradients.clamp_(-5, 5)
        return loss / LENGTH, gradients

    config = {"learningRate": 2e-3, "alpha": 0.95}
    return lambda: optim.rmsprop(feval, parameters, config)


STEPS = {"LeNet": lenet_step, "char-rnn": char_rnn_step}


def steps(contenders: dict[str, Measure], clock: str, budget: float) -> Iterator[str]:
    tables: dict[str, list[str]] = {"Python": [], **{who: [] for who in list(contenders)[1:]}}
    for name, make in STEPS.items():
        for batch in BATCHES:
            step = make(batch)

            def python(step: Callable[[], object] = step) -> float:
                start = CLOCKS[clock]()
                step()
                return CLOCKS[clock]() - start

            runs = {"Python": python}
            for who, measure in contenders.items():
                runs[who] = lambda measure=measure: measure(clock, name, batch)  # noqa: B023
            times = alternate(runs, budget)
            for other, rows in tables.items():
                rows.append(row(f"{name}, batch {batch}", times, "Lua", other))
    for other, rows in tables.items():
        yield header("steps", "Lua", other)
        yield from rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Lua scripts on compat.lua.")
    parser.add_argument("--budget", type=float, default=10, help="seconds for each comparison")
    parser.add_argument("--only", choices=["costs", "steps"])
    parser.add_argument("--clock", choices=CLOCKS, default="cpu")
    parser.add_argument("--torch7", metavar="COMMAND", help="a Lua Torch7 to compare with")
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {options.clock} time")
    keep_freed()
    torch.set_num_threads(1)
    runtime = lua.Runtime()
    runtime.globals()["BENCHMARKS"] = f"{PROGRAMS.parent}/"
    names, cost, step = runtime.execute(PROGRAMS.read_text())
    measures: dict[str, dict[str, Measure]] = {"costs": {"Lua": cost}, "steps": {"Lua": step}}

    def run() -> None:
        for part, lines in (("costs", costs), ("steps", steps)):
            if options.only in (None, part):
                given = [list(names)] if part == "costs" else []
                for line in lines(*given, measures[part], options.clock, options.budget):
                    print(line, flush=True)

    if options.torch7 is None:
        run()
        return
    with torch7(options.torch7, PROGRAMS) as other:
        measures["costs"]["Torch7"] = other("cost")
        measures["steps"]["Torch7"] = other("step")
        run()


if __name__ == "__main__":
    main()
