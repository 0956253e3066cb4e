"""``nn.LookupTable``: one trained row per index."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import torch
from torch import Tensor

from compat import random
from compat.checks import number, number_or_none, whole
from compat.nn.checks.arguments import empty
from compat.nn.checks.tensors import INDICES, check_dims
from compat.nn.core.dpnn import renormalise
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.core.results import buffer_reuse
from compat.nn.functional import embedding as f


class LookupTable(Layer):
    """The rows of ``weight`` that the input names (Torch7: ``nn.LookupTable``).

    Args:
        nIndex: the number of rows.
        nOutput: the size of a row.
        paddingValue: the index, from 1, of a row that is not trained; 0 for none.
        maxNorm: the largest norm of a row; longer rows are scaled down before use.
        normType: which norm; 2 by default.

    Shapes: input ``L`` or ``N x L`` of indices from 1 to ``nIndex``, of any tensor type; output
    ``L x nOutput`` or ``N x L x nOutput``. Raises ValueError for other indices,
    except on a GPU, where a check would wait for the device: PyTorch's kernel fails instead, which
    leaves the device unusable.

    PyTorch: ``torch.nn.Embedding``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> table = nn.LookupTable(10, 3)
        >>> rows = table.forward(torch.tensor([1, 10]))  # indices count from 1
        >>> rows[0].equal(table.weight[0]), rows[1].equal(table.weight[9])
        (True, True)
    """

    keeps_gradients = True
    cleared_fields = ("_count",)

    t7_version = 4
    takes = INDICES
    scratch_fields = (
        "_count",
        "_input",
        "_sorted",
        "_indices",
        "_gradOutput",
        "size",
        "batchSize",
        "inputs",
    )

    transient_fields: ClassVar[tuple[str, ...]] = ("renormalised",)

    paddingValue: int = 0
    maxNorm: Scalar | None = None
    normType: Scalar | None = None
    shouldScaleGradByFreq: bool = False

    def __init__(
        self,
        nIndex: int,
        nOutput: int,
        paddingValue: int = 0,
        maxNorm: Scalar | None = None,
        normType: Scalar | None = None,
    ) -> None:
        super().__init__()
        self.weight = empty(nIndex=nIndex, nOutput=nOutput)
        self.setPadding(paddingValue)
        self.setMaxNorm(maxNorm).setNormType(normType)
        self.reset()

    def reset(self, stdv: Scalar | None = None) -> LookupTable:
        """Draw the weights from a normal distribution, by default of standard deviation 1."""
        random.normal_(self.weight, 0, 1 if stdv is None else stdv)
        return self

    def setPadding(self, paddingValue: int) -> LookupTable:
        """Name the row that is not trained, from 1; 0 for none.

        Args:
            paddingValue: the row's number, from 1, or 0.
        """
        if whole(paddingValue, "paddingValue", 0) > len(self.weight):
            raise ValueError(
                f"paddingValue is {paddingValue}; 0 to {len(self.weight)} are accepted"
            )
        self.paddingValue = paddingValue
        return self

    def setMaxNorm(self, maxNorm: Scalar | None) -> LookupTable:
        """Bound the norm of the rows that are used.

        Args:
            maxNorm: the largest norm. Forward scales longer rows down, in place.
        """
        self.maxNorm = number_or_none(maxNorm, "maxNorm")
        return self

    def setNormType(self, normType: Scalar | None) -> LookupTable:
        """Say which norm ``setMaxNorm`` means.

        Args:
            normType: the p of the p-norm; 2 for the Euclidean.
        """
        self.normType = number_or_none(normType, "normType")
        return self

    def scaleGradByFreq(self) -> LookupTable:
        """Divide the gradient of a row by how often it is used in the batch."""
        self.shouldScaleGradByFreq = True
        return self

    def accUpdateOnly(self) -> LookupTable:
        """Drop ``gradWeight``: training goes through ``accUpdateGradParameters`` alone."""
        self.gradWeight = None
        return self

    def maxParamNorm(
        self, maxOutNorm: Scalar | None = None, maxInNorm: Scalar | None = None
    ) -> None:
        """Bound the norms of the columns, which lead to one output, and of the rows.

        As in Torch7's dpnn the columns get the bound of the rows, where only that is given.
        """
        own = vars(self).get
        bounds = own("maxOutNorm"), maxOutNorm, own("maxInNorm"), maxInNorm
        renormalise(self.weight, 1, next((b for b in bounds if b is not None), None))
        renormalise(self.weight, 0, maxInNorm)

    def updateOutput(self, input: Tensor) -> Tensor:
        check_dims(input, 1, 2)
        rows = _rows(input)
        try:
            if self.maxNorm is not None:
                self._check(rows)
                self._renormalise(rows, self.weight, self.maxNorm)
                self.renormalised = rows
            found = f.lookup(rows, self.weight)
        except IndexError:
            self._check(rows)
            raise
        if not buffer_reuse.on or rows.dim() == 1:
            return self.set_output(found)
        # Torch7 makes the output of a batch a new view of the buffer, which lists its rows.
        self.output = self.set_output(found.flatten(0, 1)).view(found.shape)
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        """Return zeros: indices have no gradient."""
        if self.gradInput is None:
            return None
        return self.set_gradInput(torch.zeros_like(input))

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        """Add to the rows of ``gradWeight`` that the input names, and touch no others."""
        gradWeight = self.gradWeight
        if gradWeight is not None:
            self._add(input, gradOutput, gradWeight, scale)

    def _add(self, input: Tensor, gradOutput: Tensor, into: Tensor, scale: Scalar) -> None:
        padding, by_frequency = self.paddingValue - 1, self.shouldScaleGradByFreq
        f.lookup_acc_(_rows(input), gradOutput, into, padding, by_frequency, scale)

    def _renormalise(self, rows: Tensor, weight: Tensor, bound: Scalar) -> None:
        with _renormalising:
            torch.embedding_renorm_(weight, rows.reshape(-1), bound, self.normType or 2)

    def renormalise_as(self, copy: LookupTable) -> None:
        """Bound the norms of the rows that a copy with a ``weight`` of its own has just bounded.

        A container that computes with copies of this layer calls it, so that training goes on.
        """
        rows = copy.__dict__.get("renormalised")
        if rows is not None and self.maxNorm is not None:
            self._renormalise(rows.to(self.weight.device), self.weight, self.maxNorm)

    def _check(self, rows: Tensor) -> None:
        wrong = (rows < 0) | (rows >= len(self.weight))
        if rows.device.type == "cpu" and bool(wrong.any()):
            raise ValueError(
                f"input has the index {int(rows[wrong][0]) + 1}; "
                f"1 to {len(self.weight)} are accepted"
            ) from None

    def accUpdateGradParameters(self, input: Tensor, gradOutput: Tensor, lr: Scalar) -> None:
        """Move the rows that the input names, and only those, by ``-lr`` times their gradients."""
        self._add(input, gradOutput, self.weight, -number(lr, "lr"))

    sharedAccUpdateGradParameters = accUpdateGradParameters

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        self.paddingValue = int(self.paddingValue)


# Replicas on one device share their rows: two at once would shrink a row twice.
_renormalising = threading.Lock()


def _rows(input: Tensor) -> Tensor:
    return input.to(torch.int64) - 1
