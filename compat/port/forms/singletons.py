"""Tables that are one object with methods: ``local net = {}``, ``function net:train() … end``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compat.port.forms.getters import takes_numbers
from compat.port.know.files import GETTER
from compat.port.know.form.file_names import places_like
from compat.port.know.form.shapes import defined, functions_in, is_name
from compat.port.know.names import FUNCTIONS
from compat.port.know.scopes import LOADERS, PACKAGES, Scopes
from compat.port.read import syntax as s

# Functions that take tables for what they hold; those of nn and cudnn call methods of them.
_LOOK_INSIDE = (PACKAGES | FUNCTIONS) - {"nn", "cudnn"}


@dataclass(eq=False)
class _Object:
    """A table, what it is called, the statement that makes it, its functions, and the statement
    that gives it a function for other entries: ``setmetatable(x, {__index = function … end})``.
    """

    owner: s.Name | s.Index
    made: s.Local | s.Assign
    block: s.Block
    defines: dict[object, s.Define]
    entries: s.Statement | None = None
    is_given: bool = False  # its file gives it

    @property
    def is_only(self) -> bool:
        """Whether nothing else is put there."""
        return isinstance(self.owner, s.Name) and len(self.owner.variable.writes) == 1

    def is_method(self, name: object) -> bool:
        """Return whether a function of its takes it."""
        return name in self.defines and self.defines[name].is_method

    def is_named_by(self, node: s.Node) -> bool:
        """Return whether an expression may be the object."""
        if isinstance(self.owner, s.Index) or isinstance(node, s.Index):
            keys = [s.constant(n.key) for n in (self.owner, node) if isinstance(n, s.Index)]
            return len(keys) == 2 and keys[0] == keys[1]
        if not isinstance(node, s.Name):
            return False
        own, other = self.owner.variable, node.variable
        return own is other or (own.is_global and other.is_global and own.id == other.id)


class _File:
    """A file: its nodes, and what each is a part of."""

    def __init__(self, block: s.Block, loads: Mapping[str, int]) -> None:
        self.block, self.loads = block, loads
        self.parents = {child: node for node in s.walk(block) for child in node.children()}
        self.last = block.statements[-1] if block.statements else None


def find_singletons(
    blocks: Sequence[s.Block], paths: Sequence[str], loads: Sequence[Mapping[str, int]]
) -> None:
    """Write such tables as the objects of classes, where nobody does anything with them but to use
    entries by their names and to call methods.

    Args:
        blocks: the files.
        paths: where they are.
        loads: what each calls others in ``require`` and ``dofile``, and their numbers.
    """
    for block in blocks:
        Scopes(block, {})
    found = [(number, one) for number, block in enumerate(blocks) for one in _objects(block)]
    files = [_File(*one) for one in zip(blocks, loads, strict=True)] if found else []
    found = [(number, one) for number, one in found if _is_object(one, number, files, paths)]
    given = {number for number, one in found if one.is_given}
    for file in files:
        for _, others in _loaded(file, paths):
            given -= set(others) if not given.issuperset(others) else set()
    for number, one in found:
        if not one.is_given or number in given:
            _rewrite(one, {n.id for n in files[number].parents if isinstance(n, s.Name)})


def _is_object(one: _Object, number: int, files: Sequence[_File], paths: Sequence[str]) -> bool:
    """Return whether all that is done with a table is what is done with objects."""
    own = files[number]
    uses = [(f, n) for f in files for n in f.parents if one.is_named_by(n)]
    uses = [(f, n) for f, n in uses if f is own or _is_public(one.owner)]
    for define in one.defines.values():
        if define.is_method:
            variable = define.function.parameters[0].variable
            uses += [(own, name) for name, _ in variable.reads]
            if len(variable.writes) != 1:
                return False
    given = [f for f, n in uses if f is own and f.parents[n] is own.last]
    one.is_given = bool(given) and isinstance(own.last, s.Return)
    if one.is_given:
        names = [*_names_of_module(number, paths, files)]
        if not all(names):
            return False
        uses += filter(None, names)
    return all(_is_as_object(one, node, file) for file, node in _followed(uses, files))


def _followed(
    uses: Sequence[tuple[_File, s.Node]], files: Sequence[_File]
) -> Iterator[tuple[_File, s.Node]]:
    """Yield uses of a table, and those of the variables and parameters that it is given to."""
    functions: dict[object, list[tuple[_File, s.Function]]] = {}
    for file in files:
        for node in file.parents:
            if isinstance(node, s.Define) and isinstance(node.target, s.Name):
                functions.setdefault(node.target.id, []).append((file, node.function))
        for name, function in functions_in(file.block):
            functions.setdefault(name, []).append((file, function))
    waiting, seen = [*uses], set[s.Node]()
    while waiting:
        file, node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        yield file, node
        parent = file.parents.get(node)
        given: list[tuple[_File, s.Node]] = []
        if isinstance(parent, (s.Local, s.Assign)) and node in parent.values:
            given = [(file, target) for target, value in s.assigned(parent) if value is node]
        elif isinstance(parent, s.Call) and node in parent.arguments:
            called = parent.method or s.describe(parent.function).rpartition(".")[2]
            number = parent.arguments.index(node) + (parent.method is not None)
            taken = functions.get(called, ())
            given = [(f, n) for f, one in taken for n in one.parameters[number:][:1]]
        for other, name in given:
            if isinstance(name, s.Name):
                waiting += [(other, read) for read, _ in name.variable.reads]


def _is_public(owner: s.Name | s.Index) -> bool:
    return isinstance(owner, s.Index) or owner.variable.is_global


def _objects(file: s.Block) -> Iterator[_Object]:
    """Yield tables with names for entries, which get methods in the block where they are made."""
    for block in [n for n in s.walk(file) if isinstance(n, s.Block)]:
        for i, node in enumerate(block.statements):
            owner = s.target(node)
            if not isinstance(node, (s.Local, s.Assign)) or owner is None:
                continue
            fields = _fields(owner, node.values[0])
            if fields is None:
                continue
            one = _Object(owner, node, block, {})
            for later in block.statements[i + 1 :]:
                if one.is_only and _gives_entries(later, one) and later is not file.statements[-1]:
                    one.entries = later
                put = defined(later)
                is_own = put is not None and s.describe(put[1]) == s.describe(owner)
                if put is not None and is_own and one.is_named_by(put[1]):
                    one.defines[put[2]] = put[0]
                elif not one.is_only:  # it may become something else
                    break
            has_methods = one.entries is not None or any(map(one.is_method, one.defines))
            if has_methods and not fields & one.defines.keys():
                yield one


def _fields(owner: s.Name | s.Index, value: s.Node) -> set[object] | None:
    """Return the names of a table's fields; None if it may be no object."""
    if isinstance(owner, s.Index) and not is_name(s.constant(owner.key)):
        return None
    if not isinstance(value, s.Table) or any(isinstance(f.value, s.Function) for f in value.fields):
        return None
    names = {s.constant(field.key) for field in value.fields}
    return names if all(map(_is_field, names)) else None


