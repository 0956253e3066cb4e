"""Is a module slower than its torch.nn equivalent?

Forward and backward, to the input and to the parameters, of every class that has an equivalent,
each against it on one thread, in turn. Prints one table sorted by the ratio.

    python benchmarks/modules.py [--batches] [--shapes] [--budget SECONDS] [a part of a name ...]

With ``--batches`` every class for single samples (where both take them) and for batches of 1, 10
and 64 instead; with ``--shapes`` the layers of fb.resnet.torch, char-rnn and torch-rnn, in their
sizes, for the same batches. What a call costs whatever it computes is shown by Identity: rows that
take longer than torch.nn by more than 1.1 and by more than that are marked with a star. The clock
is the process's own CPU time: what else runs on the machine does not count. Freed memory is kept,
as dptable train does (``dptable.memory``): to fault it in anew can take longer than a layer.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from alternating import alternate, header, ratio, row, seconds

from compat import nn, torch_rnn
from dptable.memory import keep_freed

VECTORS = (128, 512)
PLANES = (16, 32, 28, 28)
VOLUMES = (8, 16, 8, 14, 14)
CLASSES = (256, 1000)
FRAMES = (16, 64, 128)


# Why some take longer.
NOTES = {
    "BCECriterion": "Torch7's epsilon, and a check of the input",
    "ClassNLLCriterion": "labels are moved from 1 to 0",
    "HardShrink": "NaN goes Torch7's way",
    "HardTanh": "NaN goes Torch7's way",
    "Identity": "nothing but the call",
    "LogSigmoid": "infinity goes Torch7's way",
    "LookupTable": "indices are moved from 1 to 0",
    "RReLU": "slopes are Torch7's random numbers",
    "ReLU": "NaN goes Torch7's way",
    "ReLU6": "NaN goes Torch7's way",
    "Reshape": "nothing but the call",
    "SoftShrink": "NaN goes Torch7's way",
    "SpatialClassNLLCriterion": "labels are moved from 1 to 0",
    "SpatialDropout": "the mask is Torch7's random numbers",
    "SpatialFractionalMaxPooling": "windows are Torch7's random numbers",
    "Threshold": "NaN goes Torch7's way",
    "View": "nothing but the call",
    "VolumetricDropout": "the mask is Torch7's random numbers",
    "VolumetricFractionalMaxPooling": "windows are Torch7's random numbers",
}


@dataclass
class Pair:
    """A class and its equivalent, which takes what ``native`` makes of the input."""

    name: str
    ours: Any
    theirs: torch.nn.Module
    input: Any
    target: Any = None
    native: Callable[[Any], Any] = lambda x: x
    native_target: Callable[[Any], Any] = lambda t: t


def features_first(frames: torch.Tensor) -> torch.Tensor:
    """What PyTorch's layers over sequences take."""
    return frames.transpose(-1, -2).contiguous()


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape)


