"""Describes modules: their settings, parameters, connections and labels."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.nn.containers.branches import Concat, ConcatTable, Parallel, ParallelTable
from compat.nn.containers.decorators import Decorator
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.core.native import Native
from compat.nn.graph.gmodule import gModule
from compat.t7 import TorchObject
from compat.viewer.contents import name_of, replicas_of

_STEPS = 4000  # of a graph that is drawn
_PARAMETERS = ("weight", "bias")  # of classes that nobody knows


def settings(module: Module) -> str:
    """Return what a module prints beside its class, such as ``3 -> 64, 7x7, 2,2``."""
    if type(module).__repr__ is Module.__repr__ or module.children():
        return ""  # printing a container prints all that is in it
    try:
        printed = repr(module).partition("\n")[0]
    except Exception:  # of a class of somebody's own
        return ""
    printed = printed.removeprefix(module.typename).strip()
    inner = printed.removeprefix("(").removesuffix(")")
    is_whole = len(inner) == len(printed) - 2 and ")" not in inner
    return name_of(inner if is_whole else printed)


def parameters(module: Module) -> list[Tensor]:
    """Return a module's own parameters, without those of its children."""
    if isinstance(module, Native):
        return list(module.module.parameters())
    unknown = isinstance(module, TorchObject)
    fields: dict[str, Any] = (module.fields or {}) if unknown else vars(module)
    names = dict.fromkeys((*module.parameter_names, *_PARAMETERS))
    return [fields[name] for name in names if isinstance(fields.get(name), Tensor)]


def flow(module: Module) -> dict[str, Any]:
    """Return how the modules in a module are connected.

    ``flow`` is ``chain``, ``branches``, which all get the input or a part of it, ``graph``, or
    ``loose`` where it is not known or too large to draw; ``modules`` their number. Of a graph,
    ``steps`` are in the order of computation: the place of the module, from 0, or -1, a label, and
    the numbers of the steps whose outputs it takes.
    """
    count = len(replicas_of(module) or module.children())
    if not count:
        return {}
    if isinstance(module, gModule) and len(module.steps) <= _STEPS:
        return {"flow": "graph", "modules": count, "steps": _steps(module)}
    if isinstance(module, (Sequential, Decorator)):
        form = "chain"
    elif isinstance(module, (Concat, ConcatTable, Parallel, ParallelTable)) or replicas_of(module):
        form = "branches"
    else:
        form = "loose"
    return {"flow": form, "modules": count}


def labels(module: Module) -> dict[int, str]:
    """Return the labels that a script gave the modules of a graph, by their numbers from 1."""
    if not isinstance(module, gModule):
        return {}
    return {step.module + 1: _noted(step.data) for step in module.steps if step.module is not None}


def _steps(graph: gModule) -> list[list[Any]]:
    last = len(graph.steps) - 1
    found = []
    for number, step in enumerate(graph.steps):
        place = -1 if step.module is None else step.module
        label = "" if step.module is not None else _done(step.data, number, last)
        found.append([place, label, step.sources])
    return found


def _noted(data: dict[str, Any]) -> str:
    notes = data.get("annotations")
    named = notes.get("name") if isinstance(notes, dict) else None
    return name_of(named) if isinstance(named, str) else ""


def _done(data: dict[str, Any], number: int, last: int) -> str:
    """Return the label of a step without module."""
    if "selectindex" in data:
        return f"entry {name_of(data['selectindex'])}"
    if number in (0, last):
        return "output" if number else "input"
    return _noted(data) or ("entries" if "nSplitOutputs" in data else "table")
