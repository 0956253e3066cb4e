"""What Lua does and Python does not: what drafts call where types alone do not tell.

A function of Lua with several results is one of Python's that gives a tuple; ``values``, ``first``
and ``adjust`` take it apart. Tables are lists where their keys are 1…n, else dicts; ``index`` and
``put`` take Lua's keys of both, of tensors, objects and strings.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import math
import os
import re
import sys
import tempfile
import time as _time
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import torch as _torch

from compat import t7
from compat import torch as _torch7
from compat.lua_tables import List
from compat.port import coroutine, patterns, tensor_text
from compat.port.lapp import lapp
from compat.port.runtime import Storage, call_method, package, start, torch
from compat.t7.objects import registry
from compat.tensor_types import tensor_type
from compat.threads import Threads

__all__ = ["Storage", "coroutine", "lapp", "package", "start", "torch"]

_tuple, _open, _type, _range = tuple, builtins.open, builtins.type, builtins.range


class Error(Exception):
    """An error with a value that may be no text."""

    def __init__(self, value: Any = None) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return tostring(self.value)


class Object:
    """An object of a class of the script: a field that was not set is None, as in Lua."""

    typename: str

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __init_subclass__(cls, typename: str | None = None) -> None:
        if typename is not None:
            cls.typename = typename
            _classes[typename] = cls
            t7.register(typename, cls)

    def t7_fields(self) -> dict[str, Any]:
        """What is saved: all fields but functions, which a file of Python's cannot have."""
        left_out = [name for name, value in vars(self).items() if callable(value)]
        if left_out:
            name = getattr(self, "typename", "object")
            warnings.warn(f"{name}: {', '.join(left_out)}: functions are not saved", stacklevel=2)
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return None


_classes: dict[str, type] = {}


# Several values -----------------------------------------------------------------------------------


def values(result: Any) -> tuple[Any, ...]:
    """All results of a call."""
    return (
        result if isinstance(result, _tuple) and not isinstance(result, _torch.Size) else (result,)
    )


def first(result: Any) -> Any:
    """The first result of a call; None if there is none."""
    if isinstance(result, _tuple) and not isinstance(result, _torch.Size):
        return result[0] if result else None
    return result


def adjust(result: Any, count: int) -> tuple[Any, ...]:
    """So many results of a call: what is missing is None."""
    found = values(result)
    return (*found[:count], *[None] * (count - len(found)))


def results(found: Iterable[Any]) -> Any:
    """Values as a function gives them: one by itself, others as a tuple."""
    made = _tuple(found)
    return made[0] if len(made) == 1 else made


def select(n: int | str, *args: Any) -> Any:
    """Lua's ``select``."""
    if n == "#":
        return len(args)
    n = int(n)
    return results(args[n - 1 :] if n > 0 else args[n:])


def unpack(t: Any, first: int = 1, last: int | None = None) -> Any:
    """The entries of a list."""
    last = length(t) if last is None else int(last)
    return results(index(t, i) for i in _range(int(first), last + 1))


def numbered(start: int, *found: Any) -> dict[int, Any]:
    """Values under the numbers from ``start`` on, less those that are None."""
    return {i: v for i, v in enumerate(found, start) if v is not None}


def counted(result: tuple[_torch.Tensor, _torch.Tensor]) -> tuple[_torch.Tensor, _torch.Tensor]:
    """Values and indices as Torch7 gives them: counted from 1."""
    return result[0], result[1] + 1


# Truth --------------------------------------------------------------------------------------------


def truth(value: Any) -> bool:
    """Whether a condition holds: of all values only nil and false do not."""
    return value is not None and value is not False


def either(value: Any, other: Any) -> Any:
    """``value or other``; ``other`` may be a function that computes it."""
    return value if truth(value) else _computed(other)


def both(value: Any, other: Any) -> Any:
    """``value and other``; ``other`` may be a function that computes it."""
    return _computed(other) if truth(value) else value


def _computed(value: Any) -> Any:
    is_lambda = getattr(value, "__name__", "") == "<lambda>" and value.__code__.co_argcount == 0
    return value() if is_lambda else value


def equal(a: Any, b: Any) -> bool:
    """``a == b``: numbers and strings by value, all else by identity."""
    if a is b:
        return True
    if isinstance(a, bool) or isinstance(b, bool):
        return False
    plain = (int, float, str, bytes)
    if isinstance(a, plain) and isinstance(b, plain):
        return a == b
    if isinstance(a, _torch.Size) and isinstance(b, _torch.Size):
        return False
    if isinstance(a, Storage) and isinstance(b, Storage):
        return a.tensor.untyped_storage().data_ptr() == b.tensor.untyped_storage().data_ptr()
    own = _metamethod(a, "__eq")
    if own is not None and own is _metamethod(b, "__eq"):
        return truth(first(own(a, b)))
    if (
        "__eq__" in vars(_type(a))
        and _type(a) is _type(b)
        and not isinstance(a, (list, dict, _torch.Tensor))
    ):
        return bool(a == b)
    return False


