"""The private functions of PyTorch that this package uses.

Nothing else in the package names one, so that a release that changes them is met here; each says
what public one would replace it. They are the same in PyTorch 2.6 and 2.13, but for
``set_versions``.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import _engine_run_backward
from torch.utils._python_dispatch import TorchDispatchMode


def is_operator(function: object) -> bool:
    """Return whether a function that PyTorch dispatches is one of its operators, as
    ``aten.add.Tensor``.

    In its place: a public name of ``torch._ops.OpOverload``.
    """
    return isinstance(function, torch._ops.OpOverload)


class OperatorMode(TorchDispatchMode):
    """What intercepts every operator, by ``__torch_dispatch__``.

    In its place: ``TorchDispatchMode`` from a module without an underscore in its name, which
    PyTorch's notes on extending it name as it is.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else its first use imports the compiler, which takes seconds.
        return False


# Whether autocast is on for any kind of device. In its place: ``torch.is_autocast_enabled`` of each
# kind, one after the other.
any_autocast: Callable[[], bool] = torch._C._is_any_autocast_enabled


def version(tensor: Tensor) -> int:
    """Return how often the memory of a tensor was written to in place, through whatever view.

    In its place: a public version counter, which PyTorch mentions in its notes but does not offer.
    """
    return tensor._version


def versions(tensors: Iterable[Tensor]) -> list[int]:
    """``version`` of each."""
    return [tensor._version for tensor in tensors]


def set_versions(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Have ``version`` of each be this, as if nothing else had been written to its memory.

    In its place: a way to go back with what saved tensors hold now, not with what they held.
    """
    set_counter: Any = torch._C._autograd._unsafe_set_version_counter
    if _sets_versions_of_many():
        set_counter(tuple(tensors), tuple(versions))
    else:
        for tensor, number in zip(tensors, versions, strict=True):
            set_counter(tensor, number)


@functools.cache
def _sets_versions_of_many() -> bool:
    """Return whether PyTorch sets counters of many tensors at once, as it does since 2.7.

    Asked without tensors: the error that tells would print them, and wait for their devices.
    """
    set_counter: Any = torch._C._autograd._unsafe_set_version_counter
    try:
        set_counter((), ())
    except TypeError:
        return False
    return True


def storage_identity(tensor: Tensor) -> int:
    """Return a number that tells storages apart, those without memory, too.

    It holds while the storage lives. In its place: an identity of ``torch.UntypedStorage``, of
    which PyTorch makes a new Python object each time.
    """
    return tensor.untyped_storage()._cdata


def returns_a_tensor(operator: Any) -> bool:
    """Return whether an operator, as ``__torch_dispatch__`` gets it, returns one tensor.

    In its place: a public schema of operators.
    """
    return str(operator._schema.returns[0].type) == "Tensor"


def run_engine(
    roots: Sequence[Any],
    gradients: Sequence[Tensor],
    wanted: Sequence[Any],
    retain_graph: bool,
    accumulate: bool,
) -> tuple[Tensor | None, ...]:
    """``torch.autograd.grad`` and ``backward``, without the checks that they make first.

    These take as long as a small layer, and what is passed here has been checked or made here. In
    their place: ``torch.autograd.backward``, once it costs no more.
    """
    found: tuple[Tensor | None, ...] = _engine_run_backward(
        tuple(roots),
        tuple(gradients),
        retain_graph,
        False,  # create_graph
        tuple(wanted),
        allow_unreachable=True,
        accumulate_grad=accumulate,
    )
    return found


def takes_memory(device: torch.device, other: torch.device) -> bool:
    """Return whether ``tensor.data = ...`` gives a tensor on a device memory of another.

    CUDA's, ROCm's, XPU's and MPS's take the CPU's place; a backend outside PyTorch's tree says so
    itself. In its place: a public question; ``torch.nn.Module.to`` asks this one.
    """
    mine, new = torch.empty(0, device=device), torch.empty(0, device=other)
    return torch._has_compatible_shallow_copy_type(mine, new)


def foreach_zero_(tensors: Sequence[Tensor]) -> None:
    """Fill all with zeros in one call. Waits for a public name of ``torch._foreach_zero_``."""
    torch._foreach_zero_(list(tensors))


def foreach_add_(tensors: Sequence[Tensor], others: Sequence[Tensor], alpha: float = 1) -> None:
    """Add ``alpha`` times its other to each in one call. Waits as ``foreach_zero_`` does."""
    torch._foreach_add_(list(tensors), list(others), alpha=alpha)


def foreach_copy_(tensors: Sequence[Tensor], others: Sequence[Tensor]) -> None:
    """Copy its other into each in one call. Waits as ``foreach_zero_`` does."""
    torch._foreach_copy_(list(tensors), list(others))


def driver_version() -> int:
    """Return the newest CUDA version that the driver supports, as 12040 for 12.4; 0 if that is
    unknown.

    In its place: a public function beside ``torch.version.cuda``.
    """
    read = getattr(torch._C, "_cuda_getDriverVersion", None)
    return read() if read and torch.cuda.is_available() else 0


def weight_names(layer: torch.nn.RNNBase) -> list[str]:
    """Return the names of a recurrent layer's parameters, in the order in which cuDNN takes them.

    In its place: ``named_parameters()``, which has them in that order by chance.
    """
    return layer._flat_weights_names


def shape_mode() -> Any:
    """Return a mode in which operators compute shapes alone, on what its ``from_tensor`` gives.

    In its place: a public ``FakeTensorMode``, of which PyTorch's documentation speaks.
    """
    from torch._subclasses import FakeTensorMode

    return FakeTensorMode(allow_non_fake_inputs=False)


def honest() -> Any:
    """Operators that say what they change, for those that do not: batch normalisation.

    In its place: ``torch.export``, which has the same in its own tables.
    """
    from torch._decomp import get_decompositions

    return get_decompositions([torch.ops.aten.native_batch_norm, torch.ops.aten.cudnn_batch_norm])


def inductor(graph: torch.fx.GraphModule, inputs: Sequence[Tensor]) -> Callable[..., Any]:
    """Return what computes a graph of operators without gradients, compiled by TorchInductor.

    In its place: ``torch.compile``, which reads Python again to find the same graph, and in each
    call looks through all inputs for changes that the caller knows of.
    """
    from torch._inductor import compile, config

    settings: dict[str, Any] = {
        "compile_threads": 1,  # other processes would stay behind
        # Results may lie in memory as it suits the code.
        "keep_output_stride": False,
        # Calls of kernels in C++, without Python and its lock.
        "cpp_wrapper": all(tensor.is_cpu for tensor in inputs),
    }
    with config.patch(settings):
        found: Callable[..., Any] = compile(graph, list(inputs))
    return found


@contextmanager
def fake_tensors() -> Iterator[Callable[[Tensor], Tensor]]:
    """Nothing is computed but sizes and types: gives what makes a tensor one without elements.

    Other tensors take part as if they were such. It logs no sizes that do not fit.

    In its place: modules on the device ``meta``, which a copy of the net would be needed for.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    log = logging.getLogger("torch._subclasses.fake_tensor")
    silent, log.disabled = log.disabled, True
    try:
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            yield mode.from_tensor
    finally:
        log.disabled = silent
