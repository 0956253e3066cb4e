"""The state that compiled code of a net depends on: modules, fields, forms of tensors and input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from compat.nn.core.module import Module
from compat.tensor_tables import form, tensors

# The methods of a module that passes call.
METHODS = ("updateOutput", "updateGradInput", "accGradParameters", "backward", "forward")
# What a pass leaves in any module, and what does not change what is computed.
_LEFT = frozenset(
    ("output", "gradInput", "keep_results", "compilation", "_freed", "_graph", "_call")
)


def fields_of_passes(module: Module) -> frozenset[str]:
    """Return the fields that a pass of ``module`` sets and no other pass reads."""
    return _LEFT.union(module.pass_fields, module.cleared_fields)


class State:
    """A net and the form of its input at some time: what code that was made then goes by.

    Args:
        rebound: fields, by the ``id`` of the module and name, that each pass sets anew.
    """

    def __init__(self, net: Module, input: Any, rebound: Iterable[tuple[int, str]] = ()) -> None:
        self.modules = list({id(module): module for module in net.listModules()}.values())
        self._mode = mode_of(input)
        self._classes = [(cls, _methods(cls)) for cls in dict.fromkeys(map(type, self.modules))]
        rebound = set(rebound)
        self._left = [
            fields_of_passes(m).union(name for of, name in rebound if of == id(m))
            for m in self.modules
        ]
        self._fields = list(map(_own_fields, self.modules, self._left))
        # The fields of the modules inside as the latest pass through code has left them.
        self._inside = [module.__dict__ for module in self.modules if module is not net]
        self._settled: list[dict[str, Any]] = []
        self._tables: list[Any] = []
        self._contents: list[Any] = []
        self._numbers: list[tuple[Any, Any, Tensor]] = []
        held: dict[int, Tensor] = {}
        for module, fields in zip(self.modules, self._fields, strict=True):
            self._walk(module.__dict__, fields.items(), held)
        self.held = list(held.values())
        self._forms = list(map(form_of, self.held))

    def _walk(
        self, table: Any, entries: Iterable[tuple[Any, Any]], held: dict[int, Tensor]
    ) -> None:
        """Note what lies in a table, and in those in it."""
        for key, value in entries:
            if isinstance(value, Tensor):
                held[id(value)] = value
                if value.numel() == 1:  # others are equal to no tensor but themselves
                    self._numbers.append((table, key, value))
                continue
            if type(value).__module__.startswith("compat.") and not hasattr(value, "updateOutput"):
                value = getattr(value, "__dict__", None)  # a table of another kind
            if isinstance(value, (list, dict)):
                if any(value is known for known in self._tables):
                    continue
                self._tables.append(value)
                self._contents.append(value.copy())
            if isinstance(value, dict):
                self._walk(value, value.items(), held)
            elif isinstance(value, (list, tuple)):
                self._walk(value, enumerate(value), held)

    def holds(self, input: Any) -> bool:
        """Return whether nothing is different that code goes by."""
        try:
            return (
                self._mode == mode_of(input)
                and self._have_fields()
                and self._tables == self._contents
                and all(table[key] is tensor for table, key, tensor in self._numbers)
                and [*map(form_of, self.held)] == self._forms
                and all(_methods(cls) == methods for cls, methods in self._classes)
            )
        except (RuntimeError, ValueError):  # another tensor or array, which has no one truth value
            return False

    def _have_fields(self) -> bool:
        first = self.modules[0]
        if self._inside == self._settled:
            return _own_fields(first, self._left[0]) == self._fields[0]
        return list(map(_own_fields, self.modules, self._left)) == self._fields

    def free_inside(self) -> None:
        """Drop what passes have left in the modules inside."""
        if self._inside == self._settled:
            return
        for module in self.modules:
            fields = module.__dict__
            if any(fields is own for own in self._inside):
                for name in ("output", "gradInput", *module.pass_fields, *module.cleared_fields):
                    if fields.get(name, module) is not None:
                        fields.pop(name, None)
                fields["_freed"] = "compiled"
        self._settled = [dict(fields) for fields in self._inside]


def _own_fields(module: Module, left: frozenset[str]) -> dict[str, Any]:
    """Return what a module's passes go by; of gradInput, whether it is wanted."""
    fields = {name: value for name, value in module.__dict__.items() if name not in left}
    fields["gradInput"] = module.__dict__.get("gradInput", module) is not None
    return fields


def _methods(cls: type) -> list[Any]:
    return [getattr(cls, name) for name in METHODS]


def form_of(tensor: Tensor) -> Any:
    """Return the properties of a tensor that compiled code depends on."""
    return tensor.shape, tensor.stride(), tensor.dtype, tensor.device, tensor.grad is None


def mode_of(input: Any) -> Any:
    """Return what code goes by of an input, and of the settings of this thread."""
    kind = next((tensor.device.type for tensor in tensors(input)), "cpu")
    autocast = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
    return (
        form(input, form_of),
        autocast,
        torch.get_num_threads(),
        torch.is_inference_mode_enabled(),
    )
