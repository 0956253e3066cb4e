"""Export a net's source as an ONNX file or as a program of torch.export."""

from __future__ import annotations

import importlib
import io
import logging
import warnings
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from compat import nn
from compat.nn.source import proof, written
from compat.nn.source.input import inputs
from compat.t7.base.atomic_file import atomic_file
from compat.tensor_tables import tensors, with_tensors

aten = torch.ops.aten


def needed(module: str, extra: str) -> Any:
    """Import a module of an optional extra; the error names the extra."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            f"this needs the package {module.partition('.')[0]}: pip install 'dptable[{extra}]'"
        ) from None


def export(net: nn.Module, result: written.Written, example: Any, out: str) -> float:
    """Write an .onnx or .pt2 file.

    Returns:
        The largest difference from the net's output, on batches of two sizes.
    """
    largest = 0.0
    with atomic_file(out) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTorch's exporters say of themselves
        program, more = _exported(result, example)
        cases = [example] if more is None else [example, more]
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
    """Return the arguments of the source's net; a net with state also gets the state of a call."""
    given = tuple(result.given(case))
    if not result.stateful:
        return given
    with torch.no_grad():
        return (*given, result.net(*given)[1])


def larger(example: Any, dim: int = 0) -> Any:
    """Return the example with one more sample."""
    if isinstance(example, Tensor):
        return torch.cat([example, example.narrow(dim, 0, 1)], dim)
    return [larger(part, dim) for part in example]


def _exported(result: written.Written, example: Any) -> tuple[Any, Any]:
    """Return the net as an exported program, and a larger example if the batch size is free."""
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


def _sums(
    input: Any,
    kernel: Any,
    stride: Any = (),
    padding: Any = (0, 0),
    ceil: bool = False,
    padded: bool = True,
    divisor: int | None = None,
) -> Any:
    """Compute pooling's divisor, which torch.onnx leaves out, as a factor."""
    if divisor is None or ceil:
        return NotImplemented
    average = aten.avg_pool2d.default(input, kernel, stride, padding, False, True)
    return average * (kernel[0] * kernel[-1] / divisor)


def _leaky(input: Any, lower: float, upper: float) -> Any:
    """Compute what a randomised rectifier is in evaluation; torch.onnx has none."""
    return aten.leaky_relu.default(input, (lower + upper) / 2)


def _lstm(input: Any, states: Any, weights: Any, *options: Any) -> Any:
    """Compute an LSTM with a projection, the fifth weight, step by step; ONNX has none."""
    if len(weights) != 5:
        return NotImplemented
    time, (h, c), outputs = int(options[-1]), (state[0] for state in states), []
    of_input, of_output, bias, more, projection = weights
    for x in input.unbind(time):
        sums = functional.linear(x, of_input, bias) + functional.linear(h, of_output, more)
        new, forget, candidate, shown = sums.chunk(4, 1)
        c = forget.sigmoid() * c + new.sigmoid() * candidate.tanh()
        h = functional.linear(shown.sigmoid() * c.tanh(), projection)
        outputs.append(h)
    return torch.stack(outputs, time), h.unsqueeze(0), c.unsqueeze(0)


def _onnx(program: Any, file: Any) -> Any:
    """Write an exported program as ONNX; return a function that runs it."""
    for package in ("onnx", "onnxscript"):
        needed(package, "onnx")
    runtime = needed("onnxruntime", "onnx")
    program = program.run_decompositions(
        {aten.avg_pool2d.default: _sums, aten.rrelu.default: _leaky, aten.lstm.input: _lstm}
    )
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)  # they warn where torchvision is missing, and of constants
    try:
        exported: Any = torch.onnx.export(program, dynamo=True, verbose=False)
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
    data = exported.model_proto.SerializeToString()
    file.write(data)
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]

    def run(*given: Any) -> list[Tensor]:
        values = {name: t.numpy() for name, t in zip(names, tensors(given), strict=True)}
        return [torch.from_numpy(array) for array in session.run(None, values)]

    return run
