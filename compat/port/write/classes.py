"""Classes, with all their methods."""

from __future__ import annotations

from collections.abc import Iterator

from compat.lua_tables import attribute
from compat.port.know.files import Class
from compat.port.know.form.shapes import is_maker, is_name, is_self, makes_objects, tested
from compat.port.know.prototypes import own_index
from compat.port.know.scopes import Variable
from compat.port.know.types import Kind
from compat.port.library import compat_names
from compat.port.read import syntax as s
from compat.port.write.assignments import store_code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.functions import called_by_nn, define_function
from compat.port.write.names import CLASS, class_name
from compat.port.write.python_names import is_metamethod, method_name


def class_made(node: s.Statement, draft: Draft) -> Class | None:
    """Return the class that a statement makes."""
    table = _names(node, draft) if isinstance(node, (s.Local, s.Assign)) else None
    for klass in draft.types.classes.values():
        is_table = table is not None and not klass.is_torch and klass.variable is table
        if klass.node is node or is_table:
            return klass
    return None


def is_deriving(node: s.Node, draft: Draft) -> bool:
    """Return whether a call only says what a class derives from."""
    return any(klass.deriving is node for klass in draft.types.classes.values())


def _names(node: s.Local | s.Assign, draft: Draft) -> Variable | None:
    target, value = next(iter(s.assigned(node)), (None, None))
    if not isinstance(target, s.Name) or value is None:
        return None
    is_made = isinstance(value, s.Table) or is_deriving(value, draft)
    return target.variable if is_made else None


def class_statement(node: s.Statement, klass: Class, draft: Draft) -> None:
    """Write a class with all its methods, where ``node`` makes it."""
    name = class_name(klass, draft)
    base = "lua.Object"
    typename = f', typename="{klass.name}"' if klass.is_torch else ""
    for second in getattr(klass.node, "targets", [])[1:2]:
        own = second.variable if isinstance(second, s.Name) else None
        is_read = own is not None and (own.reads or own.is_global)
        if own is not None and is_read and klass.is_torch and not klass.parent:
            draft.page.write(f"{own.python} = None")
    if klass.parent:
        parent = draft.types.classes.get(klass.parent)
        base = class_name(parent, draft) if parent is not None else klass.parent
        package, _, inner = klass.parent.partition(".")
        if parent is None and not compat_names.has(package, inner):
            draft.page.mark(f"{klass.parent} is a class of no file of this program", "classes")
        elif parent is None and package == "torch":
            base = f"torch7.{inner}, lua.Object"
    if draft.loops:
        draft.page.mark(f"the methods of {name} name the class that the last turn made", "classes")
    if klass.is_torch and klass.methods.keys() & {"read", "write"}:
        draft.page.mark("files have all fields, whatever read and write do", "files")
    draft.page.write(f"class {name}({base}{typename}):")
    outer, draft.klass = draft.klass, klass
    with draft.page.indented():
        tables = _fields_in_files(klass, draft)
        for field, names in tables.items():
            quoted = "".join(f'"{name}", ' for name in sorted(names))
            draft.page.write(f"{field} = ({quoted})", "lists in files, if from 1 to n")
        parent_name = klass.parent or ""
        above = compat_names.found(*parent_name.split(".", 1)) if "." in parent_name else None
        if getattr(above, "prints_every_module", bool)() and "__tostring__" not in klass.methods:
            draft.page.write("__repr__ = nn.Module.__repr__", "it prints its name alone")
        constants = _constants(node, klass, draft)
        missing = draft.missing[klass] = _missing_at_first(klass, draft) - constants.keys()
        for field in sorted(missing):
            draft.page.write(f"{attribute(field)} = None")
        for field, assigned in constants.items():
            draft.hoisted.add(assigned)
            with draft.page.statement(assigned):
                draft.page.write(f"{method_name(field)} = {draft.value(assigned.values[0])}")
        left = _left_behind(klass, draft)
        for event in left:
            default = f"lua.Object.{event}" if event in ("__str__", "__eq__") else "None"
            draft.page.write(f"{event} = {default}", "a metamethod is not inherited")
        for number, (method, define) in enumerate(klass.methods.items()):
            if number or tables or missing or constants or left:
                draft.page.write("")
            draft.hoisted.add(define)
            define.before = [c for c in define.before if c is not None]
            with draft.page.statement(define):
                _method(method, define, klass, draft)
        if klass.is_torch and klass.parent and "__init" not in klass.methods:
            made = next(n for n in s.walk(klass.node) if isinstance(n, s.Call))
            if draft.types.dotted(made.function) != "torch.class" and not klass.inherits_all:
                draft.page.write("def __init__(self, *_):")
                with draft.page.indented():
                    draft.page.write("pass", "a constructor is not inherited")
    draft.klass = outer
    if klass.holder is not None:
        plain = klass.name.rpartition(".")[2]
        store_code(s.Index(klass.holder, s.Constant(plain)), Code(name), draft)
    elif klass.name.startswith("nn.") and _may_be_looked_up(draft):
        draft.page.write(f"nn.{attribute(klass.name[3:])} = {name}")
    if klass.variable is not None and klass.variable.is_global and klass.variable in draft.shared:
        draft.page.write(f"shared.{name} = {name}")


