"""``nn.Criterion``: what a loss function is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import wrong_type
from compat.nn.checks.error_place import fail
from compat.nn.core.autograd import gradients
from compat.nn.core.convertible import Convertible
from compat.nn.core.dpnn import Batched
from compat.nn.core.node import Node, symbolic
from compat.nn.core.stand_ins import keep_in
from compat.nn.core.tape import UNSET, outside
from compat.tensor_tables import map_tensors, tensors
from compat.tensor_types import default_type
from compat.torch_internals import version, versions

C = TypeVar("C", bound="Criterion")


class Criterion(Batched, Convertible):
    """A loss: a number computed from an input and a target (Torch7: ``nn.Criterion``).

    Two ways to write one, as for modules:

    * state the loss alone, as ``compute(input, target)``, which returns a tensor of one element
      without dimensions; the gradient follows from autograd;
    * write Torch7's methods, ``updateOutput(input, target)`` and
      ``updateGradInput(input, target)``.

    Fields: ``output``, a Python number, and ``gradInput``, of the form of the input, hold the
    latest results.
    """

    # How many tensors the input of a criterion of tables has.
    _entries: ClassVar[int | None] = None
    # What autograd leaves behind, and what is computed when it is read.
    transient_fields: ClassVar[tuple[str, ...]] = ("_pass", "_output", "_gradInput")
    # Set by `compat.nn.interchange`, which knows all criterions.
    torch_converter: ClassVar[Callable[[Any], torch.nn.Module]]
    recordable: bool = True
    _pass: _Pass | None = None
    _output: Any = 0
    _gradInput: Any = None

    def __init__(self) -> None:
        # A class whose __init__ does not call this one works, too, as in Lua.
        self._type = default_type()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.recordable = cls.updateOutput is Criterion.updateOutput

    def compute(self, input: Any, target: Any) -> Tensor:
        """The loss, in PyTorch operations. Classes define it."""
        raise TypeError(f"{self.typename} defines neither compute nor updateOutput")

    def updateOutput(self, input: Any, target: Any = None) -> Any:
        """Compute and return ``output``, a number."""
        self._pass = None
        try:
            self._pass = _Pass.run(self, input, target)
            self._output = self._pass.loss.item()
        except Exception as error:
            fail(error, self, target, input=input)
        self._gradInput = None
        return self._output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        """Compute and return ``gradInput``. An input that was not forwarded is, first."""
        held = self._pass
        if held is None or not held.fits(input, target):
            try:
                with torch.enable_grad():
                    held = self._pass = _Pass.run(self, input, target)
            except Exception as error:
                fail(error, self, target, input=input)
            self._output = held.loss.detach()
        self._gradInput = held.gradient()
        return self._gradInput

    def forward(self, input: Any, target: Any = None) -> Any:
        """``updateOutput``."""
        if not self.recordable:
            input, target = t7.plain(input), t7.plain(target)
        return self.updateOutput(input, target)

    def backward(self, input: Any, target: Any = None) -> Any:
        """``updateGradInput``."""
        if not self.recordable:
            input, target = t7.plain(input), t7.plain(target)
        return self.updateGradInput(input, target)

    def __call__(self, input: Any = UNSET, target: Any = None) -> Any:
        """``forward`` and ``backward``, returning both results.

        With a list of two nodes of a graph, the prediction and the target, or one node that gives
        both, a ``Node`` whose output is the loss, a tensor of one element (Torch7's package
        nngraph).
        """
        if input is UNSET or symbolic(input):
            return Node.of(Node.criterion(self), input)
        return self.forward(input, target), self.backward(input, target)

    def run(self, input: Any, target: Any = None) -> Tensor:
        """The loss as a tensor, as part of a graph: how criterions are built of criterions."""
        if not self.recordable:
            plain = map_tensors(Tensor.detach, input)
            with outside():
                output = self.updateOutput(plain, target)
            return _Opaque.apply(self, plain, target, output, *tensors(input))
        try:
            loss = self.compute(input, target)
        except Exception as error:
            fail(error, self, target, input=input)
        self._pass = _Pass(input, target, None, loss)
        self._output, self._gradInput = loss.detach(), None
        return loss

    @property
    def output(self) -> Any:
        """The latest loss, a number; 0 before the first."""
        if isinstance(self._output, Tensor):
            self._output = self._output.item()
        return self._output

    @output.setter
    def output(self, value: Any) -> None:
        self._output = value

    @property
    def gradInput(self) -> Any:
        """The gradient of the latest input; an empty tensor before the first."""
        if self._gradInput is None:
            held = self._pass
            known = held is not None and held.loss.requires_grad
            if held is not None and known:
                self.updateGradInput(held.source, held.target)
            else:
                self._gradInput = self._unset()
        return self._gradInput

    @gradInput.setter
    def gradInput(self, value: Any) -> None:
        self._gradInput = value

    def _unset(self) -> Any:
        if self._entries is None:
            return self._empty()
        return [self._empty().new_zeros(1) for _ in range(self._entries)]

    def clone(self: C) -> C:
        """A deep copy."""
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return self.typename

    def to_torch(self) -> torch.nn.Module:
        """This criterion as a plain ``torch.nn.Module``, called with input and target.

        Labels go on counting from 1. Raises ValueError for a criterion of one's own.
        """
        return type(self).torch_converter(self)

    def t7_fields(self) -> dict[str, Any]:
        """What a Torch7 file holds of this criterion."""
        fields = {n: v for n, v in self.__getstate__().items() if n != "_type" and v is not None}
        return {**fields, "output": self.output, "gradInput": self.gradInput}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        """Become the criterion that ``fields``, read from a Torch7 file, describe."""
        keep_in(fields)
        self.complete(fields)
        for name in self.scratch_fields:
            fields.pop(name, None)
        self._output, self._gradInput = fields.pop("output", 0), fields.pop("gradInput", None)
        for name, value in fields.items():
            setattr(self, name, value)


def check_criterion(criterion: Any) -> Criterion:
    """Refuse what is no criterion."""
    if not isinstance(criterion, Criterion):
        raise wrong_type(criterion, "criterion", "a criterion")
    return criterion


class Arguments:
    """An input and a target as they were at a time."""

    __slots__ = ("source", "target", "versions")

    def __init__(self, source: Any, target: Any) -> None:
        self.source = source
        self.target = target
        self.versions = _versions(source), _versions(target)

    def fits(self, input: Any, target: Any) -> bool:
        """Whether ``input`` and ``target`` are these, unchanged."""
        return (
            self.versions == (_versions(input), _versions(target))
            and _same(input, self.source)
            and _same(target, self.target)
        )


class _Pass(Arguments):
    """One computation of a loss: what it was computed from, and its graph.

    ``leaves`` is None of one that is part of a larger graph, which others free.
    """

    __slots__ = ("leaves", "loss")

    def __init__(self, source: Any, target: Any, leaves: Any, loss: Tensor) -> None:
        super().__init__(source, target)
        self.leaves = leaves
        self.loss = loss

    @classmethod
    def run(cls, criterion: Criterion, input: Any, target: Any) -> _Pass:
        leaves = map_tensors(_leaf, input)
        loss = criterion.compute(leaves, t7.plain(target))
        return cls(input, target, leaves, loss)

    def fits(self, input: Any, target: Any) -> bool:
        """Whether this is a graph of its own, of ``input`` and ``target`` as they are now."""
        own = self.leaves is not None and self.loss.requires_grad
        return own and super().fits(input, target)

    def gradient(self) -> Any:
        leaves, loss = self.leaves, self.loss
        if isinstance(leaves, Tensor) and leaves.requires_grad:
            [own] = gradients([loss], [torch.ones_like(loss)], [leaves])
            return torch.zeros_like(leaves) if own is None else own
        wanted = [leaf for leaf in tensors(leaves) if leaf.requires_grad]
        found: Any = [None] * len(wanted)
        if wanted and loss.requires_grad:
            found = gradients([loss], [torch.ones_like(loss)], wanted)
        known = {id(leaf): g for leaf, g in zip(wanted, found, strict=True) if g is not None}
        return map_tensors(
            lambda leaf: known[id(leaf)] if id(leaf) in known else torch.zeros_like(leaf), leaves
        )


def _leaf(tensor: Tensor) -> Tensor:
    leaf = tensor.detach()
    return leaf.requires_grad_() if leaf.is_floating_point() else leaf


def _versions(value: Any) -> Any:
    """Changes whenever a tensor in ``value`` is changed in place."""
    return version(value) if isinstance(value, Tensor) else versions(tensors(value))


def _same(value: Any, other: Any) -> bool:
    """Whether two values are the same tensors, or views that show the same, or equal numbers."""
    if value is other:
        return True
    if isinstance(value, Tensor):
        return (
            isinstance(other, Tensor)
            and value.data_ptr() == other.data_ptr()
            and value.shape == other.shape
            and value.stride() == other.stride()
            and value.dtype == other.dtype
        )
    if isinstance(value, (list, tuple)):
        return (
            isinstance(other, (list, tuple))
            and len(value) == len(other)
            and all(map(_same, value, other))
        )
    if isinstance(value, dict):
        return (
            isinstance(other, dict)
            and value.keys() == other.keys()
            and all(_same(item, other[key]) for key, item in value.items())
        )
    return type(value) is type(other) and value == other


class _Opaque(torch.autograd.Function):
    """A criterion that computes its own gradient, as one node of a graph."""

    @staticmethod
    def forward(
        ctx: Any, criterion: Criterion, input: Any, target: Any, output: Any, *leaves: Tensor
    ) -> Tensor:
        ctx.criterion, ctx.input, ctx.target = criterion, input, target
        return leaves[0].new_tensor(float(output))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        gradInput = ctx.criterion.updateGradInput(ctx.input, ctx.target)
        return (None, None, None, None, *(g * gradient for g in tensors(gradInput)))
