"""What variables are that nothing is put into: parameters that no call gives, files."""

from __future__ import annotations

from collections.abc import Iterator

from compat.port.know.calls import OF_LISTS
from compat.port.know.scopes import Variable
from compat.port.know.shapes import constant, required
from compat.port.know.statements import Statements
from compat.port.know.types import Table, Type, tensor
from compat.port.library import results
from compat.port.read import syntax as s

Cause = tuple[Variable | None, str]
OF_PACKAGE: Cause = (None, "package")


class Guesses(Statements):
    """Guesses, where nothing is known."""

    def _guess(self) -> bool:
        """Take variables that nothing is known of for what only one thing has methods of."""
        found = self._guess_seen()
        nodes: list[tuple[s.Node, Type]] = []  # that are no variable or field
        for file in self.files:
            self.file = file
            for node in s.walk(file.block):
                for number in self._numbers(node):
                    own = self._stored(number)
                    if own is not None and not own.atoms:
                        self._take(own, Type("number"))
                        found = True
                for target, kind in self._owners(node):
                    own = self._stored(target)
                    if own is None:
                        nodes.append((target, kind))
                        continue
                    if self.type(target).atoms <= {"nil"}:
                        self._take(own, kind)
                        found = True
                    elif own.atoms - {"nil"} == kind.atoms:
                        self._guessed.add(own)  # what else it is given is the same
        if found or self._guess_loaded() or self._guess_layers() or self._guess_namesakes():
            return True
        guessed = [self._guess_node(node, kind) for node, kind in nodes]
        return any(guessed)

    def _guess_node(self, node: s.Node, kind: Type) -> bool:
        """Take an entry of what nobody knows, or what a call gives, for what has its method."""
        if self.type(node).atoms or self.dotted(node) is not None:
            return False
        self.guessed_nodes[node] = kind
        return True

    def _guess_seen(self) -> bool:
        """Take variables and fields for what a run saw of them elsewhere."""
        unknown: dict[Type, Type] = {}
        for file in self.files if self.facts else []:
            self.file = file
            for node in s.walk(file.block):
                facts = self.facts.get((file.path, node.start, node.end))
                own = self._stored(node) if facts else None
                if facts is None or own is None or own.atoms:
                    continue
                kind = self._believed(Type(), facts)
                if "table" in kind.atoms:
                    kind.table = self._seen_table(node, facts)
                unknown.setdefault(own, Type()).join(kind)
        found = {own: kind for own, kind in unknown.items() if kind.atoms - {"nil"}}
        for own, kind in found.items():
            self._take(own, kind)
        return bool(found)

    def _owners(self, node: s.Node) -> Iterator[tuple[s.Node, Type]]:
        """What only one kind of thing has the methods or fields of, and that kind."""
        target: s.Node | None = None
        kind: Type | None = None
        if isinstance(node, s.Call) and node.method is not None:
            target, kind = node.function, results.owner_of(node.method, len(node.arguments))
            if node.method in ("resizeAs", "expandAs", "viewAs") and len(node.arguments) == 1:
                yield node.arguments[0], tensor()
        elif isinstance(node, s.Call) and node.arguments:
            if self.dotted(node.function) in OF_LISTS:
                yield node.arguments[0], Type("table", table=Table(uses={"ipairs"}))
        elif isinstance(node, s.Index) and isinstance(node.key, s.Constant):
            target, kind = node.object, results.owner_of_field(node.key.value)
            is_given = isinstance(target, s.Name) and target.variable.is_parameter
            if node.key.value == "new" and is_given:
                kind = tensor()
        if target is not None and kind is not None:
            yield target, kind

    def _numbers(self, node: s.Node) -> Iterator[s.Node]:
        """What stands where Lua and Torch7 take numbers only."""
        if isinstance(node, s.ForRange):
            yield from filter(None, (node.first, node.last, node.step))
        elif isinstance(node, s.Binary) and node.operator in ("<", ">", "<=", ">="):
            if self.type(node.left).is_number:
                yield node.right
            if self.type(node.right).is_number:
                yield node.left
        elif isinstance(node, s.Binary) and node.operator in ("==", "~="):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, s.Constant) and constant(one.value).is_number:
                    yield other
        elif isinstance(node, s.Call) and node.method is None:
            path = self.dotted(node.function) or ""
            if path in results.OF_NUMBERS or (
                path.startswith("math.") and path not in ("math.floor", "math.ceil")
            ):
                yield from node.arguments
            elif path == "image.crop":
                yield from node.arguments[1:] if len(node.arguments) == 5 else ()

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
                known_classes = (self.classes.get(name) for name in guess.classes)
                if any(klass and klass.is_layer(self.classes) for klass in known_classes):
                    guess.atoms = guess.atoms | {"module"}  # one layer is seldom alone
                self._take(kind, guess)
                self.namesakes.add(variable)
                found = True
        return found

    def cause(self, node: s.Node) -> tuple[s.Node, Cause]:
        """Why what an expression is, is not known: the part of the program, and a key for it.

        A variable is followed to what is put into it; of lists all entries are one.
        """
        left, seen, found = [node], set(), None
        while left:
            part = left.pop()
            name = next((n for n in s.walk(part) if isinstance(n, s.Name)), None)
            variable = None if name is None else name.variable
            path = required(part) or self.dotted(part)
            if path is not None and (part is not name or path.split(".")[0] in self.absent):
                return part, OF_PACKAGE  # which has its own mark
            inner: s.Node | None = None
            if isinstance(part, s.Paren):
                inner = part.inner
            elif isinstance(part, s.Index):
                inner = part.object
            elif isinstance(part, s.Call):
                inner = part.function
            elif isinstance(part, s.Binary):
                unknown = [n for n in (part.left, part.right) if not self.type(n).atoms]
                inner = unknown[0] if unknown else None
            if isinstance(part, s.Name) and part.variable not in seen:
                seen.add(part.variable)
                left += self.sources.get(part.variable, [])
            if inner is not None and (not self.type(inner).atoms or self.dotted(inner)):
                left.append(inner)
                continue
            word = s.constant(part.key) if isinstance(part, s.Index) else None
            kind = type(part).__name__ if not isinstance(word, str) else word
            key: Cause = (variable, kind)
            if key in self.told or found is None:
                found = part, key
        assert found is not None
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
        entries: set[Type] = set()  # their methods, if they have any, tell first what they are
        for file in self.files:
            self.file = file
            for node in s.walk(file.block):
                if not isinstance(node, s.Index):
                    continue
                kind = self._stored(node.object)
                if kind is None or kind.classes != {"loaded"} or kind in entries:
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
                    entries.add(inner)
                    found = True
        return found
