"""Writes a Python file: the classes of a net, code that loads its weights, and a check."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor

from compat.nn.source.generator import Source
from compat.nn.source.text import docstring, lines

INPUT, OUTPUT = "example.input", "example.output"
_STANDARD = {"import math": r"\bmath\.", "from typing import Any": r"\bAny\b"}
_TYPES = {torch.float64: ".double()", torch.float16: ".half()", torch.bfloat16: ".bfloat16()"}


def script(source: Source, doc: list[str], inputs: list[Tensor], outputs: list[Tensor]) -> str:
    """Return the text of the file; the weights lie beside it in a file of the same name.

    Args:
        source: the source of the net.
        doc: the lines of its docstring.
        inputs, outputs: the example of the check, which lies in the file of the weights.
    """
    name = source.name
    body = "\n\n\n".join("\n".join(text) for text in source.classes)
    dtypes = {t.dtype for t in source.tensors.values() if t.is_floating_point()}
    dtype = dtypes.pop() if len(dtypes) == 1 else torch.float32
    load = [f"def load() -> {name}:"]
    made = f"{name}(){_TYPES.get(dtype, '')}"
    if source.tensors:
        load += [
            f"    net, tensors = {made}, load_file(WEIGHTS)",
            "    net.load_state_dict({name: tensors[name] for name in net.state_dict()})",
            "    return net.eval()",
        ]
    else:
        load += [f"    return {made}.eval()"]
    scale = max((float(t.abs().max()) for t in outputs if t.numel()), default=1.0)
    coarse = dtype in (torch.float16, torch.bfloat16)
    tolerance = f"{max(scale, 1e-3) * (1e-2 if coarse else 1e-5):.0e}"
    relative = "1e-2" if coarse else "1e-4"
    main = ['if __name__ == "__main__":', "    tensors = load_file(WEIGHTS)"]
    given, wanted = f'tensors["{INPUT}"]', f'tensors["{OUTPUT}"]'
    if len(inputs) > 1:
        given = f'*(tensors[f"{INPUT}{{i}}"] for i in range(1, {len(inputs) + 1}))'
    output = "output, _" if source.stateful else "output"
    main += lines(f"{output} = load()({given})", 4)
    if len(outputs) > 1:
        wanted = f'tuple(tensors[f"{OUTPUT}{{i}}"] for i in range(1, {len(outputs) + 1}))'
        main += lines(f"wanted = {wanted}", 4)
        wanted = "wanted"
    bounds = f"rtol={relative}, atol={tolerance}"
    main += lines(f"torch.testing.assert_close(output, {wanted}, {bounds})", 4)
    imports = [
        "import torch",
        "from safetensors.torch import load_file",
        "from torch import Tensor, nn",
    ]
    if re.search(r"\bfunctional\.", body):
        imports.append("from torch.nn import functional")
    standard = [line for line, used in _STANDARD.items() if re.search(used, body)]
    if standard:
        imports = [*standard, "", *imports]
    parts = [
        "\n".join([*docstring(doc), "", *imports]),
        'WEIGHTS = __file__.removesuffix(".py") + ".safetensors"\n\n\n' + body,
    ]
    ends = ["\n".join(load), "\n".join(main)]
    return "\n\n".join(parts) + "\n\n\n" + "\n\n\n".join(ends) + "\n"


def keys(name: str, count: int) -> list[str]:
    """Return the names of a table's tensors in the file of the weights."""
    return [name] if count == 1 else [f"{name}{i + 1}" for i in range(count)]


def module_from(text: str, place: str) -> dict[str, Any]:
    """Return the names that a Python file defines, without running its check."""
    names: dict[str, Any] = {"__name__": "written", "__file__": place}
    exec(compile(text, place, "exec"), names)
    return names