def _is_field(name: object) -> bool:
    return is_name(name) and not str(name).startswith("__")


def _is_as_object(one: _Object, node: s.Node, file: _File) -> bool:
    """Return whether what is done with the object can be done with one of Python's: its fields and
    methods are used by their names, or it goes somewhere else.
    """
    parent = file.parents.get(node)
    if isinstance(parent, s.Index) and parent.object is node:
        name, above = s.constant(parent.key), file.parents.get(parent)
        if any(parent is define.target for define in one.defines.values()):
            return True
        if not isinstance(name, str):
            is_read = not isinstance(above, s.Assign) or parent not in above.targets
            return one.entries is not None and is_read
        is_set = isinstance(above, s.Define) and above.target is parent
        if isinstance(above, s.Assign) and parent in above.targets:
            is_set = name in one.defines or any(isinstance(v, s.Function) for v in above.values)
        return _is_field(name) and not is_set and not one.is_method(name)
    if isinstance(parent, s.Call) and node in parent.arguments:
        if one.entries is not None and parent is _metatable_call(one.entries):
            return True
        called = s.describe(parent.function).split(".")[0]
        return parent.method is not None or called not in _LOOK_INSIDE
    if isinstance(parent, (s.Assign, s.Local)) and node not in parent.values:
        return parent is one.made or not one.is_only
    if isinstance(parent, (s.Field, s.Assign)):  # __index = object makes it a class
        places = parent.targets if isinstance(parent, s.Assign) else [parent]
        keys = (s.constant(p.key) for p in places if isinstance(p, (s.Index, s.Field)))
        return not any(str(key).startswith("__") for key in keys)
    return not isinstance(parent, (s.Unary, s.ForEach))


