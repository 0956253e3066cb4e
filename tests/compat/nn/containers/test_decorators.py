"""Containers: the ones of one module, and how branches join and print."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from compat import cutorch, nn, t7


class Broken(nn.Module):
    """Makes a NaN of numbers above 10, and one of gradients above 10."""

    def updateOutput(self, input: torch.Tensor) -> torch.Tensor:
        self.output = torch.where(input > 10, torch.nan, input)
        return self.output

    def updateGradInput(self, input: torch.Tensor, gradOutput: torch.Tensor) -> torch.Tensor:
        self.gradInput = torch.where(gradOutput > 10, torch.nan, gradOutput)
        return self.gradInput


# Branches.


def test_outputs_of_other_sizes_are_centered_in_zeros() -> None:
    net = nn.DepthConcat(1).add(nn.Identity()).add(nn.SpatialMaxPooling(2, 2, 1, 1))
    output = net.forward(torch.ones(1, 4, 5))
    assert output.shape == (2, 4, 5)
    assert torch.equal(output[1], F.pad(torch.ones(3, 4), (0, 1, 0, 1)))


def test_slices_go_to_their_modules() -> None:
    net = nn.Parallel(2, 1).add(nn.MulConstant(2)).add(nn.MulConstant(3))
    assert torch.equal(net.forward(torch.ones(4, 2)), torch.tensor([2.0] * 4 + [3.0] * 4))
    with pytest.raises(
        ValueError, match="size 3 in dimension 2; at most 2, one for each module, is"
    ):
        net.forward(torch.ones(4, 3))


def test_branches_print_as_in_torch7() -> None:
    inner = nn.Sequential().add(nn.Linear(2, 3))
    net = nn.Concat(1).add(inner).add(nn.ConcatTable().add(nn.Identity()))
    assert repr(net) == "\n".join(
        [
            "nn.Concat {",
            "  input",
            "    |`-> (1): nn.Sequential {",
            "    |      [input -> (1) -> output]",
            "    |      (1): nn.Linear(2 -> 3)",
            "    |    }",
            "     `-> (2): nn.ConcatTable {",
            "           input",
            "              `-> (1): nn.Identity",
            "              ... -> output",
            "         }",
            "     ... -> output",
            "}",
        ]
    )


# MapTable.


def test_a_map_clones_its_module_for_each_entry() -> None:
    net = nn.MapTable(nn.Linear(3, 2))
    input = [torch.randn(4, 3), torch.randn(1, 3), torch.randn(2, 3)]
    output = net.forward(input)
    assert net.size() == 3
    for given, found in zip(input, output, strict=True):
        torch.testing.assert_close(found, net.module.forward(given))
    assert net.getParameters()[0].numel() == 8
    net.zeroGradParameters()
    net.forward(input)
    net.backward(input, [torch.ones_like(o) for o in output])
    assert net.module.gradBias.tolist() == [7, 7]
    before = net.module.bias.clone()
    net.updateParameters(1)
    torch.testing.assert_close(net.module.bias, before - 7)


def test_a_map_takes_a_longer_table_of_gradients() -> None:
    net, input = nn.MapTable(nn.MulConstant(2)), [torch.ones(1), torch.ones(2)]
    net.forward(input)
    grads = [torch.ones(1), torch.ones(2), torch.ones(3)]
    assert [g.tolist() for g in net.backward(input, grads)] == [[2], [2, 2]]
    with pytest.raises(ValueError, match="gradOutput is a table of 1; at least 2 are accepted"):
        net.backward(input, grads[:1])


def test_a_map_need_not_share() -> None:
    net = nn.MapTable(nn.Linear(3, 2), False)
    net.forward([torch.ones(1, 3), torch.ones(1, 3)])
    assert net.getParameters()[0].numel() == 16


def test_the_clones_of_a_map_come_and_go() -> None:
    net = nn.MapTable().add(nn.Identity())
    assert net.resize(3).size() == 3
    assert net.clearState().size() == 3
    assert net.resize(1).size() == 1
    with pytest.raises(ValueError, match=r"a module already, nn\.Identity; one is accepted"):
        net.add(nn.Tanh())
    with pytest.raises(ValueError, match="there is no module"):
        nn.MapTable().forward([torch.ones(1)])
    assert repr(nn.MapTable(nn.Sequential().add(nn.Tanh()))) == (
        "nn.MapTable {\n  nn.Sequential {\n          [input -> (1) -> output]\n"
        "          (1): nn.Tanh\n        }\n}"
    )


# Bottle.


@pytest.mark.parametrize("batch", [(), (5,), (2, 5), (2, 1, 5)])
def test_leading_dimensions_are_merged(batch: tuple[int, ...]) -> None:
    linear = nn.Linear(4, 3)
    net, input = nn.Bottle(linear), torch.randn(*batch, 4)
    wanted = F.linear(input, linear.weight, linear.bias)
    torch.testing.assert_close(net.forward(input), wanted)
    assert net.backward(input, torch.ones_like(wanted)).shape == input.shape


def test_outputs_of_other_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="output has 1 dimensions; nOutputDim, 2, are accepted"):
        nn.Bottle(nn.Sum(2)).forward(torch.ones(2, 3, 4))
    assert nn.Bottle(nn.Sum(2), 2, 1).forward(torch.ones(2, 3, 4)).shape == (2, 3)


# DontCast.


def test_a_module_keeps_its_type() -> None:
    net = nn.Sequential().add(nn.DontCast(nn.Linear(4, 3), True)).add(nn.Linear(3, 2)).double()
    assert [p.dtype for p in net.parameters()[0]] == [torch.float32] * 2 + [torch.float64] * 2
    input = torch.randn(5, 4, dtype=torch.float64)
    assert net.forward(input).dtype == torch.float64
    assert net.backward(input, net.output).dtype == torch.float64
    again = t7.loads(t7.dumps(net))
    torch.testing.assert_close(again.forward(input), net.output)


def test_without_casts_inputs_must_have_the_type() -> None:
    net = nn.DontCast(nn.Linear(4, 3)).double()
    assert net.forward(torch.ones(4)).dtype == torch.float32
    with pytest.raises(TypeError):
        net.forward(torch.ones(4, dtype=torch.float64))


# NaN.


@pytest.mark.parametrize(
    ("input", "weight", "culprit"),
    [(torch.nan, 1, "input"), (1, torch.nan, "parameters"), (11, 1, "output")],
)
def test_the_source_of_a_nan_is_named(input: float, weight: float, culprit: str) -> None:
    inner = nn.Sequential().add(nn.Mul()).add(Broken())
    inner.get(1).weight.fill_(weight)
    with pytest.raises(ValueError, match=f"NaN found in {culprit} of module probe:"):
        nn.NaN(inner, "probe").forward(torch.tensor([1.0, input]))


def test_the_source_of_a_nan_in_backward_is_named() -> None:
    net, input = nn.NaN(Broken()), torch.ones(2)
    net.forward(input)
    assert torch.equal(net.backward(input, input), input)
    with pytest.raises(ValueError, match="NaN found in gradInput"):
        net.backward(input, torch.tensor([1.0, 11]))
    with pytest.raises(ValueError, match="NaN found in gradOutput"):
        net.backward(input, torch.tensor([1.0, torch.nan]))


def test_nan_watchers_are_numbered() -> None:
    first, second = nn.NaN(nn.Identity()), nn.NaN(nn.Identity())
    assert second.id == first.id + 1


# Profile.


def test_times_are_printed_at_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    net, input = nn.Profile(nn.Linear(4, 3), 2), torch.ones(4)
    for _ in range(5):
        net.backward(input, net.forward(input))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("nn.Linear took 0.")
    assert lines[0].endswith("seconds for 2 forward passes")
    assert lines[1].endswith("seconds for 2 backward passes")
    assert (net.numFwds, net.numBwds) == (1, 1)


# GPU.


def test_a_gpu_of_a_cpu_type_moves_nothing() -> None:
    cutorch.configure(["cpu", "cpu"])
    net = nn.GPU(nn.Linear(4, 3), 2, 1)
    assert repr(net) == "nn.GPU(2) @ nn.Linear(4 -> 3)"
    input = torch.randn(2, 4)
    torch.testing.assert_close(net.forward(input), net.modules[0].forward(input))
    assert net.setDevice(1) is net
    with pytest.raises(ValueError, match=r"device is 0; .*devices count from 1"):
        nn.GPU(nn.Linear(4, 3), 0)


def test_gpus_have_their_own_payload() -> None:
    net = nn.GPU(nn.Linear(4, 3), 2)
    again = t7.loads(t7.dumps(net))
    assert (again.device, again.outdevice) == (2, 2)
    torch.testing.assert_close(again.modules[0].weight, net.modules[0].weight)


def test_a_gpu_that_is_missing_is_replaced_by_the_first() -> None:
    cutorch.configure(["cpu"])
    net = nn.GPU(nn.Linear(4, 3), 3)
    net._type = "torch.CudaTensor"
    file = t7.dumps(net)
    with pytest.warns(UserWarning, match="saved on GPU 3 of 1; GPU 1 is used"):
        again = t7.loads(file)
    assert (again.device, again.outdevice) == (1, 1)


@pytest.mark.cuda
def test_a_gpu_computes_on_its_device() -> None:
    cutorch.configure(["cuda:0", "cuda:0"])
    net = nn.Sequential().add(nn.GPU(nn.Linear(4, 3), 2)).add(nn.Tanh()).cuda()
    input = torch.randn(2, 4)
    output = net.forward(input)
    assert output.device == torch.device("cuda:0")
    gradInput: Any = net.backward(input, torch.ones_like(output))
    assert gradInput.device == input.device
    assert net.get(1).modules[0].weight.device == torch.device("cuda:0")


# Updates.


def test_a_shared_parameter_moves_once_for_each_module_that_has_it() -> None:
    first = nn.Linear(3, 2)
    net = nn.ParallelTable().add(first)
    net.add(nn.Sequential().add(first.clone("weight", "bias", "gradWeight", "gradBias")))
    before = first.weight.clone()
    first.gradWeight.fill_(1)
    net.updateParameters(0.5)
    torch.testing.assert_close(first.weight, before - 1)


def test_a_shared_map_table_moves_once() -> None:
    net = nn.MapTable(nn.Linear(3, 2))
    net.forward([torch.ones(3), torch.ones(3)])
    before = net.module.weight.clone()
    net.module.gradWeight.fill_(1)
    net.updateParameters(0.5)
    torch.testing.assert_close(net.module.weight, before - 0.5)


def test_a_module_may_move_in_its_own_way() -> None:
    class Clipped(nn.Linear):
        def updateParameters(self, learningRate: float) -> Clipped:
            super().updateParameters(learningRate)
            self.weight.clamp_(-0.1, 0.1)
            return self

    net = nn.Sequential().add(nn.Sequential().add(Clipped(3, 2))).add(nn.Linear(2, 2))
    frozen = net.get(2)
    frozen.updateParameters = lambda learningRate: frozen
    before = frozen.weight.clone()
    for gradient in net.parameters()[1]:
        gradient.fill_(1)
    net.updateParameters(1)
    assert net.get(1).get(1).weight.eq(-0.1).all()
    assert torch.equal(frozen.weight, before)


# Torch7's methods.


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (nn.Bottle, (2, 5, 4)),
        (nn.DontCast, (5, 4)),
        (nn.NaN, (5, 4)),
        (nn.Profile, (5, 4)),
        (lambda module: nn.Serial(module), (5, 4)),
        (lambda module: nn.GPU(module, 1), (5, 4)),
    ],
)
def test_a_decorator_goes_back_through_its_module(make: Any, shape: Any) -> None:
    linear, input = nn.Linear(4, 3), torch.randn(shape)
    plain, net = linear.clone(), make(linear)
    flat = input.view(-1, 4)
    output = net.forward(input)
    torch.testing.assert_close(output.view(-1, 3), plain.forward(flat))
    gradOutput = torch.randn_like(output)
    wanted = plain.backward(flat, gradOutput.view(-1, 3), 0.5).view(shape)
    for module in (plain, net):
        module.zeroGradParameters()
    torch.testing.assert_close(net.updateGradInput(input, gradOutput), wanted)
    assert not linear.gradWeight.any()
    net.accGradParameters(input, gradOutput, 0.5)
    plain.accGradParameters(flat, gradOutput.view(-1, 3), 0.5)
    torch.testing.assert_close(linear.gradWeight, plain.gradWeight)
    net.accUpdateGradParameters(input, gradOutput, 0.1)
    plain.accUpdateGradParameters(flat, gradOutput.view(-1, 3), 0.1)
    torch.testing.assert_close(linear.weight, plain.weight)
    linear.gradInput = None
    net.forward(input)
    assert net.updateGradInput(input, gradOutput) is None


def test_a_module_in_another_type_gets_gradients_in_its_type() -> None:
    net = nn.DontCast(nn.Linear(4, 3), True).double()
    input = torch.randn(5, 4, dtype=torch.float64)
    output = net.forward(input)
    net.zeroGradParameters()
    assert net.backward(input, torch.ones_like(output)).dtype == torch.float64
    assert net.get(1).gradBias.tolist() == [5] * 3 and net.get(1).gradBias.dtype == torch.float32


def test_a_map_goes_back_through_every_clone() -> None:
    net = nn.MapTable(nn.Linear(3, 2))
    inputs = [torch.randn(4, 3), torch.randn(3)]
    gradOutput = [torch.ones_like(output) for output in net.forward(inputs)]
    net.zeroGradParameters()
    found = net.updateGradInput(inputs, gradOutput)
    assert [gradient.shape for gradient in found] == [(4, 3), (3,)]
    assert not net.module.gradBias.any()
    net.accGradParameters(inputs, gradOutput, 2)
    assert net.module.gradBias.tolist() == [10, 10]


@pytest.mark.parametrize("make", [nn.Bottle, nn.MapTable])
def test_errors_tell_which_module_it_was(make: Any) -> None:
    net = make(nn.Linear(4, 3))
    input = torch.ones(2, 2, 5)
    with pytest.raises(ValueError, match=rf"{net.typename}\[1\] nn.Linear.*4 are accepted"):
        net.forward([input[0]] if make is nn.MapTable else input)


def test_a_classifier_computes_at_each_place() -> None:
    net = nn.SpatialClassifier().double()
    net.add(nn.Linear(3, 4).double()).add(nn.LogSoftMax())
    linear = net.classifier.get(1)
    x = torch.randn(3, 5, 6, dtype=torch.float64, requires_grad=True)
    features = torch.nn.functional.linear(x.permute(1, 2, 0), linear.weight, linear.bias)
    wanted = features.log_softmax(2).permute(2, 0, 1)
    gradOutput = torch.randn_like(wanted)
    torch.testing.assert_close(net.forward(x), wanted.detach())
    (gradient,) = torch.autograd.grad(wanted, x, gradOutput)
    torch.testing.assert_close(net.backward(x, gradOutput), gradient)
    torch.testing.assert_close(net.to_torch()(x), wanted)

    net.spatialOutput = False
    flat = wanted.detach().flatten(1).t()
    torch.testing.assert_close(net.forward(x), flat)
    torch.testing.assert_close(net.backward(x, gradOutput.flatten(1).t()), gradient)
    torch.testing.assert_close(nn.from_torch(net.to_torch()).forward(x), flat)
    with pytest.raises(ValueError, match="input has 2 dimensions; 3 "):
        net.forward(x[0].detach())
