"""nn.gModule: nets given as graphs, made here and read from files."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import compat.nn as nn
from compat import nngraph, random, t7
from compat.t7 import Key, TorchObject
from compat.tensor_tables import map_tensors, tensors


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(1)
    random.manualSeed(1)


def check(net: Any, reference: Callable[[Any], Any], input: Any) -> None:
    """Output and gradients of ``net`` are those of ``reference``, a PyTorch function."""
    weights = net.parameters()[0]
    leaves = map_tensors(lambda t: t.detach().requires_grad_(), input)
    for weight in weights:
        weight.requires_grad_(True)
    output = reference(leaves)
    gradOutput = map_tensors(torch.rand_like, output)
    sources = [*tensors(leaves), *dict.fromkeys(weights)]
    expected = torch.autograd.grad(
        list(tensors(output)), sources, list(tensors(gradOutput)), allow_unused=True
    )
    for weight in weights:
        weight.requires_grad_(False)

    net.zeroGradParameters()
    assert_same(net.forward(input), output)
    found = list(tensors(net.backward(input, gradOutput)))
    found += [w.grad for w in dict.fromkeys(weights)]
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, torch.zeros_like(a) if b is None else b)


def assert_same(value: Any, other: Any) -> None:
    torch.testing.assert_close(
        list(tensors(value)), [t.detach() for t in tensors(other)], rtol=1e-6, atol=1e-6
    )
    assert isinstance(value, list) == isinstance(other, (list, tuple))


def linear(module: nn.Linear, input: Tensor) -> Tensor:
    return torch.nn.functional.linear(input, module.weight, module.bias)


def two_towers() -> tuple[Any, Callable[[Any], Any], Any]:
    """The second example of nngraph's manual, and what it computes."""
    a, b, c, d = nn.Linear(20, 20), nn.Linear(10, 10), nn.Linear(20, 1), nn.Linear(10, 1)
    x1, x2 = a(), b()
    sum = nn.CAddTable()([c(nn.Tanh()(x1)), d(nn.Tanh()(x2))])
    net = nn.gModule([x1, x2], [nn.Sigmoid()(sum), nn.Tanh()(sum)])

    def reference(input: Any) -> Any:
        first = linear(c, linear(a, input[0]).tanh())
        total = first + linear(d, linear(b, input[1]).tanh())
        return total.sigmoid(), total.tanh()

    return net, reference, [torch.rand(3, 20), torch.rand(3, 10)]


def test_a_node_comes_from_calling_a_module_with_nodes_or_nothing() -> None:
    x = nn.Identity()()
    y = nn.Linear(4, 3)(x)
    assert isinstance(x, nngraph.Node) and x.children == []
    assert y.children == [x] and isinstance(y.data["module"], nn.Linear)
    assert nn.CAddTable()([x, y]).children == [x, y]
    assert isinstance(nn.Identity()(torch.ones(2)), Tensor)


def test_several_inputs_and_outputs() -> None:
    check(*two_towers())


def test_a_chain_of_joined_tables() -> None:
    layers = [nn.Linear(1, 2), nn.Linear(3, 6), nn.Linear(8, 16)]
    x = nn.Identity()()
    one = nn.Tanh()(layers[0](x))
    two = nn.Tanh()(layers[1](nn.JoinTable(2)([x, one])))
    three = nn.Tanh()(layers[2](nn.JoinTable(2)([one, two])))

    def reference(x: Any) -> Any:
        one = linear(layers[0], x).tanh()
        two = linear(layers[1], torch.cat([x, one], 1)).tanh()
        return linear(layers[2], torch.cat([one, two], 1)).tanh()

    check(nn.gModule([x], [three]), reference, torch.rand(5, 1))


def test_a_split_input_and_one_used_whole_and_in_parts() -> None:
    x, state = nn.Identity()(), nn.Identity()()
    h, cell = state.split(2)
    again = nn.Identity()(state)
    net = nn.gModule([x, state], [nn.CMulTable()([x, h, cell]), again, nn.Sigmoid()(cell)])

    def reference(input: Any) -> Any:
        x, (h, cell) = input
        return x * h * cell, [h, cell], cell.sigmoid()

    check(net, reference, [torch.rand(3), [torch.rand(3), torch.rand(3)]])


