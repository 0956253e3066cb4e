"""The two kinds of models, of char-rnn and of torch-rnn, made, trained and asked alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import nets
import torch
from torch import Tensor

from compat import nn, random, t7
from compat.torch_rnn import LanguageModel


class CharRNN:
    """char-rnn's: a net for one step, cloned for every step of a sequence.

    Fields: ``vocabulary``, from characters to numbers; ``opt``, what of the options makes the net;
    ``params`` and ``grad_params``, flat.
    """

    def __init__(self, protos: Mapping[str, Any], opt: Mapping[str, Any], vocab: Any) -> None:
        self.rnn, self.criterion = protos["rnn"], protos["criterion"]
        self.opt = {name: opt[name] for name in ("model", "rnn_size", "num_layers")}
        self.vocabulary = {_text(c): int(i) for c, i in vocab.items()}
        self.params, self.grad_params = self.rnn.getParameters()
        self.clones: list[Any] = []
        self.state: list[Tensor] = []

    @classmethod
    def new(cls, opt: Mapping[str, Any], vocabulary: Mapping[str, int]) -> CharRNN:
        """A model with small random parameters."""
        size, layers = opt["rnn_size"], opt["num_layers"]
        rnn = nets.build(opt["model"], len(vocabulary), size, layers, opt["dropout"])
        made = cls({"rnn": rnn, "criterion": nn.ClassNLLCriterion()}, opt, vocabulary)
        opened = [module.bias.eq(1) if module.bias is not None else None for module in _linear(rnn)]
        random.uniform_(made.params, -0.08, 0.08)
        for module, ones in zip(_linear(rnn), opened, strict=True):
            if ones is not None:
                module.bias.masked_fill_(ones, 1)
        return made

    def fresh(self, batch_size: int) -> list[Tensor]:
        """The states that a text begins with."""
        count = nets.STATES[self.opt["model"]] * self.opt["num_layers"]
        return [self.params.new_zeros(batch_size, self.opt["rnn_size"]) for _ in range(count)]

    def reset(self) -> None:
        """Begin another text."""
        self.state = []

    def _unrolled(self, steps: int) -> list[Any]:
        while len(self.clones) < steps:
            shared = "weight", "bias", "gradWeight", "gradBias"
            self.clones.append((self.rnn.clone(*shared), self.criterion.clone()))
        return self.clones[:steps]

    def loss(self, x: Tensor, y: Tensor, backward: bool) -> float:
        """The mean loss of a batch; ``backward`` adds its gradients, for all steps together."""
        states, predictions = [self.state or self.fresh(len(x))], []
        clones = self._unrolled(x.size(1))
        loss = 0.0
        for t, (rnn, criterion) in enumerate(clones):
            rnn.training() if backward else rnn.evaluate()
            *state, prediction = rnn.forward([x[:, t], *states[t]])
            states.append(state)
            predictions.append(prediction)
            loss += criterion.forward(prediction, y[:, t])
        if backward:
            gradients = [torch.zeros_like(state) for state in states[-1]]
            for t, (rnn, criterion) in reversed(list(enumerate(clones))):
                given = criterion.backward(predictions[t], y[:, t])
                _, *gradients = rnn.backward([x[:, t], *states[t]], [*gradients, given])
        self.state = states[-1]
        return loss / x.size(1)

    def scores(self, character: int | None) -> Tensor:
        """The log probabilities of what follows ``character``; equal ones before the first."""
        if character is None:
            return self.params.new_zeros(len(self.vocabulary))
        self.rnn.evaluate()
        given = [torch.tensor([character]), *(self.state or self.fresh(1))]
        *self.state, prediction = self.rnn.forward(given)
        return prediction[0]

    def fields(self) -> dict[str, Any]:
        """What a checkpoint holds of it."""
        protos = {"rnn": self.rnn, "criterion": self.criterion}
        return {"protos": protos, "vocab": self.vocabulary}


class TorchRNN:
    """torch-rnn's ``nn.LanguageModel``, which takes whole sequences."""

    def __init__(self, model: LanguageModel, opt: Mapping[str, Any]) -> None:
        self.model, self.criterion = model, nn.CrossEntropyCriterion().type(model.type())
        self.opt = dict(opt)
        self.vocabulary = {_text(c): int(i) for c, i in model.token_to_idx.items()}
        self.params, self.grad_params = model.getParameters()

    @classmethod
    def new(cls, opt: Mapping[str, Any], vocabulary: Mapping[str, int]) -> TorchRNN:
        """A model with random parameters."""
        tokens = {i: c for c, i in vocabulary.items()}
        names = ("rnn_size", "num_layers", "dropout")
        more = {"model_type": opt["model"].removeprefix("torch-"), "wordvec_size": 64}
        arguments = {**more, **{name: opt[name] for name in names}, "batchnorm": 0}
        return cls(LanguageModel(tokens, **arguments), {"model": opt["model"]})

    def reset(self) -> None:
        """Begin another text."""
        self.model.resetStates()

    def loss(self, x: Tensor, y: Tensor, backward: bool) -> float:
        """The mean loss of a batch; ``backward`` adds its gradients."""
        self.model.training() if backward else self.model.evaluate()
        scores = self.model.forward(x)
        flat, target = scores.flatten(0, 1), y.flatten()
        loss = self.criterion.forward(flat, target)
        if backward:
            self.model.backward(x, self.criterion.backward(flat, target).view_as(scores))
        return loss

    def scores(self, character: int | None) -> Tensor:
        """The scores of what follows ``character``; equal ones before the first."""
        if character is None:
            return self.params.new_zeros(len(self.vocabulary))
        self.model.evaluate()
        return self.model.forward(torch.tensor([[character]]))[0, -1]

    def fields(self) -> dict[str, Any]:
        """What a checkpoint holds of it."""
        return {"model": self.model.clone().float().clearState()}


Model = CharRNN | TorchRNN
NAMES = (*nets.KINDS, "torch-lstm", "torch-rnn")


def new(opt: Mapping[str, Any], vocabulary: Mapping[str, int]) -> Model:
    """A new model of the kind that ``opt["model"]`` names."""
    return (TorchRNN if opt["model"].startswith("torch-") else CharRNN).new(opt, vocabulary)


def load(path: str) -> Model:
    """The model of a checkpoint of char-rnn or torch-rnn, of Lua's or written here."""
    held = t7.load(path)
    if isinstance(held, Mapping) and "protos" in held:
        return CharRNN(held["protos"], held["opt"], held["vocab"])
    if isinstance(held, Mapping) and isinstance(held.get("model"), LanguageModel):
        return TorchRNN(held["model"], held.get("opt", {}))
    raise ValueError(f"{path} is no checkpoint of char-rnn or torch-rnn, which is accepted")


def _linear(net: Any) -> list[Any]:
    return [module for module in net.listModules() if isinstance(module, nn.Linear)]


def _text(character: str | bytes) -> str:
    """A character as a string: bytes that are none alone, as Lua cuts texts, become Latin-1's."""
    return character if isinstance(character, str) else character.decode("latin-1")
