"""Derives from a net's layers which input they need: planes, features, ranges of indices."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, fx, nn

from compat.nn.interchange.computed import Computed
from compat.nn.interchange.containers.branches import Concat, ConcatTable, Parallel, ParallelTable
from compat.nn.interchange.containers.decorators import Bottle
from compat.nn.interchange.containers.map_table import MapTable
from compat.nn.interchange.layers.lookup import LookupTable
from compat.nn.interchange.layers.one_hot import OneHot
from compat.nn.interchange.layers.shape import Reshape, View
from compat.nn.interchange.layers.table_arithmetic import (
    CAddTable,
    CDivTable,
    CMaxTable,
    CMinTable,
    CMulTable,
    CSubTable,
)
from compat.nn.interchange.layers.table_layers import (
    JoinTable,
    NarrowTable,
    SelectTable,
    SplitTable,
)
from compat.nn.interchange.layers.window import OverFrames
from compat.nn.interchange.recurrent.bisequencers import BiSequencerLM
from compat.nn.interchange.recurrent.cells import Cell
from compat.nn.interchange.recurrent.language_model import LanguageModel
from compat.nn.interchange.recurrent.masking import LookupTableMaskZero
from compat.nn.interchange.recurrent.recurrences import Recurrence, Recurrent
from compat.nn.interchange.recurrent.seq_gru import SeqGRU
from compat.nn.interchange.recurrent.sequencers import Repeater, ReverseTable, Sequencer
from compat.nn.layers.pointwise import Add, CAdd, CMul, Mul
from compat.nn.source.computed import OfCell

ANY = None  # a size that is to be found out
BATCH = -1
STEPS = 5  # of a sequence
# What gives a tensor of the size that it gets.
_OF_EQUAL = (CAddTable, CSubTable, CMulTable, CDivTable, CMaxTable, CMinTable)
_SAME = (nn.Identity, nn.Dropout, nn.ReLU, nn.Tanh, nn.Sigmoid, nn.Threshold, nn.LeakyReLU)


@dataclass(frozen=True)
class Sizes:
    """A tensor of these sizes; for indices, their range.

    ``highest``: the largest index. ``single``: whether open sizes are 1 as a rule.
    """

    sizes: tuple[int | None, ...]
    highest: int | None = None
    lowest: int = 1
    single: bool = False


@dataclass(frozen=True)
class Unknown:
    """A tensor of unknown sizes."""


@dataclass
class Table:
    """A table with a need for each entry, counted from 0."""

    entries: dict[int, Need]


@dataclass
class Several(Table):
    """A table of steps that all need the same."""


Need = Sizes | Unknown | Table | None


def need_of(module: Any, after: Need = None) -> Need:
    """Return the input that a module needs, if the next module needs ``after``.

    None means any input.
    """
    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        return Sizes((BATCH, module.in_channels, *[ANY] * len(module.kernel_size)))
    if isinstance(module, (nn.ConvTranspose2d, nn.ConvTranspose3d)):
        sizes = (BATCH, module.in_channels, *[ANY] * len(module.kernel_size))
        # Without strides it makes an image of a vector, as the generator of a GAN does.
        single = max(module.stride) == 1 and not any(module.padding)
        return Sizes(sizes, single=single)
    if isinstance(module, nn.Linear):
        return Sizes((BATCH, module.in_features))
    if isinstance(module, nn.BatchNorm1d):
        return Sizes((BATCH, module.num_features))
    if isinstance(module, (nn.BatchNorm2d, nn.BatchNorm3d)):
        dims = 2 if isinstance(module, nn.BatchNorm2d) else 3
        return Sizes((BATCH, module.num_features, *[ANY] * dims))
    if isinstance(module, LanguageModel):
        first = need_of(module.net)
        return Sizes((BATCH, STEPS), first.highest) if isinstance(first, Sizes) else first
    if isinstance(module, (LookupTable, LookupTableMaskZero)):
        known = isinstance(after, Sizes) and len(after.sizes) == 3
        sizes = after.sizes[:2] if known else (BATCH, STEPS)  # type: ignore[union-attr]
        return Sizes(sizes, module.num_embeddings - isinstance(module, LookupTableMaskZero))
    if isinstance(module, OneHot):
        return Sizes((BATCH,), module.size)
    if isinstance(module, (nn.RNNBase, SeqGRU)):
        sizes = (BATCH, STEPS) if module.batch_first else (STEPS, BATCH)
        if isinstance(module, SeqGRU):
            return Sizes((*sizes, len(module.weight) - module.hidden_size))
        return Sizes((*sizes, module.input_size))
    if isinstance(module, nn.Bilinear):
        both = (module.in1_features, module.in2_features)
        return Table({i: Sizes((BATCH, size)) for i, size in enumerate(both)})
    if isinstance(module, OverFrames):
        inner = need_of(module.layer)
        planes = inner.sizes[1] if isinstance(inner, Sizes) else ANY
        return Sizes((BATCH, ANY, planes)) if planes else None
    if isinstance(module, (View, Reshape)):
        return None if -1 in module.size else Sizes((BATCH, module.elements))
    if isinstance(module, Computed):
        return _of_computed(module.layer) or _of_matrix(module)
    recurrent = _of_recurrent(module, after)
    return _of_container(module, after) if recurrent is ANY else recurrent


def _of_computed(layer: Any) -> Need:
    if isinstance(layer, (Add, CAdd, Mul, CMul)):
        weight = layer.weight if layer.bias is None else layer.bias
        return Sizes((BATCH, weight.numel())) if weight.dim() == 1 < weight.numel() else None
    planes = getattr(layer, "nInputPlane", None)
    sides = (getattr(layer, name, ANY) for name in ("iH", "iW"))
    return Sizes((BATCH, planes, *sides)) if planes else None


def _of_matrix(module: nn.Module) -> Need:
    """Return the number of features, a size of the layer's matrix says, if it takes them."""
    own = [p for p in module.parameters(recurse=False) if p.dim() == 2]
    for matrix in own:
        for size in reversed(matrix.shape):
            try:
                with torch.no_grad():
                    output = module(matrix.new_zeros(2, size))
            except (RuntimeError, ValueError, IndexError):
                continue
            if isinstance(output, Tensor) and output.dim() and output.size(0) == 2:
                return Sizes((BATCH, size))
    return None


