"""Layers that draw their output and learn from a reward (REINFORCE), of Torch7's package dpnn.

Williams, Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning,
1992. Forward draws from a distribution whose parameters are the input. A criterion of rewards, such
as ``nn.VRClassReward``, calls ``reinforce(reward)`` of the net, and backward gives as gradInput
the reward times the negative derivative of the log probability of what was drawn. The gradOutput is
not used.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from compat import accelerators, random
from compat.checks import check_tensor, flag, number_or_none
from compat.nn.checks.tensors import ANYTHING, check_dims
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.functional import reinforce as f
from compat.nn.layers.dropout import source


class Reinforce(Layer):
    """The base of layers that learn from a reward (Torch7: ``nn.Reinforce`` of dpnn).

    By itself it passes its input on, and its gradInput is the reward of each sample.

    Args:
        stochastic: draw in evaluation, too.

    Field: ``reward``, what ``reinforce`` set.
    """

    takes = ANYTHING
    scratch_fields: ClassVar[tuple[str, ...]] = ("_reward", "__reward")
    stochastic: bool | None = None
    reward: Any = None
    # Of a distribution of two parameters, the field that holds the second if the input does not.
    _second: str | None = None

    def __init__(self, stochastic: bool | None = None) -> None:
        super().__init__()
        self.stochastic = None if stochastic is None else flag(stochastic, "stochastic")

    def reinforce(self, reward: Any) -> None:
        """Set the reward that backward uses.

        Args:
            reward: a vector of one number for each sample. Recurrent modules also take a list of
                such vectors, and hand one on to the layers of each step.
        """
        check_dims(check_tensor(reward, "reward"), 1, name="reward")
        self.reward = reward

    def updateOutput(self, input: Any) -> Tensor:
        parameters = self._parameters_of(input)
        if self.stochastic or self.train:
            return self.set_output(self.draw(*parameters))
        return self.set_output(self.expected(*parameters))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self.gradInput is None:
            return None
        given = input if isinstance(input, (list, tuple)) else [input]
        slopes = self.slopes(self.output, *self._parameters_of(input))
        found = [
            f.reinforced(slope, self.rewardAs(slope), tensor)
            for slope, tensor in zip(slopes, given, strict=False)
        ]
        return self.set_gradInput(found[0] if isinstance(input, Tensor) else found)

    def _parameters_of(self, input: Any) -> list[Any]:
        """Return the parameters of the distribution."""
        given = list(input) if isinstance(input, (list, tuple)) else [input]
        if self._second is None or len(given) == 2:
            return given
        second = getattr(self, self._second)
        if second is None:
            raise ValueError(
                f"input is one tensor, and there is no {self._second}; a table of two is accepted"
            )
        return [*given, second]

    def draw(self, *parameters: Any) -> Tensor:
        """Return one draw for each element of the first parameter. Classes define it."""
        return self.expected(*parameters)

    def expected(self, *parameters: Any) -> Tensor:
        """Return the output in evaluation. Classes define it, if it is not
        the input.
        """
        expected: Tensor = parameters[0].clone(memory_format=torch.contiguous_format)
        return expected

    def slopes(self, output: Tensor, *parameters: Any) -> list[Tensor]:
        """Return the derivatives of the log probability of ``output``. Classes define it."""
        return [-torch.ones_like(output)]

    def rewardAs(self, input: Tensor) -> Tensor:
        """Return the reward of its sample for each element of ``input``."""
        reward = self.reward
        if reward is None:
            raise RuntimeError("backward needs a reward first; call reinforce(reward)")
        count = reward.numel()
        if input.size(0) != count and count != 1:
            raise ValueError(
                f"reward has {count} numbers, the input has {input.size(0)} samples; one for each "
                "is accepted"
            )
        return reward.to(input).view(-1, *[1] * (input.dim() - 1)).expand_as(input)

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        takes_two = self._second is not None and self._second not in fields
        if takes_two and not isinstance(fields.get("gradInput"), list):
            # Lua fills the entries of a table.
            fields["gradInput"] = [self._empty(), self._empty()]
        return fields


class ReinforceBernoulli(Reinforce):
    """Draw 0 or 1 (Torch7: ``nn.ReinforceBernoulli`` of dpnn).

    Args:
        stochastic: draw in evaluation, too; the output is the input there otherwise.

    Shapes: input, the probabilities of 1, of any size.
    """

    scratch_fields = ("_uniform", "_div")

    def draw(self, *parameters: Any) -> Tensor:
        (p,) = parameters
        uniform = source(p).uniform_(torch.empty_like(p), 0, 1)
        return (uniform < p).to(p.dtype)

    def slopes(self, output: Tensor, *parameters: Any) -> list[Tensor]:
        return [f.bernoulli_slope(output, *parameters)]


class ReinforceCategorical(Reinforce):
    """Draw one of several categories (Torch7: ``nn.ReinforceCategorical`` of dpnn).

    Args:
        stochastic: draw in evaluation, too; the output is the input there otherwise.

    Shapes: input ``N x K``, in each row the probabilities of the categories; output of that size, 1
    at what was drawn and else 0.
    """

    scratch_fields = ("_index", "_input")

    def draw(self, *parameters: Any) -> Tensor:
        (p,) = parameters
        check_dims(p, 2)
        index = p.multinomial(1) if accelerators.holds(p) else random.multinomial(p, 1) - 1
        return torch.zeros_like(p).scatter_(1, index, 1)

    def slopes(self, output: Tensor, *parameters: Any) -> list[Tensor]:
        return [f.categorical_slope(output, *parameters)]


class ReinforceNormal(Reinforce):
    """Draw from normal distributions (Torch7: ``nn.ReinforceNormal`` of dpnn).

    Args:
        stdev: the standard deviation, a number or a tensor of the size of the input or of one
            sample; None if the input holds it.
        stochastic: draw in evaluation, too; the output is the mean there otherwise.

    Shapes: input, the means, of any size, or a table of means and standard deviations.

    Differs from Torch7: standard deviations of one sample for a whole batch get a gradient, too.
    """

    scratch_fields = ("_stdev", "__stdev", "_stdev2")
    _second = "stdev"
    stdev: Scalar | Tensor | None = None

    def __init__(
        self, stdev: Scalar | Tensor | None = None, stochastic: bool | None = None
    ) -> None:
        super().__init__(stochastic)
        self.stdev = stdev if isinstance(stdev, Tensor) else number_or_none(stdev, "stdev")

    def draw(self, *parameters: Any) -> Tensor:
        mean, stdev = parameters
        noise = source(mean).normal_(torch.empty_like(mean), 0, 1)
        return noise * check_parameter(stdev, mean, "stdev") + mean

    def slopes(self, output: Tensor, *parameters: Any) -> list[Tensor]:
        return f.normal_slopes(output, *parameters)


class ReinforceGamma(Reinforce):
    """Draw from gamma distributions (Torch7: ``nn.ReinforceGamma`` of dpnn).

    Args:
        scale: the scale, a number or a tensor of the size of the input or of one sample; None if
            the input holds it.
        stochastic: draw in evaluation, too; the output is the mean there otherwise.

    Shapes: input, the shape parameters, of any size, or a table of shapes and scales.

    The draws are those of Torch7's package randomkit, which is given single precision. Differs from
    Torch7: gradients have the precision of the input; scales of one sample for a whole batch get
    one, too.
    """

    scratch_fields = ("_scale", "__scale", "_logOutput", "_logScale")
    _second = "scale"
    scale: Scalar | Tensor | None = None

    def __init__(
        self, scale: Scalar | Tensor | None = None, stochastic: bool | None = None
    ) -> None:
        super().__init__(stochastic)
        self.scale = scale if isinstance(scale, Tensor) else number_or_none(scale, "scale")

    def draw(self, *parameters: Any) -> Tensor:
        shape, scale = parameters
        scale = check_parameter(scale, shape, "scale")
        single = scale.float() if isinstance(scale, Tensor) else scale
        return random.gamma_(torch.empty_like(shape), shape.float(), single)

    def expected(self, *parameters: Any) -> Tensor:
        shape, scale = parameters
        return shape * check_parameter(scale, shape, "scale")

    def slopes(self, output: Tensor, *parameters: Any) -> list[Tensor]:
        return f.gamma_slopes(output, *parameters)


def check_parameter(value: Any, first: Tensor, name: str) -> Any:
    """Check that a second parameter is a number, or has the size of the first or of a sample.

    A number is that of a tensor of the first's type.
    """
    if isinstance(value, Tensor):
        if value.shape not in (first.shape, first.shape[1:]):
            raise ValueError(
                f"{name} has size {tuple(value.shape)}; {tuple(first.shape)}, that of the input, "
                f"or {tuple(first.shape[1:])}, that of a sample, is accepted"
            )
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"{name} is {value!r}; a number above 0 or a tensor is accepted")
    return value