def pairs() -> list[Pair]:
    torch.manual_seed(0)
    t = torch.nn
    vectors, planes, volumes, frames = (randn(*s) for s in (VECTORS, PLANES, VOLUMES, FRAMES))
    scores = randn(*CLASSES)
    labels = torch.randint(1, 1001, (256,))
    pixels = torch.randint(1, 33, (16, 28, 28))
    signs = torch.randint(0, 2, (128,)).float() * 2 - 1
    first = lambda label: label - 1  # noqa: E731 (PyTorch counts classes from 0)
    list_of_two = [vectors, randn(*VECTORS)]
    return [
        # Elementwise.
        *(
            Pair(type(ours).__name__, ours, theirs, planes)
            for ours, theirs in [
                (nn.Identity(), t.Identity()),
                (nn.ReLU(), t.ReLU()),
                (nn.ReLU6(), t.ReLU6()),
                (nn.Threshold(0.5, 0.1), t.Threshold(0.5, 0.1)),
                (nn.HardTanh(), t.Hardtanh()),
                (nn.HardShrink(), t.Hardshrink()),
                (nn.SoftShrink(), t.Softshrink()),
                (nn.Tanh(), t.Tanh()),
                (nn.TanhShrink(), t.Tanhshrink()),
                (nn.Sigmoid(), t.Sigmoid()),
                (nn.LogSigmoid(), t.LogSigmoid()),
                (nn.SoftPlus(), t.Softplus()),
                (nn.SoftSign(), t.Softsign()),
                (nn.ELU(), t.ELU()),
                (nn.LeakyReLU(0.1), t.LeakyReLU(0.1)),
                (nn.PReLU(), t.PReLU()),
                (nn.PReLU(32), t.PReLU(32)),
                (nn.RReLU(), t.RReLU()),
                (nn.GatedLinearUnit(2), t.GLU(1)),
                (nn.Dropout(), t.Dropout()),
                (nn.SpatialDropout(), t.Dropout2d()),
                (nn.SpatialSoftMax(), t.Softmax2d()),
            ]
        ),
        Pair("VolumetricDropout", nn.VolumetricDropout(), t.Dropout3d(), volumes),
        Pair("SoftMax", nn.SoftMax(), t.Softmax(1), vectors),
        Pair("SoftMin", nn.SoftMin(), t.Softmin(1), vectors),
        Pair("LogSoftMax", nn.LogSoftMax(), t.LogSoftmax(1), vectors),
        # Linear.
        Pair("Linear", nn.Linear(512, 256), t.Linear(512, 256), vectors),
        Pair(
            "Bilinear",
            nn.Bilinear(64, 64, 32),
            t.Bilinear(64, 64, 32),
            [randn(64, 64), randn(64, 64)],
            native=tuple,
        ),
        Pair(
            "LookupTable",
            nn.LookupTable(1000, 128),
            t.Embedding(1000, 128),
            torch.randint(1, 1001, (64, 32)),
            native=first,
        ),
        Pair("PairwiseDistance", nn.PairwiseDistance(2), t.PairwiseDistance(2), list_of_two),
        Pair("CosineDistance", nn.CosineDistance(), t.CosineSimilarity(), list_of_two),
        # Convolutions.
        Pair(
            "SpatialConvolution",
            nn.SpatialConvolution(32, 32, 3, 3, 1, 1, 1, 1),
            t.Conv2d(32, 32, 3, 1, 1),
            planes,
        ),
        Pair(
            "SpatialConvolutionMM",
            nn.SpatialConvolutionMM(32, 32, 3, 3, 1, 1, 1, 1),
            t.Conv2d(32, 32, 3, 1, 1),
            planes,
        ),
        Pair(
            "SpatialDilatedConvolution",
            nn.SpatialDilatedConvolution(32, 32, 3, 3, 1, 1, 2, 2, 2, 2),
            t.Conv2d(32, 32, 3, 1, 2, 2),
            planes,
        ),
        Pair(
            "SpatialDepthWiseConvolution",
            nn.SpatialDepthWiseConvolution(32, 2, 3, 3, 1, 1, 1, 1),
            t.Conv2d(32, 64, 3, 1, 1, groups=32),
            planes,
        ),
        Pair(
            "SpatialFullConvolution",
            nn.SpatialFullConvolution(32, 16, 4, 4, 2, 2, 1, 1),
            t.ConvTranspose2d(32, 16, 4, 2, 1),
            planes,
        ),
        Pair(
            "VolumetricConvolution",
            nn.VolumetricConvolution(16, 16, 3, 3, 3, 1, 1, 1, 1, 1, 1),
            t.Conv3d(16, 16, 3, 1, 1),
            volumes,
        ),
        Pair(
            "VolumetricDilatedConvolution",
            nn.VolumetricDilatedConvolution(16, 16, 3, 3, 3, 1, 1, 1, 2, 2, 2, 2, 2, 2),
            t.Conv3d(16, 16, 3, 1, 2, 2),
            volumes,
        ),
        Pair(
            "VolumetricFullConvolution",
            nn.VolumetricFullConvolution(16, 8, 2, 2, 2, 2, 2, 2),
            t.ConvTranspose3d(16, 8, 2, 2),
            volumes,
        ),
        Pair(
            "TemporalConvolution",
            nn.TemporalConvolution(128, 128, 3),
            t.Conv1d(128, 128, 3),
            frames,
            native=features_first,
        ),
        Pair(
            "TemporalRowConvolution",
            nn.TemporalRowConvolution(128, 3, 1, True),
            t.Conv1d(128, 128, 3, groups=128),
            features_first(frames),
        ),
        # Poolings.
        Pair("SpatialMaxPooling", nn.SpatialMaxPooling(2, 2), t.MaxPool2d(2), planes),
        Pair(
            "SpatialDilatedMaxPooling",
            nn.SpatialDilatedMaxPooling(3, 3, 2, 2, 0, 0, 2, 2),
            t.MaxPool2d(3, 2, 0, 2),
            planes,
        ),
        Pair("SpatialAveragePooling", nn.SpatialAveragePooling(2, 2, 2, 2), t.AvgPool2d(2), planes),
        Pair(
            "SpatialAdaptiveMaxPooling",
            nn.SpatialAdaptiveMaxPooling(7, 7),
            t.AdaptiveMaxPool2d(7),
            planes,
        ),
        Pair(
            "SpatialAdaptiveAveragePooling",
            nn.SpatialAdaptiveAveragePooling(7, 7),
            t.AdaptiveAvgPool2d(7),
            planes,
        ),
        Pair(
            "SpatialFractionalMaxPooling",
            nn.SpatialFractionalMaxPooling(2, 2, 14, 14),
            t.FractionalMaxPool2d(2, 14),
            planes,
        ),
        Pair("SpatialLPPooling", nn.SpatialLPPooling(32, 2, 2, 2), t.LPPool2d(2, 2), planes.abs()),
        Pair("SpatialMaxUnpooling", *unpooling(2), planes),
        Pair("VolumetricMaxPooling", nn.VolumetricMaxPooling(2, 2, 2), t.MaxPool3d(2), volumes),
        Pair(
            "VolumetricDilatedMaxPooling",
            nn.VolumetricDilatedMaxPooling(2, 2, 2, 2, 2, 2, 0, 0, 0, 2, 2, 2),
            t.MaxPool3d(2, 2, 0, 2),
            volumes,
        ),
        Pair(
            "VolumetricAveragePooling",
            nn.VolumetricAveragePooling(2, 2, 2),
            t.AvgPool3d(2),
            volumes,
        ),
        Pair(
            "VolumetricFractionalMaxPooling",
            nn.VolumetricFractionalMaxPooling(2, 2, 2, 7, 7, 4),
            t.FractionalMaxPool3d(2, (4, 7, 7)),
            volumes,
            native=lambda x: x,
        ),
        Pair("VolumetricMaxUnpooling", *unpooling(3), volumes),
        Pair(
            "TemporalMaxPooling",
            nn.TemporalMaxPooling(2),
            t.MaxPool1d(2),
            frames,
            native=features_first,
        ),
        # Normalisations.
        Pair("BatchNormalization", nn.BatchNormalization(512), t.BatchNorm1d(512), vectors),
        Pair(
            "SpatialBatchNormalization",
            nn.SpatialBatchNormalization(32),
            t.BatchNorm2d(32),
            planes,
        ),
        Pair(
            "VolumetricBatchNormalization",
            nn.VolumetricBatchNormalization(16),
            t.BatchNorm3d(16),
            volumes,
        ),
        Pair("SpatialCrossMapLRN", nn.SpatialCrossMapLRN(5), t.LocalResponseNorm(5), planes),
        # Shapes.
        Pair("Reshape", nn.Reshape(32 * 28 * 28), t.Flatten(), planes),
        Pair("View", nn.View(-1, 32 * 28 * 28), t.Flatten(), planes),
        Pair("PixelShuffle", nn.PixelShuffle(4), t.PixelShuffle(4), planes),
        Pair(
            "SpatialUpSamplingNearest",
            nn.SpatialUpSamplingNearest(2),
            t.UpsamplingNearest2d(scale_factor=2),
            planes,
        ),
        Pair(
            "SpatialUpSamplingBilinear",
            nn.SpatialUpSamplingBilinear(2),
            t.UpsamplingBilinear2d(scale_factor=2),
            planes,
        ),
        Pair("UpSampling", nn.UpSampling(2), t.Upsample(scale_factor=2), volumes),
        Pair("SpatialZeroPadding", nn.SpatialZeroPadding(2), t.ZeroPad2d(2), planes),
        Pair(
            "SpatialReflectionPadding", nn.SpatialReflectionPadding(2), t.ReflectionPad2d(2), planes
        ),
        Pair(
            "SpatialReplicationPadding",
            nn.SpatialReplicationPadding(2),
            t.ReplicationPad2d(2),
            planes,
        ),
        Pair(
            "VolumetricReplicationPadding",
            nn.VolumetricReplicationPadding(1),
            t.ReplicationPad3d(1),
            volumes,
        ),
        Pair(
            "Sequential",
            nn.Sequential().add(nn.Linear(512, 256)).add(nn.Tanh()).add(nn.Linear(256, 512)),
            t.Sequential(t.Linear(512, 256), t.Tanh(), t.Linear(256, 512)),
            vectors,
        ),
        # Criterions.
        Pair("AbsCriterion", nn.AbsCriterion(), t.L1Loss(), vectors, randn(*VECTORS)),
        Pair("MSECriterion", nn.MSECriterion(), t.MSELoss(), vectors, randn(*VECTORS)),
        Pair(
            "SmoothL1Criterion", nn.SmoothL1Criterion(), t.SmoothL1Loss(), vectors, randn(*VECTORS)
        ),
        Pair(
            "BCECriterion", nn.BCECriterion(), t.BCELoss(), vectors.sigmoid(), (vectors > 0).float()
        ),
        Pair(
            "ClassNLLCriterion",
            nn.ClassNLLCriterion(),
            t.NLLLoss(),
            scores.log_softmax(1),
            labels,
            native_target=first,
        ),
        Pair(
            "CrossEntropyCriterion",
            nn.CrossEntropyCriterion(),
            t.CrossEntropyLoss(),
            scores,
            labels,
            native_target=first,
        ),
        Pair(
            "SpatialClassNLLCriterion",
            nn.SpatialClassNLLCriterion(),
            t.NLLLoss(),
            planes.log_softmax(1),
            pixels,
            native_target=first,
        ),
        Pair(
            "DistKLDivCriterion",
            nn.DistKLDivCriterion(),
            t.KLDivLoss(),
            vectors.log_softmax(1),
            vectors.softmax(1),
        ),
        Pair(
            "CosineEmbeddingCriterion",
            nn.CosineEmbeddingCriterion(),
            t.CosineEmbeddingLoss(),
            list_of_two,
            signs,
            native=tuple,
        ),
        Pair(
            "HingeEmbeddingCriterion",
            nn.HingeEmbeddingCriterion(),
            t.HingeEmbeddingLoss(),
            vectors.abs(),
            (vectors > 0).float() * 2 - 1,
        ),
        Pair(
            "MarginRankingCriterion",
            nn.MarginRankingCriterion(),
            t.MarginRankingLoss(1.0),
            list_of_two,
            (vectors > 0).float() * 2 - 1,
            native=tuple,
        ),
        Pair(
            "MultiMarginCriterion",
            nn.MultiMarginCriterion(),
            t.MultiMarginLoss(),
            scores,
            labels,
            native_target=first,
        ),
        Pair(
            "MultiLabelMarginCriterion",
            nn.MultiLabelMarginCriterion(),
            t.MultiLabelMarginLoss(),
            vectors,
            torch.nn.functional.pad(torch.randint(1, 513, (128, 4)), (0, 508)).float(),
            native_target=lambda label: label.long() - 1,
        ),
        Pair(
            "MultiLabelSoftMarginCriterion",
            nn.MultiLabelSoftMarginCriterion(),
            t.MultiLabelSoftMarginLoss(),
            vectors,
            (vectors > 1).float(),
        ),
        Pair(
            "SoftMarginCriterion",
            nn.SoftMarginCriterion(),
            t.SoftMarginLoss(),
            vectors,
            (vectors > 0).float() * 2 - 1,
        ),
    ]


