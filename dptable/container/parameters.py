"""Keep the parameters of a container's replicas in step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from operator import is_
from typing import Any

import torch
from torch import Tensor

from compat import accelerators
from compat.nn.core import flat_storage
from compat.nn.core.module import Module
from compat.nn.core.net_tensors import all_parameters, named_tensors
from compat.nn.layers.lookup import LookupTable
from dptable.container.pass_ownership import PassOwnership
from dptable.container.replicas import Part, Replicas
from dptable.tensors.copies import spread


class Link:
    """The parameters and gradients of the replicas, after the replicas have been tied together.

    Tying makes the replicas on the first one's device use its storage. When ``getParameters`` of
    a net around the container moves that storage, the tensors stay the same objects and these lists
    stay right, but the replicas must be tied again.

    Attributes:
        replicas: the replicas. The other attributes have one list for each of them.
        parameters: all parameters.
        trained: the parameters that have a gradient on the first replica.
        gradients: their gradients.
        frozen: the other parameters.

    Args:
        replicas: the replicas.
        former: the previous link of these replicas. Gradients on the other replicas that are not
            in it have never been summed and zeroed: they are set to zero.
    """

    def __init__(self, replicas: list[Module], former: Link | None = None) -> None:
        _share_storage(replicas)
        self.replicas = replicas
        lists = [replica.parameters() for replica in replicas]
        self._first = lists[0]
        kept = [i for i, g in enumerate(self._first[1]) if g is not None]
        self.parameters = [all_parameters(replica) for replica in replicas]
        self.trained = [[p[i] for i in kept] for p, _ in lists]
        self.gradients = [[g[i] for i in kept] for _, g in lists]
        rest = sorted(set(range(len(self.parameters[0]))).difference(kept))
        self.frozen = [[p[i] for i in rest] for p in self.parameters]
        self._places = _places([*self._first[0], *self._first[1]])
        self._lookups = _lookups_with_own_rows(replicas)
        # By address, since gradients may have become views of a flat tensor since.
        known = set(_places(chain(*former.gradients[1:]))) if former else set()
        for gradient in chain(*self.gradients[1:]):
            if gradient.data_ptr() not in known:
                gradient.zero_()

    def copy_used_rows(self, used: int) -> None:
        """Repeat on the first replica what forward changed on the ``used`` replicas.

        A LookupTable with ``maxNorm`` renormalises the rows that it uses. On the other replicas the
        next copy of parameters would overwrite these changes, as in Torch7.
        """
        for pairs in self._lookups[: used - 1]:
            for lookup, copy in pairs:
                lookup.renormalise_as(copy)

    def is_of(self, parameters: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> bool:
        """Return whether these are the tensors that the first replica had."""
        return (
            (len(parameters), len(gradients)) == tuple(map(len, self._first))
            and all(map(is_, parameters, self._first[0]))
            and all(map(is_, gradients, self._first[1]))
        )

    def holds(self, parameters: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> bool:
        """Return whether these are the first replica's tensors, still in the same memory."""
        return self.is_of(parameters, gradients) and self._places == _places(
            [*parameters, *gradients]
        )

    @cached_property
    def ownership(self) -> PassOwnership:
        """The pass ownership of the first replica, which may be in several containers."""
        return PassOwnership(self.replicas[0])

    # Cached: it is sent with every pass of a group, and a link's tensors do not change their form.
    @cached_property
    def fingerprint(self) -> int:
        """A hash of the names, shapes and dtypes of the net's parameters."""
        described = repr(
            [(name, tuple(t.shape), str(t.dtype)) for name, t in named_tensors(self.replicas[0])]
        )
        return int.from_bytes(hashlib.sha256(described.encode()).digest()[:7], "little")


def _places(tensors: Iterable[Tensor | None]) -> list[int]:
    return [0 if tensor is None else tensor.data_ptr() for tensor in tensors]


def alike(replicas: Sequence[Module], device: torch.device) -> bool:
    """Return whether the first replica is on ``device`` and all have parameters of one form."""
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
        and _shared(own, parameters)
        and _shared(grads, gradients)
        for own, grads in others
    )


def _shared(own: Sequence[Tensor | None], first: Sequence[Tensor | None]) -> bool:
    """Return whether ``own`` share memory wherever those of the ``first`` replica do."""
    held = [(a, b) for a, b in zip(own, first, strict=False) if a is not None and b is not None]
    pairs = {(a.data_ptr(), b.data_ptr()) for a, b in held if b.numel()}
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def _lookups_with_own_rows(
    replicas: Sequence[Module],
) -> list[list[tuple[LookupTable, LookupTable]]]:
    """Pair, for each other replica, its LookupTables with own storage with the first one's."""
    first, *others = (
        [m for m in replica.listModules() if isinstance(m, LookupTable)] for replica in replicas
    )
    return [
        [
            (lookup, copy)
            for lookup, copy in zip(first, copies, strict=True)
            if lookup.weight.data_ptr() != copy.weight.data_ptr()
        ]
        for copies in others
    ]


