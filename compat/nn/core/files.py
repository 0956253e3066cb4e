"""Read and write modules in ``.t7`` files: which fields, in which form."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, ClassVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import given, whole
from compat.lua_tables import List, Table, attribute, field, items
from compat.nn.core import walk_limits
from compat.nn.core.convertible import Convertible
from compat.nn.core.parameter import gradient_name
from compat.tensor_tables import contents
from compat.tensor_types import tag, tensor_type
from compat.torch_internals import versions

_OWN_METHODS = ("updateOutput", "updateGradInput", "accGradParameters", "backward")
# What Python's objects have besides Torch7's fields.
ENGINE_FIELDS = frozenset(("keep_results", "compilation", "_graph", "_call", "_freed", "_lacking"))
# The fields in which Torch7's classes hold modules, and those in which they hold criterions.
_HOLDERS = {
    "module": (
        *("modules", "module", "net", "rnns", "inputModule", "targetModule"),
        *("recurrentModule", "initialModule", "startModule", "feedbackModule", "transferModule"),
    ),
    "criterion": ("criterion", "criterions"),
}
_unknown_classes: dict[str, type[t7.TorchObject]] = {}


class SizeField:
    """A field with a list of numbers, which Lua sees as a LongStorage.

    Once Lua has used the storage, the module's ``__dict__`` holds it, and both sides may write its
    numbers; Python reads them as a list.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        if owner is None:
            return self
        try:
            value = owner.__dict__[self.name]
        except KeyError:
            raise AttributeError(f"{owner.typename} has no {self.name} yet") from None
        if isinstance(value, t7.Storage):
            whole = value.tensor.untyped_storage()  # Lua may have resized it
            return value.tensor.new_empty(0).set_(whole).tolist()
        return value

    def __set__(self, owner: Any, value: Any) -> None:
        owner.__dict__[self.name] = value

    def __delete__(self, owner: Any) -> None:
        del owner.__dict__[self.name]


