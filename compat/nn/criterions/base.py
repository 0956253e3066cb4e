"""``nn.Criterion``: the protocol of every loss function."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar

import torch
from torch import Tensor

from compat.checks import wrong_type
from compat.hints import UnknownName, suggestion
from compat.nn.checks.error_place import fail
from compat.nn.core import results, walk_limits
from compat.nn.core.convertible import Convertible
from compat.nn.core.differentiated import Graph, without_graph
from compat.nn.core.dpnn import Batched
from compat.nn.core.files import wrap_unknown_fields
from compat.nn.core.node import Node, symbolic
from compat.nn.core.pytorch_names import OF_CRITERIONS
from compat.tensor_tables import form, map_tensors
from compat.tensor_types import default_type
from compat.torch_internals import version

C = TypeVar("C", bound="Criterion")
_UNSET: Any = object()


class LossAndGradient(tuple[Any, Any]):
    """The loss and the gradient of the input, which a call of a criterion returns.

    A plain tuple but for what it answers to ``criterion(x, y).backward()``.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        raise UnknownName(
            f"a criterion's call returns a tuple, the loss and gradInput, which has no {name!r}",
            lambda: ": net.backward(input, gradInput) computes the gradients of a net",
        )


class Criterion(Batched, Convertible):
    """A loss: a number computed from an input and a target (Torch7: ``nn.Criterion``).

    There are two ways to write one, as for modules:

    * define Torch7's methods, ``updateOutput(input, target)`` and ``updateGradInput(input,
    target)``;
    * define only the loss, as ``compute(input, target)`` in PyTorch operations, which returns a
      tensor of one element. Autograd computes the gradient.

    Attributes:
        output: the latest loss, a Python number; 0 before the first.
        gradInput: the latest gradient, of the form of the input; empty before the first.
    """

    # How many tensors the input of a criterion of tables has.
    _entries: ClassVar[int | None] = None
    transient_fields: ClassVar[tuple[str, ...]] = ("_graph",)
    # Set by `compat.nn.interchange`, which knows all criterions.
    torch_converter: ClassVar[Callable[[Any], torch.nn.Module]]
    output: Any = 0
    gradInput: Any
    _graph: LossGraph | None = None

    def __init__(self) -> None:
        # A class whose __init__ does not call this one works, too, as in Lua.
        self._type = default_type()
        self.output = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "compute" in vars(cls):
            # It says more than the methods of the classes that this one extends.
            for name in {"updateOutput", "updateGradInput"} - vars(cls).keys():
                setattr(cls, name, vars(Criterion)[name])

    def __getattr__(self, name: str) -> Any:
        if name != "gradInput":
            hint = f": {OF_CRITERIONS[name]}" if name in OF_CRITERIONS else None
            raise UnknownName(
                f"{type(self).__name__} has no field or method {name!r}",
                lambda: hint or suggestion(name, dir(self)),
            )
        self.gradInput = self._unset()
        return self.gradInput

    def compute(self, input: Any, target: Any) -> Tensor:
        """Return the loss, in PyTorch operations. Classes may define it."""
        raise TypeError(f"{self.typename} defines neither compute nor updateOutput")

    def updateOutput(self, input: Any, target: Any = None) -> Any:
        """Compute the loss, a number, store it in ``output`` and return it.

        Args:
            input: the net's output, in the form that the criterion takes.
            target: what it should be.

        Returns:
            The loss; None of a class that computes none, as in Torch7.
        """
        if type(self).compute is Criterion.compute:
            return None
        self._graph = LossGraph(self.compute, input, target)
        self.output = self._graph.output.item()
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        """Compute the gradient of the input, store it in ``gradInput`` and return it.

        Args:
            input: the input of the latest ``updateOutput``.
            target: its target.

        Returns:
            ``gradInput``, of the form of the input; None of a class that computes none.
        """
        if type(self).compute is Criterion.compute:
            return None
        graph = self._graph
        if graph is None or not graph.is_of_both(input, target):
            graph = self._graph = LossGraph(self.compute, input, target)
        gradInput, _ = graph.gradients(torch.ones_like(graph.output), True, None)
        return self.set_gradInput(gradInput)

    def set_gradInput(self, value: Any) -> Any:
        """Store ``value``, which has its own memory, as the gradInput; return what holds it."""
        value = map_tensors(Tensor.contiguous, value)
        if results.buffer_reuse.on:
            value = results.copy_to_buffer(self.__dict__.get("gradInput"), value)
        self.gradInput = value
        return value

    def forward(self, input: Any, target: Any = None) -> Any:
        """Compute the loss; the same as ``updateOutput``.

        Args:
            input: the net's output.
            target: what the output should be, in the form that the criterion takes.

        Returns:
            The loss, a Python number.
        """
        return _passed(self, "updateOutput", without_graph(input), without_graph(target))

    def backward(self, input: Any, target: Any = None) -> Any:
        """Compute the gradient of the loss for ``input``; the same as ``updateGradInput``.

        Args:
            input: the net's output, as in ``forward``.
            target: what it should be.

        Returns:
            ``gradInput``, of the form of the input. ``net.backward`` takes it.

        Examples:
            >>> import torch
            >>> from compat import nn
            >>> criterion, x = nn.MSECriterion(), torch.tensor([1.0, 3.0])
            >>> criterion.forward(x, torch.zeros(2)), criterion.backward(x, torch.zeros(2)).tolist()
            (5.0, [1.0, 3.0])
        """
        return _passed(self, "updateGradInput", without_graph(input), without_graph(target))

    def __call__(self, input: Any = _UNSET, target: Any = None) -> Any:
        """Call ``forward`` and ``backward``; return both results.

        With a list of two graph nodes, prediction and target, or one node that outputs both, return
        a ``Node`` whose output is the loss, a tensor of one element (Torch7's nngraph).
        """
        if input is _UNSET:
            return Node.of(Node.criterion(self), None)
        if symbolic(input):
            return Node.of(Node.criterion(self), input)
        return LossAndGradient((self.forward(input, target), self.backward(input, target)))

    def _unset(self) -> Any:
        if self._entries is None:
            return self._empty()
        return [self._empty().new_zeros(1) for _ in range(self._entries)]

    def clone(self: C, *_: object) -> C:
        """Return a deep copy; names of what to share are ignored, as in Torch7."""
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return self.typename

    def to_torch(self) -> torch.nn.Module:
        """Return this criterion as a plain ``torch.nn.Module``, called with input and target.

        Labels still count from 1.

        Raises:
            ValueError: the criterion is a user's own.
        """
        return type(self).torch_converter(self)

    def t7_fields(self) -> dict[str, Any]:
        """Return the fields of this criterion for a Torch7 file."""
        fields = {n: v for n, v in self.__getstate__().items() if n != "_type" and v is not None}
        return {**fields, "output": self.output, "gradInput": self.gradInput}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        """Restore the criterion from the ``fields`` of a Torch7 file."""
        wrap_unknown_fields(fields)
        walk_limits.note(self)
        self.complete(fields)
        for name in self.scratch_fields:
            fields.pop(name, None)
        if fields.get("gradInput") is None:
            fields.pop("gradInput", None)
        for name, value in fields.items():
            setattr(self, name, value)


