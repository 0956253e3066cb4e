"""A container's calls of what is in it: ``self:rethrowErrors(m, 1, 'updateOutput', x)``."""

from __future__ import annotations

from collections.abc import Sequence

from compat.port.know.form.shapes import functions_in, is_name
from compat.port.read import syntax as s


def call_methods(blocks: Sequence[s.Block]) -> None:
    """Write them as ``m:updateOutput(x)``: errors tell the place in a net in any case."""
    if any(name == "rethrowErrors" for block in blocks for name, _ in functions_in(block)):
        return  # the program's own
    for node in (node for block in blocks for node in s.walk(block)):
        if isinstance(node, s.Call) and node.method == "rethrowErrors" and len(node.arguments) > 2:
            module, _, method, *given = node.arguments
            name = s.constant(method)
            if is_name(name) and isinstance(module, (s.Name, s.Index)):
                node.function, node.method, node.arguments = module, str(name), given
