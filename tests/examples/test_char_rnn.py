"""The ported programs in examples/char_rnn."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from support import programs

from compat import nn, t7
from compat import torch as torch7
from dptable.training import stopping

PARTS = ("train", "sample", "models", "nets", "text")
SMALL = ["-rnn_size", "12", "-num_layers", "2", "-seq_length", "10", "-batch_size", "20"]
KINDS = ("lstm", "gru", "rnn", "torch-lstm", "torch-rnn")


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SimpleNamespace]:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/input.txt").write_text("hello world, how are you?\n" * 100)
    with programs.program("char_rnn", PARTS, monkeypatch) as found:
        yield found


def trainer(program: SimpleNamespace, kind: str, *arg: str) -> SimpleNamespace:
    opt = program.train.parse([*SMALL, "-model", kind, *arg])
    torch7.manualSeed(opt.seed)
    batches = program.text.Batches(program.text.read("data"), 20, 10, 0.9, 0.1)
    return program.train.Trainer(program.models.new(opt, batches.vocabulary), batches, opt)


@pytest.mark.parametrize("kind", KINDS)
def test_learns_saves_samples_and_goes_on(program, capsys, kind):
    taught = trainer(program, kind, "-learning_rate", "0.02")
    for _ in range(40):
        taught.step()
    assert taught.losses[-1] < 0.97 * taught.losses[0]
    path = taught.save()
    program.sample.main([str(path), "-length", "30", "-primetext", "hello", "-sample", "0"])
    text = capsys.readouterr().out.splitlines()
    assert "hello" in "".join(text)
    again = program.models.load(str(path))
    assert again.vocabulary == taught.model.vocabulary
    torch.testing.assert_close(again.params, taught.model.params)
    arg = ["-data_dir", "data", "-init_from", str(path), "-max_epochs", "1"]
    assert program.train.main([*SMALL, *arg]) == 0


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
def test_the_gradient_is_that_of_the_loss(program, kind):
    taught = trainer(program, kind)
    model, (x, y) = taught.model, taught.batches.train[0]
    model.params = model.rnn.double().getParameters()[0]
    model.params, model.grad_params = model.rnn.getParameters()
    model.criterion.double()
    model.grad_params.zero_()
    loss = model.loss(x, y, backward=True)
    gradient = model.grad_params.clone() / x.size(1)
    for place in (3, 200, len(gradient) - 5):
        values = []
        for change in (1e-5, -1e-5):
            model.reset()
            model.params[place] += change
            values.append(model.loss(x, y, backward=False))
            model.params[place] -= change
        assert (values[0] - values[1]) / 2e-5 == pytest.approx(gradient[place].item(), abs=1e-8)
    assert loss == pytest.approx(math.log(len(model.vocabulary)), abs=0.2)


def test_a_cloned_net_goes_on_as_one_net_does(program):
    model = trainer(program, "lstm").model
    text = torch.tensor([[1, 4, 2, 3, 3, 1]])
    whole = model.loss(text[:, :5], text[:, 1:], backward=False)
    model.reset()
    steps = [-model.scores(int(a))[int(b) - 1].item() for a, b in zip(text[0], text[0, 1:])]  # noqa: B905
    assert whole == pytest.approx(sum(steps) / 5, rel=1e-5)


def test_loads_a_checkpoint_in_the_form_of_char_rnn(program):
    net = program.nets.build("gru", 3, 4, 1, 0)
    protos = {"rnn": net, "criterion": nn.ClassNLLCriterion()}
    opt = {"model": "gru", "rnn_size": 4, "num_layers": 1}
    t7.save("lua.t7", {"protos": protos, "opt": opt, "vocab": {"a": 1, "b": 2, b"\xe4": 3}})
    model = program.models.load("lua.t7")
    assert model.vocabulary == {"a": 1, "b": 2, "\xe4": 3}
    expected = net.forward([torch.tensor([2]), torch.zeros(1, 4)])[-1][0]
    torch.testing.assert_close(model.scores(2), expected)
    assert len(program.sample.sample(model, 5, "ab")) == 7


def test_forget_gates_begin_open_and_states_go_on(program):
    model = trainer(program, "lstm").model
    linear = model.rnn.findModules("nn.Linear")[0]
    opened = [int(layer.bias.eq(1).sum()) for layer in linear if layer.bias.numel() == 48]
    assert sorted(opened) == [0, 0, 12, 12]
    assert model.params.abs().max() == 1
    x = torch.ones(20, 10, dtype=torch.long)
    first, second = (model.loss(x, x, backward=False) for _ in range(2))
    model.reset()
    assert model.loss(x, x, backward=False) == first != second


def test_a_text_is_cut_into_strands(program):
    batches = program.text.Batches("abcd" * 10, 2, 5, 0.5, 0.25)
    x, y = batches.train[0]
    assert x.tolist() == [[1, 2, 3, 4, 1], [1, 2, 3, 4, 1]]
    assert y[0].tolist() == [2, 3, 4, 1, 2]
    assert (len(batches.train), len(batches.val)) == (2, 1)
    with pytest.raises(ValueError, match="the text has 1 batches"):
        program.text.Batches("abcd" * 3, 2, 5, 0.9, 0.1)
    with pytest.raises(ValueError, match=r"the text has \['d'\]"):
        program.text.Batches("abcd" * 10, 2, 5, 0.5, 0.25, {"a": 1, "b": 2, "c": 3})


def test_stops_when_the_loss_explodes(program):
    taught = trainer(program, "rnn")
    taught.losses.append(0.1)
    with pytest.raises(ArithmeticError, match="in step 2; try -learning_rate below"):
        taught.step()


def test_an_interrupted_run_saves(program, monkeypatch, capsys):
    requests = stopping.Requests()
    requests.note(signal.SIGTERM)
    monkeypatch.setattr(program.train, "stop_requests", lambda: nullcontext(requests))
    assert program.train.main([*SMALL, "-data_dir", "data"]) == 143
    assert "Interrupted" in capsys.readouterr().out
    assert len(list(Path("cv").iterdir())) == 1


def test_what_is_no_checkpoint_is_refused(program):
    t7.save("net.t7", {"model": nn.Linear(2, 2)})
    with pytest.raises(ValueError, match=r"net.t7 is no checkpoint of char-rnn or torch-rnn"):
        program.models.load("net.t7")
    with pytest.raises(ValueError, match="-model is 'cnn'"):
        program.train.parse(["-model", "cnn"])
