"""``nn.MuFuRu``: a recurrent unit of several functions."""

from __future__ import annotations

from collections.abc import Callable

from compat.checks import check_choice, wrong_type
from compat.nn.containers.branches import ConcatTable, ParallelTable
from compat.nn.containers.map_table import MapTable
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.layers.activation import Sigmoid, SoftMax
from compat.nn.layers.linear import Linear
from compat.nn.layers.pointwise import Abs, MulConstant, Sqrt
from compat.nn.layers.reduction import Max, Min, Sum
from compat.nn.layers.shape import Transpose, Unsqueeze, View
from compat.nn.layers.table_arithmetic import CAddTable, CMulTable, CSubTable
from compat.nn.layers.table_layers import JoinTable, NarrowTable, SelectTable
from compat.nn.recurrent.cells import GRU


class MuFuRu(GRU):
    """Multi-function recurrent unit (Torch7: ``nn.MuFuRu`` of the package rnn).

    The output is a weighted sum of functions of the output before and of new features.
    Weissenborn and Rocktaschel, MuFuRU: The Multi-Function Recurrent Unit, 2016.

    Args:
        inputSize, outputSize: numbers of features.
        ops: the names of the functions, of ``keep``, ``replace``, ``mul``, ``diff``, ``forget``,
            ``sqrt_diff``, ``max`` and ``min``, by default all of them.
        rho: as in ``AbstractRecurrent``.

    Shapes: input ``N x inputSize``, output ``N x outputSize``.
    """

    def __init__(
        self, inputSize: int, outputSize: int, ops: list[str] | None = None, rho: int = 9999
    ) -> None:
        if not isinstance(ops, (list, tuple, type(None))):
            raise wrong_type(ops, "ops", "a list of names")
        self.ops = list(_OPERATIONS) if ops is None else list(ops)
        for name in self.ops:
            check_choice(name, "ops", tuple(_OPERATIONS))
        self.num_ops = len(self.ops)
        self.operations = [_OPERATIONS[name]() for name in self.ops]
        super().__init__(inputSize, outputSize, rho)

    def buildModel(self) -> Module:
        size, both = self.outputSize, self.inputSize + self.outputSize
        reset = Sequential(ParallelTable(Linear(self.inputSize, size), Linear(size, size)))
        reset.add(CAddTable()).add(Sigmoid())
        # From here on: input, output before, reset gate.
        seen = Sequential(NarrowTable(2, 2), CMulTable())
        features = Sequential(ConcatTable(SelectTable(1), seen), JoinTable(2))
        features.add(Linear(both, size)).add(Sigmoid())
        weights = Sequential(NarrowTable(1, 2), JoinTable(2), Linear(both, self.num_ops * size))
        weights.add(View(self.num_ops, size).setNumInputDims(1))
        weights.add(Transpose([1, 2])).add(SoftMax())
        # From here on: output before, features, weights of the functions.
        functions = Sequential(NarrowTable(1, 2), ConcatTable(*self.operations))
        functions.add(MapTable(Unsqueeze(1))).add(JoinTable(1, 3))
        combined = Sequential(ConcatTable(functions, SelectTable(3)), CMulTable(), Sum(1, 3))
        return Sequential(
            ConcatTable(SelectTable(1), SelectTable(2), reset),
            ConcatTable(SelectTable(2), features, weights),
            combined,
        )

    def __repr__(self) -> str:
        names = " ".join(self.ops)
        return f"{self.typename}({self.inputSize} -> {self.outputSize}) {{ {names} }}"


def _stacked(reduction: type[Max]) -> Module:
    return Sequential(MapTable(Unsqueeze(1)), JoinTable(1), reduction(1))


# Functions of the output before and the features.
_OPERATIONS: dict[str, Callable[[], Module]] = {
    "keep": lambda: SelectTable(1),
    "replace": lambda: SelectTable(2),
    "mul": CMulTable,
    "diff": CSubTable,
    "forget": lambda: Sequential(SelectTable(1), MulConstant(0)),
    "sqrt_diff": lambda: Sequential(CSubTable(), Abs(), Sqrt(), MulConstant(0.25)),
    "max": lambda: _stacked(Max),
    "min": lambda: _stacked(Min),
}
