"""``nn.NCEModule``: a last layer for many classes, trained by noise contrastive estimation."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import check_tensor, number, whole
from compat.nn.checks.tensors import MIXED, check_dims, check_gradOutput
from compat.nn.core.module import Scalar
from compat.nn.functional import linear
from compat.nn.functional import noise_contrastive as f
from compat.nn.layers.initialisation import draw
from compat.nn.layers.linear import Linear, check_features
from compat.random import AliasMultinomial
from compat.storage_changes import moved

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

    Differs from Torch7: ``multicuda``, which splits the weight between two GPUs, does not exist.
    """

    takes = MIXED
    shared_by_clones = ("unigrams", "Z")
    scratch_fields = (
        *("sampleprob", "_noiseidx", "_noiseprob", "_weight", "_gradWeight", "_gradOutput"),
        *("_tgradOutput", "_bias", "_pm", "_sampleidx", "linout", "testedtargets", "_metaidx"),
    )
    cleared_fields = ("sampleidx",)
    pass_fields: ClassVar[tuple[str, ...]] = ("sampleidx", "_weight")
    batchnoise: bool = True
    normalized: bool | None = None
    logsoftmax: bool | None = None
    sampleidx: Tensor | None = None
    # The rows of these classes as they were then.
    _weight: Tensor | None = None

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

    def updateOutput(self, input: Any) -> Any:
        features, target = self._checked(input)
        if not self.train and self.normalized:
            scores = linear.linear(features, self.weight, self.bias)
            softmax = torch.log_softmax if self.logsoftmax else torch.softmax
            return self.set_output(softmax(scores, 1))
        n, k, shared = len(target), self.k, self.batchnoise
        drawn = self.noiseSample(target.new_empty(0), 1 if shared else n, k)
        if shared:
            self.sampleidx = torch.cat([drawn.view(-1), target])
        else:
            self.sampleidx = torch.cat([target.view(n, 1), drawn.view(n, k)], 1)
        index = self._index()
        self._weight, bias = self.weight[index], self.bias[index]
        in_noise = self.noiseProb(features.new_empty(0), self.sampleidx)
        if shared:
            ofTarget, ofNoise = f.of_shared_noise(features, self._weight, bias, k)
            Z = self._constant(ofNoise)
            parts = [ofTarget / Z, ofNoise / Z, in_noise[k:], in_noise[:k].expand(n, k)]
        else:
            both = f.of_own_noise(features, self._weight, bias)
            both.div_(self._constant(both))
            parts = [both[:, 0], both[:, 1:], in_noise[:, 0], in_noise[:, 1:]]
        return self.set_output(parts)

    def _constant(self, exponentials: Tensor) -> float:
        """Return ``Z``; estimate it from the first batch if it is not set."""
        if self.Z.item() <= 0:
            self.Z.fill_(exponentials.mean() * len(self.weight))
            print(f"normalization constant Z approximated to {self.Z.item():.14g}")
        return self.Z.item()

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self.gradInput is None:
            return None
        features, target = input
        ofTarget, ofNoise = self._slopes(gradOutput)
        weight = self._weight
        if weight is None or ofNoise is None:
            gradient = linear.linear_grad_input(features, ofTarget, self.weight)
        elif self.batchnoise:
            gradient = f.of_shared_noise_grad_input(ofTarget, ofNoise, weight, self.k)
        else:
            gradient = f.of_own_noise_grad_input(_both(ofTarget, ofNoise), weight)
        return self.set_gradInput([gradient, torch.zeros_like(target, dtype=features.dtype)])

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        features, gradWeight, gradBias = input[0], self.gradWeight, self.gradBias
        ofTarget, ofNoise = self._slopes(gradOutput)
        if ofNoise is None:
            linear.linear_acc_(features, ofTarget, gradWeight, gradBias, scale)
            return
        if self.batchnoise:
            rows, biases = f.of_shared_noise_rows(features, ofTarget, ofNoise)
        else:
            rows, biases = f.of_own_noise_rows(features, _both(ofTarget, ofNoise))
        index = self._index().view(-1)
        if gradWeight is not None:
            gradWeight.index_add_(0, index, rows, alpha=scale)
        if gradBias is not None:
            gradBias.index_add_(0, index, biases, alpha=scale)

    def _slopes(self, gradOutput: Any) -> tuple[Tensor, Tensor | None]:
        """Return the gradients of the exponents for the right classes and the noise.

        With ``normalized`` that of the scores of all classes, and None.
        """
        output = self.output
        if isinstance(output, Tensor):
            check_gradOutput(gradOutput, output)
            if self.logsoftmax:
                return gradOutput - output.exp() * gradOutput.sum(1, keepdim=True), None
            weighted = gradOutput * output
            return weighted - output * weighted.sum(1, keepdim=True), None
        for gradient, part in zip(gradOutput[:2], output, strict=False):
            check_gradOutput(gradient, part)
        return gradOutput[0] * output[0], gradOutput[1] * output[1]

    def _index(self) -> Tensor:
        """Return the rows of the classes of the latest batch."""
        assert self.sampleidx is not None
        return self.sampleidx.to(self.weight.device).long() - 1

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

    def convert(self, conversion: Any, name: str) -> None:
        # The frequencies of millions of classes, from which is drawn on the CPU, stay as they are.
        kept = self.__dict__.pop("unigrams"), self.__dict__.pop("aliasmultinomial")
        self.sampleidx = self._weight = None
        super().convert(conversion, name)
        self.unigrams, self.aliasmultinomial = kept

    def held_values(self) -> list[Any]:
        kept = ("unigrams", "aliasmultinomial", *self.transient_fields, *self.pass_fields)
        return [value for name, value in vars(self).items() if name not in kept]

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        for name, count in (("output", 4), ("gradInput", 2)):
            if isinstance(fields.get(name), Tensor):
                fields[name] = [self._empty() for _ in range(count)]
        return fields


def _both(ofTarget: Tensor, ofNoise: Tensor) -> Tensor:
    """Join ``N`` and ``N x k`` to ``N x (1 + k)``."""
    return torch.cat([ofTarget.unsqueeze(1), ofNoise], 1)
