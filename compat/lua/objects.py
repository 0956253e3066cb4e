"""Objects of Python classes in Lua: fields, methods, results, and classes that Lua derives."""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import operator
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from compat import errands, moves
from compat.checks import wrong_type
from compat.lua.gpu_types import gpu_of, tell_types
from compat.lua.runtime import Runtime
from compat.lua.values import LuaFunction, handle
from compat.nn.checks.error_place import blame
from compat.nn.containers.basic import Sequential
from compat.nn.core.convertible import Convertible
from compat.nn.core.direct import DirectTape
from compat.nn.core.module import Module
from compat.nn.core.node import Node
from compat.nn.core.tape import Tape
from compat.nn.criterions.base import Criterion
from compat.nn.graph.gmodule import gModule
from compat.nn.recurrent.sequence_criterions import SequencerCriterion
from compat.optim.support.recomputed import Recomputed
from compat.t7.base.types import Key, Storage, TorchObject
from compat.t7.objects.registry import find_class, provide
from compat.tensor_tables import tensors
from compat.tensor_types import default_type
from compat.torch_internals import foreach_copy_, storage_identity

# Methods of Lua's classes that Python calls by another name.
_PYTHON_NAMES = {
    "__init": "__init__",
    "__tostring__": "__repr__",
    "__call__": "__call__",
    "__unm__": "__neg__",
    "__sub__": "__sub__",
    "lambda": "lambda_",
}
_LUA_NAMES = {"lambda_": "lambda"}
_GRAPH_FIELDS = ("fg", "bg", "innode", "outnode", "backwardnodes")
_UNSET_IN_LUA = ("train", "shared", "recordable", "repeatable", "keep_results")
_RESULTS = ("output", "gradInput")
_OWN_METHODS = ("updateOutput", "updateGradInput", "accGradParameters", "backward")
_MISSING = object()
# So many labels are counted faster in Python.
_FEW = 256
# Methods that Lua gets in another form: what they are while no function of Lua stands for them.
_PLAIN: dict[tuple[type, str], Callable[..., Any]] = {
    (cls, name): getattr(cls, name)
    for cls, names in {
        Module: (
            *("forward", "updateOutput", "backward", "updateGradInput", "accGradParameters"),
            *("accUpdateGradParameters", "getParameters", "share", "clone"),
        ),
        Criterion: ("updateOutput", "forward", "backward", "updateGradInput"),
    }.items()
    for name in names
}


# Torch7's `clone`.
_CLONE = """
local file = torch.MemoryFile('rw'):binary()
file:writeObject((...))
file:seek(1)
local new = file:readObject()
file:close()
return new
"""


class LuaMethod:
    """A method of a class that is a function of Lua."""

    def __init__(self, function: LuaFunction) -> None:
        self.function = function

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        return self if owner is None else BoundLuaMethod(self.function, owner)

    def __call__(self, *args: Any) -> Any:
        tell_types(*args)
        return self.function(*args)


class BoundLuaMethod:
    """A function of Lua in the place of a method of one object; copied, it is one of the copy."""

    def __init__(self, function: LuaFunction, owner: Any) -> None:
        self.function, self.owner = function, owner

    def __call__(self, *args: Any) -> Any:
        tell_types(self.owner, *args)
        return self.function(self.owner, *args)

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundLuaMethod:
        return BoundLuaMethod(self.function, copy.deepcopy(self.owner, memo))


class Buffers:
    """Results that are one tensor each, which the next pass overwrites, as in Torch7.

    The tensor that was given to Lua first stays the result: what later passes compute is copied
    into it, also where somebody holds a view of it. Without ``overwrites`` each pass gives new
    ones.
    """

    overwrites = True

    def __init__(self) -> None:
        self._held: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()

    def keep(self, owner: Any, name: str, value: Any, given: Sequence[Tensor] = ()) -> Any:
        """Put ``value``, a new result, into the buffer ``name`` of ``owner``, and return that."""
        if name in getattr(owner, "makes_anew", ()):
            return value
        tape = getattr(owner, "latest_tape", None)
        if self.overwrites and self._refills(owner, name, value, given, tape):
            return self._held[owner][name][0]
        remembered = tape is not None and tape.remembers_calls()
        holder = owner.holder(name) if isinstance(owner, Module) else owner
        if holder is not owner:
            # The buffer of a step.
            owner, name = holder, f"{name} of {type(owner).__name__}"
        held = self._held.get(owner)
        if held is None:
            held = self._held[owner] = {}
        of_type = getattr(owner, "_type", None)
        before, lent, type_before = held.get(name, (None, frozenset(), of_type))
        if value is before:
            return value
        if of_type != type_before or not self.overwrites:
            before = None
        sets = getattr(owner, "sets_results", False)
        filling = _Filling(list(given), lent, remembered, sets)
        result = filling.overwritten(before, value)
        held[name] = result, frozenset(filling.lent), of_type
        return result

    def _refills(
        self, owner: Any, name: str, value: Any, given: Sequence[Tensor], tape: Any
    ) -> bool:
        """Put ``value`` into what is there, where it is plain that it has memory of its own."""
        if isinstance(tape, DirectTape):
            apart = tape.results_are_fresh(owner.latest_record) and owner.holder(name) is owner
        else:
            plain = isinstance(owner, Criterion) and type(value) is Tensor and value.dim() > 0
            apart = plain and value.is_contiguous() and not _shares_memory(value, given)
        if not apart:
            return False
        held = self._held.get(owner)
        found = None if held is None else held.get(name)
        return found is not None and _refilled(found, getattr(owner, "_type", None), value, given)

    def holds(self, owner: Any, name: str) -> bool:
        """Whether there is such a buffer."""
        return name in self._held.get(owner, {})

    def hold(self, owner: Any, name: str, value: Any) -> None:
        """The result is ``value``, whose tensors are buffers already."""
        held = self._held.setdefault(owner, {})
        held[name] = value, frozenset(), getattr(owner, "_type", None)

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """The result is set by hand: the next pass writes into these tensors."""
        if isinstance(value, (Tensor, list)):
            self.hold(owner, name, value)
        else:
            self._held.get(owner, {}).pop(name, None)


