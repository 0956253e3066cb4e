"""``nn.DataParallelTable``: one net, a batch split over several devices."""

from __future__ import annotations

import copy
import operator
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from torch import Tensor

from compat import cutorch
from compat.cutorch import DeviceLike
from compat.nn import flatten
from compat.nn.containers import Container
from compat.nn.indexing import counted, zero_based
from compat.nn.module import Module, Scalar
from compat.nn.native import as_module
from compat.nn.nested import map_tensors, tensors
from compat.nn.place import locate
from compat.nn.tape import Tape
from compat.tensor_types import CPU_TYPES, CUDA_TYPES, parse_type, type_name
from dptable import comm, guards
from dptable.capture import Capture, Pass, Replay
from dptable.dispatch import Basic, Closure, Threads
from dptable.distributed import Member
from dptable.distribution import concat, distribute, distribute_like
from dptable.link import Link, alike
from dptable.profiling import Profile
from dptable.reducer import Reducer
from dptable.shares import FixedShares, MeasuredShares, checked
from dptable.statistics import AVERAGED, SYNCHRONISED, Meeting, average, meet, part
from dptable.statistics import MODES as STATISTICS


class DataParallelTable(Container, typename="nn.DataParallelTable"):
    """Runs copies of a net on several devices, each on its slice of the batch (from cunn).

    The input, a tensor or a nested table of tensors, is split along ``dimension``; each replica
    goes forward on its slice, on its device; the outputs are joined on the first device. Backward
    does the same with the gradients, sums those of the parameters onto the first replica and
    leaves the others' at zero, so that whatever trains the first replica's parameters trains the
    net. The next forward copies changed parameters to the other replicas.

    On GPUs a step never makes the CPU wait; ``checkNumbers``, ``checkReplicas``, ``profile()`` and
    "synchronised" ``statistics`` do.

    Devices are GPU ids as in Torch7, which count from 1 through the list of
    ``dptable.devices.configure``, or PyTorch's names. They may be CPUs, and may repeat. Replicas on
    the first replica's device share its parameters, so that there is nothing to copy.

    Args:
        dimension: the dimension to split, counted from 1.
        flattenParams: keep each replica's parameters in one flat tensor, which makes copies and
            sums one operation each.
        usenccl: use NCCL for them where it can serve; needs ``flattenParams``.
        overlap: sum gradients while backward computes the next ones (`dptable.reducer`); by default
            with worker threads.
        statistics: the running statistics of batch normalisation: those of the ``"first"`` replica,
            as in Torch7; ``"averaged"`` over the replicas in ``evaluate()`` and before saving; or
            ``"synchronised"``, where in training every replica normalises by the whole batch, which
            needs worker threads.

    Fields: ``gpuAssignments`` (the devices), ``flattenedParams`` (per replica the flat parameters
    and the flat gradients, or None), ``needsSync`` (whether the parameters changed since the last
    copy), ``impl`` (the dispatcher), ``inputGpu``, ``outputGpu``, ``gradOutputGpu``,
    ``gradInputGpu`` (the latest slices), ``maxUsedGpu`` (how many replicas got data), ``typeStr``;
    ``checkNumbers`` and ``checkReplicas`` (off by default: look for numbers that are not finite
    after each pass, and for replicas that differ from the first before each forward).

    Differs from Torch7: ``gradOutput`` is split as the outputs were; table inputs may be keyed by
    strings; tensors of any type may be in the input; a container that ``getParameters`` of a
    parent net takes apart never keeps stale flat tensors.
    """

    t7_version = 3
    overlap: bool | None = None
    statistics: str = "first"
    checkNumbers: bool = False
    checkReplicas: bool = False
    _shares: FixedShares | None = None
    _profile: Profile | None = None
    _meeting: Meeting | None = None
    _member: Member | None = None
    _capture: Capture | None = None

    deserializeNGPUs: ClassVar[int | None] = None
    """On how many devices, 1 to that number, files are restored; None: on those of the file."""

    def __init__(
        self,
        dimension: int,
        flattenParams: bool = False,
        usenccl: bool = False,
        *,
        overlap: bool | None = None,
        statistics: str = "first",
    ) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        if usenccl and not flattenParams:
            raise ValueError("usenccl is true, which needs flattenParams to be true as well")
        self.flattenParams = bool(flattenParams)
        self.usenccl = bool(usenccl)
        if statistics not in STATISTICS:
            raise ValueError(
                f"statistics is {statistics!r}; {', '.join(map(repr, STATISTICS))} are accepted"
            )
        self.overlap = overlap
        self.statistics = statistics
        self.gpuAssignments: list[Any] = []
        self.typeStr = self._type
        self._reset_state()
        self.impl: Basic = Basic(self)

    def _reset_state(self) -> None:
        """What belongs to a run and is never saved or copied."""
        self.inputGpu: list[Any] = []
        self.outputGpu: list[Any] = []
        self.gradOutputGpu: list[Any] = []
        # The whole of which these are the slices.
        self._gradOutput: Any = None
        self.gradInputGpu: list[Any] = []
        self.flattenedParams: list[list[Tensor]] | None = None
        self.needsSync = False
        self.maxUsedGpu = 0
        self._link: Link | None = None
        self._reducer: Reducer | None = None
        self._accumulating = False
        self._unreduced = 0
        self._torn = False

    # Building.

    def add(  # type: ignore[override]
        self,
        module: Module | torch.nn.Module,
        gpus: DeviceLike | Iterable[DeviceLike],
        shares: Sequence[float] | str | None = None,
    ) -> DataParallelTable:
        """Set the net and its devices: at once with a list, or one by one with single devices.

        One by one, the module of the first call is the net; the later ones only name devices.

        Args:
            shares: with a list of devices, how much of a batch each gets: one positive number per
                device, or ``"auto"`` to measure their speeds as training goes. By default slices
                differ by at most one element.
        """
        if not isinstance(gpus, Iterable) or isinstance(gpus, (str, torch.device)):
            if shares is not None:
                raise ValueError("shares needs gpus to be a list of devices")
            gpu = _checked_device(gpus)
            if not self.modules:
                self.modules.append(as_module(module))
            self.gpuAssignments.append(gpu)
        else:
            gpus = [_checked_device(gpu) for gpu in gpus]
            if not gpus:
                raise ValueError("gpus is empty; a list of at least one device is accepted")
            if self.modules:
                raise ValueError("add with a list of devices can be called only once")
            rule = None if shares is None else checked(shares, len(gpus))
            self.modules.append(as_module(module))
            self.gpuAssignments = gpus
            self._shares = rule
        self.impl.close()
        return self

    def threads(
        self, initFunc: Callable[[], Any] | None = None, syncCopies: bool | None = None
    ) -> DataParallelTable:
        """Run the replicas at once, each in a worker thread of its own, from now on.

        Args:
            initFunc: called in each worker when it starts.
            syncCopies: accepted as in Torch7; copies here always wait for each other.
        """
        if initFunc is not None and not callable(initFunc):
            raise TypeError(f"initFunc is a {type(initFunc).__name__}; a function is accepted")
        self.impl.close()
        self.impl = Threads(self, initFunc, syncCopies)
        return self

    def close(self) -> None:
        """End the worker threads and drop the other replicas; the next use starts anew."""
        self._forget()
        self.impl.close()

    def _forget(self) -> None:
        """Drop what is recorded; the next forward records anew."""
        if self._capture is not None:
            self._capture.drop()

    def _devices(self) -> list[torch.device]:
        if not self.modules:
            raise RuntimeError("there is no net yet; call add(module, gpus) first")
        return [cutorch.device(gpu) for gpu in self.gpuAssignments]

    def _replicate(self) -> list[Module]:
        """The first replica and a copy of it for each other device."""
        devices = self._devices()
        first = self.modules[0]
        if any(p.device != devices[0] for p in first.parameters()[0]):
            _move(first, devices[0])
        first._drop_graph()
        replicas = [first]
        for device in devices[1:]:
            replica = first.clone().clearState()
            if device != devices[0]:
                _move(replica, device)
            replica.zeroGradParameters()
            replicas.append(replica)
        self._link = None
        return replicas

    # Running functions on the replicas.

    def exec(self, closure: Closure, maxGpuIdx: int | None = None) -> list[Any]:
        """``closure(module, i)`` for every replica i, counted from 1, on its device; the results.

        Reaches methods that are not part of ``Module``, such as ``forget`` of recurrent nets. An
        error is raised once every replica has stopped and names replica and device.
        """
        return self.impl.exec(closure, maxGpuIdx)

    # Parameters.

    def _refresh(self) -> Link:
        """Tie the replicas together again if something has come apart.

        ``getParameters`` of a net around this container moves the first replica's parameters.
        """
        loose = self._link is None or not self._link.holds(self.impl.setup()[0])
        if self.flattenParams and (loose or not self._has_flattened_parameters()):
            try:
                return self._flatten()
            except flatten.InUse:
                # Interleaved with parameters of the net around it: go on one by one.
                return self._tie()
        return self._tie() if loose or self._link is None else self._link

    def _tie(self) -> Link:
        if self._reducer is not None:
            self._reducer.close()
            self._reducer = None
        if not alike(self.impl.setup(), self._devices()[0]):
            # The net was changed without apply().
            self.impl.applyChanges()
        replicas = self.impl.setup()
        self._link = Link(replicas)
        if self._member is not None:
            self._member.refresh(replicas[0])
        return self._link

    def _tied(self) -> Link:
        """The link, whose parameters only forward looks after: optimizers may drop gradients."""
        self.impl.setup()
        if self._link is None or not self._link.holds_gradients():
            return self._refresh()
        return self._link

    def _has_flattened_parameters(self) -> bool:
        if self.flattenedParams is None or len(self.flattenedParams) != len(self.gpuAssignments):
            return False
        storage = self.flattenedParams[0][0].untyped_storage().data_ptr()
        return all(
            p.untyped_storage().data_ptr() == storage for p in self.modules[0].parameters()[0]
        )

    def flattenParameters(self) -> DataParallelTable:
        """Keep each replica's parameters in one flat tensor, and its gradients in another.

        What already lies side by side in a larger flat tensor, that of a net around this
        container, stays there.
        """
        self._flatten()
        self.flattenParams = True
        return self

    def _flatten(self) -> Link:
        # Those that were flat before must not be in the way of a net that has changed.
        self.flattenedParams = None
        self._tie()
        self.modules[0].getParameters()
        # The replicas that use the first one's parameters follow it, and only then are flat.
        link = self._tie()
        self.flattenedParams = self.impl.exec(lambda module, i: list(module.getParameters()))
        return link

    def getParameters(self) -> tuple[Tensor, Tensor]:
        """The first replica's flat parameters and gradients; flattens all replicas."""
        self.flattenParameters()
        assert self.flattenedParams is not None
        return self.flattenedParams[0][0], self.flattenedParams[0][1]

    def moduleParameters(self) -> list[list[list[Tensor]]]:
        """For each replica the list of its parameters and the list of its gradients."""
        self._refresh()
        return [[p, g] for p, g in zip(self._each(0), self._each(1), strict=True)]

    def _each(self, what: int) -> list[list[Tensor]]:
        """Per replica its parameters (0) or gradients (1), as few tensors as there can be."""
        link = self._tied()
        if self.flattenedParams is not None:
            return [[flat[what]] for flat in self.flattenedParams]
        return link.gradients if what else link.parameters

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        """The first replica's parameters and gradients."""
        return self.modules[0].parameters() if self.modules else ([], [])

    def syncParameters(self) -> DataParallelTable:
        """Copy the first replica's parameters to the others."""
        with cutorch.device_guard(), self._span("sync"):
            for copies in zip(*self._each(0), strict=True):
                comm.broadcast_into_(copies, nccl=self._nccl())
        self.needsSync = False
        return self

    def zeroGradParameters(self) -> DataParallelTable:
        """Fill the gradients of all replicas with zeros."""
        with cutorch.device_guard():
            self._zero()
            self._torn = False
        if self._member is not None:
            self._member.zeroed()
        return self

    def _zero(self) -> None:
        for gradients in self._each(1):
            if gradients:
                torch._foreach_zero_(gradients)

    def _discard(self) -> None:
        """Zero all gradients: after a failed pass they are parts of a sum."""
        self._unreduced = 0
        self._torn = True
        # A device that is gone cannot be written to; the error is told already.
        with suppress(Exception):
            self.zeroGradParameters()

    def _mend(self) -> None:
        """Zero the gradients of a failed pass if that was not possible when it failed."""
        if self._torn:
            self.zeroGradParameters()

    def updateParameters(self, learningRate: Scalar) -> DataParallelTable:
        """Update the first replica and copy it to the others."""
        self._mend()
        with cutorch.device_guard(self.gpuAssignments[0]):
            self.modules[0].updateParameters(learningRate)
            self.syncParameters()
        return self

    def reset(self, stdv: Scalar | None = None) -> DataParallelTable:
        """Draw the first replica's parameters anew and copy them to the others."""
        with cutorch.device_guard(self.gpuAssignments[0]):
            self.modules[0].reset(stdv)
            self.syncParameters()
        return self

    def _nccl(self) -> bool:
        return self.usenccl and self.flattenedParams is not None and len(self.gpuAssignments) > 1

    # Forward and backward.

    def updateOutput(self, input: Any) -> Any:
        devices = self._devices()
        # Should this pass fail, nothing is left to go back through.
        self.inputGpu, self.outputGpu, self.gradOutputGpu, self.maxUsedGpu = [], [], [], 0
        with cutorch.device_guard(), self._reporting():
            if self._profile is not None:
                self._profile.steps += 1
            link = self._link if self._recorded() else self._refresh()
            assert link is not None
            if self.needsSync:
                self.syncParameters()
            if self.checkReplicas:
                guards.check_agreement(link.parameters, [str(d) for d in devices])
            with self._span("distribute"):
                parts = distribute(input, devices, self.dimension, self._slice_sizes)
            self._meeting = None
            if self.statistics == SYNCHRONISED and self.train:
                widen = None if self._member is None else self._member.add_statistics
                replicas = self.impl.setup()[: len(parts)]
                self._meeting = meet(replicas, self.impl, devices, widen)
            try:
                outputs = self._run("forward", self._forward_pass(link, devices, parts), len(parts))
            finally:
                if self._meeting is not None:
                    part(replicas)
            if self.checkNumbers:
                self.impl.exec(lambda m, i: guards.check_outputs(m), len(parts))
            with self._span("concat"):
                output = concat(outputs, self.dimension, devices[0], "output")
        self.inputGpu, self.outputGpu = parts, outputs
        self.maxUsedGpu = len(parts)
        self.output = output
        return output

    def _forward_pass(
        self, link: Link, devices: list[torch.device], parts: list[Any]
    ) -> Callable[[Module, int], Any]:
        to_input = self.gradInput is not None

        def forward(module: Module, input: Any) -> Any:
            return _forward(module, input, to_input)

        replays = None
        if self._capture is not None:
            self._capture.running = None
            if self.train and torch.is_grad_enabled():
                replays = self._capture.replays(
                    Pass(self.impl, link, devices, parts, forward, to_input, self._obstacle())
                )
        if replays is not None:
            return lambda m, i: replays[i - 1].forward(parts[i - 1])
        return lambda m, i: forward(m, parts[i - 1])

    def _obstacle(self) -> str | None:
        """Why passes of this container cannot be recorded."""
        if self.statistics == SYNCHRONISED:
            return "statistics is 'synchronised', for which replicas wait for each other"
        if self._measures():
            return "shares is 'auto', with which the slices change"
        return None

    def _recorded(self) -> bool:
        return self._capture is not None and self._capture.holds(self._link, self.impl)

    def capture(self, wanted: bool = True) -> DataParallelTable:
        """Record training passes as CUDA graphs and replay them, from the next forward on.

        A replayed pass takes Python as long for a deep net as for a flat one. The first forward in
        training, with gradients, records forward and backward of each replica for inputs of its
        form: of these sizes, types and devices. Passes in ``evaluate()`` are computed as ever.

        What cannot be recorded is computed normally too, after one warning: replicas on CPUs,
        inputs of another form (a last, smaller batch), modules that compute their own gradients or
        make the CPU wait for the GPU, ``statistics="synchronised"``, ``shares="auto"``.

        A graph knows nothing of what is done to the net's modules afterwards, except to the values
        of their tensors: call this again after it, or ``capture(False)`` to compute normally from
        now on. In a replayed pass ``gradInput`` of modules inside the net is empty.
        """
        self._capture = Capture() if wanted else None
        return self

    def _slice_sizes(self, n: int) -> list[int]:
        if self._shares is None:
            return comm.slice_sizes(n, len(self.gpuAssignments))
        return self._shares.sizes(n)

    def _run(self, phase: str, closure: Closure, count: int) -> list[Any]:
        """A phase on the first ``count`` replicas, timed if somebody wants to know."""
        if self._profile is None and self._meeting is None and not self._measures():
            return self.impl.exec(closure, count)
        meeting = self._meeting
        seconds = [0.0] * count

        def job(module: Module, i: int) -> Any:
            start = time.perf_counter()
            try:
                with self._span(phase, i):
                    return closure(module, i)
            except BaseException:
                if meeting is not None:
                    meeting.abort()
                raise
            finally:
                seconds[i - 1] = time.perf_counter() - start

        results = self.impl.exec(job, count)
        if self._measures() and self._shares is not None:
            parts = self.inputGpu if phase == "backward" else results
            rows = [next(iter(tensors(part))).size(zero_based(self.dimension)) for part in parts]
            self._shares.observe(rows, seconds)
        return results

    def _measures(self) -> bool:
        return isinstance(self._shares, MeasuredShares)

    def _span(self, phase: str, i: int = 1) -> AbstractContextManager[None]:
        if self._profile is None:
            return nullcontext()
        gpu = self.gpuAssignments[i - 1]
        name = f"GPU {gpu}" if isinstance(gpu, int) else str(gpu)
        return self._profile.span(phase, name, cutorch.device(gpu))

    @contextmanager
    def profile(self) -> Iterator[Profile]:
        """Time the phases of the steps taken inside; see `dptable.profiling.Profile`."""
        before, self._profile = self._profile, Profile()
        try:
            yield self._profile
        finally:
            self._profile = before

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self._through("updateGradInput", gradOutput, 1)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        self._through("accGradParameters", gradOutput, scale)

    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        """Gradients of input and parameters; those of the parameters are summed on the first
        replica.

        If a replica fails in the middle, parts of its gradients may be in the sum already. Then the
        gradients of all replicas are set to zero, also what earlier passes had added to them: the
        passes of a step whose gradients accumulate are to be repeated. `accGradParameters` does so
        too. An error before that, about ``gradOutput``, changes nothing.
        """
        return self._through("backward", gradOutput, scale)

    def _through(self, method: str, gradOutput: Any, scale: Scalar) -> Any:
        if not self.outputGpu:
            raise RuntimeError("nn.DataParallelTable: backward needs a forward pass first")
        devices = self._devices()
        with cutorch.device_guard(), self._reporting():
            self._tied()
            distributed = method == "accGradParameters" and gradOutput is self._gradOutput
            given = gradOutput
            if self._member is not None:
                gradOutput = self._weighted(method, gradOutput, distributed)
            if not (distributed and self.gradOutputGpu):
                with self._span("distribute"):
                    self.gradOutputGpu = distribute_like(
                        gradOutput, devices, self.dimension, self.outputGpu
                    )
                self._gradOutput = given
            if method == "updateGradInput":
                self._go_back(method)
            else:
                self._go_back_to_parameters(method, scale)
        return self.gradInput

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Tell the other processes of the group when a pass fails here."""
        try:
            yield
        except BaseException as error:
            if self._member is not None:
                self._member.abort(error)
            raise

    def _go_back_to_parameters(self, method: str, scale: Scalar) -> None:
        self._mend()
        reducer = self._prepared_reducer(method)
        try:
            self._go_back(method, scale)
            with self._span("reduce"):
                self._reduce(reducer)
        except BaseException:
            if reducer is not None:
                reducer.abort()
            self._discard()
            raise
        self.needsSync = True

    def _go_back(self, method: str, *scale: Scalar) -> None:
        inputs, gradients, replays = self.inputGpu, self.gradOutputGpu, self._replays()

        def backward(module: Module, i: int) -> Any:
            if replays is not None:
                return replays[i - 1].backward(method, gradients[i - 1], *scale)
            return getattr(module, method)(inputs[i - 1], gradients[i - 1], *scale)

        results = self._run("backward", backward, self.maxUsedGpu)
        if self.checkNumbers and method != "updateGradInput":
            self.impl.exec(lambda m, i: guards.check_gradients(m), self.maxUsedGpu)
        if method != "accGradParameters":
            self.gradInputGpu = results
            if self.gradInput is not None:
                with self._span("concat"):
                    device = cutorch.device(self.gpuAssignments[0])
                    self.gradInput = concat(results, self.dimension, device, "gradInput")

    def _replays(self) -> list[Replay] | None:
        return None if self._capture is None else self._capture.running

    def _weighted(self, method: str, gradOutput: Any, distributed: bool) -> Any:
        """``gradOutput`` as it would be in one process with the rows of all."""
        assert self._member is not None
        if method != "updateGradInput":
            self._member.take_apart(self._each(1)[0])
        if distributed and self.gradOutputGpu:
            return gradOutput  # weighted by updateGradInput
        weight = self._member.begin(self._rows())
        return gradOutput if weight == 1 else map_tensors(lambda t: t * weight, gradOutput)

    def _prepared_reducer(self, method: str) -> Reducer | None:
        """What sums the gradients of this pass during backward, if anything does."""
        if method == "updateGradInput" or self._accumulating:
            return None
        member = self._member
        if member is None:
            wanted = isinstance(self.impl, Threads) if self.overlap is None else self.overlap
            wanted = wanted and method == "backward" and not self._nccl()
            if not wanted or self.maxUsedGpu < 2 or self._replays() is not None:
                return None
        link = self._tied()
        if self._reducer is None:
            self._reducer = (
                Reducer(link.trained)
                if member is None
                else Reducer(link.trained, reduce=member.reduce, ordered=True)
            )
        tapes = [m._tape if m._native else None for m in self.impl.setup()[: self.maxUsedGpu]]
        # A module that computes its own gradients may add to one several times.
        once = not any(tape is None or tape.cuts for tape in tapes)
        # Nobody calls the hooks when a graph is replayed.
        once = once and self._replays() is None
        self._reducer.prepare(self.maxUsedGpu, early=once)
        return self._reducer

    def _rows(self) -> int:
        """How many rows of the batch this process went forward with."""
        dim = zero_based(self.dimension)
        first = [next(tensors(part)) for part in self.inputGpu]
        return sum(tensor.size(dim) for tensor in first if tensor.numel())

    def distribute(
        self, process_group: dist.ProcessGroup | None = None, average: bool = True
    ) -> DataParallelTable:
        """Train together with the containers of other processes; see `dptable.distributed.Member`.

        Every process calls this, and then ``backward`` equally often: ``skip`` stands for a pass
        without data.
        """
        self._refresh()
        self.close_group()
        self._member = Member(self, process_group, average)
        self._tie()
        self.needsSync = True
        return self

    def skip(self, input: Any = None) -> DataParallelTable:
        """Take part in a pass of the group, forward and backward, without data.

        Args:
            input: needed with synchronised statistics only: a batch of zero rows.
        """
        if self._member is None:
            raise RuntimeError("skip() is for containers in a group; call distribute() first")
        if input is not None:
            output = self.updateOutput(input)
            self.backward(input, map_tensors(torch.zeros_like, output))
        elif self.statistics == SYNCHRONISED and self.train:
            raise ValueError("input is None; with synchronised statistics, a batch of zero rows")
        else:
            self.inputGpu, self.outputGpu, self.gradOutputGpu, self.maxUsedGpu = [], [], [], 0
            with cutorch.device_guard():
                self._refresh()
                self._member.take_apart(self._each(1)[0])
                self._member.begin(0)
                self._reduce(self._prepared_reducer("backward"))
            self.needsSync = True
        return self

    def syncStatistics(self) -> DataParallelTable:
        """Give all replicas of all processes the running statistics of rank 0's first replica.

        With ``statistics="averaged"`` it is the average over all. Every process calls this before
        ``evaluate()`` or saving, so that they test the net that is saved. Without a group only
        averages are taken.
        """
        self._settle()
        if self._member is not None:
            self._member.share_statistics(self.impl.setup(), self.statistics == AVERAGED)
        return self

    def close_group(self) -> None:
        """Leave the group of processes."""
        if self._member is not None:
            self._member.close()
            self._member = None
            self._tie()

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Leave gradients of backward passes inside on their replicas: the next one sums them."""
        before, self._accumulating = self._accumulating, True
        try:
            yield
        finally:
            self._accumulating = before

    def _reduce(self, reducer: Reducer | None) -> None:
        """Sum the gradients of the replicas that were used onto the first, and zero the rest."""
        self._unreduced = max(self._unreduced, self.maxUsedGpu)
        if self._accumulating:
            return
        used, self._unreduced = self._unreduced, 0
        if reducer is not None:
            reducer.finish()
            if self._member is not None:
                self._member.end()
        elif used > 1:
            for copies in zip(*self._each(1)[:used], strict=True):
                self._sum(copies)

    def _sum(self, copies: tuple[Tensor, ...]) -> None:
        first = copies[0]
        share = first.numel() // len(self.gpuAssignments)
        flat = [c.view(-1) if c.is_contiguous() else c for c in copies]
        if (
            isinstance(self.impl, Threads)
            and share * first.element_size() >= _SHARED_SUM
            and all(c.dim() == 1 and c.device.type == "cpu" for c in flat)
        ):
            ranges = comm.slice_ranges(first.numel(), len(self.gpuAssignments))
            self.impl.exec(lambda m, i: comm.reduce_slice_(flat, *ranges[i - 1], zero=True))
        else:
            comm.reduce_into_(copies, zero=True, nccl=self._nccl())

    # The rest of Module.

    def training(self) -> DataParallelTable:
        self.impl.exec(lambda module, i: module.training())
        self.train = True
        return self

    def evaluate(self) -> DataParallelTable:
        self._settle()
        self.impl.exec(lambda module, i: module.evaluate())
        self.train = False
        return self

    def _settle(self) -> None:
        """Average the running statistics over the replicas, if asked to."""
        if self.statistics == AVERAGED and self.impl.modules:
            average(self.impl.modules)

    def clearState(self) -> DataParallelTable:
        self._forget()
        self.impl.exec(lambda module, i: module.clearState())
        self._drop_graph()
        self.inputGpu, self.outputGpu, self.gradOutputGpu, self.gradInputGpu = [], [], [], []
        return self

    def apply(self, callback: Callable[[Module], Any]) -> DataParallelTable:
        """Call ``callback`` with this container and every module of the first replica.

        The other replicas are then made anew from the first.
        """
        super().apply(callback)
        self._changed()
        return self

    def replace(self, callback: Callable[[Module], Module]) -> Module:
        """As `Module.replace`; the other replicas are then made anew from the first."""
        new = super().replace(callback)
        self._changed()
        return new

    def _changed(self) -> None:
        self._forget()
        self.impl.applyChanges()
        if self.flattenedParams is not None:
            self._flatten()

    def type(self, type: Any = None, tensorCache: dict[Any, Any] | None = None) -> Any:
        """Convert all replicas; without argument, tell the type.

        The CUDA types are for replicas on GPUs, the CPU types for replicas on CPUs.
        """
        if type is None:
            return self.typeStr
        dtype, cuda = parse_type(type)
        device = self._devices()[0] if self.modules else torch.device("cpu")
        conversion, name = flatten.Conversion(dtype, device, tensorCache), type_name(dtype, cuda)
        self._prepare(conversion, name)
        self._convert(conversion, name)
        return self

    def _held(self) -> list[Any]:
        return self.modules

    def _accept(self, name: str) -> None:
        devices = [cutorch.device(gpu) for gpu in self.gpuAssignments]
        kinds = {device.type == "cuda" for device in devices} or {False, True}
        accepted = [
            type_name(dtype, cuda)
            for cuda in sorted(kinds)
            for dtype in (CUDA_TYPES if cuda else CPU_TYPES).values()
            if dtype.is_floating_point
        ]
        if name not in accepted:
            where = ", ".join(map(str, devices))
            raise ValueError(
                f"type is {name!r}; with replicas on {where}, DataParallelTable accepts "
                f"{', '.join(accepted)}"
            )

    def _convert(self, conversion: flatten.Conversion, name: str) -> None:
        self._accept(name)
        dtype, _ = parse_type(name)
        device = self._devices()[0] if self.modules else conversion.device
        for module in self.modules:
            module._convert(flatten.Conversion(dtype, device, conversion.cache), name)
        self._drop_graph()
        self._type = self.typeStr = name
        self.inputGpu, self.outputGpu, self.gradOutputGpu, self.gradInputGpu = [], [], [], []
        self._changed()

    def clone(self, *names: str) -> DataParallelTable:
        """A deep copy with the same devices and dispatcher; sharing is refused."""
        if names:
            raise ValueError("names: sharing is not supported for DataParallelTable")
        return super().clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> DataParallelTable:
        new = super().__deepcopy__(memo)
        new._start_anew()
        return new

    def __getstate__(self) -> dict[str, Any]:
        self._settle()
        fields = super().__getstate__()
        for name in _RUN_FIELDS:
            fields.pop(name, None)
        return fields

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._start_anew()

    def _start_anew(self) -> None:
        """Be a copy that has not run yet."""
        self._reset_state()
        self.impl = copy.copy(self.impl)
        self.impl.attach(self)

    def share(self, mlp: Module, *names: str) -> DataParallelTable:
        """Refused, as in Torch7: the replicas' parameters are the container's business."""
        raise RuntimeError("share is not supported for DataParallelTable")

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """Refused, as in Torch7."""
        raise RuntimeError("accUpdateGradParameters is not supported for DataParallelTable")

    def __repr__(self) -> str:
        net = repr(self.modules[0]) if self.modules else "nothing"
        return f"DataParallelTable: {len(self.gpuAssignments)} x {net}"


