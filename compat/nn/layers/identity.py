"""Layers that pass their input on: as it is, converted, or with another gradient."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from compat import cutorch
from compat.checks import check_tensor, flag, number, whole_or_none
from compat.nn.checks.tensors import check_count, check_dims
from compat.nn.containers.container import Container
from compat.nn.core.conversion import Conversion
from compat.nn.core.layer import Layer
from compat.nn.core.module import Module
from compat.nn.functional import identity as f
from compat.nn.layers.elementwise import shaped
from compat.tensor_tables import map_tensors
from compat.tensor_types import default_type, empty_tensor, parse_type, tensor_type, type_name


class Identity(Layer):
    """The identity of a tensor or a table (Torch7: ``nn.Identity``).

    PyTorch: ``torch.nn.Identity``.
    """

    passes_on = True

    def updateOutput(self, input: Any) -> Any:
        self.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput
        return gradOutput


class Constant(Layer):
    """A constant, whatever the input (Torch7: ``nn.Constant``). The gradient is zero.

    Args:
        value: a tensor or number.
        nInputDim: the number of dimensions of a sample; for an input with more, a batch, the output
            is a batch of as many constants.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.Constant(torch.tensor([1.0, 2.0]), 1).forward(torch.zeros(2, 5)).tolist()
        [[1.0, 2.0], [1.0, 2.0]]
    """

    nInputDim: int | None = None

    def __init__(self, value: float | Tensor, nInputDim: int | None = None) -> None:
        super().__init__()
        if not isinstance(value, Tensor):
            value = torch.tensor([number(value, "value")], dtype=torch.get_default_dtype())
        self.value = value
        self.nInputDim = whole_or_none(nInputDim, "nInputDim", 0)

    def updateOutput(self, input: Any) -> Tensor:
        value = self.value
        if self.nInputDim is not None and input.dim() > self.nInputDim:
            value = value.expand(input.size(0), *value.shape)
        return self.set_output(value.clone(memory_format=torch.contiguous_format))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self.set_gradInput(map_tensors(f.zeros, input))


class GradientReversal(Layer):
    """The identity, whose backward multiplies by ``-lambda`` (Torch7: ``nn.GradientReversal``).

    Ganin and Lempitsky, Unsupervised Domain Adaptation by Backpropagation, 2015.

    Args:
        lambda_: the factor.
    """

    t7_version = 2

    def __init__(self, lambda_: float = 1) -> None:
        super().__init__()
        self.setLambda(lambda_)

    def setLambda(self, lambda_: float) -> None:
        """Set the factor."""
        self.lambda_ = number(lambda_, "lambda_")

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output_view(input)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        return self.set_gradInput((gradOutput * -self.lambda_).contiguous())

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields | ({"lambda": 1} if version < 2 else {}), version)


class L1Penalty(Layer):
    """The identity, whose backward adds the gradient of the 1-norm (Torch7: ``nn.L1Penalty``).

    Args:
        l1weight: the weight of the norm.
        sizeAverage: divide the norm by the number of elements.
        provideOutput: whether the gradient of the output is part of that of the input.

    Field: ``loss``, the weighted norm of the latest input.
    """

    passes_on = True

    newer_fields = ("provideOutput",)
    provideOutput: bool = True

    def __init__(
        self, l1weight: float, sizeAverage: bool = False, provideOutput: bool = True
    ) -> None:
        super().__init__()
        self.l1weight = number(l1weight, "l1weight")
        self.sizeAverage = flag(sizeAverage, "sizeAverage")
        self.provideOutput = provideOutput is None or flag(provideOutput, "provideOutput")

    def updateOutput(self, input: Tensor) -> Tensor:
        self.loss = f.weighted_norm(input, self._weight(input)).item()
        self.output = input
        return input

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        gradInput = f.weighted_norm_backward(input, self._weight(input))
        if self.provideOutput:
            gradInput = gradInput.add_(shaped(gradOutput, input))
        return self.set_gradInput(gradInput.contiguous())

    def _weight(self, input: Tensor) -> float:
        return self.l1weight / max(input.numel(), 1) if self.sizeAverage else self.l1weight


class ZeroGrad(Layer):
    """The identity of a tensor or a table, with zero gradient (Torch7: ``nn.ZeroGrad``)."""

    def updateOutput(self, input: Any) -> Any:
        return self.set_output_view(input)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self.set_gradInput(map_tensors(f.zeros, input))


class PrintSize(Layer):
    """The identity; prints the sizes of input and gradOutput (Torch7: ``nn.PrintSize``).

    For a table, the sizes of its entries are printed.

    Args:
        prefix: the text before each size.
    """

    passes_on = True

    def __init__(self, prefix: str = "PrintSize") -> None:
        super().__init__()
        self.prefix = prefix

    def updateOutput(self, input: Any) -> Any:
        self._show("input", input)
        self.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self._show("gradOutput", gradOutput)
        if self.gradInput is not None:
            self.gradInput = gradOutput
        return self.gradInput

    def _show(self, what: str, value: Any) -> None:
        print(f"{self.prefix}:{what}\n\t{map_tensors(_Size, value)}")


class _Size:
    """The size of a tensor, shown as Torch7 shows it, and within tables in one line."""

    def __init__(self, tensor: Tensor) -> None:
        self.size = tuple(tensor.shape)

    def __str__(self) -> str:
        width = max(map(len, map(str, self.size)), default=0) + 1
        lines = "".join(f"{n:{width}d}\n" for n in self.size)
        return f"{lines}[torch.LongStorage of size {len(self.size)}]\n"

    def __repr__(self) -> str:
        return "x".join(map(str, self.size))


class Copy(Layer):
    """Convert the input to another tensor type (Torch7: ``nn.Copy``).

    Args:
        intype, outtype: Torch7's names of tensor types, of the gradient and of the output.
        forceCopy: copy even if the two are one type.
        dontCast: ``type(...)`` of this module or of the net it is in leaves the two as they are;
            otherwise it sets both.

    PyTorch: ``torch.Tensor.to``.
    """

    dontCast: bool | None = None
    forceCopy: bool = True

    def __init__(
        self,
        intype: str | None = None,
        outtype: str | None = None,
        forceCopy: bool = False,
        dontCast: bool | None = None,
    ) -> None:
        super().__init__()
        self.intype = _checked_type(default_type() if intype is None else intype, "intype")
        self.outtype = _checked_type(default_type() if outtype is None else outtype, "outtype")
        self.forceCopy = flag(forceCopy, "forceCopy")
        self.dontCast = None if dontCast is None else flag(dontCast, "dontCast")

    def updateOutput(self, input: Tensor) -> Tensor:
        output = moved(input, self.outtype, self._copies())
        if output is input:
            self.set_output_view(output)
            return input  # itself, as Torch7
        return self.set_output(output)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        gradInput = moved(gradOutput, self.intype, self._copies())
        if gradInput is gradOutput:
            return self.set_gradInput_view(gradInput)
        return self.set_gradInput(gradInput)

    def _copies(self) -> bool:
        return self.forceCopy or self.intype != self.outtype

    def convert(self, conversion: Conversion, name: str) -> None:
        if not self.dontCast:
            super().convert(conversion, name)
            self.intype = conversion.named(self.intype, name)
            self.outtype = conversion.named(self.outtype, name)

    def t7_fields(self) -> dict[str, Any]:
        # In Torch7 the types are those of the two results.
        fields = super().t7_fields()
        for name, result in (("intype", "gradInput"), ("outtype", "output")):
            fields[result] = empty_tensor(fields.pop(name))
        del fields["forceCopy"]
        return fields

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        # Without forceCopy and with one type, Torch7 replaces the methods of the object.
        replaced = [fields.pop(name, None) for name in ("updateOutput", "updateGradInput")]
        self.forceCopy = replaced == [None, None]
        self.intype = _typename(fields.get("gradInput"))
        self.outtype = _typename(fields.get("output"))
        super().t7_restore(fields, version)


class Convert(Container):
    """Convert between named layouts, and to the type of the module (Torch7: ``nn.Convert``).

    Args:
        inputShape, outputShape: one letter for each dimension: ``b`` for the batch, and for
            instance ``c``, ``h``, ``w``, ``f`` (features) or ``t`` (one of several targets). The
            output has the letters of the input in another order, or is ``bf``, ``b`` or ``bt``. By
            default layouts do not matter, and only the type is converted.

    Without ``b`` one is put first. Inputs without the dimension ``b`` are single samples.

    The gradient has the type of the module.
    """

    transposition: bool | None = None
    transient_fields: ClassVar[tuple[str, ...]] = ("_features",)
    # Of the first sample that became features.
    _features: int | None = None

    def __init__(self, inputShape: str | None = None, outputShape: str | None = None) -> None:
        super().__init__()
        for name, shape in (("inputShape", inputShape), ("outputShape", outputShape)):
            if shape is not None and not isinstance(shape, str):
                raise TypeError(f"{name} is {shape!r}; a string of letters is accepted")
        if outputShape is not None and inputShape is None:
            raise TypeError("inputShape is None; with outputShape, a string of letters is accepted")
        inputShape = "b*" if inputShape is None else inputShape
        outputShape = inputShape if outputShape is None else outputShape
        self.inputShape = inputShape if "b" in inputShape else f"b{inputShape}"
        self.outputShape = outputShape if "b" in outputShape else f"b{outputShape}"
        self.inputBatchDim = self.inputShape.index("b") + 1
        self.outputBatchDim = self.outputShape.index("b") + 1
        anything = [shape == "b*" for shape in (self.inputShape, self.outputShape)]
        if any(anything) != all(anything):
            raise ValueError(
                f"inputShape is {inputShape!r} and outputShape is {outputShape!r}; 'b*' is "
                "accepted for both or neither"
            )
        self.nInputDim = -1 if all(anything) else len(self.inputShape)
        self.nOutputDim = -1 if all(anything) else len(self.outputShape)
        if self.nInputDim == self.nOutputDim:
            self.transposition = all(letter in self.outputShape for letter in self.inputShape)
        if not self.transposition and not self._known():
            raise ValueError(
                f"outputShape is {outputShape!r}; one that is known for inputShape {inputShape!r} "
                "is accepted"
            )

    def _known(self) -> bool:
        """Return whether this is one of the conversions that are not transpositions."""
        given, wanted = set(self.inputShape), self.outputShape
        return (
            (wanted == "bf" and given != set("bt"))
            or (wanted == "b" and given in (set("bt"), set("bf")))
            or (wanted == "bt" and given == set("b"))
        )

    def updateOutput(self, input: Tensor) -> Tensor:
        input = moved(check_tensor(input), self._type)
        if self.nInputDim != -1:
            check_dims(input, self.nInputDim - 1, self.nInputDim)
        output = self._converted(self._batch(input))
        self.output = output.squeeze(self.outputBatchDim - 1) if self._single(input) else output
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        gradOutput = moved(gradOutput, self._type)
        if self._single(input):
            gradOutput = gradOutput.unsqueeze(self.outputBatchDim - 1)
        gradInput = self._converted_back(self._batch(input), gradOutput)
        self.gradInput = gradInput.view(input.shape)
        return self.gradInput

    def _single(self, input: Tensor) -> bool:
        return input.dim() < self.nInputDim

    def _batch(self, input: Tensor) -> Tensor:
        return input.unsqueeze(self.inputBatchDim - 1) if self._single(input) else input

    def _converted(self, input: Tensor) -> Tensor:
        given = self.inputShape
        if given == self.outputShape:
            return input
        if self.transposition:
            return f.permute(input, [given.index(letter) for letter in self.outputShape])
        batch_first = input.transpose(0, self.inputBatchDim - 1)
        if self.outputShape != "b":
            features = (input.unsqueeze(1) if input.dim() == 1 else batch_first).flatten(1)
            known = self._features = self._features or features.size(1)
            if features.size(1) != known:
                raise ValueError(
                    f"input has samples of {features.size(1)} numbers; {known}, as the first had, "
                    "are accepted"
                )
            return features
        if "f" in given:
            check_count(batch_first.size(1), 1)
        return batch_first.select(1, 0).clone(memory_format=torch.contiguous_format)

    def _converted_back(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        given, wanted = self.inputShape, self.outputShape
        if given == wanted:
            return gradOutput
        if self.transposition:
            return f.permute(gradOutput, [wanted.index(letter) for letter in given])
        place = self.inputBatchDim - 1
        if wanted != "b":
            batch_first = gradOutput.reshape(input.transpose(0, place).shape)
            return batch_first.transpose(0, place).contiguous()
        gradInput = gradOutput.new_zeros(input.shape)
        gradInput.transpose(0, place).select(1, 0).copy_(gradOutput)
        return gradInput

    __repr__ = Module.__repr__

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        # What converted the first input, and work space.
        scratch = {"converter", "batchMode", "_input", "_gradInput"}
        scratch |= {"__input", "__output", "__gradInput", "__gradOutput"}
        fields = {name: value for name, value in fields.items() if name not in scratch}
        super().t7_restore(fields | {"modules": []}, version)


def moved(tensor: Tensor, type: str, copy: bool = False) -> Tensor:
    """Return ``tensor`` as Torch7's tensor type ``type``; a CUDA type is on the current device."""
    dtype, device = cutorch.place(type, tensor)
    return tensor.to(device=device, dtype=dtype, copy=copy)


def _checked_type(name: str, argument: str) -> str:
    return type_name(*parse_type(name, argument))


def _typename(value: Any) -> str:
    if not isinstance(value, Tensor):
        return default_type()
    return tensor_type(value)
