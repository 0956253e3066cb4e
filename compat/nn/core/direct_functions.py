"""What a logged pass becomes: two functions, forward and back, that hand gradients over."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from compat.nn.core.accumulating_linear import LARGE
from compat.nn.core.direct import Computed, CutForm, DirectPlan, WayBack, tensor_form
from compat.nn.core.direct_sums import without_zeros
from compat.nn.core.direct_writer import OTHERS, Line, LoggedCall, Unwritable, Writer, function
from compat.nn.core.plan import Call, Number, Plan
from compat.nn.core.tape import Recorded, Tape
from compat.tensor_tables import map_tensors, tensors


class LoggedPass:
    """What a pass is made of, and the functions that repeat it.

    Args:
        tape: its graph, which is there still.
        modules: those of the tape's records.
        inside: whether gradients inside the net are to be kept.

    Raises ``Unwritable`` where the output has no gradient.
    """

    def __init__(self, tape: Tape, modules: Sequence[Recorded], inside: bool) -> None:
        assert tape.root is not None
        self.input, self.output = tape.leaves, tape.root.output
        self.inside = inside
        self.records, self.modules, self.trained = tape.records, modules, tape.parameters
        self.leaves = list(tensors(tape.leaves))
        outputs = list(tensors(self.output))
        self.ends = [t for t in outputs if t.requires_grad]
        self.end_places = [i for i, t in enumerate(outputs) if t.requires_grad]
        self.grads = [torch.ones_like(t) for t in self.ends]
        self.cuts = [
            CutForm(
                weakref.ref(cut.module),
                _numbered(cut.input),
                [tensor_form(t) for t in tensors(cut.output)],
                [i for i, t in enumerate(tensors(cut.input)) if t.requires_grad],
                cut.place,
            )
            for cut in tape.cuts
        ]
        self.parameters = [p for p in dict.fromkeys(tape.parameters) if p.grad is not None]
        inner = tape.records[1:] if inside else []
        # What reads an input may also write over it, and be where it is in the graph then.
        self.inputs = [record.input_edges() for record in inner]
        if not self.ends:
            raise Unwritable

    def wanted(self) -> list[Any]:
        """The tensors of which gradients are asked, as autograd takes them."""
        found = [t for t in self.leaves if t.requires_grad] + self.parameters
        return found + [edge for own in self.inputs for edge in own if edge is not None]

    def plan(
        self,
        plan: Plan,
        forward: Sequence[LoggedCall],
        backward: Sequence[LoggedCall],
        found: Sequence[Tensor | None],
        changed: list[Tensor],
    ) -> DirectPlan:
        """The plan of what was called."""
        wanted = map(id, self.wanted())
        gradients = {i: g for i, g in zip(wanted, found, strict=True) if g is not None}
        writer = Writer([*plan.constants(), *self.trained])
        arguments = [f"x{i}" for i in range(len(self.leaves))]
        for tensor, name in zip(self.leaves, arguments, strict=True):
            writer.argument(tensor, name)
        lines = writer.lines(forward)
        lines += [_setting(fields, name, writer) for fields, name in plan.written]
        asked = [t for t in (*self.leaves, *self.parameters) if id(t) in gradients]
        backward, left_out = without_zeros(backward, [gradients[id(t)] for t in asked])
        grads = [f"g{i}" for i in range(len(self.grads))]
        for tensor, name in zip(self.grads, grads, strict=True):
            writer.argument(tensor, name)
        back = writer.lines(backward, once=True)
        known = {name for line in lines for name in line.targets} | set(arguments)

        # What forward returns.
        referred = [t for r in self.records for v in (r.input, r.output) for t in tensors(v)]
        values = list(dict.fromkeys(writer.name(t) for t in referred))
        numbers = {name: i for i, name in enumerate(values)}

        def named(value: Any) -> Any:
            return map_tensors(lambda t: Number(numbers[writer.name(t)]), value)

        # Gradients.
        reached = [i for i, t in enumerate(self.leaves) if id(t) in gradients]
        at_leaves = [writer.name(gradients[id(self.leaves[i])]) for i in reached]
        apart = _apart(writer, at_leaves, grads, known)
        inside: dict[str, int] = {}

        def number(tensor: Tensor) -> int:
            return inside.setdefault(writer.name(tensor), len(inside))

        grad_inputs: list[list[Any]] | None = None
        if self.inside:
            grad_inputs = [
                [
                    False if edge is None else _recipe(gradients.get(id(edge)), left_out, number)
                    for edge in own
                ]
                for own in self.inputs
            ]
        at_parameters = [
            (p, writer.name(gradients[id(p)])) for p in self.parameters if id(p) in gradients
        ]
        parameters, large, back = _delivered(at_parameters, back, {*at_leaves, *inside})
        needed = [name for line in back for name in line.used]
        saved = [name for name in dict.fromkeys([*needed, *at_leaves, *inside]) if name in known]
        run_forward = function(
            ", ".join(["through", *arguments]),
            lines,
            f"{_text(self.output, writer)}, ({_joined(values)}), [{', '.join(saved)}]",
            [*values, *saved],
            writer.objects,
        )
        unpacked = []
        if saved:
            unpacked = [
                Line(tuple(saved), f"({_joined(saved)}) = saved", ()),
                Line((), "saved.clear()", ()),
            ]
        run_backward = function(
            ", ".join(["saved", "into", "large", "back_through", *grads]),
            [*unpacked, *back],
            f"[{', '.join(apart)}], ({_joined(inside)})",
            [*at_leaves, *inside],
            writer.objects,
        )
        way = WayBack(
            run_backward,
            [
                Call(module, named(record.input), named(record.output), record)
                for module, record in zip(self.modules, self.records, strict=True)
            ],
            list(self.trained),
            parameters,
            large,
            self.end_places,
            reached,
            grad_inputs,
            self.cuts,
            [tensor_form(t) for t in self.grads]
            if len(self.grads) == len(tensors(self.output)) and _is_flat(self.output)
            else [],
            _is_flat(self.input) and len(reached) == len(self.leaves),
            _are_fresh(writer, list(tensors(self.output)), arguments),
        )
        return DirectPlan(run_forward, way, changed)


def _is_flat(value: Any) -> bool:
    """Whether it is a tensor or a list of tensors alone."""
    if isinstance(value, Tensor):
        return True
    return isinstance(value, list) and all(isinstance(item, Tensor) for item in value)


def _are_fresh(writer: Writer, outputs: Sequence[Tensor], arguments: Sequence[str]) -> bool:
    names = [writer.name(t) for t in outputs]
    owners = [writer.owner(name) for name in (*names, *arguments)]
    alone = len({*owners[: len(names)]}) == len(names) and not any(
        writer.is_constant(name) for name in names
    )
    apart = not {*owners[: len(names)]} & {OTHERS, *owners[len(names) :]}
    return alone and apart and all(t.dim() and t.is_contiguous() for t in outputs)


def _numbered(value: Any) -> Any:
    """``value`` with numbers in the place of its tensors."""
    numbers = itertools.count()
    return map_tensors(lambda _: Number(next(numbers)), value)


def _setting(fields: dict[str, Any], name: str, writer: Writer) -> Line:
    """The line that leaves a result in a field."""
    value = fields.get(name)
    if not isinstance(value, Tensor) or value.requires_grad:
        raise Unwritable  # somebody may ask for its gradient
    held = writer.name(value)
    return Line((), f"{writer.object(fields)}[{name!r}] = {held}", (held,))


def _recipe(value: Any, left_out: dict[int, LoggedCall], number: Callable[[Tensor], int]) -> Any:
    """How to come by a gradient inside, or by what it is computed from."""
    if isinstance(value, (list, tuple)):
        return [_recipe(item, left_out, number) for item in value]
    if not isinstance(value, Tensor):
        return value
    call = left_out.get(id(value))
    if call is None:
        return Number(number(value))
    return Computed(call.operator, [_recipe(item, left_out, number) for item in call.args])


def _joined(names: Iterable[str]) -> str:
    return "".join(f"{name}, " for name in names)


def _text(output: Any, writer: Writer) -> str:
    if isinstance(output, Tensor):
        return writer.name(output)
    if isinstance(output, (list, tuple)):
        return f"[{', '.join(_text(item, writer) for item in output)}]"
    raise Unwritable


def _apart(
    writer: Writer, at_leaves: Sequence[str], grads: Sequence[str], known: set[str]
) -> list[str]:
    """Gradients of the input that share no memory with one another, or with what is given."""
    taken = {writer.owner(name) for name in (*grads, *known)}
    found = []
    for name in at_leaves:
        owner = writer.owner(name)
        is_taken = owner in taken or writer.is_constant(name)
        found.append(f"{name}.clone()" if is_taken else name)
        taken.add(owner)
    return found


def _by_parts(line: Line, number: int) -> str | None:
    """How a large gradient is handed over that need not be there as a whole."""
    given = line.given
    if line.operator is torch.ops.aten.mm.default:
        return f"large.product({number}, {given[0]}, {given[1]})"
    if line.operator is torch.ops.aten.embedding_dense_backward.default and given[4] == "False":
        return f"large.rows({number}, {given[0]}, {given[1]}, {given[3]})"
    return None


def _delivered(
    at_parameters: Sequence[tuple[Tensor, str]],
    lines: Sequence[Line],
    returned: set[str],
) -> tuple[list[Tensor], list[Tensor], list[Line]]:
    """The lines with those that hand gradients over, once they are complete.

    Large gradients are not kept until the end, and large products not computed.
    """
    # In the order in which they are complete, as the engine adds them: some share memory.
    order = {name: i for i, line in enumerate(lines) for name in line.targets}
    at_parameters = sorted(at_parameters, key=lambda item: order.get(item[1], -1))
    small = [(p, name) for p, name in at_parameters if p.numel() < LARGE]
    large = [(p, name) for p, name in at_parameters if p.numel() >= LARGE]
    handed: dict[str, list[str]] = {}
    for i, (_, name) in enumerate(small):
        handed.setdefault(name, []).append(f"into[{i}] = {name}")
    for i, (_, name) in enumerate(large):
        handed.setdefault(name, []).append(f"large[{i}] = {name}")
    uses: dict[str, int] = {}
    for line in lines:
        for name in line.used:
            uses[name] = uses.get(name, 0) + 1
    numbers = {name: i for i, (_, name) in enumerate(large)}
    found: list[Line] = []
    defined = {name for line in lines for name in line.targets}
    for name in [name for name in handed if name not in defined]:
        found += [Line((), text, (name,)) for text in handed.pop(name)]
    for line in lines:
        name = line.targets[0] if len(line.targets) == 1 else ""
        is_alone = len(handed.get(name, ())) == 1 and not uses.get(name) and name not in returned
        text = _by_parts(line, numbers[name]) if name in numbers and is_alone else None
        if text is not None:
            found.append(Line((), text, line.used))
            continue
        found.append(line)
        for target in line.targets:
            found += [Line((), text, (target,)) for text in handed.pop(target, ())]
    return [p for p, _ in small], [p for p, _ in large], found
