from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from compat import cudnn, nn, random, t7

SHAPES = [
    (nn.BatchNormalization, torch.nn.BatchNorm1d, (5, 3)),
    (nn.SpatialBatchNormalization, torch.nn.BatchNorm2d, (4, 3, 5, 2)),
    (nn.VolumetricBatchNormalization, torch.nn.BatchNorm3d, (2, 3, 2, 5, 2)),
]


@pytest.mark.parametrize(("cls", "native", "shape"), SHAPES)
@pytest.mark.parametrize("affine", [False, True])
def test_batch_normalization_is_pytorchs(cls: Any, native: Any, shape: Any, affine: bool) -> None:
    module, other = cls(3, 1e-3, 0.2, affine), native(3, 1e-3, 0.2, affine)
    if affine:
        other.weight.data.copy_(module.weight)
    for mode in ("training", "evaluate"):
        getattr(module, mode)()
        other.train(mode == "training")
        x = torch.randn(shape).requires_grad_()
        wanted = other(x)
        assert torch.equal(module.forward(x.detach()), wanted)
        gradOutput = torch.randn(shape)
        wanted.backward(gradOutput)
        assert torch.equal(module.backward(x.detach(), gradOutput), x.grad)
        assert torch.equal(module.running_mean, other.running_mean)
        assert torch.equal(module.running_var, other.running_var)


def test_the_weight_starts_uniform_and_reset_forgets_the_statistics() -> None:
    random.manualSeed(7)
    module = nn.BatchNormalization(4)
    random.manualSeed(7)
    assert torch.equal(module.weight, random.uniform_(torch.empty(4), 0, 1))
    assert not module.bias.any()
    module.forward(torch.randn(5, 4) + 3)
    assert module.reset() is module
    assert not module.running_mean.any()
    assert torch.equal(module.running_var, torch.ones(4))


def test_a_training_batch_of_one_sample_uses_the_running_statistics() -> None:
    module = nn.BatchNormalization(3)
    module.forward(torch.randn(5, 3))
    mean, var = module.running_mean.clone(), module.running_var.clone()
    x = torch.randn(1, 3)
    wanted = F.batch_norm(x, mean, var, module.weight, module.bias)
    assert torch.equal(module.forward(x), wanted)
    assert torch.equal(module.running_mean, mean)
    gradInput = module.backward(x, torch.ones(1, 3))
    torch.testing.assert_close(gradInput[0], module.weight / (var + module.eps).sqrt())


def test_cudnn_takes_the_statistics_of_one_image() -> None:
    module = cudnn.SpatialBatchNormalization(2)
    x = torch.randn(1, 2, 5, 5) + 4
    assert module.forward(x).mean((2, 3)).abs().max() < 1e-5
    assert module.running_mean.min() > 0.2


def test_a_single_sample_in_evaluate_mode_becomes_a_batch() -> None:
    module = nn.SpatialBatchNormalization(2).evaluate()
    x = torch.randn(2, 3, 3)
    assert torch.equal(module.forward(x), module.forward(x[None]))
    assert x.shape == (2, 3, 3)


@pytest.mark.parametrize("prefix", ["nn", "cudnn"])
def test_files_of_the_first_version_hold_the_inverse_deviation(prefix: str) -> None:
    import compat.cudnn  # noqa: F401

    fields = {
        "affine": False,
        "eps": 1e-3,
        "momentum": 0.1,
        "running_mean": torch.zeros(2),
        "running_std": torch.tensor([0.5, 2.0]),
        "train": False,
        "buffer": torch.zeros(3),
    }
    old = t7.TorchObject(f"{prefix}.SpatialBatchNormalization", 1, fields)
    module = t7.loads(t7.dumps(old))
    torch.testing.assert_close(module.running_var, torch.tensor([4 - 1e-3, 0.25 - 1e-3]))
    assert not hasattr(module, "running_std") and not hasattr(module, "buffer")
    again = t7.loads(t7.dumps(module))
    assert torch.equal(again.running_var, module.running_var)


def test_statistics_may_be_written_between_the_passes() -> None:
    module, x, gradOutput = nn.BatchNormalization(4), torch.randn(6, 4), torch.randn(6, 4)
    module.forward(x)
    wanted = module.backward(x, gradOutput)
    module.running_mean.fill_(7)
    module.running_var.fill_(3)
    assert torch.equal(module.backward(x, gradOutput), wanted)
    module.evaluate().forward(x)
    module.running_var.fill_(2)
    wanted = gradOutput * module.weight / (2 + module.eps) ** 0.5
    torch.testing.assert_close(module.backward(x, gradOutput), wanted)


def test_backward_goes_on_from_the_statistics_of_the_latest_training_batch() -> None:
    module, x, gradOutput = nn.BatchNormalization(4), torch.randn(6, 4), torch.randn(6, 4)
    module.forward(x)
    wanted = module.backward(x, gradOutput)
    module.evaluate().forward(torch.randn(3, 4))
    assert torch.equal(module.training().backward(x, gradOutput), wanted)
    assert torch.equal(module.clone().backward(x, gradOutput), wanted)
    module.clearState()
    with pytest.raises(RuntimeError, match="backward needs a forward pass in training mode"):
        module.backward(x, gradOutput)


