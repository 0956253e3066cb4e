"""``dptable view``: what is in a .t7 file as one page for a browser, which loads nothing else."""

from __future__ import annotations

import argparse
import html
import json
import re
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from compat import nn, t7
from compat.t7.base.atomic_file import atomic_file
from compat.terminal import printable, say
from dptable.cli.rewriting import parts_of
from dptable.container.files import only_kept

_BARS = 40  # of a histogram
_SAMPLE = 1 << 16  # elements that a histogram counts
_PICTURES = 64  # of a tensor
_WIDEST = 128  # pixels of a picture
_TEXT = 200  # letters of a value
_TEMPLATE = Path(__file__).with_name("page.html")


def run(args: argparse.Namespace) -> int:
    """Write the page and open it."""
    out = args.out or str(Path(args.file).with_suffix(".html").name)
    if Path(out).exists() and not args.force:
        raise ValueError(f"{out} exists; --force replaces it")
    with only_kept():
        value = t7.load(args.file, mmap=True, map_location="cpu", plain=True)
    with atomic_file(out) as file:
        file.write(page(value, Path(args.file).name).encode())
    say(f"{printable(out)}: {Path(out).stat().st_size:,} bytes")
    if not args.no_browser:
        webbrowser.open(Path(out).resolve().as_uri())
    return 0


def page(value: Any, name: str) -> str:
    """The page about what a file holds. Nothing in it is read as HTML or run."""
    data = json.dumps(_node(value, name)).replace("<", "\\u003c")
    parts = {"TITLE": html.escape(name), "DATA": data}
    return re.sub("TITLE|DATA", lambda match: parts[match[0]], _TEMPLATE.read_text())


def _node(value: Any, name: str) -> dict[str, Any]:
    """A value with what lies in it, which is told once."""
    root = _told(value, name)
    seen = {id(value)}
    stack = [(value, root)]
    while stack:
        item, node = stack.pop()
        for key, part in _parts(item):
            below = _told(part, str(key))
            node["below"].append(below)
            if not isinstance(part, (Tensor, str, int, float, bool, type(None))):
                if id(part) in seen:
                    below["text"] = "(told above)"
                else:
                    seen.add(id(part))
                    stack.append((part, below))
    return root


def _parts(item: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(item, nn.Module):
        yield from enumerate(getattr(item, "modules", None) or [], 1)
    elif not isinstance(item, (Tensor, str, bytes)):
        yield from parts_of(item)


def _told(value: Any, name: str) -> dict[str, Any]:
    """What the page shows of one value."""
    node: dict[str, Any] = {"name": name, "kind": "", "text": "", "size": "", "fields": []}
    node["below"] = []
    if isinstance(value, nn.Module):
        node["kind"] = str(value).splitlines()[0].removesuffix(" {")
        parameters = (value.parameters() or ([], []))[0]
        if parameters:
            count = sum(p.numel() for p in parameters)
            node["size"] = f"{count:,} parameters, {sum(p.nbytes for p in parameters):,} bytes"
        for key, field in vars(value).items():
            if key not in ("modules", "output", "gradInput") and not key.startswith("_"):
                node["fields"].append([key, _text(field)])
        own = {key: field for key, field in vars(value).items() if key in ("weight", "bias")}
        tensors = {key: t for key, t in own.items() if isinstance(t, Tensor) and t.numel()}
        node["histograms"] = [{"name": k, "counts": _counts(t)} for k, t in tensors.items()]
        if "weight" in tensors and tensors["weight"].dim() == 4:
            node["pictures"] = _pictures(tensors["weight"])
    elif isinstance(value, Tensor):
        node["kind"] = _text(value)
        node["size"] = f"{value.nbytes:,} bytes"
        if value.numel():
            node["histograms"] = [{"name": "elements", "counts": _counts(value)}]
            if value.dim() in (3, 4) and value.size(-3) in (1, 3):
                node["pictures"] = _pictures(value if value.dim() == 4 else value.unsqueeze(0))
    elif isinstance(value, (str, int, float, bool, bytes)) or value is None:
        node["text"] = _text(value)
    else:
        node["kind"] = getattr(value, "typename", None) or type(value).__name__
    return node


def _text(value: Any) -> str:
    if isinstance(value, Tensor):
        sizes = "x".join(map(str, value.shape)) or "empty"
        return f"{str(value.dtype).removeprefix('torch.')} {sizes}"
    if isinstance(value, (str, int, float, bool, bytes)) or value is None:
        return repr(value)[:_TEXT]
    return type(value).__name__


def _counts(tensor: Tensor) -> list[int]:
    """How many elements lie in each of equal ranges."""
    flat = tensor.detach().reshape(-1)
    flat = flat[:: max(1, flat.numel() // _SAMPLE)].double()
    flat = flat[flat.isfinite()]
    return [int(n) for n in torch.histc(flat, _BARS)] if flat.numel() else []


def _pictures(images: Tensor) -> list[dict[str, Any]]:
    """Images, or filters, of one or three planes, as red, green and blue from 0 to 255."""
    if images.size(1) not in (1, 3):
        images = images[:, :1]
    step = max(1, -(-max(images.shape[2:]) // _WIDEST))
    found = []
    for image in images[:_PICTURES, :, ::step, ::step].detach().double():
        low, high = float(image.min()), float(image.max())
        scaled = ((image - low) / (high - low or 1) * 255).nan_to_num().byte().expand(3, -1, -1)
        height, width = scaled.shape[1:]
        values = scaled.permute(1, 2, 0).flatten().tolist()
        found.append({"width": width, "height": height, "values": values})
    return found
