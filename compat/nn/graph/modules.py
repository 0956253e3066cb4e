"""The modules of Torch7's package ``nngraph`` beside ``nn.gModule``."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.nn.core.layer import Layer
from compat.nn.core.node import Node
from compat.nn.criterions.base import Criterion, check_criterion, gradient_of, loss_of
from compat.nn.layers.identity import Identity
from compat.nn.layers.table_layers import FromTable, table
from compat.tensor_tables import map_tensors, tensors


class JustElement(Layer, typename="nngraph.JustElement"):
    """The only entry of a table (Torch7: ``nngraph.JustElement``)."""

    def updateOutput(self, input: Any) -> Any:
        self.output = table(input, 1)[0]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = [gradOutput]
        return self.gradInput


Node.element = staticmethod(JustElement)


class JustTable(Layer, typename="nngraph.JustTable"):
    """A table with the input as its only entry (Torch7: ``nngraph.JustTable``)."""

    def updateOutput(self, input: Any) -> Any:
        self.output = [input]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = table(gradOutput, 1)[0]
        return self.gradInput


class ModuleFromCriterion(FromTable):
    """A criterion as a module (Torch7: ``nn.ModuleFromCriterion`` of the package nngraph).

    Args:
        criterion: what computes the output, a tensor of one element.

    The input is a table of a prediction and a target; in the gradient the second is zero.
    """

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = check_criterion(criterion)

    def updateOutput(self, input: Any) -> Tensor:
        prediction, target = table(input, 2)
        loss = loss_of(self.criterion, prediction, target)
        return self.set_output(tensors(prediction)[0].new_tensor([loss]))

    def updateGradInput(self, input: Any, gradOutput: Any) -> list[Any] | None:
        prediction, target = table(input, 2)
        scale = gradOutput[0] if isinstance(gradOutput, list) else gradOutput.reshape(())
        slopes = gradient_of(self.criterion, prediction, target)
        return self.set_gradInput(
            [
                map_tensors(lambda slope: slope * scale, slopes),
                map_tensors(lambda entry: entry.new_zeros(entry.shape), target),
            ]
        )


Node.criterion = staticmethod(ModuleFromCriterion)


def nest(nodes: Any) -> Node:
    """Return a node whose output is a table of those of ``nodes``, which may be nested in lists.

    Torch7: ``nngraph.nest``.

    Args:
        nodes: nodes, and lists of nodes.
    """
    if isinstance(nodes, Node):
        return nodes
    if not isinstance(nodes, (list, tuple)) or not nodes:
        raise TypeError(f"nodes is {nodes!r}; a node or a list of nodes is accepted")
    if len(nodes) == 1:
        return Node.of(JustTable(), nest(nodes[0]))
    return Node.of(Identity(), [nest(node) for node in nodes])
