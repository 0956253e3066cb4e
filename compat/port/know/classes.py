"""The classes of a program: of ``torch.class``, and tables with ``__index`` and methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat import nn
from compat.port.know.files import Class, File
from compat.port.know.form.shapes import defined, is_self, sources
from compat.port.know.prototypes import given_by, names, own_index
from compat.port.know.scopes import Variable
from compat.port.read import syntax as s
from compat.port.write.python_names import is_metamethod

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

# What Lua calls with two objects of a class.
_OF_TWO = {"__add", "__sub", "__eq", "__lt", "__le"}


def find_classes(known: Inference, file: File) -> None:
    """Find classes and their methods: the first of a name that stands in the class's own block."""
    indexed = set(map(own_index, s.walk(file.block)))
    for block in [n for n in s.walk(file.block) if isinstance(n, s.Block)]:
        block.statements = [
            n
            for made in _missing(known, block)
            for n in _apart(known, made, indexed, block.statements)
        ]
        for statement in block.statements:
            _find_class(known, statement)
        own, asked = set(block.statements), dict[object, int]()
        for i, statement in enumerate(block.statements):
            found = defined(statement)
            if found is None:
                asked |= dict.fromkeys(_asked_names(known, statement), statement.start)
                continue
            define, owner, name = found
            klass = known.class_of(owner)
            if klass is None or klass.node not in own or name == "__index":
                continue
            _give_self(known, name, define, klass)
            asks: list[object] = [v for v, names in known.mixins.items() if name in names]
            asks += [name, *[(name,)] * bool(klass.parent)]
            last = max(asked.get(n, -1) for n in asks if n is not klass.variable)
            if name not in klass.methods and last < klass.node.start:
                block.statements[i] = klass.methods[name] = define
    statements = file.block.statements
    file.block.statements = [n for n in statements if not _asks_for_own(known, file, n)]


def _asked_names(known: Inference, node: s.Node) -> set[object]:
    """Return the names of entries that a statement sets, or asks for: there may be no method yet,
    or another. Of what it calls, ``(name,)``: there is one, that of a class above. A mixin's
    variable stands for all of its names.
    """
    if isinstance(node, s.Function):
        return set()
    if isinstance(node, s.Name):
        return {node.variable} & known.mixins.keys()
    found: set[object] = {s.constant(node.key)} if isinstance(node, s.Index) else set()
    left = [node.function] if isinstance(node, s.Call) and node.method is None else []
    parts = [*(t.object for t in left if isinstance(t, s.Index)), *node.children()]
    if isinstance(node, s.Call):
        names = (s.constant(t.key) for t in left if isinstance(t, s.Index))
        found = {(node.method or next(names, None),)}
    return found.union(*(_asked_names(known, part) for part in parts if part not in left))


def _missing(known: Inference, block: s.Block) -> list[s.Statement]:
    """Return statements, of ``if not nn.C then torch.class('nn.C') end`` what it does: compat has
    no class that only the program makes.
    """
    found: list[s.Statement] = []
    for node in block.statements:
        condition, body = node.clauses[0] if isinstance(node, s.If) else (None, block)
        path = known.dotted(condition.operand) if isinstance(condition, s.Unary) else None
        name = (path or "").removeprefix("nn.")
        parts = s.walk(body) if path else ()
        made = next((n for n in parts if isinstance(n, s.Call)), None)
        is_class = made and known.dotted(made.function) == "torch.class"
        is_own = made and is_class and s.constant(made.arguments[0]) == path
        is_missing = is_own and not hasattr(nn, name)
        found += body.statements if is_missing else [node]
    return found


def _apart(
    known: Inference, node: s.Statement, indexed: set[Variable | None], beside: list[s.Statement]
) -> list[s.Statement]:
    """Return the statement, or of ``local C = {n = 0}``, which makes a class, one for the class and
    those for its fields; also of ``setmetatable({n = 0}, …)``.
    """
    target, table = next(iter(s.assigned(node)), (None, None))
    if isinstance(table, s.Call) and known.dotted(table.function) == "setmetatable":
        table = table.arguments[0]
    if not isinstance(target, s.Name) or not isinstance(table, s.Table):
        return [node]
    if target.variable not in indexed or not _may_be_class(known, target.variable):
        return [node]
    statements, count, own = [node], 0, target.variable
    later = {found[2] for found in map(defined, beside) if found and names(found[1], own)}
    for field in table.fields:
        if s.constant(field.key) in later:
            continue  # the method takes its place
        count += field.key is None
        key = s.Constant(count) if field.key is None else field.key
        name = s.Name(target.id, target.variable, target.is_global)
        comments: list[str | None] = [*field.comments]
        made = s.Assign([s.Index(name, key)], [field.value], before=comments)
        made.line, made.start, made.end = node.line, field.value.start, field.value.end
        statements.append(made)
    table.fields = []
    return statements


