"""The formulas of Torch7's nn: forward and the gradients; a file for each family.

Pure functions on tensors that import torch alone, so that a function's source can stand in a
generated program. The layers of ``compat.nn`` and the THNN of the Lua runtime call them, and
nothing else computes.
"""

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: here are the formulas of layers, a file "
        f"for each family; PyTorch's function is torch.nn.functional.{name}"
    )
