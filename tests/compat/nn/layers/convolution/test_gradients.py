"""Gradients of all convolutions. What they compute is affine in the input and in each parameter, so
that differences are exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from compat import cudnn, nn

CASES: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "plain": (lambda: nn.SpatialConvolution(2, 3, 3, 2, 2, 1, 1, 0), (2, 6, 7)),
    "without bias": (lambda: nn.SpatialConvolution(2, 3, 3, 2).noBias(), (2, 6, 7)),
    "one plane": (lambda: nn.SpatialConvolution(1, 3, 1, 1), (1, 1, 1)),
    "matrix": (lambda: nn.SpatialConvolutionMM(2, 3, 3, 2, 1, 2), (2, 6, 7)),
    "dilated": (lambda: nn.SpatialDilatedConvolution(2, 3, 3, 2, 1, 1, 1, 2, 2, 3), (2, 6, 7)),
    "depthwise": (lambda: nn.SpatialDepthWiseConvolution(2, 3, 3, 2, 2, 1, 1), (2, 6, 7)),
    "groups": (lambda: cudnn.SpatialConvolution(4, 6, 3, 3, 1, 1, 0, 0, 2), (4, 5, 5)),
    "volumetric": (lambda: nn.VolumetricConvolution(2, 3, 2, 3, 2, 1, 2, 1, 1), (2, 4, 5, 6)),
    "full": (lambda: nn.SpatialFullConvolution(2, 3, 3, 2, 2, 3, 1, 0, 1, 2), (2, 4, 3)),
    "volumetric full": (
        lambda: nn.VolumetricFullConvolution(2, 3, 2, 3, 2, 2, 2, 1, 0, 1, 0, 1, 1, 0),
        (2, 2, 3, 4),
    ),
    "local": (lambda: nn.SpatialConvolutionLocal(2, 3, 6, 5, 3, 2, 2, 1, 1, 0), (2, 5, 6)),
    "mapped": (
        lambda: nn.SpatialConvolutionMap(torch.tensor([[1, 1], [3, 1], [2, 2], [3, 1]]), 3, 2),
        (4, 6, 5),
    ),
    "full mapped": (
        lambda: nn.SpatialFullConvolutionMap(nn.tables.random(3, 4, 2), 3, 2, 2, 1),
        (3, 4, 5),
    ),
    "temporal": (lambda: nn.TemporalConvolution(4, 3, 2, 2), (7, 4)),
    "padded temporal": (lambda: cudnn.TemporalConvolution(4, 3, 3, 2, 1), (7, 4)),
    "rows": (lambda: nn.TemporalRowConvolution(4, 2, 2), (7, 4)),
    "rows, features first": (lambda: nn.TemporalRowConvolution(4, 2, 1, True), (4, 7)),
    "subsampling": (lambda: nn.SpatialSubSampling(3, 2, 3, 3, 2), (3, 7, 6)),
    "temporal subsampling": (lambda: nn.TemporalSubSampling(3, 3, 2), (8, 3)),
}


def laid_out(shape: tuple[int, ...], layout: str) -> Tensor:
    """Random numbers in another order, or the same ones for the whole batch."""
    if layout == "expanded":
        return torch.randn(1, *shape[1:], dtype=torch.float64).expand(shape)
    if layout == "transposed":
        return torch.randn(shape[::-1], dtype=torch.float64).permute(*reversed(range(len(shape))))
    return torch.randn(shape, dtype=torch.float64)


def rise(module: Any, x: Tensor, gradOutput: Tensor, changed: Tensor, by: Tensor) -> float:
    """How much the output, weighed by gradOutput, changes with ``changed``, which is changed."""
    before = module.forward(x).clone()
    changed += by
    found = ((module.forward(x) - before) * gradOutput).sum().item()
    changed -= by
    return found


@pytest.mark.parametrize("batch", [(), (1,), (3,)], ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "expanded"])
@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str, layout: str, batch: tuple[int, ...]) -> None:
    make, sample = CASES[name]
    module = make().double()
    x = laid_out((*batch, *sample), layout)
    output = module.forward(x)
    assert output.is_contiguous()
    gradOutput = laid_out(tuple(output.shape), layout)
    for gradient in module.parameters()[1]:
        gradient.fill_(1)

    gradInput = module.backward(x, gradOutput, 0.5)
    assert gradInput.shape == x.shape and gradInput.is_contiguous()
    by, moved = torch.randn_like(gradInput), x.clone()
    wanted = rise(module, moved, gradOutput, moved, by)
    assert (gradInput * by).sum().item() == pytest.approx(wanted)
    for parameter, gradient in zip(*module.parameters(), strict=True):
        by = torch.randn_like(parameter)
        wanted = rise(module, x, gradOutput, parameter, by)
        assert ((gradient - 1) * by).sum().item() == pytest.approx(wanted / 2)


@pytest.mark.parametrize("name", CASES)
def test_the_halves_add_up_in_place(name: str) -> None:
    make, sample = CASES[name]
    module = make().double()
    _, gradients = module.getParameters()
    gradients.zero_()
    x = torch.randn(2, *sample, dtype=torch.float64)
    gradOutput = torch.randn_like(module.forward(x))
    gradInput = module.backward(x, gradOutput).clone()
    once = gradients.clone()
    torch.testing.assert_close(module.updateGradInput(x, gradOutput), gradInput)
    assert torch.equal(gradients, once)
    module.accGradParameters(x, gradOutput, 2)
    torch.testing.assert_close(gradients, 3 * once)

    module.gradInput = None
    module.zeroGradParameters()
    module.forward(x)
    assert module.backward(x, gradOutput) is None
    torch.testing.assert_close(gradients, once)


@pytest.mark.parametrize("name", CASES)
def test_frozen_parameters(name: str) -> None:
    make, sample = CASES[name]
    module = make()
    x = torch.randn(2, *sample)
    gradOutput = torch.randn_like(module.forward(x))
    gradInput = module.backward(x, gradOutput).clone()
    module.gradWeight = None
    module.forward(x)
    torch.testing.assert_close(module.backward(x, gradOutput), gradInput)
    if module.bias is not None:
        assert module.gradBias.abs().sum() > 0
        module.gradBias = None
        torch.testing.assert_close(module.backward(x, gradOutput), gradInput)


@pytest.mark.parametrize("name", CASES)
def test_an_empty_batch_adds_nothing(name: str) -> None:
    make, sample = CASES[name]
    module = make()
    module.zeroGradParameters()
    x = torch.zeros(0, *sample)
    output = module.forward(x)
    assert output.size(0) == 0
    assert module.backward(x, output).shape == x.shape
    assert all(not gradient.any() for gradient in module.parameters()[1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_a_gradOutput_of_another_type(name: str, dtype: torch.dtype) -> None:
    make, sample = CASES[name]
    module = make()
    x = torch.randn(2, *sample)
    gradOutput = torch.randn_like(module.forward(x))
    module.zeroGradParameters()
    gradInput = module.backward(x, gradOutput).clone()
    wanted = [gradient.clone() for gradient in module.parameters()[1]]
    module.zeroGradParameters()
    found = module.backward(x, gradOutput.to(dtype))
    assert found.dtype == torch.float32
    close = {"rtol": 0.05, "atol": 0.3}
    torch.testing.assert_close(found, gradInput, **close)
    torch.testing.assert_close(module.parameters()[1], wanted, **close)


@pytest.mark.parametrize("name", CASES)
def test_gradOutputs_and_inputs_of_another_size_are_refused(name: str) -> None:
    make, sample = CASES[name]
    module = make()
    x = torch.randn(2, *sample)
    output = module.forward(x)
    module.zeroGradParameters()
    larger = [s + 1 for s in output.shape]
    for wrong in (torch.zeros(larger), output[1:], output[:, 1:], output[0, 0], torch.zeros(1)):
        with pytest.raises((ValueError, RuntimeError)):
            module.updateGradInput(x, wrong)
        with pytest.raises((ValueError, RuntimeError)):
            module.accGradParameters(x, wrong)
    for wrong in (x[1:], torch.zeros([s + 9 for s in x.shape])):
        with pytest.raises((ValueError, RuntimeError)):
            module.backward(wrong, output)
    assert all(not gradient.any() for gradient in module.parameters()[1])


def test_a_full_convolution_passes_zeros_to_its_target() -> None:
    module = nn.SpatialFullConvolution(2, 3, 3, 3, 2, 2)
    x, target = torch.randn(2, 2, 4, 4), torch.randn(2, 5, 10, 9)
    output = module.forward([x, target])
    assert output.shape[-2:] == (10, 9)
    for _ in range(2):
        first, second = module.backward([x, target], torch.ones_like(output))
        torch.testing.assert_close(first.sum(), 4 * 4 * 2 * module.weight.sum())
        assert second.shape == target.shape and second.is_contiguous() and not second.any()


def test_backward_of_a_binary_convolution() -> None:
    module = nn.SpatialBinaryConvolution(2, 3, 3, 3)
    kept = module.weight.clone()
    plain = nn.SpatialConvolution(2, 3, 3, 3).noBias()
    plain.weight.copy_(kept.sign())
    x = torch.randn(2, 2, 5, 5)
    output, gradOutput = plain.forward(x), torch.randn(2, 3, 3, 3)
    sizes = kept.abs().mean((1, 2, 3)).view(3, 1, 1)
    torch.testing.assert_close(module.forward(x), output * sizes)

    sizes = kept.abs().mean((0, 2, 3)).view(2, 1, 1)
    wanted = plain.backward(x, gradOutput) * sizes
    torch.testing.assert_close(module.backward(x, gradOutput, 0.5), wanted)
    torch.testing.assert_close(module.gradWeight, plain.gradWeight / 2)
    assert torch.equal(module.weight, kept)


def test_gradients_of_a_bilinear_form() -> None:
    module = nn.Bilinear(4, 3, 2).double()
    x, y = torch.randn(5, 4).double(), torch.randn(3, 5).double().t()
    gradOutput = torch.randn(1, 2).double().expand(5, 2)
    module.forward([x, y])
    module.zeroGradParameters()
    found = module.backward([x, y], gradOutput, 0.5)
    assert all(gradient.is_contiguous() for gradient in found)

    def weighed(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return (F.bilinear(x, y, weight, bias) * gradOutput).sum()

    wanted = torch.func.grad(weighed, (0, 1, 2, 3))(x, y, module.weight, module.bias)
    torch.testing.assert_close(found, list(wanted[:2]))
    # As in Torch7 the scale does not multiply the gradient of the weight.
    torch.testing.assert_close(module.parameters()[1], [wanted[2], wanted[3] / 2])

    module.gradWeight = module.gradInput = None
    assert module.backward([x, y], gradOutput) is None
    for wrong in (gradOutput[:4], gradOutput[:, :1], gradOutput[0]):
        with pytest.raises(ValueError, match="gradOutput has size"):
            module.accGradParameters([x, y], wrong)


def test_fields_count_when_they_are_read() -> None:
    module = nn.SpatialConvolution(1, 1, 3, 3)
    x = torch.randn(1, 5, 5)
    module.forward(x)
    module.padW = module.padH = 1
    assert module.backward(x, torch.ones(1, 5, 5)).shape == x.shape
    assert module.forward(x).shape == (1, 5, 5)
