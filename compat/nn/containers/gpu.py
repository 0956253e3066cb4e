"""``nn.GPU``: a module with a device of its own."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from typing import Any

import torch
from torch import Tensor

from compat import accelerators, cutorch, t7
from compat.nn.checks.indexing import counted
from compat.nn.containers.decorators import Decorator
from compat.nn.core.conversion import Conversion
from compat.nn.core.module import Module
from compat.tensor_tables import map_tensors
from compat.tensor_types import parse_type


class GPU(Decorator):
    """A module whose parameters stay on one GPU and which computes there (Torch7: ``nn.GPU``).

    Inputs are moved to that device and outputs to another; gradInput comes back to the input's.
    As long as the module is of a CPU type nothing is moved.

    Args:
        module: the module.
        device: its GPU, counted from 1.
        outdevice: the GPU of the output; ``device`` by default.

    Differs from Torch7: ``accUpdateGradParameters`` works.
    """

    scratch_fields = ("_input", "_gradOutput")

    def __init__(
        self, module: Module | torch.nn.Module, device: int, outdevice: int | None = None
    ) -> None:
        super().__init__(module)
        self.device = counted(device, "device")
        self.outdevice = self.device if outdevice is None else counted(outdevice, "outdevice")
        if _is_cuda(self.modules[0].type()):
            self.type(self.modules[0].type())

    def setDevice(self, device: int | None = None) -> GPU:
        """Move the module to another GPU, counted from 1."""
        if device is not None:
            self.device = counted(device, "device")
        if _is_cuda(self._type):
            self.type(self._type)
        return self

    def call(self, position: int, method: str, *arguments: Any) -> Any:
        if not _is_cuda(self._type):
            return super().call(position, method, *arguments)
        with cutorch.device_guard(self.device):
            return super().call(position, method, *arguments)

    def inward(self, input: Any) -> Any:
        return _moved(input, self.device) if _is_cuda(self._type) else input

    def outward(self, output: Any, input: Any) -> Any:
        differs = self.outdevice != self.device and _is_cuda(self._type)
        return _moved(output, self.outdevice) if differs else output

    def gradient_inward(self, gradOutput: Any) -> Any:
        return self.inward(gradOutput)

    def gradient_outward(self, gradInput: Any, input: Any) -> Any:
        return _moved_to(gradInput, input) if _is_cuda(self._type) else gradInput

    def convert(self, conversion: Conversion, name: str) -> None:
        if accelerators.is_accelerator(conversion.device):
            # What is shared with modules on other devices cannot stay shared.
            conversion = Conversion(conversion.dtype, cutorch.device(self.device))
        super().convert(conversion, name)

    def __repr__(self) -> str:
        return f"{self.typename}({self.device}) @ {self.modules[0]}"


def _is_cuda(typename: str) -> bool:
    return parse_type(typename)[1]


def _moved(value: Any, gpu: int) -> Any:
    device = cutorch.device(gpu)
    return map_tensors(lambda tensor: tensor.to(device), value)


def _moved_to(value: Any, input: Any) -> Any:
    """Return a gradInput on the device of ``input``; where tables are, each entry on that of its
    own.
    """
    if isinstance(value, Tensor):
        return value.to(input.device)
    if isinstance(value, (list, tuple)):
        return [_moved_to(*both) for both in zip(value, input, strict=True)]
    if isinstance(value, dict):
        return {key: _moved_to(entry, input[key]) for key, entry in value.items()}
    return value


def _read(gpu: GPU, version: float) -> Generator[Any, Any, None]:
    typename, device = (yield t7.OBJECT)[:2]
    fields = yield t7.FIELDS
    count = cutorch.getDeviceCount()
    if _is_cuda(typename) and device > count:
        warnings.warn(f"nn.GPU was saved on GPU {device} of {count}; GPU 1 is used", stacklevel=2)
        fields |= {name: min(int(fields[name]), count) for name in ("device", "outdevice")}
        fields["device"] = 1
    gpu.t7_restore(fields, int(version))


def _write(gpu: GPU) -> Generator[tuple[Any, Any], None, None]:
    yield t7.OBJECT, [gpu.type(), gpu.device]
    yield t7.FIELDS, gpu.t7_fields()


t7.register("nn.GPU", GPU, read=_read, write=_write)
