"""``criterion.to_torch()``: the losses of Torch7 as ``torch.nn`` modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from compat.nn.checks.error_place import locate
from compat.nn.criterions import classification, combined, embedding, regression
from compat.nn.criterions.base import Criterion
from compat.nn.criterions.logistic import BinaryLogisticRegression
from compat.nn.graph.gmodule import ModuleFromCriterion
from compat.nn.interchange import torch_losses as losses
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent.masking import MaskZeroCriterion
from compat.nn.recurrent.sequence_criterions import RepeaterCriterion, SequencerCriterion
from compat.nn.unknown import UnknownCriterion

_LOSSES: dict[type, Callable[[Any], torch.nn.Module]] = {
    regression.AbsCriterion: lambda c: losses.AbsCriterion(c.sizeAverage),
    regression.MSECriterion: lambda c: losses.MSECriterion(c.sizeAverage),
    regression.WeightedMSECriterion: lambda c: losses.MSECriterion(c.sizeAverage, c.weight),
    regression.SpatialAutoCropMSECriterion: lambda c: losses.SpatialAutoCropMSECriterion(
        c.sizeAverage
    ),
    regression.SmoothL1Criterion: lambda c: losses.SmoothL1Criterion(c.sizeAverage),
    regression.DistKLDivCriterion: lambda c: losses.DistKLDivCriterion(c.sizeAverage),
    classification.ClassNLLCriterion: lambda c: _nll(losses.ClassNLLCriterion, c, c.sizeAverage),
    classification.SpatialClassNLLCriterion: lambda c: _nll(
        losses.ClassNLLCriterion, c, c.sizeAverage
    ),
    classification.CrossEntropyCriterion: lambda c: _nll(
        losses.CrossEntropyCriterion, c.nll, c.sizeAverage
    ),
    classification.BCECriterion: lambda c: losses.BCECriterion(c.sizeAverage, c.weights),
    classification.MultiLabelSoftMarginCriterion: lambda c: losses.MultiLabelSoftMarginCriterion(
        c.sizeAverage, c.weights
    ),
    classification.ClassSimplexCriterion: lambda c: losses.ClassSimplexCriterion(
        c.sizeAverage, c.simplex
    ),
    classification.MarginCriterion: lambda c: losses.MarginCriterion(c.margin, c.sizeAverage),
    classification.SoftMarginCriterion: lambda c: losses.SoftMarginCriterion(c.sizeAverage),
    BinaryLogisticRegression: lambda c: losses.SoftMarginCriterion(c.sizeAverage),
    classification.MultiMarginCriterion: lambda c: losses.MultiMarginCriterion(
        c.margin, c.sizeAverage, c.weights, c.p
    ),
    classification.MultiLabelMarginCriterion: lambda c: losses.MultiLabelMarginCriterion(
        c.sizeAverage
    ),
    embedding.HingeEmbeddingCriterion: lambda c: losses.HingeEmbeddingCriterion(
        c.margin, c.sizeAverage
    ),
    embedding.L1HingeEmbeddingCriterion: lambda c: losses.L1HingeEmbeddingCriterion(c.margin),
    embedding.CosineEmbeddingCriterion: lambda c: losses.CosineEmbeddingCriterion(
        c.margin, c.sizeAverage
    ),
    embedding.DistanceRatioCriterion: lambda c: losses.DistanceRatioCriterion(c.sizeAverage),
    embedding.MarginRankingCriterion: lambda c: losses.MarginRankingCriterion(
        c.margin, c.sizeAverage
    ),
    combined.L1Cost: lambda c: losses.L1Cost(),
    combined.MultiCriterion: lambda c: _sum(c, False, False),
    combined.ParallelCriterion: lambda c: _sum(c, True, not c.repeatTarget),
    combined.ModuleCriterion: lambda c: losses.ModuleCriterion(
        to_torch(c.criterion), *map(_module, (c.inputModule, c.targetModule))
    ),
    MaskZeroCriterion: lambda c: losses.MaskZeroCriterion(to_torch(c.criterion), c.nInputDim),
    SequencerCriterion: lambda c: losses.OverSteps(
        to_torch(c.criterion), False, bool(getattr(c, "sizeAverage", False))
    ),
    RepeaterCriterion: lambda c: losses.OverSteps(to_torch(c.criterion), True),
}


def converts_criterion(cls: type, make: Callable[[Any], torch.nn.Module]) -> None:
    """Let ``make(criterion)`` convert the criterions of a class."""
    _LOSSES[cls] = make


def _nll(cls: Any, criterion: Any, mean: bool) -> torch.nn.Module:
    return cls(mean, criterion.weights, criterion.ignoreIndex)


def _sum(criterion: Any, split: bool, split_target: bool) -> torch.nn.Module:
    parts = list(map(to_torch, criterion.criterions))
    return losses.WeightedSum(parts, list(criterion.weights), split, split_target)


def _module(module: Any) -> torch.nn.Module:
    return torch.nn.Identity() if module is None else module.to_torch()


def to_torch(criterion: Criterion) -> torch.nn.Module:
    """What ``Criterion.to_torch`` does."""
    try:
        for cls in type(criterion).__mro__:
            if cls in _LOSSES:
                return _LOSSES[cls](criterion)
            if "compute" in vars(cls) or "updateOutput" in vars(cls):
                break
        if isinstance(criterion, UnknownCriterion):
            raise ValueError(f"cannot be converted, {criterion.what_to_do}")
        raise ValueError(
            "torch.nn has no equivalent of this criterion; converts_criterion of "
            f"{__name__} adds one"
        )
    except Exception as error:
        locate(error, criterion)
        raise


Criterion.torch_converter = staticmethod(to_torch)


@converts(combined.CriterionTable)
def _criterion_table(module: Any, convert: ToTorch) -> torch.nn.Module:
    return losses.OfPair(to_torch(module.criterion), [])


@converts(ModuleFromCriterion)
def _module_from_criterion(module: Any, convert: ToTorch) -> torch.nn.Module:
    return losses.OfPair(to_torch(module.criterion), [1])
