"""The parts of a container of replicas, and their fields under Torch7's names."""

from __future__ import annotations

import operator
import weakref
from typing import Any, Generic, TypeVar

from torch import Tensor

from compat.nn.containers.container import Container
from dptable.container.batch_statistics import AVERAGED, average
from dptable.container.gradients import GradientSum
from dptable.container.parameters import ReplicatedParameters
from dptable.container.passes import Passes
from dptable.container.replicas import Closure, Replicas
from dptable.container.shares import FixedShares
from dptable.container.timed_steps import TimedSteps
from dptable.processes.member import Member
from dptable.processes.single_process import SingleProcess
from dptable.threads.dispatch import Basic

R = TypeVar("R", bound="Replicated")
T = TypeVar("T")


class PartAttribute(Generic[T]):
    """A field of a container that a part holds, at a path like ``_passes.latest.inputGpu``."""

    def __init__(self, place: str) -> None:
        self._read = operator.attrgetter(place)
        self._part, _, self._name = place.rpartition(".")

    def __get__(self, container: Any, owner: Any = None) -> T:
        found: Any = self if container is None else self._read(container)
        return found

    def __set__(self, container: Any, value: T) -> None:
        setattr(operator.attrgetter(self._part)(container), self._name, value)


class Replicated(Container, abstract=True):
    """A container that consists of parts, each with its own task.

    The net is ``modules[0]``; the devices are ``gpuAssignments``.
    """

    gpuAssignments: list[Any]
    flattenParams: bool
    usenccl: bool
    overlap: bool | None = None
    statistics: str = "first"
    checkNumbers: bool = False

    def reset_parts(self, dispatcher: Basic | None = None) -> None:
        """Make new parts, as of a container that has not run yet: no group, default shares.

        Args:
            dispatcher: runs the replicas; default: one after the other.
        """
        # A weak reference back, so that dropping the container frees it, and ends its threads, at
        # once, not when the garbage collector runs.
        me = weakref.proxy(self)
        replicas = Replicas(lambda: me.get(1), lambda: me.gpuAssignments)
        if dispatcher is not None:
            replicas.dispatcher = dispatcher
        parameters = ReplicatedParameters(
            replicas, lambda: me.flattenParams, lambda: me.usenccl, Replicated
        )
        self._replicas = replicas
        self._parameters = parameters
        self._gradients = GradientSum(replicas, parameters, lambda: me.overlap)
        self._timing = TimedSteps(replicas)
        self._passes = Passes(
            replicas,
            parameters,
            self._gradients,
            self._timing,
            lambda: me.statistics,
            lambda: me.checkNumbers,
        )

    def close(self) -> None:
        """End the worker threads and drop the other replicas; the next use starts anew."""
        self._forget()
        self._passes.latest.clear()
        self._gradients.forget()
        self._parameters.drop_others()
        self._replicas.close()

    def _forget(self) -> None:
        """Drop the recorded graphs; the next forward records new ones."""
        if self._passes.capture is not None:
            self._passes.capture.drop()

    def _check_net(self) -> None:
        if not self.modules:
            raise RuntimeError("there is no net yet; call add(module, gpus) first")

    # What the parts hold, under Torch7's names.

    @property
    def impl(self) -> Replicas:
        """The replicas; ``impl.exec(closure)`` is ``exec``."""
        return self._replicas

    # The slices of the latest passes, and how many replicas got data in forward.
    inputGpu = PartAttribute[list[Any]]("_passes.latest.inputGpu")
    outputGpu = PartAttribute[list[Any]]("_passes.latest.outputGpu")
    gradOutputGpu = PartAttribute[list[Any]]("_passes.latest.gradOutputGpu")
    gradInputGpu = PartAttribute[list[Any]]("_passes.latest.gradInputGpu")
    maxUsedGpu = PartAttribute[int]("_passes.latest.maxUsedGpu")
    # Per replica the flat parameters and the flat gradients, or None.
    flattenedParams = PartAttribute[list[list[Tensor]] | None]("_parameters.flat")
    # Whether the parameters changed since the last copy.
    needsSync = PartAttribute[bool]("_parameters.stale")
    # How much of a batch each replica gets; None: slices differ by at most one element.
    shares = PartAttribute[FixedShares | None]("_timing.shares")

    @property
    def group(self) -> SingleProcess | Member:
        """This process among those that train together; see ``distribute``."""
        return self._gradients.group

    # Running functions on the replicas.

    def exec(self, closure: Closure, maxGpuIdx: int | None = None) -> list[Any]:
        """Call ``closure(module, i)`` for every replica i, counted from 1, on its device.

        This also reaches methods that are not part of ``Module``, such as ``forget`` of recurrent
        nets.

        Args:
            closure: the function.
            maxGpuIdx: the last replica; default: all.

        Returns:
            The results.

        If replicas fail, the first error is raised after every replica has stopped. It names
        replica and device.
        """
        self._check_net()
        return self._replicas.exec(closure, maxGpuIdx)

    def settleStatistics(self: R) -> R:
        """Average the running statistics over this process's replicas.

        Does nothing unless ``statistics`` is "averaged".
        """
        if self.statistics == AVERAGED and self._replicas.modules:
            average(self._replicas.modules)
        return self

    def _changed(self) -> None:
        self._forget()
        self._replicas.applyChanges()
        if self.flattenedParams is not None:
            self._parameters.flatten()
