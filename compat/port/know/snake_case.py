"""Names of variables as Python writes them: ``trainData`` is ``train_data``.

Only what nobody outside the file sees: not what files share, classes, or Torch7's own words.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from compat.port.know.files import Class, File
from compat.port.know.inference import Inference
from compat.port.know.scopes import Variable
from compat.port.write.python_names import python_name

_TORCH7 = {"gradInput", "gradOutput", "gradWeight", "gradBias"}
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?:[a-rt-z]|s[a-z]))")
# Who has these finds global variables by their names.
_FINDERS = {"_G", "getfenv", "setfenv", "loadstring", "load", "module"}
_SHORTEST = 4  # kW, dW2 and their like are signs rather than words


def rename(file: File, types: Inference, shared: Collection[Variable]) -> None:
    """Give the variables of a file alone such names, where they mean nothing else there."""
    classes = {klass.variable for klass in types.classes.values()}
    scopes = [file.scopes.file, *file.scopes.of_function.values()]
    own = [variable for scope in scopes for variable in scope.variables]
    if not any(_FINDERS & one.scopes.globals.keys() for one in types.files):
        own += sorted(file.scopes.written_globals - set(shared), key=lambda variable: variable.id)
    for klass in types.classes.values():
        _have_own_name(klass, own, file)
    fixed = {variable.python for variable in own if variable in classes}
    taken = {v.python for v in own} | {v.id for v in file.scopes.globals.values()}
    given: dict[str, str] = {}
    for variable in own:
        old, name = variable.python, _in_words(variable.python)
        is_free = name not in taken and given.setdefault(name, old) == old
        if old not in fixed and is_free and python_name(name) == name:
            variable.python = name


def _have_own_name(klass: Class, own: list[Variable], file: File) -> None:
    """Call ``local Net = torch.class('Net')`` as the global variable, which is the same class."""
    variable, name = klass.variable, klass.name
    if variable not in own or not klass.is_torch or variable.id != name or variable.python == name:
        return
    used = file.scopes.globals.get(name)
    if used is not None and not used.writes and all(other.python != name for other in own):
        variable.python = name


def _in_words(name: str) -> str:
    """Return a name in small letters; the name itself if it has no words or begins with a
    capital.
    """
    if name in _TORCH7 or len(name) < _SHORTEST or not name.lstrip("_")[:1].islower():
        return name
    return _WORDS.sub("_", name).lower() if re.search("[a-z0-9][A-Z]", name) else name
