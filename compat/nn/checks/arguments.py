"""Arguments of constructors: what a None means, and tensors of sizes that are given."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from compat.checks import whole
from compat.hints import suggestion

F = TypeVar("F", bound=Callable[..., None])

# What torch.nn calls an argument: Torch7's names of it.
PYTORCH_NAMES = {
    name: torch7.split()
    for name, torch7 in {
        "dilation": "dilationT dilationW dilationH",
        "embedding_dim": "nOutput",
        "hidden_size": "outputSize outputsize hiddenSize hidden_dim",
        "ignore_index": "ignoreIndex",
        "in1_features": "inputSize1",
        "in2_features": "inputSize2",
        "in_channels": "nInputPlane inputFrameSize",
        "in_features": "inputSize",
        "inplace": "ip inPlace p",
        "input_size": "inputSize inputsize input_dim",
        "kernel_size": "kT kW kH",
        "max_norm": "maxNorm",
        "max_val": "max_value",
        "min_val": "min_value",
        "negative_slope": "negval",
        "norm_type": "normType pnorm",
        "num_embeddings": "nIndex",
        "num_features": "nOutput",
        "num_parameters": "nOutputPlane",
        "out_channels": "nOutputPlane outputFrameSize",
        "out_features": "outputSize",
        "output_padding": "adjT adjW adjH",
        "output_size": "W H",
        "padding": "padT padW padH pad_l pad_r pad_t pad_b",
        "padding_idx": "paddingValue",
        "reduction": "sizeAverage",
        "scale_factor": "scale",
        "size_average": "sizeAverage",
        "stride": "dT dW dH",
        "upscale_factor": "upscaleFactor",
        "weight": "weights",
        "dim": "dimension",
    }.items()
}


def as_in_torch7(init: F) -> F:
    """Return a constructor that takes None for a default and explains unknown arguments.

    ``nn.Dropout(None, True)`` is ``nn.Dropout(0.5, True)``, as with nil in Torch7. An argument that
    has PyTorch's name is refused with Torch7's names of it.
    """
    _, *parameters = inspect.signature(init).parameters.values()
    names = [parameter.name for parameter in parameters]
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    keywords = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)

    @functools.wraps(init)
    def constructor(self: Any, *args: Any, **kwargs: Any) -> None:
        if not takes_any:
            for name in kwargs:
                if name not in keywords:
                    raise TypeError(_unknown_argument(self.typename, name, keywords))
        if None in kwargs.values() or any(value is None for value in args):
            given = list(args)
            for i, (name, value) in enumerate(zip(names, args, strict=False)):
                given[i] = defaults.get(name) if value is None else value
            args = tuple(given)
            kwargs = {n: defaults.get(n) if v is None else v for n, v in kwargs.items()}
        init(self, *args, **kwargs)

    return cast(F, constructor)


def _unknown_argument(typename: str, name: str, names: list[str]) -> str:
    known = [each for each in PYTORCH_NAMES.get(name, ()) if each in names]
    hint = f": it is {' and '.join(known)} here" if known else suggestion(name, names)
    return f"{typename} has no argument {name!r}{hint}; it takes {', '.join(names) or 'none'}"


def empty(**sizes: int) -> Tensor:
    """Return a tensor to be filled, of sizes that are checked under their names."""
    return torch.empty([whole(size, name, 1) for name, size in sizes.items()])
