"""Transfer functions: PyTorch's own results, kinks, in-place work, prints and errors."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.ids import stable
from torch import Tensor
from torch.nn import functional as F

from compat import nn, random, t7

VALUES = torch.linspace(-3, 3, 24).view(2, 3, 4)


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (nn.Threshold(0.5, -2), lambda x: F.threshold(x, 0.5, -2)),
        (nn.ReLU(), F.relu),
        (nn.ReLU6(), F.relu6),
        (nn.HardTanh(), F.hardtanh),
        (nn.Clamp(-0.5, 2), lambda x: x.clamp(-0.5, 2)),
        (nn.LeakyReLU(0.2), lambda x: F.leaky_relu(x, 0.2)),
        (nn.ELU(0.7), lambda x: F.elu(x, 0.7)),
        (nn.HardShrink(), F.hardshrink),
        (nn.SoftShrink(0.3), lambda x: F.softshrink(x, 0.3)),
        (nn.Tanh(), torch.tanh),
        (nn.TanhShrink(), F.tanhshrink),
        (nn.Sigmoid(), torch.sigmoid),
        (nn.LogSigmoid(), F.logsigmoid),
        (nn.SoftPlus(2), lambda x: F.softplus(x, 2)),
        (nn.SoftSign(), F.softsign),
        (nn.GatedLinearUnit(), lambda x: F.glu(x, -1)),
        (nn.GatedLinearUnit(1), lambda x: F.glu(x, 0)),
        (nn.SoftMax(), lambda x: F.softmax(x, 0)),
        (nn.SoftMin(), lambda x: F.softmin(x, 0)),
        (nn.LogSoftMax(), lambda x: F.log_softmax(x, 0)),
    ],
    ids=stable,
)
def test_results_are_pytorchs(module: nn.Module, function: Any) -> None:
    x = VALUES.clone().requires_grad_()
    wanted = function(x)
    assert torch.equal(module.forward(VALUES), wanted)
    gradOutput = torch.randn_like(wanted)
    wanted.backward(gradOutput)
    torch.testing.assert_close(module.backward(VALUES, gradOutput), x.grad)


@pytest.mark.parametrize(
    ("module", "at", "slope"),
    [
        (nn.ReLU(), 0, 0),
        (nn.Threshold(0.5, 2), 0.5, 0),
        (nn.LeakyReLU(0.3), 0, 0.3),
        (nn.ELU(0.4), 0, 0.4),
        (nn.PReLU(), 0, 0.25),
        (nn.RReLU(0.2, 0.2), 0, 0.2),
        (nn.HardTanh(), -1, 0),
        (nn.HardTanh(), 1, 0),
        (nn.ReLU6(), 0, 0),
        (nn.ReLU6(), 6, 0),
        (nn.HardShrink(), 0.5, 0),
        (nn.SoftShrink(), -0.5, 0),
    ],
    ids=repr,
)
def test_gradients_at_kinks(module: nn.Module, at: float, slope: float) -> None:
    x = torch.full((3,), float(at))
    module.forward(x)
    assert module.backward(x, torch.ones(3)).tolist() == pytest.approx([slope] * 3)


IN_PLACE = [
    nn.Threshold(0.1, 0, True),
    nn.ReLU(True),
    nn.ReLU6(True),
    nn.HardTanh(-1, 1, True),
    nn.LeakyReLU(0.1, True),
    nn.ELU(1, True),
    nn.RReLU(0.1, 0.1, True),
    nn.AddConstant(2, True),
    nn.MulConstant(2, True),
]


@pytest.mark.parametrize("module", IN_PLACE, ids=repr)
@pytest.mark.parametrize("before", [nn.Identity, lambda: nn.Linear(4, 4)])
def test_in_place_layers_have_the_gradients_of_the_others(before: Any, module: nn.Module) -> None:
    other = module.clone()
    other.inplace = False
    first = before()
    x = torch.randn(3, 4)
    gradOutput = torch.randn(3, 4)
    results = []
    for last in (module, other):
        net = nn.Sequential().add(first.clone()).add(last)
        given = x.clone()
        net.forward(given)
        net.zeroGradParameters()
        results.append([net.backward(given, gradOutput.clone()), *net.parameters()[1]])
    for ours, wanted in zip(*results, strict=True):
        torch.testing.assert_close(ours, wanted)


def test_no_in_place_work_where_gradients_would_be_wrong() -> None:
    module, x = nn.LeakyReLU(-0.5, True), VALUES.clone()
    module.forward(x)
    module.backward(x, torch.ones_like(x))
    assert torch.equal(x, VALUES)


def test_leaky_relu_of_true_is_not_in_place() -> None:
    module = nn.LeakyReLU(True)
    assert module.negval == 0.01
    assert not module.inplace


@pytest.mark.parametrize("shape", [(5,), (3, 5), (5, 2, 3), (3, 5, 2, 3), (3, 5, 2, 2, 2)])
def test_prelu_has_a_slope_for_each_plane(shape: tuple[int, ...]) -> None:
    module = nn.PReLU(5)
    module.weight.copy_(torch.arange(5.0))
    planes = 0 if len(shape) in (1, 3) else 1
    x = -torch.rand(shape)
    output = module.forward(x).movedim(planes, 0)
    for plane in range(5):
        torch.testing.assert_close(output[plane], x.movedim(planes, 0)[plane] * plane)


@pytest.mark.parametrize(
    ("shape", "dim"), [((5,), 0), ((2, 5), 1), ((5, 2, 3), 0), ((2, 5, 3, 3), 1)]
)
@pytest.mark.parametrize("cls", [nn.SoftMax, nn.SoftMin, nn.SpatialSoftMax])
def test_softmax_is_over_the_features(cls: Any, shape: tuple[int, ...], dim: int) -> None:
    output = cls().forward(torch.randn(shape))
    torch.testing.assert_close(output.sum(dim), torch.ones_like(output.sum(dim)))


@given(st.integers(0, 2**31 - 1), st.booleans())
def test_rrelu_draws_for_elements_that_are_not_positive(seed: int, inplace: bool) -> None:
    module = nn.RReLU(0.1, 0.4, inplace)
    x = torch.tensor([[1.0, -1.0, 0.0], [-2.0, 3.0, -4.0]])
    random.manualSeed(seed)
    output = module.forward(x.clone())
    random.manualSeed(seed)
    # As floats: the bounds are rounded first.
    drawn = random.uniform_(torch.empty(4), 0.1, 0.4)
    assert torch.equal(module.noise[x <= 0], drawn)
    assert torch.equal(module.noise[x > 0], torch.ones(2))
    assert torch.equal(output, x * module.noise)


def test_crelu_of_one_sample_doubles_its_planes() -> None:
    x = torch.randn(2, 3, 4)
    wanted = torch.cat([x, -x]).relu()
    module = nn.CReLU(3)
    assert torch.equal(module.forward(x), wanted)
    assert torch.equal(module.forward(torch.stack([x, x])), torch.stack([wanted, wanted]))


def test_log_sigmoid_stays_finite() -> None:
    x = torch.tensor([-1e4, 1e4])
    module = nn.LogSigmoid()
    assert module.forward(x).tolist() == [-1e4, 0]
    assert module.backward(x, torch.ones(2)).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.ReLU(), "nn.ReLU"),
        (nn.ELU(0.5), "nn.ELU (alpha:0.500000)"),
        (nn.RReLU(), "nn.RReLU (l:0.125000, u:0.333333)"),
        (nn.LeakyReLU(), "nn.LeakyReLU(0.01)"),
        (nn.CReLU(3), "CReLU()"),
        (nn.PReLU(3), "nn.PReLU"),
        (nn.SpatialLogSoftMax(), "nn.SpatialLogSoftMax"),
    ],
)
def test_prints(module: nn.Module, text: str) -> None:
    assert repr(module) == text


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.Threshold("a"), TypeError, "th is 'a'; a number"),
        (lambda: nn.Threshold(0, 1, True), ValueError, "v is 1; in place at most th, 0"),
        (lambda: nn.ReLU(1), TypeError, "p is 1; True or False"),
        (lambda: nn.HardTanh(1, -1), ValueError, "max_value is -1; more than min_value, 1"),
        (lambda: nn.RReLU(0.5, 0.1), ValueError, "l is 0.5 and u is 0.1"),
        (lambda: nn.GatedLinearUnit(0), ValueError, "dim is 0"),
        (
            lambda: nn.GatedLinearUnit().forward(torch.ones(2, 3)),
            ValueError,
            "nn.GatedLinearUnit: input has 3 features; an even number",
        ),
        (
            lambda: nn.PReLU(4).forward(torch.ones(2, 3)),
            ValueError,
            "nn.PReLU: input has 3 features; 4 are accepted",
        ),
        (
            lambda: nn.SoftMax().forward(torch.ones(1, 2, 3, 4, 5)),
            ValueError,
            "nn.SoftMax: input has 5 dimensions; 1, 2, 3 or 4",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message.replace("(", r"\(")):
        call()


def from_old_file(cls: Any, **fields: Any) -> Any:
    """A module as a file without the newer fields has it."""
    module = t7.loads(t7.dumps(t7.TorchObject(f"nn.{cls.__name__}", 1, fields)))
    assert type(module) is cls
    return module


@pytest.mark.parametrize(
    ("cls", "fields", "new"),
    [
        (nn.Threshold, {"threshold": 0, "val": 0}, nn.Threshold(0, 0)),
        (nn.ReLU, {"threshold": 0, "val": 0}, nn.ReLU()),
        (nn.HardTanh, {}, nn.HardTanh()),
        (nn.SoftPlus, {"buffer": torch.ones(1)}, nn.SoftPlus()),
        (nn.LogSigmoid, {"buffer": torch.ones(3)}, nn.LogSigmoid()),
        (nn.GatedLinearUnit, {"sHalf": torch.ones(3)}, nn.GatedLinearUnit()),
    ],
)
def test_files_without_newer_fields(cls: Any, fields: dict[str, Any], new: nn.Module) -> None:
    old = from_old_file(cls, **fields)
    assert torch.equal(old.forward(VALUES.clone()), new.forward(VALUES.clone()))


def test_files_call_lambda_by_its_name() -> None:
    written: Tensor | Any = nn.HardShrink(0.2).t7_fields()
    assert written["lambda"] == 0.2
    assert t7.loads(t7.dumps(nn.SoftShrink(0.3))).lambda_ == 0.3


def test_prelu_of_a_batch_of_sequences() -> None:
    module = nn.PReLU(2)
    module.weight.copy_(torch.tensor([0.25, 0.5]))
    x = torch.tensor([[[1.0, -2, 3], [-4, 5, -6]], [[-1, 2, -3], [4, -5, 6]]])
    output = torch.tensor([[[1, -0.5, 3], [-2, 5, -3]], [[-0.25, 2, -0.75], [4, -2.5, 6]]])
    assert torch.equal(module.forward(x), output)
    module.zeroGradParameters()
    module.backward(x, torch.ones_like(x))
    # As Lua Torch7 prints it for these numbers.
    assert module.gradWeight.tolist() == [-6, -15]
    sample = torch.randn(2, 3, 4)
    assert torch.equal(module.forward(sample), F.prelu(sample[None], module.weight)[0])
    with pytest.raises(ValueError, match="input has 3 features; 2 are accepted"):
        module.forward(torch.randn(4, 3, 4))


def test_the_slope_of_elu_is_that_of_its_output() -> None:
    # As in Torch7, where `gradInput` follows from `output`, from the rounded one too.
    x = torch.tensor([[0.5, -1, -0.25], [0.1, 0.2, -2]], dtype=torch.float64)
    module = nn.ELU(0.7)
    output = module.forward(x)
    slope = module.backward(x, torch.ones_like(x))
    assert torch.equal(slope, torch.where(output <= 0, output + 0.7, 1))
    assert torch.equal(nn.ELU(-0.7).forward(x), F.elu(x, -0.7))


# What backward reads, and what it is given.


def test_backward_reads_the_output_where_torch7_does() -> None:
    """A result changed in place after forward counts, for those whose slope follows from it."""
    x, ones = torch.tensor([0.5, -1.0]), torch.ones(2)
    for module, slope in (
        (nn.Tanh(), 1 - 0.25),
        (nn.Sigmoid(), 0.25),
        (nn.ELU(), 1),
        (nn.Exp(), 0.5),
        (nn.Sqrt(), 1),
        (nn.SoftPlus(), 1 - math.exp(-0.5)),
    ):
        module.forward(x).fill_(0.5)
        assert module.backward(x, ones).tolist() == pytest.approx([slope] * 2)


def test_backward_reads_the_input_that_it_is_given() -> None:
    module = nn.ReLU()
    module.forward(torch.randn(3, 4))
    assert module.backward(torch.tensor([-1.0, 2]), torch.tensor([5.0, 5])).tolist() == [0, 5]


def test_fields_count_when_they_are_set() -> None:
    x = torch.tensor([0.5, 2])
    module = nn.Threshold(0, 0)
    module.forward(x)
    module.threshold = 1
    assert module.backward(x, torch.ones(2)).tolist() == [0, 1]
    module.val = 7
    assert module.forward(x).tolist() == [7, 2]


SHAPE_KEEPING = [
    nn.ReLU(),
    nn.Tanh(),
    nn.SoftPlus(),
    nn.SoftMax(),
    nn.LogSoftMax(),
    nn.PReLU(),
    nn.PReLU(3),
    nn.Dropout(),
    nn.Square(),
    nn.MulConstant(2),
    nn.CMul(3),
    nn.CAdd(3),
    nn.Normalize(2),
    nn.L1Penalty(1),
]


@pytest.mark.parametrize("module", SHAPE_KEEPING, ids=repr)
@pytest.mark.parametrize("size", [(2, 1), (1, 3), (3,), (5, 7)])
def test_a_gradOutput_of_another_size_is_refused(module: Any, size: Any) -> None:
    x = torch.randn(2, 3)
    module.forward(x)
    with pytest.raises(ValueError, match="gradOutput has size"):
        module.backward(x, torch.ones(size))


@pytest.mark.parametrize("cls", [nn.SoftMax, nn.LogSoftMax, nn.Tanh])
def test_another_input_than_that_of_the_output_is_refused(cls: Any) -> None:
    module = cls()
    module.forward(torch.randn(2, 3))
    with pytest.raises((ValueError, RuntimeError)):
        module.backward(torch.randn(50, 70), torch.randn(50, 70))


@pytest.mark.parametrize("module", SHAPE_KEEPING, ids=repr)
def test_results_are_contiguous(module: Any) -> None:
    """A layer after it may take a view."""
    x, gradOutput = torch.randn(3, 2).t(), torch.randn(1, 3).expand(2, 3)
    for tensor in (x, gradOutput):
        if not isinstance(module, nn.L1Penalty):
            assert module.forward(tensor).is_contiguous()
        module.forward(tensor)
        assert module.backward(tensor, gradOutput).is_contiguous()


def test_prelu_adds_to_its_gradient_times_scale() -> None:
    for planes, shape in ((0, (2, 3)), (3, (2, 3, 4)), (3, (3,))):
        module, x = nn.PReLU(planes).double(), torch.randn(shape).double()
        gradOutput = torch.randn(shape).double()
        module.zeroGradParameters()
        for scale in (0.5, 2):
            module.forward(x)
            module.backward(x, gradOutput, scale)
        products = 2.5 * torch.where(x > 0, 0, x * gradOutput)
        axes = [d for d in range(x.dim()) if planes == 0 or d != (x.dim() > 1)]
        wanted = products.sum(axes) if axes else products
        torch.testing.assert_close(module.gradWeight, wanted.view(-1))
        module.gradWeight = None
        module.backward(x, gradOutput)
