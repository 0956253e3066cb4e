"""Arithmetic layers: values, shapes that meet a parameter, initialisation, errors."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compat import nn, random, t7


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (nn.Abs(), torch.abs),
        (nn.Exp(), torch.exp),
        (nn.Log(), torch.log),
        (nn.Square(), torch.square),
        (nn.Sqrt(), torch.sqrt),
        (nn.Sqrt(0.5), lambda x: (x + 0.5).sqrt()),
        (nn.Power(3), lambda x: x**3),
        (nn.AddConstant(2), lambda x: x + 2),
        (nn.AddConstant(torch.arange(4.0)), lambda x: x + torch.arange(4.0)),
        (nn.MulConstant(-3), lambda x: x * -3),
    ],
)
def test_results_are_pytorchs(module: nn.Module, function: Any) -> None:
    values = torch.rand(3, 4) + 0.1
    x = values.clone().requires_grad_()
    wanted = function(x)
    torch.testing.assert_close(module.forward(values), wanted)
    gradOutput = torch.randn(3, 4)
    wanted.backward(gradOutput)
    torch.testing.assert_close(module.backward(values, gradOutput), x.grad)


@pytest.mark.parametrize(("module", "slope"), [(nn.Abs(), 1), (nn.Sqrt(), 0), (nn.Square(), 0)])
def test_gradients_at_zero(module: nn.Module, slope: float) -> None:
    x = torch.zeros(2)
    assert module.forward(x).tolist() == [0, 0]
    assert module.backward(x, torch.ones(2)).tolist() == [slope] * 2


@pytest.mark.parametrize(
    ("size", "shape", "met"),
    [
        ((5,), (5,), None),
        ((5,), (3, 5), None),
        ((2, 3), (6,), (6,)),
        ((2, 3), (2, 3), None),
        ((2, 3), (4, 2, 3), None),
        ((2, 3), (4, 1, 6), (1, 6)),
        ((6,), (4, 2, 3), (2, 3)),
        ((1, 3), (4, 3), None),
        ((4, 1), (4, 3), None),
        ((1, 3, 1, 1), (2, 3, 2, 2), None),
        ((1,), (2, 3), None),
    ],
)
def test_parameters_meet_samples_and_batches(size: Any, shape: Any, met: Any) -> None:
    add, mul, x = nn.CAdd(*size), nn.CMul(list(size)), torch.randn(shape)
    fitted = [p.view(met or size) for p in (add.bias, mul.weight)]
    assert torch.equal(add.forward(x), x + fitted[0])
    assert torch.equal(mul.forward(x), x * fitted[1])
    add.zeroGradParameters()
    add.backward(x, torch.ones(shape), 0.5)
    torch.testing.assert_close(add.gradBias, torch.full(size, 0.5 * x.numel() / add.bias.numel()))


@given(st.integers(1, 20), st.booleans())
def test_add_draws_one_bias_or_one_for_each_element(n: int, scalar: bool) -> None:
    random.manualSeed(3)
    module = nn.Add(n, scalar)
    random.manualSeed(3)
    count = 1 if scalar else n
    bound = 1 / math.sqrt(count)
    assert torch.equal(module.bias, random.uniform_(torch.empty(count), -bound, bound))
    x = torch.randn(4, n)
    assert torch.equal(module.forward(x), x + module.bias)
    assert torch.equal(module.forward(x[0]), x[0] + module.bias)


def test_reset_takes_a_standard_deviation() -> None:
    for module in (nn.Mul(), nn.CMul(1000), nn.CAdd(10, 100), nn.Add(1000)):
        assert module.reset(0.01) is module
        [parameter] = module.parameters()[0]
        assert 0 < parameter.abs().max() <= 0.01 * math.sqrt(3)


def test_mul_has_one_weight_for_all() -> None:
    module, x = nn.Mul(), torch.randn(2, 3)
    assert torch.equal(module.forward(x), x * module.weight)
    module.zeroGradParameters()
    module.backward(x, torch.ones(2, 3), 0.5)
    torch.testing.assert_close(module.gradWeight, 0.5 * x.sum().view(1))


@given(st.sampled_from([0.5, 1, 1.5, 2, 3, 4, math.inf]), st.integers(1, 5))
def test_normalize_gives_vectors_of_norm_one(p: float, seed: int) -> None:
    x = torch.randn(3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    module = nn.Normalize(p).double()
    output = module.forward(x)
    norm = torch.linalg.vector_norm(output, p, dim=1)
    torch.testing.assert_close(norm, torch.ones_like(norm))
    assert torch.equal(module.forward(x[0]), output[0])
    # The output does not change along the input, so its gradient is orthogonal to it.
    module.forward(x)
    along = (module.backward(x, torch.randn_like(x)) * x).sum(1)
    torch.testing.assert_close(along, torch.zeros_like(along), atol=1e-7, rtol=0)


@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2, 3])
def test_normalize_of_zeros_has_finite_gradients(p: float) -> None:
    module, x = nn.Normalize(p), torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    module.forward(x)
    assert module.backward(x, torch.ones(2, 2)).isfinite().all()


@pytest.mark.parametrize(
    ("p", "text"), [(2, "2"), (2.0, "2"), (1.5, "1.500000"), (math.inf, "inf")]
)
def test_normalize_prints_its_norm(p: float, text: str) -> None:
    assert repr(nn.Normalize(p)) == f"nn.Normalize({text})"


def test_constants_follow_the_type() -> None:
    module = nn.AddConstant(torch.arange(3.0)).double()
    assert module.forward(torch.zeros(2, 3, dtype=torch.float64)).dtype == torch.float64


def test_files_hold_sizes_as_torch7_does() -> None:
    fields = nn.CMul(2, 3).t7_fields()
    assert isinstance(fields["size"], t7.Storage)
    assert list(fields["size"]) == [2, 3]
    assert t7.loads(t7.dumps(nn.CAdd(2, 3))).size == [2, 3]
    assert nn.Add(3).t7_fields()["_ones"].tolist() == [1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.MulConstant(torch.ones(3)), TypeError, "constant_scalar is tensor"),
        (lambda: nn.AddConstant("1"), TypeError, "constant_scalar is '1'; a number"),
        (lambda: nn.Power("2"), TypeError, "p is '2'; a number"),
        (lambda: nn.Normalize(0), ValueError, "p is 0; more than 0"),
        (lambda: nn.CMul(2, 1.5), TypeError, "size is 1.5; a whole number"),
        (lambda: nn.Add(), TypeError, "inputSize is None; a size is"),
        (
            lambda: nn.CAdd(2, 3).forward(torch.ones(4, 5)),
            ValueError,
            "nn.CAdd: input has size .4, 5.; that of the parameter, .2, 3.",
        ),
        (
            lambda: nn.Normalize(2).forward(torch.ones(1, 2, 3)),
            ValueError,
            r"nn.Normalize\(2\): input has 3 dimensions; 1 or 2",
        ),
        (
            lambda: nn.AddConstant(torch.ones(3)).forward(torch.ones(2, 4)),
            ValueError,
            "nn.AddConstant: input has size .2, 4.; D or N x D with D = 3",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_constants_and_weights_must_fit() -> None:
    column = nn.AddConstant(torch.ones(3, 1))
    assert column.forward(torch.zeros(3)).shape == (3,)
    with pytest.raises(TypeError, match=r"constant_scalar is torch\.float32"):
        column.forward(torch.zeros(3).double())
    with pytest.raises(ValueError, match=r"input has size \(4, 6\)"):
        nn.CMul(2, 3).forward(torch.zeros(4, 6))
    with pytest.raises(ValueError, match="input has 2 features; 4 are accepted"):
        nn.Add(4).forward(torch.zeros(2, 2))
    with pytest.raises(ValueError, match="size is 0"):
        nn.CMul(0)
