"""Names of variables in Python: ``trainData`` is ``train_data``.

What files share, classes and Torch7's own words keep theirs.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from compat.port.know.files import Class, File
from compat.port.know.inference import Inference
from compat.port.know.scopes import EVALUATE, FunctionScope, Variable
from compat.port.write.python_names import python_name

_TORCH7 = {"gradInput", "gradOutput", "gradWeight", "gradBias"}
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?:[a-rt-z]|s[a-z]))")
# Who has these finds global variables by their names.
_FINDERS = {"_G", "getfenv", "setfenv", "loadstring", EVALUATE, "load", "module"}
_SHORTEST = 4  # kW, dW2 and their like are signs rather than words


def name_variables(file: File, types: Inference, shared: Collection[Variable]) -> None:
    """Give the variables of a file names that mean nothing else where they are used."""
    _Naming(file, types, shared).name(file.scopes.file)


class _Naming:
    def __init__(self, file: File, types: Inference, shared: Collection[Variable]) -> None:
        self._scopes, self._shared = file.scopes, shared
        self._classes = {klass.variable: klass for klass in types.classes.values()}
        own = file.scopes.written_globals - set(shared)
        everywhere = [file.scopes.file, *file.scopes.of_function.values()]
        self._taken = {v.id for scope in everywhere for v in (*scope.variables, *scope.used)}
        open_ = [one for one in everywhere if one.node is not None and one.node.is_vararg]
        self._beside_args = {v for scope in open_ for v in (*scope.variables, *scope.used)}
        if not any(_FINDERS & one.scopes.globals.keys() for one in types.files):
            for variable in sorted(own, key=lambda variable: variable.id):
                variable.python = self._preferred(variable)
                self._taken.add(variable.python)

    def name(self, scope: FunctionScope) -> None:
        """Name the variables of a function, and of those in it."""
        outer = {v.python: v for v in scope.used if v not in self._shared}
        given: list[Variable] = []
        for chain in _chains(scope.variables):
            plain = python_name(self._preferred(chain[-1]))
            if plain == "_" and any(variable.reads for variable in chain):
                plain = "__"  # _ is what nobody reads
            name, number = plain, 1
            while (name in outer and not self._is_class(chain[0], outer[name])) or any(
                other.python == name and not all(_may_share(other, v) for v in chain)
                for other in given
            ):
                number += 1
                name = f"{plain}_{number}"
            for variable in chain:
                variable.python = name
            given += chain
        for inner in self._scopes.of_function.values():
            if inner.parent is scope:
                self.name(inner)

    def _preferred(self, variable: Variable) -> str:
        """Return the name in small letters; the name itself if it is short or begins with a
        capital. A class has capitals: ``local layer = torch.class('nn.Gate')`` is ``Gate``, and
        ``local data_set = {}``, which has methods, ``DataSet``.
        """
        name = variable.id
        klass: Class | None = self._classes.get(variable)
        if klass is not None and name[:1].islower() and not variable.is_global:
            own = klass.name.split(".")[-1] if klass.is_torch else ""
            words = own if own[:1].isupper() else name
            wanted = "".join(word[:1].upper() + word[1:] for word in words.split("_"))
            has_methods = any(define.is_method for define in klass.methods.values())
            is_free = not {wanted, python_name(wanted)} & self._taken
            return python_name(wanted) if has_methods and is_free else name
        if name == "args" and variable in self._beside_args:
            return "args_"  # *args are the arguments of a function that sees it
        is_word = len(name) >= _SHORTEST and name.lstrip("_")[:1].islower()
        if not is_word or name in _TORCH7 or variable in self._classes:
            return name
        words = _WORDS.sub("_", name).lower() if re.search("[a-z0-9][A-Z]", name) else name
        return name if words in self._taken or python_name(words) != words else words

    def _is_class(self, variable: Variable, outer: Variable) -> bool:
        """Return whether both are a class: ``local Net = torch.class('Net')``."""
        klass = self._classes.get(variable)
        return klass is not None and klass.is_torch and klass.name == outer.id and not outer.writes


def _chains(variables: list[Variable]) -> list[list[Variable]]:
    """Return the variables of a function; together those of one name and block, each of which takes
    the place of the one before.
    """
    found: list[list[Variable]] = []
    last: dict[tuple[str, int, int], list[Variable]] = {}
    for variable in variables:
        place = variable.id, variable.end, variable.loops
        before = last.get(place)
        if before is not None and not before[-1].captured:
            before.append(variable)
        else:
            last[place] = [variable]
            found.append(last[place])
    return found


def _may_share(one: Variable, other: Variable) -> bool:
    """Return whether two variables of a function may have one name: nobody needs the first any
    more.
    """
    earlier, later = sorted((one, other), key=lambda variable: variable.declared_at)
    assert later.declared is not None
    if earlier.captured or later.captured:
        return False
    if earlier.end <= later.declared.start:
        return True
    last = max((n.end for n, _ in (*earlier.reads, *earlier.writes)), default=0)
    inner = later.turns[len(earlier.turns) :]  # what is used in them is needed in the next turn
    return last <= (inner[0] if inner else later.declared.start + 1)
