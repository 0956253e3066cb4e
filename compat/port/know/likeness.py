"""Types of variables from their uses: the only thing that has all fields that are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.shapes import is_name
from compat.port.know.types import Kind, Table, Type
from compat.port.library import results
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

# Kinds whose fields are written alike, so that it may be any of them.
_ALIKE = ({Kind.TABLE, Kind.OPTIONS}, {Kind.OBJECT, Kind.CLASS})
_FEWEST = 2  # fields that tell something


def alike(known: Inference) -> dict[Type, Type]:
    """Return variables and fields that nothing is known of, and what has all fields that they
    have.
    """
    used: dict[Type, set[str]] = {}
    for file in known.files:
        known.file = file
        for node in s.walk(file.block):
            owner, name = _use(node)
            own = None if owner is None or known.dotted(owner) else known.stored(owner)
            if own is not None and not own.atoms - {Kind.NIL}:
                used.setdefault(own, set()).add(name)
    holders = _holders(known)
    found = {}
    for own, names in used.items():
        is_little = len(names) < _FEWEST or all(map(results.is_of_module, names))
        like = [] if is_little else [kind for kind, has in holders if names <= has]
        atoms = {atom for kind in like for atom in kind.atoms}
        if any(atoms and atoms <= kinds for kinds in _ALIKE):
            found[own] = Type()
            for kind in like:
                found[own].join(kind)
    return found


def _use(node: s.Node) -> tuple[s.Node | None, str]:
    """Return what a node uses a field or method of, and its name."""
    if isinstance(node, s.Call) and node.method is not None:
        return node.function, node.method
    word = s.constant(node.key) if isinstance(node, s.Index) else None
    return (node.object, str(word)) if isinstance(node, s.Index) and is_name(word) else (None, "")


def _holders(known: Inference) -> list[tuple[Type, set[str]]]:
    """Return the classes, their objects, tables and options of the program, and what they have."""
    found = []
    for klass in known.classes.values():
        names = set(klass.methods)
        parent = known.classes.get(klass.parent or "")
        while parent is not None:
            names |= set(parent.methods) | _filled(parent.instance)
            parent = known.classes.get(parent.parent or "")
        found.append((klass.object, names | _filled(klass.instance)))
        if not klass.is_torch:
            found.append((known.class_type(klass), names | _filled(klass.members)))
    tables = {id(n.shape.root()): n.shape.root() for f in known.files for n in s.walk(f.block)
              if isinstance(n, s.Table) and n.shape is not None}  # fmt: skip
    for table in tables.values():
        if table.klass is None and table.is_dict:
            found.append((Type(Kind.TABLE, table=table), _filled(table)))
    options = known.command_line
    if options is not None:
        found.append((Type(Kind.OPTIONS, table=options), options.root().always | _filled(options)))
    return found


def _filled(table: Table) -> set[str]:
    """Return the names that something is put under."""
    root = table.root()
    return {name for name, kind in root.names.items() if kind.atoms} | root.always
