"""The types of what calls give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.files import Class
from compat.port.know.lapp import declared
from compat.port.know.scopes import KNOWN, LOADERS
from compat.port.know.shapes import captures, chain_root, is_open, is_self, own_returns, required
from compat.port.know.types import NUMBERS, OF_LUA, Kind, Signature, Table, Type, tensor
from compat.port.library import function_results
from compat.port.library import results as given
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

_COUNTING = {"print", "select", "io.write", "pcall"}
OF_LISTS = {"ipairs", "table.concat", "table.sort", "unpack", "table.remove", "table.getn"}


def all_results(known: Inference, node: s.Node) -> list[Type]:
    """Return the types of all values of a call or ``...``."""
    if isinstance(node, s.Call):
        return known.results(node)
    if isinstance(node, s.Vararg):
        return [Type()]
    return [known.type(node)]


def results(known: Inference, node: s.Call) -> list[Type]:
    """Return the types of what a call gives; one at least, which is ``nil`` where there is none."""
    arguments = [known.type(a) for a in node.arguments]
    owner = None if node.method is None else known.owner_of_method(node)  # once: it may be a chain
    if node.arguments and is_open(node.arguments[-1]) and known.takes_all(node, owner):
        known.spread_out(node.arguments[-1])
    if node.method is None or owner is None:
        path = known.dotted(node.function) or known.of_tensors(node.function)
        if path is not None:
            klass = known.classes.get(path)
            if klass is not None:
                return _construct(known, klass, arguments)
            found = _library(known, path, node, arguments)
            if found is not None:
                return _less_numbers(known, node, found)
        callee = known.type(node.function)
        event = None if callee.shape is None else callee.shape.event("__call").signature
        event = event or own_event(known, "__call", callee)
        if event is not None and callee.signature is None:
            return known.call(event, [callee, *arguments])
        if Kind.CLASS in callee.atoms and (classes := known.classes_of(callee)):
            return _joined([_construct(known, klass, arguments) for klass in classes])
        if callee.atoms - {Kind.NIL} == {Kind.MODULE}:
            return given.of_object(callee, len(arguments))
        klass = known.seen_class(known.facts.get((known.file.path, node.start, node.end), []))
        if callee.signature is None and klass is not None:
            return _construct(known, klass, arguments)
        if callee.signature is None and not callee.atoms:
            return _call_by_name(known, node, arguments)
        _note_open(node, callee.signature, 0)
        found = known.call(callee.signature, _given(known, node, callee.signature, arguments))
        picked = _picked(known, node, callee.signature, arguments)
        return found if picked is None else [picked, *found[1:]]
    if owner.shape is None and owner.only(Kind.MODULE):
        _note_shorter(known, node.method, len(node.arguments) + 1)
    if node.method == "option" and owner.only(Kind.MODULE) and len(node.arguments) > 1:
        _option(known, node)
    if node.method == "parse" and owner.only(Kind.MODULE):
        return [Type(Kind.OPTIONS, table=_options(known, node))]
    if owner.is_tensor or owner.only(Kind.MASK):
        found = given.tensor_method(owner, node, arguments)
        taken = {"apply": 1, "map": 2, "map2": 3}.get(node.method)
        if taken and arguments and arguments[-1].signature is not None:
            arguments[-1].signature.calls.add(taken)
            for i in range(taken):
                known.join(arguments[-1].signature.parameter(i), Type(Kind.NUMBER))
        if node.method in ("resize", "resizeAs", "set"):
            _reshaped(known, node.function, found[0])
        return _less_numbers(known, node, found)
    if owner.is_string:
        return _library(known, f"string.{node.method}", node, [owner, *arguments]) or [Type()]
    if owner.only(Kind.MODULE) and f"nn.Module.{node.method}" in known.replaced:
        own = known.own_methods.get(node.method, [])
        return known.call(known.signature(own[0]) if len(own) == 1 else None, [owner, *arguments])
    if owner.only(Kind.MODULE):
        if node.method == "addjob":
            functions = [kind.signature for kind in arguments if kind.signature is not None]
            for function in functions:
                function.is_job = True
            if len(functions) == 2 and (given_on := functions[0].root().results):
                known.call(functions[1], given_on)
        if node.method in ("apply", "replace") and arguments and arguments[0].signature:
            known.join(arguments[0].signature.parameter(0), Type(Kind.MODULE))
            arguments[0].signature.calls.add(1)
        if node in known.last_added and arguments and "nn.Sequential" in owner.classes:
            ends = given.last_of(arguments[0])
            known.join(known.type(chain_root(node)), ends)
            return [owner.joined(ends)]
        return given.module_method(owner, node.method, arguments)
    if owner.only(Kind.SIZES):
        sizes = Type(Kind.TABLE, table=Table(keys={"list"}, items=Type(Kind.INT)))
        return [sizes if node.method == "totable" else Type(Kind.INT)]
    if owner.only(Kind.STORAGE) and node.method == "size":
        return [Type(Kind.INT)]
    if owner.only(Kind.FILE):
        return given.file_method(node)
    if methods := known.methods(owner, node.method):
        for _, signature in methods:
            _note_open(node, signature, 1)
        return _joined([known.call(own, [whose, *arguments]) for whose, own in methods])
    if owner.shape is not None:
        kind = known.entry(owner, owner.shape, s.Constant(node.method))
        _note_open(node, kind.signature, 1)
        return known.call(kind.signature, [owner, *arguments])
    if node.method == "size" and not arguments and "size" not in known.own_methods:
        return [Type(Kind.SIZES, Kind.INT)]  # of a tensor, or of a storage
    return _call_by_name(known, node, [Type(), *arguments])


def _less_numbers(known: Inference, node: s.Call, found: list[Type]) -> list[Type]:
    """Return the results of a call less the numbers among tensors, where it can be none: one that
    is followed, or has a second dimension.
    """
    last = s.constant(node.arguments[-1]) if node.arguments else None
    is_second = node.method == "squeeze" and isinstance(last, int) and last > 1
    return [k.less(NUMBERS) for k in found] if is_second or node in known.followed else found


def by_name(known: Inference, node: s.Call) -> tuple[list[Signature], bool]:
    """Return the program's functions that a call of what nobody knows may mean: those of its
    name.

    Returns:
        What is known of them, and whether it can mean nothing else.
    """
    name: object = node.method
    if name is None and isinstance(node.function, s.Index):
        name = s.constant(node.function.key)
    found = known.own_methods.get(name, []) if isinstance(name, str) else []
    is_theirs = not (isinstance(name, str) and given.is_method(name))
    return [known.signature(function).root() for function in found], bool(found) and is_theirs


def _call_by_name(known: Inference, node: s.Call, arguments: list[Type]) -> list[Type]:
    """Infer a call's functions from its arguments, and the results from the functions."""
    found, is_theirs = by_name(known, node)
    results = [Type()]
    for signature in found:
        signature.calls.add(len(arguments))
        for i, kind in enumerate(arguments):
            if kind.atoms and (is_theirs or kind.table is None):  # else tables may not be the same
                known.join(signature.parameter(i), kind)
        results += [Type() for _ in signature.results[len(results) :]]
        for result, kind in zip(results, signature.results if is_theirs else [], strict=False):
            result.join(kind.without_function())
    for kind in arguments:
        if kind.signature is not None and not is_theirs:
            kind.signature.escapes = True
    return results if is_theirs else [Type()]


