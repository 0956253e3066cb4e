"""Table layers that multiply or compare the two tensors of a table: vectors, and matrices."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import flag, number
from compat.nn.checks.tensors import check_dims
from compat.nn.core.module import Scalar
from compat.nn.functional import table_products as f
from compat.nn.layers.distance import drawn_signs, vectors
from compat.nn.layers.table_layers import FromTable, table


class _OfVectors(FromTable, abstract=True):
    """A function of two tensors ``D``, which are batches of one, or ``N x D``.

    A class states ``gradients(first, second, gradOutput)``.
    """

    def gradients(self, first: Tensor, second: Tensor, gradOutput: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of both. Classes define it."""
        raise TypeError(f"{self.typename} does not define gradients(first, second, gradOutput)")

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        found = self.gradients(*vectors(input), gradOutput)
        pairs = zip(found, input, strict=True)
        return self.set_gradInput([gradient.view(given.shape) for gradient, given in pairs])


class DotProduct(_OfVectors):
    """The dot products of two tensors (Torch7: ``nn.DotProduct``).

    Shapes: a table of two tensors ``D`` or ``N x D``; output 1 or ``N``.

    PyTorch: ``torch.linalg.vecdot``.
    """

    of_pairs = True

    def updateOutput(self, input: Any) -> Tensor:
        return self.set_output(f.dot_product(*vectors(input)))

    def gradients(self, first: Tensor, second: Tensor, gradOutput: Tensor) -> tuple[Tensor, Tensor]:
        return f.dot_product_backward(first, second, gradOutput)


class CosineDistance(_OfVectors):
    """The cosines of the angles between two tensors (Torch7: ``nn.CosineDistance``).

    Shapes: a table of two tensors ``D`` or ``N x D``; output 1 or ``N``.

    Fields: ``w1``, the dot products; ``w22`` and ``w32``, the inverses of the squared lengths;
    ``w``, those of the products of both lengths. Backward reads them.

    PyTorch: ``torch.nn.CosineSimilarity``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> x, y = torch.tensor([1.0, 0.0]), torch.tensor([2.0, 0.0])
        >>> nn.CosineDistance().forward([x, y]).tolist()
        [1.0]
    """

    of_pairs = True
    cleared_fields = ("w1", "w22", "w", "w32", "ones")
    pass_fields = ("w1", "w22", "w32", "w")

    def updateOutput(self, input: Any) -> Tensor:
        output, self.w1, self.w22, self.w32, self.w = f.cosine_distance(*vectors(input))
        return self.set_output(output)

    def gradients(self, first: Tensor, second: Tensor, gradOutput: Tensor) -> tuple[Tensor, Tensor]:
        return f.cosine_distance_backward(
            first, second, gradOutput, self.w1, self.w22, self.w32, self.w
        )


class PairwiseDistance(_OfVectors):
    """The distances of two tensors (Torch7: ``nn.PairwiseDistance``).

    Args:
        p: which norm of the difference; the field ``norm``.

    Shapes: a table of two tensors ``D`` or ``N x D``; output 1 or ``N``.

    Differs from Torch7: the gradient is right for norms between 1 and 2 as well.

    PyTorch: ``torch.nn.PairwiseDistance``.
    """

    cleared_fields = ("diff", "outExpand", "grad", "ones")

    workspace_fields = {"diff": None}
    scratch_fields = ("outExpand", "grad", "ones")

    def __init__(self, p: Scalar = 2) -> None:
        super().__init__()
        self.norm = number(p, "p")

    def updateOutput(self, input: Any) -> Tensor:
        return self.set_output(f.pairwise_distance(*vectors(input), self.norm))

    def gradients(self, first: Tensor, second: Tensor, gradOutput: Tensor) -> tuple[Tensor, Tensor]:
        if self.norm == 1:
            slope = drawn_signs(first - second)
        else:
            slope = f.pairwise_distance_slope(first, second, self.output, self.norm)
        return f.pairwise_distance_backward(slope, gradOutput)


def _matrices(tensor: Tensor, index: int, dims: int, transposed: bool) -> torch.Size:
    """Return the size of matrices, or of vectors, after transposing."""
    check_dims(tensor, dims, name=f"input[{index}]")
    return tensor.transpose(-2, -1).shape if transposed else tensor.shape


class MM(FromTable):
    """The product of two matrices (Torch7: ``nn.MM``).

    Args:
        transA: transpose the first.
        transB: transpose the second.

    Shapes: a table of two tensors of 2 dimensions, or of 3 where the first is the batch.

    PyTorch: ``torch.matmul``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.MM(False, True).forward([torch.ones(2, 3), torch.ones(4, 3)]).shape
        torch.Size([2, 4])
    """

    of_pairs = True
    transA: bool = False
    transB: bool = False

    def __init__(self, transA: bool = False, transB: bool = False) -> None:
        super().__init__()
        self.transA = flag(transA, "transA")
        self.transB = flag(transB, "transB")

    def updateOutput(self, input: Any) -> Tensor:
        first, second = table(input, 2)
        dims = 3 if first.dim() == 3 else 2
        size = _matrices(first, 1, dims, self.transA)
        other = _matrices(second, 2, dims, self.transB)
        if size[-1] != other[-2] or size[:-2] != other[:-2]:
            raise ValueError(
                f"input has matrices of size {tuple(size)} and {tuple(other)} "
                "(after transposing); m x k and k x n, in batches of one size, are accepted"
            )
        return self.set_output(f.mm(first, second, self.transA, self.transB))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        first, second = input
        found = f.mm_backward(first, second, gradOutput, self.transA, self.transB)
        return self.set_gradInput(list(found))


class MV(FromTable):
    """The product of a matrix and a vector (Torch7: ``nn.MV``).

    Args:
        trans: transpose the matrix.

    Shapes: a table of a matrix and a vector, or of a batch of each.

    Differs from Torch7: backward also works after ``clearState``.

    PyTorch: ``torch.mv``.
    """

    of_pairs = True
    trans: bool = False

    def __init__(self, trans: bool = False) -> None:
        super().__init__()
        self.trans = flag(trans, "trans")

    def updateOutput(self, input: Any) -> Tensor:
        matrix, vector = table(input, 2)
        dims = 3 if matrix.dim() == 3 else 2
        size = _matrices(matrix, 1, dims, self.trans)
        other = _matrices(vector, 2, dims - 1, False)
        if size[-1] != other[-1] or size[:-2] != other[:-1]:
            raise ValueError(
                f"input has a matrix of size {tuple(size)} (after transposing) and a "
                f"vector of size {tuple(other)}; m x k and k, in batches of one size, are "
                "accepted"
            )
        output = f.mm(matrix, vector.unsqueeze(-1), self.trans, False)
        return self.set_output(output.squeeze(-1))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        matrix, vector = input
        found = f.mm_backward(
            matrix, vector.unsqueeze(-1), gradOutput.unsqueeze(-1), self.trans, False
        )
        return self.set_gradInput([found[0], found[1].squeeze(-1)])

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        # Lua goes on from the two tensors that its constructor makes.
        return {**fields, "gradInput": fields["gradInput"] or [self._empty(), self._empty()]}
