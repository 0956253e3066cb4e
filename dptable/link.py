"""What holds the replicas of a container together: their parameters, and where these lie."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from operator import attrgetter, is_
from typing import Any

import torch
from torch import Tensor

from compat.nn.module import Module
from compat.nn.native import Native


class Structure:
    """Which modules and parameters a net is made of, to tell whether somebody has changed it."""

    def __init__(self, net: Module) -> None:
        self._parents = list(_parents(net))
        self._children = [copy.copy(children) for children in self._held()]
        self._parameters = net.parameters()[0]

    def holds_modules(self) -> bool:
        """Whether the modules of the net are still these."""
        return self._held() == self._children

    def _held(self) -> list[Any]:
        return [getattr(parent, name, None) for parent, name in self._parents]

    def holds(self, parameters: Sequence[Tensor]) -> bool:
        """Whether the modules are still these, and these are still their ``parameters``."""
        return (
            len(parameters) == len(self._parameters)
            and all(map(is_, parameters, self._parameters))
            and self.holds_modules()
        )


def _parents(net: Module) -> Iterator[tuple[Any, str]]:
    """What can have children below ``net``, and the field that holds them."""
    for module in net.listModules():
        if isinstance(module, Native):
            yield from ((inner, "_modules") for inner in module.module.modules())
        elif "modules" in vars(module):
            yield module, "modules"


class Link:
    """The parameters and gradients of each replica, as they were when the replicas were tied.

    The tensors stay the same objects when their storage moves, so that the lists stay right; only
    the replicas on the first one's device, which use its storage, must then be tied again.

    Fields, a list per replica each: ``parameters``; ``gradients`` and ``trained``, the gradients
    that the first replica has and the parameters that they belong to; ``frozen``, the others.
    """

    def __init__(self, replicas: Sequence[Module]) -> None:
        _share_storage(replicas)
        lists = [replica.parameters() for replica in replicas]
        self._first = lists[0]
        kept = [i for i, g in enumerate(self._first[1]) if g is not None]
        self.parameters = [p for p, _ in lists]
        self.trained = [[p[i] for i in kept] for p, _ in lists]
        self.gradients = [[g[i] for i in kept] for _, g in lists]
        rest = sorted(set(range(len(self._first[0]))).difference(kept))
        self.frozen = [[p[i] for i in rest] for p, _ in lists]
        self._pointers = [p.data_ptr() for p in self.parameters[0]]
        grads = [(p, g) for p, g in zip(*self._first, strict=True) if p.grad is g]
        self._owners, self._grads = [p for p, _ in grads], [g for _, g in grads]

    def holds(self, parameters: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> bool:
        """Whether these are the tensors that the first replica had, where they were."""
        return (
            (len(parameters), len(gradients)) == tuple(map(len, self._first))
            and all(map(is_, parameters, self._first[0]))
            and all(map(is_, gradients, self._first[1]))
            and self._pointers == [p.data_ptr() for p in parameters]
        )

    def holds_gradients(self) -> bool:
        """Whether the first replica's gradients are still these."""
        return all(map(is_, map(attrgetter("grad"), self._owners), self._grads))


def alike(replicas: Sequence[Module], device: torch.device) -> bool:
    """Whether the first replica is on ``device`` and the others have parameters of its form."""
    (parameters, gradients), *others = (replica.parameters() for replica in replicas)
    return all(p.device == device for p in parameters) and all(
        len(own) == len(parameters)
        and all(
            a.shape == b.shape and a.dtype == b.dtype for a, b in zip(own, parameters, strict=True)
        )
        and all(a is not None or b is None for a, b in zip(grads, gradients, strict=True))
        for own, grads in others
    )


def _share_storage(replicas: Sequence[Module]) -> None:
    """Make replicas on the first one's device use its parameters."""
    first = replicas[0].parameters()[0]
    for replica in replicas[1:]:
        for ours, theirs in zip(replica.parameters()[0], first, strict=True):
            if ours.device == theirs.device and ours.data_ptr() != theirs.data_ptr():
                ours.data = theirs.detach()
