"""The replicas of a container: the net itself, and a copy of it for each other device."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from operator import is_
from typing import Any

import torch
from torch import Tensor

from compat import cutorch
from compat.cutorch import DeviceLike
from compat.nn.core.module import Module
from compat.nn.core.native import Native
from compat.nn.core.net_tensors import all_parameters
from compat.tensor_tables import contents
from dptable.threads.dispatch import Basic, Job

Closure = Callable[[Module, int], Any]
# What an object may do in another way than its class does.
_METHODS = frozenset(
    ("updateOutput", "updateGradInput", "accGradParameters", "backward", "forward")
)


class Structure:
    """The modules and parameters of a net, and the methods set on its objects, at one time."""

    def __init__(self, net: Module) -> None:
        self._parents = list(_parents(net))
        # Copies of the lists: a net changes its lists in place.
        self._children = [copy.copy(children) for children in self._held()]
        self._parameters = net.parameters()[0]
        self._modules = net.listModules()
        self._methods = self._own_methods()

    def _own_methods(self) -> dict[tuple[int, str], Any]:
        return {
            (i, name): fields[name]
            for i, fields in enumerate(map(vars, self._modules))
            if not fields.keys().isdisjoint(_METHODS)
            for name in _METHODS & fields.keys()
        }

    def new_methods(self) -> list[tuple[int, str, Any]]:
        """Return the methods that were set or removed since the last call.

        Returns:
            For each its module's number in ``listModules()``, counted from 0, its name, and the
            method or None.
        """
        former, self._methods = self._methods, self._own_methods()
        # By identity: comparing functions by value would call `__eq__` of somebody's objects.
        return [
            (*key, self._methods.get(key))
            for key in {**former, **self._methods}
            if self._methods.get(key) is not former.get(key)
        ]

    def holds_modules(self) -> bool:
        """Return whether the net still has the same modules."""
        return self._held() == self._children

    def _held(self) -> list[Any]:
        return [getattr(parent, name, None) for parent, name in self._parents]

    def holds(self, parameters: Sequence[Tensor]) -> bool:
        """Return whether the net has the same modules, and ``parameters`` are the same tensors."""
        return (
            len(parameters) == len(self._parameters)
            and all(map(is_, parameters, self._parameters))
            and self.holds_modules()
        )


def _parents(net: Module) -> Iterator[tuple[Any, str]]:
    """Yield each object that can have children below ``net``, and the field that holds them."""
    for module in net.listModules():
        if isinstance(module, Native):
            yield from ((inner, "_modules") for inner in module.module.modules())
        elif "modules" in vars(module):
            yield module, "modules"


class Part:
    """A part of a container that is made anew for each container: never copied, never saved."""


class Replicas(Part):
    """A net on several devices, and the functions that run on its replicas (``impl`` in Torch7).

    Attributes:
        modules: the replicas, or None before the first use; the first is the net itself.
        dispatcher: a ``Basic`` or a ``Threads``, which runs the functions.

    Args:
        net: returns the net.
        gpus: returns the devices, one per replica.
    """

    def __init__(self, net: Callable[[], Module], gpus: Callable[[], Sequence[DeviceLike]]) -> None:
        self._net = net
        self._gpus = gpus
        self.modules: list[Module] | None = None
        self.dispatcher = Basic()
        self._structure: Structure | None = None

    @property
    def typename(self) -> str:
        """The Torch7 class of a container's ``impl``."""
        return self.dispatcher.typename

    def gpus(self) -> Sequence[DeviceLike]:
        """Return the devices as they were given, GPU ids or names."""
        return self._gpus()

    def devices(self) -> list[torch.device]:
        """Return the device of each replica."""
        return [cutorch.device(gpu) for gpu in self._gpus()]

    def setup(self) -> list[Module]:
        """Return the replicas; make them if there are none or if the container got another net."""
        if not self.dispatcher.prepare(self._gpus()):
            # The worker that was given up may write into its replica at any time.
            self.modules = None  # a job that was given up may still use one
        if self.modules is None or self.modules[0] is not self._net():
            self.modules = make_replicas(self._net(), self.devices())
            self._structure = Structure(self.modules[0])
        return self.modules

    def changed(self, parameters: Sequence[Tensor]) -> bool:
        """Return whether the net's modules or ``parameters`` changed since the replicas were made.

        Modules that the net itself makes in forward do not count; see ``note_new_modules``.
        """
        return self._structure is None or not self._structure.holds(parameters)

    def note_new_modules(self, used: int) -> None:
        """Accept modules that the net made itself in forward, as nn.MapTable does.

        The ``used`` replicas have made them; the others are made anew.
        """
        if self._structure is not None and not self._structure.holds_modules():
            # In place: the link and the latest pass hold this list.
            replicas = self.setup()
            replicas[used:] = _copies(replicas[0], self.devices(), used)
            self._structure = Structure(replicas[0])

    def take_over_methods(self) -> bool:
        """Copy methods that were set on objects of the first replica to the other replicas.

        Returns:
            Whether there were any new ones.
        """
        new = [] if self._structure is None else self._structure.new_methods()
        if new:
            first, *others = (replica.listModules() for replica in self.setup())
            for modules in others:
                # A method bound to a module of the first replica becomes one of its counterpart.
                memo = {id(mine): own for mine, own in zip(first, modules, strict=True)}
                for place, name, method in new:
                    if method is None:
                        vars(modules[place]).pop(name, None)
                    else:
                        setattr(modules[place], name, copy.deepcopy(method, memo))
        return bool(new)

    def applyChanges(self) -> None:
        """Make the replicas anew from the first, unless there are none yet."""
        if self.modules is not None:
            self.modules = None  # if making them fails, the next use does it
            self.setup()

    def exec(self, closure: Closure, maxGpuIdx: int | None = None) -> list[Any]:
        """Call a function for each replica, as ``DataParallelTable.exec`` says."""
        return self.map(closure, range(1, len(self.setup()[:maxGpuIdx]) + 1))

    def map(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Call ``function(module, ...)`` for as many replicas as there are ``arguments``.

        Each replica gets its own entry of each of the ``arguments``. If replicas fail,
        the first error is raised after every replica has stopped; it names replica and device.
        """
        return self.run([partial(function, module) for module in self.setup()], *arguments)

    def run(
        self,
        functions: Sequence[Callable[..., Any]],
        *arguments: Sequence[Any],
        contexts: Sequence[Sequence[AbstractContextManager[Any]]] = (),
    ) -> list[Any]:
        """Call ``function(...)`` on the device of each replica.

        Args:
            functions: one for each replica.
            arguments: sequences with one entry for each replica.
            contexts: for each replica the contexts of the call, the outermost first.

        Errors are as in ``exec``.
        """
        jobs = [Job(*own) for own in zip(functions, *arguments, strict=False)]
        for job, around in zip(jobs, contexts, strict=False):
            job.contexts += around
        return self.dispatcher.run(jobs, self._gpus()[: len(jobs)])

    def close(self) -> None:
        """End the worker threads and drop the replicas; the next use starts both again."""
        self.dispatcher.close()
        self.modules = None


def make_replicas(net: Module, devices: Sequence[torch.device]) -> list[Module]:
    """Move ``net`` to the first device and return it with a copy on each other device."""
    if any(tensor.device != devices[0] for tensor in _held_tensors(net)):
        net.move(devices[0])
    return [net, *_copies(net, devices)]


def _copies(net: Module, devices: Sequence[torch.device], used: int = 1) -> list[Module]:
    """Copy ``net``, which is on the first device, to all devices but the ``used`` first ones."""
    replicas = []
    for device in devices[used:]:
        replica = net.clone().clearState()
        if device != devices[0]:
            replica.move(device)
        replicas.append(replica.zeroGradParameters())
    return replicas


def _held_tensors(net: Module) -> Iterator[Tensor]:
    """Yield the non-empty tensors that a net keeps: parameters, statistics, kernels."""
    yield from all_parameters(net)
    for module in net.listModules():
        for item in contents(module.held_values()):
            if isinstance(item, Tensor) and item.numel():
                yield item
