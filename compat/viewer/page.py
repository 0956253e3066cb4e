"""Writes a value as one HTML page, which loads nothing and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import Any

from compat.viewer.contents import name_of
from compat.viewer.limits import NOTEBOOK, Limits
from compat.viewer.walk import Walk

_HERE = Path(__file__).parent / "browser"
_SCRIPTS = ("items", "text", "charts", "layout", "graph", "outline", "about", "page")
_HEIGHT = 480  # pixels in a notebook


def page(value: Any, name: str, limits: Limits | None = None, input: str = "") -> str:
    """Return the page that shows what a file holds.

    No text of the file is read as HTML or run: it is in the page as JSON, and becomes text of
    elements. A policy in the page lets the browser run only the page's script and load nothing.

    Args:
        value: the result of ``compat.t7.load``, or any net, table or tensor.
        name: the page's title.
        limits: how much of the value the page shows.
        input: sizes of an input for the nets, such as ``1x3x224x224``; searched for by default.
    """
    style = (_HERE / "page.css").read_text()
    script = "\n".join((_HERE / f"{part}.js").read_text() for part in _SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    name = name_of(name)
    data = {"name": name, **Walk(value, limits or Limits(), input).data()}
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = "\n".join(
        (
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            f"<title>{html.escape(name)}</title>",
            f"<style>{style}</style>",
        )
    )
    body = "\n".join(
        (
            (_HERE / "page.html").read_text(),
            f'<script id="data" type="application/json">{_json(data)}</script>',
            f"<script>{script}</script>",
        )
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n'
        "</body>\n</html>\n"
    )


def snippet(value: Any) -> str:
    """Return a smaller page for a notebook, in a sandboxed frame."""
    inner = html.escape(page(value, "", NOTEBOOK))
    return (
        f'<iframe srcdoc="{inner}" sandbox="allow-scripts" width="100%" height="{_HEIGHT}" '
        'style="border: 1px solid #8884; border-radius: 6px"></iframe>'
    )


def _json(data: Any) -> str:
    """Return JSON that is safe inside HTML, whatever text it holds."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _hash(text: str) -> str:
    """Return the hash by which a content security policy allows one script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
