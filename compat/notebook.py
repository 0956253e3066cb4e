"""The display of nets and of files in notebooks."""

from __future__ import annotations

import importlib
from typing import Any


def drawn(self: Any) -> str:
    """Return the ``_repr_html_`` of nets and of what files hold: as ``compat.viewer`` draws it.

    It is a function, not a base: objects of files get another class when their fields are known,
    which Python allows between classes of one layout only.
    """
    # Late: the viewer knows all of nn.
    html: str = importlib.import_module("compat.viewer").snippet(self)
    return html
