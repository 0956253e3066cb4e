"""Bodies as classes of Python: what is in ``__init__``, and a ``forward``."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from compat.nn.source import cells, expressions, naming
from compat.nn.source.expressions import Text
from compat.nn.source.parameters import Class, Parameter, same
from compat.nn.source.program import (
    Body,
    Hole,
    Instance,
    Layer,
    Member,
    Statement,
    Value,
    Weight,
    members_of,
    reads,
    uses,
    values,
)
from compat.nn.source.text import Names, lines, snake
from compat.nn.source.tidying import as_function, chains

_LONGEST = 64  # letters of an expression within another
_WIDEST = 72  # letters of one on a line
# Arguments with defaults that people give all the same, and without their names.
_POSITIONAL = {"p", "negative_slope", "num_parameters", "upscale_factor", "output_size"}


class Writer:
    """Writes the class of a body.

    Args:
        name: of the class.
        body: what it computes.
        parameters: those of a block.
        classes: the classes of the blocks that it uses.
        doc: the docstring's lines.
        inputs: names for what it is given.
    """

    def __init__(
        self,
        name: str,
        body: Body,
        parameters: list[Parameter],
        classes: dict[int, Class],
        doc: list[str],
        inputs: list[str],
        forward_doc: list[str] | None = None,
    ) -> None:
        self.name, self.body, self.parameters, self.classes = name, body, parameters, classes
        self.doc, self.inputs, self.forward_doc = doc, inputs, forward_doc or []
        self.holes = {parameter.place: parameter.name for parameter in parameters}
        self.paths: dict[int, str] = {}
        self.made: list[str] = []
        self.kept: dict[str, None] = {}
        self.attributes = Names("forward", "train", "eval", "training", "type", "float", "half")

    def write(self) -> Class:
        """The class."""
        units = chains(self.body)
        whole = units[0] if len(units) == 1 else []
        function = bool(self.parameters or not self.forward_doc) and len(whole) > 1
        if function and self.body.inputs == list(whole[0].arguments):
            return self._function(whole)
        counts = uses(self.body)
        units = [u if len(u) > 1 else [as_function(u[0], counts)] for u in units]
        calls = {id(unit): self._attribute(unit, units) for unit in units}
        forward = self._forward(units, calls)
        text = [f"class {self.name}(nn.Module):"]
        if self.doc:
            text += [*_docstring(self.doc, 4), ""]
        given = "".join(f", {self._declared(p)}" for p in self.parameters)
        kept = [f"self.{name} = {name}" for name in self.kept]
        if self.made or kept:
            text += lines(f"def __init__(self{given}) -> None:", 4)
            text += [" " * 8 + "super().__init__()"]
            for made in [*kept, *self.made]:
                text += lines(made, 8)
            text += [""]
        own = cells.names(self.body)
        results = [own.get(value, "y") for value in values(self.body.result)]
        return Class(
            self.name, [*text, *forward], self.paths, self.parameters, self.inputs, results
        )

    def _declared(self, parameter: Parameter) -> str:
        if parameter.default is inspect.Parameter.empty:
            return f"{parameter.name}: {parameter.kind}"
        default = expressions.constant(parameter.default, self._inside).text
        return f"{parameter.name}: {parameter.kind} = {default}"

    def _function(self, run: list[Statement]) -> Class:
        for place, statement in enumerate(run):
            assert statement.layer is not None
            self.paths[id(statement.layer)] = str(place)
        made = self._sequential(run)
        given = ", ".join(self._declared(p) for p in self.parameters)
        text = lines(f"def {self.name}({given}) -> nn.Sequential:")
        text += [*_docstring(self.doc, 4), *lines(f"return {made}", 4)]
        return Class(self.name, text, self.paths, self.parameters)

    def _sequential(self, run: list[Statement]) -> str:
        return f"nn.Sequential({', '.join(self.construction(s.layer) for s in run)})"

    def _attribute(self, unit: list[Statement], units: list[list[Statement]]) -> str:
        """Make what a unit calls an attribute; the text of the callee."""
        for statement in unit:
            for member in members_of(statement):
                if isinstance(member, Weight) and id(member) not in self.paths:
                    self._weight(member)
        layer = unit[0].layer
        if layer is None:
            return ""
        if len(unit) > 1:
            name = self.attributes.new(naming.of_run(unit, self.body, units))
            self.made.append(f"self.{name} = {self._sequential(unit)}")
            for place, statement in enumerate(unit):
                self.paths[id(statement.layer)] = f"{name}.{place}"
            return f"self.{name}"
        if id(layer) not in self.paths:
            name = self.attributes.new(naming.of_run(unit, self.body, units))
            self.made.append(f"self.{name} = {self.construction(layer)}")
            self.paths[id(layer)] = name
        return f"self.{self.paths[id(layer)]}"

    def _weight(self, weight: Weight) -> None:
        name = self.attributes.new(snake(weight.name) or "weight")
        size = ", ".join(expressions.constant(n, self._inside).text for n in _sizes(weight.shape))
        kind = "" if weight.tensor.is_floating_point() else f", dtype={weight.tensor.dtype}"
        empty = f"torch.empty({size}{kind})"
        if weight.trained:
            flag = "" if weight.tensor.requires_grad else ", requires_grad=False"
            self.made.append(f"self.{name} = nn.Parameter({empty}{flag})")
        else:
            self.made.append(f'self.register_buffer("{name}", {empty})')
        self.paths[id(weight)] = name

    def construction(self, member: Member | None) -> str:
        """The call that makes a layer or a block's module."""
        if isinstance(member, Instance):
            return self._instance(member)
        assert isinstance(member, Layer)
        parts = []
        named = False
        for name, value in member.arguments.items():
            default = member.defaults.get(name, inspect.Parameter.empty)
            required = default is inspect.Parameter.empty
            if name == "stride" and default is None:  # a pooling's is its window
                default = member.arguments["kernel_size"]
                if type(value) is type(default) and value == default:
                    named = True
                    continue
            if not required and name not in _POSITIONAL and same(value, default):
                named = True
                continue
            text = expressions.constant(value, self._inside).text
            positional = (required or name in _POSITIONAL) and not named
            parts.append(text if positional else f"{name}={text}")
            named = named or not positional
        made = f"nn.{member.name}({', '.join(parts)})"
        return f"{member.around}({made})" if member.around else made

    def _instance(self, member: Instance) -> str:
        cls = self.classes[id(member.block)]
        parts = []
        for parameter in cls.parameters:
            value = member.constants[parameter.place]
            required = parameter.default is inspect.Parameter.empty
            if required or not same(value, parameter.default):
                text = expressions.constant(value, self._inside).text
                parts.append(text if required else f"{parameter.name}={text}")
        return f"{cls.name}({', '.join(parts)})"

    def _inside(self, leaf: Any) -> Text:
        """A parameter within ``__init__``."""
        assert isinstance(leaf, Hole), leaf
        return Text(self.holes[leaf.number])

    def _forward(self, units: list[list[Statement]], calls: dict[int, str]) -> list[str]:
        counts = uses(self.body)
        scope = Names(*self.inputs, "self", "torch", "functional", "nn")
        known: dict[Value, Text] = {
            value: Text(name) for value, name in zip(self.body.inputs, self.inputs, strict=True)
        }
        left = dict(counts)
        text: list[str] = []
        waiting: dict[Value, Text] = {}
        own = cells.names(self.body)

        def wish(value: Value | None) -> str:
            return own.get(value) or naming.of_value(makers.get(value)) if value else "y"

        makers = {value: s for s in self.body.statements for value in values(s.results)}

        def write(leaf: Any) -> Text:
            if isinstance(leaf, Value):
                return waiting.get(leaf) or known[leaf]
            if isinstance(leaf, Hole):
                self.kept[self.holes[leaf.number]] = None
                return Text(f"self.{self.holes[leaf.number]}")
            if isinstance(leaf, torch.device):
                return Text(f"{self.inputs[0]}.device")
            return Text(f"self.{self.paths[id(leaf)]}")

        def assign(value: Value, expression: str, wished: str, dying: list[str]) -> None:
            name = dying[0] if dying else scope.new(wished)
            known[value] = Text(name)
            text.extend(lines(f"{name} = {expression}", 8))

        for unit in units:
            statement, last = unit[0], unit[-1]
            if unit[0].pinned:  # what waits is computed before a tensor changes
                needed = set(reads(statement))
                for value in [v for v in waiting if v not in needed]:
                    assign(value, waiting.pop(value).text, wish(value), [])
            given = reads(statement)
            found = self._call(statement, calls[id(unit)], write)
            widest = _WIDEST - 14 * (type(last.results) is not Value)
            while len(found.text) > widest and any(value in waiting for value in given):
                longest = max(
                    (v for v in given if v in waiting), key=lambda v: len(waiting[v].text)
                )
                assign(longest, waiting.pop(longest).text, wish(longest), [])
                found = self._call(statement, calls[id(unit)], write)
            for value in given:
                left[value] -= 1
                waiting.pop(value, None) if not left[value] else None
            dying = [
                known[v].text
                for v in dict.fromkeys(given)
                if not left[v] and v in known and known[v].text.isidentifier()
            ]
            results = last.results
            if type(results) in (tuple, list):
                wishes = own
                if isinstance(statement.layer, Instance):
                    names = self.classes[id(statement.layer.block)].results
                    wishes = dict(zip(values(results), names, strict=True))
                self._unpack(results, found, known, counts, scope, text, wishes)
                continue
            once = counts.get(results, 0) == 1 and own.get(results, "") not in ("next_c", "next_h")
            call = statement.layer is not None
            late = call and self._needed_late(results, units, unit)
            changes = unit[0].pinned and unit is not units[-1]
            if once and len(found.text) <= _LONGEST and not changes and not late:
                waiting[results] = found
                continue
            wished = wish(results) if statement is last else naming.of_value(last)
            reuse = (
                [] if results in own else dying[:1] if len(given) == 1 or dying[:1] == ["x"] else []
            )
            assign(results, found.text, wished, reuse)
        for value in list(waiting):
            if len(self._result(write)) > _WIDEST:
                assign(value, waiting.pop(value).text, wish(value), [])
        result = self._result(write)
        text.extend(lines(f"return {result}", 8))
        kind = _type(self.body.result)
        given_text = "".join(f", {name}: Tensor" for name in self.inputs)
        head = lines(f"def forward(self{given_text}) -> {kind}:", 4)
        return [*head, *_docstring(self.forward_doc, 8), *text]

    @staticmethod
    def _call(statement: Statement, layer: str, write: expressions.Write) -> Text:
        """The call that a statement is; ``layer``, what it calls where that is no function."""
        if statement.layer is None:
            return expressions.call(
                statement.function, statement.arguments, statement.keywords, write
            )
        arguments = [expressions.constant(a, write).text for a in statement.arguments]
        return Text(f"{layer}({', '.join(arguments)})")

    def _needed_late(
        self, result: Value, units: list[list[Statement]], unit: list[Statement]
    ) -> bool:
        """Whether a layer's result is read much later than it is made."""
        place = next(i for i, other in enumerate(units) if other is unit)
        later = [i for i, u in enumerate(units) if i > place and result in reads(u[0])]
        return (not later and result not in values(self.body.result)) or bool(
            later and later[0] - place > 2
        )

    def _unpack(
        self,
        results: tuple[Any, ...],
        found: Text,
        known: dict[Value, Text],
        counts: dict[Value, int],
        scope: Names,
        text: list[str],
        wishes: dict[Value, str],
    ) -> None:
        """Names for the entries of a tuple, or for those of it that are needed."""
        flat = values(results)
        needed = [v for v in flat if counts.get(v)]
        if len(needed) == 1 and len(flat) > 1:
            place = flat.index(needed[0])
            name = scope.new(wishes.get(needed[0], "part"))
            known[needed[0]] = Text(name)
            text.extend(lines(f"{name} = {found.text}[{place}]", 8))
            return
        names = []
        for value in flat:
            names.append(scope.new(wishes.get(value, "part")) if counts.get(value) else "_")
            known[value] = Text(names[-1])
        if len(flat) == 1:
            text.extend(lines(f"({names[0]},) = {found.text}", 8))
        else:
            text.extend(lines(f"{', '.join(names)} = {found.text}", 8))

    def _result(self, write: Any) -> str:
        def written(tree: Any) -> str:
            if type(tree) in (tuple, list):
                inner = ", ".join(written(part) for part in tree)
                return f"({inner},)" if len(tree) == 1 else f"({inner})"
            return expressions.constant(tree, write).text

        result = written(self.body.result)
        several = type(self.body.result) in (tuple, list) and len(self.body.result) > 1
        return result[1:-1] if several else result


def _sizes(shape: Any) -> list[Any]:
    return list(shape) if type(shape) in (tuple, list) else [shape]


def _type(tree: Any) -> str:
    if type(tree) in (tuple, list):
        return f"tuple[{', '.join(_type(part) for part in tree)}]"
    return "Tensor"


def _docstring(doc: list[str], indent: int) -> list[str]:
    space = " " * indent
    if not doc:
        return []
    if len(doc) == 1:
        return [f'{space}"""{doc[0]}"""']
    return [
        f'{space}"""{doc[0]}',
        *(space + line if line else "" for line in doc[1:]),
        f'{space}"""',
    ]
