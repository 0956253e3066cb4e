"""Covariance matrix adaptation evolution strategy (CMA-ES)."""

from __future__ import annotations

import math

import torch

from compat import random
from compat.optim.support.opfunc import OpFunc, loss_at
from compat.optim.support.options import Table, option, tables
from compat.optim.support.vectors import flat


def cmaes(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list[float], int]:
    """Minimise by CMA-ES (after Hansen's barecmaes2), Torch7's ``optim.cmaes``.

    It draws from the default generator of ``compat.random``.

    Args:
        opfunc: ``opfunc(x)`` returns the loss, or the loss and a gradient, which is not used.
        x: the start; not changed.
        config: ``sigma``, the first standard deviation of every coordinate, is required;
            ``maxEval`` (1000 n^2), ``ftarget``, the loss to stop at, ``popsize`` (4 + 3 log n),
            ``min_iterations`` (1), ``verb_disp`` (0): iterations between two printed lines.
        state: further options, with precedence over ``config``.

    Returns:
        The best point found, as a flat double tensor; a list with the loss at ``x``, the best loss
        of every generation and the best of all; the number of evaluations.

    Raises:
        ValueError: ``sigma`` is missing or not positive.
    """
    config, state = tables(config, state)
    options = {**config, **state}
    sigma = option(options, "sigma", 0)
    if sigma <= 0:
        raise ValueError(
            f"config['sigma'] is {options.get('sigma')}; a positive number is accepted"
        )
    start = flat(x).to("cpu", torch.float64)
    n = start.numel()
    max_eval = option(options, "maxEval", 1e3 * n**2)
    target = option(options, "ftarget", -math.inf)
    evolution = Evolution(start.clone(), sigma, option(options, "popsize", None))
    report = option(options, "verb_disp", 0)

    def loss(point: torch.Tensor) -> float:
        return loss_at(opfunc, point.to(x).view_as(x))

    losses = [loss(start)]
    best, best_loss = start, math.inf
    iteration = 0
    while iteration < option(options, "min_iterations", 1) or not (
        evolution.evals >= max_eval or losses[-1] <= target or evolution.converged()
    ):
        iteration += 1
        points = evolution.ask()
        fitness = torch.tensor([loss(point) for point in points], dtype=torch.float64)
        order = fitness.argsort(stable=True)
        evolution.tell(points[order], fitness[order])
        losses.append(float(fitness[order[0]]))
        if losses[-1] < best_loss:
            best, best_loss = points[order[0]].clone(), losses[-1]
        if report and (iteration <= 2 or iteration % report == 0):
            print(f"{evolution.evals}: {evolution.summary()} {losses[-1]}")
    if report:
        print(f"best f-value = {best_loss}, total iterations: {iteration}")
    return best, [*losses, best_loss], evolution.evals


class Evolution:
    """A normal distribution that is moved towards points with small losses."""

    def __init__(self, mean: torch.Tensor, sigma: float, popsize: int | None) -> None:
        n = mean.numel()
        self.mean = mean
        self.sigma = sigma
        self.popsize = int(4 + math.floor(3 * math.log(n)) if popsize is None else popsize)
        mu = self.popsize / 2
        ranks = torch.arange(1, int(mu) + 1, dtype=torch.float64)
        weights = math.log(mu + 0.5) - ranks.log()
        self.weights = weights / weights.sum()
        self.mueff = float(1 / (self.weights**2).sum())
        self.cc = (4 + self.mueff / n) / (n + 4 + 2 * self.mueff / n)
        self.cs = (self.mueff + 2) / (n + self.mueff + 5)
        self.c1 = 2 / ((n + 1.3) ** 2 + self.mueff)
        rate = 2 * (self.mueff - 2 + 1 / self.mueff) / ((n + 2) ** 2 + self.mueff)
        self.cmu = min(1 - self.c1, rate)
        self.damps = 2 * self.mueff / self.popsize + 0.3 + self.cs
        self.pc = torch.zeros_like(mean)
        self.ps = torch.zeros_like(mean)
        self.basis = torch.eye(n, dtype=torch.float64)
        self.scales = torch.ones_like(mean)
        self.covariance = torch.eye(n, dtype=torch.float64)
        self.inverse_root = torch.eye(n, dtype=torch.float64)
        self.evals = 0
        self.decomposed_at = 0
        self.spread = math.inf

    def ask(self) -> torch.Tensor:
        """Draw new points, one per row."""
        n = self.mean.numel()
        interval = self.popsize / (self.c1 + self.cmu) / n / 10
        if self.evals - self.decomposed_at > interval:
            self.decomposed_at = self.evals
            upper = self.covariance.triu()
            self.covariance = upper + upper.triu(1).t()
            variances, self.basis = torch.linalg.eigh(self.covariance)
            self.scales = variances.sqrt()
            self.inverse_root = self.basis @ torch.diag(1 / self.scales) @ self.basis.t()
        z = torch.empty(self.popsize, n, dtype=torch.float64)
        random.normal_(z, 0, 1)
        return self.mean + (z * self.scales) @ self.basis.t() * self.sigma

    def tell(self, points: torch.Tensor, fitness: torch.Tensor) -> None:
        """Update the distribution by the points of one generation, the best first."""
        n = self.mean.numel()
        self.evals += self.popsize
        self.spread = float(fitness[-1] - fitness[0])
        points = points[: len(self.weights)]
        old = self.mean
        self.mean = points.t() @ self.weights
        move = self.mean - old

        c = (self.cs * (2 - self.cs) * self.mueff) ** 0.5 / self.sigma
        self.ps = self.ps - self.ps * self.cs + self.inverse_root @ move * c
        length = float((self.ps**2).sum())
        unbiased = length / (1 - (1 - self.cs) ** (2 * self.evals / self.popsize)) / n
        hsig = 1.0 if unbiased < 2 + 4 / (n + 1) else 0.0
        c = (self.cc * (2 - self.cc) * self.mueff) ** 0.5 / self.sigma
        self.pc = self.pc - self.pc * self.cc + move * (c * hsig)

        c1a = self.c1 - (1 - hsig**2) * self.c1 * self.cc * (2 - self.cc)
        steps = points - old
        rank_mu = steps.t() @ (self.weights.unsqueeze(1) * steps) / self.sigma**2
        self.covariance += (
            (-c1a - self.cmu) * self.covariance
            + self.c1 * torch.outer(self.pc, self.pc)
            + self.cmu * rank_mu
        )
        self.sigma *= math.exp(min(0.6, (self.cs / self.damps) * (length / n - 1) / 2))

    def converged(self) -> bool:
        """Return whether the distribution has become too flat, too narrow, or its losses equal."""
        widest, narrowest = float(self.scales.max()), float(self.scales.min())
        return self.evals > 0 and (
            widest > 1e7 * narrowest
            or (self.popsize > 1 and self.spread < 1e-12)
            or self.sigma * widest < 1e-11
        )

    def summary(self) -> str:
        """Return the axis ratio and the largest standard deviation."""
        deviation = self.sigma * math.sqrt(float(self.covariance.diagonal().max()))
        return f"{float(self.scales.max() / self.scales.min()):6.1f} {deviation:8.1e}"
