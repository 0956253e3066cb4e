"""The methods of modules that package dpnn adds, compared with Torch7's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.golden_data import load
from support.nn_golden import assert_close

from compat import nn, random, t7

CASES = [case["name"] for case in load("dpnn_methods", "methods")]


@pytest.mark.parametrize("name", CASES)
def test_gradients_and_parameters_change_as_in_torch7(name: str) -> None:
    case = {c["name"]: c for c in load("dpnn_methods", "methods")}[name]
    net = case["net"]
    for i, (call, result) in enumerate(zip(case["calls"], case["results"], strict=True)):
        if i:
            for gradient in net.parameters()[1]:
                gradient.div_(2)
        returned = getattr(net, call["method"])(*list(call["arguments"] or []))
        assert_close(net.parameters()[0], result["params"], 1e-12, "params")
        assert_close(net.parameters()[1], result["gradParams"], 1e-12, "gradParams")
        if "returned" in result:
            assert returned == pytest.approx(result["returned"], rel=1e-12)


def convolutional() -> nn.Sequential:
    return nn.Sequential(nn.SpatialConvolution(1, 2, 3, 3), nn.SpatialBatchNormalization(2))


def test_shared_clones_train_the_same() -> None:
    net = convolutional()
    clone = net.sharedClone()
    images = torch.randn(4, 1, 5, 5)
    net.zeroGradParameters()
    clone.forward(images)
    clone.backward(images, torch.ones_like(clone.output))
    clone.updateParameters(0.1)
    for own, other in zip(net.parameters()[0], clone.parameters()[0], strict=True):
        assert torch.equal(own, other) and torch.equal(own.grad, other.grad)
        assert own.data_ptr() == other.data_ptr() and own.grad.data_ptr() == other.grad.data_ptr()
    assert net.get(2).running_mean is clone.get(2).running_mean
    assert net.get(2).output.numel() == 0
    flat, _ = net.getParameters()
    flat.zero_()
    assert not any(p.any() for p in clone.parameters()[0])


@pytest.mark.parametrize(("params", "gradients"), [(True, False), (False, True), (False, False)])
def test_clones_share_what_they_are_told_to(params: bool, gradients: bool) -> None:
    net = convolutional()
    clone = net.sharedClone(params, gradients)
    for own, other in zip(net.parameters()[0], clone.parameters()[0], strict=True):
        assert (own.data_ptr() == other.data_ptr()) is params
        assert (own.grad.data_ptr() == other.grad.data_ptr()) is gradients
    assert (net.get(2).running_mean is clone.get(2).running_mean) is params


def test_step_clones_have_the_same_recurrent_modules() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.LSTM(3, 4))
    clone = net.sharedClone(True, True, True)
    assert clone.get(2) is net.get(2) and clone.get(1) is not net.get(1)
    assert net.sharedClone().get(2) is not net.get(2)


def test_momentum_is_copied_converted_and_saved() -> None:
    net = nn.Sequential(nn.Linear(2, 3))
    net.get(1).gradWeight.fill_(1)
    net.updateGradParameters(0.9)
    kept = net.get(1).momGradParams
    assert torch.equal(kept[0], torch.ones(3, 2))
    again = t7.loads(t7.dumps(net))
    assert torch.equal(again.get(1).momGradParams[0], kept[0])
    assert net.clone().double().get(1).momGradParams[0].dtype == torch.float64
    assert t7.loads(t7.dumps(net.mediumSerial())).get(1).momGradParams in (None, [], {})


def test_files_without_gradients_can_be_trained() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    net.get(1).gradWeight.fill_(1)
    fields = t7.loads(t7.dumps(net.lightSerial()), raw=True).fields["modules"][1].fields
    assert fields["gradWeight"].numel() == 0 and fields["weight"].numel() == 6
    again = t7.loads(t7.dumps(net))
    assert torch.equal(again.get(1).gradWeight, torch.zeros(3, 2))
    assert torch.equal(net.get(1).gradWeight, torch.ones(3, 2))
    heavy = t7.loads(t7.dumps(net.heavySerial()))
    assert torch.equal(heavy.get(1).gradWeight, torch.ones(3, 2))
    names = t7.loads(t7.dumps(net.serialMode(["bias"])), raw=True).fields["modules"][1].fields
    assert names["bias"].numel() == 0
    with pytest.raises(TypeError, match="empty is a str; a list of names is accepted"):
        net.serialMode("bias")


def test_copies_of_a_serial_leave_out_what_its_files_do() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Tanh())).Serial().mediumSerial()
    output = net.forward(torch.ones(4, 2))
    net.backward(torch.ones(4, 2), torch.ones(4, 3))
    clone = net.clone()
    for module in clone.listModules():
        assert module.output.numel() == 0 and module.gradInput.numel() == 0
    assert net.get(1).output is output
    assert clone.parameters()[1][0].equal(net.parameters()[1][0])
    assert clone.forward(torch.ones(4, 2)).equal(output)
    assert net.heavySerial().clone().output.equal(output)


def test_samples_become_batches_and_back() -> None:
    module, criterion = nn.Identity(), nn.MSECriterion()
    for owner in (module, criterion):
        sample = torch.randn(2, 3)
        batch = owner.toBatch(sample, 2)
        assert batch.shape == (1, 2, 3) and owner.fromBatch(batch).shape == (2, 3)
        assert owner.toBatch(sample, 2, 2).shape == (2, 1, 3)
        assert owner.toBatch(sample, 1) is sample and owner.fromBatch(sample) is sample


def test_what_else_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    net = nn.Sequential().extend(nn.Linear(2, 3), nn.Tanh())
    random.manualSeed(1)
    assert net.outside([4, 2]) == (4, 3)
    assert net.sparseParameters()[0][0] is net.get(1).weight
    net.checkParameters()
    net.get(1).bias[1] = float("nan")
    with pytest.raises(ValueError, match="NaN Error for param at index 2"):
        net.checkParameters()
    columns = torch.randn(3, 2).t()
    assert net.contiguousInput(columns).is_contiguous()

    class Visitor:
        def visit(self, module: Any) -> None:
            self.seen = module

    visitor = Visitor()
    net.accept(visitor)
    assert visitor.seen is net


def test_a_module_without_backward_ends_the_gradient() -> None:
    first = nn.Linear(2, 3)
    net = nn.Sequential(first, nn.Tanh().dontBackward(), nn.Linear(3, 1))
    net.zeroGradParameters()
    input = torch.randn(4, 2)
    net.backward(input, torch.ones_like(net.forward(input)))
    assert not first.gradWeight.any() and net.get(3).gradWeight.any()
    assert net.clone().forward(input).shape == (4, 1)
