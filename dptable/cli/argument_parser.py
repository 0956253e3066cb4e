"""An argument parser with one-line errors, suggestions for misspelt words, and examples."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, NoReturn

from compat.hints import suggestion
from compat.terminal import printable


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser with one-line errors, and with examples at the end of its help."""

    _words: list[str] = []

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one line on stderr."""
        wrong = re.search(r"invalid choice: '([^']*)'", message)
        if wrong:
            choices = [str(c) for action in self._actions for c in action.choices or ()]
            nearest = self.suggestion(wrong[1], choices)
            message = message.replace(wrong[0], wrong[0] + nearest, 1)
        elif message.startswith("the following arguments are required"):
            # A misspelt option says more than what it leaves out.
            options = self._option_string_actions
            longs = [word for word in self._words if re.match("--.", word)]
            unknown = [w for w in longs if not any(o.startswith(w.split("=")[0]) for o in options)]
            message = self._unrecognized(unknown) if unknown else message
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")

    def _unrecognized(self, words: list[str]) -> str:
        option = next((word for word in words if word.startswith("--")), "")
        nearest = suggestion(option.partition("=")[0], self._option_string_actions)
        return f"unrecognized arguments: {' '.join(words)}{nearest}"

    def suggestion(self, word: str, choices: list[str]) -> str:
        """Return what an error adds to a ``word`` that is none of ``choices``."""
        return suggestion(word, choices)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse; name the sub-command in the error about unknown arguments."""
        self._words = list(sys.argv[1:] if args is None else args)
        known, unknown = super().parse_known_args(args, namespace)
        many = [a for a in self._actions if not a.option_strings and a.nargs in ("*", "+")]
        if many and not any(word.startswith("-") for word in unknown):
            # argparse takes the words before the first option alone for a list.
            getattr(known, many[0].dest).extend(self._get_value(many[0], w) for w in unknown)
            unknown = []
        if unknown:
            self.error(self._unrecognized(unknown))
        return known, unknown

    def show_examples(self, *examples: tuple[str, str]) -> None:
        """Add pairs of a command and what it does to the end of the help."""
        width = max(len(command) for command, _ in examples)
        lines = [f"  {command:{width}}  # {what}" for command, what in examples]
        self.epilog = "\n".join(["examples:", *lines])
        self.formatter_class = _Formatter


class _Formatter(argparse.HelpFormatter):
    """Wraps paragraphs, and leaves the lines of the examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return text
        return super()._fill_text(text, width, indent)