def _refilled(held: Any, of_type: str | None, value: Any, given: Sequence[Tensor]) -> bool:
    """Whether a buffer holds now what is in ``value``, tensors with memory of their own."""
    result, lent, type_before = held
    if isinstance(value, Tensor):
        buffers, values = [result], [value]
    elif isinstance(result, list) and len(result) == len(value):
        buffers, values = result, value
    else:
        return False
    if lent or type_before != of_type:
        return False
    for before, new in zip(buffers, values, strict=True):
        if (
            not isinstance(before, Tensor)
            or not isinstance(new, Tensor)
            or before.shape != new.shape
            or before.dtype != new.dtype
            or before.device != new.device
        ):
            return False
        for tensor in given:
            if before is tensor:
                return False
    foreach_copy_([before.data for before in buffers], values)
    return True


def _shares_memory(tensor: Tensor, others: Sequence[Tensor]) -> bool:
    place = storage_identity(tensor)
    return any(storage_identity(other) == place for other in others)


def _is_same_place(a: Tensor, b: Tensor) -> bool:
    return (
        a.numel() > 0
        and a.data_ptr() == b.data_ptr()
        and a.shape == b.shape
        and a.stride() == b.stride()
        and a.dtype == b.dtype
    )


class _Filling:
    """One result on its way into its buffer.

    ``given`` are the tensors that it was computed from: one that is the result itself is lent, and
    not a buffer, unless the module ``sets`` one to it. ``before`` are the identities of those that
    were lent last time. ``remembered``: whether modules remember the memory of earlier results,
    which is left alone then.
    """

    def __init__(
        self, given: list[Tensor], before: frozenset[int], remembered: bool, sets: bool
    ) -> None:
        self.given, self.before = given, before
        self.remembered, self.sets = remembered, sets
        self.places = {storage_identity(t) for t in given if not t.is_sparse}
        self.lent: set[int] = set()

    def overwritten(self, before: Any, value: Any) -> Any:
        """What holds ``value`` now: ``before``, where that is possible."""
        if isinstance(value, Tensor):
            return self._tensor(before, value)
        if isinstance(value, (list, tuple)):
            old = before if isinstance(before, list) else []
            new = [
                self.overwritten(old[i] if i < len(old) else None, v) for i, v in enumerate(value)
            ]
            if isinstance(before, list):
                before[:] = new
                return before
            return new
        if isinstance(value, dict):
            known = before if isinstance(before, dict) else {}
            return {key: self.overwritten(known.get(key), item) for key, item in value.items()}
        return value

    def _tensor(self, before: Any, value: Tensor) -> Tensor:
        if value.is_sparse:
            return value.data
        place = storage_identity(value)
        own = place not in self.places
        if not own and not self.sets:
            for t in self.given:
                if value is t or _is_same_place(value, t):
                    self.lent.add(id(t))
                    return t
        value = value.data if value.dim() else value.data.reshape(1)
        if own and not value.is_contiguous():
            value = value.contiguous()
            place = storage_identity(value)
        if (
            not isinstance(before, Tensor)
            or id(before) in self.before
            or before.dtype != value.dtype
            or before.device != value.device
            or any(before is t for t in self.given)
        ):
            return value
        own = own and not self.remembered and not self.sets
        if own and before.shape == value.shape and storage_identity(before) != place:
            before.data.copy_(value)
        else:
            before.data = value
            moves.moved([before])
        return before


