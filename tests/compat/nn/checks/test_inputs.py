"""What is said about inputs that modules and criterions do not take."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import nn

D = torch.float64
NET = nn.Sequential().add(nn.Identity()).add(nn.Linear(4, 3))
POOL = nn.SpatialMaxPooling(3, 2, 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("module", "input", "message"),
    [
        (NET, torch.ones(2, 4, dtype=D), r"nn.Sequential\[2\] nn.Linear\(4 -> 3\): input is "
         r"torch.float64, the module is torch.float32; one type for both is accepted"),
        (NET, torch.ones(2, 4).long(), "input is torch.int64; a floating point tensor is accepted"),
        (NET, [torch.ones(2, 4)], "nn.Linear.*: input is a list; a tensor is accepted"),
        (NET, None, "nn.Linear.*: input is None; a tensor is accepted"),
        (nn.Tanh(), 3.0, "nn.Tanh: input is a float; a tensor is accepted"),
        (nn.Dropout(), torch.ones(3).int(), "input is torch.int32; a floating point tensor"),
        (nn.Add(3), torch.ones(3, dtype=D), "input is torch.float64, the module is torch.float32"),
        (nn.Mul(), torch.ones(3, dtype=D), "input is torch.float64, the module is torch.float32"),
        (nn.Euclidean(3, 2), torch.ones(3, dtype=D), "input is torch.float64, the module is"),
        (nn.CAddTable(), [torch.ones(2), torch.ones(2, dtype=D)],
         r"input\[2\] is torch.float64, input\[1\] is torch.float32"),
        (nn.CAddTable(), [torch.ones(2), None], r"input\[2\] is None; a tensor is accepted"),
        (nn.JoinTable(1), [torch.ones(2, 2), torch.ones(2, 3)], r"input\[2\] has size \(2, 3\), "
         r"input\[1\] has \(2, 2\); sizes that differ only in the dimension"),
        (nn.JoinTable(3), [torch.ones(2), torch.ones(2)], r"input\[1\] has 1 dimensions; "
         r"one that has dimension 3 is accepted"),
        (nn.JoinTable(1), [torch.ones(2), torch.ones(2, dtype=D)], r"input\[2\] is torch.float64"),
        (nn.Concat(1).add(nn.Linear(4, 2)).add(nn.Identity()), torch.ones(5, 4),
         r"the output of module 2 has size \(5, 4\), the output of module 1 has \(5, 2\)"),
        (nn.DotProduct(), [torch.ones(2), torch.ones(2, dtype=D)], r"input\[2\] is torch.float64"),
        (nn.MM(), [torch.ones(2, 2), torch.ones(2, 2, dtype=D)], r"input\[2\] is torch.float64"),
        (nn.MixtureTable(), [torch.ones(3, 2), torch.ones(4, 2, 5)], r"input\[1\] has a batch of 3"
         ", "
         "the experts have one of 4"),
        (nn.MixtureTable(), [torch.ones(2), [torch.ones(3), None]], r"input\[2\]\[2\] is None"),
        (nn.MixtureTable(), [torch.ones(2), torch.ones(2, dtype=D)], r"input\[2\] is torch"),
        (nn.MixtureTable(3), [torch.ones(2), torch.ones(2, 4)], r"input\[2\] has 2 dimensions; "
         "one that has dimension 3 is accepted"),
        (nn.CAddTensorTable(), [torch.ones(2), [torch.ones(2), 3]], r"input\[2\]\[2\] is an int"),
        (nn.CAddTensorTable(), [torch.ones(2), [torch.ones(3)]], r"input\[2\]\[1\] has size "
         r"\(3,\), input\[1\] has \(2,\); as many elements are accepted"),
        (nn.ZipTable(), [[torch.ones(2)], torch.ones(2)], r"input\[2\] is a Tensor; a table"),
        (nn.Kmeans(2, 3), None, "nn.Kmeans: input is None; a tensor is accepted"),
        (nn.Kmeans(2, 3), torch.ones(4, 2), r"nn.Kmeans: input has size \(4, 2\); N x 3"),
        (nn.OneHot(3), [1], "input is a list; a tensor is accepted"),
        (nn.SpatialFullConvolution(1, 1, 2, 2), [torch.ones(1, 2, 2), None], r"input\[2\] is None"),
        (nn.SpatialFullConvolution(1, 1, 2, 2), [torch.ones(1, 2, 2), torch.ones(2)],
         r"input\[2\] has 1 dimensions; 2 or more are accepted"),
        (nn.Max(1), torch.ones(0, 2), r"input has size \(0, 2\); elements along dimension 1"),
        (nn.SpatialMaxPooling(2, 2), torch.ones(0, 4, 4), r"input has size \(0, 4, 4\); one with "
         "elements is accepted"),
        (nn.Parallel(1, 1), torch.ones(0, 2), "there is nothing to join; at least one tensor"),
        (nn.SpatialConvolution(1, 1, 3, 2), torch.ones(1, 3, 2), "input is 3x2; at least the "
         "window, 2x3, is accepted"),
        (nn.SpatialConvolution(1, 1, 5, 5, 1, 1, 1), torch.ones(1, 2, 3), "input is 2x3 with "
         "padding 1,1; at least the window, 5x5, is"),
        (nn.SpatialMaxPooling(3, 3), torch.ones(1, 2, 5), "input is 2x5; at least the window"),
        (nn.SpatialMaxPooling(2, 2, 1, 1, 2), torch.ones(1, 9, 9), "padW is 2; at most half of kW, "
         "2, is accepted"),
        (nn.TemporalConvolution(4, 2, 3), torch.ones(2, 4), "input is 2; at least the window"),
        (nn.SpatialFractionalMaxPooling(2, 2, 3, 3), torch.ones(1, 1, 4), "input is 1x4; at"),
        (nn.SpatialReflectionPadding(1, 2), torch.ones(1, 2, 2), "pad_r is 2; less than the "
         "input's size there, 2, is accepted"),
        (nn.Bottle(nn.Linear(4, 2)), [torch.ones(4)], "nn.Bottle.*: input is a list; a tensor"),
        (nn.LookupTable(3, 2), None, "nn.LookupTable: input is None; a tensor is accepted"),
    ],
)  # fmt: skip
def test_forward(module: nn.Module, input: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        module.forward(input)


@pytest.mark.parametrize(
    ("criterion", "input", "target", "message"),
    [
        (nn.MultiCriterion().add(nn.MSECriterion()), torch.ones(2), torch.ones(3),
         r"nn.MSECriterion: target has size \(3,\), input has size \(2,\)"),
        (nn.MSECriterion(), torch.ones(2), None, "target is None; a tensor is accepted"),
        (nn.MSECriterion(), torch.ones(2), torch.ones(2).long(), "target is torch.int64 on cpu, "
         "input is torch.float32 on cpu; one type on one device is accepted"),
        (nn.SpatialAutoCropMSECriterion(), torch.ones(1, 2, 2), 2.0, "target is a float; a tensor"),
        (nn.CosineEmbeddingCriterion(), [torch.ones(3), None], 1, r"input\[2\] is None; a tensor"),
        (nn.ParallelCriterion().add(nn.L1Cost()), torch.ones(2), [], "input is a Tensor; a table "
         "of 1 is accepted"),
        (nn.ClassNLLCriterion(), [torch.ones(2)], 1, "input is a list; a tensor is accepted"),
        (nn.ClassNLLCriterion(torch.ones(3)), torch.ones(3, dtype=D), 1,
         "weights is torch.float32, input is torch.float64"),
        (nn.BCECriterion(torch.ones(3, dtype=D)), torch.ones(3), torch.ones(3),
         "weights is torch.float64, input is torch.float32"),
        (nn.L1Cost(), None, None, "nn.L1Cost: input is None; a tensor is accepted"),
        (nn.CosineEmbeddingCriterion(), [torch.ones(3), torch.ones(3, dtype=D)], 1,
         r"input\[2\] is torch.float64, input\[1\] is torch.float32"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["forward", "backward"])
def test_criterions(
    method: str, criterion: nn.Criterion, input: Any, target: Any, message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(criterion, method)(input, target)


@pytest.mark.parametrize(
    ("module", "size", "output_size"),
    [
        (nn.Linear(4, 2), (0, 4), (0, 2)),
        (nn.Bottle(nn.Linear(4, 2)), (0, 3, 4), (0, 3, 2)),
        (nn.Bottle(nn.Linear(4, 2)), (3, 0, 4), (3, 0, 2)),
        (nn.SpatialConvolution(2, 3, 2, 2), (0, 2, 4, 4), (0, 3, 3, 3)),
        (nn.SpatialMaxPooling(2, 2), (0, 2, 4, 4), (0, 2, 2, 2)),
        (nn.FeatureLPPooling(2, 1, 2, True), (0, 4), (0, 3)),
        (nn.FeatureLPPooling(2, 1, 2, True), (0, 4, 5), (0, 3, 5)),
        (nn.Convert("bdhw", "bf"), (0, 2, 3, 4), (0, 24)),
        (nn.View(-1).setNumInputDims(3), (0, 2, 3, 4), (0, 24)),
        (nn.View(3, -1).setNumInputDims(2), (0, 3, 4), (0, 3, 4)),
        (nn.View(2, 3), (0, 6), (0, 2, 3)),
        (nn.Reshape(6), (0, 2, 3), (0, 6)),
        (nn.Sum(1), (0, 4), (4,)),
        (nn.L1Penalty(1, True), (0, 4), (0, 4)),
        (nn.SplitTable(2), (0, 2), [(0,), (0,)]),
    ],
)
def test_empty_batches(module: nn.Module, size: Any, output_size: Any) -> None:
    input = torch.ones(size)
    output = module.forward(input)
    found = [tuple(o.shape) for o in output] if isinstance(output, list) else tuple(output.shape)
    assert found == output_size
    assert module.backward(input, output).shape == size


def test_an_empty_batch_of_sparse_samples() -> None:
    assert nn.SparseLinear(5, 3).forward([]).shape == (0, 3)


def test_errors_of_a_users_own_computation_stay_as_they_are() -> None:
    class First(nn.Module):
        def compute(self, input: Any) -> Any:
            return input[0].nothing

    with pytest.raises(AttributeError, match=r"^First: .* 'nothing'"):
        First().forward([torch.ones(2)])


def test_mixed_types_are_fine_under_autocast() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = nn.CAddTable().forward([torch.ones(2), torch.ones(2, dtype=torch.bfloat16)])
    assert output.dtype == torch.float32


@pytest.mark.parametrize(
    "criterion",
    [
        nn.ClassNLLCriterion(),
        nn.ClassNLLCriterion(torch.zeros(3)),
        nn.ClassNLLCriterion(None, True, 2),
        nn.CrossEntropyCriterion(torch.tensor([1.0, 0.0, 1.0])),
    ],
)
def test_the_loss_is_zero_where_no_label_counts(criterion: nn.Criterion) -> None:
    target = torch.tensor([2, 2])
    if criterion.__dict__.get("ignoreIndex") == -100 and criterion.weights is None:
        target = torch.tensor([-100, -100])
    input = torch.randn(2, 3)
    assert criterion.forward(input, target) == 0
    assert torch.equal(criterion.backward(input, target), torch.zeros(2, 3))


class Doubling(nn.Module):
    def compute(self, input: torch.Tensor) -> torch.Tensor:
        return input * 2


@pytest.mark.parametrize(
    ("net", "place"),
    [
        (nn.Linear(4, 3), r"nn.Linear\(4 -> 3\)"),
        (Doubling(), "Doubling"),
        (nn.Sequential().add(nn.Linear(4, 3)), r"nn.Sequential\[1\] nn.Linear"),
        (nn.Sequential().add(nn.Linear(4, 3)).add(nn.Tanh()), r"nn.Sequential\[2\] nn.Tanh"),
        # What hands the gradient on hands on that there is none.
        (nn.Sequential().add(nn.Linear(4, 3)).add(nn.Identity()), r"nn.Sequential\[1\] nn.Linear"),
        (nn.Concat(2).add(nn.Tanh()).add(nn.Tanh()), "nn.Concat"),
    ],
)
def test_gradOutput_must_be_given(net: nn.Module, place: str) -> None:
    input = torch.ones(2, 4)
    net.forward(input)
    for go_back in (net.backward, net.updateGradInput, net.accGradParameters):
        if go_back != net.backward and not isinstance(net, nn.Sequential):
            continue  # single methods of layers raise what PyTorch says
        if go_back == net.accGradParameters and isinstance(net.get(net.size()), nn.Tanh):
            continue  # it trains nothing
        with pytest.raises(TypeError, match=rf"{place}.*gradOutput is None; a gradient of the"):
            go_back(input, None)


def test_a_layer_may_do_without_gradOutput() -> None:
    input = torch.ones(2, 4)

    class Own(nn.Module):
        def updateOutput(self, input: torch.Tensor) -> torch.Tensor:
            self.output = input
            return input

        def updateGradInput(self, input: torch.Tensor, gradOutput: None) -> torch.Tensor:
            self.gradInput = torch.full_like(input, 3)
            return self.gradInput

    net = nn.Sequential().add(nn.Identity()).add(Own())
    net.forward(input)
    assert torch.equal(net.backward(input, None), torch.full((2, 4), 3.0))
    assert nn.Identity().backward(input, None) is None


def test_errors_that_have_nothing_to_do_with_a_missing_gradOutput_stay() -> None:
    layer = nn.ReinforceNormal(0.1)
    layer.forward(torch.ones(2))
    with pytest.raises(RuntimeError, match="backward needs a reward first"):
        layer.backward(torch.ones(2), None)
