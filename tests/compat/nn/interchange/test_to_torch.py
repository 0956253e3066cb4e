"""Nets as plain torch.nn modules, and back."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from ruff.__main__ import find_ruff_bin
from support.each import each, grouped
from support.nn_golden import case_names, copied, load_case, restored
from support.paths import ROOT
from support.torch7_nets import alexnet, resnet50
from torch import Tensor

import compat.nn as nn
from compat import random
from compat.cudnn import SpatialConvolution as CudnnConvolution
from compat.nn.interchange.layers.table_layers import JoinTable
from compat.nn.source.written import write
from compat.tensor_tables import tensors

# Classes that torch.nn has no equivalent of, and which get no wrapper.
NO_EQUIVALENT = {
    *("BinaryClassReward", "LayerNormalization", "NCECriterion", "Reinforce"),
    *("SpatialBinaryLogisticRegression", "VRClassReward"),
}
# Those that draw numbers, PyTorch's: in evaluation, too, or in training.
DRAWN = {"SpatialFractionalMaxPooling", "VolumetricFractionalMaxPooling", "NCEModule"}
DRAWING = {"PCAColorTransform", "SimpleColorTransform", "SpatialRegionDropout", "TotalDropout"}
DRAWING |= {"ReinforceBernoulli", "ReinforceCategorical", "ReinforceNormal", "SpatialUniformCrop"}
DRAWING |= {"WhiteNoise"}
DRAWN_ALWAYS = {("ReinforceBernoulli", "stochastic"), ("ReinforceNormal", "sample")}
REFUSED = {
    ("MapTable", "not_shared"),
    ("SelectTable", "key"),
    ("SpatialMaxUnpooling", "alone"),
    ("NCEModule", "estimated"),
    ("NCEModule", "own noise estimated"),
}
# Tables for a layer of tensors, windows of other sizes in Torch7, outputs that are numbers.
OTHER_INPUTS = {
    *(("SpatialFullConvolution", "target_size"), ("VolumetricFullConvolution", "target_size")),
    ("SpatialAdaptiveMaxPooling", "window_rounding"),
    *(("CriterionTable", "mse"), ("CriterionTable", "class_nll")),
}
NO_WAY_BACK = {"SpatialMaxUnpooling", "VolumetricMaxUnpooling", "LinearWeightNorm"}
NO_WAY_BACK |= {"SpatialContrastiveNormalization", "SpatialDivisiveNormalization", "OneHot"}
NO_WAY_BACK |= {"SpatialSubtractiveNormalization", "FeatureLPPooling", "Parallel"}
NO_WAY_BACK |= {"SpatialDepthWiseConvolution", "SegmentationFCN", "Copy", "DontCast"}
NO_WAY_BACK |= {"CategoricalEntropy", "Kmeans", "PCAColorTransform", "PartialLinear"}
NO_WAY_BACK |= {"ReinforceBernoulli", "ReinforceCategorical", "ReinforceGamma", "ReinforceNormal"}
NO_WAY_BACK |= {"SimpleColorTransform", "SpatialBinaryConvolution", "SpatialGlimpse"}
NO_WAY_BACK |= {"SpatialUniformCrop"} | DRAWN

RECORDED = [
    (folder, name, case)
    for folder in ("nn", "composite", "dpnn")
    for name, case in case_names(folder)
    if name not in NO_EQUIVALENT and (name, case) not in REFUSED | OTHER_INPUTS
]


def by_class(cases: list[tuple[str, str, str]]) -> Any:
    return each("which", grouped(cases, lambda one: "-".join(one[:2])))


@pytest.fixture(autouse=True)
def settings() -> Any:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)
    random.manualSeed(1)
    yield
    torch.set_default_dtype(before)
    # PyTorch 2.6 counts the nets that one process exports, and stops at eight.
    torch._dynamo.reset()


def recorded(folder: str, name: str, case_name: str) -> tuple[Any, Any]:
    case = load_case(folder, name, case_name)
    module = restored(case, "module")
    # PyTorch draws its own noise.
    training = case["mode"] == "training" and name not in DRAWING and "noise" not in case
    return (module.training() if training else module.evaluate()), case["input"]


def assert_same(value: Any, other: Any) -> None:
    values, others = list(tensors(value)), list(tensors(other))
    torch.testing.assert_close(values, others, rtol=1e-6, atol=1e-7, equal_nan=True)


@by_class(RECORDED)
@pytest.mark.filterwarnings("ignore:dropout")
def test_every_recorded_net_computes_the_same(which: tuple[str, str, str]) -> None:
    _, name, case_name = which
    module, input = recorded(*which)
    converted = module.to_torch()
    assert not any(isinstance(m, nn.Native) for m in converted.modules())
    assert all(
        type(m).__module__.startswith(("torch", "compat.nn.interchange."))
        for m in converted.modules()
    )
    if name not in DRAWN and (name, case_name) not in DRAWN_ALWAYS:
        assert_same(converted(copied(input)), module.forward(copied(input)))


# What is computed depends on the numbers of the input.
NO_SOURCE = {("IndexLinear", "flat")}


def _often(cases: list[Any]) -> list[Any]:
    """The cases, of which one in twelve is tried always, and all among the slow tests."""
    return [
        pytest.param(*case, marks=[pytest.mark.slow] if place % 12 else [], id="-".join(case[1:]))
        for place, case in enumerate(cases)
        if case[2] != "number"  # no tensor
        and case[1:] not in NO_SOURCE
    ]


@pytest.mark.parametrize(("folder", "name", "case_name"), _often(RECORDED))
def test_every_recorded_net_as_source(
    folder: str, name: str, case_name: str, tmp_path: Path
) -> None:
    """The source is tried in both modes before it is given, with its gradients."""
    module, input = recorded(folder, name, case_name)
    written = write(module, copied(input), name)
    assert written.difference <= 1e-6
    path = tmp_path / "source.py"
    path.write_text(written.text)
    for command in (["check", "--select", "E,F,I"], ["format", "--check"]):
        subprocess.run([find_ruff_bin(), *command, "--isolated", "-q", path], check=True)


# from_torch knows the layers of the others.
@by_class(
    [
        (folder, name, case)
        for folder, name, case in RECORDED
        if name not in NO_WAY_BACK
        and not (name.startswith("SpatialUpSampling") and case == "single")
    ]
)
def test_every_recorded_net_comes_back(which: tuple[str, str, str]) -> None:
    module, input = recorded(*which)
    again = nn.from_torch(module.to_torch())
    assert_same(again.forward(copied(input)), module.forward(copied(input)))
    assert [p.shape for p in again.to_torch().parameters()] == [
        p.shape for p in module.to_torch().parameters()
    ]


@pytest.mark.parametrize("name", sorted(NO_EQUIVALENT))
def test_what_has_no_equivalent_is_refused_by_name(name: str) -> None:
    cases = [(f, case) for f in ("nn", "dpnn") for n, case in case_names(f) if n == name]
    for folder, case in cases[:1]:
        module, _ = recorded(folder, name, case)
        with pytest.raises(ValueError, match=rf"nn.Sequential\[2\] .*{name}.*: "):
            nn.Sequential(nn.Identity(), module).to_torch()


def test_the_guide_names_what_is_left() -> None:
    guide = (ROOT / "docs" / "files.md").read_text()
    left = guide.split("| left | why")[1].split("\n\n")[0]
    assert set(re.findall(r"`([A-Z]\w+)`", left.split("| classes of your own")[0])) == NO_EQUIVALENT


@pytest.mark.parametrize(("name", "case_name"), sorted(REFUSED))
def test_settings_without_equivalent_are_refused(name: str, case_name: str) -> None:
    told = r"torch\.nn has|call forward once|its pooling is not in the net"
    folder = "dpnn" if name == "NCEModule" else "nn"
    with pytest.raises(ValueError, match=told):
        recorded(folder, name, case_name)[0].to_torch()


def trained(net: Any, input: Tensor) -> Any:
    """``net`` with running statistics that are not the initial ones."""
    net.training().forward(input)
    return net


def test_batch_norm_and_modes_are_carried_over() -> None:
    net = nn.Sequential(nn.SpatialConvolution(2, 3, 3, 3), nn.SpatialBatchNormalization(3, 1e-3))
    net.add(nn.ReLU(True))
    images = torch.randn(4, 2, 6, 6)
    net = trained(net, images)
    converted = net.to_torch()
    assert_same(converted[1].running_var, net.get(2).running_var)
    assert converted.training and not net.evaluate().to_torch().training
    for mode in ("evaluate", "training"):
        getattr(net, mode)()
        converted.train(mode == "training")
        assert_same(converted(images.clone()), net.forward(images.clone()))
        assert_same(converted[1].running_mean, net.get(2).running_mean)


def test_the_result_is_native_and_independent() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    converted = net.to_torch()
    assert [type(m) for m in converted] == [torch.nn.Linear, torch.nn.ReLU, torch.nn.Linear]
    assert list(converted.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    net.get(1).weight.zero_()
    assert converted[0].weight.abs().sum() > 0
    assert all(p.requires_grad for p in converted.parameters())


def test_shared_modules_and_shared_weights_stay_shared() -> None:
    tower = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    clone = tower.clone("weight", "bias", "gradWeight", "gradBias")
    pair = nn.ParallelTable().add(tower).add(clone)
    twice = nn.Sequential(pair, nn.CAddTable(), tower)
    converted: Any = twice.to_torch()
    assert converted[0][0][0].weight is converted[0][1][0].weight
    assert converted[2] is converted[0][0]
    assert len(list(converted.parameters())) == 2
    again: Any = nn.from_torch(converted)
    assert again.get(1).get(1).get(1).weight is again.get(1).get(2).get(1).weight
    assert again.get(3) is again.get(1).get(1)


def test_flat_parameters_do_not_get_mixed_up() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3), nn.CMul(3))
    net.getParameters()
    converted = net.to_torch()
    assert_same(list(converted.parameters()), net.parameters()[0])


def test_a_frozen_parameter_stays_frozen() -> None:
    net = nn.Linear(3, 3)
    net.gradBias = None
    converted = net.to_torch()
    assert converted.weight.requires_grad and not converted.bias.requires_grad


def test_groups_of_cudnn() -> None:
    layer = CudnnConvolution(4, 6, 3, 3, 1, 1, 1, 1, 2)
    converted: Any = layer.to_torch()
    images = torch.randn(2, 4, 5, 5)
    assert converted.groups == 2
    assert_same(converted(images), layer.forward(images))
    again: Any = nn.from_torch(converted)
    assert again.typename == "cudnn.SpatialConvolution"
    assert_same(again.forward(images), layer.forward(images))


def test_average_pooling_of_old_files_sums() -> None:
    layer = nn.SpatialAveragePooling(2, 3)
    layer.divide = False
    images = torch.randn(2, 4, 5, 5)
    assert_same(layer.to_torch()(images), layer.forward(images))


def test_old_dropout_scales_in_evaluation() -> None:
    net = nn.Sequential(nn.Dropout(0.25, True), nn.SpatialDropout(0.5)).evaluate()
    images = torch.rand(2, 3, 4, 4)
    converted = net.to_torch()
    assert_same(converted(images), 0.75 * 0.5 * images)
    assert set(converted.train()(torch.ones(4, 3, 2, 2)).unique().tolist()) <= {0.0, 1.0}
    always = nn.Dropout(0.5, False, False, True).to_torch().eval()
    assert (always(torch.ones(50)) == 0).any()


def test_a_graph_becomes_an_fx_graph() -> None:
    x, state = nn.Identity()(), nn.Identity()()
    h, cell = state.split(2)
    joined = nn.JoinTable(2)([nn.Linear(3, 4)(x), h])
    graph = nn.gModule([x, state], [nn.Tanh()(joined), nn.CAddTable()([cell, h])])
    input = [torch.randn(2, 3), [torch.randn(2, 5), torch.randn(2, 5)]]
    converted = graph.to_torch()
    assert isinstance(converted, torch.fx.GraphModule)
    assert_same(converted(input), graph.forward(input))
    copies = [copy.deepcopy(converted), pickle.loads(pickle.dumps(converted))]
    for other in copies:
        assert_same(other(input), graph.forward(input))


def test_a_plain_torch_module_inside_is_copied() -> None:
    inner = torch.nn.Linear(3, 2)
    net = nn.Sequential(inner, nn.ReLU())
    converted: Any = net.to_torch()
    assert converted[0] is not inner
    assert_same(converted(torch.ones(1, 3)), net.forward(torch.ones(1, 3)))


def test_from_torch_takes_what_users_build() -> None:
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, (3, 5), padding=(1, 2), stride=(1, 2), bias=False),
        torch.nn.BatchNorm2d(8),
        torch.nn.LeakyReLU(0.2),
        torch.nn.MaxPool2d((2, 1), ceil_mode=True),
        torch.nn.ConvTranspose2d(8, 4, 3, stride=2, output_padding=1),
        torch.nn.AdaptiveAvgPool2d((2, 3)),
        torch.nn.Dropout2d(0.3),
        torch.nn.Flatten(),
        torch.nn.Linear(24, 5),
        torch.nn.Softmax(dim=1),
    ).eval()
    state = random.getRNGState()
    converted = nn.from_torch(net)
    assert torch.equal(torch.as_tensor(random.getRNGState()), torch.as_tensor(state))
    images = torch.randn(2, 3, 9, 9)
    assert_same(converted.forward(images), net(images))
    assert converted.findModules("nn.SpatialBatchNormalization")[0][0].train is False
    assert converted.type() == "torch.DoubleTensor"


def test_from_torch_counts_embeddings_from_one() -> None:
    embedding = torch.nn.Embedding(5, 3, padding_idx=0)
    indices = torch.tensor([[0, 4, 2]])
    assert_same(nn.from_torch(embedding).forward(indices), embedding(indices))
    table = nn.LookupTable(5, 3, 1)
    converted: Any = table.to_torch()
    assert converted.padding_idx == 0
    assert_same(converted(indices + 1), table.forward(indices + 1))


class _Block(torch.nn.Module):
    def forward(self, input: Tensor) -> Tensor:
        return input


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (lambda: torch.nn.Sequential(torch.nn.Sequential(_Block())), "^0.0: _Block has no"),
        (lambda: torch.nn.Conv2d(2, 2, 3, padding_mode="reflect"), "Conv2d.*padding_mode"),
        (lambda: torch.nn.Sequential(torch.nn.Softmax(dim=2)), "^0: Softmax.*dim 2 has no"),
        (lambda: torch.nn.BatchNorm1d(3, track_running_stats=False), "track_running_stats"),
        (lambda: torch.nn.LSTM(2, 2), "^LSTM has no equivalent"),
    ],
)
def test_from_torch_names_what_has_no_equivalent(
    module: Callable[[], torch.nn.Module], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        nn.from_torch(module())


# What the way out is for.


def small_resnet() -> Any:
    block = nn.Sequential(nn.SpatialConvolution(4, 4, 3, 3, 1, 1, 1, 1))
    block.add(nn.SpatialBatchNormalization(4)).add(nn.ReLU(True))
    net = nn.Sequential(nn.SpatialConvolution(3, 4, 3, 3, 2, 2, 1, 1))
    net.add(nn.ConcatTable().add(block).add(nn.Identity())).add(nn.CAddTable(True))
    net.add(nn.ReLU(True)).add(nn.Concat(2).add(nn.Identity()).add(nn.MulConstant(0)))
    net.add(nn.SpatialAveragePooling(4, 4)).add(nn.View(8).setNumInputDims(3))
    return net.add(nn.Linear(8, 5)).add(nn.LogSoftMax())


def test_torch_export_with_a_dynamic_batch() -> None:
    net = trained(small_resnet(), torch.randn(4, 3, 8, 8)).evaluate()
    images = torch.randn(2, 3, 8, 8)
    batch = torch.export.Dim("batch", min=2)
    exported = torch.export.export(net.to_torch(), (images,), dynamic_shapes=({0: batch},))
    for count in (2, 5):
        images = torch.randn(count, 3, 8, 8)
        assert_same(exported.module()(images), net.forward(images.clone()))


SCRIPTED = ["LeNet", "ResNet", "Inception", "DropoutMLP"]


@pytest.mark.parametrize("name", SCRIPTED)
@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_torch_script(name: str) -> None:
    case = case_names("composite")
    [first, *_] = [c for class_name, c in case if class_name == name]
    module, input = recorded("composite", name, first)
    module.evaluate()
    scripted = torch.jit.script(module.to_torch().eval())
    assert_same(scripted(input.clone()), module.forward(input.clone()))


TABLES = [
    (nn.Sequential(nn.SplitTable(1, 2), nn.JoinTable(1, 1)), (2, 3, 4)),
    (nn.Sequential(nn.SplitTable(2), nn.NarrowTable(1, 2), nn.CMaxTable()), (2, 3, 4)),
    (nn.Sequential(nn.SplitTable(2), nn.SelectTable(-1), nn.Unsqueeze(1, 1)), (2, 3, 4)),
    (nn.Sequential(nn.View(-1).setNumInputDims(2), nn.Reshape(4, 3), nn.Max(1, 2)), (2, 3, 4)),
    (nn.Sequential(nn.Transpose((1, 2)), nn.Padding(1, -2, 2), nn.Sum(1, 2)), (2, 3, 4)),
    (nn.Sequential(nn.Replicate(3, 1, 2), nn.Select(2, 1), nn.Narrow(3, 2, -1)), (2, 3, 4)),
    (nn.Sequential(nn.ConcatTable().add(nn.Square()).add(nn.Abs()), nn.CDivTable()), (2, 3)),
    (nn.Sequential(nn.Normalize(2), nn.Power(2), nn.CMul(3), nn.Add(3)), (2, 3)),
    (nn.Bottle(nn.Linear(4, 5)), (2, 3, 4)),
    (nn.Sequential(nn.TemporalConvolution(4, 5, 2), nn.TemporalMaxPooling(2)), (2, 3, 4)),
]


@pytest.mark.parametrize(("net", "size"), TABLES)
def test_wrappers_can_be_exported(net: Any, size: tuple[int, ...]) -> None:
    input = torch.rand(size) + 0.5
    net = net.clone().double()
    expected = net.forward(input.clone())
    converted = net.to_torch()
    # The default of PyTorch 2.6 is strict; its compiler cannot make objects of our layers' classes.
    exported = torch.export.export(converted, (input.clone(),), strict=False)
    assert_same(exported.module()(input.clone()), expected)
    assert repr(converted)


@pytest.mark.parametrize("size", [(3,), (2, 3), (3, 4, 5), (3, 3, 5), (2, 3, 5), (2, 3, 4, 5)])
def test_slopes_of_samples_and_batches(size: tuple[int, ...]) -> None:
    """The sizes in which Torch7 looks for the features."""
    net = nn.PReLU(3)
    net.weight.copy_(torch.tensor([0.0, 1, 2]))
    input = torch.randn(size)
    assert_same(net.to_torch()(input), net.forward(input))


def test_entries_of_a_vector_are_vectors() -> None:
    for net in (nn.SplitTable(1), nn.SplitTable(1, 1)):
        found, expected = net.to_torch()(torch.rand(4)), net.forward(torch.rand(4))
        assert [x.shape for x in found] == [x.shape for x in expected] == [(1,)] * 4


def test_settings_are_printed() -> None:
    assert str(JoinTable(1, 2)) == "JoinTable(dim=1, sample_dims=2)"


@pytest.mark.parametrize("build", [alexnet, resnet50])
def test_full_size_nets_are_converted_and_exported(build: Callable[[], Any]) -> None:
    torch.set_default_dtype(torch.float32)
    net = build()
    # Of a batch of one, nn.View(n) makes a vector.
    images = torch.randn(2, 3, 224, 224)
    for norm in net.findModules("nn.SpatialBatchNormalization")[0]:
        norm.running_mean.uniform_(-0.1, 0.1)
    net.evaluate()
    converted = net.to_torch()
    expected = net.forward(images)
    torch.testing.assert_close(converted(images), expected, rtol=1e-6, atol=1e-6)
    weights = [p.numel() for p in converted.parameters()]
    assert weights == [p.numel() for p in net.parameters()[0]]
    exported = torch.export.export(converted, (images,))
    torch.testing.assert_close(exported.module()(images), expected, rtol=1e-6, atol=1e-6)
