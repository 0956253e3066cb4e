"""cudnn.torch's recurrent layers: what PyTorch's compute, from cuDNN's flat weight."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from compat import cudnn, nn, t7

# Each class with its counterpart.
TWINS: list[tuple[Any, Any, dict[str, Any]]] = [
    (cudnn.RNN, torch.nn.RNN, {"nonlinearity": "relu"}),
    (cudnn.RNNReLU, torch.nn.RNN, {"nonlinearity": "relu"}),
    (cudnn.RNNTanh, torch.nn.RNN, {}),
    (cudnn.LSTM, torch.nn.LSTM, {}),
    (cudnn.GRU, torch.nn.GRU, {}),
    (cudnn.BLSTM, torch.nn.LSTM, {"bidirectional": True}),
    (cudnn.BGRU, torch.nn.GRU, {"bidirectional": True}),
]
each_twin = pytest.mark.parametrize(
    ("ours", "theirs", "options"), TWINS, ids=[twin[0].typename for twin in TWINS]
)


def flat(native: Any, values: Any) -> Tensor:
    """cuDNN's vector of what ``values`` gives for each parameter: all matrices, then all biases."""
    named = list(native.named_parameters())
    parts = [p for kind in ("weight", "bias") for n, p in named if n.startswith(kind)]
    return torch.cat([values(part).detach().reshape(-1) for part in parts])


def twins(ours: Any, theirs: Any, options: Any, *more: Any, layers: int = 2) -> tuple[Any, Any]:
    native = theirs(3, 4, layers, **options).double()
    module = ours(3, 4, layers, *more).double()
    module.weight.copy_(flat(native, lambda p: p))
    return module, native


@each_twin
@pytest.mark.parametrize("layers", [1, 3])
def test_output_and_gradients_are_those_of_pytorch(
    ours: Any, theirs: Any, options: Any, layers: int
) -> None:
    module, native = twins(ours, theirs, options, layers=layers)
    x = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    wanted, _ = native(x)
    output = module.forward(x.detach())
    torch.testing.assert_close(output, wanted.detach())
    gradOutput = torch.randn_like(output)
    wanted.backward(gradOutput)
    gradInput = module.backward(x.detach(), gradOutput, 0.5)
    torch.testing.assert_close(gradInput, x.grad)
    torch.testing.assert_close(module.gradWeight, 0.5 * flat(native, lambda p: p.grad))
    with torch.no_grad():
        torch.testing.assert_close(module.evaluate().forward(x), wanted.detach())


@each_twin
def test_the_batch_may_come_first(ours: Any, theirs: Any, options: Any) -> None:
    module, native = twins(ours, theirs, options, True)
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    wanted = native(x.transpose(0, 1))[0].transpose(0, 1)
    torch.testing.assert_close(module.forward(x), wanted.detach())
    assert module.backward(x, wanted.detach()).shape == x.shape
    assert (module.seqLength, module.miniBatch) == (5, 2)


# What NVIDIA's sample program for cuDNN prints, which cudnn.torch's own tests expect: sums of
# output, cellOutput, hiddenOutput, gradInput, gradCellInput, gradHiddenInput and gradWeight.
SAMPLE = {
    "RNNReLU": (1.315793e6, None, 1.315212e5, 6.676003e1, None, 6.425067e1, 1.453750e9),
    "RNNTanh": (6.319591e5, None, 6.319605e4, 4.501830, None, 4.489546, 5.012598e7),
    "LSTM": (5.749536e5, 4.365091e5, 5.774818e4, 384.2206, 9323.785, 11.82566, 4.313461e8),
    "GRU": (6.358978e5, None, 6.281680e4, 6.296622, None, 2.289960e5, 5.397419e7),
}


@pytest.mark.parametrize("name", SAMPLE)
def test_sums_of_the_sample_program(name: str) -> None:
    size, steps, batch = 512, 20, 64
    module = getattr(cudnn, name)(size, size, 2)
    for matrices, biases in zip(module.weights(), module.biases(), strict=True):
        for matrix, bias in zip(matrices, biases, strict=True):
            matrix.fill_(1 / matrix.numel())
            bias.fill_(1)
    # All samples of the batch are equal: one stands for them.
    for field in ("hiddenInput", "cellInput", "gradHiddenOutput", "gradCellOutput"):
        setattr(module, field, torch.ones(2, 1, size))
    x = torch.ones(steps, 1, size)
    output = module.forward(x)
    module.backward(x, torch.ones_like(output))
    results = (
        *(output, module.cellOutput, module.hiddenOutput, module.gradInput),
        *(module.gradCellInput, module.gradHiddenInput, module.gradWeight),
    )
    for result, wanted in zip(results, SAMPLE[name], strict=True):
        if wanted is not None:
            assert result.double().sum().item() * batch == pytest.approx(wanted, rel=2e-5)


