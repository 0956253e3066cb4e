"""Chooses names for the attributes, blocks and values of a net."""

from __future__ import annotations

import keyword
import re

from compat.nn.source import cells
from compat.nn.source.program import (
    Block,
    Body,
    Instance,
    Layer,
    Member,
    Statement,
    Value,
    leaves,
    values,
)
from compat.nn.source.text import snake

_SHORT = {
    **{"BatchNorm1d": "bn", "BatchNorm2d": "bn", "BatchNorm3d": "bn", "Linear": "fc"},
    **{"MaxPool1d": "pool", "MaxPool2d": "pool", "MaxPool3d": "pool", "AvgPool2d": "pool"},
    **{"AvgPool3d": "pool", "AdaptiveAvgPool2d": "pool", "AdaptiveMaxPool2d": "pool"},
    **{"Conv1d": "conv", "Conv2d": "conv", "Conv3d": "conv", "LogSoftmax": "log_softmax"},
    **{"ConvTranspose2d": "deconv", "ConvTranspose3d": "deconv", "Dropout2d": "dropout"},
    **{"LocalResponseNorm": "lrn", "ZeroPad2d": "pad", "ReflectionPad2d": "pad"},
    **{"ReLU": "relu", "ELU": "elu", "RReLU": "relu", "GLU": "glu", "LSTM": "lstm", "RNN": "rnn"},
    **{"ReplicationPad2d": "pad", "LeakyReLU": "relu", "ReLU6": "relu", "PReLU": "prelu"},
}
_RESULTS = {
    **{"cat": "joined", "sub": "difference", "mul": "product", "bmm": "product"},
    **{"sigmoid": "gate", "tanh": "squashed", "softmax": "weights", "add": "total"},
    **{"new_zeros": "zeros", "index_put": "filled"},
    **{"size": "size", "relu": "x", "flatten": "x", "log_softmax": "scores"},
}
_GENERIC = re.compile(r"^(sequential|concat_?table|parallel_?table|identity|module)\d*$")


def identifier(text: str) -> str:
    """Return ``text`` as a Python identifier; empty if it holds no name."""
    name = re.sub(r"\W+", "_", snake(text)).strip("_")
    name = re.sub(r"[^a-z0-9_]", "", name)
    if not name or name[0].isdigit() or keyword.iskeyword(name):
        return ""
    return name


def of_layer(layer: Member) -> str:
    """Return a name for an attribute that holds one layer."""
    if isinstance(layer, Layer):
        # The numbers that annotations end in tell repeated layers apart; these are blocks here.
        called = re.sub(r"_?\d+$", "", identifier(layer.called))
        return called or _SHORT.get(layer.name, snake(layer.name))
    assert isinstance(layer, Instance)
    return snake(layer.block.name).removesuffix("_step")


def kinds(body: Body) -> list[str]:
    """Return the names of a body's layer classes and functions, those in its blocks included."""
    found = []
    for statement in body.statements:
        layer = statement.layer
        if isinstance(layer, Instance):
            found += kinds(layer.block.body)
        elif isinstance(layer, Layer):
            found.append(layer.name)
        else:
            found.append(statement.function.rpartition(".")[2])
    return found


def of_run(run: list[Statement], body: Body, units: list[list[Statement]]) -> str:
    """Return a name for an attribute that holds a straight run of layers."""
    result = run[-1].results
    inner = kinds(Body([], run, result))
    taker = next((u[0] for u in units if result in values(u[0].arguments)), None)
    if taker is not None and taker.function.endswith((".add", ".cat", ".mul")):
        if taker.function.endswith(".add") and "Linear" not in inner:
            both = [u for u in units if u[-1].results in values(taker.arguments)]
            return "residual" if max(both, key=len) is run else "shortcut"
        if len(run) > 1:
            return "branch"
    if len(run) == 1:
        assert run[0].layer is not None
        return of_layer(run[0].layer)
    if "Linear" in inner and not any(kind.startswith("Conv") for kind in inner):
        return "classifier"
    if any(kind.startswith("Conv") for kind in inner):
        return "features"
    return "layers"


def of_block(block: Block) -> str:
    """Return a name for the class or function of a block."""
    found = kinds(block.body)
    statements = block.body.statements
    straight = all(s.layer is not None and len(s.arguments) == 1 for s in statements)
    given = identifier(block.name)
    if straight:
        words = [re.sub(r"\d", "", of_layer(s.layer)) for s in statements if s.layer is not None]
        return "_".join(words) if len(words) <= 3 and len("_".join(words)) < 20 else "stage"
    if found.count("sigmoid") + found.count("Sigmoid") >= 3:
        return "LSTMStep"
    if found.count("sigmoid") + found.count("Sigmoid") == 2:
        return "GRUStep"
    if cells.is_gate(block.body):
        return "Gate"
    if (
        given
        and not _GENERIC.match(given)
        and block.name not in ("Concat", "DepthConcat", "gModule")
    ):
        return block.name
    if "cat" in found:
        return "Branches"
    if "add" in found:
        shortcut = next(s for s in statements if s.function.endswith(".add"))
        plain = any(leaf in block.body.inputs for leaf in leaves(shortcut.arguments))
        return "ResidualBlock" if plain else "DownsamplingBlock"
    return "Block"


def of_value(statement: Statement | None) -> str:
    """Return a name for the variable that gets the result of a statement."""
    if statement is None:
        return "y"
    layer = statement.layer
    if isinstance(layer, Layer):
        return identifier(layer.called) or "y"
    return _RESULTS.get(statement.function.rpartition(".")[2], "y")


def of_inputs(body: Body, indices: set[Value], taken: dict[int, list[str]]) -> list[str]:
    """Return names for the inputs of a forward; ``taken`` holds those of the blocks' forwards."""
    known = cells.names(body)
    for statement in body.statements:
        if isinstance(statement.layer, Instance):
            for value, name in zip(
                statement.arguments, taken[id(statement.layer.block)], strict=True
            ):
                known.setdefault(value, name)
    bases = [
        "indices" if v in indices else "state" if v.kind else known.get(v, "x") for v in body.inputs
    ]
    names: list[str] = []
    for place, base in enumerate(bases):
        number = bases[:place].count(base) + 1
        names.append(base if bases.count(base) == 1 else f"{base}{number}")
    return names


def class_name(wished: str) -> str:
    """Return a name for the class of the net, from the name wished, such as that of its file."""
    words = re.findall(r"[A-Za-z0-9]+", wished)
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name and not name[0].isdigit() and not keyword.iskeyword(name) else f"Net{name}"
