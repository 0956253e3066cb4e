"""The private functions of PyTorch that this package uses.

No other module of the package names one, so a release that changes them is noticed here. Each
docstring says what public function would replace it. They are the same in PyTorch 2.6 and 2.13,
except ``set_versions``.
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
    """Return whether a dispatched function is an operator such as ``aten.add.Tensor``.

    Would be replaced by a public name of ``torch._ops.OpOverload``.
    """
    return isinstance(function, torch._ops.OpOverload)


class OperatorMode(TorchDispatchMode):
    """Intercepts every operator through ``__torch_dispatch__``.

    Would be replaced by ``TorchDispatchMode`` in a module without an underscore in its name;
    PyTorch's notes on extending it use the present one.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else its first use imports the compiler, which takes seconds.
        return False


# Whether autocast is on for any kind of device. In its place: ``torch.is_autocast_enabled`` of each
# kind, one after the other.
any_autocast: Callable[[], bool] = torch._C._is_any_autocast_enabled


def version(tensor: Tensor) -> int:
    """Return the version counter: how often a tensor's memory was written in place, by any view.

    Would be replaced by a public counter, which PyTorch's notes mention but PyTorch does not offer.
    """
    return tensor._version


def versions(tensors: Iterable[Tensor]) -> list[int]:
    """Return ``version`` of each tensor."""
    return [tensor._version for tensor in tensors]


def set_versions(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set the version counters, as if nothing else had been written to the memory.

    Would be replaced by a way to let backward read the present values of saved tensors.
    """
    set_counter: Any = torch._C._autograd._unsafe_set_version_counter
    if _sets_versions_of_many():
        set_counter(tuple(tensors), tuple(versions))
    else:
        for tensor, number in zip(tensors, versions, strict=True):
            set_counter(tensor, number)


@functools.cache
def _sets_versions_of_many() -> bool:
    """Return whether PyTorch can set the counters of many tensors at once, as it can since 2.7.

    This is tried without tensors: the error would print them, and wait for their devices.
    """
    set_counter: Any = torch._C._autograd._unsafe_set_version_counter
    try:
        set_counter((), ())
    except TypeError:
        return False
    return True


def storage_identity(tensor: Tensor) -> int:
    """Return a number that differs between any two storages, also those without memory.

    It is valid while the storage lives. Would be replaced by an identity of
    ``torch.UntypedStorage``, of which PyTorch makes a new Python object each time.
    """
    return tensor.untyped_storage()._cdata


def returns_a_tensor(operator: Any) -> bool:
    """Return whether an operator, as ``__torch_dispatch__`` gets it, returns one tensor.

    Would be replaced by a public schema of operators.
    """
    return str(operator._schema.returns[0].type) == "Tensor"


def run_engine(
    roots: Sequence[Any],
    gradients: Sequence[Tensor],
    wanted: Sequence[Any],
    retain_graph: bool,
    accumulate: bool,
) -> tuple[Tensor | None, ...]:
    """Run the autograd engine without the checks of ``torch.autograd.grad`` and ``backward``.

    These take as long as a small layer, and the arguments here have been checked already. Would be
    replaced by ``torch.autograd.backward``, once it costs no more.
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
    """Return whether ``tensor.data = ...`` can give a tensor on ``device`` memory of ``other``.

    Memory of CUDA, ROCm, XPU and MPS can replace the CPU's; a backend outside of PyTorch decides
    itself. Would be replaced by a public function; ``torch.nn.Module.to`` uses this one.
    """
    mine, new = torch.empty(0, device=device), torch.empty(0, device=other)
    return torch._has_compatible_shallow_copy_type(mine, new)


def foreach_zero_(tensors: Sequence[Tensor]) -> None:
    """Fill all tensors with zeros in one call; until ``torch._foreach_zero_`` is public."""
    torch._foreach_zero_(list(tensors))


def foreach_add_(tensors: Sequence[Tensor], others: Sequence[Tensor], alpha: float = 1) -> None:
    """Add ``alpha`` times its other to each tensor in one call; see ``foreach_zero_``."""
    torch._foreach_add_(list(tensors), list(others), alpha=alpha)


def foreach_copy_(tensors: Sequence[Tensor], others: Sequence[Tensor]) -> None:
    """Copy its other into each tensor in one call; see ``foreach_zero_``."""
    torch._foreach_copy_(list(tensors), list(others))


def driver_version() -> int:
    """Return the newest CUDA version that the driver supports, as 12040 for 12.4; 0 if unknown.

    Would be replaced by a public function beside ``torch.version.cuda``.
    """
    read = getattr(torch._C, "_cuda_getDriverVersion", None)
    return read() if read and torch.cuda.is_available() else 0


def weight_names(layer: torch.nn.RNNBase) -> list[str]:
    """Return the names of a recurrent layer's parameters in cuDNN's order.

    Would be replaced by ``named_parameters()``, which has them in that order only by chance.
    """
    return layer._flat_weights_names


def shape_mode() -> Any:
    """Return a mode in which operators compute only shapes, of tensors from its ``from_tensor``.

    Would be replaced by a public ``FakeTensorMode``, which PyTorch's documentation describes.
    """
    from torch._subclasses import FakeTensorMode

    return FakeTensorMode(allow_non_fake_inputs=False)


def kept_decompositions() -> Any:
    """Return decompositions of operators that do not declare what they change.

    That is batch normalisation. Would be replaced by ``torch.export``, which has the same in its
    own tables.
    """
    from torch._decomp import get_decompositions

    return get_decompositions([torch.ops.aten.native_batch_norm, torch.ops.aten.cudnn_batch_norm])


def inductor(graph: torch.fx.GraphModule, inputs: Sequence[Tensor]) -> Callable[..., Any]:
    """Compile a graph of operators without gradients by TorchInductor; return a function.

    Would be replaced by ``torch.compile``, which however reads Python again to find the same graph,
    and in each call looks through all inputs for changes that the caller knows of.
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
    """Compute only sizes and dtypes in the block; yield a function that makes such a tensor.

    Other tensors take part as if they had no elements. Sizes that do not fit are not logged. Would
    be replaced by modules on the device ``meta``, which need a copy of the net.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    log = logging.getLogger("torch._subclasses.fake_tensor")
    silent, log.disabled = log.disabled, True
    try:
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            yield mode.from_tensor
    finally:
        log.disabled = silent
