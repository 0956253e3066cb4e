"""Variables, packages and classes by their names in Python; constants and ``...``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from typing import Any

from compat.port.know.scopes import Variable
from compat.port.library import packages
from compat.port.library.lua_functions import FUNCTIONS
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft, expression
from compat.port.write.imports import bring
from compat.port.write.python_names import python_name


@expression(s.Constant)
def constant(node: s.Constant, _draft: Draft, _hint: str) -> Code:
    """Return a number, string, boolean or nil."""
    value = node.value
    if isinstance(value, str):
        return code.string(value)
    if isinstance(value, float):
        text = repr(value)
        return Code("math.inf" if text == "inf" else text)
    return Code(repr(value))


@expression(s.Paren)
def paren(node: s.Paren, draft: Draft, hint: str) -> Code:
    """Return one value."""
    return draft.value(node.inner, hint)


@expression(s.Vararg)
def vararg(_node: s.Vararg, draft: Draft, _hint: str) -> Code:
    """``...``, of a script its command line, of another file the name that it is loaded by."""
    if draft.scope.node is not None:
        return Code("*args", spread=None)
    if draft.file.is_script:
        return Code("*sys.argv[1:]", spread=None)
    loaded = (other.loads.items() for other in draft.types.files)
    names = [name for name, path in chain(*loaded) if path == draft.file.path]
    home = os.path.dirname(draft.types.files[0].path)
    own = os.path.relpath(draft.file.path, home).removesuffix(".lua").replace(os.sep, ".")
    return Code(f"*({next(iter(names), own)!r},)", spread=None)


@expression(s.Name)
def variable(node: s.Name, draft: Draft, _hint: str) -> Code:
    """Return a variable, or a package or class."""
    path = draft.types.dotted(node)
    if path is not None:
        return path_value(path, node, draft)
    made = Code(name_of(node, draft))
    return code.shifted(made, 1) if node.variable.zero_based else made


def path_value(path: str, node: s.Node, draft: Draft) -> Code:
    """Return a function or package as a value; one of Python's functions takes no more than it
    needs.
    """
    klass = draft.types.class_named(path)
    if klass is not None:
        return Code(class_name(klass, draft))
    made = packages.value(path, draft)
    signature, rule = draft.types.originals.get(node), FUNCTIONS.of_fixed(path)
    if signature is None or rule is None or made.text.startswith("lua."):
        return made
    taken = rule.text.count("{")
    if max(signature.root().calls, default=0) <= taken:
        return made
    names = ", ".join("xyz"[:taken])
    return Code(f"lambda {names}, *_: {made}({names})", code.LAMBDA)


def name_of(node: s.Name, draft: Draft) -> str:
    """Return a variable in Python."""
    own: Variable = node.variable
    if own.is_global:
        name = global_name(own)
        if not own.writes and not any(
            k.variable is None and k.name.split(".")[-1] == own.id
            for k in draft.types.classes.values()
        ):
            return str(packages.value(own.id, draft))
        return f"shared.{name}" if own in draft.shared else name
    if not own.reads and len(own.writes) == 1 and own.scope is not draft.file.scopes.file:
        return declared(node, draft)
    return f"{own.python}.value" if own.boxed else own.python


def declared(node: s.Name, draft: Draft) -> str:
    """Return a variable where it is declared: an underscore says that nobody reads it."""
    own: Variable = node.variable
    is_unused = not own.reads and len(own.writes) == 1
    is_inside = draft.scope is not draft.file.scopes.file
    plain = is_unused and is_inside and not own.python.startswith("_")
    return f"_{own.python}" if plain else own.python


def global_name(own: Variable) -> str:
    """Return a global variable of this file."""
    return python_name(own.python)


def box(names: Sequence[s.Name], draft: Draft) -> None:
    """After variables were declared: have each turn of the loop its own."""
    for name in names:
        if name.variable.boxed:
            python = name.variable.python
            draft.page.write(f"{python} = lua.Box({python})", "each turn has its own")


CLASS = "cls"  # what a class method is given


def class_name(klass: Any, draft: Draft) -> str:
    """Return what a class of the script's is called; one of another file is imported."""
    plain = python_name(klass.name.split(".")[-1])
    has_name = klass.variable is not None and not klass.variable.is_global
    name = str(klass.variable.python) if has_name else plain
    if klass.module == draft.types.file.module:
        return name
    # There it may be called ``layer``, as the classes of other files.
    file = next(file for file in draft.types.files if file.module == klass.module)
    bring(file, name, plain, draft)
    return plain
