"""Arithmetic on every element, with and without parameters."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat import random
from compat.checks import flag, number, whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import check_count, check_dims, check_type
from compat.nn.core.file_fields import Stored, sizes
from compat.nn.core.module import Scalar, deterministic
from compat.nn.layers.elementwise import Elementwise, Root, zero_at_zero
from compat.nn.layers.linear import uniform_stdv


class Abs(Elementwise):
    """``|x|``, with slope 1 at 0 (Torch7: ``nn.Abs``).

    PyTorch: ``torch.abs``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return torch.where(input >= 0, input, -input)


class Exp(Elementwise):
    """``exp(x)`` (Torch7: ``nn.Exp``).

    PyTorch: ``torch.exp``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return torch.exp(input)


class Log(Elementwise):
    """The natural logarithm (Torch7: ``nn.Log``).

    PyTorch: ``torch.log``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return torch.log(input)


class Square(Elementwise):
    """``x²`` (Torch7: ``nn.Square``).

    PyTorch: ``torch.square``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return torch.square(input)


class Sqrt(Elementwise):
    """The square root, with slope 0 where it is 0 (Torch7: ``nn.Sqrt``).

    Args:
        b: added to the input; the field is ``eps``.

    Differs from Torch7: ``b`` is not ignored.

    PyTorch: ``torch.sqrt``.
    """

    eps: float = 0

    @nil_is_default
    def __init__(self, b: float = 0) -> None:
        super().__init__()
        self.eps = number(b, "b")

    def apply_to(self, input: Tensor) -> Tensor:
        return Root.apply(input + self.eps if self.eps else input, 2)


class Power(Elementwise):
    """The input to the power of ``p`` (Torch7: ``nn.Power``).

    Args:
        p: the exponent; the field is ``pow``.

    PyTorch: ``torch.pow``.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.pow = number(p, "p")

    def apply_to(self, input: Tensor) -> Tensor:
        return torch.pow(input, self.pow)


class AddConstant(Elementwise):
    """The input plus a constant (Torch7: ``nn.AddConstant``).

    Args:
        constant_scalar: a number, or a tensor with one element for each feature of an input of size
            ``D`` or ``N x D``.
        ip: work in place. Differs from Torch7: backward does not change the input.

    PyTorch: ``torch.add``.
    """

    scratch_fields = ("tmp",)

    @nil_is_default
    def __init__(self, constant_scalar: float | Tensor, ip: bool = False) -> None:
        super().__init__()
        if not isinstance(constant_scalar, Tensor):
            number(constant_scalar, "constant_scalar")
        self.constant_scalar = constant_scalar
        self.inplace = flag(ip)

    def apply_to(self, input: Tensor) -> Tensor:
        c = self.constant_scalar
        if isinstance(c, Tensor):
            check_type(input, c, owner="constant_scalar")
            c = c.view(-1)
            if input.dim() not in (1, 2) or input.size(-1) != len(c):
                raise ValueError(
                    f"input has size {tuple(input.shape)}; D or N x D with D = {len(c)}, the size "
                    "of constant_scalar, is accepted"
                )
        return input.add_(c) if self.inplace else input + c


class MulConstant(Elementwise):
    """The input times a constant (Torch7: ``nn.MulConstant``).

    Args:
        constant_scalar: the constant.
        ip: work in place. Differs from Torch7: backward changes neither gradOutput nor the input.

    PyTorch: ``torch.mul``.
    """

    @nil_is_default
    def __init__(self, constant_scalar: float, ip: bool = False) -> None:
        super().__init__()
        self.constant_scalar = number(constant_scalar, "constant_scalar")
        self.inplace = flag(ip)

    def apply_to(self, input: Tensor) -> Tensor:
        c = self.constant_scalar
        return input.mul_(c) if self.inplace else input * c


class _PerElement(Stored):
    """An operation between the input and one parameter for each element of a sample."""

    def reset(self, stdv: Scalar | None = None) -> Any:
        """Draw the parameter from ±stdv·√3, by default ±1/√(number of elements)."""
        for parameter in self._own_parameters():
            bound = uniform_stdv(stdv, parameter.numel())
            random.uniform_(parameter, -bound, bound)
        return self

    @staticmethod
    def fitted(parameter: Tensor, input: Tensor) -> Tensor:
        """``parameter`` in a shape that meets ``input``, which may be a sample or a batch."""
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


