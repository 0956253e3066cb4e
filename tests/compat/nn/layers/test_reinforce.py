"""Layers that draw and learn from a reward; tests/golden/dpnn has what they compute in Torch7."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compat import nn, random, t7
from compat.nn.criterions.rewards import VRClassReward


@pytest.mark.parametrize("depth", ["last", "before an index", "before a glimpse"])
def test_reward_reaches_what_is_before_wherever_the_layer_is(depth: str) -> None:
    drawn = nn.ReinforceNormal(0.5) if depth == "before a glimpse" else nn.ReinforceCategorical()
    net = nn.Sequential(nn.Linear(3, 2), nn.Sigmoid(), drawn)
    input = torch.rand(4, 3)
    if depth == "before an index":
        net.add(nn.ArgMax(1, 1))
    whole: Any = net
    if depth == "before a glimpse":
        both = nn.ConcatTable(nn.Sequential(nn.Linear(3, 36), nn.View(1, 6, 6)), net)
        whole = nn.Sequential(both, nn.SpatialGlimpse(2, 1))
    output = whole.forward(input)
    reward = torch.randn(4)
    whole.reinforce(reward)
    net.get(1).zeroGradParameters()
    whole.backward(input, torch.zeros_like(output))
    shares = net.get(2).output
    if depth == "before a glimpse":
        slope = -(drawn.output - shares) / 0.25 * reward.view(4, 1)
    else:
        slope = -drawn.output / (shares + 1e-8) * reward.view(4, 1)
    wanted = (slope * shares * (1 - shares)).t() @ input
    torch.testing.assert_close(net.get(1).gradWeight, wanted)


def test_gradOutput_is_not_looked_at() -> None:
    for module in (nn.ReinforceBernoulli(), nn.ReinforceCategorical(), nn.ReinforceNormal(1)):
        input = torch.rand(4, 3)
        module.forward(input)
        module.reinforce(torch.ones(4))
        first = module.backward(input, torch.empty(0)).clone()
        assert torch.equal(module.backward(input, None), first) and first.any()


def test_draws_are_torch7s() -> None:
    p = torch.rand(20, 4)
    random.manualSeed(3)
    output = nn.ReinforceCategorical().forward(p)
    random.manualSeed(3)
    assert torch.equal(output.max(1)[1] + 1, random.multinomial(p, 1).view(-1))
    shape, scale = torch.rand(5, 2) + 0.5, torch.rand(5, 2) + 0.5
    random.manualSeed(3)
    output = nn.ReinforceGamma().forward([shape, scale])
    random.manualSeed(3)
    assert torch.equal(output, random.gamma_(torch.empty(5, 2), shape, scale))


@given(st.integers(0, 1000), st.booleans())
def test_gamma_gradients_are_those_of_the_log_probability(seed: int, as_table: bool) -> None:
    torch.manual_seed(seed)
    shape = torch.rand(4, 3, dtype=torch.float64) + 0.2
    scale = torch.rand(4, 3, dtype=torch.float64) + 0.2
    module = nn.ReinforceGamma(None if as_table else scale).double()
    input = [shape, scale] if as_table else shape
    drawn = module.forward(input)
    reward = torch.randn(4, dtype=torch.float64)
    module.reinforce(reward)
    found = module.backward(input, None)
    leaves = [tensor.clone().requires_grad_() for tensor in (shape, scale)]
    chances = torch.distributions.Gamma(leaves[0], 1 / leaves[1]).log_prob(drawn)
    wanted = torch.autograd.grad(-(chances * reward.view(4, 1)).sum(), leaves)
    for own, other in zip(found if as_table else [found], wanted, strict=False):
        torch.testing.assert_close(own, other)
    module.evaluate()
    torch.testing.assert_close(module.forward(input), shape * scale)


def test_a_standard_deviation_for_all_samples_gets_a_gradient() -> None:
    mean, stdev = torch.randn(4, 3), torch.rand(3) + 0.5
    module = nn.ReinforceNormal()
    drawn = module.forward([mean, stdev])
    reward = torch.randn(4)
    module.reinforce(reward)
    of_mean, of_stdev = module.backward([mean, stdev], None)
    leaf = stdev.clone().requires_grad_()
    chances = torch.distributions.Normal(mean, leaf).log_prob(drawn)
    [wanted] = torch.autograd.grad(-(chances * reward.view(4, 1)).sum(), [leaf])
    torch.testing.assert_close(of_stdev, wanted, rtol=1e-4, atol=1e-5)
    assert of_mean.shape == mean.shape


def test_nets_learn_from_rewards() -> None:
    random.manualSeed(1)
    inputs, targets = torch.eye(3), torch.tensor([2, 3, 1])
    net = nn.Sequential(nn.Linear(3, 3), nn.SoftMax(), nn.ReinforceCategorical())
    both = nn.ConcatTable(net, nn.Sequential(nn.Linear(3, 1)))
    reward = nn.VRClassReward(both)
    for _ in range(400):
        reward.forward(both.forward(inputs), targets)
        both.zeroGradParameters()
        both.backward(inputs, reward.backward(both.output, targets))
        both.updateParameters(0.3)
    net.evaluate()
    assert net.forward(inputs).max(1)[1].add(1).tolist() == targets.tolist()


@pytest.mark.parametrize("form", [list, torch.stack])
def test_each_step_may_have_its_own_reward(form: Any) -> None:
    inputs = [torch.randn(2, 3) for _ in range(4)]
    rewards = [torch.randn(2) for _ in inputs]
    drawn = nn.ReinforceNormal(0.5)
    net = nn.Sequencer(drawn)
    outputs = [output.clone() for output in net.forward(inputs)]
    net.reinforce(form(rewards))
    found = net.backward(inputs, [torch.zeros(2, 3)] * 4)
    for steps in zip(inputs, outputs, rewards, found, strict=True):
        input, output, reward, gradInput = steps
        torch.testing.assert_close(gradInput, -(output - input) / 0.25 * reward.view(2, 1))

    recursor = nn.Recursor(drawn)
    outputs = [recursor.forward(input).clone() for input in inputs]
    recursor.reinforce(form(rewards))
    for step, reward in enumerate(rewards, 1):
        assert torch.equal(recursor.getStepModule(step).reward, reward)
    for input, output, reward in reversed(list(zip(inputs, outputs, rewards, strict=True))):
        gradInput = recursor.backward(input, torch.zeros(2, 3))
        torch.testing.assert_close(gradInput, -(output - input) / 0.25 * reward.view(2, 1))


def test_reinforce_leads_rewards_into_files_and_copies() -> None:
    module = nn.ReinforceNormal(torch.tensor([1.0, 2.0]), True)
    module.reinforce(torch.ones(3))
    for other in (module.clone(), t7.loads(t7.dumps(module))):
        assert torch.equal(other.reward, module.reward) and other.stochastic
        assert torch.equal(other.stdev, module.stdev)
    assert module.double().stdev.dtype == torch.float64


@pytest.mark.parametrize(
    ("make", "input", "message"),
    [
        (lambda: nn.ReinforceNormal(), torch.rand(2), "there is no stdev; a table of two"),
        (lambda: nn.ReinforceNormal(-1), torch.rand(2), "stdev is -1; a number above 0"),
        (lambda: nn.ReinforceNormal(torch.ones(5)), torch.rand(2, 3), "stdev has size"),
        (lambda: nn.ReinforceGamma(1), -torch.rand(2), "shape has"),
        (lambda: nn.ReinforceCategorical(), torch.rand(3), "input has 1 dimensions"),
        (lambda: nn.ReinforceCategorical(), torch.zeros(1, 3), "p has a row with the sum"),
    ],
)
def test_wrong_inputs(make: Any, input: torch.Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make().forward(input)


def test_wrong_rewards() -> None:
    module, input = nn.ReinforceNormal(1), torch.rand(4, 3)
    module.forward(input)
    with pytest.raises(RuntimeError, match=r"needs a reward first; call reinforce\(reward\)"):
        module.backward(input, None)
    with pytest.raises(ValueError, match="reward has 3 dimensions; 1 is accepted"):
        module.reinforce(torch.ones(4, 1, 1))
    recursor = nn.Recursor(nn.ReinforceNormal(1))
    recursor.forward(input)
    with pytest.raises(ValueError, match="reward is of 2 steps; one for each of up to 1 is"):
        recursor.reinforce([torch.ones(4), torch.ones(4)])
    module.reinforce(torch.ones(3))
    with pytest.raises(ValueError, match="reward has 3 numbers, the input has 4 samples"):
        module.backward(input, None)
    criterion = VRClassReward(module)
    with pytest.raises(TypeError, match="a table of scores and baseline rewards is accepted"):
        criterion.forward(input, torch.ones(4))
    with pytest.raises(ValueError, match="target has 3 labels"):
        criterion.forward([input, torch.ones(4)], torch.ones(3))
    criterion.forward([input, torch.ones(3)], torch.ones(4))
    with pytest.raises(ValueError, match=r"input\[2\] has 3 baseline rewards"):
        criterion.backward([input, torch.ones(3)], torch.ones(4))
    with pytest.raises(TypeError, match="module is a float; a module is accepted"):
        nn.BinaryClassReward(1.0)


def test_backward_reads_the_output_and_the_reward_of_now() -> None:
    module, mean = nn.ReinforceNormal(2), torch.zeros(3, 1)
    module.forward(mean)
    module.output.fill_(4)
    for reward in (torch.ones(3), torch.tensor([1.0, 2, 3])):
        module.reinforce(reward)
        assert module.updateGradInput(mean, None).view(-1).tolist() == (-reward).tolist()
    module.stdev = 1
    assert module.updateGradInput(mean, None).view(-1).tolist() == [-4, -8, -12]


def test_what_is_passed_on_in_evaluation_is_a_copy() -> None:
    p = torch.full((2, 2), 0.5)
    for module in (nn.ReinforceBernoulli(), nn.ReinforceCategorical(), nn.ReinforceNormal(1)):
        module.evaluate()
        module.forward(p).zero_()
        assert p.all()
