"""Going forward as last time, without asking each module again.

A net of many small modules spends most of its time between PyTorch's operators: in checks, in
dispatch from container to module, in the records of every call. Where nothing that these depend on
has changed, that is the same each time, so the second pass of a net with inputs of the same kind
notes which functions of PyTorch were called with what, and later ones call these alone, from a
Python function of their own. Operators, results and the graph are the same.

A pass that depends on more is refused and computed as ever: modules that compute their own
gradients, hold memories or draw from Torch7's random numbers; values of tensors that Python code
looks at; shapes that depend on values; fields that are set on the way; functions of the graph
written in Python, unless they are ``PlannedFunction``; and writing over what a record refers to.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from compat.nn.core.structure import Structure
from compat.torch_internals import any_autocast

# How many kinds of input a net has plans for, or is waiting to see again.
_KINDS = 8
# How often a kind must have been seen at most, in a net whose plans come to nothing.
_MOST_SIGHTINGS = 64

# A field: what has it, None for the net itself, and its name.
Place = tuple[dict[str, Any] | None, str]


class Call:
    """One call of a module in a plan: its input and output, with numbers in place of tensors.

    ``parameters`` and ``cuts`` are those of its record. It does not keep the module, since tapes,
    which modules hold, hold calls.
    """

    def __init__(self, module: Any, input: Any, output: Any, record: Any) -> None:
        self.module = weakref.ref(module)
        self.input = input
        self.output = output
        self.parameters = record.parameters
        self.cuts = record.cuts


class Number(int):
    """The place of a tensor among the values that a plan's function returns."""


def filled(template: Any, values: Sequence[Tensor]) -> Any:
    """``template`` with the tensors that its numbers stand for."""
    if type(template) is Number:
        return values[template]
    if isinstance(template, list):
        return [filled(item, values) for item in template]
    if isinstance(template, dict):
        return {key: filled(item, values) for key, item in template.items()}
    return template


class Plan:
    """What a net computes for one kind of input.

    ``run`` takes the tensors of the input and returns the output and all tensors that the ``calls``
    of its modules refer to, of which the first is the net's; it is None where the net has modules
    that compute their own gradients or write over results, which only direct passes can repeat.
    ``parameters`` are those of its tape; ``inner``, the fields of the modules inside. ``bare``:
    whether the graph goes without the views that tell a module's output from its input; the
    gradient at one of them is then that of whatever reads it.

    It holds while the ``modules`` are as they were, and the ``constants`` in their places.
    """

    def __init__(
        self,
        run: Callable[..., tuple[Any, tuple[Tensor, ...]]] | None,
        calls: list[Call],
        modules: Sequence[Any],
        constants: list[tuple[Place, Tensor]],
        parameters: list[Tensor],
        bare: bool,
    ) -> None:
        self.run = run
        self.calls = calls
        self.parameters = parameters
        self.bare = bare
        # The fields of modules inside that are set on the way.
        self.written: list[tuple[dict[str, Any], str]] = []
        self.has_cuts = False
        # What goes without a graph (``compat.nn.core.direct``); False where nothing does.
        self.direct: Any = None
        self.inner = [vars(module) for module in dict.fromkeys(modules[1:])]
        self._structure = Structure(modules)
        self._constants = [
            (fields, name, value, value.shape) for (fields, name), value in constants
        ]

    def constants(self) -> list[Tensor]:
        """The tensors of modules that are computed with."""
        return [value for _, _, value, _ in self._constants]

    def holds(self, root: dict[str, Any]) -> bool:
        """Whether nothing has changed that the plan depends on; ``root``, the net's fields."""
        if not self._structure.holds(root):
            return False
        for fields, name, value, shape in self._constants:
            held = (root if fields is None else fields).get(name)
            if held is not value or value.shape != shape:
                return False
        return not [p for p in self.parameters if p.grad is None]


class Plans:
    """The plans of one net, by the kind of its input."""

    # How often a kind of input must have been seen before it is worth a plan.
    sightings = 1
    # Whether passes may go without a graph: nobody has asked for more than they have.
    direct = True

    def __init__(self) -> None:
        self._found: dict[Any, Any] = {}

    def get(self, kind: Any, root: dict[str, Any]) -> Plan | int:
        """The plan for such an input, or how often it was seen without one; -1 if it has none."""
        found = self._found.get(kind, 0)
        if isinstance(found, Plan):
            if found.holds(root):
                return found
            self.sightings = min(2 * self.sightings, _MOST_SIGHTINGS)
            found = 0
        if found >= 0:
            if kind not in self._found and len(self._found) >= _KINDS:
                self._found.pop(next(iter(self._found)))
            self._found[kind] = found + 1
        return found

    def put(self, kind: Any, plan: Plan | None) -> None:
        """Keep what came of recording one."""
        self._found[kind] = -1 if plan is None else plan

    def drop(self, kind: Any) -> None:
        """Forget a plan that failed."""
        self._found.pop(kind, None)


def kind_of_pass(input: Any, to_input: bool, keep: bool) -> Any:
    """What a plan depends on besides the net; None where there is none for such an input."""
    kind = _kind(input)
    if not kind:
        return None
    return kind, to_input, keep, torch.is_grad_enabled(), any_autocast(), torch.get_default_dtype()


def _kind(value: Any) -> Any:
    if type(value) is Tensor:
        return value.shape, value.stride(), value.dtype, value.device
    if isinstance(value, (list, tuple)):
        kinds = tuple([_kind(item) for item in value])
        return None if None in kinds else kinds
    return None
