"""Checkpoints in the folder ``opt.save``: those of ``dptable.checkpoints``, and the best model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from compat import nn, t7
from compat.cmdline import Options
from dptable import checkpoints


def latest(opt: Options) -> tuple[dict[str, Any], nn.Module | None, dict[str, Any] | None]:
    """What ``latest.t7`` of folder ``opt.resume`` holds, its model and its optimizer's state.

    Without it, the optimizer's state may be that of the file ``opt.optimState``.
    """
    if not opt.resume:
        return {}, None, t7.load(opt.optimState) if opt.get("optimState") else None
    print(f"=> Loading checkpoint {Path(opt.resume, checkpoints.LATEST)}")
    return checkpoints.latest(opt.resume)


def save(
    opt: Options,
    epoch: int,
    model: nn.Module,
    optimState: dict[str, Any],
    is_best: bool = False,
    **more: Any,
) -> None:
    """Write ``model_N.t7``, ``optimState_N.t7``, ``latest.t7``; ``model_best.t7`` for the best."""
    checkpoints.save(opt.save, epoch, model, optimState, **more)
    if is_best:
        print(" * Best model")
        folder = Path(opt.save)
        shutil.copyfile(folder / f"model_{epoch}.t7", folder / "model_best.t7")
