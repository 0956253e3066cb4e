"""The walk through a value: what is told, in which order, once, and how much."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from compat import nn, t7
from compat.viewer import Limits
from compat.viewer.walk import Walk
from dptable.container.files import only_kept


class Told:
    """What the walk told, as a page reads it."""

    def __init__(self, value: Any, **limits: int) -> None:
        self.data = json.loads(json.dumps(Walk(value, Limits(**limits)).data(), allow_nan=False))
        self.rows = [self.data["rows"][row] for row in self.data["nodes"]]
        self.looks = [self.data["looks"][row[0]] for row in self.rows]
        self.first, after = [], 1
        for row in self.rows:
            self.first.append(after)
            after += row[1]
        assert after == len(self.rows)

    def below(self, item: int) -> list[int]:
        return list(range(self.first[item], self.first[item] + self.rows[item][1]))

    def find(self, *names: str) -> int:
        """The item at the end of a way of names; those in order are numbers."""
        item = 0
        for name in names:
            called = {
                self.looks[i].get("name", str(n)): i for n, i in enumerate(self.below(item), 1)
            }
            item = called[name]
        return item

    def look(self, *names: str) -> dict[str, Any]:
        return self.looks[self.find(*names)]


def test_a_net_is_told_module_by_module() -> None:
    told = Told({"net": nn.Sequential(nn.SpatialConvolution(3, 4, 5, 5), nn.ReLU()), "epoch": 3})
    assert told.looks[0]["fields"] == [["epoch", "3"]]
    assert told.look("net")["flow"] == "chain" and told.look("net")["modules"] == 2
    convolution = told.look("net", "1")
    assert (convolution["kind"], convolution["text"]) == ("nn.SpatialConvolution", "3 -> 4, 5x5")
    assert ["nInputPlane", "3"] in convolution["fields"]
    assert [t["name"] for t in convolution["tensors"]] == ["weight", "bias"]
    assert told.rows[0][3:] == [304, 304 * 4]


def test_what_is_in_several_places_is_told_in_the_first_nearest_the_top() -> None:
    layer, table = nn.Linear(3, 2), {"a": {"b": 1}}
    told = Told(
        {
            "deep": {"deeper": layer},
            "net": nn.Sequential(layer, nn.Tanh(), layer),
            "x": table,
            "y": table,
        }
    )
    home = told.find("deep", "deeper")
    assert "same" not in told.looks[home] and told.looks[home]["tensors"]
    assert told.look("net", "1")["same"] == told.look("net", "3")["same"] == home
    assert told.look("y")["same"] == told.find("x") and told.below(told.find("y")) == []
    assert told.rows[0][3] == 8


def test_cycles_end() -> None:
    table: dict[str, Any] = {"a": [1.5, 2, 3]}
    table["self"] = table
    node = t7.TorchObject("own.Node", 1, {})
    node.fields["next"] = t7.TorchObject("own.Node", 1, {"next": node})
    told = Told({"table": table, "node": node})
    assert told.look("table", "self")["same"] == told.find("table")
    assert told.look("node", "next", "next")["same"] == told.find("node")


def test_shared_memory_is_counted_once() -> None:
    net = nn.Sequential(nn.Linear(3, 2, False), nn.Linear(3, 2, False))
    net.modules[1].share(net.modules[0], "weight")
    assert Told(net).rows[0][3:] == [6, 24]


def test_equal_looks_are_kept_once() -> None:
    data = Told(nn.Sequential(*(nn.Identity() for _ in range(1000)))).data
    assert len(data["looks"]) == len(data["rows"]) == 2 and len(data["nodes"]) == 1001


def test_a_deep_net_is_no_recursion() -> None:
    net: Any = nn.Linear(2, 2)
    for _ in range(5000):
        net = nn.Sequential(net)
    told = Told(net)
    assert len(told.rows) == 5001 and told.rows[0][3] == 6
    assert "2,000 modules" in told.looks[0]["reason"]


def test_graphs_tell_their_steps_and_names() -> None:
    x, y = nn.Identity()(), nn.Identity()()
    sum = nn.CAddTable()([nn.Linear(4, 3)(x).annotate({"name": "left"}), nn.Linear(5, 3)(y)])
    net = nn.gModule([x, y], [nn.Tanh()(sum), sum])
    look = Told(net).looks[0]
    assert look["flow"] == "graph" and look["modules"] == 6
    labels = [step[1] for step in look["steps"] if step[0] < 0]
    assert labels == ["input", "entries", "entry 1", "entry 2", "output"]
    assert sorted(step[0] for step in look["steps"] if step[0] >= 0) == list(range(6))
    assert [step[2] for step in look["steps"]] == [step.sources for step in net.steps]
    told = Told(net)
    named = [told.looks[i] for i in told.below(0) if "label" in told.looks[i]]
    assert [(one["kind"], one["label"]) for one in named] == [("nn.Linear", "left")]


@pytest.mark.parametrize(
    ("container", "flow"),
    [(nn.Concat(2), "branches"), (nn.ConcatTable(), "branches"), (nn.ParallelTable(), "branches")],
)
def test_branches_are_told_apart_from_chains(container: Any, flow: str) -> None:
    container.add(nn.Linear(2, 2)).add(nn.Linear(2, 2))
    assert Told(container).looks[0]["flow"] == flow


def test_unknown_modules_are_told_with_their_modules() -> None:
    fields = {"_type": "torch.FloatTensor", "modules": [nn.Linear(2, 2)], "rate": 0.5}
    net = nn.Sequential(nn.Identity())
    data = t7.dumps({"net": t7.TorchObject("my.Own", 1, {**fields, "gradInput": torch.zeros(2)})})
    told = Told(t7.loads(data))
    assert told.look("net")["flow"] == "loose" and ["rate", "0.5"] in told.look("net")["fields"]
    assert told.look("net", "1")["kind"] == "nn.Linear"
    assert told.rows[0][3] == 6 and net is not None


def test_training_state_is_a_table_and_curves() -> None:
    state = {
        "optimState": {"learningRate": 0.1, "nesterov": True, "method": "sgd", "sizes": [3, 4]},
        "losses": [3.5, 2.25, 2.0],
        "validation": {1000: 2.5, 2000: 2.0, 3000: float("nan")},
        "vocabulary": {"a": 1, "b": 2},
        "log": [{"epoch": i, "loss": 1 / i, "note": "ok"} for i in range(2, 6)],
    }
    told = Told(state)
    assert told.look("optimState")["fields"] == [
        ["learningRate", "0.1"],
        ["nesterov", "true"],
        ["method", "'sgd'"],
        ["sizes", "{3, 4}"],
    ]
    assert told.look("losses")["curve"] == {"x": [1, 2, 3], "y": [3.5, 2.25, 2.0], "count": 3}
    assert told.look("validation")["curve"]["x"] == [1000, 2000, 3000]
    assert told.look("validation")["curve"]["y"][2] is None
    assert "curve" not in told.look("vocabulary")
    log = told.look("log")["records"]
    assert log["columns"] == ["epoch", "loss", "note"] and log["rows"][0] == ["2", "0.5", "'ok'"]
    [loss] = log["curves"]
    assert loss["name"] == "loss" and loss["x"] == [2, 3, 4, 5]
    assert told.below(told.find("log")) == []


def test_functions_objects_and_storages_are_told() -> None:
    function = t7.LuaFunction(b"code", {1: {"name": "rate", "value": [1.0, 2.0, 4.5]}})
    object = t7.TorchObject("my.Class", 2, {"size": t7.Storage([2, 3]), "rate": 1})
    told = Told({"f": function, "o": object, "s": t7.Storage(list(range(100)))})
    assert told.look("f", "upvalues", "1", "value")["curve"]["y"] == [1, 2, 4.5]
    assert told.look("o")["kind"] == "my.Class"
    assert told.look("o")["fields"] == [["rate", "1"], ["size", "{2, 3}"]]
    assert told.look("s")["tensors"][0]["sizes"] == "100"


def test_what_passes_leave_is_not_told_but_results_in_the_file_are() -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    net.forward(torch.ones(4, 3))
    net.backward(torch.ones(4, 3), torch.ones(4, 2))
    names = [field[0] for field in Told(net).look("1")["fields"]]
    assert {"output", "gradInput"} <= set(names) and "gradWeight" not in names
    assert "fields" not in Told(net.clearState()).look("1")


def test_there_is_room_for_what_is_nearest_the_top() -> None:
    value = [[{"deep": [i + 0.5] * 9, "name": str(i)} for i in range(1000)], nn.Linear(30, 30)]
    told = Told(value, items=20_000)
    assert len(json.dumps(told.data)) < 60_000
    assert told.look("2")["kind"] == "nn.Linear"
    assert sum(row[1] + row[2] for row in told.rows[:2]) == 1002
    assert told.data["leftOut"]["items"] == sum(row[2] for row in told.rows) > 0
    assert told.rows[0][3:] == [930, 930 * 4]


def test_what_there_is_no_room_for_is_counted() -> None:
    layer = nn.Linear(20, 20)
    deep = {"a": [nn.Sequential(layer, nn.Linear(20, 20)), layer, {"b": torch.ones(100)}]}
    told = Told(
        {"n" * 100 + str(i): deep if i == 90 else {"x": [{}] * i} for i in range(99)}, items=5000
    )
    assert all(row[1] == 0 for row in told.rows[1:])
    assert told.rows[0][3:] == [840, (840 + 100) * 4]


def test_there_is_room_for_few_statistics() -> None:
    told = Told(nn.Sequential(*(nn.Linear(9, 9) for _ in range(50))), numbers=1000)
    assert 0 < sum("counts" in t for look in told.looks for t in look.get("tensors", ())) < 10
    assert told.data["leftOut"]["numbers"] > 80
    assert told.look("50")["tensors"][0]["sizes"] == "9×9"


def test_every_recording_is_told(golden: Any) -> None:
    files = [*(golden / "format").glob("*.t7"), *(golden / "dpt").glob("*.t7")]
    with only_kept():
        for path in files:
            if not path.name.startswith(("class_custom", "variant_")):
                Told(t7.load(path, map_location="cpu"))
    assert len(files) > 100
