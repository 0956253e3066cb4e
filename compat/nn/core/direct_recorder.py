"""Logging a pass: which operators it calls forward, and back."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.nn.core.direct import DirectPlan
from compat.nn.core.direct_functions import LoggedPass
from compat.nn.core.direct_writer import LoggedCall, Unwritable
from compat.nn.core.plan import Plan
from compat.nn.core.tape import Recorded, Tape
from compat.tensor_tables import map_tensors, tensors
from compat.torch_internals import OperatorMode, has_hooks

# What gives something else each time, or decides by values.
_DEPENDENT = {
    torch.Tag.dynamic_output_shape,
    torch.Tag.data_dependent_output,
    torch.Tag.nondeterministic_seeded,
}


def record_directly(
    module: Recorded, input: Any, to_input: bool, plan: Plan
) -> tuple[Tape, DirectPlan | None]:
    """Go forward as ever, and log what that calls; back, too. What was logged may be no plan."""
    tape = _LoggedTape(module, input, plan)
    trained = set(plan.parameters)
    # Batch normalization does not tell by their versions that it writes into its statistics.
    before = {t: t.clone() for t in plan.constants() if t not in trained}
    tape.go_forward(module, to_input)
    changed = [t for t, value in before.items() if not torch.equal(t, value)]
    return tape, tape.direct(plan, changed)


# A log keeps all results of a pass there and back; so much at most.
_MOST_BYTES = 1 << 28
# Where operators give more on average, what a graph costs is a small part.
_LARGE_RESULTS = 1 << 17


class _Log(OperatorMode):
    """Notes the operators that are called, and keeps all tensors: none gets another's id."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[LoggedCall] = []
        self.refused = self.muted = False
        self.bytes = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if self.muted:
            return result
        if not func.is_view:
            self.bytes += sum([tensor.nbytes for tensor in tensors(result)])
        self.refused |= self.bytes > _MOST_BYTES or not _DEPENDENT.isdisjoint(func.tags)
        if self.refused:
            self.calls.clear()  # and all that they keep
        else:
            self.calls.append(LoggedCall(func, args, kwargs or {}, result))
        return result


class _LoggedTape(Tape):
    """The graph of a pass of which a direct plan is made."""

    __slots__ = ("inside", "joined", "log")

    def __init__(self, module: Recorded, source: Any, plan: Plan) -> None:
        super().__init__(module, source)
        # Modules that compute their own gradients would not do so again behind the scenes.
        self.inside = self.keep or plan.has_cuts
        self.joined: list[Recorded] = []
        self.log: _Log | None = None

    def join(self, module: Recorded, input: Any) -> Any:
        if self.log is None:
            self.log = _Log()
            with self.log:
                return self.join(module, input)
        if self.inside and self.joined:
            # Each call has an input of its own, so that its gradient is that of this call alone.
            input = map_tensors(lambda t: t[...] if t.requires_grad else t, input)
        if not self.records or module.joins(self):
            self.joined.append(module)
        return super().join(module, input)

    def _cut(self, module: Recorded, input: Any) -> Any:
        assert self.log is not None
        self.log.muted = True
        try:
            output = super()._cut(module, input)
        finally:
            self.log.muted = False
        args = (len(self.cuts) - 1, tensors(input))
        self.log.calls.append(LoggedCall("through", args, {}, tensors(output)))
        return output

    def direct(self, plan: Plan, changed: list[Tensor]) -> DirectPlan | None:
        """The functions that do what this pass did, and go back; it ``changed`` these constants."""
        log, self.log = self.log, None
        joined, self.joined = self.joined, []
        if log is None or log.refused or len(joined) != len(self.records):
            return None
        if any(map(has_hooks, self.parameters)):
            return None  # they would be told of gradients that are none
        if log.bytes > _LARGE_RESULTS * len(log.calls):
            return None
        forward, log.calls = log.calls, []
        try:
            parts = LoggedPass(self, joined, self.inside)
            with log:
                found = self._found(parts, log)
            return None if log.refused else parts.plan(plan, forward, log.calls, found, changed)
        except (Unwritable, RuntimeError):
            return None  # the pass itself is whole

    def _found(self, parts: LoggedPass, log: _Log) -> list[Tensor | None]:
        """The gradients of what is wanted; those of the inputs of cuts are ones."""
        roots, grads = list(parts.ends), list(parts.grads)
        for number, cut in reversed(list(enumerate(self.cuts))):
            leaves = [t for t in tensors(cut.output) if t.requires_grad]
            reached = dict(zip(leaves, self._gradients(roots, grads, leaves), strict=True))
            given = [reached.get(t) for t in tensors(cut.output)]
            if all(grad is None for grad in given):
                continue
            inputs = [t for t in tensors(cut.input) if t.requires_grad]
            log.muted = True
            ones = [torch.ones_like(t) for t in inputs]
            log.muted = False
            log.calls.append(LoggedCall("back_through", (number, given), {}, ones))
            roots += inputs
            grads += ones
        return self._gradients(roots, grads, parts.wanted())