class Objects:
    """What one Lua state needs to know of Python's objects and classes."""

    kinds: tuple[type, ...] = (Convertible, Node)

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.buffers = Buffers()
        # Methods of Python's classes that Lua has replaced, as they were.
        self._before: dict[tuple[type, str], Any] = {}
        self._extended: dict[tuple[type, str], Callable[..., Any]] = {
            (Module, "forward"): self.forward,
            (Module, "updateOutput"): self.updateOutput,
            (Module, "backward"): self.backward,
            (Module, "updateGradInput"): self.updateGradInput,
            (Module, "accGradParameters"): self.accGradParameters,
            (Module, "accUpdateGradParameters"): self.accUpdateGradParameters,
            (Module, "getParameters"): self.getParameters,
            (Module, "share"): self.share,
            (Module, "clone"): self.clone,
            (Criterion, "updateOutput"): self.criterion_updateOutput,
            (Criterion, "forward"): self.criterion_forward,
            (Criterion, "backward"): self.criterion_backward,
            (Criterion, "updateGradInput"): self.criterion_updateGradInput,
        }
        assert self._extended.keys() == _PLAIN.keys()

    def functions(self) -> dict[str, Callable[..., Any]]:
        """What Lua calls."""
        names = (
            *("describe", "describe_class", "class_named", "class_names", "derive", "bare"),
            *("construct", "field", "has_field", "set_field", "names"),
            *("method", "set_method", "set_class_value", "arity", "original"),
            *("saved_fields", "restore", "hooks", "written", "reading", "next_request"),
            *("storage", "numbers", "make", "list_assign", "dict_assign"),
            *("changed_contents", "contents"),
        )
        return {name: getattr(self, name) for name in names} | {
            "tell_types": tell_types,
            "gpu_of": gpu_of,
            "nll_updateOutput": self.with_weight,
            "nll_forward": self.nll_forward,
        }

    # Classes --------------------------------------------------------------------------------------

    def describe(self, owner: Any) -> tuple[int, int, Any, Any]:
        """Identity of an object, that of its class, the class, and the methods of its own."""
        cls = type(owner)
        own = [key for key, value in owner.__dict__.items() if isinstance(value, BoundLuaMethod)]
        names = self.runtime.lua.table_from(own) if own else None
        return id(owner), id(cls), cls, names

    def has_field(self, owner: Any, key: str) -> bool:
        """Whether an object has a field or method of its own of that name."""
        return key in owner.__dict__ or key in _RESULTS

    def describe_class(self, cls: type) -> tuple[int, str, Any, float]:
        """Identity, name and parent of a class, and the version that files tell."""
        parent = next((c for c in cls.__mro__[1:] if _is_public(c)), None)
        entry = find_class(cls)
        return id(cls), _typename(cls), parent, 1 if entry is None else entry.version

    def class_named(self, typename: str) -> Any:
        """The class of a Torch7 name."""
        found = [entry.cls for entry in provide(typename) if entry.cls is not None]
        return found[0] if found else None

    def class_names(self, module: str) -> Any:
        """The names of the classes of a Python module, and the classes."""
        import importlib

        place = importlib.import_module(module)
        found = {
            name: value
            for name in vars(place)
            if isinstance(value := getattr(place, name), type) and _is_public(value)
        }
        self.runtime.instance_kinds = tuple(
            dict.fromkeys((*self.runtime.instance_kinds, *found.values()))
        )
        self._drop_covered()
        return (
            self.runtime.lua.table_from(list(found)),
            self.runtime.lua.table_from(list(found.values())),
            len(found),
        )

    def _drop_covered(self) -> None:
        kinds = self.runtime.instance_kinds
        self.runtime.instance_kinds = tuple(
            kind
            for kind in kinds
            if not any(kind is not other and issubclass(kind, other) for other in kinds)
        )

    def derive(self, typename: str, parent: type) -> type:
        """A class for one that Lua derives."""
        keywords = {"typename": typename} if issubclass(parent, Convertible) else {}
        return types.new_class(
            typename.rpartition(".")[2],
            (parent,),
            keywords,
            lambda body: body.update(__module__="lua", takes=None),
        )

    def set_method(self, cls: type, key: str, function: Any) -> None:
        """Give a class a method; None takes it away. ``restore_classes`` undoes it."""
        name = key if key == "__init" else _PYTHON_NAMES.get(key, key)
        own = vars(cls)
        if cls.__module__ != "lua":
            self._before.setdefault((cls, name), own.get(name, _MISSING))
        function = self.original(function)
        if function is None or getattr(cls.__mro__[1], name, None) is function:
            if name in own:
                delattr(cls, name)
        elif own.get(name) is not function:
            is_lua = isinstance(function, LuaFunction)
            setattr(cls, name, LuaMethod(function) if is_lua else function)
            own_code = all(
                isinstance(vars(cls).get(method), LuaMethod)
                for method in ("updateOutput", "updateGradInput")
            )
            if own_code and cls.__module__ == "lua" and issubclass(cls, Module):
                # It decides what nil there means: some set it in __init.
                cls.optional_gradient = False
        _find_recordable(cls, name)

    def restore_classes(self) -> None:
        """Give the classes of Python the methods back that Lua replaced."""
        for (cls, name), value in self._before.items():
            if value is not _MISSING:
                setattr(cls, name, value)
            elif name in vars(cls):
                delattr(cls, name)
            _find_recordable(cls, name)
        self._before.clear()

    def set_class_value(self, cls: type, key: str, value: Any) -> None:
        """Set a field that Python's class has, such as a switch for new objects."""
        known = inspect.getattr_static(cls, key, None) if isinstance(key, str) else None
        if isinstance(known, (bool, int, float, str)) and isinstance(value, type(known)):
            setattr(cls, key, value)

    def original(self, function: Any) -> Any:
        """The method that Lua knows in the form of one of this class's."""
        for (cls, name), extended in self._extended.items():
            if function == extended:
                return _PLAIN[cls, name]
        return function

    def method(self, cls: type, key: str) -> tuple[str, Any, int] | None:
        """What a class has under that name: how, the function, and the class that it is of."""
        name = _PYTHON_NAMES.get(key, key)
        for base in cls.__mro__:
            if key in vars(base):
                return self._function(base, key)
            if name in vars(base):
                if base is object and name != "__repr__":
                    return None
                return self._function(base, name)
        return None

    def _function(self, base: type, name: str) -> tuple[str, Any, int] | None:
        value = vars(base)[name]
        if isinstance(value, LuaMethod):
            return "lua", handle(value.function, self.runtime), id(base)
        if isinstance(value, classmethod):
            return None
        if isinstance(value, staticmethod):
            return "python", value.__func__, id(base)
        if isinstance(value, types.FunctionType):
            known = self._extended.get((base, name))
            return "python", known or value, id(base)
        if name == "__repr__":
            return "python", str, id(base)
        return None

    # Objects --------------------------------------------------------------------------------------

    def arity(self, function: Any) -> tuple[int | None, bool]:
        """How many arguments a function takes at most (None: any), and whether it gives nothing."""
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return None, False
        silent = signature.return_annotation in (None, "None")
        parameters = signature.parameters.values()
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return None, silent
        most = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        return most, silent

    def bare(self, cls: type) -> Any:
        """An object of a class, before its ``__init``."""
        new: Any = cls.__new__
        owner = new(cls)
        if isinstance(owner, Convertible):
            vars(owner)["_type"] = self.runtime.default_gpu_type or default_type()
        return owner

    def construct(self, cls: type, *args: Any) -> Any:
        """An object of a Python class."""
        if _takes_modules(cls):
            args = ()
        try:
            owner = cls(*_with_truth(cls, args))
        except Exception as error:
            blame(error, cls, "__init", *args)
            raise
        gpu_type = self.runtime.default_gpu_type
        return owner.type(gpu_type) if gpu_type and isinstance(owner, Convertible) else owner

    def field(self, owner: Any, key: str) -> tuple[str, Any] | None:
        """What an object has under a name: ``value``, ``lua`` or ``python`` for methods."""
        found = self._field(owner, key)
        if found is not None and found[0] == "value":
            tell_types(owner, found[1])
        return found

    def _field(self, owner: Any, key: str) -> tuple[str, Any] | None:
        name = _PYTHON_NAMES.get(key, key)
        fields = owner.__dict__
        if key in _RESULTS and isinstance(owner, Convertible):
            return "value", self.result(owner, key)
        if name in fields:
            value = fields[name]
            if isinstance(value, BoundLuaMethod):
                return "own", handle(value.function, self.runtime)
            if isinstance(value, types.MethodType):
                return "python own", value.__func__
            if name in getattr(owner, "size_fields", ()) and isinstance(value, list):
                return "value", Storage(value, "torch.LongStorage")
            return "value", value
        if self.method(type(owner), key) is not None or key.startswith("__"):
            return None
        if name in _UNSET_IN_LUA:
            return None
        value = getattr(owner, name, None)
        if name == "impl":
            # What runs the replicas of a DataParallelTable is what Torch7 has under this name.
            value = getattr(value, "dispatcher", value)
        if value is None and isinstance(owner, gModule) and key in _GRAPH_FIELDS:
            value = owner.t7_fields()[key]
        if value is None or isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            return None
        return "value", value

    def set_field(self, owner: Any, key: str, value: Any) -> None:
        """Set a field, or a method of this object; None takes it away."""
        name = _PYTHON_NAMES.get(key, key)
        if name in _RESULTS and isinstance(owner, Convertible):
            self.buffers.replace(owner, name, value)
        if name in getattr(owner, "size_fields", ()) and isinstance(value, Storage):
            value = [int(n) for n in value]
        if value is None:
            if name in owner.__dict__ and name not in getattr(owner, "parameter_names", ()):
                delattr(owner, name)
            elif hasattr(owner, name) and not callable(getattr(type(owner), name, None)):
                setattr(owner, name, None)
                if name == "gradInput" and isinstance(owner, Module):
                    vars(owner)["_gradInput"] = None  # and not an empty tensor
            return
        if isinstance(value, LuaFunction):
            value = BoundLuaMethod(value, owner)
        elif (callable(value) and self.original(value) is not value) or isinstance(
            value, types.FunctionType
        ):
            value = types.MethodType(self.original(value), owner)
        setattr(owner, name, value)

    def names(self, owner: Any) -> Any:
        """The names of the fields of an object."""
        if isinstance(owner, (Module, Criterion)):
            hidden = getattr(owner, "_python_fields", owner.transient_fields)
            found = [
                _LUA_NAMES.get(name, name)
                for name, value in owner.__dict__.items()
                if name not in hidden and not name.startswith("_pending_") and value is not None
            ]
            for name in getattr(owner, "parameter_names", ()):
                parameter = owner.__dict__.get(name)
                if parameter is not None and parameter.grad is not None:
                    found.append("grad" + name[0].upper() + name[1:])
            found += [name for name in (*_RESULTS, "_type") if name not in found]
        else:
            found = [name for name, value in owner.__dict__.items() if value is not None]
        return self.runtime.lua.table_from(found)

    # Results --------------------------------------------------------------------------------------

    def result(self, owner: Any, name: str) -> Any:
        """``output`` or ``gradInput``."""
        value = getattr(owner, name)
        record = getattr(owner, "latest_record", None)
        if (
            isinstance(value, (int, float))
            or value is None
            or (record is None and isinstance(owner, Module))
        ):
            return value
        tape = getattr(owner, "latest_tape", None)
        root = tape.root if tape is not None else None
        if (
            name == "output"
            and root is not None
            and record is not None
            and root is not record
            and root.output is record.output
        ):
            return value if root.plain_output is None else root.plain_output
        given = list(tensors(_leaves(owner))) if name == "output" else []
        kept = self.buffers.keep(owner, name, value, given)
        if kept is not value:
            self._put(owner, name, kept)
        return kept

    def _put(self, owner: Any, name: str, value: Any) -> None:
        if isinstance(owner, Module):
            record, tape = owner.latest_record, owner.latest_tape
            if record is not None:
                if name == "output":
                    record.plain_output = value
                    if isinstance(tape, DirectTape) and tape.results_are_fresh(record):
                        tape.replace_output(value)
                else:
                    record.grad_input = value
                return
        if isinstance(value, Tensor) or value is not None:
            setattr(owner, name, value)

    def _kept(self, owner: Any, name: str, value: Any, *given: Any) -> Any:
        if value is None or isinstance(value, (int, float)) or not owner.recordable:
            return value
        kept = self.buffers.keep(owner, name, value, [t for item in given for t in tensors(item)])
        if kept is not value:
            self._put(owner, name, kept)
        return kept

    def forward(self, module: Module, input: Any = None) -> Any:
        if _is_bare(module, Module):
            return module.output
        return self._kept(module, "output", _PLAIN[Module, "forward"](module, input), input)

    def updateOutput(self, module: Module, input: Any = None) -> Any:
        if _is_bare(module, Module):
            return module.output
        return self._kept_here(
            module, "output", _PLAIN[Module, "updateOutput"](module, input), input
        )

    def backward(
        self, module: Module, input: Any = None, gradOutput: Any = None, scale: Any = 1
    ) -> Any:
        input, gradOutput = self._ready(module, input, gradOutput)
        result = _PLAIN[Module, "backward"](module, input, gradOutput, scale)
        return self._kept(module, "gradInput", result, gradOutput)

    def updateGradInput(self, module: Module, input: Any = None, gradOutput: Any = None) -> Any:
        input, gradOutput = self._ready(module, input, gradOutput)
        return self._kept_here(
            module,
            "gradInput",
            _PLAIN[Module, "updateGradInput"](module, input, gradOutput),
            gradOutput,
        )

    def accGradParameters(
        self, module: Module, input: Any = None, gradOutput: Any = None, scale: Any = 1
    ) -> None:
        input, gradOutput = self._ready(module, input, gradOutput)
        _PLAIN[Module, "accGradParameters"](module, input, gradOutput, scale)

    def accUpdateGradParameters(
        self, module: Module, input: Any = None, gradOutput: Any = None, lr: Any = None
    ) -> None:
        input, gradOutput = self._ready(module, input, gradOutput)
        _plain(module, "accUpdateGradParameters")(module, input, gradOutput, lr)

    def _ready(self, module: Module, input: Any, gradOutput: Any) -> tuple[Any, Any]:
        """Be ready to go back; the input and gradOutput for it.

        In Torch7 tables of gradients may be longer than those of the output, but for a gModule.
        """
        input = self._be_ready(module, input, gradOutput)
        record = module.latest_record
        whole = isinstance(gradOutput, Tensor) or isinstance(module, gModule)
        if whole or record is None or record.output is None:
            return input, gradOutput
        return input, _no_longer(gradOutput, record.output)

    @staticmethod
    def _be_ready(module: Module, input: Any, gradOutput: Any) -> Any:
        """Go forward first where the latest input was another one, which Torch7 does not mind.

        Returns the input to go back with.
        """
        if not module.recordable and "updateOutput" in (*vars(type(module)), *vars(module)):
            return input
        if isinstance(module, Sequential) and not module.modules:
            error: Exception = ValueError("there is no module to go back through")
            blame(error, module, "updateGradInput", input, gradOutput)
            raise error
        tape = module.latest_tape
        if tape is None or not tape.recording or tape.root is None:
            if input is not None:
                _PLAIN[Module, "updateOutput"](module, input)
        elif (
            gradOutput is None
            and isinstance(module.output, Tensor)
            and not tape.sources
            and all(getattr(m, "needs_gradOutput", True) for m in module.listModules())
        ):
            error = wrong_type(None, "gradOutput", "a tensor")
            blame(error, module, "updateGradInput", input, None)
            raise error
        elif (
            tape.root is module.latest_record
            and input is not tape.source
            and not (
                # Not in the place of one that was expanded: there is no room for it.
                not any(map(_is_expanded, tensors(tape.leaves)))
                # A gModule goes back with what its nodes were given.
                and tape.takes(input, read=not isinstance(module, gModule))
            )
        ):
            given, known = (
                [(t.shape, _is_expanded(t)) for t in tensors(x)] for x in (input, tape.source)
            )
            if given != known:
                if isinstance(module, gModule):
                    return tape.source
                _PLAIN[Module, "updateOutput"](module, input)
        if module.latest_tape is not None and not module.latest_tape.spent:
            for record in module.latest_tape.records:
                _take_back(record.output, record.plain_output)
        return input

    def _kept_here(self, owner: Any, name: str, value: Any, *given: Any) -> Any:
        if value is None or isinstance(value, (int, float)):
            return value
        kept = self.buffers.keep(owner, name, value, [t for item in given for t in tensors(item)])
        if kept is not value:
            self._put(owner, name, kept)
        return kept

    def getParameters(self, module: Module) -> Any:
        """``getParameters``: each call makes new flat tensors, and leaves earlier ones behind."""
        plain = _plain(module, "getParameters")
        if plain is _PLAIN[Module, "getParameters"]:
            for part in module.parameters():
                _leave(part)
        result = plain(module)
        self.refresh(module)
        return result

    def share(self, module: Module, mlp: Any, *names: str) -> Any:
        """``share``; Lua sees the tensors moved that it holds."""
        result = _plain(module, "share")(module, mlp, *names)
        self.refresh(module)
        return result

    def clone(self, module: Module, *names: str) -> Any:
        """``clone``; as in Torch7 through a file, where classes of Lua say what goes into one."""
        if not any(_has_own_files(type(part)) for part in module.listModules()):
            return _plain(module, "clone")(module, *names)
        new = self.runtime.execute(_CLONE, module)
        return new.share(module, *names) if names else new

    def refresh(self, module: Module) -> None:
        """Have Lua look at the parameters again."""
        moves.moved(t for part in module.parameters() for t in part if t is not None)

    def criterion_updateOutput(
        self, criterion: Criterion, input: Any = None, target: Any = None
    ) -> Any:
        if _is_bare(criterion, Criterion):
            return None
        return _PLAIN[Criterion, "updateOutput"](criterion, input, target)

    def criterion_forward(self, criterion: Criterion, input: Any = None, target: Any = None) -> Any:
        if _is_bare(criterion, Criterion):
            return ()
        return _PLAIN[Criterion, "forward"](criterion, input, target)

    def criterion_backward(
        self, criterion: Criterion, input: Any = None, target: Any = None
    ) -> Any:
        found = _PLAIN[Criterion, "backward"](criterion, input, target)
        return self._kept(criterion, "gradInput", self._keep_steps(criterion, found))

    def criterion_updateGradInput(
        self, criterion: Criterion, input: Any = None, target: Any = None
    ) -> Any:
        found = _PLAIN[Criterion, "updateGradInput"](criterion, input, target)
        return self._kept_here(criterion, "gradInput", self._keep_steps(criterion, found))

    def _keep_steps(self, criterion: Criterion, value: Any) -> Any:
        """The gradients of a sequence: in Torch7 each step's is a buffer of that step's criterion.

        The table around them is a new one each time.
        """
        if not isinstance(criterion, SequencerCriterion):
            return value
        names = [f"gradInput of step {i}" for i in range(len(value))]
        steps = [
            self.buffers.keep(criterion, name, step)
            for name, step in zip(names, value, strict=True)
            if isinstance(value, list) or self.buffers.holds(criterion, name)
        ]
        if not isinstance(value, list):
            return value
        self.buffers.hold(criterion, "gradInput", steps)
        criterion.gradInput = steps
        return steps

    def with_weight(self, criterion: Any, input: Any, target: Any = None) -> tuple[Any, float]:
        """The loss of a ``ClassNLLCriterion`` and the sum of the weights of its targets."""
        loss = Criterion.updateOutput(criterion, input, target)
        weights, ignored = criterion.weights, criterion.ignoreIndex
        labels = target if isinstance(target, Tensor) else torch.tensor([int(target)])
        if weights is None:
            numbers = labels.flatten().tolist() if labels.numel() <= _FEW else None
            skipped = numbers.count(ignored) if numbers else int((labels == ignored).sum())
            return loss, labels.numel() - skipped
        labels = labels.flatten().long()
        return loss, weights[labels[labels != ignored] - 1].sum().item()

    def nll_forward(self, criterion: Any, input: Any, target: Any = None) -> tuple[Any, float]:
        """``forward``, with both results."""
        if type(criterion).updateOutput is not Criterion.updateOutput:
            return Criterion.forward(criterion, input, target)
        return self.with_weight(criterion, input, target)

    # Files ----------------------------------------------------------------------------------------

    def saved_fields(self, owner: Any) -> Any:
        """What a file holds of an object."""
        fields = owner.t7_fields() if hasattr(owner, "t7_fields") else dict(vars(owner))
        return {key: self._saved(value) for key, value in fields.items()}

    def _saved(self, value: Any) -> Any:
        if isinstance(value, BoundLuaMethod):
            return value.function
        if isinstance(value, TorchObject) and value.fields is None:
            # Nothing is known but its class, torch.Timer for one: Lua writes such an object.
            return self.runtime.eval("torch.factory(...)()", value.typename)
        return value

    def hooks(self, owner: Any) -> tuple[bool, bool]:
        """Whether the class has ways of its own to be read from a file, and written."""
        entry = find_class(type(owner))
        return (
            (False, False) if entry is None else (entry.read is not None, entry.write is not None)
        )

    def written(self, owner: Any) -> Any:
        """What such an object writes: kinds, values, how many."""
        entry = find_class(type(owner))
        assert entry is not None and entry.write is not None
        items = list(entry.write(owner))
        table = self.runtime.lua.table_from
        return (
            table([_request(kind)[0] for kind, _ in items]),
            table([value for _, value in items]),
            len(items),
        )

    def reading(self, owner: Any, version: float) -> Any:
        """A reader of such an object, for ``next_request``."""
        entry = find_class(type(owner))
        assert entry is not None and entry.read is not None
        return entry.read(owner, version)

    def next_request(self, reader: Any, value: Any = None, kind: str = "") -> tuple[Any, ...]:
        """What it wants to read next, nothing at the end, for what it wanted last."""
        if kind == "FIELDS" and isinstance(value, list):
            value = dict(enumerate(value, 1))
        try:
            return _request(reader.send(value))
        except StopIteration:
            return (None,)

    def storage(self, flat: Tensor) -> Storage:
        """A storage, given as a flat tensor."""
        return Storage(flat)

    def numbers(self, flat: Tensor) -> list[Any]:
        """What a storage of sizes holds."""
        return list(flat.tolist())

    def restore(self, owner: Any, fields: Any, version: int = 1) -> None:
        """Become what a file says."""
        if isinstance(fields, list):
            fields = dict(enumerate(fields, 1))
        if hasattr(owner, "t7_restore"):
            owner.t7_restore(fields, version)
        else:
            vars(owner).update(fields)

    # Tables ---------------------------------------------------------------------------------------

    def make(self, kind: str) -> tuple[Any, int, Any]:
        """An empty list or dict, its identity, and a copy."""
        new: Any = [] if kind == "list" else {}
        return new, id(new), copy.copy(new)

    def list_assign(self, target: list[Any], *items: Any) -> list[Any]:
        """Fill a list. Returns a copy."""
        target[:] = items
        return list(items)

    def dict_assign(self, target: dict[Any, Any], *items: Any) -> dict[Any, Any]:
        """Fill a dict with keys and values in turn. Returns a copy."""
        target.clear()
        keys = (Key(key) if isinstance(key, (list, dict)) else key for key in items[::2])
        target.update(zip(keys, items[1::2], strict=True))
        return dict(target)

    def contents(self, value: Any) -> tuple[Any, ...]:
        """Keys (None for a list), values, how many, and a copy of a list or dict."""
        return (*self.runtime.items_of(value), copy.copy(value))

    def changed_contents(self, value: Any, known: Any) -> tuple[Any, ...] | None:
        """``contents`` of what holds other things than ``known``, a copy of before.

        A tensor is another one, too, where it has moved since Lua looked.
        """
        if isinstance(value, list):
            same = len(value) == len(known) and all(map(_same, value, known))
            items: Iterable[Any] = value
        else:
            same = value.keys() == known.keys() and all(_same(value[k], known[k]) for k in value)
            items = value.values()
        has_seen = self.runtime.has_seen
        if same and all(has_seen(item) for item in items if type(item) is Tensor):
            return None
        return self.contents(value)


