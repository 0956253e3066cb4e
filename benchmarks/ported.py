"""Ported programs whose tensors are small: compat from Python against torch.nn and Lua Torch7.

    python benchmarks/ported.py [--budget SECONDS] [--only PART] [--clock cpu|wall]
                                [--torch7 COMMAND] [--compile] [--same-work]

Old scripts are full of single samples and unrolled recurrent nets, where the operators take little
and what is around them shows. A step of each program is a pass forward and back, or several, and an
update of the parameters:

clones    char-rnn: a gModule of one step of an LSTM or GRU, cloned for each character
unrolled  the same as one gModule of the whole sequence
tiny      a Sequential of 100 layers on 10 numbers
samples   a LeNet and an MLP 3072-1536-10, fed sample by sample as StochasticGradient does
reinforce a policy of four numbers, gone back from after each action

Against torch.nn as one writes it there, without compilation (``ported_torch.py``), and, with
``--torch7``, against a Lua Torch7 (``ported_programs.lua``): a command of the shell such as ``th``.
With ``--same-work`` also against torch.nn doing all that Torch7 does, which torch.nn's users leave
out: gradients of the input, zeroing and adding, a graph for each clone. With ``--compile`` there is
a table for ``net.compile()``, too; to compile takes minutes.

All run one thread. The clock is by default the CPU time of the process, which what else the machine
does disturbs less; ``wall`` is what a user waits.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import ported_torch
import torch
from alternating import alternate, header, row
from lua_torch7 import CLOCKS, Measure, torch7
from ported_torch import VOCABULARY, Step, episode, one_hot
from torch import Tensor

from compat import nn, nngraph, optim
from dptable.memory import keep_freed

# Title, name and numbers of each program.
PROGRAMS: list[tuple[str, str, tuple[int, ...]]] = [
    ("clones LSTM 32x2, 20x10", "clones_lstm", (32, 2, 20, 10)),
    ("clones LSTM 128x2, 50x50", "clones_lstm", (128, 2, 50, 50)),
    ("clones GRU 32x2, 20x10", "clones_gru", (32, 2, 20, 10)),
    ("unrolled LSTM 32x2, 20x10", "unrolled_lstm", (32, 2, 20, 10)),
    ("unrolled LSTM 128x2, 50x50", "unrolled_lstm", (128, 2, 50, 50)),
    ("unrolled GRU 32x2, 20x10", "unrolled_gru", (32, 2, 20, 10)),
    ("tiny, 100 layers, 10x10", "tiny", (100, 10, 10)),
    ("samples LeNet, 10 times", "lenet_samples", (10,)),
    ("samples MLP, 10 times", "mlp_samples", (3072, 1536, 10)),
    ("reinforce, 20 actions", "reinforce", (32, 20)),
]
# A step, and the nets that it calls.
Ported = tuple[Step, list[nn.Module]]
SHARED = ("weight", "bias", "gradWeight", "gradBias")
STATES = {"lstm": 2, "gru": 1}


class SharedLinears:
    """Linear layers in the order in which a cell asks for them.

    In every further cell, which begins with ``again``, they have the same parameters.
    """

    def __init__(self) -> None:
        self._made: list[nn.Module] = []
        self._position = 0

    def again(self) -> None:
        self._position = 0

    def __call__(self, inputs: int, outputs: int) -> nn.Module:
        self._position += 1
        if self._position <= len(self._made):
            return self._made[self._position - 1].clone(*SHARED)
        self._made.append(nn.Linear(inputs, outputs))
        return self._made[-1]


def _lstm(linear: SharedLinears, x: Any, inputs: int, size: int, states: list[Any]) -> list[Any]:
    c, h = states
    sums = nn.CAddTable()([linear(inputs, 4 * size)(x), linear(size, 4 * size)(h)])
    n1, n2, n3, n4 = nn.SplitTable(2)(nn.Reshape(4, size)(sums)).split(4)
    take, keep, show = nn.Sigmoid()(n1), nn.Sigmoid()(n2), nn.Sigmoid()(n3)
    kept, taken = nn.CMulTable()([keep, c]), nn.CMulTable()([take, nn.Tanh()(n4)])
    next_c = nn.CAddTable()([kept, taken])
    return [next_c, nn.CMulTable()([show, nn.Tanh()(next_c)])]


def _gru(linear: SharedLinears, x: Any, inputs: int, size: int, states: list[Any]) -> list[Any]:
    (h,) = states

    def sums(hidden: Any) -> Any:
        return nn.CAddTable()([linear(inputs, size)(x), linear(size, size)(hidden)])

    update, reset = nn.Sigmoid()(sums(h)), nn.Sigmoid()(sums(h))
    candidate = nn.Tanh()(sums(nn.CMulTable()([reset, h])))
    rest = nn.AddConstant(1, False)(nn.MulConstant(-1, False)(update))
    return [nn.CAddTable()([nn.CMulTable()([update, candidate]), nn.CMulTable()([rest, h])])]


def _step(
    kind: str, linear: SharedLinears, x: Any, size: int, layers: int, states: list[Any]
) -> tuple[list[Any], Any]:
    """The states of all layers and the scores of the next character."""
    cell, count = {"lstm": _lstm, "gru": _gru}[kind], STATES[kind]
    new: list[Any] = []
    for layer in range(layers):
        own = states[layer * count : (layer + 1) * count]
        new += cell(linear, x, size if layer else VOCABULARY, size, own)
        x = new[-1]
    return new, nn.LogSoftMax()(linear(size, VOCABULARY)(x))


def _inputs(count: int) -> list[Any]:
    return [nn.Identity()() for _ in range(count)]


def clones(kind: str) -> Callable[..., Ported]:
    def make(size: int, layers: int, steps: int, batch: int) -> Ported:
        x, states = nn.Identity()(), _inputs(STATES[kind] * layers)
        new, scores = _step(kind, SharedLinears(), x, size, layers, states)
        net = nngraph.gModule([x, *states], [*new, scores]).float()
        parameters, gradients = net.getParameters()
        cells = [net.clone(*SHARED) for _ in range(steps)]
        criterions = [nn.ClassNLLCriterion().float() for _ in range(steps)]
        xs = [one_hot(batch, t) for t in range(1, steps + 1)]
        targets = [torch.full((batch,), t % VOCABULARY + 1.0) for t in range(1, steps + 1)]
        zeros = [torch.zeros(batch, size) for _ in states]

        def feval(_: Tensor) -> tuple[float, Tensor]:
            gradients.zero_()
            inputs, outputs, now, loss = [], [], zeros, 0.0
            for t in range(steps):
                inputs.append([xs[t], *now])
                *now, output = cells[t].forward(inputs[t])
                outputs.append(output)
                loss += criterions[t].forward(output, targets[t])
            back = zeros
            for t in reversed(range(steps)):
                last = criterions[t].backward(outputs[t], targets[t])
                _, *back = cells[t].backward(inputs[t], [*back, last])
            gradients.clamp_(-5, 5)
            return loss / steps, gradients

        config = {"learningRate": 2e-3, "alpha": 0.95}
        return lambda: optim.rmsprop(feval, parameters, config), cells

    return make


def training(net: nn.Module, input: Any, labels: Tensor) -> Ported:
    net.float()
    criterion = nn.ClassNLLCriterion().float()
    parameters, gradients = net.getParameters()
    config = {"learningRate": 0.01}

    def feval(_: Tensor) -> tuple[float, Tensor]:
        gradients.zero_()
        output = net.forward(input)
        loss = criterion.forward(output, labels)
        net.backward(input, criterion.backward(output, labels))
        return loss, gradients

    return lambda: optim.sgd(feval, parameters, config), [net]


def unrolled(kind: str) -> Callable[..., Ported]:
    def make(size: int, layers: int, steps: int, batch: int) -> Ported:
        linear, xs, initial = SharedLinears(), _inputs(steps), _inputs(STATES[kind] * layers)
        states, every = initial, []
        for x in xs:
            linear.again()
            states, scores = _step(kind, linear, x, size, layers, states)
            every.append(scores)
        net = nngraph.gModule([*xs, *initial], [nn.JoinTable(1)(every)])
        input = [one_hot(batch, t) for t in range(1, steps + 1)]
        input += [torch.zeros(batch, size) for _ in initial]
        return training(net, input, torch.arange(steps * batch) % VOCABULARY + 1.0)

    return make


def tiny(layers: int, size: int, batch: int) -> Ported:
    net = nn.Sequential()
    for _ in range(layers // 2):
        net.add(nn.Linear(size, size)).add(nn.Tanh())
    return training(net.add(nn.LogSoftMax()), torch.randn(batch, size), torch.ones(batch))


def samples(net: nn.Module, shape: tuple[int, ...], count: int) -> Ported:
    net.float()
    criterion = nn.ClassNLLCriterion().float()
    examples = [(torch.randn(shape), i % 10 + 1) for i in range(1, count + 1)]

    def step() -> None:
        for input, label in examples:
            criterion.forward(net.forward(input), label)
            net.zeroGradParameters()
            net.backward(input, criterion.backward(net.output, label))
            net.updateParameters(0.01)

    return step, [net]


def lenet_samples(count: int) -> Ported:
    net = nn.Sequential()
    for layer in (
        *(nn.SpatialConvolution(1, 6, 5, 5), nn.Tanh(), nn.SpatialMaxPooling(2, 2, 2, 2)),
        *(nn.SpatialConvolution(6, 16, 5, 5), nn.Tanh(), nn.SpatialMaxPooling(2, 2, 2, 2)),
        *(nn.Reshape(400), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh()),
        *(nn.Linear(84, 10), nn.LogSoftMax()),
    ):
        net.add(layer)
    return samples(net, (1, 32, 32), count)


def mlp_samples(inputs: int, hidden: int, count: int) -> Ported:
    net = nn.Sequential().add(nn.Linear(inputs, hidden)).add(nn.Tanh())
    return samples(net.add(nn.Linear(hidden, 10)).add(nn.LogSoftMax()), (inputs,), count)


def reinforce(hidden: int, steps: int) -> Ported:
    net = nn.Sequential().add(nn.Linear(4, hidden)).add(nn.Tanh())
    net.add(nn.Linear(hidden, 2)).add(nn.LogSoftMax()).float()

    def step() -> None:
        net.zeroGradParameters()
        episode(net.forward, lambda _, gradient, state: net.backward(state, gradient), steps)
        net.updateParameters(0.01)

    return step, [net]


OURS: dict[str, Callable[..., Ported]] = {
    "clones_lstm": clones("lstm"),
    "clones_gru": clones("gru"),
    "unrolled_lstm": unrolled("lstm"),
    "unrolled_gru": unrolled("gru"),
    "tiny": tiny,
    "lenet_samples": lenet_samples,
    "mlp_samples": mlp_samples,
    "reinforce": reinforce,
}


def timed(step: Step, clock: Callable[[], float]) -> Callable[[], float]:
    def run() -> float:
        start = clock()
        step()
        return clock() - start

    return run


def compare(options: argparse.Namespace, other: Measure | None) -> None:
    clock = options.clock
    rows: dict[tuple[str, str], list[str]] = {
        (ours, theirs): []
        for theirs in ("torch.nn", "same work", "Torch7")
        for ours in ("compat", "compiled")
    }
    for title, name, numbers in PROGRAMS:
        if options.only not in (None, title.split()[0].strip(",")):
            continue
        contenders = {
            "compat": timed(OURS[name](*numbers)[0], CLOCKS[clock]),
            "torch.nn": timed(ported_torch.PROGRAMS[name](*numbers), CLOCKS[clock]),
        }
        if options.same_work:
            same_work = ported_torch.SAME_WORK[name](*numbers)
            contenders["same work"] = timed(same_work, CLOCKS[clock])
        if options.compile:
            step, nets = OURS[name](*numbers)
            for net in nets:
                net.compile()
            contenders["compiled"] = timed(step, CLOCKS[clock])
        if other is not None:
            contenders["Torch7"] = lambda: other(clock, name, *numbers)  # noqa: B023
        times = alternate(contenders, options.budget)
        for pair, found in rows.items():
            if times.keys() >= set(pair):
                found.append(row(title, times, *pair))
    for pair, found in rows.items():
        if found:
            print(header(f"programs, {clock} time", *pair))
            print("\n".join(found), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Ported programs whose tensors are small.")
    parser.add_argument("--budget", type=float, default=10, help="seconds for each comparison")
    parts = dict.fromkeys(title.split()[0].strip(",") for title, _, _ in PROGRAMS)
    parser.add_argument("--only", choices=parts)
    parser.add_argument("--clock", choices=CLOCKS, default="cpu")
    parser.add_argument("--compile", action="store_true", help="compiled nets, too")
    parser.add_argument("--same-work", action="store_true", help="torch.nn with all of it, too")
    parser.add_argument("--torch7", metavar="COMMAND", help="a Lua Torch7 to compare with")
    options = parser.parse_args()
    print(f"torch {torch.__version__}, one thread")
    keep_freed()
    torch.set_num_threads(1)
    programs = Path(__file__).with_name("ported_programs.lua")
    serving = torch7(options.torch7, programs) if options.torch7 else nullcontext()
    with serving as other:
        step = other("step") if other else None
        compare(options, step)


if __name__ == "__main__":
    main()
