"""The net on its devices, and the criterion."""

from __future__ import annotations

import torch

from compat import cutorch, nn
from compat.cmdline import Options
from dptable import DataParallelTable
from dptable.models import resnet


def setup(
    opt: Options, classes: int, size: tuple[int, int, int], model: nn.Module | None = None
) -> tuple[DataParallelTable, nn.Criterion]:
    """A new residual net or ``model``, replicated on the first ``opt.nGPU`` devices."""
    if model is None:
        model = resnet(classes, *size, depth=opt.depth, shortcut_type=opt.shortcutType)
    gpus = list(range(1, opt.nGPU + 1))
    distinct = len({cutorch.device(gpu) for gpu in gpus}) == len(gpus)
    on_gpus = all(cutorch.device(gpu).type == "cuda" for gpu in gpus)
    dpt = DataParallelTable(1, True, on_gpus and distinct).add(model, gpus)
    # One thread per replica: operators that each start a thread per core would be slower.
    dpt.threads(lambda: torch.set_num_threads(1))
    dpt.gradInput = None
    tensorType = "torch.CudaTensor" if on_gpus else "torch.FloatTensor"
    return dpt.type(tensorType), nn.CrossEntropyCriterion().type(tensorType)