# Tables -------------------------------------------------------------------------------------------


class Table(dict[Any, Any]):
    """A table with a metatable."""

    metatable: Any = None
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __call__(self, *args: Any) -> Any:
        return _metamethod(self, "__call")(self, *args)

    def __str__(self) -> str:
        return tostring(self)


def setmetatable(t: Any, metatable: Any) -> Any:
    """A table with a metatable; ``t`` itself where it can have one."""
    if not isinstance(t, Table):
        raise TypeError(
            f"a {_type(t).__name__} has no metatable; make it a lua.Table where it is made"
        )
    t.metatable = metatable
    return t


def instance(fields: dict[Any, Any], typename: str) -> Any:
    """``torch.setmetatable(fields, typename)``: the object that a table of its fields becomes."""
    if typename in _classes:
        own: Any = object.__new__(_classes[typename])
        own.__dict__.update(fields)
        return own
    entry = registry.chosen(registry.provide(typename), fields)
    if entry is None:
        raise Error(f"unknown class {typename}")
    made = entry.new(typename, entry.version)
    given = {name: _counted(value) for name, value in fields.items()}
    if hasattr(made, "t7_restore"):
        made.t7_restore(given, entry.version)
    else:
        made.__dict__.update(given)
    return made


def _counted(value: Any) -> Any:
    """Tables with the keys 1…n as lists; tensors of the same memory, which an object has alone."""
    if isinstance(value, _torch.Tensor):
        return value.detach()
    if not isinstance(value, dict):
        return value
    if length(value) == len(value):
        return [_counted(value[i]) for i in _range(1, len(value) + 1)]
    return {key: _counted(entry) for key, entry in value.items()}


def getmetatable(t: Any) -> Any:
    """The metatable of a table; the class of an object."""
    if isinstance(t, Table):
        return t.metatable
    return _type(t) if isinstance(t, Object) else None


def _metamethod(t: Any, event: str) -> Any:
    return rawget(t.metatable, event) if isinstance(t, Table) and t.metatable is not None else None


def rawget(t: Any, key: Any) -> Any:
    """An entry, without asking the metatable."""
    if isinstance(t, dict):
        return t.get(key)
    if isinstance(t, list):
        place = _place(t, key)
        return t[place] if place is not None and place < len(t) else None
    return vars(t).get(key)


def rawset(t: Any, key: Any, value: Any) -> Any:
    """Set an entry, without asking the metatable."""
    if isinstance(t, dict):
        if value is None:
            t.pop(key, None)
        else:
            t[key] = value
    else:
        put(t, key, value)
    return t


def _place(t: list[Any], key: Any) -> int | None:
    """The place in a list that a key means, from 0."""
    if isinstance(key, bool) or not isinstance(key, (int, float)) or key != int(key) or key < 1:
        return None
    return int(key) - 1


def index(t: Any, key: Any) -> Any:
    """``t[key]``, with Lua's key; None where there is nothing."""
    if isinstance(t, Table):
        found = t.get(key)
        if found is None and t.metatable is not None:
            handler = rawget(t.metatable, "__index")
            if handler is not None:
                return (
                    first(handler(t, key))
                    if callable(handler) and not isinstance(handler, Table)
                    else index(handler, key)
                )
        return found
    if isinstance(t, List):
        return t.get(key)
    if isinstance(t, dict):
        return t.get(key)
    if isinstance(t, list):
        place = _place(t, key)
        return t[place] if place is not None and place < len(t) else None
    if isinstance(t, _torch.Size):
        return t[int(key) - 1]
    if isinstance(t, Storage):
        return t.tensor[int(key) - 1].item()
    if isinstance(t, _torch.Tensor):
        return _element(t, key)
    if isinstance(t, str):
        return lambda owner, *args: method(owner, key, *args)
    if _is_of_lua(t):
        return t[key]
    if isinstance(t, Pointer):
        return t[key]
    if t is None:
        raise TypeError("attempt to index a nil value")
    if isinstance(key, str):
        return getattr(t, key, None)
    if hasattr(t, "get"):
        return t.get(int(key))
    return t[key]


def _is_of_lua(value: Any) -> bool:
    """Whether it is a table of the Lua runtime's: there is none before that runs."""
    values = sys.modules.get("compat.lua.values")
    return values is not None and isinstance(value, values.LuaTable)


