"""A batch's way through the replicas of a container, forward and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, NamedTuple, TypeVar

import torch

from compat.nn.checks.error_place import locate
from compat.nn.core import recording
from compat.nn.core.contributions import Contributions
from compat.nn.core.module import Module, Scalar
from compat.tensor_tables import map_tensors
from dptable.container import sanity_checks
from dptable.container.batch_statistics import SYNCHRONISED, Meeting, together
from dptable.container.gradients import GradientSum
from dptable.container.graphs import Capture, Pass, Replay
from dptable.container.parameters import Link, ReplicatedParameters
from dptable.container.replicas import Part, Replicas
from dptable.container.split_and_join import concat, distribute, distribute_like, rows
from dptable.container.timed_steps import TimedSteps

T = TypeVar("T")


class LatestPass:
    """The slices of the latest pass: of its input, output and gradients.

    A list of each kind, with one entry for each replica that got data; ``gradOutput`` is the whole
    of which ``gradOutputGpu`` has the slices, and ``meeting`` is where the replicas take statistics
    together, if they do.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget it; there is nothing to go back through."""
        self.inputGpu: list[Any] = []
        self.outputGpu: list[Any] = []
        self.gradOutputGpu: list[Any] = []
        self.gradInputGpu: list[Any] = []
        self.gradOutput: Any = None
        self.maxUsedGpu = 0
        self.meeting: Meeting | None = None


class Mode(NamedTuple):
    """What kind of pass it is.

    ``dim``, the dimension that is split, in PyTorch's numbers; ``train``, whether the replicas are
    in training; ``to_input``, whether a gradient of the input is wanted.
    """

    dim: int
    train: bool
    to_input: bool


class Passes(Part):
    """Splits a batch, takes the replicas forward and back on their slices, joins the results.

    Fields: ``latest``, the slices of the latest pass; ``capture``, the recorded passes, if any are
    wanted.

    Args:
        replicas: the replicas.
        parameters: theirs.
        gradients: theirs, and how they are summed.
        timing: who wants to know how long it takes, and how batches are divided.
        statistics: tells how running statistics are taken.
        check_numbers: tells whether to look for numbers that are not finite.
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
        """The current link, made anew if parameters moved.

        That is not checked while recorded graphs serve: these look where the parameters are.
        """
        link = self._parameters.link
        if self.capture is not None and link is not None and self.capture.holds(link):
            return link
        return self._parameters.refresh()

    def forward(self, link: Link, input: Any, mode: Mode) -> Any:
        """The output for ``input``, a tensor or a nested table of tensors."""
        if self._timing.profile is not None:
            self._timing.profile.begin_step()
        devices = self._replicas.devices()
        sizes = None if self._timing.shares is None else self._timing.shares.sizes
        parts = self.spanned("distribute", distribute, input, devices, mode.dim, sizes)
        outputs = self._go_forward(link, devices, parts, mode)
        if self._check_numbers():
            self._replicas.exec(lambda m, i: sanity_checks.check_outputs(m), len(parts))
        output = self.spanned("concat", concat, outputs, mode.dim, devices[0], "output")
        latest = self.latest
        latest.inputGpu, latest.outputGpu, latest.maxUsedGpu = parts, outputs, len(parts)
        return output

    def _go_forward(
        self, link: Link, devices: list[torch.device], parts: list[Any], mode: Mode
    ) -> list[Any]:
        """The outputs of the first replicas for ``parts``, one each."""
        forward = _forward if mode.to_input else _forward_to_parameters
        self.latest.meeting = None
        with self._taking_statistics(devices, len(parts), mode) as self.latest.meeting:
            replays = None
            if self.capture is not None:
                wanted = Pass(self._replicas, link, parts, forward, mode.to_input, self._obstacle())
                replays = self.capture.replays(wanted, mode.train)
            if replays is not None:
                outputs = self._run("forward", mode, _replay, parts, replays)
            else:
                outputs = self._run("forward", mode, forward, parts)
                self._replicas.grown()
        link.settle(len(parts))
        return outputs

    def _taking_statistics(
        self, devices: list[torch.device], count: int, mode: Mode
    ) -> AbstractContextManager[Meeting | None]:
        if self._statistics() != SYNCHRONISED or not mode.train:
            return nullcontext()
        replicas = self._replicas.setup()[:count]
        return together(
            replicas,
            devices,
            self._replicas.dispatcher.parallel,
            self._gradients.group.add_statistics,
        )

    def _obstacle(self) -> str | None:
        """Why passes of this container cannot be recorded."""
        if self._statistics() == SYNCHRONISED:
            return "statistics is 'synchronised', for which replicas wait for each other"
        if self._timing.measured:
            return "shares is 'auto', with which the slices change"
        return None

    def _run(
        self,
        phase: str,
        mode: Mode,
        function: Callable[..., Any],
        *arguments: Sequence[Any],
        around: Sequence[AbstractContextManager[Any]] = (),
    ) -> list[Any]:
        """``function(module, part, ...)`` on the replicas that have parts, the first arguments.

        Each runs in its context of those ``around`` it, if there are any.
        """
        meeting = self.latest.meeting
        timed = self._timing.profile is not None or self._timing.shares is not None
        if meeting is None and not timed:
            return self._replicas.map(function, *arguments, contexts=[[own] for own in around])
        with self._timing.timed(phase, [rows(part, mode.dim) for part in arguments[0]]) as contexts:
            if meeting is not None:
                contexts = [[*outer, meeting] for outer in contexts]
            if around:
                contexts = [[*outer, own] for outer, own in zip(contexts, around, strict=True)]
            return self._replicas.map(function, *arguments, contexts=contexts)

    def spanned(self, phase: str, function: Callable[..., T], *arguments: Any) -> T:
        """``function(*arguments)``, a phase for the profile."""
        if self._timing.profile is None:
            return function(*arguments)
        with self._timing.span(phase):
            return function(*arguments)

    # Backward.

    def backward(self, method: str, gradOutput: Any, mode: Mode, *scale: Scalar) -> Any:
        """What ``method`` of the replicas returns for ``gradOutput``, joined.

        Args:
            method: ``backward`` or one of its halves, ``updateGradInput`` and
                ``accGradParameters``.
            gradOutput: of the form of the output.
            mode: that of the pass forward.
            scale: for methods that take it.
        """
        latest = self.latest
        if not latest.outputGpu:
            raise RuntimeError("nn.DataParallelTable: backward needs a forward pass first")
        devices = self._replicas.devices()
        self._go_forward_again(devices, mode)
        # The second half of a backward: its gradient has been weighed and split already.
        second = method == "accGradParameters" and gradOutput is latest.gradOutput
        second = second and bool(latest.gradOutputGpu)
        weight = self._weight(method, second, mode)
        if not second:
            weighted = gradOutput if weight == 1 else map_tensors(lambda t: t * weight, gradOutput)
            latest.gradOutputGpu = self.spanned(
                "distribute", distribute_like, weighted, mode.dim, latest.outputGpu
            )
            latest.gradOutput = gradOutput
        if method == "updateGradInput":
            return self._go_back(method, devices[0], mode)
        modules = self._replicas.setup()[: latest.maxUsedGpu]
        early = method == "backward" and self._replays is None and not any(map(_is_cut, modules))
        with self._gradients.summed(modules, early) as going:
            result = self._go_back(method, devices[0], mode, *scale, kept=going.kept)
            self.spanned("reduce", going.sum_up)
        return result

    def _weight(self, method: str, second: bool, mode: Mode) -> float:
        """What to multiply ``gradOutput`` by, for this process's share of its group's rows."""
        group, gradients = self._gradients.group, self._gradients
        if not group.exchanges:
            return 1.0
        if method != "updateGradInput":
            group.take_apart(self._parameters.gradients()[0])
        if second:
            return 1.0
        # A gradInput that is returned, and gradients that stay on their replicas, cannot be
        # corrected later: for these the weight must be known now.
        fresh = method == "backward" and not mode.to_input and not gradients.accumulating
        count = sum(rows(part, mode.dim) for part in self.latest.inputGpu)
        return group.begin(count, self._parameters.tied().fingerprint, fresh)

    def _go_forward_again(self, devices: list[torch.device], mode: Mode) -> None:
        """Go forward again if something else, such as another container, used the net since."""
        parts, link = self.latest.inputGpu, self._parameters.tied()
        replicas = zip(self._replicas.setup(), parts, strict=False)
        if self._replays is None and any(
            m.recordable and m.latest_tape is not None and m.latest_tape.source is not part
            for m, part in replicas
        ):
            self._go_forward(link, devices, parts, mode)

    def _go_back(
        self,
        method: str,
        device: torch.device,
        mode: Mode,
        *scale: Scalar,
        kept: Sequence[Contributions] = (),
    ) -> Any:
        latest = self.latest

        def backward(module: Module, input: Any, gradOutput: Any, replay: Replay | None) -> Any:
            if replay is not None:
                return replay.backward(method, gradOutput, *scale)
            return getattr(module, method)(input, gradOutput, *scale)

        replays: Sequence[Replay | None] = self._replays or [None] * latest.maxUsedGpu
        given = latest.inputGpu, latest.gradOutputGpu, replays
        with ExitStack() as stack:
            if latest.meeting is not None:
                stack.enter_context(latest.meeting.in_turn())
                stack.enter_context(
                    latest.meeting.over(self._replicas.setup()[: latest.maxUsedGpu])
                )
            results = self._run("backward", mode, backward, *given, around=kept)
        if self._check_numbers() and method != "updateGradInput":
            added: Sequence[Contributions | None] = kept or [None] * latest.maxUsedGpu
            self._replicas.map(sanity_checks.check_gradients, added)
        if method == "accGradParameters":
            return None
        latest.gradInputGpu = results
        if not mode.to_input:
            return None
        return self.spanned("concat", concat, results, mode.dim, device, "gradInput")

    def skip(self) -> None:
        """Take part in a pass of the group, forward and backward, without data."""
        self.latest.clear()
        group = self._gradients.group
        link = self._parameters.refresh()
        group.take_apart(self._parameters.gradients()[0])
        group.begin(0, link.fingerprint)
        with self._gradients.summed([], early=False) as going:
            going.sum_up()  # with the other processes

    @property
    def _replays(self) -> list[Replay] | None:
        """What replayed the latest forward, if it was not computed."""
        return None if self.capture is None else self.capture.running


def _forward(module: Module, input: Any) -> Any:
    return module.updateOutput(input)


def _forward_to_parameters(module: Module, input: Any) -> Any:
    """Go forward so that backward finds no gradient of the input."""
    if not module.recordable:
        return module.updateOutput(input)
    try:
        recording.record(module, input, to_input=False)
    except Exception as error:
        locate(error, module)
        raise
    return module.output


def _replay(module: Module, input: Any, replay: Replay) -> Any:
    return replay.forward(input)


def _is_cut(module: Module) -> bool:
    """Whether a parameter's gradient may come in several parts, so that it cannot be summed early.

    A module that computes its own gradients may add to one several times.
    """
    tape = module.latest_tape if module.recordable else None
    return tape is None or bool(tape.cuts)
