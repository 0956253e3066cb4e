"""Tables: what is under their keys, and what their metatables make of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import torch

from compat.cmdline import Options
from compat.lua_tables import List, MixedTable, attribute, field, items
from compat.port.lua import kinds
from compat.port.lua.objects import Object
from compat.port.lua.runtime import (
    Original,
    Package,
    Storage,
    called,
    function_of,
    original_entries,
)
from compat.port.lua.tensors import Pointer, element, selected
from compat.port.lua.text import Error, tostring
from compat.port.lua.values import Steps, adjust, array_size, border, first, truth
from compat.port.write.python_names import METAMETHODS, method_name
from compat.t7.objects.known_classes import Hash

string_methods: dict[str, Callable[..., Any]] = {}  # those of Lua's, from package string


def rawequal(a: Any, b: Any) -> bool:
    """``rawequal``: numbers and strings by value, all else by identity."""
    plain = (int, float, str, bytes)
    if isinstance(a, plain) and isinstance(b, plain) and bool not in (type(a), type(b)):
        return a == b  # NaN is not itself
    return a is b


def equal(a: Any, b: Any) -> bool:
    """``a == b``: as ``rawequal``, or what a metamethod says."""
    if rawequal(a, b):
        return True
    if isinstance(a, torch.Size) and isinstance(b, torch.Size):
        return False
    if isinstance(a, Storage) and isinstance(b, Storage):
        return a.tensor.untyped_storage().data_ptr() == b.tensor.untyped_storage().data_ptr()
    own = metamethod(a, "__eq")
    if own is not None and own is metamethod(b, "__eq"):
        return truth(first(own(a, b)))
    if type(a) is not type(b) or isinstance(a, (list, dict, torch.Tensor)):
        return False
    is_inherited = isinstance(a, Object) and type(a).typename is not None  # by torch.class
    return ("__eq__" in vars(type(a)) or is_inherited) and bool(a == b)


class _Itself:
    """A key that Python cannot hash, or a bool: in Lua it is equal to nothing but itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.value is other.value


def _hashed(key: Any) -> Any:
    return _Itself(key) if type(key).__hash__ is None or type(key) is bool else key


