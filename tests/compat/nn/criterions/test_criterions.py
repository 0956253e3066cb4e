"""Criterions: what they have in common, and what the recordings do not show."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from support.nn_golden import assert_close, case_names, copied, load_case
from torch import Tensor
from torch.nn import functional as F

import compat.nn as nn
from compat import random, t7
from compat.nn.core.results import reuse_buffers
from compat.nn.criterions.labels import check_labels
from compat.tensor_tables import map_tensors, tensors

CASES = [(n, c) for n, c in case_names("criterion") if n != "CriterionTable"]
# Inputs exactly at a kink, where there is no derivative.
KINKS = {"edge_values", "saturated", "kinks", "ties"}


def recorded(name: str, case_name: str) -> tuple[Any, Any, Any]:
    case = load_case("criterion", name, case_name)
    return case["criterion"], case["input"], case.get("target")


@pytest.mark.parametrize(("name", "case_name"), CASES)
def test_gradient_is_the_derivative_of_the_loss(name: str, case_name: str) -> None:
    criterion, input, target = recorded(name, case_name)
    given = list(tensors(input))
    if given[0].dtype != torch.float64 or case_name in KINKS:
        return
    torch.manual_seed(0)
    steps = [torch.randn(t.shape, dtype=t.dtype) * 1e-6 for t in given]
    gradients = list(tensors(criterion.backward(input, target)))

    def moved(sign: int) -> float:
        shifts = iter(steps)
        return criterion.forward(map_tensors(lambda t: t + sign * next(shifts), input), target)

    predicted = sum((g * s).sum().item() for g, s in zip(gradients, steps, strict=True))
    scale = sum((g * s).abs().sum().item() for g, s in zip(gradients, steps, strict=True))
    # A loss that takes 1 and -1 has kinks where the recordings' random inputs are not.
    assert (moved(1) - moved(-1)) / 2 == pytest.approx(predicted, abs=1e-4 * scale + 1e-15)


@pytest.mark.parametrize(("name", "case_name"), CASES)
def test_saved_criterions_are_the_same(name: str, case_name: str) -> None:
    criterion, input, target = recorded(name, case_name)
    loss, gradInput = criterion(copied(input), target)
    for again in (t7.loads(t7.dumps(criterion)), criterion.clone()):
        assert type(again) is type(criterion)
        assert set(again.__getstate__()) == set(criterion.__getstate__())
        assert_close(again.forward(input, target), loss, 0, "loss")
        assert_close(again.backward(input, target), gradInput, 0, "gradInput")


@pytest.mark.parametrize(
    "criterion",
    [nn.CosineEmbeddingCriterion(), nn.L1HingeEmbeddingCriterion(), nn.MarginRankingCriterion()],
)
def test_a_new_criterion_of_two_tensors_has_two_gradients(criterion: nn.Criterion) -> None:
    assert len(criterion.gradInput) == 2


def test_output_is_a_number_and_gradInput_of_the_form_of_the_input() -> None:
    criterion = nn.ParallelCriterion().add(nn.MSECriterion()).add(nn.AbsCriterion(), 0.5)
    input, target = [torch.ones(2, 3), torch.zeros(4)], [torch.zeros(2, 3), torch.ones(4)]
    loss, gradInput = criterion(input, target)
    assert type(loss) is float
    assert loss == criterion.output == 1.5
    assert [g.shape for g in gradInput] == [(2, 3), (4,)]
    assert criterion.gradInput is gradInput
    assert criterion.criterions[1].output == 1


@pytest.mark.parametrize("target", [{2: torch.zeros(4)}, [None, torch.zeros(4)]])
def test_a_criterion_without_a_target_needs_none_among_others(target: object) -> None:
    criterion = nn.ParallelCriterion().add(nn.L1Cost()).add(nn.MSECriterion(), 0.5)
    assert criterion.forward([torch.ones(2), torch.ones(4)], target) == 2.5
    other = nn.ParallelCriterion().add(nn.MSECriterion()).add(nn.L1Cost())
    assert other.forward([torch.ones(2), torch.ones(4)], [torch.zeros(2)]) == 5


def test_backward_is_of_what_it_is_given() -> None:
    criterion, input, target = nn.MSECriterion(), torch.ones(3), torch.zeros(3)
    criterion.forward(input, target)
    assert torch.equal(criterion.backward(torch.full((3,), 6.0), target), torch.full((3,), 4.0))
    input.fill_(6)
    assert torch.equal(criterion.backward(input, target), torch.full((3,), 4.0))
    assert criterion.output == 1


class Cubes(nn.Criterion):
    """A criterion that states its loss alone."""

    calls = 0

    def compute(self, input: Tensor, target: Any) -> Tensor:
        self.calls += 1
        return (input**3).sum() - (0 if target is None else target.sum())


def test_a_stated_loss_is_computed_once_for_both_ways() -> None:
    criterion, input = Cubes(), torch.tensor([[1.0, 2.0]])
    assert criterion.forward(input.view(-1), input) == 9 - 3
    for _ in range(2):
        assert criterion.backward(input.view(-1), input).tolist() == [3, 12]
    input.mul_(2)
    assert criterion.backward(input.view(-1), torch.ones(1)).tolist() == [12, 48]
    assert criterion.backward(input, torch.ones(1)).tolist() == [[12, 48]]
    assert criterion.calls == 3


def test_a_stated_loss_takes_the_place_of_inherited_methods() -> None:
    class Fourth(nn.MSECriterion):
        def compute(self, input: Tensor, target: Tensor) -> Tensor:
            return ((input - target) ** 4).mean()

    loss, gradInput = Fourth()(torch.full((2,), 2.0), torch.zeros(2))
    assert loss == 16 and gradInput.tolist() == [16, 16]


def test_tables_and_whole_numbers_in_a_stated_loss() -> None:
    class Chosen(nn.Criterion):
        def compute(self, input: Any, target: Any) -> Tensor:
            return input["of"][0][input["at"]].sum()

    input = {"of": [torch.ones(3), torch.ones(2)], "at": torch.tensor([2])}
    loss, gradInput = Chosen()(input)
    assert loss == 1
    assert gradInput["of"][0].tolist() == [0, 0, 1]
    assert not gradInput["of"][1].any() and not gradInput["at"].any()


@pytest.mark.parametrize("make", [nn.MSECriterion, nn.CrossEntropyCriterion, Cubes])
def test_results_are_part_of_no_graph(make: Any) -> None:
    layer = torch.nn.Linear(3, 2)
    output, criterion = layer(torch.randn(2, 3)), make()
    target = torch.tensor([1, 2]) if make is nn.CrossEntropyCriterion else torch.zeros(2, 2)
    criterion.forward(output, target)
    gradInput = criterion.backward(output, target)
    assert not gradInput.requires_grad
    output.backward(gradInput)
    assert layer.weight.grad is not None


def test_backward_works_after_forward_without_grad() -> None:
    criterion, input = nn.MSECriterion(), torch.ones(3)
    with torch.no_grad():
        assert criterion.forward(input, torch.zeros(3)) == 1
        gradInput = criterion.backward(input, torch.zeros(3))
    assert torch.equal(gradInput, torch.full((3,), 2 / 3))
    assert not gradInput.requires_grad


class Own(nn.Criterion):
    """A criterion in Torch7's manner."""

    def updateOutput(self, input: Tensor, target: Any = None) -> float:
        self.output = (input**3).sum().item()
        return self.output

    def updateGradInput(self, input: Tensor, target: Any = None) -> Tensor:
        self.gradInput = 3 * input**2
        return self.gradInput


