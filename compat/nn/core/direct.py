"""Going forward and back by operators alone, without a graph.

With few numbers an operator takes less than what autograd does around it: the graph of a recurrent
step takes longer than all its operators. Where a net has a plan (``compat.nn.core.plan``), one of
its passes is logged: which operators PyTorch calls forward and, for the gradients, back
(``direct_recorder``). Later passes call these from two functions. They are the same operators in
the same order; zeros that only hold the place of other parts of a sum are left out.

Outputs inside the net are there as ever; where a net keeps its results the gradients are, too. Who
asks for more, such as the gradients of one module alone, has the net go forward again with a graph
(``recomputation``); such nets do not go this way afterwards.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from compat.nn.checks.error_place import blame, locate_within
from compat.nn.core.adding import Adding, OneByOne
from compat.nn.core.plan import Call, Plan, filled
from compat.nn.core.tape import (
    UNSET,
    Cut,
    Record,
    Recorded,
    Tape,
    cut_gradients,
    fitted,
    without_versions,
)
from compat.tensor_tables import map_tensors, pairs, tensors, with_tensors
from compat.torch_internals import versions

# Places of the tensors of an input that can have a gradient, and of those that cannot.
_INSIDE, _OUTSIDE = (None, 0), None


@dataclass
class Computed:
    """A value that is computed when somebody asks for it; arguments may be numbers of others."""

    operator: Callable[..., Tensor]
    arguments: list[Any]

    def among(self, values: Sequence[Tensor]) -> Tensor:
        """The value."""
        return self.operator(*[_found(item, values) for item in self.arguments])


def _found(item: Any, values: Sequence[Tensor]) -> Any:
    return item.among(values) if isinstance(item, Computed) else filled(item, values)


@dataclass
class CutForm:
    """A module that computes its own gradients, which is called where the net calls it.

    ``input``, with numbers for its tensors, of which ``reached`` counts those that have a gradient;
    ``outputs``, the forms of the tensors of its output. ``place`` is that of ``tape.Cut``.
    """

    module: weakref.ref[Any]
    input: Any
    outputs: list[Any]
    reached: list[int]
    place: int


@dataclass
class WayBack:
    """How a net goes back.

    ``run`` takes what ``DirectPlan.forward`` has saved, a list, which it empties; a list for the
    gradients of ``parameters``, in their order; an ``OneByOne`` for those of ``large`` ones; a
    function that goes back through one of the ``cuts``; and the gradients of those tensors of the
    output that ``ends`` counts. It returns the gradients of the tensors of the input that
    ``reached`` counts, and gradients inside: of these ``grad_inputs`` has, where they are kept, for
    each call the numbers of those of its input, or how they are ``Computed``; None where none came,
    and False where none can be.

    ``calls`` are those of the plan, with other numbers; ``trained``, the parameters of the tape.
    ``forms``: what tells whether gradients for all of the output, a tensor or a list, are such as
    ``run`` takes. ``all_reached``: whether the input is a list that ``run`` returns. ``fresh``:
    whether each tensor of the output has memory of its own, which is contiguous.
    """

    run: Callable[..., tuple[list[Tensor], tuple[Tensor, ...]]]
    calls: list[Call]
    trained: list[Tensor]
    parameters: list[Tensor]
    large: list[Tensor]
    ends: list[int]
    reached: list[int]
    grad_inputs: list[list[Any]] | None
    cuts: list[CutForm]
    forms: list[Any]
    all_reached: bool
    fresh: bool


@dataclass
class DirectPlan:
    """What a net computes for one kind of input.

    ``forward`` takes a function that goes forward through a cut, and the tensors of the input. It
    returns the output; the values that the calls of modules refer to, as those of a plan; and a
    list of what the way ``back`` takes. ``changed`` are the constants of the plan that it writes
    into, such as running statistics.
    """

    forward: Callable[..., tuple[Any, tuple[Tensor, ...], list[Tensor]]]
    back: WayBack
    changed: list[Tensor]


class DirectTape(Tape):
    """A pass by a direct plan.

    Fields: ``saved``, what backward takes, and ``saved_versions``; ``gradients``, those inside the
    net at the latest backward, where they are kept; ``own_error``, that of a module that computes
    its own gradients; ``before``, where there are such, what forward writes into, as it was.
    """

    # Not the plan, which holds fields of modules, which hold this.
    __slots__ = ("back", "before", "gradients", "own_error", "saved", "saved_versions")

    def __init__(self, module: Recorded, source: Any, direct: DirectPlan) -> None:
        super().__init__(module, source)
        back = self.back = direct.back
        self.before = [(t, t.clone()) for t in direct.changed] if back.cuts else []
        self.gradients: Sequence[Tensor] | None = None
        self.own_error: Exception | None = None

    def go_forward(self, module: Recorded, to_input: bool, plan: Plan | None = None) -> Tape:
        if module.latest_tape is not None:
            module.latest_tape.release()
        assert plan is not None
        back, source = self.back, self.source
        self.to_input = to_input and not module.stops_gradient
        self.calls, self.parameters = back.calls, back.trained
        alone = isinstance(source, Tensor)
        leaves = self.leaves = source.detach() if alone else map_tensors(Tensor.detach, source)
        with torch.no_grad():
            given = (leaves,) if alone else tensors(leaves)
            output, self.values, saved = plan.direct.forward(self._through, *given)
        self.saved, self.saved_versions, self.before = saved, versions(saved), []
        root = self.root = Record(leaves)
        root.output = root.plain_output = output
        root.parameters = self.calls[0].parameters
        reached = back.reached
        root.input_places = [_INSIDE if i in reached else _OUTSIDE for i in range(len(given))]
        self.records.append(root)
        self._become_latest(module, plan, root)
        self.versions = versions(self.parameters)
        return self

    def again(self, module: Recorded) -> Tape:
        return ContinuedTape(module, self).go_forward(module, self.to_input)

    def make_records(self) -> None:
        super().make_records()
        if self.values is None or self.back.grad_inputs is None:
            return
        inner = zip(self.records[1:], self.back.grad_inputs, strict=True)
        for record, numbers in inner:
            record.input_places = [_OUTSIDE if i is False else _INSIDE for i in numbers]

    def _through(self, number: int, given: list[Tensor]) -> list[Tensor]:
        """Go forward through a module that computes its own gradients."""
        form = self.back.cuts[number]
        module, plain = form.module(), filled(form.input, given)
        assert module is not None
        try:
            with torch.enable_grad():
                output = map_tensors(Tensor.detach, module.updateOutput(plain))
        except Exception as error:
            blame(error, module, "updateOutput", plain)
            locate_within(error, module, self.module())
            self.own_error = error
            raise
        cut = self.latest[module] = Cut(module, plain, plain, output, form.place)
        self.cuts.append(cut)
        found = tensors(output)
        if [tensor_form(t) for t in found] != form.outputs:
            self.go_with_graphs()
            raise RuntimeError("its output is another one than it was")
        return found

    def _back_through(
        self, method: str, scale: tuple[float, ...], number: int, given: list[Tensor | None]
    ) -> list[Tensor]:
        """Go back through one; zeros where it gives no gradient."""
        cut = self.cuts[number]
        own = zip(tensors(cut.output), given, strict=True)
        grads = [torch.zeros_like(t) if grad is None else grad for t, grad in own]
        cut.grad_output = with_tensors(cut.output, grads)
        with torch.enable_grad():
            found = self._call(cut, method, *scale)
        if method != "accGradParameters":
            cut.grad_input = found
        at_input, inputs = cut_gradients(cut), tensors(cut.input)
        wanted = [(at_input[i], inputs[i]) for i in self.back.cuts[number].reached]
        return [torch.zeros_like(t) if grad is None else grad for grad, t in wanted]

    def release(self) -> None:
        self._release_records()
        self.parameters, self.saved, self.saved_versions, self.replacements = [], [], [], []
        self.cuts.clear()
        self.latest.clear()
        self.values = self.gradients = self.leaves = self.root = self.source = self.earlier = None
        self.given = self.gradOutput = self.grad_outputs = None
        self.spent = False

    def lacks(self, record: Record | None, what: str) -> bool:
        if self.spent:
            return True
        if self.root is None or what == "output":
            return False  # without root it was released
        if record is self.root:
            # Not there after accGradParameters alone.
            is_read = what == "gradInput" and record.grad_input is UNSET
            return is_read and self.went_back(record) and bool(self.back.reached)
        return what != "gradInput" or self.back.grad_inputs is None

    def keeps_gradients(self) -> bool:
        return self.gradients is not None

    def inner_grad_input(self, record: Record) -> Any:
        assert self.gradients is not None and self.back.grad_inputs is not None
        numbers = self.back.grad_inputs[self.records.index(record) - 1]
        found = [None if i is False else _found(i, self.gradients) for i in numbers]
        return with_tensors(record.input, found)

    def results_are_fresh(self, record: Record | None) -> bool:
        return self.back.fresh and record is self.root

    def replace_output(self, output: Any) -> None:
        """Take other tensors with the same values for those of the output.

        What is written into them is seen by backward.
        """
        assert self.root is not None
        news = {
            id(old): t for old, t in zip(tensors(self.root.output), tensors(output), strict=True)
        }
        self.saved = [news.get(id(tensor), tensor) for tensor in self.saved]
        assert self.values is not None
        # The last module's output is the same tensor.
        self.values = [news.get(id(tensor), tensor) for tensor in self.values]
        self.root.output = self.root.plain_output = output

    def has_fallen_short(self) -> None:
        if not self.spent:  # else the next ones are kept
            self.go_with_graphs()

    def holds_parameters(self) -> bool:
        return versions(self.parameters) == self.versions

    def backward(
        self, record: Record, grad_output: Any, scale: float, to_input: bool, to_parameters: bool
    ) -> Any:
        if not Tape.takes_changed_input and self.saved_versions != versions(self.saved):
            raise RuntimeError("a result was modified by an inplace operation since forward")
        back, given = self.back, grad_output
        grads, grad_output = self._ends(record.output, given, self.needs_later(to_input))
        whole = to_input and to_parameters and scale == 1
        call: tuple[Any, ...]
        if not to_parameters:
            call = "updateGradInput", ()
        elif to_input or not self._flowed(given):
            call = "backward", (scale,)
        else:
            call = "accGradParameters", (scale,)
        saved = self.saved
        if whole and not (self.keep or self.cuts) and self.source_is_unchanged():
            self.saved, self.values, self.spent = [], None, True
        else:
            saved = list(saved)
        if to_parameters:
            adding = Adding(scale, announced=whole)
            into = adding.list_for(back.parameters)
        else:
            adding, into = None, [None] * len(back.parameters)
        large = OneByOne(adding, back.large)
        self._swap_input()
        try:
            with torch.no_grad():
                found, inside = back.run(
                    saved, into, large, partial(self._back_through, *call), *grads
                )
                if adding is not None:
                    adding.add_list(back.parameters, into)
        finally:
            self._swap_input()
        self.gradients = None if back.grad_inputs is None else inside
        self.given = given
        self._begun_with(grad_output, [], grads)
        if not to_input:
            return None
        if isinstance(self.leaves, Tensor):
            return found[0] if found else None
        if back.all_reached:
            return found
        reached = dict(zip(back.reached, found, strict=True))
        return with_tensors(self.leaves, map(reached.get, range(len(tensors(self.leaves)))))

    def _ends(self, output: Any, grad_output: Any, later: bool) -> tuple[list[Tensor], Any]:
        """What backward begins with, and as a table; copies, where that must stay as it is."""
        forms, alone = self.back.forms, isinstance(output, Tensor)
        given = [grad_output] if alone else grad_output
        if type(given) is list and len(given) == len(forms):
            try:
                fits = [tensor_form(g) for g in given] == forms
            except AttributeError:  # other than tensors
                fits = False
            if fits:
                if later and (self.keep or self.remembers or without_versions(given)):
                    given = [g.clone() for g in given]
                return given, given[0] if alone else given
        grad_output = self._to_keep(grad_output) if later else grad_output
        both = pairs(output, grad_output, ("output", "gradOutput"))
        return [
            torch.zeros_like(tensor) if grad is None else _like(fitted(grad, tensor), tensor)
            for tensor, grad in [both[i] for i in self.back.ends]
        ], grad_output

    def _note_parameters(self) -> None:
        if self.gradients is not None:
            self.stamp = self.current_stamp()  # nothing is computed again from earlier ones
        else:
            super()._note_parameters()


class ContinuedTape(Tape):
    """The graph of a pass that could not go on directly, or of which more is asked.

    Modules that compute their own gradients have been called once; that is not done again.
    """

    __slots__ = ("given_outputs",)

    def __init__(self, module: Recorded, former: Tape) -> None:
        super().__init__(module, former.source)
        self.given_outputs = [cut.output for cut in former.cuts]
        for tensor, value in former.before if isinstance(former, DirectTape) else ():
            tensor.copy_(value)

    def _own_output(self, module: Recorded, plain: Any) -> Any:
        if self.given_outputs:
            return self.given_outputs.pop(0)
        return super()._own_output(module, plain)


def tensor_form(tensor: Tensor) -> Any:
    """What tells whether one tensor can be in the place of another."""
    return tensor.shape, tensor.stride(), tensor.dtype, tensor.device


def _like(grad: Tensor, output: Tensor) -> Tensor:
    """A gradOutput that lies in memory as the one did that was logged."""
    if grad.stride() == output.stride():
        return grad
    return torch.empty_like(output).copy_(grad)
