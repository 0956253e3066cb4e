"""Modules of functions: a class of static methods alone that its file gives is the file itself.

``local M = {} function M.f() end return M`` is a class as long as nothing tells that nobody takes
the table for more than its functions. When all files are written, that shows.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set

from compat.port.polish.source import Block, Change, Edit, Source

_BY_NAME = {"importlib.import_module", "lua.run_again"}
_OF_LUA = "from compat.port import lua"
# What gives Lua what files give, or takes all names of a file.
_IN_LUA = {"function", "load", "loadfile", "loadstring", "main", "module", "variable", "variables"}


def without_classes(
    texts: Mapping[str, str], gives: Mapping[str, str | None]
) -> tuple[dict[str, str], set[str]]:
    """Return the files of a program, by the names of their modules, and those that are now given
    whole, as ``import name`` does.

    Args:
        gives: the names under which files have what they return.
    """
    sources = {module: Source(text) for module, text in texts.items()}
    if any(map(_takes_others, sources.values())):
        return dict(texts), set()
    program = _Program(sources, gives)
    found = {module: klass for module in texts if (klass := program.only_functions(module))}
    made = dict(texts)
    for module, klass in found.items():
        for other, text in made.items():
            if other != module and f"from {module} import " not in text:
                continue
            source = Source(text)
            is_own = other == module
            edits = _dissolved(source, klass) if is_own else _imported(source, module, klass)
            made[other] = source.edited(edits)
    return made, set(found)


def _takes_others(source: Source) -> bool:
    """Return whether a file has parts in Lua, which may take others, or its variables."""
    called = (source.of(call.func) for call in source.all(ast.Call))
    return any(path.startswith("lua.") and path[4:] in _IN_LUA for path in called)


class _Program:
    """The files of a program, and the names under which they have what they return."""

    def __init__(self, sources: Mapping[str, Source], gives: Mapping[str, str | None]) -> None:
        self._sources, self._gives = sources, gives

    def only_functions(self, module: str) -> str | None:
        """Return the class that a file gives, if it has functions and constants alone, whose names
        mean nothing else in the file, and nobody takes anything else of it.
        """
        source, name = self._sources[module], self._gives.get(module)
        classes = [n for n in source.tree.body if isinstance(n, ast.ClassDef) and n.name == name]
        if name is None or not classes or not _is_plain(source, classes[0]):
            return None
        klass = classes[0]
        members = _members(source, klass)
        own = {*klass.body, *map(source.parent, _set_later(source, klass))}
        if not _reads_members(source, name, members, source.tree.body):
            return None
        read = {node.id for node in source.all(ast.Name)} & {*dir(builtins)}
        if members & read or _are_hidden(source, name, members, own):
            return None
        others = [other for other in self._sources if other != module]
        if any(map(is_export, source.tree.body)) and not any(
            any(imports(self._sources[other], module, name)) for other in others
        ):
            return None  # nothing but computed names means it
        return name if all(self._takes(o, module, name, members) for o in others) else None

    def _takes(self, other: str, module: str, name: str, members: set[str]) -> bool:
        """Return whether a file takes no more than members of another one's class."""
        source = self._sources[other]
        loads = (call for call in source.all(ast.Call) if source.of(call.func) in _BY_NAME)
        names = (call.args[0] for call in loads)
        if any(isinstance(name, ast.Constant) and name.value == module for name in names):
            return False
        words = Counter(word for word, _ in bound(source, set()))
        own = [known_as for known_as, _ in imports(source, module, name)]
        copies: set[ast.AST] = set()
        for known_as in own:
            for copy in (n for n in source.all(ast.Assign) if source.of(n.value) == known_as):
                copies |= {copy.value, *copy.targets}
                own += [one.id for one in copy.targets if isinstance(one, ast.Name)]
                others = [one for one in copy.targets if not isinstance(one, ast.Name)]
                if not all(self._share_members(source.of(one), members) for one in others):
                    return False
            if words[known_as] != 1 or known_as in source.hidden | self._given_on(other):
                return False
            if not _reads_members(source, known_as, members, [], copies):
                return False
        return True

    def _share_members(self, path: str, members: set[str]) -> bool:
        """Return whether a global variable is set once, and all files read only members of it."""
        places = [
            (source, node)
            for source in self._sources.values()
            for node in source.all(ast.Attribute)
            if source.of(node) == path
        ]
        reads = [source.parent(n) for source, n in places if isinstance(n.ctx, ast.Load)]
        is_one = path.startswith("shared.") and len(places) == len(reads) + 1
        return is_one and all(_is_read(use, members) for use in reads)

    def _given_on(self, module: str) -> set[str | None]:
        """Return the names of a file that others import."""
        imports = (node for s in self._sources.values() for node in s.all(ast.ImportFrom))
        names = {a.name for node in imports if node.module == module for a in node.names}
        return {self._gives.get(module), *names}


def _is_plain(source: Source, klass: ast.ClassDef) -> bool:
    bases = [source.of(base) for base in klass.bases]
    is_told = klass.lineno in source.comments
    is_told |= ast.get_docstring(klass) is not None and ast.get_docstring(source.tree) is not None
    is_plain = bases == ["lua.Object"] and not klass.keywords and klass.name not in source.hidden
    return is_plain and not is_told and all(map(_is_member, _behind_docstring(klass)))


def _behind_docstring(klass: ast.ClassDef) -> list[ast.stmt]:
    return klass.body[ast.get_docstring(klass) is not None :]


