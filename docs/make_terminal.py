"""docs/terminal.svg, made of the README's transcripts: ``python docs/make_terminal.py``."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

DOCS = Path(__file__).parent
CHARACTER, LINE, MARGIN, BAR = 8.4, 19, 16, 30


def transcripts() -> list[str]:
    """The lines of the README's console blocks, without comments."""
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", readme, re.DOTALL)
    return [re.sub(r"\s+# .*", "", line) for block in blocks for line in block.splitlines()]


def picture(lines: list[str]) -> str:
    """A terminal that shows these lines; those that begin with ``$`` are commands."""
    width = round(2 * MARGIN + CHARACTER * max(map(len, lines)))
    height = BAR + 2 * MARGIN + LINE * len(lines)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>A Torch7 script runs, and its checkpoint becomes PyTorch source</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#1e2329"/>',
        *(
            f'<circle cx="{20 + 20 * i}" cy="16" r="6" fill="{colour}"/>'
            for i, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
        '<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">',
    ]
    for i, line in enumerate(lines):
        colour = "#8fd460" if line.startswith("$") else "#d5dae0"
        y = BAR + MARGIN + LINE * i + 8
        drawn.append(
            f'<text x="{MARGIN}" y="{y}" fill="{colour}" xml:space="preserve">{escape(line)}</text>'
        )
    return "\n".join([*drawn, "</g>", "</svg>", ""])


if __name__ == "__main__":
    (DOCS / "terminal.svg").write_text(picture(transcripts()), encoding="utf-8")
