"""What a container of replicas consists of, under Torch7's names."""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

from compat.nn.containers.container import Container
from dptable.container.batch_statistics import AVERAGED, average
from dptable.container.gradients import GradientSum
from dptable.container.parameters import ReplicatedParameters
from dptable.container.passes import Passes
from dptable.container.replicas import Closure, Replicas
from dptable.container.shares import FixedShares
from dptable.container.timed_steps import TimedSteps
from dptable.processes.alone import Alone
from dptable.processes.member import Member
from dptable.threads.dispatch import Basic

R = TypeVar("R", bound="Replicated")


class Replicated(Container, abstract=True):
    """The parts of a container, each with its own task, and what they hold.

    Its net is ``modules[0]``; the devices are ``gpuAssignments``.
    """

    gpuAssignments: list[Any]
    flattenParams: bool
    usenccl: bool
    overlap: bool | None = None
    statistics: str = "first"
    checkNumbers: bool = False

    def begin_anew(self, dispatcher: Basic | None = None) -> None:
        """Be a container that has not run yet, in no group, with default shares.

        Args:
            dispatcher: runs the replicas; one after the other by default.
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

    @property
    def inputGpu(self) -> list[Any]:
        """The latest input's slices."""
        return self._passes.latest.inputGpu

    @property
    def outputGpu(self) -> list[Any]:
        """The latest output's slices."""
        return self._passes.latest.outputGpu

    @property
    def gradOutputGpu(self) -> list[Any]:
        """The slices of the latest gradient of the output."""
        return self._passes.latest.gradOutputGpu

    @property
    def gradInputGpu(self) -> list[Any]:
        """The slices of the latest gradient of the input."""
        return self._passes.latest.gradInputGpu

    @property
    def maxUsedGpu(self) -> int:
        """How many replicas got data in the latest forward pass."""
        return self._passes.latest.maxUsedGpu

    @property
    def needsSync(self) -> bool:
        """Whether the parameters changed since the last copy."""
        return self._parameters.stale

    @needsSync.setter
    def needsSync(self, value: bool) -> None:
        self._parameters.stale = value

    @property
    def shares(self) -> FixedShares | None:
        """How much of a batch each replica gets; None: slices differ by at most one element."""
        return self._timing.shares

    @shares.setter
    def shares(self, value: FixedShares | None) -> None:
        self._timing.shares = value

    @property
    def group(self) -> Alone | Member:
        """This process among those that train together; see ``distribute``."""
        return self._gradients.group

    # Running functions on the replicas.

    def exec(self, closure: Closure, maxGpuIdx: int | None = None) -> list[Any]:
        """``closure(module, i)`` for every replica i, counted from 1, on its device; the results.

        Reaches methods that are not part of ``Module``, such as ``forget`` of recurrent nets. An
        error is raised once every replica has stopped and names replica and device.
        """
        self._check_net()
        return self._replicas.exec(closure, maxGpuIdx)

    def settleStatistics(self: R) -> R:
        """Average the running statistics over the replicas of this process, if asked to."""
        if self.statistics == AVERAGED and self._replicas.modules:
            average(self._replicas.modules)
        return self

    def _changed(self) -> None:
        self._forget()
        self._replicas.applyChanges()
        if self.flattenedParams is not None:
            self._parameters.flatten()
