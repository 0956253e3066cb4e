"""Files that are loaded and run at once: ``assert(loadfile(path))()`` is ``dofile(path)``."""

from __future__ import annotations

from compat.port.read import syntax as s


def run_files(block: s.Block) -> None:
    """Write them with ``dofile``."""
    for node in s.walk(block):
        if not isinstance(node, s.Call) or node.arguments or node.method is not None:
            continue
        loaded = _inside(node.function, "assert") or node.function
        if (path := _inside(loaded, "loadfile")) is not None:
            node.function, node.arguments = s.Name("dofile"), [path]
            s.put_at(node.function, node)


def _inside(node: s.Node, function: str) -> s.Node | None:
    """Return the first argument of a call of a function."""
    if isinstance(node, s.Call) and node.arguments and s.describe(node.function) == function:
        return node.arguments[0]
    return None
