"""What variables are that nothing is put into: parameters that no call gives, files."""

from __future__ import annotations

from compat.port import results
from compat.port import syntax as s
from compat.port.inference.statements import Statements
from compat.port.types import Table, Type, tensor


class Guesses(Statements):
    """Guesses, where nothing is known."""

    def _guess(self) -> bool:
        """Take variables that nothing is known of for what only one thing has methods of."""
        found = False
        for file in self.files:
            self.file = file
            for node in s.walk(file.block):
                if isinstance(node, s.Call) and node.method is not None:
                    target = node.function
                    kind = results.owner_of(node.method, len(node.arguments))
                elif isinstance(node, s.Index) and isinstance(node.key, s.Constant):
                    target, kind = node.object, results.owner_of_field(node.key.value)
                else:
                    continue
                own = self._stored(target) if kind is not None else None
                if kind is not None and own is not None and not self.type(target).atoms:
                    self._take(own, kind)
                    found = True
        return found or self._guess_loaded() or self._guess_layers() or self._guess_namesakes()

    def _guess_namesakes(self) -> bool:
        """Take parameters that no call gives for what all other variables of their name are."""
        known: dict[str, list[Type]] = {}
        for variable, kind in self.variables.items():
            if kind.is_known and len(kind.atoms - {"nil"}) == 1:
                known.setdefault(variable.id, []).append(kind)
        found = False
        for variable, kind in list(self.variables.items()):
            others = known.get(variable.id, [])
            if kind.atoms or not variable.is_parameter or not others:
                continue
            atoms = {frozenset(other.atoms - {"nil"}) for other in others}
            shapes = {id(other.shape) for other in others}
            if len(atoms) == 1 and (len(shapes) == 1 or not others[0].atoms & {"table", "object"}):
                guess = Type(*others[0].atoms - {"nil"}, table=others[0].table)
                for other in others:
                    guess.dims |= other.dims
                    guess.dtypes |= other.dtypes
                    guess.classes |= other.classes
                self._take(kind, guess)
                self.namesakes.add(variable)
                found = True
        return found

    def _take(self, unknown: Type, guess: Type) -> None:
        unknown.join(guess)
        self._guessed.add(unknown)

    def _guess_layers(self) -> bool:
        """Take what layers of the script's are given for tensors."""
        found = False
        for klass in self.classes.values():
            for name in ("updateOutput", "updateGradInput", "accGradParameters", "forward"):
                define = klass.methods.get(name)
                if define is None or not klass.parent:
                    continue
                for parameter in define.function.parameters[1:3]:
                    kind = self.of(parameter.variable)
                    if not kind.atoms:
                        self._take(kind, tensor())
                        found = True
        return found

    def _guess_loaded(self) -> bool:
        """Take what is loaded from files, and read by name, for tables."""
        found = False
        tables: dict[Type, Table] = {}
        for file in self.files:
            self.file = file
            for node in s.walk(file.block):
                if not isinstance(node, s.Index):
                    continue
                kind = self._stored(node.object)
                if kind is None or kind.classes != {"loaded"}:
                    continue
                if not kind.atoms:
                    tables[kind] = Table(uses={"loaded"})
                    self._take(kind, Type("table", table=tables[kind]))
                    found = True
                if kind in tables:
                    is_word = isinstance(node.key, s.Constant) and isinstance(node.key.value, str)
                    tables[kind].root().keys.add("name" if is_word else "list")
                inner = self._stored(node)
                if inner is not None and not inner.atoms and not inner.classes:
                    inner.classes.add("loaded")
                    found = True
        return found