def _selected(key: Any) -> Any:
    """An index of a tensor in Python, for one of Lua."""
    if isinstance(key, (int, float)):
        return int(key) - 1 if key > 0 else int(key)
    if isinstance(key, _torch.Tensor):
        return key.bool()
    if isinstance(key, _torch.Size):
        return _tuple(i - 1 for i in key)
    parts = []
    for part in key.values() if isinstance(key, dict) else key:
        if isinstance(part, (int, float)):
            parts.append(_selected(part))
            continue
        ends = list(part)
        if not ends:
            parts.append(slice(None))
            continue
        first, last = int(ends[0]), int(ends[-1])
        begin = first - 1 if first > 0 else first
        end = None if last == -1 else last if last > 0 else last + 1
        parts.append(slice(begin, end))
    return _tuple(parts)


def _element(x: _torch.Tensor, key: Any) -> Any:
    if isinstance(key, str):
        return maker(x) if key == "new" else lambda owner, *args: method(owner, key, *args)
    found = x[_selected(key)]
    return found.item() if found.dim() == 0 else found


def pointer(value: Any) -> int:
    """``torch.pointer``: a number that no other object has."""
    if isinstance(value, Storage):
        return value.tensor.untyped_storage().data_ptr()
    return id(value)


def set_to(
    x: _torch.Tensor,
    storage: Storage,
    offset: int = 1,
    size: Iterable[int] | None = None,
    stride: Iterable[int] | None = None,
) -> _torch.Tensor:
    """``x:set(storage, …)``: make a tensor a view of a storage; ``offset`` counts from 1."""
    whole = storage.tensor
    sizes = list(size) if size is not None else [whole.numel() - int(offset) + 1]
    strides = list(stride) if stride is not None else [1]
    with _torch.no_grad():
        return x.set_(whole.untyped_storage(), int(offset) - 1, sizes, strides)


def maker(x: _torch.Tensor) -> Callable[..., _torch.Tensor]:
    """``x.new``: what makes tensors of the type of ``x``."""

    def new(*given: Any) -> _torch.Tensor:
        if not given:
            return x.new_empty(0)
        if all(isinstance(n, (int, float)) for n in given):
            return x.new_empty([int(n) for n in given])
        if isinstance(given[0], (list, _torch.Size)):
            is_size = isinstance(given[0], _torch.Size)
            return x.new_empty(given[0]) if is_size else x.new_tensor(given[0])
        found: _torch.Tensor = call_method(x, "new", *given)
        return found

    return new


class Pointer:
    """``x:data()``: the elements of a tensor from one on, counted from 0; ``pointer + n``."""

    def __init__(self, x: _torch.Tensor, offset: int = 0) -> None:
        self.tensor, self._offset = Storage(x).tensor[x.storage_offset() :], offset

    def __add__(self, count: float) -> Pointer:
        made = Pointer(self.tensor, 0)
        made.tensor, made._offset = self.tensor, self._offset + int(count)
        return made

    def __sub__(self, count: float) -> Pointer:
        return self + -count

    def __getitem__(self, place: float) -> Any:
        return self.tensor[self._offset + int(place)].item()

    def __setitem__(self, place: float, value: float) -> None:
        self.tensor[self._offset + int(place)] = value

    def rest(self) -> _torch.Tensor:
        """All from here on."""
        return self.tensor[self._offset :]


def copy_memory(to: Pointer, source: Pointer | str, size: int | None = None) -> None:
    """``ffi.copy(to, source, size)``: so many bytes; a string by itself with the 0 at its end."""
    if isinstance(source, str):
        text = source.encode("utf-8", "surrogateescape") + b"\0"
        taken = bytearray(text if size is None else text[: int(size)])
        data = _torch.frombuffer(taken, dtype=_torch.uint8)
    else:
        assert size is not None
        data = source.rest().view(_torch.uint8)[: int(size)]
    to.rest().view(_torch.uint8)[: data.numel()] = data


def text_at(source: Pointer | str, size: int | None = None) -> str:
    """``ffi.string(source, size)``: bytes as text, without ``size`` up to the first 0."""
    if isinstance(source, str):
        return source
    data = source.rest().view(_torch.uint8)[: None if size is None else int(size)]
    found = bytes(data.tolist())
    text = found.partition(b"\0")[0] if size is None else found
    return text.decode("utf-8", "surrogateescape")


def resized(size: Iterable[int], key: Any, value: Any) -> _torch.Size:
    """Sizes with another number at the place ``key``."""
    made = list(size)
    made[int(key) - 1] = int(value)
    return _torch.Size(made)


def apply(x: _torch.Tensor, function: Callable[[float], Any]) -> _torch.Tensor:
    """``x:apply(function)``: where it gives nothing the element stays."""

    def one(element: float) -> Any:
        found = first(function(element))
        return element if found is None else found

    return x.apply_(one)


