"""The types that calls of Lua's and Torch7's functions give, and their effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know import saved
from compat.port.know.files import Class
from compat.port.know.form.file_names import required
from compat.port.know.form.lapp import declared, known_text
from compat.port.know.form.shapes import calls, captures, is_self
from compat.port.know.scopes import KNOWN, LOADERS, RUN
from compat.port.know.structures import Signature, Table, list_of
from compat.port.know.types import FROM_LUA, Kind, Type, of_lua, tensor
from compat.port.library import function_results, tensors
from compat.port.library.nets import gives_tensor
from compat.port.library.results import has_size_1
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

OF_LISTS = {"ipairs", "table.concat", "table.sort", "unpack", "table.remove", "table.getn"}


def reshaped(known: Inference, node: s.Node, new: Type) -> None:
    """Note that a variable's tensor has another number of dimensions from here on."""
    while isinstance(node, s.Call) and tensors.gives_itself(node.method):
        node = node.function
    own = None if isinstance(node, s.Call) else known.stored(node)
    waiting = {*known.type(node).sources} if own is None else {own}
    done: set[Type] = set()  # where its type is kept, and what its tensor comes from
    while new.is_tensor and waiting:
        own = waiting.pop()
        if Kind.TENSOR in own.atoms:
            done.add(own)
            if not own.dims:  # what it had before is not known
                own.dims.add(-1)
            known.changed |= own.join(new)
            waiting |= own.parts - done


def results_taken(known: Inference, nodes: list[s.Node], kinds: list[Type]) -> None:
    """Note that what has been empty may get the results of a call, before what it takes."""
    tensors_given = [
        (node, kind) for node, kind in zip(nodes, kinds, strict=False) if kind.is_tensor
    ]
    for node, kind in tensors_given[:-1] or tensors_given:
        if 0 in kind.dims:
            reshaped(known, node, tensor())


def _lapp(known: Inference, text: s.Node) -> Type:
    """Return the options that a text for lapp declares."""
    for name, kind in declared(known_text(known, text) or ""):
        _declare(known, name, kind)
    return Type(Kind.OPTIONS, table=options(known))


# With these options a function of argcheck's gives something else than its arguments.
_OTHER_RESULTS = {"quiet", "chain", "overload", "call"}


def checker(known: Inference, node: s.Call) -> list[Type] | None:
    """Return the function that argcheck makes of rules, if it is this that is called: it gives its
    arguments, or a table of them by name.
    """
    made = node.function
    if isinstance(made, s.Name):
        made = next(iter(known.clues.sources.get(made.variable, [])), made)
    rules = node.arguments[0] if node.arguments else None
    if required(made) != "argcheck" or not isinstance(rules, s.Table):
        return None
    if _OTHER_RESULTS & {s.constant(f.key) for f in rules.fields if f.key is not None}:
        return None
    if node not in known.originals:
        taken = Table(keys={"name"})
        tables = [f.value for f in rules.fields if f.key is None]
        for rule in (table for table in tables if isinstance(table, s.Table)):
            own = {s.constant(f.key): f.value for f in rule.fields if f.key is not None}
            name = str(s.constant(own.get("name")))
            taken.name(name).join(known.type(own["default"]) if "default" in own else Type())
            if "opt" in own:
                taken.name(name).join(Type(Kind.NIL))
            taken.always.add(name)
        is_packed = any(s.constant(f.key) == "pack" for f in rules.fields)
        found = [Type(Kind.TABLE, table=taken)] if is_packed else list(taken.names.values())
        known.originals[node] = Signature(results=found, by_node={None: {len(found)}}, taken=taken)
    return [Type(Kind.FUNCTION, function=known.originals[node])]


def take(known: Inference, taken: Table, arguments: list[Type]) -> None:
    """Note what a function of argcheck's is given: a table with its arguments, or them."""
    given = arguments[0].shape if len(arguments) == 1 else None
    is_by_name = given is not None and bool(given.names.keys() & taken.names.keys())
    for i, name in enumerate(taken.names):
        if given is not None and is_by_name and name in given.names:
            known.join(taken.name(name), known.entry(arguments[0], given, s.Constant(name)))
        elif i < len(arguments) and not is_by_name:
            known.join(taken.name(name), arguments[i])


