"""The types of what calls give."""

from __future__ import annotations

from compat.port.know.files import Class
from compat.port.know.scopes import LOADERS
from compat.port.know.shapes import captures, constant, is_open
from compat.port.know.types import Signature, Table, Type, tensor
from compat.port.know.values import Values
from compat.port.library import results
from compat.port.lua.lapp import declared
from compat.port.read import syntax as s

_COUNTING = {"print", "select", "io.write", "pcall"}
OF_LISTS = {"ipairs", "table.concat", "table.sort", "unpack", "table.remove", "table.getn"}


class Calls(Values):
    """What calls give, and what they give the functions that are called."""

    _command_line: Table | None

    def all_results(self, node: s.Node) -> list[Type]:
        """The types of all values of a call or ``...``."""
        if isinstance(node, s.Call):
            return self.results(node)
        if isinstance(node, s.Vararg):
            return [Type()]
        return [self.type(node)]

    def results(self, node: s.Call) -> list[Type]:
        """The types of what a call gives; one at least, which is ``nil`` where there is none."""
        arguments = [self.type(a) for a in node.arguments]
        if node.arguments and is_open(node.arguments[-1]) and self.takes_all(node):
            self.spread_out(node.arguments[-1])
        if node.method is None:
            path = self.dotted(node.function)
            if path is not None:
                klass = self.classes.get(path)
                if klass is not None:
                    return self._construct(klass, arguments)
                known = self._library(path, node, arguments)
                if known is not None:
                    return known
            callee = self.type(node.function)
            event = None if callee.shape is None else callee.shape.event("__call").signature
            event = event or self._own_event("__call", callee)
            if event is not None and callee.signature is None:
                return self._call(event, [callee, *arguments])
            if "class" in callee.atoms and callee.shape is not None and callee.shape.klass:
                return self._construct(callee.shape.klass, arguments)
            if callee.atoms - {"nil"} == {"module"}:
                return results.of_object(callee, len(arguments))
            klass = self._seen_class(self.facts.get((self.file.path, node.start, node.end), []))
            if callee.signature is None and klass is not None:
                return self._construct(klass, arguments)
            return self._call(callee.signature, self._given(node, callee.signature, arguments))
        owner = self.owner(node.function)
        if node.method == "option" and owner.only("module") and len(node.arguments) > 1:
            self._option(node)
        if node.method == "parse" and owner.only("module"):
            return [Type("options", table=self._options(node))]
        if owner.is_tensor or owner.only("mask"):
            found = results.tensor_method(owner, node, arguments)
            given = {"apply": 1, "map": 2, "map2": 3}.get(node.method)
            if given and arguments and arguments[-1].signature is not None:
                arguments[-1].signature.calls.add(given)
            if node.method in ("resize", "resizeAs", "set"):
                self._reshaped(node.function, found[0])
            return found
        if owner.is_string:
            return self._library(f"string.{node.method}", node, [owner, *arguments]) or [Type()]
        if owner.only("module"):
            if node.method == "addjob":
                for kind in arguments:
                    if kind.signature is not None:
                        kind.signature.is_job = True
            if node.method in ("apply", "replace") and arguments and arguments[0].signature:
                self._join(arguments[0].signature.parameter(0), Type("module"))
                arguments[0].signature.calls.add(1)
            return results.module_method(owner, node.method, arguments)
        if owner.only("sizes"):
            sizes = Type("table", table=Table(keys={"list"}, items=Type("int")))
            return [sizes if node.method == "totable" else Type("int")]
        if owner.only("storage") and node.method == "size":
            return [Type("int")]
        if owner.only("file"):
            return results.file_method(node)
        if owner.shape is not None:
            klass = owner.shape.klass
            inherited = klass.method(node.method, self.classes) if klass is not None else None
            if inherited is not None:
                signature = self.signature(inherited.function)
                return self._call(signature, [owner, *arguments])
            kind = self.entry(owner, owner.shape, s.Constant(node.method))
            return self._call(kind.signature, [owner, *arguments])
        return [Type()]

    def _own_event(self, event: str, kind: Type) -> Signature | None:
        """The method that a class of the script's has for an event."""
        klass = kind.shape.klass if kind.only("object") and kind.shape is not None else None
        define = None if klass is None else klass.method(event, self.classes)
        return None if define is None else self.signature(define.function).root()

    def _given(
        self, node: s.Call, signature: Signature | None, arguments: list[Type]
    ) -> list[Type]:
        """The arguments with all results of the last, where functions take different numbers."""
        last = node.arguments[-1] if node.arguments else None
        taken = {len(f.parameters) for f in signature.nodes} if signature is not None else set()
        if last is None or not is_open(last) or len(taken) < 2 or not self.count(last):
            return arguments
        return [*arguments[:-1], *self.all_results(last)[: self.count(last)]]

    def spread_out(self, node: s.Node) -> None:
        """Note that all results of a call count, however many there are."""
        if not isinstance(node, s.Call):
            return
        signature = self.called(node)
        path = self.dotted(node.function) if node.method is None else None
        if path in ("pcall", "xpcall") and node.arguments:
            signature = self.type(node.arguments[0]).signature
        if signature is not None and not signature.spreads:
            signature.spreads = self.changed = True

    def called(self, node: s.Call) -> Signature | None:
        """What is known of the function that a call calls."""
        if node.method is None:
            return self.type(node.function).signature
        shape = self.type(node.function).shape
        if shape is None:
            return None
        define = shape.klass.method(node.method, self.classes) if shape.klass is not None else None
        if define is not None:
            return self.signature(define.function).root()
        return shape.name(node.method).signature

    def takes_all(self, node: s.Call) -> bool:
        """Whether it matters to a function how many arguments it gets."""
        path = self.dotted(node.function) if node.method is None else None
        if path is not None:
            return path in _COUNTING
        signature = self.called(node)
        return signature is not None and any(f.is_vararg for f in signature.nodes)

    def _reshaped(self, node: s.Node, new: Type) -> None:
        """Note that a variable's tensor has another number of dimensions from here on."""
        own = self._stored(node)
        if own is not None and own.is_tensor and new.is_tensor:
            self._join(own, new)

    def _lapp(self, text: s.Node) -> Type:
        """The options that a text for lapp declares."""
        if self._command_line is None:
            self._command_line = Table(uses={"options"})
            if isinstance(text, s.Constant) and isinstance(text.value, str):
                for option in [o for found in declared(text.value) for o in found]:
                    kind = Type("number") if option.default is None else constant(option.default)
                    self._command_line.name(option.name).join(kind)
                    self._command_line.always.add(option.name)
        return Type("options", table=self._command_line)

    def _options(self, node: s.Call) -> Table:
        """The options of a command line: all of a program are one."""
        if self._command_line is None:
            self._command_line = Table(uses={"options"})
        return self._command_line

    def _option(self, node: s.Call) -> None:
        name, default = node.arguments[:2]
        if isinstance(name, s.Constant) and isinstance(name.value, str):
            kind = self.type(default)
            self._options(node).always.add(name.value.lstrip("-"))
            self._join(self._options(node).name(name.value.lstrip("-")), kind)

    def _construct(self, klass: Class, arguments: list[Type]) -> list[Type]:
        define = klass.method("__init", self.classes)
        if define is not None:
            self._call(self.signature(define.function), [klass.object, *arguments])
        return [klass.object]

    def _call(self, signature: Signature | None, arguments: list[Type]) -> list[Type]:
        if signature is None:
            for kind in arguments:
                if kind.signature is not None:
                    kind.signature.escapes = True
            return [Type()]
        signature = signature.root()
        signature.calls.add(len(arguments))
        for i, kind in enumerate(arguments):
            self._join(signature.parameter(i), kind)
        count = signature.count
        if count == 0:
            return [Type("nil")]
        return signature.results or [Type()]

    def _library(self, path: str, node: s.Call, arguments: list[Type]) -> list[Type] | None:
        heir = next((k for k in self.classes.values() if k.deriving is node), None)
        if heir is not None:
            return [self._class_type(heir)]
        if path == "setmetatable" and len(node.arguments) == 2:
            klass = self.class_of(node.arguments[1])
            target = arguments[0]
            if klass is not None and target.shape is not None:
                if target.shape.klass is not klass:
                    target.shape.unify(klass.instance)
                    klass.instance.root().klass = klass
                    self.changed = True
                return [klass.object]
            if target.shape is not None:
                target.shape.uses.add("meta")
                self._join(target.shape.meta, arguments[1])
                for event in ("__index", "__newindex", "__call", "__tostring", "__len", "__unm"):
                    handler = target.shape.event(event).signature
                    if handler is not None:
                        self._join(handler.parameter(0), target)
            meta = node.arguments[1]
            if isinstance(meta, s.Call) and self.dotted(meta.function) == "torch.getmetatable":
                return [Type("module")]
            return [target]
        if path == "torch.class" and isinstance(node.arguments[0], s.Constant):
            klass = self.classes.get(str(node.arguments[0].value))
            holder = self.type(klass.holder).shape if klass is not None and klass.holder else None
            if klass is not None and holder is not None:
                name = s.Constant(klass.name.rpartition(".")[2])
                self._store(holder, name, self._class_type(klass))
        if path == "torch.setmetatable" and node.arguments:
            if isinstance(node.arguments[0], s.Name):
                self._join(self.of(node.arguments[0].variable), Type("module"))
            return [Type("module")]
        if path in ("table.insert",) and arguments and arguments[0].shape is not None:
            arguments[0].shape.uses.add("append")
            self._join(arguments[0].shape.items, arguments[-1])
        shape = arguments[0].shape if arguments else None
        if path in OF_LISTS and shape is not None and shape.klass is None:
            shape.uses.add("ipairs")
        if path in ("unpack", "table.unpack") and len(arguments) == 1 and shape is not None:
            return self._unpacked(shape) or [shape.items]
        if path in ("table.remove", "unpack", "table.unpack") and arguments:
            return [shape.items if shape is not None else Type()]
        if path in LOADERS:
            return [self._required(node)]
        if path == "torch.randperm" and len(arguments) == 1:
            return [tensor(["Long" if node in self.orders else "Default"], [1])]
        if path in ("lapp", "pl.lapp") and node.arguments:
            return [self._lapp(node.arguments[0])]
        if path in ("assert",):
            return [arguments[0].without("nil"), *arguments[1:]] if arguments else [Type()]
        if path in ("pcall", "xpcall") and arguments:
            for kind in arguments[1:]:
                if kind.signature is not None:
                    kind.signature.escapes = True
            if arguments[0].signature is None:
                return [Type("boolean"), Type()]
            rest = arguments[1:] if path == "pcall" else []
            arguments[0].signature.is_tried = True
            given = self._call(arguments[0].signature, rest)
            return [Type("boolean"), Type(), *given[1:]]  # or the error
        self._call_back(path, node, arguments)
        for kind in arguments:
            if kind.signature is not None and not kind.signature.escapes:
                kind.signature.escapes = True
        if path.startswith("torch.") and arguments and arguments[0].is_tensor:
            found = results.torch_rule(path[6:], arguments)
            if found is not None and found[1]:
                self._reshaped(node.arguments[0], tensor())
        if path.startswith("optim.") and len(arguments) > 1 and arguments[0].signature:
            self._join(arguments[0].signature.parameter(0), tensor())
            arguments[0].signature.calls.add(1)
        made = results.function(path, node, arguments)
        if made and not self._is_settled and not all(kind.atoms for kind in arguments):
            made[0].dims.discard(-1)  # parameters are known when their calls have been seen
        return made

    def _call_back(self, path: str, node: s.Call, arguments: list[Type]) -> None:
        """Note what functions of Lua's give the functions that they are given."""
        if path == "string.gsub" and len(arguments) > 2 and arguments[2].signature is not None:
            count = captures(node.arguments[1 if node.method is None else 0])
            self._call(arguments[2].signature, [Type("string")] * count)
        if path == "table.sort" and len(arguments) > 1 and arguments[1].signature is not None:
            shape = arguments[0].shape
            if shape is not None:
                self._call(arguments[1].signature, [shape.items] * 2)

    def _unpacked(self, shape: Table) -> list[Type]:
        """The types of the entries, one by one, of tables that are all made with so many."""
        made = shape.made
        lengths = {len(node.fields) for node in made}
        if len(lengths) != 1 or shape.keys - {"next", "list"} or "append" in shape.uses:
            return []
        if any(entry.key is not None or is_open(entry.value) for n in made for entry in n.fields):
            return []
        entries = []
        for i in range(lengths.pop()):
            kind = Type()
            for node in made:
                kind.join(self.type(node.fields[i].value))
            entries.append(kind)
        return entries

    def _required(self, node: s.Call) -> Type:
        file = self.file_of(node)
        if file is not None:
            return file.value
        found = Type()
        values = [f.value for f in self.files_like(node) if f is not self.file]
        klasses = [v.shape.klass if v.only("class") and v.shape else None for v in values]
        if all(klass is not None and not klass.is_torch for klass in klasses):
            for value in values:
                found.join(value)
        return found

    def count(self, node: s.Node) -> int | None:
        """How many values an expression at the end of a list gives; None if that is open."""
        if not is_open(node):
            return 1
        if isinstance(node, s.Vararg):
            return None
        assert isinstance(node, s.Call)
        seen_counts = self.facts.get((self.file.path, -node.start, node.end))
        known = self.known_count(node)
        if known is None and seen_counts and len(seen_counts) == 1:
            return int(seen_counts[0])
        return known

    def known_count(self, node: s.Call) -> int | None:
        """How many values every call gives that stands there; None if that is open."""
        path = self.dotted(node.function) if node.method is None else None
        if path is not None:
            if path in self.classes:
                return 1
            if path in ("unpack", "table.unpack") and len(node.arguments) == 1:
                subject = node.arguments[0]
                return self.lengths.get(subject) if isinstance(subject, s.Name) else None
            if path in ("pcall", "xpcall", "unpack", "table.unpack", "select", "assert"):
                return None
            found = results.count(path, node)
            if found is not None:
                return found
        if node.method is None:
            callee = self.type(node.function)
            event = None if callee.shape is None else callee.shape.event("__call").signature
            event = event or self._own_event("__call", callee)
            if event is not None:
                return event.count
            if callee.atoms - {"nil"} == {"module"}:
                return results.count_of_object(callee, len(node.arguments))
            if callee.atoms & {"class", "module"}:
                return 1
            signature = callee.signature
            if signature is not None and (signature.nodes or signature.counts):
                return signature.count
            return None
        owner = self.owner(node.function)
        if owner.is_tensor or owner.only("mask"):
            found = len(self.results(node))
            is_several = bool(node.arguments) or node.method not in ("max", "min")
            return None if found == 1 and node.method in results.SEVERAL and is_several else found
        if results.gives_total(owner, node.method):
            return 2
        if owner.is_string:
            return results.count(f"string.{node.method}", node)
        if owner.only("module"):
            first = node.arguments[0] if node.arguments else None
            if node.method == "split" and isinstance(first, s.Constant):  # of a node of nngraph's
                return first.value if isinstance(first.value, int) else None
            return results.module_count(node.method)
        if owner.shape is not None and owner.shape.klass is not None:
            define = owner.shape.klass.method(node.method, self.classes)
            if define is not None:
                return self.signature(define.function).root().count
        if owner.shape is not None:
            signature = owner.shape.name(node.method).signature
            if signature is not None and signature.nodes:
                return signature.count
        if owner.only("sizes", "storage"):
            return 1
        return None
