"""Objects that hold tensors of one type: what modules and criterions have in common."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import cutorch, t7
from compat.nn.flatten import Conversion
from compat.tensor_types import default_type, empty_tensor, parse_type, type_name

T = TypeVar("T", bound="Typed")


class Typed:
    """Something whose tensors can be converted and which can be copied.

    ``_transient`` names the fields that a computation leaves behind: they are never copied,
    converted or saved.
    """

    typename: ClassVar[str]
    t7_version: ClassVar[int] = 1
    _transient: ClassVar[tuple[str, ...]] = ()
    _type: str

    def __init_subclass__(
        cls, typename: str | None = None, abstract: bool = False, **kwargs: Any
    ) -> None:
        """Register the class under its Torch7 name, by default ``nn.`` and its own name.

        Bases that Torch7 does not have are not registered: they say ``abstract=True``, or their
        names begin with an underscore.
        """
        super().__init_subclass__(**kwargs)
        cls.typename = typename or f"nn.{cls.__name__}"
        if not abstract and not cls.__name__.startswith("_"):
            t7.register(cls.typename, cls, version=cls.__dict__.get("t7_version", 1))

    def type(
        self: T, type: str | torch.dtype | None = None, tensorCache: dict[Any, Any] | None = None
    ) -> Any:
        """Convert all tensors to ``type``, a Torch7 tensor type; without argument, tell it.

        Tensors change in place, and tensors that share a storage go on sharing one: what
        `getParameters` returned before stays the storage of the parameters.
        """
        if type is None:
            return self._type
        dtype, cuda = parse_type(type)
        if not dtype.is_floating_point:
            raise ValueError(f"type is {type!r}; a floating point tensor type is accepted")
        device = _cuda_device(type) if cuda else torch.device("cpu")
        conversion, name = Conversion(dtype, device, tensorCache), type_name(dtype, cuda)
        self._prepare(conversion, name)
        self._convert(conversion, name)
        return self

    def _prepare(self, conversion: Conversion, name: str) -> None:
        """Raise what there is to raise before anything changes."""
        parts: dict[int, Typed] = {}
        held: list[Tensor] = []
        _collect(self, parts, held)
        for part in parts.values():
            part._accept(name)
        conversion.prepare(held)

    def _accept(self, name: str) -> None:
        """Raise ValueError for a type that this object cannot have."""

    def _held(self) -> list[Any]:
        """All values with tensors to convert."""
        return [value for key, value in self.__dict__.items() if key not in self._transient]

    def _convert(self, conversion: Conversion, name: str) -> None:
        self._drop_graph()
        for key, value in list(self.__dict__.items()):
            if key not in self._transient:
                self.__dict__[key] = _converted(value, conversion, name)
        self._type = name

    def _drop_graph(self) -> None:
        """Forget what the latest computation left behind."""
        for name in self._transient:
            self.__dict__.pop(name, None)

    def _empty(self) -> Tensor:
        """What a result is before it is computed."""
        return empty_tensor(self._type)

    def float(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """`type` ``torch.FloatTensor``."""
        return self.type("torch.FloatTensor", tensorCache)

    def double(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """`type` ``torch.DoubleTensor``."""
        return self.type("torch.DoubleTensor", tensorCache)

    def half(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """`type` ``torch.HalfTensor``."""
        return self.type("torch.HalfTensor", tensorCache)

    def bfloat16(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """`type` ``torch.BFloat16Tensor``, which Torch7 does not have."""
        return self.type("torch.BFloat16Tensor", tensorCache)

    def cuda(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """`type` ``torch.CudaTensor``: float, on the current device."""
        return self.type("torch.CudaTensor", tensorCache)

    def cudaDouble(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """`type` ``torch.CudaDoubleTensor``."""
        return self.type("torch.CudaDoubleTensor", tensorCache)

    def cudaHalf(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """`type` ``torch.CudaHalfTensor``."""
        return self.type("torch.CudaHalfTensor", tensorCache)

    def cpu(self: T) -> T:
        """Move to the CPU, keeping the precision."""
        return self.type(type_name(parse_type(self._type)[0]))

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        new = self.__class__.__new__(self.__class__)
        memo[id(self)] = new
        for name, value in self.__getstate__().items():
            new.__dict__[name] = copy.deepcopy(value, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {name: v for name, v in self.__dict__.items() if name not in self._transient}


def _collect(value: Any, parts: dict[int, Typed], held: list[Tensor]) -> None:
    """The objects and tensors in ``value``."""
    if isinstance(value, Tensor):
        held.append(value)
    elif isinstance(value, Typed):
        if id(value) not in parts:
            parts[id(value)] = value
            _collect(value._held(), parts, held)
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            _collect(item, parts, held)


def _converted(value: Any, conversion: Conversion, name: str) -> Any:
    if isinstance(value, Tensor):
        return conversion(value)
    if isinstance(value, Typed):
        value._convert(conversion, name)
        return value
    if isinstance(value, list):
        value[:] = [_converted(item, conversion, name) for item in value]
    elif isinstance(value, dict):
        for key, item in value.items():
            value[key] = _converted(item, conversion, name)
    elif isinstance(value, tuple):
        return tuple(_converted(item, conversion, name) for item in value)
    return value


def _cuda_device(type: Any) -> torch.device:
    device = cutorch.device(cutorch.getDevice())
    if device.type != "cuda":
        raise RuntimeError(f"type is {type!r}, but the current device is {device}; see cutorch")
    return device


def type_of(fields: dict[str, Any]) -> str:
    """The tensor type of an object whose file does not tell it."""
    for value in fields.values():
        if isinstance(value, Tensor) and value.is_floating_point():
            return getattr(value, "torch7_type", None) or type_name(value.dtype)
    return default_type()