def item(x: _torch.Tensor) -> Any:
    """A tensor without dimensions as a number, another as it is."""
    return x.item() if x.dim() == 0 else x


def put(t: Any, key: Any, value: Any) -> None:
    """``t[key] = value``, with Lua's key."""
    if isinstance(t, Table):
        handler = None if t.metatable is None else rawget(t.metatable, "__newindex")
        if handler is not None and key not in t:
            handler(t, key, value) if callable(handler) else put(handler, key, value)
        else:
            rawset(t, key, value)
    elif isinstance(t, dict):
        rawset(t, key, value)
    elif isinstance(t, list) and not isinstance(t, List):
        place = _place(t, key)
        if place is None or place > len(t) or (value is None and place < len(t) - 1):
            raise IndexError(
                f"the key is {tostring(key)}; a list of {len(t)} entries takes 1 to {len(t) + 1}: "
                "make this table a dict"
            )
        if value is None:
            del t[place:]
        elif place == len(t):
            t.append(value)
        else:
            t[place] = value
    elif isinstance(t, _torch.Tensor):
        t[_selected(key)] = value
    elif isinstance(t, Storage):
        t.tensor[int(key) - 1] = value
    elif t is None:
        raise TypeError("attempt to index a nil value")
    elif isinstance(key, str):
        setattr(t, key, value)
    else:
        t[key] = value


def length(t: Any) -> Any:
    """``#t``."""
    if isinstance(t, _torch.Tensor):
        return t.size()
    if isinstance(t, dict):
        n = 0
        while t.get(n + 1) is not None:
            n += 1
        return n
    return len(t)


def pairs(t: Any) -> Iterator[tuple[Any, Any]]:
    """All keys and values."""
    found: Iterable[tuple[Any, Any]]
    if isinstance(t, dict):
        found = list(t.items())
    elif isinstance(t, (list, _tuple)):
        found = enumerate(list(t), 1)
    elif _is_of_lua(t):
        found = t.items()
    elif isinstance(t, _type):
        found = [(name, getattr(t, name)) for name in vars(t) if not name.startswith("__")]
    elif hasattr(t, "t7_fields") and not isinstance(t, Object):
        found = list(t.t7_fields().items())
    else:
        found = list(vars(t).items())
    return ((k, v) for k, v in found if v is not None)


def ipairs(t: Any) -> Iterator[tuple[int, Any]]:
    """Numbers and values from 1 to the first that is nil."""
    i = 1
    while True:
        if isinstance(t, (list, _tuple)) and i > len(t):
            return
        found = index(t, i)
        if found is None:
            return
        yield i, found
        i += 1


def next(t: Any, key: Any = None) -> tuple[Any, Any]:
    """The entry after ``key``; None twice after the last."""
    found = list(pairs(t))
    if key is None:
        return found[0] if found else (None, None)
    place = [k for k, _ in found].index(key)
    return found[place + 1] if place + 1 < len(found) else (None, None)


def iterate(count: int, function: Any, state: Any = None, control: Any = None) -> Iterator[Any]:
    """``for … in function, state, control``: what the function gives until that is nil."""
    if isinstance(function, Iterator):
        yield from (v if count > 1 else first(v) for v in function)
        return
    while True:
        found = adjust(call(function, state, control), max(count, 1))
        control = found[0]
        if control is None:
            return
        yield found if count > 1 else found[0]


def insert(t: Any, *args: Any) -> None:
    """``table.insert``."""
    if isinstance(t, list):
        t.insert(len(t) if len(args) == 1 else int(args[0]) - 1, args[-1])
        return
    n = length(t)
    place = n + 1 if len(args) == 1 else int(args[0])
    for i in _range(n, place - 1, -1):
        t[i + 1] = t[i]
    t[place] = args[-1]


def remove(t: Any, place: int | None = None) -> Any:
    """``table.remove``."""
    if isinstance(t, list):
        if place is None:
            return t.pop() if t else None
        return t.pop(int(place) - 1) if 1 <= place <= len(t) else None
    n = length(t)
    start = n if place is None else int(place)
    if not 1 <= start <= n:
        return None
    found = t[start]
    for i in _range(start, n):
        t[i] = t[i + 1]
    del t[n]
    return found


def sort(t: Any, before: Callable[[Any, Any], Any] | None = None) -> None:
    """``table.sort``."""
    entries = [index(t, i) for i in _range(1, length(t) + 1)]
    if before is None:
        entries.sort()
    else:
        entries.sort(
            key=functools.cmp_to_key(
                lambda a, b: -1 if truth(first(before(a, b))) else int(truth(first(before(b, a))))
            )
        )
    for i, value in enumerate(entries, 1):
        put(t, i, value)