def own_event(known: Inference, event: str, kind: Type) -> Signature | None:
    """Return the method that a class of the script's has for an event."""
    klass = kind.shape.klass if kind.only(Kind.OBJECT) and kind.shape is not None else None
    define = None if klass is None else klass.method(event, known.classes)
    return None if define is None else known.signature(define.function).root()


def _given(
    known: Inference, node: s.Call, signature: Signature | None, arguments: list[Type]
) -> list[Type]:
    """Return the arguments with all results of the last, where functions take different numbers."""
    last = node.arguments[-1] if node.arguments else None
    taken = {len(f.parameters) for f in signature.nodes} if signature is not None else set()
    if last is None or not is_open(last) or len(taken) < 2 or not known.count(last):
        return arguments
    return [*arguments[:-1], *known.all_results(last)[: known.count(last)]]


def _joined(found: list[list[Type]]) -> list[Type]:
    """Return the results of a call that may mean several functions."""
    if len(found) == 1:
        return found[0]
    joined = [Type() for _ in range(max(map(len, found)))]
    for results in found:
        for i, kind in enumerate(joined):
            kind.join(results[i] if i < len(results) else Type(Kind.NIL))
            kind.open |= i < len(results) and not results[i].atoms
    return joined


def methods(known: Inference, owner: Type, name: str) -> list[tuple[Type, Signature]]:
    """Return the methods of a name that objects of the program's classes have, with the type of
    the object: those of all classes that ``owner`` may be of.
    """
    found: dict[s.Define, tuple[Type, Signature]] = {}
    for klass in known.classes_of(owner):
        define = klass.method(name, known.classes)
        if define is not None and define not in found:
            found[define] = klass.object, known.signature(define.function).root()
    if len(found) == 1:
        return [(owner, signature) for _, signature in found.values()]
    return list(found.values())


