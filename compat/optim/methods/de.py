"""Differential evolution."""

from __future__ import annotations

import torch

from compat import random
from compat.optim.support.opfunc import OpFunc, loss_at
from compat.optim.support.options import Table, option, table
from compat.optim.support.vectors import flat


def de(
    opfunc: OpFunc, x: torch.Tensor, config: Table, state: Table | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Minimise by differential evolution (Storn and Price 1997), Torch7's ``optim.de``.

    As in Torch7, it has its own generator, always seeded with 1, and the first "best" member
    is the worst of the population.

    Args:
        opfunc: ``opfunc(x)`` returns the loss, or the loss and a gradient, which is not used.
        x: gives the number of unknowns and their dtype; not changed.
        config: ``maxFEs``, the largest number of evaluations, ``scaleFactor`` and ``crossoverRate``
            are required; ``popsize`` (10 times the number of unknowns), ``maxRegion`` (30),
            ``minRegion`` (-30).
        state: not used.

    Returns:
        The best point found, flat, and a tensor of the losses of all ``maxFEs`` evaluations.

    Raises:
        ValueError: an option is missing, or the population is larger than ``maxFEs`` or has fewer
            than three members.

    Differs from Torch7: the last generation may be cut short by ``maxFEs``, where Torch7 fails.
    """
    del state
    config = table("config", config)
    for key in ("maxFEs", "scaleFactor", "crossoverRate"):
        if config.get(key) is None:
            raise ValueError(f"config[{key!r}] is None; a number is accepted")
    size = flat(x).numel()
    budget = int(config["maxFEs"])
    population = option(config, "popsize", 10 * size)
    scale, crossover = config["scaleFactor"], config["crossoverRate"]
    if not 3 <= population <= budget:
        raise ValueError(f"config['popsize'] is {population}; 3 to maxFEs, {budget}, are accepted")

    gen = random.Generator(1)
    members = x.new_empty(population, size)
    random.uniform_(
        members,
        option(config, "minRegion", -30),
        option(config, "maxRegion", 30),
        generator=gen,
    )
    losses = x.new_empty(budget)
    done = 0

    def evaluate(point: torch.Tensor) -> float:
        nonlocal done
        losses[done] = loss_at(opfunc, point)
        done += 1
        return float(losses[done - 1])

    fitness = [evaluate(member) for member in members]
    best_fitness = max(fitness)
    best = members[fitness.index(best_fitness)].clone()
    while done < budget:
        children = members.clone()
        children_fitness = []
        for i in range(min(population, budget - done)):
            first, second, j = _draw(gen, i, population, size)
            difference = members[first].double() - members[second].double()
            mutant = best.double() + scale * difference
            crossed = [random.uniform(0, 1, generator=gen) < crossover for _ in range(size)]
            mask = torch.tensor([c or i == j for c in crossed], device=x.device)
            children[i] = torch.where(mask, mutant, members[i].double())
            children_fitness.append(evaluate(children[i]))
        for i, loss in enumerate(children_fitness):
            if loss <= fitness[i]:
                members[i] = children[i]
                fitness[i] = loss
                if loss < best_fitness:
                    best_fitness = loss
                    best.copy_(children[i])
    return best, losses


def _draw(gen: random.Generator, i: int, population: int, size: int) -> tuple[int, int, int]:
    """Draw two members other than the ``i``-th and each other, and a coordinate."""
    first = second = i
    while first == i:
        first = random.random(1, population, generator=gen) - 1
    while second in (i, first):
        second = random.random(1, population, generator=gen) - 1
    return first, second, random.random(1, size, generator=gen) - 1
