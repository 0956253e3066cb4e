"""Functions that argcheck makes of rules and of what it calls: ``f = argcheck{{name = 'n', type =
'number', default = 1}, call = function(n) … end}``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compat.port.know.form.file_names import required
from compat.port.read import syntax as s

_OF_RULES = {"name", "type", "help", "doc", "opt", "default"}
_OF_ALL = {"call", "doc", "help", "nonamed", "noordered"}  # others do more than to check


@dataclass(eq=False)
class _Checked:
    """A function that argcheck makes.

    Attributes:
        made: the call of argcheck.
        function: what it calls.
        rules: what is said of each argument, in their order.
        ways: what is said of all.
        is_maker: whether it is a constructor, which calls give no object.
    """

    made: s.Call
    function: s.Function
    rules: list[dict[str, s.Node]]
    ways: set[str]
    is_maker: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the arguments, less ``self``."""
        found = [str(s.constant(rule["name"])) for rule in self.rules]
        return found[found[:1] == ["self"] :]

    @property
    def needed(self) -> int:
        """The number of arguments that it needs, less ``self``: the first ones."""
        return sum(not {"opt", "default"} & rule.keys() for rule in self._own)

    @property
    def takes_names(self) -> bool:
        """Whether a table may have its arguments, and is not the first of them."""
        first = self._own[0].get("type") if self._own else None
        may_be_table = self.needed < 2 and s.constant(first) in (None, "*", "table")
        return "nonamed" not in self.ways and not may_be_table

    @property
    def _own(self) -> list[dict[str, s.Node]]:
        return self.rules[len(self.rules) - len(self.names) :]


def use_called(blocks: Sequence[s.Block]) -> None:
    """Write them as what argcheck calls, and calls with names as others.

    They stay where they do more than to check, or somebody may leave out an argument before others
    or give a table with names that is none of the source's, or where functions of one name take
    others.
    """
    named: dict[str, list[_Checked]] = defaultdict(list)
    for block in blocks:
        for name, checked in _found(block):
            named[name].append(checked)
    if not named:
        return
    calls: dict[str, list[s.Call]] = defaultdict(list)
    values: dict[str | None, list[s.Node]] = defaultdict(list)
    overloaded: set[str | None] = set()  # by another argcheck
    returned: set[str] = set()
    for node in (node for block in blocks for node in s.walk(block)):
        if isinstance(node, s.Call):
            calls[str(node.method or s.last_name(node.function))].append(node)
        elif isinstance(node, s.Return):
            returned |= {value.id for value in node.values if isinstance(value, s.Name)}
        for key, value in _put(node):
            values[key].append(value)
            if key in ("overload", "chain"):
                overloaded.add(s.last_name(value))
    for alias, value in [(key, value) for key in [*values] for value in values[key]]:
        meant = returned if required(value) else {str(s.last_name(value))} - {alias}
        for name in meant & named.keys():
            named[str(alias)] += named[name]
    others = {
        own
        for name, all_ in named.items()
        for own in all_
        if name in overloaded
        or any(_may_mean_others(call, own, values) for call in calls[name])
        or any(_may_be_of_others(call, all_, values[name]) for call in calls[name])
    }
    for _ in named:  # a name's calls are all written alike
        for all_ in named.values():
            others |= set(all_) if others & set(all_) else set()
    for name, all_ in named.items():
        for call in calls[name] if not others & set(all_) else ():
            _put_in_order(call, all_)
    made = {own.made: own for all_ in named.values() for own in all_ if own not in others}
    for block in blocks:
        _replace(block, made)
        _only_load(block)


def _put(node: s.Node) -> Iterator[tuple[str | None, s.Node]]:
    """Yield the names that a node gives to values."""
    if isinstance(node, (s.Local, s.Assign)):
        yield from ((s.last_name(target), value) for target, value in s.assigned(node))
    elif isinstance(node, s.Define):
        yield s.last_name(node.target), node.function
    elif isinstance(node, s.Field) and isinstance(key := s.constant(node.key), str):
        yield key, node.value


def _found(block: s.Block) -> Iterator[tuple[str, _Checked]]:
    """Yield the functions that argcheck makes in a file, and the names that they are called by:
    of a constructor that of the class.
    """
    put = [pair for node in s.walk(block) if (pair := s.single(node)) is not None]
    own = {s.last_name(target) for target, value in put if required(value) == "argcheck"}
    classes = {
        name: str(s.constant(value.arguments[0])).rpartition(".")[2]
        for node in s.walk(block)
        for name, value in _put(node)
        if isinstance(value, s.Call) and s.last_name(value.function) == "class" and value.arguments
    }
    for target, value in put if own else ():
        checked, name = _checked(value, own), s.last_name(target)
        if checked is None or name is None:
            continue
        if name == "__init" and isinstance(target, s.Index):
            checked.is_maker = True
            own_name = s.last_name(target.object)
            yield from ((n, checked) for n in {own_name, classes.get(own_name)} if n is not None)
        yield name, checked