_RUN_FIELDS = (
    "inputGpu",
    "outputGpu",
    "gradOutputGpu",
    "_gradOutput",
    "gradInputGpu",
    "flattenedParams",
    "needsSync",
    "maxUsedGpu",
    "_link",
    "_reducer",
    "_accumulating",
    "_unreduced",
    "_torn",
    "_profile",
    "_meeting",
    "_member",
    "_capture",
)

# Below this many bytes per replica, handing the work to the threads costs more than the sum.
_SHARED_SUM = 1 << 18


def _checked_device(gpu: Any) -> DeviceLike:
    cutorch.device(gpu)
    # Numbers of other kinds, such as NumPy's, become plain ones, as files hold.
    return gpu if isinstance(gpu, (str, torch.device)) else operator.index(gpu)


def _forward(module: Module, input: Any, to_input: bool) -> Any:
    if to_input or not module._native:
        return module.updateOutput(input)
    try:
        Tape.record(module, input, to_input=False)
    except Exception as error:
        locate(error, module)
        raise
    return module.output


def _move(module: Module, device: torch.device) -> None:
    dtype, _ = parse_type(module._type)
    conversion = flatten.Conversion(dtype, device)
    name = type_name(dtype, cuda=device.type == "cuda")
    module._prepare(conversion, name)
    module._convert(conversion, name)
