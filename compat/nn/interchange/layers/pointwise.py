"""Arithmetic on every element."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.functional import pointwise as f
from compat.nn.interchange.from_torch import FromTorch, comes_back, comes_back_simply, set_type
from compat.nn.interchange.modules import WithSettings
from compat.nn.interchange.pairs import Setting, pair
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers import pointwise as torch7


class Abs(nn.Module):
    """``|x|``.

    PyTorch: ``torch.abs``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return f.abs(input)


class Exp(nn.Module):
    """``exp(x)``.

    PyTorch: ``torch.exp``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return f.exp(input)


class Log(nn.Module):
    """The natural logarithm.

    PyTorch: ``torch.log``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return f.log(input)


class Square(nn.Module):
    """``x²``.

    PyTorch: ``torch.square``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return f.square(input)


class Sqrt(WithSettings):
    """The square root of the input plus ``eps``, with slope 0 where it is 0.

    PyTorch: ``torch.sqrt``.
    """

    shown = ("eps",)

    def __init__(self, eps: float = 0.0) -> None:
        super().__init__()
        self.eps = float(eps)

    def forward(self, input: Tensor) -> Tensor:
        zero = input == -self.eps
        return f.sqrt(input.masked_fill(zero, 1.0), self.eps).masked_fill(zero, 0.0)


class Power(WithSettings):
    """The input to a power.

    PyTorch: ``torch.pow``.
    """

    shown = ("exponent",)

    def __init__(self, exponent: float) -> None:
        super().__init__()
        self.exponent = float(exponent)

    def forward(self, input: Tensor) -> Tensor:
        return f.power(input, self.exponent)


class AddConstant(WithSettings):
    """The input plus a constant.

    PyTorch: ``torch.add``.
    """

    shown = ("constant",)

    def __init__(self, constant: float) -> None:
        super().__init__()
        self.constant = constant

    def forward(self, input: Tensor) -> Tensor:
        return input + self.constant


class MulConstant(WithSettings):
    """The input times a constant.

    PyTorch: ``torch.mul``.
    """

    shown = ("constant",)

    def __init__(self, constant: float) -> None:
        super().__init__()
        self.constant = constant

    def forward(self, input: Tensor) -> Tensor:
        return input * self.constant


class _PerElement(nn.Module):
    """One learned number for each element of a sample, or of the dimensions that are not 1."""

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def fitted(self, input: Tensor) -> Tensor:
        weight = self.weight
        if weight.numel() == 1 or weight.dim() == input.dim() or weight.shape == input.shape[1:]:
            return weight
        if input.numel() == weight.numel():
            return weight.view(input.shape)
        return weight.view(input.shape[1:])


class Add(_PerElement):
    """The input plus a learned tensor."""

    def forward(self, input: Tensor) -> Tensor:
        return input + self.fitted(input)


class Mul(_PerElement):
    """The input times a learned tensor."""

    def forward(self, input: Tensor) -> Tensor:
        return input * self.fitted(input)


class Normalize(WithSettings):
    """Vectors divided by their p-norm, where ``eps`` is added to the sum of powers.

    PyTorch: ``torch.nn.functional.normalize``.
    """

    shown = ("p", "eps")

    def __init__(self, p: float = 2.0, eps: float = 1e-10) -> None:
        super().__init__()
        self.p = float(p)
        self.eps = float(eps)

    def forward(self, input: Tensor) -> Tensor:
        return f.normalize(input, self.p, self.eps)[0]


pair(torch7.Abs, Abs)
pair(torch7.Exp, Exp)
pair(torch7.Log, Log)
pair(torch7.Square, Square)
pair(torch7.Sqrt, Sqrt, Setting("eps", "eps"))
pair(torch7.Power, Power, Setting("pow", "exponent"))
pair(torch7.MulConstant, MulConstant, Setting("constant_scalar", "constant"))
pair(torch7.Normalize, Normalize, Setting("p", "p"), Setting("eps", "eps"))
comes_back_simply(AddConstant, lambda m: torch7.AddConstant(m.constant))


@converts(torch7.AddConstant)
def _add_constant(module: Any, convert: ToTorch) -> nn.Module:
    constant = module.constant_scalar
    if not isinstance(constant, Tensor):
        return AddConstant(constant)
    return Add(nn.Parameter(constant.clone(), requires_grad=False))


@converts(torch7.Add, torch7.CAdd)
def _add(module: Any, convert: ToTorch) -> nn.Module:
    return Add(convert.parameter(module.bias))


@converts(torch7.Mul, torch7.CMul)
def _mul(module: Any, convert: ToTorch) -> nn.Module:
    return Mul(convert.parameter(module.weight))


@comes_back(Add)
def _from_add(module: Any, convert: FromTorch) -> Module:
    target = torch7.CAdd(list(module.weight.shape))
    target.bias = convert.tensor(module.weight)
    set_type(target, module.weight)
    return target


@comes_back(Mul)
def _from_mul(module: Any, convert: FromTorch) -> Module:
    target = torch7.CMul(list(module.weight.shape))
    target.weight = convert.tensor(module.weight)
    set_type(target, module.weight)
    return target
