"""cudnn.torch's names: they compute what nn computes, and convert into each other."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import pytest
import torch
from support.golden_data import load
from support.paths import GOLDEN
from torch.nn import functional as F

from compat import cudnn, nn, random, t7

TWINS = [
    (lambda p: p.BatchNormalization(3), (4, 3)),
    (lambda p: p.SpatialBatchNormalization(3), (2, 3, 6, 6)),
    (lambda p: p.VolumetricBatchNormalization(3), (2, 3, 4, 6, 6)),
    (lambda p: p.SpatialConvolution(3, 4, 3, 2, 2, 1, 1, 0), (2, 3, 6, 6)),
    (lambda p: p.VolumetricConvolution(3, 4, 3, 2, 2), (2, 3, 4, 6, 6)),
    (lambda p: p.SpatialFullConvolution(3, 4, 3, 2, 2), (2, 3, 6, 6)),
    (lambda p: p.VolumetricFullConvolution(3, 4, 3, 2, 2), (2, 3, 4, 6, 6)),
    (lambda p: p.SpatialMaxPooling(3, 2).ceil(), (2, 3, 6, 7)),
    (lambda p: p.SpatialAveragePooling(3, 2, 2, 2, 1, 1).setCountExcludePad(), (2, 3, 6, 6)),
    (lambda p: p.VolumetricMaxPooling(2, 2, 2), (2, 3, 4, 6, 6)),
    (lambda p: p.VolumetricAveragePooling(2, 2, 2), (2, 3, 4, 6, 6)),
    (lambda p: p.ReLU(), (2, 3)),
    (lambda p: p.Tanh(), (2, 3)),
    (lambda p: p.Sigmoid(), (2, 3)),
    (lambda p: p.SoftMax(), (2, 3)),
    (lambda p: p.LogSoftMax(), (2, 3)),
    (lambda p: p.SpatialSoftMax(), (2, 3, 4, 4)),
    (lambda p: p.SpatialLogSoftMax(), (3, 4, 4)),
    (lambda p: p.SpatialCrossMapLRN(5, 0.1), (2, 7, 3, 3)),
]


def run(module: Any, x: torch.Tensor) -> list[torch.Tensor]:
    output = module.forward(x)
    module.zeroGradParameters()
    gradInput = module.backward(x, torch.ones_like(output))
    return [output, gradInput, *(g.clone() for g in module.parameters()[1])]


@pytest.mark.parametrize(("make", "shape"), TWINS)
def test_both_packages_compute_the_same_from_the_same_seed(make: Any, shape: Any) -> None:
    x, results = torch.randn(shape), []
    for package in (nn, cudnn):
        random.manualSeed(11)
        results.append(run(make(package), x))
    for ours, theirs in zip(*results, strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize(("make", "shape"), TWINS)
def test_conversion_there_and_back_keeps_the_tensors(make: Any, shape: Any) -> None:
    net = nn.Sequential().add(make(nn))
    layer, parameters = net.get(1), net.parameters()[0]
    x = torch.randn(shape)
    wanted = run(net, x)
    name = type(layer).__name__
    for package, prefix in ((cudnn, "cudnn"), (nn, "nn")):
        assert cudnn.convert(net, package) is net
        if name not in ("VolumetricFullConvolution", "SpatialSoftMax", "SpatialLogSoftMax"):
            assert net.get(1).typename == f"{prefix}.{name}"
        if package is cudnn and "BatchNorm" in name:
            continue  # another forward would move the running statistics
        assert all(a is b for a, b in zip(net.parameters()[0], parameters, strict=True))
        assert net.get(1) is layer
    for ours, theirs in zip(run(net, x), wanted, strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize(("make", "shape"), TWINS)
def test_files_hold_the_names_of_cudnn(make: Any, shape: Any) -> None:
    module = make(cudnn)
    data = t7.dumps(module)
    assert f"cudnn.{type(module).__name__}".encode() in data
    again = t7.loads(data)
    assert type(again) is type(module)
    x = torch.randn(shape)
    for ours, theirs in zip(run(again, x), run(module, x), strict=True):
        assert torch.equal(ours, theirs)


def test_files_know_the_names_without_an_import_of_the_package() -> None:
    code = "from compat.t7.objects.registry import provide; print(bool(provide('cudnn.ReLU')))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "True", result.stderr


@pytest.mark.parametrize("name", ["cudnn_convnet", "cudnn_pointwise"])
def test_recorded_files_load_without_descriptors(name: str) -> None:
    net = load("format", name)
    for module in net.listModules():
        assert module.typename.startswith(("cudnn.", "nn."))
        assert not {"iSize", "iDesc", "weightDesc"} & set(vars(module))


def test_groups() -> None:
    module = cudnn.SpatialConvolution(4, 6, 3, 3, 1, 1, 1, 1, 2)
    assert module.weight.shape == (6, 2, 3, 3)
    x = torch.randn(2, 4, 5, 5)
    wanted = F.conv2d(x, module.weight, module.bias, padding=1, groups=2)
    torch.testing.assert_close(module.forward(x), wanted)
    again = t7.loads(t7.dumps(module))
    assert torch.equal(again.forward(x), module.output)
    with pytest.warns(UserWarning, match="is in groups, which nn does not have"):
        assert cudnn.convert(module, nn) is module
    assert module.typename == "cudnn.SpatialConvolution"


def test_defaults_that_differ_from_nn() -> None:
    assert cudnn.SpatialConvolution(1, 1, 3, 3, 1, 1, 2).padH == 0
    assert (cudnn.SpatialAveragePooling(3, 2).dW, cudnn.SpatialAveragePooling(3, 2).dH) == (3, 2)
    assert cudnn.SpatialCrossMapLRN().size == 5


def test_temporal_convolution_pads_with_zero_frames() -> None:
    module = cudnn.TemporalConvolution(3, 4, 2, 2, 1)
    plain = nn.TemporalConvolution(3, 4, 2, 2)
    plain.weight.copy_(module.weight)
    plain.bias.copy_(module.bias)
    x = torch.randn(2, 5, 3)
    wanted = plain.forward(F.pad(x, (0, 0, 1, 1)))
    torch.testing.assert_close(module.forward(x), wanted)
    again = t7.loads(t7.dumps(module))
    torch.testing.assert_close(again.forward(x[0]), wanted[0])


@pytest.mark.parametrize(("cls", "function"), [(cudnn.Tanh, torch.tanh), (cudnn.ReLU, F.relu)])
def test_in_place(cls: Any, function: Any) -> None:
    x = torch.randn(5)
    wanted = function(x)
    assert torch.equal(cls(True).forward(x), wanted)
    assert torch.equal(x, wanted)


def test_clipped_relu() -> None:
    x = torch.linspace(-3, 9, 13)
    assert torch.equal(cudnn.ClippedReLU(6).forward(x), x.clamp(0, 6))


@pytest.mark.parametrize(
    ("name", "function"), [("SoftMax", F.softmax), ("LogSoftMax", F.log_softmax)]
)
def test_softmax_of_images_and_volumes(name: str, function: Any) -> None:
    x = torch.randn(2, 3, 4, 5)
    whole = getattr(cudnn, name)(True)
    torch.testing.assert_close(whole.forward(x), function(x.flatten(1), 1).view_as(x))
    torch.testing.assert_close(whole.forward(x[0]), whole.forward(x)[0])
    pixels = getattr(cudnn, f"Spatial{name}")()
    torch.testing.assert_close(pixels.forward(x), function(x, 1))
    voxels = getattr(cudnn, f"Volumetric{name}")()
    volume = torch.randn(2, 3, 2, 4, 5)
    torch.testing.assert_close(voxels.forward(volume), function(volume, 1))
    torch.testing.assert_close(voxels.forward(volume[0]), function(volume, 1)[0])


@pytest.mark.parametrize("average", [True, False])
def test_cross_entropy_of_pixels_and_voxels(average: bool) -> None:
    weights = torch.rand(3)
    for cls, shape in (
        (cudnn.SpatialCrossEntropyCriterion, (2, 3, 4, 5)),
        (cudnn.VolumetricCrossEntropyCriterion, (2, 3, 2, 4, 5)),
    ):
        criterion = cls(weights)
        getattr(criterion, "scec", criterion).sizeAverage = average
        x = torch.randn(shape).requires_grad_()
        target = torch.randint(1, 4, (shape[0], *shape[2:]))
        wanted = F.cross_entropy(x, target - 1, weights, reduction="mean" if average else "sum")
        assert criterion.forward(x.detach(), target) == pytest.approx(wanted.item(), rel=1e-5)
        wanted.backward()
        torch.testing.assert_close(criterion.backward(x.detach(), target), x.grad)


def test_conversion_excludes_and_reaches_into_containers() -> None:
    net = (
        nn.Sequential()
        .add(nn.ReLU())
        .add(nn.Concat(2).add(nn.Tanh()).add(nn.SpatialConvolutionMM(2, 2, 1, 1)))
    )
    cudnn.convert(net, cudnn, lambda module: isinstance(module, nn.Tanh))
    names = [module.typename for module in net.listModules()]
    assert names == [
        "nn.Sequential",
        "cudnn.ReLU",
        "nn.Concat",
        "nn.Tanh",
        "cudnn.SpatialConvolution",
    ]
    weight = net.get(2).get(2).weight
    assert weight.shape == (2, 2, 1, 1) == weight.grad.shape
    x = torch.randn(1, 2, 3, 3)
    assert net.forward(x).shape == (1, 4, 3, 3)
    matrix = nn.SpatialConvolutionMM(2, 2, 1, 1)
    assert repr(cudnn.convert(matrix, nn)) == "nn.SpatialConvolution(2 -> 2, 1x1)"
    assert matrix.weight.shape == (2, 2, 1, 1)


def test_conversion_goes_by_a_class_s_own_replace() -> None:
    class Pair(nn.Module, typename="nn.PairOfTheTest"):
        def __init__(self) -> None:
            super().__init__()
            self.inner: Any = nn.ReLU()

        def replace(self, callback: Any) -> Any:
            self.inner = self.inner.replace(callback)
            return self

    net = nn.Sequential().add(Pair())
    assert cudnn.convert(net, cudnn).get(1).inner.typename == "cudnn.ReLU"


def test_a_converted_average_pooling_counts_padding_as_before() -> None:
    fields = {"kW": 3, "kH": 3, "dW": 1, "dH": 1, "padW": 1, "padH": 1, "ceil_mode": False}
    x = torch.ones(1, 3, 3)
    for mode, corner in (("INCLUDE", 4 / 9), ("EXCLUDE", 1.0)):
        mode = f"CUDNN_POOLING_AVERAGE_COUNT_{mode}_PADDING"
        file = t7.dumps(t7.TorchObject("cudnn.SpatialAveragePooling", 1, fields | {"mode": mode}))
        module = cudnn.convert(t7.loads(file), nn)
        assert module.typename == "nn.SpatialAveragePooling" and module.divide
        assert module.forward(x)[0, 0, 0].item() == pytest.approx(corner)


def test_unknown_objects() -> None:
    foreign = t7.TorchObject("inn.SpatialCrossResponseNormalization", 1, {"size": 3, "k": 2})
    graph = t7.TorchObject("nn.gModule", 1, {})
    net = nn.Sequential()
    net.modules = [foreign, graph]
    with pytest.warns(UserWarning, match="gModule is not converted"):
        cudnn.convert(net, cudnn)
    assert net.get(1).typename == "cudnn.SpatialCrossMapLRN"
    assert (net.get(1).size, net.get(1).k) == (3, 2)
    assert net.get(2) is graph


def test_the_choice_of_algorithms_chains() -> None:
    module = cudnn.SpatialConvolution(1, 1, 1, 1)
    assert module.fastest().setMode(1, 2, 3).resetMode().clearDesc() is module


def test_flags() -> None:
    before = torch.backends.cudnn.benchmark
    try:
        cudnn.benchmark = True
        assert torch.backends.cudnn.benchmark and cudnn.benchmark
    finally:
        torch.backends.cudnn.benchmark = before
    # Where PyTorch has no cuDNN, a version that scripts accept (5005 to 5999 are cudnn.torch's).
    assert cudnn.version == (torch.backends.cudnn.version() or 5110)
    assert cudnn.fastest is False


def test_errors() -> None:
    with pytest.raises(ValueError, match="nInputPlane is 3; a multiple of groups, 2, is accepted"):
        cudnn.SpatialConvolution(3, 4, 1, 1, 1, 1, 0, 0, 2)
    with pytest.raises(TypeError, match=r"dst is 'nn'; compat\.nn or compat\.cudnn"):
        cudnn.convert(nn.ReLU(), "nn")
    with pytest.raises(ValueError, match="input has 3 dimensions; 1, 2, 4 or 5"):
        cudnn.VolumetricSoftMax().forward(torch.zeros(2, 2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cudnn.convert(nn.Linear(1, 1), cudnn).typename == "nn.Linear"


@pytest.mark.parametrize("name", ["cudnn_convnet", "cudnn_pointwise"])
def test_files_hold_the_sizes_that_lua_compares_inputs_with(name: str) -> None:
    recorded = t7.load(GOLDEN / "format" / f"{name}.t7", raw=True)
    written = t7.loads(t7.dumps(load("format", name)), raw=True)
    for old, new in zip(recorded["modules"], written["modules"], strict=True):
        if old.typename.startswith("cudnn."):
            assert len(new["iSize"]) == len(old["iSize"]), old.typename
            assert new["iSize"].typename == "torch.LongStorage"


@pytest.mark.parametrize("typename", ["VolumetricMaxPooling", "VolumetricAveragePooling"])
def test_volumes_have_five_sizes(typename: str) -> None:
    module = getattr(cudnn, typename)(2, 2, 2)
    assert list(t7.loads(t7.dumps(module), raw=True)["iSize"]) == [0] * 5
    assert "iSize" not in vars(t7.loads(t7.dumps(module)))
