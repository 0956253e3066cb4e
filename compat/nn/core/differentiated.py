"""Combine PyTorch's autograd with Torch7's protocol, in both directions.

A module that defines ``compute(input)`` in PyTorch operations is differentiated by autograd: each
call records a small graph of its own. A whole net inside a PyTorch graph is one
``torch.autograd.Function``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor

from compat import t7
from compat.checks import listed, wrong_type
from compat.tensor_tables import contents, map_tensors, pairs, tensors, with_tensors
from compat.torch_internals import foreach_add_, run_engine, set_versions, versions


# Per thread: replicas in worker threads record graphs of their own at the same time.
class _State(threading.local):
    graph: Graph | None = None


_state = _State()


def _leaf(tensor: Tensor) -> Tensor:
    # A leaf of its own: the graph ends at this module, whatever graph the input belongs to.
    leaf = tensor.detach()
    return leaf.requires_grad_() if leaf.is_floating_point() else leaf


class Graph:
    """The autograd graph of one call of ``compute``.

    Args:
        compute: the function.
        input: its input, a tensor or a nested table of tensors.
        parameters: the tensors, besides the input, whose gradients are wanted.

    Attributes:
        source: the input as it was given.
        output: the output, with its graph.
        anchors: tensors to which nets inside are attached, since these add to their own gradients.
        scale: the factor for those gradients during backward; None: they add nothing.
    """

    def __init__(self, compute: Any, input: Any, parameters: Sequence[Tensor]) -> None:
        self.source = input
        self.leaves = map_tensors(_leaf, input)
        self.parameters = parameters
        self.anchors: list[Tensor] = []
        self.scale: float | None = None
        outer, _state.graph = _state.graph, self
        try:
            # Parameters require gradients for this call only: elsewhere they are plain tensors, so
            # that no other operation of a program records a graph.
            with torch.enable_grad(), _requiring_grad(parameters):
                self.output = compute(self.leaves)
        finally:
            _state.graph = outer
        self._versions = versions(self._watched())

    def _watched(self) -> list[Tensor]:
        return [*tensors(self.leaves), *tensors(self.output), *self.parameters]

    def result(self) -> Any:
        """Return the output without its graph."""
        return map_tensors(Tensor.detach, self.output)

    def is_of(self, input: Any) -> bool:
        """Return whether ``input`` has the same memory as the input of this graph."""
        if input is self.source:
            return True
        given, known = tensors(input), tensors(self.source)
        return len(given) == len(known) and all(
            new is old
            or (
                # A new view of the same elements, as a container makes for each pass, is the same
                # input.
                new.data_ptr() == old.data_ptr()
                and new.shape == old.shape
                and new.stride() == old.stride()
                and new.dtype == old.dtype
            )
            for new, old in zip(given, known, strict=True)
        )

    def gradients(
        self, gradOutput: Any, to_input: bool, scale: float | None
    ) -> tuple[Any, list[Tensor | None]]:
        """Return the gradients of the input and of the parameters.

        Args:
            gradOutput: a gradient of the form of the output.
            to_input: whether the gradients of the input are wanted; else the first result is None.
            scale: the factor for nets inside; None: the parameters' gradients are not wanted.

        Returns:
            The gradient of the input in its form, zeros where none arrives; a list for the
            parameters.
        """
        if gradOutput is None:
            raise wrong_type(None, "gradOutput", "a gradient of the form of the output")
        roots, grads = [], []
        for output, grad in pairs(self.output, gradOutput, ("output", "gradOutput")):
            if output.requires_grad and grad is not None:
                roots.append(output)
                grads.append(in_shape_of(grad, output))
        # What is not asked for is not computed: autograd stops at the tensors in `wanted`.
        leaves = [leaf for leaf in tensors(self.leaves) if leaf.requires_grad] if to_input else []
        parameters = [] if scale is None else self.parameters
        wanted = [*leaves, *parameters, *([] if scale is None else self.anchors)]
        found: Sequence[Tensor | None] = [None] * len(wanted)
        if roots and wanted:
            self.scale = scale
            with _requiring_grad(self.parameters), self._with_current_versions():
                # The graph is kept, because Torch7 allows several backward passes after one
                # forward.
                found = run_engine(roots, grads, wanted, True, accumulate=False)
        reached = iter(found)

        def gradient(leaf: Tensor) -> Tensor:
            # Indices have no gradient; Torch7 gives zeros for them.
            grad = next(reached) if leaf.requires_grad else None
            return torch.zeros_like(leaf) if grad is None else grad

        gradInput = map_tensors(gradient, self.leaves) if to_input else None
        return gradInput, list(found[len(leaves) : len(leaves) + len(parameters)])

    @contextmanager
    def _with_current_versions(self) -> Iterator[None]:
        """Let autograd use the tensors' present values in the block.

        Torch7's backward reads the present values, whoever has changed them since. Autograd would
        raise an error about in-place changes, so the version counters are set back for the length
        of the block.
        """
        watched = self._watched()
        now = versions(watched)
        if now == self._versions:
            yield
            return
        # Autograd compares each saved tensor's counter with the one it noted at forward.
        set_versions(watched, self._versions)
        try:
            yield
        finally:
            set_versions(watched, now)


@contextmanager
def _requiring_grad(parameters: Sequence[Tensor]) -> Iterator[None]:
    plain = [p for p in parameters if not p.requires_grad]
    for parameter in plain:
        parameter.requires_grad_()
    try:
        yield
    finally:
        for parameter in plain:
            parameter.requires_grad_(False)


def without_graph(value: Any) -> Any:
    """Detach ``value`` from any PyTorch graph; turn the tables of files into lists and dicts."""
    if isinstance(value, Tensor):
        return value.detach() if value.requires_grad else value
    if not isinstance(value, (list, tuple, dict)):
        return value
    if type(value) is list and all(type(v) is Tensor and not v.requires_grad for v in value):
        return value
    value = t7.plain(value)
    if any(isinstance(item, Tensor) and item.requires_grad for item in contents(value)):
        return map_tensors(Tensor.detach, value)
    return value


def in_shape_of(grad: Tensor, output: Tensor) -> Tensor:
    """Return a gradient in the shape of ``output``; only the shapes may differ."""
    if grad.dtype != output.dtype or grad.device != output.device:
        raise TypeError(
            f"gradOutput is {grad.dtype} on {grad.device}, output is {output.dtype} on "
            f"{output.device}; one type on one device is accepted"
        )
    if grad.shape == output.shape:
        return grad
    if grad.numel() != output.numel():
        raise ValueError(
            f"gradOutput has size {listed(tuple(grad.shape), 'and')}, output has size "
            f"{listed(tuple(output.shape), 'and')}; as many elements are accepted"
        )
    return grad.reshape(output.shape)


def add_scaled(
    parameters: Sequence[Tensor], gradients: Sequence[Tensor | None], scale: float
) -> None:
    """Add ``scale`` times each gradient to its parameter's ``grad``, where both exist."""
    found = [
        (p.grad, g)
        for p, g in zip(parameters, gradients, strict=True)
        if p.grad is not None and g is not None
    ]
    if found:
        into, values = zip(*found, strict=True)
        foreach_add_(into, values, alpha=scale)


