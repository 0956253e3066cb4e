"""Convert, copy and pickle a container of replicas."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import torch

from compat import accelerators, cutorch
from compat.checks import listed
from compat.nn.core.conversion import Conversion
from compat.nn.core.convertible import convert_values
from compat.tensor_types import CPU_TYPES, CUDA_TYPES, parse_type, type_name
from dptable.container.replicas import Part
from dptable.container.replicated import Replicated

C = TypeVar("C", bound="Converted")


class Converted(Replicated, abstract=True):
    """The methods that convert or copy the net, for all replicas."""

    @property
    def typeStr(self) -> str:
        """The net's type, such as ``"torch.FloatTensor"``; Torch7 makes slices of this type."""
        return self.modules[0].type() if self.modules else self._type

    def type(self, type: Any = None, tensorCache: dict[Any, Any] | None = None) -> Any:
        """Convert all replicas; without argument, return the type.

        The CUDA types are for replicas on GPUs, the CPU types for replicas on CPUs. On CPUs a CUDA
        type is accepted with a warning.
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
        for field in ("output", "gradInput"):
            if field in vars(self):
                setattr(self, field, own.copied(vars(self)[field]))
        self._type = own.named(self._type, name)
        self._passes.latest.clear()
        self._changed()

    def clone(self: C, *names: str) -> C:
        """Return a deep copy with the same devices and dispatcher.

        Raises:
            ValueError: names to share are given.
        """
        if names:
            raise ValueError(
                f"names is {names}; none are accepted: sharing is not supported for "
                "DataParallelTable"
            )
        return super().clone()

    def __deepcopy__(self: C, memo: dict[int, Any]) -> C:
        new = super().__deepcopy__(memo)
        new.reset_parts(copy.copy(self._replicas.dispatcher))
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
        self.reset_parts(dispatcher)
        self.shares = shares