def _of_recurrent(module: Any, after: Need) -> Need:
    if isinstance(module, (Sequencer, BiSequencerLM)):
        inner = module.before if isinstance(module, BiSequencerLM) else module.module
        if isinstance(inner, Sequencer):
            return need_of(inner)
        return steps_of(need_of(inner, after.entries.get(0) if isinstance(after, Table) else None))
    if isinstance(module, ReverseTable):
        return after
    if isinstance(module, SplitTable) and isinstance(after, Several):
        step = after.entries[0]
        if isinstance(step, Sizes):
            return _with(step, module.dim + (module.sample_dims == len(step.sizes)), STEPS)
    if isinstance(module, Repeater):
        return need_of(module.module)
    if isinstance(module, OfCell):
        return Sizes((BATCH, module.cell.input_size))
    if isinstance(module, Cell):
        found = need_of(module.step)
        return found.entries.get(0) if isinstance(found, Table) else None
    if isinstance(module, Recurrence):
        found = need_of(module.module)
        return found.entries.get(0) if isinstance(found, Table) else None
    if isinstance(module, Recurrent):
        return need_of(module.input)
    return None


def steps_of(need: Need) -> Need:
    """Return a sequence of steps that each fulfil ``need``."""
    if isinstance(need, Sizes) and need.highest is not None:
        need = Sizes(need.sizes[:1], need.highest, need.lowest)  # no steps within a step
    return None if need is None else Several(dict.fromkeys(range(STEPS), need))


def _of_container(module: Any, after: Need) -> Need:
    entries = after.entries if isinstance(after, Table) else {}
    if isinstance(module, _SAME):
        return after
    if isinstance(module, fx.GraphModule):
        return _of_graph(module)
    if isinstance(module, nn.Sequential):
        for child in reversed(module):
            need = need_of(child, after)
            # What nothing is known of, as padding and poolings, leaves the number of planes.
            after = after if need is None else need
        return after
    if isinstance(module, SelectTable):
        return Table({module.index: after or Unknown()}) if module.index >= 0 else None
    if isinstance(module, _OF_EQUAL):
        return Table({place: after or Unknown() for place in (0, 1)})
    if isinstance(module, JoinTable):
        return Table({0: Unknown(), 1: Unknown()})
    if isinstance(module, NarrowTable):
        places = range(module.length)
        return Table({module.start + i: entries.get(i, Unknown()) for i in places})
    if isinstance(module, ParallelTable):
        each = enumerate(module)
        return Table({i: need_of(child, entries.get(i)) or Unknown() for i, child in each})
    if isinstance(module, MapTable):
        inner = need_of(module.module, entries.get(0))
        return Table({0: inner, 1: inner}) if inner else None
    if isinstance(module, ConcatTable):
        return merged([need_of(child, entries.get(i)) for i, child in enumerate(module)])
    if isinstance(module, Concat):
        return merged([need_of(child) for child in module])
    if isinstance(module, Parallel):
        inner = merged([need_of(child) for child in module])
        return _with(inner, module.dim, len(module)) if isinstance(inner, Sizes) else None
    children = list(module.children())
    inner = need_of(children[0]) if len(children) == 1 else None
    if isinstance(module, Bottle) and isinstance(inner, Sizes):
        return _with(inner, 1, STEPS) if len(inner.sizes) == module.dims else inner
    return inner if children else _of_matrix(module)


def _with(need: Sizes, dim: int, size: int) -> Sizes:
    """Return a need with one more dimension."""
    dim = dim % (len(need.sizes) + 1)
    return replace(need, sizes=(*need.sizes[:dim], size, *need.sizes[dim:]))


def merged(needs: list[Need]) -> Need:
    """Return one need that fulfils all of several needs, as far as they are known."""
    result: Need = None
    for need in needs:
        if isinstance(need, Table) and isinstance(result, Table):
            for place, entry in need.entries.items():
                result.entries[place] = merged([result.entries.get(place), entry])
        elif result is None or isinstance(result, Unknown):
            result = need if need is not None else result
        elif isinstance(need, Table):
            result = need
        elif isinstance(need, Sizes) and isinstance(result, Sizes):
            # An image that is also taken as a row of numbers is an image.
            result = need if len(need.sizes) > len(result.sizes) else result
    return result


def _of_graph(graph: fx.GraphModule) -> Need:
    """Return the need of a graph's input, from the nodes that read it."""
    known: dict[fx.Node, Need] = {}
    modules = dict(graph.named_modules())
    for node in reversed(graph.graph.nodes):
        found: list[Need] = []
        for user in node.users:
            if user.op == "call_function" and user.target is operator.getitem:
                place: Any = user.args[1]
                found.append(Table({place: known.get(user) or Unknown()}))
            elif user.op == "call_module":
                module = modules[str(user.target)]
                given: Any = user.args[0]
                need = need_of(module, known.get(user))
                if isinstance(given, (list, tuple)):
                    place = list(given).index(node)
                    need = need.entries.get(place) if isinstance(need, Table) else None
                    found.append(need)
                else:
                    found.append(need)
        known[node] = merged(found)
    first = next(node for node in graph.graph.nodes if node.op == "placeholder")
    return known[first]
