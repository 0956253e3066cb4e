"""``nn.FireModule``: the building block of SqueezeNet."""

from __future__ import annotations

from compat.checks import whole
from compat.nn.containers.branches import Concat
from compat.nn.containers.decorators import Decorator
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.core.tree import Inner
from compat.nn.layers import activation, rectifiers, softmax
from compat.nn.layers.convolution.convolution import SpatialConvolution


class FireModule(Decorator):
    """A 1×1 convolution to few planes, followed by a 1×1 and a 3×3 convolution side by side.

    Torch7: ``nn.FireModule`` of dpnn. Iandola et al., SqueezeNet, 2016. A ``Sequential`` of
    ``squeeze``, a 1×1 convolution, the activation, ``expand``, a ``Concat`` of a 1×1 and a 3×3
    convolution, and the activation.

    Args:
        nInputPlane: number of input planes.
        s1x1: number of planes of ``squeeze``, usually smaller than that of ``expand``.
        e1x1, e3x3: numbers of output planes of the 1×1 and the 3×3 convolution.
        activation: the class of the activation, by its name; ``"ReLU"`` by default.

    Shapes: input ``N x nInputPlane x H x W``, output ``N x (e1x1 + e3x3) x H x W``.
    """

    module, squeeze, expand = Inner(0), Inner(0, 0), Inner(0, 2)

    def __init__(
        self, nInputPlane: int, s1x1: int, e1x1: int, e3x3: int, activation: str = "ReLU"
    ) -> None:
        self.nInputPlane = whole(nInputPlane, "nInputPlane", 1)
        self.s1x1 = whole(s1x1, "s1x1", 1)
        self.e1x1, self.e3x3 = whole(e1x1, "e1x1", 1), whole(e3x3, "e3x3", 1)
        self.activation = activation
        if s1x1 > e1x1 + e3x3:
            print("Warning: <FireModule> s1x1 is recommended to be smaller then e1x1+e3x3")
        squeeze = SpatialConvolution(nInputPlane, s1x1, 1, 1)
        expand = Concat(2)
        expand.add(SpatialConvolution(s1x1, e1x1, 1, 1))
        expand.add(SpatialConvolution(s1x1, e3x3, 3, 3, 1, 1, 1, 1))
        super().__init__(Sequential(squeeze, self._between(), expand, self._between()))

    def _between(self) -> Module:
        families = vars(activation) | vars(rectifiers) | vars(softmax)
        found = families.get(str(self.activation))
        if not (isinstance(found, type) and issubclass(found, Module)):
            raise ValueError(
                f"activation is {self.activation!r}; the name of an activation such as 'Tanh' is "
                "accepted"
            )
        return found()

    def __repr__(self) -> str:
        return (
            f"{self.typename} inputPlanes: {self.nInputPlane} -> Squeeze Planes: {self.s1x1} -> "
            f"Expand: {self.e1x1}(1x1) + {self.e3x3}(3x3), activation: {self.activation}"
        )
