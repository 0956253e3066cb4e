"""The programs of ``ported.py`` as one writes them for torch.nn: what a user would port them to.

``SAME_WORK`` has them doing all that Torch7's do: they also compute the gradient of the input, fill
gradients with zeros and add to them, and go back through each clone by itself. No port that keeps
what scripts may read can be faster than these are.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# As in ported_programs.lua.
VOCABULARY = 65

Step = Callable[[], object]


def one_hot(batch: int, t: int) -> Tensor:
    return torch.eye(VOCABULARY)[(torch.arange(1, batch + 1) + t) % VOCABULARY]


class LSTMCell(nn.Module):
    states = 2

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.i2h, self.h2h = nn.Linear(inputs, 4 * size), nn.Linear(size, 4 * size)

    def forward(self, x: Tensor, c: Tensor, h: Tensor) -> list[Tensor]:
        n1, n2, n3, n4 = (self.i2h(x) + self.h2h(h)).chunk(4, 1)
        c = torch.sigmoid(n2) * c + torch.sigmoid(n1) * torch.tanh(n4)
        return [c, torch.sigmoid(n3) * torch.tanh(c)]


class GRUCell(nn.Module):
    states = 1

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.i2h = nn.ModuleList(nn.Linear(inputs, size) for _ in range(3))
        self.h2h = nn.ModuleList(nn.Linear(size, size) for _ in range(3))

    def forward(self, x: Tensor, h: Tensor) -> list[Tensor]:
        update = torch.sigmoid(self.i2h[0](x) + self.h2h[0](h))
        reset = torch.sigmoid(self.i2h[1](x) + self.h2h[1](h))
        candidate = torch.tanh(self.i2h[2](x) + self.h2h[2](reset * h))
        return [update * candidate + (1 - update) * h]


class Characters(nn.Module):
    """Cells above each other, unrolled over a sequence; the scores of all next characters."""

    def __init__(self, cell: type[LSTMCell] | type[GRUCell], size: int, layers: int) -> None:
        super().__init__()
        self.size, self.count = size, cell.states
        self.cells = nn.ModuleList(cell(size if i else VOCABULARY, size) for i in range(layers))
        self.decoder = nn.Linear(size, VOCABULARY)

    def forward(self, xs: list[Tensor]) -> list[Tensor]:
        states, scores = self.zeros(len(xs[0])), []
        for x in xs:
            states, score = self.step(x, states)
            scores.append(score)
        return scores

    def zeros(self, batch: int) -> list[list[Tensor]]:
        return [[torch.zeros(batch, self.size)] * self.count for _ in self.cells]

    def step(self, x: Tensor, states: list[list[Tensor]]) -> tuple[list[list[Tensor]], Tensor]:
        """The states of all cells after a character, and the scores of the next one."""
        new = []
        for cell, own in zip(self.cells, states, strict=True):
            new.append(cell(x, *own))
            x = new[-1][-1]
        return new, F.log_softmax(self.decoder(x), 1)


CELLS = {"lstm": LSTMCell, "gru": GRUCell}


def clones(kind: str, same_work: bool = False) -> Callable[..., Step]:
    def make(size: int, layers: int, steps: int, batch: int) -> Step:
        net = Characters(CELLS[kind], size, layers)
        optimizer = torch.optim.RMSprop(net.parameters(), 2e-3, 0.95)
        xs = [one_hot(batch, t) for t in range(1, steps + 1)]
        targets = [torch.full((batch,), t % VOCABULARY) for t in range(1, steps + 1)]
        there_and_back = each_by_itself if same_work else as_one_graph

        def step() -> float:
            optimizer.zero_grad(set_to_none=not same_work)
            loss = there_and_back(net, xs, targets)
            torch.nn.utils.clip_grad_value_(net.parameters(), 5)
            optimizer.step()
            return loss / steps

        return step

    return make


def as_one_graph(net: Characters, xs: list[Tensor], targets: list[Tensor]) -> float:
    loss = sum(F.nll_loss(s, t) for s, t in zip(net(xs), targets, strict=True))
    assert isinstance(loss, Tensor)
    loss.backward()
    return loss.item()


def each_by_itself(net: Characters, xs: list[Tensor], targets: list[Tensor]) -> float:
    """A graph for each step, as clones have them, through which one goes back by hand."""
    states, total, passes = net.zeros(len(xs[0])), 0.0, []
    for x, target in zip(xs, targets, strict=True):
        states = [[leaf(state) for state in own] for own in states]
        new, score = net.step(leaf(x), states)
        end = leaf(score)
        loss = F.nll_loss(end, target)
        total += loss.item()
        passes.append((states, new, score, end, loss))
        states = new
    back = net.zeros(len(xs[0]))
    for states, new, score, end, loss in reversed(passes):
        loss.backward()
        outputs = [state for own in new for state in own]
        gradients = [gradient for own in back for gradient in own]
        torch.autograd.backward([*outputs, score], [*gradients, end.grad])
        back = [[state.grad for state in own] for own in states]
    return total


def leaf(tensor: Tensor) -> Tensor:
    return tensor.detach().requires_grad_()


def training(
    net: nn.Module, input: Tensor | list[Tensor], labels: Tensor, same_work: bool = False
) -> Step:
    optimizer = torch.optim.SGD(net.parameters(), 0.01, fused=True)
    inputs = input if isinstance(input, list) else [input]

    def step() -> float:
        optimizer.zero_grad(set_to_none=not same_work)
        for tensor in inputs if same_work else ():
            tensor.grad = None
            tensor.requires_grad_()
        output = net(input)
        output = torch.cat(output) if isinstance(output, list) else output
        loss = F.nll_loss(output, labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def unrolled(kind: str, same_work: bool = False) -> Callable[..., Step]:
    def make(size: int, layers: int, steps: int, batch: int) -> Step:
        net = Characters(CELLS[kind], size, layers)
        xs = [one_hot(batch, t) for t in range(1, steps + 1)]
        return training(net, xs, torch.arange(steps * batch) % VOCABULARY, same_work)

    return make


def tiny(layers: int, size: int, batch: int, same_work: bool = False) -> Step:
    pairs = ((nn.Linear(size, size), nn.Tanh()) for _ in range(layers // 2))
    net = nn.Sequential(*(m for pair in pairs for m in pair), nn.LogSoftmax(1))
    return training(net, torch.randn(batch, size), torch.zeros(batch).long(), same_work)


def samples(net: nn.Module, shape: tuple[int, ...], count: int, same_work: bool) -> Step:
    optimizer = torch.optim.SGD(net.parameters(), 0.01, fused=True)
    examples = [(torch.randn(shape), torch.tensor(i % 10)) for i in range(1, count + 1)]

    def step() -> None:
        for input, label in examples:
            optimizer.zero_grad(set_to_none=not same_work)
            if same_work:
                input = leaf(input)
            loss = F.nll_loss(net(input), label)
            loss.backward()
            optimizer.step()
            loss.item()

    return step


def lenet_samples(count: int, same_work: bool = False) -> Step:
    net = nn.Sequential(
        *(nn.Conv2d(1, 6, 5), nn.Tanh(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.Tanh(), nn.MaxPool2d(2)),
        *(nn.Flatten(0), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh()),
        *(nn.Linear(84, 10), nn.LogSoftmax(0)),
    )
    return samples(net, (1, 32, 32), count, same_work)


def mlp_samples(inputs: int, hidden: int, count: int, same_work: bool = False) -> Step:
    net = nn.Sequential(
        nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, 10), nn.LogSoftmax(0)
    )
    return samples(net, (inputs,), count, same_work)


def reinforce(hidden: int, steps: int, same_work: bool = False) -> Step:
    net = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 2), nn.LogSoftmax(0))
    optimizer = torch.optim.SGD(net.parameters(), 0.01, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=not same_work)
        forward = (lambda state: net(leaf(state))) if same_work else net
        episode(forward, lambda scores, grad, _: scores.backward(grad), steps)
        optimizer.step()

    return step


def episode(
    forward: Callable[[Tensor], Tensor],
    backward: Callable[[Tensor, Tensor, Tensor], object],
    steps: int,
) -> None:
    """The made-up world of ported_programs.lua, number by number."""
    state, baseline = torch.tensor([0.1, 0, -0.1, 0]), 0.0
    for _ in range(steps):
        scores = forward(state)
        action = 0 if random.random() < math.exp(scores[0].item()) else 1
        push = -1 if action == 0 else 1
        reward = 1 - abs(state[0].item()) - (1 if abs(state[2].item()) > 0.5 else 0)
        baseline = 0.9 * baseline + 0.1 * reward
        gradient = torch.zeros(2)
        gradient[action] = -(reward - baseline)
        backward(scores, gradient, state)
        new = state.clone()
        for i in (0, 2):
            new[i] = state[i] + 0.02 * state[i + 1]
            new[i + 1] = 0.9 * state[i + 1] + 0.1 * push * (1 - i)
        state = new


PROGRAMS: dict[str, Callable[..., Step]] = {
    "clones_lstm": clones("lstm"),
    "clones_gru": clones("gru"),
    "unrolled_lstm": unrolled("lstm"),
    "unrolled_gru": unrolled("gru"),
    "tiny": tiny,
    "lenet_samples": lenet_samples,
    "mlp_samples": mlp_samples,
    "reinforce": reinforce,
}
SAME_WORK: dict[str, Callable[..., Step]] = {
    name: partial(make, same_work=True)
    for name, make in PROGRAMS.items()
    if not name.startswith(("clones", "unrolled"))
} | {
    "clones_lstm": clones("lstm", same_work=True),
    "clones_gru": clones("gru", same_work=True),
    "unrolled_lstm": unrolled("lstm", same_work=True),
    "unrolled_gru": unrolled("gru", same_work=True),
}
