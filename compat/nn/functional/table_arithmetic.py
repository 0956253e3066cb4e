"""Arithmetic of the tensors of a table, element by element, which have as many elements each.

Where shapes differ, results have the first one's, and gradients each that of its tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def _like(tensor: Tensor, other: Tensor) -> Tensor:
    """Return ``tensor`` in the shape of ``other``; a reshape costs more than the sum of few."""
    return tensor if tensor.shape == other.shape else tensor.reshape(other.shape)


def cadd_table(input: Sequence[Tensor]) -> Tensor:
    first, *rest = input
    if not rest:
        return first.clone(memory_format=torch.contiguous_format)
    output = torch.add(first, _like(rest[0], first)).contiguous()
    for entry in rest[1:]:
        output.add_(_like(entry, first))
    return output


def cadd_table_(input: Sequence[Tensor]) -> Tensor:
    """Return the sum, in the first."""
    first, *rest = input
    for entry in rest:
        first.add_(_like(entry, first))
    return first


def cadd_table_backward(input: Sequence[Tensor], gradOutput: Tensor) -> list[Tensor]:
    return [
        _like(gradOutput, entry).clone(memory_format=torch.contiguous_format) for entry in input
    ]


def csub_table(input: Sequence[Tensor]) -> Tensor:
    first, second = input
    return torch.sub(first, _like(second, first)).contiguous()


def csub_table_backward(input: Sequence[Tensor], gradOutput: Tensor) -> list[Tensor]:
    first, second = input
    of_first = _like(gradOutput, first).clone(memory_format=torch.contiguous_format)
    return [of_first, _like(gradOutput, second).neg().contiguous()]


def cmul_table(input: Sequence[Tensor]) -> Tensor:
    first, *rest = input
    if not rest:
        return first.clone(memory_format=torch.contiguous_format)
    output = torch.mul(first, _like(rest[0], first)).contiguous()
    for entry in rest[1:]:
        output.mul_(_like(entry, first))
    return output


def cmul_table_backward(input: Sequence[Tensor], gradOutput: Tensor) -> list[Tensor]:
    # Not the output by each: one may be 0.
    found = []
    for i, entry in enumerate(input):
        gradient = _like(gradOutput, entry)
        others = [_like(other, entry) for j, other in enumerate(input) if j != i]
        product = torch.mul(gradient, others[0]) if others else gradient.clone()
        for other in others[1:]:
            product.mul_(other)
        found.append(product.contiguous())
    return found


def cdiv_table(input: Sequence[Tensor]) -> Tensor:
    first, second = input
    return torch.div(first, _like(second, first)).contiguous()


def cdiv_table_backward(input: Sequence[Tensor], gradOutput: Tensor) -> list[Tensor]:
    first, second = input
    of_first = torch.div(_like(gradOutput, first), _like(second, first)).contiguous()
    of_second = _like(of_first, second) / second * _like(first, second)
    return [of_first, of_second.neg_().contiguous()]


def extreme_of_table(
    input: Sequence[Tensor], precedes: Callable[[Tensor, Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Return for each element the first that no other precedes, and its number in the table,
    from 1.
    """
    first, *rest = input
    output = first.clone(memory_format=torch.contiguous_format)
    index = torch.ones_like(output)
    for i, entry in enumerate(rest, 2):
        entry = _like(entry, first)
        mask = precedes(entry, output)
        output = torch.where(mask, entry, output)
        index.masked_fill_(mask, i)
    return output.contiguous(), index


def extreme_of_table_backward(
    input: Sequence[Tensor], gradOutput: Tensor, index: Tensor
) -> list[Tensor]:
    """Return the gradients where ``index`` tells which entry each element of the output is from."""
    gradOutput = _like(gradOutput, index)
    return [
        torch.where(index == i, gradOutput, 0).reshape(entry.shape).contiguous()
        for i, entry in enumerate(input, 1)
    ]


def cadd_tensor_table(first: Tensor, table: Sequence[Tensor]) -> list[Tensor]:
    return [torch.add(_like(entry, first), first).contiguous() for entry in table]


def cadd_tensor_table_backward(
    first: Tensor, table: Sequence[Tensor], gradOutput: Sequence[Tensor]
) -> tuple[Tensor, list[Tensor]]:
    copies = [
        _like(gradient, entry).clone(memory_format=torch.contiguous_format)
        for entry, gradient in zip(table, gradOutput, strict=True)
    ]
    total = copies[0].reshape(first.shape).clone(memory_format=torch.contiguous_format)
    for gradient in copies[1:]:
        total.add_(_like(gradient, first))
    return total, copies


def mixture_of_tensor(gater: Tensor, experts: Tensor, dim: int) -> Tensor:
    """Return the sum over ``dim`` of experts, weighted by a gater, ``E`` or ``N x E``."""
    shape = [1] * experts.dim()
    shape[: gater.dim() - 1], shape[dim] = gater.shape[:-1], gater.size(-1)
    return (experts * gater.reshape(shape)).sum(dim)


def mixture_of_tensor_backward(
    gater: Tensor, experts: Tensor, gradOutput: Tensor, dim: int
) -> list[Tensor]:
    shape, size = [1] * experts.dim(), list(experts.shape)
    shape[: gater.dim() - 1], shape[dim] = gater.shape[:-1], gater.size(-1)
    size[dim] = 1
    gradient = gradOutput.reshape(size)
    of_gater = (experts * gradient).sum_to_size(shape).reshape(gater.shape)
    return [of_gater.contiguous(), (gater.reshape(shape) * gradient).contiguous()]


def mixture_of_table(gater: Tensor, experts: Sequence[Tensor]) -> Tensor:
    """Return the sum of the entries of a table, weighted by a gater, ``E`` or ``N x E``."""
    shape = experts[0].shape
    gates = [g.reshape(g.shape + (1,) * (len(shape) - g.dim())) for g in gater.unbind(-1)]
    output = torch.mul(experts[0], gates[0]).contiguous()
    for expert, gate in zip(experts[1:], gates[1:], strict=True):
        output.addcmul_(expert.reshape(shape), gate)
    return output


def mixture_of_table_backward(
    gater: Tensor, experts: Sequence[Tensor], gradOutput: Tensor
) -> tuple[Tensor, list[Tensor]]:
    shape = experts[0].shape
    gates = [g.reshape(g.shape + (1,) * (len(shape) - g.dim())) for g in gater.unbind(-1)]
    gradOutput = gradOutput.reshape(shape)
    sums = [
        (expert.reshape(shape) * gradOutput).sum_to_size(gate.shape).reshape(gater.shape[:-1])
        for expert, gate in zip(experts, gates, strict=True)
    ]
    of_experts = [
        (gradOutput * gate).reshape(expert.shape).contiguous()
        for expert, gate in zip(experts, gates, strict=True)
    ]
    return torch.stack(sums, -1), of_experts