def _asks_for_own(known: Inference, file: File, node: s.Node) -> bool:
    """Return whether ``if p.C then return p.C end`` asks for a class of the file itself: whether
    the file was loaded before, which Python does once.
    """
    if not isinstance(node, s.If) or len(node.clauses) > 1:
        return False
    only = node.clauses[0][1].statements
    if len(only) != 1 or not isinstance(only[0], s.Return) or len(only[0].values) != 1:
        return False
    klass = known.classes.get(known.dotted(only[0].values[0]) or "")
    return klass is not None and klass.module == file.module


def _give_self(known: Inference, name: str, define: s.Define, klass: Class) -> None:
    """Note that a method's first parameter, an operator's both, are objects of its class."""
    is_method = define.is_method or is_self(define.function) or is_metamethod(name)
    if name in ("__call", "__call__"):  # Lua's and Torch7's: called with fewer arguments, too
        known.signature(define.function).calls.add(1)
    parameters = define.function.parameters
    if is_metamethod(name):  # where type says that one is a table
        known.tested_tables |= {p.variable: klass.instance for p in parameters[:2]}
    for parameter in parameters if name in _OF_TWO else parameters[: int(is_method)]:
        own = known.of(parameter.variable)
        own.join(klass.object)
        known.guessed.add(own)  # whatever else calls give


def find_namespaces(known: Inference, file: File) -> None:
    """Find tables that only hold functions: ``local M = {}``, ``function M.f() … end``."""
    empty = {}
    for variable, value in sources(file.block):
        given = given_by(known.file_of(value))
        klass = None if given is None else known.class_of(given)
        if klass is not None and len(variable.writes) == 1:
            known.of(variable).join(known.class_type(klass))
    for node in file.block.statements:
        for target, value in s.assigned(node) if s.target(node) is not None else ():
            is_empty = isinstance(value, s.Table) and not value.fields
            if isinstance(target, s.Name) and is_empty and len(target.variable.writes) == 1:
                empty[target.variable] = node
        if isinstance(node, s.Define) and isinstance(node.target, s.Index):
            owner = node.target.object
            if isinstance(owner, s.Name) and owner.variable in empty:
                made = empty.pop(owner.variable)
                is_meta = s.constant(node.target.key) == "__index"
                is_data = is_meta or _is_data(known, file.block, owner.variable)
                if not is_data and owner.variable not in known.prototypes:
                    _add_class(known, owner, made)


def _is_data(known: Inference, block: s.Block, variable: Variable) -> bool:
    """Return whether a table has entries under numbers or computed keys, or methods of its own."""
    has_index = variable in map(own_index, s.walk(block))
    is_mixin, is_object = variable in known.mixins, False
    for node in s.walk(block):
        if isinstance(node, s.Index):
            is_word = isinstance(node.key, s.Constant) and isinstance(node.key.value, str)
            if not is_word and names(node.object, variable):
                return True
        elif isinstance(node, s.Define) and isinstance(node.target, s.Index):
            is_own = node.is_method or is_self(node.function)
            is_own = is_own and names(node.target.object, variable)
            is_object = is_object or (is_own and not is_mixin)
        elif isinstance(node, s.Call) and node.method is not None:
            is_object = is_object or names(node.function, variable)
    return is_object and not has_index


def _add_class(known: Inference, owner: s.Node, node: s.Node) -> None:
    assert isinstance(owner, s.Name)
    made = Class(owner.id, owner.variable, None, False, node, known.file.module)
    made.parent, made.deriving = known.derived.get(owner.variable, (None, None))
    known.classes[f"{owner.id}@{known.file.path}:{owner.variable.declared_at}"] = made
    known.of(owner.variable).join(known.class_type(made))