def _may_be_looked_up(draft: Draft) -> bool:
    """Return whether the program takes a class of ``nn``'s by a computed name, ``nn[name]``."""
    nodes = (node for file in draft.types.files for node in s.walk(file.block))
    return any(draft.types.class_of_nn(node) == "nn.?" for node in nodes)


def _constants(made: s.Statement, klass: Class, draft: Draft) -> dict[str, s.Assign]:
    """Return the fields that are set right behind the class, up to what is no constant: that may
    look at the class.
    """
    found: dict[str, s.Assign] = {}
    blocks = (n for n in s.walk(draft.file.block) if isinstance(n, s.Block))
    statements = next(b.statements for b in blocks if made in b.statements)
    for node in statements[statements.index(made) + 1 :]:
        if node in klass.methods.values() or own_index(node) is klass.variable:
            continue
        target = s.target(node)
        if not isinstance(target, s.Index) or draft.types.class_of(target.object) is not klass:
            break
        assert isinstance(node, s.Assign)
        name, value = s.constant(target.key), node.values[0]
        value = value.operand if isinstance(value, s.Unary) else value
        is_field = is_name(name) and name not in klass.methods and name not in found
        if not is_field or name[:2] == "__" or s.constant(value) is None:
            break
        found[name] = node
    return found


def _fields_in_files(klass: Class, draft: Draft) -> dict[str, set[str]]:
    """Return fields that are dicts with numbers for keys, lists that may be empty, and those that
    are a ``lua.Table``, of a class that may be loaded from files.
    """
    if not klass.is_torch or not draft.types.clues.loads_files:
        return {}
    found: dict[str, set[str]] = {}
    for node in s.walk(draft.file.block):
        if not isinstance(node, s.Index) or not isinstance(node.key, s.Constant):
            continue
        owner = draft.types.type(node.object)
        if owner.klass is not klass:
            continue
        kind = draft.types.type(node)
        shape = kind.shape if kind.only(Kind.TABLE, Kind.NIL) else None
        is_layer = klass.is_layer(draft.types.classes)
        if shape is not None and shape.is_own_meta and not is_layer:
            found.setdefault("lua_tables", set()).add(str(node.key.value))
        elif shape is not None and shape.is_dict and shape.keys & {"int", "list", "other"}:
            found.setdefault("dict_fields", set()).add(str(node.key.value))
        elif shape is not None and shape.is_grown and not is_layer:
            found.setdefault("list_fields", set()).add(str(node.key.value))
    return found


def _missing_at_first(klass: Class, draft: Draft) -> set[str]:
    """Return the fields of a layer that the program asks for before they are set, or never sets; in
    Lua they are nil then, as for ``lua.Object``.
    """
    parent = klass.top(draft.types.classes).parent
    if parent is None:
        return set()
    inherited = {
        field
        for base in klass.bases(draft.types.classes)
        for field, kind in base.members.root().names.items()
        if kind.atoms - {Kind.NIL}
    }
    return {
        str(index.key.value)
        for index in [*tested(draft.file.block), *_never_set(klass, draft)]
        if isinstance(index.key, s.Constant)
        and is_name(index.key.value)
        and (draft.types.class_of(index.object) is klass or _is_of(index.object, klass, draft))
        and not compat_names.begins_with(parent, str(index.key.value))
        and index.key.value not in klass.methods
        and index.key.value not in inherited
        and not draft.types.is_constructor(index)
        and not _is_set_at_first(str(index.key.value), klass, draft)
    }


