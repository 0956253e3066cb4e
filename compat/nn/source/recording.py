"""Records what a net of ``torch.nn`` computes, from one run of it.

Each call of a ``torch.nn`` layer is one statement. In other modules each torch function is one.
Sizes are recorded as sizes of tensors, not as numbers, so that the batch size stays free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode, resolve_name

from compat.nn.interchange.recurrent.memory import (
    FLOW,
    Flow,
    OverSequences,
    Remembering,
    forget,
)
from compat.nn.source import layers
from compat.nn.source.program import (
    CONTROL,
    PACK,
    STATES,
    Body,
    Layer,
    Scope,
    Statement,
    Value,
    Weight,
    mapped,
    values,
    without_unused,
)
from compat.nn.source.sequences import Sequence, Sequences, Steps, Unwritable, values_of
from compat.nn.source.steps import RecordedFlow, State, kind_of
from compat.tensor_tables import map_tensors
from compat.torch_internals import is_operator


class Size(int):
    """A number known to be a size of a tensor or computed from sizes."""

    value: Value
    recording: Recording

    @staticmethod
    def of(number: int, value: Value, recording: Recording) -> Size:
        """Return the number as the result of a statement."""
        size = Size(number)
        size.value, size.recording = value, recording
        return size


def _arithmetic(name: str) -> None:
    plain = getattr(int, name)
    swapped = name.startswith("__r")
    function = f"operator.{name.strip('_')[swapped:]}"

    def apply(self: Size, other: Any) -> Any:
        number = plain(int(self), int(other) if isinstance(other, int) else other)
        if number is NotImplemented or not isinstance(other, int):
            return number
        pair = (other, self) if swapped else (self, other)
        return self.recording.number(function, pair, number)

    setattr(Size, name, apply)


for _name in ("add", "sub", "mul", "floordiv"):
    _arithmetic(f"__{_name}__")
    _arithmetic(f"__r{_name}__")


class Recording(TorchFunctionMode):
    """Records one run of a net.

    Args:
        net: the result of ``to_torch``.
        special: functions that record the calls of some classes; each gets the recording, the
            module, its arguments and its output.
        called: names for modules, by their ``id``.
    """

    def __init__(
        self,
        net: nn.Module,
        special: dict[type, Callable[..., None]],
        called: dict[int, str],
    ) -> None:
        super().__init__()
        self.net, self.special, self.called = net, special, called
        self.body = Body([], [], None)
        self.shapes: dict[Value, tuple[int, ...]] = {}
        self.read: set[Value] = set()
        self.sequences = Sequences(self)
        self.flow = RecordedFlow(self)
        self.lengths: set[int] = set()  # of sequences
        self.inputs: Any = None
        self.results: Any = None
        self._inside = 0
        self._count = 0
        self._numbers: dict[int, tuple[Any, Value]] = {}
        self._layers: dict[int, Layer] = {}
        self._open: list[int] = []
        named = [*net.named_parameters(remove_duplicate=False)]
        buffers = [*net.named_buffers(remove_duplicate=False)]
        self._weights = {
            id(tensor): Weight(tensor, name.rpartition(".")[2], trained, tuple(tensor.shape))
            for found, trained in ((buffers, False), (named, True))
            for name, tensor in found
        }
        for module in net.modules():
            for name, tensor in vars(module).items():
                for own in tensor if isinstance(tensor, list) else [tensor]:
                    if isinstance(own, Tensor) and id(own) not in self._weights:
                        self._weights[id(own)] = Weight(own, name, False, tuple(own.shape))

    def run(self, inputs: Any) -> Any:
        """Run the net and return its output.

        Afterwards ``body`` holds the statements, and ``inputs`` and ``results`` the forms that map
        its values to the net's inputs and outputs.
        """
        handles = []
        units = self._begin(inputs)
        for module in self.net.modules():
            handles.append(module.register_forward_pre_hook(self._before))
            handles.append(module.register_forward_hook(self._after))
        self.sequences.begin(inputs)
        token = FLOW.set(self.flow)
        try:
            with torch.no_grad(), self:
                output = self.net(inputs)
                with self.paused():
                    self.results = self._result(output)
                    found = values_of(self.results)
                    self.body.result = tuple(found) if len(found) > 1 else found[0]
                    self._end(units)
        finally:
            FLOW.reset(token)
            for handle in handles:
                handle.remove()
            forget(self.net)
        self.inputs = self.sequences.form
        self.body.inputs = values_of(self.inputs) + self.body.inputs
        self.body = without_unused(self.body)
        self._numbers.clear()  # the results of all layers
        return output

    def _begin(self, inputs: Any) -> dict[Remembering, State]:
        """Give initial states to the modules whose memory stays from call to call."""
        modules = list(self.net.modules())
        if not any(isinstance(module, Remembering) for module in modules):
            return {}
        over = [module for module in modules if isinstance(module, OverSequences)]
        forgetful = {id(m) for o in over if o.remember == "neither" for m in o.modules()}
        forget(self.net)
        with torch.no_grad():
            self.net(map_tensors(torch.clone, inputs))
        states = {}
        for module in modules:
            if isinstance(module, Remembering) and id(module) not in forgetful:
                like = module.memory
                if like is not None:
                    states[module] = State(self.new(None, kind_of(like)), None, like)
        forget(self.net)
        for module, state in states.items():
            module.memory = state
        return states

    def _result(self, output: Any) -> Any:
        """Return the form of the net's output; a list that is a sequence becomes one value."""
        if isinstance(output, (tuple, list)):
            if self.sequences.is_sequence(list(output)):
                return Steps(self.sequences.whole(output))
            return [self._result(part) for part in output]
        return self.reference(output)

    def _end(self, units: dict[Remembering, State]) -> None:
        """Make the final states a result and the initial states an input."""
        begin = [state.value for state in units.values()]
        ends = [end for unit in units if (end := self.flow.state(unit.memory)) is not None]
        if not begin:
            return
        if len(begin) == 1:
            [given], [last] = begin, ends
            final = last.value
        else:
            kind = f"tuple[{', '.join(value.kind for value in begin)}]"
            given = self.new(None, kind)
            self.body.statements.insert(0, Statement(None, STATES, (given,), {}, tuple(begin)))
            self.body.scopes = [
                s._replace(first=s.first + 1, last=s.last + 1) for s in self.body.scopes
            ]
            final = self.call(PACK, tuple(end.value for end in ends), None, kind)
        self.body.inputs = [given]
        self.body.result = (self.body.result, final)

    def new(self, thing: Any, kind: str = "") -> Value:
        """Return a new value; if ``thing`` is a tensor, the value stands for it."""
        value = Value(self._count, kind)
        self._count += 1
        if isinstance(thing, Tensor):
            self.name(thing, value)
        return value

    def name(self, tensor: Tensor, value: Value) -> None:
        """Let a value stand for a tensor."""
        self._numbers[id(tensor)] = (tensor, value)
        with self.paused():
            self.shapes[value] = tuple(tensor.shape)

    def known(self, tensor: Tensor) -> Value | None:
        """Return the value of a tensor; None for a slice of a value or an unknown tensor."""
        found = self._numbers.get(id(tensor))
        return None if found is None else found[1]

    def forget(self, tensor: Tensor) -> None:
        """Forget a tensor."""
        self._numbers.pop(id(tensor), None)

    @contextmanager
    def paused(self, inside: int = 1) -> Iterator[None]:
        """Record no calls of torch functions within; with ``inside`` 0 record them."""
        before, self._inside = self._inside, inside
        try:
            yield
        finally:
            self._inside = before

    def resumed(self) -> Any:
        """Record calls again, within ``paused``."""
        return self.paused(0)

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Record nothing within, not even steps of recurrent modules."""
        token = FLOW.set(Flow())
        try:
            with self.paused():
                yield
        finally:
            FLOW.reset(token)

    def statement(
        self, function: str, arguments: Any = (), results: Any = (), layer: Layer | None = None
    ) -> Statement:
        """Record a statement whose arguments and results are values."""
        pinned = function in CONTROL
        made = Statement(layer, function, arguments, {}, results, pinned)
        self.read.update(values(arguments))
        self.body.statements.append(made)
        return made

    def call(self, function: str, arguments: Any, size: Any, kind: str = "") -> Value:
        """Record a call with values as arguments; return its result, of the given size."""
        value = self.new(None, kind)
        if size is not None:
            self.shapes[value] = size
        self.statement(function, arguments, value)
        return value

    def move_scopes(self, first: int, before: list[Statement]) -> None:
        """Update the scopes after statements behind place ``first``, ``before``, have moved."""
        places = {id(s): place for place, s in enumerate(self.body.statements)}
        kept = []
        for scope in self.body.scopes:
            if scope.last > first:
                inner = before[scope.first - first - 1 : scope.last - first - 1]
                found = [places.get(id(s), -1) for s in inner]
                if -1 in found or found != list(range(found[0], found[0] + len(found))):
                    continue
                scope = scope._replace(first=found[0], last=found[-1] + 1)
            kept.append(scope)
        self.body.scopes = kept

    def number(self, function: str, arguments: tuple[Any, ...], number: int) -> Size:
        """Record the computation of a number."""
        value = self.new(None)
        self.statement(function, self.reference(arguments), value)
        return Size.of(number, value, self)

    def reference(self, tree: Any) -> Any:
        """Return arguments or results with tensors replaced by values."""

        def refer(leaf: Any) -> Any:
            if isinstance(leaf, Size):
                return leaf.value
            if not isinstance(leaf, Tensor):
                return leaf
            known = self.known(leaf)
            if known is not None:
                return known
            if id(leaf) in self._weights:
                return self._weights[id(leaf)]
            slice_of = self.sequences.entry(leaf)
            if slice_of is None:
                raise Unwritable("a tensor comes from nowhere")
            value = slice_of[0].select(slice_of[1])
            self.name(leaf, value)
            return value

        found = mapped(refer, _plain(tree))
        self.read.update(values(found))
        return found

    def add(
        self, layer: Layer | None, function: str, arguments: Any, keywords: Any, output: Any
    ) -> None:
        """Record a call."""
        given = tuple(self._argument(argument) for argument in arguments)
        named = self.reference(keywords)
        if layer is None:
            pinned = function.endswith("_") and not function.endswith("__")
        else:
            pinned = bool(layer.arguments.get("inplace"))
        results = mapped(self.new, _plain(output))
        self.body.statements.append(Statement(layer, function, given, named, results, pinned))
        if function in ("torch.Tensor.unbind", "torch.unbind"):
            self._follow_slices(given, named, output)

    def _argument(self, argument: Any) -> Any:
        """Return an argument with values for tensors; the output of a loop is one value."""
        if isinstance(argument, (list, tuple)) and self.sequences.is_sequence(list(argument)):
            whole = self.sequences.whole(list(argument))
            return self.call("torch.Tensor.unbind", (whole,), None)
        return self.reference(argument)

    def _follow_slices(self, given: Any, named: Any, output: Any) -> None:
        """Note that the results of ``unbind`` are slices of its input."""
        dim = named.get("dim", given[1] if len(given) > 1 else 0)
        source, size = given[0], (len(output), *output[0].shape)
        own = self.reference(list(output))

        def whole() -> Value:
            if dim == 0:
                return source
            name = "transpose" if dim == 1 else "movedim"
            ends = (0, 1) if dim == 1 else (dim, 0)
            return self.call(f"torch.Tensor.{name}", (source, *ends), size)

        def select(place: int) -> Value:
            return self.call("torch.Tensor.select", (source, dim, place), size[1:])

        self.sequences.follow(output, Sequence(len(output), whole, select))
        for tensor, value in zip(output, own, strict=True):
            self.name(tensor, value)

    def layer(self, module: nn.Module, cls: type[nn.Module]) -> Layer:
        """Return the layer of a module."""
        if id(module) not in self._layers:
            layer = self._layers[id(module)] = layers.layer_of(module, cls)
            layer.called = self.called.get(id(module), "")
        return self._layers[id(module)]

    def _before(self, module: nn.Module, arguments: Any) -> None:
        cls = layers.class_of(module)
        if self._inside or type(module) in self.special or type(module) is cls:
            self._inside += 1
        else:
            self._open.append(len(self.body.statements))

    def _after(self, module: nn.Module, arguments: Any, output: Any) -> Any:
        cls = layers.class_of(module)
        if self._inside:
            self._inside -= 1
            if not self._inside:
                same = cls is not nn.Identity and any(output is given for given in arguments)
                if same and not getattr(module, "inplace", False):
                    # What passes its input on, as dropout does, has a result of its own.
                    self._inside += 1
                    output = output.view(output.shape)
                    self._inside -= 1
                if type(module) in self.special:
                    self.special[type(module)](self, module, arguments, output)
                elif cls is not nn.Identity:
                    assert cls is not None
                    self.add(self.layer(module, cls), "", arguments, {}, output)
            return output
        first = self._open.pop()
        keeps = isinstance(module, Remembering)
        if cls is not None and not keeps:
            self._inside += 1
            same = layers.same_result(module, cls, arguments, output)
            self._inside -= 1
            if same:
                del self.body.statements[first:]
                self.add(self.layer(module, cls), "", arguments, {}, output)
                return output
        if keeps:
            with self.paused():
                unit: Any = module
                unit.memory = self.flow.state(unit.memory)
        last = len(self.body.statements)
        keeps = keeps and last - first > 3
        if last - first > 1:
            name = self.called.get(id(module)) or type(module).__name__
            self.body.scopes.append(Scope(first, last, name, keeps))
        return output

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self._inside:
            return func(*args, **kwargs)
        name = resolve_name(func) or getattr(func, "__name__", "")
        if is_operator(func):
            name = f"torch.ops.aten.{name.removeprefix('aten.').partition('.')[0]}"
        if name == "torch.Tensor.shape.__get__" or (name == "torch.Tensor.size" and len(args) == 1):
            return tuple(self._size(args[0], i) for i in range(args[0].dim()))
        if name == "torch.Tensor.size":
            return self._size(args[0], int(args[1]))
        if name in ("torch.stack", "torch.cat") and self.sequences.is_sequence(list(args[0])):
            return self._joined(func, *args, **kwargs)
        output = func(*args, **kwargs)
        if name == "torch.Tensor.__len__":
            return self._size(args[0], 0)
        found = _tensors(output)
        given = {id(tensor) for tensor in _tensors([args, kwargs])}
        in_place = name.endswith("_") and not name.endswith("__")
        if found and not (id(output) in given and not in_place):
            self.add(None, name, args, kwargs, output)
        return output

    def _joined(self, join: Any, tensors: Any, dim: int = 0) -> Tensor:
        """Return the slices of a sequence, stacked or joined along a dimension."""
        output: Tensor = join(tensors, dim)
        whole = self.sequences.whole(list(tensors))
        if join is torch.cat:
            flat = dim == 0 and tensors[0].dim() > 0
            given = whole if flat else self.call("torch.Tensor.unbind", (whole,), None)
            name, more = ("torch.Tensor.flatten", (0, 1)) if flat else ("torch.cat", (dim,))
            self.add(None, name, (given, *more), {}, output)
        elif dim == 0:
            self.name(output, whole)
        else:
            name, more = ("transpose", (0, 1)) if dim == 1 else ("movedim", (0, dim))
            self.add(None, f"torch.Tensor.{name}", (whole, *more), {}, output)
        return output

    def _size(self, tensor: Tensor, dim: int) -> Any:
        self._inside += 1
        number = tensor.size(dim)
        self._inside -= 1
        if id(tensor) in self._weights:
            return number
        return self.number("torch.Tensor.size", (tensor, dim), number)


def _plain(tree: Any) -> Any:
    """Return named tuples and ``torch.Size`` as plain tuples."""
    if isinstance(tree, tuple) and not isinstance(tree, Value):
        return tuple(_plain(part) for part in tree)
    if isinstance(tree, list):
        return [_plain(part) for part in tree]
    return tree


def _tensors(tree: Any) -> list[Tensor]:
    if isinstance(tree, Tensor):
        return [tree]
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (tuple, list)):
        return [tensor for part in tree for tensor in _tensors(part)]
    return []
