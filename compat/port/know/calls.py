"""The types of what calls give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compat.port.know import arguments as arguments_of
from compat.port.know import library_calls, optional_results
from compat.port.know.evidence import PASSES
from compat.port.know.files import Class
from compat.port.know.form.shapes import chain_root, is_open, is_self
from compat.port.know.names import is_chosen_optimizer
from compat.port.know.passed_functions import give_on
from compat.port.know.scopes import RUN
from compat.port.know.structures import Signature, list_of
from compat.port.know.types import FROM_LUA, NUMBERS, OF_LUA, Kind, Type, of_lua, tensor
from compat.port.know.values import event_of
from compat.port.library import nets, tensors
from compat.port.library import results as given
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

_KEPT = (Kind.TENSOR, Kind.MODULE, Kind.OBJECT)
_OF_TABLES_OF_LUA = ("pl.", "tablex.", "stringx.", "utils.", "class.")
_COUNTING = {"print", "select", "io.write", "pcall"}
_CALLING = ("apply", "applyToModules", "replace")  # methods that call a function with a module


def all_results(known: Inference, node: s.Node) -> list[Type]:
    """Return the types of all values of a call or ``...``."""
    if isinstance(node, s.Call):
        return known.results(node)
    return known.rest(node) or [known.type(node)]


def results(known: Inference, node: s.Call) -> list[Type]:
    """Return the types of what a call gives; one at least, which is ``nil`` where there is none.

    A call that is part of another is looked at once for it, however often that asks.
    """
    if node in known.inner_calls:
        return [*known.inner_calls[node]]
    is_whole = not known.calls_around
    known.calls_around += 1
    try:
        found = known.inner_calls[node] = _results(known, node)
    finally:
        known.calls_around -= 1
        if is_whole:
            known.inner_calls.clear()
    return [*found]


def _results(known: Inference, node: s.Call) -> list[Type]:
    if node in known.by_site:
        return [*known.by_site[node]]
    arguments = [known.type(a) for a in node.arguments]
    all_given = arguments_of.with_rest(known, node, arguments)
    owner = None if node.method is None else known.owner_of_method(node)  # once: it may be a chain
    if node in known.clues.deep_copies:
        return [known.type(known.clues.deep_copies[node])]
    if node.arguments and is_open(node.arguments[-1]) and known.takes_all(node, owner):
        known.spread_out(node.arguments[-1])
    arguments_of.note_spread(known, node, owner)
    if node.method is None or owner is None:
        path = known.dotted(node.function) or known.of_tensors(node.function)
        path = path or known.class_of_nn(node.function)
        if path is None and is_chosen_optimizer(known, node.function):
            path = "optim.?"
        if path is not None:
            klass = known.class_named(path)
            if klass is not None:
                return construct(known, klass, all_given)
            if path.startswith("torch."):
                arguments = arguments_of.with_sizes(known, node, arguments)
            found = library_calls.results(known, path, node, arguments)
            if found is not None:
                return _less_numbers(known, node, found)
        callee = known.type(node.function)
        if (made := library_calls.checker(known, node)) is not None:
            return made
        is_lua_s = path is not None and path.split(".")[0] in known.absent
        if is_lua_s or _is_of_lua(callee) or (path or "").startswith(_OF_TABLES_OF_LUA):
            return [of_lua(FROM_LUA)]
        event = called_event(known, callee)
        if event is not None and callee.signature is None:
            return known.call(event, [callee, *all_given])
        if Kind.CLASS in callee.atoms and (classes := known.classes_of(callee)):
            return joined(known, [construct(known, klass, all_given) for klass in classes])
        if known.makes_node(callee):
            return given.of_object(known.as_of_nn(callee), arguments)
        klass = known.seen_class(known.facts.get((known.file.path, node.start, node.end), []))
        if callee.signature is None and klass is not None:
            return construct(known, klass, all_given)
        if callee.signature is None and not callee.atoms:
            return _call_by_name(known, node, arguments)
        _note_open(node, callee.signature, 0)
        if callee.signature is not None and isinstance(next(iter(node.arguments), None), s.Table):
            nodes = callee.signature.root().nodes  # of C.method({…}): its self is no object
            known.guessed -= {known.of(f.parameters[0].variable) for f in nodes if f.parameters}
        names = [s.constant(argument) for argument in node.arguments]
        given_to = arguments_of.given_to(known, node, callee.signature, all_given)
        made = known.call(callee.signature, given_to, names)
        if callee.signature is not None and callee.signature.root().makes_tensors:
            sizes = arguments_of.with_sizes(known, node, arguments)
            rule = given.method_rule(".new", sizes)
            return made if rule is None else given.rule_types(rule, made[:1], sizes)
        return made
    if _is_of_lua(owner):
        return [of_lua(FROM_LUA)]
    if node.method in given.KEEPING and Kind.TENSOR in owner.atoms and owner.only(*_KEPT):
        rest = owner.without(Kind.TENSOR)
        tensors_of = owner.less({*_KEPT} - {Kind.TENSOR})
        if rest.atoms:
            return [given.tensor_method(tensors_of, node, arguments)[0].joined(rest)]
    if owner.shape is None and owner.only(Kind.MODULE):
        _note_shorter(known, node.method, len(node.arguments) + 1)
    declares = node.method in ("option", "argument") and len(node.arguments) > 1
    if declares and owner.only(Kind.MODULE):
        library_calls.option(known, node)
    if node.method == "parse" and owner.only(Kind.MODULE):
        return [Type(Kind.OPTIONS, table=library_calls.options(known))]
    if owner.is_tensor:
        arguments = arguments_of.with_sizes(known, node, arguments)
        found = given.tensor_method(owner, node, arguments)
        is_told = known.is_settled or all(kind.atoms for kind in arguments)
        if not is_told and found[0] is not owner:
            found[0].dims.discard(-1)
        taken = {"apply": 1, "map": 2, "map2": 3}.get(node.method)
        if taken and arguments and arguments[-1].signature is not None:
            arguments[-1].signature.calls.add(taken)
            for i in range(taken):
                known.join(arguments[-1].signature.parameter(i), Type(Kind.NUMBER))
        rule = given.method_rule(node.method, arguments)
        if tensors.gives_itself(node.method) and found:
            found[0].parts |= owner.sources
        is_out = rule is not None and "out={0}" in rule.text and rule.result != "="
        if not is_told:
            pass  # parameters are known when their calls have been seen
        elif is_out or node.method in ("resize", "resizeAs", "set"):
            new = tensor(found[0].dtypes, found[0].dims) if is_out else found[0]
            library_calls.reshaped(known, node.function, new)
        elif rule is None and arguments and (arguments[0].is_tensor or 0 in owner.dims):
            library_calls.reshaped(known, node.function, tensor())  # x:exp(y) has y's size
            if len(arguments) > 1:  # x:max(places, y, 1)
                library_calls.results_taken(known, node.arguments, arguments)
        return _less_numbers(known, node, found)
    if owner.is_string:
        return library_calls.results(known, f"string.{node.method}", node, [owner, *arguments]) or [
            Type()
        ]
    if owner.only(Kind.MODULE) and f"nn.Module.{node.method}" in known.replaced:
        own = known.clues.own_methods.get(node.method, [])
        return known.call(known.signature(own[0]) if len(own) == 1 else None, [owner, *arguments])
    if owner.only(Kind.MODULE):
        if node.method == "addjob":
            _note_job(known, arguments, all_given)
        if node.method in _CALLING and arguments and arguments[0].signature:
            known.join(arguments[0].signature.parameter(0), Type(Kind.MODULE))
            arguments[0].signature.calls.add(1)
        if node in known.clues.last_added and arguments and owner.classes & nets.AS_THEIR_LAST:
            ends = nets.last_of(arguments[0])
            if (net := known.stored(chain_root(node))) is not None:
                known.join(net, ends)
            return [owner.joined(ends)]
        if node.method == "forward" and len(node.arguments) == 1:
            only = node.arguments[0]
            is_one = not is_open(only) or known.count(only) == 1
            owner = nets.less_criterions(owner) if is_one else owner
        found = given.module_method(owner, node.method, arguments)
        if owner.classes & known.classes.keys():  # or an object of the program's
            methods = known.methods(owner, node.method)
            theirs = [known.call(signature, [whose, *all_given]) for whose, signature in methods]
            found = joined(known, [found, *theirs])
        is_output = node.method in ("forward", "updateOutput") and found[0].is_tensor
        if is_output and arguments and arguments[0].is_tensor and known.keeps_ranks(owner):
            found[0].dims = {*arguments[0].dims}
        is_nil_at_times = node.method == "parameters" and node in known.clues.conditions
        if is_nil_at_times and node in known.clues.defaulted and found:
            found[0] = found[0].joined(Type(Kind.NIL))
        return found
    if owner.only(Kind.SIZES) or owner.only(Kind.STORAGE):
        items = list_of(Type(Kind.INT if owner.only(Kind.SIZES) else Kind.NUMBER))
        given_by = {"totable": items, "size": Type(Kind.INT)}
        if not node.arguments:
            given_by["string"] = Type(Kind.STRING)
        return [given_by.get(node.method, Type(*owner.atoms))]  # as of fill
    if owner.only(Kind.FILE):
        return given.file_method(node)
    if methods := known.methods(owner, node.method):
        for _, signature in methods:
            _note_open(node, signature, 1)
        is_any = bool(node.arguments) and isinstance(node.arguments[-1], s.Vararg)
        count = len(node.arguments) + 1 - is_any
        _note_shorter(known, node.method, count, known.classes_of(owner))
        return joined(known, [known.call(own, [whose, *all_given]) for whose, own in methods])
    if node.method == "size" and not arguments and "size" not in known.clues.own_methods:
        return [Type(Kind.SIZES, Kind.INT)]  # of a tensor, or of a storage
    if owner.shape is not None:
        kind = known.entry(owner, owner.shape, s.Constant(node.method))
        if known.is_layer(owner) and not kind.atoms:  # a method of nn.Module's
            return given.module_method(owner, node.method, arguments)
        if not kind.atoms and Kind.OBJECT in owner.atoms:  # put there under a computed name
            for signature in by_name(known, node)[0]:
                signature.calls.add(len(arguments) + 1)
        _note_open(node, kind.signature, 1)
        nodes = kind.signature.root().nodes if kind.signature is not None else []
        if Kind.OBJECT in owner.atoms and not all(map(is_self, nodes)):
            known.changed |= node.method not in known.given_owner
            known.given_owner.add(node.method)  # who is self has another name there
        return known.call(kind.signature, [owner, *all_given])
    return _call_by_name(known, node, [Type(), *arguments])


def _is_of_lua(kind: Type) -> bool:
    """Return whether a value is one that only the Lua runtime has or gives."""
    is_given = kind.atoms <= {Kind.NIL, Kind.FUNCTION} and kind.signature is None
    return (bool(kind.classes & {OF_LUA, FROM_LUA}) and is_given) or kind.is_lua_s


def _less_numbers(known: Inference, node: s.Call, found: list[Type]) -> list[Type]:
    """Return the results of a call less the numbers among tensors, where it can be none: one that
    is followed, or has a second dimension.
    """
    last = s.constant(node.arguments[-1]) if node.arguments else None
    is_second = node.method == "squeeze" and isinstance(last, int) and last > 1
    return [k.less(NUMBERS) for k in found] if is_second or node in known.clues.followed else found


def by_name(known: Inference, node: s.Call) -> tuple[list[Signature], bool]:
    """Return the program's functions that a call of what nobody knows may mean: those of its
    name.

    Returns:
        What is known of them, and whether it can mean nothing else.
    """
    name: object = node.method
    if name is None and isinstance(node.function, s.Index):
        name = s.constant(node.function.key)
    found = known.clues.own_methods.get(name, []) if isinstance(name, str) else []
    is_theirs = not (isinstance(name, str) and given.is_method(name))
    is_theirs = is_theirs and name not in known.clues.given_names  # it may be any function
    return [known.signature(function).root() for function in found], bool(found) and is_theirs


def _call_by_name(known: Inference, node: s.Call, arguments: list[Type]) -> list[Type]:
    """Infer a call's functions from its arguments, and the results from the functions."""
    found, is_theirs = by_name(known, node)
    results = [Type()]
    is_pass = node.method in PASSES  # of any layer
    for signature in found:
        signature.calls.add(len(arguments))
        for i, kind in enumerate([] if is_pass else arguments):
            if kind.atoms and (is_theirs or kind.table is None):  # else tables may not be the same
                known.join(signature.parameter(i), kind)
        results += [Type() for _ in signature.results[len(results) :]]
        for result, kind in zip(results, signature.results if is_theirs else [], strict=False):
            result.join(kind.without_function())
    if not is_theirs:
        known.given_away(arguments)
    return results if is_theirs else [Type()]