def test_outputs_may_be_inputs_and_parts_of_a_split() -> None:
    x = nn.Sigmoid()()
    first, second = nn.SplitTable(1)([x]).split(2)
    check(
        nn.gModule([x], [x, first, second]),
        lambda x: (x.sigmoid(), x[0].sigmoid(), x[1].sigmoid()),
        torch.rand(2, 3),
    )


def test_a_table_of_one_stays_a_table() -> None:
    x = nn.Identity()()
    net = nn.gModule([x], [nn.Identity()(x)])
    one = torch.ones(1)
    assert_same(net.forward(one), one)
    assert_same(net.forward([one]), [one])


def test_nest_split_of_one_and_a_criterion() -> None:
    x, y = nn.Identity()(), nn.Identity()()
    nested = nngraph.nest([x, [y]])
    left, right = nested.split(2)
    loss = nn.ModuleFromCriterion(nn.MSECriterion())([left, right.split(1)])
    x_, y_ = torch.rand(4), torch.rand(4)
    net = nn.gModule([x, y], [loss])
    assert_same(net.forward([x_, y_]), ((x_ - y_) ** 2).mean().reshape(1))
    for slope in (torch.tensor([2.0]), [2.0]):  # Torch7 takes a table, too
        assert_same(net.backward([x_, y_], slope), [2 * 2 * (x_ - y_) / 4, torch.zeros(4)])


def test_a_module_used_twice_gets_both_gradients() -> None:
    shared = nn.Linear(3, 3)
    x = nn.Identity()()
    net = nn.gModule([x], [shared(nn.Tanh()(shared(x)))])
    check(net, lambda x: linear(shared, linear(shared, x).tanh()), torch.rand(2, 3))


def test_parameters_come_in_torch7s_order() -> None:
    net, _, _ = two_towers()
    sizes = [m.weight.shape for m in net.modules if isinstance(m, nn.Linear)]
    assert sizes == [(20, 20), (1, 20), (10, 10), (1, 10)]
    params, gradParams = net.getParameters()
    assert params.numel() == gradParams.numel() == 420 + 21 + 110 + 11


def test_inner_gradients_types_and_modes_reach_every_node() -> None:
    net, _, input = two_towers()
    net.forward(input)
    net.backward(input, [torch.ones(3, 1), torch.ones(3, 1)])
    assert net.modules[1].gradInput.shape == (3, 20)
    assert not any(m.train for m in net.evaluate().modules)
    double = map_tensors(Tensor.double, input)
    assert all(t.dtype == torch.float64 for t in net.double().forward(double))


def test_a_node_without_a_module_has_none() -> None:
    """``node.data.module``, and what ``split`` tells; None stands for Lua's nil."""
    x = nn.Identity()()
    net = nn.gModule([x], [nn.JoinTable(1)([nn.Tanh()(x), nn.Abs()(x)])])
    for graph in (net, t7.loads(t7.dumps(net)), net.clone()):
        nodes = graph.forwardnodes
        assert [node.data.module is None for node in nodes] == [True, *[False] * 4, True]
        assert nodes[0].data.selectindex is nodes[0].data.nSplitOutputs is None
        assert "module" not in nodes[0].data
        with pytest.raises(AttributeError, match="no entry 'mapping'"):
            _ = nodes[0].data.mapping


def test_forwardnodes_name_the_modules() -> None:
    x = nn.Identity()().annotate({"name": "input"})
    hidden = nn.Linear(4, 3)(x).annotate({"name": "hidden", "description": "a layer"})
    net = nn.gModule([x], [nn.Tanh()(hidden)])
    found = {n.data["annotations"].get("name"): n for n in net.forwardnodes}
    assert found["hidden"].data["module"] is net.modules[1]
    assert isinstance(found["hidden"].children[0].data["module"], nn.Tanh)
    assert str(hidden) == "Node(nn.Linear, hidden)"
    assert x.annotate(["first"]).data["annotations"] == {"name": "input", 1: "first"}