class _Net(torch.autograd.Function):
    """A call of a net as one node of a PyTorch graph."""

    @staticmethod
    def forward(
        ctx: Any, net: Any, form: Any, results: list[Any], _: Tensor, *given: Tensor
    ) -> Any:
        ctx.net = net
        ctx.input = with_tensors(form, [tensor.detach() for tensor in given])
        output = net.forward(ctx.input)
        # A token for this call: backward compares it to see whether the net has computed forward
        # again.
        ctx.call = net.__dict__["_call"] = object()
        ctx.graph = _state.graph
        ctx.form = output
        ctx.watched = [*given, *tensors(output), *net.parameters()[0]]
        # Kept by hand: save_for_backward cannot save the nested input, and would not notice changes
        # of parameters, which are no inputs of this Function.
        ctx.versions = versions(ctx.watched)
        results.append(output)
        # Detached copies of the handles: PyTorch attaches its graph to what is returned here, which
        # must not be the net's own `output`.
        return tuple(tensor.detach() for tensor in tensors(output))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        net, graph = ctx.net, ctx.graph
        if net.__dict__.get("_call") is not ctx.call:
            raise RuntimeError(
                f"this {net.typename} has gone forward again since; go back through a call before "
                "the next, or call a clone that shares its parameters"
            )
        # Inside a `compute` Torch7's rule holds, present values; in a PyTorch graph PyTorch's, an
        # error.
        if graph is None and versions(ctx.watched) != ctx.versions:
            raise RuntimeError(
                f"the input, the output or a parameter of this {net.typename} was changed in place "
                "since it went forward"
            )
        gradOutput = with_tensors(ctx.form, grads)
        scale = 1 if graph is None else graph.scale
        if scale is None:
            gradInput = net.updateGradInput(ctx.input, gradOutput)
        else:
            gradInput = net.backward(ctx.input, gradOutput, scale)
        found = [g for _, g in pairs(ctx.input, gradInput, ("input", "gradInput"))]
        return None, None, None, None, *found