def called_event(known: Inference, kind: Type) -> Signature | None:
    """Return what a call of a table or object calls: what its metatable or class has for it."""
    if kind.shape is not None and (own := kind.shape.event("__call").signature):
        return own
    define = event_of(known, "__call", kind)
    return None if define is None else known.signature(define.function).root()


def _note_job(known: Inference, arguments: list[Type], all_given: list[Type]) -> None:
    """Note what a pool gives a job, what follows the function that takes its results, and that."""
    given_at = [(i, kind.signature) for i, kind in enumerate(arguments)]
    functions = [(i, signature) for i, signature in given_at if signature is not None]
    for _, function in functions:
        function.is_job = True
    for place, job in functions[:1]:
        known.call(job, all_given[place + 2 :])
        if len(functions) == 2 and (given_on := job.root().results):
            known.call(functions[1][1], given_on)


def joined(known: Inference, found: list[list[Type]]) -> list[Type]:
    """Return the results of a call that may mean several functions."""
    if len(found) == 1:
        return found[0]
    joined = [Type() for _ in range(max(map(len, found)))]
    for results in found:
        for i, kind in enumerate(joined):
            kind.join(results[i] if i < len(results) else Type(Kind.NIL))
            kind.open |= known.is_settled and i < len(results) and not results[i].atoms
    return joined


