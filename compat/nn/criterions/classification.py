"""Classification criterions: the target says to which class an input belongs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from compat.checks import check_choice, number, whole
from compat.nn.checks.tensors import TENSOR, check_dims, check_type
from compat.nn.criterions.base import Criterion
from compat.nn.criterions.labels import check_for_kernel, check_labels, zero_based_labels
from compat.nn.criterions.regression import Averaged, Matched, MSECriterion, matching
from compat.nn.functional import criterions_classification as f
from compat.nn.layers.activation import LogSoftMax, Sigmoid


def class_weights(weights: Any) -> Tensor | None:
    """Check the ``weights`` argument: a vector with one factor per class, or None."""
    if weights is not None and (not isinstance(weights, Tensor) or weights.dim() != 1):
        size = f"of size {tuple(weights.shape)}" if isinstance(weights, Tensor) else repr(weights)
        raise ValueError(f"weights is {size}; a vector of one weight per class is accepted")
    return weights


def check_weights(weights: Tensor | None, input: Tensor, axis: int = -1) -> None:
    """Raise unless ``weights`` has the type of ``input`` and one factor per class."""
    if weights is None:
        return
    if weights.numel() != input.size(axis):
        raise ValueError(
            f"weights has {weights.numel()} elements; one for each of the {input.size(axis)} "
            "classes of input is accepted"
        )
    check_type(weights, input, "weights", "input")


class _NLL(Averaged):
    """The base of negative log likelihoods, for inputs with given numbers of dimensions."""

    newer_fields = ("ignoreIndex",)
    ignoreIndex: int = -100
    weights: Tensor | None = None
    scratch_fields = ("output_tensor", "total_weight_tensor", "target")
    transient_fields = ("total_weight_tensor",)
    total_weight_tensor: Tensor | None = None
    _dims: tuple[int, ...]

    def __init__(self, weights: Tensor | None = None, sizeAverage: bool = True) -> None:
        super().__init__(sizeAverage)
        self.weights = class_weights(weights)

    def updateOutput(self, input: Tensor, target: Any = None) -> float:
        mean = self.sizeAverage
        _, loss, self.total_weight_tensor = self._of_labels(input, target, mean)
        self.output = loss.item()
        return self.output

    def updateGradInput(self, input: Tensor, target: Any = None) -> Tensor:
        # The sum of the weights anew, which also checks labels that were not forwarded.
        labels, _, total = self._of_labels(input, target, False)
        mean, ignored = self.sizeAverage, self.ignoreIndex - 1
        slopes = f.nll_loss_backward(input, labels, self.weights, total, mean, ignored)
        return self.set_gradInput(slopes)

    def _of_labels(self, input: Tensor, target: Any, mean: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return PyTorch's labels, the loss and the sum of the labels' weights."""
        check_dims(input, *self._dims)
        if input.dim() == 1 and isinstance(target, Tensor) and target.dim() == 1:
            target = target[:1]
        axis = 0 if input.dim() == 1 else 1
        shape, weights, ignored = input.shape, self.weights, self.ignoreIndex - 1
        labels = zero_based_labels(target, shape[:axis] + shape[axis + 1 :], input.device)
        check_weights(weights, input, axis)
        check_for_kernel(labels, shape[axis], ignored)
        try:
            return labels, *f.nll_loss(input, labels, weights, mean, ignored)
        except IndexError:
            check_labels(labels, shape[axis], ignored)
            raise

    def t7_fields(self) -> dict[str, Any]:
        number = self._empty().new_zeros(1)
        return {
            **super().t7_fields(),
            "output_tensor": number,
            "total_weight_tensor": torch.ones_like(number),
            "target": number.to(torch.int64),
        }


class ClassNLLCriterion(_NLL):
    """The negative log likelihood of the right class (Torch7: ``nn.ClassNLLCriterion``).

    Args:
        weights: a vector with a factor for each class.
        sizeAverage: divide by the sum of the factors of the targets.
        ignoreIndex: the label of inputs that do not count.

    Shapes: input ``C`` or ``N x C`` of log probabilities; target a label from 1 to C, or a vector
    of ``N``. Of several labels for an input of one dimension, the first counts, as in Torch7.
    Raises ValueError for other labels and sizes.

    PyTorch: ``torch.nn.NLLLoss``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> log_probabilities = torch.tensor([[0.25, 0.75]]).log()
        >>> round(nn.ClassNLLCriterion().forward(log_probabilities, torch.tensor([2])), 4)  # from 1
        0.2877
    """

    _dims = (1, 2)

    def __init__(
        self,
        weights: Tensor | None = None,
        sizeAverage: bool = True,
        ignoreIndex: int = -100,
    ) -> None:
        super().__init__(weights, sizeAverage)
        self.ignoreIndex = whole(ignoreIndex, "ignoreIndex")


