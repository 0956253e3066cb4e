"""Objects of the classes of a script."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from compat import t7
from compat.lua_tables import attribute, by_number, field, items


class ObjectClass(type):
    """The class of the script's classes: a field that was not set is None, as in Lua."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return None

    def __setattr__(cls, name: str, value: Any) -> None:
        if value is None and name in vars(cls):  # then that of the class above is seen
            delattr(cls, name)
        elif value is not None:
            super().__setattr__(name, value)


class Object(metaclass=ObjectClass):
    """An object of a class of the script: a field that was not set is None, as in Lua."""

    typename: str
    dict_fields: tuple[str, ...] = ()  # tables by number that are dicts, in files lists
    list_fields: tuple[str, ...] = ()  # lists, of which files do not tell empty ones from dicts
    lua_tables: tuple[str, ...] = ()  # fields that are a lua.Table, in files dicts or lists
    size_fields = parameter_names = ()  # what compat asks of classes
    metatable: ClassVar[dict[str, Any]]  # of the class: how it is called
    new: ClassVar[Any]
    __newindex__: ClassVar[Any] = None

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update((name, value) for name, value in fields.items() if value is not None)

    def __setattr__(self, name: str, value: Any) -> None:
        hook = type(self).__newindex__  # Torch7's says whether it has set the field
        if hook is not None and hook(self, name, value):
            return
        if value is None:  # then the class's is seen, as in Lua
            self.__dict__.pop(name, None)
        else:
            super().__setattr__(name, value)

    def __init_subclass__(cls, typename: str | None = None) -> None:
        if typename is not None:
            cls.typename = typename
            cls.new = vars(cls).get("new", cls)  # torch.class's constructor
            script_classes[typename] = cls
            t7.register(typename, cls)
        if cls.__hash__ is None:  # as a key it is itself, whatever __eq__ says
            cls.__hash__ = object.__hash__

    def t7_fields(self) -> dict[str, Any]:
        """Return what is saved: all fields but functions, which a file of Python's cannot have."""
        entries = vars(self).items()
        functions = {n for n, v in entries if callable(v) and not isinstance(v, dict)}
        left_out = [n for n in functions if not hasattr(vars(self)[n], "typename")]
        if left_out:
            name = getattr(type(self), "typename", "object")
            warnings.warn(f"{name}: {', '.join(left_out)}: functions are not saved", stacklevel=2)
        return {field(name): value for name, value in entries if name not in left_out}

    def t7_object(self) -> dict[str, Any]:
        """Return what is saved of an object of no class of ``torch.class``: a table."""
        return self.t7_fields()

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        """Have the fields of a file."""
        from compat.port.lua.tables import Table

        restored = {**fields, **by_number(fields, self.dict_fields)}
        restored |= {name: [] for name in self.list_fields if fields.get(name) == {}}
        vars(self).update((attribute(name), value) for name, value in restored.items())
        for name in filter(fields.get, self.lua_tables):
            setattr(self, attribute(name), Table(dict(items(fields[name]))))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self.__missing__(name) if name != "__index" else type(self)

    def __missing__(self, key: Any) -> Any:
        """Return what the class's own ``__index`` has for a key; ``__getitem__`` for no name."""
        hook = getattr(type(self), "__index__", None)  # Torch7's gives a value and true, or false
        found = None if hook is None else hook(self, key)
        if isinstance(found, tuple) and found[-1]:
            return found[0]
        own = vars(type(self))
        handler = own.get("__index", None if isinstance(key, str) else own.get("__getitem__"))
        found = None if handler is None else handler(self, key)
        return found[0] if isinstance(found, tuple) and found else found


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    """``a + object``, which Lua gives the class's ``__add``, as ``object + a``."""

    def operate(self: Any, other: Any) -> Any:
        handler = getattr(type(self), name, None)
        return NotImplemented if handler is None else handler(other, self)

    return operate


for _name in ("add", "sub", "mul", "truediv", "mod", "pow"):
    setattr(Object, f"__r{_name}__", _reflected(f"__{_name}__"))

script_classes: dict[str, type] = {}
