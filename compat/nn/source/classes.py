"""Writes bodies as Python classes with ``__init__`` and ``forward``."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import torch

from compat.nn.source import cells, expressions, naming
from compat.nn.source.expressions import Text
from compat.nn.source.forward import Forward
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
    uses,
    values,
)
from compat.nn.source.text import Names, docstring, lines, snake
from compat.nn.source.tidying import as_function, chains

# Arguments with defaults that people give all the same, and without their names.
_POSITIONAL = {"p", "negative_slope", "num_parameters", "upscale_factor", "output_size"}
_SEVERAL = 4  # equal layers in a row, which are counted
_SHORT = 50  # letters of the call that makes one


class Writer:
    """Writes the class of a body.

    Args:
        name: of the class.
        body: what it computes.
        parameters: those of a block.
        classes: the classes of the blocks that it uses.
        doc: the docstring's lines.
        inputs: names for what it is given.
        repeated: the place of layers of which the last parameter is the number.
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
        repeated: int | None = None,
    ) -> None:
        self.name, self.body, self.parameters, self.classes = name, body, parameters, classes
        self.doc, self.inputs, self.forward_doc = doc, inputs, forward_doc or []
        self.repeated = repeated
        self.gates = cells.Step(body).gates
        self.holes = {parameter.place: parameter.name for parameter in parameters}
        self.paths: dict[int, str] = {}
        self.made: list[str] = []
        self.kept: dict[str, None] = {}
        self.attributes = Names("forward", "train", "eval", "training", "type", "float", "half")

    def write(self) -> Class:
        """Return the class with its text."""
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
            text += [*docstring(self.doc, 4), ""]
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
        made = self._sequential(run) if self.repeated is None else self._stage(run, self.repeated)
        given = ", ".join(self._declared(p) for p in self.parameters)
        text = lines(f"def {self.name}({given}) -> nn.Sequential:")
        text += [*docstring(self.doc, 4), *lines(f"return {made}", 4)]
        return Class(self.name, text, self.paths, self.parameters)

    def _sequential(self, run: list[Statement]) -> str:
        made: list[str] = []
        for text, group in itertools.groupby(self.construction(s.layer) for s in run):
            count = len(list(group))
            several = count >= _SEVERAL and len(text) < _SHORT
            made += [f"*[{text} for _ in range({count})]"] if several else [text] * count
        return f"nn.Sequential({', '.join(made)})"

    def _stage(self, run: list[Statement], place: int) -> str:
        """Write a ``Sequential`` whose number of equal layers is the block's last parameter."""
        made = [self.construction(statement.layer) for statement in run]
        first, again = made[place : place + 2]
        end = place + 1
        while end < len(made) and made[end] == again:
            end += 1
        name = max(self.parameters, key=lambda parameter: parameter.place).name
        times = name if first == again else f"{name} - 1"
        kept = made[:place] if first == again else made[: place + 1]
        layers = [*kept, f"*[{again} for _ in range({times})]", *made[end:]]
        return f"nn.Sequential({', '.join(layers)})"

    def _attribute(self, unit: list[Statement], units: list[list[Statement]]) -> str:
        """Make the layer of a unit an attribute; return the text of the callee."""
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
            wished = "" if getattr(layer, "called", "") else self.gates.get(id(layer), "")
            wished = wished or naming.of_run(unit, self.body, units)
            name = self.attributes.new(wished)
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
        """Return the call that makes a layer or a block's module."""
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
        made = f"{'' if member.own else 'nn.'}{member.name}({', '.join(parts)})"
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
        """Return the text of a parameter within ``__init__``."""
        assert isinstance(leaf, Hole), leaf
        return Text(self.holes[leaf.number])

    def _forward(self, units: list[list[Statement]], calls: dict[int, str]) -> list[str]:
        names = {key: cls.results for key, cls in self.classes.items()}
        forward = Forward(self.body, self.inputs, self._written, names)
        text = forward.write(units, calls)
        given = "".join(f", {declared}" for declared in _declared(self.body, self.inputs))
        head = lines(f"def forward(self{given}) -> {_type(self.body.result)}:", 4)
        return [*head, *docstring(self.forward_doc, 8), *text]

    def _written(self, leaf: Any) -> Text:
        """Return the text of a leaf of an expression, such as a weight, that is no value."""
        if isinstance(leaf, Hole):
            self.kept[self.holes[leaf.number]] = None
            return Text(f"self.{self.holes[leaf.number]}")
        if isinstance(leaf, torch.device):
            return Text(f"{self.inputs[0]}.device")
        return Text(f"self.{self.paths[id(leaf)]}")


def _sizes(shape: Any) -> list[Any]:
    return list(shape) if type(shape) in (tuple, list) else [shape]


def _type(tree: Any) -> str:
    if type(tree) in (tuple, list):
        return f"tuple[{', '.join(_type(part) for part in tree)}]"
    return tree.kind or "Tensor" if isinstance(tree, Value) else "Tensor"


def _declared(body: Body, names: list[str]) -> list[str]:
    """Return the parameters of a forward; trailing states default to None."""
    found: list[str] = []
    for value, name in reversed(list(zip(body.inputs, names, strict=True))):
        if not value.kind:
            found.append(f"{name}: Tensor")
        else:
            default = " = None" if all(text.endswith(" = None") for text in found) else ""
            found.append(f"{name}: {value.kind} | None{default}")
    return found[::-1]