class SpatialClassNLLCriterion(_NLL):
    """``ClassNLLCriterion`` for every pixel (Torch7: ``nn.SpatialClassNLLCriterion``).

    Args:
        weights: a vector with a factor for each class.
        sizeAverage: divide by the sum of the factors of the targets.

    Shapes: input ``N x C x H x W`` of log probabilities, target ``N x H x W`` of labels.

    PyTorch: ``torch.nn.NLLLoss``.
    """

    _dims = (4,)


class CrossEntropyCriterion(Criterion):
    """``LogSoftMax`` and ``ClassNLLCriterion`` in one (Torch7: ``nn.CrossEntropyCriterion``).

    Args:
        weights, sizeAverage: as for ``ClassNLLCriterion``, which is the field ``nll``. Setting the
            field ``sizeAverage`` of either works.

    Shapes: input ``C`` or ``N x C``, of any numbers; target a label from 1 to C, or ``N`` of them.
    Dimensions of size 1 do not count, as in Torch7: an input of ``N x 1`` is one sample with N
    classes.

    PyTorch: ``torch.nn.CrossEntropyLoss``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> scores = torch.zeros(2, 4)
        >>> round(nn.CrossEntropyCriterion().forward(scores, torch.tensor([1, 4])), 4)  # log 4
        1.3863
    """

    takes = TENSOR

    # What was last handed on to nll; older files lack it.
    oldSizeAverage: bool | None = None

    def __init__(self, weights: Tensor | None = None, sizeAverage: bool = True) -> None:
        super().__init__()
        self.lsm = LogSoftMax()
        self.nll = ClassNLLCriterion(weights, sizeAverage)
        self.sizeAverage = self.oldSizeAverage = self.nll.sizeAverage

    def updateOutput(self, input: Tensor, target: Any = None) -> float:
        self._hand_on_sizeAverage()
        log_probabilities = self.lsm.updateOutput(_squeezed(input))
        self.output = self.nll.updateOutput(log_probabilities, _squeezed(target))
        return self.output

    def updateGradInput(self, input: Tensor, target: Any = None) -> Tensor:
        self._hand_on_sizeAverage()
        squeezed = _squeezed(input)
        if self.lsm.output.shape != squeezed.shape:
            self.lsm.updateOutput(squeezed)
        slopes = self.nll.updateGradInput(self.lsm.output, _squeezed(target))
        self.lsm.updateGradInput(squeezed, slopes)
        self.gradInput = self.lsm.gradInput.view(input.shape)
        return self.gradInput

    def _hand_on_sizeAverage(self) -> None:
        if self.sizeAverage != self.oldSizeAverage:
            self.nll.sizeAverage = self.oldSizeAverage = self.sizeAverage

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        fields.setdefault("sizeAverage", fields["nll"].sizeAverage)
        super().t7_restore(fields, version)


def _squeezed(value: Any) -> Any:
    """Return a tensor without dimensions of size 1, of which one stays where there are no
    others.
    """
    if not isinstance(value, Tensor):
        return value
    squeezed = value.squeeze()
    return squeezed if squeezed.dim() else squeezed.view(1)