@each_twin
def test_states_and_their_gradients(ours: Any, theirs: Any, options: Any) -> None:
    module, native = twins(ours, theirs, options)
    names = ["Hidden", "Cell"] if "LSTM" in ours.__name__ else ["Hidden"]
    size = (2 * module.numDirections, 2, 4)
    first = [torch.randn(size).double().requires_grad_() for _ in names]
    grads = [torch.randn(size).double() for _ in names]
    for name, state, grad in zip(names, first, grads, strict=True):
        setattr(module, f"{name.lower()}Input", state.detach())
        setattr(module, f"grad{name}Output", grad)
    x = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    wanted, ends = native(x, tuple(first) if len(first) > 1 else first[0])
    ends = list(ends) if isinstance(ends, tuple) else [ends]
    torch.autograd.backward([wanted, *ends], [torch.ones_like(wanted), *grads])
    net = nn.Sequential().add(nn.Identity()).add(module).add(nn.Identity())
    torch.testing.assert_close(net.forward(x.detach()), wanted.detach())
    torch.testing.assert_close(net.backward(x.detach(), torch.ones_like(wanted)), x.grad)
    torch.testing.assert_close(module.gradWeight, flat(native, lambda p: p.grad))
    for name, state, end in zip(names, first, ends, strict=True):
        torch.testing.assert_close(getattr(module, f"{name.lower()}Output"), end.detach())
        torch.testing.assert_close(getattr(module, f"grad{name}Input"), state.grad)
    module.resetStates()
    assert module.hiddenInput is module.gradHiddenOutput is module.cellInput is None


@pytest.mark.parametrize("cls", [cudnn.LSTM, cudnn.GRU])
def test_remembering_states_joins_sequences(cls: Any) -> None:
    module = cls(3, 4, 2, False, 0, True).double()
    x = torch.randn(6, 2, 3, dtype=torch.float64)
    whole = module.forward(x)
    module.resetStates()
    parts = [module.forward(x[:2]), module.forward(x[2:])]
    torch.testing.assert_close(torch.cat(parts), whole)
    # Another batch size begins anew.
    torch.testing.assert_close(module.forward(x[:, :1]), whole[:, :1])


@each_twin
def test_files(ours: Any, theirs: Any, options: Any) -> None:
    module, _ = twins(ours, theirs, options)
    x = torch.randn(5, 2, 3, dtype=torch.float64)
    wanted = module.forward(x)
    again = t7.loads(t7.dumps(module))
    assert type(again) is ours
    assert torch.equal(again.forward(x), wanted)
    fields = t7.loads(t7.dumps(module), raw=True).fields
    assert fields["mode"] == module.mode and fields["numDirections"] == module.numDirections
    assert fields["reserve"].numel() == 0 and fields["gradWeight"].shape == module.weight.shape


def test_files_of_early_versions() -> None:
    module = cudnn.LSTM(3, 4, 2)
    fields = t7.loads(t7.dumps(module), raw=True).fields
    for name in ("dropout", "batchFirst", "rememberStates", "sync"):
        del fields[name]
    fields["workspace"] = fields["dropoutStates"] = torch.zeros(9)
    again = t7.loads(t7.dumps(t7.TorchObject("cudnn.LSTM", 1, fields)))
    x = torch.randn(5, 2, 3)
    assert torch.equal(again.forward(x), module.forward(x))
    assert not {"workspace", "dropoutStates"} & set(vars(again))


def test_weights_are_parts_of_the_flat_one() -> None:
    module = cudnn.BLSTM(3, 4, 2)
    weights, biases = module.weights(), module.biases()
    assert [len(gates) for gates in weights] == [len(gates) for gates in biases] == [8] * 4
    assert [w.numel() for w in (weights[0][0], weights[0][4], weights[2][0])] == [12, 16, 32]
    weights[3][7].fill_(7)
    biases[0][0].fill_(8)
    assert module.weight.eq(7).sum() == 16 and module.weight.eq(8).sum() == 4


def test_the_mode_may_be_set_before_reset() -> None:
    module = cudnn.RNN(3, 4, 1)
    module.mode, module.bidirectional, module.numDirections = "CUDNN_GRU", "CUDNN_BIDIRECTIONAL", 2
    x = torch.randn(5, 2, 3)
    with pytest.raises(ValueError, match="weight has 36 elements; 216 are accepted for CUDNN_GRU"):
        module.forward(x)
    module.reset()
    assert module.forward(x).shape == (5, 2, 8)
    assert module.weight.abs().max() <= 0.5 and module.gradWeight.shape == module.weight.shape