def _share_storage(replicas: Sequence[Module]) -> None:
    """Make replicas on the first one's device use its parameters."""
    first = all_parameters(replicas[0])
    for replica in replicas[1:]:
        for ours, theirs in zip(all_parameters(replica), first, strict=True):
            if ours.device == theirs.device and ours.data_ptr() != theirs.data_ptr():
                accelerators.keep(ours)
                ours.data = theirs.detach()


class ReplicatedParameters(Part):
    """The parameters of each replica, and their gradients.

    Attributes:
        flat: per replica the flat parameters and the flat gradients, or None; the container shows
            it as ``flattenedParams``.
        stale: whether the first replica's parameters changed since the last copy; the container
            shows it as ``needsSync``.

    Args:
        replicas: the replicas.
        wants_flat: returns whether to keep them in flat tensors.
        wants_nccl: returns whether NCCL is to copy them.
        copying: classes of modules that copy parameters themselves. Those inside the replicas are
            told about new parameters through their ``needsSync``.
    """

    def __init__(
        self,
        replicas: Replicas,
        wants_flat: Callable[[], bool],
        wants_nccl: Callable[[], bool],
        copying: type[Module],
    ) -> None:
        self._replicas = replicas
        self._wants_flat = wants_flat
        self._wants_nccl = wants_nccl
        self._copying = copying
        self.flat: list[list[Tensor]] | None = None
        self.stale = False
        self._link: Link | None = None
        self._inner: list[Any] = []

    @property
    def link(self) -> Link | None:
        """The latest link, or None if the replicas are other modules now."""
        link = self._link
        return link if link is not None and link.replicas is self._replicas.modules else None

    def drop_others(self) -> None:
        """Forget the tensors of the other replicas."""
        self._link = None
        self._inner = []
        self.flat = self.flat and self.flat[:1]

    def forget_if_moved(self, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        """Drop the flat tensors if the net's current tensors do not lie in them.

        A reference to them would keep others from moving the tensors that do.
        """
        if self.flat and self.link is not None and not self.link.is_of(parameters, gradients):
            self.flat = None

    def refresh(self) -> Link:
        """Return the link; tie again if parameters, gradients or methods changed."""
        parameters, gradients = self._replicas.setup()[0].parameters()
        link = self.link
        if link is not None and (
            self._replicas.changed(parameters)
            or self._replicas.take_over_methods()
            or not link.holds(parameters, gradients)
        ):
            link = None
        if not self._wants_flat():
            self.flat = None
        elif link is None or not self._is_flat(link):
            try:
                return self.flatten()
            except flat_storage.InUse:
                # A net around this one has others between them: go on tensor by tensor.
                return self.tie()
        return self.tie() if link is None else link

    def tie(self) -> Link:
        """Make the replicas alike if they are not, and return a new link."""
        replicas = self._replicas.setup()
        changed = self._replicas.changed(replicas[0].parameters()[0])
        if changed or not alike(replicas, self._replicas.devices()[0]):
            # The net was changed without apply().
            self._replicas.applyChanges()
            replicas = self._replicas.setup()
        self._link = Link(replicas, self.link)
        self._inner = [m for r in replicas for m in r.listModules() if isinstance(m, self._copying)]
        return self._link

    def _is_flat(self, link: Link) -> bool:
        if self.flat is None or len(self.flat) != len(self._replicas.gpus()):
            return False
        storage = self.flat[0][0].untyped_storage().data_ptr()
        return all(p.untyped_storage().data_ptr() == storage for p in link.trained[0])

    def flatten(self) -> Link:
        """Put each replica's parameters into one flat tensor, and its gradients into another.

        Parameters that already lie side by side in a larger flat tensor, that of a net around the
        container, stay there.
        """
        # Otherwise the former flat tensors would keep the parameters from moving.
        self.flat = None
        _flat(self.tie(), 1)
        # Replicas that use the first one's storage are tied to the new one before they are flat.
        link = self.tie()
        self.flat = self._replicas.exec(lambda _, i: _flat(link, i))
        return link

    def lists(self, link: Link) -> tuple[list[list[Tensor]], list[list[Tensor]]]:
        """Return each replica's parameters and gradients, in as few tensors as possible."""
        if self.flat is None:
            return link.parameters, link.gradients
        parameters = [[flat[0], *rest] for flat, rest in zip(self.flat, link.frozen, strict=True)]
        return parameters, [[flat[1]] for flat in self.flat]

    def sync(self, link: Link) -> None:
        """Copy the first replica's parameters to the others."""
        nccl = self.nccl()
        for copies in zip(*self.lists(link)[0], strict=True):
            spread(copies, nccl=nccl)
        for container in self._inner:
            container.needsSync = True
        self.stale = False

    def nccl(self) -> bool:
        """Return whether NCCL is to carry them."""
        return self._wants_nccl() and self.flat is not None and len(self._replicas.gpus()) > 1


def _flat(link: Link, i: int) -> list[Tensor]:
    """Flatten the trained parameters and the gradients of replica ``i``.

    The order is that of the first replica's memory, which a net around the container may have
    chosen.
    """
    layout = flat_storage.layout(link.trained[0])
    return list(flat_storage.flatten(link.trained[i - 1], link.gradients[i - 1], layout))