def test_criterions_of_both_kinds_work_inside_others() -> None:
    input = torch.tensor([1.0, 2.0])
    both = nn.MultiCriterion().add(Own(), 2).add(nn.L1Cost()).add(Cubes(), 0.5)
    assert both.forward(input, None) == 2 * 9 + 3 + 4.5
    assert torch.equal(both.backward(input, None), torch.tensor([8.5, 31.0]))


def test_what_holds_criterions_takes_the_first_result_of_each() -> None:
    class Counted(nn.MSECriterion):
        def updateOutput(self, input: Tensor, target: Any = None) -> Any:
            return super().updateOutput(input, target), len(input)

        def updateGradInput(self, input: Tensor, target: Any = None) -> Any:
            return super().updateGradInput(input, target), None

    assert Counted().forward(torch.ones(2), torch.zeros(2)) == (1, 2)
    both = nn.MultiCriterion().add(Counted()).add(nn.ModuleCriterion(Counted()))
    assert both.forward(torch.ones(2), torch.zeros(2)) == 2
    assert both.backward(torch.ones(2), torch.zeros(2)).tolist() == [2, 2]
    trainer = nn.StochasticGradient(nn.Linear(2, 1), Counted())
    trainer.maxIteration, trainer.verbose = 1, False
    assert trainer.train([[torch.ones(2), torch.ones(1)]]) > 0


