"""The models of torch-rnn and char-rnn against recordings, and their checkpoints."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.paths import GOLDEN

from compat import char_rnn, nn, random, t7, torch_rnn
from compat.nn.unknown import Unknown
from compat.t7.objects import registry

FOLDER = GOLDEN / "char_models"
RECORDED = t7.load(FOLDER / "models.t7")


def close(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def flat(tensors: list[torch.Tensor]) -> torch.Tensor:
    return torch.cat([tensor.flatten() for tensor in tensors])


@pytest.fixture(autouse=True)
def double() -> Any:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def built(case: Any) -> nn.LanguageModel:
    random.manualSeed(case.seed)
    return nn.LanguageModel(case.kwargs)


CASES = pytest.mark.parametrize(
    "case", RECORDED.cases, ids=lambda c: f"{c.kwargs.model_type} {c.kwargs.num_layers}"
)


@CASES
def test_a_seed_gives_the_recorded_parameters(case: Any) -> None:
    close(flat(built(case).parameters()[0]), case.params)


@CASES
def test_calls_go_on_from_each_other_as_recorded(case: Any) -> None:
    model = built(case)
    model.zeroGradParameters()
    for call in case.calls:
        random.manualSeed(call.seed)
        close(model.forward(call.input), call.output)
        model.backward(call.input, call.gradOutput)
        close(flat(model.parameters()[1]), call.grads)
    # Written in their midst, they go on as well.
    again = t7.loads(t7.dumps(model))
    for net in (model, again):
        random.manualSeed(5)
        net.forward(case.calls[1].input)
    close(again.output, model.output)
    assert again.idx_to_token == model.idx_to_token and repr(again) == repr(model)


@CASES
def test_samples_are_the_recorded_ones(case: Any) -> None:
    model = built(case)
    for call in case.calls:  # which move the running statistics
        random.manualSeed(call.seed)
        model.forward(call.input)
    model.evaluate()
    for sample in case.samples:
        random.manualSeed(30)
        text = sample.text
        text = text.decode(errors="replace") if isinstance(text, bytes) else text
        assert model.sample(sample.options) == text


def test_a_vocabulary_counts_from_1() -> None:
    model = built(RECORDED.cases[1])
    assert model.idx_to_token[1] == "a" and model.token_to_idx["a"] == 1
    assert model.idx_to_token.get(0) is None
    assert model.encode_string("baé").tolist() == [2, 1, 5, 6]
    assert model.decode_string(torch.tensor([2, 1, 5, 6])) == "baé"
    with pytest.raises(ValueError, match="'z', which is not in the vocabulary"):
        model.encode_string("z")


def test_numbers_become_rows() -> None:
    input, output, module = RECORDED.onehot.input, RECORDED.onehot.output, RECORDED.onehot.module
    assert type(module) is char_rnn.OneHot
    for layer in (module, char_rnn.OneHot(4), t7.loads(t7.dumps(module))):
        assert torch.equal(layer.forward(input), output)
        assert layer.backward(input, output).numel() == 0
    for wrong in (0, 5):
        with pytest.raises(ValueError, match="input holds numbers outside 1 to 4"):
            module.forward(torch.tensor([wrong]))


def test_a_checkpoint_of_torch_rnn() -> None:
    checkpoint = t7.load(FOLDER / "torch_rnn.t7")
    model = checkpoint.model
    assert type(model) is nn.LanguageModel
    assert [type(rnn) for rnn in model.rnns] == [torch_rnn.LSTM] * 2
    assert model.rnns[0] is model.net.get(2)
    torch.testing.assert_close(
        flat(model.parameters()[0]), RECORDED.cases[1].params.float(), rtol=1e-6, atol=1e-6
    )
    assert checkpoint.opt.model_type == checkpoint["opt"]["model_type"] == "lstm"
    assert checkpoint.train_loss_history[1] == 3.5 and not checkpoint.val_loss_history
    fresh = built(RECORDED.cases[1]).float()
    input = RECORDED.cases[1].calls[1].input
    torch.testing.assert_close(
        model.evaluate().forward(input), fresh.evaluate().forward(input), rtol=1e-5, atol=1e-6
    )
    again = t7.loads(t7.dumps(checkpoint))
    again.model.forward(input)
    assert again.model.idx_to_token == model.idx_to_token
    # In the file it is what Lua wrote: vocabulary and layers are tables that count from 1.
    fields = t7.loads(t7.dumps(checkpoint), raw=True).model
    assert fields["idx_to_token"][1] == "a" and fields["rnns"][1].typename == "nn.LSTM"


def test_a_checkpoint_of_char_rnn() -> None:
    checkpoint = t7.load(FOLDER / "char_rnn.t7")
    close(checkpoint.protos.rnn.forward(checkpoint.input), list(checkpoint.output))
    assert checkpoint.vocab["b"] == 2 and checkpoint.val_losses[5] == 2
    assert checkpoint.train_losses[1] == 1.5
    assert type(checkpoint.protos.criterion) is nn.ClassNLLCriterion


def test_a_checkpoint_whose_class_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {name: known for name, known in registry._entries.items() if name != "OneHot"}
    monkeypatch.setattr(registry, "_entries", entries)
    monkeypatch.delitem(registry._HOMES, "OneHot")
    checkpoint = t7.load(FOLDER / "char_rnn.t7")
    net = checkpoint.protos.rnn
    (unknown,) = [module for module in net.modules if isinstance(module, Unknown)]
    assert unknown.typename == "OneHot" and torch.equal(unknown._eye, torch.eye(4))
    assert net.replace(lambda module: module) is net
    assert len(net.parameters()[0]) == 6 and net.clone().findModules("OneHot")[0]
    with pytest.raises(NotImplementedError, match=r"nn\.gModule\[\d+\] OneHot .*@t7\.register"):
        net.forward(checkpoint.input)
    data = t7.dumps(checkpoint)
    monkeypatch.undo()
    again = t7.loads(data)
    close(again.protos.rnn.forward(checkpoint.input), list(checkpoint.output))


def test_the_classes_of_two_packages_share_a_name() -> None:
    step, whole = nn.LSTM(3, 4), torch_rnn.LSTM(3, 4)
    assert step.typename == whole.typename == "nn.LSTM"
    for module in (step, whole):
        assert type(t7.loads(t7.dumps(module))) is type(module)
    other = t7.TorchObject("nn.LSTM", 1, {"gradInput": torch.empty(0), "hidden": 3})
    again = t7.loads(t7.dumps(other))
    assert type(again) is Unknown and again.hidden == 3
    with pytest.raises(t7.T7Error, match=r"nn\.LSTM"):
        t7.loads(t7.dumps(other), unknown="error")


def test_states_of_another_size_are_refused() -> None:
    model = torch_rnn.LSTM(3, 4)
    model.remember_states = True
    model.forward(torch.ones(2, 5, 3))
    with pytest.raises(ValueError, match="3 sequences, the call before had 2"):
        model.forward(torch.ones(3, 5, 3))
    model.resetStates().forward(torch.ones(3, 5, 3))
    with pytest.raises(ValueError, match="input has a state of size"):
        model.forward([torch.ones(1, 4), torch.ones(1, 4), torch.ones(3, 5, 3)])