def test_dropout_between_layers() -> None:
    module = cudnn.LSTM(3, 64, 2, False, 0.5)
    x = torch.randn(5, 2, 3)
    assert not torch.equal(module.forward(x), module.forward(x))
    module.evaluate()
    assert torch.equal(module.forward(x), module.forward(x))
    assert module.backward(x, torch.ones(5, 2, 64)).shape == x.shape


@each_twin
def test_as_a_torch_module(ours: Any, theirs: Any, options: Any) -> None:
    module = nn.Sequential().add(ours(3, 4, 2, True))
    net = module.to_torch()
    x = torch.randn(2, 5, 3)
    torch.testing.assert_close(net(x), module.forward(x))
    assert isinstance(net[0], theirs)
    assert all(parameter.requires_grad for parameter in net.parameters())
    module.get(1).hiddenInput = torch.zeros(2, 2, 4)
    with pytest.raises(ValueError, match="begins with states of its own"):
        module.to_torch()


@each_twin
def test_as_a_torch_module_that_remembers(ours: Any, theirs: Any, options: Any) -> None:
    module = ours(3, 4, 2)
    module.rememberStates = True
    net = module.to_torch()
    for _ in range(3):
        x = torch.randn(5, 2, 3)
        torch.testing.assert_close(net(x), module.forward(x))


@pytest.mark.parametrize(
    ("module", "input", "message"),
    [
        (cudnn.LSTM(3, 4, 1), torch.ones(5, 3), r"input has size \(5, 3\); seqLength x miniBatch"),
        (cudnn.GRU(3, 4, 1, True), torch.ones(5, 2, 4), "miniBatch x seqLength x 3 is accepted"),
        (cudnn.LSTM(3, 4, 1), [torch.ones(5, 2, 3)], "input is a list; a tensor is accepted"),
        (cudnn.LSTM(3, 4, 1), torch.ones(5, 2, 3).double(), "input is torch.float64, the module"),
    ],
)
def test_wrong_inputs_are_named(module: Any, input: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"{module}: .*{message}"):
        module.forward(input)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="numLayers is 0; a whole number from 1"):
        cudnn.LSTM(3, 4, 0)
    with pytest.raises(ValueError, match="dropout is 2; 0 to 1"):
        cudnn.LSTM(3, 4, 1, False, 2)
    module = cudnn.LSTM(3, 4, 1)
    x = torch.ones(5, 2, 3)
    module.mode = "CUDNN_NONE"
    with pytest.raises(ValueError, match="mode is 'CUDNN_NONE'; 'CUDNN_RNN_RELU', "):
        module.forward(x)
    module.mode, module.inputMode = "CUDNN_LSTM", "CUDNN_SKIP_INPUT"
    with pytest.raises(ValueError, match="inputMode is 'CUDNN_SKIP_INPUT'"):
        module.forward(x)
    module.inputMode, module.hiddenInput = "CUDNN_LINEAR_INPUT", torch.zeros(1, 3, 4)
    with pytest.raises(ValueError, match=r"hiddenInput has size \(1, 3, 4\); \(1, 2, 4\) is"):
        module.forward(x)
    module.hiddenInput, module.gradCellOutput = None, torch.zeros(1, 2, 4).double()
    module.forward(x)
    with pytest.raises(TypeError, match="gradCellOutput is torch"):
        module.backward(x, torch.ones(5, 2, 4))


@pytest.mark.cuda
@each_twin
def test_on_a_gpu_the_layout_is_that_of_cudnn(
    ours: Any, theirs: Any, options: Any, recwarn: pytest.WarningsRecorder
) -> None:
    module = ours(3, 4, 2)
    x = torch.randn(5, 2, 3)
    wanted = module.forward(x)
    gradients = [module.backward(x, wanted).cpu(), module.gradWeight.clone()]
    module.zeroGradParameters()
    module.cuda()
    output = module.forward(x.cuda())
    found = [module.backward(x.cuda(), wanted.cuda()).cpu(), module.gradWeight.cpu()]
    torch.testing.assert_close(output.cpu(), wanted, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(found, gradients, rtol=1e-3, atol=1e-3)
    # PyTorch would warn where the parts of the weight do not lie as cuDNN wants them.
    assert not [warning for warning in recwarn if "contiguous" in str(warning.message)]
