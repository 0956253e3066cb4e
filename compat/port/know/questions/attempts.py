"""Functions that try whether Torch7 takes something: ``pcall(function() return a % 2 end)``."""

from __future__ import annotations

from collections.abc import Iterator

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.know.types import Kind
from compat.port.library import tensors
from compat.port.read import syntax as s

REASON = "functions that try what Torch7 may refuse run in Lua, which says whether it does"
_OF_TORCH = (Kind.TENSOR, Kind.SIZES, Kind.STORAGE, Kind.MODULE)
_OF_PYTHON = {Kind.MODULE, Kind.OBJECT, Kind.CLASS, Kind.OPTIONS, Kind.FILE}
_LINES = 8  # as a person takes them in at a glance
_PLAIN = {"string", "table", "math", "nn"}


def attempts(file: File, types: Inference) -> Iterator[s.Function]:
    """Short functions that ``pcall`` calls, in which a tensor may be refused.

    PyTorch takes indices, sizes and types that Torch7 does not, so only Torch7 can answer.
    """
    types.file = file
    for node in file.scopes.of_function:
        is_short = file.source[node.start : node.end].count(b"\n") < _LINES
        if is_short and types.signature(node).root().is_tried and _tries(node, types, file):
            yield node


def _tries(node: s.Function, types: Inference, file: File) -> bool:
    scope = file.scopes.of_function[node]
    if any(where.within(scope) for v in scope.used for _, where in v.writes):
        return False
    if any(v.boxed for v in scope.used):
        return False
    parts = list(s.walk(node.body))
    is_line = b"\n" not in file.source[node.start : node.end]
    own = _OF_PYTHON - ({Kind.MODULE} if is_line else set())
    if not all(_is_plain(p, types, own) for p in parts if isinstance(p, s.Name)):
        return False
    if any(isinstance(p, s.Vararg) for p in parts):
        return False
    named = [types.dotted(p.function) for p in parts if isinstance(p, s.Call) and p.method is None]
    packages = {name.partition(".")[0] for name in named if name is not None and "." in name}
    makes = [name[6:] for name in named if name is not None and name.startswith("torch.")]
    if packages - {"torch", *_PLAIN} or not all(map(_is_of_tensors, makes)):
        return False
    return any(_works_on_tensors(p, types) for p in parts)


def _is_plain(name: s.Name, types: Inference, own: set[Kind]) -> bool:
    """Return whether Lua takes what a variable is for what it is there."""
    if types.dotted(name) is not None:
        return True
    kind = types.type(name)
    is_net = bool(kind.classes) and all(name.startswith("nn.") for name in kind.classes)
    return bool(kind.atoms) and (is_net or Kind.MODULE not in kind.atoms) and not kind.atoms & own


def _is_of_tensors(name: str) -> bool:
    return name.endswith(("Tensor", "Storage")) or name in tensors.FUNCTIONS.names()


def _works_on_tensors(node: s.Node, types: Inference) -> bool:
    operands: list[s.Node] = []
    if isinstance(node, s.Binary):
        operands = [node.left, node.right]
    elif isinstance(node, s.Index):
        operands = [node.object]
    elif isinstance(node, s.Call):
        operands = [node.function, *node.arguments]
        path = types.dotted(node.function) if node.method is None else None
        if path is not None and path.startswith(("torch.", "nn.")):
            return True
    return any(types.type(operand).only(*_OF_TORCH) for operand in operands)
