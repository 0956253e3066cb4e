"""The arguments of the functions of THNN, in THNN's order, after the library's state.

====================  ==============================================================================
``input``             a tensor of the function's type
``weight?``           one that may be missing (``THNN.NULL``)
``target:Long``       one of another type
``target~input``      one with as many elements as ``input``, given to the kernel in its shape
``output!``           a result: the kernel returns it
``output=input``      a result, resized like ``input`` and given to the kernel to be written to;
                      where the function's ``inplace`` is true, it becomes ``input``'s memory
``finput-``           a buffer, which kernels here do without: stays as it is
``generator*``        a random generator
``[k2 pads:4 scale]`` numbers, a keyword of the kernel each; with a digit, that many whole ones as
                      a tuple: THNN's ``W, H`` and ``T, W, H`` in the order of dimensions, and as
                      they stand after a colon
====================  ==============================================================================

The names are Torch7's (``nn/lib/THNN/generic/THNN.h``), but that groups of numbers have one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

_TABLE = """
Abs_updateOutput input output=input
Abs_updateGradInput input gradOutput~input gradInput=input
ELU_updateOutput input output=input [alpha inplace]
ELU_updateGradInput input gradOutput~input gradInput=gradOutput output~input [alpha inplace]
GatedLinear_updateOutput input output! [dim]
GatedLinear_updateGradInput input gradOutput gradInput! [dim]
HardShrink_updateOutput input output=input [lambd]
HardShrink_updateGradInput input gradOutput~input gradInput=input [lambd]
HardTanh_updateOutput input output=input [min_val max_val inplace]
HardTanh_updateGradInput input gradOutput~input gradInput=gradOutput [min_val max_val inplace]
LeakyReLU_updateOutput input output=input [negval inplace]
LeakyReLU_updateGradInput input gradOutput~input gradInput=gradOutput [negval inplace]
LogSigmoid_updateOutput input output=input buffer-
LogSigmoid_updateGradInput input gradOutput~input gradInput=input buffer-
LogSoftMax_updateOutput input output=input
LogSoftMax_updateGradInput input- gradOutput gradInput=output output
PReLU_updateOutput input output=input weight [planes1]
PReLU_updateGradInput input gradOutput~input gradInput=input weight [planes1]
PReLU_accGradParameters input gradOutput~input gradInput- weight gradWeight buffer- buffer2-
    [planes1 scale]
RReLU_updateOutput input output=input noise! [lower upper train inplace] generator*
RReLU_updateGradInput input gradOutput~input gradInput=gradOutput noise [lower upper train
    inplace]
Sigmoid_updateOutput input output=input
Sigmoid_updateGradInput input- gradOutput~output gradInput=output output
SoftMax_updateOutput input output=input
SoftMax_updateGradInput input- gradOutput gradInput=output output
SoftPlus_updateOutput input output=input [beta threshold]
SoftPlus_updateGradInput input- gradOutput~output gradInput=output output [beta threshold]
SoftShrink_updateOutput input output=input [lambd]
SoftShrink_updateGradInput input gradOutput~input gradInput=input [lambd]
Sqrt_updateOutput input output=input [eps]
Sqrt_updateGradInput input- gradOutput~output gradInput=output output
Square_updateOutput input output=input
Square_updateGradInput input gradOutput~input gradInput=input
Tanh_updateOutput input output=input
Tanh_updateGradInput input- gradOutput~output gradInput=output output
Threshold_updateOutput input output=input [threshold val inplace]
Threshold_updateGradInput input gradOutput~input gradInput=gradOutput [threshold val inplace]

AbsCriterion_updateOutput input target~input output! [sizeAverage]
AbsCriterion_updateGradInput input target~input gradInput! [sizeAverage]
BCECriterion_updateOutput input target~input output! [sizeAverage] weights?
BCECriterion_updateGradInput input target~input gradInput! [sizeAverage] weights?
ClassNLLCriterion_updateOutput input target:Long output! [sizeAverage] weights? total_weight!
    [ignore_index]
ClassNLLCriterion_updateGradInput input target:Long gradInput! [sizeAverage] weights? total_weight
    [ignore_index]