class BCECriterion(Averaged):
    """The cross entropy of independent probabilities (Torch7: ``nn.BCECriterion``).

    Args:
        weights: a vector with a factor for each number of a sample.
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input, of numbers from 0 to 1, and target have the same number of elements. 1e-12 is
    added inside the logarithms. Raises ValueError for other numbers, NaN among them.

    PyTorch: ``torch.nn.BCELoss``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> round(nn.BCECriterion().forward(torch.tensor([0.5]), torch.tensor([1.0])), 4)
        0.6931
    """

    weights: Tensor | None = None
    _slopes = staticmethod(f.bce_loss_backward)

    def __init__(self, weights: Tensor | None = None, sizeAverage: bool = True) -> None:
        super().__init__(sizeAverage)
        self.weights = class_weights(weights)

    @staticmethod
    def _loss(input: Tensor, *more: Any) -> Tensor:
        if input.numel():
            least, most = (bound.item() for bound in input.aminmax())
            if not (least >= 0 and most <= 1):
                wrong = most if least >= 0 else least
                raise ValueError(f"input has {wrong:g}; numbers from 0 to 1 are accepted")
        return f.bce_loss(input, *more)

    def _arguments(self, input: Tensor, target: Any) -> tuple[Any, ...]:
        check_weights(self.weights, input)
        return input, matching(input, target), self.weights, self.sizeAverage


class ClassSimplexCriterion(MSECriterion):
    """The squared distance from a corner of a simplex (Torch7: ``nn.ClassSimplexCriterion``).

    Each of the ``nClasses`` classes is one corner, a row of the field ``simplex``.

    Args:
        nClasses: the number of classes, at least 2.

    Shapes: input ``nClasses`` or ``N x nClasses``; target a label from 1 on, or a vector of ``N``.
    """

    scratch_fields = ("_target",)

    def __init__(self, nClasses: int) -> None:
        super().__init__()
        self.nClasses = nClasses = whole(nClasses, "nClasses", 2)
        self.simplex = _regular_simplex(nClasses)

    def _target_for(self, input: Tensor, target: Any) -> Tensor:
        if input.dim() not in (1, 2) or input.size(-1) != self.nClasses:
            raise ValueError(
                f"input has size {tuple(input.shape)}; {self.nClasses} or N x {self.nClasses} "
                "is accepted"
            )
        labels = zero_based_labels(target, input.shape[:-1], input.device)
        check_labels(labels, self.nClasses)
        return matching(input, self.simplex[labels])

    def getPredictions(self, input: Tensor) -> Tensor:
        """Return how much each sample of ``input`` points to each class: ``N x nClasses``."""
        return (input.unsqueeze(0) if input.dim() == 1 else input) @ self.simplex.t()

    def getTopPrediction(self, input: Tensor) -> Tensor:
        """Return the most likely class of each sample, from 1 on."""
        return self.getPredictions(input).argmax(1) + 1

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "_target": self.simplex.new_zeros(self.nClasses)}


def _regular_simplex(corners: int) -> Tensor:
    """Return as many equidistant unit vectors as dimensions; the last coordinate is 0."""
    points = torch.zeros(corners, corners, dtype=torch.float64)
    inner = -1 / (corners - 1)
    for k in range(corners - 1):
        points[k, k] = (1 - points[k, :k].square().sum()).sqrt()
        # What is left of the inner product that any two corners have.
        rest = inner - points[k, :k].square().sum()
        points[k + 1 :, k] = rest / points[k, k]
    return points.to(torch.get_default_dtype())


class MarginCriterion(Averaged):
    """The mean of ``max(0, margin - target * input)`` (Torch7: ``nn.MarginCriterion``).

    Args:
        margin: how far from 0 an input should be.

    Shapes: input and target, of 1 and -1, have the same number of elements.
    """

    _loss = staticmethod(f.margin_loss)
    _slopes = staticmethod(f.margin_loss_backward)

    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = number(margin, "margin")

    def _arguments(self, input: Tensor, target: Any) -> tuple[Any, ...]:
        return input, matching(input, target), self.margin, self.sizeAverage


class SoftMarginCriterion(Matched):
    """The mean of ``log(1 + exp(-target * input))`` (Torch7: ``nn.SoftMarginCriterion``).

    Shapes: input and target, of 1 and -1, have the same number of elements.

    PyTorch: ``torch.nn.SoftMarginLoss``.
    """

    _loss = staticmethod(f.soft_margin_loss)
    _slopes = staticmethod(f.soft_margin_loss_backward)

    def __init__(self) -> None:
        super().__init__()