def concat(t: Any, glue: Any = "", begin: int = 1, last: int | None = None) -> str:
    """``table.concat``."""
    last = length(t) if last is None else int(last)
    parts = [index(t, i) for i in _range(int(begin), last + 1)]
    for i, part in enumerate(parts, int(begin)):
        if not isinstance(part, (str, int, float)) or isinstance(part, bool):
            raise Error(f"invalid value ({type(part)}) at index {i} in table for 'concat'")
    return tostring(glue).join(map(tostring, parts))


# Numbers ------------------------------------------------------------------------------------------


def range(first: float, last: float, step: float = 1) -> Iterator[Any]:
    """The numbers of ``for i = first, last, step``."""
    if isinstance(first, int) and isinstance(step, int) and math.isfinite(last):
        yield from _range(
            first, (math.floor(last) + 1) if step > 0 else (math.ceil(last) - 1), step
        )
        return
    at = first
    while at <= last if step > 0 else at >= last:
        yield int(at) if isinstance(at, float) and at.is_integer() else at
        at += step


def divided(a: Any, b: Any) -> Any:
    """``a / b`` of numbers, by zero too."""
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1, b)


def modulo(a: Any, b: Any) -> Any:
    """``a % b`` of numbers, of zero too."""
    return math.nan if b == 0 else a % b


_EVENTS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "pow": "^"}


def _arithmetic(name: str, a: Any, b: Any) -> Any:
    for operand in (a, b):
        handler = _metamethod(operand, f"__{name}")
        if handler is not None:
            return first(handler(a, b))
    if isinstance(a, _torch.Tensor) or isinstance(b, _torch.Tensor):
        return call_operator(_EVENTS[name], a, b)
    if isinstance(a, str):
        a = _number(a, name)
    if isinstance(b, str):
        b = _number(b, name)
    if name == "div" and isinstance(b, (int, float)):
        return divided(a, b)
    if name == "mod" and isinstance(b, (int, float)):
        return modulo(a, b)
    return _OPERATORS[name](a, b)


def _number(text: str, name: str) -> Any:
    found = tonumber(text)
    if found is None:
        raise TypeError("attempt to perform arithmetic on a string value")
    return found


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
}
add, sub_, mul, div, mod, pow = (functools.partial(_arithmetic, n) for n in _EVENTS)


def call_operator(operator: str, a: Any, b: Any) -> Any:
    """An operator on tensors, as Torch7 computes it."""
    from compat.port.runtime import operate

    return operate(operator, a, b)


def tonumber(value: Any, base: int | None = None) -> Any:
    """``tonumber``."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return value
    if not isinstance(value, str):
        return None
    text = value.strip()
    if base is not None:
        try:
            return int(text, int(base))
        except ValueError:
            return None
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    if re.fullmatch(r"[-+]?0[xX][0-9a-fA-F]+", text):
        return int(text, 16)
    if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text):
        return float(text)
    return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}.get(text.lower())


def modf(x: float) -> tuple[float, float]:
    """``math.modf``."""
    fraction, whole = math.modf(x)
    return whole, fraction


# Text ---------------------------------------------------------------------------------------------


def tostring(value: Any) -> str:
    """``tostring``: 3.0 is 3, nil and true are written as in Lua, tensors as in Torch7."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _shown(value)
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, _torch.Tensor):
        return tensor_text.shown(value)
    if isinstance(value, _torch.Size):
        return tensor_text.sizes(value)
    if isinstance(value, Storage):
        return tensor_text.storage(value.tensor)
    handler = _metamethod(value, "__tostring")
    if handler is not None:
        return str(first(handler(value)))
    if isinstance(value, (list, dict)):
        return f"table: 0x{id(value):08x}"
    if isinstance(value, Object) and _type(value).__str__ is object.__str__:
        return getattr(value, "typename", f"table: 0x{id(value):08x}")
    if callable(value) and not hasattr(value, "typename"):
        return f"function: 0x{id(value):08x}"
    return str(value)


def _shown(value: float) -> str:
    if value != value:
        return "nan" if math.copysign(1, value) > 0 else "-nan"
    if isinstance(value, int) and abs(value) < 10**14:
        return str(value)
    return builtins.format(float(value), ".14g")


def print(*args: Any) -> None:
    """``print``: with tabs between, and tables with what is in them."""
    sys.stdout.write("\t".join(map(_printed, args)) + "\n")


def _printed(value: Any) -> str:
    if isinstance(value, (list, dict)) and _metamethod(value, "__tostring") is None:
        return _listed(value, "")
    return tostring(value)


