"""How notebooks show nets and what files hold."""

from __future__ import annotations

import importlib


class Shown:
    """Something that notebooks show as ``compat.viewer`` draws it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        # Late: the viewer knows all of nn.
        html: str = importlib.import_module("compat.viewer").snippet(self)
        return html
