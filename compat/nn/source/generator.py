"""Writes the source of a net and finds where each tensor of the net is in the source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from compat.nn.source import naming
from compat.nn.source.blocks import Blocks
from compat.nn.source.classes import Writer
from compat.nn.source.parameters import Class, block_parameters
from compat.nn.source.program import (
    Block,
    Body,
    Hole,
    Instance,
    Layer,
    Value,
    Weight,
    flat,
    members_of,
)
from compat.nn.source.standing import with_needed
from compat.nn.source.text import Names, lines


@dataclass
class Source:
    """The source of a net.

    Attributes:
        name: the name of its class.
        classes: the text of the classes, the net's last.
        tensors: the net's parameters and buffers by their names in the source.
        body: what the net computes.
        stateful: whether the source's net takes and returns a state.
    """

    name: str
    classes: list[list[str]]
    tensors: dict[str, Tensor]
    body: Body
    stateful: bool = False


def source_of(name: str, body: Body, indices: set[Value], forward_doc: list[str]) -> Source:
    """Write the classes of a net."""
    blocks = Blocks(body).found
    own = with_needed(_own_classes(body))
    names = Names("load", "WEIGHTS", *own)
    name = names.new(name if name not in own else f"{name}Net")
    classes: dict[int, Class] = {}
    constants = _constants(body)
    for block in _ordered(blocks):
        first = block.like or block
        block.name = first.name if block.like else names.new(naming.of_block(block))
        parameters = block_parameters(block, constants[id(first)], classes)
        writer = Writer(
            *(block.name, block.body, parameters, classes, []),
            naming.of_inputs(block.body, set(), _taken(classes)),
            repeated=block.repeated,
        )
        classes[id(block)] = writer.write()
        if block.like:
            classes[id(block)].text = []
    writer = Writer(
        name, body, [], classes, [], naming.of_inputs(body, indices, _taken(classes)), forward_doc
    )
    whole = writer.write()
    tensors = dict(_tensors(body, whole, {}, classes, ""))
    _freeze(whole, dict(_trained(body, whole, {}, classes, "")))
    _tie(whole, tensors)
    text = [*own.values(), *(cls.text for cls in classes.values() if cls.text)]
    stateful = bool(body.inputs and body.inputs[-1].kind)
    return Source(name, [*text, whole.text], tensors, body, stateful)


def _own_classes(body: Body) -> list[type]:
    """Return the classes of layers that are not classes of torch."""
    members = flat(m for statement in body.statements for m in members_of(statement))
    own = [type(m.module) for m in members if isinstance(m, Layer) and m.own]
    return list(dict.fromkeys(own))


def _taken(classes: dict[int, Class]) -> dict[int, list[str]]:
    return {key: cls.inputs for key, cls in classes.items()}


def _tie(cls: Class, tensors: dict[str, Tensor]) -> None:
    """Write lines that make parameters with shared memory one parameter."""
    first: dict[Any, str] = {}
    tied = []
    for name, tensor in tensors.items():
        key = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        if tensor.numel() and tensor.is_floating_point() and first.setdefault(key, name) != name:
            tied += lines(f"self.{_path(name)} = self.{_path(first[key])}", 8)
    _at_end_of_init(cls, tied)


def _freeze(cls: Class, trained: dict[str, bool]) -> None:
    """Write lines that turn off gradients of the parameters that the net does not train."""
    below: dict[str, list[str]] = {}
    for name in trained:
        below.setdefault(name.partition(".")[0], []).append(name)
    frozen = []
    for attribute, names in below.items():
        own = [name for name in names if not trained[name]]
        for name in [attribute] if len(own) == len(names) else own:
            frozen += lines(f"self.{_path(name)}.requires_grad_(False)", 8)
    _at_end_of_init(cls, frozen)


def _at_end_of_init(cls: Class, text: list[str]) -> None:
    place = next(i for i, line in enumerate(cls.text) if line.startswith("    def forward"))
    cls.text[place - 1 : place - 1] = text


def _path(name: str) -> str:
    """Return the Python expression for a tensor's name in a state dict."""
    return re.sub(r"\.(\d+)", r"[\1]", name)


def _ordered(blocks: list[Block]) -> list[Block]:
    """Return blocks in an order in which each follows the blocks that it uses."""
    ordered: dict[int, Block] = {}

    def visit(block: Block) -> None:
        if id(block) not in ordered:
            if block.like:
                visit(block.like)
            for statement in block.body.statements:
                if isinstance(statement.layer, Instance):
                    visit(statement.layer.block)
            ordered[id(block)] = block

    for block in blocks:
        visit(block)
    return list(ordered.values())


def _constants(body: Body) -> dict[int, list[list[Any]]]:
    """Return the constants of each use of each block, by the ``id`` of blocks."""
    found: dict[int, list[list[Any]]] = {}

    def visit(part: Body, own: list[Any]) -> None:
        for statement in part.statements:
            layer = statement.layer
            if isinstance(layer, Instance):
                known = [own[c.number] if isinstance(c, Hole) else c for c in layer.constants]
                found.setdefault(id(layer.block.like or layer.block), []).append(known)
                visit(layer.block.body, known)

    visit(body, [])
    return found


def _tensors(*given: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield the parameters and buffers of a class's members with their names."""
    for place, member in _members(*given):
        if isinstance(member, Layer):
            for name, tensor in member.module.state_dict().items():
                yield f"{place}.{name}", tensor
        else:
            yield place, member.tensor.detach()


def _trained(*given: Any) -> Iterator[tuple[str, bool]]:
    """Yield the names of layer parameters, and whether each is trained."""
    for place, member in _members(*given):
        if isinstance(member, Layer):
            for name, parameter in member.module.named_parameters():
                yield f"{place}.{name}", parameter.requires_grad


def _members(
    body: Body,
    cls: Class,
    actual: dict[int, Layer | Weight],
    classes: dict[int, Class],
    prefix: str,
) -> Iterator[tuple[str, Layer | Weight]]:
    """Yield a class's layers and weights with their names."""
    members = {id(m): m for statement in body.statements for m in members_of(statement)}
    for key, path in cls.paths.items():
        member, place = members[key], f"{prefix}{path}"
        if isinstance(member, Instance):
            pairs = zip(member.block.members, member.members, strict=True)
            below = {id(own): actual.get(id(other), other) for own, other in pairs}
            inner = classes[id(member.block)]
            yield from _members(member.block.body, inner, below, classes, f"{place}.")
        else:
            yield place, actual.get(id(member), member)