def _listed(t: Any, pad: str) -> str:
    """A table as ``th`` shows it."""
    entries = list(pairs(t))
    if not entries:
        return "{}"
    lines = []
    width = max(len(tostring(k)) for k, _ in entries)
    for key, value in entries:
        if isinstance(value, (list, dict)):
            shown = "\n".join(
                line if i == 0 else f"{pad}  {' ' * (width + 3)}{line}"
                for i, line in enumerate(_listed(value, "").split("\n"))
            )
        elif isinstance(value, str):
            shown = f'"{value}"'
        elif isinstance(value, _torch.Tensor):
            size = "x".join(map(str, value.size())) or "empty"
            kind = type_name(value).removeprefix("torch.")
            shown = f"{kind} - {'size: ' if value.dim() else ''}{size}"
        else:
            shown = tostring(value)
        lines.append(f"{pad}  {tostring(key).ljust(width)} : {shown}")
    return "{\n" + "\n".join(lines) + f"\n{pad}}}"


def write(*args: Any) -> None:
    """``io.write``."""
    sys.stdout.write("".join(map(tostring, args)))


def format(template: str, *args: Any) -> Any:
    """``string.format``; with a format of Python's as ``args`` it is Python's ``format``."""
    if not isinstance(template, str):
        return builtins.format(template, *args)
    if not args and "%" not in template:
        return template
    if len(args) == 1 and args[0] == ".14g":
        return builtins.format(template, args[0])
    left = list(args)

    def one(match: re.Match[str]) -> str:
        flags, letter = match[1], match[2]
        if letter == "%":
            return "%"
        if not left:
            raise Error("bad argument to 'format' (no value)")
        value = left.pop(0)
        if letter == "s":
            return f"%{flags}s" % tostring(value)
        if letter == "q":
            quoted = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\\n")
            return f'"{quoted}"'
        number = tonumber(value)
        if number is None:
            raise Error(f"bad argument to 'format' (number expected, got {type(value)})")
        if letter in "diuxXoc":
            number = int(number)
            if letter == "c":
                return chr(number)
        return f"%{flags}{'d' if letter in 'iu' else letter}" % number

    return re.sub(r"%([-+ #0]*\d*(?:\.\d+)?)([a-zA-Z%])", one, template)


def _slice(text: str, begin: Any, last: Any) -> tuple[int, int]:
    begin, last = int(begin), int(last)
    if begin < 0:
        begin = max(len(text) + begin + 1, 1)
    elif begin == 0:
        begin = 1
    if last < 0:
        last = len(text) + last + 1
    return begin - 1, min(last, len(text))


def sub(text: Any, begin: Any, last: Any = -1) -> Any:
    """``s:sub(begin, last)``; of other values ``begin`` is what is taken away."""
    if not isinstance(text, str):
        return sub_(text, begin)
    start, end = _slice(text, begin, last)
    return text[start:end] if start < end else ""


def byte(text: str, begin: int = 1, last: int | None = None) -> Any:
    """``s:byte(begin, last)``."""
    start, end = _slice(text, begin, begin if last is None else last)
    found = [ord(c) for c in text[start:end]]
    return results(found) if found else None


def char(*codes: Any) -> str:
    """``string.char``."""
    return "".join(chr(int(c)) for c in codes)


def find(text: str, pattern: str, begin: int = 1, plain: Any = None) -> Any:
    """``s:find``: first and last place, and captures; None where there is nothing."""
    start = _slice(text, begin, -1)[0]
    if truth(plain):
        place = text.find(pattern, start)
        return None if place < 0 else (place + 1, place + len(pattern))
    match = patterns.Pattern(text, pattern).search(start)
    return None if match is None else (match.start + 1, match.end, *match.named)


def match(text: Any, pattern: str, begin: int = 1) -> Any:
    """``s:match``: the captures, or the whole."""
    found = patterns.Pattern(tostring(text), pattern).search(_slice(tostring(text), begin, -1)[0])
    return None if found is None else results(found.captures)


def gmatch(text: str, pattern: str) -> Iterator[Any]:
    """``s:gmatch``: the captures of each match."""
    return (results(m.captures) for m in patterns.Pattern(text, pattern).all())


def gsub(text: Any, pattern: str, new: Any, most: int | None = None) -> tuple[str, int]:
    """``s:gsub``: the new text, and how often it was changed."""
    text = tostring(text)
    made, place, count = "", 0, 0
    anchored = pattern.startswith("^")
    whole = patterns.Pattern(text, pattern)
    found = filter(None, [whole.search()]) if anchored else whole.all()
    for hit in found:
        if most is not None and count >= most:
            break
        made += text[place : hit.start] + _replacement(hit, new)
        place, count = hit.end, count + 1
    return made + text[place:], count


def _replacement(hit: patterns.Match, new: Any) -> str:
    if isinstance(new, (str, int, float)):

        def capture(found: re.Match[str]) -> str:
            name = found[1]
            if name == "0":
                return hit.whole
            return tostring(hit.captures[int(name) - 1]) if name.isdigit() else name

        return re.sub(r"%(.)", capture, tostring(new), flags=re.S)
    value = first(new(*hit.captures)) if callable(new) else index(new, hit.captures[0])
    return tostring(value) if truth(value) else hit.whole