class Add(_PerElement):
    """Adds a learned bias (Torch7: ``nn.Add``).

    Args:
        inputSize: the number of elements of a sample.
        scalar: one bias for all elements; ``inputSize`` is ignored.

    Shapes: a sample of ``inputSize`` elements, or a batch ``N x ...`` of them; ``bias`` has
    ``inputSize`` elements, or one.
    """

    scratch_fields = ("_ones",)
    scalar: bool | None = None

    @nil_is_default
    def __init__(self, inputSize: int | None = None, scalar: bool = False) -> None:
        super().__init__()
        if not flag(scalar, "scalar") and inputSize is None:
            raise TypeError("inputSize is None; a size is accepted, or scalar=True")
        self.scalar = True if scalar else None
        self.bias = torch.empty(1 if scalar else sizes((inputSize,), "inputSize"))
        self.reset()

    def reset(self, stdv: Scalar | None = None) -> Add:
        """Draw the bias from ±stdv·√3, by default ±1/√(its first size)."""
        bound = uniform_stdv(stdv, self.bias.size(0))
        random.uniform_(self.bias, -bound, bound)
        return self

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        if not self.scalar and input.dim() > 1 and input.size(0) != 1:
            check_count(math.prod(input.shape[1:]), self.bias.numel())
        return input + self.fitted(self.bias, input)

    def t7_fields(self) -> dict[str, Any]:
        # Lua's forward needs a first one.
        return super().t7_fields() | {"_ones": self.bias.detach().new_ones(1)}


class CAdd(_PerElement):
    """Adds a learned bias of any shape (Torch7: ``nn.CAdd``).

    Args:
        size: the size of ``bias``: several numbers, or one list of them.

    Shapes: an input with as many elements as ``bias``, a batch ``N x ...`` of such, or an input
    with as many dimensions as ``bias``, along which a size of 1 in ``bias`` means the same for all.
    """

    size_fields = ("size",)
    scratch_fields = ("_gradBias", "_gradOutput", "_expand", "_output", "_bias", "_repeat")

    def __init__(self, *size: Any) -> None:
        super().__init__()
        self.size = [whole(n, "size", 1) for n in sizes(size)]
        self.bias = torch.empty(self.size)
        self.reset()

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input + self.fitted(self.bias, input)


class CMul(_PerElement):
    """Multiplies with a learned weight of any shape (Torch7: ``nn.CMul``).

    Args:
        size: the size of ``weight``: several numbers, or one list of them.

    Shapes: as for ``CAdd``, with ``weight`` in the place of ``bias``.
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

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input * self.fitted(self.weight, input)


class Mul(_PerElement):
    """Multiplies with one learned number (Torch7: ``nn.Mul``). ``weight`` has one element."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.empty(1)
        self.reset()

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input * self.fitted(self.weight, input)


class Normalize(Stored):
    """Divides each vector by its p-norm (Torch7: ``nn.Normalize``).

    Args:
        p: above 0; ``math.inf`` for the largest absolute value.
        eps: added to the sum of powers, or to the largest value, against division by 0.

    Shapes: ``D`` or ``N x D``.

    Differs from Torch7: the gradient is exact for ``p < 2``.

    PyTorch: ``torch.nn.functional.normalize``.
    """

    cleared_fields = ("norm", "normp", "cross")

    scratch_fields = (
        *("_output", "_indices", "_gradInput", "norm", "normp"),
        *("buffer", "buffer2", "cross"),
    )

    @nil_is_default
    def __init__(self, p: float, eps: float = 1e-10) -> None:
        super().__init__()
        if not number(p, "p") > 0:
            raise ValueError(f"p is {p}; more than 0 is accepted")
        self.p = p
        self.eps = number(eps, "eps")

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        check_dims(input, 1, 2)
        return input / self._norm(input)

    def _norm(self, input: Tensor) -> Tensor:
        p = self.p
        if p == float("inf"):
            return input.abs().max(-1, keepdim=True)[0] + self.eps
        if p % 2 == 0:
            powers = input.pow(p)
        elif p >= 1:
            powers = input.abs().pow(p)
        else:
            powers = zero_at_zero(lambda x: x.abs().pow(p), input)
        return (powers.sum(-1, keepdim=True) + self.eps).pow(1 / p)

    def __repr__(self) -> str:
        p = f"{self.p:.0f}" if self.p % 1 == 0 else f"{self.p:f}"
        return f"{self.typename}({p})"
