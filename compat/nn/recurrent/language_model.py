"""torch-rnn's model of a text, character by character."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor

from compat import random, t7
from compat.checks import number, whole
from compat.nn.checks.tensors import INDICES
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import own_backward
from compat.nn.core.module import Module, Scalar
from compat.nn.layers.dropout import Dropout
from compat.nn.layers.linear import Linear
from compat.nn.layers.lookup import LookupTable
from compat.nn.layers.normalization import BatchNormalization
from compat.nn.layers.shape import View
from compat.nn.recurrent.torch_rnn import LSTM, VanillaRNN

L = TypeVar("L", bound="LanguageModel")

_RNNS = {"lstm": LSTM, "rnn": VanillaRNN}


class LanguageModel(Module, fits=lambda fields: "net" in fields and "idx_to_token" in fields):
    """A recurrent net that tells the next character of each (torch-rnn: ``nn.LanguageModel``).

    Args:
        idx_to_token: the vocabulary, a table from the numbers 1 to V to characters; or a dict of
            all arguments, as in Lua.
        model_type: ``lstm`` or ``rnn``.
        wordvec_size: the number of features of a character.
        rnn_size: the number of features of each recurrent layer.
        num_layers: the number of recurrent layers.
        dropout: the probability that a feature is dropped after each of them; 0 for none.
        batchnorm: 1 for a ``BatchNormalization`` after each of them; 0 for none.

    Shapes: input ``N x T`` of numbers of characters, output ``N x T x V`` of scores. The layers
    remember their states from one call to the next, until ``resetStates``.

    Fields: ``net``; ``idx_to_token`` and ``token_to_idx``, which count from 1; ``rnns``.
    """

    takes = INDICES

    def __init__(
        self,
        idx_to_token: Any,
        model_type: str | None = None,
        wordvec_size: int | None = None,
        rnn_size: int | None = None,
        num_layers: int | None = None,
        dropout: float | None = None,
        batchnorm: int | None = None,
    ) -> None:
        super().__init__()
        if isinstance(idx_to_token, Mapping) and "idx_to_token" in idx_to_token:
            LanguageModel.__init__(self, **idx_to_token)
            return
        self._set_vocabulary(idx_to_token)
        if model_type not in _RNNS:
            raise ValueError(f"model_type is {model_type!r}; 'lstm' or 'rnn' is accepted")
        self.model_type = model_type
        self.wordvec_dim = whole(wordvec_size, "wordvec_size", 1)
        self.rnn_size = whole(rnn_size, "rnn_size", 1)
        self.num_layers = whole(num_layers, "num_layers", 1)
        self.dropout = number(dropout, "dropout")
        if batchnorm not in (0, 1):
            raise ValueError(f"batchnorm is {batchnorm!r}; 0 or 1 is accepted")
        self.batchnorm = int(batchnorm)
        self._build()

    def _set_vocabulary(self, idx_to_token: Any) -> None:
        if isinstance(idx_to_token, (list, tuple)):
            idx_to_token = dict(enumerate(idx_to_token, 1))
        if not isinstance(idx_to_token, Mapping) or set(idx_to_token) != set(
            range(1, len(idx_to_token) + 1)
        ):
            raise ValueError("idx_to_token is no table with the keys 1 to V, which is accepted")
        self.idx_to_token = t7.Table(idx_to_token)
        self.token_to_idx = t7.Table((token, idx) for idx, token in idx_to_token.items())
        self.vocab_size = len(self.idx_to_token)

    def _build(self) -> None:
        self.rnns: list[Any] = []
        self.bn_view_in: list[View] = []
        self.bn_view_out: list[View] = []
        self.net = Sequential(LookupTable(self.vocab_size, self.wordvec_dim))
        size = self.wordvec_dim
        for _ in range(self.num_layers):
            rnn = _RNNS[self.model_type](size, self.rnn_size)
            rnn.remember_states = True
            self.rnns.append(rnn)
            self.net.add(rnn)
            size = self.rnn_size
            if self.batchnorm:
                before, after = _merging(), _dividing()
                self.bn_view_in.append(before)
                self.bn_view_out.append(after)
                self.net.add(before).add(BatchNormalization(size)).add(after)
            if self.dropout > 0:
                self.net.add(Dropout(self.dropout))
        self.view1, self.view2 = _merging(), _dividing()
        self.net.add(self.view1).add(Linear(size, self.vocab_size)).add(self.view2)

    def children(self) -> list[Module]:
        return [self.net]

    def updateOutput(self, input: Tensor) -> Any:
        if input.dim() != 2:
            raise ValueError(f"input has {input.dim()} dimensions; N x T is accepted")
        count, steps = input.shape
        for view in (self.view1, *self.bn_view_in):
            view.resetSize(count * steps, -1)
        for view in (self.view2, *self.bn_view_out):
            view.resetSize(count, steps, -1)
        self.output = self.net.updateOutput(input)
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Any:
        return self._keep(self.net.updateGradInput(input, gradOutput))

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        self.net.accGradParameters(input, gradOutput, scale)

    @own_backward
    def backward(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> Any:
        return self._keep(self.net.backward(input, gradOutput, scale))

    def _keep(self, gradInput: Any) -> Any:
        if gradInput is not None:
            self.gradInput = gradInput
        return gradInput

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        return self.net.parameters()

    def set_train(self, train: bool) -> None:
        self.net.set_train(train)
        super().set_train(train)

    def clearState(self: L) -> L:
        self.net.clearState()
        return super().clearState()

    def resetStates(self: L) -> L:
        """Have the next call start anew."""
        for rnn in self.rnns:
            rnn.resetStates()
        return self

    def encode_string(self, s: str | bytes) -> Tensor:
        """Return the numbers of the characters of ``s``, int64.

        Characters that the vocabulary does not have are encoded byte by byte, as all are in Lua.
        Raises ValueError where it does not have those either.

        Args:
            s: text, of which each character must be in the vocabulary.
        """
        found: list[int] = []
        for character in s if isinstance(s, str) else [s]:
            if character in self.token_to_idx:
                found.append(self.token_to_idx[character])
            else:
                found += map(self._number, _bytes(character))
        return torch.tensor(found, dtype=torch.int64)

    def _number(self, byte: int) -> int:
        raw = bytes([byte])
        for token in (chr(byte) if byte < 128 else raw, raw):
            if token in self.token_to_idx:
                return self.token_to_idx[token]
        raise ValueError(f"s has the character {raw!r}, which is not in the vocabulary")

    def decode_string(self, encoded: Tensor) -> str:
        """Return the text of these numbers, a vector. Bytes that are not UTF-8 become U+FFFD."""
        if encoded.dim() != 1:
            raise ValueError(f"encoded has {encoded.dim()} dimensions; 1 is accepted")
        raw = b"".join(_bytes(self.idx_to_token[idx]) for idx in encoded.tolist())
        return raw.decode(errors="replace")

    @torch.no_grad()
    def sample(
        self,
        length: Any = 100,
        start_text: str = "",
        verbose: int = 0,
        sample: int = 1,
        temperature: float = 1,
    ) -> str:
        """Return a text from the model; the states are reset before and after.

        Args:
            length: the length of the text with ``start_text``; or a dict of all arguments.
            start_text: the beginning of the text; without it, the first character is random.
            verbose: 1 to print progress.
            sample: 1 to draw characters, by Torch7's random numbers, 0 to take the likeliest.
            temperature: the divisor of the scores before characters are drawn.
        """
        if isinstance(length, Mapping):
            return self.sample(**length)
        given = self.encode_string(start_text)[:length]
        self.resetStates()
        if len(given):
            if verbose:
                print(f'Seeding with: "{start_text}"')
            scores = self.forward(given.view(1, -1))[0, -1]
        else:
            if verbose:
                print("Seeding with uniform probabilities")
            scores = torch.ones(self.vocab_size)
        text = given.tolist()
        while len(text) < length:
            if sample == 0:
                text.append(int(scores.argmax()) + 1)
            else:
                weights = (scores / temperature).double().exp()
                text.append(int(random.multinomial(weights / weights.sum(), 1)))
            scores = self.forward(torch.tensor([text[-1:]]))[0, -1]
        self.resetStates()
        return self.decode_string(torch.tensor(text))

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        vocabulary = fields.pop("idx_to_token")
        super().t7_restore(fields, version)
        for name in ("rnns", "bn_view_in", "bn_view_out"):
            setattr(self, name, list(getattr(self, name, None) or []))
        self._set_vocabulary(vocabulary)

    def __repr__(self) -> str:
        return f"{self.typename}\n{self.net}"


def _merging() -> View:
    """Return a ``View`` from ``N x T x H`` to ``NT x H``; its sizes are set later."""
    return View(1, 1, -1).setNumInputDims(3)


def _dividing() -> View:
    """Return a ``View`` from ``NT x H`` to ``N x T x H``; its sizes are set later."""
    return View(1, -1).setNumInputDims(2)


def _bytes(token: str | bytes) -> bytes:
    return token.encode() if isinstance(token, str) else token