def test_a_sum_calls_the_methods_of_its_criterions() -> None:
    class Reported(nn.MSECriterion):
        def updateOutput(self, input: Tensor, target: Any = None) -> float:
            return 10 * super().updateOutput(input, target)

    both = nn.ParallelCriterion(True).add(Reported()).add(nn.MSECriterion())
    input = [torch.ones(2), torch.ones(2), torch.ones(1)]
    assert both.forward(input, torch.zeros(2)) == 11
    gradInput = both.backward(input, torch.zeros(2))
    assert [g.tolist() for g in gradInput] == [[1, 1], [1, 1], [0]]


def test_gradInput_has_memory_of_its_own() -> None:
    for input in (torch.randn(4, 3).t(), torch.randn(3, 1).expand(3, 4)):
        target = torch.zeros(3, 4)
        for criterion in (nn.AbsCriterion(), nn.SmoothL1Criterion(), nn.MSECriterion()):
            gradInput = criterion.backward(input, target)
            assert gradInput.is_contiguous()
            assert torch.equal(gradInput, criterion.backward(input.contiguous(), target))
        assert nn.CrossEntropyCriterion()(input, torch.tensor([1, 2, 3]))[1].is_contiguous()


def test_copies_have_the_latest_results() -> None:
    criterion = nn.MSECriterion()
    assert criterion.gradInput.numel() == criterion.output == 0
    criterion(torch.ones(2), torch.zeros(2))
    again = criterion.clone()
    assert again.output == 1 and torch.equal(again.gradInput, criterion.gradInput)
    gradInput = criterion.gradInput
    criterion.double()
    assert gradInput.dtype == torch.float32 and criterion.gradInput.dtype == torch.float64


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize(
    "criterion",
    [
        *(nn.MSECriterion(), nn.AbsCriterion(), nn.SmoothL1Criterion(), nn.DistKLDivCriterion()),
        *(nn.BCECriterion(), nn.SoftMarginCriterion(), nn.MarginCriterion()),
        *(nn.MultiLabelSoftMarginCriterion(), nn.HingeEmbeddingCriterion()),
        *(nn.ClassNLLCriterion(), nn.CrossEntropyCriterion()),
    ],
    ids=repr,
)
def test_other_precisions(criterion: Any, dtype: torch.dtype) -> None:
    input, target = torch.rand(3, 4), torch.rand(3, 4).round()
    if "Class" in repr(criterion) or "Cross" in repr(criterion):
        target = torch.tensor([1, 4, 2])
    close = {"rtol": 2e-2, "atol": 2e-2}
    if target.is_floating_point():
        input, target = input.to(dtype), target.to(dtype)
    wanted = criterion(input.double(), target.double())
    loss, gradInput = criterion(input.to(dtype), target)
    assert loss == pytest.approx(wanted[0], rel=2e-2)
    assert gradInput.dtype == dtype
    torch.testing.assert_close(gradInput.double(), wanted[1], **close)


@pytest.mark.parametrize(
    "criterion", [nn.ClassNLLCriterion(), nn.MultiMarginCriterion(), nn.ClassSimplexCriterion(4)]
)
def test_wrong_labels_are_named_by_backward_too(criterion: Any) -> None:
    input = torch.randn(2, 4)
    criterion.forward(input, torch.tensor([1, 2]))
    with pytest.raises(ValueError, match=r"Criterion: target has the label 5000; 1 to 4"):
        criterion.backward(input, torch.tensor([1, 5000]))
    with pytest.raises(ValueError, match="labels of size"):
        criterion.backward(input, torch.tensor([1, 2, 3]))


