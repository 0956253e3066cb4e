"""Whether a source computes what the net does, forward and back, in both modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.source.generator import Source
from compat.tensor_tables import map_tensors
from compat.tensor_tables import tensors as tensors_in

# The largest differences relative to the largest element; of types that are not here, a hundredth.
_ALLOWED = {torch.float64: 1e-9, torch.float32: 1e-5}
_GRADIENTS = {torch.float64: 1e-7, torch.float32: 1e-3}
_MOST = 1 << 24  # parameters up to which gradients are compared


def compare(
    net: nn.Module, plain: nn.Module, example: Any, inputs: list[Tensor], source: Source
) -> float:
    """Compare both nets in both modes; the largest relative difference of outputs."""
    largest = 0.0
    training = plain.training
    try:
        for mode in (False, True):
            plain.train(mode)
            net.train(mode)
            found = []
            for other in (plain, net):
                chances = _without_dropout(other)
                kept = {k: v.clone() for k, v in other.named_buffers()}
                torch.manual_seed(1)
                with torch.no_grad():
                    given = cloned(example if other is plain else inputs)
                    result = other(given) if other is plain else other(*given)
                found.append([t.clone() for t in tensors_in(listed(result))])
                _with_dropout(chances)
                for key, value in other.named_buffers():
                    value.copy_(kept[key])
            for one, two in zip(*found, strict=True):
                largest = max(largest, difference(two, one))
    finally:
        plain.train(training)
        net.eval()
    return largest


def check(largest: float, source: Source) -> None:
    """Refuse a source that computes something else."""
    dtypes = {t.dtype for t in source.tensors.values() if t.is_floating_point()}
    allowed = max((_ALLOWED.get(dtype, 2e-2) for dtype in dtypes), default=1e-5)
    if not largest <= allowed:
        raise ValueError(f"the source written differs from the net by {largest:.1e}")


def of_torch7(net: Module, example: Any) -> list[Tensor]:
    """What the net itself computes, in evaluation."""
    modes = [(module, module.train) for module in net.listModules()]
    try:
        output = net.evaluate().forward(cloned(example))
        return [t.detach().clone() for t in tensors_in(listed(output))]
    finally:
        for module, mode in modes:
            module.train = mode


def compare_gradients(
    net: nn.Module, plain: nn.Module, example: Any, inputs: list[Tensor], names: dict[str, str]
) -> None:
    """Compare the gradients of both nets in training."""
    if sum(p.numel() for p in net.parameters()) > _MOST:
        return
    training = plain.training
    own = dict(net.named_parameters(remove_duplicate=False))
    theirs = dict(plain.named_parameters())
    pairs = [(theirs[old], own[new]) for old, new in names.items() if old in theirs]
    pairs = [pair for pair in pairs if all(p.requires_grad for p in pair)]
    found = []
    try:
        for place, other in enumerate((plain, net)):
            other.train()
            chances = _without_dropout(other)
            kept = {k: v.clone() for k, v in other.named_buffers()}
            given = [t.clone() for t in (tensors_in(example) if other is plain else inputs)]
            wanted = [t.requires_grad_() for t in given if t.is_floating_point()]
            torch.manual_seed(1)
            copies = [t.clone() for t in given]  # which a net may change
            result = other(_filled(example, iter(copies))) if other is plain else other(*copies)
            outputs = [t for t in tensors_in(listed(result)) if t.requires_grad]
            generator = torch.Generator().manual_seed(2)
            weights = [torch.randn(t.shape, generator=generator).to(t) for t in outputs]
            wanted += [pair[place] for pair in pairs]
            gradients: Any = []
            if outputs and wanted:
                gradients = torch.autograd.grad(outputs, wanted, weights, allow_unused=True)
            _with_dropout(chances)
            found.append([(w, g) for w, g in zip(wanted, gradients, strict=False)])
            with torch.no_grad():
                for key, value in other.named_buffers():
                    value.copy_(kept[key])
    finally:
        plain.train(training)
        net.eval()
    for (_, one), (wanted_for, two) in zip(*found, strict=True):
        one, two = (torch.zeros_like(wanted_for) if g is None else g for g in (one, two))
        largest = difference(two, one)
        if not largest <= _GRADIENTS.get(two.dtype, 5e-2):
            raise ValueError(f"a gradient of the source differs from the net's by {largest:.1e}")


def _without_dropout(net: nn.Module) -> list[tuple[Any, float]]:
    """Have layers drop nothing: two nets draw their noise in orders of their own. What was."""
    found: list[tuple[Any, float]] = []
    for module in net.modules():
        if isinstance(module, (nn.Dropout, nn.Dropout2d, nn.Dropout3d)):
            found.append((module, module.p))
            module.p = 0.0
    return found


def _with_dropout(chances: list[tuple[Any, float]]) -> None:
    for module, chance in chances:
        module.p = chance


def cloned(example: Any) -> Any:
    """An input that may be changed."""
    return map_tensors(Tensor.clone, example)


def _filled(example: Any, given: Iterator[Tensor]) -> Any:
    """The structure of ``example`` with other tensors."""
    if isinstance(example, Tensor):
        return next(given)
    return [_filled(part, given) for part in example]


def difference(one: Tensor, other: Tensor) -> float:
    """The largest difference, relative to the largest element of ``other``."""
    if one.shape != other.shape:
        return float("inf")
    if not one.numel():
        return 0.0
    one, other = one.detach().double(), other.detach().double()
    same = (one == other) | (one.isnan() & other.isnan())
    gap = (one - other).abs().masked_fill(same, 0).max()
    scale = other.abs().nan_to_num(0, 0, 0).max().clamp_min(1e-30)
    return float(gap / scale)


def listed(output: Any) -> Any:
    """Nested lists in the place of tuples."""
    return list(map(listed, output)) if isinstance(output, (tuple, list)) else output