class PoolAndBack(torch.nn.Module):
    """A max pooling and its reverse."""

    def __init__(self, dims: int) -> None:
        super().__init__()
        self.pool = getattr(torch.nn, f"MaxPool{dims}d")(2, return_indices=True)
        self.back = getattr(torch.nn, f"MaxUnpool{dims}d")(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.back(*self.pool(x))


def unpooling(dims: int) -> tuple[Any, torch.nn.Module]:
    pool = nn.SpatialMaxPooling(2, 2) if dims == 2 else nn.VolumetricMaxPooling(2, 2, 2)
    back = nn.SpatialMaxUnpooling(pool) if dims == 2 else nn.VolumetricMaxUnpooling(pool)
    return nn.Sequential().add(pool).add(back), PoolAndBack(dims)


def steps(pair: Pair) -> dict[str, Callable[[], object]]:
    """A forward and backward of either contender."""
    if pair.target is not None:
        return {"compat": ours_of_loss(pair), "torch": theirs_of_loss(pair)}
    gradOutput = torch.randn_like(pair.ours.forward(pair.input))

    def ours() -> None:
        pair.ours.forward(pair.input)
        pair.ours.backward(pair.input, gradOutput)

    for _ in range(2):
        ours()
        pair.ours.updateParameters(0)
    inputs = leaves(pair)
    like = pair.theirs(*inputs)
    native_grad = torch.randn_like(like)

    def theirs() -> None:
        for leaf in inputs:
            leaf.grad = None
        pair.theirs(*inputs).backward(native_grad)

    return {"compat": ours, "torch": theirs}


def leaves(pair: Pair) -> list[torch.Tensor]:
    given = pair.native(pair.input)
    tensors = given if isinstance(given, (list, tuple)) else [given]
    return [t.clone().requires_grad_(t.is_floating_point()) for t in tensors]


def ours_of_loss(pair: Pair) -> Callable[[], object]:
    def ours() -> None:
        pair.ours.forward(pair.input, pair.target)
        pair.ours.backward(pair.input, pair.target)

    return ours


def theirs_of_loss(pair: Pair) -> Callable[[], object]:
    inputs, target = leaves(pair), pair.native_target(pair.target)

    def theirs() -> None:
        for leaf in inputs:
            leaf.grad = None
        loss = pair.theirs(*inputs, target)
        # Torch7's forward returns a number, as a training loop wants to log it.
        loss.item()
        loss.backward()

    return theirs


def timed(step: Callable[[], object]) -> Callable[[], float]:
    """The step as often as takes about two milliseconds."""
    once = min(seconds(step, clock=time.process_time) for _ in range(5))
    times = max(1, round(2e-3 / max(once, 1e-6)))

    def repeat() -> None:
        for _ in range(times):
            step()

    return lambda: seconds(repeat, clock=time.process_time) / times


BATCHES = (None, 1, 10, 64)


def resized(pairs: list[Pair]) -> Iterator[Pair]:
    """Each for a single sample and for batches, where it has one tensor, with the batch first."""
    for pair in pairs:
        target = pair.target
        batched = isinstance(pair.input, torch.Tensor) and pair.input.dim() > 1
        if target is not None and not (isinstance(target, torch.Tensor) and target.dim()):
            batched = False
        if not batched:
            continue
        for batch in BATCHES:
            cut = sized(pair.input, batch)
            resized = replace(pair, name=f"{pair.name}, {batch or 'single'}", input=cut)
            if target is not None:
                resized.target = sized(target, batch)
            try:
                ours = steps(resized)
                ours["compat"](), ours["torch"]()
                alike = target is not None or gives_as_much(resized)
            except (RuntimeError, ValueError, TypeError, IndexError):
                continue  # one of the two takes no single sample
            if alike:
                yield resized


def gives_as_much(pair: Pair) -> bool:
    """Whether both outputs are of one size: PyTorch may take a single sample for a batch."""
    return bool(pair.ours.output.numel() == pair.theirs(*leaves(pair)).numel())


def sized(tensor: torch.Tensor, batch: int | None) -> torch.Tensor:
    """The first sample, or a batch of the samples over and over."""
    if batch is None:
        return tensor[0].clone()
    times = -(-batch // tensor.size(0))
    return tensor.repeat(times, *[1] * (tensor.dim() - 1))[:batch].clone()


def shaped() -> list[Pair]:
    """The layers with parameters of three programs, in the sizes that these have by default."""
    torch.manual_seed(0)
    t = torch.nn
    made = []
    # fb.resnet.torch: ResNet-18 and 50 (ImageNet) and 20 (CIFAR): planes, size, kernel, stride.
    for i, o, size, k, stride in [
        (3, 64, 224, 7, 2),
        (64, 64, 56, 1, 1),
        (64, 64, 56, 3, 1),
        (64, 256, 56, 1, 1),
        (256, 128, 56, 1, 1),
        (128, 128, 28, 3, 1),
        (128, 256, 28, 3, 2),
        (256, 512, 28, 1, 2),
        (256, 256, 14, 3, 1),
        (1024, 2048, 14, 1, 2),
        (512, 512, 7, 3, 1),
        (512, 2048, 7, 1, 1),
        (3, 16, 32, 3, 1),
        (16, 16, 32, 3, 1),
        (16, 32, 32, 3, 2),
        (64, 64, 8, 3, 1),
    ]:
        pad = k // 2
        made.append(
            Pair(
                f"resnet convolution {i}-{o} {k}x{k}/{stride} of {size}",
                nn.SpatialConvolution(i, o, k, k, stride, stride, pad, pad).noBias(),
                t.Conv2d(i, o, k, stride, pad, bias=False),
                randn(2, i, size, size),
            )
        )
    for planes, size in [(64, 112), (256, 56), (512, 28), (2048, 7), (16, 32), (64, 8)]:
        made.append(
            Pair(
                f"resnet normalisation {planes} of {size}",
                nn.SpatialBatchNormalization(planes),
                t.BatchNorm2d(planes),
                randn(2, planes, size, size),
            )
        )
    linears = {
        "resnet": [(512, 1000), (2048, 1000), (64, 10)],
        "char-rnn": [(65, 512), (128, 512), (128, 65), (65, 2048), (512, 2048), (512, 65)],
        "torch-rnn": [(128, 65), (512, 65)],
    }
    for program, sizes in linears.items():
        for i, o in sizes:
            made.append(
                Pair(f"{program} Linear {i}-{o}", nn.Linear(i, o), t.Linear(i, o), randn(64, i))
            )
    words = torch.randint(1, 66, (64, 50))
    made.append(
        Pair(
            "torch-rnn LookupTable 65-64",
            nn.LookupTable(65, 64),
            t.Embedding(65, 64),
            words,
            native=lambda indices: indices - 1,
        )
    )
    for i, o in [(64, 128), (128, 128), (64, 512), (512, 512)]:
        made.append(
            Pair(
                f"torch-rnn LSTM {i}-{o}",
                torch_rnn.LSTM(i, o),
                FirstOf(t.LSTM(i, o, batch_first=True)),
                randn(64, 50, i),
            )
        )
    return made


class FirstOf(torch.nn.Module):
    """What a module returns first."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.module(x)[0]


def call_cost(budget: float) -> float:
    """The seconds that forward and backward of a module take longer than PyTorch's, whatever it
    computes.
    """
    identity = Pair("Identity", nn.Identity(), torch.nn.Identity(), randn(1))
    times = alternate({n: timed(s) for n, s in steps(identity).items()}, budget)
    return statistics.median(times["compat"]) - statistics.median(times["torch"])


def main() -> None:
    parser = argparse.ArgumentParser(description="Layers and criterions against torch.nn's.")
    parser.add_argument("--batches", action="store_true", help="every class for four batches")
    parser.add_argument("--shapes", action="store_true", help="the layers of known programs")
    parser.add_argument("--budget", type=float, default=0.6, help="seconds for each row")
    parser.add_argument("names", nargs="*", help="parts of names; all by default")
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed()
    candidates = shaped() if options.shapes else pairs()
    wanted = [
        pair
        for pair in candidates
        if not options.names or any(name.lower() in pair.name.lower() for name in options.names)
    ]
    cost = call_cost(options.budget)
    results = []
    for pair in resized(wanted) if options.batches or options.shapes else wanted:
        contenders = {name: timed(step) for name, step in steps(pair).items()}
        times = alternate(contenders, budget=options.budget, rounds=60)
        median, _, _ = ratio(times, "compat", "torch")
        ours, theirs = (statistics.median(times[name]) for name in ("compat", "torch"))
        slow = median > 1.1 and ours - theirs > 1.5 * cost
        note = NOTES.get(pair.name.partition(",")[0], "") if median > 1.05 else ""
        line = row(pair.name, times, "compat", "torch")
        results.append((median, f"{line}{' *' if slow else ''}  {note}".rstrip(), slow))
        print(line, file=sys.stderr)  # a run that is ended has told so much
    print(f"a call costs {1e6 * cost:.1f} us more than PyTorch's")
    print(header("forward and backward", "compat", "torch"))
    for _, line, _ in sorted(results):
        print(line)
    ratios = [median for median, *_ in results]
    if ratios:
        print(
            f"{len(ratios)} rows, median {statistics.median(ratios):.2f}, "
            f"largest {max(ratios):.2f}, {sum(slow for *_, slow in results)} with a star"
        )


if __name__ == "__main__":
    main()
