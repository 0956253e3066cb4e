"""The moment at which files are loaded: a file that only defines may be imported at the top."""

from __future__ import annotations

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.know.scopes import LOADERS, Variable
from compat.port.read import syntax as s

# Functions that change nothing that others see but for what they define.
_DEFINING = {*LOADERS, "setmetatable", "torch.class", "class", "class.new", "classic.class"}


def only_defines(file: File, types: Inference) -> bool:
    """Return whether a file may be loaded at any time, with all that it loads.

    It reads no variable that another file sets, calls nothing, and sets no global variable that
    another one sets, too.
    """
    return _Look(types).at(file)


class _Look:
    def __init__(self, types: Inference) -> None:
        self.types = types
        self.files = {file.path: file for file in types.files}
        self.seen: set[str] = set()
        self.file = types.files[0]

    def at(self, file: File) -> bool:
        if file.path in self.seen:  # in a circle the first tells
            return True
        self.seen.add(file.path)
        before, self.file = self.file, file
        found = all(map(self._defines, file.block.statements))
        self.file = before
        return found

    def _defines(self, node: s.Statement) -> bool:
        if isinstance(node, s.Define):
            return self._may_set(node.target)
        if isinstance(node, s.Assign):
            is_path = any(self.types.dotted(t) == "package.path" for t in node.targets)
            may = all(map(self._may_set, node.targets))
            return is_path or (may and self._harmless(node.values))
        if isinstance(node, (s.Local, s.Return)):
            return self._harmless(node.values)
        if isinstance(node, s.Do):
            return self._harmless([node.call])
        if isinstance(node, s.Scope):
            return all(map(self._defines, node.body.statements))
        return False

    def _may_set(self, target: s.Node) -> bool:
        if isinstance(target, s.Name):
            return self._is_own(target.variable)
        return self._harmless(target.children())

    def _is_own(self, variable: Variable) -> bool:
        """Return whether no other file sets a variable."""
        return not variable.is_global or all(
            variable not in other.scopes.written_globals
            for other in self.types.files
            if other is not self.file and other.shares_with(self.file)
        )

    def _harmless(self, nodes: list[s.Node]) -> bool:
        return all(map(self._is_harmless, nodes))

    def _is_harmless(self, node: s.Node) -> bool:
        if isinstance(node, (s.Constant, s.Function)):
            return True
        if isinstance(node, s.Name):
            return self._is_own(node.variable)
        if isinstance(node, s.Call):
            return self._is_harmless_call(node) and self._harmless(node.arguments)
        plain = (s.Table, s.Field, s.Index, s.Binary, s.Unary)
        return isinstance(node, plain) and self._harmless(node.children())

    def _is_harmless_call(self, node: s.Call) -> bool:
        how = self.types.dotted(node.function) if node.method is None else None
        name = s.constant(node.arguments[-1]) if node.arguments else None
        if how == "pcall":
            return len(node.arguments) == 2 and self.types.dotted(node.arguments[0]) == "require"
        if how in LOADERS:
            other = self.files.get(self.file.loads.get(str(name), ""))
            if other is not None:
                return self.at(other)
            return how == "require" and isinstance(name, str)
        if how == "torch.class" and node.arguments:  # which may put it into a table of the program
            word = str(s.constant(node.arguments[0])).split(".")[0]
            place = self.file.scopes.globals.get(word)
            return place is None or self._is_own(place)
        return how in _DEFINING