class Filed(Convertible, abstract=True):
    """The form of a module in a file.

    Class attributes for fields that Torch7 stores in another form: ``size_fields`` are lists of
    numbers here and LongStorages in files. ``workspace_fields`` are ``scratch_fields`` that Lua
    expects to find; they are written as empty tensors of these dtypes (None: the module's own), or
    as empty tables (``list``). ``nil_stops_gradient`` says whether a file without ``gradInput``
    means that the gradient is not wanted; Lua's class may also lack it because backward has not
    run.

    Lua's tables do not tell lists from dicts, so files of a user's own class have a field
    ``_kinds``, from which the tables are restored as they were.
    """

    size_fields: ClassVar[tuple[str, ...]] = ()
    workspace_fields: ClassVar[dict[str, torch.dtype | type[list[Any]] | None]] = {}
    table_fields: ClassVar[tuple[str, ...]] = ()
    inner_names: ClassVar[tuple[str, ...]] = ()
    parameter_names: ClassVar[tuple[str, ...]] = ()
    nil_stops_gradient: ClassVar[bool] = True
    dpnn_serialEmpty: list[str] = []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in cls.__dict__.get("size_fields", ()):
            setattr(cls, name, SizeField(name))

    def t7_fields(self) -> dict[str, Any]:
        """Return the fields of this module for a Torch7 file."""
        fields = {
            field(name): value
            for name, value in self.__dict__.items()
            if not (name in ENGINE_FIELDS or name in self.pass_fields)
            and not name.startswith("_pending_")
        }
        for name in _OWN_METHODS:
            if isinstance(fields.get(name), (FunctionType, MethodType, BuiltinFunctionType)):
                raise TypeError(
                    f"{name} of this {self.typename} was replaced by a Python function, which a "
                    f".t7 file cannot hold; del it before saving and set it again after loading"
                )
        lacking = self.__dict__.get("_lacking", {})
        for name in self.parameter_names:
            parameter = self.__dict__.get(name)
            if parameter is None:
                fields.pop(name, None)
            elif parameter.grad is not None:
                if lacking.get(name) != versions((parameter.grad,)):
                    fields[gradient_name(name)] = parameter.grad
            elif parameter.is_floating_point() and gradient_name(name) not in fields:
                # Not nil, which old files have for gradients that were dropped to make them small.
                fields[gradient_name(name)] = False
        fields["_type"] = self._type
        for name in ("output", "gradInput"):
            if name not in self.__dict__:  # freed, which is not what nil says in a file
                fields[name] = [] if name in self.table_fields else self._empty()
        # Torch7's kernels write into buffers of the right size as if they were contiguous, and into
        # a result as if nothing else lay there.
        trained = {name for p in self.parameter_names for name in (p, gradient_name(p))}
        for name, value in fields.items():
            if name not in trained:
                fields[name] = _contiguous(value)
        self.empty_unsaved(fields)
        for name in self.size_fields:
            if name in fields:
                fields[name] = t7.Storage(getattr(self, name), "torch.LongStorage")
        for name, kind in self.workspace_fields.items():
            if isinstance(kind, torch.dtype):
                fields[name] = torch.empty(0, dtype=kind)
            else:
                fields[name] = self._empty() if kind is None else kind()
        for name in self.inner_names:
            fields[name] = getattr(self, name)
        for item in contents(fields):
            if isinstance(item, Tensor) and item.is_floating_point():
                tag(item, self._type)
        fields = {name: value for name, value in fields.items() if value is not None}
        kinds = _kinds(fields) if self._is_own() else None
        return {**fields, "_kinds": kinds} if kinds else fields

    def empty_unsaved(self, fields: dict[str, Any]) -> None:
        """Empty those of ``fields`` that ``serialMode`` names."""
        for name in self.dpnn_serialEmpty:
            if name in fields:
                fields[name] = self._empty() if isinstance(fields[name], Tensor) else []

    @classmethod
    def _is_own(cls) -> bool:
        """Return whether this is a user's own class in Python."""
        return cls.__module__.partition(".")[0] not in ("compat", "dptable", "lua")

    @classmethod
    def _computes(cls, name: str) -> bool:
        """Return whether a field is a property, which cannot be set."""
        found = getattr(cls, name, None)
        return isinstance(found, property) and found.fset is None

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        """Restore the module from the ``fields`` of a Torch7 file."""
        kinds = fields.pop("_kinds", None)
        if isinstance(kinds, list):
            fields = _of_kinds(fields, kinds)
        if self._is_own():
            fields |= {name: [] for name in ("output", "gradInput") if fields.get(name) == {}}
        for name in (*self.scratch_fields, *self.workspace_fields, *self.inner_names):
            fields.pop(name, None)
        for name in self.size_fields:
            if name in fields:
                t7.claim(entries=len(fields[name]))
                fields[name] = [int(n) for n in fields[name]]
        wrap_unknown_fields(fields)
        walk_limits.note(self)
        self.complete(fields)
        if "gradInput" not in fields and self.nil_stops_gradient:
            fields["gradInput"] = None
        frozen, lacking, tables = [], [], {}
        for name in self.parameter_names:
            parameter, gradient = fields.get(name), fields.pop(gradient_name(name), None)
            if gradient is False:
                frozen.append(gradient_name(name))
            elif parameter is not None:
                if gradient is None or (isinstance(gradient, Tensor) and not gradient.numel()):
                    lacking.append(name)  # left out, to keep the file small
                elif _fits(gradient, parameter):
                    parameter.grad = _of_shape(gradient, parameter.shape)
                elif type(self).__module__ == "lua" and not isinstance(gradient, Tensor):
                    tables[name] = gradient  # such as rows by their numbers
                else:
                    warnings.warn(
                        f"the file's {self.typename} has a {gradient_name(name)} that is "
                        f"{_kind(gradient)}, its {name} is {_kind(parameter)}: zeros instead",
                        stacklevel=2,
                    )
        for name, value in fields.items():
            if name not in ENGINE_FIELDS and not self._computes(attribute(name)):
                setattr(self, attribute(name), value)
        for name in frozen:
            setattr(self, name, None)
        for name, gradient in tables.items():
            getattr(type(self), gradient_name(name)).put(self, gradient)
        # They stay out of files until something is written to them.
        own = {name: getattr(self, name) for name in lacking}
        known = {name: versions((p.grad,)) for name, p in own.items() if p.grad is not None}
        if known:
            self.__dict__["_lacking"] = known


def _fits(gradient: Any, parameter: Tensor) -> bool:
    """Return whether a file's value can be the gradient of ``parameter``."""
    return (
        isinstance(gradient, Tensor)
        and (gradient.numel(), gradient.dtype) == (parameter.numel(), parameter.dtype)
        and gradient.device == parameter.device
    )


def _kind(value: Any) -> str:
    if not isinstance(value, Tensor):
        return given(value)
    name = tensor_type(value)
    return f"a {name} of size {tuple(value.shape)}"


