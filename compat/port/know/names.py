"""The meaning of a program's names: packages, classes, files."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from compat.port.know.files import Class, File
from compat.port.know.form.file_names import is_unwritten, places_like, required, tried
from compat.port.know.form.shapes import is_name
from compat.port.know.scopes import EVALUATE, KNOWN, PACKAGES, Variable
from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

_LOADERS = ("require", "loadstring", EVALUATE)
# What later Lua has in a package: ``local unpack = unpack or table.unpack``.
_OF_LUA_51 = {"unpack", "loadstring"}
# Packages that are one function, and functions that belong to no package.
FUNCTIONS = {
    *("lapp", "class", "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall"),
    *("print", "rawequal", "rawget", "rawset", "select", "setmetatable", "tonumber", "tostring"),
    *("type", "xpcall"),
}

_OF_PENLIGHT = {"pretty", "stringx", "tablex", "utils"}  # global names: of packages 'pl.utils' …
# Packages of which the name is nil until somebody loads them, and what loads them.
_BROUGHT = {"cutorch": ("cutorch", "cunn", "cudnn"), "cunn": ("cunn", "cudnn"), "cudnn": ("cudnn",)}


def find_aliases(known: Inference, file: File) -> None:
    """Find variables that only name a package: ``local optim = require 'optim'``."""
    for node in s.walk(file.block):
        if isinstance(node, (s.Local, s.Assign)) and len(node.targets) == 2 and tried(node):
            if (path := tried(node)) in PACKAGES and isinstance(node.targets[1], s.Name):
                _note_path(known, node.targets[1].variable, str(path))
            continue
        for name, value in s.assigned(node):
            if isinstance(name, s.Name):
                _note_alias(known, name.variable, _without_self(known, name, value))


def _without_self(known: Inference, name: s.Name, value: s.Node) -> s.Node:
    """Return the operand that tells what ``name = name or value`` and the like put into a name."""
    if isinstance(value, s.Binary) and value.operator == "or":
        if isinstance(value.left, s.Name) and value.left.variable is name.variable:
            return value.right
        if known.dotted(value.left) in _OF_LUA_51:
            return value.left
    return value


def find_replaced(known: Inference, file: File) -> None:
    """Find functions of packages that the program sets: ``function nn.Linear:reset() … end``."""
    for node in s.walk(file.block):
        put: list[tuple[s.Node, s.Node]] = []
        if isinstance(node, s.Define):
            put = [(node.target, node.function)]
        elif isinstance(node, s.Assign):
            put = list(zip_longest(node.targets, node.values, fillvalue=s.Constant(None)))
        for target, value in put:
            path = known.dotted(target) if isinstance(target, s.Index) else None
            if path is not None and value not in known.replaced.setdefault(path, []):
                known.replaced[path].append(value)


def _note_alias(known: Inference, variable: Variable, value: s.Node) -> None:
    """Note what is put into a variable: it names a package if all that is, is this one."""
    name = required(value) or ""
    if name in known.absent and _only_names(known.file, variable):
        known.aliases[variable] = name
        return
    path = name.removeprefix("pl.") if name != "pl.class" else ""  # which is another
    if path not in PACKAGES | FUNCTIONS or path in known.file.loads:
        path = known.dotted(value) or ""
    if path not in PACKAGES | _OF_LUA_51 | FUNCTIONS and "." not in path:
        return
    if path in known.replaced:  # it is what was there before
        return
    _note_path(known, variable, path)


def _note_path(known: Inference, variable: Variable, path: str) -> None:
    same = known.alias_paths.setdefault(variable, [])
    same.append(path)
    if len(same) == len(variable.writes) and len(set(same)) == 1:
        known.aliases[variable] = path


def _only_names(file: File, variable: Variable) -> bool:
    """Return whether a variable of a file is set once, and all its uses are ``package.name``."""
    uses = {id(n.object) for n in s.walk(file.block)
            if isinstance(n, s.Index) and is_name(s.constant(n.key))}  # fmt: skip
    is_own = not variable.is_global and len(variable.writes) == 1
    return is_own and all(id(name) in uses for name, _ in variable.reads)


def dotted(known: Inference, node: s.Node) -> str | None:
    """``torch.cmul`` for an expression that names a function or package; else None."""
    if isinstance(node, s.Name):
        variable = node.variable
        if variable in known.aliases:
            return known.aliases[variable]
        return node.id if variable.is_global and not variable.writes else None
    if isinstance(node, s.Index) and isinstance(node.key, s.Constant):
        path = known.dotted(node.object)
        if path is None and isinstance(owner := node.object, s.Name) and owner.variable.is_global:
            own = f"{owner.id}.{node.key.value}"  # torch.class puts it into the table
            return own if own in known.classes else None
        if path in known.classes or (path is not None and own_tables(known, path)):
            return None  # a field of a class of the script's, or of a table
        if path == "pl" and (part := node.key.value) in PACKAGES - {"class"}:
            return str(part)
        if path is not None and known.names_package(path) and is_name(node.key.value):
            if node.key.value == "new" and path.rpartition(".")[2][:1].isupper():
                return path  # torch.DiskFile.new makes what torch.DiskFile does
            # Package rnn has its own of some of nn's functions.
            return f"{path}.{node.key.value}".replace("nn.rnn.recursive", "nn.utils.recursive")
    if (path := required(node)) in PACKAGES and path not in known.file.loads:
        return path
    if isinstance(node, s.Call) and required(node.function) == "pl.import_into":
        return "pl"
    if isinstance(node, s.Call) and known.dotted(node.function) == "torch.getmetatable":
        name = s.constant(node.arguments[0]) if len(node.arguments) == 1 else None
        if isinstance(name, str) and "." in name and known.names_package(name):
            return name  # a class of a package is its metatable
    return None


def own_tables(known: Inference, path: str) -> list[s.Node]:
    """Return the tables that the program puts into packages under a name: ``nn.helpers = {}``."""
    return [put for put in known.replaced.get(path, ()) if isinstance(put, s.Table)]


def class_of_nn(known: Inference, node: s.Node) -> str | None:
    """``nn.Linear`` for ``backend.Linear`` where ``backend`` is ``nn`` or ``cudnn``; ``nn.?`` for
    ``nn[name]``.
    """
    if not isinstance(node, s.Index):
        return None
    name = s.constant(node.key)
    if name is not None and not str(name)[:1].isupper():
        return None  # before the object's type: a long chain is looked at once
    kind = known.type(node.object)
    if not kind.only(Kind.PACKAGE, Kind.NIL) or not kind.classes <= {"nn", "cudnn"}:
        return None
    return "nn.?" if name is None else f"nn.{name}"


def is_chosen_optimizer(known: Inference, node: s.Node) -> bool:
    """Return whether it is ``optim[name]`` of a computed name."""
    if not isinstance(node, s.Index) or s.constant(node.key) is not None:
        return False
    kind = known.type(node.object)
    return kind.only(Kind.PACKAGE) and kind.classes == {"optim"}


def find_either(known: Inference, file: File) -> None:
    """Find variables that hold a table or what is in it: ``x.net or x``, ``x = x.net``."""
    for node in s.walk(file.block):
        is_or = isinstance(node, s.Binary) and node.operator == "or"
        pairs = [(node.left, node.right)] if isinstance(node, s.Binary) and is_or else []
        if isinstance(node, s.Assign):
            pairs = list(zip(node.values, node.targets, strict=False))
        for part, whole in pairs:
            owner = part.object if isinstance(part, s.Index) else None
            if isinstance(whole, s.Name) and isinstance(owner, s.Name):
                known.either |= {whole.variable} & {owner.variable}


def names_package(known: Inference, path: str) -> bool:
    """Return whether a path begins with the name of a package."""
    head = path.split(".")[0]
    return head in PACKAGES or head in known.absent or path in known.classes


def find_absent(known: Inference, file: File) -> None:
    """Find packages that are neither part of the program nor known: ``require 'cltorch'``."""
    for node in s.walk(file.block):
        if isinstance(node, s.Constant):
            known.brought |= {name for name, by in _BROUGHT.items() if node.value in by}
        elif isinstance(node, s.Call) and known.dotted(node.function) in _LOADERS:
            is_open = not isinstance(node.arguments[0], s.Constant) if node.arguments else False
            known.brought |= _BROUGHT.keys() if is_open else set()
        name = tried(node) if isinstance(node, (s.Local, s.Assign)) else required(node)
        if name is None or name in KNOWN - _OF_PENLIGHT or not is_name(name):
            continue
        if name not in file.loads:
            known.absent.add(name)


def is_never_loaded(known: Inference, path: str) -> bool:
    """Return whether the name of a package is nil, for nothing in the program brings it."""
    return path in _BROUGHT and path not in known.brought and not known.absent


def class_type(_known: Inference, klass: Class) -> Type:
    """Return the type of a class itself."""
    made = Type(Kind.CLASS, table=klass.members)
    made.classes = {klass.name}
    return made


def class_of(known: Inference, node: s.Node) -> Class | None:
    """Return the class that an expression names."""
    if isinstance(node, s.Name):
        kind = known.variables.get(node.variable)
        if kind is not None and Kind.CLASS in kind.atoms and kind.shape is not None:
            found: Class | None = kind.klass
            return found
    path = known.dotted(node)
    return known.class_named(path) if path else None


def class_named(known: Inference, path: str) -> Class | None:
    """Return the class of a name: the file's own, where several files have one."""
    return known.classes.get(f"{path}@{known.file.path}") or known.classes.get(path)


