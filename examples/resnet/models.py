"""The net on its devices, and the criterion."""

from __future__ import annotations

from typing import Any

import torch

from compat import cutorch, nn, t7
from compat.cmdline import Options
from dptable import DataParallelTable
from dptable.models import imagenet_resnet, resnet

# What --precision calls the tensor types, on GPUs and on CPUs.
PRECISIONS = {
    "single": ("torch.CudaTensor", "torch.FloatTensor"),
    "double": ("torch.CudaDoubleTensor", "torch.DoubleTensor"),
    "half": ("torch.CudaHalfTensor", "torch.HalfTensor"),
}
NET_TYPES = ("resnet", "preresnet")


def setup(
    opt: Options, classes: int, size: tuple[int, int, int], model: nn.Module | None = None
) -> tuple[DataParallelTable, nn.Criterion]:
    """A new residual net or ``model``, replicated on the first ``opt.nGPU`` devices.

    Without ``model``, that of a checkpoint, ``opt.retrain`` is the file of one to begin with, of
    which ``opt.resetClassifier`` exchanges the last layer.
    """
    if model is None:
        model = _retrained(opt) if opt.get("retrain") else _new(opt, classes, size)
    gpus = list(range(1, opt.nGPU + 1))
    distinct = len({cutorch.device(gpu) for gpu in gpus}) == len(gpus)
    on_gpus = all(cutorch.device(gpu).type == "cuda" for gpu in gpus)
    dpt = DataParallelTable(1, True, on_gpus and distinct).add(model, gpus)
    # One thread per replica: operators that each start a thread per core would be slower.
    dpt.threads(lambda: torch.set_num_threads(1))
    dpt.gradInput = None
    tensorType = PRECISIONS[opt.get("precision", "single")][0 if on_gpus else 1]
    return dpt.type(tensorType), nn.CrossEntropyCriterion().type(tensorType)


def _new(opt: Options, classes: int, size: tuple[int, int, int]) -> nn.Module:
    build = imagenet_resnet if opt.dataset == "imagenet" else resnet
    return build(
        opt.nClasses or classes,
        *size,
        depth=opt.depth,
        shortcut_type=opt.shortcutType,
        preactivation=opt.netType == "preresnet",
    )


def _retrained(opt: Options) -> Any:
    print(f"Loading model from file: {opt.retrain}")
    model: Any = t7.load(opt.retrain)
    if isinstance(model, DataParallelTable):
        model = model.get(1)
    if opt.resetClassifier:
        print(f" => Replacing classifier with {opt.nClasses}-way classifier")
        last = model.get(-1)
        if not isinstance(last, nn.Linear):
            raise ValueError(f"the last layer of {opt.retrain} is {last}; nn.Linear is accepted")
        linear = nn.Linear(last.weight.size(1), opt.nClasses).type(last.type())
        linear.bias.zero_()
        model.remove(len(model))
        model.add(linear)
    return model