def _plain(module: Module, name: str) -> Callable[..., Any]:
    """The class's method; where functions of Lua stand, the one after them, which they call."""
    found: Callable[..., Any] | None = None
    for base in type(module).__mro__:
        method = vars(base).get(name)
        if isinstance(method, LuaMethod):
            found = None
        elif found is None:
            found = method
    return found or _PLAIN[Module, name]


def _no_longer(gradients: Any, output: Any) -> Any:
    """A table of gradients without what there is no output for."""
    if not (isinstance(gradients, list) and isinstance(output, (list, tuple))):
        return gradients
    fitting = [_no_longer(g, o) for g, o in zip(gradients, output, strict=False)]
    same = len(fitting) == len(gradients) and all(map(operator.is_, fitting, gradients))
    return gradients if same else fitting


def _leave(parameters: list[Tensor]) -> None:
    """Give tensors new memory with the same contents; what shared memory goes on sharing it."""
    copies: dict[int, Tensor] = {}
    for tensor in dict.fromkeys(t for t in parameters if t is not None):
        place = storage_identity(tensor)
        if place not in copies:
            size = tensor.untyped_storage().nbytes() // tensor.element_size()
            copies[place] = tensor.detach().as_strided((size,), (1,), 0).clone()
        tensor.__dict__.pop("_flat", None)
        tensor.data = copies[place].as_strided(
            tensor.shape, tensor.stride(), tensor.storage_offset()
        )


