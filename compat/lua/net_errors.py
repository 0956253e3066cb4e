"""What Lua asks of an error that arose in a net."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.lua.runtime import Runtime
from compat.nn.checks.error_place import Origin
from compat.t7.objects.registry import find_class
from compat.tensor_tables import map_tensors


def functions(runtime: Runtime) -> Any:
    """``origin`` and ``way``, for one Lua state."""
    table = runtime.lua.table_from

    def origin(error: Exception) -> tuple[Any, ...]:
        """Owner, method, arguments and their number, and Torch7's name of the class.

        The owner of an error in a constructor is its class.
        """
        found: Origin = error.__dict__["origin"]
        owner, arguments = found.owner, [_plain(a) for a in found.arguments]
        cls = owner if isinstance(owner, type) else type(owner)
        entries = (find_class(base) for base in cls.__mro__)
        name = next((entry.typename for entry in entries if entry is not None), "")
        return owner, found.method, table(arguments), len(arguments), name

    def way(error: Exception) -> tuple[Any, Any, int, str]:
        """The containers around, the innermost first, the numbers of their children there, how
        many, and the message without them.
        """
        steps, places = error.__dict__["origin"].way, error.__dict__.get("places", [])
        message = str(error)[len("".join(places[:-1])) :]
        return table([c for c, _ in steps]), table([i for _, i in steps]), len(steps), message

    return table({"origin": origin, "way": way})


def _plain(value: Any) -> Any:
    return map_tensors(Tensor.detach, value)
