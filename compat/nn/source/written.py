"""From a net of Torch7's to its source, which is tried before it is given away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.interchange.to_torch import ToTorch
from compat.nn.source import naming
from compat.nn.source.generator import Source, source_of
from compat.nn.source.program import values
from compat.nn.source.recording import Recording, Unwritable
from compat.nn.source.script import INPUT, OUTPUT, keys, module_from, script
from compat.nn.source.special import SPECIAL, check_writable
from compat.nn.source.tidying import tidied
from compat.tensor_tables import map_tensors
from compat.tensor_tables import tensors as tensors_in

# The largest differences relative to the largest element; of types that are not here, a hundredth.
_ALLOWED = {torch.float64: 1e-9, torch.float32: 1e-5}
_GRADIENTS = {torch.float64: 1e-7, torch.float32: 1e-3}
_MOST = 1 << 26  # parameters up to which gradients are compared


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
    net: Module, example: Any, name: str = "Net", origin: str = "a net", indices_from_one: bool = False
) -> Written:
    """Write a net's source.

    Args:
        net: a net of Torch7's, which ``to_torch`` converts.
        example: an input of it; a list for a table. Indices count from 1.
        name: for the class.
        origin: where the net is from, for the docstring.
        indices_from_one: whether indices that the source's net is given count from 1.

    Raises ValueError for a net that no source can be written for, and if the source does not
    compute what the net does.
    """
    conversion = ToTorch(net)
    plain = conversion(net)
    training = plain.training
    plain.eval()
    try:
        check_writable(plain)
        recording = Recording(plain, SPECIAL, called(net, conversion))
        output = recording.run(_cloned(example))
    except Unwritable as error:
        raise ValueError(str(error)) from None
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
    outputs = [t.detach() for t in tensors_in(_listed(output))]
    about = _about(body.inputs, indices, inputs, outputs, indices_from_one)
    source = source_of(name, body, indices, [f"The net of {origin}."], about)
    text = script(source, [f"{name}, {origin} as PyTorch source."], inputs, outputs)
    names = _names(plain, source)
    from_zero = [value in indices for value in body.inputs]
    own = _instance(text, source)
    result = Written(text, dict(source.tensors), names, 0.0, inputs, from_zero, own)
    result.difference = max(
        difference(two, one)
        for one, two in zip(_of_torch7(net, example), outputs, strict=True)
    )
    result.difference = max(result.difference, _prove(result.net, plain, example, inputs, source))
    _check(result.difference, source)
    _prove_gradients(result.net, plain, example, inputs, names)
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


def _listed(output: Any) -> Any:
    return list(map(_listed, output)) if isinstance(output, (tuple, list)) else output


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
    values: list[Any], indices: set[Any], inputs: list[Tensor], outputs: list[Tensor], from_one: bool
) -> list[str]:
    """The docstring of ``forward``: shapes, and how indices count."""
    lines = []
    for place, (value, tensor) in enumerate(zip(values, inputs, strict=True)):
        kind = ""
        if not tensor.is_floating_point():
            kind = ", indices from 1" if from_one or value not in indices else ", indices from 0"
        lines.append(_shape(tensor) + kind)
    given = "; ".join(lines)
    found = "; ".join(map(_shape, outputs))
    one = f"From {given} to {found}."
    return [one] if len(one) <= 72 else [f"From {given}", f"to {found}.", ""][:2]


def _shape(tensor: Tensor) -> str:
    sizes = ["N", *map(str, tensor.shape[1:])] 
    return " x ".join(sizes[: tensor.dim()])


def _prove(
    net: nn.Module, plain: nn.Module, example: Any, inputs: list[Tensor], source: Source
) -> float:
    """Compare both nets in both modes; the largest relative difference of outputs."""
    largest = 0.0
    training = plain.training
    try:
        for mode in (False, True):
            plain.train(mode)
            net.train(mode)
            found = []
            for other in (plain, net):
                kept = {k: v.clone() for k, v in other.named_buffers()}
                torch.manual_seed(1)
                with torch.no_grad():
                    given = _cloned(example if other is plain else inputs)
                    result = other(given) if other is plain else other(*given)
                found.append([t.clone() for t in tensors_in(_listed(result))])
                for key, value in other.named_buffers():
                    value.copy_(kept[key])
            for one, two in zip(*found, strict=True):
                largest = max(largest, difference(two, one))
    finally:
        plain.train(training)
        net.eval()
    return largest


def _check(largest: float, source: Source) -> None:
    """Refuse a source that computes something else."""
    dtypes = {t.dtype for t in source.tensors.values() if t.is_floating_point()}
    allowed = max((_ALLOWED.get(dtype, 2e-2) for dtype in dtypes), default=1e-5)
    if not largest <= allowed:
        raise ValueError(f"the source written differs from the net by {largest:.1e}")


def _of_torch7(net: Module, example: Any) -> list[Tensor]:
    """What the net itself computes, in evaluation."""
    modes = [(module, module.train) for module in net.listModules()]
    try:
        output = net.evaluate().forward(_cloned(example))
        return [t.detach().clone() for t in tensors_in(_listed(output))]
    finally:
        for module, mode in modes:
            module.train = mode


def _prove_gradients(
    net: nn.Module, plain: nn.Module, example: Any, inputs: list[Tensor], names: dict[str, str]
) -> None:
    """Compare the gradients of both nets in training."""
    if sum(p.numel() for p in net.parameters()) > _MOST:
        return
    training = plain.training
    own = dict(net.named_parameters(remove_duplicate=False))
    theirs = dict(plain.named_parameters())
    pairs = [(theirs[old], own[new]) for old, new in names.items() if old in theirs]
    pairs = [pair for pair in pairs if all(p.requires_grad for p in pair)]
    found = []
    try:
        for place, other in enumerate((plain, net)):
            other.train()
            kept = {k: v.clone() for k, v in other.named_buffers()}
            given = [t.clone() for t in (tensors_in(example) if other is plain else inputs)]
            wanted = [t.requires_grad_() for t in given if t.is_floating_point()]
            torch.manual_seed(1)
            copies = [t.clone() for t in given]  # which a net may change
            if other is plain:
                result = other(_filled(example, iter(copies)))
            else:
                result = other(*copies)
            outputs = [t for t in tensors_in(_listed(result)) if t.requires_grad]
            generator = torch.Generator().manual_seed(2)
            weights = [torch.randn(t.shape, generator=generator).to(t) for t in outputs]
            wanted += [pair[place] for pair in pairs]
            gradients: Any = []
            if outputs and wanted:
                gradients = torch.autograd.grad(outputs, wanted, weights, allow_unused=True)
            found.append([(w, g) for w, g in zip(wanted, gradients, strict=False)])
            with torch.no_grad():
                for key, value in other.named_buffers():
                    value.copy_(kept[key])
    finally:
        plain.train(training)
        net.eval()
    for (_, one), (wanted_for, two) in zip(*found, strict=True):
        one, two = (torch.zeros_like(wanted_for) if g is None else g for g in (one, two))
        largest = difference(two, one)
        if not largest <= _GRADIENTS.get(two.dtype, 5e-2):
            raise ValueError(f"a gradient of the source differs from the net's by {largest:.1e}")


def _cloned(example: Any) -> Any:
    """An input that may be changed."""
    return map_tensors(Tensor.clone, example)


def _filled(example: Any, given: Iterator[Tensor]) -> Any:
    """The structure of ``example`` with other tensors."""
    if isinstance(example, Tensor):
        return next(given)
    return [_filled(part, given) for part in example]


def difference(one: Tensor, other: Tensor) -> float:
    """The largest difference, relative to the largest element of ``other``."""
    if one.shape != other.shape:
        return float("inf")
    if not one.numel():
        return 0.0
    one, other = one.double(), other.double()
    same = (one == other) | (one.isnan() & other.isnan())
    gap = (one - other).abs().masked_fill(same, 0).max()
    scale = other.abs().nan_to_num(0, 0, 0).max().clamp_min(1e-30)
    return float(gap / scale)
