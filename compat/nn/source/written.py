"""Writes the source of a Torch7 net and checks it before returning it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.interchange.recurrent.memory import OverSequences, Remembering
from compat.nn.interchange.to_torch import ToTorch
from compat.nn.source.computed import Converted
from compat.nn.source.generator import Source, source_of
from compat.nn.source.proof import (
    GradientsDifferError,
    Proof,
    check,
    cloned,
    difference,
    is_close,
    of_torch7,
)
from compat.nn.source.recording import Recording
from compat.nn.source.script import INPUT, OUTPUT, keys, module_from, script
from compat.nn.source.sequences import gathered
from compat.nn.source.special import SPECIAL
from compat.nn.source.tidying import tidied

_OVERWRITTEN = (
    "a layer in place overwrites what another layer still reads, as autograd does not let it; set "
    "its inplace to False"
)
_IN_PLACE = re.compile("in-?place")  # of what autograd says


@dataclass
class Written:
    """A net's source with the tensors of the file beside it.

    Attributes:
        text: the text of the Python file.
        tensors: the weights, and the example of the check.
        names: maps names of ``net.to_torch().state_dict()`` to names in the source.
        difference: the largest difference of an output from the net's own, relative to the largest
            element.
        inputs: the inputs of the example.
        from_zero: for each input, whether it holds indices counted from 0.
        net: an instance of the source's class; its weights share the memory of the net's.
        forms: the forms that map the inputs and outputs of the net to the source's.
        stateful: whether the source's net also takes and returns a state.
        steps: the length of the example's sequences, if it has any.
    """

    text: str
    tensors: dict[str, Tensor]
    names: dict[str, str]
    difference: float
    inputs: list[Tensor]
    from_zero: list[bool]
    net: nn.Module
    forms: tuple[Any, Any]
    stateful: bool = False
    steps: int | None = None

    def given(self, example: Any) -> list[Tensor]:
        """Convert an input of the Torch7 net to the inputs of the source's net."""
        tensors = gathered(self.forms[0], example)
        pairs = zip(tensors, self.from_zero, strict=True)
        return [tensor.long() - 1 if zero else tensor for tensor, zero in pairs]

    def wanted(self, net: Module, example: Any) -> list[Tensor]:
        """Return the outputs expected of the source's net for an input of ``net``."""
        return gathered(self.forms[1], of_torch7(net, example))


def write(
    net: Module,
    example: Any,
    name: str = "Net",
    origin: str = "a net",
    indices_from_one: bool = False,
    batched: bool = True,
    output: Any = None,
) -> Written:
    """Write a net's source.

    Args:
        net: a Torch7 net that ``to_torch`` can convert.
        example: an input of the net; a list for a table. Indices count from 1.
        name: the name of the class.
        origin: the origin of the net, such as a file name, for the docstring.
        indices_from_one: whether indices that are inputs of the source's net count from 1.
        batched: whether the example is a batch, whose size may vary.
        output: the net's output for the example in evaluation mode, if known.

    Raises ValueError for a net that no source can be written for, and if the source does not
    compute what the net does.
    """
    options = (name, origin, indices_from_one, batched, output)
    try:
        return _written(net, example, *options, in_place=True)
    except (RuntimeError, GradientsDifferError) as error:
        if isinstance(error, RuntimeError) and not _IN_PLACE.search(str(error)):
            raise
    try:
        return _written(net, example, *options, in_place=False)
    except GradientsDifferError:
        raise
    except ValueError as error:
        raise ValueError(_OVERWRITTEN) from error