class Stated(Criterion, abstract=True):
    """A loss that is given by two functions of the same arguments.

    A class defines ``_loss``, which returns a tensor of one number, ``_slopes``, which returns the
    gradient, and ``_arguments(input, target)``, which checks the two and returns the arguments of
    both.
    """

    _loss: Any
    _slopes: Any

    def _arguments(self, input: Any, target: Any) -> tuple[Any, ...]:
        raise TypeError(f"{self.typename} does not define _arguments(input, target)")

    def updateOutput(self, input: Any, target: Any = None) -> float:
        self.output = self._loss(*self._arguments(input, target)).item()
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        return self.set_gradInput(self._slopes(*self._arguments(input, target)))


def check_criterion(criterion: Any) -> Criterion:
    """Return ``criterion``; raise TypeError if it is none."""
    if not isinstance(criterion, Criterion):
        raise wrong_type(criterion, "criterion", "a criterion")
    return criterion


def loss_of(criterion: Criterion, input: Any, target: Any) -> Any:
    """Return the loss, the first of what a class of a program's own may give."""
    return _first(_passed(criterion, "updateOutput", input, target))


def gradient_of(criterion: Criterion, input: Any, target: Any) -> Any:
    """Return the gradient of the input, the first of what a class of a program's own may give."""
    return _first(_passed(criterion, "updateGradInput", input, target))


def _first(results: Any) -> Any:
    return results[0] if isinstance(results, tuple) else results


def _passed(criterion: Criterion, method: str, input: Any, target: Any) -> Any:
    """Call a method of a criterion; errors name the criterion."""
    try:
        return getattr(criterion, method)(input, target)
    except Exception as error:
        fail(error, criterion, "updateOutput", input, target)


class LossGraph(Graph):
    """The autograd graph of one call of a criterion's ``compute``."""

    def __init__(self, compute: Callable[[Any, Any], Tensor], input: Any, target: Any) -> None:
        # Held, so that no other comes to lie where it is.
        self.target, self._seen = target, _seen(target)
        super().__init__(lambda leaves: compute(leaves, target), input, ())

    def is_of_both(self, input: Any, target: Any) -> bool:
        """Return whether the graph is of this input, and of the target's present values."""
        return self.is_of(input) and self._seen == _seen(target)


def _seen(value: Any) -> Any:
    """Return a key that is equal only for the same memory with the same numbers."""
    return form(value, lambda t: (t.data_ptr(), t.shape, t.stride(), t.dtype, version(t)))
