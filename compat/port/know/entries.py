"""Entries of tables and tensors, and fields of objects."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from compat import nn
from compat.port.know import keys
from compat.port.know.files import GETTER, Class
from compat.port.know.form.shapes import counts_up, is_open
from compat.port.know.names import own_tables
from compat.port.know.registry import expression
from compat.port.know.structures import Signature, Table, list_of
from compat.port.know.types import FROM_LUA, NUMBERS, OF_LUA, Kind, Type, tensor
from compat.port.library import function_results, results
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

# How much Lua calls the functions of a metatable with, where it is not two.
_GIVEN = {"__newindex": 3, "__tostring": 1, "__call": 1}
_BUFFERS = {"output", "gradInput"}


def stored(known: Inference, node: s.Node) -> Type | None:
    """Return where the type of a variable or field is kept."""
    if isinstance(node, s.Name):
        return known.of(node.variable)
    if isinstance(node, s.Index):
        owner = known.stored(node.object)
        shape = owner.shape if owner is not None else None
        if shape is None:
            return None
        word = s.constant(node.key)
        if isinstance(word, str):
            return shape.name(word)
        return _place(known, shape, word) or shape.items
    return None


def _place(known: Inference, shape: Table, number: object) -> Type | None:
    """Return where the type of an entry under a number that is written is kept; None: it is kept
    with those of the others.
    """
    root = shape.root()
    if type(number) is not int or number not in root.places or not root.keeps_places:
        return None
    known.with_places.add(root)
    return root.places[number]


def _put(known: Inference, table: Table, number: object, kind: Type) -> None:
    """Note an entry of a table, and what stands in its place if its number is written."""
    known.join(table.items, kind)
    if type(number) is int:
        own = table.places[number]
        known.join(own, kind)
        if Kind.TENSOR in kind.atoms:  # of other dimensions at one, it is so at the other
            own.parts.add(table.items)
            table.items.parts.add(own)


def join(known: Inference, target: Type, new: Type) -> None:
    """Add to a type, and note whether that is news."""
    # What is unknown when all is settled stays a possibility.
    is_unknown = not new.atoms and not new.classes & {"loaded", OF_LUA, FROM_LUA}
    is_open = new.open or (known.is_settled and (is_unknown or _are_apart(target, new)))
    target.is_kept = True
    if Kind.TENSOR in new.atoms:
        target.parts |= new.sources
    if target in known.guessed:
        target.open |= is_open
        known.changed |= is_open and target.deep
        target.deep &= not is_open
        target.close()
        new, is_open = new.without(), False
        new.open = False
    known.changed |= target.join(new) or (is_open and not target.open)
    target.open |= is_open


def _are_apart(one: Type, other: Type) -> bool:
    """Return whether an object meets a table that is none, and no list, or a class one that has a
    metatable: they are written apart.
    """
    shapes = [kind.shape for kind in (one, other) if kind.shape is not None]
    has_meta = any(shape.klass is None and shape.is_own_meta for shape in shapes)
    return _are_two(one, other) and (has_meta or Kind.CLASS not in one.atoms | other.atoms)


def _are_two(one: Type, other: Type) -> bool:
    """Return whether of two types one is a class or its objects, the other a table, and no list."""
    shapes = [kind.shape for kind in (one, other) if kind.shape is not None]
    plain = [shape for shape in shapes if shape.klass is None]
    return len(shapes) == 2 and len(plain) == 1 and bool(plain[0].made) and plain[0].is_dict


def _is_list_or_meta(one: Type, other: Type) -> bool:
    """Return whether of two types one is a list, the other a table that may have a metatable."""
    shapes = [kind.shape for kind in (one, other) if kind.shape is not None]
    return any(one.is_list for one in shapes) and any("meta" in one.uses for one in shapes)


def signature(known: Inference, node: s.Function) -> Signature:
    """Return what a function takes and gives."""
    found = known.by_function.get(node)
    if found is None:
        found = known.by_function[node] = Signature(nodes=[node])
        for i in range(len(node.parameters)):
            found.parameter(i)
    return found


@expression(s.Table)
def _made(known: Inference, node: s.Table) -> Type:
    table: Table | None = node.shape
    if table is None:
        table = node.shape = Table(made=[node])
        table.always = {str(f.key.value) for f in node.fields if isinstance(f.key, s.Constant)}
        table.at_times = set(table.always)
    root = table.root()
    for i, entry in enumerate(node.fields):
        if entry.key is None:
            root.keys.add("next")
            if i == len(node.fields) - 1 and is_open(entry.value):
                known.spread_out(entry.value)
                kinds = known.all_results(entry.value)
                _note_end(known, root, node, entry.value)
            else:
                kinds = [known.type(entry.value)]
            number = sum(field.key is None for field in node.fields[: i + 1])
            for place, kind in enumerate(kinds, number):
                _put(known, root, place, kind)
            if isinstance(entry.value, s.Vararg) and known.returns[-1][0].root().gets_nil:
                root.uses.add("trimmed")
            if i == len(node.fields) - 1 and any(Kind.NIL in kind.atoms for kind in kinds):
                root.uses.add("nil at its end")
            elif s.is_nil(entry.value):
                root.uses.add("nil inside")
        else:
            kinds = [known.type(entry.value)]
            known.store(root, entry.key, kinds[0])
        if any(kind.may_be_nil for kind in kinds) and not isinstance(entry.value, s.Constant):
            root.uses.add("lacking")
    keys = [f.key.value for f in node.fields if isinstance(f.key, s.Constant)]
    others = [f.key for f in node.fields if f.key and not isinstance(f.key, s.Constant)]
    is_numbered = any(isinstance(k, (int, float)) for k in keys) and not counts_up(node)
    if is_numbered or any(known.type(key).is_number for key in others):
        root.uses.add("sparse")
    return Type(Kind.TABLE, table=table)


def _note_end(known: Inference, table: Table, node: s.Table, last: s.Node) -> None:
    """Note how many entries a call gives at the end of a list."""
    count = known.count(last) if known.is_told else 1
    if count is None and not known.rest(last):
        table.uses.add("moved")
    if count is None:
        table.more.pop(node, None)
    elif isinstance(last, s.Call):
        table.more[node] = count


def store(known: Inference, table: Table, key: s.Node, value: Type) -> None:
    """Note what is put under a key."""
    table = table.root()
    if isinstance(key, s.Name) and key.variable in known.clues.cutting:
        table.uses |= {"cut", "deleted"}
        return
    before = len(table.keys)
    handler = table.event("__newindex").signature
    if handler is not None:
        known.call(handler, [Type(Kind.TABLE, table=table), known.type(key), value])
    if isinstance(key, s.Constant) and isinstance(key.value, str):
        table.keys.add("name")
        if key.value.startswith("__") and table.klass is None and value.signature is not None:
            given = _GIVEN.get(key.value, 2)
            if any(len(f.parameters) < given for f in value.signature.nodes):
                value.signature.is_hook = True  # called with all that Lua has for it
        if key.value == "__index" and table.klass is not None and value.signature is not None:
            known.join(value.signature.parameter(0), table.klass.object)
        known.join(table.name(key.value), value)
        if table.klass is not None and table is not table.klass.members.root():
            _inherit(known, table.klass, key.value)
    else:
        kind = known.type(key).present  # Lua takes no nil for a key
        if keys.is_next(known, key, table):
            table.uses.add("append")
            if value.only(Kind.NIL):
                return  # of nil there is no entry
            value = value.present
        if key in known.overwritten and kind.is_number and not value.may_be_nil:
            table.uses.add("moved")
            known.join(table.items, value)
            return
        known.join(table.key, kind)
        is_unknown = known.is_settled and not kind.is_known
        numbers = table.key.atoms & NUMBERS or table.keys & {"int", "next", "list", "float"}
        is_mixed = Kind.BOOLEAN in table.key.atoms and numbers
        if kind.atoms & {Kind.TABLE, Kind.OPTIONS} or is_unknown or is_mixed:
            table.uses.add("meta")  # Python's dict takes no tables, and True for 1
        if kind.is_number and keys.in_any_order(known, key):
            table.uses.add("sparse")
        is_falling = isinstance(key, s.Name) and key.variable in known.clues.falling
        if is_falling or keys.is_shuffled(known, key):
            table.uses.add("from its end")
        if key in known.clues.begun_late:
            table.uses.add("begun late")
            known.join(table.items, Type(Kind.NIL))
        left = getattr(key, "left", None)  # of t - 1, which is 0 at last
        is_low = isinstance(key, s.Name) or getattr(left, "variable", None) in known.clues.falling
        if is_low and known.may_be_outside(key):
            table.uses.add("sparse")
        if kind.is_number:
            write = known.facts.get((known.file.path, key.start, -key.end))
            if write and "sparse" in write:
                table.uses.add("sparse")
            if key in known.clues.appended and Kind.NIL not in value.atoms:
                table.uses.add("filled")
            elif isinstance(key, s.Constant) and isinstance(key.value, (int, float)):
                if key.value - 1 not in table.constants:
                    table.leaps.add(key.value)
                table.constants.add(key.value)
                if key.value < 1:
                    table.keys.add("other")
                elif table.is_list or not table.keys:
                    table.keys.add("int")
            else:
                table.keys.add("int")
                if not value.only(Kind.NIL):
                    table.uses.add("computed")
        elif kind.is_string:
            table.keys.add("name")
            table.uses.add("dynamic")
        elif kind.atoms:
            table.keys.add("other")
        if not isinstance(key, s.Name) or key.variable not in known.copied:
            _put(known, table, s.constant(key), value)
            if type(s.constant(key)) is not int and not kind.is_string:
                table.uses.add("moved")
    if value.lacking or (value.may_be_nil and not value.only(Kind.NIL)):
        table.uses.add("lacking")  # Python keeps the None
    if value.only(Kind.NIL):
        table.uses.add("deleted")
        falls = isinstance(key, s.Name) and key.variable in known.clues.falling
        if known.type(key).is_number and not (falls or isinstance(key, s.Unary)):
            table.uses.add("sparse")  # a hole, unless it is the last
    known.changed |= len(table.keys) != before


def is_constructor(known: Inference, node: s.Index) -> bool:
    """Return whether an entry is ``C.new`` of a class that ``torch.class`` made, or of an object
    of one, which does what C does.
    """
    if s.constant(node.key) != "new":
        return False
    owner = known.type(node.object).without(Kind.NIL)
    klass = owner.klass
    if not owner.only(Kind.CLASS, Kind.OBJECT, Kind.MODULE):
        return False
    if klass is None:
        return owner.only(Kind.MODULE) and known.is_layer(owner)
    return klass.is_torch and klass.method("new", known.classes) is None


@expression(s.Index)
def _index(known: Inference, node: s.Index) -> Type:
    path = known.dotted(node)
    if path is not None and known.names_package(path):
        if path in known.classes:
            return known.class_type(known.classes[path])
        if tables := own_tables(known, path):
            return known.type(tables[0])
        return known.original(path, node) or function_results.constant(path)
    if (path := known.class_of_nn(node)) is not None and path != "nn.?":
        return function_results.constant(path)
    owner, key = known.indexed(node), known.type(node.key)
    name = s.constant(node.key)
    is_constructor = known.is_constructor(node)
    if is_constructor and owner.klass is not None:
        return known.class_type(owner.klass)
    is_of_torch = known.dotted(node.object) == "torch"
    is_type = s.names_tensor(node.key) and is_of_torch
    if is_of_torch and s.names_storage(node.key):
        new = Signature(results=[Type(Kind.STORAGE, Kind.SIZES)], by_node={None: {1}})
        return Type(Kind.FUNCTION, function=new)
    if is_constructor or is_type or (owner.is_tensor and name == "new"):
        made = owner.without(Kind.NIL) if is_constructor else tensor(owner.dtypes)
        made = tensor(["Long", "Float", "Default"]) if is_type else made  # of any type
        new = Signature(results=[made], by_node={None: {1}}, makes_tensors=not is_constructor)
        return Type(Kind.FUNCTION, function=new)
    if owner.is_tensor:
        element = _element(owner, node.key, key.present, known)
        if not element.atoms and node in known.clues.followed:
            element = tensor(owner.dtypes)
        element.buffer |= owner.buffer
        element.thin |= not key.is_number and (owner.thin or _is_one_row(node.key))
        return element
    if owner.only(Kind.SIZES):
        return Type(Kind.INT)
    if owner.only(Kind.STORAGE, Kind.POINTER):
        return Type(Kind.NUMBER)
    if owner.only(Kind.MODULE) and isinstance(name, str):
        found = _given_field(known, node, owner, name)
        is_open = not (found.atoms or found.buffer)
        if is_open and known.own_fields.name(name).atoms - {Kind.NIL}:
            found.join(known.own_fields.name(name))
            found.lacking = True  # others of its kind have none
        return found
    if owner.shape is not None:
        shape = owner.shape
        klass = shape.klass
        if klass is not None and name == "__index" and shape is klass.members.root():
            return owner
        if klass is not None and isinstance(name, str):
            define = klass.method(name, known.classes)
            if define is not None:
                made = Type(Kind.FUNCTION, function=_any_method(known, owner, node, name))
                put = shape.names.get(name, made)  # into an object, under a method's name
                return made.joined(put) if put.atoms - {Kind.FUNCTION} else made
            if shape is not klass.members.root():
                _inherit(known, klass, name)
        if shape.klass is None:
            entry = known.entry(owner, shape, node.key)
            is_either = Kind.TENSOR in owner.atoms and key.is_number
            return entry.joined(_element(owner, node.key, key, known)) if is_either else entry
        if name in results.BY_STEP and shape.klass.is_layer(known.classes):
            return _given_field(known, node, Type(Kind.MODULE), str(name))
        if isinstance(name, str):
            kind = _field(known, owner, shape, name)
            if not kind.atoms and klass is not None and klass.parent and klass.is_torch:
                parent = Type(Kind.MODULE)
                parent.classes = {klass.parent}
                kind.join(
                    results.field(parent, name)
                    if name not in _BUFFERS
                    else _buffer(klass.parent, name)
                )
            return kind
        getter = klass and klass.method(GETTER, known.classes)
        if getter is not None and not shape.key.atoms & NUMBERS:
            signature = known.signature(getter.function)
            return known.call(signature, [klass.object, known.type(node.key)])[0]
        return _own_entry(known, shape, node.key)
    entry = Type()
    entry.buffer, entry.thin = owner.buffer, owner.thin
    entry.open = Kind.LUA in owner.atoms  # tds' containers may hold others
    entry.classes = {FROM_LUA} if entry.open else owner.classes & {FROM_LUA}
    return entry


def _given_field(known: Inference, node: s.Node, owner: Type, name: str) -> Type:
    """Return a field of an object of compat's; its tables are those that were put things into."""
    found = results.field(owner, name)
    if found.table is not None:
        found.table = known.given_tables.setdefault(node, found.table)
    return found


