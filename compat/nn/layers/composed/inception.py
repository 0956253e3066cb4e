"""``nn.Inception``: convolutions of several sizes beside a pooling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from compat.checks import wrong_type
from compat.nn.containers.branches import DepthConcat
from compat.nn.containers.decorators import Decorator
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import own_backward
from compat.nn.core.module import Scalar
from compat.nn.core.tree import Inner
from compat.nn.layers.activation import ReLU
from compat.nn.layers.convolution.convolution import SpatialConvolution
from compat.nn.layers.normalization import SpatialBatchNormalization
from compat.nn.layers.pooling.pooling import SpatialMaxPooling


class Inception(Decorator):
    """Convolutions of several sizes beside a pooling (Torch7: ``nn.Inception`` of dpnn).

    Szegedy et al., Going Deeper with Convolutions, 2014. A ``DepthConcat`` of columns: for each
    kernel a 1×1 convolution that reduces the planes and then the convolution, a pooling with a 1×1
    convolution, and a 1×1 convolution alone, each convolution followed by the transfer function.

    Args:
        config: a dict with the keys

            - ``inputSize``: number of input planes;
            - ``outputSize``: list of the numbers of output planes of the kernels;
            - ``reduceSize``: list of the numbers of planes of the 1×1 convolutions, two more; of
              the last two either may be left out;
            - ``reduceStride``: list of their steps, by default 1;
            - ``transfer``: a module, by default ``nn.ReLU()``;
            - ``batchNorm``: whether to normalise after each convolution;
            - ``padding``: whether to keep the size of the planes, by default True;
            - ``kernelSize``, ``kernelStride``: lists, by default ``[5, 3]`` and ``[1, 1]``;
            - ``poolSize``, ``poolStride``: by default 3 and 1;
            - ``pool``: the pooling module instead.

    Shapes: input ``[N x] inputSize x H x W``.
    """

    module = Inner(0)
    scratch_fields = ("depthConcat",)  # the module in old versions

    def __init__(self, config: Mapping[str, Any]) -> None:
        if not isinstance(config, Mapping):
            raise wrong_type(config, "config", "a dict")
        for name in ("inputSize", "outputSize", "reduceSize"):
            if name not in config:
                raise ValueError(
                    f"config has no {name}; one with inputSize, outputSize and reduceSize is "
                    "accepted"
                )
        self.inputSize = config["inputSize"]
        self.outputSize = list(config["outputSize"])
        self.reduceSize = list(config["reduceSize"])
        self.reduceStride = list(config.get("reduceStride", []))
        self.transfer = config.get("transfer") or ReLU()
        self.batchNorm = bool(config.get("batchNorm", False))
        self.padding = config.get("padding", True)
        self.kernelSize = list(config.get("kernelSize", [5, 3]))
        self.kernelStride = list(config.get("kernelStride", [1, 1]))
        self.poolSize = config.get("poolSize", 3)
        self.poolStride = config.get("poolStride", 1)
        size, step = self.poolSize, self.poolStride
        self.pool = config.get("pool") or SpatialMaxPooling(size, size, step, step)

        columns = DepthConcat(2)
        for i, kernel in enumerate(self.kernelSize):
            column = self._reduction(i)
            pad = kernel // 2 if self.padding else 0
            step = self.kernelStride[i]
            planes = self.reduceSize[i], self.outputSize[i]
            convolution = SpatialConvolution(*planes, kernel, kernel, step, step, pad)
            columns.add(self._finished(column.add(convolution), self.outputSize[i]))
        i = len(self.kernelSize)
        pooling = Sequential(self.pool)
        if i < len(self.reduceSize):
            for module in self._reduction(i).modules:
                pooling.add(module)
        columns.add(pooling)
        if i + 1 < len(self.reduceSize):
            columns.add(self._reduction(i + 1))
        self._compare_sizes()
        super().__init__(columns)

    def _compare_sizes(self) -> None:
        """Print Torch7's warning if columns differ in size and get a border of zeros."""
        pads = [kernel // 2 if self.padding else 0 for kernel in self.kernelSize]
        first, *others = map(_sizes, self.kernelSize, self.kernelStride, pads)
        warning = "dpnn.Inception: Warning: Inconsistent output sizes"
        for other in others:
            if other != first:
                print(f"{warning}.")
        pool, i = self.pool, len(self.kernelSize) + 1
        if None not in (getattr(pool, name, None) for name in ("kW", "dW", "padW")):
            across, down = _sizes(pool.kW, pool.dW, pool.padW), _sizes(pool.kH, pool.dH, pool.padH)
            if (across[0], down[1]) != first:
                print(f"{warning} in pooling.")
        if i < len(self.reduceSize) and _sizes(1, self._step(i), 0) != first:
            print(f"{warning} in 1x1 conv.")

    def _step(self, i: int) -> int:
        """Return the step of the 1×1 convolution of column ``i``, counted from 0."""
        return self.reduceStride[i] if i < len(self.reduceStride) else 1

    def _reduction(self, i: int) -> Sequential:
        """Return the 1×1 convolution of column ``i``, counted from 0, and what follows it."""
        step, size = self._step(i), self.reduceSize[i]
        convolution = SpatialConvolution(self.inputSize, size, 1, 1, step, step)
        return self._finished(Sequential(convolution), size)

    def _finished(self, column: Sequential, planes: int) -> Sequential:
        if self.batchNorm:
            column.add(SpatialBatchNormalization(planes))
        return column.add(self.transfer.clone())

    def updateOutput(self, input: Tensor) -> Tensor:
        output = self.call(0, "updateOutput", self.toBatch(input, 3))
        self.output = self.fromBatch(output)
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Any:
        return self._sample_of(self._back("updateGradInput", input, gradOutput))

    def _relay(self, method: str, input: Tensor, gradOutput: Tensor, factor: Scalar) -> None:
        self._back(method, input, gradOutput, factor)
        self.report_finished(0)

    @own_backward
    def backward(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> Any:
        gradInput = self._sample_of(self._back("backward", input, gradOutput, scale))
        self.report_finished(0)
        return gradInput

    def _back(self, method: str, input: Tensor, gradOutput: Tensor, *factor: Scalar) -> Any:
        tensors = self.toBatch(input, 3), self.toBatch(gradOutput, 3)
        return self.call(0, method, *tensors, *factor)

    def _sample_of(self, gradInput: Tensor | None) -> Tensor | None:
        """Return the gradient of the batch, or of the single sample."""
        self.gradInput = None if gradInput is None else self.fromBatch(gradInput)
        return self.gradInput


def _sizes(kernel: int, step: int, pad: int) -> tuple[int, int]:
    """Return the output width and height of a window over planes of 200 rows and 100 columns."""
    return (100 + 2 * pad - kernel) // step + 1, (200 + 2 * pad - kernel) // step + 1
