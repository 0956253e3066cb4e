"""Forward and backward of a net, written down on tensors without memory, and compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from compat import random
from compat.nn.compiled.operators import (
    Untraceable,
    additions,
    changes,
    check,
    compiled,
    divided,
    relaid,
    written,
)
from compat.nn.compiled.state import METHODS, State, fields_of_passes
from compat.nn.core import results
from compat.nn.core.module import Module
from compat.random.fill import Filling, filled_by
from compat.tensor_tables import map_tensors, tensors, with_tensors
from compat.torch_internals import shape_mode

# Stands where a tensor is in a table.
_TENSOR = torch.empty(0)


class Code:
    """Forward and backward of a net in some state, compiled.

    Pairs of a kind and a number describe the arguments: ``("held", 2)`` is the third of the net's
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
        if not getattr(type(net).backward, "compiles", False):
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
        mode, generator, refills = shape_mode(), random.getRNGState(), results.buffer_reuse.on

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

        results.buffer_reuse.on = False
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
            results.buffer_reuse.on = refills
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
        left = fields_of_passes(module)
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
                left = fields_of_passes(module)
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
    own = any(name in module.__dict__ for name in METHODS)
    code = (getattr(type(module), name).__module__ for name in METHODS)
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
