"""What a net has to be given, as far as its layers say: planes, features, numbers of indices."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from torch import fx, nn

from compat.nn.interchange.containers.branches import Parallel, ParallelTable
from compat.nn.interchange.containers.decorators import Bottle
from compat.nn.interchange.containers.map_table import MapTable
from compat.nn.interchange.layers.lookup import LookupTable
from compat.nn.interchange.layers.one_hot import OneHot
from compat.nn.interchange.layers.pointwise import Add, Mul
from compat.nn.interchange.layers.shape import Reshape, View
from compat.nn.interchange.layers.table_layers import NarrowTable, SelectTable
from compat.nn.interchange.layers.window import OverFrames
from compat.nn.interchange.recurrent.language_model import LanguageModel
from compat.nn.interchange.recurrent.masking import LookupTableMaskZero

ANY = None  # a size that is to be found out
BATCH = -1
STEPS = 5  # of a sequence


@dataclass(frozen=True)
class Sizes:
    """A tensor of these sizes; of indices, numbers from 1 to ``highest``."""

    sizes: tuple[int | None, ...]
    highest: int | None = None
    lowest: int = 1


@dataclass(frozen=True)
class Unknown:
    """A tensor of which nothing is known."""


@dataclass
class Table:
    """A table of what is needed at each place, from 0."""

    entries: dict[int, Need]


Need = Sizes | Unknown | Table | None


def need_of(module: Any) -> Need:
    """What a module has to be given; None for what takes anything of any size."""
    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        return Sizes((BATCH, module.in_channels, *[ANY] * len(module.kernel_size)))
    if isinstance(module, (nn.ConvTranspose2d, nn.ConvTranspose3d)):
        return Sizes((BATCH, module.in_channels, *[ANY] * len(module.kernel_size)))
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
    if isinstance(module, LookupTableMaskZero):
        return Sizes((BATCH, STEPS), module.num_embeddings - 1)
    if isinstance(module, LookupTable):
        return Sizes((BATCH, STEPS), module.num_embeddings)
    if isinstance(module, OneHot):
        return Sizes((BATCH,), module.size)
    if isinstance(module, nn.RNNBase):
        sizes = (BATCH, STEPS) if module.batch_first else (STEPS, BATCH)
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
    if isinstance(module, (Add, Mul)) and module.weight.numel() > 1:
        return Sizes((BATCH, module.weight.numel())) if module.weight.dim() == 1 else None
    return _of_container(module)


def _of_container(module: Any) -> Need:
    if isinstance(module, fx.GraphModule):
        return _of_graph(module)
    if isinstance(module, nn.Sequential):
        return _of_run(list(module))
    if isinstance(module, SelectTable):
        return Table({module.index: Unknown()}) if module.index >= 0 else None
    if isinstance(module, NarrowTable):
        return Table({module.start + i: Unknown() for i in range(module.length)})
    if isinstance(module, ParallelTable):
        return Table({i: need_of(child) or Unknown() for i, child in enumerate(module)})
    if isinstance(module, MapTable):
        inner = need_of(module.module)
        return Table({0: inner, 1: inner}) if inner else None
    if isinstance(module, Parallel):
        return None
    if isinstance(module, nn.ModuleList):  # each gets the whole input
        return merged([need_of(child) for child in module])
    if isinstance(module, Bottle):
        return need_of(module.module)
    children = list(module.children())
    return need_of(children[0]) if len(children) == 1 else None


def _of_run(children: list[Any]) -> Need:
    """Of modules one after the other."""
    for place, child in enumerate(children):
        if isinstance(child, (SelectTable, NarrowTable)):
            return _selected(child, _of_run(children[place + 1 :]))
        need = need_of(child)
        if need is not None:
            return need
    return None


def _selected(child: Any, rest: Need) -> Need:
    """Of a choice from a table, where the rest has a need."""
    if isinstance(child, SelectTable):
        return Table({child.index: rest or Unknown()}) if child.index >= 0 else None
    inner = rest.entries if isinstance(rest, Table) else {}
    return Table({child.start + i: inner.get(i, Unknown()) for i in range(child.length)})


def merged(needs: list[Need]) -> Need:
    """What fulfils all of several needs, as far as they are known."""
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
    """Of a graph's input, from what is done with it."""
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
                need = need_of(module)
                if isinstance(given, (list, tuple)):
                    place = list(given).index(node)
                    need = need.entries.get(place) if isinstance(need, Table) else None
                    found.append(need)
                else:
                    found.append(need if need is not None else _through(module, known.get(user)))
        known[node] = merged(found)
    first = next(node for node in graph.graph.nodes if node.op == "placeholder")
    return known[first]


def _through(module: Any, need: Need) -> Need:
    """What a module that takes anything needs for a need of its result."""
    same = (nn.Identity, nn.Dropout, nn.ReLU, nn.Tanh, nn.Sigmoid)
    if isinstance(module, SelectTable):
        return Table({module.index: need or Unknown()})
    if isinstance(module, nn.Sequential) and all(isinstance(m, same) for m in module):
        return need
    return need if isinstance(module, same) else None
