"""Containers of one module that change or watch its inputs and outputs."""

from __future__ import annotations

import itertools
import math
import time
from typing import Any

import torch
from torch import Tensor

from compat import cutorch, t7
from compat.checks import flag, whole
from compat.nn.checks.tensors import TENSOR
from compat.nn.containers.container import C, Relaying
from compat.nn.containers.sequential import Sequential
from compat.nn.core.conversion import Conversion
from compat.nn.core.convertible import type_of
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import as_module
from compat.nn.core.tree import Inner
from compat.tensor_tables import map_tensors, tensors
from compat.tensor_types import parse_type


class Decorator(Relaying):
    """A wrapper that computes what its module computes (Torch7: ``nn.Decorator``).

    Args:
        module: the wrapped module.

    Subclasses may change input and output in ``inward`` and ``outward``, and gradOutput and
    gradInput in ``gradient_inward`` and ``gradient_outward``.
    """

    def __init__(self, module: Module | torch.nn.Module) -> None:
        super().__init__()
        self.add(module)

    def inward(self, input: Any) -> Any:
        """Return the module's input for ``input``."""
        return input

    def outward(self, output: Any, input: Any) -> Any:
        """Return the output for the module's output."""
        return output

    def gradient_inward(self, gradOutput: Any) -> Any:
        """Return the module's gradOutput for ``gradOutput``."""
        return gradOutput

    def gradient_outward(self, gradInput: Any, input: Any) -> Any:
        """Return the gradInput for the module's gradInput, which is not None."""
        return gradInput

    def updateOutput(self, input: Any) -> Any:
        inner = self.call(0, "updateOutput", self.inward(input))
        output = self.outward(inner, input)
        if output is not inner:
            return self.set_output_view(output)
        self.output = output
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self._go_back("updateGradInput", input, gradOutput)

    def _relay(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        inner = self.inward(input), self.gradient_inward(gradOutput)
        self.call(0, method, *inner, factor)

    def backward_both(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        return self._go_back("backward", input, gradOutput, scale)

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        self._relay("sharedAccUpdateGradParameters", input, gradOutput, lr)

    def _go_back(self, method: str, input: Any, gradOutput: Any, *scale: Scalar) -> Any:
        inner = self.inward(input), self.gradient_inward(gradOutput)
        found = self.call(0, method, *inner, *scale)
        gradInput = found if found is None else self.gradient_outward(found, input)
        if gradInput is not found:
            return self.set_gradInput_view(gradInput)
        self.gradInput = gradInput
        return gradInput

    def __repr__(self) -> str:
        return f"{self.typename} @ {self.modules[0]}"


class SpatialClassifier(Decorator):
    """A module applied to the features at each pixel (Torch7: ``nn.SpatialClassifier`` of nnx).

    Args:
        classifier: the module, an empty ``Sequential`` by default. ``add`` adds to it.

    Field: ``spatialOutput``; where it is False the output is that of the module, ``H * W x N``.

    Shapes: input ``K x H x W``, output ``N x H x W``; the module computes N features from K.
    """

    takes = TENSOR
    workspace_fields = dict.fromkeys(
        ("inputF", "inputT", "outputF", "gradOutputF", "gradOutputT", "gradInputF")
    )
    scratch_fields = ("outputT", "gradInputT")
    spatialOutput: bool = True

    classifier = Inner(0)

    def __init__(self, classifier: Module | torch.nn.Module | None = None) -> None:
        Relaying.__init__(self)
        self.modules.append(as_module(Sequential() if classifier is None else classifier))

    def add(self: C, module: Module | torch.nn.Module) -> C:
        """Add ``module`` to the classifier, a container. Returns self."""
        self.modules[0].add(module)
        return self

    def inward(self, input: Tensor) -> Tensor:
        if input.dim() != 3:
            raise ValueError(
                f"input has {input.dim()} dimensions; 3 (features x height x width) are accepted"
            )
        return input.flatten(1).t().contiguous()

    def outward(self, output: Tensor, input: Tensor) -> Tensor:
        return output.t().unflatten(1, input.shape[1:]) if self.spatialOutput else output

    def gradient_inward(self, gradOutput: Tensor) -> Tensor:
        return gradOutput.flatten(1).t().contiguous() if self.spatialOutput else gradOutput

    def gradient_outward(self, gradInput: Tensor, input: Tensor) -> Tensor:
        return gradInput.t().reshape(input.shape)


class Bottle(Decorator):
    """A module applied to inputs with more dimensions than it takes (Torch7: ``nn.Bottle``).

    The leading dimensions are merged into the first that the module takes, and restored after.

    Args:
        module: the wrapped module.
        nInputDim: the number of dimensions that the module takes.
        nOutputDim: the number of dimensions of its output; ``nInputDim`` by default.

    Raises:
        ValueError: where the output has another number of dimensions.

    Differs from Torch7: ``accUpdateGradParameters`` gives the module the merged input.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.Bottle(nn.Linear(4, 3)).forward(torch.ones(5, 6, 4)).shape
        torch.Size([5, 6, 3])
    """

    takes = TENSOR
    scratch_fields = ("shape", "size")

    def __init__(
        self,
        module: Module | torch.nn.Module,
        nInputDim: int = 2,
        nOutputDim: int | None = None,
    ) -> None:
        super().__init__(module)
        self.nInputDim = whole(nInputDim, "nInputDim", 1)
        self.nOutputDim = (
            self.nInputDim if nOutputDim is None else whole(nOutputDim, "nOutputDim", 1)
        )
        self.dimDelta = self.nInputDim - self.nOutputDim
        # Work space of the Lua implementation, which expects it.
        self.inShape = torch.zeros(self.nInputDim)
        self.outShape = torch.zeros(self.nOutputDim)

    def inward(self, input: Tensor) -> Tensor:
        return _merged(input, input.dim() - self.nInputDim)

    def outward(self, output: Tensor, input: Tensor) -> Tensor:
        extra = input.dim() - self.nInputDim
        if extra <= 0:
            return output.view_as(output)
        if output.dim() != self.nOutputDim:
            raise ValueError(
                f"the module's output has {output.dim()} dimensions; nOutputDim, "
                f"{self.nOutputDim}, are accepted"
            )
        batch = input.shape[:extra]
        count = math.prod(batch)
        first = output.size(0) // count if count else input.size(extra)
        return output.reshape(*batch, first, *output.shape[1:])

    def gradient_inward(self, gradOutput: Tensor) -> Tensor:
        return _merged(gradOutput, gradOutput.dim() - self.nOutputDim)

    def gradient_outward(self, gradInput: Tensor, input: Tensor) -> Tensor:
        return gradInput.reshape(input.shape)


def _merged(tensor: Tensor, extra: int) -> Tensor:
    """Return ``tensor`` with its first dimensions, one and ``extra``, as one."""
    return tensor.flatten(0, extra) if extra > 0 else tensor


class DontCast(Decorator):
    """A module that keeps its tensor type when the net around it is converted.

    Torch7: ``nn.DontCast``.

    Args:
        module: the wrapped module.
        castin: convert inputs to the module's type.
        castout: convert outputs to the type of the net around; as ``castin`` by default.
        moduleType: the module's type, by default taken from the module.
    """

    castin: bool | None = None
    castout: bool | None = None
    moduleType: str | None = None

    def __init__(
        self,
        module: Module | torch.nn.Module,
        castin: bool | None = None,
        castout: bool | None = None,
        moduleType: str | None = None,
    ) -> None:
        super().__init__(module)
        for name, value in (("castin", castin), ("castout", castout)):
            flag(value, name)
        self.castin = castin
        self.castout = castin if castout is None else castout
        if moduleType is None and (self.castin or self.castout):
            moduleType = self.modules[0].type()
        if moduleType is not None:
            parse_type(moduleType, "moduleType")
        self.moduleType = moduleType

    def inward(self, input: Any) -> Any:
        return _cast(input, self.moduleType) if self.castin else input

    def outward(self, output: Any, input: Any) -> Any:
        return _cast(output, self._type) if self.castout else output

    def gradient_inward(self, gradOutput: Any) -> Any:
        return _cast(gradOutput, self.moduleType) if self.castout else gradOutput

    def gradient_outward(self, gradInput: Any, input: Any) -> Any:
        return _cast(gradInput, self._type) if self.castin else gradInput

    def convert(self, conversion: Conversion, name: str) -> None:
        if conversion.dtype is None:  # another place, the same types
            super().convert(conversion, name)
            if self.moduleType is not None:
                self.moduleType = conversion.named(self.moduleType, name)
        self._type = conversion.named(self._type, name)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        # Lua keeps the type of the net around only in what the latest call left.
        told = type_of({"output": fields.get("output")})
        if told is None:
            self.__dict__.pop("_type", None)
        else:
            self._type = told


def _cast(value: Any, typename: Any) -> Any:
    def cast(tensor: Tensor) -> Tensor:
        if not tensor.is_floating_point():
            return tensor
        dtype, device = cutorch.place(typename, tensor)
        return tensor.to(device, dtype)

    return map_tensors(cast, value)


class NaN(Decorator):
    """A wrapper that raises an error on NaN in output or gradInput (Torch7: ``nn.NaN``).

    Args:
        module: the wrapped module.
        id: a name for the messages; a number by default.

    The error, a ValueError, says whether the NaN came with the input, is in the parameters, or was
    made by the module.

    PyTorch: ``torch.autograd.detect_anomaly``.
    """

    _ids = itertools.count(1)

    def __init__(self, module: Module | torch.nn.Module, id: Any = None) -> None:
        super().__init__(module)
        self.id = next(NaN._ids) if id is None else id

    def updateOutput(self, input: Any) -> Any:
        output = super().updateOutput(input)
        causes = {"input": input, "parameters": self.parameters()[0], "output": output}
        self._check(output, causes)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = super().updateGradInput(input, gradOutput)
        self._check(gradInput, {"gradOutput": gradOutput, "gradInput": gradInput})
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        super().accGradParameters(input, gradOutput, scale)
        gradients = self.parameters()[1]
        self._check(gradients, {"gradParameters": gradients})

    def __repr__(self) -> str:
        return f"{self.typename}({self.id}) @ {self.modules[0]}"

    def _check(self, result: Any, causes: dict[str, Any]) -> None:
        if _has_nan(result):
            name = next(name for name, value in causes.items() if _has_nan(value))
            raise ValueError(f"NaN found in {name} of module {self.id}:\n{self}")


def _has_nan(value: Any) -> bool:
    return any(bool(torch.isnan(tensor.sum())) for tensor in tensors(value))


class Profile(Decorator):
    """A wrapper that prints the time of a module's calls (Torch7: ``nn.Profile``).

    Args:
        module: the wrapped module.
        print_interval: the number of calls from print to print, 100 by default.
        name: the name to print; the module's class by default.

    Times are in seconds of wall-clock time on the CPU; GPU kernels may still run.

    PyTorch: ``torch.profiler.profile``.
    """

    def __init__(
        self,
        module: Module | torch.nn.Module,
        print_interval: int = 100,
        name: str | None = None,
    ) -> None:
        super().__init__(module)
        self.module = self.modules[0]
        self.print_interval = whole(print_interval, "print_interval", 1)
        self.name = self.module.typename if name is None else name
        self.numFwds = self.numBwds = 0
        self.summedFwdTime = self.summedBwdTime = 0.0
        self.timer = t7.TorchObject("torch.Timer")

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore({**fields, "timer": t7.TorchObject("torch.Timer")}, version)

    def updateOutput(self, input: Any) -> Any:
        start = time.perf_counter()
        output = super().updateOutput(input)
        self._add("Fwd", "forward", time.perf_counter() - start)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        start = time.perf_counter()
        gradInput = super().updateGradInput(input, gradOutput)
        self._add("Bwd", "backward", time.perf_counter() - start)
        return gradInput

    def _add(self, kind: str, passes: str, seconds: Scalar) -> None:
        count, total = f"num{kind}s", f"summed{kind}Time"
        setattr(self, count, getattr(self, count) + 1)
        setattr(self, total, getattr(self, total) + seconds)
        if getattr(self, count) % self.print_interval == 0:
            print(
                f"{self.name} took {getattr(self, total):.3f} seconds "
                f"for {self.print_interval} {passes} passes"
            )
            setattr(self, count, 0)
            setattr(self, total, 0.0)