# What they give is what these give; ``backward`` of a criterion.
_GIVES = {"forward": "updateOutput", "backward": "updateGradInput"}


def methods(known: Inference, owner: Type, name: str) -> list[tuple[Type, Signature]]:
    """Return the methods of a name that objects of the program's classes have, with the type of
    the object: those of all classes that ``owner`` may be of.
    """
    found: dict[s.Define, tuple[Type, Signature]] = {}
    for klass in known.classes_of(owner):
        define = klass.method(name, known.classes)
        if define is None and name in _GIVES and klass.is_layer(known.classes):
            parent = klass.top(known.classes).parent
            if name == "forward" or str(parent).endswith("Criterion"):
                define = klass.method(_GIVES[name], known.classes)
        if define is not None and define not in found:
            own = known.class_type(klass) if Kind.CLASS in owner.atoms else klass.object
            found[define] = own, known.signature(define.function).root()
    if len(found) == 1 and not known.classes_of_others(owner):
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
    if path in RUN:
        file = known.file_of(node)
        signatures = [f.gives for f in ([file] if file else known.files_like(node))]
    is_any = len({signature.count for signature in signatures}) > 1
    for signature in signatures:
        if None in signature.by_node:  # Torch7's, which tells its results itself
            continue
        known.changed |= not signature.spreads or is_any > signature.is_tried
        signature.spreads = True
        signature.is_tried |= is_any