def spread_out(known: Inference, node: s.Node) -> None:
    """Note that all results of a call count, however many there are."""
    if not isinstance(node, s.Call):
        return
    signatures = known.called(node)
    path = known.dotted(node.function) if node.method is None else None
    if path in ("pcall", "xpcall") and node.arguments:
        tried = known.type(node.arguments[0]).signature
        signatures = [] if tried is None else [tried]
    is_any = len({signature.count for signature in signatures}) > 1
    for signature in signatures:
        known.changed |= not signature.spreads or is_any > signature.is_tried
        signature.spreads = True
        signature.is_tried |= is_any


def called(known: Inference, node: s.Call, owner: Type | None = None) -> list[Signature]:
    """Return what is known of the functions that a call may call; ``owner``: of a method."""
    owner = known.type(node.function) if owner is None else owner
    if node.method is None:
        found = owner.signature
    elif methods := known.methods(owner, node.method):
        return [signature for _, signature in methods]
    else:
        found = None if owner.shape is None else owner.shape.name(node.method).signature
    return [] if found is None else [one.root() for one in found.choices or [found]]


def takes_all(known: Inference, node: s.Call, owner: Type | None = None) -> bool:
    """Return whether ``known`` matters to a function how many arguments it gets."""
    path = known.dotted(node.function) if node.method is None else None
    if path is not None:
        return path in _COUNTING
    return any(f.is_vararg for signature in known.called(node, owner) for f in signature.nodes)


def _reshaped(known: Inference, node: s.Node, new: Type) -> None:
    """Note that a variable's tensor has another number of dimensions from here on."""
    own = known.stored(node)
    if own is not None and own.is_tensor and new.is_tensor:
        known.join(own, new)


def _lapp(known: Inference, text: s.Node) -> Type:
    """Return the options that a text for lapp declares."""
    if known.command_line is None:
        known.command_line = Table(uses={"options"})
        if isinstance(text, s.Constant) and isinstance(text.value, str):
            for name, kind in declared(text.value):
                known.command_line.name(name).join(kind)
                known.command_line.always.add(name)
    return Type(Kind.OPTIONS, table=known.command_line)


def _options(known: Inference, node: s.Call) -> Table:
    """Return the options of a command line: all of a program are one."""
    if known.command_line is None:
        known.command_line = Table(uses={"options"})
    return known.command_line


def _option(known: Inference, node: s.Call) -> None:
    name, default = node.arguments[:2]
    if isinstance(name, s.Constant) and isinstance(name.value, str):
        kind = known.type(default)
        _options(known, node).always.add(name.value.lstrip("-"))
        known.join(_options(known, node).name(name.value.lstrip("-")), kind)


def _construct(known: Inference, klass: Class, arguments: list[Type]) -> list[Type]:
    define = klass.method("__init", known.classes)
    if define is not None:
        known.call(known.signature(define.function), [klass.object, *arguments])
    return [klass.object]


def call(known: Inference, signature: Signature | None, arguments: list[Type]) -> list[Type]:
    """Return the types of what a function gives for arguments of these types."""
    if signature is None:
        for kind in arguments:
            if kind.signature is not None:
                kind.signature.escapes = True
        return [Type()]
    signature = signature.root()
    if signature.choices:
        return _joined([known.call(one, arguments) for one in signature.choices])
    signature.calls.add(len(arguments))
    takes = max((len(f.parameters) for f in signature.nodes), default=len(arguments))
    for i, kind in enumerate(arguments if signature.nodes else ()):  # a tensor's new has none
        if i < takes or kind.signature is None:
            known.join(signature.parameter(i), kind)
        else:  # one of ``...``, which are not one
            kind.signature.escapes = True
    count = signature.count
    if count == 0:
        return [Type(Kind.NIL)]
    return signature.results or [Type()]


