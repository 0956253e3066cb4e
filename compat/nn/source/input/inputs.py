"""Finds an input that a net takes, from its layers and by trying, or parses one from text."""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.source.input import sizes
from compat.nn.source.input.needs import ANY, BATCH, STEPS, Need, Sizes, Table, need_of
from compat.nn.source.input.trial import Trial, looks_at_elements

_INPUT = re.compile(r"(?:(long|float|double|half):)?([1-9]\d*(?:x[1-9]\d*)*)")
_GIVE = (
    "give its sizes, for instance --input 1x3x224x224, with commas between those of several and "
    "long: before those of indices"
)
_TRIES = 64  # of sizes for entries of tables of which nothing is known


@dataclass
class Example:
    """An input for a net.

    Attributes:
        value: the input.
        text: the sizes, such as ``2x3x224x224``.
        batched: whether the input is a batch of samples.
        output: the net's output for the input, if that was asked for.
    """

    value: Any
    text: str
    batched: bool = True
    output: Any = None


def parsed(text: str, dtype: torch.dtype) -> Example:
    """Parse the input that a text such as ``1x3x224x224,long:1x10`` describes.

    Commas separate the entries of a table. Indices are 1.
    """
    parts = []
    for part in text.split(","):
        match = _INPUT.fullmatch(part.strip())
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


def found(
    net: nn.Module,
    batch: int = 2,
    forward: Callable[[Any], Any] | None = None,
    seconds: float = math.inf,
) -> Example:
    """Find an input that a net takes.

    Args:
        net: the result of ``to_torch``.
        batch: the number of samples. A net that takes no batches gets one sample.
        forward: returns the output of the original net, and raises ValueError for an input that
            the net does not take.
        seconds: the longest time that the search may take.

    Raises ValueError where no input is found.
    """
    need = need_of(net)
    end = time.monotonic() + seconds

    def tried(value: Any, batch: int | None = None, large: bool = False) -> Trial:
        if time.monotonic() > end:
            raise ValueError(f"no input that the net takes was found in {seconds:g} s; {_GIVE}")
        return Trial(net, value, batch, large)

    second: Example | None = None
    refused: Example | None = None
    for wanted, samples in ((need, batch), (_one_step(need), batch), (need, None)):
        if wanted is None:
            continue
        for parts, value in _candidates(net, wanted, samples, tried):
            count = tried(value).samples
            if not count:
                continue
            example = Example(value, described(value), samples is not None)
            try:
                example.output = forward(value) if forward else None
            except ValueError:
                refused = refused or example  # the net tells what it lacks
                continue
            if count == samples or samples is None or parts > 1:
                return example
            second = second or example  # a View may have made several samples of one
        if second is not None:
            return second
    if refused is not None:
        return refused
    raise ValueError(f"which input the net takes cannot be found out; {_GIVE}")


def dtype_of(net: nn.Module) -> torch.dtype:
    """Return the dtype of a net's floating-point numbers."""
    own = itertools.chain(net.parameters(), net.buffers())
    return next((t.dtype for t in own if t.is_floating_point()), torch.get_default_dtype())


def described(value: Any) -> str:
    """Return the text of an input in the form that ``--input`` takes."""
    if isinstance(value, Tensor):
        kind = "" if value.is_floating_point() else "long:"
        return kind + "x".join(map(str, value.shape))
    return ",".join(described(part) for part in value)


def _open(need: Need) -> list[tuple[int, ...] | None]:
    """Return for each part its open dimensions; None where nothing of the part is known."""
    if isinstance(need, Table):
        return [part for place in sorted(need.entries) for part in _open(need.entries[place])]
    if isinstance(need, Sizes):
        return [tuple(i for i, size in enumerate(need.sizes) if size is ANY)]
    return [None]


def _one_step(need: Need | None) -> Need | None:
    """Return a table need whose indices are one per sample, as in a recurrent step with states."""
    if not isinstance(need, Table):
        return None
    entries = {
        place: replace(part, sizes=(BATCH,))
        if isinstance(part, Sizes) and part.sizes == (BATCH, STEPS) and part.highest is not None
        else part
        for place, part in need.entries.items()
    }
    return Table(entries) if entries != need.entries else None


def _candidates(
    net: nn.Module, need: Need, batch: int | None, tried: Callable[..., Trial]
) -> Iterator[tuple[int, Any]]:
    """Yield inputs to try, each with its number of parts."""
    parts, dtype = _open(need), dtype_of(net)
    dims = max((len(part) for part in parts if part), default=0)
    unknown = None in parts
    features: Any = _features(net) if unknown else [()]

    def value(chosen: tuple[int, ...], feature: tuple[int, ...] = ()) -> Any:
        filled = (feature if part is None else chosen[: len(part)] for part in parts)
        return _made(need, filled, batch, dtype)

    usual = itertools.chain(
        [(1,) * dims] if getattr(need, "single", False) else [], sizes.usual(dims)
    )
    pairs = itertools.product(usual, features)
    for chosen, feature in itertools.islice(pairs, _TRIES * 18 if unknown else None):
        yield len(parts), value(chosen, feature)
    if not unknown and not looks_at_elements(net):
        for chosen in sizes.fitting(dims, lambda size: tried(value(size), batch, True).compared):
            yield len(parts), value(chosen)


def _features(net: nn.Module) -> Sequence[tuple[int, ...]]:
    """Return the numbers of features that occur in a net, the most frequent first."""
    counts: dict[int, int] = {}
    for module in net.modules():
        if isinstance(module, nn.Linear):
            for size in (module.in_features, module.out_features):
                counts[size] = counts.get(size, 0) + 1
        if isinstance(module, (nn.Conv2d, nn.Embedding)):
            size = module.in_channels if isinstance(module, nn.Conv2d) else module.embedding_dim
            counts[size] = counts.get(size, 0) + 1
    return [(size,) for size in sorted(counts, key=lambda size: -counts[size])][:_TRIES]


def _made(need: Need, sizes: Iterator[Any], batch: int | None, dtype: torch.dtype) -> Any:
    """Make an input of these sizes; ``batch`` None leaves the batch dimension out."""
    if isinstance(need, Table):
        return [
            _made(need.entries[place], sizes, batch, dtype)
            if place in need.entries
            else torch.zeros(batch or 1, 1, dtype=dtype)
            for place in range(max(need.entries) + 1)
        ]
    chosen = iter(next(sizes))
    wanted = need.sizes if isinstance(need, Sizes) else (BATCH, *chosen)
    whole = [batch if size == BATCH else next(chosen) if size is ANY else size for size in wanted]
    shape = [size for size in whole if size is not None]
    if not isinstance(need, Sizes):
        return _random(shape, dtype)
    if need.highest is not None:
        generator = torch.Generator().manual_seed(1)
        return torch.randint(need.lowest, need.highest + 1, shape, generator=generator)
    return _random(shape, dtype)


def _random(shape: Any, dtype: torch.dtype) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