def test_conversion_reaches_weights_and_inner_criterions() -> None:
    criterion = nn.MultiCriterion().add(nn.ClassNLLCriterion(torch.ones(3)))
    assert criterion.double() is criterion
    assert criterion.type() == "torch.DoubleTensor"
    assert criterion.criterions[0].weights.dtype == torch.float64


def test_module_criterion_can_keep_the_type_of_its_target_module() -> None:
    criterion = nn.ModuleCriterion(nn.MSECriterion(), nn.Tanh(), nn.Linear(2, 2), False)
    criterion.double()
    assert criterion.inputModule.type() == "torch.DoubleTensor"
    assert criterion.targetModule.weight.dtype == torch.float32


def test_module_criterion_warns_of_parameters_it_does_not_train() -> None:
    with pytest.warns(UserWarning, match="does not train"):
        nn.ModuleCriterion(nn.MSECriterion(), nn.Linear(2, 2))


# Labels.


def test_labels_may_be_of_any_type_and_form() -> None:
    input = torch.randn(3, 4).log_softmax(1)
    criterion, labels = nn.ClassNLLCriterion(), torch.tensor([1, 4, 2])
    wanted = F.nll_loss(input, labels - 1).item()
    for target in (labels, labels.double(), labels.byte(), labels.int()):
        assert criterion.forward(input, target) == pytest.approx(wanted)
    single = criterion.forward(input[0], 3)
    assert single == criterion.forward(input[0], torch.tensor([3.0])) == -input[0, 2].item()


@pytest.mark.parametrize(
    "criterion",
    [
        nn.ClassNLLCriterion(),
        nn.CrossEntropyCriterion(),
        nn.MultiMarginCriterion(),
        nn.ClassSimplexCriterion(4),
        nn.ClassNLLCriterion(None, True, 7),
    ],
    ids=repr,
)
@pytest.mark.parametrize("label", [0, 5, -3])
def test_wrong_labels_are_named(criterion: Any, label: int) -> None:
    with pytest.raises(ValueError, match=rf"target has the label {label}; 1 to 4 are accepted"):
        criterion.forward(torch.zeros(3, 4), torch.tensor([1, label, 2]))


@pytest.mark.cuda
@pytest.mark.parametrize(
    ("criterion", "wrong", "right"),
    [
        (nn.ClassNLLCriterion(), [1, 5, 2], [1, 4, 2]),
        (nn.ClassNLLCriterion(None, True, 7), [1, 5, 7], [1, 4, 7]),
        (nn.CrossEntropyCriterion(), [0, 1, 2], [3, 1, 2]),
        (nn.MultiMarginCriterion(), [1, 5, 2], [1, 4, 2]),
        (nn.MultiLabelMarginCriterion(), [[5, 0, 0, 0]] * 3, [[4, 1, 0, 0]] * 3),
    ],
)
def test_wrong_labels_leave_a_gpu_usable(criterion: Any, wrong: Any, right: Any) -> None:
    input = torch.randn(3, 4)
    wanted = criterion.forward(input, torch.tensor(right))
    with pytest.raises(ValueError, match="target has the label"):
        criterion.forward(input.cuda(), torch.tensor(wrong).cuda())
    found = criterion.forward(input.cuda(), torch.tensor(right).cuda())
    assert found == pytest.approx(wanted, rel=1e-5)


def test_which_labels_pass() -> None:
    check_labels(torch.tensor([0, 3]), 4)
    check_labels(torch.tensor([], dtype=torch.int64), 4)
    check_labels(torch.tensor([0, -1, 3]), 4, ignored=-1)
    with pytest.raises(ValueError, match="target has the label 5; 1 to 4"):
        check_labels(torch.tensor([0, -1, 4]), 4, ignored=-1)


def test_a_label_of_zero_is_explained() -> None:
    with pytest.raises(ValueError, match="labels count from 1, as in Torch7"):
        nn.ClassNLLCriterion().forward(torch.zeros(1, 4), torch.tensor([0]))


