"""Products and distances of the two tensors of a table."""

from __future__ import annotations

from torch import Tensor, nn

from compat.nn.functional import table_products as f
from compat.nn.interchange.modules import WithSettings
from compat.nn.interchange.pairs import Setting, pair
from compat.nn.layers import table_products as torch7


class MM(WithSettings):
    """The product of two matrices, or batches of them.

    PyTorch: ``torch.matmul``.
    """

    shown = ("transpose_first", "transpose_second")

    def __init__(self, transpose_first: bool = False, transpose_second: bool = False) -> None:
        super().__init__()
        self.transpose_first = transpose_first
        self.transpose_second = transpose_second

    def forward(self, input: list[Tensor]) -> Tensor:
        return f.mm(input[0], input[1], self.transpose_first, self.transpose_second)


class MV(WithSettings):
    """The product of a matrix and a vector, or of batches of them.

    PyTorch: ``torch.mv``.
    """

    shown = ("transpose",)

    def __init__(self, transpose: bool = False) -> None:
        super().__init__()
        self.transpose = transpose

    def forward(self, input: list[Tensor]) -> Tensor:
        return f.mm(input[0], input[1].unsqueeze(-1), self.transpose, False).squeeze(-1)


def rows(input: Tensor) -> Tensor:
    """``input``; one vector as a batch of one."""
    return input.unsqueeze(0) if input.dim() == 1 else input


class DotProduct(nn.Module):
    """The dot products of two batches of vectors.

    PyTorch: ``torch.linalg.vecdot``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        return f.dot_product(rows(input[0]), rows(input[1]))


class CosineDistance(nn.Module):
    """The cosines of the angles between two batches of vectors.

    PyTorch: ``torch.nn.CosineSimilarity``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        return f.cosine_distance(rows(input[0]), rows(input[1]))[0]


class PairwiseDistance(WithSettings):
    """The p-norms of the differences of two batches of vectors.

    PyTorch: ``torch.nn.PairwiseDistance``.
    """

    shown = ("p",)

    def __init__(self, p: float = 2.0) -> None:
        super().__init__()
        self.p = float(p)

    def forward(self, input: list[Tensor]) -> Tensor:
        return f.pairwise_distance(rows(input[0]), rows(input[1]), self.p)


pair(torch7.MM, MM, Setting("transA", "transpose_first"), Setting("transB", "transpose_second"))
pair(torch7.MV, MV, Setting("trans", "transpose"))
pair(torch7.DotProduct, DotProduct)
pair(torch7.CosineDistance, CosineDistance)
pair(torch7.PairwiseDistance, PairwiseDistance, Setting("norm", "p"))