def _picked(
    known: Inference, node: s.Call, signature: Signature | None, arguments: list[Type]
) -> Type | None:
    """Return what ``getopt(options, 'name', default)`` gives: the entry of this very name.

    None: the function does not only give entries of a table that it is given the name of.
    """
    nodes = signature.root().nodes if signature is not None else []
    if len(nodes) != 1 or not any(isinstance(s.constant(a), str) for a in node.arguments):
        return None
    places = {p.variable: i for i, p in enumerate(nodes[0].parameters)}
    found, waiting, seen = Type(), [r.values for r in own_returns(nodes[0].body)], set()
    has_entry = False
    while waiting:
        value = waiting.pop()
        if len(value) != 1:
            return None
        part = value[0]
        place = places.get(part.variable) if isinstance(part, s.Name) else None
        if isinstance(part, s.Index):
            table, key = (
                places.get(n.variable) if isinstance(n, s.Name) else None
                for n in (part.object, part.key)
            )
            if table is None or key is None or max(table, key) >= len(arguments):
                return None
            shape, name = arguments[table].shape, node.arguments[key]
            if shape is None or not isinstance(s.constant(name), str):
                return None
            found.join(known.entry(arguments[table], shape, name))
            has_entry = True
        elif place is not None:
            found.join(arguments[place] if place < len(arguments) else Type())
        elif isinstance(part, s.Name) and not part.variable.is_global:
            if part.variable not in seen:
                seen.add(part.variable)
                waiting += [[source] for source in known.sources.get(part.variable, [])]
        else:
            return None
    return found if has_entry else None


def _note_shorter(known: Inference, name: str, count: int) -> None:
    """Note a call that lacks arguments: it may be of any class's method of this name."""
    for klass in known.classes.values():
        define = klass.methods.get(name)
        if define is not None and count < len(define.function.parameters):
            known.signature(define.function).root().calls.add(count)


def _note_open(node: s.Call, signature: Signature | None, own: int) -> None:
    """Note that ``f(a, ...)`` may give nothing but ``a``."""
    if signature is not None and node.arguments and isinstance(node.arguments[-1], s.Vararg):
        signature.root().calls.add(len(node.arguments) - 1 + own)


