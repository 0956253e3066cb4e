"""Files whose objects would be harmful to restore, though they are well-formed."""

from __future__ import annotations

import io
from collections.abc import Generator
from typing import Any

import pytest
import torch

from compat import nn, t7
from dptable import DataParallelTable

HUGE = 1 << 40
WINDOW = {"nInputPlane": 1, "nOutputPlane": 2, "kW": 2, "kH": 2, "dW": 2, "dH": 2}


def restored(typename: str, version: int = 1, **fields: Any) -> Any:
    """The object that a file with these fields gives."""
    return t7.loads(t7.dumps(t7.TorchObject(typename, version, fields)))


def expanded(*sizes: int) -> torch.Tensor:
    return torch.ones(1).expand(*sizes)


def test_the_gradient_of_a_parameter_takes_no_more_than_the_parameter() -> None:
    module = restored("nn.Linear", weight=expanded(HUGE, 4), bias=expanded(HUGE))
    for parameter, gradient in zip(*module.parameters(), strict=True):
        assert gradient.shape == parameter.shape
        assert gradient.untyped_storage().nbytes() == 4


def test_gradients_are_shared_as_the_parameters_are() -> None:
    flat = torch.arange(6.0)
    fields = [{"weight": flat[:4].view(2, 2)}, {"weight": flat[:4].view(2, 2), "bias": flat[4:]}]
    data = t7.dumps([t7.TorchObject("nn.Linear", 1, each) for each in fields])
    first, second = t7.loads(data)
    first.gradWeight.fill_(3)
    assert torch.equal(second.gradWeight, torch.full((2, 2), 3.0))
    assert torch.equal(second.gradBias, torch.zeros(2))
    parameters, gradients = nn.Sequential(first, second).getParameters()
    assert torch.equal(parameters, flat) and len(gradients) == 6
    other, _ = t7.loads(data)
    assert torch.equal(other.gradWeight, torch.zeros(2, 2)), "every reading has its own"


def test_many_modules_of_one_parameter_take_it_once() -> None:
    weight = torch.zeros(1000, 100)
    clones = [t7.TorchObject("nn.Linear", 1, {"weight": weight}) for _ in range(100)]
    loaded = t7.loads(t7.dumps(clones))
    assert len({module.gradWeight.data_ptr() for module in loaded}) == 1


@pytest.mark.parametrize(
    ("typename", "fields"),
    [
        ("nn.SpatialBatchNormalization", {"running_std": expanded(HUGE), "eps": 0.1}),
        ("nn.SpatialMaxPooling", {**WINDOW, "indices": expanded(HUGE)}),
        ("nn.VolumetricFullConvolution", {"weight": expanded(HUGE, 2, 3, 3, 3)}),
        ("nn.WeightNorm", {"weightSize": [HUGE, 4], "v": expanded(4, 4), "g": expanded(4, 1)}),
        ("nn.WeightNorm", {"weightSize": [4, 4], "v": expanded(HUGE, 4), "g": expanded(HUGE, 1)}),
        ("nn.SpatialConvolution", {**WINDOW, "groups": expanded(HUGE)}),
        ("nn.Reshape", {"size": expanded(HUGE)}),
        ("nn.Linear", {"weight": expanded(HUGE, 4), "gradWeight": expanded(HUGE, 2, 2)}),
        ("optim.ConfusionMatrix", {"nclasses": 1 << 20}),
    ],
    ids=str,
)
def test_what_would_take_too_much_memory_is_refused(typename: str, fields: dict[str, Any]) -> None:
    if typename == "nn.WeightNorm":
        fields = {**fields, "outputDim": 1, "modules": [nn.Linear(4, 4)]}
        fields["modules"][0].weight = None
    with pytest.raises(t7.T7Error, match="bytes more, expected at most"):
        restored(typename, **fields)


@pytest.mark.parametrize("name", ["kW", "dH", "padW", "nInputPlane"])
def test_what_is_no_number_is_named(name: str) -> None:
    fields = t7.loads(t7.dumps(nn.SpatialConvolution(1, 1, 2, 2)), raw=True).fields
    with pytest.raises(t7.T7Error, match=f"{name} is 'x'; a number is accepted"):
        restored("nn.SpatialConvolution", **fields | {name: "x"})


def test_what_a_class_says_is_cut_short() -> None:
    with pytest.raises(t7.T7Error, match=r"_type is \[0, 1, 2, .*\.\.\.") as caught:
        restored("nn.Linear", _type=list(range(100_000)))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("modules", [expanded(HUGE), 3, "x", {"a": 1}], ids=str)
def test_what_is_no_list_of_modules_is_named(modules: Any) -> None:
    with pytest.raises(t7.T7Error, match=r"modules is an? \w+; a table"):
        restored("nn.Sequential", modules=modules)


def test_results_of_expansion_are_kept() -> None:
    module = restored("nn.Replicate", output=expanded(HUGE), mask=expanded(HUGE, 2))
    assert module.output.shape == (HUGE,) and module.mask.shape == (HUGE, 2)


