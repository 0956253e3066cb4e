"""``nn.DataParallelTable``: one net, a batch split over several devices."""

from __future__ import annotations

import copy
import operator
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from torch import Tensor

from compat import accelerators, cutorch
from compat.checks import check_choice, check_number, check_some, listed, wrong_type
from compat.cutorch import DeviceLike
from compat.nn.checks.indexing import counted
from compat.nn.containers.basic import Container
from compat.nn.core.conversion import Conversion
from compat.nn.core.convertible import convert_values
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import as_module
from compat.nn.core.tape import UNSET
from compat.nn.core.walks import named_tensors, running_statistics
from compat.tensor_tables import map_tensors
from compat.tensor_types import CPU_TYPES, CUDA_TYPES, parse_type, type_name
from dptable.container import sanity_checks
from dptable.container.batch_statistics import AVERAGED, MODES, SYNCHRONISED, average
from dptable.container.cuda_recorder import recorder_of
from dptable.container.gradients import GradientSum
from dptable.container.graphs import Capture
from dptable.container.parameters import ReplicatedParameters
from dptable.container.passes import Mode, Passes
from dptable.container.profiling import Profile
from dptable.container.replicas import Closure, Part, Replicas
from dptable.container.shares import FixedShares, checked
from dptable.container.timed_steps import TimedSteps
from dptable.processes.alone import Alone
from dptable.processes.exchange import AllReduce, Exchange
from dptable.processes.member import Member
from dptable.threads.dispatch import Basic, Threads


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

    The net, ``get(1)``, is the first replica. Where its modules are exchanged or its parameters
    replaced, the next forward makes the other replicas anew. Other fields, such as the ``p`` of a
    Dropout, are to be changed through ``apply``; else the other replicas keep theirs. A net may be
    in several containers, also within one net: where another one has used it since, backward goes
    forward again first.

    Args:
        dimension: the dimension to split, counted from 1.
        flattenParams: keep each replica's parameters in one flat tensor, which makes copies and
            sums one operation each.
        usenccl: use NCCL for them where it can serve; needs ``flattenParams``.
        overlap: sum gradients while backward computes the next ones (``dptable.reducer``); by
            default with worker threads on several devices. Where all replicas are on one, the sums
            only take from it what backward could use (benchmarks/RESULTS.md).
        statistics: the running statistics of batch normalisation: those of the ``"first"`` replica,
            as in Torch7; ``"averaged"`` over the replicas in ``evaluate()`` and before saving; or
            ``"synchronised"``, where in training every replica normalises by the whole batch, which
            needs worker threads, and accelerators on which no other replica computes.

    Fields: ``gpuAssignments`` (the devices), ``flattenedParams`` (per replica the flat parameters
    and the flat gradients, or None), ``needsSync`` (whether the parameters changed since the last
    copy), ``impl`` (the replicas), ``inputGpu``, ``outputGpu``, ``gradOutputGpu``,
    ``gradInputGpu`` (the latest slices), ``maxUsedGpu`` (how many replicas got data), ``typeStr``;
    ``checkNumbers`` and ``checkReplicas`` (off by default: look for numbers that are not finite
    after each pass, and for replicas that differ from the first before each forward).

    Differs from Torch7: ``gradOutput`` is split as the outputs were; table inputs may be keyed by
    strings; tensors of any type may be in the input; a container that ``getParameters`` of a
    parent net takes apart never keeps stale flat tensors.
    """

    t7_version = 3
    optional_gradient = True
    cleared_fields = ("inputGpu", "outputGpu", "gradOutputGpu", "gradInputGpu", "buffer")
    overlap: bool | None = None
    statistics: str = "first"
    checkNumbers: bool = False
    checkReplicas: bool = False

    deserializeNGPUs: ClassVar[int | None] = None
    converts_with_net = True
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
            raise ValueError(f"flattenParams is {flattenParams}; with usenccl, True is accepted")
        self.flattenParams = bool(flattenParams)
        self.usenccl = bool(usenccl)
        check_choice(statistics, "statistics", MODES)
        self.overlap = overlap
        self.statistics = statistics
        self.gpuAssignments: list[Any] = []
        self.begin_anew()

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
            replicas,
            lambda: me.flattenParams,
            lambda: me.usenccl,
            DataParallelTable,
            lambda: me.may_share_gradients(),
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

    def may_share_gradients(self) -> bool:
        """Whether replicas that share parameters may share gradients.

        Sums bucket by bucket, and recorded passes, need gradients of each.
        """
        summed_early = self.overlap or self._gradients.group.exchanges
        return not summed_early and self._passes.capture is None

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
                raise ValueError(f"gpus is {gpus!r}; with shares, a list of devices is accepted")
            gpu = _checked_device(gpus)
            if not self.modules:
                self.modules.append(as_module(module))
            self.gpuAssignments.append(gpu)
        else:
            gpus = [_checked_device(gpu) for gpu in gpus]
            check_some(gpus, "gpus", "device")
            if self.modules:
                raise ValueError(
                    f"gpus is {gpus}, and there is a net already; a list of devices is accepted "
                    "in the first call of add, single ones in later calls"
                )
            rule = None if shares is None else checked(shares, len(gpus))
            self.modules.append(as_module(module))
            self.gpuAssignments = gpus
            self.shares = rule
        self._replicas.close()
        return self

    def threads(
        self, initFunc: Callable[[], Any] | None = None, syncCopies: bool | None = None
    ) -> DataParallelTable:
        """Run the replicas at once, each in a worker thread of its own, from now on.

        CPU replicas share the cores: inside operators each has an equal part of the threads that
        ``torch.get_num_threads()`` tells when they start. The caller's own threads inside operators
        spin for a while after each and take cores from the replicas; training is faster when the
        caller then sets its number to that part, too.

        Args:
            initFunc: called in each worker when it starts.
            syncCopies: accepted as in Torch7; copies here always wait for each other.
        """
        if initFunc is not None and not callable(initFunc):
            raise wrong_type(initFunc, "initFunc", "a function")
        self._replicas.close()
        self._replicas.dispatcher = Threads(initFunc, syncCopies)
        return self

    def close(self) -> None:
        """End the worker threads and drop the other replicas; the next use starts anew."""
        self._forget()
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

    # Parameters.

    @property
    def flattenedParams(self) -> list[list[Tensor]] | None:
        """Per replica the flat parameters and the flat gradients, or None."""
        return self._parameters.flat

    @flattenedParams.setter
    def flattenedParams(self, value: list[list[Tensor]] | None) -> None:
        self._parameters.flat = value

    def flattenParameters(self) -> DataParallelTable:
        """Keep each replica's parameters in one flat tensor, and its gradients in another.

        What already lies side by side in a larger flat tensor, that of a net around this
        container, stays there.
        """
        self._parameters.flatten()
        self.flattenParams = True
        return self

    def getParameters(self) -> tuple[Tensor, Tensor]:
        """The first replica's flat parameters and gradients; flattens all replicas.

        Parameters that are frozen, whose gradient is None, are left out.
        """
        self.flattenParameters()
        assert self.flattenedParams is not None
        return self.flattenedParams[0][0], self.flattenedParams[0][1]

    def moduleParameters(self) -> list[list[list[Tensor | None]]]:
        """For each replica the list of its parameters and the list of its gradients.

        What is frozen comes last, with None as its gradient.
        """
        held = self._parameters
        link = held.refresh()
        trained = link.trained if held.flat is None else [[flat[0]] for flat in held.flat]
        return [
            [[*own, *frozen], [*gradients, *[None] * len(frozen)]]
            for own, gradients, frozen in zip(trained, held.gradients(), link.frozen, strict=True)
        ]

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        """The first replica's parameters and gradients."""
        if not self.modules:
            return [], []
        parameters, gradients = self.modules[0].parameters()
        self._parameters.let_go(parameters, gradients)
        return parameters, gradients

    def syncParameters(self) -> DataParallelTable:
        """Copy the first replica's parameters to the others."""
        self._passes.spanned("sync", self._parameters.sync)
        return self

    def zeroGradParameters(self) -> DataParallelTable:
        """Fill the gradients of all replicas with zeros."""
        self._check_net()
        self._gradients.zero()
        return self

    def updateParameters(self, learningRate: Scalar) -> DataParallelTable:
        """Update the first replica and copy it to the others."""
        check_number(learningRate, "learningRate")
        self._check_net()
        self._gradients.mend()
        # Until every replica has them, also if copying fails.
        self.needsSync = True
        with cutorch.device_guard(self.gpuAssignments[0]):
            self.modules[0].updateParameters(learningRate)
            self.syncParameters()
        return self

    def reset(self, stdv: Scalar | None = None) -> DataParallelTable:
        """Draw the first replica's parameters anew and copy them to the others."""
        if stdv is not None:
            check_number(stdv, "stdv")
        self._check_net()
        self.needsSync = True
        with cutorch.device_guard(self.gpuAssignments[0]):
            self.modules[0].reset(stdv)
            self.syncParameters()
        return self

    # Forward and backward.

    def updateOutput(self, input: Any) -> Any:
        self._check_net()
        # Should this pass fail, nothing is left to go back through.
        self._passes.latest.clear()
        with self._pass():
            link = self._passes.link()
            if self.needsSync:
                self.syncParameters()
            if self.checkReplicas:
                sanity_checks.check_agreement(link.parameters, self._replicas.devices())
            self.output = self._passes.forward(link, input, self._mode())
        return self.output

    @contextmanager
    def _pass(self) -> Iterator[None]:
        """A block in which a pass is computed; the other processes are told if it fails."""
        try:
            yield
        except BaseException as error:
            self.group.abort(error)
            raise

    def _mode(self) -> Mode:
        dim = self.dimension - 1 if self.dimension > 0 else self.dimension  # PyTorch's number
        return Mode(dim, self.train, not self.stops_gradient)

    def capture(self, wanted: bool = True) -> DataParallelTable:
        """Record training passes as graphs and replay them, from the next forward on.

        A replayed pass takes Python as long for a deep net as for a flat one. The first forward in
        training, with gradients, records forward and backward of each replica for inputs of its
        form: of these sizes, types and devices. Passes in ``evaluate()`` are computed as ever.
        CUDA has graphs; of other accelerators those for which PyTorch (2.13 or later) has
        ``torch.accelerator.Graph``.

        What cannot be recorded is computed normally too, after one warning: replicas on CPUs,
        inputs of another form (a last, smaller batch), modules that compute their own gradients or
        make the CPU wait for the GPU, ``statistics="synchronised"``, ``shares="auto"``.

        Copies and files of the container have no recordings, and make none.

        A graph knows nothing of what is done to the net's modules afterwards, except to the values
        of their tensors: call this again after it, or ``capture(False)`` to compute normally from
        now on. In a replayed pass ``gradInput`` of modules inside the net is empty.
        """
        self._passes.capture = Capture(recorder_of) if wanted else None
        return self

    def compile(self, on: bool = True) -> DataParallelTable:
        """Compile each replica; see ``Module.compile``. Replicas share the code.

        With ``overlap``, sums begin when all of a replica's backward is through, which is one piece
        of code. ``statistics="synchronised"`` is computed as ever.
        """
        super().compile(on)
        for replica in (self._replicas.modules or ())[1:]:
            replica.compile(on)
        return self

    def profile(self) -> AbstractContextManager[Profile]:
        """Time the phases of the steps taken inside; see ``Profile``."""
        return self._timing.profiled()

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        """The gradient of the latest forward's input; see ``backward``."""
        return self._through("updateGradInput", gradOutput)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        """Add ``scale`` times the gradients of the parameters; see ``backward``."""
        self._through("accGradParameters", gradOutput, scale)

    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        """Gradients of input and parameters; those of the parameters are summed on the first
        replica.

        They are those of the latest forward: ``input`` is not looked at, as in Torch7. (A bare
        module goes forward again with another input than forward's.)

        If a replica fails in the middle, parts of its gradients may be in the sum already. Then the
        gradients of all replicas are set to zero, also what earlier passes had added to them: the
        passes of a step whose gradients accumulate are to be repeated. ``accGradParameters`` does
        so too. An error before that, about ``gradOutput``, changes nothing.
        """
        return self._through("backward", gradOutput, scale)

    def _through(self, method: str, gradOutput: Any, *scale: Scalar) -> Any:
        self._check_net()
        scale = tuple(1 if number is None else number for number in scale)  # nil, as Lua passes it
        for number in scale:
            check_number(number, "scale")
        with self._pass():
            result = self._passes.backward(method, gradOutput, self._mode(), *scale)
            if method != "updateGradInput":
                self.needsSync = True
            if method != "accGradParameters" and not self.stops_gradient:
                # None where the net inside has none; that may be another time.
                self._gradInput = UNSET if result is None else result
        return result

    def distribute(
        self,
        process_group: dist.ProcessGroup | None = None,
        average: bool = True,
        bucket_cap_mb: float = 25,
        exchange: Callable[[dist.ProcessGroup], Exchange] = AllReduce,
    ) -> DataParallelTable:
        """Train together with the containers of other processes.

        Args:
            process_group: default: that of all processes.
            average: weigh gradients by each process's share of the rows, as for a criterion that
                averages; False sums them as they are.
            bucket_cap_mb: the size in MiB of the buckets in which gradients are exchanged while
                backward goes on; docs/scaling.md says what to choose.
            exchange: makes, of the process group, what puts the gradients of the processes
                together: by default each gets the whole sum. ``dptable.sharding`` has another one;
                one's own has the two methods of ``dptable.processes.exchange.Exchange``.

        Every process calls this, and then ``backward`` equally often: ``skip`` stands for a pass
        without data.
        """
        if not bucket_cap_mb > 0:
            raise ValueError(f"bucket_cap_mb is {bucket_cap_mb}; a positive number is accepted")
        self._check_net()
        self._parameters.refresh()
        tensors = list(named_tensors(self.modules[0]))
        synchronised = self.statistics == SYNCHRONISED
        member = Member(tensors, process_group, average, exchange, synchronised)
        self._gradients.join(member, int(bucket_cap_mb * (1 << 20)))
        self.needsSync = True
        return self

    def skip(self, input: Any = None) -> DataParallelTable:
        """Take part in a pass of the group, forward and backward, without data.

        Args:
            input: needed with synchronised statistics only: a batch of zero rows. The others then
                call ``backward``, not its two halves, which exchange statistics twice.
        """
        if not self.group.exchanges:
            raise RuntimeError("skip() is for containers in a group; call distribute() first")
        if input is not None:
            output = self.updateOutput(input)
            self.backward(input, map_tensors(torch.zeros_like, output))
        elif self.statistics == SYNCHRONISED and self.train:
            raise ValueError(
                "input is None; with synchronised statistics, a batch of zero rows is accepted"
            )
        else:
            self._passes.skip()
            self.needsSync = True
        return self

    def syncStatistics(self) -> DataParallelTable:
        """Give all replicas of all processes the running statistics of rank 0's first replica.

        With ``statistics="averaged"`` it is the average over all. Every process calls this before
        ``evaluate()`` or saving, so that they test the net that is saved. Without a group only
        averages are taken.
        """
        self.settleStatistics()
        if self.group.exchanges:
            first, *others = (list(running_statistics(r)) for r in self._replicas.setup())
            self.group.share_statistics(first, self.statistics == AVERAGED)
            for statistics in others:
                for tensor, value in zip(statistics, first, strict=True):
                    tensor.copy_(value)
        return self

    def total_loss(self, loss: float) -> float:
        """The loss over the rows of all processes, of which ``loss`` is that of this one's.

        A mean by the rows of the latest pass, or with ``average=False`` the sum; without a group
        ``loss`` itself. Every process calls this after its ``backward`` or ``skip``, for optimizers
        that decide by the loss, such as those with a line search: by their own losses the processes
        would decide differently.
        """
        return self.group.total(loss)

    def close_group(self) -> None:
        """Leave the group of processes."""
        self._gradients.leave()

    def no_sync(self) -> AbstractContextManager[None]:
        """Leave gradients of backward passes inside on their replicas: the next one sums them."""
        return self._gradients.no_sync()

    # The rest of Module.

    def unreached(self, input: Tensor) -> Tensor | None:
        return (
            self.modules[0].gradient_of_unreached(input)
            if self.modules
            else super().unreached(input)
        )

    def training(self) -> DataParallelTable:
        self.exec(lambda module, i: module.training())
        self.train = True
        return self

    def evaluate(self) -> DataParallelTable:
        self.settleStatistics()
        self.exec(lambda module, i: module.evaluate())
        self.train = False
        return self

    def settleStatistics(self) -> DataParallelTable:
        """Average the running statistics over the replicas of this process, if asked to."""
        if self.statistics == AVERAGED and self._replicas.modules:
            average(self._replicas.modules)
        return self

    def clearState(self) -> DataParallelTable:
        self._forget()
        self.exec(lambda module, i: module.clearState())
        self.drop_graph()
        self._passes.latest.clear()
        return self

    def apply(self, callback: Callable[[Module], Any]) -> DataParallelTable:
        """Call ``callback`` with this container and every module of the first replica.

        The other replicas are then made anew from the first.
        """
        try:
            super().apply(callback)
        finally:
            self._changed()
        return self

    def replace(self, callback: Callable[[Module], Module]) -> Module:
        """As ``Module.replace``; the other replicas are then made anew from the first."""
        try:
            return super().replace(callback)
        finally:
            self._changed()

    def _changed(self) -> None:
        self._forget()
        self._replicas.applyChanges()
        if self.flattenedParams is not None:
            self._parameters.flatten()

    @property
    def typeStr(self) -> str:
        """The type of the net, wherever it is now: by it Torch7 makes the slices."""
        return self.modules[0].type() if self.modules else self._type

    def type(self, type: Any = None, tensorCache: dict[Any, Any] | None = None) -> Any:
        """Convert all replicas; without argument, tell the type.

        The CUDA types are for replicas on GPUs, the CPU types for replicas on CPUs; the CUDA types
        work there too, with a warning.
        """
        if type is None:
            return self.typeStr
        dtype, cuda = parse_type(type)
        name = type_name(dtype, cuda)
        device = self._replicas.devices()[0] if self.modules else torch.device("cpu")
        if cuda and self.modules:
            cutorch.cuda_device(name, device)
        conversion = Conversion(dtype, device, tensorCache)
        self.prepare_conversion(conversion, name)
        self.convert(conversion, name)
        if parts := list(self._own_types()):
            for part in parts:
                part.type(name, tensorCache)
            self._changed()
        return self

    def held_values(self) -> list[Any]:
        self.parameters()  # lets go of flat tensors over what the net no longer has
        return self.modules

    def accept_type(self, name: str) -> None:
        devices = [cutorch.device(gpu) for gpu in self.gpuAssignments]
        kinds = {accelerators.is_accelerator(device) for device in devices}
        if False in kinds or not kinds:
            kinds = {False, True}  # on a CPU a CUDA type stands for the one of its kind
        accepted = [
            type_name(dtype, cuda)
            for cuda in sorted(kinds)
            for dtype in (CUDA_TYPES if cuda else CPU_TYPES).values()
            if dtype.is_floating_point
        ]
        if name not in accepted:
            where = listed(devices, "and")
            raise ValueError(
                f"type is {name!r}; with replicas on {where}, {listed(accepted)} is accepted"
            )

    def convert(self, conversion: Conversion, name: str) -> None:
        self.accept_type(name)
        device = self._replicas.devices()[0] if self.modules else conversion.device
        own = Conversion(conversion.dtype, device, conversion.cache)
        convert_values(self.modules, own, name)
        self.drop_graph()
        self._type = own.named(self._type, name)
        self._passes.latest.clear()
        self._changed()

    def clone(self, *names: str) -> DataParallelTable:
        """A deep copy with the same devices and dispatcher; sharing is refused."""
        if names:
            raise ValueError(
                f"names is {names}; none are accepted: sharing is not supported for "
                "DataParallelTable"
            )
        return super().clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> DataParallelTable:
        new = super().__deepcopy__(memo)
        new.begin_anew(copy.copy(self._replicas.dispatcher))
        new.shares = self.shares
        return new

    def __getstate__(self) -> dict[str, Any]:
        self.settleStatistics()
        return {k: v for k, v in super().__getstate__().items() if not isinstance(v, Part)}

    def __reduce__(self) -> tuple[Any, ...]:
        new, cls, state = super().__reduce__()
        return new, cls, (state, self._replicas.dispatcher, self.shares)

    def __setstate__(self, state: Any) -> None:
        fields, dispatcher, shares = state
        super().__setstate__(fields)
        self.begin_anew(dispatcher)
        self.shares = shares

    def share(self, mlp: Module, *names: str) -> DataParallelTable:
        """Refused, as in Torch7: the replicas' parameters are the container's business."""
        raise RuntimeError("share is not supported for DataParallelTable")

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """Refused, as in Torch7."""
        raise RuntimeError("accUpdateGradParameters is not supported for DataParallelTable")

    def __repr__(self) -> str:
        net = repr(self.modules[0]) if self.modules else "nothing"
        return f"DataParallelTable: {len(self.gpuAssignments)} x {net}"


def _checked_device(gpu: Any) -> DeviceLike:
    cutorch.gpu_id(gpu)
    # Numbers of other kinds, such as NumPy's, become plain ones, as files hold.
    return gpu if isinstance(gpu, (str, torch.device)) else operator.index(gpu)
