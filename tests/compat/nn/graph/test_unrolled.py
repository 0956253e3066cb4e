"""An LSTM unrolled by hand in the way of char-rnn: clones that share memory through ``set_``."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch
from torch import Tensor

from compat import nn, optim, random, t7

STEPS, BATCH, VOCABULARY, SIZE = 4, 3, 5, 6


def lstm_step() -> nn.gModule:
    """One step of one layer and the prediction after it: ``{x, c, h} -> {c, h, log p}``."""
    x, c, h = nn.Identity()(), nn.Identity()(), nn.Identity()()
    embedded = nn.LookupTable(VOCABULARY, SIZE)(x)
    sums = nn.CAddTable()([nn.Linear(SIZE, 4 * SIZE)(embedded), nn.Linear(SIZE, 4 * SIZE)(h)])
    parts = nn.SplitTable(2)(nn.Reshape(4, SIZE)(sums))
    first, second, third, fourth = (nn.SelectTable(i)(parts) for i in range(1, 5))
    into, forget, out = nn.Sigmoid()(first), nn.Sigmoid()(second), nn.Sigmoid()(third)
    kept, new = nn.CMulTable()([forget, c]), nn.CMulTable()([into, nn.Tanh()(fourth)])
    next_c = nn.CAddTable()([kept, new])
    next_h = nn.CMulTable()([out, nn.Tanh()(next_c)])
    scores = nn.LogSoftMax()(nn.Linear(SIZE, VOCABULARY)(next_h))
    return nn.gModule([x, c, h], [next_c, next_h, scores])


def clone_many_times(net: Any, T: int) -> list[Any]:
    """Copies through a file in memory, whose tensors are then set to the original's."""
    params, gradParams = net.parameters() if hasattr(net, "parameters") else ([], [])
    memory = io.BytesIO(t7.dumps(net))
    clones = []
    for _ in range(T):
        memory.seek(0)
        clone = t7.load(memory)
        own, ownGradients = clone.parameters() if params else ([], [])
        for mine, theirs in zip([*own, *ownGradients], [*params, *gradParams], strict=True):
            mine.set_(theirs)
        clones.append(clone)
    return clones


class Unrolled:
    """char-rnn's ``feval`` over made-up text."""

    def __init__(self) -> None:
        random.manualSeed(123)
        self.net = lstm_step().double()
        self.criterion = nn.ClassNLLCriterion().double()
        self.params, self.gradParams = self.net.getParameters()
        random.uniform_(self.params, -0.5, 0.5)
        self.nets = clone_many_times(self.net, STEPS)
        self.criterions = clone_many_times(self.criterion, STEPS)
        self.state = [torch.zeros(BATCH, SIZE).double() for _ in range(2)]

    def feval(self, _: Tensor, x: Tensor, y: Tensor) -> tuple[float, Tensor]:
        self.gradParams.zero_()
        states, predictions, loss = {0: self.state}, {}, 0.0
        for t in range(1, STEPS + 1):
            self.nets[t - 1].training()
            *states[t], predictions[t] = self.nets[t - 1].forward([x[:, t - 1], *states[t - 1]])
            loss += self.criterions[t - 1].forward(predictions[t], y[:, t - 1])
        back = [torch.zeros_like(s) for s in self.state]
        for t in range(STEPS, 0, -1):
            down = self.criterions[t - 1].backward(predictions[t], y[:, t - 1])
            _, *back = self.nets[t - 1].backward([x[:, t - 1], *states[t - 1]], [*back, down])
        self.state = states[STEPS]
        self.gradParams.clamp_(-5, 5)
        return loss / STEPS, self.gradParams.div_(STEPS)


def by_formula(
    params: Tensor, state: list[Tensor], x: Tensor, y: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """The loss over all steps, by PyTorch's own functions on the flat parameters."""
    sizes = [(VOCABULARY, SIZE), (4 * SIZE, SIZE), (4 * SIZE,), (4 * SIZE, SIZE), (4 * SIZE,)]
    sizes += [(VOCABULARY, SIZE), (VOCABULARY,)]
    pieces = params.split([torch.Size(size).numel() for size in sizes])
    table, w, b, u, d, v, e = (p.view(size) for p, size in zip(pieces, sizes, strict=True))
    c, h = state
    loss = params.new_zeros(())
    for t in range(STEPS):
        i, f, o, g = (table[x[:, t] - 1] @ w.T + b + h @ u.T + d).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        loss = loss + torch.nn.functional.cross_entropy(h @ v.T + e, y[:, t] - 1)
    return loss / STEPS, [c.detach(), h.detach()]


def text() -> tuple[Tensor, Tensor]:
    drawn = torch.randint(1, VOCABULARY + 1, (BATCH, STEPS + 1))
    return drawn[:, :-1], drawn[:, 1:]


def test_clones_that_share_memory_train_one_net() -> None:
    run = Unrolled()
    config: dict[str, Any] = {"learningRate": 2e-2, "alpha": 0.95}
    for _ in range(5):
        x, y = text()
        flat, state = run.params.clone().requires_grad_(), [s.clone() for s in run.state]
        wanted, last = by_formula(flat, state, x, y)
        [wanted_gradient] = torch.autograd.grad(wanted, flat)
        before = run.params.clone()
        _, [loss] = optim.rmsprop(lambda p, x=x, y=y: run.feval(p, x, y), run.params, config)
        assert loss == pytest.approx(wanted.item(), abs=1e-12)
        torch.testing.assert_close(run.gradParams, wanted_gradient)
        torch.testing.assert_close(run.state, last)
        assert not torch.equal(before, run.params)
        for net in run.nets:
            assert all(map(torch.equal, net.parameters()[0], run.net.parameters()[0]))


def test_what_the_steps_kept_is_read_after_the_update() -> None:
    run = Unrolled()
    x, y = text()
    optim.sgd(lambda p: run.feval(p, x, y), run.params, {"learningRate": 0.1})
    outputs = [net.output[2].clone() for net in run.nets]
    kept = [net.get(4).output for net in run.nets]
    assert len({float(k.sum()) for k in kept}) == STEPS  # each step its own
    again = Unrolled()
    for t, net in enumerate(again.nets):
        before = again.state if t == 0 else again.nets[t - 1].output[:2]
        torch.testing.assert_close(net.forward([x[:, t], *before])[2], outputs[t])
        torch.testing.assert_close(net.get(4).output, kept[t])
