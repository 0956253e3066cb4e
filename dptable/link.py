"""What holds the replicas of a container together: their parameters, and where these lie."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter, is_

import torch

from compat.nn.module import Module


class Link:
    """The parameters and gradients of each replica, as they were when the replicas were tied.

    The tensors stay the same objects when their storage moves, so that the lists stay right; only
    the replicas on the first one's device, which use its storage, must then be tied again.

    Fields, a list per replica each: ``parameters``; ``gradients`` and ``trained``, the gradients
    that the first replica has and the parameters that they belong to.
    """

    def __init__(self, replicas: Sequence[Module]) -> None:
        _share_storage(replicas)
        lists = [replica.parameters() for replica in replicas]
        self._first = lists[0]
        kept = [i for i, g in enumerate(self._first[1]) if g is not None]
        self.parameters = [p for p, _ in lists]
        self.trained = [[p[i] for i in kept] for p, _ in lists]
        self.gradients = [[g[i] for i in kept] for _, g in lists]
        self._pointers = [p.data_ptr() for p in self.parameters[0]]
        grads = [(p, g) for p, g in zip(*self._first, strict=True) if p.grad is g]
        self._owners, self._grads = [p for p, _ in grads], [g for _, g in grads]

    def holds(self, first: Module) -> bool:
        """Whether the first replica still has these tensors, where they were."""
        parameters, gradients = first.parameters()
        mine, theirs = self._first[0] + self._first[1], parameters + gradients
        return (
            len(mine) == len(theirs)
            and all(a is b for a, b in zip(mine, theirs, strict=True))
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
