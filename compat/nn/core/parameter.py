"""Trained fields of a module, and their gradients."""

from __future__ import annotations

import copyreg
import functools
import weakref
from collections.abc import Iterable
from typing import Any, ClassVar, TypeGuard, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import check_number, check_tensor, wrong_type
from compat.nn.core import flat_storage
from compat.storage_changes import moved
from compat.torch_internals import foreach_add_, foreach_zero_

T = TypeVar("T", bound="Trained")


@functools.cache
def gradient_name(name: str) -> str:
    """Return Torch7's name for the gradient of a field: ``gradWeight`` for ``weight``."""
    return "grad" + name[0].upper() + name[1:]


class _HandedOut:
    """The gradients of parameters that ``parameters()`` has returned.

    ``zero_grad()`` of PyTorch's optimizers sets ``grad`` to None, which means "frozen" here. So the
    gradient tensor of a parameter that may be in an optimizer is remembered, and is restored with
    zeros. Setting ``gradWeight`` to None forgets it: that does freeze.

    Entries are found by ``id``, with a weak reference that tells whether the tensor still exists.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Tensor], Tensor]] = {}

    def remember(self, parameter: Tensor, gradient: Tensor) -> None:
        """Remember ``gradient``, unless one is remembered already."""
        entry = self._entries.get(id(parameter))
        if entry is None or entry[1] is not gradient:
            key = id(parameter)
            # The callback compares references: a new tensor may have got the id of the old one
            # before the old one's callback runs.
            gone = weakref.ref(parameter, lambda ref: self._drop(key, ref))
            self._entries[key] = gone, gradient

    def _drop(self, key: int, ref: weakref.ref[Tensor]) -> None:
        if self._entries.get(key, (None,))[0] is ref:
            del self._entries[key]

    def forget(self, parameter: Tensor) -> None:
        """Forget the gradient: the parameter is frozen."""
        self._entries.pop(id(parameter), None)

    def restore(self, parameter: Tensor) -> Tensor | None:
        """Set and return the gradient that ``zero_grad`` took away, filled with zeros."""
        ref, gradient = self._entries.get(id(parameter), (None, None))
        if ref is None or gradient is None or ref() is not parameter:
            return None
        # The net may have been converted or resized since; the remembered tensor then fits no more.
        if gradient.shape != parameter.shape or gradient.type() != parameter.type():
            gradient = t7.zeros_like(parameter)
        # The same tensor again: flat gradient buffers are views of it.
        parameter.grad = gradient.zero_()
        return gradient


_handed_out = _HandedOut()


class Parameter:
    """A trained field of a ``Module`` class, declared as ``weight = Parameter()``.

    The field is a plain leaf tensor or None. The declaration also makes its gradient field
    (``gradWeight``), which *is* the tensor's ``grad``: it is allocated with zeros when the field is
    set and accumulated in place from then on, so that views into a flat buffer stay valid. Setting
    the gradient to None freezes the parameter; .t7 files written here hold ``false`` for it. In
    other files a missing gradient only means that it was dropped, and the parameter is trained.
    """

    name: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        setattr(owner, gradient_name(name), Gradient(name))

    def __init__(self, *given: object) -> None:
        if given:
            raise TypeError(
                "nn.Parameter takes no tensor: declare weight = nn.Parameter() in the class, and "
                "set self.weight = tensor; torch.nn.Parameter is PyTorch's"
            )

    def __get__(self, module: Any, owner: type | None = None) -> Any:
        return self if module is None else module.__dict__.get(self.name)

    def __set__(self, module: Any, value: Tensor | None) -> None:
        self.put(module, value, with_gradient=True)

    def put(self, module: Any, value: Tensor | None, with_gradient: bool) -> None:
        """Set the field; ``with_gradient`` makes a gradient if there was no parameter before."""
        fields = module.__dict__
        if value is not None:
            if not isinstance(value, Tensor):
                raise wrong_type(value, self.name, "a tensor or None")
            if value.requires_grad or isinstance(value, torch.nn.Parameter):
                # A leaf without requires_grad: nets compute without autograd. detach() shares the
                # memory but drops the gradient, which is put back.
                gradient, value = value.grad, value.detach()
                value.grad = gradient
            old = fields.get(self.name)
            # A frozen parameter stays frozen when its tensor is exchanged, as in a conversion or a
            # share.
            is_frozen = old is not None and old.grad is None
            if old is None and not with_gradient:
                is_frozen = fields.get(f"_pending_{self.name}") is None
            if value.grad is None and value.is_floating_point() and not is_frozen:
                value.grad = self._kept_gradient(fields, value)
        fields[self.name] = value

    def _kept_gradient(self, fields: dict[str, Any], value: Tensor) -> Tensor:
        old = fields.get(self.name)
        for kept in (fields.pop(f"_pending_{self.name}", None), None if old is None else old.grad):
            if kept is not None and _fits(kept, value):
                return kept
        return t7.zeros_like(value)


class Gradient:
    """The gradient of a ``Parameter``: the ``grad`` of its tensor."""

    def __init__(self, parameter: str) -> None:
        self.parameter = parameter
        self.name = gradient_name(parameter)

    def __get__(self, module: Any, owner: type | None = None) -> Any:
        if module is None:
            return self
        fields = module.__dict__
        if self.name in fields:
            return fields[self.name]
        parameter = fields.get(self.parameter)
        if parameter is None:
            return fields.get(f"_pending_{self.parameter}")
        gradient = parameter.grad
        return _handed_out.restore(parameter) if gradient is None else gradient

    def put(self, module: Any, value: Any) -> None:
        """Set the gradient to any value, as Lua does, such as a table with some rows."""
        parameter = module.__dict__.get(self.parameter)
        if value is None or parameter is None or _fits(value, parameter):
            self.__set__(module, value)
        else:
            # PyTorch's `grad` takes tensors of the parameter's own form only, so another value is a
            # field.
            parameter.grad = None
            _handed_out.forget(parameter)
            module.__dict__[self.name] = value

    def __set__(self, module: Any, value: Tensor | None) -> None:
        fields = module.__dict__
        # A tensor replaces a value that `put` stored under the gradient's own name.
        fields.pop(self.name, None)
        parameter = fields.get(self.parameter)
        pending = f"_pending_{self.parameter}"
        if parameter is not None and value is not None and not value.numel() and parameter.numel():
            self.put(module, value)  # its memory is given up, for a file for instance
        elif parameter is not None:
            parameter.grad = value
            if value is None:
                _handed_out.forget(parameter)
        elif value is None:
            fields.pop(pending, None)
        else:
            # A port of a Lua constructor may create the gradient before the parameter.
            fields[pending] = value


def _fits(gradient: Any, parameter: Tensor) -> TypeGuard[Tensor]:
    """Return whether PyTorch accepts ``gradient`` as the ``grad`` of ``parameter``."""
    return (
        isinstance(gradient, Tensor)
        and gradient.shape == parameter.shape
        and gradient.dtype == parameter.dtype
        and gradient.device == parameter.device
    )


def gradient_of(parameter: Tensor) -> Tensor | None:
    """Return the gradient of a parameter that is about to be returned to the user."""
    gradient = parameter.grad
    if gradient is None:
        return _handed_out.restore(parameter)
    _handed_out.remember(parameter, gradient)
    return gradient


class Trained:
    """The methods of a module for its own parameters."""

    parameter_names: ClassVar[tuple[str, ...]] = ()
    shared: bool = False

    def own_tensor(self) -> Tensor | None:
        return next(iter(self._own_parameters()), None)

    def _own_parameters(self) -> list[Tensor]:
        fields = self.__dict__
        found = []
        for name in self.parameter_names:
            parameter = fields.get(name)
            if parameter is not None:
                found.append(parameter)
        return found

    def trained_parameters(self) -> list[Tensor]:
        """Return this module's own parameters that have a gradient."""
        return [p for p, g in zip(*Trained.parameters(self), strict=True) if g is not None]

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        """Return the trained tensors and their gradients: two lists, empty without parameters."""
        own, fields = self._own_parameters() if self.parameter_names else [], self.__dict__
        if not own:
            return own, []
        if any(gradient_name(name) in fields for name in self.parameter_names):
            # Lua has set another gradient than PyTorch takes.
            names = [name for name in self.parameter_names if fields.get(name) is not None]
            return own, [getattr(self, gradient_name(name)) for name in names]
        return own, [gradient_of(p) for p in own]  # type: ignore[misc]

    def getParameters(self) -> tuple[Tensor, Tensor]:
        """Move all parameters into one flat tensor and all gradients into another; return both.

        Every parameter becomes a view of the first, every gradient a view of the second. Optimizers
        of ``compat.optim`` take these two. Call it once, after the net is complete and has its
        type; see ``compat.nn.core.flat_storage``.

        Raises:
            ValueError: parameters have several types or devices.
            InUse: a flat tensor of a part of this net is still referenced and would be torn apart.
        """
        return flat_storage.flatten(*parameters_of(self))

    def zeroGradParameters(self: T) -> T:
        """Fill the gradients of the parameters with zeros."""
        gradients = [g for g in parameters_of(self)[1] if g is not None]
        if gradients:
            foreach_zero_(gradients)
        return self

    def updateParameters(self: T, learningRate: float) -> T:
        """Subtract ``learningRate`` times its gradient from each parameter.

        A parameter that several modules share is updated once for each of them, as in Torch7.
        """
        subtract(zip(*parameters_of(self), strict=True), learningRate)
        return self

    def share(self: T, mlp: Any, *names: str) -> T:
        """Use the tensors of ``mlp`` for the named fields (``"weight"``, ``"gradWeight"``)."""
        for name in names:
            theirs = getattr(mlp, name, None)
            ours = getattr(self, name, None)
            if theirs is None or ours is None:
                continue
            check_tensor(theirs, f"{name} of {mlp.typename}")
            ours.data = theirs.detach()
            moved([ours])
            self.shared = mlp.shared = True
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled tensors lack their grad, without which parameters would come back frozen.
        gradients = {
            name: self.__dict__[name].grad
            for name in self.parameter_names
            if self.__dict__.get(name) is not None
        }
        return copyreg.__newobj__, (type(self),), (self.__getstate__(), gradients)  # type: ignore[attr-defined]

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Tensor | None]]) -> None:
        fields, gradients = state
        self.__dict__.update(fields)
        for name, gradient in gradients.items():
            self.__dict__[name].grad = gradient


def parameters_of(module: Any) -> tuple[list[Tensor], list[Tensor]]:
    """Return ``module.parameters()``; two empty lists where a script's own method gives nothing."""
    found: tuple[list[Tensor], list[Tensor]] | None = module.parameters()
    return found or ([], [])


def subtract(pairs: Iterable[tuple[Tensor, Tensor | None]], rate: float) -> None:
    """Subtract ``rate`` times its gradient from each parameter, as often as it is listed."""
    # A parameter that is listed several times has its turns one after the other.
    turns: list[tuple[list[Tensor], list[Tensor]]] = []
    times: dict[int, int] = {}
    for parameter, gradient in pairs:
        if gradient is not None and parameter.numel():
            place = parameter.data_ptr()
            turn = times[place] = times.get(place, -1) + 1
            if turn == len(turns):
                turns.append(([], []))
            turns[turn][0].append(parameter)
            turns[turn][1].append(gradient)
    if turns:
        check_number(rate, "learningRate")
    with torch.no_grad():  # those of a torch.nn.Module require gradients
        for parameters, gradients in turns:
            foreach_add_(parameters, gradients, alpha=-rate)