def _never_set(klass: Class, draft: Draft) -> Iterator[s.Index]:
    """Yield the entries of names that the program puts nothing into, and those that the class sets
    under conditions alone.
    """
    always = {name for d in klass.methods.values() for name in _always_set(d.function.body)}
    for define in klass.methods.values():
        own = {n for n in s.walk(define.function.body) if isinstance(n, s.Index) and _of_self(n)}
        for index in own:
            name = s.constant(index.key)
            if name not in always and klass.method(str(name), draft.types.classes) is None:
                yield index
    are_set = draft.types.clues.set_somewhere
    for node in s.walk(draft.file.block):
        if isinstance(node, s.Index) and s.constant(node.key) not in are_set:
            yield node


def _of_self(node: s.Index) -> bool:
    return isinstance(node.object, s.Name) and node.object.id == "self"


def _always_set(block: s.Block) -> set[object]:
    """Return the fields of ``self`` that a block sets whatever happens and whatever they are."""
    found: set[object] = set()
    for node in block.statements:
        if isinstance(node, s.Assign):
            asked = {s.describe(part) for value in node.values for part in s.walk(value)}
            targets = [t for t in node.targets if isinstance(t, s.Index) and _of_self(t)]
            found |= {s.constant(t.key) for t in targets if s.describe(t) not in asked}
        elif isinstance(node, s.If) and node.clauses[-1][0] is None:
            found |= set.intersection(*(_always_set(body) for _, body in node.clauses))
        elif isinstance(node, (*s.LOOPS, s.Scope)):
            found |= _always_set(node.body)
    return found


def _is_of(node: s.Node, klass: Class, draft: Draft) -> bool:
    """Return whether an expression is an object of the class."""
    kind = draft.types.type(node)
    return kind.only(Kind.OBJECT) and kind.klass is klass


def _calls_itself(node: s.Node) -> bool:
    owner = node.function if isinstance(node, s.Call) and node.method is not None else None
    return isinstance(owner, s.Name) and owner.id == "self"


def _is_set_at_first(name: str, klass: Class, draft: Draft) -> bool:
    """Return whether the constructor sets a field whatever happens, before it looks at it."""
    define = klass.method("__init", draft.types.classes)
    if define is None:
        return False
    for statement in define.function.body.statements:
        if any(_calls_itself(node) for node in s.walk(statement)):
            return False  # a method may look at it
        fields = [n for n in s.walk(statement) if isinstance(n, s.Index)]
        own = [n for n in fields if isinstance(n.key, s.Constant) and n.key.value == name]
        if own:
            kind = draft.types.type(own[0])
            if draft.types.clues.loads_files and (Kind.NIL in kind.atoms or not kind.atoms):
                return False  # a file has no nil
            return isinstance(statement, s.Assign) and own == [
                t for t in statement.targets if t in own
            ]
    return False


def _left_behind(klass: Class, draft: Draft) -> list[str]:
    """Return the metamethods of base classes that are not those of a class in Lua: ``__tostring``
    is the class's own, ``__tostring__`` inherited.
    """
    known = {method_name(name) for name in klass.methods}
    found: list[str] = []
    if klass.inherits_all or klass.is_layer(draft.types.classes):
        return found
    for base in klass.bases(draft.types.classes):
        for name in filter(is_metamethod, base.methods):
            if name != "__init" and method_name(name) not in known and not name.endswith("__"):
                found.append(method_name(name))
            known.add(method_name(name))
    return found


def name_of_method(name: str, klass: Class, draft: Draft) -> str:
    """Return a method's name in Python; containers show their modules by ``repr``."""
    made = method_name(name)
    is_layer = klass.top(draft.types.classes).parent is not None
    return "__repr__" if made == "__str__" and is_layer else made


def _method(method: str, define: s.Define, klass: Class, draft: Draft) -> None:
    function = define.function
    called_by_nn(method, klass.parent, function, draft)
    name = name_of_method(method, klass, draft)
    if is_maker(define):
        scope, own = draft.file.scopes.of_function[function], function.parameters[0].variable
        is_taken = any(v.python == CLASS for v in (*scope.variables, *scope.used))
        own.python, own.is_class = f"own_{CLASS}" if is_taken else CLASS, True
        define_function(name, function, draft, "classmethod")
        return
    if makes_objects(define):  # function C.new(class) return setmetatable({}, class) end
        function.parameters[0].variable.is_class = True
    is_event = is_metamethod(method) and (function.parameters or function.is_vararg)
    if define.is_method or is_self(function) or is_event:
        define_function(name, function, draft)
    else:
        define_function(name, function, draft, "staticmethod")
