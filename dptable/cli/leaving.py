"""A net of a .t7 file as PyTorch source, ONNX or an exported program."""

from __future__ import annotations

import importlib
import io
import json
import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from compat import nn
from compat.nn.source import inputs, naming, proof, written
from compat.nn.source.computed import Converted
from compat.t7.base.atomic_file import atomic_file
from compat.tensor_tables import tensors, with_tensors
from dptable.cli.rewriting import parts_of

KINDS = (".py", ".onnx", ".pt2")


@dataclass
class Result:
    """What became of a net: what to tell of it, and the largest relative difference."""

    text: str
    difference: float
    names: dict[str, str]
    input: str


@dataclass
class Wish:
    """How a net is to be written.

    Attributes:
        net: where in the file it is; empty for the only one.
        input: sizes such as ``1x3x224x224``; empty to find them out.
        from_one: whether indices that it is given count from 1.
        force: whether files that exist are replaced.
    """

    net: str = ""
    input: str = ""
    from_one: bool = False
    force: bool = False


def nets(value: Any) -> dict[str, nn.Module]:
    """The nets in a file by where they are, without those inside others."""
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
    """The net of a file, or that of this name."""
    found = nets(value)
    if name:
        if name not in found:
            raise ValueError(f"net is {name}; {_listed(found)} is accepted")
        return found[name]
    if not found:
        raise ValueError("the file holds no net")
    if len(found) > 1:
        raise ValueError(f"the file holds nets at {_listed(found)}; choose one with --net")
    return next(iter(found.values()))


def _listed(found: dict[str, nn.Module]) -> str:
    names = list(found)
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def check_free(path: str, force: bool) -> None:
    """Refuse to replace files, and to write where that is not possible."""
    target = Path(path)
    files = [target, target.with_suffix(".safetensors")] if target.suffix == ".py" else [target]
    for file in files:
        if file.exists() and not force:
            raise ValueError(f"{file} exists; --force replaces it")
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"{target.parent} is no folder that can be written to")
    if target.suffix == ".py" and not target.stem.isidentifier():
        raise ValueError(
            f"out is {path}; a name that Python can import, of letters, digits and _, is accepted"
        )


def write(value: Any, out: str, origin: str, wish: Wish) -> Result:
    """Write the net of a file's value in the form that ``out`` names.

    Raises ValueError with what to do where it cannot be written.
    """
    check_free(out, wish.force)
    net = chosen(value, wish.net)
    plain = Converted(net)(net)
    if out.endswith(".onnx") and inputs.dtype_of(plain) == torch.float64:
        net = net.float()  # onnxruntime has no convolutions of double precision
        plain = Converted(net)(net)
    if wish.input:
        example = inputs.parsed(wish.input, inputs.dtype_of(plain))
    else:
        example = inputs.found(plain)
    del plain
    name = naming.class_name(Path(out).stem)
    try:
        result = written.write(net, example.value, name, origin, wish.from_one)
    except RuntimeError as error:
        given = f"for an input of {example.text}: {str(error).splitlines()[0]}"
        raise ValueError(f"the net fails {given}; --input gives another") from error
    told = Result("", result.difference, result.names, example.text)
    if Path(out).suffix == ".py":
        _write_source(result, out)
    else:
        told.difference = _export(net, result, example.value, out, wish)
    told.text = f"for {example.text}, largest difference {told.difference:.1e}"
    return told


def _write_source(result: written.Written, out: str) -> None:
    names = {"names": json.dumps(result.names)}
    with ExitStack() as files:
        source = files.enter_context(atomic_file(out))
        weights = files.enter_context(atomic_file(Path(out).with_suffix(".safetensors")))
        _write_tensors(weights, result.tensors, names)
        source.write(result.text.encode())


_NAMES = {
    **{torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"},
    **{torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8"},
    **{torch.uint8: "U8", torch.bool: "BOOL"},
}


def _write_tensors(file: Any, found: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a .safetensors file one tensor after the other: no copy of all is in memory."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt", **metadata}}
    end = 0
    for name, tensor in found.items():
        start, end = end, end + tensor.nbytes
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape)}
        header[name]["data_offsets"] = [start, end]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for tensor in found.values():
        if tensor.numel():
            file.write(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy())


def needed(module: str, extra: str) -> Any:
    """A package of an extra."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            f"this needs the package {module.partition('.')[0]}: pip install 'dptable[{extra}]'"
        ) from None


def _export(net: nn.Module, result: written.Written, example: Any, out: str, wish: Wish) -> float:
    """Write an .onnx or .pt2 file; the largest difference from the net on two sizes of batches."""
    program, more = _exported(result, example)
    cases = [example] if more is None else [example, more]
    largest = 0.0
    with atomic_file(out) as file:
        if out.endswith(".pt2"):
            archive = io.BytesIO()
            torch.export.save(program, archive)
            file.write(archive.getbuffer())
            run = program.module()
        else:
            run = _onnx(program, file)
        for case in cases:
            given = _given(result, case)
            with torch.no_grad():
                wanted = (
                    tensors(result.net(*given)) if result.stateful else result.wanted(net, case)
                )
            found = tensors(run(*given))
            for one, two in zip(wanted, found, strict=True):
                largest = max(largest, proof.difference(two, one))
        if not largest <= (1e-4 if inputs.dtype_of(result.net) != torch.float16 else 5e-2):
            raise ValueError(f"what {out} would compute differs from the net by {largest:.1e}")
    return largest


def _given(result: written.Written, case: Any) -> tuple[Any, ...]:
    """What the source's net is given, with the state after a call where it takes one."""
    given = tuple(result.given(case))
    if not result.stateful:
        return given
    with torch.no_grad():
        return (*given, result.net(*given)[1])


def larger(example: Any, dim: int = 0) -> Any:
    """The example with one sample more."""
    if isinstance(example, Tensor):
        return torch.cat([example, example.narrow(dim, 0, 1)], dim)
    return [larger(part, dim) for part in example]


def _exported(result: written.Written, example: Any) -> tuple[Any, Any]:
    """The net as an exported program, and a larger example if its batch is free."""
    given = _given(result, example)
    for dim in range(2 if result.steps else 1):  # sequences may have the steps first
        try:
            more = larger(example, dim)
            sizes = zip(tensors(given), tensors(_given(result, more)), strict=True)
            grown = [[a != b for a, b in zip(x.shape, y.shape, strict=True)] for x, y in sizes]
            batch = torch.export.Dim("batch", min=1, max=1 << 20)
            free = [{place: batch for place, is_ in enumerate(one) if is_} for one in grown]
            if all(len(one) == 1 for one in free):
                dims = with_tensors(given, free)
                return torch.export.export(result.net, given, dynamic_shapes=tuple(dims)), more
        except Exception as error:  # a net for one size of batch: it stays as it is
            del error
    return torch.export.export(result.net, given), None


def _onnx(program: Any, file: Any) -> Any:
    """Write an exported program as ONNX; what runs it."""
    for package in ("onnx", "onnxscript"):
        needed(package, "onnx")
    runtime = needed("onnxruntime", "onnx")
    exported: Any = torch.onnx.export(program, dynamo=True, verbose=False)
    data = exported.model_proto.SerializeToString()
    file.write(data)
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]

    def run(*given: Any) -> list[Tensor]:
        values = {name: t.numpy() for name, t in zip(names, tensors(given), strict=True)}
        return [torch.from_numpy(array) for array in session.run(None, values)]

    return run
