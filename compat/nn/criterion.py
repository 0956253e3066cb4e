"""``nn.Criterion``: what a loss function is."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.nn.nested import map_tensors, tensors
from compat.nn.place import locate
from compat.nn.typed import Typed
from compat.tensor_types import default_type

C = TypeVar("C", bound="Criterion")


class Criterion(Typed):
    """A loss: a number computed from an input and a target (Torch7: ``nn.Criterion``).

    Two ways to write one, as for modules:

    * state the loss alone, as ``compute(input, target)``, which returns a tensor of one element
      without dimensions; the gradient follows from autograd;
    * write Torch7's methods, ``updateOutput(input, target)`` and
      ``updateGradInput(input, target)``.

    Fields: ``output``, a Python number, and ``gradInput``, of the form of the input, hold the
    latest results.
    """

    typename: ClassVar[str] = "nn.Criterion"
    t7_version: ClassVar[int] = 1
    # Fields that a file lacks: work space of the Lua implementation.
    _scratch: ClassVar[tuple[str, ...]] = ()
    # What autograd leaves behind, and what is computed when it is read.
    _transient = ("_pass", "_output", "_gradInput")
    _native: bool = True
    _pass: _Pass | None = None
    _output: Any = 0
    _gradInput: Any = None

    def __init__(self) -> None:
        self._type = default_type()

    def __init_subclass__(cls, typename: str | None = None, **kwargs: Any) -> None:
        """Register the class under its Torch7 name, by default ``nn.`` and its own name."""
        super().__init_subclass__(**kwargs)
        cls.typename = typename or f"nn.{cls.__name__}"
        cls._native = cls.updateOutput is Criterion.updateOutput
        if not cls.__name__.startswith("_"):
            t7.register(cls.typename, cls, version=cls.__dict__.get("t7_version", 1))

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
            locate(error, self)
            raise
        self._gradInput = None
        return self._output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        """Compute and return ``gradInput``. An input that was not forwarded is, first."""
        held = self._pass
        if held is None or not held.fits(input, target):
            with torch.enable_grad():
                held = self._pass = _Pass.run(self, input, target)
            self._output = held.loss.detach()
        self._gradInput = held.gradient()
        return self._gradInput

    def forward(self, input: Any, target: Any = None) -> Any:
        """`updateOutput`."""
        return self.updateOutput(input, target)

    def backward(self, input: Any, target: Any = None) -> Any:
        """`updateGradInput`."""
        return self.updateGradInput(input, target)

    def __call__(self, input: Any, target: Any = None) -> Any:
        """`forward` and `backward`, returning both results."""
        return self.forward(input, target), self.backward(input, target)

    def run(self, input: Any, target: Any = None) -> Tensor:
        """The loss as a tensor, as part of a graph: how criterions are built of criterions."""
        if not self._native:
            leaves = list(tensors(input))
            return _Opaque.apply(self, input, target, *leaves)
        loss = self.compute(input, target)
        self._pass = _Pass(input, target, input, loss)
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
            self._gradInput = held.gradient() if held is not None and known else torch.empty(0)
        return self._gradInput

    @gradInput.setter
    def gradInput(self, value: Any) -> None:
        self._gradInput = value

    def clone(self: C) -> C:
        """A deep copy."""
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return self.typename

    def t7_fields(self) -> dict[str, Any]:
        """What a Torch7 file holds of this criterion."""
        fields = {n: v for n, v in self.__getstate__().items() if n != "_type" and v is not None}
        return {**fields, "output": self.output, "gradInput": self.gradInput}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        """Become the criterion that ``fields``, read from a Torch7 file, describe."""
        self._type = fields.pop("_type", None) or default_type()
        for name in self._scratch:
            fields.pop(name, None)
        self._output, self._gradInput = fields.pop("output", 0), fields.pop("gradInput", None)
        for name, value in fields.items():
            setattr(self, name, value)


class _Pass:
    """One computation of a loss: what it was computed from, and its graph."""

    __slots__ = ("leaves", "loss", "seen", "source", "target")

    def __init__(self, source: Any, target: Any, leaves: Any, loss: Tensor) -> None:
        self.source = source
        self.target = target
        self.leaves = leaves
        self.loss = loss
        self.seen = _fingerprint(source), _fingerprint(target)

    @classmethod
    def run(cls, criterion: Criterion, input: Any, target: Any) -> _Pass:
        leaves = map_tensors(_leaf, input)
        return cls(input, target, leaves, criterion.compute(leaves, target))

    def fits(self, input: Any, target: Any) -> bool:
        """Whether this is the graph of ``input`` and ``target`` as they are now."""
        return self.loss.requires_grad and self.seen == (
            _fingerprint(input),
            _fingerprint(target),
        )

    def gradient(self) -> Any:
        wanted = [leaf for leaf in tensors(self.leaves) if leaf.requires_grad]
        if not self.loss.requires_grad:
            return map_tensors(torch.zeros_like, self.leaves)
        found = dict(
            zip(
                map(id, wanted),
                torch.autograd.grad(self.loss, wanted, retain_graph=True, allow_unused=True),
                strict=True,
            )
        )

        def of(leaf: Tensor) -> Tensor:
            gradient = found.get(id(leaf))
            return torch.zeros_like(leaf) if gradient is None else gradient

        return map_tensors(of, self.leaves)


def _leaf(tensor: Tensor) -> Tensor:
    leaf = tensor.detach()
    return leaf.requires_grad_() if leaf.is_floating_point() else leaf


def _fingerprint(value: Any) -> Any:
    """Equal for the same tensors with unchanged content, or for equal numbers."""
    if isinstance(value, Tensor):
        return value.data_ptr(), value._version, value.shape, value.stride(), value.dtype
    if isinstance(value, (list, tuple)):
        return [_fingerprint(item) for item in value]
    if isinstance(value, dict):
        return {key: _fingerprint(item) for key, item in value.items()}
    return value


class _Opaque(torch.autograd.Function):
    """A criterion that computes its own gradient, as one node of a graph."""

    @staticmethod
    def forward(ctx: Any, criterion: Criterion, input: Any, target: Any, *leaves: Tensor) -> Tensor:
        ctx.criterion, ctx.target = criterion, target
        ctx.input = map_tensors(Tensor.detach, input)
        return leaves[0].new_tensor(float(criterion.updateOutput(ctx.input, target)))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        gradInput = ctx.criterion.updateGradInput(ctx.input, ctx.target)
        return (None, None, None, *(g * gradient for g in tensors(gradInput)))


t7.register("nn.Criterion", Criterion)
