"""Passes of a net through compiled code (``Module.compile``).

A pass is straight-line operators of PyTorch: the modules' methods are called once on tensors
without memory, forward and back, what they call is written down as a graph, divided in two and
given to PyTorch's compiler. Code serves as long as the net is what it was when the code was made;
any other pass goes the plain way.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from compat import random
from compat.nn.core import results
from compat.nn.core.differentiated import fitted
from compat.nn.core.operators import (
    Untraceable,
    additions,
    changes,
    check,
    compiled,
    compiling,
    divided,
    relaid,
    written,
)
from compat.random.fill import Filling, filled_by
from compat.tensor_tables import form, map_tensors, pairs, tensors, with_tensors
from compat.torch_internals import foreach_add_, shape_mode

if TYPE_CHECKING:
    from compat.nn.core.module import Module

# How many states of the net and forms of input are compiled; others go the plain way.
FORMS = 8
# So many passes of which none is like the one before, until that is said.
_RESTLESS = 20
_METHODS = ("updateOutput", "updateGradInput", "accGradParameters", "backward", "forward")
# What a pass leaves in any module, and what does not change what is computed.
_LEFT = frozenset(
    ("output", "gradInput", "keep_results", "compilation", "_freed", "_graph", "_call")
)
# Stands where a tensor is in a table.
_TENSOR = torch.empty(0)


def left_in(module: Module) -> frozenset[str]:
    """The fields that a pass of ``module`` sets and no other pass reads."""
    return _LEFT.union(module.pass_fields, module.cleared_fields)


class State:
    """A net and the form of its input at some time: what code that was made then goes by.

    Args:
        rebound: fields, by the ``id`` of the module and name, that each pass sets anew.
    """

    def __init__(self, net: Module, input: Any, rebound: Iterable[tuple[int, str]] = ()) -> None:
        self.modules = list({id(module): module for module in net.listModules()}.values())
        self._mode = _mode(input)
        self._classes = [(cls, _methods(cls)) for cls in dict.fromkeys(map(type, self.modules))]
        rebound = set(rebound)
        self._left = [
            left_in(m).union(name for of, name in rebound if of == id(m)) for m in self.modules
        ]
        self._fields = list(map(_own_fields, self.modules, self._left))
        # The fields of the modules inside as the latest pass through code has left them.
        self._inside = [module.__dict__ for module in self.modules if module is not net]
        self._settled: list[dict[str, Any]] = []
        self._tables: list[Any] = []
        self._contents: list[Any] = []
        self._numbers: list[tuple[Any, Any, Tensor]] = []
        held: dict[int, Tensor] = {}
        for module, fields in zip(self.modules, self._fields, strict=True):
            self._walk(module.__dict__, fields.items(), held)
        self.held = list(held.values())
        self._forms = list(map(_form, self.held))

    def _walk(
        self, table: Any, entries: Iterable[tuple[Any, Any]], held: dict[int, Tensor]
    ) -> None:
        """Note what lies in a table, and in those in it."""
        for key, value in entries:
            if isinstance(value, Tensor):
                held[id(value)] = value
                if value.numel() == 1:  # others are equal to no tensor but themselves
                    self._numbers.append((table, key, value))
                continue
            if type(value).__module__.startswith("compat.") and not hasattr(value, "updateOutput"):
                value = getattr(value, "__dict__", None)  # a table of another kind
            if isinstance(value, (list, dict)):
                if any(value is known for known in self._tables):
                    continue
                self._tables.append(value)
                self._contents.append(value.copy())
            if isinstance(value, dict):
                self._walk(value, value.items(), held)
            elif isinstance(value, (list, tuple)):
                self._walk(value, enumerate(value), held)

    def holds(self, input: Any) -> bool:
        """Whether nothing is different that code goes by."""
        try:
            return (
                self._mode == _mode(input)
                and self._have_fields()
                and self._tables == self._contents
                and all(table[key] is tensor for table, key, tensor in self._numbers)
                and [*map(_form, self.held)] == self._forms
                and all(_methods(cls) == methods for cls, methods in self._classes)
            )
        except (RuntimeError, ValueError):  # another tensor or array, which has no one truth value
            return False

    def _have_fields(self) -> bool:
        first = self.modules[0]
        if self._inside == self._settled:
            return _own_fields(first, self._left[0]) == self._fields[0]
        return list(map(_own_fields, self.modules, self._left)) == self._fields

    def free_inside(self) -> None:
        """Drop what passes have left in the modules inside."""
        if self._inside == self._settled:
            return
        for module in self.modules:
            fields = module.__dict__
            if any(fields is own for own in self._inside):
                for name in ("output", "gradInput", *module.pass_fields, *module.cleared_fields):
                    if fields.get(name, module) is not None:
                        fields.pop(name, None)
                fields["_freed"] = "compiled"
        self._settled = [dict(fields) for fields in self._inside]


def _own_fields(module: Module, left: frozenset[str]) -> dict[str, Any]:
    """What a module's passes go by; of gradInput, whether it is wanted."""
    fields = {name: value for name, value in module.__dict__.items() if name not in left}
    fields["gradInput"] = module.__dict__.get("gradInput", module) is not None
    return fields