def _metatable_call(node: s.Statement) -> s.Call | None:
    """Return the call in ``setmetatable(x, {__index = function … end})``, as a statement or what is
    returned.
    """
    call = node.call if isinstance(node, s.Do) else None
    if isinstance(node, s.Return) and len(node.values) == 1:
        call = node.values[0]
    if not isinstance(call, s.Call) or s.describe(call.function) != "setmetatable":
        return None
    meta = call.arguments[1] if len(call.arguments) == 2 else None
    fields = meta.fields if isinstance(meta, s.Table) else []
    keys = [s.constant(field.key) for field in fields]
    getter = fields[0].value if keys == ["__index"] else None
    return call if isinstance(getter, s.Function) and takes_numbers(getter) else None


def _gives_entries(node: s.Statement, one: _Object) -> bool:
    call = _metatable_call(node)
    return call is not None and one.is_named_by(call.arguments[0])


def _names_of_module(
    number: int, paths: Sequence[str], files: Sequence[_File]
) -> Iterator[tuple[_File, s.Node] | None]:
    """Yield the uses of what a file gives; None for what is not known."""
    for file in files:
        for node, others in _loaded(file, paths):
            if number not in others:
                continue
            target = s.target(file.parents[node])
            if target is None:
                yield from () if isinstance(file.parents[node], s.Do) else [(file, node)]
            elif isinstance(target, s.Index) or len(target.variable.writes) != 1:
                yield None
            elif target.variable.is_global:
                named = ((f, n) for f in files for n in f.parents if isinstance(n, s.Name))
                yield from ((f, n) for f, n in named if n.id == target.id and n is not target)
            else:
                yield from ((file, name) for name, _ in target.variable.reads)


def _loaded(file: _File, paths: Sequence[str]) -> Iterator[tuple[s.Call, Sequence[int]]]:
    """Yield what loads files, and which it may be."""
    for node in file.parents:
        if isinstance(node, s.Call) and s.describe(node.function) in LOADERS and node.arguments:
            name = node.arguments[-1]
            text = s.constant(name)
            is_known = isinstance(text, str)
            yield node, [file.loads.get(text, -1)] if is_known else places_like(name, paths)


def _rewrite(one: _Object, taken: set[str]) -> None:
    """Make ``x = {}`` into ``local _X = {}``, ``_X.__index = _X``, ``x = setmetatable({}, _X)``."""
    last = one.owner.id if isinstance(one.owner, s.Name) else str(s.constant(one.owner.key))
    klass = f"_{last[:1].upper()}{last[1:]}"
    while klass in taken:
        klass += "_"
    made = one.made
    derive = s.Call(s.Name("setmetatable"), [made.values[0], s.Name(klass)])
    begin: list[s.Statement] = [
        s.Local([s.Name(klass)], [s.Table([])], before=made.before),
        s.Assign([s.Index(s.Name(klass), s.Constant("__index"))], [s.Name(klass)]),
    ]
    for node in [derive, *begin]:
        s.put_at(node, made)
    made.before, made.values[0] = [], derive
    for define in one.defines.values():
        assert isinstance(define.target, s.Index)
        define.target.object = s.Name(klass)
        s.put_at(define.target.object, define.target)
    statements = one.block.statements
    if one.entries is not None:
        call = _metatable_call(one.entries)
        assert call is not None and isinstance(call.arguments[1], s.Table)
        function = call.arguments[1].fields[0].value
        assert isinstance(function, s.Function)
        getter = s.Define(s.Index(s.Name(klass), s.Constant(GETTER)), function, True)
        s.put_at(getter, one.entries)
        getter.before, getter.after = one.entries.before, one.entries.after
        number = statements.index(one.entries)
        if isinstance(one.entries, s.Return):
            one.entries.values, one.entries.before = [call.arguments[0]], []
            statements.insert(number, getter)
        else:
            statements[number] = getter
    number = statements.index(made)
    statements[number:number] = begin
