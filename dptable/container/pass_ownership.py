"""Track which pass a net holds the results of, since a net may be in several containers."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from compat.nn.core.module import Module
from dptable.container.replicas import Replicas

_passes: dict[weakref.ref[Module], object] = {}


# The dict is an argument: modules may die after the interpreter has cleared this file's names.
def _forget(module: weakref.ref[Module], passes: dict[Any, object] = _passes) -> None:
    passes.pop(module, None)


class PassOwnership:
    """The modules of a net, each of which holds the results of one pass at a time.

    Args:
        net: the net. Containers of replicas in it have passes of their own.
    """

    def __init__(self, net: Module) -> None:
        self._modules = [weakref.ref(module, _forget) for module in _modules(net)]

    def begin(self) -> object:
        """Begin a pass, which ends those of other containers. Return a token for ``holds``."""
        begun = object()
        _passes.update(dict.fromkeys(self._modules, begun))
        return begun

    def holds(self, begun: object) -> bool:
        """Return whether no other pass has begun since the pass of this token."""
        return set(map(_passes.get, self._modules)) == {begun}


def _modules(net: Module) -> Iterator[Module]:
    yield net
    if not isinstance(getattr(net, "impl", None), Replicas):
        for child in net.children():
            yield from _modules(child)