def _is_member(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        return [ast.unparse(one) for one in node.decorator_list] == ["staticmethod"]
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)


def _members(source: Source, klass: ast.ClassDef) -> set[str]:
    named = {n.name for n in klass.body if isinstance(n, ast.FunctionDef)}
    assigned = (n.targets[0] for n in klass.body if isinstance(n, ast.Assign))
    named |= {target.id for target in assigned if isinstance(target, ast.Name)}
    return named | {node.attr for node in _set_later(source, klass)}


def _set_later(source: Source, klass: ast.ClassDef) -> Iterator[ast.Attribute]:
    """Yield the members that statements behind the class set."""
    for node in source.tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Attribute) and source.of(target.value) == klass.name:
            yield target


def _are_hidden(source: Source, name: str, members: set[str], own: set[ast.AST]) -> bool:
    """Return whether something else has the name of a member in the file, or in a function that
    reads the member.
    """
    scopes: dict[str, set[ast.AST]] = defaultdict(set)
    for word, scope in bound(source, own):
        scopes[word].add(scope)
    if any(source.tree in scopes[member] for member in members):
        return True
    for use in (n for n in source.all(ast.Attribute) if source.of(n.value) == name):
        inside: ast.AST = use
        while inside is not source.tree:
            inside = source.scope(inside)
            if inside in scopes[use.attr]:
                return True
    return False


def is_export(node: ast.AST) -> bool:
    """Return whether a statement gives what others load by a computed name."""
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "exports"


def bound(source: Source, own: set[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that a file gives something, but for members themselves, and where they are
    known.
    """
    targets = [target for node in own if isinstance(node, ast.Assign) for target in node.targets]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in targets:
            yield node.id, source.scope(node)
        elif isinstance(node, ast.arg):
            yield node.arg, source.scope(node)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node not in own:
            yield node.name, source.scope(node)
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.split(".")[0], source.scope(node)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, source.scope(node)
        elif isinstance(node, ast.Global):
            yield from ((word, source.tree) for word in node.names)


def _is_read(node: ast.AST, members: set[str]) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr in members and isinstance(node.ctx, ast.Load)


def _reads_members(
    source: Source, name: str, members: set[str], block: Block, copies: Set[ast.AST] = frozenset()
) -> bool:
    """Return whether a file does no more with a name than read what these are.

    Args:
        block: statements that may set them.
        copies: where it gets other names.
    """
    names = (n for n in source.all(ast.Name) if n.id == name and n not in copies)
    uses = (use for use in map(source.parent, names) if not (use in block and is_export(use)))
    return all(
        _is_read(use, members)
        or (isinstance(use, ast.Attribute) and use.attr in members and source.parent(use) in block)
        for use in uses
    )


def imports(source: Source, module: str, name: str) -> Iterator[tuple[str, ast.ImportFrom]]:
    """Yield the imports of a name, and the names that it then has."""
    for node in source.all(ast.ImportFrom):
        if node.module == module:
            yield from ((a.asname or a.name, node) for a in node.names if a.name == name)


def _imported(source: Source, module: str, name: str) -> Change:
    """Have a file import another one whole."""
    package, _, last = module.rpartition(".")
    begin = f"from {package} import {last}" if package else f"import {last}"
    return [
        source.replaced(node, begin if known_as == last else f"{begin} as {known_as}")
        for known_as, node in imports(source, module, name)
    ]


def _dissolved(source: Source, name: str) -> Change:
    """Have a file hold the members of its class by itself."""
    klass = next(n for n in source.tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    functions = [node for node in klass.body if isinstance(node, ast.FunctionDef)]
    dropped = {klass.lineno, *(f.decorator_list[0].lineno for f in functions)}
    kept = {
        line
        for node in (*source.all(ast.Constant), *source.all(ast.JoinedStr))
        if not _is_docstring(source.parent(node), source)
        for line in range(node.lineno + 1, (node.end_lineno or 0) + 1)
    }
    edits = [Edit(source.line(number), source.line(number + 1), "") for number in dropped]
    if ast.get_docstring(klass) is not None:
        text = textwrap.dedent(" " * 4 + source.of(klass.body[0]))
        first = source.line(source.tree.body[0].lineno)
        edits += [source.removed(klass.body[0]), Edit(first, first, f"{text}\n\n")]
        dropped |= {*range(klass.body[0].lineno, (klass.body[0].end_lineno or 0) + 1)}
    for number in range(klass.lineno, (klass.end_lineno or 0) + 1):
        start = source.line(number)
        if number not in kept | dropped and source.between(start, start + 4) == "    ":
            edits.append(Edit(start, start + 4, ""))
    for node in source.all(ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == name:
            edits.append(Edit(source.start(node), source.start(node) + len(f"{name}."), ""))
    names = sorted(_members(source, klass))
    for statement in filter(is_export, source.tree.body):  # somebody may go through them
        edits.append(source.replaced(statement, f"__all__ = {names}"))
    if sum(node.id == "lua" for node in source.all(ast.Name)) == 1:  # its base class
        imports = (node for node in source.tree.body if isinstance(node, ast.ImportFrom))
        edits += [source.removed(n) for n in imports if source.of(n) == _OF_LUA]
    return edits


def _is_docstring(node: ast.AST, source: Source) -> bool:
    function = source.parent(node) if isinstance(node, ast.Expr) else None
    return isinstance(function, ast.FunctionDef) and function.body[0] is node