def _buffer(parent: str, name: str) -> Type:
    """Return what ``output`` or ``gradInput`` of a class that derives from one of nn's is."""
    if name == "output" and parent.endswith("Criterion"):
        return Type(Kind.FLOAT)
    made = getattr(nn, parent.removeprefix("nn."), None)
    return list_of(Type()) if name in getattr(made, "table_fields", ()) else tensor()


def _field(known: Inference, owner: Type, shape: Table, name: str) -> Type:
    """Return a field of objects, which may be of several classes."""
    own, others = shape.name(name), known.classes_of(owner)[1:]
    if not others or Kind.OBJECT not in owner.atoms:
        return own
    return functools.reduce(Type.joined, (k.instance.name(name) for k in others), own)


def entry(known: Inference, owner: Type, shape: Table, key: s.Node) -> Type:
    """Return what is under a key of a table, or what its metatable's ``__index`` has for it."""
    own = _own_entry(known, shape, key)
    other = shape.event("__index")
    name = s.constant(key)
    is_set = isinstance(name, str) and bool(own.atoms - {Kind.NIL})
    is_set = is_set and not shape.event("__newindex").atoms  # else it is put elsewhere
    is_set = is_set or (isinstance(name, str) and "loaded" in shape.root().uses)  # by the file
    if not other.atoms or name in shape.root().always or (is_set and other.signature):
        return own
    joined = Type()
    joined.join(own.without(Kind.NIL))
    if other.signature is not None:
        joined.join(known.call(other.signature, [owner, known.type(key)])[0])
    elif other.shape is not None and other.shape is not shape:
        joined.join(known.entry(other, other.shape, key))
    return joined


