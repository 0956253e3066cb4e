"""Measures what nets compute for an input: the sizes of results, and multiply-adds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch

from compat.nn.core.module import Module
from compat.nn.source.computed import Converted
from compat.nn.source.input import inputs, trial
from compat.tensor_tables import tensors
from compat.viewer.contents import sizes

_PATIENCE = 10.0  # seconds in which an input is sought for


@dataclass
class Cost:
    """The result sizes and multiply-adds of a module for the net's input.

    Attributes:
        output: the sizes of the module's latest result.
        multiply_adds: the multiply-adds of matrix products and convolutions in all its calls.
    """

    output: str = ""
    multiply_adds: int = 0


@dataclass
class Costs:
    """The costs of the modules of a net.

    Attributes:
        input: the net's input, in the form that ``--input`` takes; empty if none was found.
        reason: why no input was found.
        modules: the costs by the ``id`` of modules.
    """

    input: str = ""
    reason: str = ""
    modules: dict[int, Cost] = field(default_factory=dict)


def costs(net: Module, input: str = "", most: int = 2000) -> Costs:
    """Return the costs of a net for an input of sizes such as ``1x3x224x224``.

    Without ``input``, an input that fits the layers is searched for, for at most ten seconds. The
    net's ``to_torch`` conversion is run, if possible on tensors without elements. Nets of more than
    ``most`` modules are left out.
    """
    if not _has_at_most(most, net):
        return Costs(reason=f"the net has more than {most:,} modules")
    try:
        with torch.random.fork_rng(devices=[]):  # which PyTorch's constructors draw from
            conversion = Converted(net)
            plain = conversion(net)
            dtype = inputs.dtype_of(plain)
            example = (
                inputs.parsed(input, dtype)
                if input
                else inputs.found(plain, batch=1, seconds=_PATIENCE)
            )
            found = _run(conversion, plain, example.value)
    except Exception as error:
        return Costs(reason=str(error).splitlines()[0] if str(error) else type(error).__name__)
    return Costs(example.text, modules=found)


def _has_at_most(most: int, net: Module) -> bool:
    waiting = [net]
    for module in waiting:
        waiting += module.children()
        if len(waiting) > most:
            return False
    return True


def _run(conversion: Converted, plain: torch.nn.Module, value: Any) -> dict[int, Cost]:
    """Return the costs of one run of a converted net, by the ``id`` of the original modules."""
    modules = defaultdict(list)
    for module, converted in conversion.pairs():
        modules[converted].append(id(module))
    found: dict[torch.nn.Module, Cost] = {converted: Cost() for converted in modules}
    started: list[int] = []
    mode = trial.Sizes(trial.looks_at_elements(plain))

    def before(*arguments: Any) -> None:
        started.append(mode.multiply_adds)

    def after(cost: Cost) -> Callable[..., None]:
        def note(module: Any, arguments: Any, output: Any) -> None:
            cost.output = ", ".join(map(sizes, tensors(output)[:8]))
            cost.multiply_adds += mode.multiply_adds - started.pop()

        return note

    with ExitStack() as hooks:
        for converted, cost in found.items():
            hooks.callback(converted.register_forward_pre_hook(before).remove)
            hooks.callback(converted.register_forward_hook(after(cost)).remove)
        trial.tried(plain, value, mode)
    return {key: cost for converted, cost in found.items() for key in modules[converted]}
