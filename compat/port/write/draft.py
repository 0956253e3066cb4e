"""A file that is being written: what all its expressions and statements share.

Each kind of syntax has a function that writes it, in the files beside this one; ``expression`` and
``statement`` say which. A draft calls them by the node's class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from compat.port.know.files import Class, File
from compat.port.know.form.shapes import is_open, tested_later
from compat.port.know.inference import Inference
from compat.port.know.questions.flattened_again import flattened_again
from compat.port.know.questions.kept_results import kept_between_steps
from compat.port.know.questions.loop_variables import box
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.know.types import Kind
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.page import Page

NONE = Code("None")
Writer = TypeVar("Writer", bound=Callable[..., Any])
# What functions are called that are given to others, by what takes them.
_HINTS = {
    "apply": ("visit",),
    "addjob": ("job", "done"),
    "threads": ("start",),
    "pcall": ("attempt",),
    "xpcall": ("attempt", "handler"),
}
_WRITERS: dict[type[s.Node], Callable[..., Any]] = {}


def expression(kind: type[s.Node]) -> Callable[[Writer], Writer]:
    """Have a function ``(node, draft, hint)`` give the code of a kind of expression.

    ``hint`` is a name for a function that needs one.
    """
    return statement(kind)


def statement(kind: type[s.Node]) -> Callable[[Writer], Writer]:
    """Have a function ``(node, draft)`` write a kind of statement."""

    def register(function: Writer) -> Writer:
        _WRITERS[kind] = function
        return function

    return register


class Draft:
    """A file, what is known of it, the page that it is written on, and where that is.

    Attributes:
        shared: the global variables that it has in common with other files.
        hoisted: statements that are written elsewhere.
        loops: the labels of the loops around: what ``until`` asks at their ends, "break" behind.
        last_labels: those that the function ends with. ``behind``: what follows a statement.
        klass: the class whose methods are being written.
        result_count: how many results the function gives; ``gives_any``: any number.
        asked: the call whose results nobody takes.
        fitting: entries that may be numbers, for what takes tensors without dimensions alike.
        is_prefix: what is read next has something behind it.
        taken: the names of the file's own variables.
        modules: imports of other files at the top; ``placed`` are where Lua loads the file.
        names: all names that they bring. ``loaded``: files that are loaded for what they do.
        functions: the names of functions that expressions have become, by where they are.
        exports: what other files import, if it returns something.
        in_lua: functions that have no draft, and why.
        patches: functions that packages get, which call them as they like.
        optional: calls that a run saw give nothing where Python gives None.
        hints: names for functions that are arguments. ``unasked``: functions whose results nobody
            looks at.
    """

    def __init__(self, file: File, types: Inference, shared: set[Variable]) -> None:
        self.file, self.types, self.shared = file, types, shared
        self.kept = kept_between_steps(file, types)
        self.tested_later = tested_later(file.block)
        self.flattened_again = flattened_again(file, types)
        box(file, types)
        types.file = file
        self.page = Page(file.source)
        self.scope: FunctionScope = file.scopes.file
        self.functions: dict[FunctionScope, set[str]] = {}
        self.hoisted: set[s.Statement] = set()
        self.loops: list[dict[str, str | s.Node | None]] = []
        self.last_labels: list[str] = []
        self.behind: list[s.Statement] = []
        self.klass: Class | None = None
        self.asked: s.Node | None = None
        self.fitting: set[s.Node] = set()
        self.result_count = 0
        self.gives_any = self.is_prefix = False
        self.is_seeded = self.has_nn = self.may_have_nn = False
        self.missing: dict[Class, set[str]] = {}  # fields that classes of the file begin as None
        self.modules: set[str] = set()
        self.taken = _names(file) - {v.python for v in types.aliases}
        self.placed: set[str] = set()
        self.names: dict[str, str] = {}
        self.loaded: set[str] = set()
        self.exports: str | None = None
        self.lacking: set[Variable] = set()  # variables of fields that may be missing
        self.in_lua: dict[s.Function, str] = {}
        self.patches: set[s.Function] = set()
        self.optional: set[s.Node] = set()
        self.hints: dict[s.Node, str] = {}
        self.unasked: set[s.Node] = set()

    @property
    def is_constructor(self) -> bool:
        """Whether the function is the constructor of a class, of which Python takes no results."""
        init = self.klass.methods.get("__init") if self.klass is not None else None
        return init is not None and self.scope is self.file.scopes.of_function[init.function]

    # Statements

    def body(self, block: s.Block) -> None:
        """Write the statements of a block."""
        for place, node in enumerate(block.statements, 1):
            if node not in self.hoisted:
                self.behind = block.statements[place:]
                with self.page.statement(node):
                    if node in self.kept:
                        kept = f"{self.kept[node]} is used after a pass that overwrites it"
                        self.page.mark(f"{kept} in Torch7", "outputs")
                    _WRITERS[type(node)](node, self)
        self.page.comments(block.ending)

    def visible(self) -> set[Variable]:
        """Return the local variables of the functions around."""
        found: set[Variable] = set()
        scope: FunctionScope | None = self.scope
        while scope is not None:
            found |= set(scope.variables)
            scope = scope.parent
        return found

    def unknown(self, node: s.Node, anchor: str) -> None:
        """Mark that what an expression is, is not known: once for each cause of that.

        A variable is marked where it is declared, anything else where it is met first.
        """
        cause, key = self.types.cause(node)
        if key in self.types.told:
            return
        self.types.told.add(key)
        declared = cause.variable.declared if isinstance(cause, s.Name) else None
        reason = f"what {s.describe(cause)} is, is not known"
        self.page.mark(reason, anchor, None if declared is None else declared.line)

    def tell(self) -> None:
        """Mark a statement that uses the text of an error."""
        self.page.mark("the text of this error is Python's", "errors")

    # Expressions

    def any(self, node: s.Node, hint: str = "f") -> Code:
        """Return an expression, whatever it stands for."""
        made: Code = _WRITERS[type(node)](node, self, hint)
        return made

    def how(self, node: s.Node) -> str:
        """Return how the type of an expression is known."""
        return "run" if self.types.was_seen(node) else "code"

    def value(self, node: s.Node, hint: str = "f") -> Code:
        """Return an expression as one value."""
        made = self.any(node, hint)
        if made.spread == 1:
            return Code(made.text, made.level)
        if made.text.startswith("*"):
            return first_of(made)
        if made.spread is None:
            return code.call("lua.first", made)
        if made.spread == 0:
            if made.every:
                return Code(f"lua.first({made.every})")
            is_always = isinstance(node, s.Call) and self.types.known_count(node) == 0
            return made if is_always else code.call("lua.first", made)
        return Code(f"{made.atom}[0]")

    def is_open(self, nodes: list[s.Node]) -> bool:
        """Return whether the last of these stands for more or fewer values than one."""
        return bool(nodes) and is_open(nodes[-1]) and self.types.count(nodes[-1]) != 1

    def prefix(self, node: s.Node) -> Code:
        """Return a value that something follows or is computed of: of nil Lua would fail, too."""
        if isinstance(node, s.Index):
            self.is_prefix = True
        return self.value(node)

    def values(self, nodes: list[s.Node], hint: str = "f") -> list[Code]:
        """Return a list of expressions, of which the last may be several values (with a star)."""
        made = [self.value(n, hint) for n in nodes[:-1]]
        if nodes:
            last = nodes[-1]
            found = self.any(last, hint) if is_open(last) else self.value(last, hint)
            if last in self.optional and found.spread == 1:
                found = replace(found, every=f"lua.given({found})")
            made += self.spread(found) if is_open(last) else [found]
        return made

    def arguments(self, node: s.Call) -> list[Code]:
        """Return the arguments of a call."""
        path = node.method or self.types.dotted(node.function) or ""
        hints = ("feval",) if path.startswith("optim.") else _HINTS.get(path, ())
        functions = [n for n in node.arguments if isinstance(n, s.Function)]
        self.hints.update(zip(functions, hints, strict=False))
        is_layer = node.method == "apply" and self.types.type(node.function).only(Kind.MODULE)
        is_own = "apply" in self.types.clues.own_methods  # the program's, which looks at results
        is_own |= any(path.endswith(".apply") for path in self.types.replaced)
        if is_layer and not is_own:
            self.unasked.update(functions)
        return self.values(node.arguments)

    def spread(self, made: Code) -> list[Code]:
        """Return all values of an expression, to stand in an argument list."""
        if made.tells:
            self.tell()
        if made.every.startswith("("):
            return [Code(made.every[1:-1])]
        if made.every:
            return [Code(f"*{made.every}")]
        if made.spread == 1:
            return [made]
        if made.text.startswith("*"):
            return [made]
        if made.spread is None:
            return [Code(f"*lua.values({made})")]
        return [Code(f"*{made.at(code.UNARY)}" if made.spread else f"*({made} or ())")]


def _names(file: File) -> set[str]:
    """Return the names that a file has for something of its own."""
    scopes = [file.scopes.file, *file.scopes.of_function.values()]
    own = {variable.python for scope in scopes for variable in scope.variables}
    return own | {variable.id for variable in file.scopes.globals.values() if variable.writes}


def first_of(made: Code) -> Code:
    """Return the first of several values, ``*values``; None if there is none."""
    inner = made.text[1:]
    if inner.endswith(",)"):
        return Code(inner[1:-2])
    return code.call("lua.first", inner) if inner == "args" else Code(f"next(iter({inner}), None)")
