"""Modules and criterions of classes that nobody has registered: kept, wherever they are in nets."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.t7_same import assert_same

from compat import nn, t7
from dptable import DataParallelTable

LAYER = {"gradInput": torch.empty(0), "output": torch.empty(0), "_type": "torch.FloatTensor"}


def foreign(**fields: Any) -> t7.TorchObject:
    return t7.TorchObject("my.Layer", 2, fields)


def raw(value: Any) -> Any:
    return t7.loads(t7.dumps(value), raw=True)


def sequential(layer: t7.TorchObject) -> Any:
    net = raw(nn.Sequential(nn.Linear(2, 3), nn.Tanh()))
    net["modules"][2] = layer
    return net


def graph(layer: t7.TorchObject) -> Any:
    x = nn.Identity()()
    net = raw(nn.gModule([x], [nn.Tanh()(nn.Linear(2, 3)(x))]))
    for node in net["forwardnodes"]:
        module = node["data"].get("module")
        if module is not None and module.typename == "nn.Tanh":
            node["data"]["module"] = layer
    net["modules"][3] = layer
    return net


def parallel(layer: t7.TorchObject) -> Any:
    net = raw(DataParallelTable(1).add(nn.Sequential(nn.Linear(2, 3), nn.Tanh()), [1]))
    net["modules"][1]["modules"][2] = layer
    return net


def decorator(layer: t7.TorchObject) -> Any:
    net = raw(nn.Sequential(nn.Linear(2, 3), nn.Sequencer(nn.FastLSTM(2, 2))))
    net["modules"][2] = raw(nn.Bottle(nn.Tanh()))
    net["modules"][2]["modules"][1] = layer
    return net


NETS = pytest.mark.parametrize("build", [sequential, graph, parallel, decorator])
FIELDS = pytest.mark.parametrize(
    "fields", [{}, {"size": 3}, LAYER, {"_type": "torch.DoubleTensor", 1: "x"}], ids=str
)


@NETS
@FIELDS
def test_a_net_around_an_unknown_module_does_all_but_compute(
    build: Callable[[Any], Any], fields: dict[Any, Any]
) -> None:
    weights = {"weight": torch.ones(2), "gradWeight": torch.zeros(2)}
    layer = t7.TorchObject("my.Layer", 2, fields | weights | {"note": [1, {"a": True}]})
    stored = build(layer)
    net = t7.loads(t7.dumps(stored))
    (unknown,) = net.findModules("my.Layer")[0]
    assert type(unknown) is nn.Unknown and unknown.version == 2
    assert_same(unknown.fields, layer.fields)
    assert unknown.note[2].a is True
    assert isinstance(repr(net), str) and repr(unknown) == "my.Layer (a class not known here)"
    weights, gradients = net.parameters()
    assert len(weights) == 3 and weights[2] is unknown.weight
    assert gradients[2] is unknown.gradWeight is unknown.weight.grad
    with pytest.raises(NotImplementedError, match=r"\] my\.Layer .*the class my\.Layer; define a"):
        net.forward(torch.ones(2, 2))
    for again in (t7.loads(t7.dumps(net)), net.clone(), pickle.loads(pickle.dumps(net))):
        (copy,) = again.findModules("my.Layer")[0]
        assert_same(copy.fields, layer.fields)
        assert copy.weight.grad is copy.gradWeight and copy.weight is not unknown.weight
    net.double().zeroGradParameters().evaluate().clearState()
    assert unknown.weight.dtype == unknown.gradWeight.dtype == torch.float64
    flat, _ = net.getParameters()
    flat.fill_(7)
    assert unknown.weight.tolist() == [7, 7]


@FIELDS
def test_it_is_saved_as_it_was_read(fields: dict[Any, Any]) -> None:
    data = t7.dumps(t7.TorchObject("my.Layer", 2, fields))
    assert t7.dumps(t7.loads(data)) == data
    stored = sequential(t7.TorchObject("my.Layer", 2, fields))
    again = raw(t7.loads(t7.dumps(stored)))
    assert_same(again["modules"][2], stored["modules"][2])


def test_objects_outside_of_nets_stay_objects() -> None:
    thing, module = t7.loads(t7.dumps([foreign(size=3), foreign(**LAYER)]))
    assert type(thing) is t7.TorchObject and thing.size == 3
    assert type(module) is nn.Unknown
    assert type(t7.loads(t7.dumps(module), raw=True)) is t7.TorchObject
    with pytest.raises(t7.T7Error, match=r"my\.Layer"):
        t7.loads(t7.dumps(module), unknown="error")


def test_modules_inside_are_children() -> None:
    inner = nn.Linear(2, 3)
    for layer in (foreign(parts={"a": [inner]}), foreign(modules=[inner])):
        net = t7.loads(t7.dumps(sequential(layer)))
        child = net.get(2).get(1)
        assert type(child) is nn.Linear and len(net.parameters()[0]) == 4
        assert "nn.Linear(2 -> 3)" in repr(net)
        net.replace(lambda m: nn.Identity() if type(m) is nn.Linear else m)
        assert [type(m) for m in net.listModules()[1:]] == [nn.Identity, nn.Unknown, nn.Identity]
        assert net.get(2).add(nn.Tanh()).get(-1).typename == "nn.Tanh"


def test_an_unknown_container_holds_unknown_modules() -> None:
    nested = foreign(modules=[t7.TorchObject("my.Inner", 1, {"size": 1})])
    net = t7.loads(t7.dumps(sequential(nested)))
    assert type(net.get(2).get(1)) is nn.Unknown and net.findModules("my.Inner")[0]


def test_a_branch_per_gpu_is_kept_before_the_fields() -> None:
    branches = [[1, 2], nn.Linear(2, 3), nn.Linear(2, 3)]
    table = t7.TorchObject("nn.ModelParallelTable", 2, {**LAYER, "dimension": 2}, branches)
    for net in (t7.loads(t7.dumps(table)), t7.loads(t7.dumps(sequential(table))).get(2)):
        assert type(net) is nn.Unknown and len(net.parameters()[0]) == 4
        again = t7.loads(t7.dumps(net))
        assert again.preamble[0] == [1, 2] and again.dimension == 2
        net.replace(lambda m: nn.Identity() if type(m) is nn.Linear else m)
        assert [type(m) for m in net.children()] == [nn.Identity] * 2


def test_a_module_that_knows_its_container() -> None:
    layer = foreign(width=1)
    stored = sequential(layer)
    layer.fields["parent"] = stored
    for first in (stored, layer):
        loaded = t7.loads(t7.dumps(first))
        net = loaded if first is stored else loaded.parent
        unknown = net.get(2)
        assert type(unknown) is nn.Unknown and unknown.parent is net and unknown.width == 1
        assert unknown.children() == [] and len(net.double().parameters()[0]) == 2


@pytest.mark.parametrize("field", ["criterions", "criterion"])
def test_unknown_criterions(field: str) -> None:
    loss = t7.TorchObject("my.Loss", 1, {"weight": torch.ones(2), "gradInput": torch.ones(2)})
    if field == "criterions":
        stored = raw(nn.ParallelCriterion().add(nn.MSECriterion(), 0.5))
        stored["criterions"][1] = loss
    else:
        stored = raw(nn.ModuleCriterion(nn.MSECriterion()))
        stored.fields["criterion"] = loss
    found = t7.loads(t7.dumps(stored))
    held = getattr(found, field)
    unknown = held[0] if field == "criterions" else held
    assert type(unknown) is nn.UnknownCriterion and str(found)
    assert found.double() and unknown.weight.dtype == torch.float64
    assert_same(raw(found).get(field), raw(t7.loads(t7.dumps(stored)).double()).get(field))
    value = [torch.ones(2).double()] if field == "criterions" else torch.ones(2).double()
    with pytest.raises(NotImplementedError, match=r"my\.Loss.*class Loss\(nn\.Criterion\)"):
        found.forward(value, value)
    with pytest.raises(ValueError, match=r"cannot be converted.*t7\.register\(\"my\.Loss\"\)"):
        unknown.to_torch()


def test_the_way_to_torch_tells_what_to_do() -> None:
    found = t7.loads(t7.dumps(sequential(t7.TorchObject("my.Layer", 1, {}))))
    with pytest.raises(ValueError, match=r"\[\d\] my\.Layer.*: cannot .*t7\.register\(\"my\.L"):
        found.to_torch()


def test_a_class_of_ones_own_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    from compat.t7.objects import registry

    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    monkeypatch.setattr(registry, "_by_class", dict(registry._by_class))
    stored = sequential(foreign(factor=3))

    @t7.register("my.Layer")
    class Layer(nn.Module):
        factor: float

        def compute(self, input: Any) -> Any:
            return input * self.factor

    net = t7.loads(t7.dumps(stored))
    assert torch.equal(net.forward(torch.ones(1, 2)), net.get(1).output * 3)
    assert b"my.Layer" in t7.dumps(net)


def test_own_classes_have_their_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    from compat.t7.objects import registry

    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    monkeypatch.setattr(registry, "_by_class", dict(registry._by_class))

    class LSTM(nn.Module):
        pass

    class Named(nn.Module, typename="my.Named"):
        pass

    class TLSTM(nn.Module):
        hidden: int

    t7.register("nn.LSTM", TLSTM, fits=lambda fields: "hidden" in fields)
    names = [LSTM.typename, Named.typename, TLSTM.typename]
    assert names == ["LSTM", "my.Named", "nn.LSTM"]
    for cls in (LSTM, Named, TLSTM):
        module = cls()
        module.hidden = 3
        assert type(t7.loads(t7.dumps(module))) is cls
        assert raw(module).typename == cls.typename
    assert type(t7.loads(t7.dumps(nn.LSTM(2, 3)))) is nn.LSTM
    with pytest.raises(ValueError, match="fits is given together with read"):
        t7.register("nn.LSTM", TLSTM, fits=bool, read=lambda obj, version: iter(()))  # type: ignore


def test_an_unknown_criterion_is_copied() -> None:
    fields = {"sizeAverage": True, "output": 0, "gradInput": torch.empty(0)}
    unknown = t7.TorchObject("my.Criterion", 1, fields)
    both = t7.loads(t7.dumps(nn.ParallelCriterion().add(nn.MSECriterion())))
    both.criterions.append(t7.loads(t7.dumps(unknown)))
    again = t7.loads(t7.dumps(both))
    for copied in (again.clone(), copy.deepcopy(again), pickle.loads(pickle.dumps(again))):
        assert copied.criterions[1].sizeAverage is True
        assert type(copied.criterions[1]) is nn.UnknownCriterion
