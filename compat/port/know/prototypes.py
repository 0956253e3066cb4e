"""Tables that look like classes, and can be none of Python's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from compat.port.know.files import File
from compat.port.know.form.shapes import calls, defined, is_maker, is_name, sources
from compat.port.know.scopes import Variable
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


_OWN_ACCESS = {"__index", "__newindex"}


def find_prototypes(known: Inference) -> None:
    """Find the tables of a program that are no classes of Python's.

    Objects of some are given methods: ``B = A:new()``, ``function B:f() … end``; others a function
    makes whenever it is called; others have a metatable that says more than what they derive from,
    are objects of themselves, or make classes.
    """
    look = _Look(known)
    look.tables()
    known.mixins |= {v: look.names(v) for v in look.mixins() if v is not None}


class _Look:
    def __init__(self, known: Inference) -> None:
        self.known = known
        self.same: dict[Variable, Variable] = {}  # what another file calls a table
        self.methods: dict[Variable | None, dict[object, s.Define]] = {}
        self.classes: set[Variable | None] = set()
        self.sources: list[tuple[Variable, s.Node]] = []
        self.calls: list[s.Call] = []
        self.functions: list[s.Function] = []
        self.defines: list[s.Define] = []
        self.copies: list[tuple[s.Name, s.Name]] = []  # tables, and what their entries go into
        self.parts: list[tuple[s.Index, s.Index]] = []  # entries that go into others
        for file in known.files:
            known.file = file
            _split(known, file)
            _derive(known, file)
            self._read(file)

    def _read(self, file: File) -> None:
        for variable, value in sources(file.block):
            given = given_by(self.known.file_of(value))
            if isinstance(given, s.Name) and len(variable.writes) == 1:
                self.same[variable] = given.variable
            self.sources.append((variable, given if isinstance(given, s.Table) else value))
        for node in s.walk(file.block):
            if isinstance(node, s.Call):
                self.calls.append(node)
            elif isinstance(node, s.Function):
                self.functions.append(node)
            elif isinstance(node, s.ForEach):
                copied = copies(self.known, node)
                self.copies += [(a, b) for a, b in copied if isinstance(a, s.Name)]
            elif isinstance(node, s.Assign):  # A.f = B.f
                pairs = zip(node.targets, node.values, strict=False)
                parts = [(t, v) for t, v in pairs if isinstance(t, s.Index)]
                self.parts += [(v, t) for t, v in parts if isinstance(v, s.Index)]
            elif isinstance(node, s.Statement) and (found := defined(node)):
                define, owner, name = found
                self.methods.setdefault(self.variable(owner), {})[name] = define
            self.classes.add(own_index(node))
            self.defines += [node] if isinstance(node, s.Define) else []

    def variable(self, node: s.Node | None) -> Variable | None:
        """Return the variable that a name has where the table is made."""
        variable = node.variable if isinstance(node, s.Name) else None
        return self.same.get(variable, variable) if variable is not None else None

    def tables(self) -> None:
        found = {*self._extended(), *self._made(), *self._objects(), *self._makers()}
        found |= {*self._given()}
        found |= (
            self.classes - self.methods.keys() - {v for v, base, _ in self._metatables() if base}
        )
        found |= {owner for owner, own in self.methods.items() if own.keys() & _OWN_ACCESS}
        found |= {v for v, made in self.sources if v in self.classes and _is_no_class(made)}
        classes = self.classes | self.methods.keys()
        found |= {*self._copied(classes)}
        while (
            others := {
                variable
                for variable, base, is_plain in self._metatables()
                if not is_plain or (base is not None and self.variable(base) not in classes - found)
            }
            - found
        ):
            found |= others
        self.known.prototypes |= {variable for variable in found if variable is not None}

    def mixins(self) -> Iterator[Variable | None]:
        """Yield tables whose entries a loop copies into classes, or a function that they are given
        to.
        """
        made = {v for v, table in self.sources if isinstance(table, s.Table)} - self.classes
        copied = {one.variable for one, target in self.copies if target.variable not in made}
        yield from copied | {self.same.get(v, v) for v in copied}
        for one, target in self.parts:
            ends = [self.variable(one.object), self.variable(target.object)]
            if [end in self.classes for end in ends] == [False, True]:
                yield ends[0]
        spread = {
            v.scope.node
            for v, value in self.sources
            if v in copied and v.scope is not None and isinstance(value, s.Index)
            if any(isinstance(n, s.Vararg) for n in s.walk(value.object))
        }
        for define in self.defines:
            own = [parameter.variable for parameter in define.function.parameters]
            places = {own.index(v) for v in copied.intersection(own)}
            places |= set(range(len(own), 99)) if define.function in spread else set()
            given = [row[i] for row in self._calls_of(define) for i in places if i < len(row)]
            yield from (self.variable(node) for node in given)
            yield from (node.variable for node in given if isinstance(node, s.Name))

    def _calls_of(self, define: s.Define) -> Iterator[list[s.Node]]:
        """Yield the arguments of calls of a function, or of what has its name."""
        name = s.last_name(define.target)
        for call in self.calls:
            if (call.method or s.last_name(call.function)) == name:
                yield [call.function] * bool(call.method) + call.arguments

    def names(self, variable: Variable) -> set[object]:
        """Return the names of a table's functions and of what it is made with."""
        own = self.same.get(variable, variable)
        made = (value for v, value in self.sources if v is own and isinstance(value, s.Table))
        return {*self.methods.get(own, ()), *(s.constant(f.key) for t in made for f in t.fields)}

    def _copied(self, classes: set[Variable | None]) -> Iterator[Variable | None]:
        """Yield tables whose entries a loop copies into one that is no class."""
        for source, target in self.copies:
            own = target.variable
            into: list[s.Node] = [] if own.is_parameter else [target]
            for define in self.defines:
                places = [i for i, p in enumerate(define.function.parameters) if p.variable is own]
                rows = self._calls_of(define) if places else ()
                into += [row[i] for row in rows for i in places if i < len(row)]
            if any(self.variable(node) not in classes - {None} for node in into):
                yield self.variable(source)

    def _extended(self) -> Iterator[Variable | None]:
        """Yield A and B of ``B = A:new()``, ``function B:f() … end``."""
        for variable, value in self.sources:
            if isinstance(value, s.Call) and value.method and variable in self.methods:
                yield from (variable, self.variable(value.function))

    def _made(self) -> Iterator[Variable | None]:
        """Yield tables that a function makes."""
        for function in self.functions:
            inner = list(s.walk(function.body))
            own = {name.variable for n in inner if isinstance(n, s.Local) for name in n.names}
            results = [value for n in inner if isinstance(n, s.Return) for value in n.values]
            results += [a for n in results if isinstance(n, s.Call) for a in n.arguments[:1]]
            yield from {getattr(value, "variable", None) for value in results} & own

    def _objects(self) -> Iterator[Variable | None]:
        """Yield tables of which a method is called, ``C:f()``, that calls other methods of them."""
        for call in self.calls:
            owner, called = self.variable(call.function), [call.method]
            left = dict(self.methods.get(owner, {}))
            while called:
                define = left.pop(called.pop(), None)
                if define is None or not define.is_method:
                    continue
                own = define.function.parameters[0].variable
                called += [c.method for c in calls(define.function.body) if names(c.function, own)]
                if called and not is_maker(define):
                    yield owner

    def _makers(self) -> Iterator[Variable | None]:
        """Yield tables with a method that makes classes."""
        for owner, methods in self.methods.items():
            for define in methods.values():
                body = define.function.body
                own = {p.variable for p in define.function.parameters} | {None}
                made = {v for v in map(own_index, s.walk(body)) if v is not None} - own
                if not all(_has_one_object(variable, body) for variable in made):
                    yield owner

    def _given(self) -> Iterator[Variable | None]:
        """Yield tables that a function takes for metatables: several, or several with one method,
        which also takes the tables that get them.
        """
        bases = {v: self.variable(base) for v, base, _ in self._metatables() if base is not None}
        for define in self.defines:
            own = [parameter.variable for parameter in define.function.parameters]
            for put in calls(define.function.body):
                if self.known.dotted(put.function) != "setmetatable" or len(put.arguments) != 2:
                    continue
                metas = _names_in(put.arguments[1])
                metas += [n for v, made in self.sources if v in _of(metas) for n in _names_in(made)]
                places = [own.index(v) for v in _of(metas) if v in own]
                given = {self.variable(n) for n in metas if places}
                given |= {
                    self.variable(row[i])
                    for row in self._calls_of(define)
                    for i in places
                    if i < len(row)
                }
                given &= self.classes
                owner = self.variable(getattr(define.target, "object", None))
                if owner in given and 0 in places:
                    is_taken = bool(_of(_names_in(put.arguments[0])) & set(own))
                    given = {v for v in given if is_taken and (v is owner or bases.get(v) is owner)}
                if len(given) > 1:
                    yield from given

    def _metatables(self) -> Iterator[tuple[Variable | None, s.Node | None, bool]]:
        """Yield tables that are given a metatable, what they derive from by it, and whether it says
        nothing else but ``__call``.
        """
        made: list[tuple[Variable | None, s.Call]] = []
        made += [(v, call) for v, call in self.sources if isinstance(call, s.Call)]
        made += [(getattr(c.arguments[0], "variable", None), c) for c in self.calls if c.arguments]
        for variable, call in made:
            if self.known.dotted(call.function) != "setmetatable" or len(call.arguments) != 2:
                continue
            table, meta = call.arguments
            has = {"__index": meta}
            if isinstance(meta, s.Table):
                has = {str(s.constant(field.key)): field.value for field in meta.fields}
            is_one = isinstance(table, s.Name) or has.keys() == {"__index"}
            yield variable, has.get("__index"), is_one and has.keys() <= {"__index", "__call"}


