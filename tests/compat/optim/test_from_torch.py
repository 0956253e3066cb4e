"""PyTorch's optimizers, called as Torch7's."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import optim, t7


def problem(x: torch.Tensor) -> tuple[float, torch.Tensor]:
    return float((x**4).sum()), 4 * x**3


OPTIMIZERS = [
    (torch.optim.SGD, {"lr": 0.01, "momentum": 0.9, "nesterov": True}),
    (torch.optim.Adam, {"lr": 0.1, "amsgrad": True}),
    (torch.optim.AdamW, {"lr": 0.1, "weight_decay": 0.1, "fused": True}),
    (torch.optim.NAdam, {"lr": 0.1}),
    (torch.optim.RMSprop, {"lr": 0.01, "centered": True}),
    (torch.optim.Rprop, {"lr": 0.01}),
    (torch.optim.ASGD, {"lr": 0.01}),
    (torch.optim.LBFGS, {"lr": 0.1, "max_iter": 4}),
]


@pytest.mark.parametrize(("cls", "options"), OPTIMIZERS, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.parametrize("interrupted", [False, True])
def test_is_pytorchs_optimizer(cls: Any, options: dict, interrupted: bool) -> None:
    x = torch.linspace(-2, 2, 7)
    parameter = x.clone().requires_grad_()
    theirs, state = cls([parameter], **options), {}
    ours = optim.from_torch(cls, **options)
    evaluations = []

    def closure() -> torch.Tensor:
        loss, parameter.grad = problem(parameter.detach())
        evaluations[-1].append(loss)
        return torch.tensor(loss)

    for step in range(6):
        if interrupted and step == 3:
            x, state = t7.loads(t7.dumps([x, state]))
        evaluations.append([])
        theirs.step(closure)
        result, losses = ours(problem, x, {}, state)
        assert result is x
        assert torch.equal(x, parameter.detach())
        assert losses == evaluations[-1]


def test_options_may_have_torch7s_names() -> None:
    x, y = torch.linspace(-2, 2, 7), torch.linspace(-2, 2, 7)
    adamw = optim.from_torch(torch.optim.AdamW)
    config = {"learningRate": 0.1, "weightDecay": 0.2, "epsilon": 1e-6}
    adamw(problem, x, config)
    adamw(problem, y, {"lr": 0.1, "weight_decay": 0.2, "eps": 1e-6})
    assert torch.equal(x, y)
    assert config["evalCounter"] == 1


def test_the_state_may_be_the_config() -> None:
    x, y = torch.linspace(-2, 2, 7), torch.linspace(-2, 2, 7)
    adamw = optim.from_torch(torch.optim.AdamW, lr=0.1)
    together, state = {}, {}
    for _ in range(3):
        adamw(problem, x, together)
        adamw(problem, y, {}, state)
    assert torch.equal(x, y)


def test_the_learning_rate_decays() -> None:
    x, y = torch.ones(3), torch.ones(3)
    sgd = optim.from_torch(torch.optim.SGD)
    ours, theirs = {}, {}
    for _ in range(3):
        config = {"learningRate": 0.1, "learningRateDecay": 0.5}
        optim.sgd(problem, x, config, ours)
        sgd(problem, y, config, theirs)
    torch.testing.assert_close(x, y)


def test_a_step_counts_as_a_change() -> None:
    x = torch.ones(3)
    version = x._version
    optim.from_torch(torch.optim.SGD, fused=True)(problem, x)
    assert x._version > version and not x.requires_grad


def test_options_of_its_own_have_either_name() -> None:
    x, y = torch.ones(3), torch.ones(3)
    optim.from_torch(torch.optim.AdamW, learningRate=0.1, epsilon=0.5)(problem, x)
    optim.from_torch(torch.optim.AdamW, lr=0.1)(problem, y, {"eps": 0.5})
    assert torch.equal(x, y)
    with pytest.raises(
        TypeError,
        match=r"config has the option 'momentum'; for AdamW, amsgrad, .* are",
    ):
        optim.from_torch(torch.optim.AdamW, momentum=0.9)


def test_other_options_are_refused() -> None:
    x = torch.ones(3)
    with pytest.raises(
        TypeError,
        match=r"config has the option 'momentum'; for AdamW, amsgrad, .* are",
    ):
        optim.from_torch(torch.optim.AdamW)(problem, x, {"momentum": 0.9})
    assert torch.equal(x, torch.ones(3))
