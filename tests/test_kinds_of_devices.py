"""CUDA is named only where a thing is CUDA's; everywhere else the word is accelerator."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Who names CUDA, and what of it is CUDA's.
CUDAS = {
    "compat/accelerators.py": "what each kind of device can do",
    "compat/torch_internals.py": "the version of its driver",
    "compat/lua/kernels/memory.py": "the types of tensors",
    "dptable/container/cuda_recorder.py": "its graphs",
    "dptable/devices.py": "what NVML says, by CUDA's numbers",
    "dptable/tensors/nccl.py": "NCCL",
    "dptable/training/trainer.py": "whether NCCL is asked for",
}


def names_cuda(tree: ast.AST) -> bool:
    """Whether code, other than texts for people, uses ``torch.cuda`` or asks for "cuda"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch.cuda"):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("cuda", "is_cuda"):
            # `net.cuda()` and `cutorch` are Torch7's words.
            if node.attr == "is_cuda" or ast.unparse(node.value) == "torch":
                return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.split(":")[0] == "cuda" and len(node.value) < len("cuda:") + 3:
                return True
    return False


def test_cuda_is_named_where_a_thing_is_cudas() -> None:
    named = set()
    for package in ("compat", "dptable"):
        for path in ROOT.glob(f"{package}/**/*.py"):
            if names_cuda(ast.parse(path.read_text())):
                named.add(str(path.relative_to(ROOT)))
    assert named == set(CUDAS)
