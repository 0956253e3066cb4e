"""Modules and criterions of classes that nobody has registered, as files hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from compat import t7
from compat.nn.containers.container import Container
from compat.nn.core import walk_limits
from compat.nn.core.conversion import Conversion
from compat.nn.core.convertible import type_of
from compat.nn.core.files import register_unknown, wrap_unknown_fields
from compat.nn.core.module import Module
from compat.nn.core.native import as_module
from compat.nn.core.parameter import gradient_name
from compat.nn.criterions.base import Criterion
from compat.tensor_tables import contents

_TRAINED = ("weight", "bias")


class _Field:
    """An attribute that is a field of the object in the file."""

    def __init__(self, default: Callable[[dict[Any, Any]], Any] = lambda fields: None) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, thing: Any, owner: type | None = None) -> Any:
        if thing is None:
            return self
        fields = thing.fields
        return fields[self._name] if self._name in fields else self._default(fields)

    def __set__(self, thing: Any, value: Any) -> None:
        thing.fields[self._name] = value


class _Kept(t7.TorchObject):
    """The common part of an unknown module and an unknown criterion.

    The fields are those of the file, under their names as attributes and in ``fields``.
    """

    fields: dict[Any, Any]
    output: Any = _Field()
    gradInput: Any = _Field()
    _type: Any = _Field(type_of)

    def t7_restore(self, fields: dict[Any, Any], version: float) -> None:
        """Keep ``fields``."""
        wrap_unknown_fields(fields)
        walk_limits.note(self)  # type: ignore[arg-type]
        self.fields = fields

    def tell_type(self, name: str) -> None:
        """Nothing: what the file holds stays as it is."""

    def convert(self, conversion: Conversion, name: str) -> None:
        is_told = "_type" in self.fields
        super().convert(conversion, name)  # type: ignore[misc]
        if not is_told:
            del self.fields["_type"]

    @property
    def what_to_do(self) -> str:
        """Why it is only kept, and what to do about that: the end of an error."""
        name = self.typename
        own = name.rpartition(".")[2]
        own = own if own.isidentifier() else "Own"
        return (
            f"because nobody has registered the class {name}; define a class and "
            f'register it before loading: @t7.register("{name}") class {own}(nn.{self._base}): …'
        )

    def _refuse(self) -> NoReturn:
        raise NotImplementedError(f"cannot compute, {self.what_to_do}")

    _base = "Module"


# Its fields are read by index, as those of a TorchObject.
class Unknown(_Kept, Container, abstract=True):  # type: ignore[misc]
    """A module of a class that is not registered: everything but computing.

    It prints, converts, copies and is saved as it was read. ``weight`` and ``bias`` are its
    parameters, and those of the modules that it holds: ``modules``, which are those of that field,
    or without it all among its fields but those ``around`` it, that hold it themselves.

    Raises:
        NotImplementedError: where a net computes through it.
    """

    weight = _Field()
    bias = _Field()
    gradWeight = _Field()
    gradBias = _Field()
    train = _Field(lambda fields: True)
    around: Sequence[Module] = ()

    def t7_restore(self, fields: dict[Any, Any], version: float) -> None:
        super().t7_restore(fields, version)
        self._link()

    def _link(self) -> None:
        """Let the gradients among the fields be those of the parameters."""
        for name in _TRAINED:
            value, gradient = self.get(name), self.get(gradient_name(name))
            if isinstance(value, Tensor) and isinstance(gradient, Tensor) and value.is_leaf:
                kinds = [(x.shape, x.dtype, x.device) for x in (value, gradient)]
                if kinds[0] == kinds[1] and value.is_floating_point():
                    value.grad = gradient

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._link()

    @property
    def modules(self) -> list[Module]:
        """The modules that it holds, in a new list."""
        held = self.get("modules")
        if held is None:
            held = [self.preamble, self.fields]
        left_out = {id(self), *map(id, self.around)}
        found = [item for item in contents(held) if isinstance(item, Module)]
        return list(dict.fromkeys(item for item in found if id(item) not in left_out))

    @modules.setter
    def modules(self, value: Any) -> None:
        self.fields["modules"] = value

    def add(self, module: Module | torch.nn.Module) -> Unknown:
        """Append ``module`` to the field ``modules``, which is made if need be. Returns self."""
        self.fields.setdefault("modules", t7.List()).append(as_module(module))
        return self

    def replace(self, callback: Callable[[Module], Module]) -> Module:
        new = callback(self)
        for child in self.modules:
            other = child.replace(callback)
            if other is not child:
                _put(other, child, [self.preamble, self.fields])
        return new

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the field ``key``, or ``default``; with a number, the module of that number."""
        is_number = isinstance(key, int) and key not in self.fields
        return Container.get(self, key) if is_number else super().get(key, default)

    def _own_parameters(self) -> list[Tensor]:
        own = [value for name in _TRAINED if isinstance(value := self.get(name), Tensor)]
        for value in own:
            if value.grad is None and value.is_floating_point():
                value.grad = torch.zeros_like(value)
        return own

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        own = self._own_parameters()
        weights, gradients = super().parameters()
        return own + weights, [p.grad for p in own] + gradients  # type: ignore[return-value]

    def updateOutput(self, input: Any) -> Any:
        self._refuse()

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self._refuse()

    def clearState(self) -> Unknown:
        for name in ("output", "gradInput"):
            if isinstance(self.get(name), Tensor):
                self.fields[name] = self._empty()
        return super().clearState()

    def __repr__(self) -> str:
        head = f"{self.typename} (a class not known here)"
        return Container.__repr__(self).replace(self.typename, head, 1) if self.modules else head


class UnknownCriterion(_Kept, Criterion, abstract=True):
    """A criterion of a class that is not registered, as ``Unknown`` for modules.

    Raises:
        NotImplementedError: where it is computed.
    """

    _base = "Criterion"

    def compute(self, input: Any, target: Any) -> Tensor:
        self._refuse()

    def __repr__(self) -> str:
        return f"{self.typename} (a class not known here)"


def _put(new: Module, old: Module, tables: list[Any]) -> None:
    """Put ``new`` wherever ``old`` is in ``tables`` and the tables in them."""
    seen = {id(table) for table in tables}
    for table in tables:
        counted = isinstance(table, list) and not isinstance(table, t7.List)
        for key, value in list(enumerate(table) if counted else table.items()):
            if value is old:
                table[key] = new
            elif isinstance(value, (list, dict)) and id(value) not in seen:
                seen.add(id(value))
                tables.append(value)


def _kept_as(fields: dict[Any, Any]) -> type:
    is_loss = isinstance(fields.get("output"), (int, float))
    return UnknownCriterion if is_loss else Unknown


register_unknown("module", Unknown)
register_unknown("criterion", UnknownCriterion)
t7.keep_unknown(_kept_as)