def _methods(cls: type) -> list[Any]:
    return [getattr(cls, name) for name in _METHODS]


def _form(tensor: Tensor) -> Any:
    return tensor.shape, tensor.stride(), tensor.dtype, tensor.device, tensor.grad is None


def _mode(input: Any) -> Any:
    kind = next((tensor.device.type for tensor in tensors(input)), "cpu")
    autocast = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
    return form(input, _form), autocast, torch.get_num_threads(), torch.is_inference_mode_enabled()


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
        if results.switch.on:
            self.output = results.refilled(net.__dict__.get("output"), self.output)
        net.__dict__.pop("_freed", None)
        net.output = self.output

    def go_back(self, net: Module, input: Any, gradOutput: Any, scale: float) -> None:
        code, given = self.code, self._given
        if input is not self.input:  # as in Torch7 backward goes with the input that it is given
            if form(input, _form) != form(self.input, _form):
                raise ValueError("input is of another form than that of forward")
            given = given | {"input": tensors(input)}
        given = given | {
            "gradOutput": [
                torch.zeros_like(output, memory_format=torch.contiguous_format)
                if gradient is None
                else fitted(gradient, output).contiguous()
                for output, gradient in pairs(self.output, gradOutput, ("output", "gradOutput"))
            ]
        }
        found = code.backward([given[kind][i] for kind, i in code.sources])
        count = len(code.plain_back)
        gradInput = _laid(code.gradInput, found[:count], code.plain_back)
        if results.switch.on:
            gradInput = results.refilled(net.__dict__.get("gradInput"), gradInput)
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
    """Results in their table, contiguous where the net's own are."""
    return with_tensors(
        table, [t.contiguous() if own else t for t, own in zip(found, plain, strict=True)]
    )


