"""Layers that pass their input on, convert it or change its gradient."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import nn, t7
from compat.tensor_tables import map_tensors


def test_identity_takes_tables() -> None:
    table = [torch.ones(2), [torch.zeros(3)]]
    output = nn.Identity().forward(table)
    assert torch.equal(output[0], table[0])
    assert torch.equal(output[1][0], table[1][0])


def test_constant_is_a_copy_for_every_sample() -> None:
    value = torch.tensor([1.0, 2.0])
    module = nn.Constant(value, 1)
    output = module.forward(torch.ones(3, 4))
    assert output.tolist() == [[1, 2]] * 3
    nn.ReLU(True).forward(output.fill_(7))
    assert value.tolist() == [1, 2]
    assert module.forward(torch.ones(4)).tolist() == [1, 2]
    assert nn.Constant(3).forward(torch.ones(2, 2)).tolist() == [3]
    x = torch.ones(3, 4)
    module.forward(x)
    assert torch.equal(module.backward(x, torch.ones(3, 2)), torch.zeros(3, 4))


def test_constant_joins_a_net() -> None:
    net = nn.ConcatTable().add(nn.Constant(2.0)).add(nn.Identity())
    x = torch.randn(3)
    net.forward(x)
    assert torch.equal(
        net.backward(x, [torch.ones(1), torch.full((3,), 5.0)]), torch.full((3,), 5.0)
    )


def test_gradient_reversal() -> None:
    x, gradOutput = torch.randn(3), torch.randn(3)
    module = nn.GradientReversal(0.5)
    assert torch.equal(module.forward(x), x)
    assert torch.equal(module.backward(x, gradOutput), -0.5 * gradOutput)
    module.setLambda(2)
    module.forward(x)
    assert torch.equal(module.backward(x, gradOutput), -2 * gradOutput)


def test_gradients_of_neighbours_are_not_reversed() -> None:
    net = nn.Sequential().add(nn.MulConstant(2)).add(nn.GradientReversal()).add(nn.MulConstant(3))
    x = torch.randn(3)
    net.forward(x)
    assert net.backward(x, torch.ones(3)).tolist() == [-6] * 3
    assert net.get(3).gradInput.tolist() == [3] * 3
    assert net.get(2).gradInput.tolist() == [-3] * 3


def test_gradient_reversal_of_version_1_has_the_factor_1() -> None:
    old = t7.loads(t7.dumps(t7.TorchObject("nn.GradientReversal", 1, {})))
    assert old.lambda_ == 1
    assert t7.loads(t7.dumps(nn.GradientReversal(0.25))).lambda_ == 0.25


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("provide", [None, True, False])
def test_l1_penalty(provide: bool | None, average: bool) -> None:
    x, gradOutput = torch.tensor([-2.0, 0.0, 3.0, 1.0]), torch.randn(4)
    module = nn.L1Penalty(0.5, average, provide)
    assert torch.equal(module.forward(x), x)
    weight = 0.5 / 4 if average else 0.5
    assert module.loss == pytest.approx(6 * weight)
    wanted = weight * x.sign() + (gradOutput if provide is not False else 0)
    torch.testing.assert_close(module.backward(x, gradOutput), wanted)


def test_zero_grad_stops_the_gradient() -> None:
    net = nn.Sequential().add(nn.Linear(3, 2)).add(nn.ZeroGrad())
    x = torch.randn(4, 3)
    net.zeroGradParameters()
    net.forward(x)
    assert torch.equal(net.backward(x, torch.ones(4, 2)), torch.zeros(4, 3))
    assert not net.getParameters()[1].any()
    table = [torch.ones(2), torch.ones(3)]
    module = nn.ZeroGrad()
    module.forward(table)
    assert [g.tolist() for g in module.backward(table, table)] == [[0, 0], [0, 0, 0]]


def test_print_size_prints_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    # As Lua Torch7 does; of a table that shows an address.
    module, x = nn.PrintSize("here"), torch.ones(2, 13)
    size = "\t  2\n 13\n[torch.LongStorage of size 2]\n\n"
    module.forward(x)
    assert capsys.readouterr().out == f"here:input\n{size}"
    module.backward(x, x)
    assert capsys.readouterr().out == f"here:gradOutput\n{size}"
    module.forward([x, [x]])
    assert capsys.readouterr().out == "here:input\n\t[2x13, [2x13]]\n"


FLOAT, DOUBLE = "torch.FloatTensor", "torch.DoubleTensor"


def test_copy_converts_both_ways() -> None:
    module, x = nn.Copy(DOUBLE, FLOAT), torch.ones(3, dtype=torch.float64)
    assert module.forward(x).dtype == torch.float32
    assert module.backward(x, torch.ones(3)).dtype == torch.float64
    again = t7.loads(t7.dumps(module))
    assert (again.intype, again.outtype) == (DOUBLE, FLOAT)
    assert again.forward(x).dtype == torch.float32


def test_copy_of_one_type_copies_if_forced() -> None:
    x = torch.ones(3)
    assert nn.Copy(FLOAT, FLOAT).forward(x).data_ptr() == x.data_ptr()
    assert nn.Copy(FLOAT, FLOAT, True).forward(x).data_ptr() != x.data_ptr()


def test_copy_follows_the_type_unless_it_must_not() -> None:
    x = torch.ones(3, dtype=torch.float64)
    assert nn.Copy(DOUBLE, FLOAT).double().forward(x).dtype == torch.float64
    assert nn.Copy(DOUBLE, FLOAT, False, True).double().forward(x).dtype == torch.float32
    net = nn.Sequential().add(nn.Copy(DOUBLE, FLOAT, False, True)).double()
    assert net.forward(x).dtype == torch.float32


def test_copy_takes_integers() -> None:
    module, x = nn.Copy("torch.ByteTensor", FLOAT), torch.tensor([1, 255], dtype=torch.uint8)
    assert module.forward(x).tolist() == [1, 255]
    again = t7.loads(t7.dumps(module))
    assert (again.intype, again.outtype) == ("torch.ByteTensor", FLOAT)


def test_files_of_gpu_modules_hold_gpu_types() -> None:
    module = nn.Copy(FLOAT, "torch.CudaTensor")
    module._type = "torch.CudaTensor"
    fields = module.t7_fields()
    assert fields["output"].torch7_type == "torch.CudaTensor"
    assert not hasattr(fields["gradInput"], "torch7_type")
    masked = nn.MaskedSelect().double()
    masked._type = "torch.CudaDoubleTensor"
    for name in ("output", "gradInput", "_gradBuffer"):
        assert masked.t7_fields()[name].torch7_type == "torch.CudaDoubleTensor"


def test_copy_from_a_file_with_replaced_methods() -> None:
    fields = {
        "gradInput": torch.empty(0),
        "output": torch.empty(0),
        "updateOutput": t7.LuaFunction(b"\x1bLJ"),
        "updateGradInput": t7.LuaFunction(b"\x1bLJ"),
    }
    module = t7.loads(t7.dumps(t7.TorchObject("nn.Copy", 1, fields)))
    x = torch.ones(2)
    assert module.forward(x).data_ptr() == x.data_ptr()
    assert module.backward(x, x).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("shapes", "given", "wanted"),
    [
        (("bchw", "bhwc"), (2, 3, 4, 5), lambda x: x.permute(0, 2, 3, 1)),
        (("chw", "hwc"), (3, 4, 5), lambda x: x.permute(1, 2, 0)),
        (("bchw", "bf"), (2, 3, 4, 5), lambda x: x.reshape(2, 60)),
        (("chw", "f"), (3, 4, 5), lambda x: x.reshape(60)),
        (("cbhw", "bf"), (3, 2, 4, 5), lambda x: x.transpose(0, 1).reshape(2, 60)),
        (("fb", "bf"), (3, 2), lambda x: x.t()),
        (("b", "bf"), (4,), lambda x: x.view(4, 1)),
        (("b", "bt"), (4,), lambda x: x.view(4, 1)),
        (("bt", "b"), (4, 3), lambda x: x[:, 0]),
        (("tb", "b"), (3, 4), lambda x: x[0]),
        (("bf", "b"), (4, 1), lambda x: x[:, 0]),
        ((None, None), (2, 3, 4), lambda x: x),
    ],
)
def test_convert(shapes: Any, given: Any, wanted: Any) -> None:
    module, x = nn.Convert(*shapes), torch.randn(given)
    assert torch.equal(module.forward(x), wanted(x))
    module.forward(x)
    leaf = x.clone().requires_grad_()
    result = wanted(leaf)
    gradOutput = torch.randn_like(result)
    result.backward(gradOutput)
    assert torch.equal(module.backward(x, gradOutput), leaf.grad)


def test_convert_also_converts_the_type() -> None:
    module = nn.Convert().double()
    assert module.forward(torch.tensor([1, 2])).dtype == torch.float64
    x = torch.ones(2)
    module.forward(x)
    assert module.backward(x, torch.ones(2, dtype=torch.float64)).dtype == torch.float64


def test_converted_gradients_reach_a_layer_of_another_type() -> None:
    net = nn.Sequential().add(nn.Linear(3, 2)).add(nn.Convert().double())
    x = torch.randn(4, 3)
    assert net.forward(x).dtype == torch.float64
    assert net.backward(x, net.output).dtype == torch.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.Constant("a"), TypeError, "value is 'a'; a number"),
        (
            lambda: nn.Copy("torch.Float"),
            ValueError,
            "intype is 'torch.Float'; torch.Float",
        ),
        (
            lambda: nn.Convert(None, "bf"),
            TypeError,
            "inputShape is None; with outputShape, a string",
        ),
        (lambda: nn.Convert("b*", "bf"), ValueError, r"'b\*' is accepted for both or neither"),
        (
            lambda: nn.Convert("bt", "bf"),
            ValueError,
            "outputShape is 'bf'; one that is known for inputShape 'bt' is",
        ),
        (
            lambda: nn.Convert("bchw", "bf").forward(torch.ones(2, 3)),
            ValueError,
            "nn.Convert: input has 2 dimensions; 3 or 4",
        ),
        (
            lambda: nn.Convert("bf", "b").forward(torch.ones(2, 3)),
            ValueError,
            "nn.Convert: input has 3 features; 1 is accepted",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("last", [nn.SelectTable(1), nn.NarrowTable(1, 1), nn.SelectTable(2)])
def test_the_penalty_of_a_branch_that_is_left_out_counts(last: Any) -> None:
    branch = nn.Sequential().add(nn.Linear(3, 2)).add(nn.L1Penalty(0.5))
    net = nn.Sequential().add(nn.ConcatTable().add(nn.Linear(3, 2)).add(branch)).add(last)
    x = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    net.zeroGradParameters()
    output = net.forward(x)
    gradOutput = map_tensors(torch.ones_like, output)
    gradInput = net.backward(x, gradOutput)
    other, penalised = net.get(1).get(1), branch.get(1)
    slope = 0.5 * branch.output.sign()
    taken = getattr(last, "index", 1)
    to_other, to_branch = (1, slope) if taken == 1 else (0, slope + 1)
    to_other = torch.full_like(slope, to_other)
    torch.testing.assert_close(penalised.gradWeight, to_branch.t() @ x)
    torch.testing.assert_close(other.gradWeight, to_other.t() @ x)
    wanted = to_branch @ penalised.weight + to_other @ other.weight
    torch.testing.assert_close(gradInput, wanted)
    torch.testing.assert_close(branch.get(2).gradInput, to_branch)


def test_convert_takes_samples_of_the_size_of_the_first() -> None:
    module = nn.Convert("bchw", "bf")
    assert module.forward(torch.zeros(2, 3, 2, 2)).shape == (2, 12)
    assert module.forward(torch.zeros(5, 3, 2, 2)).shape == (5, 12)
    with pytest.raises(ValueError, match="input has samples of 48 numbers; 12, as the first had"):
        module.forward(torch.zeros(2, 3, 4, 4))


@pytest.mark.parametrize("outer", [nn.Identity, nn.Sequential, nn.ConcatTable])
def test_a_gradInput_of_none_means_nothing_to_who_computes_none(outer: Any) -> None:
    """Torch7's ``updateGradInput`` of these hands on what others have computed."""
    module = outer() if outer is nn.Identity else outer().add(nn.Tanh())
    net = nn.Sequential().add(nn.Linear(3, 2)).add(module)
    if outer is nn.ConcatTable:
        net.add(nn.SelectTable(1))
    module.gradInput = None
    net.zeroGradParameters()
    x = torch.randn(4, 3)
    net.forward(x)
    assert net.backward(x, torch.ones(4, 2)).any()
    assert net.get(1).gradWeight.any()
