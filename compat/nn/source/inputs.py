"""An input that a net takes: found by what its layers need and by trying, or given as text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.computed import Computed
from compat.nn.source.needs import ANY, BATCH, Need, Sizes, Table, Unknown, need_of
from compat.tensor_tables import map_tensors, tensors
from compat.torch_internals import fake_tensors

# Sizes of images that nets were made for, in the order in which they are tried.
_USUAL = (28, 32, 48, 64, 96, 112, 128, 160, 192, 224, 227, 231, 256, 299, 320, 384, 448, 512)
_FRAMES = (16, 32, 50, 64, 100, 128, 200, 256, 300, 512, 1000, 1014)
_VOLUME = (16, 28, 32, 64, 112)
_TRIES = 64  # of sizes for entries of tables of which nothing is known


@dataclass
class Example:
    """An input for a net, and how it was found: text such as ``2x3x224x224``."""

    value: Any
    text: str


def parsed(text: str, dtype: torch.dtype) -> Example:
    """The input that ``1x3x224x224,long:1x10`` describes: a table where there are commas.

    Indices are 1.
    """
    parts = []
    for part in text.split(","):
        match = re.fullmatch(r"(?:(long|float|double|half):)?(\d+(?:x\d+)*)", part.strip())
        if match is None:
            raise ValueError(
                f"input is {text!r}; sizes like 1x3x224x224, for indices long:1x10, and commas "
                "between those of several are accepted"
            )
        sizes = [int(number) for number in match[2].split("x")]
        kind = match[1]
        if kind == "long":
            parts.append(torch.ones(sizes, dtype=torch.int64))
        else:
            own = {"float": torch.float32, "double": torch.float64, "half": torch.float16}
            parts.append(_random(sizes, own.get(kind or "", dtype)))
    return Example(parts if len(parts) > 1 else parts[0], text)


def found(net: nn.Module, batch: int = 2) -> Example:
    """An input that a net takes.

    Args:
        net: what ``to_torch`` returns.
        batch: how many samples.

    Raises ValueError where none is found.
    """
    need = need_of(net)
    dtype = dtype_of(net)
    second: Example | None = None
    for sizes in _candidates(net, need) if need is not None else ():
        value = _made(need, iter(sizes), batch, dtype)
        count = _samples(net, value)
        if count == batch or (count and len(sizes) > 1):
            return Example(value, described(value))
        if count and second is None:  # a View may have made several samples of one
            second = Example(value, described(value))
    if second is not None:
        return second
    raise ValueError(
        "which input the net takes cannot be found out; give its sizes, for instance "
        "--input 1x3x224x224, with commas between those of several and long: before those of "
        "indices"
    )


def dtype_of(net: nn.Module) -> torch.dtype:
    """The type of a net's numbers."""
    own = itertools.chain(net.parameters(), net.buffers())
    return next((t.dtype for t in own if t.is_floating_point()), torch.get_default_dtype())


def described(value: Any) -> str:
    """An input as ``--input`` takes it."""
    if isinstance(value, Tensor):
        kind = "" if value.is_floating_point() else "long:"
        return kind + "x".join(map(str, value.shape))
    return ",".join(described(part) for part in value)


def _open(need: Need) -> list[tuple[int, ...] | None]:
    """The sizes that each part leaves open: how many, or None for a part of which all is."""
    if isinstance(need, Table):
        return [part for place in sorted(need.entries) for part in _open(need.entries[place])]
    if isinstance(need, Sizes):
        return [tuple(i for i, size in enumerate(need.sizes) if size is ANY)]
    return [None]


def _candidates(net: nn.Module, need: Need) -> Iterator[list[Any]]:
    """What may fill what is open: for each part a tuple of sizes."""
    parts = _open(need)
    images = max((len(part) for part in parts if part), default=0)
    features: Any = _features(net) if None in parts else [()]
    usual: Any = {0: (1,), 1: _FRAMES, 2: _USUAL, 3: _VOLUME}[images]
    if images == 2:
        usual = itertools.chain(usual, range(1, 257))
    tried = 0
    for size in usual:
        for feature in features:
            yield [feature if part is None else (size,) * len(part) for part in parts]
            tried += None in parts
            if tried > _TRIES * len(_USUAL):
                return


def _features(net: nn.Module) -> Sequence[tuple[int, ...]]:
    """Numbers of features that occur in a net, the most frequent first."""
    counts: dict[int, int] = {}
    for module in net.modules():
        if isinstance(module, nn.Linear):
            for size in (module.in_features, module.out_features):
                counts[size] = counts.get(size, 0) + 1
        if isinstance(module, (nn.Conv2d, nn.Embedding)):
            size = module.in_channels if isinstance(module, nn.Conv2d) else module.embedding_dim
            counts[size] = counts.get(size, 0) + 1
    return [(size,) for size in sorted(counts, key=lambda size: -counts[size])][:_TRIES]


def _made(need: Need, sizes: Iterator[Any], batch: int, dtype: torch.dtype) -> Any:
    """An input of these sizes."""
    if isinstance(need, Table):
        last = max(need.entries)
        return [
            _made(need.entries.get(place, Unknown()), sizes, batch, dtype)
            if place in need.entries
            else torch.zeros(batch, 1, dtype=dtype)
            for place in range(last + 1)
        ]
    chosen = list(next(sizes))
    if isinstance(need, Unknown) or need is None:
        return _random([batch, *chosen], dtype)
    shape = [
        chosen.pop(0) if size is ANY else batch if size == BATCH else size for size in need.sizes
    ]
    if need.highest is not None:
        generator = torch.Generator().manual_seed(1)
        return torch.randint(need.lowest, need.highest + 1, shape, generator=generator)
    return _random(shape, dtype)


def _random(shape: Any, dtype: torch.dtype) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)


def _samples(net: nn.Module, value: Any) -> int:
    """How many samples a net gives for an input, 0 if it takes no such."""
    try:
        first = next(iter(tensors(tried(net, value))))
        return int(first.size(0)) if first.dim() else 1
    except Exception:
        return 0


def tried(net: nn.Module, value: Any) -> Any:
    """What a net gives for an input in evaluation: only sizes, where it need not be computed."""
    training = net.training
    net.eval()
    try:
        with torch.no_grad():
            if any(isinstance(module, Computed) for module in net.modules()):
                return net(value)  # such a layer may look at elements
            with fake_tensors() as faked:
                return net(map_tensors(faked, value))
    finally:
        net.train(training)