DistKLDivCriterion_updateOutput input target~input output! [sizeAverage]
DistKLDivCriterion_updateGradInput input target~input gradInput! [sizeAverage]
L1Cost_updateOutput input output!
L1Cost_updateGradInput input gradOutput- gradInput!
MarginCriterion_updateOutput input target~input output! [sizeAverage margin]
MarginCriterion_updateGradInput input target~input gradInput! [sizeAverage margin]
MSECriterion_updateOutput input target~input output! [sizeAverage]
MSECriterion_updateGradInput input target~input gradInput! [sizeAverage]
MultiLabelMarginCriterion_updateOutput input target:Long output! isTarget! [sizeAverage]
MultiLabelMarginCriterion_updateGradInput input target:Long gradInput! isTarget [sizeAverage]
MultiMarginCriterion_updateOutput input target:Long output! [sizeAverage p1] weights? [margin]
MultiMarginCriterion_updateGradInput input target:Long gradInput! [sizeAverage p1] weights?
    [margin]
SmoothL1Criterion_updateOutput input target~input output! [sizeAverage]
SmoothL1Criterion_updateGradInput input target~input gradInput! [sizeAverage]
SoftMarginCriterion_updateOutput input target~input output! [sizeAverage]
SoftMarginCriterion_updateGradInput input target~input gradInput! [sizeAverage]
SpatialClassNLLCriterion_updateOutput input target:Long output! [sizeAverage] weights?
    total_weight!
SpatialClassNLLCriterion_updateGradInput input target:Long gradInput! [sizeAverage] weights?
    total_weight

IndexLinear_updateOutput keys:Long [offset1] values sizes:Long ends:Long- output! weight bias
    normalized! [train1]
IndexLinear_accGradParameters keys:Long [offset1] values sizes:Long ends:Long- gradOutput
    gradWeight! gradBias weight bias values2- [weightDecay scale]
IndexLinear_accUpdateGradParameters keys:Long [offset1] values sizes:Long ends:Long- gradOutput
    weight bias [weightDecay scale]
IndexLinear_updateParameters gradWeight gradBias weight bias keys:Long ends:Long- [offset1
    weightDecay learningRate]
Linear_updateOutput input output! weight bias? addBuffer-
Linear_updateGradInput input gradOutput gradInput! weight
Linear_accGradParameters input gradOutput gradInput- weight- bias? gradWeight gradBias? addBuffer-
    [scale]
LookupTable_accGradParameters input:Long gradOutput gradWeight count:Int! sorted- indices:Long-
    [byFrequency padding1 scale]
LookupTable_renorm rows:Long weight [maxNorm normType]
SparseLinear_updateOutput input output weight bias
SparseLinear_accGradParameters input gradOutput gradWeight gradBias weight bias- [weightDecay
    scale]
SparseLinear_zeroGradParameters gradWeight gradBias lastInput
SparseLinear_updateParameters weight bias gradWeight gradBias lastInput [learningRate]
SparseLinear_legacyUpdateOutput input output! weight bias
SparseLinear_legacyAccGradParameters input gradOutput gradWeight gradBias weight bias-
    [weightDecay scale]
SparseLinear_legacyZeroGradParameters gradWeight gradBias lastInput
SparseLinear_legacyUpdateParameters weight bias gradWeight gradBias lastInput [learningRate]

BatchNormalization_updateOutput input output! weight? bias? running_mean running_var save_mean
    save_std [train momentum eps]
BatchNormalization_backward input gradOutput gradInput=input? gradWeight? gradBias? weight?
    running_mean running_var save_mean save_std [train scale eps]
SpatialCrossMapLRN_updateOutput input output! scale! [size1 alpha beta k]
SpatialCrossMapLRN_updateGradInput input gradOutput gradInput! scale output [size1 alpha beta k]

SpatialConvolutionLocal_updateOutput input output! weight bias finput- fgradInput- [k2 d2 pad2 in2
    out2]
SpatialConvolutionLocal_updateGradInput input gradOutput gradInput! weight finput- fgradInput- [k2
    d2 pad2 in2 out2]
SpatialConvolutionLocal_accGradParameters input gradOutput gradWeight gradBias finput- fgradInput-
    [k2 d2 pad2 in2 out2 scale]
SpatialConvolutionMap_updateOutput input output! weight bias connTable [planes:2 d2]
SpatialConvolutionMap_updateGradInput input gradOutput gradInput! weight bias- connTable [planes:2
    d2]
SpatialConvolutionMap_accGradParameters input gradOutput gradWeight gradBias connTable [planes:2 d2
    scale]
SpatialConvolutionMM_updateOutput input output! weight bias? finput- fgradInput- [k2 d2 pad2]
SpatialConvolutionMM_updateGradInput input gradOutput gradInput! weight finput- fgradInput- [k2 d2
    pad2]
SpatialConvolutionMM_accGradParameters input gradOutput gradWeight gradBias? finput- fgradInput-
    [k2 d2 pad2 scale]
SpatialDepthWiseConvolution_updateOutput input output! weight bias? finput- fgradInput- [k2 d2
    pad2]
