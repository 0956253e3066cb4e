"""Recording of what a net of ``torch.nn`` computes, from one run of it.

Calls of ``torch.nn``'s own layers are statements; of what other modules do, each function of torch
is one. Sizes are recorded as what they are sizes of, so that the batch stays free.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode, resolve_name

from compat.nn.source import layers
from compat.nn.source.program import Body, Layer, Statement, Value, Weight, mapped, without_unused


class Size(int):
    """A number that is known to be a size of a tensor, or to come from such."""

    value: Value
    recording: Recording

    @staticmethod
    def of(number: int, value: Value, recording: Recording) -> Size:
        """The number as the result of a statement."""
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


class Unwritable(ValueError):
    """Something that no source can be written for."""


class Recording(TorchFunctionMode):
    """Records one run of a net.

    Args:
        net: what ``to_torch`` returns.
        special: for classes whose calls are statements of their own kind, a function that gets the
            recording, the module, its arguments and its output, and records them.
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
                if isinstance(tensor, Tensor) and id(tensor) not in self._weights:
                    self._weights[id(tensor)] = Weight(tensor, name, False, tuple(tensor.shape))

    def run(self, inputs: Any) -> Any:
        """Run the net; its output. ``body`` has the statements then."""
        handles = []
        for module in self.net.modules():
            handles.append(module.register_forward_pre_hook(self._before))
            handles.append(module.register_forward_hook(self._after))
        self.body.inputs = [self._new(tensor) for tensor in _tensors(inputs)]
        try:
            with torch.no_grad(), self:
                output = self.net(inputs)
        finally:
            for handle in handles:
                handle.remove()
        self.body.result = self.reference(output)
        self.body = without_unused(self.body)
        return output

    def _new(self, thing: Any) -> Value:
        value = Value(self._count)
        self._count += 1
        if isinstance(thing, Tensor):
            self._numbers[id(thing)] = (thing, value)
            self._inside += 1
            self.shapes[value] = tuple(thing.shape)
            self._inside -= 1
        return value

    def number(self, function: str, arguments: tuple[Any, ...], number: int) -> Size:
        """Record what computes a number."""
        value = self._new(None)
        given = self.reference(arguments)
        self.body.statements.append(Statement(None, function, given, {}, value))
        return Size.of(number, value, self)

    def reference(self, tree: Any) -> Any:
        """Arguments or results with values in the place of tensors."""

        def refer(leaf: Any) -> Any:
            if isinstance(leaf, Size):
                return leaf.value
            if not isinstance(leaf, Tensor):
                return leaf
            if id(leaf) in self._numbers:
                return self._numbers[id(leaf)][1]
            if id(leaf) in self._weights:
                return self._weights[id(leaf)]
            raise Unwritable("a tensor comes from nowhere")

        return mapped(refer, _plain(tree))

    def add(
        self, layer: Layer | None, function: str, arguments: Any, keywords: Any, output: Any
    ) -> None:
        """Record a call."""
        given = tuple(self.reference(list(arguments)))
        named = self.reference(keywords)
        if layer is None:
            pinned = function.endswith("_") and not function.endswith("__")
        else:
            pinned = bool(layer.arguments.get("inplace"))
        results = mapped(lambda leaf: self._new(leaf), _plain(output))
        self.body.statements.append(Statement(layer, function, given, named, results, pinned))

    def layer(self, module: nn.Module, cls: type[nn.Module]) -> Layer:
        """The layer that a module is."""
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
        if cls is not None:
            self._inside += 1
            same = layers.same_result(module, cls, arguments, output)
            self._inside -= 1
            if same:
                del self.body.statements[first:]
                self.add(self.layer(module, cls), "", arguments, {}, output)
                return output
        last = len(self.body.statements)
        if last - first > 1:
            name = self.called.get(id(module)) or type(module).__name__
            self.body.scopes.append((first, last, name))
        return output

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self._inside:
            return func(*args, **kwargs)
        name = resolve_name(func) or getattr(func, "__name__", "")
        if name == "torch.Tensor.shape.__get__" or (name == "torch.Tensor.size" and len(args) == 1):
            return tuple(self._size(args[0], i) for i in range(args[0].dim()))
        if name == "torch.Tensor.size":
            return self._size(args[0], int(args[1]))
        output = func(*args, **kwargs)
        if name == "torch.Tensor.__len__":
            return self._size(args[0], 0)
        found = _tensors(output)
        given = {id(tensor) for tensor in _tensors([args, kwargs])}
        in_place = name.endswith("_") and not name.endswith("__")
        if found and not (id(output) in given and not in_place):
            self.add(None, name, args, kwargs, output)
        return output

    def _size(self, tensor: Tensor, dim: int) -> Any:
        self._inside += 1
        number = tensor.size(dim)
        self._inside -= 1
        if id(tensor) in self._weights:
            return number
        return self.number("torch.Tensor.size", (tensor, dim), number)


def _plain(tree: Any) -> Any:
    """Named tuples and torch's own sizes as tuples."""
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