def _any_method(known: Inference, owner: Type, node: s.Index, name: str) -> Signature:
    """Return a method of a class, or any of its namesakes where it may be one class or another."""
    defines = [k.method(name, known.classes) for k in known.classes_of(owner)]
    own = list(dict.fromkeys(known.signature(d.function) for d in defines if d is not None))
    if len(own) == 1:
        return own[0]
    made = known.originals.setdefault(node, Signature())
    made.choose(own)
    return made


def _own_entry(known: Inference, shape: Table, key: s.Node) -> Type:
    """Return what is under a key of a table."""
    kind = known.type(key)
    name = s.constant(key)
    if isinstance(name, str):
        found = shape.name(name)
        is_deleted = shape.is_options and Kind.NIL in shape.items.atoms
        is_never_set = known.is_settled and bool(shape.made) and not found.atoms
        is_there = known.holds(shape, key)
        if (name in shape.at_times and not is_there) or is_deleted or is_never_set:
            found = found.joined(Type())
            found.lacking = True
        is_fixed = shape.is_options or shape.klass is not None
        if shape.key.may(Kind.STRING) and _is_list_or_meta(found, shape.items):
            found = found.joined(shape.items)  # which are written otherwise
        if is_fixed or "dynamic" not in shape.uses:
            return found
        own, others = found.atoms - {Kind.NIL}, shape.items.atoms
        if not own or (others and not own & others):  # it gets other things, too
            found = found.joined(shape.items)
        found = found.joined(Type())
        found.lacking |= not is_there or shape.items.may_be_nil
        return found
    if kind.is_number and not isinstance(key, s.Constant):
        shape.uses.add("by number")
    if kind.is_string and shape.klass is not None:
        return Type()  # it may be any field or method
    if Kind.STRING in kind.atoms and shape.klass is None:
        found = any_entry(shape)
        return found.joined(Type(Kind.NIL)) if keys.may_miss(known, shape, key) else found
    entry = _place(known, shape, s.constant(key)) or shape.items
    if not keys.may_miss(known, shape, key):
        return entry
    found = entry.joined(Type(Kind.NIL))
    found.open |= bool(shape.names) and not kind.atoms  # it may be a name
    return found