def test_what_is_not_wanted_is_not_computed() -> None:
    module, x, gradOutput = nn.BatchNormalization(4), torch.randn(6, 4), torch.randn(6, 4)
    module.forward(x)
    module.zeroGradParameters().backward(x, gradOutput, 0.5)
    wanted = module.gradWeight.clone()
    torch.testing.assert_close(module.gradBias, 0.5 * gradOutput.sum(0))
    module.gradInput = module.gradBias = None
    assert module.zeroGradParameters().backward(x, gradOutput, 0.5) is None
    assert torch.equal(module.gradWeight, wanted)


@pytest.mark.parametrize("size", [(6, 3), (5, 4), (6,), (1, 4)])
def test_a_gradOutput_of_another_size_is_refused(size: tuple[int, ...]) -> None:
    module, x = nn.BatchNormalization(4), torch.randn(6, 4)
    module.forward(x)
    with pytest.raises(ValueError, match="gradOutput has size"):
        module.backward(x, torch.zeros(size))


@pytest.mark.parametrize("name", ["weight", "bias", "running_mean", "save_mean"])
def test_a_field_of_another_size_is_refused(name: str) -> None:
    module, x = nn.BatchNormalization(4), torch.randn(6, 4)
    module.forward(x)
    setattr(module, name, torch.zeros(1))
    with pytest.raises(ValueError, match=r"features"):
        module.backward(x, x) if name == "save_mean" else module.forward(x)


def test_an_empty_batch_has_an_empty_gradient() -> None:
    module, x = nn.BatchNormalization(4).evaluate(), torch.empty(0, 4)
    assert module.forward(x).shape == module.backward(x, x).shape == (0, 4)


def test_half_precision_goes_back_outside_of_autocast() -> None:
    module, x = nn.BatchNormalization(4), torch.randn(6, 4).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        output = module.forward(x)
    assert module.backward(x, torch.ones_like(output)).dtype == torch.bfloat16
    assert module.gradWeight.dtype == torch.float32


@pytest.mark.parametrize("size", [1, 2, 5, 9])
@pytest.mark.parametrize("beta", [0.5, 0.75])
def test_cross_map_lrn_is_the_definition(size: int, beta: float) -> None:
    module = nn.SpatialCrossMapLRN(size, 0.1, beta, 2)
    x = torch.randn(2, 6, 3, 4, dtype=torch.float64)

    def definition(x: torch.Tensor) -> torch.Tensor:
        before, after = (size - 1) // 2, size // 2
        squares = F.pad(x.square(), (0, 0, 0, 0, before, after))
        sums = squares.unfold(1, size, 1).sum(-1)
        return x / (2 + 0.1 / size * sums) ** beta

    torch.testing.assert_close(module.forward(x), definition(x))
    torch.testing.assert_close(module.forward(x[0]), definition(x)[0])
    leaf, gradOutput = x.clone().requires_grad_(), torch.randn_like(x)
    definition(leaf).backward(gradOutput)
    torch.testing.assert_close(module.forward(x), definition(x))
    torch.testing.assert_close(module.backward(x, gradOutput), leaf.grad)


def test_prints() -> None:
    assert repr(nn.BatchNormalization(3)) == "nn.BatchNormalization (2D) (3)"
    module = nn.VolumetricBatchNormalization(3)
    assert repr(module) == "nn.VolumetricBatchNormalization (5D) (3)"
    assert repr(nn.SpatialCrossMapLRN(5)) == "nn.SpatialCrossMapLRN"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.BatchNormalization(0), ValueError, "nOutput is 0"),
        (lambda: nn.BatchNormalization(3, None, None, 1), TypeError, "affine is 1; True or False"),
        (
            lambda: nn.BatchNormalization(3).forward(torch.zeros(2, 4)),
            ValueError,
            "input has 4 features; 3 are accepted",
        ),
        (
            lambda: nn.SpatialBatchNormalization(3).forward(torch.zeros(3, 2, 2)),
            ValueError,
            "input has 3 dimensions; 4 \\(a batch\\) are accepted, in evaluate mode also 3",
        ),
        (
            lambda: nn.BatchNormalization(3).forward(torch.zeros(2, 3).double()),
            TypeError,
            "input is torch.float64, the module is torch.float32",
        ),
        (
            lambda: nn.SpatialCrossMapLRN(3).forward(torch.zeros(2, 3)),
            ValueError,
            "input has 2 dimensions; 3 or 4",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(("cls", "_", "shape"), SHAPES)
def test_a_training_batch_of_one_row_uses_the_running_statistics(
    cls: Any, _: Any, shape: tuple[int, ...]
) -> None:
    """Whatever its height and width: Torch7 asks for the size of the first dimension alone."""
    module = cls(3)
    module.forward(torch.randn(shape))
    mean, var = module.running_mean.clone(), module.running_var.clone()
    x = torch.randn(1, *shape[1:]).requires_grad_()
    weight = module.weight.clone().requires_grad_()
    wanted = F.batch_norm(x, mean, var, weight, module.bias)
    assert torch.equal(module.forward(x.detach()), wanted)
    gradOutput = torch.randn_like(wanted)
    wanted.backward(gradOutput)
    module.zeroGradParameters()
    torch.testing.assert_close(module.backward(x.detach(), gradOutput), x.grad)
    torch.testing.assert_close(module.gradWeight, weight.grad)
    assert torch.equal(module.running_mean, mean) and torch.equal(module.running_var, var)