class Code:
    """Forward and backward of a net in some state, compiled.

    What goes in is told by pairs of a kind and a number: ``("held", 2)`` is the third of the net's
    tensors, ``("draw", 0)`` what the first of ``draws`` gives, ``("input", 0)`` the first tensor of
    the input, ``("gradOutput", 0)`` that of gradOutput, ``("kept", 0)`` the first of what forward
    has kept, and ``("gradient", 0)`` the gradient of a parameter, which no code reads.

    Raises ``Untraceable``, or whatever an operator says of tensors without memory.
    """

    # The form of the results, and which of their tensors are contiguous.
    output: Any
    gradInput: Any
    plain: list[bool]
    plain_back: list[bool]
    # The numbers of the net's tensors that forward changes.
    changed: list[int]

    def __init__(self, net: Module, state: State, input: Any) -> None:
        self.held = state.held
        self.draws: list[Filling] = []
        self.rebound: list[tuple[int, str]] = []
        self.trained = [i for i, t in enumerate(self.held) if t.grad is not None]
        if "compilation" not in type(net).backward.__code__.co_names:
            raise Untraceable(f"{net.typename} has a backward of its own")
        for module in state.modules:
            _check(module)
        graph, flat, names = self._trace(net, state, input)
        late = sum(kind in ("gradient", "gradOutput") for kind, _ in names)
        first, second, self.taken, sources = divided(
            graph, flat, names, len(self.plain) + len(self.changed), late
        )
        places = {name: i for i, name in enumerate(sources)}
        own = [places.get(("gradient", i)) for i in range(len(self.trained))]
        left, self.products = additions(second, len(self.plain_back), own)
        self.sources = [sources[i] for i in left]
        self.forward = compiled(first)
        # How tensors that are kept lie is the compiler's choice.
        empty = [torch.zeros(d.shape, dtype=d.dtype) for d in self.draws]
        given = {"held": self.held, "draw": empty, "input": tensors(input)}
        kept = self.forward([given[kind][i] for kind, i in self.taken])
        kept = kept[len(self.plain) + len(self.changed) :]
        relaid(second, [kept[i] if kind == "kept" else None for kind, i in self.sources])
        self.backward = compiled(second)

    def _trace(self, net: Module, state: State, input: Any) -> Any:
        mode, generator, refills = shape_mode(), random.getRNGState(), results.switch.on

        def like(tensor: Tensor) -> Tensor:
            return mode.from_tensor(tensor.detach(), static_shapes=True)

        inputs = list(map(like, tensors(input)))
        gradients = [like(self.held[i].grad) for i in self.trained]  # type: ignore[arg-type]
        # Forward does without the last two.
        parts = {"held": list(map(like, self.held)), "draw": [], "input": inputs}
        parts |= {"gradient": gradients, "gradOutput": []}

        def parted(function: Callable[..., list[Tensor]]) -> Callable[..., list[Tensor]]:
            def called(*flat: Tensor) -> list[Tensor]:
                remaining = iter(flat)
                own = {name: [next(remaining) for _ in part] for name, part in parts.items()}
                return function(net, state, input, own)

            return called

        results.switch.on = False
        try:
            with torch.inference_mode(False), torch.no_grad(), mode:
                look = written(parted(self._look), [*chain(*parts.values())])
                self.changed = changes(look)
                if any(i >= len(self.held) for i in self.changed):
                    raise Untraceable("the net changes its input in place")
                parts["draw"] = [torch.empty(d.shape, dtype=d.dtype) for d in self.draws]
                parts["gradOutput"] = [t.new_empty(t.shape) for t in self.ends]
                flat = [*chain(*parts.values())]
                graph = written(parted(self._passes), flat)
            if not torch.equal(generator, random.getRNGState()):
                raise Untraceable("a module draws single random numbers")
        finally:
            results.switch.on = refills
            random.setRNGState(generator)
        if changes(graph):
            raise Untraceable("going back changes gradOutput, the input or tensors of the net")
        _check_alone(self.held, self.changed)
        check(graph)
        return graph, flat, [(name, i) for name, part in parts.items() for i in range(len(part))]

    def _look(
        self, net: Module, state: State, input: Any, parts: dict[str, list[Tensor]]
    ) -> list[Tensor]:
        """Go forward once, to see what happens besides."""

        def note(tensor: Tensor, filling: Filling) -> Tensor:
            self.draws.append(filling)
            return tensor

        with self._replaced(state, parts["held"], parts["gradient"]), filled_by(note):
            output = net.updateOutput(with_tensors(input, parts["input"]))
        self.ends = tensors(output)
        self.output = map_tensors(lambda _: _TENSOR, output)
        self.plain = [t.is_contiguous() for t in self.ends]
        return self.ends

    def _compare(self, module: Module, known: dict[str, Any]) -> None:
        """Note which fields a pass sets anew; refuse a module in which it leaves more."""
        left = left_in(module)
        for name, value in module.__dict__.items():
            before = known.get(name, known)
            if name not in left and value is not before:
                if tensors(value) or value != before:
                    raise Untraceable(
                        f"{name} of {module.typename} is another one after every pass"
                    )
                self.rebound.append((id(module), name))

    def _passes(
        self, net: Module, state: State, input: Any, own: dict[str, list[Tensor]]
    ) -> list[Tensor]:
        """Forward and backward, of which the operators are written down."""
        numbers = iter(own["draw"])
        held = [t.clone() if i in self.changed else t for i, t in enumerate(own["held"])]
        gradients = [gradient.clone() for gradient in own["gradient"]]
        with (
            self._replaced(state, held, gradients),
            filled_by(lambda tensor, _: tensor.copy_(next(numbers))),
        ):
            given = with_tensors(input, own["input"])
            fields = [dict(module.__dict__) for module in state.modules]
            output = net.updateOutput(given)
            found = [*tensors(output), *(held[i] for i in self.changed)]
            gradInput = net.backward(given, with_tensors(output, own["gradOutput"]), 1)
            for module, known in zip(state.modules, fields, strict=True):
                self._compare(module, known)
        self.gradInput = map_tensors(lambda _: _TENSOR, gradInput)
        self.plain_back = [t.is_contiguous() for t in tensors(gradInput)]
        return [*found, *tensors(gradInput), *gradients]

    @contextmanager
    def _replaced(
        self, state: State, held: list[Tensor], gradients: list[Tensor]
    ) -> Iterator[None]:
        """Have the net hold other tensors for a while; after it, the net is as before."""
        other = {id(old): new for old, new in zip(self.held, held, strict=True)}
        for i, gradient in zip(self.trained, gradients, strict=True):
            held[i].grad = gradient
        kept = [(module.__dict__, dict(module.__dict__)) for module in state.modules]
        try:
            for module in state.modules:
                left = left_in(module)
                for name, value in list(module.__dict__.items()):
                    if name not in left and tensors(value):
                        module.__dict__[name] = map_tensors(lambda t: other[id(t)], value)
            yield
        finally:
            for fields, before in kept:
                fields.clear()
                fields.update(before)


def _check(module: Module) -> None:
    """Refuse what does more than this library's modules do, or may be another at any time."""
    from compat.nn.core.module import Module

    own = any(name in module.__dict__ for name in _METHODS)
    code = (getattr(type(module), name).__module__ for name in _METHODS)
    if own or any(not name.startswith("compat.nn.") for name in code):
        raise Untraceable(f"{module.typename} has methods of its own")
    if not module.heeds_scale:
        raise Untraceable(f"{module.typename} does not heed scale")
    if type(module).compute is not Module.compute:
        raise Untraceable(f"{module.typename} computes by PyTorch's autograd")


def _check_alone(held: Sequence[Tensor], changed: Sequence[int]) -> None:
    """Refuse a net of which forward changes memory that several of its tensors have."""
    spans = [(t.data_ptr(), t.data_ptr() + t.nbytes) for t in held]
    for i in changed:
        start, end = spans[i]
        if any(k != i and start < b and a < end for k, (a, b) in enumerate(spans)):
            raise Untraceable("forward changes memory that modules share")


def _reason(error: Exception) -> str:
    """The first line of what went wrong."""
    lines = str(error).strip().splitlines()
    kind = type(error).__name__
    if isinstance(error, Untraceable):
        return lines[0]
    if kind == "DataDependentOutputException":
        return f"a module decides by values ({lines[0]})"
    return f"{kind}: {lines[0]}" if lines else kind