class Table(dict[Any, Any]):
    """A table with a metatable, or with tables for keys: ``t[key]`` and ``t[key] = value`` ask the
    metatable, ``t.name()`` is Lua's ``t:name()``; a key that is missing gives None. A class's
    methods take it for an object, ``t.field``.
    """

    metatable: Any = None
    __hash__ = object.__hash__  # type: ignore[assignment]  # a key by its identity, as in Lua

    def __init__(self, entries: Any = ()) -> None:
        pairs = entries.items() if isinstance(entries, dict) else entries
        super().__init__((_hashed(key), value) for key, value in pairs)

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_hashed(key), default)

    def pop(self, key: Any, *default: Any) -> Any:
        return super().pop(_hashed(key), *default)

    def items(self) -> Any:
        return [(k.value if type(k) is _Itself else k, v) for k, v in super().items()]

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_hashed(key))

    def __getitem__(self, key: Any) -> Any:
        return index(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        put(self, key, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = index(self, field(name))
        is_method = callable(found) and not isinstance(found, (dict, type))
        return functools.partial(found, self) if is_method else found

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "metatable":
            super().__setattr__(name, value)
        else:
            put(self, field(name), value)

    def __call__(self, *args: Any) -> Any:
        return metamethod(self, "__call")(self, *args)

    def __neg__(self) -> Any:
        return first(metamethod(self, "__unm")(self, self))

    def __str__(self) -> str:
        handler = metamethod(self, "__tostring")
        return f"table: 0x{id(self):08x}" if handler is None else str(first(handler(self)))


def _operator(event: str, is_reflected: bool = False) -> Callable[[Any, Any], Any]:
    """Return an operator of Python's that asks the metatables of its operands."""

    def operate(self: Any, other: Any) -> Any:
        a, b = (other, self) if is_reflected else (self, other)
        handler = metamethod(a, event) or metamethod(b, event)
        return NotImplemented if handler is None else first(handler(a, b))

    return operate


for _name in ("add", "sub", "mul", "truediv", "mod", "pow"):
    _event = f"__{_name.removeprefix('true')}"
    setattr(Table, f"__{_name}__", _operator(_event))
    setattr(Table, f"__r{_name}__", _operator(_event, is_reflected=True))
for _name in ("lt", "le"):
    setattr(Table, f"__{_name}__", _operator(f"__{_name}"))
    setattr(Table, f"__{_name.replace('l', 'g')}__", _operator(f"__{_name}", is_reflected=True))


def joined(a: Any, b: Any) -> Any:
    """``a .. b`` of what may be tables with a metatable, or objects."""
    for operand in (a, b):
        handler = metamethod(operand, "__concat") or getattr(type(operand), "__concat__", None)
        if handler is not None:
            return first(handler(a, b))
    for operand in (a, b):
        if not isinstance(operand, (str, int, float)) or isinstance(operand, bool):
            raise TypeError(f"attempt to concatenate a {kinds.type(operand)} value")
    return tostring(a) + tostring(b)


def setmetatable(t: Any, metatable: Any) -> Any:
    """Return a table with a metatable; ``t`` itself where it can have one.

    An object of a class becomes one of the class ``metatable``; of a list or dict one is made.
    """
    if isinstance(metatable, type) and isinstance(t, (list, dict)):
        made: Any = object.__new__(metatable)
        vars(made).update(pairs(t))
        return made
    if isinstance(t, Object) and isinstance(metatable, type):
        t.__class__ = metatable
        return t
    if isinstance(t, type) and issubclass(t, Object) and set(metatable) <= {"__call"}:
        t.metatable = metatable
        return t
    if not isinstance(t, Table):
        raise TypeError(
            f"a {type(t).__name__} has no metatable; make it a lua.Table where it is made"
        )
    if metamethod(t, "__metatable") is not None:
        raise Error("cannot change a protected metatable")
    t.metatable = metatable
    return t


def getmetatable(t: Any) -> Any:
    """Return the metatable of a table, or what stands for it; the class of an object."""
    if isinstance(t, Table):
        shown = metamethod(t, "__metatable")
        return t.metatable if shown is None else shown
    if isinstance(t, type) and t.__base__ not in (Object, object):
        return t.__base__
    shown = getattr(type(t), "__metatable", None) or type(t)
    return shown if isinstance(t, Object) or hasattr(type(t), "typename") else None


def metamethod(t: Any, event: str) -> Any:
    """Return what the metatable of a table has for an event, such as ``__add``; None if nothing."""
    if isinstance(t, type):
        return vars(t).get("metatable", {}).get(event)
    return rawget(t.metatable, event) if isinstance(t, Table) and t.metatable is not None else None


def rawget(t: Any, key: Any) -> Any:
    """Return an entry, without asking the metatable."""
    if isinstance(t, dict):
        return t.get(key)
    if isinstance(t, list):
        return _entry(t, key)
    if kinds.is_of_lua(t):
        return function_of("rawget")(t, key)
    found = vars(t).get(attribute(key))
    return found.__func__ if isinstance(found, staticmethod) else found


def with_metatables(value: Any, made: dict[int, Any] | None = None) -> Any:
    """Return what was loaded with dicts that can have metatables."""
    made = {} if made is None else made
    if id(value) in made or type(value) not in (dict, list):
        return made.get(id(value), value)
    kept = made[id(value)] = Table() if type(value) is dict else value
    for key, entry in value.items() if type(value) is dict else enumerate(value):
        kept[key] = with_metatables(entry, made)
    return kept


def lists_in(value: Any, *paths: str) -> Any:
    """Return what was loaded with lists under these names, which an empty table is not."""
    for path in paths:
        if not path:
            value = [] if value == {} else value
            continue
        *names, last = path.split(".")
        holder = value
        for name in names:
            holder = holder.get(name) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and holder.get(last) == {}:
            holder[last] = []
    return value


def without_functions(t: Any) -> Any:
    """Return a table as it is saved: with all but its functions, which a file of Python's cannot
    have.
    """
    if isinstance(t, dict):
        left = {k: without_functions(v) for k, v in t.items() if not isinstance(v, FunctionType)}
        return setmetatable(Table(left), t.metatable) if isinstance(t, Table) else left
    if type(t) is list:
        return [without_functions(v) for v in t if not isinstance(v, FunctionType)]
    return t


def rawset(t: Any, key: Any, value: Any) -> Any:
    """Set an entry, without asking the metatable."""
    if isinstance(t, dict):
        if key is None or (type(key) is float and key != key):
            raise Error(f"table index is {'nil' if key is None else 'NaN'}", 1)
        if value is None and not (isinstance(t, Options) and key in t):  # which has opt.name
            t.pop(key, None)
        else:
            dict.__setitem__(t, _hashed(key) if isinstance(t, Table) else key, value)
    else:
        put(t, key, value)
    return t


def _place(t: list[Any], key: Any) -> int | None:
    """Return the place in a list that a key means, from 0."""
    if isinstance(key, bool) or not isinstance(key, (int, float)) or key != int(key) or key < 1:
        return None
    return int(key) - 1


def _entry(t: list[Any], key: Any) -> Any:
    """Return an entry of a list, or of what the Lua runtime has put beside it; None if there is
    none.
    """
    place = _place(t, key)
    if place is not None and place < len(t):
        return list.__getitem__(t, place)
    return t.others.get(key) if isinstance(t, MixedTable) else None


def index(t: Any, key: Any) -> Any:
    """``t[key]``, with Lua's key; None where there is nothing."""
    if isinstance(t, Table):
        found = t.get(key)
        if found is None and t.metatable is not None:
            handler = rawget(t.metatable, "__index")
            if handler is not None:
                return (
                    first(handler(t, key))
                    if callable(handler) and not isinstance(handler, (Table, type))
                    else index(handler, key)
                )
        return found
    if isinstance(t, (List, dict)):  # in a plain dict no table is a key
        return None if isinstance(key, (list, dict)) else t.get(key)
    if isinstance(t, list):
        return _entry(t, key)
    if isinstance(t, torch.Size):
        return t[int(key) - 1]
    if isinstance(t, Storage):
        return t.tensor[int(key) - 1].item()
    if isinstance(t, torch.Tensor):
        return element(t, key)
    if isinstance(t, str):
        return string_methods.get(key) or getattr(str, str(key), None)
    if kinds.is_of_lua(t) or isinstance(t, (Pointer, Original)):
        return t[key]
    if t is None or isinstance(t, (bool, int, float, FunctionType)):
        raise TypeError(f"attempt to index a {kinds.type(t)} value")
    if isinstance(t, type) and key == "__index":
        return t
    if isinstance(key, str):
        name = method_name(key)
        found = getattr(t, name, None)
        if isinstance(found, MethodType):
            return found.__func__  # as in Lua it is given the object
        kind = t if isinstance(t, type) else type(t)
        every = vars(object).get(name)  # what each class of Python's has
        return None if every and getattr(kind, name) is every else found
    if isinstance(t, Object):
        found = vars(t).get(key)
        return t.__missing__(key) if found is None else found
    if isinstance(t, type):
        return None
    if hasattr(t, "get"):
        return t.get(int(key))
    return t[key] if hasattr(t, "__getitem__") else vars(t).get(key)


_GAP = 1_000_000  # entries: a list that would begin with more that are not there is no list
_ASSIGN = "function(x, key, value) x[key] = value end"


def put(t: Any, key: Any, value: Any) -> None:
    """``t[key] = value``, with Lua's key.

    A list can be filled in any order: what is not there yet is None.
    """
    if isinstance(t, Table):
        handler = None if t.metatable is None else rawget(t.metatable, "__newindex")
        if handler is not None and key not in t:
            handler(t, key, value) if callable(handler) else put(handler, key, value)
        else:
            rawset(t, key, value)
    elif isinstance(t, dict):
        rawset(t, key, value)
    elif isinstance(t, list) and not isinstance(t, List):
        if not t and isinstance(key, str) and value is not None:
            called(function_of(_ASSIGN), t, key, value)  # which puts a dict in its place
            return
        place = _place(t, key)
        if isinstance(t, MixedTable) and (place is None or place > len(t)):
            rawset(t.others, key, value)
            return
        if value is None and (place is None or place >= len(t)):
            return
        if place is None or place > len(t) + _GAP or (value is None and place < len(t) - 1):
            raise IndexError(
                f"the key is {tostring(key)}; a list of {len(t)} entries takes 1 to {len(t) + 1}: "
                "make this table a dict"
            )
        t.extend([None] * (place - len(t)))
        if value is None:
            del t[place:]
        elif place == len(t):
            t.append(value)
        else:
            t[place] = value
    elif isinstance(t, torch.Tensor) and isinstance(value, torch.Tensor):
        called(function_of(_ASSIGN), t, key, value)  # as many elements will do
    elif isinstance(t, torch.Tensor):
        t[selected(key)] = value
    elif isinstance(t, Storage):
        t.tensor[int(key) - 1] = value
    elif isinstance(t, Original):
        t[key] = value
    elif t is None or isinstance(t, (bool, int, float, FunctionType)):
        raise TypeError(f"attempt to index a {kinds.type(t)} value")
    elif isinstance(key, str):
        name = method_name(key)
        is_method = isinstance(getattr(type(t), name, None), FunctionType)
        if value is None and (is_method or isinstance(t, type)):
            if name in vars(t):  # else it is that of a class above
                delattr(t, name)
        else:
            is_own = isinstance(value, FunctionType) and is_method
            setattr(t, name, MethodType(value, t) if is_own else value)
    elif isinstance(t, Object) or not hasattr(t, "__setitem__"):  # such as a node of nngraph
        rawset(vars(t), key, value)
    else:
        t[key] = value


def length(t: Any) -> Any:
    """``#t``."""
    if isinstance(t, torch.Tensor):
        return t.size()
    if (handler := metamethod(t, "__len")) is not None:
        return first(handler(t))
    if isinstance(t, Object) and not hasattr(t, "__len__"):
        t = vars(t)
    if isinstance(t, dict) and not isinstance(t, Hash):
        return border(lambda i: dict.get(t, i), array_size(t))
    is_open = type(t) is list and t and t[-1] is None
    return border(lambda i: t[i - 1], len(t)) if is_open else len(t)


def pairs(t: Any) -> Steps:
    """Return all keys and values."""
    need_table(t, "pairs")
    found: Iterable[tuple[Any, Any]]
    if isinstance(t, dict):
        found = ((key, t.get(key)) for key, _ in list(t.items()))  # as they are when they come
    elif isinstance(t, (list, tuple)):
        found = list(items(t))
    elif kinds.is_of_lua(t):
        found = t.items()
    elif isinstance(t, (Original, Package)):
        found = original_entries(t)
    elif isinstance(t, type):
        names = [(METAMETHODS.get(name, name), name) for name in vars(t)]
        found = [
            (field(lua), getattr(t, n)) for lua, n in names if n in METAMETHODS or n[:2] != "__"
        ]
    elif isinstance(t, ModuleType):
        public = [n for n, v in vars(t).items() if n[0] != "_" and not isinstance(v, ModuleType)]
        found = [(field(name), getattr(t, name)) for name in getattr(t, "__all__", public)]
    elif hasattr(t, "t7_fields") and not isinstance(t, Object):
        found = list(t.t7_fields().items())
    else:
        found = [(field(name), value) for name, value in vars(t).items()]
    return Steps((k, v) for k, v in found if v is not None)


def ipairs(t: Any) -> Steps:
    """Return numbers and values from 1 to the first that is nil."""
    need_table(t, "ipairs")
    return Steps(_counted(t))


def need_table(t: Any, name: str) -> None:
    """Refuse what is no table as Lua does."""
    if t is None or isinstance(t, (bool, int, float, str)):
        raise Error(f"bad argument #1 to '{name}' (table expected, got {kinds.type(t)})", True)


def _counted(t: Any) -> Iterator[tuple[int, Any]]:
    i = 1
    while True:
        if isinstance(t, (list, tuple)) and i > len(t):
            return
        found = index(t, i)
        if found is None:
            return
        yield i, found
        i += 1


def next(t: Any, key: Any = None) -> tuple[Any, Any]:
    """Return the entry after ``key``; None twice after the last."""
    found = list(pairs(t))
    if key is None:
        return found[0] if found else (None, None)
    place = [k for k, _ in found].index(key)
    return found[place + 1] if place + 1 < len(found) else (None, None)


def entry_after(t: Any, key: Any = None) -> tuple[Any, ...]:
    """Return all that ``next`` gives: a key and its value, or one None after the last."""
    found = next(t, key)
    return found if found[0] is not None else (None,)


def item_after(t: Any, i: int) -> tuple[Any, ...]:
    """Return what the function that ``ipairs`` gives has for a number: the next and its value."""
    found = index(t, i + 1)
    return () if found is None else (i + 1, found)


def iterate(count: int, function: Any, state: Any = None, control: Any = None) -> Iterator[Any]:
    """``for … in function, state, control``: what the function gives until that is nil."""
    if function in (next, entry_after) and control is None:
        function = pairs(state)
    if isinstance(function, Iterator):
        yield from (adjust(v, count) if count > 1 else first(v) for v in function)
        return
    while True:
        found = adjust(function(state, control), max(count, 1))
        control = found[0]
        if control is None:
            return
        yield found if count > 1 else found[0]
