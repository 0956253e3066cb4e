"""Tests of a layer's gradients against finite differences, for people who write layers.

``Jacobian`` is for modules whose input is a tensor, ``SparseJacobian`` for those whose input is an
``n x 2`` tensor of keys and values, as ``SparseLinear`` takes it. Both expect double precision.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat import random, t7
from compat.nn.core.module import Module
from compat.tensor_tables import map_tensors, tensors


class Jacobian:
    """Matrices of derivatives, ``elements of the input or parameter x elements of the output``.

    Torch7: ``nn.Jacobian``. The functions named test… draw the input, and the parameter where there
    is one, evenly from ``minval`` to ``maxval`` and return the largest difference between what the
    module computes and what finite differences tell.

    Differs from Torch7: the functions for second derivatives, which need its hessian extension, are
    not there.

    PyTorch: ``torch.autograd.gradcheck``.
    """

    @staticmethod
    def _varied(input: Tensor) -> Tensor:
        """Return what of ``input`` the derivatives are by, as a view."""
        return input

    @classmethod
    def backward(
        cls, module: Module, input: Tensor, param: Tensor | None = None, dparam: Any = None
    ) -> Tensor:
        """Return the Jacobian by ``input``, or by ``param`` with its gradient ``dparam``, by
        backward.

        Args:
            module: the layer.
            input: the point, a tensor of doubles; it is overwritten by some tests.
            param: a parameter to differentiate by instead of the input.
            dparam: the gradient tensor of ``param``.

        Returns:
            A matrix: a row for each element of the input or parameter, a column for each output.
        """
        columns = []
        for gradOutput in cls._units(module, input):
            module.zeroGradParameters()
            gradInput = module.updateGradInput(input, gradOutput)
            module.accGradParameters(input, gradOutput)
            gradient = cls._varied(gradInput) if param is None else dparam
            columns.append(gradient.reshape(-1).clone())
        return torch.stack(columns, 1)

    @classmethod
    def backwardUpdate(cls, module: Module, input: Tensor, param: Tensor) -> Tensor:
        """Return what ``accUpdateGradParameters`` makes of ``param``, at rate 1, for each
        output.
        """
        parameters = module.parameters()[0]
        before = [parameter.clone() for parameter in parameters]

        def restore() -> None:
            for parameter, value in zip(parameters, before, strict=True):
                parameter.copy_(value)

        columns = []
        for gradOutput in cls._units(module, input):
            restore()
            module.forward(input)
            module.updateGradInput(input, gradOutput)
            module.accUpdateGradParameters(input, gradOutput, 1)
            columns.append(param.reshape(-1).clone())
        restore()
        return torch.stack(columns, 1)

    @staticmethod
    def _units(module: Module, input: Tensor) -> list[Tensor]:
        output = module.forward(input)
        units = torch.eye(output.numel()).to(output)
        return [unit.reshape(output.shape) for unit in units]

    @classmethod
    def forward(
        cls,
        module: Module,
        input: Tensor,
        param: Tensor | None = None,
        perturbation: float | None = None,
    ) -> Tensor:
        """Return the Jacobian by ``input``, or by ``param``, by finite differences.

        Args:
            module: the layer.
            input: the point, a tensor of doubles.
            param: a parameter to differentiate by instead of the input.
            perturbation: the step of the differences; default: 1e-6.

        Returns:
            A matrix: a row for each element of the input or parameter, a column for each output.
        """
        step = 1e-6 if perturbation is None else perturbation
        varied = cls._varied(input) if param is None else param
        rows = []
        for index in torch.cartesian_prod(*map(torch.arange, varied.shape)).reshape(
            -1, varied.dim()
        ):
            at = tuple(index)
            value = varied[at].item()
            outputs = []
            for moved in (value + step, value - step):
                varied[at] = moved
                outputs.append(module.forward(input).reshape(-1).clone())
            varied[at] = value
            rows.append((outputs[0] - outputs[1]) / (2 * step))
        return torch.stack(rows)

    @classmethod
    def forwardUpdate(
        cls, module: Module, input: Tensor, param: Tensor, perturbation: float | None = None
    ) -> Tensor:
        """Return what ``backwardUpdate`` should give, by finite differences."""
        return param.reshape(-1, 1) - cls.forward(module, input, param, perturbation)

    @classmethod
    def testJacobian(
        cls,
        module: Module,
        input: Tensor,
        minval: float = -2,
        maxval: float = 2,
        perturbation: float | None = None,
    ) -> float:
        """Return the error of gradInput.

        Args:
            module: the layer, of doubles.
            input: a tensor of doubles, filled with random numbers.
            minval, maxval: the range of these numbers.
            perturbation: the step of the differences; default: 1e-6.

        Returns:
            The largest absolute difference between both Jacobians.

        Examples:
            >>> import torch
            >>> from compat import nn
            >>> nn.Jacobian.testJacobian(nn.Tanh().double(), torch.zeros(3).double()) < 1e-6
            True
        """
        _draw(cls._varied(input), minval, maxval)
        numeric = cls.forward(module, input, None, perturbation)
        return _largest(numeric - cls.backward(module, input))

    @classmethod
    def testJacobianParameters(
        cls,
        module: Module,
        input: Tensor,
        param: Tensor,
        dparam: Tensor,
        minval: float = -2,
        maxval: float = 2,
        perturbation: float | None = None,
    ) -> float:
        """Return the error of ``dparam``, the gradient of ``param``.

        Args:
            module: the layer, of doubles.
            input: a tensor of doubles, filled with random numbers.
            param: the parameter, filled too.
            dparam: its gradient tensor.
            minval, maxval: the range of the random numbers.
            perturbation: the step of the differences; default: 1e-6.

        Returns:
            The largest absolute difference between both Jacobians.
        """
        _draw(cls._varied(input), minval, maxval)
        random.uniform_(param, minval, maxval)
        analytic = cls.backward(module, input, param, dparam)
        return _largest(cls.forward(module, input, param, perturbation) - analytic)

    @classmethod
    def testJacobianUpdateParameters(
        cls,
        module: Module,
        input: Tensor,
        param: Tensor,
        minval: float = -2,
        maxval: float = 2,
        perturbation: float | None = None,
    ) -> float:
        """Return the error of ``accUpdateGradParameters`` for ``param``.

        Args:
            module: the layer, of doubles.
            input: a tensor of doubles, filled with random numbers.
            param: the parameter, filled too.
            minval, maxval: the range of the random numbers.
            perturbation: the step of the differences; default: 1e-6.

        Returns:
            The largest absolute difference between both results.
        """
        _draw(cls._varied(input), minval, maxval)
        random.uniform_(param, minval, maxval)
        analytic = cls.backwardUpdate(module, input, param)
        return _largest(cls.forwardUpdate(module, input, param, perturbation) - analytic)

    @classmethod
    def testIO(
        cls, module: Module, input: Tensor, minval: float = -2, maxval: float = 2
    ) -> tuple[float, float]:
        """Return how output and gradInput differ after ``clearState`` and a way through a
        .t7 file.

        Args:
            module: the layer, of doubles.
            input: a tensor of doubles.
            minval, maxval: the range of the gradient of the output.

        Returns:
            The largest absolute differences of the output and of the gradInput.
        """
        given, gradOutput = _copied(input), module.forward(input).clone()
        random.uniform_(gradOutput, minval, maxval)

        def results(module: Module) -> tuple[Tensor, Tensor]:
            module.forward(_copied(given))
            module.zeroGradParameters()
            gradInput = module.backward(_copied(given), gradOutput)
            # That of SparseLinear is a table.
            parts = [tensor.reshape(-1) for tensor in tensors(gradInput)]
            return module.output.clone(), torch.cat([gradOutput.new_empty(0), *parts])

        before = results(module)
        after = results(t7.loads(t7.dumps(module.clearState())))
        errors = [_largest(a - b) for a, b in zip(before, after, strict=True)]
        return errors[0], errors[1]

    @classmethod
    def testAllUpdate(
        cls, module: Module, input: Tensor, weight: str, gradWeight: str
    ) -> dict[str, float]:
        """Return the errors of the ways to move the parameter named ``weight``, shared or not.

        The keys are ``accGradParameters`` and ``accUpdateGradParameters``, each also with
        `` [shared]`` behind it.

        Args:
            module: the layer, of doubles.
            input: a tensor of doubles.
            weight: the name of the parameter's field.
            gradWeight: the name of its gradient's field.
        """
        rate = random.uniform(0.1, 1)
        clones = [module.clone() for _ in range(6)]
        start = getattr(module, weight).clone()
        gradOutput = random.uniform_(torch.empty_like(clones[0].forward(input)), 0, 1)

        def gathered(*modules: Module) -> None:
            for each in modules:
                each.forward(input)
                each.zeroGradParameters()
            for each in modules:
                each.backward(input, gradOutput)
            for each in modules:
                each.updateParameters(rate)

        def direct(*modules: Module) -> None:
            for each in modules:
                each.forward(input)
            for each in modules:
                each.updateGradInput(input, gradOutput)
                each.accUpdateGradParameters(input, gradOutput, rate)

        errors = {}
        for name, move, (one, first, second) in (
            ("accGradParameters", gathered, clones[:3]),
            ("accUpdateGradParameters", direct, clones[3:]),
        ):
            second.share(first, weight)
            move(one)
            if name == "accGradParameters":
                step = getattr(one, gradWeight) * rate
            move(first, second)
            for label, steps, moved in ((name, 1, [one]), (f"{name} [shared]", 2, [first, second])):
                errors[label] = sum(
                    (start - steps * step - getattr(each, weight)).norm().item() for each in moved
                )
        return errors


class SparseJacobian(Jacobian):
    """``Jacobian`` by the values of an input ``n x 2`` of keys and values.

    Torch7: ``nn.SparseJacobian``. The module's gradInput should have the keys in the same order,
    which for ``SparseLinear`` means ``doGradInput`` and all keys, ascending.

    PyTorch: ``torch.autograd.gradcheck``.
    """

    @staticmethod
    def _varied(input: Any) -> Tensor:
        [pairs] = input if isinstance(input, list) else [input]
        return pairs[:, 1]


def _copied(value: Any) -> Any:
    """Return a tensor, or a table of tensors, anew."""
    return map_tensors(Tensor.clone, value)


def _draw(tensor: Tensor, minval: float, maxval: float) -> None:
    """Fill a tensor, of indices as of numbers, with values of that range."""
    if tensor.is_floating_point():
        random.uniform_(tensor, minval, maxval)
    else:
        tensor.copy_(random.uniform_(torch.empty(tensor.shape), minval, maxval))


def _largest(tensor: Tensor) -> float:
    return tensor.abs().max().item() if tensor.numel() else 0.0