def _has_own_files(cls: type) -> bool:
    """Whether a class of Lua has its own ``write`` or ``read``."""
    return cls.__module__ == "lua" and any(
        isinstance(getattr(cls, name, None), LuaMethod) for name in ("write", "read")
    )


@functools.cache
def _flags(cls: type) -> tuple[bool, ...]:
    """Which arguments of a constructor are true or false."""
    parameters = inspect.signature(cls).parameters.values()
    plain = itertools.takewhile(lambda p: p.kind is p.POSITIONAL_OR_KEYWORD, parameters)
    return tuple(str(p.annotation).partition(" ")[0] == "bool" for p in plain)


@functools.cache
def _takes_modules(cls: type) -> bool:
    """Whether a constructor takes modules, where Torch7's takes nothing, and minds nothing."""
    found = inspect.signature(cls).parameters.get("modules")
    return found is not None and found.kind is found.VAR_POSITIONAL


def _with_truth(cls: type, args: tuple[Any, ...]) -> list[Any]:
    """Arguments of a constructor as Lua has them: whatever is not false or nil is true."""
    flags = _flags(cls)
    return [
        True if i < len(flags) and flags[i] and a is not None and a is not False else a
        for i, a in enumerate(args)
    ]


def _is_bare(thing: Any, base: Any) -> bool:
    """Whether nobody has said what it computes: then, as in Torch7, nothing."""
    return type(thing).compute is base.compute and bool(thing.recordable)


