"""Tell Lua about an error that arose in a net."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.lua.runtime import Runtime
from compat.nn.checks.error_place import Origin
from compat.t7.objects.registry import find_class
from compat.tensor_tables import map_tensors


def functions(runtime: Runtime) -> Any:
    """Return the functions ``origin``, ``classes`` and ``way`` for one Lua state."""
    table = runtime.lua.table_from

    def origin(error: Exception) -> tuple[Any, ...]:
        """Return owner, method, arguments and their number, and Torch7's names of the classes
        that have the method, from the owner's up to the one that defines it.

        The owner of an error in a constructor is its class.
        """
        found: Origin = error.__dict__["origin"]
        owner = found.owner
        arguments = {i: _plain(a) for i, a in enumerate(found.arguments, 1) if a is not None}
        cls = owner if isinstance(owner, type) else type(owner)
        method = "updateGradInput" if found.method == "backward" else found.method
        return (
            owner,
            method,
            table(arguments),
            len(found.arguments),
            table(_classes_with(cls, method)),
        )

    def classes(owner: Any, method: str) -> Any:
        """Return such names for a method of an object."""
        return table(_classes_with(type(owner), method))

    def way(error: Exception) -> tuple[Any, Any, int, str]:
        """Return the containers around the error and the message without them.

        The innermost container comes first; each has the number of its child. The third result is
        how many there are.
        """
        steps, places = error.__dict__["origin"].way, error.__dict__.get("places", [])
        message = str(error)[len("".join(places[:-1])) :]
        return table([c for c, _ in steps]), table([i for _, i in steps]), len(steps), message

    return table({"origin": origin, "classes": classes, "way": way})


def _plain(value: Any) -> Any:
    return map_tensors(Tensor.detach, value)


def _classes_with(cls: type, method: str) -> list[str]:
    name = "__init__" if method == "__init" else method
    found = []
    for base in cls.__mro__:
        entry = find_class(base)
        if entry is not None:
            found.append(entry.typename)
        if name in vars(base):
            break
    return found
