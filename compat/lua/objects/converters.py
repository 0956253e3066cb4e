"""Methods of nets that behave as in Torch7 when Lua calls them, and differently in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from compat import storage_changes
from compat.lua.errors import LuaError
from compat.lua.objects.methods import BoundLuaMethod, LuaMethod
from compat.lua.runtime import Runtime
from compat.lua.values import LuaFunction, LuaTable
from compat.nn.core import flat_storage
from compat.nn.core.module import Module
from compat.nn.core.parameter import parameters_of
from compat.nn.criterions.classification import ClassNLLCriterion
from compat.tensor_tables import contents
from compat.torch_internals import storage_identity

# What they are while no function of Lua stands for them.
_PLAIN: dict[str, Callable[..., Any]] = {
    name: getattr(Module, name) for name in ("getParameters", "share", "clone")
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


class Converters:
    """The converted methods, for one Lua state."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def methods(self) -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
        """Return, by name, the method for Lua and Python's own."""
        return {name: (getattr(self, name), plain) for name, plain in _PLAIN.items()}

    def getParameters(self, module: Module) -> Any:
        """Make new flat tensors in each call, and leave earlier ones behind."""
        plain = _plain(module, "getParameters")
        if plain is _PLAIN["getParameters"]:
            for part in parameters_of(module):
                _leave(part)
        result = plain(module)
        self.refresh(module)
        return result

    def share(self, module: Module, mlp: Any, *names: str) -> Any:
        """Share fields; Lua sees that its tensors have moved."""
        result = _plain(module, "share")(module, mlp, *names)
        self.refresh(module)
        return result

    def clone(self, module: Module, *names: str) -> Any:
        """Clone a net; through a file, as in Torch7, if only Lua knows what a file holds of it."""
        if not any(self._needs_lua(part) for part in module.listModules()):
            return _plain(module, "clone")(module, *names)
        try:
            new = self.runtime.execute(_CLONE, module)
        except LuaError as error:
            # Functions of Lua may refer to such of this package, which Torch7 has in Lua.
            if "Unwritable object" not in str(error):
                raise
            return _plain(module, "clone")(module, *names)
        return new.share(module, *names) if names else new

    def _needs_lua(self, module: Module) -> bool:
        """Return whether a module has Lua's ``write`` or ``read``, or holds values of Lua."""
        raw = self.runtime.exchange.raw_kind
        return _has_own_files(type(module)) or any(
            isinstance(value, (LuaTable, LuaFunction, BoundLuaMethod)) or type(value) is raw
            for value in contents(list(vars(module).values()))
        )

    def refresh(self, module: Module) -> None:
        """Update Lua's view of the parameters."""
        storage_changes.moved(t for part in parameters_of(module) for t in part if t is not None)


def _plain(module: Module, name: str) -> Callable[..., Any]:
    """Return Python's method of the class; if Lua replaces it, the one that Lua's calls."""
    found: Callable[..., Any] | None = None
    for base in type(module).__mro__:
        method = vars(base).get(name)
        if isinstance(method, LuaMethod):
            found = None
        elif found is None:
            found = method
    return found or _PLAIN[name]


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
    """Return whether a class of Lua has its own ``write`` or ``read``."""
    return cls.__module__ == "lua" and any(
        isinstance(getattr(cls, name, None), LuaMethod) for name in ("write", "read")
    )


def flatten(tensors: list[Tensor]) -> Tensor:
    """Flatten any tensors, as ``nn.Module.flatten`` does."""
    _leave(tensors)
    flat = flat_storage.gather(tensors)
    storage_changes.moved(tensors)
    return flat


def nll_updateOutput(criterion: Any, input: Any, target: Any = None) -> tuple[Any, float]:
    """Return the loss of a criterion of labels and the sum of its targets' weights."""
    loss = ClassNLLCriterion.updateOutput(criterion, input, target)
    return loss, criterion.total_weight_tensor.item()


def nll_forward(criterion: Any, input: Any, target: Any = None) -> Any:
    """Call ``forward``; return both results."""
    loss = criterion.forward(input, target)
    if type(criterion).updateOutput is not ClassNLLCriterion.updateOutput:
        return loss
    return loss, criterion.total_weight_tensor.item()
