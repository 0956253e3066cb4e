"""Linear layers whose inputs are lists of the features that are not zero."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import random
from compat.checks import check_tensor, flag, given, whole, wrong_type
from compat.nn.checks.arguments import empty
from compat.nn.checks.tensors import ANYTHING, TABLE, check_type
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.functional import sparse as f
from compat.nn.layers.initialisation import uniform_stdv

S = TypeVar("S", bound="_Sparse")

# How often a SparseLinear has gone back since its gradients were zeroed.
_NEVER, _ONCE, _OFTEN = range(3)


class _Sparse(Layer):
    """The base of both layers: the sum over the features, weight decay, gradInput."""

    takes = TABLE
    table_fields = ("gradInput",)
    doGradInput: bool = False
    weightDecay: Scalar = 0  # type: ignore[assignment]

    def reset(self: S, stdv: Scalar | None = None) -> S:
        """Draw the weights anew; the bias gets a millionth of their size."""
        bound = uniform_stdv(stdv, self.weight.size(1))
        random.uniform_(self.weight, -bound, bound)
        random.uniform_(self.bias, -bound, bound).mul_(0.000001)
        return self

    def dense_weight(self) -> Tensor:
        """Return ``weight`` as ``outputSize x inputSize``."""
        raise TypeError(f"{self.typename} does not define dense_weight()")

    def dense_gradient(self, input: Any, gradient: Tensor) -> Any:
        """Return ``gradient``, ``N x inputSize``, in the form of the input, with every feature."""
        raise TypeError(f"{self.typename} does not define dense_gradient()")

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> Any:
        if self.gradInput is None:
            return None
        gradInput: Any = []
        if self.doGradInput:
            samples = gradOutput.reshape(-1, gradOutput.size(-1))
            gradInput = self.dense_gradient(input, samples.mm(self.dense_weight()))
        return self.set_gradInput(gradInput)


class SparseLinear(_Sparse):
    """A ``Linear`` for sparse inputs (Torch7: ``nn.SparseLinear``).

    Args:
        inputSize, outputSize: numbers of features.
        doGradInput: whether to compute gradInput: for each sample all features and their gradients.

    Shapes: a table of ``N`` tensors ``n x 2``, whose rows are the number of a feature, from 1, and
    its value; or one such tensor; or, with the same n for all, a tensor ``N x n x 2``. Output
    ``N x outputSize``, or ``outputSize`` for one sample. Features of value 0 do not count, also
    with the number 0. With the field ``weightDecay``, so much times the weight is added to its
    gradient; after a single backward pass ``updateParameters`` and ``zeroGradParameters`` touch
    the columns of the features of that pass alone, so that others decay when they are next met.

    Differs from Torch7: without ``doGradInput`` the gradInput of the third form is empty, not
    arbitrary; ``clearState`` works; ``gradOutput`` keeps its shape; what ``weightDecay`` adds heeds
    ``scale``.

    PyTorch: ``torch.nn.EmbeddingBag``.
    """

    scratch_fields = ("lastInput", "formatted_input", "shardBuffer", "cudaBuffer", "legacyMode")
    transient_fields: ClassVar[tuple[str, ...]] = ("_columns",)
    # Those of the features of the latest backward pass.
    _columns: Tensor | None = None
    gradWeight: Any
    gradBias: Any

    def __init__(self, inputSize: int, outputSize: int, doGradInput: bool = False) -> None:
        super().__init__()
        self.weightDecay = 0
        self.doGradInput = flag(doGradInput, "doGradInput")
        self.weight = empty(outputSize=outputSize, inputSize=inputSize)
        self.bias = empty(outputSize=outputSize)
        self.sparseUpdate = _NEVER
        self.reset()

    def updateOutput(self, input: Any) -> Tensor:
        if self.sparseUpdate == _ONCE:
            self.sparseUpdate = _OFTEN
        rows, values, owners, count = self._features(input)
        output = f.sparse_linear(rows, values, owners, count, self.weight.t(), self.bias)
        return self.set_output(output if _is_batch(input) else output.squeeze(0))

    def accGradParameters(self, input: Any, gradOutput: Tensor, scale: Scalar = 1) -> None:
        rows, values, owners, count = self._features(input)
        weight, gradWeight = self.weight, self.gradWeight
        gradOutput = gradOutput.reshape(count, weight.size(0))
        columns = None if gradWeight is None else gradWeight.t()
        f.sparse_linear_acc_(rows, values, owners, gradOutput, columns, self.gradBias, scale)
        if self.weightDecay:
            self.sparseUpdate = _OFTEN if self.sparseUpdate else _ONCE
            self._columns = rows[values != 0].unique()
            if gradWeight is not None:
                gradWeight.add_(weight, alpha=self.weightDecay * scale)

    def _features(self, input: Any) -> tuple[Tensor, Tensor, Tensor, int]:
        """Return the features, from 0, their values and samples, and how many samples there are."""
        samples = list(input) if _is_batch(input) else [input]
        for i, sample in enumerate(samples, 1):
            name = f"input[{i}]" if _is_batch(input) else "input"
            check_type(check_tensor(sample, name), self.weight, name)
            if sample.dim() != 2 or sample.size(1) != 2:
                raise ValueError(
                    f"{name} has size {tuple(sample.shape)}; n x 2, of keys and values, is accepted"
                )
        keys, values = torch.cat([*samples, self.weight.new_empty(0, 2)]).unbind(1)
        rows = _rows(self.weight.t(), keys.where(values != 0, 1))
        sizes = [len(sample) for sample in samples]
        return rows, values, f.owners_of(_whole(sizes, rows.device)), len(sizes)

    def zeroGradParameters(self) -> SparseLinear:
        """Fill the gradients with zeros: of the columns of the latest features, or all."""
        if self.weightDecay and self.sparseUpdate == _ONCE and self._columns is not None:
            self.gradWeight.index_fill_(1, self._columns, 0)
            self.gradBias.zero_()
        else:
            super().zeroGradParameters()
        self.sparseUpdate = _NEVER
        return self

    def updateParameters(self, learningRate: Scalar) -> SparseLinear:
        """Subtract ``learningRate`` times the gradients: of the same columns, or all."""
        if not (self.weightDecay and self.sparseUpdate == _ONCE and self._columns is not None):
            return super().updateParameters(learningRate)
        step = self.gradWeight.index_select(1, self._columns) * -learningRate
        self.weight.index_add_(1, self._columns, step)
        self.bias.sub_(self.gradBias, alpha=learningRate)
        return self

    def dense_weight(self) -> Tensor:
        return self.weight

    def dense_gradient(self, input: Any, gradient: Tensor) -> Any:
        keys = torch.arange(1, gradient.size(1) + 1).to(gradient).expand_as(gradient)
        both = torch.stack([keys, gradient], 2)
        return both if isinstance(input, Tensor) and input.dim() == 3 else list(both)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        self.sparseUpdate = _NEVER

    def t7_fields(self) -> dict[str, Any]:
        # For Lua: that no input is remembered.
        return super().t7_fields() | {"sparseUpdate": _NEVER}


def _is_batch(input: Any) -> bool:
    return not isinstance(input, Tensor) or input.dim() == 3


def _whole(sizes: list[int], device: torch.device) -> Tensor:
    return torch.tensor(sizes, dtype=torch.int64, device=device)


def _rows(weight: Tensor, keys: Tensor, offset: int = -1) -> Tensor:
    """Return the rows of ``weight`` that the keys, counted from 1 (``-offset``), name."""
    rows = keys.to(torch.int64) + offset
    if rows.numel() and (int(rows.min()) < 0 or int(rows.max()) >= len(weight)):
        wrong = rows[(rows < 0) | (rows >= len(weight))][0] - offset
        raise ValueError(
            f"input has the key {int(wrong)}; {-offset} to {len(weight) - offset - 1} are accepted"
        )
    return rows


class IndexLinear(_Sparse):
    """A ``Linear`` for sparse inputs given as keys and values (Torch7: ``nn.IndexLinear``).

    Args:
        inputSize, outputSize: numbers of features.
        doGradInput: whether to compute gradInput: for each sample all keys and their gradients.
        keysOffset: what is added to the keys, so that they count from 1; 0 by default.
        weight, bias: tensors to use instead of new ones.
        normalize: divide each value by the largest one that was seen of its feature in training,
            and add a trained number; these are the first and fourth of the 4 extra columns of
            ``weight``.

    Shapes: a table of keys and values: two tables of ``N`` vectors, or two vectors for one sample,
    or, as one vector each for all samples, with a third entry of ``N`` sizes. Output
    ``N x outputSize`` or ``outputSize``; ``weight`` is ``inputSize x outputSize``. With the field
    ``weightDecay``, so much times a row is added to its gradient each time it is used.

    Differs from Torch7: ``gradWeight`` has the size of ``weight``, not only the rows used, so that
    ``getParameters`` works; ``weightDecay`` is part of it, where there ``updateParameters`` applies
    it, whatever the learning rate; one sample also works without ``doGradInput``.

    PyTorch: ``torch.nn.EmbeddingBag``.
    """

    takes = ANYTHING
    scratch_fields = (
        *("keys", "values", "sizes", "cumSumSizes", "lkeys", "lvalues", "running", "sizesCache"),
        *("cumSumSizesCache", "isFlat", "noBatch", "updateKeys", "updateKeysBuffer", "zerokeys"),
    )
    workspace_fields = dict.fromkeys(("gradWeightBuffer", "valuesBuffer", "normalizedValues"))
    normalize: int = 0
    offset: int = -1
    # What the latest forward pass has made of the values.
    pass_fields: ClassVar[tuple[str, ...]] = ("normalizedValues",)
    normalizedValues: Any = None

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        doGradInput: bool = False,
        keysOffset: int = 0,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        normalize: bool = False,
    ) -> None:
        super().__init__()
        self.normalize = 4 if flag(normalize, "normalize") else 0
        if weight is None:
            columns = whole(outputSize, "outputSize", 1) + self.normalize
            weight = torch.zeros(whole(inputSize, "inputSize", 1), columns)
        self.weight = weight
        self.bias = torch.zeros(whole(outputSize, "outputSize", 1)) if bias is None else bias
        self.inputSize = self.weight.size(0)
        self.outputSize = self.weight.size(1) - self.normalize
        self.weightDecay = 0
        self.doGradInput = flag(doGradInput, "doGradInput")
        self.offset = whole(keysOffset, "keysOffset") - 1
        if self.doGradInput and self.normalize:
            raise ValueError("doGradInput is True; with normalize, False is accepted")

    def reset(self, stdv: Scalar | None = None) -> IndexLinear:
        super().reset(stdv)
        self.weight[:, : self.normalize].zero_()
        return self

    def updateOutput(self, input: Any) -> Tensor:
        rows, values, owners, count = self._features(input)
        begin = self.normalize
        if begin:
            values = f.normalized_values(self.weight, rows, values, self.train)
            self.normalizedValues = values
        output = f.sparse_linear(rows, values, owners, count, self.weight[:, begin:], self.bias)
        return self.set_output(output if _form(input) != "one" else output.squeeze(0))

    def accGradParameters(self, input: Any, gradOutput: Tensor, scale: Scalar = 1) -> None:
        rows, values, owners, count = self._features(input)
        weight, gradWeight, begin = self.weight, self.gradWeight, self.normalize
        gradOutput = gradOutput.reshape(count, self.bias.numel())
        if begin:
            values = self.normalizedValues
        if gradWeight is not None and begin:
            slopes = (gradOutput[owners] * weight[rows, begin:]).sum(1)
            gradWeight[:, begin - 1].index_add_(0, rows, slopes, alpha=scale)
        if gradWeight is not None:
            gradWeight = gradWeight[:, begin:]
            if self.weightDecay:
                decay = self.weightDecay * scale
                gradWeight.index_add_(0, rows, weight[rows, begin:], alpha=decay)
        f.sparse_linear_acc_(rows, values, owners, gradOutput, gradWeight, self.gradBias, scale)

    def _features(self, input: Any) -> tuple[Tensor, Tensor, Tensor, int]:
        """Return the features, from 0, their values and samples, and how many samples there are."""
        keys, values, sizes = _flat(input)
        check_type(values, self.weight, "input[2]")
        rows = _rows(self.weight, keys, self.offset)
        return rows, values, f.owners_of(_whole(sizes, rows.device)), len(sizes)

    def objection(self, input: Any) -> Exception | None:
        """Return no objection: the input is checked piece by piece."""
        return None

    def dense_weight(self) -> Tensor:
        return self.weight.t()

    def dense_gradient(self, input: Any, gradient: Tensor) -> Any:
        keys = torch.arange(1, gradient.size(1) + 1, device=gradient.device)
        form = _form(input)
        if form == "one":
            return [keys, gradient[0]]
        if form == "flat":
            return [keys.repeat(len(gradient), 1), gradient]
        return [[keys.clone() for _ in gradient], list(gradient)]

    def t7_fields(self) -> dict[str, Any]:
        # What the Lua implementation starts from: no gradients gathered yet.
        return {
            **super().t7_fields(),
            "gradWeight": self._empty(),
            "sizesCache": [],
            "cumSumSizesCache": [],
            "running": {"cumSumSizes": [], "keys": [], "gradWeight": [], "counter": 1},
        }

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        fields.pop("gradWeight", None)
        super().t7_restore(fields, version)


def _form(input: Any) -> str:
    """Return how an input of ``IndexLinear`` holds its samples: as "tables", "flat", or
    only "one".
    """
    if len(input) == 3:
        return "flat"
    return "one" if isinstance(input[0], Tensor) else "tables"


def _flat(input: Any) -> tuple[Tensor, Tensor, list[int]]:
    """Return all keys, all values, and the number of them in each sample."""
    if not isinstance(input, (list, tuple)) or len(input) not in (2, 3):
        raise ValueError(
            f"input is {given(input, counted=True)}; a table of keys and values, or of keys, "
            "values and sizes, is accepted"
        )
    form, (keys, values) = _form(input), input[:2]
    if form == "tables":
        return _joined(keys, values)
    for i, entry in enumerate((keys, values), 1):
        check_tensor(entry, f"input[{i}]")
    sizes = [keys.numel()] if form == "one" else _counts(input[2])
    if keys.dim() != 1 or keys.shape != values.shape or sum(sizes) != keys.numel():
        raise ValueError(
            f"input has keys of size {tuple(keys.shape)}, values of size {tuple(values.shape)} and "
            f"samples of {sum(sizes)} keys in all; vectors of that size are accepted"
        )
    return keys, values, sizes


def _joined(keys: Any, values: Any) -> tuple[Tensor, Tensor, list[int]]:
    for i, entry in enumerate((keys, values), 1):
        if not isinstance(entry, (list, tuple)) or not entry or len(entry) != len(keys):
            raise ValueError(
                f"input[{i}] is {given(entry, counted=True)}; a table with a vector for each "
                "sample is accepted, and as many of keys as of values"
            )
    for j, pair in enumerate(zip(keys, values, strict=True), 1):
        for i, entry in enumerate(pair, 1):
            check_tensor(entry, f"input[{i}][{j}]")
            if entry.dim() != 1 or entry.shape != pair[0].shape:
                raise ValueError(
                    f"input[{i}][{j}] has size {tuple(entry.shape)}; a vector is accepted, with as "
                    "many keys as values"
                )
    return torch.cat(list(keys)), torch.cat(list(values)), [len(sample) for sample in keys]


def _counts(sizes: Any) -> list[int]:
    if isinstance(sizes, Tensor):
        sizes = sizes.reshape(-1).tolist()
    if isinstance(sizes, int):
        sizes = [sizes]
    if not isinstance(sizes, (list, tuple)):
        raise wrong_type(sizes, "input[3]", "a size, or a vector or list of sizes")
    return [whole(size, f"input[3][{i}]", 0) for i, size in enumerate(sizes, 1)]
