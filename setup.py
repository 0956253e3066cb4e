"""The page of a package index: the README without links into the repository.

All the rest of the metadata is in setup.cfg.
"""

import re
from pathlib import Path

from setuptools import setup

README = Path(__file__).with_name("README.md").read_text(encoding="utf-8")


def page(text: str) -> str:
    """Return Markdown without relative pictures and links; a link in a sentence is its text."""
    link = r"\[([^\]]+)\]\((?![a-z]+:)[^()\s]+\)"
    text = re.sub(rf"!{link}\n*", "", text)
    text = re.sub(rf"\s\({link}(; {link})*\)", "", text)
    return re.sub(link, r"\1", text)


if __name__ == "__main__":
    setup(long_description=page(README), long_description_content_type="text/markdown")
