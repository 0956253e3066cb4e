"""Checks that a source computes what the net does, forward and backward, in both modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.interchange.recurrent.memory import forget
from compat.nn.source.generator import Source
from compat.nn.source.sequences import gathered
from compat.tensor_tables import map_tensors, with_tensors
from compat.tensor_tables import tensors as tensors_in

# The largest differences relative to the largest element; of types that are not here, a hundredth.
_ALLOWED = {torch.float64: 1e-9, torch.float32: 1e-5}
_GRADIENTS = {torch.float64: 1e-7, torch.float32: 1e-3}
_DROPPING = (nn.Dropout, nn.Dropout2d, nn.Dropout3d)
_MOST = 1 << 24  # parameters up to which gradients are compared


class GradientsDifferError(ValueError):
    """Raised when a gradient of the source differs from the net's."""


class Proof:
    """A comparison of the source's net with the net that it was written from.

    Args:
        net: the net of the source.
        plain: the net that ``to_torch`` returned.
        example: an input of ``plain``.
        given: converts an input of ``plain`` to the inputs of ``net``.
        forms: the forms that map the inputs and the outputs of ``plain`` to those of ``net``.
        stateful: whether ``net`` takes and returns a state.
    """

    def __init__(
        self,
        net: nn.Module,
        plain: nn.Module,
        example: Any,
        given: Callable[[Any], list[Tensor]],
        forms: tuple[Any, Any],
        stateful: bool,
    ) -> None:
        self.net, self.plain, self.stateful = net, plain, stateful
        self.example, self.given, self.forms = example, given, forms
        self.inputs = given(example)

    def quick(self, outputs: list[Tensor]) -> float:
        """Return the largest relative difference of outputs, from as few runs as possible.

        The number may be too large for nets whose output is random or depends on earlier inputs.

        Args:
            outputs: the outputs of ``plain`` for the example, in evaluation mode.
        """
        if self.stateful:
            return float("inf")
        first = self._compared(outputs, self.example, False)
        for other in self._others():
            try:
                return max(first, self._difference(other, True))
            except (RuntimeError, ValueError, IndexError):
                continue
        return float("inf")

    def largest(self) -> float:
        """Return the largest relative difference of outputs in both modes and for other inputs."""
        largest = max(self._difference(self.example, mode) for mode in (False, True))
        others = [self._difference(other, False) for other in self._taken()]
        if not all(other <= 100 * largest + 1e-3 for other in others):
            raise ValueError(
                "what the net computes depends on the numbers of its input, not only on their "
                "sizes, and no source can be written for it"
            )
        return max([largest, *others])

    def _difference(self, example: Any, mode: bool) -> float:
        with self._mode(mode), torch.no_grad():
            one = self._of_plain(cloned(example))
        return self._compared(one, example, mode)

    def _compared(self, one: list[Tensor], example: Any, mode: bool) -> float:
        """Return the largest difference of the source's outputs from ``one``, the plain net's."""
        try:
            with self._mode(mode), torch.no_grad():
                two = self._of_source(cloned(self.given(example)))
        except RuntimeError:
            return float("inf")
        return max((difference(b, a) for a, b in zip(one, two, strict=True)), default=0.0)

    def _others(self) -> Iterator[Any]:
        """Yield the example with its numbers in other orders, to find stored numbers."""
        generator = torch.Generator().manual_seed(3)

        def mixed(tensor: Tensor) -> Tensor:
            order = torch.randperm(tensor.numel(), generator=generator)
            return tensor.reshape(-1)[order].view(tensor.shape)

        for change in (mixed, lambda tensor: tensor.flip(0)):
            yield map_tensors(change, self.example)

    def _taken(self) -> list[Any]:
        """Return one example of ``_others`` that the net takes, or an empty list."""
        for example in self._others():
            try:
                with self._mode(False), torch.no_grad():
                    self._of_plain(cloned(example))
            except (RuntimeError, ValueError, IndexError):
                continue
            return [example]
        return []

    def draws(self) -> bool:
        """Return whether the net's output is random in evaluation, too."""
        with self._mode(False), torch.no_grad():
            found = []
            for seed in range(8):
                torch.manual_seed(seed)
                found.append(self._of_plain(cloned(self.example)))
        return any(
            not torch.equal(one, own) for one, *rest in zip(*found, strict=True) for own in rest
        )

    def _of_plain(self, example: Any, going_on: bool = True) -> list[Tensor]:
        """Return the outputs of the plain net; with a state, also those of a second call."""
        forget(self.plain)
        calls = [self.plain(example)]
        if self.stateful and going_on:
            calls.append(self.plain(cloned(example)))
        forget(self.plain)
        return [t.clone() for output in calls for t in gathered(self.forms[1], output)]

    def _of_source(self, inputs: list[Tensor], going_on: bool = True) -> list[Tensor]:
        calls: list[Any] = [self.net(*inputs)]
        if self.stateful:
            output, state = calls[0]
            calls = [output, self.net(*cloned(inputs), state)[0]] if going_on else [output]
        return [t.clone() for output in calls for t in tensors_in(listed(output))]

    @contextmanager
    def _mode(self, train: bool) -> Iterator[None]:
        """Set both nets to a mode; within it they draw the same noise and drop nothing."""
        training = self.plain.training
        kept: list[tuple[Any, str, Any]] = []
        buffers = []
        for net in (self.plain, self.net):
            net.train(train)
            for module in net.modules():
                if isinstance(module, _DROPPING):
                    kept.append((module, "p", module.p))
                if isinstance(module, nn.RNNBase):
                    kept.append((module, "dropout", module.dropout))
            buffers += [(buffer, buffer.clone()) for buffer in net.buffers()]
        try:
            for module, name, _ in kept:
                setattr(module, name, 0.0)
            torch.manual_seed(1)
            yield
        finally:
            for module, name, value in kept:
                setattr(module, name, value)
            with torch.no_grad():
                for buffer, before in buffers:
                    buffer.copy_(before)
            self.plain.train(training)
            self.net.eval()

    def check_gradients(self, names: dict[str, str]) -> None:
        """Compare the gradients of both nets in training.

        Args:
            names: maps names of tensors in the plain net to their names in the source.
        """
        if sum(p.numel() for p in self.net.parameters()) > _MOST:
            return
        own = dict(self.net.named_parameters(remove_duplicate=False))
        theirs = dict(self.plain.named_parameters())
        pairs = [(theirs[old], own[new]) for old, new in names.items() if old in theirs]
        pairs = [pair for pair in pairs if all(p.requires_grad for p in pair)]
        with self._mode(True):
            example = map_tensors(_leaf, self.example)
            outputs = self._of_plain(map_tensors(Tensor.clone, example), going_on=False)
            found = _gradients(outputs, [*tensors_in(example), *(one for one, _ in pairs)])
            count = len(tensors_in(example))
            one = gathered(self.forms[0], with_tensors(example, found[:count])) + found[count:]
        with self._mode(True):
            inputs = [_leaf(tensor) for tensor in self.inputs]
            outputs = self._of_source([tensor.clone() for tensor in inputs], going_on=False)
            two = _gradients(outputs, [*inputs, *(other for _, other in pairs)])
        # A bias before a normalisation has a gradient of rounding alone.
        least = 1e-3 * max((float(g.abs().max()) for g in one if g.numel()), default=0.0)
        for wanted, actual in zip(one, two, strict=True):
            largest = difference(actual, wanted, least)
            if not largest <= _GRADIENTS.get(actual.dtype, 5e-2):
                told = f"a gradient of the source differs from the net's by {largest:.1e}"
                raise GradientsDifferError(told)


