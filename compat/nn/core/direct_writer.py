"""Writing down logged operators as Python functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from compat.nn.core import generated
from compat.torch_internals import caller, changes_arguments, storage_identity

# What stays the same has such names.
_NAMES = re.compile(r"\bc\d+\b")
_PLAIN = (int, bool, str, type(None))
_CONSTANT = (float, complex, torch.dtype, torch.device, torch.layout, torch.memory_format)
# The owner of what a call of an argument gives: any memory.
OTHERS = "others"


class Unwritable(Exception):
    """There is a value that depends on more than what the function is given."""


class LoggedCall(NamedTuple):
    """A call of an operator, or of an argument of the function, by its name."""

    operator: Any
    args: Any
    kwargs: dict[str, Any]
    result: Any


class Line(NamedTuple):
    """A line of a function: what it assigns, what it calls with what, and the names it needs."""

    targets: tuple[str, ...]
    text: str
    used: tuple[str, ...]
    operator: Any = None
    given: tuple[str, ...] = ()


class Writer:
    """Names the tensors of a log, whose tensors are all alive.

    Args:
        constants: the tensors that stay the same objects; others that the log has from elsewhere
            are refused.
    """

    def __init__(self, constants: Iterable[Tensor]) -> None:
        self.objects: dict[str, Any] = {}
        self._constants = {id(t): t for t in constants}
        self._callers: dict[Any, str] = {}
        self._held: list[Any] = []
        self._names: dict[int, str] = {}
        self._owners: dict[str, Any] = {}
        # What each is a view of. Memory does not tell: what shares it now need not later on.
        self._bases: dict[str, str] = {}
        self._forms: dict[Any, str] = {}

    def argument(self, tensor: Tensor, name: str) -> None:
        """What the function is given."""
        self._name(tensor, name, storage_identity(tensor))

    def name(self, tensor: Tensor) -> str:
        """Of a tensor of the log."""
        name = self._names.get(id(tensor))
        if name is not None:
            return name
        if id(tensor) not in self._constants and (tensor.dim() or tensor.device.type != "cpu"):
            raise Unwritable
        # A number, which PyTorch passes as a tensor, or a tensor that the modules hold.
        return self._name(tensor, self.object(tensor), id(tensor))

    def owner(self, name: str) -> Any:
        """What tells tensors that share memory, or ``OTHERS``."""
        return self._owners[name]

    def is_constant(self, name: str) -> bool:
        return name in self.objects

    def lines(self, calls: Sequence[LoggedCall], once: bool = False) -> list[Line]:
        """The lines that repeat ``calls``; with ``once``, what is computed twice only once."""
        found = []
        operators = [c.operator for c in calls if not isinstance(c.operator, str)]
        once = once and not any(map(changes_arguments, operators))
        known_calls: dict[str, str] = {}
        for operator, args, kwargs, result in calls:
            is_view = isinstance(result, Tensor) and operator.is_view
            base = ""
            if is_view:
                # The same view of the same tensor, or the tensor itself.
                base = self._bases[self.name(args[0])]
                form = base, *_form(result)
                known = self._forms.get(form)
                if known is not None:
                    self._names[id(result)] = known
                    self._held.append(result)
                    continue
            used: dict[str, None] = {}
            given = [self._expression(value, used) for value in args]
            given += [f"{name}={self._expression(value, used)}" for name, value in kwargs.items()]
            callee = self._caller(operator)
            call = f"{callee}({', '.join(given)})"
            if once and isinstance(result, Tensor):
                known = known_calls.get(call)
                if known is not None:
                    self._names[id(result)] = known
                    self._held.append(result)
                    continue
            results = [result] if isinstance(result, Tensor) else result
            if not isinstance(results, (list, tuple)):
                raise Unwritable
            targets = []
            for tensor in results:
                if not isinstance(tensor, Tensor):
                    targets.append("_")
                    continue
                name = self._names.get(id(tensor))
                if name is None:
                    owner: Any = OTHERS if isinstance(operator, str) else storage_identity(tensor)
                    owner = self._owners[base] if is_view else owner
                    name = self._name(tensor, f"v{len(self._held)}", owner, base)
                targets.append(name)
            text = call
            if not isinstance(result, Tensor):
                text = f"{''.join(f'{name}, ' for name in targets)}= {call}" if targets else call
            elif targets[0] not in used:
                text = f"{targets[0]} = {call}"
                known_calls[call] = targets[0]
            defined = tuple(name for name in targets if name != "_" and name not in used)
            found.append(Line(defined, text, tuple(used), operator, tuple(given)))
        return found

    def _name(self, tensor: Tensor, name: str, owner: Any, base: str = "") -> str:
        self._held.append(tensor)
        self._names[id(tensor)] = name
        self._owners[name] = owner
        base = self._bases[name] = base or name
        self._forms.setdefault((base, *_form(tensor)), name)
        return name

    def object(self, value: Any) -> str:
        """The name of what stays the same."""
        name = f"c{len(self.objects)}"
        self.objects[name] = value
        return name

    def _caller(self, operator: Any) -> str:
        if isinstance(operator, str):
            return operator
        if operator not in self._callers:
            self._callers[operator] = self.object(caller(operator))
        return self._callers[operator]

    def _expression(self, value: Any, used: dict[str, None]) -> str:
        if isinstance(value, Tensor):
            name = self.name(value)
            used[name] = None
            return name
        if type(value) in (list, tuple, torch.Size):
            inner = ", ".join([self._expression(item, used) for item in value])
            return f"[{inner}]"
        if type(value) in _PLAIN:
            return repr(value)
        if isinstance(value, _CONSTANT):
            return self.object(value)
        raise Unwritable


def _form(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype


def function(
    head: str, lines: Sequence[Line], result: str, returned: Iterable[str], objects: dict[str, Any]
) -> Callable[..., Any]:
    """The function ``f(head)`` of ``lines`` that returns ``result``.

    Names that are not ``returned`` are freed as soon as nothing needs them.
    """
    stays = {*returned, *objects}
    lines = _needed(lines, stays)
    last: dict[str, int] = {}
    for i, line in enumerate(lines):
        for name in (*line.targets, *line.used):
            last[name] = i
    text = [f"def run({head}):"]
    for i, line in enumerate(lines):
        text.append(f"    {line.text}")
        names = dict.fromkeys((*line.targets, *line.used))
        if freed := [name for name in names if last[name] == i and name not in stays]:
            text.append(f"    del {', '.join(freed)}")
    text.append(f"    return {result}")
    whole = "\n".join(text)
    used = set(_NAMES.findall(whole))
    return generated.function(whole, {n: value for n, value in objects.items() if n in used})


def _needed(lines: Sequence[Line], needed: set[str]) -> list[Line]:
    """The lines but for views that nothing needs."""
    found: list[Line] = []
    needed = set(needed)
    for line in reversed(lines):
        is_view = getattr(line.operator, "is_view", False)
        if not is_view or not needed.isdisjoint(line.targets):
            found.append(line)
            needed.update(line.used)
    return found[::-1]
