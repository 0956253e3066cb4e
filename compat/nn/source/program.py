"""The program of a net: bodies of statements, each a class of the source or a part of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch


class Value(NamedTuple):
    """The result of a statement or an input: a tensor, or a number that is a tensor's size.

    ``kind`` is the type of the state of a recurrent module, which may be None before it begins.
    """

    number: int
    kind: str = ""


class Hole(NamedTuple):
    """A constant that differs between the uses of a block: the block's argument of this number."""

    number: int


@dataclass(eq=False)
class Layer:
    """A module of a class of ``torch.nn``, and the arguments that make one like it."""

    module: torch.nn.Module
    name: str
    arguments: dict[str, Any]
    defaults: dict[str, Any]
    # The name that the net gives it: an annotation of a graph's node.
    called: str = ""
    # A function of torch that its maker's result goes through.
    around: str = ""
    # Whether its class is no one of torch's, and stands in the source.
    own: bool = False


@dataclass(eq=False)
class Weight:
    """A parameter or buffer that functions take directly."""

    tensor: torch.Tensor
    name: str
    trained: bool
    shape: tuple[Any, ...]


@dataclass(eq=False)
class Instance:
    """A use of a block, with the layers and weights that replace the block's own."""

    block: Block
    members: list[Layer | Weight]
    constants: list[Any]


Member = Layer | Weight | Instance


@dataclass
class Statement:
    """A call of a layer or a function. ``results`` is a value, or a tuple if the call returns one.

    ``function`` is the name of a torch function, for instance ``torch.Tensor.view``.
    """

    layer: Member | None
    function: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    results: Any
    # Whether it changes the tensor that it gets.
    pinned: bool = False


# Statements that say how others follow each other, which stand between those of a pair.
FOR, END_FOR = "for", "end for"  # (steps, states) -> (entries, states); (outputs, states) -> both
IF, ELSE, END_IF = "if", "else", "end if"  # (state); (values); (values) -> values
CONTROL = {FOR, END_FOR, IF, ELSE, END_IF}
# A tuple of values, and the values in one; the states of a net, and those of its parts.
PACK, UNPACK, STATES = "pack", "unpack", "states"


class Scope(NamedTuple):
    """A range of statements that was one module of the net, with the name of its class.

    ``keeps``: whether the module has a state and therefore becomes a class, even if used once.
    """

    first: int
    last: int
    name: str
    keeps: bool = False


@dataclass
class Body:
    """Statements with their inputs and their result."""

    inputs: list[Value]
    statements: list[Statement]
    result: Any
    scopes: list[Scope] = field(default_factory=list)


def balanced(statements: list[Statement]) -> bool:
    """Return whether each begin of a loop or branch has its end within the statements."""
    depth = 0
    for statement in statements:
        depth += statement.function in (FOR, IF)
        if not depth and statement.function in CONTROL:
            return False
        depth -= statement.function in (END_FOR, END_IF)
    return depth == 0


@dataclass(eq=False)
class Block:
    """A body that replaces several equal parts; ``parameters`` are those of its class.

    ``like``: the block whose function also makes this one, with another number of equal layers at
    place ``repeated``. The last parameter is that number.
    """

    name: str
    body: Body
    members: list[Layer | Weight]
    parameters: list[str]
    keeps: bool = False  # whether it has a state
    repeated: int | None = None
    like: Block | None = None


def leaves(tree: Any) -> Iterator[Any]:
    """Yield the leaves of nested tuples, lists, dicts and slices."""
    if type(tree) in (tuple, list):
        for part in tree:
            yield from leaves(part)
    elif isinstance(tree, dict):
        yield from leaves(list(tree.values()))
    elif isinstance(tree, slice):
        yield from leaves([tree.start, tree.stop, tree.step])
    else:
        yield tree


def mapped(change: Callable[[Any], Any], tree: Any) -> Any:
    """Return the same nesting with ``change`` applied to each leaf."""
    if type(tree) in (tuple, list):
        return type(tree)(mapped(change, part) for part in tree)
    if isinstance(tree, dict):
        return {key: mapped(change, part) for key, part in tree.items()}
    if isinstance(tree, slice):
        return slice(*mapped(change, (tree.start, tree.stop, tree.step)))
    return change(tree)


def values(tree: Any) -> list[Value]:
    """Return the values in nested structures, in their order."""
    return [leaf for leaf in leaves(tree) if isinstance(leaf, Value)]


def reads(statement: Statement) -> list[Value]:
    """Return the values that a statement takes."""
    return values([statement.arguments, statement.keywords])


def members_of(statement: Statement) -> list[Member]:
    """Return the layer that a statement calls and the weights that it takes."""
    own: list[Member] = [] if statement.layer is None else [statement.layer]
    given = leaves([statement.arguments, statement.keywords])
    return own + [leaf for leaf in given if isinstance(leaf, Weight)]


def flat(members: Iterable[Member]) -> list[Layer | Weight]:
    """Return members with each instance replaced by its own members."""
    found: list[Layer | Weight] = []
    for member in members:
        found += member.members if isinstance(member, Instance) else [member]
    return found


def uses(body: Body) -> dict[Value, int]:
    """Count how often each value of a body is read."""
    counts: dict[Value, int] = {}
    for statement in body.statements:
        for value in reads(statement):
            counts[value] = counts.get(value, 0) + 1
    for value in values(body.result):
        counts[value] = counts.get(value, 0) + 1
    return counts


def without_unused(body: Body) -> Body:
    """Return the body without the statements whose results are not read."""
    needed = set(values(body.result))
    kept = []
    for index in reversed(range(len(body.statements))):
        statement = body.statements[index]
        if statement.pinned or needed.intersection(values(statement.results)):
            kept.append(index)
            needed.update(reads(statement))
    kept.reverse()
    places = [sum(index < bound for index in kept) for bound in range(len(body.statements) + 1)]
    scopes = [s._replace(first=places[s.first], last=places[s.last]) for s in body.scopes]
    return Body(body.inputs, [body.statements[i] for i in kept], body.result, scopes)