SpatialDepthWiseConvolution_updateGradInput input gradOutput gradInput! weight finput- fgradInput-
    [k2 d2 pad2]
SpatialDepthWiseConvolution_accGradParameters input gradOutput gradWeight gradBias? finput-
    fgradInput- [k2 d2 pad2 scale]
SpatialDilatedConvolution_updateOutput input output! weight bias? columns- ones- [k2 d2 pad2
    dilation2]
SpatialDilatedConvolution_updateGradInput input gradOutput gradInput! weight columns- [k2 d2 pad2
    dilation2]
SpatialDilatedConvolution_accGradParameters input gradOutput gradWeight gradBias? columns- ones-
    [k2 d2 pad2 dilation2 scale]
SpatialFullConvolution_updateOutput input output! weight bias? columns- ones- [k2 d2 pad2 adj2]
SpatialFullConvolution_updateGradInput input gradOutput gradInput! weight columns- [k2 d2 pad2
    adj2]
SpatialFullConvolution_accGradParameters input gradOutput gradWeight gradBias? columns- ones- [k2
    d2 pad2 adj2 scale]
SpatialFullConvolutionMap_updateOutput input output! weight bias connTable [planes:2 d2]
SpatialFullConvolutionMap_updateGradInput input gradOutput gradInput! weight bias- connTable
    [planes:2 d2]
SpatialFullConvolutionMap_accGradParameters input gradOutput gradWeight gradBias connTable
    [planes:2 d2 scale]
SpatialFullDilatedConvolution_updateOutput input output! weight bias? columns- ones- [k2 d2 pad2
    dilation2 adj2]
SpatialFullDilatedConvolution_updateGradInput input gradOutput gradInput! weight columns- [k2 d2
    pad2 dilation2 adj2]
SpatialFullDilatedConvolution_accGradParameters input gradOutput gradWeight gradBias? columns-
    ones- [k2 d2 pad2 dilation2 adj2 scale]
SpatialSubSampling_updateOutput input output! weight bias [k2 d2]
SpatialSubSampling_updateGradInput input gradOutput gradInput! weight [k2 d2]
SpatialSubSampling_accGradParameters input gradOutput gradWeight gradBias [k2 d2 scale]
TemporalConvolution_updateOutput input output! weight bias [k1 d1 in1 out1]
TemporalConvolution_updateGradInput input gradOutput gradInput! weight [k1 d1]
TemporalConvolution_accGradParameters input gradOutput gradWeight gradBias [k1 d1 scale]
TemporalRowConvolution_updateOutput input output! weight bias? finput- fgradInput- [k1 d1 pad1
    featFirst]
TemporalRowConvolution_updateGradInput input gradOutput gradInput! weight finput- fgradInput- [k1
    d1 pad1 featFirst]
TemporalRowConvolution_accGradParameters input gradOutput gradWeight gradBias? finput- fgradInput-
    [k1 d1 pad1 featFirst scale]
TemporalSubSampling_updateOutput input output! weight bias [k1 d1 in1]
TemporalSubSampling_updateGradInput input gradOutput gradInput! weight [k1 d1]
TemporalSubSampling_accGradParameters input gradOutput gradWeight gradBias [k1 d1 scale]
VolumetricConvolution_updateOutput input output! weight bias? finput- fgradInput- [d3 pad3]
VolumetricConvolution_updateGradInput input gradOutput gradInput! weight finput- [d3 pad3]
VolumetricConvolution_accGradParameters input gradOutput gradWeight gradBias? finput- fgradInput-
    [d3 pad3 scale]
VolumetricConvolutionMM_updateOutput input output! weight bias? finput- [k3 d3 pad3]
VolumetricConvolutionMM_updateGradInput input gradOutput gradInput! weight finput- fgradInput- [k3
    d3 pad3]
VolumetricConvolutionMM_accGradParameters input gradOutput gradWeight gradBias? finput- [k3 d3
    pad3 scale]
VolumetricDilatedConvolution_updateOutput input output! weight bias? columns- ones- [k3 d3 pad3
    dilation3]
VolumetricDilatedConvolution_updateGradInput input gradOutput gradInput! weight columns- [k3 d3
    pad3 dilation3]
VolumetricDilatedConvolution_accGradParameters input gradOutput gradWeight gradBias? columns-
    ones- [k3 d3 pad3 dilation3 scale]
VolumetricFullConvolution_updateOutput input output! weight bias? columns- ones- [d3 pad3 adj3]
VolumetricFullConvolution_updateGradInput input gradOutput gradInput! weight columns- ones- [d3
    pad3 adj3]
