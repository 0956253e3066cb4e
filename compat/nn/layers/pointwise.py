"""Arithmetic on every element, with and without parameters."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat.checks import flag, number, whole
from compat.nn.checks.tensors import check_count, check_dims, check_type
from compat.nn.core.files import sizes
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.functional import pointwise as f
from compat.nn.layers.elementwise import Elementwise, shaped
from compat.nn.layers.initialisation import Drawn


class Abs(Elementwise):
    """Compute ``|x|`` for each element, with slope 1 at 0 (Torch7: ``nn.Abs``).

    PyTorch: ``torch.abs``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.abs(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.abs_backward(gradOutput, input)


class Exp(Elementwise):
    """Compute ``exp(x)`` for each element (Torch7: ``nn.Exp``).

    PyTorch: ``torch.exp``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.exp(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.exp_backward(gradOutput, self.output)


class Log(Elementwise):
    """Compute the natural logarithm (Torch7: ``nn.Log``).

    PyTorch: ``torch.log``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.log(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.log_backward(gradOutput, input)


class Square(Elementwise):
    """Compute ``x²`` for each element (Torch7: ``nn.Square``).

    PyTorch: ``torch.square``.

    Shapes: the output has the shape of the input, which is any.

    Examples:
        >>> Square().forward(torch.tensor([-3.0])).tolist()
        [9.0]
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.square(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.square_backward(gradOutput, input)


class Sqrt(Elementwise):
    """Compute the square root, with slope 0 where it is 0 (Torch7: ``nn.Sqrt``).

    Args:
        b: added to the input; the field is ``eps``.

    Differs from Torch7: ``b`` is not ignored.

    PyTorch: ``torch.sqrt``.
    """

    eps: float = 0

    def __init__(self, b: float = 0) -> None:
        super().__init__()
        self.eps = number(b, "b")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.sqrt(input, self.eps)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.sqrt_backward(gradOutput, self.output)


class Power(Elementwise):
    """Compute the input to the power of ``p`` (Torch7: ``nn.Power``).

    Args:
        p: the exponent; the field is ``pow``.

    PyTorch: ``torch.pow``.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.pow = number(p, "p")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.power(input, self.pow)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.power_backward(gradOutput, input, self.pow)


class AddConstant(Elementwise):
    """Compute the input plus a constant (Torch7: ``nn.AddConstant``).

    Args:
        constant_scalar: a number, or a tensor with one element for each feature of an input of size
            ``D`` or ``N x D``.
        ip: work in place; backward gives the input its former value.

    PyTorch: ``torch.add``.
    """

    scratch_fields = ("tmp",)

    def __init__(self, constant_scalar: float | Tensor, ip: bool = False) -> None:
        super().__init__()
        if not isinstance(constant_scalar, Tensor):
            number(constant_scalar, "constant_scalar")
        self.constant_scalar = constant_scalar
        self.inplace = flag(ip)

    def apply_to(self, input: Tensor) -> Tensor:
        return f.add(input, self._constant(input), self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        if not self.inplace:
            return gradOutput.clone()
        input.sub_(self._constant(input))
        return gradOutput

    def _constant(self, input: Tensor) -> Tensor | float:
        c = self.constant_scalar
        if isinstance(c, Tensor):
            check_type(input, c, owner="constant_scalar")
            c = c.view(-1)
            if input.dim() not in (1, 2) or input.size(-1) != len(c):
                raise ValueError(
                    f"input has size {tuple(input.shape)}; D or N x D with D = {len(c)}, the size "
                    "of constant_scalar, is accepted"
                )
        return c


class MulConstant(Elementwise):
    """Compute the input times a constant (Torch7: ``nn.MulConstant``).

    Args:
        constant_scalar: the constant.
        ip: work in place; backward gives the input its former value.

    PyTorch: ``torch.mul``.
    """

    def __init__(self, constant_scalar: float, ip: bool = False) -> None:
        super().__init__()
        self.constant_scalar = number(constant_scalar, "constant_scalar")
        self.inplace = flag(ip)

    def apply_to(self, input: Tensor) -> Tensor:
        return f.mul(input, self.constant_scalar, self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        if self.inplace:
            input.div_(self.constant_scalar)
        return f.mul(gradOutput, self.constant_scalar, self.inplace)


class _PerElement(Drawn):
    """An operation between the input and one parameter for each element of a sample."""

    _by_element = False

    def _fan_in(self) -> int:
        return sum(parameter.numel() for parameter in self._own_parameters())

    @staticmethod
    def fitted(parameter: Tensor, input: Tensor) -> Tensor:
        """Return ``parameter`` in a shape that broadcasts to ``input``, a sample or a batch."""
        check_type(input, parameter)
        if parameter.numel() == 1:
            return parameter.view(-1)
        if input.numel() == parameter.numel():
            return parameter.view(input.shape)
        if input.dim() == parameter.dim() and all(
            p in (1, i) for p, i in zip(parameter.shape, input.shape, strict=True)
        ):
            return parameter
        batch = input.dim() > 1 and input.dim() != parameter.dim()
        if batch and math.prod(input.shape[1:]) == parameter.numel():
            return parameter.view(input.shape[1:])
        raise ValueError(
            f"input has size {tuple(input.shape)}; that of the parameter, "
            f"{tuple(parameter.shape)}, or a batch of it is accepted"
        )


class _Adding(_PerElement):
    """Add ``bias``."""

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(f.add(input, self.fitted(self.bias, input)).contiguous())

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        gradInput = shaped(gradOutput, input).to(input.dtype)
        return self.set_gradInput(gradInput.clone(memory_format=torch.contiguous_format))

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        if self.gradBias is not None:
            f.add_acc_(shaped(gradOutput, input), self.fitted(self.gradBias, input), scale)


class _Multiplying(_PerElement):
    """Multiply by ``weight``."""

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(f.mul(input, self.fitted(self.weight, input)).contiguous())

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        gradInput = f.mul(shaped(gradOutput, input), self.fitted(self.weight, input))
        return self.set_gradInput(gradInput.to(input.dtype).contiguous())

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        if self.gradWeight is not None:
            gradWeight = self.fitted(self.gradWeight, input)
            f.mul_acc_(shaped(gradOutput, input), input, gradWeight, scale)


class Add(_Adding):
    """Add a learned bias (Torch7: ``nn.Add``).

    Args:
        inputSize: the number of elements of a sample.
        scalar: one bias for all elements; ``inputSize`` is ignored.

    Shapes: a sample of ``inputSize`` elements, or a batch ``N x ...`` of them; ``bias`` has
    ``inputSize`` elements, or one.
    """

    scratch_fields = ("_ones",)
    scalar: bool | None = None

    def __init__(self, inputSize: int | None = None, scalar: bool = False) -> None:
        super().__init__()
        if not flag(scalar, "scalar") and inputSize is None:
            raise TypeError("inputSize is None; a size is accepted, or scalar=True")
        self.scalar = True if scalar else None
        self.bias = torch.empty(1 if scalar else sizes((inputSize,), "inputSize"))
        self.reset()

    def _fan_in(self) -> int:
        return len(self.bias)

    def updateOutput(self, input: Tensor) -> Tensor:
        if not self.scalar and input.dim() > 1 and input.size(0) != 1:
            check_count(math.prod(input.shape[1:]), self.bias.numel())
        return super().updateOutput(input)

    def t7_fields(self) -> dict[str, Any]:
        # Lua's forward needs a first one.
        return super().t7_fields() | {"_ones": self.bias.detach().new_ones(1)}


class CAdd(_Adding):
    """Add a learned bias of any shape (Torch7: ``nn.CAdd``).

    Args:
        size: the size of ``bias``: several numbers, or one list of them.

    Shapes: an input with as many elements as ``bias``, a batch of them, ``N x ...``, or an input
    with as many dimensions as ``bias``, along which a size of 1 in ``bias`` means the same for all.
    """

    size_fields = ("size",)
    scratch_fields = ("_gradBias", "_gradOutput", "_expand", "_output", "_bias", "_repeat")

    def __init__(self, *size: Any) -> None:
        super().__init__()
        self.size = [whole(n, "size", 1) for n in sizes(size)]
        self.bias = torch.empty(self.size)
        self.reset()


class CMul(_Multiplying):
    """Multiply by a learned weight of any shape (Torch7: ``nn.CMul``).

    Args:
        size: the size of ``weight``: several numbers, or one list of them.

    Shapes: as for ``CAdd``, with ``weight`` in place of ``bias``.
    """

    size_fields = ("size",)
    scratch_fields = (
        *("_input", "_output", "_weight", "_gradWeight", "_expand", "_repeat", "_sum"),
        *("_gradOutput", "_gradInput"),
    )

    def __init__(self, *size: Any) -> None:
        super().__init__()
        self.size = [whole(n, "size", 1) for n in sizes(size)]
        self.weight = torch.empty(self.size)
        self.reset()


class Mul(_Multiplying):
    """Multiply by one learned number (Torch7: ``nn.Mul``). ``weight`` has one element."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.empty(1)
        self.reset()


class Normalize(Layer):
    """Divide each vector by its p-norm (Torch7: ``nn.Normalize``).

    Args:
        p: above 0; ``math.inf`` for the largest absolute value.
        eps: added to the sum of powers, or to the largest value, against division by 0.

    Shapes: ``D`` or ``N x D``.

    PyTorch: ``torch.nn.functional.normalize``.
    """

    cleared_fields = ("norm", "normp", "cross")
    pass_fields = ("norm",)
    scratch_fields = (
        *("_output", "_indices", "_gradInput", "norm", "normp"),
        *("buffer", "buffer2", "cross"),
    )

    def __init__(self, p: float, eps: float = 1e-10) -> None:
        super().__init__()
        if not number(p, "p") > 0:
            raise ValueError(f"p is {p}; more than 0 is accepted")
        self.p = p
        self.eps = number(eps, "eps")

    def updateOutput(self, input: Tensor) -> Tensor:
        check_dims(input, 1, 2)
        output, self.norm = f.normalize(input, self.p, self.eps)
        return self.set_output(output.contiguous())

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        gradOutput = shaped(gradOutput, input)
        gradInput = f.normalize_backward(gradOutput, input, self.norm, self.p, self.eps)
        return self.set_gradInput(gradInput.contiguous())

    def __repr__(self) -> str:
        p = f"{self.p:.0f}" if self.p % 1 == 0 else f"{self.p:f}"
        return f"{self.typename}({p})"