def _inherit(known: Inference, klass: Class, name: str) -> None:
    """Give a field one type in objects of a class, in those of its bases, and in these classes."""
    own, line = klass.instance.name(name), [*klass.line(known.classes)]
    others = [base.instance.name(name) for base in line[1:]]
    others += [k.members.name(name) for k in line if name in k.members.root().names]
    for theirs in others:
        known.join(own, theirs)
        known.join(theirs, own)


def any_entry(shape: Table) -> Type:
    """Return what any entry of a table may be; different functions stay different."""
    kinds = [shape.items, *shape.names.values()]
    signatures = {id(k.signature): k.signature for k in kinds if k.signature is not None}
    joined = Type()
    for kind in kinds:
        joined.open |= _are_two(joined, kind)
        joined.join(kind if len(signatures) < 2 else kind.without_function())
    if len(signatures) > 1:
        shape.root().choice.choose(signatures.values())
        joined.function = shape.root().choice
    return joined


def _is_one_row(key: s.Node) -> bool:
    """Return whether a key such as ``{{}, {1}}`` keeps a dimension of one entry."""
    parts = [f.value for f in key.fields[1:]] if isinstance(key, s.Table) else []
    ends = ([f.value for f in p.fields] for p in parts if isinstance(p, s.Table))
    return any(e and s.describe(e[0]) == s.describe(e[-1]) for e in ends)


def _element(owner: Type, key: s.Node, kind: Type, known: Inference) -> Type:
    """Return what ``x[key]`` of a tensor is."""
    if not owner.dims:  # not yet known
        return Type()
    if isinstance(key, s.Table):
        taken = sum(1 for f in key.fields if known.owner(f.value).is_number)
        if taken == len(key.fields) and -1 in owner.ranks:
            return Type()
        ranks = [d for d in owner.ranks if d < 0 or d >= len(key.fields)]  # else it is an error
        dims = {d - taken if d >= 0 else -1 for d in ranks}
        if dims == {0}:
            return Type(Kind.FLOAT)
        made = tensor(owner.dtypes, dims) if dims and 0 not in dims else Type()
        made.deep = len(key.fields) - taken > 1 and made.is_tensor
        return made
    if kind.is_tensor:
        return tensor(owner.dtypes, [0, 1])
    if kind.is_number:
        if owner.ranks == {1}:
            return Type(Kind.FLOAT if not owner.dtypes <= results.WHOLE else Kind.INT)
        if owner.ranks & {-1, 1}:
            return tensor(owner.dtypes) if owner.deep and 1 not in owner.ranks else Type()
        return tensor(owner.dtypes, [d - 1 for d in owner.ranks])
    return Type()