VolumetricFullConvolution_accGradParameters input gradOutput gradWeight gradBias? columns- ones-
    [d3 pad3 adj3 scale]
VolumetricFullDilatedConvolution_updateOutput input output! weight bias? columns- ones- [d3 pad3
    dilation3 adj3]
VolumetricFullDilatedConvolution_updateGradInput input gradOutput gradInput! weight columns- ones-
    [d3 pad3 dilation3 adj3]
VolumetricFullDilatedConvolution_accGradParameters input gradOutput gradWeight gradBias? columns-
    ones- [d3 pad3 dilation3 adj3 scale]
unfolded_acc finput input [k2 d2 pad2 planes1 in2 out2]
unfolded_copy finput input [k2 d2 pad2 planes1 in2 out2]

FeatureLPPooling_updateOutput input output! [power width1 stride1 batchMode]
FeatureLPPooling_updateGradInput gradOutput input output gradInput! [power width1 stride1
    batchMode]
SpatialAdaptiveAveragePooling_updateOutput input output! [out2]
SpatialAdaptiveAveragePooling_updateGradInput input gradOutput gradInput!
SpatialAdaptiveMaxPooling_updateOutput input output! indices:Long! [out2]
SpatialAdaptiveMaxPooling_updateGradInput input gradOutput gradInput! indices:Long
SpatialAveragePooling_updateOutput input output! [k2 d2 pad2 ceil_mode count_include_pad]
SpatialAveragePooling_updateGradInput input gradOutput gradInput! [k2 d2 pad2 ceil_mode
    count_include_pad]
SpatialDilatedMaxPooling_updateOutput input output! indices:Long! [k2 d2 pad2 dilation2 ceil_mode]
SpatialDilatedMaxPooling_updateGradInput input gradOutput gradInput! indices:Long [k2 d2 pad2
    dilation2 ceil_mode]
SpatialFractionalMaxPooling_updateOutput input output! [out:2 pool:2] indices:Long! samples
SpatialFractionalMaxPooling_updateGradInput input gradOutput gradInput! [out:2 pool:2]
    indices:Long
SpatialMaxPooling_updateOutput input output! indices:Long! [k2 d2 pad2 ceil_mode]
SpatialMaxPooling_updateGradInput input gradOutput gradInput! indices:Long [k2 d2 pad2 ceil_mode]
SpatialMaxUnpooling_updateOutput input output! indices:Long [out2]
SpatialMaxUnpooling_updateGradInput input gradOutput gradInput! indices:Long [out2]
TemporalMaxPooling_updateOutput input output! indices:Long! [k1 d1]
TemporalMaxPooling_updateGradInput input gradOutput gradInput! indices:Long [k1 d1]
VolumetricAveragePooling_updateOutput input output! [k3 d3 pad3 ceil_mode count_include_pad]
VolumetricAveragePooling_updateGradInput input gradOutput gradInput! [k3 d3 pad3 ceil_mode
    count_include_pad]
VolumetricDilatedMaxPooling_updateOutput input output! indices:Long! [k3 d3 pad3 dilation3
    ceil_mode]
VolumetricDilatedMaxPooling_updateGradInput input gradOutput gradInput! indices:Long [k3 d3 pad3
    dilation3 ceil_mode]
VolumetricFractionalMaxPooling_updateOutput input output! [out:3 pool:3] indices:Long! samples
VolumetricFractionalMaxPooling_updateGradInput input gradOutput gradInput! [out:3 pool:3]
    indices:Long
VolumetricMaxPooling_updateOutput input output! indices:Long! [k3 d3 pad3 ceil_mode]
VolumetricMaxPooling_updateGradInput input gradOutput gradInput! indices:Long [k3 d3 pad3
    ceil_mode]
VolumetricMaxUnpooling_updateOutput input output! indices:Long [out3 d3 pad3]
VolumetricMaxUnpooling_updateGradInput input gradOutput gradInput! indices:Long [out3 d3 pad3]

SpatialGridSamplerBilinear_updateOutput input grid output!
SpatialGridSamplerBilinear_updateGradInput input gradInput! grid gradGrid! gradOutput
SpatialReflectionPadding_updateOutput input output! [pads:4]
SpatialReflectionPadding_updateGradInput input gradOutput gradInput! [pads:4]
SpatialReplicationPadding_updateOutput input output! [pads:4]
SpatialReplicationPadding_updateGradInput input gradOutput gradInput! [pads:4]
SpatialUpSamplingBilinear_updateOutput input output! [out:2]
SpatialUpSamplingBilinear_updateGradInput gradOutput gradInput! [input:4 out:2]
SpatialUpSamplingNearest_updateOutput input output! [factor1]
SpatialUpSamplingNearest_updateGradInput input gradOutput gradInput! [factor1]
VolumetricReplicationPadding_updateOutput input output! [pads:6]
VolumetricReplicationPadding_updateGradInput input gradOutput gradInput! [pads:6]
VolumetricUpSamplingNearest_updateOutput input output! [factor1]
VolumetricUpSamplingNearest_updateGradInput input gradOutput gradInput! [factor1]
VolumetricUpSamplingTrilinear_updateOutput input output! [out:3]
VolumetricUpSamplingTrilinear_updateGradInput gradOutput gradInput! [input:5 out:3]

