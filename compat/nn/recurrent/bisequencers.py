"""Modules that process a sequence in both directions."""

from __future__ import annotations

from typing import Any

import torch

from compat.nn.containers.branches import ConcatTable
from compat.nn.containers.container import Relaying
from compat.nn.containers.decorators import Decorator
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import as_module
from compat.nn.layers.table_layers import JoinTable, ZipTable, table
from compat.nn.recurrent.memory import AbstractRecurrent
from compat.nn.recurrent.results import added
from compat.nn.recurrent.sequencers import AbstractSequencer, ReverseTable, Sequencer
from compat.tensor_tables import map_tensors


def _merging(merge: Module | torch.nn.Module | int | None) -> Module:
    if merge is None or isinstance(merge, int):
        return JoinTable(1, 1 if merge is None else merge)
    return as_module(merge, "merge")


def _both_ways(forward: Module, backward: Module | None) -> tuple[Module, Module]:
    """Return the modules that process a sequence forwards and backwards."""
    forward = as_module(forward, "forward")
    if backward is None:
        return forward, forward.clone().reset()
    return forward, as_module(backward, "backward")


def _backwards(sequencer: Module) -> Sequential:
    return Sequential(ReverseTable(), sequencer, ReverseTable())


class BiSequencer(AbstractSequencer, Decorator):
    """Two modules, forwards and backwards through a sequence (``nn.BiSequencer`` of rnn).

    Args:
        forward: the module that goes forwards.
        backward: the module that goes backwards; by default a copy, with parameters of its own.
        merge: the module that joins both outputs of a step; a number, 1 by default, is the
            number of dimensions of the outputs for a ``JoinTable`` along the first.
    """

    def __init__(
        self, forward: Module, backward: Module | None = None, merge: Module | int | None = None
    ) -> None:
        forward, backward = _both_ways(forward, backward)
        merge = _merging(merge)
        fwdSeq, bwdSeq, mergeSeq = (Sequencer(module) for module in (forward, backward, merge))
        both = ConcatTable(fwdSeq, _backwards(bwdSeq))
        super().__init__(Sequential(both, ZipTable(), mergeSeq))
        self.forwardModule, self.backwardModule, self.mergeModule = forward, backward, merge
        self.fwdSeq, self.bwdSeq, self.mergeSeq = fwdSeq, bwdSeq, mergeSeq


class BiSequencerLM(AbstractSequencer, Relaying):
    """A ``BiSequencer`` for language models (Torch7: ``nn.BiSequencerLM`` of the package rnn).

    Step i sees the entries before entry i forwards, and the entries after it backwards.

    Args:
        forward, backward, merge: as in ``BiSequencer``; modules that are not recurrent must take
            sequences.
    """

    pass_fields = ("_merged", "_merged_back")

    def __init__(
        self, forward: Module, backward: Module | None = None, merge: Module | int | None = None
    ) -> None:
        super().__init__()
        self.forwardModule, self.backwardModule = _both_ways(forward, backward)
        self.mergeModule = _merging(merge)
        for module in (self.forwardModule, self.backwardModule):
            recurrent = isinstance(module, AbstractRecurrent)
            self.add(Sequencer(module) if recurrent else module)
        self.fwdSeq, self.bwdSeq = self.modules
        self.modules[1] = _backwards(self.bwdSeq)
        self.mergeSeq = Sequencer(self.mergeModule)
        self.add(Sequential(ZipTable(), self.mergeSeq))
        self._fwd, self._bwd, self._merge = self.modules

    def updateOutput(self, input: Any) -> Any:
        if len(table(input)) < 2:
            raise ValueError(f"input is a table of {len(input)}; one of 2 or more is accepted")
        before = self.call(0, "updateOutput", input[:-1])
        after = self.call(1, "updateOutput", input[1:])
        first, last = (map_tensors(torch.zeros_like, part) for part in (before[0], after[0]))
        self._merged = [[first, *before], [*after, last]]
        self.output = self.call(2, "updateOutput", self._merged)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradients = self.call(2, "updateGradInput", self._merged, gradOutput)
        self._merged_back = before, after = gradients[0][1:], gradients[1][:-1]
        first = self.call(0, "updateGradInput", input[:-1], before)
        second = self.call(1, "updateGradInput", input[1:], after)
        if first is None or second is None:
            return None
        inner = [added(a, b) for a, b in zip(first[1:], second[:-1], strict=True)]
        self.gradInput = [first[0], *inner, second[-1]]
        return self.gradInput

    def _relay(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        before, after = self._merged_back
        self.call(2, method, self._merged, gradOutput, factor)
        self.call(0, method, input[:-1], before, factor)
        self.call(1, method, input[1:], after, factor)

    def _body(self) -> list[str]:
        names = ("(  fwd  ): ", "(  bwd  ): ", "( merge ): ")
        modules = zip(names, self.modules, strict=True)
        return [name + repr(module).replace("\n", "\n    |    ") for name, module in modules]

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        del fields["module"]
        return fields
