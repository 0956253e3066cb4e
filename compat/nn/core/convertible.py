"""The base class of modules and criterions: objects that hold tensors of one type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar, overload

import torch
from torch import Tensor

from compat import cutorch, t7
from compat.checks import wrong_type
from compat.lua_tables import ForeignTable, MixedTable, by_number
from compat.nn.checks.arguments import as_in_torch7
from compat.nn.checks.tensors import objection
from compat.nn.core.conversion import Conversion
from compat.notebook import drawn
from compat.tensor_tables import contents, deep_copy
from compat.tensor_types import default_type, empty_tensor, parse_type, type_name

T = TypeVar("T", bound="Convertible")

_LIBRARY = __name__.partition(".")[0]
_DECLARATIONS = (
    "transient_fields",
    "scratch_fields",
    "cleared_fields",
    "newer_fields",
    "dict_fields",
    "pass_fields",
)
_RESULTS = ("output", "gradInput")


class _UntoldType:
    """The tensor type of an object before one was set: PyTorch's default dtype."""

    def __get__(self, thing: Any, owner: type | None = None) -> str:
        return default_type()


class Convertible:
    """An object whose tensors can be converted and which can be copied.

    Class attributes, to which a class adds those of its bases:

    * ``transient_fields``: results of a computation, which are never copied, converted or saved;
    * ``pass_fields``: what a module's forward leaves for backward and files do not have;
    * ``scratch_fields``: work space of the Lua implementation, which old files contain and this
      library does not use;
    * ``cleared_fields``: fields that Lua's ``clearState`` empties besides those of every module;
    * ``newer_fields``: fields that files of older versions lack; they get the class attribute's
      value on loading and are saved;
    * ``dict_fields``: tables with numeric keys that are dicts here; in a file such a table is a
      list if its keys are 1 to n.

    ``takes`` describes the arguments, where that is known. ``converts_with_net`` says that a
    ``type`` method of the class does nothing that the ``type`` of a net around it does not do.
    """

    _repr_html_ = drawn

    typename: ClassVar[str]
    t7_version: ClassVar[int] = 1
    transient_fields: ClassVar[tuple[str, ...]] = ()
    scratch_fields: ClassVar[tuple[str, ...]] = ()
    cleared_fields: ClassVar[tuple[str, ...]] = ()
    newer_fields: ClassVar[tuple[str, ...]] = ()
    dict_fields: ClassVar[tuple[str, ...]] = ()
    pass_fields: ClassVar[tuple[str, ...]] = ()
    takes: ClassVar[str | None] = None
    converts_with_net: ClassVar[bool] = False
    _type: str = _UntoldType()  # type: ignore[assignment]

    def __init_subclass__(
        cls,
        typename: str | None = None,
        abstract: bool = False,
        fits: Callable[[Mapping[Any, Any]], bool] | None = None,
        **kwargs: Any,
    ) -> None:
        """Register the class under its Torch7 name.

        Args:
            typename: the name; default: what ``t7.register`` gets later, or the class's own name,
                in this library with the prefix of package nn.
            abstract: True for a base class that Torch7 does not have, which is not registered. A
                class whose name begins with an underscore is not registered either, unless it has a
                ``typename``.
            fits: as in ``t7.register``.
        """
        super().__init_subclass__(**kwargs)
        for name in _DECLARATIONS:
            # From the most general base on, so that the order of fields in files does not depend on
            # the class in which a field is declared.
            declared = [own for base in reversed(cls.__mro__) for own in vars(base).get(name, ())]
            setattr(cls, name, tuple(dict.fromkeys(declared)))
        is_ours = cls.__module__.partition(".")[0] == _LIBRARY
        init = vars(cls).get("__init__")
        if is_ours and init is not None:
            type.__setattr__(cls, "__init__", as_in_torch7(init))
        cls.typename = typename or (f"nn.{cls.__name__}" if is_ours else cls.__name__)
        if not abstract and (typename or not cls.__name__.startswith("_")):
            t7.adopt(cls.typename, cls, cls.__dict__.get("t7_version", 1), fits)

    def complete(self, fields: dict[str, Any]) -> None:
        """Remove the tensor type from a file's fields, set it, and add missing fields.

        An object without a type, such as a ``View`` of 2014, gets the type of its contents or of
        its container.
        """
        for newer in self.newer_fields:
            fields.setdefault(newer, getattr(type(self), newer))
        fields.update(by_number(fields, self.dict_fields))
        told = fields.pop("_type", None)
        if told is not None:
            told = type_name(*parse_type(told, "_type"))
        name = told or type_of(fields)
        if name is not None:
            self._type = name
            for part in _parts(fields.values()):
                part.tell_type(name)

    def tell_type(self, name: str) -> None:
        """Set the tensor type of this object and its contents, if the file has none."""
        if "_type" not in vars(self):
            self._type = name
            for part in _parts(vars(self).values()):
                part.tell_type(name)

    @overload
    def type(self, type: None = None, tensorCache: None = None) -> str: ...
    @overload
    def type(self: T, type: str | torch.dtype, tensorCache: dict[Any, Any] | None = None) -> T: ...
    def type(
        self, type: str | torch.dtype | None = None, tensorCache: dict[Any, Any] | None = None
    ) -> Any:
        """Convert all tensors to ``type``, or return the present type.

        Tensors change in place, and tensors that share a storage go on sharing it: the tensors that
        ``getParameters`` returned earlier stay the storage of the parameters. With a CUDA type,
        tensors go to the current logical device, which may be a CPU; files then still name the CUDA
        type. Tensors that are on an accelerator already stay on theirs, as in Torch7.

        Args:
            type: a Torch7 tensor type such as ``"torch.FloatTensor"``, or a dtype. Without it,
                return the name of the present type.
            tensorCache: a table that keeps tensors shared between several converted nets.

        Returns:
            This object.

        Raises:
            ValueError: the type is unknown, or the object cannot have it. Nothing has changed then.
        """
        if type is None:
            return self._type
        dtype, cuda = parse_type(type)
        if tensorCache is not None and not isinstance(tensorCache, dict):
            raise TypeError(
                f"tensorCache is {tensorCache!r}; a dict is accepted: cutorch.setDevice(1) chooses "
                "the device of cuda()"
            )
        if not dtype.is_floating_point:
            raise ValueError(f"type is {type!r}; a floating point tensor type is accepted")
        name = type_name(dtype, cuda)
        device = cutorch.cuda_device(name) if cuda else torch.device("cpu")
        conversion = Conversion(dtype, device, tensorCache, leave_accelerator=not cuda)
        # All checks come first: a conversion that fails half way would leave a net of two types.
        self.prepare_conversion(conversion, name)
        others = list(self._own_types())
        for part in others:
            # Marked as visited: its own `type` method converts it below, with what it overrides.
            conversion.first_visit(part)  # and is not converted with the whole
        self.convert(conversion, name)
        for part in others:
            part.type(name, conversion.cache)
        return self

    def _own_types(self) -> Iterator[Convertible]:
        """Yield the contained objects that have their own ``type`` method.

        As in Torch7 the outer ``type`` calls it, and only it converts them and their contents.
        """
        seen = {id(self)}
        waiting: list[Convertible] = [self]
        for part in waiting:
            for item in contents(part.held_values()):
                if isinstance(item, Convertible) and id(item) not in seen:
                    seen.add(id(item))
                    is_plain = type(item).type is Convertible.type or item.converts_with_net
                    if is_plain and not callable(vars(item).get("type")):
                        waiting.append(item)
                    else:
                        yield item

    def prepare_conversion(self, conversion: Conversion, name: str) -> None:
        """Check everything that will be converted, before anything changes."""
        parts: dict[int, Convertible] = {id(self): self}
        held: list[Tensor] = []
        waiting: list[Convertible] = [self]
        for part in waiting:
            part.accept_type(name)
            for item in contents(part.held_values()):
                if isinstance(item, Tensor):
                    held.append(item)
                elif isinstance(item, Convertible) and id(item) not in parts:
                    parts[id(item)] = item
                    waiting.append(item)
        conversion.prepare(held)

    def accept_type(self, name: str) -> None:
        """Raise ValueError for a type that this object cannot have."""

    def held_values(self) -> list[Any]:
        """Return all values whose tensors are converted in place: all but the results of passes."""
        # Results may belong to other modules or to the caller, so they are copied, not changed in
        # place.
        left_out = {*self.transient_fields, *self.pass_fields, *_RESULTS}
        return [value for key, value in self.__dict__.items() if key not in left_out]

    def move(self, device: torch.device) -> None:
        """Move all tensors to ``device``, without changing their dtype."""
        conversion = Conversion(None, device)
        name = conversion.named(self._type, self._type)
        self.prepare_conversion(conversion, name)
        self.convert(conversion, name)

    def convert(self, conversion: Conversion, name: str) -> None:
        """Convert what ``prepare_conversion`` has checked; ``name`` is the net's new type."""
        fields = self.__dict__
        for key in (*_RESULTS, *self.pass_fields):
            if isinstance(held := fields.get(key), ForeignTable):
                held.replace_each(conversion.copied)
            elif key in fields:
                # A copy: it may be what somebody gave this object, or was given.
                fields[key] = conversion.copied(held)
        convert_values(Convertible.held_values(self), conversion, name)
        self._type = conversion.named(self._type, name)

    def objection(self, input: Any) -> Exception | None:
        """Return an error that explains why a computation failed for ``input``, or None."""
        if self.takes is None:
            return None
        return objection(self.takes, self.own_tensor(), input)

    def own_tensor(self) -> Tensor | None:
        """Return a tensor that has the type and device which arguments must have."""
        return None

    def _empty(self) -> Tensor:
        """Return the empty tensor that a result is before it is computed."""
        return empty_tensor(self._type)

    def float(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """Convert to ``torch.FloatTensor``; see ``type``."""
        return self.type("torch.FloatTensor", tensorCache)

    def double(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """Convert to ``torch.DoubleTensor``; see ``type``."""
        return self.type("torch.DoubleTensor", tensorCache)

    def half(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """Convert to ``torch.HalfTensor``; see ``type``."""
        return self.type("torch.HalfTensor", tensorCache)

    def bfloat16(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """Convert to ``torch.BFloat16Tensor``, which Torch7 does not have; see ``type``."""
        return self.type("torch.BFloat16Tensor", tensorCache)

    def cuda(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """Convert to ``torch.CudaTensor``: float, on the current device; see ``type``."""
        return self.type("torch.CudaTensor", tensorCache)

    def cudaDouble(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """Convert to ``torch.CudaDoubleTensor``; see ``type``."""
        return self.type("torch.CudaDoubleTensor", tensorCache)

    def cudaHalf(self: T, tensorCache: dict[Any, Any] | None = None) -> T:
        """Convert to ``torch.CudaHalfTensor``; see ``type``."""
        return self.type("torch.CudaHalfTensor", tensorCache)

    def cpu(self: T) -> T:
        """Move to the CPU, without changing the dtype."""
        return self.type(type_name(parse_type(self._type)[0]))

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        new = self.__class__.__new__(self.__class__)
        # Before the fields: a module may be reachable from itself, through a graph's nodes.
        memo[id(self)] = new
        for name, value in self.__getstate__().items():
            new.__dict__[name] = deep_copy(value, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {name: v for name, v in self.__dict__.items() if name not in self.transient_fields}


def convert_values(values: list[Any], conversion: Conversion, name: str) -> None:
    """Convert all tensors and objects in ``values``, each once."""

    def convert(item: Any) -> Any:
        if isinstance(item, Tensor):
            conversion(item)
        elif isinstance(item, Convertible) and conversion.first_visit(item):
            item.convert(conversion, name)
        return item

    for item in contents(values):
        if isinstance(item, ForeignTable):
            item.replace_each(convert)
        else:
            convert(item)


def check_lists(fields: dict[str, Any], *names: str) -> None:
    """Turn empty dicts into lists in list fields; files do not tell the two apart."""
    for name in names:
        value = fields.get(name, [])
        if isinstance(value, dict) and not value:
            fields[name] = []
        elif isinstance(value, dict) and 1 in value:
            fields[name] = table = MixedTable((), value)
            table.take_entries()
        elif not isinstance(value, list):
            raise wrong_type(value, name, "a table with the keys 1 to n")


def type_of(fields: dict[str, Any]) -> str | None:
    """Return the tensor type that an object's fields suggest, or None."""
    for value in contents(fields):
        if isinstance(value, Tensor) and value.is_floating_point():
            return getattr(value, "torch7_type", None) or type_name(value.dtype)
    types = (vars(part).get("_type") for part in _parts(fields.values()))
    return next((name for name in types if name is not None), None)


def _parts(values: Iterable[Any]) -> Iterator[Convertible]:
    """Yield the objects among ``values``, also those in lists."""
    for value in list(values):
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, Convertible):
                yield item