def options(known: Inference) -> Table:
    """Return the options of a command line: all of a program are one."""
    if known.command_line is None:
        known.command_line = Table(uses={"options"})
    return known.command_line


def _raised(known: Inference) -> Type:
    """Return what ``pcall`` gives second where it fails: a table of the program's, or a text."""
    made = known.raised.joined(Type())
    made.open = bool(made.atoms)
    return made


def option(known: Inference, node: s.Call) -> None:
    """Note an option that ``cmd:option`` declares, or an argument of ``cmd:argument``."""
    name, default = node.arguments[:2]
    if isinstance(name, s.Constant) and isinstance(name.value, str):
        is_number = [s.constant(a) for a in node.arguments[2:]] == ["number"]
        kind = Type(Kind.NUMBER if is_number else Kind.STRING)
        kind = known.type(default) if node.method == "option" else kind
        _declare(known, name.value.lstrip("-"), kind)


def _declare(known: Inference, word: str, kind: Type) -> None:
    file = known.file
    options(known).always.add(word)
    known.join(options(known).name(word), kind)
    if file.path not in known.declared:
        known.declared[file.path] = set()
        known.may_be_given |= {file.path} if _declares_if_missing(file.block) else set()
    known.declared[file.path].add(word)


def _declares_if_missing(block: s.Block) -> bool:
    """Return whether a file has options for itself alone: ``if not opt then cmd:option(…)``."""
    ifs = (node.clauses[0] for node in s.walk(block) if isinstance(node, s.If))
    bodies = (body for condition, body in ifs if isinstance(condition, s.Unary))
    return any(call.method == "option" for body in bodies for call in calls(body))


def declares(known: Inference, name: str) -> bool:
    """Return whether the options of a script have a name; those that other files declare are not
    the program's.
    """
    own = [names for path, names in known.declared.items() if path not in known.may_be_given]
    return not own or any(name in names for names in own)


def make_object(known: Inference, shape: Table, klass: Class) -> None:
    """Note that a table is made an object of a class."""
    if shape.klass is not klass:
        shape.klass = shape.klass or klass
        shape.unify(klass.instance)
        klass.instance.root().klass = klass
        known.changed = True


