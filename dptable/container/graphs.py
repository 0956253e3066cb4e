"""Device graphs of the replicas' passes: recorded once, replayed in every further step.

A step of a small net spends its time in Python and in launching kernels one by one. A graph
launches all kernels of a pass at once, on tensors that stay where they are. Each kind of device has
its ``Recorder``, in ``recorders`` and ``cuda_recorder``.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import attrgetter, is_
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from compat import accelerators, random
from compat.nn.core.differentiated import add_scaled, in_shape_of
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import Native
from compat.tensor_tables import form, map_tensors, pairs, tensors
from compat.torch_internals import foreach_zero_
from dptable.container.parameters import Link
from dptable.container.replicas import Replicas
from dptable.torch_internals import foreach_copy_

_WARM_UPS = 3
# Recording costs as much as many steps. After _SHORT_LIVES recordings that served fewer than
# _HARDLY_ANY steps each, there are no more.
_SHORT_LIVES = 3
_HARDLY_ANY = 10

# PyTorch records one graph at a time, in the whole process.
_recording = threading.Lock()

_RESULTS = ("output", "gradInput")


class NotCapturable(RuntimeError):
    """The pass cannot be recorded; it can still be computed."""


class Recorder(Protocol):
    """Records what functions do on a device."""

    def __init__(self, device: torch.device) -> None: ...

    @staticmethod
    def refusal(device: torch.device) -> str | None:
        """Return why nothing can be recorded on ``device``, or None."""

    def side_stream(self) -> AbstractContextManager[None]:
        """Return a context for warming up and recording, separate from the device's other work."""

    def record(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        """Call ``function``; return its result and a function that computes it again in place."""


RecorderOf = Callable[[torch.device], type[Recorder]]


class Replay:
    """Forward and backward of one replica for inputs of one form, with the methods of a module.

    Recording does not change gradients, running statistics or random generators.

    Args:
        module: the replica.
        input: an input of the wanted form.
        to_input: whether the gradient of the input is wanted.
        recorder: the recorder of the replica's device.
    """

    def __init__(self, module: Module, input: Any, to_input: bool, recorder: Recorder) -> None:
        self._module = module
        trained = {
            (g.data_ptr(), g.shape): (p, g)
            for p, g in zip(*module.parameters(), strict=True)
            if g is not None
        }
        self._parameters = [p for p, _ in trained.values()]
        self._gradients = [g for _, g in trained.values()]
        self._tensors = [*module.parameters()[0], *self._gradients]
        # A graph holds addresses, not tensors: `holds` compares these before each replay.
        self._pointers = [t.data_ptr() for t in self._tensors]
        self._input = map_tensors(Tensor.clone, input)
        backward = module.backward if to_input else module.backward_parameters
        with _recording, unchanged(module), _without_graphs(module):
            # Like the input, it is written on the stream on which it is made.
            self._gradOutput = map_tensors(torch.zeros_like, self._warm_up(backward, recorder))
            with _without_graphs(module):
                self._record(backward, recorder)
        # They lie in the graphs' memory, and every replay overwrites them.
        self._results = [
            (vars(m), {name: vars(m)[name] for name in names if vars(m).get(name) is not None})
            for m in module.listModules()
            for names in [(*_RESULTS, *m.pass_fields)]
        ]

    def _warm_up(self, backward: Callable[..., Any], recorder: Recorder) -> Any:
        """Run the passes that will be recorded; return an output."""
        module = self._module
        # The last two warm-ups are compared: a number that each pass changes would be frozen in the
        # graph.
        numbers: dict[str, Any] = {}
        with recorder.side_stream():
            for _ in range(_WARM_UPS):
                output = module.forward(self._input)
                backward(self._input, map_tensors(torch.zeros_like, output))
                before, numbers = numbers, _numbers(module)
        for place, number in numbers.items():
            if before.get(place) is not number and before.get(place) != number:
                raise NotCapturable(f"{place} is another number in every pass")
        return output

    def _record(self, backward: Callable[..., Any], recorder: Recorder) -> None:
        try:
            with recorder.side_stream():
                self._output, self._go_forward = recorder.record(
                    lambda: self._module.forward(self._input)
                )
                self._gradInput, self._run_backward = recorder.record(
                    lambda: backward(self._input, self._gradOutput)
                )
        except Exception as error:
            raise NotCapturable(_reason(error)) from error

    def holds(self) -> bool:
        """Return whether parameters and gradients are still in the recorded memory."""
        return self._has_gradients() and self._pointers == [t.data_ptr() for t in self._tensors]

    def _has_gradients(self) -> bool:
        return all(map(is_, map(attrgetter("grad"), self._parameters), self._gradients))

    def forward(self, input: Any) -> Any:
        """Return the output for an input of the recorded form."""
        for mine, given in pairs(self._input, input, ("the recorded input", "input")):
            mine.copy_(given, non_blocking=True)
        # Passes that were computed since have left others.
        for fields, results in self._results:
            fields.update(results)
        self._go_forward()
        return map_tensors(Tensor.clone, self._output)

    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        """Return the gradient of the latest input; add the gradients of the parameters."""
        for mine, given in pairs(self._gradOutput, gradOutput, ("output", "gradOutput")):
            if given is None:
                mine.zero_()
            else:
                mine.copy_(in_shape_of(given, mine), non_blocking=True)
        if scale == 1 and self._has_gradients():
            self._run_backward()
        else:
            self._backward_into_own_gradients(scale)
        return map_tensors(Tensor.clone, self._gradInput)

    def backward_parameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        """Add the gradients of the parameters, without the gradient of the input."""
        self.backward(input, gradOutput, scale)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        """Return the gradient of the latest input."""
        return self.backward(input, gradOutput, 0)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        """Add the gradients of the parameters."""
        self.backward(input, gradOutput, scale)

    def _backward_into_own_gradients(self, scale: Scalar) -> None:
        """Compute backward into separate gradients, then add them to the accumulated ones."""
        kept = [g.clone() for g in self._gradients]
        foreach_zero_(self._gradients)
        self._run_backward()
        found = [g.clone() for g in self._gradients]
        foreach_copy_(self._gradients, kept)
        if scale != 0:
            add_scaled(self._parameters, found, scale)


class Pass(NamedTuple):
    """A forward pass that may be replayed.

    Attributes:
        replicas: the replicas.
        link: the tied replicas.
        parts: the slices of the input, one for each replica with data.
        to_input: whether the gradient of the input is wanted.
        obstacle: why the container cannot be recorded, or None.
    """

    replicas: Replicas
    link: Link
    parts: Sequence[Any]
    to_input: bool
    obstacle: str | None

    def recorded(self, recorder_of: RecorderOf) -> list[Replay]:
        """Record the pass of each replica."""
        devices = self.replicas.devices()

        def record(module: Module, part: Any, device: torch.device) -> Replay:
            return Replay(module, part, self.to_input, recorder_of(device)(device))

        return self.replicas.map(record, self.parts, devices)


class Capture:
    """The recorded passes of a container's replicas.

    Attributes:
        running: what replays the latest pass, one per replica with data; None if it was computed
            normally.

    Args:
        recorder_of: returns the recorder class for a device.
    """

    def __init__(self, recorder_of: RecorderOf) -> None:
        self._recorder_of = recorder_of
        self._refused = False
        self._warned = False
        self._short_lives = 0
        self.drop()

    def drop(self) -> None:
        """Forget the recordings and free their memory."""
        self.running: list[Replay] | None = None
        self._replays: list[Replay] = []
        self._link: Link | None = None
        self._form: Any = None
        self._served = 0

    def holds(self, link: Link) -> bool:
        """Return whether the recordings are of the replicas as they are tied now."""
        return (
            bool(self._replays)
            and self._link is link
            and all(replay.holds() for replay in self._replays)
        )

    def replays(self, wanted: Pass, training: bool) -> list[Replay] | None:
        """Return the replays of a pass; record it now if possible, else return None."""
        self.running = None
        if self._refused or not training or torch.is_inference_mode_enabled():
            return None
        wanted_form = wanted.to_input, _autocast(), form(wanted.parts, _form)
        if not self.holds(wanted.link):
            self._record(wanted)
            self._form = wanted_form
        elif wanted_form != self._form:
            self._warn("the input has another form than the one recorded")
            return None
        if self._replays:
            self._served += 1
            self.running = self._replays
        return self.running

    def _record(self, wanted: Pass) -> None:
        if self._replays and self._served < _HARDLY_ANY:
            self._short_lives += 1
        self.drop()
        reason = self._obstacle(wanted)
        if reason is None:
            try:
                self._replays = wanted.recorded(self._recorder_of)
            except NotCapturable as error:
                reason = str(error)
        if reason is not None:
            self._refused = True
            self._warn(reason)
        self._link = wanted.link

    def _obstacle(self, wanted: Pass) -> str | None:
        """Return what is known, without trying, to prevent recording."""
        if wanted.obstacle is not None:
            return wanted.obstacle
        if self._short_lives >= _SHORT_LIVES:
            return "parameters or gradients are elsewhere in every step"
        for device in wanted.replicas.devices():
            if reason := self._recorder_of(device).refusal(device):
                return reason
        return None

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(f"capture: {reason}; such passes are computed normally", stacklevel=2)


@contextmanager
def unchanged(module: Module) -> Iterator[None]:
    """Restore gradients, other tensor fields and random generators after the block.

    Parameters are not restored; the block must not change them.
    """
    parameters, gradients = module.parameters()
    devices = {p.device for p in parameters if accelerators.is_accelerator(p.device)}
    kind = next((device.type for device in devices), "cpu")
    held = {id(t): t for t in (*gradients, *_fields(module)) if t is not None}
    for parameter in parameters:
        held.pop(id(parameter), None)
    copies = [t.clone() for t in held.values()]
    generator = random.getRNGState()
    with torch.random.fork_rng(list(devices), device_type=kind):
        try:
            yield
        finally:
            with torch.no_grad():
                for tensor, copy in zip(held.values(), copies, strict=True):
                    if tensor.shape == copy.shape:
                        tensor.copy_(copy)
            random.setRNGState(generator)


@contextmanager
def _without_graphs(module: Module) -> Iterator[None]:
    """Drop autograd graphs of earlier passes before the block, and the block's own after it.

    Their nodes belong to the streams of their passes.
    """

    def drop() -> None:
        for inner in module.listModules():
            for name in inner.transient_fields:
                vars(inner).pop(name, None)

    drop()
    try:
        yield
    finally:
        drop()


def _objects(module: Module) -> Iterator[Any]:
    """Yield the modules below ``module``, PyTorch's too."""
    for inner in module.listModules():
        yield inner
        if isinstance(inner, Native):
            yield from inner.module.modules()


def _fields(module: Module) -> Iterator[Tensor]:
    for inner in _objects(module):
        passing = (*getattr(inner, "transient_fields", ()), *getattr(inner, "pass_fields", ()))
        for name, value in vars(inner).items():
            if name not in passing and name not in _RESULTS:
                yield from tensors(value)


def _numbers(module: Module) -> dict[str, Any]:
    """Return the fields that are numbers or strings; a replay cannot change them."""
    return {
        f"{name} of module {i}, a {type(inner).__name__},": value
        for i, inner in enumerate(_objects(module), 1)
        for name, value in vars(inner).items()
        if isinstance(value, (int, float, str))
    }


def _form(tensor: Tensor) -> Any:
    """Return the properties of a tensor that must be equal for one graph to serve."""
    return tensor.shape, tensor.dtype, tensor.device


def _autocast() -> Any:
    kind = accelerators.kind()
    if kind is None or not torch.is_autocast_enabled(kind):
        return None
    return torch.get_autocast_dtype(kind)


def _reason(error: BaseException) -> str:
    """Return the first line of the first error: ending a failed recording fails as well."""
    while error.__context__ is not None:
        error = error.__context__
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
