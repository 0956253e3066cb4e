"""Local variables that are assigned anew in the block that declares them: ``x = torch.cat(x)``."""

from __future__ import annotations

from compat.port.know.scopes import Scopes, Variable
from compat.port.read import syntax as s


def renew(block: s.Block) -> None:
    """Write such assignments as ``local x = …``, which is another variable. A constant that nobody
    reads before is gone.

    No function may have seen the variable before, no label may lead back, and what counts on
    (``x = x + 1``) is no other variable.
    """
    Scopes(block, {})
    bodies = {n.body: n for n in s.walk(block) if isinstance(n, s.Function)}
    for inner in [n for n in s.walk(block) if isinstance(n, s.Block)]:
        declared: dict[Variable, s.Node] = {}
        if inner in bodies:
            declared |= {p.variable: p for p in bodies[inner].parameters}
        for number, node in enumerate(inner.statements):
            if isinstance(node, s.Label) and node is not inner.statements[-1]:
                break
            if isinstance(node, s.Assign) and _renews(node, declared):
                names = [name for name in node.targets if isinstance(name, s.Name)]
                for name in names:
                    _forget(declared[name.variable], name, node)
                node = inner.statements[number] = s.Local(
                    names, node.values, line=node.line, start=node.start, end=node.end,
                    before=node.before, after=node.after,
                )  # fmt: skip
            if isinstance(node, s.Local):
                declared |= {name.variable: node for name in node.names}
        _drop_empty(inner)


def _renews(node: s.Assign, declared: dict[Variable, s.Node]) -> bool:
    variables = {name.variable for name in node.targets if isinstance(name, s.Name)}
    return (
        len(variables) == len(node.targets)
        and variables <= declared.keys()
        and not any(_counts_on(value, variables) for value in node.values)
        and not any(
            scope is not v.scope and name.start < node.end
            for v in variables
            for name, scope in (*v.reads, *v.writes)
        )
    )


def _counts_on(value: s.Node, variables: set[Variable]) -> bool:
    """Return whether a value is one of variables with something added, or nil, which frees it."""
    if s.is_nil(value):
        return True
    while isinstance(value, s.Binary):
        value = value.left
    return isinstance(value, s.Name) and value.variable in variables


def _forget(before: s.Node, name: s.Name, node: s.Assign) -> None:
    """Take a name away from where it was declared before, if nobody has used it since."""
    uses = (*name.variable.reads, *name.variable.writes)
    if not isinstance(before, s.Local) or any(
        before.end <= use.start < node.end and use not in node.targets for use, _ in uses
    ):
        return
    number = next(i for i, other in enumerate(before.names) if other.variable is name.variable)
    if not before.values:
        del before.names[number]
    elif len(before.values) == len(before.names) and isinstance(before.values[number], s.Constant):
        del before.names[number], before.values[number]


def _drop_empty(block: s.Block) -> None:
    """Take away declarations of no names; their comments stay."""
    for node in block.statements[:]:
        if isinstance(node, s.Local) and not node.names:
            node.before += [node.after] if node.after else []
            s.drop(node, block)