def results(known: Inference, path: str, node: s.Call, arguments: list[Type]) -> list[Type] | None:
    """Return the types of what a function of a package gives; None: it is known by its type."""
    if path in known.replaced:
        own = known.put_instead(path)
        return known.call(own[0] if len(own) == 1 else None, arguments)
    heir = next((k for k in known.classes.values() if k.deriving is node), None)
    if heir is not None:
        return [known.class_type(heir)]
    if path == "setmetatable" and len(node.arguments) == 2:
        klass = known.class_of(node.arguments[1])
        target = arguments[0]
        if klass is not None and (target.shape is not None or target.classes == {"loaded"}):
            first = node.arguments[0]
            values = known.clues.put_into(first)
            parts = [first, *(v.left for v in values if isinstance(v, s.Binary))]  # x or {}
            known.become |= {n.variable: klass for n in parts if isinstance(n, s.Name)}
            if target.shape is not None:
                known.make_object(target.shape, klass)
            elif isinstance(first, s.Name):
                known.join(known.of(first.variable), klass.object)
            return [klass.object]
        known.given_metatables[node] = target
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
    if path == "getmetatable" and arguments and arguments[0].only(Kind.OBJECT, Kind.CLASS):
        classes = known.classes_of(arguments[0])
        if Kind.CLASS in arguments[0].atoms:
            classes = [known.classes[k.parent] for k in classes if k.parent in known.classes]
        return [known.class_type(classes[0]) if len(classes) == 1 else Type()]
    if path == "torch.class" and isinstance(node.arguments[0], s.Constant):
        klass = known.class_named(str(node.arguments[0].value))
        holder = known.type(klass.holder).shape if klass is not None and klass.holder else None
        if klass is not None and holder is not None:
            name = s.Constant(klass.name.rpartition(".")[2])
            known.store(holder, name, known.class_type(klass))
        if klass is not None:
            base = known.classes.get(klass.parent or "")
            return [known.class_type(klass), Type() if base is None else known.class_type(base)]
    if path in ("loadstring", "loadfile", "load"):
        return [of_lua(FROM_LUA)]  # and so is what it gives
    if path == "ffi.load":
        return [of_lua()]
    if path == "torch.setmetatable" and node.arguments:
        if isinstance(node.arguments[0], s.Name):
            known.join(known.of(node.arguments[0].variable), Type(Kind.MODULE))
        return [Type(Kind.MODULE)]
    if path == "error" and arguments and arguments[0].atoms & {Kind.TABLE, Kind.OBJECT}:
        known.join(known.raised, arguments[0])
    key = s.constant(node.arguments[1]) if path == "rawset" and len(arguments) == 3 else None
    if isinstance(key, str) and arguments[0].shape is not None:
        known.join(arguments[0].shape.name(key), arguments[2])
    if path == "table.insert" and arguments and arguments[0].shape is not None:
        arguments[0].shape.uses.add("append")
        known.join(arguments[0].shape.items, arguments[-1].present)
    if path == "tablex.insertvalues" and len(arguments) == 2 and arguments[0].shape is not None:
        arguments[0].shape.uses.add("append")
        if arguments[1].shape is not None:
            arguments[1].shape.uses.add("ipairs")
            known.join(arguments[0].shape.items, arguments[1].shape.items)
    shape = arguments[0].shape if arguments else None
    is_all = path not in ("unpack", "table.unpack") or len(arguments) < 3  # else any entries
    if path in OF_LISTS and is_all and shape is not None and shape.klass is None:
        shape.uses.add("ipairs")
    if shape is not None and path in ("table.remove", "table.sort"):
        is_last = path == "table.remove" and len(arguments) == 1
        shape.uses.add("shorter" if is_last else "moved")
    if path in ("unpack", "table.unpack") and len(arguments) == 1 and shape is not None:
        more = shape.items.joined(Type())
        more.lacking = True  # it may be longer or shorter
        count = len(shape.places)
        is_one = all(len(n.fields) == count for n in shape.made)
        is_one &= not shape.uses & {"deleted", "shorter"}
        if (
            (is_one or shape.length is not None)
            and shape.keeps_places
            and {*shape.places} == {*range(1, count + 1)}
        ):
            return [shape.places[i] for i in range(1, count + 1)] or [Type(Kind.NIL)]
        return [shape.items, *[more] * 15]  # as many as anybody takes
    if path in ("table.remove", "unpack", "table.unpack") and arguments:
        entry = Type() if shape is None else shape.items
        entry.buffer |= arguments[0].buffer
        return [entry, *[entry] * (15 if entry.buffer and shape is None else 0)]
    if path in LOADERS:
        file = known.file_of(node)
        several = file.gives.results[1:] if file and path in RUN else []
        return [_required(known, node), *several]
    if path == "torch.randperm" and len(arguments) == 1:
        return [tensor(["Long" if node in known.clues.orders else "Default"], [1])]
    if path in ("lapp", "pl.lapp") and node.arguments:
        return [_lapp(known, node.arguments[0])]
    if path == "assert":
        return [arguments[0].without(Kind.NIL), *arguments[1:]] if arguments else [Type()]
    if path in ("pcall", "xpcall") and arguments:
        known.given_away(arguments[1:])
        klass = known.class_of(node.arguments[0])
        if klass is not None:
            return [Type(Kind.BOOLEAN), *known.construct(klass, arguments[1:])]
        if known.dotted(node.arguments[0]) in LOADERS and len(arguments) > 1:
            loads = s.Call(node.arguments[0], node.arguments[1:], None)
            return [Type(Kind.BOOLEAN), _required(known, loads)]
        if arguments[0].signature is None:
            return [Type(Kind.BOOLEAN), _raised(known)]
        rest = arguments[1:] if path == "pcall" else []
        arguments[0].signature.is_tried = True
        tried = known.call(arguments[0].signature, rest)
        result = _raised(known)
        if tried and Kind.TABLE in tried[0].atoms and tried[0].klass is None:
            result.open = True
            result.join(tried[0])
        return [Type(Kind.BOOLEAN), result, *tried[1:]]
    _call_back(known, path, node, arguments)
    known.given_away(arguments)
    if len(arguments) > 1 and arguments[0].is_tensor:
        is_torch = path.startswith("torch.")
        found = function_results.torch_rule(path[6:], arguments) if is_torch else None
        if found is None:
            results_taken(known, node.arguments, arguments)  # as image.scale and torch.max do
        elif found[1] or "out={1}" in found[0].text:
            reshaped(known, node.arguments[0], tensor())
    for kind in arguments if path == "optim.FistaLS" else ():
        if kind.signature is not None:
            kind.signature.is_hook = True  # called with what it asks for, too
    if path == "cutorch.withDevice" and len(arguments) > 1 and arguments[1].signature:
        return known.call(arguments[1].signature, [])
    if path.startswith("optim.") and len(arguments) > 1 and arguments[0].signature:
        known.join(arguments[0].signature.parameter(0), tensor())
        arguments[0].signature.calls.add(1)
    if path in ("threads", "threads.Threads"):
        last = arguments[-1].signature if len(arguments) > 1 else None
        given = Type() if last is None else last.result(0)
        return [Type(Kind.MODULE), list_of(list_of(given))]
    if node in known.saved:
        return [saved.result(known, known.saved[node])]
    if path == "select" and (chosen := known.selected(node)) is not None:
        call, place = chosen
        return known.results(call)[place - 1 :] or [Type()]
    made = function_results.function(path, node, arguments)
    if made and has_size_1(path, node):
        made[0].thin = True
    if made and path == "nn.gModule" and len(node.arguments) == 2:
        ending = _ending(known, node.arguments[-1])
        made[0].classes = {f"nn.gModule of {ending}"} if ending else made[0].classes
    if made and path == "tonumber":
        made[0].zero = True
    if made and not known.is_settled and not all(kind.atoms for kind in arguments):
        if all(made[0] is not kind for kind in arguments):
            made[0].dims.discard(-1)  # parameters are known when their calls have been seen
        if path in ("math.max", "math.min"):
            return [Type()]  # of ints it is one
    return made


