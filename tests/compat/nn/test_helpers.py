"""The helpers of nn: Kmeans, nn.utils, the Jacobians, StochasticGradient."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import nn, random

pytestmark = pytest.mark.usefixtures("double_by_default")


# Kmeans.


def clusters() -> torch.Tensor:
    torch.manual_seed(0)
    middles = torch.tensor([[0.0, 0], [10, 0], [0, 10]])
    return (middles.unsqueeze(1) + 0.1 * torch.randn(3, 20, 2)).reshape(-1, 2)


@pytest.mark.parametrize("p", [None, 0.9, 1])
def test_centers_find_their_clusters(p: Any) -> None:
    module, input = nn.Kmeans(3, 2), clusters()
    module.initKmeansPlus(input, p)
    for _ in range(3):
        module.forward(input)
        module.zeroGradParameters()
        module.backward(input, None)
        module.updateParameters(1)
    numbers = module.forward(input)
    assert sorted({tuple(group.tolist()) for group in numbers.reshape(3, 20)}) == [
        (float(i),) * 20 for i in (1, 2, 3)
    ]
    means = torch.stack([input[numbers == i].mean(0) for i in (1, 2, 3)])
    torch.testing.assert_close(module.weight, means, rtol=1e-6, atol=1e-6)
    assert module.loss == pytest.approx((input - means[numbers.long() - 1]).square().sum().item())
    assert module.clusterSampleCount.tolist() == [20, 20, 20]


def test_its_own_scale_takes_the_place_of_backwards() -> None:
    input = clusters()
    gradients = []
    for module in (nn.Kmeans(3, 2, 0.5), nn.Kmeans(3, 2)):
        random.manualSeed(2)
        module.initRandom(input)
        module.forward(input)
        assert not module.backward(input, None, 0.25).any()
        gradients.append(module.gradWeight)
    torch.testing.assert_close(gradients[0], 2 * gradients[1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Kmeans(0, 2), "k is 0"),
        (lambda: nn.Kmeans(2, 2, 0), "scale is 0; a positive number"),
        (lambda: nn.Kmeans(2, 2).forward(torch.ones(3, 3)), r"size \(3, 3\); N x 2 is accepted"),
        (lambda: nn.Kmeans(4, 2).initRandom(torch.ones(3, 2)), "3 samples; at least 4"),
        (lambda: nn.Kmeans(2, 2).initKmeansPlus(torch.ones(3, 2), 2), "p is 2; 0 to 1"),
    ],
)
def test_wrong_arguments_of_kmeans_are_named(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


# nn.utils.


def test_conversion_keeps_shared_storages_shared() -> None:
    whole = torch.zeros(4)
    nested = {"a": [whole[:2]], "b": whole[2:], "net": nn.Linear(2, 2), "n": 3}
    converted = nn.utils.recursiveType(nested, "torch.FloatTensor")
    assert converted["a"][0].dtype == torch.float32
    assert (
        converted["a"][0].untyped_storage().data_ptr()
        == converted["b"].untyped_storage().data_ptr()
    )
    assert converted["net"].weight.dtype == torch.float32
    assert converted["n"] == 3


def test_nested_tables_are_resized_filled_added_and_copied() -> None:
    like = [torch.ones(2), {"x": torch.ones(3)}]
    made, _ = nn.utils.recursiveResizeAs(None, like)
    assert made[1]["x"].shape == (3,)
    nn.utils.recursiveFill(made, 2)
    nn.utils.recursiveAdd(made, like)
    nn.utils.recursiveAdd(made, 0.5, like)
    assert made[0].tolist() == [3.5, 3.5]
    kept = made[0]
    made, _ = nn.utils.recursiveCopy(made, like)
    assert made[0] is kept
    assert made[1]["x"].tolist() == [1, 1, 1]
    made, _ = nn.utils.recursiveCopy(made, [torch.ones(5), {"x": torch.zeros(3)}])
    assert made[0].shape == (5,)
    with pytest.raises(TypeError, match="t1, where t2 has a tensor, is None"):
        nn.utils.recursiveAdd([], like)
    with pytest.raises(TypeError, match="t2 is a str; a tensor or a table"):
        nn.utils.recursiveCopy([], "table")


def test_views_and_cleared_fields() -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    assert nn.utils.addSingletonDimension(tensor, 2).shape == (2, 1, 3)
    with pytest.raises(ValueError, match="dim is 0; a whole number from 1 to 3 is accepted"):
        nn.utils.addSingletonDimension(tensor, 0)
    assert nn.utils.contiguousView(None, tensor.t(), 6).tolist() == [0, 3, 1, 4, 2, 5]
    module = nn.Identity()
    module.buffer, module.cache, module.name = tensor, [1], "x"
    assert nn.utils.clear(module, "buffer", "cache", "name", "missing") is module
    assert module.buffer.numel() == 0
    assert (module.cache, module.name) == ([], None)


# Jacobian.


class Wrong(nn.Linear):
    """A layer whose gradients are half of what they should be."""

    def updateOutput(self, input: torch.Tensor) -> torch.Tensor:
        self.output = input @ self.weight.t() + self.bias
        return self.output

    def updateGradInput(self, input: torch.Tensor, gradOutput: torch.Tensor) -> torch.Tensor:
        self.gradInput = 0.5 * gradOutput @ self.weight
        return self.gradInput

    def accGradParameters(
        self, input: torch.Tensor, gradOutput: torch.Tensor, scale: float = 1
    ) -> None:
        self.gradWeight.add_(gradOutput.t() @ input, alpha=0.5 * scale)
        self.gradBias.add_(gradOutput.sum(0), alpha=scale)


def test_right_layers_pass_and_wrong_ones_do_not() -> None:
    input = torch.empty(2, 4)
    for module, least, most in ((nn.Linear(4, 3), 0, 1e-6), (Wrong(4, 3), 0.01, 10)):
        weight, gradient = module.weight, module.gradWeight
        for error in (
            nn.Jacobian.testJacobian(module, input),
            nn.Jacobian.testJacobianParameters(module, input, weight, gradient),
            nn.Jacobian.testJacobianUpdateParameters(module, input, weight),
        ):
            assert least <= error < most
        assert (
            nn.Jacobian.testJacobianParameters(module, input, module.bias, module.gradBias) < 1e-6
        )


def test_a_wrong_share_of_the_farthest_is_not_kept() -> None:
    module = nn.Kmeans(2, 2)
    for p, kind in ((2, ValueError), ("x", TypeError)):
        with pytest.raises(kind, match="p is"):
            module.initKmeansPlus(torch.ones(3, 2), p)  # type: ignore[arg-type]
    assert module.p is None


def test_the_jacobian_of_a_linear_layer_is_its_weight() -> None:
    module, input = nn.Linear(4, 3), torch.randn(4)
    torch.testing.assert_close(nn.Jacobian.backward(module, input), module.weight.t())
    torch.testing.assert_close(nn.Jacobian.forward(module, input), module.weight.t())


def test_the_jacobian_of_what_is_no_module_takes_the_two_arguments_of_torch7() -> None:
    class Doubled:
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            self.output = input * 2
            return self.output

        updateOutput = forward

        def updateGradInput(self, input: torch.Tensor, gradOutput: torch.Tensor) -> torch.Tensor:
            return gradOutput * 2

        def accGradParameters(self, input: torch.Tensor, gradOutput: torch.Tensor) -> None:
            pass

        def zeroGradParameters(self) -> None:
            pass

    doubled: Any = Doubled()
    assert nn.Jacobian.testJacobian(doubled, torch.randn(3)) < 1e-6


def test_files_and_updates_are_tested() -> None:
    module, input = nn.Linear(4, 3), torch.randn(2, 4)
    assert nn.Jacobian.testIO(module, input) == (0, 0)
    errors = nn.Jacobian.testAllUpdate(module, input, "weight", "gradWeight")
    assert set(errors) == {
        *("accGradParameters", "accGradParameters [shared]"),
        *("accUpdateGradParameters", "accUpdateGradParameters [shared]"),
    }
    assert max(errors.values()) < 1e-12


def test_sparse_layers_have_a_jacobian_of_their_own() -> None:
    module = nn.SparseLinear(5, 3, True)
    input = torch.stack([torch.arange(1.0, 6), torch.randn(5)], 1)
    assert nn.SparseJacobian.testJacobian(module, input) < 1e-6
    assert (
        nn.SparseJacobian.testJacobianParameters(module, input, module.weight, module.gradWeight)
        < 1e-6
    )
    assert nn.SparseJacobian.testJacobianUpdateParameters(module, input, module.bias) < 1e-6
    # gradInput is a table, and may be an empty one.
    for doGradInput in (True, False):
        module.doGradInput = doGradInput
        assert nn.SparseJacobian.testIO(module, input) == (0, 0)
        assert nn.SparseJacobian.testIO(module, [input]) == (0, 0)
    errors = nn.SparseJacobian.testAllUpdate(module, input, "weight", "gradWeight")
    assert max(errors.values()) < 1e-12


# StochasticGradient.


def test_a_trainer_learns_in_a_drawn_order(capsys: pytest.CaptureFixture[str]) -> None:
    weight = torch.tensor([[1.0, -2]])
    dataset = [(x, weight @ x) for x in torch.randn(20, 2)]
    net = nn.Linear(2, 1)
    trainer = nn.StochasticGradient(net, nn.MSECriterion())
    trainer.learningRate, trainer.maxIteration = 0.05, 10
    seen: list[Any] = []
    errors: list[float] = []
    trainer.hookExample = lambda self, example: seen.append(example)
    trainer.hookIteration = lambda self, iteration, error: errors.append(error)
    assert trainer.train(dataset) == errors[-1] < 0.01 * errors[0]
    assert len(seen) == 200
    assert [id(e) for e in seen[:20]] == [id(e) for e in seen[20:40]]
    assert [id(e) for e in seen[:20]] != [id(e) for e in dataset]
    assert {id(e) for e in seen} == {id(e) for e in dataset}
    torch.testing.assert_close(net.weight, weight, rtol=0, atol=0.05)
    assert "# current error = " in capsys.readouterr().out


@pytest.mark.parametrize("is_dict", [False, True], ids=["object", "dict"])
def test_a_dataset_that_counts_from_1_is_asked_for_each_example_in_its_turn(is_dict: bool) -> None:
    same = torch.zeros(2)  # which all examples share

    class Object:
        def size(self) -> int:
            return 3

        def __getitem__(self, index: int) -> list[torch.Tensor]:
            return [same.fill_(index), torch.ones(1)]

    class Dict(dict[Any, Any]):
        __getitem__ = Object.__getitem__

    trainer = nn.StochasticGradient(nn.Linear(2, 1), nn.MSECriterion())
    trainer.maxIteration, trainer.shuffleIndices, trainer.verbose = 1, False, False
    seen: list[Any] = []
    trainer.hookExample = lambda self, example: seen.append(example[0].tolist())
    trainer.train(Dict(size=Object.size) if is_dict else Object())
    assert seen == [[1, 1], [2, 2], [3, 3]]


def test_an_empty_dataset_is_refused() -> None:
    with pytest.raises(ValueError, match="dataset is empty"):
        nn.StochasticGradient(nn.Linear(2, 1), nn.MSECriterion()).train([])
