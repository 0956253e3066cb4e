"""Passes of a net through compiled code (``Module.compile``).

A pass is straight-line operators of PyTorch: the modules' methods are called once on tensors
without memory, forward and back, what they call is written down as a graph, divided in two and
given to PyTorch's compiler. Code serves as long as the net is what it was when the code was made;
any other pass goes the plain way.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from compat import random
from compat.nn.core.differentiated import fitted
from compat.nn.core.operators import (
    compiled,
    compiling,
    divided,
    draws_random_numbers,
    sums,
    written,
)
from compat.random.fill import Filling, filled_by
from compat.tensor_tables import form, map_tensors, pairs, tensors
from compat.torch_internals import foreach_add_, shape_mode, version

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


class Untraceable(Exception):
    """The net can be computed, but not as a graph; tells why."""


class State:
    """A net and the form of its input at some time: what code that was made then goes by."""

    def __init__(self, net: Module, input: Any) -> None:
        self.modules = net.listModules()
        self._mode = _mode(input)
        self._classes = [(cls, _methods(cls)) for cls in dict.fromkeys(map(type, self.modules))]
        self._fields: list[tuple[dict[str, Any], list[str], list[Any]]] = []
        self._lists: list[tuple[list[Any], list[Any]]] = []
        self.held: list[Tensor] = []
        for module in self.modules:
            fields = module.__dict__
            left = left_in(module)
            names = [*(name for name in fields if name not in left), *_METHODS]
            values = [fields.get(name) for name in names]
            self._fields.append((fields, names, values))
            self._lists += [(value, list(value)) for value in values if isinstance(value, list)]
            self.held += [tensor for value in values for tensor in tensors(value)]
        self.held = list({id(tensor): tensor for tensor in self.held}.values())
        self._forms = list(map(_form, self.held))
        self._unwanted = self._without_gradient()

    def _without_gradient(self) -> list[bool]:
        """Of which modules the gradient of the input is not wanted."""
        return [fields.get("gradInput", fields) is None for fields, _, _ in self._fields]

    def holds(self, input: Any) -> bool:
        """Whether nothing is different that code goes by."""
        try:
            return (
                self._mode == _mode(input)
                and all(
                    [*map(fields.get, names)] == values for fields, names, values in self._fields
                )
                and all(now == before for now, before in self._lists)
                and self._without_gradient() == self._unwanted
                and [*map(_form, self.held)] == self._forms
                and all(_methods(cls) == methods for cls, methods in self._classes)
            )
        except (RuntimeError, ValueError):  # another tensor or array, which has no one truth value
            return False


def left_in(module: Module) -> frozenset[str]:
    """The fields that a pass of ``module`` sets and no other pass reads."""
    return _LEFT.union(module.pass_fields, module.cleared_fields)


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
        code = self._code(net, input)
        if code is None:
            return False
        self._pass = Pass(net, code, input)
        return True

    @property
    def ran(self) -> bool:
        """Whether the latest pass forward went through compiled code."""
        return self._pass is not None

    def backward(self, net: Module, gradOutput: Any, scale: float) -> Any:
        """Go back through the latest pass; returns ``net.gradInput``."""
        assert self._pass is not None
        self._pass.go_back(net, gradOutput, scale)
        return net.gradInput

    def _code(self, net: Module, input: Any) -> Code | None:
        for i, (state, code) in enumerate(self._codes):
            if state.holds(input):
                if i:
                    self._codes.insert(0, self._codes.pop(i))
                return code
        if len(self._codes) >= FORMS:
            self._warn(f"there have been {FORMS} forms of input and states of the net already")
            return None
        candidate = self._candidate
        if candidate is None or not candidate.holds(input):
            self._candidate = State(net, input)
            self._restless += 1
            if self._restless > _RESTLESS:
                self._warn("the net or its input is another one in every pass")
            return None
        self._candidate, self._restless = None, 0
        made: Code | None = None
        try:
            with compiling:
                made = Code(net, candidate, input)
        except Exception as error:
            self._warn(_reason(error))
        self._codes.insert(0, (State(net, input), made))
        return made

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(f"compile: {reason}; such passes are computed normally", stacklevel=2)


class Pass:
    """A pass through compiled code: what backward needs of it."""

    def __init__(self, net: Module, code: Code, input: Any) -> None:
        self.code = code
        given = {
            "held": code.held,
            "draw": [draw() for draw in code.draws],
            "input": tensors(input),
        }
        found = code.forward([given[kind][i] for kind, i in code.taken])
        count = len(code.shapes)
        given["kept"] = found[count + len(code.changed) :]
        # Before they change, whoever goes back needs them as they were.
        changed = {id(code.held[i]) for i in code.changed}
        self._saved: list[Any] = []
        for kind, i in code.sources:
            tensor = given[kind][i] if kind in given else None
            self._saved.append(tensor.clone() if id(tensor) in changed else tensor)
        for i, new in zip(code.changed, found[count:], strict=False):
            code.held[i].copy_(new)
        for module in code.modules:
            fields = module.__dict__
            if "_freed" not in fields or "output" in fields:
                for name in ("output", "gradInput", *module.pass_fields, *module.cleared_fields):
                    if fields.get(name, module) is not None:
                        fields.pop(name, None)
                fields["_freed"] = True
        net.__dict__.pop("_freed", None)
        outputs = iter(found[:count])
        net.output = map_tensors(lambda _: next(outputs), code.output)

    def go_back(self, net: Module, gradOutput: Any, scale: float) -> None:
        code = self.code
        ends = [
            torch.zeros_like(output) if gradient is None else fitted(gradient, output).contiguous()
            for output, gradient in pairs(net.output, gradOutput, ("output", "gradOutput"))
        ]
        found: Sequence[Tensor] = ()
        if code.backward is not None:
            sources = zip(code.sources, self._saved, strict=True)
            found = code.backward(
                [ends[i] if kind == "gradOutput" else t for (kind, i), t in sources]
            )
        remaining = iter(found)
        gradInput = map_tensors(lambda _: next(remaining), code.gradInput)
        net.gradInput = gradInput
        added, into = [], []
        for i, is_product in zip(code.trained, code.products, strict=True):
            gradient = code.held[i].grad
            assert gradient is not None
            if is_product:
                gradient.addmm_(next(remaining), next(remaining), alpha=scale)
            else:
                into.append(gradient)
                added.append(next(remaining))
        if into:
            foreach_add_(into, added, alpha=scale)


class Code:
    """Forward and backward of a net in some state, compiled.

    What goes in is told by pairs of a kind and a number: ``("held", 2)`` is the third of the net's
    tensors, ``("draw", 0)`` what the first of ``draws`` gives, ``("input", 0)`` the first tensor of
    the input, ``("gradOutput", 0)`` that of gradOutput, ``("kept", 0)`` the first of what forward
    has kept, and ``("gradient", 0)`` the gradient of a parameter, which no code reads.

    Raises ``Untraceable``, or whatever an operator says of tensors without memory.
    """

    def __init__(self, net: Module, state: State, input: Any) -> None:
        self.held = state.held
        self.modules = state.modules[1:]
        for module in state.modules:
            _check(module)
        self.draws: list[Filling] = []
        self.output: Any = None
        self.gradInput: Any = None
        self.changed: list[int] = []
        self.trained = [i for i, t in enumerate(self.held) if t.grad is not None]
        graph, flat, names, late = self._trace(net, state, input)
        halves = divided(graph, flat, len(self.shapes) + len(self.changed), late)
        self.taken = [names[i] for i in halves.taken]
        self.products: list[bool] = []
        sources = [("kept", i) if kept else names[i] for kept, i in halves.sources]
        second = halves.second
        if second is not None:
            first = len(tensors(self.gradInput))
            places = {name: k for k, name in enumerate(sources)}
            own = [places.get(("gradient", i)) for i in range(len(self.trained))]
            taken, self.products = sums(second, first, own)
            sources = [sources[k] for k in taken]
        self.sources = sources
        self.forward = compiled(halves.first)
        self.backward = None if second is None else compiled(second)

    def _trace(self, net: Module, state: State, input: Any) -> Any:
        mode, generator = shape_mode(), random.getRNGState()
        given = tensors(input)

        def like(tensor: Tensor) -> Tensor:
            return mode.from_tensor(tensor.detach(), static_shapes=True)

        held, inputs = [like(t) for t in self.held], [like(t) for t in given]
        gradients = [like(self.held[i].grad) for i in self.trained]  # type: ignore[arg-type]
        with torch.inference_mode(False), torch.no_grad():
            try:
                with mode:
                    ends = self._look(net, state, input, held, gradients, inputs)
                if not torch.equal(generator, random.getRNGState()):
                    raise Untraceable("a module draws single random numbers")
                draws = [mode.from_tensor(torch.empty(d.shape, dtype=d.dtype)) for d in self.draws]
                # Forward does without the last two.
                parts = {"held": held, "draw": draws, "input": inputs}
                parts |= {"gradient": gradients, "gradOutput": ends}

                def passes(*flat: Tensor) -> list[Tensor]:
                    remaining = iter(flat)
                    own = {name: [next(remaining) for _ in part] for name, part in parts.items()}
                    return self._passes(net, state, input, own)

                flat = [tensor for part in parts.values() for tensor in part]
                names = [(name, i) for name, part in parts.items() for i in range(len(part))]
                with mode:
                    graph = written(passes, flat)
            finally:
                random.setRNGState(generator)
        if draws_random_numbers(graph):
            raise Untraceable("a module draws PyTorch's random numbers")
        return graph, flat, names, len(gradients) + len(ends)

    def _look(
        self,
        net: Module,
        state: State,
        input: Any,
        held: list[Tensor],
        gradients: list[Tensor],
        inputs: list[Tensor],
    ) -> list[Tensor]:
        """Go forward and back once to see what happens besides; returns a gradOutput."""

        def note(tensor: Tensor, filling: Filling) -> Tensor:
            self.draws.append(filling)
            return tensor

        own = [tensor.detach() for tensor in held]
        before = list(map(version, own))
        with self._replaced(state, own, gradients), filled_by(note):
            given = _given(input, inputs)
            fields = [dict(module.__dict__) for module in state.modules]
            output = net.updateOutput(given)
            self.shapes = [(t.shape, t.dtype, t.device) for t in tensors(output)]
            self.output = map_tensors(lambda _: _TENSOR, output)
            self.changed = [i for i, t in enumerate(own) if version(t) != before[i]]
            ends = [torch.empty_like(t) for t in tensors(output)]
            counts = [version(t) for t in (*inputs, *ends)]
            changed = [version(t) for t in own]
            gradInput = net.backward(given, _given(output, ends), 1)
            self.gradInput = map_tensors(lambda _: _TENSOR, gradInput)
            if changed != [version(t) for t in own]:
                raise Untraceable("going back changes tensors of the net")
            if counts != [version(t) for t in (*inputs, *ends)] or any(counts[: len(inputs)]):
                raise Untraceable("the net changes its input or gradOutput in place")
            for module, known in zip(state.modules, fields, strict=True):
                _compare(module, known)
        return ends

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
            given = _given(input, own["input"])
            output = net.updateOutput(given)
            results = [*tensors(output), *(held[i] for i in self.changed)]
            results = [t.clone() if any(t is g for g in own["input"]) else t for t in results]
            gradInput = net.backward(given, _given(output, own["gradOutput"]), 1)
            return [*results, *tensors(gradInput), *gradients]

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


# Stands where a tensor is in a table; no tensor has it.
_TENSOR = torch.empty(0)


def _given(value: Any, replacements: Sequence[Tensor]) -> Any:
    remaining = iter(replacements)
    return map_tensors(lambda _: next(remaining), value)


def _check(module: Module) -> None:
    """Refuse what does more than this library's modules do, or may be another at any time."""
    own = any(name in module.__dict__ for name in _METHODS)
    code = (getattr(type(module), name).__module__ for name in _METHODS)
    if own or any(not name.startswith("compat.nn.") for name in code):
        raise Untraceable(f"{module.typename} has methods of its own")
    if type(module).updateOutput is _plain_update():
        raise Untraceable(f"{module.typename} computes by PyTorch's autograd")


def _plain_update() -> Callable[..., Any]:
    from compat.nn.core.module import Module

    return Module.updateOutput


def _compare(module: Module, known: dict[str, Any]) -> None:
    """Refuse a module in which a pass leaves more than results."""
    left = left_in(module)
    for name, value in module.__dict__.items():
        before = known.get(name, known)
        if name not in left and value is not before and (tensors(value) or value != before):
            raise Untraceable(f"{name} of {module.typename} is another one after every pass")


def _reason(error: Exception) -> str:
    """The first line of what went wrong."""
    lines = str(error).strip().splitlines()
    kind = type(error).__name__
    if isinstance(error, Untraceable):
        return lines[0]
    if kind == "DataDependentOutputException":
        return f"a module decides by values ({lines[0]})"
    return f"{kind}: {lines[0]}" if lines else kind