def _library(known: Inference, path: str, node: s.Call, arguments: list[Type]) -> list[Type] | None:
    if path in known.replaced:
        own = known.own_methods.get(path.rpartition(".")[2], [])
        return known.call(known.signature(own[0]) if len(own) == 1 else None, arguments)
    heir = next((k for k in known.classes.values() if k.deriving is node), None)
    if heir is not None:
        return [known.class_type(heir)]
    if path == "setmetatable" and len(node.arguments) == 2:
        klass = known.class_of(node.arguments[1])
        target = arguments[0]
        if klass is not None and target.shape is not None:
            if target.shape.klass is not klass:
                target.shape.klass = target.shape.klass or klass
                target.shape.unify(klass.instance)
                klass.instance.root().klass = klass
                known.changed = True
            return [klass.object]
        if target.shape is not None:
            target.shape.uses.add("meta")
            known.join(target.shape.meta, arguments[1])
            meta = arguments[1].shape
            for event, kind in list(meta.names.items()) if meta is not None else ():
                handler = kind.signature
                is_own = handler is not None and all(map(is_self, handler.nodes))
                if handler is not None and (event[:2] == "__" or is_own):
                    known.join(handler.parameter(0), target)
        given_on = node.arguments[1]
        if isinstance(given_on, s.Call) and known.dotted(given_on.function) == "torch.getmetatable":
            return [Type(Kind.MODULE)]
        return [target]
    if path == "torch.class" and isinstance(node.arguments[0], s.Constant):
        klass = known.classes.get(str(node.arguments[0].value))
        holder = known.type(klass.holder).shape if klass is not None and klass.holder else None
        if klass is not None and holder is not None:
            name = s.Constant(klass.name.rpartition(".")[2])
            known.store(holder, name, known.class_type(klass))
    if path == "torch.deserialize" and len(node.arguments) == 1:  # a deep copy
        inner = node.arguments[0]
        if isinstance(inner, s.Call) and known.dotted(inner.function) == "torch.serialize":
            return [known.type(inner.arguments[0]) if inner.arguments else Type()]
    if path == "torch.setmetatable" and node.arguments:
        if isinstance(node.arguments[0], s.Name):
            known.join(known.of(node.arguments[0].variable), Type(Kind.MODULE))
        return [Type(Kind.MODULE)]
    if path in ("table.insert",) and arguments and arguments[0].shape is not None:
        arguments[0].shape.uses.add("append")
        known.join(arguments[0].shape.items, arguments[-1])
    if path == "tablex.insertvalues" and len(arguments) == 2 and arguments[0].shape is not None:
        arguments[0].shape.uses.add("append")
        if arguments[1].shape is not None:
            arguments[1].shape.uses.add("ipairs")
            known.join(arguments[0].shape.items, arguments[1].shape.items)
    shape = arguments[0].shape if arguments else None
    if path in OF_LISTS and shape is not None and shape.klass is None:
        shape.uses.add("ipairs")
    if path in ("unpack", "table.unpack") and len(arguments) == 1 and shape is not None:
        return _unpacked(known, shape) or [shape.items]
    if path in ("table.remove", "unpack", "table.unpack") and arguments:
        return [shape.items if shape is not None else Type()]
    if path in LOADERS:
        return [_required(known, node)]
    if path == "torch.randperm" and len(arguments) == 1:
        return [tensor(["Long" if node in known.orders else "Default"], [1])]
    if path in ("lapp", "pl.lapp") and node.arguments:
        return [_lapp(known, node.arguments[0])]
    if path in ("assert",):
        return [arguments[0].without(Kind.NIL), *arguments[1:]] if arguments else [Type()]
    if path in ("pcall", "xpcall") and arguments:
        for kind in arguments[1:]:
            if kind.signature is not None:
                kind.signature.escapes = True
        klass = known.class_of(node.arguments[0])
        if klass is not None:
            return [Type(Kind.BOOLEAN), *_construct(known, klass, arguments[1:])]
        if known.dotted(node.arguments[0]) in LOADERS and len(arguments) > 1:
            loads = s.Call(node.arguments[0], node.arguments[1:], None)
            return [Type(Kind.BOOLEAN), _required(known, loads)]
        if arguments[0].signature is None:
            return [Type(Kind.BOOLEAN), Type()]
        rest = arguments[1:] if path == "pcall" else []
        arguments[0].signature.is_tried = True
        tried = known.call(arguments[0].signature, rest)
        return [Type(Kind.BOOLEAN), Type(), *tried[1:]]  # or the error
    _call_back(known, path, node, arguments)
    for kind in arguments:
        if kind.signature is not None and not kind.signature.escapes:
            kind.signature.escapes = True
    if path.startswith("torch.") and arguments and arguments[0].is_tensor:
        found = function_results.torch_rule(path[6:], arguments)
        if found is not None and found[1]:
            _reshaped(known, node.arguments[0], tensor())
    for kind in arguments if path == "optim.FistaLS" else ():
        if kind.signature is not None:
            kind.signature.is_hook = True  # called with what it asks for, too
    if path.startswith("optim.") and len(arguments) > 1 and arguments[0].signature:
        known.join(arguments[0].signature.parameter(0), tensor())
        arguments[0].signature.calls.add(1)
    made = function_results.function(path, node, arguments)
    if made and not known.is_settled and not all(kind.atoms for kind in arguments):
        made[0].dims.discard(-1)  # parameters are known when their calls have been seen
    return made


def _call_back(known: Inference, path: str, node: s.Call, arguments: list[Type]) -> None:
    """Note what functions of Lua's give the functions that they are given."""
    if path == "string.gsub" and len(arguments) > 2 and arguments[2].signature is not None:
        count = captures(node.arguments[1 if node.method is None else 0])
        known.call(arguments[2].signature, [Type(Kind.STRING)] * count)
    if path in ("threads", "threads.Threads"):
        for kind in arguments[1:]:
            known.call(kind.signature, [Type(Kind.INT)])  # the thread's number
    if path == "table.sort" and len(arguments) > 1 and arguments[1].signature is not None:
        shape = arguments[0].shape
        if shape is not None:
            known.call(arguments[1].signature, [shape.items] * 2)


def _unpacked(known: Inference, shape: Table) -> list[Type]:
    """Return the type of each entry of tables that are all made with equally many entries."""
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
            kind.join(known.type(node.fields[i].value))
        entries.append(kind)
    return entries


def _required(known: Inference, node: s.Call) -> Type:
    file = known.file_of(node)
    if file is not None:
        return file.value
    found = Type()
    values = [f.value for f in known.files_like(node) if f is not known.file]
    kinds = {frozenset(value.atoms) for value in values}
    klasses = [v.shape.klass for v in values if v.shape is not None and v.only(Kind.CLASS)]
    is_one_kind = len(kinds) == 1 and not any(klass and klass.is_torch for klass in klasses)
    for value in values if is_one_kind else ():
        found.join(value)
    name = required(node)
    if name is not None and not values and name not in KNOWN:
        found.classes = {OF_LUA}
    return found