def _of_shape(gradient: Tensor, shape: torch.Size) -> Tensor:
    """Return a file's gradient in the parameter's shape; some files store it as a matrix."""
    if gradient.shape != shape and not gradient.is_contiguous():
        t7.claim(gradient.nbytes)
    return gradient.reshape(shape)


def _contiguous(value: Any) -> Any:
    if not isinstance(value, Tensor) or value.is_contiguous():
        return value
    new = value.contiguous()
    tag(new, getattr(value, "torch7_type", ""))
    return new


# The kinds of tables, which are all one to Lua.
_TABLES: dict[str, type[Any]] = {kind.__name__: kind for kind in (list, dict, tuple, List, Table)}


def _kinds(fields: dict[str, Any]) -> list[Any]:
    """List the tables in ``fields`` that a file would return as another kind.

    Each entry has the table's place, its kind and its length.
    """
    found: list[Any] = []
    seen: set[int] = set()
    waiting: list[tuple[list[Any], Any]] = [([name], value) for name, value in fields.items()]
    for place, value in waiting:
        kind = type(value)
        if _TABLES.get(kind.__name__) is not kind or id(value) in seen:
            continue
        seen.add(id(value))
        entries = dict(items(value))
        numbered = [*entries] == [*range(1, len(entries) + 1)] and None not in map(
            _known, entries.values()
        )
        comes_back = list if numbered and entries else dict
        if kind is not comes_back:
            found.append([place, kind.__name__, len(entries)])
        waiting += [
            ([*place, key], item) for key, item in entries.items() if isinstance(key, (int, str))
        ]
    return found


def _known(value: Any) -> Any:
    return None if value is None else True


def _of_kinds(fields: dict[str, Any], kinds: list[Any]) -> dict[str, Any]:
    """Return ``fields`` with the tables restored to the kinds that ``_kinds`` listed."""
    noted: dict[int, tuple[str, int]] = {}
    for entry in kinds:
        if isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], list):
            place, kind, length = entry
            value: Any = fields
            for key in place:
                value = _entries(value).get(key)
            if isinstance(value, (list, dict)) and kind in _TABLES and isinstance(length, int):
                noted[id(value)] = kind, length
    made: dict[int, Any] = {}

    def rebuilt(value: Any) -> Any:
        if not isinstance(value, (list, dict)):
            return value
        if id(value) not in made:
            made[id(value)] = value  # inside itself
            kind, length = noted.get(id(value), (type(value).__name__, len(value)))
            items = {key: rebuilt(item) for key, item in _entries(value).items()}
            cls = _TABLES[kind]
            if issubclass(cls, dict):
                made[id(value)] = cls(items)
            else:
                t7.claim(entries=length)
                made[id(value)] = cls([items.get(i) for i in range(1, length + 1)])
        return made[id(value)]

    return {name: rebuilt(value) for name, value in fields.items()}


def _entries(value: Any) -> dict[Any, Any]:
    """Return the entries of a file's table by Lua's keys."""
    if isinstance(value, dict):
        return value
    return dict(items(value)) if isinstance(value, list) else {}


def sizes(given: tuple[Any, ...], name: str = "size") -> list[int]:
    """Return the sizes that a constructor got as several numbers or as one LongStorage."""
    if len(given) == 1 and isinstance(given[0], (list, tuple, t7.Storage)):
        given = tuple(given[0])
    return [whole(number, name) for number in given]


# What stands in nets for objects of classes that nobody has registered.


def register_unknown(kind: str, cls: type[t7.TorchObject]) -> None:
    """Use ``cls`` for objects of unknown classes where a ``kind`` belongs.

    Args:
        kind: ``"module"`` or ``"criterion"``.
        cls: a class whose ``t7_restore`` gets the fields.
    """
    _unknown_classes[kind] = cls


def wrap_unknown(kind: str, value: Any) -> None:
    """Wrap unknown objects in the table ``value``, which holds modules or criterions (``kind``)."""
    cls = _unknown_classes[kind]
    for item in contents(value):
        if isinstance(item, t7.TorchObject) and not isinstance(item, cls):
            item.__class__ = cls
            # One that this place lies in itself has no fields yet; it will be given them.
            item.t7_restore(item.fields or {}, item.version)


def wrap_unknown_fields(fields: Mapping[Any, Any]) -> None:
    """Call ``wrap_unknown`` for all fields of a module or criterion that hold such tables."""
    for kind, names in _HOLDERS.items():
        for name in names:
            if name in fields:
                wrap_unknown(kind, fields[name])