# Types --------------------------------------------------------------------------------------------


def type(value: Any) -> str:
    """``type``."""
    if isinstance(value, _torch.Tensor):
        return "userdata"
    if isinstance(value, (_torch.Size, Storage)):
        return "userdata"
    name = typename(value)
    if _is_of_lua(value):
        return "table"
    if isinstance(value, Object) or name is not None:
        return "userdata" if name is not None and name.endswith("Storage") else "table"
    if isinstance(value, _type):
        return "table"
    return _torch7.type(value)


def typename(value: Any) -> str | None:
    """``torch.typename``."""
    if isinstance(value, _torch.Tensor) and value.dtype == _torch.bool:
        return "torch.ByteTensor"
    if isinstance(value, _torch.Tensor):
        return tensor_type(value)
    if isinstance(value, _torch.Size):
        return "torch.LongStorage"
    if isinstance(value, Storage):
        return tensor_type(value.tensor).replace("Tensor", "Storage")
    if isinstance(value, Object):
        return getattr(_type(value), "typename", None)
    return _torch7.typename(value)


def type_name(value: Any) -> str:
    """``torch.type``: the class, or Lua's name of the type."""
    return typename(value) or type(value)


def is_type_of(value: Any, name: Any) -> bool:
    """``torch.isTypeOf``: whether an object is of a class or of one derived from it."""
    if isinstance(name, _type):
        return isinstance(value, name)
    wanted = name if isinstance(name, str) else typename(name)
    return (
        any(
            getattr(kind, "typename", None) == wanted or _entry_name(kind) == wanted
            for kind in _type(value).__mro__
        )
        or typename(value) == wanted
    )


def _entry_name(kind: Any) -> str | None:
    entry = registry.find_class(kind)
    return entry.typename if entry else None


# Calls and errors ---------------------------------------------------------------------------------


def call(function: Any, *args: Any) -> Any:
    """A call of what may be a table with ``__call``."""
    return function(*args)


def method(owner: Any, name: str, *args: Any) -> Any:
    """``owner:name(…)``."""
    if isinstance(owner, str):
        function = globals().get(name) if name in _STRING else getattr(owner, name, None)
        if name in ("upper", "lower"):
            return getattr(owner, name)()
        if name == "rep":
            return owner * int(args[0])
        if name == "len":
            return len(owner)
        if name == "reverse":
            return owner[::-1]
        return function(owner, *args)  # type: ignore[misc]
    if isinstance(owner, (dict, list)):
        return index(owner, name)(owner, *args)
    if isinstance(owner, _torch.Tensor) and name == "size" and not args:
        return owner.size()
    if isinstance(owner, (_torch.Tensor, _torch.Size, Storage)):
        return call_method(owner, name, *args)
    if owner is None:
        raise TypeError("attempt to index a nil value")
    found = getattr(owner, name, None)
    return found(*args) if found is not None else call_method(owner, name, *args)


_STRING = {"find", "match", "gmatch", "gsub", "sub", "byte", "format"}


def error(value: Any = None, level: int = 1) -> Any:
    """``error`` as an expression."""
    raise Error(value)


def check(value: Any = None, message: Any = "assertion failed!", *rest: Any) -> Any:
    """``assert`` as an expression: gives what it is given."""
    if not truth(value):
        raise Error(message)
    return results((value, message, *rest)) if message != "assertion failed!" else value


def pcall(function: Any, *args: Any) -> tuple[Any, ...]:
    """``pcall``: True and what the function gives, or False and the error."""
    try:
        found = function(*args)
    except Exception as problem:
        return False, _value_of(problem)
    return (True,) if found is None else (True, *values(found))


def xpcall(function: Any, handler: Any) -> tuple[Any, ...]:
    """``xpcall``."""
    try:
        found = function()
    except Exception as problem:
        return (False, *values(handler(_value_of(problem))))
    return (True,) if found is None else (True, *values(found))


def _value_of(problem: Exception) -> Any:
    # What the Lua runtime was called with has no line.
    return (
        problem.value if isinstance(problem, Error) else re.sub(r"^python:\d+: ", "", str(problem))
    )


def require(name: str) -> Any:
    """A package of Lua, in the Lua runtime."""
    return package("_G").require(name)