def _ending(known: Inference, outputs: s.Node) -> str:
    """Return whether a net of nngraph gives ``lists``, or what ``one`` layer of tensors does."""
    sources = known.clues.put_into(outputs)
    if len(sources) != 1 or not isinstance(sources[0], s.Table):
        return ""
    values = [field.value for field in sources[0].fields]
    variable = outputs.variable if isinstance(outputs, s.Name) else None
    count = len(values) + (0 if variable is None else known.clues.inserts[variable])
    uses = 1 if variable is None else len(variable.reads)
    if count != 1 or not values or uses > 1:
        return "lists" if count > 1 else ""
    last = values[0]
    sources = known.clues.put_into(last)
    layers = [known.type(node.function) for node in sources if isinstance(node, s.Call)]
    is_one = len(layers) == len(sources) and all(map(gives_tensor, layers))
    return "one" if layers and is_one else ""


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


def _required(known: Inference, node: s.Call) -> Type:
    file = known.file_of(node)
    if file is not None:
        return file.value
    found = Type()
    values = [f.value for f in known.files_like(node) if f is not known.file]
    kinds = {frozenset(value.atoms) for value in values}
    classes = [value.klass for value in values if value.only(Kind.CLASS)]
    is_of_torch = any(klass and klass.is_torch for klass in classes)
    if is_of_torch:  # one class or another, and no object of what it is used as
        for value in values:
            if value.only(Kind.CLASS):
                found.join(value)
        return found
    for value in values if len(kinds) == 1 else ():
        found.join(value)
    name = required(node)
    if name is not None and not values and name not in KNOWN:
        return of_lua()
    return found