@pytest.mark.parametrize(
    ("criterion", "input", "target", "message"),
    [
        (nn.ClassNLLCriterion(), (3, 4), torch.ones(2), r"labels of size \(3,\) are accepted"),
        (nn.ClassNLLCriterion(), (3, 4), 1, r"one number; labels of size \(3,\)"),
        (nn.ClassNLLCriterion(), (3, 4, 2), torch.ones(3), "3 dimensions; 1 or 2"),
        (nn.SpatialClassNLLCriterion(), (3, 4), torch.ones(3), "2 dimensions; 4 are"),
        (
            nn.ClassNLLCriterion(torch.ones(3)),
            (2, 4),
            torch.ones(2),
            "weights has 3 elements; one for each of the 4 classes of input",
        ),
        (nn.MSECriterion(), (2, 3), torch.ones(7), r"target has size \(7,\)"),
        (
            nn.SpatialAutoCropMSECriterion(),
            (1, 3, 3),
            torch.ones(1, 2, 4),
            r"at least that of input, \(1, 3, 3\), is",
        ),
        (nn.MultiCriterion(), (2,), None, "no criterions"),
    ],
)
def test_wrong_sizes_are_named(criterion: Any, input: Any, target: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"{criterion}: .*{message}"):
        criterion.forward(torch.zeros(input), target)


@pytest.mark.parametrize(
    ("criterion", "target", "message"),
    [
        (nn.MSECriterion(), torch.ones(3).double(), "target is torch.float64"),
        (nn.MSECriterion(), 1, "target is an int"),
        (nn.ClassNLLCriterion(), "dog", "target is a str"),
        (nn.CosineEmbeddingCriterion(), 1, "input is a Tensor; a table of two"),
    ],
)
def test_wrong_types_are_named(criterion: Any, target: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        criterion.forward(torch.ones(3), target)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.ClassNLLCriterion(torch.ones(2, 2)),
        lambda: nn.MultiMarginCriterion(3),
        lambda: nn.ClassSimplexCriterion(1),
    ],
)
def test_wrong_arguments_are_refused(make: Any) -> None:
    with pytest.raises(ValueError):
        make()


def test_a_sum_refuses_what_is_no_criterion_or_weight() -> None:
    criterion = nn.MultiCriterion()
    for arguments, message in (
        ((nn.MSECriterion(), "2"), "weight is '2'; a number is accepted"),
        ((nn.Linear(2, 2), 2), "a criterion is accepted"),
    ):
        with pytest.raises(TypeError, match=message):
            criterion.add(*arguments)
    assert criterion.criterions == criterion.weights == []


def test_ignored_labels_do_not_count() -> None:
    input = torch.randn(3, 4).log_softmax(1)
    criterion = nn.ClassNLLCriterion(None, True, 2)
    criterion.forward(input, torch.tensor([1, 2, 4]))
    assert criterion.output == pytest.approx(-(input[0, 0] + input[2, 3]).item() / 2)
    assert not criterion.backward(input, torch.tensor([1, 2, 4]))[1].any()


@pytest.mark.parametrize("weights", [None, torch.tensor([0.0, 1, 1, 1])])
def test_the_loss_is_zero_where_nothing_counts(weights: Any) -> None:
    criterion = nn.ClassNLLCriterion(weights, True, 1)
    loss, gradInput = criterion(torch.randn(2, 4), torch.tensor([1, 1]))
    assert loss == 0
    assert not gradInput.any()


def test_cross_entropy_drops_dimensions_of_size_one() -> None:
    input, target = torch.randn(3, 4, 1, 1), torch.tensor([[2], [1], [4]])
    loss, gradInput = nn.CrossEntropyCriterion()(input, target)
    assert loss == pytest.approx(F.cross_entropy(input[:, :, 0, 0], target[:, 0] - 1).item())
    assert gradInput.shape == input.shape


def test_cross_entropy_follows_its_field() -> None:
    criterion, input, target = nn.CrossEntropyCriterion(), torch.randn(2, 3), torch.tensor([1, 2])
    mean = criterion.forward(input, target)
    criterion.sizeAverage = False
    assert criterion.forward(input, target) == pytest.approx(2 * mean)


def test_cross_entropy_heeds_the_field_of_its_nll() -> None:
    criterion, input, target = nn.CrossEntropyCriterion(), torch.randn(2, 3), torch.tensor([1, 2])
    mean = criterion.forward(input, target)
    criterion.nll.sizeAverage = False
    assert criterion.forward(input, target) == pytest.approx(2 * mean)
    criterion.sizeAverage = False
    criterion.sizeAverage = True
    assert criterion.forward(input, target) == pytest.approx(2 * mean)