class MultiMarginCriterion(Averaged):
    """The mean hinge loss over the wrong classes (Torch7: ``nn.MultiMarginCriterion``).

    Args:
        p: the power of the hinge, 1 or 2.
        weights: a vector with a factor for each class.
        margin: how far above the others the right class should be.

    Shapes: input ``C`` or ``N x C``; target a label from 1 to C, or a vector of ``N``.

    PyTorch: ``torch.nn.MultiMarginLoss``.
    """

    newer_fields = ("p", "margin")
    p: int = 1
    margin: float = 1.0
    weights: Tensor | None = None

    def __init__(self, p: int = 1, weights: Tensor | None = None, margin: float = 1.0) -> None:
        super().__init__()
        self.p = whole(p, "p")
        check_choice(self.p, "p", (1, 2))
        self.margin = number(margin, "margin")
        self.weights = class_weights(weights)

    def updateOutput(self, input: Tensor, target: Any = None) -> float:
        self.output = self._of_labels(f.multi_margin_loss, input, target).item()
        return self.output

    def updateGradInput(self, input: Tensor, target: Any = None) -> Tensor:
        return self.set_gradInput(self._of_labels(f.multi_margin_loss_backward, input, target))

    def _of_labels(self, function: Callable[..., Tensor], input: Tensor, target: Any) -> Tensor:
        check_dims(input, 1, 2)
        labels = zero_based_labels(target, input.shape[:-1], input.device)
        check_weights(self.weights, input)
        check_for_kernel(labels, input.size(-1))
        try:
            return function(input, labels, self.p, self.margin, self.weights, self.sizeAverage)
        except RuntimeError:
            check_labels(labels, input.size(-1))
            raise


class MultiLabelMarginCriterion(Averaged):
    """The mean hinge loss over pairs of a right and a wrong class.

    Torch7: ``nn.MultiLabelMarginCriterion``.

    Shapes: input and target ``C`` or ``N x C``. The labels of a sample, from 1 on, stand first in
    its target; the first 0 ends them.

    PyTorch: ``torch.nn.MultiLabelMarginLoss``.
    """

    scratch_fields = ("isTarget",)

    def __init__(self) -> None:
        super().__init__()

    def updateOutput(self, input: Tensor, target: Any = None) -> float:
        self.output = self._of_labels(input, target)[1].item()
        return self.output

    def updateGradInput(self, input: Tensor, target: Any = None) -> Tensor:
        labels, _, is_target = self._of_labels(input, target)
        slopes = f.multi_label_margin_loss_backward(input, labels, is_target, self.sizeAverage)
        return self.set_gradInput(slopes)

    def _of_labels(self, input: Tensor, target: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Return PyTorch's labels, the loss, and which classes are right."""
        check_dims(input, 1, 2)
        labels = zero_based_labels(target, input.shape, input.device)
        check_for_kernel(labels, input.size(-1), ignored=-1)
        try:
            return labels, *f.multi_label_margin_loss(input, labels, self.sizeAverage)
        except RuntimeError:
            check_labels(labels, input.size(-1), ignored=-1)
            raise

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "isTarget": self._empty()}


class MultiLabelSoftMarginCriterion(Averaged):
    """``BCECriterion`` of the sigmoid of the input (Torch7: ``nn.MultiLabelSoftMarginCriterion``).

    Args:
        weights: a vector with a factor for each class.
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input ``C`` or ``N x C``; the target, of 1 where the class is right and 0 elsewhere,
    has as many elements.

    PyTorch: ``torch.nn.MultiLabelSoftMarginLoss``.
    """

    weights: Tensor | None = None
    scratch_fields = ("_buffer1", "_buffer2", "lsm", "nll")
    _loss = staticmethod(f.multi_label_soft_margin_loss)
    _slopes = staticmethod(f.multi_label_soft_margin_loss_backward)

    def __init__(self, weights: Tensor | None = None, sizeAverage: bool = True) -> None:
        super().__init__(sizeAverage)
        self.weights = class_weights(weights)
        self.sigmoid = Sigmoid()

    def _arguments(self, input: Tensor, target: Any) -> tuple[Any, ...]:
        check_weights(self.weights, input)
        return input, matching(input, target), self.weights, self.sizeAverage

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        if "nll" in fields:
            # The first version was made of a sigmoid and a BCECriterion.
            fields["sigmoid"] = fields["lsm"]
            fields["weights"] = fields["nll"].weights
            fields["sizeAverage"] = fields["nll"].sizeAverage
        super().t7_restore(fields, version)
