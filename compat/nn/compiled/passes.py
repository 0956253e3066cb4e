"""Passes of a net through compiled code (``Module.compile``).

A pass is straight-line operators of PyTorch: the modules' methods are called once on tensors
without memory, forward and back, what they call is written down as a graph, divided in two and
given to PyTorch's compiler. Code serves as long as the net is what it was when the code was made;
any other pass goes the plain way.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from compat.nn.compiled.code import Code
from compat.nn.compiled.operators import Untraceable, compiling
from compat.nn.compiled.state import State, form_of
from compat.nn.core import results
from compat.nn.core.differentiated import in_shape_of
from compat.nn.core.module import Module
from compat.tensor_tables import form, pairs, tensors, with_tensors
from compat.torch_internals import foreach_add_

# How many states of the net and forms of input are compiled; others go the plain way.
FORMS = 8
# So many passes of which none is like the one before, until that is said.
_RESTLESS = 20


class Compilation:
    """The compiled passes of one net. A copy of the net begins without any."""

    def __init__(self) -> None:
        self._codes: list[tuple[State, Code | None]] = []
        self._candidate: State | None = None
        self._restless = 0
        self._warned = False
        self._pass: Pass | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Compilation:
        return memo.setdefault(id(self), Compilation())

    def __reduce__(self) -> tuple[Any, ...]:
        return Compilation, ()

    def forward(self, net: Module, input: Any) -> bool:
        """Set ``net.output`` by compiled code; False where this pass is to go the plain way."""
        self._pass = None
        state, code = self._found(net, input)
        if code is None:
            return False
        going = Pass(net, code, input)
        state.free_inside()
        self._pass = going
        return True

    def backward(self, net: Module, input: Any, gradOutput: Any, scale: float) -> bool:
        """Set ``net.gradInput``, add to the gradients; False where forward went the plain way."""
        going = self._pass
        # Another output is that of a later pass, in which this net was part of another one.
        if going is None or net.__dict__.get("output") is not going.output:
            return False
        going.go_back(net, input, gradOutput, scale)
        return True

    def _found(self, net: Module, input: Any) -> tuple[State, Code | None]:
        for i, (state, code) in enumerate(self._codes):
            if state.holds(input):
                if i:
                    self._codes.insert(0, self._codes.pop(i))
                return state, code
        candidate = self._candidate
        if candidate is None or not candidate.holds(input):
            net.parameters()  # allocates what gradients files have left out
            self._candidate = candidate = State(net, input)
            self._restless += 1
            if len(self._codes) >= FORMS:
                self._warn(f"there have been {FORMS} forms of input and states of the net already")
            elif self._restless > _RESTLESS:
                self._warn("the net or its input is another one in every pass")
            return candidate, None
        if len(self._codes) >= FORMS:
            return candidate, None
        self._candidate, self._restless = None, 0
        made: Code | None = None
        try:
            with compiling:
                made = Code(net, candidate, input)
        except Exception as error:
            self._warn(_reason(error))
        state = State(net, input, made.rebound if made else ())
        self._codes.insert(0, (state, made))
        return state, made

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(f"compile: {reason}; such passes are computed normally", stacklevel=2)


class Pass:
    """A pass through compiled code: what backward needs of it."""

    def __init__(self, net: Module, code: Code, input: Any) -> None:
        self.code, self.input = code, input
        held = code.held
        self._given: dict[str, Sequence[Tensor]] = {
            "held": held,
            "draw": [draw() for draw in code.draws],
            "input": tensors(input),
        }
        found = code.forward([self._given[kind][i] for kind, i in code.taken])
        count = len(code.plain)
        self._given["kept"] = found[count + len(code.changed) :]
        if code.changed:
            # Before they change, whoever goes back needs them as they were.
            self._given["held"] = before = list(held)
            for kind, i in code.sources:
                if kind == "held" and i in code.changed:
                    before[i] = held[i].clone()
            for i, new in zip(code.changed, found[count:], strict=False):
                held[i].copy_(new)
        self.output = _laid(code.output, found[:count], code.plain)
        if results.buffer_reuse.on:
            self.output = results.copy_to_buffer(
                net.__dict__.get("output"), results.own_memory(self.output, input, held)
            )
        net.__dict__.pop("_freed", None)
        net.output = self.output

    def go_back(self, net: Module, input: Any, gradOutput: Any, scale: float) -> None:
        code, given = self.code, self._given
        if input is not self.input:  # as in Torch7 backward goes with the input that it is given
            if form(input, form_of) != form(self.input, form_of):
                raise ValueError("input is of another form than that of forward")
            given = given | {"input": tensors(input)}
        given = given | {
            "gradOutput": [
                torch.zeros_like(output, memory_format=torch.contiguous_format)
                if gradient is None
                else in_shape_of(gradient, output).contiguous()
                for output, gradient in pairs(self.output, gradOutput, ("output", "gradOutput"))
            ]
        }
        found = code.backward([given[kind][i] for kind, i in code.sources])
        count = len(code.plain_back)
        gradInput = _laid(code.gradInput, found[:count], code.plain_back)
        if results.buffer_reuse.on:
            gradInput = results.own_memory(gradInput, input, gradOutput)
            gradInput = results.copy_to_buffer(net.__dict__.get("gradInput"), gradInput)
        net.gradInput = gradInput
        remaining = iter(found[count:])
        added, into = [], []
        for i, is_product in zip(code.trained, code.products, strict=True):
            gradient = code.held[i].grad
            assert gradient is not None
            if is_product:
                gradient.addmm_(next(remaining), next(remaining), alpha=scale)
            else:
                into.append(gradient)
                added.append(next(remaining))
        if not into:
            return
        if into[0].is_cpu or len({gradient.data_ptr() for gradient in into}) == len(into):
            foreach_add_(into, added, alpha=scale)
        else:  # other devices would add to memory that is shared at the same time
            for gradient, term in zip(into, added, strict=True):
                gradient.add_(term, alpha=scale)


def _laid(table: Any, found: Sequence[Tensor], plain: Sequence[bool]) -> Any:
    """Return the results in their table, contiguous where the net's own are."""
    return with_tensors(
        table, [t.contiguous() if own else t for t, own in zip(found, plain, strict=True)]
    )


def _reason(error: Exception) -> str:
    """Return the first line of what went wrong."""
    lines = str(error).strip().splitlines()
    kind = type(error).__name__
    if isinstance(error, Untraceable):
        return lines[0]
    if kind == "DataDependentOutputException":
        return f"a module decides by values ({lines[0]})"
    return f"{kind}: {lines[0]}" if lines else kind


Module.compilation_class = Compilation
