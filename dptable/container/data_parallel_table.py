"""``nn.DataParallelTable``: one net, a batch split over several devices."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

import torch
from torch import Tensor

from compat import cutorch
from compat.checks import check_choice, check_number, check_some, wrong_type
from compat.cutorch import DeviceLike
from compat.nn.checks.arguments import as_in_torch7
from compat.nn.checks.indexing import counted
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import as_module
from dptable.container import sanity_checks
from dptable.container.batch_statistics import MODES
from dptable.container.conversions import Converted
from dptable.container.cuda_recorder import recorder_of
from dptable.container.graphs import Capture
from dptable.container.grouped import Grouped
from dptable.container.parameters import Link
from dptable.container.passes import Mode
from dptable.container.profiling import Profile
from dptable.container.shares import checked
from dptable.threads.dispatch import Threads


class DataParallelTable(Grouped, Converted, typename="nn.DataParallelTable"):
    """Run copies of a net on several devices, each on its slice of the batch (from cunn).

    The input is a tensor or a nested table of tensors and is split along ``dimension``. Each
    replica computes forward on its slice, on its device; the outputs are joined on the first
    device. Backward splits the gradient and joins the results in the same way. It also sums the
    gradients of the parameters onto the first replica and sets the others' to zero. So an optimizer
    that updates the first replica's parameters trains the net; the next forward copies the changed
    parameters to the other replicas.

    On GPUs a step never makes the CPU wait, except with ``checkNumbers``, ``checkReplicas``,
    ``profile()`` or "synchronised" ``statistics``.

    Devices are GPU ids as in Torch7, which count from 1 through the list of
    ``dptable.devices.configure``, or PyTorch's names. They may be CPUs, and may repeat. Replicas on
    the first replica's device share its parameters, so nothing is copied to them.

    The net, ``get(1)``, is the first replica. The next forward makes the other replicas anew after
    modules of the net were exchanged or parameters replaced. A method set on one of its modules,
    such as ``m.accGradParameters = lambda *arg: None`` to freeze it, is copied to the other
    replicas in the next pass. Change other fields, such as the ``p`` of a Dropout, through
    ``apply``: otherwise the other replicas keep their values. A net may be in several containers if
    each of them computes backward before another one computes forward.

    Each replica has a copy of its slice, as in Torch7: the caller may refill a batch, and a layer
    may work in place. Results are in the ``output`` and ``gradInput`` of the replicas' modules;
    after ``keepResults(False)`` backward frees them.

    Args:
        dimension: the dimension to split, counted from 1.
        flattenParams: keep each replica's parameters in one flat tensor. Copies and sums are then
            one operation each.
        usenccl: use NCCL for copies and sums where possible; needs ``flattenParams``.
        overlap: sum gradients while backward computes the next ones (``dptable.reducer``). Default:
            True with worker threads on several devices. With all replicas on one device the sums
            would only compete with backward (benchmarks/RESULTS.md).
        statistics: the running statistics of batch normalisation: those of the ``"first"`` replica,
            as in Torch7; ``"averaged"`` over the replicas in ``evaluate()`` and before saving; or
            ``"synchronised"``, where in training every replica normalises by the whole batch, which
            needs worker threads.

    Attributes:
        gpuAssignments: the devices.
        flattenedParams: for each replica the flat parameters and the flat gradients, or None.
        needsSync: whether the parameters changed since the last copy.
        impl: the replicas.
        inputGpu: the latest slices of the input; ``outputGpu``, ``gradOutputGpu`` and
            ``gradInputGpu`` are those of the other results.
        maxUsedGpu: how many replicas got data.
        typeStr: the net's type in Torch7's words.
        checkNumbers: look for NaN and infinity after each pass (off by default).
        checkReplicas: compare the replicas with the first before each forward (off by default).

    Differs from Torch7: ``gradOutput`` is split as the outputs were; table inputs may have string
    keys; the input may hold tensors of any type; if ``getParameters`` of a parent net moves the
    container's parameters, the container drops its flat tensors.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> from dptable import devices
        >>> devices.configure(["cpu", "cpu"])
        >>> dpt = DataParallelTable(1).add(nn.Linear(3, 2).float(), [1, 2])
        >>> dpt.forward(torch.ones(4, 3)).shape
        torch.Size([4, 2])
    """

    takes = None
    t7_version = 3
    cleared_fields = ("inputGpu", "outputGpu", "gradOutputGpu", "gradInputGpu", "buffer")
    converts_with_net = True
    checkReplicas: bool = False

    deserializeNGPUs: ClassVar[int | None] = None
    """On how many devices, 1 to that number, files are restored; None: on those of the file."""

    @as_in_torch7
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
        self.reset_parts()

    # Building.

    def add(  # type: ignore[override]
        self,
        module: Module | torch.nn.Module,
        gpus: DeviceLike | Iterable[DeviceLike],
        shares: Sequence[float] | str | None = None,
    ) -> DataParallelTable:
        """Set the net and its devices: at once with a list, or one by one with single devices.

        Args:
            module: the net. With single devices, the first call sets it; later calls only add a
                device.
            gpus: a list of devices, or one device.
            shares: with a list of devices, how much of a batch each gets: one positive number per
                device, or ``"auto"`` to measure their speeds during training. By default slices
                differ by at most one element.

        Returns:
            This container.

        Raises:
            ValueError: a device does not exist, a list is given though there is a net already, or
                ``shares`` does not fit the devices.
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
        """Run the replicas at the same time, each in its own worker thread.

        CPU replicas share the cores: each worker gets an equal part of the threads that
        ``torch.get_num_threads()`` returns when the workers start. The caller's own operator
        threads spin for a while after each operator and take cores from the replicas; training is
        faster if the caller sets ``torch.set_num_threads`` to that part, too.

        Args:
            initFunc: called in each worker when it starts.
            syncCopies: accepted as in Torch7 and ignored; copies here always wait for each other.

        Returns:
            This container.
        """
        if initFunc is not None and not callable(initFunc):
            raise wrong_type(initFunc, "initFunc", "a function")
        self._replicas.close()
        self._replicas.dispatcher = Threads(initFunc, syncCopies)
        return self

    # Parameters.

    def flattenParameters(self) -> DataParallelTable:
        """Keep each replica's parameters in one flat tensor, and its gradients in another.

        Parameters that already lie side by side in a larger flat tensor, that of a net around this
        container, stay there.
        """
        self._parameters.flatten()
        self.flattenParams = True
        return self

    def getParameters(self) -> tuple[Tensor, Tensor]:
        """Flatten all replicas; return the flat parameters and gradients of the first.

        Frozen parameters (their gradient is None) are left out.
        """
        self.flattenParameters()
        assert self.flattenedParams is not None
        return self.flattenedParams[0][0], self.flattenedParams[0][1]

    def moduleParameters(self) -> list[list[list[Tensor | None]]]:
        """Return, for each replica, the list of its parameters and the list of its gradients.

        Frozen parameters come last, with None as their gradient.
        """
        held = self._parameters
        link = held.refresh()
        trained = link.trained if held.flat is None else [[flat[0]] for flat in held.flat]
        return [
            [[*own, *frozen], [*gradients, *[None] * len(frozen)]]
            for own, gradients, frozen in zip(
                trained, held.lists(link)[1], link.frozen, strict=True
            )
        ]

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        """Return the first replica's parameters and gradients."""
        if not self.modules:
            return [], []
        parameters, gradients = self.modules[0].parameters()
        self._parameters.forget_if_moved(parameters, gradients)
        return parameters, gradients

    def syncParameters(self) -> DataParallelTable:
        """Copy the first replica's parameters to the others."""
        self._sync(self._parameters.refresh())
        return self

    def _sync(self, link: Link) -> None:
        self._passes.profiled_call("sync", self._parameters.sync, link)

    def zeroGradParameters(self) -> DataParallelTable:
        """Fill the gradients of all replicas with zeros."""
        self._check_net()
        self._gradients.zero(self._passes.link())
        return self

    def updateParameters(self, learningRate: Scalar) -> DataParallelTable:
        """Take a plain gradient step on the first replica; copy its parameters to the others.

        Args:
            learningRate: the size of the step.
        """
        check_number(learningRate, "learningRate")
        self._check_net()
        self._gradients.zero_after_failure(self._passes.link())
        # Until every replica has them, also if copying fails.
        self.needsSync = True
        with cutorch.device_guard(self.gpuAssignments[0]):
            self.modules[0].updateParameters(learningRate)
            self.syncParameters()
        return self

    def reset(self, stdv: Scalar | None = None) -> DataParallelTable:
        """Draw new parameters for the first replica and copy them to the others."""
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
                self._sync(link)
            if self.checkReplicas:
                sanity_checks.check_agreement(link.parameters, self._replicas.devices())
            return self.set_output(self._passes.forward(link, input, self._mode()))

    @contextmanager
    def _pass(self) -> Iterator[None]:
        """Compute a pass in the block; if it fails, tell the other processes of the group."""
        try:
            yield
        except BaseException as error:
            self.group.abort(error)
            raise

    def _mode(self) -> Mode:
        dim = self.dimension - 1 if self.dimension > 0 else self.dimension  # PyTorch's number
        return Mode(dim, self.train, self.gradInput is not None)

    def capture(self, wanted: bool = True) -> DataParallelTable:
        """Record training passes as device graphs (CUDA graphs) and replay them from now on.

        A replayed pass costs Python the same time for a deep net as for a shallow one. The first
        forward in training records forward and backward of each replica for inputs of these sizes,
        dtypes and devices. Passes in ``evaluate()`` are not recorded. Besides CUDA, this works for
        accelerators for which PyTorch (2.13 or later) has ``torch.accelerator.Graph``.

        These are computed normally, after one warning: replicas on CPUs, inputs of other sizes (a
        last, smaller batch), modules that make the CPU wait for the GPU or that count their calls,
        ``statistics="synchronised"``, ``shares="auto"``.

        A recording does not see later changes to the net's modules, except changes of their
        tensors' values, and a replay runs no Python code of the modules. Call this method again
        after such a change. Copies and files of the container contain no recordings.

        Args:
            wanted: False ends recording and replaying.
        """
        self._passes.capture = Capture(recorder_of) if wanted else None
        return self

    def compile(self, on: bool = True) -> DataParallelTable:
        """Compile each replica; see ``Module.compile``. Replicas share the code.

        With ``overlap``, sums begin only after a replica's whole backward, which is one piece of
        compiled code. Nets with ``statistics="synchronised"`` are not compiled.

        Args:
            on: False switches compiled code off.
        """
        self._check_net()
        for replica in self._replicas.modules or self.modules:
            replica.compile(on)
        return self

    def profile(self) -> AbstractContextManager[Profile]:
        """Time the phases of the steps in the ``with`` block; see ``Profile``."""
        return self._timing.profiled()

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        """Return the gradient of the latest forward's input; see ``backward``."""
        return self._backward("updateGradInput", gradOutput)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        """Add ``scale`` times the gradients of the parameters; see ``backward``."""
        self._backward("accGradParameters", gradOutput, scale)

    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        """Compute the gradients of input and parameters; sum the latter on the first replica.

        The gradients are those of the latest forward: ``input`` is ignored, as in Torch7.

        If a replica fails in the middle, the sum may hold parts of its gradients. The gradients of
        all replicas are then set to zero, also what earlier passes had accumulated: repeat all
        passes of the step. The same holds for ``accGradParameters``. An error about ``gradOutput``
        comes earlier and changes nothing.

        Args:
            input: ignored.
            gradOutput: the gradient of the output, split as the output was.
            scale: a factor for the gradients of the parameters.

        Returns:
            ``gradInput``, or None if it is switched off.

        Raises:
            RuntimeError: the net was changed since the forward pass, or computed forward in another
                container.
        """
        return self._backward("backward", gradOutput, scale)

    def _backward(self, method: str, gradOutput: Any, *scale: Scalar) -> Any:
        self._check_net()
        scale = tuple(1 if number is None else number for number in scale)  # nil, as Lua passes it
        for number in scale:
            check_number(number, "scale")
        with self._pass():
            result = self._passes.backward(method, gradOutput, self._mode(), *scale)
            if method != "updateGradInput":
                self.needsSync = True
        if method == "accGradParameters" or self.gradInput is None:
            return None
        if result is None:  # the net inside has none; that may be another time
            self.gradInput = self._empty()
            return None
        return self.set_gradInput(result)

    # The rest of Module.

    def set_train(self, train: bool) -> None:
        if not train:
            self.settleStatistics()
        self.exec(lambda module, i: module.training() if train else module.evaluate())
        self.train = train

    def clearState(self) -> DataParallelTable:
        self._forget()
        self.exec(lambda module, i: module.clearState())
        self._passes.latest.clear()
        return super().clearState()

    def keepResults(self, keep: bool | None = True) -> DataParallelTable:
        """Set ``Module.keepResults`` for all replicas."""
        super().keepResults(keep)
        for replica in (self._replicas.modules or ())[1:]:
            replica.keepResults(keep)
        return self

    def free_results(self) -> None:
        if self.keep_results is False:
            self._passes.latest.clear()
            for replica in self._replicas.modules or ():
                replica.free_results()
        super().free_results()

    def apply(self, callback: Callable[[Module], Any]) -> DataParallelTable:
        """Call ``callback`` with this container and every module of the first replica.

        The other replicas are then made anew from the first.

        Args:
            callback: a function of one module.
        """
        try:
            super().apply(callback)
        finally:
            self._changed()
        return self

    def replace(self, callback: Callable[[Module], Module]) -> Module:
        """Replace modules as ``Module.replace`` does; the other replicas are then made anew."""
        try:
            return super().replace(callback)
        finally:
            self._changed()

    def share(self, mlp: Module, *names: str) -> DataParallelTable:
        """Raise RuntimeError, as in Torch7: the container manages its replicas' parameters."""
        raise RuntimeError("share is not supported for DataParallelTable")

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        """Raise RuntimeError, as in Torch7."""
        raise RuntimeError("accUpdateGradParameters is not supported for DataParallelTable")

    def __repr__(self) -> str:
        net = repr(self.modules[0]) if self.modules else "nothing"
        return f"DataParallelTable: {len(self.gpuAssignments)} x {net}"


def _checked_device(gpu: Any) -> DeviceLike:
    cutorch.gpu_id(gpu)
    # Numbers of other kinds, such as NumPy's, become plain ones, as files hold.
    return gpu if isinstance(gpu, (str, torch.device)) else operator.index(gpu)
