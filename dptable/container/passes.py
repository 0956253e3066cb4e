"""Run a batch through the replicas of a container, forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, TypeVar

import torch

from compat import accelerators
from compat.nn.core.module import Module, Scalar
from compat.tensor_tables import map_tensors, tensors
from dptable.container import sanity_checks
from dptable.container.batch_statistics import SYNCHRONISED, StatisticsExchange, statistics_exchange
from dptable.container.gradients import GradientSum
from dptable.container.graphs import Capture, Pass, Replay
from dptable.container.parameters import Link, ReplicatedParameters
from dptable.container.pass_ownership import PassOwnership
from dptable.container.replicas import Part, Replicas
from dptable.container.split_and_join import concat, distribute, distribute_like, rows
from dptable.container.timed_steps import TimedSteps

T = TypeVar("T")


class LatestPass:
    """The slices of the latest pass, and what its backward needs.

    Attributes:
        inputGpu, outputGpu, gradOutputGpu, gradInputGpu: one entry for each replica with data.
        maxUsedGpu: the number of replicas with data.
        replicas: the replicas that computed forward.
        ownership, begun: tell whether the replicas' results still are of this pass.
        home: the device of the input's gradient.
        exchange: the exchange of batch statistics, if they are synchronised.
        weight: the factor of ``gradOutput`` after ``updateGradInput``, for the
            ``accGradParameters`` that follows.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the pass: backward now needs a new forward."""
        self.inputGpu: list[Any] = []
        self.outputGpu: list[Any] = []
        self.gradOutputGpu: list[Any] = []
        self.gradInputGpu: list[Any] = []
        self.maxUsedGpu = 0
        self.replicas: list[Module] = []
        self.ownership: PassOwnership | None = None
        self.begun: object = None
        self.home = torch.device("cpu")
        self.exchange: StatisticsExchange | None = None
        self.weight: float | None = None

    def begin(self, link: Link) -> None:
        """Note that the tied replicas begin a forward pass."""
        self.replicas, self.ownership, self.begun = (
            link.replicas,
            link.ownership,
            link.ownership.begin(),
        )

    def is_of(self, replicas: list[Module]) -> bool:
        """Return whether ``replicas`` computed this pass and no later one elsewhere."""
        return (
            self.replicas is replicas
            and self.ownership is not None
            and self.ownership.holds(self.begun)
        )


class Mode(NamedTuple):
    """The kind of a pass.

    Attributes:
        dim: the dimension that is split, counted from 0.
        train: whether the replicas are in training.
        to_input: whether the gradient of the input is wanted.
    """

    dim: int
    train: bool
    to_input: bool


class Passes(Part):
    """Split a batch, run the replicas forward and backward on the slices, join the results.

    Attributes:
        latest: the slices of the latest pass.
        capture: the recorded passes, or None.

    Args:
        replicas: the replicas.
        parameters: their parameters.
        gradients: the sum of their gradients.
        timing: profiles passes and sets unequal shares.
        statistics: returns the mode of running statistics.
        check_numbers: returns whether to look for NaN and infinity.
    """

    def __init__(
        self,
        replicas: Replicas,
        parameters: ReplicatedParameters,
        gradients: GradientSum,
        timing: TimedSteps,
        statistics: Callable[[], str],
        check_numbers: Callable[[], bool],
    ) -> None:
        self._replicas = replicas
        self._parameters = parameters
        self._gradients = gradients
        self._timing = timing
        self._statistics = statistics
        self._check_numbers = check_numbers
        self.latest = LatestPass()
        self.capture: Capture | None = None

    # Forward.

    def link(self) -> Link:
        """Return the current link, tied again if parameters moved.

        While recorded graphs are used there is no check here: they check the memory themselves.
        """
        link = self._parameters.link
        if self.capture is not None and link is not None and self.capture.holds(link):
            return link
        return self._parameters.refresh()

    def forward(self, link: Link, input: Any, mode: Mode) -> Any:
        """Return the output for ``input``, a tensor or a nested table of tensors."""
        if self._timing.profile is not None:
            self._timing.profile.begin_step()
        latest, replicas, devices = self.latest, link.replicas, self._replicas.devices()
        sizes = None if self._timing.shares is None else self._timing.shares.sizes
        parts = self.profiled_call("distribute", distribute, input, devices, mode.dim, sizes)
        used = len(parts)
        latest.exchange = self._statistics_exchange(replicas[:used], devices, mode)
        # Before the replicas run: a pass that fails half way has overwritten results of the one
        # before, too.
        latest.begin(link)
        # The host, which would have to wait for it, gets it from the first device, as in Torch7.
        places = [t.device for t in tensors(input) if accelerators.is_accelerator(t.device)]
        latest.home = next(iter(places), devices[0])
        with nullcontext() if latest.exchange is None else latest.exchange.installed():
            replays = None
            if self.capture is not None:
                wanted = Pass(self._replicas, link, parts, mode.to_input, self._obstacle())
                replays = self.capture.replays(wanted, mode.train)
            functions = [each.forward for each in replays or replicas[:used]]
            outputs = self._run("forward", mode, functions, parts)
        # A replay runs no Python of the modules, so it makes none.
        if replays is None:
            self._replicas.note_new_modules(used)
        link.copy_used_rows(used)
        if self._check_numbers():
            self._replicas.exec(lambda m, i: sanity_checks.check_outputs(m), used)
        output = self.profiled_call("concat", concat, outputs, mode.dim, devices[0], "output")
        latest.inputGpu, latest.outputGpu, latest.maxUsedGpu = parts, outputs, used
        return output

    def _statistics_exchange(
        self, replicas: list[Module], devices: list[torch.device], mode: Mode
    ) -> StatisticsExchange | None:
        """Return the exchange of batch statistics for this pass, or None if there is none."""
        if self._statistics() != SYNCHRONISED or not mode.train:
            return None
        widen = self._gradients.group.add_statistics
        return statistics_exchange(replicas, devices, self._replicas.dispatcher.parallel, widen)

    def _obstacle(self) -> str | None:
        """Return why passes of this container cannot be recorded, or None."""
        if self._statistics() == SYNCHRONISED:
            return "statistics is 'synchronised', for which replicas wait for each other"
        if self._timing.measured:
            return "shares is 'auto', with which the slices change"
        return None

    def _run(
        self,
        phase: str,
        mode: Mode,
        functions: Sequence[Callable[..., Any]],
        *arguments: Sequence[Any],
        around: Sequence[AbstractContextManager[Any]] = (),
    ) -> list[Any]:
        """Call ``function(part, ...)`` for each replica with data; ``arguments[0]`` are the parts.

        Args:
            phase: the name for the profile.
            mode: the kind of the pass.
            functions: one for each replica.
            arguments: one sequence for each argument.
            around: a context for each replica, if any.
        """
        exchange = self.latest.exchange
        timed = self._timing.profile is not None or self._timing.shares is not None
        if exchange is None and not timed:
            contexts: Sequence[Sequence[Any]] = [[own] for own in around]
            return self._replicas.run(functions, *arguments, contexts=contexts)
        with self._timing.timed(phase, [rows(part, mode.dim) for part in arguments[0]]) as contexts:
            if exchange is not None:
                contexts = [[*outer, exchange] for outer in contexts]
            if around:
                contexts = [[*outer, own] for outer, own in zip(contexts, around, strict=True)]
            return self._replicas.run(functions, *arguments, contexts=contexts)

    def profiled_call(self, phase: str, function: Callable[..., T], *arguments: Any) -> T:
        """Return ``function(*arguments)``, timed as a phase if a profile is being taken."""
        if self._timing.profile is None:
            return function(*arguments)
        with self._timing.span(phase):
            return function(*arguments)

    # Backward.

    def backward(self, method: str, gradOutput: Any, mode: Mode, *scale: Scalar) -> Any:
        """Call ``method`` on the replicas with slices of ``gradOutput``; return the joined result.

        Args:
            method: ``backward`` or one of its halves, ``updateGradInput`` and
                ``accGradParameters``.
            gradOutput: a gradient of the form of the output.
            mode: the kind of the forward pass.
            scale: for methods that take it.
        """
        latest = self.latest
        if not latest.outputGpu:
            raise RuntimeError("nn.DataParallelTable: backward needs a forward pass first")
        link = self.link()
        # Results lie in the modules, so that a later forward of the same replicas has overwritten
        # them.
        if not latest.is_of(link.replicas):
            raise RuntimeError(
                "nn.DataParallelTable: since the forward pass the net was changed, or has gone "
                "forward in another container; go forward again before backward"
            )
        weight = self._weight(method, link, mode)
        weighted = gradOutput if weight == 1 else map_tensors(lambda t: t * weight, gradOutput)
        latest.gradOutputGpu = self.profiled_call(
            "distribute", distribute_like, weighted, mode.dim, latest.outputGpu
        )
        if method == "updateGradInput":
            return self._run_backward(method, mode)
        # A replayed graph runs no Python, so nothing tells which gradients are complete meanwhile.
        early = self._replays is None
        with self._gradients.summed(link, latest.maxUsedGpu, early) as running:
            result = self._run_backward(method, mode, *scale, around=running.contexts)
            self.profiled_call("reduce", running.reduce)
        return result

    def _weight(self, method: str, link: Link, mode: Mode) -> float:
        """Return the factor of ``gradOutput`` for this process's share of the group's rows."""
        group, latest = self._gradients.group, self.latest
        if not group.exchanges:
            return 1.0
        if method != "updateGradInput":
            group.take_apart(self._parameters.lists(link)[1][0])
        # The second half of a backward: inside the net there are weighted gradients already.
        weight = latest.weight if method == "accGradParameters" else None
        if weight is None:
            # A gradInput that is returned, and gradients that stay on their replicas, cannot be
            # corrected later: for these the weight must be known now.
            fresh = method == "backward" and not mode.to_input and not self._gradients.accumulating
            count = sum(rows(part, mode.dim) for part in latest.inputGpu)
            weight = group.begin(count, link.fingerprint, fresh)
        latest.weight = weight if method == "updateGradInput" else None
        return weight

    def _run_backward(
        self,
        method: str,
        mode: Mode,
        *scale: Scalar,
        around: Sequence[AbstractContextManager[Any]] = (),
    ) -> Any:
        latest = self.latest
        # What computed forward computes backward: a graph's results are in its own memory.
        goers = self._replays or latest.replicas
        name = method
        if method == "backward" and not mode.to_input and latest.replicas[0].compilation is None:
            # The gradient of the batch is not wanted. A compiled net has code for `backward` only.
            name = "backward_parameters"
        functions = [getattr(each, name) for each in goers[: latest.maxUsedGpu]]
        given = latest.inputGpu, latest.gradOutputGpu, *([s] * latest.maxUsedGpu for s in scale)
        with nullcontext() if latest.exchange is None else latest.exchange.installed():
            results = self._run("backward", mode, functions, *given, around=around)
        if self._check_numbers() and method != "updateGradInput":
            self._replicas.exec(lambda m, i: sanity_checks.check_gradients(m), latest.maxUsedGpu)
        if method == "accGradParameters":
            return None
        latest.gradInputGpu = results
        if not mode.to_input:
            return None
        return self.profiled_call("concat", concat, results, mode.dim, latest.home, "gradInput")

    def skip(self) -> None:
        """Take part in a pass of the group, forward and backward, without data."""
        self.latest.clear()
        group = self._gradients.group
        link = self._parameters.refresh()
        group.take_apart(self._parameters.lists(link)[1][0])
        group.begin(0, link.fingerprint)
        with self._gradients.summed(link, 0, early=False) as running:
            # A process without data must take part in each collective, or the others would wait for
            # it.
            running.reduce()  # with the other processes

    @property
    def _replays(self) -> list[Replay] | None:
        """The replays of the latest forward, or None if it was computed normally."""
        return None if self.capture is None else self.capture.running