def _find_parent(known: Inference, target: s.Node | None, call: s.Node | None) -> None:
    """Handle ``B = setmetatable({}, {__index = A})`` and the like: B derives from the class A."""
    if not isinstance(call, s.Call) or known.dotted(call.function) != "setmetatable":
        return
    if len(call.arguments) != 2:
        return
    table, parent = call.arguments
    meta, rest = parent, []
    if isinstance(parent, s.Table) and (isinstance(table, s.Name) or len(parent.fields) == 1):
        indexed = [f for f in parent.fields if s.constant(f.key) == "__index"]
        rest = [f for f in parent.fields if f not in indexed]
        parent = indexed[0].value if indexed else parent
    base = known.class_of(parent)
    name = table if isinstance(table, s.Name) else target
    is_empty = isinstance(table, s.Table) and not table.fields
    if base is None or not isinstance(name, s.Name) or not (table is name or is_empty):
        return
    own = known.class_of(name)
    if own is base:
        return
    key_of_base = next(key for key, klass in known.classes.items() if klass is base)
    if isinstance(meta, s.Table) and rest:
        meta.fields = rest  # which the class has besides
    known.derived[name.variable] = key_of_base, None if rest else call
    if own is not None and own.parent is None:
        own.parent, own.deriving = known.derived[name.variable]


def _find_class(known: Inference, node: s.Statement) -> None:
    call: s.Node | None = None
    names: list[s.Node] = []
    if isinstance(node, s.Do):
        call = node.call
    elif isinstance(node, (s.Local, s.Assign)):
        call, names = next(iter(node.values), None), node.targets
    _find_parent(known, names[0] if len(names) == 1 else None, call)
    if isinstance(call, s.Call) and call.method is None and call.arguments:
        first = call.arguments[0]
        is_of_library = call in known.file.class_calls
        if is_of_library or known.dotted(call.function) in ("torch.class", "class", "class.new"):
            if not isinstance(first, s.Constant) or not isinstance(first.value, str):
                return
            parent = call.arguments[1] if len(call.arguments) > 1 else None
            parent_name = s.constant(parent)
            if is_of_library and parent is not None and parent_name is None:
                base = known.class_of(parent)
                keys = (key for key, klass in known.classes.items() if klass is base)
                parent_name = next(keys, s.describe(parent))
            if not isinstance(parent_name, str):
                parent_name = None
            variable = names[0].variable if names and isinstance(names[0], s.Name) else None
            made = Class(first.value, variable, parent_name, True, node, known.file.module)
            known.classes[_key(known, made)] = made
            if variable is not None:
                known.of(variable).join(known.class_type(made))
            made.inherits_all = is_of_library
            given = (a for a in call.arguments[1:] if isinstance(a, s.Name) and not is_of_library)
            made.holder = next(given, None) or _holder(known, first.value)
            known.metatables |= {n.variable for n in names if isinstance(n, s.Name)}
            if len(names) > 1 and isinstance(names[1], s.Name) and parent_name:
                known.aliases[names[1].variable] = str(parent_name)
            return
    own = own_index(node)
    if (
        own is not None
        and _may_be_class(known, own)
        and all(klass.variable is not own for klass in known.classes.values())
    ):
        assert isinstance(node, s.Assign)
        _add_class(known, node.values[0], node)


def _may_be_class(known: Inference, own: Variable) -> bool:
    """Return whether X of ``X.__index = X`` is a class of Python's: no prototype, of which objects
    are made.
    """
    return len(own.writes) == 1 and not own.is_parameter and own not in known.prototypes


def _holder(known: Inference, name: str) -> s.Node | None:
    """Return the table of the program's that gets a class of this name: ``a.b`` of ``a.b.C``."""
    head, *inner = name.split(".")[:-1] or [""]
    variable = known.file.scopes.globals.get(head)
    if variable is None or not variable.writes:
        return None
    holder: s.Node = s.Name(variable.id, variable, is_global=True)
    for part in inner:
        holder = s.Index(holder, s.Constant(part))
    return holder


def _key(known: Inference, made: Class) -> str:
    """Return the name of a class, or where several files have one of the name, with the file."""
    return f"{made.name}@{known.file.path}" if made.name in known.classes else made.name


_OF_NN = ("parameters", "updateOutput", "updateGradInput", "forward", "backward")


def lists_of_layers(known: Inference) -> None:
    """Note that the tables that nn takes from layers are lists: tensors in and out, parameters."""
    for klass in known.classes.values():
        if not klass.is_layer(known.classes):
            continue
        kinds = [klass.instance.name(name) for name in ("output", "gradInput")]
        methods = [klass.methods[name] for name in _OF_NN if name in klass.methods]
        for define in methods:
            kinds += known.signature(define.function).root().results
        for kind in kinds:
            if kind.shape is not None and "list" not in kind.shape.uses:
                kind.shape.uses.add("list")
                known.changed = True
