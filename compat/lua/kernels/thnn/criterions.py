"""Losses: results of one element; class labels count from 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from compat.lua.kernels.errors import ArgumentError
from compat.lua.kernels.thnn.checks import check_size, shown
from compat.nn.functional import criterions_classification as classification
from compat.nn.functional import criterions_regression as regression

KERNELS: dict[str, Callable[..., Any]] = {}


def _add(name: str, loss: Callable[..., Tensor], slopes: Callable[..., Tensor]) -> None:
    """Register the two functions of a criterion."""

    def updateOutput(*arguments: Any, **settings: Any) -> Tensor:
        return loss(*arguments, **_renamed(settings)).view(1)

    def updateGradInput(*arguments: Any, **settings: Any) -> Tensor:
        return slopes(*arguments, **_renamed(settings))

    KERNELS[f"{name}_updateOutput"] = updateOutput
    KERNELS[f"{name}_updateGradInput"] = updateGradInput


def _renamed(settings: dict[str, Any]) -> dict[str, Any]:
    if "sizeAverage" in settings:
        settings["mean"] = settings.pop("sizeAverage")
    return settings


_add("AbsCriterion", regression.abs_loss, regression.abs_loss_backward)
_add("MSECriterion", regression.mse_loss, regression.mse_loss_backward)
_add("SmoothL1Criterion", regression.smooth_l1_loss, regression.smooth_l1_loss_backward)
_add("DistKLDivCriterion", regression.kl_div_loss, regression.kl_div_loss_backward)
_add("L1Cost", regression.l1_cost, regression.l1_cost_backward)
_add("BCECriterion", classification.bce_loss, classification.bce_loss_backward)
_add("MarginCriterion", classification.margin_loss, classification.margin_loss_backward)
_add(
    "SoftMarginCriterion",
    classification.soft_margin_loss,
    classification.soft_margin_loss_backward,
)

# The label that callers from before there was one leave out.
_IGNORED = -100


def _check_classes(input: Tensor, target: Tensor, weights: Tensor | None) -> None:
    if target.dim() > 1:
        raise RuntimeError("multi-target not supported")
    if input.dim() not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    if weights is not None and weights.numel() != input.size(-1):
        raise RuntimeError(
            f"weight tensor should be defined either for all {input.size(-1)} classes or no "
            f"classes but got weight tensor of shape: {shown(weights)}"
        )
    if input.dim() == 2:
        check_size(target, "target", 1, 0, input.size(0))


def ClassNLLCriterion_updateOutput(
    input: Tensor,
    target: Tensor,
    weights: Tensor | None,
    sizeAverage: bool,
    ignore_index: int = _IGNORED,
) -> tuple[Tensor, Tensor]:
    _check_classes(input, target, weights)
    return _nll(input, _label(input, target), weights, sizeAverage, ignore_index)


def ClassNLLCriterion_updateGradInput(
    input: Tensor,
    target: Tensor,
    weights: Tensor | None,
    total_weight: Tensor,
    sizeAverage: bool,
    ignore_index: int = _IGNORED,
) -> Tensor:
    _check_classes(input, target, weights)
    target = _label(input, target)
    return _nll_slopes(input, target, weights, total_weight, sizeAverage, ignore_index)


def _nll(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool, ignored: int
) -> tuple[Tensor, Tensor]:
    loss, total = classification.nll_loss(input, target - 1, weights, sizeAverage, ignored - 1)
    return loss.view(1), total.view(1)


def _nll_slopes(
    input: Tensor,
    target: Tensor,
    weights: Tensor | None,
    total: Tensor,
    sizeAverage: bool,
    ignored: int,
) -> Tensor:
    labels, ignored = target - 1, ignored - 1
    # Checks the labels, which need not be those of forward.
    classification.nll_loss(input, labels, weights, False, ignored)
    return classification.nll_loss_backward(
        input, labels, weights, total.view(()), sizeAverage, ignored
    )


def _label(input: Tensor, target: Tensor) -> Tensor:
    """Return the target in PyTorch's form: that of one sample has no dimension."""
    return target.flatten()[0] if input.dim() == 1 else target


def _check_planes(input: Tensor, target: Tensor, weights: Tensor | None) -> None:
    if target.dim() != 3:
        raise ArgumentError(
            3,
            "only batches of spatial targets supported (3D tensors) but got targets of "
            f"dimension: {target.dim()}",
        )
    if input.dim() != 4:
        raise ArgumentError(
            2,
            "only batches of spatial inputs supported (4D tensors), but got input of "
            f"dimension: {input.dim()}",
        )
    if weights is not None and weights.numel() != input.size(1):
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    if target.shape != (input.size(0), *input.shape[2:]):
        sizes = "x".join(map(str, input.shape)), "x".join(map(str, target.shape))
        raise RuntimeError("size mismatch (got input: {}, target: {})".format(*sizes))


def SpatialClassNLLCriterion_updateOutput(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool
) -> tuple[Tensor, Tensor]:
    _check_planes(input, target, weights)
    return _nll(input, target, weights, sizeAverage, _IGNORED)


def SpatialClassNLLCriterion_updateGradInput(
    input: Tensor,
    target: Tensor,
    weights: Tensor | None,
    total_weight: Tensor,
    sizeAverage: bool,
) -> Tensor:
    _check_planes(input, target, weights)
    return _nll_slopes(input, target, weights, total_weight, sizeAverage, _IGNORED)


def _check_labels(input: Tensor, target: Tensor) -> None:
    if input.dim() not in (1, 2):
        raise ArgumentError(2, "vector or matrix expected")
    if target.shape != input.shape:
        raise ArgumentError(3, "inconsistent target size")
    if not bool(((target >= 0) & (target <= input.size(-1))).all()):
        raise ArgumentError(3, "target out of range")


def MultiLabelMarginCriterion_updateOutput(
    input: Tensor, target: Tensor, sizeAverage: bool
) -> tuple[Tensor, Tensor]:
    _check_labels(input, target)
    loss, is_target = classification.multi_label_margin_loss(input, target - 1, sizeAverage)
    return loss.view(1), is_target


def MultiLabelMarginCriterion_updateGradInput(
    input: Tensor, target: Tensor, isTarget: Tensor, sizeAverage: bool
) -> Tensor:
    _check_labels(input, target)
    return classification.multi_label_margin_loss_backward(input, target - 1, isTarget, sizeAverage)


def _check_label(input: Tensor, target: Tensor) -> None:
    if input.dim() not in (1, 2):
        raise ArgumentError(2, "vector or matrix expected")
    if target.shape != (1 if input.dim() == 1 else input.size(0),):
        raise ArgumentError(3, "inconsistent target size")
    if not bool(((target >= 1) & (target <= input.size(-1))).all()):
        raise ArgumentError(3, "target out of range")


def MultiMarginCriterion_updateOutput(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool, p: int, margin: float
) -> Tensor:
    _check_label(input, target)
    loss = classification.multi_margin_loss(input, target - 1, p, margin, weights, sizeAverage)
    return loss.view(1)


def MultiMarginCriterion_updateGradInput(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool, p: int, margin: float
) -> Tensor:
    _check_label(input, target)
    return classification.multi_margin_loss_backward(
        input, target - 1, p, margin, weights, sizeAverage
    )
