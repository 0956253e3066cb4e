"""nn.Module: what scripts do with modules besides going forward and back."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from support.tensors import randn
from torch import Tensor

from compat import cudnn, cutorch, nn, random, t7
from compat.nn.core.layer import Layer
from compat.nn.core.parameter import Parameter
from compat.nn.layers.elementwise import Elementwise
from compat.nn.layers.window import Windowed


@pytest.fixture(autouse=True)
def seeded() -> None:
    random.manualSeed(1)
    torch.manual_seed(1)


def close(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=1e-10, atol=1e-12)


def mlp() -> Any:
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()


def conv_net() -> Any:
    branches = nn.ConcatTable().add(nn.Identity()).add(nn.SpatialConvolution(3, 3, 3, 3, 1, 1, 1))
    return nn.Sequential(branches, nn.CAddTable(), nn.SpatialBatchNormalization(3), nn.ReLU(True))


def step(net: Any, input: Any, gradOutput: Any) -> list[Any]:
    net.zeroGradParameters()
    output = net.forward(input)
    return [output, net.backward(input, gradOutput), [g.clone() for g in net.parameters()[1]]]


# Parameters.


def test_parameters_are_two_lists() -> None:
    assert nn.Tanh().parameters() == nn.Sequential().parameters() == ([], [])
    net = mlp()
    weights, gradients = net.parameters()
    first = net.get(1)
    assert weights[0] is first.weight and weights[1] is first.bias
    assert gradients[0] is first.gradWeight and gradients[0] is first.weight.grad
    assert nn.Linear(4, 5, False).bias is None
    assert len(nn.Linear(4, 5, False).parameters()[0]) == 1


def test_gradients_are_filled_and_never_replaced() -> None:
    net = mlp()
    gradients = net.parameters()[1]
    places = [g.data_ptr() for g in gradients]
    for _ in range(2):
        step(net, randn(6, 4), randn(6, 3))
        net.updateParameters(0.1)
    assert all(a is b for a, b in zip(net.parameters()[1], gradients, strict=True))
    assert [g.data_ptr() for g in net.parameters()[1]] == places


def test_updateParameters_and_zeroGradParameters() -> None:
    net = mlp()
    step(net, randn(6, 4), randn(6, 3))
    wanted = [p - 0.1 * g for p, g in zip(*net.parameters(), strict=True)]
    assert net.updateParameters(0.1) is net
    close(net.parameters()[0], wanted)
    assert net.zeroGradParameters() is net
    assert not any(g.any() for g in net.parameters()[1])


@pytest.mark.parametrize("container", [nn.Sequential, nn.ParallelTable, nn.ConcatTable])
def test_shared_parameters_move_once_for_each_module(container: Any) -> None:
    first = nn.Linear(3, 3).double()
    net = container(first, first.clone("weight", "bias", "gradWeight", "gradBias"), first)
    first.gradWeight.fill_(1)
    wanted = first.weight - 0.3
    net.updateParameters(0.1)
    close(first.weight, wanted)


def test_accUpdateGradParameters_moves_by_this_batch_alone() -> None:
    net, other, input, gradOutput = mlp(), mlp(), randn(6, 4), randn(6, 3)
    for p, q in zip(net.parameters()[0], other.parameters()[0], strict=True):
        p.copy_(q)
    step(other, input, gradOutput)
    other.updateParameters(0.1)
    for gradient in net.parameters()[1]:
        gradient.fill_(7)
    net.forward(input)
    close(net.backwardUpdate(input, gradOutput, 0.1), other.gradInput)
    close(net.parameters()[0], other.parameters()[0])
    assert all((g == 7).all() for g in net.parameters()[1])
    # Going back once more takes the outputs of before and the parameters of now.
    inner = (gradOutput @ net.get(3).weight) * (1 - other.get(2).output ** 2)
    close(net.updateGradInput(input, gradOutput), inner @ net.get(1).weight)


def test_sharedAccUpdateGradParameters_goes_through_the_gradients() -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    wanted = step(net, input, gradOutput)[2]
    before = [p.clone() for p in net.parameters()[0]]
    net.sharedAccUpdateGradParameters(input, gradOutput, 0.1)
    close(net.parameters()[1], wanted)
    close(net.parameters()[0], [p - 0.1 * g for p, g in zip(before, wanted, strict=True)])


def test_a_parameter_without_gradient_is_frozen() -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    wanted = step(net, input, gradOutput)
    net.get(3).gradBias = None
    bias = net.get(3).bias.clone()
    net.zeroGradParameters()
    net.forward(input)
    close(net.backward(input, gradOutput), wanted[1])
    net.updateParameters(0.1)
    close(net.get(3).bias, bias)
    assert net.get(3).gradBias is None and net.parameters()[1][3] is None


def test_parameters_of_a_class_of_ones_own() -> None:
    class _Scale(nn.Module):
        gain = Parameter()

        def __init__(self, size: int) -> None:
            super().__init__()
            self.gain = torch.ones(size)

        def compute(self, input: Tensor) -> Tensor:
            return input * self.gain

    net = nn.Sequential(_Scale(4), nn.Tanh()).double()
    input = randn(6, 4)
    step(net, input, torch.ones(6, 4).double())
    close(net.get(1).gradGain, (input * (1 - torch.tanh(input) ** 2)).sum(0))
    with pytest.raises(TypeError, match="gain is a list; a tensor or None is accepted"):
        net.get(1).gain = [1, 2]
    net.get(1).gain = torch.zeros(4).double()
    assert not net.forward(input).any()
    assert not net.get(1).gradGain.any() or net.get(1).gradGain.shape == (4,)


def test_a_gradient_may_be_created_before_its_parameter() -> None:
    linear = nn.Linear(3, 2, False)
    gradient = torch.full((4,), 5.0)
    linear.gradBias = gradient
    linear.bias = torch.zeros(4)
    assert linear.gradBias is gradient


# Copies and sharing.


def test_clones_share_nothing_unless_told() -> None:
    net, input = mlp(), randn(6, 4)
    wanted = net.forward(input).clone()
    clone = net.clone()
    net.get(1).weight.zero_()
    close(clone.forward(input), wanted)
    assert clone.get(2).output is not net.get(2).output

    shared = net.clone("weight", "gradWeight")
    net.get(3).weight.fill_(2)
    net.get(3).gradWeight.fill_(3)
    assert (shared.get(3).weight == 2).all() and (shared.get(3).gradWeight == 3).all()
    net.get(3).bias.fill_(4)
    assert not (shared.get(3).bias == 4).any()


def test_clones_keep_what_their_parts_share() -> None:
    layer = nn.Linear(3, 3)
    net = nn.Sequential(layer, layer, layer.clone("weight"))
    clone = net.clone()
    assert clone.get(1) is clone.get(2)
    clone.get(1).weight.fill_(1)
    assert (clone.get(3).weight == 1).all() and not (layer.weight == 1).all()
    assert copy.deepcopy(net).get(1).weight.grad is not None


def test_share_survives_training_and_conversion() -> None:
    one, two = nn.Linear(4, 4), nn.Linear(4, 4)
    two.share(one, "weight", "bias", "gradWeight", "gradBias")
    net = nn.Sequential(one, nn.Tanh(), two).double()
    step(net, randn(5, 4), randn(5, 4))
    net.updateParameters(0.1)
    net.float().double()
    assert one.weight.data_ptr() == two.weight.data_ptr()
    assert one.gradBias.data_ptr() == two.gradBias.data_ptr()


def test_share_leaves_what_the_other_net_has_more() -> None:
    one, two = nn.Linear(4, 5), nn.Linear(4, 5)
    net = nn.Sequential(two).share(nn.Sequential(one, nn.Tanh(), nn.Linear(5, 2)), "weight")
    assert net.size() == 1
    assert one.weight.data_ptr() == two.weight.data_ptr()
    assert one.bias.data_ptr() != two.bias.data_ptr()


def test_share_refuses_another_form() -> None:
    with pytest.raises(
        ValueError, match=r"mlp has 1 modules; at least 3, as this nn\.Sequential has"
    ):
        mlp().share(nn.Sequential(nn.Linear(4, 5)), "weight")
    with pytest.raises(TypeError, match=r"inplace of nn\.ReLU is a bool; a tensor"):
        nn.ReLU().share(nn.ReLU(), "inplace")


# Types.


@pytest.mark.parametrize(
    ("method", "name", "dtype"),
    [
        ("float", "torch.FloatTensor", torch.float32),
        ("double", "torch.DoubleTensor", torch.float64),
        ("half", "torch.HalfTensor", torch.float16),
        ("bfloat16", "torch.BFloat16Tensor", torch.bfloat16),
    ],
)
def test_types(method: str, name: str, dtype: torch.dtype) -> None:
    net = conv_net()
    tensors = [*net.parameters()[0], *net.parameters()[1], net.get(3).running_mean]
    assert getattr(net, method)() is net
    assert net.type() == name
    assert {t.dtype for t in tensors} == {dtype}, "the tensors themselves are converted"
    assert net.output.dtype == net.gradInput.dtype == dtype
    assert net.type(dtype).type() == name
    assert net.forward(torch.randn(2, 3, 5, 5).to(dtype)).dtype == dtype


def test_types_that_are_refused() -> None:
    net = mlp()
    for name, message in (
        ("torch.LongTensor", "type is 'torch.LongTensor'; a floating point tensor type"),
        ("torch.StrangeTensor", "type is 'torch.StrangeTensor'; torch.FloatTensor, "),
    ):
        with pytest.raises(ValueError, match=message):
            net.type(name)
    assert net.type() == "torch.DoubleTensor"


def test_without_a_gpu_cuda_is_the_logical_device_and_one_warning_says_so() -> None:
    cutorch.configure(["cpu", "cpu"])
    net, input = mlp(), randn(6, 4)
    flat, _ = net.getParameters()
    wanted = net.forward(input).clone()
    with pytest.warns(UserWarning, match=r"^torch\.CudaTensor means cpu here: .*configure") as seen:
        assert net.cuda() is net
        criterion = nn.MSECriterion().cuda()
        assert nn.utils.recursiveType([torch.ones(2)], "torch.CudaDoubleTensor")[0].dtype == (
            torch.float64
        )
        nn.Copy("torch.FloatTensor", "torch.CudaTensor").forward(input)
        assert cudnn.version >= 5000
    assert len(seen) == 1
    assert net.type() == criterion.type() == "torch.CudaTensor"
    assert flat.device.type == "cpu" and flat.dtype == torch.float32
    torch.testing.assert_close(net.forward(input.float()).double(), wanted, rtol=1e-5, atol=1e-5)
    raw = t7.loads(t7.dumps(net), raw=True)
    assert raw["modules"][1]["weight"].torch7_type == "torch.CudaTensor"  # as a GPU machine writes
    assert net.float().type() == "torch.FloatTensor"
    assert "torch7_type" not in t7.loads(t7.dumps(net), raw=True)["modules"][1]["weight"].__dict__
    cutorch.configure(["cpu"])
    with pytest.warns(UserWarning, match="means cpu here"):
        net.cudaHalf()


def test_integers_keep_their_type() -> None:
    net = nn.Sequential(nn.SpatialMaxPooling(2, 2)).double()
    net.get(1).counts = torch.arange(3)
    net.float()
    assert net.get(1).counts.dtype == torch.int64
    assert net.cpu().type() == "torch.FloatTensor"


@pytest.mark.cuda
def test_to_a_gpu_and_back() -> None:
    net, input = mlp(), randn(6, 4)
    flat, _ = net.getParameters()
    wanted = net.forward(input).clone()
    assert net.cudaDouble().type() == "torch.CudaDoubleTensor"
    assert flat.device.type == "cuda"
    close(net.forward(input.cuda()).cpu(), wanted)
    net.cpu()
    assert net.type() == "torch.DoubleTensor" and flat.device.type == "cpu"
    close(net.forward(input), wanted)


# State.


def test_modes_reach_every_module() -> None:
    net = conv_net()
    assert net.evaluate() is net
    assert not any(m.train for m in net.listModules())
    assert net.training() is net
    assert all(m.train for m in net.listModules())


def test_clearState_keeps_parameters_statistics_and_switches() -> None:
    net = conv_net()
    net.get(1).get(2).gradInput = None
    input = torch.randn(2, 3, 5, 5)
    net.forward(input)
    net.backward(input, torch.randn(2, 3, 5, 5))
    before = [p.clone() for p in (*net.parameters()[0], *net.parameters()[1])]
    mean = net.get(3).running_mean.clone()
    assert net.clearState() is net
    assert all(m.output.numel() == 0 for m in (net, net.get(3), net.get(4)))
    assert net.get(1).get(2).gradInput is None and net.gradInput.numel() == 0
    torch.testing.assert_close([*net.parameters()[0], *net.parameters()[1]], before)
    torch.testing.assert_close(net.get(3).running_mean, mean)


def test_reset_draws_anew() -> None:
    net = mlp()
    before = net.get(1).weight.clone()
    random.manualSeed(3)
    assert net.reset() is net
    assert not torch.equal(net.get(1).weight, before)
    net.reset(0)
    assert not any(p.any() for p in net.parameters()[0])


# The tree of modules.


def test_apply_goes_through_the_tree_in_order() -> None:
    net = conv_net()
    seen: list[Any] = []
    assert net.apply(seen.append) is net
    assert seen == net.listModules()
    assert [m.typename.removeprefix("nn.") for m in seen] == [
        *["Sequential", "ConcatTable", "Identity", "SpatialConvolution"],
        *["CAddTable", "SpatialBatchNormalization", "ReLU"],
    ]


def test_findModules_gives_modules_and_their_containers() -> None:
    net = nn.Sequential(conv_net(), nn.ReLU())
    found, containers = net.findModules("nn.ReLU")
    assert found == [net.get(1).get(4), net.get(2)] and containers == [net.get(1), net]
    assert net.findModules("nn.Dropout") == ([], [])
    assert net.get(2).findModules("nn.ReLU")[0] == [net.get(2)]
    with pytest.raises(TypeError, match=r"typename is .*; a Torch7 class name such as"):
        net.findModules(nn.ReLU)  # type: ignore[arg-type]


def test_replace_swaps_modules() -> None:
    net = nn.Sequential(mlp(), nn.Tanh())
    result = net.replace(lambda m: nn.ReLU() if m.typename == "nn.Tanh" else m)
    assert result is net
    assert [m.typename for m in net.get(1).modules] == ["nn.Linear", "nn.ReLU", "nn.Linear"]
    assert net.get(2).typename == "nn.ReLU"
    assert nn.Tanh().replace(lambda m: nn.ReLU()).typename == "nn.ReLU"


def test_get_insert_and_remove_count_from_1() -> None:
    net = mlp()
    first, second, third = net.modules
    assert net.get(1) is first and net.get(-1) is third and net.size() == len(net) == 3
    inserted = nn.Sigmoid()
    assert net.insert(inserted, 2) is net
    assert net.modules == [first, inserted, second, third]
    assert net.remove(2) is inserted and net.remove() is third
    net.insert(third)
    assert net.modules == [first, second, third]
    for index, error, message in (
        (0, IndexError, "index is 0; .* modules count from 1, as in Torch7"),
        (4, IndexError, "index is 4; a whole number from 1 to 3"),
        ("1", TypeError, "index is '1'; a whole number from 1 to 3 is accepted"),
        (True, TypeError, "index is True; a whole number from 1 to 3 is accepted"),
    ):
        with pytest.raises(error, match=message):
            net.get(index)  # type: ignore[arg-type]


def test_an_empty_container_is_true() -> None:
    assert nn.Sequential() and len(nn.Sequential()) == 0
    input = randn(2, 2)
    close(nn.Sequential().forward(input), input)


def test_call_goes_forward_and_back() -> None:
    net, input, gradOutput = mlp(), randn(6, 4), randn(6, 3)
    wanted = step(net, input, gradOutput)
    close(net(input), wanted[0])
    output, gradInput = net(input, gradOutput)
    close([output, gradInput], wanted[:2])


def test_print() -> None:
    assert str(nn.Sequential(nn.Linear(4, 5), nn.Concat(2).add(nn.Tanh()).add(mlp()))) == (
        "nn.Sequential {\n"
        "  [input -> (1) -> (2) -> output]\n"
        "  (1): nn.Linear(4 -> 5)\n"
        "  (2): nn.Concat {\n"
        "    input\n"
        "      |`-> (1): nn.Tanh\n"
        "       `-> (2): nn.Sequential {\n"
        "             [input -> (1) -> (2) -> (3) -> output]\n"
        "             (1): nn.Linear(4 -> 5)\n"
        "             (2): nn.Tanh\n"
        "             (3): nn.Linear(5 -> 3)\n"
        "           }\n"
        "       ... -> output\n"
        "  }\n"
        "}"
    )


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(TypeError, match=r"module is a str; a compat\.nn or torch\.nn module"):
        nn.Sequential().add("Tanh")  # type: ignore[arg-type]


def test_a_module_without_methods_does_nothing_as_in_torch7() -> None:
    class _Nothing(nn.Module):
        pass

    module = _Nothing()
    assert module.forward(randn(2)) is module.output
    assert module.backward(randn(2), randn(2)) is module.gradInput


# Files.


def test_files_hold_what_torch7_knows() -> None:
    net, input = mlp(), randn(6, 4)
    step(net, input, randn(6, 3))
    net.updateParameters(0.1)
    # Without clearState, in the midst of training.
    raw = t7.loads(t7.dumps(net), raw=True)
    linear = raw.fields["modules"][1]
    known = {"_type", "weight", "bias", "gradWeight", "gradBias", "output", "gradInput"}
    assert set(linear.fields) <= known | {"train", "addBuffer"}
    again = t7.loads(t7.dumps(net))
    close(again.forward(input), net.forward(input))
    close(again.parameters(), net.parameters())
    close(again.get(1).output, net.get(1).output)


def test_a_method_that_a_lua_function_replaces() -> None:
    raw = t7.loads(t7.dumps(mlp()), raw=True)
    frozen = t7.LuaFunction(b"\x1bLJ")
    raw.fields["modules"][1].fields["accGradParameters"] = frozen
    net = t7.loads(t7.dumps(raw))
    input = randn(6, 4)
    net.forward(input)
    with pytest.raises(RuntimeError, match=r"\[1\] nn\.Linear\(4 -> 5\): this is a Lua function"):
        net.backward(input, randn(6, 3))
    kept = t7.loads(t7.dumps(net), raw=True).fields["modules"][1].fields
    assert kept["accGradParameters"].bytecode == b"\x1bLJ" and "recordable" not in kept
    net.get(1).accGradParameters = lambda input, gradOutput, scale=1: None
    step(net, input, randn(6, 3))
    with pytest.raises(TypeError, match=r"accGradParameters of this .* was replaced by a Python"):
        t7.dumps(net)
    del net.get(1).accGradParameters
    step(net, input, randn(6, 3))
    assert net.get(1).gradWeight.any()


# torch.nn modules.


class TestTorchModules:
    @pytest.fixture
    def tower(self) -> Iterator[torch.nn.Sequential]:
        torch.manual_seed(3)
        yield torch.nn.Sequential(
            torch.nn.Linear(4, 5), torch.nn.BatchNorm1d(5), torch.nn.Tanh(), torch.nn.Linear(5, 3)
        ).double()

    def test_trains_like_the_module_alone(self, tower: torch.nn.Sequential) -> None:
        alone = copy.deepcopy(tower)
        net = nn.Sequential(tower, nn.Tanh())
        assert len(net.parameters()[0]) == 6
        for _ in range(3):
            input, gradOutput = randn(6, 4), randn(6, 3)
            leaf = input.clone().requires_grad_()
            wanted = torch.tanh(alone(leaf))
            alone.zero_grad()
            wanted.backward(gradOutput)
            output, gradInput, gradients = step(net, input, gradOutput)
            close(output, wanted.detach())
            close(gradInput, leaf.grad)
            close(gradients, [p.grad for p in alone.parameters()])
            net.updateParameters(0.1)
            with torch.no_grad():
                for p in alone.parameters():
                    p -= 0.1 * p.grad
            close(list(tower.parameters()), [p.detach() for p in alone.parameters()])
        close(tower[1].running_mean, alone[1].running_mean)

    def test_modes_types_and_clones(self, tower: torch.nn.Sequential) -> None:
        net = nn.Sequential(tower)
        net.evaluate()
        assert not tower[1].training
        net.training()
        assert tower[1].training
        clone = net.clone()
        net.float()
        assert tower[1].running_mean.dtype == tower[0].weight.dtype == torch.float32
        assert clone.get(1).module[0].weight.dtype == torch.float64
        before = tower[0].weight.clone()
        net.reset()
        assert not torch.equal(before, tower[0].weight)
        assert "BatchNorm1d" in repr(net)

    def test_frozen_parameters_are_not_listed(self, tower: torch.nn.Sequential) -> None:
        tower[0].requires_grad_(False)
        net = nn.Sequential(tower)
        assert len(net.parameters()[0]) == 4
        before = tower[0].weight.clone()
        step(net, randn(6, 4), randn(6, 3))
        net.updateParameters(0.1)
        close(tower[0].weight, before)

    def test_optimizers_of_torch_train_it(self, tower: torch.nn.Sequential) -> None:
        alone = copy.deepcopy(tower)
        net = nn.Sequential(tower, nn.Linear(3, 2).double())
        optimizers = [torch.optim.Adam(m.parameters(), lr=0.01) for m in (tower, alone)]
        tail = net.get(2)
        for _ in range(3):
            input, gradOutput = randn(6, 4), randn(6, 2)
            optimizers[0].zero_grad()
            net.forward(input)
            net.backward(input, gradOutput)
            optimizers[0].step()
            optimizers[1].zero_grad()
            (alone(input) @ tail.weight.T + tail.bias).backward(gradOutput)
            optimizers[1].step()
        close([p.detach() for p in tower.parameters()], [p.detach() for p in alone.parameters()])

    def test_a_table_is_the_list_of_arguments(self) -> None:
        net = nn.Sequential(torch.nn.Bilinear(3, 4, 2)).double()
        one, two = randn(5, 3), randn(5, 4)
        output = net.forward([one, two])
        close(output, net.get(1).module(one, two).detach())
        gradInput = net.backward([one, two], torch.ones_like(output))
        assert [g.shape for g in gradInput] == [one.shape, two.shape]

    def test_files_cannot_hold_it(self, tower: torch.nn.Sequential) -> None:
        with pytest.raises(TypeError, match=r"Sequential is a torch\.nn\.Module, for which the"):
            t7.dumps(nn.Sequential(tower))

    def test_an_error_tells_the_place(self, tower: torch.nn.Sequential) -> None:
        with pytest.raises(RuntimeError, match=r"^nn\.Sequential\[1\] .*Sequential\("):
            nn.Sequential(tower).forward(randn(6, 7))


def test_bases_that_torch7_does_not_have_are_unknown_to_files() -> None:
    class Rectifier(Elementwise, abstract=True):
        def apply_to(self, input: torch.Tensor) -> torch.Tensor:
            return input.relu()

    class MyReLU(Rectifier):
        pass

    assert isinstance(t7.loads(t7.dumps(MyReLU())), MyReLU)
    for base in (Rectifier, Elementwise, Windowed, Layer):
        with pytest.raises(t7.T7Error, match=base.__name__):
            t7.dumps(base())


def test_numbers_that_are_none_are_refused_with_the_place_and_change_nothing():
    net = nn.Sequential(nn.Linear(2, 3))
    input, grad = torch.ones(4, 2), torch.ones(4, 3)
    net.zeroGradParameters()
    before = [p.clone() for p in net.parameters()[0]]
    net.forward(input)
    for call, name in (
        (lambda: net.backward(input, grad, "1"), "nn.Sequential: scale is '1'"),
        (lambda: net.accGradParameters(input, grad, [1]), r"nn.Sequential: scale is \[1\]"),
        (lambda: net.updateParameters(None), "learningRate is None"),
        (lambda: net.accUpdateGradParameters(input, grad, "a"), "lr is 'a'"),
    ):
        with pytest.raises(TypeError, match=f"{name}; a number is accepted"):
            call()
    assert not any(p.grad.any() for p in net.parameters()[0])
    assert all(map(torch.equal, before, net.parameters()[0]))
    net.backward(input, grad, None)
    assert net.get(1).gradBias.tolist() == [4, 4, 4]


def test_a_copy_of_a_torch_module_is_whole() -> None:
    """Its gradients are copied, and what shares memory goes on sharing it."""
    net = nn.Sequential().add(nn.Linear(4, 3)).add(torch.nn.Linear(3, 3)).add(nn.Linear(3, 2))
    x, dx = net.getParameters()
    net.forward(torch.randn(5, 4))
    net.backward(torch.randn(5, 4), torch.randn(5, 2))
    for copied in (net.clone(), copy.deepcopy(net)):
        for old, new in zip(net.parameters(), copied.parameters(), strict=True):
            assert all(torch.equal(a, b) for a, b in zip(old, new, strict=True))
            assert len({t.untyped_storage().data_ptr() for t in new}) == 1
        assert isinstance(copied.get(2).module.weight, torch.nn.Parameter)
        assert (
            copied.getParameters()[0].untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
        )
        copied.zeroGradParameters()
        assert dx.any()


def test_a_first_layer_without_gradInput_does_not_switch_that_of_the_net_off() -> None:
    net = nn.Sequential().add(nn.Linear(4, 3)).add(nn.Tanh())
    net.get(1).gradInput = None
    input, gradOutput = torch.randn(5, 4), torch.randn(5, 3)
    net.forward(input)
    assert net.backward(input, gradOutput) is None
    read = t7.loads(t7.dumps(net))
    assert read.get(1).gradInput is None
    read.get(1).gradInput = torch.empty(0)
    read.forward(input)
    assert read.backward(input, gradOutput).shape == (5, 4)


def test_a_class_that_forgets_the_constructor_of_its_base() -> None:
    class Tripled(nn.Module):
        def __init__(self) -> None:
            self.factor = 3

        def updateOutput(self, input: Any) -> Any:
            self.output = input * self.factor
            return self.output

        def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
            self.gradInput = gradOutput * self.factor
            return self.gradInput

    net = nn.Sequential().add(nn.Linear(2, 3)).add(Tripled()).double().clone()
    input, gradOutput = torch.randn(4, 2).double(), torch.randn(4, 3).double()
    output = net.forward(input)
    torch.testing.assert_close(output, 3 * net.get(1).output)
    wanted = 3 * gradOutput @ net.get(1).weight
    torch.testing.assert_close(net.backward(input, gradOutput), wanted)
    assert t7.loads(t7.dumps(net)).get(2).factor == 3

    class Ones(nn.Criterion):
        def __init__(self) -> None:
            pass

        def compute(self, input: Any, target: Any) -> Any:
            return input.sum()

    criterion = Ones().double()
    assert criterion.forward(input, None) == pytest.approx(input.sum().item())
    assert torch.equal(criterion.backward(input, None), torch.ones_like(input))


@pytest.mark.parametrize(
    ("module", "head"),
    [
        (nn.Maxout(3, 4, 2), "nn.Sequential {"),
        (nn.SpatialLPPooling(3, 2, 2, 2), "nn.Sequential {"),
        (nn.Convert("bchw", "bf"), "nn.Convert"),
        (nn.NaN(nn.Linear(2, 3), 5), "nn.NaN(5) @ nn.Linear(2 -> 3)"),
        (nn.SpatialReflectionPadding(1, 2), "nn.SpatialReflectionPadding(l=1, r=2, t=1, b=1)"),
    ],
)
def test_prints_are_those_of_torch7(module: Any, head: str) -> None:
    assert repr(module).splitlines()[0] == head


def test_a_gradient_that_waits_for_its_parameter_can_be_taken_back() -> None:
    module = nn.Module()
    module.gradBias = torch.zeros(2)
    module.gradBias = None
    assert module.gradBias is None


def test_a_gradient_gives_up_its_memory_and_gets_it_again() -> None:
    layer = nn.Linear(3, 2)
    layer.gradWeight = layer.gradWeight.new_empty(0)
    assert layer.gradWeight.numel() == 0
    assert layer.weight.grad is None
    layer.gradWeight = torch.zeros(2, 3)
    layer.forward(torch.ones(3))
    layer.backward(torch.ones(3), torch.ones(2))
    assert layer.gradWeight.tolist() == [[1.0] * 3] * 2
