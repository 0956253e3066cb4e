"""The two tables of an optimizer: its options and its state."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import MutableMapping
from typing import Any

import torch

from compat.lua_tables import List

Table = dict[Any, Any]

# What options may be, the usual first: the test of an abstract class is slow.
NUMBERS = (int, float, torch.Tensor, numbers.Real)

_OF_PYTORCH = {
    "lr": "learningRate",
    "lr_decay": "learningRateDecay",
    "weight_decay": "weightDecay",
    "betas": "beta1, and beta2",
}


def table(name: str, value: Any) -> Table:
    """Return the argument ``name``, or a new dict for None; raise TypeError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, MutableMapping):
        raise TypeError(f"{name} is {value!r}; a dict is accepted")
    for key, option in value.items():
        if isinstance(option, List):
            value[key] = option.tolist()
    return value  # type: ignore[return-value]


def tables(config: Table | None, state: Table | None) -> tuple[Table, Table]:
    """Return ``config`` and ``state``; without a state, config is the state, as in Torch7."""
    config = table("config", config)
    return config, config if state is None else table("state", state)


def option(config: Table, key: str, default: Any) -> Any:
    """Return ``config[key]``, or the default if it is missing or None (Lua's nil).

    Raises:
        TypeError: the default is a number or a boolean and the value is neither.
    """
    value = config.get(key)
    if value is None:
        return default
    if isinstance(default, (int, float)) and not isinstance(value, NUMBERS):
        kind = "a boolean" if isinstance(default, bool) else "a number"
        raise TypeError(f"{key} is {value!r}; {kind} is accepted")
    return value


def learning_rate(config: Table, default: float, steps: float) -> float:
    """Return the learning rate after ``steps`` steps, reduced by ``learningRateDecay``."""
    if type(config) is dict:
        for name in _OF_PYTORCH.keys() & config.keys():
            message = f"config has {name}, which is not read; Torch7's name is {_OF_PYTORCH[name]}"
            warnings.warn(message, stacklevel=3)
    rate = option(config, "learningRate", default)
    return rate / (1 + steps * option(config, "learningRateDecay", 0))
