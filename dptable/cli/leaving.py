"""Write a net of a .t7 file as PyTorch source, ONNX or an exported program."""

from __future__ import annotations

import json
import keyword
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from compat import nn
from compat.nn.source import naming, proof, written
from compat.nn.source.computed import Converted
from compat.nn.source.input import inputs
from compat.t7.base.atomic_file import atomic_file
from compat.t7.objects import registry
from dptable.cli import safetensors_file
from dptable.cli.exporting import export
from dptable.cli.rewriting import parts_of

KINDS = (".py", ".onnx", ".pt2")
_LISTED = 8  # of what a file holds
# What a source, or torch for it, imports; a file of such a name beside it would come first.
_IMPORTED = {"torch", "safetensors", "numpy", "sympy", "networkx", "typing_extensions", "triton"}


@dataclass
class Result:
    """The result of a conversion: what to print, and the largest relative difference."""

    text: str
    difference: float
    names: dict[str, str]
    input: str


@dataclass
class Wish:
    """The options of writing a net.

    Attributes:
        net: the place of the net in the file; empty for the only one.
        input: sizes such as ``1x3x224x224``; empty to find them by trying.
        from_one: whether indices in the input count from 1.
        force: whether existing files are replaced.
    """

    net: str = ""
    input: str = ""
    from_one: bool = False
    force: bool = False


def nets(value: Any) -> dict[str, nn.Module]:
    """Return the nets in a file by place, without those inside others."""
    found: dict[str, nn.Module] = {}
    seen: set[int] = set()

    def look(item: Any, place: str) -> None:
        if id(item) in seen:
            return
        seen.add(id(item))
        if isinstance(item, nn.Module):
            found[place] = item
        elif isinstance(item, (list, dict)):
            for key, part in parts_of(item):
                look(part, f"{place}.{key}" if place else str(key))

    look(value, "")
    return found


def chosen(value: Any, name: str) -> nn.Module:
    """Return the only net of a file, or the one of this name."""
    found = nets(value)
    if name:
        if "" in found:
            raise ValueError(f"net is {name}; the file is one net, and needs no --net")
        if name not in found:
            raise ValueError(f"net is {name}; {_listed(found)} is accepted")
        return found[name]
    if not found:
        raise ValueError(f"the file holds no net but {_told(value)}")
    if len(found) > 1:
        raise ValueError(f"the file holds nets at {_listed(found)}; choose one with --net")
    return next(iter(found.values()))


def _listed(found: Iterable[Any]) -> str:
    names = list(map(str, found))
    return ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")


def _told(value: Any) -> str:
    """Describe a value that is not a net."""
    if isinstance(value, dict):
        net = value.get("modelFile")
        place = f"; its net is in {net}" if isinstance(net, str) else ""
        return f"a table of {_listed(value)}{place}" if value else "an empty table"
    if isinstance(value, list):
        return f"a table of {len(value)} entries"
    known = registry.find_class(type(value))
    name = getattr(value, "typename", type(value).__name__) if known is None else known.typename
    return f"a value of the type {name}"


def can_be_imported(stem: str) -> bool:
    """Return whether Python can import a file of this name, without hiding another module."""
    taken = stem in _IMPORTED or stem in sys.stdlib_module_names
    return stem.isidentifier() and not keyword.iskeyword(stem) and not taken


def check_free(path: str, force: bool) -> None:
    """Raise an error if a file exists (without ``force``) or the folder is not writable."""
    target = Path(path)
    files = [target, target.with_suffix(".safetensors")] if target.suffix == ".py" else [target]
    for file in files:
        if file.exists() and not force:
            raise ValueError(f"{file} exists; --force replaces it")
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"{target.parent} is no folder that can be written to")
    if target.suffix == ".py" and not can_be_imported(target.stem):
        raise ValueError(
            f"out is {path}; a name that Python can import, of letters, digits and _, which is "
            "no word of Python and no module of Python's or torch's, is accepted"
        )


def write(value: Any, out: str, origin: str, wish: Wish) -> Result:
    """Write the net in a file's value in the form that ``out`` names.

    Raises:
        ValueError: the net cannot be written; the message says what to do.
    """
    check_free(out, wish.force)
    net = chosen(value, wish.net)
    _check_types(net)
    plain = Converted(net)(net)
    if out.endswith(".onnx") and inputs.dtype_of(plain) == torch.float64:
        net = net.float()  # onnxruntime has no convolutions of double precision
        plain = Converted(net)(net)
    if wish.input:
        example = inputs.parsed(wish.input, inputs.dtype_of(plain))
    else:
        example = inputs.found(plain, forward=lambda value: proof.of_torch7(net, value))
    del plain
    net.clearState()  # the results of all layers
    name = naming.class_name(Path(out).stem)
    try:
        result = written.write(
            *(net, example.value, name, origin, wish.from_one, example.batched, example.output)
        )
    except (RuntimeError, TypeError, IndexError, AttributeError) as error:
        cause = _objection(net, example.value) or str(error)
        given = f"for an input of {example.text}: {cause.splitlines()[0]}"
        kind = ", of indices as in --input long:2x5" if isinstance(error, IndexError) else ""
        raise ValueError(f"the net fails {given}; --input gives another{kind}") from error
    told = Result("", result.difference, result.names, example.text)
    if Path(out).suffix == ".py":
        _write_source(result, out)
    else:
        told.difference = export(net, result, example.value, out)
    told.text = f"for {example.text}, largest difference {told.difference:.1e}"
    return told


def _objection(net: nn.Module, value: Any) -> str:
    """Return what the net itself says of an input, which tells the place; empty if it takes it."""
    try:
        proof.of_torch7(net, value)
    except Exception as error:
        return str(error)
    return ""


def _check_types(net: nn.Module) -> None:
    """Raise ValueError for a net of several types, which Torch7 does not run either."""
    own = (net.parameters() or ([], []))[0]
    types = sorted({str(t.dtype).removeprefix("torch.") for t in own if t.is_floating_point()})
    if len(types) > 1:
        raise ValueError(
            f"the net's parameters are of the types {', '.join(types)}; --float makes them one"
        )


def _write_source(result: written.Written, out: str) -> None:
    """Write the weights, then the source.

    The old source is removed first: if the process dies in between, there is no source, rather than
    an old one beside new weights, which might run and compute something else.
    """
    names = {"names": json.dumps(result.names)}
    path = Path(out)
    with atomic_file(path) as source, atomic_file(path.with_suffix(".safetensors")) as weights:
        safetensors_file.write(weights, result.tensors, names)
        source.write(result.text.encode())
        for file in (weights, source):
            file.flush()  # what a full disk refuses, before the old source goes
        path.unlink(missing_ok=True)