def _names_in(node: s.Node) -> list[s.Name]:
    """Return the names in ``x`` and ``x or y``."""
    if isinstance(node, s.Binary):
        return [*_names_in(node.left), *_names_in(node.right)]
    return [node] if isinstance(node, s.Name) else []


def _of(nodes: list[s.Name]) -> set[Variable]:
    return {node.variable for node in nodes}


def _split(known: Inference, file: File) -> None:
    """Make ``local B = setmetatable({}, {__index = A, __call = f})`` two statements, where B is a
    class.
    """
    parts = [
        part
        for n in s.walk(file.block)
        if isinstance(n, s.Statement)
        for part in _one_by_one(n, set())
    ]
    own = set(map(own_index, parts))
    for block in [n for n in s.walk(file.block) if isinstance(n, s.Block)]:
        block.statements = [part for n in block.statements for part in _one_by_one(n, own)]
        for node in block.statements[:]:
            call = node.values[0] if isinstance(node, s.Local) and len(node.values) == 1 else None
            if not isinstance(call, s.Call) or known.dotted(call.function) != "setmetatable":
                continue
            assert isinstance(node, s.Local)
            name, made, meta = node.names[0], call.arguments[0], call.arguments[-1]
            is_more = isinstance(meta, s.Table) and len(meta.fields) > 1
            is_empty = isinstance(made, s.Table) and not made.fields
            if is_more and is_empty and made is not meta and name.variable in own:
                node.values, call.arguments[0] = [made], s.Name(name.id, name.variable)
                after = s.Do(call, line=node.line, start=node.start, end=node.end)
                block.statements.insert(block.statements.index(node) + 1, after)


