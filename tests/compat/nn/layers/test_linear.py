"""Layers with weights: `Linear` and its relatives, `LookupTable`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from compat import nn, t7
from compat.tensor_tables import map_tensors

pytestmark = pytest.mark.usefixtures("double_by_default")


def gradients(module: nn.Module, input: Any, gradOutput: Tensor, scale: float = 1) -> list[Tensor]:
    module.forward(input)
    module.zeroGradParameters()
    module.backward(input, gradOutput, scale)
    return [g.clone() for g in module.parameters()[1]]


@pytest.mark.parametrize(
    ("make", "input", "outputs"),
    [
        (lambda: nn.Cosine(4, 3), torch.ones(5, 4), 3),
        (lambda: nn.WeightedEuclidean(4, 3), torch.ones(5, 4), 3),
        (lambda: nn.LinearWeightNorm(4, 3), torch.ones(5, 4), 3),
        (lambda: nn.WeightNorm(nn.Linear(4, 3)), torch.ones(5, 4), 3),
        (lambda: nn.PartialLinear(4, 3), torch.ones(5, 4), 3),
        (lambda: nn.Maxout(4, 3, 2), torch.ones(5, 4), 3),
    ],
)
def test_gradients_accumulate_with_their_scale(make: Any, input: Any, outputs: int) -> None:
    module, gradOutput = make(), torch.randn(5, outputs)
    input = map_tensors(Tensor.double, input)
    once = gradients(module, input, gradOutput)
    module.backward(input, gradOutput, 0.5)
    for sum_, one in zip(module.parameters()[1], once, strict=True):
        torch.testing.assert_close(sum_, 1.5 * one)


@pytest.mark.parametrize(
    ("module", "input", "message"),
    [
        (nn.Linear(4, 3), torch.ones(2, 5), "input has 5 features; 4 are accepted"),
        (nn.Linear(4, 3), torch.ones(1, 2, 4), "input has 3 dimensions; 1 or 2"),
        (nn.LinearWeightNorm(4, 3), torch.ones(2, 5), "input has 5 features; 4 are accepted"),
        (nn.Cosine(4, 3), torch.ones(5), "input has 5 features; 4 are accepted"),
        (nn.Euclidean(4, 3), torch.ones(5), "input has 5 features; 4 are accepted"),
        (nn.PartialLinear(4, 3), torch.ones(2, 5), "input has 5 features; 4 are accepted"),
        (nn.Bilinear(4, 3, 2), [torch.ones(2, 4)] * 2, r"input\[2\] has size \(2, 4\); N x 3"),
        (nn.Bilinear(4, 3, 2), [torch.ones(2, 4), torch.ones(1, 3)], "batches of 2 and 1"),
        (nn.LookupTable(4, 3), torch.tensor([1, 5]), "the index 5; 1 to 4 are accepted"),
        (nn.LookupTable(4, 3), torch.tensor([[0.0]]), "the index 0; 1 to 4 are accepted"),
        (nn.LookupTable(4, 3, 0, 1), torch.tensor([1, 5]), "the index 5; 1 to 4 are accepted"),
        (nn.LookupTable(4, 3), torch.ones(1, 1, 1), "3 dimensions; 1 or 2"),
    ],
)
def test_wrong_inputs_are_named(module: nn.Module, input: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        module.forward(input)


def test_prints_are_torch7s() -> None:
    assert repr(nn.Linear(4, 3)) == "nn.Linear(4 -> 3)"
    assert repr(nn.Linear(4, 3, False)) == "nn.Linear(4 -> 3) without bias"
    assert repr(nn.Bilinear(4, 3, 2)) == "nn.Bilinear(4x3 -> 2) "
    assert repr(nn.PartialLinear(4, 3, False)) == "nn.PartialLinear(4 -> 3) without bias"
    assert repr(nn.LinearWeightNorm(4, 3)) == "nn.LinearWeightNorm(4 -> 3)"
    assert repr(nn.WeightNorm(nn.Linear(4, 3))) == "nn.WeightNorm @ nn.Linear(4 -> 3)"


def test_linear_adds_to_its_gradients_in_place() -> None:
    module, input, gradOutput = nn.Linear(4, 3), torch.randn(5, 4), torch.randn(5, 3)
    _, gradient = module.getParameters()
    gradient.fill_(1)
    module.forward(input)
    torch.testing.assert_close(module.backward(input, gradOutput, 2), gradOutput @ module.weight)
    wanted = [2 * gradOutput.t() @ input, 2 * gradOutput.sum(0)]
    torch.testing.assert_close(gradient, 1 + torch.cat([g.flatten() for g in wanted]))
    module.accGradParameters(input[0], gradOutput[0], -1)
    wanted[0] -= gradOutput[0].outer(input[0])
    wanted[1] -= gradOutput[0]
    torch.testing.assert_close(gradient, 1 + torch.cat([g.flatten() for g in wanted]))


@pytest.mark.parametrize(
    "make", [nn.Linear, nn.Cosine, nn.Euclidean, nn.LinearWeightNorm, nn.PartialLinear]
)
def test_gradients_that_are_not_wanted_are_left_out(make: Any) -> None:
    module, input, gradOutput = make(4, 3), torch.randn(5, 4), torch.randn(5, 3)
    wanted = gradients(module, input, gradOutput)
    module.gradInput = None
    found = gradients(module, input, gradOutput)
    assert module.gradInput is None
    torch.testing.assert_close(found, wanted)


def test_a_frozen_parameter_gets_no_gradient() -> None:
    module, input, gradOutput = nn.Linear(4, 3), torch.randn(5, 4), torch.randn(5, 3)
    weight = gradients(module, input, gradOutput)[0]
    module.gradBias = None
    module.forward(input)
    module.zeroGradParameters().backward(input, gradOutput)
    torch.testing.assert_close(module.gradWeight, weight)
    assert module.gradBias is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("make", [nn.Linear, nn.Cosine, nn.Euclidean, nn.LinearWeightNorm])
def test_gradients_have_the_types_of_what_they_belong_to(make: Any, dtype: torch.dtype) -> None:
    module, input = make(4, 3).float(), torch.randn(5, 4).float()
    with torch.autocast("cpu", torch.bfloat16):
        output = module.forward(input)
    gradInput = module.backward(input, torch.ones(output.shape, dtype=dtype))
    assert gradInput.dtype == torch.float32 and gradInput.any()


def test_distances_go_back_from_the_output_as_it_is() -> None:
    module, input, gradOutput = nn.Euclidean(4, 3), torch.randn(5, 4), torch.randn(5, 3)
    module.forward(input)
    wanted = module.backward(input, gradOutput)
    module.output.mul_(2)
    torch.testing.assert_close(module.backward(input, gradOutput), wanted / 2)
    module.fastBackward = False
    torch.testing.assert_close(module.backward(input, gradOutput), wanted)


@pytest.mark.parametrize("make", [nn.Linear, nn.Cosine, nn.Euclidean, nn.LinearWeightNorm])
def test_a_gradOutput_of_another_size_is_refused(make: Any) -> None:
    module, input = make(4, 3), torch.randn(5, 4)
    module.forward(input)
    for size in ((5, 1), (5, 4), (4, 3), (5,), (5, 3, 1)):
        with pytest.raises((RuntimeError, ValueError)):
            module.backward(input, torch.ones(size))


# Weight normalisation.


def test_a_normalised_layer_and_a_plain_one_compute_the_same() -> None:
    linear, input = nn.Linear(4, 3), torch.randn(2, 4)
    module = nn.LinearWeightNorm.fromLinear(linear)
    torch.testing.assert_close(module.forward(input), linear.forward(input))
    module.g.mul_(2)
    torch.testing.assert_close(module.weight, 2 * linear.weight)
    torch.testing.assert_close(module.toLinear().forward(input), module.forward(input))


def test_weight_norm_splits_any_weight_along_any_dimension() -> None:
    module = nn.WeightNorm(nn.SpatialFullConvolution(2, 3, 2, 2), 2)
    module.forward(torch.randn(1, 2, 3, 3))
    assert module.v.shape == (3, 8)
    weight = module.modules[0].weight
    lengths = weight.transpose(0, 1).reshape(3, -1).norm(dim=1)
    wanted = module.g[:, 0] * module.v.norm(dim=1) / (module.v.square().sum(1) + 1e-4).sqrt()
    torch.testing.assert_close(lengths, wanted)
    again = t7.loads(t7.dumps(module))
    torch.testing.assert_close(again.modules[0].weight, weight)


def test_the_weight_that_follows_is_neither_trained_nor_saved() -> None:
    module = nn.WeightNorm(nn.Linear(4, 3))
    assert module.parameters()[0] == [module.v, module.g, module.bias]
    file = t7.dumps(module)
    assert b"weightSize" in file
    assert b"\x06\x00\x00\x00weight" not in file
    assert module.weight is not None


def test_weight_norm_needs_a_weight() -> None:
    with pytest.raises(ValueError, match=r"module is nn.Tanh; one with a weight"):
        nn.WeightNorm(nn.Tanh())


def test_weight_norm_trains_from_flat_parameters() -> None:
    net = nn.Sequential().add(nn.WeightNorm(nn.Linear(4, 3))).add(nn.LinearWeightNorm(3, 2))
    flat, gradient = net.getParameters()
    assert flat.numel() == 12 + 3 + 3 + 6 + 2 + 2
    input = torch.randn(5, 4)
    before = net.forward(input).square().sum()
    for _ in range(5):
        gradient.zero_()
        net.backward(input, net.forward(input))
        flat.add_(gradient, alpha=-0.01)
    assert net.forward(input).square().sum() < before


# PartialLinear.


def test_partitions_compute_the_outputs_named() -> None:
    module, input = nn.PartialLinear(4, 5), torch.randn(2, 4)
    module.bias.normal_()
    whole = module.forward(input).clone()
    torch.testing.assert_close(module.setPartition([2, 5]).forward(input), whole[:, [1, 4]])
    torch.testing.assert_close(module.resetPartition().forward(input), whole)
    with pytest.raises(ValueError, match="indices has 6; numbers from 1 to 5 are accepted"):
        module.setPartition([1, 6])


def test_partial_linear_trains_without_a_bias() -> None:
    module = nn.PartialLinear(4, 5, False)
    [gradient] = gradients(module, torch.ones(2, 4), torch.ones(2, 5))
    assert gradient.eq(2).all()
    module.updateParameters(0.1)


# LookupTable.


def test_rows_are_looked_up_as_in_pytorch() -> None:
    module, input = nn.LookupTable(7, 3, 2).scaleGradByFreq(), torch.tensor([[1, 2], [7, 1]])
    weight = module.weight.clone().requires_grad_()
    wanted = F.embedding(input - 1, weight, padding_idx=1, scale_grad_by_freq=True)
    assert torch.equal(module.forward(input), wanted)
    gradOutput = torch.randn(2, 2, 3)
    wanted.backward(gradOutput)
    assert torch.equal(gradients(module, input, gradOutput)[0], weight.grad)
    assert module.gradInput.shape == input.shape


def test_rows_that_are_used_get_the_norm_at_most() -> None:
    module = nn.LookupTable(4, 3, 0, 1, 1)
    module.weight.fill_(1)
    module.forward(torch.tensor([1, 3]))
    assert module.weight.abs().sum(1).tolist() == pytest.approx([1, 3, 1, 3], abs=1e-6)


@pytest.mark.parametrize("wrong", [[1, 5], [5, 1], [1, 0]])
def test_a_wrong_index_leaves_the_rows_as_they_are(wrong: list[int]) -> None:
    module = nn.LookupTable(4, 3, 0, 0.01)
    before = module.weight.clone()
    with pytest.raises(ValueError, match="input has the index"):
        module.forward(torch.tensor(wrong))
    assert torch.equal(module.weight, before)


@pytest.mark.parametrize("frequency", [False, True])
def test_rows_are_updated_without_a_gradient_tensor(frequency: bool) -> None:
    module, input = nn.LookupTable(5, 2, 3), torch.tensor([1, 3, 1, 4])
    if frequency:
        module.scaleGradByFreq()
    gradOutput, plain = torch.randn(4, 2), module.clone()
    plain.forward(input)
    plain.backwardUpdate(input, gradOutput, 0.1)
    module.accUpdateOnly()
    assert module.gradWeight is None
    module.forward(input)
    module.accUpdateGradParameters(input, gradOutput, 0.1)
    torch.testing.assert_close(module.weight, plain.weight)


def test_a_pass_touches_the_rows_of_the_gradient_that_it_names() -> None:
    module, input = nn.LookupTable(5, 2, 3), torch.tensor([[1, 3], [1, 4]])
    gradWeight, gradOutput = module.gradWeight.fill_(9), torch.randn(2, 2, 2)
    module.forward(input)
    module.backward(input, gradOutput, 2)
    assert module.gradWeight is gradWeight
    wanted = torch.full((5, 2), 9.0)
    wanted[0] += 2 * (gradOutput[0, 0] + gradOutput[1, 0])
    wanted[3] += 2 * gradOutput[1, 1]
    torch.testing.assert_close(gradWeight, wanted)
    with pytest.raises((IndexError, RuntimeError)):
        module.accGradParameters(torch.tensor([6]), torch.ones(1, 2))
    with pytest.raises(RuntimeError):
        module.backward(input, torch.ones(2, 2, 3))


def test_no_indices_have_no_rows() -> None:
    module, none = nn.LookupTable(5, 2), torch.empty(0, dtype=torch.int64)
    assert module.forward(none).shape == (0, 2)
    assert module.backward(none, torch.empty(0, 2)).shape == (0,)


def test_padding_is_a_row_or_none() -> None:
    with pytest.raises(ValueError, match="paddingValue is 5; 0 to 4 are accepted"):
        nn.LookupTable(4, 3).setPadding(5)


def test_what_is_written_into_the_weight_of_a_weight_norm_initialises_it() -> None:
    module = nn.LinearWeightNorm(3, 2, False)
    wanted = torch.arange(1.0, 7).view(2, 3)
    module.weight.copy_(wanted)
    module.initFromWeight()
    torch.testing.assert_close(module.forward(torch.ones(3)), torch.tensor([6.0, 15]))
    torch.testing.assert_close(module.weight, wanted)
    module.v.mul_(2)
    torch.testing.assert_close(module.weight, wanted)
    module.g.mul_(2)
    torch.testing.assert_close(module.weight, 2 * wanted)
    module.weight.zero_()
    module.forward(torch.ones(3))
    torch.testing.assert_close(module.weight, 2 * wanted)
