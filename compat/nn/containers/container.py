"""``nn.Container``: the base of modules that are made of modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat.checks import check_number, checked_scale
from compat.nn.checks.error_place import explained, locate
from compat.nn.checks.tensors import ANYTHING
from compat.nn.containers import completion
from compat.nn.core import results
from compat.nn.core.convertible import check_lists
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import as_module
from compat.nn.core.parameter import parameters_of, subtract
from compat.nn.core.pytorch_names import NotIndexed
from compat.torch_internals import foreach_zero_

C = TypeVar("C", bound="Container")


class Container(Module):
    """The base of all containers (Torch7: ``nn.Container``).

    Field: ``modules``, the list of children. ``get(i)`` counts from 1, as in Torch7.

    A container computes by the methods of its children, whatever these do. It has a ``backward`` of
    its own, which calls theirs.

    PyTorch: ``torch.nn.ModuleList``.
    """

    takes: ClassVar[str | None] = ANYTHING
    passes_on = True

    def __init__(self, *modules: Module) -> None:
        super().__init__()
        self.modules: list[Any] = []
        for module in modules:
            self.add(module)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        check_lists(fields, "modules")
        super().t7_restore(fields, version)

    def add(self: C, module: Module | torch.nn.Module) -> C:
        """Append ``module``, a Torch7-style module or any ``torch.nn.Module``. Returns self.

        Args:
            module: a module of ``compat.nn``, or any ``torch.nn.Module``, which runs under autograd
                by itself; None adds nothing, as in Torch7.

        Raises:
            TypeError: it is neither.

        Examples:
            >>> from compat import nn
            >>> net = nn.Sequential().add(nn.Linear(4, 3)).add(nn.Tanh())
            >>> net.size(), net.get(2)
            (2, nn.Tanh)
        """
        if module is not None:
            self.modules.append(as_module(module))
        return self

    def extend(self: C, *modules: Module | torch.nn.Module) -> C:
        """Append several modules. Returns self."""
        for module in modules:
            self.add(module)
        return self

    def get(self, index: int) -> Any:
        """Return child number ``index``, counted from 1; negative numbers count from the end.

        Args:
            index: from 1, or from -1 for the last.

        Raises:
            IndexError: there is no such child; 0 is none.
        """
        return self.modules[self._position(index)]

    def size(self) -> int:
        """Return how many children there are."""
        return len(self.modules)

    def __len__(self) -> int:
        return len(self.modules)

    __getitem__ = NotIndexed()

    def __bool__(self) -> bool:
        return True

    def _position(self, index: int, most: int | None = None) -> int:
        most = len(self.modules) if most is None else most
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"index is {index!r}; a whole number from 1 to {most} is accepted")
        if index == 0:
            raise IndexError(
                f"index is 0; a whole number from 1 to {most} is accepted: modules count from 1, "
                "as in Torch7"
            )
        if not -most <= index <= most:
            raise IndexError(f"index is {index}; a whole number from 1 to {most} is accepted")
        return index - 1 if index > 0 else most + index

    def call(self, position: int, method: str, *arguments: Any) -> Any:
        """Call a method of the child at ``position``, from 0; an error tells which one it was."""
        module = self.modules[position]
        try:
            return getattr(module, method)(*arguments)
        except Exception as error:
            raise self._located(error, position, method, *arguments) from None

    def _checked(self, scale: Any) -> Any:
        try:
            return checked_scale(scale)
        except Exception as error:
            locate(error, self)
            raise

    def _located(self, error: Exception, position: int, method: str, *arguments: Any) -> Exception:
        """Return the error to raise for a child's error, with the child's place."""
        error = explained(error, self.modules[position], method, *arguments)
        locate(error, self.modules[position])
        locate(error, self, position + 1)
        return error

    def set_gradInput(self, value: Any) -> Any:
        """Set gradInput to ``value``. In containers this also holds if gradInput was None."""
        if results.buffer_reuse.on:
            value = results.copy_to_buffer(self.__dict__.get("gradInput"), value)
        self.gradInput = value
        return value

    def set_gradInput_view(self, value: Any) -> Any:
        """Set gradInput to ``value``, whose memory another module owns."""
        if results.buffer_reuse.on:
            value = results.view_in_buffer(self.__dict__.get("gradInput"), value)
        self.gradInput = value
        return value

    def goes_back_as(self, cls: type[Container]) -> bool:
        """Return whether ``backward`` is the uncompiled one of ``cls``."""
        is_plain = type(self).backward is cls.backward and "backward" not in self.__dict__
        return is_plain and self.compilation is None

    def report_finished(self, position: int) -> None:
        """Note that the child at ``position``, from 0, has gone back for the only time in this
        pass.
        """
        hear = completion.listener()
        if hear is not None:
            hear(self, position)
        self.modules[position].free_results()

    def applyToModules(self, function: Callable[[Module], Any]) -> None:
        """Call ``function`` with each child.

        Args:
            function: a function of one module. Grandchildren are not visited; ``apply`` visits all.
        """
        for module in self.modules:
            function(module)

    def zeroGradParameters(self: C) -> C:
        """Fill the gradients of the parameters with zeros, each module by its own method."""
        gradients: list[Tensor] = []
        for module in self.ordinary("zeroGradParameters"):
            for gradient in parameters_of(module)[1]:
                if gradient is not None:
                    gradients.append(gradient)
        if gradients:
            foreach_zero_(gradients)
        return self

    def updateParameters(self: C, learningRate: Scalar) -> C:
        """Subtract ``learningRate`` times its gradient from each parameter.

        Modules with their own ``updateParameters`` are updated by that method.

        Args:
            learningRate: the size of the step.
        """
        pairs: list[tuple[Tensor, Tensor | None]] = []
        for module in self.ordinary("updateParameters", learningRate):
            pairs += zip(*parameters_of(module), strict=True)
        subtract(pairs, learningRate)
        return self

    def ordinary(self, name: str, *arguments: Any) -> list[Module]:
        """Return the modules below that inherit method ``name`` of Module; call the method of the
        other modules.
        """
        found: list[Module] = []
        ordinary, of_containers = getattr(Module, name), getattr(Container, name)
        for module in self.modules:
            method = getattr(type(module), name, None)
            if name in module.__dict__:
                getattr(module, name)(*arguments)
            elif method is ordinary:
                found.append(module)
            elif method is of_containers:
                found += module.ordinary(name, *arguments)
            else:
                getattr(module, name)(*arguments)
        return found

    def set_train(self, train: bool) -> None:
        # A module may have a method of its own.
        self.applyToModules(lambda m: m.training() if train else m.evaluate())
        super().set_train(train)

    def share(self: C, mlp: Module, *names: str) -> C:
        """Share the named fields with ``mlp`` child by child; it may have more of them."""
        super().share(mlp, *names)
        theirs = getattr(mlp, "modules", [])
        if len(theirs) < len(self.modules):
            raise ValueError(
                f"mlp has {len(theirs)} modules; at least {len(self.modules)}, as this "
                f"{self.typename} has, are accepted"
            )
        for ours, other in zip(self.modules, theirs, strict=False):
            ours.share(other, *names)
        return self

    def reset(self: C, stdv: Scalar | None = None) -> C:
        self.applyToModules(lambda m: m.reset(stdv))
        return self

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        weights: list[Tensor] = []
        gradients: list[Tensor] = []
        for module in self.modules:
            w, g = parameters_of(module)
            weights += w
            gradients += g
        return weights, gradients

    def clearState(self: C) -> C:
        self.applyToModules(lambda m: m.clearState())
        return super().clearState()

    def _body(self) -> list[str]:
        """Return the lines of ``__repr__`` between the braces."""
        return [indented(f"({i}): ", module) for i, module in enumerate(self.modules, 1)]

    def _head(self) -> str:
        """Return what ``__repr__`` calls this container."""
        return self.typename

    @classmethod
    def prints_every_module(cls) -> bool:
        """Return whether the class prints its modules, where Torch7's class prints its name."""
        return cls.__repr__ is Container.__repr__ and cls._body is Container._body

    def __repr__(self) -> str:
        body = [f"  {line}" for line in self._body()]
        return "\n".join([f"{self._head()} {{", *body, "}"]) if body else self._head()


class Relaying(Container, abstract=True):
    """The base of containers whose modules handle the gradients of parameters.

    A class defines ``_relay(method, input, gradOutput, factor)``, which calls ``method`` of the
    modules with their inputs and gradients.
    """

    def _relay(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        raise TypeError(f"{self.typename} does not define _relay(…)")

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        self._relay("accGradParameters", input, gradOutput, self._checked(scale))

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        check_number(lr, "lr")
        self._relay("accUpdateGradParameters", input, gradOutput, lr)


def indented(head: str, module: Module) -> str:
    """Return a child in the print of a container."""
    return head + repr(module).replace("\n", "\n  ")
