"""From a net of Torch7's to its source, which is tried before it is given away."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.interchange.to_torch import ToTorch
from compat.nn.source.computed import Converted
from compat.nn.source.generator import Source, source_of
from compat.nn.source.program import values
from compat.nn.source.proof import (
    check,
    cloned,
    compare,
    compare_gradients,
    difference,
    listed,
    of_torch7,
)
from compat.nn.source.recording import Recording
from compat.nn.source.script import INPUT, OUTPUT, keys, module_from, script
from compat.nn.source.special import SPECIAL, check_writable
from compat.nn.source.tidying import tidied
from compat.tensor_tables import tensors as tensors_in


@dataclass
class Written:
    """A net's source with what stands in the file beside it.

    Attributes:
        text: of the file of Python.
        tensors: the weights, and the example that proves them.
        names: for each name of ``net.to_torch().state_dict()`` that in the source.
        difference: the largest difference of an output from the net's own, relative to the largest
            element.
        inputs: the example's.
        from_zero: for each, whether it is indices that count from 0.
        net: an instance of the source's class, with the weights.
    """

    text: str
    tensors: dict[str, Tensor]
    names: dict[str, str]
    difference: float
    inputs: list[Tensor]
    from_zero: list[bool]
    net: nn.Module


def write(
    net: Module,
    example: Any,
    name: str = "Net",
    origin: str = "a net",
    indices_from_one: bool = False,
    batched: bool = True,
) -> Written:
    """Write a net's source.

    Args:
        net: a net of Torch7's, which ``to_torch`` converts.
        example: an input of it; a list for a table. Indices count from 1.
        name: for the class.
        origin: where the net is from, for the docstring.
        indices_from_one: whether indices that the source's net is given count from 1.
        batched: whether the example is several samples, of which any number may be given.

    Raises ValueError for a net that no source can be written for, and if the source does not
    compute what the net does.
    """
    conversion = Converted(net)
    plain = conversion(net)
    training = plain.training
    plain.eval()
    try:
        check_writable(plain)
        recording = Recording(plain, SPECIAL, called(net, conversion))
        output = recording.run(cloned(example))
    finally:
        plain.train(training)
    body, indices = tidied(recording.body, recording.shapes, not indices_from_one)
    flat = values(body.result)
    if type(body.result) in (tuple, list):
        body.result = tuple(flat) if len(flat) > 1 else flat[0]
    inputs = list(tensors_in(example))
    for place, value in enumerate(body.inputs):
        if value in indices:
            inputs[place] = inputs[place].long() - 1
    outputs = [t.detach() for t in tensors_in(listed(output))]
    about = _about(body.inputs, indices, inputs, outputs, indices_from_one, batched)
    source = source_of(name, body, indices, about)
    text = script(source, [f"The net of {origin} as PyTorch source."], inputs, outputs)
    names = _names(plain, source)
    from_zero = [value in indices for value in body.inputs]
    own = _instance(text, source)
    result = Written(text, dict(source.tensors), names, 0.0, inputs, from_zero, own)
    result.difference = max(
        difference(two.view(one.shape) if two.numel() == one.numel() else two, one)
        for one, two in zip(of_torch7(net, example), outputs, strict=True)
    )
    result.difference = max(result.difference, compare(result.net, plain, example, inputs, source))
    check(result.difference, source)
    compare_gradients(result.net, plain, example, inputs, names)
    result.tensors |= dict(zip(keys(INPUT, len(inputs)), inputs, strict=True))
    result.tensors |= dict(zip(keys(OUTPUT, len(outputs)), outputs, strict=True))
    return result


def called(net: Module, conversion: ToTorch) -> dict[int, str]:
    """What the annotations of graphs call the modules of the converted net, by their ``id``."""
    names: dict[int, str] = {}
    for module in net.listModules():
        for step in getattr(module, "steps", []):
            note = step.data.get("annotations") or {}
            label = note.get("name") if isinstance(note, dict) else None
            if label and step.module is not None:
                converted = conversion(module.modules[step.module])
                names[id(converted)] = str(label)
    return names


def _instance(text: str, source: Source) -> nn.Module:
    """The source's net with the tensors of the net that it was written from."""
    with torch.device("meta"):
        net: nn.Module = module_from(text, f"{source.name}.py")[source.name]()
    named = net.named_parameters(remove_duplicate=False)
    kinds = {key: value.requires_grad for key, value in named}
    own = {key: tensor.detach() for key, tensor in source.tensors.items()}
    net.load_state_dict(own, assign=True)
    first: dict[Any, nn.Parameter] = {}
    for key, parameter in list(net.named_parameters(remove_duplicate=False)):
        parameter.requires_grad_(kinds[key])
        owner, _, name = key.rpartition(".")
        if parameter.numel():  # what is one parameter has become several
            shared = first.setdefault((_key(parameter), parameter.stride()), parameter)
            setattr(net.get_submodule(owner), name, shared)
    return net


def _names(plain: nn.Module, source: Source) -> dict[str, str]:
    """The names of the converted net's tensors in the source."""
    places = {_key(tensor): name for name, tensor in source.tensors.items()}
    state = plain.state_dict()
    return {name: places[_key(t)] for name, t in state.items() if _key(t) in places}


def _key(tensor: Tensor) -> Any:
    return (tensor.data_ptr(), tensor.shape) if tensor.numel() else id(tensor)


def _about(
    values: list[Any],
    indices: set[Any],
    inputs: list[Tensor],
    outputs: list[Tensor],
    from_one: bool,
    batched: bool,
) -> list[str]:
    """The docstring of ``forward``: shapes, and how indices count."""
    given = []
    for value, tensor in zip(values, inputs, strict=True):
        kind = ""
        if not tensor.is_floating_point():
            kind = " of indices from " + ("0" if value in indices and not from_one else "1")
        given.append(_shape(tensor, batched) + kind)
    one, other = _counted(given), _counted([_shape(t, batched) for t in outputs])
    if len(one + other) < 66:
        return [f"From {one} to {other}."]
    return [f"From {one}", f"to {other}."]


def _counted(shapes: list[str]) -> str:
    """Shapes in a row, equal ones once with their number."""
    found = []
    for shape, group in itertools.groupby(shapes):
        count = len(list(group))
        found.append(f"{count} of {shape}" if count > 1 else shape)
    return ", ".join(found)


def _shape(tensor: Tensor, batched: bool) -> str:
    sizes = list(map(str, tensor.shape))
    return " x ".join(["N", *sizes[1:]] if batched and sizes else sizes)
