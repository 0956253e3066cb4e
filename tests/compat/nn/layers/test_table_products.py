"""Products and distances of two tensors: what the recordings do not show."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.tables import assert_as_pytorch, two

from compat import nn, random


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (nn.MM(False, True), lambda a, b: a @ b.t()),
        (nn.DotProduct(), lambda a, b: (a * b).sum(1)),
        (nn.CosineDistance(), torch.cosine_similarity),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_results_are_pytorchs(module: nn.Module, function: Any) -> None:
    assert_as_pytorch(module, function, two(3, 4))


@pytest.mark.parametrize("p", [1.5, 1.0, 2, 3])
def test_gradients_of_distances_are_derivatives(p: float) -> None:
    first, second = (t.double().requires_grad_() for t in two(4, 3))
    module = nn.PairwiseDistance(p).double()
    output = module.forward([first.detach(), second.detach()])
    wanted = (first - second).abs().pow(p).sum(1).pow(1 / p)
    torch.testing.assert_close(output, wanted)
    wanted.sum().backward()
    gradInput = module.backward([first.detach(), second.detach()], torch.ones(4).double())
    torch.testing.assert_close(gradInput[0], first.grad, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradInput[1], second.grad, rtol=1e-5, atol=1e-6)


def test_equal_vectors_have_a_finite_gradient() -> None:
    input = [torch.ones(2, 3), torch.ones(2, 3)]
    module = nn.PairwiseDistance(2)
    module.forward(input)
    assert module.backward(input, torch.ones(2))[0].eq(0).all()
    random.manualSeed(1)
    module = nn.PairwiseDistance(1)
    module.forward(input)
    assert module.backward(input, torch.ones(2))[0].abs().eq(1).all()


@pytest.mark.parametrize(
    ("module", "input", "message"),
    [
        (nn.MM(), [torch.ones(2, 3), torch.ones(1, 2, 3)], r"input\[2\] has 3 dimensions"),
        (nn.MV(), [torch.ones(2, 3), torch.ones(2)], "; m x k and k, in batches of one size"),
        (nn.DotProduct(), [torch.ones(2, 3), torch.ones(3)], "equal ones are accepted"),
        (nn.PairwiseDistance(), [torch.ones(1, 1, 1)] * 2, "3 dimensions; 1 or 2"),
        (
            nn.MM(),
            [torch.ones(2, 3), torch.ones(2, 3)],
            "; m x k and k x n, in batches of one size",
        ),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_wrong_inputs_are_named(module: nn.Module, input: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError, IndexError), match=message) as caught:
        module.forward(input)
    assert str(caught.value).startswith(f"{module}: ")


@pytest.mark.parametrize("transposes", [(a, b) for a in (False, True) for b in (False, True)])
@pytest.mark.parametrize("batch", [[], [3]])
def test_gradients_of_products_of_matrices(transposes: Any, batch: list[int]) -> None:
    leaves = [torch.randn(*batch, 2, 4), torch.randn(*batch, 4, 5)]
    leaves = [leaf.double().requires_grad_() for leaf in leaves]
    wanted = leaves[0] @ leaves[1]
    gradOutput = torch.randn_like(wanted)
    turned = [
        leaf.detach().mT.clone() if transposed else leaf.detach()
        for leaf, transposed in zip(leaves, transposes, strict=True)
    ]
    module = nn.MM(*transposes).double()
    torch.testing.assert_close(module.forward(turned), wanted.detach())
    found = module.backward(turned, gradOutput)
    pairs = zip(found, torch.autograd.grad(wanted, leaves, gradOutput), transposes, strict=True)
    for own, other, transposed in pairs:
        torch.testing.assert_close(own, other.mT if transposed else other)


def test_a_gradient_of_another_type_is_converted() -> None:
    input = two(3, 3)
    module = nn.MM()
    module.forward(input)
    found = module.backward(input, torch.ones(3, 3, dtype=torch.bfloat16))
    assert [gradient.dtype for gradient in found] == [torch.float32] * 2


@pytest.mark.parametrize(
    "module", [nn.MM(), nn.DotProduct(), nn.CosineDistance(), nn.PairwiseDistance()], ids=repr
)
def test_a_gradOutput_of_another_size_is_refused(module: nn.Module) -> None:
    input = two(3, 3)
    module.forward(input)
    with pytest.raises(RuntimeError):
        module.updateGradInput(input, torch.ones(1))


def test_distances_read_what_forward_left() -> None:
    input, gradOutput = two(3, 4), torch.randn(3)
    module = nn.PairwiseDistance(2)
    module.forward(input)
    before = module.backward(input, gradOutput)[0].clone()
    module.output.add_(1e-6).mul_(2)
    torch.testing.assert_close(module.backward(input, gradOutput)[0], before / 2)