def called(known: Inference, node: s.Call, owner: Type | None = None) -> list[Signature]:
    """Return what is known of the functions that a call may call; ``owner``: of a method."""
    owner = known.type(node.function) if owner is None else owner
    if node.method is None:
        found = owner.signature or called_event(known, owner)
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


def construct(known: Inference, klass: Class, arguments: list[Type]) -> list[Type]:
    """Return the type of a new object of a class."""
    define = klass.method("__init", known.classes)
    if define is not None:
        known.call(known.signature(define.function), [klass.object, *arguments])
    return [klass.object]


def call(
    known: Inference,
    signature: Signature | None,
    arguments: list[Type],
    names: Sequence[object] = (),
) -> list[Type]:
    """Return the types of what a function gives for arguments of these types; ``names``: what those
    are that are constants.
    """
    if signature is None:
        known.given_away(arguments)
        return [Type()]
    signature = signature.root()
    if signature.choices:
        return joined(known, [known.call(one, arguments) for one in signature.choices])
    signature.calls.add(len(arguments))
    if signature.taken is not None:
        library_calls.take(known, signature.taken, arguments)
    takes = max((len(f.parameters) for f in signature.nodes), default=len(arguments))
    if not signature.gets_nil and any(Kind.NIL in kind.atoms for kind in arguments[takes:]):
        signature.gets_nil = known.changed = True
    given_on = give_on(known, signature, arguments)
    for i, kind in enumerate(arguments if signature.nodes else ()):  # a tensor's new has none
        if i in given_on and kind.signature is not None:
            known.join(
                signature.parameter(i),
                Type(Kind.FUNCTION, function=Signature(choices=[kind.signature])),
            )
            continue
        own = (f.parameters[i].variable for f in signature.nodes if i < len(f.parameters))
        klass = next(filter(None, map(known.become.get, own)), None)
        if klass is not None and kind.only(Kind.TABLE) and kind.shape and not kind.shape.klass:
            known.make_object(kind.shape, klass)
        if (
            i < takes
            or kind.signature is None
            or known.clues.forwarding.issuperset(signature.nodes)
        ):
            known.join(signature.parameter(i), kind)
        else:  # one of ``...``, which are not one
            known.given_away([kind])
    for i in range(len(arguments), takes):
        known.changed |= not signature.parameter(i).lacking
        signature.parameter(i).lacking = True
    count = signature.count
    if count == 0:
        return [Type(Kind.NIL)]
    given_back = [
        _given_back(known, signature, i, arguments, names) for i in range(len(signature.results))
    ]
    for i in {i for _, i in signature.apart}:
        given_back[i] = given_back[i].joined(
            optional_results.results(known, signature, arguments, i)
        )
    return given_back or [Type()]