def _request(request: Any) -> tuple[str, int]:
    return request.name.partition("_(")[0], getattr(request, "count", 0)


def _take_back(output: Any, buffer: Any) -> None:
    """Have backward see what a script has made of a result, which has a memory of its own."""
    if output is None or buffer is None or buffer is output:
        return
    for inner, outer in zip(tensors(output), tensors(buffer), strict=False):
        if (
            inner.shape == outer.shape
            and inner.dtype == outer.dtype
            and inner.device == outer.device
            and inner.data_ptr() != outer.data_ptr()
            and not _is_expanded(inner)
        ):
            inner.data.copy_(outer)


def _is_expanded(tensor: Tensor) -> bool:
    if tensor.is_contiguous():
        return False
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return any(size > 1 and stride == 0 for size, stride in pairs)


def _same(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, (int, float, str)) and type(a) is type(b) and a == b)


def _leaves(owner: Any) -> Any:
    record = getattr(owner, "latest_record", None)
    return None if record is None else record.input


def _is_public(cls: type) -> bool:
    return not cls.__name__.startswith("_") and find_class(cls) is not None


def _typename(cls: type) -> str:
    entry = find_class(cls)
    return getattr(cls, "typename", None) or (entry.typename if entry else "")


def _find_recordable(cls: Any, name: str) -> None:
    """Find out anew how a class computes, and those that inherit this method from it."""
    if issubclass(cls, Module):
        if name in _OWN_METHODS:
            cls.recordable = cls.records()
    elif issubclass(cls, Criterion) and name == "updateOutput":
        cls.recordable = cls.updateOutput is Criterion.updateOutput
    for derived in cls.__subclasses__():
        if name not in vars(derived):
            _find_recordable(derived, name)


def install(runtime: Runtime) -> Any:
    """Prepare a runtime for nets. Returns what Lua calls."""
    objects = Objects(runtime)
    runtime.instance_kinds = objects.kinds
    runtime.at_end.append(objects.restore_classes)
    # What an optimizer computes when somebody reads it: once is enough for what Lua may read.
    runtime.represent(Recomputed, Tensor.detach)
    errands.accept()
    runtime.home = threading.get_ident()
    Module.keep_results = Tape.takes_changed_input = True
    return runtime.lua.table_from(objects.functions())
