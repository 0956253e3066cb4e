"""Operations on each element. The first argument is written to; shapes are equal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from compat.lua.kernels.memory import address

Kernel = Callable[..., None]


def _sequentially(kernel: Kernel, out: Tensor, *args: Any) -> None:
    """Write element after element, as Torch7 does where PyTorch refuses."""
    for d, (size, stride) in enumerate(zip(out.shape, out.stride(), strict=True)):
        if stride == 0 and size > 1:
            for i in range(size):
                parts = [a.select(d, i) if isinstance(a, Tensor) else a for a in args]
                _sequentially(kernel, out.select(d, i), *parts)
            return
    result = torch.empty(out.shape, dtype=out.dtype, device=out.device)
    kernel(result, *args)
    out.copy_(result)


def writes(kernel: Kernel) -> Kernel:
    """Wrap a kernel so that it also writes to tensors whose elements share memory.

    Operands get the shape of the result: Torch7 requires equal counts only, and PyTorch would
    broadcast.
    """

    def checked_overlap(out: Tensor, *args: Any) -> None:
        shape = out.shape
        for i, a in enumerate(args):
            if isinstance(a, Tensor) and a.shape != shape:
                args = (*args[:i], a.reshape(shape), *args[i + 1 :])
        try:
            kernel(out, *args)
        except RuntimeError as error:
            text = str(error)
            if "single memory location" not in text and "overlap" not in text:
                raise
            _sequentially(kernel, out, *args)

    return checked_overlap


def copy(out: Tensor, source: Tensor) -> None:
    """Copy the numbers of another tensor of any type."""
    if source.shape != out.shape:
        source = source.reshape(out.shape)
    if source.is_floating_point() and not out.is_floating_point():
        source = as_integers(source, out.dtype)
    out.copy_(source)


def as_integers(source: Tensor, dtype: torch.dtype) -> Tensor:
    """Return floats as C converts them: to an int, of which small types keep the last bits."""
    return source.to(dtype if dtype == torch.int64 else torch.int32).to(dtype)


def fill(out: Tensor, value: float) -> None:
    """Fill a tensor with one number."""
    out.fill_(value)


def zero(out: Tensor) -> None:
    """Fill a tensor with zeros."""
    out.zero_()


def adds(out: Tensor, a: Tensor, value: float) -> None:
    torch.add(a, value, out=out)


def subs(out: Tensor, a: Tensor, value: float) -> None:
    torch.sub(a, value, out=out)


def mul(out: Tensor, a: Tensor, value: float) -> None:
    torch.mul(a, value, out=out)


def div(out: Tensor, a: Tensor, value: float | Tensor) -> None:
    if out.is_floating_point():
        torch.div(a, value, out=out)
    else:
        torch.div(a, value, rounding_mode="trunc", out=out)


def cadd(out: Tensor, a: Tensor, value: float, b: Tensor) -> None:
    torch.add(a, b, alpha=value, out=out)


def csub(out: Tensor, a: Tensor, value: float, b: Tensor) -> None:
    torch.sub(a, b, alpha=value, out=out)


def cmul(out: Tensor, a: Tensor, b: Tensor) -> None:
    torch.mul(a, b, out=out)


def cdiv(out: Tensor, a: Tensor, b: Tensor) -> None:
    div(out, a, b)


def cpow(out: Tensor, a: Tensor, b: Tensor) -> None:
    if out.is_floating_point():
        torch.pow(a, b, out=out)
    else:
        out.copy_(as_integers(torch.pow(a.double(), b.double()), out.dtype))


def pow(out: Tensor, a: Tensor, value: float) -> None:
    torch.pow(a, value, out=out)


def tpow(out: Tensor, value: float, a: Tensor) -> None:
    torch.pow(value, a, out=out)


def _power_of_two(value: Any, like: Tensor) -> Any:
    return torch.pow(2.0, value.to(like.dtype)) if isinstance(value, Tensor) else 2.0**value


_WIDTH = {torch.uint8: 8, torch.int8: 8, torch.int16: 16, torch.int32: 32, torch.int64: 64}


def _shift(a: Tensor, value: Any) -> tuple[Tensor, Tensor]:
    """Return the bits of numbers without their sign, and the distance by which C shifts them."""
    width = _WIDTH[a.dtype]
    bits = a.long() if width == 64 else a.long() & (2**width - 1)
    return bits, torch.as_tensor(value).to(a.device, torch.int64) & (63 if width == 64 else 31)


def lshift(out: Tensor, a: Tensor, value: Any) -> None:
    if out.is_floating_point():
        torch.mul(a, _power_of_two(value, a), out=out)
    else:
        bits, places = _shift(a, value)
        out.copy_(bits << places)


def rshift(out: Tensor, a: Tensor, value: Any) -> None:
    if out.is_floating_point():
        torch.div(a, _power_of_two(value, a), out=out)
    else:
        bits, places = _shift(a, value)
        # Zeros come in from the left, also into a long.
        out.copy_((bits >> places) & ~(-2 << (63 - places)))


def _bits(name: str, operator: Callable[..., Any]) -> Kernel:
    def kernel(out: Tensor, a: Tensor, value: Any) -> None:
        if out.is_floating_point():
            raise RuntimeError(f"{name} is only supported for integer type tensors")
        operator(a, value, out=out)

    return kernel


def fmod(out: Tensor, a: Tensor, value: Any) -> None:
    torch.fmod(a, value, out=out)


def remainder(out: Tensor, a: Tensor, value: Any) -> None:
    if out.is_floating_point():
        quotient = torch.div(a, value).double().floor_()
        value = torch.as_tensor(value, dtype=out.dtype, device=a.device)
        result = a.double() - value.double() * quotient
        out.copy_(torch.where(value == 0, math.nan, result))
    else:
        torch.remainder(a, value, out=out)


def clamp(out: Tensor, a: Tensor, low: float, high: float) -> None:
    if low <= high:
        torch.clamp(a, low, high, out=out)
    else:
        out.copy_(torch.where(a < low, low, torch.where(a > high, high, a)))


# Where one of two is no number, it is the second that Torch7 takes.
def cmax(out: Tensor, a: Tensor, b: Tensor | float) -> None:
    out.copy_(torch.where(a > b, a, b))


def cmin(out: Tensor, a: Tensor, b: Tensor | float) -> None:
    out.copy_(torch.where(a < b, a, b))


def addcmul(out: Tensor, a: Tensor, value: float, b: Tensor, c: Tensor) -> None:
    torch.addcmul(a, b, c, value=value, out=out)


def addcdiv(out: Tensor, a: Tensor, value: float, b: Tensor, c: Tensor) -> None:
    if out.is_floating_point():
        torch.addcdiv(a, b, c, value=value, out=out)
    else:
        # C computes with small numbers as ints.
        wide = torch.promote_types(out.dtype, torch.int32)
        torch.add(a, torch.div(b.to(wide) * value, c, rounding_mode="trunc"), out=out)


def lerp(out: Tensor, a: Tensor, b: Tensor, weight: float) -> None:
    torch.add(a, b - a, alpha=weight, out=out)


def atan2(out: Tensor, a: Tensor, b: Tensor) -> None:
    torch.atan2(a, b, out=out)


def round(out: Tensor, a: Tensor) -> None:
    """Round halves away from 0, as C does."""
    whole = torch.trunc(a)
    half = (a - whole).abs() >= 0.5
    torch.where(half, whole + torch.sign(a), whole, out=out)


def cinv(out: Tensor, a: Tensor) -> None:
    torch.reciprocal(a, out=out)


def _unary(operator: Callable[..., Any]) -> Kernel:
    def kernel(out: Tensor, a: Tensor) -> None:
        operator(a, out=out)

    return kernel


_UNARY = [
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "exp", "floor", "frac", "log", "log1p",
    "neg", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip

_OTHERS = (
    copy, fill, zero, adds, subs, mul, div, cadd, csub, cmul, cdiv, cpow, pow, tpow, lshift,
    rshift, fmod, remainder, clamp, cmax, cmin, addcmul, addcdiv, lerp,
    atan2, round, cinv,
)  # fmt: skip
KERNELS: dict[str, Kernel] = {kernel.__name__: writes(kernel) for kernel in _OTHERS}
KERNELS |= {name: writes(_unary(getattr(torch, name))) for name in _UNARY}
for _name in ("and", "or", "xor"):
    for _prefix in ("", "c"):
        _full = f"{_prefix}bit{_name}"
        KERNELS[_full] = writes(_bits(_full, getattr(torch, f"bitwise_{_name}")))
for _name in ("lshift", "rshift", "fmod", "remainder"):
    KERNELS[f"c{_name}"] = KERNELS[_name]
KERNELS["cmaxValue"], KERNELS["cminValue"] = KERNELS["cmax"], KERNELS["cmin"]

# The same for results that are new, where operands are contiguous and of one shape and type: each
# returns the tensor and its address.
Maker = Callable[..., tuple[Tensor, int | None]]


def _making(operator: Callable[..., Tensor]) -> Maker:
    def kernel(*args: Any) -> tuple[Tensor, int | None]:
        result = operator(*args)
        return result, address(result)

    return kernel


MAKERS: dict[str, Maker] = {
    name: _making(operator)
    for name, operator in {
        "adds": torch.add,
        "subs": torch.sub,
        "mul": torch.mul,
        "cmul": torch.mul,
        "cadd": lambda a, value, b: torch.add(a, b, alpha=value),
        "csub": lambda a, value, b: torch.sub(a, b, alpha=value),
        **{name: getattr(torch, name) for name in _UNARY},
    }.items()
}
# Quotients of whole numbers are not whole in PyTorch.
FLOATING_MAKERS = {"div": _making(torch.div), "cdiv": _making(torch.div), "pow": _making(torch.pow)}


def _compare(operator: Callable[..., Tensor]) -> Kernel:
    def kernel(out: Tensor, a: Tensor, other: Any) -> None:
        if isinstance(other, Tensor) and other.shape != a.shape:
            other = other.reshape(a.shape)
        out.copy_(operator(a, other))

    return kernel


for _name in ("lt", "gt", "le", "ge", "eq", "ne"):
    KERNELS[_name] = _compare(getattr(torch, _name))