GRUFused_updateOutput input hidden bias1? bias2? hx output! storage!
GRUFused_updateGradInput gradInInput! gradInHidden! gradOutput gradInputHx! storage
LSTMFused_updateOutput input hidden bias1? bias2? cell output! outputCell!
LSTMFused_updateGradInput storage gradInGates! cx cy gradOutput gradOutputCell gradInputCx!
"""


@dataclass(frozen=True)
class Argument:
    """One argument of a function of THNN."""

    name: str
    kind: str
    """``tensor``, ``result``, ``sized``, ``buffer``, ``generator``, ``number`` or ``inplace``."""
    like: int = 0
    """The number of the argument that gives the size or shape, from 1; 0 is none."""
    type: str = ""
    """Of tensors that have a type of their own: ``Long`` or ``Int``."""
    optional: bool = False


@dataclass(frozen=True)
class Numbers:
    """Numbers that a kernel takes as one keyword."""

    name: str
    count: int
    """How many make a tuple; 0 is a number by itself."""
    windowed: bool
    """Whether they are in THNN's order of axes, width before height."""

    def take(self, given: tuple[Any, ...], start: int) -> Any:
        """Return the keyword's value."""
        if self.count == 0:
            return given[start]
        # As C makes integers of numbers.
        whole = tuple(int(number) for number in given[start : start + self.count])
        if self.count == 1:
            return whole[0]
        return (*whole[:-2], whole[-1], whole[-2]) if self.windowed else whole


@dataclass(frozen=True)
class Signature:
    """The arguments of a THNN function."""

    arguments: tuple[Argument, ...]
    numbers: tuple[Numbers, ...]

    def bind(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Return the kernel as a function of its tensors and then THNN's numbers, in order."""
        if not self.numbers:
            return kernel
        kinds = ("tensor", "sized", "generator")
        tensors = sum(argument.kind in kinds for argument in self.arguments)
        places = []
        place = tensors
        for group in self.numbers:
            places.append((group, place))
            place += group.count or 1

        def bound(*given: Any) -> Any:
            # Older callers leave out the last ones.
            keywords = {
                group.name: group.take(given, start)
                for group, start in places
                if given[start] is not None
            }
            return kernel(*given[:tensors], **keywords)

        return bound


_TENSOR = re.compile(r"(\w+)(?::(\w+))?([!*-]?)(?:([=~])(\w+))?(\??)")
_NUMBERS = re.compile(r"([a-zA-Z_]+)(:?)(\d?)")
_MARKS = {"": "tensor", "!": "result", "-": "buffer", "*": "generator"}


def _parse(text: str) -> Signature:
    arguments: list[Argument] = []
    others: dict[int, str] = {}
    numbers: list[Numbers] = []
    inside = False
    for token in text.split():
        inside = inside or token.startswith("[")
        if inside:
            matched = _NUMBERS.fullmatch(token.strip("[]"))
            assert matched is not None, token
            inside = not token.endswith("]")
            name, plain, count = matched.groups()
            if name == "inplace":
                arguments.append(Argument(name, "inplace"))
                continue
            numbers.append(Numbers(name, int(count or 0), not plain))
            arguments += [Argument(name, "number")] * int(count or 1)
            continue
        matched = _TENSOR.fullmatch(token)
        assert matched is not None, token
        name, kind, mark, relation, other, optional = matched.groups()
        if other:
            others[len(arguments)] = other
        kind_of = "sized" if relation == "=" else _MARKS[mark]
        arguments.append(Argument(name, kind_of, 0, kind or "", bool(optional)))
    place = {argument.name: i for i, argument in enumerate(arguments, 1)}
    for i, other in others.items():
        arguments[i] = replace(arguments[i], like=place[other])
    return Signature(tuple(arguments), tuple(numbers))


def _read(table: str) -> dict[str, Signature]:
    lines = re.sub(r"\n +", " ", table).split("\n")
    split = (line.split(" ", 1) for line in lines if line)
    return {name: _parse(text) for name, text in split}


SIGNATURES = _read(_TABLE)