def dofile(path: str, beside: str | None = None) -> Any:
    """What the draft of a Lua file has returned; ``beside``: the package of the file that asks.

    A file that is not there is one for the Lua runtime.
    """
    words = path.removesuffix(".lua").removeprefix("./").replace("/", ".")
    name = ".".join(re.sub(r"\W", "_", word) for word in words.split("."))
    for known in ([f"{beside}.{name}"] if beside else []) + [name, f"{name}.init"]:
        try:
            return getattr(importlib.import_module(known), "exports", None)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{known}.".startswith(f"{error.name}."):
                raise
    return require(path)


def threads(count: int, *init: Callable[[int], Any]) -> tuple[Threads, list[list[Any]]]:
    """``threads.Threads``: the pool, and what its workers' last ``init`` gave."""
    pool = Threads(int(count), *init)
    return pool, [list(found) for found in pool.initres]


# Files and the system -----------------------------------------------------------------------------


class File:
    """A file with the methods of Lua's."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, *args: Any) -> File:
        """Write strings and numbers."""
        self._stream.write("".join(map(tostring, args)))
        return self

    def read(self, *formats: Any) -> Any:
        """``*l`` a line, ``*a`` all, ``*n`` a number, a number so many characters."""
        return results(map(self._one, formats or ("*l",)))

    def _one(self, what: Any) -> Any:
        if isinstance(what, (int, float)):
            return self._stream.read(int(what)) or None
        kind = what.lstrip("*")[:1]
        if kind == "a":
            return self._stream.read()
        if kind == "n":
            text = ""
            while (c := self._stream.read(1)) and (c in "+-.eExX" or c.isdigit() or not text):
                text += c
            return tonumber(text)
        line = self._stream.readline()
        return line.removesuffix("\n") if line else None

    def lines(self) -> Iterator[str]:
        """The lines, one after the other."""
        return (line.removesuffix("\n") for line in self._stream)

    def seek(self, whence: str = "cur", offset: int = 0) -> int:
        """Go to a place; which one it is."""
        return int(self._stream.seek(int(offset), {"set": 0, "cur": 1, "end": 2}[whence]))

    def close(self) -> bool:
        """Close it."""
        self._stream.close()
        return True

    def flush(self) -> None:
        """Have what was written appear."""
        self._stream.flush()


stdin, stderr = File(sys.stdin), File(sys.stderr)


class _Output(File):
    def __init__(self) -> None:
        super().__init__(None)

    def write(self, *args: Any) -> File:
        write(*args)
        return self

    def flush(self) -> None:
        sys.stdout.flush()


stdout = _Output()


def open(path: str, mode: str = "r") -> File | None:
    """``io.open``; None where that fails."""
    try:
        return File(_open(path, mode.replace("b", ""), encoding="utf-8", errors="surrogateescape",
                          newline=""))  # fmt: skip
    except OSError:
        return None


def tmpname() -> str:
    """``os.tmpname``: the name of a new empty file."""
    handle, name = tempfile.mkstemp()
    os.close(handle)
    return name


def files(folder: str, pattern: str | None = None) -> Any:
    """The names in a folder, ``.`` and ``..`` too; those that a pattern matches."""
    found = [".", "..", *sorted(os.listdir(folder))]
    return [f for f in found if pattern is None or match(f, pattern) is not None]


def iterfiles(folder: str) -> Iterator[str]:
    """The names of the files in a folder."""
    return iter(sorted(f for f in os.listdir(folder) if os.path.isfile(os.path.join(folder, f))))


def iterdirs(folder: str) -> Iterator[str]:
    """The names of the folders in a folder."""
    return iter(sorted(f for f in os.listdir(folder) if os.path.isdir(os.path.join(folder, f))))


def attributes(path: str, name: str | None = None) -> Any:
    """``lfs.attributes``: times, size and kind of a file; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    made = SimpleNamespace(
        modification=int(found.st_mtime),
        access=int(found.st_atime),
        change=int(found.st_ctime),
        size=found.st_size,
        mode="directory" if os.path.isdir(path) else "file",
    )
    return made if name is None else getattr(made, name)


def time(table: Any = None) -> int:
    """``os.time``."""
    return int(_time.time())


def date(template: str = "%c", when: float | None = None) -> str:
    """``os.date``."""
    moment = _time.time() if when is None else when
    utc = template.startswith("!")
    return _time.strftime(template.lstrip("!"), (_time.gmtime if utc else _time.localtime)(moment))


class _Colors:
    """``sys.COLORS``: what turns the terminal's colours on."""

    _codes = {"none": 0, "black": 30, "red": 31, "green": 32, "yellow": 33, "blue": 34,
              "magenta": 35, "cyan": 36, "white": 37}  # fmt: skip

    def __getattr__(self, name: str) -> str:
        return f"\x1b[0;{self._codes.get(name.lower(), 0)}m"


COLORS = _Colors()
# ``ffi.os``.
SYSTEM = {"darwin": "OSX", "win32": "Windows"}.get(sys.platform, "Linux")
