"""Runs a net to learn the sizes of its output and how much it computes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from compat.nn.interchange.computed import Computed
from compat.nn.interchange.layers.shape import Reshape, View
from compat.tensor_tables import map_tensors, tensors
from compat.torch_internals import fake_tensors

aten = torch.ops.aten
_CONVOLUTIONS = {torch.conv1d, torch.conv2d, torch.conv3d}
_TRANSPOSED = {torch.conv_transpose1d, torch.conv_transpose2d, torch.conv_transpose3d}
_LEFT = {  # the place of a product's left matrix
    **dict.fromkeys((torch.matmul, torch.mm, torch.bmm, Tensor.matmul, aten.mm.default), 0),
    **dict.fromkeys((torch.addmm, torch.baddbmm, aten.addmm.default), 1),
}
_RECURRENT = {torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu}
_RECURRENT |= {torch.lstm_cell, torch.gru_cell, torch.rnn_tanh_cell, torch.rnn_relu_cell}


class Sizes(TorchFunctionMode):
    """A mode in which convolutions and linear layers return zeros of the right size.

    All other functions are computed; they cost little. Unlike meta tensors, the mode does not
    import PyTorch's compiler, which takes longer than a small net.

    Args:
        computed: whether convolutions and linear layers are computed, too.

    Attributes:
        multiply_adds: the number that the convolutions and matrix products of the run need.
    """

    def __init__(self, computed: bool = False) -> None:
        super().__init__()
        self.multiply_adds = 0
        self._computed = computed

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _CONVOLUTIONS or func in _TRANSPOSED:
            output = self._run(_convolved, func, args, kwargs)
            each = args[1].numel() // args[1].size(0)
            counted = args[0] if func in _TRANSPOSED else output
            self.multiply_adds += counted.numel() * each
        elif func is functional.linear:
            output = self._run(_multiplied, func, args, kwargs)
            self.multiply_adds += output.numel() * args[0].size(-1)
        else:
            output = func(*args, **kwargs)
            if func in _LEFT:
                self.multiply_adds += output.numel() * args[_LEFT[func]].size(-1)
            elif func in _RECURRENT:
                rows = args[0].numel() // args[0].size(-1)
                matrices = [t for t in tensors(list(args[2:])) if t.dim() == 2]
                self.multiply_adds += rows * sum(matrix.numel() for matrix in matrices)
        return output

    def _run(self, sized: Callable[..., Tensor], func: Any, args: Any, kwargs: Any) -> Tensor:
        output: Tensor = (
            func(*args, **kwargs)
            if self._computed or kwargs or args[0].dtype != args[1].dtype
            else sized(func, *args)
        )
        return output


def _convolved(
    func: Any,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    more: Any,
    groups: int,
    *last: Any,
) -> Tensor:
    """Return zeros of a convolution's size, found by a convolution of one plane."""
    planes = [weight.size(1) * groups, weight.size(0)]
    if func in _TRANSPOSED:
        planes.reverse()
    dim = input.dim() - weight.dim() + 1
    if dim not in (0, 1) or input.size(dim) != planes[0]:
        raise ValueError(f"input has sizes {tuple(input.shape)}; {planes[0]} planes are accepted")
    plane = input.narrow(dim, 0, 1).narrow(0, 0, 1)
    one = func(plane, weight[:1, :1], None, stride, padding, more, 1, *last)
    sizes = one.shape[dim + 1 :]
    return input.new_zeros(*input.shape[:dim], planes[1], *sizes)


def _multiplied(func: Any, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return zeros of a linear layer's output size."""
    if input.size(-1) != weight.size(1):
        raise ValueError(f"input has {input.size(-1)} features; {weight.size(1)} are accepted")
    return input.new_zeros(*input.shape[:-1], weight.size(0))


def looks_at_elements(net: nn.Module) -> bool:
    """Return whether a layer may look at elements, so that sizes alone are not enough."""
    return any(isinstance(module, Computed) for module in net.modules())


def tried(net: nn.Module, value: Any, mode: Sizes | None = None, large: bool = False) -> Any:
    """Return a net's output for an input in evaluation; only the sizes are meaningful.

    Args:
        mode: the mode to run the net in.
        large: use tensors without elements, for results too large for memory.
    """
    training = net.training
    net.eval()
    try:
        with ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            if large:
                value = map_tensors(stack.enter_context(fake_tensors()), value)
            else:
                value = map_tensors(Tensor.clone, value)
            stack.enter_context(mode or Sizes(looks_at_elements(net)))
            return net(value)
    finally:
        net.train(training)


class Trial:
    """One run of a net for sizes.

    Attributes:
        samples: the number of samples in the output; 0 if the net rejects the input.
        compared: -1 if the input is too small, 1 if it is too large, 0 otherwise.
    """

    def __init__(
        self, net: nn.Module, value: Any, batch: int | None = None, large: bool = False
    ) -> None:
        self._surplus = 0  # of elements at the first layer that takes another number
        self._batch = batch or 1
        self.samples = 0
        hooks = [m.register_forward_pre_hook(self._see) for m in net.modules()]
        try:
            first = next(iter(tensors(tried(net, value, large=large))))
            self.samples = int(first.size(0)) if first.dim() else 1
        except Exception:
            pass
        finally:
            for hook in hooks:
                hook.remove()
        fits = self.samples and (batch is None or self.samples == batch)
        self.compared = 0 if fits else 1 if self._surplus > 0 else -1

    def _see(self, module: nn.Module, given: Any) -> None:
        tensor = given[0] if given else None
        if self._surplus or not isinstance(tensor, Tensor) or not tensor.dim():
            return
        if isinstance(module, nn.Linear):
            self._surplus = tensor.size(-1) - module.in_features
        elif isinstance(module, (View, Reshape)):
            self._surplus = tensor.numel() // self._batch - module.elements
