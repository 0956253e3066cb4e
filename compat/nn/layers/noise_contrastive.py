"""``nn.NCEModule``: the last layer of a net with many classes, which learns to tell noise."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compat import t7
from compat.checks import check_tensor, number, whole
from compat.moves import moved
from compat.nn.checks.tensors import MIXED, check_dims
from compat.nn.core.initialisation import draw
from compat.nn.core.module import Scalar
from compat.nn.layers.linear import Linear, check_features
from compat.random import AliasMultinomial

t7.register("torch.AliasMultinomial", AliasMultinomial)


class NCEModule(Linear):
    """A linear layer for noise contrastive estimation (Torch7: ``nn.NCEModule`` of dpnn).

    Mnih and Teh, A fast and simple algorithm for training neural probabilistic language models,
    2012. Its criterion is ``nn.NCECriterion``.

    Args:
        inputSize: number of features.
        outputSize: number of classes.
        k: number of classes that are drawn as noise.
        unigrams: a vector of the frequencies of the classes, from which noise is drawn. It is
            divided by its sum, in place.
        Z: what the exponentials are divided by; by default estimated from the first batch, and
            printed.

    Shapes: input a table of ``N x inputSize`` and the classes, ``N`` whole numbers from 1. Output a
    table of the probabilities that the model gives the right classes, ``N``, and the noise,
    ``N x k``, and of the probabilities of both in the noise. In evaluation with ``normalized`` set,
    the output is the softmax over all classes, ``N x outputSize``, or with ``logsoftmax`` set its
    logarithm.

    Fields: ``batchnoise``, whether all samples of a batch have the same noise, which is faster;
    ``sampleidx``, the classes of the latest batch: ``k`` of noise and ``N`` right ones, or without
    ``batchnoise`` ``N x (1 + k)``; ``Z``, a tensor of one number.

    ``multicuda``, which splits the weight between two GPUs, is not there.
    """

    takes = MIXED
    repeatable = False
    shared_by_clones = ("unigrams", "Z")
    scratch_fields = (
        *("sampleprob", "_noiseidx", "_noiseprob", "_weight", "_gradWeight", "_gradOutput"),
        *("_tgradOutput", "_bias", "_pm", "_sampleidx", "linout", "testedtargets", "_metaidx"),
    )
    cleared_fields = ("sampleidx",)
    transient_fields = ("sampleidx",)
    batchnoise: bool = True
    normalized: bool | None = None
    logsoftmax: bool | None = None
    sampleidx: Tensor | None = None

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        k: int,
        unigrams: Tensor,
        Z: Scalar | None = None,
    ) -> None:
        super().__init__(inputSize, outputSize)
        self.k = whole(k, "k", 1)
        if check_tensor(unigrams, "unigrams").shape != (outputSize,):
            raise ValueError(
                f"unigrams has size {tuple(unigrams.shape)}; a vector of one frequency for each of "
                f"the {outputSize} classes is accepted"
            )
        self.unigrams = unigrams
        self.Z = torch.full_like(self.bias[:1], -1 if Z is None else number(Z, "Z"))
        self.batchnoise = True
        self.fastNoise()

    def reset(self, stdv: Scalar | None = None) -> NCEModule:
        """Draw the parameters from ±``stdv``; by default the weight from ±1/√inputSize.

        The bias is by default -log(outputSize), which makes 1 a good ``Z``.
        """
        bound = 1 / math.sqrt(self.weight.size(1)) if stdv is None else stdv
        draw(self.weight, bound, False)
        if stdv is None:
            self.bias.fill_(-math.log(len(self.bias)))
        else:
            draw(self.bias, bound, False)
        return self

    def fastNoise(self) -> None:
        """Prepare the drawing of noise, after ``unigrams`` was changed."""
        self.unigrams.div_(self.unigrams.sum())
        self.aliasmultinomial = AliasMultinomial(self.unigrams)

    def noiseSample(self, sampleidx: Tensor, batchsize: int, k: int) -> Tensor:
        """Make ``sampleidx`` a tensor of ``batchsize x k`` classes of noise."""
        drawn = torch.empty(batchsize, k, dtype=torch.int64)
        self.aliasmultinomial.batchdraw(drawn)
        sampleidx.data = drawn.to(sampleidx)
        moved([sampleidx])
        return sampleidx

    def noiseProb(self, sampleprob: Tensor, sampleidx: Tensor) -> Tensor:
        """Make ``sampleprob`` the probabilities of the classes ``sampleidx`` in the noise."""
        index = (sampleidx.to(self.unigrams.device).long() - 1).view(-1)
        sampleprob.data = self.unigrams[index].view(sampleidx.shape).to(sampleprob)
        moved([sampleprob])
        return sampleprob

    def compute(self, input: Any) -> Any:
        features, target = self._checked(input)
        if not self.train and self.normalized:
            scores = F.linear(features, self.weight, self.bias)
            return F.log_softmax(scores, 1) if self.logsoftmax else F.softmax(scores, 1)
        model = self._shared_noise if self.batchnoise else self._own_noise
        of_target, of_noise, noise = model(features, target)
        if self.Z.item() <= 0:
            total = torch.cat([of_target, of_noise], 1) if not self.batchnoise else of_noise
            self.Z.fill_(total.detach().mean() * len(self.weight))
            print(f"normalization constant Z approximated to {self.Z.item():.14g}")
        Z = self.Z.item()
        return [of_target.reshape(-1) / Z, of_noise / Z, *noise]

    def _shared_noise(self, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
        """The exponentials for the right classes and the noise, and both probabilities in it."""
        n, k = len(target), self.k
        drawn = self.noiseSample(target.new_empty(0), 1, k)
        self.sampleidx = torch.cat([drawn.reshape(-1), target])
        weight, bias = self._rows(self.sampleidx)
        of_target = ((input * weight[k:]).sum(1) + bias[k:]).exp()
        of_noise = torch.addmm(bias[:k], input, weight[:k].t()).exp()
        noise = self.noiseProb(input.new_empty(0), self.sampleidx)
        return of_target.view(n, 1), of_noise, [noise[k:], noise[:k].expand(n, k)]

    def _own_noise(self, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
        """The same, with other noise for each sample."""
        n, k = len(target), self.k
        drawn = self.noiseSample(target.new_empty(0), n, k)
        self.sampleidx = torch.cat([target.view(n, 1), drawn.view(n, k)], 1)
        weight, bias = self._rows(self.sampleidx)
        model = torch.baddbmm(bias.unsqueeze(1), input.unsqueeze(1), weight.transpose(1, 2))
        model = model.squeeze(1).exp()
        noise = self.noiseProb(input.new_empty(0), self.sampleidx)
        return model[:, :1], model[:, 1:], [noise[:, 0], noise[:, 1:]]

    def _rows(self, classes: Tensor) -> tuple[Tensor, Tensor]:
        """The weights and biases of some classes."""
        index = classes.to(self.weight.device).long() - 1
        return F.embedding(index, self.weight), self.bias[index]

    def _checked(self, input: Any) -> tuple[Tensor, Tensor]:
        if not isinstance(input, (list, tuple)) or len(input) != 2:
            raise TypeError("input is not a table of features and classes, which is accepted")
        features, target = input[0], check_tensor(input[1], "input[2]")
        check_dims(features, 2, name="input[1]")
        check_features(features, self.weight.size(1))
        check_dims(target, 1, name="input[2]")
        if len(target) != len(features):
            raise ValueError(
                f"input[2] has {len(target)} classes; one for each of {len(features)} samples is "
                "accepted"
            )
        if target.device.type == "cpu" and len(target):
            least, most = target.min().item(), target.max().item()
            if least < 1 or most > len(self.weight):
                raise ValueError(
                    f"input[2] has classes from {least} to {most}; 1 to {len(self.weight)} are "
                    "accepted"
                )
        return features, target.long()

    def unreached(self, input: Tensor) -> Tensor | None:
        return torch.zeros_like(input, dtype=self.weight.dtype)

    def convert(self, conversion: Any, name: str) -> None:
        # The frequencies of millions of classes, from which is drawn on the CPU, stay as they are.
        kept = self.__dict__.pop("unigrams"), self.__dict__.pop("aliasmultinomial")
        super().convert(conversion, name)
        self.unigrams, self.aliasmultinomial = kept

    def held_values(self) -> list[Any]:
        kept = ("unigrams", "aliasmultinomial")
        fields = vars(self).items()
        return [v for name, v in fields if name not in (*kept, *self.transient_fields)]

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        for name, count in (("output", 4), ("gradInput", 2)):
            if isinstance(fields.get(name), Tensor):
                fields[name] = [self._empty() for _ in range(count)]
        return fields
