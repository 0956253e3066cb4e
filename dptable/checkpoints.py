"""Read and write checkpoint folders in the layout of Torch7's training scripts (fb.resnet.torch).

``latest.t7`` is a table ``{epoch, modelFile, optimFile, …}``. ``modelFile`` and ``optimFile`` name
the files of the network and of the optimizer's state in the same folder. In a distributed
checkpoint ``stateFolder`` names a folder instead, to which every process writes its slice.
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
    """Return whether ``folder`` holds a checkpoint.

    Args:
        folder: the folder of a run.
    """
    return (Path(folder) / LATEST).is_file()


def save(
    folder: str | os.PathLike[str],
    epoch: int,
    model: nn.Module,
    optimState: dict[str, Any],
    step: int = 0,
    **more: Any,
) -> Path:
    """Write a checkpoint: ``model_N.t7``, ``optimState_N.t7``, then ``latest.t7``.

    ``latest.t7`` is written last and atomically: after a crash the checkpoint before is still
    whole.

    Args:
        folder: the folder of the run.
        epoch: the number of completed epochs. N is ``epoch``, or ``epoch_step`` inside an epoch.
        model: the net. A cleared float copy is saved, of a ``DataParallelTable`` the first replica,
            so that any number of devices can load it. ``model`` itself is not changed.
        optimState: the optimizer's state. bfloat16 is saved as float, since Torch7 has no such
            type.
        step: the number of completed steps of the next epoch.
        more: further entries for ``latest.t7``.

    Returns:
        The path of ``latest.t7``.
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
    """Write a distributed checkpoint: the folder ``state_N``, then ``latest.t7``.

    Every process calls this function with its part of the state and writes its slices; see
    ``ShardedParameters.save_distributed``. The structure of the net is not saved. For the
    arguments, see ``save``.

    Args:
        folder: the folder of the run.
        epoch: the number of completed epochs.
        sharded: this process's shards of the parameters.
        optimState: this process's part of the optimizer's state.
        step: the number of completed steps of the next epoch.
        more: further entries for ``latest.t7``.

    Returns:
        The path of ``latest.t7``.
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
    """Return the folder of slices for ``load_distributed``; None if there is none.

    Args:
        folder: the folder of a run.
    """
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

    Args:
        folder: the folder of a run.

    Returns:
        The entries that ``save`` wrote: ``epoch``, ``step``, ``modelFile``, ``optimFile`` and more.

    Raises:
        FileNotFoundError: the folder holds no checkpoint.
        ValueError: ``latest.t7`` is not such a table.
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
    """Load the latest checkpoint of a folder: its table, the model, the optimizer's state.

    If the model file holds a ``DataParallelTable``, its net is returned, whatever devices there are
    now.

    Args:
        folder: the folder of a run.

    Raises:
        FileNotFoundError: the folder holds no checkpoint.
        ValueError: the checkpoint is a distributed one, or its files hold something else.
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
    """Return the path of the file that the table names under ``key``."""
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
    """Move an optimizer's floating-point tensors to the device and dtype of ``like``.

    Args:
        optimState: the dict of an optimizer.
        like: a tensor, such as the flat parameters.
    """
    return {
        key: value.to(like) if isinstance(value, Tensor) and value.is_floating_point() else value
        for key, value in optimState.items()
    }