def _leaf(tensor: Tensor) -> Tensor:
    return tensor.detach().clone().requires_grad_(tensor.is_floating_point())


def _gradients(outputs: list[Tensor], wanted: list[Tensor]) -> list[Tensor]:
    """Return the gradients of a random weighted sum of outputs; zeros where there is none."""
    generator = torch.Generator().manual_seed(2)
    weights = [torch.randn(t.shape, generator=generator).to(t) for t in outputs]
    # Sums, since torch.autograd.grad imports sympy for what it is given beside outputs.
    sums = [(t * w).sum() for t, w in zip(outputs, weights, strict=True) if t.requires_grad]
    needed = [t for t in wanted if t.requires_grad]
    found: Any = [None] * len(needed)
    if sums and needed:
        found = torch.autograd.grad(sums, needed, allow_unused=True)
    left = iter(found)
    result = []
    for tensor in wanted:
        gradient = next(left) if tensor.requires_grad else None
        result.append(torch.zeros_like(tensor) if gradient is None else gradient)
    return result


def is_close(largest: float, source: Source) -> bool:
    """Return whether a difference is explained by rounding in the source's dtype."""
    dtypes = {t.dtype for t in source.tensors.values() if t.is_floating_point()}
    return largest <= max((_ALLOWED.get(dtype, 2e-2) for dtype in dtypes), default=1e-5)


def check(largest: float, source: Source) -> None:
    """Raise ValueError if the source's output differs by more than rounding."""
    if not is_close(largest, source):
        raise ValueError(f"the source written differs from the net by {largest:.1e}")


def of_torch7(net: Module, example: Any) -> Any:
    """Return the Torch7 net's output in evaluation mode, with its memory reset."""
    modes = [(module, module.train) for module in net.listModules()]
    try:
        net.evaluate().forget()
        output = net.forward(cloned(example))
        if isinstance(output, (int, float)):  # of a criterion
            return torch.tensor(output)
        return map_tensors(lambda t: t.detach().clone(), output)
    finally:
        for module, mode in modes:
            module.train = mode


def cloned(example: Any) -> Any:
    """Return a copy of an input, which may be changed."""
    return map_tensors(Tensor.clone, example)


def difference(one: Tensor, other: Tensor, least: float = 1e-30) -> float:
    """Return the largest difference relative to the largest of ``other``, or to ``least``."""
    if one.shape != other.shape:
        return float("inf")
    if not one.numel():
        return 0.0
    one, other = one.detach().double(), other.detach().double()
    same = (one == other) | (one.isnan() & other.isnan())
    gap = (one - other).abs().masked_fill(same, 0).max()
    scale = other.abs().nan_to_num(0, 0, 0).max().clamp_min(max(least, 1e-30))
    return float(gap / scale)


def listed(output: Any) -> Any:
    """Return nested tuples as nested lists."""
    return list(map(listed, output)) if isinstance(output, (tuple, list)) else output