def _one_by_one(node: s.Statement, classes: set[Variable | None]) -> list[s.Statement]:
    """Return ``local A, B = {}, {}`` and ``A.__index, B.__index = A, B`` as two statements each."""
    made: list[s.Statement] = []
    if isinstance(node, s.Local) and len(node.names) == len(node.values):
        pairs = list(zip(node.names, node.values, strict=True))
        if all(n.variable in classes and isinstance(v, s.Table) for n, v in pairs):
            made += [replace(node, names=[n], values=[v]) for n, v in pairs]
    elif isinstance(node, s.Assign) and len(node.targets) == len(node.values):
        own = [
            replace(node, targets=[node.targets[i]], values=[v]) for i, v in enumerate(node.values)
        ]
        made += own if all(map(own_index, own)) else []
    return made or [node]


def _derive(known: Inference, file: File) -> None:
    """Make objects that are given copies of a table's functions, ``for k, v in pairs(C) do self[k]
    = v end``, objects of a class.
    """
    for block in [n for n in s.walk(file.block) if isinstance(n, s.Block)]:
        for i, node in enumerate(block.statements):
            found = _copied(known, block.statements[i - 1], node) if i else None
            if found is None or not _has_functions_only(file, found[0].variable):
                continue
            table, target = found
            function = Variable("setmetatable", None, python="setmetatable")
            function = file.scopes.globals.setdefault(function.id, function)
            call = s.Call(s.Name(function.id, function), [target, table])
            block.statements[i] = s.Do(call, line=node.line, start=node.start, end=node.end)
            made = next(filter(lambda n: _declares(n, table.variable), file.block.statements))
            index = s.Assign([s.Index(table, s.Constant("__index"))], [table], line=made.line)
            file.block.statements.insert(file.block.statements.index(made) + 1, index)


def _declares(node: s.Statement, variable: Variable) -> bool:
    """Return whether a statement makes a variable an empty table."""
    made = node.values[0] if isinstance(node, s.Local) and len(node.values) == 1 else None
    is_empty = isinstance(made, s.Table) and not made.fields
    return isinstance(node, s.Local) and is_empty and node.names[0].variable is variable


