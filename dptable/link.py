"""What holds the replicas of a container together: their parameters, and where these lie."""

from __future__ import annotations

from compat.nn.module import Module


class Link:
    """The parameters and gradients of each replica, as they were when the replicas were tied.

    The tensors stay the same objects when their storage moves, so that the lists stay right; only
    the replicas on the first one's device, which use its storage, must then be tied again.
    """

    def __init__(self, replicas: list[Module]) -> None:
        _share_storage(replicas)
        lists = [replica.parameters() for replica in replicas]
        self.parameters = [p for p, _ in lists]
        self.gradients = [g for _, g in lists]
        self._pointers = [p.data_ptr() for p in self.parameters[0]]

    def holds(self, first: Module) -> bool:
        """Whether the first replica still has these tensors, where they were."""
        parameters, gradients = first.parameters()
        mine, theirs = self.parameters[0] + self.gradients[0], parameters + gradients
        return (
            len(mine) == len(theirs)
            and all(a is b for a, b in zip(mine, theirs, strict=True))
            and self._pointers == [p.data_ptr() for p in parameters]
        )


def _share_storage(replicas: list[Module]) -> None:
    """Make replicas on the first one's device use its parameters."""
    first = replicas[0].parameters()[0]
    for replica in replicas[1:]:
        for ours, theirs in zip(replica.parameters()[0], first, strict=True):
            if ours.device == theirs.device and ours.data_ptr() != theirs.data_ptr():
                ours.data = theirs.detach()
