"""The parameters of a container's replicas, tied together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from compat.nn.core import flat_storage as flatten
from compat.nn.core.module import Module
from dptable import comm
from dptable.container.replica_link import Link, Structure, alike
from dptable.container.replicas import towers
from dptable.threads.part import Owned

if TYPE_CHECKING:
    from dptable.container.data_parallel_table import DataParallelTable


class ReplicatedParameters(Owned):
    """The parameters of each replica, and their gradients.

    Field ``flat``: per replica the flat parameters and the flat gradients, or None; the container
    shows it as ``flattenedParams``.
    """

    def __init__(self, dpt: DataParallelTable) -> None:
        super().__init__(dpt)
        self.flat: list[list[Tensor]] | None = None
        self.link: Link | None = None
        self._structure: Structure | None = None
        # The containers inside the replicas.
        self._inner: list[DataParallelTable] = []

    def replicas(self) -> list[Module]:
        """New replicas of the container's net."""
        dpt = self.dpt
        devices = dpt._devices()
        self.link = None
        made = towers(dpt.modules[0], devices)
        self._structure = Structure(made[0])
        return made

    def drop_others(self) -> None:
        """Let go of what lies on the other replicas' devices."""
        self.link = None
        self._inner = []
        self.flat = self.flat and self.flat[:1]

    def grown(self) -> None:
        """The net went forward, in which it may have changed itself: so have all replicas."""
        if self._structure is not None and not self._structure.holds_modules():
            self._structure = Structure(self.dpt.modules[0])

    def let_go(self, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        """Drop the flat tensors if the net has others now: they must not be in anybody's way."""
        if self.flat and self.link is not None and not self.link.is_of(parameters, gradients):
            self.flat = None

    def _changed(self, parameters: list[Tensor]) -> bool:
        return self._structure is None or not self._structure.holds(parameters)

    def refresh(self) -> Link:
        """Tie the replicas together again if something has come apart.

        ``getParameters`` of a net around the container moves the first replica's parameters.
        """
        dpt = self.dpt
        parameters, gradients = dpt.impl.setup()[0].parameters()
        loose = (
            self.link is None
            or self._changed(parameters)
            or not self.link.holds(parameters, gradients)
        )
        if not dpt.flattenParams:
            self.flat = None
        elif loose or not self._is_flat():
            try:
                return self.flatten()
            except flatten.InUse:
                # Interleaved with parameters of the net around it: go on one by one.
                return self.tie()
        return self.tie() if loose or self.link is None else self.link

    def tie(self) -> Link:
        """Make the replicas one net: alike, with shared memory where they can share it."""
        dpt = self.dpt
        dpt._gradients.forget()
        replicas = dpt.impl.setup()
        changed = self._changed(replicas[0].parameters()[0])
        if changed or not alike(replicas, dpt._devices()[0]):
            # The net was changed without apply().
            dpt.impl.applyChanges()
            replicas = dpt.impl.setup()
        self.link = Link(replicas, self.link)
        self._inner = [m for r in replicas for m in r.listModules() if isinstance(m, type(dpt))]
        if dpt._member is not None:
            dpt._member.refresh(replicas[0])
        return self.link

    def tied(self) -> Link:
        """The link, whose parameters only forward looks after: optimizers may drop gradients."""
        self.dpt.impl.setup()
        if self.link is None or not self.link.holds_gradients():
            return self.refresh()
        return self.link

    def _is_flat(self) -> bool:
        dpt = self.dpt
        if self.flat is None or len(self.flat) != len(dpt.gpuAssignments) or self.link is None:
            return False
        storage = self.flat[0][0].untyped_storage().data_ptr()
        return all(p.untyped_storage().data_ptr() == storage for p in self.link.trained[0])

    def flatten(self) -> Link:
        """Put each replica's parameters into one flat tensor, and its gradients into another.

        What already lies side by side in a larger flat tensor, that of a net around the container,
        stays there.
        """
        # Those that were flat before must not be in the way of a net that has changed.
        self.flat = None
        _flat(self.tie(), 1)
        # The replicas that use the first one's parameters follow it, and only then are flat.
        link = self.tie()
        self.flat = self.dpt.impl.exec(lambda _, i: _flat(link, i))
        return link

    def parameters(self) -> list[list[Tensor]]:
        """The parameters of each replica, as few tensors as there can be."""
        link = self.tied()
        if self.flat is None:
            return link.parameters
        return [[flat[0], *rest] for flat, rest in zip(self.flat, link.frozen, strict=True)]

    def gradients(self) -> list[list[Tensor]]:
        """The gradients of each replica, as few tensors as there can be."""
        link = self.tied()
        return link.gradients if self.flat is None else [[flat[1]] for flat in self.flat]

    def sync(self) -> None:
        """Copy the first replica's parameters to the others."""
        nccl = self.nccl()
        for copies in zip(*self.parameters(), strict=True):
            comm.broadcast_into_(copies, nccl=nccl)
        for container in self._inner:
            container.needsSync = True

    def nccl(self) -> bool:
        """Whether NCCL is to carry them."""
        return self.dpt.usenccl and self.flat is not None and len(self.dpt.gpuAssignments) > 1


def _flat(link: Link, i: int) -> list[Tensor]:
    """What replica ``i`` trains in one tensor, and its gradients in another.

    They lie as the first replica's do, which a net around the container may have put in another
    order than the tower's.
    """
    layout = flatten.layout(link.trained[0])
    return list(flatten.flatten(link.trained[i - 1], link.gradients[i - 1], layout))