# Kinks and edges.


@pytest.mark.parametrize("target", [[0.0, 0.25], [-1.0, 0.25]])
def test_targets_that_are_not_positive_do_not_count(target: list[float]) -> None:
    input = torch.tensor([-math.inf, -2.0])
    loss, gradInput = nn.DistKLDivCriterion()(input, torch.tensor(target))
    assert loss == pytest.approx(0.25 * (math.log(0.25) + 2) / 2)
    assert gradInput.tolist() == [0, -0.125]


def test_absolute_difference_has_slope_one_at_zero() -> None:
    assert torch.equal(nn.AbsCriterion(False)(torch.zeros(3), torch.zeros(3))[1], torch.ones(3))


def test_saturated_probabilities_cost_as_in_torch7() -> None:
    input, target = torch.tensor([1.0, 0.0, 1.0]), torch.tensor([1.0, 0.0, 0.0])
    loss, gradInput = nn.BCECriterion(None, False)(input, target)
    assert loss == pytest.approx(-math.log(1e-12))
    assert gradInput.tolist() == [0, 0, pytest.approx(1e12)]


def test_hinges_pull_at_the_margin() -> None:
    assert nn.HingeEmbeddingCriterion(1)(torch.ones(1), -1)[1].item() == -1
    gradInput = nn.MarginRankingCriterion(1)([torch.ones(1), torch.zeros(1)], 1)[1]
    assert [g.item() for g in gradInput] == [-1, 1]


def test_equal_vectors_are_pulled_in_drawn_directions() -> None:
    zero = [torch.zeros(50), torch.zeros(50)]
    random.manualSeed(3)
    first, second = nn.L1HingeEmbeddingCriterion()(zero, 1)[1]
    random.manualSeed(3)
    drawn = torch.tensor([2.0 * random.random(1, 2) - 3 for _ in range(50)])
    assert torch.equal(first, drawn)
    assert torch.equal(second, -drawn)


def test_cropped_targets_give_gradients() -> None:
    input, target = torch.zeros(1, 1, 2, 2), torch.arange(16.0).reshape(1, 1, 4, 4)
    gradInput = nn.SpatialAutoCropMSECriterion(False)(input, target)[1]
    assert torch.equal(gradInput, -2 * target[:, :, 1:3, 1:3])


def test_large_distances_do_not_overflow() -> None:
    loss = nn.DistanceRatioCriterion().forward([torch.tensor([1e4]), torch.tensor([2e4])])
    assert loss == 0


def test_simplex_corners_are_equally_far_apart() -> None:
    criterion = nn.ClassSimplexCriterion(5)
    products = criterion.simplex @ criterion.simplex.t()
    torch.testing.assert_close(products, torch.full((5, 5), -0.25).fill_diagonal_(1.0))
    assert criterion.getTopPrediction(criterion.simplex).tolist() == [1, 2, 3, 4, 5]


def test_criterion_table_works_in_a_net() -> None:
    net = nn.Sequential()
    net.add(nn.ParallelTable().add(nn.Linear(3, 2)).add(nn.Identity()))
    net.add(nn.CriterionTable(nn.MSECriterion()))
    input = [torch.randn(4, 3), torch.randn(4, 2)]
    assert type(net.forward(input)) is float
    net.zeroGradParameters()
    gradInput = net.backward(input, 1)
    weight = net.get(1).get(1).weight.clone().requires_grad_()
    x = input[0].clone().requires_grad_()
    loss = F.mse_loss(F.linear(x, weight, net.get(1).get(1).bias), input[1])
    loss.backward()
    torch.testing.assert_close(gradInput[0], x.grad)
    torch.testing.assert_close(net.get(1).get(1).gradWeight, weight.grad)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.nan, math.inf, -1e-13])
def test_bce_takes_probabilities(wrong: float) -> None:
    criterion, target = nn.BCECriterion(), torch.tensor([1.0, 0, 1])
    good = torch.tensor([0.5, 0, 1])
    loss = criterion.forward(good, target)
    with pytest.raises(ValueError, match=r"numbers from 0 to 1 are accepted"):
        criterion.forward(torch.tensor([0.5, wrong, 1]), target)
    assert criterion.forward(good, target) == loss


