"""Files of early versions of Torch7's nn, which lack fields or have others."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from support.nn_golden import assert_close, case_names, copied, expected, load_case, tolerance
from support.paths import GOLDEN

from compat import cudnn, nn, random, t7
from compat.tensor_types import CPU_TYPES


def restored(typename: str, version: int = 1, **fields: Any) -> Any:
    """The object that a file with these fields gives."""
    return t7.loads(t7.dumps(t7.TorchObject(typename, version, fields)))


@pytest.mark.parametrize(
    ("module", "fields", "input"),
    [
        (nn.CAddTable(), {}, [torch.ones(2), torch.ones(2)]),
        (nn.MM(), {}, [torch.ones(2, 2)] * 2),
        (nn.MV(), {}, [torch.ones(2, 2), torch.ones(2)]),
        (nn.JoinTable(1), {"dimension": 1}, [torch.ones(2), torch.ones(2)]),
        (nn.SplitTable(1), {"dimension": 1}, torch.ones(2, 2)),
        (nn.PairwiseDistance(2), {"norm": 2}, [torch.ones(2, 2), torch.zeros(2, 2)]),
        (nn.MixtureTable(), {}, [torch.ones(2), torch.ones(2, 3)]),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_newer_fields_have_their_defaults(module: Any, fields: Any, input: Any) -> None:
    old = restored(module.typename, **fields)
    assert repr(old.forward(input)) == repr(module.forward(input))


VOLUME = torch.arange(128.0).view(2, 4, 4, 4).sin()
WINDOW = ("ceil_mode", "padW", "padH")


@pytest.mark.parametrize(
    ("module", "missing", "input"),
    [
        (nn.SpatialConvolution(4, 2, 3, 3), ("padW", "padH", "gradWeight", "gradBias"), VOLUME),
        (nn.SpatialConvolutionMM(4, 2, 3, 3).noBias(), ("padW", "padH"), VOLUME),
        (nn.SpatialFullConvolution(4, 2, 3, 3), ("adjW", "adjH", "gradBias"), VOLUME),
        (cudnn.SpatialConvolution(4, 2, 3, 3), ("groups", "padW", "padH"), VOLUME),
        (cudnn.SpatialFullConvolution(4, 2, 3, 3), ("adjW", "adjH"), VOLUME),
        (cudnn.VolumetricConvolution(2, 1, 2, 2, 2), ("padT", "padW", "padH"), VOLUME),
        (nn.SpatialMaxPooling(3, 3, 2, 2), (*WINDOW, "indices"), VOLUME),
        (cudnn.SpatialMaxPooling(3, 3, 2, 2), WINDOW, VOLUME),
        (cudnn.SpatialAveragePooling(3, 3, 2, 2), (*WINDOW, "count_include_pad", "divide"), VOLUME),
        (nn.VolumetricMaxPooling(3, 3, 3, 2, 2, 2), (*WINDOW, "padT", "indices"), VOLUME),
        (nn.VolumetricAveragePooling(3, 3, 3, 2, 2, 2), (*WINDOW, "padT"), VOLUME),
        (nn.Linear(4, 2, False), ("gradWeight",), VOLUME[0, 0]),
        (nn.SpatialBatchNormalization(4).evaluate(), ("affine", "gradWeight", "gradBias"), VOLUME),
        (nn.ReLU(), ("inplace",), VOLUME),
        (cudnn.ReLU(), ("inplace", "threshold", "val"), VOLUME),
        (cudnn.SoftMax(), ("algorithm", "mode"), VOLUME),
        (nn.Threshold(0.5, 2), ("inplace",), VOLUME),
        (nn.HardTanh(), ("inplace", "min_val", "max_val"), VOLUME),
        (nn.LeakyReLU(0.1), ("inplace",), VOLUME),
        (nn.ELU(), ("inplace",), VOLUME),
        (nn.MulConstant(3), ("inplace",), VOLUME),
        (nn.AddConstant(3), ("inplace",), VOLUME),
        (nn.Dropout(0.25).evaluate(), ("inplace", "noise", "stochastic_inference"), VOLUME),
        (nn.SpatialDropout(0.25).evaluate(), ("noise", "stochastic_inference"), VOLUME),
        (nn.View(2, 64), ("numElements", "numInputDims"), VOLUME),
        (nn.Reshape(2, 64), ("batchMode", "batchsize"), VOLUME),
        (nn.Replicate(3), ("dim", "ndim"), VOLUME),
        (nn.Sum(2), ("nInputDims", "sizeAverage", "squeeze"), VOLUME),
        (nn.Mean(2), ("nInputDims", "squeeze"), VOLUME),
        (nn.Max(2), ("nInputDims",), VOLUME),
        (nn.Min(2), ("nInputDims",), VOLUME),
        (nn.Concat(1).add(nn.Identity()).add(nn.Tanh()), ("outputSize",), VOLUME),
    ],
    ids=lambda value: value.typename if isinstance(value, nn.Module) else "",
)
def test_files_from_before_a_field_was_added(module: Any, missing: Any, input: Any) -> None:
    wanted = module.forward(input.clone())
    fields = module.t7_fields()
    for name in ("_type", "train" if module.train is not False else "", *missing):
        fields.pop(name, None)
    old = restored(module.typename, **fields)
    assert torch.equal(old.forward(input.clone()), wanted)
    assert repr(old) == repr(module)
    old.backward(input.clone(), torch.ones_like(wanted))
    assert [g.shape for g in old.parameters()[1]] == [p.shape for p in module.parameters()[0]]
    again = t7.loads(t7.dumps(old.clearState()))
    assert torch.equal(again.forward(input.clone()), wanted)


def test_old_lookup_tables_have_neither_padding_nor_norms() -> None:
    weight = torch.randn(4, 3)
    size = t7.Storage([4, 3], "torch.LongStorage")
    old = restored("nn.LookupTable", 3, weight=weight, size=size, inputs={}, gradWeight=weight * 0)
    assert torch.equal(old.forward(torch.tensor([2])), weight[1:2])
    assert (old.paddingValue, old.maxNorm) == (0, None)
    assert "size" not in vars(old)


def test_old_linear_layers_lose_their_buffers() -> None:
    old = restored(
        "nn.Linear", weight=torch.ones(2, 3), bias=torch.ones(2), addBuffer=torch.ones(5)
    )
    assert old.forward(torch.ones(3)).tolist() == [4, 4]
    assert "addBuffer" not in vars(old)
    assert old.gradWeight.shape == (2, 3)


def test_old_weight_norms_have_their_weight() -> None:
    new = nn.WeightNorm(nn.Linear(3, 2))
    fields = new.t7_fields()
    fields["weight"] = new.weight
    del fields["weightSize"]
    old = restored("nn.WeightNorm", **fields)
    input = torch.randn(4, 3)
    torch.testing.assert_close(old.forward(input), new.forward(input))


@pytest.mark.parametrize(
    ("criterion", "fields", "input", "target"),
    [
        (nn.ClassNLLCriterion(), {}, torch.ones(2, 3), torch.tensor([1, 2])),
        (nn.MultiMarginCriterion(), {"p": 1}, torch.ones(2, 3), torch.tensor([1, 2])),
        (nn.HingeEmbeddingCriterion(), {"margin": 1}, torch.zeros(2), torch.tensor([1, -1])),
        (nn.CosineEmbeddingCriterion(), {"margin": 0}, [torch.ones(2)] * 2, 1),
        (nn.BCECriterion(), {}, torch.rand(2), torch.rand(2)),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Criterion) else "",
)
def test_newer_fields_of_criterions_have_their_defaults(
    criterion: Any, fields: Any, input: Any, target: Any
) -> None:
    old = restored(criterion.typename, **fields)
    assert old.forward(input, target) == criterion.forward(input, target)


def test_old_cross_entropies_average_as_their_likelihood_does() -> None:
    nll = nn.ClassNLLCriterion(None, False)
    old = restored("nn.CrossEntropyCriterion", lsm=nn.LogSoftMax(), nll=nll)
    input, target = torch.randn(2, 3), torch.tensor([1, 3])
    wanted = nn.CrossEntropyCriterion(None, False).forward(input, target)
    assert old.forward(input, target) == wanted


def test_old_soft_margins_are_made_of_other_parts() -> None:
    weights = torch.tensor([1.0, 2, 3])
    parts = {"lsm": nn.Sigmoid(), "nll": nn.BCECriterion(weights)}
    old = restored("nn.MultiLabelSoftMarginCriterion", **parts)
    input, target = torch.randn(2, 3), torch.ones(2, 3)
    wanted = nn.MultiLabelSoftMarginCriterion(weights).forward(input, target)
    assert old.forward(input, target) == wanted
    assert set(old.__getstate__()) == {"_type", "output", "sigmoid", "sizeAverage", "weights"}


@pytest.mark.parametrize(
    "container",
    [nn.Sequential(), nn.Concat(2), nn.ConcatTable(), nn.ParallelTable()],
    ids=lambda container: container.typename,
)
def test_an_empty_container_can_be_added_to(container: Any) -> None:
    again = t7.loads(t7.dumps(container)).add(nn.Linear(2, 2))
    assert len(again) == 1


@pytest.mark.parametrize("criterion", [nn.MultiCriterion(), nn.ParallelCriterion()], ids=repr)
def test_empty_criterions_can_be_added_to(criterion: Any) -> None:
    again = t7.loads(t7.dumps(criterion)).add(nn.MSECriterion(), 0.5)
    assert again.weights == [0.5] and len(again.criterions) == 1


def test_what_was_frozen_stays_so_and_dropped_gradients_come_back() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    net.get(1).gradWeight = net.get(1).gradBias = None
    net.get(2).gradBias = None
    again = t7.loads(t7.dumps(net))
    assert [g is None for g in again.parameters()[1]] == [True, True, False, True]
    assert torch.equal(again.get(1).weight, net.get(1).weight)

    held = t7.loads(t7.dumps(net), raw=True)
    first, second = (layer.fields for layer in held.fields["modules"])
    assert first.pop("gradWeight") is first.pop("gradBias") is second.pop("gradBias") is False
    second.pop("gradWeight")
    assert all(g is not None for g in t7.loads(t7.dumps(held)).parameters()[1])


def _newer() -> list[Any]:
    """The recorded cases in which fields that came later are what they were before."""
    return [
        pytest.param(folder, name, case, id=f"{name}-{case}")
        for folder, key in (("nn", "module"), ("criterion", "criterion"))
        for name, case in case_names(folder)
        if (cls := getattr(nn, name)).newer_fields
        and (held := load_case(folder, name, case).get(key)) is not None
        and all(getattr(held, field) == getattr(cls, field) for field in cls.newer_fields)
    ]


@pytest.mark.parametrize(("folder", "name", "case_name"), _newer())
def test_recordings_without_what_came_later(folder: str, name: str, case_name: str) -> None:
    key = "module" if folder == "nn" else folder
    case = load_case(folder, name, case_name)
    held = load_case(folder, name, case_name, raw=True)[key]
    newer = type(case[key]).newer_fields
    dropped = {field: held.fields.pop(field, None) for field in newer}
    held.fields.pop("_type", None)
    old = t7.loads(t7.dumps(held))
    assert repr(old) == repr(case[key])
    arguments = [copied(case["input"])]
    if folder == "criterion":
        arguments.append(copied(case.get("target")))
    elif case["mode"] == "evaluate":
        old.evaluate()
    if "forwardSeed" in case:
        random.manualSeed(case["forwardSeed"])
    assert_close(old.forward(*arguments), expected(case, "output"), tolerance(case), "output")
    written = t7.loads(t7.dumps(old), raw=True).fields
    assert {field: written[field] for field in newer} == {
        field: getattr(type(old), field) if value is None else value
        for field, value in dropped.items()
    }


def old_cases() -> list[Any]:
    """Nets that Lua Torch7 saved after it had been made to forget what came later."""
    cases = t7.load(GOLDEN / "old_fields.t7")
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", old_cases())
def test_old_nets_compute_as_they_did(case: Any) -> None:
    for module in (copied(case["module"]), t7.loads(t7.dumps(case["module"]))):
        given, output = copied(case["input"]), copied(case["output"])
        assert {inner.type() for inner in module.listModules()} == {"torch.DoubleTensor"}
        assert_close(module.forward(given), output, 1e-9, "output")
        assert_close(module.backward(given, output), copied(case["gradInput"]), 1e-9, "gradInput")


@pytest.mark.parametrize("name", ["torch.DoubleTensor", "torch.FloatTensor"])
def test_what_tells_no_type_has_that_of_the_net_and_is_written_so(name: str) -> None:
    layers = [nn.View(2, 2), nn.Identity(), nn.Sequential(nn.View(4), nn.Copy(name, name))]
    net = nn.Sequential(nn.Linear(4, 4), *layers).type(name)
    held = t7.loads(t7.dumps(net), raw=True)
    view = held.fields["modules"][2]
    inner = held.fields["modules"][4].fields["modules"][1]
    for old in (view, inner):
        for field in ("_type", "output", "gradInput"):
            del old.fields[field]
    again = t7.loads(t7.dumps(held))
    assert {module.type() for module in again.listModules()} == {name}
    input = torch.randn(3, 4, dtype=CPU_TYPES[name])
    assert_close(again.forward(input), net.forward(input), 0, "output")
    fields = t7.loads(t7.dumps(again.clearState()), raw=True).fields["modules"][2].fields
    assert (fields["_type"], fields["output"].dtype) == (name, CPU_TYPES[name])


def test_a_net_that_tells_no_type_at_all_has_the_default() -> None:
    view = t7.TorchObject("nn.View", 1, {"size": t7.Storage([2], "torch.LongStorage")})
    net = restored("nn.Sequential", modules=[view])
    assert net.type() == net.get(1).type() == "torch.FloatTensor"
    assert net.double().get(1).type() == "torch.DoubleTensor"


@pytest.mark.parametrize(
    ("gradient", "told"),
    [
        (torch.ones(2, 3), "a torch.FloatTensor of size \\(2, 3\\)"),
        (torch.ones(2, 2).double(), "a torch.DoubleTensor of size \\(2, 2\\)"),
        ({"a": 1}, "a dict"),
    ],
    ids=["type", "shape", "table"],
)
def test_a_gradient_that_does_not_fit_its_parameter_is_made_anew(gradient: Any, told: str) -> None:
    fields = nn.Linear(3, 2).double().t7_fields() | {"gradWeight": gradient}
    message = f"nn.Linear has a gradWeight that is {told}, .* weight is a torch.DoubleTensor of "
    with pytest.warns(UserWarning, match=message):
        net = restored("nn.Linear", **fields)
    assert torch.equal(net.gradWeight, torch.zeros(2, 3).double())
    input = torch.randn(4, 3).double()
    net.backward(input, torch.ones_like(net.forward(input)))
    assert torch.equal(net.gradWeight, input.sum(0).expand(2, 3))


def test_gradients_that_were_left_out_are_zero() -> None:
    # As dpnn's lightSerial leaves them out.
    fields = nn.Linear(3, 2).double().t7_fields() | {"gradWeight": torch.ones(0).double()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = restored("nn.Linear", **fields)
    assert torch.equal(net.gradWeight, torch.zeros(2, 3).double())


def test_old_distances_have_their_parameters_once() -> None:
    new = nn.WeightedEuclidean(3, 2)
    fields = new.t7_fields()
    fields["templates"], fields["gradTemplates"] = fields.pop("weight"), fields.pop("gradWeight")
    fields["bias"], fields["gradBias"] = fields["diagCov"], fields["gradDiagCov"]
    old = restored("nn.WeightedEuclidean", **fields)
    assert len(old.parameters()[0]) == len(new.parameters()[0]) == 2
    input = torch.randn(4, 3)
    assert torch.equal(old.forward(input), new.forward(input))
    assert old.t7_fields().keys() & {"weight", "diagCov", "templates", "bias"} == {
        *("weight", "diagCov")
    }


def test_the_first_soft_margins_average_as_their_parts_do() -> None:
    parts = {"lsm": nn.Sigmoid(), "nll": nn.BCECriterion(None, False)}
    old = restored("nn.MultiLabelSoftMarginCriterion", **parts)
    input, target = torch.randn(2, 3), torch.ones(2, 3)
    wanted = nn.MultiLabelSoftMarginCriterion(None, False).forward(input, target)
    assert old.forward(input, target) == pytest.approx(wanted)


def test_a_cleared_seqlstm_of_torch7_goes_back() -> None:
    fields = nn.SeqLSTM(3, 2).t7_fields()
    del fields["gradInput"]
    old, input = restored("nn.SeqLSTM", **fields), torch.randn(4, 2, 3)
    assert old.backward(input, torch.ones_like(old.forward(input))).shape == input.shape
