"""Nets in Lua do what they do in Torch7, also where scripts are careless."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
import torch

from compat import lua, nn, t7


def test_own_containers_tell_where_an_error_was(runtime: lua.Runtime) -> None:
    told = runtime.execute(
        """
        require 'nn'
        local Mine = torch.class('nn.MyContainer', 'nn.Container')
        function Mine:updateOutput(input)
           self.output = self:rethrowErrors(self.modules[1], 1, 'updateOutput', input)
           return self.output
        end
        local inner = nn.Sequential():add(nn.Identity()):add(nn.Linear(3, 2))
        local net = nn.Sequential():add(nn.MyContainer():add(inner))
        return select(2, pcall(net.forward, net, torch.ones(4)))
        """
    )
    head, *lines = told.split("\n")
    assert "Container.lua" in head
    assert lines[:3] == [
        "In 1 module of nn.Sequential:",
        "In 1 module of nn.MyContainer:",
        "In 2 module of nn.Sequential:",
    ]
    assert "Linear.lua" in lines[3] and lines[3].endswith("size mismatch, [2 x 3], [4]")
    assert told.count("WARNING: If you see a stack trace below") == 1


def test_errors_without_a_text_of_torch7_keep_ours(runtime: lua.Runtime) -> None:
    with pytest.raises(lua.LuaError, match=r"In 1 module of nn\.Sequential:\nnn\.OneHot"):
        runtime.execute("require 'nn' nn.Sequential():add(nn.OneHot(2)):forward(torch.Tensor{7})")


def test_python_has_its_own_errors() -> None:
    net = nn.Sequential(nn.Identity(), nn.Linear(3, 2))
    with pytest.raises(ValueError, match=r"nn.Sequential\[2\] nn.Linear\(3 -> 2\)") as caught:
        net.forward(torch.ones(4))
    origin = caught.value.__dict__["origin"]
    assert origin.owner is net.get(2) and origin.way == [(net, 2)]
    assert pickle.loads(pickle.dumps(origin)) is None


def test_backward_with_another_input_than_forward(runtime: lua.Runtime) -> None:
    # Lua Torch7: what forward computed stays, what reads the input itself gets the new one.
    same, square = runtime.execute(
        """
        require 'nn'
        local x, y = torch.Tensor{1, 2, 3}, torch.Tensor{-1, 4, 0.5}
        local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Tanh())
        local weight = net:get(1).weight
        net:forward(x)
        net:zeroGradParameters()
        local slope = net.output:clone():pow(2):mul(-1):add(1)
        net:backward(y, torch.ones(2))
        local expected = torch.ger(slope, y)
        local square = nn.Sequential():add(nn.Square())
        square:forward(x)
        return (net:get(1).gradWeight - expected):abs():max(), square:backward(y, torch.ones(3))
        """
    )
    assert same < 1e-12
    assert square.tolist() == [-2, 8, 1]


def test_input_may_change_between_forward_and_backward(runtime: lua.Runtime) -> None:
    gradient = runtime.execute(
        """
        require 'nn'
        local net, x = nn.Linear(2, 1), torch.Tensor{1, 2}
        net:zeroGradParameters()
        net:forward(x)
        x:fill(5)
        net:backward(x, torch.ones(1))
        return net.gradWeight
        """
    )
    assert gradient.tolist() == [[5, 5]]


def test_getParameters_leaves_earlier_flat_tensors_behind(runtime: lua.Runtime) -> None:
    first, weight, second = runtime.execute(
        """
        require 'nn'
        local net = nn.Linear(2, 1)
        local first = net:getParameters()
        local second = net:getParameters()
        first:fill(7)
        second:fill(3)
        return first, net.weight, second
        """
    )
    assert first.tolist() == [7, 7, 7]
    assert weight.tolist() == [[3, 3]] and second.tolist() == [3, 3, 3]


def test_second_derivatives(runtime: lua.Runtime) -> None:
    inner, outer, flat = runtime.execute(
        """
        require 'nn'
        nn.hessian.enable()
        local net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Tanh())
        local linear = net:get(1)
        linear.weight:copy(torch.Tensor{{1, 2}, {3, 4}})
        linear.bias:zero()
        local x = torch.zeros(2)
        net:initDiagHessianParameters()
        net:forward(x)
        local outer = net:updateDiagHessianInput(x, torch.ones(2))
        net:accDiagHessianParameters(torch.Tensor{3, 5}, torch.ones(2))
        local _, _, flat = net:getParameters()
        return net:get(2).diagHessianInput, outer, flat
        """
    )
    # The slope of tanh is 1 at 0; weights and inputs are squared.
    assert inner.tolist() == [1, 1]
    assert outer.tolist() == [1 + 9, 4 + 16]
    assert flat.tolist() == [9, 25, 9, 25, 1, 1]


def test_replaced_methods_of_classes_end_with_the_runtime() -> None:
    ones = torch.ones(2, dtype=torch.float64)
    before = nn.Tanh().forward(ones).tolist()
    runtime = lua.Runtime()
    runtime.execute(
        """
        require 'nn'
        function nn.Module:described() return 'here' end
        function nn.Tanh:updateOutput(input)
           self.output = input:clone():zero()
           return self.output
        end
        assert(nn.Linear(1, 1):described() == 'here')
        assert(nn.Sequential():add(nn.Tanh()):forward(torch.ones(2)):sum() == 0)
        """
    )
    runtime.close()
    assert nn.Tanh().forward(ones).tolist() == before
    assert not hasattr(nn.Module, "described")


def test_arguments_that_are_true_or_false_take_any_value(runtime: lua.Runtime) -> None:
    assert runtime.execute("require 'nn' return nn.ReLU(1).inplace, nn.Add(3, 0).bias:size(1)") == (
        True,
        1,
    )
    assert runtime.eval("nn.Reshape(3, 2):forward(torch.ones(6)):size(1)") == 3


def test_shared_weights_move_by_each_gradient() -> None:
    first = nn.Linear(2, 1)
    second = first.clone("weight", "bias")
    net = nn.ParallelTable(first, second)
    before = first.weight.clone()
    first.gradWeight.fill_(1)
    second.gradWeight.fill_(2)
    first.gradBias.zero_()
    second.gradBias.zero_()
    net.updateParameters(1)
    assert torch.allclose(first.weight, before - 3)


def test_operands_of_equal_counts(runtime: lua.Runtime) -> None:
    difference = runtime.eval("torch.Tensor{2, 5} - torch.Tensor{{1}, {2}}")
    assert difference.tolist() == [1, 3]


def test_vectors_of_optimizers_that_take_no_memory(runtime: lua.Runtime) -> None:
    denom = runtime.execute(
        """
        require 'optim'
        local state = {}
        optim.adam(function(x) return 1, torch.Tensor{3, 4} end, torch.zeros(2), {}, state)
        return state.denom
        """
    )
    assert torch.allclose(denom, torch.tensor([3.0, 4], dtype=torch.float64) * 0.001**0.5)


def test_gradients_follow_outputs_that_a_script_has_changed(runtime: lua.Runtime) -> None:
    gradient = runtime.execute(
        """
        require 'nn'
        local module = nn.ELU(0.7)
        local x = torch.Tensor{0.5, -1, -0.25, 0.1, 0.2, -2}
        module:forward(x)
        module.output:mul(0.5)
        return module:backward(x, torch.ones(6))
        """
    )
    # Recorded from Lua Torch7.
    changed = [1, 0.47875780441000482, 0.62258027407499172, 1, 1, 0.39736734913281441]
    assert gradient.tolist() == pytest.approx(changed, rel=1e-14)


@pytest.mark.parametrize(
    "module",
    [
        "nn.Dropout(0)",
        "nn.Dropout(0.5)",
        "nn.WhiteNoise()",
        "nn.SpatialUpSamplingBilinear(1)",
        "nn.Sequential():add(nn.ConcatTable():add(nn.Identity())):add(nn.CAddTable())",
    ],
)
def test_results_that_equal_the_input_have_memory_of_their_own(
    runtime: lua.Runtime, module: str
) -> None:
    input, output, gradient = runtime.execute(
        f"""
        require 'dpnn'
        local module = {module}
        module:evaluate()
        local tanh = nn.Tanh()
        local input = torch.Tensor(1, 1, 2, 2):fill(0.5)
        local output = module:forward(tanh:forward(input))
        output:add(1)
        local gradient = tanh:backward(input, module:backward(tanh.output, output))
        return {{input, output, gradient}}
        """
    )
    value = torch.tensor(0.5, dtype=torch.float64).tanh()
    assert torch.all(input == 0.5)
    assert torch.all(output == value + 1)
    torch.testing.assert_close(gradient, ((1 - value**2) * (value + 1)).expand(1, 1, 2, 2))


def test_flattened_tables_have_the_tensors_themselves(runtime: lua.Runtime) -> None:
    told = runtime.execute(
        """
        require 'nn'
        local input = {torch.ones(1), {torch.ones(2), {torch.ones(3)}}, torch.ones(4)}
        local gradOutput = {torch.ones(1), torch.ones(2), torch.ones(3), torch.ones(4)}
        local module = nn.FlattenTable()
        module:forward(input)
        local gradInput = module:backward(input, gradOutput)
        local same = gradInput[2][2][1] == gradOutput[3] and module.gradInput[3] == gradOutput[4]
        local output = module.output
        module:forward(input)
        local kept = module.output == output
        table.insert(input[2], torch.ones(5))
        module:forward(input)
        local anew = module.output ~= output and #output == 4
        return {same, kept, anew}
        """
    )
    assert told == [True, True, True]


def test_results_that_a_script_sets_are_the_buffers(runtime: lua.Runtime) -> None:
    told = runtime.execute(
        """
        require 'nn'
        local module = nn.Linear(2, 2)
        module.weight:fill(1)
        module.bias:zero()
        module:forward(torch.ones(2))
        local buffer = torch.zeros(2)
        module.output = buffer
        local set = module.output == buffer
        module:forward(torch.ones(2))
        local entry = torch.zeros(1)
        module.gradInput = {entry}
        return {set, module.output == buffer, buffer[2], module.gradInput[1] == entry}
        """
    )
    assert told == [True, True, 2, True]


def test_profiles_are_saved_by_scripts(runtime: lua.Runtime, tmp_path: Path) -> None:
    path = tmp_path / "net.t7"
    told = runtime.execute(
        """
        require 'nn'
        local net = nn.Profile(nn.Linear(2, 1), 3)
        net:forward(torch.ones(2))
        torch.save(..., net)
        local again = torch.load(...)
        again:forward(torch.ones(2))
        return {torch.type(again), again.name, again.numFwds, torch.type(again:clone())}
        """,
        str(path),
    )
    assert told == ["nn.Profile", "nn.Linear", 2, "nn.Profile"]
    assert t7.load(path).timer.typename == "torch.Timer"


def test_failures_in_graphs_are_drawn_where_debugging_is_on(
    runtime: lua.Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runtime.execute(
        """
        require 'nngraph'
        nngraph.setDebug(true)
        local input = nn.Identity()():annotate{name = 'in', graphAttributes = {color = 'blue'}}
        local net = nn.gModule({input}, {nn.Linear(5, 2)(nn.Tanh()(input))})
        net.name = 'failed'
        assert(not pcall(net.forward, net, torch.ones(3)))
        nngraph.setDebug(false)
        net.name = 'off'
        assert(not pcall(net.forward, net, torch.ones(3)))
        """
    )
    drawn = Path("failed.dot").read_text()
    assert '[fillcolor=red, label="nn.Linear(5 -> 2)", style=filled]' in drawn
    assert '[color=blue, label="in\\nnn.Identity"]' in drawn
    assert drawn.count("red") == 1 and Path("failed.svg").exists()
    assert not Path("off.dot").exists()


def test_own_classes_that_begin_without_gradInput_pass_gradients_on(runtime: lua.Runtime) -> None:
    told = runtime.execute(
        """
        require 'nn'
        local Own = torch.class('nn.OwnWithoutGradInput', 'nn.Module')
        function Own:__init()
           nn.Module.__init(self)
           self.gradInput = nil
        end
        function Own:updateOutput(input)
           self.output:resizeAs(input):copy(input)
           return self.output
        end
        function Own:updateGradInput(input, gradOutput)
           self.gradInput = self.gradInput or input:clone()
           self.gradInput:resizeAs(input):copy(gradOutput)
           return self.gradInput
        end
        local own = nn.OwnWithoutGradInput()
        local none = own.gradInput == nil
        local net = nn.Sequential():add(nn.Linear(2, 2)):add(own):add(nn.Tanh())
        net:zeroGradParameters()
        local output = net:forward(torch.ones(2))
        net:backward(torch.ones(2), output)
        local alone = nn.Sequential():add(nn.OwnWithoutGradInput())
        alone:forward(torch.ones(2))
        local gradInput = alone:backward(torch.ones(2), torch.ones(2))
        return {none, net:get(1).gradBias:norm() > 0, gradInput == alone.gradInput}
        """
    )
    assert told == [True, True, True]


def test_nodes_are_labelled_with_where_they_were_declared(runtime: lua.Runtime) -> None:
    # As Lua Torch7 does.
    labels = runtime.execute(
        """
        require 'nngraph'
        local function label(node) return node.data.annotations._debugLabel:match(':(.*)') end
        local x = nn.Identity()()
        local a, b = nn.SplitTable(1)(x):split(2)
        local alone = nn.SplitTable(1)(nn.Identity()()):split(1)
        return {label(x), label(a), label(b), label(a.children[1]), label(alone)}
        """,
        name="@script.lua",
    )
    assert labels == ["4_", "5_-1", "5_-2", "5_ split at [script.lua]:5-mnode", "6_"]


def test_clones_go_through_what_a_class_writes_and_reads(runtime: lua.Runtime) -> None:
    told = runtime.execute(
        """
        require 'nn'
        local Own, parent = torch.class('nn.OwnFile', 'nn.Linear')
        function Own:__init(n) parent.__init(self, n, n) self.cache = 'first' end
        function Own:write(file) file:writeObject{self.weight, self.bias} end
        function Own:read(file, version)
           nn.Linear.__init(self, 1, 1)
           local read = file:readObject()
           self.weight, self.bias, self.cache = read[1], read[2], 'read'
        end
        local net = nn.Sequential():add(nn.OwnFile(3)):add(nn.Tanh())
        local copy, sharing = net:clone(), net:clone('weight', 'bias')
        net:get(1).weight:mul(2)
        local x = torch.ones(3)
        local plain = nn.Sequential():add(nn.Linear(2, 2)):clone()
        return {copy:get(1).cache, (copy:forward(x) - net:forward(x)):norm() > 0.01,
                (sharing:forward(x) - net:forward(x)):norm(), torch.type(plain:get(1))}
        """
    )
    assert told == ["read", True, 0, "nn.Linear"]


def test_parameters_move_by_a_batch_after_clearState(runtime: lua.Runtime) -> None:
    change = runtime.execute(
        """
        require 'nn'
        local module, x, g = nn.Linear(3, 2), torch.Tensor{1, 2, 3}, torch.Tensor{1, -1}
        module:forward(x)
        module:clearState()
        local before = module.weight:clone()
        module:accUpdateGradParameters(x, g, 0.5)
        return before - module.weight
        """
    )
    assert torch.allclose(change, torch.tensor([[0.5, 1, 1.5], [-0.5, -1, -1.5]]).double())


def test_linear_computes_nothing_back_for_an_input_of_three_dimensions(
    runtime: lua.Runtime, capfd: pytest.CaptureFixture[str]
) -> None:
    # As Lua Torch7: what gradInput holds stays where the count fits, and is zero otherwise.
    told = runtime.execute(
        """
        require 'nn'
        local module, x, g = nn.Linear(4, 3), torch.ones(10, 4), torch.ones(10, 3)
        module:zeroGradParameters()
        module:forward(x)
        local before = module:backward(x, g):sum()
        local weights = module.gradWeight:sum()
        local same = module:backward(torch.ones(2, 5, 4), torch.ones(2, 5, 3))
        local kept = same == module.gradInput and same:dim() == 3 and same:sum() == before
        local zero = module:updateGradInput(torch.ones(1, 2, 3), g):norm()
        module:accGradParameters(torch.ones(2, 5, 4), g)
        return {kept, zero, module.gradWeight:sum() == weights}
        """
    )
    assert told == [True, 0, True]
    runtime.flush()
    assert capfd.readouterr().err.count("as in Torch7") == 1


def test_containers_hold_modules_without_dimensions(runtime: lua.Runtime) -> None:
    # Scripts gather the parameters of several nets so, and never call the container. What Torch7's
    # constructors do not take they do not look at either.
    held, told = runtime.execute(
        """
        require 'nn'
        local held = {}
        local classes = {'Parallel', 'Concat', 'DepthConcat', 'Sequential', 'ParallelTable'}
        for i, class in ipairs(classes) do
           local all = nn[class](i > 3 and 2 or nil):add(nn.Linear(2, 3)):add(nn.Linear(3, 1))
           held[i] = all:clone():getParameters():size(1)
        end
        local _, told = pcall(function() nn.Concat():add(nn.Identity()):forward(torch.ones(2)) end)
        return held, told
        """
    )
    assert held == [13] * 5
    assert "dimension is None" in told


@pytest.mark.parametrize("kind", ["GRU", "FastLSTM"])
def test_what_a_sequence_went_on_from_is_there_in_its_backward(
    runtime: lua.Runtime, kind: str
) -> None:
    # The output of the sequence before is a buffer, which this one's results are written into.
    difference = runtime.execute(
        """
        require 'rnn'
        torch.manualSeed(7)
        local net = nn.Sequencer(nn[...](3, 4)):remember('both')
        local fresh = net:clone()
        local function pair(n) return {torch.randn(2, n), torch.randn(2, n)} end
        local first, second, g = pair(3), pair(3), pair(4)
        local function loss(x)
           local copy = fresh:clone()
           copy:forward(first)
           local output = copy:forward{x, second[2]}
           return output[1]:dot(g[1]) + output[2]:dot(g[2])
        end
        net:forward(first)
        net:backward(first, g)
        net:forward(second)
        local gradient = net:backward(second, g)[1]
        local x, worst = second[1]:clone(), 0
        for i = 1, 2 do
           for j = 1, 3 do
              x[i][j] = second[1][i][j] + 1e-5
              local above = loss(x)
              x[i][j] = second[1][i][j] - 1e-5
              worst = math.max(worst, math.abs((above - loss(x)) / 2e-5 - gradient[i][j]))
              x[i][j] = second[1][i][j]
           end
        end
        return worst
        """,
        kind,
    )
    assert difference < 1e-8


def test_nodes_take_further_inputs(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'nngraph'
        local a, b = nn.Identity()(), nn.Identity()()
        local sum = nngraph.Node{module = nn.CAddTable()}
        sum:add(a, true) sum:add(b, true)
        result = nn.gModule({a, b}, {sum}):forward{torch.ones(2), torch.ones(2):mul(3)}
        """
    )
    assert runtime.globals().result.tolist() == [4, 4]


