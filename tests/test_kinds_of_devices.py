"""CUDA is named only where a thing is CUDA's; everywhere else the word is accelerator."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Who names CUDA, and what of it is CUDA's.
CUDAS = {
    "compat/accelerators.py": "what each kind of device can do",
    "compat/torch_internals.py": "the version of its driver",
    "compat/port/know/questions/flattened_again.py": "the name of a Torch7 method",
    "compat/port/library/results.py": "the name of a Torch7 method",
    "compat/port/library/rules.py": "the name of a Torch7 method",
    "compat/port/lua/runtime.py": "the names of Torch7 methods",
    "dptable/container/cuda_recorder.py": "its graphs",
    "dptable/devices.py": "what NVML says, by CUDA's numbers",
    "dptable/tensors/nccl.py": "NCCL",
    "dptable/training/trainer.py": "whether NCCL is asked for",
}


def is_cudas(node: ast.AST) -> bool:
    """Whether a piece of code, other than text for people, is CUDA's."""
    match node:
        case ast.ImportFrom(module=str(module)):
            return module.startswith("torch.cuda")
        case ast.Attribute(attr="is_cuda"):
            return True
        case ast.Attribute(value=ast.Name("torch"), attr="cuda"):  # not Torch7's `net.cuda()`
            return True
        case ast.Constant(value=str(text)):
            return re.fullmatch(r"cuda(:\d+)?", text) is not None
    return False


def test_cuda_is_named_where_a_thing_is_cudas() -> None:
    named = set()
    for package in ("compat", "dptable"):
        for path in ROOT.glob(f"{package}/**/*.py"):
            if any(map(is_cudas, ast.walk(ast.parse(path.read_text())))):
                named.add(str(path.relative_to(ROOT)))
    assert named == set(CUDAS)
