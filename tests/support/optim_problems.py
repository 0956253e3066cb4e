"""The functions that the optim recordings minimise; tests/golden/optim/README.md defines them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Problem = Callable[[torch.Tensor], tuple[float, torch.Tensor]]


def quadratic(data: dict[str, Any]) -> Problem:
    a, b = data["A"], data["b"]

    def opfunc(x: torch.Tensor) -> tuple[float, torch.Tensor]:
        flat = x.reshape(-1)
        product = a @ flat
        return (0.5 * flat.dot(product) - b.dot(flat)).item(), (product - b).view_as(x)

    return opfunc


def rosenbrock(data: dict[str, Any]) -> Problem:
    del data

    def opfunc(x: torch.Tensor) -> tuple[float, torch.Tensor]:
        head, tail = x[:-1], x[1:]
        gap = tail - head**2
        gradient = torch.zeros_like(x)
        gradient[:-1] += -400 * head * gap - 2 * (1 - head)
        gradient[1:] += 200 * gap
        return (100 * gap**2 + (1 - head) ** 2).sum().item(), gradient

    return opfunc


def logistic(data: dict[str, Any]) -> Problem:
    inputs, labels, decay = data["X"], data["y"], data["lambda"]

    def opfunc(x: torch.Tensor) -> tuple[float, torch.Tensor]:
        margin = labels * (inputs @ x)
        loss = torch.log1p(torch.exp(-margin)).mean() + decay / 2 * x.dot(x)
        weights = -labels / (1 + torch.exp(margin)) / len(labels)
        return loss.item(), inputs.t() @ weights + decay * x

    return opfunc


PROBLEMS = {"quadratic": quadratic, "rosenbrock": rosenbrock, "logistic": logistic}


def problem_of(case: dict[str, Any]) -> Problem:
    return PROBLEMS[case["problem"]](case["data"])
