"""Linear layers of sparse inputs against `Linear` of the dense ones."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from compat import nn, t7

pytestmark = pytest.mark.usefixtures("double_by_default")


KEYS = [torch.tensor([1, 4]), torch.tensor([], dtype=torch.long), torch.tensor([2, 4, 2])]
SIZES = [2, 0, 3]


def samples() -> tuple[list[Tensor], Tensor]:
    """The values of three samples, and the dense batch that they stand for."""
    values = [torch.randn(len(keys)) for keys in KEYS]
    dense = torch.zeros(3, 5)
    for row, keys, value in zip(dense, KEYS, values, strict=True):
        row.index_add_(0, keys - 1, value)
    return values, dense


def check(module: nn.Module, input: Any, dense: Tensor, weight: Tensor) -> None:
    """Output and gradients are those of the dense layer with ``weight``."""
    weight, bias = weight.clone().requires_grad_(), module.bias.clone().requires_grad_()
    wanted = F.linear(dense, weight, bias)
    torch.testing.assert_close(module.forward(input), wanted)
    gradOutput = torch.randn(wanted.shape)
    wanted.backward(gradOutput)
    module.zeroGradParameters()
    module.backward(input, gradOutput)
    transposed = isinstance(module, nn.IndexLinear)
    gradient = module.gradWeight.t() if transposed else module.gradWeight
    torch.testing.assert_close(gradient, weight.grad)
    torch.testing.assert_close(module.gradBias, bias.grad)


def test_sparse_linear_is_linear_of_the_dense_input() -> None:
    module = nn.SparseLinear(5, 3)
    values, dense = samples()
    input = [torch.stack([k.double(), v], 1) for k, v in zip(KEYS, values, strict=True)]
    check(module, input, dense, module.weight)
    check(module, input[2], dense[2], module.weight)
    check(module, torch.stack([input[0], input[0]]), dense[[0, 0]], module.weight)


def test_index_linear_is_linear_of_the_dense_input() -> None:
    module = nn.IndexLinear(5, 3)
    module.reset()
    values, dense = samples()
    check(module, [KEYS, values], dense, module.weight.t())
    check(module, [KEYS[2], values[2]], dense[2], module.weight.t())
    flat = [torch.cat(KEYS), torch.cat(values)]
    check(module, [*flat, torch.tensor(SIZES)], dense, module.weight.t())


def test_keys_may_start_elsewhere() -> None:
    module = nn.IndexLinear(5, 3, False, -1)
    module.reset()
    values, dense = samples()
    check(module, [[keys + 1 for keys in KEYS], values], dense, module.weight.t())


def test_index_linear_uses_the_weight_it_is_given() -> None:
    weight = torch.randn(5, 3)
    module = nn.IndexLinear(None, None, False, None, weight, torch.zeros(3))
    assert module.weight.data_ptr() == weight.data_ptr()
    assert (module.inputSize, module.outputSize) == (5, 3)


@pytest.mark.parametrize("kind", [nn.SparseLinear, nn.IndexLinear])
def test_gradInput_has_every_feature(kind: Any) -> None:
    module = kind(5, 3, True)
    module.reset()
    gradOutput = torch.randn(2, 3)
    dense = gradOutput @ (module.weight.t() if kind is nn.IndexLinear else module.weight)
    if kind is nn.IndexLinear:
        input: Any = [[torch.tensor([1]), torch.tensor([2])], [torch.ones(1), torch.ones(1)]]
        module.forward(input)
        keys, values = module.backward(input, gradOutput)
    else:
        input = [torch.ones(1, 2), torch.ones(1, 2)]
        module.forward(input)
        pairs = torch.stack(module.backward(input, gradOutput))
        keys, values = pairs.unbind(2)
    assert [k.tolist() for k in keys] == [[1, 2, 3, 4, 5]] * 2
    torch.testing.assert_close(torch.stack(list(values)), dense)


@pytest.mark.parametrize("kind", [nn.SparseLinear, nn.IndexLinear])
def test_without_doGradInput_there_is_none(kind: Any) -> None:
    input = torch.ones(1, 2) if kind is nn.SparseLinear else [torch.tensor([1]), torch.ones(1)]
    module = kind(5, 3)
    module.forward(input)
    assert module.backward(input, torch.ones(3)) == []
    assert module.clearState().forward(input).shape == (3,)


@pytest.mark.parametrize("kind", [nn.SparseLinear, nn.IndexLinear])
def test_weight_decay_pulls_the_weights_to_zero(kind: Any) -> None:
    input = torch.ones(1, 2) if kind is nn.SparseLinear else [torch.tensor([1]), torch.ones(1)]
    module = kind(1, 3)
    module.reset()
    module.weightDecay = 0.5
    module.forward(input)
    module.zeroGradParameters()
    module.backward(input, torch.zeros(3))
    torch.testing.assert_close(module.gradWeight, 0.5 * module.weight)
    assert not module.gradBias.any()


def test_values_are_divided_by_the_largest_seen() -> None:
    module = nn.IndexLinear(3, 2, False, None, None, None, True)
    module.reset()
    assert module.weight.shape == (3, 6)
    keys = torch.tensor([1, 3])
    module.forward([keys, torch.tensor([-2.0, 4.0])])
    assert module.weight[:, 0].tolist() == [2, 0, 4]
    rows = module.weight[[0, 2], 4:]
    wanted = 0.5 * rows[0] + 0.25 * rows[1] + module.bias
    torch.testing.assert_close(module.forward([keys, torch.tensor([1.0, 1.0])]), wanted)
    module.evaluate()
    wanted = rows[0] - rows[1] + module.bias
    torch.testing.assert_close(module.forward([keys, torch.tensor([9.0, -9.0])]), wanted)
    assert module.weight[:, 0].tolist() == [2, 0, 4]


def test_the_number_added_to_normalized_values_is_trained() -> None:
    module = nn.IndexLinear(3, 2, False, None, None, None, True)
    module.reset()
    input = [torch.tensor([1, 3]), torch.tensor([-2.0, 4.0])]
    module.forward(input)
    module.zeroGradParameters()
    module.backward(input, torch.tensor([1.0, 2.0]))
    wanted = module.weight[:, 4] + 2 * module.weight[:, 5]
    torch.testing.assert_close(module.gradWeight[[0, 2], 3], wanted[[0, 2]])
    assert not module.gradWeight[:, :3].any()


def test_saved_sparse_layers_have_what_lua_starts_from() -> None:
    fields = nn.IndexLinear(5, 3).t7_fields()
    assert fields["running"]["counter"] == 1
    assert fields["gradInput"] == []
    again = t7.loads(t7.dumps(nn.IndexLinear(5, 3)))
    assert again.gradWeight.shape == (5, 3)


@pytest.mark.parametrize(
    ("module", "input", "message"),
    [
        (nn.SparseLinear(5, 3), torch.ones(2, 3), "n x 2, of keys and values"),
        (nn.SparseLinear(5, 3), torch.tensor([[6.0, 1]]), "the key 6; 1 to 5 are accepted"),
        (nn.SparseLinear(5, 3), [[torch.ones(1, 2)]], r"input\[1\] is a list; a tensor"),
        (nn.SparseLinear(5, 3), torch.ones(1, 2).double(), "input is torch.float64, the module is"),
        (nn.IndexLinear(5, 3), [[torch.tensor([1])], []], r"input\[2\] is a list of 0; a table"),
        (nn.IndexLinear(5, 3), [[torch.tensor([1])], torch.ones(1)], r"input\[2\] is a Tensor"),
        (nn.IndexLinear(5, 3), [torch.tensor([1]), [1.0]], r"input\[2\] is a list; a tensor"),
        (nn.IndexLinear(5, 3), [torch.tensor([1]), torch.ones(1), "1"], r"input\[3\] is a str"),
        (nn.IndexLinear(5, 3), [torch.tensor([1]), torch.ones(1), [0.5]], r"input\[3\]\[1\] is"),
        (nn.IndexLinear(5, 3), [torch.tensor([1]), torch.ones(1).double()], r"input\[2\] is torch"),
        (nn.IndexLinear(5, 3), torch.ones(4), "input is a Tensor; a table of keys and values"),
        (nn.IndexLinear(5, 3), [torch.tensor([0]), torch.ones(1)], "the key 0; 1 to 5"),
        (nn.IndexLinear(5, 3), [torch.tensor([1]), torch.ones(2)], "samples of 1 keys"),
        (
            nn.IndexLinear(5, 3),
            [[torch.tensor([1])], [torch.ones(2)]],
            r"input\[2\]\[1\] has size \(2,\); a vector",
        ),
    ],
)
def test_wrong_inputs_are_named(module: nn.Module, input: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        module.forward(input)
    assert str(caught.value).startswith(f"{module}: ")


def test_gradInput_and_normalize_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="doGradInput is True; with normalize, False"):
        nn.IndexLinear(5, 3, True, None, None, None, True)


def test_a_sparse_layer_starts_a_net() -> None:
    net = nn.Sequential().add(nn.SparseLinear(5, 3)).add(nn.Tanh())
    input = [torch.tensor([[1, 2.0]]), torch.tensor([[5, 1.0]])]
    net.forward(input)
    net.zeroGradParameters()
    net.backward(input, torch.ones(2, 3))
    assert net.get(1).gradWeight[:, [0, 4]].all()
    assert not net.get(1).gradWeight[:, 1:4].any()


def test_weight_decay_touches_the_columns_of_the_latest_input() -> None:
    """Other columns keep what has gathered there until their feature is met again."""
    module = nn.SparseLinear(5, 2)
    module.weightDecay = 0.1
    module.weight.copy_(torch.arange(1.0, 11).view(2, 5))
    module.bias.fill_(0.5)
    first, second = [torch.tensor([[1.0, 1], [3, 2]])], [torch.tensor([[2.0, 1]])]
    for input in (first, second, first):
        module.zeroGradParameters()
        module.forward(input)
        module.backward(input, torch.ones(1, 2))
        module.updateParameters(0.1)
    # As Lua Torch7 prints them.
    weight = [[0.7722, 1.86, 2.5146, 4, 5], [5.6232, 6.76, 7.3656, 9, 10]]
    gradient = [[1.178, 0.186, 2.554, 1.2, 1.5], [2.168, 0.676, 3.544, 2.7, 3.0]]
    torch.testing.assert_close(module.weight, torch.tensor(weight), rtol=0, atol=1e-4)
    torch.testing.assert_close(module.gradWeight, torch.tensor(gradient), rtol=0, atol=1e-4)
    module.forward(second)
    module.zeroGradParameters()
    assert not module.gradWeight.any()


def test_a_key_of_value_0_is_padding() -> None:
    module = nn.SparseLinear(4, 2)
    padded = torch.tensor([[[1.0, 2], [0, 0]], [[2, 1], [3, 1]]])
    alone = [torch.tensor([[1.0, 2]]), padded[1]]
    torch.testing.assert_close(module.forward(padded), module.forward(alone))