def test_replace_changes_what_runs() -> None:
    x = nn.Identity()()
    net = nn.gModule([x], [nn.Tanh()(x)])
    net.replace(lambda m: nn.Sigmoid() if isinstance(m, nn.Tanh) else m)
    assert_same(net.forward(torch.ones(2)), torch.ones(2).sigmoid())


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (
            lambda x, y: nn.gModule([x, y], [x]),
            r"inputs\[2\] is Node\(nn.Identity\), which leads to no",
        ),
        (
            lambda x, y: nn.gModule([x], [nn.CAddTable()([x, y])]),
            "inputs is without .*, which has no input",
        ),
        (lambda x, y: nn.gModule([x], [x.split(2)[0]]), "outputs is without what"),
        (
            lambda x, y: nn.gModule([nn.Tanh()(x)], [x]),
            r"inputs\[1\] is .*, which takes the output",
        ),
        (lambda x, y: nn.gModule([x, x], [x]), "inputs has a node twice; each node is"),
        (lambda x, y: nn.gModule([x], [x, x]), "outputs has a node twice; each node is"),
        (lambda x, y: nn.CAddTable()([x, x]), "input has .* twice; each node is"),
        (
            lambda x, y: (nn.Tanh()(y), nn.gModule([x, y], [nn.CAddTable()([x, y])])),
            "outputs is without what",
        ),
        (lambda x, y: x.split(0), "noutput is 0"),
    ],
)
def test_wrong_graphs_are_refused(graph: Callable[..., Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        graph(nn.Identity()(), nn.Identity()())


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="inputs\\[1\\] is an Identity; a node is accepted"):
        nn.gModule([nn.Identity()], [nn.Identity()()])
    with pytest.raises(TypeError, match="outputs is"):
        nn.gModule([nn.Identity()()], [])
    with pytest.raises(TypeError, match="criterion is a Linear"):
        nn.ModuleFromCriterion(nn.Linear(2, 2))


def test_wrong_inputs_are_refused_with_their_place() -> None:
    net, _, (one, two) = two_towers()
    with pytest.raises(ValueError, match=r"nn.gModule: input is a table of 3; a table of 2"):
        net.forward([one, two, two])
    with pytest.raises(ValueError, match=r"nn.gModule\[4\] nn.Linear\(10 -> 10\): input has 20"):
        net.forward([one, one])
    x = nn.Identity()()
    a, b = x.split(2)
    pair = nn.gModule([x], [nn.CAddTable()([a, b])])
    with pytest.raises(ValueError, match=r"split\(2\) takes is a list of 3"):
        pair.forward([torch.ones(1)] * 3)


# Files.


def run_as_lua(graph: TorchObject, input: Any) -> Any:
    """What Lua's gModule:updateOutput does with a file's tables, its modules aside."""
    fields = graph.fields
    assert fields is not None
    received: dict[int, dict[int, Any]] = {id(node["data"]): {} for node in fields["forwardnodes"]}
    given = input if fields["nInputs"] > 1 else [input]
    received[id(fields["innode"]["data"])] = dict(enumerate(given, 1))
    for node in fields["forwardnodes"]:
        data = node["data"]
        value: Any = received[id(data)]
        value = value[1] if len(value) == 1 else [value[i] for i in range(1, len(value) + 1)]
        if "selectindex" in data:
            value = value[data["selectindex"] - 1]
        elif "module" in data:
            value = t7.loads(t7.dumps(data["module"])).forward(value)
        children = node["children"] or {}
        for i in range(1, len(children) // 2 + 1):
            child = children[i]
            assert children[child] == i
            index = child["data"]["mapindex"][Key(data)]
            assert child["data"]["mapindex"][index] is data
            received[id(child["data"])][index] = value
    output = received[id(fields["outnode"]["data"])]
    count = len(fields["outnode"]["children"]) // 2
    return output[1] if count == 1 else [output[i] for i in range(1, count + 1)]


def test_a_written_graph_is_one_that_lua_runs() -> None:
    net, _, input = two_towers()
    stored = t7.loads(t7.dumps(net), raw=True)
    assert_same(run_as_lua(stored, input), net.forward(input))


def test_the_backward_graph_of_a_file_goes_from_the_output_to_the_input() -> None:
    stored = t7.loads(t7.dumps(two_towers()[0]), raw=True).fields
    place = {id(node["data"]): i for i, node in enumerate(stored["backwardnodes"])}
    assert stored["backwardnodes"][1] is stored["outnode"]
    assert stored["backwardnodes"][-1]["data"] is stored["innode"]["data"]
    for node in stored["backwardnodes"]:
        children = [c for key, c in (node["children"] or {}).items() if isinstance(key, int)]
        assert all(place[id(c["data"])] > place[id(node["data"])] for c in children)
    for graph in (stored["fg"], stored["bg"]):
        nodes = [n for key, n in graph["nodes"].items() if isinstance(key, int)]
        assert len(nodes) == len(place) and [n["id"] for n in nodes] == list(
            range(1, len(place) + 1)
        )


def test_round_trip_keeps_outputs_order_annotations_and_bytes() -> None:
    net, _, input = two_towers()
    net.name = "towers"
    data = t7.dumps(net)
    again = t7.loads(data)
    check(again, lambda given: reference_of(again)(given), input)
    assert_same(again.forward(input), net.forward(input))
    assert again.nInputs == 2 and str(again) == "towers"
    again.clearState()
    assert t7.dumps(again) == t7.dumps(t7.loads(t7.dumps(again)))


def reference_of(net: Any) -> Callable[[Any], Any]:
    """What `two_towers` computes, with the parameters of ``net``."""
    a, c, b, d = (m for m in net.modules if isinstance(m, nn.Linear))

    def reference(input: Any) -> Any:
        first = linear(c, linear(a, input[0]).tanh())
        total = first + linear(d, linear(b, input[1]).tanh())
        return total.sigmoid(), total.tanh()

    return reference


def stored_node(data: dict[Any, Any]) -> TorchObject:
    return TorchObject("nngraph.Node", 1, {"data": data, "children": {}, "visited": False})


def table_of(*datas: dict[Any, Any]) -> dict[Any, Any]:
    return {**dict(enumerate(datas, 1)), **{Key(d): i for i, d in enumerate(datas, 1)}}


def old_file(inputs: int, **fields: Any) -> bytes:
    """A graph of as many tanh of inputs, added up, as nngraph of 2013 wrote it: without modules."""
    innode: dict[Any, Any] = {"annotations": {}, "mapindex": {}, "data": {}, "gradOutput": {}}
    sources = []
    for _ in range(inputs):
        sources.append({"module": nn.Tanh(), "annotations": {}, "mapindex": table_of(innode)})
    innode["mapindex"] = table_of(*sources)
    total = {"module": nn.CAddTable(), "annotations": {}, "mapindex": table_of(*sources)}
    last = {"annotations": {}, "input": {}, "mapindex": table_of(total)}
    nodes = [stored_node(data) for data in (innode, *sources, total, last)]
    graph = {"forwardnodes": nodes, "innode": nodes[0], "outnode": nodes[-1], "verbose": False}
    return t7.dumps(TorchObject("nn.gModule", 1, graph | fields))


@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_old_files_that_lack_modules_run(inputs: int) -> None:
    net = t7.loads(old_file(inputs))
    assert net.nInputs == inputs
    assert [m.typename for m in net.modules] == ["nn.Tanh"] * inputs + ["nn.CAddTable"]
    given = [torch.rand(2) for _ in range(inputs)]
    input = given if inputs > 1 else given[0]
    net.modules[-1] = nn.CAddTable() if inputs > 1 else nn.Identity()
    check(net, lambda x: sum(t.tanh() for t in (x if inputs > 1 else [x])), input)
    again = t7.loads(t7.dumps(net))
    assert_same(again.forward(input), net.forward(input))
    assert again.gradInput is not None


def test_a_deep_graph_is_copied_pickled_and_written() -> None:
    x = nn.Identity()()
    node = x
    for _ in range(1500):
        node = nn.AddConstant(1)(node)
    net = nn.gModule([x], [node])
    ones = torch.ones(1)
    copies = [copy.deepcopy(net), pickle.loads(pickle.dumps(net)), t7.loads(t7.dumps(net))]
    assert [int(c.forward(ones)) for c in copies] == [1501] * 3


def test_a_clone_shares_what_is_named() -> None:
    net, _, _ = two_towers()
    clone = net.clone("weight", "bias")
    net.modules[0].weight.fill_(7)
    assert (clone.modules[0].weight == 7).all()
    assert clone.modules[0] is not net.modules[0]


def test_a_criterion_of_nodes_is_a_node() -> None:
    """Torch7 gives the loss, and zero as the gradient of the target."""
    prediction, target = nn.LogSoftMax()(), nn.Identity()()
    loss = nn.ClassNLLCriterion()([prediction, target])
    assert isinstance(loss.data.module, nn.ModuleFromCriterion)
    net = nn.gModule([prediction, target], [loss])
    scores, labels = torch.rand(4, 3), torch.tensor([1, 3, 2, 1])
    leaf = scores.clone().requires_grad_()
    expected = torch.nn.functional.cross_entropy(leaf, labels - 1)
    expected.backward()
    assert_same(net.forward([scores, labels]), expected.detach().reshape(1))
    gradInput = net.backward([scores, labels], torch.ones(1))
    assert_same(gradInput[0], leaf.grad)
    assert gradInput[1].count_nonzero() == 0


def test_a_criterion_in_a_graph_has_its_gradient_after_backward() -> None:
    """Also when the pass is over and its results are freed; as in Torch7, without gradOutput."""
    prediction, target = nn.Linear(4, 3)(), nn.Identity()()
    criterion = nn.ClassNLLCriterion()
    net = nn.gModule([prediction, target], [criterion([nn.LogSoftMax()(prediction), target])])
    input = [torch.rand(5, 4), torch.tensor([1, 2, 3, 1, 2])]
    wanted = torch.zeros(5, 3)
    wanted[range(5), input[1] - 1] = -0.2
    for _ in range(2):
        net.forward(input)
        net.backward(input, torch.full((1,), 2.0))
        assert_same(criterion.gradInput, wanted)
        assert_same(criterion.updateGradInput(criterion.gradInput, input[1]), wanted)
        for clear in (False, True):
            assert t7.dumps(net, clear=clear)


def test_a_criterion_of_one_node_and_of_none() -> None:
    pair = nn.Identity()()
    net = nn.gModule([pair], [nn.MSECriterion()(pair)])
    x, y = torch.rand(3), torch.rand(3)
    assert_same(net.forward([x, y]), ((x - y) ** 2).mean().reshape(1))
    assert isinstance(nn.MSECriterion()(), nngraph.Node)


def test_minus_chains_modules_as_in_nngraph() -> None:
    x = -nn.Identity()
    linear, tanh, add = nn.Linear(2, 2), nn.Tanh(), nn.CAddTable()
    hidden = x - linear - tanh
    net = nn.gModule([x], [[hidden, x - nn.MulConstant(2)] - add])
    input = torch.ones(3, 2)
    expected = tanh.forward(linear.forward(input)) + 2 * input
    torch.testing.assert_close(net.forward(input), expected)
    with pytest.raises(TypeError, match="unsupported operand"):
        input - nn.Tanh()


def test_nodes_have_what_the_latest_pass_gave_them() -> None:
    x, y = nn.Identity()(), nn.Identity()()
    net = nn.gModule([x, y], [nn.Tanh()(nn.CAddTable()([x, y]))])
    assert net.forwardnodes[0].data["input"] == []
    a, b, g = torch.rand(3), torch.rand(3), torch.rand(3)
    net.forward([a, b])
    net.backward([a, b], g)
    (add,) = (n for n in net.forwardnodes if isinstance(n.data.get("module"), nn.CAddTable))
    assert add.data["input"][0] is a
    assert add.data["input"][1] is b
    torch.testing.assert_close(add.data["gradOutput"], [g * (1 - torch.tanh(a + b) ** 2)])
    # Files have the graph alone.
    nodes = net.t7_fields()["forwardnodes"]
    assert not any({"input", "gradOutput"} & node.data.keys() for node in nodes)


def test_gradients_of_other_sizes_are_added_element_by_element() -> None:
    a = nn.Identity()()
    b = nn.Identity()()
    product = nn.CMulTable()([a, b])
    net = nn.gModule([a, b], [product, nn.JoinTable(2)([product, a])])
    x, y = torch.arange(6.0).reshape(3, 2), torch.arange(6.0).reshape(3, 2) + 1
    net.forward([x, y])
    gradient = torch.arange(6.0) + 1
    found = net.backward([x, y], [gradient.reshape(3, 1, 2), torch.ones(3, 4)])
    gradient = gradient.reshape(3, 2) + 1
    assert torch.equal(found[0], gradient * y + 1) and torch.equal(found[1], gradient * x)
