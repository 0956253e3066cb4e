"""Noise contrastive estimation; tests/golden/dpnn has what it computes in Torch7."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import nn, random, t7


def module(batchnoise: bool = True, **more: Any) -> nn.NCEModule:
    random.manualSeed(1)
    made = nn.NCEModule(3, 6, 4, torch.tensor([1.0, 2, 3, 4, 5, 6]), **more)
    made.batchnoise = batchnoise
    return made


@pytest.mark.parametrize("batchnoise", [True, False])
def test_gradients_are_those_of_a_linear_layer(batchnoise: bool) -> None:
    nce = module(batchnoise, Z=1.5)
    input, target = torch.randn(5, 3), torch.tensor([1, 6, 3, 3, 2])
    output = nce.forward([input, target])
    gradOutput = nn.NCECriterion().backward(output, target)
    nce.zeroGradParameters()
    gradInput = nce.backward([input, target], gradOutput)
    index = nce.sampleidx
    if batchnoise:
        index = torch.cat([index[4:].view(5, 1), index[:4].expand(5, 4)], 1)
    leaves = [tensor.clone().requires_grad_() for tensor in (input, nce.weight, nce.bias)]
    model = torch.nn.functional.linear(*leaves).exp() / 1.5
    picked = model.gather(1, index - 1)
    torch.testing.assert_close(torch.cat([output[0].view(5, 1), output[1]], 1), picked)
    torch.testing.assert_close(
        torch.cat([output[2].view(5, 1), output[3]], 1), nce.unigrams[index - 1]
    )
    wanted = torch.autograd.grad(
        picked, leaves, torch.cat([gradOutput[0].view(5, 1), gradOutput[1]], 1)
    )
    found = [gradInput[0], nce.gradWeight, nce.gradBias]
    for own, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(own, other)
    assert not gradInput[1].any()


def test_noise_is_drawn_by_frequency() -> None:
    nce = module()
    drawn = nce.noiseSample(torch.empty(0, dtype=torch.int64), 100, 200)
    shares = torch.bincount(drawn.view(-1) - 1, minlength=6) / drawn.numel()
    torch.testing.assert_close(shares, torch.arange(1, 7) / 21, rtol=0, atol=0.01)
    nce.unigrams.copy_(torch.tensor([0.0, 1, 0, 0, 0, 0]))
    nce.fastNoise()
    assert (nce.noiseSample(drawn, 2, 3) == 2).all() and drawn.shape == (2, 3)


def test_it_learns_a_distribution() -> None:
    random.manualSeed(2)
    chances = torch.tensor([0.5, 0.3, 0.1, 0.1])
    nce, criterion = nn.NCEModule(1, 4, 8, torch.ones(4), 1), nn.NCECriterion()
    input = torch.ones(50, 1)
    for _ in range(400):
        target = random.multinomial(chances, 50, True)
        criterion.forward(nce.forward([input, target]), target)
        nce.zeroGradParameters()
        nce.backward([input, target], criterion.backward(nce.output, target))
        nce.updateParameters(0.1)
    nce.evaluate().normalized = True
    learned = nce.forward([input[:1], target[:1]])
    torch.testing.assert_close(learned[0], chances, rtol=0, atol=0.08)
    nce.logsoftmax = True
    torch.testing.assert_close(nce.forward([input[:1], target[:1]]), learned.log())


def test_copies_types_and_files(capsys: pytest.CaptureFixture[str]) -> None:
    nce = module()
    input, target = torch.randn(2, 3), torch.tensor([1, 2])
    nce.forward([input, target])
    assert capsys.readouterr().out.startswith("normalization constant Z approximated to ")
    for other in (nce.clone(), t7.loads(t7.dumps(nce)), nce.sharedClone()):
        random.manualSeed(4)
        wanted = nce.forward([input, target])
        random.manualSeed(4)
        for own, one in zip(other.forward([input, target]), wanted, strict=True):
            assert torch.equal(own, one)
    assert nce.sharedClone().unigrams is nce.unigrams
    assert capsys.readouterr().out == ""
    nce.double()
    assert nce.unigrams.dtype == torch.float32 and nce.Z.dtype == torch.float64
    assert nce.forward([input.double(), target])[3].dtype == torch.float64


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"unigrams has size \(5,\)"):
        nn.NCEModule(3, 6, 4, torch.ones(5))
    nce = module(Z=1)
    input = torch.randn(2, 3)
    with pytest.raises(TypeError, match="a table of features and classes"):
        nce.forward(input)
    with pytest.raises(ValueError, match="1 to 6 are accepted"):
        nce.forward([input, torch.tensor([0, 6])])
    with pytest.raises(ValueError, match="one for each of 2 samples"):
        nce.forward([input, torch.tensor([1])])
    with pytest.raises(TypeError, match="a table of four is accepted"):
        nn.NCECriterion().forward([input])