def in_graph(net: Any, input: Any) -> Any:
    """Return the net's output as part of a PyTorch graph.

    Backward through it adds to the net's own gradients.
    """
    # Without a tensor that requires it, autograd would leave out a net whose input needs no
    # gradient.
    anchor = torch.empty(0, requires_grad=True)
    if _state.graph is not None:
        _state.graph.anchors.append(anchor)
    results: list[Any] = []
    found = _Net.apply(net, input, results, anchor, *tensors(input))
    return with_tensors(results[0], found)


class _Place(torch.nn.Module):
    """A module of a net, in the form in which PyTorch lists parameters and running statistics."""

    def __init__(self, module: Any, trained: set[int]) -> None:
        super().__init__()
        for name in dict.fromkeys((*module.parameter_names, *module.shared_by_clones)):
            if isinstance(tensor := getattr(module, name, None), Tensor):
                # PyTorch's methods would take only its own ``Parameter``.
                listed: Any = self._parameters if id(tensor) in trained else self._buffers
                listed[name] = tensor
        if isinstance(inside := getattr(module, "module", None), torch.nn.Module):
            self.add_module("module", inside)
        for i, child in enumerate(module.children()):
            self.add_module(str(i), _Place(child, trained))


class Differentiable(_Place):
    """A net as a ``torch.nn.Module``, made by ``net.as_autograd()``.

    A call with the net's input returns the output in a PyTorch graph. ``parameters()`` returns the
    net's own tensors, to whose ``grad`` backward adds, for PyTorch's optimizers. Their names, and
    those of running statistics, are their places in the net, counted from 0: ``"0.weight"``.
    """

    def __init__(self, net: Any) -> None:
        own = {id(parameter): parameter for parameter in net.parameters()[0]}
        super().__init__(net, set(own))
        self.net = net
        listed, others = set(map(id, self.parameters())), cast("Any", self._parameters)
        others |= {f"parameter{i}": p for i, p in enumerate(own.values()) if id(p) not in listed}
        self._gradients = [(p, g) for p, g in zip(*net.parameters(), strict=True) if g is not None]

    def forward(self, input: Any) -> Any:
        for parameter, gradient in self._gradients:
            # The check is made at each call: an optimizer may have dropped the gradients since the
            # last one.
            if parameter.grad is None:  # PyTorch's zero_grad; to the net it would mean frozen
                parameter.grad = gradient.zero_()
        return in_graph(self.net, input)

    def train(self, mode: bool = True) -> Differentiable:
        self.net.training() if mode else self.net.evaluate()
        return super().train(mode)
