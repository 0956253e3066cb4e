"""Fused recurrent steps, which THNN has on GPUs only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _missing(*arguments: Any) -> None:
    raise RuntimeError("Not implemented for CPU")


KERNELS: dict[str, Callable[..., Any]] = {
    f"{cell}Fused_{method}": _missing
    for cell in ("GRU", "LSTM")
    for method in ("updateOutput", "updateGradInput")
}