def classes_of(known: Inference, kind: Type) -> list[Class]:
    """Return the classes of the program that a value may be, or an object of."""
    own = kind.klass
    if own is None:
        return []
    others = (k for k in known.classes.values() if k.name in kind.classes and k is not own)
    return [own, *others]


def classes_of_others(known: Inference, kind: Type) -> set[str]:
    """Return the names of the classes that a value may be an object of and the program does not
    make.
    """
    return kind.classes - {klass.name for klass in known.classes.values()}


def of(known: Inference, variable: Variable) -> Type:
    """Return the type of a variable."""
    return known.variables[variable]


def file_of(known: Inference, node: s.Node) -> File | None:
    """Return the file of the program that a ``require`` or ``dofile`` names."""
    if not isinstance(node, s.Call) or not node.arguments:
        return None
    # ``torch.include('package', 'part.lua')`` names the package first
    is_included = known.dotted(node.function) == "torch.include"
    name = node.arguments[-1 if is_included else 0]
    if not isinstance(name, s.Constant) or not isinstance(name.value, str):
        return None
    path = known.file.loads.get(name.value)
    return next((file for file in known.files if file.path == path), None)


def files_like(known: Inference, node: s.Call) -> list[File]:
    """Return the files that ``dofile('models/' .. name)`` and ``dofile(opt.model)`` may mean."""
    if not node.arguments:
        return []
    if is_unwritten(node.arguments[0]):
        return [file for file in known.clues.of_no_name if file is not known.file]
    paths = [file.path for file in known.files]
    return [known.files[i] for i in places_like(node.arguments[0], paths)]
