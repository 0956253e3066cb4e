"""What statements put into variables, fields and results."""

from __future__ import annotations

from compat.port.know.calls import Calls
from compat.port.know.entries import any_entry
from compat.port.know.shapes import captures, is_open, may_end
from compat.port.know.types import Signature, Type
from compat.port.read import syntax as s


class Statements(Calls):
    """What statements do with types."""

    _returns: list[tuple[Signature, set[int]]]  # of the functions around

    def _block(self, block: s.Block) -> None:
        for statement in block.statements:
            self._statement(statement)

    def _statement(self, node: s.Statement) -> None:
        if isinstance(node, s.Local):
            for name, kind in zip(
                node.names, self._spread(node.values, len(node.names)), strict=False
            ):
                self._join(self.of(name.variable), kind)
        elif isinstance(node, s.Assign):
            kinds = self._spread(node.values, len(node.targets))
            for target, kind in zip(node.targets, kinds, strict=False):
                self._assign(target, kind)
        elif isinstance(node, s.Define):
            kind = Type("function", function=self.signature(node.function))
            self._assign(node.target, kind)
        elif isinstance(node, s.Do):
            self.all_results(node.call)
        elif isinstance(node, s.Return):
            self._return(node)
        elif isinstance(node, s.ForRange):
            first = self.type(node.first)
            self.type(node.last)
            step = self.type(node.step) if node.step is not None else Type("int")
            is_int = first.is_int and step.is_int
            self._join(self.of(node.name.variable), Type("int" if is_int else "number"))
        elif isinstance(node, s.ForEach):
            kinds = self.loop_types(node)
            for name, kind in zip(node.names, kinds, strict=False):
                self._join(self.of(name.variable), kind)
        for child in node.children():
            self._inside(child)

    def _inside(self, node: s.Node) -> None:
        """Blocks and functions below an expression or statement."""
        if isinstance(node, s.Block):
            self._block(node)
        elif isinstance(node, s.Function):
            self._body(node)
        else:
            for child in node.children():
                self._inside(child)

    def _body(self, node: s.Function) -> None:
        signature = self.signature(node).root()
        for i, name in enumerate(node.parameters):
            given = signature.parameter(i)
            if given.atoms or given.open:  # else no call in the program gives it
                self._join(self.of(name.variable), given)
        counts: set[int] = set()
        self._returns.append((signature, counts))
        self._block(node.body)
        self._returns.pop()
        if may_end(node.body) or not counts:
            counts.add(0)
        self.changed |= counts != signature.by_node.get(node)
        signature.by_node[node] = counts
        if -1 not in signature.counts:
            for i in range(min(signature.counts), len(signature.results)):
                self._join(signature.result(i), Type("nil"))

    def _return(self, node: s.Return) -> None:
        signature, counts = self._returns[-1][0].root(), self._returns[-1][1]
        is_own = False
        kinds = [self.type(v) for v in node.values[:-1]]
        count: int | None = len(node.values)
        if node.values:
            last = node.values[-1]
            kinds += self.all_results(last)
            if is_open(last):
                if signature.spreads:
                    self.spread_out(last)
                is_own = isinstance(last, s.Call) and self.called(last) is signature
                extra = self.count(last)
                count = None if extra is None else len(node.values) - 1 + extra
        if not is_own:  # else it gives what the others give
            counts.add(-1 if count is None else count)
        for i, kind in enumerate(kinds):
            self._join(signature.result(i), kind)

    def _spread(self, values: list[s.Node], count: int) -> list[Type]:
        """The types of so many values of a list of expressions."""
        kinds = [self.type(v) for v in values[:-1]]
        if values:
            last = values[-1]
            kinds += self.all_results(last) if is_open(last) else [self.type(last)]
            first = len(values) - 1
            if not kinds[first].atoms:  # a run may have seen it
                seen = self.type(last)
                kinds[first] = seen if seen.atoms - {"nil"} else kinds[first]
        is_known = not values or not is_open(values[-1])
        if self._is_settled and not is_known:
            is_known = self.count(values[-1]) is not None
        missing = count - len(kinds)
        return kinds + [Type("nil") if is_known else Type() for _ in range(missing)]

    def _assign(self, target: s.Node, kind: Type) -> None:
        if isinstance(target, s.Name):
            self._join(self.of(target.variable), kind)
            return
        assert isinstance(target, s.Index)
        owner = self.type(target.object)
        if owner.shape is not None:
            self._store(owner.shape, target.key, kind)

    def loop_types(self, node: s.ForEach) -> list[Type]:
        """The types of the names of ``for … in``."""
        call = node.values[0]
        if isinstance(call, s.Call) and len(node.values) == 1:
            path = self.dotted(call.function) if call.method is None else None
            if path in ("ipairs", "pairs") and call.arguments:
                kind = self.type(call.arguments[0])
                shape = kind.shape
                if kind.only("sizes"):
                    return [Type("int"), Type("int")]
                if shape is None:
                    return [Type("int") if path == "ipairs" else Type(), Type()]
                shape.uses.add(path)
                if path == "ipairs":
                    return [Type("int"), shape.items]
                key, value = Type(), Type()
                key.join(shape.key)
                value.join(any_entry(shape))
                if shape.names:
                    key.join(Type("string"))
                if "next" in shape.keys:
                    key.join(Type("int"))
                return [key, value]
            if path == "string.gmatch" or call.method == "gmatch":
                is_known = isinstance(s.constant(call.arguments[-1]), str)
                count = captures(call.arguments[-1]) if is_known else len(node.names)
                return [Type("string" if i < count else "nil") for i in range(len(node.names))]
            if call.method == "lines" or path == "io.lines":
                return [Type("string")]
            if path in ("paths.files", "paths.iterfiles", "paths.iterdirs", "paths.dir", "lfs.dir"):
                return [Type("string")]
        kinds = self._spread(node.values, 3)
        step = kinds[0].signature
        if step is not None:
            found = self._call(step, kinds[1:3])
            names = found[: len(node.names)] + [Type() for _ in node.names[len(found) :]]
            return [kind.without("nil") if i == 0 else kind for i, kind in enumerate(names)]
        return [Type() for _ in node.names]