def _checked(node: s.Node, own: set[str | None]) -> _Checked | None:
    is_made = isinstance(node, s.Call) and node.method is None and s.last_name(node.function) in own
    table = node.arguments[0] if isinstance(node, s.Call) and is_made and node.arguments else None
    if not isinstance(node, s.Call) or not isinstance(table, s.Table):
        return None
    ways = {str(s.constant(f.key)): f.value for f in table.fields if f.key is not None}
    tables = [f.value for f in table.fields if f.key is None]
    rules = [
        {str(s.constant(f.key)): f.value for f in rule.fields if f.key is not None}
        for rule in tables
        if isinstance(rule, s.Table)
    ]
    function = ways.get("call")
    if not isinstance(function, s.Function) or len(rules) < len(tables):
        return None
    for parameter, rule in zip(function.parameters, rules, strict=False):
        may_be_nil = "?" * ("opt" in rule)
        function.types[parameter.id] = f"{s.constant(rule.get('type'))}{may_be_nil}"
    if function.is_vararg or len(function.parameters) != len(rules) or ways.keys() - _OF_ALL:
        return None
    if any(rule.keys() - _OF_RULES or not isinstance(s.constant(rule.get("name")), str)
           or not isinstance(rule.get("default", s.Constant(None)), s.Constant)
           for rule in rules):  # fmt: skip
        return None
    may_lack = [bool({"opt", "default"} & rule.keys()) for rule in rules]
    is_last = may_lack == sorted(may_lack)
    return _Checked(node, function, rules, {*ways}) if is_last else None


def _given(call: s.Call, checked: _Checked) -> list[s.Node]:
    """Return the arguments of a call behind self."""
    has_self = len(checked.names) < len(checked.rules)
    has_self = has_self and (not checked.is_maker or s.last_name(call.function) == "__init")
    return call.arguments[has_self and call.method is None :]


def _by_name(call: s.Call, checked: _Checked) -> dict[str, s.Node] | None:
    """Return the arguments of a call with names; None if it has none."""
    given = _given(call, checked)
    table = given[0] if len(given) == 1 else None
    if not checked.takes_names or not isinstance(table, s.Table) or not table.fields:
        return None
    names = {str(s.constant(f.key)): f.value for f in table.fields if f.key is not None}
    is_all = len(names) == len(table.fields)
    return names if is_all and names.keys() <= {*checked.names} else None


def _may_mean_others(
    call: s.Call, checked: _Checked, values: dict[str | None, list[s.Node]]
) -> bool:
    """Return whether a call may leave out an argument before others, or give a table with names
    that the source does not show, or compute them in another order.
    """
    given = _given(call, checked)
    found = _by_name(call, checked)
    if found is not None:
        computed = [
            name
            for name, value in found.items()
            if any(isinstance(node, s.Call) for node in s.walk(value))
        ]
        return computed != sorted(computed, key=checked.names.index)
    most, needed = len(checked.names), checked.needed
    may_leave_out = needed < len(given) < most and most - needed > 1
    if len(given) != 1 or isinstance(given[0], s.Table) or not checked.takes_names:
        return may_leave_out
    own = values[s.last_name(given[0])]
    is_table = needed > 1 or any(isinstance(v, s.Table) and v.fields for v in own)
    return may_leave_out or is_table


def _may_be_of_others(call: s.Call, all_: list[_Checked], values: list[s.Node]) -> bool:
    """Return whether a call with names may be of functions that have them in several orders, or
    of one that takes a table.
    """
    orders = {tuple(found) for own in all_ if (found := _in_order(call, own)) is not None}
    is_any = any(isinstance(value, s.Function) for value in values)
    return len(orders) > 1 or (bool(orders) and is_any)


def _in_order(call: s.Call, own: _Checked) -> list[str] | None:
    """Return the names up to the last of a call with names; None if it has none."""
    found = _by_name(call, own)
    if found is None:
        return None
    return own.names[: 1 + max(own.names.index(name) for name in found)]


def _put_in_order(call: s.Call, all_: list[_Checked]) -> None:
    """Give a call with names its arguments in order."""
    for own in all_:
        found, names = _by_name(call, own), _in_order(call, own)
        if found is None or names is None:
            continue
        ordered = [found.get(name) or s.Constant(None) for name in names]
        for node in ordered:
            s.put_at(node, call.arguments[-1])
        call.arguments[len(call.arguments) - 1 :] = ordered
        return


def _replace(block: s.Block, made: dict[s.Call, _Checked]) -> None:
    """Write the functions instead of the calls of argcheck that make them."""
    for inner in [node for node in s.walk(block) if isinstance(node, s.Block)]:
        for number, node in enumerate(inner.statements):
            target = s.target(node)
            if target is None or not isinstance(node, (s.Local, s.Assign)):
                continue
            value = node.values[0]
            if not isinstance(value, s.Call) or value not in made:
                continue
            function = node.values[0] = made[value].function
            _fill_in(made[value], str(s.last_name(target)))
            if isinstance(node, s.Assign):
                inner.statements[number] = _at(node, s.Define(target, function))


def _at(place: s.Statement, made: s.Statement) -> s.Statement:
    """Return a statement that stands where another does, with its comments."""
    made.line, made.start, made.end = place.line, place.start, place.end
    made.before, made.after = place.before, place.after
    return made


def _only_load(block: s.Block) -> None:
    """Have a file that uses argcheck no more load it, and no more."""
    names = [node.id for node in s.walk(block) if isinstance(node, s.Name)]
    for number, node in enumerate(block.statements):
        name = s.target(node)
        if not isinstance(node, s.Local) or not isinstance(name, s.Name):
            continue
        if required(node.values[0]) == "argcheck" and names.count(name.id) == 1:
            block.statements[number] = _at(node, s.Do(node.values[0]))


def _fill_in(checked: _Checked, name: str) -> None:
    """Give what argcheck calls its name, and values for what it is not given."""
    function = checked.function
    function.name = name
    rules = list(zip(function.parameters, checked.rules, strict=True))
    defaults: list[s.Statement] = []
    for parameter, rule in rules:
        if "default" in rule:
            own = s.Binary("==", s.Name(parameter.id), s.Constant(None))
            body = s.Block([s.Assign([s.Name(parameter.id)], [rule["default"]])], [])
            defaults.append(s.If([(own, body)]))
            s.put_at(defaults[-1], parameter)
    function.body.statements[:0] = defaults
