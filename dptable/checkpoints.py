"""Checkpoint folders as the Torch7 training scripts (fb.resnet.torch and others) lay them out.

``latest.t7`` is a table ``{epoch, modelFile, optimFile, …}``, where ``modelFile`` and ``optimFile``
name the files of the network and of the optimizer's state in the same folder. Where these would be
too large for one process, ``stateFolder`` names a folder of slices instead.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from compat import nn, t7
from compat.checks import given
from dptable.container.data_parallel_table import DataParallelTable
from dptable.sharding import ShardedParameters

__all__ = [
    "exists",
    "latest",
    "moved",
    "save",
    "save_distributed",
    "slices",
    "table",
]

LATEST = "latest.t7"


def exists(folder: str | os.PathLike[str]) -> bool:
    """Return whether ``folder`` holds a checkpoint."""
    return (Path(folder) / LATEST).is_file()


def save(
    folder: str | os.PathLike[str],
    epoch: int,
    model: nn.Module,
    optimState: dict[str, Any],
    step: int = 0,
    **more: Any,
) -> Path:
    """Write ``model_N.t7``, ``optimState_N.t7``, then ``latest.t7``; ``more`` goes into the last.

    N is ``epoch``, the completed epochs, or ``epoch_step`` in the midst of one. Since ``latest.t7``
    is written last and atomically, a crash at any time leaves the checkpoint before. Of a
    ``DataParallelTable`` the first replica is saved, so that any number of devices can load it, and
    of any model a cleared float copy: the one in training stays as it is. A bfloat16 state is
    saved as float, too, since Torch7 has no such type.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(model, DataParallelTable):
        model.settleStatistics()
        model = model.get(1)
    name = _number(epoch, step)
    modelFile, optimFile = f"model_{name}.t7", f"optimState_{name}.t7"
    t7.save(folder / modelFile, model.clone().float().clearState())
    t7.save(folder / optimFile, _without_bfloat16(optimState))
    t7.save(
        folder / LATEST,
        {"epoch": epoch, "step": step, "modelFile": modelFile, "optimFile": optimFile, **more},
    )
    return folder / LATEST


def _number(epoch: int, step: int) -> str:
    return f"{epoch}_{step}" if step else str(epoch)


def save_distributed(
    folder: str | os.PathLike[str],
    epoch: int,
    sharded: ShardedParameters,
    optimState: dict[str, Any],
    step: int = 0,
    **more: Any,
) -> Path:
    """Write the folder ``state_N`` and then ``latest.t7``; otherwise as ``save``.

    Every process calls this, with its part of the state, and writes its slices; see
    ``ShardedParameters.save_distributed``. The net itself is not in the files.
    """
    folder = Path(folder)
    name = f"state_{_number(epoch, step)}"
    # The latest checkpoint is not written over, nor one that a crash kept from becoming it.
    taken = (folder / name).exists()
    name = sharded.agreed(f"{name}.{uuid.uuid4().hex[:8]}" if taken else name)
    sharded.save_distributed(folder / name, optimState)
    if sharded.rank == 0:
        t7.save(folder / LATEST, {"epoch": epoch, "step": step, "stateFolder": name, **more})
    return folder / LATEST


def slices(folder: str | os.PathLike[str]) -> Path | None:
    """Return the folder of slices of a checkpoint, if it has one, for ``load_distributed``."""
    held = table(folder)
    return _file(Path(folder), held, "stateFolder") if "stateFolder" in held else None


def _without_bfloat16(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.float() if value.dtype == torch.bfloat16 else value
    if isinstance(value, dict):
        return {key: _without_bfloat16(v) for key, v in value.items()}
    return [_without_bfloat16(v) for v in value] if isinstance(value, list) else value


def table(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the table ``latest.t7`` of a checkpoint folder.

    Raises ``FileNotFoundError`` where there is no checkpoint, ``ValueError`` for something else.
    """
    if not exists(folder):
        path = Path(folder)
        lack = "a file, no folder" if path.is_file() else "no such folder"
        if path.is_dir():
            lack = f"there is no {LATEST} in this folder"
        raise FileNotFoundError(f"{folder}: no checkpoint, {lack}")
    held = t7.load(Path(folder) / LATEST)
    if not isinstance(held, dict):
        raise ValueError(f"{Path(folder) / LATEST} holds {given(held)}; a table is accepted")
    return held


def latest(folder: str | os.PathLike[str]) -> tuple[dict[str, Any], nn.Module, dict[str, Any]]:
    """Read the table ``latest.t7``, the model and the optimizer state of a checkpoint folder.

    A ``DataParallelTable`` in the model file is unwrapped; it need not fit the devices there are
    now. Raises ``FileNotFoundError`` where there is no checkpoint, ``ValueError`` for one of
    slices, or whose files hold something else.
    """
    folder = Path(folder)
    held = table(folder)
    if "stateFolder" in held:
        raise ValueError(
            f"{folder} holds slices; a checkpoint of files is accepted: load_distributed of "
            "dptable.sharding reads slices"
        )
    modelFile, optimFile = (_file(folder, held, key) for key in ("modelFile", "optimFile"))
    # A table without entries is read as a list.
    model, optimState = _load_on_one_device(modelFile), t7.load(optimFile) or {}
    if not isinstance(model, nn.Module):
        raise ValueError(f"{modelFile} holds {given(model)}; a net is accepted")
    if not isinstance(optimState, dict):
        raise ValueError(f"{optimFile} holds {given(optimState)}; a table is accepted")
    return held, model, optimState


def _file(folder: Path, held: dict[str, Any], key: str) -> Path:
    """Return the file of the folder that the table names."""
    name = held.get(key)
    if not isinstance(name, str):
        raise ValueError(f"{folder / LATEST}: {key} is {given(name)}; a file's name is accepted")
    # Early scripts stored the files' paths from where they ran.
    return folder / Path(name).name


def _load_on_one_device(path: Path) -> nn.Module:
    before = DataParallelTable.deserializeNGPUs
    DataParallelTable.deserializeNGPUs = 1
    try:
        model = t7.load(path)
    finally:
        DataParallelTable.deserializeNGPUs = before
    return model.get(1) if isinstance(model, DataParallelTable) else model


def moved(optimState: dict[str, Any], like: Tensor) -> dict[str, Any]:
    """Return an optimizer's state with its floating-point tensors of the device and type of
    ``like``.
    """
    return {
        key: value.to(like) if isinstance(value, Tensor) and value.is_floating_point() else value
        for key, value in optimState.items()
    }
