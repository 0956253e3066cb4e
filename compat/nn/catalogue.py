"""docs/modules.md, made of the docstrings: ``python -m compat.nn.catalogue > docs/modules.md``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from compat import cudnn, nn

INTRODUCTION = """\
# Modules and criterions

Every class of Torch7's nn, where it is defined, what PyTorch has in its place, and where it differs
from Torch7 on purpose. Numbers, argument names and defaults are Torch7's, so its manual holds for
all that is not listed as different. `nn.DataParallelTable` comes with the package `dptable`.

This page is generated: `python -m compat.nn.catalogue > docs/modules.md`."""

# What PyTorch has in the place of a class. Some take other arguments, or do it as a function.
EQUIVALENTS = {
    "Abs": "torch.abs",
    "AbsCriterion": "torch.nn.L1Loss",
    "AddConstant": "torch.add",
    "BCECriterion": "torch.nn.BCELoss",
    "BatchNormalization": "torch.nn.BatchNorm1d",
    "Bilinear": "torch.nn.Bilinear",
    "CAddTable": "torch.add",
    "CDivTable": "torch.div",
    "CMaxTable": "torch.maximum",
    "CMinTable": "torch.minimum",
    "CMulTable": "torch.mul",
    "CSubTable": "torch.sub",
    "Clamp": "torch.nn.Hardtanh",
    "ClassNLLCriterion": "torch.nn.NLLLoss",
    "Collapse": "torch.nn.Flatten",
    "Concat": "torch.cat",
    "Container": "torch.nn.ModuleList",
    "Contiguous": "torch.Tensor.contiguous",
    "Copy": "torch.Tensor.to",
    "Cosine": "torch.nn.functional.cosine_similarity",
    "CosineDistance": "torch.nn.CosineSimilarity",
    "CosineEmbeddingCriterion": "torch.nn.CosineEmbeddingLoss",
    "CrossEntropyCriterion": "torch.nn.CrossEntropyLoss",
    "DistKLDivCriterion": "torch.nn.KLDivLoss",
    "DotProduct": "torch.linalg.vecdot",
    "Dropout": "torch.nn.Dropout",
    "ELU": "torch.nn.ELU",
    "Euclidean": "torch.cdist",
    "Exp": "torch.exp",
    "GatedLinearUnit": "torch.nn.GLU",
    "HardShrink": "torch.nn.Hardshrink",
    "HardTanh": "torch.nn.Hardtanh",
    "HingeEmbeddingCriterion": "torch.nn.HingeEmbeddingLoss",
    "Identity": "torch.nn.Identity",
    "Index": "torch.index_select",
    "IndexLinear": "torch.nn.EmbeddingBag",
    "Jacobian": "torch.autograd.gradcheck",
    "JoinTable": "torch.cat",
    "LayerNormalization": "torch.nn.LayerNorm",
    "LeakyReLU": "torch.nn.LeakyReLU",
    "Linear": "torch.nn.Linear",
    "LinearWeightNorm": "torch.nn.utils.parametrizations.weight_norm",
    "Log": "torch.log",
    "LogSigmoid": "torch.nn.LogSigmoid",
    "LogSoftMax": "torch.nn.LogSoftmax",
    "LookupTable": "torch.nn.Embedding",
    "MM": "torch.matmul",
    "MSECriterion": "torch.nn.MSELoss",
    "MV": "torch.mv",
    "MarginRankingCriterion": "torch.nn.MarginRankingLoss",
    "MaskedSelect": "torch.masked_select",
    "Max": "torch.max",
    "Mean": "torch.mean",
    "Min": "torch.min",
    "Module": "torch.nn.Module",
    "MulConstant": "torch.mul",
    "MultiLabelMarginCriterion": "torch.nn.MultiLabelMarginLoss",
    "MultiLabelSoftMarginCriterion": "torch.nn.MultiLabelSoftMarginLoss",
    "MultiMarginCriterion": "torch.nn.MultiMarginLoss",
    "NaN": "torch.autograd.detect_anomaly",
    "Narrow": "torch.narrow",
    "Normalize": "torch.nn.functional.normalize",
    "OneHot": "torch.nn.functional.one_hot",
    "PReLU": "torch.nn.PReLU",
    "Padding": "torch.nn.functional.pad",
    "PairwiseDistance": "torch.nn.PairwiseDistance",
    "PixelShuffle": "torch.nn.PixelShuffle",
    "Power": "torch.pow",
    "Profile": "torch.profiler.profile",
    "RReLU": "torch.nn.RReLU",
    "ReLU": "torch.nn.ReLU",
    "ReLU6": "torch.nn.ReLU6",
    "Replicate": "torch.Tensor.expand",
    "Reshape": "torch.reshape",
    "Select": "torch.select",
    "Sequential": "torch.nn.Sequential",
    "Sigmoid": "torch.nn.Sigmoid",
    "SmoothL1Criterion": "torch.nn.SmoothL1Loss",
    "SoftMarginCriterion": "torch.nn.SoftMarginLoss",
    "SoftMax": "torch.nn.Softmax",
    "SoftMin": "torch.nn.Softmin",
    "SoftPlus": "torch.nn.Softplus",
    "SoftShrink": "torch.nn.Softshrink",
    "SoftSign": "torch.nn.Softsign",
    "SparseJacobian": "torch.autograd.gradcheck",
    "SparseLinear": "torch.nn.EmbeddingBag",
    "SpatialAdaptiveAveragePooling": "torch.nn.AdaptiveAvgPool2d",
    "SpatialAdaptiveMaxPooling": "torch.nn.AdaptiveMaxPool2d",
    "SpatialAveragePooling": "torch.nn.AvgPool2d",
    "SpatialBatchNormalization": "torch.nn.BatchNorm2d",
    "SpatialClassNLLCriterion": "torch.nn.NLLLoss",
    "SpatialConvolution": "torch.nn.Conv2d",
    "SpatialConvolutionMM": "torch.nn.Conv2d",
    "SpatialCrossEntropyCriterion": "torch.nn.CrossEntropyLoss",
    "SpatialCrossMapLRN": "torch.nn.LocalResponseNorm",
    "SpatialDepthWiseConvolution": "torch.nn.Conv2d",
    "SpatialDilatedConvolution": "torch.nn.Conv2d",
    "SpatialDilatedMaxPooling": "torch.nn.MaxPool2d",
    "SpatialDropout": "torch.nn.Dropout2d",
    "SpatialFractionalMaxPooling": "torch.nn.FractionalMaxPool2d",
    "SpatialFullConvolution": "torch.nn.ConvTranspose2d",
    "SpatialLPPooling": "torch.nn.LPPool2d",
    "SpatialLogSoftMax": "torch.nn.LogSoftmax",
    "SpatialMaxPooling": "torch.nn.MaxPool2d",
    "SpatialMaxUnpooling": "torch.nn.MaxUnpool2d",
    "SpatialReflectionPadding": "torch.nn.ReflectionPad2d",
    "SpatialReplicationPadding": "torch.nn.ReplicationPad2d",
    "SpatialSoftMax": "torch.nn.Softmax",
    "SpatialUpSamplingBilinear": "torch.nn.Upsample",
    "SpatialUpSamplingNearest": "torch.nn.Upsample",
    "SpatialZeroPadding": "torch.nn.ZeroPad2d",
    "SplitTable": "torch.unbind",
    "Sqrt": "torch.sqrt",
    "Square": "torch.square",
    "Squeeze": "torch.squeeze",
    "Sum": "torch.sum",
    "Tanh": "torch.nn.Tanh",
    "TanhShrink": "torch.nn.Tanhshrink",
    "TemporalConvolution": "torch.nn.Conv1d",
    "TemporalDynamicKMaxPooling": "torch.topk",
    "TemporalMaxPooling": "torch.nn.MaxPool1d",
    "TemporalRowConvolution": "torch.nn.Conv1d",
    "Threshold": "torch.nn.Threshold",
    "Transpose": "torch.transpose",
    "Unsqueeze": "torch.unsqueeze",
    "UpSampling": "torch.nn.Upsample",
    "View": "torch.Tensor.view",
    "VolumetricAveragePooling": "torch.nn.AvgPool3d",
    "VolumetricBatchNormalization": "torch.nn.BatchNorm3d",
    "VolumetricConvolution": "torch.nn.Conv3d",
    "VolumetricCrossEntropyCriterion": "torch.nn.CrossEntropyLoss",
    "VolumetricDilatedConvolution": "torch.nn.Conv3d",
    "VolumetricDilatedMaxPooling": "torch.nn.MaxPool3d",
    "VolumetricDropout": "torch.nn.Dropout3d",
    "VolumetricFractionalMaxPooling": "torch.nn.FractionalMaxPool3d",
    "VolumetricFullConvolution": "torch.nn.ConvTranspose3d",
    "VolumetricMaxPooling": "torch.nn.MaxPool3d",
    "VolumetricMaxUnpooling": "torch.nn.MaxUnpool3d",
    "VolumetricReplicationPadding": "torch.nn.ReplicationPad3d",
    "WeightNorm": "torch.nn.utils.parametrizations.weight_norm",
    # Namesakes in nn compute something else.
    "cudnn.BGRU": "torch.nn.GRU",
    "cudnn.BLSTM": "torch.nn.LSTM",
    "cudnn.GRU": "torch.nn.GRU",
    "cudnn.LSTM": "torch.nn.LSTM",
    "cudnn.RNN": "torch.nn.RNN",
    "cudnn.RNNReLU": "torch.nn.RNN",
    "cudnn.RNNTanh": "torch.nn.RNN",
}


def classes(namespace: ModuleType, package: str) -> list[type]:
    """The Torch7 classes that a namespace has from a package, by name.

    What other packages add to ``compat.nn`` when they are imported does not count.
    """
    own = {value for value in vars(namespace).values() if inspect.isclass(value)}
    return sorted(
        (
            cls
            for cls in own
            if cls.__module__.startswith(f"{package}.")
            and ("Torch7" in _text(cls) or hasattr(cls, "typename"))
        ),
        key=lambda cls: cls.__name__,
    )


def _text(cls: type) -> str:
    return inspect.getdoc(cls) or "" if cls.__doc__ else ""


def summary(thing: Any) -> str:
    """The first sentence of the docstring, without the Torch7 name."""
    first = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    first = re.sub(r"\s*\((?:Torch7: |cudnn.torch: )?``(?:nn|cudnn)\.[^)]*\)", "", first)
    first = re.sub(r"\s*Torch7: ``[^`]*``[^.]*\.", "", first)
    return _markdown(re.split(r"(?<=\.)\s", first)[0])


def differences(cls: type) -> str:
    """What the docstring has behind "Differs from Torch7:"."""
    found = re.search(r"Differs from Torch7: (.*?)(?:\n\n|\Z)", _text(cls), re.S)
    return _markdown(" ".join(found[1].split())) if found else ""


def _markdown(text: str) -> str:
    text = re.sub(r"``([^`]*)``|`([^`]*)`", lambda m: f"`{m[1] or m[2]}`", text)
    return text.replace("|", "\\|")


def _prefix(namespace: ModuleType) -> str:
    return namespace.__name__.removeprefix("compat.")


def _table(namespace: ModuleType, listed: list[type]) -> Iterator[str]:
    prefix = _prefix(namespace)
    yield "| Torch7 | here | PyTorch | what it is |"
    yield "| --- | --- | --- | --- |"
    for cls in listed:
        place = cls.__module__.replace(".", "/") + ".py"
        native = EQUIVALENTS.get(f"{prefix}.{cls.__name__}", EQUIVALENTS.get(cls.__name__))
        cells = (
            f"`{prefix}.{cls.__name__}`",
            f"[{place.removeprefix('compat/')}](../{place})",
            f"`{native}`" if native else "",
            summary(cls),
        )
        yield f"| {' | '.join(cells)} |"


def _functions(namespace: ModuleType) -> Iterator[str]:
    for name, function in sorted(vars(namespace).items()):
        own = inspect.isfunction(function) and function.__module__ == namespace.__name__
        if own and not name.startswith("_"):
            yield f"- `{_prefix(namespace)}.{name}`: {summary(function)}"


def page() -> str:
    """The page."""
    everything = classes(nn, "compat.nn")
    criterions = [cls for cls in everything if issubclass(cls, nn.Criterion)]
    modules = [cls for cls in everything if issubclass(cls, nn.Module)]
    rest = [cls for cls in everything if cls not in criterions and cls not in modules]
    sections: list[tuple[str, ModuleType, list[type]]] = [
        ("Modules", nn, modules),
        ("Criterions", nn, criterions),
        ("Helpers", nn, rest),
        ("Recurrent nets, of the package rnn", nn, classes(nn, "compat.rnn")),
        ("cudnn", cudnn, classes(cudnn, "compat.cudnn")),
    ]
    lines = [INTRODUCTION]
    for title, namespace, listed in sections:
        if listed:
            lines += ["", f"## {title}", "", *_table(namespace, listed)]
    lines += ["", "## Functions", "", *_functions(nn.tables), *_functions(nn.utils)]
    lines += ["", "## Deliberate differences", ""]
    for _, namespace, listed in sections:
        for cls in listed:
            if differences(cls):
                lines.append(f"- `{_prefix(namespace)}.{cls.__name__}`: {differences(cls)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