def test_nested_tensors_of_graphs(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        local nesting = require 'nngraph.nesting'
        local input = {torch.ones(2), deep = {torch.ones(3)}}
        output = {torch.zeros(1), surplus = torch.zeros(1)}
        nesting.resizeNestedAs(output, input)
        nesting.fillNested(output, 2)
        nesting.addNestedTo(output, input)
        copy = nesting.cloneNested(output)
        nesting.copyNested(copy, input)
        ok, message = pcall(nesting.copyNested, {torch.ones(1), 5}, {torch.ones(1)})
        """
    )
    values = runtime.globals()
    assert values.output[0].tolist() == [3, 3]
    assert runtime.eval("output.surplus == nil, output.deep[1]:sum(), copy.deep[1]:sum()") == (
        True,
        9,
        3,
    )
    assert not values.ok
    assert "present in output but not in input" in values.message


def test_the_output_of_a_lookup_table_for_a_batch_is_a_view_of_its_rows(
    runtime: lua.Runtime,
) -> None:
    # Lua Torch7: the buffer holds one row for each index; a batch gets a new view of it.
    first, second, third, same = runtime.execute(
        """
        require 'nn'
        local table = nn.LookupTable(4, 2)
        table.weight:copy(torch.range(1, 8))
        local a = table:forward(torch.LongTensor{1, 2, 3})
        local b = table:forward(torch.LongTensor{{1, 2}})
        local c = table:forward(torch.LongTensor{{3, 4}})
        return a, b, c, rawequal(c, table.output) and not rawequal(b, c)
        """
    )
    assert same
    assert first.shape == (2, 2) and second.tolist() == [[5, 6], [7, 8]]
    assert third.tolist() == [[[5, 6], [7, 8]]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("nn.Sequential().forward()", "attempt to index local 'self' (a nil value)"),
        ("nn.JoinTable(1):forward(torch.ones(2))", "'for' limit must be a number"),
        ("nn.Tanh():backward(torch.ones(2))", "attempt to index local 'gradOutput' (a nil value)"),
        ("nn.JoinTable(-1):forward(torch.ones(2))", "attempt to index a number value"),
    ],
)
def test_calls_that_go_wrong_say_what_torch7_says(
    runtime: lua.Runtime, call: str, said: str
) -> None:
    runtime.execute("require 'nn'")
    with pytest.raises(lua.LuaError, match=re.escape(said)):
        runtime.execute(call)


def test_clear_empties_fields_of_any_table(runtime: lua.Runtime) -> None:
    sizes = runtime.execute(
        """
        require 'nn'
        local held = torch.ones(3)
        local own = nn.utils.clear({a = held, b = {1}, c = 5, d = 6}, 'a', 'b', 'c', 'nothing')
        local layer = nn.Linear(2, 2)
        local output = layer:forward(torch.ones(2))
        nn.utils.clear(layer, {'output', '_buffer'})
        return held:nElement(), #own.b, own.c == nil, own.d, output:nElement(), layer.output:dim()
        """
    )
    assert sizes == (0, 0, True, 6, 0, 0)


@pytest.mark.parametrize("method", ["forward", "updateOutput"])
def test_the_loss_of_pixels_comes_with_its_weight(runtime: lua.Runtime, method: str) -> None:
    loss, weight = runtime.execute(
        f"""
        require 'nn'
        local criterion = nn.SpatialClassNLLCriterion(torch.Tensor{{1, 3}})
        local target = torch.Tensor{{{{{{1, 2}}, {{2, 2}}}}}}
        return criterion:{method}(torch.zeros(1, 2, 2, 2):fill(-0.5), target)
        """
    )
    assert (loss, weight) == (0.5, 10)