def _given_back(
    known: Inference, signature: Signature, i: int, arguments: list[Type], names: Sequence[object]
) -> Type:
    """Return the type of a result: of arguments that it may be, only those of this call, and of
    ``options[name]`` the entry of this name.
    """
    if not signature.origins[i]:
        return signature.result(i)
    made = signature.other[i].joined(Type())
    for place, key in signature.origins[i]:
        kind = arguments[place] if place < len(arguments) else Type(Kind.NIL)
        if isinstance(key, s.Call):
            kind, key = _kept(kind.present, key), None
        if key is not None:
            name = names[key] if key < len(names) else None
            if kind.shape is None or not isinstance(name, str):
                return signature.result(i)
            made.join(known.entry(kind, kind.shape, s.Constant(name)))
        elif place < len(arguments):
            if not kind.atoms:
                return signature.result(i)
            made.join(kind)
            made.parts |= kind.sources
        else:
            made.lacking = True
    return made


def _kept(kind: Type, node: s.Call) -> Type:
    """Return what methods give that are called of something, and keep its form."""
    inner = _kept(kind, node.function) if isinstance(node.function, s.Call) else kind
    if inner.is_tensor:
        return given.tensor_method(inner, node, [Type(Kind.STRING)] * len(node.arguments))[0]
    return inner if inner.only(Kind.MODULE, Kind.OBJECT) else Type()


def _note_shorter(known: Inference, name: str, count: int, of: list[Class] | None = None) -> None:
    """Note a call that lacks arguments: it may be of the method of this name of any class, or of
    any that derives from these.
    """
    for klass in known.classes.values():
        define = klass.methods.get(name)
        is_meant = of is None or any(one in of for one in klass.line(known.classes))
        if define is not None and is_meant and count < len(define.function.parameters):
            known.signature(define.function).root().calls.add(count)


def _note_open(node: s.Call, signature: Signature | None, own: int) -> None:
    """Note that ``f(a, ...)`` may give nothing but ``a``."""
    if signature is not None and node.arguments and isinstance(node.arguments[-1], s.Vararg):
        signature.root().calls.add(len(node.arguments) - 1 + own)