def _written(
    net: Module,
    example: Any,
    name: str,
    origin: str,
    indices_from_one: bool,
    batched: bool,
    known: Any,
    in_place: bool,
) -> Written:
    """Write the source; without ``in_place`` no layer overwrites tensors that autograd may need."""
    conversion = Converted(net)
    plain = conversion(net)
    if not in_place:
        _nothing_in_place(plain.modules())
    training = plain.training
    plain.eval()
    for module in plain.modules():
        if isinstance(module, OverSequences) and module.remember != "neither":
            module.remember = "always"  # its caller decides by the state that it gives
    try:
        recording = Recording(plain, SPECIAL, called(net, conversion))
        output = recording.run(cloned(example))
    finally:
        plain.train(training)
    body, indices = tidied(recording.body, recording.shapes, not indices_from_one)
    stateful = bool(body.inputs and body.inputs[-1].kind)
    given = body.inputs[: len(body.inputs) - stateful]
    from_zero = [value in indices for value in given]
    forms = (recording.inputs, recording.results)
    outputs = [tensor.detach() for tensor in gathered(forms[1], output)]
    steps = recording.lengths.pop() if len(recording.lengths) == 1 else None
    result = Written("", {}, {}, 0.0, [], from_zero, plain, forms, stateful, steps)
    inputs = result.inputs = result.given(example)
    about = _about(given, indices, inputs, outputs, indices_from_one, steps, batched)
    source = source_of(name, body, indices, about)
    result.text = script(source, [f"The net of {origin} as PyTorch source."], inputs, outputs)
    result.tensors = dict(source.tensors)
    result.names = _names(plain, source)
    result.net = _instance(result.text, source)
    if known is None:
        remembers = any(isinstance(module, Remembering) for module in plain.modules())
        known = of_torch7(net.clone() if remembers else net, example)
    wanted = gathered(forms[1], known)
    proof = Proof(result.net, plain, example, result.given, forms, stateful)
    result.difference = proof.quick(outputs)
    if not is_close(result.difference, source):
        result.difference = proof.largest()
    from_torch7 = _farthest(wanted, outputs)
    if is_close(from_torch7, source) or not proof.draws():
        result.difference = max(result.difference, from_torch7)
    if not is_close(result.difference, source):
        apart = net.clone()
        _nothing_in_place(apart.listModules())
        if not is_close(_farthest(result.wanted(apart, example), wanted), source):
            raise ValueError(_OVERWRITTEN)
    check(result.difference, source)
    proof.check_gradients(result.names)
    result.tensors |= dict(zip(keys(INPUT, len(inputs)), inputs, strict=True))
    result.tensors |= dict(zip(keys(OUTPUT, len(outputs)), outputs, strict=True))
    return result


def _farthest(wanted: list[Tensor], outputs: list[Tensor]) -> float:
    """Return the largest difference between two lists of outputs."""
    pairs = zip(wanted, outputs, strict=True)
    return max((difference(_like(two, one), one) for one, two in pairs), default=0.0)


def _nothing_in_place(modules: Iterable[Any]) -> None:
    for module in modules:
        if hasattr(module, "inplace"):
            module.inplace = False


def called(net: Module, conversion: ToTorch) -> dict[int, str]:
    """Return the names of converted modules in graph annotations, by the ``id`` of modules."""
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
    """Return the source's net with the tensors of the original net."""
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
    """Return the names of the converted net's tensors in the source."""
    places = {_key(tensor): name for name, tensor in source.tensors.items()}
    state = plain.state_dict()
    return {name: places[_key(t)] for name, t in state.items() if _key(t) in places}


def _like(tensor: Tensor, other: Tensor) -> Tensor:
    """Return a tensor in the shape of another with as many elements."""
    return tensor.view(other.shape) if tensor.numel() == other.numel() else tensor


def _key(tensor: Tensor) -> Any:
    return (tensor.data_ptr(), tensor.shape) if tensor.numel() else id(tensor)


def _about(
    values: list[Any],
    indices: set[Any],
    inputs: list[Tensor],
    outputs: list[Tensor],
    from_one: bool,
    steps: int | None,
    batched: bool,
) -> list[str]:
    """Return the docstring of ``forward``: shapes, and how indices count.

    ``steps`` is the length of sequences.
    """
    given = []
    for value, tensor in zip(values, inputs, strict=True):
        kind = ""
        if not tensor.is_floating_point():
            kind = " of indices from " + ("0" if value in indices and not from_one else "1")
        given.append(_shape(tensor, steps, batched) + kind)
    one, other = _counted(given), _counted([_shape(t, steps, batched) for t in outputs])
    if len(one + other) < 66:
        return [f"From {one} to {other}."]
    return [f"From {one}", f"to {other}."]


def _counted(shapes: list[str]) -> str:
    """Return shapes separated by commas, equal neighbours once with their number."""
    found = []
    for shape, group in itertools.groupby(shapes):
        count = len(list(group))
        found.append(f"{count} of {shape}" if count > 1 else shape)
    return ", ".join(found)


def _shape(tensor: Tensor, steps: int | None, batched: bool) -> str:
    sizes = list(map(str, tensor.shape))
    batch = 0
    if steps is not None and steps in tensor.shape[:2]:
        place = list(tensor.shape).index(steps)
        sizes[place], batch = "T", 1 - place
    if batched and batch < len(sizes):
        sizes[batch] = "N"
    return " x ".join(sizes)