def _copied(
    known: Inference, before: s.Statement, node: s.Statement
) -> tuple[s.Name, s.Name] | None:
    """Return C and self of ``local self = {}`` and ``for k, v in pairs(C) do self[k] = v end``."""
    made = before.values[0] if isinstance(before, s.Local) and before.values else None
    if not isinstance(made, s.Table) or made.fields or not isinstance(node, s.ForEach):
        return None
    assert isinstance(before, s.Local)
    only, target = node.body.statements, before.names[0]
    if len(only) != 1 or not isinstance(only[0], s.Assign):
        return None
    own = ((a, b) for a, b in copies(known, node) if isinstance(a, s.Name))
    return next((pair for pair in own if names(pair[1], target.variable)), None)


def copies(known: Inference, node: s.ForEach) -> Iterator[tuple[s.Node, s.Name]]:
    """Yield C and the tables of a loop ``for k, v in pairs(C) do`` that puts all entries there."""
    call, found = node.values[0], list[s.Node]()
    if isinstance(call, s.Call) and known.dotted(call.function) == "pairs" and call.arguments:
        source = call.arguments[0]
        found += _names_in(source) if isinstance(source, s.Binary) else [source]
    for put in s.walk(node.body) if found and len(node.names) > 1 else ():
        target = put.targets[0] if isinstance(put, s.Assign) else None
        if isinstance(put, s.Assign) and isinstance(target, s.Index):
            is_entry = names(target.key, node.names[0].variable)
            is_entry = is_entry and names(put.values[0], node.names[1].variable)
            if is_entry and isinstance(target.object, s.Name):
                yield from ((source, target.object) for source in found)


def _has_functions_only(file: File, variable: Variable) -> bool:
    """Return whether a table of a file's is made empty, and given functions and nothing else, for
    other files: here nobody makes objects of it, or looks at them as at tables.
    """
    put = (n.targets[0] for n in s.walk(file.block) if isinstance(n, s.Assign))
    is_put = any(isinstance(n, s.Index) and names(n.object, variable) for n in put)
    is_made = any(_declares(node, variable) for node in file.block.statements)
    own = {n for n in file.block.statements if isinstance(n, s.Define) and not n.is_local}
    runs = [n for n in file.block.statements if n not in own and not isinstance(n, s.Return)]
    used = [name for n in runs for name in s.walk(n) if names(name, variable)]
    is_used = len(used) > 1  # where it is made
    return is_made and len(variable.writes) == 1 and not is_put and not is_used


def given_by(file: File | None) -> s.Name | s.Table | None:
    """Return the variable that a file gives who requires it, or the table."""
    last = file.block.statements[-1:] if file is not None else []
    values = last[0].values if last and isinstance(last[0], s.Return) else []
    return values[0] if len(values) == 1 and isinstance(values[0], (s.Name, s.Table)) else None


def names(node: s.Node, variable: Variable | None) -> bool:
    """Return whether an expression is a variable."""
    return isinstance(node, s.Name) and node.variable is variable


def _is_no_class(made: s.Node) -> bool:
    """Return whether a function of the script's gives a table, which others have, too, or it
    is made with entries that no class of Python's has.
    """
    function = made.function if isinstance(made, s.Call) and made.method is None else None
    if isinstance(function, s.Name) and function.variable.writes:
        return True
    fields = made.fields if isinstance(made, s.Table) else []
    return not all(is_name(s.constant(field.key)) for field in fields)


def _has_one_object(variable: Variable, body: s.Block) -> bool:
    """Return whether a class in a function is only given methods, and to one ``setmetatable``."""
    methods = [n.target for n in s.walk(body) if isinstance(n, s.Define)]
    used = {getattr(target, "object", None) for target in methods}
    used |= {
        call.arguments[-1] for call in calls(body) if s.describe(call.function) == "setmetatable"
    }
    index = {n for n in s.walk(body) if own_index(n) is variable}
    used |= {part for node in index for part in s.walk(node)}
    return all(name in used for name, _ in variable.reads)


def own_index(node: s.Node) -> Variable | None:
    """Return the variable X of ``X.__index = X``."""
    if not isinstance(node, s.Assign) or not isinstance(target := node.targets[0], s.Index):
        return None
    variable: Variable | None = getattr(target.object, "variable", None)
    is_own = variable is not None and names(node.values[0], variable)
    return variable if is_own and s.constant(target.key) == "__index" else None
