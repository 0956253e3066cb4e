"""What holds the replicas of a container together: their parameters, and where these lie."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from operator import attrgetter, is_
from typing import Any

import torch
from torch import Tensor

from compat.nn.core.module import Module
from compat.nn.core.native import Native


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

    Args:
        former: the link before this one. Gradients that are not in it were not summed until now;
            what has gathered in them on the other replicas is set to zero.
    """

    def __init__(self, replicas: Sequence[Module], former: Link | None = None) -> None:
        _share_storage(replicas)
        lists = [replica.parameters() for replica in replicas]
        self._first = lists[0]
        kept = [i for i, g in enumerate(self._first[1]) if g is not None]
        self.parameters = [all_parameters(replica) for replica in replicas]
        self.trained = [[p[i] for i in kept] for p, _ in lists]
        self.gradients = [[g[i] for i in kept] for _, g in lists]
        rest = sorted(set(range(len(self.parameters[0]))).difference(kept))
        self.frozen = [[p[i] for i in rest] for p in self.parameters]
        self._pointers = [p.data_ptr() for p in self._first[0]]
        grads = [(p, g) for p, g in zip(*self._first, strict=True) if p.grad is g]
        self._owners, self._grads = [p for p, _ in grads], [g for _, g in grads]
        self._start_at_zero(former)

    def _start_at_zero(self, former: Link | None) -> None:
        known = (
            {g.data_ptr() for gradients in former.gradients for g in gradients} if former else ()
        )
        for gradients in self.gradients[1:]:
            for gradient in gradients:
                if gradient.data_ptr() not in known:
                    gradient.zero_()

    def is_of(self, parameters: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> bool:
        """Whether these are the tensors that the first replica had."""
        return (
            (len(parameters), len(gradients)) == tuple(map(len, self._first))
            and all(map(is_, parameters, self._first[0]))
            and all(map(is_, gradients, self._first[1]))
        )

    def holds(self, parameters: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> bool:
        """Whether these are the tensors that the first replica had, where they were."""
        pointers = self._pointers
        return self.is_of(parameters, gradients) and pointers == [p.data_ptr() for p in parameters]

    def holds_gradients(self) -> bool:
        """Whether the first replica's gradients are still these."""
        return all(map(is_, map(attrgetter("grad"), self._owners), self._grads))


def alike(replicas: Sequence[Module], device: torch.device) -> bool:
    """Whether the first replica is on ``device`` and the others have parameters of its form."""
    (parameters, gradients), *others = (
        (all_parameters(replica), replica.parameters()[1]) for replica in replicas
    )
    return all(p.device == device for p in parameters) and all(
        len(own) == len(parameters)
        and all(
            a.shape == b.shape and a.dtype == b.dtype for a, b in zip(own, parameters, strict=True)
        )
        and len(grads) == len(gradients)
        and all(a is not None or b is None for a, b in zip(grads, gradients, strict=True))
        for own, grads in others
    )


def all_parameters(replica: Module) -> list[Tensor]:
    """The parameters of ``replica``, and those that are frozen inside its torch.nn modules."""
    frozen = [
        parameter
        for module in replica.listModules()
        if isinstance(module, Native)
        for parameter in module.module.parameters()
        if not parameter.requires_grad
    ]
    return [*replica.parameters()[0], *frozen]


def _share_storage(replicas: Sequence[Module]) -> None:
    """Make replicas on the first one's device use its parameters."""
    first = all_parameters(replicas[0])
    for replica in replicas[1:]:
        for ours, theirs in zip(all_parameters(replica), first, strict=True):
            if ours.device == theirs.device and ours.data_ptr() != theirs.data_ptr():
                ours.data = theirs.detach()