def test_a_table_that_many_objects_have_as_theirs_is_not_copied_without_end() -> None:
    class Many:
        pass

    def read(obj: Many, version: float) -> Generator[Any, Any, None]:
        obj.fields = yield t7.FIELDS

    def write(obj: Many) -> Generator[Any, None, None]:
        yield t7.OBJECT, shared

    shared = {str(i): i for i in range(2000)}
    t7.register("my.Many", Many, read=read, write=write)
    assert len(t7.loads(t7.dumps([Many() for _ in range(3)]))) == 3
    with pytest.raises(t7.T7Error, match="bytes more"):
        t7.loads(t7.dumps([Many() for _ in range(5000)]))


def test_a_graph_that_many_modules_have_as_theirs_is_not_copied_without_end() -> None:
    node = nn.Identity()()
    for _ in range(200):
        node = nn.Identity()(node)
    fields = t7.loads(t7.dumps(graph_of(node)), raw=True).fields
    few, many = (
        [t7.TorchObject("nn.gModule", 1, dict(fields)) for _ in range(n)] for n in (2, 500)
    )
    first, second = t7.loads(t7.dumps(few))
    assert len(first.modules) == len(second.modules) == 201
    with pytest.raises(t7.T7Error, match="bytes more"):
        t7.loads(t7.dumps(many))


def graph_of(last: Any) -> nn.gModule:
    first = last
    while first.children:
        [first] = first.children
    return nn.gModule([first], [last])


def test_containers_that_hold_each_other_twice_are_not_walked_through_without_end() -> None:
    net: Any = t7.TorchObject("nn.Linear", 1, {"weight": torch.ones(2, 2)})
    for _ in range(60):
        net = t7.TorchObject("nn.Sequential", 1, {"modules": [net, net]})
    fields = {"modules": [net], "flattenedParams": [[torch.ones(4), torch.zeros(4)]]}
    with pytest.raises(t7.T7Error, match="bytes more"):
        t7.loads(t7.dumps(t7.TorchObject("nn.DataParallelTable", 3, fields, [[1]])))


def test_everything_is_granted_outside_a_reading() -> None:
    t7.claim(1 << 60)
    assert torch.equal(t7.zeros_like(torch.ones(2)), torch.zeros(2))


def cyclic() -> Any:
    module = nn.Linear(2, 2)
    table: list[Any] = [torch.ones(2), {"more": (torch.zeros(1),)}]
    table[1]["up"] = table
    module.notes = table
    module.itself = module
    return t7.loads(t7.dumps(nn.Sequential(module)))


def test_a_table_in_a_field_may_contain_itself() -> None:
    net = cyclic().double()
    [module] = net.modules
    assert module.notes[1]["up"] is module.notes and module.itself is module
    assert module.notes[0].dtype == module.notes[1]["more"][0].dtype == torch.float64
    clone = net.float().clearState().clone().modules[0]
    assert clone.notes[1]["up"] is clone.notes is not module.notes
    again = t7.loads(t7.dumps(clone))
    assert again.notes[1]["up"] is again.notes and again.itself is again
    assert len(list(t7.inspect(io.BytesIO(t7.dumps(net))))) > 10


def test_tables_that_hold_each_other_twice_are_walked_through_once() -> None:
    table: Any = [torch.ones(1)]
    for _ in range(100):
        table = [table, table]
    module = nn.Identity()
    module.notes = table
    again = t7.loads(t7.dumps(module)).double()
    for _ in range(100):
        assert again.notes[0] is again.notes[1]
        again.notes = again.notes[0]
    assert again.notes[0].dtype == torch.float64


def test_assignments_are_numbers() -> None:
    fields = {"modules": [nn.Linear(2, 2)]}
    for assignments in ([1, expanded(HUGE)], expanded(HUGE), ["1"], [1.5]):
        container = t7.TorchObject("nn.DataParallelTable", 3, fields, [assignments])
        with pytest.raises(t7.T7Error, match="DataParallelTable cannot be made of"):
            t7.loads(t7.dumps(container))


def test_a_container_may_hold_itself() -> None:
    container: Any = DataParallelTable(1).add(nn.Linear(2, 2), [1])
    container.modules[0].above = container
    again = t7.loads(t7.dumps(container)).double()
    assert again.modules[0].above is again
    assert again.modules[0].weight.dtype == torch.float64


@pytest.mark.parametrize("name", ["torch.FlotTensor", "", 3, ["torch.FloatTensor"], b"\xff"])
@pytest.mark.parametrize("typename", ["nn.Linear", "nn.MSECriterion", "cudnn.ReLU"])
def test_a_damaged_type_is_refused(typename: str, name: Any) -> None:
    with pytest.raises(t7.T7Error, match=r"_type is .*accepted"):
        restored(typename, _type=name)
    container = t7.TorchObject("nn.DataParallelTable", 3, {"typeStr": name}, [[1]])
    with pytest.raises(t7.T7Error, match="typeStr is"):
        t7.loads(t7.dumps(container))


def test_a_type_that_is_missing_is_that_of_the_tensors() -> None:
    assert restored("nn.Linear", weight=torch.zeros(2, 2).double()).type() == "torch.DoubleTensor"
