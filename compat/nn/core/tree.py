"""The tree of modules, and walks through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from compat.nn.core import walk_limits

if TYPE_CHECKING:
    from compat.nn.core.module import Module

M = TypeVar("M", bound="Tree")


class Tree:
    """The methods of a module for the modules below it."""

    typename: ClassVar[str]
    inner_names: ClassVar[tuple[str, ...]] = ()

    def children(self) -> list[Module]:
        """Return the modules directly below this one."""
        return getattr(self, "modules", None) or []

    def endless(self) -> str:
        """Return where a walk through this net would not end; empty if it ends."""
        return walk_limits.objection(self)

    def named_modules(self, place: str = "") -> list[tuple[str, Module]]:
        """Return each module below this one, then this one, with its place in the net.

        Places are written as in errors: ``nn.Sequential[3] nn.Linear``.
        """
        found: list[tuple[str, Module]] = []
        for i, child in enumerate(self.children(), 1):
            found += child.named_modules(f"{place}{self.typename}[{i}] ")
        return [*found, (f"{place}{self.typename}", _module(self))]

    def apply(self: M, callback: Callable[[Module], Any]) -> M:
        """Call ``callback`` with this module, then with all below it; return this module."""
        callback(_module(self))
        for child in self.children():
            child.apply(callback)
        return self

    def listModules(self) -> list[Module]:
        """Return this module and all below it, in the order of ``apply``."""
        return [_module(self), *(m for child in self.children() for m in child.listModules())]

    def findModules(
        self, typename: str, container: Module | None = None
    ) -> tuple[list[Module], list[Module]]:
        """Find all modules of exactly the class ``typename`` ("nn.Linear").

        Returns:
            The modules, and their containers.
        """
        if not isinstance(typename, str):
            raise TypeError(
                f"typename is {typename!r}; a Torch7 class name such as 'nn.Linear' is accepted"
            )
        nodes: list[Module] = []
        containers: list[Module] = []
        own = _module(self)
        if self.typename == typename:
            nodes.append(own)
            containers.append(container or own)
        for child in self.children():
            found, around = child.findModules(typename, own)
            nodes += found
            containers += around
        return nodes, containers

    def replace(self, callback: Callable[[Module], Module]) -> Module:
        """Replace every module below by ``callback(module)``; return ``callback(self)``."""
        new = callback(_module(self))
        for i, child in enumerate(self.children()):
            self.modules[i] = child.replace(callback)  # type: ignore[attr-defined]
        return new


class Inner:
    """An inner module under the field name that Torch7's class, and its files, have for it.

    ``expand = Inner(0, 2)`` is ``modules[0].modules[2]``.
    """

    def __init__(self, *places: int) -> None:
        self._places = places

    def __set_name__(self, owner: Any, name: str) -> None:
        owner.inner_names = (*owner.inner_names, name)

    def __get__(self, module: Any, owner: type | None = None) -> Any:
        if module is None:
            return self
        for place in self._places:
            module = module.modules[place]
        return module

    def __set__(self, module: Any, value: Any) -> None:
        raise AttributeError("it is one of the modules; change those")


def _module(thing: Any) -> Module:
    return cast("Module", thing)
