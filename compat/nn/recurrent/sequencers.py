"""Modules and criterions for sequences, which are lists with one entry per time step."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

from compat.checks import check_choice, check_some, flag, whole, wrong_type
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import ANYTHING, check_dims
from compat.nn.containers.basic import ConcatTable, Container, Sequential
from compat.nn.core.module import Module, deterministic
from compat.nn.core.native import as_module
from compat.nn.criterions.base import Criterion, check_criterion
from compat.nn.layers.replaced_gradients import Through
from compat.nn.layers.table_layers import FromTable, JoinTable, ZipTable, table
from compat.nn.recurrent.hidden_states import max_bptt_step, unroll
from compat.nn.recurrent.memory import AbstractRecurrent, forget
from compat.nn.recurrent.recurrences import Recursor
from compat.tensor_tables import map_tensors

S = TypeVar("S", bound="AbstractSequencer")
_REMEMBER = ("both", "eval", "train", "neither")


def remember(module: Any, when: str | None = "both") -> Any:
    """Call ``Sequencer.remember`` of every module in ``module`` (rnn: ``Module:remember``)."""
    for inner in module.listModules():
        if hasattr(type(inner), "_remember"):
            inner.remember(when)
    return module


def remembered(when: str | None) -> str:
    """Check when to remember."""
    when = "both" if when is None else when
    check_choice(when, "remember", _REMEMBER)
    return when


def is_remembered(when: str, train: bool) -> bool:
    """Whether a module that is to remember ``when`` does so in this mode."""
    return when in ("both", "train" if train else "eval")


class ReverseTable(FromTable):
    """The entries of a table in reverse order (Torch7: ``nn.ReverseTable`` of dpnn)."""

    table_fields = ("output", "gradInput")

    @deterministic
    def compute(self, input: Any) -> list[Any]:
        return list(reversed(table(input)))


class AbstractSequencer(Container):
    """The base of modules of sequences (Torch7: ``nn.AbstractSequencer`` of the package rnn)."""

    table_fields = ("output", "gradInput")

    @property
    def module(self) -> Any:
        """What goes through the sequence, the first of ``modules``."""
        return self.modules[0] if self.modules else None

    def forget(self: S) -> S:
        """Have the recurrent modules in it start anew."""
        forget(self)
        return self

    def maxBPTTstep(self, rho: int) -> None:
        """Does nothing: it goes back through the sequences that it is given."""

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "module": self.modules[0]}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in ("module", "rnn", "sharedClones", "step", "isRecurrent"):
            fields.pop(name, None)
        super().t7_restore(fields, version)


def _steps(input: Any) -> Any:
    """The entries of a sequence, a list or a tensor."""
    if isinstance(input, Tensor) and input.dim():
        return input.unbind()
    return table(input)


def _recurrent(module: Any) -> AbstractRecurrent:
    return module if isinstance(module, AbstractRecurrent) else Recursor(as_module(module))


class Sequencer(AbstractSequencer):
    """A module applied to every entry of a sequence in turn (``nn.Sequencer`` of rnn).

    Recurrent modules in it start anew with every sequence, unless told to ``remember``; backward
    goes through the whole sequence.

    Args:
        module: the module.

    Shapes: input a list of what the module takes, output a list as long; or both tensors, with the
    steps as their first dimension.

    Differs from Torch7: the running statistics of batch normalisation are one for all time steps.
    """

    cleared_fields = ("_output",)
    _remember: str = "neither"

    def __init__(self, module: Module | torch.nn.Module) -> None:
        super().__init__()
        self.add(_recurrent(module))
        self._remember = "neither"

    def remember(self: S, when: str | None = "both") -> S:
        """Go on with the memory of the sequence before. Backward does not reach that sequence.

        Args:
            when: in ``"train"`` mode, in ``"eval"`` mode, in ``"both"`` or in ``"neither"``.
        """
        self._remember = remembered(when)
        return self

    @property
    def remember_mode(self) -> str:
        """When it goes on with the memory of the sequence before, as ``remember`` was told."""
        return self._remember

    def remembers(self) -> bool:
        """Whether it goes on with the memory of the sequence before in the present mode."""
        return is_remembered(self._remember, self.train)

    @property
    def repeatable(self) -> bool:  # type: ignore[override]
        """Whether the next sequence starts anew."""
        return not self.remembers()

    @deterministic
    def compute(self, input: Any) -> Any:
        steps = _steps(input)
        unroll(self)
        # As in Torch7, backward need not reach further.
        max_bptt_step(self.modules[0], len(steps))
        if not self.remembers():
            forget(self)
        outputs = [self.call(0, step) for step in steps]
        return torch.stack(outputs) if isinstance(input, Tensor) else outputs

    def training(self: S) -> S:
        if not self.train:
            forget(self)
        return super().training()

    def evaluate(self: S) -> S:
        if self.train:
            forget(self)
        return super().evaluate()

    def t7_fields(self) -> dict[str, Any]:
        # Lua fills them in evaluation.
        tables = ("_output", "tableoutput", "tablegradInput", "tablegradinput")
        return super().t7_fields() | {name: [] for name in tables}

    def __repr__(self) -> str:
        return f"{self.typename} @ {self.modules[0]}"


class Repeater(AbstractSequencer):
    """A module given the same input several times (Torch7: ``nn.Repeater`` of the package rnn).

    The output is the list of its outputs.

    Args:
        module: the module.
        rho: how often.
    """

    def __init__(self, module: Module | torch.nn.Module, rho: int) -> None:
        super().__init__()
        self.rho = whole(rho, "rho", 1)
        self.add(_recurrent(module))

    @deterministic
    def compute(self, input: Any) -> list[Any]:
        unroll(self)
        forget(self)
        return [self.call(0, input) for _ in range(self.rho)]

    def _body(self) -> list[str]:
        flow = "     V         V             V     "
        outputs = f"[output(1),output(2),...,output({self.rho})]"
        module = repr(self.modules[0]).replace("\n", "\n  ")
        return ["[  input,    input,  ...,  input  ]", flow, module, flow, outputs]

    def maxBPTTstep(self, rho: int) -> None:
        """Set how often."""
        self.rho = rho

    def t7_fields(self) -> dict[str, Any]:
        # Lua copies outputs of the module into those of the pass before.
        return super().t7_fields() | {"output": []}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        fields.setdefault("rho", fields.pop("nStep", None))
        super().t7_restore(fields, version)


def _merging(merge: Module | torch.nn.Module | int | None) -> Module:
    if merge is None or isinstance(merge, int):
        return JoinTable(1, 1 if merge is None else merge)
    return as_module(merge, "merge")


def _both_ways(forward: Module, backward: Module | None) -> tuple[Module, Module]:
    """The modules that go through a sequence forwards and backwards."""
    forward = as_module(forward, "forward")
    if backward is None:
        return forward, forward.clone().reset()
    return forward, as_module(backward, "backward")


def _backwards(sequencer: Module) -> Sequential:
    return Sequential(ReverseTable(), sequencer, ReverseTable())


class RecurrentAttention(AbstractSequencer):
    """Looks at one input several times (Torch7: ``nn.RecurrentAttention`` of the package rnn).

    In each step ``action`` says from the output of the step before, of zeros in the first, where to
    look, and ``rnn`` takes ``[input, action]``. The output is the list of the outputs of ``rnn``.
    Mnih and others, Recurrent Models of Visual Attention, 2014.

    Args:
        rnn: a module.
        action: a module that learns from a reward, as one with an ``nn.ReinforceNormal``.
        nStep: the number of steps.
        hiddenSize: the size of one sample of the output of ``rnn``, a list of numbers.

    Shapes: input a batch, of what size ``rnn`` takes. As in Torch7, no gradient goes from ``rnn``
    to ``action``, which is given zeros as gradOutput.

    Fields: ``actions``, the outputs of ``action`` in the latest sequence; ``forwardActions``,
    whether the entries of the output are lists of what ``rnn`` and ``action`` gave (then the
    gradOutput of ``action`` comes from outside). With it Torch7 fails in the second step.
    """

    forwardActions: bool = False
    actions: list[Any]

    def __init__(self, rnn: Module, action: Module, nStep: int, hiddenSize: list[int]) -> None:
        super().__init__()
        self.nStep = whole(nStep, "nStep", 1)
        if not isinstance(hiddenSize, (list, tuple)):
            raise wrong_type(hiddenSize, "hiddenSize", "a list of numbers")
        check_some(hiddenSize, "hiddenSize", "number")
        self.hiddenSize = [whole(size, "hiddenSize", 1) for size in hiddenSize]
        self.add(_recurrent(rnn)).add(_recurrent(action))
        self.actions = []
        self.forwardActions = False

    @property
    def rnn(self) -> Any:
        """What takes the input and an action."""
        return self.modules[0]

    @property
    def action(self) -> Any:
        """What says where to look."""
        return self.modules[1]

    @deterministic
    def compute(self, input: Tensor) -> list[Any]:
        check_dims(input, *range(1, input.dim() + 1))
        unroll(self)
        forget(self)
        output = input.new_zeros(len(input), *self.hiddenSize)
        outputs, actions = [], []
        for _ in range(self.nStep):
            action = self.call(1, output)
            # Seen from here, so that the gradients from here are summed before the one from the
            # next step of ``rnn`` is added, as in Torch7.
            output = self.call(0, [input, map_tensors(_without_gradient, action)])
            output = output.view_as(output)
            outputs.append([output, action] if self.forwardActions else output)
            actions.append(map_tensors(Tensor.detach, action))
        self.actions = actions
        return outputs

    def _body(self) -> list[str]:
        action, rnn = (repr(m).replace("\n", "\n    |    ") for m in (self.action, self.rnn))
        return [f"action : {action}", f"rnn     : {rnn}"]

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        del fields["module"]
        # Lua copies outputs into those of the pass before.
        empty = {name: list[Any]() for name in ("output", "actions", "gradHidden")}
        return {**fields, **empty, "rnn": self.rnn, "action": self.action}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in ("action", "actions", "gradHidden", "_initInput", "_gradAction"):
            fields.pop(name, None)
        super().t7_restore(fields, version)
        self.actions = []


def _without_gradient(tensor: Tensor) -> Tensor:
    """The tensor; backward reaches what made it, with zeros."""
    return Through.apply(tensor, torch.zeros_like)


class BiSequencer(AbstractSequencer):
    """Two modules, forwards and backwards through a sequence (``nn.BiSequencer`` of rnn).

    Args:
        forward: the module that goes forwards.
        backward: the module that goes backwards; by default a copy, with parameters of its own.
        merge: makes one output of the two for every step; a number says how many dimensions they
            have for a ``JoinTable`` of the first, 1 by default.
    """

    def __init__(
        self, forward: Module, backward: Module | None = None, merge: Module | int | None = None
    ) -> None:
        super().__init__()
        self.forwardModule, self.backwardModule = _both_ways(forward, backward)
        self.mergeModule = _merging(merge)
        self.fwdSeq = Sequencer(self.forwardModule)
        self.bwdSeq = Sequencer(self.backwardModule)
        self.mergeSeq = Sequencer(self.mergeModule)
        both = ConcatTable(self.fwdSeq, _backwards(self.bwdSeq))
        self.add(Sequential(both, ZipTable(), self.mergeSeq))

    @deterministic
    def compute(self, input: Any) -> Any:
        return self.call(0, input)

    def __repr__(self) -> str:
        return f"{self.typename} @ {self.modules[0]}"


class BiSequencerLM(AbstractSequencer):
    """A ``BiSequencer`` for language models (Torch7: ``nn.BiSequencerLM`` of the package rnn).

    Step i sees what comes before entry i forwards, and what comes after it backwards.

    Args:
        forward, backward, merge: as in ``BiSequencer``; what is no recurrent module takes
            sequences.
    """

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

    @deterministic
    def compute(self, input: Any) -> Any:
        if len(table(input)) < 2:
            raise ValueError(f"input is a table of {len(input)}; one of 2 or more is accepted")
        before, after = self.call(0, input[:-1]), self.call(1, input[1:])
        first = map_tensors(torch.zeros_like, before[0])
        last = map_tensors(torch.zeros_like, after[0])
        return self.call(2, [[first, *before], [*after, last]])

    def _body(self) -> list[str]:
        names = ("(  fwd  ): ", "(  bwd  ): ", "( merge ): ")
        modules = zip(names, self.modules, strict=True)
        return [name + repr(module).replace("\n", "\n    |    ") for name, module in modules]

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        del fields["module"]
        return fields


class _OverSequence(Criterion):
    """A criterion of sequences that holds one of their entries."""

    takes = ANYTHING

    transient_fields = ("_of_steps",)

    def __init__(self, criterion: Criterion | None = None) -> None:
        super().__init__()
        if criterion is not None:
            # Classes of one's own may set it later.
            self.criterion = check_criterion(criterion)

    def getStepCriterion(self, step: int) -> Criterion:
        """A copy of the criterion for a step, counted from 1."""
        known: dict[int, Criterion] = vars(self).setdefault("_of_steps", {})
        if step not in known:
            known[step] = self.criterion.clone()
        return known[step]

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "clones": []}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        fields.pop("clones", None)
        super().t7_restore(fields, version)


class SequencerCriterion(_OverSequence):
    """The sum of a criterion over a sequence (Torch7: ``nn.SequencerCriterion`` of rnn).

    Args:
        criterion: gets each entry of the input with that of the target.
        sizeAverage: whether the sum is divided by the number of entries.

    Shapes: input and target lists, or tensors with the steps as their first dimension.

    Differs from Torch7: one may be a list and the other a tensor.
    """

    sizeAverage: bool = False

    @nil_is_default
    def __init__(self, criterion: Criterion | None = None, sizeAverage: bool = False) -> None:
        super().__init__(criterion)
        self.sizeAverage = flag(sizeAverage, "sizeAverage")

    def compute(self, input: Any, target: Any) -> Tensor:
        steps = _steps(input)
        if len(steps) != len(target):
            raise ValueError(
                f"input is a sequence of {len(steps)}, target is one of {len(target)}; as many "
                "entries are accepted"
            )
        loss = _sum([self.criterion.run(x, t) for x, t in zip(steps, target, strict=True)])
        return loss / len(steps) if self.sizeAverage else loss

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        if self.recordable:
            return super().updateGradInput(input, target)
        # Of a class with a loss of its own, as in Torch7: those of the criterions of the steps.
        steps = zip(_steps(input), target, strict=True)
        found = [self.getStepCriterion(i).backward(x, t) for i, (x, t) in enumerate(steps, 1)]
        self.gradInput = torch.stack(found) if isinstance(input, Tensor) else found
        return self.gradInput


class RepeaterCriterion(_OverSequence):
    """The sum of a criterion over a sequence with one target (``nn.RepeaterCriterion`` of rnn).

    Args:
        criterion: gets each entry of the input with the target.

    Shapes: input a list, or a tensor with the steps as its first dimension.
    """

    def compute(self, input: Any, target: Any) -> Tensor:
        return _sum([self.criterion.run(step, target) for step in _steps(input)])


def _sum(losses: list[Tensor]) -> Tensor:
    return torch.stack(losses).sum()
