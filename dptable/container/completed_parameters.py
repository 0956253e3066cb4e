"""Find out which gradients are complete as the modules of a net finish backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from torch import Tensor

from compat.nn.containers.branches import Branches
from compat.nn.containers.completion import Listener
from compat.nn.containers.container import Container
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.graph.gmodule import gModule

_METHODS = ("backward", "backward_parameters", "accGradParameters")
# Containers that call each child once and tell so, by the methods in which they do.
_TELLING: dict[type[Container], list[object]] = {
    kind: [getattr(kind, name) for name in _METHODS] for kind in (Sequential, Branches, gModule)
}


def _tells(module: Module) -> bool:
    """Return whether a module reports when its children have finished backward."""
    kind = next((kind for kind in _TELLING if isinstance(module, kind)), None)
    return (
        kind is not None
        and [getattr(type(module), name) for name in _METHODS] == _TELLING[kind]
        and not any(name in vars(module) for name in _METHODS)
    )


class CompletedParameters:
    """Maps finished modules of a net to parameters whose gradients are complete.

    A unit is a module whose container reports when the module has finished backward. What happens
    inside a unit is not observed. A parameter is complete when all units that contain it have
    finished, each as often as it occurs in the net.

    Args:
        net: the net.
        parameters: the parameters to report.
    """

    def __init__(self, net: Module, parameters: Sequence[Tensor]) -> None:
        indices: dict[int, list[int]] = {}
        for i, parameter in enumerate(parameters):
            indices.setdefault(id(parameter), []).append(i)
        self._units: dict[tuple[int, int], set[int]] = {}
        self._count = [0] * len(parameters)
        for place, unit in _units(net):
            held = {i for p in unit.parameters()[0] for i in indices.get(id(p), ())}
            self._units[place] = held
            for i in held:
                self._count[i] += 1

    def listener(self, complete: Callable[[int], None]) -> Listener:
        """Return a listener for one pass, which calls ``complete`` with a parameter's number."""
        missing = list(self._count)

        def hear(container: Container, position: int) -> None:
            for i in self._units.get((id(container), position), ()):
                missing[i] -= 1
                if missing[i] == 0:
                    complete(i)

        return hear


def _units(net: Module) -> Iterator[tuple[tuple[int, int], Module]]:
    """Yield each unit with its container and place; the net itself, without them, if it reports
    nothing.
    """
    # A container that also lies inside a unit tells of passes that are part of that one's.
    inside = {
        id(inner)
        for module in net.listModules()
        if not _tells(module)
        for inner in module.listModules()[1:]
    }

    def walk(module: Module, place: tuple[int, int]) -> Iterator[tuple[tuple[int, int], Module]]:
        if not _tells(module) or id(module) in inside:
            yield place, module
            return
        for position, child in enumerate(module.children()):
            yield from walk(child, (id(module), position))

    return walk(net, (0, 0))
