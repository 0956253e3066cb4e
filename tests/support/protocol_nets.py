"""Random nets, each of compat.nn and of the naive interpreter, with the same parameters."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from torch import Tensor

from compat import nn, nngraph
from support import protocol
from support.examples import examples

WIDTH = 4


def cases(usual: int) -> Any:
    return settings(
        max_examples=examples(usual),
        suppress_health_check=list(HealthCheck),
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
    )


Pair = tuple[Any, Any]


class Draw:
    """What hypothesis chooses."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def number(self, least: int, most: int) -> int:
        return self.data.draw(st.integers(least, most))

    def chosen(self, items: Any) -> Any:
        items = list(items)
        return items[self.number(0, len(items) - 1)]

    def flag(self) -> bool:
        return bool(self.number(0, 1))


class Dice(Draw):
    """The same by plain random numbers, which is quicker."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)


# Layers of tensors of WIDTH columns, with arguments to choose from.
PLAIN: list[tuple[str, list[tuple[Any, ...]]]] = [
    *((name, [()]) for name in ("Tanh", "Sigmoid", "Square", "Abs", "SoftSign", "SoftMax")),
    *((name, [()]) for name in ("LogSoftMax", "Identity", "GradientReversal", "Mul")),
    ("Linear", [(WIDTH, WIDTH)]),
    ("Linear", [(WIDTH, WIDTH, False)]),
    ("CMul", [(WIDTH,)]),
    ("CAdd", [(WIDTH,)]),
    ("Add", [(WIDTH,)]),
    ("Threshold", [(0.1, -0.2)]),
    ("LeakyReLU", [(0.3,)]),
    ("ELU", [(0.7,)]),
    ("HardTanh", [(-0.5, 0.6)]),
    ("MulConstant", [(0.5,)]),
    ("AddConstant", [(0.7,)]),
]
RANDOM: list[tuple[str, list[tuple[Any, ...]]]] = [("Dropout", [(0.4,), (0.4, True)])]
IN_PLACE: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("Threshold", [(0.1, -0.2, True)]),
    ("LeakyReLU", [(0.3, True)]),
    ("ELU", [(0.7, True)]),
    ("HardTanh", [(-0.5, 0.6, True)]),
    ("MulConstant", [(0.5, True)]),
    ("AddConstant", [(0.7, True)]),
    ("Dropout", [(0.4, False, True)]),
]
OF_BATCHES: list[tuple[str, list[tuple[Any, ...]]]] = [("BatchNormalization", [(WIDTH,)])]


# Own classes: what overrides the methods of any layer of either kind.


class Halves:
    def updateOutput(self, input: Any) -> Any:
        super().updateOutput(input)  # type: ignore[misc]
        return self.output.mul_(0.5)  # type: ignore[attr-defined]


class Replaces:
    def updateOutput(self, input: Any) -> Any:
        self.output = super().updateOutput(input) * 2  # type: ignore[misc]
        return self.output


class OfAnother:
    def updateOutput(self, input: Any) -> Any:
        return super().updateOutput(input + 0.25)  # type: ignore[misc]


class Returns:
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return super().updateGradInput(input, gradOutput) * 0.5  # type: ignore[misc]


class WritesGradient:
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return super().updateGradInput(input, gradOutput.mul_(0.5))  # type: ignore[misc]


class Stores:
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = super().updateGradInput(input, gradOutput) * 3  # type: ignore[misc]
        return self.gradInput


class Scales:
    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        super().accGradParameters(input, gradOutput, scale * 2)  # type: ignore[misc]


class Frozen:
    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        pass


class GoesBack:
    def backward(self, input: Any, gradOutput: Any, scale: float = 1) -> Any:
        return super().backward(input, gradOutput * 2, scale * 3)  # type: ignore[misc]


class Fails:
    """Fails in the method that the field ``fails`` names, after its work is done."""

    fails = ""

    def updateOutput(self, input: Any) -> Any:
        return self._done("updateOutput", super().updateOutput(input))  # type: ignore[misc]

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self._done("updateGradInput", super().updateGradInput(input, gradOutput))  # type: ignore[misc]

    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        self._done("accGradParameters", super().accGradParameters(input, gradOutput, scale))  # type: ignore[misc]

    def _done(self, method: str, value: Any) -> Any:
        if self.fails == method:
            raise RuntimeError("half way")
        return value


# Without those that write into what they are given.
MILD = (Replaces, OfAnother, Returns, Stores, Scales, Frozen, GoesBack)
OWN = (*MILD, Halves, WritesGradient, Fails)


@cache
def own_classes(name: str, mixin: type) -> tuple[type, type]:
    kind = f"Own{mixin.__name__}{name}"
    engine = type(kind, (mixin, getattr(nn, name)), {"__module__": __name__})
    globals()[kind] = engine  # to be found by who reads a file
    return engine, type(kind, (mixin, protocol.CLASSES[name]), {})


def alike(engine: Any, naive: Any) -> Pair:
    """Give the naive layer the parameters of the other."""
    if isinstance(engine, nn.BatchNormalization):
        # What it makes of a column of one number is its bias, to rounding: no kink of a layer.
        engine.bias.copy_(torch.linspace(-0.37, 0.53, WIDTH))
    for name in ("weight", "bias"):
        parameter = getattr(engine, name, None)
        if parameter is not None:
            setattr(naive, name, parameter.detach().clone())
            gradient = torch.zeros_like(parameter)
            setattr(naive, "grad" + name.title(), gradient)
            parameter.grad.zero_()
    return engine, naive


class Maker:
    """Makes nets by drawing.

    Args:
        in_place, batches, noise, shared: what may be in them.
        own: the ways in which own classes may differ.
    """

    def __init__(
        self, draw: Draw, *, in_place: bool, batches: bool, noise: bool, own: Any, shared: bool
    ):
        self.draw = draw
        self.kinds = PLAIN + IN_PLACE * in_place + OF_BATCHES * batches + RANDOM * noise
        self.calm = PLAIN
        self.own, self.shared = own, shared
        self.made: list[Pair] = []

    def chosen(self, items: Any) -> Any:
        return self.draw.chosen(list(items))

    def layer(self, calm: bool = False) -> Pair:
        if self.shared and self.made and not calm and self.draw.number(0, 9) == 0:
            return self.chosen(self.made)
        name, arguments = self.chosen(self.calm if calm else self.kinds)
        given = self.chosen(arguments)
        classes = getattr(nn, name), protocol.CLASSES[name]
        if self.own and not calm and self.draw.number(0, 3) == 0:
            classes = own_classes(name, self.chosen(self.own))  # type: ignore[assignment]
        engine = classes[0](*given)
        naive = classes[1](*given) if _takes(name) else classes[1]()
        pair = alike(engine, naive)
        if not calm:
            self.made.append(pair)
        return pair

    def block(self, depth: int) -> Pair:
        """A net from WIDTH columns to as many."""
        kinds = ["layer"] * 3 + ["chain", "concat", "table", "parallel", "split", "graph"] * (
            depth > 0
        )
        return (
            getattr(self, self.chosen(kinds))(*([depth - 1] if depth > 0 else []))
            if depth
            else self.layer()
        )

    def chain(self, depth: int) -> Pair:
        return self.sequence([self.block(depth) for _ in range(self.draw.number(1, 3))])

    def sequence(self, pairs: list[Pair]) -> Pair:
        engine, naive = nn.Sequential(), protocol.Sequential()
        for one, other in pairs:
            engine.add(one)
            naive.add(other)
        return engine, naive

    def filled(self, name: str, arguments: Any, pairs: list[Pair]) -> Pair:
        engine, naive = getattr(nn, name)(*arguments), protocol.CLASSES[name](*arguments)
        for one, other in pairs:
            engine.add(one)
            naive.add(other)
        return engine, naive

    def simple(self, name: str, *arguments: Any) -> Pair:
        return getattr(nn, name)(*arguments), protocol.CLASSES[name](*arguments)

    def linear(self, width: int) -> Pair:
        return alike(nn.Linear(width, WIDTH), protocol.Linear())

    def concat(self, depth: int) -> Pair:
        count = self.draw.number(1, 3)
        inner = self.filled("Concat", [2], [self.block(depth) for _ in range(count)])
        if self.draw.flag():
            last = self.linear(count * WIDTH)
        else:
            last = self.simple("Narrow", 2, self.draw.number(1, (count - 1) * WIDTH + 1), WIDTH)
        return self.sequence([inner, last])

    def table(self, depth: int) -> Pair:
        count = self.draw.number(1, 3)
        steps = [self.filled("ConcatTable", [], [self.block(depth) for _ in range(count)])]
        if self.draw.flag():
            steps.append(
                self.filled("ParallelTable", [], [self.block(depth) for _ in range(count)])
            )
        steps += self.reduced(count)
        return self.sequence(steps)

    def reduced(self, count: int) -> list[Pair]:
        kinds = ["CAddTable", "CMulTable", "SelectTable", "JoinTable"] + ["CSubTable"] * (
            count == 2
        )
        kind = self.chosen(kinds)
        if kind == "SelectTable":
            return [self.simple(kind, self.draw.number(1, count))]
        if kind == "JoinTable":
            return [self.simple(kind, 2), self.linear(count * WIDTH)]
        return [self.simple(kind)]

    def halves(self, count: int) -> list[Pair]:
        return [alike(nn.Linear(2, 2), protocol.Linear()) for _ in range(count)]

    def parallel(self, depth: int) -> Pair:
        inner = self.filled("Parallel", [2, 2], self.halves(2))
        return self.sequence([self.simple("View", -1, 2, 2), inner])

    def split(self, depth: int) -> Pair:
        middle = self.filled("ParallelTable", [], self.halves(2))
        ends = self.simple("View", -1, 2, 2), self.simple("SplitTable", 2)
        return self.sequence([*ends, middle, self.simple("JoinTable", 2)])

    def graph(self, depth: int) -> Pair:
        """A graph of calm layers; what leads nowhere goes into the sum at its end."""
        nodes: list[Any] = [nngraph.Node.of(nn.Identity(), None)]
        modules, sources, used = [protocol.Identity()], [[0]], {0}
        for _ in range(self.draw.number(1, 4)):
            first = self.draw.number(0, len(nodes) - 1)
            if self.draw.flag():
                second = self.draw.number(0, len(nodes) - 1)
                name = self.chosen(["CAddTable", "CMulTable"])
                engine, naive = self.simple(name)
                taken = [first, second]
            else:
                engine, naive = self.layer(calm=True)
                taken = [first]
            if len(taken) == 2 and first == second:
                taken = [first]
                engine, naive = self.layer(calm=True)
            used |= set(taken)
            nodes.append(
                engine([nodes[i] for i in taken]) if len(taken) > 1 else engine(nodes[first])
            )
            modules.append(naive)
            sources.append([i + 1 for i in taken])
        loose = [i for i in range(len(nodes)) if i not in used] or [len(nodes) - 1]
        if len(loose) > 1:
            engine, naive = self.simple("CAddTable")
            nodes.append(engine([nodes[i] for i in loose]))
            modules.append(naive)
            sources.append([i + 1 for i in loose])
        graph = nn.gModule([nodes[0]], [nodes[-1]])
        return graph, self.in_order(graph, nodes, modules, sources)

    def in_order(
        self, graph: Any, nodes: list[Any], modules: list[Any], sources: list[list[int]]
    ) -> Any:
        """The naive graph with its modules in the order in which the other has them."""
        places = [
            next(i for i, n in enumerate(nodes) if n.data["module"] is m) for m in graph.modules
        ]
        number = {0: 0} | {old + 1: new + 1 for new, old in enumerate(places)}
        return protocol.gModule(
            [modules[i] for i in places], [[number[s] for s in sources[i]] for i in places]
        )


def _takes(name: str) -> bool:
    return (
        name not in ("Linear", "CMul", "CAdd", "Add", "Mul")
        and name in protocol.CLASSES
        and (name == "BatchNormalization" or name in ("Dropout",) or name in protocol.LEAVES)
    )


def inputs(draw: Draw, rows: int, kinds: Any = ("new", "transposed", "expanded", "part")) -> Tensor:
    """A tensor of ``rows`` rows and WIDTH columns, contiguous or not."""
    seed = draw.number(0, 50)
    generator = torch.Generator().manual_seed(seed)

    def normal(*sizes: int) -> Tensor:
        return torch.randn(*sizes, generator=generator, dtype=torch.float64)

    kind = draw.chosen(list(kinds))
    if kind == "transposed":
        return normal(WIDTH, rows).t()
    if kind == "expanded":
        return normal(1, WIDTH).expand(rows, WIDTH)
    if kind == "part":
        return normal(rows + 1, WIDTH + 2)[1:, 1:-1]
    return normal(rows, WIDTH)


def twin(tensor: Tensor) -> Tensor:
    """A copy in other memory of the same strides."""
    storage = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage()).clone()
    return storage.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