def test_the_gradient_of_images_that_are_not_contiguous() -> None:
    input = torch.randn(2, 3, 4, 5).permute(0, 3, 1, 2)
    target = torch.randint(1, 6, (2, 3, 4))
    criterion = nn.SpatialClassNLLCriterion()
    loss, gradInput = criterion(input, target)
    wanted = criterion(input.contiguous(), target)
    assert loss == wanted[0] and torch.equal(gradInput, wanted[1])


def test_a_criterion_with_modules_inside_is_part_of_others() -> None:
    """``ModuleCriterion`` goes back by itself, in another criterion and in a graph."""
    input, target = torch.randn(5, 3), torch.tensor([1, 2, 3, 1, 2])
    whole = nn.CrossEntropyCriterion()
    loss, gradInput = whole.forward(input, target), whole.backward(input, target)
    criterion = nn.ModuleCriterion(nn.ClassNLLCriterion(), nn.LogSoftMax())
    several = nn.MultiCriterion().add(criterion, 0.5)
    for _ in range(2):
        assert several.forward(input, target) == pytest.approx(loss / 2)
        torch.testing.assert_close(several.backward(input, target), gradInput / 2)
        x, y = nn.Identity()(), nn.Identity()()
        graph = nn.gModule([x, y], [criterion([x, y])])
        assert graph.forward([input, target]).item() == pytest.approx(loss)
        found = graph.backward([input, target], torch.ones(1))[0]
        torch.testing.assert_close(found, gradInput)


def test_gradients_along_parallel_vectors_have_torch7s_digits() -> None:
    # Recorded from Lua Torch7: what is left where the terms of a gradient cancel.
    vectors = [
        torch.tensor([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]], dtype=torch.float64),
        torch.tensor([[0, 1, 0], [1, 0, 0]], dtype=torch.float64),
    ]
    target = torch.tensor([1, -1], dtype=torch.float64)
    gradients = nn.CosineEmbeddingCriterion(0).double().backward(vectors, target)
    assert gradients[1][0, 1].item() == pytest.approx(-4.0558960677318665e-13, rel=1e-9)
    assert gradients[1][1, 0].item() == pytest.approx(4.7636223107983897e-13, rel=1e-9)


def test_buffers_are_filled_again_where_that_is_asked_for() -> None:
    parallel = nn.ParallelCriterion().add(nn.MSECriterion()).add(Cubes())
    before = reuse_buffers()
    try:
        found = []
        for n in (2, 4):
            input, target = [torch.ones(n), torch.ones(n)], [torch.zeros(n), None]
            parallel.forward(input, target)
            found.append(list(parallel.backward(input, target)))
        assert all(new is old for new, old in zip(*found, strict=True))
        assert [gradient.tolist() for gradient in found[0]] == [[0.5] * 4, [3] * 4]
    finally:
        reuse_buffers(before)


def test_cross_entropy_squeezes_its_input() -> None:
    column, row = torch.randn(3, 1), torch.randn(1, 4)
    criterion = nn.CrossEntropyCriterion().float()
    for input, label in ((column, 2), (row, torch.tensor([3.0])), (torch.randn(1, 1), 1)):
        index = int(label) - 1
        expected = -input.flatten().log_softmax(0)[index]
        assert criterion.forward(input, label) == pytest.approx(expected.item(), abs=1e-6)
        gradient = input.flatten().softmax(0)
        gradient[index] -= 1
        torch.testing.assert_close(criterion.backward(input, label), gradient.view(input.shape))


def test_a_criterion_that_computes_nothing_gives_nothing() -> None:
    class Doubles(nn.Criterion):
        def updateGradInput(self, input: Any, target: Any = None) -> Any:
            return self.set_gradInput(input * 2)

    input = torch.ones(2)
    for criterion in (nn.Criterion(), Doubles()):
        assert criterion.forward(input, input) is None
        assert criterion.output == 0
    assert nn.Criterion().backward(input, input) is None
    assert Doubles().backward(input, input).tolist() == [2, 2]
